//! The routings of a network model.

use std::sync::OnceLock;

use trgen::catalog::Component;

use crate::topology::{self, Row, TOPOLOGIES, Topology};

/// A routing that a network model carries in some topologies.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Name, definition, source.
    pub component: &'static Component,
    /// Other names that mean it in this model.
    pub aliases: Vec<&'static str>,
    /// Names of the topologies in which the model carries it.
    pub topologies: Vec<&'static str>,
    /// Names of those topologies in which it is the routing if none is named.
    pub default_of: Vec<&'static str>,
    /// How deadlock is avoided, and the virtual channels that it needs, in words; empty for a model without virtual
    /// channels.
    pub channels: String,
}

/// The names of the topologies of which `carries` is true, given a row of the table and the topology of its example;
/// `None` for the example of a topology that is read from a file.
pub fn topologies_with(mut carries: impl FnMut(&Row, Option<&dyn Topology>) -> bool) -> Vec<&'static str> {
    type Examples = Vec<(&'static Row, Option<Box<dyn Topology>>)>;
    // Every routing of every model looks at the same ones.
    static EXAMPLES: OnceLock<Examples> = OnceLock::new();
    let built = |row: &&'static Row| (*row, topology::parse(row.example, 2).ok());
    let examples = EXAMPLES.get_or_init(|| TOPOLOGIES.rows().iter().map(built).collect());
    let carrying = examples.iter().filter(|(row, example)| carries(row, example.as_deref()));
    carrying.map(|(row, _)| row.component.name).collect()
}
