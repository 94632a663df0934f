//! Waits of the program: which event is next, and to which rank the waiting time is attributed.

use std::ffi::c_int;

use adapters::guest::{Arrival, Event};

use super::delivery::{arrive, complete};
use super::mail::{Awaited, Message, Order, Owner, Posted, open};
use crate::abi::*;
use crate::spans::Doing;
use crate::threads::{self, Turn, Wait};
use crate::world::World;

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

/// Reads the message of an arrival; `None` if it has no envelope.
fn read(world: &World, arrival: &Arrival) -> Option<Message> {
    // In real time a message is handed over after its arrival, and messages are ordered by their hand-over.
    let (late, first) = if world.settings.realtime { (arrival.late, world.mail.frontier.0) } else { (0, 0) };
    let (time, place) = (arrival.time.saturating_sub(late), arrival.time.max(first));
    open(arrival.source as usize, &arrival.payload, time, place)
}

/// Processes an event. Returns the other rank of its message: the sender of an arrived message, or the destination of a
/// message that has left.
fn process(world: &mut World, event: Event) -> Option<usize> {
    match event {
        Event::Sent { cookie, .. } => {
            let (owner, to) = world.mail.leaving.remove(&cookie)?;
            complete(world, owner);
            Some(to)
        }
        Event::Message(arrival) => {
            let Some(message) = read(world, &arrival) else {
                world.end(&format!("rank {} has sent a message without an envelope", arrival.source), 1)
            };
            let source = message.source;
            if let Some(spans) = &mut world.spans {
                spans.arrived(source, message.sequence, message.time);
            }
            world.mail.frontier = world.mail.frontier.max(message.order);
            arrive(world, message);
            Some(source)
        }
    }
}

/// The sources of the messages that can end a wait; `None` if messages of other sources must be processed in order too.
fn sources(world: &World, until: Until) -> Option<Vec<u32>> {
    let own = match until {
        Until::Over(handle) => world.requests.actual(handle),
        _ => REQUEST_NULL,
    };
    // A message of another source may match a wildcard, or let another collective continue.
    let is_open = |posted: &Posted| match posted.owner {
        Owner::Part(handle, _) => handle != own,
        Owner::Request(_) => posted.source.is_none(),
    };
    // Other ranks may access the windows of this one, which then answers.
    if !world.settings.deterministic || !world.windows.is_empty() || world.mail.posted.iter().any(is_open) {
        return None;
    }
    let all = match until {
        Until::Any => return None,
        Until::From(rank) => vec![rank],
        Until::Over(_) => world.requests.sources(own)?,
    };
    Some(all.into_iter().map(|rank| rank as u32).collect())
}

/// True if an event comes before a message in the order of arrivals: by time, then source, then number.
fn is_before(world: &World, event: &Event, message: Order) -> bool {
    match event {
        Event::Message(arrival) => read(world, arrival).is_none_or(|read| read.order < message),
        Event::Sent { time, .. } => *time < message.0,
    }
}

/// Processes all messages that precede the last one processed. Waits for named sources leave messages of other sources
/// behind, and a wildcard must see them first.
pub(crate) fn catch_up(world: &mut World) {
    if !std::mem::take(&mut world.mail.is_behind) {
        return;
    }
    let frontier = world.mail.frontier;
    loop {
        let Some(guest) = &mut world.guest else { return };
        let event = match guest.poll() {
            Ok(Some(event)) => event,
            Ok(None) => return,
            Err(failure) => world.lost(&failure),
        };
        if is_before(world, &event, frontier) {
            process(world, event);
        } else {
            world.mail.held.push_back(event);
        }
    }
}

/// Waits for the next event and returns it. In deterministic mode only messages of the sources that can end the wait
/// are considered, if these sources are known.
fn next_event(world: &mut World, until: Until) -> Event {
    if let Some(event) = world.mail.held.pop_front() {
        return event;
    }
    let named = sources(world, until);
    world.mail.is_behind |= named.is_some();
    let Some(guest) = &mut world.guest else { world.end("a wait begins before MPI_Init or after MPI_Finalize", 1) };
    let event = match named {
        Some(sources) => guest.receive_from(&sources),
        None => guest.receive(),
    };
    event.unwrap_or_else(|failure| world.lost(&failure))
}

/// Waits until `is_over` becomes true by a message.
///
/// The time is attributed to the rank that is waited for. If there are several, as in a collective, each part of the
/// wait is attributed to the rank whose message ended it, so that the order in which events are processed does not
/// matter.
pub(crate) fn wait(world: &mut World, awaited: Awaited, until: Until, is_over: impl Fn(&World) -> bool) {
    world.charge();
    if matches!(until, Until::Any) {
        catch_up(world);
    }
    let (peer, parts) = match until {
        Until::Over(handle) => (world.requests.peer(handle), world.requests.parts(handle)),
        Until::From(rank) => (Some(rank), None),
        Until::Any => (None, None),
    };
    if is_over(world) {
        return;
    }
    world.caller.awaited = awaited;
    let mut since = world.now();
    let mut book = |world: &mut World, peer: Option<usize>| {
        let now = world.now();
        world.statistics.waited(world.caller.calling, peer, now.saturating_sub(since));
        world.span(Doing::Waiting(world.caller.calling), since, now);
        since = now;
    };
    while !is_over(world) {
        let other = match world.give_way(Wait::Event) {
            Turn::Go => continue,
            Turn::Fetch(None) => {
                let event = next_event(world, until);
                world.mail.ended.clear();
                let other = process(world, event);
                threads::changed(world.now());
                other
            }
            Turn::Fetch(limit) => fetch(world, limit),
        };
        if let Some(parts) = &parts
            && world.mail.ended.iter().any(|ended| parts.contains(ended))
        {
            book(world, other);
        }
    }
    // The events that other threads have fetched are not told apart.
    if parts.is_none() || threads::are_several() {
        book(world, peer);
    }
    world.caller.awaited = Awaited::Nothing;
    threads::changed(world.now());
    threads::set_since(world.now());
}

/// Fetches and processes the next event up to the time `limit` \[ps\], for all threads; without one the clock reaches
/// `limit`. Returns the other rank of its message.
pub(crate) fn fetch(world: &mut World, limit: Option<u64>) -> Option<usize> {
    world.mail.ended.clear();
    let guest = world.guest.as_mut()?;
    let event = match limit {
        Some(limit) => guest.receive_until(limit),
        None => guest.receive().map(Some),
    };
    let event = event.unwrap_or_else(|failure| world.lost(&failure));
    let other = event.and_then(|event| process(world, event));
    threads::changed(world.now());
    other
}

/// Processes all events up to now.
pub(crate) fn poll(world: &mut World) {
    world.charge();
    while let Some(event) = world.mail.held.pop_front() {
        process(world, event);
    }
    loop {
        let Some(guest) = &mut world.guest else { return };
        match guest.poll() {
            Ok(Some(event)) => {
                process(world, event);
            }
            Ok(None) => return,
            Err(failure) => world.lost(&failure),
        }
    }
}

/// Waits for one request to end.
pub(crate) fn wait_for(world: &mut World, handle: c_int) {
    if world.requests.is_over(handle) {
        world.charge();
        return;
    }
    let over = |world: &World| world.requests.is_over(handle);
    wait(world, Awaited::Requests(vec![handle]), Until::Over(handle), over);
}
