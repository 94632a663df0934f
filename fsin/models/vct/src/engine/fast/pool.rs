//! Threads that wait for work, with as little delay as threads can have.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, Thread};

/// Looks at the state before giving the processor to somebody else, and before going to sleep. A cycle of a large
/// network takes some ten microseconds; a look takes some nanoseconds.
const LOOKS: u32 = 4_000;
const YIELDS: u32 = 200;

/// States of a desk: nothing has been done at it, a job is to be begun or being begun, its beginning is done, all of it
/// is, ...
const FREE: u8 = 0;
const WORK: u8 = 1;
const BEGUN: u8 = 2;
const DONE: u8 = 3;
const QUIT: u8 = 4;
const FAILED: u8 = 5;
/// To be added to another: the worker sleeps, and must be woken when that changes.
const ASLEEP: u8 = 1 << 7;

/// On cache lines of its own (of two at a time, as some processors fetch them), so that who watches it does not slow
/// down who uses its neighbours.
#[repr(align(128))]
struct Apart<T>(T);

/// What workers do with each job.
pub(super) struct Work<T, R> {
    /// What somebody waits for, while the rest is being done.
    pub(super) begin: fn(&mut T) -> R,
    pub(super) end: fn(&mut T),
}

/// Where a worker finds its job and leaves it when it is done.
struct Desk<T, R> {
    state: Apart<AtomicU8>,
    job: Apart<Mutex<Option<Box<T>>>>,
    /// What came of the beginning.
    result: Apart<Mutex<Option<R>>>,
}

fn held<T>(place: &Apart<Mutex<T>>) -> MutexGuard<'_, T> {
    place.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T, R> Desk<T, R> {
    const fn new() -> Self {
        Self { state: Apart(AtomicU8::new(FREE)), job: Apart(Mutex::new(None)), result: Apart(Mutex::new(None)) }
    }

    fn state(&self) -> u8 {
        self.state.0.load(Ordering::Acquire)
    }

    /// Returns the state before.
    fn turn(&self, state: u8) -> u8 {
        self.state.0.swap(state, Ordering::AcqRel)
    }

    /// The worker is about to sleep, unless the state is no longer this one. Returns whether it may.
    fn falls_asleep(&self, state: u8) -> bool {
        self.state.0.compare_exchange(state, state | ASLEEP, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The worker has come from one state to the next; if it has been told to quit meanwhile, that stands.
    fn goes_on(&self, from: u8, to: u8) {
        let _ = self.state.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Waits until the worker is in one of these states.
    ///
    /// # Panics
    /// When the worker panicked.
    fn wait_for(&self, states: &[u8]) {
        let mut looks = 0u32;
        loop {
            match self.state() & !ASLEEP {
                FAILED => panic!("a thread of the simulation has failed; its message stands above"),
                state if states.contains(&state) => return,
                _ if looks < LOOKS => {
                    looks += 1;
                    std::hint::spin_loop();
                }
                _ => thread::yield_now(),
            }
        }
    }
}

/// Says so when its worker ends, whatever the reason.
struct Watch<T, R>(Arc<Desk<T, R>>);

impl<T, R> Drop for Watch<T, R> {
    fn drop(&mut self) {
        self.0.turn(FAILED);
    }
}

struct Worker<T, R> {
    desk: Arc<Desk<T, R>>,
    thread: Thread,
    handle: Option<JoinHandle<()>>,
}

/// Threads that each do one job of a kind at a time.
pub(super) struct Pool<T: Send + 'static, R: Send + 'static> {
    workers: Vec<Worker<T, R>>,
}

impl<T: Send + 'static, R: Send + 'static> std::fmt::Debug for Pool<T, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("workers", &self.workers.len()).finish()
    }
}

impl<T: Send + 'static, R: Send + 'static> Pool<T, R> {
    /// `count` threads that do `work` to what they are given; fewer, if the system does not give more.
    pub(super) fn new(count: usize, work: Work<T, R>) -> Self {
        let Work { begin, end } = work;
        let workers = (0..count).map_while(|index| {
            let desk = Arc::new(Desk::new());
            let watched = Watch(Arc::clone(&desk));
            let thread = thread::Builder::new().name(format!("part {}", index + 1));
            let handle = thread.spawn(move || serve(&watched, &Work { begin, end })).ok()?;
            Some(Worker { desk, thread: handle.thread().clone(), handle: Some(handle) })
        });
        Self { workers: workers.collect() }
    }

    /// Threads that there are.
    pub(super) fn len(&self) -> usize {
        self.workers.len()
    }

    /// Gives worker `index` a job. It must have none.
    pub(super) fn give(&self, index: usize, job: Box<T>) {
        let worker = &self.workers[index];
        *held(&worker.desk.job) = Some(job);
        self.call(worker, WORK);
    }

    /// Waits until worker `index` has done the beginning of its job, and takes what came of it, once for each job.
    ///
    /// # Panics
    /// When the worker panicked.
    pub(super) fn begun(&self, index: usize) -> R {
        let desk = &self.workers[index].desk;
        desk.wait_for(&[BEGUN, DONE]);
        held(&desk.result).take().expect("a worker leaves what it has found on its desk")
    }

    /// Waits until worker `index` has done its job, and takes it back.
    ///
    /// # Panics
    /// When the worker panicked.
    pub(super) fn fetch(&self, index: usize) -> Box<T> {
        let desk = &self.workers[index].desk;
        desk.wait_for(&[DONE]);
        held(&desk.job).take().expect("a worker leaves its job on its desk")
    }

    fn call(&self, worker: &Worker<T, R>, state: u8) {
        if worker.desk.turn(state) & ASLEEP != 0 {
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
                // A worker that failed has been reported by `fetch`.
                let _ = handle.join();
            }
        }
    }
}

/// The life of a worker.
fn serve<T, R>(watched: &Watch<T, R>, work: &Work<T, R>) {
    let desk = &watched.0;
    let mut looks = 0u32;
    loop {
        match desk.state() {
            QUIT => return,
            WORK => {
                looks = 0;
                let Some(mut job) = held(&desk.job).take() else { return };
                *held(&desk.result) = Some((work.begin)(&mut job));
                desk.goes_on(WORK, BEGUN);
                (work.end)(&mut job);
                *held(&desk.job) = Some(job);
                desk.goes_on(BEGUN, DONE);
            }
            state => {
                looks += 1;
                if looks < LOOKS {
                    std::hint::spin_loop();
                } else if looks < LOOKS + YIELDS {
                    thread::yield_now();
                } else if state & ASLEEP != 0 || desk.falls_asleep(state) {
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
        // Hangs, if a worker does not notice, the one at its beginning, the other at its end.
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
