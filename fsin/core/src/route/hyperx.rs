//! HyperX: one hop in each dimension in which the coordinates of packet and destination differ.
//!
//! `dor` takes the dimensions in order: packets in channels of a later dimension never wait for channels of an earlier
//! one. `valiant` does so twice: on channels of class 0 to a switch that is drawn, and on channels of class 1 from
//! there. `minimal` takes any dimension, with a class of channels for each hop. `adaptive` takes any dimension on
//! adaptive channels, with dimension order as the escape. `dal` weighs, on its adaptive channels, the last hop of each
//! remaining dimension against a deroute to any other switch of that row, which a packet may take once in each
//! dimension (Ahn et al., SC 2009, section 4, which uses the escape channel in the same way).

use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::table::{Build, Choice, Function, Row, Serves, fabric, planned};
use super::{ChannelPolicy, Decisions, Draw, Hop, Phase, RoutingFunction, Tier, Visit, grid};
use crate::topology::switched::{Coordinates, Hyperx as Plan};

const SC: &str =
    "Ahn et al., HyperX: topology, routing, and packaging of efficient large-scale networks, SC 2009, section 4";

/// Dimension order.
pub static DOR: Row = Row {
    component: Component {
        name: "dor",
        about: "hyperx: one hop in each dimension, in order, on any channel",
        parameters: &[],
        source: SC,
    },
    aliases: grid::ORDER,
    serves: Serves::Only(&["hyperx"]),
    policy: ChannelPolicy::Free,
    why: "",
    choice: Choice::One,
    build: |build| Hyperx::build(build, Kind::Dor),
};

/// Any minimal hop.
pub static MINIMAL: Row = Row {
    component: Component {
        name: "minimal",
        about: "hyperx: one hop in each dimension, in any order; a class of channels for each hop",
        parameters: &[],
        source: "Gunther, Prevention of deadlocks in packet-switched data transport systems, TCOM 29(4), 1981",
    },
    aliases: &[],
    policy: ChannelPolicy::ByHop,
    why: "one for each hop",
    choice: Choice::Any,
    build: |build| Hyperx::build(build, Kind::Minimal),
    ..DOR
};

/// Any minimal hop, and dimension order as the escape.
pub static ADAPTIVE: Row = Row {
    component: Component {
        name: "adaptive",
        about: "hyperx: any dimension on adaptive channels, dimension order on the escape channel",
        parameters: &[],
        source: "Duato, A new theory of deadlock-free adaptive routing in wormhole networks, 1993",
    },
    aliases: &["minimal-adaptive", "min_adapt", "hyperx:adaptive", "hyperx:minimal-adaptive"],
    policy: ChannelPolicy::Escape(&ChannelPolicy::Free),
    why: "one of them adaptive",
    choice: Choice::Any,
    build: |build| Hyperx::build(build, Kind::Adaptive),
    ..DOR
};

/// With deroutes.
pub static DAL: Row = Row {
    component: Component {
        name: "dal",
        about: "hyperx: minimal, or once in each dimension round by another switch of the row, by queue ahead times hops to \
                go, on adaptive channels; escape channel in dimension order (after DAL)",
        parameters: &[],
        source: SC,
    },
    aliases: &["hyperx:dal"],
    policy: ChannelPolicy::Escape(&ChannelPolicy::Free),
    why: "one of them adaptive",
    choice: Choice::Weighed,
    build: |build| Hyperx::build(build, Kind::Dal),
    ..DOR
};

/// Through another switch.
pub static VALIANT: Row = Row {
    component: Component {
        name: "valiant",
        about: "hyperx: in dimension order through a switch that is drawn; two classes of channels",
        parameters: &[],
        source: "Valiant, A scheme for fast parallel communication, 1982",
    },
    aliases: &[],
    policy: ChannelPolicy::ByClass,
    why: "one for each phase",
    choice: Choice::AtFirstRouter,
    build: |build| Hyperx::build(build, Kind::Valiant),
    ..DOR
};

/// Minimal or through another switch.
pub static UGAL: Row = Row {
    component: Component {
        name: "ugal",
        about: "hyperx: dor or valiant, whichever has the smaller product of queue ahead and hops; two classes of channels",
        parameters: &[],
        source: "Singh, Load-balanced routing in interconnection networks, 2005",
    },
    aliases: &["ugal-l"],
    build: |build| Hyperx::build(build, Kind::Ugal),
    ..VALIANT
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Dor,
    Minimal,
    Adaptive,
    Dal,
    Valiant,
    Ugal,
}

/// Phase of a packet of `valiant` and `ugal` on a minimal route.
const TO_DESTINATION: Phase = 0;
/// Phase of a packet on its way to an intermediate switch.
const TO_INTERMEDIATE: Phase = 1;
/// Phase of a packet on its way from the intermediate switch to its destination.
const FROM_INTERMEDIATE: Phase = 2;

/// Label of the draw of the intermediate switch.
const THROUGH: u32 = 0;

/// Routes of a HyperX. The phase of `minimal` counts hops, that of `dal` has a bit for each dimension with a deroute.
#[derive(Debug)]
pub struct Hyperx {
    /// The construction plan of the HyperX.
    plan: Plan,
    kind: Kind,
    /// Number of switches.
    switches: u32,
    /// Number of the first switch among all nodes.
    first: u32,
    /// By switch: its coordinates.
    coordinates: Coordinates,
    /// By switch and place of the link in the plan: the port.
    ports: Box<[u32]>,
    /// Number of places of each switch.
    places: usize,
}

impl Hyperx {
    fn build(build: &Build<'_>, kind: Kind) -> Result<Function, SpecError> {
        let (plan, fabric) = (planned::<Plan>(build.topology)?, fabric(build.topology)?);
        let places = fabric.degree(NodeId::at(fabric.endpoints()));
        let kind = if build.row.policy.is_escape() && !build.adapts(1) { Kind::Dor } else { kind };
        Ok(Function::Hyperx(Self {
            kind,
            switches: (fabric.nodes() - fabric.endpoints()) as u32,
            first: fabric.endpoints() as u32,
            coordinates: Coordinates::new(&plan.lattice),
            ports: (plan.lattice.switches())
                .flat_map(|switch| (0..places).map(move |place| fabric.port(switch, place).0))
                .collect(),
            places,
            plan: plan.clone(),
        }))
    }

    /// By dimension: the coordinates of a switch.
    #[inline(always)]
    fn coordinates(&self, router: usize) -> &[u16] {
        self.coordinates.of(NodeId(router as u32 + self.first))
    }

    /// The intermediate switch of a packet, drawn.
    fn intermediate_switch(&self, draw: &mut impl Draw) -> usize {
        draw.draw(THROUGH, self.switches) as usize
    }

    /// The port to another coordinate in a dimension.
    #[inline(always)]
    fn port(&self, router: usize, dimension: usize, to: u16) -> u32 {
        let own = self.coordinates(router)[dimension];
        self.ports[router * self.places + self.plan.place(dimension, own.into(), to.into())]
    }

    /// The dimensions in which two switches differ, in ascending order.
    #[inline(always)]
    fn different(&self, router: usize, to: usize) -> impl Iterator<Item = usize> {
        let (here, there) = (self.coordinates(router), self.coordinates(to));
        (0..here.len()).filter(move |&dimension| here[dimension] != there[dimension])
    }

    /// The ports that correct each coordinate in which two switches differ, in ascending order of dimensions.
    #[inline(always)]
    fn correcting(&self, router: usize, to: usize) -> impl Iterator<Item = u32> {
        let there = self.coordinates(to);
        self.different(router, to).map(move |dimension| self.port(router, dimension, there[dimension]))
    }

    /// \[hops\] Distance between switches.
    fn distance(&self, from: usize, to: usize) -> u32 {
        self.different(from, to).count() as u32
    }

    /// True if the kind of route is decided at the first switch.
    const fn decides(&self) -> bool {
        matches!(self.kind, Kind::Valiant | Kind::Ugal)
    }
}

impl RoutingFunction for Hyperx {
    fn classes(&self) -> usize {
        match self.kind {
            Kind::Dor | Kind::Adaptive | Kind::Dal => 1,
            Kind::Minimal => self.plan.lattice.sizes.iter().filter(|&&size| size > 1).count().max(1),
            Kind::Valiant | Kind::Ugal => 2,
        }
    }

    fn has_phases(&self) -> bool {
        !matches!(self.kind, Kind::Dor | Kind::Adaptive)
    }

    #[inline]
    fn hops(&self, at: &Visit, draw: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let in_order = || self.correcting(at.here, at.home).next();
        match self.kind {
            Kind::Dor => in_order().into_iter().map(Hop::free).for_each(add),
            Kind::Minimal => {
                let class = 1 + at.phase as u8;
                self.correcting(at.here, at.home).for_each(|port| add(Hop::of_class(port, class)));
            }
            Kind::Valiant | Kind::Ugal => {
                let to = if at.phase == TO_INTERMEDIATE { self.intermediate_switch(draw) } else { at.home };
                let class = 1 + u8::from(at.phase == FROM_INTERMEDIATE);
                self.correcting(at.here, to).take(1).for_each(|port| add(Hop::of_class(port, class)));
            }
            Kind::Adaptive => {
                let hop = |port| Hop { tier: Tier::Adaptive, ..Hop::free(port) };
                self.correcting(at.here, at.home).map(hop).for_each(&mut add);
                in_order().map(|port| Hop { tier: Tier::Escape, ..Hop::free(port) }).into_iter().for_each(add);
            }
            Kind::Dal => {
                let left = self.distance(at.here, at.home) as u8;
                let (here, there) = (self.coordinates(at.here), self.coordinates(at.home));
                for dimension in self.different(at.here, at.home) {
                    let mut hop = |to, left| {
                        let port = self.port(at.here, dimension, to);
                        add(Hop { tier: Tier::Adaptive, left, ..Hop::free(port) });
                    };
                    hop(there[dimension], left);
                    if at.phase & 1 << dimension == 0 {
                        let others = 0..self.plan.lattice.sizes[dimension] as u16;
                        let others = others.filter(|&to| to != here[dimension] && to != there[dimension]);
                        others.for_each(|to| hop(to, left + 1));
                    }
                }
                in_order().map(|port| Hop { tier: Tier::Escape, left, ..Hop::free(port) }).into_iter().for_each(add);
            }
        }
    }

    fn decisions(&self, at: &Visit, draw: &mut impl Draw) -> Decisions {
        if !self.decides() {
            return Decisions::only(at.phase);
        }
        let through = self.intermediate_switch(draw);
        let round = if through == at.here { FROM_INTERMEDIATE } else { TO_INTERMEDIATE };
        match self.kind {
            _ if through == at.home => Decisions::only(TO_DESTINATION),
            Kind::Ugal => Decisions { first: TO_DESTINATION, second: Some(round) },
            _ => Decisions::only(round),
        }
    }

    fn length(&self, at: &Visit, draw: &mut impl Draw) -> u32 {
        if at.phase == TO_DESTINATION {
            return self.distance(at.here, at.home);
        }
        let through = self.intermediate_switch(draw);
        self.distance(at.here, through) + self.distance(through, at.home)
    }

    #[inline(always)]
    fn hop(&self, at: &Visit, next: usize, draw: &mut impl Draw) -> Phase {
        match self.kind {
            Kind::Dor | Kind::Adaptive => at.phase,
            Kind::Minimal => at.phase + 1,
            Kind::Valiant | Kind::Ugal if at.phase != TO_INTERMEDIATE => at.phase,
            Kind::Valiant | Kind::Ugal if next != self.intermediate_switch(draw) => at.phase,
            Kind::Valiant | Kind::Ugal => FROM_INTERMEDIATE,
            Kind::Dal => {
                let [before, after, there] = [at.here, next, at.home].map(|router| self.coordinates(router));
                let derouted =
                    |&dimension: &usize| before[dimension] != after[dimension] && after[dimension] != there[dimension];
                (0..before.len()).filter(derouted).fold(at.phase, |phase, dimension| phase | 1 << dimension)
            }
        }
    }

    /// Up to three switches in a dimension, and two where there are many dimensions: routes depend on which coordinates
    /// differ.
    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        let sizes = &self.plan.lattice.sizes;
        let most = if sizes.len() > 3 { 2 } else { 3 };
        let sizes: Vec<String> = sizes.iter().map(|&size| size.min(most).to_string()).collect();
        (sizes.len() <= 6).then(|| vec![(format!("hyperx:{}:1", sizes.join("x")), 2)])
    }
}
