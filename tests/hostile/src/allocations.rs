//! Counts the memory that a thread takes from the allocator.
//!
//! C libraries (zstd, liblzma) allocate elsewhere and are not counted: the readers limit their windows.

#![allow(unsafe_code, reason = "`GlobalAlloc` is an unsafe trait; every call goes unchanged to the system's allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator with a counter per thread.
#[derive(Debug)]
pub struct Counting;

/// Allocations during a run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Usage {
    /// \[bytes\] Peak of the memory held, beyond that held at the beginning.
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
    // A thread that is ending has no counter any more.
    let _ = COUNT.try_with(|cell| {
        let mut count = cell.get();
        count.held += taken as isize - given as isize;
        count.peak = count.peak.max(count.held);
        count.largest = count.largest.max(taken);
        cell.set(count);
    });
}

// SAFETY: all four methods pass their arguments unchanged to `System`, which upholds the contract; the counter
// allocates nothing.
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
        // During a move both blocks may be held; the old one is freed afterwards.
        note(size, 0);
        note(0, layout.size());
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `work` on this thread and returns its allocations.
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
