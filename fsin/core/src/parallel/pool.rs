//! A pool of threads with minimal hand-over latency.
//!
//! Decision: docs/decisions/0095-threads.md.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

/// Number of polls before a thread yields the processor for the first time. A cycle of a large network takes some ten
/// microseconds; a poll takes some nanoseconds.
const POLLS: u32 = 4_000;
/// Number of yields before a thread sleeps.
const YIELDS: u32 = 200;
/// Longest sleep of the caller, which the worker ends.
const NAP: Duration = Duration::from_millis(1);

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
    /// One of the states above, perhaps with the flag [`ASLEEP`].
    state: Padded<AtomicU8>,
    /// The job, while the worker does not work on it.
    job: Padded<Mutex<Option<Box<T>>>>,
    /// Result of the first stage.
    result: Padded<Mutex<Option<R>>>,
    /// True if the caller sleeps until the worker has got further.
    is_awaited: Padded<AtomicBool>,
    /// The caller, if it sleeps.
    caller: Padded<Mutex<Option<Thread>>>,
}

/// Locks a mutex, whether or not a thread has panicked while it held the lock.
fn lock<T>(place: &Padded<Mutex<T>>) -> MutexGuard<'_, T> {
    place.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T, R> Desk<T, R> {
    const fn new() -> Self {
        Self {
            state: Padded(AtomicU8::new(FREE)),
            job: Padded(Mutex::new(None)),
            result: Padded(Mutex::new(None)),
            is_awaited: Padded(AtomicBool::new(false)),
            caller: Padded(Mutex::new(None)),
        }
    }

    /// The state without the flag [`ASLEEP`].
    fn state(&self) -> u8 {
        self.state.0.load(Ordering::Acquire)
    }

    /// Sets the state, and returns the previous one with its flag.
    fn swap_state(&self, state: u8) -> u8 {
        self.state.0.swap(state, Ordering::AcqRel)
    }

    /// Marks the worker as asleep if the state is still `state`. Returns whether it may sleep.
    fn try_fall_asleep(&self, state: u8) -> bool {
        self.state.0.compare_exchange(state, state | ASLEEP, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Changes the worker's state from `from` to `to`, and wakes the caller if it sleeps. A request to quit that came
    /// meanwhile stands.
    fn advance_state(&self, from: u8, to: u8) {
        let _ = self.state.0.compare_exchange(from, to, Ordering::SeqCst, Ordering::Acquire);
        if self.is_awaited.0.load(Ordering::SeqCst)
            && let Some(caller) = lock(&self.caller).take()
        {
            caller.unpark();
        }
    }

    /// Lets the caller sleep for a while, or until the worker has got further than `state`. Its core is free meanwhile,
    /// and the worker can have it.
    fn nap(&self, state: u8) {
        *lock(&self.caller) = Some(thread::current());
        self.is_awaited.0.store(true, Ordering::SeqCst);
        if self.state.0.load(Ordering::SeqCst) == state {
            thread::park_timeout(NAP);
        }
        self.is_awaited.0.store(false, Ordering::SeqCst);
    }

    /// Waits until the worker is in one of these states.
    ///
    /// # Panics
    /// When the worker panicked.
    fn wait_for(&self, states: &[u8]) {
        let mut polls = 0u32;
        loop {
            let seen = self.state();
            match seen & !ASLEEP {
                FAILED => panic!("a thread of the simulation has failed; its message stands above"),
                state if states.contains(&state) => return,
                _ if polls < POLLS => std::hint::spin_loop(),
                _ if polls < POLLS + YIELDS => thread::yield_now(),
                _ => self.nap(seen),
            }
            polls += 1;
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
}

/// Threads that each do one job of a kind at a time.
pub struct Pool<T: Send + 'static, R: Send + 'static> {
    workers: Vec<Worker<T, R>>,
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
            Some(Worker { desk, thread: handle.thread().clone(), handle: Some(handle) })
        });
        Self { workers: workers.collect() }
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
    pub fn give(&self, index: usize, job: Box<T>) {
        let worker = &self.workers[index];
        *lock(&worker.desk.job) = Some(job);
        self.call(worker, WORK);
    }

    /// Waits for the first stage of worker `index`'s job and takes its result, once for each job.
    ///
    /// # Panics
    /// When the worker panicked.
    pub fn begun(&self, index: usize) -> R {
        let desk = &self.workers[index].desk;
        desk.wait_for(&[BEGUN, DONE]);
        lock(&desk.result).take().expect("a worker leaves what it has found on its desk")
    }

    /// Waits until worker `index` has done its job, and takes the job back.
    ///
    /// # Panics
    /// When the worker panicked.
    pub fn fetch(&self, index: usize) -> Box<T> {
        let desk = &self.workers[index].desk;
        desk.wait_for(&[DONE]);
        lock(&desk.job).take().expect("a worker leaves its job on its desk")
    }

    /// Sets the state of a worker's desk, and wakes the worker if it sleeps.
    fn call(&self, worker: &Worker<T, R>, state: u8) {
        if worker.desk.swap_state(state) & ASLEEP != 0 {
            worker.thread.unpark();
        }
    }
}

impl<T: Send + 'static, R: Send + 'static> Drop for Pool<T, R> {
    fn drop(&mut self) {
        for worker in &self.workers {
            self.call(worker, QUIT);
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
            WORK => {
                polls = 0;
                let Some(mut job) = lock(&desk.job).take() else { return };
                *lock(&desk.result) = Some((work.begin)(&mut job));
                desk.advance_state(WORK, BEGUN);
                (work.end)(&mut job);
                *lock(&desk.job) = Some(job);
                desk.advance_state(BEGUN, DONE);
            }
            state => {
                polls += 1;
                if polls < POLLS {
                    std::hint::spin_loop();
                } else if polls < POLLS + YIELDS {
                    thread::yield_now();
                } else if state & ASLEEP != 0 || desk.try_fall_asleep(state) {
                    thread::park();
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
        let pool = Pool::new(3, Work { begin, end: |value| *value += 1 });
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
        let pool = Pool::new(2, Work { begin: work, end: work });
        pool.give(0, Box::new(begun.clone()));
        pool.give(1, Box::new(begun));
        begins.recv().unwrap();
        pool.begun(1);
        // Hangs if a worker does not notice: one waits at the beginning of a job, the other at its end.
        drop(pool);
    }

    #[test]
    #[should_panic(expected = "a thread of the simulation has failed")]
    fn a_worker_that_fails_at_once_is_noticed() {
        let pool = Pool::new(1, Work { begin: |value: &mut u64| assert_eq!(*value, 0, "expected"), end: |_| {} });
        pool.give(0, Box::new(1));
        pool.begun(0);
    }

    #[test]
    #[should_panic(expected = "a thread of the simulation has failed")]
    fn a_worker_that_fails_later_is_noticed() {
        let pool = Pool::new(1, Work { begin: |_| (), end: |value: &mut u64| assert_eq!(*value, 0, "expected") });
        pool.give(0, Box::new(1));
        pool.fetch(0);
    }
}
