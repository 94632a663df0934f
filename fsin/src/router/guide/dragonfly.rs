//! Dragonflies: within the group to the switch with the link, to the other group, and there to the switch.
//!
//! A packet that has crossed c links between groups is in class c: local links of class c, links between groups of class
//! c, then local links of class c + 1. So it goes through channels of increasing numbers, and nothing locks: with two
//! classes on minimal routes, with three on those through a group that is drawn. (Kim et al., ISCA 2008, section 4.)
//!
//! `ugal` chooses at the first switch, by what is known there: packets ahead on the first link of the minimal route, times
//! its hops, against those on the first link of the other. Packets that go to their own group always go straight.

use trgen::NodeId;
use trgen::rng::{Purpose, mix2, pick};

use super::{Visit, Way, classes};
use crate::routing::Routing;
use crate::topology::Port;
use crate::topology::switched::{Dragonfly, Fabric};

/// Positions of what a packet carries: links between groups that it has crossed, and how it goes.
const CROSSED: usize = 0;
const COURSE: usize = 1;

/// How a packet goes: not decided yet (at its first switch), straight, or through another group.
const UNDECIDED: i16 = 0;
const STRAIGHT: i16 = 1;
const ROUND: i16 = 2;

/// Ways of a dragonfly.
#[derive(Debug)]
pub(super) struct DragonflyGuide {
    plan: Dragonfly,
    routing: Routing,
    classes: Vec<u32>,
}

impl DragonflyGuide {
    pub(super) fn new(plan: &Dragonfly, routing: Routing, vcs: usize) -> Self {
        let count = if routing == Routing::DragonflyMinimal { 2 } else { 3 };
        Self { plan: plan.clone(), routing, classes: classes(count, vcs) }
    }

    /// Which of the links between two groups a packet takes, if there are several.
    fn copy(&self, key: u64, from: u32, to: u32) -> u32 {
        match self.plan.copies {
            1 => 0,
            copies => pick(mix2(key ^ u64::from(from), u64::from(to)), copies),
        }
    }

    /// The group that a packet goes through if it does not go straight; `None` if there is none.
    fn round(&self, key: u64, from: u32, to: u32) -> Option<u32> {
        if from == to || self.plan.groups < 3 {
            return None;
        }
        let drawn = pick(mix2(key, Purpose::Output as u64), self.plan.groups - 2);
        let (low, high) = (from.min(to), from.max(to));
        let drawn = drawn + u32::from(drawn >= low);
        Some(drawn + u32::from(drawn >= high))
    }

    /// The place of the link that leads from a switch towards another group.
    fn towards(&self, key: u64, (group, own): (u32, u32), to: u32) -> usize {
        let (gate, link) = self.plan.gateway(group, to, self.copy(key, group, to));
        if gate == own { self.plan.global_place(link) } else { self.plan.local_place(own, gate) }
    }

    /// \[hops\] From a switch to another group, and which switch of it is met.
    fn hops_to(&self, key: u64, (group, own): (u32, u32), to: u32) -> (u8, u32) {
        let copy = self.copy(key, group, to);
        let (gate, _) = self.plan.gateway(group, to, copy);
        let (arrival, _) = self.plan.gateway(to, group, copy);
        (1 + u8::from(gate != own), arrival)
    }

    /// The places of the straight way, and of that round, with hops to the last switch.
    fn courses(&self, visit: &Visit<'_>, home: NodeId) -> [Option<(usize, u8)>; 2] {
        let (group, own) = self.plan.place(visit.node);
        let (to, last) = self.plan.place(home);
        if group == to {
            return [Some((self.plan.local_place(own, last), 1)), None];
        }
        let (hops, arrival) = self.hops_to(visit.key, (group, own), to);
        let straight = (self.towards(visit.key, (group, own), to), hops + u8::from(arrival != last));
        let round = self.round(visit.key, group, to).map(|through| {
            let (first, middle) = self.hops_to(visit.key, (group, own), through);
            let (second, arrival) = self.hops_to(visit.key, (through, middle), to);
            (self.towards(visit.key, (group, own), through), first + second + u8::from(arrival != last))
        });
        [Some(straight), round]
    }

    pub(super) fn ways(&self, fabric: &Fabric, visit: &Visit<'_>, home: NodeId, mut see: impl FnMut(Way)) {
        let crossed = (visit.state[CROSSED] as usize).min(self.classes.len() - 1);
        let vcs = self.classes[crossed];
        let course = match (self.routing, visit.state[COURSE]) {
            (Routing::DragonflyMinimal, _) => STRAIGHT,
            (Routing::DragonflyValiant, UNDECIDED) => ROUND,
            (_, course) => course,
        };
        let mut way =
            |(place, hops)| see(Way { port: fabric.port(visit.node, place), vcs, tier: 0, hops, bubble: false });
        if course == STRAIGHT || crossed > 0 {
            let (group, own) = self.plan.place(visit.node);
            let (to, last) = self.plan.place(home);
            return match group == to {
                true => way((self.plan.local_place(own, last), 1)),
                false => way((self.towards(visit.key, (group, own), to), 1)),
            };
        }
        let [straight, round] = self.courses(visit, home);
        if course == UNDECIDED || round.is_none() {
            straight.into_iter().for_each(&mut way);
        }
        round.into_iter().for_each(&mut way);
    }

    /// Where a choice is to be made.
    pub(super) fn weighs(&self, visit: &Visit<'_>) -> bool {
        self.routing == Routing::DragonflyUgal && visit.state[COURSE] == UNDECIDED && visit.state[CROSSED] == 0
    }

    pub(super) fn hop(
        &self,
        fabric: &Fabric,
        visit: &Visit<'_>,
        home: NodeId,
        port: Port,
        next: NodeId,
        state: &mut [i16],
    ) {
        if self.routing != Routing::DragonflyMinimal && state[COURSE] == UNDECIDED {
            let [straight, round] = self.courses(visit, home);
            let takes =
                |course: Option<(usize, u8)>| course.is_some_and(|(place, _)| fabric.port(visit.node, place) == port);
            let is_round = takes(round) && (self.routing == Routing::DragonflyValiant || !takes(straight));
            state[COURSE] = if is_round { ROUND } else { STRAIGHT };
        }
        if self.plan.place(visit.node).0 != self.plan.place(next).0 {
            state[CROSSED] += 1;
        }
    }
}
