//! `fsin topology --format svg`: drawings of networks.
//!
//! Grids are drawn as grids, the planes of more than two dimensions side by side; trees level by level, endpoints at
//! the bottom; all others in a circle, endpoints outside their switches. Links that skip nodes are bent. A
//! bidirectional link is one line; a one-way link has an arrow; a link that the network blocks is broken, a dead one
//! dotted and red.

use std::collections::{HashMap, HashSet};
use std::f64::consts::TAU;
use std::fmt::Write as _;

use fsin::family::Ends;
use fsin::report::{COLOURS, escape};
use fsin::topology::{DeadLink, Port, Topology, dead_link_name};
use trgen::NodeId;

use crate::cli::{Complaint, Exit};

/// Maximum number of nodes of a drawing: more are illegible.
const MAX_NODES: usize = 2048;

/// \[px\] Distance between neighbours, and width of the margin.
const STEP: f64 = 40.0;
/// \[px\] Radius of a node.
const RADIUS: f64 = 7.0;

/// \[px\] A position: x to the right, y downwards.
type Place = (f64, f64);

/// True for a port of a blocked link.
fn is_blocked(blocked: &[Ends], node: NodeId, port: Port) -> bool {
    blocked.iter().any(|ends| ends.contains(&(node, port)))
}

/// The drawing of a topology as SVG. The links in `blocked` are drawn as broken lines, dead links as dotted red ones.
pub(crate) fn svg(topology: &dyn Topology, blocked: &[Ends], dead: &[DeadLink]) -> Result<String, Complaint> {
    let nodes = topology.nodes();
    if nodes > MAX_NODES {
        let what = format!("the {nodes} nodes of {} are too many for a picture", topology.spec());
        let remedy = format!("use at most {MAX_NODES} nodes, or --format dot and a tool for large graphs");
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
    let places = places(topology);
    let extent = |of: fn(&Place) -> f64| places.iter().map(of).fold(0.0, f64::max) + STEP;
    let mut drawn = String::new();
    let bends = links(topology, &places, blocked, &mut drawn);
    for link in dead {
        let (a, b) = (places[link.from.index()], places[link.to.index()]);
        let _ = writeln!(
            drawn,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" fill=\"none\" stroke=\"#c00\" stroke-width=\"2\" stroke-dasharray=\"1 4\" \
             stroke-linecap=\"round\"><title>dead: {}</title></path>",
            a.0,
            a.1,
            b.0,
            b.1,
            escape(&dead_link_name(topology, link))
        );
    }
    // Bent links may extend beyond the nodes.
    let least = |of: fn(&Place) -> f64| bends.iter().map(of).fold(RADIUS, f64::min) - RADIUS;
    let most = |of: fn(&Place) -> f64| bends.iter().map(of).fold(extent(of) - RADIUS, f64::max) + RADIUS;
    let (left, top) = (least(|place| place.0), least(|place| place.1));
    let (width, height) = (most(|place| place.0) - left, most(|place| place.1) - top);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{left:.0} {top:.0} {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"7\">\n<title>{}</title>\n<defs><marker id=\"to\" \
         viewBox=\"0 0 6 6\" refX=\"14\" refY=\"3\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L6 \
         3L0 6z\" fill=\"#555\"/></marker></defs>\n<rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        escape(&topology.spec())
    );
    text.push_str(&drawn);
    for (node, &(x, y)) in places.iter().enumerate() {
        let is_switch = node >= topology.endpoints();
        let (shape, kind) = if is_switch { ("#fff", "switch") } else { ("#ddd", "node") };
        let _ = writeln!(
            text,
            "<g><title>{kind} {node}</title><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\" fill=\"{shape}\" \
             stroke=\"#333\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{node}</text></g>",
            y + 2.5
        );
    }
    text.push_str("</svg>\n");
    Ok(text)
}

/// Draws every link into `text`, a bidirectional one once. Returns the outermost points of bent links.
fn links(topology: &dyn Topology, places: &[Place], blocked: &[Ends], text: &mut String) -> Vec<Place> {
    let mut bends = Vec::new();
    let outputs = topology.outputs();
    let link =
        |(from, port): (NodeId, Port)| Some((from.index(), topology.neighbour(from, port)?.index(), port.index()));
    let all: Vec<(usize, usize, usize)> = outputs.all().filter_map(link).collect();
    let directed: HashSet<(usize, usize)> = all.iter().map(|&(from, to, _)| (from, to)).collect();
    // Number of links drawn so far between two nodes: each of several parallel links is bent more than the one before.
    let mut drawn: HashMap<(usize, usize), usize> = HashMap::new();
    for (from, to, port) in all {
        let is_both = directed.contains(&(to, from));
        if is_both && from > to {
            continue;
        }
        let before = drawn.entry((from, to)).or_default();
        *before += 1;
        let (a, b) = (places[from], places[to]);
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let is_long = topology.switched().is_none() && dx.hypot(dy) > 1.5 * STEP;
        let bend = if is_long { 0.12 } else { 0.0 } + 0.15 * (*before - 1) as f64;
        let middle = (f64::midpoint(a.0, b.0) - dy * bend, f64::midpoint(a.1, b.1) + dx * bend);
        if bend != 0.0 {
            // A quadratic curve comes half as far as its control point.
            let between = (f64::midpoint(a.0, b.0), f64::midpoint(a.1, b.1));
            bends.push((f64::midpoint(between.0, middle.0), f64::midpoint(between.1, middle.1)));
        }
        let class = topology.link_class(NodeId::at(from), Port::at(port));
        let (colour, arrow) = (COLOURS[class % COLOURS.len()], if is_both { "" } else { " marker-end=\"url(#to)\"" });
        let is_blocked = is_blocked(blocked, NodeId::at(from), Port::at(port));
        let broken = if is_blocked { " stroke-dasharray=\"2 3\"" } else { "" };
        let _ = writeln!(
            text,
            "<path d=\"M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}\" fill=\"none\" stroke=\"{colour}\" stroke-opacity=\"0.7\"{arrow}{broken}/>",
            a.0, a.1, middle.0, middle.1, b.0, b.1
        );
    }
    bends
}

/// \[px\] Position of each node.
fn places(topology: &dyn Topology) -> Vec<Place> {
    let sizes = topology.geometry().sizes();
    if topology.switched().is_some() {
        let levels = levels(topology);
        let highest = levels.iter().copied().max().unwrap_or(0);
        return if highest > 1 { rows(&levels, highest) } else { rings(topology) };
    }
    // A ring of nodes is a circle, unless it is a mesh.
    let is_row = topology.is_grid() && !topology.is_vertex_transitive();
    match sizes.len() {
        1 if !is_row => circle(topology.nodes(), topology.nodes() as f64 * STEP / TAU, STEP),
        _ => {
            let cell = |node| cell(&topology.geometry().coordinates(NodeId::at(node)), sizes);
            let mut places: Vec<Place> = (0..topology.nodes()).map(cell).collect();
            let lowest = places.iter().map(|place| place.1).fold(STEP, f64::max);
            places.iter_mut().for_each(|place| place.1 = STEP + lowest - place.1);
            places
        }
    }
}

/// Position in a grid: dimensions 0, 2, 4, ... extend to the right, the others upwards, as in heat maps. Each plane is
/// beside or above the previous one.
fn cell(coordinates: &[u32], sizes: &[u32]) -> Place {
    let mut place = (STEP, STEP);
    let mut steps = (STEP, STEP);
    for (dimension, (&at, &size)) in coordinates.iter().zip(sizes).enumerate() {
        let (place, step) =
            if dimension % 2 == 0 { (&mut place.0, &mut steps.0) } else { (&mut place.1, &mut steps.1) };
        *place += f64::from(at) * *step;
        *step *= f64::from(size) + 0.7;
    }
    place
}

/// Positions on a circle of this radius, but at least `least` \[px\].
fn circle(nodes: usize, radius: f64, least: f64) -> Vec<Place> {
    let radius = radius.max(least);
    let at = |node: usize| {
        let angle = TAU * node as f64 / nodes as f64 - TAU / 4.0;
        (STEP + radius * (1.0 + angle.cos()), STEP + radius * (1.0 + angle.sin()))
    };
    (0..nodes).map(at).collect()
}

/// \[hops\] Distance of each node from the nearest endpoint.
fn levels(topology: &dyn Topology) -> Vec<usize> {
    let mut levels = vec![usize::MAX; topology.nodes()];
    let mut reached: Vec<usize> = (0..topology.endpoints()).collect();
    levels[..topology.endpoints()].fill(0);
    let mut next = 0;
    while let Some(&here) = reached.get(next) {
        next += 1;
        for port in topology.ports_of(NodeId::at(here)) {
            if let Some(there) = topology.neighbour(NodeId::at(here), port).map(NodeId::index)
                && levels[there] == usize::MAX
            {
                levels[there] = levels[here] + 1;
                reached.push(there);
            }
        }
    }
    levels
}

/// Positions in horizontal rows, one for each level; the nodes of a row are spread over the whole width.
fn rows(levels: &[usize], highest: usize) -> Vec<Place> {
    let count = |level: usize| levels.iter().filter(|&&other| other == level).count();
    let widest = (0..=highest).map(count).max().unwrap_or(1) as f64 * STEP * 0.6;
    let mut before = vec![0usize; highest + 1];
    let place = |&level: &usize| {
        let level = level.min(highest);
        before[level] += 1;
        let x = STEP / 2.0 + widest * (before[level] as f64 - 0.5) / count(level) as f64;
        (x, STEP + (highest - level) as f64 * 2.5 * STEP)
    };
    levels.iter().map(place).collect()
}

/// Positions of switches in a circle, and of endpoints in a larger circle around it.
fn rings(topology: &dyn Topology) -> Vec<Place> {
    let (ends, nodes) = (topology.endpoints(), topology.nodes());
    let outer = circle(ends.max(1), ends as f64 * STEP * 0.6 / TAU, 3.0 * STEP);
    let switches = nodes - ends;
    let inner = circle(switches, 0.0, 1.0);
    let outer_radius = (ends as f64 * STEP * 0.6 / TAU).max(3.0 * STEP);
    let centre = STEP + outer_radius;
    let scale = outer_radius - 1.5 * STEP;
    let place = |(x, y): Place| (centre + (x - STEP - 1.0) * scale, centre + (y - STEP - 1.0) * scale);
    outer.into_iter().take(ends).chain(inner.into_iter().map(place)).collect()
}
