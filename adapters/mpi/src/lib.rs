//! A library with MPICH's ABI (`libmpich.so.12`) whose only transport is TGP/1 to an endpoint of `fsin`.
//!
//! An unmodified MPI program that is started by `fsin mpirun` loads it instead of MPICH. Each rank is a causal guest:
//! its messages travel through the simulated network, and its clock advances by computing and waiting only.
//!
//! - `abi`: types and constants of MPICH's `mpi.h`; `calls`: the exported calls, by chapters of the standard;
//! - `calls.txt`: the table of all calls of MPICH 4.0; `build.rs` writes those that are not implemented, each of which
//!   ends the program with its name;
//! - `entry`: how calls enter the library; `threads`: whose turn it is, if several threads call; `world`: the state of this
//!   rank, which everything gets as an argument; `caller`: what it has for each thread; `settings`: what the launcher has set;
//! - `arguments`: checks of arguments before they are used;
//! - `engine`: messages, matching and requests; `collective`: collectives as messages, by the algorithms of traces, `between` the groups
//!   of an intercommunicator too; `data`: what these messages carry;
//! - `shared`: memory through which data of long messages pass between ranks of one machine;
//! - `window`: windows of one-sided communication, whose accesses are messages that `engine::windows` carries out;
//! - `file`: local files, and views of them; `external`: data as other machines store them;
//! - `ahead`: announces, while the program computes, until when it will send nothing;
//! - `caching`: attributes of MPI's objects, and their keys;
//! - `datatype` with `constructors` and `copying`, `operation`, `communicator`: MPI's objects, in `table`s by handle; `clock`: clocks of the program; `sleep`: its sleeping;
//!   `host`: those of the host; `objects`: what the program is linked with;
//! - `report`: what the launcher reads at the end; `describe`: what a rank waits for.
//!
//! # How the model departs from reality, and who could notice
//! - A send of at most the buffered size ends at once, whatever the state of the network; a longer one ends when its
//!   last packet has left the node. With rendezvous, a send above that size announces itself, and its data leave when the
//!   receiver, in a call, has answered.
//! - The two sides of a rendezvous answer while they are in a call of MPI, not while they compute: as MPICH without a
//!   thread of its own for progress.
//! - Matching and copying take no time beyond the declared overheads, except that an unsuccessful test or probe, and
//!   `MPI_Win_sync`, take `world::POLL`.
//! - Data of a collective may travel in an earlier message of the collective than in MPICH, but the result is visible
//!   to the program only when all messages of its own rank have arrived: sizes and times of messages are those of the
//!   algorithm. A reduction combines contributions in the order of a fixed binary tree over ranks, on any network and
//!   by any algorithm.

#![allow(non_snake_case, reason = "names of the standard")]
#![allow(clippy::missing_safety_doc, reason = "the contract of each call is that of the MPI standard")]
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "pointers of C, by the contract of the MPI standard")]

#[macro_use]
mod macros;
mod abi;
mod ahead;
mod arguments;
mod between;
mod caching;
mod caller;
mod calls;
#[cfg_attr(test, allow(dead_code, reason = "programs of tests keep the clocks of the host"))]
mod clock;
mod collective;
mod communicator;
mod computing;
mod constructors;
mod copying;
mod data;
mod datatype;
mod describe;
mod dimensions;
mod engine;
mod entry;
mod error;
mod external;
mod file;
mod host;
mod inside;
mod lending;
mod lifeline;
#[cfg_attr(test, allow(dead_code, reason = "the dynamic linker loads no library for tests"))]
mod objects;
mod operation;
mod report;
mod settings;
mod shared;
#[cfg_attr(test, allow(dead_code, reason = "programs of tests sleep on the host"))]
mod sleep;
mod spans;
mod state;
mod table;
#[cfg_attr(test, allow(dead_code, reason = "programs of tests are alone in the library"))]
mod threads;
mod window;
mod world;
