//! The virtual cut-through model: [`router`] holds its rules, [`engine`] two engines with the same results.

pub mod engine;
pub mod family;
pub mod router;
pub mod routing;
