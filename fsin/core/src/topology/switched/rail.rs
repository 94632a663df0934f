//! Planes: several copies of a network, to each of which every host has a link.
//!
//! A host (`H3`) has a network interface (`h3`, [`Nics`](super::Nics)) with a link to each plane, since a host of a
//! network has one link: a packet chooses its plane at that interface, by the routing of the run, and stays in it.
//! Where rates are given, the link between host and interface carries what all its planes do; without them it is a link
//! like all others.
//!
//! How it departs from reality: the interface of a host costs a hop, at each end.
//!
//! Decision: docs/decisions/0261-butterflies-and-planes.md.

use std::fmt::Write as _;

use trgen::catalog::{Component, ErrorKind, Parameter, SpecError, suggestion};

use super::graph::{MAX_MADE, network_of_list, parse_rate};
use super::plane::{Plane, delay_text, is_delay, link, words};
use super::{LinkAttributes, Switched, cluster};
use crate::topology::{Kind, Row, number, table::both_ways};

/// A valid specification, for errors.
const EXAMPLE: &str = "rail:k=4,of=(fattree:4,2)";

/// Row of `rail`.
pub(in crate::topology) const RAIL: Row = Row {
    component: Component {
        name: "rail",
        about: "k planes, each a network of its own, and a link of every host to each: rail:k=4,of=(fattree:4,2),rate=100Gb/s; \
                a packet chooses its plane as the routing chooses among equal links: by credits (vct and wormhole), a hash or load (flow), \
                ethernet in turn by source and destination, or by a hash with ecmp; a spanning tree uses one plane",
        parameters: &[
            Parameter { name: "k", about: "planes", range: "1 to 128", default: "" },
            Parameter {
                name: "of",
                about: "the network of each plane, in parentheses: any topology whose links lead both ways",
                range: "(fattree:4,2), (torus:4x4), (graph:FILE)",
                default: "",
            },
            Parameter {
                name: "rate",
                about: "rate of each link to and in a plane, where a file says nothing else; a host's own link then has that of all \
                        planes, and else that of one",
                range: "400Gb/s",
                default: "as the network model's settings say",
            },
            Parameter {
                name: "delay",
                about: "delay of each link to and in a plane, where a file says nothing else: a time, or cycles",
                range: "1us, 20",
                default: "as the network model's settings say",
            },
        ],
        source: "fsin's own, after machines whose hosts have a network card for each of several equal networks",
    },
    kind: Kind::Switched,
    example: "rail:k=2,of=(star:4)",
    build: |words, ways| both_ways(parse(words)?, ways),
};

/// Parses `k=4,of=(fattree:4,2),rate=100Gb/s`.
fn parse(given: &str) -> Result<Switched, SpecError> {
    const NAMES: [&str; 4] = ["k", "of", "rate", "delay"];
    let spec = format!("rail:{given}");
    let malformed = |what: String| SpecError::new(ErrorKind::Malformed, what, format!("write it as in `{EXAMPLE}`"));
    let mut values: [Option<&str>; NAMES.len()] = [None; NAMES.len()];
    for word in cluster::split(given) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let Some(at) = NAMES.iter().position(|&known| known == name) else {
            let what = format!("`{name}` in `{spec}` is no parameter of planes");
            return Err(SpecError::new(ErrorKind::UnknownName, what, &suggestion(name, &NAMES)));
        };
        if value.is_empty() {
            return Err(malformed(format!("`{name}` in `{spec}` has no value")));
        }
        if values[at].replace(value).is_some() {
            let what = format!("`{name}` stands twice in `{spec}`");
            return Err(SpecError::new(ErrorKind::Conflict, what, "give it once"));
        }
    }
    let [count, of, rate, delay] = values;
    let count = count.ok_or_else(|| malformed(format!("`{spec}` lacks k=")))?;
    let planes = number(&spec, count, EXAMPLE)? as usize;
    if !(1..=128).contains(&planes) {
        let what = format!("k = {planes} in `{spec}` is out of range");
        return Err(SpecError::new(ErrorKind::OutOfRange, what, "use 1 to 128"));
    }
    let of = of.and_then(|of| of.strip_prefix('(')?.strip_suffix(')')).filter(|of| !of.is_empty());
    let of = of.ok_or_else(|| malformed(format!("`{spec}` lacks of=, a network in parentheses")))?;
    let rate = rate.map(|rate| {
        parse_rate(rate).filter(|&rate| rate > 0).ok_or_else(|| {
            let what = format!("rate={rate} in `{spec}` is no data rate");
            SpecError::new(ErrorKind::Malformed, what, "write it with its unit: 100Gb/s, 50GB/s")
        })
    });
    let rate = rate.transpose()?;
    if delay.is_some_and(|delay| !is_delay(delay)) {
        let what = format!("delay= in `{spec}` is no delay");
        return Err(SpecError::new(ErrorKind::Malformed, what, "write a time, 300ns or 1us, or a number of cycles"));
    }
    let plane = Plane::parse(of).map_err(|error| error.within(format!("of= of `{spec}`: ")))?;
    let switches = plane.endpoints().saturating_add(planes.saturating_mul(plane.routers()));
    if switches > MAX_MADE {
        let what = format!("`{spec}` has {switches} routers and switches");
        return Err(SpecError::new(ErrorKind::TooLarge, what, format!("use at most {MAX_MADE}")));
    }
    let attributes = |said: LinkAttributes| {
        let own = said.delay.map(delay_text);
        words(said.rate.or(rate), own.as_deref().or(delay))
    };
    let mut text = String::new();
    for host in 0..plane.endpoints() {
        // A host can use all its planes at once.
        let of_planes = plane.of_endpoint(host);
        let fastest = of_planes.iter().filter_map(|said| said.rate).max().or(rate);
        let has_delay = delay.is_some() || of_planes.iter().any(|said| said.delay.is_some());
        let own = words(fastest.map(|rate| rate.saturating_mul(planes as u64)), has_delay.then_some("0"));
        let _ = writeln!(text, "H{host} h{host}{own}\nh{host} kind nic");
    }
    for number in 0..planes {
        let prefix = format!("p{number}");
        for host in 0..plane.endpoints() {
            let ends = [format!("h{host}"), format!("{prefix}.{}", plane.home(host))];
            link(&mut text, &ends, plane.of_endpoint(host).map(&attributes));
        }
        plane.links(&prefix, attributes, &mut text);
    }
    let built = network_of_list(&text, spec.clone(), None);
    built.map_err(|error| error.within(format!("`{spec}` as a graph: ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, Survey, Topology as _};

    #[test]
    fn counts_and_distances_by_formula() {
        for (of, planes) in [("star:4", 2), ("fattree:4,2", 4), ("torus:4x3", 3), ("hyperx:3x3:2", 1)] {
            assert!(!parse(&format!("k={planes},of=({of})")).unwrap().has_rates(), "{of}");
            let net = parse(&format!("k={planes},of=({of}),rate=100Gb/s")).unwrap();
            let one = topology::parse(of, 2).unwrap();
            let (all, plane) = (Survey::of(&net), Survey::of(&*one));
            let is_switched = one.switched().is_some();
            let routers = if is_switched { plane.switches } else { plane.nodes };
            assert_eq!((all.nodes, all.switches), (plane.nodes, plane.nodes + planes * routers), "{of}");
            // Links of a plane, of hosts to it, and of hosts to their routers.
            let of_plane = plane.links - if is_switched { 2 * plane.nodes } else { 0 };
            assert_eq!(all.links, planes * (of_plane + 2 * plane.nodes) + 2 * plane.nodes, "{of}");
            // Two links more than a network of switches, which counts those of hosts; four more than a direct one.
            assert_eq!(all.diameter, plane.diameter + if is_switched { 2 } else { 4 }, "{of}");
            let rates: Vec<_> = (0..net.endpoints())
                .map(|host| net.link(trgen::NodeId::at(host), net.fabric().port(trgen::NodeId::at(host), 0)).rate)
                .collect();
            assert_eq!(rates, vec![Some(planes as u64 * 100_000_000_000); plane.nodes], "{of}");
        }
    }

    #[test]
    fn bad_words_are_refused() {
        for (words, expected) in [
            ("of=(star:4)", "lacks k="),
            ("k=2", "lacks of="),
            ("k=2,of=star:4", "lacks of="),
            ("k=0,of=(star:4)", "k = 0"),
            ("k=2,of=(star:4),rate=10", "rate="),
            ("k=2,of=(star:4),delay=10m", "delay="),
            ("k=2,k=3,of=(star:4)", "twice"),
            ("k=2,off=(star:4)", "`off`"),
            ("k=2,of=(ring:4)", "of= of"),
            ("k=2,of=(fly:2,3)", "one way"),
            ("k=128,of=(rrg:s=64,d=4,p=2)", "routers and switches"),
        ] {
            let error = parse(words).unwrap_err();
            assert!(error.to_string().contains(expected), "{words}: {error}");
        }
    }
}
