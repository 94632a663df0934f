//! The thread that executes the library: its call, its processor time, and what it waits for.

use std::collections::BTreeMap;

use crate::engine::mail::Awaited;

/// What the state of the rank has for each thread.
#[derive(Clone, Default, Debug)]
pub(crate) struct Caller {
    /// The number of the thread.
    pub(crate) thread: u32,
    /// True while it is in a call.
    pub(crate) is_inside: bool,
    /// Name of the call that it is making or made last.
    pub(crate) calling: &'static str,
    /// True if the computing before the current call has been added to the clock.
    pub(crate) charged: bool,
    /// \[ps\] Its processor time when its last call ended.
    pub(crate) left: u64,
    /// \[ps\] Processor time that it has used and that is not charged yet.
    pub(crate) used: u64,
    /// What it waits for.
    pub(crate) awaited: Awaited,
}

/// The threads that have called and do not execute the library now.
pub(crate) type Others = BTreeMap<u32, Caller>;
