//! Fsin evaluates interconnection networks: it sends synthetic traffic, kernels, traces of programs, or messages of your
//! own through models of routers and links, and tells latency, throughput, and when a program ends.
//!
//! # An experiment
//!
//! An [`Experiment`] has the settings of the command `fsin run`, with the same names, defaults, checks and errors. What is
//! not set has its default:
//!
//! ```
//! use fsin::Experiment;
//!
//! let result = Experiment::builder().topology("torus:8x8").load(0.3).run()?;
//! let latency = result.latency_mean_cycles.expect("packets have arrived");
//! assert!(latency > 20.0 && !result.is_saturated());
//! # Ok::<(), fsin::Trouble>(())
//! ```
//!
//! [`Builder`] has a method for each key of all experiments; keys of one network model are set by name. Values are those
//! of flags and of experiment files, which a builder reads too:
//!
//! ```
//! # use fsin::Experiment;
//! let ethernet = Experiment::builder().network("ethernet").topology("fattree:4,2").set("port-queue", 100);
//! assert_eq!(ethernet.build()?.settings().value("port-queue"), Some("100"));
//!
//! let error = Experiment::builder().topology("torrus:8x8").run().unwrap_err();
//! assert_eq!(error.setting(), Some("topology"));
//! assert!(error.remedy().to_string().contains("torus"));
//! # Ok::<(), fsin::Trouble>(())
//! ```
//!
//! A [`RunResult`] has a field for each [`Figure`], whose documentation says unit and meaning; a figure that this kind of
//! run does not have is `None`. Its serialisation is the JSON of the command. A run that fails, such as by a deadlock, has
//! a result: [`RunResult::why_failed`]. Only what cannot begin is an error, a [`Trouble`] with its remedy.
//!
//! [`Options`] of a run are a flag that ends it, a function that is told its progress, and observers.
//! An experiment is `Send` and `Sync`, and a run occupies the thread that calls it.
//!
//! # A step below
//!
//! A source of traffic is a [`TrGen`], a network is a [`Network`], and [`couple::Coupled`] is the loop between them. The
//! network of an experiment carries the messages of any source:
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use fsin::couple::{Coupled, Reached};
//! use fsin::trgen::clock::Clock;
//! use fsin::trgen::synthetic::flows::{Flows, parse};
//! use fsin::{Cycle, Experiment};
//!
//! let experiment = Experiment::builder().topology("mesh:4x4").build()?;
//! let mut network = fsin::experiment::network(&experiment)?;
//! // From corner to corner of the mesh, in cycles of 3.2 ns.
//! let list = parse("src,dst,bytes,start\n0,15,64,0\n")?;
//! let mut source = Flows::new(&list, network.nodes(), Clock::whole(3200)).expect("all are nodes of the mesh");
//! let stop = AtomicBool::new(false);
//! let reached = Coupled::new(&mut source, &mut *network, &stop).run(Cycle(1000))?;
//! assert_eq!(reached, Reached::End);
//! // 6 hops, and the other 15 phits of the packet.
//! let Cycle(end) = network.clock();
//! assert!((6 + 15..6 + 15 + 10).contains(&end));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Registry`] adds network models, topologies, routings, patterns, kernels, formats of traces and of networks to those of fsin, for this
//! library as for the command: `main_with` is the whole command with them.
//!
//! # Features
//!
//! | feature | what |
//! | --- | --- |
//! | `command` | the command: `main_with`; without it there is no parser of arguments and no terminal |
//! | `tui` | the dashboard |
//! | `live` | guests: programs and virtual machines whose messages travel through the network |
//! | `plots` | pictures as PNG and PDF; SVG and pgf need nothing |
//!
//! All are on by default. A program that evaluates experiments wants none:
//! `fsin = { version = "0.2", default-features = false }`.

// The command is written against the library as others see it.
extern crate self as fsin;

pub mod catalogue;
#[cfg(feature = "command")]
mod cli;

#[cfg(feature = "tui")]
pub mod dashboard;

#[cfg(feature = "command")]
pub mod pcapng;
mod registry;
pub mod surveyed;

pub use fsin_core::network::Network;
pub use fsin_core::{
    activity, capture, couple, difference, failures, family, network, route, run, stats, topology, view, watch, words,
};
pub use fsin_experiment::result::{Figure, RunResult};
pub use fsin_experiment::{self as experiment, result, sweep, text_file};
pub use fsin_experiment::{Builder, Experiment, Options, Step, Trouble};
pub use fsin_models as models;
pub use fsin_networks as networks;
pub use fsin_report as report;
pub use fsin_vct::{engine, router, routing};
pub use registry::Registry;
pub use trgen::{self, Cycle, Delivery, Message, NodeId, TrGen};

/// Executes the command that the arguments of the process give, with these components. Returns its exit status.
///
/// A registry that cannot be installed, such as one with two components of one name, is refused with exit status 2.
#[cfg(feature = "command")]
#[must_use]
pub fn main_with(registry: Registry) -> std::process::ExitCode {
    std::process::ExitCode::from(cli::status(cli::main(registry)))
}

/// As [`main_with`], called by a program that is not the command, such as an interpreter: `words` are the name of the
/// command and its arguments, and the words `program` start it again, for the worker processes of sweeps. Call once in a
/// process, which should end soon afterwards: handlers of signals stay installed.
#[cfg(feature = "command")]
#[must_use]
pub fn main_called(registry: Registry, program: Vec<std::ffi::OsString>, words: Vec<std::ffi::OsString>) -> u8 {
    cli::called_by(program, words);
    cli::status(cli::main(registry))
}
