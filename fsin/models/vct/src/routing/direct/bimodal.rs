//! `bubble:bimodal`: messages of one packet as `bubble:random`; packets of longer messages on the escape channel only.

use trgen::catalog::Component;

use super::{DirectRouting, FSIN};
use crate::router::layout::Layout;
use crate::router::request::{Head, OutputState, OutputVc, RouteRules, Wait, WakeCondition};
use crate::routing::{Adaptive, Avoidance, Requests, Row, Serves, Vcs, Wake};
use fsin_core::topology::Port;

pub(in crate::routing) const ROW: Row = Row {
    component: Component {
        name: "bubble:bimodal",
        about: "messages of one packet as bubble:random; packets of longer messages on the escape channel only, which keeps \
                them in order; V >= 2",
        parameters: &[],
        source: FSIN,
    },
    aliases: &[],
    serves: Serves::Direct,
    vcs: Vcs::AtLeast(2),
    dimensions: None,
    avoidance: Avoidance::Bubble,
    dead_links: true,
    requests: Requests::Direct {
        adaptive: Adaptive::ShortMessagesFrom(1),
        orders_by_channel: false,
        compares_space: false,
        wake: Wake::OpeningOrFilling,
    },
};

/// The rules of `bubble:bimodal`.
pub(in crate::routing) struct Bimodal;

impl DirectRouting for Bimodal {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        if head.long {
            return rules.escape(head, outputs);
        }
        rules.random(head, outputs).or_else(|| rules.escape(head, outputs))
    }

    fn wait<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
        if head.long {
            return Wait::Opening;
        }
        rules.adaptive_wait(head, outputs, || rules.escape(head, outputs))
    }

    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        wait: Wait,
        add_condition: impl FnMut(Port, WakeCondition),
    ) {
        if head.long {
            return rules.deterministic_conditions(head, add_condition);
        }
        rules.adaptive_conditions(head, wait, add_condition);
    }

    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc> {
        rules.escape_channel(head)
    }
}
