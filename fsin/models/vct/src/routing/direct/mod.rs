//! Routings of direct networks: a packet carries the hops to go in each dimension.

use crate::router::layout::Layout;
use crate::router::request::{Head, OutputState, OutputVc, RouteRules, Wait, WakeCondition};
use fsin_core::topology::Port;

pub(super) mod bubble;
pub(super) mod dally;
pub(super) mod double;
pub(super) mod given;
pub(super) mod oblivious;
pub(super) mod smart;

/// Papers that several rows cite.
const PUENTE: &str = "Puente, Izu, Beivide et al., The adaptive bubble router, JPDC 61(9), 2001";
const FSIN: &str = "FSIN (INSEE), request modes";

/// The rules of a routing. There are no defaults: a missing answer does not compile.
pub(super) trait DirectRouting {
    /// The output channel that a head requests in this cycle, or `None` if none passes. `bet` is the
    /// round-robin state of its queue, used by `bubble:smart` only: 0 at first and after each grant.
    fn request<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        bet: &mut u8,
        outputs: &impl OutputState,
    ) -> Option<OutputVc>;

    /// How long a head that can be granted nothing in this cycle may sleep. [`Wait::OpeningOrFilling`] only if the row
    /// says [`Wake::OpeningOrFilling`](super::Wake::OpeningOrFilling).
    fn wait<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>, outputs: &impl OutputState) -> Wait;

    /// The wake-up conditions of a blocked head, port by port: it can be granted nothing before one of them holds. A
    /// condition that is missing here is a head that sleeps for ever.
    fn wake_conditions<L: Layout>(
        rules: &RouteRules<L>,
        head: &Head<'_>,
        wait: Wait,
        add_condition: impl FnMut(Port, WakeCondition),
    );

    /// The channel on which a blocked head depends whatever else it might take. A cycle of such dependencies is a
    /// deadlock.
    fn blocking_channel<L: Layout>(rules: &RouteRules<L>, head: &Head<'_>) -> Option<OutputVc>;
}

/// True if a channel is open.
pub(super) fn is_open(outputs: &impl OutputState, output: OutputVc) -> bool {
    outputs.open(output.port) & 1 << output.vc != 0
}

/// The wait of a blocked head: it polls if it may request another open channel in the next cycle, and otherwise waits
/// for an opening.
pub(super) const fn polls(may_request: bool) -> Wait {
    if may_request { Wait::Poll } else { Wait::Opening }
}

impl<L: Layout> RouteRules<L> {
    /// Wakes a head when a channel of its deterministic route opens.
    fn deterministic_conditions(&self, head: &Head<'_>, mut add_condition: impl FnMut(Port, WakeCondition)) {
        if let Some(port) = self.deterministic(head) {
            add_condition(port, WakeCondition::Deterministic);
        }
    }

    /// Wakes a head when a channel of its deterministic route opens, or an adaptive channel of a profitable port opens
    /// or, if the head waits for that too, fills up.
    fn adaptive_conditions(&self, head: &Head<'_>, wait: Wait, mut add_condition: impl FnMut(Port, WakeCondition)) {
        self.deterministic_conditions(head, &mut add_condition);
        if self.first_adaptive() >= self.vcs() {
            return;
        }
        for port in self.profitable(head) {
            add_condition(port, WakeCondition::Adaptive);
            if wait == Wait::OpeningOrFilling {
                add_condition(port, WakeCondition::Filled);
            }
        }
    }
}
