//! Collectives with a root: binomial trees, and linear algorithms for the `v` operations.
//!
//! Trees are built on the rank relative to the root, `v = (rank - root) mod p`: the parent of v is v without its lowest
//! set bit, and that bit is the number of nodes in the subtree of v, limited by the number of ranks.

use std::ops::Range;

use super::Script;
use crate::trace::program::{Event, Request};

/// A rank's position in the binomial tree. The ranks that the methods return are those of the communicator.
struct Place {
    /// The rank relative to the root, v.
    relative: usize,
    root: usize,
    /// Number of ranks of the communicator.
    size: usize,
    /// The lowest set bit of the relative rank; for the root the smallest power of two not below the size.
    span: usize,
}

impl Place {
    fn new(script: &Script<'_>, root: usize) -> Self {
        let size = script.size();
        let relative = (script.rank + size - root) % size;
        let span = if relative == 0 { size.next_power_of_two() } else { relative & relative.wrapping_neg() };
        Self { relative, root, size, span }
    }

    /// The parent of this rank; `None` for the root.
    fn parent(&self) -> Option<usize> {
        (self.relative != 0).then(|| (self.relative - self.span + self.root) % self.size)
    }

    /// Number of ranks in the subtree, including this one.
    fn subtree(&self) -> u64 {
        self.span.min(self.size - self.relative) as u64
    }

    /// Children with the sizes of their subtrees, smallest subtree first.
    fn children(&self) -> Vec<(usize, u64)> {
        let mut children = Vec::new();
        let mut bit = 1;
        while bit < self.span && self.relative + bit < self.size {
            let child = self.relative + bit;
            children.push(((child + self.root) % self.size, bit.min(self.size - child) as u64));
            bit <<= 1;
        }
        children
    }
}

/// Broadcast along a binomial tree. A rank sends to its largest subtree first.
pub(super) fn broadcast(script: &mut Script<'_>, root: usize, bytes: u64) {
    let place = Place::new(script, root);
    if let Some(parent) = place.parent() {
        script.receive(parent, bytes);
    }
    for &(child, _) in place.children().iter().rev() {
        script.send(child, bytes);
    }
}

/// Reduction along a binomial tree. A rank receives from its smallest subtree first.
pub(super) fn reduce(script: &mut Script<'_>, root: usize, bytes: u64) {
    let place = Place::new(script, root);
    for (child, _) in place.children() {
        script.receive(child, bytes);
    }
    if let Some(parent) = place.parent() {
        script.send(parent, bytes);
    }
}

/// Gather along a binomial tree. A rank passes on the blocks of its whole subtree.
pub(super) fn gather(script: &mut Script<'_>, root: usize, bytes: u64) {
    let place = Place::new(script, root);
    for (child, ranks) in place.children() {
        script.receive(child, bytes.saturating_mul(ranks));
    }
    if let Some(parent) = place.parent() {
        script.send(parent, bytes.saturating_mul(place.subtree()));
    }
}

/// Scatter along a binomial tree: the messages of the gather in reverse.
pub(super) fn scatter(script: &mut Script<'_>, root: usize, bytes: u64) {
    let place = Place::new(script, root);
    if let Some(parent) = place.parent() {
        script.receive(parent, bytes.saturating_mul(place.subtree()));
    }
    for &(child, ranks) in place.children().iter().rev() {
        script.send(child, bytes.saturating_mul(ranks));
    }
}

/// Scatter along a binomial tree that gives every rank its piece of a vector. Pieces are numbered relative to the root,
/// and `bytes` gives the size of a range of them.
pub(super) fn scatter_pieces(script: &mut Script<'_>, root: usize, bytes: impl Fn(Range<usize>) -> u64) {
    let place = Place::new(script, root);
    let size = place.size;
    if let Some(parent) = place.parent() {
        script.receive(parent, bytes(place.relative..place.relative + place.subtree() as usize));
    }
    for &(child, ranks) in place.children().iter().rev() {
        let first = (child + size - root) % size;
        script.send(child, bytes(first..first + ranks as usize));
    }
}

/// Gather in which the root posts a receive from every other rank and waits for all.
pub(super) fn gatherv(script: &mut Script<'_>, root: usize, send: u64, receive: &[u64]) {
    if script.rank != root {
        script.send(root, send);
        return;
    }
    with_every_other(script, |script, other| {
        let request = script.requests.take();
        script.out.push(Event::Irecv(script.incoming(other, receive[other]), request));
        request
    });
}

/// Scatter in which the root starts a send to every other rank and waits for all.
pub(super) fn scatterv(script: &mut Script<'_>, root: usize, send: &[u64], receive: u64) {
    if script.rank != root {
        script.receive(root, receive);
        return;
    }
    with_every_other(script, |script, other| {
        let request = script.requests.take();
        script.out.push(Event::Isend(script.outgoing(other, send[other]), request));
        request
    });
}

/// Starts one operation with every other rank by calling `begin`, in order of ranks, and waits for all.
fn with_every_other(script: &mut Script<'_>, begin: impl Fn(&mut Script<'_>, usize) -> Request) {
    let mut begun = Vec::new();
    for other in 0..script.size() {
        if other != script.rank {
            begun.push(begin(script, other));
        }
    }
    for &request in begun.iter().rev() {
        script.requests.give_back(request);
    }
    if !begun.is_empty() {
        script.out.push(Event::WaitAll(begun.into_boxed_slice()));
    }
}
