//! The C library of fsin: messages of a program through a simulated network.
//!
//! `fsin.h` beside the sources is written of them. A network is a number, not a pointer: every call looks it up, so that
//! one that is closed, or was never opened, is an error and not a crash; calls of one network from several threads wait for
//! each other. What the network does is that of [`Session`]; this crate translates.
//!
//! Decision: docs/decisions/0241-c-library.md.

mod table;

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use fsin_experiment::{Event, EventKind, Experiment, Origin, Session, SettingsError};

/// A time that never comes: `fsin_advance` to it ends when nothing can happen any more.
pub const FSIN_FOREVER: u64 = u64::MAX;

/// Kind of an event: a message has arrived in full.
pub const FSIN_DELIVERED: u32 = 1;
/// Kind of an event: the network has lost a message, which will never arrive.
pub const FSIN_LOST: u32 = 2;
/// Kind of an event: a time that was scheduled has come.
pub const FSIN_TIMER: u32 = 3;

/// What has happened. Timers have a time, a since, and a cookie; else they are 0.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "a name of C")]
pub struct fsin_event {
    /// When: the time of the network.
    pub time_ps: u64,
    /// When the message was sent, or the timer set.
    pub since_ps: u64,
    /// Size of the message.
    pub bytes: u64,
    /// Tag of the message.
    pub tag: u64,
    /// What the sender, or the setter of the timer, has given to know it by.
    pub cookie: u64,
    /// The node that sent the message.
    pub src: u32,
    /// The node that it goes to.
    pub dst: u32,
    /// FSIN_DELIVERED, FSIN_LOST or FSIN_TIMER.
    pub kind: u32,
}

thread_local! {
    /// Why the last call of this thread that failed has failed.
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Performs a call; on failure keeps the reason, and returns `failed`.
fn call<T>(failed: T, body: impl FnOnce() -> Result<T, String>) -> T {
    // A panic must not unwind into C.
    let result = catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|_| Err("this is a defect of fsin: please report it".to_owned()));
    result.unwrap_or_else(|error| {
        let error = CString::new(error.replace('\0', " ")).unwrap_or_default();
        // Fails only while the thread ends.
        let _ = ERROR.try_with(|last| *last.borrow_mut() = error);
        failed
    })
}

/// Performs a call on a network; on failure keeps the reason, and returns `failed`.
fn on<T>(network: u64, failed: T, body: impl FnOnce(&mut Session) -> Result<T, String>) -> T {
    call(failed, || table::with(network, body)?)
}

/// Creates a network from settings: the keys of `fsin run` that concern the network, `bandwidth`, `phit-bytes` and `seed`,
/// one `key = value` a line, words in quotes, as in an experiment file. An empty text is the default network.
///
/// Returns its number; 0 on failure.
///
/// # Safety
/// `settings` is null, which is an error, or a text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fsin_open(settings: *const c_char) -> u64 {
    call(0, || {
        if settings.is_null() {
            return Err("the settings are a null pointer: pass \"\" for the default network".to_owned());
        }
        // SAFETY: by the contract of this function.
        let text = unsafe { CStr::from_ptr(settings) };
        let text = text.to_str().map_err(|_| "the settings are not UTF-8: write them as such".to_owned())?;
        let session =
            Experiment::builder().text(text).settings().and_then(Session::new).map_err(|error| told(&error))?;
        table::add(session)
    })
}

/// Ends a network, with all that is underway in it. Returns 0; -1 on failure.
#[unsafe(no_mangle)]
pub extern "C" fn fsin_close(network: u64) -> c_int {
    call(-1, || table::remove(network).map(|()| 0))
}

/// Number of nodes, which are numbered from 0; 0 on failure.
#[unsafe(no_mangle)]
pub extern "C" fn fsin_nodes(network: u64) -> u32 {
    on(network, 0, |session| Ok(u32::try_from(session.nodes()).unwrap_or(u32::MAX)))
}

/// The time of the network in ps; FSIN_FOREVER on failure.
#[unsafe(no_mangle)]
pub extern "C" fn fsin_time(network: u64) -> u64 {
    on(network, FSIN_FOREVER, |session| Ok(session.time()))
}

/// Sends a message now. `tag` and `cookie` mean nothing to the network and return with the arrival.
///
/// Returns 0; -1 on failure: a node that is not there, a message to itself where the network carries none, or one of more
/// than 2^40 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn fsin_send(network: u64, src: u32, dst: u32, bytes: u64, tag: u64, cookie: u64) -> c_int {
    on(network, -1, |session| session.send(src, dst, bytes, tag, cookie).map(|()| 0).map_err(|error| error.to_string()))
}

/// Sets a timer, which makes an event after `delay_ps`. Returns 0; -1 on failure.
#[unsafe(no_mangle)]
pub extern "C" fn fsin_schedule(network: u64, delay_ps: u64, cookie: u64) -> c_int {
    on(network, -1, |session| session.schedule(delay_ps, cookie).map(|()| 0).map_err(|error| error.to_string()))
}

/// Lets time pass until something happens, or until `until_ps`, whichever comes first.
///
/// Returns 1 if there are events to poll, all of this time; 0 if it is `until_ps` and there are none, or if `until_ps` is
/// FSIN_FOREVER and nothing can happen any more; -1 on failure: a time that has passed, a network in deadlock.
#[unsafe(no_mangle)]
pub extern "C" fn fsin_advance(network: u64, until_ps: u64) -> c_int {
    on(network, -1, |session| match session.advance(until_ps) {
        Ok(events) => Ok(c_int::from(events > 0)),
        Err(error) => Err(error.to_string()),
    })
}

/// Takes the next event of this time. Returns 1; 0 if there is none; -1 on failure.
///
/// # Safety
/// `event` is null, which is an error, or a place for an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fsin_poll(network: u64, event: *mut fsin_event) -> c_int {
    on(network, -1, |session| {
        if event.is_null() {
            return Err("the event is a null pointer: pass the address of one".to_owned());
        }
        let Some(next) = session.poll() else { return Ok(0) };
        // SAFETY: by the contract of this function.
        unsafe { event.write(of(next)) };
        Ok(1)
    })
}

/// Why the last call of this thread that failed has failed, with the remedy: a text that is valid until the next call of
/// this thread that fails. Empty if none has failed.
#[unsafe(no_mangle)]
pub extern "C" fn fsin_error() -> *const c_char {
    ERROR.try_with(|error| error.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// The version of the library, such as 0.2.0.
#[unsafe(no_mangle)]
pub extern "C" fn fsin_version() -> *const c_char {
    const VERSION: &[u8] = concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes();
    VERSION.as_ptr().cast()
}

/// An event as C has it.
fn of(event: Event) -> fsin_event {
    let kind = match event.kind {
        EventKind::Delivered => FSIN_DELIVERED,
        EventKind::Lost => FSIN_LOST,
        EventKind::Timer => FSIN_TIMER,
        _ => 0,
    };
    let Event { time, since, source, destination, bytes, tag, cookie, .. } = event;
    fsin_event { time_ps: time, since_ps: since, bytes, tag, cookie, src: source.0, dst: destination.0, kind }
}

/// An error of settings, with its line and the remedy.
fn told(error: &SettingsError) -> String {
    let line = match &error.origin {
        Origin::File { text, span, .. } => {
            let before = text.get(..span.start).unwrap_or(text);
            format!("line {} of the settings: ", before.matches('\n').count() + 1)
        }
        _ => String::new(),
    };
    format!("{line}{}: {}", error.error.what(), error.error.remedy())
}

#[cfg(test)]
mod tests;
