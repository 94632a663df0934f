//! Initialization, clocks, errors, operations and memory.

use std::ffi::{c_char, c_double, c_int};

use crate::abi::*;
use crate::calls::collectives::barrier;
use crate::calls::information::{put_text, text};
use crate::calls::requests::wait_own;
use crate::clock;
use crate::communicator::{self, Errhandler, Handler};
use crate::operation::{self, Op};
use crate::world::{Outcome, end, error, w};

/// `MPI_Init`: connects to the network.
fn initialize() -> Outcome {
    if w().initialized {
        return error(ERR_OTHER, "MPI is initialized already");
    }
    w().connect();
    w().initialized = true;
    Ok(())
}

/// `MPI_Finalize`: waits for all ranks, and leaves the network.
fn finalize() -> Outcome {
    // When all ranks have entered the barrier, all messages to this rank have arrived.
    wait_own(barrier(COMM_WORLD)?)?;
    let keys: Vec<(c_int, isize)> = w().comm_self.attributes.iter().map(|(&key, &value)| (key, value)).collect();
    for (key, value) in keys.into_iter().rev() {
        crate::calls::attributes::call_delete(COMM_SELF, key, value)?;
    }
    w().finalized = true;
    if let Err(failure) = crate::report::write() {
        end(&failure.to_string(), 1);
    }
    if let Some(guest) = w().take_guest()
        && let Err(failure) = guest.finish("MPI_Finalize")
    {
        crate::world::lost(&failure);
    }
    Ok(())
}

/// The first error class or code that the program can add.
const FIRST_ADDED: c_int = ERR_LASTCODE + 1;

/// The class and description of an error class or code that the program has added; `None` for a predefined class.
fn added(code: c_int) -> Option<&'static mut (c_int, String)> {
    w().errors.get_mut(usize::try_from(code - FIRST_ADDED).ok()?)
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
        _ => "Other MPI error",
    }
}

/// Sets the error handler of a communicator.
fn set_handler(comm: c_int, handler: c_int) -> Outcome {
    let is_known = matches!(handler, ERRORS_ARE_FATAL | ERRORS_RETURN | ERRORS_ABORT);
    if !is_known && w().errhandlers.get(handler).is_none() {
        return error(ERR_ARG, format!("{handler:#x} is not an error handler"));
    }
    communicator::get(comm)?.errhandler = handler;
    Ok(())
}

/// Makes an operation for reductions from a function of the program.
fn new_op(function: usize, is_large: bool, commutes: bool) -> Outcome<c_int> {
    if function == 0 {
        return error(ERR_OP, "the function of an operation is null");
    }
    Ok(w().ops.add(Op { function, is_large, commutes }))
}

mpi! {
    fn MPI_Init(_count: Ip, _words: *mut *mut *mut c_char) { initialize() }
    // 1 is MPI_THREAD_FUNNELED.
    fn MPI_Init_thread(_count: Ip, _words: *mut *mut *mut c_char, wanted: I, provided: Ip) {
        initialize()?;
        put(provided, wanted.min(1));
        Ok(())
    }
    fn MPI_Query_thread(provided: Ip) { put(provided, 1); Ok(()) }
    fn MPI_Is_thread_main(flag: Ip) { put(flag, 1); Ok(()) }
    fn MPI_Initialized(flag: Ip) { put(flag, c_int::from(w().initialized)); Ok(()) }
    fn MPI_Finalized(flag: Ip) { put(flag, c_int::from(w().finalized)); Ok(()) }
    fn MPI_Finalize() { finalize() }
    fn MPI_Abort(_comm: I, code: I) {
        end(&format!("MPI_Abort with code {code}"), if code == 0 { 1 } else { code })
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
        put(length, put_text(name, &format!("node{}", w().rank), 127));
        Ok(())
    }
    fn MPI_Pcontrol(_level: I) { Ok(()) }
    fn MPIX_GPU_query_support(_kind: I, supported: Ip) { put(supported, 0); Ok(()) }
    fn MPI_Error_class(code: I, class: Ip) { put(class, added(code).map_or(code, |added| added.0)); Ok(()) }
    fn MPI_Error_string(code: I, text: *mut c_char, length: Ip) {
        let words = added(code).map_or_else(|| describe(code).to_owned(), |added| added.1.clone());
        put(length, put_text(text, &words, 511));
        Ok(())
    }
    fn MPI_Add_error_class(class: Ip) {
        let new = FIRST_ADDED + w().errors.len() as c_int;
        w().errors.push((new, String::new()));
        put(class, new);
        Ok(())
    }
    fn MPI_Add_error_code(class: I, code: Ip) {
        put(code, FIRST_ADDED + w().errors.len() as c_int);
        w().errors.push((class, String::new()));
        Ok(())
    }
    fn MPI_Add_error_string(code: I, words: *const c_char) {
        match added(code) {
            Some(added) => added.1 = text(words),
            None => return error(ERR_ARG, format!("{code} is not an error code of the program")),
        }
        Ok(())
    }
    fn MPI_Comm_create_errhandler(function: Handler, handler: Ip) {
        put(handler, w().errhandlers.add(Errhandler { function }));
        Ok(())
    }
    fn MPI_Errhandler_create(function: Handler, handler: Ip) {
        put(handler, w().errhandlers.add(Errhandler { function }));
        Ok(())
    }
    fn MPI_Comm_set_errhandler(comm: I, handler: I) { set_handler(comm, handler) }
    fn MPI_Errhandler_set(comm: I, handler: I) { set_handler(comm, handler) }
    fn MPI_Comm_get_errhandler(comm: I, handler: Ip) { put(handler, communicator::get(comm)?.errhandler); Ok(()) }
    fn MPI_Errhandler_get(comm: I, handler: Ip) { put(handler, communicator::get(comm)?.errhandler); Ok(()) }
    // The handler stays in use by the communicators that have it.
    fn MPI_Errhandler_free(handler: Ip) { put(handler, ERRHANDLER_NULL); Ok(()) }
    fn MPI_Comm_call_errhandler(comm: I, code: I) {
        communicator::get(comm)?;
        if code == SUCCESS {
            return Ok(());
        }
        let text = added(code).map_or_else(|| describe(code).to_owned(), |added| added.1.clone());
        Err(crate::world::Error { class: code, text, comm })
    }
    fn MPI_Op_create(function: usize, commutes: I, op: Ip) { put(op, new_op(function, false, commutes != 0)?); Ok(()) }
    fn MPI_Op_create_c(function: usize, commutes: I, op: Ip) { put(op, new_op(function, true, commutes != 0)?); Ok(()) }
    fn MPI_Op_free(op: Ip) {
        w().ops.remove(*op);
        put(op, OP_NULL);
        Ok(())
    }
    fn MPI_Op_commutative(op: I, flag: Ip) { put(flag, c_int::from(operation::commutes(op)?)); Ok(()) }
    fn MPI_Alloc_mem(size: isize, _info: I, memory: *mut M) {
        let allocated = malloc(size.max(1) as usize);
        if allocated.is_null() {
            return error(ERR_NO_MEM, format!("there is no memory of {size} bytes"));
        }
        put(memory, allocated);
        Ok(())
    }
    fn MPI_Free_mem(memory: M) { free(memory); Ok(()) }
}

unsafe extern "C" {
    fn malloc(size: usize) -> M;
    fn free(memory: M);
}

/// Defines calls that return a value, under both names.
macro_rules! values {
    ($( fn $name:ident / $profiling:ident($($a:ident : $t:ty),*) -> $r:ty $body:block )*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($a: $t),*) -> $r $body
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $profiling($($a: $t),*) -> $r $body
    )* };
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
