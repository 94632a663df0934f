//! The virtual cut-through model: [`router`] holds its rules, [`engine`] two engines that give the same results.

pub mod engine;
pub mod router;
