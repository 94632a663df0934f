//! MPICH's logging format (alog): one line per event of any process.
//!
//! ```text
//! -101 TASK THREAD PEER CYCLE TIME TAG BYTES    TASK sends to PEER
//! -102 TASK THREAD PEER CYCLE TIME TAG BYTES    TASK receives from PEER
//! ```
//!
//! The operation (-101, -102) is followed by the process that logs it. All other lines (header, states, definitions)
//! are skipped, and so are times: sends and receives of a process keep the order of the file.
//!
//! # How the model departs from reality, and who could notice
//! - There is no computation, and there are no requests: every operation blocks. A receive that was posted early takes
//!   place where the log records the arrival of its message.
//! - Collectives are not logged as messages and are missing.

use std::collections::BTreeMap;

use super::error::{Fault, ReadError};
use super::input::Source;
use super::options::ReadOptions;
use super::text::{self, Lines, MAX_MESSAGE, MAX_TASKS};
use super::{Application, Candidate, Layout, Reader, Trace};
use crate::catalog::Component;
use crate::trace::program::{Event, Program, Receive, Send, Tag, TagFilter};
use crate::trace::timeline::Called;
use crate::units::TaskId;

pub(super) const READER: Reader = Reader {
    component: Component {
        name: "alog",
        about: "lines `-101|-102 task thread peer cycle time tag bytes`",
        parameters: &[],
        source: "MPICH logging; Herrarte, Lusk, Studying parallel program behavior with upshot, ANL-91/15",
    },
    find,
    read: |source, candidate, options| read(source, candidate, options).map(Application::Programs),
};

const SEND: &str = "-101";
const RECEIVE: &str = "-102";
/// Tasks allowed to any file; beyond this number there is at most one per line.
const IDLE_TASKS: u64 = 1 << 12;

/// The files that begin with a line of a log: a negative operation, then the number of a task.
fn find(source: &Source<'_>) -> Vec<Candidate> {
    let is_header = |line: &String| {
        let mut words = line.split_ascii_whitespace();
        let operation = words.next().and_then(|word| word.parse::<i64>().ok()).is_some_and(|number| number < 0);
        operation && words.next().is_some_and(|word| word.parse::<i64>().is_ok())
    };
    let files = source.entries().iter().filter(|entry| entry.head.first().is_some_and(is_header));
    files.map(|entry| Candidate { label: entry.name.clone(), layout: Layout::Whole(entry.name.clone()) }).collect()
}

/// Parses a line: the process, its event, and the highest process number in the line. `None` for lines without a
/// message.
fn parse(line: &str) -> Result<Option<(u32, Event, u32)>, Fault> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    if words[0] != SEND && words[0] != RECEIVE {
        if !words[0].starts_with('-') {
            return Err(text::invalid(
                "operation",
                words[0],
                "a negative number, such as -101 (send) or -102 (receive)",
            ));
        }
        return Ok(None);
    }
    if words.len() != 8 {
        return Err(Fault::Arguments {
            word: words[0].to_owned(),
            found: words.len() - 1,
            usage: format!("{} TASK THREAD PEER CYCLE TIME TAG BYTES", words[0]),
            remedy: Some("the line may be cut short"),
        });
    }
    let task = |at: usize| text::whole("task", words[at], MAX_TASKS - 1).map(|task| task as u32);
    let (task, peer, label) = (task(1)?, task(3)?, text::tag(words[6])?);
    let bytes = text::whole("size", words[7], MAX_MESSAGE)?;
    let event = if words[0] == SEND {
        Event::Send(Send { to: TaskId(peer), tag: Tag::user(label), bytes })
    } else {
        let (from, tag) = (Some(TaskId(peer)), TagFilter::Exactly(Tag::user(label)));
        Event::Recv(Receive { from, tag, bytes })
    };
    Ok(Some((task, event, task.max(peer))))
}

/// Reads a log into a trace.
fn read(source: &Source<'_>, candidate: &Candidate, options: &ReadOptions) -> Result<Trace, ReadError> {
    let Layout::Whole(file) = &candidate.layout else { return Err(source.place().error(Fault::Empty)) };
    let mut program = Program::new(0);
    let (mut passed_over, mut events, mut count) = (0_u64, 0_u64, 0);
    source.visit(std::slice::from_ref(file), &mut |_, place, reader| {
        let mut lines = Lines::new(reader, place);
        while let Some((number, line)) = lines.next()? {
            let at = |fault| place.line(number).error(fault);
            let Some((task, event, highest)) = parse(line).map_err(at)? else {
                passed_over += 1;
                continue;
            };
            let (tasks, limit) = (u64::from(highest) + 1, IDLE_TASKS + number);
            if tasks > limit {
                let why = "4096, and one for every line so far";
                return Err(at(Fault::TooManyTasks { found: tasks, limit, why }));
            }
            events += 1;
            if events > options.max_events {
                return Err(at(Fault::TooManyEvents { limit: options.max_events }));
            }
            if program.tasks.len() < tasks as usize {
                program.tasks.resize(tasks as usize, Vec::new());
            }
            program.tasks[task as usize].push(event);
        }
        count = lines.number();
        if events == 0 {
            let what = format!("no line of {count} is a send ({SEND}) or a receive ({RECEIVE})");
            return Err(place.line(count).error(Fault::Structure { what, remedy: "log messages too, or use {from}" }));
        }
        Ok(())
    })?;
    let notes = vec![format!("{passed_over} lines that are no message were passed over; times were ignored")];
    let format = READER.component.name;
    Ok(Trace {
        program,
        format,
        lines: count,
        collectives: BTreeMap::new(),
        algorithms: BTreeMap::new(),
        called: Called::default(),
        notes,
        warnings: Vec::new(),
    })
}
