//! Threads of the program: whose turn it is to execute the library.
//!
//! One thread has the turn at a time. A thread in a call that cannot go on gives it away (`World::give_way`) and waits until
//! it gets it again, so that calls of other threads are carried out meanwhile.
//!
//! With `MPI_THREAD_MULTIPLE` and several threads a turn is given only when every thread of the process waits: in the
//! library, or asleep for another thread (`still`). Turns then go round the threads that can go on, in the order of their
//! creation. Only when none can, virtual time passes: a waiting thread fetches the next event. So the order of calls, and
//! with it every message, does not depend on the scheduler of the host.
//!
//! Calls that only read or make objects of the program ([`is_local`]) need no turn: no order of theirs can be seen in a message
//! or in virtual time.
//!
//! A thread that polls what another one changes never waits. After a limit the others go on without it, which is said, since
//! the order of calls then depends on the host.
//!
//! What the library cannot see is the program's: which thread gets a lock of the program first, and threads that sleep
//! for something other than a thread (a file, a socket, the time of the host), which are given a moment to go on.
//!
//! Decisions: docs/decisions/0271-threads-of-ranks.md, docs/decisions/0361-threads-that-poll.md.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::host;
use crate::state;
use crate::world::World;

mod births;
mod local;
mod own;
mod still;

pub(crate) use local::is_local;
pub(crate) use own::start;

use still::Sleepers;

/// Levels of thread support as `mpi.h` numbers them: calls of one thread, of one at a time, of several at once.
pub(crate) const FUNNELED: c_int = 1;
pub(crate) const SERIALIZED: c_int = 2;
pub(crate) const MULTIPLE: c_int = 3;

/// Shortest and longest pause of the thread that checks whether all others are still.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(1);
/// Pause of the threads that do not check. It ends when they get the turn.
const IDLE: Duration = Duration::from_millis(200);
/// How long waiting threads wait for one that runs, unless the launcher says otherwise. Then they go on without it.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same from the second time on: a thread that polls what another one changes does so again and again.
const IMPATIENCE: Duration = Duration::from_millis(2);
/// The first number of threads whose creation has not been noticed.
const UNNOTICED: u32 = 1 << 30;
/// The number of a thread that has ended but for its last functions, and of the thread of `ahead`.
const ENDING: u32 = UNNOTICED - 1;
const AHEAD: u32 = UNNOTICED - 2;

/// Why a thread in the library waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// Its call begins.
    Begin,
    /// An event must come first.
    Event,
    /// Virtual time must reach this \[ps\].
    Until(u64),
}

/// What a thread does with its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// It goes on, if that for which it has waited has come.
    Go,
    /// No thread can go on: it fetches the next event, up to this time \[ps\] at which a thread goes on by itself.
    Fetch(Option<u64>),
}

/// A thread in the library that waits for its turn.
struct Waiting {
    wait: Wait,
    /// True if it may go on, as far as is known.
    can_go: bool,
    thread: Thread,
    /// Its turn, once it has it.
    turn: Option<Turn>,
}

/// The threads of the process, by number, and whose turn it is.
struct Turns {
    /// The thread that executes the library.
    running: Option<u32>,
    waiting: BTreeMap<u32, Waiting>,
    /// All threads that are known, with their numbers for the system, once they have begun.
    alive: BTreeMap<u32, Option<i32>>,
    /// Threads that are about to end, by their numbers for the system: one that waits for their end still sleeps.
    ending: Vec<i32>,
    /// Threads of this library, by their numbers for the system.
    own: Vec<i32>,
    /// The thread that had the last turn.
    last: u32,
    /// The number of the next thread that is created.
    next: u32,
    /// The number of the next thread of whose creation nothing is known.
    unnoticed: u32,
    /// The level of thread support that the program has got.
    level: c_int,
    sleepers: Sleepers,
    /// Number of functions of the program that the library has called and that have not returned.
    lent: u32,
    /// How long waiting threads wait for one that runs.
    patience: Duration,
    /// True once they have gone on without one, and the user has been told.
    has_gone_on: bool,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns {
    running: None,
    waiting: BTreeMap::new(),
    alive: BTreeMap::new(),
    ending: Vec::new(),
    own: Vec::new(),
    last: 0,
    next: 1,
    unnoticed: UNNOTICED,
    level: FUNNELED,
    sleepers: Sleepers::new(),
    lent: 0,
    patience: PATIENCE,
    has_gone_on: false,
});

/// True if calls of several threads may be under way at once.
static ARE_SEVERAL: AtomicBool = AtomicBool::new(false);
/// Number of threads that are about to lock [`TURNS`]: they may sleep, and are in the library.
static ARRIVING: AtomicUsize = AtomicUsize::new(0);

/// Removes a thread from those that are alive when it is about to end.
struct Presence(Cell<Option<u32>>);

impl Drop for Presence {
    fn drop(&mut self) {
        if let Some(number) = self.0.get() {
            let mut turns = lock();
            turns.remove(number);
            // The process exits during a call: functions of the program that run at the exit call as this thread.
            if turns.running == Some(number) {
                turns.running = Some(ENDING);
            }
        }
    }
}

thread_local! {
    /// The number of this thread.
    static PRESENCE: Presence = const { Presence(Cell::new(None)) };
    /// \[ps\] Virtual time at which this thread has left the library, or was created.
    static SINCE: Cell<u64> = const { Cell::new(0) };
}

/// \[ps\] Virtual time at which this thread has left the library, has spent time, or was created.
pub(crate) fn since() -> u64 {
    SINCE.get()
}

/// Sets what [`since`] returns.
pub(crate) fn set_since(time: u64) {
    SINCE.set(time);
}

fn lock() -> MutexGuard<'static, Turns> {
    ARRIVING.fetch_add(1, Ordering::SeqCst);
    let turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
    ARRIVING.fetch_sub(1, Ordering::SeqCst);
    turns
}

impl Turns {
    /// Counts threads and the level again, after one of them has changed.
    fn count(&self) {
        ARE_SEVERAL.store(self.level == MULTIPLE && self.alive.len() > 1, Ordering::SeqCst);
    }

    /// Adds a thread, or its number for the system, which another one may have had.
    fn add(&mut self, number: u32, system: Option<i32>) {
        if let Some(system) = system {
            self.sleepers.forget(system);
            self.ending.retain(|&other| other != system);
            self.own.retain(|&other| other != system);
        }
        self.alive.insert(number, system);
        self.count();
    }

    /// Removes a thread that makes no more calls.
    fn remove(&mut self, number: u32) {
        self.ending.extend(self.alive.remove(&number).flatten());
        self.count();
    }

    /// True if no thread executes anything: each waits in the library, or sleeps.
    fn is_still(&mut self) -> bool {
        self.ending.retain(|&system| {
            let is_shown = self.sleepers.shows(system);
            if !is_shown {
                self.sleepers.forget(system);
            }
            is_shown
        });
        let ending = self.ending.iter().map(|&system| Some(system));
        let alive = self.alive.iter().filter(|(number, _)| !self.waiting.contains_key(number));
        let outside: Vec<Option<i32>> = ending.chain(alive.map(|(_, &system)| system)).collect();
        outside.is_empty() || self.sleepers.are_still(&self.own, &outside) && ARRIVING.load(Ordering::SeqCst) == 0
    }

    /// Gives the turn to a waiting thread, unless another one has it, or a thread is outside and may call. `goes_on` if the
    /// latter has lasted for too long.
    fn give(&mut self, goes_on: bool) {
        if self.running.is_some() || self.waiting.is_empty() || are_several() && !goes_on && !self.is_still() {
            return;
        }
        let can_go = |(number, waiting): (&u32, &Waiting)| waiting.can_go.then_some(*number);
        let later = self.waiting.range(self.last.saturating_add(1)..).find_map(can_go);
        let chosen = later.or_else(|| self.waiting.iter().find_map(can_go));
        let (number, turn) = match (chosen, self.waiting.keys().next()) {
            (Some(number), _) => (number, Turn::Go),
            (None, Some(&first)) => {
                let times = self.waiting.values().filter_map(|waiting| match waiting.wait {
                    Wait::Until(time) => Some(time),
                    _ => None,
                });
                (first, Turn::Fetch(times.min()))
            }
            (None, None) => return,
        };
        (self.running, self.last) = (Some(number), number);
        if let Some(waiting) = self.waiting.get_mut(&number) {
            waiting.turn = Some(turn);
            waiting.thread.unpark();
        }
    }

    /// Wakes the thread that checks whether all others are still.
    fn wake_first(&self) {
        if let Some(waiting) = self.waiting.values().next() {
            waiting.thread.unpark();
        }
    }
}

/// Waits for the turn.
fn wait(mut turns: MutexGuard<'_, Turns>, number: u32, wait: Wait, calling: &str) -> Turn {
    let can_go = wait == Wait::Begin;
    // The last functions of a thread call, too.
    let ends = (number == ENDING).then(still::number_of_this_thread);
    turns.ending.retain(|&system| Some(system) != ends);
    turns.waiting.insert(number, Waiting { wait, can_go, thread: thread::current(), turn: None });
    let (since, mut pause) = (Instant::now(), SHORTEST);
    let mut goes_on = false;
    loop {
        turns.give(goes_on);
        let turn = turns.waiting.get(&number).and_then(|waiting| waiting.turn);
        if let Some(turn) = turn {
            turns.waiting.remove(&number);
            turns.ending.extend(ends);
            return turn;
        }
        let checks = turns.running.is_none() && turns.waiting.keys().next() == Some(&number);
        goes_on = checks && since.elapsed() > if turns.has_gone_on { IMPATIENCE } else { turns.patience };
        if goes_on && !std::mem::replace(&mut turns.has_gone_on, true) {
            host::say(&format!(
                "{calling} has waited for {} s until the other threads of this process have made their calls, and one of them runs \
                 on: from now on calls go on without it, and the run need not repeat. A thread that waits for another one should \
                 sleep, not poll; if it computes, give it more time with --thread-limit",
                turns.patience.as_secs_f64()
            ));
        }
        drop(turns);
        thread::park_timeout(if checks { pause } else { IDLE });
        pause = (pause * 2).min(LONGEST);
        turns = lock();
    }
}

/// The number of this thread.
fn number(turns: &mut Turns) -> u32 {
    let known = PRESENCE.try_with(|presence| presence.0.get()).unwrap_or(Some(ENDING));
    known.unwrap_or_else(|| {
        // The thread with which the process has begun, or one that was made past the C library.
        let system = still::number_of_this_thread();
        let is_first = system == std::process::id().cast_signed();
        let number = if is_first { 0 } else { turns.unnoticed };
        turns.unnoticed += u32::from(!is_first);
        turns.add(number, Some(system));
        let _ = PRESENCE.try_with(|presence| presence.0.set(Some(number)));
        number
    })
}

/// The turn of a thread that executes the library.
#[must_use = "no other thread can call until it has ended"]
pub(crate) struct Held {
    number: u32,
    /// True if nothing can have changed for other threads.
    is_local: bool,
    /// True if the thread had the turn before: its process is about to exit, and functions of the program call.
    is_kept: bool,
}

impl Held {
    const fn of(number: u32) -> Self {
        Self { number, is_local: false, is_kept: false }
    }

    /// The number of the thread.
    pub(crate) const fn number(&self) -> u32 {
        self.number
    }
}

/// Waits until this thread may execute the library, for the call with this name.
pub(crate) fn enter(calling: &'static str) -> Held {
    let mut turns = lock();
    let number = number(&mut turns);
    if turns.running == Some(number) {
        return Held { is_kept: true, ..Held::of(number) };
    }
    if turns.running.is_none() && !are_several() && turns.waiting.is_empty() {
        (turns.running, turns.last) = (Some(number), number);
    } else {
        wait(turns, number, Wait::Begin, calling);
    }
    Held::of(number)
}

/// Enters the library for a call that [`is_local`], as soon as no thread executes it. Whether other threads are still does not
/// matter, nor whose turn is next.
pub(crate) fn enter_local() -> Held {
    let mut turns = lock();
    let number = number(&mut turns);
    if turns.running == Some(number) {
        return Held { is_kept: true, ..Held::of(number) };
    }
    take(turns, number);
    Held { is_local: true, ..Held::of(number) }
}

/// Takes the turn as soon as no thread has it.
fn take(mut turns: MutexGuard<'_, Turns>, number: u32) {
    while turns.running.is_some() {
        drop(turns);
        thread::park_timeout(SHORTEST);
        turns = lock();
    }
    turns.running = Some(number);
}

/// Ends the turn of this thread, which leaves the library. Other threads check again whether they can go on.
pub(crate) fn leave(turn: Held) {
    if turn.is_kept {
        return;
    }
    let mut turns = lock();
    turns.running = None;
    if !turn.is_local {
        turns.waiting.values_mut().for_each(|waiting| waiting.can_go |= waiting.wait == Wait::Event);
    }
    turns.wake_first();
}

/// Enters the library, if no thread executes it or waits for it, and there is only one, which is in no call.
pub(crate) fn try_enter() -> Option<Held> {
    let mut turns = lock();
    let is_free = turns.running.is_none() && turns.waiting.is_empty() && turns.lent == 0 && !are_several();
    is_free.then(|| {
        turns.running = Some(AHEAD);
        Held::of(AHEAD)
    })
}

/// Ends the turn of this thread, if it has it, before a function of the program is called, and gives other threads the state. Returns the
/// number of the thread for [`resume`].
pub(crate) fn lend(world: &mut World) -> Option<u32> {
    let number = PRESENCE.try_with(|presence| presence.0.get()).ok().flatten()?;
    let mut turns = lock();
    if turns.running != Some(number) {
        return None;
    }
    state::publish(world);
    set_since(world.now());
    turns.lent += 1;
    drop(turns);
    leave(Held::of(number));
    Some(number)
}

/// Takes the turn again, after a function of the program has returned. Other threads have had turns only if the function has
/// waited for them, so that no order depends on the host.
pub(crate) fn resume(number: u32) {
    let mut turns = lock();
    turns.lent -= 1;
    take(turns, number);
}

/// Gives the turn to other threads, which get the state from here, and waits for the next one. A thread that is alone
/// keeps it.
pub(crate) fn give_way(world: &mut World, reason: Wait, calling: &'static str) -> Turn {
    if !are_several() {
        return Turn::Fetch(None);
    }
    let mut turns = lock();
    let number = number(&mut turns);
    state::publish(world);
    turns.running = None;
    wait(turns, number, reason, calling)
}

/// Called when something has changed for which threads may wait; `now` is virtual time \[ps\].
pub(crate) fn changed(now: u64) {
    if !are_several() {
        return;
    }
    let mut turns = lock();
    for waiting in turns.waiting.values_mut() {
        waiting.can_go |= match waiting.wait {
            Wait::Begin | Wait::Event => true,
            Wait::Until(time) => time <= now,
        };
    }
}

/// True if calls of several threads may be under way at once.
pub(crate) fn are_several() -> bool {
    ARE_SEVERAL.load(Ordering::SeqCst)
}

/// Sets the level of thread support that the program has got.
pub(crate) fn set_level(level: c_int) {
    let mut turns = lock();
    turns.level = level;
    turns.count();
}

/// Sets how long waiting threads wait for one that runs, before they go on without it.
pub(crate) fn set_patience(patience: Duration) {
    lock().patience = patience;
}

/// The level of thread support that the program has got.
pub(crate) fn level() -> c_int {
    lock().level
}
