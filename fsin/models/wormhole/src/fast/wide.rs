//! Switch allocation of switches that have several inputs or outputs for each port of the router, written as it is
//! defined.

use std::cmp::Reverse;

use super::allocate::priority_of;
use super::part::Part;
use super::sets::bits;
use super::state::State;
use crate::rules::allocator::Request;
use crate::rules::priority::{self, Priority};

impl<const P: usize, const V: usize, const DIRECT: bool> Part<P, V, DIRECT> {
    /// Matches the inputs of the switch, of the input ports `asking` given as a mask, with its outputs. Speculative
    /// requests are listed.
    #[inline(never)]
    pub(super) fn allocate_wide_switch(&mut self, router: usize, asking: u64, step: u64) {
        let (ins, outs, vcs) = (self.params.input_speedup, self.params.output_speedup, self.params.vcs);
        let ports = self.routers.ports;
        let has_priorities = self.params.priority != Priority::None;
        // By input and output of the switch that have requests, in ascending order: the VC.
        let mut candidates: Vec<((usize, usize), usize)> = Vec::new();
        self.scratch.requests.clear();
        for from in bits(asking) {
            let mut requests = self.routers.all[router].in_ports[from % P].requests;
            let speculative = std::mem::take(&mut self.scratch.speculative[from]);
            for vc in bits(requests.into()) {
                let output = self.routers.all[router].inputs[from % P][vc % V].output;
                if self.may_be_full && !self.can_take(router, output.into(), step) {
                    self.routers.all[router].inputs[from % P][vc % V].since += 1;
                    self.stalls.no_credit += 1;
                    requests &= !(1 << vc);
                }
            }
            for (input, port) in (0..ins).flat_map(|input| (0..ports).map(move |port| (input, port))) {
                let first = usize::from(self.next_vcs[(router * P + from) * ins + input]);
                let local = |vc: usize| self.routers.first_vc(from) + vc;
                let asks = |vc: &usize| {
                    vc % ins == input && usize::from(self.routers.all[router].input(local(*vc)).port) == port
                };
                let rank = |vc: usize| {
                    let rank = match has_priorities {
                        true => {
                            let input = self.routers.base(router) + local(vc);
                            priority_of(&self.params, &self.routers, &self.ends, input)
                        }
                        false => 0,
                    };
                    if speculative >> vc & 1 != 0 { priority::speculative(rank) } else { rank }
                };
                let best = bits((requests | speculative).into())
                    .filter(asks)
                    .min_by_key(|&vc| (Reverse(rank(vc)), (vc + vcs - first) % vcs));
                let Some(vc) = best else { continue };
                let front = self.routers.front(self.routers.base(router) + local(vc));
                let rank = rank(vc);
                let (requester, resource) = (from * ins + input, port * outs + from % outs);
                candidates.push(((requester, resource), vc));
                let created = self.ends.packets[front.packet].start;
                self.scratch.requests.push(Request { requester, resource, created, own: rank, rank });
            }
        }
        if candidates.is_empty() {
            return;
        }
        let given = self.routers.switch_allocators[router].allocate(&self.scratch.requests);
        for (from, to) in given.into_iter().enumerate() {
            let Some(to) = to else { continue };
            let Ok(at) = candidates.binary_search_by_key(&(from, to), |&(pair, _)| pair) else { continue };
            let vc = candidates[at].1;
            self.next_vcs[router * P * ins + from] = ((vc + ins) % vcs) as u8;
            let input = self.routers.first_vc(from / ins) + vc;
            debug_assert!(
                self.routers.all[router].input(input).state != State::Idle,
                "an empty channel asks for nothing"
            );
            self.use_grant(router, input as u16, to / outs);
        }
        self.scratch.grants.sort_unstable_by_key(|grant| grant.input);
    }
}
