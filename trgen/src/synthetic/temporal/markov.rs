//! On-off traffic from a two-state Markov chain.

use super::bernoulli::Gaps;
use super::{Built, Entry, Process, ProcessContext, Temporal};
use crate::catalog::{Component, ErrorKind, Parameter, SpecError};
use crate::rng::{Purpose, Stream, mix2};
use crate::synthetic::expr::Call;
use crate::units::{Cycle, NodeId};

pub(super) static MARKOV: Entry = Entry {
    component: Component {
        name: "markov",
        about: "a node that is on goes off with probability p10 per cycle, one that is off goes on with p10 / a; while \
                on, in every cycle a message with probability (1 + a) load / mean size",
        parameters: &[
            Parameter { name: "a", about: "time off over time on", range: "more than 0, at least p10", default: "" },
            Parameter {
                name: "p10",
                about: "from on to off [probability per cycle]; 1/p10 cycles on in the mean",
                range: "more than 0, ..=1",
                default: "",
            },
        ],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks (2004), 24.2.2",
    },
    aliases: &[],
    build,
};

/// Least mean number of messages per on-period: below it a node would draw too many periods to find its next message.
const RAREST: f64 = 1e-6;

/// Builds the process `markov`.
fn build(call: &Call, context: ProcessContext) -> Built {
    let a = call.number("a", f64::MIN_POSITIVE..=1e9)?;
    let p10 = call.number("p10", f64::MIN_POSITIVE..=1.0)?;
    if a < p10 {
        let problem = format!("a = {a} below p10 = {p10} would go from off to on with probability {:.3}", p10 / a);
        return Err(call.refuse_all(&problem, "an a of at least p10"));
    }
    let ProcessContext { load, mean_phits, .. } = context;
    let rate = (1.0 + a) * (load / mean_phits);
    if rate > 1.0 {
        return Err(SpecError::new(
            ErrorKind::OutOfRange,
            format!(
                "`markov` with a = {a} at load {load} with messages of L = {mean_phits} phits needs {rate:.3} messages \
                 per cycle while on; a node generates at most one"
            ),
            format!("a load of at most {}, a smaller a, or longer messages", mean_phits / (1.0 + a)),
        ));
    }
    if rate > 0.0 && rate / p10 < RAREST {
        let problem = format!("a time on would bring {:.1e} messages in the mean", rate / p10);
        return Err(call.refuse_all(&problem, format!("a larger load or a smaller p10: {RAREST:e} messages or more")));
    }
    // The initial state is drawn from the steady state: on with probability 1 / (1 + a).
    let node = |node: usize| {
        let key = mix2(mix2(context.seed, Purpose::Temporal as u64), node as u64);
        let share = (mix2(key, 0x0073_7461_7465) >> 11) as f64 / (1u64 << 53) as f64;
        Node { on: share * (1.0 + a) < 1.0, until: Cycle(0), drawn: false }
    };
    let nodes = (0..context.nodes).map(node).collect();
    Ok(Temporal::Process(Box::new(Markov {
        rate,
        on: Gaps::new(p10),
        off: Gaps::new(p10 / a),
        message: Gaps::new(rate),
        nodes,
    })))
}

/// The process `markov`.
#[derive(Debug)]
struct Markov {
    /// \[message/cycle\] Rate of a node that is on.
    rate: f64,
    /// Lengths of on-periods.
    on: Gaps,
    /// Lengths of off-periods.
    off: Gaps,
    /// Gaps between messages of a node that is on.
    message: Gaps,
    nodes: Vec<Node>,
}

/// State of a node.
#[derive(Clone, Copy, Debug)]
struct Node {
    on: bool,
    /// The last cycle of the current state.
    until: Cycle,
    /// False before the length of the first state has been drawn.
    drawn: bool,
}

impl Process for Markov {
    /// The chain keeps running while a node waits for the network: its states belong to the cycles, not to the
    /// messages.
    fn next(&mut self, node: NodeId, from: Cycle, rng: &mut Stream) -> Cycle {
        if self.rate == 0.0 {
            return Cycle::NEVER;
        }
        let node = &mut self.nodes[node.index()];
        if !node.drawn {
            node.drawn = true;
            node.until = if node.on { self.on } else { self.off }.next(Cycle(0), rng);
        }
        let mut from = from;
        loop {
            // Find the state of the cycle after `from`.
            while node.until <= from {
                node.on = !node.on;
                node.until = if node.on { self.on } else { self.off }.next(node.until, rng);
            }
            if node.on {
                let cycle = self.message.next(from, rng);
                // A gap that extends beyond the state is redrawn in the next one: trials have no memory.
                if cycle <= node.until {
                    return cycle;
                }
            }
            from = node.until;
            if from == Cycle::NEVER {
                return from;
            }
        }
    }
}
