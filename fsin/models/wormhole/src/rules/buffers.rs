//! How the virtual channels of an input share its buffer, as the sender sees it.
//!
//! A sender knows of each flit that it has sent into the buffer until the credit of the flit comes back. With private
//! buffers a channel has its own places. Otherwise groups of channels have some places of their own, and the rest of the
//! buffer is shared: a flit takes a place of its group first. A channel that becomes empty while a packet has it keeps
//! its last place for the next flit of this packet, so that a packet under way is never without one.
//!
//! Decision: docs/decisions/0550-shared-buffers.md.

use trgen::choices;

use crate::params::Params;

/// Source of these policies.
const BOOKSIM: &str = "BookSim 2, Jiang et al., ISPASS 2013";

choices! {
    /// How the channels of an input share its buffer.
    pub enum BufferPolicy: "buffer policy" in BUFFER_POLICIES {
        Private = "private", "every channel has a buffer of its own", BOOKSIM;
        Shared = "shared", "some places belong to groups of channels, and all channels share the others", BOOKSIM;
        Limited = "limited", "as shared, with at most {held-slots} flits of a channel", BOOKSIM;
        Dynamic = "dynamic", "as shared; a channel holds at most the whole buffer divided by the number of channels that packets have", BOOKSIM;
        Shifting = "shifting", "as dynamic, with powers of two: the whole buffer is halved for each bit of the number of other channels that packets have", BOOKSIM;
    }
}

/// A buffer that channels share, from the view of its sender.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pool {
    policy: BufferPolicy,
    /// \[flits\] Places of the whole buffer.
    size: u32,
    /// \[flits\] The most of one channel, where a number is set.
    most: u32,
    /// \[flits\] Places of each group.
    own: u32,
    /// \[flits\] Places that belong to no group.
    common: u32,
    /// By channel: its group.
    groups: Vec<u8>,
    /// \[flits\] By channel: flits in the buffer or on their way, and those whose credits are on the way back.
    used: Vec<u32>,
    /// \[flits\] By group: places that its channels have taken.
    taken: Vec<u32>,
    /// \[flits\] Common places that are taken.
    shared: u32,
    /// Channels that packets have, as a mask.
    owned: u32,
    /// Channels that keep a place while they are empty, as a mask.
    kept: u32,
}

impl Pool {
    /// An empty buffer.
    pub(crate) fn new(params: &Params) -> Self {
        let vcs = params.vcs;
        let size = params.port_buffer();
        let (groups, own) = match params.buffer_policy {
            BufferPolicy::Private => (vcs, params.buffer),
            _ => (params.private_buffers.unwrap_or(vcs), params.private_buffer),
        };
        // Group i begins with channel i x VCs / groups.
        let group = |vc: usize| (0..groups).rev().find(|group| group * vcs / groups <= vc).unwrap_or(0);
        Self {
            policy: params.buffer_policy,
            size,
            most: match params.buffer_policy {
                BufferPolicy::Private => params.buffer,
                BufferPolicy::Limited => params.held_slots.unwrap_or(size),
                _ => size,
            },
            own,
            common: size.saturating_sub(own * groups as u32),
            groups: (0..vcs).map(|vc| group(vc) as u8).collect(),
            used: vec![0; vcs],
            taken: vec![0; groups],
            shared: 0,
            owned: 0,
            kept: 0,
        }
    }

    /// \[flits\] The most that one channel may hold now.
    fn limit(&self) -> u32 {
        let owned = self.owned.count_ones().max(1);
        match self.policy {
            BufferPolicy::Private | BufferPolicy::Shared | BufferPolicy::Limited => self.most,
            BufferPolicy::Dynamic => self.size / owned,
            BufferPolicy::Shifting => self.size >> (u32::BITS - (owned - 1).leading_zeros()),
        }
    }

    /// \[flits\] Flits of a channel whose credits have not come back.
    pub(crate) fn used(&self, vc: usize) -> u32 {
        self.used[vc]
    }

    /// \[flits\] Places that a channel may take now.
    pub(crate) fn room(&self, vc: usize) -> u32 {
        let own = self.own.saturating_sub(self.taken[usize::from(self.groups[vc])]);
        let free = (self.kept >> vc & 1) + own + (self.common - self.shared);
        free.min(self.limit().saturating_sub(self.used[vc]))
    }

    /// Gives a channel to a packet.
    pub(crate) fn own(&mut self, vc: usize) {
        self.owned |= 1 << vc;
    }

    /// Takes a place for a flit, for which there must be [room](Self::room).
    pub(crate) fn send(&mut self, vc: usize, is_tail: bool) {
        self.used[vc] += 1;
        if self.kept >> vc & 1 != 0 {
            self.kept &= !(1 << vc);
        } else {
            let taken = &mut self.taken[usize::from(self.groups[vc])];
            *taken += 1;
            self.shared += u32::from(*taken > self.own);
        }
        if is_tail {
            self.owned &= !(1 << vc);
        }
    }

    /// Takes back a credit.
    pub(crate) fn credit(&mut self, vc: usize) {
        self.used[vc] -= 1;
        if self.used[vc] == 0 && self.owned >> vc & 1 != 0 {
            self.kept |= 1 << vc;
            return;
        }
        let taken = &mut self.taken[usize::from(self.groups[vc])];
        self.shared -= u32::from(*taken > self.own);
        *taken -= 1;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn pool(buffer_policy: BufferPolicy, change: impl Fn(&mut Params)) -> Pool {
        let mut params = Params { vcs: 4, buffer: 4, buffer_policy, ..Params::default() };
        change(&mut params);
        Pool::new(&params)
    }

    #[test]
    fn places_of_a_group_go_first() {
        let mut pool = pool(BufferPolicy::Shared, |params| params.private_buffer = 2);
        assert_eq!(pool.room(0), 10, "2 of its own and 8 common ones");
        pool.own(0);
        (0..10).for_each(|_| pool.send(0, false));
        assert_eq!([0, 1, 2, 3].map(|vc| pool.room(vc)), [0, 2, 2, 2]);
        pool.credit(0);
        assert_eq!([0, 1].map(|vc| pool.room(vc)), [1, 3], "a common place comes back first");
        (0..9).for_each(|_| pool.credit(0));
        assert_eq!([0, 1].map(|vc| pool.room(vc)), [10, 10], "the last place is kept: one of its own");
        pool.send(0, true);
        pool.credit(0);
        assert_eq!((pool.used(0), pool.room(0), pool.room(1)), (0, 10, 10));
    }

    #[test]
    fn a_packet_keeps_a_place() {
        let mut pool =
            pool(BufferPolicy::Shared, |params| (params.private_buffers, params.private_buffer) = (Some(1), 1));
        pool.own(0);
        pool.own(1);
        pool.send(0, false);
        (0..15).for_each(|_| pool.send(1, false));
        pool.credit(0);
        assert_eq!([0, 1, 2].map(|vc| pool.room(vc)), [1, 0, 0]);
    }

    #[test]
    fn limits_follow_the_packets() {
        let limits = |policy, held: Option<u32>| {
            let mut pool = pool(policy, |params| params.held_slots = held);
            [0, 1, 2, 3].map(|vc| {
                pool.own(vc);
                pool.limit()
            })
        };
        assert_eq!(limits(BufferPolicy::Private, None), [4; 4]);
        assert_eq!(limits(BufferPolicy::Limited, Some(6)), [6; 4]);
        assert_eq!(limits(BufferPolicy::Dynamic, None), [16, 8, 5, 4]);
        assert_eq!(limits(BufferPolicy::Shifting, None), [16, 8, 4, 4]);
    }
}
