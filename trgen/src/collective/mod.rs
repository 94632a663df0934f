//! Collectives as schedules of messages: for each rank of a group, what it sends and receives in which round.
//!
//! An algorithm is a [`Row`] of [`COLLECTIVES`], under one name for kernels, traces and programs of MPI, Chakra traces and
//! graphs. Nothing here knows time, files or a network.
//!
//! A row has [steps](Row::steps), or the [messages](Row::messages) of an algorithm of MPI; each serves the kinds that it
//! states. Vectors are cut into a part for each **lane**, and a part into pieces, as equal as whole bytes permit.
//!
//! Decision: docs/decisions/0561-one-table-of-collectives.md.

pub mod given;
mod parts;
mod rows;

use std::fmt;

use crate::catalog::{Component, Described};
use crate::trace::collectives::Algorithm;
use crate::trace::kind::CollectiveKind;

pub use parts::{Action, Step};
pub(crate) use parts::{Ring, broadcast, core, doubling, folded, halving, squarest, unfold};
pub use rows::COLLECTIVES;
pub(crate) use rows::{
    BINOMIAL_TREE, BRUCK, DISSEMINATION, DOUBLING, HALVING, HIERARCHICAL, LINEAR, PAIRWISE_EXCHANGE, RABENSEIFNER,
    RING, SCATTER_DOUBLING, SCATTER_RING, SCATTERED,
};

/// The ranks of a collective. One with a root has it at rank 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// What the ranks do.
    pub kind: CollectiveKind,
    /// Number of ranks, at least 1.
    pub size: u32,
    /// Sizes of the grid of the ranks, whose product is `size`; empty unless the algorithm [needs one](Row::needs_grid).
    pub grid: Vec<u32>,
}

/// What the ranks of a group send and receive.
///
/// In each round a rank sends before it receives. A send of a round has its receive in the same round of the other rank, and
/// a pair of ranks exchanges at most one message each way in a round of a lane.
pub trait Schedule: fmt::Debug + Sync {
    /// Number of parts of the vector that go ways of their own.
    fn lanes(&self, _shape: &Shape) -> u32 {
        1
    }

    /// Number of pieces into which the part of a lane is cut. Of an all-gather, a reduce-scatter and an all-to-all they are
    /// the blocks of the ranks.
    fn pieces(&self, shape: &Shape) -> u32 {
        shape.size
    }

    /// A number that is greater than that of every round.
    fn rounds(&self, shape: &Shape) -> u64 {
        2 * u64::from(shape.size) + 64
    }

    /// Number of messages of all ranks.
    fn messages(&self, shape: &Shape) -> u64 {
        let mut count = 0;
        for (lane, rank) in (0..self.lanes(shape)).flat_map(|lane| (0..shape.size).map(move |rank| (lane, rank))) {
            self.steps(shape, lane, rank, &mut |step| count += u64::from(step.action == Action::Send));
            // More than any user of schedules accepts.
            if count > u64::from(u32::MAX) {
                break;
            }
        }
        count
    }

    /// Writes the steps of a rank in a lane.
    fn steps(&self, shape: &Shape, lane: u32, rank: u32, out: &mut dyn FnMut(Step));
}

/// The condition of an algorithm that takes any number of ranks.
const fn any(_: &Shape) -> Option<&'static str> {
    None
}

/// The names for which one algorithm stands, and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name, definition, source.
    pub component: Component,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// The kinds that [`steps`](Self::steps) serves.
    pub kinds: &'static [CollectiveKind],
    /// Its steps; `None` if it has only messages.
    pub steps: Option<&'static dyn Schedule>,
    /// What a number of ranks lacks for a kind, in words; `None` if it is served.
    pub refuses: fn(&Shape) -> Option<&'static str>,
    /// True if the ranks form a grid.
    pub needs_grid: bool,
    /// The algorithm of MPI of this name, for the operations that have no steps here.
    pub messages: Option<Algorithm>,
}

impl Row {
    /// An algorithm of these kinds by its steps, for any number of ranks.
    #[must_use]
    pub const fn new(component: Component, kinds: &'static [CollectiveKind], steps: &'static dyn Schedule) -> Self {
        Self { component, aliases: &[], kinds, steps: Some(steps), refuses: any, needs_grid: false, messages: None }
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.component.name
    }

    /// Its steps for a kind, if it has any.
    #[must_use]
    pub fn steps_of(&self, kind: CollectiveKind) -> Option<&'static dyn Schedule> {
        self.steps.filter(|_| self.kinds.contains(&kind))
    }

    /// The algorithm of an operation of MPI, if it is one.
    #[must_use]
    pub fn algorithm(&'static self, operation: &str) -> Option<Algorithm> {
        let shared = || CollectiveKind::of_operation(operation).and_then(|kind| self.steps_of(kind));
        self.messages
            .filter(|algorithm| algorithm.serves(operation))
            .or_else(|| shared().map(|_| Algorithm::Shared(Shared(self))))
    }

    /// True if it is an algorithm of a kind, somewhere.
    #[must_use]
    pub fn serves(&'static self, kind: CollectiveKind) -> bool {
        self.steps_of(kind).is_some() || self.algorithm(kind.name()).is_some() || self.has_levels(kind)
    }

    /// True if it is the algorithm of two levels, and the kind has one.
    #[must_use]
    pub fn has_levels(&self, kind: CollectiveKind) -> bool {
        use CollectiveKind::{AllGather, AllReduce, AllToAll, Broadcast, ReduceScatter};
        let has = matches!(kind, AllReduce | AllGather | ReduceScatter | Broadcast | AllToAll);
        has && self.name() == HIERARCHICAL.name()
    }

    /// The rows that serve a kind.
    pub fn of(kind: CollectiveKind) -> impl Iterator<Item = &'static Self> {
        COLLECTIVES.rows().iter().copied().filter(move |row| row.serves(kind))
    }
}

impl Described for Row {
    fn component(&self) -> &Component {
        &self.component
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Row {}

/// An algorithm of MPI's operations by the steps of a row. Two are the same if their names are.
#[derive(Clone, Copy, Debug)]
pub struct Shared(pub &'static Row);

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Shared {}

impl std::hash::Hash for Shared {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.name().hash(state);
    }
}

/// The ranks of a collective by an algorithm; a grid is as square as possible, in two dimensions.
#[must_use]
pub fn shape(row: &Row, kind: CollectiveKind, size: u32) -> Shape {
    Shape { kind, size, grid: if row.needs_grid { squarest(size, 2) } else { Vec::new() } }
}

/// \[bytes\] Size of `pieces` (the first, and how many) of the `of` pieces of part `part` of the `parts` parts of a vector of
/// `bytes` bytes.
#[must_use]
pub fn size_of(bytes: u64, (part, parts): (u64, u64), of: u32, pieces: (u32, u32)) -> u64 {
    let begin = |part: u64| (u128::from(bytes) * u128::from(part) / u128::from(parts.max(1))) as u64;
    let (length, of) = (begin(part + 1) - begin(part), u64::from(of.max(1)));
    let start = |piece: u32| u64::from(piece) * (length / of) + u64::from(piece).min(length % of);
    start(pieces.0 + pieces.1) - start(pieces.0)
}

/// The steps of a rank in all lanes, each with its lane and its size \[bytes\], in the order of rounds; of a round, sends come
/// first. `bytes` is the size of the whole vector.
#[must_use]
pub fn script(schedule: &dyn Schedule, shape: &Shape, rank: u32, bytes: u64) -> Vec<(u32, Step, u64)> {
    let (lanes, pieces) = (schedule.lanes(shape), schedule.pieces(shape));
    let mut all = Vec::new();
    for lane in 0..lanes {
        schedule.steps(shape, lane, rank, &mut |step| {
            all.push((lane, step, size_of(bytes, (lane.into(), lanes.into()), pieces, step.pieces)));
        });
    }
    all.sort_by_key(|&(lane, step, _)| (step.round, step.action != Action::Send, lane));
    all
}
