//! What this model measures beyond what every model does.

use fsin_core::network::Measure;
use fsin_core::stats::Distribution;
use trgen::NodeId;

/// The measures that [`Details::measures`] gives.
static MEASURES: [Measure; 14] = [
    Measure::new("characters_moved", "characters", "of packets and their GAPs, on all links together"),
    Measure::new("stops", "", "STOPs that inputs of switches have sent"),
    Measure::new("gos", "", "GOs that inputs of switches have sent"),
    Measure::new("beats", "", "BEATs on all channels"),
    Measure::new("slack_max", "characters", "the most in a slack buffer"),
    Measure::new("slack_mean", "characters", "over time, of the slack buffer where it was largest"),
    Measure::new("packet_timeouts", "packets", "removed because they were too old"),
    Measure::new("packets_lost_on_dead_links", "packets", "sent into a dead link before it was seen dead"),
    Measure::new("messages_lost", "messages", "of which a packet was lost"),
    Measure::new("goodput", "b/s", "bits of messages received"),
    Measure::new(
        "highest_utilisation",
        "",
        "share of the time in which characters of packets began, of the link where it was largest",
    ),
    Measure::new(
        "stopped_share",
        "",
        "share of the time in which the sender of a channel was stopped, where it was largest",
    ),
    Measure::new("message_latency_mean", "ns", "from a message's being offered to the leading edge of its last CRC"),
    Measure::new("message_latency_max", "ns", "the longest of them"),
];

/// Counts since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Totals {
    /// Number of BEATs on all channels.
    pub beats: u64,
    /// \[packets\] Packets removed because they were too old.
    pub timeouts: u64,
    /// \[packets\] Packets lost on dead links.
    pub lost_on_dead_links: u64,
    /// \[messages\] Messages of which a packet was lost.
    pub messages_lost: u64,
    /// \[bytes\] Data of the messages received.
    pub payload_received: u64,
}

/// A port: the channel that leaves through it, and the slack buffer of its input.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PortDetails {
    /// The node of the port. In a direct network, the host and the switch of a node have the same number.
    pub node: NodeId,
    /// True for a port of a host, false for a port of a switch.
    pub is_host: bool,
    /// Number of the port at its host or switch. At a switch of a direct network, the port to the host follows all
    /// others.
    pub port: usize,
    /// \[ticks of 1/16 ps\] Time of a character on the channel.
    pub character: u64,
    /// \[characters\] Characters of packets and GAPs that have begun on the channel.
    pub moved: u64,
    /// Number of STOPs sent through the channel for the input of this port.
    pub stops: u64,
    /// Number of GOs sent through the channel for the input of this port.
    pub gos: u64,
    /// \[ticks of 1/16 ps\] Time for which the channel was stopped.
    pub stopped: u64,
    /// \[characters\] The most that the slack buffer has held.
    pub slack_max: u32,
    /// \[characters x ticks of 1/16 ps\] Characters in the slack buffer, summed over time.
    pub slack_area: u128,
}

/// What this model measures beyond what every model does, since the start of the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Details {
    /// \[ticks of 1/16 ps\] Time since the start of the run.
    pub elapsed: u64,
    /// \[ticks of 1/16 ps\] Time of a character on a link of the usual rate.
    pub character: u64,
    /// Counts of the whole network.
    pub totals: Totals,
    /// All ports, hosts first.
    pub ports: Vec<PortDetails>,
}

impl Details {
    /// \[characters\] Characters of packets and GAPs on all links together.
    #[must_use]
    pub fn moved(&self) -> u64 {
        self.ports.iter().map(|port| port.moved).sum()
    }

    /// \[characters\] The most that any slack buffer has held.
    #[must_use]
    pub fn slack_max(&self) -> u32 {
        self.ports.iter().map(|port| port.slack_max).max().unwrap_or(0)
    }

    /// Numbers of STOPs and of GOs that all inputs have sent.
    #[must_use]
    pub fn stops_and_gos(&self) -> (u64, u64) {
        self.ports.iter().fold((0, 0), |(stops, gos), port| (stops + port.stops, gos + port.gos))
    }

    /// \[b/s\] Bits of messages received.
    #[must_use]
    pub fn goodput(&self) -> f64 {
        self.share(8e12 * crate::params::TICKS as f64 * self.totals.payload_received as f64)
    }

    /// A time in ticks as a share of the time since the start.
    fn share(&self, time: f64) -> f64 {
        if self.elapsed == 0 { 0.0 } else { time / self.elapsed as f64 }
    }

    /// The counts as figures of a result. `messages` are the latencies of messages.
    pub(crate) fn measures(&self, messages: &Distribution) -> Vec<(&'static Measure, f64)> {
        let largest = |value: &dyn Fn(&PortDetails) -> f64| self.ports.iter().map(value).fold(0.0, f64::max);
        let (stops, gos) = self.stops_and_gos();
        let Totals { beats, timeouts, lost_on_dead_links, messages_lost, .. } = self.totals;
        let latency = messages.moments();
        let values = [
            self.moved() as f64,
            stops as f64,
            gos as f64,
            beats as f64,
            f64::from(self.slack_max()),
            self.share(largest(&|port| port.slack_area as f64)),
            timeouts as f64,
            lost_on_dead_links as f64,
            messages_lost as f64,
            self.goodput(),
            self.share(largest(&|port| port.moved as f64 * port.character as f64)).min(1.0),
            self.share(largest(&|port| port.stopped as f64)),
            latency.mean().unwrap_or(0.0) / 1e3,
            latency.max().unwrap_or(0) as f64 / 1e3,
        ];
        MEASURES.iter().zip(values).collect()
    }
}
