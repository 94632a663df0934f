//! The report of a live run.

use std::time::{Duration, Instant};

use crate::clock::Time;
use crate::protocol::Class;

use super::guest::Guest;
use super::hub::Hub;
use super::latency::Latency;
use super::pace::{Behind, Pace};
use super::state::{Mark, State};
use super::sync::{SyncCounts, Synchronised};
use super::trail::{Trail, Waymark};

/// Statistics of one guest.
#[derive(Clone, PartialEq, Debug)]
pub struct GuestReport {
    /// Its name.
    pub name: String,
    /// Its nodes.
    pub nodes: Vec<u32>,
    /// Its class of time.
    pub class: Class,
    /// Digest of the guest, as given in its Hello.
    pub manifest: [u8; 32],
    /// \[ps\] The last known value of its clock.
    pub time: Time,
    /// True if it said goodbye.
    pub left: bool,
    /// How it was lost; `None` if it was not.
    pub lost: Option<String>,
    /// Number of turns.
    pub turns: u64,
    /// Number of messages injected.
    pub injects: u64,
    /// Number of Delivers and Dones handed over to it.
    pub notices: u64,
    /// Number of messages handed over late.
    pub late: u64,
    /// \[ps\] Mean lateness of the late messages.
    pub late_mean: Option<f64>,
    /// \[ps\] Greatest lateness.
    pub late_max: Time,
    /// Its marks.
    pub marks: Vec<Mark>,
    /// Costs of synchronisation; `None` with a central order.
    pub sync: Option<SyncCounts>,
}

/// Statistics of all guests.
#[derive(Clone, PartialEq, Debug)]
pub struct LiveReport {
    /// The guests, in the order of their nodes.
    pub guests: Vec<GuestReport>,
    /// Number of messages that entered the network.
    pub injects: u64,
    /// Number of messages handed over to guests.
    pub deliveries: u64,
    /// Number of messages that arrived but were not handed over, because their node had no guest, or its guest had left
    /// or was lost. The sum with [`deliveries`](Self::deliveries) is [`injects`](Self::injects), unless messages are in
    /// flight when a run ends early.
    pub undelivered: u64,
    /// Number of messages without a payload, which are missing from captures.
    pub bare: u64,
    /// A hash over every injection and delivery: time, source, sequence number, destination, size, cookie and payload.
    pub digest: u64,
    /// The digest at regular moments, if requested.
    pub waymarks: Vec<Waymark>,
    /// \[ps\] Time from injection to hand-over of the messages that were measured and handed over. A wait for the end
    /// of a guest's warm-up is excluded.
    pub latency: Option<Latency>,
    /// Lag of virtual time behind the wall clock; only in real-time mode.
    pub behind: Option<Behind>,
    /// How long the warm-up of all guests took by the wall clock; `None` without a warm-up, or before its end.
    pub warm: Option<Duration>,
}

/// The report of a run that began at `began`.
pub(super) fn report(
    guests: &[Guest],
    hub: &Hub,
    pace: Option<&Pace>,
    sync: Option<&Synchronised>,
    began: Instant,
) -> LiveReport {
    let warmed: Option<Vec<Instant>> = guests.iter().map(|guest| guest.warmed).collect();
    let row = |(index, guest): (usize, &Guest)| GuestReport {
        name: guest.name.clone(),
        nodes: guest.links().flatten().map(|node| node.0).collect(),
        class: guest.class,
        manifest: guest.manifest,
        time: guest.time,
        left: guest.state == State::Left,
        lost: match &guest.state {
            State::Lost { why } => Some(why.clone()),
            _ => None,
        },
        turns: guest.turns,
        injects: guest.injects,
        notices: guest.notices,
        late: guest.late.count,
        late_mean: (guest.late.count > 0).then(|| guest.late.sum as f64 / guest.late.count as f64),
        late_max: guest.late.max,
        marks: guest.marks.clone(),
        sync: sync.map(|sync| sync.counts[index]),
    };
    LiveReport {
        guests: guests.iter().enumerate().map(row).collect(),
        injects: hub.injects,
        deliveries: hub.deliveries,
        undelivered: hub.undelivered,
        bare: hub.bare,
        digest: hub.digest.value(),
        waymarks: hub.trail.as_ref().map_or_else(Vec::new, |trail: &Trail| trail.rows().to_vec()),
        latency: hub.latency.figures(),
        behind: pace.map(Pace::behind),
        warm: warmed.and_then(|all| Some(all.into_iter().max()?.saturating_duration_since(began))),
    }
}
