//! Spreads whose choice depends on state of the switch: grades of queues, and orders of outputs.

use trgen::rng::{mix2, pick};

use crate::spread::Kept;

/// \[bytes\] Smallest frame that counts as data, for grades and for rounds.
const LEAST: [u16; 2] = [100, 128];
/// \[ps\] A grade is renewed when it is older.
const RENEWAL: u64 = 100_000;
/// Shares of the room of a queue below which its grade is 0, 1 and 2.
const GRADES: [f64; 3] = [0.05, 0.1, 0.2];
/// One more than the worst grade.
const WORST: u8 = 4;

/// The grade of an output.
#[derive(Clone, Copy, Default, Debug)]
struct Grade {
    grade: u8,
    /// \[ps\] When it was determined, plus one; 0 if never.
    at: u64,
}

/// An order of outputs.
#[derive(Clone, Default, Debug)]
struct Order {
    outputs: Vec<u32>,
    next: usize,
}

/// State of switches for such spreads.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    rule: Kept,
    seed: u64,
    /// \[bytes\] By port: room of its queue.
    rooms: Vec<u64>,
    grades: Vec<Grade>,
    /// By the index of the first output of a set: the order of its outputs.
    orders: Vec<Order>,
    /// By switch: number of draws so far.
    draws: Vec<u64>,
}

impl Choices {
    pub(crate) fn new(rule: Kept, seed: u64, rooms: Vec<u64>, switches: usize) -> Self {
        const PURPOSE: u64 = 0x6b65_7074;
        let ports = rooms.len();
        Self {
            rule,
            seed: mix2(seed, PURPOSE),
            rooms,
            grades: vec![Grade::default(); ports],
            orders: Vec::new(),
            draws: vec![0; switches],
        }
    }

    /// Sets of outputs have changed.
    pub(crate) fn forget_orders(&mut self) {
        self.orders.clear();
    }

    fn draw(&mut self, switch: usize, below: u32) -> u32 {
        self.draws[switch] += 1;
        pick(mix2(mix2(self.seed, switch as u64), self.draws[switch]), below)
    }

    /// The output that a frame of `bytes` bytes takes, of a set whose first has index `first`. `hashed` is the choice
    /// of the hash; `length` gives the bytes of a queue, the frame in transmission included.
    pub(crate) fn choose(
        &mut self,
        switch: usize,
        (first, outputs): (usize, &[u32]),
        hashed: u32,
        bytes: u16,
        now: u64,
        length: impl Fn(usize) -> u64,
    ) -> u32 {
        match self.rule {
            Kept::Adaptive if bytes >= LEAST[0] => {
                let best = outputs.iter().map(|&output| self.grade(output, now, &length)).min().unwrap_or(0);
                self.drawn(switch, outputs, best)
            }
            Kept::HashAdaptive => {
                if self.draw(switch, 2) != 0 {
                    return hashed;
                }
                let grades = outputs.iter().map(|&output| self.grade(output, now, &length));
                let (best, worst) = grades.fold((WORST, 0), |(best, worst), grade| (best.min(grade), worst.max(grade)));
                if self.grade(hashed, now, &length) == worst && best < worst {
                    return self.drawn(switch, outputs, best);
                }
                hashed
            }
            Kept::RoundRobin if bytes >= LEAST[1] => self.in_turn(switch, first, outputs),
            _ => hashed,
        }
    }

    /// One of the outputs of a grade.
    fn drawn(&mut self, switch: usize, outputs: &[u32], grade: u8) -> u32 {
        let is_it = |output: &&u32| self.grades[**output as usize].grade == grade;
        let count = outputs.iter().filter(is_it).count();
        let nth = if count > 1 { self.draw(switch, count as u32) } else { 0 };
        let is_it = |output: &&u32| self.grades[**output as usize].grade == grade;
        outputs.iter().filter(is_it).nth(nth as usize).copied().unwrap_or(outputs[0])
    }

    fn grade(&mut self, output: u32, now: u64, length: &impl Fn(usize) -> u64) -> u8 {
        let port = output as usize;
        let of = self.grades[port];
        if of.at == 0 || now + 1 - of.at > RENEWAL {
            let share = length(port) as f64 / self.rooms[port].max(1) as f64;
            let grade = GRADES.iter().filter(|&&bound| share >= bound).count() as u8;
            self.grades[port] = Grade { grade, at: now + 1 };
        }
        self.grades[port].grade
    }

    fn in_turn(&mut self, switch: usize, first: usize, outputs: &[u32]) -> u32 {
        if self.orders.len() <= first {
            self.orders.resize(first + 1, Order::default());
        }
        let mut order = std::mem::take(&mut self.orders[first]);
        if order.next == order.outputs.len() {
            order.outputs = outputs.to_vec();
            order.next = 0;
            for at in (1..order.outputs.len()).rev() {
                let other = self.draw(switch, at as u32 + 1) as usize;
                order.outputs.swap(at, other);
            }
        }
        let output = order.outputs[order.next];
        order.next += 1;
        self.orders[first] = order;
        output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(rule: Kept) -> Choices {
        Choices::new(rule, 1, vec![10_000; 8], 1)
    }

    #[test]
    fn each_round_takes_every_output_once_and_short_frames_follow_the_hash() {
        let mut choices = choices(Kept::RoundRobin);
        let outputs = [1, 2, 3, 4];
        for _ in 0..5 {
            let mut round: Vec<u32> = (0..4).map(|_| choices.choose(0, (0, &outputs), 1, 1_500, 0, |_| 0)).collect();
            round.sort_unstable();
            assert_eq!(round, outputs);
        }
        assert_eq!(choices.choose(0, (0, &outputs), 3, 64, 0, |_| 0), 3);
    }

    #[test]
    fn the_lowest_grade_is_taken_and_grades_last() {
        let mut choices = choices(Kept::Adaptive);
        let length = |port: usize| [0, 499, 500, 999, 2_000][port];
        let mut take =
            |now, length: &dyn Fn(usize) -> u64| choices.choose(0, (0, &[1, 2, 3, 4]), 4, 1_500, now, length);
        assert!((0..20).all(|now| take(now, &length) == 1));
        // Grades stay valid for 100 ns.
        assert_eq!(take(100_000, &|port| if port == 4 { 0 } else { 5_000 }), 1);
        assert_eq!(take(100_001, &|port| if port == 4 { 0 } else { 5_000 }), 4);
    }

    #[test]
    fn every_second_frame_leaves_the_worst_output() {
        let mut choices = choices(Kept::HashAdaptive);
        let length = |port: usize| if port == 2 { 9_000 } else { 0 };
        let left = (0..1_000).filter(|_| choices.choose(0, (0, &[1, 2]), 2, 1_500, 0, length) == 1).count();
        assert!((400..600).contains(&left), "{left}");
        assert!((0..20).all(|_| choices.choose(0, (0, &[1, 2]), 1, 1_500, 0, length) == 1));
    }
}
