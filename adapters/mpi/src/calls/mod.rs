//! The exported calls, by chapters of the standard.

mod attributes;
mod cartesian;
mod collectives;
mod communicators;
mod datatypes;
mod environment;
mod fortran;
mod groups;
mod information;
mod intercommunicators;
mod messages;
mod neighbours;
mod nonblocking;
mod packing;
mod requests;

include!(concat!(env!("OUT_DIR"), "/unsupported.rs"));
