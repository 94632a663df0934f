//! Rows of the figures that are tables, and figures of several parts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::datum::Number;
use super::table::Figure;
use fsin_core::capture::Place;
use fsin_core::network::{BufferFigures, ClassFigures, Measure, PortFigures};
use fsin_core::run;

/// Why a run failed.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct FailureReport {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// The failure in words.
    pub what: String,
    /// What waits for what, a line each.
    pub waits: Vec<String>,
}

/// Kinds of failures.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// Packets wait for one another in a circle of channels.
    NetworkDeadlock,
    /// Copies of packets circulate without end.
    NetworkStorm,
    /// Packets are dropped and sent again without end.
    NetworkLivelock,
    /// Simulated time exceeds what a clock can hold.
    ClockEnd,
    /// Tasks wait for messages that no task sends.
    TrafficDeadlock,
    /// Messages or receives without a counterpart.
    Unmatched,
    /// The traffic ended the run.
    Source,
    /// A kind that this version does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

impl FailureKind {
    /// As results name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NetworkDeadlock => "network-deadlock",
            Self::NetworkStorm => "network-storm",
            Self::NetworkLivelock => "network-livelock",
            Self::ClockEnd => "clock-end",
            Self::TrafficDeadlock => "traffic-deadlock",
            Self::Unmatched => "unmatched",
            Self::Source => "source",
            Self::Unknown => "unknown",
        }
    }
}

/// What a warning is about.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// The network accepts less than it is asked to.
    Saturated,
    /// Whether the network accepts what it is asked to cannot be told from so short a run.
    Undecided,
    /// No steady state was found before measuring began, or it did not remain one.
    NotConverged,
    /// Under the pattern some nodes never send.
    SilentNodes,
    /// Anything else.
    #[serde(other)]
    Other,
}

impl From<run::WarningKind> for WarningKind {
    fn from(kind: run::WarningKind) -> Self {
        match kind {
            run::WarningKind::Saturated => Self::Saturated,
            run::WarningKind::Undecided => Self::Undecided,
            run::WarningKind::Unsteady => Self::NotConverged,
            run::WarningKind::SilentNodes => Self::SilentNodes,
            run::WarningKind::Other => Self::Other,
        }
    }
}

/// A measured batch.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct Batch {
    /// \[cycle\] First cycle of the batch.
    pub start_cycle: u64,
    /// \[cycles\] Its length.
    pub cycles: u64,
    /// \[phits/node/cycle\] Generated load.
    pub generated_load_phits_per_node_cycle: f64,
    /// \[phits/node/cycle\] Injected load.
    pub injected_load_phits_per_node_cycle: f64,
    /// \[phits/node/cycle\] Accepted load.
    pub accepted_load_phits_per_node_cycle: f64,
    /// \[cycles\] Mean packet latency.
    pub latency_mean_cycles: Option<f64>,
    /// \[cycles\] Greatest packet latency.
    pub latency_max_cycles: Option<u64>,
    /// \[cycles\] Mean injection latency.
    pub injection_latency_mean_cycles: Option<f64>,
    /// \[links\] Mean path length.
    pub hops_mean: Option<f64>,
    /// \[packets\] Delivered.
    pub packets_received: u64,
}

impl Batch {
    /// The figure of this batch that a run has under the same name; `None` where a batch has none.
    #[must_use]
    pub const fn number(&self, figure: Figure) -> Option<f64> {
        match figure {
            Figure::GeneratedLoad => Some(self.generated_load_phits_per_node_cycle),
            Figure::InjectedLoad => Some(self.injected_load_phits_per_node_cycle),
            Figure::AcceptedLoad => Some(self.accepted_load_phits_per_node_cycle),
            Figure::LatencyMean => self.latency_mean_cycles,
            Figure::InjectionLatencyMean => self.injection_latency_mean_cycles,
            Figure::HopsMean => self.hops_mean,
            _ => None,
        }
    }
}

/// A part of a run between failures and repairs of links.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct PhaseRow {
    /// \[cycle\] Its first cycle.
    pub start_cycle: u64,
    /// \[cycles\] Its length.
    pub cycles: u64,
    /// The failures and repairs with which it began; none in the first one.
    pub events: Vec<String>,
    /// \[links\] Dead links.
    pub dead_links: u64,
    /// \[phits/node/cycle\] Generated load.
    pub generated_load_phits_per_node_cycle: Option<f64>,
    /// \[phits/node/cycle\] Accepted load.
    pub accepted_load_phits_per_node_cycle: Option<f64>,
    /// \[cycles\] Mean latency of the packets received; null if there were none.
    pub latency_mean_cycles: Option<f64>,
    /// \[packets\] Received.
    pub packets_received: u64,
    /// \[packets\] Lost for good, those without a route included.
    pub packets_dropped: u64,
    /// \[bytes\] Of these packets.
    pub bytes_dropped: u64,
}

/// A shot: a burst of messages, and the time until all have arrived.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct ShotRow {
    /// \[cycle\] In which its first message was generated.
    pub start_cycle: u64,
    /// \[cycles\] From there to the last arrival, both counted.
    pub cycles: u64,
    /// \[messages\] Of all nodes.
    pub messages: u64,
}

/// Bounds below which the completion of a program cannot be; null where one is not known.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct CompletionBounds {
    /// \[cycles\] Phits of the node that sends most over its injectors or links, whichever are slower.
    pub injection: Option<u64>,
    /// \[cycles\] The messages of a node one after another, each over the links that lead towards its destination.
    pub interface: Option<u64>,
    /// \[cycles\] Phits of the node that receives most over its links or ports of consumption, whichever are slower.
    pub ejection: Option<u64>,
    /// \[cycles\] Phits that cross a middle of the network over the links there.
    pub bisection: Option<u64>,
    /// \[cycles\] All phits times the length of their shortest paths over all links.
    pub links: Option<u64>,
    /// \[cycles\] The program over a network that delivers at once.
    pub critical_path: Option<u64>,
    /// \[cycles\] The program over a network in which every message is alone; null where another bound is the whole
    /// completion time.
    pub sequence: Option<u64>,
    /// \[cycles\] What the link that carried most carried; only of networks that choose paths by a hash, and of
    /// programs without rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fullest_link: Option<u64>,
    /// \[cycles\] Computing of the rank that computes longest; only of programs that run live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computing: Option<u64>,
}

/// What a task did.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(untagged)]
pub enum TaskRow {
    /// Over an ideal network.
    OfHost(HostTask),
    /// Over a network of routers.
    Replayed(ReplayedTask),
}

/// A task over an ideal network.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, JsonSchema)]
pub struct HostTask {
    /// \[ns\] When it was done.
    pub finish_ns: Number,
    /// \[ns\] During which it computed; null where that is not known.
    pub compute_ns: Option<Number>,
    /// \[ns\] Until it was done, during which it did not compute: communication that no computation hides; null where
    /// that is not known.
    pub exposed_communication_ns: Option<Number>,
}

/// A task over a network of routers.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct ReplayedTask {
    /// \[cycle\] In which its last event was done; null if it did not end.
    pub finished_cycle: Option<u64>,
    /// \[cycles\] Of computing.
    pub compute_cycles: u64,
    /// \[cycles\] Blocked in sends; null where that is not known.
    pub blocked_on_send_cycles: Option<u64>,
    /// \[cycles\] Blocked in receives; null where that is not known.
    pub blocked_on_receive_cycles: Option<u64>,
    /// \[cycles\] Blocked in waits for requests; null where that is not known.
    pub blocked_on_wait_cycles: Option<u64>,
    /// \[messages\] Sent.
    pub messages_sent: u64,
    /// \[messages\] Received.
    pub messages_received: u64,
    /// \[bytes\] Sent.
    pub bytes_sent: u64,
    /// \[ns\] Until its last event was done, by the clock of the completion time or, of tasks that count in ns, by their
    /// own; null if it did not end.
    pub finished_ns: Option<Number>,
    /// \[ns\] During which it computed; null where that is not known.
    pub compute_ns: Option<Number>,
    /// \[ns\] Until it was done, during which it did not compute: communication that no computation hides; null where
    /// one of both is not known.
    pub exposed_communication_ns: Option<Number>,
}

/// A job of a mix.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct JobRow {
    /// Its name.
    pub name: String,
    /// \[tasks\] How many it has.
    pub tasks: u64,
    /// \[nodes\] How many it had; null if it did not start.
    pub nodes: Option<u64>,
    /// \[cycle\] In which it joined the queue.
    pub arrival_cycle: u64,
    /// \[cycle\] In which its tasks began.
    pub start_cycle: Option<u64>,
    /// \[cycle\] In which its last task was done.
    pub finish_cycle: Option<u64>,
    /// \[cycles\] From its arrival to its start.
    pub wait_cycles: Option<u64>,
    /// \[cycles\] From its start to its end.
    pub run_cycles: Option<u64>,
    /// \[cycles\] That it runs alone on the same nodes.
    pub alone_cycles: Option<u64>,
    /// Run time over that of the same job alone.
    pub slowdown: Option<f64>,
    /// \[messages\] Sent.
    pub messages: u64,
    /// \[bytes\] Sent.
    pub bytes_sent: u64,
    /// \[bytes x links\] Bytes of each message times the length of its shortest path, summed.
    pub hop_bytes: Option<Number>,
    /// \[links\] Mean length of the shortest path of a byte.
    pub hops_per_byte: Option<f64>,
    /// The node of each task; null if it did not start.
    pub task_nodes: Option<Vec<u32>>,
}

/// A figure that only one network model has.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct ModelFigure {
    /// Its name.
    pub name: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// Its value.
    pub value: f64,
    /// What it means.
    pub meaning: String,
}

impl From<&(&Measure, f64)> for ModelFigure {
    fn from(&(measure, value): &(&Measure, f64)) -> Self {
        let Measure { name, unit, about } = *measure;
        Self { name: name.to_owned(), unit: unit.to_owned(), value, meaning: about.to_owned() }
    }
}

/// A host or a switch.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// A host.
    #[default]
    Host,
    /// A switch; in a direct network it has the number of its node.
    Switch,
}

/// An output port, and the link that leaves through it.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct PortRow {
    /// Whether it is a port of a host or of a switch.
    pub of: Device,
    /// Number of that node.
    pub node: u32,
    /// Number of the port there.
    pub port: u64,
    /// Whether the link leads to a host or to a switch.
    pub to: Device,
    /// Number of that node.
    pub to_node: u32,
    /// Number of the port there.
    pub to_port: u64,
    /// \[packets\] That have come through the link.
    pub packets: u64,
    /// \[packets\] Dropped because the queue was full.
    pub dropped: u64,
    /// \[packets\] Damaged by the link.
    pub damaged: u64,
    /// \[packets\] Mean length of the queue over time, the packet in transmission not counted.
    pub queue_mean_packets: f64,
    /// \[packets\] Greatest length of the queue.
    pub queue_max_packets: u64,
    /// Share of the time in which the link was occupied.
    pub utilisation: f64,
    /// Shares of the time in which 0, 1, 2 to 3, 4 to 7, ... packets waited; null where they are not kept.
    pub queue_shares: Option<Vec<f64>>,
    /// By class, where ports have classes: those of which something happened here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassRow>,
}

/// A traffic class, at a port or in the whole network.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct ClassRow {
    /// The class.
    pub class: u8,
    /// \[frames\] On which a switch has set the mark of congestion.
    pub frames_marked: u64,
    /// \[frames\] That found no room.
    pub frames_dropped: u64,
    /// \[frames\] Pause frames for the other end, to stop and to go on.
    pub pause_frames: u64,
    /// Number of times that a watchdog has dropped what waited.
    pub watchdogs: u64,
    /// \[s\] Time for which the other end has paused the class; in the network, summed over ports.
    pub paused_seconds: f64,
    /// \[bytes\] Mean length of the queue over time; in the network, of the switch port where it is largest.
    pub queue_mean_bytes: f64,
    /// \[bytes\] Greatest length of the queue.
    pub queue_max_bytes: u64,
    /// \[packets\] That have arrived while measuring; null, as the next three, where models keep none of classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets_received: Option<u64>,
    /// \[cycles\] Mean latency of these packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_mean_cycles: Option<f64>,
    /// \[links\] Mean length of their paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hops_mean: Option<f64>,
    /// \[phits/node/cycle\] Load that they carry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_load_phits_per_node_cycle: Option<f64>,
}

impl ClassRow {
    /// The row of a class in the whole network, over so many nodes times cycles.
    pub(crate) fn of_network(of: &ClassFigures, node_cycles: f64) -> Self {
        let arrived = of.arrived.as_ref();
        Self {
            packets_received: arrived.map(|arrived| arrived.packets),
            latency_mean_cycles: arrived.and_then(|arrived| arrived.latency_mean),
            hops_mean: arrived.and_then(|arrived| arrived.hops_mean),
            accepted_load_phits_per_node_cycle: arrived.map(|arrived| arrived.phits as f64 / node_cycles),
            ..Self::from(of)
        }
    }
}

impl From<&ClassFigures> for ClassRow {
    fn from(of: &ClassFigures) -> Self {
        Self {
            class: of.class,
            frames_marked: of.marked,
            frames_dropped: of.dropped,
            pause_frames: of.pause_frames,
            watchdogs: of.watchdogs,
            paused_seconds: of.paused as f64 * 1e-12,
            queue_mean_bytes: of.queue_mean,
            queue_max_bytes: of.queue_max,
            ..Self::default()
        }
    }
}

/// The buffer that the ports of a switch share.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct BufferRow {
    /// The switch.
    pub node: u32,
    /// \[bytes\] Mean over time of what it holds.
    pub mean_bytes: f64,
    /// \[bytes\] The most that it has held.
    pub max_bytes: u64,
}

impl From<&BufferFigures> for BufferRow {
    fn from(of: &BufferFigures) -> Self {
        Self { node: of.node.0, mean_bytes: of.mean, max_bytes: of.max }
    }
}

const fn device(place: Place) -> (Device, u32) {
    match place {
        Place::Host(node) => (Device::Host, node.0),
        Place::Switch(node) => (Device::Switch, node.0),
    }
}

impl From<&PortFigures> for PortRow {
    fn from(figures: &PortFigures) -> Self {
        let ((of, node), (to, to_node)) = (device(figures.at.place), device(figures.to.place));
        Self {
            of,
            node,
            port: figures.at.port as u64,
            to,
            to_node,
            to_port: figures.to.port as u64,
            packets: figures.packets,
            dropped: figures.dropped,
            damaged: figures.damaged,
            queue_mean_packets: figures.queue_mean,
            queue_max_packets: figures.queue_max,
            utilisation: figures.utilisation,
            queue_shares: figures.queue_shares.clone(),
            classes: figures.classes.iter().map(ClassRow::from).collect(),
        }
    }
}

/// The digest of a run of guests at one moment.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct RunningDigest {
    /// \[ps\] The moment.
    pub time_ps: u64,
    /// Hash over all injections and deliveries in cycles that begin before it, 16 hexadecimal digits.
    pub digest: String,
}

/// A live guest.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct GuestRow {
    /// Its name.
    pub name: String,
    /// Its nodes.
    pub nodes: Vec<u32>,
    /// How its time passes: stepped or causal.
    pub class: String,
    /// Digest of what it is, as it said, 64 hexadecimal digits; null if it said nothing.
    pub manifest: Option<String>,
    /// \[ps\] Where its clock was last.
    pub time_ps: u64,
    /// Whether it said goodbye.
    pub left: bool,
    /// How it was lost; null if it was not.
    pub lost: Option<String>,
    /// \[turns\] That it had.
    pub turns: u64,
    /// \[messages\] That it injected.
    pub messages_sent: u64,
    /// \[notices\] Deliveries and completions that it was told of.
    pub notices: u64,
    /// \[messages\] Handed over after their time.
    pub messages_late: u64,
    /// \[ps\] Mean lateness of the late messages.
    pub late_mean_ps: Option<f64>,
    /// \[ps\] Greatest lateness of a message.
    pub late_max_ps: u64,
    /// The moments that it gave a name.
    pub marks: Vec<MarkRow>,
}

/// A moment that a guest gave a name.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct MarkRow {
    /// \[ps\] When.
    pub time_ps: u64,
    /// The name.
    pub label: String,
}

/// A virtual machine on a simulated network.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct MachineRow {
    /// Its number, from 0.
    pub machine: u64,
    /// Its node.
    pub node: u64,
    /// The exit status of its command; null if it ran none, or ended before.
    pub status: Option<u64>,
    /// What its command has written; null if it ran none.
    pub output: Option<String>,
}

/// A rank of an MPI program on a simulated network.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct RankRow {
    /// Its number in `MPI_COMM_WORLD`.
    pub rank: u64,
    /// Whether it has called `MPI_Finalize`.
    pub finalized: bool,
    /// \[ps\] Its clock at its end.
    pub time_ps: u64,
    /// \[ps\] That it computed.
    pub computing_ps: u64,
    /// \[ps\] That it waited.
    pub waiting_ps: u64,
    /// The same by the call, and by the rank that was waited for.
    pub waits: Vec<WaitRow>,
    /// \[messages\] That it sent, those of collectives included.
    pub messages_sent: u64,
    /// \[bytes\] That it sent.
    pub bytes_sent: u64,
    /// \[messages\] That it received.
    pub messages_received: u64,
    /// \[messages\] That had arrived before their receive was posted.
    pub messages_unexpected: u64,
    /// What it sent to each other rank.
    pub sent: Vec<SentRow>,
    /// \[calls\] By name.
    pub calls: BTreeMap<String, u64>,
    /// Its collectives, by operation.
    pub collectives: Vec<CollectiveRow>,
    /// Rounds of protocol messages, each to or from all other ranks; null with a central order.
    pub sync_rounds: Option<u64>,
    /// The same, relative to quanta as long as the delay.
    pub sync_rounds_relative: Option<f64>,
    /// \[delays\] Mean virtual time between stops of synchronisation; null without any.
    pub uninterrupted_mean_delays: Option<f64>,
}

/// What a rank sent to another one.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct SentRow {
    /// The other rank.
    pub to: u64,
    /// \[messages\] Those of collectives included.
    pub messages: u64,
    /// \[bytes\] Their sizes in the model.
    pub bytes: u64,
}

/// The collectives of one kind of a rank.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct CollectiveRow {
    /// The operation; `MPI_Finalize` is a barrier, and communicators are made by an allgather.
    pub operation: String,
    /// \[calls\] That it took part in.
    pub count: u64,
    /// \[ps\] From the beginning of each on this rank to its end on this rank, summed.
    pub time_ps: u64,
}

/// The time that a rank waited in one call for one other rank: of a collective, for the rank whose message ended that
/// part of the wait.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct WaitRow {
    /// The call.
    pub call: String,
    /// The rank that was waited for; null for any of several.
    pub peer: Option<u64>,
    /// \[ps\] The time.
    pub waiting_ps: u64,
}
