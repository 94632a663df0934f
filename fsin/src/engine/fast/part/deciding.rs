//! Step 3: heads ask, outputs are given away, and free links take headers.

use trgen::NodeId;

use super::super::state::{Bits, Stamp, after};
use super::near::head;
use super::{Abroad, Event, Left, Part};
use crate::router::arbitration::{Contender, arbiter_key, transit_first, winner};
use crate::router::layout::Layout;
use crate::router::request::{OutputVc, Surroundings};
use crate::topology::Port;

impl<L: Layout, const D: usize, const Q: usize, const P: usize> Part<L, D, Q, P> {
    /// Step 3: heads that are awake ask, outputs that nobody owns are given away, and free links take headers.
    #[inline(always)]
    pub(super) fn decide(&mut self, node: usize) {
        let router = &mut self.routers[node];
        let look = std::mem::take(&mut router.awake) & router.unrouted;
        let freed = std::mem::take(&mut router.freed);
        if look & look.wrapping_sub(1) == 0 && freed == 0 && !self.rules.more_than_heads {
            if look != 0 {
                self.decide_alone(node, look.trailing_zeros() as usize);
            }
        } else if self.timers.is_empty() {
            self.decide_all(node, look, freed);
        } else {
            let standing = self.standing(node, look);
            self.decide_all(node, look, freed);
            self.time(node, standing);
        }
    }

    /// The transit queues in which a header stands that has to go on; those of `look` may have arrived.
    pub(super) fn standing(&self, node: usize, look: u64) -> u64 {
        let (router, number) = (&self.routers[node], self.first + node as u32);
        let destination = |input: usize| self.packets[router.lanes[input].waiting.first() as usize].destination;
        let arrived = Bits(look).filter(|&input| destination(input) == number).fold(0, |mask, input| mask | 1 << input);
        router.unrouted & !arrived & ((1u64 << self.rules.outputs()) - 1)
    }

    /// Timers of congestion, after outputs have been given away.
    pub(super) fn time(&mut self, node: usize, standing: u64) {
        let (queues, router) = (self.rules.outputs(), &mut self.routers[node]);
        let blocked = standing & router.unrouted;
        let is = |mask: u64| move |queue: usize| mask & 1 << queue != 0;
        let is_cleared = self.timers[node].step(self.clock, queues, is(standing), is(blocked));
        // Who was kept from injecting may try now.
        let injecting = router.unrouted >> queues << queues;
        if is_cleared && injecting != 0 && router.wake(injecting) {
            self.looking.push(node as u32);
        }
    }

    /// One head asks, and there is nobody else to be considered.
    #[inline(always)]
    pub(super) fn decide_alone(&mut self, node: usize, input: usize) {
        let rules = &self.rules;
        let router = &mut self.routers[node];
        let handle = router.lanes[input].waiting.first();
        let packet = &mut self.packets[handle as usize];
        if packet.destination == self.first + node as u32 {
            router.unrouted &= !(1 << input);
            return self.start_consuming(node, input);
        }
        let output = match rules.requests.straight_on(input, &packet.offsets, router.open) {
            true => input,
            false => {
                let Some(output) = self.request(node, input) else { return };
                output
            }
        };
        let rules = &self.rules;
        let router = &mut self.routers[node];
        let lane = &mut router.lanes[output];
        lane.last_winner = input as u8;
        lane.owner = input as u8;
        router.open &= !(1 << output);
        router.unrouted &= !(1 << input);
        if router.busy & 1 << rules.port_of(output) != 0 {
            router.granted |= 1 << output;
            return;
        }
        let packet = &mut self.packets[handle as usize];
        let next = router.send(rules.channel(output), output, input, packet, self.clock);
        self.sent(node, output, input, next, handle);
    }

    /// Any number of heads ask.
    pub(super) fn decide_all(&mut self, node: usize, look: u64, freed: u64) {
        let mut starting = freed;
        let mut wanted = 0u64;
        for input in Bits(look) {
            if let Some(output) = self.ask(node, input) {
                let asking = &mut self.asking[output & 63];
                *asking = if wanted & 1 << output == 0 { 1 << input } else { *asking | 1 << input };
                wanted |= 1 << output;
            }
        }
        if self.rules.single_consumption {
            self.consume_one(node);
        }
        for output in Bits(wanted) {
            starting |= self.grant(node, output);
        }
        for port in Bits(starting) {
            let vcs = self.rules.layout.vcs();
            let router = &mut self.routers[node];
            let waiting = router.granted >> (port * vcs) & ((1 << vcs) - 1);
            if waiting != 0 {
                let vc = after(waiting, router.links[port].last_vc);
                let output = port * vcs + usize::from(vc);
                router.granted &= !(1 << output);
                let lane = &router.lanes[output];
                let input = usize::from(lane.owner);
                let handle = router.lanes[input].waiting.first();
                let channel = OutputVc { port: Port(port as u8), vc };
                let next = router.send(channel, output, input, &self.packets[handle as usize], self.clock);
                self.sent(node, output, input, next, handle);
            }
        }
    }

    /// The output channel that the head of a queue asks for. One that has arrived turns to consumption; one that asks for
    /// nothing goes to rest.
    #[inline(always)]
    pub(super) fn ask(&mut self, node: usize, input: usize) -> Option<usize> {
        let router = &mut self.routers[node];
        let packet = &self.packets[router.lanes[input].waiting.first() as usize];
        if packet.destination == self.first + node as u32 {
            router.unrouted &= !(1 << input);
            if self.rules.single_consumption {
                self.endpoints[node].arrived |= 1 << input;
            } else {
                self.start_consuming(node, input);
            }
            return None;
        }
        if self.rules.requests.straight_on(input, &packet.offsets, router.open) {
            return Some(input);
        }
        self.request(node, input)
    }

    /// The output channel that the head of a queue asks for, if it has not arrived and may not go straight on.
    #[inline(always)]
    pub(super) fn request(&mut self, node: usize, input: usize) -> Option<usize> {
        let packet = &self.packets[self.routers[node].lanes[input].waiting.first() as usize];
        let head = head(&self.rules, self.first + node as u32, input, packet, self.clock);
        let output = self.rules.requests.request(&head, &self.near(node));
        if output.is_none() {
            self.rest(node, input);
        }
        output.map(|output| output.index(self.rules.layout.vcs()))
    }

    /// A head has asked for nothing: it sleeps until something that matters to it changes.
    pub(super) fn rest(&mut self, node: usize, input: usize) {
        let router = &self.routers[node];
        let packet = &self.packets[router.lanes[input].waiting.first() as usize];
        let head = head(&self.rules, self.first + node as u32, input, packet, self.clock);
        let stays_awake = self.rules.requests.may_change_its_mind(&head, &self.near(node));
        let interest = self.rules.requests.interest(&head);
        let router = &mut self.routers[node];
        if stays_awake {
            if router.wake(1 << input) {
                self.looking.push(node as u32);
            }
            return;
        }
        for port in Bits(interest.adaptive) {
            self.sleepers[node * P + port][0] |= 1 << input;
        }
        for port in Bits(interest.deterministic) {
            self.sleepers[node * P + port][1] |= 1 << input;
        }
    }

    /// Gives the single consumption port to one of the inputs that wait for it.
    pub(super) fn consume_one(&mut self, node: usize) {
        let this = &self.endpoints[node];
        if this.arrived != 0 && !this.consuming {
            let input = match self.rules.plain_arbitration {
                true => after(this.arrived, this.last_consumed),
                false => self.choose(node, self.rules.outputs(), this.arrived),
            };
            let this = &mut self.endpoints[node];
            this.arrived &= !(1 << input);
            this.consuming = true;
            this.last_consumed = input;
            self.start_consuming(node, input.into());
        }
    }

    /// Gives an output channel to one of the inputs that ask for it. Returns its port, as a mask, if the link is free.
    #[inline(always)]
    pub(super) fn grant(&mut self, node: usize, output: usize) -> u64 {
        let rules = &self.rules;
        let asking = self.asking[output & 63];
        let chosen = if rules.plain_arbitration { None } else { Some(self.choose(node, output, asking)) };
        let router = &mut self.routers[node];
        let lane = &mut router.lanes[output];
        let winner = chosen.unwrap_or_else(|| after(asking, lane.last_winner));
        lane.last_winner = winner;
        lane.owner = winner;
        router.open &= !(1 << output);
        router.granted |= 1 << output;
        router.unrouted &= !(1 << winner);
        let losers = asking & !(1 << winner);
        if losers != 0 && router.wake(losers) {
            self.looking.push(node as u32);
        }
        1 << rules.port_of(output) & !router.busy
    }

    /// The one of the inputs `asking` (at least one) that is given an output, or the consumption port, whose number comes
    /// after those of outputs: where it is not simply the next one.
    #[inline(never)]
    pub(super) fn choose(&self, node: usize, output: usize, asking: u64) -> u8 {
        let (rules, number) = (&self.rules, self.first + node as u32);
        let key = arbiter_key(rules.seed, number, output, self.clock);
        let transit = asking & ((1u64 << rules.outputs()) - 1);
        let is_output = output < rules.outputs();
        let last = match is_output {
            true => self.routers[node].lanes[output].last_winner,
            false => self.endpoints[node].last_consumed,
        };
        let priority = if self.near(node).restricts() { rules.in_transit_priority } else { 0.0 };
        let first = is_output && transit != 0 && transit_first(key, priority);
        let candidates = if first { transit } else { asking };
        let asks = |input: usize| candidates & 1 << input != 0;
        let inputs = rules.outputs() + rules.injectors;
        let winner = winner(rules.arbitration, inputs, last.into(), key, asks, |input| self.contender(node, input));
        winner.map_or(last, |input| input as u8)
    }

    pub(super) fn contender(&self, node: usize, input: usize) -> Contender {
        let rules = &self.rules;
        let lane = &self.routers[node].lanes[input];
        let transit = input < rules.outputs();
        // Injection queues have been filled in this cycle already.
        let now = if transit { self.clock } else { self.clock + 1 };
        Contender {
            since: self.since.get(node * Q + input).copied().unwrap_or(0),
            phits: lane.phits(false, rules.packet_phits, now),
            start: self.packets[lane.waiting.first() as usize].start,
            vc: transit.then(|| rules.channel(input).vc),
        }
    }

    /// Phase B: a free link has taken the header of a packet from `input`, towards node `next`.
    #[inline(always)]
    pub(super) fn sent(&mut self, node: usize, output: usize, input: usize, next: u32, handle: u32) {
        let rules = &self.rules;
        let packet = &mut self.packets[handle as usize];
        let port = rules.port_of(output);
        let (here, there) = (NodeId(self.first + node as u32), NodeId(packet.destination));
        rules.requests.hop(here, there, packet.key, Port(port as u8), &mut packet.offsets);
        packet.hops += 1;
        if input >= rules.outputs() {
            self.report.waited.push(self.clock - packet.start);
        }
        if let Some(crossed) = self.crossed.get_mut(node * P + port) {
            *crossed += 1;
        }
        self.crossing.enter(Left { node: node as u32, output: output as u8, input: input as u8 });
        if (next as usize) < self.routers.len() {
            self.headers.push((next, output as u8, handle));
        } else {
            let Abroad { part, node } = self.border[next as usize - self.routers.len()];
            self.outbox[part as usize].headers.push((node, output as u8, self.packets[handle as usize]));
            self.vacant.push(handle);
        }
        if self.rules.compares_space {
            self.ahead[node * Q + output].sent = self.clock;
            self.tell_departure(node, input);
        }
    }

    pub(super) fn start_consuming(&mut self, node: usize, input: usize) {
        let router = &mut self.routers[node];
        let lane = &mut router.lanes[input];
        let packet = lane.waiting.first();
        lane.waiting.pop(&self.packets[packet as usize]);
        lane.departed = Stamp::new(self.clock);
        router.leaving |= 1 << input;
        self.report.moved = true;
        self.ring.enter(Event::Consumed { node: node as u32, input: input as u8, packet });
        if self.rules.compares_space {
            self.tell_departure(node, input);
        }
    }

    /// Tells the sender before a transit queue that a header has begun to leave it.
    pub(super) fn tell_departure(&mut self, node: usize, input: usize) {
        if input >= self.rules.outputs() {
            return;
        }
        let behind = self.routers[node].links[self.rules.port_of(input)].upstream as usize;
        if behind < self.routers.len() {
            self.ahead[behind * Q + input].departed = self.clock;
        } else {
            let Abroad { part, node } = self.border[behind - self.routers.len()];
            self.outbox[part as usize].departures.push((node, input as u8));
        }
    }
}
