//! Spatial patterns: the destination of a message.
//!
//! A pattern is one [`Entry`] of [`PATTERNS`]; its syntax is that of [`expr`], as in `uniform` or `hotspot(0.02, 0)`.
//! Patterns that send every node to one fixed other node share the file `fixed`; the fixed points of such a pattern
//! stay silent.
//!
//! Decision: docs/decisions/0158-messages-to-oneself.md.

mod distance;
mod few;
mod fixed;
mod group;
mod half;
mod hot;
mod local;
mod map;
mod matrix;
mod mix;
mod near;
mod offset;
mod permutation;
mod random;
mod ring;
mod robin;
mod uniform;
mod zipf;

use std::fmt::Debug;
use std::path::Path;

pub use matrix::weighted;

use crate::Geometry;
use crate::catalog::{Component, ErrorKind, Parameter, SpecError, Table};
use crate::rng::Stream;
use crate::synthetic::expr::{self, Call, Expr};
use crate::synthetic::traffic::Sources;
use crate::units::NodeId;

/// Draws the destinations of the nodes. All state is per node: no draw of one node affects another's.
pub trait Pattern: Debug + Send {
    /// Number of nodes.
    fn nodes(&self) -> usize;

    /// The destination of the next message of `source`; `None` if that node is silent. `source` itself only if the
    /// pattern was asked for that (`self=true`). `rng` is that node's stream of spatial draws.
    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId>;

    /// True if this node never sends.
    fn is_silent(&self, source: NodeId) -> bool;

    /// The destination of every node, if it is the same for the whole run; a node that is silent, or sends to itself,
    /// maps to itself. `None` if destinations are drawn or alternate.
    fn map(&self) -> Option<Vec<NodeId>> {
        None
    }

    /// Share of the messages of `source` that go to each node; all 0 of a silent node. `None` if they are not known
    /// exactly.
    fn shares(&self, source: NodeId) -> Option<Vec<f64>> {
        let destination = self.map()?[source.index()];
        let is_silent = self.is_silent(source);
        let goes = |node| f64::from(destination == NodeId::at(node) && !is_silent);
        Some((0..self.nodes()).map(goes).collect())
    }

    /// By node: the load that it offers, in the unit of the load; `None` if all nodes have the load of the run.
    fn rates(&self) -> Option<&[f64]> {
        None
    }

    /// By node: the load that it offers, of the mean load of the nodes that send; `None` if all have the same.
    fn relative_loads(&self) -> Option<&[f64]> {
        None
    }

    /// What users may misunderstand; `None` if there is nothing.
    fn remark(&self) -> Option<&str> {
        None
    }

    /// Number of nodes that never send.
    fn silent(&self) -> usize {
        (0..self.nodes()).filter(|&node| self.is_silent(NodeId::at(node))).count()
    }
}

/// The context in which a pattern is built.
#[derive(Clone, Copy, Debug)]
pub struct PatternContext<'a> {
    /// The grid of nodes; networks without a grid pass one dimension.
    pub geometry: &'a Geometry,
    /// Run seed, for patterns that are drawn before the run.
    pub seed: u64,
    /// Base folder of relative paths; empty for the working directory.
    pub folder: &'a Path,
    /// False if the network carries no message of a node to itself, so that patterns refuse to send any.
    pub carries_to_itself: bool,
    /// By source: the demands that the file of the network states, as destinations with their values.
    pub demands: Option<&'a [Vec<(u32, f64)>]>,
}

/// The parameter of patterns that may send to the sender itself.
const TO_ITSELF: Parameter = Parameter {
    name: "self",
    about: "whether a node may be its own destination; such messages use no link between routers",
    range: "true, false",
    default: "false",
};

impl<'a> PatternContext<'a> {
    /// A network that carries messages of a node to itself and states no demands; paths are relative to the working
    /// directory.
    #[must_use]
    pub fn new(geometry: &'a Geometry, seed: u64) -> Self {
        Self { geometry, seed, folder: Path::new(""), carries_to_itself: true, demands: None }
    }

    /// The value of [`TO_ITSELF`].
    ///
    /// # Errors
    /// Neither true nor false; true for a network that does not carry such messages.
    fn sends_to_itself(&self, call: &Call) -> Result<bool, SpecError> {
        let asked = call.choice("self", &[("true", true), ("false", false)])?;
        if asked && !self.carries_to_itself {
            let problem = format!("`{}`: this network model carries no message of a node to itself", call.name());
            return Err(call
                .refuse_all(&problem, "leave `self` out, or use the models vct or wormhole")
                .of_kind(ErrorKind::Unsupported));
        }
        Ok(asked)
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        // A geometry's product of sizes fits 32 bits.
        self.geometry.nodes() as u32
    }
}

/// A pattern, or the error of its arguments.
type Built = Result<Box<dyn Pattern>, SpecError>;
/// A row of the table. Its function builds the pattern.
pub type Entry = expr::Entry<fn(&Call, PatternContext) -> Built>;

/// Names of the patterns that depend on the dimensions of a grid. In networks of switches, the endpoints form one
/// dimension.
const OF_A_GRID: [&str; 10] = [
    "tornado",
    "tornado-fsin",
    "neighbor",
    "neighbor-all",
    "semi",
    "local",
    "local-gauss",
    "population",
    "histogram",
    "zipf",
];

/// The names of the patterns of sources that depend on the dimensions of a grid.
#[must_use]
pub fn of_a_grid(sources: &Sources) -> Vec<&'static str> {
    OF_A_GRID.into_iter().filter(|name| sources.has(name)).collect()
}

/// All patterns. One line per member.
pub static PATTERNS: Table<Entry> = Table::new(
    "traffic pattern",
    &[
        &uniform::UNIFORM,
        &permutation::TRANSPOSE,
        &permutation::COMPLEMENT,
        &permutation::BUTTERFLY,
        &permutation::SHUFFLE,
        &permutation::REVERSAL,
        &offset::TORNADO,
        &offset::TORNADO_FSIN,
        &offset::NEIGHBOR,
        &offset::NEIGHBOR_ALL,
        &offset::SHIFT,
        &group::GROUPSHIFT,
        &random::RANDPERM,
        &random::BISECT,
        &few::ASYMMETRIC,
        &few::DIAGONAL,
        &near::BADPERM_YARC,
        &near::TAPER64,
        &robin::DISTRIBUTE,
        &robin::RSDIST,
        &hot::HOTREGION,
        &hot::HOTSPOT,
        &half::SEMI,
        &local::LOCAL,
        &local::LOCAL_GAUSS,
        &distance::POPULATION,
        &distance::HISTOGRAM,
        &zipf::ZIPF,
        &matrix::MATRIX,
        &matrix::RATES,
        &matrix::DEMANDS,
        &mix::MIX,
        &mix::COMPOSE,
        &map::MAP,
    ],
);

/// The description of every pattern.
pub fn components() -> impl Iterator<Item = &'static Component> {
    PATTERNS.components()
}

/// Aliases of the pattern of this name; none if there is no such pattern.
#[must_use]
pub fn aliases(name: &str) -> &'static [&'static str] {
    PATTERNS.rows().iter().find(|entry| entry.component.name == name).map_or(&[], |entry| entry.aliases)
}

/// Builds the pattern that `text` describes for a grid of nodes; `seed` is the run seed. Relative paths in it are
/// relative to the working directory.
///
/// # Errors
/// When the text is malformed, the pattern unknown, a parameter unusable, or the pattern not defined for this number of
/// nodes.
pub fn parse(text: &str, geometry: &Geometry, seed: u64) -> Result<Box<dyn Pattern>, SpecError> {
    build(text, &Expr::parse(text)?, PatternContext::new(geometry, seed))
}

/// Builds the only pattern of sources.
///
/// # Errors
/// Sums and phases; when the pattern is unknown, a parameter unusable, or the pattern not defined for this number of
/// nodes.
pub fn read(sources: &Sources, context: PatternContext) -> Built {
    build(sources.text(), sources.pattern()?, context)
}

/// Builds the pattern described by `expr`, which was parsed from `text`.
pub(super) fn build(text: &str, expr: &Expr, context: PatternContext) -> Built {
    let entry = expr::find(PATTERNS.family(), PATTERNS.rows(), text, expr)?;
    (entry.build)(&Call::bind(text, expr, &entry.component)?, context)
}

/// A valid example of a pattern that requires arguments; `None` if it requires none.
#[must_use]
pub fn example(name: &str) -> Option<&'static str> {
    const EXAMPLES: &[(&str, &str)] = &[
        ("groupshift", "groupshift(4, 1)"),
        ("hotspot", "hotspot(0.1, 0)"),
        ("mix", "mix(0.9:uniform, 0.1:hotspot(0.5, 3))"),
        ("compose", "compose(shuffle, transpose)"),
        ("map", "map(block:8, uniform)"),
    ];
    EXAMPLES.iter().find(|(known, _)| *known == name).map(|&(_, example)| example)
}
