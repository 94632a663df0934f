//! The fixed properties of a run, sent before its snapshots.

use serde::{Deserialize, Serialize};

/// Largest number of links that are shown one by one. For larger networks only routers are shown.
pub const MAX_LINKS: usize = 1 << 18;

/// Arrangement of the routers for display.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Layout {
    /// Router i is at x = i mod X, y = (i / X) mod Y, ...
    Grid {
        /// Routers in each dimension, dimension 0 first.
        sizes: Vec<u32>,
    },
    /// Named rows: the stages of a tree, the groups of a dragonfly.
    Rows {
        /// Name of a row: `stage`, `group`.
        name: String,
        /// The routers of each row, in order.
        rows: Vec<Vec<u32>>,
    },
    /// In order of their numbers.
    List,
}

/// The fixed properties of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct About {
    /// One-line description of the simulation.
    pub title: String,
    /// Number of nodes that send and receive.
    pub nodes: usize,
    /// Number of routers.
    pub routers: usize,
    /// Their arrangement.
    pub layout: Layout,
    /// The ports of every router: `X+`, `X-`, ...
    pub ports: Vec<String>,
    /// The router at the other end of each link, by router and port (index router x ports + port); `None` where there
    /// is no link. Empty if links are not shown one by one.
    pub links: Vec<Option<u32>>,
    /// \[phits\] Capacity of the transit queues at the input of a port.
    pub transit_phits: u32,
    /// \[phits\] Capacity of the injection queues of a router.
    pub injection_phits: u32,
    /// \[phits\] Length of a packet.
    pub packet_phits: u32,
    /// The unit of loads; empty if it is not known.
    #[serde(default)]
    pub load_unit: String,
    /// \[phits/node/cycle\] The rate that corresponds to a load of 1.
    #[serde(default = "one")]
    pub capacity: f64,
    /// Offered load in the unit of loads, if known.
    pub offered: Option<f64>,
    /// \[s\] Length of a cycle.
    pub cycle_seconds: Option<f64>,
}

/// The default of [`About::capacity`].
const fn one() -> f64 {
    1.0
}

impl About {
    /// The description of a run of which only the title and the number of nodes are known.
    #[must_use]
    pub fn bare(title: String, nodes: usize) -> Self {
        Self {
            title,
            nodes,
            routers: 0,
            layout: Layout::List,
            ports: Vec::new(),
            links: Vec::new(),
            transit_phits: 0,
            injection_phits: 0,
            packet_phits: 1,
            load_unit: String::new(),
            capacity: one(),
            offered: None,
            cycle_seconds: None,
        }
    }

    /// Checks the consistency of the fields, which external data may violate.
    ///
    /// # Errors
    /// A description of the inconsistency.
    pub fn check(&self) -> Result<(), String> {
        let routers = self.routers;
        if self.nodes > 1 << 31 || routers > 1 << 31 || self.ports.len() > 1 << 10 || self.packet_phits == 0 {
            return Err("its sizes are out of range".to_owned());
        }
        if !self.capacity.is_finite() || self.capacity <= 0.0 {
            return Err("the capacity of a node is out of range".to_owned());
        }
        let links = routers.checked_mul(self.ports.len()).ok_or("it has too many links")?;
        if !self.links.is_empty() && self.links.len() != links {
            return Err(format!("it lists {} links of {links}", self.links.len()));
        }
        if self.links.iter().flatten().any(|&to| to as usize >= routers) {
            return Err("a link leads to a router that does not exist".to_owned());
        }
        match &self.layout {
            Layout::Grid { sizes } => {
                let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size as usize));
                if product != Some(routers) || sizes.is_empty() {
                    return Err(format!("a grid of {sizes:?} has no {routers} routers"));
                }
            }
            Layout::Rows { rows, .. } => {
                if rows.iter().flatten().any(|&router| router as usize >= routers) {
                    return Err("a row names a router that does not exist".to_owned());
                }
            }
            Layout::List => {}
        }
        Ok(())
    }

    /// Name of a router for the user: its number, and its coordinates in a grid, or its row.
    #[must_use]
    pub fn router_name(&self, router: usize) -> String {
        match (self.coordinates(router), self.row(router)) {
            (Some(coordinates), _) if coordinates.len() > 1 => {
                let words: Vec<String> = coordinates.iter().map(u32::to_string).collect();
                format!("{router} ({})", words.join(","))
            }
            (_, Some((name, row))) => format!("{router} ({name} {row})"),
            _ => router.to_string(),
        }
    }

    /// Name of a link for the user. In a grid it is the source and the direction; in rows, the numbers of source and
    /// destination.
    #[must_use]
    pub fn link_name(&self, router: usize, port: usize, to: usize) -> String {
        match self.layout {
            // The port numbers of switches have no meaning for the user.
            Layout::Rows { .. } => format!("{router} to {to}"),
            _ => format!("{} {}", self.router_name(router), self.ports[port]),
        }
    }

    /// The name and number of the row of a router. (Members of a row are in the order of their numbers.)
    fn row(&self, router: usize) -> Option<(&str, usize)> {
        let Layout::Rows { name, rows } = &self.layout else { return None };
        let router = u32::try_from(router).ok()?;
        Some((name, rows.iter().position(|row| row.binary_search(&router).is_ok())?))
    }

    /// Coordinates of a router in a grid, dimension 0 first.
    #[must_use]
    pub fn coordinates(&self, router: usize) -> Option<Vec<u32>> {
        let Layout::Grid { sizes } = &self.layout else { return None };
        let mut rest = router;
        let coordinate = |&size: &u32| {
            let size = (size as usize).max(1);
            let here = rest % size;
            rest /= size;
            here as u32
        };
        Some(sizes.iter().map(coordinate).collect())
    }

    /// The ports of a router that have a link, and the router at the other end of each.
    pub fn linked_ports(&self, router: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let ports = self.ports.len();
        let links = self.links.get(router * ports..(router + 1) * ports).unwrap_or_default();
        links.iter().enumerate().filter_map(|(port, to)| Some((port, (*to)? as usize)))
    }

    /// \[phits\] Capacity of the transit queues of a router.
    #[must_use]
    pub fn transit_capacity(&self) -> u64 {
        u64::from(self.transit_phits) * self.ports.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused() {
        let good = About {
            routers: 6,
            layout: Layout::Grid { sizes: vec![3, 2] },
            ports: vec!["X+".to_owned()],
            links: vec![Some(1); 6],
            ..About::bare("a grid".to_owned(), 6)
        };
        assert_eq!(good.check(), Ok(()));
        assert_eq!(good.router_name(4), "4 (1,1)");
        assert_eq!(good.link_name(4, 0, 5), "4 (1,1) X+");
        let rows = Layout::Rows { name: "stage".to_owned(), rows: vec![vec![0, 1, 2], vec![3, 4], vec![5]] };
        let tree = About { layout: rows, ..good.clone() };
        assert_eq!((tree.router_name(4).as_str(), tree.link_name(4, 0, 5).as_str()), ("4 (stage 1)", "4 to 5"));
        for bad in [
            About { routers: 5, ..good.clone() },
            About { links: vec![None; 5], ..good.clone() },
            About { links: vec![Some(6); 6], ..good.clone() },
            About { layout: Layout::Rows { name: "stage".to_owned(), rows: vec![vec![6]] }, ..good.clone() },
            About { packet_phits: 0, ..good.clone() },
            About { capacity: 0.0, ..good.clone() },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
