//! Routers and ports as readers know them: rows of a network of switches, names of ports.

use trgen::NodeId;

use super::{Port, Switched, Topology};

/// Routers of a network of switches, in the rows in which the network is drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rows {
    /// What a row is called.
    pub name: &'static str,
    /// By row: its routers. The row of endpoints comes first.
    pub members: Vec<Vec<u32>>,
}

impl Rows {
    /// The rows of a network. If its switches form groups, each group is a row; otherwise each stage is one, which is a
    /// distance from the endpoints.
    #[must_use]
    pub fn of(network: &Switched) -> Self {
        let nodes = network.nodes();
        let (name, row) = match network.group(NodeId(0)) {
            Some(_) => {
                let group = |node| network.group(NodeId::at(node)).map(|group| group as usize);
                ("group", (0..nodes).map(group).collect())
            }
            None => ("stage", stages(network)),
        };
        let count = row.iter().flatten().max().map_or(0, |last| last + 1);
        let members = |which: usize| -> Vec<u32> {
            (0..nodes).filter(|&node| row[node] == Some(which)).map(|node| node as u32).collect()
        };
        Self { name, members: (0..count).map(members).collect() }
    }
}

/// \[links\] By router: its distance from the nearest endpoint; `None` if no path leads there.
fn stages(network: &Switched) -> Vec<Option<usize>> {
    let neighbours = |node: usize| {
        let node = NodeId::at(node);
        network.ports_of(node).filter_map(move |port| network.neighbour(node, port)).map(NodeId::index)
    };
    let mut stages = vec![None; network.nodes()];
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
    stages
}

/// The name of a port for readers: `X+` in a grid, `d0+` in another direct network, `port 3` of a switch.
#[must_use]
pub fn port_name(topology: &dyn Topology, port: usize) -> String {
    let shape = topology.shape();
    if shape.is_switched() {
        return format!("port {port}");
    }
    let (dimension, positive) = shape.direction(Port::at(port));
    // Dimensions of topologies other than grids are numbered, not named after coordinates.
    let axis = match dimension {
        0..3 if topology.is_grid() => ["X", "Y", "Z"][dimension].to_owned(),
        _ => format!("d{dimension}"),
    };
    format!("{axis}{}", if positive { '+' } else { '-' })
}
