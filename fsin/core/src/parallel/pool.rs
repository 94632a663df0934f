//! A pool of threads with minimal hand-over latency, which gives way to other programs.
//!
//! Threads poll for as long as a hand-over takes on cores of their own. When other programs use the cores, a worker
//! may not run for milliseconds. Then the caller does jobs itself that no worker has begun, sleeps while it waits for
//! one that a worker has begun, and does without its workers for some time, in proportion to the time lost. What is
//! computed does not depend on who does a job.
//!
//! Decisions: docs/decisions/0095-threads.md, docs/decisions/0283-threads-that-give-way.md.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

/// Number of polls before a thread yields the processor for the first time. A cycle of a large network takes some ten
/// microseconds; a poll takes some nanoseconds.
const POLLS: u32 = 4_000;
/// Number of yields before the caller sleeps.
const YIELDS: u32 = 50;
/// Number of yields before a worker sleeps: about a hundred microseconds on a core of its own.
const YIELDS_OF_WORKER: u32 = 200;
/// Number of polls for a worker to begin its job, before the caller does it.
const POLLS_TO_BEGIN: u32 = 400;
/// The caller works alone for this many times the time that was lost in waiting: a sixteenth is lost at most.
const REST: u32 = 16;
/// Time lost when a worker does not begin its job: it may be woken in vain, and poll on the core of another thread.
const VAIN: Duration = Duration::from_micros(100);
/// Time that a worker is given to wake up before it is given a job.
const WAKING: Duration = Duration::from_micros(50);
/// A rest is at most this many times as long as the time lost, if rest follows on rest.
const LONGEST_REST: u32 = 32 * REST;

/// State of a desk: no job. The states are in their order.
const FREE: u8 = 0;
/// State of a desk: a job has been given.
const WORK: u8 = 1;
/// State of a desk: the first stage of the job is done.
const BEGUN: u8 = 2;
/// State of a desk: the whole job is done.
const DONE: u8 = 3;
/// State of a desk: the worker shall end.
const QUIT: u8 = 4;
/// State of a desk: the worker has ended.
const FAILED: u8 = 5;
/// Flag added to another state: the worker sleeps and must be woken when the state changes.
const ASLEEP: u8 = 1 << 7;
/// Flag added to another state: the caller sleeps and must be woken when the state changes.
const AWAITED: u8 = 1 << 6;

/// A value on cache lines of its own (two, since some processors fetch pairs), so that polling it does not slow down
/// accesses to its neighbours in memory.
#[repr(align(128))]
struct Padded<T>(T);

/// The two stages of a job.
pub struct Work<T, R> {
    /// The first stage. The caller awaits its result while the second stage is being done.
    pub begin: fn(&mut T) -> R,
    /// The second stage.
    pub end: fn(&mut T),
}

/// The slot in which a worker finds its job and leaves it when done.
struct Desk<T, R> {
    /// One of the states above, perhaps with flags.
    state: Padded<AtomicU8>,
    /// The job, before a thread takes it and after it has been done.
    job: Padded<Mutex<Option<Box<T>>>>,
    /// Result of the first stage.
    result: Padded<Mutex<Option<R>>>,
    /// The caller's thread, to be woken.
    caller: Mutex<Option<Thread>>,
}

/// Locks a mutex, whether or not a thread has panicked while it held the lock.
fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T, R> Desk<T, R> {
    const fn new() -> Self {
        Self {
            state: Padded(AtomicU8::new(FREE)),
            job: Padded(Mutex::new(None)),
            result: Padded(Mutex::new(None)),
            caller: Mutex::new(None),
        }
    }

    /// The state with its flags.
    fn state(&self) -> u8 {
        self.state.0.load(Ordering::Acquire)
    }

    /// Sets the state, wakes the caller if it sleeps, and returns the previous state with its flags.
    fn swap_state(&self, state: u8) -> u8 {
        let before = self.state.0.swap(state, Ordering::AcqRel);
        self.wake_caller(before);
        before
    }

    /// Wakes the caller if this previous state says that it sleeps.
    fn wake_caller(&self, before: u8) {
        if before & AWAITED != 0
            && let Some(caller) = lock(&self.caller).take()
        {
            caller.unpark();
        }
    }

    /// Adds a flag to the state if it is still `state`. Returns whether its owner may sleep.
    fn try_fall_asleep(&self, state: u8, flag: u8) -> bool {
        self.state.0.compare_exchange(state, state | flag, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Changes the worker's state from `from` to `to`, and wakes the caller if it sleeps. A request to quit that came
    /// meanwhile stands.
    fn advance_state(&self, from: u8, to: u8) {
        let change = |state: u8| (state & !AWAITED == from).then_some(to);
        if let Ok(before) = self.state.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, change) {
            self.wake_caller(before);
        }
    }

    /// Leaves a job for the worker, and returns the previous state with its flags.
    fn put(&self, job: Box<T>) -> u8 {
        let mut place = lock(&self.job.0);
        *place = Some(job);
        self.swap_state(WORK)
    }

    /// Takes a job that no thread has begun: for the worker, without a change of state, or back for the caller.
    fn take(&self, for_caller: bool) -> Option<Box<T>> {
        // The state and the job change together.
        let mut place = lock(&self.job.0);
        let job = if self.state() & !AWAITED == WORK { place.take() } else { None };
        if for_caller && job.is_some() {
            self.advance_state(WORK, FREE);
        }
        job
    }

    /// Waits until the worker is in state `least` or a later one. Returns the time for which this took longer than
    /// polling.
    ///
    /// # Panics
    /// When the worker panicked.
    fn wait_for(&self, least: u8) -> Duration {
        let mut polls = 0u32;
        let mut since = None;
        loop {
            let state = self.state();
            match state & !(ASLEEP | AWAITED) {
                FAILED => panic!("a thread of the simulation has failed; its message stands above"),
                now if now >= least => return since.map_or(Duration::ZERO, |since: Instant| since.elapsed()),
                _ => polls += 1,
            }
            if polls < POLLS {
                std::hint::spin_loop();
                continue;
            }
            since.get_or_insert_with(Instant::now);
            if polls < POLLS + YIELDS {
                thread::yield_now();
                continue;
            }
            if state & AWAITED == 0 {
                *lock(&self.caller) = Some(thread::current());
            }
            if state & AWAITED != 0 || self.try_fall_asleep(state, AWAITED) {
                thread::park();
            }
        }
    }
}

/// Sets the state [`FAILED`] when it is dropped: the worker ends, whatever the reason.
struct FailureMark<T, R>(Arc<Desk<T, R>>);

impl<T, R> Drop for FailureMark<T, R> {
    fn drop(&mut self) {
        self.0.swap_state(FAILED);
    }
}

/// A thread and the slot in which it finds its jobs.
struct Worker<T, R> {
    /// The slot in which the thread finds its jobs.
    desk: Arc<Desk<T, R>>,
    /// The thread, to be woken.
    thread: Thread,
    /// The thread, to be joined; `None` after that.
    handle: Option<JoinHandle<()>>,
    /// A job that the caller has taken back, between its two stages.
    taken_back: Option<Box<T>>,
}

impl<T, R> Worker<T, R> {
    /// Wakes the worker if it sleeps, so that it polls for a job.
    fn wake(&self) {
        if self.desk.state.0.fetch_and(!ASLEEP, Ordering::AcqRel) & ASLEEP != 0 {
            self.thread.unpark();
        }
    }
}

/// Threads that each do one job of a kind at a time.
pub struct Pool<T: Send + 'static, R: Send + 'static> {
    workers: Vec<Worker<T, R>>,
    work: Work<T, R>,
    /// When the present jobs were given.
    given: Instant,
    /// Until then the caller does without its workers.
    rests_until: Option<Instant>,
    /// True while workers are being woken at the end of a rest.
    wakes: bool,
    /// The length of the next rest, in times of what is lost.
    rest: u32,
    /// If threads run until then, the next rest is a short one.
    doubts_until: Instant,
}

impl<T: Send + 'static, R: Send + 'static> std::fmt::Debug for Pool<T, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("workers", &self.workers.len()).finish()
    }
}

impl<T: Send + 'static, R: Send + 'static> Pool<T, R> {
    /// `count` threads that run `work` on the jobs they are given; fewer, if the system does not provide that many.
    #[must_use]
    pub fn new(count: usize, work: Work<T, R>) -> Self {
        let Work { begin, end } = work;
        let workers = (0..count).map_while(|index| {
            let desk = Arc::new(Desk::new());
            let watched = FailureMark(Arc::clone(&desk));
            let thread = thread::Builder::new().name(format!("part {}", index + 1));
            let handle = thread.spawn(move || serve(&watched, &Work { begin, end })).ok()?;
            Some(Worker { desk, thread: handle.thread().clone(), handle: Some(handle), taken_back: None })
        });
        let workers = workers.collect();
        let now = Instant::now();
        // The threads have to start.
        let rests_until = Some(now + WAKING);
        Self { workers, work: Work { begin, end }, given: now, rests_until, wakes: true, rest: REST, doubts_until: now }
    }

    /// True if the threads may be expected to run now. False for some time after one of them did not.
    pub fn is_ready(&mut self) -> bool {
        let now = Instant::now();
        if let Some(until) = self.rests_until {
            if now < until {
                return false;
            }
            if !self.wakes {
                self.workers.iter().for_each(|worker| worker.wake());
                (self.rests_until, self.wakes) = (Some(now + WAKING), true);
                return false;
            }
            (self.rests_until, self.wakes) = (None, false);
        }
        if self.rest > REST && now > self.doubts_until {
            self.rest = REST;
        }
        self.given = now;
        true
    }

    /// Does without the threads for a time in proportion to what was lost by waiting for one: what the wait took beyond
    /// the time in which the caller would have done all jobs itself.
    fn rest_after(&mut self, waited: Duration) {
        if !waited.is_zero() {
            let own = self.given.elapsed().saturating_sub(waited);
            self.rest_for(waited.saturating_sub(own * self.workers.len() as u32));
        }
    }

    /// Does without the threads for a time in proportion to what was lost; a longer one if the last rest was no use.
    fn rest_for(&mut self, lost: Duration) {
        if !lost.is_zero() && self.rests_until.is_none() {
            let until = Instant::now() + lost * self.rest;
            self.rests_until = Some(until);
            self.doubts_until = until + lost * self.rest;
            self.rest = (2 * self.rest).min(LONGEST_REST);
        }
    }

    /// Number of threads.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.workers.len()
    }

    /// True without threads.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    /// Gives worker `index` a job. The worker must be free.
    pub fn give(&mut self, index: usize, job: Box<T>) {
        let Worker { desk, thread, .. } = &self.workers[index];
        if desk.put(job) & ASLEEP != 0 {
            thread.unpark();
        }
    }

    /// Takes back the job of worker `index` that the worker has not begun, and does not begin in a moment.
    fn take_back(&mut self, index: usize) -> Option<Box<T>> {
        let desk = &self.workers[index].desk;
        for _ in 0..POLLS_TO_BEGIN {
            if desk.state() != WORK {
                break;
            }
            std::hint::spin_loop();
        }
        let job = desk.take(true)?;
        self.rest_for(VAIN);
        Some(job)
    }

    /// Waits for the first stage of worker `index`'s job and takes its result, once for each job. Does the stage itself
    /// if the worker has not begun.
    ///
    /// # Panics
    /// When the worker panicked.
    pub fn begun(&mut self, index: usize) -> R {
        if let Some(mut job) = self.take_back(index) {
            let result = (self.work.begin)(&mut job);
            self.workers[index].taken_back = Some(job);
            return result;
        }
        let desk = &self.workers[index].desk;
        let waited = desk.wait_for(BEGUN);
        let result = lock(&desk.result.0).take().expect("a worker leaves what it has found on its desk");
        self.rest_after(waited);
        result
    }

    /// Waits until worker `index` has done its job, and takes the job back. Does the job itself if the worker has not
    /// begun.
    ///
    /// # Panics
    /// When the worker panicked.
    pub fn fetch(&mut self, index: usize) -> Box<T> {
        if let Some(mut job) = self.workers[index].taken_back.take() {
            (self.work.end)(&mut job);
            return job;
        }
        if let Some(mut job) = self.take_back(index) {
            (self.work.begin)(&mut job);
            (self.work.end)(&mut job);
            return job;
        }
        let desk = &self.workers[index].desk;
        let waited = desk.wait_for(DONE);
        let job = lock(&desk.job.0).take().expect("a worker leaves its job on its desk");
        self.rest_after(waited);
        job
    }
}

impl<T: Send + 'static, R: Send + 'static> Drop for Pool<T, R> {
    fn drop(&mut self) {
        for worker in &self.workers {
            if worker.desk.swap_state(QUIT) & ASLEEP != 0 {
                worker.thread.unpark();
            }
        }
        for worker in &mut self.workers {
            if let Some(handle) = worker.handle.take() {
                // A worker's failure has been reported by `fetch`.
                let _ = handle.join();
            }
        }
    }
}

/// The main loop of a worker.
fn serve<T, R>(watched: &FailureMark<T, R>, work: &Work<T, R>) {
    let desk = &watched.0;
    let mut polls = 0u32;
    loop {
        match desk.state() {
            QUIT => return,
            state if state & !AWAITED == WORK => {
                polls = 0;
                // Without a job, the caller has taken it back.
                let Some(mut job) = desk.take(false) else { continue };
                *lock(&desk.result.0) = Some((work.begin)(&mut job));
                desk.advance_state(WORK, BEGUN);
                (work.end)(&mut job);
                *lock(&desk.job.0) = Some(job);
                desk.advance_state(BEGUN, DONE);
            }
            state => {
                polls += 1;
                if polls < POLLS {
                    std::hint::spin_loop();
                } else if polls < POLLS + YIELDS_OF_WORKER {
                    thread::yield_now();
                } else if state & ASLEEP != 0 || desk.try_fall_asleep(state, ASLEEP) {
                    thread::park();
                    if desk.state() & ASLEEP == 0 {
                        // Woken: a job is there or about to come.
                        polls = 0;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_done_and_come_back() {
        let begin = |value: &mut u64| {
            *value += 1;
            *value * 2
        };
        let mut pool = Pool::new(3, Work { begin, end: |value| *value += 1 });
        assert_eq!(pool.len(), 3);
        let mut values: Vec<Option<Box<u64>>> = (0..3).map(|value| Some(Box::new(value))).collect();
        for round in 1..=2_000 {
            for (index, value) in values.iter_mut().enumerate() {
                pool.give(index, value.take().unwrap());
            }
            for (index, value) in values.iter_mut().enumerate() {
                let before = index as u64 + 2 * (round - 1);
                if round % 3 > 0 {
                    assert_eq!(pool.begun(index), 2 * (before + 1));
                }
                let back = pool.fetch(index);
                assert_eq!(*back, before + 2);
                *value = Some(back);
            }
            if round % 500 == 0 {
                // Long enough for the workers to fall asleep.
                thread::sleep(std::time::Duration::from_millis(5));
            }
        }
    }

    #[test]
    fn a_pool_may_go_while_its_workers_work() {
        let (begun, begins) = std::sync::mpsc::channel();
        fn work(begun: &mut std::sync::mpsc::Sender<()>) {
            begun.send(()).unwrap();
            thread::sleep(std::time::Duration::from_millis(20));
        }
        let mut pool = Pool::new(2, Work { begin: work, end: work });
        pool.give(0, Box::new(begun.clone()));
        pool.give(1, Box::new(begun));
        begins.recv().unwrap();
        pool.begun(1);
        // Hangs if a worker does not notice: one waits at the beginning of a job, the other at its end.
        drop(pool);
    }

    /// True in a thread of a pool.
    fn is_worker() -> bool {
        thread::current().name().is_some_and(|name| name.starts_with("part "))
    }

    /// Gives jobs until a worker does one: the caller does those that no worker begins in time.
    fn until_a_worker_fails(work: Work<(), ()>) {
        let mut pool = Pool::new(1, work);
        loop {
            pool.give(0, Box::new(()));
            pool.begun(0);
            pool.fetch(0);
        }
    }

    #[test]
    #[should_panic(expected = "a thread of the simulation has failed")]
    fn a_worker_that_fails_at_once_is_noticed() {
        until_a_worker_fails(Work { begin: |()| assert!(!is_worker(), "expected"), end: |()| {} });
    }

    #[test]
    #[should_panic(expected = "a thread of the simulation has failed")]
    fn a_worker_that_fails_later_is_noticed() {
        until_a_worker_fails(Work { begin: |()| (), end: |()| assert!(!is_worker(), "expected") });
    }

    /// Both stages tell whether a worker did them.
    fn who() -> Work<bool, bool> {
        Work { begin: |_: &mut bool| is_worker(), end: |by| *by = is_worker() }
    }

    /// Has a job done, of which the first stage is awaited or not. True if a worker did it: one thread does both
    /// stages.
    fn one_job(pool: &mut Pool<bool, bool>, awaits: bool) -> bool {
        let begun_by_worker = awaits.then(|| pool.begun(0));
        let by_worker = *pool.fetch(0);
        assert_eq!(by_worker, begun_by_worker.unwrap_or(by_worker));
        by_worker
    }

    #[test]
    fn jobs_that_no_worker_begins_are_done_by_the_caller() {
        let mut pool = Pool::new(0, who());
        // A desk at which no thread looks, as if other programs had its core for ever.
        let desk = Arc::new(Desk::new());
        pool.workers.push(Worker { desk, thread: thread::current(), handle: None, taken_back: None });
        for round in 0..100 {
            pool.give(0, Box::new(true));
            assert!(!one_job(&mut pool, round % 2 > 0));
        }
    }

    #[test]
    fn jobs_that_a_worker_begins_are_done_by_it() {
        let mut pool = Pool::new(1, who());
        for round in 0..100 {
            pool.give(0, Box::new(false));
            // However long that takes.
            while pool.workers[0].desk.state() & !(ASLEEP | AWAITED) < BEGUN {
                thread::sleep(Duration::from_micros(50));
            }
            assert!(one_job(&mut pool, round % 2 > 0));
        }
    }

    #[test]
    fn a_job_is_done_once_whoever_is_first() {
        let mut pool = Pool::new(1, who());
        for round in 0..1_000 {
            pool.give(0, Box::new(false));
            if round % 3 == 0 {
                thread::yield_now();
            }
            one_job(&mut pool, round % 2 > 0);
        }
    }

    #[test]
    fn what_is_lost_by_waiting_is_followed_by_a_rest() {
        let mut pool = Pool::new(2, Work { begin: |()| (), end: |()| {} });
        let ago = |seconds| Instant::now() - Duration::from_secs(seconds);
        (pool.rests_until, pool.wakes) = (None, false);
        // Two workers, whose jobs would have taken the caller 200 s.
        pool.given = ago(290);
        pool.rest_after(Duration::from_secs(190));
        assert!(pool.is_ready(), "the wait was shorter than the work");
        for times in [REST, 2 * REST] {
            pool.given = ago(1_000);
            pool.rest_after(Duration::from_secs(900));
            let rest = pool.rests_until.expect("the wait was longer").saturating_duration_since(Instant::now());
            assert_eq!(rest.as_secs_f64().round(), f64::from(times) * 700.0);
            assert!(!pool.is_ready());
            pool.rests_until = None;
        }
        // Once the threads have run for as long as the rest was, they are trusted again.
        pool.doubts_until = ago(1);
        assert!(pool.is_ready());
        assert_eq!(pool.rest, REST);
    }
}
