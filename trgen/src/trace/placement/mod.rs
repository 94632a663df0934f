//! The node on which each task runs.
//!
//! Most placements are orders of the nodes. `greedy` and `optimise` use the communication matrix and the distances of
//! the network, and minimise the sum of bytes times hops.
//!
//! # How the model departs from reality, and who could notice
//! Bytes times hops ignores congestion, the order of messages and routing: two placements of the same sum may take
//! different times, and a placement of a lower sum may take longer if its messages share links at the same moment. Only
//! a simulation yields the time.
//!
//! Decisions: docs/decisions/0084-placements-by-traffic.md, docs/decisions/0670-settings-are-parsed-once.md.

mod file;
mod greedy;
mod grid;
mod optimise;
mod orders;
mod partners;

pub use optimise::Descent;
pub use partners::{Distance, hop_bytes};

use partners::Partners;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use crate::catalog::{Component, Described, ErrorKind, SpecError, Table};
use crate::geometry::Geometry;
use crate::phrase;
use crate::trace::matrix::Matrix;
use crate::units::NodeId;

/// Source of some placements.
const PASCUAL: &str = "Pascual, Navaridas, Miguel-Alonso, Effects of topology-aware allocation policies, JSSPP 2009";
/// Source of some placements.
const INSEE: &str = "INSEE, Interconnection Network Simulation and Evaluation Environment";

/// A placement of the table: its description, and what its words mean.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name, definition, parameters, source.
    pub component: Component,
    /// Parses the words after the colon. A placement whose component has no parameters gets none.
    pub parse: fn(Option<&str>) -> Result<Rule, SpecError>,
}

impl Described for Row {
    fn component(&self) -> &Component {
        &self.component
    }
}

/// An order of nodes: task i takes the i-th.
type Order = dyn Fn(&PlacementContext<'_>) -> Result<Vec<NodeId>, SpecError> + Send + Sync;

/// How a placement chooses nodes.
#[derive(Clone)]
pub enum Rule {
    /// By an order of nodes.
    Order(Arc<Order>),
    /// By the order in which a file names nodes.
    Listed(PathBuf),
    /// By the communication matrix and the distances, task after task.
    Greedy,
    /// By exchanges that lower bytes times hops.
    Optimise {
        /// Most rounds of exchanges.
        rounds: u64,
        /// The placement to begin with.
        start: Box<Placement>,
    },
    /// By a function that gives the node of each task; the network has this number of nodes.
    Computed(fn(&Known<'_>, usize) -> Vec<NodeId>),
}

impl Rule {
    /// A placement by an order of nodes.
    pub fn order(
        order: impl Fn(&PlacementContext<'_>) -> Result<Vec<NodeId>, SpecError> + Send + Sync + 'static,
    ) -> Self {
        Self::Order(Arc::new(order))
    }
}

/// The context in which an order of nodes is made.
#[derive(Clone, Copy, Debug)]
pub struct PlacementContext<'a> {
    /// Shape of the nodes.
    pub geometry: &'a Geometry,
    /// Number of tasks.
    pub tasks: usize,
    /// Run seed.
    pub seed: u64,
}

/// All placements. One line per member.
pub static PLACEMENTS: Table<Row> = Table::new(
    "placement",
    &[
        &orders::CONSECUTIVE,
        &grid::ROW,
        &grid::COLUMN,
        &grid::DIAGONAL,
        &grid::QUADRANT,
        &orders::SHUFFLE,
        &orders::SHIFT,
        &orders::RANDOM,
        &file::FILE,
        &greedy::GREEDY,
        &optimise::OPTIMISE,
    ],
);

/// Information for placements that depend on the application and the network.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The communication matrix, of as many tasks as are placed.
    pub matrix: &'a Matrix,
    /// Distances between the nodes.
    pub distance: &'a dyn Distance,
}

/// A placement of tasks on nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// The node of each task.
    pub nodes: Vec<NodeId>,
    /// Result of the descent, if there was one.
    pub descent: Option<Descent>,
}

/// A placement as it was written, such as `consecutive` or `optimise:10:shift:4`.
#[derive(Clone)]
pub struct Placement {
    text: String,
    rule: Rule,
}

impl FromStr for Placement {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (name, words) = text.split_once(':').map_or((text, None), |(name, words)| (name, Some(words)));
        let Row { component, parse } = PLACEMENTS.find(name).ok_or_else(|| PLACEMENTS.unknown(name))?;
        if let Some(words) = words.filter(|_| component.parameters.is_empty()) {
            return Err(SpecError::new(
                ErrorKind::Malformed,
                format!("placement `{name}` takes no parameter, but `{words}` follows it"),
                phrase!["write ", ["placement" => name]],
            ));
        }
        Ok(Self { text: text.to_owned(), rule: parse(words)? })
    }
}

/// Task i on node i.
impl Default for Placement {
    fn default() -> Self {
        Self { text: orders::CONSECUTIVE.component.name.to_owned(), rule: orders::consecutive() }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Placement").field(&self.text).finish()
    }
}

/// Rows have names of their own.
impl PartialEq for Placement {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// The error of a placement whose parameter is missing.
fn needs(name: &str, what: &str, example: &str) -> SpecError {
    let remedy = phrase!["write ", ["placement" => example]];
    SpecError::new(ErrorKind::Malformed, format!("placement `{name}` needs {what}"), remedy)
}

/// Rejects more tasks than nodes.
fn check_fit(context: &PlacementContext<'_>) -> Result<(), SpecError> {
    let (tasks, nodes) = (context.tasks, context.geometry.nodes());
    if tasks > nodes {
        return Err(SpecError::new(
            ErrorKind::TooLarge,
            format!("{tasks} tasks do not fit on {nodes} nodes, one task on each"),
            format!("use a topology of {tasks} nodes or more"),
        ));
    }
    Ok(())
}

impl Placement {
    /// True if it needs the communication matrix and the distances between nodes.
    #[must_use]
    pub const fn looks_at_traffic(&self) -> bool {
        matches!(self.rule, Rule::Greedy | Rule::Optimise { .. } | Rule::Computed(_))
    }

    /// The file that it reads.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.rule {
            Rule::Listed(path) => Some(path),
            Rule::Optimise { start, .. } => start.file(),
            Rule::Order(_) | Rule::Greedy | Rule::Computed(_) => None,
        }
    }

    /// Puts another path in the place of its file, if it reads one.
    pub fn replace_file(&mut self, path: impl FnOnce(&Path) -> PathBuf) {
        match &mut self.rule {
            Rule::Listed(file) => {
                *file = path(file);
                self.text = format!("{}:{}", file::FILE.component.name, file.display());
            }
            Rule::Optimise { start, .. } if start.file().is_some() => {
                // It is written last.
                self.text.truncate(self.text.len() - start.text.len());
                start.replace_file(path);
                self.text.push_str(&start.text);
            }
            Rule::Optimise { .. } | Rule::Order(_) | Rule::Greedy | Rule::Computed(_) => {}
        }
    }

    /// Makes the checks of [`place`](Self::place) that do not depend on the application.
    ///
    /// # Errors
    /// As [`place`](Self::place).
    pub fn check(&self, context: &PlacementContext<'_>) -> Result<(), SpecError> {
        match &self.rule {
            Rule::Optimise { start, .. } => start.check(context),
            Rule::Greedy | Rule::Computed(_) => check_fit(context),
            Rule::Order(_) | Rule::Listed(_) => self.place(context, None).map(|_| ()),
        }
    }

    /// The node of each task.
    ///
    /// # Errors
    /// More tasks than nodes, a parameter that does not fit the network, an order of a grid without a grid, a file with
    /// too few distinct nodes, or missing or mismatched information where the placement needs it.
    pub fn place(&self, context: &PlacementContext<'_>, known: Option<Known<'_>>) -> Result<Placed, SpecError> {
        check_fit(context)?;
        let (tasks, nodes) = (context.tasks, context.geometry.nodes());
        let informed = || {
            known.filter(|known| known.matrix.tasks() == tasks).ok_or_else(|| {
                let what =
                    format!("placement `{self}` looks at who talks to whom, and that is not known of {tasks} tasks");
                let remedy = "use a placement that is an order of nodes, such as consecutive";
                SpecError::new(ErrorKind::Malformed, what, remedy)
            })
        };
        let mut placed = match &self.rule {
            Rule::Order(order) => order(context)?,
            Rule::Listed(path) => file::listed(path, context)?,
            Rule::Greedy => {
                let Known { matrix, distance } = informed()?;
                greedy::greedy(&Partners::new(matrix), nodes, distance)
            }
            Rule::Optimise { rounds, start } => {
                let Known { matrix, distance } = informed()?;
                let start = start.place(context, known)?.nodes;
                let (nodes, descent) = optimise::optimise(&Partners::new(matrix), &start, nodes, distance, *rounds);
                return Ok(Placed { nodes, descent: Some(descent) });
            }
            Rule::Computed(compute) => compute(&informed()?, nodes),
        };
        let mut is_taken = vec![false; nodes];
        let fits = |node: &NodeId| is_taken.get_mut(node.index()).is_some_and(|taken| !std::mem::replace(taken, true));
        if placed.len() < tasks || !placed[..tasks].iter().all(fits) {
            let what = format!("placement `{self}` does not give {tasks} tasks a node each, of {nodes} nodes");
            let remedy = "mend its rule: it must give distinct nodes of the network";
            return Err(SpecError::new(ErrorKind::Malformed, what, remedy));
        }
        placed.truncate(tasks);
        Ok(Placed { nodes: placed, descent: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::NodeNames;

    fn grid(sizes: &[u32]) -> Geometry {
        Geometry::new(sizes).unwrap()
    }

    fn placed(spec: &str, tasks: usize, sizes: &[u32]) -> Vec<u32> {
        place(spec, tasks, &grid(sizes), 1).unwrap().into_iter().map(|node| node.0).collect()
    }

    fn place(spec: &str, tasks: usize, geometry: &Geometry, seed: u64) -> Result<Vec<NodeId>, SpecError> {
        let placement: Placement = spec.parse()?;
        assert_eq!(placement.to_string(), spec);
        placement.place(&PlacementContext { geometry, tasks, seed }, None).map(|placed| placed.nodes)
    }

    #[test]
    fn every_placement_gives_distinct_nodes() {
        for sizes in [&[4, 4][..], &[5, 3], &[3, 7], &[2, 3, 4], &[1, 6], &[4, 1, 3, 2]] {
            let nodes = grid(sizes).nodes();
            for spec in ["consecutive", "shift:5", "random", "row", "column", "diagonal", "quadrant", "shuffle"] {
                let mut all = placed(spec, nodes, sizes);
                assert_eq!(placed(spec, 4, sizes), all[..4], "{spec}");
                all.sort_unstable();
                assert!(all.into_iter().eq(0..nodes as u32), "{spec} {sizes:?}");
            }
            assert_eq!(placed("row", nodes, sizes), placed("consecutive", nodes, sizes));
        }
        assert_eq!(placed("shift:5", 4, &[8]), [5, 6, 7, 0]);
        let placed_by = |seed| place("random", 64, &grid(&[64]), seed).unwrap();
        assert_ne!(placed_by(1), placed_by(2));
    }

    #[test]
    fn orders_are_those_that_are_described() {
        assert_eq!(placed("column", 16, &[4, 4]), [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]);
        // Nodes 0, 1, ... take tasks 0, 1, 4, 2, 5, 8, 3, 6, 9, 12, 7, 10, 13, 11, 14, 15.
        assert_eq!(placed("diagonal", 16, &[4, 4]), [0, 1, 3, 6, 2, 4, 7, 10, 5, 8, 11, 13, 9, 12, 14, 15]);
        // Tasks 0, 1, 2, 3, 4, 5, 6, 7 are (0,0), (1,0), (0,1), (1,1), (0,2), ...
        assert_eq!(placed("diagonal", 8, &[2, 4]), [0, 1, 2, 3, 4, 5, 6, 7]);
        // Nodes take tasks 0, 1, 3, 2, 4, 5 of their plane.
        assert_eq!(placed("diagonal", 12, &[3, 2, 2]), [0, 1, 3, 2, 4, 5, 6, 7, 9, 8, 10, 11]);
        assert_eq!(placed("diagonal", 3, &[3, 2]), [0, 1, 3]);
        assert_eq!(placed("quadrant", 16, &[4, 4]), [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]);
        assert_eq!(placed("quadrant", 9, &[3, 3]), [0, 1, 3, 4, 2, 5, 6, 7, 8]);
        assert_eq!(placed("column", 12, &[2, 3, 2]), [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]);
        // 2 i mod (N - 1), as in shuffling cards.
        let shuffled: Vec<u32> = (0..15).map(|task| 2 * task % 15).chain([15]).collect();
        assert_eq!(placed("shuffle", 16, &[16]), shuffled);
        assert_eq!(placed("shuffle", 7, &[7]), [0, 2, 4, 6, 1, 3, 5]);
        // On trees: task i on node floor(i / m) + (i mod m) d, m switches of d endpoints.
        for (d, m) in [(4, 16), (2, 4), (3, 9)] {
            let tree = Geometry::new(&[d * m]).unwrap().with_leaf(d).unwrap();
            let found = place("shuffle", (d * m) as usize, &tree, 1).unwrap();
            let expected: Vec<NodeId> = (0..d * m).map(|i| NodeId(i / m + i % m * d)).collect();
            assert_eq!(found, expected, "{d} endpoints on each of {m} switches");
        }
    }

    #[test]
    fn files_name_nodes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nodes");
        let spec = format!("file:{}", path.display());
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        write("# the far ones\n7, 5\n\n3 # and\n1 0\n");
        assert_eq!(placed(&spec, 4, &[8]), [7, 5, 3, 1]);
        let names = ["New York", "Rio, BR", "Ulm"].into_iter().zip([4, 2, 6]);
        let endpoints = names.map(|(name, node)| (name.to_owned(), NodeId(node))).collect();
        let named = grid(&[8]).with_names(NodeNames { endpoints, numbers: None });
        write("Rio, BR\nUlm, New York # far\n\t3 0\r\n");
        assert_eq!(place(&spec, 5, &named, 1).unwrap(), [2, 6, 4, 3, 0].map(NodeId));
        write("7, 5\n\n3 # and\n1 0\n");
        let refused = |tasks: usize, said: &str| {
            let refusal = place(&spec, tasks, &grid(&[8]), 1).unwrap_err().to_string();
            assert!(refusal.contains(said), "{refusal}");
        };
        refused(6, "names 5 nodes, and 6 are needed");
        write("1\n2 8\n");
        refused(2, "line 2: `8` is not a node: no number from 0 to 7");
        write("1\n2\n1\n");
        refused(2, "line 3: node 1 stands in line 1 already");
        write("-1");
        refused(1, "line 1");
        std::fs::remove_file(&path).unwrap();
        refused(1, "cannot read");
        assert!(place(&format!("file:{}", folder.path().display()), 1, &grid(&[8]), 1).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let misfits = [("consecutive", 9), ("shift", 4), ("shift:9", 4), ("shift:x", 4), ("random:3", 4), ("row", 4)];
        for (spec, tasks) in misfits.into_iter().chain([("diagonal", 4), ("shuffle:2", 4), ("file", 4), ("file:", 4)]) {
            assert!(place(spec, tasks, &grid(&[8]), 1).is_err(), "{spec}");
        }
        assert_eq!(
            place("consecutiv", 4, &grid(&[8]), 1).unwrap_err().remedy().to_string(),
            "did you mean `consecutive`?"
        );
    }
}
