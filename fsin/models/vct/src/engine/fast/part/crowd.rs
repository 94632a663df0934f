//! Step 3 where many heads wait: [`dense`](super::super::dense).

use super::super::dense::{Block, Dense, LANES, ROW};
use super::super::mask::{Mask, Members};
use super::super::rules::Rules;
use super::super::state::Router;
use super::Works;
use crate::router::layout::{Inputs, Layout};

/// \[cycles\] How often it is asked whether heads should be treated densely, at most.
const INTERVAL: u64 = 64;
/// \[heads\] By router, for each byte of a set of its inputs: so many waiting heads make it pay to treat all of them in
/// every cycle. Measured, as the next three: docs/performance.md.
const MANY_HEADS: f64 = 0.08;
/// \[heads\] The same: with fewer it no longer pays.
const FEW_HEADS: f64 = 0.055;
/// \[hops/cycle\] By router and byte: so many hops make it pay.
const MANY_HOPS: f64 = 0.055;
/// \[hops/cycle\] The same: with fewer it no longer pays.
const FEW_HOPS: f64 = 0.045;

impl<L: Layout> Rules<L> {
    /// True if the waiting heads of such routers may be treated densely.
    pub(super) fn may_be_dense(&self) -> bool {
        L::IS_DENSE
            && self.requests.is_plain()
            && self.outages.is_empty()
            && !(self.more_than_heads || self.is_paced || self.wakes_when_filled || self.compares_space)
    }
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// True if the waiting heads are treated densely at present.
    #[inline(always)]
    pub(super) fn is_dense(&self) -> bool {
        L::IS_DENSE && self.dense.is_on
    }

    /// Chooses how the heads are treated from this cycle on.
    #[inline(always)]
    pub(super) fn choose_treatment(&mut self, routers: &mut [Router<M, Q, P>]) {
        if !L::IS_DENSE || !self.may_be_dense || self.clock < self.dense.asked_at {
            return;
        }
        let Dense { asked_at, asked_last, hops, is_on, .. } = &mut self.dense;
        let cycles = self.clock - std::mem::replace(asked_last, self.clock);
        *asked_at = self.clock + INTERVAL;
        let cost = (size_of::<L::Inputs>() * routers.len()) as f64;
        let hops = std::mem::take(hops) as f64 / (cycles as f64 * cost);
        let heads = |awake: usize| (self.waiting_heads + awake) as f64 / cost;
        match *is_on {
            true if heads(0) < FEW_HEADS || hops < FEW_HOPS => self.end_dense(routers),
            false if heads(self.looking.len()) >= MANY_HEADS && hops >= MANY_HOPS => self.begin_dense(routers),
            _ => {}
        }
    }

    /// Moves all heads from the [sets](super::Bets) of their nodes to the blocks, before step 2.
    #[cold]
    fn begin_dense(&mut self, routers: &mut [Router<M, Q, P>]) {
        let Dense { blocks, keys, .. } = &mut self.dense;
        let count = routers.len().div_ceil(LANES);
        blocks.resize(count, Block::EMPTY);
        if keys.is_empty() {
            let key = |at: usize| self.bets.get(at).map_or(0, |bets| bets.key());
            keys.extend(
                (0..count).map(|block| -> [u64; LANES] { std::array::from_fn(|lane| key(block * LANES + lane)) }),
            );
        }
        self.dense.is_on = true;
        self.waiting_heads = 0;
        for (node, router) in (0..).zip(routers.iter_mut()) {
            let bets = &mut self.bets[node as usize];
            bets.advance(&self.rules, router.fitting(), self.clock);
            let made = bets.made();
            bets.clear();
            let heads = router.unrouted;
            let _ = router.take_awake();
            self.note_outputs(router, node);
            for input in 0..self.rules.outputs() + self.rules.injectors {
                self.note_queue(router, node, input, heads.has(input));
            }
            let (block, lane) = self.dense.of(node);
            for (bet, made) in block.bets.iter_mut().zip(made) {
                bet.0[lane] = L::Inputs::of(made.word(0));
            }
        }
        self.looking.reset(routers.len());
    }

    /// Moves all heads back to the sets of their nodes, before step 2 or between cycles.
    #[cold]
    pub(super) fn end_dense(&mut self, routers: &mut [Router<M, Q, P>]) {
        if !self.is_dense() {
            return;
        }
        self.dense.is_on = false;
        for (node, router) in (0..).zip(routers.iter_mut()) {
            let (block, lane) = self.dense.of(node);
            let waiting = M::of_word(block.waiting.0[lane].word(), 0);
            for input in Members(waiting) {
                let bet = block.bets.iter().position(|bet| bet.0[lane].word() >> input & 1 != 0);
                let bet = bet.map_or(0, |bet| bet as u8 + 1);
                let candidates = self.packets[router.head(input)].candidates;
                self.bets[node as usize].insert(&self.rules, input, bet, candidates, self.clock);
            }
            self.wake(router, node, M::bit_if(Router::<M, Q, P>::NO_INPUT, !waiting.is_empty()));
        }
        for (node, input) in std::mem::take(&mut self.dense.ejecting) {
            self.wake(&mut routers[node as usize], node, M::bit(input.into()));
        }
        self.dense.blocks.clear();
    }

    /// Notes a change of a queue: of the room that it leaves in its ring, and of its head, if that `asks` for an output
    /// from the next step 3 on.
    #[inline(always)]
    pub(super) fn note_queue(&mut self, router: &Router<M, Q, P>, node: u32, input: usize, asks: bool) {
        let rules = &self.rules;
        let is_roomy = rules.bubble == 0 || router.has_room(input, rules.bubble, rules.queue_packets);
        let (block, lane) = self.dense.of(node);
        block.note_room(lane, input, is_roomy);
        if !asks {
            return;
        }
        let packet = &self.packets[router.head(input)];
        if packet.destination == self.first + node {
            self.dense.ejecting.push((node, input as u16));
        } else {
            block.insert(rules.layout, lane, input, packet.candidates);
            self.waiting_heads += 1;
        }
    }

    /// Notes the channels of a router behind which a packet fits, and those that are owned, after a change.
    #[inline(always)]
    pub(super) fn note_outputs(&mut self, router: &Router<M, Q, P>, node: u32) {
        let (block, lane) = self.dense.of(node);
        block.note_outputs(lane, router.fitting().word(0), router.owned.word(0));
    }

    /// Step 3: ejection of heads at their destinations, and allocation of outputs to heads that request an open
    /// channel.
    #[inline(never)]
    pub(super) fn decide_crowd(&mut self, routers: &mut [Router<M, Q, P>]) {
        let mut ejecting = std::mem::take(&mut self.dense.ejecting);
        for (node, input) in ejecting.drain(..) {
            let router = &mut routers[node as usize];
            router.unrouted.erase(input.into());
            self.start_consuming(router, node, input.into());
        }
        self.dense.ejecting = ejecting;
        for row in 0..self.dense.blocks.len().div_ceil(ROW) {
            let visited = self.dense.step_row(self.rules.layout, row, self.clock);
            for at in Members(visited) {
                let node = row * ROW * LANES + at;
                self.allocate(&mut routers[node], node as u32, at);
            }
        }
    }

    /// Allocates the open output channels that heads of a router request, `at` in its row.
    #[inline(always)]
    fn allocate(&mut self, router: &mut Router<M, Q, P>, node: u32, at: usize) {
        let (block, lane) = (at / LANES, at % LANES);
        let wanted = M::of_word(self.dense.wanted[block].0[lane].word(), 0);
        let (mut ports, mut winners) = (M::EMPTY, M::EMPTY);
        for output in Members(wanted) {
            let port = self.rules.port_of(output);
            let is_free = self.is_free(router, port);
            let asking = M::of_word(self.dense.asking[block][output].0[lane].word(), 0);
            let winner = match self.rules.plain_arbitration {
                true => asking.after(router.last_winner(output)),
                false => self.choose(router, node, output, asking),
            };
            router.give(output, winner);
            winners.insert(winner);
            self.waiting_heads -= 1;
            if is_free && self.channels_of(wanted, port).is_power_of_two() {
                self.send::<true>(router, node, output, winner);
            } else {
                ports = ports | M::bit_if(port, is_free);
                router.granted.insert(output);
            }
        }
        for port in Members(ports) {
            self.start::<true>(router, node, port);
        }
        let (block, lane) = self.dense.of(node);
        block.remove(lane, L::Inputs::of(winners.word(0)));
        block.note_outputs(lane, router.fitting().word(0), router.owned.word(0));
    }
}
