//! Experiments: all determinants of a run, from words to types to results.
//!
//! [`keys`] is the table of all settings. [`Settings`] layers their values: defaults, an experiment file, the
//! environment, flags. [`Experiment`] is the typed, checked result, and [`execute`] runs it.

mod archives;
mod booksim;
mod bounds;
mod carried;
mod collective_links;
mod conflicts;
mod details;
pub mod energy;
mod execute;
mod file;
mod foreign;
mod front;
mod hosts;
mod hpcc;
mod ideal;
mod inputs;
mod job_classes;
mod keys;
pub mod legacy;
mod live;
mod load_bound;
mod meaning;
pub mod memory;
mod models;
mod plan;
mod quantity;
mod remedy;
mod resolve;
pub mod result;
mod settings;
pub mod sweep;
pub mod text_file;
mod together;
mod trouble;
mod workload;

pub use bounds::{Bound, Bounds};
pub use carried::{Carried, bare_texts, rename_manifest};
pub use collective_links::Confines;
pub use details::MessageTime;
pub use execute::{
    Finished, JobFacts, Observers, TraceFacts, check, execute, execute_over, execute_watched, link_packets, network,
};
pub use file::{Lists, read_file, read_lists, read_text};
pub use foreign::simulator_of;
pub use front::{Account, Builder, Event, EventKind, Options, Performed, Session, SessionError, Step};
pub use ideal::{IdealRun, execute_ideal};
pub use inputs::{Input, Inputs, hex, without_folders};
pub use keys::{Heading, Is, Key, Kind, MANY_KEYS, Need, check_keys, key, keys, many_key, other_names};
pub use live::{cycle_ratio, live_clock, live_keys, live_network, live_settings};
pub use load_bound::LoadBound;
pub use models::{Networks, heading, load_unit, named, network_of};
pub use plan::RunPlan;
pub use remedy::remedy_of;
pub use resolve::{CLOSED_LOOP, Experiment, Runs};
pub use settings::{Origin, Setting, Settings, SettingsError, canonical, variable};
use together::together;
pub use trouble::Trouble;
pub use workload::{CHECKED, Driven, Driver, JobEntry, JobFile, Work, Workload, small_packets};
