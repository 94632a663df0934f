//! Bubble routings without a bet: one channel in dimension order, or minimal adaptive channels with an escape channel.

use trgen::rng::Purpose;

use super::{Head, Input, OutputVc, Requests, Surroundings, Wait, draw, nth_bit};
use crate::router::layout::Layout;
use fsin_core::topology::Port;

impl<L: Layout> Requests<L> {
    /// The escape channel, if it passes.
    #[inline]
    pub(super) fn escape(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let port = self.deterministic(head)?;
        (self.passing_bubble(head, port, 1, near) != 0).then_some(OutputVc { port, vc: 0 })
    }

    /// The port of dimension order, and the channels among which one is drawn: only its own for a packet that goes
    /// straight.
    fn in_order(&self, head: &Head<'_>) -> Option<(Port, u32)> {
        let port = self.deterministic(head)?;
        match head.input {
            Input::Transit(input) if input.port == port => Some((port, 1 << input.vc)),
            _ => Some((port, self.channels_from(0))),
        }
    }

    /// A channel drawn before its state is examined.
    pub(super) fn oblivious(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let (port, vcs) = self.in_order(head)?;
        let vc = match vcs.count_ones() {
            1 => vcs.trailing_zeros() as u8,
            count => nth_bit(vcs, draw(head, Purpose::VirtualChannel, count)),
        };
        (self.passing_bubble(head, port, 1 << vc, near) != 0).then_some(OutputVc { port, vc })
    }

    pub(super) fn oblivious_wait(&self, head: &Head<'_>, near: &impl Surroundings) -> Wait {
        let Some((port, vcs)) = self.in_order(head) else { return Wait::Opening };
        let drawn_later = vcs.count_ones() > 1 && self.passing_bubble(head, port, vcs & near.open(port), near) != 0;
        if drawn_later { Wait::Poll } else { Wait::Opening }
    }

    /// Any profitable channel from `first_adaptive` on that passes, drawn.
    pub(super) fn random(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let adaptive = self.channels_from(self.first_adaptive());
        let passing = || self.profitable(head).map(|port| (port, self.passing(head, port, adaptive, near)));
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

    /// The profitable adaptive channel with most free space ahead among those that pass; ties go to the first.
    pub(super) fn shortest(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let mut best: Option<(u32, OutputVc)> = None;
        for port in self.profitable(head) {
            let passing = self.passing(head, port, self.channels_from(1), near);
            for vc in (1..self.vcs()).filter(|&vc| passing & 1 << vc != 0) {
                let output = OutputVc { port, vc };
                let space = near.space_ahead(output).unwrap_or(0);
                if best.is_none_or(|(most, _)| space > most) {
                    best = Some((space, output));
                }
            }
        }
        best.map(|(_, output)| output)
    }

    /// The profitable adaptive channel with most free space ahead among those that pass and that no packet owns; ties
    /// are broken at random.
    pub(super) fn most_open_space(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let open = |port| self.passing(head, port, self.channels_from(1), near) & near.open(port);
        let channels = || {
            let of = |port| (1..self.vcs()).filter(move |&vc| open(port) & 1 << vc != 0);
            self.profitable(head).flat_map(move |port| of(port).map(move |vc| OutputVc { port, vc }))
        };
        let most = channels().filter_map(|output| near.space_ahead(output)).max()?;
        let best = || channels().filter(|&output| near.space_ahead(output) == Some(most));
        let count = best().count() as u32;
        best().nth(if count == 1 { 0 } else { draw(head, Purpose::Output, count) as usize })
    }

    /// While an adaptive channel passes, the head requests no other channel.
    pub(super) fn adaptive_wait(
        &self,
        head: &Head<'_>,
        near: &impl Surroundings,
        otherwise: impl Fn() -> Option<OutputVc>,
    ) -> Wait {
        let adaptive = self.channels_from(self.first_adaptive());
        let (mut passes, mut open) = (false, false);
        for port in self.profitable(head) {
            let passing = self.passing(head, port, adaptive, near);
            passes |= passing != 0;
            open |= passing & near.open(port) != 0;
        }
        let is_open = |output: OutputVc| near.open(output.port) & 1 << output.vc != 0;
        let other = || otherwise().is_some_and(is_open);
        match (open, passes) {
            (true, _) => Wait::Poll,
            // A passing channel may also cease to pass because this node's own queue fills up, which wakes no head.
            (false, true) if self.lbr > 0 && head.input == Input::Injection => {
                if other() {
                    Wait::Poll
                } else {
                    Wait::Opening
                }
            }
            (false, true) if other() => Wait::OpeningOrFilling,
            (false, true) => Wait::Opening,
            // One of several channels may be drawn later.
            (false, false) => {
                if other() {
                    Wait::Poll
                } else {
                    Wait::Opening
                }
            }
        }
    }
}
