//! Dateline channels that break every ring: no bubble.
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

const DALLY: &str = "Dally and Seitz, Deadlock-free message routing in multiprocessor interconnection networks, 1987";
const DUATO: &str = "Duato, A new theory of deadlock-free adaptive routing in wormhole networks, TPDS 4(12), 1993";

pub(in crate::routing) const TRC: Row = Row {
    component: Component {
        name: "dally:trc",
        about: "dimension order; dateline at coordinate 0: channel 1 before it, channel 0 from it on; V = 2",
        parameters: &[],
        source: DALLY,
    },
    aliases: &["dateline"],
    serves: Serves::Grids,
    vcs: Vcs::Exactly(2),
    dimensions: None,
    avoidance: Avoidance::Datelines,
    dead_links: true,
    requests: Requests::Direct {
        adaptive: Channels::Never,
        orders_by_channel: false,
        compares_space: false,
        wake: Wake::Opening,
    },
};

pub(in crate::routing) const BASIC: Row = Row {
    component: Component {
        name: "dally:basic",
        about: "dimension order; channel 0 while the rest of the route wraps in this dimension, else channel 1; V = 2",
        parameters: &[],
        source: DALLY,
    },
    aliases: &[],
    serves: Serves::Grids,
    vcs: Vcs::Exactly(2),
    dimensions: None,
    avoidance: Avoidance::Datelines,
    dead_links: true,
    requests: Requests::Direct {
        adaptive: Channels::Never,
        orders_by_channel: false,
        compares_space: false,
        wake: Wake::Opening,
    },
};

pub(in crate::routing) const IMPROVED: Row = Row {
    component: Component {
        name: "dally:improved",
        about: "dimension order; channel 0 while the rest of the route wraps in this dimension, else either; V = 2",
        parameters: &[],
        source: DALLY,
    },
    aliases: &[],
    serves: Serves::Grids,
    vcs: Vcs::Exactly(2),
    dimensions: None,
    avoidance: Avoidance::Datelines,
    dead_links: true,
    requests: Requests::Direct {
        adaptive: Channels::Never,
        orders_by_channel: false,
        compares_space: false,
        wake: Wake::Opening,
    },
};

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
    requests: Requests::Direct {
        adaptive: Channels::From(2),
        orders_by_channel: false,
        compares_space: false,
        wake: Wake::OpeningOrFilling,
    },
};

/// A dimension of a grid, for computing coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ring {
    /// Distance between the numbers of neighbours.
    stride: u32,
    /// \[nodes\]
    size: u32,
}

impl Ring {
    pub(crate) fn of(geometry: &Geometry) -> Box<[Self]> {
        let rings = geometry.sizes().iter().scan(1u32, |stride, &size| {
            let ring = Self { stride: *stride, size };
            *stride = stride.wrapping_mul(size);
            Some(ring)
        });
        rings.collect()
    }
}

/// The channels that a packet may take on its deterministic route.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Datelines {
    Trc,
    Basic,
    Improved,
}

/// The rules of `dally:trc`.
pub(in crate::routing) struct Trc;

impl DirectRouting for Trc {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        dateline(rules, Datelines::Trc, head, outputs)
    }

    fn wait<L: Layout>(_rules: &RouteRules<L>, _head: &Head<'_>, _outputs: &impl OutputState) -> Wait {
        Wait::Opening
    }

    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _wait: Wait,
        tell: impl FnMut(Port, WakeCondition),
    ) {
        rules.deterministic_conditions(head, tell);
    }

    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc> {
        waits_for(rules, Datelines::Trc, head)
    }
}

/// The rules of `dally:basic`.
pub(in crate::routing) struct Basic;

impl DirectRouting for Basic {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        dateline(rules, Datelines::Basic, head, outputs)
    }

    fn wait<L: Layout>(_rules: &RouteRules<L>, _head: &Head<'_>, _outputs: &impl OutputState) -> Wait {
        Wait::Opening
    }

    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _wait: Wait,
        tell: impl FnMut(Port, WakeCondition),
    ) {
        rules.deterministic_conditions(head, tell);
    }

    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc> {
        waits_for(rules, Datelines::Basic, head)
    }
}

/// The rules of `dally:improved`.
pub(in crate::routing) struct Improved;

impl DirectRouting for Improved {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        dateline(rules, Datelines::Improved, head, outputs)
    }

    fn wait<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
        // The other channel may be drawn later.
        polls(open_dateline(rules, Datelines::Improved, head, outputs).is_some())
    }

    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _wait: Wait,
        tell: impl FnMut(Port, WakeCondition),
    ) {
        rules.deterministic_conditions(head, tell);
    }

    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc> {
        waits_for(rules, Datelines::Improved, head)
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
        let escape = || dateline(rules, Datelines::Improved, head, outputs);
        rules.random(head, outputs).or_else(escape)
    }

    fn wait<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
        rules.adaptive_wait(head, outputs, || open_dateline(rules, Datelines::Improved, head, outputs))
    }

    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        wait: Wait,
        tell: impl FnMut(Port, WakeCondition),
    ) {
        rules.adaptive_conditions(head, wait, tell);
    }

    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc> {
        waits_for(rules, Datelines::Improved, head)
    }
}

/// The channels that a head may take on the output `port` of its deterministic route, as a mask.
fn channels<L: Layout>(rules: &RouteRules<L>, datelines: Datelines, head: &Head<'_>, port: Port) -> u32 {
    let (dimension, _) = rules.layout.shape().direction(port);
    let Ring { stride, size } = rules.rings[dimension];
    let coordinate = head.node.0 / stride % size;
    let wraps = || !(0..i64::from(size)).contains(&(i64::from(coordinate) + i64::from(head.offsets[dimension])));
    match datelines {
        Datelines::Trc => {
            let past_dateline = matches!(head.input, Input::Transit(input) if input.port == port && input.vc == 0);
            if coordinate == 0 || past_dateline { 1 } else { 2 }
        }
        Datelines::Basic => {
            if wraps() {
                1
            } else {
                2
            }
        }
        Datelines::Improved => {
            if wraps() {
                1
            } else {
                3
            }
        }
    }
}

/// The request in dimension order: the permitted channel with room, or one drawn if both have room.
#[inline(never)]
fn dateline<L: Layout>(
    rules: &RouteRules<L>,
    datelines: Datelines,
    head: &Head<'_>,
    outputs: &impl OutputState,
) -> Option<OutputVc> {
    let port = rules.deterministic(head)?;
    let passing = rules.passing(head, port, channels(rules, datelines, head, port), outputs);
    let vc = match passing {
        0 => return None,
        3 => draw(head, Purpose::VirtualChannel, 2) as u8,
        one => one.trailing_zeros() as u8,
    };
    Some(OutputVc { port, vc })
}

/// A channel of dimension order that passes and that no packet owns.
fn open_dateline<L: Layout>(
    rules: &RouteRules<L>,
    datelines: Datelines,
    head: &Head<'_>,
    outputs: &impl OutputState,
) -> Option<OutputVc> {
    let port = rules.deterministic(head)?;
    let channels = channels(rules, datelines, head, port);
    let open = rules.passing(head, port, channels, outputs) & outputs.open(port);
    (open != 0).then(|| OutputVc { port, vc: open.trailing_zeros() as u8 })
}

/// The channel that a packet can wait for without a cyclic dependency: the last of those that it may take.
fn waits_for<L: Layout>(rules: &RouteRules<L>, datelines: Datelines, head: &Head<'_>) -> Option<OutputVc> {
    let port = rules.deterministic(head)?;
    Some(OutputVc { port, vc: channels(rules, datelines, head, port).ilog2() as u8 })
}
