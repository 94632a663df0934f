//! Snapshots as lines: on a socket and in a recording.
//!
//! Format `fsin-view`, version 1: UTF-8, one JSON object per line. The first line is
//! `{"format":"fsin-view","version":1,"about":{...}}` ([`About`]), every further one a [`Snapshot`]. Unknown keys are
//! ignored. A complete stream ends with a snapshot whose `state` is `ended`.

use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};

use crate::view::{About, Snapshot};

/// The name of the format.
pub const FORMAT: &str = "fsin-view";
/// Its version.
pub const VERSION: u32 = 1;
/// \[bytes\] Longest accepted line: enough for the largest network whose links are shown.
const LONGEST: u64 = 256 << 20;

/// Why reading a stream failed.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The input failed.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The stream is empty.
    #[error("it is empty")]
    Empty,
    /// The input is not a stream of snapshots.
    #[error("it is no stream of snapshots of fsin")]
    Foreign,
    /// The stream has another version.
    #[error("it is of version {0}, and this program reads version {VERSION}")]
    Version(u32),
    /// A line is damaged.
    #[error("line {line}: {what}")]
    Line {
        /// Number of the line, from 1.
        line: u64,
        /// The fault.
        what: String,
    },
}

/// The first line of a stream.
#[derive(Serialize, Deserialize)]
struct Opening<A> {
    format: String,
    version: u32,
    about: A,
}

/// Writes the first line.
///
/// # Errors
/// When `out` fails.
pub fn write_about(out: &mut dyn Write, about: &About) -> io::Result<()> {
    write_line(out, &Opening { format: FORMAT.to_owned(), version: VERSION, about })
}

/// Writes a further line.
///
/// # Errors
/// When `out` fails.
pub fn write_snapshot(out: &mut dyn Write, snapshot: &Snapshot) -> io::Result<()> {
    write_line(out, snapshot)
}

/// Writes a value as a line of JSON.
fn write_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    out.write_all(&line)
}

/// Reads a stream line by line, and validates everything.
pub struct Reader<R> {
    input: R,
    about: About,
    /// Number of lines read.
    line: u64,
    /// The latest line; kept for its memory.
    text: Vec<u8>,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line.
    ///
    /// # Errors
    /// When `input` fails, or is not a stream of this version.
    pub fn new(mut input: R) -> Result<Self, StreamError> {
        let mut text = Vec::new();
        if !next_line(&mut input, &mut text, 1)? {
            return Err(StreamError::Empty);
        }
        let opening: Opening<serde_json::Value> = serde_json::from_slice(&text).map_err(|_| StreamError::Foreign)?;
        if opening.format != FORMAT {
            return Err(StreamError::Foreign);
        }
        if opening.version != VERSION {
            return Err(StreamError::Version(opening.version));
        }
        let wrong = |what: String| StreamError::Line { line: 1, what };
        let about: About = serde_json::from_value(opening.about).map_err(|error| wrong(error.to_string()))?;
        about.check().map_err(wrong)?;
        Ok(Self { input, about, line: 1, text })
    }

    /// The fixed properties of the run.
    #[must_use]
    pub const fn about(&self) -> &About {
        &self.about
    }

    /// Position of the next line, for a seekable input.
    pub fn position(&mut self) -> io::Result<u64>
    where
        R: io::Seek,
    {
        self.input.stream_position()
    }

    /// Continues at a [`position`](Self::position).
    ///
    /// # Errors
    /// When the input fails.
    pub fn seek(&mut self, position: u64) -> io::Result<()>
    where
        R: io::Seek,
    {
        self.input.seek(io::SeekFrom::Start(position)).map(|_| ())
    }

    /// The next snapshot; `None` at the end.
    ///
    /// # Errors
    /// When the input fails, or a line is damaged.
    pub fn next_snapshot(&mut self) -> Result<Option<Snapshot>, StreamError> {
        self.line += 1;
        if !next_line(&mut self.input, &mut self.text, self.line)? {
            return Ok(None);
        }
        let wrong = |what: String| StreamError::Line { line: self.line, what };
        let snapshot: Snapshot = serde_json::from_slice(&self.text).map_err(|error| wrong(error.to_string()))?;
        snapshot.check(&self.about).map_err(wrong)?;
        Ok(Some(snapshot))
    }
}

/// Reads a complete line. Returns false at the end of the stream. A last line without a line end has been truncated,
/// and is ignored.
fn next_line(input: &mut impl BufRead, text: &mut Vec<u8>, line: u64) -> Result<bool, StreamError> {
    text.clear();
    input.by_ref().take(LONGEST).read_until(b'\n', text)?;
    if text.last() == Some(&b'\n') {
        return Ok(true);
    }
    if text.len() as u64 == LONGEST {
        let what = format!("it is longer than {} MiB", LONGEST >> 20);
        return Err(StreamError::Line { line, what });
    }
    if line == 1 && !text.is_empty() {
        return Err(StreamError::Foreign);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stream() -> Vec<u8> {
        let mut bytes = Vec::new();
        write_about(&mut bytes, &About::bare("test".to_owned(), 3)).unwrap();
        for cycle in [1, 100] {
            write_snapshot(&mut bytes, &Snapshot { cycle, ..Snapshot::default() }).unwrap();
        }
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = stream();
        let mut reader = Reader::new(bytes.as_slice()).unwrap();
        assert_eq!(reader.about().nodes, 3);
        let mut cycles = Vec::new();
        while let Some(snapshot) = reader.next_snapshot().unwrap() {
            cycles.push(snapshot.cycle);
        }
        assert_eq!(cycles, [1, 100]);
    }

    #[test]
    fn others_are_refused_by_name() {
        let read = |text: &str| Reader::new(text.as_bytes()).map(|_| ()).unwrap_err().to_string();
        assert!(read("").contains("empty"));
        assert!(read("HTTP/1.1 400 Bad Request\r\n").contains("no stream"));
        assert!(read("{\"format\":\"fsin-view\",\"version\":1").contains("no stream"));
        assert!(read("{\"format\":\"fsin-view\",\"version\":2,\"about\":null}\n").contains("version 2"));
        let good = String::from_utf8(stream()).unwrap();
        assert!(read(&good.replace("\"packet_phits\":1", "\"packet_phits\":0")).contains("line 1"));
        let damaged = good.replace("\"waiting\":[]", "\"waiting\":[5]");
        let error = Reader::new(damaged.as_bytes()).unwrap().next_snapshot().unwrap_err();
        assert!(error.to_string().starts_with("line 2: `waiting`"), "{error}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(at in 0usize..2_000, byte: u8, cut in 0usize..2_000) {
            let mut bytes = stream();
            let length = bytes.len();
            bytes[at % length] = byte;
            bytes.truncate(length - cut % length);
            if let Ok(mut reader) = Reader::new(bytes.as_slice()) {
                while let Ok(Some(_)) = reader.next_snapshot() {}
            }
        }
    }
}
