//! The links of a network, with names for readers.

use std::cmp::Ordering;

use trgen::NodeId;

use fsin_core::topology::{Port, Rows, Topology, port_name};

/// Maximum number of links of a network for which links are reported.
const MOST_LINKS: usize = 1 << 18;

/// A directed link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link {
    /// The router that sends.
    pub(super) from: usize,
    /// The router that receives.
    pub(super) to: usize,
    /// The output port of the sending router.
    pub(super) port: usize,
    /// Index of its class in [`Net::classes`].
    pub(crate) class: usize,
}

/// The routers of a network and what links them.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Net {
    /// Specification of the network, such as `torus:8x8`.
    pub(crate) spec: String,
    /// \[nodes\] By dimension: the size of a torus or mesh; `None` for other networks.
    pub(crate) grid: Option<Vec<usize>>,
    /// Number of routers. Those of endpoints come first.
    pub(super) routers: usize,
    /// Number of routers that are endpoints of a network of switches.
    pub(super) endpoints: usize,
    /// The rows of a network of switches.
    pub(super) rows: Option<Rows>,
    /// Directed links, in the order of routers and ports.
    pub(crate) links: Vec<Link>,
    /// Names of the link classes.
    pub(crate) classes: Vec<String>,
}

impl Net {
    /// The network of a topology. Networks with more than [`MOST_LINKS`] ports have no links here.
    pub(crate) fn of(topology: &dyn Topology) -> Self {
        let (routers, outputs) = (topology.nodes(), topology.outputs());
        let switched = topology.switched();
        let sizes: Vec<usize> = topology.geometry().sizes().iter().map(|&size| size as usize).collect();
        let grid = match switched {
            None if topology.is_grid() && sizes.len() > 1 => Some(sizes),
            None if topology.is_grid() => Some(vec![routers]),
            _ => None,
        };
        let mut net = Self {
            spec: topology.spec(),
            grid,
            routers,
            endpoints: switched.map_or(0, |_| topology.endpoints()),
            rows: switched.map(Rows::of),
            links: Vec::new(),
            classes: Vec::new(),
        };
        if outputs.count() > MOST_LINKS {
            return net;
        }
        let (places, classes) = (net.places(), topology.link_classes());
        for (from, port) in outputs.all() {
            let Some(to) = topology.neighbour(from, port).map(NodeId::index) else { continue };
            let (from, port) = (from.index(), port.index());
            let class = match (switched, classes.get(topology.link_class(NodeId::at(from), Port::at(port)))) {
                (Some(_), Some(class)) => net.directed(class, from, to, &places),
                _ => format!("{} links", port_name(topology, port)),
            };
            let class = net.classes.iter().position(|known| *known == class).unwrap_or_else(|| {
                net.classes.push(class);
                net.classes.len() - 1
            });
            net.links.push(Link { from, to, port, class });
        }
        net
    }

    /// By router: its row.
    pub(super) fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.routers];
        for (row, members) in self.rows.iter().flat_map(|rows| rows.members.iter().enumerate()) {
            for &member in members {
                places[member as usize] = row;
            }
        }
        places
    }

    /// The name of the class of links of a network of switches in the direction from one router to another: the least and
    /// the most that links carry differ up and down. `places` has the rows of routers.
    fn directed(&self, class: &str, from: usize, to: usize, places: &[usize]) -> String {
        if from < self.endpoints {
            return "from endpoints".to_owned();
        }
        // Rows are stages, which are above each other, or groups.
        let has_stages = self.rows.as_ref().is_some_and(|rows| rows.name == "stage");
        match places[from].cmp(&places[to]) {
            Ordering::Less if has_stages => format!("{class}, up"),
            Ordering::Greater if has_stages => format!("{class}, down"),
            _ => class.to_owned(),
        }
    }

    /// The name of a link for readers.
    pub(crate) fn name(&self, link: &Link) -> String {
        format!("{} to {}", self.router(link.from), self.router(link.to))
    }

    /// The name of a router for readers.
    pub(crate) fn router(&self, router: usize) -> String {
        match &self.grid {
            Some(sizes) if sizes.len() > 1 => {
                let mut rest = router;
                let coordinate = |size: &usize| {
                    let here = rest % size;
                    rest /= size;
                    here.to_string()
                };
                format!("({})", sizes.iter().map(coordinate).collect::<Vec<_>>().join(","))
            }
            None if router < self.endpoints => format!("endpoint {router}"),
            None if self.endpoints > 0 => format!("switch {router}"),
            _ => format!("node {router}"),
        }
    }
}
