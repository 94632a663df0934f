//! Networks as the library runs them: models, topologies, routings, engines, and comparisons with reference numbers.

mod built_once;
mod cost;
mod engines_agree;
mod ethernet;
mod figures_conserve;
mod goal_networks;
mod interfaces;
mod intervals;
mod long_links;
mod model;
mod networks;
mod one_verdict;
mod options;
mod paced;
mod repetition;
mod replay;
mod saturation_is_decided;
mod simgrid;
mod slower_links;
mod soak;
mod switches;
mod switches_saturate;
mod topologies;
mod validation;
mod watching;
