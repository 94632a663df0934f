//! Butterflies: stages of switches whose links lead one way, with a single route between two endpoints.
//!
//! Packets of endpoint s enter at switch s / k of the first stage. Port j of a switch of stage i leads to the switch of
//! the next stage in whose number, of n - 1 digits, digit i is j in place of its own, the first digit first; that of
//! the last stage to endpoint k w + j. So the digits of the destination are the ports of the route.
//!
//! How it departs from reality: an endpoint is one node, although its two links are at opposite sides of the network.
//!
//! Decision: docs/decisions/0261-butterflies-and-planes.md.

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};

use super::{Link, Plan, Switched, check_nodes};
use crate::topology::{Kind, Row, number, table::both_ways};

/// Row of `fly`.
pub(in crate::topology) const FLY: Row = Row {
    component: Component {
        name: "fly",
        about: "butterfly: n stages of k^(n-1) switches of k inputs and k outputs, links one way, and k^n endpoints: fly:2,3; one \
                route between two endpoints, of n+1 links; in models with links that lead one way, vct and wormhole",
        parameters: &[
            Parameter { name: "k", about: "ports of a switch", range: "2 to 128", default: "" },
            Parameter { name: "n", about: "stages", range: "1 to 20", default: "" },
        ],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapter 4: k-ary n-fly; BookSim's fly",
    },
    kind: Kind::OneWay,
    example: "fly:2,3",
    build: |words, ways| both_ways(parse(words)?, ways),
};

/// The plan of a butterfly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Butterfly {
    /// \[ports\] Of a switch, k.
    pub radix: u32,
    /// \[stages\] n.
    pub stages: u32,
}

impl Butterfly {
    /// \[switches\] Of each stage.
    const fn width(&self) -> u32 {
        self.radix.pow(self.stages - 1)
    }

    /// The port by which a switch, numbered from 0 stage by stage, leads to an endpoint.
    #[must_use]
    #[inline]
    pub const fn digit(&self, switch: u32, endpoint: u32) -> u32 {
        endpoint / self.radix.pow(self.stages - 1 - switch / self.width()) % self.radix
    }
}

impl Plan for Butterfly {
    fn group(&self, _switch: NodeId) -> Option<u32> {
        None
    }

    fn dimension(&self, _one: NodeId, _other: NodeId) -> Option<usize> {
        None
    }

    fn hops(&self, _from: NodeId, _to: NodeId) -> Option<u32> {
        Some(self.stages + 1)
    }

    fn top_subtrees(&self) -> Option<usize> {
        None
    }
}

/// Parses `2,3`.
fn parse(words: &str) -> Result<Switched, SpecError> {
    let spec = format!("fly:{words}");
    let as_in_the_example =
        || SpecError::new(ErrorKind::Malformed, format!("`{spec}` is no butterfly"), "write it as in `fly:2,3`");
    let (radix, stages) = words.split_once(',').ok_or_else(as_in_the_example)?;
    let (radix, stages) = (number(&spec, radix, FLY.example)?, number(&spec, stages, FLY.example)?);
    for (name, value, most) in [("k", radix, 128), ("n", stages, 20)] {
        let least = if name == "k" { 2 } else { 1 };
        if !(least..=most).contains(&value) {
            let what = format!("{name} = {value} in `{spec}` is out of range");
            return Err(SpecError::new(ErrorKind::OutOfRange, what, format!("use {least} to {most}")));
        }
    }
    let plan = Butterfly { radix, stages };
    let endpoints = u64::from(radix).checked_pow(stages);
    let count = endpoints.and_then(|count| (count / u64::from(radix)).checked_mul(stages.into())?.checked_add(count));
    let nodes = check_nodes(&spec, count)?;
    let (width, endpoints) = (plan.width(), plan.width() * radix);
    let switch = |stage: u32, own: u32| endpoints + stage * width + own;
    let mut links: Vec<Link> =
        (0..endpoints).map(|endpoint| Link::one_way((endpoint, 0), switch(0, endpoint / radix))).collect();
    for (stage, own) in (0..stages).flat_map(|stage| (0..width).map(move |own| (stage, own))) {
        for port in 0..radix {
            let to = match stage + 1 == stages {
                true => own * radix + port,
                false => {
                    let weight = radix.pow(stages - 2 - stage);
                    switch(stage + 1, own - own / weight % radix * weight + port * weight)
                }
            };
            links.push(Link::one_way((switch(stage, own), port), to));
        }
    }
    Switched::new(spec, endpoints as usize, nodes, &links, None, plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Port, Survey, Topology as _};

    #[test]
    fn counts_and_distances_by_formula() {
        for (radix, stages) in [(2_u32, 1_u32), (2, 3), (3, 2), (4, 3), (2, 5)] {
            let spec = format!("{radix},{stages}");
            let net = parse(&spec).unwrap();
            let endpoints = radix.pow(stages) as usize;
            let survey = Survey::of(&net);
            assert_eq!(
                (survey.nodes, survey.switches),
                (endpoints, stages as usize * endpoints / radix as usize),
                "{spec}"
            );
            // A link into each stage, and one out of the last, for each endpoint.
            assert_eq!(survey.links, (stages as usize + 1) * endpoints, "{spec}");
            assert_eq!((survey.degree_min, survey.degree_max), (radix as usize, radix as usize), "{spec}");
            assert_eq!((survey.diameter, survey.distance_mean), (stages + 1, Some(f64::from(stages + 1))), "{spec}");
            // Every link carries the traffic of one endpoint, if that sends to itself too.
            let bound = survey.uniform_load_bound.unwrap();
            assert!(bound <= 1.0 && bound >= 1.0 - 1.0 / endpoints as f64, "{spec}: {bound}");
        }
    }

    #[test]
    fn digits_lead_to_their_endpoint() {
        let net = parse("3,3").unwrap();
        let plan = *net.plan::<Butterfly>().unwrap();
        let fabric = net.fabric();
        for (from, to) in (0..27).flat_map(|from| (0..27).map(move |to| (from, to))) {
            let (mut here, mut hops) = (fabric.entry(NodeId(from)), 0);
            while here.index() >= 27 {
                let digit = plan.digit(here.0 - 27, to);
                here = net.neighbour(here, fabric.port(here, digit as usize)).unwrap();
                hops += 1;
            }
            assert_eq!((here, hops), (NodeId(to), 3));
        }
        // What a link leads to has no link back.
        assert!((0..54).all(|node| (0..3).all(|port| fabric.back(NodeId(node), Port(port)).is_none())));
        assert!(net.with_faults(1, 1).unwrap_err().to_string().contains("0 links"));
    }

    #[test]
    fn bad_sizes_are_refused() {
        for (words, expected) in
            [("2", "no butterfly"), ("1,3", "k = 1"), ("2,0", "n = 0"), ("2,x", "x"), ("128,19", "more than")]
        {
            let error = parse(words).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
