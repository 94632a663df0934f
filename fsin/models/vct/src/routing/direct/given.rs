//! `direct:routes`, `direct:updown`, `direct:shortest`: the path and the virtual channels of a table, which names both
//! for each pair of nodes.
//!
//! Of the channels that the table names for a hop, a head takes the one with fewest packets ahead among those that no
//! packet owns. No bubble is needed: the table's channels have no cycle of dependencies, which is checked before.

use trgen::catalog::Component;

use super::DirectRouting;
use crate::router::layout::Layout;
use crate::router::request::{Head, OutputState, OutputVc, RouteRules, Wait, WakeCondition};
use crate::routing::{Adaptive, Avoidance, Requests, Row, Serves, Vcs, Wake};
use fsin_core::route::{self, rows};
use fsin_core::topology::Port;

/// Heads take the next hop of the route of this routing that their pair follows.
pub(in crate::routing) const fn following(row: &'static route::Row) -> Requests {
    Requests::Direct {
        adaptive: Adaptive::Never,
        orders_by_channel: false,
        compares_space: false,
        wake: Wake::Opening,
        follows: Some(row),
    }
}

pub(in crate::routing) const ROW: Row = Row {
    component: Component {
        name: "direct:routes",
        about: "direct networks: the paths and channels of the file of {routes}, one path for each pair of nodes",
        parameters: &[],
        source: "the file",
    },
    aliases: &["routes"],
    serves: Serves::Direct,
    vcs: Vcs::AtLeast(1),
    dimensions: None,
    avoidance: Avoidance::Order,
    dead_links: false,
    draws_with: None,
    requests: following(&rows::ROUTES),
};

pub(in crate::routing) const UPDOWN: Row = Row {
    component: Component {
        name: "direct:updown",
        about: "direct networks: up*/down*, also round dead links; of the shortest of such paths one for each pair, drawn",
        ..rows::UPDOWN.component
    },
    aliases: &["up-down", "up*/down*", "updown"],
    dead_links: true,
    requests: following(&rows::UPDOWN),
    ..ROW
};

pub(in crate::routing) const SHORTEST: Row = Row {
    component: Component {
        name: "direct:shortest",
        about: "direct networks: a shortest path, also round dead links, one for each pair, drawn; a channel for each hop",
        ..rows::SHORTEST.component
    },
    aliases: &["shortest-path", "shortest"],
    dead_links: true,
    requests: following(&rows::SHORTEST),
    ..ROW
};

/// The rules of all of them.
pub(in crate::routing) struct Given;

impl DirectRouting for Given {
    #[inline(always)]
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc> {
        let (port, vcs) = rules.given_hop(head)?;
        let open = outputs.open(port) & vcs;
        let outputs_of = (0..rules.vcs()).filter(|&vc| open & 1 << vc != 0).map(|vc| OutputVc { port, vc });
        outputs_of.min_by_key(|&output| outputs.packets_ahead(output))
    }

    fn wait<L: Layout>(_: &RouteRules<L>, _: &Head<'_>, _: &impl OutputState) -> Wait {
        Wait::Opening
    }

    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        _wait: Wait,
        mut add_condition: impl FnMut(Port, WakeCondition),
    ) {
        if let Some((port, _)) = rules.given_hop(head) {
            add_condition(port, WakeCondition::Deterministic);
        }
    }

    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc> {
        let (port, vcs) = rules.given_hop(head)?;
        Some(OutputVc { port, vc: vcs.checked_ilog2()? as u8 })
    }
}
