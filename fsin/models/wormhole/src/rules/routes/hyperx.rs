//! HyperX: one hop in each dimension in which the packet is not where it goes to.
//!
//! `minimal` goes through the dimensions in order: channels of a later dimension never wait for those of an earlier
//! one. `valiant` does so twice, on VCs of class 0 to a switch that is drawn and on those of class 1 from there.
//! `adaptive` takes any dimension on VCs from 1 on; VC 0 is the escape, in dimension order.

use fsin_core::topology::switched::{Fabric, Hyperx as Plan};
use trgen::NodeId;
use trgen::catalog::SpecError;

use super::{Candidate, Draw, Head, Tier, class, mask, needs};
use crate::params::{Params, Routing};

/// Phases: to the destination at once; to the switch that is drawn; from there to the destination.
const STRAIGHT: u8 = 0;
const OUT: u8 = 1;
const BACK: u8 = 2;

/// Label of the draw.
const THROUGH: u32 = 0;

/// Routes of a HyperX.
#[derive(Debug)]
pub(super) struct Hyperx {
    plan: Plan,
    routing: Routing,
    all: u32,
    classes: [u32; 2],
    /// By switch and dimension.
    coordinates: Vec<u32>,
    /// By switch and place.
    ports: Vec<Box<[u8]>>,
}

impl Hyperx {
    pub(super) fn new(plan: &Plan, fabric: &Fabric, params: &Params) -> Result<Self, SpecError> {
        match params.routing {
            Routing::Adaptive => needs(params, 2, ", one of them adaptive")?,
            Routing::Valiant | Routing::Ugal => needs(params, 2, ", one for each phase")?,
            Routing::DimensionOrder | Routing::Minimal | Routing::UpDown => {}
        }
        let switches = || (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let ports = |switch| (0..fabric.degree(switch)).map(|place| fabric.port(switch, place).0).collect();
        let all = mask(params.vcs);
        Ok(Self {
            routing: params.routing,
            all,
            classes: if params.vcs > 1 { [class(0, 2, params.vcs), class(1, 2, params.vcs)] } else { [all; 2] },
            coordinates: switches().flat_map(|switch| plan.lattice.coordinates(switch).collect::<Vec<u32>>()).collect(),
            ports: switches().map(ports).collect(),
            plan: plan.clone(),
        })
    }

    pub(super) const fn is_adaptive(&self) -> bool {
        matches!(self.routing, Routing::Adaptive)
    }

    pub(super) const fn decides(&self) -> bool {
        matches!(self.routing, Routing::Valiant | Routing::Ugal)
    }

    fn coordinates(&self, router: usize) -> &[u32] {
        let dimensions = self.plan.lattice.sizes.len();
        &self.coordinates[router * dimensions..][..dimensions]
    }

    fn hops(&self, from: usize, to: usize) -> u32 {
        self.coordinates(from).iter().zip(self.coordinates(to)).filter(|(one, other)| one != other).count() as u32
    }

    /// The switch that a packet goes through.
    fn through(&self, draw: &mut impl Draw) -> usize {
        draw.draw(THROUGH, self.ports.len() as u32) as usize
    }

    /// Ports to the coordinates of `to`, lowest dimension first.
    fn direct(&self, router: usize, to: usize) -> impl Iterator<Item = u8> {
        let (here, there) = (self.coordinates(router), self.coordinates(to));
        (0..here.len())
            .filter(move |&dimension| here[dimension] != there[dimension])
            .map(move |dimension| self.ports[router][self.plan.place(dimension, here[dimension], there[dimension])])
    }

    pub(super) fn candidates(
        &self,
        (router, home): (usize, usize),
        head: &Head,
        draw: &mut impl Draw,
        into: &mut Vec<Candidate>,
    ) {
        if self.is_adaptive() && self.all > 1 {
            let vcs = self.all & !1;
            into.extend(self.direct(router, home).map(|port| Candidate { port, vcs, tier: Tier::Adaptive }));
            let escape = self.direct(router, home).next();
            into.extend(escape.map(|port| Candidate { port, vcs: 1, tier: Tier::Escape }));
            return;
        }
        let to = if head.phase == OUT { self.through(draw) } else { home };
        let vcs = match self.decides() {
            true => self.classes[usize::from(head.phase == BACK)],
            false => self.all,
        };
        into.extend(self.direct(router, to).next().map(|port| Candidate { port, vcs, tier: Tier::Free }));
    }

    pub(super) fn decisions(&self, (router, home): (usize, usize), _: &Head, draw: &mut impl Draw) -> Vec<u8> {
        let through = self.through(draw);
        let round = if through == router { BACK } else { OUT };
        match self.routing {
            _ if through == home => vec![STRAIGHT],
            Routing::Valiant => vec![round],
            Routing::Ugal => vec![STRAIGHT, round],
            Routing::DimensionOrder | Routing::Minimal | Routing::Adaptive | Routing::UpDown => vec![STRAIGHT],
        }
    }

    pub(super) fn decide(
        &self,
        (router, home): (usize, usize),
        head: &Head,
        draw: &mut impl Draw,
        ahead: impl Fn(Candidate) -> u32,
    ) -> u8 {
        match self.decisions((router, home), head, draw)[..] {
            [one] => one,
            [straight, round] => {
                let through = self.through(draw);
                let mut cost = |phase, hops| {
                    let mut found = Vec::new();
                    self.candidates((router, home), &Head { phase, ..*head }, draw, &mut found);
                    found.first().map_or(0, |&candidate| ahead(candidate)) * hops
                };
                let short = cost(straight, self.hops(router, home));
                let long = cost(round, self.hops(router, through) + self.hops(through, home));
                if short <= long { straight } else { round }
            }
            _ => STRAIGHT,
        }
    }

    pub(super) fn hop(&self, next: usize, phase: u8, draw: &mut impl Draw) -> u8 {
        if phase == OUT && next == self.through(draw) { BACK } else { phase }
    }
}
