//! Network-wide state, updated from the partitions' reports.

use trgen::Cycle;

use super::part::Report;
use crate::engine::messages::Messages;
use fsin_core::network::Notices;
use fsin_core::stats::Recorder;

/// The messages under way, and totals of all packets.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) messages: Messages,
    /// By endpoint: true if its interface accepts no message before the present one has been sent.
    pub(super) is_full: Vec<bool>,
    pub(super) recorder: Recorder,
    /// \[packets\] Accepted packets that have not been ejected.
    pub(super) in_flight: u64,
    /// \[packets\] Packets whose header has left its injection queue and whose tail has not been ejected.
    pub(super) in_network: u64,
    /// Number of work items of the next cycle.
    pub(super) work: usize,
    /// \[cycle\] The last cycle in which a phit moves, as known so far.
    pub(super) moves_until: u64,
}

impl Whole {
    /// State of an empty network.
    pub(super) fn new(endpoints: usize) -> Self {
        Self {
            messages: Messages::new(),
            is_full: vec![false; endpoints],
            recorder: Recorder::new(endpoints),
            in_flight: 0,
            in_network: 0,
            work: 0,
            moves_until: Cycle::FIRST.0,
        }
    }

    /// Adds a partition's report of cycle `now`, and empties the report.
    pub(super) fn read(&mut self, report: &mut Report, now: u64, notices: &mut Notices) {
        self.moves_until = self.moves_until.max(std::mem::take(&mut report.moves_until));
        let waited = std::mem::take(&mut report.waited);
        self.in_network += waited.count();
        self.recorder.departed_after(&waited);
        self.work += std::mem::take(&mut report.work);
        self.recorder.hops(std::mem::take(&mut report.hops));
        self.recorder.injected(std::mem::take(&mut report.injected));
        for slot in report.sent.drain(..) {
            let message = self.messages.get(slot);
            self.is_full[message.source.index()] = false;
            notices.sent.push(message);
        }
        for (slot, receipt) in report.received.drain(..) {
            self.recorder.received(Cycle(now), &receipt);
            self.in_network -= u64::from(receipt.hops > 0);
            self.messages.packet_received(slot, Cycle(now), notices);
            self.in_flight -= 1;
        }
    }
}
