//! Weighted choices in constant time: Vose's alias tables.
//!
//! The tables and the draws use sums, products and quotients only. Results are therefore the same on every host and do
//! not depend on the sampling methods of another library.
//!
//! Decision: docs/decisions/0022-own-draws.md.

use crate::rng::Stream;
use crate::synthetic::draw::{below, chance};

/// A choice among 0 to n-1 with given weights. 12 bytes per entry.
#[derive(Clone, Debug)]
pub(super) struct Alias {
    /// Per column: the probability that it yields its own index.
    keep: Box<[f64]>,
    /// Per column: the index that it yields otherwise.
    other: Box<[u32]>,
}

impl Alias {
    /// A table for these weights. `None` if there are no weights or more than 2^32-1, if one is negative or not finite,
    /// or if all are 0.
    pub(super) fn new(weights: &[f64]) -> Option<Self> {
        let count = u32::try_from(weights.len()).ok()?;
        let total: f64 = weights.iter().sum();
        if !(total > 0.0 && total.is_finite()) || weights.iter().any(|&weight| weight < 0.0) {
            return None;
        }
        // Divide first: the product could overflow.
        let mut keep: Box<[f64]> = weights.iter().map(|weight| weight / total * f64::from(count)).collect();
        let mut other: Box<[u32]> = (0..count).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) = (0..count).partition(|&column| keep[column as usize] < 1.0);
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            other[poor as usize] = rich;
            keep[rich as usize] -= 1.0 - keep[poor as usize];
            if keep[rich as usize] < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        // Rounding may leave columns unassigned. A choice of weight 0 must never be drawn, so its column goes to the
        // heaviest choice; the other columns yield their own index.
        let heaviest = (0..count).max_by(|&a, &b| weights[a as usize].total_cmp(&weights[b as usize]))?;
        for column in small.into_iter().chain(large) {
            let empty = weights[column as usize] == 0.0;
            keep[column as usize] = if empty { 0.0 } else { 1.0 };
            other[column as usize] = if empty { heaviest } else { column };
        }
        Some(Self { keep, other })
    }

    /// Draws a choice in proportion to its weight.
    pub(super) fn draw(&self, rng: &mut Stream) -> usize {
        let column = below(self.keep.len() as u32, rng) as usize;
        // A column with probability 1 costs no second draw.
        if self.keep[column] >= 1.0 || chance(self.keep[column], rng) { column } else { self.other[column] as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    /// The probability of every choice, summed over the columns.
    fn shares(alias: &Alias) -> Vec<f64> {
        let mut shares = vec![0.0; alias.keep.len()];
        for (column, &keep) in alias.keep.iter().enumerate() {
            shares[column] += keep / alias.keep.len() as f64;
            shares[alias.other[column] as usize] += (1.0 - keep) / alias.keep.len() as f64;
        }
        shares
    }

    #[test]
    fn columns_sum_to_the_weights() {
        let mut rng = stream(1, 0, Purpose::Setup);
        for count in [1, 2, 3, 10, 1000] {
            let weights: Vec<f64> = (0..count).map(|_| f64::from(below(1000, &mut rng))).collect();
            let total: f64 = weights.iter().sum();
            for (share, weight) in shares(&Alias::new(&weights).unwrap()).iter().zip(&weights) {
                assert!((share - weight / total).abs() < 1e-12);
                assert!(*weight > 0.0 || *share == 0.0, "what weighs nothing is never drawn");
            }
        }
    }

    #[test]
    fn unusable_weights_have_no_table() {
        for weights in [&[][..], &[0.0, 0.0], &[1.0, -1.0], &[f64::NAN], &[f64::INFINITY], &[f64::MAX, f64::MAX]] {
            assert!(Alias::new(weights).is_none(), "{weights:?}");
        }
    }
}
