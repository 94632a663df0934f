//! Sleeping: the functions of the C library that wait for a time pass virtual time, as its clocks read it.
//!
//! They are replaced as those of `clock` are, on the thread that has initialized MPI, with `MPI_THREAD_MULTIPLE` on any. A wait for descriptors waits for them
//! in the time of the host, and if none becomes ready before the time-out, virtual time has passed the time-out.

use std::ffi::{c_int, c_uint, c_ulong, c_void};

use crate::clock::{EPOCH, is_virtual, shows_date};
use crate::entry;
use crate::host::{
    SECOND, Timespec, host_nanosleep, host_nanosleep_on, host_poll, host_ppoll, host_pselect, host_select, host_sleep,
    host_thread_sleep, host_usleep,
};
use crate::inside;
use crate::threads;

/// True if this thread sleeps in virtual time: the one that has initialized MPI, and with `MPI_THREAD_MULTIPLE` any.
fn passes() -> bool {
    is_virtual() && (inside::is_main() || threads::level() == threads::MULTIPLE)
}

/// Passes `time` picoseconds.
fn pass(time: u64) {
    entry::with("sleep", |world| {
        world.measure();
        world.spend(time);
    });
}

impl Timespec {
    /// \[ps\] The time, with `unit` picoseconds in a unit of its second field; `None` if it is not valid.
    fn picoseconds(self, unit: u64) -> Option<u64> {
        let (seconds, rest) = (u64::try_from(self.seconds).ok()?, u64::try_from(self.rest).ok()?);
        (rest < SECOND / unit).then(|| seconds.saturating_mul(SECOND).saturating_add(rest * unit))
    }
}

/// \[ps\] Units of the second field of a `struct timespec` and of a `struct timeval`.
const NANOSECOND: u64 = 1000;
/// See [`NANOSECOND`].
const MICROSECOND: u64 = 1_000_000;

/// The time at a pointer of the program, if it is not null and valid.
fn time_at(from: *const Timespec, unit: u64) -> Option<u64> {
    // SAFETY: the pointer of the program, by the contract of the function.
    unsafe { from.as_ref() }.and_then(|time| time.picoseconds(unit))
}

/// Writes that no time is left.
fn clear(rest: *mut Timespec) {
    // SAFETY: the pointer of the program, which may be null.
    if let Some(rest) = unsafe { rest.as_mut() } {
        *rest = Timespec::default();
    }
}

/// Replaces the function of the C library.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn nanosleep(time: *const Timespec, rest: *mut Timespec) -> c_int {
    match time_at(time, NANOSECOND).filter(|_| passes()) {
        Some(time) => {
            pass(time);
            clear(rest);
            0
        }
        None => host_nanosleep(time, rest),
    }
}

/// Replaces the function of the C library. A time that is given as a date ends at that date of the virtual clock.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn clock_nanosleep(clock: c_int, flags: c_int, time: *const Timespec, rest: *mut Timespec) -> c_int {
    const ABSOLUTE: c_int = 1;
    let Some(span) = time_at(time, NANOSECOND).filter(|_| passes()) else {
        return host_nanosleep_on(clock, flags, time, rest);
    };
    if flags & ABSOLUTE == 0 {
        pass(span);
        clear(rest);
        return 0;
    }
    let epoch = if shows_date(clock) { EPOCH } else { 0 };
    // SAFETY: a time has been read through this pointer.
    let since = unsafe { *time };
    let until = Timespec { seconds: since.seconds - epoch, ..since }.picoseconds(NANOSECOND).unwrap_or(0);
    let now = entry::with("sleep", |world| {
        world.measure();
        world.now()
    });
    pass(until.saturating_sub(now));
    0
}

/// Replaces the function of the C library.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn usleep(time: c_uint) -> c_int {
    if !passes() {
        return host_usleep(time);
    }
    pass(u64::from(time) * MICROSECOND);
    0
}

/// Replaces the function of the C library.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn sleep(time: c_uint) -> c_uint {
    if !passes() {
        return host_sleep(time);
    }
    pass(u64::from(time) * SECOND);
    0
}

/// Replaces the function of the C library.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn thrd_sleep(time: *const Timespec, rest: *mut Timespec) -> c_int {
    match time_at(time, NANOSECOND).filter(|_| passes()) {
        Some(time) => {
            pass(time);
            clear(rest);
            0
        }
        None => host_thread_sleep(time, rest),
    }
}

/// Waits for descriptors with the function `wait` of the host. If it finds none and there is a time-out, virtual time
/// passes; if there are no descriptors the host does not wait at all.
fn wait(timeout: Option<u64>, has_descriptors: bool, wait: impl FnOnce() -> c_int) -> c_int {
    let Some(timeout) = timeout.filter(|_| passes()) else { return wait() };
    let ready = if has_descriptors { wait() } else { 0 };
    if ready == 0 {
        pass(timeout);
    }
    ready
}

/// Replaces the function of the C library.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn poll(all: *mut c_void, count: c_ulong, timeout: c_int) -> c_int {
    /// \[ps\] A millisecond.
    const MILLISECOND: u64 = 1_000_000_000;
    let time = u64::try_from(timeout).ok().map(|time| time * MILLISECOND);
    wait(time, count > 0, || host_poll(all, count, timeout))
}

/// Replaces the function of the C library.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ppoll(all: *mut c_void, count: c_ulong, timeout: *const Timespec, mask: *const c_void) -> c_int {
    wait(time_at(timeout, NANOSECOND), count > 0, || host_ppoll(all, count, timeout, mask))
}

/// Replaces the function of the C library, which writes the time that is left.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn select(
    count: c_int,
    read: *mut c_void,
    write: *mut c_void,
    except: *mut c_void,
    timeout: *mut Timespec,
) -> c_int {
    let has_descriptors = count > 0 && ![read, write, except].iter().all(|set| set.is_null());
    let time = time_at(timeout, MICROSECOND);
    wait(time, has_descriptors, || host_select(count, read, write, except, timeout))
}

/// Replaces the function of the C library.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut c_void,
    write: *mut c_void,
    except: *mut c_void,
    timeout: *const Timespec,
    mask: *const c_void,
) -> c_int {
    let has_descriptors = count > 0 && ![read, write, except].iter().all(|set| set.is_null());
    let time = time_at(timeout, NANOSECOND);
    wait(time, has_descriptors, || host_pselect(count, read, write, except, timeout, mask))
}

#[cfg(test)]
mod tests {
    use super::{MICROSECOND, NANOSECOND};
    use crate::host::Timespec;

    #[test]
    fn times_are_read_or_refused() {
        let of = |seconds, rest, unit| Timespec { seconds, rest }.picoseconds(unit);
        assert_eq!(of(2, 5, NANOSECOND), Some(2_000_000_005_000));
        assert_eq!(of(0, 999_999, MICROSECOND), Some(999_999_000_000));
        assert_eq!(of(0, 1_000_000, MICROSECOND), None, "a microsecond too many");
        assert_eq!(of(-1, 0, NANOSECOND), None);
        assert_eq!(of(0, -1, NANOSECOND), None);
        assert_eq!(of(i64::MAX, 0, NANOSECOND), Some(u64::MAX));
    }
}
