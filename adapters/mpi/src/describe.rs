//! What a rank waits for, in words, for the description of a deadlock.

use std::ffi::c_int;

use crate::communicator::Comms;
use crate::engine::mail::Awaited;
use crate::engine::requests::{Requests, What};

/// Describes a message that is waited for.
fn message(comms: &Comms, source: Option<usize>, tag: Option<i64>, context: u64) -> String {
    let source = source.map_or_else(|| "any rank".to_owned(), |source| format!("rank {source}"));
    let tag = tag.map_or_else(|| "any tag".to_owned(), tagged);
    format!("a message from {source}, {tag}, on {}", comms.title_of(context))
}

/// The tag of the program in a tag of a message.
fn tagged(tag: i64) -> String {
    format!("tag {}", tag as i32)
}

/// Describes what a request waits for.
fn request(comms: &Comms, requests: &Requests, handle: c_int) -> Option<String> {
    match &requests.get(requests.actual(handle))?.what {
        What::Receive { from, tag, context, .. } => Some(message(comms, *from, *tag, *context)),
        What::Send { to, tag, context, synchronous: true, .. } => {
            let comm = comms.title_of(*context);
            Some(format!("rank {to} to receive its synchronous message, {}, on {comm}", tagged(*tag)))
        }
        What::Send { to, tag, context, bytes, rendezvous: true, .. } => {
            let comm = comms.title_of(*context);
            Some(format!("rank {to} to receive its message of {bytes} bytes (rendezvous), {}, on {comm}", tagged(*tag)))
        }
        What::Send { to, tag, bytes, .. } => {
            Some(format!("its message of {bytes} bytes, {}, to rank {to} to leave", tagged(*tag)))
        }
        What::Collective(running) => running.as_ref().map(|running| running.wanted(comms)),
        What::Several(all) => {
            all.iter().find(|&&one| !requests.is_over(one)).and_then(|&one| request(comms, requests, one))
        }
        What::Parts(parts) => {
            let left = parts.iter().filter(|&&is_ready| !is_ready).count();
            Some(format!("{left} of {} partitions to be ready", parts.len()))
        }
        _ => Some("a generalized request".to_owned()),
    }
}

/// Describes what a rank waits for in a call; `None` if it does not wait.
pub(crate) fn awaited(calling: &str, awaited: &Awaited, comms: &Comms, requests: &Requests) -> Option<String> {
    const SHOWN: usize = 4;
    let what = match awaited {
        Awaited::Nothing => return None,
        Awaited::Window { what, name } if name.is_empty() => format!("{what} of a window"),
        Awaited::Window { what, name } => format!("{what} of the window {name}"),
        Awaited::Probe { source, tag, context } => message(comms, *source, *tag, *context),
        Awaited::Requests(handles) => {
            let pending = handles.iter().filter(|&&handle| !requests.is_over(handle));
            let all: Vec<String> = pending.filter_map(|&handle| request(comms, requests, handle)).collect();
            let more = all.len().saturating_sub(SHOWN);
            let tail = if more > 0 { format!("; and {more} more") } else { String::new() };
            format!("{}{tail}", all[..all.len().min(SHOWN)].join("; "))
        }
    };
    Some(format!("{calling}: waits for {what}"))
}
