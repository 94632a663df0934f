//! Periods of a run that are not simulated, because the run repeats itself exactly.
//!
//! A source that works in rounds says when one begins. The whole state of source and network is compared with that of
//! an earlier round, which moves ahead by powers of two (Brent's algorithm), so that one state is held and any period
//! is found. When the state recurs, one more period is simulated, of which the record keeps every packet. If nothing in
//! it depended on a random draw and the state recurs again, every later period is the same until a task reaches its
//! last round: clocks, numbers and counts advance by all these periods at once, and the digest by hashing the packets
//! of each. The rest of the run is simulated.
//!
//! # How it departs from a run without it, and who could notice
//! In no figure. Observers of a run see its clock jump, so runs that are watched, and those that keep single messages,
//! packets or nodes, are simulated in full.
//!
//! Decision: docs/decisions/0280-repetition.md.

use std::sync::atomic::{AtomicBool, Ordering};

use trgen::recurrence::State;
use trgen::{Cycle, TrGen};

use crate::network::Network;

/// Rounds in which no state recurred, after which none is compared any more.
const MOST_ROUNDS: u64 = 1 << 14;
/// \[words\] Size of a state from which on states are not compared.
const MOST_WORDS: usize = 1 << 24;
/// \[packets\] Most packets of a period that are kept for the digest: 24 bytes each.
const MOST_RECEIPTS: usize = 1 << 23;
/// \[packets\] Packets that are hashed between two looks at whether the user has stopped the run.
const HASHED: u64 = 1 << 26;

/// What of a run was not simulated.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Skipped {
    /// Number of periods.
    pub periods: u64,
    /// \[cycles\] Length of all of them.
    pub cycles: u64,
}

/// The search for repetition, and what it found.
#[derive(Debug)]
pub(crate) struct Repetition {
    /// True if the digest covers periods that are skipped.
    has_digest: bool,
    /// The round of the source in which states were compared last.
    round: u64,
    stage: Stage,
    skipped: Skipped,
}

/// A state of the run, and when it occurred.
#[derive(Debug)]
struct Occurrence {
    at: Cycle,
    round: u64,
    words: Vec<u64>,
}

#[derive(Debug)]
enum Stage {
    /// Looks for a state that recurs. The number is that of rounds after which the state is replaced.
    Searching { anchor: Option<Occurrence>, rounds: u64 },
    /// Simulates a period that began with a state that recurs in so many rounds and cycles.
    Recording { begin: Occurrence, rounds: u64, cycles: u64 },
    /// Compares nothing any more.
    Over,
}

impl Repetition {
    pub(crate) const fn new(has_digest: bool) -> Self {
        let stage = Stage::Searching { anchor: None, rounds: 1 };
        Self { has_digest, round: 0, stage, skipped: Skipped { periods: 0, cycles: 0 } }
    }

    /// What has been skipped so far.
    pub(crate) const fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Compares the state at the beginning of a cycle, if the source has begun another round, and skips periods that do
    /// not go beyond cycle `until`.
    #[inline]
    pub(crate) fn look(&mut self, source: &mut dyn TrGen, network: &mut dyn Network, until: Cycle, stop: &AtomicBool) {
        if matches!(self.stage, Stage::Over) {
            return;
        }
        let Some(round) = source.round() else {
            self.stage = Stage::Over;
            return;
        };
        if round != self.round {
            self.round = round;
            self.compare(source, network, until, stop);
        }
    }

    /// Compares the state at the beginning of a round.
    #[cold]
    fn compare(&mut self, source: &mut dyn TrGen, network: &mut dyn Network, until: Cycle, stop: &AtomicBool) {
        let (at, round) = (network.clock(), self.round);
        let mut state = State::new(at);
        let is_whole = network.state(&mut state) && source.state(&mut state);
        let now = Occurrence { at, round, words: state.into_words() };
        self.stage = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Over => Stage::Over,
            _ if round > MOST_ROUNDS || now.words.len() > MOST_WORDS => {
                network.recorder_mut().drop_period();
                Stage::Over
            }
            Stage::Searching { anchor, rounds } => match anchor {
                Some(anchor) if is_whole && anchor.words == now.words => {
                    source.begin_period();
                    network.recorder_mut().begin_period(self.has_digest.then_some(MOST_RECEIPTS));
                    Stage::Recording { rounds: round - anchor.round, cycles: at.since(anchor.at), begin: now }
                }
                Some(anchor) if round - anchor.round < rounds => Stage::Searching { anchor: Some(anchor), rounds },
                _ => Stage::Searching { anchor: is_whole.then_some(now), rounds: rounds.saturating_mul(2) },
            },
            Stage::Recording { begin, rounds, cycles } => match (round - begin.round).cmp(&rounds) {
                std::cmp::Ordering::Less if is_whole => Stage::Recording { begin, rounds, cycles },
                std::cmp::Ordering::Equal if is_whole && at.since(begin.at) == cycles && begin.words == now.words => {
                    self.skip(source, network, cycles, until, stop);
                    Stage::Over
                }
                // Something depended on a draw.
                _ => {
                    network.recorder_mut().drop_period();
                    Stage::Searching { anchor: None, rounds: 1 }
                }
            },
        };
    }

    /// Skips as many periods of so many cycles as there are.
    fn skip(
        &mut self,
        source: &mut dyn TrGen,
        network: &mut dyn Network,
        cycles: u64,
        until: Cycle,
        stop: &AtomicBool,
    ) {
        let end = until.min(network.last());
        let most = source.periods_left().min(end.since(network.clock()) / cycles.max(1));
        let recorder = network.recorder_mut();
        let mut packets = recorder.period_packets();
        let mut times = most;
        if self.has_digest {
            let Some(receipts) = recorder.period_receipts() else {
                recorder.drop_period();
                return;
            };
            times = 0;
            while times < most && !stop.load(Ordering::Relaxed) {
                let some = (HASHED / (receipts as u64).max(1)).clamp(1, most - times);
                recorder.digest_period(some, cycles, &packets);
                times += some;
            }
        }
        recorder.repeat_period(times);
        packets.iter_mut().for_each(|packets| *packets *= times);
        network.pass_periods(times * cycles, &packets);
        source.repeat(times, times * cycles);
        self.skipped = Skipped { periods: times, cycles: times * cycles };
    }
}
