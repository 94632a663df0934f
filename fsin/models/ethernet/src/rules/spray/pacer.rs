//! The receiver's credits of Ultra Ethernet (RCCC): one pacer for each host, shared by the connections to it.
//!
//! Source: Ultra Ethernet Specification 1.0, 3.6.14 (receiver credit congestion control).

use std::collections::VecDeque;

use super::sender::QUANTUM;

/// \[quanta\] Largest grant of a pull.
const GRANT: u64 = 64;
/// \[quanta\] Time that a pull without a grant takes.
const EMPTY: u64 = 4;

/// Credit of a connection at its receiver.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Credit {
    /// \[quanta\] Total requested by the sender.
    target: u64,
    /// \[quanta\] Total granted.
    given: u64,
    /// True while it is among the active ones.
    is_active: bool,
    /// Number of its entries in the lists.
    pub(crate) listed: u32,
}

/// A pull to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pull {
    pub(crate) flow: u32,
    /// \[quanta\] Total granted.
    pub(crate) given: u64,
}

/// The pacer of a host.
#[derive(Clone, Default, Debug)]
pub(crate) struct Pacer {
    active: VecDeque<u32>,
    idle: VecDeque<u32>,
    /// \[ps\] When it grants next; `None` while it waits for a request.
    pub(crate) next_at: Option<u64>,
}

impl Pacer {
    /// A connection requests credit: it becomes active if its target is above the highest so far, or if `must` is set.
    pub(crate) fn request(&mut self, flow: u32, credit: &mut Credit, target: u64, must: bool) {
        let is_more = target > credit.target;
        credit.target = credit.target.max(target);
        if (is_more || must) && !credit.is_active {
            credit.is_active = true;
            credit.listed += 1;
            self.active.push_back(flow);
        }
    }

    /// The connection that is served next; idle ones only if none is active.
    pub(crate) fn next(&self) -> Option<u32> {
        self.active.front().or(self.idle.front()).copied()
    }

    /// Serves the [next](Self::next) connection at time `now`. Returns its pull. `quantum` \[ps\] is the time of a
    /// quantum, `most` \[bytes\] the credit that an idle connection may hold in advance.
    pub(crate) fn serve(&mut self, credit: &mut Credit, now: u64, quantum: u64, most: u64) -> Option<Pull> {
        let is_active = !self.active.is_empty();
        let flow = if is_active { self.active.pop_front()? } else { self.idle.pop_front()? };
        credit.listed -= 1;
        let grant = if is_active { GRANT.min(credit.target.saturating_sub(credit.given)) } else { GRANT };
        credit.given += grant;
        if is_active {
            credit.is_active = credit.target > credit.given;
        }
        if is_active && credit.is_active {
            credit.listed += 1;
            self.active.push_back(flow);
        } else if is_active || (credit.given.saturating_sub(credit.target)) * QUANTUM < most {
            credit.listed += 1;
            self.idle.push_back(flow);
        }
        let quanta = if grant == 0 { EMPTY } else { grant };
        self.next_at = Some(now.saturating_add(quanta * quantum));
        Some(Pull { flow, given: credit.given })
    }
}

/// \[ps\] The time of a quantum at a rate \[b/s\]: at 99 % of it.
pub(crate) fn quantum_time(rate: u64) -> u64 {
    (8.0 * QUANTUM as f64 * 1e12 / rate as f64 / 0.99) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_connections_take_turns_and_idle_ones_are_served_when_none_asks() {
        assert_eq!(quantum_time(100_000_000_000), 20_686);
        let mut pacer = Pacer::default();
        let mut credits = [Credit::default(), Credit::default()];
        pacer.request(0, &mut credits[0], 100, false);
        pacer.request(1, &mut credits[1], 30, false);
        pacer.request(1, &mut credits[1], 20, false);
        let mut given = Vec::new();
        for _ in 0..6 {
            let flow = pacer.next().unwrap() as usize;
            let pull = pacer.serve(&mut credits[flow], 0, 10, 20_000).unwrap();
            given.push((pull.flow, pull.given, pacer.next_at.unwrap() / 10));
        }
        assert_eq!(given, [(0, 64, 64), (1, 30, 30), (0, 100, 36), (1, 94, 64), (0, 164, 64), (1, 158, 64)]);
        // The surplus has reached the limit of an idle connection: 128 quanta of 256 bytes.
        let pull = pacer.serve(&mut credits[0], 0, 10, 20_000).unwrap();
        assert_eq!((pull.given, pacer.next()), (228, None));
        pacer.request(0, &mut credits[0], 0, true);
        let pull = pacer.serve(&mut credits[0], 0, 10, 20_000).unwrap();
        assert_eq!((pull.given, pacer.next_at), (228, Some(40)));
    }
}
