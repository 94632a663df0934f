//! Applications as traffic: the program of each task, the origins of programs, and their replay.

#[cfg(feature = "formats")]
pub mod chakra;
pub mod collectives;
#[cfg(feature = "formats")]
pub mod container;
pub mod flow;
#[cfg(feature = "formats")]
pub mod formats;
pub mod goal;
pub mod jobs;
pub mod kernels;
pub mod kind;
pub mod labels;
pub mod matching;
pub mod matrix;
pub mod placement;
pub mod program;
pub mod replay;
pub mod slow;
pub mod timeline;
