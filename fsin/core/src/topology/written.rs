//! Nodes, links and quantities as readers know them.

use trgen::NodeId;

use super::switched::Switched;
use super::{DeadLink, Port, Topology};

/// A number with the largest unit of which it is a whole multiple.
fn scaled(number: u64, units: &[(&str, u64)]) -> String {
    let (unit, size) = units.iter().find(|(_, size)| number.is_multiple_of(*size)).copied().unwrap_or(("", 1));
    format!("{}{unit}", number / size)
}

/// A time of `span` ps with its unit.
#[must_use]
pub fn time(span: u64) -> String {
    match span {
        0 => "0ps".to_owned(),
        _ => scaled(
            span,
            &[("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)],
        ),
    }
}

/// A rate in b/s with its unit.
#[must_use]
pub fn rate(rate: u64) -> String {
    scaled(
        rate,
        &[("Tb/s", 1_000_000_000_000), ("Gb/s", 1_000_000_000), ("Mb/s", 1_000_000), ("kb/s", 1_000), ("b/s", 1)],
    )
}

/// The name of a node for readers: from the file of the network if it gives one, else its number.
#[must_use]
pub fn node_name(topology: &dyn Topology, node: NodeId) -> String {
    topology
        .switched()
        .and_then(|network: &Switched| network.name(node))
        .map_or_else(|| node.to_string(), str::to_owned)
}

/// The name of a dead link for readers: both ends and the ports there, or the end and port at which it begins.
#[must_use]
pub fn dead_link_name(topology: &dyn Topology, dead: &DeadLink) -> String {
    let end = |node: NodeId, port: Port| {
        format!("{} {}", node_name(topology, node), super::port_name(topology, port.index()))
    };
    match dead.back {
        Some(back) => format!("{} - {}", end(dead.from, dead.port), end(dead.to, back)),
        None => format!("{} -> {}", end(dead.from, dead.port), node_name(topology, dead.to)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_largest_unit_that_is_exact() {
        assert_eq!(
            [time(0), time(4_000_000), time(1_500), rate(10_000_000_000), rate(1)],
            ["0ps", "4us", "1500ps", "10Gb/s", "1b/s"]
        );
    }
}
