//! Whether threads of this process sleep until another thread of it wakes them.
//!
//! The system shows for each thread whether it sleeps, in which call, and how often it has slept. Two looks with the same
//! counts mean that it has slept all the time between them: a thread that is woken is shown as running at once. If that
//! holds for every thread, there was a moment at which all slept.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs;
use std::time::{Duration, Instant};

/// How long a thread that sleeps for something other than a thread is expected to go on by itself.
const MOMENT: Duration = Duration::from_millis(100);

/// The number of this thread for the system.
pub(super) fn number_of_this_thread() -> c_int {
    unsafe extern "C" {
        fn gettid() -> c_int;
    }
    // SAFETY: a function of the C library.
    unsafe { gettid() }
}

/// A thread that sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Asleep {
    /// How often it has slept.
    times: u64,
    /// True if only another thread of this process wakes it, as far as can be seen.
    is_for_thread: bool,
}

/// The threads that sleep for something other than a thread and have been left alone: how often each had slept.
#[derive(Debug)]
pub(super) struct Sleepers(BTreeMap<c_int, u64>);

impl Sleepers {
    pub(super) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// True if all of these threads sleep; `None` is one that is about to begin. Since `since` somebody waits for that.
    pub(super) fn are_still(&mut self, threads: &[Option<c_int>], since: Instant) -> bool {
        let look = || threads.iter().map(|&thread| look(thread?)).collect::<Option<Vec<Option<Asleep>>>>();
        let Some(first) = look() else { return false };
        if look().as_ref() != Some(&first) {
            return false;
        }
        let has_waited = since.elapsed() >= MOMENT;
        for (&thread, asleep) in threads.iter().zip(&first) {
            let (Some(thread), Some(asleep)) = (thread, asleep) else { continue };
            if asleep.is_for_thread || self.0.get(&thread) == Some(&asleep.times) {
                continue;
            }
            if !has_waited {
                return false;
            }
            self.0.insert(thread, asleep.times);
        }
        true
    }
}

/// How a thread sleeps: `None` if it does not, `Some(None)` if it has ended.
fn look(thread: c_int) -> Option<Option<Asleep>> {
    let Ok(status) = fs::read_to_string(format!("/proc/self/task/{thread}/status")) else { return Some(None) };
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim_ascii);
    match field("State:")?.as_bytes().first()? {
        b'S' | b'I' => {}
        b'Z' | b'X' => return Some(None),
        _ => return None,
    }
    let times = field("voluntary_ctxt_switches:")?.parse().ok()?;
    let call = fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).unwrap_or_default();
    if call.starts_with("running") {
        return None;
    }
    Some(Some(Asleep { times, is_for_thread: waits_for_thread(&call) }))
}

/// True for a wait on a futex without a time-out, as the system describes it: number of the call, and its arguments.
fn waits_for_thread(call: &str) -> bool {
    /// The number of the call `futex`.
    const FUTEX: &str = if cfg!(target_arch = "x86_64") { "202" } else { "98" };
    let mut words = call.split(' ');
    // The fourth argument is the time-out.
    words.next() == Some(FUTEX) && words.nth(3) == Some("0x0")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::{Duration, Instant};

    use super::{Sleepers, number_of_this_thread, waits_for_thread};

    #[test]
    fn a_wait_for_a_thread_is_known_by_its_call() {
        let futex = if cfg!(target_arch = "x86_64") { "202" } else { "98" };
        assert!(waits_for_thread(&format!("{futex} 0x7f00 0x80 0x2 0x0 0x0 0xffffffff 0x7ffd 0x7f83")));
        assert!(
            !waits_for_thread(&format!("{futex} 0x7f00 0x89 0x0 0x7ffc 0x0 0xffffffff 0x7ffd 0x7f83")),
            "a time-out"
        );
        assert!(!waits_for_thread("0 0x3 0x7ffc 0x100 0x0 0x0 0x0 0x7ffd 0x7f83"), "a read");
        assert!(!waits_for_thread(""));
    }

    #[test]
    fn a_thread_that_waits_for_a_lock_is_still_and_one_that_computes_is_not() {
        let locked = Mutex::new(());
        let held = locked.lock();
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                send.send(number_of_this_thread()).unwrap();
                drop(locked.lock());
            });
            let thread = receive.recv().unwrap();
            let mut sleepers = Sleepers::new();
            let begin = Instant::now();
            while !sleepers.are_still(&[Some(thread)], Instant::now()) {
                assert!(begin.elapsed() < Duration::from_secs(60));
            }
            assert!(!sleepers.are_still(&[Some(number_of_this_thread())], begin), "this thread looks");
            assert!(!sleepers.are_still(&[None], begin), "a thread that is about to begin");
            drop(held);
        });
    }
}
