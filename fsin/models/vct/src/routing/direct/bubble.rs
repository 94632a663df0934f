//! The common part of adaptive bubble routings: minimal adaptive channels, and an escape channel in dimension order.

use trgen::rng::Purpose;

use super::{is_open, polls};
use crate::router::layout::Layout;
use crate::router::request::{Head, Input, OutputState, OutputVc, RouteRules, Wait, draw, nth_bit};

impl<L: Layout> RouteRules<L> {
    /// The escape channel, if it passes.
    #[inline]
    pub(super) fn escape(&self, head: &Head<'_>, outputs: &impl OutputState) -> Option<OutputVc> {
        let port = self.deterministic(head)?;
        (self.passing_bubble(head, port, 1, outputs) != 0).then_some(OutputVc { port, vc: 0 })
    }

    /// The escape channel, on which a blocked head depends.
    pub(super) fn escape_channel(&self, head: &Head<'_>) -> Option<OutputVc> {
        self.deterministic(head).map(|port| OutputVc { port, vc: 0 })
    }

    /// A random one of the profitable adaptive channels that pass.
    pub(super) fn random(&self, head: &Head<'_>, outputs: &impl OutputState) -> Option<OutputVc> {
        let adaptive = self.channels_from(self.first_adaptive());
        let passing = || self.profitable(head).map(|port| (port, self.passing(head, port, adaptive, outputs)));
        let count = passing().map(|(_, vcs)| vcs.count_ones()).sum();
        let mut skip = if count == 0 { return None } else { draw(head, Purpose::Output, count) };
        for (port, vcs) in passing() {
            if skip < vcs.count_ones() {
                return Some(OutputVc { port, vc: nth_bit(vcs, skip) });
            }
            skip -= vcs.count_ones();
        }
        None
    }

    /// How long a blocked head may sleep. If no adaptive channel passes, it requests the channel `otherwise()`; while
    /// an adaptive channel passes, it requests no other channel.
    pub(super) fn adaptive_wait(
        &self,
        head: &Head<'_>,
        outputs: &impl OutputState,
        otherwise: impl Fn() -> Option<OutputVc>,
    ) -> Wait {
        let adaptive = self.channels_from(self.first_adaptive());
        let (mut passes, mut open) = (false, false);
        for port in self.profitable(head) {
            let passing = self.passing(head, port, adaptive, outputs);
            passes |= passing != 0;
            open |= passing & outputs.open(port) != 0;
        }
        let other = || otherwise().is_some_and(|output| is_open(outputs, output));
        match (open, passes) {
            (true, _) => Wait::Poll,
            // A passing channel may also cease to pass because this node's own queue fills up, which wakes no head.
            (false, true) if self.lbr > 0 && head.input == Input::Injection => polls(other()),
            (false, true) if other() => Wait::OpeningOrFilling,
            (false, true) => Wait::Opening,
            // A different channel may be drawn in the next cycle.
            (false, false) => polls(other()),
        }
    }
}
