//! Latency over load, from a program of one's own.

use fsin::{Experiment, Trouble};

fn main() -> Result<(), Trouble> {
    let base = Experiment::builder().topology("torus:8x8").traffic("transpose");
    for load in [0.1, 0.2, 0.3] {
        let result = base.clone().load(load).run()?;
        println!("{load} {:.3}", result.latency_mean_cycles.unwrap_or(f64::NAN));
    }
    Ok(())
}
