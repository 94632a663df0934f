//! Network models as members of a family.
//!
//! A model is a row, [`ModelFamily`]: its name, its settings, and a function from their values to a [`NetworkSpec`],
//! which is checked and from which networks are built. What is above the models knows no other way to a network, so
//! that a new one is a file with a row, and the row in a table.
//!
//! Decision: docs/decisions/0127-network-models-are-rows.md.

mod carried;
mod keys;
mod values;

use std::fmt;
use std::sync::Arc;

use trgen::catalog::{Component, Described, ErrorKind, SpecError};
use trgen::phrase::Phrase;
use trgen::units::Decimal;
use trgen::{Geometry, Message, NodeId, phrase};

use crate::capture::{Capture, Place};
use crate::failures::Failures;
use crate::network::Network;
use crate::topology::{Capacities, DeadLink, Port, Topology, node_name};

pub use crate::topology::Ends;

pub use carried::{Carried, topologies_with};
pub use keys::{Heading, Is, Key, Kind, NamedTable, Need};
pub use values::Values;

/// A function from the values of settings to a checked specification.
pub type Parse = fn(&dyn Values) -> Result<Arc<dyn NetworkSpec>, SpecError>;

/// \[cycles\] The ideal time of a message by a formula; `None` for one that has no route.
pub type IdealTime = Box<dyn FnMut(&Message) -> Option<u64>>;

/// The unit of load of most models: phits that a node sends in a cycle.
pub const PHITS_PER_NODE_CYCLE: &str = "phits/node/cycle";

/// What is in order in a network model, what shares, and who is busy until when. Texts of one line, in the words of
/// components; tests measure each of them (`tests/tests/networks/disciplines.rs`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Discipline {
    /// Which messages of a pair of nodes arrive in the order in which they are sent.
    pub order: &'static str,
    /// What divides the capacity of links among messages.
    pub sharing: &'static str,
    /// How long the sending node is busy with a message: when its send ends.
    pub busy: &'static str,
}

impl Discipline {
    /// The three texts with their names.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, &'static str); 3] {
        [("in order", self.order), ("shares", self.sharing), ("busy", self.busy)]
    }
}

/// A row in the table of network models.
#[derive(Clone, Copy, Debug)]
pub struct ModelFamily {
    /// The model's name, a definition in one line, and its origin.
    pub component: Component,
    /// What is in order, what shares, and who is busy until when.
    pub discipline: Discipline,
    /// Other names of the model.
    pub aliases: &'static [&'static str],
    /// The model's own settings. Each is a flag, a key of experiment files and a parameter of the model's name.
    pub keys: &'static [Key],
    /// Settings declared elsewhere that the model understands as well.
    pub shared: &'static [&'static str],
    /// Defaults of this model that differ from those of the keys: key and value.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Short names of settings in a parameter list: name and key.
    pub short: &'static [(&'static str, &'static str)],
    /// The unit of offered load and of loads in results, as texts and axes show it: a run knows it from here only.
    pub load_unit: &'static str,
    /// The routings that a value of `routing` can name; none of a model without that setting.
    pub routings: fn() -> Vec<Carried>,
    /// Checks settings.
    ///
    /// # Errors
    /// The setting that cannot be used. An error without a setting is about the model as a whole.
    pub parse: Parse,
}

impl Described for ModelFamily {
    fn component(&self) -> &Component {
        &self.component
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }
}

impl ModelFamily {
    /// True if the model understands this setting.
    #[must_use]
    pub fn understands(&self, key: &str) -> bool {
        self.names().any(|name| name == key)
    }

    /// The names of all settings that the model understands, its own first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name).chain(self.shared.iter().copied())
    }

    /// The model's own default of a setting; `None` if it has none.
    #[must_use]
    pub fn default_of(&self, key: &str) -> Option<&'static str> {
        self.defaults.iter().find(|(name, _)| *name == key).map(|&(_, value)| value)
    }
}

/// Units in which a network counts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Units {
    /// \[bytes\] Payload of a phit, the unit of load and length.
    pub phit_bytes: u32,
    /// \[phits\] Length of the longest packet.
    pub packet_phits: u32,
    /// True if every packet has that length; else the last one of a message has what is left.
    pub is_padded: bool,
    /// \[phits/cycle\] Rate at which a node can send: load 1.
    pub capacity: f64,
}

impl Units {
    /// Number of packets that a message of this many bytes is cut into; a message of 0 bytes is one packet.
    #[must_use]
    pub fn packets_of(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.packet_bytes()).max(1)
    }

    /// \[bytes\] Payload of the longest packet.
    #[must_use]
    pub fn packet_bytes(&self) -> u64 {
        u64::from(self.packet_phits) * u64::from(self.phit_bytes)
    }
}

/// The warning that loads count in the rate of all links, `usual` \[b/s\], where the links of hosts have other `rates`.
#[must_use]
pub fn other_rates(rates: &[u64], usual: u64, of_what: &str) -> Option<Phrase> {
    let others: Vec<u64> = rates.iter().copied().filter(|&rate| rate != usual).collect();
    let (least, most) = (others.iter().min()?, others.iter().max()?);
    let range = if least == most { format!("rate {least}b/s") } else { format!("rates {least}b/s to {most}b/s") };
    Some(phrase![
        "load 1 is what ",
        ["link-rate" => format!("{usual}b/s")],
        (
            " carries {of_what}, but the links of {} of {} hosts have {range}",
            others.len(),
            rates.len()
        )
    ])
}

/// Room of a router's queues, for displays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// \[phits\] Room of the transit queues of a port.
    pub transit_phits: u32,
    /// \[phits\] Room of the injection queues of a node.
    pub injection_phits: u32,
}

/// The room behind a link, and how long a place in it is taken at least: a link carries at most one by the other,
/// however fast it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkRoom {
    /// \[phits\] Room of all channels behind the link together.
    pub phits: u64,
    /// \[cycles\] Round trip: from the departure of a phit to the first cycle in which its place can be used again.
    pub cycles: u64,
    /// \[phits\] Room by one step of the setting that determines it, in all channels together.
    pub step: u64,
    /// Number of channels.
    pub channels: u64,
    /// Greatest value of that setting.
    pub most: u64,
}

impl LinkRoom {
    /// \[phits/cycle\] What the link carries at most.
    #[must_use]
    pub fn rate(self) -> f64 {
        self.phits as f64 / self.cycles.max(1) as f64
    }
}

/// Links of a network that are looked at for their room.
const MOST_ROOMS: usize = 1 << 20;

/// A warning about the link that carries least of its rate because of the room behind it, if there is one; `setting` is
/// what determines that room.
#[must_use]
pub fn narrow_links(spec: &dyn NetworkSpec, topology: &dyn Topology, setting: &'static str) -> Option<Phrase> {
    let links = (0..topology.nodes().min(MOST_ROOMS / topology.shape().ports().max(1) + 1))
        .map(NodeId::at)
        .flat_map(|node| topology.ports_of(node).map(move |port| (node, port)));
    let rate = |node, port| topology.switched().map_or(1.0, |network| network.pace(node, port).rate());
    let narrow = links.filter_map(|(node, port)| {
        let (room, rate) = (spec.link_room(node, port)?, rate(node, port));
        (room.rate() < rate).then_some((node, port, room, rate))
    });
    let mut count = 0;
    let least = narrow
        .inspect(|_| count += 1)
        .reduce(|least, one| if one.2.rate() / one.3 < least.2.rate() / least.3 { one } else { least })?;
    let (node, port, room, rate) = least;
    let there = topology.neighbour(node, port)?;
    let enough = |step: u64| (room.cycles as f64 * rate / step.max(1) as f64).ceil() as u64 + 1;
    let (all, one) = (enough(room.step), enough(room.step / room.channels.max(1)));
    // \[%\] Share of the rate that the greatest room allows, rounded down, since it is not enough.
    let at_most = |step: u64| {
        let share = room.most.saturating_mul(step) as f64 / room.cycles as f64 / rate;
        (1000.0 * share).floor().min(999.0) / 10.0
    };
    let remedy = match (all <= room.most, one <= room.most) {
        (true, true) => phrase![
            [setting => all],
            " is enough where packets use all channels, ",
            [setting => one],
            " in one channel alone"
        ],
        (true, false) => phrase![
            [setting => all],
            (
                " is enough where packets use all channels; one channel alone allows {:.1} % of it with ",
                at_most(room.step / room.channels.max(1))
            ),
            [setting => room.most],
            ", the most"
        ],
        (false, _) => phrase![
            ("no {setting} is long enough: "),
            [setting => room.most],
            (", the most, allows {:.1} % of it where packets use all channels", at_most(room.step))
        ],
    };
    let others = match count {
        1 => String::new(),
        2 => ", and another link less than its rate".to_owned(),
        _ => format!(", and {} other links less than their rates", count - 1),
    };
    Some(phrase![
        (
            "the link from {} to {} carries at most {:.4} phits a cycle, {:.1} % of its rate{others}: the room behind it is {} \
             phits, and its round trip {} cycles; ",
            node_name(topology, node),
            node_name(topology, there),
            room.rate(),
            100.0 * room.rate() / rate,
            room.phits,
            room.cycles
        ),
        remedy
    ])
}

/// Greatest rates at which nodes and links move the payload of messages.
#[derive(Clone, PartialEq, Debug)]
pub struct Rates {
    /// \[phits/cycle\] Rate of the fastest link.
    pub link: f64,
    /// \[phits/cycle\] By node that sends: rate at which packets leave its interface, whatever its links.
    pub injection: Vec<f64>,
    /// \[phits/cycle\] By node that receives: rate at which it consumes packets; infinite if as they arrive.
    pub ejection: Vec<f64>,
    /// \[phits\] How much of a message can still be in queues of its node when its send ends.
    pub queued_phits: u64,
    /// True if the interface sends one message after another.
    pub is_serial: bool,
}

impl Rates {
    /// These rates where links of endpoints may pass less than a phit in each cycle.
    #[must_use]
    pub fn paced(mut self, topology: &dyn Topology) -> Self {
        let Some(network) = topology.switched().filter(|network| network.is_paced()) else { return self };
        for (host, (sent, received)) in self.injection.iter_mut().zip(&mut self.ejection).enumerate() {
            let host = NodeId::at(host);
            let (switch, port) = network.fabric().home(host);
            *sent = sent.min(network.pace(host, network.fabric().port(host, 0)).rate());
            *received = received.min(network.pace(switch, port).rate());
        }
        self
    }
}

/// The reason for which `bandwidth` determines nothing in a model that counts cycles, if it is so: the length of a
/// cycle follows from the rates of links.
#[must_use]
pub fn bandwidth_unused(topology: &dyn Topology) -> Option<(&'static str, Phrase)> {
    let network = topology.switched()?;
    (network.cycle().is_some() && !network.needs_bandwidth()).then(|| {
        ("bandwidth", phrase!["with ", ["topology" => topology.spec()], ", whose links have rates of their own"])
    })
}

/// What each link carries, by its rate and the [room](LinkRoom) behind it.
#[must_use]
pub fn capacities(spec: &dyn NetworkSpec, topology: &dyn Topology) -> Capacities {
    Capacities::limited(topology, |node, port| spec.link_room(node, port).map_or(f64::INFINITY, LinkRoom::rate))
}

/// A wire of the LogGOPS model, which is no network. Hosts that execute a graph compute arrivals from its numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wire {
    /// \[ns\] L: time from the end of a send to the arrival.
    pub latency: u64,
    /// \[ns/byte\] G: time of a byte on the wire.
    pub gap_per_byte: Decimal,
}

/// What is known of a network before anything has been measured: what a verdict must not take for a backlog, and how
/// long runs must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unloaded {
    /// \[cycles\] Latency of a message without load, between the endpoints that are farthest apart.
    pub latency: u64,
    /// \[cycles\] Time after which what is in a network that began empty no longer grows by what is on its way: the
    /// latency, that of a detour, and the time in which windows of senders open.
    pub settles: u64,
    /// False if the network carries any load: nothing in it is shared.
    pub is_limited: bool,
}

impl Unloaded {
    /// A network of which packets take this time \[cycles\], or twice as long by a detour. Its links are shared.
    #[must_use]
    pub const fn shared(latency: u64) -> Self {
        Self { latency, settles: latency.saturating_mul(2), is_limited: true }
    }

    /// A network whose messages all take this time \[cycles\], whatever the load.
    #[must_use]
    pub const fn unlimited(latency: u64) -> Self {
        Self { latency, settles: latency, is_limited: false }
    }
}

/// A network between live guests.
pub struct ForGuests {
    /// The network.
    pub network: Box<dyn Network>,
    /// \[cycles\] The least time after which an injection can change a delivery.
    pub response: u64,
}

/// Settings of a network model that have passed their check.
pub trait NetworkSpec: fmt::Debug + Send + Sync {
    /// Builds the network; every call builds the same one.
    ///
    /// # Errors
    /// What cannot be built after all: it is too large, or the model carries no single messages.
    fn build(&self) -> Result<Box<dyn Network>, SpecError>;

    /// Builds the network so that `observer` sees what passes at these places.
    ///
    /// # Errors
    /// As [`build`](Self::build); a place that the network does not have; a model whose packets have no form on the
    /// wire.
    fn captured(&self, _places: &[Place], _observer: Box<dyn Capture>) -> Result<Box<dyn Network>, SpecError> {
        let what = "packets of this network model have no form on a wire, and cannot be captured";
        Err(SpecError::new(ErrorKind::Unsupported, what, "leave it out, or use a model with frames, such as ethernet"))
    }

    /// Builds the network for live guests. A model that knows the arrival of a message at its injection may report it
    /// at once.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    fn for_guests(&self) -> Result<ForGuests, SpecError> {
        Ok(ForGuests { network: self.build()?, response: 1 })
    }

    /// \[cycles\] The time that every message between two nodes takes, where that is known before it is sent.
    fn delay(&self) -> Option<u64> {
        None
    }

    /// Shape of the nodes that send and receive.
    fn geometry(&self) -> &Geometry;

    /// The topology, where the model has one.
    fn topology(&self) -> Option<&Arc<dyn Topology>> {
        None
    }

    /// Links that the network blocks, such as those that a spanning tree cuts; `None` where it blocks none by design.
    fn blocked_links(&self) -> Option<Vec<Ends>> {
        None
    }

    /// Links that are dead.
    fn dead_links(&self) -> Vec<DeadLink> {
        self.topology().map_or_else(Vec::new, |topology| topology.dead_links())
    }

    /// When links fail and are repaired, in a model that takes such times.
    fn failures(&self) -> Option<&Failures> {
        None
    }

    /// Units in which it counts.
    fn units(&self) -> Units;

    /// True if a message alone in the network always takes the same time, and no message takes less: paths have one
    /// length, links make no errors, and switches learn nothing.
    fn has_one_time_alone(&self) -> bool {
        false
    }

    /// What is known of the network before a run in which messages have a mean length of `phits`.
    fn unloaded(&self, phits: f64) -> Unloaded;

    /// \[ps\] Length of a cycle as numerator and denominator; `None` if a cycle is the time of a phit on a link, whose
    /// rate is a setting of the run.
    fn cycle(&self) -> Option<(u64, u64)> {
        None
    }

    /// The wire, where the model is one and no network.
    fn wire(&self) -> Option<Wire> {
        None
    }

    /// What its nodes and links can move, which bounds the completion of programs; `None` for a network without links.
    fn rates(&self) -> Option<Rates> {
        None
    }

    /// True if one of several paths of a message is taken by a hash, so that some links may carry much more than
    /// others.
    fn chooses_by_hash(&self) -> bool {
        false
    }

    /// True if the packets that links count carry payload alone, and none are acknowledgements.
    fn packets_are_payload(&self) -> bool {
        true
    }

    /// The room behind a link, where that limits what the link carries; `None` in models in which it does not.
    fn link_room(&self, _node: NodeId, _port: Port) -> Option<LinkRoom> {
        None
    }

    /// True if it carries messages of a node to itself.
    fn carries_to_itself(&self) -> bool {
        false
    }

    /// True if nodes can [refuse](Network::let_refuse) messages.
    fn nodes_refuse(&self) -> bool {
        false
    }

    /// True if a message is complete when its source knows that it has arrived, and not when it arrives.
    fn completes_when_acknowledged(&self) -> bool {
        false
    }

    /// \[cycles\] The time of a message by the formula of HPCC, between any two nodes; `None` in a model or with
    /// settings to which that does not apply.
    fn hpcc_ideal(&self) -> Option<IdealTime> {
        None
    }

    /// Number of threads that a run occupies.
    fn threads(&self) -> usize {
        1
    }

    /// \[bytes\] Minimum memory of a node.
    fn node_bytes(&self) -> u64 {
        0
    }

    /// Room of its queues, where it has routers.
    fn room(&self) -> Option<Room> {
        None
    }

    /// Settings whose absence means something that depends on others, with that meaning.
    fn settled(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// True if the network [counts](Network::count_events) the flits through each router.
    fn counts_events(&self) -> bool {
        false
    }

    /// Settings of the model that have no effect in this network, each with the reason as the end of a sentence: `with
    /// routing dor, which needs none`. Conditions on one other setting stand with the [`Key`].
    fn unused(&self) -> Vec<(&'static str, Phrase)> {
        Vec::new()
    }

    /// True if the interface of a node can be full, so that the source policy matters to tasks as well.
    fn fills_interfaces(&self) -> bool {
        false
    }

    /// True if a send ends only when its message has arrived: its end does not say that the node can send again.
    fn sends_end_at_arrival(&self) -> bool {
        false
    }

    /// The name of the preset, and the settings whose values are those that it gives.
    fn preset(&self) -> Option<(&'static str, Vec<&'static str>)> {
        None
    }

    /// Pairs of nodes that cannot reach each other, in words; `None` if there are none.
    fn unreachable(&self) -> Option<SpecError> {
        None
    }

    /// Warnings for readers of any result.
    fn warnings(&self) -> Vec<Phrase> {
        Vec::new()
    }
}
