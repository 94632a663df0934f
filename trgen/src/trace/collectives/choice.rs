//! Choice of the algorithm that expands an operation: by the rules of a library, or by name.
//!
//! Decision: docs/decisions/0042-collectives.md.

use std::str::FromStr;

use super::{Collective, NAMES};
use crate::catalog::{Component, ErrorKind, SpecError};
use crate::collective::{self, COLLECTIVES, Row, Shared};
use crate::trace::kind::CollectiveKind;

/// An algorithm of one or more operations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Algorithm {
    /// Rounds of signals whose distance doubles.
    Dissemination,
    /// A tree of depth ceil(log2 p).
    BinomialTree,
    /// Messages between the root and every other rank.
    Linear,
    /// Exchanges with rank xor 2^k.
    RecursiveDoubling,
    /// p - 1 exchanges, each with two partners.
    PairwiseExchange,
    /// Nonblocking exchanges with all other ranks, in batches of 32.
    Scattered,
    /// Pieces pass from rank to rank.
    Ring,
    /// log2 p rounds that carry several blocks each.
    Bruck,
    /// A scatter, then an allgather on a ring.
    ScatterRing,
    /// A scatter, then an allgather by recursive doubling.
    ScatterDoubling,
    /// In each round, half of the remaining data to a rank at half the distance.
    RecursiveHalving,
    /// A reduce-scatter by halving, then a gather or an allgather.
    Rabenseifner,
    /// The steps of a row of the table of all collectives.
    Shared(Shared),
}

use Algorithm::{
    BinomialTree, Bruck, Dissemination, Linear, PairwiseExchange, Rabenseifner, RecursiveDoubling, RecursiveHalving,
    Ring, ScatterDoubling, ScatterRing, Scattered,
};

/// The operations that each algorithm implements.
const SERVES: &[(Algorithm, &[&str])] = &[
    (Dissemination, &["barrier"]),
    (BinomialTree, &["bcast", "reduce", "gather", "scatter"]),
    (Linear, &["barrier", "bcast", "reduce", "gather", "gatherv", "scatter", "scatterv"]),
    (RecursiveDoubling, &["allreduce", "scan", "exscan", "allgather", "allgatherv"]),
    (PairwiseExchange, &["alltoall", "alltoallv", "reduce_scatter"]),
    (Scattered, &["alltoall", "alltoallv"]),
    (Ring, &["allreduce", "allgather", "allgatherv"]),
    (Bruck, &["alltoall", "allgather", "allgatherv"]),
    (ScatterRing, &["bcast"]),
    (ScatterDoubling, &["bcast"]),
    (RecursiveHalving, &["reduce_scatter"]),
    (Rabenseifner, &["reduce", "allreduce"]),
];

impl Algorithm {
    /// The row of the algorithm.
    #[must_use]
    pub fn row(self) -> &'static Row {
        match self {
            Dissemination => &collective::DISSEMINATION,
            BinomialTree => &collective::BINOMIAL_TREE,
            Linear => &collective::LINEAR,
            RecursiveDoubling => &collective::DOUBLING,
            PairwiseExchange => &collective::PAIRWISE_EXCHANGE,
            Scattered => &collective::SCATTERED,
            Ring => &collective::RING,
            Bruck => &collective::BRUCK,
            ScatterRing => &collective::SCATTER_RING,
            ScatterDoubling => &collective::SCATTER_DOUBLING,
            RecursiveHalving => &collective::HALVING,
            Rabenseifner => &collective::RABENSEIFNER,
            Self::Shared(Shared(row)) => row,
        }
    }

    /// The name of the algorithm.
    #[must_use]
    pub fn name(self) -> &'static str {
        // Of programs, these have been known by their long names.
        match self {
            RecursiveDoubling => "recursive-doubling",
            RecursiveHalving => "recursive-halving",
            _ => self.row().name(),
        }
    }

    /// True if the algorithm implements this operation.
    #[must_use]
    pub fn serves(self, operation: &str) -> bool {
        if let Self::Shared(Shared(row)) = self {
            return CollectiveKind::of_operation(operation).is_some_and(|kind| row.steps_of(kind).is_some());
        }
        SERVES.iter().any(|&(algorithm, operations)| algorithm == self && operations.contains(&operation))
    }

    /// The algorithms that implement this operation.
    pub fn of(operation: &str) -> impl Iterator<Item = Self> {
        COLLECTIVES.rows().iter().filter_map(move |row| row.algorithm(operation))
    }
}

/// The rules of choice.
pub const RULES: &[Component] = &[
    Component {
        name: "mpich",
        about: "rules: bcast binomial-tree below 12 KiB or 8 ranks, then scatter-doubling (2^k ranks, below 512 KiB) or scatter-ring; \
                reduce and all-reduce rabenseifner above 2 KiB; all-gather doubling (2^k ranks, below 512 KiB in all), bruck \
                below 80 KiB in all, or ring; all-to-all bruck up to 256 bytes a block from 8 ranks on, scattered up to 32 KiB, \
                then pairwise-exchange; alltoallv scattered; reduce-scatter halving below 512 KiB in all, then pairwise-exchange",
        parameters: &[],
        source: "defaults of MPICH 3; Thakur, Rabenseifner, Gropp 2005",
    },
    Component {
        name: "basic",
        about: "rules: one algorithm for each operation, whatever the size: barrier dissemination; bcast, reduce, gather, scatter \
                binomial-tree; all-reduce, scan, exscan doubling; all-to-all, alltoallv, reduce-scatter \
                pairwise-exchange; all-gather, allgatherv ring; gatherv, scatterv linear",
        parameters: &[],
        source: "this project",
    },
];

/// Rules that choose an algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rules {
    /// By size and number of ranks, as MPICH 3 does.
    Mpich,
    /// One algorithm for each operation.
    Basic,
}

/// The choice of algorithms: by rules, except for operations with a named algorithm.
///
/// Written `mpich`, `basic`, `all-reduce=ring`, or `basic,bcast=scatter-ring`; the default rules are those of MPICH.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Rules for operations without a named algorithm.
    rules: Rules,
    /// True if they are named.
    has_rules: bool,
    /// Operations with a named algorithm; the last entry of an operation counts.
    named: Vec<(&'static str, &'static Row)>,
}

impl Default for Choice {
    fn default() -> Self {
        Self { rules: Rules::Mpich, has_rules: false, named: Vec::new() }
    }
}

impl Choice {
    /// One algorithm for each operation, whatever the size.
    #[must_use]
    pub const fn basic() -> Self {
        Self { rules: Rules::Basic, has_rules: true, named: Vec::new() }
    }

    /// The algorithm of an operation on a communicator of `size` ranks, given the call of the first rank. On a size
    /// that is no power of two, a named `scatter-doubling` becomes `scatter-ring`, and `recursive-doubling` of an
    /// allgather becomes `bruck`.
    #[must_use]
    pub fn algorithm(&self, collective: &Collective, size: usize) -> Algorithm {
        let operation = collective.name();
        let named = self.row(operation).map(|row| row.algorithm(operation).unwrap_or(Algorithm::Shared(Shared(row))));
        match (named, self.rules) {
            (Some(ScatterDoubling), _) if !size.is_power_of_two() => ScatterRing,
            (Some(RecursiveDoubling), _) if operation.starts_with("allgather") && !size.is_power_of_two() => Bruck,
            (Some(algorithm), _) => algorithm,
            (None, Rules::Mpich) => mpich(collective, size),
            (None, Rules::Basic) => basic(collective),
        }
    }

    /// The algorithm that is named for an operation, by its name in MPI.
    #[must_use]
    pub fn row(&self, operation: &str) -> Option<&'static Row> {
        self.named.iter().rev().find(|(name, _)| *name == operation).map(|&(_, row)| row)
    }

    /// The algorithms that are named.
    pub fn rows(&self) -> impl Iterator<Item = &'static Row> {
        self.named.iter().map(|&(_, row)| row)
    }

    /// True if rules are named, which only programs have.
    #[must_use]
    pub const fn has_rules(&self) -> bool {
        self.has_rules
    }

    /// Checks that programs can do what is named: their ranks do not know the nodes of a network.
    ///
    /// # Errors
    /// An algorithm that programs do not have.
    pub fn check_programs(&self) -> Result<(), SpecError> {
        match self.named.iter().find(|(operation, row)| row.algorithm(operation).is_none()) {
            None => Ok(()),
            Some((operation, row)) => {
                let what = format!(
                    "`{}` is no algorithm of {operation} in programs, whose ranks do not know the nodes of the network",
                    row.name()
                );
                let remedy = "name another, or use it with a kernel or a Chakra trace";
                Err(SpecError::new(ErrorKind::Unsupported, what, remedy).given(row.name()))
            }
        }
    }
}

/// The operation of MPI of this name, or of the name that kernels have for it: `all-reduce`, `AllReduce`.
fn operation_of(word: &str) -> Option<&'static str> {
    let bare = |name: &str| name.to_lowercase().replace(['-', '_'], "");
    let wanted = if bare(word) == "broadcast" { "bcast".to_owned() } else { bare(word) };
    NAMES.iter().copied().find(|name| *name == word || bare(name) == wanted)
}

/// The row of an algorithm of an operation.
fn row_of(operation: &str, algorithm: &str) -> Result<&'static Row, SpecError> {
    const FAMILY: &str = "collective algorithm";
    let kind = CollectiveKind::of_operation(operation);
    let serves = |row: &&'static Row| row.algorithm(operation).is_some() || kind.is_some_and(|kind| row.serves(kind));
    let found = COLLECTIVES.find(algorithm);
    if let Some(row) = found.filter(serves) {
        return Ok(row);
    }
    let rows = COLLECTIVES.rows().iter().copied().filter(serves);
    let names: Vec<&str> =
        rows.flat_map(|row| std::iter::once(row.name()).chain(row.aliases.iter().copied())).collect();
    let unknown = SpecError::unknown(FAMILY, algorithm, &names);
    Err(match found {
        Some(row) => unknown.saying(format!("`{}` is no algorithm of {operation}", row.name())),
        None => unknown,
    })
}

impl FromStr for Choice {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut choice = Self::default();
        for (position, word) in text.split(',').map(str::trim).enumerate() {
            let Some((operation, algorithm)) = word.split_once('=') else {
                choice.rules = match word {
                    "mpich" => Rules::Mpich,
                    "basic" => Rules::Basic,
                    _ => return Err(SpecError::unknown("rules of collectives", word, &["mpich", "basic"])),
                };
                choice.has_rules = true;
                if position > 0 {
                    let what = format!("the rules `{word}` stand after an algorithm");
                    return Err(SpecError::new(
                        ErrorKind::Malformed,
                        what,
                        format!("`{word}` first, then the algorithms"),
                    ));
                }
                continue;
            };
            let (operation, algorithm) = (operation.trim(), algorithm.trim());
            let known = || SpecError::unknown("collective operation", operation, NAMES);
            let operation = operation_of(operation).ok_or_else(known)?;
            choice.named.push((operation, row_of(operation, algorithm)?));
        }
        Ok(choice)
    }
}

/// The algorithm of an operation by the rules `basic`.
const fn basic(collective: &Collective) -> Algorithm {
    match collective {
        Collective::Barrier => Dissemination,
        Collective::Broadcast { .. }
        | Collective::Reduce { .. }
        | Collective::Gather { .. }
        | Collective::Scatter { .. } => BinomialTree,
        Collective::Allreduce { .. } | Collective::Scan { .. } | Collective::Exscan { .. } => RecursiveDoubling,
        Collective::Alltoall { .. } | Collective::Alltoallv { .. } | Collective::ReduceScatter { .. } => {
            PairwiseExchange
        }
        Collective::Allgather { .. } | Collective::Allgatherv { .. } => Ring,
        Collective::Gatherv { .. } | Collective::Scatterv { .. } => Linear,
    }
}

/// \[bytes\] Thresholds of MPICH's defaults.
mod limit {
    /// Below, a broadcast is short.
    pub(super) const BROADCAST_SHORT: u64 = 12_288;
    /// From here on, a broadcast is long.
    pub(super) const BROADCAST_LONG: u64 = 524_288;
    /// Up to here, a reduction is short.
    pub(super) const REDUCE_SHORT: u64 = 2_048;
    /// Below, the data of all ranks in an allgather are short.
    pub(super) const ALLGATHER_SHORT: u64 = 81_920;
    /// From here on, the data of all ranks in an allgather are long.
    pub(super) const ALLGATHER_LONG: u64 = 524_288;
    /// Up to here, a block of an alltoall is short.
    pub(super) const ALLTOALL_SHORT: u64 = 256;
    /// Up to here, a block of an alltoall is of medium size.
    pub(super) const ALLTOALL_MEDIUM: u64 = 32_768;
    /// From here on, the result of a reduce-scatter is long.
    pub(super) const REDUCE_SCATTER_LONG: u64 = 524_288;
}

/// The algorithm of an operation on `size` ranks by the rules `mpich`.
fn mpich(collective: &Collective, size: usize) -> Algorithm {
    let sum = |blocks: &[u64]| blocks.iter().fold(0_u64, |sum, &bytes| sum.saturating_add(bytes));
    let allgather = |total: u64| match total {
        0..limit::ALLGATHER_LONG if size.is_power_of_two() => RecursiveDoubling,
        0..limit::ALLGATHER_SHORT => Bruck,
        _ => Ring,
    };
    match collective {
        Collective::Broadcast { bytes, .. } if *bytes < limit::BROADCAST_SHORT || size < 8 => BinomialTree,
        Collective::Broadcast { bytes, .. } if *bytes < limit::BROADCAST_LONG && size.is_power_of_two() => {
            ScatterDoubling
        }
        Collective::Broadcast { .. } => ScatterRing,
        Collective::Reduce { bytes, .. } | Collective::Allreduce { bytes } if *bytes > limit::REDUCE_SHORT => {
            Rabenseifner
        }
        Collective::Allgather { bytes } => allgather(bytes.saturating_mul(size as u64)),
        Collective::Allgatherv { blocks } => allgather(sum(blocks)),
        Collective::Alltoall { bytes } => match *bytes {
            0..=limit::ALLTOALL_SHORT if size >= 8 => Bruck,
            0..=limit::ALLTOALL_MEDIUM => Scattered,
            _ => PairwiseExchange,
        },
        Collective::Alltoallv { .. } => Scattered,
        Collective::ReduceScatter { blocks } if sum(blocks) < limit::REDUCE_SCATTER_LONG => RecursiveHalving,
        other => basic(other),
    }
}
