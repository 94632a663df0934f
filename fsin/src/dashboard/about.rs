//! Description of a run for viewers.

use trgen::NodeId;
use tui::view::{About, Layout, MAX_LINKS};

use fsin_core::family::NetworkSpec;
use fsin_core::topology::{Port, Rows, Topology, port_name};
use fsin_experiment::Experiment;

/// The description of a network for viewers. `title` is the text that they show above it.
#[must_use]
pub fn about(network: &dyn NetworkSpec, load_unit: &str, title: String) -> About {
    let Some(topology) = network.topology() else { return About::bare(title, network.geometry().nodes()) };
    let topology: &dyn Topology = &**topology;
    let room = network.room();
    let (nodes, shape) = (topology.nodes(), topology.shape());
    let ports = shape.ports();
    let link = |index: usize| topology.neighbour(NodeId::at(index / ports), Port::at(index % ports)).map(|node| node.0);
    // A switch of very many ports is not drawn port by port.
    let is_alike = topology.outputs().are_alike();
    let links =
        if nodes * ports <= MAX_LINKS && is_alike { (0..nodes * ports).map(link).collect() } else { Vec::new() };
    let sizes = topology.geometry().sizes();
    About {
        title,
        nodes: topology.endpoints(),
        routers: nodes,
        layout: match topology.switched() {
            Some(switched) => {
                let Rows { name, members } = Rows::of(switched);
                Layout::Rows { name: name.to_owned(), rows: members }
            }
            None if sizes.len() > 1 => Layout::Grid { sizes: sizes.to_vec() },
            None => Layout::List,
        },
        ports: (0..if is_alike { ports } else { 0 }).map(|port| port_name(topology, port)).collect(),
        links,
        transit_phits: room.map_or(0, |room| room.transit_phits),
        injection_phits: room.map_or(0, |room| room.injection_phits),
        packet_phits: network.units().packet_phits,
        load_unit: load_unit.to_owned(),
        capacity: network.units().capacity,
        offered: None,
        cycle_seconds: None,
    }
}

/// An experiment in one line. The most important settings come first, because a narrow terminal shows only the
/// beginning.
fn title(experiment: &Experiment) -> String {
    let effective = experiment.effective();
    let word = |name: &str| effective.iter().find(|(key, _)| key.name == name).map_or("", |(_, value)| value.as_str());
    let traffic = experiment.workload.title(&|name| word(name).to_owned());
    let [routing, vcs, packet, seed] = ["routing", "vcs", "packet", "seed"].map(word);
    let network = match (experiment.topology(), experiment.model.component.name) {
        (Some(topology), "vct") => topology.spec(),
        (Some(topology), model) => format!("{} {model}", topology.spec()),
        (None, model) => model.to_owned(),
    };
    let routing = match routing {
        "" => String::new(),
        _ => format!("{routing} vcs {vcs} "),
    };
    format!("{network} | {traffic} | {routing}packet {packet} | seed {seed}")
}

/// The description of an experiment.
#[must_use]
pub fn of_experiment(experiment: &Experiment) -> About {
    let title = title(experiment);
    let tasks = experiment.workload.has_tasks();
    let load = experiment.effective().into_iter().find(|(key, _)| key.name == "load");
    About {
        offered: load.filter(|_| !tasks).and_then(|(_, load)| load.parse().ok()),
        cycle_seconds: tasks.then_some(experiment.cycle_seconds),
        ..about(&*experiment.network, experiment.model.load_unit, title)
    }
}
