//! Functions of the program that the library calls: they find the state that the call has lent.
//!
//! Decision: docs/decisions/0165-state-of-a-rank.md.

use std::cell::Cell;

use crate::inside;
use crate::threads;
use crate::world::World;

thread_local! {
    /// The state while a function of the program runs that a call of this thread has called; otherwise null.
    static LENT: Cell<*mut World> = const { Cell::new(std::ptr::null_mut()) };
}

/// Gives `work` the state that [`World::lend`] has lent on this thread. Returns `None` if none is lent: the call that
/// has the state is in the middle of its work.
pub(crate) fn borrow<T>(work: impl FnOnce(&mut World) -> T) -> Option<T> {
    let lent = LENT.replace(std::ptr::null_mut());
    // SAFETY: the address is that of an exclusive reference whose holder waits in `lend` on this thread. It has just been
    // taken out, so that no other reference is made from it until it is put back below.
    let result = work(unsafe { lent.as_mut() }?);
    LENT.set(lent);
    Some(result)
}

impl World {
    /// Runs a function of the program. It may make calls, which find the state by [`borrow`], and wait for calls of other
    /// threads, which get their turns meanwhile.
    pub(crate) fn lend<T>(&mut self, program: impl FnOnce() -> T) -> T {
        let turn = threads::lend(self);
        let result = self.call_out(program);
        if let Some(number) = turn {
            threads::resume(number);
            self.switch_to(number);
        }
        result
    }

    /// Runs a function of the program, whose calls find the state by [`borrow`].
    pub(crate) fn call_out<T>(&mut self, program: impl FnOnce() -> T) -> T {
        // Null, because a holder of the state has taken it out.
        let outer = LENT.replace(self);
        let result = inside::outside(program);
        LENT.set(outer);
        result
    }
}
