//! Accesses to windows: sends them, and carries out those of other ranks.

use std::ffi::c_int;
use std::rc::Rc;

use super::delivery::{Outgoing, transmit};
use super::mail::{Awaited, Message, WINDOW};
use super::requests::{State, What};
use super::waiting::{self, Until};
use crate::abi::*;
use crate::datatype::Type;
use crate::error::{Outcome, error};
use crate::operation::{self, Terms};
use crate::window::{Code, Order, Window};
use crate::world::World;

/// A buffer of this rank that an answer fills.
#[derive(Clone, Debug)]
pub(crate) struct Landing {
    pub(crate) address: usize,
    pub(crate) count: i64,
    pub(crate) ty: Rc<Type>,
    /// The request that ends with the answer.
    pub(crate) request: Option<c_int>,
}

/// Sends a message of a window to a rank of its communicator. `bytes` is its modelled size.
pub(crate) fn send(world: &mut World, window: c_int, to: usize, order: &Order, data: &[u8], bytes: u64) -> Outcome {
    let found = world.windows.get_mut(window)?;
    let (context, comm) = (found.context, found.comm);
    if order.code.is_access() {
        found.dirty.insert(to);
        if order.is_counted {
            found.sent[to] += 1;
        }
    }
    let to = world.comms.get(comm)?.world_of(to as c_int)?;
    send_to(world, context, to, order, data, bytes);
    Ok(())
}

/// Sends a message of the window with this context to a rank of the world.
fn send_to(world: &mut World, context: u64, to: usize, order: &Order, data: &[u8], bytes: u64) {
    let message = Outgoing { kind: WINDOW, to, context, tag: 0, note: 0, bytes };
    transmit(world, message, &order.write(data), None);
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
pub(crate) fn flush(world: &mut World, window: c_int, targets: &[usize], locally: bool, code: Code) -> Outcome {
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
    })
}

/// Carries out a message of a window.
pub(super) fn arrive(world: &mut World, message: Message) {
    if let Some(log) = &mut world.log {
        let number = log.receive(Some(message.source), Some(message.tag), message.context, message.data.len() as u64);
        log.wait(number);
    }
    world.statistics.received += 1;
    carry_out(world, &message);
}

/// Carries out a message whose window exists: no rank uses a window before all have begun to make it, or after all have
/// begun to free it.
fn carry_out(world: &mut World, message: &Message) {
    let (context, source) = (message.context, message.source);
    let Some((order, start)) = Order::read(&message.data) else {
        world.end(&format!("rank {source} has sent a message of a window that cannot be read"), 1)
    };
    let data = &message.data[start..];
    let Some(window) = world.windows.of_context(context) else { return };
    let Some(rank) = world.comms.get(window.comm).ok().and_then(|comm| comm.rank_of(source)) else { return };
    let answer = |code, id| Order { id, ..Order::of(code) };
    match order.code {
        Code::Put | Code::Accumulate | Code::Get | Code::Fetch | Code::Compare => {
            window.arrived += i32::from(order.is_counted);
            match access(window, &order, data) {
                Ok(Some(found)) => {
                    let bytes = found.len() as u64;
                    send_to(world, context, source, &answer(Code::Answer, order.id), &found, bytes);
                }
                Ok(None) => {}
                Err(failure) => world.end(&format!("rank {source} accesses {} here", failure.text), failure.class),
            }
        }
        Code::Answer => {
            if let Some(expected) = window.expected.get_mut(&rank) {
                *expected -= 1;
            }
            let Some(landing) = world.answers.remove(&order.id) else { return };
            // SAFETY: the buffer that the program has given for the result.
            unsafe { landing.ty.unpack(data, landing.address as M, landing.count) };
            if let Some(request) = landing.request {
                world.requests.end(request);
            }
        }
        Code::Done => {
            if let Some(expected) = window.expected.get_mut(&rank) {
                *expected -= 1;
            }
        }
        Code::LockShared | Code::LockExclusive => {
            let granted = window.lock((rank, order.code == Code::LockExclusive));
            grant(world, context, &granted);
        }
        Code::Granted => drop(window.locked.insert(rank, true)),
        Code::Unlock => {
            let granted = window.unlock(rank);
            send_to(world, context, source, &Order::of(Code::Done), &[], 0);
            grant(world, context, &granted);
        }
        Code::Flush => send_to(world, context, source, &Order::of(Code::Done), &[], 0),
        Code::Post => drop(window.exposed.insert(rank)),
        Code::Complete => drop(window.completed.insert(rank)),
    }
}

/// Tells ranks of a window's communicator that their locks are granted.
fn grant(world: &mut World, context: u64, granted: &[usize]) {
    for &rank in granted {
        let Some(comm) = world.windows.of_context(context).map(|window| window.comm) else { return };
        let Ok(to) = world.comms.get(comm).and_then(|comm| comm.world_of(rank as c_int)) else { return };
        send_to(world, context, to, &Order::of(Code::Granted), &[], 0);
    }
}

/// Accesses the memory of this rank. Returns the data for the answer, if there is one.
fn access(window: &Window, order: &Order, data: &[u8]) -> Outcome<Option<Vec<u8>>> {
    let Some(ty) = &order.ty else {
        let old = if matches!(order.code, Code::Put | Code::Accumulate) { None } else { Some(Vec::new()) };
        return Ok(old);
    };
    let address = window.address(order.place, order.count, ty)?;
    let bytes = ty.bytes(order.count) as usize;
    let mut old = Vec::new();
    if order.code != Code::Put {
        // SAFETY: the values lie within the window, as has been checked.
        unsafe { ty.pack(address as P, order.count, &mut old) }?;
    }
    let new = match order.code {
        Code::Get => None,
        Code::Put => Some(data.to_vec()),
        Code::Compare => data.split_at_checked(bytes).filter(|(wanted, _)| *wanted == old).map(|(_, new)| new.to_vec()),
        _ => combined(order, ty, data, &old)?,
    };
    if let Some(new) = new {
        if new.len() != bytes {
            return error(ERR_RMA_RANGE, format!("{bytes} bytes with {}", new.len()));
        }
        // SAFETY: as above.
        unsafe { ty.unpack(&new, address as M, order.count) };
    }
    Ok(if matches!(order.code, Code::Put | Code::Accumulate) { None } else { Some(old) })
}

/// The values of a window after a combination with data; `None` if they stay.
fn combined(order: &Order, ty: &Rc<Type>, data: &[u8], old: &[u8]) -> Outcome<Option<Vec<u8>>> {
    match order.op {
        OP_NO_OP => Ok(None),
        OP_REPLACE => Ok(Some(data.to_vec())),
        op if data.len() == old.len() => {
            let mut new = old.to_vec();
            let terms = Terms { op, function: None, handle: 0, ty: Rc::clone(ty), count: order.count };
            operation::predefined(&terms, data, &mut new);
            Ok(Some(new))
        }
        _ => error(ERR_RMA_RANGE, format!("{} bytes with {}", old.len(), data.len())),
    }
}

/// Adds the request of an access: it ends with the answer, if one is expected, and has ended otherwise.
pub(crate) fn request(world: &mut World, is_expected: bool, comm: c_int) -> c_int {
    let state = if is_expected { State::Pending } else { State::Done };
    world.requests.add(super::requests::Request::new(What::Nothing, state).on(comm))
}
