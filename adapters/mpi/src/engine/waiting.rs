//! Waits of the program: which event is next, and to which rank the waiting time is attributed.

use std::ffi::c_int;

use adapters::guest::Event;

use super::mail::{Order, Owner, Posted, arrive, parse};
use super::requests::{What, actual, complete, is_over, parts, peer};
use crate::abi::*;
use crate::world::{self, w};

/// When a wait ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// When this request ends.
    Over(c_int),
    /// When a certain message of this rank of the world arrives.
    From(usize),
    /// When any of several messages arrives.
    Any,
}

/// What a rank waits for, for the description of a deadlock.
#[derive(Clone, Debug)]
pub(crate) enum Awaited {
    Nothing,
    Requests(Vec<c_int>),
    Probe { source: Option<usize>, tag: Option<i64>, context: u64 },
}

/// Processes an event. Returns the other rank of its message: the sender of an arrived message, or the destination of a
/// message that has left.
fn process(event: Event) -> Option<usize> {
    match event {
        Event::Sent { cookie, .. } => {
            let (owner, to) = w().mail.leaving.remove(&cookie)?;
            complete(owner);
            Some(to)
        }
        Event::Message(arrival) => {
            let Some(message) = parse(&arrival) else {
                world::end(&format!("rank {} has sent a message without an envelope", arrival.source), 1)
            };
            let source = message.source;
            w().mail.frontier = w().mail.frontier.max(message.order);
            arrive(message);
            Some(source)
        }
    }
}

/// The sources of the messages that can end a wait; `None` if messages of other sources must be processed in order too.
fn sources(until: Until) -> Option<Vec<u32>> {
    let own = match until {
        Until::Over(handle) => actual(handle),
        _ => REQUEST_NULL,
    };
    // A message of another source may match a wildcard, or let another collective continue.
    let is_open = |posted: &Posted| match posted.owner {
        Owner::Part(handle, _) => handle != own,
        Owner::Request(_) => posted.source.is_none(),
    };
    if !w().deterministic || w().mail.posted.iter().any(is_open) {
        return None;
    }
    let all = match until {
        Until::Any => return None,
        Until::From(rank) => vec![rank],
        Until::Over(_) => match &w().requests.get(own)?.what {
            What::Send { to, synchronous: true, .. } => vec![*to],
            What::Send { .. } => Vec::new(),
            What::Receive { from, .. } => vec![(*from)?],
            What::Collective(running) => running.as_ref()?.sources(),
            What::Several(all) => return sources(Until::Over(all.iter().copied().find(|&one| !is_over(one))?)),
            _ => return None,
        },
    };
    Some(all.into_iter().map(|rank| rank as u32).collect())
}

/// True if an event comes before a message in the order of arrivals: by time, then source, then number.
fn is_before(event: &Event, message: Order) -> bool {
    match event {
        Event::Message(arrival) => parse(arrival).is_none_or(|parsed| parsed.order < message),
        Event::Sent { time, .. } => *time < message.0,
    }
}

/// Processes all messages that precede the last one processed. Waits for named sources leave messages of other sources
/// behind, and a wildcard must see them first.
pub(crate) fn catch_up() {
    if !std::mem::take(&mut w().mail.is_behind) {
        return;
    }
    let frontier = w().mail.frontier;
    loop {
        let Some(guest) = &mut w().guest else { return };
        let event = match guest.poll() {
            Ok(Some(event)) => event,
            Ok(None) => return,
            Err(failure) => world::lost(&failure),
        };
        if is_before(&event, frontier) {
            process(event);
        } else {
            w().mail.held.push_back(event);
        }
    }
}

/// Waits for the next event and returns it. In deterministic mode only messages of the sources that can end the wait
/// are considered, if these sources are known.
fn next_event(until: Until) -> Event {
    let world = w();
    if let Some(event) = world.mail.held.pop_front() {
        return event;
    }
    let named = sources(until);
    world.mail.is_behind |= named.is_some();
    let Some(guest) = &mut world.guest else { world::end("a wait begins before MPI_Init or after MPI_Finalize", 1) };
    let event = match named {
        Some(sources) => guest.receive_from(&sources),
        None => guest.receive(),
    };
    event.unwrap_or_else(|failure| world::lost(&failure))
}

/// Waits until `is_over` becomes true by a message.
///
/// The time is attributed to the rank that is waited for. If there are several, as in a collective, each part of the
/// wait is attributed to the rank whose message ended it, so that the order in which events are processed does not
/// matter.
pub(crate) fn wait(awaited: Awaited, until: Until, is_over: impl Fn() -> bool) {
    w().charge();
    if matches!(until, Until::Any) {
        catch_up();
    }
    let (peer, parts) = match until {
        Until::Over(handle) => (peer(handle), parts(handle)),
        Until::From(rank) => (Some(rank), None),
        Until::Any => (None, None),
    };
    if is_over() {
        return;
    }
    w().mail.awaited = awaited;
    let mut since = w().now();
    let mut book = |peer: Option<usize>| {
        let (world, now) = (w(), w().now());
        world.statistics.waited(world.calling, peer, now.saturating_sub(since));
        since = now;
    };
    while !is_over() {
        let event = next_event(until);
        w().mail.ended.clear();
        let other = process(event);
        if let Some(parts) = &parts
            && w().mail.ended.iter().any(|ended| parts.contains(ended))
        {
            book(other);
        }
    }
    if parts.is_none() {
        book(peer);
    }
    w().mail.awaited = Awaited::Nothing;
}

/// Processes all events up to now.
pub(crate) fn poll() {
    w().charge();
    while let Some(event) = w().mail.held.pop_front() {
        process(event);
    }
    loop {
        let Some(guest) = &mut w().guest else { return };
        match guest.poll() {
            Ok(Some(event)) => {
                process(event);
            }
            Ok(None) => return,
            Err(failure) => world::lost(&failure),
        }
    }
}

/// Waits for one request to end.
pub(crate) fn wait_for(handle: c_int) {
    if is_over(handle) {
        w().charge();
        return;
    }
    wait(Awaited::Requests(vec![handle]), Until::Over(handle), || is_over(handle));
}
