//! Counts of flits and credits, one by one, for tests of their conservation.

use std::collections::VecDeque;

use super::{InputVc, Reference, Router};
use crate::rules::sinks::Sinks;
use crate::rules::wiring::End;

impl Reference {
    /// Number of flits in the network: in buffers, crossbars, output queues and on links.
    #[must_use]
    pub fn count_flits(&self) -> u64 {
        let in_router = |router: &Router| {
            let buffers: usize = router.inputs.iter().map(|input| input.buffer.len()).sum();
            let queues: usize = router.queues.iter().map(VecDeque::len).sum();
            let links: usize = router.arriving.iter().map(VecDeque::len).sum();
            (buffers + router.crossing.len() + queues + links) as u64
        };
        let to_sinks: usize = self.pipes.iter().map(|pipes| pipes.arriving.len()).sum();
        let in_sinks = self.sinks.as_ref().map_or(0, Sinks::flits);
        self.routers.iter().map(in_router).sum::<u64>() + (to_sinks + in_sinks) as u64
    }

    /// True if no buffer holds a flit of a message class other than that of its VC.
    #[must_use]
    pub fn classes_are_apart(&self) -> bool {
        let is_of_its_class = |(at, input): (usize, &InputVc)| {
            let vc = at % self.params.vcs;
            input.buffer.iter().all(|place| {
                let (first, count) = self.params.vcs_of(self.ends.packets[place.flit.packet].class);
                (first..first + count).contains(&vc)
            })
        };
        self.routers.iter().all(|router| router.inputs.iter().enumerate().all(is_of_its_class))
    }

    /// True if each credit is in one place: with its sender, in use by a flit, or on its way back.
    #[must_use]
    pub fn credits_are_conserved(&self) -> bool {
        let vcs = self.params.vcs;
        let ends = |router: usize, port: usize, vc: usize| {
            let this = &self.routers[router];
            let back = this.inputs[port * vcs + vc].buffer.len()
                + this.arriving[port].iter().filter(|arriving| usize::from(arriving.1) == vc).count()
                + this.credits_to_send[port].iter().filter(|&&(_, sent)| usize::from(sent) == vc).count();
            let before = match self.wiring.back(router, port).end {
                End::Nothing => self.params.deepest() as usize,
                End::Endpoint(endpoint) => {
                    let pipes = &self.pipes[endpoint as usize];
                    self.ends.credits(endpoint as usize)[vc] as usize
                        + pipes.returning.iter().filter(|returning| usize::from(returning.1) == vc).count()
                }
                End::Router { router, port } => {
                    let (from, port) = (&self.routers[router as usize], usize::from(port));
                    let crossing = from.crossing.iter().filter(|crossing| crossing.1 == port * vcs + vc).count();
                    let queued = from.queues[port].iter().filter(|queued| usize::from(queued.0) == vc).count();
                    let returning = from.returning[port].iter().filter(|credit| usize::from(credit.1) == vc).count();
                    (self.params.deepest() - from.pools[port].used(vc)) as usize + crossing + queued + returning
                }
            };
            back + before == self.params.deepest() as usize
        };
        (0..self.wiring.routers)
            .all(|router| (0..self.wiring.ports).all(|port| (0..vcs).all(|vc| ends(router, port, vc))))
    }
}
