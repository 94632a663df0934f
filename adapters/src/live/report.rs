//! What the guests of a run did.

use crate::clock::Time;
use crate::protocol::Class;

use super::hub::Hub;
use super::latency::Latency;
use super::pace::{Behind, Pace};
use super::player::{Player, State};
use super::trail::{Trail, Waymark};

/// Something that a guest gave a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// \[ps\] When.
    pub time: Time,
    /// The name.
    pub label: String,
}

/// What one guest did.
#[derive(Clone, PartialEq, Debug)]
pub struct GuestReport {
    /// Its name.
    pub name: String,
    /// Its nodes.
    pub nodes: Vec<u32>,
    /// How its time passes.
    pub class: Class,
    /// Digest of what it is, as it said.
    pub manifest: [u8; 32],
    /// \[ps\] Where its clock was last.
    pub time: Time,
    /// True if it said goodbye.
    pub left: bool,
    /// How it was lost, if it was.
    pub lost: Option<String>,
    /// Turns that it had.
    pub turns: u64,
    /// Messages that it injected.
    pub injects: u64,
    /// Deliveries and Dones that it was told of.
    pub notices: u64,
    /// Messages handed over late.
    pub late: u64,
    /// \[ps\] Mean lateness of the late ones.
    pub late_mean: Option<f64>,
    /// \[ps\] Most lateness.
    pub late_max: Time,
    /// What it gave names.
    pub marks: Vec<Mark>,
}

/// What all guests did.
#[derive(Clone, PartialEq, Debug)]
pub struct LiveReport {
    /// In the order of their nodes.
    pub guests: Vec<GuestReport>,
    /// Messages that entered the network.
    pub injects: u64,
    /// Messages that were handed over to a guest.
    pub deliveries: u64,
    /// Messages that arrived and were not handed over: at a node without a guest, or whose guest left or was lost
    /// before. With [`deliveries`](Self::deliveries) they are all of [`injects`](Self::injects), but for those that are
    /// still on their way when a run ends early.
    pub undelivered: u64,
    /// Messages that carried nothing, which are in no capture.
    pub bare: u64,
    /// A hash over every injection and delivery: time, source, number, destination, size, cookie and what it carries.
    pub digest: u64,
    /// The same over what was before regular moments, if that was asked for.
    pub waymarks: Vec<Waymark>,
    /// \[ps\] From injection to being handed over, of messages that were measured and handed over. A wait for the end of
    /// a guest's warm-up is not in it.
    pub latency: Option<Latency>,
    /// In real-time mode: how much virtual time came behind the wall's.
    pub behind: Option<Behind>,
}

pub(super) fn report(players: &[Player], hub: &Hub, pace: Option<&Pace>) -> LiveReport {
    let guest = |player: &Player| GuestReport {
        name: player.name.clone(),
        nodes: player.links().flatten().map(|node| node.0).collect(),
        class: player.class,
        manifest: player.manifest,
        time: player.time,
        left: player.state == State::Left,
        lost: match &player.state {
            State::Lost { why } => Some(why.clone()),
            _ => None,
        },
        turns: player.turns,
        injects: player.injects,
        notices: player.notices,
        late: player.late.count,
        late_mean: (player.late.count > 0).then(|| player.late.sum as f64 / player.late.count as f64),
        late_max: player.late.max,
        marks: player.marks.clone(),
    };
    LiveReport {
        guests: players.iter().map(guest).collect(),
        injects: hub.injects,
        deliveries: hub.deliveries,
        undelivered: hub.undelivered,
        bare: hub.bare,
        digest: hub.digest,
        waymarks: hub.trail.as_ref().map_or_else(Vec::new, |trail: &Trail| trail.rows().to_vec()),
        latency: hub.latency.figures(),
        behind: pace.map(Pace::behind),
    }
}
