//! What a description says of links, by direction; and which models use it.
//!
//! A model gets a topology only by naming the attributes that it uses ([`Uses`]); any other attribute of the file is an
//! error that names the attribute and its place in the file. So no model can ignore one.
//!
//! Decision: docs/decisions/0140-one-description-of-a-network.md.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;

use super::{Fabric, MAX_RATIO, MOST_PORTS, Pace, Switched};
use crate::topology::{MAX_DELAY, Outputs, Port, Topology};

/// A place in a file, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// \[characters\] Column.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Delay of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Delay {
    /// \[cycles\] Beyond the cycle in which a phit crosses the link.
    Cycles(u32),
    /// \[ps\] Propagation delay.
    Time(u64),
}

/// What a description says of one direction of a link; `None` where it says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct LinkAttributes {
    /// \[b/s\] Data rate.
    pub rate: Option<u64>,
    /// Delay.
    pub delay: Option<Delay>,
    /// \[frames\] Room of the queue of the port from which it leaves.
    pub queue: Option<u32>,
}

/// A static route: the destinations for which a switch sends on a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destinations<'a> {
    /// All destinations that no other link names.
    All,
    /// These endpoints.
    Only(&'a [u32]),
}

/// An attribute of a link that a model uses or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attribute {
    /// A data rate.
    Rate,
    /// A data rate as a ratio of small integers to that of a cycle: what [`Rate`](Self::Rate) becomes in models that
    /// count cycles.
    Pace,
    /// A delay in cycles: a number without a unit.
    Cycles,
    /// A delay as a time.
    Time,
    /// Room of a queue.
    Queue,
    /// Destinations of static routes.
    Routes,
}

/// The attributes of links that a model uses, and how many links of a switch it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uses {
    /// The model, as errors name it.
    pub model: &'static str,
    /// The attributes.
    pub attributes: &'static [Attribute],
    /// True if a switch may have any number of links; false if it has at most 255, as routers with a queue for each.
    pub any_ports: bool,
}

impl Uses {
    /// Rejects a topology whose description gives a link an attribute that the model does not use, and switches of more
    /// links than it takes.
    ///
    /// # Errors
    /// The number of links; the first such attribute, with its place in the file.
    pub fn check(&self, topology: &dyn Topology) -> Result<(), SpecError> {
        self.check_with(topology, |attribute| attribute)
    }

    /// The same, where delays as times are about to become cycles, and rates paces.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(crate) fn check_before_conversion(&self, topology: &dyn Topology) -> Result<(), SpecError> {
        self.check_with(topology, Attribute::in_cycles)
    }

    /// True for the model of flows, which needs no graph.
    fn takes_routes(&self) -> bool {
        self.model == "flow"
    }

    /// Rejects attributes that the model does not use after what `converted` makes of them.
    fn check_with(&self, topology: &dyn Topology, converted: fn(Attribute) -> Attribute) -> Result<(), SpecError> {
        if let Some(why) = topology.switched().and_then(Switched::no_graph).filter(|_| !self.takes_routes()) {
            let remedy = phrase!["use ", ["network" => "flow"], ", which takes the routes of the file as they are"];
            return Err(why.clone().remedied(remedy).of("topology"));
        }
        let ports = topology.shape().ports();
        if ports > MOST_PORTS && !self.any_ports {
            let what = format!(
                "a switch of {} has {ports} links, and a router of {} has at most {MOST_PORTS}",
                topology.spec(),
                self.model
            );
            let remedy = phrase![
                "use ",
                ["network" => "flow"],
                ", ",
                ["network" => "ethernet"],
                " or ",
                ["network" => "constant-delay"],
                ", whose switches have any number; or several smaller switches, as in fattree:K,N"
            ];
            return Err(SpecError::new(ErrorKind::TooLarge, what, remedy).of("topology"));
        }
        let Some(links) = topology.switched().and_then(Switched::links) else { return Ok(()) };
        let is_unused = |given: &&Given| !self.attributes.contains(&converted(given.attribute));
        // A model without links takes the nodes of a file whose links cannot be without attributes.
        let is_taken = |given: &&Given| !(given.is_demanded && self.attributes.is_empty());
        let unused = links.given.iter().filter(is_taken).find(is_unused);
        unused.map_or(Ok(()), |given| {
            Err(given.refused(topology, &given.attribute.why(self.model), given.attribute.remedy(self)))
        })
    }
}

impl Given {
    /// The error of this attribute, with its place in the file.
    fn refused(&self, topology: &dyn Topology, why: &str, remedy: impl Into<Phrase>) -> SpecError {
        let spec = topology.spec();
        let file = super::graph::file(&spec).map_or_else(|| spec.clone(), |path| path.display().to_string());
        let what = format!("{file}: {}: {}={} of a link: {why}", self.place, self.key, self.value);
        SpecError::new(ErrorKind::Unsupported, what, remedy).of("topology").given(&self.value)
    }
}

impl Attribute {
    /// What it becomes in a model that counts cycles.
    const fn in_cycles(self) -> Self {
        match self {
            Self::Time => Self::Cycles,
            Self::Rate => Self::Pace,
            Self::Cycles | Self::Pace | Self::Queue | Self::Routes => self,
        }
    }

    /// Why a model cannot use it.
    fn why(self, model: &str) -> String {
        match self {
            Self::Rate | Self::Pace => format!("{model} does not use rates of single links"),
            Self::Cycles => format!("{model} does not count in cycles of phits, so the number lacks its unit"),
            Self::Time | Self::Routes => format!("{model} does not use it"),
            Self::Queue => format!("{model} has no queues of frames"),
        }
    }

    /// What to write instead, and which model uses it.
    fn remedy(self, uses: &Uses) -> &'static str {
        match self {
            Self::Cycles if uses.attributes.contains(&Self::Time) => "write it with its unit, as in delay=\"4us\"",
            Self::Cycles | Self::Time => "leave it out, or use a model with links, such as vct, wormhole or ethernet",
            Self::Rate | Self::Pace => "leave it out, or use a model with links, such as vct, wormhole or ethernet",
            Self::Queue => "leave it out, or use ethernet, whose links differ",
            Self::Routes => "leave it out, or use ethernet with forwarding=static",
        }
    }
}

/// An attribute that the description gives, for errors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Given {
    pub(super) attribute: Attribute,
    /// The attribute and its value, as written.
    pub(super) key: String,
    pub(super) value: String,
    pub(super) place: Place,
    /// True if the form of the file demands it of each link.
    pub(super) is_demanded: bool,
}

/// What the description says of all links.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Links {
    /// The ports of all nodes in one row.
    outputs: Outputs,
    /// By node and port: the set of attributes of the link that leaves there; [`NONE`] if the description gives none.
    by_port: Vec<u32>,
    /// Sets of attributes.
    sets: Vec<Set>,
    /// By node and port: position of the link in the description.
    order: Vec<u32>,
    /// Number of positions in the description; those from here on are of links that are no lines of it: between a host
    /// and the interface that it gets for its several links.
    positions: u32,
    /// The attributes that the description gives, in its order.
    given: Vec<Given>,
    /// True if the description gives delays as times.
    has_times: bool,
    /// Rates as paces; `None` if there are no rates, or they have not been converted.
    paced: Option<Paced>,
}

/// Rates as paces.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Paced {
    /// \[ps\] Length of a cycle, as numerator and denominator, if a description gives it.
    cycle: Option<(u64, u64)>,
    /// By node and port: the pace of the link that leaves there.
    by_port: Vec<Pace>,
}

/// In [`Links::by_port`]: no attributes.
const NONE: u32 = u32::MAX;

/// Attributes that some links have in common.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Set {
    pub(super) attributes: LinkAttributes,
    /// Where the rate stands.
    pub(super) rate_at: Place,
    /// Where the delay stands.
    pub(super) delay_at: Place,
    /// Destinations of a static route; `None` if the description gives none.
    pub(super) routes: Option<Routes>,
}

/// Destinations of a static route.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Routes {
    All,
    Only(Vec<u32>),
}

impl Links {
    /// Links without attributes.
    pub(super) fn new(fabric: &Fabric, sets: Vec<Set>, given: Vec<Given>) -> Self {
        let outputs = fabric.outputs();
        let count = outputs.count();
        let has_times = sets.iter().any(Set::has_time);
        Self {
            outputs,
            by_port: vec![NONE; count],
            sets,
            order: vec![NONE; count],
            positions: NONE,
            given,
            has_times,
            paced: None,
        }
    }

    /// Says how many positions the description has.
    pub(super) const fn set_positions(&mut self, count: u32) {
        self.positions = count;
    }

    /// Sets the attributes of the link that leaves a node through a port, and its position in the description.
    pub(super) fn set(&mut self, node: u32, port: Port, set: u32, order: u32) {
        let at = self.outputs.at(node as usize, port.index());
        (self.by_port[at], self.order[at]) = (set, order);
    }

    fn of(&self, node: NodeId, port: Port) -> Option<&Set> {
        let set = *self.by_port.get(self.outputs.at(node.index(), port.index()))?;
        self.sets.get(set as usize)
    }

    /// Position of a link in the description; `None` for a link of an endpoint that has no name of its own.
    pub(super) fn order(&self, node: NodeId, port: Port) -> Option<u32> {
        self.order.get(self.outputs.at(node.index(), port.index())).copied().filter(|&order| order != NONE)
    }
}

impl Switched {
    /// What the description says of links, if there is one.
    pub(super) fn links(&self) -> Option<&Links> {
        self.links.as_deref()
    }

    /// True if a description names the nodes and links of the network.
    #[must_use]
    pub fn is_described(&self) -> bool {
        self.links.is_some()
    }

    /// What the description says of the link that leaves a node through a port.
    #[must_use]
    pub fn link(&self, node: NodeId, port: Port) -> LinkAttributes {
        self.links().and_then(|links| links.of(node, port)).map_or_else(LinkAttributes::default, |set| set.attributes)
    }

    /// The destinations for which the description routes over the link that leaves a switch through a port; none for
    /// an endpoint, from which everything leaves through its only link.
    #[must_use]
    pub fn route(&self, node: NodeId, port: Port) -> Destinations<'_> {
        let is_switch = node.index() >= self.fabric.endpoints();
        match self.links().filter(|_| is_switch).and_then(|links| links.of(node, port)?.routes.as_ref()) {
            Some(Routes::All) => Destinations::All,
            Some(Routes::Only(hosts)) => Destinations::Only(hosts),
            None => Destinations::Only(&[]),
        }
    }

    /// Position in the description of the link that leaves a node through a port: the first link that names a
    /// destination is its route. `None` for a link that the description does not name.
    #[must_use]
    pub fn link_order(&self, node: NodeId, port: Port) -> Option<u32> {
        self.links().and_then(|links| links.order(node, port))
    }

    /// True if the link that leaves a node through a port stands for no link of the description: it joins a host and
    /// the interface that the host gets for its several links.
    #[must_use]
    pub fn is_implied(&self, node: NodeId, port: Port) -> bool {
        let positions = self.links().map_or(NONE, |links| links.positions);
        self.link_order(node, port).is_some_and(|order| order >= positions)
    }

    /// True if the description gives delays as times, even if they are cycles now.
    #[must_use]
    pub fn has_times(&self) -> bool {
        self.links().is_some_and(|links| links.has_times)
    }

    /// True if the description gives rates.
    #[must_use]
    pub fn has_rates(&self) -> bool {
        self.links().is_some_and(|links| links.sets.iter().any(|set| set.attributes.rate.is_some()))
    }

    /// True if some link has no rate of its own.
    #[must_use]
    pub fn needs_bandwidth(&self) -> bool {
        self.link_ends().any(|(node, port)| self.link(node, port).rate.is_none())
    }

    /// \[ps\] Length of a cycle, as numerator and denominator, where the description gives rates and they have been
    /// converted.
    #[must_use]
    pub fn cycle(&self) -> Option<(u64, u64)> {
        self.links()?.paced.as_ref()?.cycle
    }

    /// Pace of the link that leaves a node through a port: full where rates have not been converted.
    #[must_use]
    pub fn pace(&self, node: NodeId, port: Port) -> Pace {
        let paced = self.links().and_then(|links| Some((links, links.paced.as_ref()?)));
        paced.map_or(Pace::FULL, |(links, paced)| paced.by_port[links.outputs.at(node.index(), port.index())])
    }

    /// This network with these paces of its links, whatever its description says of rates.
    #[must_use]
    pub fn with_paces(&self, pace: impl Fn(NodeId, Port) -> Pace) -> Self {
        let mut links = self.links().cloned().unwrap_or_else(|| Links::new(&self.fabric, Vec::new(), Vec::new()));
        let by_port = self.fabric.outputs().all().map(|(node, port)| pace(node, port)).collect();
        links.paced = Some(Paced { cycle: None, by_port });
        Self { links: Some(Arc::new(links)), ..self.clone() }
    }

    /// This network with links of these lengths in cycles, 1 or more, by the nodes at their ends.
    pub(super) fn with_lengths(&self, length: impl Fn(NodeId, NodeId) -> u32) -> Self {
        let mut sets: Vec<Set> = Vec::new();
        let mut of_length = BTreeMap::new();
        let mut links = Links::new(&self.fabric, Vec::new(), Vec::new());
        for (order, (node, port)) in self.link_ends().enumerate() {
            let Some(there) = self.fabric.neighbour(node, port) else { continue };
            let beyond = length(node, there).saturating_sub(1);
            let set = *of_length.entry(beyond).or_insert_with(|| {
                let attributes = LinkAttributes { delay: Some(Delay::Cycles(beyond)), ..LinkAttributes::default() };
                sets.push(Set { attributes, ..Set::default() });
                sets.len() - 1
            });
            links.set(node.0, port, set as u32, order as u32);
        }
        let longest = of_length.keys().max().map_or(0, |beyond| beyond + 1).to_string();
        let place = Place::default();
        links.given = vec![Given {
            attribute: Attribute::Cycles,
            key: "length".to_owned(),
            value: longest,
            place,
            is_demanded: false,
        }];
        links.sets = sets;
        Self { links: Some(Arc::new(links)), ..self.clone() }
    }

    /// The rate of a link as a share of the greatest, numerator and denominator, by the node and port that it leaves:
    /// its pace, or what the description says. A link of which it says nothing counts as one of the fastest.
    pub(in crate::topology) fn shares(&self) -> impl Fn(NodeId, Port) -> (u64, u64) {
        let links = self.links();
        let is_paced = links.is_some_and(|links| links.paced.is_some());
        let fastest = links.and_then(|links| links.sets.iter().filter_map(|set| set.attributes.rate).max());
        move |node, port| {
            if is_paced {
                let pace = self.pace(node, port);
                return (pace.phits().into(), pace.cycles().into());
            }
            fastest.and_then(|fastest| Some((self.link(node, port).rate?, fastest))).unwrap_or((1, 1))
        }
    }

    /// The nodes and ports that a link leaves.
    fn link_ends(&self) -> impl Iterator<Item = (NodeId, Port)> {
        let of = |node| self.fabric.ports_of(node).map(move |port| (node, port));
        (0..self.fabric.nodes())
            .map(NodeId::at)
            .flat_map(of)
            .filter(|&(node, port)| self.fabric.neighbour(node, port).is_some())
    }

    /// True if some link passes less than a phit in each cycle.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.longest_crossing() > 1
    }

    /// \[cycles\] Time that a phit takes to cross the slowest link, in whole cycles.
    #[must_use]
    pub fn longest_crossing(&self) -> u32 {
        if self.links().is_none_or(|links| links.paced.is_none()) {
            return 1;
        }
        self.link_ends().map(|(node, port)| self.pace(node, port).crossing()).max().unwrap_or(1)
    }

    /// This network with all delays in cycles, and all rates as paces. A cycle is a phit of `phit_bytes` bytes on the
    /// fastest link. Links without a rate have `bandwidth` b/s.
    ///
    /// # Errors
    /// A rate that is no ratio of small integers to that of a cycle, a delay that is no whole number of cycles or too
    /// long, with its place in the file.
    pub fn in_cycles(&self, phit_bytes: u32, bandwidth: u64) -> Result<Self, SpecError> {
        let Some(links) = self.links().filter(|_| self.has_times() || self.has_rates()) else {
            return Ok(self.clone());
        };
        let mut links = links.clone();
        let mut rate = bandwidth;
        if self.has_rates() {
            let paced;
            (rate, paced) = self.paced(&links, phit_bytes, bandwidth)?;
            links.paced = Some(paced);
        }
        for Set { attributes, delay_at, .. } in &mut links.sets {
            let Some(Delay::Time(span)) = attributes.delay else { continue };
            let cycles = cycles(span, phit_bytes, rate).map_err(|error| {
                let file =
                    super::graph::file(&self.spec).map_or_else(String::new, |path| format!("{}: ", path.display()));
                error.within(format!("{file}{delay_at}: ")).of("topology")
            })?;
            attributes.delay = Some(Delay::Cycles(cycles));
        }
        for given in &mut links.given {
            given.attribute = given.attribute.in_cycles();
        }
        Ok(Self { links: Some(Arc::new(links)), ..self.clone() })
    }

    /// \[b/s\] The rate of a phit in each cycle, and the paces of links.
    fn paced(&self, links: &Links, phit_bytes: u32, bandwidth: u64) -> Result<(u64, Paced), SpecError> {
        let needs_bandwidth = self.needs_bandwidth();
        let rates = links.sets.iter().filter_map(|set| set.attributes.rate);
        let rate = rates.chain(needs_bandwidth.then_some(bandwidth)).max().unwrap_or(bandwidth);
        let of_others = Pace::of(bandwidth, rate);
        if of_others.is_none() && needs_bandwidth {
            let what = phrase![
                ["bandwidth" => crate::topology::rate_text(bandwidth)],
                (" of links without a rate: {}", no_ratio(bandwidth, rate))
            ];
            return Err(SpecError::new(ErrorKind::Unsupported, what, nearest(bandwidth, rate)).of("bandwidth"));
        }
        let of_others = of_others.unwrap_or(Pace::FULL);
        let of_set = |set: &Set| {
            let Some(own) = set.attributes.rate else { return Ok(of_others) };
            Pace::of(own, rate).ok_or_else(|| match links.given.iter().find(|given| given.place == set.rate_at) {
                Some(given) => given.refused(self, &no_ratio(own, rate), nearest(own, rate)),
                None => SpecError::new(ErrorKind::Unsupported, no_ratio(own, rate), nearest(own, rate)).of("topology"),
            })
        };
        let of_sets: Vec<Pace> = links.sets.iter().map(of_set).collect::<Result<_, _>>()?;
        let by_port =
            links.by_port.iter().map(|&set| of_sets.get(set as usize).copied().unwrap_or(of_others)).collect();
        let bits = u64::from(phit_bytes) * 8;
        let cycle = bits.checked_mul(1_000_000_000_000).ok_or_else(|| {
            let what = phrase![["phit-bytes" => phit_bytes], " is too large where links have rates"];
            SpecError::new(ErrorKind::TooLarge, what, "use at most 65536").of("phit-bytes")
        })?;
        Ok((rate, Paced { cycle: Some((cycle, rate)), by_port }))
    }
}

/// Why a rate cannot be used.
fn no_ratio(rate: u64, fastest: u64) -> String {
    format!(
        "it is {:.4} of the fastest rate, {}, and no ratio of integers up to {MAX_RATIO}",
        rate as f64 / fastest as f64,
        crate::topology::rate_text(fastest)
    )
}

/// What to use in place of a rate.
fn nearest(rate: u64, fastest: u64) -> String {
    let pace = Pace::nearest(rate, fastest);
    let share = u128::from(fastest) * u128::from(pace.phits());
    let cycles = u128::from(pace.cycles());
    let value = match share % cycles {
        0 => format!(", {}", crate::topology::rate_text((share / cycles) as u64)),
        _ => String::new(),
    };
    format!("the nearest is {}/{}{value}; ethernet and flow take any rate", pace.phits(), pace.cycles())
}

impl Set {
    const fn has_time(&self) -> bool {
        matches!(self.attributes.delay, Some(Delay::Time(_)))
    }
}

/// \[cycles\] A time of `span` ps, in cycles of a phit of `phit_bytes` bytes at `rate` b/s.
fn cycles(span: u64, phit_bytes: u32, rate: u64) -> Result<u32, SpecError> {
    let (unit, rate) = (u128::from(phit_bytes) * 8 * 1_000_000_000_000, u128::from(rate));
    let product = u128::from(span) * rate;
    let (whole, rest) = (product / unit.max(1), product % unit.max(1));
    if whole > u128::from(MAX_DELAY) {
        let what = format!("a delay of {span} ps is {whole} cycles");
        return Err(SpecError::new(
            ErrorKind::TooLarge,
            what,
            format!("use at most {MAX_DELAY} cycles, or a larger phit"),
        ));
    }
    if rest != 0 {
        let what = format!(
            "a delay of {span} ps is {:.3} cycles of {:.3} ps, and no whole number",
            product as f64 / unit as f64,
            unit as f64 / rate as f64
        );
        let remedy = phrase![
            ("write delay={whole} or delay={} (cycles), or change ", whole + 1),
            ["bandwidth"],
            " or ",
            ["phit-bytes"]
        ];
        return Err(SpecError::new(ErrorKind::Unsupported, what, remedy));
    }
    Ok(whole as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_cycles_or_refused() {
        // 4 bytes at 10 Gb/s: 3.2 ns.
        assert_eq!(cycles(16_000, 4, 10_000_000_000).unwrap(), 5);
        assert_eq!(cycles(0, 4, 10_000_000_000).unwrap(), 0);
        let error = cycles(10_000, 4, 10_000_000_000).unwrap_err();
        assert!(error.to_string().contains("3.125 cycles of 3200.000 ps"), "{error}");
        assert!(error.remedy().to_string().contains("delay=3 or delay=4"), "{}", error.remedy());
        assert!(cycles(u64::MAX, 1, u64::MAX).unwrap_err().to_string().contains("cycles"));
    }
}
