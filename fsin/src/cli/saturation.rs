//! `fsin saturation`.

use clap::ArgMatches;
use fsin::experiment::{Experiment, Origin};
use fsin::report::{Format, write, write_rows};
use fsin::sweep::{Bracket, Probe};
use serde_json::{Map, Value, json};

use super::perform::perform;
use super::progress::Points;
use super::{Complaint, Exit, args, interrupt, output};

/// Figures of each load that was tried.
const FIGURES: [&str; 5] =
    ["accepted_load_phits_per_node_cycle", "accepted_load_ci95", "latency_mean_cycles", "saturated", "converged"];

/// What the first Ctrl-C is answered.
const STOPPING: &str = "stopping: the load that is being tried is given up, those tried before are printed; again to stop at \
                        once, without results";

/// Finds where a network saturates.
pub(crate) fn saturation(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let mut settings = args::settings(matches)?;
    if settings.is_set("cycles") {
        let what = "saturation is that of a steady state, and runs of so many --cycles begin with an empty network";
        return Err(Complaint::new(Exit::Usage, what, "use --warmup, --samples and --sample-size for shorter runs"));
    }
    if !settings.is_set("load") {
        settings.set("load", "1", Origin::Default)?;
    }
    let experiment = args::one_experiment(settings.clone())?;
    let most: f64 = settings.value("load").and_then(|load| load.parse().ok()).unwrap_or(1.0);
    if !experiment.uses_load() || most <= 0.0 {
        let what = "this experiment has no load that could be raised";
        return Err(Complaint::new(
            Exit::Usage,
            what,
            "leave out --trace, --kernel, --shot and the load= of one source, and use a --load above 0",
        ));
    }
    let tolerance = matches.get_one::<f64>("tolerance").copied().unwrap_or(0.005);
    let stop = interrupt::listen(STOPPING)?;
    let mut bracket = Bracket::new(most, tolerance);
    let expected = 2 + (most / tolerance).log2().ceil().max(0.0) as usize;
    let meter = Points::new(matches.get_flag("quiet"), expected);
    let mut probes: Vec<Map<String, Value>> = Vec::new();
    while let Some(load) = bracket.next() {
        let mut settings = settings.clone();
        settings.set("load", load.to_string(), settings.origin("load"))?;
        let experiment = Experiment::resolve(settings)?;
        let Some(figures) = perform(&experiment, stop, true)? else { break };
        if let Some(why) = figures["failure"].get("what").and_then(Value::as_str) {
            let what = format!("at load {load}: {why}");
            return Err(Complaint::new(Exit::Watchdog, what, "run that load alone to see more: fsin run --load"));
        }
        let mut row = Map::new();
        row.insert("load".to_owned(), json!(load));
        row.extend(FIGURES.iter().map(|&name| (name.to_owned(), figures[name].clone())));
        probes.push(row);
        bracket.observe(Probe { load, saturated: figures["saturated"] == json!(true) });
        meter.one_more();
    }
    drop(meter);
    probes.sort_by(|a, b| a["load"].as_f64().unwrap_or(0.0).total_cmp(&b["load"].as_f64().unwrap_or(0.0)));
    tell(matches, &bracket, &probes, most)?;
    // What was asked to stop has a load left to try.
    Ok(if bracket.next().is_some() { Exit::Interrupted } else { Exit::Done })
}

fn tell(matches: &ArgMatches, bracket: &Bracket, probes: &[Map<String, Value>], most: f64) -> Result<(), Complaint> {
    let peak = probes
        .iter()
        .filter_map(|probe| probe[FIGURES[0]].as_f64())
        .fold(None, |peak: Option<f64>, accepted| Some(peak.map_or(accepted, |peak| peak.max(accepted))));
    let mut text = Vec::new();
    match matches.get_one::<String>("format").map_or("table", String::as_str) {
        "csv" => {
            // Every row says what the search came to.
            let mut rows = probes.to_vec();
            for row in &mut rows {
                row.insert("complete".to_owned(), json!(bracket.next().is_none()));
                row.insert("saturation_load_phits_per_node_cycle".to_owned(), json!(bracket.load()));
            }
            output::ignore_broken_pipe(write_rows(&rows, &mut text))?;
        }
        "json" => {
            let mut all = Map::new();
            all.insert("schema".to_owned(), json!(1));
            all.insert("complete".to_owned(), json!(bracket.next().is_none()));
            all.insert("saturation_load_phits_per_node_cycle".to_owned(), json!(bracket.load()));
            all.insert("carried_load_phits_per_node_cycle".to_owned(), json!(bracket.low));
            all.insert("saturated_load_phits_per_node_cycle".to_owned(), json!(bracket.high));
            all.insert("peak_accepted_load_phits_per_node_cycle".to_owned(), json!(peak));
            all.insert("probes".to_owned(), json!(probes));
            output::ignore_broken_pipe(write(Format::Json, &all, &mut text))?;
        }
        _ => {
            let mut table = match (bracket.load(), bracket.high) {
                (Some(load), Some(high)) => format!(
                    "saturation load   {load:.4} phits/node/cycle (at least 97 % of {:.4} is accepted, of {high:.4} less)\n",
                    bracket.low
                ),
                (None, None) if bracket.low == 0.0 => "no load has been tried to its end\n".to_owned(),
                (None, Some(high)) => {
                    format!("saturation load   between {:.4} and {high:.4} phits/node/cycle\n", bracket.low)
                }
                _ => format!("not saturated up to {most} phits/node/cycle\n"),
            };
            if bracket.next().is_some() {
                table.insert_str(0, "INCOMPLETE: interrupted, these are the loads tried so far\n");
            }
            if let Some(peak) = peak {
                table.push_str(&format!("peak accepted     {peak:.4} phits/node/cycle, of the loads tried\n"));
            }
            if !probes.is_empty() {
                table.push_str("\n    load  accepted   latency\n phits/node/cycle     cycles\n");
            }
            for probe in probes {
                let number = |name: &str| probe[name].as_f64().map_or("-".to_owned(), |value| format!("{value:.4}"));
                let saturated = if probe["saturated"] == json!(true) { "  saturated" } else { "" };
                let latency = probe[FIGURES[2]].as_f64().map_or("-".to_owned(), |value| format!("{value:.1}"));
                table.push_str(&format!("{:>8}  {:>8}  {latency:>8}{saturated}\n", number("load"), number(FIGURES[0])));
            }
            text = table.into_bytes();
        }
    }
    output::print_text(&String::from_utf8_lossy(&text))
}
