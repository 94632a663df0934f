//! Balancers: which entropy a sender gives each frame, by which switches choose its path.
//!
//! State machines of a connection, independent of network and engine. An entropy is below the number of paths, a power
//! of two; upper bits that the connection draws once are added to it. Draws depend on the seed of the connection alone.
//!
//! Sources: Le, Dhakal, Bonato and others, *REPS: Recycled Entropy Packet Spraying*, 2024; Ultra Ethernet Specification
//! 1.0, 3.6.15; Handley and others, NDP, SIGCOMM 2017 (permutations).

use std::collections::VecDeque;

use trgen::rng::{mix2, pick};

use crate::rules::frame::Trimmed;

/// \[ps\] For how long REPS is frozen after a time-out.
const FROZEN: u64 = 10_000_000_000;
/// Length of the ring of REPS.
const RING: usize = 8;
/// Number of entropies that are drawn after REPS was frozen.
const THAWED: u32 = 16;
/// The highest penalty of an entropy.
const WORST: u8 = 15;

/// The rule of a balancer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Each entropy in turn, in a random order.
    Oblivious,
    /// The same, with penalties for entropies whose frames were marked, trimmed or timed out.
    Bitmap,
    /// Entropies whose frames came through unmarked are used again: a ring of 8.
    Reps,
    /// The same with an unbounded list, after one round of all entropies.
    RepsLegacy,
    /// Entropies that came through, else [`Bitmap`](Self::Bitmap).
    Mixed,
    /// One entropy.
    Single,
    /// Permutations of all entropies, one after the other.
    Cycle,
}

/// A balancer with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Balancing {
    /// The rule.
    pub rule: Rule,
    /// Number of entropies: a power of two.
    pub paths: u32,
    /// True if orders are random; otherwise entropies are used in the order of their numbers.
    pub draws: bool,
}

/// Outcome of a data frame, as the source learns it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Clear,
    Marked,
    Trimmed,
    TimedOut,
}

impl Fate {
    /// Of a frame that has arrived, or what is left of it: no path avoids the port to the destination.
    pub(crate) const fn of(trimmed: Trimmed, is_marked: bool) -> Self {
        match (trimmed, is_marked) {
            (Trimmed::Midway, _) => Self::Trimmed,
            (Trimmed::No | Trimmed::LastHop, true) => Self::Marked,
            (Trimmed::No | Trimmed::LastHop, false) => Self::Clear,
        }
    }
}

/// Draws of a connection.
#[derive(Clone, Debug)]
struct Draws {
    seed: u64,
    count: u64,
}

impl Draws {
    fn below(&mut self, limit: u32) -> u32 {
        self.count += 1;
        pick(mix2(self.seed, self.count), limit)
    }
}

/// A permutation of entropies.
#[derive(Clone, Debug)]
struct Cycle {
    order: Vec<u16>,
    next: usize,
}

/// The balancer of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Balancer {
    of: Balancing,
    draws: Draws,
    /// Upper bits of each entropy.
    upper: u16,
    /// XORed with the turn to give the entropy.
    twist: u32,
    turn: u32,
    penalties: Box<[u8]>,
    /// Entropies of unmarked frames, to be used again.
    list: VecDeque<u16>,
    ring: Ring,
    /// Frames sent so far.
    sent: u64,
    cycle: Option<Cycle>,
}

/// The ring of REPS.
#[derive(Clone, Default, Debug)]
struct Ring {
    entropies: [u16; RING],
    /// Where the next entropy is stored, how many are stored, and how many of these, the latest, are unused.
    head: usize,
    length: usize,
    fresh: usize,
    /// \[ps\] End of the freeze; 0 if it is not frozen.
    frozen: u64,
    /// The place that is used next while it is frozen.
    thaw: usize,
    /// Number of entropies still to be drawn after a freeze.
    drawn: u32,
}

impl Balancer {
    pub(crate) fn new(of: Balancing, seed: u64) -> Self {
        let mut draws = Draws { seed, count: 0 };
        let paths = if of.rule == Rule::Single { 1 } else { of.paths };
        let of = Balancing { paths, ..of };
        let (mut upper, mut twist) = (0, 0);
        if of.draws {
            upper = (draws.below(1 << 16) & !(paths - 1)) as u16;
            twist = draws.below(paths);
        }
        let has_penalties = matches!(of.rule, Rule::Bitmap | Rule::Mixed);
        let mut this = Self {
            of,
            draws,
            upper,
            twist,
            turn: 0,
            penalties: vec![0; if has_penalties { paths as usize } else { 0 }].into(),
            list: VecDeque::new(),
            ring: Ring::default(),
            sent: 0,
            cycle: None,
        };
        if of.rule == Rule::Cycle {
            let mut cycle = Cycle { order: (0..paths as u16).collect(), next: 0 };
            this.shuffle(&mut cycle.order);
            this.cycle = Some(cycle);
        }
        this
    }

    /// The same from its second element on.
    pub(crate) fn beginning_second(mut self) -> Self {
        self.skip();
        self
    }

    fn shuffle(&mut self, order: &mut [u16]) {
        if self.of.draws {
            for at in (1..order.len()).rev() {
                order.swap(at, self.draws.below(at as u32 + 1) as usize);
            }
        }
    }

    /// Uses up one element of a cycle.
    pub(crate) fn skip(&mut self) {
        let Some(mut cycle) = self.cycle.take() else { return };
        cycle.next += 1;
        if cycle.next == cycle.order.len() {
            self.shuffle(&mut cycle.order);
            cycle.next = 0;
        }
        self.cycle = Some(cycle);
    }

    /// The next entropy in turn.
    fn step(&mut self) -> u32 {
        let entropy = self.turn ^ self.twist;
        self.turn += 1;
        if self.turn == self.of.paths {
            self.turn = 0;
            if self.of.draws {
                self.twist = self.draws.below(self.of.paths);
            }
        }
        entropy
    }

    fn without_penalty(&mut self) -> u32 {
        let mut entropy = self.step();
        if self.penalties[entropy as usize] == 0 {
            return entropy;
        }
        self.penalties[entropy as usize] -= 1;
        for _ in 0..=self.of.paths {
            entropy = self.step();
            if self.penalties[entropy as usize] == 0 {
                break;
            }
        }
        entropy
    }

    fn drawn(&mut self) -> u32 {
        if self.of.draws { self.draws.below(self.of.paths) } else { self.step() }
    }

    /// The entropy of the next frame, with a window of `window` frames.
    #[inline]
    pub(crate) fn next(&mut self, window: u64) -> u16 {
        let entropy = match self.of.rule {
            Rule::Single => 0,
            Rule::Oblivious => self.step(),
            Rule::Bitmap => self.without_penalty(),
            Rule::Mixed => match self.list.pop_front() {
                Some(entropy) => entropy.into(),
                None => self.without_penalty(),
            },
            Rule::RepsLegacy if self.sent < window.min(self.of.paths.into()) => {
                (self.sent as u32 + 1) & (self.of.paths - 1)
            }
            Rule::RepsLegacy => match self.list.pop_front() {
                Some(entropy) => entropy.into(),
                None => self.drawn(),
            },
            Rule::Reps => self.of_ring(),
            Rule::Cycle => {
                let entropy = self.cycle.as_ref().map_or(0, |cycle| cycle.order[cycle.next].into());
                self.skip();
                entropy
            }
        };
        self.sent += 1;
        self.upper | entropy as u16
    }

    fn of_ring(&mut self) -> u32 {
        let ring = &mut self.ring;
        if ring.frozen > 0 && ring.length > 0 {
            let entropy = ring.entropies[ring.thaw];
            ring.thaw = (ring.thaw + 1) % ring.length;
            return entropy.into();
        }
        if ring.drawn > 0 || ring.fresh == 0 {
            ring.drawn = ring.drawn.saturating_sub(1);
            return self.drawn();
        }
        let at = (ring.head + RING - ring.fresh) % RING;
        ring.fresh -= 1;
        ring.entropies[at].into()
    }

    /// Handles the outcome, at time `now`, of a frame with an entropy. `trims` is true if switches trim.
    pub(crate) fn learn(&mut self, entropy: u16, fate: Fate, now: u64, trims: bool) {
        let entropy = entropy & (self.of.paths - 1) as u16;
        if let Some(penalty) = self.penalties.get_mut(usize::from(entropy)) {
            let more = match fate {
                Fate::Clear => 0,
                Fate::Marked => 1,
                Fate::Trimmed => 4,
                Fate::TimedOut => WORST,
            };
            *penalty = (*penalty + more).min(WORST);
        }
        match self.of.rule {
            Rule::Mixed | Rule::RepsLegacy if fate == Fate::Clear => self.list.push_back(entropy),
            Rule::Reps => self.ring.learn(entropy, fate, now, trims),
            _ => {}
        }
    }
}

impl Ring {
    fn learn(&mut self, entropy: u16, fate: Fate, now: u64, trims: bool) {
        if fate == Fate::TimedOut {
            // Without trimming, time-outs are ordinary losses and not a sign of a failed path.
            if trims && self.frozen == 0 {
                (self.frozen, self.thaw) = (now.saturating_add(FROZEN), 0);
            }
            return;
        }
        if self.frozen > 0 && now >= self.frozen {
            *self = Self { drawn: THAWED, ..Self::default() };
        }
        if fate == Fate::Clear {
            self.entropies[self.head] = entropy;
            self.head = (self.head + 1) % RING;
            self.length = (self.length + 1).min(RING);
            self.fresh = (self.fresh + 1).min(RING);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balancer(rule: Rule, paths: u32) -> Balancer {
        Balancer::new(Balancing { rule, paths, draws: false }, 1)
    }

    fn take(balancer: &mut Balancer, count: usize) -> Vec<u16> {
        (0..count).map(|_| balancer.next(100)).collect()
    }

    #[test]
    fn each_in_turn_and_penalties_are_paid_off() {
        assert_eq!(take(&mut balancer(Rule::Oblivious, 4), 6), [0, 1, 2, 3, 0, 1]);
        assert_eq!(take(&mut balancer(Rule::Single, 4), 3), [0, 0, 0]);
        let mut bitmap = balancer(Rule::Bitmap, 4);
        bitmap.learn(1, Fate::Trimmed, 0, true);
        bitmap.learn(2, Fate::Marked, 0, true);
        // Entropy 1 is skipped four times, and 2 is passed over without a decrement; then it is skipped once.
        assert_eq!(take(&mut bitmap, 14), [0, 3, 0, 3, 0, 3, 0, 3, 0, 1, 3, 0, 1, 2]);
        bitmap.learn(0, Fate::TimedOut, 0, true);
        bitmap.learn(0, Fate::TimedOut, 0, true);
        assert_eq!(bitmap.penalties[0], WORST);
        (0..4).for_each(|entropy| bitmap.learn(entropy, Fate::TimedOut, 0, true));
        assert_eq!(take(&mut bitmap, 1).len(), 1, "where all have penalties the search ends");
    }

    #[test]
    fn what_came_through_is_used_again() {
        let mut mixed = balancer(Rule::Mixed, 8);
        mixed.learn(5, Fate::Clear, 0, true);
        mixed.learn(6, Fate::Marked, 0, true);
        assert_eq!(take(&mut mixed, 3), [5, 0, 1]);
        let mut legacy = balancer(Rule::RepsLegacy, 4);
        legacy.learn(2, Fate::Clear, 0, true);
        assert_eq!(take(&mut legacy, 6), [1, 2, 3, 0, 2, 0]);
        let mut reps = balancer(Rule::Reps, 16);
        (0..10).for_each(|entropy| reps.learn(entropy, Fate::Clear, 0, true));
        assert_eq!(take(&mut reps, 9), [2, 3, 4, 5, 6, 7, 8, 9, 0], "the oldest two are overwritten");
    }

    #[test]
    fn a_time_out_freezes_the_ring_where_switches_trim() {
        let mut reps = balancer(Rule::Reps, 16);
        [4, 7].into_iter().for_each(|entropy| reps.learn(entropy, Fate::Clear, 0, true));
        reps.learn(0, Fate::TimedOut, 5, false);
        assert_eq!(take(&mut reps, 1), [4]);
        reps.learn(0, Fate::TimedOut, 5, true);
        assert_eq!(take(&mut reps, 3), [4, 7, 4]);
        reps.learn(9, Fate::Clear, FROZEN + 5, true);
        let drawn = take(&mut reps, THAWED as usize);
        assert_eq!((drawn, take(&mut reps, 1)), ((0..16).collect(), vec![9]));
    }

    #[test]
    fn a_cycle_is_a_permutation_in_every_round() {
        assert_eq!(take(&mut balancer(Rule::Cycle, 4).beginning_second(), 5), [1, 2, 3, 0, 1]);
        let mut drawn = Balancer::new(Balancing { rule: Rule::Cycle, paths: 16, draws: true }, 7);
        for _ in 0..3 {
            let mut round: Vec<u16> = take(&mut drawn, 16).into_iter().map(|entropy| entropy & 15).collect();
            round.sort_unstable();
            assert_eq!(round, (0..16).collect::<Vec<u16>>());
        }
    }
}
