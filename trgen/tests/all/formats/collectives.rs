//! Simulates collectives message by message and tracks the data of every rank: the result is that of the operation,
//! every message is received, and nothing deadlocks, whether sends complete at once or only when they are received.

use trgen::TaskId;
use trgen::collective::COLLECTIVES;
use trgen::trace::collectives::{Agreement, Algorithm, Choice, Collective, ExpandError, NAMES, RequestPool, expand};
use trgen::trace::program::{Event, Tag};

use super::exchange::{Data, bytes_received, bytes_sent, messages, simulate};

/// The scripts of all ranks, by the algorithms that ignore sizes; tasks are the ranks themselves.
fn scripts(p: usize, call: impl Fn(usize) -> Collective) -> Vec<Vec<Event>> {
    let algorithm = Choice::basic().algorithm(&call(0), p);
    scripts_by(algorithm, p, call)
}

fn scripts_by(algorithm: Algorithm, p: usize, call: impl Fn(usize) -> Collective) -> Vec<Vec<Event>> {
    let world: Vec<TaskId> = (0..p).map(TaskId::at).collect();
    (0..p)
        .map(|rank| {
            let (mut pool, mut out) = (RequestPool::new(), Vec::new());
            expand(&call(rank), algorithm, &world, rank, Tag::collective(7), &mut pool, &mut out).unwrap();
            out
        })
        .collect()
}

fn all(p: usize) -> u64 {
    (1 << p) - 1
}

/// Every rank passes on all contributions that it has received.
struct Heard(Vec<u64>);

impl Data for Heard {
    fn send(&self, rank: usize, _: usize, _: u64) -> u64 {
        self.0[rank]
    }
    fn receive(&mut self, rank: usize, _: usize, _: u64, content: u64) {
        self.0[rank] |= content;
    }
}

/// Every rank passes on its combination; no contribution may enter twice.
struct Combined(Vec<u64>);

impl Data for Combined {
    fn send(&self, rank: usize, _: usize, _: u64) -> u64 {
        self.0[rank]
    }
    fn receive(&mut self, rank: usize, _: usize, _: u64, content: u64) {
        let held = &mut self.0[rank];
        // A finished result may replace its own parts (the last step of a folded allreduce).
        assert!(*held & content == 0 || *held & content == *held, "rank {rank} combines a contribution twice");
        *held |= content;
    }
}

/// Scan: a running combination that is passed on, and a result of the contributions of lower ranks.
struct Prefix {
    passed: Vec<u64>,
    result: Vec<u64>,
}

impl Data for Prefix {
    fn send(&self, rank: usize, _: usize, _: u64) -> u64 {
        self.passed[rank]
    }
    fn receive(&mut self, rank: usize, from: usize, _: u64, content: u64) {
        assert_eq!(self.passed[rank] & content, 0);
        self.passed[rank] |= content;
        if from < rank {
            assert_eq!(self.result[rank] & content, 0);
            self.result[rank] |= content;
        }
    }
}

/// Blocks of distinct sizes: the size of a message identifies its block.
struct Blocks<F: Fn(usize, usize, u64) -> u64> {
    held: Vec<u64>,
    carried: F,
}

impl<F: Fn(usize, usize, u64) -> u64> Data for Blocks<F> {
    fn send(&self, rank: usize, to: usize, bytes: u64) -> u64 {
        let content = (self.carried)(rank, to, bytes);
        assert_eq!(content & !self.held[rank], 0, "rank {rank} sends what it has not got");
        content
    }
    fn receive(&mut self, rank: usize, _: usize, _: u64, content: u64) {
        assert_eq!(self.held[rank] & content, 0, "rank {rank} gets a block twice");
        self.held[rank] |= content;
    }
}

const SIZES: std::ops::RangeInclusive<usize> = 1..=33;

fn own(p: usize) -> Vec<u64> {
    (0..p).map(|rank| 1 << rank).collect()
}

#[test]
fn a_barrier_hears_of_everybody() {
    for p in SIZES {
        let scripts = scripts(p, |_| Collective::Barrier);
        simulate(&scripts, || Heard(own(p)), |data| assert!(data.0.iter().all(|&heard| heard == all(p))));
        assert_eq!(messages(&scripts), p * p.next_power_of_two().ilog2() as usize);
    }
}

#[test]
fn a_broadcast_reaches_everybody_from_every_root() {
    for p in SIZES {
        for root in 0..p {
            let scripts = scripts(p, |_| Collective::Broadcast { root, bytes: 10 });
            let start = || {
                let mut held = vec![0; p];
                held[root] = 1;
                Blocks { held, carried: |_, _, bytes| u64::from(bytes == 10) }
            };
            simulate(&scripts, start, |data| assert!(data.held.iter().all(|&held| held == 1)));
            assert_eq!(messages(&scripts), p - 1);
        }
    }
}

#[test]
fn a_reduction_takes_every_contribution_once() {
    for p in SIZES {
        for root in 0..p {
            let scripts = scripts(p, |_| Collective::Reduce { root, bytes: 3 });
            simulate(&scripts, || Combined(own(p)), |data| assert_eq!(data.0[root], all(p)));
            assert_eq!(messages(&scripts), p - 1);
        }
    }
}

#[test]
fn an_allreduce_takes_every_contribution_once_everywhere() {
    for p in SIZES {
        let scripts = scripts(p, |_| Collective::Allreduce { bytes: 3 });
        simulate(&scripts, || Combined(own(p)), |data| assert!(data.0.iter().all(|&held| held == all(p))));
        let (core, rounds) = (1 << p.ilog2(), p.ilog2() as usize);
        assert_eq!(messages(&scripts), core * rounds + 2 * (p - core));
    }
}

#[test]
fn scans_combine_the_ranks_before() {
    for p in SIZES {
        for exclusive in [false, true] {
            let scripts = scripts(p, |_| match exclusive {
                true => Collective::Exscan { bytes: 5 },
                false => Collective::Scan { bytes: 5 },
            });
            let start = || Prefix { passed: own(p), result: if exclusive { vec![0; p] } else { own(p) } };
            simulate(&scripts, start, |data| {
                for (rank, &result) in data.result.iter().enumerate() {
                    assert_eq!(result, all(rank + usize::from(!exclusive)), "rank {rank} of {p}");
                }
            });
        }
    }
}

#[test]
fn gather_and_scatter_carry_whole_subtrees() {
    for p in SIZES {
        for root in 0..p {
            let gather = scripts(p, |_| Collective::Gather { root, bytes: 8 });
            simulate(&gather, || Combined(own(p)), |data| assert_eq!(data.0[root], all(p)));
            let scatter = scripts(p, |_| Collective::Scatter { root, bytes: 8 });
            simulate(
                &scatter,
                || Heard(own(p)),
                |data| {
                    assert!(data.0.iter().all(|heard| heard & (1 << root) != 0));
                },
            );
            for rank in (0..p).filter(|&rank| rank != root) {
                let kept = bytes_received(&scatter[rank]) - bytes_sent(&scatter[rank]);
                assert_eq!(kept, 8, "a rank keeps its own block");
                let added = bytes_sent(&gather[rank]) - bytes_received(&gather[rank]);
                assert_eq!(added, 8, "a rank adds its own block");
            }
            assert_eq!(bytes_received(&gather[root]), 8 * (p as u64 - 1));
            assert_eq!(bytes_sent(&scatter[root]), 8 * (p as u64 - 1));
        }
    }
}

#[test]
fn linear_gather_and_scatter_move_the_block_of_each_rank() {
    let block = |rank: usize| 100 + rank as u64;
    for p in SIZES {
        let blocks: Vec<u64> = (0..p).map(block).collect();
        for root in [0, p / 2, p - 1] {
            let gatherv = scripts(p, |rank| Collective::Gatherv { root, send: block(rank), receive: blocks.clone() });
            let by_size = |_: usize, _: usize, bytes: u64| 1 << (bytes - 100);
            simulate(
                &gatherv,
                || Blocks { held: own(p), carried: by_size },
                |data| assert_eq!(data.held[root], all(p)),
            );
            let scatterv = scripts(p, |rank| Collective::Scatterv { root, send: blocks.clone(), receive: block(rank) });
            let start = || {
                let mut held = vec![0; p];
                held[root] = all(p);
                Blocks { held, carried: by_size }
            };
            simulate(&scatterv, start, |data| {
                for rank in (0..p).filter(|&rank| rank != root) {
                    assert_eq!(data.held[rank], 1 << rank);
                }
            });
        }
    }
}

#[test]
fn a_ring_passes_every_block_to_everybody() {
    for p in SIZES {
        // Distinct sizes, one of them zero.
        let blocks: Vec<u64> = (0..p as u64).collect();
        let scripts = scripts(p, |_| Collective::Allgatherv { blocks: blocks.clone() });
        let start = || Blocks { held: own(p), carried: |_, _, bytes| 1 << bytes };
        simulate(&scripts, start, |data| assert!(data.held.iter().all(|&held| held == all(p))));
        let even = self::scripts(p, |_| Collective::Allgather { bytes: 6 });
        simulate(&even, || Heard(own(p)), |data| assert!(data.0.iter().all(|&heard| heard == all(p))));
        assert_eq!(messages(&even), p * (p - 1));
        assert!(even.iter().all(|script| bytes_sent(script) == 6 * (p as u64 - 1)));
    }
}

#[test]
fn pairwise_exchange_sends_each_block_to_its_rank() {
    let size = |from: usize, to: usize| (from * 100 + to) as u64;
    for p in SIZES {
        let alltoallv = scripts(p, |rank| Collective::Alltoallv {
            send: (0..p).map(|to| size(rank, to)).collect(),
            receive: (0..p).map(|from| size(from, rank)).collect(),
        });
        let start = || Blocks {
            held: own(p),
            carried: |from, to, bytes| {
                assert_eq!(bytes, size(from, to));
                1 << from
            },
        };
        simulate(&alltoallv, start, |data| assert!(data.held.iter().all(|&held| held == all(p))));
        let alltoall = scripts(p, |_| Collective::Alltoall { bytes: 4 });
        assert_eq!(messages(&alltoall), p * (p - 1));
        assert!(alltoall.iter().all(|script| bytes_sent(script) == 4 * (p as u64 - 1)));
        // Every rank's contribution to the block of `to` goes to `to`.
        let blocks: Vec<u64> = (0..p as u64).map(|rank| 50 + rank).collect();
        let reduce_scatter = scripts(p, |_| Collective::ReduceScatter { blocks: blocks.clone() });
        let start = || Blocks {
            held: own(p),
            carried: |from, to, bytes| {
                assert_eq!(bytes, 50 + to as u64);
                1 << from
            },
        };
        simulate(&reduce_scatter, start, |data| assert!(data.held.iter().all(|&held| held == all(p))));
    }
}

#[test]
fn messages_go_to_the_tasks_of_the_communicator_under_its_tag() {
    let tasks = [TaskId(40), TaskId(7), TaskId(19)];
    let (mut pool, mut out) = (RequestPool::new(), Vec::new());
    let alltoall = Collective::Alltoall { bytes: 1 };
    expand(&alltoall, Algorithm::PairwiseExchange, &tasks, 1, Tag::collective(3), &mut pool, &mut out).unwrap();
    let sent: Vec<(TaskId, Tag)> = out
        .iter()
        .filter_map(|event| if let Event::Isend(send, _) = event { Some((send.to, send.tag)) } else { None })
        .collect();
    assert_eq!(sent, [(TaskId(19), Tag::collective(3)), (TaskId(40), Tag::collective(3))]);
    assert_eq!(pool.peak(), 2, "requests are given back after every step");
}

#[test]
fn what_does_not_fit_the_communicator_is_refused_and_leaves_no_trace() {
    let world = [TaskId(0), TaskId(1)];
    let mut out = Vec::new();
    let mut call = |collective, rank| {
        let (algorithm, mut pool) = (Choice::basic().algorithm(&collective, 2), RequestPool::new());
        let result = expand(&collective, algorithm, &world, rank, Tag::collective(0), &mut pool, &mut out);
        assert!(out.is_empty());
        result.unwrap_err()
    };
    assert_eq!(call(Collective::Barrier, 2), ExpandError::NoSuchRank { rank: 2, size: 2 });
    assert_eq!(call(Collective::Reduce { root: 5, bytes: 1 }, 0), ExpandError::NoSuchRank { rank: 5, size: 2 });
    let short = Collective::Alltoallv { send: vec![1, 2], receive: vec![1] };
    assert_eq!(call(short, 0), ExpandError::BlockCount { found: 1, size: 2 });
    assert_eq!(call(Collective::Allgatherv { blocks: vec![1; 3] }, 0), ExpandError::BlockCount { found: 3, size: 2 });
}

#[test]
fn every_algorithm_in_use_is_in_the_table() {
    let v = || vec![0];
    let all = [
        Collective::Barrier,
        Collective::Broadcast { root: 0, bytes: 0 },
        Collective::Reduce { root: 0, bytes: 0 },
        Collective::Allreduce { bytes: 0 },
        Collective::Alltoall { bytes: 0 },
        Collective::Alltoallv { send: v(), receive: v() },
        Collective::Gather { root: 0, bytes: 0 },
        Collective::Gatherv { root: 0, send: 0, receive: v() },
        Collective::Scatter { root: 0, bytes: 0 },
        Collective::Scatterv { root: 0, send: v(), receive: 0 },
        Collective::Allgather { bytes: 0 },
        Collective::Allgatherv { blocks: v() },
        Collective::ReduceScatter { blocks: v() },
        Collective::Scan { bytes: 0 },
        Collective::Exscan { bytes: 0 },
    ];
    for collective in all {
        assert!(NAMES.contains(&collective.name()));
        for choice in [Choice::basic(), Choice::default()] {
            assert!(choice.algorithm(&collective, 5).serves(collective.name()));
        }
        for algorithm in Algorithm::of(collective.name()) {
            assert_eq!(COLLECTIVES.find(algorithm.name()), Some(algorithm.row()));
            let bare = |text: &str| text.replace(['-', '_'], "");
            assert!(bare(algorithm.row().component.about).contains(&bare(collective.name())), "{collective:?}");
        }
    }
}

/// A call of `operation` on p ranks with root p / 2, whose blocks are all of this size.
fn call_of(operation: &str, p: usize, bytes: u64) -> Collective {
    let (root, blocks) = (p / 2, vec![bytes; p]);
    match operation {
        "barrier" => Collective::Barrier,
        "bcast" => Collective::Broadcast { root, bytes },
        "reduce" => Collective::Reduce { root, bytes },
        "allreduce" => Collective::Allreduce { bytes },
        "alltoall" => Collective::Alltoall { bytes },
        "alltoallv" => Collective::Alltoallv { send: blocks.clone(), receive: blocks },
        "gather" => Collective::Gather { root, bytes },
        "gatherv" => Collective::Gatherv { root, send: bytes, receive: blocks },
        "scatter" => Collective::Scatter { root, bytes },
        "scatterv" => Collective::Scatterv { root, send: blocks, receive: bytes },
        "allgather" => Collective::Allgather { bytes },
        "allgatherv" => Collective::Allgatherv { blocks },
        "reduce_scatter" => Collective::ReduceScatter { blocks },
        "scan" => Collective::Scan { bytes },
        _ => Collective::Exscan { bytes },
    }
}

#[test]
fn every_algorithm_of_every_operation_ends_and_tells_whom_it_must() {
    for p in SIZES {
        for &operation in NAMES {
            for algorithm in Algorithm::of(operation) {
                let scripts = scripts_by(algorithm, p, |_| call_of(operation, p, 1000));
                let root = p / 2;
                simulate(
                    &scripts,
                    || Heard(own(p)),
                    |data| {
                        let what = || format!("{operation} by {} of {p}", algorithm.name());
                        match operation {
                            "bcast" | "scatter" | "scatterv" => {
                                assert!(data.0.iter().all(|heard| heard & (1 << root) != 0), "{}", what());
                            }
                            "reduce" | "gather" | "gatherv" => assert_eq!(data.0[root], all(p), "{}", what()),
                            "scan" | "exscan" => {
                                for (rank, heard) in data.0.iter().enumerate() {
                                    assert_eq!(heard & all(rank), all(rank), "{}", what());
                                }
                            }
                            _ => assert!(data.0.iter().all(|&heard| heard == all(p)), "{}", what()),
                        }
                    },
                );
            }
        }
    }
}

#[test]
fn allgathers_carry_each_block_once() {
    // Sizes are powers of two: the size of a message identifies its blocks.
    for p in SIZES {
        let blocks: Vec<u64> = own(p);
        for algorithm in Algorithm::of("allgatherv") {
            let scripts = scripts_by(algorithm, p, |_| Collective::Allgatherv { blocks: blocks.clone() });
            let start = || Blocks { held: own(p), carried: |_, _, bytes| bytes };
            simulate(&scripts, start, |data| assert!(data.held.iter().all(|&held| held == all(p))));
        }
    }
}

#[test]
fn bytes_of_long_vectors_are_those_of_the_literature() {
    let per_rank = |algorithm, p: usize, call: Collective| -> Vec<u64> {
        scripts_by(algorithm, p, |_| call.clone()).iter().map(|script| bytes_sent(script)).collect()
    };
    for log in 0..6 {
        let p = 1_usize << log;
        let (n, others) = (p as u64 * 100, p as u64 - 1);
        for algorithm in [Algorithm::Rabenseifner, Algorithm::Ring] {
            let sent = per_rank(algorithm, p, Collective::Allreduce { bytes: n });
            assert!(sent.iter().all(|&bytes| bytes == 2 * 100 * others), "{}", algorithm.name());
        }
        let halving = per_rank(Algorithm::RecursiveHalving, p, Collective::ReduceScatter { blocks: vec![100; p] });
        assert!(halving.iter().all(|&bytes| bytes == 100 * others));
        // In reduce every rank gives away all but one piece, and the root's gather collects the same amount in all.
        let reduce: u64 = per_rank(Algorithm::Rabenseifner, p, Collective::Reduce { root: 0, bytes: n }).iter().sum();
        let gathered: u64 = (0..log).map(|step| (1 << step) * 100 * (p as u64 >> (step + 1))).sum();
        assert_eq!(reduce, 100 * others * p as u64 + gathered);
    }
    // Of 12 ranks, four hand over their whole vectors, eight halve and gather; a root outside the power of two gets one
    // more piece.
    for (root, more) in [(0, 0), (2, 0), (11, 0), (1, 8192), (7, 8192)] {
        let sent = per_rank(Algorithm::Rabenseifner, 12, Collective::Reduce { root, bytes: 65536 });
        assert_eq!(sent.iter().sum::<u64>(), 4 * 65536 + 7 * 65536 + 3 * 32768 + more, "to {root}");
    }
    for p in SIZES {
        let bruck = scripts_by(Algorithm::Bruck, p, |_| Collective::Alltoall { bytes: 10 });
        let blocks: u64 = (1..p as u64).map(|distance| u64::from(distance.count_ones())).sum();
        assert!(bruck.iter().all(|script| bytes_sent(script) == 10 * blocks));
        assert_eq!(messages(&bruck), p * p.next_power_of_two().ilog2() as usize);
        let scattered = scripts_by(Algorithm::Scattered, p, |_| Collective::Alltoall { bytes: 10 });
        assert!(scattered.iter().all(|script| bytes_sent(script) == 10 * (p as u64 - 1)));
        // A broadcast in pieces: the tree carries each piece once per level, the ring all pieces to all.
        let ring = scripts_by(Algorithm::ScatterRing, p, |_| Collective::Broadcast { root: 0, bytes: 100 * p as u64 });
        let depth: u64 = (0..p as u64).map(|place| u64::from(place.count_ones())).sum();
        let sent: u64 = ring.iter().map(|script| bytes_sent(script)).sum();
        assert_eq!(sent, 100 * depth + 100 * (p * (p - 1)) as u64);
    }
}

#[test]
fn mpich_chooses_by_size_and_ranks() {
    use Algorithm::{
        BinomialTree, Bruck, PairwiseExchange, Rabenseifner, RecursiveDoubling, RecursiveHalving, Ring,
        ScatterDoubling, ScatterRing, Scattered,
    };
    let broadcast = |bytes| Collective::Broadcast { root: 0, bytes };
    let reduce_scatter = |bytes, p| Collective::ReduceScatter { blocks: vec![bytes; p] };
    for (collective, p, expected) in [
        (broadcast(12_287), 64, BinomialTree),
        (broadcast(12_288), 64, ScatterDoubling),
        (broadcast(12_288), 63, ScatterRing),
        (broadcast(524_288), 64, ScatterRing),
        (broadcast(1 << 30), 7, BinomialTree),
        (Collective::Reduce { root: 0, bytes: 2048 }, 16, BinomialTree),
        (Collective::Reduce { root: 0, bytes: 2049 }, 16, Rabenseifner),
        (Collective::Allreduce { bytes: 2048 }, 16, RecursiveDoubling),
        (Collective::Allreduce { bytes: 2049 }, 16, Rabenseifner),
        (Collective::Allgather { bytes: 32_767 }, 16, RecursiveDoubling),
        (Collective::Allgather { bytes: 32_768 }, 16, Ring),
        (Collective::Allgather { bytes: 8_191 }, 10, Bruck),
        (Collective::Allgather { bytes: 8_192 }, 10, Ring),
        (Collective::Alltoall { bytes: 256 }, 8, Bruck),
        (Collective::Alltoall { bytes: 256 }, 7, Scattered),
        (Collective::Alltoall { bytes: 257 }, 8, Scattered),
        (Collective::Alltoall { bytes: 32_769 }, 8, PairwiseExchange),
        (reduce_scatter(1000, 10), 10, RecursiveHalving),
        (reduce_scatter(60_000, 10), 10, PairwiseExchange),
    ] {
        assert_eq!(Choice::default().algorithm(&collective, p), expected, "{collective:?} of {p}");
    }
}

#[test]
fn a_choice_is_written_as_rules_and_exceptions() {
    let allreduce = Collective::Allreduce { bytes: 1 << 20 };
    let of = |text: &str| text.parse::<Choice>().map(|choice| choice.algorithm(&allreduce, 16));
    assert_eq!(of("mpich"), Ok(Algorithm::Rabenseifner));
    assert_eq!(of("basic"), Ok(Algorithm::RecursiveDoubling));
    assert_eq!(of("allreduce=ring"), Ok(Algorithm::Ring));
    // An algorithm that needs a power of two of ranks is replaced by its general form on other sizes.
    let named = |text: &str, call: &Collective, p| text.parse::<Choice>().map(|choice| choice.algorithm(call, p));
    let (bcast, allgather) = (Collective::Broadcast { root: 0, bytes: 9 }, Collective::Allgather { bytes: 9 });
    assert_eq!(named("bcast=scatter-doubling", &bcast, 16), Ok(Algorithm::ScatterDoubling));
    assert_eq!(named("bcast=scatter-doubling", &bcast, 12), Ok(Algorithm::ScatterRing));
    assert_eq!(named("allgather=recursive-doubling", &allgather, 16), Ok(Algorithm::RecursiveDoubling));
    assert_eq!(named("allgather=recursive-doubling", &allgather, 12), Ok(Algorithm::Bruck));
    assert_eq!(of("basic, allreduce=ring, bcast=linear"), Ok(Algorithm::Ring));
    let refused = |text: &str| of(text).unwrap_err().to_string();
    assert_eq!(refused("openmpi"), "unknown rules of collectives `openmpi`");
    assert_eq!(refused("allreduce=bruck"), "`bruck` is no algorithm of allreduce");
    assert_eq!(refused("allredce=ring"), "unknown collective operation `allredce`");
    assert_eq!(refused("allreduce=ring,basic"), "the rules `basic` stand after an algorithm");
}

#[test]
fn the_first_rank_decides_the_algorithm_of_a_call() {
    let mut agreement: Agreement<u64> = Agreement::new(Choice::default(), 16);
    let allreduce = |bytes| Collective::Allreduce { bytes };
    assert_eq!(agreement.call(0, 0, &allreduce(1), || 1).unwrap(), Algorithm::RecursiveDoubling);
    assert_eq!(agreement.call(1, 0, &allreduce(1 << 20), || 2).unwrap(), Algorithm::RecursiveDoubling);
}

#[test]
fn ranks_that_call_different_collectives_disagree() {
    let mut agreement: Agreement<u64> = Agreement::default();
    let broadcast = |root| Collective::Broadcast { root, bytes: 1 };
    agreement.call(0, 0, &Collective::Barrier, || 11).unwrap();
    agreement.call(0, 1, &broadcast(2), || 12).unwrap();
    agreement.end(0, 2).unwrap();
    agreement.call(1, 0, &Collective::Barrier, || 21).unwrap();
    // The same operation with another size agrees; with another root it does not.
    agreement.call(1, 1, &Collective::Broadcast { root: 2, bytes: 9 }, || 22).unwrap();
    let other_root = agreement.call(1, 1, &broadcast(3), || 22).unwrap_err();
    assert_eq!((other_root.expected_rank, other_root.expected_place), (0, Some(12)));
    assert_eq!((other_root.expected.as_str(), other_root.found.as_str()), ("bcast with root 2", "bcast with root 3"));
    let more = agreement.call(1, 2, &Collective::Barrier, || 23).unwrap_err();
    assert_eq!((more.expected.as_str(), more.expected_place), ("nothing", None));
    let fewer = agreement.end(2, 1).unwrap_err();
    assert_eq!((fewer.index, fewer.found.as_str()), (1, "nothing"));
}
