//! HyperX: one hop in each dimension in which the packet is not aligned with its destination.
//!
//! `dor` goes through the dimensions in order: channels of a later dimension never wait for those of an earlier one, so
//! one channel suffices to exclude deadlock. `adaptive` weighs, on channels from 1 on, the last hop of each remaining
//! dimension against a deroute to any other switch of that row, which a packet may take once in each dimension. Channel
//! 0 is the escape channel, in dimension order. (After DAL: Ahn et al., SC 2009, section 4, which uses the escape
//! channel in the same way.)

use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::{Candidate, Departure, SwitchRouting, Visit, next_switch, plan};
use crate::router::RouterParams;
use crate::routing::{Avoidance, Choice, Requests, Routing, Row, Serves, Vcs};
use fsin_core::topology::Port;
use fsin_core::topology::switched::{Coordinates, Fabric, Hyperx as Plan, Switched};

const SC: &str =
    "Ahn et al., HyperX: topology, routing, and packaging of efficient large-scale networks, SC 2009, section 4";

pub(in crate::routing) const ADAPTIVE: Row = Row {
    component: Component {
        name: "hyperx:adaptive",
        about: "hyperx: minimal, or once in each dimension round by another switch of the row, by packets ahead times \
                hops to go, on channels 1..V-1; escape channel 0 in dimension order (after DAL); V >= 2",
        parameters: &[],
        source: SC,
    },
    aliases: &["dal"],
    serves: Serves::Only(&["hyperx"]),
    vcs: Vcs::AtLeast(2),
    dimensions: None,
    avoidance: Avoidance::Order,
    dead_links: false,
    requests: Requests::Switched { choice: Choice::Open, alternatives: false },
};

pub(in crate::routing) const DOR: Row = Row {
    component: Component {
        name: "hyperx:dor",
        about: "hyperx: dimension order, any channel; V >= 1",
        parameters: &[],
        source: SC,
    },
    aliases: &["dor", "e-cube", "dimension-order", "dim_order", "xy"],
    serves: Serves::Only(&["hyperx"]),
    vcs: Vcs::AtLeast(1),
    dimensions: None,
    avoidance: Avoidance::Order,
    dead_links: false,
    requests: Requests::Switched { choice: Choice::Open, alternatives: false },
};

/// Routing function of a HyperX.
#[derive(Debug)]
pub(in crate::routing) struct Hyperx {
    /// The construction plan of the HyperX.
    plan: Plan,
    /// True for `hyperx:adaptive`, false for `hyperx:dor`.
    is_adaptive: bool,
    /// By switch: its coordinates.
    coordinates: Coordinates,
    /// Number of the first switch: endpoints come before switches.
    first_switch: u32,
    /// By switch and place (index of a link in the construction plan): the port.
    ports: Vec<Port>,
    /// Number of places of each switch.
    places: usize,
}

impl SwitchRouting for Hyperx {
    fn new(params: &RouterParams, network: &Switched) -> Result<Self, SpecError> {
        let (plan, fabric): (&Plan, _) = (plan(params, network)?, network.fabric());
        let switches = || (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let places = fabric.degree(NodeId::at(fabric.endpoints()));
        Ok(Self {
            is_adaptive: params.routing == Routing::HyperxAdaptive,
            coordinates: Coordinates::new(&plan.lattice),
            first_switch: fabric.endpoints() as u32,
            ports: switches().flat_map(|switch| (0..places).map(move |place| fabric.port(switch, place))).collect(),
            places,
            plan: plan.clone(),
        })
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
        let (here, there) = (self.coordinates.of(visit.node), self.coordinates.of(home));
        let ports = &self.ports[(visit.node.0 - self.first_switch) as usize * self.places..][..self.places];
        let left = || (0..here.len()).filter(|&dimension| here[dimension] != there[dimension]);
        let port = |dimension: usize, to: u16| ports[self.plan.place(dimension, here[dimension].into(), to.into())];
        if !self.is_adaptive {
            if let Some(dimension) = left().next() {
                add_candidate(Candidate {
                    port: port(dimension, there[dimension]),
                    vcs: all,
                    tier: 0,
                    hops: 1,
                    bubble: false,
                });
            }
            return;
        }
        let hops = left().count() as u8;
        for dimension in left() {
            add_candidate(Candidate {
                port: port(dimension, there[dimension]),
                vcs: all & !1,
                tier: 0,
                hops,
                bubble: false,
            });
            if visit.state[0] & 1 << dimension != 0 {
                continue;
            }
            for to in 0..self.plan.lattice.sizes[dimension] as u16 {
                if to != here[dimension] && to != there[dimension] {
                    add_candidate(Candidate {
                        port: port(dimension, to),
                        vcs: all & !1,
                        tier: 0,
                        hops: hops + 1,
                        bubble: false,
                    });
                }
            }
        }
        if let Some(dimension) = left().next() {
            add_candidate(Candidate { port: port(dimension, there[dimension]), vcs: 1, tier: 1, hops, bubble: false });
        }
    }

    fn may_weigh(&self) -> bool {
        false
    }

    fn weighs(&self, _visit: &Visit<'_>) -> bool {
        self.is_adaptive
    }

    /// Records the dimensions in which the packet has been derouted.
    #[inline(never)]
    fn hop(&self, fabric: &Fabric, at: &Departure, port: Port, state: &mut [i16]) {
        let Some(next) = next_switch(fabric, at.node, port) else { return };
        let home = fabric.home(at.destination).0;
        let [before, after, there] = [at.node, next, home].map(|switch| self.coordinates.of(switch));
        for dimension in 0..before.len() {
            if before[dimension] != after[dimension] && after[dimension] != there[dimension] {
                state[0] |= 1 << dimension;
            }
        }
    }
}
