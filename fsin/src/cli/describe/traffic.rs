//! `fsin traffic`: the messages of a source, without a network.

use std::io::{BufWriter, Write};
use std::sync::atomic::Ordering;

use clap::ArgMatches;
use fsin::couple::{Coupled, Reached};
use fsin::experiment::{Driver, Experiment, RunPlan};
use fsin::models::ConstantDelay;
use trgen::{Cycle, Message};

use crate::cli::{Complaint, Exit, Flags, interrupt, output, settings};

/// \[cycles\] Length of endless traffic without `--cycles`.
const CYCLES: u64 = 1000;

/// Formats of the list of messages.
pub(crate) const FORMATS: [&str; 2] = ["csv", "jsonl"];

/// `fsin traffic`: lists every message.
pub(crate) fn traffic(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let experiment = Experiment::resolve(settings::read(matches)?)?;
    let settings = experiment.settings();
    let mut driver =
        Driver::new(&experiment, experiment.geometry()).map_err(|trouble| Complaint::of_trouble(trouble, settings))?;
    if !matches.get_flag("quiet") {
        driver.notes.iter().for_each(|note| output::tell(&format!("note: {}", note.written(&Flags))));
        driver.warnings.iter().for_each(|warning| output::tell(&format!("warning: {}", warning.written(&Flags))));
    }
    let limit = match experiment.plan {
        RunPlan::Fixed(cycles) => Cycle::FIRST + cycles,
        RunPlan::Batch(_) => Cycle::FIRST + CYCLES,
        RunPlan::ToEnd(limit) => limit,
    };
    let stop = interrupt::listen(interrupt::OF_A_RUN)?;
    let csv = matches.get_one::<String>("format").is_none_or(|format| format == "csv");
    // Messages occupy what the network of the run would carry: whole packets where it pads them.
    let units = experiment.units;
    let phits_of = move |bytes: u64| match units.is_padded {
        true => units.packets_of(bytes) * u64::from(units.packet_phits),
        false => bytes.div_ceil(u64::from(units.phit_bytes)),
    };
    let document = output::Document::open(matches)?;
    let (mut reached, mut interrupted) = (Ok(Reached::End), false);
    document.write(&mut |out| {
        let mut out = BufWriter::new(out);
        let mut written = if csv { writeln!(out, "cycle,source,destination,phits") } else { Ok(()) };
        let mut write_message = |cycle: Cycle, message: &Message| {
            if written.is_err() {
                return;
            }
            let Message { source, destination, bytes, .. } = message;
            let phits = phits_of(*bytes);
            written = if csv {
                writeln!(out, "{cycle},{source},{destination},{phits}")
            } else {
                writeln!(out, r#"{{"cycle":{cycle},"source":{source},"destination":{destination},"phits":{phits}}}"#)
            };
            if written.is_err() {
                // The run ends, because nobody reads the list any more.
                stop.store(true, Ordering::Relaxed);
            }
        };
        let mut network = ConstantDelay::new(experiment.geometry().nodes(), 0).observed_by(&mut write_message);
        reached = Coupled::new(driver.source(), &mut network, stop).run(limit);
        interrupted = written.is_ok() && stop.load(Ordering::Relaxed);
        written.and_then(|()| out.flush())
    })?;
    match reached {
        Err(failure) => Err(Complaint::of_failure(&failure)),
        Ok(_) if interrupted => Ok(Exit::Interrupted),
        Ok(_) => Ok(Exit::Done),
    }
}
