//! What the cross-crate tests share.
//!
//! - [`command`]: the `fsin` command, run as a user runs it;
//! - [`setup`]: a run of synthetic traffic, from settings to [`fsin::run::Outcome`];
//! - [`every_cycle`]: a source and a network coupled one cycle at a time, by a loop of its own, so that the coupling loop
//!   of the library is checked too;
//! - [`programs`]: small programs of communicating tasks, and their replay;
//! - [`fsin_original`] and [`kernels_exact`]: the reference numbers; [`judging`], by [`figure`]s over seeds: how ours are
//!   judged by them; [`defects`] of the original; [`dating`]: when it began to measure;
//! - [`pages`]: pages of Markdown, followed as a user does;
//! - [`pty`]: a command on a terminal of its own;
//! - [`live`]: guests in threads, coupled to a network in this process;
//! - [`strategies`]: networks and routers to draw for property tests;
//! - [`shared`]: where the reference numbers are, and what to do without them.

pub mod command;
pub mod dating;
pub mod defects;
pub mod every_cycle;
pub mod figure;
pub mod fsin_original;
pub mod judging;
pub mod kernels_exact;
pub mod live;
pub mod pages;
pub mod parallel;
pub mod programs;
pub mod pty;
pub mod setup;
pub mod shared;
pub mod strategies;
pub mod table;
