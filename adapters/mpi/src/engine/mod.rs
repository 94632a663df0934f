//! Messages, matching and requests.
//!
//! `mail` matches messages with posted receives, and `requests` holds the operations of the program; neither knows the
//! network or the program. `delivery` gives them what arrives and sends what they send, `waiting` waits for events,
//! `collectives` begins collectives, `windows` accesses windows, and `completion` returns operations that have ended to the program.

pub(crate) mod collectives;
pub(crate) mod completion;
pub(crate) mod delivery;
pub(crate) mod mail;
pub(crate) mod requests;
pub(crate) mod waiting;
pub(crate) mod windows;
