//! What a description says of links, by direction; and which models use it.
//!
//! A model gets a topology only by naming the attributes that it uses ([`Uses`]); any other attribute of the file is an
//! error that names the attribute and its place in the file. So no model can ignore one.
//!
//! Decision: docs/decisions/0140-one-description-of-a-network.md.

use std::fmt;
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;

use super::{Fabric, Switched};
use crate::topology::{MAX_DELAY, Port, Topology};

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
    /// A delay in cycles: a number without a unit.
    Cycles,
    /// A delay as a time.
    Time,
    /// Room of a queue.
    Queue,
    /// Destinations of static routes.
    Routes,
}

/// The attributes of links that a model uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uses {
    /// The model, as errors name it.
    pub model: &'static str,
    /// The attributes.
    pub attributes: &'static [Attribute],
}

impl Uses {
    /// Rejects a topology whose description gives a link an attribute that the model does not use.
    ///
    /// # Errors
    /// The first such attribute, with its place in the file.
    pub fn check(&self, topology: &dyn Topology) -> Result<(), SpecError> {
        self.check_with(topology, None)
    }

    /// The same, where delays as times are about to become cycles.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(crate) fn check_before_conversion(&self, topology: &dyn Topology) -> Result<(), SpecError> {
        self.check_with(topology, Some(Attribute::Time))
    }

    /// Rejects links with another rate than `rate` b/s, for models in which all links have one rate.
    ///
    /// # Errors
    /// The first such rate, with its place in the file.
    pub fn check_one_rate(&self, topology: &dyn Topology, rate: u64) -> Result<(), SpecError> {
        let given = topology.switched().and_then(Switched::links).map_or(&[][..], |links| &links.given);
        let other = given
            .iter()
            .find(|given| given.attribute == Attribute::Rate && super::parse_rate(&given.value) != Some(rate));
        other.map_or(Ok(()), |given| {
            let why = format!("all links of {} have one rate, {rate} b/s", self.model);
            let remedy = phrase!["leave it out, and set ", ["link-rate"]];
            Err(given.refused(topology, &why, remedy))
        })
    }

    /// Rejects attributes that the model does not use; `converted` is none of them.
    fn check_with(&self, topology: &dyn Topology, converted: Option<Attribute>) -> Result<(), SpecError> {
        let Some(links) = topology.switched().and_then(Switched::links) else { return Ok(()) };
        let is_used = |attribute| self.attributes.contains(&attribute) || converted == Some(attribute);
        let unused = links.given.iter().find(|given| !is_used(given.attribute));
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
    /// Why a model cannot use it.
    fn why(self, model: &str) -> String {
        match self {
            Self::Rate => format!("{model} does not use rates of single links"),
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
            Self::Rate | Self::Queue => "leave it out, or use ethernet, whose links differ",
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
}

/// What the description says of all links.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Links {
    /// Maximum number of ports of a node.
    ports: usize,
    /// By node and port: the set of attributes of the link that leaves there; [`NONE`] if the description gives none.
    by_port: Vec<u32>,
    /// Sets of attributes.
    sets: Vec<Set>,
    /// By node and port: position of the link in the description.
    order: Vec<u32>,
    /// The attributes that the description gives, in its order.
    given: Vec<Given>,
    /// True if the description gives delays as times.
    has_times: bool,
}

/// In [`Links::by_port`]: no attributes.
const NONE: u32 = u32::MAX;

/// Attributes that some links have in common.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Set {
    pub(super) attributes: LinkAttributes,
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
        let count = fabric.nodes() * fabric.ports();
        let has_times = sets.iter().any(Set::has_time);
        Self { ports: fabric.ports(), by_port: vec![NONE; count], sets, order: vec![NONE; count], given, has_times }
    }

    /// Sets the attributes of the link that leaves a node through a port, and its position in the description.
    pub(super) fn set(&mut self, node: u32, port: Port, set: u32, order: u32) {
        let at = node as usize * self.ports + port.index();
        (self.by_port[at], self.order[at]) = (set, order);
    }

    fn of(&self, node: NodeId, port: Port) -> Option<&Set> {
        let set = *self.by_port.get(node.index() * self.ports + port.index())?;
        self.sets.get(set as usize)
    }

    /// Position of a link in the description; `None` for a link of an endpoint that has no name of its own.
    pub(super) fn order(&self, node: NodeId, port: Port) -> Option<u32> {
        self.order.get(node.index() * self.ports + port.index()).copied().filter(|&order| order != NONE)
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

    /// True if the description gives delays as times, even if they are cycles now.
    #[must_use]
    pub fn has_times(&self) -> bool {
        self.links().is_some_and(|links| links.has_times)
    }

    /// This network with all delays in cycles of a phit of `phit_bytes` bytes at `rate`.
    ///
    /// # Errors
    /// A delay that is no whole number of cycles, or too long, with its place in the file.
    pub fn in_cycles(&self, phit_bytes: u32, rate: u64) -> Result<Self, SpecError> {
        let Some(links) = self.links().filter(|_| self.has_times()) else {
            return Ok(self.clone());
        };
        let mut links = links.clone();
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
            if given.attribute == Attribute::Time {
                given.attribute = Attribute::Cycles;
            }
        }
        Ok(Self { links: Some(Arc::new(links)), ..self.clone() })
    }
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
