//! Collectives without a root: all ranks act alike, relative to their own number.

use super::Script;

/// Dissemination barrier: after round k a rank has been signalled, directly or indirectly, by the 2^(k+1) - 1 ranks
/// before it.
pub(super) fn barrier(script: &mut Script<'_>) {
    let (rank, size) = (script.rank, script.size());
    let mut distance = 1;
    while distance < size {
        script.exchange((rank + distance) % size, 0, (rank + size - distance) % size, 0);
        distance *= 2;
    }
}

/// Allreduce by recursive doubling among the largest power of two of ranks. Of the first 2 * (p - 2^k) ranks, each even
/// one sends its contribution to the next rank beforehand and receives the result from it afterwards.
pub(super) fn allreduce(script: &mut Script<'_>, bytes: u64) {
    let (rank, size) = (script.rank, script.size());
    let core = 1_usize << size.ilog2();
    let folded = size - core;
    let has_partner = rank < 2 * folded;
    if has_partner && rank % 2 == 0 {
        script.send(rank + 1, bytes);
        script.receive(rank + 1, bytes);
        return;
    }
    if has_partner {
        script.receive(rank - 1, bytes);
    }
    let place = if has_partner { rank / 2 } else { rank - folded };
    let mut bit = 1;
    while bit < core {
        let other = place ^ bit;
        let partner = if other < folded { 2 * other + 1 } else { other + folded };
        script.exchange(partner, bytes, partner, bytes);
        bit *= 2;
    }
    if has_partner {
        script.send(rank - 1, bytes);
    }
}

/// All-to-all by pairwise exchange: `sent` and `received` give the size \[bytes\] of the block to and from a rank.
pub(super) fn pairwise(script: &mut Script<'_>, sent: impl Fn(usize) -> u64, received: impl Fn(usize) -> u64) {
    let (rank, size) = (script.rank, script.size());
    for step in 1..size {
        let (to, from) = ((rank + step) % size, (rank + size - step) % size);
        script.exchange(to, sent(to), from, received(from));
    }
}

/// Allgather on a ring: `block` gives the size \[bytes\] of the block of a rank.
pub(super) fn ring(script: &mut Script<'_>, block: impl Fn(usize) -> u64) {
    let (rank, size) = (script.rank, script.size());
    for step in 1..size {
        let (newest, coming) = ((rank + size + 1 - step) % size, (rank + size - step) % size);
        script.exchange((rank + 1) % size, block(newest), (rank + size - 1) % size, block(coming));
    }
}

/// Scan by recursive doubling: after step k a rank holds the combination of its aligned group of 2^(k+1) ranks; data
/// from lower ranks also enter its own result. A partner beyond the last rank is skipped: its group is higher and
/// contributes nothing to the result of this rank.
pub(super) fn scan(script: &mut Script<'_>, bytes: u64) {
    let mut bit = 1;
    while bit < script.size() {
        let partner = script.rank ^ bit;
        if partner < script.size() {
            script.exchange(partner, bytes, partner, bytes);
        }
        bit *= 2;
    }
}
