//! Parts of a program that can be executed on their own.

use std::collections::{HashMap, HashSet};

use trgen::TaskId;
use trgen::trace::program::{Event, Program, Request, Tag, TagFilter};

use super::{TransformError, refuse};

/// The tasks from `first` up to but not including `end`, renumbered from 0, with what they exchange among themselves.
///
/// # Errors
/// A range that is empty or leaves the program.
pub fn tasks(program: Program, first: usize, end: usize) -> Result<Program, TransformError> {
    let count = program.tasks.len();
    if first >= end || end > count {
        return refuse(format!("tasks {first}..{end} of {count}"), format!("use a range within 0..{count}"));
    }
    let inside = |task: TaskId| (first..end).contains(&task.index());
    let mut part = Program::new(0);
    for mut events in program.tasks.into_iter().take(end).skip(first) {
        events.retain_mut(|event| match event {
            Event::Send(send) | Event::Isend(send, _) => {
                let keep = inside(send.to);
                send.to = TaskId(send.to.0.wrapping_sub(first as u32));
                keep
            }
            Event::Recv(receive) | Event::Irecv(receive, _) => match &mut receive.from {
                Some(from) => {
                    let keep = inside(*from);
                    *from = TaskId(from.0.wrapping_sub(first as u32));
                    keep
                }
                None => true,
            },
            _ => true,
        });
        drop_void_waits(&mut events);
        part.tasks.push(events);
    }
    if part.tasks.iter().flatten().any(is_wildcard) {
        return refuse("a receive from any source: who served it is not known", "slice by events, or another range");
    }
    Ok(part)
}

/// The first `count` events of every task, without messages of which only one end is among them. What is left can be
/// executed: the k-th message from one task to another with some tag belongs to the k-th receive for it.
///
/// # Errors
/// Receives with wildcards, whose messages are not known.
pub fn prefix(mut program: Program, count: usize) -> Result<Program, TransformError> {
    if program.tasks.iter().flatten().any(is_wildcard) {
        return refuse("a receive with a wildcard: which message served it is not known", "slice by tasks");
    }
    let mut balance: HashMap<(TaskId, TaskId, Tag), [u64; 2]> = HashMap::new();
    for (task, events) in program.tasks.iter_mut().enumerate() {
        events.truncate(count);
        for event in events.iter() {
            if let Some((pair, side)) = end_of_message(TaskId::at(task), event) {
                balance.entry(pair).or_default()[side] += 1;
            }
        }
    }
    let mut seen: HashMap<(TaskId, TaskId, Tag), [u64; 2]> = HashMap::new();
    for (task, events) in program.tasks.iter_mut().enumerate() {
        events.retain(|event| {
            let Some((pair, side)) = end_of_message(TaskId::at(task), event) else { return true };
            let number = &mut seen.entry(pair).or_default()[side];
            *number += 1;
            balance.get(&pair).is_some_and(|[sent, received]| *number <= *sent.min(received))
        });
        drop_void_waits(events);
    }
    Ok(program)
}

fn is_wildcard(event: &Event) -> bool {
    match event {
        Event::Recv(receive) | Event::Irecv(receive, _) => {
            receive.from.is_none() || matches!(receive.tag, TagFilter::AnyIn(_))
        }
        _ => false,
    }
}

/// The pair and tag of a message, and which end of it an event is: 0 the sender's, 1 the receiver's.
fn end_of_message(task: TaskId, event: &Event) -> Option<((TaskId, TaskId, Tag), usize)> {
    match event {
        Event::Send(send) | Event::Isend(send, _) => Some(((task, send.to, send.tag), 0)),
        Event::Recv(receive) | Event::Irecv(receive, _) => match (receive.from, receive.tag) {
            (Some(from), TagFilter::Exactly(tag)) => Some(((from, task, tag), 1)),
            _ => None,
        },
        _ => None,
    }
}

/// Removes waits for requests that nothing begins any more.
fn drop_void_waits(events: &mut Vec<Event>) {
    let mut begun: HashSet<Request> = HashSet::new();
    events.retain_mut(|event| {
        let keep = |requests: &mut Box<[Request]>, begun: &HashSet<Request>| {
            *requests = requests.iter().copied().filter(|request| begun.contains(request)).collect();
            !requests.is_empty()
        };
        match event {
            Event::Isend(_, request) | Event::Irecv(_, request) => {
                begun.insert(*request);
                true
            }
            Event::Wait(request) => begun.remove(request),
            Event::WaitAll(requests) => {
                let kept = keep(requests, &begun);
                requests.iter().for_each(|request| {
                    begun.remove(request);
                });
                kept
            }
            Event::WaitAny(requests) => keep(requests, &begun),
            _ => true,
        }
    });
}
