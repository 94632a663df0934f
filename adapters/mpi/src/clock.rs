//! Clocks of the program: the clock functions of the C library return virtual time once the program has called
//! `MPI_Init`.
//!
//! All functions are defined here by which a C or Fortran program reads a clock. The launcher has the library loaded
//! before the C library (see `objects`), so that programs in any language, and their libraries, find these definitions
//! first. Each reading takes a little virtual time, a nanosecond unless the user says otherwise, so that a loop which waits for a time ends. Clocks of
//! processor time show the same time: an MPI library keeps the processor busy while it waits.
//!
//! A program that is not linked with MPI itself, such as Python, keeps the clocks of the host: its interpreter waits for
//! locks by their time.

use std::ffi::{c_int, c_long, c_void};

use crate::entry;
use crate::host::{
    self, SECOND, THREAD, Timespec, Usage, host_processor_time, host_time_of_base, host_times, host_usage, read_host,
};
use crate::inside;
use crate::objects;

/// Numbers of clocks, as in `time.h` of Linux: `CLOCK_REALTIME`, its coarse variant, and `CLOCK_TAI`.
const REALTIME: c_int = 0;
const REALTIME_COARSE: c_int = 5;
const TAI: c_int = 11;
/// \[s\] What clocks that count from 1970 show at virtual time 0: 1 January 2000.
pub(crate) const EPOCH: c_long = 946_684_800;
/// Number of readings without a call of MPI between them after which the program is told how to wait.
const LOOP: u64 = 1 << 23;

/// True for a clock that counts from 1970.
pub(crate) fn shows_date(clock: c_int) -> bool {
    [REALTIME, REALTIME_COARSE, TAI].contains(&clock)
}

/// True if clocks of the program read virtual time.
pub(crate) fn is_virtual() -> bool {
    !inside::is_inside() && entry::is_time_virtual() && objects::is_linked_with_mpi()
}

/// \[ps\] The virtual time, read by the program.
pub(crate) fn read() -> u64 {
    entry::with("a clock", |world| {
        world.measure();
        world.pay(world.settings.clock_read);
        world.readings += 1;
        if world.readings == LOOP {
            host::say(&advice(world.settings.rank, world.settings.clock_read));
        }
        world.now()
    })
}

/// What a program that waits for a time by reading a clock is told.
fn advice(rank: usize, reading: u64) -> String {
    format!(
        "rank {rank} has read the clock {LOOP} times without a call of MPI; a reading takes {} ns of virtual time. If it \
         waits for a time, let a reading take longer (fsin mpirun --clock-read 1us), or let the program sleep",
        reading as f64 * 1e-3
    )
}

/// Replaces the function of the C library.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn clock_gettime(clock: c_int, to: *mut Timespec) -> c_int {
    // Negative numbers are those of the processor times of threads.
    if !is_virtual() || clock > TAI {
        return read_host(clock, to);
    }
    let time = read();
    let epoch = if shows_date(clock) { EPOCH } else { 0 };
    let seconds = epoch + (time / SECOND) as c_long;
    // SAFETY: the pointer of the program, by the contract of the function.
    unsafe { *to = Timespec { seconds, rest: (time % SECOND / 1000) as c_long } };
    0
}

/// Replaces the function of the C library.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn timespec_get(to: *mut Timespec, base: c_int) -> c_int {
    /// `TIME_UTC`; later standards add the others in the order of the clocks.
    const UTC: c_int = 1;
    if !is_virtual() || !(UTC..=UTC + THREAD).contains(&base) {
        return host_time_of_base(to, base);
    }
    // SAFETY: the pointer of the program, by the contract of the function.
    unsafe { clock_gettime(base - UTC, to) };
    base
}

/// Replaces the function of the C library.
#[cfg_attr(not(test), unsafe(no_mangle))]
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
#[cfg_attr(not(test), unsafe(no_mangle))]
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

/// Replaces the function of the C library, whose unit is a microsecond.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn clock() -> c_long {
    if is_virtual() { (read() / 1_000_000) as c_long } else { host_processor_time() }
}

/// Replaces the function of the C library, whose unit is 10 ms. `to` has the processor times of the process in user
/// and system mode, and those of its children.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn times(to: *mut [c_long; 4]) -> c_long {
    const TICK: u64 = SECOND / 100;
    if !is_virtual() {
        return host_times(to);
    }
    let ticks = (read() / TICK) as c_long;
    if !to.is_null() {
        // SAFETY: the pointer of the program.
        unsafe { *to = [ticks, 0, 0, 0] };
    }
    ticks
}

/// Replaces the function of the C library. Figures other than times are those of the host.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn getrusage(whose: c_int, to: *mut Usage) -> c_int {
    const CHILDREN: c_int = -1;
    let result = host_usage(whose, to);
    if result == 0 && whose != CHILDREN && is_virtual() {
        // SAFETY: the pointer of the program, through which the C library has just written.
        unsafe { *to = Usage { user: Timespec::as_timeval(read()), system: Timespec::default() } };
    }
    result
}
