//! Steps, and the parts of which algorithms consist. A **task** is a rank of the group.

/// One message of one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// What the task does.
    pub action: Action,
    /// The other task.
    pub peer: u32,
    /// The first piece, and how many.
    pub pieces: (u32, u32),
    /// The same number for the send and the receive of a message.
    pub round: u32,
}

/// The action of a task in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Sends data.
    Send,
    /// Receives data and adds them to those present.
    Combine,
    /// Receives data, which replace those present.
    Keep,
}

/// A ring of tasks along which parts of the vector travel.
#[derive(Clone, Copy)]
pub(crate) struct Ring {
    /// Number of tasks on the ring.
    pub(crate) size: u32,
    /// Position of this task on the ring.
    pub(crate) place: u32,
    /// The task before this one.
    pub(crate) before: u32,
    /// The task after this one.
    pub(crate) after: u32,
    /// The first of the pieces that are cut into `size` equal parts.
    pub(crate) first: u32,
    /// Number of pieces per part.
    pub(crate) part: u32,
}

impl Ring {
    /// The ring of all tasks, one piece for each.
    pub(crate) const fn all(size: u32, task: u32) -> Self {
        Self { size, place: task, before: (task + size - 1) % size, after: (task + 1) % size, first: 0, part: 1 }
    }

    /// The ring of the `size` consecutive tasks of a task's group, with `part` pieces for each.
    pub(crate) const fn within(size: u32, task: u32, part: u32) -> Self {
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
    pub(crate) fn reduce_scatter(&self, round: u32, out: &mut dyn FnMut(Step)) -> u32 {
        for step in 0..self.size - 1 {
            let round = round + step;
            out(Step { action: Action::Send, peer: self.after, pieces: self.part_behind(step + 1), round });
            out(Step { action: Action::Combine, peer: self.before, pieces: self.part_behind(step + 2), round });
        }
        round + self.size - 1
    }

    /// Position p starts with part p, which travels once round the ring. Returns the next round.
    pub(crate) fn all_gather(&self, round: u32, out: &mut dyn FnMut(Step)) -> u32 {
        for step in 0..self.size - 1 {
            let round = round + step;
            out(Step { action: Action::Send, peer: self.after, pieces: self.part_behind(step), round });
            out(Step { action: Action::Keep, peer: self.before, pieces: self.part_behind(step + 1), round });
        }
        round + self.size - 1
    }
}

/// Number of tasks that take part in exchanges: the largest power of two that does not exceed the number of tasks.
pub(crate) const fn core(size: u32) -> u32 {
    1 << size.ilog2()
}

/// Role of a task after folding: among the first pairs of tasks, as many as there are tasks beyond a power of two, the
/// second task takes part for both.
enum Folded {
    /// Gives its vector to the next task and receives the result from it.
    Out,
    /// Takes part under this number; if `pair`, for the preceding task too.
    In { number: u32, pair: bool },
}

/// The role of a task after folding.
const fn fold(size: u32, task: u32) -> Folded {
    let beyond = size - core(size);
    if task >= 2 * beyond {
        Folded::In { number: task - beyond, pair: false }
    } else if task % 2 == 1 {
        Folded::In { number: task / 2, pair: true }
    } else {
        Folded::Out
    }
}

/// The task that takes part under a number.
pub(crate) const fn unfold(size: u32, number: u32) -> u32 {
    let beyond = size - core(size);
    if number < beyond { 2 * number + 1 } else { number + beyond }
}

/// Extends `exchange`, an all-reduce among a power of two of tasks, to any number of tasks.
/// The rounds of the exchange begin at 1; `last` is the round after them.
pub(crate) fn folded(
    size: u32,
    task: u32,
    pieces: u32,
    last: u32,
    out: &mut dyn FnMut(Step),
    exchange: impl Fn(u32, &mut dyn FnMut(Step)),
) {
    let whole = (0, pieces);
    match fold(size, task) {
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
pub(crate) fn halving(
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
pub(crate) fn doubling(
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
pub(crate) fn broadcast(
    size: u32,
    number: u32,
    round: u32,
    pieces: (u32, u32),
    task: impl Fn(u32) -> u32,
    out: &mut dyn FnMut(Step),
) -> u32 {
    let top = size.next_power_of_two();
    // The lowest bit that is set: a number receives from the one without it, and sends to those with one lower bit more.
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

/// Sizes in descending order with this product and the smallest largest size; among those, the smallest second one.
pub(crate) fn squarest(tasks: u32, dimensions: usize) -> Vec<u32> {
    if dimensions == 1 {
        return vec![tasks];
    }
    let divisors = (1..=tasks.isqrt()).filter(|d| tasks.is_multiple_of(*d)).flat_map(|d| [d, tasks / d]);
    divisors
        .map(|first| {
            let mut grid = vec![first];
            grid.extend(squarest(tasks / first, dimensions - 1));
            grid.sort_unstable_by(|a, b| b.cmp(a));
            grid
        })
        .min()
        .unwrap_or_else(|| vec![tasks; 1])
}
