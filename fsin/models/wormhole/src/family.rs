//! The wormhole model as a member of the family of models: its settings, and what they mean.

use std::str::FromStr;
use std::sync::Arc;

use fsin_core::failures::Failures;
use fsin_core::family::{
    Discipline, Key, Kind, LinkRoom, ModelFamily, Need, NetworkSpec, PHITS_PER_NODE_CYCLE, Rates, Room, Units,
    Unloaded, Values, bandwidth_unused, narrow_links,
};
use fsin_core::network::Network;
use fsin_core::parallel;
use fsin_core::route::ChannelPolicy;
use fsin_core::topology::{Port, Spans, Switched, Topology};
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::{Geometry, NodeId};

use crate::components::{ALLOCATORS, HOLDS, PRESETS, VC_CLASSES, values as values_of};
use crate::params::MAX_BUFFER;
use crate::reference::Reference;
use crate::rules::batch::TRAVERSE_MODES;
use crate::rules::buffers::BUFFER_POLICIES;
use crate::rules::channels::{SOURCE_ORDERS, VcRanges};
use crate::rules::priority::PRIORITIES;
use crate::rules::routes::{carried, default_for, has_rings};
use crate::rules::wiring::LINKS;
use crate::{Hold, MAX_PORTS, Params, Routing, Speedup, check, fast};

/// The condition of settings of shared buffers.
const SHARED: &[Need] = &[Need::set("buffer-policy"), Need::not("buffer-policy", "private")];

#[rustfmt::skip]
const KEYS: &[Key] = &[
    Key::of_network("preset", "NAME", Kind::Word, None, "", "settings to begin with: default, or booksim (two stages, speculation, iSLIP)").naming(PRESETS),
    Key::of_network("buffer", "FLITS|BYTES", Kind::Integer, None, "flits or bytes", "wormhole: flits of each virtual channel of an input; that of the preset if absent, as for all of these. Ethernet: bytes of a switch that its ports share (32MB); a queue of frames for each port if absent"),
    Key::of_network("route-delay", "C", Kind::Integer, None, "cycles", "stage of route computation; 0 is lookahead routing"),
    Key::of_network("vc-alloc-delay", "C", Kind::Integer, None, "cycles", "stage of virtual channel allocation"),
    Key::of_network("switch-alloc-delay", "C", Kind::Integer, None, "cycles", "stage of switch allocation"),
    Key::of_network("traverse-delay", "C", Kind::Integer, None, "cycles", "stage of switch traversal"),
    Key::of_network("traverse-mode", "NAME", Kind::Word, None, "", "how route computation and switch traversal of more than one step take what comes: pipeline, batch; pipeline if absent").naming(TRAVERSE_MODES),
    Key::of_network("speculative", "true|false", Kind::Word, None, "", "heads ask for the switch together with a virtual channel"),
    Key::of_network("speedup", "S", Kind::Word, None, "", "steps of a router in a cycle of its links: 2, 1.5, 3/2"),
    Key::of_network("subnets", "N", Kind::Integer, None, "", "copies of the network, of which each packet draws one; a node has links to all of them and sends one packet after the other, by one thread; 1 if absent"),
    Key::of_network("input-speedup", "S", Kind::Integer, None, "", "inputs of the switch for each input port; channel v has input v modulo S; 1 if absent"),
    Key::of_network("output-speedup", "S", Kind::Integer, None, "", "outputs of the switch for each output port; input port i has output i modulo S, and flits queue for the link; 1 if absent"),
    Key::of_network("buffer-policy", "NAME", Kind::Word, None, "", "how the channels of an input share its buffer: private, shared, limited, dynamic, shifting; private if absent").naming(BUFFER_POLICIES),
    Key::of_network("shared-buffer", "FLITS", Kind::Integer, None, "flits", "buffer of an input, of all its channels, where they share it; {buffer} times {vcs} if absent").needing(SHARED),
    Key::of_network("private-buffers", "N", Kind::Integer, None, "", "groups of channels with places of their own in a shared buffer; one for each channel if absent").needing(SHARED),
    Key::of_network("private-buffer", "FLITS", Kind::Integer, None, "flits", "places of such a group; 1 if absent").needing(SHARED),
    Key::of_network("held-slots", "FLITS", Kind::Integer, None, "flits", "places that a channel holds at most; all if absent").needing(&[Need::value("buffer-policy", "limited")]),
    Key::of_network("credit-delay", "C", Kind::Integer, None, "cycles", "time until a credit counts, beyond the delay of the link"),
    Key::of_network("vc-allocator", "NAME", Kind::Word, None, "", "separable, islip:ITERATIONS, wavefront, oldest-first").naming(ALLOCATORS),
    Key::of_network("switch-allocator", "NAME", Kind::Word, None, "", "as for virtual channels").naming(ALLOCATORS),
    Key::of_network("priority", "NAME", Kind::Word, None, "", "requests that separable allocators and input ports prefer: none, class, age, network-age, local-age, queue-length, hop-count, sequence; none if absent").naming(PRIORITIES),
    Key::of_network("class-priority", "N:N:...", Kind::Word, None, "", "by class of messages: its priority; 0 if absent").needing(&[Need::value("priority", "class")]),
    Key::of_network("switch-hold", "packet|flit", Kind::Word, None, "", "how long a connection through the switch lasts").naming(HOLDS),
    Key::of_network("output-queue", "FLITS", Kind::Integer, None, "flits", "room of an output's queue; unbounded if absent"),
    Key::of_network("vc-classes", "NAME", Kind::Word, None, "", "of rings: per-dimension, dateline, balanced").naming(VC_CLASSES),
    Key::of_network("message-classes", "N", Kind::Integer, None, "", "sets of virtual channels, of equal size, that messages and reactions (class 1) do not share; 1 if absent"),
    Key::of_network("vc-range", "CLASS=A-B:...", Kind::Word, None, "", "channels A to B of a class of messages, by its number, or as read-request, read-reply, write-request, write-reply; apart: an equal part for each class; together: all for all; apart if absent"),
    Key::of_network("source-order", "NAME", Kind::Word, None, "", "how classes of messages take turns at their source: in-turn, replies-first; in-turn if absent").naming(SOURCE_ORDERS),
    Key::of_network("wait-for-tail-credit", "true|false", Kind::Word, None, "", "a virtual channel is free again when all its credits are back, not when the tail has left"),
    Key::of_network("vc-busy-when-full", "true|false", Kind::Word, None, "", "a virtual channel without a credit is not allocated"),
    Key::of_network("routes", "FILE", Kind::Path, None, "", "paths and virtual channels of all packets instead, .csv or .csv.gz: current,destination,next[,vc][,source] or source,destination,path[,vcs]; fsin routes"),
    Key::of_network("unsafe-routing", "true|false", Kind::Word, None, "", "runs what is not free of deadlock as well"),
];

/// The row of this model in the table of models.
pub static WORMHOLE: ModelFamily = ModelFamily {
    component: Component {
        name: "wormhole",
        about: "input-queued routers with virtual channels, credits and pipelines, flit by flit; a phit is a flit",
        parameters: &[],
        source: "Dally, Towles, Principles and Practices of Interconnection Networks, 2004; Jiang et al., BookSim 2, \
                 ISPASS 2013",
    },
    discipline: Discipline {
        order: "messages of a pair enter one after another; packets pass each other only where routings or channels give them a choice",
        sharing: "links, flit by flit among channels in turn; a packet keeps its channel until its tail has passed",
        busy: "a node with one message at a time (more by {interface}); a send ends when the last flit has left the node",
    },
    aliases: &[],
    keys: KEYS,
    shared: &[
        "topology",
        "ways",
        "fail",
        "vcs",
        "routing",
        "interface",
        "consumption",
        "packet",
        "phit-bytes",
        "link-delay",
        "bandwidth",
        "watchdog",
        "engine",
        "threads",
        "link-loads",
    ],
    defaults: &[("vcs", "2"), ("link-delay", "1"), ("consumption", "single")],
    short: &[],
    load_unit: PHITS_PER_NODE_CYCLE,
    routings: || fsin_core::route::listed(&carried()),
    parse: |values| Ok(Arc::new(Spec::from_values(values)?)),
};

/// Checked settings.
#[derive(Debug)]
struct Spec {
    /// The network in which a run begins: with the links that are dead at times.
    topology: Arc<dyn Topology>,
    /// The network without the links that are dead at the start.
    at_first: Arc<dyn Topology>,
    params: Params,
    /// True if the reference engine simulates the network, false for the fast engine.
    is_reference: bool,
    threads: usize,
    /// The preset that is named.
    preset: Option<&'static str>,
    /// True if a dimension is a ring.
    has_rings: bool,
}

impl Spec {
    fn from_values(values: &dyn Values) -> Result<Self, SpecError> {
        let (topology, timetable) = values.timetable(values.topology_in_cycles(&LINKS)?.into(), false, false)?;
        let base =
            Params::preset(values.value("preset").unwrap_or("default")).map_err(|refusal| refusal.of("preset"))?;
        let routes = values.routes(&*topology)?;
        let default = if routes.is_some() { Routing::ROUTES } else { default_for(&*topology) };
        let params = Params {
            interface: match values.is_set("interface") {
                true => values.parsed("interface")?,
                false => topology.usual().interface,
            },
            ejection_ports: match values.value("consumption").map(str::parse) {
                Some(Ok(ports)) if (1..=MAX_PORTS).contains(&ports) => ports,
                Some(Ok(ports)) => {
                    return Err(SpecError::out_of_range("consumption", ports as u64, 1..=MAX_PORTS as u64));
                }
                _ => values.choice("consumption", &[("multiple", 0), ("single", 1)])?,
            },
            flit_bytes: values.integer("phit-bytes")?,
            packet_flits: values.integer("packet")?,
            vcs: values.integer_or("vcs", base.vcs)?,
            message_classes: values.integer_or("message-classes", base.message_classes)?,
            vc_ranges: parsed_or(values, "vc-range", base.vc_ranges.clone())?,
            source_order: parsed_or(values, "source-order", base.source_order)?,
            buffer: values.integer_or("buffer", base.buffer)?,
            buffer_policy: parsed_or(values, "buffer-policy", base.buffer_policy)?,
            shared_buffer: optional(values, "shared-buffer")?,
            private_buffers: optional(values, "private-buffers")?,
            private_buffer: values.integer_or("private-buffer", base.private_buffer)?,
            held_slots: optional(values, "held-slots")?,
            route_delay: values.integer_or("route-delay", base.route_delay)?,
            vc_alloc_delay: values.integer_or("vc-alloc-delay", base.vc_alloc_delay)?,
            switch_alloc_delay: values.integer_or("switch-alloc-delay", base.switch_alloc_delay)?,
            traverse_delay: values.integer_or("traverse-delay", base.traverse_delay)?,
            traverse_mode: parsed_or(values, "traverse-mode", base.traverse_mode)?,
            speculative: truth_or(values, "speculative", base.speculative)?,
            speedup: parsed_or(values, "speedup", base.speedup)?,
            subnets: values.integer_or("subnets", base.subnets)?,
            input_speedup: values.integer_or("input-speedup", base.input_speedup)?,
            output_speedup: values.integer_or("output-speedup", base.output_speedup)?,
            link_delay: values.integer_or("link-delay", base.link_delay)?,
            credit_delay: values.integer_or("credit-delay", base.credit_delay)?,
            vc_allocator: parsed_or(values, "vc-allocator", base.vc_allocator)?,
            switch_allocator: parsed_or(values, "switch-allocator", base.switch_allocator)?,
            priority: parsed_or(values, "priority", base.priority)?,
            class_priorities: class_priorities(values)?,
            hold: match values.is_set("switch-hold") {
                true => values.choice("switch-hold", &[("packet", Hold::Packet), ("flit", Hold::Flit)])?,
                false => base.hold,
            },
            output_queue: match values.is_set("output-queue") {
                true => Some(values.integer("output-queue")?),
                false => base.output_queue,
            },
            vc_classes: parsed_or(values, "vc-classes", base.vc_classes)?,
            wait_for_tail_credit: truth_or(values, "wait-for-tail-credit", base.wait_for_tail_credit)?,
            vc_busy_when_full: truth_or(values, "vc-busy-when-full", base.vc_busy_when_full)?,
            routing: parsed_or(values, "routing", default)?.served(&carried(), &topology.spec()),
            routes,
            unsafe_routing: truth_or(values, "unsafe-routing", base.unsafe_routing)?,
            timetable,
            seed: values.integer("seed")?,
            watchdog_cycles: values.integer("watchdog")?,
        };
        check(&*topology, &params).map_err(|error| values.because_of_failures(refusal(values, error)))?;
        let is_reference = values.choice("engine", &[("fast", false), ("reference", true)])?;
        let threads = parallel::threads(values, is_reference)?;
        let named = |one: &&Component| values.value("preset") == Some(one.name);
        let preset = PRESETS.iter().find(named).map(|one| one.name);
        let has_rings = has_rings(&*topology);
        let at_first = Arc::clone(params.timetable.at_first().unwrap_or(&topology));
        Ok(Self { topology, at_first, params, is_reference, threads, preset, has_rings })
    }
}

impl Spec {
    /// True if all channels of a ring are divided into classes.
    fn divides_rings(&self) -> bool {
        let row = self.params.routing.row(&self.topology.spec());
        row.is_some_and(|row| row.policy == ChannelPolicy::Dateline)
    }
}

/// The error for a network that cannot be built, at the first setting it names that is set. A cycle of channels is an
/// error of the routing.
fn refusal(values: &dyn Values, refusal: SpecError) -> SpecError {
    let key = refusal.setting().or_else(|| refusal.settings().find(|key| values.is_set(key)));
    refusal.of(key.unwrap_or("routing"))
}

/// The value of a key; `absent` if the key is not set.
fn parsed_or<T: FromStr<Err = SpecError>>(values: &dyn Values, key: &'static str, absent: T) -> Result<T, SpecError> {
    if values.is_set(key) { values.parsed(key) } else { Ok(absent) }
}

/// The priorities of classes of messages.
fn class_priorities(values: &dyn Values) -> Result<Vec<i64>, SpecError> {
    let Some(list) = values.value("class-priority").filter(|_| values.is_set("class-priority")) else {
        return Ok(Vec::new());
    };
    let number = |word: &str| word.trim().parse::<i32>().ok().map(i64::from);
    list.split(':').map(number).collect::<Option<Vec<_>>>().filter(|list| list.len() <= 256).ok_or_else(|| {
        let what = format!("`{}` is no list of whole numbers, one for each class", list.escape_debug());
        SpecError::new(ErrorKind::Malformed, what, "write the numbers of class 0, class 1 and so on: 0:1")
            .of("class-priority")
    })
}

/// A whole number by a key; `None` if the key is not set.
fn optional<T: FromStr>(values: &dyn Values, key: &'static str) -> Result<Option<T>, SpecError> {
    if values.is_set(key) { values.integer(key).map(Some) } else { Ok(None) }
}

/// True or false by a key; `absent` if the key is not set.
fn truth_or(values: &dyn Values, key: &'static str, absent: bool) -> Result<bool, SpecError> {
    if values.is_set(key) { values.switch(key) } else { Ok(absent) }
}

impl Spec {
    /// \[cycles\] What a packet alone waits for credits on its way, if it is longer than a buffer: on the link with the
    /// longest round trip, once for each buffer that it fills.
    fn waits_for_credits(&self, phits: f64) -> u64 {
        let buffer = u64::from(self.params.buffer).max(1);
        let filled = ((phits.max(1.0) as u64).min(self.params.packet_flits.into()) - 1) / buffer;
        if filled == 0 {
            return 0;
        }
        let ports = 0..self.topology.shape().ports();
        let links = (0..self.topology.nodes()).flat_map(|node| ports.clone().map(move |port| (node, port)));
        let rooms = links.filter_map(|(node, port)| self.link_room(NodeId::at(node), Port::at(port)));
        filled * rooms.map(|room| room.cycles.saturating_sub(buffer)).max().unwrap_or(0)
    }
}

impl NetworkSpec for Spec {
    fn build(&self) -> Result<Box<dyn Network>, SpecError> {
        let (topology, params) = (&*self.topology, self.params.clone());
        match self.is_reference {
            true => Ok(Box::new(Reference::new(topology, params)?)),
            false => Ok(fast::build(topology, params, self.threads)?),
        }
    }

    fn carries_to_itself(&self) -> bool {
        true
    }

    fn counts_events(&self) -> bool {
        true
    }

    fn nodes_refuse(&self) -> bool {
        true
    }

    fn geometry(&self) -> &Geometry {
        self.topology.geometry()
    }

    fn topology(&self) -> Option<&Arc<dyn Topology>> {
        Some(&self.at_first)
    }

    fn failures(&self) -> Option<&Failures> {
        Some(self.params.timetable.failures())
    }

    fn link_room(&self, node: NodeId, port: Port) -> Option<LinkRoom> {
        let (params, topology) = (&self.params, &*self.topology);
        let is_end = |node: NodeId| topology.switched().is_some() && node.index() < topology.endpoints();
        // Endpoints take flits as they come.
        topology.neighbour(node, port).filter(|&there| !is_end(there))?;
        let crossing = topology.switched().map_or(1, |network| network.pace(node, port).crossing());
        let one_way = params.link_delay + topology.wire(node, port) + crossing;
        // At a source credits count at once.
        let credit = if is_end(node) { 0 } else { params.credit_delay };
        let channels = params.vcs as u64;
        let phits = u64::from(params.port_buffer());
        let cycles = u64::from(2 * one_way + credit);
        Some(LinkRoom { phits, cycles, step: channels, channels, most: MAX_BUFFER.into() })
    }

    fn warnings(&self) -> Vec<Phrase> {
        let mut warnings = self.params.timetable.failures().warnings(&*self.topology);
        warnings.extend(narrow_links(self, &*self.topology, "buffer"));
        warnings
    }

    fn units(&self) -> Units {
        Units {
            phit_bytes: self.params.flit_bytes,
            packet_phits: self.params.packet_flits,
            is_padded: false,
            capacity: 1.0,
        }
    }

    fn unloaded(&self, phits: f64) -> Unloaded {
        let topology = &*self.at_first;
        let network = topology.switched();
        let router = self.params.zero_load_latency(1, 1);
        let hop = |node, port| {
            let crossing = network.map_or(1, |network| network.pace(node, port).crossing());
            let link = self.params.link_delay + topology.wire(node, port) + crossing - 1;
            Some(router + u64::from(link))
        };
        let slowest = network.map_or(1, |network| network.longest_crossing());
        let flits = (phits.max(1.0) * f64::from(slowest)) as u64;
        Unloaded::shared(router + Spans::of(topology, hop).farthest() + flits + self.waits_for_credits(phits))
    }

    fn rates(&self) -> Option<Rates> {
        let nodes = self.topology.endpoints();
        let (mut injection, mut ejection) = (1.0, 1.0);
        if self.topology.switched().is_none() {
            let links = self.topology.shape().ports();
            injection = self.params.interface.lanes(links) as f64;
            ejection = self.params.ejections(links) as f64;
        }
        let copies = self.params.subnets as f64;
        ejection *= copies;
        let rates = Rates {
            link: copies,
            injection: vec![injection; nodes],
            ejection: vec![ejection; nodes],
            queued_phits: 0,
            is_serial: false,
        };
        Some(rates.paced(&*self.topology))
    }

    fn cycle(&self) -> Option<(u64, u64)> {
        self.topology.switched()?.cycle()
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn room(&self) -> Option<Room> {
        let flits = self.params.port_buffer();
        Some(Room { transit_phits: flits, injection_phits: flits })
    }

    /// All values, so that nothing that determines a result stands behind the name of a preset.
    fn settled(&self) -> Vec<(&'static str, String)> {
        let routing = ("routing", self.params.routing.name().to_owned());
        let interface = ("interface", self.params.interface.to_string());
        values_of(&self.params).into_iter().chain([routing, interface]).collect()
    }

    fn preset(&self) -> Option<(&'static str, Vec<&'static str>)> {
        let name = self.preset?;
        let given = Params::preset(name).ok().map_or_else(Vec::new, |params| values_of(&params));
        let own = values_of(&self.params);
        Some((name, given.into_iter().filter(|pair| own.contains(pair)).map(|(key, _)| key).collect()))
    }

    fn unused(&self) -> Vec<(&'static str, Phrase)> {
        let mut unused: Vec<_> = bandwidth_unused(&*self.topology).into_iter().collect();
        if self.params.speedup == Speedup::ONE && !self.topology.switched().is_some_and(Switched::is_paced) {
            let why =
                phrase!["with ", ["speedup" => 1], ", where an output never takes more flits than its link sends"];
            unused.push(("output-queue", why));
        }
        if self.params.route_delay <= 1 && self.params.traverse_delay <= 1 {
            unused.push(("traverse-mode", phrase!["with stages of one step, which both modes take alike"]));
        }
        if self.params.shares_buffers() && self.params.shared_buffer.is_some() {
            unused.push(("buffer", phrase!["with ", ["shared-buffer"], ", which says how large a buffer is"]));
        }
        if self.params.message_classes == 1 {
            for key in ["vc-range", "source-order"] {
                let why = phrase!["with ", ["message-classes" => 1], ": a single class has nothing to share"];
                if key != "vc-range" || !matches!(self.params.vc_ranges, VcRanges::Given(_)) {
                    unused.push((key, why));
                }
            }
        }
        if !self.has_rings {
            let why = phrase!["with ", ["topology" => self.topology.spec()], ", which has no rings"];
            unused.push(("vc-classes", why));
        } else if self.params.vcs_of_class() == 1 {
            let vcs = self.params.vcs;
            unused.push(("vc-classes", phrase!["with ", ["vcs" => vcs], ", which cannot be divided"]));
        } else if !self.divides_rings() && self.params.vcs_of_class() > 2 {
            // Two channels leave none that is adaptive: all packets then go in dimension order.
            let routing = self.params.routing.name();
            unused.push((
                "vc-classes",
                phrase!["with ", ["routing" => routing], ", which has channels of its own on rings"],
            ));
        }
        unused
    }
}
