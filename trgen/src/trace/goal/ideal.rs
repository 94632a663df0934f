//! A graph over a network without congestion: every message arrives L after it left.

use super::hosts::{HostParams, Hosts, Remains, Wire};
use super::{Graph, Node};
use crate::trace::replay::Misfits;

/// A network that only has a latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Latency(u64);

impl Wire for Latency {
    fn carry(&mut self, leaves: u64, _: u32, _: u32, _: &Node) -> Option<u64> {
        Some(leaves.saturating_add(self.0))
    }
}

/// How an execution ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution {
    /// \[ticks\] When each host was done.
    pub finish: Vec<u64>,
    /// Ticks of a time unit.
    pub ticks: u64,
    /// Operations entered, and messages.
    pub events: u64,
    /// What was left over; nothing after a complete execution.
    pub remains: Remains,
    /// Receives that had less room than their message needs.
    pub misfits: Misfits,
}

impl Execution {
    /// The first host that was done last, and when. `None` without hosts.
    #[must_use]
    pub fn last(&self) -> Option<(usize, u64)> {
        let longest = self.finish.iter().copied().max()?;
        let host = self.finish.iter().position(|&finish| finish == longest)?;
        Some((host, longest))
    }
}

/// Executes a graph. `latency` \[time units\] is L. Calls `proceed` now and then with the events so far; it returns false
/// to stop.
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
        remains: hosts.remains(),
        misfits: hosts.misfits().clone(),
    }
}
