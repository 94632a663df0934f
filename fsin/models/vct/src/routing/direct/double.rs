//! Channels, each with its own order of dimensions.
//!
//! A packet in channel c traverses the dimensions in the order of c, with the bubble wherever it enters a ring. The
//! channels are independent virtual networks: in each of them a blocked packet can wait for its own next ring, which
//! drains by itself. So a packet may also change to a channel that passes; it never *has to* wait for one.
//!
//! The original requires the bubble of the hexa modes on channel 0 only, which can deadlock; here it is required on
//! all.

use trgen::catalog::Component;
use trgen::rng::Purpose;

use super::{DirectRouting, is_open, polls};
use crate::router::layout::Layout;
use crate::router::request::{Head, Input, OutputState, OutputVc, RouteRules, Wait, WakeCondition, draw};
use crate::routing::{Adaptive, Avoidance, Requests, Row, Serves, Vcs, Wake};
use fsin_core::topology::Port;

const SOURCE: &str =
    "FSIN (INSEE); bubble: Carrion, Beivide et al., A flow control mechanism to avoid message deadlock, HiPC 1997";

pub(in crate::routing) const OBLIVIOUS: Row = row(
    "double:oblivious",
    "channel c takes dimensions c, c+1, ... in turn; drawn at injection, kept; bubble on every channel; V a \
     multiple of the dimensions",
    (Vcs::MultipleOfDimensions, None),
);

pub(in crate::routing) const ADAPTIVE: Row = row(
    "double:adaptive",
    "as double:oblivious; a packet whose channel does not pass changes to the next one, cyclically, that passes",
    (Vcs::MultipleOfDimensions, None),
);

pub(in crate::routing) const HEXA_OBLIVIOUS: Row = row(
    "double:hexa-oblivious",
    "three dimensions: a channel for each of the six orders of dimensions, drawn at injection, kept; bubble; V = 6",
    (Vcs::Exactly(6), Some(3)),
);

pub(in crate::routing) const HEXA_ADAPTIVE: Row = row(
    "double:hexa-adaptive",
    "as double:hexa-oblivious; a packet whose channel does not pass changes to the next one, cyclically, that passes; \
     V = 6",
    (Vcs::Exactly(6), Some(3)),
);

/// The row of a routing with so many channels, in so many dimensions.
const fn row(name: &'static str, about: &'static str, (vcs, dimensions): (Vcs, Option<usize>)) -> Row {
    Row {
        component: Component { name, about, parameters: &[], source: SOURCE },
        aliases: &[],
        serves: Serves::Direct,
        vcs,
        dimensions,
        avoidance: Avoidance::Bubble,
        dead_links: false,
        draws_with: Some(1),
        requests: Requests::Direct {
            adaptive: Adaptive::Never,
            orders_by_channel: true,
            compares_space: false,
            wake: Wake::Opening,
            follows: None,
        },
    }
}

/// The rules of `double`: with `HEXA`, channels 0 to 2 take the orders XYZ, YZX, ZXY, and 3 to 5 the reverse of these;
/// where it `CHANGES`, a packet may change channels under way.
pub(in crate::routing) struct Double<const HEXA: bool, const CHANGES: bool>;

impl<const HEXA: bool, const CHANGES: bool> DirectRouting for Double<HEXA, CHANGES> {
    #[inline(never)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        let (first, vcs) = (first_channel(rules, head), rules.vcs());
        let tries = if CHANGES { vcs } else { 1 };
        (0..tries).find_map(|step| passes::<L, HEXA>(rules, head, (first + step) % vcs, outputs))
    }

    fn wait<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
        if matches!(head.input, Input::Transit(_)) && !CHANGES {
            return Wait::Opening;
        }
        // While any of its channels passes and is open the head may request that channel: because it is drawn, or
        // because those before it no longer pass.
        let passing = |vc| passes::<L, HEXA>(rules, head, vc, outputs);
        polls((0..rules.vcs()).any(|vc| passing(vc).is_some_and(|output| is_open(outputs, output))))
    }

    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _wait: Wait,
        mut add_condition: impl FnMut(Port, WakeCondition),
    ) {
        // The next ports in the orders of all channels that the head might take.
        let vcs = match head.input {
            Input::Transit(input) if !CHANGES => input.vc..input.vc + 1,
            Input::Transit(_) | Input::Injection => 0..rules.vcs(),
        };
        let ports = vcs.filter_map(|vc| next_in::<L, HEXA>(rules, vc, head.offsets));
        ports.for_each(|port| add_condition(port, WakeCondition::Deterministic));
    }

    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc> {
        // The packet's own channel, or the first channel for a packet that is not in the network yet.
        let vc = match head.input {
            Input::Transit(input) => input.vc,
            Input::Injection => 0,
        };
        Some(OutputVc { port: next_in::<L, HEXA>(rules, vc, head.offsets)?, vc })
    }
}

/// The next output of a packet in the order of channel `vc`.
fn next_in<L: Layout, const HEXA: bool>(rules: &RouteRules<L>, vc: u8, offsets: &[i16]) -> Option<Port> {
    let shape = rules.layout.shape();
    let (n, vc) = (shape.dimensions, usize::from(vc));
    let in_turn = |step: usize| if HEXA && vc >= 3 { (vc - 3 + 2 - step) % 3 } else { (vc + step) % n };
    let dimension = (0..n).map(in_turn).find(|&dimension| offsets[dimension] != 0)?;
    Some(shape.port(dimension, offsets[dimension] > 0))
}

/// The channel that a head tries first: its own. At injection the channel is drawn from all, whatever their state.
fn first_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> u8 {
    match head.input {
        Input::Transit(input) => input.vc,
        Input::Injection => draw(head, Purpose::VirtualChannel, u32::from(rules.vcs())) as u8,
    }
}

/// The output of a packet that takes channel `vc`, if that output passes.
fn passes<L: Layout, const HEXA: bool>(
    rules: &RouteRules<L>,
    head: &Head<'_>,
    vc: u8,
    outputs: &impl OutputState,
) -> Option<OutputVc> {
    let port = next_in::<L, HEXA>(rules, vc, head.offsets)?;
    (rules.passing_bubble(head, port, 1 << vc, outputs) != 0).then_some(OutputVc { port, vc })
}
