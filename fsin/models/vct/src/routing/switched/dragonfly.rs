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

/// Index in a packet's state words of the number of global links crossed.
const CROSSED: usize = 0;
/// Index in a packet's state words of the kind of its route.
const ROUTE_KIND: usize = 1;

/// Kind of route of a packet that has not left its first switch.
const UNDECIDED_ROUTE: i16 = 0;
/// Kind of route: minimal.
const MINIMAL_ROUTE: i16 = 1;
/// Kind of route: through an intermediate group.
const INDIRECT_ROUTE: i16 = 2;

/// Maximum number of draws of an intermediate group. The limit ends the search if all groups are behind one link.
const MAX_REDRAWS: usize = 8;

/// Routing function of a dragonfly.
#[derive(Debug)]
pub(in crate::routing) struct Dragonfly {
    /// The construction plan of the dragonfly.
    plan: Plan,
    routing: Routing,
    /// By class: its virtual channels, as a mask.
    classes: Vec<u32>,
    /// Number of the first switch: endpoints come before switches.
    first_switch: u32,
    /// By switch: its group, and its number there.
    positions: Box<[(u32, u32)]>,
    /// By global link of a group: the number of its switch in the group, and which of that switch's links it is.
    gateways: Box<[(u32, u32)]>,
    /// By switch and port: true for a global link.
    is_global: Box<[bool]>,
    /// Number of ports of each switch.
    ports: usize,
}

impl Dragonfly {
    /// The group of a switch, and its number there.
    #[inline(always)]
    fn position(&self, switch: NodeId) -> (u32, u32) {
        self.positions[(switch.0 - self.first_switch) as usize]
    }

    /// The switch of group `from` whose link leads to group `to`, and which of its links that is, as
    /// [`Plan::gateway`] defines.
    #[inline(always)]
    fn gateway(&self, from: u32, to: u32, copy: u32) -> (u32, u32) {
        self.gateways[self.plan.link(from, to, copy) as usize]
    }

    /// The number of the link that a packet takes to group `to` where several links connect two groups: a link of the
    /// present switch, if it has any. `position` is that of the present switch.
    #[inline(always)]
    fn link_copy(&self, key: u64, position: (u32, u32), to: u32) -> u32 {
        match self.plan.copies {
            1 => 0,
            copies => self.draw_link_copy(copies, key, position, to),
        }
    }

    /// Draws that number among `copies` links, or among the links of the present switch if it has any.
    #[inline(never)]
    fn draw_link_copy(&self, copies: u32, key: u64, (from, own): (u32, u32), to: u32) -> u32 {
        let own = self.plan.copies_of(own, from, to);
        let among = if own.is_empty() { 0..copies } else { own };
        among.start + pick(mix2(key ^ u64::from(from), u64::from(to)), among.end - among.start)
    }

    /// The intermediate group of a packet's non-minimal route; `None` if there is no such group. With `ugal` the packet
    /// compares this route with the minimal one, whose first link has index `minimal`. If both routes begin with that
    /// link, another group is drawn, since the same packets would block both.
    fn intermediate_group(&self, key: u64, (from, own): (u32, u32), to: u32, minimal: usize) -> Option<u32> {
        if from == to || self.plan.groups < 3 {
            return None;
        }
        let mut draw = mix2(key, Purpose::Output as u64);
        let mut through = self.random_other_group(draw, from, to);
        for _ in 0..MAX_REDRAWS {
            if self.routing != Routing::DragonflyUgal || self.link_towards(key, (from, own), through) != minimal {
                break;
            }
            draw = mix2(draw, Purpose::Output as u64);
            through = self.random_other_group(draw, from, to);
        }
        Some(through)
    }

    /// A random group other than these two.
    fn random_other_group(&self, draw: u64, from: u32, to: u32) -> u32 {
        let drawn = pick(draw, self.plan.groups - 2);
        let (low, high) = (from.min(to), from.max(to));
        let drawn = drawn + u32::from(drawn >= low);
        drawn + u32::from(drawn >= high)
    }

    /// The index of the link that leads from a switch towards another group.
    #[inline(always)]
    fn link_towards(&self, key: u64, (group, own): (u32, u32), to: u32) -> usize {
        let (gate, link) = self.gateway(group, to, self.link_copy(key, (group, own), to));
        if gate == own { self.plan.global_place(link) } else { self.plan.local_place(own, gate) }
    }

    /// \[hops\] From a switch to another group, and the switch at which the route enters that group.
    fn hops_to(&self, key: u64, (group, own): (u32, u32), to: u32) -> (u8, u32) {
        let copy = self.link_copy(key, (group, own), to);
        let (gate, _) = self.gateway(group, to, copy);
        let (arrival, _) = self.gateway(to, group, copy);
        (1 + u8::from(gate != own), arrival)
    }

    /// The minimal and the non-minimal route of a packet: the index of the first link, and the number of hops to the
    /// last switch. `None` if there is no such route.
    fn both_routes(&self, visit: &Visit<'_>, home: NodeId) -> [Option<(usize, u8)>; 2] {
        let (group, own) = self.position(visit.node);
        let (to, last) = self.position(home);
        if group == to {
            return [Some((self.plan.local_place(own, last), 1)), None];
        }
        let (hops, arrival) = self.hops_to(visit.key, (group, own), to);
        let minimal = (self.link_towards(visit.key, (group, own), to), hops + u8::from(arrival != last));
        let indirect = self.intermediate_group(visit.key, (group, own), to, minimal.0).map(|through| {
            let (first, middle) = self.hops_to(visit.key, (group, own), through);
            let (second, arrival) = self.hops_to(visit.key, (through, middle), to);
            (self.link_towards(visit.key, (group, own), through), first + second + u8::from(arrival != last))
        });
        [Some(minimal), indirect]
    }

    /// The kind of route of a packet that has left its first switch through `port`.
    #[inline(never)]
    fn chosen_route(&self, fabric: &Fabric, visit: &Visit<'_>, port: Port) -> i16 {
        let (home, last) = fabric.home(visit.destination);
        if home == visit.node && last == port {
            // The packet leaves the network here.
            return UNDECIDED_ROUTE;
        }
        let [minimal, indirect] = self.both_routes(visit, home);
        let takes = |route: Option<(usize, u8)>| route.is_some_and(|(place, _)| fabric.port(visit.node, place) == port);
        let is_indirect = takes(indirect) && (self.routing == Routing::DragonflyValiant || !takes(minimal));
        if is_indirect { INDIRECT_ROUTE } else { MINIMAL_ROUTE }
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
            first_switch: fabric.endpoints() as u32,
            positions: (fabric.endpoints()..fabric.nodes()).map(|switch| plan.place(NodeId::at(switch))).collect(),
            gateways: (0..plan.copies * (plan.groups - 1)).map(|link| plan.gate(link)).collect(),
            is_global: (fabric.endpoints()..fabric.nodes())
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

    /// The candidate of a packet that has no choice of routes, or has made its choice.
    #[inline(always)]
    fn single_candidate(&self, fabric: &Fabric, visit: &Visit<'_>, home: NodeId) -> Option<Candidate> {
        let crossed = (visit.state[CROSSED] as usize).min(self.classes.len() - 1);
        let is_minimal =
            self.routing == Routing::DragonflyMinimal || visit.state[ROUTE_KIND] == MINIMAL_ROUTE || crossed > 0;
        if !is_minimal {
            return None;
        }
        let (group, own) = self.position(visit.node);
        let (to, last) = self.position(home);
        let place = match group == to {
            true => self.plan.local_place(own, last),
            false => self.link_towards(visit.key, (group, own), to),
        };
        let port = fabric.port(visit.node, place);
        Some(Candidate { port, vcs: self.classes[crossed], tier: 0, hops: 1, bubble: false })
    }

    fn candidates(
        &self,
        fabric: &Fabric,
        visit: &Visit<'_>,
        home: NodeId,
        _all: u32,
        mut add_candidate: impl FnMut(Candidate),
    ) {
        let vcs = self.classes[0];
        let route = match (self.routing, visit.state[ROUTE_KIND]) {
            (Routing::DragonflyValiant, UNDECIDED_ROUTE) => INDIRECT_ROUTE,
            (_, route) => route,
        };
        let mut candidate = |(place, hops)| {
            add_candidate(Candidate { port: fabric.port(visit.node, place), vcs, tier: 0, hops, bubble: false })
        };
        let [minimal, indirect] = self.both_routes(visit, home);
        if route == UNDECIDED_ROUTE || indirect.is_none() {
            minimal.into_iter().for_each(&mut candidate);
        }
        indirect.into_iter().for_each(&mut candidate);
    }

    fn may_weigh(&self) -> bool {
        self.routing == Routing::DragonflyUgal
    }

    /// True at the first switch under `ugal`, where a packet chooses its route.
    fn weighs(&self, visit: &Visit<'_>) -> bool {
        self.routing == Routing::DragonflyUgal
            && visit.state[ROUTE_KIND] == UNDECIDED_ROUTE
            && visit.state[CROSSED] == 0
    }

    /// The state of a packet after it has left a switch through a port.
    #[inline(always)]
    fn hop(&self, fabric: &Fabric, at: &Departure, port: Port, state: &mut [i16]) {
        let Departure { node, destination, key } = *at;
        if self.routing != Routing::DragonflyMinimal && state[ROUTE_KIND] == UNDECIDED_ROUTE {
            let visit = Visit { node, input: Input::Injection, source: node, destination, key, state };
            state[ROUTE_KIND] = self.chosen_route(fabric, &visit, port);
        }
        let switch = (node.0 - self.first_switch) as usize;
        state[CROSSED] += i16::from(self.is_global[switch * self.ports + port.index()]);
    }
}
