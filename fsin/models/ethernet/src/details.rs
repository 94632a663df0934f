//! What this model measures beyond what every model does.

use fsin_core::capture::{Interface, Place};
use fsin_core::network::{BufferFigures, ClassFigures, Measure, PortFigures, QueueFigures};
use fsin_core::stats::Distribution;

use crate::params::Params;
use crate::rules::frame::CLASSES;
use crate::rules::tally::{Occupancy, OfClass, Tally};
use crate::rules::wiring::Wiring;

/// The measures that [`Details::measures`] gives.
static MEASURES: [Measure; 17] = [
    Measure::new("frame_hops", "frames", "that links carried, those between hosts and switches included"),
    Measure::new("frames_dropped", "frames", "that found a queue full"),
    Measure::new("frames_damaged", "frames", "discarded because a link damaged them"),
    Measure::new(
        "frames_flooded",
        "frames",
        "copies that switches made of frames to unknown addresses, beyond the first",
    ),
    Measure::new("retransmissions", "frames", "of messages, sent again"),
    Measure::new("fast_retransmits", "", "of windows, by duplicate acknowledgements"),
    Measure::new("timeouts", "", "of windows"),
    Measure::new("acknowledgements", "frames", "sent"),
    Measure::new("pauses", "frames", "PAUSE frames, to stop and to go on"),
    Measure::new("messages_lost", "messages", "of which a frame was lost for good"),
    Measure::new("goodput", "b/s", "bits of messages received for the first time"),
    Measure::new("throughput", "b/s", "bits on the wire received by destinations"),
    Measure::new("longest_queue", "frames", "of all ports of switches"),
    Measure::new("mean_queue", "frames", "over time, of the port of a switch where it was largest"),
    Measure::new("highest_utilisation", "", "share of the time, of the link where it was largest"),
    Measure::new("message_latency_mean", "ns", "from a message's being offered to its last bit"),
    Measure::new("message_latency_max", "ns", "the longest of them"),
];

/// A measure of networks whose links fail.
pub(crate) static FRAMES_LOST: Measure = Measure::new(
    "frames_lost_on_dead_links",
    "frames",
    "copies on a link that died, in the queue before it, or sent to it",
);

/// Measures of networks whose ports have classes.
pub(crate) static OF_CLASSES: [Measure; 2] = [
    Measure::new("frames_marked", "frames", "on which a switch has set the mark of congestion"),
    Measure::new("pause_frames", "frames", "PAUSE frames, to stop and to go on"),
];

/// Measures of networks whose transport sprays frames.
pub(crate) static OF_SPRAY: [Measure; 4] = [
    Measure::new("frames_trimmed", "frames", "whose data a switch has cut off, since its queue was full"),
    Measure::new("negative_acknowledgements", "frames", "sent, of trimmed frames"),
    Measure::new("pulls", "frames", "sent, by which receivers let senders send"),
    Measure::new("rts", "frames", "requests to send, after a time-out without window or credit"),
];

/// Counts of frames and bytes since the start of the run, without PAUSE frames. A frame that is flooded becomes several
/// copies. A frame that is sent again is another frame.
///
/// At every instant `frames_sent + copies_made` is the sum of `frames_received`, `copies_filtered`, the frames that
/// ports have [dropped](PortDetails::dropped), the frames that links have [damaged](PortDetails::damaged), those
/// [lost on dead links](Self::lost_on_dead_links), and the copies under way.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Totals {
    /// Number of frames that hosts have begun to send.
    pub frames_sent: u64,
    /// \[frames\] Copies that flooding has made, without the first copy of each frame.
    pub copies_made: u64,
    /// Number of frames that came to their destination, duplicates included.
    pub frames_received: u64,
    /// \[frames\] Copies flooded to a host that they are not for, or filtered by a switch.
    pub copies_filtered: u64,
    /// \[frames\] Frames received more than once.
    pub duplicates: u64,
    /// Number of frames of messages that were sent again: by the window, or by the oracle.
    pub retransmissions: u64,
    /// Number of fast retransmits of windows.
    pub fast_retransmits: u64,
    /// Number of time-outs of windows.
    pub timeouts: u64,
    /// \[frames\] Acknowledgements sent.
    pub acknowledgements: u64,
    /// \[messages\] Messages of which a frame was lost for good.
    pub messages_lost: u64,
    /// \[bytes\] Data of messages that were received for the first time: goodput.
    pub payload_received: u64,
    /// \[bytes\] Size on the wire of frames received by destinations: throughput.
    pub bytes_received: u64,
    /// \[bytes\] Size on the wire of frames sent by hosts.
    pub bytes_sent: u64,
    /// \[frames\] PAUSE frames sent by switches, both to stop and to go on.
    pub pauses: u64,
    /// \[frames\] Copies lost because a link was dead.
    pub lost_on_dead_links: u64,
    /// \[frames\] Of transports that spray: negative acknowledgements sent, of trimmed frames.
    pub negative_acknowledgements: u64,
    /// \[frames\] Of transports that spray: pulls sent, by which receivers give credit.
    pub pulls: u64,
    /// \[frames\] Of the transport `uec`: requests to send.
    pub requests: u64,
    /// Number of frames that hosts have begun to send again.
    pub(crate) sent_again: u64,
}

/// Number of bins of the lengths of a queue: 0 frames, then 1, 2 to 3, 4 to 7 and so on.
pub const BINS: usize = 32;

/// A port: its output queue and the link that leaves through it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortDetails {
    /// The port. At a switch of a direct network, the port to the host follows all others.
    pub at: Interface,
    /// The port at the other end of the link.
    pub to: Interface,
    /// Number of frames that have arrived through the link, at a cut-through switch with their headers; PAUSE frames
    /// too.
    pub frames: u64,
    /// \[ps\] Time for which these frames occupied the link.
    pub busy: u64,
    /// \[b/s\] Rate of the link.
    pub rate: u64,
    /// \[frames\] Frames that found the queue full; with flow control, frames that found no room at the input.
    pub dropped: u64,
    /// \[frames\] Frames whose data were cut off, since the queue was full.
    pub trimmed: u64,
    /// \[frames\] Frames that the link has damaged, counted when they were discarded.
    pub damaged: u64,
    /// \[frames\] Longest queue, without the frame in transmission; 0 for hosts.
    pub longest: u64,
    /// \[frames x ps\] Length of the queue, summed over time. Divided by the time since the start it is the mean
    /// length.
    pub area: u128,
    /// \[ps\] By [bin](BINS): time for which the queue had such a length; `None` for hosts and where it is not kept.
    pub lengths: Option<[u64; BINS]>,
}

impl PortDetails {
    /// Share of the time `elapsed` \[ps\] in which the link was occupied.
    #[must_use]
    pub fn utilisation(&self, elapsed: u64) -> f64 {
        if elapsed == 0 { 0.0 } else { (self.busy as f64 / elapsed as f64).min(1.0) }
    }

    /// \[frames\] Mean length of the queue over the time `elapsed` \[ps\].
    #[must_use]
    pub fn mean_queue(&self, elapsed: u64) -> f64 {
        if elapsed == 0 { 0.0 } else { self.area as f64 / elapsed as f64 }
    }
}

/// What this model measures beyond what every model does, since the start of the run.
#[derive(Clone, PartialEq, Debug)]
pub struct Details {
    /// \[ps\] Time since the start of the run.
    pub elapsed: u64,
    /// Counts of frames and bytes.
    pub totals: Totals,
    /// All ports, hosts first.
    pub ports: Vec<PortDetails>,
    /// Figures of classes and buffers; `None` where ports have no classes.
    pub by_class: Option<ByClass>,
}

/// Figures of classes and buffers.
#[derive(Clone, PartialEq, Debug)]
pub struct ByClass {
    /// The classes that frames of the run have, a bit for each.
    pub used: u8,
    /// By port: the classes of which something happened there.
    pub ports: Vec<Vec<ClassFigures>>,
    /// The buffers of switches, where ports share them.
    pub buffers: Vec<BufferFigures>,
}

impl ByClass {
    /// What was counted up to time `now` \[ps\].
    pub(crate) fn new(tally: &Tally, params: &Params, wiring: &Wiring, now: u64) -> Self {
        let mean = |area: u128| if now == 0 { 0.0 } else { area as f64 / now as f64 };
        let of_class = |(class, of): (u8, &OfClass)| ClassFigures {
            class,
            marked: of.marked,
            dropped: of.dropped,
            pause_frames: of.pauses,
            watchdogs: of.watchdogs,
            paused: of.paused(now),
            queue_mean: mean(of.area(now)),
            queue_max: of.longest,
            arrived: None,
        };
        let of_port =
            |classes: &[OfClass; CLASSES]| (0..).zip(classes).map(of_class).filter(ClassFigures::is_any).collect();
        let buffer = |(switch, of): (usize, &Occupancy)| {
            let node = wiring.node(wiring.hosts + switch);
            BufferFigures { node, mean: mean(of.area(now)), max: of.most }
        };
        let buffers = tally.switches.iter().enumerate().filter(|_| params.switch.buffer.is_some()).map(buffer);
        Self { used: params.switch.used, ports: tally.ports.iter().map(of_port).collect(), buffers: buffers.collect() }
    }
}

impl Details {
    /// Number of frames that links have carried, those between hosts and switches included.
    #[must_use]
    pub fn frame_hops(&self) -> u64 {
        self.ports.iter().map(|port| port.frames).sum()
    }

    /// Figures of classes and buffers; `None` where ports have no classes.
    pub(crate) fn queues(&self) -> Option<QueueFigures> {
        let by_class = self.by_class.as_ref()?;
        let mut all: Vec<ClassFigures> =
            (0..CLASSES as u8).map(|class| ClassFigures { class, ..ClassFigures::default() }).collect();
        for (port, classes) in self.ports.iter().zip(&by_class.ports) {
            for of in classes {
                let sum = &mut all[usize::from(of.class)];
                sum.marked += of.marked;
                sum.dropped += of.dropped;
                sum.pause_frames += of.pause_frames;
                sum.watchdogs += of.watchdogs;
                sum.paused += of.paused;
                if matches!(port.at.place, Place::Switch(_)) {
                    sum.queue_mean = sum.queue_mean.max(of.queue_mean);
                    sum.queue_max = sum.queue_max.max(of.queue_max);
                }
            }
        }
        all.retain(|of| by_class.used >> of.class & 1 == 1 || of.is_any());
        Some(QueueFigures { classes: all, buffers: by_class.buffers.clone(), pause_frames: self.totals.pauses })
    }

    /// The figures of all ports.
    pub(crate) fn figures(&self) -> Vec<PortFigures> {
        let share = |time: u64| if self.elapsed == 0 { 0.0 } else { time as f64 / self.elapsed as f64 };
        let none = Vec::new();
        let classes = |at: usize| self.by_class.as_ref().map_or(&none, |by_class| &by_class.ports[at]).clone();
        let figures = |(at, port): (usize, &PortDetails)| PortFigures {
            classes: classes(at),
            at: port.at,
            to: port.to,
            packets: port.frames,
            dropped: port.dropped,
            damaged: port.damaged,
            queue_mean: port.mean_queue(self.elapsed),
            queue_max: port.longest,
            utilisation: port.utilisation(self.elapsed),
            bits: Some(port.busy as f64 * port.rate as f64 / 1e12),
            rate: Some(port.rate as f64),
            queue_shares: port.lengths.map(|lengths| {
                let used = lengths.iter().rposition(|&time| time > 0).map_or(0, |last| last + 1);
                lengths[..used].iter().map(|&time| share(time)).collect()
            }),
        };
        self.ports.iter().enumerate().map(figures).collect()
    }

    /// The counts as figures of a result. `messages` are the latencies of messages.
    pub(crate) fn measures(&self, messages: &Distribution) -> Vec<(&'static Measure, f64)> {
        let (dropped, damaged) = self.losses();
        let totals = &self.totals;
        let largest = |value: &dyn Fn(&PortDetails) -> f64| self.ports.iter().map(value).fold(0.0, f64::max);
        let latency = messages.moments();
        let values = [
            self.frame_hops() as f64,
            dropped as f64,
            damaged as f64,
            totals.copies_made as f64,
            totals.retransmissions as f64,
            totals.fast_retransmits as f64,
            totals.timeouts as f64,
            totals.acknowledgements as f64,
            totals.pauses as f64,
            totals.messages_lost as f64,
            self.goodput(),
            self.throughput(),
            largest(&|port| port.longest as f64),
            largest(&|port| port.mean_queue(self.elapsed)),
            largest(&|port| port.utilisation(self.elapsed)),
            latency.mean().unwrap_or(0.0) / 1e3,
            latency.max().unwrap_or(0) as f64 / 1e3,
        ];
        MEASURES.iter().zip(values).collect()
    }

    /// \[frames\] Frames that queues have dropped, and frames that links have damaged.
    #[must_use]
    pub fn losses(&self) -> (u64, u64) {
        self.ports.iter().fold((0, 0), |(dropped, damaged), port| (dropped + port.dropped, damaged + port.damaged))
    }

    /// \[b/s\] Goodput: bits of messages received for the first time.
    #[must_use]
    pub fn goodput(&self) -> f64 {
        self.rate(self.totals.payload_received)
    }

    /// \[b/s\] Throughput: bits on the wire received by destinations.
    #[must_use]
    pub fn throughput(&self) -> f64 {
        self.rate(self.totals.bytes_received)
    }

    /// \[b/s\] Mean rate of a number of bytes since the start.
    fn rate(&self, bytes: u64) -> f64 {
        if self.elapsed == 0 { 0.0 } else { 8e12 * bytes as f64 / self.elapsed as f64 }
    }
}
