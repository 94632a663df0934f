//! The first difference between two engines: in which cycle, and of which object.
//!
//! Two engines of one model must agree in everything that can be observed. When the results of two runs differ, their
//! figures say little about where they parted. [`first`] repeats both runs with the messages of the first one (which a
//! [`Recording`] has noted), searches the first cycle after which anything that both show differs, and names it: a
//! message, a packet, a queue, a port, a link or a count.

use std::fmt;

use trgen::{Cycle, Delivery, Message, NodeId};

use crate::capture::Interface;
use crate::network::{Figures, Injected, Network, NetworkFailure, Notices, PortFigures, Settled};
use crate::stats::{Arrival, Counts, Keep, Recorder};
use crate::view::Occupancy;

/// A message offered to a network, with the clock.
pub type Offer = (Cycle, Message);

/// What differs.
#[derive(Clone, PartialEq, Debug)]
pub enum Object {
    /// The clock, after the same call.
    Clock,
    /// The outcome of an offer.
    Offer(Message),
    /// Whether a message has been sent, delivered or dropped.
    Notice(&'static str, Message),
    /// A packet that has arrived.
    Packet {
        /// Its source.
        source: NodeId,
        /// Its destination.
        destination: NodeId,
        /// Its number among the packets of the source.
        sequence: u64,
    },
    /// The transit queues at a port of a node.
    Queue(NodeId, usize),
    /// The injection queues of a node.
    Injection(NodeId),
    /// What waits before the injection queues of a node.
    Waiting(NodeId),
    /// The link that leaves a node through a port.
    Link(NodeId, usize),
    /// A port, of a model that keeps figures of ports.
    Port(Interface),
    /// A count, or a figure of the model.
    Figure(&'static str),
    /// Why the network cannot go on.
    Failure,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock => write!(f, "the clock"),
            Self::Offer(message) => write!(f, "the offer of {}", Named(message)),
            Self::Notice(what, message) => write!(f, "{what}: {}", Named(message)),
            Self::Packet { source, destination, sequence } => {
                write!(f, "packet {sequence} of node {source} to node {destination}")
            }
            Self::Queue(node, port) => write!(f, "the transit queues of node {node} port {port}"),
            Self::Injection(node) => write!(f, "the injection queues of node {node}"),
            Self::Waiting(node) => write!(f, "the packets that wait at node {node}"),
            Self::Link(node, port) => write!(f, "the link from node {node} port {port}"),
            Self::Port(interface) => write!(f, "{interface}"),
            Self::Figure(name) => write!(f, "{name}"),
            Self::Failure => write!(f, "the failure"),
        }
    }
}

/// A message in words.
struct Named<'a>(&'a Message);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Message { id, source, destination, bytes, .. } = self.0;
        write!(f, "message {id} of node {source} to node {destination}, {bytes} bytes")
    }
}

/// The first difference between two networks.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// \[cycle\] The first cycle at whose end they differ.
    pub cycle: Cycle,
    /// What differs.
    pub object: Object,
    /// The value in the first network.
    pub expected: String,
    /// The value in the second network.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cycle, object, expected, found } = self;
        write!(f, "first difference: cycle {cycle}, {object}: {expected}, but {found} in the second network")
    }
}

/// A network that notes the messages offered to it.
pub struct Recording<'a> {
    network: &'a mut dyn Network,
    /// The messages so far.
    pub offers: Vec<Offer>,
}

impl<'a> Recording<'a> {
    /// `network`, with no messages noted.
    pub fn new(network: &'a mut dyn Network) -> Self {
        Self { network, offers: Vec::new() }
    }
}

impl Network for Recording<'_> {
    fn nodes(&self) -> usize {
        self.network.nodes()
    }

    fn clock(&self) -> Cycle {
        self.network.clock()
    }

    fn last(&self) -> Cycle {
        self.network.last()
    }

    fn instant(&self, clock: Cycle) -> Cycle {
        self.network.instant(clock)
    }

    fn inject(&mut self, message: Message) -> Injected {
        self.offers.push((self.network.clock(), message));
        self.network.inject(message)
    }

    fn holds_back(&mut self) -> bool {
        self.network.holds_back()
    }

    fn withhold(&mut self, message: &Message) {
        self.network.withhold(message);
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        self.network.advance(until, notices)
    }

    fn in_flight(&self) -> u64 {
        self.network.in_flight()
    }

    fn is_idle(&self) -> bool {
        self.network.is_idle()
    }

    fn begin_measuring(&mut self) {
        self.network.begin_measuring();
    }

    fn settled(&mut self) -> Settled<'_> {
        self.network.settled()
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        self.network.recorder_mut()
    }

    fn observe(&mut self) {
        self.network.observe();
    }
}

/// Builds the two networks that are compared, empty.
pub type Build<'a> = &'a mut dyn FnMut() -> [Box<dyn Network>; 2];

/// The first difference between the two networks that `build` gives, up to the beginning of cycle `end`, if these
/// messages (in the order of their times) are offered to both. `None` if there is none.
///
/// Both networks are built anew some dozen times, so that the cycle is exact wherever a difference stays once it has
/// arisen.
pub fn first(build: Build<'_>, offers: &[Offer], end: Cycle) -> Option<Difference> {
    let mut pair = Pair::new(build);
    let mut found = None;
    // The last clock at which both were found equal.
    let mut equal = Cycle::FIRST;
    while found.is_none() && !pair.is_over(end) {
        equal = pair.clock();
        let until = pair.next_stop(offers, end);
        found = pair.advance(offers, until).err();
    }
    let mut found = found?;
    // It has arisen in one of the cycles from `equal` to `found.cycle`.
    while equal < found.cycle {
        let middle = equal + found.cycle.since(equal).div_ceil(2);
        let mut pair = Pair::new(build);
        match pair.advance_to(offers, middle) {
            Ok(()) => equal = middle,
            Err(earlier) if earlier.cycle < found.cycle => found = earlier,
            Err(_) => break,
        }
    }
    Some(*found)
}

/// Two networks at the same clock.
struct Pair {
    networks: [Box<dyn Network>; 2],
    notices: [Notices; 2],
    /// Number of messages offered so far.
    offered: usize,
    /// True if both have failed, alike.
    has_failed: bool,
}

/// Refuses two values that differ.
fn same<T: PartialEq + fmt::Debug>(cycle: Cycle, object: impl FnOnce() -> Object, values: [T; 2]) -> Compared {
    let [expected, found] = &values;
    if expected == found {
        return Ok(());
    }
    let [expected, found] = [format!("{expected:?}"), format!("{found:?}")];
    Err(Box::new(Difference { cycle, object: object(), expected, found }))
}

/// The difference, if there is one.
type Compared = Result<(), Box<Difference>>;

/// The first entry that is in one list and not in the other at the same position, with its presence in each.
fn first_of<T: PartialEq + Copy>([one, other]: [&[T]; 2]) -> Option<(T, [Option<T>; 2])> {
    let at = (0..one.len().max(other.len())).find(|&at| one.get(at) != other.get(at))?;
    let entries = [one.get(at).copied(), other.get(at).copied()];
    Some((entries[0].or(entries[1])?, entries))
}

impl Pair {
    fn new(build: Build<'_>) -> Self {
        let mut networks = build();
        for network in &mut networks {
            network.observe();
            network.recorder_mut().keep(Keep { packets: true, ..Keep::default() });
        }
        Self { networks, notices: Default::default(), offered: 0, has_failed: false }
    }

    fn clock(&self) -> Cycle {
        self.networks[0].clock()
    }

    fn is_over(&self, end: Cycle) -> bool {
        self.has_failed || self.clock() >= end
    }

    /// The clock at which the next message is offered, or else `end`.
    fn next_stop(&self, offers: &[Offer], end: Cycle) -> Cycle {
        let later = offers[self.offered..].iter().map(|&(at, _)| at).find(|&at| at > self.clock());
        later.unwrap_or(end).min(end)
    }

    /// Advances both to a clock, and compares them there.
    fn advance_to(&mut self, offers: &[Offer], clock: Cycle) -> Compared {
        while !self.is_over(clock) {
            let until = self.next_stop(offers, clock);
            self.advance(offers, until)?;
        }
        Ok(())
    }

    /// Offers the messages that are due, advances both to `until` or to the next notice, and compares them.
    fn advance(&mut self, offers: &[Offer], until: Cycle) -> Compared {
        let clock = self.clock();
        while let Some(&(_, message)) = offers.get(self.offered).filter(|&&(at, _)| at <= clock) {
            self.offered += 1;
            same(clock, || Object::Offer(message), self.networks.each_mut().map(|network| network.inject(message)))?;
        }
        let [one, other] = &mut self.notices;
        let results = {
            let [first, second] = &mut self.networks;
            [pass(&mut **first, until, one), pass(&mut **second, until, other)]
        };
        self.has_failed = results[0].is_err();
        let [first, second] = self.networks.each_ref().map(|network| network.clock());
        let cycle = Cycle(first.min(second).0.saturating_sub(1));
        self.compare_notices(cycle)?;
        same(cycle, || Object::Clock, [first, second])?;
        self.compare_states(cycle)?;
        same(cycle, || Object::Failure, results)
    }

    fn compare_notices(&self, cycle: Cycle) -> Compared {
        let [one, other] = &self.notices;
        let deliveries = [&one.delivered, &other.delivered].map(Vec::as_slice);
        if let Some((Delivery { message, .. }, entries)) = first_of(deliveries) {
            let times = entries.map(|entry| entry.map(|delivery| (delivery.message.id, delivery.delivered)));
            return same(cycle, || Object::Notice("delivered", message), times);
        }
        for (what, lists) in [("sent", [&one.sent, &other.sent]), ("dropped", [&one.dropped, &other.dropped])] {
            if let Some((message, entries)) = first_of(lists.map(Vec::as_slice)) {
                let ids = entries.map(|entry| entry.map(|message| message.id));
                return same(cycle, || Object::Notice(what, message), ids);
            }
        }
        Ok(())
    }

    fn compare_states(&mut self, cycle: Cycle) -> Compared {
        let arrivals = self.networks.each_mut().map(|network| network.recorder_mut().take_arrivals());
        if let Some((Arrival { packet, .. }, entries)) = first_of(arrivals.each_ref().map(Vec::as_slice)) {
            let (source, destination, sequence) = (packet.source, packet.destination, packet.sequence);
            return same(cycle, || Object::Packet { source, destination, sequence }, entries);
        }
        let states = self.networks.each_mut().map(|network| network.settled());
        let shown = states.each_ref().map(|state| {
            let mut occupancy = Occupancy::default();
            if let Some(view) = state.view {
                view.occupancy(&mut occupancy);
            }
            occupancy
        });
        compare_occupancy(cycle, &shown)?;
        let ports = states.each_ref().map(|state| state.figures.map(Figures::ports).unwrap_or_default());
        let [one, other] = &ports;
        for (one, other) in one.iter().zip(other) {
            same::<&PortFigures>(cycle, || Object::Port(one.at), [one, other])?;
        }
        let measures = states.each_ref().map(|state| state.figures.map(Figures::measures).unwrap_or_default());
        let [one, other] = measures;
        for ((measure, one), (_, other)) in one.into_iter().zip(other) {
            same(cycle, || Object::Figure(measure.name), [one, other])?;
        }
        let counts = states.each_ref().map(|state| state.recorder.totals());
        for (name, of) in COUNTS {
            same(cycle, || Object::Figure(name), counts.each_ref().map(of))?;
        }
        let records = states.map(|state| state.recorder);
        same(cycle, || Object::Figure("digest of all deliveries"), records.map(Recorder::digest))?;
        if records[0] == records[1] {
            return Ok(());
        }
        same(cycle, || Object::Figure("the record"), records.map(Recorder::window))
    }
}

/// The counts that are compared one by one.
type CountOf = fn(&Counts) -> u64;

const COUNTS: [(&str, CountOf); 6] = [
    ("generated packets", |counts| counts.generated),
    ("injected packets", |counts| counts.injected),
    ("received packets", |counts| counts.received),
    ("dropped packets", |counts| counts.dropped),
    ("packets dropped inside", |counts| counts.dropped_inside),
    ("links crossed", |counts| counts.hops),
];

fn compare_occupancy(cycle: Cycle, shown: &[Occupancy; 2]) -> Compared {
    let nodes = shown[0].injection.len().max(1);
    let ports = shown[0].transit.len() / nodes;
    let place = |at: usize| (NodeId::at(at / ports.max(1)), at % ports.max(1));
    let [one, other] = shown;
    for (at, values) in one.transit.iter().zip(&other.transit).enumerate() {
        same(cycle, || Object::Queue(place(at).0, place(at).1), [values.0, values.1])?;
    }
    for (at, values) in one.injection.iter().zip(&other.injection).enumerate() {
        same(cycle, || Object::Injection(NodeId::at(at)), [values.0, values.1])?;
    }
    for (at, values) in one.waiting.iter().zip(&other.waiting).enumerate() {
        same(cycle, || Object::Waiting(NodeId::at(at)), [values.0, values.1])?;
    }
    for (at, values) in one.crossed.iter().zip(&other.crossed).enumerate() {
        same(cycle, || Object::Link(place(at).0, place(at).1), [values.0, values.1])?;
    }
    Ok(())
}

/// Advances to `until`, or to the next notice, whatever happens before.
fn pass(network: &mut dyn Network, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
    loop {
        network.advance(until, notices)?;
        if !notices.is_empty() || network.clock() >= until {
            return Ok(());
        }
    }
}

/// The message of a failed comparison, with the first difference if there is one in what every network shows.
#[must_use]
pub fn report(failure: &dyn fmt::Display, first: Option<Difference>) -> String {
    match first {
        Some(first) => format!("{failure}\n{first}"),
        None => format!("{failure}\n(no difference in what every network shows at its clock)"),
    }
}
