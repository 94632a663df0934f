//! What both engines share: wiring, routing functions, allocators' priorities, messages and statistics.

pub(crate) mod details;
pub(crate) mod interface;
pub(crate) mod proof;
pub(crate) mod routes;
mod slab;
pub(crate) mod wiring;
