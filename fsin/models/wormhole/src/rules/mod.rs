//! What both engines share: wiring, routing functions, allocators, messages and statistics.

pub(crate) mod allocator;
pub(crate) mod batch;
pub(crate) mod buffers;
pub(crate) mod channels;
pub(crate) mod details;
pub(crate) mod interface;
pub(crate) mod outages;
pub(crate) mod priority;
pub(crate) mod routes;
pub(crate) mod sinks;
pub(crate) mod whole;
pub(crate) mod wiring;
