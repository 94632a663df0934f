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
use crate::rng::{Purpose, mix2};

/// One message of one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) action: Action,
    /// The other task.
    pub(super) peer: u32,
    /// The first piece, and how many.
    pub(super) pieces: (u32, u32),
    /// The same number for the send and the receive of a message.
    pub(super) round: u32,
}

/// The action of a task in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Send,
    /// Receives data and adds them to those present.
    Combine,
    /// Receives data, which replace those present.
    Keep,
}

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

/// A ring of tasks along which parts of the vector travel.
#[derive(Clone, Copy)]
pub(super) struct Ring {
    /// Number of tasks on the ring.
    pub(super) size: u32,
    /// Position of this task on the ring.
    pub(super) place: u32,
    /// The task before this one.
    pub(super) before: u32,
    /// The task after this one.
    pub(super) after: u32,
    /// The first of the pieces that are cut into `size` equal parts.
    pub(super) first: u32,
    /// Number of pieces per part.
    pub(super) part: u32,
}

impl Ring {
    /// The ring of all tasks, one piece for each.
    pub(super) const fn all(shape: &Shape, task: u32) -> Self {
        let size = shape.tasks;
        Self { size, place: task, before: (task + size - 1) % size, after: (task + 1) % size, first: 0, part: 1 }
    }

    /// The ring of the `size` consecutive tasks of a task's group, with `part` pieces for each.
    pub(super) const fn within(size: u32, task: u32, part: u32) -> Self {
        let (place, start) = (task % size, task - task % size);
        let (before, after) = (start + (place + size - 1) % size, start + (place + 1) % size);
        Self { size, place, before, after, first: 0, part }
    }

    /// The part of the task `by` positions before this one.
    const fn part_behind(&self, by: u32) -> (u32, u32) {
        (self.first + (self.place + 2 * self.size - by) % self.size * self.part, self.part)
    }

    /// Every part travels once round the ring and is summed; position p ends with the sum of part p. Returns the next
    /// round.
    pub(super) fn reduce_scatter(&self, round: u32, out: &mut dyn FnMut(Step)) -> u32 {
        for step in 0..self.size - 1 {
            let round = round + step;
            out(Step { action: Action::Send, peer: self.after, pieces: self.part_behind(step + 1), round });
            out(Step { action: Action::Combine, peer: self.before, pieces: self.part_behind(step + 2), round });
        }
        round + self.size - 1
    }

    /// Position p starts with part p, which travels once round the ring. Returns the next round.
    pub(super) fn all_gather(&self, round: u32, out: &mut dyn FnMut(Step)) -> u32 {
        for step in 0..self.size - 1 {
            let round = round + step;
            out(Step { action: Action::Send, peer: self.after, pieces: self.part_behind(step), round });
            out(Step { action: Action::Keep, peer: self.before, pieces: self.part_behind(step + 1), round });
        }
        round + self.size - 1
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

/// Number of tasks that take part in exchanges: the largest power of two that does not exceed the number of tasks.
pub(super) const fn core(shape: &Shape) -> u32 {
    1 << shape.tasks.ilog2()
}

/// Role of a task after folding: among the first pairs of tasks, as many as there are tasks beyond a power of two, the
/// second task takes part for both.
pub(super) enum Folded {
    /// Gives its vector to the next task and receives the result from it.
    Out,
    /// Takes part under this number; if `pair`, for the preceding task too.
    In { number: u32, pair: bool },
}

/// The role of a task after folding.
pub(super) const fn fold(shape: &Shape, task: u32) -> Folded {
    let beyond = shape.tasks - core(shape);
    if task >= 2 * beyond {
        Folded::In { number: task - beyond, pair: false }
    } else if task % 2 == 1 {
        Folded::In { number: task / 2, pair: true }
    } else {
        Folded::Out
    }
}

/// The task that takes part under a number.
pub(super) const fn unfold(shape: &Shape, number: u32) -> u32 {
    let beyond = shape.tasks - core(shape);
    if number < beyond { 2 * number + 1 } else { number + beyond }
}

/// Extends `exchange`, an all-reduce among a power of two of tasks, to any number of tasks.
/// The rounds of the exchange begin at 1; `last` is the round after them.
pub(super) fn folded(
    shape: &Shape,
    task: u32,
    pieces: u32,
    last: u32,
    out: &mut dyn FnMut(Step),
    exchange: impl Fn(u32, &mut dyn FnMut(Step)),
) {
    let whole = (0, pieces);
    match fold(shape, task) {
        Folded::Out => {
            out(Step { action: Action::Send, peer: task + 1, pieces: whole, round: 0 });
            out(Step { action: Action::Keep, peer: task + 1, pieces: whole, round: last });
        }
        Folded::In { number, pair } => {
            if pair {
                out(Step { action: Action::Combine, peer: task - 1, pieces: whole, round: 0 });
            }
            exchange(number, out);
            if pair {
                out(Step { action: Action::Send, peer: task - 1, pieces: whole, round: last });
            }
        }
    }
}

/// Recursive halving over `size` numbers, a power of two: each ends with the sum of the piece of its number.
/// `task(number)` gives the task. Returns the next round.
pub(super) fn halving(
    size: u32,
    number: u32,
    mut round: u32,
    task: impl Fn(u32) -> u32,
    out: &mut dyn FnMut(Step),
) -> u32 {
    let (mut first, mut half) = (0, size / 2);
    while half > 0 {
        let upper = number & half != 0;
        let (kept, given) = if upper { (first + half, first) } else { (first, first + half) };
        let peer = task(number ^ half);
        out(Step { action: Action::Send, peer, pieces: (given, half), round });
        out(Step { action: Action::Combine, peer, pieces: (kept, half), round });
        (first, half, round) = (kept, half / 2, round + 1);
    }
    round
}

/// Recursive doubling over `size` numbers, a power of two: each begins with the piece of its number and ends with all.
/// Returns the next round.
pub(super) fn doubling(
    size: u32,
    number: u32,
    mut round: u32,
    task: impl Fn(u32) -> u32,
    out: &mut dyn FnMut(Step),
) -> u32 {
    let mut held = 1;
    while held < size {
        let first = number & !(held - 1);
        let peer = task(number ^ held);
        out(Step { action: Action::Send, peer, pieces: (first, held), round });
        out(Step { action: Action::Keep, peer, pieces: (first ^ held, held), round });
        (held, round) = (held * 2, round + 1);
    }
    round
}

/// Pieces that number 0 has go down a binomial tree of `size` numbers. `task(number)` gives the task. Returns the next
/// round.
pub(super) fn broadcast(
    size: u32,
    number: u32,
    round: u32,
    pieces: (u32, u32),
    task: impl Fn(u32) -> u32,
    out: &mut dyn FnMut(Step),
) -> u32 {
    let top = size.next_power_of_two();
    // The lowest 1 bit, beyond which the number itself gives on.
    let own = if number == 0 { top } else { number & number.wrapping_neg() };
    if number > 0 {
        out(Step { action: Action::Keep, peer: task(number - own), pieces, round: round + own.ilog2() });
    }
    let mut by = own / 2;
    while by > 0 {
        if number + by < size {
            out(Step { action: Action::Send, peer: task(number + by), pieces, round: round + by.ilog2() });
        }
        by /= 2;
    }
    round + top.ilog2()
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
