//! Indirect cubes: the bubble router among switches.
//!
//! `oblivious` routes in dimension order and keeps its channel while it goes straight, as in a torus. `adaptive` takes
//! any profitable port on channels from 1 on, or channel 0 in dimension order, with equal priority. A packet that
//! enters a ring on a channel of dimension order needs room for the bubble in the queue **ahead** of it, as in the
//! original, so that no ring fills up. Rings of a later dimension never wait for those of an earlier one. (Puente, Izu,
//! Beivide et al., The adaptive bubble router, JPDC 61(9), 2001.)

use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::{Candidate, Departure, SwitchRouting, Visit, plan};
use crate::router::RouterParams;
use crate::router::request::{Input, draw_direction};
use crate::routing::{Avoidance, Choice, Requests, Routing, Row, Serves, Vcs};
use fsin_core::topology::Port;
use fsin_core::topology::switched::{Coordinates, Cube as Plan, Fabric, Switched};

const PUENTE: &str = "Puente, Izu, Beivide et al., The adaptive bubble router, JPDC 61(9), 2001";

pub(in crate::routing) const ADAPTIVE: Row = Row {
    component: Component {
        name: "cube:adaptive",
        about: "icube: minimal adaptive on the channel of 1..V-1 with fewest packets ahead; escape channel 0 with bubble; V >= 2",
        parameters: &[],
        source: PUENTE,
    },
    aliases: &["minimal-adaptive", "min_adapt", "adaptive"],
    serves: Serves::Only(&["icube"]),
    vcs: Vcs::AtLeast(2),
    dimensions: None,
    avoidance: Avoidance::Bubble,
    dead_links: false,
    requests: Requests::Switched { choice: Choice::MostSpace, alternatives: false },
};

pub(in crate::routing) const OBLIVIOUS: Row = Row {
    component: Component {
        name: "cube:oblivious",
        about: "icube: dimension order; channel kept while going straight; bubble on every channel; V >= 1",
        parameters: &[],
        source: PUENTE,
    },
    aliases: &["dor", "e-cube", "dimension-order", "dim_order", "xy"],
    serves: Serves::Only(&["icube"]),
    vcs: Vcs::AtLeast(1),
    dimensions: None,
    avoidance: Avoidance::Bubble,
    dead_links: false,
    requests: Requests::Switched { choice: Choice::Drawn, alternatives: false },
};

/// Routing function of an indirect cube.
#[derive(Debug)]
pub(in crate::routing) struct Cube {
    /// The construction plan of the cube.
    plan: Plan,
    /// True for `cube:adaptive`, false for `cube:oblivious`.
    is_adaptive: bool,
    /// By switch: its coordinates.
    coordinates: Coordinates,
}

impl Cube {
    /// Profitable ports, in the order of dimensions. At equal distance both ways round a ring the direction is drawn;
    /// after one hop the other way is longer.
    fn profitable<'a>(&'a self, visit: &Visit<'a>, home: NodeId) -> impl Iterator<Item = Port> + 'a {
        let (here, there, key) = (self.coordinates.of(visit.node), self.coordinates.of(home), visit.key);
        (0..here.len()).filter(|&dimension| here[dimension] != there[dimension]).map(move |dimension| {
            let size = self.plan.lattice.sizes[dimension];
            let ahead = (u32::from(there[dimension]) + size - u32::from(here[dimension])) % size;
            let positive = 2 * ahead < size || (2 * ahead == size && draw_direction(key, dimension));
            self.plan.port(dimension, positive)
        })
    }
}

impl SwitchRouting for Cube {
    fn new(params: &RouterParams, network: &Switched) -> Result<Self, SpecError> {
        let plan: &Plan = plan(params, network)?;
        let is_adaptive = params.routing == Routing::CubeAdaptive;
        Ok(Self { is_adaptive, coordinates: Coordinates::new(&plan.lattice), plan: plan.clone() })
    }

    fn last_channels(&self, _visit: &Visit<'_>, all: u32) -> u32 {
        all
    }

    fn single_candidate(&self, _fabric: &Fabric, _visit: &Visit<'_>, _home: NodeId) -> Option<Candidate> {
        None
    }

    fn candidates(
        &self,
        _fabric: &Fabric,
        visit: &Visit<'_>,
        home: NodeId,
        all: u32,
        mut add_candidate: impl FnMut(Candidate),
    ) {
        // The tier marks the escape channel, which has equal priority.
        let candidate = |port, vcs, tier, bubble| Candidate { port, vcs, tier, hops: 1, bubble };
        let Some(next) = self.profitable(visit, home).next() else { return };
        if !self.is_adaptive {
            let kept = match visit.input {
                Input::Transit(input) if input.port == next => 1 << input.vc,
                Input::Transit(_) | Input::Injection => all,
            };
            return add_candidate(candidate(next, kept, 0, true));
        }
        self.profitable(visit, home).for_each(|port| add_candidate(candidate(port, all & !1, 0, false)));
        add_candidate(candidate(next, 1, 1, true));
    }

    fn may_weigh(&self) -> bool {
        false
    }

    fn weighs(&self, _visit: &Visit<'_>) -> bool {
        false
    }

    #[inline(always)]
    fn hop(&self, _fabric: &Fabric, _at: &Departure, _port: Port, _state: &mut [i16]) {}
}
