//! Messages at regular intervals.

use super::{Built, Entry, Process, ProcessContext, Temporal};
use crate::catalog::{Component, Parameter};
use crate::rng::{Purpose, Stream, mix2};
use crate::synthetic::expr::Call;
use crate::units::{Cycle, NodeId};

const PHASE: Parameter = Parameter {
    name: "phase",
    about: "when a node's period begins [cycle]: drawn from the seed for each node, or the same for all",
    range: "random, or 0..",
    default: "random",
};

pub(super) static PERIODIC: Entry = Entry {
    component: Component {
        name: "periodic",
        about: "a message every mean size / load cycles",
        parameters: &[PHASE],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks (2004), 24.2.2",
    },
    aliases: &[],
    build: |call, context| bursts(call, context, 1),
};

pub(super) static CBURST: Entry = Entry {
    component: Component {
        name: "cburst",
        about: "B messages in consecutive cycles, every B x mean size / load cycles",
        parameters: &[Parameter { name: "B", about: "messages of a burst", range: "1..=1048576", default: "" }, PHASE],
        source: "INSEE, Interconnection Network Simulation and Evaluation Environment",
    },
    aliases: &[],
    build: |call, context| bursts(call, context, call.integer("B", 1..=1 << 20)? as u64),
};

/// Builds a process with `burst` messages per period.
fn bursts(call: &Call, context: ProcessContext, burst: u64) -> Built {
    let period = burst as f64 / context.rate()?;
    let phase = |node: usize| -> f64 {
        // A uniform draw from the period, by a hash: it does not use the node's stream.
        let key = mix2(mix2(context.seed, Purpose::Temporal as u64), node as u64);
        let share = (mix2(key, 0x0070_6861_7365) >> 11) as f64 / (1u64 << 53) as f64;
        if period.is_finite() { share * period } else { 0.0 }
    };
    let fixed = match call.given("phase") {
        Some(given) if given.word() != Some("random") => Some(call.number("phase", 0.0..=(1u64 << 53) as f64)?),
        _ => None,
    };
    let node = |node| Node { start: fixed.unwrap_or_else(|| phase(node)), sent: 0 };
    Ok(Temporal::Process(Box::new(Bursts { period, burst, nodes: (0..context.nodes).map(node).collect() })))
}

/// The processes `periodic` and `cburst`.
#[derive(Debug)]
struct Bursts {
    /// \[cycles\] Time from the beginning of a burst to that of the next; infinite without messages.
    period: f64,
    /// Number of messages per burst.
    burst: u64,
    nodes: Vec<Node>,
}

/// State of a node.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// \[cycle\] Start of the current period. The first message of its burst is in the cycle after it.
    start: f64,
    /// Number of messages of the current burst so far.
    sent: u64,
}

impl Process for Bursts {
    fn next(&mut self, node: NodeId, from: Cycle, _: &mut Stream) -> Cycle {
        if !self.period.is_finite() {
            return Cycle::NEVER;
        }
        let node = &mut self.nodes[node.index()];
        if node.sent == self.burst {
            // The first period that begins after `from`: periods missed while blocked are skipped. A period is at least
            // as long as its burst, so none is missed otherwise.
            let periods = ((from.0 as f64 - node.start) / self.period).ceil().max(1.0);
            node.start += periods * self.period;
            node.sent = 0;
        }
        node.sent += 1;
        // The conversion saturates.
        Cycle((node.start as u64).max(from.0).saturating_add(1))
    }
}
