//! Adaptive bubble routings: minimal adaptive channels, and an escape channel in dimension order with a bubble.
//!
//! - `bubble:random` draws one of the profitable adaptive channels that pass;
//! - `bubble:bimodal` does so for messages of one packet: packets of longer ones take the escape channel only;
//! - `bubble:shortest` takes the one with most space at the neighbour, owned or not;
//! - `bubble:adaptive` takes the one with most space among those that no packet owns.

use trgen::rng::Purpose;

use super::{DirectRouting, FSIN, PUENTE, is_open, polls};
use crate::router::layout::Layout;
use crate::router::request::{Head, Input, OutputState, OutputVc, RouteRules, Wait, WakeCondition, draw, nth_bit};
use crate::routing::{Adaptive as Channels, Avoidance, Requests, Row, Serves, Vcs, Wake};
use fsin_core::topology::Port;
use trgen::catalog::Component;

pub(in crate::routing) const RANDOM: Row = row(
    "bubble:random",
    "minimal adaptive on channels 1..V-1, drawn among those with room for the packet; escape channel 0 with bubble; V >= 2",
    PUENTE,
    &[],
    (Channels::From(1), false, Wake::OpeningOrFilling),
);

pub(in crate::routing) const BIMODAL: Row = row(
    "bubble:bimodal",
    "messages of one packet as bubble:random; packets of longer messages on the escape channel only, which keeps \
     them in order; V >= 2",
    FSIN,
    &[],
    (Channels::ShortMessagesFrom(1), false, Wake::OpeningOrFilling),
);

pub(in crate::routing) const SHORTEST: Row = row(
    "bubble:shortest",
    "minimal adaptive on the channel whose next queue has most space, of equals the first; escape channel 0 with \
     bubble; V >= 2",
    PUENTE,
    &[],
    (Channels::From(1), true, Wake::OpeningOrFilling),
);

pub(in crate::routing) const ADAPTIVE: Row = row(
    "bubble:adaptive",
    "as bubble:shortest, but among the channels that no packet owns, and equals drawn: a better router than the \
     published ones; V >= 2",
    "fsin; compare bubble:shortest and bubble:smart, which are the original's",
    &["minimal-adaptive", "min_adapt", "adaptive"],
    (Channels::From(1), true, Wake::Opening),
);

/// The row of an adaptive bubble routing: with its adaptive channels, whether free space is compared, and the wake-up
/// condition.
pub(super) const fn row(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    aliases: &'static [&'static str],
    (adaptive, compares_space, wake): (Channels, bool, Wake),
) -> Row {
    Row {
        component: Component { name, about, parameters: &[], source },
        aliases,
        serves: Serves::Direct,
        vcs: Vcs::AtLeast(2),
        dimensions: None,
        avoidance: Avoidance::Bubble,
        dead_links: true,
        draws_with: Some(1),
        requests: Requests::Direct { adaptive, orders_by_channel: false, compares_space, wake, follows: None },
    }
}

/// The rules of an adaptive bubble routing: how a head chooses among the adaptive channels. If it finds none, it
/// requests the escape channel.
pub(in crate::routing) trait AdaptiveBubble {
    /// True if a head chooses among the channels that no packet owns.
    const AMONG_OPEN: bool;

    /// True if a packet may leave the escape channel.
    fn adapts(head: &Head<'_>) -> bool;

    /// The adaptive channel that a head requests; `None` if none passes.
    fn choose<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Option<OutputVc>;
}

impl<R: AdaptiveBubble> DirectRouting for R {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        if !R::adapts(head) {
            return rules.escape(head, outputs);
        }
        R::choose(rules, head, outputs).or_else(|| rules.escape(head, outputs))
    }

    fn wait<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
        // Among open channels only: while none is open, the request is the escape channel.
        if R::AMONG_OPEN || !R::adapts(head) {
            return Wait::Opening;
        }
        rules.adaptive_wait(head, outputs, || rules.escape(head, outputs))
    }

    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        wait: Wait,
        add_condition: impl FnMut(Port, WakeCondition),
    ) {
        if !R::adapts(head) {
            return rules.deterministic_conditions(head, add_condition);
        }
        rules.adaptive_conditions(head, wait, add_condition);
    }

    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc> {
        rules.escape_channel(head)
    }
}

/// The rules of `bubble:random`; those of `bubble:bimodal` if `SHORT_ONLY`.
pub(in crate::routing) struct Random<const SHORT_ONLY: bool>;

impl<const SHORT_ONLY: bool> AdaptiveBubble for Random<SHORT_ONLY> {
    const AMONG_OPEN: bool = false;

    #[inline(always)]
    fn adapts(head: &Head<'_>) -> bool {
        !SHORT_ONLY || !head.long
    }

    #[inline(always)]
    fn choose<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Option<OutputVc> {
        rules.random(head, outputs)
    }
}

/// The rules of `bubble:shortest`.
pub(in crate::routing) struct Shortest;

impl AdaptiveBubble for Shortest {
    const AMONG_OPEN: bool = false;

    #[inline(always)]
    fn adapts(_: &Head<'_>) -> bool {
        true
    }

    /// The channel with most free space ahead; ties go to the first.
    #[inline(always)]
    fn choose<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Option<OutputVc> {
        let mut best: Option<(u32, OutputVc)> = None;
        for port in rules.profitable(head) {
            let passing = rules.passing(head, port, rules.channels_from(1), outputs);
            for vc in (1..rules.vcs()).filter(|&vc| passing & 1 << vc != 0) {
                let output = OutputVc { port, vc };
                let space = outputs.space_ahead(output).unwrap_or(0);
                if best.is_none_or(|(most, _)| space > most) {
                    best = Some((space, output));
                }
            }
        }
        best.map(|(_, output)| output)
    }
}

/// The rules of `bubble:adaptive`.
pub(in crate::routing) struct Adaptive;

impl AdaptiveBubble for Adaptive {
    const AMONG_OPEN: bool = true;

    #[inline(always)]
    fn adapts(_: &Head<'_>) -> bool {
        true
    }

    /// The channel with most free space ahead among those that no packet owns; ties are broken at random.
    #[inline(always)]
    fn choose<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Option<OutputVc> {
        let open = |port| rules.passing(head, port, rules.channels_from(1), outputs) & outputs.open(port);
        let channels = || {
            let open_vcs = |port| (1..rules.vcs()).filter(move |&vc| open(port) & 1 << vc != 0);
            rules.profitable(head).flat_map(move |port| open_vcs(port).map(move |vc| OutputVc { port, vc }))
        };
        let most = channels().filter_map(|output| outputs.space_ahead(output)).max()?;
        let best = || channels().filter(|&output| outputs.space_ahead(output) == Some(most));
        let count = best().count() as u32;
        best().nth(if count == 1 { 0 } else { draw(head, Purpose::Output, count) as usize })
    }
}

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
