//! FSIN's `.trc`: one file, one line per event of any task.
//!
//! ```text
//! c <task> <duration>           appended to the task's program; unit from ReadOptions::compute_unit
//! s <src> <dst> <tag> <bytes>   appended to src's program
//! r <src> <dst> <tag> <bytes>   appended to dst's program
//! ```
//!
//! Blank separated; empty lines and `#` comments are skipped. Tasks are numbered from 0; the highest number determines
//! their count. Sends and receives block. Some files in circulation write the receiver first (`r dst src`); see
//! [`RecvOrder`].
//!
//! The file is read twice: the order of receive lines is known only after all sends.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use super::error::{Fault, Place, ReadError, plural};
use super::input::Source;
use super::options::{ReadOptions, RecvOrder};
use super::text::{self, Lines, MAX_MESSAGE, MAX_TASKS};
use super::{Application, Candidate, Layout, Reader, Trace};
use crate::catalog::{Component, Parameter, suggestion};
use crate::trace::program::{Event, Program, Receive, Send, Tag, TagFilter};
use crate::trace::timeline::Called;
use crate::units::{Picoseconds, TaskId};

pub(super) const READER: Reader = Reader {
    component: Component {
        name: "fsin-trc",
        about: "lines `c task duration`, `s src dst tag bytes`, `r src dst tag bytes`",
        parameters: &[
            Parameter { name: "unit", about: "unit of durations", range: "ns, us, ms, cycles", default: "ns" },
            Parameter {
                name: "recv-order",
                about: "order of the tasks in receive lines",
                range: "src-dst, dst-src, detect",
                default: "detect",
            },
        ],
        source: "FSIN (INSEE), trace-driven generator",
    },
    find,
    read: |source, candidate, options| read(source, candidate, options).map(Application::Programs),
};

/// Tasks allowed to any file; beyond this number there is at most one per line: a single line must not create a program
/// of millions of tasks.
const IDLE_TASKS: u64 = 1 << 12;

/// The files that begin with an event.
fn find(source: &Source<'_>) -> Vec<Candidate> {
    let is_header = |line: &String| {
        let mut words = line.split_ascii_whitespace();
        matches!(words.next(), Some("c" | "s" | "r")) && words.next().is_some()
    };
    let files = source.entries().iter().filter(|entry| entry.head.first().is_some_and(is_header));
    files.map(|entry| Candidate { label: entry.name.clone(), layout: Layout::Whole(entry.name.clone()) }).collect()
}

/// The content of a line.
enum Record {
    Compute {
        task: u32,
        time: Picoseconds,
    },
    Send {
        from: u32,
        to: u32,
        label: i64,
        bytes: u64,
    },
    /// The tasks in the order of the line.
    Receive {
        first: u32,
        second: u32,
        label: i64,
        bytes: u64,
    },
}

/// Parses a line; `unit` is that of durations.
fn parse(line: &str, unit: Picoseconds) -> Result<Record, Fault> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (usage, count) = match words[0] {
        "c" => ("c TASK DURATION", 2),
        "s" => ("s SRC DST TAG BYTES", 4),
        "r" => ("r SRC DST TAG BYTES", 4),
        other => {
            let remedy = suggestion(other, &["c", "s", "r"]).to_string();
            return Err(Fault::UnknownWord { what: "record", found: other.to_owned(), remedy });
        }
    };
    if words.len() != count + 1 {
        return Err(Fault::Arguments {
            word: words[0].to_owned(),
            found: words.len() - 1,
            usage: usage.to_owned(),
            remedy: None,
        });
    }
    let task = |position: usize| text::whole("task", words[position], MAX_TASKS - 1).map(|task| task as u32);
    if words[0] == "c" {
        return Ok(Record::Compute { task: task(1)?, time: duration(words[2], unit)? });
    }
    let (first, second) = (task(1)?, task(2)?);
    let (label, bytes) = (text::tag(words[3])?, text::whole("size", words[4], MAX_MESSAGE)?);
    Ok(if words[0] == "s" {
        Record::Send { from: first, to: second, label, bytes }
    } else {
        Record::Receive { first, second, label, bytes }
    })
}

/// Parses a duration in units of `unit`.
fn duration(word: &str, unit: Picoseconds) -> Result<Picoseconds, Fault> {
    let exact = word.parse::<u64>().ok().and_then(|units| units.checked_mul(unit.0)).map(Picoseconds);
    match exact {
        Some(time) if time.0 < 1 << 63 => Ok(time),
        _ => Picoseconds::from_seconds(text::decimal("duration", word)? * unit.seconds())
            .ok_or_else(|| text::invalid("duration", word, "at most 106 days")),
    }
}

/// Results of the first pass.
#[derive(Default)]
struct Survey {
    /// Number of lines.
    lines: u64,
    /// Number of tasks.
    tasks: u64,
    /// Line with the highest task number.
    highest_at: u64,
    /// Number of receive lines.
    receives: u64,
    /// Number of receive lines with two different tasks, whose order matters.
    directed: u64,
    /// By (source, destination, tag): the number of sends, of receives if their lines are read source first, and of
    /// receives if they are read destination first. Used only to detect the order.
    balance: HashMap<(u32, u32, i64), [u64; 3]>,
}

impl Survey {
    /// Counts a record; `tally` is true if the order of receive lines is to be detected.
    fn add(&mut self, record: &Record, tally: bool, line: u64) {
        let (a, b) = match *record {
            Record::Compute { task, .. } => (task, task),
            Record::Send { from, to, label, .. } => {
                if tally {
                    self.balance.entry((from, to, label)).or_default()[0] += 1;
                }
                (from, to)
            }
            Record::Receive { first, second, label, .. } => {
                self.receives += 1;
                self.directed += u64::from(first != second);
                if tally {
                    self.balance.entry((first, second, label)).or_default()[1] += 1;
                    self.balance.entry((second, first, label)).or_default()[2] += 1;
                }
                (first, second)
            }
        };
        let tasks = u64::from(a.max(b)) + 1;
        if tasks > self.tasks {
            (self.tasks, self.highest_at) = (tasks, line);
        }
    }

    /// Messages without a receive plus receives without a message, under each reading.
    fn unmatched(&self) -> (u64, u64) {
        self.balance
            .values()
            .fold((0, 0), |(a, b), &[sent, first, second]| (a + sent.abs_diff(first), b + sent.abs_diff(second)))
    }
}

/// Reads a file into a trace.
fn read(source: &Source<'_>, candidate: &Candidate, options: &ReadOptions) -> Result<Trace, ReadError> {
    let (Layout::Whole(file) | Layout::Index(file)) = &candidate.layout else {
        return Err(source.place().error(Fault::Empty));
    };
    let file = std::slice::from_ref(file);
    let unit = options.compute_unit.picoseconds();
    let detect = options.recv_order == RecvOrder::Detect;

    let mut survey = Survey::default();
    source.visit(file, &mut |_, place, reader| {
        survey.lines = each_record(place, reader, unit, &mut |record, line| {
            survey.add(&record, detect, line);
            Ok(())
        })?;
        let limit = IDLE_TASKS + survey.lines;
        if survey.tasks > limit {
            let why = "4096, and one for every line of the file";
            return Err(place.line(survey.highest_at).error(Fault::TooManyTasks { found: survey.tasks, limit, why }));
        }
        if survey.tasks == 0 { Err(place.error(Fault::Empty)) } else { Ok(()) }
    })?;

    let (mut notes, mut warnings) = (Vec::new(), Vec::new());
    let order = if detect { choose_order(&survey, &mut notes, &mut warnings) } else { options.recv_order };
    survey.balance = HashMap::new();

    let mut program = Program::new(survey.tasks as usize);
    let mut count = 0_u64;
    source.visit(file, &mut |_, place, reader| {
        let build = &mut |record, _| {
            count += 1;
            if count > options.max_events {
                return Err(Fault::TooManyEvents { limit: options.max_events });
            }
            append(&mut program, &record, order)
        };
        each_record(place, reader, unit, build).map(|_| ())
    })?;
    let (format, lines) = (READER.component.name, survey.lines);
    Ok(Trace {
        program,
        format,
        lines,
        collectives: BTreeMap::new(),
        algorithms: BTreeMap::new(),
        called: Called::default(),
        notes,
        warnings,
    })
}

/// Calls `each` with the record and the number of every line; returns the number of lines.
fn each_record(
    place: &Place,
    reader: &mut dyn BufRead,
    unit: Picoseconds,
    each: &mut dyn FnMut(Record, u64) -> Result<(), Fault>,
) -> Result<u64, ReadError> {
    let mut lines = Lines::new(reader, place);
    while let Some((number, line)) = lines.next()? {
        parse(line, unit).and_then(|record| each(record, number)).map_err(|fault| place.line(number).error(fault))?;
    }
    Ok(lines.number())
}

/// Chooses the order of tasks in receive lines that matches more messages, and notes why.
fn choose_order(survey: &Survey, notes: &mut Vec<String>, warnings: &mut Vec<String>) -> RecvOrder {
    let (src_dst, dst_src) = survey.unmatched();
    if survey.receives == 0 {
        if src_dst > 0 {
            let sent = plural(src_dst as usize, "message is", "messages are");
            warnings.push(format!("{src_dst} {sent} sent and none is received"));
        }
        return RecvOrder::SrcDst;
    }
    let (order, name, best) = if dst_src < src_dst {
        (RecvOrder::DstSrc, "dst src", dst_src)
    } else {
        (RecvOrder::SrcDst, "src dst", src_dst)
    };
    notes.push(format!(
        "receive lines are read as `r {name} tag bytes`; unmatched: {src_dst} as `r src dst`, {dst_src} as `r dst src`"
    ));
    if src_dst == dst_src && survey.directed > 0 {
        warnings.push(
            "both orders of receive lines match equally well, and give different programs: state the order if you \
             know it"
                .to_owned(),
        );
    }
    if best > 0 {
        let alone = plural(best as usize, "send or receive has", "sends or receives have");
        warnings.push(format!("{best} {alone} no counterpart"));
    }
    order
}

/// Appends the event of a record to the program of its task.
fn append(program: &mut Program, record: &Record, order: RecvOrder) -> Result<(), Fault> {
    let (owner, event) = match *record {
        Record::Compute { task, time } => {
            super::push_compute(program_of(program, task)?, time);
            return Ok(());
        }
        Record::Send { from, to, label, bytes } => {
            (from, Event::Send(Send { to: TaskId(to), tag: Tag::user(label), bytes }))
        }
        Record::Receive { first, second, label, bytes } => {
            let (from, to) = if order == RecvOrder::DstSrc { (second, first) } else { (first, second) };
            let tag = TagFilter::Exactly(Tag::user(label));
            (to, Event::Recv(Receive { from: Some(TaskId(from)), tag, bytes }))
        }
    };
    program_of(program, owner)?.push(event);
    Ok(())
}

/// The program of a task.
fn program_of(program: &mut Program, task: u32) -> Result<&mut Vec<Event>, Fault> {
    let limit = program.tasks.len() as u64;
    let why = "those that the file had at first reading; it has changed since";
    program.tasks.get_mut(task as usize).ok_or(Fault::TooManyTasks { found: u64::from(task) + 1, limit, why })
}
