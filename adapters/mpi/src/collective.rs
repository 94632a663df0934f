//! Collectives in progress: the sends and receives of this rank, one after another. They are executed by
//! `engine::delivery`; nothing here knows the network or the program.
//!
//! Decision: docs/decisions/0128-mpi-programs.md.

use std::collections::HashMap;
use std::rc::Rc;

use bytes::Bytes;
use trgen::TaskId;
use trgen::trace::collectives::{Algorithm, Collective, ExpandError, RequestPool, expand};
use trgen::trace::program::{Event, Tag};

use crate::between::Sides;
use crate::communicator::{Comm, Comms};
use crate::data::{Combine, Data};
use crate::engine::mail::Letter;
use crate::error::Fatal;

/// Called at the end of a collective: writes the result to the buffers of the program.
pub(crate) type Finish = Box<dyn FnOnce(&mut Data, Combine<'_>) -> Result<(), Fatal>>;

/// Slot of a blocking send or receive, of which there is at most one at a time.
const BLOCKING: u32 = u32::MAX;
/// A bit that distinguishes the context of the messages of collectives from that of other messages of a communicator.
const CONTEXT: u64 = 1 << 62;

/// A collective in progress.
pub(crate) struct Running {
    /// The name of the operation, and its [`note`].
    name: &'static str,
    note: u64,
    /// \[ps\] Virtual time at its beginning.
    pub(crate) begin: u64,
    /// The rank in the world of each rank; in an intercommunicator of the ranks of both groups.
    members: Rc<Vec<usize>>,
    /// This rank among the members.
    rank: usize,
    /// The context of its messages.
    pub(crate) context: u64,
    /// Number among the collectives of the communicator, from 0: the tag of its messages.
    pub(crate) number: u64,
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

/// What a collective does next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Sends `payload` to a rank of the world, with the modelled size of `bytes`.
    Send { to: usize, bytes: u64, slot: u32, payload: Letter },
    /// Expects a message of a rank of the world.
    Receive { from: usize, bytes: u64, slot: u32 },
    /// Waits until a send or receive in progress ends.
    Wait,
    /// Has ended.
    End,
}

/// Ranks of a collective that do not do the same.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Disagreement {
    /// A rank of the world has called another collective, whose [`note`] this is.
    Call { source: usize, note: u64 },
    /// The data of another rank do not fit those of this rank.
    Data,
}

/// A number that describes a collective by its name and root. Messages carry it, so that ranks notice if they call
/// different collectives.
fn note(operation: &Collective) -> u64 {
    let names = trgen::trace::collectives::NAMES;
    let name = names.iter().position(|&name| name == operation.name()).unwrap_or(0) as u64;
    name << 32 | operation.root().map_or(NO_ROOT, |root| root as u64)
}

/// Separates the numbers of persistent collectives from those of others.
pub(crate) const PERSISTENT: u64 = 1 << 48;

/// The lower half of the [`note`] of a collective without a root, or between groups.
const NO_ROOT: u64 = 0xffff_ffff;

/// The name of the collective that a [`note`] stands for.
pub(crate) fn name_of_note(note: u64) -> &'static str {
    trgen::trace::collectives::NAMES.get((note >> 32) as usize).copied().unwrap_or("an unknown collective")
}

/// Whether a collective of this number is persistent, and its place among those of its communicator.
pub(crate) const fn place_of(number: u64) -> (bool, u64) {
    match number.checked_sub(PERSISTENT) {
        Some(place) => (true, place),
        None => (false, number),
    }
}

/// The name and root that a [`note`] stands for, as text.
fn describe_note(note: u64) -> String {
    let name = name_of_note(note);
    match note as u32 {
        u32::MAX => name.to_owned(),
        root => format!("{name} with root {root}"),
    }
}

impl Running {
    /// The collective `number` of a communicator that is about to begin at `begin` \[ps\].
    ///
    /// # Errors
    /// The algorithm does not serve the operation on so many ranks.
    pub(crate) fn new(
        comm: &Comm,
        number: u64,
        operation: Collective,
        algorithm: Algorithm,
        data: Data,
        finish: Finish,
        begin: u64,
    ) -> Result<Self, ExpandError> {
        let mut events = Vec::new();
        let ranks: Vec<TaskId> = (0..comm.size()).map(TaskId::at).collect();
        let tag = Tag::collective(number as i64);
        expand(&operation, algorithm, &ranks, comm.rank, tag, &mut RequestPool::new(), &mut events)?;
        let who = (Rc::clone(&comm.group), comm.rank);
        Ok(Self::of((comm, number), (operation.name(), note(&operation)), who, events, data, finish, begin))
    }

    /// The collective `in_all` of an intercommunicator, with these events, that is about to begin at `begin` \[ps\]. Ranks are
    /// numbered as [`Sides`] does.
    pub(crate) fn between(
        (comm, in_all): (&Comm, u64),
        sides: &Sides,
        name: &'static str,
        events: Vec<Event>,
        data: Data,
        finish: Finish,
        begin: u64,
    ) -> Self {
        let number = trgen::trace::collectives::NAMES.iter().position(|&other| other == name).unwrap_or(0) as u64;
        let who = (Rc::clone(&sides.members), sides.rank);
        Self::of((comm, in_all), (name, number << 32 | NO_ROOT), who, events, data, finish, begin)
    }

    fn of(
        (comm, number): (&Comm, u64),
        (name, note): (&'static str, u64),
        (members, rank): (Rc<Vec<usize>>, usize),
        events: Vec<Event>,
        data: Data,
        finish: Finish,
        begin: u64,
    ) -> Self {
        Self {
            name,
            note,
            begin,
            members,
            rank,
            context: comm.context ^ CONTEXT,
            number,
            events,
            position: 0,
            open: HashMap::new(),
            from: HashMap::new(),
            data,
            held: HashMap::new(),
            finish: Some(finish),
        }
    }

    /// The name of the operation.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The [`note`] of the operation.
    pub(crate) fn note(&self) -> u64 {
        self.note
    }

    /// The ranks of the world whose messages this collective waits for.
    pub(crate) fn sources(&self) -> Vec<usize> {
        self.from.values().map(|&rank| self.members[rank]).collect()
    }

    /// Its place among the collectives of its communicator, as text for error messages.
    fn place(&self) -> String {
        match place_of(self.number) {
            (true, number) => format!("persistent collective {}", number + 1),
            (false, number) => format!("collective {}", number + 1),
        }
    }

    /// What this collective waits for, as text for error messages.
    pub(crate) fn wanted(&self, comms: &Comms) -> String {
        let mut from = self.sources();
        from.sort_unstable();
        let from: Vec<String> = from.iter().map(ToString::to_string).collect();
        let ranks = if from.len() == 1 { "rank" } else { "ranks" };
        let whom = if from.is_empty() {
            "its own messages to leave".to_owned()
        } else {
            format!("{ranks} {}", from.join(", "))
        };
        let (name, comm) = (describe_note(self.note()), comms.title_of(self.context ^ CONTEXT));
        format!("{whom} in {name}, {} of {comm}", self.place())
    }

    /// Says how ranks disagree.
    pub(crate) fn explain(&self, disagreement: &Disagreement, comms: &Comms) -> Fatal {
        let (name, comm) = (describe_note(self.note()), comms.title_of(self.context ^ CONTEXT));
        let text = match disagreement {
            Disagreement::Call { source, note } => {
                let (place, other) = (self.place(), describe_note(*note));
                format!("{place} of {comm} is {name} here and {other} on rank {source}")
            }
            Disagreement::Data => format!(
                "{name} of {comm}: data of another rank do not fit those of this rank: counts or datatypes differ"
            ),
        };
        Fatal { text, code: 1 }
    }

    /// What this rank does next. A send or receive that does not end at once is reported with [`Self::opened`].
    ///
    /// # Errors
    /// The data that have arrived do not fit.
    pub(crate) fn next(&mut self, combine: Combine<'_>) -> Result<Step, Disagreement> {
        loop {
            if self.open.contains_key(&BLOCKING) {
                return Ok(Step::Wait);
            }
            self.use_held(BLOCKING, combine)?;
            let Some(event) = self.events.get(self.position) else { return Ok(Step::End) };
            let (to, bytes, slot) = match event {
                Event::WaitAll(slots) => {
                    if slots.iter().any(|slot| self.open.contains_key(&slot.0)) {
                        return Ok(Step::Wait);
                    }
                    let slots: Vec<u32> = slots.iter().map(|slot| slot.0).collect();
                    self.position += 1;
                    slots.into_iter().try_for_each(|slot| self.use_held(slot, combine))?;
                    continue;
                }
                Event::Send(send) => (send.to.index(), send.bytes, None),
                Event::Isend(send, slot) => (send.to.index(), send.bytes, Some(slot.0)),
                Event::Recv(receive) => {
                    self.position += 1;
                    let Some(from) = receive.from.map(TaskId::index) else { continue };
                    let bytes = receive.bytes;
                    return Ok(self.expect(from, bytes, BLOCKING));
                }
                Event::Irecv(receive, slot) => {
                    self.position += 1;
                    let Some(from) = receive.from.map(TaskId::index) else { continue };
                    let (bytes, slot) = (receive.bytes, slot.0);
                    return Ok(self.expect(from, bytes, slot));
                }
                _ => {
                    self.position += 1;
                    continue;
                }
            };
            self.position += 1;
            // A blocking send has no slot of its own.
            let payload = self.data.outgoing(self.rank, to, self.members.len(), slot.is_none());
            return Ok(Step::Send { to: self.members[to], bytes, slot: slot.unwrap_or(BLOCKING), payload });
        }
    }

    /// The step of a receive from a rank of the communicator.
    fn expect(&mut self, from: usize, bytes: u64, slot: u32) -> Step {
        self.from.insert(slot, from);
        Step::Receive { from: self.members[from], bytes, slot }
    }

    /// Records that the send or receive in `slot` is in progress, with its number in the log.
    pub(crate) fn opened(&mut self, slot: u32, number: Option<u32>) {
        self.open.insert(slot, number);
    }

    /// The number in the log of the send or receive in progress in `slot`.
    pub(crate) fn number_of(&self, slot: u32) -> Option<u32> {
        self.open.get(&slot).copied().flatten()
    }

    /// Ends the send or receive in `slot`. Returns its number in the log, if there is one.
    pub(crate) fn closed(&mut self, slot: u32) -> Option<u32> {
        self.from.remove(&slot);
        self.open.remove(&slot).flatten()
    }

    /// Takes the message for the receive in `slot`: its sender as a rank of the world, its note and its payload. Returns
    /// the number of the receive in the log, if there is one.
    ///
    /// # Errors
    /// The sender has called another collective.
    pub(crate) fn received(
        &mut self,
        slot: u32,
        (source, note): (usize, u64),
        payload: Bytes,
    ) -> Result<Option<u32>, Disagreement> {
        if note != self.note() {
            return Err(Disagreement::Call { source, note });
        }
        self.held.insert(slot, payload);
        Ok(self.closed(slot))
    }

    /// Adds the held payload of the message in `slot`, if there is one, to the data of this rank.
    fn use_held(&mut self, slot: u32, combine: Combine<'_>) -> Result<(), Disagreement> {
        match self.held.remove(&slot) {
            Some(payload) if !self.data.incoming(&payload, combine) => Err(Disagreement::Data),
            _ => Ok(()),
        }
    }

    /// Writes the result of the collective, which has ended, to the buffers of the program.
    ///
    /// # Errors
    /// The result does not fit.
    pub(crate) fn finish(&mut self, combine: Combine<'_>) -> Result<(), Fatal> {
        self.finish.take().map_or(Ok(()), |finish| finish(&mut self.data, combine))
    }
}

#[cfg(test)]
mod tests;
