//! The record into which an engine writes events.
//!
//! Decision: docs/decisions/0012-digest.md.

use trgen::{Cycle, Delivery, Message, NodeId};

use super::period::{Period, digest_of};
use super::{Arrival, Details, Distribution, Keep, Moments};

/// \[phits\] Total by which packets were shorter than the longest packet. Always 0 in models whose packets all have the
/// same length.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Short {
    /// Total for packets handed to a network interface.
    pub generated: u64,
    /// Total for packets that entered a source buffer.
    pub injected: u64,
    /// Total for packets ejected completely.
    pub received: u64,
    /// Total for packets lost.
    pub dropped: u64,
}

/// Packets counted by their length: a packet of half the longest length is half a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Whole {
    /// Packets handed to a network interface.
    pub generated: f64,
    /// Packets that entered a source buffer.
    pub injected: f64,
    /// Packets ejected completely.
    pub received: f64,
    /// Packets lost.
    pub dropped: f64,
}

/// Counts of packets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Packets handed to a network interface.
    pub generated: u64,
    /// Packets that entered a source buffer.
    pub injected: u64,
    /// Packets ejected completely.
    pub received: u64,
    /// Packets lost, before or after they entered a source buffer.
    pub dropped: u64,
    /// Packets lost after they entered a source buffer; they are also in [`dropped`](Self::dropped).
    pub dropped_inside: u64,
    /// Packets that congestion control kept from being generated: asked for, and none of the other counts has them.
    pub withheld: u64,
    /// Links crossed, counted when the header leaves.
    pub hops: u64,
    /// \[phits\] Totals by which packets were shorter than the longest packet.
    pub short: Short,
}

impl Counts {
    /// The packets counted by their length. `packet_phits` is the length of the longest packet.
    #[must_use]
    pub fn whole(&self, packet_phits: u32) -> Whole {
        let whole = |packets: u64, short: u64| packets as f64 - short as f64 / f64::from(packet_phits);
        Whole {
            generated: whole(self.generated, self.short.generated),
            injected: whole(self.injected, self.short.injected),
            received: whole(self.received, self.short.received),
            dropped: whole(self.dropped, self.short.dropped),
        }
    }

    /// \[packets\] Packets lost before they entered a source buffer: no route leads to their destination.
    #[must_use]
    pub const fn without_a_route(&self) -> u64 {
        self.dropped - self.dropped_inside
    }

    /// The sum of these counts and `other`.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = *self;
        sum.add(other);
        sum
    }

    /// The counts since `earlier`, a former state of these counts.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            generated: self.generated - earlier.generated,
            injected: self.injected - earlier.injected,
            received: self.received - earlier.received,
            dropped: self.dropped - earlier.dropped,
            dropped_inside: self.dropped_inside - earlier.dropped_inside,
            withheld: self.withheld - earlier.withheld,
            hops: self.hops - earlier.hops,
            short: Short {
                generated: self.short.generated - earlier.short.generated,
                injected: self.short.injected - earlier.short.injected,
                received: self.short.received - earlier.short.received,
                dropped: self.short.dropped - earlier.short.dropped,
            },
        }
    }

    /// Adds `other` to these counts.
    fn add(&mut self, other: &Self) {
        self.generated += other.generated;
        self.injected += other.injected;
        self.received += other.received;
        self.dropped += other.dropped;
        self.dropped_inside += other.dropped_inside;
        self.withheld += other.withheld;
        self.hops += other.hops;
        self.short.generated += other.short.generated;
        self.short.injected += other.short.injected;
        self.short.received += other.short.received;
        self.short.dropped += other.short.dropped;
    }
}

/// Measurements over a range of cycles.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Window {
    /// Events within the window.
    pub counts: Counts,
    /// \[cycles\] Latencies of the packets received in the window: from entering the source buffer (open source: from
    /// generation) to the ejection of the tail.
    pub latency: Distribution,
    /// \[cycles\] Times of headers that left an injection queue in the window, from the same start to leaving that
    /// queue.
    pub injection_latency: Moments,
    /// \[links\] Path lengths of the packets received in the window.
    pub hops: Moments,
}

impl Window {
    /// Adds all measurements of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.latency.merge(&other.latency);
        self.injection_latency.merge(&other.injection_latency);
        self.hops.merge(&other.hops);
    }
}

/// A compact window, for cases with many of them: counts and moments, a few hundred bytes. A [`Window`] also holds a
/// histogram, which is a hundred times as large.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Summary {
    /// Events within the window.
    pub counts: Counts,
    /// \[cycles\] As [`Window::latency`], without percentiles.
    pub latency: Moments,
    /// \[cycles\] As [`Window::injection_latency`].
    pub injection_latency: Moments,
    /// \[links\] As [`Window::hops`].
    pub hops: Moments,
}

impl From<&Window> for Summary {
    fn from(window: &Window) -> Self {
        let Window { counts, latency, injection_latency, hops } = window;
        Self { counts: *counts, latency: *latency.moments(), injection_latency: *injection_latency, hops: *hops }
    }
}

/// A packet that has been ejected completely.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// Sending node.
    pub source: NodeId,
    /// Receiving node.
    pub destination: NodeId,
    /// Number of the packet among the packets of its source, from 0.
    pub sequence: u64,
    /// \[cycles\] Latency of the packet.
    pub latency: u64,
    /// \[links\] Path length.
    pub hops: u64,
}

/// The record of a run: the open window, and totals of the whole run.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorder {
    /// The open window.
    pub(super) window: Window,
    /// Counts of all closed windows.
    closed: Counts,
    /// \[packets\] By source: packets received since [`begin`](Self::begin).
    pub(super) received_by_source: Vec<u64>,
    /// Hash over every delivery of the run.
    pub(super) digest: u64,
    /// \[cycles\] Latencies in the windows closed since [`observe`](Self::observe); `None` before it.
    observed: Option<Box<Distribution>>,
    /// What is kept of single nodes, flows, messages and packets; `None` if nothing is.
    details: Option<Box<Details>>,
    /// Number and sum \[cycles\] of the latencies in closed windows.
    closed_latency: (u64, u128),
    /// The record at each mark.
    marks: Vec<Mark>,
    /// The period that may be repeated; `None` outside of one.
    pub(super) period: Option<Box<Period>>,
}

/// The record at a time that divides the run, such as that of a failure: totals since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// \[cycle\] The first cycle after the mark.
    pub at: Cycle,
    /// Packets so far.
    pub counts: Counts,
    /// Number and sum \[cycles\] of the latencies of packets so far.
    pub latency: (u64, u128),
}

impl Recorder {
    /// An empty record for `nodes` nodes.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        Self {
            window: Window::default(),
            closed: Counts::default(),
            received_by_source: vec![0; nodes],
            digest: 0,
            observed: None,
            details: None,
            closed_latency: (0, 0),
            marks: Vec::new(),
            period: None,
        }
    }

    /// Records that `packets` packets were handed to an interface.
    #[inline]
    pub fn generated(&mut self, packets: u64) {
        self.window.counts.generated += packets;
    }

    /// Records that `packets` packets were lost before they entered a source buffer.
    #[inline]
    pub fn dropped(&mut self, packets: u64) {
        self.window.counts.dropped += packets;
    }

    /// Records that `packets` packets were lost after they had entered source buffers.
    #[inline]
    pub fn dropped_inside(&mut self, packets: u64) {
        self.window.counts.dropped += packets;
        self.window.counts.dropped_inside += packets;
    }

    /// Records that congestion control kept `packets` packets from being generated.
    #[inline]
    pub fn withheld(&mut self, packets: u64) {
        self.window.counts.withheld += packets;
    }

    /// Records that `packets` packets entered source buffers.
    #[inline]
    pub fn injected(&mut self, packets: u64) {
        self.window.counts.injected += packets;
    }

    /// \[phits\] The total by which the packets counted in the open window were shorter than the longest packet, for
    /// the caller to increase.
    #[inline]
    pub const fn short(&mut self) -> &mut Short {
        &mut self.window.counts.short
    }

    /// Records that a header left its injection queue, `latency` cycles after the packet's start.
    #[inline]
    pub fn departed(&mut self, latency: u64) {
        self.window.injection_latency.record(latency);
    }

    /// Records that headers left their injection queues, with these times in cycles since the packets' starts.
    #[inline]
    pub fn departed_after(&mut self, latencies: &Moments) {
        self.window.injection_latency.merge(latencies);
    }

    /// Records that this number of headers left their injection queues, each so many cycles after its packet's start.
    pub fn departed_together(&mut self, latency: u64, packets: u64) {
        self.window.injection_latency.record_many(latency, packets);
    }

    /// Records that this number of headers crossed a link.
    #[inline]
    pub fn hops(&mut self, headers: u64) {
        self.window.counts.hops += headers;
    }

    /// Records that a packet was ejected completely in cycle `now`.
    #[inline(always)]
    pub fn received(&mut self, now: Cycle, receipt: &Receipt) {
        self.window.counts.received += 1;
        self.window.latency.record(receipt.latency);
        self.window.hops.record(receipt.hops);
        self.received_by_source[receipt.source.index()] += 1;
        let hash = digest_of(now.0, receipt.source.0, receipt.destination.0, receipt.sequence, 1);
        self.digest = self.digest.wrapping_add(hash);
        if let Some(details) = &mut self.details {
            details.received(now, receipt);
        }
        if let Some(period) = &mut self.period {
            period.receive(now, receipt, 1);
        }
    }

    /// Records that all packets of a message were ejected in cycle `now`, in a model that carries messages whole.
    /// `receipt` is that of the first, and the others have the numbers that follow. The message has one hash in the
    /// digest, so that the time that this takes does not depend on its length, unless its packets are kept one by one.
    ///
    /// Decision: docs/decisions/0472-messages-that-arrive-whole.md.
    pub fn received_together(&mut self, now: Cycle, receipt: &Receipt, packets: u64) {
        let Receipt { source, destination, sequence, latency, hops } = *receipt;
        self.window.counts.received += packets;
        self.window.latency.record_many(latency, packets);
        self.window.hops.record_many(hops, packets);
        self.received_by_source[source.index()] += packets;
        let hash = digest_of(now.0, source.0, destination.0, sequence, packets);
        self.digest = self.digest.wrapping_add(hash);
        if let Some(details) = &mut self.details {
            details.received_together(now, receipt, packets);
        }
        if let Some(period) = &mut self.period {
            period.receive(now, receipt, packets);
        }
    }

    /// Keeps single nodes, flows, messages or packets from now on.
    pub fn keep(&mut self, keep: Keep) {
        self.details = keep.any().then(|| Box::new(Details::new(self.received_by_source.len(), keep)));
    }

    /// What is kept of single nodes, flows, messages and packets; `None` if nothing is.
    #[must_use]
    pub fn details(&self) -> Option<&Details> {
        self.details.as_deref()
    }

    /// Records that the source of traffic generated a message in cycle `now`.
    pub fn offered(&mut self, now: Cycle, message: &Message) {
        if let Some(details) = &mut self.details {
            details.offered(now, message);
        }
    }

    /// Records that a message has arrived in full.
    pub fn delivered(&mut self, delivery: &Delivery) {
        if let Some(details) = &mut self.details {
            details.delivered(delivery);
        }
    }

    /// Records that the source of a message that has arrived knows of it in cycle `at`.
    pub fn acknowledged(&mut self, message: &Message, at: Cycle) {
        if let Some(details) = &mut self.details {
            details.acknowledged(message, at);
        }
    }

    /// Records that a message will never arrive.
    pub fn lost(&mut self, message: &Message) {
        if let Some(details) = &mut self.details {
            details.dropped(message);
        }
    }

    /// The packets that have arrived since the last call, ordered by arrival, source, destination and number; none if
    /// they are not kept.
    pub fn take_arrivals(&mut self) -> Vec<Arrival> {
        self.details.as_mut().map_or(Vec::new(), |details| details.take_arrivals())
    }

    /// The open window.
    #[must_use]
    #[inline]
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// Closes the window, returns it, and opens the next one.
    pub fn take_window(&mut self) -> Window {
        self.closed.add(&self.window.counts);
        self.closed_latency = self.latency_so_far();
        if let Some(observed) = &mut self.observed {
            observed.merge(&self.window.latency);
        }
        std::mem::take(&mut self.window)
    }

    /// Number and sum \[cycles\] of the latencies of packets since the start of the run.
    fn latency_so_far(&self) -> (u64, u128) {
        let moments = self.window.latency.moments();
        (self.closed_latency.0 + moments.count(), self.closed_latency.1 + moments.sum())
    }

    /// The totals of the run at cycle `at`, to which it has been simulated.
    #[must_use]
    pub fn totals_at(&self, at: Cycle) -> Mark {
        Mark { at, counts: self.totals(), latency: self.latency_so_far() }
    }

    /// Divides the run at cycle `at`, to which it has been simulated.
    pub fn mark(&mut self, at: Cycle) {
        self.marks.push(self.totals_at(at));
    }

    /// The totals at each [mark](Self::mark).
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Begins to collect the latency of all windows. Windows closed earlier are not included.
    pub fn observe(&mut self) {
        self.observed.get_or_insert_default();
    }

    /// True if the record is observed: optional statistics are collected too.
    #[must_use]
    #[inline]
    pub const fn is_observed(&self) -> bool {
        self.observed.is_some()
    }

    /// \[cycles\] Latencies of all packets received since [`observe`](Self::observe); `None` before it.
    #[must_use]
    pub fn observed(&self) -> Option<Distribution> {
        let mut all = Distribution::clone(self.observed.as_ref()?);
        all.merge(&self.window.latency);
        Some(all)
    }

    /// Starts the measurement: discards the open window and the packets received by source.
    pub fn begin(&mut self) {
        self.take_window();
        self.received_by_source.fill(0);
        if let Some(details) = &mut self.details {
            details.begin();
        }
    }

    /// Packets since the start of the run.
    #[must_use]
    pub fn totals(&self) -> Counts {
        let mut totals = self.closed;
        totals.add(&self.window.counts);
        totals
    }

    /// \[packets\] By source: packets received since [`begin`](Self::begin).
    #[must_use]
    pub fn received_by_source(&self) -> &[u64] {
        &self.received_by_source
    }

    /// A hash over every delivery of the run (cycle, source, destination, sequence).
    #[must_use]
    pub const fn digest(&self) -> u64 {
        self.digest
    }
}
