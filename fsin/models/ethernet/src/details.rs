//! What this model measures beyond what every model does.

use fsin_core::capture::Interface;
use fsin_core::network::{Measure, PortFigures};
use fsin_core::stats::Distribution;

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
    /// \[frames\] Frames that found the queue full; with flow control, frames that found no room at the input.
    pub dropped: u64,
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Details {
    /// \[ps\] Time since the start of the run.
    pub elapsed: u64,
    /// Counts of frames and bytes.
    pub totals: Totals,
    /// All ports, hosts first.
    pub ports: Vec<PortDetails>,
}

impl Details {
    /// Number of frames that links have carried, those between hosts and switches included.
    #[must_use]
    pub fn frame_hops(&self) -> u64 {
        self.ports.iter().map(|port| port.frames).sum()
    }

    /// The figures of all ports.
    pub(crate) fn figures(&self) -> Vec<PortFigures> {
        let share = |time: u64| if self.elapsed == 0 { 0.0 } else { time as f64 / self.elapsed as f64 };
        let figures = |port: &PortDetails| PortFigures {
            at: port.at,
            to: port.to,
            packets: port.frames,
            dropped: port.dropped,
            damaged: port.damaged,
            queue_mean: port.mean_queue(self.elapsed),
            queue_max: port.longest,
            utilisation: port.utilisation(self.elapsed),
            queue_shares: port.lengths.map(|lengths| {
                let used = lengths.iter().rposition(|&time| time > 0).map_or(0, |last| last + 1);
                lengths[..used].iter().map(|&time| share(time)).collect()
            }),
        };
        self.ports.iter().map(figures).collect()
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
