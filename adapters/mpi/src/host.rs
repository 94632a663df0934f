//! The clocks of the host, and its functions that sleep, read from the C library although this library replaces its functions.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `struct timespec`; `struct timeval` has the same layout.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Timespec {
    /// \[s\]
    pub(crate) seconds: c_long,
    /// \[ns\]; in a `struct timeval` \[µs\].
    pub(crate) rest: c_long,
}

impl Timespec {
    /// A time \[ps\] as a `struct timeval`.
    pub(crate) fn as_timeval(time: u64) -> Self {
        Self { seconds: (time / SECOND) as c_long, rest: (time % SECOND / 1_000_000) as c_long }
    }
}

/// The beginning of `struct rusage`: processor times in user and system mode, each as a `struct timeval`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Usage {
    pub(crate) user: Timespec,
    pub(crate) system: Timespec,
}

/// The number of the clock of the processor time of the thread, as in `time.h` of Linux.
pub(crate) const THREAD: c_int = 3;
/// \[ps\] A second.
pub(crate) const SECOND: u64 = 1_000_000_000_000;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn _exit(status: c_int) -> !;
}

/// Writes a line to stderr as a whole, so that lines of several ranks do not mix.
pub(crate) fn say(text: &str) {
    let _ = std::io::stderr().write_all(format!("fsin-mpi: {text}\n").as_bytes());
}

/// Ends the process at once: no time could be right, or the state of the rank is not to be used.
pub(crate) fn fail(what: &str) -> ! {
    say(what);
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
        pub(crate) fn $name($($a: $t),*) -> $r {
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
    fn host_nanosleep = c"nanosleep"(time: *const Timespec, rest: *mut Timespec) -> c_int;
    fn host_nanosleep_on = c"clock_nanosleep"(clock: c_int, flags: c_int, time: *const Timespec, rest: *mut Timespec) -> c_int;
    fn host_usleep = c"usleep"(time: c_uint) -> c_int;
    fn host_sleep = c"sleep"(time: c_uint) -> c_uint;
    fn host_thread_sleep = c"thrd_sleep"(time: *const Timespec, rest: *mut Timespec) -> c_int;
    fn host_poll = c"poll"(all: *mut c_void, count: c_ulong, timeout: c_int) -> c_int;
    fn host_ppoll = c"ppoll"(all: *mut c_void, count: c_ulong, timeout: *const Timespec, mask: *const c_void) -> c_int;
    fn host_select = c"select"(count: c_int, read: *mut c_void, write: *mut c_void, except: *mut c_void, timeout: *mut Timespec) -> c_int;
    fn host_pthread_create = c"pthread_create"(thread: *mut usize, attributes: *const c_void, start: *const c_void, argument: *mut c_void) -> c_int;
    fn host_thrd_create = c"thrd_create"(thread: *mut usize, start: *const c_void, argument: *mut c_void) -> c_int;
    fn host_pselect = c"pselect"(count: c_int, read: *mut c_void, write: *mut c_void, except: *mut c_void, timeout: *const Timespec, mask: *const c_void) -> c_int;
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
