//! A fast functional simulator of interconnection networks.

pub mod couple;
pub mod dashboard;
mod divisor;
pub mod engine;
pub mod experiment;
pub mod ideal;
pub mod network;
pub mod report;
pub mod result;
pub mod router;
pub mod routing;
pub mod run;
pub mod stamp;
pub mod stats;
pub mod sweep;
pub mod switch;
pub mod topology;
pub mod view;
pub mod watch;
pub mod words;
