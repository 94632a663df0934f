//! Applications as traffic: the program of each task, where programs come from, and their replay.

pub mod collectives;
#[cfg(feature = "formats")]
pub mod container;
#[cfg(feature = "formats")]
pub mod formats;
pub mod goal;
pub mod jobs;
pub mod kernels;
pub mod labels;
pub mod matching;
pub mod matrix;
pub mod placement;
pub mod program;
pub mod replay;
