//! The record into which an engine writes events.
//!
//! Decision: docs/decisions/0012-digest.md.

use trgen::rng::mix2;
use trgen::{Cycle, NodeId};

use super::{Distribution, Moments};

/// \[phits\] By how much packets were shorter than the longest length, summed. Always 0 in models whose packets all
/// have the same length.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Short {
    /// Of packets handed to a network interface.
    pub generated: u64,
    /// Of packets that entered a source buffer.
    pub injected: u64,
    /// Of packets ejected completely.
    pub received: u64,
    /// Of packets lost.
    pub dropped: u64,
}

/// Packets counted by their length: a packet of half the longest length is half a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Whole {
    /// Handed to a network interface.
    pub generated: f64,
    /// Entered a source buffer.
    pub injected: f64,
    /// Ejected completely.
    pub received: f64,
    /// Lost.
    pub dropped: f64,
}

/// Counts of packets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Handed to a network interface.
    pub generated: u64,
    /// Entered a source buffer.
    pub injected: u64,
    /// Ejected completely.
    pub received: u64,
    /// Lost, before or after they entered a source buffer.
    pub dropped: u64,
    /// Of [`dropped`](Self::dropped), those that had entered a source buffer.
    pub dropped_inside: u64,
    /// Links crossed, counted when the header leaves.
    pub hops: u64,
    /// What shorter packets lacked.
    pub short: Short,
}

impl Counts {
    /// Packets by their length, of which `packet_phits` is the longest.
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

    /// \[packets\] Generated, not dropped at the interface, and not in a source buffer yet: the growth of the queues at
    /// sources. Negative where more left than came.
    #[must_use]
    pub fn waiting(&self) -> f64 {
        // A packet lost behind its source buffer has left the queue once, by injection.
        let refused = self.dropped - self.dropped_inside;
        self.generated as f64 - refused as f64 - self.injected as f64
    }

    /// The sum of both.
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
            hops: self.hops - earlier.hops,
            short: Short {
                generated: self.short.generated - earlier.short.generated,
                injected: self.short.injected - earlier.short.injected,
                received: self.short.received - earlier.short.received,
                dropped: self.short.dropped - earlier.short.dropped,
            },
        }
    }

    fn add(&mut self, other: &Self) {
        self.generated += other.generated;
        self.injected += other.injected;
        self.received += other.received;
        self.dropped += other.dropped;
        self.dropped_inside += other.dropped_inside;
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
    /// \[cycles\] From entering the source buffer (open source: from generation) to ejection of the tail, of packets
    /// received in the window.
    pub latency: Distribution,
    /// \[cycles\] From the same start until the header leaves the injection queue, of headers that left in the window.
    pub injection_latency: Moments,
    /// \[links\] Path lengths of packets received in the window.
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
    /// As in the [`Window`].
    pub counts: Counts,
    /// \[cycles\] As in the [`Window`], without percentiles.
    pub latency: Moments,
    /// \[cycles\] As in the [`Window`].
    pub injection_latency: Moments,
    /// \[links\] As in the [`Window`].
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
    /// Number of the packet among those of its source, from 0.
    pub sequence: u64,
    /// \[cycles\] Delay.
    pub latency: u64,
    /// \[links\] Path length.
    pub hops: u64,
}

/// The record of a run: the open window, and totals of the whole run.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorder {
    window: Window,
    closed: Counts,
    received_by_source: Vec<u64>,
    digest: u64,
    /// \[cycles\] Latency over the windows closed since [`observe`](Self::observe); `None` before it.
    observed: Option<Box<Distribution>>,
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
        }
    }

    /// `packets` were handed to an interface.
    #[inline]
    pub fn generated(&mut self, packets: u64) {
        self.window.counts.generated += packets;
    }

    /// `packets` were lost before they entered a source buffer.
    #[inline]
    pub fn dropped(&mut self, packets: u64) {
        self.window.counts.dropped += packets;
    }

    /// `packets` were lost after they had entered source buffers.
    #[inline]
    pub fn dropped_inside(&mut self, packets: u64) {
        self.window.counts.dropped += packets;
        self.window.counts.dropped_inside += packets;
    }

    /// `packets` entered source buffers.
    #[inline]
    pub fn injected(&mut self, packets: u64) {
        self.window.counts.injected += packets;
    }

    /// Of the packets just counted, what they lacked to the longest length, in \[phits\].
    #[inline]
    pub const fn short(&mut self) -> &mut Short {
        &mut self.window.counts.short
    }

    /// A header left its injection queue, `latency` cycles after the packet's start.
    #[inline]
    pub fn departed(&mut self, latency: u64) {
        self.window.injection_latency.record(latency);
    }

    /// Headers left their injection queues, with these times since the packets' starts.
    #[inline]
    pub fn departed_after(&mut self, latencies: &Moments) {
        self.window.injection_latency.merge(latencies);
    }

    /// This number of headers crossed a link.
    #[inline]
    pub fn hops(&mut self, headers: u64) {
        self.window.counts.hops += headers;
    }

    /// A packet was ejected completely in cycle `now`.
    #[inline(always)]
    pub fn received(&mut self, now: Cycle, receipt: &Receipt) {
        self.window.counts.received += 1;
        self.window.latency.record(receipt.latency);
        self.window.hops.record(receipt.hops);
        self.received_by_source[receipt.source.index()] += 1;
        // A sum of hashes: independent of the order of deliveries within a cycle.
        let pair = u64::from(receipt.source.0) << 32 | u64::from(receipt.destination.0);
        self.digest = self.digest.wrapping_add(mix2(mix2(now.0, pair), receipt.sequence));
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
        if let Some(observed) = &mut self.observed {
            observed.merge(&self.window.latency);
        }
        std::mem::take(&mut self.window)
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

    /// \[cycles\] Latency of all packets received since [`observe`](Self::observe); `None` before it.
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
    }

    /// Packets since the start of the run.
    #[must_use]
    pub fn totals(&self) -> Counts {
        let mut totals = self.closed;
        totals.add(&self.window.counts);
        totals
    }

    /// \[packets\] Received since [`begin`](Self::begin), by source.
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
