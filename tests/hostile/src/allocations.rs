//! Counts the memory that a thread takes from the allocator.
//!
//! Libraries in C (zstd, liblzma) take theirs elsewhere and are not counted: their windows are limited by the readers.

#![allow(unsafe_code, reason = "`GlobalAlloc` is an unsafe trait; every call goes unchanged to the system's allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator with a count for each thread.
#[derive(Debug)]
pub struct Counting;

/// What was allocated while something ran.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Usage {
    /// \[bytes\] Held at once, at most, beyond what was held at the beginning.
    pub peak: usize,
    /// \[bytes\] Largest single allocation.
    pub largest: usize,
}

#[derive(Clone, Copy)]
struct Count {
    held: isize,
    peak: isize,
    largest: usize,
}

thread_local! {
    static COUNT: Cell<Count> = const { Cell::new(Count { held: 0, peak: 0, largest: 0 }) };
}

fn note(taken: usize, given: usize) {
    // A thread that is ending has no count any more.
    let _ = COUNT.try_with(|cell| {
        let mut count = cell.get();
        count.held += taken as isize - given as isize;
        count.peak = count.peak.max(count.held);
        count.largest = count.largest.max(taken);
        cell.set(count);
    });
}

// SAFETY: all four pass their arguments unchanged to `System`, which upholds the contract; the count allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, layout.size());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // While it moves, both may be held; the old one is given back afterwards.
        note(size, 0);
        note(0, layout.size());
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `work` on this thread and says what it allocated.
pub fn of<T>(work: impl FnOnce() -> T) -> (T, Usage) {
    let before = COUNT.with(|cell| {
        let mut count = cell.get();
        count.peak = count.held;
        count.largest = 0;
        cell.set(count);
        count.held
    });
    let result = work();
    let after = COUNT.with(Cell::get);
    (result, Usage { peak: (after.peak - before).max(0) as usize, largest: after.largest })
}
