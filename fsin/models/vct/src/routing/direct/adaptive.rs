//! `bubble:adaptive`: the profitable adaptive channel with most space at the neighbour among those that no packet owns;
//! else the escape channel.

use trgen::catalog::Component;
use trgen::rng::Purpose;

use super::DirectRouting;
use crate::router::layout::Layout;
use crate::router::request::{Head, OutputState, OutputVc, RouteRules, Wait, WakeCondition, draw};
use crate::routing::{Adaptive as Channels, Avoidance, Requests, Row, Serves, Vcs, Wake};
use fsin_core::topology::Port;

pub(in crate::routing) const ROW: Row = Row {
    component: Component {
        name: "bubble:adaptive",
        about: "as bubble:shortest, but among the channels that no packet owns, and equals drawn: a better router than the \
                published ones; V >= 2",
        parameters: &[],
        source: "fsin; compare bubble:shortest and bubble:smart, which are the original's",
    },
    aliases: &["minimal-adaptive", "min_adapt", "adaptive"],
    serves: Serves::Direct,
    vcs: Vcs::AtLeast(2),
    dimensions: None,
    avoidance: Avoidance::Bubble,
    dead_links: true,
    requests: Requests::Direct {
        adaptive: Channels::From(1),
        orders_by_channel: false,
        compares_space: true,
        wake: Wake::Opening,
    },
};

/// The rules of `bubble:adaptive`.
pub(in crate::routing) struct Adaptive;

impl DirectRouting for Adaptive {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        most_open_space(rules, head, outputs).or_else(|| rules.escape(head, outputs))
    }

    fn wait<L: Layout>(_rules: &RouteRules<L>, _head: &Head<'_>, _outputs: &impl OutputState) -> Wait {
        // Free space is compared among open channels only: while none is open, the request is the escape channel.
        Wait::Opening
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

/// The profitable adaptive channel with most free space ahead among those that pass and that no packet owns; ties are
/// broken at random.
fn most_open_space<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Option<OutputVc> {
    let open = |port| rules.passing(head, port, rules.channels_from(1), outputs) & outputs.open(port);
    let channels = || {
        let open_vcs = |port| (1..rules.vcs()).filter(move |&vc| open(port) & 1 << vc != 0);
        rules.profitable(head).flat_map(move |port| open_vcs(port).map(move |vc| OutputVc { port, vc }))
    };
    let most = channels().filter_map(|output| outputs.space_ahead(output)).max()?;
    let best = || channels().filter(|&output| outputs.space_ahead(output) == Some(most));
    let count = best().count() as u32;
    best().nth(if count == 1 { 0 } else { draw(head, Purpose::Output, count) as usize })
}
