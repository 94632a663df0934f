//! Sizes with heavy tails.
//!
//! A real size is rounded up to whole phits and limited to a largest one. The means are those of what results, so that
//! the offered load is the one asked for.

use super::{Built, Entry, LONGEST, Law, LawContext};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::draw::exp;
use crate::synthetic::expr::Call;
use crate::synthetic::tail::{self, Tail};

/// The parameter `max`.
const MAX: Parameter = Parameter {
    name: "max",
    about: "largest size [phit]: larger ones have it",
    range: "1..=16777216",
    default: "16777216",
};
/// The parameter `mean`.
const MEAN: Parameter = Parameter {
    name: "mean",
    about: "mean size, before it is rounded up and limited [phit]",
    range: "0.01..=16777216",
    default: "packet length",
};

pub(super) static PARETO: Entry = Entry {
    component: Component {
        name: "pareto",
        about: "sizes by Pareto's law: larger than x with probability proportional to x^-a, rounded up to whole phits",
        parameters: &[tail::PARETO, MEAN, MAX],
        source: "Crovella and Bestavros, Self-Similarity in World Wide Web Traffic (1997)",
    },
    aliases: &[],
    build: |call, context| with_mean(call, context, tail::pareto(call)?),
};

pub(super) static LOGNORMAL: Entry = Entry {
    component: Component {
        name: "lognormal",
        about: "sizes whose logarithm has a normal distribution, rounded up to whole phits",
        parameters: &[
            Parameter {
                name: "m",
                about: "mean of the logarithm of the size in phits",
                range: "-20..=16",
                default: "",
            },
            tail::LOGNORMAL,
            MAX,
        ],
        source: "Downey, Lognormal and Pareto Distributions in the Internet (2005)",
    },
    aliases: &[],
    build: |call, context| {
        let m = call.number("m", -20.0..=16.0)?;
        let s = call.number("s", tail::DEVIATIONS)?;
        build(call, context, tail::lognormal(call)?, exp(m + s * s / 2.0))
    },
};

pub(super) static WEIBULL: Entry = Entry {
    component: Component {
        name: "weibull",
        about: "sizes by Weibull's law, rounded up to whole phits: heavy-tailed with k below 1",
        parameters: &[tail::WEIBULL, MEAN, MAX],
        source: "Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions (1994), chapter 21",
    },
    aliases: &[],
    build: |call, context| with_mean(call, context, tail::weibull(call)?),
};

pub(super) static GAMMA: Entry = Entry {
    component: Component {
        name: "gamma",
        about: "sizes by the gamma distribution, rounded up to whole phits: few large ones with k below 1",
        parameters: &[tail::GAMMA, MEAN, MAX],
        source: "Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions (1994), chapter 17",
    },
    aliases: &[],
    build: |call, context| with_mean(call, context, tail::gamma(call)?),
};

/// Builds a law with the parameter `mean`.
fn with_mean(call: &Call, context: LawContext, tail: Tail) -> Built {
    let mean = match call.given("mean") {
        Some(_) => call.number("mean", 0.01..=LONGEST as f64)?,
        None => f64::from(context.packet_phits),
    };
    build(call, context, tail, mean)
}

/// Builds a law from a law of mean one and the mean size \[phit\].
fn build(call: &Call, LawContext { packet_phits, .. }: LawContext, tail: Tail, scale: f64) -> Built {
    let max = call.integer("max", 1..=LONGEST)? as u64;
    let mean = pieces(&tail, scale, max, 1);
    let carried = pieces(&tail, scale, max, packet_phits) * f64::from(packet_phits);
    Ok(Box::new(Heavy { tail, scale, max, mean, carried }))
}

/// Mean number of pieces of `step` phits that messages fill, the last one in part: the sum over k = 0, 1, ... of the
/// probability of a size above k `step`.
fn pieces(tail: &Tail, scale: f64, max: u64, step: u32) -> f64 {
    /// Number of terms that are summed one by one. Where more follow, they hardly differ from one to the next.
    const TERMS: u64 = 4096;
    let terms = max.div_ceil(u64::from(step));
    let at = |term: u64| term as f64 * f64::from(step) / scale;
    let near: f64 = (0..terms.min(TERMS)).map(|term| tail.above(at(term))).sum();
    if terms <= TERMS {
        return near;
    }
    // The formula of Euler and Maclaurin, with the correction of the ends.
    let (from, to) = (at(TERMS), at(terms));
    let integral = (tail.limited_mean(to) - tail.limited_mean(from)) * scale / f64::from(step);
    near + integral + (tail.above(from) - tail.above(to)) / 2.0
}

/// The heavy-tailed laws.
#[derive(Debug)]
struct Heavy {
    tail: Tail,
    /// \[phit\] Mean of the real sizes.
    scale: f64,
    /// \[phit\] Largest size.
    max: u64,
    /// \[phit\] Value of [`Law::mean`].
    mean: f64,
    /// \[phit\] Value of [`Law::carried`].
    carried: f64,
}

impl Law for Heavy {
    fn phits(&mut self, rng: &mut Stream) -> u64 {
        // The conversion saturates.
        ((self.scale * self.tail.draw(rng)).ceil() as u64).clamp(1, self.max)
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn carried(&self) -> f64 {
        self.carried
    }
}
