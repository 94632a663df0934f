//! The timeline of this rank, which the launcher reads at the end: a line for each span of time, for each message that
//! it sends and that arrives, and `end`.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::report::{Quiet, create, in_words};

/// What a rank does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Doing {
    Computing,
    /// It waits in the call of this name.
    Waiting(&'static str),
    /// It takes part in the collective of this name.
    Collective(&'static str),
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Computing => f.write_str("compute -"),
            Self::Waiting(call) => write!(f, "wait {call}"),
            Self::Collective(name) => write!(f, "collective {name}"),
        }
    }
}

/// The spans of a rank in progress.
pub(crate) struct Spans<W: Write = BufWriter<Quiet>> {
    out: W,
    /// The last span of computing or waiting: what follows it at once and is the same prolongs it.
    last: Option<(Doing, u64, u64)>,
    /// The first error of writing.
    failure: Option<io::Error>,
}

impl Spans {
    /// Creates the file.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        create(path).map(Self::to)
    }
}

impl<W: Write> Spans<W> {
    fn to(out: W) -> Self {
        Self { out, last: None, failure: None }
    }

    /// Adds what the rank has done from `begin` to `end` \[ps\].
    pub(crate) fn add(&mut self, doing: Doing, begin: u64, end: u64) {
        if let Some((last, _, until)) = &mut self.last
            && (*last, *until) == (doing, begin)
        {
            *until = end;
            return;
        }
        if end <= begin {
            return;
        }
        if let Doing::Collective(_) = doing {
            // It ends in the middle of what the rank does.
            return self.write(format_args!("{doing} {begin} {end}"));
        }
        if let Some((doing, begin, end)) = self.last.replace((doing, begin, end)) {
            self.write(format_args!("{doing} {begin} {end}"));
        }
    }

    /// Adds a message that this rank sends at `time` \[ps\], by its number among those to the other rank; of a
    /// collective with the name of that, whether it is persistent, and its place among those of its communicator.
    pub(crate) fn sent(&mut self, to: usize, number: u64, time: u64, bytes: u64, of: Option<(&str, (bool, u64))>) {
        let persistent = |is: bool| if is { "_init" } else { "" };
        match of {
            None => self.write(format_args!("sent {to} {number} {time} {bytes}")),
            Some((name, (is, place))) => {
                self.write(format_args!("sent {to} {number} {time} {bytes} {name}{} {place}", persistent(is)));
            }
        }
    }

    /// Adds a message that has arrived at `time` \[ps\], by its number among those of the other rank.
    pub(crate) fn arrived(&mut self, from: usize, number: u64, time: u64) {
        self.write(format_args!("arrived {from} {number} {time}"));
    }

    /// Writes a line and keeps the first error.
    fn write(&mut self, line: fmt::Arguments<'_>) {
        if let Err(failure) = writeln!(self.out, "{line}") {
            self.failure.get_or_insert(failure);
        }
    }

    /// Writes what is left and the last line.
    ///
    /// # Errors
    /// The first error of writing.
    fn finish(&mut self) -> io::Result<()> {
        if let Some((doing, begin, end)) = self.last.take() {
            self.write(format_args!("{doing} {begin} {end}"));
        }
        self.write(format_args!("end"));
        self.out.flush()?;
        self.failure.take().map_or(Ok(()), Err)
    }
}

/// Ends the timeline, if there is one.
///
/// # Errors
/// It could not be written.
pub(crate) fn end(folder: &Path, spans: Option<&mut Spans>) -> io::Result<()> {
    spans.map_or(Ok(()), Spans::finish).map_err(|error| in_words("its timeline", folder, &error))
}

#[cfg(test)]
mod tests {
    use super::{Doing, Spans};

    #[test]
    fn what_goes_on_is_one_span_and_collectives_stand_apart() {
        let mut spans = Spans::to(Vec::new());
        spans.add(Doing::Computing, 0, 5);
        spans.add(Doing::Computing, 5, 7);
        spans.add(Doing::Waiting("MPI_Recv"), 7, 7);
        spans.add(Doing::Waiting("MPI_Barrier"), 7, 9);
        spans.add(Doing::Collective("barrier"), 7, 9);
        spans.add(Doing::Waiting("MPI_Barrier"), 9, 12);
        spans.finish().unwrap();
        let text = String::from_utf8(spans.out).unwrap();
        assert_eq!(text, "compute - 0 7\ncollective barrier 7 9\nwait MPI_Barrier 7 12\nend\n");
    }
}
