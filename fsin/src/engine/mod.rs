//! Engines: what moves packets through routers, cycle by cycle.
//!
//! [`reference`] is the definition of the model: it moves every phit of every queue in every cycle.

mod interface;
pub mod reference;

pub use interface::Interface;
