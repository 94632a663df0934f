//! Statistics of a trace: tasks, messages, sizes, pairs, computing.

use std::collections::{BTreeMap, HashSet};

use trgen::Picoseconds;
use trgen::trace::chakra::collective::Layout;
use trgen::trace::chakra::{self, Work};
use trgen::trace::goal::{Graph, Kind};
use trgen::trace::program::{Event, Program};

/// Statistics of a trace.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Facts {
    /// Number of tasks.
    pub tasks: u64,
    /// Number of events or operations by name.
    pub events: BTreeMap<&'static str, u64>,
    /// Messages that the program sent itself.
    pub point_to_point_messages: u64,
    /// \[bytes\] Size of these messages.
    pub point_to_point_bytes: u64,
    /// Messages of expanded collectives.
    pub collective_messages: u64,
    /// \[bytes\] Size of these messages.
    pub collective_bytes: u64,
    /// Number of messages by size \[bytes\]: the key is the power of two at or above the size, 0 for empty ones.
    pub sizes: BTreeMap<u64, u64>,
    /// Number of ordered pairs of tasks that exchange messages.
    pub pairs: u64,
    /// Computing time of all tasks; the unit of a graph is taken as ns.
    pub compute: Picoseconds,
}

impl Facts {
    /// Messages of all kinds.
    #[must_use]
    pub const fn messages(&self) -> u64 {
        self.point_to_point_messages + self.collective_messages
    }

    /// Counts one message.
    fn count_message(&mut self, bytes: u64, collective: bool) {
        let (messages, sum) = if collective {
            (&mut self.collective_messages, &mut self.collective_bytes)
        } else {
            (&mut self.point_to_point_messages, &mut self.point_to_point_bytes)
        };
        *messages += 1;
        *sum = sum.saturating_add(bytes);
        let size = if bytes == 0 { 0 } else { bytes.next_power_of_two() };
        *self.sizes.entry(size).or_default() += 1;
    }

    /// Counts one event of a task; a send adds its pair of tasks to `pairs`.
    fn count_event(&mut self, task: u32, event: &Event, pairs: &mut HashSet<(u32, u32)>) {
        let name = match event {
            Event::Compute(time) => {
                self.compute.0 = self.compute.0.saturating_add(time.0);
                "compute"
            }
            Event::Send(send) | Event::Isend(send, _) => {
                self.count_message(send.bytes, send.tag.is_collective());
                pairs.insert((task, send.to.0));
                if matches!(event, Event::Send(_)) { "send" } else { "isend" }
            }
            Event::Recv(_) => "recv",
            Event::Irecv(..) => "irecv",
            Event::Wait(_) => "wait",
            Event::After(_) => "after",
            Event::WaitAll(_) => "waitall",
            Event::WaitAny(_) => "waitany",
        };
        *self.events.entry(name).or_default() += 1;
    }
}

/// Counts programs.
#[must_use]
pub fn program(program: &Program) -> Facts {
    let mut facts = Facts { tasks: program.tasks.len() as u64, ..Facts::default() };
    let mut pairs = HashSet::new();
    for (task, events) in (0..).zip(&program.tasks) {
        events.iter().for_each(|event| facts.count_event(task, event, &mut pairs));
    }
    facts.pairs = pairs.len() as u64;
    facts
}

/// Counts a graph.
#[must_use]
pub fn graph(graph: &Graph) -> Facts {
    let mut facts = Facts { tasks: graph.ranks().len() as u64, ..Facts::default() };
    let mut pairs = HashSet::new();
    for (rank, operations) in (0_u32..).zip(graph.ranks()) {
        for node in operations.nodes() {
            let name = match node.kind {
                Kind::Send => {
                    facts.count_message(node.size, false);
                    pairs.insert((rank, node.peer));
                    "send"
                }
                Kind::Recv => "recv",
                Kind::Calc => {
                    facts.compute.0 = facts.compute.0.saturating_add(node.size.saturating_mul(1000));
                    "calc"
                }
            };
            *facts.events.entry(name).or_default() += 1;
        }
    }
    facts.events.insert("dependency", graph.counts().dependencies);
    facts.pairs = pairs.len() as u64;
    facts
}

/// The facts of a Chakra trace, its collectives as the messages of their algorithms. Times are those recorded.
#[must_use]
pub fn chakra(trace: &chakra::Trace) -> Facts {
    let mut facts = Facts { tasks: trace.ranks.len() as u64, ..Facts::default() };
    let layout = Layout::flat(&trace.groups);
    for (rank, nodes) in trace.ranks.iter().enumerate() {
        let counts = trace.counts(rank);
        for (name, count) in [
            ("compute", counts.computations),
            ("send", counts.sends),
            ("recv", counts.receives),
            ("collective", counts.collectives),
            ("dependency", counts.dependencies),
        ] {
            *facts.events.entry(name).or_default() += count;
        }
        for node in nodes {
            match node.work {
                Work::Compute { micros, .. } => {
                    facts.compute.0 = facts.compute.0.saturating_add(micros.saturating_mul(1_000_000));
                }
                Work::Send { bytes, .. } => facts.count_message(bytes, false),
                _ => {}
            }
        }
        trace.sends_of_collectives(&layout, rank as u32, |_, bytes| facts.count_message(bytes, true));
    }
    facts.pairs = trace.traffic(&layout).iter().map(|row| row.len() as u64).sum();
    facts
}
