//! What is recorded of a period of a run that repeats itself, and its repetition.

use trgen::Cycle;
use trgen::rng::mix2;

use super::{Counts, Receipt, Recorder, Window};

/// The record when a period began, and the packets that have been received since.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Period {
    window: Window,
    received_by_source: Vec<u64>,
    /// The packets received since; `None` where the digest is not wanted, or they are too many.
    receipts: Option<Vec<Received>>,
    /// Most packets that are kept.
    most: usize,
}

/// Input of the digest for a packet, or for the packets of a message that arrives whole.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Received {
    now: u64,
    source: u32,
    destination: u32,
    sequence: u64,
    packets: u64,
}

/// Summand of the digest for a packet, or for several that arrive together, of which `sequence` is the first: a hash,
/// so that the sum is independent of the order of deliveries within a cycle.
#[inline(always)]
pub(super) const fn digest_of(now: u64, source: u32, destination: u32, sequence: u64, packets: u64) -> u64 {
    let first = mix2(mix2(now, (source as u64) << 32 | destination as u64), sequence);
    if packets == 1 { first } else { mix2(first, packets) }
}

impl Period {
    /// Keeps a packet, or several that arrive together, for the digest.
    pub(super) fn receive(&mut self, now: Cycle, receipt: &Receipt, packets: u64) {
        let Some(receipts) = &mut self.receipts else { return };
        if receipts.len() >= self.most {
            self.receipts = None;
            return;
        }
        receipts.push(Received {
            now: now.0,
            source: receipt.source.0,
            destination: receipt.destination.0,
            sequence: receipt.sequence,
            packets,
        });
    }
}

/// Packets of a message that arrive one after another at the same distance in time.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    /// The first of them. The others have its latency and its hops.
    pub first: Receipt,
    /// \[cycle\] When the first arrives.
    pub at: Cycle,
    /// \[cycles\] From each packet to the next.
    pub cycles: u64,
    /// By how much the number of each packet at its source exceeds that of the one before.
    pub numbers: u64,
    /// \[packets\] How many.
    pub packets: u64,
}

impl Recorder {
    /// Records the arrival of the packets of a series, each as [`received`](Self::received) does. Without `digest`
    /// they do not count in the digest.
    pub fn received_in_series(&mut self, series: &Series, digest: bool) {
        let Series { first: Receipt { source, destination, sequence, latency, hops }, at, cycles, numbers, packets } =
            *series;
        self.window.counts.received += packets;
        self.window.latency.record_many(latency, packets);
        self.window.hops.record_many(hops, packets);
        self.received_by_source[source.index()] += packets;
        if digest {
            let (mut now, mut number, mut sum) = (at.0, sequence, 0u64);
            for _ in 0..packets {
                sum = sum.wrapping_add(digest_of(now, source.0, destination.0, number, 1));
                (now, number) = (now + cycles, number + numbers);
            }
            self.digest = self.digest.wrapping_add(sum);
        }
    }

    /// True while a period is recorded that may be repeated.
    #[must_use]
    pub const fn is_in_period(&self) -> bool {
        self.period.is_some()
    }

    /// Begins a period that may be repeated. With `receipts` the packets received in it are kept, so that its
    /// repetitions count in the digest: at most so many.
    pub fn begin_period(&mut self, receipts: Option<usize>) {
        self.period = Some(Box::new(Period {
            window: self.window.clone(),
            received_by_source: self.received_by_source.clone(),
            receipts: receipts.map(|_| Vec::new()),
            most: receipts.unwrap_or(0),
        }));
    }

    /// Ends the period without repeating it.
    pub fn drop_period(&mut self) {
        self.period = None;
    }

    /// \[packets\] Packets of the period that count in the digest; `None` if they were not kept.
    #[must_use]
    pub fn period_receipts(&self) -> Option<usize> {
        self.period.as_ref()?.receipts.as_ref().map(Vec::len)
    }

    /// \[packets\] By source: packets received in the period.
    #[must_use]
    pub fn period_packets(&self) -> Vec<u64> {
        let Some(period) = &self.period else { return vec![0; self.received_by_source.len()] };
        self.received_by_source.iter().zip(&period.received_by_source).map(|(now, before)| now - before).collect()
    }

    /// Adds the next `times` repetitions of the period, of `cycles` cycles each, to the digest. Each source sends
    /// `packets` packets in a period.
    pub fn digest_period(&mut self, times: u64, cycles: u64, packets: &[u64]) {
        let Some(receipts) = self.period.as_mut().and_then(|period| period.receipts.as_mut()) else { return };
        let mut sum = 0u64;
        for received in receipts {
            let more = packets.get(received.source as usize).copied().unwrap_or(0);
            for _ in 0..times {
                received.now += cycles;
                received.sequence += more;
                let Received { now, source, destination, sequence, packets } = *received;
                sum = sum.wrapping_add(digest_of(now, source, destination, sequence, packets));
            }
        }
        self.digest = self.digest.wrapping_add(sum);
    }

    /// Counts everything of the period `times` times more, but for the digest, and ends the period.
    pub fn repeat_period(&mut self, times: u64) {
        let Some(period) = self.period.take() else { return };
        self.window.repeat_since(&period.window, times);
        for (now, before) in self.received_by_source.iter_mut().zip(&period.received_by_source) {
            *now += times * (*now - before);
        }
    }
}

impl Window {
    /// Counts `times` times more what has been counted since the window was `earlier`.
    fn repeat_since(&mut self, earlier: &Self, times: u64) {
        let Self { counts, latency, injection_latency, hops } = self;
        *counts = counts.plus(&counts.since(&earlier.counts).times(times));
        latency.repeat_since(&earlier.latency, times);
        injection_latency.repeat_since(&earlier.injection_latency, times);
        hops.repeat_since(&earlier.hops, times);
    }
}

impl Counts {
    /// These counts `times` times.
    fn times(&self, times: u64) -> Self {
        let short = super::Short {
            generated: self.short.generated * times,
            injected: self.short.injected * times,
            received: self.short.received * times,
            dropped: self.short.dropped * times,
        };
        Self {
            generated: self.generated * times,
            injected: self.injected * times,
            received: self.received * times,
            dropped: self.dropped * times,
            dropped_inside: self.dropped_inside * times,
            withheld: self.withheld * times,
            hops: self.hops * times,
            short,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trgen::NodeId;

    /// A period of some packets, recorded `times` times.
    fn recorded(recorder: &mut Recorder, times: std::ops::Range<u64>) {
        for time in times {
            for (latency, source) in [(5, 0), (3000, 1), (7, 1)] {
                let sequence = if source == 0 { time } else { 2 * time + latency % 2 };
                let (source, destination) = (NodeId(source), NodeId(2));
                let receipt = Receipt { source, destination, sequence, latency, hops: latency % 3 };
                recorder.generated(1);
                recorder.received(Cycle(100 * time + latency % 100), &receipt);
                recorder.departed(latency / 2);
                recorder.hops(latency % 3);
                recorder.short().received += latency;
            }
        }
    }

    #[test]
    fn a_repeated_period_is_that_which_happens_again() {
        let (mut all, mut repeated) = (Recorder::new(3), Recorder::new(3));
        recorded(&mut all, 0..60);
        recorded(&mut repeated, 0..4);
        repeated.begin_period(Some(6));
        recorded(&mut repeated, 4..6);
        assert_eq!((repeated.period_receipts(), repeated.period_packets()), (Some(6), vec![2, 4, 0]));
        repeated.digest_period(20, 200, &[2, 4, 0]);
        repeated.digest_period(6, 200, &[2, 4, 0]);
        repeated.repeat_period(26);
        recorded(&mut repeated, 58..60);
        assert_eq!(repeated, all);
        repeated.begin_period(Some(1));
        recorded(&mut repeated, 60..61);
        assert_eq!(repeated.period_receipts(), None, "too many packets");
    }
}
