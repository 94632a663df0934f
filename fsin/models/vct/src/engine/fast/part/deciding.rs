//! Step 3: route computation, allocation of outputs, and link traversal of headers.

use trgen::NodeId;

use super::super::bets::first_request;
use super::super::mask::{Mask, Members};
use super::super::moves::{Moves, Stamp};
use super::super::state::{List, Router};
use super::local_view::head;
use super::{Abroad, Event, Left, Works};
use crate::router::Inject;
use crate::router::arbitration::{Contender, arbiter_key, transit_first, winner};
use crate::router::layout::{Layout, is_switched};
use crate::router::request::{OutputState, Wait, WakeCondition};
use fsin_core::topology::Port;

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// Step 3, at the scheduled nodes: route computation for heads that are awake, allocation of free outputs, and free
    /// links that take headers.
    #[inline(never)]
    pub(super) fn decide_all(&mut self, routers: &mut [Router<M, Q, P>]) {
        // Heads that wake from here on are examined in the next cycle.
        std::mem::swap(&mut self.looking, &mut self.looked);
        self.looking.reset(routers.len());
        let looked = std::mem::replace(&mut self.looked, List::EMPTY);
        if self.is_far {
            self.decide_far(routers, looked.all());
        } else {
            for &node in looked.all() {
                self.decide(&mut routers[node as usize], node);
            }
        }
        self.looked = looked;
    }

    /// Step 3: links that have become free take headers of packets that wait for them.
    #[inline(always)]
    pub(super) fn start_freed<const DENSE: bool>(&mut self, routers: &mut [Router<M, Q, P>]) {
        let freed = std::mem::replace(&mut self.freed, List::EMPTY);
        for &(node, port) in freed.all() {
            let router = &mut routers[node as usize];
            self.start::<DENSE>(router, node, port.into());
            if DENSE {
                self.note_outputs(router, node);
            }
        }
        self.freed = freed;

        let headers = self.headers.len() + self.outbox.iter().map(|mail| mail.headers.len()).sum::<usize>();
        self.report.hops += headers as u64;
        if L::IS_DENSE {
            self.dense.hops += headers as u64;
        }
        if headers > 0 {
            self.moves_until(self.clock + self.rules.tail);
        }
    }

    /// Step 3 at one node.
    #[inline(always)]
    pub(super) fn decide(&mut self, router: &mut Router<M, Q, P>, node: u32) {
        let grantable = self.grantable(router, node);
        let look = router.take_awake();
        if self.rules.more_than_heads {
            return self.decide_more(router, node, look, grantable);
        }
        if !grantable.is_empty() || (!look.is_empty() && !look.rest().is_empty()) {
            self.decide_several(router, node, look, grantable);
        } else if !look.is_empty() {
            let input = look.least();
            if let Some(output) = self.ask(router, node, input) {
                let is_free = self.is_free(router, self.rules.port_of(output));
                router.give(output, input);
                self.granted(node, input);
                match is_free {
                    true => self.send::<false>(router, node, output, input),
                    false => router.granted.insert(output),
                }
            }
        }
    }

    /// Step 3 at a node that decides about more than its heads: the grants of ejection ports, or its timer.
    #[inline(never)]
    fn decide_more(&mut self, router: &mut Router<M, Q, P>, node: u32, look: M, grantable: M) {
        if self.timers.is_empty() {
            return self.decide_several(router, node, look, grantable);
        }
        let headers = self.going_on(router, node, look);
        self.decide_several(router, node, look, grantable);
        self.step_timer(router, node, headers);
    }

    /// The transit queues with a header that has further hops to go. The headers of the inputs `look` may have arrived
    /// at their destination.
    fn going_on(&self, router: &Router<M, Q, P>, node: u32, look: M) -> M {
        let number = self.first + node;
        let destination = |input: usize| self.packets[router.head(input)].destination;
        let arrived = Members(look)
            .filter(|&input| destination(input) == number)
            .fold(M::EMPTY, |mask, input| mask | M::bit(input));
        router.unrouted & !arrived & M::below(self.rules.outputs())
    }

    /// Advances the congestion timer of a node, after the allocation of outputs.
    fn step_timer(&mut self, router: &mut Router<M, Q, P>, node: u32, headers: M) {
        let queues = self.rules.outputs();
        let blocked = headers & router.unrouted;
        let member_of = |mask: M| move |queue: usize| mask.has(queue);
        let is_cleared = self.timers[node as usize].step(self.clock, queues, member_of(headers), member_of(blocked));
        // Headers whose injection was restricted may try now.
        let injecting = router.unrouted & !M::below(queues);
        if is_cleared && self.rules.lbr > 0 {
            self.wake(router, node, injecting);
        }
    }

    /// Route computation and allocation for any number of heads.
    #[inline(never)]
    fn decide_several(&mut self, router: &mut Router<M, Q, P>, node: u32, look: M, grantable: M) {
        let mut wanted = if grantable.is_empty() { M::EMPTY } else { self.ask_waiting(router, node, grantable) };
        for input in Members(look) {
            if let Some(output) = self.ask(router, node, input) {
                let asking = &mut self.asking[output];
                *asking = if wanted.has(output) { *asking | M::bit(input) } else { M::bit(input) };
                wanted.insert(output);
            }
        }
        if self.rules.ejection_ports > 0 {
            self.consume_some(router, node);
        }
        let mut ports = M::EMPTY;
        for output in Members(wanted) {
            let port = self.rules.port_of(output);
            let is_free = self.is_free(router, port);
            let winner = self.grant(router, node, output);
            if is_free && self.channels_of(wanted, port).is_power_of_two() {
                self.send::<false>(router, node, output, winner);
            } else {
                ports = ports | M::bit_if(port, is_free);
                router.granted.insert(output);
            }
        }
        for port in Members(ports) {
            self.start::<false>(router, node, port);
        }
        self.watch_waiting(router, node);
    }

    /// Open channels that the blocked heads of a node's [set](Bets) may be granted now or later.
    #[inline(always)]
    fn grantable(&self, router: &Router<M, Q, P>, node: u32) -> M {
        if !router.has_sleepers(M::EMPTY) {
            return M::EMPTY;
        }
        self.bets.get(node as usize).map_or(M::EMPTY, |bets| bets.grantable(&self.rules, router))
    }

    /// Collects the requests of the blocked heads of a node's [set](Bets) for `grantable` channels. Returns the outputs
    /// requested.
    #[inline(always)]
    fn ask_waiting(&mut self, router: &Router<M, Q, P>, node: u32, grantable: M) -> M {
        let (rules, bets, mut wanted) = (&self.rules, &mut self.bets[node as usize], M::EMPTY);
        bets.advance(rules, router.fitting(), self.clock);
        bets.ask(rules, router, grantable, |output, inputs| {
            self.asking[output] = inputs;
            wanted = wanted | M::bit_if(output, !inputs.is_empty());
        });
        wanted
    }

    /// Schedules the node for the next cycle if some blocked head may be granted a channel then.
    #[inline(always)]
    fn watch_waiting(&mut self, router: &mut Router<M, Q, P>, node: u32) {
        let is_needed = !self.grantable(router, node).is_empty();
        self.wake(router, node, M::bit_if(Router::<M, Q, P>::NO_INPUT, is_needed));
    }

    /// Adds a blocked head to its node's [set](Bets), with this bet from the next cycle on.
    fn wait_with_others(&mut self, router: &Router<M, Q, P>, node: u32, input: usize, bet: u8) {
        let (bets, packet) = (&mut self.bets[node as usize], &self.packets[router.head(input)]);
        let next = self.clock + 1;
        bets.advance(&self.rules, router.fitting(), next);
        bets.insert(&self.rules, input, bet, packet.candidates, next);
        self.waiting_heads += 1;
    }

    /// Resets the bet of an input whose head has been granted an output.
    #[inline(always)]
    fn granted(&mut self, node: u32, input: usize) {
        if let Some(bet) = self.single_bets.get_mut(node as usize * Q + input) {
            *bet = 0;
        }
    }

    /// The output channel that the head of a queue requests. A head at its destination turns to ejection; one without a
    /// request goes to sleep.
    #[inline(always)]
    fn ask(&mut self, router: &mut Router<M, Q, P>, node: u32, input: usize) -> Option<usize> {
        let rules = &self.rules;
        let packet = &self.packets[router.head(input)];
        if packet.destination == self.first + node {
            router.unrouted.erase(input);
            match rules.ejection_ports {
                1.. => self.endpoints[node as usize].arrived.insert(input),
                0 => self.start_consuming(router, node, input),
            }
            return None;
        }
        if L::MAY_BE_DIRECT && rules.requests.is_plain() {
            let bets = &self.bets[node as usize];
            let (asked, bet) = first_request(rules, router, bets, input, packet.candidates, self.clock);
            if asked.is_some_and(|output| router.open().has(output)) {
                self.new_bets[input] = bet;
                return asked;
            }
            self.wait_with_others(router, node, input, bet);
            self.watch_waiting(router, node);
            return None;
        }
        if L::MAY_BE_SWITCHED && rules.requests.masks_space() {
            return self.ask_for_space(router, node, input);
        }
        self.ask_alone(router, node, input)
    }

    /// The output channel that the head of a queue requests, for a head outside the set of blocked heads.
    #[inline(always)]
    fn ask_alone(&mut self, router: &mut Router<M, Q, P>, node: u32, input: usize) -> Option<usize> {
        let rules = &self.rules;
        let packet = &self.packets[router.head(input)];
        let keeps_bets = rules.requests.keeps_bets();
        // In routers with more queues than a mask of one word has bits, packets have no candidate mask.
        let open = router.open().word(0) & packet.candidates != 0 || (M::SIZE > 64 && !router.open().is_empty());
        if !open && !keeps_bets {
            self.put_to_sleep(router, node, input, Wait::Opening);
            return None;
        }
        let head = head(rules, self.first + node, input, packet, self.clock);
        let view = self.local_view(router, node);
        let place = node as usize * Q + input;
        let mut bet = self.single_bets.get(place).copied().unwrap_or(0);
        let asked = rules.requests.request_open(&head, &mut bet, &view);
        let output = asked.ok().map(|output| output.index(rules.layout.vcs()));
        if let Some(kept) = self.single_bets.get_mut(place) {
            *kept = bet;
        }
        match asked {
            Ok(_) => {}
            Err(Wait::Poll) => self.wake(router, node, M::bit(input)),
            Err(wait) => self.put_to_sleep(router, node, input, wait),
        }
        output
    }

    /// Puts a head to sleep that cannot be granted anything, until one of its wake-up conditions holds.
    fn put_to_sleep(&mut self, router: &mut Router<M, Q, P>, node: u32, input: usize, wait: Wait) {
        let rules = &self.rules;
        let packet = &self.packets[router.head(input)];
        let gates = &mut self.gates[rules.place(node, 0)..];
        let head = head(rules, self.first + node, input, packet, self.clock);
        rules.requests.wake_conditions(&head, wait, |port, on| gates[port.index()].sleep(input, on));
    }

    /// Grants the single ejection port to one of the inputs that wait for it.
    fn consume_some(&mut self, router: &mut Router<M, Q, P>, node: u32) {
        loop {
            let this = &self.endpoints[node as usize];
            if this.arrived.is_empty() || u32::from(this.consuming) >= self.rules.ejection_ports {
                return;
            }
            let input = match self.rules.plain_arbitration {
                true => this.arrived.after(this.last_consumed.into()),
                false => self.choose(router, node, self.rules.outputs(), this.arrived),
            };
            let this = &mut self.endpoints[node as usize];
            this.arrived.erase(input);
            this.consuming += 1;
            this.last_consumed = input as u16;
            self.start_consuming(router, node, input);
        }
    }

    /// Grants an output channel to one of the inputs that request it, and returns that input.
    #[inline(always)]
    fn grant(&mut self, router: &mut Router<M, Q, P>, node: u32, output: usize) -> usize {
        let asking = self.asking[output];
        let winner = match self.rules.plain_arbitration {
            true => asking.after(router.last_winner(output)),
            false => self.choose(router, node, output, asking),
        };
        router.give(output, winner);
        self.granted(node, winner);
        let losers = asking & !M::bit(winner);
        match self.bets.get_mut(node as usize) {
            None => self.wake(router, node, losers),
            Some(bets) => {
                let waiting = bets.waiting();
                if waiting.has(winner) {
                    bets.remove(&self.rules, winner);
                    self.waiting_heads -= 1;
                }
                for input in Members(losers & !waiting) {
                    self.wait_with_others(router, node, input, self.new_bets[input]);
                }
            }
        }
        winner
    }

    /// The winner among the inputs `asking` (at least one) of an output, or of the ejection port, whose number follows
    /// those of the outputs. For arbitrations other than plain round robin.
    #[inline(never)]
    pub(super) fn choose(&self, router: &Router<M, Q, P>, node: u32, output: usize, asking: M) -> usize {
        let rules = &self.rules;
        let key = arbiter_key(rules.seed, self.first + node, output, self.clock);
        let transit = asking & M::below(rules.outputs());
        let is_output = output < rules.outputs();
        let last = match is_output {
            true => router.last_winner(output),
            false => self.endpoints[node as usize].last_consumed.into(),
        };
        let priority = if self.local_view(router, node).restricts() { rules.in_transit_priority } else { 0.0 };
        let first = is_output && !transit.is_empty() && transit_first(key, priority);
        let candidates = if first { transit } else { asking };
        let asks = |input: usize| candidates.has(input);
        let inputs = rules.outputs() + rules.injectors;
        let contender = |input| self.contender(router, node, input);
        winner(rules.arbitration, inputs, last, key, asks, contender).unwrap_or(last)
    }

    /// An input as the arbiters see it.
    fn contender(&self, router: &Router<M, Q, P>, node: u32, input: usize) -> Contender {
        let rules = &self.rules;
        let transit = input < rules.outputs();
        // Injection queues have been filled in this cycle already.
        let now = if transit { self.clock } else { self.clock + 1 };
        let index = node as usize * Q + input;
        let phits = |moves: &Moves| match rules.is_paced {
            true => router.count(input) * rules.packet_phits,
            false => moves.phits(router.count(input), false, rules.packet_phits, now),
        };
        Contender {
            since: self.since.get(index).copied().unwrap_or(0),
            phits: self.moves.get(index).map_or(0, phits),
            start: self.packets[router.head(input)].start,
            vc: transit.then(|| rules.channel(input).vc),
        }
    }

    /// Phase B: lets a free link take the header of a packet that waits for it.
    #[inline(always)]
    pub(super) fn start<const DENSE: bool>(&mut self, router: &mut Router<M, Q, P>, node: u32, port: usize) {
        let waiting = self.waiting(router, port);
        if waiting != 0 {
            let first = port * self.rules.layout.vcs();
            let output = first + waiting.after(router.last_sent(port) - first);
            router.granted.erase(output);
            let input = router.last_winner(output);
            self.send::<DENSE>(router, node, output, input);
        }
    }

    /// Lets a free link take the header of the packet at the head of `input`, which has been granted `output`.
    #[inline(always)]
    pub(super) fn send<const DENSE: bool>(
        &mut self,
        router: &mut Router<M, Q, P>,
        node: u32,
        output: usize,
        input: usize,
    ) {
        let rules = &self.rules;
        let port = rules.port_of(output);
        let handle = router.head(input);
        if !DENSE && router.room_behind(output) == 1 {
            self.before_change(router, node, output, self.clock + 1);
        }
        let rules = &self.rules;
        let packet = &mut self.packets[handle];
        router.leave(input, packet);
        let fills = router.send(output, port);
        let next = router.downstream[port];

        let (here, there) = (NodeId(self.first + node), NodeId(packet.destination));
        let through = Port::at(port);
        let is_last = rules.requests.hop(here, there, packet.key, through, &mut packet.offsets);
        packet.candidates =
            rules.requests.candidates_next(packet.candidates, through, is_last, &packet.offsets, packet.is_long());
        packet.hops += 1;
        let (sender, behind) = (node, std::mem::replace(&mut packet.behind, node));
        if input >= rules.outputs() {
            self.report.waited.record(self.clock - packet.start);
        }
        let left = Left { node, behind, output: output as u16, input: input as u16 };
        if self.is_watched {
            self.see(router, node, input, Some(output as u16), handle);
            self.record_departure(left, handle, next);
        } else {
            if is_switched!(self.rules.layout, L) && self.rules.compares_space {
                self.record_space(left);
            }
            self.crossing.add(self.clock + self.rules.tail, left);
        }
        if next < self.own {
            self.headers.push((next, output as u16, handle));
        } else {
            let Abroad { part, node } = self.border[(next - self.own) as usize];
            self.outbox[part as usize].headers.push((node, output as u16, self.packets[handle]));
            self.packets.release(handle);
            if fills {
                self.filled_beyond.push((sender, output as u16));
            }
        }
        if input < self.rules.outputs() {
            self.notify_remote_sender(behind, input);
        }
        if !DENSE && fills && self.rules.wakes_when_filled && router.has_sleepers(M::EMPTY) {
            let woken = self.woken(router, sender, port, WakeCondition::Filled);
            self.wake(router, sender, woken);
        }
    }

    /// Schedules the departure of a packet's tail over a link to `next`, and writes the optional records of its header,
    /// for link statistics or for the rules.
    #[inline(never)]
    fn record_departure(&mut self, left: Left, handle: u32, next: u32) {
        let Left { node, output, input, .. } = left;
        let (output, input) = (usize::from(output), usize::from(input));
        if self.rules.compares_space {
            self.record_space(left);
        }
        match self.pacing.is_some() {
            true => self.cross_paced(left, handle, next),
            false => self.crossing.add(self.clock + self.rules.tail, left),
        }
        if !self.rules.outages.is_empty() {
            self.record_damage(node, self.rules.port_of(output), handle);
        }
        if let Some(crossed) = self.crossed.get_mut(self.rules.place(node, self.rules.port_of(output))) {
            *crossed += 1;
        }
        self.record_leaving(node, input);
    }

    /// Records what a header takes of the space ahead, and what it gives of that ahead of the upstream node.
    #[inline(always)]
    fn record_space(&mut self, Left { node, behind, output, input }: Left) {
        self.ahead[node as usize * Q + usize::from(output)].sent = self.clock;
        self.record_space_behind(behind, input.into());
    }

    /// Records that a header begins to leave a transit queue, where its upstream node is in this partition.
    #[inline(always)]
    fn record_space_behind(&mut self, behind: u32, input: usize) {
        if input < self.rules.outputs() && behind < self.own {
            self.ahead[behind as usize * Q + input].departed = self.clock;
        }
    }

    /// Records the damage of a packet whose header leaves a node in this cycle, if its link is dead when it comes off.
    fn record_damage(&mut self, node: u32, port: usize, handle: u32) {
        let (here, port) = (NodeId(self.first + node), Port::at(port));
        let Some(outage) = self.rules.outages.get(&(here, port)) else { return };
        let Some(there) = self.rules.topology.neighbour(here, port) else { return };
        let wire = u64::from(self.rules.hop_delays.to(there.index(), port.index()));
        let tail = match &mut self.pacing {
            Some(pacing) => pacing.last_off(handle),
            None => self.clock + self.rules.tail + wire,
        };
        if outage.meets(self.clock + wire, tail) {
            let packet = &self.packets[handle];
            self.report.damaged.push((NodeId(packet.source()), packet.sequence));
        }
    }

    /// Begins the ejection of the packet at the head of an input.
    #[inline(always)]
    pub(super) fn start_consuming(&mut self, router: &mut Router<M, Q, P>, node: u32, input: usize) {
        let handle = router.head(input);
        let packet = &mut self.packets[handle];
        router.leave(input, packet);
        let behind = packet.behind;
        let mut last = self.clock + self.rules.tail;
        if self.is_watched {
            self.see(router, node, input, None, handle);
            self.record_leaving(node, input);
            last = self.last_ejected(input, handle);
        }
        if (is_switched!(self.rules.layout, L) || self.is_watched) && self.rules.compares_space {
            self.record_space_behind(behind, input);
        }
        self.ring.add(last, Event::Consumed { node, behind, input: input as u16, packet: handle });
        if input < self.rules.outputs() {
            self.notify_remote_sender(behind, input);
        }
        self.moves_until(last);
    }

    /// Records that a header begins to leave a queue, where the rules need it.
    #[inline(never)]
    fn record_leaving(&mut self, node: u32, input: usize) {
        if let Some(moves) = self.moves.get_mut(node as usize * Q + input) {
            moves.departed = Stamp::new(self.clock);
        }
        // The packet that waits for room in this injection queue may follow.
        if input >= self.rules.outputs() && self.rules.inject == Inject::Serial {
            self.wake_buffers(node);
        }
    }

    /// Notifies the upstream node, if it is remote, that a header begins to leave a transit queue.
    #[inline(always)]
    fn notify_remote_sender(&mut self, behind: u32, input: usize) {
        if let Some(&Abroad { part, node }) = self.border.get(behind.wrapping_sub(self.own) as usize) {
            self.outbox[part as usize].departures.push((node, input as u16));
        }
    }
}
