//! Engines: they move packets through routers, cycle by cycle.
//!
//! [`mod@reference`] is the definition of the model: it moves every phit of every queue in every cycle.
//!
//! [`fast`] gives the same results, bit for bit, at a cost proportional to the packets that move.

pub mod fast;
mod messages;
pub mod reference;
mod wait;
