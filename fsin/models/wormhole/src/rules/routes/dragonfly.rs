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

/// Purpose of the VCs, for error messages.
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

/// Phase of a packet on its way to the group of its destination.
const VIA_MINIMAL: u8 = 0;
/// Phase of a packet on its way to an intermediate group.
const VIA_OTHER_GROUP: u8 = 1;

/// Label of the draw of the intermediate group.
const THROUGH: u32 = 0;
/// Label of the draw of the link, where several connect two groups.
const COPY: u32 = 1;

/// Routes of a dragonfly.
#[derive(Debug)]
pub(super) struct Dragonfly {
    /// The construction plan of the dragonfly.
    plan: Plan,
    routing: Routing,
    /// By class: its VCs, as a mask.
    classes: Vec<u32>,
    /// By switch and place of the link in the plan: the port.
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
            (true, Routing::Valiant) => vec![VIA_OTHER_GROUP],
            (true, Routing::Ugal) => vec![VIA_MINIMAL, VIA_OTHER_GROUP],
            (true, Routing::DimensionOrder | Routing::Minimal | Routing::Adaptive | Routing::UpDown) | (false, _) => {
                vec![VIA_MINIMAL]
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
                let (straight, round) = (cost(VIA_MINIMAL), cost(VIA_OTHER_GROUP));
                if straight <= round { VIA_MINIMAL } else { VIA_OTHER_GROUP }
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

    /// The intermediate group, drawn, of a route between two groups.
    fn intermediate_group(&self, from: u32, to: u32, draw: &mut impl Draw) -> u32 {
        let drawn = draw.draw(THROUGH, self.plan.groups - 2);
        let (low, high) = (from.min(to), from.max(to));
        let drawn = drawn + u32::from(drawn >= low);
        drawn + u32::from(drawn >= high)
    }

    /// The number of the link that a packet takes between two groups: a link of the switch itself, if it has any.
    fn link_copy(&self, (group, own): (u32, u32), to: u32, draw: &mut impl Draw) -> u32 {
        if self.plan.copies == 1 {
            return 0;
        }
        let near = self.plan.copies_of(own, group, to);
        let among = if near.is_empty() { 0..self.plan.copies } else { near };
        let label = COPY + group * self.plan.groups + to;
        among.start + draw.draw(label, among.end - among.start)
    }

    /// The link that a packet takes from a position towards another group: its place in the plan, and whether it leaves
    /// the group.
    fn link_towards(&self, position: (u32, u32), to: u32, draw: &mut impl Draw) -> (usize, bool) {
        let (gate, link) = self.plan.gateway(position.0, to, self.link_copy(position, to, draw));
        match gate == position.1 {
            true => (self.plan.global_place(link), true),
            false => (self.plan.local_place(position.1, gate), false),
        }
    }

    /// The only candidate of a head at `router`. `first` is the router of its source, `home` that of its destination.
    fn candidate(&self, (first, router, home): (usize, usize, usize), head: &Head, draw: &mut impl Draw) -> Candidate {
        let (source, position, (to, last)) = (self.position(first).0, self.position(router), self.position(home));
        let is_round = head.phase == VIA_OTHER_GROUP;
        let crossed = match () {
            () if position.0 == to && source == to => 0,
            () if position.0 == to => 1 + usize::from(is_round),
            () => usize::from(position.0 != source),
        };
        let place = if position.0 == to {
            self.plan.local_place(position.1, last)
        } else if is_round && position.0 == source {
            let through = self.intermediate_group(source, to, draw);
            self.link_towards(position, through, draw).0
        } else {
            self.link_towards(position, to, draw).0
        };
        let vcs = self.classes[crossed.min(self.classes.len() - 1)];
        Candidate { port: self.ports[router][place], vcs, tier: Tier::Free }
    }

    /// True if a packet can go through another group.
    fn has_choice(&self, router: usize, home: usize) -> bool {
        self.plan.groups > 2 && self.position(router).0 != self.position(home).0
    }

    /// The route from a position to another group: \[hops\] its length, and the position at which it arrives.
    fn crossing(&self, position: (u32, u32), to: u32, draw: &mut impl Draw) -> (u32, (u32, u32)) {
        let (_, is_gate) = self.link_towards(position, to, draw);
        let copy = self.link_copy(position, to, draw);
        (1 + u32::from(!is_gate), (to, self.plan.gateway(to, position.0, copy).0))
    }

    /// \[hops\] Length of a route between two switches in a phase.
    fn hops(&self, (router, home): (usize, usize), phase: u8, draw: &mut impl Draw) -> u32 {
        let (from, to) = (self.position(router), self.position(home));
        if phase == VIA_MINIMAL {
            let (hops, arrival) = self.crossing(from, to.0, draw);
            return hops + u32::from(arrival != to);
        }
        let through = self.intermediate_group(from.0, to.0, draw);
        let (first, middle) = self.crossing(from, through, draw);
        let (second, arrival) = self.crossing(middle, to.0, draw);
        first + second + u32::from(arrival != to)
    }
}
