//! Links that die and are repaired: which are dead now, and what happens later.

use std::collections::VecDeque;

use fsin_core::failures::{Failures, dead_ports, parts};
use fsin_core::topology::{DeadLink, Topology};
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::wiring::Wiring;
use crate::params::Params;

/// The state of links from some time on.
#[derive(Clone, Debug)]
pub(crate) struct Later {
    /// \[ps\] The time.
    pub(crate) at: u64,
    /// By port: true if its link is dead.
    dead: Vec<bool>,
    /// By host: the part of the network in which it is.
    parts: Vec<u32>,
}

/// The state of links now, and what happens to them later.
#[derive(Clone, Default, Debug)]
pub(crate) struct Alive {
    /// By port: true if its link is dead. Empty if no link ever dies.
    dead: Vec<bool>,
    /// By host: the part of the network in which it is. Empty if no link ever dies.
    pub(crate) parts: Vec<u32>,
    /// What happens later, in order of time.
    later: VecDeque<Later>,
}

impl Alive {
    /// # Errors
    /// Hosts that are cut off, where senders would wait for them for ever.
    pub(crate) fn new(topology: &dyn Topology, wiring: &Wiring, params: &Params) -> Result<Self, SpecError> {
        let Failures { changes, .. } = &params.failures;
        if params.failures.is_empty() {
            return Ok(Self::default());
        }
        let times = std::iter::once(0).chain(changes.iter().map(|change| change.at));
        let state = |(at, dead): (u64, Vec<DeadLink>)| {
            let dead = dead_ports(&dead);
            let mut by_port = vec![false; wiring.links.len()];
            for port in dead.iter().filter_map(|&(node, port)| wiring.port_of(node, port)) {
                // Links are full duplex.
                for end in [port, wiring.links[port].peer as usize] {
                    by_port[end] = true;
                }
            }
            Later { at, dead: by_port, parts: parts(topology, &dead) }
        };
        let mut later: VecDeque<Later> = times.zip(params.failures.phases()).map(state).collect();
        let is_parted = |state: &Later| state.parts.iter().any(|part| *part != state.parts[0]);
        if params.transport.acknowledges() && later.iter().any(is_parted) {
            let what = phrase![
                ["fail"],
                ": hosts are cut off, and with ",
                ["transport" => params.transport.name()],
                " senders would send to them again and again"
            ];
            let remedy = phrase!["let fewer links fail, or use ", ["transport" => "oracle"]];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("fail"));
        }
        let first = later.pop_front();
        let (dead, parts) = first.map_or_else(Default::default, |first| (first.dead, first.parts));
        Ok(Self { dead, parts, later })
    }

    /// True if no link ever dies.
    pub(crate) const fn is_always(&self) -> bool {
        self.dead.is_empty()
    }

    /// True if the link of a port is dead.
    #[inline(always)]
    pub(crate) fn is_dead(&self, port: usize) -> bool {
        self.dead.get(port).is_some_and(|&dead| dead)
    }

    /// \[ps\] Time of the next change; `None` if there is none.
    #[inline(always)]
    pub(crate) fn next_at(&self) -> Option<u64> {
        self.later.front().map(|later| later.at)
    }

    /// Makes the next change. Returns the ports whose links die, and those whose links are repaired.
    pub(crate) fn advance(&mut self) -> [Vec<usize>; 2] {
        let Some(next) = self.later.pop_front() else { return [Vec::new(), Vec::new()] };
        let changed = |dies: bool| {
            let both = next.dead.iter().zip(&self.dead).enumerate();
            both.filter(|(_, (after, before))| after != before && **after == dies).map(|(port, _)| port).collect()
        };
        let ports = [changed(true), changed(false)];
        (self.dead, self.parts) = (next.dead, next.parts);
        ports
    }
}
