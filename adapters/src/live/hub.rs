//! The messages of a live run: waiting to enter the network, in the network, and delivered to guests.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use bytes::Bytes;
use trgen::{Cycle, Delivery, Message, NodeId, Outbox};

use crate::clock::{Clock, FOREVER, Time};
use crate::protocol::{DELIVER_FIELDS, Inject, MAX_MESSAGE};

use super::Overheads;
use super::capture::{Capture, Payload};
use super::digest::Digest;
use super::inbox::{Arrived, Notice, NoticeKey};
use super::latency::Latencies;
use super::trail::Trail;

/// \[ps\] Latest time at which a message may enter the network: later ones could overflow the times of its notices.
pub(super) const LATEST: Time = 1 << 63;

/// An injection before it enters the network. Injections are ordered by time, node and sequence number.
#[derive(Debug)]
struct Waiting {
    /// \[ps\] Time of the injection.
    at: Time,
    /// The node that injects it.
    node: NodeId,
    /// Number among the injections of its node, from 0.
    sequence: u64,
    inject: Inject,
}

impl Waiting {
    /// The sort key.
    fn key(&self) -> (Time, NodeId, u64) {
        (self.at, self.node, self.sequence)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Waiting {}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// A message in the network.
#[derive(Clone, Debug)]
struct Underway {
    /// The node of the guest that has sent it. Several nodes of guests may share a node of the network.
    source: NodeId,
    destination: NodeId,
    /// \[ps\] Time of the injection.
    at: Time,
    /// Number among the injections of its source, from 0.
    sequence: u64,
    /// The sender's identifier of the message.
    cookie: u64,
    /// True if the sender wants to know when it has left.
    notify: bool,
    /// \[bytes\] Size in the model.
    size: u64,
    payload: Bytes,
    /// The part of the payload that digests cover.
    digested: Bytes,
    /// True if it was injected during measurement.
    measured: bool,
}

/// The connection of a guest that serves a node.
#[derive(Clone, Copy, Debug)]
struct Seat {
    /// Index of the guest.
    guest: usize,
    /// Index of the guest's connection: 0 its own, others data connections.
    link: usize,
    /// Index of the node among those of the connection.
    endpoint: u16,
    /// \[bytes\] Longest payload of a frame that it accepts.
    longest: u32,
    /// \[cycles\] Time from the departure of a message until the guest is notified of it.
    done_after: u64,
    /// True if it accepts payloads in parts.
    parts: bool,
    /// Number of messages injected so far.
    injected: u64,
    /// Number of messages that have not departed from the node yet.
    outstanding: u32,
}

/// The messages of a run, and the notices for guests.
pub(super) struct Hub {
    clock: Clock,
    overheads: Overheads,
    /// \[bytes\] Limit of `payload`.
    payload_limit: u64,
    /// The connection that serves each node of the guests; `None` for a node without a guest.
    seats: Vec<Option<Seat>>,
    /// The node of the network for each node of the guests; empty if they are the same.
    places: Vec<NodeId>,
    /// Injections that have not entered the network, the earliest first.
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// Messages in the network, by their number there, which is reused.
    underway: Vec<Option<Underway>>,
    /// Unused indices of `underway`.
    vacant: Vec<usize>,
    /// Notices that wait for each guest; `None` if the guest is lost.
    inboxes: Vec<Option<BTreeMap<NoticeKey, Notice>>>,
    /// \[bytes\] Total size of the payloads of all messages that have not been handed over.
    payload: u64,
    /// Number of messages that arrived without a receiving guest.
    pub(super) undelivered: u64,
    /// Number of messages that entered the network.
    pub(super) injects: u64,
    /// Number of messages handed over to guests.
    pub(super) deliveries: u64,
    /// Number of messages without a payload to capture.
    pub(super) bare: u64,
    /// An order-independent sum of hashes over every injection and delivery.
    pub(super) digest: Digest,
    /// The digest at regular moments.
    pub(super) trail: Option<Trail>,
    /// The capture of payloads.
    pub(super) capture: Option<Box<dyn Capture>>,
    /// True while injections are measured.
    pub(super) measuring: bool,
    /// \[ps\] Latencies of measured messages, from injection to hand-over.
    pub(super) latency: Latencies,
    /// \[cycles\] The delay of every message, if arrivals are announced to guests at once.
    pub(super) announced_delay: Option<u64>,
    /// \[ps\] Messages are handed over no earlier than the next multiple of this time; 0 for at once.
    pub(super) quantum: Time,
    /// The description of a message that arrived at another time than announced, which is a fault of fsin.
    pub(super) fault: Option<String>,
}

impl Hub {
    pub(super) fn new(
        nodes: usize,
        places: Vec<NodeId>,
        clock: Clock,
        overheads: Overheads,
        payload_limit: u64,
    ) -> Self {
        Self {
            clock,
            overheads,
            payload_limit,
            seats: vec![None; nodes],
            places,
            waiting: BinaryHeap::new(),
            underway: Vec::new(),
            vacant: Vec::new(),
            inboxes: Vec::new(),
            payload: 0,
            undelivered: 0,
            injects: 0,
            deliveries: 0,
            bare: 0,
            digest: Digest::default(),
            trail: None,
            capture: None,
            measuring: true,
            latency: Latencies::default(),
            announced_delay: None,
            quantum: 0,
            fault: None,
        }
    }

    /// Assigns to the next guest its nodes. `links` gives for each of its connections the nodes, the longest payload,
    /// and whether it accepts payloads in parts.
    ///
    /// A stepped guest may be granted time up to the network's response, and gets a Done no earlier than that.
    pub(super) fn seat<'a>(
        &mut self,
        guest: usize,
        links: impl Iterator<Item = (&'a [NodeId], (u32, bool))>,
        stepped: bool,
    ) {
        let done_after = if stepped { self.overheads.response.max(1) - 1 } else { 0 };
        for (link, (nodes, (longest, parts))) in links.enumerate() {
            for (endpoint, node) in nodes.iter().enumerate() {
                let endpoint = endpoint as u16;
                self.seats[node.index()] =
                    Some(Seat { guest, link, endpoint, longest, done_after, parts, injected: 0, outstanding: 0 });
            }
        }
        self.inboxes.push(Some(BTreeMap::new()));
    }

    /// The index of the guest of a node.
    pub(super) fn guest_at(&self, node: NodeId) -> Option<usize> {
        self.seats[node.index()].map(|seat| seat.guest)
    }

    /// Number of nodes without a guest.
    pub(super) fn empty_nodes(&self) -> usize {
        self.seats.iter().filter(|seat| seat.is_none()).count()
    }

    /// \[ps\] Time of the first notice to a guest.
    pub(super) fn first_notice(&self, guest: usize) -> Option<Time> {
        self.inboxes[guest].as_ref()?.first_key_value().map(|(key, _)| key.time)
    }

    /// Removes the first notice to a guest, if its time is at most `until`.
    pub(super) fn take_notice(&mut self, guest: usize, until: Time) -> Option<(NoticeKey, Notice)> {
        let inbox = self.inboxes[guest].as_mut()?;
        let first = inbox.first_entry().filter(|entry| entry.key().time <= until)?;
        let (key, notice) = first.remove_entry();
        if let Some(arrived) = &notice.arrived {
            self.payload -= arrived.payload.len() as u64;
        }
        Some((key, notice))
    }

    /// Records the hand-over of a message to its guest, `late` after its time.
    pub(super) fn handed_over(&mut self, key: &NoticeKey, arrived: &Arrived, late: Time) {
        self.deliveries += 1;
        if arrived.measured {
            self.latency.record((key.time - arrived.injected).saturating_add(late));
        }
    }

    /// Drops the notices to a guest that is lost. Messages to it are counted as undelivered from now on.
    pub(super) fn drop_inbox(&mut self, guest: usize) {
        let inbox = self.inboxes[guest].take();
        for arrived in inbox.into_iter().flatten().filter_map(|(_, notice)| notice.arrived) {
            self.payload -= arrived.payload.len() as u64;
            self.undelivered += 1;
        }
    }

    /// Drops the messages that a guest has injected for times after `now` \[ps\] and that have not entered the network.
    pub(super) fn drop_later(&mut self, guest: usize, now: Time) {
        let seats = &mut self.seats;
        let (payload, undelivered) = (&mut self.payload, &mut self.undelivered);
        self.waiting.retain(|Reverse(waiting)| {
            let Some(seat) = &mut seats[waiting.node.index()] else { return true };
            let stays = seat.guest != guest || waiting.at <= now;
            if !stays {
                seat.outstanding = seat.outstanding.saturating_sub(1);
                *payload -= waiting.inject.payload.len() as u64;
                *undelivered += 1;
            }
            stays
        });
    }

    /// Accepts an injection of `node` at time `at` \[ps\], or returns the reason for its rejection. `window` is the
    /// largest number of messages of a node that have not left it.
    pub(super) fn inject(&mut self, node: NodeId, at: Time, inject: Inject, window: u32) -> Result<(), String> {
        let nodes = self.seats.len();
        if inject.destination as usize >= nodes {
            return Err(format!("it sends to node {}, and there are nodes 0 to {}", inject.destination, nodes - 1));
        }
        if inject.destination == node.0 {
            return Err(format!("node {node} sends to itself, which takes no network"));
        }
        if inject.size > MAX_MESSAGE {
            return Err(format!("a message of {} bytes is longer than the longest one, 2^40 bytes", inject.size));
        }
        if at.saturating_add(self.overheads.send) > LATEST {
            return Err(format!("it sends at {at} ps, and with the overhead {LATEST} ps is the latest"));
        }
        let payload = inject.payload.len() as u64;
        if let Some(Seat { longest, parts: false, .. }) = self.seats[inject.destination as usize]
            && payload + u64::from(DELIVER_FIELDS) > longest.into()
        {
            let most = longest.saturating_sub(DELIVER_FIELDS);
            return Err(format!(
                "the message carries {payload} bytes, and the guest of node {} takes messages that carry {most} at most",
                inject.destination
            ));
        }
        if self.payload + payload > self.payload_limit {
            return Err(self.too_much());
        }
        let Some(seat) = &mut self.seats[node.index()] else { return Err(format!("node {node} has no guest")) };
        if seat.outstanding >= window {
            return Err(format!("{window} messages have not left node {node}, and the window is full"));
        }
        seat.outstanding += 1;
        let sequence = seat.injected;
        seat.injected += 1;
        self.payload += payload;
        if let Some(delay) = self.announced_delay {
            self.announce(node, at, sequence, &inject, delay);
        }
        self.waiting.push(Reverse(Waiting { at, node, sequence, inject }));
        Ok(())
    }

    /// Why no more payload is accepted.
    pub(super) fn too_much(&self) -> String {
        let (payload, limit) = (self.payload, self.payload_limit);
        format!("messages on their way carry {payload} bytes, and with this one more than the limit of {limit}")
    }

    /// \[ps\] Arrival of a message that is injected at `at` and takes this many cycles.
    pub(super) fn arrival(&self, at: Time, delay: u64) -> Time {
        match self.entry(at) {
            Cycle::NEVER => FOREVER,
            entry => self.clock.end(entry + (delay - 1)).saturating_add(self.overheads.receive),
        }
    }

    /// Notifies sender and receiver, at the injection of a message, of the times at which it will have left and
    /// arrived.
    fn announce(&mut self, node: NodeId, at: Time, sequence: u64, inject: &Inject, delay: u64) {
        let source = node.0;
        if let (true, Some(seat)) = (inject.notify, self.seats[node.index()]) {
            let time = self.clock.end(self.entry(at) + seat.done_after).saturating_add(self.overheads.receive);
            let notice = Notice { link: seat.link, endpoint: seat.endpoint, cookie: inject.cookie, arrived: None };
            if let Some(inbox) = &mut self.inboxes[seat.guest] {
                inbox.insert(NoticeKey { time, delivery: false, source, sequence }, notice);
            }
        }
        let arrival = self.arrival(at, delay);
        // End of the quantum in which the message is injected.
        let next = at.checked_div(self.quantum).map_or(0, |quanta| (quanta + 1).saturating_mul(self.quantum));
        let (time, deferred) = (arrival.max(next), next.saturating_sub(arrival));
        let key = NoticeKey { time, delivery: true, source, sequence };
        let seat = self.seats[inject.destination as usize];
        match seat.and_then(|seat| self.inboxes[seat.guest].as_mut().map(|inbox| (seat, inbox))) {
            Some((seat, inbox)) => {
                let (size, payload) = (inject.size, inject.payload.clone());
                let arrived = Some(Arrived { injected: at, deferred, size, payload, measured: self.measuring });
                inbox.insert(key, Notice { link: seat.link, endpoint: seat.endpoint, cookie: inject.cookie, arrived });
            }
            None => {
                self.payload -= inject.payload.len() as u64;
                self.undelivered += 1;
            }
        }
    }

    /// True if a message of this source waits for a guest.
    pub(super) fn has_from(&self, guest: usize, source: u32) -> bool {
        let inbox = self.inboxes[guest].iter().flat_map(BTreeMap::keys);
        inbox.filter(|key| key.delivery).any(|key| key.source == source)
    }

    /// The sort key of the first notice to a guest that is a Done or a message of one of these sources.
    pub(super) fn first_from(&self, guest: usize, sources: &[u32]) -> Option<NoticeKey> {
        let mut inbox = self.inboxes[guest].iter().flat_map(BTreeMap::keys);
        inbox.find(|key| !key.delivery || sources.contains(&key.source)).copied()
    }

    /// The sort key of the first notice to a guest.
    pub(super) fn first_key(&self, guest: usize) -> Option<NoticeKey> {
        self.inboxes[guest].as_ref()?.first_key_value().map(|(key, _)| *key)
    }

    /// True if no message is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.underway.len() == self.vacant.len()
    }

    /// The first cycle in which something enters the network.
    pub(super) fn first_entry(&self) -> Cycle {
        self.waiting.peek().map_or(Cycle::NEVER, |Reverse(first)| self.entry(first.at))
    }

    /// The cycle in which a message enters that is injected at `at`.
    fn entry(&self, at: Time) -> Cycle {
        self.clock.cycle(at.saturating_add(self.overheads.send))
    }

    /// Injects the messages that are due.
    pub(super) fn enter(&mut self, now: Cycle, out: &mut Outbox) {
        self.extend_trail(now);
        let mut within = Vec::new();
        while self.first_entry() <= now {
            let Some(Reverse(Waiting { at, node, sequence, inject })) = self.waiting.pop() else { return };
            let Inject { destination, notify, size, cookie, identified, payload, .. } = inject;
            let digested = match identified {
                Some(bytes) => payload.slice(..payload.len().min(bytes as usize)),
                None => payload.clone(),
            };
            self.injects += 1;
            self.digest.add(&[0, at, u64::from(node.0), sequence, u64::from(destination), size, cookie], &digested);
            match &mut self.capture {
                _ if payload.is_empty() => self.bare += 1,
                Some(capture) => {
                    capture.packet(Payload { node: node.0, time: at, is_outbound: true, size, data: &payload });
                }
                None => {}
            }
            let measured = self.measuring;
            let (source, destination) = (node, NodeId(destination));
            let underway =
                Underway { source, destination, at, sequence, cookie, notify, size, payload, digested, measured };
            let id = match self.vacant.pop() {
                Some(id) => {
                    self.underway[id] = Some(underway);
                    id
                }
                None => {
                    self.underway.push(Some(underway));
                    self.underway.len() - 1
                }
            };
            let (source, destination) = (self.network_node(source), self.network_node(destination));
            let message = Message { id: id as u64, source, destination, bytes: size, class: 0 };
            if source == destination {
                within.push(message);
            } else {
                out.push(message);
            }
        }
        // Messages within a node of the network do not enter it: they leave and arrive in this cycle.
        for message in within {
            self.sent(now, &message);
            self.delivered(now, &Delivery { message, offered: now, delivered: now });
        }
    }

    /// The node of the network for a node of the guests.
    fn network_node(&self, node: NodeId) -> NodeId {
        self.places.get(node.index()).copied().unwrap_or(node)
    }

    /// The nodes of the guests between which a message travels.
    pub(super) fn ends(&self, message: &Message) -> Option<(NodeId, NodeId)> {
        let underway = self.underway.get(message.id as usize)?.as_ref()?;
        Some((underway.source, underway.destination))
    }

    /// Called when a message has left its node.
    pub(super) fn sent(&mut self, now: Cycle, message: &Message) {
        let Some(Some(underway)) = self.underway.get(message.id as usize) else { return };
        let source = underway.source;
        let Some(seat) = &mut self.seats[source.index()] else { return };
        seat.outstanding = seat.outstanding.saturating_sub(1);
        if !underway.notify || self.announced_delay.is_some() {
            return;
        }
        let time = self.clock.end(now + seat.done_after).saturating_add(self.overheads.receive);
        let key = NoticeKey { time, delivery: false, source: source.0, sequence: underway.sequence };
        let notice = Notice { link: seat.link, endpoint: seat.endpoint, cookie: underway.cookie, arrived: None };
        if let Some(inbox) = &mut self.inboxes[seat.guest] {
            inbox.insert(key, notice);
        }
    }

    /// Called when a message has arrived.
    pub(super) fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        self.extend_trail(now);
        let Delivery { message, delivered, .. } = delivery;
        let id = message.id as usize;
        let Some(Underway { source, destination, at, sequence, cookie, size, payload, digested, measured, .. }) =
            self.underway.get_mut(id).and_then(Option::take)
        else {
            return;
        };
        self.vacant.push(id);
        let time = self.clock.end(*delivered).saturating_add(self.overheads.receive);
        let (source, destination) = (source.0, destination.0);
        self.digest.add(&[1, time, u64::from(source), sequence, u64::from(destination), size, cookie], &digested);
        if !payload.is_empty()
            && let Some(capture) = &mut self.capture
        {
            capture.packet(Payload { node: destination, time, is_outbound: false, size, data: &payload });
        }
        if let Some(delay) = self.announced_delay {
            let announced = self.arrival(at, delay);
            if announced != time && self.fault.is_none() {
                let what =
                    format!("an arrival at {time} ps was announced for {announced} ps, which is a fault of fsin");
                self.fault = Some(what);
            }
            return;
        }
        let key = NoticeKey { time, delivery: true, source, sequence };
        let seat = self.seats[destination as usize];
        match seat.and_then(|seat| self.inboxes[seat.guest].as_mut().map(|inbox| (seat, inbox))) {
            Some((seat, inbox)) => {
                let arrived = Some(Arrived { injected: at, deferred: 0, size, payload, measured });
                inbox.insert(key, Notice { link: seat.link, endpoint: seat.endpoint, cookie, arrived });
            }
            None => {
                self.payload -= payload.len() as u64;
                self.undelivered += 1;
            }
        }
    }

    /// Called when the network drops a message. Its receiver is not notified.
    pub(super) fn dropped(&mut self, now: Cycle, message: &Message) {
        self.extend_trail(now);
        let Some(Underway { source, destination, sequence, size, cookie, payload, digested, .. }) =
            self.underway.get_mut(message.id as usize).and_then(Option::take)
        else {
            return;
        };
        self.vacant.push(message.id as usize);
        let (source, destination) = (u64::from(source.0), u64::from(destination.0));
        self.digest.add(&[2, self.clock.end(now), source, sequence, destination, size, cookie], &digested);
        self.payload -= payload.len() as u64;
        self.undelivered += 1;
    }

    /// Adds the digest before the events of cycle `now` to the trail, if there is one.
    fn extend_trail(&mut self, now: Cycle) {
        if let Some(trail) = &mut self.trail {
            trail.record(now, self.digest.settle());
        }
    }
}
