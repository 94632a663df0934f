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
//! Decision: docs/decisions/0084-placements-by-traffic.md.

mod greedy;
mod optimise;
mod partners;

pub use optimise::Descent;
pub use partners::{Distance, hop_bytes};

use partners::Partners;

use std::path::{Path, PathBuf};

use rand::seq::SliceRandom;

use crate::catalog::{Component, ErrorKind, Parameter, SpecError};
use crate::geometry::Geometry;
use crate::phrase;
use crate::phrase::Phrase;
use crate::rng::{Purpose, stream};
use crate::trace::matrix::Matrix;
use crate::units::NodeId;

const PASCUAL: &str = "Pascual, Navaridas, Miguel-Alonso, Effects of topology-aware allocation policies, JSSPP 2009";
const INSEE: &str = "INSEE, Interconnection Network Simulation and Evaluation Environment";

const fn plain(name: &'static str, about: &'static str, source: &'static str) -> Component {
    Component { name, about, parameters: &[], source }
}

/// All values of `--placement`.
pub const PLACEMENTS: &[Component] = &[
    plain("consecutive", "task i on node i", PASCUAL),
    plain(
        "row",
        "along dimension 0 first, then along dimension 1, ...; in grids, where it is what consecutive is",
        INSEE,
    ),
    plain("column", "along the last dimension first, along dimension 0 last: (0,0), (0,1), (0,2), ...", INSEE),
    plain(
        "diagonal",
        "node i takes the task that is i-th along the anti-diagonals of the grid of tasks: (0,0), (1,0), (0,1), (2,0), (1,1), \
         (0,2), ...; plane by plane",
        INSEE,
    ),
    plain(
        "quadrant",
        "one half of every dimension first: the quadrant of node 0, then the one beside it along dimension 0, ...",
        INSEE,
    ),
    plain(
        "shuffle",
        "tasks dealt to nodes 0, 2, 4, ..., then 1, 3, 5, ...: the perfect shuffle; on trees of d endpoints a switch to the \
         first endpoint of every switch, then to the second one, ...: 0, d, 2d, ..., then 1, d+1, ...",
        INSEE,
    ),
    Component {
        name: "shift",
        about: "task i on node (i + s) mod N",
        parameters: &[Parameter { name: "s", about: "nodes to shift by", range: "0..N", default: "" }],
        source: PASCUAL,
    },
    plain("random", "tasks on distinct nodes drawn with the seed of the run", PASCUAL),
    Component {
        name: "file",
        about: "task i on the i-th node that a file names: numbers, separated by blanks, commas or line ends; # begins a comment",
        parameters: &[Parameter {
            name: "F",
            about: "the file, from the folder of the experiment file that names it, else from the working directory",
            range: "a path",
            default: "",
        }],
        source: "",
    },
    plain(
        "greedy",
        "the task with most traffic on the first node; then again and again the task with most bytes to and from those \
         placed, on the free node with the least sum of bytes x hops; of equals the lowest number",
        "after Hoefler and Snir, Generic topology mapping strategies for large-scale parallel architectures, ICS 2011",
    ),
    Component {
        name: "optimise",
        about: "descent on bytes x hops: two tasks, or a task and a free node, change places as long as that helps; a task \
                with whatever saves most, task after task, of equals with that on the lowest node",
        parameters: &[
            Parameter {
                name: "rounds",
                about: "over all tasks, at most: optimise:10",
                range: "1..",
                default: "until no exchange helps",
            },
            Parameter {
                name: "start",
                about: "the placement that it begins with, after the rounds if there are any: optimise:10:random",
                range: "any other placement",
                default: "greedy",
            },
        ],
        source: "Heider, A computationally simplified pair-exchange algorithm for the quadratic assignment problem, 1972; \
                 bytes x hops: Agarwal, Sharma, Kale, Topology-aware task mapping for reducing communication contention on \
                 large parallel machines, IPDPS 2006",
    },
];

/// \[bytes\] Size limit of a file: ten characters for each of 26 million nodes.
const LONGEST: u64 = 256 << 20;

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

/// A placement that uses the communication matrix.
enum Informed<'a> {
    Greedy,
    Optimise { rounds: u64, start: &'a str },
}

/// The rounds of `optimise` and its initial placement, from its parameters.
fn optimise_of(parameters: &str) -> Result<Informed<'_>, SpecError> {
    let (head, tail) = parameters.split_once(':').map_or((parameters, None), |(head, tail)| (head, Some(tail)));
    let (rounds, start) = match head.parse() {
        Ok(rounds) => (rounds, tail.unwrap_or("greedy")),
        Err(_) => (u64::MAX, parameters),
    };
    if rounds == 0 || start.is_empty() || start.split(':').next() == Some("optimise") {
        let what =
            format!("`{parameters}` is no number of rounds from 1 on, and nothing that `optimise` can begin with");
        return Err(SpecError::new(
            ErrorKind::Malformed,
            what,
            phrase![
                "write ",
                ["placement" => "optimise"],
                ", optimise:10, optimise:random or optimise:10:random"
            ],
        ));
    }
    Ok(Informed::Optimise { rounds, start })
}

fn informed(spec: &str) -> Result<Option<Informed<'_>>, SpecError> {
    match spec.split_once(':') {
        None if spec == "greedy" => Ok(Some(Informed::Greedy)),
        None if spec == "optimise" => Ok(Some(Informed::Optimise { rounds: u64::MAX, start: "greedy" })),
        Some(("optimise", parameters)) => optimise_of(parameters).map(Some),
        _ => Ok(None),
    }
}

/// True if a placement needs the communication matrix and the distances between nodes.
#[must_use]
pub fn looks_at_traffic(spec: &str) -> bool {
    !matches!(informed(spec), Ok(None))
}

/// Rejects more tasks than nodes.
fn fit(tasks: usize, nodes: usize) -> Result<(), SpecError> {
    if tasks > nodes {
        return Err(SpecError::new(
            ErrorKind::TooLarge,
            format!("{tasks} tasks do not fit on {nodes} nodes, one task on each"),
            format!("use a topology of {tasks} nodes or more"),
        ));
    }
    Ok(())
}

/// Makes the checks of [`place`] that do not depend on the application.
///
/// # Errors
/// As [`place`].
pub fn check(spec: &str, tasks: usize, geometry: &Geometry, seed: u64) -> Result<(), SpecError> {
    fit(tasks, geometry.nodes())?;
    match informed(spec)? {
        Some(Informed::Greedy) => Ok(()),
        Some(Informed::Optimise { start, .. }) => check(start, tasks, geometry, seed),
        None => ordered(spec, tasks, geometry, seed).map(|_| ()),
    }
}

/// The node of each of `tasks` tasks on a network of this shape, by the placement `spec`, such as `consecutive` or
/// `shift:4`.
///
/// # Errors
/// More tasks than nodes, an unknown name, a parameter that does not parse, an order of a grid without a grid, a file
/// with too few distinct nodes, or missing or mismatched information where the placement needs it.
pub fn place(
    spec: &str,
    tasks: usize,
    geometry: &Geometry,
    seed: u64,
    known: Option<Known<'_>>,
) -> Result<Placed, SpecError> {
    fit(tasks, geometry.nodes())?;
    let Some(informed) = informed(spec)? else {
        return ordered(spec, tasks, geometry, seed).map(|nodes| Placed { nodes, descent: None });
    };
    let Known { matrix, distance } = known.filter(|known| known.matrix.tasks() == tasks).ok_or_else(|| {
        let what = format!("placement `{spec}` looks at who talks to whom, and that is not known of {tasks} tasks");
        SpecError::new(ErrorKind::Malformed, what, "use a placement that is an order of nodes, such as consecutive")
    })?;
    match informed {
        Informed::Greedy => {
            let nodes = greedy::greedy(&Partners::new(matrix), geometry.nodes(), distance);
            Ok(Placed { nodes, descent: None })
        }
        Informed::Optimise { rounds, start } => {
            let start = place(start, tasks, geometry, seed, known)?.nodes;
            let partners = Partners::new(matrix);
            let (nodes, descent) = optimise::optimise(&partners, &start, geometry.nodes(), distance, rounds);
            Ok(Placed { nodes, descent: Some(descent) })
        }
    }
}

/// The nodes of tasks by a placement that is an order of all nodes.
fn ordered(spec: &str, tasks: usize, geometry: &Geometry, seed: u64) -> Result<Vec<NodeId>, SpecError> {
    let nodes = geometry.nodes();
    let (name, parameter) = spec.split_once(':').map_or((spec, None), |(name, parameter)| (name, Some(parameter)));
    let needs = |what: &str, example: &str| {
        let remedy = phrase!["write ", ["placement" => example]];
        Err(SpecError::new(ErrorKind::Malformed, format!("placement `{name}` needs {what}"), remedy))
    };
    let mut order: Vec<NodeId> = match (name, parameter) {
        ("consecutive", None) => (0..nodes).map(NodeId::at).collect(),
        ("random", None) => {
            let mut all: Vec<NodeId> = (0..nodes).map(NodeId::at).collect();
            all.shuffle(&mut stream(seed, 0, Purpose::Placement));
            all
        }
        ("shuffle", None) => {
            let hand = if geometry.leaf() > 1 { geometry.leaf() as usize } else { 2 };
            (0..hand).flat_map(|first| (first..nodes).step_by(hand)).map(NodeId::at).collect()
        }
        ("row" | "column" | "diagonal" | "quadrant", None) => along(name, geometry)?,
        ("shift", Some(shift)) => match shift.parse::<usize>() {
            Ok(shift) if shift < nodes => (0..nodes).map(|task| NodeId::at((task + shift) % nodes)).collect(),
            _ => {
                let most = nodes.saturating_sub(1);
                return Err(SpecError::new(
                    ErrorKind::OutOfRange,
                    format!("shift `{shift}` is not a number of nodes below {nodes}"),
                    phrase!["write ", ["placement" => "shift:1"], " to shift:{most}"],
                ));
            }
        },
        ("shift", None) => return needs("the number of nodes to shift by", "shift:4"),
        ("file", Some(path)) if !path.is_empty() => listed(Path::new(path), tasks, nodes)?,
        ("file", _) => return needs("the path of a file", "file:nodes.txt"),
        (known, Some(parameter)) if PLACEMENTS.iter().any(|component| component.name == known) => {
            return Err(SpecError::new(
                ErrorKind::Malformed,
                format!("placement `{name}` takes no parameter, but `{parameter}` follows it"),
                phrase!["write ", ["placement" => name]],
            ));
        }
        _ => {
            let known: Vec<&str> = PLACEMENTS.iter().map(|component| component.name).collect();
            return Err(SpecError::unknown("placement", name, &known));
        }
    };
    order.truncate(tasks);
    Ok(order)
}

/// Splits a placement: `optimise` with its rounds, and its initial placement if given.
fn start_of(spec: &str) -> (&str, &str) {
    match informed(spec) {
        Ok(Some(Informed::Optimise { start, .. })) if spec.ends_with(start) => spec.split_at(spec.len() - start.len()),
        _ => ("", spec),
    }
}

/// The file that a placement reads, relative to `folder`.
#[must_use]
pub fn file(spec: &str, folder: &Path) -> Option<PathBuf> {
    let (_, start) = start_of(spec);
    start.strip_prefix("file:").filter(|path| !path.is_empty()).map(|path| folder.join(path))
}

/// The same placement with its file replaced.
#[must_use]
pub fn with_file(spec: &str, path: &Path) -> String {
    format!("{}file:{}", start_of(spec).0, path.display())
}

/// All nodes of a grid, in an order defined by its coordinates.
fn along(name: &str, geometry: &Geometry) -> Result<Vec<NodeId>, SpecError> {
    let sizes = geometry.sizes();
    if sizes.len() < 2 {
        return Err(SpecError::new(
            ErrorKind::Malformed,
            format!("placement `{name}` is an order of rows and columns, and these nodes have none"),
            "use a grid of two dimensions or more without jobs, or greedy, optimise, consecutive, shuffle, shift:S, random, \
             file:F",
        ));
    }
    let mut all: Vec<NodeId> = (0..geometry.nodes()).map(NodeId::at).collect();
    all.sort_by_cached_key(|&node| {
        let mut at = geometry.coordinates(node);
        match name {
            "column" => {}
            "diagonal" => {
                // Planes, anti-diagonals, positions from the bottom.
                at[0] += at[1];
                at.swap(0, 1);
                at.reverse();
            }
            "quadrant" => {
                let halves = at.iter().zip(sizes).map(|(&at, &size)| u32::from(at >= size.div_ceil(2)));
                let halves: Vec<u32> = halves.collect();
                at.extend(halves);
                at.reverse();
            }
            _ => at.reverse(),
        }
        at
    });
    if name == "diagonal" {
        // These are the tasks of nodes 0, 1, ...: invert.
        let mut nodes = vec![NodeId(0); all.len()];
        for (node, task) in all.into_iter().enumerate() {
            nodes[task.index()] = NodeId::at(node);
        }
        return Ok(nodes);
    }
    Ok(all)
}

/// The nodes listed in a file, one for each task.
fn listed(path: &Path, tasks: usize, nodes: usize) -> Result<Vec<NodeId>, SpecError> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| {
        SpecError::new(
            ErrorKind::Unreadable,
            format!("cannot read {shown}: {error}"),
            "give the path of a text file that you may read",
        )
    };
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() || about.len() > LONGEST {
        let what = format!("{shown} is no file of at most 256 MiB");
        return Err(SpecError::new(ErrorKind::TooLarge, what, "check that it is the file you mean"));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let mut line_of = vec![0_u64; nodes];
    let mut found = Vec::with_capacity(tasks);
    for (number, line) in (1..).zip(text.lines()) {
        let words = line.split('#').next().unwrap_or("");
        for word in words.split([' ', '\t', ',', ';', '\r']).filter(|word| !word.is_empty()) {
            let refuse = |kind, what: String, remedy: Phrase| {
                SpecError::new(kind, format!("{shown}, line {number}: {what}"), remedy)
            };
            let Some(node) = word.parse::<usize>().ok().filter(|&node| node < nodes) else {
                let what = format!("`{word}` is not a node below {nodes}");
                return Err(refuse(ErrorKind::OutOfRange, what, "nodes are numbered from 0".into()));
            };
            if line_of[node] != 0 {
                let what = format!("node {node} stands in line {} already", line_of[node]);
                let remedy = phrase!["name each node once; ", ["tasks-per-node"], " puts several tasks on each"];
                return Err(refuse(ErrorKind::Conflict, what, remedy));
            }
            line_of[node] = number;
            found.push(NodeId::at(node));
        }
    }
    if found.len() < tasks {
        let what = format!("{shown} names {} nodes, and {tasks} are needed", found.len());
        return Err(SpecError::new(ErrorKind::Malformed, what, "add nodes"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(sizes: &[u32]) -> Geometry {
        Geometry::new(sizes).unwrap()
    }

    fn placed(spec: &str, tasks: usize, sizes: &[u32]) -> Vec<u32> {
        place(spec, tasks, &grid(sizes), 1, None).unwrap().nodes.into_iter().map(|node| node.0).collect()
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
        let placed_by = |seed| place("random", 64, &grid(&[64]), seed, None).unwrap();
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
            let found = place("shuffle", (d * m) as usize, &tree, 1, None).unwrap().nodes;
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
        let refused = |tasks: usize, said: &str| {
            let refusal = place(&spec, tasks, &grid(&[8]), 1, None).unwrap_err().to_string();
            assert!(refusal.contains(said), "{refusal}");
        };
        refused(6, "names 5 nodes, and 6 are needed");
        write("1\n2 8\n");
        refused(2, "line 2: `8` is not a node below 8");
        write("1\n2\n1\n");
        refused(2, "line 3: node 1 stands in line 1 already");
        write("-1");
        refused(1, "line 1");
        std::fs::remove_file(&path).unwrap();
        refused(1, "cannot read");
        assert!(place(&format!("file:{}", folder.path().display()), 1, &grid(&[8]), 1, None).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let misfits = [("consecutive", 9), ("shift", 4), ("shift:9", 4), ("shift:x", 4), ("random:3", 4), ("row", 4)];
        for (spec, tasks) in misfits.into_iter().chain([("diagonal", 4), ("shuffle:2", 4), ("file", 4), ("file:", 4)]) {
            assert!(place(spec, tasks, &grid(&[8]), 1, None).is_err(), "{spec}");
        }
        assert_eq!(
            place("consecutiv", 4, &grid(&[8]), 1, None).unwrap_err().remedy().to_string(),
            "did you mean `consecutive`?"
        );
    }
}
