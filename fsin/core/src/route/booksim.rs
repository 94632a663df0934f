//! Routings of BookSim 2: its `min` and `ugal` of dragonflies, and `ugal` and `ugal_xyyx` of flattened butterflies.
//!
//! In a dragonfly each class of hops has one channel, however many there are: `min` takes channel 0 up to the link
//! between groups, and channel 1 from there on.
//!
//! The others decide once, at the first router, by the flits ahead. They differ from [`ugal`](super::hyperx) in what is
//! drawn and how it is weighed. In a HyperX an intermediate switch has the coordinates that the switches of source and
//! destination share, and each phase and order of dimensions has a class of channels: packets wait only for channels of
//! a later dimension or a later phase. In a dragonfly any node may be the intermediate one, all hops to which are on
//! channels of one class: that is not free of deadlock, since a packet may come from a local link over a link between
//! groups to a local link of the same class.
//!
//! Source: BookSim 2, Jiang and others, ISPASS 2013.
//!
//! Decisions: docs/decisions/0552-routings-that-decide-once.md, docs/decisions/0650-channels-of-dragonflies.md.

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, SpecError};

use super::table::{Build, Choice, Function, Row, Serves, fabric, planned};
use super::{ChannelPolicy, Decisions, Draw, Hop, Phase, RoutingFunction, Visit};
use crate::topology::switched::{Dragonfly as DragonflyPlan, Hyperx as HyperxPlan};

const SOURCE: &str = "BookSim 2, Jiang et al., ISPASS 2013";

/// The link between the two groups of a dragonfly.
pub(super) static DRAGONFLY_MINIMAL: Row = Row {
    component: Component {
        name: "booksim-min",
        about: "dragonfly: local, between groups, local; channel 0 before the link between groups, channel 1 on it and after \
                it, and no other, which limits a long link to a buffer for each round trip",
        parameters: &[],
        source: SOURCE,
    },
    why: "one before the link between groups, one from there on",
    choice: Choice::One,
    build: |build| dragonfly(build, false),
    ..DRAGONFLY_UGAL
};

/// Minimal, or through a node that is drawn, in a dragonfly.
pub(super) static DRAGONFLY_UGAL: Row = Row {
    component: Component {
        name: "booksim-ugal",
        about: "dragonfly: minimal, or through a node that is drawn of all if the flits ahead are fewer than half; decided \
                once; channels 0, 1 and 2 for three classes, which are not free of deadlock",
        parameters: &[],
        source: SOURCE,
    },
    aliases: &[],
    serves: Serves::Only(&["dragonfly"]),
    policy: ChannelPolicy::OneEach,
    why: "one to the intermediate switch, one from there, one from the last link between groups",
    choice: Choice::ByFlitsAtFirst,
    build: |build| dragonfly(build, true),
};

/// Minimal, or through a switch that is drawn, in a HyperX.
pub(super) static HYPERX_UGAL: Row = Row {
    component: Component {
        name: "booksim-ugal",
        about: "hyperx: in dimension order, or so through a switch that is drawn and keeps the coordinates that source and \
                destination share, whichever has the smaller product of flits ahead and hops; decided once; two classes of channels",
        parameters: &[],
        source: SOURCE,
    },
    serves: Serves::Only(&["hyperx"]),
    policy: ChannelPolicy::ByClass,
    why: "one for each phase",
    build: |build| Flat::build(build, false),
    ..DRAGONFLY_UGAL
};

/// The same in two orders of dimensions.
pub(super) static HYPERX_UGAL_XY_YX: Row = Row {
    component: Component {
        name: "booksim-ugal-xy-yx",
        about: "hyperx of 2 dimensions: as booksim-ugal, x before y or y before x, drawn for each packet; four classes of channels",
        parameters: &[],
        source: SOURCE,
    },
    why: "one for each phase and order of dimensions",
    build: |build| Flat::build(build, true),
    ..HYPERX_UGAL
};

/// On the way to the destination.
const TO_DESTINATION: Phase = 0;
/// On the way to the intermediate switch.
const TO_INTERMEDIATE: Phase = 1;
/// In a dragonfly: in the group of the destination, over a link between groups.
const ARRIVED: Phase = 2;
/// In a HyperX: a bit of the phase of a packet that goes along y first.
const Y_FIRST: Phase = 2;

/// Label of the draw of the intermediate node.
const THROUGH: u32 = 0;
/// Label of the draw of the order of dimensions.
const ORDER: u32 = 1;

/// \[flits\] By so many more the minimal route of a dragonfly is still taken.
const DRAGONFLY_MARGIN: u32 = 30;
/// \[flits x hops\] The same of a HyperX.
const FLAT_MARGIN: u32 = 2;

/// Routes of a HyperX.
#[derive(Debug)]
struct Flat {
    plan: HyperxPlan,
    /// True if the order of dimensions is drawn.
    has_orders: bool,
    /// By endpoint: its switch.
    homes: Vec<u32>,
    /// By switch: its coordinates.
    coordinates: Vec<Vec<u16>>,
    /// By switch and place of the link in the plan: the port.
    ports: Vec<u32>,
    /// Number of places of each switch.
    places: usize,
}

impl Flat {
    fn build(build: &Build<'_>, has_orders: bool) -> Result<Function, SpecError> {
        let (plan, fabric) = (planned::<HyperxPlan>(build.topology)?, fabric(build.topology)?);
        if has_orders && plan.lattice.sizes.len() != 2 {
            let what =
                format!("{} is for 2 dimensions, and {} has others", build.row.component.name, build.topology.spec());
            let remedy = "use booksim-ugal, or a network of 2 dimensions";
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("routing"));
        }
        let places = fabric.degree(NodeId::at(fabric.endpoints()));
        let ports = |switch| (0..places).map(move |place| fabric.port(switch, place).0);
        let home = |endpoint| (fabric.home(endpoint).0.index() - fabric.endpoints()) as u32;
        let coordinates = |switch| plan.lattice.coordinates(switch).map(|at| at as u16).collect();
        Ok(Function::boxed(Self {
            has_orders,
            homes: (0..fabric.endpoints()).map(NodeId::at).map(home).collect(),
            coordinates: plan.lattice.switches().map(coordinates).collect(),
            ports: plan.lattice.switches().flat_map(ports).collect(),
            places,
            plan: plan.clone(),
        }))
    }

    /// The coordinates of the intermediate switch of a packet.
    fn through(&self, at: &Visit, draw: &mut impl Draw) -> Vec<u16> {
        let drawn = self.homes[draw.draw(THROUGH, self.homes.len() as u32) as usize] as usize;
        let [from, to, drawn] = [at.first, at.home, drawn].map(|switch| &self.coordinates[switch]);
        from.iter().zip(to).zip(drawn).map(|((from, to), drawn)| *if from == to { from } else { drawn }).collect()
    }

    /// \[hops\] Between switches with these coordinates.
    fn distance(from: &[u16], to: &[u16]) -> u32 {
        from.iter().zip(to).filter(|(from, to)| from != to).count() as u32
    }
}

impl RoutingFunction for Flat {
    fn classes(&self) -> usize {
        if self.has_orders { 4 } else { 2 }
    }

    fn hops(&self, at: &Visit, draw: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let is_first = at.phase & TO_INTERMEDIATE != 0;
        let is_y_first = at.phase & Y_FIRST != 0;
        let to = if is_first { self.through(at, draw) } else { self.coordinates[at.home].clone() };
        let here = &self.coordinates[at.here];
        let mut different = (0..here.len()).filter(|&dimension| here[dimension] != to[dimension]);
        let dimension = if is_y_first { different.next_back() } else { different.next() };
        if let Some(dimension) = dimension {
            let place = self.plan.place(dimension, here[dimension].into(), to[dimension].into());
            let class = 1 + u8::from(!is_first) + 2 * u8::from(is_y_first);
            add(Hop::of_class(self.ports[at.here * self.places + place], class));
        }
    }

    fn decisions(&self, at: &Visit, draw: &mut impl Draw) -> Decisions {
        let order = if self.has_orders && draw.draw(ORDER, 2) == 1 { Y_FIRST } else { 0 };
        let first = TO_DESTINATION | order;
        if self.through(at, draw) == self.coordinates[at.here] {
            return Decisions::only(first);
        }
        Decisions { first, second: Some(TO_INTERMEDIATE | order) }
    }

    fn length(&self, at: &Visit, draw: &mut impl Draw) -> u32 {
        let (here, home) = (&self.coordinates[at.here], &self.coordinates[at.home]);
        if at.phase & TO_INTERMEDIATE == 0 {
            return Self::distance(here, home);
        }
        let through = self.through(at, draw);
        Self::distance(here, &through) + Self::distance(&through, home)
    }

    fn margin(&self) -> u32 {
        FLAT_MARGIN
    }

    fn hop(&self, at: &Visit, next: usize, draw: &mut impl Draw) -> Phase {
        let has_come = at.phase & TO_INTERMEDIATE != 0 && self.through(at, draw) == self.coordinates[next];
        if has_come { at.phase & !TO_INTERMEDIATE } else { at.phase }
    }

    /// Routes depend on which coordinates differ.
    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        let sizes = &self.plan.lattice.sizes;
        let most = if sizes.len() > 3 { 2 } else { 3 };
        let sizes: Vec<String> = sizes.iter().map(|&size| size.min(most).to_string()).collect();
        (sizes.len() <= 6).then(|| vec![(format!("hyperx:{}:1", sizes.join("x")), 2)])
    }
}

/// Routes of a dragonfly.
#[derive(Debug)]
struct Dragonfly {
    plan: DragonflyPlan,
    /// True if a packet may go through a node that is drawn.
    has_detours: bool,
    /// By endpoint: its switch.
    homes: Vec<u32>,
    /// By switch: its group, and its number there.
    positions: Vec<(u32, u32)>,
    /// By switch and place of the link in the plan: the port.
    ports: Vec<u32>,
    /// Number of places of each switch.
    places: usize,
}

/// Builds the routes of a dragonfly.
fn dragonfly(build: &Build<'_>, has_detours: bool) -> Result<Function, SpecError> {
    let (plan, fabric) = (planned::<DragonflyPlan>(build.topology)?, fabric(build.topology)?);
    let switches = || (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
    let places = switches().map(|switch| fabric.degree(switch)).max().unwrap_or(0);
    // Where not every link is in use, switches have fewer.
    let port = |switch, place| if place < fabric.degree(switch) { fabric.port(switch, place).0 } else { u32::MAX };
    let home = |endpoint| (fabric.home(endpoint).0.index() - fabric.endpoints()) as u32;
    Ok(Function::boxed(Dragonfly {
        has_detours,
        homes: (0..fabric.endpoints()).map(NodeId::at).map(home).collect(),
        positions: switches().map(|switch| plan.place(switch)).collect(),
        ports: switches().flat_map(|switch| (0..places).map(move |place| port(switch, place))).collect(),
        places,
        plan: plan.clone(),
    }))
}

impl Dragonfly {
    /// The intermediate switch of a packet.
    fn through(&self, draw: &mut impl Draw) -> usize {
        self.homes[draw.draw(THROUGH, self.homes.len() as u32) as usize] as usize
    }
}

impl RoutingFunction for Dragonfly {
    fn classes(&self) -> usize {
        if self.has_detours { 3 } else { 2 }
    }

    fn hops(&self, at: &Visit, draw: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let is_first = at.phase == TO_INTERMEDIATE;
        let to = if is_first { self.through(draw) } else { at.home };
        let ((group, own), (there, last)) = (self.positions[at.here], self.positions[to]);
        let (place, is_between) = if group == there {
            (self.plan.local_place(own, last), false)
        } else {
            let (gate, link) = self.plan.gateway(group, there, 0);
            match gate == own {
                true => (self.plan.global_place(link), true),
                false => (self.plan.local_place(own, gate), false),
            }
        };
        let class = match at.phase {
            TO_INTERMEDIATE => 1,
            _ if !self.has_detours => 1 + u8::from(at.phase == ARRIVED || is_between),
            ARRIVED => 3,
            _ if is_between => 3,
            _ => 2,
        };
        add(Hop::of_class(self.ports[at.here * self.places + place], class));
    }

    fn decisions(&self, at: &Visit, draw: &mut impl Draw) -> Decisions {
        if !self.has_detours {
            return Decisions::only(TO_DESTINATION);
        }
        let through = self.through(draw);
        match self.positions[through].0 == self.positions[at.here].0 {
            true => Decisions::only(TO_DESTINATION),
            false => Decisions { first: TO_DESTINATION, second: Some(TO_INTERMEDIATE) },
        }
    }

    /// What the flits ahead are multiplied by.
    fn length(&self, at: &Visit, _: &mut impl Draw) -> u32 {
        if at.phase == TO_INTERMEDIATE { 2 } else { 1 }
    }

    fn margin(&self) -> u32 {
        DRAGONFLY_MARGIN
    }

    fn hop(&self, at: &Visit, next: usize, draw: &mut impl Draw) -> Phase {
        let is_between = self.positions[at.here].0 != self.positions[next].0;
        match at.phase {
            TO_INTERMEDIATE if next == self.through(draw) => TO_DESTINATION,
            TO_DESTINATION if is_between => ARRIVED,
            phase => phase,
        }
    }

    /// The channels of a minimal route have ranks, in every dragonfly: local links on channel 0, links between groups,
    /// local links on channel 1. With detours there is no such argument.
    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        (!self.has_detours).then(|| super::dragonfly::specimens(&self.plan))
    }
}
