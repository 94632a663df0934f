//! Cycles: of channels that wait for each other, and of links through which flooded frames go.

use std::collections::VecDeque;

use fsin_core::network::Channel;

use super::frame::NONE;
use super::wiring::Wiring;

/// A port of a switch, or a class of it, as users know it.
fn channel(wiring: &Wiring, port: usize, class: Option<u8>) -> Channel {
    let link = &wiring.links[port];
    let (node, port) = (wiring.node(link.owner as usize), link.number as usize);
    match class {
        None => Channel::Switch { node, port, vc: 0 },
        Some(class) => Channel::Class { node, port, class },
    }
}

/// A cycle of outputs, of a class if `class` names one, each paused by the switch of the next one. `is_blocked(output)`
/// says whether frames wait at a paused output; `from(input, output)` says whether frames that came through an input
/// wait at an output of the same switch.
pub(crate) fn cyclic_wait(
    wiring: &Wiring,
    class: Option<u8>,
    is_blocked: impl Fn(usize) -> bool,
    from: impl Fn(usize, usize) -> bool,
) -> Vec<Channel> {
    let Some(first) = (0..wiring.links.len()).find(|&port| is_blocked(port)) else { return Vec::new() };
    let mut path = vec![first];
    loop {
        let last = path[path.len() - 1];
        let link = &wiring.links[last];
        let input = link.peer as usize;
        let next = wiring.ports(link.device as usize).find(|&output| is_blocked(output) && from(input, output));
        let Some(next) = next else { return Vec::new() };
        if let Some(at) = path.iter().position(|&port| port == next) {
            return path[at..].iter().map(|&port| channel(wiring, port, class)).collect();
        }
        path.push(next);
    }
}

/// A shortest cycle of links that enters a switch through an input: a copy of a flooded frame can go round it.
pub(crate) fn loop_through(wiring: &Wiring, input: usize) -> Vec<Channel> {
    let here = wiring.links[input].owner as usize;
    let last = wiring.links[input].peer as usize;
    let goal = wiring.links[last].owner as usize;
    // By device: the port through which it was reached.
    let mut through = vec![NONE; wiring.hosts + wiring.switches];
    let mut reached = VecDeque::from([here]);
    while let Some(device) = reached.pop_front() {
        if device == goal {
            break;
        }
        for port in wiring.ports(device) {
            let link = &wiring.links[port];
            let there = link.device as usize;
            if link.is_to_switch && there != here && port != input && through[there] == NONE {
                through[there] = port as u32;
                reached.push_back(there);
            }
        }
    }
    let mut path = vec![channel(wiring, last, None)];
    let mut device = goal;
    while device != here {
        let port = through[device];
        if port == NONE {
            return Vec::new();
        }
        path.push(channel(wiring, port as usize, None));
        device = wiring.links[port as usize].owner as usize;
    }
    path.reverse();
    path
}
