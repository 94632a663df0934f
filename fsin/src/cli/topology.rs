//! `fsin topology`: properties of a topology.

use std::fmt::Write as _;
use std::sync::Arc;

use clap::ArgMatches;
use clap::parser::ValueSource;
use fsin::experiment::{self, Origin, Settings};
use fsin::family::{Ends, PHITS_PER_NODE_CYCLE};
use fsin::topology::{self, Port, Survey, Switched, Topology};
use fsin::words::counted;
use serde_json::{Map, Value, json};
use trgen::NodeId;
use trgen::quote;

use super::output::Document;
use super::{Complaint, Exit};

/// Output formats.
pub(crate) const FORMATS: [&str; 4] = ["table", "json", "dot", "svg"];

/// Largest number of nodes of a network that is not vertex-transitive. Its survey counts from each node, and takes
/// minutes for so many.
const MAX_NODES_COUNTED_FROM_EACH: usize = 1 << 16;

/// Largest number of nodes of any network. The survey of so many takes gigabytes of memory.
const MAX_NODES: usize = 1 << 24;

/// Largest number of blocked links that the table names.
const MAX_BLOCKED: usize = 16;

/// Describes the topology of a specification.
pub(crate) fn topology(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let word = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let ways = matches.get_one::<usize>("ways").copied().unwrap_or(2);
    let (topology, unit, blocked) = match matches.get_one::<String>("network") {
        Some(network) => of_network(network, word("spec"), matches)?,
        None => {
            let topology = topology::parse(word("spec"), ways)
                .map_err(|refusal| Complaint::new(Exit::Usage, refusal.what(), refusal.remedy()))?;
            (Arc::from(topology), PHITS_PER_NODE_CYCLE, None)
        }
    };
    let nodes = topology.nodes();
    let (most, why) = match topology.is_vertex_transitive() {
        true => (MAX_NODES, "to be counted"),
        false => (MAX_NODES_COUNTED_FROM_EACH, "to be counted from each of them"),
    };
    if nodes > most {
        let what = format!("the {nodes} nodes of {} are too many {why}", topology.spec());
        return Err(Complaint::new(Exit::Usage, what, format!("use at most {most} nodes")));
    }
    let text = match word("format") {
        "dot" => dot(&*topology, blocked.as_deref().unwrap_or_default()),
        "svg" => super::picture::svg(&*topology, blocked.as_deref().unwrap_or_default())?,
        "json" => format!("{:#}\n", Value::Object(figures(&*topology, blocked.as_deref()))),
        _ => table(&*topology, unit, blocked.as_deref()),
    };
    Document::open(matches)?.print(&text)?;
    Ok(Exit::Done)
}

/// A topology, the unit of load of its network, and the links that the network blocks, if it ever blocks any.
type OfNetwork = (Arc<dyn Topology>, &'static str, Option<Vec<Ends>>);

/// The topology of a specification as a network model uses it.
fn of_network(network: &str, spec: &str, matches: &ArgMatches) -> Result<OfNetwork, Complaint> {
    let mut settings = Settings::default();
    settings.set("network", network, Origin::Flag)?;
    settings.set("topology", spec, Origin::Flag)?;
    if matches.value_source("ways") == Some(ValueSource::CommandLine) {
        settings.set("ways", matches.get_one::<usize>("ways").map_or(2, |&ways| ways).to_string(), Origin::Flag)?;
    }
    let (model, network) = experiment::network_of(settings)?;
    let topology = network.topology().ok_or_else(|| {
        let what = format!("--network {}: this model has no topology", model.component.name);
        Complaint::new(Exit::Usage, what, "leave it out, or name a network with links: vct, wormhole, ethernet")
    })?;
    Ok((Arc::clone(topology), model.load_unit, network.blocked_links()))
}

/// True for a port of a blocked link.
pub(super) fn is_blocked(blocked: &[Ends], node: NodeId, port: Port) -> bool {
    blocked.iter().any(|ends| ends.contains(&(node, port)))
}

/// The properties of a topology as JSON.
fn figures(topology: &dyn Topology, blocked: Option<&[Ends]>) -> Map<String, Value> {
    let survey = Survey::of(topology);
    let figures = json!({
        "schema": 1,
        "topology": topology.spec(),
        "ways": topology.ways(),
        "nodes": survey.nodes,
        "switches": survey.switches,
        "links": survey.links,
        "degree_min": survey.degree_min,
        "degree_max": survey.degree_max,
        "diameter_hops": survey.diameter,
        "distance_mean_hops": survey.distance_mean,
        "middle_links": survey.middle_links,
        "uniform_load_bound_phits_per_node_cycle": survey.uniform_load_bound,
    });
    let Value::Object(mut figures) = figures else { return Map::new() };
    if let Some(blocked) = blocked {
        let link = |&[(node, port), (to_node, to_port)]: &Ends| json!({ "node": node.0, "port": port.0, "to_node": to_node.0, "to_port": to_port.0 });
        figures.insert("blocked_links".to_owned(), blocked.iter().map(link).collect());
    }
    figures
}

/// The properties of a topology as lines of text.
fn table(topology: &dyn Topology, unit: &str, blocked: Option<&[Ends]>) -> String {
    let survey = Survey::of(topology);
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
    let degree = match (survey.degree_min, survey.degree_max) {
        (least, most) if least == most => counted(most, "link", "links"),
        (least, most) => format!("{least} to {most} links"),
    };
    let endpoints = counted(survey.nodes, "endpoint", "endpoints");
    let (router, halves) = match survey.switches {
        0 => ("node", "from the lower to the upper half of the numbers"),
        _ => ("switch", "must be cut to part the lower from the upper half of the endpoints"),
    };
    // A bound above 1 exceeds what one injector sends.
    let injectors = match survey.uniform_load_bound {
        Some(bound) if bound > 1.0 && unit == PHITS_PER_NODE_CYCLE => " (each injector sends up to 1: --injectors)",
        _ => "",
    };
    let blocked = blocked.map_or_else(String::new, |blocked| {
        let name = |(node, port): (NodeId, Port)| format!("{node} port {}", port.0);
        let some = blocked.iter().take(MAX_BLOCKED).map(|&[one, other]| format!("{} - {}", name(one), name(other)));
        let more = if blocked.len() > MAX_BLOCKED { ", ... (all with --format json)" } else { "" };
        let named = if blocked.is_empty() { String::new() } else { ": ".to_owned() };
        let links = counted(blocked.len(), "link", "links");
        format!("{links}, both ways{named}{}{more}", some.collect::<Vec<_>>().join(", "))
    });
    let rows = [
        ("topology", topology.spec()),
        (
            "nodes",
            match survey.switches {
                0 => survey.nodes.to_string(),
                switches => format!("{endpoints}, {}", counted(switches, "switch", "switches")),
            },
        ),
        ("links", format!("{}, one way", survey.links)),
        ("degree", format!("{degree} from each {router}")),
        ("diameter", counted(survey.diameter, "hop", "hops")),
        ("distance", format!("{} hops, mean over different nodes", number(survey.distance_mean))),
        ("middle", format!("{}, one way, {halves}", counted(survey.middle_links, "link", "links"))),
        ("uniform load", format!("{} {unit} at most{injectors}", number(survey.uniform_load_bound))),
    ];
    let rows = rows.into_iter().chain([("blocked", blocked)]).filter(|(_, value)| !value.is_empty());
    rows.fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name:<14}{value}");
        text
    })
}

/// The graph for Graphviz: a bidirectional link is one edge, a blocked one is broken.
fn dot(topology: &dyn Topology, blocked: &[Ends]) -> String {
    if let Some(network) = topology.switched() {
        return dot_of_switches(network, blocked);
    }
    let shape = topology.shape();
    let mut text = format!("digraph \"{}\" {{\n", quote::dot(&topology.spec()));
    for node in (0..topology.nodes()).map(NodeId::at) {
        for port in (0..shape.ports()).map(|port| Port(port as u8)) {
            let Some(there) = topology.neighbour(node, port) else { continue };
            let (dimension, positive) = shape.direction(port);
            // A bidirectional link is written once, from the node at its lower end.
            let back = |port: Port| topology.neighbour(there, port) == Some(node);
            if !positive && back(shape.port(dimension, true)) {
                continue;
            }
            let both = if shape.ways == 2 && back(shape.port(dimension, false)) { ", dir=both" } else { "" };
            let broken = if is_blocked(blocked, node, port) { ", style=dashed" } else { "" };
            let _ = writeln!(text, "  {node} -> {there} [label={dimension}{both}{broken}];");
        }
    }
    text.push_str("}\n");
    text
}

/// The switches, and the number of endpoints of each, in the input format of `--topology graph:FILE`.
fn dot_of_switches(network: &Switched, blocked: &[Ends]) -> String {
    let fabric = network.fabric();
    let mut endpoints = vec![0; fabric.nodes()];
    for endpoint in (0..fabric.endpoints()).map(NodeId::at) {
        endpoints[fabric.home(endpoint).0.index()] += 1;
    }
    let mut text = format!("graph \"{}\" {{\n", quote::dot(&network.spec()));
    let switches = || (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
    for switch in switches() {
        let label = network.name(switch).map_or(String::new(), |name| format!("label=\"{}\", ", quote::dot(name)));
        let _ = writeln!(text, "  {switch} [{label}endpoints={}];", endpoints[switch.index()]);
    }
    for switch in switches() {
        for port in (0..fabric.ports()).map(|port| Port(port as u8)) {
            // Each link is written from its end with the lower number. Links to endpoints, whose numbers are lower than
            // those of all switches, are left out.
            if let Some(there) = fabric.neighbour(switch, port).filter(|&there| there > switch) {
                let delay = Some(fabric.wire(switch, port)).filter(|&cycles| cycles > 0);
                let broken = is_blocked(blocked, switch, port).then(|| "style=dashed".to_owned());
                let attributes: Vec<String> =
                    delay.map(|cycles| format!("delay={cycles}")).into_iter().chain(broken).collect();
                let attributes = attributes.join(", ");
                let attributes = if attributes.is_empty() { attributes } else { format!(" [{attributes}]") };
                let _ = writeln!(text, "  {switch} -- {there}{attributes};");
            }
        }
    }
    text.push_str("}\n");
    text
}
