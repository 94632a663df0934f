//! Memory that is fetched before it is needed.
//!
//! Where the routers of a partition do not stay in a cache, each entry of a list of the cycle would wait for its own
//! lines of memory, one after the other. So the lines of several entries are read first, with nothing between that
//! waits for them: the processor fetches them side by side.
//!
//! Decision: docs/decisions/0681-lines-fetched-together.md.

use super::super::bets::Bets;
use super::super::mask::{Mask, Members};
use super::super::state::Router;
use super::{Left, Works};
use crate::router::layout::Layout;

/// \[bytes\] Routers of at least this size in all are far: a cache of a core holds less.
const FAR: usize = 4 << 20;
/// Entries whose lines are fetched at once: more than a processor has reads under way, and few enough for its first
/// cache.
const BATCH: usize = 16;

/// How many entries of a list are fetched at once in a partition of `count` nodes; all, where they need not be fetched.
pub(super) const fn batch<M: Mask, const D: usize, const Q: usize, const P: usize>(count: usize) -> usize {
    let size = count * (size_of::<Router<M, Q, P>>() + size_of::<Bets<M, D, P>>());
    if size < FAR { usize::MAX } else { BATCH }
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// True if the lines of entries are to be fetched.
    #[inline(always)]
    const fn is_far(&self) -> bool {
        self.batch < usize::MAX
    }

    /// Fetches what headers need that enter their queues.
    #[inline(always)]
    pub(super) fn fetch_queues(&self, routers: &[Router<M, Q, P>], headers: &[(u32, u16, u32)]) {
        if !self.is_far() {
            return;
        }
        let lines = headers.iter().fold(0, |lines, &(node, input, _)| {
            let router = &routers[node as usize];
            lines ^ router.unrouted.word(0) ^ u64::from(router.head(input.into()))
        });
        std::hint::black_box(lines);
    }

    /// Fetches what nodes need that decide, each with its first head.
    #[inline(always)]
    pub(super) fn fetch_heads(&self, routers: &[Router<M, Q, P>], nodes: &[u32]) {
        if !self.is_far() {
            return;
        }
        let mut lines = nodes.iter().fold(0, |lines, &node| {
            let router = &routers[node as usize];
            lines ^ router.unrouted.word(0) ^ u64::from(router.downstream[0] ^ router.head(Q / 2))
        });
        for &node in nodes {
            let router = &routers[node as usize];
            let first = Members(router.unrouted).next().and_then(|input| self.packets.get(router.head(input)));
            lines ^= first.map_or(0, |packet| u64::from(packet.destination));
        }
        std::hint::black_box(lines);
    }

    /// Fetches what tails change that leave.
    #[inline(always)]
    pub(super) fn fetch_tails(&self, routers: &[Router<M, Q, P>], tails: &[Left]) {
        if !self.is_far() {
            return;
        }
        let lines = tails.iter().fold(0, |lines, &Left { node, behind, .. }| {
            let behind = routers.get(behind as usize).map_or(0, |router| router.unrouted.word(0));
            lines ^ behind ^ routers[node as usize].unrouted.word(0)
        });
        std::hint::black_box(lines);
    }
}
