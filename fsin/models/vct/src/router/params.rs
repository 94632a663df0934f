//! The settings of a router, and which of them are consistent.
//!
//! Decision: docs/decisions/0006-full-packets.md.

use std::sync::Arc;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;

use super::{Arbitration, CheckedParams, Injection, Interface, given};
use crate::routing::switched::{RoutingFunction, unsuited};
use crate::routing::{Order, Routing, listed};
use fsin_core::failures::Timetable;
use fsin_core::route::RouteTable;
use fsin_core::topology::Topology;
use fsin_core::words::counted;

/// How packets are ejected at their destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Consumption {
    /// Every queue with an arrived packet drains one phit per cycle.
    Multiple,
    /// So many ports, each arbitrated like an output and held from header to tail.
    Ports(u32),
}

impl Consumption {
    /// One port.
    pub const SINGLE: Self = Self::Ports(1);
}

/// How packets move from the source buffers to the injection queues.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Inject {
    /// Every packet that fits, in zero time.
    Parallel,
    /// One phit per node and cycle; one injector up to a tail, then round robin. A packet begins to move as soon as one
    /// phit fits into the injection queue, and keeps its place in the source buffer until its tail has moved.
    Serial,
}

/// The queue in front of the source buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SourceQueue {
    /// Room for as many messages as the interface can have in progress, a serial one for one; further messages are
    /// refused. Delay counts from entering the buffer.
    Throttled,
    /// An unbounded queue. Delay counts from generation.
    Open,
}

/// Congestion control of the whole network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GlobalCc {
    /// Threshold as a percentage, 0 to 100, of the capacity of all transit queues: no packet enters while the network
    /// holds more.
    pub percent: f64,
    /// \[cycles\] Time from one count of packets to the next; 0 and 1 mean every cycle.
    pub period: u64,
}

/// Waiting times of headers that mark a node congested, and clear the mark.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Timeouts {
    /// \[cycles\] A watched header that waits longer marks its node congested.
    pub upper: u64,
    /// \[cycles\] A watched header that leaves after less clears the mark; at most `upper`.
    pub lower: u64,
}

/// All settings of a router; [`check`](Self::check) tests their consistency.
#[derive(Clone, PartialEq, Debug)]
pub struct RouterParams {
    /// How deadlock is avoided and outputs are requested.
    pub routing: Routing,
    /// The routes of [`Routing::DirectRoutes`] and [`Routing::GraphRoutes`].
    pub routes: Option<Arc<RouteTable>>,
    /// Order of deterministic and escape routes.
    pub order: Order,
    /// \[channels\] Virtual channels of each link.
    pub vcs: usize,
    /// \[phits\] Length of every packet.
    pub packet_phits: u32,
    /// \[bytes\] Payload of a phit.
    pub phit_bytes: u32,
    /// \[packets\] Room of each transit queue and of each injection queue.
    pub queue_packets: u32,
    /// \[packets\] Room of each source buffer.
    pub injection_queue_packets: u32,
    /// How the interface of a node shares its links among its messages.
    pub interface: Interface,
    /// \[injectors\] Injection queues of each node, each with its own source buffer; as many as there
    /// are ports with an interface per port.
    pub injectors: usize,
    /// The assignment of packets to injectors.
    pub injection: Injection,
    /// How packets move from the source buffers to the injection queues.
    pub inject: Inject,
    /// Arbitration for outputs, and for ejection ports.
    pub arbitration: Arbitration,
    /// How packets are ejected.
    pub consumption: Consumption,
    /// \[packets\] Room that must be free in the node's own queue of a ring before a packet enters the ring; 0 = no
    /// bubble.
    pub bubble: u32,
    /// \[packets\] Local bubble restriction: like `bubble`, for packets that leave an injection queue, on every
    /// channel.
    pub lbr: u32,
    /// Probability that transit queues take precedence over injection queues.
    pub in_transit_priority: f64,
    /// Congestion control of the whole network; `None` if there is none.
    pub global_cc: Option<GlobalCc>,
    /// `lbr` and `in_transit_priority` apply at congested nodes only; `None`: always.
    pub timeouts: Option<Timeouts>,
    /// \[cycles\] Link delays beyond one cycle: one for all, or one for each of
    /// [`link_classes`](Topology::link_classes); an empty list means 0.
    pub link_delays: Vec<u32>,
    /// \[cycles\] Delay of the router at which a hop ends, before a header can request an output there.
    pub router_delay: u32,
    /// Number of a switch's links over which `graph:shortest` spreads packets to one destination; 0 for all.
    pub alternatives: u32,
    /// Links that die and are repaired during the run. The topology has them all.
    pub timetable: Timetable,
    /// The queue in front of the source buffer.
    pub source_queue: SourceQueue,
    /// Seed of the run: every draw of the router is a function of the seed, the packet, the node and the purpose.
    pub seed: u64,
    /// \[cycles\] The network is in deadlock if no phit moves for so long while packets are in flight.
    pub watchdog_cycles: u64,
}

/// \[phits\] Maximum length of a packet. This limit and the next ones are far beyond use, and so small that no product
/// overflows.
const MAX_PHITS: u32 = 1 << 16;
/// \[bytes\] Maximum size of a phit: simulations of whole packets as one phit use large ones.
const MAX_PHIT_BYTES: u32 = 1 << 24;
/// \[packets\] Maximum room of a queue or buffer.
pub(crate) const MAX_PACKETS: u32 = 1 << 12;
/// \[channels\] Maximum number of virtual channels of a link.
const MAX_VCS: usize = 32;
/// \[injectors\] Maximum number of injectors of a node.
const MAX_INJECTORS: usize = 64;
/// \[queues\] Maximum number of queues of a router.
pub const MAX_QUEUES: usize = 1023;

impl Default for RouterParams {
    /// The original's settings: 3 channels, smart bubble routing, packets of 16 phits of 4 bytes, queues of 4 packets.
    fn default() -> Self {
        Self {
            routing: Routing::BubbleSmart,
            routes: None,
            order: Order::Dimension,
            vcs: 3,
            packet_phits: 16,
            phit_bytes: 4,
            queue_packets: 4,
            injection_queue_packets: 8,
            interface: Interface::Serial,
            injectors: 1,
            injection: Injection::Shortest,
            inject: Inject::Parallel,
            arbitration: Arbitration::RoundRobin,
            consumption: Consumption::Multiple,
            bubble: 2,
            lbr: 0,
            in_transit_priority: 0.0,
            global_cc: None,
            timeouts: None,
            link_delays: Vec::new(),
            router_delay: 0,
            alternatives: 0,
            timetable: Timetable::default(),
            source_queue: SourceQueue::Open,
            seed: 1,
            watchdog_cycles: 10_000,
        }
    }
}

impl RouterParams {
    /// Checks every setting by itself, with the others, and for this topology.
    ///
    /// # Errors
    /// The first invalid setting, with its valid values.
    pub fn check(&self, topology: &dyn Topology) -> Result<CheckedParams, SpecError> {
        let shape = topology.shape();
        let range = |key: &'static str, value: u64, low: u64, high: u64| match (low..=high).contains(&value) {
            true => Ok(()),
            false => Err(SpecError::out_of_range(key, value, low..=high)),
        };
        range("vcs", self.vcs as u64, 1, MAX_VCS as u64)?;
        range("packet", self.packet_phits.into(), 1, MAX_PHITS.into())?;
        range("phit-bytes", self.phit_bytes.into(), 1, MAX_PHIT_BYTES.into())?;
        range("queue", self.queue_packets.into(), 1, MAX_PACKETS.into())?;
        range("injection-queue", self.injection_queue_packets.into(), 1, MAX_PACKETS.into())?;
        range("injectors", self.injectors as u64, 1, MAX_INJECTORS as u64)?;
        if let Consumption::Ports(ports) = self.consumption {
            range("consumption", ports.into(), 1, MAX_QUEUES as u64)?;
        }
        range("watchdog", self.watchdog_cycles, 1, i64::MAX as u64)?;
        if !(0.0..=1.0).contains(&self.in_transit_priority) {
            let what = phrase![["in-transit-priority" => self.in_transit_priority], " is not a probability"];
            return Err(SpecError::new(ErrorKind::OutOfRange, what, "use 0 to 1"));
        }
        super::hop_delays::check(self, topology)?;
        self.check_congestion()?;
        let first = self.timetable.at_first().map_or(topology, |first| &**first);
        let functions = std::iter::once(first).chain(self.timetable.later().map(|(_, topology)| &**topology));
        let functions = functions.map(|topology| self.check_routing(topology)).collect::<Result<_, _>>()?;
        let of_ports = (self.injectors, self.injection) == (shape.ports(), Injection::Dor);
        if self.interface == Interface::PerPort && !of_ports {
            let (injectors, injection) = (self.injectors, self.injection.name());
            let what = phrase![
                ["interface" => self.interface],
                " has an injector for each port: not ",
                ["injectors" => injectors],
                " with ",
                ["injection" => injection]
            ];
            let remedy = phrase![
                "use ",
                ["injectors" => shape.ports()],
                " and ",
                ["injection" => "dor"],
                ", or leave both out"
            ];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("interface"));
        }
        if self.injection != Injection::Shortest && self.injectors < shape.ports() {
            let (name, ports) = (self.injection.name(), shape.ports());
            return Err(SpecError::new(
                ErrorKind::Conflict,
                phrase![
                    ["injection" => name],
                    " needs an injector for each port, ",
                    ["injectors"],
                    (" is {}", self.injectors)
                ],
                phrase!["use ", ["injectors" => ports], ", or ", ["injection" => "shortest"]],
            ));
        }
        let queues = counted(self.queue_packets, "packet", "packets");
        let bubble = if self.routing.uses_bubble() { self.bubble } else { 0 };
        for (flag, packets) in [("bubble", bubble), ("lbr", self.lbr)] {
            if packets > self.queue_packets {
                return Err(SpecError::new(
                    ErrorKind::Conflict,
                    phrase![[flag => packets], " can never be met by queues of {queues}"],
                    phrase!["use ", [flag => self.queue_packets], " or less, or ", ["queue" => packets], " or more"],
                ));
            }
        }
        if shape.ports() * self.vcs + self.injectors > MAX_QUEUES {
            let what = format!(
                "{} ports of {} virtual channels and {} injectors are more than {MAX_QUEUES} queues per router",
                shape.ports(),
                self.vcs,
                self.injectors
            );
            return Err(SpecError::new(
                ErrorKind::TooLarge,
                what,
                "use fewer dimensions, links of a switch, channels or injectors",
            ));
        }
        Ok(CheckedParams::new(self.clone(), functions, topology))
    }

    /// Checks the settings of congestion control.
    fn check_congestion(&self) -> Result<(), SpecError> {
        if let Some(GlobalCc { percent, period }) = self.global_cc {
            if !(0.0..=100.0).contains(&percent) {
                return Err(SpecError::new(
                    ErrorKind::OutOfRange,
                    phrase![["global-cc" => percent], " is not a percentage"],
                    "use 0 to 100",
                ));
            }
            if period >= self.watchdog_cycles {
                let what =
                    phrase![["global-cc-period" => period], (": the watchdog, {}, is shorter", self.watchdog_cycles)];
                return Err(SpecError::new(
                    ErrorKind::Conflict,
                    what,
                    phrase!["use a shorter period, or a longer ", ["watchdog"]],
                ));
            }
        }
        if let Some(Timeouts { upper, lower }) = self.timeouts {
            if upper > u64::from(u32::MAX) {
                return Err(SpecError::out_of_range("timeout-upper", upper, 0..=u64::from(u32::MAX)));
            }
            if lower > upper {
                let what = phrase![["timeout-lower" => lower], " is above ", ["timeout-upper" => upper]];
                return Err(SpecError::new(
                    ErrorKind::OutOfRange,
                    what,
                    phrase!["use ", ["timeout-upper"], " or less"],
                ));
            }
            if self.lbr == 0 && self.in_transit_priority == 0.0 {
                let what = phrase![
                    ["timeout-upper"],
                    " has no meaning without ",
                    ["lbr"],
                    " and ",
                    ["in-transit-priority"],
                    ", which it turns on"
                ];
                return Err(SpecError::new(ErrorKind::Meaningless, what, "leave it out, or set one of them"));
            }
        }
        Ok(())
    }

    /// Checks the routing and the settings that depend on it. Returns the routing function if the routing needs one.
    fn check_routing(&self, topology: &dyn Topology) -> Result<Option<RoutingFunction>, SpecError> {
        let (routing, name) = (self.routing, self.routing.name());
        let function = self.fits(topology).map_err(|refusal| {
            let candidates = Routing::serving(&topology.spec()).into_iter();
            let others: Vec<Routing> =
                candidates.filter(|&routing| Self { routing, ..self.clone() }.fits(topology).is_ok()).collect();
            let own = refusal.remedy();
            let remedy = match &*others {
                [] => own.clone(),
                others if own.is_empty() => phrase!["use ", ["routing" => listed(others)]],
                others => phrase![own, ", or ", ["routing" => listed(others)]],
            };
            refusal.remedied(remedy)
        })?;
        if let (Some(function), Some(network)) = (&function, topology.switched()) {
            function.prove(self, network)?;
        }
        let (dimensions, ordered) =
            (topology.shape().dimensions, self.order.dimensions(topology.shape().dimensions).len());
        if topology.switched().is_none() && ordered != dimensions {
            let what = phrase![["order"], (": it names {ordered} of {dimensions} dimensions of {}", topology.spec())];
            return Err(SpecError::new(ErrorKind::Meaningless, what, phrase!["use ", ["order" => "dim"]]));
        }
        if routing.orders_by_channel() && self.order != Order::Dimension {
            let what = phrase![
                ["order" => "dir"],
                " has no meaning with ",
                ["routing" => name],
                ", whose channels have orders of their own"
            ];
            return Err(SpecError::new(ErrorKind::Meaningless, what, phrase!["use ", ["order" => "dim"]]));
        }
        if topology.switched().is_some() {
            self.check_switches(topology)?;
        }
        if self.alternatives > 0 && !routing.takes_alternatives() {
            let takers: Vec<Routing> = Routing::all().filter(|routing| routing.takes_alternatives()).collect();
            let what = phrase![["alternatives"], " has no meaning with ", ["routing" => name]];
            return Err(SpecError::new(
                ErrorKind::Meaningless,
                what,
                phrase!["leave it out, or use ", ["routing" => listed(&takers)]],
            ));
        }
        Ok(function)
    }

    /// The routing function, if the routing works in this topology with this number of channels and needs one. `remedy`
    /// of an error names settings other than the routing that can be changed, or is empty.
    fn fits(&self, topology: &dyn Topology) -> Result<Option<RoutingFunction>, SpecError> {
        let (routing, name, vcs) = (self.routing, self.routing.name(), self.vcs);
        let dimensions = topology.shape().dimensions;
        if !routing.serves(&topology.spec()) {
            return Err(unsuited(routing, &topology.spec()));
        }
        if let Some(needed) = routing.row().dimensions.filter(|&needed| needed != dimensions) {
            let what = phrase![
                ["routing" => name],
                (" needs {needed} dimensions, "),
                ["topology" => topology.spec()],
                " has {dimensions}"
            ];
            return Err(SpecError::new(ErrorKind::Conflict, what, ""));
        }
        if !routing.takes_vcs(dimensions, vcs) {
            let least = routing.min_vcs(dimensions);
            let (count, remedy) =
                match (routing.takes_vcs(dimensions, least + 1), routing.takes_vcs(dimensions, 2 * least)) {
                    (true, _) => (least.to_string(), phrase!["use ", ["vcs" => least], " or more"]),
                    (false, true) => (
                        format!("a multiple of {least}"),
                        phrase!["use ", ["vcs" => least], " or ", ["vcs" => 2 * least]],
                    ),
                    (false, false) => (format!("exactly {least}"), phrase!["use ", ["vcs" => least]]),
                };
            let what = phrase![["routing" => name], " needs {count} virtual channels, ", ["vcs"], " is {vcs}"];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("vcs"));
        }
        let function = topology.switched().map(|network| RoutingFunction::new(self, network)).transpose()?;
        if topology.faults() > 0 && !routing.row().dead_links {
            return Err(SpecError::new(
                ErrorKind::Conflict,
                phrase![["routing" => name], " cannot avoid dead links"],
                "",
            ));
        }
        if let Some(row) = routing.follows() {
            given::check(self, row, topology)?;
        }
        Ok(function)
    }

    /// Rejects settings of direct networks that mean nothing where only endpoints inject.
    fn check_switches(&self, topology: &dyn Topology) -> Result<(), SpecError> {
        let useless = |flag: &'static str, remedy: Phrase| {
            let what = phrase![
                [flag],
                " has no meaning with ",
                ["topology" => topology.spec()],
                ", whose switches do not inject"
            ];
            Err(SpecError::new(ErrorKind::Meaningless, what, remedy))
        };
        if self.interface == Interface::PerPort {
            let what = phrase![
                ["interface" => self.interface],
                " has no meaning with ",
                ["topology" => topology.spec()],
                ", whose endpoints have one link"
            ];
            return Err(SpecError::new(
                ErrorKind::Meaningless,
                what,
                phrase!["use ", ["interface" => "interleaved:8"]],
            )
            .of("interface"));
        }
        if self.injection != Injection::Shortest {
            return useless("injection", phrase!["use ", ["injection" => "shortest"]]);
        }
        if self.lbr > 0 {
            return useless("lbr", "leave it out".into());
        }
        if self.in_transit_priority > 0.0 {
            return useless("in-transit-priority", "leave it out".into());
        }
        if self.order != Order::Dimension {
            return useless("order", "leave it out".into());
        }
        Ok(())
    }

    /// Settings that are valid but probably not intended.
    #[must_use]
    pub fn warnings(&self) -> Vec<Phrase> {
        if self.lbr > 0 && !self.routing.uses_bubble() {
            let name = self.routing.name();
            return vec![format!("lbr {}: the local bubble restriction has no effect with {name}", self.lbr).into()];
        }
        match self.bubble {
            _ if !self.routing.uses_bubble() => Vec::new(),
            0 => vec!["bubble 0: nothing keeps a ring from filling up, so a torus will deadlock under load".into()],
            1 => vec![
                "bubble 1: the one free packet may be taken by the upstream neighbour in the same cycle, so a torus may \
                 deadlock; 2 is safe"
                    .into(),
            ],
            _ => Vec::new(),
        }
    }

    /// \[phits\] Capacity of each transit queue and of each injection queue.
    #[must_use]
    pub const fn queue_phits(&self) -> u32 {
        self.queue_packets * self.packet_phits
    }

    /// Number of packets of a message with this many bytes: every packet has full length, and an empty message takes
    /// one.
    #[must_use]
    pub const fn packets_of(&self, bytes: u64) -> u64 {
        let packet_bytes = self.packet_phits as u64 * self.phit_bytes as u64;
        let packets = bytes.div_ceil(packet_bytes);
        if packets == 0 { 1 } else { packets }
    }
}

#[cfg(test)]
mod tests {
    use fsin_core::topology::{TOPOLOGIES, parse};

    use super::*;

    #[test]
    fn every_family_has_a_default_that_the_usual_channels_suffice_for() {
        let more = ["torus:5", "mesh:4x4x4", "twisted:8x4x2:yx=3", "fattree:2,5", "hyperx:3x3x3:2", "icube:4x4x4:2"];
        let examples = TOPOLOGIES.rows().iter().map(|row| row.example).filter(|example| !example.starts_with("graph:"));
        for spec in examples.chain(more).chain(["rrg:s=200,d=3,p=1"]) {
            let topology = parse(spec, 2).unwrap();
            let params = RouterParams { routing: Routing::serving(spec)[0], ..RouterParams::default() };
            assert_eq!(params.check(&*topology).err(), None, "{spec}");
        }
    }

    #[test]
    fn messages_are_cut_into_full_packets() {
        let params = RouterParams::default();
        assert_eq!([0, 1, 64, 65, 1024].map(|bytes| params.packets_of(bytes)), [1, 1, 1, 2, 16]);
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let torus = fsin_core::topology::parse("torus:4x4", 2).unwrap();
        let base = RouterParams::default;
        assert_eq!(base().check(&*torus).err(), None);
        for (params, what) in [
            (RouterParams { vcs: 1, ..RouterParams::default() }, "routing bubble:smart needs 2"),
            (RouterParams { bubble: 5, ..RouterParams::default() }, "bubble 5"),
            (RouterParams { packet_phits: 0, ..RouterParams::default() }, "packet 0"),
            (RouterParams { in_transit_priority: f64::NAN, ..RouterParams::default() }, "in-transit-priority"),
            (RouterParams { injection: Injection::Dor, injectors: 3, ..base() }, "injection dor needs an injector"),
            (RouterParams { routing: Routing::DoubleAdaptive, ..base() }, "needs a multiple of 2 virtual channels"),
            (RouterParams { routing: Routing::DallyTrc, ..base() }, "needs exactly 2 virtual channels"),
            (RouterParams { routing: Routing::HexaAdaptive, vcs: 6, ..base() }, "needs 3 dimensions"),
            (RouterParams { link_delays: vec![1, 2, 3], ..base() }, "2 kinds of links: dimension 0, dimension 1"),
            (RouterParams { link_delays: vec![70_000], ..base() }, "link-delay 70000"),
            (RouterParams { router_delay: 70_000, ..base() }, "router-delay 70000"),
            (RouterParams { global_cc: Some(GlobalCc { percent: 101.0, period: 0 }), ..base() }, "global-cc 101"),
            (
                RouterParams { global_cc: Some(GlobalCc { percent: 10.0, period: 10_000 }), ..base() },
                "global-cc-period 10000",
            ),
            (RouterParams { timeouts: Some(Timeouts { upper: 5, lower: 6 }), lbr: 3, ..base() }, "timeout-lower 6"),
            (RouterParams { timeouts: Some(Timeouts { upper: 5, lower: 3 }), ..base() }, "timeout-upper has no"),
            (
                RouterParams { routing: Routing::DoubleOblivious, vcs: 2, order: Order::Direction, ..base() },
                "order dir has no meaning",
            ),
        ] {
            let refusal = params.check(&*torus).unwrap_err();
            assert!(refusal.to_string().contains(what), "{refusal}");
        }
    }
}
