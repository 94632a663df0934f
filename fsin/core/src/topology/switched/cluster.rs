//! Machines of two levels: nodes of several GPUs behind a scale-up network, and rails of a network between the nodes.
//!
//! Each GPU is an endpoint (`H0.3`: node 0, GPU 3) with a router of its own (`g0.3`), which has its links into the node
//! and, where it has a rail for itself, the one out of it. GPUs that share a rail share a switch that stands for the
//! network card (`n0.0`). Each rail is a network of its own, which has the cards of that rail of all nodes as its
//! endpoints. A packet for another GPU number thus changes the rail within its node or within that of its destination:
//! both are shortest paths. With `cross-rail=pxn` it does so within its node ([`Rails`]), as NCCL's PXN does.
//!
//! How it departs from reality: a GPU's own router costs a hop, and what a card or a bus within the node does is left
//! out.
//!
//! Decision: docs/decisions/0215-clusters.md.

use std::fmt::Write as _;
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, Parameter, SpecError, suggestion};

use super::graph::{MAX_MADE, network_of_list, parse_rate};
use super::plane::{Plane, delay_text, is_delay, words};
use super::{LinkAttributes, NOWHERE, Switched};
use crate::topology::{Kind, Row, number, rate_text, table::both_ways};

/// A valid specification, for errors.
const EXAMPLE: &str = "cluster:nodes=4,gpus=8,up-rate=450GB/s,rails=8,out=(star:4),out-rate=400Gb/s";

/// Row of `cluster`.
pub(in crate::topology) const CLUSTER: Row = Row {
    component: Component {
        name: "cluster",
        about: "nodes of several GPUs joined by a scale-up network, and rails between the nodes, each a network of its own: \
                cluster:nodes=4,gpus=8,up=switch,up-rate=450GB/s,up-delay=300ns,rails=8,out=(star:4),out-rate=400Gb/s,out-delay=1us; \
                GPU g of node n is endpoint n gpus + g",
        parameters: &[
            Parameter { name: "nodes", about: "nodes", range: "1 or more", default: "" },
            Parameter { name: "gpus", about: "GPUs of a node", range: "1 to 4096", default: "" },
            Parameter {
                name: "up",
                about: "what joins the GPUs of a node: a switch, a ring, or a link between every two (full)",
                range: "switch, ring, full",
                default: "switch",
            },
            Parameter {
                name: "up-rate",
                about: "rate of each link within a node",
                range: "450GB/s, 100Gb/s",
                default: "as the network model's settings say",
            },
            Parameter {
                name: "up-delay",
                about: "delay of each link within a node: a time, or cycles",
                range: "300ns, 5",
                default: "as the network model's settings say",
            },
            Parameter {
                name: "rails",
                about: "links of a node to the outside, each into a network of its own: one of all GPUs, or one for each",
                range: "divides gpus",
                default: "gpus",
            },
            Parameter {
                name: "out",
                about: "the network of each rail, in parentheses: any topology with an endpoint for each node",
                range: "(fattree:4,2), (torus:4x4), (graph:FILE)",
                default: "(star:NODES)",
            },
            Parameter {
                name: "out-rate",
                about: "rate of each link between nodes; stands with up-rate",
                range: "400Gb/s",
                default: "as the network model's settings say",
            },
            Parameter {
                name: "out-delay",
                about: "delay of each link between nodes: a time, or cycles",
                range: "1us, 20",
                default: "as the network model's settings say",
            },
            Parameter {
                name: "cross-rail",
                about: "where a message for a GPU of another rail changes rails: within the node that it leaves (pxn), or \
                        there or within that of its destination (any); pxn takes routings by shortest paths",
                range: "any, pxn",
                default: "any",
            },
        ],
        source: "fsin's own, after machines of eight GPUs with a network card for each",
    },
    kind: Kind::Switched,
    example: "cluster:nodes=4,gpus=4",
    build: |words, ways| both_ways(parse(words)?, ways),
};

/// What joins the GPUs of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Up {
    Switch,
    Ring,
    Full,
}

/// Where messages leave their node: only from a GPU of the rail of their destination, where a shortest path does so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rails {
    /// By node of the network.
    stands: Vec<Stand>,
}

/// What a node of the network is in a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stand {
    /// The router of a GPU, with its node and its rail.
    Gpu { node: u32, rail: u32 },
    /// The switch that joins the GPUs of a node.
    Within,
    /// An endpoint, a card, or part of the network between nodes.
    Other,
}

impl Rails {
    /// Those of a machine whose network has these names.
    fn of(network: &Switched, sharing: usize) -> Self {
        let stand = |node: usize| {
            let name = network.name(NodeId::at(node)).unwrap_or("");
            let gpu = || {
                let (node, gpu) = name.strip_prefix('g')?.split_once('.')?;
                Some(Stand::Gpu { node: node.parse().ok()?, rail: gpu.parse::<u32>().ok()? / sharing as u32 })
            };
            if name.starts_with('u') { Stand::Within } else { gpu().unwrap_or(Stand::Other) }
        };
        Self { stands: (0..network.fabric().nodes()).map(stand).collect() }
    }

    /// True if a link from one router to another keeps to the rule for messages to a GPU with the router `home`.
    #[must_use]
    pub fn keep(&self, here: NodeId, there: NodeId, home: NodeId) -> bool {
        let stand = |router: NodeId| self.stands.get(router.index()).copied().unwrap_or(Stand::Other);
        match (stand(here), stand(home)) {
            (Stand::Gpu { node, rail }, Stand::Gpu { node: to_node, rail: to_rail }) => {
                node == to_node || rail == to_rail || stand(there) != Stand::Other
            }
            _ => true,
        }
    }
}

/// The numbers of a machine.
struct Cluster {
    spec: String,
    nodes: usize,
    gpus: usize,
    up: Up,
    rails: usize,
    /// \[b/s\] Of each link within a node, and between nodes.
    rates: Option<[u64; 2]>,
    /// Within a node, and between nodes, as in a description of a network.
    delays: [Option<String>; 2],
    out: String,
}

/// The words of a specification, `NAME=VALUE`, which are separated by commas outside parentheses.
pub(super) fn split(words: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, letter) in words.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&words[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&words[begin..]);
    parts
}

/// The part of a specification that is that of the network between nodes, or of planes, without its parentheses.
pub(super) fn inner(spec: &str) -> Option<&str> {
    let (words, name) = [("cluster:", "out="), ("rail:", "of=")]
        .iter()
        .find_map(|(own, name)| Some((spec.strip_prefix(own)?, name)))?;
    let out = split(words).into_iter().find_map(|word| word.strip_prefix(name))?;
    Some(out.strip_prefix('(')?.strip_suffix(')').unwrap_or(out))
}

/// Parses `nodes=4,gpus=8,out=(fattree:4,2)`.
fn parse(words: &str) -> Result<Switched, SpecError> {
    const NAMES: [&str; 10] =
        ["nodes", "gpus", "up", "up-rate", "up-delay", "rails", "out", "out-rate", "out-delay", "cross-rail"];
    let spec = format!("cluster:{words}");
    let as_in_the_example = || format!("write it as in `{EXAMPLE}`");
    let mut given: [Option<&str>; NAMES.len()] = [None; NAMES.len()];
    for word in split(words) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let Some(at) = NAMES.iter().position(|&known| known == name) else {
            let near = suggestion(name, &NAMES);
            let what = format!("`{name}` in `{spec}` is no parameter of a cluster");
            return Err(SpecError::new(ErrorKind::UnknownName, what, &near));
        };
        if value.is_empty() {
            return Err(SpecError::new(
                ErrorKind::Malformed,
                format!("`{name}` in `{spec}` has no value"),
                as_in_the_example(),
            ));
        }
        if given[at].replace(value).is_some() {
            return Err(SpecError::new(
                ErrorKind::Conflict,
                format!("`{name}` stands twice in `{spec}`"),
                "give it once",
            ));
        }
    }
    let [nodes, gpus, up, up_rate, up_delay, rails, out, out_rate, out_delay, cross_rail] = given;
    let count = |name: &str, value: Option<&str>, absent: Option<usize>, most: usize| -> Result<usize, SpecError> {
        let value = match (value, absent) {
            (Some(value), _) => number(&spec, value, EXAMPLE)? as usize,
            (None, Some(absent)) => absent,
            (None, None) => {
                return Err(SpecError::new(
                    ErrorKind::Malformed,
                    format!("`{spec}` lacks {name}="),
                    as_in_the_example(),
                ));
            }
        };
        if (1..=most).contains(&value) {
            return Ok(value);
        }
        let what = format!("{name} = {value} in `{spec}` is out of range");
        Err(SpecError::new(ErrorKind::OutOfRange, what, format!("use 1 to {most}")))
    };
    let nodes = count("nodes", nodes, None, MAX_MADE)?;
    let gpus = count("gpus", gpus, None, 4096)?;
    let rails = count("rails", rails, Some(gpus), gpus)?;
    if !gpus.is_multiple_of(rails) {
        let what = format!("{gpus} GPUs in `{spec}` do not share {rails} rails evenly");
        return Err(SpecError::new(ErrorKind::Conflict, what, "use a number of rails that divides that of GPUs"));
    }
    let rate = |name: &str, value: &str| {
        parse_rate(value).filter(|&rate| rate > 0).ok_or_else(|| {
            let what = format!("{name}={value} in `{spec}` is no data rate");
            SpecError::new(ErrorKind::Malformed, what, "write it with its unit: 400Gb/s, 450GB/s")
        })
    };
    let rates = match (up_rate, out_rate) {
        (Some(up), Some(out)) => Some([rate("up-rate", up)?, rate("out-rate", out)?]),
        (None, None) => None,
        _ => {
            let what = format!("`{spec}` gives the rate of one level");
            return Err(SpecError::new(ErrorKind::Conflict, what, "give both up-rate and out-rate, or neither"));
        }
    };
    for (name, delay) in [("up-delay", up_delay), ("out-delay", out_delay)] {
        if let Some(delay) = delay.filter(|delay| !is_delay(delay)) {
            let what = format!("{name}={delay} in `{spec}` is no delay");
            return Err(SpecError::new(
                ErrorKind::Malformed,
                what,
                "write a time, 300ns or 1us, or a number of cycles",
            ));
        }
    }
    let up = match up.unwrap_or("switch") {
        "switch" => Up::Switch,
        "ring" => Up::Ring,
        "full" => Up::Full,
        other => {
            let near = suggestion(other, &["switch", "ring", "full"]);
            let what = format!("up={other} in `{spec}` is no network within a node");
            return Err(SpecError::new(ErrorKind::UnknownName, what, &near));
        }
    };
    let keeps_rails = match cross_rail.unwrap_or("any") {
        "any" => false,
        "pxn" => true,
        other => {
            let near = suggestion(other, &["any", "pxn"]);
            let what = format!("cross-rail={other} in `{spec}` is no way to change rails");
            return Err(SpecError::new(ErrorKind::UnknownName, what, &near));
        }
    };
    let out = match out {
        None => format!("star:{nodes}"),
        Some(out) => match out.strip_prefix('(').and_then(|out| out.strip_suffix(')')) {
            Some(out) if !out.is_empty() => out.to_owned(),
            _ => {
                let what = format!("out={out} in `{spec}` is not in parentheses");
                return Err(SpecError::new(ErrorKind::Malformed, what, as_in_the_example()));
            }
        },
    };
    let delays = [up_delay, out_delay].map(|delay| delay.map(str::to_owned));
    let cluster = Cluster { spec, nodes, gpus, up, rails, rates, delays, out };
    let text = cluster.text()?;
    let built = network_of_list(&text, cluster.spec.clone(), None);
    let built = built.map_err(|error| error.within(format!("`{}` as a graph: ", cluster.spec)))?;
    let rails = keeps_rails.then(|| Arc::new(Rails::of(&built, gpus / cluster.rails)));
    let geometry = built.geometry.clone().with_group(gpus as u32).unwrap_or_else(|| built.geometry.clone());
    let machines = Some(built.names.iter().map(|name| cluster.machine(name)).collect());
    Ok(Switched { geometry, rails, machines, ..built })
}

impl Cluster {
    /// The attributes of a link of a level: 0 within a node, 1 between nodes.
    fn attributes(&self, level: usize, own: LinkAttributes) -> String {
        let delay = own.delay.map(delay_text);
        words(own.rate.or(self.rates.map(|rates| rates[level])), delay.as_deref().or(self.delays[level].as_deref()))
    }

    /// The node in which a router of [this name](Self::text) has its links of level 0; [`NOWHERE`] if it has none.
    fn machine(&self, name: &str) -> u32 {
        let number = name.strip_prefix(['g', 'u']).and_then(|name| name.split('.').next()?.parse().ok());
        number.filter(|&node| (node as usize) < self.nodes).unwrap_or(NOWHERE)
    }

    /// Number of links within the node that a GPU has.
    const fn links_within(&self) -> usize {
        match self.up {
            _ if self.gpus == 1 => 0,
            Up::Switch => 1,
            Up::Ring if self.gpus == 2 => 1,
            Up::Ring => 2,
            Up::Full => self.gpus - 1,
        }
    }

    /// The machine as a list of links.
    fn text(&self) -> Result<String, SpecError> {
        let &Self { nodes, gpus, rails, .. } = self;
        let has_cards = rails < gpus;
        let plane = match nodes {
            1 => None,
            _ => Some(Plane::parse(&self.out).map_err(|error| error.within(format!("out of `{}`: ", self.spec)))?),
        };
        let of_planes = plane.as_ref().map_or(0, |plane| rails * plane.routers());
        let switches =
            nodes * (gpus + usize::from(self.up == Up::Switch) + if has_cards { rails } else { 0 }) + of_planes;
        if switches > MAX_MADE {
            let what = format!("`{}` has {switches} routers and switches", self.spec);
            return Err(SpecError::new(ErrorKind::TooLarge, what, format!("use at most {MAX_MADE}")));
        }
        let mut text = String::new();
        // A GPU can use all its links at once.
        let own = self.rates.map_or_else(String::new, |[up, out]| {
            let within = up.saturating_mul(self.links_within() as u64);
            format!(" rate {}", rate_text(within.saturating_add(if nodes > 1 { out } else { 0 }).max(1)))
        });
        let own_delay = if self.delays.iter().any(Option::is_some) { " delay 0" } else { "" };
        for (node, gpu) in (0..nodes).flat_map(|node| (0..gpus).map(move |gpu| (node, gpu))) {
            let _ = writeln!(text, "H{node}.{gpu} g{node}.{gpu}{own}{own_delay}");
        }
        self.within_nodes(&mut text);
        let Some(plane) = &plane else { return Ok(text) };
        if plane.endpoints() < nodes {
            let what = format!("out=({}) has {} endpoints, and there are {nodes} nodes", self.out, plane.endpoints());
            return Err(SpecError::new(ErrorKind::Conflict, what, "use a larger network, or fewer nodes"));
        }
        for rail in 0..rails {
            self.rail(rail, plane, &mut text);
        }
        Ok(text)
    }

    /// Adds the links within nodes.
    fn within_nodes(&self, text: &mut String) {
        let attributes = self.attributes(0, LinkAttributes::default());
        for node in 0..self.nodes {
            for gpu in 0..self.gpus {
                match self.up {
                    Up::Switch if self.gpus > 1 => {
                        let _ = writeln!(text, "g{node}.{gpu} u{node}{attributes}");
                    }
                    Up::Ring if self.gpus > 2 || gpu + 1 < self.gpus => {
                        let next = (gpu + 1) % self.gpus;
                        let _ = writeln!(text, "g{node}.{gpu} g{node}.{next}{attributes}");
                    }
                    Up::Full => {
                        for other in gpu + 1..self.gpus {
                            let _ = writeln!(text, "g{node}.{gpu} g{node}.{other}{attributes}");
                        }
                    }
                    Up::Switch | Up::Ring => {}
                }
            }
        }
    }

    /// Adds the network of a rail and the links of nodes to it.
    fn rail(&self, rail: usize, plane: &Plane, text: &mut String) {
        let attributes = self.attributes(1, LinkAttributes::default());
        let sharing = self.gpus / self.rails;
        for node in 0..self.nodes {
            let home = plane.home(node);
            let card = match sharing {
                1 => format!("g{node}.{rail}"),
                _ => {
                    let card = format!("n{node}.{rail}");
                    for gpu in rail * sharing..(rail + 1) * sharing {
                        let _ = writeln!(text, "g{node}.{gpu} {card}{attributes}");
                    }
                    card
                }
            };
            let _ = writeln!(text, "{card} r{rail}.{home}{attributes}");
        }
        plane.links(&format!("r{rail}"), |own| self.attributes(1, own), text);
    }
}
