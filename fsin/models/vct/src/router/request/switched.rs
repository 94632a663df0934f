//! Heads in a network of switches: which of the candidates of the [routing function](crate::routing::switched) they
//! request.

use trgen::NodeId;
use trgen::rng::{Purpose, mix2};

use super::{Head, Input, OutputState, OutputVc, RouteRules, Wait, WakeCondition, draw, nth_bit};
use crate::router::layout::Layout;
use crate::routing::Choice;
use crate::routing::switched::{Candidate, RoutingFunction, Visit};
use fsin_core::topology::Port;

/// A head as the routing function sees it.
#[inline(always)]
fn visit<'a>(head: &Head<'a>) -> Visit<'a> {
    let Head { node, input, source, destination, key, offsets: state, .. } = *head;
    Visit { node, input, source, destination, key, state }
}

/// The best channel so far, and its weight: tier, packets ahead, and a random tie-breaker; less is better.
type Best = (u128, OutputVc);

/// No channel: worse than any other.
const NONE: Best = (u128::MAX, OutputVc { port: Port(0), vc: 0 });

/// The channel of `best`; `otherwise` as the error if none was found.
#[inline(always)]
fn found<E>(best: Best, otherwise: E) -> Result<OutputVc, E> {
    if best.0 == NONE.0 { Err(otherwise) } else { Ok(best.1) }
}

/// The channels of a mask.
#[inline(always)]
fn channels(mut vcs: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let vc = if vcs == 0 { None } else { Some(vcs.trailing_zeros() as u8) };
        vcs &= vcs.wrapping_sub(1);
        vc
    })
}

/// Random stream of (run seed, packet, node), for tie-breakers.
#[inline(always)]
const fn tie_key(head: &Head<'_>) -> u64 {
    mix2(head.key ^ head.node.0 as u64, Purpose::Output as u64)
}

/// Random tie-breaker: the channel with the least value wins.
#[inline(always)]
const fn tie_breaker(head: &Head<'_>, output: OutputVc) -> u64 {
    tie_breaker_of(tie_key(head), output)
}

/// The tie-breaker of a head with this [`tie_key`].
#[inline(always)]
const fn tie_breaker_of(key: u64, output: OutputVc) -> u64 {
    mix2(key, (output.port.0 as u64) << 8 | output.vc as u64)
}

/// The draw among channels with equal free space, made anew in each cycle: the channel with the least value wins.
const fn draw_of_equal(head: &Head<'_>, output: OutputVc) -> u64 {
    mix2(tie_breaker(head, output), head.now)
}

/// The least draw with its output.
#[inline(always)]
fn least(draws: impl Iterator<Item = (u64, usize)>) -> (u64, usize) {
    // Unpredictable, so computed without a branch.
    draws.fold((u64::MAX, 0), |least, drawn| if drawn.0 < least.0 { drawn } else { least })
}

/// The output channels of a mask.
#[inline(always)]
pub(crate) fn outputs_of(mut outputs: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let output = if outputs == 0 { None } else { Some(outputs.trailing_zeros() as usize) };
        outputs &= outputs.wrapping_sub(1);
        output
    })
}

/// The weight of a candidate, less is better: packets ahead times hops to go, then hops, then at random. A channel that
/// is not open counts as one packet more.
fn weight(candidate: Candidate, head: &Head<'_>, outputs: &impl OutputState) -> (u32, u8, u64) {
    let open = outputs.open(candidate.port);
    let ahead: u32 = channels(candidate.vcs)
        .map(|vc| outputs.packets_ahead(OutputVc { port: candidate.port, vc }) + u32::from(open & 1 << vc == 0))
        .sum();
    let random = tie_breaker(head, OutputVc { port: candidate.port, vc: 0 });
    (ahead * u32::from(candidate.hops), candidate.hops, random)
}

impl<L: Layout> RouteRules<L> {
    /// The request of a head in a network of switches.
    #[inline(always)]
    pub(super) fn switched_request(&self, head: &Head<'_>, outputs: &impl OutputState) -> Option<OutputVc> {
        let function = self.function.as_deref()?;
        match function.choice() {
            Choice::Open => self.request_among_open(function, head, outputs).ok(),
            Choice::MostSpace => self.request_by_space(function, head, outputs),
            Choice::Drawn => self.request_drawn(function, head, outputs),
        }
    }

    /// The request of a head in a network of switches, if it can be granted; if not, how long the head may sleep.
    #[inline(always)]
    pub(super) fn switched_if_open(&self, head: &Head<'_>, outputs: &impl OutputState) -> Result<OutputVc, Wait> {
        let function = self.function.as_deref().ok_or(Wait::Opening)?;
        if function.choice() == Choice::Open {
            return self.request_among_open(function, head, outputs);
        }
        let asked = self.switched_request(head, outputs);
        asked.filter(|output| outputs.open(output.port) & 1 << output.vc != 0).ok_or_else(|| {
            // Free space, draws and room for the bubble may be different in the next cycle.
            let mut polls = false;
            function.candidates(&visit(head), |candidate| polls |= outputs.open(candidate.port) & candidate.vcs != 0);
            if polls { Wait::Poll } else { Wait::Opening }
        })
    }

    /// True if a candidate channel has as much room behind it as the packet needs: for itself, and for the bubble if it
    /// enters a ring.
    #[inline]
    fn has_room_ahead(&self, head: &Head<'_>, candidate: Candidate, output: OutputVc, space: u32) -> bool {
        let enters = candidate.bubble && head.input != Input::Transit(output);
        space >= self.packet_phits * if enters { self.bubble.max(1) } else { 1 }
    }

    /// The channel with most free space ahead among those that pass; ties are broken at random.
    #[inline(never)]
    fn request_by_space(
        &self,
        function: &RoutingFunction,
        head: &Head<'_>,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        let mut best: Option<(u32, u64, OutputVc)> = None;
        function.candidates(&visit(head), |candidate| {
            for vc in channels(candidate.vcs) {
                let output = OutputVc { port: candidate.port, vc };
                let Some(space) = outputs.space_ahead(output) else { continue };
                if !self.has_room_ahead(head, candidate, output, space) {
                    continue;
                }
                let is_better = best.is_none_or(|(most, least, _)| {
                    space > most || (space == most && draw_of_equal(head, output) < least)
                });
                if is_better {
                    best = Some((space, draw_of_equal(head, output), output));
                }
            }
        });
        best.map(|(_, _, output)| output)
    }

    /// True if heads compare the free space of their candidates, and all pass where there is room for a packet.
    pub const fn takes_any_roomy(&self) -> bool {
        self.takes_any_roomy
    }

    /// True if, besides, the free space of candidates is compared by masks.
    #[inline(always)]
    pub const fn masks_space(&self) -> bool {
        self.masks_space
    }

    /// The candidate output channels of a head that compares free space, as a mask.
    #[inline(always)]
    pub(crate) fn space_candidates(&self, head: &Head<'_>) -> u64 {
        let Some(function) = self.function.as_deref() else { return 0 };
        let (visit, layout) = (visit(head), self.layout);
        match function.free_ports(&visit) {
            Some(ports) if layout.vcs() == 1 => ports,
            Some(ports) => outputs_of(ports).fold(0, |outputs, port| outputs | layout.channels(port)),
            None => {
                let mut outputs = 0;
                function.candidates(&visit, |Candidate { port, vcs, .. }| {
                    outputs |= u64::from(vcs) << (port.index() * layout.vcs());
                });
                outputs
            }
        }
    }

    /// The candidate output channels of a head in ascending order, if they depend on nothing but where it stands and its
    /// pair of nodes.
    pub(crate) fn free_candidates(&self, head: &Head<'_>) -> Option<Box<[u16]>> {
        let (ports, vcs) = (self.function.as_deref()?.free_ports(&visit(head))?, self.layout.vcs());
        Some(outputs_of(ports).flat_map(|port| port * vcs..(port + 1) * vcs).map(|output| output as u16).collect())
    }

    /// True if packets in a network of switches carry nothing that changes on their way.
    pub(crate) fn keeps_state(&self) -> bool {
        self.function.as_deref().is_some_and(RoutingFunction::keeps_state)
    }

    /// The output that a head requests among channels with equal free space, of which there is at least one.
    #[inline(always)]
    pub(crate) fn draw_of_equals(&self, head: &Head<'_>, outputs: impl Iterator<Item = usize>) -> usize {
        let drawn = self.draws(head);
        least(outputs.map(|output| (drawn(output), output))).1
    }

    /// As [`draw_of_equals`](Self::draw_of_equals), among those of a mask, at least one of which is `open`; `None` if
    /// the output is not open.
    #[inline(always)]
    pub(crate) fn draw_if_open(&self, head: &Head<'_>, equals: u64, open: u64) -> Option<usize> {
        let drawn = self.draws(head);
        let (draw, output) = least(outputs_of(equals & open).map(|output| (drawn(output), output)));
        // The draws of one head in one cycle are never equal: they are a permutation of the channels.
        outputs_of(equals & !open).all(|other| drawn(other) > draw).then_some(output)
    }

    /// What a head draws in a cycle for each output.
    #[inline(always)]
    fn draws(&self, head: &Head<'_>) -> impl Fn(usize) -> u64 {
        let (key, now, layout) = (tie_key(head), head.now, self.layout);
        move |output| mix2(tie_breaker_of(key, layout.channel(output)), now)
    }

    /// The channel of a candidate that is drawn before its state is examined, if that channel passes.
    #[inline(never)]
    fn request_drawn(
        &self,
        function: &RoutingFunction,
        head: &Head<'_>,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        let mut only = None;
        function.candidates(&visit(head), |candidate| only = Some(candidate));
        let candidate = only?;
        let vc = match candidate.vcs.count_ones() {
            1 => candidate.vcs.trailing_zeros() as u8,
            count => nth_bit(candidate.vcs, draw(head, Purpose::VirtualChannel, count)),
        };
        let output = OutputVc { port: candidate.port, vc };
        let space = outputs.space_ahead(output)?;
        self.has_room_ahead(head, candidate, output, space).then_some(output)
    }

    /// An open channel of one of the candidates: of the first tier that has any, the one with fewest packets ahead, or
    /// the result of weighing. If there is none, how long the head may sleep: not at all if it weighs its candidates
    /// and one of them is open, since weights may change in every cycle.
    #[inline(always)]
    fn request_among_open(
        &self,
        function: &RoutingFunction,
        head: &Head<'_>,
        outputs: &impl OutputState,
    ) -> Result<OutputVc, Wait> {
        let Some(candidate) = function.single_candidate(&visit(head)) else {
            return self.request_among_several(function, head, outputs);
        };
        let open = outputs.open(candidate.port) & candidate.vcs;
        match open & open.wrapping_sub(1) {
            // No channel, or one.
            0 if open == 0 => Err(Wait::Opening),
            0 => Ok(OutputVc { port: candidate.port, vc: open.trailing_zeros() as u8 }),
            _ => self.request_single(candidate, open, head, outputs),
        }
    }

    /// The request of a packet with a single candidate, of which several channels are `open`.
    #[inline(never)]
    fn request_single(
        &self,
        candidate: Candidate,
        open: u32,
        head: &Head<'_>,
        outputs: &impl OutputState,
    ) -> Result<OutputVc, Wait> {
        found(self.best_with(NONE, candidate, open, head, outputs), Wait::Opening)
    }

    /// The request of a packet with several candidates.
    #[inline(never)]
    fn request_among_several(
        &self,
        function: &RoutingFunction,
        head: &Head<'_>,
        outputs: &impl OutputState,
    ) -> Result<OutputVc, Wait> {
        let visit = visit(head);
        let weighs = function.weighs(&visit);
        let mut lightest = None;
        let mut best = NONE;
        let mut is_open = false;
        function.several_candidates(&visit, |candidate| {
            let open = outputs.open(candidate.port) & candidate.vcs;
            is_open |= open != 0;
            if candidate.tier > 0 || !weighs {
                best = self.best_with(best, candidate, open, head, outputs);
                return;
            }
            let weight = weight(candidate, head, outputs);
            if lightest.is_none_or(|(least, _)| weight < least) {
                lightest = Some((weight, candidate));
            }
        });
        let Some((_, chosen)) = lightest else { return found(best, Wait::Opening) };
        let open = outputs.open(chosen.port) & chosen.vcs;
        best = self.best_with(best, chosen, open, head, outputs);
        found(best, if is_open { Wait::Poll } else { Wait::Opening })
    }

    /// The best of `best` and the `open` channels (a mask) of a candidate. Each channel draws a tie-breaker, without a
    /// branch, since the branch would be unpredictable.
    #[inline(always)]
    fn best_with(
        &self,
        mut best: Best,
        candidate: Candidate,
        open: u32,
        head: &Head<'_>,
        outputs: &impl OutputState,
    ) -> Best {
        for vc in channels(open) {
            let output = OutputVc { port: candidate.port, vc };
            let rank = u64::from(candidate.tier) << 32 | u64::from(outputs.packets_ahead(output));
            let weight = u128::from(rank) << 64 | u128::from(tie_breaker(head, output));
            best = if weight < best.0 { (weight, output) } else { best };
        }
        best
    }

    /// Calls `add_condition` with each wake-up condition of a head: a channel of a candidate opens.
    #[inline(never)]
    pub(super) fn switched_conditions(&self, head: &Head<'_>, mut add_condition: impl FnMut(Port, WakeCondition)) {
        let Some(function) = self.function.as_deref() else { return };
        let mut condition = |port| add_condition(port, WakeCondition::Deterministic);
        function.candidates(&visit(head), |candidate| condition(candidate.port));
    }

    /// The channel on which a blocked head depends: the first channel of the last candidate.
    #[inline(never)]
    pub(super) fn switched_blocking_channel(&self, head: &Head<'_>) -> Option<OutputVc> {
        let mut last = None;
        self.function.as_deref()?.candidates(&visit(head), |candidate| last = Some(candidate));
        last.map(|candidate| OutputVc { port: candidate.port, vc: candidate.vcs.trailing_zeros() as u8 })
    }

    /// Updates the state of a packet whose header leaves `node` through `port`.
    #[inline(always)]
    pub(super) fn switched_hop(&self, node: NodeId, destination: NodeId, key: u64, port: Port, state: &mut [i16]) {
        if let Some(function) = &self.function {
            function.hop(node, destination, key, port, state);
        }
    }
}
