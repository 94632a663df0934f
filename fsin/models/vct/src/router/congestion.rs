//! Congestion control of a whole network or of a single node.
//!
//! Both rules are those of the original simulator (FSIN, INSEE), restated for events: they need to be evaluated only
//! when a header leaves or a value is due, so that an engine may skip the cycles between.

use super::arbitration::round_robin;
use super::params::{GlobalCc, RouterParams, Timeouts};
use fsin_core::topology::{Port, Topology};
use trgen::NodeId;

/// Control of the whole network: while too many packets are under way, no message is drawn and no packet enters a
/// source buffer. Nodes use the packet count of one period ago.
#[derive(Clone, Debug)]
pub struct GlobalControl {
    /// \[packets\] Threshold: more packets than this are too many.
    limit: u64,
    /// \[cycles\] Interval between counts.
    period: u64,
    /// Number of the latest period in which packets were counted, from 0.
    counted: u64,
    /// \[packets\] Packets in the network at the beginning of period `counted`.
    packets: u64,
    /// True if injection is forbidden in period `counted`.
    tripped: bool,
}

impl GlobalControl {
    /// The congestion control of these settings; `None` if there is none.
    #[must_use]
    pub fn new(params: &RouterParams, topology: &dyn Topology) -> Option<Self> {
        let GlobalCc { percent, period } = params.global_cc?;
        let capacity = transit_capacity(params, topology);
        let limit = (percent / 100.0 * capacity as f64) as u64;
        Some(Self { limit, period: period.max(1), counted: 0, packets: 0, tripped: false })
    }

    /// True if injection is forbidden in cycle `now`, with `packets` packets in the network at the end of the previous
    /// cycle: those whose header has left its injection queue and whose tail has not been ejected.
    ///
    /// Call it in every cycle before which this number may have changed.
    pub fn is_tripped(&mut self, now: u64, packets: u64) -> bool {
        let period = now / self.period;
        if period > self.counted {
            // The number of packets did not change in periods that were skipped.
            let previous = if period == self.counted + 1 { self.packets } else { packets };
            self.tripped = previous > self.limit;
            (self.counted, self.packets) = (period, packets);
        }
        self.tripped
    }
}

/// \[packets\] Capacity of all transit queues that a link leads to.
fn transit_capacity(params: &RouterParams, topology: &dyn Topology) -> u64 {
    let ports = topology.shape().ports();
    let links = (0..topology.nodes())
        .flat_map(|node| (0..ports).map(move |port| (NodeId::at(node), Port::at(port))))
        .filter(|&(node, port)| topology.neighbour(node, port).is_some())
        .count();
    links as u64 * params.vcs as u64 * u64::from(params.queue_packets)
}

/// Congestion state of a node: it watches one header in transit at a time. A header that waits for an output for more
/// than `upper` cycles marks the node congested; one that leaves after less than `lower` clears the mark. Then the next
/// blocked queue is watched, in turn.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    /// Waiting times that set and clear the mark.
    limits: Timeouts,
    /// The queue whose header is watched.
    watched: Option<u16>,
    /// The queue watched last.
    last: u16,
    /// \[cycle\] Start of the present watch.
    since: u64,
    /// True if the node is congested.
    congested: bool,
}

impl Timer {
    /// A node without congestion, with this number of transit queues.
    #[must_use]
    pub const fn new(limits: Timeouts, queues: usize) -> Self {
        Self { limits, watched: None, last: queues as u16 - 1, since: 0, congested: false }
    }

    /// True if the node is congested in cycle `now`, by the state at the end of the previous cycle.
    #[must_use]
    pub const fn is_congested(&self, now: u64) -> bool {
        self.congested || (self.watched.is_some() && now > self.since + self.limits.upper + 1)
    }

    /// Step 5 of cycle `now`. `requesting(queue)` is true for transit queues with a header that requested an output in
    /// this cycle, `blocked(queue)` for those with a header that is still there. Returns true if the mark was cleared.
    ///
    /// It may be skipped in cycles in which no header has arrived and none has been granted an output.
    pub fn step(
        &mut self,
        now: u64,
        queues: usize,
        requesting: impl Fn(usize) -> bool,
        blocked: impl Fn(usize) -> bool,
    ) -> bool {
        self.congested = self.is_congested(now);
        let before = self.congested;
        if self.watched.is_none() {
            self.watch(now, queues, requesting);
        }
        if let Some(queue) = self.watched.filter(|&queue| !blocked(queue.into())) {
            if now - self.since < self.limits.lower {
                self.congested = false;
            }
            self.last = queue;
            self.watch(now, queues, blocked);
        }
        before && !self.congested
    }

    /// Watches the next of the candidates in turn, from cycle `now` on.
    fn watch(&mut self, now: u64, queues: usize, candidates: impl Fn(usize) -> bool) {
        self.watched = round_robin(queues, self.last.into(), candidates).map(|queue| queue as u16);
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_counted_once_in_a_period() {
        let topology = fsin_core::topology::parse("torus:4x4", 2).unwrap();
        let control = |percent, period| {
            let params = RouterParams { global_cc: Some(GlobalCc { percent, period }), ..RouterParams::default() };
            GlobalControl::new(&params, &*topology).unwrap()
        };
        // 16 nodes, 4 ports, 3 channels, 4 packets each.
        let mut control_50 = control(50.0, 0);
        let counts = [(10, 384), (11, 385), (12, 384), (13, 0), (14, 0)];
        assert_eq!(
            counts.map(|(now, packets)| control_50.is_tripped(now, packets)),
            [false, false, true, false, false],
            "nodes see the count of the cycle before"
        );
        assert!(control_50.is_tripped(20, 385), "nothing changed since cycle 15");
        let mut slow = control(10.0, 100);
        assert!(!slow.is_tripped(1, 0));
        assert!(!slow.is_tripped(99, 77));
        assert!(!slow.is_tripped(100, 77));
        assert!(!slow.is_tripped(199, 0));
        assert!(slow.is_tripped(200, 0), "77 packets at the beginning of the period before");
        assert!(slow.is_tripped(299, 0));
        assert!(!slow.is_tripped(300, 0));
    }

    #[test]
    fn a_header_that_waits_too_long_marks_its_node() {
        let mut timer = Timer::new(Timeouts { upper: 10, lower: 7 }, 4);
        // Queue 2 is blocked from cycle 100 on; the node is examined again only in cycle 150.
        assert!(!timer.step(100, 4, |queue| queue == 2, |queue| queue == 2));
        assert!(!timer.is_congested(111));
        assert!(timer.is_congested(112));
        // The header leaves after 50 cycles: nothing is cleared; queue 3 is watched now.
        assert!(!timer.step(150, 4, |queue| queue >= 2, |queue| queue == 3));
        assert!(timer.is_congested(151));
        // After 7 cycles nothing is cleared, after 6 it is.
        let mut other = timer;
        assert!(!other.step(157, 4, |queue| queue == 3, |_| false));
        assert!(other.is_congested(158));
        assert!(timer.step(156, 4, |queue| queue == 3, |_| false));
        assert!(!timer.is_congested(157));
        // A header that does not wait at all clears the mark too.
        assert!(other.step(160, 4, |queue| queue == 1, |_| false));
    }
}
