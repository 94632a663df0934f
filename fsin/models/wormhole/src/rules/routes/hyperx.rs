//! HyperX: one hop in each dimension in which the coordinates of packet and destination differ.
//!
//! `minimal` takes the dimensions in order: packets in channels of a later dimension never wait for channels of an
//! earlier one. `valiant` does so twice: on VCs of class 0 to a switch that is drawn, and on VCs of class 1 from there.
//! `adaptive` takes any dimension on VCs from 1 on; VC 0 is the escape, in dimension order.

use fsin_core::topology::Topology;
use fsin_core::topology::switched::Hyperx as Plan;
use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::row::{Choice, Function, Networks, Row, Vcs, Visit, Wake};
use super::{Candidate, Draw, Head, Ring, Tier, mask, planned, vc_class};
use crate::params::{Params, Routing};

const SOURCE: &str = "Ahn et al., HyperX: topology, routing, and packaging of efficient large-scale networks, SC 2009";

pub(super) static MINIMAL: Row = Row {
    component: Component {
        name: "minimal",
        about: "HyperX: one hop in each dimension, in order",
        parameters: &[],
        source: SOURCE,
    },
    routing: Routing::Minimal,
    networks: Networks::Hyperx,
    vcs: Vcs::of(1, ""),
    wake: Wake::Release,
    choice: Choice::Never,
};

pub(super) static ADAPTIVE: Row = Row {
    component: Component {
        name: "adaptive",
        about: "HyperX: any dimension on adaptive channels, dimension order on the escape channel",
        parameters: &[],
        source: "Duato, A new theory of deadlock-free adaptive routing in wormhole networks, 1993",
    },
    routing: Routing::Adaptive,
    networks: Networks::Hyperx,
    vcs: Vcs::of(2, "one of them adaptive"),
    wake: Wake::Credits,
    choice: Choice::Never,
};

pub(super) static VALIANT: Row = Row {
    component: Component {
        name: "valiant",
        about: "HyperX: through a switch that is drawn",
        parameters: &[],
        source: "Valiant, A scheme for fast parallel communication, 1982",
    },
    routing: Routing::Valiant,
    networks: Networks::Hyperx,
    vcs: Vcs::of(2, "one for each phase"),
    wake: Wake::Release,
    choice: Choice::AtFirstRouter,
};

pub(super) static UGAL: Row = Row {
    component: Component {
        name: "ugal",
        about: "HyperX: minimal or valiant, whichever has the smaller product of flits ahead and hops",
        parameters: &[],
        source: "Singh, Load-balanced routing in interconnection networks, 2005",
    },
    routing: Routing::Ugal,
    networks: Networks::Hyperx,
    vcs: Vcs::of(2, "one for each phase"),
    wake: Wake::Release,
    choice: Choice::AtFirstRouter,
};

/// Phase of a packet on a minimal route.
const TO_DESTINATION: u8 = 0;
/// Phase of a packet on its way to an intermediate switch.
const TO_INTERMEDIATE: u8 = 1;
/// Phase of a packet on its way from the intermediate switch to its destination.
const FROM_INTERMEDIATE: u8 = 2;

/// Label of the draw of the intermediate switch.
const THROUGH: u32 = 0;

/// Routes of a HyperX.
#[derive(Debug)]
pub(super) struct Hyperx {
    /// The construction plan of the HyperX.
    plan: Plan,
    routing: Routing,
    /// All VCs, as a mask.
    all: u32,
    /// The VCs on the way to the intermediate switch, and on the way from it, as masks.
    classes: [u32; 2],
    /// By switch and dimension: the coordinate.
    coordinates: Vec<u32>,
    /// By switch and place of the link in the plan: the port.
    ports: Vec<Box<[u8]>>,
}

impl Function for Hyperx {
    fn new(row: &'static Row, params: &Params, topology: &dyn Topology) -> Result<Self, SpecError> {
        let (plan, fabric) = planned::<Plan>(topology)?;
        let switches = || (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let ports = |switch| (0..fabric.degree(switch)).map(|place| fabric.port(switch, place).0).collect();
        let all = mask(params.vcs);
        Ok(Self {
            routing: row.routing,
            all,
            classes: if params.vcs > 1 { [vc_class(0, 2, params.vcs), vc_class(1, 2, params.vcs)] } else { [all; 2] },
            coordinates: switches().flat_map(|switch| plan.lattice.coordinates(switch).collect::<Vec<u32>>()).collect(),
            ports: switches().map(ports).collect(),
            plan: plan.clone(),
        })
    }

    fn candidates(&self, at: Visit, head: &Head, draw: &mut impl Draw, into: &mut Vec<Candidate>) {
        let (router, home) = (at.here, at.home);
        if self.is_adaptive() && self.all > 1 {
            let vcs = self.all & !1;
            into.extend(self.correcting_ports(router, home).map(|port| Candidate { port, vcs, tier: Tier::Adaptive }));
            let escape = self.correcting_ports(router, home).next();
            into.extend(escape.map(|port| Candidate { port, vcs: 1, tier: Tier::Escape }));
            return;
        }
        let to = if head.phase == TO_INTERMEDIATE { self.intermediate_switch(draw) } else { home };
        let vcs = match self.decides() {
            true => self.classes[usize::from(head.phase == FROM_INTERMEDIATE)],
            false => self.all,
        };
        into.extend(self.correcting_ports(router, to).next().map(|port| Candidate { port, vcs, tier: Tier::Free }));
    }

    fn decisions(&self, at: Visit, _: &Head, draw: &mut impl Draw) -> Vec<u8> {
        let (router, home) = (at.here, at.home);
        let through = self.intermediate_switch(draw);
        let round = if through == router { FROM_INTERMEDIATE } else { TO_INTERMEDIATE };
        match self.routing {
            _ if through == home => vec![TO_DESTINATION],
            Routing::Valiant => vec![round],
            Routing::Ugal => vec![TO_DESTINATION, round],
            Routing::DimensionOrder | Routing::Minimal | Routing::Adaptive | Routing::UpDown => vec![TO_DESTINATION],
        }
    }

    fn decide(&self, at: Visit, head: &Head, draw: &mut impl Draw, occupancy: impl Fn(Candidate) -> u32) -> u8 {
        let (router, home) = (at.here, at.home);
        match self.decisions(at, head, draw)[..] {
            [one] => one,
            [straight, round] => {
                let through = self.intermediate_switch(draw);
                let mut cost = |phase, hops| {
                    let mut found = Vec::new();
                    self.candidates(at, &Head { phase, ..*head }, draw, &mut found);
                    found.first().map_or(0, |&candidate| occupancy(candidate)) * hops
                };
                let short = cost(straight, self.hops(router, home));
                let long = cost(round, self.hops(router, through) + self.hops(through, home));
                if short <= long { straight } else { round }
            }
            _ => TO_DESTINATION,
        }
    }

    fn hop(&self, _: usize, next: usize, phase: u8, draw: &mut impl Draw) -> u8 {
        if phase == TO_INTERMEDIATE && next == self.intermediate_switch(draw) { FROM_INTERMEDIATE } else { phase }
    }

    fn rings(&self) -> Option<Vec<Ring>> {
        None
    }
}

impl Hyperx {
    /// True if packets take any dimension.
    const fn is_adaptive(&self) -> bool {
        matches!(self.routing, Routing::Adaptive)
    }

    /// True if the kind of route is decided at the first switch.
    const fn decides(&self) -> bool {
        matches!(self.routing, Routing::Valiant | Routing::Ugal)
    }

    /// By dimension: the coordinates of a switch.
    fn coordinates(&self, router: usize) -> &[u32] {
        let dimensions = self.plan.lattice.sizes.len();
        &self.coordinates[router * dimensions..][..dimensions]
    }

    /// \[hops\] Distance between switches.
    fn hops(&self, from: usize, to: usize) -> u32 {
        self.coordinates(from).iter().zip(self.coordinates(to)).filter(|(one, other)| one != other).count() as u32
    }

    /// The intermediate switch of a packet, drawn.
    fn intermediate_switch(&self, draw: &mut impl Draw) -> usize {
        draw.draw(THROUGH, self.ports.len() as u32) as usize
    }

    /// The ports that correct each coordinate in which `router` and `to` differ, in ascending order of dimensions.
    fn correcting_ports(&self, router: usize, to: usize) -> impl Iterator<Item = u8> {
        let (here, there) = (self.coordinates(router), self.coordinates(to));
        (0..here.len())
            .filter(move |&dimension| here[dimension] != there[dimension])
            .map(move |dimension| self.ports[router][self.plan.place(dimension, here[dimension], there[dimension])])
    }
}
