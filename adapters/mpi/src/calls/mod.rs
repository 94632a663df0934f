//! The exported calls, by chapters of the standard.

mod accesses;
mod attributes;
pub(crate) mod blocks;
mod cartesian;
pub(crate) mod collectives;
mod communicators;
mod datatypes;
mod environment;
mod external;
mod file_access;
mod files;
mod fortran;
mod groups;
mod information;
pub(crate) mod intercollectives;
mod intercommunicators;
pub(crate) mod messages;
mod neighbours;
mod nonblocking;
mod packing;
mod partitioned;
mod requests;
mod sessions;
mod tools;
mod windows;

// Every call of MPICH's ABI that the modules above do not define; build.rs writes the list. Calling one ends the
// program with its name.
include!(concat!(env!("OUT_DIR"), "/unsupported.rs"));
