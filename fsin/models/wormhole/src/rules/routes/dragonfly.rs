//! Dragonflies: within the group to the switch with the link, to the other group, and there to the switch.
//!
//! A packet that has crossed c links between groups uses VCs of class c, and a local link of class c comes before a
//! link between groups of class c: channels of increasing numbers (Kim et al., ISCA 2008, section 4).

use fsin_core::topology::Topology;
use fsin_core::topology::switched::Dragonfly as Plan;
use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::row::{Choice, Function, Networks, Row, Vcs, Visit, Wake};
use super::{Candidate, Draw, Head, Ring, Tier, class, mask, planned};
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

/// Labels of draws.
const THROUGH: u32 = 0;
const COPY: u32 = 1;

/// Routes of a dragonfly.
#[derive(Debug)]
pub(super) struct Dragonfly {
    plan: Plan,
    routing: Routing,
    classes: Vec<u32>,
    /// By switch and place.
    ports: Vec<Box<[u8]>>,
}

impl Function for Dragonfly {
    fn new(row: &'static Row, params: &Params, topology: &dyn Topology) -> Result<Self, SpecError> {
        let (plan, fabric) = planned::<Plan>(topology)?;
        let (count, vcs) = (row.vcs.least, params.vcs);
        let classes = (0..count).map(|of| class(of, count, vcs)).map(|set| if set == 0 { mask(vcs) } else { set });
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

    fn decide(&self, at: Visit, head: &Head, draw: &mut impl Draw, ahead: impl Fn(Candidate) -> u32) -> u8 {
        let (router, home) = (at.here, at.home);
        match self.decisions(at, head, draw)[..] {
            [one] => one,
            _ => {
                let mut cost = |phase| {
                    let head = Head { phase, ..*head };
                    let candidate = self.candidate((router, router, home), &head, draw);
                    ahead(candidate) * self.hops((router, home), phase, draw)
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
    /// The group of a switch, and its number there.
    const fn stand(&self, router: usize) -> (u32, u32) {
        (router as u32 / self.plan.switches, router as u32 % self.plan.switches)
    }

    /// The group between two others, drawn.
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

    /// The place of the link towards another group, and whether that link leaves the group.
    fn towards(&self, stand: (u32, u32), to: u32, draw: &mut impl Draw) -> (usize, bool) {
        let (gate, link) = self.plan.gateway(stand.0, to, self.copy(stand, to, draw));
        match gate == stand.1 {
            true => (self.plan.global_place(link), true),
            false => (self.plan.local_place(stand.1, gate), false),
        }
    }

    fn candidate(&self, (first, router, home): (usize, usize, usize), head: &Head, draw: &mut impl Draw) -> Candidate {
        let (source, stand, (to, last)) = (self.stand(first).0, self.stand(router), self.stand(home));
        let is_round = head.phase == ROUND;
        let crossed = match () {
            () if stand.0 == to && source == to => 0,
            () if stand.0 == to => 1 + usize::from(is_round),
            () => usize::from(stand.0 != source),
        };
        let place = if stand.0 == to {
            self.plan.local_place(stand.1, last)
        } else if is_round && stand.0 == source {
            let through = self.through(source, to, draw);
            self.towards(stand, through, draw).0
        } else {
            self.towards(stand, to, draw).0
        };
        let vcs = self.classes[crossed.min(self.classes.len() - 1)];
        Candidate { port: self.ports[router][place], vcs, tier: Tier::Free }
    }

    fn has_choice(&self, router: usize, home: usize) -> bool {
        self.plan.groups > 2 && self.stand(router).0 != self.stand(home).0
    }

    /// \[hops\] Between switches.
    fn hops(&self, (router, home): (usize, usize), phase: u8, draw: &mut impl Draw) -> u32 {
        let (from, to) = (self.stand(router), self.stand(home));
        let mut crossing = |stand: (u32, u32), to: u32| {
            let (_, is_gate) = self.towards(stand, to, draw);
            let copy = self.copy(stand, to, draw);
            (1 + u32::from(!is_gate), (to, self.plan.gateway(to, stand.0, copy).0))
        };
        if phase == STRAIGHT {
            let (hops, arrival) = crossing(from, to.0);
            return hops + u32::from(arrival != to);
        }
        let through = self.through(from.0, to.0, draw);
        let mut crossing = |stand: (u32, u32), to: u32| {
            let (_, is_gate) = self.towards(stand, to, draw);
            let copy = self.copy(stand, to, draw);
            (1 + u32::from(!is_gate), (to, self.plan.gateway(to, stand.0, copy).0))
        };
        let (first, middle) = crossing(from, through);
        let (second, arrival) = crossing(middle, to.0);
        first + second + u32::from(arrival != to)
    }
}
