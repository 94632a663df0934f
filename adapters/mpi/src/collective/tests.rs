//! Every algorithm of every collective against the definition of the operation. Messages pass between the ranks in any
//! order that MPI permits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use bytes::Bytes;
use proptest::prelude::*;
use trgen::trace::collectives::{Algorithm, Collective};

use super::{Disagreement, Running, Step};
use crate::communicator::{Comm, Comms};
use crate::data::{Data, Reduction, Route, Share};
use crate::datatype::Types;
use crate::operation::Terms;

/// `MPI_CHAR` and a handle that is no predefined operation.
const CHAR: i32 = 0x4c00_0101;
const OP: i32 = 0x9800_0001_u32 as i32;

/// An operation that is associative and does not commute: composition of maps `x -> a x + b` modulo 251, each two bytes.
fn compose(left: &[u8], right: &mut [u8]) {
    for (left, right) in left.chunks(2).zip(right.chunks_mut(2)) {
        let [a, b, c, d] = [left[0], left[1], right[0], right[1]].map(u32::from);
        (right[0], right[1]) = ((a * c % 251) as u8, ((a * d + b) % 251) as u8);
    }
}

/// What a rank contributes: `count` maps.
fn contribution(rank: usize, count: usize) -> Vec<u8> {
    (0..2 * count).map(|at| ((rank * 37 + at * 11) % 250 + 1) as u8).collect()
}

/// The contributions of these ranks, combined from the left; `None` for no ranks.
fn combined(ranks: std::ops::Range<usize>, count: usize) -> Option<Vec<u8>> {
    ranks.map(|rank| contribution(rank, count)).reduce(|left, mut right| {
        compose(&left, &mut right);
        right
    })
}

/// A block from a rank to a rank: its length depends on both if `varied`.
fn block(from: usize, to: usize, length: usize, varied: bool) -> Vec<u8> {
    let length = if varied { length + (from + 2 * to) % 3 } else { length };
    (0..length).map(|at| (from * 31 + to * 7 + at) as u8).collect()
}

/// The results of all ranks: for each, bytes by the rank that they come from.
type Results = Vec<BTreeMap<usize, Vec<u8>>>;

/// A queue for each pair of ranks.
type Queues<T> = BTreeMap<(usize, usize), VecDeque<T>>;

/// Ranks that execute a collective, and the network between them.
struct Ranks {
    running: Vec<Running>,
    /// Messages that have not arrived, by sender and receiver: note, payload, and whether the sender waits in a slot.
    wires: Queues<(u64, Bytes, Option<u32>)>,
    /// Messages that have arrived and are not expected yet, by receiver and sender.
    unexpected: Queues<(u64, Bytes)>,
    /// Slots that expect a message, by receiver and sender.
    expected: Queues<u32>,
}

impl Ranks {
    fn new(
        operation: impl Fn(usize) -> Collective,
        data: impl Fn(usize, Route) -> Data,
        algorithm: Algorithm,
        size: usize,
    ) -> Self {
        let start = |rank: usize| {
            let comm = Comm::new(1, (0..size).collect(), rank, "MPI_COMM_WORLD");
            let operation = operation(rank);
            let data = data(rank, Route::of(&operation, algorithm));
            Running::new(&comm, 0, operation, algorithm, data, Box::new(|_, _| Ok(())), 0).unwrap()
        };
        let running = (0..size).map(start).collect();
        Self { running, wires: BTreeMap::new(), unexpected: BTreeMap::new(), expected: BTreeMap::new() }
    }

    /// Executes the steps of a rank until it waits. Returns true at the end. `draw` decides whether a send ends at once.
    fn advance(&mut self, rank: usize, draw: &mut impl FnMut(usize) -> usize) -> bool {
        loop {
            let running = &mut self.running[rank];
            match running.next(&mut |_, left, right| compose(left, right)).unwrap() {
                Step::Wait => return false,
                Step::End => return true,
                Step::Send { to, slot, payload, .. } => {
                    let waits = draw(2) == 0;
                    if waits {
                        running.opened(slot, None);
                    }
                    let (note, payload) = (running.note(), payload.into_data());
                    self.wires.entry((rank, to)).or_default().push_back((note, payload, waits.then_some(slot)));
                }
                Step::Receive { from, slot, .. } => {
                    running.opened(slot, None);
                    match self.unexpected.entry((rank, from)).or_default().pop_front() {
                        Some((note, payload)) => {
                            running.received(slot, (from, note), payload).unwrap();
                        }
                        None => self.expected.entry((rank, from)).or_default().push_back(slot),
                    }
                }
            }
        }
    }

    /// Lets the first message of a drawn wire arrive.
    fn deliver(&mut self, draw: &mut impl FnMut(usize) -> usize) -> Option<(usize, usize)> {
        self.wires.retain(|_, wire| !wire.is_empty());
        let count = self.wires.len();
        let (&(from, to), wire) = self.wires.iter_mut().nth(if count == 0 { 0 } else { draw(count) })?;
        let (note, payload, waits) = wire.pop_front()?;
        if let Some(slot) = waits {
            self.running[from].closed(slot);
        }
        match self.expected.entry((to, from)).or_default().pop_front() {
            Some(slot) => {
                self.running[to].received(slot, (from, note), payload).unwrap();
            }
            None => self.unexpected.entry((to, from)).or_default().push_back((note, payload)),
        }
        Some((from, to))
    }

    /// Executes all ranks to the end; an error if they stop before.
    fn run(&mut self, seed: u64) -> Result<(), String> {
        let mut state = seed;
        let mut draw = move |below: usize| {
            state = trgen::rng::mix2(state, below as u64);
            (state % below as u64) as usize
        };
        let size = self.running.len();
        let mut over: Vec<bool> = (0..size).map(|rank| self.advance(rank, &mut draw)).collect();
        while let Some((from, to)) = self.deliver(&mut draw) {
            for rank in [from, to] {
                over[rank] = over[rank] || self.advance(rank, &mut draw);
            }
        }
        if over.iter().all(|&over| over) { Ok(()) } else { Err(format!("ranks that have not ended: {over:?}")) }
    }

    /// The blocks that each rank has for itself or for all.
    fn blocks(self) -> Results {
        let of = |(rank, running): (usize, Running)| match running.data {
            Data::Blocks { all, .. } => {
                let own = all.into_iter().filter(|&((_, to), _)| to == Data::ALL || to as usize == rank);
                own.map(|((from, _), bytes)| (from as usize, bytes.to_vec())).collect()
            }
            Data::Whole { bytes, .. } => bytes.into_iter().map(|bytes| (0, bytes.to_vec())).collect(),
            _ => BTreeMap::new(),
        };
        self.running.into_iter().enumerate().map(of).collect()
    }

    /// The result of a reduction on each rank.
    fn reduced(self, share: &Share) -> Vec<Option<Vec<u8>>> {
        let of = |(rank, running): (usize, Running)| match running.data {
            Data::Reduction(reduction) => reduction.result(rank, share, &mut |_, left, right| compose(left, right)),
            _ => None,
        };
        self.running.into_iter().enumerate().map(of).collect()
    }
}

/// Moves blocks by every algorithm of an operation. `own` are the destinations of a rank's blocks and their data.
fn check_blocks(
    operation: impl Fn(usize) -> Collective,
    own: impl Fn(usize) -> Vec<(u32, Vec<u8>)>,
    size: usize,
    seed: u64,
    wanted: &dyn Fn(usize) -> BTreeMap<usize, Vec<u8>>,
) {
    for algorithm in Algorithm::of(operation(0).name()) {
        if algorithm == Algorithm::RecursiveDoubling && !size.is_power_of_two() {
            // It serves these operations on powers of two; otherwise the choice is Bruck.
            continue;
        }
        let data = |rank: usize, route| {
            Data::blocks(own(rank).into_iter().map(|(to, bytes)| (rank as u32, to, bytes)).collect(), route)
        };
        let mut ranks = Ranks::new(&operation, data, algorithm, size);
        let name = ranks.running[0].name();
        ranks.run(seed).unwrap_or_else(|error| panic!("{name} {algorithm:?} of {size}: {error}"));
        for (rank, found) in ranks.blocks().into_iter().enumerate() {
            assert_eq!(found, wanted(rank), "{name} {algorithm:?} of {size}, rank {rank}");
        }
    }
}

/// Reduces by every algorithm of an operation.
fn check_reduction(
    operation: impl Fn(usize) -> Collective,
    count: usize,
    share: &Share,
    size: usize,
    seed: u64,
    wanted: &dyn Fn(usize) -> Option<Option<Vec<u8>>>,
) {
    let ty = Types::new().get(CHAR).unwrap();
    for algorithm in Algorithm::of(operation(0).name()) {
        let data = |rank, route| {
            let terms = Terms { op: OP, function: None, handle: CHAR, ty: Rc::clone(&ty), count: 2 * count as i64 };
            let own = contribution(rank, count);
            Data::Reduction(Box::new(Reduction::new(terms, (rank, size), own, share, algorithm, route)))
        };
        let mut ranks = Ranks::new(&operation, data, algorithm, size);
        let name = ranks.running[0].name();
        ranks.run(seed).unwrap_or_else(|error| panic!("{name} {algorithm:?} of {size}: {error}"));
        for (rank, found) in ranks.reduced(share).into_iter().enumerate() {
            if let Some(wanted) = wanted(rank) {
                assert_eq!(found, wanted, "{name} {algorithm:?} of {size}, rank {rank}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code")]
    fn data_are_moved_as_defined(size in 1..10_usize, root in 0..9_usize, length in 0..6_usize, seed: u64) {
        let root = root % size;
        let (at, bytes) = (root as u32, length as u64);
        let len = |from, to| block(from, to, length, true).len() as u64;
        let same = |from, to| block(from, to, length, false);
        let varied = |from, to| block(from, to, length, true);
        let of_all = |block: &dyn Fn(usize) -> Vec<u8>| (0..size).map(|from| (from, block(from))).collect();
        let at_root = |rank: usize, found: BTreeMap<usize, Vec<u8>>| if rank == root { found } else { BTreeMap::new() };

        check_blocks(|_| Collective::Gather { root, bytes }, |rank| vec![(at, same(rank, root))], size, seed,
            &|rank| at_root(rank, of_all(&|from| same(from, root))));
        let receive: Vec<u64> = (0..size).map(|from| len(from, root)).collect();
        check_blocks(|rank| Collective::Gatherv { root, send: len(rank, root), receive: receive.clone() },
            |rank| vec![(at, varied(rank, root))], size, seed,
            &|rank| at_root(rank, of_all(&|from| varied(from, root))));

        let from_root = |rank: usize, block: &dyn Fn(usize) -> Vec<u8>| -> Vec<(u32, Vec<u8>)> {
            (0..size).filter(|_| rank == root).map(|to| (to as u32, block(to))).collect()
        };
        check_blocks(|_| Collective::Scatter { root, bytes }, |rank| from_root(rank, &|to| same(root, to)), size, seed,
            &|rank| BTreeMap::from([(root, same(root, rank))]));
        let send: Vec<u64> = (0..size).map(|to| len(root, to)).collect();
        check_blocks(|rank| Collective::Scatterv { root, send: send.clone(), receive: len(root, rank) },
            |rank| from_root(rank, &|to| varied(root, to)), size, seed,
            &|rank| BTreeMap::from([(root, varied(root, rank))]));

        check_blocks(|_| Collective::Allgather { bytes }, |rank| vec![(Data::ALL, same(rank, 0))], size, seed,
            &|_| of_all(&|from| same(from, 0)));
        let lengths: Vec<u64> = (0..size).map(|from| len(from, 0)).collect();
        check_blocks(|_| Collective::Allgatherv { blocks: lengths.clone() }, |rank| vec![(Data::ALL, varied(rank, 0))],
            size, seed, &|_| of_all(&|from| varied(from, 0)));

        let to_all = |block: &dyn Fn(usize) -> Vec<u8>| (0..size).map(|to| (to as u32, block(to))).collect();
        check_blocks(|_| Collective::Alltoall { bytes }, |rank| to_all(&|to| same(rank, to)), size, seed,
            &|rank| of_all(&|from| same(from, rank)));
        let sizes = |rank: usize| Collective::Alltoallv {
            send: (0..size).map(|to| len(rank, to)).collect(),
            receive: (0..size).map(|from| len(from, rank)).collect(),
        };
        check_blocks(sizes, |rank| to_all(&|to| varied(rank, to)), size, seed,
            &|rank| of_all(&|from| varied(from, rank)));
    }

    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code")]
    fn a_broadcast_reaches_every_rank(size in 1..10_usize, root in 0..9_usize, length in 0..40_usize, seed: u64) {
        let root = root % size;
        for algorithm in Algorithm::of("bcast") {
            if algorithm == Algorithm::ScatterDoubling && !size.is_power_of_two() {
                continue;
            }
            let by_sends = matches!(algorithm, Algorithm::ScatterRing | Algorithm::ScatterDoubling);
            let data = |rank, _| Data::Whole { bytes: (rank == root).then(|| block(root, 0, length, false).into()), by_sends };
            let operation = |_| Collective::Broadcast { root, bytes: length as u64 };
            let mut ranks = Ranks::new(operation, data, algorithm, size);
            ranks.run(seed).map_err(TestCaseError::fail)?;
            for found in ranks.blocks() {
                prop_assert_eq!(found, BTreeMap::from([(0, block(root, 0, length, false))]), "{:?}", algorithm);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code")]
    fn reductions_combine_in_the_order_of_ranks(size in 1..10_usize, root in 0..9_usize, count in 0..5_usize, seed: u64) {
        let (root, bytes) = (root % size, 2 * count as u64);
        let all = combined(0..size, count);
        check_reduction(|_| Collective::Allreduce { bytes }, count, &Share::Whole, size, seed, &|_| Some(all.clone()));
        check_reduction(|_| Collective::Reduce { root, bytes }, count, &Share::Whole, size, seed,
            &|rank| (rank == root).then(|| all.clone()));
        check_reduction(|_| Collective::Scan { bytes }, count, &Share::Prefix { inclusive: true }, size, seed,
            &|rank| Some(combined(0..rank + 1, count)));
        check_reduction(|_| Collective::Exscan { bytes }, count, &Share::Prefix { inclusive: false }, size, seed,
            &|rank| Some(combined(0..rank, count)));
        // Blocks of different lengths, one of them empty.
        let counts: Vec<i64> = (0..size).map(|rank| 2 * (rank as i64 % 3)).collect();
        let total = counts.iter().sum::<i64>() as usize / 2;
        let blocks: Vec<u64> = counts.iter().map(|&count| count as u64).collect();
        let whole = combined(0..size, total).unwrap_or_default();
        check_reduction(|_| Collective::ReduceScatter { blocks: blocks.clone() }, total, &Share::Blocks(counts.clone()),
            size, seed, &|rank| {
                let start = counts[..rank].iter().sum::<i64>() as usize;
                Some(Some(whole[start..start + counts[rank] as usize].to_vec()))
            });
    }
}

#[test]
#[cfg_attr(miri, ignore = "no unsafe code")]
fn nobody_leaves_a_barrier_before_all_have_entered() {
    for algorithm in Algorithm::of("barrier") {
        for size in 2..10 {
            for late in 0..size {
                let mut ranks = Ranks::new(|_| Collective::Barrier, |_, _| Data::Nothing, algorithm, size);
                let mut draw = |_: usize| 1;
                let mut over = vec![false; size];
                let others: Vec<usize> = (0..size).filter(|&rank| rank != late).collect();
                others.iter().for_each(|&rank| over[rank] = ranks.advance(rank, &mut draw));
                while let Some((_, to)) = ranks.deliver(&mut |_| 0) {
                    over[to] = to != late && (over[to] || ranks.advance(to, &mut draw));
                }
                assert!(!over.contains(&true), "{algorithm:?} of {size} without {late}: {over:?}");
            }
        }
    }
}

#[test]
fn ranks_that_call_different_collectives_are_told() {
    let comm = Comm::new(1, vec![0, 1], 0, "MPI_COMM_WORLD");
    let begin = |operation| {
        Running::new(&comm, 0, operation, Algorithm::Linear, Data::Nothing, Box::new(|_, _| Ok(())), 0).unwrap()
    };
    let mut gather = begin(Collective::Gather { root: 0, bytes: 4 });
    let scatter = begin(Collective::Scatter { root: 1, bytes: 4 });
    let slot = loop {
        if let Step::Receive { slot, .. } = gather.next(&mut |_, _, _| {}).unwrap() {
            break slot;
        }
    };
    let disagreement = gather.received(slot, (1, scatter.note()), Bytes::new()).unwrap_err();
    assert_eq!(disagreement, Disagreement::Call { source: 1, note: scatter.note() });
    let text = gather.explain(&disagreement, &Comms::new(0, 2)).text;
    assert_eq!(text, "collective 1 of MPI_COMM_WORLD is gather with root 0 here and scatter with root 1 on rank 1");
}
