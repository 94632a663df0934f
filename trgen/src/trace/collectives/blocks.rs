//! Algorithms that move the blocks of several ranks at a time, or all blocks at once.

use super::Script;
use crate::trace::program::Event;

/// Number of exchanges in flight at once.
const BATCH: usize = 32;

/// Bruck's all-to-all: one block per distance; in round k the blocks whose distance has bit k move 2^k ranks on.
pub(super) fn alltoall(script: &mut Script<'_>, bytes: u64) {
    let (rank, size) = (script.rank, script.size());
    let mut bit = 1;
    while bit < size {
        let blocks = (1..size).filter(|distance| distance & bit != 0).count() as u64;
        let sum = bytes.saturating_mul(blocks);
        script.exchange((rank + bit) % size, sum, (rank + size - bit) % size, sum);
        bit *= 2;
    }
}

/// Bruck's allgather: a rank holds its own block and those of the following ranks, twice as many after every round.
pub(super) fn allgather(script: &mut Script<'_>, block: impl Fn(usize) -> u64) {
    let (rank, size) = (script.rank, script.size());
    let sum = |first: usize, count: usize| {
        (first..first + count).fold(0_u64, |sum, place| sum.saturating_add(block(place % size)))
    };
    let mut held = 1;
    while held < size {
        let count = held.min(size - held);
        let (to, from) = ((rank + size - held) % size, (rank + held) % size);
        script.exchange(to, sum(rank, count), from, sum(from, count));
        held += count;
    }
}

/// Allgather by recursive doubling among a power of two of ranks: in round k a rank and `rank xor 2^k` exchange all
/// blocks that they hold.
pub(super) fn doubling(script: &mut Script<'_>, block: impl Fn(usize) -> u64) {
    let (rank, size) = (script.rank, script.size());
    let sum =
        |first: usize, count: usize| (first..first + count).fold(0_u64, |sum, place| sum.saturating_add(block(place)));
    let mut held = 1;
    while held < size {
        let partner = rank ^ held;
        let (own, other) = (rank & !(held - 1), partner & !(held - 1));
        script.exchange(partner, sum(own, held), partner, sum(other, held));
        held *= 2;
    }
}

/// All-to-all with all exchanges started at once, 32 ranks at a time.
pub(super) fn scattered(script: &mut Script<'_>, sent: impl Fn(usize) -> u64, received: impl Fn(usize) -> u64) {
    let (rank, size) = (script.rank, script.size());
    let mut first = 1;
    while first < size {
        let batch = first..size.min(first + BATCH);
        let mut begun = Vec::new();
        for step in batch.clone() {
            let (from, request) = ((rank + step) % size, script.requests.take());
            script.out.push(Event::Irecv(script.incoming(from, received(from)), request));
            begun.push(request);
        }
        for step in batch {
            let (to, request) = ((rank + size - step) % size, script.requests.take());
            script.out.push(Event::Isend(script.outgoing(to, sent(to)), request));
            begun.push(request);
        }
        begun.iter().rev().for_each(|&request| script.requests.give_back(request));
        script.out.push(Event::WaitAll(begun.into_boxed_slice()));
        first += BATCH;
    }
}
