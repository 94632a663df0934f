//! The table of all figures: the fields of [`RunResult`], and a [`Figure`] for each.
//!
//! The figures of a network of routers come first, in the order in which they are written, followed by those of the
//! other kinds of runs alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use fsin_core::family::PHITS_PER_NODE_CYCLE;

use super::datum::{Datum, Number, Shape};
use super::manifest::Manifest;
use super::of_collectives::CollectiveTimes;
use super::of_details::{FlowRow, LatencyBin, MessageClass, NodeRow};
use super::of_energy::EnergyRow;
use super::rows::{
    Batch, BufferRow, ClassRow, CompletionBounds, FailureReport, GuestRow, JobRow, MachineRow, ModelFigure, PhaseRow,
    PortRow, RankRow, RunningDigest, ShotRow, TaskRow, WarningKind,
};
use super::serial::Written;

macro_rules! figures {
    ($($id:ident = $name:ident: $type:ty, [$($unit:literal)?] $meaning:literal;)+) => {
        /// A figure of a result: what has a name, a unit and a meaning.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Figure {
            $(#[doc = concat!($("\\[", $unit, "\\] ",)? $meaning)] $id,)+
        }

        impl Figure {
            /// Every figure, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$id,)+];

            /// Its name in results: the key in JSON, the head of a column in CSV.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$id => stringify!($name),)+ }
            }

            /// Its unit; empty if it has none.
            #[must_use]
            pub const fn unit(self) -> &'static str {
                match self { $(Self::$id => concat!($($unit)?),)+ }
            }

            /// What it means, in one line.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$id => $meaning,)+ }
            }

            /// What its value is.
            #[must_use]
            pub const fn shape(self) -> Shape {
                match self { $(Self::$id => <$type as Datum>::SHAPE,)+ }
            }
        }

        /// The result of a run: every figure. A figure that this kind of run does not have, or that cannot be computed, is
        /// `None`. Serialised it is one object, with a key for each figure that the kind of run has.
        #[derive(Clone, PartialEq, Default, Debug, JsonSchema)]
        pub struct RunResult {
            $(#[doc = concat!($("\\[", $unit, "\\] ",)? $meaning)] pub $name: $type,)+
            /// What is written, in this order.
            #[schemars(skip)]
            pub(super) written: Vec<Written>,
        }

        impl RunResult {
            /// A figure as a number; `None` if it is absent or not a number.
            #[must_use]
            pub fn number(&self, figure: Figure) -> Option<f64> {
                match figure { $(Figure::$id => self.$name.number(),)+ }
            }

            /// A figure as JSON; null if it is absent.
            #[must_use]
            pub fn value(&self, figure: Figure) -> Value {
                let value = match figure { $(Figure::$id => serde_json::to_value(&self.$name),)+ };
                // No type of the table has non-string keys or a failing implementation.
                value.unwrap_or_default()
            }

            pub(super) fn write_entry<M: SerializeMap>(&self, figure: Figure, map: &mut M) -> Result<(), M::Error> {
                match figure { $(Figure::$id => map.serialize_entry(figure.name(), &self.$name),)+ }
            }

            pub(super) fn read_entry(&mut self, figure: Figure, value: &Value) -> Result<(), serde_json::Error> {
                match figure {
                    $(Figure::$id => self.$name = Option::<$type>::deserialize(value)?.unwrap_or_default(),)+
                }
                Ok(())
            }
        }
    };
}

figures! {
    Schema = schema: u64, [] "version of the names and meanings of figures";
    Complete = complete: bool, [] "whether the run came to its planned end";
    Converged = converged: Option<bool>, [] "whether the measured state is steady; null where no steady state was waited for and no trend is seen";
    Verdict = verdict: Option<String>, [] "whether the network carries the load that is asked for: carried, saturated, or undecided where the run is too short to tell; null where no load is asked for";
    DecidingCycles = deciding_cycles: Option<u64>, ["cycles"] "measured time that is expected to decide; null unless the verdict is undecided, and where too little was measured to say";
    Saturated = saturated: Option<bool>, [] "true if the verdict is saturated; null where there is none, or too little was measured to judge at all";
    Failure = failure: Option<FailureReport>, [] "why the run failed; null if it did not";
    Warnings = warnings: Vec<String>, [] "what a reader of the figures must know";
    WarningKinds = warning_kinds: Vec<WarningKind>, [] "what each of the warnings is about, in the same order";
    Notes = notes: Vec<String>, [] "what a reader may want to know without being warned: decisions of the trace reader";
    Cycles = cycles: Option<u64>, ["cycles"] "simulated in all";
    MeasuredCycles = measured_cycles: Option<u64>, ["cycles"] "over which was measured";
    WarmupCycles = warmup_cycles: Option<u64>, ["cycles"] "before measuring began; null of runs that are not measured in batches";
    Nodes = nodes: Option<u64>, ["nodes"] "endpoints of the network";
    NodeEjection = node_ejection_phits_per_cycle: Option<f64>, ["phits/cycle"] "greatest rate at which a node takes packets: that of its links, or of its ports of consumption if they are slower; null of networks without links";
    OfferedLoad = offered_load_phits_per_node_cycle: Option<f64>, ["phits/node/cycle"] "load asked for, over all nodes; null where none is asked for, or where it changes with time";
    GeneratedLoad = generated_load_phits_per_node_cycle: Option<f64>, ["phits/node/cycle"] "load that sources generated while measuring";
    InjectedLoad = injected_load_phits_per_node_cycle: Option<f64>, ["phits/node/cycle"] "load that entered the source buffers while measuring";
    AcceptedLoad = accepted_load_phits_per_node_cycle: Option<f64>, ["phits/node/cycle"] "load that was received while measuring";
    AcceptedLoadCi95 = accepted_load_ci95: Option<f64>, ["phits/node/cycle"] "half the 95 % confidence interval of the accepted load, widened by the correlation in time";
    AcceptedLoadLag1 = accepted_load_lag1: Option<f64>, [] "correlation of the accepted load of a batch with that of the next, -1 to 1";
    OfferedLoadOfSenders = offered_load_of_senders_phits_per_node_cycle: Option<f64>, ["phits/node/cycle"] "load asked for, over the nodes that send";
    AcceptedLoadOfSenders = accepted_load_of_senders_phits_per_node_cycle: Option<f64>, ["phits/node/cycle"] "accepted load, over the nodes that send";
    AcceptedLoadOfSendersCi95 = accepted_load_of_senders_ci95: Option<f64>, ["phits/node/cycle"] "half the 95 % confidence interval of the accepted load over the nodes that send";
    QueueGrowth = queue_growth_phits_per_node_cycle: Option<f64>, ["phits/node/cycle"] "growth of the queues at sources and in the network: phits generated and not received";
    QueueGrowthCi95 = queue_growth_ci95: Option<f64>, ["phits/node/cycle"] "half the 95 % confidence interval of that growth";
    LatencyMean = latency_mean_cycles: Option<f64>, ["cycles"] "mean packet latency, from generation (throttled sources: from entering the source buffer) to the arrival of the last phit, of packets received while measuring";
    LatencyStd = latency_std_cycles: Option<f64>, ["cycles"] "standard deviation of the packet latency";
    LatencyMax = latency_max_cycles: Option<u64>, ["cycles"] "greatest packet latency";
    LatencyCi95 = latency_ci95: Option<f64>, ["cycles"] "half the 95 % confidence interval of the mean latency, widened by the correlation in time; null where queues grow, since there is no steady mean";
    LatencyDrift = latency_drift: Option<f64>, [] "change of the mean latency over the measured time, as a share of its mean";
    LatencyDriftCi95 = latency_drift_ci95: Option<f64>, [] "half the 95 % confidence interval of that change";
    LatencyLag1 = latency_lag1: Option<f64>, [] "correlation of the mean latency of a batch with that of the next, -1 to 1";
    LatencyP50 = latency_p50_cycles: Option<u64>, ["cycles"] "median packet latency";
    LatencyP90 = latency_p90_cycles: Option<u64>, ["cycles"] "90th percentile of the packet latency";
    LatencyP99 = latency_p99_cycles: Option<u64>, ["cycles"] "99th percentile of the packet latency";
    LatencyP999 = latency_p999_cycles: Option<u64>, ["cycles"] "99.9th percentile of the packet latency";
    InjectionLatencyMean = injection_latency_mean_cycles: Option<f64>, ["cycles"] "mean time from the same moment to that in which the header leaves the injection queue";
    InjectionLatencyStd = injection_latency_std_cycles: Option<f64>, ["cycles"] "standard deviation of the injection latency";
    InjectionLatencyMax = injection_latency_max_cycles: Option<u64>, ["cycles"] "greatest injection latency";
    HopsMean = hops_mean: Option<f64>, ["links"] "mean path length of the packets received while measuring";
    PacketsGenerated = packets_generated: Option<u64>, ["packets"] "generated in the whole run, warm-up included";
    PacketsInjected = packets_injected: Option<u64>, ["packets"] "that entered the source buffers in the whole run";
    PacketsReceived = packets_received: Option<u64>, ["packets"] "received in the whole run";
    PacketsDropped = packets_dropped: Option<u64>, ["packets"] "dropped in the whole run";
    PacketsInFlight = packets_in_flight: Option<u64>, ["packets"] "generated and neither received nor dropped at the end";
    PacketHops = packet_hops: Option<u64>, ["packets x links"] "links that headers crossed in the whole run";
    SilentNodes = silent_nodes: Option<u64>, ["nodes"] "that never send under this pattern";
    FairnessMin = fairness_min: Option<f64>, [] "packets received from the least served source, as a share of the mean";
    FairnessJain = fairness_jain: Option<f64>, [] "Jain's index of the packets received from each source, 1 where all are served alike";
    Samples = samples: Option<Vec<Batch>>, [] "figures of each measured batch, in order";
    Shots = shots: Option<Vec<ShotRow>>, [] "each shot, in order; null of traffic without shots";
    ShotCyclesMean = shot_cycles_mean: Option<f64>, ["cycles"] "mean length of a shot";
    ShotCyclesCi95 = shot_cycles_ci95: Option<f64>, ["cycles"] "half the 95 % confidence interval of the mean length of a shot";
    RoundTrips = round_trips: Option<u64>, ["replies"] "that arrived in the whole run; null of traffic without requests and replies";
    RoundTripMean = round_trip_mean_cycles: Option<f64>, ["cycles"] "mean time from the generation of a request to the arrival of its reply in full";
    RoundTripMin = round_trip_min_cycles: Option<u64>, ["cycles"] "least of these times";
    RoundTripMax = round_trip_max_cycles: Option<u64>, ["cycles"] "greatest of these times";
    LinkLoadMean = link_load_mean_phits_per_cycle: Option<f64>, ["phits/cycle"] "share of the measured cycles in which a link carries a phit, mean over links; where link loads are kept";
    LinkLoadMax = link_load_max_phits_per_cycle: Option<f64>, ["phits/cycle"] "the same of the busiest link; where link loads are kept";
    LinkPackets = link_packets: Option<Vec<Vec<Option<u64>>>>, ["packets"] "whose header crossed each link while measuring, by router and port, null where there is no link; where link loads are kept";
    PerNode = per_node: Option<Vec<NodeRow>>, [] "traffic and latency of each node while measuring, by number; where node statistics are kept";
    Flows = flows: Option<Vec<FlowRow>>, [] "traffic and latency of each pair of nodes with traffic while measuring; where flow statistics are kept";
    LatencyHistogram = latency_histogram: Option<Vec<LatencyBin>>, [] "packets received while measuring by their latency; where the histogram is kept";
    MessageCompletionMean = message_completion_mean_cycles: Option<f64>, ["cycles"] "mean time from the generation of a message to its arrival in full, of messages that arrived while measuring; where message statistics are kept";
    MessageCompletionP50 = message_completion_p50_cycles: Option<u64>, ["cycles"] "median of these times";
    MessageCompletionP90 = message_completion_p90_cycles: Option<u64>, ["cycles"] "90th percentile of these times";
    MessageCompletionP95 = message_completion_p95_cycles: Option<u64>, ["cycles"] "95th percentile of these times";
    MessageCompletionP99 = message_completion_p99_cycles: Option<u64>, ["cycles"] "99th percentile of these times";
    MessageCompletionP999 = message_completion_p999_cycles: Option<u64>, ["cycles"] "99.9th percentile of these times";
    MessageCompletionMax = message_completion_max_cycles: Option<u64>, ["cycles"] "greatest of these times";
    MessageSlowdownMean = message_slowdown_mean: Option<f64>, [] "mean of these times over that of the same message alone in an empty network; null if one of them is not known";
    MessageSlowdownP50 = message_slowdown_p50: Option<f64>, [] "median of the same";
    MessageSlowdownP95 = message_slowdown_p95: Option<f64>, [] "95th percentile of the same";
    MessageSlowdownP99 = message_slowdown_p99: Option<f64>, [] "99th percentile of the same";
    MessageSlowdownP999 = message_slowdown_p999: Option<f64>, [] "99.9th percentile of the same";
    MessageSlowdownMax = message_slowdown_max: Option<f64>, [] "greatest of the same";
    MessagesUnfinished = messages_unfinished: Option<u64>, ["messages"] "generated and still on their way at the end of the run, of which no time is known; where message statistics are kept";
    MessageClasses = message_classes: Option<Vec<MessageClass>>, [] "the same figures of messages by their size, in classes";
    MessageDeciles = message_deciles: Option<Vec<MessageClass>>, [] "the same figures of each tenth of the messages, in the order of their sizes";
    DeadLinks = dead_links: Option<Vec<String>>, [] "each dead link by its ends and ports; of networks that have some";
    Phases = phases: Option<Vec<PhaseRow>>, [] "the run between failures and repairs of links; of runs in which some happened";
    CompletionCycles = completion_cycles: Option<u64>, ["cycles"] "clock when the last task was done, which starts at 1, or at 0 where a cycle is 1 ps; null of traffic that does not end";
    CompletionSeconds = completion_seconds: Option<f64>, ["s"] "the same as time";
    PeriodsSkipped = periods_skipped: Option<u64>, ["periods"] "in which the run repeated itself exactly, and which were not simulated; of kernels with several iterations";
    CompletionBound = completion_bound_cycles: Option<u64>, ["cycles"] "greatest of the bounds below which the completion cannot be";
    CompletionBoundBy = completion_bound_by: Option<String>, [] "name of that bound";
    CompletionBounds = completion_bounds_cycles: Option<CompletionBounds>, ["cycles"] "each bound below which the completion cannot be";
    Tasks = tasks: Option<u64>, ["tasks"] "of the application; null of synthetic traffic";
    Messages = messages: Option<u64>, ["messages"] "sent in all; of live guests, that entered the network";
    MessagesPointToPoint = messages_point_to_point: Option<u64>, ["messages"] "sent by point-to-point operations";
    MessagesCollective = messages_collective: Option<u64>, ["messages"] "sent by collective operations";
    MessagesReceived = messages_received: Option<u64>, ["messages"] "received by tasks";
    MessageBytes = message_bytes: Option<u64>, ["bytes"] "of all messages sent";
    HopBytes = hop_bytes: Option<Number>, ["bytes x links"] "bytes of each message times the length of its shortest path, summed";
    HopsPerByte = hops_per_byte: Option<f64>, ["links"] "mean length of the shortest path of a byte";
    CollectiveCalls = collective_calls: Option<BTreeMap<String, u64>>, ["calls"] "collective operations by name, summed over tasks";
    PerTask = per_task: Option<Vec<TaskRow>>, [] "figures of each task, by number";
    Collectives = collectives: Option<Vec<CollectiveTimes>>, [] "times and bandwidths of each collective, in the order in which they begin; of kernels that are collectives, and of traces that name them";
    JobsFinished = jobs_finished: Option<u64>, ["jobs"] "of the mix, that came to their end";
    JobWaitMean = job_wait_mean_cycles: Option<f64>, ["cycles"] "mean time from the arrival of a job to its start";
    JobRunMean = job_run_mean_cycles: Option<f64>, ["cycles"] "mean time from the start of a job to its end";
    JobSlowdownMean = job_slowdown_mean: Option<f64>, [] "mean run time of a job over that of the same job alone on the same nodes";
    NodeUtilization = node_utilization: Option<f64>, [] "share of nodes and cycles in which there was a job";
    Jobs = jobs: Option<Vec<JobRow>>, [] "figures of each job of the mix";
    ModelFigures = model_figures: Option<Vec<ModelFigure>>, [] "figures that only this network model has, over the whole run";
    PauseFrames = pause_frames: Option<u64>, ["frames"] "that ports sent to stop and to go on, over the whole run; of networks whose ports have classes";
    Classes = classes: Option<Vec<ClassRow>>, [] "figures of each traffic class, over the whole run; of networks whose ports have classes";
    Buffers = buffers: Option<Vec<BufferRow>>, [] "what the buffer of each switch held, over the whole run; of networks whose ports share one";
    Ports = ports: Option<Vec<PortRow>>, [] "figures of each output port and of its link, over the whole run; of network models that keep them";
    EnergyJoules = energy_joules: Option<f64>, ["J"] "energy of links, routers and hosts, as a table estimates it, while measuring (ethernet: over the whole run); of runs with a table";
    EnergyJoulesLow = energy_joules_low: Option<f64>, ["J"] "least value of that energy in the ranges of the table";
    EnergyJoulesHigh = energy_joules_high: Option<f64>, ["J"] "greatest value of that energy in the ranges of the table";
    EnergyWatts = energy_watts: Option<f64>, ["W"] "the same energy for each second of simulated time";
    EnergyPerBit = energy_pj_per_bit: Option<f64>, ["pJ/bit"] "the same energy for each bit that nodes received";
    EnergyPerFlit = energy_pj_per_flit: Option<f64>, ["pJ/flit"] "the same energy for each flit that nodes received; null where there are no flits";
    Energy = energy: Option<EnergyRow>, [] "the estimate with its parts; of runs with a table";
    CpuSeconds = cpu_seconds: Option<f64>, ["s"] "processor time of all threads; depends on the machine";
    WallSeconds = wall_seconds: Option<f64>, ["s"] "wall-clock time; depends on the machine";
    CyclesPerSecond = cycles_per_second: Option<f64>, ["cycles/s"] "simulated, per second of processor time (several threads: wall-clock time); depends on the machine";
    PeakMemoryBytes = peak_memory_bytes: Option<u64>, ["bytes"] "most memory that the process held; depends on the machine";
    Digest = digest: Option<String>, [] "hash over every delivery (cycle, source, destination, sequence), 16 hexadecimal digits";
    Experiment = experiment: Map<String, Value>, [] "the resolved experiment: the value of each key that has a meaning in it";
    Manifest = manifest: Manifest, [] "what is needed to run it again, and to believe it";
    NetworkLatencyNs = network_latency_ns: Option<u64>, ["ns"] "LogGOPS L: latency of the ideal network";
    NetworkGapPerByteNs = network_gap_per_byte_ns: Option<Number>, ["ns/byte"] "LogGOPS G: time of a byte on the network";
    HostOverheadNs = host_overhead_ns: Option<u64>, ["ns"] "LogGOPS o: processor time of a message";
    HostGapNs = host_gap_ns: Option<u64>, ["ns"] "LogGOPS g: least time between two messages of a host";
    HostOverheadPerByteNs = host_overhead_per_byte_ns: Option<Number>, ["ns/byte"] "LogGOPS O: processor time of a byte";
    HostEagerBytes = host_eager_bytes: Option<u64>, ["bytes"] "LogGOPS S: largest message that is sent without waiting for its receiver";
    HostStreams = host_streams: Option<bool>, [] "true if the CPUs of a host are streams: a calculation holds back its dependents until it ends";
    Events = events: Option<u64>, ["events"] "worked through by the simulation";
    FinishMaxNs = finish_max_ns: Option<Number>, ["ns"] "when the last task was done";
    FinishMaxTask = finish_max_task: Option<u64>, [] "number of that task";
    FinishMinNs = finish_min_ns: Option<Number>, ["ns"] "when the first task was done";
    FinishSumNs = finish_sum_ns: Option<Number>, ["ns"] "sum of the times when tasks were done";
    OperationsNotStarted = operations_not_started: Option<u64>, ["operations"] "that waited for something to the end";
    ReceivesWithoutMessage = receives_without_message: Option<u64>, ["receives"] "that got no message";
    MessagesWithoutReceive = messages_without_receive: Option<u64>, ["messages"] "that no task received";
    EventsPerSecond = events_per_second: Option<f64>, ["events/s"] "worked through, per second of processor time; depends on the machine";
    GuestsLost = guests_lost: Option<u64>, ["guests"] "that ended without saying goodbye";
    MessagesDelivered = messages_delivered: Option<u64>, ["messages"] "handed over to guests";
    MessagesUndelivered = messages_undelivered: Option<u64>, ["messages"] "that arrived where no guest was, or none any more";
    MessagesLate = messages_late: Option<u64>, ["messages"] "handed over later than they arrived";
    LateMeanPs = late_mean_ps: Option<f64>, ["ps"] "mean lateness of the late messages";
    LateMaxPs = late_max_ps: Option<u64>, ["ps"] "greatest lateness of a message";
    BehindMaxPs = behind_max_ps: Option<u64>, ["ps"] "most that virtual time was behind the wall clock, over all grants; of runs in real time";
    BehindMeanPs = behind_mean_ps: Option<f64>, ["ps"] "mean of the same";
    MessagesMeasured = messages_measured: Option<u64>, ["messages"] "whose latency was measured";
    MessageLatencyMeanPs = message_latency_mean_ps: Option<f64>, ["ps"] "mean time from sending a message to its being handed over";
    MessageLatencyP50Ps = message_latency_p50_ps: Option<u64>, ["ps"] "median message latency";
    MessageLatencyP99Ps = message_latency_p99_ps: Option<u64>, ["ps"] "99th percentile of the message latency";
    MessageLatencyMaxPs = message_latency_max_ps: Option<u64>, ["ps"] "greatest message latency";
    PacketsMeasured = packets_measured: Option<u64>, ["packets"] "delivered while measuring";
    Turns = turns: Option<u64>, ["turns"] "of all guests";
    TurnsPerSecond = turns_per_second: Option<f64>, ["turns/s"] "per second of wall-clock time";
    MessagesPerSecond = messages_per_second: Option<f64>, ["messages/s"] "per second of wall-clock time";
    GuestDigest = guest_digest: Option<String>, [] "hash over all that guests injected and were delivered, 16 hexadecimal digits";
    RunningDigests = running_digests: Option<Vec<RunningDigest>>, [] "the same hash at regular moments";
    Guests = guests: Option<Vec<GuestRow>>, [] "figures of each guest, in the order of their nodes";
    MessagesExpected = messages_expected: Option<u64>, ["messages"] "that arrived after the program had posted their receive";
    MessagesUnexpected = messages_unexpected: Option<u64>, ["messages"] "that arrived before the program had posted their receive";
    BootSeconds = boot_seconds: Option<f64>, ["s"] "of wall-clock time, until every virtual machine had booted";
    Steps = steps: Option<u64>, ["steps"] "after that, of the virtual machine that took most";
    StepsPerSecond = steps_per_second: Option<f64>, ["steps/s"] "the same, for each second of wall-clock time";
    Machines = machines: Option<Vec<MachineRow>>, [] "what each virtual machine ran";
    Ranks = ranks: Option<Vec<RankRow>>, [] "figures of each rank of an MPI program";
}

use Figure as F;

/// Link loads: only results of runs with link statistics have these.
pub(super) const OF_LINKS: &[Figure] = &[F::LinkLoadMean, F::LinkLoadMax, F::LinkPackets];

/// Figures of runs that keep them of each node.
pub(super) const OF_NODES: &[Figure] = &[F::PerNode];

/// Figures of runs that keep them of each flow.
pub(super) const OF_FLOWS: &[Figure] = &[F::Flows];

/// Figures of runs that keep the histogram of latencies.
pub(super) const OF_HISTOGRAM: &[Figure] = &[F::LatencyHistogram];

/// Figures of runs with a table of energies.
#[rustfmt::skip]
pub(super) const OF_ENERGY: &[Figure] = &[
    F::EnergyJoules, F::EnergyJoulesLow, F::EnergyJoulesHigh, F::EnergyWatts, F::EnergyPerBit, F::EnergyPerFlit, F::Energy,
];

/// Figures of runs that keep the time of each message.
#[rustfmt::skip]
pub(super) const OF_MESSAGES: &[Figure] = &[
    F::MessageCompletionMean, F::MessageCompletionP50, F::MessageCompletionP90, F::MessageCompletionP95,
    F::MessageCompletionP99, F::MessageCompletionP999, F::MessageCompletionMax, F::MessageSlowdownMean,
    F::MessageSlowdownP50, F::MessageSlowdownP95, F::MessageSlowdownP99, F::MessageSlowdownP999,
    F::MessageSlowdownMax, F::MessagesUnfinished, F::MessageClasses, F::MessageDeciles,
];

/// Figures of applications whose collectives are known as such.
pub(super) const OF_COLLECTIVES: &[Figure] = &[F::Collectives];

/// Figures of networks whose ports have classes.
pub(super) const OF_CLASSES: &[Figure] = &[F::PauseFrames, F::Classes, F::Buffers];
/// Figures of networks with dead links.
pub(super) const OF_DEAD_LINKS: &[Figure] = &[F::DeadLinks];

/// Figures of runs in which links failed or were repaired.
pub(super) const OF_FAILURES: &[Figure] = &[F::Phases];

/// Figures of kernels that iterate.
pub(super) const OF_ROUNDS: &[Figure] = &[F::PeriodsSkipped];

/// Figures of job mixes only.
pub(super) const OF_JOBS: &[Figure] =
    &[F::JobsFinished, F::JobWaitMean, F::JobRunMean, F::JobSlowdownMean, F::NodeUtilization, F::Jobs];

/// The figures of a run over a network of routers, in the order in which they are written.
pub(super) fn of_network() -> impl Iterator<Item = Figure> {
    F::ALL.iter().copied().filter(|&figure| figure <= F::Manifest)
}

/// The figures of an execution over an ideal network, in the order in which they are written.
#[rustfmt::skip]
pub(super) const OF_HOSTS: &[Figure] = &[
    F::Schema, F::Complete, F::Failure, F::Warnings, F::Notes, F::NetworkLatencyNs, F::NetworkGapPerByteNs,
    F::HostOverheadNs, F::HostGapNs, F::HostOverheadPerByteNs, F::HostEagerBytes, F::HostStreams, F::Tasks, F::Messages,
    F::MessageBytes, F::Events, F::CompletionSeconds, F::FinishMaxNs, F::FinishMaxTask, F::FinishMinNs,
    F::FinishSumNs, F::OperationsNotStarted, F::ReceivesWithoutMessage, F::MessagesWithoutReceive, F::PerTask,
    F::CpuSeconds, F::EventsPerSecond, F::PeakMemoryBytes, F::Experiment, F::Manifest,
];

/// The figures of a run of live guests, in the order in which they are written.
#[rustfmt::skip]
pub(super) const OF_GUESTS: &[Figure] = &[
    F::Schema, F::Complete, F::Failure, F::Warnings, F::Cycles, F::Nodes, F::GuestsLost, F::Messages,
    F::MessagesDelivered, F::MessagesUndelivered, F::MessagesLate, F::LateMeanPs, F::LateMaxPs, F::BehindMaxPs,
    F::BehindMeanPs, F::MeasuredCycles, F::MessagesMeasured, F::MessageLatencyMeanPs, F::MessageLatencyP50Ps,
    F::MessageLatencyP99Ps, F::MessageLatencyMaxPs, F::PacketsMeasured, F::LatencyMean, F::LatencyMax, F::LatencyP50,
    F::LatencyP99, F::PacketsReceived, F::PacketsInFlight, F::CompletionCycles, F::CompletionSeconds, F::Turns,
    F::TurnsPerSecond, F::MessagesPerSecond, F::CpuSeconds, F::WallSeconds, F::PeakMemoryBytes, F::Digest,
    F::GuestDigest, F::RunningDigests, F::Guests, F::Experiment, F::Manifest,
];

/// The figures of a run of an MPI program: those of its ranks as guests, and more of each rank.
#[cfg(feature = "live")]
pub(super) fn of_ranks() -> impl Iterator<Item = Figure> {
    let more = |figure: Figure| {
        let more: &[Figure] = match figure {
            F::Warnings => &[F::Notes],
            F::LateMaxPs => &[F::MessagesExpected, F::MessagesUnexpected],
            F::LatencyP99 => OF_LINKS,
            F::CompletionSeconds => &[F::CompletionBound, F::CompletionBoundBy, F::CompletionBounds],
            F::Guests => &[F::Ranks],
            _ => &[],
        };
        std::iter::once(figure).chain(more.iter().copied())
    };
    OF_GUESTS.iter().copied().flat_map(more)
}

/// The figures of a run of virtual machines: those of guests, their steps, and more of each machine.
#[cfg(feature = "live")]
pub(super) fn of_machines() -> impl Iterator<Item = Figure> {
    let more = |figure: Figure| {
        let more: &[Figure] = match figure {
            F::TurnsPerSecond => &[F::BootSeconds, F::Steps, F::StepsPerSecond],
            F::Guests => &[F::Machines],
            _ => &[],
        };
        std::iter::once(figure).chain(more.iter().copied())
    };
    OF_GUESTS.iter().copied().flat_map(more)
}

impl Figure {
    /// The figure of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        static BY_NAME: LazyLock<HashMap<&str, Figure>> =
            LazyLock::new(|| Figure::ALL.iter().map(|&figure| (figure.name(), figure)).collect());
        BY_NAME.get(name).copied()
    }

    /// True if it depends on the machine, not on the experiment alone.
    #[must_use]
    pub const fn is_cost(self) -> bool {
        matches!(self, F::CpuSeconds | F::WallSeconds | F::CyclesPerSecond | F::EventsPerSecond | F::PeakMemoryBytes)
    }

    /// True if it has no column in CSV, whether it is present or null.
    #[must_use]
    pub const fn is_table(self) -> bool {
        matches!(
            self,
            F::Samples
                | F::CollectiveCalls
                | F::PerTask
                | F::Collectives
                | F::LinkPackets
                | F::Jobs
                | F::ModelFigures
                | F::Ports
                | F::Classes
                | F::Buffers
                | F::PerNode
                | F::Flows
                | F::LatencyHistogram
                | F::MessageClasses
                | F::Energy
        )
    }

    /// True of loads: their unit is that which the network model declares.
    #[must_use]
    pub fn is_load(self) -> bool {
        self.unit() == PHITS_PER_NODE_CYCLE
    }

    /// The figure that is half the 95 % confidence interval of this one within a run.
    #[must_use]
    pub const fn ci95(self) -> Option<Self> {
        match self {
            F::AcceptedLoad => Some(F::AcceptedLoadCi95),
            F::AcceptedLoadOfSenders => Some(F::AcceptedLoadOfSendersCi95),
            F::QueueGrowth => Some(F::QueueGrowthCi95),
            F::LatencyMean => Some(F::LatencyCi95),
            F::LatencyDrift => Some(F::LatencyDriftCi95),
            F::ShotCyclesMean => Some(F::ShotCyclesCi95),
            _ => None,
        }
    }

    /// True if it is an integer by definition, regardless of the number of runs.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.shape() == Shape::Integer || matches!(self, F::FinishMaxNs)
    }
}
