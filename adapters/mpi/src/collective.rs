//! Collectives in progress: the operations of this rank, one after another.
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

/// Writes the result to the buffers of the program.
pub(crate) type Finish = Box<dyn FnOnce(&mut Data)>;

/// Slot of the operation that blocks.
const BLOCKING: u32 = u32::MAX;
/// Context of the messages of collectives, beside that of the communicator.
const CONTEXT: u64 = 1 << 62;

/// A collective in progress.
pub(crate) struct Running {
    operation: Collective,
    /// \[ps\] When it began.
    begin: u64,
    /// The rank in the world of each rank.
    members: Rc<Vec<usize>>,
    rank: usize,
    context: u64,
    /// Running number on the communicator.
    number: u64,
    events: Vec<Event>,
    position: usize,
    /// Operations in progress, and for the log their numbers.
    open: HashMap<u32, Option<u32>>,
    /// The receives among them, and the rank of the communicator that each waits for.
    from: HashMap<u32, usize>,
    data: Data,
    /// What has arrived and is not part of `data` yet: what is sent must not depend on how early a message comes.
    held: HashMap<u32, Bytes>,
    finish: Option<Finish>,
}

/// A description of a collective, to compare those of two ranks: its name, and its root.
fn note(operation: &Collective) -> u64 {
    let names = trgen::trace::collectives::NAMES;
    let name = names.iter().position(|&name| name == operation.name()).unwrap_or(0) as u64;
    name << 32 | operation.root().map_or(0xffff_ffff, |root| root as u64)
}

/// The same in words.
fn words(note: u64) -> String {
    let name = trgen::trace::collectives::NAMES.get((note >> 32) as usize).copied().unwrap_or("an unknown collective");
    match note as u32 {
        u32::MAX => name.to_owned(),
        root => format!("{name} with root {root}"),
    }
}

/// Begins a collective and returns its request. `data` is given the algorithm.
pub(crate) fn begin(
    handle: c_int,
    operation: Collective,
    data: impl FnOnce(Algorithm) -> Data,
    finish: Finish,
) -> Outcome<c_int> {
    let comm = communicator::intra(handle)?;
    w().charge();
    // A collective in progress acts when its messages are processed, not when its call waits.
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

/// Executes operations until one blocks, and puts the collective back.
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

fn taken(handle: c_int) -> Option<Box<Running>> {
    match &mut w().requests.get_mut(handle)?.what {
        What::Collective(running) => running.take(),
        _ => None,
    }
}

/// A message of a collective has arrived.
pub(crate) fn arrived(handle: c_int, slot: u32, message: &Message) {
    let Some(mut running) = taken(handle) else { return };
    running.take(slot, message);
    progress(handle, running);
}

/// A message of a collective has left.
pub(crate) fn departed(handle: c_int, slot: u32) {
    let Some(mut running) = taken(handle) else { return };
    running.close(slot);
    progress(handle, running);
}

impl Running {
    /// The world ranks that it waits for.
    pub(crate) fn sources(&self) -> Vec<usize> {
        self.from.values().map(|&rank| self.members[rank]).collect()
    }

    /// What it waits for, in words.
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
        format!("{whom} in {}, collective {} of {comm}", words(note(&self.operation)), self.number + 1)
    }

    /// True at its end.
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

    fn receive(&mut self, handle: c_int, from: Option<TaskId>, bytes: u64, slot: u32) {
        let Some(from) = from.map(TaskId::index) else { return };
        let source = Some(self.members[from]);
        let message = engine::post(Owner::Part(handle, slot), source, Some(self.number as i64), self.context, bytes);
        let number = w().log.as_ref().map(|log| log.last);
        self.open.insert(slot, number);
        self.from.insert(slot, from);
        if let Some(message) = message {
            w().statistics.received += 1;
            self.take(slot, &message);
        }
    }

    /// An operation has ended.
    fn close(&mut self, slot: u32) {
        self.from.remove(&slot);
        if let (Some(Some(number)), Some(log)) = (self.open.remove(&slot), &mut w().log) {
            log.wait(number);
        }
    }

    fn take(&mut self, slot: u32, message: &Message) {
        let own = note(&self.operation);
        if message.note != own {
            world::end(
                &format!(
                    "collective {} of {} is {} here and {} on rank {}",
                    self.number + 1,
                    communicator::title_of(self.context ^ CONTEXT),
                    words(own),
                    words(message.note),
                    message.source
                ),
                1,
            );
        }
        self.held.insert(slot, message.data.clone());
        self.close(slot);
    }

    /// The data of a message become part of those of this rank.
    fn use_held(&mut self, slot: u32) {
        if self.held.remove(&slot).is_some_and(|payload| !self.data.incoming(&payload)) {
            world::end(
                &format!(
                    "{} of {}: data of another rank do not fit those of this rank: counts or datatypes differ",
                    words(note(&self.operation)),
                    communicator::title_of(self.context ^ CONTEXT)
                ),
                1,
            );
        }
    }
}
