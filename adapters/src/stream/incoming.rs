//! Bytes that have been received. Those of a long frame are read where they stay: its payload is not copied.

use std::io;

use bytes::{Bytes, BytesMut};
use rustix::buffer::spare_capacity;
use rustix::net::RecvFlags;
use tokio_util::codec::Decoder;

use super::{CHUNK, FULL, Stream};
use crate::codec::{Codec, CodecError};
use crate::protocol::Frame;

/// \[bytes\] Shortest frame that is read where it stays.
const LONG: usize = 16 << 10;

/// What has been received and not decoded yet.
#[derive(Debug)]
pub(super) struct Incoming {
    bytes: BytesMut,
    /// The beginning of a long frame, with room for the rest of it; otherwise empty. Nothing is in `bytes` then.
    long: Vec<u8>,
    /// A long frame that is complete; it precedes `bytes`.
    whole: BytesMut,
    /// The buffer of one read.
    chunk: Vec<u8>,
    /// True if the last frame was long. The next read is short then: another long frame may follow.
    was_long: bool,
}

impl Incoming {
    /// These bytes have been received.
    pub(super) fn new(bytes: BytesMut) -> Self {
        Self { bytes, long: Vec::new(), whole: BytesMut::new(), chunk: vec![0; CHUNK], was_long: false }
    }

    /// Takes the first frame, if it is complete.
    pub(super) fn decode(&mut self, codec: &mut Codec) -> Result<Option<Frame>, CodecError> {
        codec.decode(if self.whole.is_empty() { &mut self.bytes } else { &mut self.whole })
    }

    /// The same at the end of the stream, where an incomplete frame is an error.
    pub(super) fn decode_last(&mut self, codec: &mut Codec) -> Result<Option<Frame>, CodecError> {
        self.bytes.extend_from_slice(&std::mem::take(&mut self.long));
        codec.decode_eof(&mut self.bytes)
    }

    /// Reads once; returns the number of bytes. [`Self::decode`] has found that no frame is complete, and that the length of the first
    /// one is allowed.
    pub(super) fn read(&mut self, stream: &Stream, flags: RecvFlags) -> io::Result<usize> {
        let length = if self.long.is_empty() { &self.bytes[..] } else { &self.long[..] };
        match Codec::length(length).filter(|&length| length >= LONG) {
            Some(length) => self.read_long(length, stream, flags),
            None => {
                let room = if self.was_long { CHUNK.min(self.chunk.len()) } else { self.chunk.len() };
                let count = stream.receive(&mut self.chunk[..room], flags)?;
                self.bytes.extend_from_slice(&self.chunk[..count]);
                if count == self.chunk.len() && count < FULL {
                    self.chunk.resize(FULL, 0);
                }
                self.was_long = false;
                Ok(count)
            }
        }
    }

    /// Reads more of a frame of `length` bytes.
    fn read_long(&mut self, length: usize, stream: &Stream, flags: RecvFlags) -> io::Result<usize> {
        if self.long.is_empty() {
            self.long.reserve_exact(length);
            self.long.extend_from_slice(&self.bytes);
            self.bytes.clear();
        }
        let count = stream.receive(spare_capacity(&mut self.long), flags)?;
        if self.long.len() >= length {
            // The vector may have had more room.
            self.bytes.extend_from_slice(&self.long[length..]);
            self.long.truncate(length);
            self.whole = BytesMut::from(Bytes::from(std::mem::take(&mut self.long)));
            self.was_long = true;
        }
        Ok(count)
    }
}
