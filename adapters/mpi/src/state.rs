//! Where the thread that has the turn finds the state of the rank.
//!
//! Decisions: docs/decisions/0165-state-of-a-rank.md, 0271-threads-of-ranks.md.

use std::sync::atomic::{AtomicPtr, Ordering};

use crate::world::World;

/// The state of this rank, once the first call has been made: where the thread that has the turn finds it.
static STATE: AtomicPtr<World> = AtomicPtr::new(std::ptr::null_mut());

/// Called by a thread that gives the turn away in the middle of a call: the next one gets the state from this reference.
pub(crate) fn publish(world: &mut World) {
    STATE.store(world, Ordering::Release);
}

/// The state, for the thread that has the turn.
pub(crate) fn state<'a>() -> Option<&'a mut World> {
    // SAFETY: the address of a `World` that is never freed. Only the thread that has the turn uses a reference to it; other
    // threads wait within `give_way`, for which they have published theirs. What makes a `World` stay on its thread
    // otherwise are its counted references (`Rc`), all of which belong to the state or to a call that is under way.
    unsafe { STATE.load(Ordering::Acquire).as_mut() }
}
