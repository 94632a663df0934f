//! The longest round trip over empty links, and the largest product of round trip and rate, of all pairs of hosts.
//!
//! Source: alibaba-edu/High-Precision-Congestion-Control, which sets windows by them.

use std::collections::BTreeMap;

use fsin_core::route::FAR;

use super::alive::Alive;
use super::forwarding::Between;
use super::frame::bit_time;
use super::wiring::{Link, Wiring};
use crate::params::Params;

/// Round trip and product of a network.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Reach {
    /// \[ps\] Twice the delays, and a full frame at each link of the path there: the largest of any pair, in whole ns.
    pub(crate) round_trip: u64,
    /// \[bytes\] Round trip times the slowest rate of the path: the largest of any pair.
    pub(crate) product: u64,
}

/// What a path adds up to: \[ps\] delays and frames, \[b/s\] the slowest rate.
type Path = (u64, u64);

impl Reach {
    /// Of shortest paths, the first of several by numbers.
    pub(crate) fn new(params: &Params, wiring: &Wiring, alive: &Alive) -> Self {
        let bits = 8 * params.frames.of(params.frames.mtu);
        let one = |link: &Link| (2 * link.delay + bit_time(bits, link.rate), link.rate);
        let joined = |(time, rate): Path, (more, other): Path| (time + more, rate.min(other));
        // By switch: the kinds of its hosts, by the links from them and to them, each with their number.
        let mut kinds: Vec<BTreeMap<[Path; 2], usize>> = vec![BTreeMap::new(); wiring.switches];
        for host in 0..wiring.hosts {
            let (switch, port) = wiring.home(host);
            let kind = [wiring.host_port(host as u32), port].map(|port| one(&wiring.links[port]));
            *kinds[switch].entry(kind).or_default() += 1;
        }
        let between = Between::new(wiring, alive);
        let mut reach = Self::default();
        for goal in (0..wiring.switches).filter(|&goal| !kinds[goal].is_empty()) {
            let hops = between.hops_to(goal);
            for start in (0..wiring.switches).filter(|&start| !kinds[start].is_empty() && hops[start] != FAR) {
                let (mut switch, mut path) = (start, (0, u64::MAX));
                while switch != goal {
                    let Some((port, next)) = between.nearer(&hops, switch, goal).next() else { break };
                    path = joined(path, one(&wiring.links[port as usize]));
                    switch = next as usize;
                }
                for (of_source, &count) in &kinds[start] {
                    // A host sends nothing to itself.
                    let is_other = |kind: &[Path; 2]| start != goal || kind != of_source || count > 1;
                    for of_destination in kinds[goal].keys().filter(|kind| is_other(kind)) {
                        let (time, rate) = joined(joined(of_source[0], path), of_destination[1]);
                        reach.add(time, rate);
                    }
                }
            }
        }
        reach
    }

    /// Takes a pair into account.
    fn add(&mut self, time: u64, rate: u64) {
        let nanoseconds = time / 1_000;
        self.round_trip = self.round_trip.max(nanoseconds * 1_000);
        let bytes = u128::from(nanoseconds) * u128::from(rate) / 8_000_000_000;
        self.product = self.product.max(u64::try_from(bytes).unwrap_or(u64::MAX));
    }
}
