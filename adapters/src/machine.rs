//! The network interface of a virtual machine as a stepped guest.
//!
//! A machine has a clock of whole nanoseconds that counts its instructions. Its frames enter the network at the moment
//! at which the machine sends them, and the machine is handed frames at the moment of their arrival, rounded up to its
//! clock. At the end of a step the machine stands still until the network lets it go on.
//!
//! The address of an interface is that of its node ([`address_of`]), so that nothing has to be learnt: a frame goes to
//! the node in its destination address, and a copy of a frame to a group goes to every other machine, in the order of
//! nodes. A frame of the type [`MARKS`] is a mark: it is not sent.
//!
//! # How it departs from reality, and who could notice
//! - A message has the size of the frame, without preamble, padding and check sequence.
//! - The queue between interface and network has no limit: no frame is lost in it.
//! - The interface has no time of its own beyond the declared overheads.

use bytes::Bytes;

use crate::address::Address;
use crate::clock::{FOREVER, Time};
use crate::guest::{Config, Event, Guest, GuestError};
use crate::protocol::Inject;

/// \[ps\] A tick of a machine's clock.
pub const TICK: Time = 1000;
/// The first three bytes of the address of a machine; the others are its node.
const PREFIX: [u8; 3] = [0x52, 0x54, 0x00];
/// Number of nodes that an address can name.
pub const NODES: u32 = 1 << 24;
/// The label of the mark by which a machine says that it switches itself off.
pub const OFF: &str = "poweroff";
/// Type of the frames that are marks ("local experimental"); their content is `fsin`, a length, and the label.
pub const MARKS: u16 = 0x88b5;
/// \[bytes\] Length of the header of a frame: two addresses and a type.
const HEADER: usize = 14;

/// The address of the machine at a node.
#[must_use]
pub const fn address_of(node: u32) -> [u8; 6] {
    let [_, a, b, c] = node.to_be_bytes();
    [PREFIX[0], PREFIX[1], PREFIX[2], a, b, c]
}

/// The node of an address; `None` if it is not the address of a machine.
fn node_of(address: &[u8]) -> Option<u32> {
    let rest = address.strip_prefix(&PREFIX)?;
    Some(u32::from_be_bytes([0, *rest.first()?, *rest.get(1)?, *rest.get(2)?]))
}

/// The label of a mark; `None` if the frame is not a mark.
fn mark_of(frame: &[u8]) -> Option<String> {
    let (header, content) = frame.split_at_checked(HEADER)?;
    let (length, label) = content.strip_prefix(b"fsin")?.split_first()?;
    let label = label.get(..usize::from(*length))?;
    (header[12..] == MARKS.to_be_bytes()).then(|| String::from_utf8_lossy(label).into_owned())
}

/// The treatment of a frame that a machine sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// The frame was sent into the network, or dropped because no node has its destination address.
    Frame,
    /// The frame is a mark: the machine's turn may be over, and [`Machine::turn`] must be called at this moment.
    Mark,
}

/// A machine's interface; times are those of the machine's clock, in nanoseconds.
#[derive(Debug)]
pub struct Machine {
    guest: Guest,
    node: u32,
    /// The nodes of the other machines, in ascending order.
    peers: Vec<u32>,
    /// Labels of the marks that have been sent since the last turn.
    marks: Vec<String>,
    /// True once it has set the mark [`OFF`].
    is_off: bool,
}

impl Machine {
    /// Connects the machine at `config`'s first node, and waits until time begins.
    ///
    /// # Errors
    /// No endpoint listens, or it refuses the machine with a reason.
    pub fn connect(address: &Address, config: &Config, mut peers: Vec<u32>) -> Result<Self, GuestError> {
        let node = config.nodes.first().copied().unwrap_or(0);
        peers.sort_unstable();
        peers.dedup();
        peers.retain(|&peer| peer != node);
        let mut guest = Guest::connect(address, &config.clone().stepped(config.step))?;
        guest.until()?;
        Ok(Self { guest, node, peers, marks: Vec::new(), is_off: false })
    }

    /// Sends a frame at `now` \[ns\].
    ///
    /// # Errors
    /// The run has ended.
    pub fn send(&mut self, now: u64, frame: &[u8]) -> Result<Taken, GuestError> {
        if let Some(label) = mark_of(frame) {
            self.is_off |= label == OFF;
            self.marks.push(label);
            return Ok(Taken::Mark);
        }
        self.reach(now, None)?;
        let to = frame.get(..6).unwrap_or_default();
        let is_group = to.first().is_some_and(|first| first & 1 != 0);
        let receivers: Vec<u32> = match node_of(to) {
            _ if is_group => self.peers.clone(),
            Some(node) if self.peers.binary_search(&node).is_ok() => vec![node],
            _ => Vec::new(),
        };
        for destination in receivers {
            let (size, payload) = (frame.len() as u64, Bytes::copy_from_slice(frame));
            let inject =
                Inject { destination, notify: false, size, cookie: 0, unmodelled: false, identified: None, payload };
            self.guest.inject(0, inject)?;
        }
        Ok(Taken::Frame)
    }

    /// Sets the marks that the machine has sent, lets the network simulate up to `now` \[ns\], and returns the frames
    /// that have arrived. `idle` is given if the machine is idle: nothing but a frame can wake it before this time
    /// \[ns\], and the network need not stop for it before.
    ///
    /// # Errors
    /// The run has ended.
    pub fn turn(&mut self, now: u64, idle: Option<u64>) -> Result<Vec<Bytes>, GuestError> {
        let idle = idle.filter(|_| self.marks.is_empty());
        self.reach(now, idle)?;
        for label in std::mem::take(&mut self.marks) {
            self.guest.mark(&label)?;
        }
        self.reach(now, idle)?;
        let mut frames = Vec::new();
        while self.guest.next_event().is_some_and(|time| time.div_ceil(TICK) <= now) {
            match self.guest.poll()? {
                Some(Event::Message(arrival)) => frames.push(arrival.payload),
                Some(Event::Sent { .. }) => {}
                None => break,
            }
        }
        Ok(frames)
    }

    /// \[ns\] The time at which [`turn`](Self::turn) must be called next; `None` if only after the machine sets a mark.
    ///
    /// # Errors
    /// The run has ended.
    pub fn next_turn(&mut self) -> Result<Option<u64>, GuestError> {
        let due = self.guest.until()?.min(self.guest.next_event().unwrap_or(FOREVER));
        Ok((due != FOREVER).then(|| due.div_ceil(TICK)))
    }

    /// True once the machine has said that it switches itself off. Its last moment is that of this mark: when QEMU ends
    /// after it depends on the host.
    #[must_use]
    pub const fn is_off(&self) -> bool {
        self.is_off
    }

    /// The node of the machine.
    #[must_use]
    pub const fn node(&self) -> u32 {
        self.node
    }

    /// Says goodbye.
    ///
    /// # Errors
    /// The run has ended otherwise.
    pub fn finish(mut self, now: u64) -> Result<(), GuestError> {
        self.reach(now, None)?;
        self.guest.finish("the machine has ended")
    }

    /// Ends turns until the machine's clock may be at `now` \[ns\]. `idle` is as for [`turn`](Self::turn).
    fn reach(&mut self, now: u64, idle: Option<u64>) -> Result<(), GuestError> {
        let now = now.saturating_mul(TICK);
        loop {
            let until = self.guest.until()?;
            if until == FOREVER || until > now {
                break;
            }
            let known = self.guest.next_event().unwrap_or(FOREVER);
            let idle = idle.map_or(until, |idle| idle.saturating_mul(TICK));
            self.guest.idle(idle.min(known).max(until))?;
        }
        self.guest.advance(now.saturating_sub(self.guest.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_nodes() {
        assert_eq!(address_of(0x01_02_03), [0x52, 0x54, 0, 1, 2, 3]);
        assert_eq!(node_of(&address_of(70_000)), Some(70_000));
        assert_eq!(node_of(&[0x52, 0x54, 1, 0, 0, 0]), None);
        assert_eq!(node_of(&[0x52, 0x54, 0, 0]), None);
    }

    #[test]
    fn marks_are_frames_of_their_own_type() {
        let mut frame =
            [&address_of(1)[..], &address_of(0)[..], &MARKS.to_be_bytes()[..], b"fsin\x05ready\0\0\0"].concat();
        assert_eq!(mark_of(&frame).as_deref(), Some("ready"));
        frame[13] = 0;
        assert_eq!(mark_of(&frame), None, "another type");
        assert_eq!(mark_of(&[0; 20]), None);
        let long = [&address_of(1)[..], &address_of(0)[..], &MARKS.to_be_bytes()[..], b"fsin\xffready"].concat();
        assert_eq!(mark_of(&long), None, "a label beyond the end of the frame");
    }
}
