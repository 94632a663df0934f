//! What a run is, for those who look at it.

use trgen::NodeId;
use tui::view::{About, Layout, MAX_LINKS};

use crate::experiment::{Experiment, Traffic};
use crate::router::RouterParams;
use crate::topology::switched::Plan;
use crate::topology::{self, Port, Switched, Topology};

/// The network of this topology and these routers. `title` says what runs on it.
#[must_use]
pub fn about(topology: &dyn Topology, params: &RouterParams, title: String) -> About {
    let (nodes, shape) = (topology.nodes(), topology.shape());
    let name = |port: usize| {
        if shape.is_switched() {
            return format!("port {port}");
        }
        let (dimension, positive) = shape.direction(Port(port as u8));
        // Hops of topologies that are no grid are numbered, not named after coordinates.
        let axis = match dimension {
            0..3 if topology.is_grid() => ["X", "Y", "Z"][dimension].to_owned(),
            _ => format!("d{dimension}"),
        };
        format!("{axis}{}", if positive { '+' } else { '-' })
    };
    let ports = shape.ports();
    let link =
        |index: usize| topology.neighbour(NodeId::at(index / ports), Port((index % ports) as u8)).map(|node| node.0);
    let links = if nodes * ports <= MAX_LINKS { (0..nodes * ports).map(link).collect() } else { Vec::new() };
    let sizes = topology.geometry().sizes();
    About {
        title,
        nodes: topology.endpoints(),
        routers: nodes,
        layout: match topology.switched() {
            Some(switched) => rows(switched),
            None if sizes.len() > 1 => Layout::Grid { sizes: sizes.to_vec() },
            None => Layout::List,
        },
        ports: (0..ports).map(name).collect(),
        links,
        transit_phits: params.queue_phits() * params.vcs as u32,
        injection_phits: params.queue_phits() * params.injectors as u32,
        packet_phits: params.packet_phits,
        offered: None,
        cycle_seconds: None,
    }
}

/// A network of switches in rows: a dragonfly by groups, others by stages, which are distances from the endpoints. Endpoints
/// stand before the switches of their row.
fn rows(network: &Switched) -> Layout {
    let (nodes, ports) = (network.nodes(), network.shape().ports());
    let neighbours = |node: usize| {
        (0..ports).filter_map(move |port| network.neighbour(NodeId::at(node), Port(port as u8))).map(NodeId::index)
    };
    let (name, row): (&str, Vec<Option<usize>>) = if let Plan::Dragonfly(plan) = network.plan() {
        let group = |node: usize| {
            let switch =
                if node < network.endpoints() { network.fabric().home(NodeId::at(node)).0 } else { NodeId::at(node) };
            Some(plan.place(switch).0 as usize)
        };
        ("group", (0..nodes).map(group).collect())
    } else {
        let mut stages = vec![None; nodes];
        let mut stage: Vec<usize> = (0..network.endpoints()).collect();
        for distance in 0.. {
            stage.retain(|&node| stages[node].replace(distance).is_none());
            if stage.is_empty() {
                break;
            }
            stage = stage.iter().flat_map(|&node| neighbours(node)).filter(|&node| stages[node].is_none()).collect();
            stage.sort_unstable();
            stage.dedup();
        }
        ("stage", stages)
    };
    let count = row.iter().flatten().max().map_or(0, |last| last + 1);
    let members = |which: usize| (0..nodes).filter(|&node| row[node] == Some(which)).map(|node| node as u32).collect();
    Layout::Rows { name: name.to_owned(), rows: (0..count).map(members).collect() }
}

/// An experiment in a line, what matters most first: a narrow terminal shows its beginning.
fn title(experiment: &Experiment) -> String {
    let effective = experiment.effective();
    let word = |name: &str| effective.iter().find(|(key, _)| key.name == name).map_or("", |(_, value)| value.as_str());
    let traffic = match &experiment.traffic {
        Traffic::Synthetic(_) if word("load").is_empty() => word("traffic").to_owned(),
        Traffic::Synthetic(_) => format!("{} load {} {}", word("traffic"), word("load"), word("temporal")),
        Traffic::Trace { path, .. } => {
            format!("trace {}", path.file_name().unwrap_or(path.as_os_str()).to_string_lossy())
        }
        Traffic::Kernel { spec, .. } => format!("kernel {spec}"),
        Traffic::Jobs { file, .. } => format!("jobs {}", file.path.display()),
    };
    let [routing, vcs, packet, seed] = ["routing", "vcs", "packet", "seed"].map(word);
    format!("{} | {traffic} | {routing} vcs {vcs} packet {packet} | seed {seed}", experiment.topology)
}

/// What an experiment simulates.
#[must_use]
pub fn of_experiment(experiment: &Experiment) -> About {
    let title = title(experiment);
    let Ok(topology) = topology::parse(&experiment.topology, experiment.ways) else {
        // An experiment holds a topology that parses.
        return About::bare(title, 0);
    };
    let tasks = !matches!(experiment.traffic, Traffic::Synthetic(_));
    let load = experiment.effective().into_iter().find(|(key, _)| key.name == "load");
    About {
        offered: load.filter(|_| !tasks).and_then(|(_, load)| load.parse().ok()),
        cycle_seconds: tasks.then_some(experiment.cycle_seconds),
        ..about(&*topology, &experiment.router, title)
    }
}
