//! The flow model as a member of the family of models: its settings, and what they mean.

use std::sync::Arc;

use fsin_core::connections::Connections;
use fsin_core::failures::Failures;
use fsin_core::family::{Discipline, Key, Kind, ModelFamily, NetworkSpec, Rates, Units, Unloaded, Values, other_rates};
use fsin_core::interface::Interface;
use fsin_core::network::Network;
use fsin_core::route::{Carries, Choice, Name, listed, rows, serving};
use fsin_core::topology::switched::parse_rate;
use fsin_core::topology::{Spans, Topology};
use trgen::Geometry;
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;

use crate::engine::Flows;
use crate::params::{Fairness, MAX_TIME, MILLION, Params, Paths};
use crate::paths::carried;
use crate::wiring::{LINKS, Wiring, stated_routes};

/// The source of the weights and factors.
const SIMGRID: &str =
    "Velho, Schnorr, Casanova, Legrand, On the Validity of Flow-level TCP Network Models, TOMACS 23(4), 2013";
/// The source of the division of each link by itself.
const INRFLOW: &str =
    "Navaridas et al., INRFlow: An interconnection networks research flow-level simulation framework, JPDC 130, 2019";

/// A word with its definition and source.
const fn word(name: &'static str, about: &'static str, source: &'static str) -> Component {
    Component { name, about, parameters: &[], source }
}

/// The words of `flow-preset`.
pub const PRESETS: &[Component] = &[
    word(
        "simgrid-cm02",
        "{fairness} rtt with {weight-s} 0, factors 1, {tcp-gamma} 4194304, {cross-traffic} .05 and {interface} at-once",
        SIMGRID,
    ),
    word(
        "simgrid-lv08",
        "{fairness} rtt with {weight-s} 20537, {latency-factor} 13.01, {bandwidth-factor} .97, {tcp-gamma} 4194304, \
         {cross-traffic} .05 and {interface} at-once",
        SIMGRID,
    ),
    word("inrflow", "{fairness} split, {interface} at-once, and links without delay", INRFLOW),
];

/// The words of `fairness`.
pub const FAIRNESS: &[Component] = &[
    word(
        "maxmin",
        "the least rate is as great as it can be, then the next one, and so on",
        "Bertsekas and Gallager, Data Networks, 1992, section 6.5",
    ),
    word(
        "rtt",
        "the same of rates times their round trips, which {weight-s} lengthens, within windows of {tcp-gamma}",
        SIMGRID,
    ),
    word("split", "every link is divided evenly among its flows, and what one leaves no other gets", INRFLOW),
];

/// The words of `paths`.
pub const PATHS: &[Component] = &[
    word("hash", "one of those that the routing permits, by a hash of source, destination and number", "RFC 2992"),
    word(
        "adaptive",
        "at each router, of the links that the routing permits, the one with the least (flows + 1) / capacity when the message \
         starts",
        "fsin's own",
    ),
    word("spray", "all that the routing permits: a flow is split evenly at each router", "RFC 2991, by packet"),
];

#[rustfmt::skip]
const KEYS: &[Key] = &[
    Key::of_network("flow-preset", "NAME", Kind::Word, None, "", "settings to begin with: simgrid-cm02, simgrid-lv08 or inrflow").naming(PRESETS),
    Key::of_network("fairness", "NAME", Kind::Word, None, "", "how flows share a link: maxmin, rtt or split; that of the preset if absent, else maxmin").naming(FAIRNESS),
    Key::of_network("paths", "NAME", Kind::Word, Some("hash"), "", "paths of a flow among those that the routing permits: hash, adaptive or spray").naming(PATHS),
    Key::of_network("node-rate", "RATE", Kind::Word, None, "", "rate of a node's own link in a direct network; that of {injectors} links if absent, in slices that of all its links"),
    Key::of_network("hop-delay", "TIME", Kind::Word, Some("0ns"), "", "delay of each router on a path"),
    Key::of_network("weight-s", "BYTES", Kind::Integer, None, "bytes", "rtt: what each link adds to a round trip, at its rate; that of the preset if absent, else 0"),
    Key::of_network("tcp-gamma", "BYTES", Kind::Integer, None, "bytes", "rtt: greatest window, 0 for none; that of the preset if absent, else 0"),
    Key::of_network("latency-factor", "X", Kind::Number, None, "", "of the latency of a path when a flow enters; that of the preset if absent, else 1"),
    Key::of_network("bandwidth-factor", "X", Kind::Number, None, "", "of a rate after sharing; that of the preset if absent, else 1"),
    Key::of_network("cross-traffic", "X", Kind::Number, None, "", "what a flow uses of the other direction of its links, as a share of its rate; that of the preset if absent, else 0"),
    Key::of_network("tick", "TIME", Kind::Word, Some("1ps"), "", "ends of flows are multiples of this: a longer one merges instants, and each end is off by half of it at most"),
    Key::of_network("packet-bytes", "BYTES", Kind::Integer, Some("4096"), "bytes", "payload of the packets in which messages are counted"),
    Key::of_network("header-bytes", "BYTES", Kind::Integer, Some("0"), "bytes", "that pass over the links for each packet as well"),
];

/// The row of this model in the table of models.
pub static FLOW: ModelFamily = ModelFamily {
    component: Component {
        name: "flow",
        about: "fluid flows that share links: no packets and no queues, a cost by messages; a cycle is 1 ps, a phit a byte, and \
                load 1 what {link-rate} carries; messages of a connection follow each \
                other",
        parameters: &[],
        source: "Bertsekas and Gallager, Data Networks, 1992, section 6.5; Casanova et al., SimGrid, JPDC 74(10), 2014",
    },
    discipline: Discipline {
        order: "messages of a connection (source, destination, class), one after another; by {interface} those of a node, or none",
        sharing: "links, evenly among the connections over them ({fairness})",
        busy: "a node with any number of messages at a time; a send ends when its message has arrived",
    },
    aliases: &["fluid"],
    keys: KEYS,
    shared: &[
        "topology",
        "fail",
        "routing",
        "routes",
        "interface",
        "injectors",
        "engine",
        "link-rate",
        "propagation",
        "link-delay",
        "link-loads",
    ],
    defaults: &[
        ("interface", "per-destination"),
        ("link-rate", "10Gb/s"),
        ("propagation", "0ns"),
        ("warmup", "5000000000"),
        ("conv-period", "1000000000"),
        ("max-conv-time", "20000000000"),
        ("sample-size", "2000000000"),
    ],
    short: &[("rate", "link-rate"), ("delay", "propagation"), ("preset", "flow-preset")],
    load_unit: "fraction of capacity",
    routings: || listed(&carried()),
    parse: |values| Ok(Arc::new(Spec::from_values(values)?)),
};

/// Checked settings.
#[derive(Debug)]
struct Spec {
    /// The topology with all its links.
    topology: Arc<dyn Topology>,
    /// The topology at the start.
    at_first: Arc<dyn Topology>,
    /// The links of `topology`.
    wiring: Arc<Wiring>,
    params: Params,
    /// True if all shares are computed anew at every change.
    is_reference: bool,
    /// The preset that is named.
    preset: Option<&'static str>,
    /// True if the rate of a node's own link is given.
    has_node_rate: bool,
}

/// The settings that presets give, each with its value.
fn preset(name: &str) -> Result<Params, SpecError> {
    let rtt = Params {
        fairness: Fairness::RoundTrip,
        tcp_gamma: 4_194_304,
        cross_millionths: MILLION / 20,
        ..Params::default()
    };
    let params = match name {
        "" => Params::default(),
        "simgrid-cm02" => rtt,
        "simgrid-lv08" => {
            Params { weight_bytes: 20_537, latency_millionths: 13_010_000, bandwidth_millionths: 970_000, ..rtt }
        }
        "inrflow" => Params { fairness: Fairness::Split, ..Params::default() },
        other => {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            return Err(SpecError::unknown("preset", other, &names).of("flow-preset"));
        }
    };
    Ok(Params { connections: usual_connections(params.fairness), ..params })
}

/// The settings by which flows share links, each with its value as users write it: those that presets give.
fn shared_by(params: &Params) -> Vec<(&'static str, String)> {
    let factor = |millionths: u64| (millionths as f64 / MILLION as f64).to_string();
    let fairness = match params.fairness {
        Fairness::MaxMin => "maxmin",
        Fairness::RoundTrip => "rtt",
        Fairness::Split => "split",
    };
    let mut values = vec![
        ("interface", params.connections.to_string()),
        ("fairness", fairness.to_owned()),
        ("latency-factor", factor(params.latency_millionths)),
        ("bandwidth-factor", factor(params.bandwidth_millionths)),
        ("cross-traffic", factor(params.cross_millionths)),
    ];
    if params.fairness == Fairness::RoundTrip {
        let (weight, gamma) = (params.weight_bytes.to_string(), params.tcp_gamma.to_string());
        values.extend([("weight-s", weight), ("tcp-gamma", gamma)]);
    }
    values
}

/// \[b/s\] The data rate that a key gives.
fn rate(values: &dyn Values, key: &'static str) -> Result<u64, SpecError> {
    let word = values.word(key);
    parse_rate(word).ok_or_else(|| {
        let what = phrase![[key], " takes a data rate, not `{word}`"];
        let remedy = phrase![values.write(key, "10Gb/s"), " (b/s, kb/s, Mb/s, Gb/s, Tb/s)"];
        SpecError::new(ErrorKind::Malformed, what, remedy).of(key).given(word)
    })
}

/// Which messages of a node are in the network, where users say nothing: the simulators that share by round trips, or
/// divide each link by itself, have no order of messages.
const fn usual_connections(fairness: Fairness) -> Connections {
    match fairness {
        Fairness::MaxMin => Connections::PerDestination,
        Fairness::RoundTrip | Fairness::Split => Connections::AtOnce,
    }
}

/// The links over which a node of a direct network sends at a time: its injectors, or all where those are usual.
fn links_of_node(values: &dyn Values, topology: &dyn Topology) -> Result<u64, SpecError> {
    if values.is_set("injectors") {
        let count = values.integer("injectors")?;
        let most = topology.shape().ports() as u64;
        return if (1..=most).contains(&count) {
            Ok(count)
        } else {
            Err(SpecError::out_of_range("injectors", count, 1..=most))
        };
    }
    let has_all = topology.switched().is_none() && topology.usual().interface == Interface::PerPort;
    Ok(if has_all { topology.shape().ports() as u64 } else { 1 })
}

/// \[ps\] The delays of links that are given by class: one for all, or one for each class. Empty if none is given.
fn link_delays(values: &dyn Values, topology: &dyn Topology) -> Result<Vec<u64>, SpecError> {
    if !values.is_set("link-delay") {
        return Ok(Vec::new());
    }
    if values.is_insisted("propagation") {
        let what = phrase![["link-delay"], " and ", ["propagation"], " both say how long a link takes"];
        return Err(SpecError::new(ErrorKind::Conflict, what, "leave out one of them").of("link-delay"));
    }
    let word = values.word("link-delay");
    let delays: Option<Vec<u64>> = word.split(':').map(trgen::units::parse_span).collect();
    let delays = delays.ok_or_else(|| {
        let what = phrase![["link-delay"], " takes times in this model, not `{word}`"];
        let remedy = phrase!["write ", ["link-delay" => "100ns"], " (ps, ns, us, ms, s), or one for each class of links: ", [
            "link-delay" => "100ns:100ns:2us"
        ]];
        SpecError::new(ErrorKind::Malformed, what, remedy).of("link-delay")
    })?;
    let kinds = topology.link_classes();
    if delays.len() > 1 && delays.len() != kinds.len() {
        let has = match &*kinds {
            [] | [_] => "links of one kind".to_owned(),
            kinds => format!("{} kinds of links: {}", kinds.len(), kinds.join(", ")),
        };
        let what = phrase![["link-delay" => word], (": {} has {has}", topology.spec())];
        let remedy = if kinds.len() < 2 { "give one".to_owned() } else { format!("give one, or {}", kinds.len()) };
        return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("link-delay"));
    }
    match delays.iter().find(|&&delay| delay > MAX_TIME) {
        Some(&delay) => Err(SpecError::out_of_range("link-delay", delay, 0..=MAX_TIME)),
        None => Ok(delays),
    }
}

/// A number by a key, in millionths; `absent` if the key is not set.
fn millionths(values: &dyn Values, key: &'static str, absent: u64) -> Result<u64, SpecError> {
    if !values.is_set(key) {
        return Ok(absent);
    }
    let number = values.number(key)?;
    // Numbers out of range are refused with all others.
    Ok(if number < 0.0 { u64::MAX } else { (number * MILLION as f64).round() as u64 })
}

impl Spec {
    /// True if the routing permits one path for each pair of nodes.
    fn has_one_path(&self) -> bool {
        self.params.routing.row(&self.topology.spec()).is_some_and(|row| row.choice == Choice::One)
    }

    fn from_values(values: &dyn Values) -> Result<Self, SpecError> {
        let topology: Arc<dyn Topology> = values.topology(&LINKS)?.into();
        let failures = values.failures(&*topology)?;
        let base = preset(values.value("flow-preset").unwrap_or(""))?;
        let spec = topology.spec();
        let carried = carried();
        let routes = values.routes(&*topology)?;
        let may_serve = |carries: &&Carries| failures.is_empty() || !carries.row.serves.requires_intact_topology();
        let first = serving(&carried, &spec).find(may_serve).map_or("shortest", |carries| carries.row.component.name);
        let first = if routes.is_some() { rows::ROUTES.component.name } else { first };
        let link_rate = rate(values, "link-rate")?;
        let choices = [("maxmin", Fairness::MaxMin), ("rtt", Fairness::RoundTrip), ("split", Fairness::Split)];
        let mut params = Params {
            link_rate,
            propagation: values.span("propagation")?,
            link_delays: link_delays(values, &*topology)?,
            router_delay: values.span("hop-delay")?,
            node_rate: match values.is_set("node-rate") {
                true => rate(values, "node-rate")?,
                false => link_rate.saturating_mul(links_of_node(values, &*topology)?),
            },
            takes_stated: !values.is_set("routing"),
            routing: match values.is_set("routing") {
                true => values.parsed::<Name>("routing")?.served(&carried, &spec),
                false => first.parse()?,
            },
            routes,
            paths: values
                .choice("paths", &[("hash", Paths::Hash), ("adaptive", Paths::Adaptive), ("spray", Paths::Spray)])?,
            connections: Connections::PerDestination,
            fairness: if values.is_set("fairness") { values.choice("fairness", &choices)? } else { base.fairness },
            weight_bytes: values.integer_or("weight-s", base.weight_bytes)?,
            tcp_gamma: values.integer_or("tcp-gamma", base.tcp_gamma)?,
            latency_millionths: millionths(values, "latency-factor", base.latency_millionths)?,
            bandwidth_millionths: millionths(values, "bandwidth-factor", base.bandwidth_millionths)?,
            cross_millionths: millionths(values, "cross-traffic", base.cross_millionths)?,
            tick: values.span("tick")?,
            packet_bytes: values.integer("packet-bytes")?,
            header_bytes: values.integer("header-bytes")?,
            seed: values.integer("seed")?,
            failures,
        };
        params.connections = match values.is_set("interface") {
            true => values.parsed("interface")?,
            false => usual_connections(params.fairness),
        };
        let is_reference = values.choice("engine", &[("fast", false), ("reference", true)])?;
        let wiring = Arc::new(Wiring::new(&*topology, &params)?);
        Flows::new(&topology, &wiring, &params, is_reference)?;
        let preset = PRESETS.iter().find(|one| values.value("flow-preset") == Some(one.name)).map(|one| one.name);
        let at_first = params.failures.at_first(&topology);
        let has_node_rate = values.is_set("node-rate");
        Ok(Self { topology, at_first, wiring, params, is_reference, preset, has_node_rate })
    }

    /// True if a path can have a latency.
    fn has_latency(&self) -> bool {
        self.params.router_delay > 0 || self.wiring.delays.iter().any(|delay| delay > 0)
    }

    /// \[bytes/ps\] Payload that a link of `rate` b/s carries.
    fn payload_rate(&self, rate: u64) -> f64 {
        let Params { packet_bytes, header_bytes, bandwidth_millionths, .. } = self.params;
        let payload = f64::from(packet_bytes) / (f64::from(packet_bytes) + f64::from(header_bytes));
        payload * rate as f64 / 8e12 * bandwidth_millionths as f64 / MILLION as f64
    }
}

impl NetworkSpec for Spec {
    fn build(&self) -> Result<Box<dyn Network>, SpecError> {
        Ok(Box::new(Flows::new(&self.topology, &self.wiring, &self.params, self.is_reference)?))
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
        Some(&self.params.failures)
    }

    fn unreachable(&self) -> Option<SpecError> {
        self.params.failures.unreachable(&*self.topology)
    }

    fn warnings(&self) -> Vec<Phrase> {
        // In direct networks nodes have a rate of their own.
        let hosts = if self.topology.switched().is_some() { self.wiring.ports.hosts as u32 } else { 0 };
        let rates: Vec<u64> = (0..hosts).map(|host| self.wiring.rates.at(self.wiring.ports.host_port(host))).collect();
        let mut warnings: Vec<Phrase> = other_rates(&rates, self.params.link_rate, "of payload").into_iter().collect();
        warnings.extend(self.params.failures.warnings(&*self.topology));
        if let Some(name) = self.preset.filter(|_| self.params.fairness == Fairness::RoundTrip && !self.has_latency()) {
            warnings.push(phrase![
                ["flow-preset" => name],
                " shares links by round trips and delays messages by their latency, and no link has any: set ",
                ["propagation"]
            ]);
        }
        warnings
    }

    fn units(&self) -> Units {
        let capacity = self.payload_rate(self.params.link_rate);
        Units { phit_bytes: 1, packet_phits: self.params.packet_bytes, is_padded: false, capacity }
    }

    fn chooses_by_hash(&self) -> bool {
        self.params.paths == Paths::Hash || self.has_one_path()
    }

    fn rates(&self) -> Option<Rates> {
        let wiring = &self.wiring;
        let hosts = 0..wiring.ports.hosts;
        let of = |link: usize| self.payload_rate(wiring.rates.at(link));
        let visible = wiring.ports.links().iter().zip(wiring.rates.iter()).filter(|(link, _)| link.is_visible);
        let fastest = visible.map(|(_, rate)| rate).max()?;
        Some(Rates {
            link: self.payload_rate(fastest),
            injection: hosts.clone().map(|host| of(wiring.ports.host_port(host as u32))).collect(),
            ejection: hosts.map(|host| of(wiring.ports.home(host).1)).collect(),
            queued_phits: 0,
            is_serial: false,
        })
    }

    fn unloaded(&self, phits: f64) -> Unloaded {
        let is_whole = Arc::ptr_eq(&self.at_first, &self.topology);
        let wiring = if is_whole {
            Ok(Arc::clone(&self.wiring))
        } else {
            Wiring::new(&*self.at_first, &self.params).map(Arc::new)
        };
        let Ok(wiring) = wiring else { return Unloaded::shared(0) };
        let hop = |port: usize| {
            let router = if wiring.ports.links()[port].is_to_switch { self.params.router_delay } else { 0 };
            Some(wiring.delays.at(port).saturating_add(router))
        };
        let path =
            u128::from(Spans::of_wiring(&wiring.ports, hop).farthest()) * u128::from(self.params.latency_millionths);
        let slowest = wiring.rates.iter().min().unwrap_or(self.params.link_rate);
        let transfer = (phits / self.payload_rate(slowest)) as u64;
        let path = u64::try_from(path / u128::from(MILLION)).unwrap_or(u64::MAX);
        Unloaded::shared(path.saturating_add(transfer).saturating_add(self.params.tick))
    }

    fn cycle(&self) -> Option<(u64, u64)> {
        Some((1, 1))
    }

    fn settled(&self) -> Vec<(&'static str, String)> {
        let mut settled = shared_by(&self.params);
        // With `routing` written out, a rerun would take that routing and not the routes of the platform.
        if !stated_routes(&*self.topology, &self.params).is_ok_and(|routes| routes.is_some()) {
            settled.push(("routing", self.params.routing.name().to_owned()));
        }
        if self.topology.switched().is_none() {
            settled.push(match self.has_node_rate {
                true => ("node-rate", format!("{}b/s", self.params.node_rate)),
                false => ("injectors", (self.params.node_rate / self.params.link_rate).to_string()),
            });
        }
        settled
    }

    fn preset(&self) -> Option<(&'static str, Vec<&'static str>)> {
        let name = self.preset?;
        let given = preset(name).map_or_else(|_| Vec::new(), |params| shared_by(&params));
        let own = shared_by(&self.params);
        Some((name, given.into_iter().filter(|pair| own.contains(pair)).map(|(key, _)| key).collect()))
    }

    fn sends_end_at_arrival(&self) -> bool {
        true
    }

    fn unused(&self) -> Vec<(&'static str, Phrase)> {
        let mut unused = vec![("source", "in a network that takes every message at once".into())];
        if self.topology.switched().is_some() {
            let why =
                phrase!["with ", ["topology" => self.topology.spec()], ", where the links of nodes are the topology's"];
            unused.push(("node-rate", why.clone()));
            unused.push(("injectors", why));
        } else if self.has_node_rate {
            unused.push(("injectors", phrase!["with ", ["node-rate"], ", which says what a node sends"]));
        }
        if !self.has_latency() {
            unused.push(("latency-factor", "where no link and no router has a delay".into()));
        }
        if self.params.fairness != Fairness::RoundTrip {
            let why = || phrase!["without ", ["fairness" => "rtt"]];
            unused.extend([("weight-s", why()), ("tcp-gamma", why())]);
        }
        if self.has_one_path() {
            unused.push(("paths", phrase!["with ", ["routing" => self.params.routing.name()], ", which permits one"]));
        }
        unused
    }
}
