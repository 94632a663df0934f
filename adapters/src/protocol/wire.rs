//! Encoding of numbers and texts.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::MAX_TEXT;

/// Bytes that are not a frame of TGP/1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Malformed {
    /// The payload is longer than agreed.
    #[error("a payload of {found} bytes is announced, and {limit} are allowed")]
    Oversize {
        /// \[bytes\] Announced in the header.
        found: u32,
        /// \[bytes\] Agreed limit.
        limit: u32,
    },
    /// The payload ends before its last field.
    #[error("{} {what} frame ends within its fields", article(.what))]
    Short {
        /// Type of the frame.
        what: &'static str,
    },
    /// The payload continues after its last field.
    #[error("{} {what} frame has {extra} bytes too many", article(.what))]
    Long {
        /// Type of the frame.
        what: &'static str,
        /// \[bytes\] Length of the rest.
        extra: usize,
    },
    /// An unknown type that may not be skipped.
    #[error("unknown frame type {kind}")]
    UnknownType {
        /// The type.
        kind: u8,
    },
    /// Header flags that are not defined, or that do not belong to the type.
    #[error("header flags {flags:#04x} do not fit frame type {kind}")]
    Flags {
        /// The flags.
        flags: u8,
        /// The type.
        kind: u8,
    },
    /// A Hello that does not begin with `TGP1`.
    #[error("the first bytes are not `TGP1`")]
    Magic,
    /// A field with an undefined value.
    #[error("{} {what} frame has an undefined value in `{field}`", article(.what))]
    Value {
        /// Type of the frame.
        what: &'static str,
        /// Name of the field.
        field: &'static str,
    },
    /// A text that is too long.
    #[error("{} {what} frame has a `{field}` of {length} bytes, and at most {MAX_TEXT} are allowed", article(.what))]
    Text {
        /// Type of the frame.
        what: &'static str,
        /// Name of the field.
        field: &'static str,
        /// \[bytes\] Length of the text.
        length: usize,
    },
    /// A message whose payload exceeds its size.
    #[error("an Inject frame carries {carried} bytes, but its size is {size}")]
    Carries {
        /// \[bytes\] Length of the payload.
        carried: u64,
        /// \[bytes\] Stated size.
        size: u64,
    },
    /// The stream ended within a frame.
    #[error("the stream ends within a frame")]
    Truncated,
}

/// The article before the name of a frame.
pub(crate) fn article(name: &str) -> &'static str {
    if name.starts_with(['E', 'I']) { "an" } else { "a" }
}

/// Reads fields from a received payload.
pub(crate) struct Reader {
    /// Type of the frame, for errors.
    what: &'static str,
    /// Bytes that have not been read yet.
    rest: Bytes,
}

impl Reader {
    pub(crate) fn new(what: &'static str, rest: Bytes) -> Self {
        Self { what, rest }
    }

    /// The next bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let Some(&head) = self.rest.first_chunk::<N>() else {
            return Err(Malformed::Short { what: self.what });
        };
        // `split_to` would change a reference count for each field.
        self.rest.advance(N);
        Ok(head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    /// A text of at most [`MAX_TEXT`] bytes. Invalid UTF-8 and unprintable characters become `?`, because the text is
    /// displayed.
    pub(crate) fn text(&mut self, field: &'static str) -> Result<String, Malformed> {
        let length = usize::from(self.u16()?);
        if length > MAX_TEXT {
            return Err(Malformed::Text { what: self.what, field, length });
        }
        if self.rest.len() < length {
            return Err(Malformed::Short { what: self.what });
        }
        let bytes = self.rest.split_to(length);
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.chars().map(|c| if c.is_control() || c == char::REPLACEMENT_CHARACTER { '?' } else { c }).collect())
    }

    /// All remaining bytes.
    pub(crate) fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.rest)
    }

    /// The error for an undefined value of a field.
    pub(crate) fn value(&self, field: &'static str) -> Malformed {
        Malformed::Value { what: self.what, field }
    }

    /// Fails if bytes remain.
    pub(crate) fn end(self) -> Result<(), Malformed> {
        match self.rest.len() {
            0 => Ok(()),
            extra => Err(Malformed::Long { what: self.what, extra }),
        }
    }
}

/// Writes fields.
pub(crate) struct Writer<'a>(pub(crate) &'a mut BytesMut);

impl Writer<'_> {
    /// Writes a text, cut to [`MAX_TEXT`] bytes at the end of a character.
    pub(crate) fn text(&mut self, text: &str) {
        let mut length = text.len().min(MAX_TEXT);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        self.0.put_u16_le(length as u16);
        self.0.put_slice(&text.as_bytes()[..length]);
    }
}
