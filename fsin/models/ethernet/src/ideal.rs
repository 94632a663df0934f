//! The ideal time of a message as the simulator of HPCC computes it: twice the delays of the path, a full frame on each
//! of its links, and all frames of the message in succession on the slowest one.
//!
//! That counts one frame too much, and no acknowledgements: a long message alone takes less.
//!
//! Source: Li and others, HPCC, SIGCOMM 2019: alibaba-edu/High-Precision-Congestion-Control.

use std::collections::BTreeMap;

use fsin_core::messages::Payload;
use fsin_core::route::FAR;
use fsin_core::topology::Topology;
use trgen::Message;
use trgen::catalog::SpecError;

use crate::params::Params;
use crate::rules::alive::Alive;
use crate::rules::forwarding::Between;
use crate::rules::frame::bit_time;
use crate::rules::wiring::Wiring;

/// Computes ideal times in one network, on shortest paths.
#[derive(Debug)]
pub(crate) struct Ideal {
    params: Params,
    wiring: Wiring,
    between: Between,
    /// By switch of the destination: links from each switch to it.
    hops: BTreeMap<usize, Vec<u16>>,
}

impl Ideal {
    /// # Errors
    /// As [`check`](crate::check).
    pub(crate) fn new(topology: &dyn Topology, params: &Params) -> Result<Self, SpecError> {
        params.check()?;
        let wiring = Wiring::new(topology, params)?;
        let alive = Alive::new(topology, &wiring, params)?;
        let between = Between::new(&wiring, &alive);
        Ok(Self { params: params.clone(), wiring, between, hops: BTreeMap::new() })
    }

    /// \[ps\] The ideal time of a message; `None` if no route leads to its destination.
    pub(crate) fn time(&mut self, message: &Message) -> Option<u64> {
        let path = self.path(message.source.index(), message.destination.index())?;
        let payload = Payload(self.params.payload());
        let size = |data: u32| u64::from(self.params.frames.of(data + self.params.segment_header));
        let frames = payload.packets_of(message.bytes);
        let last = size(payload.bytes_of(message.bytes, frames - 1));
        let bits = 8 * ((frames - 1) * size(payload.0) + last);
        let links = path.iter().map(|&port| &self.wiring.links[port]);
        let slowest = links.clone().map(|link| link.rate).min()?;
        let once = links.map(|link| 2 * link.delay + bit_time(8 * size(payload.0) as u32, link.rate)).sum::<u64>();
        let all = (u128::from(bits) * 1_000_000_000_000).div_ceil(u128::from(slowest));
        u64::try_from(u128::from(once) + all).ok()
    }

    /// The ports of a shortest path from one host to another, of the first of them by numbers.
    fn path(&mut self, source: usize, destination: usize) -> Option<Vec<usize>> {
        let (wiring, between) = (&self.wiring, &self.between);
        let ((mut switch, _), (goal, last)) = (wiring.home(source), wiring.home(destination));
        let hops = self.hops.entry(goal).or_insert_with(|| between.hops_to(goal));
        if hops[switch] == FAR {
            return None;
        }
        let mut path = vec![wiring.host_port(source as u32)];
        while switch != goal {
            let (port, next) = between.nearer(hops, switch, goal).next()?;
            path.push(port as usize);
            switch = next as usize;
        }
        path.push(last);
        Some(path)
    }
}
