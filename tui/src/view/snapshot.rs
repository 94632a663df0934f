//! What a run was like between two cycles.

use serde::{Deserialize, Serialize};

use super::About;

/// Whether time goes on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It has not begun.
    #[default]
    Starting,
    /// It goes on.
    Running,
    /// Somebody has paused it.
    Paused,
    /// It is over.
    Ended,
}

/// Counts of packets since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Packets {
    /// Handed to a network interface.
    pub generated: u64,
    /// Entered a source buffer.
    pub injected: u64,
    /// Consumed in full.
    pub received: u64,
    /// Lost.
    pub dropped: u64,
    /// Links crossed.
    pub hops: u64,
    /// Accepted, and neither received nor lost.
    pub in_flight: u64,
}

/// Latencies of some packets. What cannot be computed is absent.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Packets.
    pub count: u64,
    /// \[cycles\] Mean.
    pub mean: Option<f64>,
    /// \[cycles\] Half are not slower.
    pub p50: Option<u64>,
    /// \[cycles\] 90 % are not slower.
    pub p90: Option<u64>,
    /// \[cycles\] 99 % are not slower.
    pub p99: Option<u64>,
    /// \[cycles\] 99.9 % are not slower.
    pub p999: Option<u64>,
    /// \[cycles\] Slowest.
    pub max: Option<u64>,
    /// Histogram: (upper end of a bin in cycles, packets), from the fastest on, without empty bins.
    pub bins: Vec<(u64, u64)>,
}

/// Latencies of packets that were received.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Latency {
    /// Since the snapshot before.
    pub recent: Summary,
    /// Since somebody looks.
    pub all: Summary,
}

/// What a task is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It computes.
    Computing,
    /// It is blocked in a send.
    Sending,
    /// It is blocked in a receive.
    Receiving,
    /// It is blocked in a wait for requests.
    Waiting,
    /// It has done everything.
    Finished,
}

/// A task of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Task {
    /// Where it runs.
    pub node: u32,
    /// What it is doing.
    pub state: TaskState,
    /// Events that it has begun.
    pub done: u64,
    /// Events of its program.
    pub events: u64,
    /// \[bytes\] Sent.
    pub sent_bytes: u64,
}

/// Several applications that come and go. Every job is counted once: it is to come, waits, runs, or has ended.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Jobs {
    /// That have not arrived.
    pub coming: u64,
    /// That wait for nodes.
    pub waiting: u64,
    /// That run.
    pub running: u64,
    /// That have ended.
    pub ended: u64,
    /// Those that run; where none does, those that ended last.
    pub listed: Vec<Job>,
}

/// An application of several.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Among all jobs, from 0.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: Vec<Task>,
}

/// A live guest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Guest {
    /// Its name.
    pub name: String,
    /// Its nodes.
    pub nodes: Vec<u32>,
    /// What it is doing.
    pub state: String,
    /// False once it has left or was lost.
    pub connected: bool,
    /// \[ps\] Its clock.
    pub clock_ps: u64,
    /// Messages that it injected.
    pub injected: u64,
    /// Deliveries and ends of sends that it was told of.
    pub notices: u64,
    /// Messages handed over late.
    pub late: u64,
}

/// What drives the network.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sources {
    /// Nodes: \[packets\] received of each, since measuring began.
    Nodes(Vec<u64>),
    /// Tasks of a trace or kernel.
    Tasks(Vec<Task>),
    /// Tasks of several applications.
    Jobs(Jobs),
    /// Programs that run now.
    Guests(Vec<Guest>),
}

impl Default for Sources {
    fn default() -> Self {
        Self::Nodes(Vec::new())
    }
}

/// A run between two cycles. Lists are empty where there is nothing to be seen yet.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// \[cycle\] The next one to be simulated.
    pub cycle: u64,
    /// \[cycle\] Where the run will end, if that is known.
    pub end: Option<u64>,
    /// What the run is doing: `warm-up`, `measuring`, ...
    pub phase: String,
    /// Whether time goes on.
    pub state: RunState,
    /// \[s\] Since the start, by the clock on the wall.
    pub elapsed_seconds: f64,
    /// \[cycles/s\] Lately.
    pub cycles_per_second: Option<f64>,
    /// \[cycles/s\] That the user allows.
    pub speed_limit: Option<u64>,
    /// Counts.
    pub packets: Packets,
    /// Latencies.
    pub latency: Latency,
    /// \[phits\] In the transit queues at the input of a port, by router and port.
    pub transit: Vec<u32>,
    /// \[phits\] In the injection queues, by router.
    pub injection: Vec<u32>,
    /// \[packets\] Before the injection queues, by router.
    pub waiting: Vec<u64>,
    /// \[packets\] That have crossed the link that leaves by a port since somebody looks, by router and port.
    pub crossed: Vec<u64>,
    /// What drives the network.
    pub sources: Sources,
    /// What there was to be said, latest last.
    pub log: Vec<String>,
}

impl Snapshot {
    /// Checks that everything fits the run, as data from elsewhere may not.
    ///
    /// # Errors
    /// What does not fit, in words.
    pub fn check(&self, about: &About) -> Result<(), String> {
        let links = about.routers.saturating_mul(about.ports.len());
        for (name, length, expected) in [
            ("transit", self.transit.len(), links),
            ("crossed", self.crossed.len(), links),
            ("injection", self.injection.len(), about.routers),
            ("waiting", self.waiting.len(), about.routers),
        ] {
            if length != 0 && length != expected {
                return Err(format!("`{name}` has {length} entries, the network {expected}"));
            }
        }
        match &self.sources {
            Sources::Nodes(received) if !received.is_empty() && received.len() != about.nodes => {
                Err(format!("{} sources of {} nodes", received.len(), about.nodes))
            }
            _ => Ok(()),
        }
    }

    /// Share (0 to 1) of the run that is over, where its end is known.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let end = self.end.filter(|&end| end > 1 && end >= self.cycle)?;
        Some(self.cycle.saturating_sub(1) as f64 / (end - 1) as f64)
    }

    /// Share (0 to 1) of a router's transit queues that is occupied.
    #[must_use]
    pub fn queue_fill(&self, about: &About, router: usize) -> f64 {
        let ports = about.ports.len();
        let Some(queues) = self.transit.get(router * ports..(router + 1) * ports) else { return 0.0 };
        // At a border, ports without a link have queues that stay empty for ever.
        let linked = if about.links.is_empty() { ports } else { about.linked_ports(router).count() };
        share(queues.iter().map(|&phits| u64::from(phits)).sum(), linked as u64 * u64::from(about.transit_phits))
    }

    /// Share (0 to 1) of a router's injection queues that is occupied.
    #[must_use]
    pub fn injection_fill(&self, about: &About, router: usize) -> f64 {
        share(self.injection.get(router).copied().unwrap_or(0).into(), about.injection_phits.into())
    }

    /// Share (0 to 1) of the queues behind the link that leaves `router` by `port` that is occupied.
    #[must_use]
    pub fn link_fill(&self, about: &About, router: usize, port: usize) -> f64 {
        let ports = about.ports.len();
        let Some(Some(to)) = about.links.get(router * ports + port) else { return 0.0 };
        let phits = self.transit.get(*to as usize * ports + port).copied().unwrap_or(0);
        share(phits.into(), about.transit_phits.into())
    }

    /// Share (0 to 1) of all transit queues that is occupied; `None` where nothing is known of them.
    #[must_use]
    pub fn mean_fill(&self, about: &About) -> Option<f64> {
        let links = about.links.iter().flatten().count();
        let links = if about.links.is_empty() { self.transit.len() } else { links };
        let held: u64 = self.transit.iter().map(|&phits| u64::from(phits)).sum();
        (!self.transit.is_empty()).then(|| share(held, links as u64 * u64::from(about.transit_phits)))
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
}
