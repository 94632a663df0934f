//! A graph over a network without congestion: every message arrives L after its departure.

use super::hosts::{HostParams, Hosts, Remains, Wire};
use super::{Graph, Node};
use crate::trace::replay::Misfits;

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
    const BATCH: u32 = 1 << 16;
    let mut wire = Latency(latency.saturating_mul(params.ticks.max(1)));
    let mut hosts = Hosts::new(graph, params);
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
        ticks: hosts.ticks(),
        events: hosts.events(),
        is_past_end: hosts.is_past_end(),
        remains: hosts.remains(),
        misfits: hosts.misfits().clone(),
    }
}
