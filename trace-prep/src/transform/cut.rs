//! Parts of a program that can be executed on their own.

use std::collections::{HashMap, HashSet};

use trgen::TaskId;
use trgen::trace::program::{Event, Program, Receive, Request, Tag, TagFilter};

use super::{TransformError, no_such_tasks, refuse};

/// Messages that a part omits, since their other end is outside it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Left {
    /// Sent by tasks of the part.
    pub sent: u64,
    /// \[bytes\] Size of these messages.
    pub sent_bytes: u64,
    /// Received by tasks of the part.
    pub received: u64,
    /// \[bytes\] Buffer sizes of those receives.
    pub received_bytes: u64,
}

impl Left {
    /// Counts the send or receive that is left out.
    fn count(&mut self, event: &Event) {
        match event {
            Event::Send(send) | Event::Isend(send, _) => {
                self.sent += 1;
                self.sent_bytes = self.sent_bytes.saturating_add(send.bytes);
            }
            Event::Recv(receive) | Event::Irecv(receive, _) => {
                self.received += 1;
                self.received_bytes = self.received_bytes.saturating_add(receive.bytes);
            }
            _ => {}
        }
    }
}

/// The tasks from `first` to `end` - 1, renumbered from 0, with their messages among each other.
///
/// # Errors
/// A range that is empty or exceeds the program.
pub fn tasks(program: Program, first: usize, end: usize) -> Result<(Program, Left), TransformError> {
    let count = program.tasks.len();
    if first >= end || end > count {
        return no_such_tasks(first, end, count);
    }
    let inside = |task: TaskId| (first..end).contains(&task.index());
    let mut part = Program::new(0);
    let mut left = Left::default();
    for mut events in program.tasks.into_iter().take(end).skip(first) {
        events.retain_mut(|event| {
            let peer = match event {
                Event::Send(send) | Event::Isend(send, _) => &mut send.to,
                Event::Recv(Receive { from: Some(from), .. }) | Event::Irecv(Receive { from: Some(from), .. }, _) => {
                    from
                }
                _ => return true,
            };
            let keep = inside(*peer);
            *peer = TaskId(peer.0.wrapping_sub(first as u32));
            if !keep {
                left.count(event);
            }
            keep
        });
        drop_void_waits(&mut events);
        part.tasks.push(events);
    }
    if part.tasks.iter().flatten().any(is_wildcard) {
        return refuse("a receive from any source: who served it is not known", "slice by events, or another range");
    }
    Ok((part, left))
}

/// The first `count` events of every task, without messages of which only one end is included. The result can be
/// executed: the k-th message between two tasks with a given tag belongs to its k-th receive.
///
/// # Errors
/// Receives with wildcards, whose messages are unknown.
pub fn prefix(program: Program, count: usize) -> Result<(Program, Left), TransformError> {
    window(program, |events| 0..count.min(events.len()))
}

/// The events of every task after call `after` of a collective on the world communicator and before call `before`,
/// numbered from 0 in the order of calls, without messages of which only one end is included. Extracts, for example, a
/// timed section. `None` stands for the beginning, or the end.
///
/// # Errors
/// Receives with wildcards, whose messages are unknown; calls that the program does not make, or in the wrong order.
pub fn between(program: Program, after: Option<u64>, before: Option<u64>) -> Result<(Program, Left), TransformError> {
    let calls = program.tasks.iter().flatten().filter_map(call).max().map_or(0, |last| last + 1);
    if [after, before].into_iter().flatten().any(|call| call >= calls) {
        return refuse(
            format!("the program makes {calls} calls of collectives on the world communicator"),
            "number them from 0; `trace-prep info` counts the calls of each kind by all tasks together",
        );
    }
    if let (Some(after), Some(before)) = (after, before)
        && after >= before
    {
        return refuse(format!("call {before} does not come after call {after}"), "write FIRST..LAST, as in 3..34");
    }
    window(program, |events| {
        let begin = after.map_or(0, |after| end_of_call(events, after));
        let is_reached = |event: &Event| before.is_some_and(|before| call(event).is_some_and(|call| call >= before));
        begin..events.iter().position(is_reached).unwrap_or(events.len()).max(begin)
    })
}

/// The number of the collective on the world communicator to which an event belongs; `None` for other events.
fn call(event: &Event) -> Option<u64> {
    let tag = match event {
        Event::Send(send) | Event::Isend(send, _) => send.tag,
        Event::Recv(receive) | Event::Irecv(receive, _) => match receive.tag {
            TagFilter::Exactly(tag) => tag,
            TagFilter::AnyIn(_) => return None,
        },
        _ => return None,
    };
    if tag.context == Tag::COLLECTIVE { u64::try_from(tag.label).ok() } else { None }
}

/// The position after the last event of collective `last` and of all earlier ones, including their waits.
fn end_of_call(events: &[Event], last: u64) -> usize {
    let mut begun: HashSet<Request> = HashSet::new();
    let mut end = 0;
    for (position, event) in events.iter().enumerate() {
        let is_part = call(event).is_some_and(|call| call <= last);
        let is_waited_for = match event {
            Event::Isend(_, request) | Event::Irecv(_, request) => {
                begun.remove(request);
                if is_part {
                    begun.insert(*request);
                }
                false
            }
            Event::Wait(request) => begun.remove(request),
            Event::WaitAll(requests) | Event::WaitAny(requests) => {
                requests.iter().any(|request| begun.contains(request))
            }
            _ => false,
        };
        if is_part || is_waited_for {
            end = position + 1;
        }
    }
    end
}

/// Keeps of every task the events in the range that `part` returns, without messages of which only one end is kept.
fn window(
    mut program: Program,
    part: impl Fn(&[Event]) -> std::ops::Range<usize>,
) -> Result<(Program, Left), TransformError> {
    if program.tasks.iter().flatten().any(is_wildcard) {
        return refuse("a receive with a wildcard: which message served it is not known", "slice by tasks");
    }
    let parts: Vec<_> = program.tasks.iter().map(|events| part(events)).collect();
    // By pair and tag, for the sender and for the receiver: the number of messages before the part of its task, and the
    // number up to the end of that part.
    let mut counts: HashMap<(TaskId, TaskId, Tag), [[u64; 2]; 2]> = HashMap::new();
    for (task, (events, part)) in program.tasks.iter().zip(&parts).enumerate() {
        for (position, event) in events.iter().enumerate().take(part.end) {
            if let Some((pair, side)) = end_of_message(TaskId::at(task), event) {
                let [before, up_to] = &mut counts.entry(pair).or_default()[side];
                *before += u64::from(position < part.start);
                *up_to += 1;
            }
        }
    }
    let mut passed: HashMap<(TaskId, TaskId, Tag), [u64; 2]> = HashMap::new();
    let mut left = Left::default();
    for (task, (events, part)) in program.tasks.iter_mut().zip(parts).enumerate() {
        let mut position = 0..;
        events.retain(|event| {
            let is_inside = position.next().is_some_and(|position| part.contains(&position));
            let Some((pair, side)) = end_of_message(TaskId::at(task), event) else { return is_inside };
            let number = &mut passed.entry(pair).or_default()[side];
            *number += 1;
            let has_both_ends = counts.get(&pair).is_some_and(|[[not_sent, sent], [not_received, received]]| {
                *number > *not_sent.max(not_received) && *number <= *sent.min(received)
            });
            if is_inside && !has_both_ends {
                left.count(event);
            }
            is_inside && has_both_ends
        });
        drop_void_waits(events);
    }
    Ok((program, left))
}

/// True for a receive from any source, or with any tag.
fn is_wildcard(event: &Event) -> bool {
    match event {
        Event::Recv(receive) | Event::Irecv(receive, _) => {
            receive.from.is_none() || matches!(receive.tag, TagFilter::AnyIn(_))
        }
        _ => false,
    }
}

/// The pair and tag of a message, and its end at the event: 0 for the sender, 1 for the receiver.
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

/// Removes waits for requests whose sends and receives were removed.
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
            Event::After(requests) => {
                keep(requests, &begun);
                true
            }
            Event::WaitAny(requests) => keep(requests, &begun),
            _ => true,
        }
    });
}
