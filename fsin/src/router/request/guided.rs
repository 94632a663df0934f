//! Heads in a network of switches: which of the ways that the [guide](crate::router::guide) shows they ask for.

use trgen::NodeId;
use trgen::rng::{Purpose, mix2};

use super::{Head, OutputVc, Requests, Surroundings};
use crate::router::guide::{Guide, Visit, Way};
use crate::router::layout::Layout;
use crate::topology::Port;

#[inline(always)]
fn visit<'a>(head: &Head<'a>) -> Visit<'a> {
    Visit { node: head.node, input: head.input, destination: head.destination, key: head.key, state: head.offsets }
}

/// The best channel so far, and its weight: tier, packets ahead, and what is drawn for it; less is better.
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

/// What is drawn among equals: least wins.
const fn lot(head: &Head<'_>, output: OutputVc) -> u64 {
    mix2(mix2(head.key ^ head.node.0 as u64, Purpose::Output as u64), (output.port.0 as u64) << 8 | output.vc as u64)
}

/// The channel with most free space ahead; of equals one drawn, the same as long as the packet stands there. If it is not
/// open, the packet waits: whether another one is open.
fn roomiest(guide: &Guide, head: &Head<'_>, near: &impl Surroundings) -> Result<OutputVc, bool> {
    let mut best: Option<(u32, OutputVc)> = None;
    let mut is_open = false;
    guide.choices(&visit(head), |way| {
        is_open |= near.open(way.port) & way.vcs != 0;
        for vc in channels(way.vcs) {
            let output = OutputVc { port: way.port, vc };
            let Some(space) = near.space_ahead(output) else { continue };
            let is_better = best
                .is_none_or(|(most, other)| space > most || (space == most && lot(head, output) < lot(head, other)));
            if is_better {
                best = Some((space, output));
            }
        }
    });
    match best {
        Some((_, output)) if near.open(output.port) & 1 << output.vc != 0 => Ok(output),
        _ => Err(is_open),
    }
}

/// The way of the first tier with least packets ahead times hops to go; of equals that with least hops, then one drawn.
/// A channel that is not open counts as one packet more.
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
    /// A channel that is open on one of the ways: of the first tier that has any, that with fewest packets ahead, or what
    /// weighing the ways says. If there is none: whether what is ahead may change that, because the head weighs its ways and
    /// one of them is open.
    #[inline(always)]
    pub(super) fn guided(&self, head: &Head<'_>, near: &impl Surroundings) -> Result<OutputVc, bool> {
        let Some(guide) = self.guide.as_deref() else { return Err(false) };
        let Some(way) = guide.only_way(&visit(head)) else { return self.guided_among(guide, head, near) };
        let open = near.open(way.port) & way.vcs;
        match open & open.wrapping_sub(1) {
            // None, or one.
            0 if open == 0 => Err(false),
            0 => Ok(OutputVc { port: way.port, vc: open.trailing_zeros() as u8 }),
            _ => self.guided_by(way, open, head, near),
        }
    }

    /// By the only way, of which several channels are `open`.
    #[inline(never)]
    fn guided_by(&self, way: Way, open: u32, head: &Head<'_>, near: &impl Surroundings) -> Result<OutputVc, bool> {
        found(self.better(NONE, way, open, head, near), false)
    }

    /// By one of several ways.
    #[inline(never)]
    fn guided_among(&self, guide: &Guide, head: &Head<'_>, near: &impl Surroundings) -> Result<OutputVc, bool> {
        if guide.weighs_space() {
            return roomiest(guide, head, near);
        }
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

    /// The best of what was found before and the `open` channels of a way. Which is better is seldom foretold: no branch depends
    /// on it, so that a lot is drawn for each.
    #[inline(always)]
    fn better(&self, mut best: Best, way: Way, open: u32, head: &Head<'_>, near: &impl Surroundings) -> Best {
        for vc in channels(open) {
            let output = OutputVc { port: way.port, vc };
            if way.bubble && !self.bubble_open(head, output, near) {
                continue;
            }
            let rank = u64::from(way.tier) << 32 | u64::from(near.packets_ahead(output));
            let weight = u128::from(rank) << 64 | u128::from(lot(head, output));
            best = if weight < best.0 { (weight, output) } else { best };
        }
        best
    }

    /// Whatever opens on any of its ways concerns the head.
    #[inline(never)]
    pub(super) fn guided_ports(&self, head: &Head<'_>, mut tell: impl FnMut(Port)) {
        if let Some(guide) = self.guide.as_deref() {
            guide.ways(&visit(head), |way| tell(way.port));
        }
    }

    /// The first channel of the last way.
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
