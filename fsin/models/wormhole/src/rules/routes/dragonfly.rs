//! Dragonflies: within the group to the switch with the link, over that link to the other group, and there to the
//! switch of the destination.
//!
//! A packet that has crossed c links between groups uses VCs of class c. On every route, local links of class c come
//! before the link between groups of class c, which comes before local links of class c + 1: packets only wait for
//! channels of a higher rank (Kim et al., ISCA 2008, section 4).

use fsin_core::topology::Topology;
use fsin_core::topology::switched::Dragonfly as Plan;
use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::row::{Choice, Function, Networks, Row, Vcs, Visit, Wake};
use super::{Candidate, Draw, Head, Ring, Tier, mask, planned, vc_class};
use crate::params::{Params, Routing};

const CLASSES: &str = "one for each link between groups and one more";

pub(super) static MINIMAL: Row = Row {
    component: Component {
        name: "minimal",
        about: "dragonflies: the link between the two groups",
        parameters: &[],
        source: "Kim et al., Technology-driven, highly-scalable dragonfly topology, ISCA 2008, section 4",
    },
    routing: Routing::Minimal,
    networks: Networks::Dragonflies,
    vcs: Vcs::of(2, CLASSES),
    wake: Wake::Release,
    choice: Choice::Never,
};

pub(super) static VALIANT: Row = Row {
    component: Component {
        name: "valiant",
        about: "dragonflies: through a group that is drawn",
        parameters: &[],
        source: "Valiant, A scheme for fast parallel communication, 1982; Kim et al., ISCA 2008",
    },
    routing: Routing::Valiant,
    networks: Networks::Dragonflies,
    vcs: Vcs::of(3, CLASSES),
    wake: Wake::Release,
    choice: Choice::AtFirstRouter,
};

pub(super) static UGAL: Row = Row {
    component: Component {
        name: "ugal",
        about: "dragonflies: minimal or valiant, whichever has the smaller product of flits ahead and hops",
        parameters: &[],
        source: "Singh, Load-balanced routing in interconnection networks, 2005; Kim et al., ISCA 2008",
    },
    routing: Routing::Ugal,
    networks: Networks::Dragonflies,
    vcs: Vcs::of(3, CLASSES),
    wake: Wake::Release,
    choice: Choice::AtFirstRouter,
};

/// Phases: straight to the group of the destination, or through another group.
const STRAIGHT: u8 = 0;
const ROUND: u8 = 1;

/// Labels of draws: the group between, and the copy of a link between two groups.
const THROUGH: u32 = 0;
const COPY: u32 = 1;

/// Routes of a dragonfly.
#[derive(Debug)]
pub(super) struct Dragonfly {
    plan: Plan,
    routing: Routing,
    /// By class: its VCs, as a mask.
    classes: Vec<u32>,
    /// By switch, and place of the link in the plan: the port.
    ports: Vec<Box<[u8]>>,
}

impl Function for Dragonfly {
    fn new(row: &'static Row, params: &Params, topology: &dyn Topology) -> Result<Self, SpecError> {
        let (plan, fabric) = planned::<Plan>(topology)?;
        let (count, vcs) = (row.vcs.least, params.vcs);
        let classes = (0..count).map(|of| vc_class(of, count, vcs)).map(|set| if set == 0 { mask(vcs) } else { set });
        let switches = (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let ports = |switch| (0..fabric.degree(switch)).map(|place| fabric.port(switch, place).0).collect();
        Ok(Self {
            plan: plan.clone(),
            routing: row.routing,
            classes: classes.collect(),
            ports: switches.map(ports).collect(),
        })
    }

    fn candidates(&self, at: Visit, head: &Head, draw: &mut impl Draw, into: &mut Vec<Candidate>) {
        into.push(self.candidate((at.first, at.here, at.home), head, draw));
    }

    fn decisions(&self, at: Visit, _: &Head, _: &mut impl Draw) -> Vec<u8> {
        match (self.has_choice(at.here, at.home), self.routing) {
            (true, Routing::Valiant) => vec![ROUND],
            (true, Routing::Ugal) => vec![STRAIGHT, ROUND],
            (true, Routing::DimensionOrder | Routing::Minimal | Routing::Adaptive | Routing::UpDown) | (false, _) => {
                vec![STRAIGHT]
            }
        }
    }

    fn decide(&self, at: Visit, head: &Head, draw: &mut impl Draw, occupancy: impl Fn(Candidate) -> u32) -> u8 {
        let (router, home) = (at.here, at.home);
        match self.decisions(at, head, draw)[..] {
            [one] => one,
            _ => {
                let mut cost = |phase| {
                    let head = Head { phase, ..*head };
                    let candidate = self.candidate((router, router, home), &head, draw);
                    occupancy(candidate) * self.hops((router, home), phase, draw)
                };
                let (straight, round) = (cost(STRAIGHT), cost(ROUND));
                if straight <= round { STRAIGHT } else { ROUND }
            }
        }
    }

    fn hop(&self, _: usize, _: usize, phase: u8, _: &mut impl Draw) -> u8 {
        phase
    }

    fn rings(&self) -> Option<Vec<Ring>> {
        None
    }
}

impl Dragonfly {
    /// The position of a switch: its group, and its number there.
    const fn position(&self, router: usize) -> (u32, u32) {
        (router as u32 / self.plan.switches, router as u32 % self.plan.switches)
    }

    /// The group, drawn, through which a packet goes on its way between two others.
    fn through(&self, from: u32, to: u32, draw: &mut impl Draw) -> u32 {
        let drawn = draw.draw(THROUGH, self.plan.groups - 2);
        let (low, high) = (from.min(to), from.max(to));
        let drawn = drawn + u32::from(drawn >= low);
        drawn + u32::from(drawn >= high)
    }

    /// Which of the links between two groups a packet takes; one of the switch's own if it has any.
    fn copy(&self, (group, own): (u32, u32), to: u32, draw: &mut impl Draw) -> u32 {
        if self.plan.copies == 1 {
            return 0;
        }
        let near = self.plan.copies_of(own, group, to);
        let among = if near.is_empty() { 0..self.plan.copies } else { near };
        let label = COPY + group * self.plan.groups + to;
        among.start + draw.draw(label, among.end - among.start)
    }

    /// From a position: the place of the next link towards another group, and whether that link leaves the group.
    fn towards(&self, position: (u32, u32), to: u32, draw: &mut impl Draw) -> (usize, bool) {
        let (gate, link) = self.plan.gateway(position.0, to, self.copy(position, to, draw));
        match gate == position.1 {
            true => (self.plan.global_place(link), true),
            false => (self.plan.local_place(position.1, gate), false),
        }
    }

    /// The only candidate of a head at `router`. `first` is the router of its source, `home` that of its destination.
    fn candidate(&self, (first, router, home): (usize, usize, usize), head: &Head, draw: &mut impl Draw) -> Candidate {
        let (source, position, (to, last)) = (self.position(first).0, self.position(router), self.position(home));
        let is_round = head.phase == ROUND;
        let crossed = match () {
            () if position.0 == to && source == to => 0,
            () if position.0 == to => 1 + usize::from(is_round),
            () => usize::from(position.0 != source),
        };
        let place = if position.0 == to {
            self.plan.local_place(position.1, last)
        } else if is_round && position.0 == source {
            let through = self.through(source, to, draw);
            self.towards(position, through, draw).0
        } else {
            self.towards(position, to, draw).0
        };
        let vcs = self.classes[crossed.min(self.classes.len() - 1)];
        Candidate { port: self.ports[router][place], vcs, tier: Tier::Free }
    }

    /// True if a packet can go through another group.
    fn has_choice(&self, router: usize, home: usize) -> bool {
        self.plan.groups > 2 && self.position(router).0 != self.position(home).0
    }

    /// The way from a position to another group: \[hops\] its length, and the position of arrival.
    fn crossing(&self, position: (u32, u32), to: u32, draw: &mut impl Draw) -> (u32, (u32, u32)) {
        let (_, is_gate) = self.towards(position, to, draw);
        let copy = self.copy(position, to, draw);
        (1 + u32::from(!is_gate), (to, self.plan.gateway(to, position.0, copy).0))
    }

    /// \[hops\] Length of a route between switches.
    fn hops(&self, (router, home): (usize, usize), phase: u8, draw: &mut impl Draw) -> u32 {
        let (from, to) = (self.position(router), self.position(home));
        if phase == STRAIGHT {
            let (hops, arrival) = self.crossing(from, to.0, draw);
            return hops + u32::from(arrival != to);
        }
        let through = self.through(from.0, to.0, draw);
        let (first, middle) = self.crossing(from, through, draw);
        let (second, arrival) = self.crossing(middle, to.0, draw);
        first + second + u32::from(arrival != to)
    }
}
