//! Networks as the library runs them: models, topologies, routings, engines, and comparisons with reference numbers.

mod built_once;
mod cost;
mod disciplines;
mod engines_agree;
mod ethernet;
mod goal_networks;
mod interfaces;
mod intervals;
mod model;
mod networks;
mod one_verdict;
mod options;
mod paced;
mod repetition;
mod replay;
mod saturation_is_decided;
mod second;
mod simgrid;
mod slower_links;
mod soak;
mod switches;
mod switches_saturate;
mod topologies;
mod validation;
mod watching;
