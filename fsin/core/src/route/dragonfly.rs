//! Dragonflies: within the group to the switch with the link, over that link to the other group, and there to the
//! switch of the destination.
//!
//! A packet that has crossed c links between groups uses channels of class c. On every route, local links of class c
//! come before the link between groups of class c, which comes before local links of class c + 1: packets only wait for
//! channels of a higher rank (Kim et al., ISCA 2008, section 4).
//!
//! Decision: docs/decisions/0039-dragonfly-routing.md.

use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::table::{Build, Choice, Function, Row, Serves, fabric, planned};
use super::{ChannelPolicy, Decisions, Draw, Hop, LANE, Phase, RoutingFunction, Visit};
use crate::topology::switched::Dragonfly as Plan;

const CLASSES: &str = "one for each link between groups and one more";
const ISCA: &str = "Kim et al., Technology-driven, highly-scalable dragonfly topology, ISCA 2008, section 4";

/// The link between the two groups.
pub static MINIMAL: Row = Row {
    component: Component {
        name: "minimal",
        about: "dragonfly: local, between groups, local; channel class of links between groups crossed, two classes",
        parameters: &[],
        source: ISCA,
    },
    aliases: &["dragonfly:minimal"],
    serves: Serves::Only(&["dragonfly"]),
    policy: ChannelPolicy::ByClass,
    why: CLASSES,
    choice: Choice::One,
    build: |build| Dragonfly::build(build, Kind::Minimal),
};

/// Through another group.
pub static VALIANT: Row = Row {
    component: Component {
        name: "valiant",
        about: "dragonfly: through another group, drawn for each packet; three classes of channels",
        parameters: &[],
        source: "Valiant, A scheme for fast parallel communication, 1982; Kim et al., ISCA 2008",
    },
    aliases: &["dragonfly:valiant"],
    choice: Choice::AtFirstRouter,
    build: |build| Dragonfly::build(build, Kind::Valiant),
    ..MINIMAL
};

/// Minimal or through another group.
pub(super) static UGAL: Row = Row {
    component: Component {
        name: "ugal",
        about: "dragonfly: minimal, or through another group, whichever has the smaller product of queue ahead and hops \
                (UGAL-L); three classes of channels",
        parameters: &[],
        source: "Singh, Load-balanced routing in interconnection networks, 2005; Kim et al., ISCA 2008",
    },
    aliases: &["ugal-l", "dragonfly:ugal", "adaptive"],
    choice: Choice::AtFirstRouter,
    build: |build| Dragonfly::build(build, Kind::Ugal),
    ..MINIMAL
};

/// The same, of routes that begin with different links. No standard row of the table, since it shares the names of
/// `UGAL`.
pub static UGAL_APART: Row = Row {
    component: Component {
        name: "ugal",
        about: "dragonfly: minimal, or through another group, whichever has the smaller product of packets ahead and hops \
                (UGAL-L), where both begin with different links; three classes of channels",
        ..UGAL.component
    },
    build: |build| Dragonfly::build(build, Kind::UgalApart),
    ..UGAL
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Minimal,
    Valiant,
    Ugal,
    UgalApart,
}

/// Phase of a packet whose route leads through another group; that of all others is 0.
const INDIRECT: Phase = 1;

/// Label of the draw of the intermediate group.
const THROUGH: u32 = 0;
/// Label of the draw of the link, where several connect two groups.
const COPY: u32 = 1;
/// Label of the first draw of another intermediate group. The labels of later ones descend from it; no link has them.
const AGAIN: u32 = LANE - 1;

/// Maximum number of draws of another intermediate group: it ends the search if all groups are behind one link.
const MOST_REDRAWS: u32 = 8;

/// A switch: its group, and its number there.
type Position = (u32, u32);

/// Routes of a dragonfly.
#[derive(Debug)]
pub struct Dragonfly {
    /// The construction plan of the dragonfly.
    plan: Plan,
    kind: Kind,
    /// By switch.
    positions: Box<[Position]>,
    /// By link between groups, of a group: the number of its switch in the group, and which of that switch's links it
    /// is.
    gateways: Box<[(u32, u32)]>,
    /// By switch and place of the link in the plan: the port.
    ports: Box<[u32]>,
    /// Number of places of each switch.
    places: usize,
}

impl Dragonfly {
    fn build(build: &Build<'_>, kind: Kind) -> Result<Function, SpecError> {
        let (plan, fabric) = (planned::<Plan>(build.topology)?, fabric(build.topology)?);
        let switches = || (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let places = switches().map(|switch| fabric.degree(switch)).max().unwrap_or(0);
        // Where not every link is in use, switches have fewer.
        let port = |switch, place| if place < fabric.degree(switch) { fabric.port(switch, place).0 } else { u32::MAX };
        Ok(Function::Dragonfly(Self {
            kind,
            positions: switches().map(|switch| plan.place(switch)).collect(),
            gateways: (0..plan.copies * (plan.groups - 1)).map(|link| plan.gate(link)).collect(),
            ports: switches().flat_map(|switch| (0..places).map(move |place| port(switch, place))).collect(),
            places,
            plan: plan.clone(),
        }))
    }

    /// The switch of group `from` whose link leads to group `to`, and which of its links that is.
    #[inline(always)]
    fn gateway(&self, from: u32, to: u32, copy: u32) -> (u32, u32) {
        self.gateways[self.plan.link(from, to, copy) as usize]
    }

    /// The intermediate group, drawn, of a route that begins at a position and ends in another group. If it is compared
    /// with the minimal route and both would begin with the same link, another group is drawn, since the same packets
    /// would block both.
    fn intermediate_group(&self, first: Position, to: u32, draw: &mut impl Draw) -> u32 {
        let mut through = self.drawn_group(THROUGH, first.0, to, draw);
        if self.kind == Kind::UgalApart {
            let minimal = self.link_towards(first, to, draw);
            for redraw in 0..MOST_REDRAWS {
                if self.link_towards(first, through, draw) != minimal {
                    break;
                }
                through = self.drawn_group(AGAIN - redraw, first.0, to, draw);
            }
        }
        through
    }

    /// A group other than these two, drawn.
    fn drawn_group(&self, label: u32, from: u32, to: u32, draw: &mut impl Draw) -> u32 {
        let drawn = draw.draw(label, self.plan.groups - 2);
        let (low, high) = (from.min(to), from.max(to));
        let drawn = drawn + u32::from(drawn >= low);
        drawn + u32::from(drawn >= high)
    }

    /// The number of the link that a packet takes between two groups: a link of the switch itself, if it has any.
    #[inline(always)]
    fn link_copy(&self, position: Position, to: u32, draw: &mut impl Draw) -> u32 {
        if self.plan.copies == 1 { 0 } else { self.draw_copy(position, to, draw) }
    }

    /// Draws that number.
    #[inline(never)]
    fn draw_copy(&self, (group, own): Position, to: u32, draw: &mut impl Draw) -> u32 {
        let near = self.plan.copies_of(own, group, to);
        let among = if near.is_empty() { 0..self.plan.copies } else { near };
        let label = COPY + group * self.plan.groups + to;
        among.start + draw.draw(label, among.end - among.start)
    }

    /// The link that a packet takes from a position towards another group, by its place in the plan.
    #[inline(always)]
    fn link_towards(&self, position: Position, to: u32, draw: &mut impl Draw) -> usize {
        let (gate, link) = self.gateway(position.0, to, self.link_copy(position, to, draw));
        if gate == position.1 { self.plan.global_place(link) } else { self.plan.local_place(position.1, gate) }
    }

    /// The only hop of a packet.
    #[inline(always)]
    fn next(&self, at: &Visit, draw: &mut impl Draw) -> Hop {
        let (position, (to, last)) = (self.positions[at.here], self.positions[at.home]);
        let first = self.positions[at.first];
        let has_crossed = position.0 != first.0;
        let is_indirect = at.phase == INDIRECT;
        let (place, crossed) = if position.0 == to {
            (self.plan.local_place(position.1, last), u8::from(has_crossed) + u8::from(is_indirect))
        } else if is_indirect && !has_crossed {
            let through = self.intermediate_group(first, to, draw);
            (self.link_towards(position, through, draw), 0)
        } else {
            (self.link_towards(position, to, draw), u8::from(has_crossed))
        };
        Hop::of_class(self.ports[at.here * self.places + place], 1 + crossed)
    }

    /// The route from a position to another group: \[hops\] its length, and the position at which it arrives.
    fn crossing(&self, position: Position, to: u32, draw: &mut impl Draw) -> (u32, Position) {
        let copy = self.link_copy(position, to, draw);
        let (gate, _) = self.gateway(position.0, to, copy);
        (1 + u32::from(gate != position.1), (to, self.gateway(to, position.0, copy).0))
    }
}

impl RoutingFunction for Dragonfly {
    fn classes(&self) -> usize {
        if self.kind == Kind::Minimal { 2 } else { 3 }
    }

    fn has_phases(&self) -> bool {
        false
    }

    #[inline(always)]
    fn hops(&self, at: &Visit, draw: &mut impl Draw, mut add: impl FnMut(Hop)) {
        add(self.next(at, draw));
    }

    #[inline(always)]
    fn only(&self, at: &Visit, draw: &mut impl Draw) -> Option<Hop> {
        Some(self.next(at, draw))
    }

    fn decisions(&self, at: &Visit, _: &mut impl Draw) -> Decisions {
        let has_choice = self.plan.groups > 2 && self.positions[at.here].0 != self.positions[at.home].0;
        match (has_choice, self.kind) {
            (true, Kind::Valiant) => Decisions::only(INDIRECT),
            (true, Kind::Ugal | Kind::UgalApart) => Decisions { first: 0, second: Some(INDIRECT) },
            (true, Kind::Minimal) | (false, _) => Decisions::only(0),
        }
    }

    fn length(&self, at: &Visit, draw: &mut impl Draw) -> u32 {
        let (from, to) = (self.positions[at.here], self.positions[at.home]);
        if from.0 == to.0 {
            return u32::from(from != to);
        }
        let (first, middle) = match at.phase {
            INDIRECT => {
                let through = self.intermediate_group(from, to.0, draw);
                self.crossing(from, through, draw)
            }
            _ => (0, from),
        };
        let (second, arrival) = self.crossing(middle, to.0, draw);
        first + second + u32::from(arrival != to)
    }

    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        Some(specimens(&self.plan))
    }
}

/// Dragonflies that stand for one of this plan in a proof: groups of up to three switches with a link to each of three
/// groups, or with two links to each of two. The rank of a channel depends on the links between groups crossed, not on
/// their number.
pub(super) fn specimens(plan: &Plan) -> Vec<(String, usize)> {
    let groups = plan.groups;
    let small = match (plan.copies, groups) {
        (1, _) => (plan.switches.min(3), 1, groups.min(4)),
        (_, 2) => (2, 1, 2),
        _ => (2, 2, 3),
    };
    let (switches, links, groups) = small;
    let groups = groups.min(switches * links + 1);
    vec![(format!("dragonfly:p=1,a={switches},h={links},g={groups}"), 2)]
}
