//! Arbitration among inputs that request the same output.

use trgen::choices;
use trgen::rng::{Purpose, mix2, pick};

const FSIN: &str = "FSIN (INSEE), arbitration modes";

choices! {
    /// The policy by which an arbiter chooses one of the contenders for an output.
    pub enum Arbitration: "arbitration" in ARBITRATIONS {
        RoundRobin = "rr", "round robin: the first after the last winner, in the order of the inputs", FSIN;
        Fifo = "fifo",
            "the header that has stood at the head of its queue for the longest time; of equals the first input", FSIN;
        Longest = "longest", "the input queue with most phits; equals in turn", FSIN;
        Random = "random", "any of those that ask, drawn", FSIN;
        Age = "age", "the packet that entered its source buffer first; of equals the first input", FSIN;
        HighestVc = "highest-vc",
            "the transit queue of the highest virtual channel, injection queues last; equals in turn", FSIN;
    }
}

/// How a policy chooses.
enum Rule {
    /// The first contender after the last winner.
    InTurn,
    /// Any contender, drawn.
    Drawn,
    /// The contender of least rank; of equals the first after the last winner.
    LeastInTurn(fn(&Contender) -> u64),
    /// The contender with the lowest rank. Of several, the input with the lowest number.
    LeastFirst(fn(&Contender) -> u64),
}

impl Arbitration {
    /// The rule of this policy.
    const fn rule(self) -> Rule {
        match self {
            Self::RoundRobin => Rule::InTurn,
            Self::Fifo => Rule::LeastFirst(|one| one.since),
            Self::Longest => Rule::LeastInTurn(|one| u64::from(u32::MAX - one.phits)),
            Self::Random => Rule::Drawn,
            Self::Age => Rule::LeastFirst(|one| one.start),
            Self::HighestVc => Rule::LeastInTurn(|one| u64::from(u8::MAX) - one.vc.map_or(0, |vc| u64::from(vc) + 1)),
        }
    }
}

/// A requesting input as an arbiter sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contender {
    /// \[cycle\] Cycle in which the input's header made its first request.
    pub since: u64,
    /// \[phits\] Number of phits in the input's queue.
    pub phits: u32,
    /// \[cycle\] Cycle from which the packet's delay counts.
    pub start: u64,
    /// The virtual channel of a transit queue; `None` for an injection queue.
    pub vc: Option<u8>,
}

/// Random stream of (run seed, node, output, cycle) for draws of an arbiter.
#[must_use]
pub const fn arbiter_key(seed: u64, node: u32, output: usize, now: u64) -> u64 {
    mix2(mix2(mix2(seed, node as u64), output as u64), now)
}

/// Draws, with this probability, whether transit queues take precedence over injection queues.
#[must_use]
pub fn transit_first(key: u64, probability: f64) -> bool {
    f64::from(pick(key, 1 << 24)) < probability * f64::from(1 << 24)
}

/// Round robin: the first contender after the last winner, in the order of the inputs, cyclically.
///
/// `asks(input)` says whether an input contends. Returns `None` if there is no contender.
pub fn round_robin(inputs: usize, last_winner: usize, asks: impl Fn(usize) -> bool) -> Option<usize> {
    (1..=inputs).map(|step| (last_winner + step) % inputs).find(|&input| asks(input))
}

/// The winner among the requesting inputs. `key` is that of [`arbiter_key`].
///
/// Returns `None` if no input makes a request.
pub fn winner(
    mode: Arbitration,
    inputs: usize,
    last_winner: usize,
    key: u64,
    asks: impl Fn(usize) -> bool,
    contender: impl Fn(usize) -> Contender,
) -> Option<usize> {
    let asking = || (0..inputs).filter(|&input| asks(input));
    let (rank, last_winner) = match mode.rule() {
        Rule::InTurn => return round_robin(inputs, last_winner, asks),
        Rule::Drawn => {
            let count = asking().count() as u32;
            return asking().nth(pick(mix2(key, Purpose::Output as u64), count) as usize);
        }
        Rule::LeastInTurn(rank) => (rank, last_winner),
        // Transit queues in the order of ports come before injection queues.
        Rule::LeastFirst(rank) => (rank, inputs - 1),
    };
    let least = asking().map(|input| rank(&contender(input))).min()?;
    round_robin(inputs, last_winner, |input| asks(input) && rank(&contender(input)) == least)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neighbouring seeds do not give the same draws at other nodes.
    #[test]
    fn every_seed_has_draws_of_its_own() {
        let keys = |seed| (0..64).map(move |node| arbiter_key(seed, node, 3, 100));
        let first: std::collections::HashSet<u64> = keys(0).collect();
        assert!((1..64).all(|seed| !keys(seed).any(|key| first.contains(&key))));
    }

    #[test]
    fn everybody_who_asks_is_served_in_turn() {
        let asks = |input: usize| [1, 2, 4].contains(&input);
        let mut last = 0;
        let mut served = Vec::new();
        for _ in 0..6 {
            last = round_robin(5, last, asks).unwrap();
            served.push(last);
        }
        assert_eq!(served, [1, 2, 4, 1, 2, 4]);
        assert_eq!(round_robin(5, 3, |_| false), None);
    }

    #[test]
    fn every_mode_serves_the_input_that_it_names() {
        let contenders = [
            Contender { since: 5, phits: 8, start: 1, vc: Some(0) },
            Contender { since: 3, phits: 4, start: 3, vc: Some(2) },
            Contender { since: 4, phits: 9, start: 2, vc: Some(1) },
            Contender { since: 3, phits: 9, start: 2, vc: None },
        ];
        let serve = |mode, last| winner(mode, 4, last, 7, |_| true, |input| contenders[input]);
        for (mode, last, expected) in [
            (Arbitration::RoundRobin, 1, 2),
            (Arbitration::Fifo, 0, 1),
            (Arbitration::Fifo, 1, 1),
            (Arbitration::Longest, 0, 2),
            (Arbitration::Longest, 2, 3),
            (Arbitration::Age, 2, 0),
            (Arbitration::HighestVc, 3, 1),
        ] {
            assert_eq!(serve(mode, last), Some(expected), "{mode:?} after {last}");
        }
        let drawn =
            |key| winner(Arbitration::Random, 4, 0, mix2(key, 1), |input| input != 2, |input| contenders[input]);
        let mut counts = [0u32; 4];
        (0..30_000).filter_map(drawn).for_each(|input| counts[input] += 1);
        assert!([0, 1, 3].iter().all(|&input| (9_700..10_300).contains(&counts[input])), "{counts:?}");
        assert_eq!(winner(Arbitration::Random, 4, 0, 7, |_| false, |input| contenders[input]), None);
    }
}
