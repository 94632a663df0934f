//! Figures of energy.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::RunResult;
use crate::{Experiment, Finished};

/// What the events of a run cost, as a table estimates it.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct EnergyRow {
    /// The table, as the setting names it.
    pub table: String,
    /// True: no figure of energy is measured.
    pub is_estimate: bool,
    /// \[s\] The time of the counts; of the model booksim, cycles of the clock of its process.
    pub seconds: f64,
    /// The parts of the network.
    pub parts: Vec<EnergyPart>,
    /// \[W or mm2\] Powers and areas by their names, such as `channel_wire_W`, `links_global_W` or `total_area_mm2`.
    #[serde(flatten)]
    pub figures: BTreeMap<String, f64>,
}

/// The energy of a part of the network.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct EnergyPart {
    /// `links`, `routers`, `hosts`; the name of a power of the model booksim.
    pub part: String,
    /// Its class, as tables name it; empty if it has none.
    pub class: String,
    /// Number of links (in one direction), routers or hosts; 0 where it is not known.
    pub count: u64,
    /// \[J\] Its energy.
    pub joules: f64,
    /// \[J\] The least in the ranges of the table.
    pub joules_low: f64,
    /// \[J\] The greatest in the ranges of the table.
    pub joules_high: f64,
    /// \[W\] Its energy for each second of simulated time.
    pub watts: f64,
}

/// Sets the figures of energy, if the run has a table.
pub(super) fn of_energy(result: &mut RunResult, experiment: &Experiment, finished: &Finished) {
    let (Some(named), Some(estimate)) = (&experiment.energy, &finished.energy) else { return };
    let joules = estimate.joules();
    let per_bit = estimate.pj_per_bit().map(|bit| bit.value);
    result.energy_joules = Some(joules.value);
    result.energy_joules_low = Some(joules.low);
    result.energy_joules_high = Some(joules.high);
    result.energy_watts = Some(estimate.watts(joules.value));
    result.energy_pj_per_bit = per_bit;
    result.energy_pj_per_flit = per_bit.zip(estimate.flit_bits).map(|(bit, bits)| bit * bits);
    let part = |part: &crate::energy::EnergyComponent| EnergyPart {
        part: part.part.to_owned(),
        class: part.class.clone(),
        count: part.count,
        joules: part.joules.value,
        joules_low: part.joules.low,
        joules_high: part.joules.high,
        watts: estimate.watts(part.joules.value),
    };
    result.energy = Some(EnergyRow {
        table: crate::without_folders("energy", named.words.clone()),
        is_estimate: true,
        seconds: estimate.seconds,
        parts: estimate.components.iter().map(part).collect(),
        figures: estimate.columns().into_iter().collect(),
    });
}
