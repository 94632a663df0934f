//! The rules of the model, which both engines share.

pub(crate) mod damage;
pub(crate) mod hosts;
pub(crate) mod routes;
pub(crate) mod wires;
