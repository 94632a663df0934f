//! Allocation of virtual channels and of the switch in a step of a router.

use super::{Grant, Reference, State};
use std::cmp::Reverse;

use crate::rules::allocator::Request;
use crate::rules::priority::{self, Front};

impl Reference {
    /// By input VC: the request of its head, as output port and mask of available VCs.
    pub(super) fn vc_requests(&mut self, router: usize, step: u64) -> Vec<Option<(usize, u32)>> {
        let inputs = self.routers[router].inputs.len();
        let needs = |this: &Self, input: usize| match this.routers[router].inputs[input].state {
            State::NeedsVc { from } => from <= step,
            _ => false,
        };
        (0..inputs).map(|input| if needs(self, input) { self.request(router, input) } else { None }).collect()
    }

    /// \[cycle\] Cycle in which the packet at the front of an input VC was created.
    fn created(&self, router: usize, input: usize) -> u64 {
        let front = self.routers[router].inputs[input].buffer.front();
        front.map_or(0, |front| self.ends.packets[front.flit.packet].start)
    }

    /// The priority of the flit at the front of an input VC.
    fn priority(&self, router: usize, input: usize) -> i64 {
        let this = &self.routers[router].inputs[input];
        this.buffer.front().map_or(0, |front| {
            let seen = Front { arrived: front.arrived, waiting: this.buffer.len(), hops: this.hops };
            priority::of(&self.params, &self.ends.packets[front.flit.packet], seen)
        })
    }

    /// By input VC: the output VC that its head wins.
    pub(super) fn allocate_vcs(&mut self, router: usize, requests: &[Option<(usize, u32)>]) -> Vec<Option<usize>> {
        let vcs = self.params.vcs;
        let mut asked = Vec::new();
        for (requester, request) in requests.iter().enumerate() {
            let Some((port, mask)) = *request else { continue };
            let (created, rank) = (self.created(router, requester), self.priority(router, requester));
            let resources = (0..vcs).filter(|vc| mask >> vc & 1 != 0).map(|vc| port * vcs + vc);
            asked.extend(resources.map(|resource| Request { requester, resource, created, own: 0, rank }));
        }
        let won = self.routers[router].vc_allocator.allocate(&asked);
        for (request, won) in requests.iter().zip(&won) {
            self.stalls.no_vc += u64::from(request.is_some() && won.is_none());
        }
        won
    }

    /// True if an output may be given grants, by the length of its queue.
    pub(super) fn has_room(&self, router: usize, port: usize) -> bool {
        let queued = self.routers[router].queues[port].len();
        self.params.output_queue.is_none_or(|bound| queued < bound as usize)
    }

    /// The output VC for which the flit at the front of an input VC may request the switch in this step.
    fn ready(&self, router: usize, input: usize, step: u64) -> Option<usize> {
        let this = &self.routers[router].inputs[input];
        let front = this.buffer.front().filter(|front| front.ready <= step)?;
        match this.state {
            State::Active { output, from } if !front.flit.is_head || from <= step => Some(output),
            _ => None,
        }
    }

    /// True if the first channel of the class of a head is free with a credit at a port, and one of the others as well.
    fn has_both(&self, router: usize, port: usize, input: usize) -> bool {
        let vcs = self.params.vcs;
        let Some(front) = self.routers[router].inputs[input].buffer.front() else { return false };
        let (first, of_class) = self.params.vcs_of(self.ends.packets[front.flit.packet].class);
        let is_free = |vc: usize| {
            let router = &self.routers[router];
            router.outputs[port * vcs + vc].owner.is_none() && router.pools[port].room(vc) > 0
        };
        is_free(first) && (first + 1..first + of_class).any(is_free)
    }

    /// The grants of the switch that will be used, in the order of input ports. `heads` are the requests for VCs and
    /// `won` the VCs won in this step, both by input VC.
    pub(super) fn allocate_switch(
        &mut self,
        router: usize,
        step: u64,
        heads: &[Option<(usize, u32)>],
        won: &[Option<usize>],
    ) -> Vec<Grant> {
        let (vcs, ports) = (self.params.vcs, self.wiring.ports);
        // Inputs and outputs of the switch for each port.
        let (ins, outs) = (self.params.input_speedup, self.params.output_speedup);
        let has_credit = |this: &Self, output: usize| {
            this.routers[router].pools[output / vcs].room(output % vcs) > 0 && this.has_room(router, output / vcs)
        };
        let mut grants = Vec::new();
        let mut requesting = vec![false; ports * vcs];

        // The output port that each input VC requests, and whether as a speculation.
        let mut wanted: Vec<Option<(usize, bool)>> = vec![None; ports * vcs];
        for input in 0..ports * vcs {
            if let Some(output) = self.ready(router, input, step) {
                if has_credit(self, output) {
                    wanted[input] = Some((output / vcs, false));
                    requesting[input] = true;
                } else {
                    self.stalls.no_credit += 1;
                }
            } else if let Some((port, mask)) = heads[input]
                && self.params.speculative
                && (0..vcs).any(|vc| mask >> vc & 1 != 0 && has_credit(self, port * vcs + vc))
            {
                wanted[input] = Some((port, true));
            }
        }

        // Connections that are kept come before all others.
        let mut busy_outputs = vec![false; ports];
        let mut busy_inputs = vec![false; ports];
        for (port, is_busy) in busy_inputs.iter_mut().enumerate() {
            let Some(input) = self.routers[router].held[port] else { continue };
            match (wanted[input], self.ready(router, input, step)) {
                (Some((_, false)), Some(output)) => {
                    grants.push(Grant { input, output });
                    (*is_busy, busy_outputs[output / vcs]) = (true, true);
                }
                _ => self.routers[router].held[port] = None,
            }
        }

        // By input and output of the switch: the VC that requests the output.
        let mut candidates = vec![None; ports * ins * ports * outs];
        let mut requests = Vec::new();
        for (from, to) in (0..ports * ins).flat_map(|from| (0..ports * outs).map(move |to| (from, to))) {
            let (in_port, out_port) = (from / ins, to / outs);
            if busy_inputs[in_port] || busy_outputs[out_port] || in_port % outs != to % outs {
                continue;
            }
            let first = self.routers[router].next_vc[from];
            let of_input = (0..vcs).filter(|vc| vc % ins == from % ins);
            let asking = of_input.filter(|vc| wanted[in_port * vcs + vc].is_some_and(|(port, _)| port == out_port));
            let rank = |vc: usize| {
                let priority = self.priority(router, in_port * vcs + vc);
                let is_speculative = wanted[in_port * vcs + vc].is_some_and(|(_, speculative)| speculative);
                if is_speculative { priority::speculative(priority) } else { priority }
            };
            let best = asking.min_by_key(|&vc| (Reverse(rank(vc)), (vc + vcs - first) % vcs));
            if let Some(vc) = best {
                let created = self.created(router, in_port * vcs + vc);
                candidates[from * (ports * outs) + to] = Some(vc);
                let rank = rank(vc);
                requests.push(Request { requester: from, resource: to, created, own: rank, rank });
            }
        }
        let given = self.routers[router].switch_allocator.allocate(&requests);
        for (from, to) in given.iter().enumerate() {
            let Some(to) = *to else { continue };
            let Some(vc) = candidates[from * (ports * outs) + to] else { continue };
            let input = from / ins * vcs + vc;
            self.routers[router].next_vc[from] = (vc + ins) % vcs;
            let ready = self.ready(router, input, step);
            if ready.is_none() && self.params.keeps_channel_0() && !self.has_both(router, to / outs, input) {
                self.stalls.misspeculated += 1;
                continue;
            }
            match ready.or(won[input]) {
                Some(output) if self.routers[router].pools[output / vcs].room(output % vcs) > 0 => {
                    grants.push(Grant { input, output });
                }
                _ => self.stalls.misspeculated += 1,
            }
        }
        grants.sort_unstable_by_key(|grant| grant.input);

        let is_granted = |input: usize| grants.iter().any(|grant| grant.input == input);
        for input in 0..ports * vcs {
            let won = won[input].filter(|_| self.params.speculative);
            if is_granted(input) || (!requesting[input] && won.is_none()) {
                continue;
            }
            match won {
                Some(output) if !has_credit(self, output) => self.stalls.no_credit += 1,
                _ => self.stalls.lost_switch += 1,
            }
        }
        grants
    }
}
