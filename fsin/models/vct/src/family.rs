//! The virtual cut-through model as a member of the family of models: its settings, and what they mean.

use std::collections::HashSet;
use std::sync::Arc;

use crate::routing::{Order, Routing};
use fsin_core::failures::{Failures, LostPairs, Timetable, parts};
use fsin_core::family::{
    Discipline, Key, Kind, LinkRoom, ModelFamily, Need, NetworkSpec, PHITS_PER_NODE_CYCLE, Rates, Room, Units,
    Unloaded, Values, bandwidth_unused, narrow_links,
};
use fsin_core::network::Network;
use fsin_core::parallel;
use fsin_core::topology::{self, Faults, Port, Spans, Topology};
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::{Geometry, NodeId};

use crate::engine::fast;
use crate::engine::reference::Reference;
use crate::router::arbitration::ARBITRATIONS;
use crate::router::faults::Reachability;
use crate::router::hop_delays::{HopDelays, LINKS};
use crate::router::injection::INJECTIONS;
use crate::router::{
    Arbitration, CheckedParams, Consumption, GlobalCc, Inject, Injection, Interface, MAX_PACKETS, RouterParams,
    SourceQueue, Timeouts,
};

#[rustfmt::skip]
const KEYS: &[Key] = &[
    Key::of_network("vcs", "N", Kind::Integer, Some("3"), "", "virtual channels of each link"),
    Key::of_network("routing", "NAME", Kind::Word, None, "", "routing, such as dally:trc with vct, dor with wormhole; that of the topology if absent: fsin list routings"),
    Key::of_network("order", "dim|dir|long", Kind::Word, Some("dim"), "", "order of deterministic and escape routes: X Y Z, X+ Y+ Z+ X- Y- Z-, or the longest dimension first; long in slices, tpu:..., if absent"),
    Key::of_network("faults", "N", Kind::Integer, None, "", "dead links, drawn by the seed: of a direct network, or between switches with graph:updown or graph:shortest; 0 if absent"),
    Key::of_network("fault-ways", "1|2", Kind::Integer, None, "", "directions of a link that die together; 1: for direct networks; 2 if absent").needing(&[Need::set("faults"), Need::not("faults", "0")]),
    Key::of_network("link-delay", "D[:D...]", Kind::Word, None, "cycles", "delay of links beyond one cycle, of all or of each dimension or class of links, 1:1:8 (dragonfly: to endpoints : within : between groups; fsin topology names them); without load H hops of L phits take H (1 + link-delay + router-delay) + L - 1; 0 if absent; in the model flow times with their units, 100ns:100ns:2us, in place of {propagation}"),
    Key::of_network("router-delay", "C", Kind::Integer, None, "cycles", "delay of each router that a hop leads to, before a header can ask there; 0 if absent"),
    Key::of_network("alternatives", "K", Kind::Integer, None, "", "with graph:shortest: links of a switch that packets of one destination are spread over; all if absent"),
    Key::of_network("packet", "PHITS", Kind::Integer, Some("16"), "phits", "length of every packet"),
    Key::of_network("phit-bytes", "B", Kind::Integer, Some("4"), "bytes", "payload of a phit"),
    Key::of_network("queue", "PACKETS", Kind::Integer, Some("4"), "packets", "room of each transit and injection queue; fewer phits than the delay of a link cannot keep a channel of it busy"),
    Key::of_network("injection-queue", "PACKETS", Kind::Integer, Some("8"), "packets", "room of each source buffer"),
    Key::of_network("injectors", "I", Kind::Integer, Some("1"), "", "injection queues of each node"),
    Key::of_network("injection", "MODE", Kind::Word, Some("shortest"), "", "injector of a new packet: shortest (the least occupied), dor, longest-path, ...; fsin list injections").naming(INJECTIONS),
    Key::of_network("inject", "parallel|serial", Kind::Word, Some("parallel"), "", "from source buffer to injection queue: whatever fits at once, or a phit per cycle"),
    Key::of_network("interface", "serial|interleaved:N|per-port", Kind::Word, Some("serial"), "", "messages that an interface sends at a time: one; up to N to different destinations, packets in turn; or on each link those whose routes begin there; per-port in slices, tpu:..., if this, injectors and injection are absent. Of models without packets: per-destination, one of each source, destination and class; serial or serial:N, up to N of a node; at-once, all"),
    Key::of_network("consumption", "multiple|single|N", Kind::Word, Some("multiple"), "", "consumption ports: one for each queue, or one or N per node"),
    Key::of_network("arbitration", "MODE", Kind::Word, Some("rr"), "", "who gets a contended output: rr (round robin), fifo, longest, random, age, highest-vc").naming(ARBITRATIONS),
    Key::of_network("bubble", "B", Kind::Integer, Some("2"), "packets", "room that a packet must find, its own place included, where it enters a ring or, on a mesh, a row; 0: none, and a torus may deadlock"),
    Key::of_network("lbr", "B", Kind::Integer, Some("0"), "packets", "local bubble restriction: room that an injected packet must find, its own place included, on every channel"),
    Key::of_network("in-transit-priority", "P", Kind::Number, Some("0"), "", "probability, 0 to 1, that transit queues are served before injection queues"),
    Key::of_network("global-cc", "PERCENT", Kind::Number, None, "percent", "congestion control: nothing enters while packets in the network exceed this share of the room of all transit queues"),
    Key::of_network("global-cc-period", "C", Kind::Integer, None, "cycles", "time between two counts of packets for global control; every cycle if absent").needing(&[Need::set("global-cc")]),
    Key::of_network("timeout-upper", "C", Kind::Integer, None, "cycles", "lbr and in-transit-priority act at congested nodes only: where a header has waited for longer than this"),
    Key::of_network("timeout-lower", "C", Kind::Integer, None, "cycles", "a node is no longer congested when a header has waited for less than this; 75 % of timeout-upper if absent").needing(&[Need::set("timeout-upper")]),
];

/// The row of this model in the table of models.
pub static VCT: ModelFamily = ModelFamily {
    component: Component {
        name: "vct",
        about: "virtual cut-through routers with virtual channels, phit by phit: the functional model of FSIN",
        parameters: &[],
        source: "Ridruejo, Miguel-Alonso, INSEE, Euro-Par 2005",
    },
    discipline: Discipline {
        order: "messages of a pair enter one after another; packets pass each other only where routings, channels or injectors give them a choice",
        sharing: "links and ports, packet by packet in turn; a packet that waits stops those behind it in its queue",
        busy: "a node with one message at a time (more by {interface}); a send ends when its last packet is in the source buffer, before its link is free by the room of that ({injection-queue}) and of the injection queue ({queue})",
    },
    aliases: &["router"],
    keys: KEYS,
    shared: &["topology", "ways", "fail", "routes", "bandwidth", "watchdog", "engine", "threads", "link-loads"],
    defaults: &[],
    short: &[],
    load_unit: PHITS_PER_NODE_CYCLE,
    routings: Routing::carried,
    parse: |values| Ok(Arc::new(Spec::from_values(values)?)),
};

/// Maximum number of nodes of a direct network with dead links: unreachable pairs are searched one by one.
const MAX_SEARCHED_NODES: usize = 4096;

/// An engine that simulates the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Engine {
    /// Event-driven, packet by packet; identical results, faster.
    Fast,
    /// Phit by phit: the definition of the model.
    Reference,
}

/// Checked settings of the model.
#[derive(Debug)]
struct Spec {
    /// The network in which a run begins: with the links that are dead at times, without those that always are.
    topology: Arc<dyn Topology>,
    /// The network without the links that are dead at the start.
    at_first: Arc<dyn Topology>,
    router: CheckedParams,
    engine: Engine,
    threads: usize,
    /// The setting to which dead links are due, with its value.
    cause: (&'static str, String),
    /// True if the longest dimension is to come first.
    is_long: bool,
}

/// True if the links of a direct network lead in other directions than the dimensions of its shape, whose lengths are
/// known.
fn has_own_steps(topology: &dyn Topology) -> bool {
    topology.shape().dimensions != topology.geometry().sizes().len()
}

impl Spec {
    /// The pairs of nodes of a direct network without a route over the links that are left; `None` if there are none.
    fn lost(&self, left: &dyn Topology) -> Option<LostPairs> {
        /// Pairs that are named.
        const NAMED: usize = 4;
        if self.router.routing.goes_round() {
            return LostPairs::between(&parts(left, &HashSet::new()));
        }
        let lost = Reachability::new(&self.router, left)?.lost(left, NAMED);
        (lost.count > 0).then_some(lost)
    }

    fn from_values(values: &dyn Values) -> Result<Self, SpecError> {
        let topology = values.topology_in_cycles(&LINKS)?;
        let router = router(values, &*topology)?;
        let count = values.integer_or("faults", 0)?;
        let faults = Faults { count, one_way: one_way(values)?, seed: router.seed };
        let topology = topology::with_faults(topology, &faults).map_err(|refusal| refusal.of("faults"))?;
        let is_direct = topology.switched().is_none();
        let (topology, timetable) = values.timetable(topology.into(), false, is_direct)?;
        let is_damaged = topology.faults() > 0 || !timetable.is_empty();
        if is_direct && is_damaged && topology.nodes() > MAX_SEARCHED_NODES {
            let what = phrase![["fail"], (": {} has {} nodes", topology.spec(), topology.nodes())];
            let remedy = format!("use a direct network of at most {MAX_SEARCHED_NODES} nodes");
            return Err(SpecError::new(ErrorKind::TooLarge, what, remedy).of("fail"));
        }
        let router = RouterParams { timetable, ..router };
        let router = checked(values, &router, &*topology).map_err(|error| values.because_of_failures(error))?;
        let (engine, threads) = engine(values)?;
        let cause = if count > 0 { ("faults", count.to_string()) } else { ("fail", values.word("fail").to_owned()) };
        let at_first = Arc::clone(router.timetable.at_first().unwrap_or(&topology));
        let is_long = values.is_set("order") && values.word("order") == "long";
        Ok(Self { topology, at_first, router, engine, threads, cause, is_long })
    }
}

impl NetworkSpec for Spec {
    fn build(&self) -> Result<Box<dyn Network>, SpecError> {
        let (topology, router) = (Arc::clone(&self.topology), self.router.clone());
        match self.engine {
            Engine::Reference => Ok(Box::new(Reference::new(topology, router))),
            Engine::Fast => fast::build(topology, router, self.threads).ok_or_else(|| {
                let what = phrase![["engine" => "fast"], " simulates fewer than 2^31 nodes"];
                SpecError::new(ErrorKind::TooLarge, what, "use a smaller network").of("engine")
            }),
        }
    }

    fn carries_to_itself(&self) -> bool {
        true
    }

    fn geometry(&self) -> &Geometry {
        self.topology.geometry()
    }

    fn topology(&self) -> Option<&Arc<dyn Topology>> {
        Some(&self.at_first)
    }

    fn failures(&self) -> Option<&Failures> {
        Some(self.router.timetable.failures())
    }

    fn units(&self) -> Units {
        let RouterParams { phit_bytes, packet_phits, .. } = *self.router;
        Units { phit_bytes, packet_phits, is_padded: true, capacity: 1.0 }
    }

    /// H hops of L phits take H (1 + delays) + L - 1, where nothing of a message alone waits.
    fn has_one_time_alone(&self) -> bool {
        let (router, topology) = (&*self.router, &*self.at_first);
        // Routings of switches may take longer paths, by a draw; failures change routes.
        if topology.switched().is_some() || router.injectors > 1 || !router.timetable.is_empty() {
            return false;
        }
        // Where queues hold less than what is under way on a link, packets wait for those before them, and how many links
        // and channels they have drawn decides for how long.
        let longest = u64::from(HopDelays::new(router, topology).longest());
        u64::from(router.queue_phits()) >= longest + 2 * u64::from(router.packet_phits)
    }

    fn unloaded(&self, phits: f64) -> Unloaded {
        let (topology, delays) = (&*self.at_first, HopDelays::new(&self.router, &*self.at_first));
        let hop = |node, port: Port| {
            let there = topology.neighbour(node, port)?;
            Some(1 + u64::from(delays.to(there.index(), port.index())))
        };
        let slowest = topology.switched().map_or(1, |network| network.longest_crossing());
        Unloaded::shared(Spans::of(topology, hop).farthest() + (phits.max(1.0) * f64::from(slowest)) as u64)
    }

    fn rates(&self) -> Option<Rates> {
        let router = &self.router;
        let nodes = self.topology.endpoints();
        let injection = match router.inject {
            Inject::Serial => 1.0,
            Inject::Parallel => router.injectors as f64,
        };
        let ejection = match router.consumption {
            Consumption::Ports(ports) => ports.into(),
            Consumption::Multiple => f64::INFINITY,
        };
        let is_serial = router.interface.in_progress() == 1 && router.interface != Interface::PerPort;
        // Messages of a lane have one injector.
        let injectors = if router.interface == Interface::PerPort { 1 } else { router.injectors as u64 };
        let packets = u64::from(router.injection_queue_packets + router.queue_packets) * injectors;
        let rates = Rates {
            link: 1.0,
            injection: vec![injection; nodes],
            ejection: vec![ejection; nodes],
            queued_phits: packets * u64::from(router.packet_phits),
            is_serial,
        };
        Some(rates.paced(&*self.topology))
    }

    fn cycle(&self) -> Option<(u64, u64)> {
        self.topology.switched()?.cycle()
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn node_bytes(&self) -> u64 {
        /// \[bytes\] For each node and for each of its queues in the reference engine: measured on networks of 2^18
        /// nodes, rounded down.
        const NODE: u64 = 256;
        const QUEUE: u64 = 30;
        let (shape, router) = (self.topology.shape(), &self.router);
        match self.engine {
            Engine::Fast => fast::node_bytes(shape, router.vcs, router.injectors, router.queue_packets) as u64,
            Engine::Reference => NODE + QUEUE * (shape.ports() * router.vcs + router.injectors) as u64,
        }
    }

    fn room(&self) -> Option<Room> {
        let queue = self.router.queue_phits();
        let phits = |queues: usize| queue * queues as u32;
        Some(Room { transit_phits: phits(self.router.vcs), injection_phits: phits(self.router.injectors) })
    }

    fn settled(&self) -> Vec<(&'static str, String)> {
        let router = &self.router;
        let mut settled = vec![("routing", router.routing.name().to_owned())];
        if matches!(router.order, Order::Axes(_)) {
            settled.push(("order", "long".to_owned()));
        }
        if router.interface == Interface::PerPort {
            settled.push(("interface", router.interface.to_string()));
            settled.push(("injectors", router.injectors.to_string()));
            settled.push(("injection", router.injection.name().to_owned()));
        }
        settled
    }

    fn fills_interfaces(&self) -> bool {
        true
    }

    fn unused(&self) -> Vec<(&'static str, Phrase)> {
        let mut unused: Vec<_> = bandwidth_unused(&*self.topology).into_iter().collect();
        let routing = self.router.routing.name();
        if !self.router.routing.uses_bubble() {
            unused.push(("bubble", phrase!["with ", ["routing" => routing], ", which needs none"]));
        }
        if !self.router.routing.takes_alternatives() {
            unused.push(("alternatives", phrase!["with ", ["routing" => routing]]));
        }
        let why = match self.topology.switched() {
            Some(_) => phrase!["with ", ["topology" => self.topology.spec()], ", whose switches do not inject"],
            None if self.router.routing.follows().is_some() => {
                phrase!["with ", ["routing" => routing], ", which has one path for each pair of nodes"]
            }
            None if self.is_long && has_own_steps(&*self.topology) => {
                phrase![
                    "with ",
                    ["topology" => self.topology.spec()],
                    ", whose links lead in directions that are no dimensions of its shape, so that none is the longest"
                ]
            }
            None if self.topology.shape().dimensions == 1 => {
                phrase!["with ", ["topology" => self.topology.spec()], ", which has one dimension"]
            }
            None if self.router.routing.orders_by_channel() => {
                phrase!["with ", ["routing" => routing], ", whose channels have orders of their own"]
            }
            None => return unused,
        };
        unused.push(("order", why));
        if self.topology.switched().is_some() {
            let why = || phrase!["with ", ["topology" => self.topology.spec()], ", whose switches do not inject"];
            unused.extend(["injection", "lbr", "in-transit-priority"].map(|key| (key, why())));
        }
        unused
    }

    fn unreachable(&self) -> Option<SpecError> {
        let lost = self.lost(&*self.at_first)?.in_words(self.topology.geometry());
        let what = phrase![
            [self.cause.0 => &self.cause.1],
            ": with ",
            ["routing" => self.router.routing.name()],
            " no route is left for {lost}"
        ];
        let remedy = match self.router.routing.goes_round() {
            true => phrase!["let fewer links fail, or leave out ", [self.cause.0]],
            false => {
                phrase!["use ", ["routing" => "updown"], ", which goes round dead links, or leave out ", [self.cause.0]]
            }
        };
        Some(SpecError::new(ErrorKind::Conflict, what, remedy).of(self.cause.0))
    }

    fn link_room(&self, node: NodeId, port: Port) -> Option<LinkRoom> {
        let router = &self.router;
        self.topology.neighbour(node, port)?;
        // A phit takes its place when it is sent, and credits take no time.
        let delay = HopDelays::of(router, &*self.topology, node, port);
        let channels = router.vcs as u64;
        let (phits, step) = (u64::from(router.queue_phits()) * channels, u64::from(router.packet_phits) * channels);
        Some(LinkRoom { phits, cycles: 1 + u64::from(delay), step, channels, most: MAX_PACKETS.into() })
    }

    fn warnings(&self) -> Vec<Phrase> {
        let timetable = &self.router.timetable;
        let mut warnings = self.router.warnings();
        warnings.extend(narrow_links(self, &*self.topology, "queue"));
        match self.topology.switched() {
            Some(_) => warnings.extend(timetable.failures().warnings(&*self.topology)),
            None => {
                let later = timetable.failures().changes.iter().zip(timetable.later());
                let lost = later.filter_map(|(change, (_, left))| {
                    Some(change.warning(&self.lost(&**left)?, self.topology.geometry()))
                });
                warnings.extend(lost);
            }
        }
        warnings
    }
}

/// The settings of the router, with the topology's default routing where none is set; not yet checked for the topology.
fn router(values: &dyn Values, topology: &dyn Topology) -> Result<RouterParams, SpecError> {
    let spec = topology.spec();
    let routes = values.routes(topology)?;
    let of_table = if topology.switched().is_some() { Routing::GraphRoutes } else { Routing::DirectRoutes };
    let routing = match (values.value("routing"), &*Routing::serving(&spec)) {
        _ if routes.is_some() => Ok(of_table),
        (None, [usual, ..]) => Ok(*usual),
        (name, _) => Routing::named(name.unwrap_or_default(), &spec),
    };
    let routing = routing.map_err(|refusal| refusal.within(phrase![["routing"], ": "]).of("routing"))?;
    let interface = interface(values, topology)?;
    let is_per_port = interface == Interface::PerPort && topology.switched().is_none();
    Ok(RouterParams {
        routing,
        routes,
        order: match values.is_set("order") {
            true => {
                let longest_first = match has_own_steps(topology) {
                    true => Order::Dimension,
                    false => Order::longest_first(topology.geometry().sizes()),
                };
                let orders = [("dim", Order::Dimension), ("dir", Order::Direction), ("long", longest_first)];
                values.choice("order", &orders)?
            }
            false if routing.orders_by_channel() => Order::Dimension,
            false => topology.usual().order,
        },
        vcs: values.integer("vcs")?,
        packet_phits: values.integer("packet")?,
        phit_bytes: values.integer("phit-bytes")?,
        queue_packets: values.integer("queue")?,
        injection_queue_packets: values.integer("injection-queue")?,
        injectors: match is_per_port && !values.is_set("injectors") {
            true => topology.shape().ports(),
            false => values.integer("injectors")?,
        },
        injection: match is_per_port && !values.is_set("injection") {
            true => Injection::Dor,
            false => values.choice("injection", &Injection::ALL)?,
        },
        arbitration: values.choice("arbitration", &Arbitration::ALL)?,
        inject: values.choice("inject", &[("parallel", Inject::Parallel), ("serial", Inject::Serial)])?,
        interface,
        consumption: consumption(values)?,
        bubble: values.integer("bubble")?,
        lbr: values.integer("lbr")?,
        in_transit_priority: values.number("in-transit-priority")?,
        global_cc: global_cc(values)?,
        timeouts: timeouts(values)?,
        link_delays: link_delays(values)?,
        router_delay: if values.is_set("router-delay") { values.integer("router-delay")? } else { 0 },
        timetable: Timetable::default(),
        alternatives: if values.is_set("alternatives") { values.integer("alternatives")? } else { 0 },
        source_queue: values.choice("source", &[("open", SourceQueue::Open), ("throttled", SourceQueue::Throttled)])?,
        seed: values.integer("seed")?,
        watchdog_cycles: values.integer("watchdog")?,
    })
}

/// The interface of a node: as set, or that which is usual where no injectors are set either.
fn interface(values: &dyn Values, topology: &dyn Topology) -> Result<Interface, SpecError> {
    match ["interface", "injectors", "injection"].iter().any(|key| values.is_set(key)) {
        true => values.parsed("interface"),
        false => Ok(topology.usual().interface),
    }
}

/// The ports through which nodes take packets.
fn consumption(values: &dyn Values) -> Result<Consumption, SpecError> {
    match values.value("consumption").map(str::parse) {
        Some(Ok(ports)) => Ok(Consumption::Ports(ports)),
        _ => values.choice("consumption", &[("multiple", Consumption::Multiple), ("single", Consumption::SINGLE)]),
    }
}

/// True if only one direction of each dead link is dead.
fn one_way(values: &dyn Values) -> Result<bool, SpecError> {
    if !values.is_set("fault-ways") {
        return Ok(false);
    }
    values.choice("fault-ways", &[("1", true), ("2", false)])
}

/// The setting of global congestion control; `None` if it is off.
fn global_cc(values: &dyn Values) -> Result<Option<GlobalCc>, SpecError> {
    let period = if values.is_set("global-cc-period") { values.integer("global-cc-period")? } else { 0 };
    if values.is_set("global-cc") {
        return Ok(Some(GlobalCc { percent: values.number("global-cc")?, period }));
    }
    Ok(None)
}

/// The setting of congestion timers; `None` if there are none.
fn timeouts(values: &dyn Values) -> Result<Option<Timeouts>, SpecError> {
    if !values.is_set("timeout-upper") {
        return Ok(None);
    }
    let upper: u64 = values.integer("timeout-upper")?;
    let lower = if values.is_set("timeout-lower") {
        values.integer("timeout-lower")?
    } else {
        upper / 4 * 3 + upper % 4 * 3 / 4
    };
    Ok(Some(Timeouts { upper, lower }))
}

/// \[cycles\] The delays of links beyond one cycle: one for all links, or one for each class.
fn link_delays(values: &dyn Values) -> Result<Vec<u32>, SpecError> {
    if !values.is_set("link-delay") {
        return Ok(Vec::new());
    }
    let word = values.word("link-delay");
    let delays: Result<Vec<u32>, _> = word.split(':').map(str::parse).collect();
    delays.map_err(|_| {
        let what = phrase![["link-delay"], " takes cycles, not `{word}`"];
        let remedy =
            phrase!["write ", ["link-delay" => "4"], ", or one for each class of links: ", ["link-delay" => "1:1:8"]];
        SpecError::new(ErrorKind::Malformed, what, remedy).of("link-delay")
    })
}

/// A router checked for its topology.
fn checked(values: &dyn Values, router: &RouterParams, topology: &dyn Topology) -> Result<CheckedParams, SpecError> {
    router.check(topology).map_err(|refusal| {
        // The location is that of the first setting it names that is not a default.
        let key = refusal.settings().find(|key| values.is_set(key)).unwrap_or("topology");
        let names_some = refusal.what().settings().next().is_some();
        if names_some { refusal.of(key) } else { refusal.within(phrase![[key], ": "]).of(key) }
    })
}

/// The engine and its number of threads.
fn engine(values: &dyn Values) -> Result<(Engine, usize), SpecError> {
    let engine = values.choice("engine", &[("fast", Engine::Fast), ("reference", Engine::Reference)])?;
    Ok((engine, parallel::threads(values, engine == Engine::Reference)?))
}
