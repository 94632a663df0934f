//! The `fsin` command: its output, its errors, its files, and the pages that describe it.

mod bad_input;
mod book;
mod captures;
mod cli;
mod clusters;
mod damaged_files;
mod every_key;
mod exchange;
mod failures;
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
mod routes;
mod shared_traces;
mod slices;
mod slurm;
mod sweep;
mod unlike_links;
