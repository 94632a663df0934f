//! Small programs of communicating tasks, and their replay.

use std::sync::atomic::AtomicBool;

use crate::setup::checked;
use fsin::couple::{Coupled, Failure};
use fsin::engine::fast;
use fsin::router::RouterParams;
use fsin::run::{Outcome, to_end};
use fsin::topology;
use trgen::clock::Clock;
use trgen::trace::program::{Event, Program, Receive, Request, Send, Tag, TagFilter};
use trgen::trace::replay::{Pace, Replay, ReplayReport};
use trgen::{Cycle, Delivery, Message, Next, NodeId, Outbox, Picoseconds, SourceError, TaskId, TrGen, Wait};

/// \[ps\] Length of a network cycle: a phit of 4 bytes at 10 Gb/s.
pub const CYCLE: Picoseconds = Picoseconds(3200);

/// Computes for this many network cycles.
#[must_use]
pub fn compute(cycles: u64) -> Event {
    Event::Compute(Picoseconds(cycles * CYCLE.0))
}

fn message(to: u32, label: i64, bytes: u64) -> Send {
    Send { to: TaskId(to), tag: Tag::user(label), bytes }
}

fn wanted(from: Option<u32>, label: Option<i64>) -> Receive {
    let tag = label.map_or(TagFilter::AnyIn(Tag::POINT_TO_POINT), |label| TagFilter::Exactly(Tag::user(label)));
    Receive { from: from.map(TaskId), tag, bytes: 0 }
}

/// Sends to task `to`, and blocks until the message has been sent.
#[must_use]
pub fn send(to: u32, label: i64, bytes: u64) -> Event {
    Event::Send(message(to, label, bytes))
}

/// Starts a send to task `to`.
#[must_use]
pub fn isend(to: u32, label: i64, bytes: u64, request: u32) -> Event {
    Event::Isend(message(to, label, bytes), Request(request))
}

/// Blocks until a message has arrived; `None` takes any sender, any tag.
#[must_use]
pub fn recv(from: Option<u32>, label: Option<i64>) -> Event {
    Event::Recv(wanted(from, label))
}

/// Posts a receive.
#[must_use]
pub fn irecv(from: Option<u32>, label: Option<i64>, request: u32) -> Event {
    Event::Irecv(wanted(from, label), Request(request))
}

/// Blocks until these requests have completed.
#[must_use]
pub fn wait(requests: &[u32]) -> Event {
    match *requests {
        [request] => Event::Wait(Request(request)),
        _ => Event::WaitAll(requests.iter().map(|&request| Request(request)).collect()),
    }
}

/// The result of a replay.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// The run.
    pub outcome: Outcome,
    /// Statistics of each task.
    pub report: ReplayReport,
    /// Messages in the order of their delivery.
    pub deliveries: Vec<Delivery>,
}

impl Replayed {
    /// Replays `program` with task i on node i, to its end or to a failure; computing is scaled by `compute_scale`.
    ///
    /// # Panics
    /// When the settings or the program are rejected.
    #[must_use]
    pub fn of(program: Program, network: &str, params: RouterParams, compute_scale: f64) -> Self {
        let topology = topology::parse(network, 2).unwrap_or_else(|refusal| panic!("{network}: {refusal}"));
        let checked = checked(&params, &*topology);
        let mut network = fast::build(topology, checked, 1).expect("networks of tests are small");
        let placement: Vec<NodeId> = (0..program.tasks.len()).map(NodeId::at).collect();
        let pace = Pace { cycle: Clock::whole(CYCLE.0), compute_scale };
        let replay = Replay::new(program, &placement, network.nodes(), pace);
        let mut watched = Watched { replay: replay.unwrap_or_else(|error| panic!("{error}")), deliveries: Vec::new() };
        let stop = AtomicBool::new(false);
        let outcome = to_end(&mut Coupled::new(&mut watched, &mut *network, &stop), Cycle::NEVER, &mut |_| {});
        Self { outcome, report: watched.replay.report(), deliveries: watched.deliveries }
    }

    /// \[cycle\] Clock at completion.
    ///
    /// # Panics
    /// When the run did not complete.
    #[must_use]
    pub fn completion(&self) -> u64 {
        self.outcome.completion.unwrap_or_else(|| panic!("the replay failed: {:?}", self.outcome.failure)).0
    }

    /// \[cycle\] In which each task ended; `None` for a task that did not.
    #[must_use]
    pub fn finished(&self) -> Vec<Option<u64>> {
        self.report.tasks.iter().map(|task| task.finished.map(|cycle| cycle.0)).collect()
    }

    /// The pending waits, if the traffic is deadlocked.
    #[must_use]
    pub fn waits(&self) -> Option<&[Wait]> {
        match &self.outcome.failure {
            Some(Failure::TrafficDeadlock { waits, .. }) => Some(waits),
            _ => None,
        }
    }
}

/// A replay whose deliveries are recorded.
struct Watched {
    replay: Replay,
    deliveries: Vec<Delivery>,
}

impl TrGen for Watched {
    fn nodes(&self) -> usize {
        self.replay.nodes()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.replay.generate(now, out)
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        self.replay.sent(now, message);
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        self.deliveries.push(*delivery);
        self.replay.delivered(now, delivery);
    }

    fn dropped(&mut self, now: Cycle, message: &Message) {
        self.replay.dropped(now, message);
    }

    fn next(&self) -> Next {
        self.replay.next()
    }

    fn silent_nodes(&self) -> usize {
        self.replay.silent_nodes()
    }

    fn waits(&self) -> Vec<Wait> {
        self.replay.waits()
    }
}
