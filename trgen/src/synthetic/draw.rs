//! Draws whose results are the same on every host and with every library version.
//!
//! Decision: docs/decisions/0022-own-draws.md.

use rand::Rng as _;

use crate::rng::Stream;

/// An unbiased draw of a whole number from 0 to `bound` - 1; `bound` is at least 1.
///
/// The high word of a 32-bit draw times `bound` maps the 2^32 draws to `bound` values. To make all values equally
/// likely, the surplus draws (fewer than `bound`) are rejected and repeated.
#[must_use = "it takes a draw from the stream"]
pub fn below(bound: u32, rng: &mut Stream) -> u32 {
    debug_assert!(bound > 0, "there is nothing to draw from");
    loop {
        // The upper half: the lower bits of this generator are its weaker ones.
        let product = (rng.next_u64() >> 32) * u64::from(bound);
        // The exact number of rejected draws costs a division; it is less than `bound`.
        let low = product as u32;
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 32) as u32;
        }
    }
}

/// True with this probability, to within 2^-53.
#[must_use = "it takes a draw from the stream"]
pub fn chance(probability: f64, rng: &mut Stream) -> bool {
    ((rng.next_u64() >> 11) as f64) < probability * TWO_53
}

/// A uniform draw from the multiples of 2^-53 in \[0, 1).
#[must_use = "it takes a draw from the stream"]
pub fn unit(rng: &mut Stream) -> f64 {
    (rng.next_u64() >> 11) as f64 / TWO_53
}

/// A uniform draw from the multiples of 2^-53 in (0, 1]: never 0, so that its logarithm exists.
#[must_use = "it takes a draw from the stream"]
pub fn positive_unit(rng: &mut Stream) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / TWO_53
}

const TWO_53: f64 = 9_007_199_254_740_992.0;

/// ln((1 + s) / (1 - s)) for |s| <= 0.172, to a few units in the last place.
///
/// Twice the series of artanh. The `ln` of host libraries differs in the last place, and results must not depend on the
/// host. This function uses additions, products and divisions only, which all hosts round alike.
fn twice_artanh(s: f64) -> f64 {
    let (square, fourth) = (s * s, (s * s) * (s * s));
    // Every second term, so that the processor computes both halves in parallel. 0.172^24 / 25 is below 2^-60.
    let half = |first: u32| (0..6).rev().fold(0.0, |sum, k| sum * fourth + 1.0 / f64::from(4 * k + first));
    2.0 * s * (half(1) + square * half(3))
}

/// ln(x) for normal x > 0, the same on every host.
pub(crate) fn ln(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    const LN_2: f64 = std::f64::consts::LN_2;
    let bits = x.to_bits();
    let mut exponent = ((bits & EXPONENT) >> 52) as i32 - 1023;
    let mut mantissa = f64::from_bits((bits & !EXPONENT) | (1023 << 52));
    // From [1, 2) to [0.707, 1.414), where the series is short.
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    twice_artanh((mantissa - 1.0) / (mantissa + 1.0)) + f64::from(exponent) * LN_2
}

/// ln(1 - p) for 0 <= p < 1, precise for small p too.
pub(super) fn ln_one_minus(p: f64) -> f64 {
    if p < 0.25 { twice_artanh(-p / (2.0 - p)) } else { ln(1.0 - p) }
}

/// e^x for |x| <= 700, to a few units in the last place, the same on every host.
///
/// x = k ln 2 + r with |r| <= ln 2 / 2; the series of e^r is short, and 2^k is exact.
pub(super) fn exp(x: f64) -> f64 {
    // The high part of ln 2 ends in zeros, so that its product with k is exact.
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let k = (x * std::f64::consts::LOG2_E).round_ties_even();
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    // 0.347^18 / 18! is below 2^-70.
    let series = (1..=18).rev().fold(1.0, |sum, n| 1.0 + sum * r / f64::from(n));
    series * f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

/// rank^-exponent, the same on every host.
pub(crate) fn inverse_power(rank: f64, exponent: f64) -> f64 {
    exp((-exponent * ln(rank)).max(-700.0))
}

/// A draw from the standard normal distribution, by the polar method: logarithm and square root only.
pub(super) fn normal(rng: &mut Stream) -> f64 {
    loop {
        let (u, v) = (2.0 * positive_unit(rng) - 1.0, 2.0 * positive_unit(rng) - 1.0);
        let square = u * u + v * v;
        if square > 0.0 && square < 1.0 {
            return u * (-2.0 * ln(square) / square).sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    #[test]
    fn exponentials_agree_with_the_host_to_the_last_places() {
        let mut rng = stream(4, 0, Purpose::Setup);
        for _ in 0..100_000 {
            let x = 1400.0 * positive_unit(&mut rng) - 700.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 2e-15, "exp({x})");
        }
        assert_eq!(exp(0.0), 1.0);
        assert!((inverse_power(3.0, 2.0) * 9.0 - 1.0).abs() < 1e-15);
        assert_eq!(inverse_power(1.0, 64.0), 1.0);
    }

    #[test]
    fn normal_draws_have_the_moments_of_the_normal_distribution() {
        let mut rng = stream(5, 0, Purpose::Setup);
        const DRAWS: u32 = 1_000_000;
        let mut sums = [0.0f64; 4];
        for _ in 0..DRAWS {
            let g = normal(&mut rng);
            for (power, sum) in (1..).zip(&mut sums) {
                *sum += g.powi(power);
            }
        }
        // Four standard deviations of the means of g, g^2, g^3, g^4: variances 1, 2, 15, 96.
        for (sum, (mean, variance)) in sums.iter().zip([(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0f64)]) {
            let found = sum / f64::from(DRAWS);
            assert!((found - mean).abs() < 4.0 * (variance / f64::from(DRAWS)).sqrt(), "{found} instead of {mean}");
        }
    }

    #[test]
    fn logarithms_agree_with_the_host_to_the_last_places() {
        let mut rng = stream(1, 0, Purpose::Setup);
        for _ in 0..100_000 {
            let x = positive_unit(&mut rng);
            assert!((ln(x) - x.ln()).abs() <= 1e-15 * x.ln().abs().max(1e-3), "ln({x})");
            let p = 1.0 - x;
            assert!((ln_one_minus(p) - (-p).ln_1p()).abs() <= 1e-15 * p.max((-p).ln_1p().abs()), "ln(1 - {p})");
        }
        assert_eq!(ln(1.0), 0.0);
        assert!((ln_one_minus(1e-12) + 1e-12).abs() < 1e-23);
    }

    #[test]
    fn bounded_draws_reach_every_value_and_no_other() {
        let mut rng = stream(2, 0, Purpose::Setup);
        for bound in [1, 2, 3, 7, 63, 1000] {
            let mut seen = vec![false; bound as usize];
            for _ in 0..bound * 30 {
                seen[below(bound, &mut rng) as usize] = true;
            }
            assert!(seen.iter().all(|&seen| seen), "bound {bound}");
        }
        // The largest bound: rejection is rarest and overflow most likely.
        assert!(below(u32::MAX, &mut rng) < u32::MAX);
    }

    #[test]
    fn certain_and_impossible_chances() {
        let mut rng = stream(3, 0, Purpose::Setup);
        assert!((0..1000).all(|_| chance(1.0, &mut rng) && !chance(0.0, &mut rng)));
    }
}
