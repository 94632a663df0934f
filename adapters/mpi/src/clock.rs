//! Clocks of the program: the clock functions of the C library return virtual time once the program has called
//! `MPI_Init`.
//!
//! `gettimeofday`, `time` and `clock_gettime` are defined here. A program that is linked with MPI finds them before
//! those of the C library. Each reading takes a nanosecond of virtual time, so that a loop which waits for a time ends.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::sync::OnceLock;

use crate::ahead;
use crate::world::{self, exists, is_inside, measure, w};

/// `struct timespec`; `struct timeval` has the same layout.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Timespec {
    /// \[s\]
    seconds: c_long,
    /// \[ns\]; in a `struct timeval` \[µs\].
    rest: c_long,
}

/// Numbers of clocks, as in `time.h` of Linux: `CLOCK_REALTIME` and the processor times of the process and the thread.
const REALTIME: c_int = 0;
const PROCESS: c_int = 2;
const THREAD: c_int = 3;
/// \[s\] What clocks that count from 1970 show at virtual time 0: 1 January 2000.
const EPOCH: c_long = 946_684_800;
/// \[ps\] Virtual time that a reading of a clock takes.
const READING: u64 = 1000;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The next definition of a function, which is that of the C library.
fn next_definition(name: &std::ffi::CStr) -> *mut c_void {
    // SAFETY: a lookup; -1 is RTLD_NEXT.
    unsafe { dlsym(-1_isize as *mut c_void, name.as_ptr()) }
}

/// Calls `clock_gettime` of the C library.
fn read_host(clock: c_int, to: *mut Timespec) -> c_int {
    type Function = unsafe extern "C" fn(c_int, *mut Timespec) -> c_int;
    static REAL: OnceLock<usize> = OnceLock::new();
    let function = *REAL.get_or_init(|| next_definition(c"clock_gettime") as usize);
    if function == 0 {
        return -1;
    }
    // SAFETY: the function of the C library, by its name.
    unsafe { std::mem::transmute::<usize, Function>(function)(clock, to) }
}

/// \[ps\] Processor time of this thread.
pub(crate) fn processor() -> u64 {
    processor_of(THREAD)
}

/// The number of the clock of this thread's processor time, which other threads can read.
pub(crate) fn of_this_thread() -> Option<c_int> {
    unsafe extern "C" {
        fn pthread_self() -> usize;
        fn pthread_getcpuclockid(thread: usize, clock: *mut c_int) -> c_int;
    }
    let mut clock = 0;
    // SAFETY: functions of the C library, and a local variable.
    (unsafe { pthread_getcpuclockid(pthread_self(), &raw mut clock) } == 0).then_some(clock)
}

/// \[ps\] Processor time of a thread, by the number of its clock.
pub(crate) fn processor_of(clock: c_int) -> u64 {
    let mut time = Timespec::default();
    read_host(clock, &raw mut time);
    (time.seconds as u64 * 1_000_000_000 + time.rest as u64) * 1000
}

/// True if clocks of the program read virtual time.
fn is_virtual() -> bool {
    !is_inside() && exists() && w().guest.is_some()
}

/// \[ps\] The virtual time, read by the program.
pub(crate) fn read() -> u64 {
    let _turn = (!is_inside()).then(ahead::hold);
    world::inside(|| {
        measure();
        w().pay(READING);
        w().now()
    })
}

/// Replaces the function of the C library. The clocks of processor time are those of the host.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: c_int, to: *mut Timespec) -> c_int {
    if !is_virtual() || clock == PROCESS || clock == THREAD || clock < 0 {
        return read_host(clock, to);
    }
    let time = read();
    // 5 and 11 are CLOCK_REALTIME_COARSE and CLOCK_TAI.
    let epoch = if clock == REALTIME || clock == 5 || clock == 11 { EPOCH } else { 0 };
    let seconds = epoch + (time / 1_000_000_000_000) as c_long;
    // SAFETY: the pointer of the program, by the contract of the function.
    unsafe { *to = Timespec { seconds, rest: (time % 1_000_000_000_000 / 1000) as c_long } };
    0
}

/// Replaces the function of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(to: *mut Timespec, _zone: *mut c_void) -> c_int {
    let mut time = Timespec::default();
    // SAFETY: a local variable.
    let result = unsafe { clock_gettime(REALTIME, &raw mut time) };
    if !to.is_null() {
        // SAFETY: the pointer of the program; a timeval has microseconds where a timespec has nanoseconds.
        unsafe { *to = Timespec { rest: time.rest / 1000, ..time } };
    }
    result
}

/// Replaces the function of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn time(to: *mut c_long) -> c_long {
    let mut time = Timespec::default();
    // SAFETY: a local variable.
    unsafe { clock_gettime(REALTIME, &raw mut time) };
    if !to.is_null() {
        // SAFETY: the pointer of the program.
        unsafe { *to = time.seconds };
    }
    time.seconds
}
