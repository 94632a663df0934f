//! Heads in a network of switches: which of the candidates of the [routing function](crate::router::guide) they
//! request.

use trgen::NodeId;
use trgen::rng::{Purpose, mix2};

use super::{Head, Input, OutputVc, Requests, Surroundings, Wait, draw, nth_bit};
use crate::router::guide::{Choice, Guide, Visit, Way};
use crate::router::layout::Layout;
use fsin_core::topology::Port;

#[inline(always)]
fn visit<'a>(head: &Head<'a>) -> Visit<'a> {
    let Head { node, input, source, destination, key, offsets: state, .. } = *head;
    Visit { node, input, source, destination, key, state }
}

/// The best channel so far, and its weight: tier, packets ahead, and a random tie-breaker; less is better.
type Best = (u128, OutputVc);

const NONE: Best = (u128::MAX, OutputVc { port: Port(0), vc: 0 });

/// The best channel that was found; if there is none, `otherwise`.
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

/// Random tie-breaker: the least wins.
const fn lot(head: &Head<'_>, output: OutputVc) -> u64 {
    mix2(mix2(head.key ^ head.node.0 as u64, Purpose::Output as u64), (output.port.0 as u64) << 8 | output.vc as u64)
}

/// The candidate of the first tier with least packets ahead times hops to go; ties go to fewest hops, then at random. A
/// channel that is not open counts as one packet more.
fn lightest(guide: &Guide, head: &Head<'_>, near: &impl Surroundings) -> Option<Way> {
    let mut best = None;
    guide.choices(&visit(head), |way| {
        if way.tier > 0 {
            return;
        }
        let open = near.open(way.port);
        let ahead: u32 = channels(way.vcs)
            .map(|vc| near.packets_ahead(OutputVc { port: way.port, vc }) + u32::from(open & 1 << vc == 0))
            .sum();
        let rank = (ahead * u32::from(way.hops), way.hops, lot(head, OutputVc { port: way.port, vc: 0 }));
        if best.is_none_or(|(least, _)| rank < least) {
            best = Some((rank, way));
        }
    });
    best.map(|(_, way)| way)
}

impl<L: Layout> Requests<L> {
    /// The request of a head in a network of switches.
    #[inline(always)]
    pub(super) fn guided(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let guide = self.guide.as_deref()?;
        match guide.choice() {
            Choice::Open => self.guided_open(guide, head, near).ok(),
            Choice::MostSpace => self.guided_by_space(guide, head, near),
            Choice::Drawn => self.guided_drawn(guide, head, near),
        }
    }

    /// The same if it can be granted; if not, how long the head may sleep.
    #[inline(always)]
    pub(super) fn guided_if_open(&self, head: &Head<'_>, near: &impl Surroundings) -> Result<OutputVc, Wait> {
        let guide = self.guide.as_deref().ok_or(Wait::Opening)?;
        let wait = |polls| if polls { Wait::Poll } else { Wait::Opening };
        if guide.choice() == Choice::Open {
            return self.guided_open(guide, head, near).map_err(wait);
        }
        let asked = self.guided(head, near);
        asked.filter(|output| near.open(output.port) & 1 << output.vc != 0).ok_or_else(|| {
            // Free space, draws and room for the bubble may be different in the next cycle.
            let mut polls = false;
            guide.ways(&visit(head), |way| polls |= near.open(way.port) & way.vcs != 0);
            wait(polls)
        })
    }

    /// True if a candidate channel has as much room behind it as the packet needs: for itself, and for the bubble if it
    /// enters a ring.
    #[inline]
    fn has_room_ahead(&self, head: &Head<'_>, way: Way, output: OutputVc, space: u32) -> bool {
        let enters = way.bubble && head.input != Input::Transit(output);
        space >= self.packet_phits * if enters { self.bubble.max(1) } else { 1 }
    }

    /// The channel with most free space ahead among those that pass; ties are broken at random.
    #[inline(never)]
    fn guided_by_space(&self, guide: &Guide, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let mut best: Option<(u32, u64, OutputVc)> = None;
        guide.ways(&visit(head), |way| {
            for vc in channels(way.vcs) {
                let output = OutputVc { port: way.port, vc };
                let Some(space) = near.space_ahead(output) else { continue };
                if !self.has_room_ahead(head, way, output, space) {
                    continue;
                }
                let lot = || mix2(lot(head, output), head.now);
                let is_better = best.is_none_or(|(most, least, _)| space > most || (space == most && lot() < least));
                if is_better {
                    best = Some((space, lot(), output));
                }
            }
        });
        best.map(|(_, _, output)| output)
    }

    /// The channel of the one candidate that is drawn, if it passes.
    #[inline(never)]
    fn guided_drawn(&self, guide: &Guide, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let mut only = None;
        guide.ways(&visit(head), |way| only = Some(way));
        let way = only?;
        let vc = match way.vcs.count_ones() {
            1 => way.vcs.trailing_zeros() as u8,
            count => nth_bit(way.vcs, draw(head, Purpose::VirtualChannel, count)),
        };
        let output = OutputVc { port: way.port, vc };
        let space = near.space_ahead(output)?;
        self.has_room_ahead(head, way, output, space).then_some(output)
    }

    /// An open channel of one of the candidates: of the first tier that has any, the one with fewest packets ahead, or
    /// the result of weighing. If there is none: whether a change of the queues ahead may alter that, because the head
    /// weighs its candidates and one of them is open.
    #[inline(always)]
    fn guided_open(&self, guide: &Guide, head: &Head<'_>, near: &impl Surroundings) -> Result<OutputVc, bool> {
        let Some(way) = guide.only_way(&visit(head)) else { return self.guided_among(guide, head, near) };
        let open = near.open(way.port) & way.vcs;
        match open & open.wrapping_sub(1) {
            // No channel, or one.
            0 if open == 0 => Err(false),
            0 => Ok(OutputVc { port: way.port, vc: open.trailing_zeros() as u8 }),
            _ => self.guided_by(way, open, head, near),
        }
    }

    /// The request of a packet with a single candidate, of which several channels are `open`.
    #[inline(never)]
    fn guided_by(&self, way: Way, open: u32, head: &Head<'_>, near: &impl Surroundings) -> Result<OutputVc, bool> {
        found(self.better(NONE, way, open, head, near), false)
    }

    /// The request of a packet with several candidates.
    #[inline(never)]
    fn guided_among(&self, guide: &Guide, head: &Head<'_>, near: &impl Surroundings) -> Result<OutputVc, bool> {
        let visit = visit(head);
        let weighs = guide.weighs(&visit);
        let chosen = if weighs { lightest(guide, head, near) } else { None };
        let mut best = NONE;
        let mut is_open = false;
        guide.choices(&visit, |way| {
            let open = near.open(way.port) & way.vcs;
            is_open |= open != 0;
            if way.tier > 0 || chosen.is_none_or(|chosen| way == chosen) {
                best = self.better(best, way, open, head, near);
            }
        });
        found(best, weighs && is_open)
    }

    /// The best of the result so far and the `open` channels of a candidate. Unpredictable, so computed without a
    /// branch: every channel draws a tie-breaker.
    #[inline(always)]
    fn better(&self, mut best: Best, way: Way, open: u32, head: &Head<'_>, near: &impl Surroundings) -> Best {
        for vc in channels(open) {
            let output = OutputVc { port: way.port, vc };
            let rank = u64::from(way.tier) << 32 | u64::from(near.packets_ahead(output));
            let weight = u128::from(rank) << 64 | u128::from(lot(head, output));
            best = if weight < best.0 { (weight, output) } else { best };
        }
        best
    }

    /// A channel that opens on any of its candidates wakes the head.
    #[inline(never)]
    pub(super) fn guided_ports(&self, head: &Head<'_>, mut tell: impl FnMut(Port)) {
        if let Some(guide) = self.guide.as_deref() {
            guide.ways(&visit(head), |way| tell(way.port));
        }
    }

    /// The first channel of the last candidate.
    #[inline(never)]
    pub(super) fn guided_last_resort(&self, head: &Head<'_>) -> Option<OutputVc> {
        let mut last = None;
        self.guide.as_deref()?.ways(&visit(head), |way| last = Some(way));
        last.map(|way| OutputVc { port: way.port, vc: way.vcs.trailing_zeros() as u8 })
    }

    #[inline(always)]
    pub(super) fn guided_hop(&self, node: NodeId, destination: NodeId, key: u64, port: Port, state: &mut [i16]) {
        if let Some(guide) = &self.guide {
            guide.hop(node, destination, key, port, state);
        }
    }
}
