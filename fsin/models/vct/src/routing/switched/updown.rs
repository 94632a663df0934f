//! `graph:updown`: up to switches nearer to the root, then down, in any network of switches.
//!
//! The switches are ordered, from the one with most links on, by distance and then by number. A packet goes up to
//! switches that come earlier, any number of times, and then down; never up again. It takes the shortest of all such
//! paths. Up channels wait for channels of switches further up, or for down channels, and these for those further down:
//! one channel suffices to exclude deadlock. (Schroeder et al., Autonet, JSAC 9(8), 1991.)

use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::links::{FAR, Links};
use super::{Candidate, Departure, SwitchRouting, Visit, next_switch};
use crate::router::RouterParams;
use crate::routing::{Avoidance, Choice, Requests, Row, Serves, Vcs};
use fsin_core::route::downwards;
use fsin_core::topology::Port;
use fsin_core::topology::switched::{Fabric, Switched};

pub(in crate::routing) const ROW: Row = Row {
    component: Component {
        name: "graph:updown",
        about: "any network of switches: up*/down*, shortest of such paths, from the switch with most links; V >= 1",
        parameters: &[],
        source: "Schroeder et al., Autonet: a high-speed, self-configuring local area network, JSAC 9(8), 1991",
    },
    aliases: &["up-down", "up*/down*", "updown"],
    serves: Serves::Switched,
    vcs: Vcs::AtLeast(1),
    dimensions: None,
    avoidance: Avoidance::Order,
    dead_links: true,
    requests: Requests::Switched { choice: Choice::Open, alternatives: false },
};

/// Routing function up, then down.
#[derive(Debug)]
pub(in crate::routing) struct UpDown {
    /// Links between switches.
    links: Links,
    /// By switch: its position in the order.
    order: Vec<u32>,
    /// \[hops\] Distance over links up and then down, by destination switch and present switch.
    any: Vec<u16>,
    /// \[hops\] Distance over links down only, by destination switch and present switch.
    down: Vec<u16>,
}

impl UpDown {
    /// True if the link from switch `from` to switch `to` goes down.
    fn is_down(&self, from: usize, to: usize) -> bool {
        self.order[from] < self.order[to]
    }
}

impl SwitchRouting for UpDown {
    fn new(_params: &RouterParams, network: &Switched) -> Result<Self, SpecError> {
        let links = Links::new(network.fabric())?;
        let count = links.count();
        let plain = |links: &Vec<(Port, u32)>| links.iter().map(|&(port, next)| (port.0.into(), next)).collect();
        let sorted = downwards(&links.to.iter().map(plain).collect(), network.fabric().nics());
        let mut order = vec![0; count];
        for (position, &switch) in sorted.iter().enumerate() {
            order[switch as usize] = position as u32;
        }
        let (mut any, mut down) = (Vec::new(), Vec::new());
        for to in 0..count {
            let only_down = links.distances(to, |from, to| order[from as usize] < order[to as usize]);
            let mut both = only_down.clone();
            // A packet that goes up first meets switches whose distance is known already.
            for &switch in &sorted {
                let ups = links.to[switch as usize].iter().map(|&(_, next)| next as usize);
                let ups = ups.filter(|&next| order[next] < order[switch as usize]);
                let best = ups.map(|next| both[next].saturating_add(1)).min().unwrap_or(FAR);
                both[switch as usize] = both[switch as usize].min(best);
            }
            any.extend(both);
            down.extend(only_down);
        }
        Ok(Self { links, order, any, down })
    }

    fn last_channels(&self, _visit: &Visit<'_>, all: u32) -> u32 {
        all
    }

    fn single_candidate(&self, _fabric: &Fabric, _visit: &Visit<'_>, _home: NodeId) -> Option<Candidate> {
        None
    }

    fn candidates(
        &self,
        _fabric: &Fabric,
        visit: &Visit<'_>,
        home: NodeId,
        all: u32,
        mut add_candidate: impl FnMut(Candidate),
    ) {
        let (here, to) = (self.links.number(visit.node), self.links.number(home));
        let row = |table: &[u16], switch: usize| u32::from(table[to * self.links.count() + switch]);
        let goes_down = visit.state[0] != 0;
        let left = row(if goes_down { &self.down } else { &self.any }, here);
        for &(port, next) in &self.links.to[here] {
            let next = next as usize;
            let rest = match self.is_down(here, next) {
                true => row(&self.down, next),
                false if goes_down => continue,
                false => row(&self.any, next),
            };
            if rest + 1 == left {
                add_candidate(Candidate { port, vcs: all, tier: 0, hops: 1, bubble: false });
            }
        }
    }

    fn may_weigh(&self) -> bool {
        false
    }

    fn weighs(&self, _visit: &Visit<'_>) -> bool {
        false
    }

    #[inline(never)]
    fn hop(&self, fabric: &Fabric, at: &Departure, port: Port, state: &mut [i16]) {
        let next = next_switch(fabric, at.node, port);
        if next.is_some_and(|next| self.is_down(self.links.number(at.node), self.links.number(next))) {
            state[0] = 1;
        }
    }
}
