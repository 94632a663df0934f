//! Accesses to windows of other ranks: sends them, and waits for their answers. `delivery` carries out those that arrive.

use std::ffi::c_int;

use super::delivery::send_order;
use super::mail::Awaited;
use super::requests::{Request, State, What};
use super::waiting::{self, Until};
use crate::error::Outcome;
use crate::window::{Code, Landing, Order, Window};
use crate::world::{POLL, World};

/// Sends a message of a window to a rank of its communicator, after the computing before the call. `bytes` is its modelled
/// size.
pub(crate) fn send(world: &mut World, window: c_int, to: usize, order: &Order, data: &[u8], bytes: u64) -> Outcome {
    // `ahead` may have announced that nothing is sent before.
    world.charge();
    let found = world.windows.get_mut(window)?;
    let (context, comm) = (found.context, found.comm);
    if order.code.is_access() {
        found.dirty.insert(to);
        if order.is_counted {
            found.sent[to] += 1;
        }
    }
    let to = world.comms.get(comm)?.world_of(to as c_int)?;
    send_order(world, context, to, order, data, bytes);
    Ok(())
}

/// Waits until `is_over` is true of a window. `what` says what for.
pub(crate) fn wait(world: &mut World, window: c_int, what: &'static str, is_over: impl Fn(&Window) -> bool) -> Outcome {
    let name = world.windows.get(window)?.name.clone();
    let over = |world: &World| world.windows.get(window).map_or(true, &is_over);
    waiting::wait(world, Awaited::Window { what, name }, Until::Any, over);
    Ok(())
}

/// Asks for the answer of an access: it fills a buffer.
pub(crate) fn expect(world: &mut World, window: c_int, target: usize, landing: Landing) -> Outcome<u64> {
    let id = world.windows.next;
    world.windows.next += 1;
    *world.windows.get_mut(window)?.expected.entry(target).or_default() += 1;
    world.answers.insert(id, landing);
    Ok(id)
}

/// Locks a target and waits until the lock is granted.
pub(crate) fn lock(world: &mut World, window: c_int, target: usize, is_exclusive: bool) -> Outcome {
    world.windows.get_mut(window)?.locked.insert(target, false);
    let code = if is_exclusive { Code::LockExclusive } else { Code::LockShared };
    send(world, window, target, &Order::of(code), &[], 0)?;
    wait(world, window, "a lock", |window| window.locked.get(&target) == Some(&true))
}

/// Waits until the accesses to these targets are complete: at the targets, or, if `locally`, their buffers can be used.
///
/// A program may call it in a loop until a value appears in its window: if there is nothing to wait for, it takes the time of
/// an unsuccessful test.
pub(crate) fn flush(world: &mut World, window: c_int, targets: &[usize], locally: bool, code: Code) -> Outcome {
    world.charge();
    let begin = world.now();
    let found = world.windows.get(window)?;
    let has_accessed = targets.iter().any(|target| found.dirty.contains(target));
    if !locally {
        for &target in targets {
            let found = world.windows.get_mut(window)?;
            found.dirty.remove(&target);
            *found.expected.entry(target).or_default() += 1;
            send(world, window, target, &Order::of(code), &[], 0)?;
        }
    }
    wait(world, window, "accesses to be complete", |window| {
        targets.iter().all(|&target| window.answers(Some(target)) == 0)
    })?;
    if world.now() == begin && !(locally && has_accessed) {
        idle(world);
    }
    Ok(())
}

/// Carries out what other ranks have sent up to now, and takes the time of an unsuccessful test.
pub(crate) fn idle(world: &mut World) {
    waiting::poll(world);
    world.pay(POLL);
}

/// Adds the request of an access: it ends with the answer, if one is expected, and has ended otherwise.
pub(crate) fn request(world: &mut World, is_expected: bool, comm: c_int) -> c_int {
    let state = if is_expected { State::Pending } else { State::Done };
    world.requests.add(Request::new(What::Nothing, state).on(comm))
}
