//! `bubble:shortest`: the profitable adaptive channel with most space at the neighbour, owned or not; else the escape
//! channel.

use trgen::catalog::Component;

use super::{DirectRouting, PUENTE};
use crate::router::layout::Layout;
use crate::router::request::{Head, OutputState, OutputVc, RouteRules, Wait, WakeCondition};
use crate::routing::{Adaptive, Avoidance, Requests, Row, Serves, Vcs, Wake};
use fsin_core::topology::Port;

pub(in crate::routing) const ROW: Row = Row {
    component: Component {
        name: "bubble:shortest",
        about: "minimal adaptive on the channel whose next queue has most space, of equals the first; escape channel 0 with \
                bubble; V >= 2",
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
        compares_space: true,
        wake: Wake::OpeningOrFilling,
    },
};

/// The rules of `bubble:shortest`.
pub(in crate::routing) struct Shortest;

impl DirectRouting for Shortest {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        most_space(rules, head, outputs).or_else(|| rules.escape(head, outputs))
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

/// The profitable adaptive channel with most free space ahead among those that pass; ties go to the first.
fn most_space<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Option<OutputVc> {
    let mut best: Option<(u32, OutputVc)> = None;
    for port in rules.profitable(head) {
        let passing = rules.passing(head, port, rules.channels_from(1), outputs);
        for vc in (1..rules.vcs()).filter(|&vc| passing & 1 << vc != 0) {
            let output = OutputVc { port, vc };
            let space = outputs.space_ahead(output).unwrap_or(0);
            if best.is_none_or(|(most, _)| space > most) {
                best = Some((space, output));
            }
        }
    }
    best.map(|(_, output)| output)
}
