//! The run time of a token ring of live guests against the delay of the network, as a picture and as numbers:
//!
//! ```sh
//! cargo run -p tests --example token_ring -- docs/figures/token-ring.svg
//! ```

#![allow(clippy::print_stdout, reason = "the numbers beside the picture")]

use std::error::Error;

use adapters::clock::Clock;
use adapters::guest::Config;
use adapters::guest::script::Script;
use adapters::live::Overheads;
use fsin::models::ConstantDelay;
use tests::line_plot;
use tests::live::{Part, Table, play};

/// Times round the ring.
const ROUNDS: u32 = 10;
const GUESTS: [u32; 4] = [2, 4, 8, 16];
/// \[us\]
const DELAYS: [u64; 6] = [10, 20, 40, 60, 80, 100];

/// \[us\] Run time of the ring, by the clock of the guest that starts it.
fn ring(guests: u32, delay_us: u64) -> Result<f64, Box<dyn Error>> {
    let script = format!("repeat {ROUNDS}\n node 0: send next 64\n receive\n others 0: send next 64\nend");
    let script = Script::parse(&script)?;
    let delay = delay_us * 1000;
    let mut table = Table::with(guests as usize, Overheads { send: 0, receive: 0, response: delay });
    table.terms.clock = Clock::new(1000, 1).ok_or("a nanosecond is not empty")?;
    table.terms.horizon = table.overheads.horizon(table.terms.clock);
    table.terms.step = table.terms.horizon;
    let parts = (0..guests)
        .map(|node| {
            let script = script.clone();
            let part: Part = Box::new(move |guest| script.play(node, guest).map(drop));
            (Config::new(format!("guest {node}"), node), part)
        })
        .collect();
    let (_, report) = play(&table, &mut ConstantDelay::new(guests as usize, delay).announcing(), parts);
    Ok(report.guests[0].time as f64 * 1e-6)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("give the file to write, such as token-ring.svg")?;
    println!("guests,delay_us,run_time_us");
    let mut curves = Vec::new();
    for guests in GUESTS {
        let mut curve = Vec::new();
        for delay in DELAYS {
            let time = ring(guests, delay)?;
            println!("{guests},{delay},{time}");
            curve.push((delay as f64, time * 1e-3));
        }
        curves.push((format!("{guests} guests"), curve));
    }
    let y_title = format!("run time of {ROUNDS} rounds (ms)");
    line_plot::draw(path.as_ref(), ["delay of the network (us)", &y_title], &curves)
}
