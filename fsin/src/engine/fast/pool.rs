//! Threads that wait for work, with as little delay as threads can have.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};

/// Looks at the state before giving the processor to somebody else, and before going to sleep. A cycle of a large network
/// takes some ten microseconds; a look takes some nanoseconds.
const LOOKS: u32 = 4_000;
const YIELDS: u32 = 200;

/// States of a desk: nothing has been done at it, a job is to be done or being done, it is done, ...
const FREE: u8 = 0;
const WORK: u8 = 1;
const DONE: u8 = 2;
const QUIT: u8 = 3;
const FAILED: u8 = 4;
/// To be added to another: the worker sleeps, and must be woken when that changes.
const ASLEEP: u8 = 1 << 7;

/// On cache lines of its own (of two at a time, as some processors fetch them), so that who watches it does not slow down
/// who uses its neighbours.
#[repr(align(128))]
struct Apart<T>(T);

/// Where a worker finds its job and leaves it when it is done.
struct Desk<T> {
    state: Apart<AtomicU8>,
    job: Apart<Mutex<Option<Box<T>>>>,
}

impl<T> Desk<T> {
    const fn new() -> Self {
        Self { state: Apart(AtomicU8::new(FREE)), job: Apart(Mutex::new(None)) }
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

    /// The worker has done its job; if it has been told to quit meanwhile, that stands.
    fn finishes(&self) {
        let _ = self.state.0.compare_exchange(WORK, DONE, Ordering::AcqRel, Ordering::Acquire);
    }

    fn put(&self, job: Box<T>) {
        *self.job.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
    }

    fn take(&self) -> Option<Box<T>> {
        self.job.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Says so when its worker ends, whatever the reason.
struct Watch<T>(Arc<Desk<T>>);

impl<T> Drop for Watch<T> {
    fn drop(&mut self) {
        self.0.turn(FAILED);
    }
}

struct Worker<T> {
    desk: Arc<Desk<T>>,
    thread: Thread,
    handle: Option<JoinHandle<()>>,
}

/// Threads that each do one job of a kind at a time.
pub(super) struct Pool<T: Send + 'static> {
    workers: Vec<Worker<T>>,
}

impl<T: Send + 'static> std::fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("workers", &self.workers.len()).finish()
    }
}

impl<T: Send + 'static> Pool<T> {
    /// `count` threads that do `work` to what they are given; fewer, if the system does not give more.
    pub(super) fn new(count: usize, work: fn(&mut T)) -> Self {
        let workers = (0..count).map_while(|index| {
            let desk = Arc::new(Desk::new());
            let watched = Watch(Arc::clone(&desk));
            let thread = thread::Builder::new().name(format!("part {}", index + 1));
            let handle = thread.spawn(move || serve(&watched, work)).ok()?;
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
        worker.desk.put(job);
        self.call(worker, WORK);
    }

    /// Waits until worker `index` has done its job, and takes it back.
    ///
    /// # Panics
    /// When the worker panicked.
    pub(super) fn fetch(&self, index: usize) -> Box<T> {
        let desk = &self.workers[index].desk;
        let mut looks = 0u32;
        loop {
            match desk.state() & !ASLEEP {
                DONE => break,
                FAILED => panic!("a thread of the simulation has failed; its message stands above"),
                _ if looks < LOOKS => {
                    looks += 1;
                    std::hint::spin_loop();
                }
                _ => thread::yield_now(),
            }
        }
        desk.take().expect("a worker leaves its job on its desk")
    }

    fn call(&self, worker: &Worker<T>, state: u8) {
        if worker.desk.turn(state) & ASLEEP != 0 {
            worker.thread.unpark();
        }
    }
}

impl<T: Send + 'static> Drop for Pool<T> {
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
fn serve<T>(watched: &Watch<T>, work: fn(&mut T)) {
    let desk = &watched.0;
    let mut looks = 0u32;
    loop {
        match desk.state() {
            QUIT => return,
            WORK => {
                looks = 0;
                let Some(mut job) = desk.take() else { return };
                work(&mut job);
                desk.put(job);
                desk.finishes();
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
        let pool = Pool::new(3, |value: &mut u64| *value += 1);
        assert_eq!(pool.len(), 3);
        let mut values: Vec<Option<Box<u64>>> = (0..3).map(|value| Some(Box::new(value))).collect();
        for round in 1..=2_000 {
            for (index, value) in values.iter_mut().enumerate() {
                pool.give(index, value.take().unwrap());
            }
            for (index, value) in values.iter_mut().enumerate() {
                let back = pool.fetch(index);
                assert_eq!(*back, index as u64 + round);
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
        let pool = Pool::new(2, |begun: &mut std::sync::mpsc::Sender<()>| {
            begun.send(()).unwrap();
            thread::sleep(std::time::Duration::from_millis(20));
        });
        pool.give(0, Box::new(begun));
        begins.recv().unwrap();
        // Hangs, if the worker does not notice.
        drop(pool);
    }

    #[test]
    #[should_panic(expected = "a thread of the simulation has failed")]
    fn a_failed_worker_is_noticed() {
        let pool = Pool::new(1, |value: &mut u64| assert_eq!(*value, 0, "expected by this test"));
        pool.give(0, Box::new(1));
        pool.fetch(0);
    }
}
