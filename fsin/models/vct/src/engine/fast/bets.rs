//! The blocked heads of `bubble:smart`, all heads of a node together.
//!
//! The output channel that such a head requests in a cycle depends on its bet, on the channels that fit, and on its
//! random draw (`router::request::smart`). None of that depends on ownership. So a blocked head is left alone while
//! none of its candidate channels opens; its bet is computed when one does. The bets of a node's heads are masks of its
//! inputs: one cycle takes a few operations on these masks, for all heads at once. Bring the bets up to date before a
//! channel begins or ceases to fit.
//!
//! Decision: docs/decisions/0089-waiting-heads.md.

use trgen::recurrence::State;
use trgen::{Cycle, NodeId};

use super::mask::{Mask, Members};
use super::rules::Rules;
use super::state::Router;
use super::state::repetition::put_mask;
use crate::router::layout::Layout;
use crate::router::request::RouteRules;
use crate::routing::{lots, lots_key};

/// The blocked heads of a node, in a network of at most `D` dimensions and routers of at most `P` ports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bets<M: Mask, const D: usize, const P: usize> {
    /// Random stream of (run seed, node).
    key: u64,
    /// \[cycle\] The cycle for which the bets hold.
    from: u64,
    /// Inputs with a blocked head.
    waiting: M,
    /// By bet from 1 to n: the inputs with that bet. All other inputs have bet 0.
    bets: [M; D],
    /// By port: inputs whose heads have that port as a minimal output.
    towards: [M; P],
    /// By port: those of `towards` whose escape channel belongs to the port.
    escaping: [M; P],
    /// Candidate channels of all blocked heads: adaptive channels and escape channels.
    wanted: M,
    /// The escape channels among `wanted`.
    wanted_escapes: M,
}

/// The requests of one cycle.
struct Requests<M, const D: usize> {
    /// By dimension: inputs whose heads request an adaptive channel of that dimension.
    adaptive: [M; D],
    /// Inputs whose heads request the escape channel, if it passes.
    escape: M,
}

impl<M: Mask, const D: usize, const P: usize> Bets<M, D, P> {
    /// A node without blocked heads.
    pub(super) const fn new(seed: u64, node: NodeId) -> Self {
        Self::of(lots_key(seed, node))
    }

    /// A node with this key, without blocked heads.
    const fn of(key: u64) -> Self {
        Self {
            key,
            from: 0,
            waiting: M::EMPTY,
            bets: [M::EMPTY; D],
            towards: [M::EMPTY; P],
            escaping: [M::EMPTY; P],
            wanted: M::EMPTY,
            wanted_escapes: M::EMPTY,
        }
    }

    /// Writes the bets into a state of the run. Where they are draws, states are not compared.
    pub(super) fn write_state(&self, into: &mut State) {
        let Self { key: _, from, waiting, bets, towards, escaping, wanted, wanted_escapes } = self;
        if waiting.is_empty() {
            // Bets of nobody.
            return into.put(0);
        }
        into.put(1);
        into.put_time(Cycle(*from));
        let lists = bets.iter().chain(towards).chain(escaping);
        lists.chain([waiting, wanted, wanted_escapes]).for_each(|&mask| put_mask(into, mask));
    }

    /// Random stream of (run seed, node).
    pub(super) const fn key(&self) -> u64 {
        self.key
    }

    /// By bet from 1 to n: the inputs with that bet.
    pub(super) const fn made(&self) -> [M; D] {
        self.bets
    }

    /// Removes all heads.
    pub(super) fn clear(&mut self) {
        *self = Self::of(self.key);
    }

    /// Lets the bets hold so many cycles later.
    pub(super) const fn pass(&mut self, cycles: u64) {
        self.from += cycles;
    }

    /// Inputs with a blocked head.
    #[inline(always)]
    pub(super) const fn waiting(&self) -> M {
        self.waiting
    }

    /// True if this output channel is a candidate of some head.
    #[inline(always)]
    pub(super) fn candidates(&self, output: usize) -> bool {
        (self.wanted | self.wanted_escapes).has(output)
    }

    /// True if this escape channel is a candidate of some head.
    #[inline(always)]
    pub(super) fn wants_escape(&self, output: usize) -> bool {
        self.wanted_escapes.has(output)
    }

    /// True if some bet depends on whether this output channel fits.
    #[inline(always)]
    pub(super) fn depends_on(&self, output: usize) -> bool {
        self.wanted.has(output)
    }

    /// Adds a blocked head with candidate channels `candidates` and a bet that holds from cycle `next` on. The other
    /// bets must have been [brought](Self::advance) up to `next`.
    pub(super) fn insert<L: Layout>(&mut self, rules: &Rules<L>, input: usize, bet: u8, candidates: u64, next: u64) {
        let (layout, escapes) = (rules.layout, rules.requests.escapes());
        self.from = next;
        self.waiting.insert(input);
        if bet > 0 {
            self.bets[usize::from(bet) - 1].insert(input);
        }
        for port in 0..layout.shape().ports() {
            let goes = candidates >> (port * layout.vcs() + 1) & 1 != 0;
            self.towards[port] = self.towards[port] | M::bit_if(input, goes);
        }
        let mut adaptive = M::of_word(candidates & !escapes, 0);
        if adaptive.has(input) {
            // The packet goes straight, in its own channel.
            adaptive = adaptive & !Self::straight(rules, rules.port_of(input)) | M::bit(input);
        }
        self.wanted = self.wanted | adaptive;
        let escape = (candidates & escapes).trailing_zeros() as usize;
        self.escaping[rules.port_of(escape)].insert(input);
        self.wanted_escapes.insert(escape);
    }

    /// Removes a head that is no longer blocked.
    pub(super) fn remove<L: Layout>(&mut self, rules: &Rules<L>, input: usize) {
        let others = !M::bit(input);
        let (shape, vcs) = (rules.layout.shape(), rules.layout.vcs());
        self.waiting = self.waiting & others;
        self.bets[..shape.dimensions].iter_mut().for_each(|bet| *bet = *bet & others);
        (self.wanted, self.wanted_escapes) = (M::EMPTY, M::EMPTY);
        for port in 0..shape.ports() {
            self.towards[port] = self.towards[port] & others;
            self.escaping[port] = self.escaping[port] & others;
            self.wanted = self.wanted | Self::wanted_of(rules, port, self.towards[port]);
            self.wanted_escapes = self.wanted_escapes | M::bit_if(port * vcs, !self.escaping[port].is_empty());
        }
    }

    /// The adaptive channels of a port that the heads of the inputs `towards` may request: their own channel if they go
    /// straight, else all.
    #[inline(always)]
    fn wanted_of<L: Layout>(rules: &Rules<L>, port: usize, towards: M) -> M {
        let straight = Self::straight(rules, port);
        if (towards & !straight).is_empty() { towards } else { straight }
    }

    /// Brings the bets up to cycle `until`. The channels that fit must not have changed since the last call.
    #[inline(always)]
    pub(super) fn advance<L: Layout>(&mut self, rules: &Rules<L>, fitting: M, until: u64) {
        if self.waiting.is_empty() || self.from >= until {
            return;
        }
        self.advance_all(rules, fitting, until);
    }

    /// As [`advance`](Self::advance), for a node with blocked heads whose bets are not up to date.
    #[inline(never)]
    fn advance_all<L: Layout>(&mut self, rules: &Rules<L>, fitting: M, until: u64) {
        let dimensions = rules.layout.shape().dimensions;
        // In n dimensions each head repeats its bets with a period of at most n + 1 cycles, after at most n cycles. The
        // table has the least common multiple of these periods, by n.
        let common_period = [1, 2, 6, 12, 60].get(dimensions).copied().unwrap_or(u64::MAX);
        let cycles = until - self.from;
        if cycles > common_period && !self.draws(rules, fitting) {
            let left = dimensions as u64 + (cycles - dimensions as u64) % common_period;
            self.from = until - left.min(cycles);
        }
        while self.from < until {
            self.step(rules, fitting);
        }
    }

    /// True if the bet of some head may depend on a random draw while the channels in `fitting` fit.
    fn draws<L: Layout>(&self, rules: &Rules<L>, fitting: M) -> bool {
        let layout = rules.layout;
        (0..layout.shape().ports()).any(|port| {
            let adaptive = layout.all_vcs() as u64 & !1;
            let fits = fitting.word(port * layout.vcs()) & adaptive;
            !self.towards[port].is_empty() && fits != 0 && fits != adaptive
        })
    }

    /// The inputs of the transit queues that belong to a port's adaptive channels: their heads go straight through it.
    #[inline(always)]
    fn straight<L: Layout>(rules: &Rules<L>, port: usize) -> M {
        M::of_word(u64::from(rules.layout.all_vcs() & !1), port * rules.layout.vcs())
    }

    /// The inputs whose first bet is this dimension: the transit queues of its ports and, for the first dimension, the
    /// injection queues.
    #[inline(always)]
    pub(super) fn inputs_of_dimension<L: Layout>(rules: &Rules<L>, dimension: usize) -> M {
        let per_dimension = rules.layout.outputs() / rules.layout.shape().dimensions;
        let ports = M::below((dimension + 1) * per_dimension) & !M::below(dimension * per_dimension);
        let first = rules.requests.first_dimension();
        if dimension == first { ports | !M::below(rules.layout.outputs()) } else { ports }
    }

    /// The inputs among `drawing` that draw channel `vc` of a dimension. `lots` is the random word of the cycle.
    #[inline(always)]
    fn drawn<L: Layout>(rules: &Rules<L>, lots: u64, drawing: M, dimension: usize, vc: usize) -> M {
        match rules.layout.vcs() - 1 {
            1 => drawing,
            2 => {
                let second = M::of_word(lots.rotate_right(29 * dimension as u32), 0);
                drawing & if vc == 2 { second } else { !second }
            }
            count => {
                let draws = |input| RouteRules::<L>::smart_vc(lots, input, dimension, count as u32);
                Members(drawing)
                    .filter(|&input| usize::from(draws(input)) + 1 == vc)
                    .fold(M::EMPTY, |mask, input| mask | M::bit(input))
            }
        }
    }

    /// By dimension: the inputs that have a passing adaptive channel in that dimension in this cycle.
    #[inline(always)]
    fn passing<L: Layout>(&self, rules: &Rules<L>, lots: u64, fitting: M) -> [M; D] {
        let (shape, vcs) = (rules.layout.shape(), rules.layout.vcs());
        let mut passing = [M::EMPTY; D];
        for (dimension, passing) in passing.iter_mut().enumerate().take(shape.dimensions) {
            for port in dimension * shape.ways..(dimension + 1) * shape.ways {
                let (towards, straight) = (self.towards[port], Self::straight(rules, port));
                // A channel and the queue downstream of it have the same number.
                *passing = *passing | towards & straight & fitting;
                let drawing = towards & !straight;
                for vc in 1..vcs {
                    let fits = if fitting.has(port * vcs + vc) { drawing } else { M::EMPTY };
                    *passing = *passing | Self::drawn(rules, lots, fits, dimension, vc);
                }
            }
        }
        passing
    }

    /// Advances the bets by one cycle. Returns the random word and the requests of that cycle.
    #[inline(always)]
    fn step<L: Layout>(&mut self, rules: &Rules<L>, fitting: M) -> (u64, Requests<M, D>) {
        let dimensions = rules.layout.shape().dimensions;
        let lots = lots(self.key, self.from);
        let passing = self.passing(rules, lots, fitting);
        let mut adaptive = [M::EMPTY; D];
        let mut next = [M::EMPTY; D];
        let last = self.bets[dimensions - 1];
        let mut pending = self.bets[..dimensions].iter().fold(self.waiting, |zero, &bet| zero & !bet);
        for (bet, next) in next.iter_mut().enumerate().take(dimensions) {
            if bet > 0 {
                pending = pending | self.bets[bet - 1];
            }
            let mut asking = M::EMPTY;
            for own in 0..dimensions {
                let turn = own + bet;
                let dimension = if turn >= dimensions { turn - dimensions } else { turn };
                let these = pending & passing[dimension] & Self::inputs_of_dimension(rules, own);
                adaptive[dimension] = adaptive[dimension] | these;
                asking = asking | these;
            }
            *next = asking;
            pending = pending & !asking;
        }
        self.bets = next;
        self.from += 1;
        (lots, Requests { adaptive, escape: pending | last })
    }

    /// True if this node's own queue leaves the bubble free in the ring of a port's escape channel.
    #[inline(always)]
    fn leaves_bubble<L: Layout, const Q: usize>(rules: &Rules<L>, router: &Router<M, Q, P>, output: usize) -> bool {
        rules.bubble == 0 || router.has_room(output, rules.bubble, rules.queue_packets)
    }

    /// The open channels that some blocked head may be granted in this cycle or later, if nothing changes.
    #[inline(always)]
    pub(super) fn grantable<L: Layout, const Q: usize>(&self, rules: &Rules<L>, router: &Router<M, Q, P>) -> M {
        let open = router.open();
        let mut grantable = self.wanted & open;
        for output in Members(self.wanted_escapes & open) {
            let goes_straight = self.escaping[rules.port_of(output)].has(output);
            let passes = goes_straight || Self::leaves_bubble(rules, router, output);
            grantable = grantable | M::bit_if(output, passes);
        }
        grantable
    }

    /// Passes the requests of the blocked heads to `add_requests`: each of the `grantable` channels, with the inputs
    /// whose heads request it. The bets must have been [brought](Self::advance) up to the present cycle.
    #[inline(always)]
    pub(super) fn ask<L: Layout, const Q: usize>(
        &mut self,
        rules: &Rules<L>,
        router: &Router<M, Q, P>,
        grantable: M,
        mut add_requests: impl FnMut(usize, M),
    ) {
        let layout = rules.layout;
        let (lots, asked) = self.step(rules, router.fitting());
        for output in Members(grantable) {
            let port = rules.port_of(output);
            let vc = output - port * layout.vcs();
            if vc == 0 {
                let asking = self.escaping[port] & asked.escape;
                let all = Self::leaves_bubble(rules, router, output);
                add_requests(output, if all { asking } else { asking & M::bit(output) });
            } else {
                let dimension = port / layout.shape().ways;
                let asking = asked.adaptive[dimension] & self.towards[port];
                let drawing = asking & !Self::straight(rules, port);
                add_requests(output, asking & M::bit(output) | Self::drawn(rules, lots, drawing, dimension, vc));
            }
        }
    }
}

/// The request of a new head with bet 0, and its next bet if the request is not granted. `candidates` are its candidate
/// channels ([`RouteRules::candidates`]).
#[inline(always)]
pub(super) fn first_request<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize>(
    rules: &Rules<L>,
    router: &Router<M, Q, P>,
    bets: &Bets<M, D, P>,
    input: usize,
    candidates: u64,
    now: u64,
) -> (Option<usize>, u8) {
    let (layout, escapes) = (rules.layout, rules.requests.escapes());
    let fitting = router.fitting().word(0) & candidates;
    let adaptive = fitting & !escapes;
    if adaptive >> input & 1 != 0 {
        return (Some(input), 1);
    }
    if adaptive != 0 {
        let (shape, vcs) = (layout.shape(), layout.vcs());
        let (dimensions, channels) = (shape.dimensions, shape.ways * vcs);
        let in_transit = input < rules.outputs();
        let own = if in_transit { rules.port_of(input) / shape.ways } else { rules.requests.first_dimension() };
        let goes_straight = candidates & !escapes & 1 << input != 0;
        let lots = lots(bets.key, now);
        for bet in usize::from(goes_straight)..dimensions {
            let turn = own + bet;
            let dimension = if turn >= dimensions { turn - dimensions } else { turn };
            let fits = adaptive >> (dimension * channels);
            // A packet has one minimal direction in each dimension.
            let other = shape.ways > 1 && fits >> vcs & u64::from(layout.all_vcs()) != 0;
            let vc = 1 + usize::from(RouteRules::<L>::smart_vc(lots, input, dimension, vcs as u32 - 1));
            let output = (if other { vcs } else { 0 }) + vc;
            if fits >> output & 1 != 0 {
                return (Some(dimension * channels + output), bet as u8 + 1);
            }
        }
    }
    let escape = fitting & escapes;
    let output = escape.trailing_zeros() as usize;
    let passes = escape != 0
        && (rules.bubble == 0 || output == input || router.has_room(output, rules.bubble, rules.queue_packets));
    (passes.then_some(output), 0)
}
