//! Which node each task runs on.

use rand::seq::SliceRandom;

use crate::catalog::{Component, Parameter, Refusal};
use crate::rng::{Purpose, stream};
use crate::units::NodeId;

/// Every placement that `--placement` knows.
pub const PLACEMENTS: &[Component] = &[
    Component {
        name: "consecutive",
        about: "task i on node i",
        parameters: &[],
        source: "Pascual, Navaridas, Miguel-Alonso, Effects of topology-aware allocation policies, JSSPP 2009",
    },
    Component {
        name: "shift",
        about: "task i on node (i + s) mod N",
        parameters: &[Parameter { name: "s", about: "nodes to shift by", range: "0..N", default: "" }],
        source: "Pascual, Navaridas, Miguel-Alonso, Effects of topology-aware allocation policies, JSSPP 2009",
    },
    Component {
        name: "random",
        about: "tasks on distinct nodes drawn with the seed of the run",
        parameters: &[],
        source: "Pascual, Navaridas, Miguel-Alonso, Effects of topology-aware allocation policies, JSSPP 2009",
    },
];

/// The node of each of `tasks` tasks on a network of `nodes` nodes, by the placement that `spec` names, such as
/// `consecutive` or `shift:4`.
///
/// # Errors
/// More tasks than nodes, an unknown name, a parameter that does not parse.
pub fn place(spec: &str, tasks: usize, nodes: usize, seed: u64) -> Result<Vec<NodeId>, Refusal> {
    if tasks > nodes {
        return Err(Refusal::value(
            format!("{tasks} tasks do not fit on {nodes} nodes, one task on each"),
            format!("use a topology of {tasks} nodes or more"),
        ));
    }
    let (name, parameter) = spec.split_once(':').map_or((spec, None), |(name, parameter)| (name, Some(parameter)));
    match (name, parameter) {
        ("consecutive", None) => Ok((0..tasks).map(NodeId::at).collect()),
        ("random", None) => {
            let mut all: Vec<NodeId> = (0..nodes).map(NodeId::at).collect();
            all.shuffle(&mut stream(seed, 0, Purpose::Placement));
            all.truncate(tasks);
            Ok(all)
        }
        ("shift", Some(shift)) => match shift.parse::<usize>() {
            Ok(shift) if shift < nodes => Ok((0..tasks).map(|task| NodeId::at((task + shift) % nodes)).collect()),
            _ => Err(Refusal::value(
                format!("shift `{shift}` is not a number of nodes below {nodes}"),
                format!("write --placement shift:1 to shift:{}", nodes.saturating_sub(1)),
            )),
        },
        ("shift", None) => {
            Err(Refusal::value("placement `shift` needs the number of nodes to shift by", "write --placement shift:4"))
        }
        ("consecutive" | "random", Some(parameter)) => Err(Refusal::value(
            format!("placement `{name}` takes no parameter, but `{parameter}` follows it"),
            format!("write --placement {name}"),
        )),
        _ => {
            let known: Vec<&str> = PLACEMENTS.iter().map(|component| component.name).collect();
            Err(Refusal::unknown("placement", name, &known))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placement_gives_distinct_nodes() {
        for spec in ["consecutive", "shift:5", "random"] {
            let mut nodes = place(spec, 6, 8, 1).unwrap();
            assert_eq!(nodes.len(), 6);
            nodes.sort_unstable();
            nodes.dedup();
            assert_eq!(nodes.len(), 6, "{spec}");
        }
        assert_eq!(place("shift:5", 4, 8, 1).unwrap(), [5, 6, 7, 0].map(NodeId));
        assert_ne!(place("random", 64, 64, 1), place("random", 64, 64, 2));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (spec, tasks) in [("consecutive", 9), ("shift", 4), ("shift:9", 4), ("shift:x", 4), ("random:3", 4)] {
            assert!(place(spec, tasks, 8, 1).is_err(), "{spec}");
        }
        assert_eq!(place("consecutiv", 4, 8, 1).unwrap_err().remedy(), "did you mean `consecutive`?");
    }
}
