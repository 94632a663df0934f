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

/// True if the routers of a partition of `count` nodes are far.
pub(super) const fn is_far<M: Mask, const D: usize, const Q: usize, const P: usize>(count: usize) -> bool {
    count * (size_of::<Router<M, Q, P>>() + size_of::<Bets<M, D, P>>()) >= FAR
}

// Not inlined, and beside the usual way: what is not far pays a branch for each list.
impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// As [`enter_some`](Self::enter_some).
    #[inline(never)]
    pub(super) fn enter_far<const DENSE: bool>(
        &mut self,
        routers: &mut [Router<M, Q, P>],
        headers: &[(u32, u16, u32)],
    ) {
        for batch in headers.chunks(BATCH) {
            let lines = batch.iter().fold(0, |lines, &(node, input, _)| {
                let router = &routers[node as usize];
                lines ^ router.unrouted.word(0) ^ u64::from(router.head(input.into()))
            });
            std::hint::black_box(lines);
            self.enter_some::<DENSE>(routers, batch);
        }
    }

    /// Step 3 at some nodes, each with its first head.
    #[inline(never)]
    pub(super) fn decide_far(&mut self, routers: &mut [Router<M, Q, P>], nodes: &[u32]) {
        for batch in nodes.chunks(BATCH) {
            let mut lines = batch.iter().fold(0, |lines, &node| {
                let router = &routers[node as usize];
                lines ^ router.unrouted.word(0) ^ u64::from(router.downstream[0] ^ router.head(Q / 2))
            });
            for &node in batch {
                let router = &routers[node as usize];
                let first = Members(router.unrouted).next().and_then(|input| self.packets.get(router.head(input)));
                lines ^= first.map_or(0, |packet| u64::from(packet.destination));
            }
            std::hint::black_box(lines);
            for &node in batch {
                self.decide(&mut routers[node as usize], node);
            }
        }
    }

    /// As [`leave_some`](Self::leave_some).
    #[inline(never)]
    pub(super) fn leave_far<const DENSE: bool>(&mut self, routers: &mut [Router<M, Q, P>], tails: &[Left]) {
        for batch in tails.chunks(BATCH) {
            let lines = batch.iter().fold(0, |lines, &Left { node, behind, .. }| {
                let behind = routers.get(behind as usize).map_or(0, |router| router.unrouted.word(0));
                lines ^ behind ^ routers[node as usize].unrouted.word(0)
            });
            std::hint::black_box(lines);
            self.leave_some::<DENSE>(routers, batch);
        }
    }
}
