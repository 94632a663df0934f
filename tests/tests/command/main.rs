//! The `fsin` command: its output, its errors, its files, and the pages that describe it.

mod bad_input;
mod book;
mod captures;
mod cli;
mod damaged_files;
mod every_key;
mod exchange;
mod flags;
mod flow;
mod honest;
mod jobs;
mod legacy;
mod library;
mod library_c;
mod links;
mod pages;
mod placement;
mod results;
mod shared_traces;
mod slices;
mod slurm;
mod sweep;
