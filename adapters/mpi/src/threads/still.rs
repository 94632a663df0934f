//! Whether threads of this process sleep until another thread of it wakes them.
//!
//! The system shows for each thread whether it sleeps, in which call, and how often it has been run. Two looks with the same
//! counts mean that it has slept all the time between them: a thread that is woken is shown as running at once. (Its state is;
//! while another processor has still to be told of it, its call is shown as that of a thread that sleeps.) If that holds for
//! every thread, there was a moment at which all slept. One look is enough for one thread.
//!
//! The system wakes those who wait for the end of a thread before it stops showing the thread. So a thread that ends is looked at
//! until it is no longer shown, and before the others.
//!
//! Threads of this library itself must not run either: the allocator and the loader have locks, for which threads of the program wait.
//!
//! A process that has changed its user, or must not be dumped, cannot read in which calls its threads sleep. Each sleep may then
//! be one that ends by itself. Of threads that cannot be seen at all nothing is known: they neither run nor have they ended.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::c_int;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Once;
use std::time::{Duration, Instant};

use crate::host;

/// How long a thread that sleeps for something other than a thread is expected to go on by itself.
const MOMENT: Duration = Duration::from_millis(100);
/// How long no thread may be seen to run until those are left alone that sleep again and again, each time for less than that.
const LONGEST: Duration = Duration::from_secs(1);

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
    /// How often it has been run.
    times: u64,
    /// True if only another thread of this process wakes it, as far as can be seen.
    is_for_thread: bool,
}

/// What the system shows of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Look {
    Runs,
    Sleeps(Asleep),
    Ended,
}

/// The files of a thread, which stay open.
#[derive(Debug)]
enum Files {
    /// The call in which it sleeps, with the arguments; a line with its state; and one whose third number is how often it has been run.
    Call { call: File, state: File, runs: File },
    /// Its state and how often it has been run, without the call.
    Status(File),
    /// They cannot be opened.
    Unseen,
}

/// A thread that is looked at.
#[derive(Debug)]
struct Shown {
    files: Files,
    /// How it slept when all were still the last time.
    before: Option<Asleep>,
    /// How often it had been run when it was first seen to sleep for something other than a thread, and when that was. A thread that
    /// waits for the processor of a busy machine has not slept for long.
    sleeps: Option<(u64, Instant)>,
}

impl Shown {
    /// `None` if the thread has ended.
    fn open(thread: c_int) -> Option<Self> {
        let open = |name: &str| File::open(format!("/proc/self/task/{thread}/{name}"));
        let files = match (open("syscall"), open("stat"), open("schedstat")) {
            (Ok(call), Ok(state), Ok(runs)) => Files::Call { call, state, runs },
            _ => match open("status") {
                Ok(status) => Files::Status(status),
                Err(failure) if failure.kind() == ErrorKind::NotFound && is_shown() => return None,
                Err(failure) => {
                    static TOLD: Once = Once::new();
                    TOLD.call_once(|| {
                        host::say(&format!(
                            "threads of this process cannot be seen in /proc/self/task ({failure}): the run may not repeat"
                        ));
                    });
                    Files::Unseen
                }
            },
        };
        Some(Self { files, before: None, sleeps: None })
    }

    fn look(&self) -> Look {
        match &self.files {
            Files::Call { call, state, runs } => {
                let (mut call_buffer, mut state_buffer, mut runs_buffer) = ([0; 256], [0; 1024], [0; 128]);
                match (text(call, &mut call_buffer), text(state, &mut state_buffer), text(runs, &mut runs_buffer)) {
                    (Some(call), Some(state), Some(runs)) => of_call(call, state, runs),
                    _ => Look::Ended,
                }
            }
            Files::Status(status) => text(status, &mut [0; 4096]).map_or(Look::Ended, of_status),
            Files::Unseen => Look::Sleeps(Asleep { times: 0, is_for_thread: false }),
        }
    }
}

/// What the lines of a call, of the state after the name in parentheses, and of a thread's runs tell.
fn of_call(call: &str, state: &str, runs: &str) -> Look {
    let state = state.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    if call.starts_with("running") {
        return Look::Runs;
    }
    let times = runs.split_ascii_whitespace().nth(2).and_then(|times| times.parse().ok()).unwrap_or(0);
    of_state(state, Asleep { times, is_for_thread: waits_for_thread(call) })
}

/// What a thread's status tells.
fn of_status(status: &str) -> Look {
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let switches = ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"];
    let times = switches.iter().filter_map(|name| value(name)?.parse::<u64>().ok()).sum();
    of_state(value("State:").and_then(|state| state.chars().next()), Asleep { times, is_for_thread: false })
}

/// What the letter of a thread's state tells; `asleep` is how it sleeps if it does.
const fn of_state(state: Option<char>, asleep: Asleep) -> Look {
    match state {
        // One that waits for a page or a disk goes on by itself, and may hold a lock.
        Some('R' | 'D') => Look::Runs,
        Some('Z' | 'X') => Look::Ended,
        _ => Look::Sleeps(asleep),
    }
}

/// True if the system shows the threads of this process.
fn is_shown() -> bool {
    Path::new("/proc/self/task").is_dir()
}

/// The content of a file of the system; `None` if its thread has ended.
fn text<'a>(file: &File, into: &'a mut [u8]) -> Option<&'a str> {
    let length = file.read_at(into, 0).ok().filter(|&length| length > 0)?;
    std::str::from_utf8(&into[..length]).ok()
}

/// The threads that have been looked at, by their numbers for the system.
#[derive(Debug)]
pub(super) struct Sleepers {
    shown: BTreeMap<c_int, Shown>,
    /// Since when no look has found a thread that runs.
    quiet: Option<Instant>,
}

impl Sleepers {
    pub(super) const fn new() -> Self {
        Self { shown: BTreeMap::new(), quiet: None }
    }

    /// True if all of these threads sleep; `None` is one that is about to begin, and never still. Those of `own`, which are none of the
    /// program, may sleep as they like.
    pub(super) fn are_still(&mut self, own: &[c_int], threads: &[Option<c_int>]) -> bool {
        let all: Vec<Option<c_int>> = own.iter().copied().map(Some).chain(threads.iter().copied()).collect();
        let Some(first) = self.look(&all) else {
            self.quiet = None;
            return false;
        };
        let quiet = *self.quiet.get_or_insert_with(Instant::now);
        // Threads that have not been run since the last time have slept all the time between.
        let is_same = |(&thread, asleep): (&Option<c_int>, &Option<Asleep>)| {
            thread.and_then(|thread| self.shown.get(&thread)).is_none_or(|shown| shown.before == *asleep)
        };
        let is_settled = all.len() == 1 || all.iter().zip(&first).all(is_same);
        if !is_settled && self.look(&all).as_ref() != Some(&first) {
            return false;
        }
        for (at, (&thread, asleep)) in all.iter().zip(&first).enumerate() {
            let (Some(thread), Some(asleep)) = (thread, asleep) else { continue };
            let Some(shown) = self.shown.get_mut(&thread) else { continue };
            shown.before = Some(*asleep);
            if asleep.is_for_thread || at < own.len() {
                continue;
            }
            if shown.sleeps.is_none_or(|(times, _)| times != asleep.times) {
                shown.sleeps = Some((asleep.times, Instant::now()));
            }
            let has_slept = shown.sleeps.is_some_and(|(_, begin)| begin.elapsed() >= MOMENT);
            if !has_slept && quiet.elapsed() < LONGEST {
                return false;
            }
        }
        self.quiet = None;
        true
    }

    /// True if a thread that ends is still shown. One that cannot be seen is taken for ended.
    pub(super) fn shows(&mut self, thread: c_int) -> bool {
        self.open(thread).is_some_and(|shown| !matches!(shown.files, Files::Unseen) && shown.look() != Look::Ended)
    }

    /// Opens the files of a thread, unless they are open. `None` if it has ended.
    fn open(&mut self, thread: c_int) -> Option<&Shown> {
        match self.shown.entry(thread) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(place) => Some(place.insert(Shown::open(thread)?)),
        }
    }

    /// Closes the files of a thread that has ended.
    pub(super) fn forget(&mut self, thread: c_int) {
        self.shown.remove(&thread);
    }

    /// How each thread sleeps, `None` for one that has ended; nothing if one of them does not sleep.
    fn look(&mut self, threads: &[Option<c_int>]) -> Option<Vec<Option<Asleep>>> {
        let mut all = Vec::with_capacity(threads.len());
        for &thread in threads {
            let thread = thread?;
            all.push(match self.open(thread).map_or(Look::Ended, Shown::look) {
                Look::Runs => return None,
                Look::Sleeps(asleep) => Some(asleep),
                Look::Ended => {
                    self.shown.remove(&thread);
                    None
                }
            });
        }
        Some(all)
    }
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

    use super::{Asleep, Files, Look, Shown, Sleepers, number_of_this_thread, of_call, of_status, waits_for_thread};

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
    fn what_cannot_be_read_is_neither_running_for_ever_nor_ended() {
        let asleep = |times| Look::Sleeps(Asleep { times, is_for_thread: false });
        let read = "0 0x3 0x7ffc 0x100 0x0 0x0 0x0 0x7ffd 0x7f83\n";
        assert_eq!(of_call("running\n", "7 (a) R 1 2\n", "1 2 3\n"), Look::Runs);
        assert_eq!(of_call(read, "7 (a) b (c)) S 1 2\n", "11 22 33\n"), asleep(33));
        assert_eq!(of_call(read, "7 (S) R 1 2\n", "11 22 33\n"), Look::Runs, "woken by another processor");
        assert_eq!(of_call("-1 0x0 0x0\n", "7 (a) Z 1 2\n", "11 22 33\n"), Look::Ended, "the first of other threads");
        assert_eq!(of_call("-1 0x7ffd 0x7f83\n", "7 (a) D 1 2\n", "11 22 33\n"), Look::Runs, "waits for memory");
        assert_eq!(of_call(read, "7 (a) S 1 2\n", "\n"), asleep(0), "without statistics of the scheduler");
        let status =
            |state| format!("Name:\ta\nState:\t{state}\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\n");
        assert_eq!(of_status(&status("S (sleeping)")), asleep(7));
        assert_eq!(of_status(&status("R (running)")), Look::Runs);
        assert_eq!(of_status(&status("Z (zombie)")), Look::Ended);
        let unseen = Shown { files: Files::Unseen, before: None, sleeps: None };
        assert_eq!(unseen.look(), asleep(0));
        assert!(Shown::open(i32::MAX).is_none(), "no such thread");
        // The real files of this thread, which runs.
        let thread = number_of_this_thread();
        let status = std::fs::File::open(format!("/proc/self/task/{thread}/status")).unwrap();
        assert_eq!(Shown { files: Files::Status(status), before: None, sleeps: None }.look(), Look::Runs);
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
            while !sleepers.are_still(&[], &[Some(thread)]) {
                assert!(begin.elapsed() < Duration::from_secs(60));
            }
            assert!(!sleepers.are_still(&[], &[Some(number_of_this_thread())]), "this thread looks");
            assert!(!sleepers.are_still(&[number_of_this_thread()], &[Some(thread)]), "one of this library runs");
            assert!(!sleepers.are_still(&[], &[None]), "a thread that is about to begin");
            drop(held);
        });
    }
}
