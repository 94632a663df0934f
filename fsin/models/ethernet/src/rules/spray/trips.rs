//! Unloaded round-trip times of a network, from which the transports that spray frames derive their constants.

use fsin_core::route::FAR;

use crate::params::Params;
use crate::rules::alive::Alive;
use crate::rules::forwarding::Between;
use crate::rules::wiring::Wiring;

/// Round trips of a network.
#[derive(Clone, Debug)]
pub(crate) struct Trips {
    /// \[ps\] Twice the delays and latencies of the longest path.
    delays: u64,
    /// Number of links of that path.
    links: u64,
    /// \[bytes\] A full frame and its acknowledgement.
    bytes: u64,
    /// \[ps\] By pair of switches: twice the delays and latencies between them. Empty unless asked for.
    pairs: Vec<u64>,
    /// By host: its switch, and \[ps\] the delays of its links.
    homes: Vec<(u32, u64)>,
}

impl Trips {
    pub(crate) fn new(params: &Params, wiring: &Wiring, alive: &Alive) -> Self {
        let (count, frames) = (wiring.switches, params.frames);
        let latency = 2 * params.switch_latency;
        let home = |host: usize| {
            let (switch, port) = wiring.home(host);
            (switch as u32, wiring.links[wiring.host_port(host as u32)].delay + wiring.links[port].delay)
        };
        let homes: Vec<(u32, u64)> = (0..wiring.hosts).map(home).collect();
        // By switch: the longest delay of its hosts.
        let mut outer = vec![None; count];
        for &(switch, delay) in &homes {
            let of = &mut outer[switch as usize];
            *of = Some(delay.max(of.unwrap_or(0)));
        }
        let between = Between::new(wiring, alive);
        let mut pairs = vec![0; if params.base_rtt_of_pairs() { count * count } else { 0 }];
        let (mut delays, mut links) = (0, 0);
        for goal in (0..count).filter(|&goal| outer[goal].is_some()) {
            let hops = between.hops_to(goal);
            for start in (0..count).filter(|&start| outer[start].is_some() && hops[start] != FAR) {
                let (mut switch, mut inner, mut passed) = (start, latency, 2);
                while switch != goal {
                    let Some((port, next)) = between.nearer(&hops, switch, goal).next() else { break };
                    inner += 2 * wiring.links[port as usize].delay + latency;
                    passed += 1;
                    switch = next as usize;
                }
                if let Some(pair) = pairs.get_mut(start * count + goal) {
                    *pair = inner;
                }
                let all = inner + outer[start].unwrap_or(0) + outer[goal].unwrap_or(0);
                (delays, links) = (delays, links).max((all, passed));
            }
        }
        Self { delays, links, bytes: (frames.of(frames.mtu) + frames.of_ack(params.ack_bytes)).into(), pairs, homes }
    }

    /// \[ps\] Serialization of a full frame and its acknowledgement on all links of the longest path at a rate \[b/s\].
    fn sending(&self, rate: u64) -> f64 {
        (self.links * self.bytes * 8) as f64 * 1e12 / rate as f64
    }

    /// \[ps\] The round trip of the network for hosts of a rate.
    pub(crate) fn network(&self, rate: u64) -> u64 {
        (self.delays as f64 + self.sending(rate)) as u64
    }

    /// \[ps\] The round trip of a pair of hosts if the parameters use pairs, otherwise of the network.
    pub(crate) fn pair(&self, source: u32, destination: u32, rate: u64) -> u64 {
        let [(from, near), (to, far)] = [source, destination].map(|host| self.homes[host as usize]);
        let count = self.pairs.len().isqrt();
        match self.pairs.get(from as usize * count + to as usize) {
            Some(inner) if count > 0 => ((inner + near + far) as f64 + self.sending(rate)) as u64,
            _ => self.network(rate),
        }
    }
}
