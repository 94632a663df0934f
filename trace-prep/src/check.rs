//! Checks whether a trace can be executed: every message is received, every receive matched, and no task waits for
//! ever.
//!
//! Programs are executed over a network that delivers at once. This finds every deadlock that does not depend on the
//! order in which messages of different senders arrive. Wildcard receives, which can depend on that order, are counted.

use std::collections::{HashMap, HashSet};

use trgen::clock::Clock;
use trgen::trace::container::{ContainerError, Reader};
use trgen::trace::goal::hosts::{HostParams, Hosts, Wire};
use trgen::trace::goal::{Graph, Node};
use trgen::trace::program::{Event, Program};
use trgen::trace::replay::{Misfits, Pace, Protocol, Replay};
use trgen::{Cycle, Delivery, Next, NodeId, Outbox, Picoseconds, SourceError, TaskId, TrGen, Wait, WaitCause};

mod ends;

use ends::Ends;

/// Findings of a check.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Verdict {
    /// Number of tasks.
    pub tasks: usize,
    /// Messages sent.
    pub messages: u64,
    /// \[bytes\] Total size of the messages sent.
    pub bytes: u64,
    /// Messages received.
    pub received: u64,
    /// Tasks that never ended, each with its pending wait; empty if all ended.
    pub waits: Vec<Wait>,
    /// Messages without a receive and receives without a message. After a deadlock only those count that have no
    /// counterpart anywhere in the trace, since parts of it were not reached.
    pub unmatched: u64,
    /// Descriptions of the first unmatched messages and receives, at most 16.
    pub unmatched_shown: Vec<String>,
    /// Receives whose buffer did not fit the size of the message.
    pub misfits: Misfits,
    /// Number of receives from any source.
    pub wildcards: u64,
    /// End of the last task if messages take no time: the longest chain of dependent computing. A lower bound of any
    /// replay. `None` after a deadlock.
    pub critical_path: Option<Picoseconds>,
    /// Tasks whose wildcard receives could match messages of several senders: the result depends on their order.
    pub races: Vec<TaskId>,
}

impl Verdict {
    /// True if a task waits for ever.
    #[must_use]
    pub fn deadlock(&self) -> bool {
        !self.waits.is_empty()
    }

    /// True if tasks wait for each other in a cycle: every message has a receive, and every receive a message.
    #[must_use]
    pub fn is_circle(&self) -> bool {
        self.deadlock() && self.unmatched == 0
    }
}

/// Items of each kind that a verdict lists.
const SHOWN: usize = 16;

/// The pace of the replay of a check. A cycle is a picosecond, so that a message takes a time that is negligible
/// against computing.
const PACE: Pace = Pace { cycle: Clock::whole(1), compute_scale: 1.0 };

/// Checks programs. With `synchronous`, every send of at least a byte waits for its receive.
///
/// # Errors
/// A program whose peers do not exist.
pub fn program(program: &Program, synchronous: bool) -> Result<Verdict, SourceError> {
    let nodes = program.tasks.len();
    let placement: Vec<NodeId> = (0..nodes).map(NodeId::at).collect();
    let mut wildcards = Wildcards::default();
    for (task, events) in program.tasks.iter().enumerate() {
        events.iter().for_each(|event| wildcards.add(TaskId::at(task), event));
    }
    let replay = Replay::new(program.clone(), &placement, nodes, PACE)?;
    let mut verdict = examine(replay, nodes, synchronous, &wildcards)?;
    if verdict.deadlock() {
        let mut ends = Ends::default();
        for (task, events) in program.tasks.iter().enumerate() {
            events.iter().for_each(|event| ends.add(TaskId::at(task), event));
        }
        (verdict.unmatched, verdict.unmatched_shown) = ends.unmatched(SHOWN);
    }
    Ok(verdict)
}

/// Checks a container of programs, block by block.
///
/// # Errors
/// A damaged block.
pub fn container(container: &Reader, synchronous: bool) -> Result<Verdict, SourceError> {
    let nodes = container.summaries().len();
    let placement: Vec<NodeId> = (0..nodes).map(NodeId::at).collect();
    let mut wildcards = Wildcards::default();
    each_event(container, |task, event| wildcards.add(task, event))?;
    let replay = Replay::stored(container, &placement, nodes, PACE)?;
    let mut verdict = examine(replay, nodes, synchronous, &wildcards)?;
    if verdict.deadlock() {
        let mut ends = Ends::default();
        each_event(container, |task, event| ends.add(task, event))?;
        (verdict.unmatched, verdict.unmatched_shown) = ends.unmatched(SHOWN);
    }
    Ok(verdict)
}

/// Calls `visit` with every event of a container, task by task.
fn each_event(container: &Reader, mut visit: impl FnMut(TaskId, &Event)) -> Result<(), SourceError> {
    let name = container.name().unwrap_or("the container");
    for task in 0..container.summaries().len() {
        let mut cursor = container.cursor(task);
        let failed = |error: ContainerError| {
            let place = error.byte.map_or_else(String::new, |byte| format!(" at byte {byte}"));
            SourceError::of_input(format!("{name}{place}: task {task}: {error}; {}", error.remedy))
        };
        while let Some(event) = cursor.next_event().map_err(failed)? {
            visit(TaskId::at(task), &event);
        }
    }
    Ok(())
}

/// Replays a program over a network that delivers every message in the cycle in which it is offered.
fn examine(replay: Replay, nodes: usize, synchronous: bool, wildcards: &Wildcards) -> Result<Verdict, SourceError> {
    let mut replay = replay.with_protocol(Protocol { eager_limit: synchronous.then_some(0) });
    let mut outbox = Outbox::new(nodes);
    let mut now = Cycle::FIRST;
    while let Next::At(due) = replay.next() {
        now = now.max(due);
        replay.generate(now, &mut outbox)?;
        let mut taken = Vec::new();
        outbox.offer(|message| {
            taken.push(message);
            true
        });
        for message in taken {
            replay.sent(now, &message);
            replay.delivered(now, &Delivery { message, offered: now, delivered: now });
        }
        now = now.next();
    }
    let report = replay.report();
    let finished = report.tasks.iter().map(|task| task.finished.map(|done| done.0 - Cycle::FIRST.0));
    let critical_path = finished.collect::<Option<Vec<u64>>>().and_then(|all| all.into_iter().max()).map(Picoseconds);
    let (unmatched, unmatched_shown) = replay.leftovers(SHOWN);
    Ok(Verdict {
        tasks: nodes,
        messages: report.tasks.iter().map(|task| task.sent_point_to_point + task.sent_collective).sum(),
        bytes: report.tasks.iter().fold(0, |sum, task| sum.saturating_add(task.sent_bytes)),
        received: report.tasks.iter().map(|task| task.received).sum(),
        waits: replay.waits(),
        misfits: replay.misfits().clone(),
        unmatched,
        unmatched_shown,
        critical_path,
        wildcards: wildcards.count,
        races: wildcards.races(),
    })
}

/// Receives from any source, and their possible senders.
#[derive(Default)]
struct Wildcards {
    /// Number of receives from any source.
    count: u64,
    /// Each task that receives from any source, with the context in which it does.
    receivers: HashSet<(TaskId, u32)>,
    /// The sender of the messages to each task in each context; `None` if there are several.
    senders: HashMap<(TaskId, u32), Option<TaskId>>,
}

impl Wildcards {
    /// Records the sender of a send, or the context of a receive from any source.
    fn add(&mut self, task: TaskId, event: &Event) {
        match event {
            Event::Send(send) | Event::Isend(send, _) => {
                let sender = self.senders.entry((send.to, send.tag.context)).or_insert(Some(task));
                if *sender != Some(task) {
                    *sender = None;
                }
            }
            Event::Recv(receive) | Event::Irecv(receive, _) if receive.from.is_none() => {
                self.count += 1;
                self.receivers.insert((task, receive.tag.context()));
            }
            _ => {}
        }
    }

    /// Tasks with a receive from any source in a context in which several tasks send to them.
    fn races(&self) -> Vec<TaskId> {
        let racing = self.receivers.iter().filter(|place| self.senders.get(place) == Some(&None));
        let mut tasks: Vec<TaskId> = racing.map(|(task, _)| *task).collect();
        tasks.sort_unstable();
        tasks.dedup();
        tasks
    }
}

/// Checks a graph by executing it at zero cost.
#[must_use]
pub fn graph(graph: &Graph) -> Verdict {
    let free = HostParams {
        overhead: 0,
        gap: 0,
        gap_per_byte: 0,
        overhead_per_byte: 0,
        rendezvous: u64::MAX,
        ticks: 1,
        streams: false,
    };
    let nodes = graph.ranks().iter().enumerate();
    let (mut wildcards, mut senders) = (Wildcards::default(), HashSet::new());
    for (rank, operations) in nodes {
        for node in operations.nodes() {
            match node.kind {
                trgen::trace::goal::Kind::Send if senders.insert((rank, node.peer)) => {
                    let sender = wildcards.senders.entry((TaskId(node.peer), 0)).or_insert(Some(TaskId::at(rank)));
                    if *sender != Some(TaskId::at(rank)) {
                        *sender = None;
                    }
                }
                trgen::trace::goal::Kind::Recv if node.peer == trgen::trace::goal::ANY => {
                    wildcards.count += 1;
                    wildcards.receivers.insert((TaskId::at(rank), 0));
                }
                _ => {}
            }
        }
    }
    let mut hosts = Hosts::new(graph.clone(), free);
    while hosts.step(&mut AtOnce) {}
    let for_message = |text| Wait { cause: WaitCause::Message, text };
    let remains = hosts.remains();
    let deadlock = remains.unstarted > 0;
    let (unmatched, unmatched_shown) = if deadlock {
        let mut ends = Ends::default();
        for (rank, operations) in graph.ranks().iter().enumerate() {
            operations.nodes().iter().for_each(|node| ends.add_operation(TaskId::at(rank), node));
        }
        ends.unmatched(SHOWN)
    } else {
        (remains.unserved + remains.unreceived, remains.waits.iter().take(SHOWN).cloned().collect())
    };
    let last = hosts.finish().into_iter().max().filter(|_| !deadlock);
    let mut verdict = Verdict {
        tasks: graph.ranks().len(),
        waits: remains.waits.into_iter().filter(|_| deadlock).map(for_message).collect(),
        misfits: hosts.misfits().clone(),
        unmatched,
        critical_path: last.map(|nanoseconds| Picoseconds(nanoseconds.saturating_mul(1000))),
        unmatched_shown,
        wildcards: wildcards.count,
        races: wildcards.races(),
        ..Verdict::default()
    };
    for rank in 0..verdict.tasks {
        let done = hosts.done(rank);
        verdict.messages += done.sends;
        verdict.bytes = verdict.bytes.saturating_add(done.bytes);
        verdict.received += done.received;
    }
    verdict
}

/// A network that takes no time.
struct AtOnce;

impl Wire for AtOnce {
    fn carry(&mut self, leaves: u64, _: u32, _: u32, _: &Node) -> Option<u64> {
        Some(leaves)
    }
}
