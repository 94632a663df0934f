//! Frames in a stream of bytes.

use std::io;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

use crate::protocol::{Body, Frame, HEADER, MAX_PAYLOAD, Malformed};

/// Why reading a stream failed.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// Its bytes are not a frame.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A missing, repeated or misordered frame.
    #[error("frame number {found} came where number {expected} was due")]
    Sequence {
        /// The expected number.
        expected: u64,
        /// The received number.
        found: u64,
    },
    /// The transport failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The codec of one connection, both directions: checks the numbers of incoming frames, numbers outgoing ones.
#[derive(Clone, Debug)]
pub struct Codec {
    /// \[bytes\] Longest payload that is accepted.
    max_payload: u32,
    /// Number of frames received.
    received: u64,
    /// Number of frames sent.
    sent: u64,
}

impl Default for Codec {
    fn default() -> Self {
        Self { max_payload: MAX_PAYLOAD, received: 0, sent: 0 }
    }
}

impl Codec {
    /// Sets the longest payload that is accepted from the peer \[bytes\].
    pub const fn set_max_payload(&mut self, max_payload: u32) {
        self.max_payload = max_payload;
    }

    /// Appends a frame with the next number to `out`. `time` is in picoseconds.
    pub fn put(&mut self, endpoint: u16, time: u64, body: &Body, out: &mut BytesMut) {
        if let Some(carried) = self.put_head(endpoint, time, body, out) {
            out.extend_from_slice(carried);
        }
    }

    /// Appends the same frame without the payload of its message, which is returned and must follow.
    pub(crate) fn put_head<'a>(
        &mut self,
        endpoint: u16,
        time: u64,
        body: &'a Body,
        out: &mut BytesMut,
    ) -> Option<&'a Bytes> {
        let (kind, flags) = body.kind();
        let start = out.len();
        out.put_u32_le(0);
        out.put_u8(kind);
        out.put_u8(flags);
        out.put_u16_le(endpoint);
        out.put_u64_le(time);
        out.put_u64_le(self.sent);
        body.write(out);
        let carried = body.carried();
        let length = (out.len() - start - HEADER + carried.map_or(0, Bytes::len)) as u32;
        out[start..start + 4].copy_from_slice(&length.to_le_bytes());
        self.sent += 1;
        carried
    }

    /// \[bytes\] Length of the first frame in `bytes`, if it is known. Only as right as [`Self::decode`] has found it.
    pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
        let (length, _) = bytes.split_first_chunk().filter(|_| bytes.len() >= HEADER)?;
        Some(HEADER + u32::from_le_bytes(*length) as usize)
    }
}

impl Decoder for Codec {
    type Item = Frame;
    type Error = CodecError;

    fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<Frame>, CodecError> {
        // Frames of unknown kinds that are marked optional are skipped.
        loop {
            let Some(header) = bytes.first_chunk::<HEADER>() else { return Ok(None) };
            let mut header = &header[..];
            let length = header.get_u32_le();
            let (kind, flags, endpoint) = (header.get_u8(), header.get_u8(), header.get_u16_le());
            let (time, sequence) = (header.get_u64_le(), header.get_u64_le());
            if length > self.max_payload {
                return Err(Malformed::Oversize { found: length, limit: self.max_payload }.into());
            }
            if sequence != self.received {
                return Err(CodecError::Sequence { expected: self.received, found: sequence });
            }
            if bytes.len() < HEADER + length as usize {
                return Ok(None);
            }
            bytes.advance(HEADER);
            let payload = bytes.split_to(length as usize).freeze();
            self.received += 1;
            if let Some(body) = Body::read(kind, flags, payload)? {
                return Ok(Some(Frame { endpoint, time, sequence, body }));
            }
        }
    }

    fn decode_eof(&mut self, bytes: &mut BytesMut) -> Result<Option<Frame>, CodecError> {
        match self.decode(bytes)? {
            Some(frame) => Ok(Some(frame)),
            None if bytes.is_empty() => Ok(None),
            None => Err(Malformed::Truncated.into()),
        }
    }
}

impl Encoder<Frame> for Codec {
    type Error = CodecError;

    /// Writes a frame with the next number.
    fn encode(&mut self, frame: Frame, out: &mut BytesMut) -> Result<(), CodecError> {
        self.put(frame.endpoint, frame.time, &frame.body, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
