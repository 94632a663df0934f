//! Requests of heads that compare free space ahead phit by phit ([`Choice::MostSpace`](crate::routing::Choice)).
//!
//! Free space behind a channel changes by at most a phit in each cycle, one way or the other. So a head whose roomiest
//! candidates are all owned, by g phits ahead of the roomiest open one, can be granted nothing for the next g / 2
//! cycles unless another candidate opens. It sleeps until then. If an open channel has as much space as they have, the
//! head draws among them in every cycle, and stays awake.
//!
//! Heads at a node with the same candidates are compared once in a cycle.
//!
//! Decision: docs/decisions/0263-heads-that-compare-space.md.

use super::super::mask::Mask;
use super::super::state::Router;
use super::Works;
use super::local_view::head;
use crate::router::layout::Layout;
use crate::router::request::{WakeCondition, outputs_of};

/// \[cycles\] The longest time that a head sleeps before it compares again. An early comparison changes no result.
pub(super) const LONGEST: u64 = 62;

/// The result of comparing the free space behind a set of output channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    /// \[cycle\] The cycle of the comparison.
    clock: u64,
    /// The node in the partition.
    node: u32,
    /// \[phits\] By how much the roomiest channels exceed the roomiest open one.
    gap: u32,
    /// The output channels compared, as a mask; at least one of them is open.
    candidates: u64,
    /// Those with most free space.
    roomiest: u64,
}

impl Comparison {
    /// No comparison: no head has these candidates.
    pub(super) const NONE: Self = Self { clock: 0, node: u32::MAX, gap: 0, candidates: 0, roomiest: 0 };
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// The output channel that a head requests, or `None` if that cannot be granted; the head then waits.
    pub(super) fn ask_for_space(&mut self, router: &mut Router<M, Q, P>, node: u32, input: usize) -> Option<usize> {
        let rules = &self.rules;
        let handle = router.head(input);
        let mut candidates = self.packets[handle].candidates;
        if candidates == u64::MAX {
            let head = head(rules, self.first + node, input, &self.packets[handle], self.clock);
            candidates = rules.requests.space_candidates(&head);
            self.packets[handle].candidates = candidates;
        }
        let open = router.open().word(0) & candidates;
        if open == 0 {
            self.sleep_until_opening(node, input, candidates);
            return None;
        }
        if candidates.is_power_of_two() {
            return Some(candidates.trailing_zeros() as usize);
        }
        let &Comparison { roomiest, gap, .. } = self.compare(router, node, candidates);
        // Only what can be granted need be drawn.
        if roomiest & open != 0 {
            if roomiest.is_power_of_two() {
                return Some(roomiest.trailing_zeros() as usize);
            }
            let head = head(&self.rules, self.first + node, input, &self.packets[handle], self.clock);
            let asked = self.rules.requests.draw_if_open(&head, roomiest, open);
            if asked.is_some() {
                return asked;
            }
        }
        // Where links are paced, space changes by whole packets.
        if gap <= 2 || self.rules.is_paced {
            self.wake(router, node, M::bit(input));
        } else {
            self.dozing.add(self.clock + u64::from(gap.div_ceil(2)).min(LONGEST), (node, input as u16));
            self.sleep_until_opening(node, input, candidates);
        }
        None
    }

    /// Lets a head sleep until one of its candidate channels (a mask) opens.
    fn sleep_until_opening(&mut self, node: u32, input: usize, candidates: u64) {
        let (layout, first) = (self.rules.layout, self.rules.place(node, 0));
        let mut rest = candidates;
        while rest != 0 {
            let port = layout.port_of(rest.trailing_zeros() as usize);
            self.gates[first + port].sleep(input, WakeCondition::Deterministic);
            rest &= !layout.channels(port);
        }
    }

    /// Wakes the heads whose candidates may have changed places by now.
    pub(super) fn wake_dozing(&mut self, routers: &mut [Router<M, Q, P>]) {
        let due = self.dozing.take(self.clock);
        for &(node, input) in &due {
            let router = &mut routers[node as usize];
            let woken = M::bit(input.into()) & router.unrouted;
            self.wake(router, node, woken);
        }
        self.dozing.restore(self.clock, due);
    }

    /// Compares the free space behind the candidate channels of a head at a node, of which one is open.
    #[inline(always)]
    fn compare(&mut self, router: &Router<M, Q, P>, node: u32, candidates: u64) -> &Comparison {
        let place = self.rules.port_of(candidates.trailing_zeros() as usize);
        let kept = &self.comparisons[place];
        if (kept.candidates, kept.node, kept.clock) != (candidates, node, self.clock) {
            self.comparisons[place] = self.compare_now(router, node, candidates);
        }
        &self.comparisons[place]
    }

    /// As [`compare`](Self::compare), anew.
    #[inline(never)]
    fn compare_now(&self, router: &Router<M, Q, P>, node: u32, candidates: u64) -> Comparison {
        let (rules, clock) = (&self.rules, self.clock);
        let ahead = &self.ahead[node as usize * Q..][..Q];
        let open = router.open().word(0);
        let (mut most, mut most_open, mut roomiest) = (0, 0, 0u64);
        for output in outputs_of(candidates) {
            let packets = rules.queue_packets - router.room_behind(output);
            let phits = match rules.is_paced {
                true => packets * rules.packet_phits,
                false => ahead[output].phits(packets, rules.tail + 1, clock),
            };
            let space = rules.queue_phits() - phits;
            // Unpredictable, so computed without a branch.
            roomiest = if space > most { 0 } else { roomiest } | u64::from(space >= most) << output;
            most = most.max(space);
            most_open = if open & 1 << output != 0 { most_open.max(space) } else { most_open };
        }
        Comparison { clock, node, gap: most - most_open, candidates, roomiest }
    }
}
