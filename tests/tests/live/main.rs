//! Live guests, MPI programs and virtual machines over simulated networks, and the dashboard that shows runs.

mod dashboard;
mod dashboard_sweep;
mod doors;
mod live;
mod live_cli;
mod live_faults;
mod live_hostile;
mod live_modes;
mod machines_faults;
mod monitor;
mod mpi;
mod mpi_cases;
mod mpi_faults;
mod mpi_files;
mod mpi_hostile;
mod mpi_keys;
mod mpi_kinds;
mod mpi_launchers;
mod mpi_moments;
mod mpi_python;
mod mpi_report;
mod mpi_standard;
mod mpi_threads;
mod mpi_time;
mod mpi_windows;
mod qemu;
