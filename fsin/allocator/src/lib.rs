//! The system's allocator, with large blocks on large pages.
//!
//! A run of a large network reads a few lines at random places of some hundred megabytes for each hop. On pages of
//! 4 KiB most of these reads also miss the table of addresses. Linux gives memory larger pages (2 MiB on usual
//! processors) where a program asks for them, by the usual setting of hosts. Elsewhere this is the system's allocator.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: fsin_allocator::LargePages = fsin_allocator::LargePages;
//! # fn main() {}
//! ```
//!
//! Decision: docs/decisions/0680-large-pages.md.

#![allow(unsafe_code, reason = "`GlobalAlloc` is an unsafe trait, and the system is advised by its C interface")]

use std::alloc::{GlobalAlloc, Layout, System};

/// \[bytes\] Blocks of at least this size ask for large pages.
const LARGE: usize = 4 << 20;

/// The system's allocator; blocks of 4 MiB and more ask for large pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct LargePages;

/// Asks for large pages for a block of `size` bytes, where it is large. Returns the block.
#[inline]
fn advised(block: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !block.is_null() {
        advise(block, size);
    }
    block
}

/// Asks for large pages for the whole pages of a block.
#[cfg(target_os = "linux")]
#[cold]
fn advise(block: *mut u8, size: usize) {
    // A multiple of every size that pages have on Linux, so that the address is one of a page.
    const ALIGNMENT: usize = 64 << 10;
    let before = block.align_offset(ALIGNMENT).min(size);
    let length = (size - before) & !(ALIGNMENT - 1);
    // SAFETY: the range lies within a block that the caller owns, and the advice changes no content. A system that
    // refuses it leaves the pages as they are.
    unsafe { libc::madvise(block.wrapping_add(before).cast(), length, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_block: *mut u8, _size: usize) {}

// SAFETY: all four methods pass their arguments unchanged to `System`, which upholds the contract; advice changes no
// content of a block.
unsafe impl GlobalAlloc for LargePages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        advised(unsafe { System.realloc(block, layout, size) }, size)
    }
}
