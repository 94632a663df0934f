//! Where a thread is: in the program or in the library, and whether it is the one that has initialized MPI.

use std::cell::Cell;

/// What a thread executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// The program, outside of calls.
    Program,
    /// The library.
    Library,
    /// A function of the program, which the library has called.
    Function,
}

thread_local! {
    /// True on the thread that has initialized MPI.
    static IS_MAIN: Cell<bool> = const { Cell::new(false) };
    static PLACE: Cell<Place> = const { Cell::new(Place::Program) };
}

/// True on the thread that has initialized MPI.
pub(crate) fn is_main() -> bool {
    IS_MAIN.get()
}

/// Records that this thread has initialized MPI.
pub(crate) fn set_main() {
    IS_MAIN.set(true);
}

/// What this thread executes.
pub(crate) fn place() -> Place {
    PLACE.get()
}

/// True while this thread executes the library, and no function of the program that the library has called: such a function
/// reads virtual time, sleeps and creates threads as the rest of the program does.
pub(crate) fn is_inside() -> bool {
    place() == Place::Library
}

/// Runs `work` in another place.
fn at<T>(place: Place, work: impl FnOnce() -> T) -> T {
    let outer = PLACE.replace(place);
    let result = work();
    PLACE.set(outer);
    result
}

/// Runs `work` as part of the library, to which clocks show the time of the host.
pub(crate) fn inside<T>(work: impl FnOnce() -> T) -> T {
    at(Place::Library, work)
}

/// Runs a function of the program that the library calls.
pub(crate) fn outside<T>(program: impl FnOnce() -> T) -> T {
    at(Place::Function, program)
}
