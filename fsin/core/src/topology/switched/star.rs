//! One switch.

use trgen::catalog::{Component, Parameter, SpecError};

use super::graph::Unplanned;
use super::named::Named;
use super::{Link, MAX_NODES, Switched};
use crate::topology::{Kind, Row, number, table::both_ways};

/// Row of `star`.
pub(in crate::topology) const STAR: Row = Row {
    component: Component {
        name: "star",
        about: "one switch with n endpoints: star:8; diameter 2",
        parameters: &[Parameter { name: "n", about: "endpoints", range: "1 to 4194303", default: "" }],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 1.2",
    },
    kind: Kind::Switched,
    example: "star:8",
    build: |words, ways| both_ways(parse(words)?, ways),
};

/// Parses `8`.
fn parse(words: &str) -> Result<Switched, SpecError> {
    let spec = format!("star:{words}");
    let named = Named { spec: &spec, names: ["n"], example: "star:8" };
    let endpoints = named.within("n", number(&spec, words, named.example)?, 1..=MAX_NODES as u32 - 1)?;
    let links: Vec<Link> = (0..endpoints).map(|one| Link::new([(one, 0), (endpoints, one)])).collect();
    Switched::new(spec, endpoints as usize, endpoints as usize + 1, &links, None, Unplanned)
}
