//! The text of `dumpi2ascii`: beginnings and ends of calls, and their arguments, one line each.

use std::ops::Range;

use crate::trace::formats::error::Fault;
use crate::trace::formats::mpi::call::{Clocks, picoseconds};
use crate::trace::formats::text::invalid;

/// A fault and its line.
pub(super) type Wrong = (u64, Fault);

/// A line that marks the beginning or end of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Edge<'a> {
    /// Name of the call.
    pub(super) call: &'a str,
    /// True for the beginning of the call, false for the end.
    pub(super) enters: bool,
    /// The rest of the line: `walltime W, cputime C seconds in thread T.`
    when: &'a str,
}

impl<'a> Edge<'a> {
    /// Parses a line; `None` for every other kind of line.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (call, rest) = line.split_once(' ')?;
        let named = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let (enters, when) = match rest.strip_prefix("entering at ") {
            Some(when) => (true, when),
            None => (false, rest.strip_prefix("returning at ")?),
        };
        (call.starts_with("MPI") && call.bytes().all(named)).then_some(Self { call, enters, when })
    }

    /// The word after `name` in the rest of the line.
    fn word(&self, name: &str) -> Option<&'a str> {
        let mut words = self.when.split([' ', ',']).filter(|word| !word.is_empty());
        words.find(|word| *word == name)?;
        words.next()
    }

    /// The clock readings. CPU time may be missing.
    pub(super) fn clocks(&self) -> Result<Clocks, Fault> {
        let read = |word: &str| picoseconds(word, 12, "seconds, such as 1296777956.737669000");
        let (wall, cpu) = (self.word("walltime"), self.word("cputime"));
        if wall.is_none() && cpu.is_none() {
            return Err(invalid("time", self.when, "`walltime SECONDS, cputime SECONDS seconds in thread N.`"));
        }
        Ok(Clocks { wall: wall.map(read).transpose()?, cpu: cpu.map(read).transpose()? })
    }

    /// The thread that made the call, if recorded.
    pub(super) fn thread(&self) -> Option<&'a str> {
        self.word("thread").map(|word| word.trim_end_matches('.'))
    }
}

/// `Datatype 9 (MPI_INT) has size 4`: number, name, size.
pub(super) fn datatype(line: &str) -> Option<(i64, &str, u64)> {
    let (number, rest) = line.strip_prefix("Datatype ")?.split_once(" (")?;
    let (name, size) = rest.rsplit_once(") has size ")?;
    Some((number.parse().ok()?, name, size.parse().ok()?))
}

/// `MPI_ALL_FUNCTIONS called 9 times and ignored 0 times`: the numbers of calls that were recorded and not recorded.
pub(super) fn totals(line: &str) -> Option<(u64, u64)> {
    let (called, ignored) = line.strip_prefix("MPI_ALL_FUNCTIONS called ")?.split_once(" times and ignored ")?;
    Some((called.parse().ok()?, ignored.strip_suffix(" times")?.parse().ok()?))
}

/// A number that stands for an object, with the name that follows it: `9 (MPI_INT)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Handle<'a> {
    pub(super) id: i64,
    /// Empty if there is none.
    pub(super) name: &'a str,
}

impl<'a> Handle<'a> {
    /// Parses a number, in brackets or not, and the name in parentheses after it.
    fn parse(piece: &'a str) -> Option<Self> {
        let (id, name) = piece.split_once('(').unwrap_or((piece, ""));
        Some(Self { id: id.trim_matches(['[', ']', ' ']).parse().ok()?, name: name.trim_end_matches([')', ']', ' ']) })
    }
}

/// The arguments of one call.
#[derive(Default, Debug)]
pub(super) struct Args {
    /// Name of the call.
    call: String,
    /// Line at which the call begins.
    line: u64,
    /// Names and values of all arguments, one after another.
    text: String,
    /// The arguments kept so far.
    fields: Vec<Field>,
}

/// One argument, as ranges of the text.
#[derive(Clone, Debug)]
struct Field {
    line: u64,
    name: Range<usize>,
    value: Range<usize>,
}

/// One argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arg<'a> {
    line: u64,
    name: &'a str,
    value: &'a str,
}

/// The type, name and value of a line `TYPE NAME=VALUE` or `TYPE NAME[LENGTH]=[VALUE, ...]`.
pub(super) fn argument(line: &str) -> Option<(&str, &str, &str)> {
    let (left, value) = line.split_once('=')?;
    let (kind, name) = left.rsplit_once(' ')?;
    Some((kind, name.split_once('[').map_or(name, |(name, _)| name), value))
}

impl Args {
    /// Begins a call and discards the arguments of the previous one.
    pub(super) fn begin(&mut self, call: &str, line: u64) {
        call.clone_into(&mut self.call);
        self.line = line;
        self.text.clear();
        self.fields.clear();
    }

    pub(super) fn call(&self) -> &str {
        &self.call
    }

    pub(super) const fn line(&self) -> u64 {
        self.line
    }

    /// Keeps a line of the call; lines that are not arguments, and arguments without use, are skipped.
    pub(super) fn keep(&mut self, line: &str, number: u64) {
        let Some((kind, name, value)) = argument(line) else { return };
        if matches!(kind, "MPI_Status" | "string") {
            return;
        }
        let begin = self.text.len();
        self.text.push_str(name);
        let middle = self.text.len();
        self.text.push_str(value);
        self.fields.push(Field { line: number, name: begin..middle, value: middle..self.text.len() });
    }

    /// The argument with one of these names.
    pub(super) fn find(&self, names: &[&str]) -> Option<Arg<'_>> {
        let field = self.fields.iter().find(|field| names.contains(&&self.text[field.name.clone()]))?;
        Some(Arg { line: field.line, name: &self.text[field.name.clone()], value: &self.text[field.value.clone()] })
    }

    /// The argument with one of these names; an error if it is missing.
    pub(super) fn get(&self, names: &[&str]) -> Result<Arg<'_>, Wrong> {
        self.find(names).ok_or_else(|| {
            let what = format!("{} without its argument `{}`", self.call, names.first().copied().unwrap_or_default());
            (
                self.line,
                Fault::Structure { what, remedy: "the text may be cut short: print it again, by `dumpi2ascii`" },
            )
        })
    }

    /// An error about the whole call.
    pub(super) fn wrong(&self, what: String, remedy: &'static str) -> Wrong {
        (self.line, Fault::Structure { what, remedy })
    }
}

impl<'a> Arg<'a> {
    /// An error about this argument.
    pub(super) fn wrong(&self, expected: &str) -> Wrong {
        (self.line, invalid("argument", &format!("{}={}", self.name, self.value), expected))
    }

    /// An error about the object that this argument stands for.
    pub(super) const fn fault(&self, fault: Fault) -> Wrong {
        (self.line, fault)
    }

    /// The values: one, or those in brackets.
    fn pieces(&self) -> impl Iterator<Item = &'a str> {
        let value = self.value.trim();
        let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(value);
        inner.split(',').map(str::trim).filter(|piece| !piece.is_empty())
    }

    /// The single value: `3`, or `[3]` if the argument is a pointer.
    pub(super) fn handle(&self) -> Result<Handle<'a>, Wrong> {
        self.pieces().next().and_then(Handle::parse).ok_or_else(|| self.wrong("a number"))
    }

    /// All values.
    pub(super) fn handles(&self) -> impl Iterator<Item = Result<Handle<'a>, Wrong>> {
        let arg = *self;
        self.pieces().map(move |piece| Handle::parse(piece).ok_or_else(|| arg.wrong("numbers separated by commas")))
    }

    /// A whole number.
    pub(super) fn integer(&self) -> Result<i64, Wrong> {
        self.handle().map(|handle| handle.id)
    }

    /// Whole numbers from 0 to `most`.
    pub(super) fn counts(&self, most: u64) -> Result<Vec<u64>, Wrong> {
        let count = |handle: Handle<'_>| u64::try_from(handle.id).ok().filter(|&count| count <= most);
        let expected = || self.wrong(&format!("whole numbers from 0 to {most}"));
        self.handles().map(|handle| count(handle?).ok_or_else(expected)).collect()
    }

    /// A whole number from 0 to `most`.
    pub(super) fn count(&self, most: u64) -> Result<u64, Wrong> {
        let expected = || self.wrong(&format!("a whole number from 0 to {most}"));
        u64::try_from(self.integer()?).ok().filter(|&count| count <= most).ok_or_else(expected)
    }
}
