//! Ethernet as far as a relay needs it: frames in a stream, addresses, and the node of each address.

use std::collections::HashMap;

use bytes::{Buf, Bytes, BytesMut};

/// \[bytes\] Shortest frame: two addresses and a type.
pub(super) const SHORTEST: usize = 14;
/// \[bytes\] Longest frame that QEMU sends (its buffer of 64 KiB plus 4 KiB).
pub(super) const LONGEST: usize = 69_632;
/// Largest number of addresses that are remembered; frames to others are flooded.
const ADDRESSES: usize = 1 << 16;

/// An address of a network interface.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Mac([u8; 6]);

impl Mac {
    /// True for broadcast and multicast addresses.
    pub(super) const fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

/// Receiver and sender of a frame; `None` if it is too short.
pub(super) fn addresses(frame: &[u8]) -> Option<(Mac, Mac)> {
    let (to, rest) = frame.split_first_chunk::<6>()?;
    let (from, _) = rest.split_first_chunk::<6>()?;
    (frame.len() >= SHORTEST).then_some((Mac(*to), Mac(*from)))
}

/// The error of a stream that announces a frame of this many bytes, more than [`LONGEST`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Oversize(pub(super) u32);

/// The next frame of a stream in QEMU's `stream` framing: its length in four bytes, big-endian, and its bytes.
pub(super) fn take_frame(stream: &mut BytesMut) -> Result<Option<Bytes>, Oversize> {
    let Some(&length) = stream.first_chunk::<4>() else { return Ok(None) };
    let announced = u32::from_be_bytes(length);
    let length = announced as usize;
    if length > LONGEST {
        return Err(Oversize(announced));
    }
    if stream.len() < 4 + length {
        return Ok(None);
    }
    stream.advance(4);
    Ok(Some(stream.split_to(length).freeze()))
}

/// The node at which each address was last seen, as learned by a switch.
#[derive(Debug, Default)]
pub(super) struct Table {
    nodes: HashMap<Mac, u32>,
}

impl Table {
    /// Records that a frame from `mac` has come from `node`.
    pub(super) fn learn(&mut self, mac: Mac, node: u32) {
        if !mac.is_group() && (self.nodes.len() < ADDRESSES || self.nodes.contains_key(&mac)) {
            self.nodes.insert(mac, node);
        }
    }

    /// The node of `mac`; `None` to flood.
    pub(super) fn find(&self, mac: Mac) -> Option<u32> {
        self.nodes.get(&mac).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_are_learnt_and_groups_are_not() {
        let mut table = Table::default();
        let one = Mac([2, 0, 0, 0, 0, 1]);
        table.learn(one, 3);
        table.learn(one, 5);
        assert_eq!(table.find(one), Some(5), "a machine may move");
        table.learn(Mac([0xff; 6]), 1);
        assert_eq!(table.find(Mac([0xff; 6])), None);
        assert_eq!(addresses(&[0; 13]), None);
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused_by_its_length() {
        let mut stream = BytesMut::from(&(LONGEST as u32 + 1).to_be_bytes()[..]);
        assert_eq!(take_frame(&mut stream), Err(Oversize(LONGEST as u32 + 1)));
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in(
            frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..8),
            cut in 1usize..50,
        ) {
            let bytes: Vec<u8> =
                frames.iter().flat_map(|frame| [&(frame.len() as u32).to_be_bytes()[..], frame].concat()).collect();
            let (mut stream, mut found) = (BytesMut::new(), Vec::new());
            for piece in bytes.chunks(cut) {
                stream.extend_from_slice(piece);
                while let Some(frame) = take_frame(&mut stream).unwrap() {
                    found.push(frame.to_vec());
                }
            }
            prop_assert_eq!(found, frames);
            prop_assert!(stream.is_empty());
        }
    }
}
