//! Helpers of the cross-crate tests.
//!
//! - [`chakra`]: writes Chakra traces;
//! - [`command`]: runs the `fsin` command as a user does;
//! - [`setup`]: a run of synthetic traffic, from settings to [`fsin::run::Outcome`];
//! - [`every_cycle`]: couples a source and a network one cycle at a time, by a separate loop, so that the coupling loop
//!   of the library is checked too;
//! - [`programs`]: small programs of communicating tasks, and their replay;
//! - [`fsin_original`] and [`kernels_exact`]: the reference numbers; [`judging`]: the comparison of ours with them, by
//!   [`figure`]s over seeds; [`defects`] of the original; [`dating`]: when it began to measure;
//! - [`keys`]: a value of every setting, for tests that walk over all; [`waits`]: whether what waits forms a cycle;
//! - [`line_plot`]: pictures of a few curves, for the pages of the project;
//! - [`outsider`]: whole experiments, drawn, and what must hold of any;
//! - [`pages`]: follows pages of Markdown as a user does;
//! - [`pty`]: a command on its own terminal;
//! - [`live`]: guests in threads, coupled to a network in this process;
//! - [`machines`]: virtual machines, run by `fsin machines`;
//! - [`modules`]: the modules of a crate and the cycles among them;
//! - [`mpi`]: MPI programs, compiled by MPICH and run by `fsin mpirun`;
//! - [`slurm`]: a Slurm on this machine;
//! - [`strategies`]: networks and routers for property tests;
//! - [`shared`]: the location of the reference numbers, and how to proceed without them.

pub mod chakra;
pub mod command;
pub mod dating;
pub mod defects;
pub mod every_cycle;
pub mod figure;
pub mod fsin_original;
pub mod judging;
pub mod kernels_exact;
pub mod keys;
pub mod line_plot;
pub mod live;
pub mod machines;
pub mod modules;
pub mod mpi;
pub mod outsider;
pub mod pages;
pub mod parallel;
pub mod programs;
pub mod pty;
pub mod setup;
pub mod shared;
pub mod slurm;
pub mod strategies;
pub mod table;
pub mod waits;

/// The page of the book on the library, whose programs are tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/book/src/howto/library-rust.md")]
pub struct PageOfTheLibrary;
