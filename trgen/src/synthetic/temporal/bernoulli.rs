//! Independent trials.

use super::{Entry, Process, Temporal};
use crate::catalog::{Component, SpecError};
use crate::rng::Stream;
use crate::synthetic::draw::{ln, ln_one_minus, positive_unit};
use crate::synthetic::temporal::ProcessContext;
use crate::units::{Cycle, NodeId};

pub(super) static BERNOULLI: Entry = Entry {
    component: Component {
        name: "bernoulli",
        about: "in every cycle a message with probability load / mean message size",
        parameters: &[],
        source: "Dally and Towles, Principles and Practices of Interconnection Networks (2004), 24.2.2",
    },
    aliases: &[],
    build: |_, context| Ok(Temporal::Process(process(context)?)),
};

/// The Bernoulli process with the rate that yields the load of the context.
pub(super) fn process(context: ProcessContext) -> Result<Box<dyn Process>, SpecError> {
    Ok(Box::new(Bernoulli { gaps: Gaps::new(context.rate()?) }))
}

/// The process `bernoulli`.
#[derive(Debug)]
struct Bernoulli {
    gaps: Gaps,
}

impl Process for Bernoulli {
    fn next(&mut self, _: NodeId, from: Cycle, rng: &mut Stream) -> Cycle {
        self.gaps.next(from, rng)
    }
}

/// Trials, one per cycle, drawn as gaps: the gap is g with probability (1-p)^(g-1) p.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    /// ln(1 - p): 0 if nothing is ever generated, minus infinity if every cycle is a hit.
    ln_miss: f64,
}

impl Gaps {
    /// Trials with this probability of a hit, 0 to 1.
    pub(super) fn new(probability: f64) -> Self {
        Self { ln_miss: if probability < 1.0 { ln_one_minus(probability) } else { f64::NEG_INFINITY } }
    }

    /// The cycle of the first hit after `from`.
    pub(super) fn next(self, from: Cycle, rng: &mut Stream) -> Cycle {
        if self.ln_miss == 0.0 {
            return Cycle::NEVER;
        }
        // Inversion: the number of misses is at least m exactly if a uniform draw from (0, 1] is at most (1-p)^m. The
        // conversion saturates, and so does the sum.
        let misses = (ln(positive_unit(rng)) / self.ln_miss) as u64;
        from + 1 + misses
    }
}
