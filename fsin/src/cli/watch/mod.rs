//! Watching: the dashboard of a run or a sweep, viewers, recordings.

#[cfg(feature = "tui")]
pub(crate) mod looking;
#[cfg(feature = "tui")]
pub(crate) mod monitor;
#[cfg(feature = "tui")]
pub(crate) mod showing;
#[cfg(feature = "tui")]
pub(crate) mod top;
#[cfg(not(feature = "tui"))]
pub(crate) mod unseen;

#[cfg(not(feature = "tui"))]
pub(crate) use unseen as looking;
#[cfg(not(feature = "tui"))]
pub(crate) use unseen as showing;
