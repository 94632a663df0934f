//! One-sided communication: windows and epochs.

use std::collections::BTreeSet;
use std::ffi::{c_char, c_int};

use crate::abi::*;
use crate::caching::{Attribute, Holder, POINTER};
use crate::calls::accesses::{self, target_of};
use crate::calls::blocks::Kept;
use crate::calls::collectives::{barrier, reduce};
use crate::calls::communicators::exchange;
use crate::calls::environment::{allocate, release};
use crate::calls::information::{self, put_text, text};
use crate::calls::{attributes, environment};
use crate::data::Share;
use crate::engine::collectives::Form;
use crate::engine::completion::wait_own;
use crate::engine::waiting;
use crate::engine::windows::{flush, idle, lock, send, wait};
use crate::error::{Outcome, error};
use crate::window::{Code, Flavor, Order, Window};
use crate::world::{POLL, World};

/// `MPI_LOCK_EXCLUSIVE` and `MPI_LOCK_SHARED` of `mpi.h`.
const EXCLUSIVE: c_int = 234;
const SHARED: c_int = 235;
/// Assertions of `mpi.h` that the library uses: no lock conflicts, and no accesses follow a fence.
const NOCHECK: c_int = 1024;
const NOSUCCEED: c_int = 16384;
/// `MPI_INT`.
const INT: c_int = 0x4c00_0405;

/// Makes a window of this rank's memory of `size` bytes at `base`. All ranks of the communicator do.
fn create(
    world: &mut World,
    flavor: Flavor,
    (base, size, unit): (usize, i64, i64),
    info: c_int,
    comm: c_int,
) -> Outcome<c_int> {
    world.comms.intra(comm, "a window")?;
    if size < 0 {
        return error(ERR_SIZE, format!("a window of {size} bytes"));
    }
    if unit < 1 {
        return error(ERR_DISP, format!("displacements in units of {unit} bytes"));
    }
    let info = information::table(world, info)?;
    let own = world.comms.get_mut(comm)?.duplicate();
    let (context, ranks) = (own.context, own.size());
    let own = world.comms.add(own);
    let mut window = Window::new(own, context, flavor, (base, size), ranks);
    (window.info, window.unit) = (info, unit);
    let handle = world.windows.add(window);
    let halves = |number: i64| [number as c_int, (number >> 32) as c_int];
    let ([a, b], [c, d]) = (halves(size), halves(unit));
    let whole = |low: c_int, high: c_int| i64::from(low as u32) | i64::from(high) << 32;
    let shapes =
        exchange(world, own, [a, b, c, d])?.into_iter().map(|[a, b, c, d]| (whole(a, b), whole(c, d))).collect();
    world.windows.get_mut(handle)?.shapes = shapes;
    Ok(handle)
}

/// Makes a window of memory that the library allocates, and writes its address.
fn create_own(
    world: &mut World,
    flavor: Flavor,
    (size, unit): (i64, i64),
    info: c_int,
    comm: c_int,
    base: *mut usize,
) -> Outcome<c_int> {
    if flavor == Flavor::Shared && world.comms.intra(comm, "a window")?.size() > 1 {
        return error(ERR_RMA_SHARED, "ranks of a simulated network share no memory");
    }
    if size < 0 {
        return error(ERR_SIZE, format!("a window of {size} bytes"));
    }
    let memory = allocate(size)? as usize;
    let made = create(world, flavor, (memory, size, unit), info, comm)?;
    world.windows.get_mut(made)?.is_own = true;
    // SAFETY: the pointer of the program.
    unsafe { put(base, memory) };
    Ok(made)
}

/// Makes the window of a shared file pointer: a number on the first rank, 0 at the beginning. All ranks of the communicator
/// do.
pub(super) fn create_pointer(world: &mut World, comm: c_int) -> Outcome<c_int> {
    let mut base = 0;
    let made = create_own(world, Flavor::Allocate, (8, 8), INFO_NULL, comm, &raw mut base)?;
    world.windows.get_mut(made)?.all_locked = true;
    set_pointer(world, made, 0)?;
    Ok(made)
}

/// Frees the window of a shared file pointer. All ranks do.
pub(super) fn free_pointer(world: &mut World, window: c_int) -> Outcome {
    let found = world.windows.get_mut(window)?;
    found.all_locked = false;
    found.locked.clear();
    free(world, window)
}

/// Sets a shared file pointer, on the first rank.
pub(super) fn set_pointer(world: &mut World, window: c_int, value: i64) -> Outcome {
    let found = world.windows.get(window)?;
    // SAFETY: memory that `create_pointer` has allocated.
    unsafe { (found.base as *mut i64).write(value) };
    Ok(())
}

/// Adds to a shared file pointer, and returns its value before.
pub(super) fn move_pointer(world: &mut World, window: c_int, by: i64) -> Outcome<i64> {
    let mut before = 0_i64;
    accesses::fetch_and_add(world, window, &by, &mut before)?;
    flush(world, window, &[0], true, Code::Flush)?;
    // SAFETY: the answer has been written to it.
    Ok(unsafe { (&raw const before).read_volatile() })
}

/// Waits until all ranks of a window are here.
fn meet(world: &mut World, window: c_int) -> Outcome {
    let comm = world.windows.get(window)?.comm;
    let request = barrier(world, comm)?(world, Form::Blocking)?;
    wait_own(world, request)
}

/// Frees a window. All ranks do.
fn free(world: &mut World, window: c_int) -> Outcome {
    if world.windows.get(window)?.is_open() {
        return error(ERR_RMA_SYNC, "an epoch of the window is open");
    }
    attributes::delete_all(world, Holder::Window, window)?;
    meet(world, window)?;
    if let Some(gone) = world.windows.remove(window) {
        world.comms.remove(gone.comm)?;
        if gone.is_own {
            release(gone.base);
        }
    }
    Ok(())
}

/// A fence: ends the accesses since the last one, at their origins and targets.
///
/// Each rank learns how many accesses to its window there were, waits until they have arrived, and for the others.
fn fence(world: &mut World, window: c_int, assertion: c_int) -> Outcome {
    let found = world.windows.get(window)?;
    if found.is_open() {
        return error(ERR_RMA_SYNC, "a fence within another epoch");
    }
    wait(world, window, "answers to accesses", |window| window.answers(None) == 0)?;
    let found = world.windows.get_mut(window)?;
    let (comm, sent) = (found.comm, std::mem::replace(&mut found.sent, vec![0; found.shapes.len()]));
    found.dirty.clear();
    let mut expected: c_int = 0;
    let counts = Kept::Share(Share::Blocks(vec![1; sent.len()]));
    let buffers = (sent.as_ptr() as usize, &raw mut expected as usize, sent.len() as i64, INT);
    let request = reduce(world, buffers, SUM, counts, comm)?(world, Form::Blocking)?;
    wait_own(world, request)?;
    wait(world, window, "accesses of other ranks", |window| window.arrived >= expected)?;
    world.windows.get_mut(window)?.arrived -= expected;
    meet(world, window)?;
    world.windows.get_mut(window)?.is_fenced = assertion & NOSUCCEED == 0;
    Ok(())
}

/// `MPI_SUM`.
const SUM: c_int = 0x5800_0003;

/// The members of a group as ranks of a window.
fn members(world: &World, window: c_int, group: c_int) -> Outcome<BTreeSet<usize>> {
    let comm = world.comms.get(world.windows.get(window)?.comm)?;
    let all = world.groups.get(group)?;
    let rank = |&member: &usize| match comm.rank_of(member) {
        Some(rank) => Ok(rank),
        None => error(ERR_GROUP, format!("rank {member} of MPI_COMM_WORLD has no part in the window")),
    };
    all.iter().map(rank).collect()
}

/// Begins accesses to the members of a group, once they are exposed.
fn begin(world: &mut World, window: c_int, group: c_int, assertion: c_int) -> Outcome {
    let targets = members(world, window, group)?;
    let found = world.windows.get(window)?;
    if found.started.is_some() || found.all_locked || !found.locked.is_empty() {
        return error(ERR_RMA_SYNC, "an epoch of accesses is open");
    }
    if assertion & NOCHECK == 0 {
        wait(world, window, "the exposure of other ranks", |window| targets.is_subset(&window.exposed))?;
        world.windows.get_mut(window)?.exposed.retain(|rank| !targets.contains(rank));
    }
    let found = world.windows.get_mut(window)?;
    (found.started, found.is_fenced) = (Some(targets), false);
    Ok(())
}

/// Ends the accesses that `MPI_Win_start` has begun.
fn complete(world: &mut World, window: c_int) -> Outcome {
    let Some(targets) = world.windows.get_mut(window)?.started.take() else {
        return error(ERR_RMA_SYNC, "no accesses have been started");
    };
    wait(world, window, "answers to accesses", |window| targets.iter().all(|&rank| window.answers(Some(rank)) == 0))?;
    for &target in &targets {
        send(world, window, target, &Order::of(Code::Complete), &[], 0)?;
        world.windows.get_mut(window)?.dirty.remove(&target);
    }
    Ok(())
}

/// Exposes the window to the members of a group.
fn post(world: &mut World, window: c_int, group: c_int, assertion: c_int) -> Outcome {
    let origins = members(world, window, group)?;
    let found = world.windows.get_mut(window)?;
    if found.posted.is_some() {
        return error(ERR_RMA_SYNC, "the window is exposed already");
    }
    (found.posted, found.is_fenced) = (Some(origins.clone()), false);
    if assertion & NOCHECK == 0 {
        for origin in origins {
            send(world, window, origin, &Order::of(Code::Post), &[], 0)?;
        }
    }
    Ok(())
}

/// True if all ranks to which the window is exposed have completed their accesses.
fn is_over(window: &Window) -> bool {
    window.posted.as_ref().is_none_or(|posted| posted.is_subset(&window.completed))
}

/// Ends the exposure of the window.
fn withdraw(world: &mut World, window: c_int) -> Outcome {
    let found = world.windows.get_mut(window)?;
    let Some(posted) = found.posted.take() else { return error(ERR_RMA_SYNC, "the window is not exposed") };
    found.completed.retain(|rank| !posted.contains(rank));
    Ok(())
}

/// Ends the locks of these targets, after all accesses to them are complete.
fn unlock(world: &mut World, window: c_int, targets: &[usize]) -> Outcome {
    flush(world, window, targets, false, Code::Unlock)?;
    for target in targets {
        world.windows.get_mut(window)?.locked.remove(target);
    }
    Ok(())
}

/// Waits for accesses: those to one rank, or to all with accesses.
fn flush_epoch(world: &mut World, window: c_int, rank: Option<c_int>, locally: bool) -> Outcome {
    let found = world.windows.get(window)?;
    if !found.all_locked && found.locked.is_empty() {
        return error(ERR_RMA_SYNC, "a flush without a lock");
    }
    let targets: Vec<usize> = match rank {
        Some(rank) => vec![target_of(world, window, rank)?],
        None => found.dirty.iter().copied().collect(),
    };
    flush(world, window, &targets, locally, Code::Flush)
}

mpi! {
    |world|
    fn MPI_Win_create_dynamic(info: I, comm: I, window: Ip) {
        put(window, create(world, Flavor::Dynamic, (0, 0, 1), info, comm)?);
        Ok(())
    }
    fn MPI_Win_attach(win: I, at: P, size: isize) {
        let found = world.windows.get_mut(win)?;
        if found.flavor != Flavor::Dynamic {
            return error(ERR_RMA_FLAVOR, "memory is attached to dynamic windows only");
        }
        if size < 0 || at.is_null() && size > 0 {
            return error(ERR_RMA_ATTACH, format!("{size} bytes at {at:?}"));
        }
        found.regions.insert(at as usize, size as i64);
        Ok(())
    }
    fn MPI_Win_detach(win: I, at: P) {
        match world.windows.get_mut(win)?.regions.remove(&(at as usize)) {
            Some(_) => Ok(()),
            None => error(ERR_RMA_ATTACH, "nothing is attached at this address"),
        }
    }
    fn MPI_Win_free(win: Ip) {
        free(world, *win)?;
        put(win, WIN_NULL);
        Ok(())
    }
    fn MPI_Win_get_group(win: I, group: Ip) {
        let all = world.comms.get(world.windows.get(win)?.comm)?.group.to_vec();
        put(group, world.groups.add(all));
        Ok(())
    }
    fn MPI_Win_fence(assertion: I, win: I) { fence(world, win, assertion) }
    fn MPI_Win_start(group: I, assertion: I, win: I) { begin(world, win, group, assertion) }
    fn MPI_Win_complete(win: I) { complete(world, win) }
    fn MPI_Win_post(group: I, assertion: I, win: I) { post(world, win, group, assertion) }
    fn MPI_Win_wait(win: I) {
        if world.windows.get(win)?.posted.is_none() {
            return error(ERR_RMA_SYNC, "the window is not exposed");
        }
        wait(world, win, "the accesses of other ranks", is_over)?;
        withdraw(world, win)
    }
    fn MPI_Win_test(win: I, flag: Ip) {
        waiting::poll(world);
        let over = is_over(world.windows.get(win)?);
        put(flag, c_int::from(over));
        if over {
            withdraw(world, win)
        } else {
            world.pay(POLL);
            Ok(())
        }
    }
    fn MPI_Win_lock(kind: I, rank: I, assertion: I, win: I) {
        let found = world.windows.get(win)?;
        if ![EXCLUSIVE, SHARED].contains(&kind) {
            return error(ERR_LOCKTYPE, format!("{kind} is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE"));
        }
        if rank == PROC_NULL {
            return Ok(());
        }
        let target = target_of(world, win, rank)?;
        if found.all_locked || found.started.is_some() || found.locked.contains_key(&target) {
            return error(ERR_RMA_SYNC, "an epoch of accesses to this rank is open");
        }
        world.windows.get_mut(win)?.is_fenced = false;
        lock(world, win, target, kind == EXCLUSIVE)
    }
    fn MPI_Win_unlock(rank: I, win: I) {
        let found = world.windows.get(win)?;
        if rank == PROC_NULL {
            return Ok(());
        }
        let target = target_of(world, win, rank)?;
        if found.all_locked || !found.locked.contains_key(&target) {
            return error(ERR_RMA_SYNC, format!("rank {rank} is not locked"));
        }
        unlock(world, win, &[target])
    }
    fn MPI_Win_lock_all(assertion: I, win: I) {
        let found = world.windows.get_mut(win)?;
        if found.all_locked || found.started.is_some() || !found.locked.is_empty() {
            return error(ERR_RMA_SYNC, "an epoch of accesses is open");
        }
        (found.all_locked, found.is_fenced) = (true, false);
        Ok(())
    }
    fn MPI_Win_unlock_all(win: I) {
        let found = world.windows.get(win)?;
        if !found.all_locked {
            return error(ERR_RMA_SYNC, "the ranks are not locked");
        }
        let targets: Vec<usize> = found.locked.keys().copied().collect();
        unlock(world, win, &targets)?;
        world.windows.get_mut(win)?.all_locked = false;
        Ok(())
    }
    fn MPI_Win_flush(rank: I, win: I) { flush_epoch(world, win, Some(rank), false) }
    fn MPI_Win_flush_all(win: I) { flush_epoch(world, win, None, false) }
    fn MPI_Win_flush_local(rank: I, win: I) { flush_epoch(world, win, Some(rank), true) }
    fn MPI_Win_flush_local_all(win: I) { flush_epoch(world, win, None, true) }
    fn MPI_Win_sync(win: I) {
        world.windows.get(win)?;
        // A program may call it in a loop until a value appears in the window: time must pass.
        idle(world);
        Ok(())
    }
    fn MPI_Win_set_name(win: I, name: *const c_char) { world.windows.get_mut(win)?.name = text(name); Ok(()) }
    fn MPI_Win_get_name(win: I, name: *mut c_char, length: Ip) {
        put(length, put_text(name, &world.windows.get(win)?.name, 127));
        Ok(())
    }
    fn MPI_Win_set_info(win: I, info: I) {
        let table = information::table(world, info)?;
        world.windows.get_mut(win)?.info = table;
        Ok(())
    }
    fn MPI_Win_get_info(win: I, info: Ip) {
        let table = world.windows.get(win)?.info.clone();
        put(info, world.infos.add(table));
        Ok(())
    }
    fn MPI_Win_create_errhandler(function: F, handler: Ip) {
        put(handler, environment::new_handler(world, function)?);
        Ok(())
    }
    fn MPI_Win_set_errhandler(win: I, handler: I) {
        environment::check_any_handler(world, handler)?;
        world.windows.get_mut(win)?.errhandler = handler;
        Ok(())
    }
    fn MPI_Win_get_errhandler(win: I, handler: Ip) { put(handler, world.windows.get(win)?.errhandler); Ok(()) }
    fn MPI_Win_call_errhandler(win: I, code: I) {
        world.windows.get(win)?;
        if code == SUCCESS {
            return Ok(());
        }
        environment::call_handler(world, "MPI_Win_call_errhandler", win, code)
    }
    fn MPI_Win_create_keyval(copy: F, delete: F, keyval: Ip, extra: isize) {
        put(keyval, attributes::new_keyval(world, Holder::Window, copy, delete, extra));
        Ok(())
    }
    fn MPI_Win_free_keyval(keyval: Ip) { attributes::free_keyval(world, Holder::Window, keyval) }
    fn MPI_Win_set_attr(win: I, keyval: I, value: isize) {
        attributes::set(world, Holder::Window, win, keyval, (value, POINTER))
    }
    fn MPI_Win_delete_attr(win: I, keyval: I) { attributes::delete(world, Holder::Window, win, keyval) }
    fn MPI_Win_get_attr(win: I, keyval: I, value: *mut isize, flag: Ip) {
        let found = attribute(world, win, keyval)?;
        put(flag, c_int::from(found.is_some()));
        match found {
            Some(Value::Base(base)) => put(value, base),
            Some(Value::Set(found)) => put(value, found.for_c()),
            // The program gets a pointer to a predefined value, which is kept as long as the program runs.
            Some(Value::Number(predefined)) => put(value, Box::leak(Box::new(predefined)) as *const i64 as isize),
            None => {}
        }
        Ok(())
    }
}

/// The value of an attribute of a window.
pub(super) enum Value<'a> {
    /// The address of its memory.
    Base(isize),
    /// A predefined number, to which a call of C gets a pointer.
    Number(i64),
    /// One that the program has set.
    Set(&'a Attribute),
}

/// Reads an attribute of a window.
pub(super) fn attribute(world: &World, win: c_int, keyval: c_int) -> Outcome<Option<Value<'_>>> {
    /// `MPI_WIN_UNIFIED`: the memory of the window is that of the program.
    const UNIFIED: i64 = 2;
    let found = world.windows.get(win)?;
    // Each attribute has a key for C, which is odd, and one for Fortran.
    Ok(Some(match keyval {
        0x6600_0001 | 0x6600_0002 => Value::Base(found.base as isize),
        0x6600_0003 | 0x6600_0004 => Value::Number(found.size),
        0x6600_0005 | 0x6600_0006 => Value::Number(found.unit),
        0x6600_0007 | 0x6600_0008 => Value::Number(found.flavor as i64),
        0x6600_0009 | 0x6600_000a => Value::Number(UNIFIED),
        _ => return Ok(attributes::attribute(world, Holder::Window, win, keyval)?.map(Value::Set)),
    }))
}

large! {
    |world|
    fn MPI_Win_create / MPI_Win_create_c(base: P, size: isize, unit: N, info: I, comm: I, window: Ip) {
        if base.is_null() && size > 0 {
            return error(ERR_ARG, "the memory of the window is null");
        }
        put(window, create(world, Flavor::Create, (base as usize, size as i64, unit.into()), info, comm)?);
        Ok(())
    }
    fn MPI_Win_allocate / MPI_Win_allocate_c(size: isize, unit: N, info: I, comm: I, base: *mut usize, window: Ip) {
        put(window, create_own(world, Flavor::Allocate, (size as i64, unit.into()), info, comm, base)?);
        Ok(())
    }
    fn MPI_Win_allocate_shared / MPI_Win_allocate_shared_c(
        size: isize, unit: N, info: I, comm: I, base: *mut usize, window: Ip,
    ) {
        put(window, create_own(world, Flavor::Shared, (size as i64, unit.into()), info, comm, base)?);
        Ok(())
    }
    fn MPI_Win_shared_query / MPI_Win_shared_query_c(win: I, rank: I, size: *mut isize, unit: *mut N, base: *mut usize) {
        if rank != PROC_NULL {
            target_of(world, win, rank)?;
        }
        let found = world.windows.get(win)?;
        if found.flavor != Flavor::Shared {
            return error(ERR_RMA_FLAVOR, "the window has no shared memory");
        }
        put(size, found.size as isize);
        put(unit, found.unit as N);
        put(base, found.base);
        Ok(())
    }
}
