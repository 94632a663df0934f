//! Speed beside that of BookSim 2, on the experiments of `reference/booksim2.csv`: for each set of a dimension-order
//! routing the highest load that is stable. `cargo run --release -p fsin-wormhole --example peer`
//!
//! Their figures are of the machine that the table was measured on, by processor time; ours are by the wall, and need a
//! core of their own.

use std::io::Write as _;
use std::time::Instant;

use fsin_core::topology;
use fsin_wormhole::{Params, fast};

#[path = "../tests/all/common.rs"]
mod common;

/// A row of the table, by its columns.
type Row = std::collections::HashMap<String, String>;

/// Sets of the table.
const SETS: [&str; 9] = [
    "m8-dor-uni-p1",
    "m8-dor-trp-p8",
    "t8-dor-uni-p1",
    "t8-dor-hot-p1",
    "t8-dor-tor-p8",
    "t16-dor-uni-p16",
    "t16-bal-bcp-p1",
    "t888-dor-uni-p8",
    "t32-dor-uni-p8",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(rows) = common::rows("reference/booksim2.csv") else { return Ok(()) };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:16} {:>6} {:>16} {:>16} {:>6}", "set", "load", "theirs, M hops/s", "ours, M hops/s", "ratio")?;
    for name in SETS {
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
        let option =
            |row: &Row, name: &str| number(row["extra_params"].split('|').find_map(|word| word.strip_prefix(name)));
        let load = |row: &Row| number(Some(&row["inj_rate"]));
        // Beyond saturation most of the time is spent on packets that wait.
        let stable = rows.iter().filter(|row| row["name"] == name && load(row) <= option(row, "sat_stable="));
        let Some(row) = stable.max_by(|one, other| load(one).total_cmp(&load(other))) else { continue };
        let Some(experiment) = common::experiment(|column| row[column].clone()) else { continue };
        let theirs = option(row, "flit_hops_per_s=") / 1e6;
        let topology = topology::parse(&experiment.topology, 2)?;
        let mut network = fast::build(&*topology, Params { seed: 1, ..experiment.params.clone() }, 1)?;
        let begun = Instant::now();
        common::run(&experiment, &mut *network);
        let ours = network.details().flit_hops as f64 / begun.elapsed().as_secs_f64() / 1e6;
        let ratio = ours / theirs;
        writeln!(out, "{name:16} {:6.3} {theirs:16.2} {ours:16.2} {ratio:6.1}", experiment.rate)?;
    }
    Ok(())
}
