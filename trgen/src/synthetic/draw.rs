//! Draws whose result is the same on every host and with every version of every library.

use rand::Rng as _;

use crate::rng::Stream;

/// An exactly even draw below `bound`, which is at least 1.
///
/// The high word of a 32-bit draw times `bound` splits the 2^32 draws into `bound` shares; draws that would make some
/// shares larger by one (fewer than `bound` of them) are drawn again.
pub(super) fn below(bound: u32, rng: &mut Stream) -> u32 {
    let surplus = bound.wrapping_neg() % bound;
    loop {
        // The upper half: the lower bits of this generator are its weaker ones.
        let product = (rng.next_u64() >> 32) * u64::from(bound);
        if product as u32 >= surplus {
            return (product >> 32) as u32;
        }
    }
}

/// True with this probability, to within 2^-53.
pub(super) fn chance(probability: f64, rng: &mut Stream) -> bool {
    ((rng.next_u64() >> 11) as f64) < probability * TWO_53
}

/// An even draw from the multiples of 2^-53 in (0, 1]: never 0, so that it has a logarithm.
pub(super) fn positive_unit(rng: &mut Stream) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / TWO_53
}

const TWO_53: f64 = 9_007_199_254_740_992.0;

/// ln((1 + s) / (1 - s)) for |s| <= 0.172, to a few units in the last place.
///
/// Twice the series of artanh. Host libraries disagree in the last place of `ln`, and results must not depend on the
/// host; this uses additions, products and divisions only, which all hosts round alike.
fn twice_artanh(s: f64) -> f64 {
    let square = s * s;
    // 0.172^24 / 25 is below 2^-60.
    let series = (0..12).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    2.0 * s * series
}

/// ln(x) for normal x > 0, the same on every host.
pub(super) fn ln(x: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

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
        // The largest bound, for which almost nothing is drawn again and nothing may overflow.
        assert!(below(u32::MAX, &mut rng) < u32::MAX);
    }

    #[test]
    fn certain_and_impossible_chances() {
        let mut rng = stream(3, 0, Purpose::Setup);
        assert!((0..1000).all(|_| chance(1.0, &mut rng) && !chance(0.0, &mut rng)));
    }
}
