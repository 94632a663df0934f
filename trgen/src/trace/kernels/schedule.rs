//! Collectives on data that are cut into pieces: the pieces, partner and round of every message.
//!
//! `bytes` is the whole vector. It is cut into as many pieces as the algorithm needs, as equal as whole bytes permit. With
//! a spread s, each cut between them is moved by up to s/2 of a piece, by a hash of (run seed, cut), so that a piece differs
//! from the mean by up to s.
//! An algorithm writes one task's [`Step`]s; the kernel turns them into messages, and the tests track the pieces.
//!
//! - all-reduce: every task has a vector; in the end every task has their sum.
//! - reduce-scatter: the same, but every task ends with one piece of the sum, its own.
//! - all-gather: every task has its own piece; in the end every task has all.

use super::{Shape, Steps};
pub(super) use crate::collective::{Action, Ring, Step, broadcast, core, doubling, folded, halving, unfold};
use crate::rng::{Purpose, mix2};

/// A collective by one algorithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Algorithm {
    /// Number of pieces of the vector.
    pub(super) pieces: fn(&Shape) -> u32,
    /// Writes one task's steps.
    pub(super) steps: fn(&Shape, u32, &mut dyn FnMut(Step)),
}

impl Algorithm {
    /// Writes one task's messages.
    pub(super) fn write(&self, shape: &Shape, task: u32, steps: &mut Steps) {
        let count = u64::from((self.pieces)(shape));
        // Offset of a piece in the vector.
        let start = |piece: u64| {
            let even = piece * (shape.bytes / count) + piece.min(shape.bytes % count);
            if shape.spread == 0 || piece == 0 || piece == count {
                return even;
            }
            // At most half a piece, so that cuts stay in order.
            let most = u128::from(shape.bytes / count) * u128::from(shape.spread) / 2_000_000;
            let drawn = u128::from(mix2(mix2(shape.seed, Purpose::Size as u64), piece)) % (2 * most + 1);
            (u128::from(even) + drawn - most) as u64
        };
        (self.steps)(shape, task, &mut |step| {
            let (first, pieces) = (u64::from(step.pieces.0), u64::from(step.pieces.1));
            steps.bytes = start(first + pieces) - start(first);
            match step.action {
                Action::Send => steps.send(step.peer, u64::from(step.round)),
                Action::Combine | Action::Keep => steps.receive(step.peer, u64::from(step.round)),
            }
        });
    }
}

/// The rings of a task along the dimensions of the grid, first dimension first. Each cuts the part left by the previous
/// one.
pub(super) fn rings(shape: &Shape, task: u32) -> Vec<Ring> {
    let (mut first, mut part, mut stride) = (0, shape.tasks, 1);
    let ring = |&size: &u32| {
        let place = task / stride % size;
        part /= size;
        let at = |to: u32| task - place * stride + to * stride;
        let (before, after) = (at((place + size - 1) % size), at((place + 1) % size));
        let ring = Ring { size, place, before, after, first, part };
        first += place * part;
        stride *= size;
        ring
    };
    shape.grid.iter().map(ring).collect()
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
