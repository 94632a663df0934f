//! Drawn failures and repairs, for tests of models.

use std::path::Path;

use trgen::NodeId;

use super::Failures;
use crate::topology::{Topology, links_both_ways, node_name};

/// A failure or repair of a link or node for each draw, one after another, at most `span` cycles (1 or more) apart and
/// often at the same time. The first one is in cycle 1 or later.
#[must_use]
pub fn drawn(topology: &dyn Topology, draws: &[u64], span: u64) -> Failures {
    let links = links_both_ways(topology);
    let name = |node: NodeId| node_name(topology, node);
    let (mut words, mut failures, mut at) = (Vec::<String>::new(), Failures::default(), 1);
    if links.is_empty() {
        return failures;
    }
    for &draw in draws {
        at += [0, 1, draw % span.div_ceil(8), draw % span][(draw >> 8) as usize % 4];
        let number = (draw >> 24) as usize;
        let what = match (draw >> 16) % 8 {
            0 => format!("node:{}", name(NodeId::at(number % topology.nodes()))),
            _ => {
                let link = &links[number % links.len()];
                format!("link:{}-{}", name(link.from), name(link.to))
            }
        };
        // What is dead can only be repaired, and what is alive can only fail.
        for word in [format!("{what}@{at}"), format!("repair:{what}@{at}")] {
            words.push(word);
            match Failures::parse(&words.join(","), Path::new(""), topology, 1, (1, 1)) {
                Ok(found) => {
                    failures = found;
                    break;
                }
                Err(_) => drop(words.pop()),
            }
        }
    }
    failures
}
