//! One cycle of the fast engine, step by step.

use trgen::rng::{mix2, pick};
use trgen::{Cycle, NodeId};

use super::state::{Bits, NEVER, Packet, after};
use super::{Event, Fast};
use crate::network::Notices;
use crate::router::request::{Head, Input, OutputVc, Surroundings, draw_direction, packet_key};
use crate::router::{Consumption, Inject, SourceQueue};
use crate::stats::Receipt;
use crate::topology::Port;

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
        let next = engine.downstream[self.node * engine.shape.ports() + output.port.index()] as usize;
        let queue = engine.queues.get(next.checked_mul(engine.inputs)? + output.index(engine.params.vcs))?;
        Some(engine.params.queue_phits() - engine.phits_in(queue))
    }

    fn has_room(&self, output: OutputVc, packets: u32) -> bool {
        let engine = self.engine;
        let queue = &engine.queues[self.node * engine.inputs + output.index(engine.params.vcs)];
        queue.has_room(packets, engine.params.queue_packets, u64::from(engine.params.packet_phits), engine.clock)
    }
}

impl Fast {
    /// Simulates the cycle at which the clock stands.
    pub(super) fn step(&mut self, notices: &mut Notices) {
        let sending = std::mem::take(&mut self.sending);
        for &node in &sending {
            self.nodes[node as usize].sending = false;
            self.generate(node as usize, notices);
        }
        recycle(&mut self.sending, sending);

        let injecting = std::mem::take(&mut self.injecting);
        for &node in &injecting {
            self.nodes[node as usize].injecting = false;
            self.fill(node as usize);
        }
        recycle(&mut self.injecting, injecting);

        let looking = std::mem::take(&mut self.looking);
        for &node in &looking {
            self.nodes[node as usize].listed = false;
            self.decide(node as usize);
        }
        recycle(&mut self.looking, looking);

        let starting = std::mem::take(&mut self.starting);
        for &link in &starting {
            self.start(link as usize);
        }
        recycle(&mut self.starting, starting);

        let events = self.wheel.take(self.clock);
        for &event in &events {
            match event {
                Event::Left(output) => self.left(output as usize),
                Event::Consumed { queue, packet } => self.consumed(queue as usize, packet, notices),
                Event::Injected(node) => {
                    let node = node as usize;
                    let injector = usize::from(self.nodes[node].serial);
                    self.nodes[node].serial_busy = false;
                    self.buffers[node * self.params.injectors + injector].count -= 1;
                    self.wake_buffers(node);
                    self.wake_interface(node);
                }
            }
        }
        self.wheel.recycle(self.clock, events);
        notices.sent.sort_unstable_by_key(|message| message.source);
        notices.delivered.sort_unstable_by_key(|delivery| {
            (delivery.message.destination, delivery.message.source, delivery.message.id)
        });
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
        let sequence = self.nodes[node].sequence;
        self.nodes[node].sequence += 1;
        let key = packet_key(self.params.seed, source, sequence);
        let packet = Packet {
            next: super::NONE,
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
        let offsets =
            self.topology.offsets(source, destination, &mut |dimension| draw_direction(key, dimension));
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
            let queue = &self.queues[node * self.inputs + self.outputs + injector];
            (self.buffers[node * injectors + injector].count, self.phits_in(queue), injector)
        };
        (0..injectors).min_by_key(occupied).unwrap_or(0)
    }

    /// \[phits\] In a queue at the end of the cycle before the clock.
    fn phits_in(&self, queue: &super::Queue) -> u32 {
        let length = u64::from(self.params.packet_phits);
        let left = if queue.departed == NEVER { 0 } else { self.clock - queue.departed };
        let missing = if queue.count == 0 { 0 } else { length.saturating_sub(self.clock - queue.arrived) };
        (u64::from(queue.count) * length - left - missing) as u32
    }

    /// Step 2: from the source buffers to the injection queues.
    fn fill(&mut self, node: usize) {
        let injectors = self.params.injectors;
        match self.params.inject {
            Inject::Parallel => {
                for injector in 0..injectors {
                    while self.can_fill(node, injector) {
                        self.enter_injection_queue(node, injector, 0);
                        self.buffers[node * injectors + injector].count -= 1;
                        self.wake_interface(node);
                    }
                }
            }
            Inject::Serial => {
                if self.nodes[node].serial_busy {
                    return;
                }
                let ready = (0..injectors)
                    .filter(|&injector| self.can_fill(node, injector))
                    .fold(0u64, |ready, injector| ready | 1 << injector);
                if ready != 0 {
                    let injector = after(ready, self.nodes[node].serial.into()) as u8;
                    self.nodes[node].serial = injector;
                    self.nodes[node].serial_busy = true;
                    self.enter_injection_queue(node, injector.into(), self.clock);
                    self.wheel.push(self.clock + u64::from(self.params.packet_phits) - 1, Event::Injected(node as u32));
                }
            }
        }
    }

    /// True if a packet waits in this source buffer and the injection queue has room for it.
    fn can_fill(&self, node: usize, injector: usize) -> bool {
        self.buffers[node * self.params.injectors + injector].waiting.first().is_some()
            && u32::from(self.queues[node * self.inputs + self.outputs + injector].count) < self.params.queue_packets
    }

    /// `arrived` is the cycle of the first phit, or 0 if all phits move at once.
    fn enter_injection_queue(&mut self, node: usize, injector: usize, arrived: u64) {
        let Some(packet) = self.buffers[node * self.params.injectors + injector].waiting.pop(&self.packets) else {
            return;
        };
        self.enter(node, self.outputs + injector, packet, arrived);
    }

    /// A packet's header enters a queue; from the next time that its node is looked at it can be routed.
    fn enter(&mut self, node: usize, input: usize, packet: u32, arrived: u64) {
        let queue = &mut self.queues[node * self.inputs + input];
        let first = queue.waiting.first().is_none() && queue.departed == NEVER;
        queue.waiting.push(&mut self.packets, packet);
        queue.count += 1;
        queue.arrived = arrived;
        if first {
            self.nodes[node].unrouted |= 1 << input;
            self.wake(node, 1 << input);
        }
    }

    /// Step 3, phase A: heads that are awake ask, and outputs that nobody owns are given away.
    fn decide(&mut self, node: usize) {
        let this = &mut self.nodes[node];
        let look = this.awake & this.unrouted;
        this.awake = 0;
        let mut asked = [0u64; super::MAX_QUEUES];
        let mut wanted = 0u64;
        for input in Bits(look) {
            let Some(packet) = self.queues[node * self.inputs + input].waiting.first() else { continue };
            if self.packets[packet as usize].destination as usize == node {
                self.nodes[node].unrouted &= !(1 << input);
                match self.params.consumption {
                    Consumption::Multiple => self.start_consuming(node, input),
                    Consumption::Single => self.nodes[node].arrived |= 1 << input,
                }
                continue;
            }
            let head = self.head(node, input, packet);
            match self.requests.request(&head, &self.near(node)) {
                Some(output) => {
                    let output = output.index(self.params.vcs);
                    asked[output] |= 1 << input;
                    wanted |= 1 << output;
                }
                None if self.requests.watches_space() => self.wake(node, 1 << input),
                None => {
                    let interest = self.requests.interest(&head);
                    let ports = node * self.shape.ports();
                    for port in Bits(interest.adaptive) {
                        self.sleepers[ports + port][0] |= 1 << input;
                    }
                    for port in Bits(interest.deterministic) {
                        self.sleepers[ports + port][1] |= 1 << input;
                    }
                }
            }
        }
        let this = &mut self.nodes[node];
        if this.arrived != 0 && !this.consuming {
            let input = after(this.arrived, this.last_consumed.into());
            this.arrived &= !(1 << input);
            this.consuming = true;
            this.last_consumed = input as u8;
            self.start_consuming(node, input as usize);
        }
        for output in Bits(wanted) {
            self.grant(node, output, asked[output]);
        }
    }

    /// Gives an output channel to one of the inputs that ask for it.
    fn grant(&mut self, node: usize, output: usize, asking: u64) {
        let place = node * self.outputs + output;
        let last = u32::from(self.last_winner[place]);
        let mut candidates = asking;
        if self.params.in_transit_priority > 0.0 {
            let key = mix2(mix2(self.params.seed ^ node as u64, output as u64), self.clock);
            let transit = asking & ((1u64 << self.outputs) - 1);
            let first = f64::from(pick(key, 1 << 24)) < self.params.in_transit_priority * f64::from(1 << 24);
            if first && transit != 0 {
                candidates = transit;
            }
        }
        let winner = after(candidates, last);
        self.last_winner[place] = winner as u8;
        self.owner[place] = winner as u8;
        let this = &mut self.nodes[node];
        this.open &= !(1 << output);
        this.owned |= 1 << output;
        this.granted |= 1 << output;
        this.unrouted &= !(1 << winner);
        let port = output / self.params.vcs;
        if this.busy & 1 << port == 0 {
            self.starting.push((node * self.shape.ports() + port) as u32);
        }
        let losers = asking & !(1 << winner);
        if losers != 0 {
            self.wake(node, losers);
        }
    }

    /// Step 4, phase B: a free link takes the header of the next channel that has one.
    fn start(&mut self, link: usize) {
        let ports = self.shape.ports();
        let vcs = self.params.vcs;
        let (node, port) = (link / ports, link % ports);
        let this = &mut self.nodes[node];
        let waiting = this.granted >> (port * vcs) & ((1 << vcs) - 1);
        if this.busy & 1 << port != 0 || waiting == 0 {
            return;
        }
        let vc = after(waiting, self.last_vc[link].into()) as usize;
        let output = port * vcs + vc;
        self.last_vc[link] = vc as u8;
        this.granted &= !(1 << output);
        this.busy |= 1 << port;
        let place = node * self.outputs + output;
        let input = usize::from(self.owner[place]);
        let Some(packet) = self.depart(node, input) else { return };
        if input >= self.outputs {
            self.recorder.departed(self.clock - self.packets[packet as usize].start);
        }
        let (dimension, positive) = self.shape.direction(Port(port as u8));
        self.offsets[packet as usize * self.shape.dimensions + dimension] -= if positive { 1 } else { -1 };
        self.packets[packet as usize].hops += 1;
        self.recorder.hop();
        self.credits[place] -= 1;
        let tail = self.clock + u64::from(self.params.packet_phits) - 1;
        self.wheel.push(tail, Event::Left(place as u32));
        self.enter(self.downstream[link] as usize, output, packet, self.clock);
    }

    fn start_consuming(&mut self, node: usize, input: usize) {
        let Some(packet) = self.depart(node, input) else { return };
        let queue = (node * self.inputs + input) as u32;
        self.wheel.push(self.clock + u64::from(self.params.packet_phits) - 1, Event::Consumed { queue, packet });
    }

    /// The header of the first packet leaves its queue in this cycle.
    fn depart(&mut self, node: usize, input: usize) -> Option<u32> {
        let queue = &mut self.queues[node * self.inputs + input];
        queue.departed = self.clock;
        self.moves_until = self.moves_until.max(self.clock + u64::from(self.params.packet_phits) - 1);
        queue.waiting.pop(&self.packets)
    }

    /// Step 5: a tail has left through an output channel: channel and link are free.
    fn left(&mut self, place: usize) {
        let (node, output) = (place / self.outputs, place % self.outputs);
        let port = output / self.params.vcs;
        let this = &mut self.nodes[node];
        this.owned &= !(1 << output);
        this.busy &= !(1 << port);
        if this.granted >> (port * self.params.vcs) & ((1 << self.params.vcs) - 1) != 0 {
            self.starting.push((node * self.shape.ports() + port) as u32);
        }
        self.departed(node, self.owner[place].into());
        if self.credits[place] > 0 {
            self.open(node, output);
        }
    }

    /// Step 5: a tail has been consumed.
    fn consumed(&mut self, queue: usize, packet: u32, notices: &mut Notices) {
        let (node, input) = (queue / self.inputs, queue % self.inputs);
        if self.nodes[node].consuming {
            self.nodes[node].consuming = false;
            if self.nodes[node].arrived != 0 {
                self.wake(node, 0);
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

    /// A tail has left a queue: the next head can be routed, and there is room for one more packet.
    fn departed(&mut self, node: usize, input: usize) {
        let queue = &mut self.queues[node * self.inputs + input];
        queue.departed = NEVER;
        queue.count -= 1;
        if queue.waiting.first().is_some() {
            self.nodes[node].unrouted |= 1 << input;
            self.wake(node, 1 << input);
        }
        if input >= self.outputs {
            self.wake_buffers(node);
            return;
        }
        let ports = self.shape.ports();
        let port = input / self.params.vcs;
        // The bubble of this ring may have opened for those who want to enter it here.
        self.wake_sleepers(node * ports + port, node, 1);
        if self.params.lbr > 0 {
            self.wake_sleepers(node * ports + port, node, 0);
        }
        let behind = self.upstream[node * ports + port] as usize;
        let place = behind * self.outputs + input;
        self.credits[place] += 1;
        if self.credits[place] == 1 && self.nodes[behind].owned & 1 << input == 0 {
            self.open(behind, input);
        }
    }

    /// An output channel is free and has room behind it.
    fn open(&mut self, node: usize, output: usize) {
        self.nodes[node].open |= 1 << output;
        let vc = output % self.params.vcs;
        let kind = usize::from(vc < usize::from(self.requests.first_adaptive()));
        self.wake_sleepers(node * self.shape.ports() + output / self.params.vcs, node, kind);
    }

    /// Wakes the heads that sleep at a link until an adaptive (0) or deterministic (1) channel opens. Some of them may
    /// have gone on meanwhile: only those that are unrouted are looked at.
    fn wake_sleepers(&mut self, link: usize, node: usize, kind: usize) {
        let sleepers = std::mem::take(&mut self.sleepers[link][kind]) & self.nodes[node].unrouted;
        if sleepers != 0 {
            self.wake(node, sleepers);
        }
    }

    /// These inputs are looked at in the next phase A.
    fn wake(&mut self, node: usize, inputs: u64) {
        let this = &mut self.nodes[node];
        this.awake |= inputs;
        if !this.listed {
            this.listed = true;
            self.looking.push(node as u32);
        }
    }

    fn wake_buffers(&mut self, node: usize) {
        if !self.nodes[node].injecting {
            self.nodes[node].injecting = true;
            self.injecting.push(node as u32);
        }
    }

    pub(super) fn wake_interface(&mut self, node: usize) {
        if !self.nodes[node].sending {
            self.nodes[node].sending = true;
            self.sending.push(node as u32);
        }
    }

    pub(super) fn near(&self, node: usize) -> Near<'_> {
        Near { engine: self, node, open: self.nodes[node].open }
    }

    pub(super) fn head(&self, node: usize, input: usize, packet: u32) -> Head<'_> {
        let dimensions = self.shape.dimensions;
        Head {
            node: NodeId::at(node),
            input: if input < self.outputs {
                Input::Transit(OutputVc::at(input, self.params.vcs))
            } else {
                Input::Injection
            },
            offsets: &self.offsets[packet as usize * dimensions..][..dimensions],
            key: self.packets[packet as usize].key,
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
