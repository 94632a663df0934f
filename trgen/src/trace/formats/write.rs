//! Writers of text formats: programs back to FSIN's `.trc` and to SimGrid's TI.
//!
//! Both formats have a single tag space, and SimGrid reads a tag as a signed 32-bit number. Messages of collectives and
//! of communicators are therefore given numbers that the program itself does not use ([`Labels`]).
//!
//! # How the model departs from reality, and who could notice
//! A receive with any tag also accepts messages of collectives, since only the tag tells them apart.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::trace::labels::Labels;
use crate::trace::program::{Event, Program, Receive, Request, TagFilter};
use crate::units::Picoseconds;

/// Why a program cannot be written in a format.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Writing to the output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The format cannot express an event.
    #[error("event {event} of task {task}: {what}")]
    Inexpressible {
        /// The task.
        task: usize,
        /// Its event, counted from 1.
        event: usize,
        /// Kind of the event.
        what: &'static str,
    },
}

/// The tags of a program in both formats: whole numbers below 2^31.
#[must_use]
pub fn labels(program: &Program) -> Labels {
    Labels::below(1 << 31, program)
}

/// Why a tag cannot be written.
const NO_LABEL: &str = "the program has more different tags than this format, which has 2^31";

/// Writes `.trc`: computing in ns, receives as `r src dst tag bytes`.
///
/// # Errors
/// When writing fails, or at an event that does not block (the format has no requests) or has a wildcard.
pub fn trc(program: &Program, out: &mut dyn Write) -> Result<(), WriteError> {
    let labels = labels(program);
    for (task, events) in program.tasks.iter().enumerate() {
        for (event, step) in (1..).zip(events) {
            let refuse = |what| WriteError::Inexpressible { task, event, what };
            match step {
                Event::Compute(time) => writeln!(out, "c {task} {}", nanoseconds(*time))?,
                Event::Send(send) => {
                    let label = labels.number(send.tag).ok_or_else(|| refuse(NO_LABEL))?;
                    writeln!(out, "s {task} {} {label} {}", send.to, send.bytes)?;
                }
                Event::Recv(Receive { from: Some(from), tag: TagFilter::Exactly(tag), bytes }) => {
                    let label = labels.number(*tag).ok_or_else(|| refuse(NO_LABEL))?;
                    writeln!(out, "r {from} {task} {label} {bytes}")?;
                }
                Event::Recv(_) => return Err(refuse("a receive from any source or with any tag")),
                _ => return Err(refuse("an operation that does not block, or a wait for one")),
            }
        }
    }
    // A last task without events would be lost; a computing time of 0 makes it count.
    match program.tasks.len() {
        count if count > 0 && program.tasks[count - 1].is_empty() => Ok(writeln!(out, "c {} 0", count - 1)?),
        _ => Ok(()),
    }
}

/// A time in ns, with up to three decimals.
fn nanoseconds(time: Picoseconds) -> String {
    let (whole, rest) = (time.0 / 1000, time.0 % 1000);
    if rest == 0 { whole.to_string() } else { format!("{whole}.{rest:03}") }
}

/// Writes one task's lines of a TI trace; `labels` are those of the [program](labels), and `flop_rate` \[flop/s\]
/// converts times to operations.
///
/// # Errors
/// When writing fails, or at a wait for any of several requests, which the format cannot express.
pub fn ti(
    program: &Program,
    labels: &Labels,
    task: usize,
    flop_rate: f64,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let mut ti = Ti { task, outstanding: HashMap::new(), out };
    writeln!(ti.out, "{task} init")?;
    for (event, step) in (1..).zip(&program.tasks[task]) {
        let refuse = |what| WriteError::Inexpressible { task, event, what };
        match step {
            Event::Compute(time) => {
                writeln!(ti.out, "{task} compute {}", operations(*time, flop_rate))?;
            }
            Event::Send(send) | Event::Isend(send, _) => {
                let label = labels.number(send.tag).ok_or_else(|| refuse(NO_LABEL))?;
                let word = if let Event::Isend(_, request) = step {
                    ti.outstanding.insert(*request, format!("{task} {} {label}", send.to));
                    "isend"
                } else {
                    "send"
                };
                writeln!(ti.out, "{task} {word} {} {label} {} 6", send.to, send.bytes)?;
            }
            Event::Recv(receive) | Event::Irecv(receive, _) => {
                let (from, label) = (source(receive), tag(receive, labels).ok_or_else(|| refuse(NO_LABEL))?);
                let word = if let Event::Irecv(_, request) = step {
                    ti.outstanding.insert(*request, format!("{from} {task} {label}"));
                    "irecv"
                } else {
                    "recv"
                };
                writeln!(ti.out, "{task} {word} {from} {label} {} 6", receive.bytes)?;
            }
            Event::Wait(request) => ti.wait(&[*request])?,
            Event::WaitAll(requests) => ti.wait(requests)?,
            Event::After(_) => return Err(refuse("sends that wait for other operations while the task goes on")),
            Event::WaitAny(_) => return Err(refuse("a wait for any of several requests")),
        }
    }
    writeln!(ti.out, "{task} finalize")?;
    Ok(())
}

/// Number of operations for a computing time: rounded to a whole number if that yields the same picoseconds.
fn operations(time: Picoseconds, flop_rate: f64) -> f64 {
    let operations = time.seconds() * flop_rate;
    let whole = operations.round();
    if Picoseconds::from_seconds(whole / flop_rate) == Some(time) { whole } else { operations }
}

/// Writes the actions of one task.
struct Ti<'a> {
    task: usize,
    /// By outstanding request: the words with which a wait refers to it.
    outstanding: HashMap<Request, String>,
    out: &'a mut dyn Write,
}

impl Ti<'_> {
    /// Writes waits for these requests.
    fn wait(&mut self, requests: &[Request]) -> io::Result<()> {
        let known: Vec<String> = requests.iter().filter_map(|request| self.outstanding.remove(request)).collect();
        // `waitall` waits for all outstanding requests, whatever number it gives.
        if known.len() > 1 && self.outstanding.is_empty() {
            return writeln!(self.out, "{} waitall {}", self.task, known.len());
        }
        known.iter().try_for_each(|words| writeln!(self.out, "{} wait {words}", self.task))
    }
}

/// The source of a receive; -555 is any.
fn source(receive: &Receive) -> String {
    receive.from.map_or_else(|| "-555".to_owned(), |from| from.to_string())
}

/// The tag of a receive; -444 is any. `None` if the format has no number for it.
fn tag(receive: &Receive, labels: &Labels) -> Option<String> {
    match receive.tag {
        TagFilter::AnyIn(_) => Some("-444".to_owned()),
        TagFilter::Exactly(tag) => labels.number(tag).map(|label| label.to_string()),
    }
}
