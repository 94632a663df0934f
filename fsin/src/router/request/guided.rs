//! Heads in a network of switches: which of the ways that the [guide](crate::router::guide) shows they ask for.

use trgen::NodeId;
use trgen::rng::{Purpose, mix2};

use super::{Head, Interest, OutputVc, Requests, Surroundings};
use crate::router::guide::{Visit, Way};
use crate::router::layout::Layout;
use crate::topology::Port;

fn visit<'a>(head: &Head<'a>) -> Visit<'a> {
    Visit { node: head.node, input: head.input, destination: head.destination, key: head.key, state: head.offsets }
}

/// The channels of a mask.
fn channels(mut vcs: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let vc = (vcs != 0).then(|| vcs.trailing_zeros() as u8);
        vcs &= vcs.wrapping_sub(1);
        vc
    })
}

/// What is drawn among equals: least wins.
const fn lot(head: &Head<'_>, port: Port, vc: u8) -> u64 {
    mix2(mix2(head.key ^ head.node.0 as u64, Purpose::Output as u64), (port.0 as u64) << 8 | vc as u64)
}

impl<L: Layout> Requests<L> {
    /// A channel that is open on one of the ways: of the first tier that has any, that with fewest packets ahead, or any.
    #[inline(never)]
    pub(super) fn guided(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let guide = self.guide.as_deref()?;
        let visit = visit(head);
        let draws = guide.draws();
        let mut best: Option<((u8, u32), OutputVc)> = None;
        let mut consider = |way: Way| {
            for vc in channels(near.open(way.port) & way.vcs) {
                let output = OutputVc { port: way.port, vc };
                if way.bubble && !self.bubble_open(head, output, near) {
                    continue;
                }
                let rank = (way.tier, if draws { 0 } else { near.packets_ahead(output) });
                let is_better = best.is_none_or(|(least, other)| {
                    rank < least || (rank == least && lot(head, way.port, vc) < lot(head, other.port, other.vc))
                });
                if is_better {
                    best = Some((rank, output));
                }
            }
        };
        if let Some(way) = guide.only_way(&visit) {
            consider(way);
        } else {
            let chosen = if guide.weighs(&visit) { self.lightest(head, near) } else { None };
            guide.ways(&visit, |way| {
                if way.tier > 0 || chosen.is_none_or(|chosen| way == chosen) {
                    consider(way);
                }
            });
        }
        best.map(|(_, output)| output)
    }

    /// The way of the first tier with least packets ahead times hops to go; of equals that with least hops, then one
    /// drawn. A channel that is not open counts as one packet more.
    fn lightest(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<Way> {
        let mut best = None;
        self.guide.as_deref()?.ways(&visit(head), |way| {
            if way.tier > 0 {
                return;
            }
            let open = near.open(way.port);
            let ahead: u32 = channels(way.vcs)
                .map(|vc| near.packets_ahead(OutputVc { port: way.port, vc }) + u32::from(open & 1 << vc == 0))
                .sum();
            let rank = (ahead * u32::from(way.hops), way.hops, lot(head, way.port, 0));
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, way));
            }
        });
        best.map(|(_, way)| way)
    }

    /// Whatever opens on any of its ways concerns the head.
    #[inline(never)]
    pub(super) fn guided_interest(&self, head: &Head<'_>) -> Interest {
        let mut ports = 0;
        if let Some(guide) = self.guide.as_deref() {
            guide.ways(&visit(head), |way| ports |= 1 << way.port.index());
        }
        Interest { adaptive: 0, deterministic: ports }
    }

    /// True if the head weighs its ways: while one of them is open, what is ahead on another decides.
    #[inline(never)]
    pub(super) fn guided_weighs(&self, head: &Head<'_>, near: &impl Surroundings) -> bool {
        let Some(guide) = self.guide.as_deref().filter(|guide| guide.weighs(&visit(head))) else { return false };
        let mut is_open = false;
        guide.ways(&visit(head), |way| is_open |= near.open(way.port) & way.vcs != 0);
        is_open
    }

    /// The first channel of the last way.
    #[inline(never)]
    pub(super) fn guided_last_resort(&self, head: &Head<'_>) -> Option<OutputVc> {
        let mut last = None;
        self.guide.as_deref()?.ways(&visit(head), |way| last = Some(way));
        last.map(|way| OutputVc { port: way.port, vc: way.vcs.trailing_zeros() as u8 })
    }

    #[inline(never)]
    pub(super) fn guided_hop(&self, node: NodeId, destination: NodeId, key: u64, port: Port, state: &mut [i16]) {
        if let Some(guide) = &self.guide {
            guide.hop(node, destination, key, port, state);
        }
    }
}
