//! `bubble:oblivious`: dimension order; the channel is drawn at injection and at every turn, and kept while going
//! straight.

use trgen::catalog::Component;
use trgen::rng::Purpose;

use super::{DirectRouting, PUENTE, polls};
use crate::router::layout::Layout;
use crate::router::request::{Head, Input, OutputState, OutputVc, RouteRules, Wait, WakeCondition, draw, nth_bit};
use crate::routing::{Adaptive, Avoidance, Requests, Row, Serves, Vcs, Wake};
use fsin_core::topology::Port;

pub(in crate::routing) const ROW: Row = Row {
    component: Component {
        name: "bubble:oblivious",
        about: "dimension order; virtual channel drawn at injection and at every turn, again in each cycle of waiting, and kept \
                while going straight; bubble on every channel; V >= 1",
        parameters: &[],
        source: PUENTE,
    },
    aliases: &["dor", "e-cube", "dimension-order", "dim_order", "xy"],
    serves: Serves::Direct,
    vcs: Vcs::AtLeast(1),
    dimensions: None,
    avoidance: Avoidance::Bubble,
    dead_links: true,
    draws_with: Some(2),
    requests: Requests::Direct {
        adaptive: Adaptive::Never,
        orders_by_channel: false,
        compares_space: false,
        wake: Wake::Opening,
        follows: None,
    },
};

/// The rules of `bubble:oblivious`.
pub(in crate::routing) struct Oblivious;

impl DirectRouting for Oblivious {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        // A channel is drawn before its state is examined.
        let (port, vcs) = in_order(rules, head)?;
        let vc = match vcs.count_ones() {
            1 => vcs.trailing_zeros() as u8,
            count => nth_bit(vcs, draw(head, Purpose::VirtualChannel, count)),
        };
        (rules.passing_bubble(head, port, 1 << vc, outputs) != 0).then_some(OutputVc { port, vc })
    }

    fn wait<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
        let Some((port, vcs)) = in_order(rules, head) else { return Wait::Opening };
        // Another channel may be drawn in the next cycle.
        polls(vcs.count_ones() > 1 && rules.passing_bubble(head, port, vcs & outputs.open(port), outputs) != 0)
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
        let port = rules.deterministic(head)?;
        let vc = match head.input {
            Input::Transit(input) if input.port == port => input.vc,
            Input::Transit(_) | Input::Injection => 0,
        };
        Some(OutputVc { port, vc })
    }
}

/// The port of dimension order, and the channels to draw from: the current one only, if the packet goes straight on.
fn in_order<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<(Port, u32)> {
    let port = rules.deterministic(head)?;
    match head.input {
        Input::Transit(input) if input.port == port => Some((port, 1 << input.vc)),
        Input::Transit(_) | Input::Injection => Some((port, rules.channels_from(0))),
    }
}
