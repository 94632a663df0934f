//! Frames that wait to be sent. Long payloads are not copied: they are written from where they are.

use std::collections::VecDeque;
use std::io::{self, IoSlice};

use bytes::{Buf, Bytes, BytesMut};

use super::Stream;
use crate::clock::Time;
use crate::codec::Codec;
use crate::protocol::Body;

/// \[bytes\] Shortest payload that is not copied.
const LONG: usize = 4 << 10;
/// Largest number of parts in one write.
const PARTS: usize = 16;

/// Frames that wait to be sent.
#[derive(Default, Debug)]
pub(super) struct Outgoing {
    /// Parts that precede those in `last`.
    parts: VecDeque<Bytes>,
    /// \[bytes\] Their length.
    length: usize,
    /// The part at the end, to which frames are appended.
    last: BytesMut,
}

impl Outgoing {
    /// \[bytes\] Length of what has not been sent.
    pub(super) fn len(&self) -> usize {
        self.length + self.last.len()
    }

    /// Appends a frame.
    pub(super) fn put(&mut self, codec: &mut Codec, endpoint: u16, time: Time, body: &Body) {
        match codec.put_head(endpoint, time, body, &mut self.last) {
            Some(carried) if carried.len() >= LONG => {
                let head = self.last.split().freeze();
                self.length += head.len() + carried.len();
                self.parts.extend([head, carried.clone()]);
            }
            Some(carried) => self.last.extend_from_slice(carried),
            None => {}
        }
    }

    /// Sends as much as one write accepts. Returns its length in bytes.
    pub(super) fn write(&mut self, stream: &mut Stream) -> io::Result<usize> {
        if self.parts.is_empty() {
            let count = stream.write(&self.last)?;
            self.last.advance(count);
            return Ok(count);
        }
        let parts = self.parts.iter().map(|part| &part[..]).chain([&self.last[..]]);
        let slices: Vec<IoSlice<'_>> = parts.take(PARTS).map(IoSlice::new).collect();
        let count = stream.write_vectored(&slices)?;
        self.advance(count);
        Ok(count)
    }

    /// Removes bytes that have been sent.
    fn advance(&mut self, mut count: usize) {
        while let Some(first) = self.parts.front_mut() {
            let now = count.min(first.len());
            (self.length, count) = (self.length - now, count - now);
            if now < first.len() {
                first.advance(now);
                return;
            }
            self.parts.pop_front();
        }
        self.last.advance(count);
    }
}
