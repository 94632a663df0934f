//! A network as a part of another one: its routers and the links between them, as lines of a description.

use std::fmt::Write as _;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};

use super::{Delay, LinkAttributes};
use crate::topology::{Topology, rate_text, table, time_text};

/// A network that is part of another.
pub(super) struct Plane {
    topology: Box<dyn Topology>,
    /// Number of the first router among the nodes.
    first: usize,
}

impl Plane {
    /// The network of a specification.
    ///
    /// # Errors
    /// An invalid one; a network whose links lead one way.
    pub(super) fn parse(spec: &str) -> Result<Self, SpecError> {
        let topology = table::parse(spec, 2)?;
        if topology.switched().is_some_and(|network| network.fabric().leads_one_way()) {
            let what = format!("links of {spec} lead one way, and a description has links both ways");
            return Err(SpecError::new(ErrorKind::Unsupported, what, "use another network there"));
        }
        let first = if topology.switched().is_some() { topology.endpoints() } else { 0 };
        Ok(Self { topology, first })
    }

    /// Number of endpoints.
    pub(super) fn endpoints(&self) -> usize {
        self.topology.endpoints()
    }

    /// Number of routers.
    pub(super) fn routers(&self) -> usize {
        self.topology.nodes() - self.first
    }

    /// The router of an endpoint.
    pub(super) fn home(&self, endpoint: usize) -> usize {
        let switched = self.topology.switched();
        switched.map_or(endpoint, |network| network.fabric().home(NodeId::at(endpoint)).0.index() - self.first)
    }

    /// What is said of the link of an endpoint, to its router and back.
    pub(super) fn of_endpoint(&self, endpoint: usize) -> [LinkAttributes; 2] {
        let node = NodeId::at(endpoint);
        self.topology.switched().map_or_else(Default::default, |network| {
            let (home, port) = network.fabric().home(node);
            [network.link(node, network.fabric().port(node, 0)), network.link(home, port)]
        })
    }

    /// Writes the links between routers, which are named `PREFIX.NUMBER`, each with what `attributes` makes of what is
    /// said of it.
    pub(super) fn links(&self, prefix: &str, attributes: impl Fn(LinkAttributes) -> String, text: &mut String) {
        let plane = &*self.topology;
        for router in self.first..plane.nodes() {
            for port in plane.ports_of(NodeId::at(router)) {
                let Some(there) = plane.neighbour(NodeId::at(router), port).filter(|there| there.index() >= self.first)
                else {
                    continue;
                };
                let back = match plane.switched() {
                    Some(network) => network.fabric().back(NodeId::at(router), port),
                    None => {
                        let (dimension, is_positive) = plane.shape().direction(port);
                        Some(plane.shape().port(dimension, !is_positive))
                    }
                };
                // Each link once, from its lower end.
                let Some(back) = back.filter(|&back| (router, port) < (there.index(), back)) else { continue };
                let said = |node, port| {
                    plane.switched().map_or_else(LinkAttributes::default, |network| network.link(node, port))
                };
                let said = [said(NodeId::at(router), port), said(there, back)];
                let ends = [router, there.index()].map(|router| format!("{prefix}.{}", router - self.first));
                link(text, &ends, said.map(&attributes));
            }
        }
    }
}

/// Writes a link both ways, with the words of each direction.
pub(super) fn link(text: &mut String, [one, other]: &[String; 2], [there, back]: [String; 2]) {
    let _ = match there == back {
        true => writeln!(text, "{one} {other}{there}"),
        false => writeln!(text, "{one} -> {other}{there}\n{other} -> {one}{back}"),
    };
}

/// The words for a rate and a delay.
pub(super) fn words(rate: Option<u64>, delay: Option<&str>) -> String {
    let rate = rate.map_or_else(String::new, |rate| format!(" rate {}", rate_text(rate)));
    rate + &delay.map_or_else(String::new, |delay| format!(" delay {delay}"))
}

/// A delay as a description has it.
pub(super) fn delay_text(delay: Delay) -> String {
    match delay {
        Delay::Cycles(cycles) => cycles.to_string(),
        Delay::Time(span) => time_text(span),
    }
}

/// True for a delay as a description has it.
pub(super) fn is_delay(text: &str) -> bool {
    text.parse::<u32>().is_ok() || trgen::units::parse_span(text).is_some()
}
