//! The reference engine: every router, every cycle, in two phases.
//!
//! It is the definition that other engines are judged by, so it is written to be read, not to be fast.
//!
//! # A cycle
//! 1. Flits and credits that arrive in this cycle are taken: by sinks and sources, and by routers.
//! 2. Sources send at most one flit each.
//! 3. Every router makes its steps: one, or more with a speedup.
//! 4. Every output whose link is free sends at most one flit from its queue, every input port at most one credit.
//!
//! What is sent in cycle t over a link of delay d is taken in t + d + 1. So nothing crosses between two routers within
//! a cycle, and the order in which routers are visited does not matter.
//!
//! # A step of a router
//! First, on the state as the step before left it: VC allocation, then switch allocation; only a speculative grant is
//! checked against the VCs won in this step. Then everything is applied: VCs are owned, flits leave their buffers,
//! flits granted earlier reach the queues of the outputs.

use std::collections::VecDeque;
use std::sync::Arc;

use fsin_core::network::Notices;
use fsin_core::topology::Topology;
use fsin_core::topology::switched::PacedLink;
use trgen::catalog::SpecError;

use crate::Prepared;
use crate::params::{Hold, Params};
use crate::rules::allocator::Allocator;
use crate::rules::batch::Batch;
use crate::rules::buffers::Pool;
use crate::rules::details::Stalls;
use crate::rules::interface::{Endpoints, Flit};
use crate::rules::outages::Arriving;
use crate::rules::routes::{ByKey, Candidate, Outputs, Routes, Tier, select};
use crate::rules::sinks::Sinks;
use crate::rules::whole::Whole;
use crate::rules::wiring::{End, Wiring};

mod allocate;
mod conservation;
mod network;
mod waiting;

/// A flit in a buffer.
#[derive(Clone, Copy, Debug)]
struct Buffered {
    flit: Flit,
    /// \[step\] Step from which the flit may request the switch.
    ready: u64,
    /// \[cycle\] When the flit came.
    arrived: u64,
}

/// The state of an input VC, by the packet at its front.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// There is no packet.
    Idle,
    /// A head that needs an output VC, and may be given one from this step on.
    NeedsVc { from: u64 },
    /// An output VC, as port x VCs + VC; the switch may be requested from this step on.
    Active { output: usize, from: u64 },
}

/// An input VC.
#[derive(Clone, Debug)]
struct InputVc {
    /// The flits in its buffer, the front first.
    buffer: VecDeque<Buffered>,
    state: State,
    /// The candidate that the head at the front keeps, or any if it keeps its phase; `None` before it has chosen.
    settled: Option<Candidate>,
    /// \[links\] Links that the packet at the front had crossed when its head came to the front.
    hops: u32,
}

/// An output VC.
#[derive(Clone, Copy, Debug)]
struct OutputVc {
    /// The input VC whose packet has this output VC.
    owner: Option<usize>,
}

/// The state of a router.
#[derive(Clone, Debug)]
struct Router {
    /// By port x VCs + VC: the input VC.
    inputs: Vec<InputVc>,
    /// By port x VCs + VC: the output VC.
    outputs: Vec<OutputVc>,
    /// By output port: the next buffer, as this router knows it.
    pools: Vec<Pool>,
    vc_allocator: Allocator,
    switch_allocator: Allocator,
    /// By input of the switch: the VC with which the search for a candidate begins.
    next_vc: Vec<usize>,
    /// By input port: the input VC whose connection through the crossbar is kept.
    held: Vec<Option<usize>>,
    /// The last batches of route computation and switch traversal.
    computing: Batch,
    traversing: Batch,
    /// Flits in the crossbar: the step in which the flit reaches the output queue, its output VC, and the flit.
    crossing: VecDeque<(u64, usize, Flit)>,
    /// By output port: the output queue, of VCs and flits.
    queues: Vec<VecDeque<(u8, Flit)>>,
    /// By input port: the VCs of buffer places that became free, one entry for each credit, with the step of that.
    credits_to_send: Vec<VecDeque<(u64, u8)>>,
    /// By input port: flits on the link, with the cycle of arrival and the VC.
    arriving: Vec<VecDeque<(u64, u8, Flit)>>,
    /// By output port: credits on the link, with the cycle of arrival and the VC.
    returning: Vec<VecDeque<(u64, u8)>>,
}

/// Flits and credits on the links of an endpoint.
#[derive(Clone, Debug, Default)]
struct Pipes {
    /// Flits on the way to the endpoint, with the cycle of arrival and the VC.
    arriving: VecDeque<(u64, u8, Flit)>,
    /// Credits on the way to the endpoint, with the cycle of arrival and the VC.
    returning: VecDeque<(u64, u8)>,
}

/// A grant of the switch.
#[derive(Clone, Copy, Debug)]
struct Grant {
    /// The input VC.
    input: usize,
    /// The output VC.
    output: usize,
}

/// The engine that defines the wormhole model.
#[derive(Debug)]
pub struct Reference {
    params: Params,
    wiring: Wiring,
    routes: Arc<Routes>,
    clock: u64,
    routers: Vec<Router>,
    /// By tap: flits and credits on its links.
    pipes: Vec<Pipes>,
    /// The endpoints.
    ends: Endpoints,
    /// Their sinks, if nodes may refuse messages.
    sinks: Option<Sinks>,
    /// By router and output port: its link, where some links pass less than a flit in each cycle; else empty.
    links: Vec<PacedLink>,
    /// Packets that come off links which are dead at times.
    arriving: Arriving,
    /// Messages in flight, and statistics.
    whole: Whole,
    /// Stalls so far.
    stalls: Stalls,
    /// \[flits x routers\] Grants of the switch that were used so far.
    flit_hops: u64,
    /// By VC, for the time average of flits in buffers: the sum of the cycles in which flits left buffers, less the
    /// cycles in which they entered; and the number of flits there now.
    occupancy: Vec<(u64, u64)>,
    /// \[cycle\] The last cycle in which a flit moved.
    last_moved: u64,
    /// \[packets\] By router and output port; empty unless the loads of links are observed.
    crossed: Vec<u64>,
    /// \[flits\] By router, input port and output port; empty unless events are counted. All flits of a packet are
    /// counted when its head passes.
    traversed: Vec<u64>,
}

/// The output VCs of a router, as a head that needs one sees them.
struct Local<'a> {
    params: &'a Params,
    router: &'a Router,
    /// \[flits\] Length of the packet whose head this is.
    flits: u32,
}

impl Local<'_> {
    /// The VCs in the mask `vcs` of a port, with their states.
    fn output_vcs(&self, port: usize, vcs: u32) -> impl Iterator<Item = (usize, &OutputVc)> {
        let count = self.params.vcs;
        let outputs = self.router.outputs[port * count..][..count].iter().enumerate();
        outputs.filter(move |(vc, _)| vcs >> vc & 1 != 0)
    }
}

impl Outputs for Local<'_> {
    fn available(&self, port: usize, vcs: u32, tier: Tier) -> u32 {
        let Params { wait_for_tail_credit, vc_busy_when_full, .. } = *self.params;
        let pool = &self.router.pools[port];
        let is_available = |vc: usize| {
            (!wait_for_tail_credit || pool.used(vc) == 0)
                && (!vc_busy_when_full || pool.room(vc) > 0)
                && (tier != Tier::Adaptive || pool.used(vc) == 0 || pool.room(vc) >= self.flits)
        };
        let free = self.output_vcs(port, vcs).filter(|&(vc, output)| output.owner.is_none() && is_available(vc));
        free.fold(0, |mask, (vc, _)| mask | 1 << vc)
    }

    fn credits(&self, port: usize, vcs: u32) -> u32 {
        self.output_vcs(port, vcs).map(|(vc, _)| self.router.pools[port].room(vc)).sum()
    }

    fn occupancy(&self, port: usize, vcs: u32) -> u32 {
        self.output_vcs(port, vcs).map(|(vc, _)| self.router.pools[port].used(vc)).sum()
    }
}

impl Reference {
    /// An empty network.
    ///
    /// # Errors
    /// Settings that are out of range or do not fit the topology, and routings that are not free of deadlock, unless
    /// [`Params::unsafe_routing`].
    pub fn new(topology: &dyn Topology, params: Params) -> Result<Self, SpecError> {
        let Prepared { wiring, routes, reconfiguration } = crate::prepare(topology, &params)?;
        let (vcs, ports) = (params.vcs, wiring.ports);
        let input = InputVc { buffer: VecDeque::new(), state: State::Idle, settled: None, hops: 0 };
        let router = Router {
            inputs: vec![input; ports * vcs],
            outputs: vec![OutputVc { owner: None }; ports * vcs],
            pools: vec![Pool::new(&params); ports],
            vc_allocator: Allocator::new(params.vc_allocator, ports * vcs, ports * vcs),
            switch_allocator: Allocator::new(
                params.switch_allocator,
                ports * params.input_speedup,
                ports * params.output_speedup,
            ),
            next_vc: (0..ports * params.input_speedup).map(|input| input % params.input_speedup).collect(),
            held: vec![None; ports],
            computing: Batch::default(),
            traversing: Batch::default(),
            crossing: VecDeque::new(),
            queues: vec![VecDeque::new(); ports],
            credits_to_send: vec![VecDeque::new(); ports],
            arriving: vec![VecDeque::new(); ports],
            returning: vec![VecDeque::new(); ports],
        };
        Ok(Self {
            clock: trgen::Cycle::FIRST.0,
            routers: vec![router; wiring.routers],
            pipes: vec![Pipes::default(); wiring.taps()],
            ends: Endpoints::new(&params, (0..wiring.taps() as u32).collect(), &wiring),
            sinks: None,
            links: wiring.paced.as_ref().map_or_else(Vec::new, |paced| paced.out.clone()),
            whole: Whole::new(&params, wiring.endpoints, reconfiguration),
            arriving: Arriving::new(Arc::clone(&wiring.outages)),
            stalls: Stalls::default(),
            flit_hops: 0,
            occupancy: vec![(0, 0); vcs],
            last_moved: 0,
            crossed: Vec::new(),
            traversed: Vec::new(),
            params,
            wiring,
            routes,
        })
    }

    /// Makes the failures and repairs before the next cycle, and lets new routes take effect if the network is empty.
    fn reconfigure(&mut self, notices: &mut Notices) {
        self.ends.is_held = self.whole.change(self.clock);
        if !self.ends.is_held {
            return;
        }
        let Some(routes) = self.whole.renew(self.clock) else { return };
        self.ends.is_held = false;
        let lost = self.ends.give_up(|unsent| self.whole.is_lost(unsent, &routes));
        lost.iter().for_each(|unsent| self.whole.abandon(unsent, notices));
        self.routes = routes;
    }

    /// Simulates one cycle.
    fn cycle(&mut self, notices: &mut Notices) {
        let now = self.clock;
        let steps = self.params.speedup.before(now)..self.params.speedup.before(now + 1);
        for tap in 0..self.wiring.taps() {
            self.receive(tap);
        }
        self.take_from_sinks();
        for router in 0..self.wiring.routers {
            self.arrive(router, steps.start);
        }
        for tap in 0..self.wiring.taps() {
            self.inject_flit(tap);
        }
        for router in 0..self.wiring.routers {
            for step in steps.clone() {
                self.step(router, step);
            }
            self.send(router);
        }
        self.whole.read(&mut self.ends.report, now, notices);
    }

    /// Lets an endpoint take the flit and the credits that arrive in this cycle.
    fn receive(&mut self, endpoint: usize) {
        let now = self.clock;
        let pipes = &mut self.pipes[endpoint];
        while let Some((_, vc)) = pipes.returning.pop_front_if(|&mut (due, _)| due <= now) {
            self.ends.credit(endpoint, vc.into());
        }
        let Some((_, vc, flit)) = pipes.arriving.pop_front_if(|&mut (due, ..)| due <= now) else { return };
        let Some(sinks) = &mut self.sinks else { return self.ends.receive(flit, now) };
        let (router, port) = self.wiring.exit_of(endpoint);
        sinks.arrive(output_vc(&self.wiring, &self.params, router, port) + usize::from(vc), flit);
    }

    /// Lets nodes that may refuse messages take flits from their sinks, which send the credits in this cycle.
    fn take_from_sinks(&mut self) {
        let Some(sinks) = &mut self.sinks else { return };
        let (now, of_router) = (self.clock, self.wiring.ports * self.params.vcs);
        for (output, flit) in sinks.take(&self.ends.packets) {
            self.ends.receive(flit, now);
            let (router, local) = (output / of_router, output % of_router);
            let (port, vc) = (local / self.params.vcs, local % self.params.vcs);
            let back = now + u64::from(self.wiring.out(router, port).delay) + 1 + u64::from(self.params.credit_delay);
            self.routers[router].returning[port].push_back((back, vc as u8));
            self.last_moved = self.last_moved.max(now);
        }
    }

    /// Lets an endpoint send a flit, if it can.
    fn inject_flit(&mut self, endpoint: usize) {
        let now = self.clock;
        if let Some((flit, vc, subnet)) = self.ends.send(endpoint, now) {
            let (router, port) = self.wiring.entry(endpoint + usize::from(subnet));
            let delay = u64::from(self.wiring.back(router, port).delay);
            self.routers[router].arriving[port].push_back((now + delay + 1, vc, flit));
            self.last_moved = self.last_moved.max(now + delay + 1);
        }
    }

    /// Lets a router take the flits and credits that arrive in this cycle.
    fn arrive(&mut self, router: usize, step: u64) {
        let (now, vcs) = (self.clock, self.params.vcs);
        let this = &mut self.routers[router];
        for port in 0..self.wiring.ports {
            while let Some((_, vc)) = this.returning[port].pop_front_if(|&mut (due, _)| due <= now) {
                this.pools[port].credit(vc.into());
            }
            let Some((_, vc, flit)) = this.arriving[port].pop_front_if(|&mut (due, _, _)| due <= now) else { continue };
            let input = &mut this.inputs[port * vcs + usize::from(vc)];
            if input.state == State::Idle {
                input.state = State::NeedsVc { from: first_request(&self.params, &mut this.computing, step) };
                input.hops = self.ends.packets[flit.packet].hops;
            }
            let ready = step + u64::from(self.params.switch_alloc_delay) - 1;
            input.buffer.push_back(Buffered { flit, ready, arrived: now });
            let (sum, flits) = &mut self.occupancy[usize::from(vc)];
            (*sum, *flits) = (sum.wrapping_sub(now), *flits + 1);
            if self.arriving.is_damaged((router, port, vc.into()), flit, now) {
                let identity = self.ends.packets[flit.packet].identity();
                self.ends.report.damaged.push(identity);
            }
            if flit.is_head {
                let packet = &mut self.ends.packets[flit.packet];
                packet.link_cycles += packet.end_stage(now);
            }
        }
    }

    /// The request of the head of an input VC: the output port, and the mask of its available VCs.
    fn request(&mut self, router: usize, input: usize) -> Option<(usize, u32)> {
        let front = self.routers[router].inputs[input].buffer.front()?.flit;
        let packet = &self.ends.packets[front.packet];
        let mut head = packet.head((input / self.params.vcs, input % self.params.vcs));
        let (key, flits) = (packet.key, packet.flits);
        let local = Local { params: &self.params, router: &self.routers[router], flits };
        let is_first = self.wiring.comes_from(router, input / self.params.vcs, head.source);
        let settled = self.routers[router].inputs[input].settled;
        let here = self.routes.in_subnet(router);
        if self.routes.decides() && is_first && settled.is_none() {
            head.phase = self.routes.decide(here, &head, &mut ByKey(key), &local);
        }
        let mut candidates: Vec<Candidate> = Vec::new();
        self.routes.candidates(here, &head, &mut ByKey(key), &mut candidates);
        if self.routes.is_lasting() {
            let kept = settled.or_else(|| self.routes.settle(&candidates, &local))?;
            candidates = vec![kept];
        }
        let (port, vcs) = select(&candidates, trgen::rng::mix2(key, router as u64), &local);
        self.ends.packets[front.packet].phase = head.phase;
        if self.routes.is_lasting() {
            self.routers[router].inputs[input].settled = Some(candidates[0]);
        }
        Some((port.into(), vcs))
    }

    /// One step of a router.
    fn step(&mut self, router: usize, step: u64) {
        let requests = self.vc_requests(router, step);
        let won = self.allocate_vcs(router, &requests);
        let grants = self.allocate_switch(router, step, &requests, &won);
        self.apply(router, step, &won, &grants);
    }

    /// Applies the grants of a step to the state of the router.
    fn apply(&mut self, router: usize, step: u64, won: &[Option<usize>], grants: &[Grant]) {
        let (now, vcs) = (self.clock, self.params.vcs);
        let switch_delay = self.params.switch_delay();
        let this = &mut self.routers[router];
        for (input, output) in won.iter().enumerate() {
            let Some(output) = *output else { continue };
            let head = &mut this.inputs[input];
            head.state = State::Active { output, from: step + switch_delay };
            head.settled = None;
            let front = head.buffer.front().expect("a head that wins a VC is at the front of its buffer");
            this.outputs[output].owner = Some(input);
            this.pools[output / vcs].own(output % vcs);
            let packet = &mut self.ends.packets[front.flit.packet];
            packet.vc_cycles += packet.end_stage(now);
        }
        for &Grant { input, output } in grants {
            let (port, vc) = (input / vcs, input % vcs);
            let from = &mut this.inputs[input];
            let Buffered { flit, .. } = from.buffer.pop_front().expect("what is granted the switch is in its buffer");
            this.pools[output / vcs].send(output % vcs, flit.is_tail);
            this.held[port] = (self.params.hold == Hold::Packet && !flit.is_tail).then_some(input);
            if flit.is_head {
                let packet = &mut self.ends.packets[flit.packet];
                packet.switch_cycles += packet.end_stage(now);
                let is_last = matches!(self.wiring.out(router, output / vcs).end, End::Endpoint(_));
                self.ends.head_leaves(flit.packet, is_last);
                if let Some(crossed) = self.crossed.get_mut(router * self.wiring.ports + output / vcs) {
                    *crossed += 1;
                }
                let ports = self.wiring.ports;
                if let Some(traversed) = self.traversed.get_mut((router * ports + port) * ports + output / vcs) {
                    *traversed += u64::from(self.ends.packets[flit.packet].flits);
                }
            }
            if flit.is_tail {
                this.outputs[output].owner = None;
                from.state = match from.buffer.front() {
                    Some(next) => {
                        from.hops = self.ends.packets[next.flit.packet].hops;
                        State::NeedsVc { from: first_request(&self.params, &mut this.computing, step + 1) }
                    }
                    None => State::Idle,
                };
            }
            this.credits_to_send[port].push_back((step, vc as u8));
            let leaves = match self.params.traverse_batch() {
                Some(delay) => this.traversing.join(step + 1, delay),
                None => step + u64::from(self.params.traverse_delay),
            };
            this.crossing.push_back((leaves, output, flit));
            let (sum, flits) = &mut self.occupancy[vc];
            (*sum, *flits) = (sum.wrapping_add(now), *flits - 1);
            self.flit_hops += 1;
            self.last_moved = self.last_moved.max(now);
        }
        while let Some((_, output, flit)) = this.crossing.pop_front_if(|&mut (due, _, _)| due <= step) {
            this.queues[output / vcs].push_back(((output % vcs) as u8, flit));
        }
    }

    /// Lets every output send a flit, and every input port a credit.
    fn send(&mut self, router: usize) {
        let now = self.clock;
        for port in 0..self.wiring.ports {
            // One message with all credits of a step.
            let first = self.routers[router].credits_to_send[port].front().map(|&(step, _)| step);
            while let Some((_, vc)) =
                self.routers[router].credits_to_send[port].pop_front_if(|&mut (step, _)| Some(step) == first)
            {
                let wire = self.wiring.back(router, port);
                let due = now + u64::from(wire.delay) + 1;
                match wire.end {
                    End::Router { router, port } => {
                        let due = due + u64::from(self.params.credit_delay);
                        self.routers[router as usize].returning[usize::from(port)].push_back((due, vc));
                    }
                    End::Endpoint(endpoint) => self.pipes[endpoint as usize].returning.push_back((due, vc)),
                    End::Nothing => {}
                }
            }
            let link = self.links.get_mut(router * self.wiring.ports + port);
            if link.as_ref().is_some_and(|link| link.next() > now) {
                continue;
            }
            let Some((vc, flit)) = self.routers[router].queues[port].pop_front() else { continue };
            if let Some(link) = link {
                link.begin(now);
            }
            let wire = self.wiring.out(router, port);
            let due = now + u64::from(wire.delay) + 1;
            self.last_moved = self.last_moved.max(due);
            if flit.is_head {
                let packet = &mut self.ends.packets[flit.packet];
                packet.traversal_cycles += packet.end_stage(now);
            }
            match wire.end {
                End::Router { router: next, port: at } => {
                    if flit.is_head {
                        let Self { ends, routes, .. } = self;
                        let packet = &mut ends.packets[flit.packet];
                        let [here, there] = [router, next as usize].map(|router| routes.in_subnet(router));
                        packet.phase = routes.hop(here, there, &packet.head((0, 0)), &mut ByKey(packet.key));
                    }
                    self.routers[next as usize].arriving[usize::from(at)].push_back((due, vc, flit));
                }
                End::Endpoint(endpoint) => {
                    self.pipes[endpoint as usize].arriving.push_back((due, vc, flit));
                    if self.sinks.is_none() {
                        // The sink sends the credit in the cycle in which it takes the flit.
                        let back = due + u64::from(wire.delay) + 1 + u64::from(self.params.credit_delay);
                        self.routers[router].returning[port].push_back((back, vc));
                    }
                }
                End::Nothing => {}
            }
        }
    }

    /// True if no flit and no credit is under way.
    fn is_still(&self) -> bool {
        let credits_home = |router: &Router| {
            router.returning.iter().all(VecDeque::is_empty) && router.credits_to_send.iter().all(VecDeque::is_empty)
        };
        self.whole.messages.in_flight() == 0
            && self.pipes.iter().all(|pipes| pipes.returning.is_empty())
            && self.routers.iter().all(credits_home)
    }
}

/// \[step\] The first step in which a head that comes to the front in step `step` can be given an output VC.
fn first_request(params: &Params, computing: &mut Batch, step: u64) -> u64 {
    match params.route_batch() {
        Some(delay) => computing.join(step, delay) + 1 + params.head_delay() - delay,
        None => step + params.head_delay(),
    }
}

/// The number of the first VC of an output port, among those of the network.
fn output_vc(wiring: &Wiring, params: &Params, router: usize, port: usize) -> usize {
    (router * wiring.ports + port) * params.vcs
}
