//! Channels of two classes that break every ring at one place, so that no bubble is needed.
//!
//! Without a cycle in the channel dependency graph there is no deadlock. On a ring the cycle is broken at the
//! wrap-around. With `basic` and `improved`, a packet that still has to wrap waits for channel 0 only, and any other
//! packet can always take channel 1. With `trc`, a packet that has passed coordinate 0 takes channel 0, and others take
//! channel 1. A minimal route passes coordinate 0 at most once, so that no packet returns to channel 1 of a ring.

use trgen::Geometry;
use trgen::catalog::Component;
use trgen::rng::Purpose;

use super::{DirectRouting, polls};
use crate::router::layout::Layout;
use crate::router::request::{Head, Input, OutputState, OutputVc, RouteRules, Wait, WakeCondition, draw};
use crate::routing::{Adaptive as Channels, Avoidance, Requests, Row, Serves, Vcs, Wake};
use fsin_core::topology::Port;

/// Source of the rows in dimension order.
const DALLY: &str = "Dally and Seitz, Deadlock-free message routing in multiprocessor interconnection networks, 1987";
/// Source of `dally:adaptive`.
const DUATO: &str = "Duato, A new theory of deadlock-free adaptive routing in wormhole networks, TPDS 4(12), 1993";

pub(in crate::routing) const TRC: Row = in_dimension_order(
    "dally:trc",
    &["dateline"],
    "dimension order; dateline at coordinate 0: channel 1 before it, channel 0 from it on; V = 2",
);

pub(in crate::routing) const BASIC: Row = in_dimension_order(
    "dally:basic",
    &[],
    "dimension order; channel 0 while the rest of the route wraps in this dimension, else channel 1; V = 2",
);

pub(in crate::routing) const IMPROVED: Row = Row {
    draws_with: Some(2),
    ..in_dimension_order(
        "dally:improved",
        &[],
        "dimension order; channel 0 while the rest of the route wraps in this dimension, else either; V = 2",
    )
};

/// The row of a routing in dimension order on two channels.
const fn in_dimension_order(name: &'static str, aliases: &'static [&'static str], about: &'static str) -> Row {
    Row {
        component: Component { name, about, parameters: &[], source: DALLY },
        aliases,
        serves: Serves::Grids,
        vcs: Vcs::Exactly(2),
        dimensions: None,
        avoidance: Avoidance::Datelines,
        dead_links: true,
        draws_with: None,
        requests: Requests::Direct {
            adaptive: Channels::Never,
            orders_by_channel: false,
            compares_space: false,
            wake: Wake::Opening,
            follows: None,
        },
    }
}

pub(in crate::routing) const ADAPTIVE: Row = Row {
    component: Component {
        name: "dally:adaptive",
        about: "minimal adaptive on channels 2..V-1, drawn among those with room for the packet; else dally:improved; V >= 3",
        parameters: &[],
        source: DUATO,
    },
    aliases: &["duato"],
    serves: Serves::Grids,
    vcs: Vcs::AtLeast(3),
    dimensions: None,
    avoidance: Avoidance::Datelines,
    dead_links: true,
    draws_with: Some(1),
    requests: Requests::Direct {
        adaptive: Channels::From(2),
        orders_by_channel: false,
        compares_space: false,
        wake: Wake::OpeningOrFilling,
        follows: None,
    },
};

/// A dimension of a grid, for computing coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ring {
    /// Distance between the numbers of neighbours.
    stride: u32,
    /// \[nodes\] Length of the dimension.
    size: u32,
}

impl Ring {
    /// The dimensions of a grid, in their order.
    pub(crate) fn all_of(geometry: &Geometry) -> Box<[Self]> {
        let rings = geometry.sizes().iter().scan(1u32, |stride, &size| {
            let ring = Self { stride: *stride, size };
            *stride = stride.wrapping_mul(size);
            Some(ring)
        });
        rings.collect()
    }
}

/// Which channels a packet may take on its deterministic route.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChannelRule {
    /// A dateline at coordinate 0.
    Trc,
    /// One channel if the rest of the route wraps, the other channel if it does not.
    Basic,
    /// As `Basic`, but both channels for a packet that need not wrap any more.
    Improved,
}

/// The rules of `dally:trc` (neither flag), `dally:basic` (`BY_WRAP`) and `dally:improved` (both flags). With
/// `BY_WRAP`, a packet chooses its channel by whether the rest of its route wraps; without it, by a dateline. With
/// `EITHER`, a packet that need not wrap takes either channel.
pub(in crate::routing) struct DimensionOrder<const BY_WRAP: bool, const EITHER: bool>;

impl<const BY_WRAP: bool, const EITHER: bool> DimensionOrder<BY_WRAP, EITHER> {
    /// The rule that these flags select.
    const RULE: ChannelRule = match (BY_WRAP, EITHER) {
        (false, _) => ChannelRule::Trc,
        (true, false) => ChannelRule::Basic,
        (true, true) => ChannelRule::Improved,
    };
}

impl<const BY_WRAP: bool, const EITHER: bool> DirectRouting for DimensionOrder<BY_WRAP, EITHER> {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        request_in_order(rules, Self::RULE, head, outputs)
    }

    fn wait<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
        match Self::RULE {
            ChannelRule::Trc | ChannelRule::Basic => Wait::Opening,
            // The other channel may be drawn later.
            ChannelRule::Improved => polls(open_in_order(rules, Self::RULE, head, outputs).is_some()),
        }
    }

    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _wait: Wait,
        add_condition: impl FnMut(Port, WakeCondition),
    ) {
        rules.deterministic_conditions(head, add_condition);
    }

    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc> {
        waits_for(rules, Self::RULE, head)
    }
}

/// The rules of `dally:adaptive`.
pub(in crate::routing) struct Adaptive;

impl DirectRouting for Adaptive {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        let escape = || request_in_order(rules, ChannelRule::Improved, head, outputs);
        rules.random(head, outputs).or_else(escape)
    }

    fn wait<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
        rules.adaptive_wait(head, outputs, || open_in_order(rules, ChannelRule::Improved, head, outputs))
    }

    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        wait: Wait,
        add_condition: impl FnMut(Port, WakeCondition),
    ) {
        rules.adaptive_conditions(head, wait, add_condition);
    }

    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc> {
        waits_for(rules, ChannelRule::Improved, head)
    }
}

/// The channels that a head may take on the output `port` of its deterministic route, as a mask.
fn channels<L: Layout>(rules: &RouteRules<L>, rule: ChannelRule, head: &Head<'_>, port: Port) -> u32 {
    let (dimension, _) = rules.layout.shape().direction(port);
    let Ring { stride, size } = rules.rings[dimension];
    let coordinate = head.node.0 / stride % size;
    let wraps = || !(0..i64::from(size)).contains(&(i64::from(coordinate) + i64::from(head.offsets[dimension])));
    match rule {
        ChannelRule::Trc => {
            let past_dateline = matches!(head.input, Input::Transit(input) if input.port == port && input.vc == 0);
            if coordinate == 0 || past_dateline { 1 } else { 2 }
        }
        ChannelRule::Basic | ChannelRule::Improved if wraps() => 1,
        ChannelRule::Basic => 2,
        ChannelRule::Improved => 3,
    }
}

/// The request in dimension order: the permitted channel with room, or one drawn if both have room.
#[inline(never)]
fn request_in_order<L: Layout>(
    rules: &RouteRules<L>,
    rule: ChannelRule,
    head: &Head<'_>,
    outputs: &impl OutputState,
) -> Option<OutputVc> {
    let port = rules.deterministic(head)?;
    let passing = rules.passing(head, port, channels(rules, rule, head, port), outputs);
    let vc = match passing {
        0 => return None,
        3 => draw(head, Purpose::VirtualChannel, 2) as u8,
        one => one.trailing_zeros() as u8,
    };
    Some(OutputVc { port, vc })
}

/// A channel of dimension order that passes and that no packet owns.
fn open_in_order<L: Layout>(
    rules: &RouteRules<L>,
    rule: ChannelRule,
    head: &Head<'_>,
    outputs: &impl OutputState,
) -> Option<OutputVc> {
    let port = rules.deterministic(head)?;
    let channels = channels(rules, rule, head, port);
    let open = rules.passing(head, port, channels, outputs) & outputs.open(port);
    (open != 0).then(|| OutputVc { port, vc: open.trailing_zeros() as u8 })
}

/// The channel that a packet can wait for without a cyclic dependency: the last of those that it may take.
fn waits_for<L: Layout>(rules: &RouteRules<L>, rule: ChannelRule, head: &Head<'_>) -> Option<OutputVc> {
    let port = rules.deterministic(head)?;
    Some(OutputVc { port, vc: channels(rules, rule, head, port).ilog2() as u8 })
}
