//! The data that the messages of a collective carry.
//!
//! The messages, their order and their modelled sizes are those of [`trgen::trace::collectives`]. What each carries is
//! decided here: blocks with their origin and destination, or contributions to a reduction. A contribution is combined
//! with its neighbour as soon as both are present, along a fixed binary tree over the ranks: the result is the same
//! by every algorithm, bit for bit, and operations need not commute.

use std::collections::BTreeMap;

use trgen::trace::collectives::Algorithm;

use crate::operation::Terms;

/// Applies the operation of a reduction: the second packed contribution becomes the first one combined with it. The
/// operation may be a function of the program.
pub(crate) type Combine<'a> = &'a mut dyn FnMut(&Terms, &[u8], &mut [u8]);

/// Which blocks a message carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Route {
    /// All blocks that this rank has.
    All,
    /// The blocks that arrived with the last message; before the first message, the rank's own block.
    Newest,
    /// The blocks for the receiver.
    Direct,
    /// The blocks for the receiver's part of a binomial tree with this root.
    Subtree(usize),
    /// The blocks whose distance from origin to destination has the bit of the distance to the receiver, as in the
    /// algorithm of Bruck.
    Hops,
}

/// Names a contribution by its ranks `[first, last)`, or a block by its origin and destination.
type Key = (u32, u32);

/// Contributions of consecutive ranks, by their first rank. The value is the rank after the last one, and the data.
type Parts = BTreeMap<u32, (u32, Vec<u8>)>;

/// The contribution of a rank, and offset and length \[bytes\] of the piece of it for each rank.
type Pieces = (Vec<u8>, Vec<(usize, usize)>);

/// A reduction in progress.
#[derive(Debug)]
pub(crate) struct Reduction {
    /// The operation, and the values of each contribution.
    pub(crate) terms: Terms,
    /// Number of ranks of the communicator.
    pub(crate) ranks: u32,
    /// Contributions present, by their first rank.
    pub(crate) parts: Parts,
    /// Only for a scan. This rank's result covers the ranks below the number; the second field has their contributions.
    pub(crate) prefix: Option<(u32, Parts)>,
    /// Only for direct exchanges of blocks: the contribution of this rank, and the piece of it for each rank.
    pub(crate) pieces: Option<Pieces>,
    /// Which contributions a message carries.
    pub(crate) route: Route,
    /// The contributions of the last message that arrived.
    pub(crate) newest: Vec<(Key, Vec<u8>)>,
}

/// The data of a collective on one rank.
#[derive(Debug)]
pub(crate) enum Data {
    /// A barrier.
    Nothing,
    /// A broadcast. `by_sends`: it is a scatter and an allgather; only the blocking sends, which are the scatter, carry
    /// the data.
    Whole { bytes: Option<Vec<u8>>, by_sends: bool },
    /// Blocks, by origin and destination; a block for all ranks has the destination [`Data::ALL`].
    Blocks { all: BTreeMap<Key, Vec<u8>>, route: Route, newest: Vec<Key> },
    /// Contributions.
    Reduction(Box<Reduction>),
}

/// Appends an entry to a message: two numbers of 4 bytes, the length in 8 bytes, and the data.
fn write(out: &mut Vec<u8>, (a, b): Key, bytes: &[u8]) {
    out.extend_from_slice(&a.to_le_bytes());
    out.extend_from_slice(&b.to_le_bytes());
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// The entries of a message; `None` if it is malformed.
fn read(mut from: &[u8]) -> Option<Vec<(Key, &[u8])>> {
    let mut all = Vec::new();
    while !from.is_empty() {
        let (head, rest) = from.split_first_chunk::<16>()?;
        let number = |at: usize| Some(u32::from_le_bytes(head[at..at + 4].try_into().ok()?));
        let length = u64::from_le_bytes(head[8..].try_into().ok()?);
        let length = usize::try_from(length).ok().filter(|&length| length <= rest.len())?;
        let (bytes, rest) = rest.split_at(length);
        all.push(((number(0)?, number(4)?), bytes));
        from = rest;
    }
    Some(all)
}

impl Data {
    /// The destination of a block for all ranks.
    pub(crate) const ALL: u32 = u32::MAX;

    /// The payload of a message from `rank` to `to`, which are ranks of a communicator of `size`. `is_send` tells
    /// whether the algorithm sends it by a blocking send.
    pub(crate) fn outgoing(&mut self, rank: usize, to: usize, size: usize, is_send: bool) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Nothing => {}
            Self::Whole { bytes: Some(bytes), by_sends } if is_send || !*by_sends => write(&mut out, (0, 0), bytes),
            Self::Whole { .. } => {}
            Self::Blocks { all, route, newest } => {
                // Distance from this rank to the receiver.
                let hop = (to + size - rank) % size;
                // True if the blocks for this destination go through the receiver.
                let within = |destination: u32| match *route {
                    Route::All | Route::Newest => true,
                    Route::Direct => destination as usize == to,
                    Route::Subtree(root) => {
                        let place = (to + size - root) % size;
                        let distance = (destination as usize + size - root) % size;
                        let span = if place == 0 { size } else { place & place.wrapping_neg() };
                        (place..place + span).contains(&distance)
                    }
                    Route::Hops => false,
                };
                let chosen: Vec<Key> = match route {
                    Route::Newest => newest.clone(),
                    Route::Hops => {
                        let apart = |&(from, to): &Key| (to as usize + size - from as usize) % size;
                        all.keys().filter(|key| apart(key) & hop != 0).copied().collect()
                    }
                    _ => all.keys().filter(|&&(_, destination)| within(destination)).copied().collect(),
                };
                for key in chosen {
                    match route {
                        // A block that has been passed on is not needed again.
                        Route::Direct | Route::Hops | Route::Subtree(_) => {
                            all.remove(&key).iter().for_each(|bytes| write(&mut out, key, bytes));
                        }
                        _ => all.get(&key).iter().for_each(|bytes| write(&mut out, key, bytes)),
                    }
                }
            }
            Self::Reduction(reduction) => match (&reduction.pieces, reduction.route) {
                (Some((own, pieces)), _) => {
                    let (start, length) = pieces[to];
                    write(&mut out, (rank as u32, rank as u32 + 1), &own[start..start + length]);
                }
                (None, Route::Newest) => reduction.newest.iter().for_each(|(key, bytes)| write(&mut out, *key, bytes)),
                (None, _) => {
                    reduction.parts.iter().for_each(|(&first, (last, bytes))| write(&mut out, (first, *last), bytes));
                }
            },
        }
        out
    }

    /// Adds the payload of a message that has arrived. Returns false if it is malformed.
    pub(crate) fn incoming(&mut self, payload: &[u8], combine: Combine<'_>) -> bool {
        let Some(entries) = read(payload) else { return false };
        match self {
            Self::Nothing => {}
            Self::Whole { bytes, .. } => {
                if let Some((_, found)) = entries.first() {
                    *bytes = Some(found.to_vec());
                }
            }
            Self::Blocks { all, newest, .. } => {
                newest.clear();
                for (key, bytes) in entries {
                    newest.push(key);
                    all.entry(key).or_insert_with(|| bytes.to_vec());
                }
            }
            Self::Reduction(reduction) => {
                reduction.newest = entries.iter().map(|&(key, bytes)| (key, bytes.to_vec())).collect();
                for ((first, last), bytes) in entries {
                    if first >= last
                        || last > reduction.ranks
                        || bytes.len() as u64 != reduction.terms.ty.bytes(reduction.terms.count)
                    {
                        return false;
                    }
                    reduction.add(first, last, bytes.to_vec(), combine);
                }
            }
        }
        true
    }
}

impl Reduction {
    /// Adds a contribution of ranks `[first, last)`.
    pub(crate) fn add(&mut self, first: u32, last: u32, bytes: Vec<u8>, combine: Combine<'_>) {
        if let Some((end, mut prefix)) = self.prefix.take() {
            if last <= end {
                self.join(&mut prefix, first, last, bytes.clone(), combine);
            }
            self.prefix = Some((end, prefix));
        }
        let mut parts = std::mem::take(&mut self.parts);
        self.join(&mut parts, first, last, bytes, combine);
        self.parts = parts;
    }

    /// Adds a contribution to `parts`, unless these contain it, and combines it with its neighbours along the tree as
    /// far as possible.
    fn join(&self, parts: &mut Parts, first: u32, last: u32, bytes: Vec<u8>, combine: Combine<'_>) {
        if parts.range(..=first).next_back().is_some_and(|(_, &(end, _))| end >= last) {
            return;
        }
        let inner: Vec<u32> = parts.range(first..last).map(|(&start, _)| start).collect();
        inner.iter().for_each(|start| {
            parts.remove(start);
        });
        parts.insert(first, (last, bytes));
        let mut at = first;
        loop {
            let before = parts.range(..at).next_back().map(|(&start, _)| start);
            let pair = [before, Some(at)].into_iter().flatten().find(|&start| self.is_left_sibling(parts, start));
            let Some(start) = pair else { return };
            let Some((middle, left)) = parts.remove(&start) else { return };
            let Some((end, mut right)) = parts.remove(&middle) else { return };
            combine(&self.terms, &left, &mut right);
            parts.insert(start, (end, right));
            at = start;
        }
    }

    /// True if the part that begins here and the one after it are the two halves of a node of the tree.
    fn is_left_sibling(&self, parts: &Parts, start: u32) -> bool {
        let Some(&(middle, _)) = parts.get(&start) else { return false };
        let Some(&(end, _)) = parts.get(&middle) else { return false };
        let width = middle - start;
        width.is_power_of_two() && start.is_multiple_of(2 * width) && end == (start + 2 * width).min(self.ranks)
    }

    /// The combination of all parts of a map, in the order of ranks; `None` if there is none.
    pub(crate) fn fold(&self, parts: &Parts, combine: Combine<'_>) -> Option<Vec<u8>> {
        let mut result: Option<Vec<u8>> = None;
        for (_, bytes) in parts.values() {
            let mut right = bytes.clone();
            if let Some(left) = &result {
                combine(&self.terms, left, &mut right);
            }
            result = Some(right);
        }
        result
    }
}

/// The route of a reduction's contributions.
pub(crate) fn route_of(algorithm: Algorithm) -> Route {
    if algorithm == Algorithm::Ring { Route::Newest } else { Route::All }
}
