//! The table of topologies: one row for each. A new topology is its file and one line here.

use trgen::catalog::{Component, Described, ErrorKind, SpecError, Table};
use trgen::phrase;

use super::{Switched, Topology, circulant, grid, slice, switched, twisted};

/// A topology, or the error of its specification.
type Built = Result<Box<dyn Topology>, SpecError>;

/// What a topology declares in its own file. There are no defaults, so that the compiler reports what is missing.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name, definition, parameters, source.
    pub component: Component,
    /// Which general routings serve it.
    pub kind: Kind,
    /// A valid specification; that of `graph` needs a file.
    pub example: &'static str,
    /// Builds it from the words after the first colon, with the given number of directions of each dimension.
    pub build: fn(&str, usize) -> Built,
}

impl Described for Row {
    fn component(&self) -> &Component {
        &self.component
    }
}

/// A kind of topologies, as general routings distinguish them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Direct, and rings, if any, wrap at a coordinate.
    Grid,
    /// Any other direct network.
    Direct,
    /// A network of switches.
    Switched,
    /// A network of switches whose links lead one way.
    OneWay,
}

/// All topologies. One line per member.
pub static TOPOLOGIES: Table<Row> = Table::new(
    "topology",
    &[
        &grid::TORUS,
        &grid::MESH,
        &twisted::TWISTED,
        &slice::TPU,
        &grid::HYPERCUBE,
        &circulant::CIRCULANT,
        &circulant::MIDIMEW,
        &circulant::CIRCPK,
        &circulant::SPIDERGON,
        &twisted::SPINNAKER,
        &switched::tree::FATTREE,
        &switched::tree::THINTREE,
        &switched::tree::SLIMTREE,
        &switched::dragonfly::DRAGONFLY,
        &switched::dragonfly_plus::DRAGONFLY_PLUS,
        &switched::hyperx::HYPERX,
        &switched::cube::ICUBE,
        &switched::cube::CMESH,
        &switched::butterfly::FLY,
        &switched::slimfly::SLIMFLY,
        &switched::star::STAR,
        &switched::cluster::CLUSTER,
        &switched::rail::RAIL,
        &switched::random::RRG,
        &switched::graph::GRAPH,
    ],
);

/// The row of a topology, by its specification or by its name alone.
#[must_use]
pub fn row(spec: &str) -> Option<&'static Row> {
    TOPOLOGIES.find(spec.split(':').next().unwrap_or(spec))
}

/// True for text that is the path of a file rather than a name: it has folders, or ends as names of files do.
fn is_path(spec: &str) -> bool {
    let is_ending = |ending: &str| ending.starts_with(|letter: char| letter.is_ascii_alphabetic());
    spec.contains('/') || spec.rsplit_once('.').is_some_and(|(_, ending)| is_ending(ending))
}

/// Builds the topology of a specification such as `torus:8x8x8`, with `ways` links per dimension and node.
///
/// # Errors
/// An unknown name, sizes that do not parse or are out of range, more than 2^31 nodes, ways that the topology lacks.
pub fn parse(spec: &str, ways: usize) -> Result<Box<dyn Topology>, SpecError> {
    let (name, words) = spec.split_once(':').unwrap_or((spec, ""));
    match row(name) {
        Some(row) => (row.build)(words, ways),
        None if is_path(spec) => {
            let remedy = phrase!["a network in a file is ", ["topology" => format_args!("graph:{spec}")]];
            Err(TOPOLOGIES.unknown(name).remedied(remedy))
        }
        None => Err(TOPOLOGIES.unknown(name)),
    }
}

/// Requires that nothing is said of the directions of links, which the plan of a network of switches determines.
pub(super) fn both_ways(network: Switched, ways: usize) -> Built {
    match ways {
        2 => Ok(Box::new(network)),
        _ => Err(SpecError::new(
            ErrorKind::Conflict,
            format!("the links of {} lead where its plan says", network.spec()),
            phrase!["use ", ["ways" => 2], ", or leave it out"],
        )
        .of("ways")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_place_of_a_topology_is_taken_for_a_network_in_a_file() {
        for path in ["net.txt", "nets/office", "./a.dot"] {
            let error = parse(path, 2).expect_err("no topology has such a name");
            assert!(error.remedy().to_string().contains(&format!("graph:{path}")), "{}", error.remedy());
        }
        let near = parse("tours:8x8", 2).expect_err("no topology has such a name");
        assert!(near.remedy().to_string().contains("`torus`"), "{}", near.remedy());
    }

    #[test]
    fn every_example_builds_the_topology_of_its_row() {
        TOPOLOGIES.check(TOPOLOGIES.standard()).unwrap();
        for Row { component, kind, example, .. } in TOPOLOGIES.standard() {
            assert_eq!(row(example).map(|row| row.component.name), Some(component.name));
            if component.name != "graph" {
                let built = parse(example, 2).unwrap_or_else(|error| panic!("{example}: {error}"));
                let found = match (built.switched(), built.is_grid()) {
                    (Some(network), _) if network.fabric().leads_one_way() => Kind::OneWay,
                    (Some(_), _) => Kind::Switched,
                    (None, true) => Kind::Grid,
                    (None, false) => Kind::Direct,
                };
                assert_eq!(found, *kind, "{example}");
            }
        }
    }
}
