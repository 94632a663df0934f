//! Collectives in progress: executes the sends and receives of this rank, one after another.
//!
//! Decision: docs/decisions/0128-mpi-programs.md.

use std::collections::HashMap;
use std::ffi::c_int;
use std::rc::Rc;

use bytes::Bytes;
use trgen::TaskId;
use trgen::trace::collectives::{Algorithm, Collective, RequestPool, expand};
use trgen::trace::program::{Event, Request as Slot, Tag};

use crate::abi::*;
use crate::communicator;
use crate::data::Data;
use crate::engine::{self, COLLECTIVE, Message, Owner, Request, State, What};
use crate::world::{self, Outcome, error, w};

/// Called at the end of a collective: writes the result to the buffers of the program.
pub(crate) type Finish = Box<dyn FnOnce(&mut Data)>;

/// Slot of a blocking send or receive, of which there is at most one at a time.
const BLOCKING: u32 = u32::MAX;
/// A bit that distinguishes the context of the messages of collectives from that of other messages of a communicator.
const CONTEXT: u64 = 1 << 62;

/// A collective in progress.
pub(crate) struct Running {
    operation: Collective,
    /// \[ps\] Virtual time at its beginning.
    begin: u64,
    /// The rank in the world of each rank.
    members: Rc<Vec<usize>>,
    /// This rank in the communicator.
    rank: usize,
    /// The context of its messages.
    context: u64,
    /// Number among the collectives of the communicator, from 0.
    number: u64,
    /// The sends and receives of this rank.
    events: Vec<Event>,
    /// Index of the next event.
    position: usize,
    /// The sends and receives in progress, by slot, with their numbers in the log, if there is one.
    open: HashMap<u32, Option<u32>>,
    /// The receives in progress, by slot, with the rank of the communicator from which each expects its message.
    from: HashMap<u32, usize>,
    /// What this rank has sent, received and combined so far.
    data: Data,
    /// Payloads that have arrived and are not part of `data` yet, by slot. They are added in the order of the events,
    /// so that what is sent does not depend on when messages arrive.
    held: HashMap<u32, Bytes>,
    /// Taken when the collective ends.
    finish: Option<Finish>,
}

/// A number that describes a collective by its name and root. Messages carry it, so that ranks notice if they call
/// different collectives.
fn note(operation: &Collective) -> u64 {
    let names = trgen::trace::collectives::NAMES;
    let name = names.iter().position(|&name| name == operation.name()).unwrap_or(0) as u64;
    name << 32 | operation.root().map_or(0xffff_ffff, |root| root as u64)
}

/// The name and root that a [`note`] stands for, as text.
fn describe_note(note: u64) -> String {
    let name = trgen::trace::collectives::NAMES.get((note >> 32) as usize).copied().unwrap_or("an unknown collective");
    match note as u32 {
        u32::MAX => name.to_owned(),
        root => format!("{name} with root {root}"),
    }
}

/// Begins a collective and returns the handle of its request. `data` makes the initial data for the chosen algorithm.
pub(crate) fn begin(
    handle: c_int,
    operation: Collective,
    data: impl FnOnce(Algorithm) -> Data,
    finish: Finish,
) -> Outcome<c_int> {
    let comm = communicator::intra(handle)?;
    w().charge();
    // A non-blocking collective goes on whenever its messages are processed: earlier messages must be processed first.
    if w().calling.starts_with("MPI_I") || w().calling.starts_with("MPI_Start") {
        engine::catch_up();
    }
    let (number, size) = (comm.collectives, comm.size());
    comm.collectives += 1;
    let algorithm = w().choice.algorithm(&operation, size);
    let mut events = Vec::new();
    let ranks: Vec<TaskId> = (0..size).map(TaskId::at).collect();
    let tag = Tag::collective(number as i64);
    let expanded = expand(&operation, algorithm, &ranks, comm.rank, tag, &mut RequestPool::new(), &mut events);
    if let Err(failure) = expanded {
        return error(ERR_ARG, failure.to_string());
    }
    w().statistics.collective(operation.name());
    let running = Running {
        begin: w().now(),
        members: Rc::clone(&comm.group),
        rank: comm.rank,
        context: comm.context ^ CONTEXT,
        number,
        events,
        position: 0,
        open: HashMap::new(),
        from: HashMap::new(),
        data: data(algorithm),
        held: HashMap::new(),
        finish: Some(finish),
        operation,
    };
    let request = Request::new(What::Collective(None), State::Pending);
    let request = w().requests.add(request);
    progress(request, Box::new(running));
    Ok(request)
}

/// Executes a collective until it blocks or ends, and puts it back into its request.
fn progress(handle: c_int, mut running: Box<Running>) {
    let is_over = running.run(handle);
    if is_over {
        w().statistics.collective_took(running.operation.name(), w().now().saturating_sub(running.begin));
        // The finish may call functions of the program.
        if let Some(finish) = running.finish.take() {
            finish(&mut running.data);
        }
    }
    if let Some(request) = w().requests.get_mut(handle) {
        request.what = What::Collective(Some(running));
        if is_over {
            request.state = State::Done;
            if request.freed {
                w().requests.remove(handle);
            }
        }
    }
}

/// Takes a collective out of its request; [`progress`] puts it back.
fn take_running(handle: c_int) -> Option<Box<Running>> {
    match &mut w().requests.get_mut(handle)?.what {
        What::Collective(running) => running.take(),
        _ => None,
    }
}

/// Called when a message of a collective has arrived for the receive in `slot`.
pub(crate) fn arrived(handle: c_int, slot: u32, message: &Message) {
    let Some(mut running) = take_running(handle) else { return };
    running.end_receive(slot, message);
    progress(handle, running);
}

/// Called when the message of the send in `slot` has left.
pub(crate) fn departed(handle: c_int, slot: u32) {
    let Some(mut running) = take_running(handle) else { return };
    running.end_operation(slot);
    progress(handle, running);
}

impl Running {
    /// The ranks of the world whose messages this collective waits for.
    pub(crate) fn sources(&self) -> Vec<usize> {
        self.from.values().map(|&rank| self.members[rank]).collect()
    }

    /// What this collective waits for, as text for error messages.
    pub(crate) fn wanted(&self) -> String {
        let mut from: Vec<usize> = self.from.values().map(|&rank| self.members[rank]).collect();
        from.sort_unstable();
        let from: Vec<String> = from.iter().map(ToString::to_string).collect();
        let comm = communicator::title_of(self.context ^ CONTEXT);
        let ranks = if from.len() == 1 { "rank" } else { "ranks" };
        let whom = if from.is_empty() {
            "its own messages to leave".to_owned()
        } else {
            format!("{ranks} {}", from.join(", "))
        };
        format!("{whom} in {}, collective {} of {comm}", describe_note(note(&self.operation)), self.number + 1)
    }

    /// Executes events until one blocks. Returns true at the end of the collective.
    fn run(&mut self, handle: c_int) -> bool {
        loop {
            if self.open.contains_key(&BLOCKING) {
                return false;
            }
            self.use_held(BLOCKING);
            let Some(event) = self.events.get(self.position) else { return true };
            if let Event::WaitAll(slots) = event {
                if slots.iter().any(|slot| self.open.contains_key(&slot.0)) {
                    return false;
                }
                let slots: Vec<u32> = slots.iter().map(|slot| slot.0).collect();
                slots.into_iter().for_each(|slot| self.use_held(slot));
                self.position += 1;
                continue;
            }
            self.position += 1;
            match event.clone() {
                Event::Send(send) => self.send(handle, send.to.index(), send.bytes, None),
                Event::Isend(send, slot) => self.send(handle, send.to.index(), send.bytes, Some(slot)),
                Event::Recv(receive) => self.receive(handle, receive.from, receive.bytes, BLOCKING),
                Event::Irecv(receive, slot) => self.receive(handle, receive.from, receive.bytes, slot.0),
                _ => {}
            }
        }
    }

    /// Sends the data that this collective has for rank `to`. A blocking send has no slot.
    fn send(&mut self, handle: c_int, to: usize, bytes: u64, slot: Option<Slot>) {
        let payload = self.data.outgoing(self.rank, to, self.members.len(), slot.is_none());
        let owner = Owner::Part(handle, slot.map_or(BLOCKING, |slot| slot.0));
        let note = note(&self.operation);
        let key = (self.context, self.number as i64);
        let left = engine::transmit(COLLECTIVE, self.members[to], key, note, &payload, bytes, Some(owner));
        if !left {
            let number = w().log.as_ref().map(|log| log.last);
            self.open.insert(slot.map_or(BLOCKING, |slot| slot.0), number);
        }
    }

    /// Posts the receive in `slot`, and takes its message if that has arrived.
    fn receive(&mut self, handle: c_int, from: Option<TaskId>, bytes: u64, slot: u32) {
        let Some(from) = from.map(TaskId::index) else { return };
        let source = Some(self.members[from]);
        let message = engine::post(Owner::Part(handle, slot), source, Some(self.number as i64), self.context, bytes);
        let number = w().log.as_ref().map(|log| log.last);
        self.open.insert(slot, number);
        self.from.insert(slot, from);
        if let Some(message) = message {
            w().statistics.received += 1;
            self.end_receive(slot, &message);
        }
    }

    /// Ends the send or receive in `slot`.
    fn end_operation(&mut self, slot: u32) {
        self.from.remove(&slot);
        if let (Some(Some(number)), Some(log)) = (self.open.remove(&slot), &mut w().log) {
            log.wait(number);
        }
    }

    /// Ends the receive in `slot` with its message.
    fn end_receive(&mut self, slot: u32, message: &Message) {
        let own = note(&self.operation);
        if message.note != own {
            world::end(
                &format!(
                    "collective {} of {} is {} here and {} on rank {}",
                    self.number + 1,
                    communicator::title_of(self.context ^ CONTEXT),
                    describe_note(own),
                    describe_note(message.note),
                    message.source
                ),
                1,
            );
        }
        self.held.insert(slot, message.data.clone());
        self.end_operation(slot);
    }

    /// Adds the held payload of the message in `slot`, if there is one, to the data of this rank.
    fn use_held(&mut self, slot: u32) {
        if self.held.remove(&slot).is_some_and(|payload| !self.data.incoming(&payload)) {
            world::end(
                &format!(
                    "{} of {}: data of another rank do not fit those of this rank: counts or datatypes differ",
                    describe_note(note(&self.operation)),
                    communicator::title_of(self.context ^ CONTEXT)
                ),
                1,
            );
        }
    }
}
