//! A graph over a network without congestion: every message arrives L after its departure.

use super::hosts::{HostParams, Hosts, Remains, Wire};
use super::{Graph, Node};
use crate::trace::replay::Misfits;
use crate::trace::timeline::Timeline;

/// A network with a constant latency \[ticks\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Latency(u64);

impl Wire for Latency {
    fn carry(&mut self, leaves: u64, _: u32, _: u32, _: &Node) -> Option<u64> {
        Some(leaves.saturating_add(self.0))
    }
}

/// Outcome of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution {
    /// \[ticks\] The end of each host.
    pub finish: Vec<u64>,
    /// \[ticks\] The time during which each host calculates, as [`Hosts::computing`] has it.
    pub computing: Vec<Option<u64>>,
    /// What the hosts did over time, if that was asked for.
    pub timeline: Timeline,
    /// Ticks per time unit.
    pub ticks: u64,
    /// Number of operations inserted, plus messages.
    pub events: u64,
    /// True if it ended because times exceed the [end of the clock](super::hosts::CLOCK_END).
    pub is_past_end: bool,
    /// Unfinished business; empty after a complete execution.
    pub remains: Remains,
    /// Receives whose buffer was too small for the message.
    pub misfits: Misfits,
}

impl Execution {
    /// The host that finished last (the first of several), and its time. `None` without hosts.
    #[must_use]
    pub fn last(&self) -> Option<(usize, u64)> {
        let longest = self.finish.iter().copied().max()?;
        let host = self.finish.iter().position(|&finish| finish == longest)?;
        Some((host, longest))
    }
}

/// Executes a graph. `latency` \[time units\] is L. Calls `proceed` from time to time with the number of events so far;
/// `proceed` returns false to stop the execution.
pub fn execute(graph: Graph, params: HostParams, latency: u64, proceed: &mut dyn FnMut(u64) -> bool) -> Execution {
    execute_recorded(graph, params, latency, false, proceed)
}

/// As [`execute`]; the execution has a timeline if `record` is true.
pub fn execute_recorded(
    graph: Graph,
    params: HostParams,
    latency: u64,
    record: bool,
    proceed: &mut dyn FnMut(u64) -> bool,
) -> Execution {
    const BATCH: u32 = 1 << 16;
    let mut wire = Latency(latency.saturating_mul(params.ticks.max(1)));
    let mut hosts = Hosts::new(graph, params);
    if record {
        hosts.record();
    }
    'run: loop {
        for _ in 0..BATCH {
            if !hosts.step_over(&mut wire) {
                break 'run;
            }
        }
        if !proceed(hosts.events()) {
            break;
        }
    }
    Execution {
        finish: hosts.finish(),
        computing: (0..hosts.graph().ranks().len()).map(|host| hosts.computing(host)).collect(),
        timeline: hosts.timeline().clone(),
        ticks: hosts.ticks(),
        events: hosts.events(),
        is_past_end: hosts.is_past_end(),
        remains: hosts.remains(),
        misfits: hosts.misfits().clone(),
    }
}
