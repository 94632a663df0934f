//! What can be set of a router, and which settings make sense together.

use trgen::catalog::Refusal;

use super::guide::Guide;
use super::{Arbitration, Injection};
use fsin_core::routing::{Order, Routing, listed};
use fsin_core::topology::Topology;
use fsin_core::words::counted;

/// How arrived packets leave the network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Consumption {
    /// Every queue with an arrived packet drains one phit per cycle.
    Multiple,
    /// One port, arbitrated like an output and held from header to tail.
    Single,
}

/// How packets go from the source buffers to the injection queues.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Inject {
    /// Whatever fits, in zero time.
    Parallel,
    /// One phit per node and cycle; one injector to its tail, then round robin.
    Serial,
}

/// What stands before the source buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SourceQueue {
    /// Room for one message; another one is refused. Delay counts from entering the buffer.
    Throttled,
    /// An unbounded queue. Delay counts from generation.
    Open,
}

/// Control of congestion of the whole network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GlobalCc {
    /// \[percent\] Of the room of all transit queues, 0 to 100: with more packets in the network none enters.
    pub percent: f64,
    /// \[cycles\] From one count of packets to the next; 0 and 1: every cycle.
    pub period: u64,
}

/// How long a header waits until its node is congested.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Timeouts {
    /// \[cycles\] A watched header that waits for more marks its node congested.
    pub upper: u64,
    /// \[cycles\] One that goes on after less clears the mark; at most `upper`.
    pub lower: u64,
}

/// Everything that can be set of a router, checked to be consistent.
#[derive(Clone, PartialEq, Debug)]
pub struct RouterParams {
    /// How deadlock is avoided and outputs are asked for.
    pub routing: Routing,
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
    /// \[injectors\] Injection queues of each node, each with its own source buffer.
    pub injectors: usize,
    /// Which injector a packet goes to.
    pub injection: Injection,
    /// From buffer to injection queue.
    pub inject: Inject,
    /// Who gets what several inputs ask for: an output, or the single consumption port.
    pub arbitration: Arbitration,
    /// How packets leave.
    pub consumption: Consumption,
    /// \[packets\] Room that must be free in the node's own queue of a ring before a packet enters the ring; 0 = no
    /// bubble.
    pub bubble: u32,
    /// \[packets\] Local bubble restriction: like `bubble`, for packets that leave an injection queue, on every
    /// channel.
    pub lbr: u32,
    /// \[probability\] That transit queues are considered before injection queues.
    pub in_transit_priority: f64,
    /// Control of congestion of the whole network; `None` if there is none.
    pub global_cc: Option<GlobalCc>,
    /// `lbr` and `in_transit_priority` act at congested nodes only; `None`: always.
    pub timeouts: Option<Timeouts>,
    /// \[cycles\] Delays of links beyond one cycle: of all, or one for each of
    /// [`link_classes`](Topology::link_classes); none are 0.
    pub link_delays: Vec<u32>,
    /// \[cycles\] Delay of the router at which a hop ends, before a header can ask there.
    pub router_delay: u32,
    /// With `graph:shortest`: links of a switch that packets of one destination are spread over; 0 for all.
    pub alternatives: u32,
    /// What stands before the source buffer.
    pub source_queue: SourceQueue,
    /// Seed of the run: every draw of the router is a function of it, the packet, the node and the purpose.
    pub seed: u64,
    /// \[cycles\] Without any phit moving while packets are in flight: then the network is in deadlock.
    pub watchdog_cycles: u64,
}

/// Largest packet, queue and channel counts: far beyond use, small enough that no product overflows.
const MAX_PHITS: u32 = 1 << 16;
const MAX_PACKETS: u32 = 1 << 12;
const MAX_VCS: usize = 32;
const MAX_INJECTORS: usize = 64;
/// \[queues\] Most of a router.
pub const MAX_QUEUES: usize = 1023;

impl Default for RouterParams {
    /// The original's settings: 3 channels, smart bubble routing, packets of 16 phits of 4 bytes, queues of 4 packets.
    fn default() -> Self {
        Self {
            routing: Routing::BubbleSmart,
            order: Order::Dimension,
            vcs: 3,
            packet_phits: 16,
            phit_bytes: 4,
            queue_packets: 4,
            injection_queue_packets: 8,
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
            source_queue: SourceQueue::Throttled,
            seed: 1,
            watchdog_cycles: 10_000,
        }
    }
}

impl RouterParams {
    /// Checks every setting, and those that depend on each other, for this topology.
    ///
    /// # Errors
    /// The first setting that cannot be used, by the name of its flag, with the values that can.
    pub fn check(&self, topology: &dyn Topology) -> Result<(), Refusal> {
        let shape = topology.shape();
        let range = |flag: &str, value: u64, low: u64, high: u64| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            Err(Refusal::value(format!("--{flag} {value} is out of range"), format!("use {low} to {high}")))
        };
        range("vcs", self.vcs as u64, 1, MAX_VCS as u64)?;
        range("packet", self.packet_phits.into(), 1, MAX_PHITS.into())?;
        range("phit-bytes", self.phit_bytes.into(), 1, MAX_PHITS.into())?;
        range("queue", self.queue_packets.into(), 1, MAX_PACKETS.into())?;
        range("injection-queue", self.injection_queue_packets.into(), 1, MAX_PACKETS.into())?;
        range("injectors", self.injectors as u64, 1, MAX_INJECTORS as u64)?;
        range("watchdog", self.watchdog_cycles, 1, i64::MAX as u64)?;
        if !(0.0..=1.0).contains(&self.in_transit_priority) {
            let what = format!("--in-transit-priority {} is not a probability", self.in_transit_priority);
            return Err(Refusal::value(what, "use 0 to 1"));
        }
        super::wires::check(self, topology)?;
        self.check_congestion()?;
        self.check_routing(topology)?;
        if self.injection != Injection::Shortest && self.injectors < shape.ports() {
            let (modes, ports) = (Injection::ALL, shape.ports());
            let name = modes.iter().find(|&&(_, mode)| mode == self.injection).map_or("", |&(name, _)| name);
            return Err(Refusal::value(
                format!("--injection {name} needs an injector for each port, --injectors is {}", self.injectors),
                format!("use --injectors {ports}, or --injection shortest"),
            ));
        }
        let queues = counted(self.queue_packets, "packet", "packets");
        let bubble = if self.routing.uses_bubble() { self.bubble } else { 0 };
        for (flag, packets) in [("bubble", bubble), ("lbr", self.lbr)] {
            if packets > self.queue_packets {
                return Err(Refusal::value(
                    format!("--{flag} {packets} can never be met by queues of {queues}"),
                    format!("use --{flag} {} or less, or --queue {packets} or more", self.queue_packets),
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
            return Err(Refusal::value(what, "use fewer dimensions, links of a switch, channels or injectors"));
        }
        Ok(())
    }

    fn check_congestion(&self) -> Result<(), Refusal> {
        if let Some(GlobalCc { percent, period }) = self.global_cc {
            if !(0.0..=100.0).contains(&percent) {
                return Err(Refusal::value(format!("--global-cc {percent} is not a percentage"), "use 0 to 100"));
            }
            if period >= self.watchdog_cycles {
                let what = format!("--global-cc-period {period}: the watchdog, {}, is shorter", self.watchdog_cycles);
                return Err(Refusal::value(what, "use a shorter period, or a longer --watchdog"));
            }
        }
        if let Some(Timeouts { upper, lower }) = self.timeouts {
            if upper > u64::from(u32::MAX) {
                let what = format!("--timeout-upper {upper} is out of range");
                return Err(Refusal::value(what, format!("use 0 to {}", u32::MAX)));
            }
            if lower > upper {
                let what = format!("--timeout-lower {lower} is above --timeout-upper {upper}");
                return Err(Refusal::value(what, "use --timeout-upper or less"));
            }
            if self.lbr == 0 && self.in_transit_priority == 0.0 {
                let what = "--timeout-upper has no meaning without --lbr and --in-transit-priority, which it turns on";
                return Err(Refusal::value(what, "leave it out, or set one of them"));
            }
        }
        Ok(())
    }

    fn check_routing(&self, topology: &dyn Topology) -> Result<(), Refusal> {
        let (routing, name) = (self.routing, self.routing.name());
        if let Err(refusal) = self.fits(topology) {
            let candidates = Routing::serving(&topology.spec()).iter().copied();
            let others: Vec<Routing> =
                candidates.filter(|&routing| Self { routing, ..self.clone() }.fits(topology).is_ok()).collect();
            let remedy = match (refusal.remedy(), &*others) {
                (own, []) => own.to_owned(),
                ("", others) => format!("use --routing {}", listed(others)),
                (own, others) => format!("{own}, or --routing {}", listed(others)),
            };
            return Err(Refusal::value(refusal.to_string(), remedy));
        }
        if routing.orders_by_channel() && self.order != Order::Dimension {
            let what =
                format!("--order dir has no meaning with --routing {name}, whose channels have orders of their own");
            return Err(Refusal::value(what, "use --order dim"));
        }
        if topology.switched().is_some() {
            self.check_switches(topology)?;
        }
        if self.alternatives > 0 && routing != Routing::GraphShortest {
            let what = format!("--alternatives has no meaning with --routing {name}");
            return Err(Refusal::value(what, "leave it out, or use --routing graph:shortest"));
        }
        Ok(())
    }

    /// Whether the routing works in this topology with so many channels. The remedy of a refusal is what else than the
    /// routing can be changed, or empty.
    fn fits(&self, topology: &dyn Topology) -> Result<(), Refusal> {
        let (routing, name, vcs) = (self.routing, self.routing.name(), self.vcs);
        let dimensions = topology.shape().dimensions;
        if !Routing::serving(&topology.spec()).contains(&routing) {
            let what =
                format!("--routing {name} is for {}, not for --topology {}", routing.networks(), topology.spec());
            return Err(Refusal::value(what, ""));
        }
        if routing.needs_three_dimensions() && dimensions != 3 {
            let what =
                format!("--routing {name} needs three dimensions, --topology {} has {dimensions}", topology.spec());
            return Err(Refusal::value(what, ""));
        }
        if !routing.takes_vcs(dimensions, vcs) {
            let least = routing.min_vcs(dimensions);
            let (count, remedy) =
                match (routing.takes_vcs(dimensions, least + 1), routing.takes_vcs(dimensions, 2 * least)) {
                    (true, _) => (least.to_string(), format!("use --vcs {least} or more")),
                    (false, true) => {
                        (format!("a multiple of {least}"), format!("use --vcs {least} or --vcs {}", 2 * least))
                    }
                    (false, false) => (format!("exactly {least}"), format!("use --vcs {least}")),
                };
            let what = format!("--routing {name} needs {count} virtual channels, --vcs is {vcs}");
            return Err(Refusal::value(what, remedy));
        }
        if let Some(network) = topology.switched() {
            Guide::new(self, network)?;
        }
        if topology.faults() > 0 && routing.orders_by_channel() {
            return Err(Refusal::value(format!("--routing {name} cannot avoid dead links"), ""));
        }
        Ok(())
    }

    /// Settings of direct networks that mean nothing where only endpoints inject.
    fn check_switches(&self, topology: &dyn Topology) -> Result<(), Refusal> {
        let useless = |flag: &str, remedy: &str| {
            let what =
                format!("--{flag} has no meaning with --topology {}, whose switches do not inject", topology.spec());
            Err(Refusal::value(what, remedy))
        };
        if self.injection != Injection::Shortest {
            return useless("injection", "use --injection shortest");
        }
        if self.lbr > 0 {
            return useless("lbr", "leave it out");
        }
        if self.in_transit_priority > 0.0 {
            return useless("in-transit-priority", "leave it out");
        }
        if self.order != Order::Dimension {
            return useless("order", "leave it out");
        }
        Ok(())
    }

    /// What is permitted but probably not meant.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        if self.lbr > 0 && self.routing.uses_datelines() {
            let name = self.routing.name();
            return vec![format!("lbr {}: the local bubble restriction has no effect with {name}", self.lbr)];
        }
        match self.bubble {
            _ if !self.routing.uses_bubble() => Vec::new(),
            0 => vec!["bubble 0: nothing keeps a ring from filling up, so a torus will deadlock under load".to_owned()],
            1 => vec![
                "bubble 1: the one free packet may be taken by the upstream neighbour in the same cycle, so a torus may \
                 deadlock; 2 is safe"
                    .to_owned(),
            ],
            _ => Vec::new(),
        }
    }

    /// \[phits\] Room of each transit queue and of each injection queue.
    #[must_use]
    pub const fn queue_phits(&self) -> u32 {
        self.queue_packets * self.packet_phits
    }

    /// \[packets\] That a message of this many bytes is cut into: every packet is full length, an empty message is one.
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
        let specs = [
            "torus:4x4",
            "torus:5",
            "mesh:4x4x4",
            "hypercube:5",
            "twisted:8x4:4",
            "circulant:12:1,5",
            "midimew:16",
            "circpk:3^3",
            "spidergon:16",
            "spinnaker:6x6",
            "fattree:2,5",
            "thintree:4,2,3",
            "slimtree:4,2,3",
            "dragonfly:p=2,a=4,h=2",
            "hyperx:3x3x3:2",
            "icube:4x4x4:2",
            "rrg:s=200,d=3,p=1",
        ];
        let family = |spec: &str| spec.split(':').next().map(str::to_owned);
        for name in TOPOLOGIES.iter().map(|component| component.name.to_owned()) {
            assert!(name == "graph" || specs.iter().any(|spec| family(spec).as_ref() == Some(&name)), "{name}");
        }
        for spec in specs {
            let topology = parse(spec, 2).unwrap();
            let params = RouterParams { routing: Routing::serving(spec)[0], ..RouterParams::default() };
            assert_eq!(params.check(&*topology), Ok(()), "{spec}");
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
        assert_eq!(base().check(&*torus), Ok(()));
        for (params, what) in [
            (RouterParams { vcs: 1, ..RouterParams::default() }, "--routing bubble:smart needs 2"),
            (RouterParams { bubble: 5, ..RouterParams::default() }, "--bubble 5"),
            (RouterParams { packet_phits: 0, ..RouterParams::default() }, "--packet 0"),
            (RouterParams { in_transit_priority: f64::NAN, ..RouterParams::default() }, "--in-transit-priority"),
            (RouterParams { injection: Injection::Dor, injectors: 3, ..base() }, "--injection dor needs an injector"),
            (RouterParams { routing: Routing::DoubleAdaptive, ..base() }, "needs a multiple of 2 virtual channels"),
            (RouterParams { routing: Routing::DallyTrc, ..base() }, "needs exactly 2 virtual channels"),
            (RouterParams { routing: Routing::HexaAdaptive, vcs: 6, ..base() }, "needs three dimensions"),
            (RouterParams { link_delays: vec![1, 2, 3], ..base() }, "2 kinds of links: dimension 0, dimension 1"),
            (RouterParams { link_delays: vec![70_000], ..base() }, "--link-delay 70000"),
            (RouterParams { router_delay: 70_000, ..base() }, "--router-delay 70000"),
            (RouterParams { global_cc: Some(GlobalCc { percent: 101.0, period: 0 }), ..base() }, "--global-cc 101"),
            (
                RouterParams { global_cc: Some(GlobalCc { percent: 10.0, period: 10_000 }), ..base() },
                "--global-cc-period 10000",
            ),
            (RouterParams { timeouts: Some(Timeouts { upper: 5, lower: 6 }), lbr: 3, ..base() }, "--timeout-lower 6"),
            (RouterParams { timeouts: Some(Timeouts { upper: 5, lower: 3 }), ..base() }, "--timeout-upper has no"),
            (
                RouterParams { routing: Routing::DoubleOblivious, vcs: 2, order: Order::Direction, ..base() },
                "--order dir has no meaning",
            ),
        ] {
            let refusal = params.check(&*torus).unwrap_err();
            assert!(refusal.to_string().contains(what), "{refusal}");
        }
    }
}
