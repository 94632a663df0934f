//! Commands of live guests: serving, joining, relaying; programs with MPI and virtual machines over a simulated network.

pub(crate) mod beside;
pub(crate) mod descriptors;
pub(crate) mod guard;
pub(crate) mod guest;
pub(crate) mod machines;
pub(crate) mod mpirun;
pub(crate) mod processes;
pub(crate) mod relay;
pub(crate) mod serve;
