//! Initialization, clocks, errors, operations and memory.

use std::ffi::{c_char, c_double, c_int};

use crate::abi::*;
use crate::ahead;
use crate::arguments;
use crate::caching::Holder;
use crate::calls::attributes;
use crate::calls::collectives::barrier;
use crate::calls::information::{put_text, text};
use crate::clock;
use crate::communicator::{Errhandler, Handler};
use crate::engine::collectives::Form;
use crate::engine::completion::wait_own;
use crate::entry;
use crate::error::{Error, Outcome, error};
use crate::inside;
use crate::lifeline;
use crate::operation::{self, Op};
use crate::threads;
use crate::world::World;

/// `MPI_Init`: connects to the network. Returns the level of thread support, of which `wanted` is wished.
pub(super) fn initialize(world: &mut World, wanted: c_int) -> Outcome<c_int> {
    if world.initialized && !world.finalized && std::mem::take(&mut world.is_by_session) {
        return Ok(threads::level());
    }
    if world.initialized {
        return error(ERR_OTHER, "MPI is initialized already");
    }
    if let Some(lifeline) = world.connect() {
        lifeline::watch(lifeline);
    }
    entry::begin_virtual_time();
    if !world.settings.realtime {
        ahead::begin(world.settings.compute);
    }
    world.initialized = true;
    inside::set_main();
    let level = world.level_of_threads(wanted);
    threads::set_level(level);
    world.settings.thread_limit.into_iter().for_each(threads::set_patience);
    Ok(level)
}

/// `MPI_Finalize`: waits for all ranks, and leaves the network.
pub(super) fn finalize(world: &mut World) -> Outcome {
    // When all ranks have entered the barrier, all messages to this rank have arrived.
    let all_here = barrier(world, COMM_WORLD)?(world, Form::Blocking)?;
    wait_own(world, all_here)?;
    let deleted = attributes::delete_all(world, Holder::Communicator, COMM_SELF);
    world.finalized = true;
    if let Err(failure) = world.report() {
        world.end(&failure.to_string(), 1);
    }
    if let Some(guest) = world.take_guest()
        && let Err(failure) = guest.finish("MPI_Finalize")
    {
        world.lost(&failure);
    }
    deleted
}

/// Adds an error handler of the program.
pub(super) fn new_handler(world: &mut World, function: F) -> Outcome<c_int> {
    arguments::function(function)?;
    // SAFETY: the program gives a function of this type.
    let function = unsafe { std::mem::transmute::<F, Handler>(function) };
    Ok(world.errhandlers.add(Errhandler { function }))
}

/// The first error class or code that the program can add.
const FIRST_ADDED: c_int = ERR_LASTCODE + 1;

/// The class and description of an error class or code that the program has added; `None` for a predefined class.
fn added(world: &World, code: c_int) -> Option<&(c_int, String)> {
    world.errors.get(usize::try_from(code.wrapping_sub(FIRST_ADDED)).ok()?)
}

/// Description of a predefined error class.
fn describe(class: c_int) -> &'static str {
    match class {
        SUCCESS => "No MPI error",
        ERR_BUFFER => "Invalid buffer pointer",
        ERR_COUNT => "Invalid count",
        ERR_TYPE => "Invalid datatype",
        ERR_TAG => "Invalid tag",
        ERR_COMM => "Invalid communicator",
        ERR_RANK => "Invalid rank",
        ERR_ROOT => "Invalid root",
        ERR_GROUP => "Invalid group",
        ERR_OP => "Invalid operation",
        ERR_TOPOLOGY => "Invalid topology",
        ERR_DIMS => "Invalid dimensions",
        ERR_ARG => "Invalid argument",
        ERR_TRUNCATE => "Message truncated",
        ERR_IN_STATUS => "See the error fields of the statuses",
        ERR_REQUEST => "Invalid request",
        ERR_INFO => "Invalid info object",
        ERR_KEYVAL => "Invalid key of attributes",
        ERR_ACCESS => "Permission denied",
        ERR_AMODE => "Invalid access mode of a file",
        ERR_BAD_FILE => "Invalid name of a file",
        ERR_DUP_DATAREP => "Data representation is defined already",
        ERR_FILE_EXISTS => "File exists",
        ERR_FILE => "Invalid file",
        ERR_INFO_KEY => "Invalid key of an info object",
        ERR_INFO_VALUE => "Invalid value of an info object",
        ERR_INFO_NOKEY => "No such key in the info object",
        ERR_IO => "Input or output has failed",
        ERR_NO_MEM => "No memory",
        ERR_NOT_SAME => "Arguments differ among ranks",
        ERR_NO_SPACE => "No space on the device",
        ERR_NO_SUCH_FILE => "No such file",
        ERR_QUOTA => "Quota exceeded",
        ERR_READ_ONLY => "The file or file system is read-only",
        ERR_UNSUPPORTED_DATAREP => "Unsupported data representation",
        ERR_UNSUPPORTED_OPERATION => "Not supported on a simulated network",
        ERR_WIN => "Invalid window",
        ERR_LOCKTYPE => "Invalid kind of lock",
        ERR_RMA_SYNC => "Invalid synchronization of a window",
        ERR_SIZE => "Invalid size",
        ERR_DISP => "Invalid displacement",
        ERR_RMA_RANGE => "Access outside of the window",
        ERR_RMA_ATTACH => "Memory cannot be attached to the window",
        ERR_RMA_SHARED => "Memory cannot be shared",
        ERR_RMA_FLAVOR => "Window of another kind",
        ERR_SESSION => "Invalid session",
        _ => "Other MPI error",
    }
}

/// Sets the error handler of a communicator.
fn set_handler(world: &mut World, comm: c_int, handler: c_int) -> Outcome {
    check_any_handler(world, handler)?;
    world.comms.get_mut(comm)?.errhandler = handler;
    Ok(())
}

/// An error if a handle is not that of an error handler, predefined or of the program.
pub(super) fn check_any_handler(world: &World, handler: c_int) -> Outcome {
    let is_known = matches!(handler, ERRORS_ARE_FATAL | ERRORS_RETURN | ERRORS_ABORT);
    if is_known || world.errhandlers.get(handler).is_some() {
        return Ok(());
    }
    error(ERR_ARG, format!("{handler:#x} is not an error handler"))
}

/// Calls the error handler of a communicator, window, file or session with a code of the program.
pub(super) fn call_handler(world: &mut World, name: &str, handle: c_int, code: c_int) -> Outcome {
    let text = added(world, code).map_or_else(|| describe(code).to_owned(), |added| added.1.clone());
    entry::handle(world, name, &Error { class: code, text, comm: Some(handle) }, handle);
    Ok(())
}

/// Memory of `size` bytes, which [`release`] frees.
pub(super) fn allocate(size: i64) -> Outcome<M> {
    // SAFETY: a function of the C library.
    let allocated = unsafe { malloc(size.max(1) as usize) };
    if allocated.is_null() {
        return error(ERR_NO_MEM, format!("there is no memory of {size} bytes"));
    }
    Ok(allocated)
}

/// Frees memory that [`allocate`] has returned.
pub(super) fn release(memory: usize) {
    // SAFETY: allocated with `malloc`.
    unsafe { free(memory as M) };
}

/// Makes an operation for reductions from a function of the program.
fn new_op(world: &mut World, function: F, is_large: bool, commutes: bool) -> Outcome<c_int> {
    if function.is_null() {
        return error(ERR_OP, "the function of an operation is null");
    }
    Ok(world.ops.add(Op { function, is_large, commutes }))
}

mpi! {
    |world|
    fn MPI_Init(_count: Ip, _words: *mut *mut *mut c_char) { initialize(world, threads::FUNNELED).map(drop) }
    fn MPI_Init_thread(_count: Ip, _words: *mut *mut *mut c_char, wanted: I, provided: Ip) {
        let level = initialize(world, wanted)?;
        // The least level is MPI_THREAD_SINGLE, 0.
        put(provided, level.min(wanted.max(0)));
        Ok(())
    }
    fn MPI_Query_thread(provided: Ip) { put(provided, threads::level()); Ok(()) }
    fn MPI_Is_thread_main(flag: Ip) { put(flag, c_int::from(inside::is_main())); Ok(()) }
    fn MPI_Initialized(flag: Ip) { put(flag, c_int::from(world.initialized && !world.is_by_session)); Ok(()) }
    fn MPI_Finalized(flag: Ip) { put(flag, c_int::from(world.finalized && !world.is_by_session)); Ok(()) }
    fn MPI_Finalize() { finalize(world) }
    fn MPI_Abort(_comm: I, code: I) {
        world.end(&format!("MPI_Abort with code {code}"), if code == 0 { 1 } else { code })
    }
    fn MPI_Get_version(version: Ip, part: Ip) {
        put(version, 4);
        put(part, 0);
        Ok(())
    }
    fn MPI_Get_library_version(text: *mut c_char, length: Ip) {
        let version = concat!("fsin ", env!("CARGO_PKG_VERSION"), ": MPI on a simulated network, with MPICH's ABI");
        put(length, put_text(text, version, 8191));
        Ok(())
    }
    fn MPI_Get_processor_name(name: *mut c_char, length: Ip) {
        put(length, put_text(name, &format!("node{}", world.settings.rank), 127));
        Ok(())
    }
    fn MPI_Pcontrol(_level: I) { Ok(()) }
    fn MPIX_GPU_query_support(_kind: I, supported: Ip) { put(supported, 0); Ok(()) }
    fn MPI_Error_class(code: I, class: Ip) { put(class, added(world, code).map_or(code, |added| added.0)); Ok(()) }
    fn MPI_Error_string(code: I, text: *mut c_char, length: Ip) {
        let words = added(world, code).map_or_else(|| describe(code).to_owned(), |added| added.1.clone());
        put(length, put_text(text, &words, 511));
        Ok(())
    }
    fn MPI_Add_error_class(class: Ip) {
        let new = FIRST_ADDED + world.errors.len() as c_int;
        world.errors.push((new, String::new()));
        put(class, new);
        Ok(())
    }
    fn MPI_Add_error_code(class: I, code: Ip) {
        put(code, FIRST_ADDED + world.errors.len() as c_int);
        world.errors.push((class, String::new()));
        Ok(())
    }
    fn MPI_Add_error_string(code: I, words: *const c_char) {
        match usize::try_from(code.wrapping_sub(FIRST_ADDED)).ok().and_then(|index| world.errors.get_mut(index)) {
            Some(added) => added.1 = text(words),
            None => return error(ERR_ARG, format!("{code} is not an error code of the program")),
        }
        Ok(())
    }
    fn MPI_Comm_create_errhandler(function: F, handler: Ip) {
        put(handler, new_handler(world, function)?);
        Ok(())
    }
    fn MPI_Errhandler_create(function: F, handler: Ip) {
        put(handler, new_handler(world, function)?);
        Ok(())
    }
    fn MPI_Comm_set_errhandler(comm: I, handler: I) { set_handler(world, comm, handler) }
    fn MPI_Errhandler_set(comm: I, handler: I) { set_handler(world, comm, handler) }
    fn MPI_Comm_get_errhandler(comm: I, handler: Ip) { put(handler, world.comms.get(comm)?.errhandler); Ok(()) }
    fn MPI_Errhandler_get(comm: I, handler: Ip) { put(handler, world.comms.get(comm)?.errhandler); Ok(()) }
    // The handler stays in use by the communicators that have it.
    fn MPI_Errhandler_free(handler: Ip) {
        check_any_handler(world, *handler)?;
        put(handler, ERRHANDLER_NULL);
        Ok(())
    }
    fn MPI_Comm_call_errhandler(comm: I, code: I) {
        world.comms.get(comm)?;
        if code == SUCCESS {
            return Ok(());
        }
        call_handler(world, "MPI_Comm_call_errhandler", comm, code)
    }
    fn MPI_Op_create(function: F, commutes: I, op: Ip) {
        put(op, new_op(world, function, false, commutes != 0)?);
        Ok(())
    }
    fn MPI_Op_create_c(function: F, commutes: I, op: Ip) {
        put(op, new_op(world, function, true, commutes != 0)?);
        Ok(())
    }
    fn MPI_Op_free(op: Ip) {
        if world.ops.remove(*op).is_none() {
            return error(ERR_OP, format!("{:#x} is not an operation of the program", *op));
        }
        put(op, OP_NULL);
        Ok(())
    }
    fn MPI_Op_commutative(op: I, flag: Ip) { put(flag, c_int::from(operation::commutes(&world.ops, op)?)); Ok(()) }
    fn MPI_Alloc_mem(size: isize, _info: I, memory: *mut M) {
        put(memory, allocate(size as i64)?);
        Ok(())
    }
    fn MPI_Free_mem(memory: M) { free(memory); Ok(()) }
}

unsafe extern "C" {
    fn malloc(size: usize) -> M;
    fn free(memory: M);
}

values! {
    fn MPI_Wtime / PMPI_Wtime() -> c_double { clock::read() as f64 * 1e-12 }
    fn MPIX_Query_cuda_support / PMPIX_Query_cuda_support() -> c_int { 0 }
    fn MPIX_Query_hip_support / PMPIX_Query_hip_support() -> c_int { 0 }
    fn MPIX_Query_ze_support / PMPIX_Query_ze_support() -> c_int { 0 }
    fn MPI_Wtick / PMPI_Wtick() -> c_double { 1e-9 }
    fn MPI_Aint_add / PMPI_Aint_add(base: isize, more: isize) -> isize { base.wrapping_add(more) }
    fn MPI_Aint_diff / PMPI_Aint_diff(a: isize, b: isize) -> isize { a.wrapping_sub(b) }
}
