//! Choice of the algorithm that expands an operation: by the rules of a library, or by name.
//!
//! Decision: docs/decisions/0042-collectives.md.

use std::str::FromStr;

use super::{Collective, NAMES};
use crate::catalog::{Component, ErrorKind, SpecError};

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
    /// The description of the algorithm.
    #[must_use]
    pub const fn component(self) -> &'static Component {
        match self {
            Dissemination => &ALGORITHMS[2],
            BinomialTree => &ALGORITHMS[3],
            Linear => &ALGORITHMS[4],
            RecursiveDoubling => &ALGORITHMS[5],
            PairwiseExchange => &ALGORITHMS[6],
            Scattered => &ALGORITHMS[7],
            Ring => &ALGORITHMS[8],
            Bruck => &ALGORITHMS[9],
            ScatterRing => &ALGORITHMS[10],
            ScatterDoubling => &ALGORITHMS[11],
            RecursiveHalving => &ALGORITHMS[12],
            Rabenseifner => &ALGORITHMS[13],
        }
    }

    /// The name of the algorithm.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.component().name
    }

    /// True if the algorithm implements this operation.
    #[must_use]
    pub fn serves(self, operation: &str) -> bool {
        SERVES.iter().any(|&(algorithm, operations)| algorithm == self && operations.contains(&operation))
    }

    /// The algorithms that implement this operation.
    pub fn of(operation: &str) -> impl Iterator<Item = Self> {
        SERVES.iter().filter(move |(_, operations)| operations.contains(&operation)).map(|&(algorithm, _)| algorithm)
    }
}

/// The description of rules or of an algorithm.
const fn row(name: &'static str, about: &'static str, source: &'static str) -> Component {
    Component { name, about, parameters: &[], source }
}

/// Source of most of the algorithms.
const THAKUR: &str = "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005";

/// The rules of choice, then the algorithms.
pub const ALGORITHMS: &[Component] = &[
    row(
        "mpich",
        "rules: bcast binomial-tree below 12 KiB or 8 ranks, then scatter-doubling (2^k ranks, below 512 KiB) or scatter-ring; reduce \
         and allreduce rabenseifner above 2 KiB; allgather recursive-doubling (2^k ranks, below 512 KiB in all), bruck \
         below 80 KiB in all, or ring; alltoall bruck up to 256 bytes a block from 8 ranks on, scattered up to 32 KiB, \
         then pairwise-exchange; alltoallv scattered; reduce_scatter recursive-halving below 512 KiB in all, then pairwise-exchange",
        "defaults of MPICH 3; Thakur, Rabenseifner, Gropp 2005",
    ),
    row(
        "basic",
        "rules: one algorithm for each operation, whatever the size: barrier dissemination; bcast, reduce, gather, scatter \
         binomial-tree; allreduce, scan, exscan recursive-doubling; alltoall, alltoallv, reduce_scatter \
         pairwise-exchange; allgather, allgatherv ring; gatherv, scatterv linear",
        "this project",
    ),
    row(
        "dissemination",
        "barrier: in round k each rank signals the rank 2^k further on; 0 bytes, ceil(log2 p) rounds",
        "Hensgen, Finkel, Manber 1988; MPICH",
    ),
    row(
        "binomial-tree",
        "bcast, reduce, gather, scatter: tree of depth ceil(log2 p) rooted at the root; gather and scatter carry whole \
         subtrees",
        THAKUR,
    ),
    row(
        "linear",
        "barrier, bcast, reduce, gather, gatherv, scatter, scatterv: the root exchanges one message with every other \
         rank; a barrier does so both ways with rank 0",
        "MPICH",
    ),
    row(
        "recursive-doubling",
        "allreduce, scan, exscan, allgather, allgatherv: exchange with rank xor 2^k; allreduce folds the ranks beyond a \
         power of two into their neighbours first; an allgather of other than 2^k ranks is done by bruck",
        THAKUR,
    ),
    row(
        "pairwise-exchange",
        "alltoall, alltoallv, reduce_scatter: in step k send to rank + k, receive from rank - k (mod p), and wait; p - 1 \
         steps",
        THAKUR,
    ),
    row(
        "scattered",
        "alltoall, alltoallv: receives from rank + 1, + 2, ... and sends to rank - 1, - 2, ... (mod p) are begun 32 at a \
         time, then waited for",
        "MPICH (isend and irecv)",
    ),
    row(
        "ring",
        "allreduce, allgather, allgatherv: in each of p - 1 steps pass the newest block on to rank + 1; allreduce first \
         sums p pieces going round in the same way",
        THAKUR,
    ),
    row(
        "bruck",
        "alltoall, allgather, allgatherv: ceil(log2 p) rounds; alltoall sends in round k to rank + 2^k all blocks whose \
         distance has bit k; allgather sends to rank - 2^k all that it holds, as far as that is missing",
        "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997",
    ),
    row(
        "scatter-ring",
        "bcast: a binomial scatter of p pieces, then an allgather of them on a ring (van de Geijn)",
        THAKUR,
    ),
    row(
        "scatter-doubling",
        "bcast: a binomial scatter of p pieces, then an allgather by recursive doubling; of other than 2^k ranks it is \
         scatter-ring",
        THAKUR,
    ),
    row(
        "recursive-halving",
        "reduce_scatter: half of what is left to and from ever nearer ranks; ranks beyond a power of two are folded into \
         their neighbours first and get their block last",
        THAKUR,
    ),
    row(
        "rabenseifner",
        "reduce, allreduce: reduce-scatter by recursive halving, then a gather to the root or an allgather by recursive \
         doubling; ranks beyond a power of two are folded into their neighbours first",
        THAKUR,
    ),
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
/// Written `mpich`, `basic`, `allreduce=ring`, or `basic,bcast=scatter-ring`; the default rules are those of MPICH.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Rules for operations without a named algorithm.
    rules: Rules,
    /// Operations with a named algorithm; the last entry of an operation counts.
    named: Vec<(&'static str, Algorithm)>,
}

impl Default for Choice {
    fn default() -> Self {
        Self { rules: Rules::Mpich, named: Vec::new() }
    }
}

impl Choice {
    /// One algorithm for each operation, whatever the size.
    #[must_use]
    pub const fn basic() -> Self {
        Self { rules: Rules::Basic, named: Vec::new() }
    }

    /// The algorithm of an operation on a communicator of `size` ranks, given the call of the first rank. On a size
    /// that is no power of two, a named `scatter-doubling` becomes `scatter-ring`, and `recursive-doubling` of an
    /// allgather becomes `bruck`.
    #[must_use]
    pub fn algorithm(&self, collective: &Collective, size: usize) -> Algorithm {
        let operation = collective.name();
        let named = self.named.iter().rev().find(|(name, _)| *name == operation);
        match (named, self.rules) {
            (Some(&(_, ScatterDoubling)), _) if !size.is_power_of_two() => ScatterRing,
            (Some(&(_, RecursiveDoubling)), _) if operation.starts_with("allgather") && !size.is_power_of_two() => {
                Bruck
            }
            (Some(&(_, algorithm)), _) => algorithm,
            (None, Rules::Mpich) => mpich(collective, size),
            (None, Rules::Basic) => basic(collective),
        }
    }
}

impl FromStr for Choice {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        const FAMILY: &str = "collective algorithm";
        let mut choice = Self::default();
        for (position, word) in text.split(',').map(str::trim).enumerate() {
            let Some((operation, algorithm)) = word.split_once('=') else {
                choice.rules = match word {
                    "mpich" => Rules::Mpich,
                    "basic" => Rules::Basic,
                    _ => return Err(SpecError::unknown("rules of collectives", word, &["mpich", "basic"])),
                };
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
            let operation = NAMES.iter().copied().find(|name| *name == operation).ok_or_else(known)?;
            let found = Algorithm::of(operation).find(|found| found.name() == algorithm);
            let names: Vec<&str> = Algorithm::of(operation).map(Algorithm::name).collect();
            choice.named.push((operation, found.ok_or_else(|| SpecError::unknown(FAMILY, algorithm, &names))?));
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
