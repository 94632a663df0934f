//! Temporal processes: when a node generates a message.

use std::fmt::Debug;

use crate::catalog::{Component, Refusal};
use crate::rng::Stream;
use crate::synthetic::draw::{ln, ln_one_minus, positive_unit};
use crate::synthetic::expr::{self, Call, Expr};
use crate::units::{Cycle, NodeId};

/// When a node generates. Whatever a process remembers, it remembers per node.
pub trait Process: Debug + Send {
    /// The cycle of the next message of `node` after `from`, which is later than `from`; [`Cycle::NEVER`] if there is
    /// none.
    ///
    /// `from` is the cycle in which the node became free: 0 at the start of a run, then that of its last message
    /// (open-loop sources) or that in which its last message had left its hands (throttled ones). `rng` is the node's
    /// stream of temporal draws.
    fn next(&mut self, node: NodeId, from: Cycle, rng: &mut Stream) -> Cycle;
}

/// What a process is built for.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Number of nodes.
    pub nodes: usize,
    /// \[phit/node/cycle\] Load of a node that is not silent.
    pub load: f64,
    /// \[phit\] Mean size of a message.
    pub mean_phits: f64,
    /// Run seed.
    pub seed: u64,
}

type Built = Result<Box<dyn Process>, Refusal>;
type Entry = expr::Entry<fn(&Call, Site) -> Built>;

/// Every process. One line per member.
static TABLE: [&Entry; 1] = [&BERNOULLI];

/// What every process says of itself.
pub fn components() -> impl Iterator<Item = &'static Component> {
    TABLE.iter().map(|entry| &entry.component)
}

/// Builds the process that `text` describes.
///
/// # Errors
/// When the text is malformed, the process unknown, a parameter unusable, or the load negative, not a number, or more
/// than the process can generate.
pub fn parse(text: &str, site: Site) -> Result<Box<dyn Process>, Refusal> {
    let expr = Expr::parse(text)?;
    let entry = expr::find("temporal process", &TABLE, &expr)?;
    if !(site.load >= 0.0 && site.load.is_finite()) {
        return Err(Refusal::value(
            format!("load {} is not a number of phits per node and cycle", site.load),
            "a load of 0 or more",
        ));
    }
    (entry.build)(&Call::bind(text, &expr, &entry.component)?, site)
}

static BERNOULLI: Entry = Entry {
    component: Component {
        name: "bernoulli",
        about: "in every cycle a message with probability load / mean message size",
        parameters: &[],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks (2004), 24.2.2",
    },
    aliases: &[],
    build: |_, site| {
        let probability = site.load / site.mean_phits;
        if probability > 1.0 {
            let Site { load, mean_phits, .. } = site;
            return Err(Refusal::value(
                format!(
                    "load {load} phits/node/cycle with messages of L = {mean_phits} phits needs {probability:.3} \
                     messages per node and cycle; a node generates at most one"
                ),
                format!("a load of at most {mean_phits}, or messages of at least {} phits", load.ceil()),
            ));
        }
        Ok(Box::new(Bernoulli { ln_miss: ln_one_minus_or_never(probability) }))
    },
};

fn ln_one_minus_or_never(probability: f64) -> f64 {
    if probability < 1.0 { ln_one_minus(probability) } else { f64::NEG_INFINITY }
}

/// Independent trials, one per cycle, drawn as gaps: the gap is g with probability (1-p)^(g-1) p.
#[derive(Debug)]
struct Bernoulli {
    /// ln(1 - p): 0 if nothing is ever generated, minus infinity if every cycle is hit.
    ln_miss: f64,
}

impl Process for Bernoulli {
    fn next(&mut self, _: NodeId, from: Cycle, rng: &mut Stream) -> Cycle {
        if self.ln_miss == 0.0 {
            return Cycle::NEVER;
        }
        // Inversion: the number of misses is at least m exactly if an even draw from (0, 1] is at most (1-p)^m. The
        // conversion saturates, and so does the sum.
        let misses = (ln(positive_unit(rng)) / self.ln_miss) as u64;
        from + 1 + misses
    }
}
