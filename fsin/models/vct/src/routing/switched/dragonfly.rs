//! Dragonflies: within the group to the switch with the link, to the other group, and there to the switch.
//!
//! A packet that has crossed c global links is in class c: local links of class c, global links of class c, then local
//! links of class c + 1. So it uses channels of increasing numbers, and there is no deadlock: with two classes on
//! minimal routes, with three on routes through a random intermediate group. (Kim et al., ISCA 2008, section 4.)
//!
//! `ugal` chooses at the first switch, from local information: packets ahead on the first link of the minimal route,
//! times its hops, against those on the first link of the non-minimal route. That is a different link if some other
//! group provides one. Packets to their own group always take the minimal route.
//!
//! Decision: docs/decisions/0039-dragonfly-routing.md.

use trgen::NodeId;
use trgen::catalog::{Component, SpecError};
use trgen::rng::{Purpose, mix2, pick};

use super::{Candidate, Departure, SwitchRouting, Visit, classes, plan};
use crate::router::RouterParams;
use crate::router::request::Input;
use crate::routing::{Avoidance, Choice, Requests, Routing, Row, Serves, Vcs};
use fsin_core::topology::Port;
use fsin_core::topology::switched::{Dragonfly as Plan, Fabric, Switched};

const ISCA: &str =
    "Kim, Dally, Scott, Abts, Technology-driven, highly-scalable dragonfly topology, ISCA 2008, section 4";

pub(in crate::routing) const UGAL: Row = Row {
    component: Component {
        name: "dragonfly:ugal",
        about: "dragonfly: minimal, or through another group, by which first link has fewer packets ahead times hops to go \
                (UGAL-L); V >= 3",
        parameters: &[],
        source: ISCA,
    },
    aliases: &["ugal", "ugal-l"],
    serves: Serves::Only(&["dragonfly"]),
    vcs: Vcs::AtLeast(3),
    dimensions: None,
    avoidance: Avoidance::Order,
    dead_links: false,
    requests: Requests::Switched { choice: Choice::Open, alternatives: false },
};

pub(in crate::routing) const MINIMAL: Row = Row {
    component: Component {
        name: "dragonfly:minimal",
        about: "dragonfly: local, between groups, local; channel class of links between groups crossed; V >= 2",
        parameters: &[],
        source: ISCA,
    },
    aliases: &["minimal"],
    serves: Serves::Only(&["dragonfly"]),
    vcs: Vcs::AtLeast(2),
    dimensions: None,
    avoidance: Avoidance::Order,
    dead_links: false,
    requests: Requests::Switched { choice: Choice::Open, alternatives: false },
};

pub(in crate::routing) const VALIANT: Row = Row {
    component: Component {
        name: "dragonfly:valiant",
        about: "dragonfly: through another group, drawn for each packet; V >= 3",
        parameters: &[],
        source: ISCA,
    },
    aliases: &["valiant"],
    serves: Serves::Only(&["dragonfly"]),
    vcs: Vcs::AtLeast(3),
    dimensions: None,
    avoidance: Avoidance::Order,
    dead_links: false,
    requests: Requests::Switched { choice: Choice::Open, alternatives: false },
};

/// Positions of the state words of a packet: global links crossed, and its kind of route.
const CROSSED: usize = 0;
const COURSE: usize = 1;

/// The route of a packet: undecided (at its first switch), minimal, or through another group.
const UNDECIDED: i16 = 0;
const STRAIGHT: i16 = 1;
const ROUND: i16 = 2;

/// Maximum number of draws of an intermediate group: where all groups are behind one link, there is no other.
const REDRAWS: usize = 8;

/// Routing function of a dragonfly.
#[derive(Debug)]
pub(in crate::routing) struct Dragonfly {
    plan: Plan,
    routing: Routing,
    classes: Vec<u32>,
    first: u32,
    /// By switch: its group, and its number there.
    stands: Box<[(u32, u32)]>,
    /// By global link of a group: the number of its switch in the group, and which of that switch's links it is.
    gates: Box<[(u32, u32)]>,
    /// By switch and port: true for a global link.
    leaves: Box<[bool]>,
    ports: usize,
}

impl Dragonfly {
    /// The group of a switch, and its number there.
    #[inline(always)]
    fn stand(&self, switch: NodeId) -> (u32, u32) {
        self.stands[(switch.0 - self.first) as usize]
    }

    /// The switch of group `from` whose link leads to group `to`, and which of its links that is, as
    /// [`Plan::gateway`] defines.
    #[inline(always)]
    fn gateway(&self, from: u32, to: u32, copy: u32) -> (u32, u32) {
        self.gates[self.plan.link(from, to, copy) as usize]
    }

    /// The link that a packet takes where several connect two groups: one of those of the present switch, if it has
    /// any.
    #[inline(always)]
    fn copy(&self, key: u64, stand: (u32, u32), to: u32) -> u32 {
        match self.plan.copies {
            1 => 0,
            copies => self.copy_among(copies, key, stand, to),
        }
    }

    #[inline(never)]
    fn copy_among(&self, copies: u32, key: u64, (from, own): (u32, u32), to: u32) -> u32 {
        let own = self.plan.copies_of(own, from, to);
        let among = if own.is_empty() { 0..copies } else { own };
        among.start + pick(mix2(key ^ u64::from(from), u64::from(to)), among.end - among.start)
    }

    /// The intermediate group of a packet on a non-minimal route; `None` if there is none. `ugal` compares that route
    /// with the minimal one, whose first link has index `straight`. It takes another group if the route begins with
    /// that link too, since the same packets would block both routes.
    fn round(&self, key: u64, (from, own): (u32, u32), to: u32, straight: usize) -> Option<u32> {
        if from == to || self.plan.groups < 3 {
            return None;
        }
        let mut draw = mix2(key, Purpose::Output as u64);
        let mut through = self.third(draw, from, to);
        for _ in 0..REDRAWS {
            if self.routing != Routing::DragonflyUgal || self.towards(key, (from, own), through) != straight {
                break;
            }
            draw = mix2(draw, Purpose::Output as u64);
            through = self.third(draw, from, to);
        }
        Some(through)
    }

    /// A random group other than these two.
    fn third(&self, draw: u64, from: u32, to: u32) -> u32 {
        let drawn = pick(draw, self.plan.groups - 2);
        let (low, high) = (from.min(to), from.max(to));
        let drawn = drawn + u32::from(drawn >= low);
        drawn + u32::from(drawn >= high)
    }

    /// The index of the link that leads from a switch towards another group.
    #[inline(always)]
    fn towards(&self, key: u64, (group, own): (u32, u32), to: u32) -> usize {
        let (gate, link) = self.gateway(group, to, self.copy(key, (group, own), to));
        if gate == own { self.plan.global_place(link) } else { self.plan.local_place(own, gate) }
    }

    /// \[hops\] From a switch to another group, and the switch at which the route enters that group.
    fn hops_to(&self, key: u64, (group, own): (u32, u32), to: u32) -> (u8, u32) {
        let copy = self.copy(key, (group, own), to);
        let (gate, _) = self.gateway(group, to, copy);
        let (arrival, _) = self.gateway(to, group, copy);
        (1 + u8::from(gate != own), arrival)
    }

    /// The link indices of the minimal and the non-minimal route, with hops to the last switch.
    fn courses(&self, visit: &Visit<'_>, home: NodeId) -> [Option<(usize, u8)>; 2] {
        let (group, own) = self.stand(visit.node);
        let (to, last) = self.stand(home);
        if group == to {
            return [Some((self.plan.local_place(own, last), 1)), None];
        }
        let (hops, arrival) = self.hops_to(visit.key, (group, own), to);
        let straight = (self.towards(visit.key, (group, own), to), hops + u8::from(arrival != last));
        let round = self.round(visit.key, (group, own), to, straight.0).map(|through| {
            let (first, middle) = self.hops_to(visit.key, (group, own), through);
            let (second, arrival) = self.hops_to(visit.key, (through, middle), to);
            (self.towards(visit.key, (group, own), through), first + second + u8::from(arrival != last))
        });
        [Some(straight), round]
    }

    /// The route of a packet that has left its first switch through a port.
    #[inline(never)]
    fn course(&self, fabric: &Fabric, visit: &Visit<'_>, port: Port) -> i16 {
        let (home, last) = fabric.home(visit.destination);
        if home == visit.node && last == port {
            // It has arrived.
            return UNDECIDED;
        }
        let [straight, round] = self.courses(visit, home);
        let takes =
            |course: Option<(usize, u8)>| course.is_some_and(|(place, _)| fabric.port(visit.node, place) == port);
        let is_round = takes(round) && (self.routing == Routing::DragonflyValiant || !takes(straight));
        if is_round { ROUND } else { STRAIGHT }
    }
}

impl SwitchRouting for Dragonfly {
    fn new(params: &RouterParams, network: &Switched) -> Result<Self, SpecError> {
        let (plan, fabric): (&Plan, _) = (plan(params, network)?, network.fabric());
        let (routing, vcs) = (params.routing, params.vcs);
        let count = if routing == Routing::DragonflyMinimal { 2 } else { 3 };
        Ok(Self {
            routing,
            classes: classes(count, vcs),
            first: fabric.endpoints() as u32,
            stands: (fabric.endpoints()..fabric.nodes()).map(|switch| plan.place(NodeId::at(switch))).collect(),
            gates: (0..plan.copies * (plan.groups - 1)).map(|link| plan.gate(link)).collect(),
            leaves: (fabric.endpoints()..fabric.nodes())
                .flat_map(|switch| (0..fabric.ports()).map(move |port| (NodeId::at(switch), Port(port as u8))))
                .map(|(switch, port)| {
                    let next = fabric.neighbour(switch, port).filter(|next| next.index() >= fabric.endpoints());
                    next.is_some_and(|next| plan.place(next).0 != plan.place(switch).0)
                })
                .collect(),
            ports: fabric.ports(),
            plan: plan.clone(),
        })
    }

    fn last_channels(&self, _visit: &Visit<'_>, all: u32) -> u32 {
        all
    }

    /// The candidate of a packet that has no choice, or none any more.
    #[inline(always)]
    fn single_candidate(&self, fabric: &Fabric, visit: &Visit<'_>, home: NodeId) -> Option<Candidate> {
        let crossed = (visit.state[CROSSED] as usize).min(self.classes.len() - 1);
        let is_straight = self.routing == Routing::DragonflyMinimal || visit.state[COURSE] == STRAIGHT || crossed > 0;
        if !is_straight {
            return None;
        }
        let (group, own) = self.stand(visit.node);
        let (to, last) = self.stand(home);
        let place = match group == to {
            true => self.plan.local_place(own, last),
            false => self.towards(visit.key, (group, own), to),
        };
        let port = fabric.port(visit.node, place);
        Some(Candidate { port, vcs: self.classes[crossed], tier: 0, hops: 1, bubble: false })
    }

    fn candidates(&self, fabric: &Fabric, visit: &Visit<'_>, home: NodeId, _all: u32, mut see: impl FnMut(Candidate)) {
        let vcs = self.classes[0];
        let course = match (self.routing, visit.state[COURSE]) {
            (Routing::DragonflyValiant, UNDECIDED) => ROUND,
            (_, course) => course,
        };
        let mut candidate =
            |(place, hops)| see(Candidate { port: fabric.port(visit.node, place), vcs, tier: 0, hops, bubble: false });
        let [straight, round] = self.courses(visit, home);
        if course == UNDECIDED || round.is_none() {
            straight.into_iter().for_each(&mut candidate);
        }
        round.into_iter().for_each(&mut candidate);
    }

    /// True where a choice is to be made.
    fn weighs(&self, visit: &Visit<'_>) -> bool {
        self.routing == Routing::DragonflyUgal && visit.state[COURSE] == UNDECIDED && visit.state[CROSSED] == 0
    }

    /// The state of a packet after it has left a switch through a port.
    #[inline(always)]
    fn hop(&self, fabric: &Fabric, at: &Departure, port: Port, state: &mut [i16]) {
        let Departure { node, destination, key } = *at;
        if self.routing != Routing::DragonflyMinimal && state[COURSE] == UNDECIDED {
            let visit = Visit { node, input: Input::Injection, source: node, destination, key, state };
            state[COURSE] = self.course(fabric, &visit, port);
        }
        let switch = (node.0 - self.first) as usize;
        state[CROSSED] += i16::from(self.leaves[switch * self.ports + port.index()]);
    }
}
