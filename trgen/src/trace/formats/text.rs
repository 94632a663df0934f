//! Lines and numbers, with limits that do not depend on the contents of a file.

use std::io::BufRead;

use super::error::{Fault, Place, ReadError};

/// \[bytes\] Longest line. An `alltoallv` of 2^20 ranks fits.
pub(super) const MAX_LINE: u64 = 64 << 20;

/// \[bytes\] Largest message: 1 TiB, 32 times what one MPI call can send.
pub(super) const MAX_MESSAGE: u64 = 1 << 40;

/// Most tasks of one trace.
pub(super) const MAX_TASKS: u64 = 1 << 24;

/// Lines of one file, with their numbers.
pub(super) struct Lines<'a> {
    reader: &'a mut dyn BufRead,
    /// The file.
    place: &'a Place,
    /// The last line.
    buffer: Vec<u8>,
    /// Number of the last line; 0 before the first.
    number: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(reader: &'a mut dyn BufRead, place: &'a Place) -> Self {
        Self { reader, place, buffer: Vec::new(), number: 0 }
    }

    /// The file.
    pub(super) const fn place(&self) -> &'a Place {
        self.place
    }

    /// The number of lines read so far, which is also the number of the last line.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// An error at the last line.
    pub(super) fn error(&self, fault: Fault) -> ReadError {
        self.place.line(self.number).error(fault)
    }

    /// The next line and its number, without its line end (LF or CRLF) and surrounding blanks. Blank lines and comments
    /// (`#`) are skipped. `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &str)>, ReadError> {
        self.next_line(true)
    }

    /// As [`next`](Self::next), but lines that begin with `#` are ordinary lines.
    pub(super) fn next_with_hashes(&mut self) -> Result<Option<(u64, &str)>, ReadError> {
        self.next_line(false)
    }

    /// The next line; lines that begin with `#` are skipped if `comments` is true.
    fn next_line(&mut self, comments: bool) -> Result<Option<(u64, &str)>, ReadError> {
        loop {
            self.buffer.clear();
            let mut limited = std::io::Read::take(&mut *self.reader, MAX_LINE + 1);
            let length = limited
                .read_until(b'\n', &mut self.buffer)
                .map_err(|error| super::input::failed(&self.place.line(self.number + 1), error))?;
            if length == 0 {
                return Ok(None);
            }
            self.number += 1;
            if length as u64 > MAX_LINE {
                return Err(self.error(Fault::TooLarge { what: "the line", limit: MAX_LINE }));
            }
            let line = self.buffer.trim_ascii();
            let left_out = line.is_empty() || comments && line[0] == b'#';
            if !left_out {
                break;
            }
        }
        match std::str::from_utf8(self.buffer.trim_ascii()) {
            Ok(line) => Ok(Some((self.number, line))),
            Err(_) => Err(self.error(Fault::NotText)),
        }
    }
}

/// The first lines of a file that are neither blank nor comments, limited to those used to recognise formats. The last
/// one may be cut short by the end of `beginning`.
pub(super) fn head(beginning: &[u8]) -> Vec<String> {
    const LINES: usize = 4;
    const LENGTH: usize = 160;
    beginning
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty() && line[0] != b'#')
        .take(LINES)
        .map(|line| String::from_utf8_lossy(&line[..line.len().min(LENGTH)]).into_owned())
        .collect()
}

/// The fault of a number `what` in a line.
pub(super) fn invalid(what: &'static str, found: &str, expected: impl Into<String>) -> Fault {
    Fault::Number { what, found: found.to_owned(), expected: expected.into() }
}

/// Parses a whole number from 0 to `limit`, written as digits or as a decimal with exponent (`1e6`, `10e9`, `4096.0`).
pub(super) fn whole(what: &'static str, word: &str, limit: u64) -> Result<u64, Fault> {
    let value = match word.parse::<u64>() {
        Ok(value) => Some(value),
        // Below 2^53 a decimal is exact; above it, digits are required.
        Err(_) => decimal_value(word)
            .filter(|value| *value >= 0.0 && value.fract() == 0.0 && *value <= 9_007_199_254_740_992.0)
            .map(|value| value as u64),
    };
    value
        .filter(|&value| value <= limit)
        .ok_or_else(|| invalid(what, word, format!("a whole number from 0 to {limit}")))
}

/// Parses a finite number that is not negative.
pub(super) fn decimal(what: &'static str, word: &str) -> Result<f64, Fault> {
    decimal_value(word).filter(|value| *value >= 0.0).ok_or_else(|| invalid(what, word, "a finite number from 0 on"))
}

/// Parses a finite number.
fn decimal_value(word: &str) -> Option<f64> {
    // The standard parser also accepts `inf` and `nan`, which are not valid in a trace.
    let plain = word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    word.parse::<f64>().ok().filter(|value| plain && value.is_finite())
}

/// Parses a tag: a 64-bit whole number, possibly negative.
pub(super) fn tag(word: &str) -> Result<i64, Fault> {
    word.parse().map_err(|_| invalid("tag", word, "a whole number"))
}
