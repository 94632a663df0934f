//! `bubble:smart`: each input queue has a bet, the dimension that its head tries next.
//!
//! The bet is 0 at first and after each grant. With n dimensions, bet b of 0 to n-1 denotes dimension (own + b) mod n,
//! where own is the dimension in which the packet arrived; own is 0 at injection. If the packet has hops left in that
//! dimension, the head tries one channel of it: the packet's own channel, if it is in an adaptive channel of the same
//! dimension and direction, and else a random one of 1 to V-1.
//!
//! If the channel does not pass, the head tries the next bet in the same cycle. If it passes, the head requests it; if
//! the request is not granted, the next cycle begins with the following bet. After bet n-1 the head tries the escape
//! channel: it requests it if it passes, and in both cases the next cycle begins with bet 0.

use trgen::NodeId;
use trgen::rng::{Purpose, mix, mix2, pick};

use super::{DirectRouting, PUENTE, bubble};
use crate::router::layout::Layout;
use crate::router::request::{Head, Input, OutputState, OutputVc, RouteRules, Wait, WakeCondition, source_key};
use crate::routing::{Adaptive, Row, Wake};
use fsin_core::topology::Port;

pub(in crate::routing) const ROW: Row = Row {
    // The one adaptive channel of two needs no draw.
    draws_with: Some(3),
    ..bubble::row(
        "bubble:smart",
        "minimal adaptive, a dimension a cycle: first straight ahead in its own channel, then the others in turn, then \
         escape channel 0 with bubble; V >= 2",
        PUENTE,
        &[],
        (Adaptive::From(1), false, Wake::Bets),
    )
};

/// The key of the random stream of a node.
#[must_use]
pub(crate) const fn lots_key(seed: u64, node: NodeId) -> u64 {
    mix2(source_key(seed, node), Purpose::VirtualChannel as u64)
}

/// The random word of a node with this [key](lots_key) in cycle `now`: a number of the SplitMix64 sequence. If a head
/// has two channels to choose from, bit (queue + 29 dimension) mod 64 chooses for it.
#[must_use]
#[inline(always)]
pub(crate) const fn lots(key: u64, now: u64) -> u64 {
    mix(key.wrapping_add(now.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// The rules of `bubble:smart`.
pub(in crate::routing) struct Smart;

impl DirectRouting for Smart {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        rules.smart(head, bet, outputs)
    }

    fn wait<L: Layout>(_rules: &RouteRules<L>, _head: &Head<'_>, _outputs: &impl OutputState) -> Wait {
        Wait::Poll
    }

    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        wait: Wait,
        add_condition: impl FnMut(Port, WakeCondition),
    ) {
        rules.adaptive_conditions(head, wait, add_condition);
    }

    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc> {
        rules.escape_channel(head)
    }
}

impl<L: Layout> RouteRules<L> {
    /// The request of a head, by the bet of its queue. Updates the bet.
    fn smart(&self, head: &Head<'_>, bet: &mut u8, outputs: &impl OutputState) -> Option<OutputVc> {
        let dimensions = self.layout.shape().dimensions;
        let own = match head.input {
            Input::Transit(input) => self.layout.shape().direction(input.port).0,
            Input::Injection => self.first_dimension(),
        };
        for tried_bet in usize::from(*bet)..dimensions {
            let turn = own + tried_bet;
            let dimension = if turn >= dimensions { turn - dimensions } else { turn };
            if let Some(output) = self.smart_in(head, dimension, outputs) {
                *bet = tried_bet as u8 + 1;
                return Some(output);
            }
        }
        *bet = 0;
        self.escape(head, outputs)
    }

    /// The channel that a head tries in a dimension, if that channel passes.
    #[inline(always)]
    fn smart_in(&self, head: &Head<'_>, dimension: usize, outputs: &impl OutputState) -> Option<OutputVc> {
        let offset = head.offsets[dimension];
        if offset == 0 {
            return None;
        }
        let port = self.layout.shape().port(dimension, offset > 0);
        let vc = match head.input {
            Input::Transit(input) if input.port == port && input.vc > 0 => input.vc,
            _ => {
                let lots = lots(lots_key(self.seed, head.node), head.now);
                1 + Self::smart_vc(lots, head.queue, dimension, u32::from(self.vcs()) - 1)
            }
        };
        let passes = self.leads_on(head, port) && self.passing(head, port, 1 << vc, outputs) != 0;
        passes.then_some(OutputVc { port, vc })
    }

    /// A random choice from 0 to `count` - 1, for the head of a queue, among the adaptive channels of a dimension.
    #[inline(always)]
    pub(crate) fn smart_vc(lots: u64, queue: usize, dimension: usize, count: u32) -> u8 {
        match count {
            1 => 0,
            2 => (lots >> ((queue + 29 * dimension) % 64) & 1) as u8,
            _ => pick(mix2(lots, (queue as u64) << 8 | dimension as u64), count) as u8,
        }
    }
}
