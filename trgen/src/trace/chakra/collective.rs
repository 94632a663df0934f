//! The messages of collectives.
//!
//! All-reduce, all-gather and reduce-scatter pass pieces round a ring: a rank sends its first piece when it starts, and
//! the next one when that of its predecessor has arrived. An all-to-all sends to every other rank at once; a barrier does
//! so with 0 bytes. Collectives with a root exchange one message between the root, the first rank of the group, and every
//! other rank.
//!
//! On a machine of two levels, whose nodes have several ranks of a group each, all-reduce, all-gather, reduce-scatter,
//! broadcast and all-to-all are *hierarchical* ([`Layout`]): by the algorithms above within each node, and between the ranks
//! with the same place in their nodes, each for its share.
//!
//! Any other algorithm of [`COLLECTIVES`](crate::collective::COLLECTIVES) can be named for a kind. A rank then takes arrivals in the
//! order of rounds, and sends what a round has when it has taken those of earlier rounds.
//!
//! # How the model departs from reality, and who could notice
//! Libraries of collectives cut pieces into chunks that follow each other, and choose trees for short vectors. A study of
//! chunks should run the collective as a kernel.

use std::collections::HashMap;
use std::sync::Arc;

use super::Group;
use crate::collective::{Action, Row, script as steps_of, shape, size_of};
use crate::trace::collectives::{Algorithm, Choice, Collective, RequestPool, expand};
use crate::trace::kind::CollectiveKind;
use crate::trace::program::{Event, Tag};
use crate::units::NodeId;
use crate::units::TaskId;

use CollectiveKind::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};

/// The name of the algorithm by which a collective runs.
#[must_use]
pub const fn algorithm(kind: CollectiveKind) -> &'static str {
    match kind {
        AllReduce | AllGather | ReduceScatter => "ring",
        AllToAll | Barrier => "direct",
        Reduce | Gather | Scatter | Broadcast => "linear",
    }
}

/// The name of an algorithm of two levels.
pub const HIERARCHICAL: &str = "hierarchical";

/// True of the kinds that have an algorithm of two levels.
const fn has_levels(kind: CollectiveKind) -> bool {
    matches!(kind, AllReduce | AllGather | ReduceScatter | Broadcast | AllToAll)
}

/// The ranks of each group, in the order of the algorithms.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Layout {
    groups: Vec<Arranged>,
    /// Algorithms by name.
    choice: Choice,
}

/// The ranks of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Arranged {
    /// Ranks; node after node if there are levels, with the same GPUs of each node in the same order.
    ranks: Box<[u32]>,
    /// By rank: its place in `ranks`.
    places: HashMap<u32, u32>,
    /// Number of ranks in each node; 1 for algorithms of one level.
    each: u32,
}

impl Arranged {
    fn new(ranks: Box<[u32]>, each: u32) -> Self {
        let places = ranks.iter().copied().zip(0..).collect();
        Self { ranks, places, each }
    }
}

impl Layout {
    /// Algorithms of one level, in the order of the groups.
    #[must_use]
    pub fn flat(groups: &[Group]) -> Self {
        Self {
            groups: groups.iter().map(|group| Arranged::new(group.ranks.clone(), 1)).collect(),
            choice: Choice::default(),
        }
    }

    /// Algorithms of two levels for each group that has the same GPUs in each of several nodes, more than one.
    /// `placement` gives the GPU of each rank; a node has `gpus` consecutive ones.
    #[must_use]
    pub fn of_machine(groups: &[Group], placement: &[NodeId], gpus: u32) -> Self {
        let arranged = |group: &Group| {
            levels(&group.ranks, placement, gpus.max(1)).unwrap_or_else(|| Arranged::new(group.ranks.clone(), 1))
        };
        Self { groups: groups.iter().map(arranged).collect(), choice: Choice::default() }
    }

    /// The same with the algorithms that `choice` names.
    #[must_use]
    pub fn by(self, choice: Choice) -> Self {
        Self { choice, ..self }
    }

    /// The algorithm that is named for a kind, unless it is the usual one of one level.
    fn named(&self, kind: CollectiveKind) -> Option<&'static Row> {
        self.choice.row(kind.name()).filter(|row| row.name() != algorithm(kind))
    }

    /// True if a collective of this kind has two levels in a group of `each` ranks in a node.
    fn is_levelled(&self, kind: CollectiveKind, each: u32) -> bool {
        each > 1 && has_levels(kind) && self.choice.row(kind.name()).is_none_or(|row| row.has_levels(kind))
    }

    /// The first kind of the trace's collectives with an algorithm that a group cannot have, with the reason.
    ///
    /// # Errors
    /// The kind, its algorithm, and what it needs.
    pub fn check(&self, kinds: impl Iterator<Item = (CollectiveKind, u32)>) -> Result<(), String> {
        for (kind, group) in kinds {
            let Some(arranged) = self.groups.get(group as usize) else { continue };
            let Some(row) = self.named(kind).filter(|row| !row.has_levels(kind)) else { continue };
            let size = arranged.ranks.len() as u32;
            let needs = if row.steps_of(kind).is_some() { (row.refuses)(&shape(row, kind, size)) } else { None };
            if let Some(needs) = needs {
                return Err(format!("{} by {} needs {needs}, and a group has {size}", kind.name(), row.name()));
            }
        }
        Ok(())
    }

    /// True if some group has algorithms of two levels.
    #[must_use]
    pub fn has_levels(&self) -> bool {
        self.groups.iter().any(|group| group.each > 1)
    }

    /// The algorithm of a collective of a group.
    #[must_use]
    pub fn algorithm(&self, kind: CollectiveKind, group: u32) -> &'static str {
        let each = self.groups.get(group as usize).map_or(1, |group| group.each);
        if self.is_levelled(kind, each) {
            return HIERARCHICAL;
        }
        self.named(kind).filter(|row| !row.has_levels(kind)).map_or(algorithm(kind), Row::name)
    }

    /// The part of a rank in a collective of a group of `bytes` bytes; `None` if it does not belong to the group.
    #[must_use]
    pub fn part(&self, kind: CollectiveKind, group: u32, rank: u32, bytes: u64) -> Option<Part> {
        let group = self.groups.get(group as usize)?;
        let (size, place) = (group.ranks.len() as u32, *group.places.get(&rank)?);
        if self.is_levelled(kind, group.each) {
            return Some(Part::hierarchical(kind, (group.each, size / group.each), place, bytes));
        }
        let named = self.named(kind).filter(|row| !row.has_levels(kind));
        Some(
            named.map_or_else(|| Part::new(kind, size, place, bytes), |row| Part::named(row, kind, size, place, bytes)),
        )
    }

    /// The number under which arrivals of messages from a rank are counted: the phase, or the sender's place by a named
    /// algorithm.
    #[must_use]
    pub fn counted(&self, part: &Part, group: u32, rank: u32, phase: usize) -> u32 {
        if part.script.is_none() {
            return phase as u32;
        }
        self.groups.get(group as usize).and_then(|group| group.places.get(&rank)).copied().unwrap_or(0)
    }

    /// The rank at a place of a group.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn rank(&self, group: u32, place: u32) -> u32 {
        self.groups[group as usize].ranks[place as usize]
    }
}

/// The order of the ranks of a group with levels: nodes by their first rank in the group, the GPUs of each in the order of
/// those of the first. `None` if there is one node, or one rank in a node, or nodes have different GPUs.
fn levels(ranks: &[u32], placement: &[NodeId], gpus: u32) -> Option<Arranged> {
    let mut nodes: Vec<(u32, Vec<(u32, u32)>)> = Vec::new();
    let mut index: HashMap<u32, usize> = HashMap::new();
    for &rank in ranks {
        let at = placement.get(rank as usize)?.0;
        let node = *index.entry(at / gpus).or_insert_with(|| {
            nodes.push((at / gpus, Vec::new()));
            nodes.len() - 1
        });
        nodes[node].1.push((at % gpus, rank));
    }
    let order: Vec<u32> = nodes.first()?.1.iter().map(|&(gpu, _)| gpu).collect();
    let each = order.len();
    let is_repeated = order.iter().enumerate().any(|(at, gpu)| order[..at].contains(gpu));
    if each < 2 || nodes.len() < 2 || is_repeated || nodes.iter().any(|(_, found)| found.len() != each) {
        return None;
    }
    let mut arranged = Vec::with_capacity(ranks.len());
    for (_, found) in &nodes {
        for gpu in &order {
            arranged.push(found.iter().find(|(other, _)| other == gpu)?.1);
        }
    }
    Some(Arranged::new(arranged.into(), each as u32))
}

/// Most phases of a collective.
const PHASES: usize = 3;

/// One rank's part in a collective: it sends, and takes arrivals one after another. Its phases, of which a collective of one
/// level has one, follow one another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    phases: [Option<Phase>; PHASES],
    /// What the rank does by a named algorithm, which has no phases.
    script: Option<Arc<Script>>,
}

/// What a rank does by a named algorithm.
#[derive(PartialEq, Eq, Default, Debug)]
struct Script {
    /// By arrival: the place of its sender, its number among the arrivals from there, and its size \[bytes\] if it is
    /// combined with data that are present.
    arrivals: Vec<(u32, u32, Option<u64>)>,
    /// Sends: after how many arrivals, the place of the receiver, and the size \[bytes\].
    sends: Vec<(u32, u32, u64)>,
}

impl Script {
    fn send(&mut self, to: u32, bytes: u64) {
        self.sends.push((self.arrivals.len() as u32, to, bytes));
    }

    fn receive(&mut self, from: u32, combined: Option<u64>) {
        let earlier = self.arrivals.iter().rev().find(|arrival| arrival.0 == from).map_or(0, |arrival| arrival.1);
        self.arrivals.push((from, earlier + 1, combined));
    }

    /// The part of the rank at a place by an algorithm.
    fn new(row: &'static Row, kind: CollectiveKind, size: u32, place: u32, bytes: u64) -> Self {
        let mut script = Self::default();
        let whole = if kind == AllGather { bytes.saturating_mul(size.into()) } else { bytes };
        if let Some(schedule) = row.steps_of(kind) {
            for (_, step, bytes) in steps_of(schedule, &shape(row, kind, size), place, whole) {
                match step.action {
                    Action::Send => script.send(step.peer, bytes),
                    Action::Combine => script.receive(step.peer, Some(bytes)),
                    Action::Keep => script.receive(step.peer, None),
                }
            }
            return script;
        }
        let Some(algorithm) = row.algorithm(kind.name()) else { return script };
        let algorithm = if algorithm == Algorithm::ScatterDoubling && !size.is_power_of_two() {
            Algorithm::ScatterRing
        } else {
            algorithm
        };
        let ranks: Vec<TaskId> = (0..size).map(TaskId).collect();
        let mut events = Vec::new();
        let (tag, mut requests) = (Tag::collective(0), RequestPool::new());
        let operation = operation(kind, size, whole);
        let done = expand(&operation, algorithm, &ranks, place as usize, tag, &mut requests, &mut events);
        // The row serves the kind, and the place is one of the group.
        debug_assert!(done.is_ok(), "{done:?}");
        let received = |event: &Event| match event {
            Event::Recv(receive) | Event::Irecv(receive, _) => receive.from.map(|from| (from.0, receive.bytes)),
            _ => None,
        };
        let count = events.iter().filter_map(received).count();
        let combined = combined(kind, algorithm, size, count);
        // What is posted before a send arrives after it.
        let mut posted = Vec::new();
        for event in &events {
            match event {
                Event::Send(send) | Event::Isend(send, _) => script.send(send.to.0, send.bytes),
                Event::Irecv(..) => posted.extend(received(event)),
                Event::Recv(_) => posted.extend(received(event)),
                _ => {}
            }
            if !matches!(event, Event::Irecv(..) | Event::Isend(..)) {
                for (from, bytes) in posted.drain(..) {
                    let is_combined = script.arrivals.len() < combined;
                    script.receive(from, is_combined.then_some(bytes));
                }
            }
        }
        script
    }
}

/// Number of the first arrivals of a rank whose data are combined, of `count` in all, by an algorithm of MPI.
fn combined(kind: CollectiveKind, algorithm: Algorithm, size: u32, count: usize) -> usize {
    match (kind, algorithm) {
        // The second half spreads the pieces; a rank beyond the power of two only receives the result.
        (AllReduce, Algorithm::Rabenseifner) => count.saturating_sub(size.ilog2() as usize),
        (Reduce, _) => count,
        // A rank beyond the power of two only receives its block.
        (ReduceScatter, Algorithm::RecursiveHalving) if count == 1 && size > 2 => 0,
        (ReduceScatter, _) => count,
        _ => 0,
    }
}

/// The operation of MPI of a kind, of a vector of so many bytes.
fn operation(kind: CollectiveKind, size: u32, bytes: u64) -> Collective {
    let blocks = || (0..size).map(|piece| size_of(bytes, (0, 1), size, (piece, 1))).collect();
    // Blocks are equal there.
    let (root, block) = (0, bytes.div_ceil(u64::from(size.max(1))));
    match kind {
        AllReduce => Collective::Allreduce { bytes },
        Reduce => Collective::Reduce { root, bytes },
        AllGather => Collective::Allgatherv { blocks: blocks() },
        ReduceScatter => Collective::ReduceScatter { blocks: blocks() },
        Broadcast => Collective::Broadcast { root, bytes },
        Gather => Collective::Gather { root, bytes: block },
        Scatter => Collective::Scatter { root, bytes: block },
        AllToAll => Collective::Alltoall { bytes: block },
        Barrier => Collective::Barrier,
    }
}

/// The ranks of a phase, by their places in the group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Members {
    /// Place of the first.
    first: u32,
    /// Difference of the places of one and the next.
    stride: u32,
}

/// A phase of a collective: a collective of one level, or half an all-reduce.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Phase {
    kind: CollectiveKind,
    /// Number of ranks.
    size: u32,
    /// Position of this rank among them.
    place: u32,
    /// \[bytes\] As in [`Work::Collective`](super::Work::Collective).
    bytes: u64,
    members: Members,
    /// The arrivals of the whole collective that the phase has, from this one on.
    from: u32,
    /// How many.
    count: u32,
}

impl Part {
    /// The part of the rank at position `place` of a group of `size` ranks, by an algorithm of one level.
    #[must_use]
    pub const fn new(kind: CollectiveKind, size: u32, place: u32, bytes: u64) -> Self {
        let phase = Phase::new(kind, size, place, bytes, Members { first: 0, stride: 1 });
        Self { phases: [Some(phase), None, None], script: None }
    }

    /// The part of the rank at position `place` of a group of `size` ranks, by a named algorithm.
    fn named(row: &'static Row, kind: CollectiveKind, size: u32, place: u32, bytes: u64) -> Self {
        let script = Script::new(row, kind, size, place, bytes);
        Self { phases: [None; PHASES], script: Some(Arc::new(script)) }
    }

    /// The part of the rank at position `place` of a group of `nodes` nodes of `each` ranks, by an algorithm of two levels.
    /// Kinds that have none get that of one level.
    #[must_use]
    pub fn hierarchical(kind: CollectiveKind, (each, nodes): (u32, u32), place: u32, bytes: u64) -> Self {
        let (node, gpu) = (place / each, place % each);
        let within = |kind, bytes| Phase::new(kind, each, gpu, bytes, Members { first: node * each, stride: 1 });
        let across = |kind, bytes| Phase::new(kind, nodes, node, bytes, Members { first: gpu, stride: each });
        let share = within(AllReduce, bytes).piece(gpu);
        let whole = within(AllReduce, bytes);
        // The first half of an all-reduce leaves each rank the sum of its piece, and the second spreads the pieces.
        let (first, second) = (whole.half(0), whole.half(1));
        let phases = match kind {
            AllReduce => [Some(first), Some(across(AllReduce, share)), Some(second)],
            ReduceScatter => [Some(within(ReduceScatter, bytes)), Some(across(ReduceScatter, share)), None],
            AllGather => {
                [Some(across(AllGather, bytes)), Some(within(AllGather, bytes.saturating_mul(nodes.into()))), None]
            }
            AllToAll => [Some(within(AllToAll, bytes)), Some(across(AllToAll, bytes)), None],
            Broadcast => {
                // The first rank has the vector, and ranks of other nodes take no part in its scatter.
                let size = if node == 0 { each } else { 1 };
                let scatter = Phase { place: if node == 0 { gpu } else { 0 }, ..within(Scatter, bytes).of_size(size) };
                [Some(scatter.counted()), Some(across(Broadcast, share)), Some(second)]
            }
            Reduce | Gather | Scatter | Barrier => return Self::new(kind, each * nodes, place, bytes),
        };
        Self { phases, script: None }
    }

    /// Number of messages that this rank receives.
    #[must_use]
    pub fn arrivals(&self) -> u32 {
        if let Some(script) = &self.script {
            return script.arrivals.len() as u32;
        }
        self.phases.iter().flatten().map(|phase| phase.count).sum()
    }

    /// What arrival `number` (from 0) needs: the phase, or the sender's place by a named algorithm, and how many messages must
    /// have arrived of it; `None` after the last.
    #[must_use]
    pub fn needs(&self, number: u32) -> Option<(u32, u32)> {
        if let Some(script) = &self.script {
            return script.arrivals.get(number as usize).map(|&(from, count, _)| (from, count));
        }
        self.phase_of(number).map(|(phase, first)| (phase as u32, number - first + 1))
    }

    /// The phase of arrival `number` (from 0), and the number of the first arrival of that phase; `None` after the last.
    fn phase_of(&self, number: u32) -> Option<(usize, u32)> {
        let mut first = 0;
        for (at, phase) in self.phases.iter().enumerate() {
            let count = phase.map_or(0, |phase| phase.count);
            if number < first + count {
                return Some((at, first));
            }
            first += count;
        }
        None
    }

    /// Position in the group of the rank that sends arrival `number` (from 0); `None` after the last one, and where that
    /// may be any rank of several.
    #[must_use]
    pub fn sender(&self, number: u32) -> Option<u32> {
        if let Some(script) = &self.script {
            return script.arrivals.get(number as usize).map(|&(from, ..)| from);
        }
        let (at, _) = self.phase_of(number)?;
        let Phase { kind, size, place, members, .. } = self.phases[at]?;
        let sender = match kind {
            AllReduce | AllGather | ReduceScatter => (place + size - 1) % size,
            Broadcast | Scatter => 0,
            AllToAll | Barrier | Reduce | Gather => return None,
        };
        Some(members.first + sender * members.stride)
    }

    /// The phase of arrival `number` (from 0), 0 by a named algorithm, and the place of the rank that sends it; `None` after
    /// the last. Where arrivals may come in any order, each sender has one of them.
    #[must_use]
    pub fn source(&self, number: u32) -> Option<(usize, u32)> {
        if self.script.is_some() {
            return self.sender(number).map(|place| (0, place));
        }
        let (at, first) = self.phase_of(number)?;
        let Phase { size, place, members, .. } = self.phases[at]?;
        let of_any = || members.first + (place + size - 1 - (number - first)) % size * members.stride;
        Some((at, self.sender(number).unwrap_or_else(of_any)))
    }

    /// \[bytes\] Size of the data of arrival `number` (from 0) that are combined with those present; `None` if they are kept
    /// as they are.
    #[must_use]
    pub fn combined(&self, number: u32) -> Option<u64> {
        if let Some(script) = &self.script {
            return script.arrivals.get(number as usize).and_then(|&(.., combined)| combined);
        }
        let (at, first) = self.phase_of(number)?;
        let phase = self.phases[at]?;
        let number = phase.from + number - first;
        (number < phase.combined()).then(|| phase.arriving(number))
    }

    /// Calls `send` with phase, position in the group and size \[bytes\] of every message that this rank sends once it has
    /// taken `taken` arrivals. By a named algorithm there are no phases, and the first number is 0.
    pub fn sends(&self, taken: u32, mut send: impl FnMut(usize, u32, u64)) {
        if let Some(script) = &self.script {
            let first = script.sends.partition_point(|&(after, ..)| after < taken);
            let due = script.sends[first..].iter().take_while(|&&(after, ..)| after == taken);
            due.for_each(|&(_, to, bytes)| send(0, to, bytes));
            return;
        }
        let mut first = 0;
        for (at, phase) in self.phases.iter().enumerate() {
            let Some(phase) = phase else { return };
            if taken < first {
                return;
            }
            let done = taken - first;
            if done == 0 || done < phase.count {
                let Members { first, stride } = phase.members;
                phase.sends(done, |place, bytes| send(at, first + place * stride, bytes));
            }
            first += phase.count;
        }
    }
}

impl Phase {
    const fn new(kind: CollectiveKind, size: u32, place: u32, bytes: u64, members: Members) -> Self {
        Self { kind, size, place, bytes, members, from: 0, count: 0 }.counted()
    }

    /// The same with the number of its arrivals.
    const fn counted(self) -> Self {
        Self { count: self.arrivals(), ..self }
    }

    const fn of_size(self, size: u32) -> Self {
        Self { size, ..self }
    }

    /// The first half of an all-reduce, or the second.
    const fn half(self, half: u32) -> Self {
        let count = self.count / 2;
        Self { from: half * count, count, ..self }
    }

    /// Number of messages that this rank receives in the whole collective.
    const fn arrivals(&self) -> u32 {
        let others = self.size - 1;
        match self.kind {
            AllReduce => 2 * others,
            AllGather | ReduceScatter | AllToAll | Barrier => others,
            Reduce | Gather if self.place == 0 => others,
            Broadcast | Scatter if self.place > 0 && others > 0 => 1,
            Reduce | Gather | Broadcast | Scatter => 0,
        }
    }

    /// Number of its first arrivals whose data are combined with its own.
    const fn combined(&self) -> u32 {
        match self.kind {
            AllReduce | ReduceScatter => self.size - 1,
            Reduce if self.place == 0 => self.size - 1,
            _ => 0,
        }
    }

    /// \[bytes\] Size of a piece of the vector, by its number. Pieces are as equal as whole bytes permit.
    const fn piece(&self, number: u32) -> u64 {
        match self.kind {
            AllGather | Broadcast | Reduce => self.bytes,
            Barrier => 0,
            AllReduce | Gather | Scatter | AllToAll | ReduceScatter => {
                let count = self.size as u64;
                self.bytes / count + ((number as u64) < self.bytes % count) as u64
            }
        }
    }

    /// \[bytes\] Size of the data of arrival `number` (from 0) of a ring or a reduction, which determines how long
    /// combining takes.
    const fn arriving(&self, number: u32) -> u64 {
        match self.kind {
            // The piece of arrival k is one further behind than the one sent before.
            AllReduce | ReduceScatter => self.piece((self.place + 2 * self.size - 2 - number % self.size) % self.size),
            _ => self.piece(self.place),
        }
    }

    /// Calls `send` with position and size \[bytes\] of every message that this rank sends once it has taken `taken`
    /// arrivals of the phase.
    fn sends(&self, taken: u32, mut send: impl FnMut(u32, u64)) {
        let (size, place) = (self.size, self.place);
        let next = (place + 1) % size;
        let behind = |by: u32| (place + 2 * size - by % size) % size;
        match self.kind {
            AllReduce | AllGather | ReduceScatter => {
                if taken < self.count {
                    // A reduction begins with the piece of the rank before, so that each rank ends with its own; the sums of
                    // an all-reduce follow in the same order.
                    let first = self.from + u32::from(self.kind != AllGather);
                    send(next, self.piece(behind(taken + first)));
                }
            }
            _ if taken > 0 => {}
            AllToAll | Barrier => (1..size).map(|by| (place + by) % size).for_each(|to| send(to, self.piece(to))),
            Broadcast | Scatter if place == 0 => (1..size).for_each(|to| send(to, self.piece(to))),
            Reduce | Gather if place > 0 => send(0, self.piece(place)),
            Reduce | Gather | Broadcast | Scatter => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [CollectiveKind; 9] =
        [AllReduce, Reduce, AllGather, Gather, Scatter, Broadcast, AllToAll, ReduceScatter, Barrier];

    /// Messages that each rank sends and receives are the same, with the sizes by definition.
    #[test]
    fn every_message_is_received_and_none_is_missing() {
        for kind in KINDS {
            for size in 1..9_u32 {
                let bytes = 1003_u64;
                let mut arrivals = vec![0_u32; size as usize];
                let mut sum = 0;
                for place in 0..size {
                    let part = Part::new(kind, size, place, bytes);
                    for taken in 0..=part.arrivals() {
                        part.sends(taken, |_, to, bytes| {
                            assert_ne!(to, place);
                            arrivals[to as usize] += 1;
                            sum += bytes;
                        });
                    }
                }
                for place in 0..size {
                    assert_eq!(
                        arrivals[place as usize],
                        Part::new(kind, size, place, bytes).arrivals(),
                        "{kind:?} {size}"
                    );
                }
                let others = u64::from(size - 1);
                let first = bytes.div_ceil(u64::from(size));
                let expected = match kind {
                    AllReduce => 2 * others * bytes,
                    ReduceScatter => others * bytes,
                    AllGather => others * u64::from(size) * bytes,
                    Broadcast | Reduce => others * bytes,
                    Gather | Scatter => bytes - first,
                    AllToAll => others * bytes,
                    Barrier => 0,
                };
                assert_eq!(sum, expected, "{kind:?} {size}");
            }
        }
    }

    /// Runs the parts of all ranks with the pieces that each holds after every arrival, and counts messages by phase.
    #[test]
    fn phases_of_two_levels_receive_what_is_sent_in_them() {
        for kind in KINDS {
            for (each, nodes) in [(2, 2), (3, 2), (2, 5), (4, 3), (8, 16)] {
                let size = each * nodes;
                let part = |place| Part::hierarchical(kind, (each, nodes), place, 1003);
                let mut sent: HashMap<(u32, usize), u32> = HashMap::new();
                let mut senders: Vec<(u32, u32, usize)> = Vec::new();
                let mut sum = 0;
                for place in 0..size {
                    for taken in 0..=part(place).arrivals() {
                        part(place).sends(taken, |phase, to, bytes| {
                            let is_within = to / each == place / each;
                            assert!(!has_levels(kind) || is_within || to % each == place % each, "a rail of its own");
                            *sent.entry((to, phase)).or_default() += 1;
                            senders.push((place, to, phase));
                            sum += bytes;
                        });
                    }
                }
                for place in 0..size {
                    let mut received: HashMap<(u32, usize), u32> = HashMap::new();
                    for number in 0..part(place).arrivals() {
                        let phase = part(place).phase_of(number).unwrap().0;
                        *received.entry((place, phase)).or_default() += 1;
                        let sender = part(place).sender(number);
                        assert!(sender.is_none_or(|sender| senders.contains(&(sender, place, phase))), "{kind:?}");
                    }
                    for phase in 0..PHASES {
                        assert_eq!(
                            sent.get(&(place, phase)),
                            received.get(&(place, phase)),
                            "{kind:?} {place} {phase}"
                        );
                    }
                }
                let (g, n, all) = (u64::from(each), u64::from(nodes), u64::from(size));
                let (bytes, share) = (1003, 1003_u64.div_ceil(g));
                let expected = match kind {
                    // Twice g - 1 pieces within each node, and 2 (n - 1) of the whole vector between nodes.
                    AllReduce => 2 * n * (g - 1) * bytes + 2 * (n - 1) * bytes,
                    ReduceScatter => n * (g - 1) * bytes + (n - 1) * bytes,
                    AllGather => all * (n - 1) * bytes + all * (g - 1) * n * bytes,
                    // Of blocks of unequal size, those for the own place stay.
                    AllToAll => n * (g - 1) * bytes + g * (n - 1) * bytes,
                    Broadcast => (bytes - share) + (n - 1) * bytes + n * (g - 1) * bytes,
                    _ => continue,
                };
                assert_eq!(sum, expected, "{kind:?} {each} x {nodes}");
            }
        }
    }

    #[test]
    fn a_machine_arranges_the_groups_that_span_its_nodes() {
        let placement: Vec<NodeId> = (0..8).map(NodeId).collect();
        let group = |ranks: &[u32]| Group { name: "".into(), ranks: ranks.into() };
        for (ranks, gpus, algorithm, order) in [
            (&[0, 1, 2, 3, 4, 5, 6, 7][..], 4, HIERARCHICAL, &[0, 1, 2, 3, 4, 5, 6, 7][..]),
            (&[5, 0, 4, 1], 4, HIERARCHICAL, &[5, 4, 1, 0]),
            (&[0, 4], 4, "ring", &[0, 4]),
            (&[0, 1, 2], 4, "ring", &[0, 1, 2]),
            (&[0, 1, 4, 6], 4, "ring", &[0, 1, 4, 6]),
            (&[0, 1, 4], 4, "ring", &[0, 1, 4]),
            (&[0, 1, 2, 3], 1, "ring", &[0, 1, 2, 3]),
        ] {
            let layout = Layout::of_machine(&[group(ranks)], &placement, gpus);
            assert_eq!(layout.algorithm(AllReduce, 0), algorithm, "{ranks:?}");
            assert_eq!(layout.algorithm(Barrier, 0), "direct");
            let found: Vec<u32> = (0..ranks.len() as u32).map(|place| layout.rank(0, place)).collect();
            assert_eq!(found, order);
        }
    }
}
