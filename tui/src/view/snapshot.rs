//! The state of a run between two cycles.

use serde::{Deserialize, Serialize};

use super::About;

/// State of a run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Not begun.
    #[default]
    Starting,
    /// Running.
    Running,
    /// Paused by the user.
    Paused,
    /// Ended.
    Ended,
}

/// Counts of packets since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Packets {
    /// Number of packets handed to a network interface.
    pub generated: u64,
    /// Number of packets that entered a source buffer.
    pub injected: u64,
    /// Number of packets that were received completely.
    pub received: u64,
    /// Number of packets that were lost.
    pub dropped: u64,
    /// Number of links that packets crossed.
    pub hops: u64,
    /// Number of packets that were accepted, and neither received nor lost.
    pub in_flight: u64,
}

/// Latency statistics of a set of packets. Undefined values are absent.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Number of packets.
    pub count: u64,
    /// \[cycles\] Mean.
    pub mean: Option<f64>,
    /// \[cycles\] Median.
    pub p50: Option<u64>,
    /// \[cycles\] 90th percentile.
    pub p90: Option<u64>,
    /// \[cycles\] 99th percentile.
    pub p99: Option<u64>,
    /// \[cycles\] 99.9th percentile.
    pub p999: Option<u64>,
    /// \[cycles\] Maximum.
    pub max: Option<u64>,
    /// Histogram: (upper end of a bin in cycles, packets), from the fastest on, without empty bins.
    pub bins: Vec<(u64, u64)>,
}

/// Latencies of received packets.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Latency {
    /// Latencies since the previous snapshot.
    pub recent: Summary,
    /// Latencies since display began.
    pub all: Summary,
}

/// State of a task.
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
    /// It has completed its program.
    Finished,
}

/// Progress of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The node on which it runs.
    pub node: u32,
    /// Its state.
    pub state: TaskState,
    /// Number of events begun.
    pub done: u64,
    /// Number of events in its program.
    pub events: u64,
    /// \[bytes\] Data sent so far.
    pub sent_bytes: u64,
}

/// Several applications that start and end during the run. Every job is counted once: as future, waiting, running, or
/// ended.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Jobs {
    /// Number of jobs that have not arrived.
    pub coming: u64,
    /// Number of jobs that wait for nodes.
    pub waiting: u64,
    /// Number of running jobs.
    pub running: u64,
    /// Number of ended jobs.
    pub ended: u64,
    /// The running jobs; if none is running, those that ended last.
    pub listed: Vec<Job>,
}

/// One of several applications.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Number among all jobs, from 0.
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
    /// Its activity.
    pub state: String,
    /// False once it has left or was lost.
    pub connected: bool,
    /// \[ps\] Its clock.
    pub clock_ps: u64,
    /// Number of messages injected.
    pub injected: u64,
    /// Number of notices (deliveries and completed sends) passed to it.
    pub notices: u64,
    /// Number of messages handed over late.
    pub late: u64,
}

/// The sources of traffic.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sources {
    /// Nodes: the number of packets received from each since measurement began.
    Nodes(Vec<u64>),
    /// Tasks of a trace or kernel.
    Tasks(Vec<Task>),
    /// Tasks of several applications.
    Jobs(Jobs),
    /// Running guest programs.
    Guests(Vec<Guest>),
}

impl Default for Sources {
    fn default() -> Self {
        Self::Nodes(Vec::new())
    }
}

/// The state of a run between two cycles. Lists are empty as long as there are no data.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// The next cycle to be simulated.
    pub cycle: u64,
    /// The cycle at which the run ends, if known.
    pub end: Option<u64>,
    /// Phase of the run: `warm-up`, `measuring`, ...
    pub phase: String,
    /// Its state.
    pub state: RunState,
    /// \[s\] Wall-clock time since the start.
    pub elapsed_seconds: f64,
    /// \[cycles/s\] Recent speed.
    pub cycles_per_second: Option<f64>,
    /// \[cycles/s\] Limit set by the user.
    pub speed_limit: Option<u64>,
    /// Counts of packets.
    pub packets: Packets,
    /// Latencies.
    pub latency: Latency,
    /// \[phits\] Contents of the transit queues at the input of a port, by router and port.
    pub transit: Vec<u32>,
    /// \[phits\] Contents of the injection queues, by router.
    pub injection: Vec<u32>,
    /// Number of packets that wait before the injection queues, by router.
    pub waiting: Vec<u64>,
    /// Number of packets that crossed the link at a port since display began, by router and port.
    pub crossed: Vec<u64>,
    /// The sources of traffic.
    pub sources: Sources,
    /// Log lines, latest last.
    pub log: Vec<String>,
}

impl Snapshot {
    /// Checks the consistency with the run, which external data may violate.
    ///
    /// # Errors
    /// A description of the inconsistency.
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

    /// Completed share (0 to 1) of the run, if its end is known.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let end = self.end.filter(|&end| end > 1 && end >= self.cycle)?;
        Some(self.cycle.saturating_sub(1) as f64 / (end - 1) as f64)
    }

    /// Occupancy (0 to 1) of a router's transit queues.
    #[must_use]
    pub fn queue_fill(&self, about: &About, router: usize) -> f64 {
        let ports = about.ports.len();
        let Some(queues) = self.transit.get(router * ports..(router + 1) * ports) else { return 0.0 };
        // At the edge of a mesh, ports without a link have queues that always stay empty.
        let linked = if about.links.is_empty() { ports } else { about.linked_ports(router).count() };
        share(queues.iter().map(|&phits| u64::from(phits)).sum(), linked as u64 * u64::from(about.transit_phits))
    }

    /// Occupancy (0 to 1) of a router's injection queues.
    #[must_use]
    pub fn injection_fill(&self, about: &About, router: usize) -> f64 {
        share(self.injection.get(router).copied().unwrap_or(0).into(), about.injection_phits.into())
    }

    /// Occupancy (0 to 1) of the queues behind the link at `port` of `router`.
    #[must_use]
    pub fn link_fill(&self, about: &About, router: usize, port: usize) -> f64 {
        let ports = about.ports.len();
        let Some(Some(to)) = about.links.get(router * ports + port) else { return 0.0 };
        let phits = self.transit.get(*to as usize * ports + port).copied().unwrap_or(0);
        share(phits.into(), about.transit_phits.into())
    }

    /// Occupancy (0 to 1) of all transit queues; `None` if unknown.
    #[must_use]
    pub fn mean_fill(&self, about: &About) -> Option<f64> {
        let links = about.links.iter().flatten().count();
        let links = if about.links.is_empty() { self.transit.len() } else { links };
        let held: u64 = self.transit.iter().map(|&phits| u64::from(phits)).sum();
        (!self.transit.is_empty()).then(|| share(held, links as u64 * u64::from(about.transit_phits)))
    }
}

/// A part divided by the whole, at most 1; 0 if the whole is 0.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
}
