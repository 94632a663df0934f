//! Up*/down* routing by tables of distances, for any network of switches.
//!
//! Switches are ordered by their distance from the one with most links, and then by number. Up channels wait for
//! channels of switches further up, or for down channels, and these for those further down: no cycle, with one virtual
//! channel already. Network interfaces of hosts come last, since no route may turn up again at one of them; parts of
//! the network that only interfaces join, such as planes, have a root each.

use trgen::catalog::{Component, SpecError};

use super::shortest::{FAR, Links, distances, links_for};
use super::table::{Build, Choice, Function, Row, Serves};
use super::{ChannelPolicy, Draw, Hop, Phase, RoutingFunction, Visit};
use crate::topology::switched::Nics;

/// The switches in their order, the root first. Where the network is in several parts, each has a root of its own.
#[must_use]
pub fn downwards(links: &Links, nics: &Nics) -> Vec<u32> {
    let mut depths = vec![FAR; links.len()];
    // The first of those with most links.
    let weight = |&switch: &usize| (links[switch].len(), std::cmp::Reverse(switch));
    let may_be_root = |depths: &[u16], &switch: &usize| depths[switch] == FAR && !nics.bar(switch);
    while let Some(root) = (0..links.len()).filter(|switch| may_be_root(&depths, switch)).max_by_key(weight) {
        for (depth, found) in depths.iter_mut().zip(distances(links, root, |_, next| !nics.bar(next as usize))) {
            *depth = found.min(*depth);
        }
    }
    let mut sorted: Vec<u32> = (0..links.len() as u32).collect();
    sorted.sort_unstable_by_key(|&switch| (nics.bar(switch as usize), depths[switch as usize], switch));
    sorted
}

/// Up, then down.
pub static ROW: Row = Row {
    component: Component {
        name: "updown",
        about: "any network: up*/down*, up to routers nearer the root, which is the one with most links, then down; shortest of \
                such paths",
        parameters: &[],
        source: "Schroeder et al., Autonet: a high-speed, self-configuring local area network, JSAC 9(8), 1991",
    },
    aliases: &["up-down", "up*/down*", "graph:updown"],
    serves: Serves::Every,
    policy: ChannelPolicy::Free,
    why: "",
    choice: Choice::Any,
    build: |build| Ok(Function::UpDown(UpDown::of(build)?)),
};

/// Phase of a packet that has gone down.
const DOWN: Phase = 1;

/// Shortest routes that go up and then down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UpDown {
    /// By switch: its ports to other switches.
    links: Links,
    /// By switch: its position in the order.
    order: Vec<u32>,
    /// \[hops\] Distance over links up and then down, by destination switch and present switch.
    any: Vec<u16>,
    /// \[hops\] Distance over links down only, by destination switch and present switch.
    down: Vec<u16>,
}

impl UpDown {
    fn of(build: &Build<'_>) -> Result<Self, SpecError> {
        Ok(Self::new(links_for(build)?, &Nics::of(build.topology)))
    }

    /// The tables, with two entries for each pair of switches.
    #[must_use]
    pub fn new(links: Links, nics: &Nics) -> Self {
        let count = links.len();
        let sorted = downwards(&links, nics);
        let mut order = vec![0; count];
        for (position, &switch) in sorted.iter().enumerate() {
            order[switch as usize] = position as u32;
        }
        let (mut any, mut down) = (Vec::new(), Vec::new());
        for to in 0..count {
            let only_down = distances(&links, to, |from, to| order[from as usize] < order[to as usize]);
            let mut both = only_down.clone();
            // In this order, the distance of every switch further up is known.
            for &switch in &sorted {
                let ups = links[switch as usize].iter().map(|&(_, next)| next as usize);
                let ups = ups.filter(|&next| order[next] < order[switch as usize]);
                let best = ups.map(|next| both[next].saturating_add(1)).min().unwrap_or(FAR);
                both[switch as usize] = both[switch as usize].min(best);
            }
            any.extend(both);
            down.extend(only_down);
        }
        Self { links, order, any, down }
    }

    /// True if a link between these switches leads down.
    #[must_use]
    pub fn is_down(&self, from: usize, to: usize) -> bool {
        self.order[from] < self.order[to]
    }

    /// The ports of a switch that lead nearer to the switch `to`, each with the switch behind it. After a hop down,
    /// only ports that lead down.
    pub fn next(&self, switch: usize, to: usize, has_gone_down: bool) -> impl Iterator<Item = (u32, u32)> {
        let row = move |table: &[u16], switch: usize| u32::from(table[to * self.links.len() + switch]);
        let left = row(if has_gone_down { &self.down } else { &self.any }, switch);
        self.links[switch].iter().copied().filter(move |&(_, next)| {
            let next = next as usize;
            let rest = match self.is_down(switch, next) {
                true => row(&self.down, next),
                false if has_gone_down => return false,
                false => row(&self.any, next),
            };
            rest + 1 == left
        })
    }
}

impl RoutingFunction for UpDown {
    fn classes(&self) -> usize {
        1
    }

    fn hops(&self, at: &Visit, _: &mut impl Draw, mut add: impl FnMut(Hop)) {
        self.next(at.here, at.home, at.phase == DOWN).for_each(|(port, _)| add(Hop::free(port)));
    }

    fn hop(&self, at: &Visit, next: usize, _: &mut impl Draw) -> Phase {
        if self.is_down(at.here, next) { DOWN } else { at.phase }
    }

    /// None is needed: the order of channels follows from the order of switches, in every network.
    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        Some(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_cut_at_its_far_side() {
        let ring: Links = (0..5u32).map(|switch| vec![(0, (switch + 1) % 5), (1, (switch + 4) % 5)]).collect();
        let routes = UpDown::new(ring, &Nics::default());
        // From 0 both ways; between 2 and 3, both at depth 2, the link leads down to the larger number.
        assert_eq!(routes.next(0, 2, false).collect::<Vec<_>>(), [(0, 1)]);
        assert_eq!(routes.next(2, 3, false).collect::<Vec<_>>(), [(0, 3)]);
        // 1 reaches 3 by a hop up or, over 2, by two down: both in two hops.
        assert_eq!(routes.next(1, 3, false).collect::<Vec<_>>(), [(0, 2)]);
        assert_eq!(routes.next(4, 2, true).collect::<Vec<_>>(), []);
        assert!(routes.is_down(2, 3) && !routes.is_down(3, 4));
    }

    /// A line of three switches with the greatest number in its middle, beside the part of the root.
    #[test]
    fn each_part_of_a_network_has_a_root() {
        let links: Links =
            vec![vec![(0, 1), (1, 1), (2, 1)], vec![(0, 0)], vec![(0, 4)], vec![(0, 4)], vec![(0, 2), (1, 3)]];
        assert_eq!(downwards(&links, &Nics::default()), [0, 4, 1, 2, 3]);
        let routes = UpDown::new(links, &Nics::default());
        assert_eq!(routes.next(2, 3, false).collect::<Vec<_>>(), [(0, 4)]);
        assert_eq!(routes.next(4, 3, false).collect::<Vec<_>>(), [(1, 3)]);
        assert_eq!(routes.next(2, 0, false).count() + routes.next(0, 2, false).count(), 0);
    }
}
