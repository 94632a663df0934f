//! Applications as traffic: the program of each task, the origins of programs, and their replay.

pub mod collectives;
pub mod container;
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
