//! The spanning tree that cuts loops.
//!
//! It is that of IEEE 802.1D (clause 17, RSTP). The root is the switch with the lowest number, network interfaces of
//! hosts excepted. Every other switch has a root port: the one with the least path cost; among equals that to the
//! switch with the lowest number, and then to its lowest port. A link is blocked if neither of its ends is a root port.
//! The cost of a link is 20 Tb/s divided by its data rate (table 17-3). The tree leads through interfaces of hosts only
//! to switches that it does not reach otherwise, as if links from them had a higher cost than all others. Switches begin
//! with this tree: its messages are not simulated.

use super::alive::Alive;
use super::frame::NONE;
use super::wiring::Wiring;

/// \[b/s\] Rate of a link of cost 1: the cost of a link is this number over its rate.
const REFERENCE: u64 = 20_000_000_000_000;

/// By port: whether it forwards frames. Ports to hosts always do.
pub(crate) fn spanning(wiring: &Wiring, alive: &Alive) -> Vec<bool> {
    let mut forwards: Vec<bool> = wiring.links.iter().map(|link| !link.is_to_switch).collect();
    let first = wiring.hosts;
    // By switch: whether its path to the root is known.
    let mut known = vec![false; wiring.switches];
    let mut candidates = std::collections::BinaryHeap::new();
    // Where links are dead, each part of the network has a tree of its own.
    let is_nic = |&switch: &usize| wiring.nics.contain(switch);
    let roots = (0..wiring.switches).filter(|switch| !is_nic(switch)).chain((0..wiring.switches).filter(is_nic));
    for root in roots {
        if !known[root] {
            candidates.push(std::cmp::Reverse((0, 0, root, NONE, root, NONE)));
        }
        while let Some(std::cmp::Reverse((passed, cost, _, _, switch, root_port))) = candidates.pop() {
            if std::mem::replace(&mut known[switch], true) {
                continue;
            }
            if root_port != NONE {
                forwards[root_port as usize] = true;
                forwards[wiring.links[root_port as usize].peer as usize] = true;
            }
            let passed = passed + u32::from(is_nic(&switch));
            for port in wiring.ports(first + switch) {
                let link = &wiring.links[port];
                if link.is_to_switch && !alive.is_dead(port) {
                    let cost = cost + (REFERENCE / link.rate).max(1);
                    let there = link.device as usize - first;
                    // In the order of preference: interfaces on the way, cost, the switch nearer the root, its port.
                    candidates.push(std::cmp::Reverse((passed, cost, switch, port as u32, there, link.peer)));
                }
            }
        }
    }
    for host in 0..first {
        forwards[wiring.host_port(host as u32)] = true;
    }
    (0..forwards.len()).filter(|&port| alive.is_dead(port)).for_each(|port| forwards[port] = false);
    forwards
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;

    #[test]
    fn trees_reach_every_switch_once() {
        for spec in ["torus:4x3", "hypercube:3", "fattree:2,3", "hyperx:3x2:2", "mesh:5"] {
            let topology = fsin_core::topology::parse(spec, 2).unwrap();
            let wiring = Wiring::new(&*topology, &Params::default()).unwrap();
            let forwards = spanning(&wiring, &Alive::default());
            let links = wiring.links.iter().enumerate();
            let inner = links.filter(|(port, link)| {
                let both = (wiring.is_host(link.owner), wiring.is_host(link.device));
                assert_eq!(forwards[*port], forwards[link.peer as usize], "{spec}");
                forwards[*port] && both == (false, false)
            });
            assert_eq!(inner.count(), 2 * (wiring.switches - 1), "{spec}");
            let mut reached = vec![false; wiring.switches];
            let mut next = vec![0];
            while let Some(switch) = next.pop() {
                if !std::mem::replace(&mut reached[switch], true) {
                    let ports = wiring.ports(wiring.hosts + switch).filter(|&port| forwards[port]);
                    let ends = ports.map(|port| wiring.links[port].device as usize);
                    next.extend(ends.filter_map(|device| device.checked_sub(wiring.hosts)));
                }
            }
            assert!(reached.iter().all(|&reached| reached), "{spec}");
        }
    }
}
