//! Static reconfiguration: routes that change while a network runs.
//!
//! Packets of two generations of routes could wait for each other in a cycle that is in neither channel dependency
//! graph. So they never meet (Schroeder et al., Autonet, JSAC 9(8), 1991; Duato, Yalamanchili and Ni, Interconnection
//! Networks, 2003, on static reconfiguration):
//!
//! - From the cycle of a failure or a repair on, nodes begin no packets. Those that they have begun go on, by the
//!   routes with which they began.
//! - In the first cycle in which no packet is under way, the routes of the links that are then alive take effect, and
//!   nodes begin packets again. The network drains, since these packets are some of those that a graph without a cycle
//!   allows.
//! - A link that is dead damages what comes off it. A damaged packet keeps its channels, is discarded at its
//!   destination and reported lost. So no channel is torn from a packet, and the network drains as if the link lived.
//!
//! **How this departs from reality.** A switch would discard a packet at the dead link, and not at its destination, so
//! that channels behind the link were free earlier: the time for which injection is held is an upper bound. Switches
//! learn of the failure, and compute and load their tables, in no time: it is a lower bound of a real reconfiguration,
//! which takes some 0.1 s.
//!
//! Decision: docs/decisions/0221-reconfiguration.md.

use std::collections::VecDeque;

use crate::network::Measure;

/// The generations of routes `R` of a network, and the reconfigurations so far.
#[derive(Clone, Debug)]
pub struct Reconfiguration<R> {
    /// What follows the next changes: the first cycle after each, and the routes.
    later: VecDeque<(u64, R)>,
    /// The routes after the last change, if they have not taken effect.
    next: Option<R>,
    /// \[cycle\] Since when nodes begin no packets; `None` if they do.
    since: Option<u64>,
    /// True if there were ever changes to come.
    is_planned: bool,
    /// Number of times that routes have taken effect.
    count: u64,
    /// \[cycles\] For how long nodes began no packets, in total and at most, in those times.
    held: (u64, u64),
}

static COUNT: Measure = Measure {
    name: "reconfigurations",
    unit: "",
    about: "times that the routes of the links that are alive have taken effect, after failures and repairs",
};
static HELD_MEAN: Measure = Measure {
    name: "injection_held_mean",
    unit: "cycles",
    about: "for which nodes began no packets until the network was empty and new routes took effect",
};
static HELD_MAX: Measure =
    Measure { name: "injection_held_max", unit: "cycles", about: "the longest time for which nodes began no packets" };

impl<R> Reconfiguration<R> {
    /// The first cycle after each change, in their order, with the routes that then take effect.
    #[must_use]
    pub fn new(later: impl IntoIterator<Item = (u64, R)>) -> Self {
        let later: VecDeque<(u64, R)> = later.into_iter().collect();
        Self { is_planned: !later.is_empty(), later, next: None, since: None, count: 0, held: (0, 0) }
    }

    /// True if links die or are repaired during the run.
    #[must_use]
    #[inline]
    pub const fn is_planned(&self) -> bool {
        self.is_planned
    }

    /// True if nodes begin no packets.
    #[must_use]
    #[inline]
    pub const fn is_held(&self) -> bool {
        self.since.is_some()
    }

    /// \[cycle\] The first cycle of the next change; `until`, if that comes before.
    #[must_use]
    pub fn next_change(&self, until: u64) -> u64 {
        self.later.front().map_or(until, |&(at, _)| at.min(until))
    }

    /// Makes the change of cycle `now`, if there is one: from then on nodes begin no packets. Returns true if so.
    pub fn change(&mut self, now: u64) -> bool {
        let Some((_, routes)) = self.later.pop_front_if(|&mut (at, _)| at <= now) else { return false };
        self.next = Some(routes);
        self.since.get_or_insert(now);
        true
    }

    /// The routes that take effect in cycle `now`, before which the network is empty; `None` if nothing has changed.
    pub fn renew(&mut self, now: u64) -> Option<R> {
        let held = now - self.since.take()?;
        self.count += 1;
        self.held = (self.held.0 + held, self.held.1.max(held));
        self.next.take()
    }

    /// The figures of the reconfigurations so far; none if there is nothing to change.
    #[must_use]
    pub fn measures(&self) -> Vec<(&'static Measure, f64)> {
        if !self.is_planned {
            return Vec::new();
        }
        let mean = if self.count > 0 { self.held.0 as f64 / self.count as f64 } else { 0.0 };
        vec![(&COUNT, self.count as f64), (&HELD_MEAN, mean), (&HELD_MAX, self.held.1 as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_while_injection_is_held_make_one_reconfiguration() {
        let mut routes = Reconfiguration::new([(5, 'a'), (7, 'b'), (20, 'c')]);
        assert_eq!((routes.next_change(9), routes.next_change(3)), (5, 3));
        assert!(!routes.change(4) && !routes.is_held());
        assert!(routes.change(5) && !routes.change(5) && routes.is_held());
        assert!(routes.change(7));
        assert_eq!((routes.renew(9), routes.renew(9), routes.is_held()), (Some('b'), None, false));
        assert!(routes.change(20));
        assert_eq!((routes.renew(20), routes.next_change(50)), (Some('c'), 50));
        let figures: Vec<f64> = routes.measures().into_iter().map(|(_, value)| value).collect();
        assert_eq!(figures, [2.0, 2.0, 4.0]);
    }
}
