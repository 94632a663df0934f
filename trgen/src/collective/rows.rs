//! The algorithms.

use super::{Action, Ring, Row, Schedule, Shape, Step, any, core, doubling, folded, halving, unfold};
use crate::catalog::{Component, Table};
use crate::trace::collectives::Algorithm;
use crate::trace::kind::CollectiveKind;

use CollectiveKind::{AllGather, AllReduce, AllToAll, Barrier, ReduceScatter};

/// All algorithms. One line per member.
pub static COLLECTIVES: Table<Row> = Table::new(
    "algorithm of collectives",
    &[
        &RING,
        &BIDIRECTIONAL_RING,
        &TREE,
        &DOUBLE_TREE,
        &DOUBLING,
        &HALVING,
        &RABENSEIFNER,
        &DIRECT,
        &TORUS,
        &HIERARCHICAL,
        &BINOMIAL_TREE,
        &LINEAR,
        &DISSEMINATION,
        &PAIRWISE_EXCHANGE,
        &SCATTERED,
        &BRUCK,
        &SCATTER_RING,
        &SCATTER_DOUBLING,
    ],
);

const REDUCING: &[CollectiveKind] = &[AllReduce];
const PIECEWISE: &[CollectiveKind] = &[AllReduce, AllGather, ReduceScatter];

const THAKUR: &str = "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005";
const PATARASUK: &str =
    "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, 2009";
const SANDERS: &str =
    "Sanders, Speck, Traff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009";

/// A row without parameters.
const fn component(name: &'static str, about: &'static str, source: &'static str) -> Component {
    Component { name, about, parameters: &[], source }
}

/// An algorithm of MPI.
const fn of_mpi(algorithm: Algorithm, name: &'static str, about: &'static str, source: &'static str) -> Row {
    let messages = Some(algorithm);
    Row {
        component: component(name, about, source),
        aliases: &[],
        kinds: &[],
        steps: None,
        refuses: any,
        needs_grid: false,
        messages,
    }
}

pub(crate) static RING: Row = Row {
    messages: Some(Algorithm::Ring),
    ..Row::new(
        component(
            "ring",
            "all-reduce, all-gather, reduce-scatter: in each of p - 1 steps the newest piece goes on to rank + 1; an all-reduce \
             sums p pieces on their way round first; of programs also allgatherv",
            PATARASUK,
        ),
        PIECEWISE,
        &Rings { is_both_ways: false },
    )
};
static BIDIRECTIONAL_RING: Row = Row::new(
    component(
        "bidirectional-ring",
        "all-reduce, all-gather, reduce-scatter: half of the vector each way round the ring",
        PATARASUK,
    ),
    PIECEWISE,
    &Rings { is_both_ways: true },
);
static TREE: Row = Row::new(
    component("tree", "all-reduce: the whole vector up a binary tree and down again", SANDERS),
    REDUCING,
    &Trees { lanes: 1 },
);
static DOUBLE_TREE: Row = Row::new(
    component(
        "double-tree",
        "all-reduce: half of the vector on a binary tree, the other half on its mirror image, whose inner ranks are leaves of the \
         first",
        SANDERS,
    ),
    REDUCING,
    &Trees { lanes: 2 },
);
pub(crate) static DOUBLING: Row = Row {
    aliases: &["recursive-doubling"],
    refuses: |shape| (shape.kind == AllGather && !shape.size.is_power_of_two()).then_some("a power of two of ranks"),
    messages: Some(Algorithm::RecursiveDoubling),
    ..Row::new(
        component(
            "doubling",
            "all-reduce, all-gather, scan, exscan, allgatherv: exchange with rank xor 2^k, of all that is held; an all-reduce folds the \
             ranks beyond a power of two into their neighbours first; an all-gather of a program of other than 2^k ranks is done \
             by bruck",
            THAKUR,
        ),
        &[AllReduce, AllGather],
        &Doubling,
    )
};
pub(crate) static HALVING: Row = Row {
    aliases: &["recursive-halving"],
    refuses: |shape| {
        (shape.kind == ReduceScatter && !shape.size.is_power_of_two()).then_some("a power of two of ranks")
    },
    messages: Some(Algorithm::RecursiveHalving),
    ..Row::new(
        component(
            "halving",
            "all-reduce, reduce-scatter: half of what is left to and from rank xor p/2, p/4, ..., 1; an all-reduce then doubles back; \
             ranks beyond a power of two are folded into their neighbours first (reduce-scatter: of programs only)",
            THAKUR,
        ),
        &[AllReduce, ReduceScatter],
        &Halving,
    )
};
static TORUS: Row = Row {
    needs_grid: true,
    ..Row::new(
        component(
            "torus",
            "all-reduce, all-gather, reduce-scatter: on the rings of a grid, a part of the vector in every order of dimensions and both \
             directions at once",
            "Jain and Sabharwal, Optimal Bucket Algorithms for Large MPI Collectives on Torus Interconnects, 2010",
        ),
        PIECEWISE,
        &Torus,
    )
};
static DIRECT: Row = Row::new(
    component(
        "direct",
        "all-reduce, all-gather, reduce-scatter, all-to-all, barrier: each rank to each other at once; an all-reduce in two rounds",
        "this project",
    ),
    &[AllReduce, AllGather, ReduceScatter, AllToAll, Barrier],
    &Direct,
);
pub(crate) static HIERARCHICAL: Row = Row {
    component: component(
        "hierarchical",
        "all-reduce, all-gather, reduce-scatter, broadcast, all-to-all of kernels and Chakra traces: within the nodes of the \
         network, which have several GPUs, and between the ranks with the same place in their nodes",
        "Cho, Finkler, Serrano, Kung, Hunter, BlueConnect, 2019",
    ),
    aliases: &[],
    kinds: &[],
    steps: None,
    refuses: any,
    needs_grid: false,
    messages: None,
};
pub(crate) static RABENSEIFNER: Row = of_mpi(
    Algorithm::Rabenseifner,
    "rabenseifner",
    "reduce, all-reduce: reduce-scatter by recursive halving with rank xor 1, 2, 4, ..., then a gather to the root or an all-gather \
     back; ranks beyond a power of two are folded into their neighbours first",
    THAKUR,
);
pub(crate) static BINOMIAL_TREE: Row = of_mpi(
    Algorithm::BinomialTree,
    "binomial-tree",
    "bcast, reduce, gather, scatter: tree of depth ceil(log2 p) rooted at the root; gather and scatter carry whole \
     subtrees",
    THAKUR,
);
pub(crate) static LINEAR: Row = of_mpi(
    Algorithm::Linear,
    "linear",
    "barrier, bcast, reduce, gather, gatherv, scatter, scatterv: the root exchanges one message with every other \
     rank; a barrier does so both ways with rank 0",
    "MPICH",
);
pub(crate) static DISSEMINATION: Row = of_mpi(
    Algorithm::Dissemination,
    "dissemination",
    "barrier: in round k each rank signals the rank 2^k further on; 0 bytes, ceil(log2 p) rounds",
    "Hensgen, Finkel, Manber 1988; MPICH",
);
pub(crate) static PAIRWISE_EXCHANGE: Row = Row {
    aliases: &["pairwise"],
    ..of_mpi(
        Algorithm::PairwiseExchange,
        "pairwise-exchange",
        "all-to-all, alltoallv, reduce-scatter: in step k send to rank + k, receive from rank - k (mod p), and wait; p - 1 \
         steps",
        THAKUR,
    )
};
pub(crate) static SCATTERED: Row = of_mpi(
    Algorithm::Scattered,
    "scattered",
    "all-to-all, alltoallv: receives from rank + 1, + 2, ... and sends to rank - 1, - 2, ... (mod p) are begun 32 at a \
     time, then waited for",
    "MPICH (isend and irecv)",
);
pub(crate) static BRUCK: Row = of_mpi(
    Algorithm::Bruck,
    "bruck",
    "all-to-all, all-gather, allgatherv: ceil(log2 p) rounds; an all-to-all sends in round k to rank + 2^k all blocks whose \
     distance has bit k; an all-gather sends to rank - 2^k all that it holds, as far as that is missing",
    "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997",
);
pub(crate) static SCATTER_RING: Row = of_mpi(
    Algorithm::ScatterRing,
    "scatter-ring",
    "bcast: a binomial scatter of p pieces, then an allgather of them on a ring (van de Geijn)",
    THAKUR,
);
pub(crate) static SCATTER_DOUBLING: Row = of_mpi(
    Algorithm::ScatterDoubling,
    "scatter-doubling",
    "bcast: a binomial scatter of p pieces, then an allgather by recursive doubling; of other than 2^k ranks it is \
     scatter-ring",
    THAKUR,
);

/// True if data are summed in a collective of this kind.
const fn reduces(shape: &Shape) -> bool {
    !matches!(shape.kind, AllGather)
}

/// True if ranks end with more than their own piece.
const fn gathers(shape: &Shape) -> bool {
    !matches!(shape.kind, ReduceScatter)
}

/// Number of turns of a collective: of its pieces while they are summed, and while they are spread.
fn turns(shape: &Shape) -> u64 {
    u64::from(reduces(shape)) + u64::from(gathers(shape))
}

/// Writes what rings one after another do.
fn along(rings: &[Ring], shape: &Shape, out: &mut dyn FnMut(Step)) {
    let mut round = 0;
    if reduces(shape) {
        round = rings.iter().fold(round, |round, ring| ring.reduce_scatter(round, out));
    }
    if gathers(shape) {
        rings.iter().rev().fold(round, |round, ring| ring.all_gather(round, out));
    }
}

/// The rings of a rank along the dimensions of a grid, beginning with dimension `begin`, each of which cuts the part left by
/// the one before.
fn rings(size: u32, grid: &[u32], begin: usize, is_reversed: bool, rank: u32) -> Vec<Ring> {
    let (mut first, mut part) = (0, size);
    let ring = |at: usize| {
        let dimension = (at + begin) % grid.len();
        let (size, stride) = (grid[dimension], grid[..dimension].iter().product::<u32>());
        let place = rank / stride % size;
        let at = |to: u32| rank - place * stride + to % size * stride;
        let (after, before) = (at(place + 1), at(place + size - 1));
        part /= size;
        let (place, before, after) =
            if is_reversed { (size - 1 - place, after, before) } else { (place, before, after) };
        let ring = Ring { size, place, before, after, first, part };
        first += place * part;
        ring
    };
    (0..grid.len()).map(ring).collect()
}

/// One ring, or two in opposite directions.
#[derive(Debug)]
struct Rings {
    is_both_ways: bool,
}

impl Schedule for Rings {
    fn lanes(&self, _: &Shape) -> u32 {
        1 + u32::from(self.is_both_ways)
    }

    fn messages(&self, shape: &Shape) -> u64 {
        let members = u64::from(shape.size);
        (turns(shape) * members * (members - 1)).saturating_mul(self.lanes(shape).into())
    }

    fn steps(&self, shape: &Shape, lane: u32, rank: u32, out: &mut dyn FnMut(Step)) {
        along(&rings(shape.size, &[shape.size], 0, lane > 0, rank), shape, out);
    }
}

/// Rings of a grid: each lane begins with another dimension, and the second half of them goes the other way round.
#[derive(Debug)]
struct Torus;

impl Schedule for Torus {
    fn lanes(&self, shape: &Shape) -> u32 {
        2 * shape.grid.len() as u32
    }

    fn messages(&self, shape: &Shape) -> u64 {
        let each = shape.grid.iter().map(|&size| u64::from(size) - 1).sum::<u64>();
        (turns(shape) * u64::from(shape.size) * each).saturating_mul(self.lanes(shape).into())
    }

    fn steps(&self, shape: &Shape, lane: u32, rank: u32, out: &mut dyn FnMut(Step)) {
        let dimensions = shape.grid.len();
        let is_reversed = lane as usize >= dimensions;
        along(&rings(shape.size, &shape.grid, lane as usize % dimensions.max(1), is_reversed, rank), shape, out);
    }
}

/// Up a binary tree and down again. Rank m of the first tree has children 2m+1 and 2m+2; the second is its mirror image, in
/// which those with children have none in the first.
#[derive(Debug)]
struct Trees {
    lanes: u32,
}

impl Schedule for Trees {
    fn lanes(&self, _: &Shape) -> u32 {
        self.lanes
    }

    fn pieces(&self, _: &Shape) -> u32 {
        1
    }

    fn messages(&self, shape: &Shape) -> u64 {
        2 * u64::from(shape.size - 1) * u64::from(self.lanes)
    }

    fn steps(&self, shape: &Shape, lane: u32, rank: u32, out: &mut dyn FnMut(Step)) {
        let size = shape.size;
        let mirrored = |rank: u32| if lane == 0 { rank } else { size - 1 - rank };
        let (own, pieces) = (mirrored(rank), (0, 1));
        let depth_of = |rank: u32| (rank + 1).ilog2();
        let (depth, deepest) = (depth_of(own), depth_of(size - 1));
        let children = || [2 * own + 1, 2 * own + 2].into_iter().filter(|&child| child < size).map(mirrored);
        let parent = (own > 0).then(|| mirrored((own.max(1) - 1) / 2));
        for peer in children() {
            out(Step { action: Action::Combine, peer, pieces, round: deepest - depth - 1 });
        }
        if let Some(peer) = parent {
            out(Step { action: Action::Send, peer, pieces, round: deepest - depth });
            out(Step { action: Action::Keep, peer, pieces, round: deepest + depth - 1 });
        }
        for peer in children() {
            out(Step { action: Action::Send, peer, pieces, round: deepest + depth });
        }
    }
}

/// Each to each.
#[derive(Debug)]
struct Direct;

impl Schedule for Direct {
    fn messages(&self, shape: &Shape) -> u64 {
        let members = u64::from(shape.size);
        let turns = if shape.kind == AllReduce { 2 } else { 1 };
        turns * members * (members - 1)
    }

    fn steps(&self, shape: &Shape, _: u32, rank: u32, out: &mut dyn FnMut(Step)) {
        let others = || (1..shape.size).map(move |k| (rank + k) % shape.size);
        let own = (rank, 1);
        if matches!(shape.kind, AllToAll | Barrier) {
            others().for_each(|peer| out(Step { action: Action::Send, peer, pieces: (peer, 1), round: 0 }));
            others().for_each(|peer| out(Step { action: Action::Keep, peer, pieces: own, round: 0 }));
            return;
        }
        if reduces(shape) {
            others().for_each(|peer| out(Step { action: Action::Send, peer, pieces: (peer, 1), round: 0 }));
            others().for_each(|peer| out(Step { action: Action::Combine, peer, pieces: own, round: 0 }));
        }
        if gathers(shape) {
            others().for_each(|peer| out(Step { action: Action::Send, peer, pieces: own, round: 1 }));
            others().for_each(|peer| out(Step { action: Action::Keep, peer, pieces: (peer, 1), round: 1 }));
        }
    }
}

/// Recursive doubling.
#[derive(Debug)]
struct Doubling;

impl Schedule for Doubling {
    fn pieces(&self, shape: &Shape) -> u32 {
        if shape.kind == AllReduce { 1 } else { shape.size }
    }

    fn messages(&self, shape: &Shape) -> u64 {
        let core = core(shape.size);
        u64::from(core) * u64::from(core.ilog2()) + 2 * u64::from(shape.size - core)
    }

    fn steps(&self, shape: &Shape, _: u32, rank: u32, out: &mut dyn FnMut(Step)) {
        let size = shape.size;
        if shape.kind == AllGather {
            doubling(size, rank, 0, |number| number, out);
            return;
        }
        let rounds = core(size).ilog2();
        folded(size, rank, 1, rounds + 1, out, |number, out| {
            for round in 1..=rounds {
                let peer = unfold(size, number ^ (1 << (round - 1)));
                out(Step { action: Action::Send, peer, pieces: (0, 1), round });
                out(Step { action: Action::Combine, peer, pieces: (0, 1), round });
            }
        });
    }
}

/// Recursive halving; of an all-reduce, then doubling.
#[derive(Debug)]
struct Halving;

impl Schedule for Halving {
    fn pieces(&self, shape: &Shape) -> u32 {
        core(shape.size)
    }

    fn messages(&self, shape: &Shape) -> u64 {
        let core = core(shape.size);
        turns(shape) * u64::from(core) * u64::from(core.ilog2()) + 2 * u64::from(shape.size - core)
    }

    fn steps(&self, shape: &Shape, _: u32, rank: u32, out: &mut dyn FnMut(Step)) {
        let size = shape.size;
        if shape.kind == ReduceScatter {
            halving(size, rank, 0, |number| number, out);
            return;
        }
        let core = core(size);
        folded(size, rank, core, 2 * core.ilog2() + 1, out, |number, out| {
            let round = halving(core, number, 1, |number| unfold(size, number), out);
            doubling(core, number, round, |number| unfold(size, number), out);
        });
    }
}
