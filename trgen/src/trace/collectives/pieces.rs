//! Algorithms for long vectors, which cut them into pieces.

use std::ops::Range;

use super::{Script, tree};

/// Assigns positions to as many ranks as the largest power of two. The first 2 * `folded` ranks form pairs, of which
/// only one member has a position.
struct Core {
    /// Number of positions: the largest power of two that does not exceed the number of ranks.
    core: usize,
    /// Number of pairs: the ranks beyond that power of two.
    folded: usize,
    /// The member of a pair with a position: 0 the even rank, 1 the odd one.
    keeper: usize,
}

impl Core {
    fn new(size: usize, keeper: usize) -> Self {
        let core = 1 << size.max(1).ilog2();
        Self { core, folded: size - core, keeper }
    }

    /// The position of a rank; `None` for one that hands its data to the other rank of its pair.
    fn place(&self, rank: usize) -> Option<usize> {
        match rank {
            _ if rank >= 2 * self.folded => Some(rank - self.folded),
            _ if rank % 2 == self.keeper => Some(rank / 2),
            _ => None,
        }
    }

    /// The rank at a position.
    fn rank(&self, place: usize) -> usize {
        if place < self.folded { 2 * place + self.keeper } else { place + self.folded }
    }

    /// The ranges of pieces that a position holds, halved down to one piece: before the first step and after each.
    fn kept(&self, place: usize) -> Vec<Range<usize>> {
        let mut range = 0..self.core;
        let mut kept = vec![range.clone()];
        for step in 0..self.core.ilog2() {
            let middle = range.start + range.len() / 2;
            range = if place >> step & 1 == 0 { range.start..middle } else { middle..range.end };
            kept.push(range.clone());
        }
        kept
    }
}

/// \[bytes\] Size of pieces `range` of `count` of a vector.
fn pieces_bytes(bytes: u64, range: &Range<usize>, count: usize) -> u64 {
    let cut = |number: usize| (u128::from(bytes) * number as u128 / count as u128) as u64;
    cut(range.end) - cut(range.start)
}

/// \[bytes\] Size of one piece.
fn piece_bytes(bytes: u64, number: usize, count: usize) -> u64 {
    pieces_bytes(bytes, &(number..number + 1), count)
}

/// Halves the range of pieces of a position down to one piece; returns the range held after each step.
fn halve(script: &mut Script<'_>, bytes: u64, core: &Core, place: usize) -> Vec<Range<usize>> {
    let kept = core.kept(place);
    for (step, pair) in kept.windows(2).enumerate() {
        let partner = core.rank(place ^ 1 << step);
        let (all, got) = (pieces_bytes(bytes, &pair[0], core.core), pieces_bytes(bytes, &pair[1], core.core));
        script.exchange(partner, all - got, partner, got);
    }
    kept
}

/// Rabenseifner's allreduce.
pub(super) fn allreduce(script: &mut Script<'_>, bytes: u64) {
    let (rank, core) = (script.rank, Core::new(script.size(), 1));
    let Some(place) = core.place(rank) else {
        script.send(rank + 1, bytes);
        script.receive(rank + 1, bytes);
        return;
    };
    let has_partner = rank < 2 * core.folded;
    if has_partner {
        script.receive(rank - 1, bytes);
    }
    let kept = halve(script, bytes, &core, place);
    // The steps in reverse order: the half given away in a step comes back summed.
    let mut bit = core.core;
    for step in (1..kept.len()).rev() {
        bit /= 2;
        let (own, whole) =
            (pieces_bytes(bytes, &kept[step], core.core), pieces_bytes(bytes, &kept[step - 1], core.core));
        let partner = core.rank(place ^ bit);
        script.exchange(partner, own, partner, whole - own);
    }
    if has_partner {
        script.send(rank - 1, bytes);
    }
}

/// Rabenseifner's reduce. Even ranks keep their positions here, so that rank 0, the usual root, has one. A root without
/// a position takes over that of rank 0, and its piece, before the result is gathered.
pub(super) fn reduce(script: &mut Script<'_>, root: usize, bytes: u64) {
    let (rank, core) = (script.rank, Core::new(script.size(), 0));
    let (collector, replaced) = (core.place(root).unwrap_or(0), core.place(root).is_none());
    let kept = match core.place(rank) {
        Some(place) => {
            if rank < 2 * core.folded {
                script.receive(rank + 1, bytes);
            }
            let kept = halve(script, bytes, &core, place);
            if replaced && place == 0 {
                return script.send(root, pieces_bytes(bytes, &kept[kept.len() - 1], core.core));
            }
            kept
        }
        None => {
            script.send(rank - 1, bytes);
            if rank != root {
                return;
            }
            let kept = core.kept(0);
            script.receive(0, pieces_bytes(bytes, &kept[kept.len() - 1], core.core));
            kept
        }
    };
    let place = core.place(rank).unwrap_or(0);
    let mut bit = core.core;
    for step in (1..kept.len()).rev() {
        bit /= 2;
        let (own, whole) =
            (pieces_bytes(bytes, &kept[step], core.core), pieces_bytes(bytes, &kept[step - 1], core.core));
        let partner = match place ^ bit {
            0 if replaced => root,
            other => core.rank(other),
        };
        if place & bit != collector & bit {
            return script.send(partner, own);
        }
        script.receive(partner, whole - own);
    }
}

/// Reduce-scatter by recursive halving; `blocks` are the sizes of the ranks' results.
pub(super) fn reduce_scatter(script: &mut Script<'_>, blocks: &[u64]) {
    let (rank, core) = (script.rank, Core::new(script.size(), 1));
    let total = blocks.iter().fold(0_u64, |sum, &bytes| sum.saturating_add(bytes));
    let Some(place) = core.place(rank) else {
        script.send(rank + 1, total);
        script.receive(rank + 1, blocks[rank]);
        return;
    };
    let has_partner = rank < 2 * core.folded;
    if has_partner {
        script.receive(rank - 1, total);
    }
    // A position covers the block of its rank and that of the other member of the pair, which has no position.
    let bytes_at = |place: usize| {
        let before = if place < core.folded { blocks[2 * place] } else { 0 };
        before.saturating_add(blocks[core.rank(place)])
    };
    let sum = |first: usize, count: usize| {
        (first..first + count).fold(0_u64, |sum, place| sum.saturating_add(bytes_at(place)))
    };
    let mut half = core.core / 2;
    while half > 0 {
        let partner = place ^ half;
        let (own, other) = (place & !(half - 1), partner & !(half - 1));
        let to = core.rank(partner);
        script.exchange(to, sum(other, half), to, sum(own, half));
        half /= 2;
    }
    if has_partner {
        script.send(rank - 1, blocks[rank - 1]);
    }
}

/// Broadcast as a scatter of p pieces and an allgather, on a ring or by recursive doubling. Positions are relative to
/// the root.
pub(super) fn broadcast(script: &mut Script<'_>, root: usize, bytes: u64, doubling: bool) {
    let size = script.size();
    let place = (script.rank + size - root) % size;
    let rank_of = |place: usize| (place + root) % size;
    tree::scatter_pieces(script, root, |range| pieces_bytes(bytes, &range, size));
    if doubling && size.is_power_of_two() {
        let mut held = 1;
        while held < size {
            let partner = place ^ held;
            let (own, other) = (place & !(held - 1), partner & !(held - 1));
            let to = rank_of(partner);
            let sum = |first: usize| pieces_bytes(bytes, &(first..first + held), size);
            script.exchange(to, sum(own), to, sum(other));
            held *= 2;
        }
        return;
    }
    for step in 1..size {
        let (newest, coming) = ((place + size + 1 - step) % size, (place + size - step) % size);
        let (to, from) = (rank_of((place + 1) % size), rank_of((place + size - 1) % size));
        script.exchange(to, piece_bytes(bytes, newest, size), from, piece_bytes(bytes, coming, size));
    }
}
