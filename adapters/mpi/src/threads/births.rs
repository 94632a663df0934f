//! Creation of threads by the program: each gets its number from its creator, so that numbers do not depend on the scheduler.

use std::ffi::c_int;

use super::{PRESENCE, lock, still};
use crate::abi::{F, M, P};
use crate::host::{host_pthread_create, host_thrd_create};
use crate::inside;

/// A thread that is being created.
struct Birth {
    start: F,
    argument: M,
    number: u32,
    /// \[ps\] Virtual time when its creator left the library.
    since: u64,
}

/// Creates a thread of the program by `create`, which gets the argument of the function with which the thread begins.
fn bear(start: F, argument: M, create: impl FnOnce(M) -> c_int) -> c_int {
    let number = {
        let mut turns = lock();
        // The creator gets its number before that of the new thread.
        super::number(&mut turns);
        let number = turns.next;
        turns.next += 1;
        turns.add(number, None);
        number
    };
    let birth = Box::into_raw(Box::new(Birth { start, argument, number, since: super::since() }));
    let code = create(birth.cast());
    if code != 0 {
        // SAFETY: no thread has begun that would take it.
        drop(unsafe { Box::from_raw(birth) });
        lock().remove(number);
    }
    code
}

/// Begins a thread of the program. Returns its function and the argument of it.
unsafe fn begin(birth: M) -> (F, M) {
    // SAFETY: made by `bear` for this thread.
    let Birth { start, argument, number, since } = *unsafe { Box::from_raw(birth.cast::<Birth>()) };
    super::set_since(since);
    lock().add(number, Some(still::number_of_this_thread()));
    PRESENCE.with(|presence| presence.0.set(Some(number)));
    (start, argument)
}

/// The function with which threads of `pthread_create` begin. `pthread_exit` unwinds through it.
unsafe extern "C-unwind" fn begin_pthread(birth: M) -> M {
    // SAFETY: as in `begin`; the function of the program has this type.
    unsafe {
        let (start, argument) = begin(birth);
        std::mem::transmute::<F, unsafe extern "C-unwind" fn(M) -> M>(start)(argument)
    }
}

/// The same for threads of `thrd_create`.
unsafe extern "C-unwind" fn begin_thrd(birth: M) -> c_int {
    // SAFETY: as above.
    unsafe {
        let (start, argument) = begin(birth);
        std::mem::transmute::<F, unsafe extern "C-unwind" fn(M) -> c_int>(start)(argument)
    }
}

/// Replaces the function of the C library. Threads of this library are none of the program.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[cfg_attr(test, allow(dead_code, reason = "tests create threads of the host"))]
unsafe extern "C" fn pthread_create(thread: *mut usize, attributes: P, start: F, argument: M) -> c_int {
    if inside::is_inside() {
        return host_pthread_create(thread, attributes, start, argument);
    }
    bear(start, argument, |birth| host_pthread_create(thread, attributes, begin_pthread as F, birth))
}

/// Replaces the function of the C library.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[cfg_attr(test, allow(dead_code, reason = "as above"))]
unsafe extern "C" fn thrd_create(thread: *mut usize, start: F, argument: M) -> c_int {
    bear(start, argument, |birth| host_thrd_create(thread, begin_thrd as F, birth))
}
