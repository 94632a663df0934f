//! `bubble:random`: any profitable adaptive channel that passes, drawn; else the escape channel.

use trgen::catalog::Component;

use super::{DirectRouting, PUENTE};
use crate::router::layout::Layout;
use crate::router::request::{Head, OutputState, OutputVc, RouteRules, Wait, WakeCondition};
use crate::routing::{Adaptive, Avoidance, Requests, Row, Serves, Vcs, Wake};
use fsin_core::topology::Port;

pub(in crate::routing) const ROW: Row = Row {
    component: Component {
        name: "bubble:random",
        about: "minimal adaptive on channels 1..V-1, drawn among those with room for the packet; escape channel 0 with bubble; V >= 2",
        parameters: &[],
        source: PUENTE,
    },
    aliases: &[],
    serves: Serves::Direct,
    vcs: Vcs::AtLeast(2),
    dimensions: None,
    avoidance: Avoidance::Bubble,
    dead_links: true,
    requests: Requests::Direct {
        adaptive: Adaptive::From(1),
        orders_by_channel: false,
        compares_space: false,
        wake: Wake::OpeningOrFilling,
    },
};

/// The rules of `bubble:random`.
pub(in crate::routing) struct Random;

impl DirectRouting for Random {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        rules.random(head, outputs).or_else(|| rules.escape(head, outputs))
    }

    fn wait<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
        rules.adaptive_wait(head, outputs, || rules.escape(head, outputs))
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
        rules.escape_channel(head)
    }
}
