//! How calls enter the library: each gets the state of this rank, and no two at the same time.
//!
//! A call has the turn (`threads`), and with it the state, from its beginning to its end. Calls of other threads wait for their
//! turn, which they get at the latest when this call waits (`World::give_way`). A function of the program that a call
//! calls (`World::lend`) is outside as the rest of the program is: its calls take a turn of their own, and other threads get theirs while it waits for
//! them. A call from a signal handler that has interrupted another call of the same thread ends the program with a
//! message.
//!
//! Decisions: docs/decisions/0165-state-of-a-rank.md, 0271-threads-of-ranks.md.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::abi::*;
use crate::computing;
use crate::error::{Error, Outcome};
use crate::file::Fh;
use crate::host;
use crate::inside::{Place, inside, is_main, place};
use crate::lending;
use crate::settings::Settings;
use crate::state::{publish, state};
use crate::threads;
use crate::world::World;

/// Number of calls so far.
static CALLS: AtomicU64 = AtomicU64::new(0);
/// True once virtual time has begun.
static IS_TIME_VIRTUAL: AtomicBool = AtomicBool::new(false);

/// Number of calls so far, of this and other threads.
pub(crate) fn calls() -> u64 {
    CALLS.load(Ordering::Relaxed)
}

/// True once virtual time has begun.
pub(crate) fn is_time_virtual() -> bool {
    IS_TIME_VIRTUAL.load(Ordering::Relaxed)
}

/// From now on clocks of the program read virtual time.
pub(crate) fn begin_virtual_time() {
    IS_TIME_VIRTUAL.store(true, Ordering::Relaxed);
}

/// Gives `work` the state of this rank. `name` is the call of the program.
pub(crate) fn with<T>(name: &'static str, work: impl FnOnce(&mut World) -> T) -> T {
    enter(name, |world, _| work(world))
}

/// Gives `work` the state of this rank unless a call is under way.
pub(crate) fn try_with<T>(work: impl FnOnce(&mut World) -> T) -> Option<T> {
    let turn = threads::try_enter()?;
    let result = state().map(work);
    threads::leave(turn);
    result
}

/// Gives `work` the state, and tells it whether the program itself makes the call, and not a function of the program
/// that the library has called.
fn enter<T>(name: &'static str, work: impl FnOnce(&mut World, bool) -> T) -> T {
    let place = place();
    inside(|| match place {
        Place::Program => {
            CALLS.fetch_add(1, Ordering::Relaxed);
            take_turn(name, |thread| {
                let world = state().unwrap_or_else(|| Box::leak(Box::new(first())));
                world.switch_to(thread);
                world.caller.is_inside = true;
                let result = work(world, true);
                world.caller.is_inside = false;
                finish(world);
                result
            })
        }
        // Other threads may have called since the function has begun.
        Place::Function => take_turn(name, |thread| {
            let nested = lending::borrow(|world| {
                world.switch_to(thread);
                let result = work(world, false);
                finish(world);
                result
            });
            nested.unwrap_or_else(|| interrupted(name))
        }),
        Place::Library => interrupted(name),
    })
}

/// Runs a call while this thread has the turn. The call gets the number of the thread.
fn take_turn<T>(name: &'static str, call: impl FnOnce(u32) -> T) -> T {
    let is_local = threads::are_several() && threads::is_local(name);
    let turn = if is_local { threads::enter_local() } else { threads::enter(name) };
    let result = call(turn.number());
    threads::leave(turn);
    result
}

/// This thread leaves the library, and others get the state.
fn finish(world: &mut World) {
    threads::set_since(world.now());
    publish(world);
}

/// The state at the first call. A variable that cannot be used ends the program.
fn first() -> World {
    match Settings::from_environment() {
        Ok(settings) => World::new(settings),
        Err(unusable) => {
            host::say(&unusable.to_string());
            unusable.report();
            std::process::exit(1)
        }
    }
}

/// Ends the process because a call has begun in the middle of another one of the same thread. The state cannot be
/// reported: the other call is changing it.
fn interrupted(name: &str) -> ! {
    host::fail(&format!(
        "{name} is called while another call of this thread is in progress: a signal handler must not call MPI"
    ))
}

/// Executes a call of the program, and handles its error, which is one of the communicator `comm` unless it says
/// otherwise.
pub(crate) fn call(name: &'static str, comm: c_int, body: impl FnOnce(&mut World) -> Outcome) -> c_int {
    let mut body = Some(body);
    execute(name, comm, &mut |world| body.take().map_or(Ok(()), |body| body(world)))
}

/// The part of [`call`] that is compiled once for all calls. It executes `body` once.
fn execute(name: &'static str, comm: c_int, body: &mut dyn FnMut(&mut World) -> Outcome) -> c_int {
    enter(name, |world, outermost| {
        if outermost {
            world.begin_call(name);
        }
        check_phase(world, name);
        check_thread(world, name);
        let code = match guarded(|| body(world)) {
            Ok(Ok(())) => SUCCESS,
            Ok(Err(failure)) => handle(world, name, &failure, comm),
            Err(fault) => world.end(&format!("{name}: a fault of fsin-mpi, not of the program: {fault}"), 1),
        };
        if outermost {
            world.end_call();
        }
        code
    })
}

/// Ends the program if a call is made before initialization or after finalization, unless the standard permits that.
fn check_phase(world: &mut World, name: &str) {
    /// MPI-4.0, 11.4.1; and what cannot fail by it.
    const ANYWHERE: [&str; 19] = [
        "MPI_Init",
        "MPI_Init_thread",
        "MPI_Initialized",
        "MPI_Finalized",
        "MPI_Get_version",
        "MPI_Get_library_version",
        "MPI_Get_processor_name",
        "MPI_Abort",
        "MPI_Error_string",
        "MPI_Error_class",
        "MPI_Add_error_class",
        "MPI_Add_error_code",
        "MPI_Add_error_string",
        "MPI_Status_set_cancelled",
        "MPI_Pcontrol",
        "MPI_Session_init",
        "MPI_Session_create_errhandler",
        "MPI_Session_call_errhandler",
        "MPI_Errhandler_free",
    ];
    /// Beginnings of the names of all calls about objects of information, and of the interface for tools.
    const KINDS: [&str; 2] = ["MPI_Info_", "MPI_T_"];
    if world.initialized && !world.finalized
        || ANYWHERE.contains(&name)
        || KINDS.iter().any(|kind| name.starts_with(kind))
    {
        return;
    }
    let when = if world.finalized { "after MPI_Finalize" } else { "before MPI_Init" };
    world.end(&format!("{name} is called {when}"), 1)
}

/// Runs `work`, which does not panic unless the library has a fault: the fault is then described. A panic must not reach
/// the program, whose code cannot be unwound.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
            .unwrap_or_else(|| "a panic".to_owned())
    })
}

/// Ends the program if a call communicates or changes objects on a thread that may not.
fn check_thread(world: &mut World, name: &str) {
    /// Calls that any thread may make.
    const ANY: [&str; 7] = [
        "MPI_Initialized",
        "MPI_Finalized",
        "MPI_Query_thread",
        "MPI_Is_thread_main",
        "MPI_Get_version",
        "MPI_Get_library_version",
        "MPI_Abort",
    ];
    if world.initialized
        && !ANY.contains(&name)
        && let Some(text) = computing::refused(name, threads::level(), is_main())
    {
        world.end(&text, 1);
    }
}

/// Calls the error handler of the communicator, window or file of an error, or of that of the call: ends the program, returns the code,
/// or calls a function of the program.
pub(crate) fn handle(world: &mut World, name: &str, failure: &Error, comm: c_int) -> c_int {
    let comm = failure.comm.unwrap_or(comm);
    let comm = if world.errhandler(comm).is_some() { comm } else { COMM_WORLD };
    // A file has a handle of 8 bytes, of which these are the first.
    let mut handle = if comm == Fh::NULL.handle() { 0 } else { i64::from(comm.cast_unsigned()) };
    let handler = world.errhandler(comm).unwrap_or(ERRORS_ARE_FATAL);
    match handler {
        ERRORS_RETURN => failure.class,
        ERRORS_ARE_FATAL | ERRORS_ABORT => world.end(&format!("{name}: {}", failure.text), failure.class.max(1)),
        other => {
            if let Some(function) = world.errhandlers.get(other).map(|handler| handler.function) {
                let mut class = failure.class;
                // SAFETY: the program has given this function as an error handler.
                world.lend(|| unsafe { function((&raw mut handle).cast(), &raw mut class) });
            }
            failure.class
        }
    }
}

/// Ends the program because the library lacks a call, unless errors of `MPI_COMM_WORLD` are returned.
pub(crate) fn unsupported(name: &'static str) -> c_int {
    with(name, |world| {
        // A program that asks for error codes tries another way, or says itself what it cannot do.
        if world.errhandler(COMM_WORLD) == Some(ERRORS_RETURN) {
            return ERR_UNSUPPORTED_OPERATION;
        }
        world.end(&format!("{name} is not supported on a simulated network (docs/book, `fsin mpirun`)"), 1)
    })
}
