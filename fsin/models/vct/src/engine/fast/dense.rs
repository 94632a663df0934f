//! The waiting heads of `bubble:smart` in a network full of them: those of eight routers at once.
//!
//! The [set](super::bets) of a node's waiting heads is brought up to date when a channel opens. Where nearly every
//! router has waiting heads, a channel opens in its neighbourhood every few cycles. Then it costs more to find out
//! which router must be looked at, to enter heads one by one and to catch up with the cycles between than to make the
//! step of all heads in every cycle. Here the sets of eight routers are the lanes of vectors, and a step of all their
//! heads takes some 400 instructions in 2-D. It finds the heads that request an open channel; no other router is
//! visited.
//!
//! A new head is a waiting head with bet 0, so that there is no other case.
//!
//! The steps are those of [`Bets`](super::bets::Bets), on other words: results are the same, whichever is at work.
//!
//! Decision: docs/decisions/0320-dense-heads.md.

use std::ops::{BitAnd, BitOr, Not};

use crate::router::layout::{Inputs, Layout};
use crate::routing::lots;

/// \[routers\] Lanes of a vector.
pub(super) const LANES: usize = 8;

/// By router of a block: a set of its inputs.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub(super) struct Sets<W>(pub(super) [W; LANES]);

impl<W: Inputs> Sets<W> {
    pub(super) const EMPTY: Self = Self([W::EMPTY; LANES]);

    /// The same set for all routers.
    #[inline(always)]
    fn all(set: W) -> Self {
        Self([set; LANES])
    }

    #[inline(always)]
    fn each(self, of: impl Fn(W) -> W) -> Self {
        Self(self.0.map(of))
    }

    #[inline(always)]
    fn both(self, other: Self, of: impl Fn(W, W) -> W) -> Self {
        Self(std::array::from_fn(|lane| of(self.0[lane], other.0[lane])))
    }

    /// By router: all numbers if its set has this one, else none.
    #[inline(always)]
    fn all_if(self, number: usize) -> Self {
        self.each(|set| set.all_if(number))
    }

    /// By router: the number `number` if its set is not empty.
    #[inline(always)]
    fn if_any(self, number: usize) -> Self {
        self.each(|set| set.if_any(W::of(1 << number)))
    }

    /// True if all sets are empty.
    #[inline(always)]
    fn is_empty(self) -> bool {
        self.0.iter().fold(W::EMPTY, |all, &set| all | set).word() == 0
    }

    /// The routers whose set is not empty, as a mask.
    #[inline(always)]
    fn routers(self) -> u64 {
        let bits = std::array::from_fn::<_, LANES, _>(|lane| self.0[lane].if_any(W::of(1 << lane)));
        bits.into_iter().fold(W::EMPTY, |mask, bit| mask | bit).word()
    }
}

impl<W: Inputs> BitAnd for Sets<W> {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.both(other, |one, other| one & other)
    }
}

impl<W: Inputs> BitOr for Sets<W> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.both(other, |one, other| one | other)
    }
}

impl<W: Inputs> Not for Sets<W> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        self.each(|set| !set)
    }
}

/// Eight consecutive routers: their waiting heads, and what their requests depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<W, const D: usize, const P: usize> {
    /// Inputs with a waiting head.
    pub(super) waiting: Sets<W>,
    /// By bet from 1 to n: the waiting inputs with that bet. All others have bet 0.
    pub(super) bets: [Sets<W>; D],
    /// By port: the inputs whose heads have that port as a minimal output. Undefined for inputs that do not wait.
    towards: [Sets<W>; P],
    /// By dimension but the last: the inputs whose heads have their escape channel in it. The others have it in the
    /// last. Undefined for inputs that do not wait.
    escaping: [Sets<W>; D],
    /// Output channels behind which a packet fits, owned or not.
    pub(super) fitting: Sets<W>,
    /// Output channels allocated to a packet.
    pub(super) owned: Sets<W>,
    /// Transit queues that leave the bubble free in their ring.
    pub(super) roomy: Sets<W>,
}

impl<W: Inputs, const D: usize, const P: usize> Block<W, D, P> {
    pub(super) const EMPTY: Self = Self {
        waiting: Sets::EMPTY,
        bets: [Sets::EMPTY; D],
        towards: [Sets::EMPTY; P],
        escaping: [Sets::EMPTY; D],
        fitting: Sets::EMPTY,
        owned: Sets::EMPTY,
        roomy: Sets::EMPTY,
    };

    /// Adds the head of an input with bet 0 and these candidate channels.
    #[inline(always)]
    pub(super) fn insert<L: Layout>(&mut self, layout: L, lane: usize, input: usize, candidates: u64) {
        let (bit, others) = (W::of(1 << input), !W::of(1 << input));
        let put = |set: &mut Sets<W>, goes: bool| {
            let set = &mut set.0[lane];
            *set = *set & others | W::of(u64::from(goes) << input);
        };
        self.waiting.0[lane] = self.waiting.0[lane] | bit;
        for (port, towards) in self.towards.iter_mut().enumerate() {
            put(towards, candidates >> (port * layout.vcs() + 1) & 1 != 0);
        }
        for (dimension, escaping) in self.escaping.iter_mut().enumerate().take(D - 1) {
            let escapes = 1 << (2 * dimension * layout.vcs()) | 1 << ((2 * dimension + 1) * layout.vcs());
            put(escaping, candidates & escapes != 0);
        }
    }

    /// Records whether a transit queue leaves the bubble free in its ring.
    #[inline(always)]
    pub(super) fn note_room(&mut self, lane: usize, input: usize, is_roomy: bool) {
        let roomy = &mut self.roomy.0[lane];
        *roomy = *roomy & !W::of(1 << input) | W::of(u64::from(is_roomy) << input);
    }

    /// Records the channels behind which a packet fits, and those that are owned.
    #[inline(always)]
    pub(super) fn note_outputs(&mut self, lane: usize, fitting: u64, owned: u64) {
        (self.fitting.0[lane], self.owned.0[lane]) = (W::of(fitting), W::of(owned));
    }

    /// Removes the heads of these inputs, which have been granted a channel.
    #[inline(always)]
    pub(super) fn remove(&mut self, lane: usize, inputs: W) {
        self.waiting.0[lane] = self.waiting.0[lane] & !inputs;
        self.bets.iter_mut().for_each(|bet| bet.0[lane] = bet.0[lane] & !inputs);
    }

    /// The step of all heads in cycle `now`: writes their requests by output channel, advances the bets, and
    /// returns the open ones of the output channels requested. `keys` are those of the routers' random streams.
    #[inline(never)]
    pub(super) fn step<L: Layout, const Q: usize>(
        &mut self,
        layout: L,
        own_inputs: &[W; D],
        keys: &[u64; LANES],
        now: u64,
        asking: &mut [Sets<W>; Q],
    ) -> Sets<W> {
        let vcs = layout.vcs();
        let bit = |number: usize| Sets::all(W::of(1 << number));
        let straight = |port: usize| Sets::all(W::of(u64::from(layout.all_vcs() & !1) << (port * vcs)));
        let fitting = self.fitting;
        let lots = keys.map(|key| lots(key, now));
        // By dimension: the inputs that draw channel 2.
        let second: [Sets<W>; D] = std::array::from_fn(|dimension| match vcs {
            2 => Sets::EMPTY,
            _ => Sets(lots.map(|lots| W::of(lots.rotate_right(29 * dimension as u32)))),
        });
        let drawn = |dimension: usize, vc: usize| if vc == 2 { second[dimension] } else { !second[dimension] };
        let passing: [Sets<W>; D] = std::array::from_fn(|dimension| {
            let mut passing = Sets::EMPTY;
            for port in [2 * dimension, 2 * dimension + 1] {
                let drawing = (1..vcs)
                    .fold(Sets::EMPTY, |drawing, vc| drawing | fitting.all_if(port * vcs + vc) & drawn(dimension, vc));
                let straight = straight(port);
                passing = passing | self.towards[port] & (straight & fitting | !straight & drawing);
            }
            passing
        });

        let mut adaptive = [Sets::EMPTY; D];
        let last = self.bets[D - 1];
        let mut pending = self.bets.iter().fold(self.waiting, |zero, &bet| zero & !bet);
        let mut next = [Sets::EMPTY; D];
        for (bet, next) in next.iter_mut().enumerate() {
            if bet > 0 {
                pending = pending | self.bets[bet - 1];
            }
            let mut asking = Sets::EMPTY;
            for (own, &own_inputs) in own_inputs.iter().enumerate() {
                let dimension = (own + bet) % D;
                let these = pending & passing[dimension] & Sets::all(own_inputs);
                adaptive[dimension] = adaptive[dimension] | these;
                asking = asking | these;
            }
            *next = asking;
            pending = pending & !asking;
        }
        self.bets = next;

        let escape = pending | last;
        let mut rest = escape;
        let escaping: [Sets<W>; D] = std::array::from_fn(|dimension| {
            let these = if dimension + 1 < D { rest & self.escaping[dimension] } else { rest };
            rest = rest & !these;
            these
        });
        let mut wanted = Sets::EMPTY;
        for port in 0..P {
            let (dimension, straight) = (port / 2, straight(port));
            let towards = self.towards[port];
            let (adaptive, escaping) = (towards & adaptive[dimension], towards & escaping[dimension]);
            for vc in 0..vcs {
                let output = port * vcs + vc;
                let requests = match vc {
                    0 => escaping & (self.roomy.all_if(output) | bit(output)),
                    _ => adaptive & (bit(output) | !straight & drawn(dimension, vc)),
                };
                asking[output] = requests;
                wanted = wanted | requests.if_any(output);
            }
        }
        wanted & fitting & !self.owned
    }
}

/// \[blocks\] Blocks whose steps are made one after the other, before their routers are visited: a word has a bit for
/// each router.
pub(super) const ROW: usize = 8;

/// The waiting heads of all routers of a partition.
#[derive(Debug)]
pub(super) struct Dense<W, const D: usize, const Q: usize, const P: usize> {
    /// Whether the heads are kept here.
    pub(super) is_on: bool,
    /// \[cycle\] When it is asked next whether they should be.
    pub(super) asked_at: u64,
    /// \[cycle\] When it was asked last.
    pub(super) asked_last: u64,
    /// \[hops\] Headers that have crossed a link since then.
    pub(super) hops: u64,
    /// Blocks of routers; none while the heads are kept elsewhere.
    pub(super) blocks: Vec<Block<W, D, P>>,
    /// By router of a block: the key of its random stream.
    pub(super) keys: Vec<[u64; LANES]>,
    /// By dimension: the inputs whose first bet it is.
    pub(super) own_inputs: [W; D],
    /// By block of a row and output channel: the requests.
    pub(super) asking: Box<[[Sets<W>; Q]; ROW]>,
    /// By block of a row: the output channels requested.
    pub(super) wanted: [Sets<W>; ROW],
    /// Heads at their destinations, by router and input.
    pub(super) ejecting: Vec<(u32, u16)>,
}

impl<W: Inputs, const D: usize, const Q: usize, const P: usize> Dense<W, D, Q, P> {
    pub(super) fn new(own_inputs: [W; D]) -> Self {
        Self {
            is_on: false,
            asked_at: 0,
            asked_last: 0,
            hops: 0,
            blocks: Vec::new(),
            keys: Vec::new(),
            own_inputs,
            asking: Box::new([[Sets::EMPTY; Q]; ROW]),
            wanted: [Sets::EMPTY; ROW],
            ejecting: Vec::new(),
        }
    }

    /// The block of a router, and its lane.
    #[inline(always)]
    pub(super) fn of(&mut self, node: u32) -> (&mut Block<W, D, P>, usize) {
        (&mut self.blocks[node as usize / LANES], node as usize % LANES)
    }

    /// Makes the steps of a row of blocks in cycle `now`. Returns the routers to visit, as a mask.
    #[inline(always)]
    pub(super) fn step_row<L: Layout>(&mut self, layout: L, row: usize, now: u64) -> u64 {
        let first = row * ROW;
        let last = (first + ROW).min(self.blocks.len());
        let mut routers = 0;
        for (at, (block, keys)) in self.blocks[first..last].iter_mut().zip(&self.keys[first..last]).enumerate() {
            if block.waiting.is_empty() {
                continue;
            }
            let wanted = block.step(layout, &self.own_inputs, keys, now, &mut self.asking[at]);
            self.wanted[at] = wanted;
            routers |= wanted.routers() << (at * LANES);
        }
        routers
    }
}
