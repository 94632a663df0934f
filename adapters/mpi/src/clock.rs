//! Clocks of the program: the clock functions of the C library return virtual time once the program has called
//! `MPI_Init`.
//!
//! All functions are defined here by which a C or Fortran program reads a clock. The launcher has the library loaded
//! before the C library (see `objects`), so that programs in any language, and their libraries, find these definitions
//! first. Each reading takes a nanosecond of virtual time, so that a loop which waits for a time ends. Clocks of
//! processor time show the same time: an MPI library keeps the processor busy while it waits.
//!
//! A program that is not linked with MPI itself, such as Python, keeps the clocks of the host: its interpreter waits for
//! locks by their time.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ahead;
use crate::objects;
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

impl Timespec {
    /// A time \[ps\] as a `struct timeval`.
    fn as_timeval(time: u64) -> Self {
        Self { seconds: (time / SECOND) as c_long, rest: (time % SECOND / 1_000_000) as c_long }
    }
}

/// Numbers of clocks, as in `time.h` of Linux: `CLOCK_REALTIME`, its coarse variant, `CLOCK_TAI`, and the processor
/// time of the thread.
const REALTIME: c_int = 0;
const REALTIME_COARSE: c_int = 5;
const TAI: c_int = 11;
const THREAD: c_int = 3;
/// \[s\] What clocks that count from 1970 show at virtual time 0: 1 January 2000.
const EPOCH: c_long = 946_684_800;
/// \[ps\] Virtual time that a reading of a clock takes.
const READING: u64 = 1000;
/// \[ps\] A second.
const SECOND: u64 = 1_000_000_000_000;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn _exit(status: c_int) -> !;
}

/// Ends the process because a clock of the host cannot be read: no time could be right.
fn fail(what: &str) -> ! {
    let _ = writeln!(std::io::stderr(), "fsin-mpi: {what}");
    // SAFETY: a function of the C library. Not `exit`, because the process may not have begun yet.
    unsafe { _exit(1) }
}

/// The definition of a function in the C library, for a function of the same name in this library. `found` keeps it.
///
/// The next definition after this library is that of the C library, unless the C library was loaded before this one.
fn in_the_c_library(name: &CStr, found: &AtomicUsize) -> usize {
    const NEXT: isize = -1;
    /// `RTLD_LAZY | RTLD_NOLOAD`
    const LOADED: c_int = 1 | 4;
    let known = found.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // SAFETY: lookups, with names that end with a zero.
    let address = unsafe {
        let next = dlsym(NEXT as *mut c_void, name.as_ptr());
        if next.is_null() {
            let library = dlopen(c"libc.so.6".as_ptr(), LOADED);
            if library.is_null() { library } else { dlsym(library, name.as_ptr()) }
        } else {
            next
        }
    };
    if address.is_null() {
        fail(&format!("the function {} of the C library is not found", name.to_string_lossy()));
    }
    found.store(address as usize, Ordering::Relaxed);
    address as usize
}

/// Defines `fn $name`, which calls the function `$symbol` of the C library.
macro_rules! of_the_c_library {
    ($( fn $name:ident = $symbol:literal ($($a:ident : $t:ty),*) -> $r:ty; )*) => { $(
        fn $name($($a: $t),*) -> $r {
            type Function = unsafe extern "C" fn($($t),*) -> $r;
            static FOUND: AtomicUsize = AtomicUsize::new(0);
            // SAFETY: the function of the C library, by its name and with its type.
            unsafe { std::mem::transmute::<usize, Function>(in_the_c_library($symbol, &FOUND))($($a),*) }
        }
    )* };
}

of_the_c_library! {
    fn read_host = c"clock_gettime"(clock: c_int, to: *mut Timespec) -> c_int;
    fn host_processor_time = c"clock"() -> c_long;
    fn host_times = c"times"(to: *mut [c_long; 4]) -> c_long;
    fn host_usage = c"getrusage"(whose: c_int, to: *mut Usage) -> c_int;
    fn host_time_of_base = c"timespec_get"(to: *mut Timespec, base: c_int) -> c_int;
}

/// \[ps\] Processor time of this thread.
pub(crate) fn processor() -> u64 {
    processor_of(THREAD).unwrap_or_else(|| {
        let error = std::io::Error::last_os_error();
        fail(&format!("the processor time of a rank cannot be read: {error}; let computing take a fixed time"))
    })
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

/// \[ps\] Processor time of a thread, by the number of its clock; `None` if the thread has ended.
pub(crate) fn processor_of(clock: c_int) -> Option<u64> {
    let mut time = Timespec::default();
    let is_known = read_host(clock, &raw mut time) == 0;
    is_known.then(|| (time.seconds as u64 * 1_000_000_000 + time.rest as u64) * 1000)
}

/// True if clocks of the program read virtual time.
fn is_virtual() -> bool {
    !is_inside() && exists() && objects::is_linked_with_mpi() && (w().guest.is_some() || w().finalized)
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

/// Replaces the function of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: c_int, to: *mut Timespec) -> c_int {
    // Negative numbers are those of the processor times of threads.
    if !is_virtual() || clock > TAI {
        return read_host(clock, to);
    }
    let time = read();
    let epoch = if [REALTIME, REALTIME_COARSE, TAI].contains(&clock) { EPOCH } else { 0 };
    let seconds = epoch + (time / SECOND) as c_long;
    // SAFETY: the pointer of the program, by the contract of the function.
    unsafe { *to = Timespec { seconds, rest: (time % SECOND / 1000) as c_long } };
    0
}

/// Replaces the function of the C library.
#[unsafe(no_mangle)]
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

/// Replaces the function of the C library, whose unit is a microsecond.
#[unsafe(no_mangle)]
extern "C" fn clock() -> c_long {
    if is_virtual() { (read() / 1_000_000) as c_long } else { host_processor_time() }
}

/// Replaces the function of the C library, whose unit is 10 ms. `to` has the processor times of the process in user
/// and system mode, and those of its children.
#[unsafe(no_mangle)]
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

/// The beginning of `struct rusage`: processor times in user and system mode, each as a `struct timeval`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Usage {
    user: Timespec,
    system: Timespec,
}

/// Replaces the function of the C library. Figures other than times are those of the host.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrusage(whose: c_int, to: *mut Usage) -> c_int {
    const CHILDREN: c_int = -1;
    let result = host_usage(whose, to);
    if result == 0 && whose != CHILDREN && is_virtual() {
        // SAFETY: the pointer of the program, through which the C library has just written.
        unsafe { *to = Usage { user: Timespec::as_timeval(read()), system: Timespec::default() } };
    }
    result
}
