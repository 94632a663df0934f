//! The data that the messages of a collective carry.
//!
//! The messages, their order and their modelled sizes are those of [`trgen::trace::collectives`]. What each carries is
//! decided here: blocks with their origin and destination, or contributions to a reduction. A contribution is combined
//! with its neighbour as soon as both are present, along a fixed binary tree over the ranks: the result is the same
//! by every algorithm, bit for bit, and operations need not commute.

use std::collections::BTreeMap;

use bytes::Bytes;
use trgen::trace::collectives::{Algorithm, Collective};

use crate::engine::mail::Letter;
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

impl Route {
    /// How an algorithm moves the blocks or contributions of a collective.
    pub(crate) fn of(operation: &Collective, algorithm: Algorithm) -> Self {
        use Collective::{Alltoall, Alltoallv, Gather, Gatherv, Scatter, Scatterv};
        match (operation, algorithm) {
            (Scatter { .. } | Scatterv { .. }, Algorithm::Linear) => Self::Direct,
            (Scatter { root, .. } | Scatterv { root, .. }, _) => Self::Subtree(*root),
            (Alltoall { .. } | Alltoallv { .. }, Algorithm::Bruck) => Self::Hops,
            (Alltoall { .. } | Alltoallv { .. }, _) => Self::Direct,
            (Gather { .. } | Gatherv { .. }, _) => Self::All,
            (_, Algorithm::Ring) => Self::Newest,
            _ => Self::All,
        }
    }
}

/// Names a contribution by its ranks `[first, last)`, or a block by its origin and destination.
type Key = (u32, u32);

/// Contributions of consecutive ranks, by their first rank. The value is the rank after the last one, and the data.
type Parts = BTreeMap<u32, (u32, Vec<u8>)>;

/// The contribution of a rank, and offset and length \[bytes\] of the piece of it for each rank.
type Pieces = (Vec<u8>, Vec<(usize, usize)>);

/// Which part of the result of a reduction a rank gets.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Share {
    /// The whole result, or none.
    Whole,
    /// One block of the result; these are the numbers of values of all ranks.
    Blocks(Vec<i64>),
    /// The result over the lower ranks, with this rank if `inclusive`: a scan.
    Prefix { inclusive: bool },
}

/// A reduction in progress.
#[derive(Debug)]
pub(crate) struct Reduction {
    /// The operation, and the values of each contribution.
    terms: Terms,
    /// Number of ranks of the communicator.
    ranks: u32,
    /// Contributions present, by their first rank.
    parts: Parts,
    /// Only for a scan. This rank's result covers the ranks below the number; the second field has their contributions.
    prefix: Option<(u32, Parts)>,
    /// Only for direct exchanges of blocks: the contribution of this rank, and the piece of it for each rank.
    pieces: Option<Pieces>,
    /// Which contributions a message carries.
    route: Route,
    /// The contributions of the last message that arrived, if [`Route::Newest`] sends them.
    newest: Vec<(Key, Vec<u8>)>,
}

/// The data of a collective on one rank.
#[derive(Debug)]
pub(crate) enum Data {
    /// A barrier.
    Nothing,
    /// A broadcast. `by_sends`: it is a scatter and an allgather; only the blocking sends, which are the scatter, carry
    /// the data.
    Whole { bytes: Option<Bytes>, by_sends: bool },
    /// Blocks, by origin and destination; a block for all ranks has the destination [`Data::ALL`].
    Blocks { all: BTreeMap<Key, Bytes>, route: Route, newest: Vec<Key> },
    /// Contributions.
    Reduction(Box<Reduction>),
}

/// \[bytes\] Shortest block that is kept as a part of its message; shorter ones are copied, and keep no message in memory.
const LONG: usize = 4096;

/// A message of these entries: of each two numbers of 4 bytes, the length in 8 bytes, and the data.
fn letter(entries: &[(Key, &[u8])]) -> Letter {
    let mut letter = Letter::with_room(entries.iter().map(|(_, bytes)| 16 + bytes.len()).sum());
    let out = letter.end();
    for ((a, b), bytes) in entries {
        out.extend_from_slice(&a.to_le_bytes());
        out.extend_from_slice(&b.to_le_bytes());
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(bytes);
    }
    letter
}

/// The data of an entry of a message.
fn kept(message: &Bytes, entry: &[u8]) -> Bytes {
    if entry.len() < LONG { Bytes::copy_from_slice(entry) } else { message.slice_ref(entry) }
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

/// Offset and length \[bytes\] of each rank's block of a result, by the numbers of values of all ranks.
fn places(terms: &Terms, counts: &[i64]) -> Vec<(usize, usize)> {
    let mut end = 0;
    let place = |&count: &i64| {
        let length = terms.ty.bytes(count) as usize;
        end += length;
        (end - length, length)
    };
    counts.iter().map(place).collect()
}

impl Data {
    /// The data of a collective that moves blocks. `own` are the blocks of this rank: origin, destination and bytes.
    pub(crate) fn blocks<B: Into<Bytes>>(own: Vec<(u32, u32, B)>, route: Route) -> Self {
        let newest = own.iter().map(|(from, to, _)| (*from, *to)).collect();
        Self::Blocks {
            all: own.into_iter().map(|(from, to, bytes)| ((from, to), bytes.into())).collect(),
            route,
            newest,
        }
    }

    /// The destination of a block for all ranks.
    pub(crate) const ALL: u32 = u32::MAX;

    /// The payload of a message from `rank` to `to`, which are ranks of a communicator of `size`. `is_send` tells
    /// whether the algorithm sends it by a blocking send.
    pub(crate) fn outgoing(&mut self, rank: usize, to: usize, size: usize, is_send: bool) -> Letter {
        match self {
            Self::Nothing => Letter::empty(),
            Self::Whole { bytes: Some(bytes), by_sends } if is_send || !*by_sends => letter(&[((0, 0), &bytes[..])]),
            Self::Whole { .. } => Letter::empty(),
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
                let found = chosen.iter().filter_map(|&key| Some((key, &all.get(&key)?[..])));
                let letter = letter(&found.collect::<Vec<_>>());
                if matches!(route, Route::Direct | Route::Hops | Route::Subtree(_)) {
                    // A block that has been passed on is not needed again.
                    chosen.iter().for_each(|key| drop(all.remove(key)));
                }
                letter
            }
            Self::Reduction(reduction) => match (&reduction.pieces, reduction.route) {
                (Some((own, pieces)), _) => {
                    let (start, length) = pieces[to];
                    letter(&[((rank as u32, rank as u32 + 1), &own[start..start + length])])
                }
                (None, Route::Newest) => {
                    letter(&reduction.newest.iter().map(|(key, bytes)| (*key, &bytes[..])).collect::<Vec<_>>())
                }
                (None, _) => {
                    let parts = reduction.parts.iter().map(|(&first, (last, bytes))| ((first, *last), &bytes[..]));
                    letter(&parts.collect::<Vec<_>>())
                }
            },
        }
    }

    /// Adds the payload of a message that has arrived. Returns false if it is malformed.
    pub(crate) fn incoming(&mut self, payload: &Bytes, combine: Combine<'_>) -> bool {
        let Some(entries) = read(payload) else { return false };
        match self {
            Self::Nothing => {}
            Self::Whole { bytes, .. } => {
                if let Some((_, found)) = entries.first() {
                    *bytes = Some(kept(payload, found));
                }
            }
            Self::Blocks { all, newest, .. } => {
                newest.clear();
                for (key, bytes) in entries {
                    newest.push(key);
                    all.entry(key).or_insert_with(|| kept(payload, bytes));
                }
            }
            Self::Reduction(reduction) => {
                if reduction.route == Route::Newest {
                    reduction.newest = entries.iter().map(|&(key, bytes)| (key, bytes.to_vec())).collect();
                }
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
    /// The reduction of rank `rank` of `ranks`, whose contribution is `own`.
    pub(crate) fn new(
        mut terms: Terms,
        (rank, ranks): (usize, usize),
        own: Vec<u8>,
        share: &Share,
        algorithm: Algorithm,
        route: Route,
    ) -> Self {
        let first = rank as u32;
        let prefix = match share {
            Share::Prefix { inclusive } => Some((first + u32::from(*inclusive), BTreeMap::new())),
            _ => None,
        };
        let newest = vec![((first, first + 1), own.clone())];
        // In a direct exchange each rank combines the pieces for itself alone.
        let (mine, pieces) = match share {
            Share::Blocks(counts) if algorithm == Algorithm::PairwiseExchange => {
                terms.count = counts[rank];
                let pieces = places(&terms, counts);
                let (start, length) = pieces[rank];
                (own[start..start + length].to_vec(), Some((own, pieces)))
            }
            _ => (own, None),
        };
        let mut reduction = Self { terms, ranks: ranks as u32, parts: BTreeMap::new(), prefix, pieces, route, newest };
        // The first contribution is combined with none.
        reduction.add(first, first + 1, mine, &mut |_, _, _| {});
        reduction
    }

    /// The result for a rank, once the reduction has ended; `None` if it gets none.
    pub(crate) fn result(&self, rank: usize, share: &Share, combine: Combine<'_>) -> Option<Vec<u8>> {
        let whole = match (share, &self.prefix) {
            (Share::Prefix { .. }, Some((_, prefix))) => self.fold(prefix, combine),
            _ => self.fold(&self.parts, combine),
        }?;
        match share {
            Share::Blocks(counts) if self.pieces.is_none() => {
                let (start, length) = places(&self.terms, counts)[rank];
                Some(whole[start..start + length].to_vec())
            }
            _ => Some(whole),
        }
    }

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
    fn fold(&self, parts: &Parts, combine: Combine<'_>) -> Option<Vec<u8>> {
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
