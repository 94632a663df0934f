//! Network-wide state, updated from the partitions' reports.

use trgen::{Cycle, Message};

use super::part::Report;
use fsin_core::messages::Messages;
use fsin_core::network::Notices;

/// The messages under way, and totals of all packets.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) messages: Messages,
    /// \[messages\] By endpoint: messages at its interface.
    pub(super) unsent: Vec<u32>,
    /// Messages of the cycle at which the clock stands that have been sent already.
    pub(super) sent_at_once: Vec<Message>,
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
            messages: Messages::new(endpoints),
            unsent: vec![0; endpoints],
            sent_at_once: Vec::new(),
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
        let recorder = &mut self.messages.recorder;
        recorder.departed_after(&waited);
        self.work += std::mem::take(&mut report.work);
        recorder.hops(std::mem::take(&mut report.hops));
        recorder.injected(std::mem::take(&mut report.injected));
        for slot in report.sent.drain(..) {
            self.unsent[self.messages.get(slot).message.source.index()] -= 1;
            self.messages.sent(slot, notices);
        }
        if !report.damaged.is_empty() {
            report.damaged.drain(..).for_each(|(source, sequence)| self.messages.damage(source, sequence));
        }
        for (slot, receipt) in report.received.drain(..) {
            self.in_network -= u64::from(receipt.hops > 0);
            self.messages.arrive(slot, Cycle(now), &receipt, 0, notices);
        }
    }
}
