//! The output state that a head can see, and a head as the rules see it.

use trgen::NodeId;

use super::super::chain::NONE;
use super::super::mask::Mask;
use super::super::moves::Ahead;
use super::super::rules::Rules;
use super::super::state::{Packet, Router};
use crate::router::congestion::Timer;
use crate::router::layout::Layout;
use crate::router::request::{Head, Input, OutputState, OutputVc};
use fsin_core::topology::Port;

/// The local view of a head at a node.
pub(super) struct LocalView<'a, L, M: Mask, const Q: usize, const P: usize> {
    pub(super) rules: &'a Rules<L>,
    pub(super) router: &'a Router<M, Q, P>,
    pub(super) node: usize,
    /// By node and queue: free space ahead, phit by phit. Empty unless a routing compares free space.
    pub(super) ahead: &'a [Ahead],
    /// By node: its congestion timer. Empty without timeouts.
    pub(super) timers: &'a [Timer],
    /// The present cycle.
    pub(super) now: u64,
}

impl<L: Layout, M: Mask, const Q: usize, const P: usize> OutputState for LocalView<'_, L, M, Q, P> {
    #[inline(always)]
    fn fitting(&self, port: Port) -> u32 {
        let layout = self.rules.layout;
        self.router.fitting().word(port.index() * layout.vcs()) as u32 & layout.all_vcs()
    }

    #[inline(always)]
    fn open(&self, port: Port) -> u32 {
        let layout = self.rules.layout;
        self.router.open().word(port.index() * layout.vcs()) as u32 & layout.all_vcs()
    }

    #[inline]
    fn packets_ahead(&self, output: OutputVc) -> u32 {
        self.rules.queue_packets - self.router.room_behind(output.index(self.rules.layout.vcs()))
    }

    fn space_ahead(&self, output: OutputVc) -> Option<u32> {
        if self.router.downstream[output.port.index()] == NONE {
            return None;
        }
        let rules = self.rules;
        let index = output.index(rules.layout.vcs());
        let packets = rules.queue_packets - self.router.room_behind(index);
        let phits = match rules.is_paced {
            true => packets * rules.packet_phits,
            false => self.ahead.get(self.node * Q + index)?.phits(packets, rules.tail + 1, self.now),
        };
        Some(rules.queue_phits() - phits)
    }

    #[inline(always)]
    fn has_room(&self, output: OutputVc, packets: u32) -> bool {
        let rules = self.rules;
        self.router.has_room(output.index(rules.layout.vcs()), packets, rules.queue_packets)
    }

    #[inline(always)]
    fn restricts(&self) -> bool {
        self.timers.get(self.node).is_none_or(|timer| timer.is_congested(self.now))
    }
}

/// A header at the head of a queue, as the rules see it.
#[inline(always)]
pub(super) fn head<'a, L: Layout, const D: usize>(
    rules: &Rules<L>,
    node: u32,
    input: usize,
    packet: &'a Packet<D>,
    now: u64,
) -> Head<'a> {
    Head {
        node: NodeId(node),
        input: if input < rules.outputs() { Input::Transit(rules.channel(input)) } else { Input::Injection },
        queue: input,
        source: NodeId(packet.source()),
        destination: NodeId(packet.destination),
        offsets: &packet.offsets[..rules.layout.shape().dimensions],
        key: packet.key,
        now,
        long: packet.is_long(),
    }
}
