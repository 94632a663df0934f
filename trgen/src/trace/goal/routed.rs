//! A graph over a simulated network: its hosts as a source of traffic.
//!
//! The hosts keep o, g and O; the network replaces L and G. A message is offered to the network o after the start of
//! its send, and arrives at its host when its last packet has been delivered. Messages between hosts on the same node
//! arrive o after the start of their send.
//!
//! # How the model departs from reality, and who could notice
//! - Hosts count in the time unit of the graph (ns), the network in cycles: a message enters the network in the first
//!   cycle that begins at or after its departure from the host, and arrives at the end of its last cycle, which its
//!   host notices in the next whole ns. Where cycles are shorter than a ns, hosts count in parts of a ns of which a
//!   cycle is a whole number, and both are exact.
//! - A send operation never waits for the network: a host's messages queue before a busy interface. A study of
//!   back-pressure on the CPU should use the replay of programs instead.
//!
//! Decision: docs/decisions/0473-hosts-finer-than-cycles.md.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::hosts::{HostParams, Hosts, Remains, Wire};
use super::{Graph, Node};
use crate::message::{Delivery, Message};
use crate::source::{Next, Outbox, SourceError, TrGen, Wait, WaitCause};
use crate::trace::flow::Flow;
use crate::trace::replay::{ReplayReport, SHOWN, TaskReport};
use crate::trace::timeline::Timeline;
use crate::units::{Cycle, NodeId, Picoseconds};

/// A message that has left its host but not entered the network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Leaving {
    /// \[ticks\]
    time: u64,
    /// Order among departures at the same time.
    number: u64,
    host: u32,
    /// The send operation.
    node: u32,
}

/// Messages between the hosts and the network.
#[derive(Clone, Default, Debug)]
struct Departures {
    leaving: BinaryHeap<Reverse<Leaving>>,
    /// Number of the next departure.
    numbers: u64,
    /// Node of each host.
    nodes: Vec<NodeId>,
}

impl Wire for Departures {
    fn carry(&mut self, leaves: u64, host: u32, node: u32, operation: &Node) -> Option<u64> {
        if self.nodes[host as usize] == self.nodes[operation.peer as usize] {
            return Some(leaves);
        }
        self.leaving.push(Reverse(Leaving { time: leaves, number: self.numbers, host, node }));
        self.numbers += 1;
        None
    }
}

/// A graph in execution on the nodes of a network.
#[derive(Clone, Debug)]
pub struct Routed {
    hosts: Hosts,
    departures: Departures,
    /// Number of nodes of the network.
    nodes: usize,
    /// \[ps\] Length of a cycle.
    cycle: u64,
    /// By message id: the host and the send operation.
    senders: Vec<(u32, u32)>,
    /// Ids that are not in use.
    vacant: Vec<usize>,
    /// Number of messages in the network.
    in_flight: u64,
    silent_nodes: usize,
    /// Number of messages that the network has lost.
    lost: u64,
    /// The last cycle processed.
    last: Cycle,
}

/// \[ps\] Time unit of the graph: times are in ns.
const UNIT: u64 = 1000;

/// Parameters of hosts that count in ticks of which a cycle \[ps\] is a whole number, if it is shorter than a time unit
/// and the calculations of the graph, `work` time units, can be counted in them.
fn in_ticks_of(params: HostParams, cycle: u64, work: u64) -> HostParams {
    let ticks = params.ticks.max(1);
    let (mut unit, mut rest) = (UNIT, cycle.saturating_mul(ticks));
    while rest > 0 {
        (unit, rest) = (rest, unit % rest);
    }
    // The greatest common divisor of both.
    let parts = UNIT / unit;
    if cycle >= UNIT || ticks.checked_mul(parts).is_none_or(|ticks| work > u64::MAX / 4 / ticks) {
        return params;
    }
    HostParams { ticks: ticks * parts, overhead_per_byte: params.overhead_per_byte.saturating_mul(parts), ..params }
}

impl Routed {
    /// Executes rank i of `graph` on node `placement[i]` of a network of `nodes` nodes, whose cycles take `cycle`. G of
    /// `params` is not used.
    ///
    /// # Errors
    /// A placement of another length, or on nodes that do not exist.
    pub fn new(
        graph: Graph,
        params: HostParams,
        placement: &[NodeId],
        nodes: usize,
        cycle: Picoseconds,
    ) -> Result<Self, SourceError> {
        let fault = |what: String| Err(SourceError::of_input(what));
        let count = graph.ranks().len();
        if placement.len() != count {
            return fault(format!("{count} ranks, but the placement is of {}", placement.len()));
        }
        if let Some(node) = placement.iter().find(|node| node.index() >= nodes) {
            return fault(format!("the placement names node {node}, but there are {nodes} nodes"));
        }
        let mut sends = vec![false; nodes];
        for (rank, node) in graph.ranks().iter().zip(placement) {
            sends[node.index()] |= rank.nodes().iter().any(|node| node.kind == super::Kind::Send);
        }
        let params = HostParams { gap_per_byte: 0, ..in_ticks_of(params, cycle.0.max(1), graph.counts().work) };
        Ok(Self {
            hosts: Hosts::new(graph, params),
            departures: Departures { nodes: placement.to_vec(), ..Departures::default() },
            nodes,
            cycle: cycle.0.max(1),
            senders: Vec::new(),
            vacant: Vec::new(),
            in_flight: 0,
            silent_nodes: sends.iter().filter(|&&sends| !sends).count(),
            lost: 0,
            last: Cycle(0),
        })
    }

    /// Puts a graph that has been executed back to its beginning, for another network of the same nodes and cycles. What
    /// hosts do over time is not recorded again.
    pub fn begin_anew(&mut self) {
        self.hosts.begin_anew();
        self.departures.leaving.clear();
        self.departures.numbers = 0;
        self.senders.clear();
        self.vacant.clear();
        (self.in_flight, self.lost, self.last) = (0, 0, Cycle(0));
    }

    /// \[ns\] The end of each rank, rounded up.
    #[must_use]
    pub fn finish(&self) -> Vec<u64> {
        self.hosts.finish().into_iter().map(|ticks| ticks.div_ceil(self.hosts.ticks())).collect()
    }

    /// Progress of each rank, in the form of a replay of programs. Fields that apply to programs only are 0.
    #[must_use]
    pub fn report(&self) -> ReplayReport {
        let remains = self.hosts.remains();
        let finish = self.hosts.finish();
        let task = |(rank, &finish): (usize, &u64)| {
            let done = self.hosts.done(rank);
            TaskReport {
                finished: done.is_all.then(|| self.cycle_from(finish)),
                ended: done.is_all.then(|| self.picoseconds(finish)),
                computing: self.hosts.computing(rank).map(|time| self.picoseconds(time)),
                sent_point_to_point: done.sends,
                sent_bytes: done.bytes,
                received: done.received,
                compute_cycles: self.cycle_from(done.work).since(Cycle::FIRST),
                ..TaskReport::default()
            }
        };
        let tasks: Vec<TaskReport> = finish.iter().enumerate().map(task).collect();
        let unfinished = tasks.iter().filter(|task| task.finished.is_none()).count();
        let Remains { unserved, unreceived, mut waits, .. } = remains;
        waits.truncate(SHOWN);
        ReplayReport {
            tasks,
            unreceived,
            unserved,
            unmatched: waits,
            misfits: self.hosts.misfits().clone(),
            unfinished,
        }
    }

    /// Messages sent so far, one by one.
    pub fn flows(&self) -> impl Iterator<Item = Flow> + '_ {
        let nodes = &self.departures.nodes;
        self.hosts.graph().ranks().iter().zip(nodes).flat_map(move |(rank, &from)| {
            let sends = rank.nodes().iter().filter(|node| node.kind == super::Kind::Send && node.has_started());
            sends.map(move |node| Flow { from, to: nodes[node.peer as usize], bytes: node.size, messages: 1 })
        })
    }

    /// Operations inserted plus messages, so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.hosts.events()
    }

    /// The unfinished business.
    #[must_use]
    pub fn remains(&self) -> Remains {
        self.hosts.remains()
    }

    /// \[ps\] A time in ticks, rounded down.
    fn picoseconds(&self, ticks: u64) -> u64 {
        let time = u128::from(ticks) * u128::from(UNIT) / u128::from(self.hosts.ticks());
        u64::try_from(time).unwrap_or(u64::MAX)
    }

    /// Keeps what the hosts do over time from now on.
    pub fn record(&mut self) {
        self.hosts.record();
    }

    /// What the hosts did over time, as far as it is kept.
    #[must_use]
    pub const fn timeline(&self) -> &Timeline {
        self.hosts.timeline()
    }

    /// \[ps\] Length of a cycle times the ticks per time unit; a cycle has a thousandth of this in ticks.
    fn cycle_ticks(&self) -> u128 {
        u128::from(self.cycle) * u128::from(self.hosts.ticks())
    }

    /// The first cycle that begins at or after a time \[ticks\]. The first cycle of the run begins at time 0.
    fn cycle_from(&self, time: u64) -> Cycle {
        let cycles = (u128::from(time) * u128::from(UNIT)).div_ceil(self.cycle_ticks());
        Cycle::FIRST + u64::try_from(cycles).unwrap_or(u64::MAX)
    }

    /// \[ticks\] Beginning of a cycle, rounded up.
    fn start_of(&self, cycle: Cycle) -> u64 {
        let picoseconds = u128::from(cycle.since(Cycle::FIRST)) * self.cycle_ticks();
        u64::try_from(picoseconds.div_ceil(u128::from(UNIT))).unwrap_or(u64::MAX)
    }
}

impl TrGen for Routed {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.last = now;
        // All events before the next cycle belong to this one.
        let end = self.start_of(now.next());
        while self.hosts.next_time().is_some_and(|time| time < end) {
            self.hosts.step_over(&mut self.departures);
        }
        while let Some(Reverse(leaving)) = self.departures.leaving.peek().copied() {
            if self.cycle_from(leaving.time) > now {
                break;
            }
            self.departures.leaving.pop();
            let Leaving { host, node, .. } = leaving;
            let operation = self.hosts.graph().ranks()[host as usize].nodes()[node as usize];
            let id = self.vacant.pop().unwrap_or(self.senders.len());
            match self.senders.get_mut(id) {
                Some(slot) => *slot = (host, node),
                None => self.senders.push((host, node)),
            }
            let (source, destination) =
                (self.departures.nodes[host as usize], self.departures.nodes[operation.peer as usize]);
            self.in_flight += 1;
            out.push(Message { id: id as u64, source, destination, bytes: operation.size, class: 0 });
        }
        Ok(())
    }

    fn sent(&mut self, _: Cycle, _: &Message) {}

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let id = delivery.message.id as usize;
        let (host, node) = self.senders[id];
        self.vacant.push(id);
        self.in_flight -= 1;
        self.hosts.arrive(self.start_of(now.next()), host, node);
    }

    fn dropped(&mut self, _: Cycle, message: &Message) {
        self.vacant.push(message.id as usize);
        self.in_flight -= 1;
        self.lost += 1;
    }

    fn next(&self) -> Next {
        if self.hosts.has_met_end() {
            return Next::At(Cycle::NEVER);
        }
        // Events within a cycle are processed in it; a message leaves in the first cycle that begins later.
        let event = self.hosts.next_time().map(|time| {
            let cycles = u128::from(time) * u128::from(UNIT) / self.cycle_ticks();
            Cycle::FIRST + u64::try_from(cycles).unwrap_or(u64::MAX)
        });
        let leaving = self.departures.leaving.peek().map(|Reverse(leaving)| self.cycle_from(leaving.time));
        match event.into_iter().chain(leaving).min() {
            Some(cycle) => Next::At(cycle),
            None if self.in_flight > 0 || !self.hosts.is_done() => Next::Waiting,
            None if self.hosts.is_past_end() => Next::At(Cycle::NEVER),
            // The run ends when the last CPU is free.
            None => match self.hosts.finish().into_iter().max().map(|time| self.cycle_from(time)) {
                Some(end) if end > self.last => Next::At(end),
                _ => Next::Done,
            },
        }
    }

    fn silent_nodes(&self) -> usize {
        self.silent_nodes
    }

    fn waits(&self) -> Vec<Wait> {
        let waits = self.hosts.remains().waits.into_iter();
        waits.map(|text| Wait { cause: WaitCause::Message, text }).chain(Wait::for_lost(self.lost)).collect()
    }
}
