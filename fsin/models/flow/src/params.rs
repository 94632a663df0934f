//! Settings of the flow model.

use std::ops::RangeInclusive;
use std::sync::Arc;

use fsin_core::connections::Connections;
use fsin_core::failures::Failures;
use fsin_core::messages::Payload;
use fsin_core::route::{Name, RouteTable};
use trgen::catalog::SpecError;
use trgen::phrase;

/// \[b/s\] Rates of links.
pub(crate) const RATES: RangeInclusive<u64> = 1_000..=100_000_000_000_000;
/// \[ps\] Greatest delay of a link.
pub(crate) const MAX_TIME: u64 = 1_000_000_000_000_000;
/// \[bytes\] Greatest length of a packet.
pub(crate) const MAX_PACKET: u32 = 1 << 30;

/// How flows share a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fairness {
    /// The least rate is as great as it can be, then the next one, and so on.
    MaxMin,
    /// Max-min of rates times their round trips.
    RoundTrip,
    /// Every link is divided evenly, and a flow has the least of its parts.
    Split,
}

/// The paths of a flow among those that its routing permits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paths {
    /// One, by a hash of source, destination and number.
    Hash,
    /// At each router the link with the least (flows + 1) / capacity when the flow enters.
    Adaptive,
    /// All: at each router in equal parts.
    Spray,
}

/// All settings.
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    /// \[b/s\] Rate of links of which the topology says nothing.
    pub link_rate: u64,
    /// \[ps\] Delay of links of which the topology says nothing.
    pub propagation: u64,
    /// \[ps\] Delays by class of links, in place of `propagation`: one for all, or one per class; empty if not set.
    pub link_delays: Vec<u64>,
    /// \[ps\] Delay of each router on the path.
    pub router_delay: u64,
    /// \[b/s\] Rate of a node's own link in a direct network.
    pub node_rate: u64,
    /// The routing.
    pub routing: Name,
    /// True to take routes that the file of the network states link by link, if there are any.
    pub takes_stated: bool,
    /// The routes of [`Name::ROUTES`].
    pub routes: Option<Arc<RouteTable>>,
    /// The paths that are taken.
    pub paths: Paths,
    /// Which messages of a node are in the network at a time.
    pub connections: Connections,
    /// How flows share links.
    pub fairness: Fairness,
    /// \[bytes\] With [`Fairness::RoundTrip`]: what is added to the round trip for each link, at its rate.
    pub weight_bytes: u64,
    /// \[bytes\] With [`Fairness::RoundTrip`]: greatest window of a flow; 0 for none.
    pub tcp_gamma: u64,
    /// Millionths: factor of the latency of a path at the entry.
    pub latency_millionths: u64,
    /// Millionths: factor of a rate after sharing.
    pub bandwidth_millionths: u64,
    /// Millionths: what a flow uses of the other direction of its links, as a share of its rate.
    pub cross_millionths: u64,
    /// \[ps\] Ends of flows are multiples of this.
    pub tick: u64,
    /// \[bytes\] Payload of a packet, in which messages are counted.
    pub packet_bytes: u32,
    /// \[bytes\] Header of each packet.
    pub header_bytes: u32,
    /// Seed of the hash of paths.
    pub seed: u64,
    /// Failures and repairs of links; times count in ps.
    pub failures: Failures,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            link_rate: 10_000_000_000,
            propagation: 0,
            link_delays: Vec::new(),
            router_delay: 0,
            node_rate: 10_000_000_000,
            routing: Name::SHORTEST,
            takes_stated: true,
            routes: None,
            paths: Paths::Hash,
            connections: Connections::PerDestination,
            fairness: Fairness::MaxMin,
            weight_bytes: 0,
            tcp_gamma: 0,
            latency_millionths: MILLION,
            bandwidth_millionths: MILLION,
            cross_millionths: 0,
            tick: 1,
            packet_bytes: 4096,
            header_bytes: 0,
            seed: 1,
            failures: Failures::default(),
        }
    }
}

/// A whole, in millionths.
pub(crate) const MILLION: u64 = 1_000_000;

impl Params {
    /// Refuses values out of range.
    ///
    /// # Errors
    /// The first value that cannot be used.
    pub fn check(&self) -> Result<(), SpecError> {
        let ranges = [
            ("link-rate", self.link_rate, RATES),
            ("node-rate", self.node_rate, RATES),
            ("propagation", self.propagation, 0..=MAX_TIME),
            ("hop-delay", self.router_delay, 0..=MAX_TIME),
            ("tick", self.tick, 1..=MAX_TIME),
            ("weight-s", self.weight_bytes, 0..=1 << 40),
            ("tcp-gamma", self.tcp_gamma, 0..=1 << 40),
            ("packet-bytes", self.packet_bytes.into(), 1..=MAX_PACKET.into()),
            ("header-bytes", self.header_bytes.into(), 0..=MAX_PACKET.into()),
        ];
        for (key, value, range) in ranges {
            if !range.contains(&value) {
                return Err(SpecError::out_of_range(key, value, range));
            }
        }
        let factors = [
            ("latency-factor", self.latency_millionths, 0..=1000 * MILLION),
            ("bandwidth-factor", self.bandwidth_millionths, 1..=MILLION),
            ("cross-traffic", self.cross_millionths, 0..=MILLION),
        ];
        for (key, value, range) in factors {
            if !range.contains(&value) {
                let shown = |millionths: u64| millionths as f64 / MILLION as f64;
                let what = phrase![[key => shown(value)], " is out of range"];
                let remedy = format!("use {} to {}", shown(*range.start()), shown(*range.end()));
                return Err(SpecError::new(trgen::catalog::ErrorKind::OutOfRange, what, remedy).of(key));
            }
        }
        Ok(())
    }

    /// What messages are counted in.
    pub(crate) const fn payload(&self) -> Payload {
        Payload(self.packet_bytes)
    }

    /// \[bytes\] What passes over the links for a message.
    pub(crate) const fn carried(&self, bytes: u64) -> u64 {
        if bytes == 0 {
            return 0;
        }
        bytes.saturating_add(self.payload().packets_of(bytes).saturating_mul(self.header_bytes as u64))
    }
}
