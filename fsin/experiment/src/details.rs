//! How long messages take, and how long they would take alone.
//!
//! Decision: docs/decisions/0156-time-of-a-message-alone.md.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use trgen::{Cycle, Message, NodeId};

use crate::Experiment;
use crate::execute::network;
use crate::resolve::Ideal;
use fsin_core::network::{Injected, Network, Notices};
use fsin_core::stats::{Completed, Details};

/// Maximum number of different messages (source, destination, bytes) that are run alone.
const MOST_ALONE: usize = 1 << 17;

/// \[cycles\] Longest run of a message alone. One that takes longer, such as one lost on damaged links, has no time.
const LONGEST: u64 = 1 << 40;

/// A message that arrived while measuring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageTime {
    /// The message, and when it was generated and delivered.
    pub of: Completed,
    /// \[cycles\] Its ideal time: what the message takes alone in the same network, or that of a formula; `None` if that
    /// was not found. Where a message alone has no single time, the least that one like it took, if that is less.
    pub alone_cycles: Option<u64>,
}

impl MessageTime {
    /// \[cycles\] Time from its generation to its delivery, or to its acknowledgement where that completes it.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.of.acknowledged.unwrap_or(self.of.delivered).since(self.of.generated)
    }

    /// Its time over that of the same message alone.
    #[must_use]
    pub fn slowdown(&self) -> Option<f64> {
        // Where a message alone arrives in the cycle of its generation, a cycle is the least difference.
        self.alone_cycles.map(|alone| self.cycles().max(1) as f64 / alone.max(1) as f64)
    }
}

/// The messages of a run that were delivered while measuring. Each different one is run alone over an empty network of
/// the experiment: the result is exact for any model, and random routings have one of their times.
pub(crate) fn message_times(experiment: &Experiment, details: &Details, stop: &AtomicBool) -> Vec<MessageTime> {
    let mut completed = details.completed();
    let is_acked = experiment.network.completes_when_acknowledged();
    if is_acked {
        completed.retain(|one| one.acknowledged.is_some());
    }
    if let (Ideal::Hpcc, Some(mut ideal)) = (experiment.ideal, experiment.network.hpcc_ideal()) {
        return completed.into_iter().map(|of| MessageTime { of, alone_cycles: ideal(&of.message) }).collect();
    }
    let mut known: HashMap<(NodeId, NodeId, u64, u8), Option<u64>> = HashMap::new();
    let mut empty = network(experiment).ok();
    let mut alone = |message: Message| {
        let like = (message.source, message.destination, message.bytes, message.class);
        if let Some(&time) = known.get(&like) {
            return time;
        }
        if known.len() >= MOST_ALONE || stop.load(Ordering::Relaxed) {
            return None;
        }
        let number = known.len() as u64;
        let time = empty
            .as_mut()
            .and_then(|network| run_alone(&mut **network, Message { id: number, ..message }, is_acked, stop));
        if time.is_none() {
            // What is left of a lost message would disturb the next one.
            empty = network(experiment).ok();
        }
        known.insert(like, time);
        time
    };
    let mut times: Vec<MessageTime> =
        completed.into_iter().map(|of| MessageTime { of, alone_cycles: alone(of.message) }).collect();
    if !experiment.network.has_one_time_alone() {
        least_of_like(&mut times);
    }
    times
}

/// Limits the ideal time of similar messages to the least time that one of them took: the time of a message alone
/// depends on its random path, on transmission errors, on learnt addresses, and on its phase within a tick.
fn least_of_like(times: &mut [MessageTime]) {
    let mut least: HashMap<(NodeId, NodeId, u64, u8), u64> = HashMap::new();
    let like = |time: &MessageTime| {
        let Message { source, destination, bytes, class, .. } = time.of.message;
        (source, destination, bytes, class)
    };
    for time in &*times {
        least.entry(like(time)).and_modify(|least| *least = time.cycles().min(*least)).or_insert(time.cycles());
    }
    for time in times {
        let seen = least.get(&like(time)).copied();
        time.alone_cycles = time.alone_cycles.map(|alone| seen.map_or(alone, |seen| alone.min(seen)));
    }
}

/// \[cycles\] Time of a message over an empty network; `None` if it does not arrive, or the user stops the run before.
fn run_alone(network: &mut dyn Network, message: Message, is_acked: bool, stop: &AtomicBool) -> Option<u64> {
    let start = network.clock();
    let until = Cycle(start.0.saturating_add(LONGEST));
    if network.inject(message) != Injected::Accepted {
        return None;
    }
    let offered = network.instant(start);
    let mut notices = Notices::default();
    let mut time = None;
    // What follows a delivery, such as an acknowledgement, must be over before the next message.
    while network.clock() < until && (time.is_none() || !network.is_idle()) {
        network.advance(until, &mut notices).ok()?;
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        if !notices.dropped.is_empty() {
            return None;
        }
        let arrived = notices.delivered.iter().find(|delivery| delivery.message.id == message.id);
        time = time.or(arrived.map(|delivery| delivery.delivered.since(offered)));
        if notices.is_empty() && network.is_idle() && time.is_none() {
            return None;
        }
    }
    // The network is empty when it is acknowledged.
    if is_acked { time.map(|_| network.instant(network.clock()).since(offered)) } else { time }
}
