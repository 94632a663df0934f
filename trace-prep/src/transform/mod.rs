//! Transformations of programs.

mod cut;
mod rename;

pub use cut::{Left, between, prefix, tasks};
pub use rename::{merge, permutation, remap};

use std::collections::{HashMap, VecDeque};

use trgen::trace::goal::{Graph, MAX_BYTES};
use trgen::trace::program::{Event, Program, Tag, TagFilter};
use trgen::{Picoseconds, TaskId};

/// Why a transformation is impossible.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct TransformError {
    /// The request and the fault.
    pub what: String,
    /// The remedy.
    pub remedy: String,
}

/// An error of a transformation.
fn refuse<T>(what: impl Into<String>, remedy: impl Into<String>) -> Result<T, TransformError> {
    Err(TransformError { what: what.into(), remedy: remedy.into() })
}

/// Multiplies computing times by `compute` and message sizes by `bytes`, both from 0 to 10^6, rounded to the nearest.
///
/// # Errors
/// Factors out of range; a time above 106 days or a message above 1 TiB.
pub fn scale(program: &mut Program, compute: f64, bytes: f64) -> Result<(), TransformError> {
    for (name, factor) in [("compute", compute), ("bytes", bytes)] {
        if !(0.0..=1e6).contains(&factor) {
            return refuse(out_of_range(name, factor), "use 0 to 1000000; 1 changes nothing");
        }
    }
    let size = |value: u64| {
        // Without scaling, the size does not pass through a float and stays exact.
        let scaled = if bytes == 1.0 { value } else { (value as f64 * bytes).round() as u64 };
        if scaled > 1 << 40 {
            refuse(format!("a message of {scaled} bytes"), "use a smaller --bytes")
        } else {
            Ok(scaled)
        }
    };
    for events in &mut program.tasks {
        scale_computing(events, compute)?;
        for event in events.iter_mut() {
            match event {
                Event::Send(send) | Event::Isend(send, _) => send.bytes = size(send.bytes)?,
                Event::Recv(receive) | Event::Irecv(receive, _) => receive.bytes = size(receive.bytes)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Multiplies the calculations of a graph by `compute` (only on the ranks in the range `tasks`), and the sizes of all
/// messages by `bytes`, both from 0 to 10^6, rounded to the nearest.
///
/// # Errors
/// Factors out of range, a message above 1 TiB, ranks that do not exist.
pub fn scale_graph(
    graph: &mut Graph,
    compute: f64,
    bytes: f64,
    tasks: Option<(usize, usize)>,
) -> Result<(), TransformError> {
    for (name, factor) in [("compute", compute), ("bytes", bytes)] {
        if !(0.0..=1e6).contains(&factor) {
            return refuse(out_of_range(name, factor), "use 0 to 1000000; 1 changes nothing");
        }
    }
    let ranks = graph.ranks().len();
    let (first, end) = tasks.unwrap_or((0, ranks));
    if first > end || end > ranks {
        return refuse(
            format!("ranks {first}..{end} of a graph of {ranks}"),
            format!("give a range within 0..{ranks}"),
        );
    }
    graph.scale_work_of(first..end, compute);
    let largest = graph.scale_bytes(bytes);
    if largest > MAX_BYTES {
        return refuse(format!("a message of {largest} bytes"), "use a smaller --bytes");
    }
    Ok(())
}

/// Sets the sizes of receives in collectives that the trace left unknown (0) to those of their messages. In a format
/// that does not distinguish collectives, a size of 0 would mean an empty message.
pub fn fill_sizes(program: &mut Program) {
    let mut sent: HashMap<(TaskId, TaskId, Tag), VecDeque<u64>> = HashMap::new();
    for (task, events) in program.tasks.iter().enumerate() {
        for event in events {
            if let Event::Send(send) | Event::Isend(send, _) = event
                && send.tag.is_collective()
            {
                sent.entry((TaskId::at(task), send.to, send.tag)).or_default().push_back(send.bytes);
            }
        }
    }
    for (task, events) in program.tasks.iter_mut().enumerate() {
        for event in events {
            if let Event::Recv(receive) | Event::Irecv(receive, _) = event
                && let (Some(from), TagFilter::Exactly(tag)) = (receive.from, receive.tag)
                && let Some(bytes) = sent.get_mut(&(from, TaskId::at(task), tag)).and_then(VecDeque::pop_front)
                && receive.bytes == 0
            {
                receive.bytes = bytes;
            }
        }
    }
}

/// Multiplies the computing times of tasks `first` to `end` - 1 by `factor`, from 0 to 10^6: processors of another
/// speed.
///
/// # Errors
/// A factor out of range, tasks that do not exist, a time above 106 days.
pub fn speed(program: &mut Program, first: usize, end: usize, factor: f64) -> Result<(), TransformError> {
    if !(0.0..=1e6).contains(&factor) {
        return refuse(out_of_range("compute", factor), "use 0 to 1000000; 1 changes nothing");
    }
    let count = program.tasks.len();
    match program.tasks.get_mut(first..end) {
        Some(tasks) if first < end => tasks.iter_mut().try_for_each(|events| scale_computing(events, factor)),
        _ => no_such_tasks(first, end, count),
    }
}

/// The error for a range of tasks that the trace does not have.
fn no_such_tasks<T>(first: usize, end: usize, count: usize) -> Result<T, TransformError> {
    refuse(
        format!("tasks {first}..{end} are not a range of the {count} tasks of the trace"),
        format!("use a range within 0..{count}"),
    )
}

/// The message for a factor out of range. Very large and small factors are written with an exponent.
fn out_of_range(name: &str, factor: f64) -> String {
    let is_short = factor == 0.0 || !factor.is_finite() || (1e-5..1e16).contains(&factor.abs());
    let factor = if is_short { factor.to_string() } else { format!("{factor:e}") };
    format!("--{name} {factor} is out of range")
}

/// Multiplies the computing times of a task, rounded to the nearest picosecond; removes those that become 0.
fn scale_computing(events: &mut Vec<Event>, factor: f64) -> Result<(), TransformError> {
    if factor == 1.0 {
        return Ok(());
    }
    for event in events.iter_mut() {
        if let Event::Compute(time) = event {
            let scaled = time.0 as f64 * factor;
            if scaled >= 9.2e18 {
                return refuse(format!("computing of {scaled:e} ps"), "use a smaller --compute");
            }
            *time = Picoseconds(scaled.round() as u64);
        }
    }
    events.retain(|event| *event != Event::Compute(Picoseconds(0)));
    Ok(())
}
