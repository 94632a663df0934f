//! Where a thread is: in the program or in the library, and whether it is the one that has initialized MPI.

use std::cell::Cell;

thread_local! {
    /// True on the thread that has initialized MPI.
    static IS_MAIN: Cell<bool> = const { Cell::new(false) };
    /// Number of nested calls into the library: a function of the program can call the library again.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// True on the thread that has initialized MPI.
pub(crate) fn is_main() -> bool {
    IS_MAIN.get()
}

/// Records that this thread has initialized MPI.
pub(crate) fn set_main() {
    IS_MAIN.set(true);
}

/// True while this thread executes the library.
pub(crate) fn is_inside() -> bool {
    DEPTH.get() > 0
}

/// Runs `work` as part of the library, to which clocks show the time of the host.
pub(crate) fn inside<T>(work: impl FnOnce() -> T) -> T {
    DEPTH.set(DEPTH.get() + 1);
    let result = work();
    DEPTH.set(DEPTH.get() - 1);
    result
}
