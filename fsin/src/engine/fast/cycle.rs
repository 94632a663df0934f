//! One cycle of the fast engine, step by step.

use trgen::rng::{mix2, pick};
use trgen::{Cycle, NodeId};

use super::state::{Bits, NONE, Packet, after};
use super::{Fast, event};
use crate::network::Notices;
use crate::router::request::{Head, Input, OutputVc, Surroundings, draw_direction, packet_key};
use crate::router::{Consumption, Inject, SourceQueue};
use crate::stats::Receipt;
use crate::topology::Port;

/// The bit of [`Node::awake`](super::state::Node) that stands for no input.
const NOBODY: u64 = 1 << 63;

/// What a head at a node sees.
pub(super) struct Near<'a> {
    engine: &'a Fast,
    node: usize,
    open: u64,
}

impl Surroundings for Near<'_> {
    #[inline]
    fn open(&self, port: Port) -> u32 {
        let vcs = self.engine.params.vcs;
        (self.open >> (port.index() * vcs)) as u32 & ((1u64 << vcs) - 1) as u32
    }

    fn space_ahead(&self, output: OutputVc) -> Option<u32> {
        let engine = self.engine;
        let next = engine.links[self.node << engine.link_bits | output.port.index()].downstream;
        if next == NONE {
            return None;
        }
        let queue = &engine.queues[(next as usize) << engine.queue_bits | output.index(engine.params.vcs)];
        Some(engine.params.queue_phits() - queue.phits(engine.tail + 1, engine.clock))
    }

    fn has_room(&self, output: OutputVc, packets: u32) -> bool {
        let engine = self.engine;
        let queue = &engine.queues[self.node << engine.queue_bits | output.index(engine.params.vcs)];
        queue.has_room(packets, engine.params.queue_packets, engine.tail + 1, engine.clock)
    }
}

impl Fast {
    /// Simulates the cycle at which the clock stands.
    pub(super) fn step(&mut self, notices: &mut Notices) {
        if !self.sending.is_empty() {
            let sending = std::mem::take(&mut self.sending);
            for &node in &sending {
                self.endpoints[node as usize].sending = false;
                self.generate(node as usize, notices);
            }
            recycle(&mut self.sending, sending);
        }
        if !self.injecting.is_empty() {
            let injecting = std::mem::take(&mut self.injecting);
            for &node in &injecting {
                self.endpoints[node as usize].injecting = false;
                self.fill(node as usize);
            }
            recycle(&mut self.injecting, injecting);
        }
        let looking = std::mem::take(&mut self.looking);
        // From here on, whoever is woken is looked at in the next cycle.
        self.turn ^= 1;
        for &node in &looking {
            self.decide(node as usize);
        }
        recycle(&mut self.looking, looking);

        let events = self.wheel.take(self.clock);
        for &event in &events {
            let place = (event >> 2) as usize;
            match event & 3 {
                event::LEFT => self.left(place),
                event::CONSUMED => self.consumed(place, notices),
                _ => self.injected(place),
            }
        }
        self.wheel.recycle(self.clock, events);
        if notices.sent.len() > 1 {
            notices.sent.sort_unstable_by_key(|message| message.source);
        }
        if notices.delivered.len() > 1 {
            notices.delivered.sort_unstable_by_key(|delivery| {
                (delivery.message.destination, delivery.message.source, delivery.message.id)
            });
        }
    }

    /// Step 1: one packet of the message in front enters the least occupied injector's source buffer, if it fits.
    fn generate(&mut self, node: usize, notices: &mut Notices) {
        let Some(slot) = self.interface.front(node) else { return };
        let injectors = self.params.injectors;
        let injector = if injectors == 1 { 0 } else { self.least_occupied(node) };
        let buffer = node * injectors + injector;
        if u32::from(self.buffers[buffer].count) >= self.params.injection_queue_packets {
            // The buffer wakes the interface when it gives up a packet.
            return;
        }
        let (message, offered) = self.interface.message(slot);
        let (source, destination) = (message.source, message.destination);
        let sequence = self.endpoints[node].sequence;
        self.endpoints[node].sequence += 1;
        let key = packet_key(self.params.seed, source, sequence);
        let packet = Packet {
            next: NONE,
            destination: destination.0,
            key,
            start: match self.params.source_queue {
                SourceQueue::Throttled => self.clock,
                SourceQueue::Open => offered.0,
            },
            sequence,
            source: source.0,
            message: slot,
            hops: 0,
        };
        let offsets = self.topology.offsets(source, destination, &mut |dimension| draw_direction(key, dimension));
        let dimensions = self.shape.dimensions;
        let handle = match self.vacant.pop() {
            Some(handle) => {
                self.packets[handle as usize] = packet;
                self.offsets[handle as usize * dimensions..][..dimensions].copy_from_slice(&offsets[..dimensions]);
                handle
            }
            None => {
                self.packets.push(packet);
                self.offsets.extend_from_slice(&offsets[..dimensions]);
                (self.packets.len() - 1) as u32
            }
        };
        let buffer = &mut self.buffers[buffer];
        buffer.waiting.push(&mut self.packets, handle);
        buffer.count += 1;
        self.interface.packet_sent(node, notices);
        self.recorder.injected();
        self.wake_buffers(node);
        if self.interface.front(node).is_some() {
            self.wake_interface(node);
        }
    }

    fn least_occupied(&self, node: usize) -> usize {
        let injectors = self.params.injectors;
        let occupied = |&injector: &usize| {
            let queue = &self.queues[node << self.queue_bits | (self.outputs + injector)];
            let phits = queue.phits(self.tail + 1, self.clock);
            (self.buffers[node * injectors + injector].count, phits, injector)
        };
        (0..injectors).min_by_key(occupied).unwrap_or(0)
    }

    /// Step 2: from the source buffers to the injection queues.
    fn fill(&mut self, node: usize) {
        let injectors = self.params.injectors;
        match self.params.inject {
            Inject::Parallel => {
                for injector in 0..injectors {
                    while self.can_fill(node, injector) {
                        self.enter_injection_queue(node, injector, 0);
                    }
                }
            }
            Inject::Serial => {
                if self.endpoints[node].serial_busy {
                    return;
                }
                let ready = (0..injectors)
                    .filter(|&injector| self.can_fill(node, injector))
                    .fold(0u64, |ready, injector| ready | 1 << injector);
                if ready != 0 {
                    let injector = after(ready, self.endpoints[node].serial.into()) as u8;
                    self.endpoints[node].serial = injector;
                    self.endpoints[node].serial_busy = true;
                    self.enter_injection_queue(node, injector.into(), self.clock);
                    self.wheel.push(self.clock + self.tail, (node as u64) << 2 | event::INJECTED);
                }
            }
        }
    }

    /// True if a packet waits in this source buffer and the injection queue has room for it.
    fn can_fill(&self, node: usize, injector: usize) -> bool {
        self.buffers[node * self.params.injectors + injector].waiting.first().is_some()
            && self.queues[node << self.queue_bits | (self.outputs + injector)].count < self.params.queue_packets
    }

    /// `arrived` is the cycle of the first phit, or 0 if all phits move at once.
    fn enter_injection_queue(&mut self, node: usize, injector: usize, arrived: u64) {
        let buffer = &mut self.buffers[node * self.params.injectors + injector];
        let Some(packet) = buffer.waiting.pop(&self.packets) else { return };
        buffer.count -= 1;
        self.wake_interface(node);
        self.enter(node, self.outputs + injector, packet, arrived);
    }

    /// A packet's header enters a queue; from the next time that its node is looked at it can be routed.
    #[inline]
    fn enter(&mut self, node: usize, input: usize, packet: u32, arrived: u64) {
        let queue = &mut self.queues[node << self.queue_bits | input];
        let first = queue.waiting.first().is_none() && queue.leaving == NONE;
        queue.waiting.push(&mut self.packets, packet);
        queue.count += 1;
        queue.arrived = arrived;
        if first {
            self.wake_head(node, input);
        }
    }

    /// Step 3: heads that are awake ask, outputs that nobody owns are given away, and free links take headers.
    fn decide(&mut self, node: usize) {
        let this = &mut self.nodes[node];
        let look = std::mem::take(&mut this.awake[self.turn ^ 1]) & this.unrouted;
        let mut starting = std::mem::take(&mut this.freed);
        let mut wanted = 0u64;
        for input in Bits(look) {
            let Some(packet) = self.queues[node << self.queue_bits | input].waiting.first() else { continue };
            if self.packets[packet as usize].destination as usize == node {
                self.nodes[node].unrouted &= !(1 << input);
                match self.params.consumption {
                    Consumption::Multiple => self.start_consuming(node, input),
                    Consumption::Single => self.endpoints[node].arrived |= 1 << input,
                }
                continue;
            }
            let head = self.head(node, input, packet);
            match self.requests.request(&head, &self.near(node)) {
                Some(output) => {
                    let output = output.index(self.params.vcs);
                    let asking = &mut self.asking[output & 63];
                    *asking = if wanted & 1 << output == 0 { 1 << input } else { *asking | 1 << input };
                    wanted |= 1 << output;
                }
                None if self.requests.may_change_its_mind(&head, &self.near(node)) => self.wake(node, 1 << input),
                None => {
                    let interest = self.requests.interest(&head);
                    let first = node << self.link_bits;
                    for port in Bits(interest.adaptive) {
                        self.links[first | port].sleepers[0] |= 1 << input;
                    }
                    for port in Bits(interest.deterministic) {
                        self.links[first | port].sleepers[1] |= 1 << input;
                    }
                }
            }
        }
        if self.params.consumption == Consumption::Single {
            self.consume_one(node);
        }
        for output in Bits(wanted) {
            starting |= self.grant(node, output);
        }
        for port in Bits(starting.into()) {
            self.start(node, port);
        }
    }

    /// Gives the single consumption port to one of the inputs that wait for it.
    fn consume_one(&mut self, node: usize) {
        let this = &mut self.endpoints[node];
        if this.arrived != 0 && !this.consuming {
            let input = after(this.arrived, this.last_consumed.into());
            this.arrived &= !(1 << input);
            this.consuming = true;
            this.last_consumed = input as u8;
            self.start_consuming(node, input as usize);
        }
    }

    /// Gives an output channel to one of the inputs that ask for it. Returns its port, as a mask, if the link is free.
    #[inline]
    fn grant(&mut self, node: usize, output: usize) -> u32 {
        let asking = self.asking[output & 63];
        let mut candidates = asking;
        if self.params.in_transit_priority > 0.0 {
            let key = mix2(mix2(self.params.seed ^ node as u64, output as u64), self.clock);
            let transit = asking & ((1u64 << self.outputs) - 1);
            let first = f64::from(pick(key, 1 << 24)) < self.params.in_transit_priority * f64::from(1 << 24);
            if first && transit != 0 {
                candidates = transit;
            }
        }
        let channel = &mut self.channels[node << self.queue_bits | output];
        let winner = after(candidates, channel.last_winner.into());
        channel.last_winner = winner as u8;
        channel.owner = winner as u8;
        let this = &mut self.nodes[node];
        this.open &= !(1 << output);
        this.owned |= 1 << output;
        this.granted |= 1 << output;
        this.unrouted &= !(1 << winner);
        let port = 1 << self.channel_of[output & 63].port.index();
        let free = port & !this.busy;
        let losers = asking & !(1 << winner);
        if losers != 0 {
            self.wake(node, losers);
        }
        free
    }

    /// Step 3, phase B: a free link takes the header of the next channel that has one.
    #[inline]
    fn start(&mut self, node: usize, port: usize) {
        let vcs = self.params.vcs;
        let link = &mut self.links[node << self.link_bits | port];
        let this = &mut self.nodes[node];
        let waiting = this.granted >> (port * vcs) & ((1 << vcs) - 1);
        if waiting == 0 {
            return;
        }
        let vc = after(waiting, link.last_vc.into()) as usize;
        let output = port * vcs + vc;
        link.last_vc = vc as u8;
        let next = link.downstream as usize;
        this.granted &= !(1 << output);
        this.busy |= 1 << port;
        let place = node << self.queue_bits | output;
        let channel = &mut self.channels[place];
        let input = usize::from(channel.owner);
        channel.credits -= 1;
        let Some(packet) = self.depart(node, input) else { return };
        let (dimension, positive) = self.shape.direction(Port(port as u8));
        self.offsets[packet as usize * self.shape.dimensions + dimension] -= if positive { 1 } else { -1 };
        let moved = &mut self.packets[packet as usize];
        moved.hops += 1;
        if input >= self.outputs {
            self.recorder.departed(self.clock - moved.start);
        }
        self.recorder.hop();
        self.wheel.push(self.clock + self.tail, (place as u64) << 2 | event::LEFT);
        self.enter(next, output, packet, self.clock);
    }

    fn start_consuming(&mut self, node: usize, input: usize) {
        if self.depart(node, input).is_some() {
            let queue = (node << self.queue_bits | input) as u64;
            self.wheel.push(self.clock + self.tail, queue << 2 | event::CONSUMED);
        }
    }

    /// The header of the first packet leaves its queue in this cycle.
    #[inline]
    fn depart(&mut self, node: usize, input: usize) -> Option<u32> {
        let queue = &mut self.queues[node << self.queue_bits | input];
        let packet = queue.waiting.pop(&self.packets)?;
        queue.departed = self.clock;
        queue.leaving = packet;
        self.moves_until = self.clock + self.tail;
        Some(packet)
    }

    /// Step 4: a tail has left through an output channel: channel and link are free.
    #[inline]
    fn left(&mut self, place: usize) {
        let (node, output) = (place >> self.queue_bits, place & ((1 << self.queue_bits) - 1));
        let vcs = self.params.vcs;
        let port = self.channel_of[output & 63].port.index();
        let this = &mut self.nodes[node];
        this.owned &= !(1 << output);
        this.busy &= !(1 << port);
        if this.granted >> (port * vcs) & ((1 << vcs) - 1) != 0 {
            this.freed |= 1 << port;
            self.wake(node, NOBODY);
        }
        let channel = self.channels[place];
        self.departed(node, channel.owner.into());
        if channel.credits > 0 {
            self.open(node, output);
        }
    }

    /// Step 4: a tail has been consumed.
    fn consumed(&mut self, place: usize, notices: &mut Notices) {
        let (node, input) = (place >> self.queue_bits, place & ((1 << self.queue_bits) - 1));
        let packet = self.queues[place].leaving;
        let this = &mut self.endpoints[node];
        if this.consuming {
            this.consuming = false;
            if this.arrived != 0 {
                self.wake(node, NOBODY);
            }
        }
        self.departed(node, input);
        let now = Cycle(self.clock);
        let gone = &self.packets[packet as usize];
        self.recorder.received(
            now,
            &Receipt {
                source: NodeId(gone.source),
                destination: NodeId(gone.destination),
                sequence: gone.sequence,
                latency: self.clock - gone.start,
                hops: gone.hops.into(),
            },
        );
        self.interface.packet_received(gone.message, now, notices);
        self.vacant.push(packet);
        self.in_flight -= 1;
    }

    /// Step 4: serial injection has moved a tail.
    fn injected(&mut self, node: usize) {
        self.endpoints[node].serial_busy = false;
        self.wake_buffers(node);
    }

    /// A tail has left a queue: the next head can be routed, and there is room for one more packet.
    #[inline]
    fn departed(&mut self, node: usize, input: usize) {
        let queue = &mut self.queues[node << self.queue_bits | input];
        queue.leaving = NONE;
        queue.count -= 1;
        if queue.waiting.first().is_some() {
            self.wake_head(node, input);
        }
        if input >= self.outputs {
            self.wake_buffers(node);
            return;
        }
        let port = self.channel_of[input & 63].port.index();
        let place = node << self.link_bits | port;
        // The bubble of this ring may have opened for those who want to enter it here.
        self.wake_sleepers(place, node, 1);
        if self.params.lbr > 0 {
            self.wake_sleepers(place, node, 0);
        }
        let behind = self.links[place].upstream as usize;
        let channel = &mut self.channels[behind << self.queue_bits | input];
        channel.credits += 1;
        if channel.credits == 1 && self.nodes[behind].owned & 1 << input == 0 {
            self.open(behind, input);
        }
    }

    /// An output channel is free and has room behind it.
    #[inline]
    fn open(&mut self, node: usize, output: usize) {
        self.nodes[node].open |= 1 << output;
        let OutputVc { port, vc } = self.channel_of[output & 63];
        let kind = usize::from(vc < self.requests.first_adaptive());
        self.wake_sleepers(node << self.link_bits | port.index(), node, kind);
    }

    /// Wakes the heads that sleep at a link until an adaptive (0) or deterministic (1) channel opens. Some of them may
    /// have gone on meanwhile: only those that are unrouted are looked at.
    #[inline]
    fn wake_sleepers(&mut self, link: usize, node: usize, kind: usize) {
        let sleepers = &mut self.links[link].sleepers[kind];
        if *sleepers != 0 {
            let woken = std::mem::take(sleepers) & self.nodes[node].unrouted;
            if woken != 0 {
                self.wake(node, woken);
            }
        }
    }

    /// A header has come to the head of a queue.
    #[inline]
    fn wake_head(&mut self, node: usize, input: usize) {
        self.nodes[node].unrouted |= 1 << input;
        self.wake(node, 1 << input);
    }

    /// These inputs (at least one bit) are looked at in the next step 3.
    #[inline]
    fn wake(&mut self, node: usize, inputs: u64) {
        let awake = &mut self.nodes[node].awake[self.turn];
        if *awake == 0 {
            self.looking.push(node as u32);
        }
        *awake |= inputs;
    }

    fn wake_buffers(&mut self, node: usize) {
        if !self.endpoints[node].injecting {
            self.endpoints[node].injecting = true;
            self.injecting.push(node as u32);
        }
    }

    pub(super) fn wake_interface(&mut self, node: usize) {
        if !self.endpoints[node].sending {
            self.endpoints[node].sending = true;
            self.sending.push(node as u32);
        }
    }

    #[inline]
    pub(super) fn near(&self, node: usize) -> Near<'_> {
        Near { engine: self, node, open: self.nodes[node].open }
    }

    #[inline]
    pub(super) fn head(&self, node: usize, input: usize, packet: u32) -> Head<'_> {
        let dimensions = self.shape.dimensions;
        Head {
            node: NodeId(node as u32),
            input: if input < self.outputs { Input::Transit(self.channel_of[input & 63]) } else { Input::Injection },
            offsets: &self.offsets[packet as usize * dimensions..][..dimensions],
            key: self.packets[packet as usize].key,
            now: self.clock,
        }
    }
}

/// Keeps the memory of a list that has been worked off.
fn recycle(list: &mut Vec<u32>, mut done: Vec<u32>) {
    if list.is_empty() {
        done.clear();
        *list = done;
    }
}
