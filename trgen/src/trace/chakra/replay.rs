//! Executes a trace over a network, as a source of traffic.
//!
//! # Rules
//! - A node is ready when all that it waits for has finished. Ready nodes begin in the order of their numbers.
//! - A rank has a limited number of computations and one communication (send or collective) under way; receives are
//!   exempt.
//! - A computation lasts as recorded. Without a recorded duration it lasts as long as the slower of its operations and of
//!   the transfer of its tensor (roofline), if rates are given, in whole ns.
//! - A send ends when its message arrives; a receive when its message arrives, or when it begins if the message is there.
//! - Collectives of a group are matched in the order in which each rank begins them. A rank's collective ends when the last
//!   message for it has arrived, and, where data are combined, has been added; a rank that only sends ends with the arrival
//!   of its last message.
//!
//! # How the model departs from reality, and who could notice
//! - A message enters the network in the first cycle that begins at or after its departure, and arrives at the end of its
//!   last cycle.
//! - A rank that lists operations of several streams of a device runs them one after another by default.
//!
//! Source: the rules of ASTRA-sim's replay of Chakra traces, by figures of its analytical network; Won and others,
//! *ASTRA-sim2.0*, ISPASS 2023.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

use super::collective::{Part, algorithm};
use super::dag::{Dag, DagError, named};
use super::{CollectiveKind, Dependencies, Trace, Work};
use crate::message::{Delivery, Message};
use crate::source::{Next, Outbox, SourceError, TrGen, Wait, WaitCause};
use crate::trace::flow::Flow;
use crate::trace::replay::{ReplayReport, SHOWN, TaskReport};
use crate::trace::timeline::{Busy, CollectiveRecord, Doing, Part as Share, Span, Timeline};
use crate::units::{Cycle, NodeId, Picoseconds};

/// Parameters of the ranks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Params {
    /// The dependencies that count.
    pub dependencies: Dependencies,
    /// Computations of a rank under way at a time, at least 1.
    pub engines: u32,
    /// \[operations/s\] Rate of computations without a recorded duration; `None`: they last [`least`](Self::least).
    pub peak: Option<f64>,
    /// \[bytes/s\] Rate of the memory: of tensors, and of the addition of data that a collective combines; `None` if it
    /// takes no time.
    pub memory: Option<f64>,
    /// \[ps\] Duration of a computation for which neither a duration is recorded nor a rate is given.
    pub least: u64,
    /// \[ps\] Time before the first message and after each arrival of a collective of a part of the ranks.
    pub group_delay: u64,
    /// Factor of recorded durations and of those by rates; 0 or more.
    pub scale: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            dependencies: Dependencies::All,
            engines: 1,
            peak: None,
            memory: None,
            least: 0,
            group_delay: 0,
            scale: 1.0,
        }
    }
}

/// \[ps\]
const NANOSECOND: u64 = 1000;
/// \[ps\] The end of the clock.
const CLOCK_END: u64 = Cycle::LAST.0;
/// A combination of two operands and a result moves three times its bytes.
const COMBINED: u64 = 3;

/// What a message is for.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    /// Node `node` of rank `from` sends it to `to`.
    Send { from: u32, node: u32, to: u32 },
    /// Part of collective number `number` of a group.
    Piece { from: u32, to: u32, group: u32, number: u32 },
}

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A computation ends.
    Computed { rank: u32, node: u32 },
    /// A message has arrived.
    Arrived(Purpose),
    /// A rank has taken an arrival of a collective, or may begin to send.
    Taken { rank: u32, group: u32, number: u32 },
}

/// Events by time, then in the order of insertion.
#[derive(Clone, Default, Debug)]
struct Agenda {
    heap: BinaryHeap<Reverse<(u64, u64, usize)>>,
    events: Vec<Event>,
    vacant: Vec<usize>,
    numbers: u64,
}

impl Agenda {
    fn push(&mut self, time: u64, event: Event) {
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.events[slot] = event;
                slot
            }
            None => {
                self.events.push(event);
                self.events.len() - 1
            }
        };
        self.heap.push(Reverse((time, self.numbers, slot)));
        self.numbers += 1;
    }

    fn next_time(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((time, ..))| *time)
    }

    fn pop(&mut self) -> Option<(u64, Event)> {
        let Reverse((time, _, slot)) = self.heap.pop()?;
        self.vacant.push(slot);
        Some((time, self.events[slot]))
    }
}

/// A collective at one rank.
#[derive(Clone, Copy, Default, Debug)]
struct Progress {
    /// Its node and its part, once begun.
    begun: Option<(u32, Part)>,
    /// Messages that have arrived.
    arrived: u32,
    /// Arrivals that have been taken.
    taken: u32,
    /// True while an arrival is being taken, or the first message is delayed.
    is_busy: bool,
    /// True while the first message is delayed.
    is_starting: bool,
    /// Own messages that have not arrived yet.
    outstanding: u32,
}

/// One rank.
#[derive(Clone, Default, Debug)]
struct Rank {
    /// Number of unmet dependencies of each node.
    waits: Vec<u32>,
    /// Ready computations and communications, by number.
    computations: BinaryHeap<Reverse<u32>>,
    communications: BinaryHeap<Reverse<u32>>,
    computing: u32,
    is_communicating: bool,
    /// Nodes that have not finished.
    unfinished: usize,
    /// Receives that wait, and messages that wait, by sender and tag.
    posted: HashMap<(u32, i64), VecDeque<u32>>,
    early: HashMap<(u32, i64), u32>,
    /// Collectives by group and number within it; those that have ended are removed.
    progress: HashMap<(u32, u32), Progress>,
    /// Number of collectives begun in each group.
    begun: HashMap<u32, u32>,
    report: TaskReport,
    /// \[ps\] Its computations.
    busy: Busy,
    /// \[ps\] Begin of its communication.
    communicating_since: u64,
    /// \[ps\] End of its last node.
    end: u64,
}

/// A trace in execution on the nodes of a network.
#[derive(Clone, Debug)]
pub struct Replay {
    trace: Trace,
    dags: Vec<Dag>,
    params: Params,
    ranks: Vec<Rank>,
    agenda: Agenda,
    /// Position of each rank in each group.
    places: Vec<HashMap<u32, u32>>,
    /// Messages that have left their rank and not entered the network, by time and number.
    leaving: BinaryHeap<Reverse<(u64, u64, usize)>>,
    left: u64,
    /// By message id: purpose and size.
    messages: Vec<(Purpose, u64)>,
    vacant: Vec<usize>,
    in_flight: u64,
    lost: u64,
    /// Node of each rank.
    placement: Vec<NodeId>,
    nodes: usize,
    /// \[ps\] Length of a cycle.
    cycle: u64,
    records: Vec<CollectiveRecord>,
    /// Index in `records` by group and number.
    record_of: HashMap<(u32, u32), usize>,
    /// Ranks with ready nodes to begin at the present instant.
    touched: Vec<u32>,
    is_past_end: bool,
    last: Cycle,
    timeline: Timeline,
}

/// A trace that cannot be executed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Dependencies that cannot be met.
    #[error(transparent)]
    Dag(#[from] DagError),
    /// A message or group with a rank that the trace lacks.
    #[error("rank {rank}: node {node} names rank {other}, and the trace has {ranks}")]
    NoSuchRank {
        /// The rank.
        rank: usize,
        /// Number and name.
        node: String,
        /// The rank that does not exist.
        other: u32,
        /// Number of ranks.
        ranks: usize,
    },
    /// A collective of a group to which the rank does not belong.
    #[error(
        "rank {rank}: node {node} takes part in a collective of group `{group}`, to which the rank does not belong"
    )]
    NotInGroup {
        /// The rank.
        rank: usize,
        /// Number and name.
        node: String,
        /// Name of the group.
        group: String,
    },
    /// Ranks of a group with different numbers of collectives.
    #[error("group `{group}`: rank {a} takes part in {count_a} collectives, rank {b} in {count_b}")]
    Uneven {
        /// Name of the group.
        group: String,
        /// A rank.
        a: u32,
        /// Its number of collectives.
        count_a: usize,
        /// Another rank.
        b: u32,
        /// Its number of collectives.
        count_b: usize,
    },
    /// A placement that does not fit.
    #[error(transparent)]
    Placement(#[from] SourceError),
}

impl Replay {
    /// Executes rank i of `trace` on node `placement[i]` of a network of `nodes` nodes, whose cycles take `cycle`.
    ///
    /// # Errors
    /// Dependencies that can never be met, ranks that do not exist, groups whose ranks disagree on the number of their
    /// collectives, a placement of another length or on nodes that do not exist.
    pub fn new(
        trace: Trace,
        params: Params,
        placement: &[NodeId],
        nodes: usize,
        cycle: Picoseconds,
    ) -> Result<Self, ReplayError> {
        let count = trace.ranks.len();
        let fault = |what: String| Err(ReplayError::Placement(SourceError::of_input(what)));
        if placement.len() != count {
            return fault(format!("{count} ranks, but the placement is of {}", placement.len()));
        }
        if let Some(node) = placement.iter().find(|node| node.index() >= nodes) {
            return fault(format!("the placement names node {node}, but there are {nodes} nodes"));
        }
        let places = check(&trace)?;
        let dags = trace
            .ranks
            .iter()
            .enumerate()
            .map(|(rank, nodes)| Dag::new(rank, nodes, params.dependencies))
            .collect::<Result<Vec<Dag>, DagError>>()?;
        let ranks = trace.ranks.iter().zip(&dags).map(|(nodes, dag)| Rank {
            waits: dag.waits.clone(),
            unfinished: nodes.len(),
            ..Rank::default()
        });
        let mut replay = Self {
            ranks: ranks.collect(),
            params: Params { engines: params.engines.max(1), ..params },
            agenda: Agenda::default(),
            places,
            leaving: BinaryHeap::new(),
            left: 0,
            messages: Vec::new(),
            vacant: Vec::new(),
            in_flight: 0,
            lost: 0,
            placement: placement.to_vec(),
            nodes,
            cycle: cycle.0.max(1),
            records: Vec::new(),
            record_of: HashMap::new(),
            touched: Vec::new(),
            is_past_end: false,
            last: Cycle(0),
            timeline: Timeline::default(),
            trace,
            dags,
        };
        for rank in 0..count as u32 {
            let free = |&node: &u32| replay.ranks[rank as usize].waits[node as usize] == 0;
            let roots: Vec<u32> = (0..replay.trace.ranks[rank as usize].len() as u32).filter(free).collect();
            for node in roots {
                if replay.ready(rank, node) {
                    replay.finish_node(rank, node, 0);
                }
            }
            replay.begin(rank, 0);
        }
        replay.touched.clear();
        Ok(replay)
    }

    /// The trace in execution.
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        &self.trace
    }

    /// \[ps\] The end of each rank.
    #[must_use]
    pub fn finish(&self) -> Vec<u64> {
        self.ranks.iter().map(|rank| rank.end).collect()
    }

    /// The collectives so far, in the order in which their first rank began them.
    #[must_use]
    pub fn records(&self) -> &[CollectiveRecord] {
        &self.records
    }

    /// Keeps what the ranks do over time. Call before the replay begins.
    pub fn record(&mut self) {
        self.timeline.record();
    }

    /// What the ranks did over time, as far as it is kept.
    #[must_use]
    pub const fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Keeps what a rank does for a node.
    fn note(&mut self, rank: u32, node: u32, doing: Doing, begin: u64, end: u64) {
        let node = &self.trace.ranks[rank as usize][node as usize];
        self.timeline.add(|| Span { rank, doing, name: node.name.to_string(), begin, end });
    }

    /// Everything that the trace sends.
    #[must_use]
    pub fn flows(&self) -> Vec<Flow> {
        let nodes = &self.placement;
        let rows = self.trace.traffic().into_iter().zip(nodes);
        rows.flat_map(|(row, &from)| {
            row.into_iter().map(move |(to, (messages, bytes))| Flow { from, to: nodes[to as usize], bytes, messages })
        })
        .collect()
    }

    /// Progress of each rank.
    #[must_use]
    pub fn report(&self) -> ReplayReport {
        let tasks: Vec<TaskReport> = self
            .ranks
            .iter()
            .map(|rank| TaskReport {
                finished: (rank.unfinished == 0).then(|| self.cycle_from(rank.end)),
                compute_cycles: self.cycle_from(rank.busy.up_to(rank.end)).since(Cycle::FIRST),
                computing: Some(rank.busy.up_to(rank.end)),
                ended: (rank.unfinished == 0).then_some(rank.end),
                ..rank.report
            })
            .collect();
        let unfinished = tasks.iter().filter(|task| task.finished.is_none()).count();
        let unserved = self.ranks.iter().flat_map(|rank| rank.posted.values()).map(|posted| posted.len() as u64).sum();
        let unreceived = self.ranks.iter().flat_map(|rank| rank.early.values()).map(|&count| u64::from(count)).sum();
        ReplayReport { tasks, unreceived, unserved, unmatched: self.pending(), unfinished, ..ReplayReport::default() }
    }

    /// What each rank that has not ended waits for, for the first of them.
    fn pending(&self) -> Vec<String> {
        let mut waits = Vec::new();
        for (number, rank) in self.ranks.iter().enumerate() {
            if rank.unfinished == 0 || waits.len() >= SHOWN {
                continue;
            }
            let nodes = &self.trace.ranks[number];
            let running =
                rank.progress.iter().filter_map(|(&(group, number), progress)| Some((progress.begun?, group, number)));
            if let Some(((node, part), group, collective)) = running.min_by_key(|&((node, _), ..)| node) {
                let record = self.record_of.get(&(group, collective)).map(|&at| &self.records[at]);
                let begun =
                    |other: &&u32| record.is_none_or(|record| record.parts.iter().all(|part| part.rank != **other));
                let missing: Vec<String> =
                    self.trace.groups[group as usize].ranks.iter().filter(begun).take(8).map(u32::to_string).collect();
                let _ = part;
                let who = if missing.is_empty() {
                    "messages of its group".to_owned()
                } else {
                    format!("rank {}", missing.join(", "))
                };
                waits.push(format!("rank {number}: node {} waits for {who}", named(&nodes[node as usize])));
            } else if let Some((from, tag, node)) = rank
                .posted
                .iter()
                .filter_map(|(&(from, tag), posted)| Some((from, tag, *posted.front()?)))
                .min_by_key(|&(_, _, node)| node)
            {
                let node = named(&nodes[node as usize]);
                waits.push(format!("rank {number}: node {node} waits for a message from rank {from} with tag {tag}"));
            }
        }
        waits
    }

    /// \[ps\] Duration of a computation.
    fn duration(&self, micros: u64, operations: u64, tensor: u64) -> u64 {
        let recorded = if micros > 0 {
            micros.saturating_mul(1000 * NANOSECOND)
        } else if let Some(peak) = self.params.peak {
            let whole = |amount: u64, rate: f64| (amount as f64 * 1e9 / rate) as u64;
            let moved = self.params.memory.map_or(0, |memory| whole(tensor, memory));
            let computed = if tensor == 0 && self.params.memory.is_some() { 0 } else { whole(operations, peak) };
            computed.max(moved).saturating_mul(NANOSECOND)
        } else {
            return self.params.least;
        };
        if self.params.scale == 1.0 { recorded } else { (recorded as f64 * self.params.scale).round() as u64 }
    }

    /// A node has all that it waits for. True if it finishes at once.
    fn ready(&mut self, rank: u32, node: u32) -> bool {
        let state = &mut self.ranks[rank as usize];
        match self.trace.ranks[rank as usize][node as usize].work {
            Work::Nothing => return true,
            Work::Compute { .. } => state.computations.push(Reverse(node)),
            Work::Send { .. } | Work::Collective { .. } => state.communications.push(Reverse(node)),
            Work::Receive { from, tag } => match state.early.get_mut(&(from, tag)) {
                Some(count) => {
                    *count -= 1;
                    if *count == 0 {
                        state.early.remove(&(from, tag));
                    }
                    state.report.received += 1;
                    return true;
                }
                None => state.posted.entry((from, tag)).or_default().push_back(node),
            },
        }
        false
    }

    /// A node has finished: what waits for it alone becomes ready.
    fn finish_node(&mut self, rank: u32, node: u32, now: u64) {
        // A chain of nodes that take no time must not become a chain of calls.
        let mut done = vec![node];
        while let Some(node) = done.pop() {
            let state = &mut self.ranks[rank as usize];
            state.unfinished -= 1;
            state.end = state.end.max(now);
            for at in self.dags[rank as usize].dependents(node) {
                let dependent = self.dags[rank as usize].dependent(at);
                let waits = &mut self.ranks[rank as usize].waits[dependent as usize];
                *waits -= 1;
                if *waits == 0 && self.ready(rank, dependent) {
                    done.push(dependent);
                }
            }
        }
        self.touched.push(rank);
    }

    /// Begins ready nodes for which a rank has room, by number.
    fn begin(&mut self, rank: u32, now: u64) {
        loop {
            let state = &mut self.ranks[rank as usize];
            if state.computing < self.params.engines
                && let Some(Reverse(node)) = state.computations.pop()
            {
                self.compute(rank, node, now);
                continue;
            }
            let state = &mut self.ranks[rank as usize];
            if !state.is_communicating
                && let Some(Reverse(node)) = state.communications.pop()
            {
                state.is_communicating = true;
                state.communicating_since = now;
                self.communicate(rank, node, now);
                continue;
            }
            return;
        }
    }

    /// Begins a computation.
    fn compute(&mut self, rank: u32, node: u32, now: u64) {
        let Work::Compute { micros, operations, tensor } = self.trace.ranks[rank as usize][node as usize].work else {
            return;
        };
        let duration = self.duration(micros, operations, tensor);
        let state = &mut self.ranks[rank as usize];
        let end = now.saturating_add(duration);
        state.busy.add(now, end);
        if duration == 0 {
            self.finish_node(rank, node, now);
            return;
        }
        state.computing += 1;
        self.agenda.push(end, Event::Computed { rank, node });
    }

    /// Begins a send or a collective.
    fn communicate(&mut self, rank: u32, node: u32, now: u64) {
        match self.trace.ranks[rank as usize][node as usize].work {
            Work::Send { to, bytes, .. } => {
                let report = &mut self.ranks[rank as usize].report;
                report.sent_point_to_point += 1;
                self.send(now, Purpose::Send { from: rank, node, to }, bytes);
            }
            Work::Collective { kind, group, bytes } => {
                let members = &self.trace.groups[group as usize].ranks;
                let size = members.len() as u32;
                let place = self.places[rank as usize].get(&group).copied().unwrap_or_default();
                let is_part = members.len() < self.ranks.len();
                let number = self.ranks[rank as usize].begun.entry(group).or_default();
                let number = std::mem::replace(number, *number + 1);
                let record = *self.record_of.entry((group, number)).or_insert_with(|| {
                    let gathers = matches!(kind, CollectiveKind::AllGather);
                    let bytes = if gathers { bytes.saturating_mul(size.into()) } else { bytes };
                    let group = is_part.then(|| self.trace.groups[group as usize].name.to_string());
                    let (algorithm, calls, parts) = (algorithm(kind), 1, Vec::new());
                    self.records.push(CollectiveRecord { kind, algorithm, group, number, size, calls, bytes, parts });
                    self.records.len() - 1
                });
                self.records[record].parts.push(Share { rank, begin: now, end: None });
                let progress = self.ranks[rank as usize].progress.entry((group, number)).or_default();
                progress.begun = Some((node, Part::new(kind, size, place, bytes)));
                if is_part && self.params.group_delay > 0 {
                    (progress.is_busy, progress.is_starting) = (true, true);
                    self.agenda.push(now.saturating_add(self.params.group_delay), Event::Taken { rank, group, number });
                } else {
                    self.send_pieces(rank, group, number, now);
                    self.take_arrivals(rank, group, number, now);
                }
            }
            Work::Nothing | Work::Compute { .. } | Work::Receive { .. } => {}
        }
    }

    /// Sends what a rank sends after the arrivals of a collective that it has taken.
    fn send_pieces(&mut self, from: u32, group: u32, number: u32, now: u64) {
        let Some(progress) = self.ranks[from as usize].progress.get_mut(&(group, number)) else { return };
        let Some((_, part)) = progress.begun else { return };
        let taken = progress.taken;
        let mut sends = Vec::new();
        part.sends(taken, |place, bytes| sends.push((place, bytes)));
        progress.outstanding += sends.len() as u32;
        for (place, bytes) in sends {
            let to = self.trace.groups[group as usize].ranks[place as usize];
            self.ranks[from as usize].report.sent_collective += 1;
            self.send(now, Purpose::Piece { from, to, group, number }, bytes);
        }
    }

    /// Takes arrivals of a collective one after another, and ends it after the last one.
    fn take_arrivals(&mut self, rank: u32, group: u32, number: u32, now: u64) {
        loop {
            let is_part = self.trace.groups[group as usize].ranks.len() < self.ranks.len();
            let Some(progress) = self.ranks[rank as usize].progress.get_mut(&(group, number)) else { return };
            let Some((node, part)) = progress.begun else { return };
            if progress.is_busy {
                return;
            }
            if progress.taken == part.arrivals() {
                if part.arrivals() == 0 && progress.outstanding > 0 {
                    return;
                }
                let is_over = progress.outstanding == 0;
                progress.begun = None;
                if is_over {
                    self.ranks[rank as usize].progress.remove(&(group, number));
                }
                if let Some(&record) = self.record_of.get(&(group, number))
                    && let Some(entry) = self.records[record].parts.iter_mut().find(|part| part.rank == rank)
                {
                    entry.end = Some(now);
                }
                let state = &mut self.ranks[rank as usize];
                state.is_communicating = false;
                let begin = state.communicating_since;
                self.note(rank, node, Doing::Collective, begin, now);
                self.finish_node(rank, node, now);
                return;
            }
            if progress.taken == progress.arrived {
                return;
            }
            let combining = match self.params.memory {
                Some(memory) if progress.taken < part.combined() => {
                    COMBINED * (part.arriving(progress.taken) as f64 * 1e9 / memory) as u64 * NANOSECOND
                }
                _ => 0,
            };
            let delay = combining + if is_part { self.params.group_delay } else { 0 };
            if delay > 0 {
                progress.is_busy = true;
                self.agenda.push(now.saturating_add(delay), Event::Taken { rank, group, number });
                return;
            }
            progress.taken += 1;
            self.ranks[rank as usize].report.received += 1;
            self.send_pieces(rank, group, number, now);
        }
    }

    /// A message leaves its rank.
    fn send(&mut self, now: u64, purpose: Purpose, bytes: u64) {
        let (Purpose::Send { from, to, .. } | Purpose::Piece { from, to, .. }) = purpose;
        let report = &mut self.ranks[from as usize].report;
        report.sent_bytes = report.sent_bytes.saturating_add(bytes);
        if self.placement[from as usize] == self.placement[to as usize] {
            self.agenda.push(now, Event::Arrived(purpose));
            return;
        }
        let id = match self.vacant.pop() {
            Some(id) => {
                self.messages[id] = (purpose, bytes);
                id
            }
            None => {
                self.messages.push((purpose, bytes));
                self.messages.len() - 1
            }
        };
        self.leaving.push(Reverse((now, self.left, id)));
        self.left += 1;
    }

    /// An event happens.
    fn happen(&mut self, now: u64, event: Event) {
        match event {
            Event::Computed { rank, node } => {
                self.ranks[rank as usize].computing -= 1;
                if let Work::Compute { micros, operations, tensor } =
                    self.trace.ranks[rank as usize][node as usize].work
                {
                    let begin = now - self.duration(micros, operations, tensor);
                    self.note(rank, node, Doing::Computing, begin, now);
                }
                self.finish_node(rank, node, now);
            }
            Event::Arrived(Purpose::Send { from, node, to }) => {
                let Work::Send { tag, .. } = self.trace.ranks[from as usize][node as usize].work else { return };
                let sender = &mut self.ranks[from as usize];
                sender.is_communicating = false;
                let begin = sender.communicating_since;
                self.note(from, node, Doing::Sending, begin, now);
                self.finish_node(from, node, now);
                let state = &mut self.ranks[to as usize];
                match state.posted.get_mut(&(from, tag)).and_then(VecDeque::pop_front) {
                    Some(receive) => {
                        state.report.received += 1;
                        if state.posted.get(&(from, tag)).is_some_and(VecDeque::is_empty) {
                            state.posted.remove(&(from, tag));
                        }
                        self.finish_node(to, receive, now);
                    }
                    None => *state.early.entry((from, tag)).or_default() += 1,
                }
            }
            Event::Arrived(Purpose::Piece { from, to, group, number }) => {
                let state = &mut self.ranks[from as usize];
                if let Some(progress) = state.progress.get_mut(&(group, number)) {
                    progress.outstanding -= 1;
                    let part = progress.begun.map(|(_, part)| part);
                    match part {
                        Some(part) if part.arrivals() == 0 => self.take_arrivals(from, group, number, now),
                        Some(_) => {}
                        None if progress.outstanding == 0 => {
                            state.progress.remove(&(group, number));
                        }
                        None => {}
                    }
                }
                self.ranks[to as usize].progress.entry((group, number)).or_default().arrived += 1;
                self.take_arrivals(to, group, number, now);
            }
            Event::Taken { rank, group, number } => {
                let Some(progress) = self.ranks[rank as usize].progress.get_mut(&(group, number)) else { return };
                progress.is_busy = false;
                if !std::mem::take(&mut progress.is_starting) {
                    progress.taken += 1;
                    self.ranks[rank as usize].report.received += 1;
                }
                self.send_pieces(rank, group, number, now);
                self.take_arrivals(rank, group, number, now);
            }
        }
    }

    /// All events of the next instant, then all that can begin at it.
    fn step(&mut self) {
        let Some(now) = self.agenda.next_time() else { return };
        if now > CLOCK_END {
            self.is_past_end = true;
            return;
        }
        while self.agenda.next_time() == Some(now) {
            if let Some((now, event)) = self.agenda.pop() {
                self.happen(now, event);
            }
        }
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        touched.iter().for_each(|&rank| self.begin(rank, now));
        touched.clear();
        // Ranks that `begin` has touched have begun what they could.
        self.touched = touched;
    }

    /// The first cycle that begins at or after a time \[ps\]. The first cycle of the run begins at time 0.
    fn cycle_from(&self, time: u64) -> Cycle {
        Cycle::FIRST + time.div_ceil(self.cycle)
    }

    /// \[ps\] Beginning of a cycle.
    fn start_of(&self, cycle: Cycle) -> u64 {
        cycle.since(Cycle::FIRST).saturating_mul(self.cycle)
    }
}

impl TrGen for Replay {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.last = now;
        let end = self.start_of(now.next());
        while !self.is_past_end && self.agenda.next_time().is_some_and(|time| time < end) {
            self.step();
        }
        while let Some(&Reverse((time, _, id))) = self.leaving.peek() {
            if self.cycle_from(time) > now {
                break;
            }
            self.leaving.pop();
            let (purpose, bytes) = self.messages[id];
            let (Purpose::Send { from, to, .. } | Purpose::Piece { from, to, .. }) = purpose;
            let (source, destination) = (self.placement[from as usize], self.placement[to as usize]);
            self.in_flight += 1;
            out.push(Message { id: id as u64, source, destination, bytes, class: 0 });
        }
        Ok(())
    }

    fn sent(&mut self, _: Cycle, _: &Message) {}

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let id = delivery.message.id as usize;
        self.vacant.push(id);
        self.in_flight -= 1;
        self.agenda.push(self.start_of(now.next()), Event::Arrived(self.messages[id].0));
    }

    fn dropped(&mut self, _: Cycle, message: &Message) {
        self.vacant.push(message.id as usize);
        self.in_flight -= 1;
        self.lost += 1;
    }

    fn next(&self) -> Next {
        if self.is_past_end {
            return Next::At(Cycle::NEVER);
        }
        // Events within a cycle are processed in it; a message leaves in the first cycle that begins later.
        let event = self.agenda.next_time().map(|time| Cycle::FIRST + time / self.cycle);
        let leaving = self.leaving.peek().map(|&Reverse((time, ..))| self.cycle_from(time));
        match event.into_iter().chain(leaving).min() {
            Some(cycle) => Next::At(cycle),
            None if self.in_flight > 0 || self.ranks.iter().any(|rank| rank.unfinished > 0) => Next::Waiting,
            None => match self.ranks.iter().map(|rank| self.cycle_from(rank.end)).max() {
                Some(end) if end > self.last => Next::At(end),
                _ => Next::Done,
            },
        }
    }

    fn silent_nodes(&self) -> usize {
        let mut sends = vec![false; self.nodes];
        for (nodes, node) in self.trace.ranks.iter().zip(&self.placement) {
            sends[node.index()] |=
                nodes.iter().any(|node| matches!(node.work, Work::Send { .. } | Work::Collective { .. }));
        }
        sends.iter().filter(|&&sends| !sends).count()
    }

    fn waits(&self) -> Vec<Wait> {
        let waits = self.pending().into_iter();
        waits.map(|text| Wait { cause: WaitCause::Message, text }).chain(Wait::for_lost(self.lost)).collect()
    }
}

/// Checks ranks and groups; returns the position of each rank in each of its groups.
fn check(trace: &Trace) -> Result<Vec<HashMap<u32, u32>>, ReplayError> {
    let count = trace.ranks.len();
    let mut places: Vec<HashMap<u32, u32>> = vec![HashMap::new(); count];
    for (group, members) in (0_u32..).zip(&trace.groups) {
        for (place, &rank) in (0_u32..).zip(&members.ranks) {
            if let Some(of_rank) = places.get_mut(rank as usize) {
                of_rank.insert(group, place);
            }
        }
    }
    let mut taken: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
    for (rank, nodes) in trace.ranks.iter().enumerate() {
        for node in nodes {
            let beyond = |other: u32| Err(ReplayError::NoSuchRank { rank, node: named(node), other, ranks: count });
            match node.work {
                Work::Send { to: other, .. } | Work::Receive { from: other, .. } if other as usize >= count => {
                    return beyond(other);
                }
                Work::Collective { group, .. } => {
                    let members = &trace.groups[group as usize];
                    if let Some(&other) = members.ranks.iter().find(|&&other| other as usize >= count) {
                        return beyond(other);
                    }
                    if !places[rank].contains_key(&group) {
                        let group = members.name.to_string();
                        return Err(ReplayError::NotInGroup { rank, node: named(node), group });
                    }
                    *taken.entry(group).or_default().entry(rank as u32).or_default() += 1;
                }
                _ => {}
            }
        }
    }
    for (group, counts) in taken {
        let members = &trace.groups[group as usize];
        let of = |rank: u32| counts.get(&rank).copied().unwrap_or_default();
        let first = members.ranks[0];
        if let Some(&other) = members.ranks.iter().find(|&&rank| of(rank) != of(first)) {
            let group = members.name.to_string();
            return Err(ReplayError::Uneven { group, a: first, count_a: of(first), b: other, count_b: of(other) });
        }
    }
    Ok(places)
}
