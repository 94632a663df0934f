//! Heavy-tailed laws of mean one, for sizes and for times between messages.
//!
//! Decision: docs/decisions/0210-heavy-tails.md.

use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::RangeInclusive;

use super::draw::{exp, ln, normal, positive_unit};
use super::expr::Call;
use crate::catalog::{Parameter, SpecError};
use crate::rng::Stream;

/// Parameter of Pareto's law.
pub(super) const PARETO: Parameter =
    Parameter { name: "a", about: "exponent: the smaller, the heavier the tail", range: "1.01..=100", default: "" };
/// Parameter of the log-normal law.
pub(super) const LOGNORMAL: Parameter =
    Parameter { name: "s", about: "standard deviation of the logarithm", range: "0..=10", default: "" };
/// Parameter of Weibull's law.
pub(super) const WEIBULL: Parameter =
    Parameter { name: "k", about: "shape: 1 is exponential, less is heavier", range: "0.1..=100", default: "" };
/// Parameter of the gamma distribution.
pub(super) const GAMMA: Parameter =
    Parameter { name: "k", about: "shape: 1 is exponential, less is heavier", range: "0.01..=1000", default: "" };
/// Permitted standard deviations of logarithms.
pub(super) const DEVIATIONS: RangeInclusive<f64> = 0.0..=10.0;

/// Pareto's law with the parameter `a` of a call.
pub(super) fn pareto(call: &Call) -> Result<Tail, SpecError> {
    Ok(Tail::Pareto { a: call.number("a", 1.01..=100.0)? })
}

/// The log-normal law with the parameter `s` of a call.
pub(super) fn lognormal(call: &Call) -> Result<Tail, SpecError> {
    Ok(Tail::LogNormal { s: call.number("s", DEVIATIONS)? })
}

/// Weibull's law with the parameter `k` of a call.
pub(super) fn weibull(call: &Call) -> Result<Tail, SpecError> {
    let k = call.number("k", 0.1..=100.0)?;
    Ok(Tail::Weibull { k, scale: 1.0 / libm::tgamma(1.0 + 1.0 / k) })
}

/// The gamma distribution with the parameter `k` of a call.
pub(super) fn gamma(call: &Call) -> Result<Tail, SpecError> {
    Ok(Tail::Gamma { k: call.number("k", 0.01..=1000.0)? })
}

/// A law of positive numbers whose mean is one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Tail {
    /// Above x with probability ((a - 1) / (a x))^a.
    Pareto {
        /// Exponent, more than 1.
        a: f64,
    },
    /// The exponential of normal numbers.
    LogNormal {
        /// Their standard deviation.
        s: f64,
    },
    /// Above x with probability exp(-(x / scale)^k).
    Weibull {
        /// Shape.
        k: f64,
        /// 1 / Γ(1 + 1/k), so that the mean is one.
        scale: f64,
    },
    /// Density proportional to x^(k - 1) exp(-k x).
    Gamma {
        /// Shape.
        k: f64,
    },
}

impl Tail {
    /// A draw.
    pub(super) fn draw(&self, rng: &mut Stream) -> f64 {
        match *self {
            Self::Pareto { a } => (a - 1.0) / a * bounded_exp(exponential(rng) / a),
            Self::LogNormal { s } => bounded_exp(s * normal(rng) - s * s / 2.0),
            Self::Weibull { k, scale } => scale * power(exponential(rng), 1.0 / k),
            Self::Gamma { k } => draw_gamma(k, rng) / k,
        }
    }

    /// A draw of the rest of an interval of this law, seen at a moment that does not depend on it: a part, even in
    /// (0, 1], of an interval that is met in proportion to its length.
    pub(super) fn draw_rest(&self, rng: &mut Stream) -> f64 {
        let met = match *self {
            // In proportion to length, each of these laws turns into one of its kind.
            Self::Pareto { a } => (a - 1.0) / a * bounded_exp(exponential(rng) / (a - 1.0)),
            Self::LogNormal { s } => bounded_exp(s * normal(rng) + s * s / 2.0),
            Self::Weibull { k, scale } => scale * power(draw_gamma(1.0 + 1.0 / k, rng), 1.0 / k),
            Self::Gamma { k } => draw_gamma(k + 1.0, rng) / k,
        };
        met * positive_unit(rng)
    }

    /// The probability of a number above `x`, 0 or more.
    pub(super) fn above(&self, x: f64) -> f64 {
        match *self {
            _ if x <= 0.0 => 1.0,
            Self::Pareto { a } => power((a - 1.0) / (a * x), a).min(1.0),
            Self::LogNormal { s } => normal_above(ln(x), -s * s / 2.0, s),
            Self::Weibull { k, scale } => bounded_exp(-power(x / scale, k)),
            Self::Gamma { k } => upper_gamma(k, k * x),
        }
    }

    /// Mean of the lesser of a number and `x`, 0 or more: the integral of [`above`](Self::above) from 0 to `x`.
    pub(super) fn limited_mean(&self, x: f64) -> f64 {
        match *self {
            _ if x <= 0.0 => 0.0,
            Self::Pareto { a } => {
                let least = (a - 1.0) / a;
                if x <= least { x } else { 1.0 - power(least / x, a - 1.0) / a }
            }
            Self::LogNormal { s } => 1.0 - normal_above(ln(x), s * s / 2.0, s) + x * self.above(x),
            Self::Weibull { k, scale } => 1.0 - upper_gamma(1.0 + 1.0 / k, power(x / scale, k)) + x * self.above(x),
            Self::Gamma { k } => 1.0 - upper_gamma(k + 1.0, k * x) + x * self.above(x),
        }
    }
}

/// A draw from the exponential distribution of mean one.
fn exponential(rng: &mut Stream) -> f64 {
    -ln(positive_unit(rng))
}

/// e^x, within the range of [`exp`].
fn bounded_exp(x: f64) -> f64 {
    if x < -700.0 { 0.0 } else { exp(x.min(700.0)) }
}

/// base^exponent for a base of 0 or more and a positive exponent.
fn power(base: f64, exponent: f64) -> f64 {
    if base < f64::MIN_POSITIVE { 0.0 } else { bounded_exp(exponent * ln(base)) }
}

/// A draw from the gamma distribution of shape `k` and scale 1, by the method of Marsaglia and Tsang, A Simple Method
/// for Generating Gamma Variables (2000).
fn draw_gamma(k: f64, rng: &mut Stream) -> f64 {
    if k < 1.0 {
        return draw_gamma(k + 1.0, rng) * bounded_exp(-exponential(rng) / k);
    }
    let d = k - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let root = 1.0 + c * x;
        let v = root * root * root;
        if v > 0.0 && -exponential(rng) < 0.5 * x * x + d - d * v + d * ln(v) {
            return d * v;
        }
    }
}

/// Probability that a normal number of this mean and standard deviation is above `x`.
fn normal_above(x: f64, mean: f64, deviation: f64) -> f64 {
    if deviation == 0.0 {
        return f64::from(mean > x);
    }
    libm::erfc((x - mean) / deviation * FRAC_1_SQRT_2) / 2.0
}

/// Γ(a, x) / Γ(a) for a > 0 and x > 0: the series of the lower function below a + 1, the continued fraction of the
/// upper one beyond (Press and others, Numerical Recipes (2007), 6.2).
fn upper_gamma(a: f64, x: f64) -> f64 {
    const CLOSE: f64 = 1e-16;
    /// Both converge in fewer steps for the permitted shapes.
    const STEPS: u32 = 10_000;
    if x < f64::MIN_POSITIVE {
        return 1.0;
    }
    let factor = bounded_exp(a * ln(x) - x - libm::lgamma(a));
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for step in 1..STEPS {
            term *= x / (a + f64::from(step));
            sum += term;
            if term < sum * CLOSE {
                break;
            }
        }
        return (1.0 - factor * sum).max(0.0);
    }
    // Lentz's method.
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / f64::MIN_POSITIVE;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for step in 1..STEPS {
        let step = f64::from(step);
        let numerator = -step * (step - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        let change = c * d;
        fraction *= change;
        if (change - 1.0).abs() < 4.0 * CLOSE {
            break;
        }
    }
    (factor * fraction).min(1.0)
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF, Gamma, LogNormal, Pareto, Weibull};

    use super::*;
    use crate::rng::{Purpose, stream};

    /// The probability of a number up to another one.
    type Below = Box<dyn Fn(f64) -> f64>;

    /// Laws of every kind, with shapes far apart.
    fn laws() -> Vec<(Tail, Below)> {
        let mut laws: Vec<(Tail, Below)> = Vec::new();
        for a in [1.05, 1.5, 4.0] {
            let law = Pareto::new((a - 1.0) / a, a).unwrap();
            laws.push((Tail::Pareto { a }, Box::new(move |x| law.cdf(x))));
        }
        for s in [0.3, 1.0, 3.0] {
            let law = LogNormal::new(-s * s / 2.0, s).unwrap();
            laws.push((Tail::LogNormal { s }, Box::new(move |x| law.cdf(x))));
        }
        for k in [0.3, 0.7, 3.0, 30.0] {
            let scale = 1.0 / libm::tgamma(1.0 + 1.0 / k);
            let law = Weibull::new(k, scale).unwrap();
            laws.push((Tail::Weibull { k, scale }, Box::new(move |x| law.cdf(x))));
        }
        for k in [0.05, 0.5, 2.0, 300.0] {
            let law = Gamma::new(k, k).unwrap();
            laws.push((Tail::Gamma { k }, Box::new(move |x| law.cdf(x))));
        }
        laws
    }

    /// Largest distance of the distribution function of draws from `below`, times the root of their number: at most
    /// 1.95 with probability 0.999 (Kolmogorov and Smirnov).
    fn distance(mut draws: Vec<f64>, below: impl Fn(f64) -> f64) -> f64 {
        draws.sort_unstable_by(f64::total_cmp);
        let count = draws.len() as f64;
        let gaps = draws.iter().enumerate().map(|(index, &draw)| {
            let below = below(draw);
            (below - index as f64 / count).max((index + 1) as f64 / count - below)
        });
        gaps.fold(0.0, f64::max) * count.sqrt()
    }

    #[test]
    fn draws_have_their_distributions() {
        for (index, (tail, cdf)) in laws().into_iter().enumerate() {
            let mut rng = stream(7, index as u64, Purpose::Setup);
            let found = distance((0..200_000).map(|_| tail.draw(&mut rng)).collect(), cdf);
            assert!(found < 1.95, "{tail:?}: {found}");
            // The rest of a met interval is below x with the probability E min(X, x), as the mean is one.
            let found = distance((0..200_000).map(|_| tail.draw_rest(&mut rng)).collect(), |x| tail.limited_mean(x));
            assert!(found < 1.95, "rest of {tail:?}: {found}");
        }
    }

    #[test]
    fn probabilities_agree_with_another_library_and_limited_means_with_their_sums() {
        for (tail, cdf) in laws() {
            let (mut sum, mut before) = (0.0, 0.0);
            for step in 1..=4000 {
                let x = f64::from(step) / 1000.0;
                assert!((tail.above(x) - (1.0 - cdf(x))).abs() < 1e-9, "{tail:?} above {x}: {}", tail.above(x));
                // Simpson's rule from one step to the next, where the law is smooth.
                let middle = (before + x) / 2.0;
                sum += (tail.above(before) + 4.0 * tail.above(middle) + tail.above(x)) * (x - before) / 6.0;
                before = x;
                assert!(
                    (tail.limited_mean(x) - sum).abs() < 1e-3,
                    "{tail:?}: {} at {x}, not {sum}",
                    tail.limited_mean(x)
                );
            }
            assert!((tail.limited_mean(1e250) - 1.0).abs() < 1e-5, "{tail:?}");
        }
    }

    #[test]
    fn draws_are_those_of_every_host() {
        let stored: [(Tail, [u64; 4]); 5] = [
            (
                Tail::Pareto { a: 1.5 },
                [0x3fe1_520c_5bdb_775c, 0x3fdb_7cc0_3d33_cf09, 0x3fde_e6db_a9d3_d9d0, 0x3fdc_bdfb_168a_72da],
            ),
            (
                Tail::LogNormal { s: 2.0 },
                [0x3fb8_2065_d7a7_1634, 0x3ff0_1779_753f_8aa3, 0x3fb0_bcbc_8578_762a, 0x3fa0_7fd8_89fb_434b],
            ),
            (
                Tail::Weibull { k: 0.5, scale: 0.5 },
                [0x3fd0_eb81_9d22_809a, 0x3fb2_8031_44c9_094f, 0x3fc3_c583_5ff1_1aa8, 0x3fb9_9769_14a4_0f62],
            ),
            (
                Tail::Gamma { k: 0.5 },
                [0x3fe9_b284_06e5_bb5e, 0x3fb9_400c_7868_a87d, 0x3fe0_1897_5c33_1c07, 0x3fb8_8817_1b1c_9a60],
            ),
            (
                Tail::Gamma { k: 2.5 },
                [0x3fe8_764e_e88b_7a16, 0x4000_43de_c74f_b8b1, 0x3fe0_4ada_02ae_f26e, 0x3ff7_9914_558b_0b4a],
            ),
        ];
        for (tail, bits) in stored {
            let mut rng = stream(1, 0, Purpose::Size);
            let found = [(); 4].map(|()| tail.draw(&mut rng).to_bits());
            assert_eq!(found, bits, "{tail:?}: {found:#x?}");
        }
    }
}
