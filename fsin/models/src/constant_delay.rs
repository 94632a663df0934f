//! A network of constant delay: every message arrives the same number of cycles after its injection, regardless of
//! load.
//!
//! The baseline of comparisons. A cycle is a nanosecond. Phits and packets define the unit of load alone (at load 1 a
//! node sends a phit in each cycle); they cause no delay. With a delay of 0 a message arrives in the cycle of its
//! injection, so that only the traffic itself shows.
//!
//! # How it departs from other networks
//! For live guests a delivery is reported in the cycle in which its message leaves its node, without a rate that of the
//! injection, with its future time: their horizon is the whole delay. Other sources may act in the cycle of the notice,
//! which would be too early; they are told at the arrival.
//!
//! With a rate, a message of n bytes arrives `delay` and n bytes at that rate later, and occupies its link for the
//! bytes alone: the link of the sending node, or, as ideal links between all pairs, one of the pair. Messages wait for
//! their link in the order of their injection; with `serial:N` a node has at most N messages on its links of pairs. A
//! message is sent when its link is free again, without a rate at once. Times are rounded down to whole ns.
//!
//! Any other model that knows the arrival of a message at its injection is the same network with a [`Rule`].
//!
//! Decisions: docs/decisions/0340-who-is-busy.md, docs/decisions/0474-turns-on-ideal-links.md.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

use fsin_core::connections::Connections;
use fsin_core::family::{
    Discipline, ForGuests, Key, Kind, ModelFamily, Need, NetworkSpec, PHITS_PER_NODE_CYCLE, Units, Unloaded, Values,
};
use fsin_core::network::{Injected, Network, NetworkFailure, Notices, Settled};
use fsin_core::stats::{Receipt, Recorder};
use fsin_core::topology::Topology;
use fsin_core::topology::switched::{Uses, parse_rate};
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::hashing::Table;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::recurrence::State;
use trgen::{Cycle, Delivery, Geometry, Message};

/// Attributes of links that a model without links uses.
pub(crate) const WITHOUT_LINKS: Uses = Uses { model: "a network without links", attributes: &[], any_ports: true };

/// Called for every message that enters.
pub type Observer<'a> = &'a mut (dyn FnMut(Cycle, &Message) + Send);

/// The times of a message, counted from its injection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    /// \[cycles\] Until it has left its node, which is busy with it so long: its sender then knows that it is sent. At
    /// most `arrives`, and 0 for a node that takes any number of messages at once.
    pub leaves: u64,
    /// \[cycles\] Until it has arrived.
    pub arrives: u64,
}

/// The times of a message. Called for every message in the cycle of its injection, by order of sources.
pub type Rule = Box<dyn FnMut(Cycle, &Message) -> Passage + Send>;

/// A message under way.
#[derive(Clone, Copy, Debug)]
struct Underway {
    delivery: Delivery,
    /// Its number among all messages.
    number: u64,
    /// \[cycles\] From injection to arrival.
    latency: u64,
    /// When it has left its node.
    left: Cycle,
}

impl Underway {
    /// Shifts all times by skipped cycles.
    fn pass(&mut self, cycles: u64) {
        self.left += cycles;
        self.delivery.offered += cycles;
        self.delivery.delivered += cycles;
    }

    /// The order of arrivals.
    const fn key(&self) -> (Cycle, u64) {
        (self.delivery.delivered, self.number)
    }
}

/// Largest number of messages that a new one may overtake in the list; beyond that it goes into the map.
const FORWARD: usize = 64;

/// \[cycles\] From injection to arrival.
enum Delay {
    Constant(u64),
    By(Rule),
}

/// A network of constant delay, or of delays that are known at the injection.
pub struct ConstantDelay<'a> {
    nodes: usize,
    delay: Delay,
    /// \[bytes\] Payload of a packet, by which messages are counted in packets.
    packet_bytes: u64,
    /// True if deliveries are reported when their messages leave.
    announces: bool,
    clock: Cycle,
    /// Messages injected in the present cycle.
    taken: Vec<Message>,
    /// Messages that occupy the link of their node, or wait for it, by the cycle at whose end they have left it, and
    /// then by their number among these.
    leaving: BTreeMap<(Cycle, u64), Message>,
    /// Number of messages that have been `leaving` so far.
    left: u64,
    /// Messages under way, in the order of their arrivals.
    underway: VecDeque<Underway>,
    /// Other messages under way, which arrive before many of these, by the times of their arrivals and their numbers.
    early: BTreeMap<(Cycle, u64), Underway>,
    /// Number of messages that have started so far.
    started: u64,
    /// \[packets\] Accepted packets whose delivery has not been reported yet.
    in_flight: u64,
    /// By node: the number of its packets that have arrived.
    sequences: Vec<u64>,
    recorder: Recorder,
    /// Called for every message that enters; `None` for none.
    observer: Option<Observer<'a>>,
}

impl<'a> ConstantDelay<'a> {
    /// A network of `nodes` nodes in which every message takes `delay` cycles, as one packet.
    #[must_use]
    pub fn new(nodes: usize, delay: u64) -> Self {
        Self::with(nodes, Delay::Constant(delay))
    }

    /// A network of `nodes` nodes in which a rule gives the delay of each message.
    #[must_use]
    pub fn ruled(nodes: usize, rule: Rule) -> Self {
        Self::with(nodes, Delay::By(rule))
    }

    fn with(nodes: usize, delay: Delay) -> Self {
        Self {
            nodes,
            delay,
            packet_bytes: u64::MAX,
            announces: false,
            clock: Cycle::FIRST,
            taken: Vec::new(),
            leaving: BTreeMap::new(),
            left: 0,
            underway: VecDeque::new(),
            early: BTreeMap::new(),
            started: 0,
            in_flight: 0,
            sequences: vec![0; nodes],
            recorder: Recorder::new(nodes),
            observer: None,
        }
    }

    /// The same, with deliveries reported when their messages leave: for live guests.
    #[must_use]
    pub fn announcing(self) -> Self {
        Self { announces: true, ..self }
    }

    /// The same, with messages counted in packets of at most `packet_bytes` bytes.
    #[must_use]
    pub fn in_packets(self, packet_bytes: u64) -> Self {
        Self { packet_bytes: packet_bytes.max(1), ..self }
    }

    /// Number of packets of a message, at least 1.
    fn packets(&self, message: &Message) -> u64 {
        message.bytes.div_ceil(self.packet_bytes).max(1)
    }

    /// The same, with every message passed to `observer` in the cycle in which it enters.
    #[must_use]
    pub fn observed_by(self, observer: Observer<'a>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Puts the messages of this cycle on their way.
    fn depart(&mut self, notices: &mut Notices) {
        let offered = self.clock;
        self.taken.sort_by_key(|message| message.source);
        for message in self.taken.drain(..) {
            let Passage { leaves, arrives: delay } = match &mut self.delay {
                Delay::Constant(delay) => Passage { leaves: 0, arrives: *delay },
                Delay::By(rule) => rule(offered, &message),
            };
            // An event that begins with a cycle and takes one cycle is visible at its end.
            let delivered = offered + delay.saturating_sub(1);
            let left = offered + leaves.min(delay).saturating_sub(1);
            if left == offered {
                notices.sent.push(message);
            } else {
                self.leaving.insert((left, self.left), message);
                self.left += 1;
            }
            let number = self.started;
            self.started += 1;
            let one = Underway { delivery: Delivery { message, offered, delivered }, number, latency: delay, left };
            // Constant delays are in order already.
            let after =
                self.underway.iter().rev().take(FORWARD + 1).take_while(|other| other.key() > one.key()).count();
            match after {
                0 => self.underway.push_back(one),
                1..=FORWARD => self.underway.insert(self.underway.len() - after, one),
                _ => drop(self.early.insert(one.key(), one)),
            }
        }
    }

    /// The message under way that arrives first.
    fn first(&self) -> Option<&Underway> {
        let early = self.early.first_key_value().map(|(_, one)| one);
        self.underway.front().into_iter().chain(early).min_by_key(|one| one.key())
    }

    /// Takes the message that arrives first, if `is_due` says so.
    fn take_first(&mut self, is_due: impl Fn(&Underway) -> bool) -> Option<Underway> {
        if self.early.is_empty() {
            return self.underway.pop_front_if(|first| is_due(first));
        }
        let first = *self.first().filter(|first| is_due(first))?;
        if self.early.remove(&first.key()).is_none() {
            self.underway.pop_front();
        }
        Some(first)
    }

    /// Reports the messages of earlier cycles that leave their nodes in this one.
    fn leave(&mut self, notices: &mut Notices) {
        let now = self.clock;
        while let Some(first) = self.leaving.first_entry().filter(|first| first.key().0 <= now) {
            notices.sent.push(first.remove());
        }
    }

    /// Reports the messages that arrive in this cycle; if deliveries are announced, those that have left their nodes.
    fn arrive(&mut self, notices: &mut Notices) {
        let (now, announces) = (self.clock, self.announces);
        while let Some(Underway { delivery, latency, .. }) =
            self.take_first(|next| next.delivery.delivered <= now || (announces && next.left <= now))
        {
            let Message { source, destination, .. } = delivery.message;
            let packets = self.packets(&delivery.message);
            self.in_flight -= packets;
            let sequence = self.sequences[source.index()];
            self.sequences[source.index()] += packets;
            let receipt = Receipt { source, destination, sequence, latency, hops: latency.min(1) };
            self.recorder.received_together(delivery.delivered, &receipt, packets);
            notices.delivered.push(delivery);
        }
        notices.delivered.sort_by_key(|delivery| delivery.message.destination);
    }
}

impl Network for ConstantDelay<'_> {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn clock(&self) -> Cycle {
        self.clock
    }

    fn inject(&mut self, message: Message) -> Injected {
        if let Some(observer) = &mut self.observer {
            observer(self.clock, &message);
        }
        let packets = self.packets(&message);
        self.recorder.generated(packets);
        self.recorder.injected(packets);
        self.in_flight += packets;
        self.taken.push(message);
        Injected::Accepted
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        notices.clear();
        if self.taken.is_empty() {
            let arrival = self.first().map(|next| if self.announces { next.left } else { next.delivery.delivered });
            let departure = self.leaving.first_key_value().map(|(&(cycle, _), _)| cycle);
            match arrival.into_iter().chain(departure).min().filter(|first| *first < until) {
                Some(first) => self.clock = self.clock.max(first),
                None => {
                    self.clock = self.clock.max(until);
                    return Ok(());
                }
            }
        }
        self.leave(notices);
        self.depart(notices);
        notices.sent.sort_by_key(|message| message.source);
        self.arrive(notices);
        self.clock = self.clock.next();
        Ok(())
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }

    fn state(&mut self, into: &mut State) -> bool {
        // The memory of a rule is its own.
        if !matches!(self.delay, Delay::Constant(_)) || self.announces || !self.taken.is_empty() {
            return false;
        }
        // With constant delays `early` is empty: messages arrive in the order of injection.
        into.put(self.underway.len() as u64);
        for Underway { delivery: Delivery { message, offered, delivered }, latency, .. } in &self.underway {
            let &Message { id, source, destination, bytes, class } = message;
            into.put_message(id);
            into.put_time(*offered);
            into.put_time(*delivered);
            for word in [source.0.into(), destination.0.into(), bytes, class.into(), *latency] {
                into.put(word);
            }
        }
        true
    }

    fn pass_periods(&mut self, cycles: u64, packets: &[u64]) {
        self.clock += cycles;
        let early = std::mem::take(&mut self.early).into_values();
        for one in self.underway.iter_mut() {
            one.pass(cycles);
        }
        self.early = early
            .map(|mut one| {
                one.pass(cycles);
                (one.key(), one)
            })
            .collect();
        for (sequence, more) in self.sequences.iter_mut().zip(packets) {
            *sequence += more;
        }
    }

    fn settled(&mut self) -> Settled<'_> {
        Settled::new(&self.recorder)
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.recorder
    }
}

/// \[ps\] Length of a cycle.
const CYCLE_PS: u64 = 1000;

const KEYS: &[Key] = &[
    Key::of_network(
        "delay",
        "TIME",
        Kind::Word,
        Some("100ns"),
        "",
        "time that every message takes: whole ns, with a unit",
    ),
    Key::of_network(
        "rate",
        "RATE",
        Kind::Word,
        None,
        "",
        "rate of a link, with a unit: a message takes its bytes at this rate longer, and occupies its link for them; without limit if \
         absent",
    ),
    Key::of_network(
        "links",
        "node|pair",
        Kind::Word,
        Some("node"),
        "",
        "links that the rate limits: that of the sending node, or one between each pair of nodes",
    )
    .needing(&[Need::set("rate")]),
    Key::of_network(
        "nodes",
        "N",
        Kind::Integer,
        None,
        "",
        "nodes of a network without a topology; those of the topology if absent",
    ),
];

/// The row of this model in the table of models.
pub static CONSTANT_DELAY: ModelFamily = ModelFamily {
    component: Component {
        name: "constant-delay",
        about: "every message takes the same time, whatever the load, or with a rate as long as its bytes take on an ideal link: a cycle \
                is 1 ns",
        parameters: &[],
        source: "INSEE, test program of its endpoint",
    },
    discipline: Discipline {
        order: "messages of a pair arrive in the order in which they are sent",
        sharing: "with a {rate}, the link of a node or of a pair, message by message in the order of sending; nothing else",
        busy: "with a {rate}, a link for the bytes of a message at that rate; a send ends when the link is free again, without a rate at once",
    },
    aliases: &["switch"],
    keys: KEYS,
    shared: &["topology", "packet", "phit-bytes", "interface"],
    defaults: &[],
    short: &[],
    load_unit: PHITS_PER_NODE_CYCLE,
    routings: Vec::new,
    parse: |values| {
        let delay = values.span("delay")?;
        if delay == 0 || !delay.is_multiple_of(CYCLE_PS) {
            let what = phrase![["delay" => values.word("delay")], " is not a whole number of ns above 0"];
            return Err(SpecError::new(ErrorKind::OutOfRange, what, values.write("delay", "100ns")).of("delay"));
        }
        let mut spec = Delayed::from_values(values, delay / CYCLE_PS)?;
        if values.is_set("rate") {
            let links = match values.word("links") {
                "node" => Links::OfNodes,
                "pair" => Links::OfPairs,
                other => {
                    let what = phrase![["links" => other], " is neither `node` nor `pair`"];
                    return Err(SpecError::new(ErrorKind::Malformed, what, values.write("links", "node")).of("links"));
                }
            };
            let rate = parse_rate(values.word("rate")).filter(|&rate| rate > 0).ok_or_else(|| {
                let what = phrase![["rate" => values.word("rate")], " is no rate with its unit"];
                SpecError::new(ErrorKind::Malformed, what, values.write("rate", "10Gb/s")).of("rate")
            })?;
            if links == Links::OfNodes {
                let phit = f64::from(spec.units.phit_bytes) * 8.0;
                spec.units.capacity = rate as f64 * 1e-9 / phit;
            }
            spec.rate = Some(IdealLinks { rate, links, connections: connections(values, links)? });
        }
        Ok(Arc::new(spec))
    },
};

/// The row of this model in the table of models.
pub static ZERO: ModelFamily = ModelFamily {
    component: Component {
        name: "zero",
        about: "no latency: every message arrives in the cycle in which it is sent, which shows the traffic alone",
        parameters: &[],
        source: "none: fsin's own reference without a network",
    },
    discipline: Discipline {
        order: "messages of a pair arrive in the order in which they are sent",
        sharing: "nothing",
        busy: "nobody: a send ends at once",
    },
    aliases: &[],
    keys: &[],
    shared: &["nodes", "topology", "packet", "phit-bytes"],
    defaults: &[],
    short: &[],
    load_unit: PHITS_PER_NODE_CYCLE,
    routings: Vec::new,
    parse: |values| Ok(Arc::new(Delayed::from_values(values, 0)?)),
};

/// Checked settings of a network of constant delay.
#[derive(Debug)]
struct Delayed {
    geometry: Geometry,
    topology: Option<Arc<dyn Topology>>,
    /// \[cycles\] From injection to arrival.
    delay: u64,
    /// The links that messages occupy; `None` without a limit.
    rate: Option<IdealLinks>,
    units: Units,
}

/// The links that a rate limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Links {
    /// One of each node, for what it sends.
    OfNodes,
    /// One from each node to each other one.
    OfPairs,
}

/// Links without contention but their own.
#[derive(Clone, Copy, Debug)]
struct IdealLinks {
    /// \[b/s\] Rate of a link.
    rate: u64,
    links: Links,
    /// How many messages of a node may be on links of pairs at a time.
    connections: Connections,
}

/// Turns of the messages of a node on its links.
#[derive(Default)]
struct OnLinks {
    /// \[cycles\] Start of the last turn.
    last: u64,
    /// \[cycles\] When each message leaves its link.
    ends: BinaryHeap<Reverse<u64>>,
}

impl OnLinks {
    /// \[cycles\] The turn of the next message at `now`, if at most `most` are on links at a time.
    fn turn(&mut self, now: u64, most: u32) -> u64 {
        self.last = self.last.max(now);
        while let Some(&Reverse(end)) = self.ends.peek() {
            if end > self.last && self.ends.len() < most as usize {
                break;
            }
            self.last = self.last.max(end);
            self.ends.pop();
        }
        self.last
    }
}

/// The limit of messages of a node on its links at a time.
fn connections(values: &dyn Values, links: Links) -> Result<Connections, SpecError> {
    let (usual, other) = match links {
        Links::OfNodes => (Connections::Serial(1), "node"),
        Links::OfPairs => (Connections::PerDestination, "pair"),
    };
    if !values.is_set("interface") {
        return Ok(usual);
    }
    let given: Connections = values.parsed("interface")?;
    match (links, given) {
        (_, given) if given == usual => Ok(given),
        (Links::OfPairs, Connections::Serial(_)) => Ok(given),
        _ => {
            let what = phrase![
                ["interface" => given],
                " with ",
                ["links" => other],
                ", where a link carries one message at a time"
            ];
            let remedy = match links {
                Links::OfNodes => phrase!["use ", ["interface" => "serial"], ", or ", ["links" => "pair"]],
                Links::OfPairs => phrase!["use per-destination, serial or serial:N"],
            };
            Err(SpecError::new(ErrorKind::Unsupported, what, remedy).of("interface"))
        }
    }
}

impl IdealLinks {
    /// \[ps\] Time of so many bytes, rounded down.
    fn time(self, bytes: u64) -> u64 {
        u64::try_from(u128::from(bytes) * 8_000_000_000_000 / u128::from(self.rate)).unwrap_or(u64::MAX)
    }

    /// The times of each message, by the times at which links are free.
    fn rule(self, delay: u64) -> Rule {
        // \[cycles\] The cycle from which on each link is free, counted from the first.
        let mut free: Table<u64, u64> = Table::default();
        let mut nodes: Table<u32, OnLinks> = Table::default();
        Box::new(move |now, message| {
            let (source, destination) = (message.source.0, message.destination.0);
            let link = match self.links {
                Links::OfNodes => source.into(),
                Links::OfPairs => u64::from(source) << 32 | u64::from(destination),
            };
            let time = self.time(message.bytes) / CYCLE_PS;
            let free = free.entry(link).or_default();
            let most = match (self.links, self.connections) {
                (Links::OfPairs, Connections::Serial(most)) if source != destination => Some(most),
                _ => None,
            };
            let turn = most.map(|most| nodes.entry(source).or_default().turn(now.0, most));
            *free = turn.unwrap_or(now.0).max(*free).saturating_add(time);
            if most.is_some() {
                nodes.entry(source).or_default().ends.push(Reverse(*free));
            }
            let leaves = *free - now.0;
            Passage { leaves, arrives: leaves.saturating_add(delay) }
        })
    }
}

impl Delayed {
    /// Checked settings from the values of keys, with this delay in cycles.
    fn from_values(values: &dyn Values, delay: u64) -> Result<Self, SpecError> {
        let (geometry, topology) = nodes(values)?;
        Ok(Self { geometry, topology, delay, rate: None, units: units(values)? })
    }

    /// The network.
    fn network(&self) -> ConstantDelay<'static> {
        match self.rate {
            None => ConstantDelay::new(self.geometry.nodes(), self.delay),
            Some(links) => ConstantDelay::ruled(self.geometry.nodes(), links.rule(self.delay)),
        }
    }
}

/// The nodes of a model without links: `nodes` in a row, or those of the topology.
///
/// # Errors
/// Too few or too many nodes, both settings, or a topology that cannot be used.
pub fn nodes(values: &dyn Values) -> Result<(Geometry, Option<Arc<dyn Topology>>), SpecError> {
    const MOST: u64 = 1 << 20;
    if !values.is_set("nodes") {
        let topology: Arc<dyn Topology> = values.topology_of(2)?.into();
        WITHOUT_LINKS.check(&*topology)?;
        return Ok((topology.geometry().clone(), Some(topology)));
    }
    if values.is_insisted("topology") {
        let what = phrase![["nodes"], " and ", ["topology"], " exclude each other"];
        return Err(SpecError::new(ErrorKind::Conflict, what, "leave out one of them").of("nodes"));
    }
    let count: u64 = values.integer("nodes")?;
    let row =
        u32::try_from(count).ok().filter(|_| (1..=MOST).contains(&count)).and_then(|count| Geometry::new(&[count]));
    row.map(|row| (row, None)).ok_or_else(|| SpecError::out_of_range("nodes", count, 1..=MOST))
}

/// Lengths of packets and phits of a model without links, in which a node sends a phit in each cycle.
///
/// # Errors
/// Lengths of 0.
pub fn units(values: &dyn Values) -> Result<Units, SpecError> {
    let length = |name: &'static str| match values.integer::<u32>(name)? {
        0 => Err(SpecError::out_of_range(name, 0, 1..=u64::from(u32::MAX))),
        length => Ok(length),
    };
    Ok(Units { phit_bytes: length("phit-bytes")?, packet_phits: length("packet")?, is_padded: true, capacity: 1.0 })
}

impl NetworkSpec for Delayed {
    fn build(&self) -> Result<Box<dyn Network>, SpecError> {
        let packet = u64::from(self.units.packet_phits) * u64::from(self.units.phit_bytes);
        Ok(Box::new(self.network().in_packets(packet)))
    }

    fn for_guests(&self) -> Result<ForGuests, SpecError> {
        let network = Box::new(self.network().announcing());
        Ok(ForGuests { network, response: self.delay.max(1) })
    }

    fn delay(&self) -> Option<u64> {
        (self.delay > 0 && self.rate.is_none()).then_some(self.delay)
    }

    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn topology(&self) -> Option<&Arc<dyn Topology>> {
        self.topology.as_ref()
    }

    fn unused(&self) -> Vec<(&'static str, Phrase)> {
        let mut unused = vec![("source", "in a network that takes every message at once".into())];
        if self.rate.is_none() {
            unused.push(("interface", phrase!["without a ", ["rate"]]));
        }
        unused
    }

    fn settled(&self) -> Vec<(&'static str, String)> {
        self.rate.iter().map(|links| ("interface", links.connections.to_string())).collect()
    }

    fn units(&self) -> Units {
        self.units
    }

    fn has_one_time_alone(&self) -> bool {
        true
    }

    fn unloaded(&self, phits: f64) -> Unloaded {
        match self.rate {
            None => Unloaded::unlimited(self.delay),
            Some(links) => {
                let bytes = (phits * f64::from(self.units.phit_bytes)).ceil() as u64;
                Unloaded::shared(self.delay.saturating_add(links.time(bytes) / CYCLE_PS))
            }
        }
    }

    fn cycle(&self) -> Option<(u64, u64)> {
        Some((CYCLE_PS, 1))
    }
}
