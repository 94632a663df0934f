//! Executes a trace over a network, as a source of traffic.
//!
//! # Rules
//! - A node is ready when all that it waits for has finished. Ready nodes begin in the order of their numbers. What ends
//!   releases what waits for it at the end of its instant, also if it has lasted no time: nodes that were ready at the
//!   beginning of an instant come before those that a computation of no duration releases in it.
//! - A rank has a limited number of computations and of communications (sends and collectives) under way, by default one of
//!   each; receives are exempt. Where groups overlap and each rank has one communication, ranks that begin collectives
//!   in different orders can wait for each other in a circle, at some rates of the network and not at others.
//! - A computation lasts as recorded. Without a recorded duration it lasts as long as the slower of its operations and of
//!   the transfer of its tensor (roofline), if rates are given, in whole ns.
//! - A send ends when its message arrives; a receive when its message arrives, or when it begins if the message is there.
//! - Collectives of a group are matched in the order in which each rank begins them. A rank's collective ends when the last
//!   message for it has arrived, and, where data are combined, has been added; a rank that only sends ends with the arrival
//!   of its last message. On a machine of two levels its phases follow one another at each rank ([`Layout`]). Additions
//!   of a collective follow one another at a rank, which has one memory; a delay of groups is no occupation: each arrival
//!   has it for itself.
//!
//! # How the model departs from reality, and who could notice
//! - A message enters the network in the first cycle that begins at or after its departure, and arrives at the end of its
//!   last cycle.
//! - A rank that lists operations of several streams of a device runs them one after another by default.
//!
//! Source: the rules of ASTRA-sim's replay of Chakra traces, by figures of its analytical network; Won and others,
//! *ASTRA-sim2.0*, ISPASS 2023.
//!
//! Decisions: docs/decisions/0340-who-is-busy.md, docs/decisions/0536-one-communication-at-a-time.md.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

mod agenda;
mod check;
mod graph;
mod pieces;
mod source;

use super::collective::{Layout, Part};
use super::dag::{Dag, DagError, named};
use super::{CollectiveKind, Dependencies, Trace, Work};
use crate::hashing::Table;
use crate::source::{SourceError, Wait, WaitCause};
use crate::trace::collectives::Choice;
use crate::trace::flow::Flow;
use crate::trace::replay::{ReplayReport, SHOWN, TaskReport};
use crate::trace::slow::Slow;
use crate::trace::timeline::{Busy, CollectiveRecord, Doing, Part as Share, Passage, Span, Timeline};
use crate::units::{Cycle, NodeId, Picoseconds};

use agenda::{Agenda, Event, Purpose};
use check::check;

pub use check::ReplayError;
pub use graph::GraphOfRanksError;

/// Parameters of the ranks.
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    /// The dependencies that count.
    pub dependencies: Dependencies,
    /// Computations of a rank under way at a time, at least 1.
    pub engines: u32,
    /// Communications of a rank under way at a time, at least 1.
    pub communications: u32,
    /// \[operations/s\] Rate of computations without a recorded duration; `None`: they last [`least`](Self::least).
    pub peak: Option<f64>,
    /// \[bytes/s\] Rate of the memory: of tensors, and of the addition of data that a collective combines; `None` if it
    /// takes no time.
    pub memory: Option<f64>,
    /// \[ps\] Duration of a computation for which neither a duration is recorded nor a rate is given.
    pub least: u64,
    /// \[ps\] Time before the first message and after each arrival of a collective of a part of the ranks, which each of
    /// them has for itself.
    pub group_delay: u64,
    /// Factor of recorded durations and of those by rates; 0 or more.
    pub scale: f64,
    /// Ranks whose computations last longer.
    pub slow: Slow,
    /// Number of consecutive nodes of the network that form a machine, within which collectives have a level of their own;
    /// 1 for algorithms of one level.
    pub gpus: u32,
    /// Algorithms of collectives by name, in the place of the usual ones.
    pub collectives: Choice,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            dependencies: Dependencies::All,
            engines: 1,
            communications: 1,
            peak: None,
            memory: None,
            least: 0,
            group_delay: 0,
            scale: 1.0,
            slow: Slow::default(),
            gpus: 1,
            collectives: Choice::default(),
        }
    }
}

/// \[ps\]
const NANOSECOND: u64 = 1000;
/// \[ps\] The end of the clock.
const CLOCK_END: u64 = Cycle::LAST.0;
/// A combination of two operands and a result moves three times its bytes.
const COMBINED: u64 = 3;

/// \[ns\] Time that a combination of so many bytes takes, in whole ns for each operand, with a memory of so many bytes/s.
fn combining(bytes: u64, memory: f64) -> u64 {
    COMBINED.saturating_mul((bytes as f64 * 1e9 / memory) as u64)
}

/// A collective at one rank.
#[derive(Clone, Default, Debug)]
struct Progress {
    /// Its node and its part, once begun.
    begun: Option<(u32, Part)>,
    /// Index of its record, and of the rank's share there, once begun.
    share: (usize, usize),
    /// Messages that have arrived, by phase or sender.
    arrived: Table<u32, u32>,
    /// Arrivals whose data are in place, and added where they are combined.
    combined: u32,
    /// Those of them that have been taken: the delay of groups is over.
    taken: u32,
    /// True while the data of an arrival are being added.
    is_combining: bool,
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
    /// Nodes of the communications under way, and when they began \[ps\].
    communicating: Vec<(u32, u64)>,
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
    /// \[ps\] End of its last node.
    end: u64,
}

impl Rank {
    /// A communication has ended; returns when it began \[ps\].
    fn communicated(&mut self, node: u32) -> u64 {
        let place = self.communicating.iter().position(|&(other, _)| other == node);
        place.map_or(0, |place| self.communicating.swap_remove(place).1)
    }
}

/// A trace in execution on the nodes of a network.
#[derive(Clone, Debug)]
pub struct Replay {
    trace: Trace,
    dags: Vec<Dag>,
    params: Params,
    ranks: Vec<Rank>,
    agenda: Agenda,
    /// The ranks of each group, and the algorithms of their collectives.
    layout: Layout,
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
    /// What the ranks began when the replay was made.
    begun: Timeline,
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
        check(&trace)?;
        params.slow.check(count, |rank| trace.counts(rank as usize).computations > 0).map_err(ReplayError::Slow)?;
        let layout = Layout::of_machine(&trace.groups, placement, params.gpus).by(params.collectives.clone());
        let kinds = trace.ranks.iter().flatten().filter_map(|node| match node.work {
            Work::Collective { kind, group, .. } => Some((kind, group)),
            _ => None,
        });
        layout.check(kinds).map_err(ReplayError::Algorithm)?;
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
            layout,
            params: Params { engines: params.engines.max(1), communications: params.communications.max(1), ..params },
            agenda: Agenda::default(),
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
            begun: Timeline::default(),
            trace,
            dags,
        };
        // What begins at once begins here, before anybody can ask for a timeline.
        replay.timeline.record();
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
        replay.begun = std::mem::take(&mut replay.timeline);
        Ok(replay)
    }

    /// The trace in execution.
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        &self.trace
    }

    /// True if collectives of some group have an algorithm of two levels.
    #[must_use]
    pub fn has_levels(&self) -> bool {
        self.layout.has_levels()
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

    /// The node of each rank.
    #[must_use]
    pub fn places(&self) -> &[NodeId] {
        &self.placement
    }

    /// Keeps what the ranks do over time. Call before the replay begins.
    pub fn record(&mut self) {
        if !self.timeline.is_kept() {
            self.timeline = std::mem::take(&mut self.begun);
        }
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

    /// Keeps that a message begins, under its name while it is under way, and when it arrives if that is known.
    #[inline]
    fn note_message(&mut self, id: u64, purpose: Purpose, bytes: u64, (sent, arrived): (u64, Option<u64>)) {
        if !self.timeline.is_kept() {
            return;
        }
        let (Purpose::Send { from, to, .. } | Purpose::Piece { from, to, .. }) = purpose;
        let record = match purpose {
            Purpose::Send { .. } => None,
            Purpose::Piece { group, number, .. } => self.record_of.get(&(group, number)),
        };
        let collective = record.map(|&at| self.records[at].name().into());
        self.timeline.sent((0, id), || Passage { from, to, sent, arrived, bytes, collective });
    }

    /// Everything that the trace sends.
    #[must_use]
    pub fn flows(&self) -> Vec<Flow> {
        let nodes = &self.placement;
        let rows = self.trace.traffic(&self.layout).into_iter().zip(nodes);
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
        ReplayReport {
            tasks,
            unreceived,
            unserved,
            unmatched: self.pending().into_iter().map(|wait| wait.text).collect(),
            unfinished,
            ..ReplayReport::default()
        }
    }

    /// What each rank that has not ended waits for, for the first of them.
    fn pending(&self) -> Vec<Wait> {
        let mut waits = Vec::new();
        for (number, rank) in self.ranks.iter().enumerate() {
            if rank.unfinished == 0 || waits.len() >= SHOWN {
                continue;
            }
            let nodes = &self.trace.ranks[number];
            let running = rank
                .progress
                .iter()
                .filter_map(|(&key, progress)| Some((progress.begun.as_ref()?, key, progress.taken)));
            if let Some(((node, part), (group, collective), taken)) = running.min_by_key(|&(begun, ..)| begun.0) {
                let record = self.record_of.get(&(group, collective)).map(|&at| &self.records[at]);
                let begun =
                    |other: &&u32| record.is_none_or(|record| record.parts.iter().all(|part| part.rank != **other));
                let missing: Vec<String> =
                    self.trace.groups[group as usize].ranks.iter().filter(begun).take(8).map(u32::to_string).collect();
                let who = match part.sender(taken) {
                    _ if !missing.is_empty() => format!("rank {}", missing.join(", ")),
                    Some(place) => format!("a message of rank {}", self.layout.rank(group, place)),
                    None => "messages of its group".to_owned(),
                };
                // What others wait for may be ready here, and wait for room.
                let is_held_up = !missing.is_empty() && !rank.communications.is_empty();
                waits.push(Wait {
                    cause: if is_held_up { WaitCause::Order } else { WaitCause::Message },
                    text: format!("rank {number}: node {} waits for {who}", named(&nodes[*node as usize])),
                });
            } else if let Some((from, tag, node)) = rank
                .posted
                .iter()
                .filter_map(|(&(from, tag), posted)| Some((from, tag, *posted.front()?)))
                .min_by_key(|&(_, _, node)| node)
            {
                let node = named(&nodes[node as usize]);
                waits.push(Wait {
                    cause: WaitCause::Message,
                    text: format!("rank {number}: node {node} waits for a message from rank {from} with tag {tag}"),
                });
            }
        }
        waits
    }

    /// \[ps\] Duration of a computation of a rank.
    fn duration(&self, rank: u32, micros: u64, operations: u64, tensor: u64) -> u64 {
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
        let scale = self.params.scale * self.params.slow.factor(rank);
        if scale == 1.0 { recorded } else { (recorded as f64 * scale).round() as u64 }
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
            if state.communicating.len() < self.params.communications as usize
                && let Some(Reverse(node)) = state.communications.pop()
            {
                state.communicating.push((node, now));
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
        let duration = self.duration(rank, micros, operations, tensor);
        let state = &mut self.ranks[rank as usize];
        let end = now.saturating_add(duration);
        state.busy.add(now, end);
        // Also a computation of no duration has an end, which comes after all that begins at its instant.
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
                let Some(part) = self.layout.part(kind, group, rank, bytes) else { return };
                let size = self.trace.groups[group as usize].ranks.len() as u32;
                let is_part = (size as usize) < self.ranks.len();
                let number = self.ranks[rank as usize].begun.entry(group).or_default();
                let number = std::mem::replace(number, *number + 1);
                let record = *self.record_of.entry((group, number)).or_insert_with(|| {
                    let gathers = matches!(kind, CollectiveKind::AllGather);
                    let bytes = if gathers { bytes.saturating_mul(size.into()) } else { bytes };
                    let (algorithm, calls, parts) = (self.layout.algorithm(kind, group), 1, Vec::new());
                    let group = is_part.then(|| self.trace.groups[group as usize].name.to_string());
                    self.records.push(CollectiveRecord { kind, algorithm, group, number, size, calls, bytes, parts });
                    self.records.len() - 1
                });
                let parts = &mut self.records[record].parts;
                parts.push(Share { rank, begin: now, end: None });
                let share = (record, parts.len() - 1);
                let progress = self.ranks[rank as usize].progress.entry((group, number)).or_default();
                (progress.begun, progress.share) = (Some((node, part)), share);
                if is_part && self.params.group_delay > 0 {
                    progress.is_starting = true;
                    self.agenda.push(now.saturating_add(self.params.group_delay), Event::Taken { rank, group, number });
                } else {
                    self.send_pieces(rank, group, number, now);
                    self.take_arrivals(rank, group, number, now);
                }
            }
            Work::Nothing | Work::Compute { .. } | Work::Receive { .. } => {}
        }
    }

    /// A message leaves its rank.
    fn send(&mut self, now: u64, purpose: Purpose, bytes: u64) {
        let (Purpose::Send { from, to, .. } | Purpose::Piece { from, to, .. }) = purpose;
        let report = &mut self.ranks[from as usize].report;
        report.sent_bytes = report.sent_bytes.saturating_add(bytes);
        let is_inside = self.placement[from as usize] == self.placement[to as usize];
        if is_inside {
            self.note_message(u64::MAX, purpose, bytes, (now, Some(now)));
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
        self.note_message(id as u64, purpose, bytes, (now, None));
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
                    let begin = now - self.duration(rank, micros, operations, tensor);
                    self.note(rank, node, Doing::Computing, begin, now);
                }
                self.finish_node(rank, node, now);
            }
            Event::Arrived(Purpose::Send { from, node, to }) => {
                let Work::Send { tag, .. } = self.trace.ranks[from as usize][node as usize].work else { return };
                let begin = self.ranks[from as usize].communicated(node);
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
            Event::Arrived(Purpose::Piece { from, to, group, number, counted }) => {
                let state = &mut self.ranks[from as usize];
                if let Some(progress) = state.progress.get_mut(&(group, number)) {
                    progress.outstanding -= 1;
                    let arrivals = progress.begun.as_ref().map(|(_, part)| part.arrivals());
                    match arrivals {
                        Some(0) => self.take_arrivals(from, group, number, now),
                        Some(_) => {}
                        None if progress.outstanding == 0 => {
                            state.progress.remove(&(group, number));
                        }
                        None => {}
                    }
                }
                let arrived = &mut self.ranks[to as usize].progress.entry((group, number)).or_default().arrived;
                *arrived.entry(counted).or_default() += 1;
                self.take_arrivals(to, group, number, now);
            }
            Event::Taken { rank, group, number } => {
                let Some(progress) = self.ranks[rank as usize].progress.get_mut(&(group, number)) else { return };
                if !std::mem::take(&mut progress.is_starting) {
                    progress.taken += 1;
                    self.ranks[rank as usize].report.received += 1;
                }
                self.send_pieces(rank, group, number, now);
                self.take_arrivals(rank, group, number, now);
            }
            Event::Combined { rank, group, number } => {
                let Some(progress) = self.ranks[rank as usize].progress.get_mut(&(group, number)) else { return };
                progress.is_combining = false;
                self.combined(rank, group, number, now);
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
