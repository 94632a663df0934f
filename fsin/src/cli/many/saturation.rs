//! `fsin saturation`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::ArgMatches;
use fsin::experiment::{Experiment, Key, Lists, LoadBound, Origin, RunPlan, Setting, SettingsError, keys};
use fsin::result::{Figure, RunResult, write_pretty, write_rows};
use fsin::run::{BatchPlan, SHORTFALL};
use fsin::sweep::{Bracket, Found, Grid, Plan, Point, Probe, Saturations, Search, SeedSearch, as_several};
use serde::Serialize;
use serde_json::{Map, Value, json};
use trgen::phrase;

use crate::cli::many::sweep::{lists, warn_of_unused};
use crate::cli::run::perform::{OneOfMany, perform_one};
use crate::cli::run::progress::Points;
use crate::cli::{Complaint, Exit, Flags, interrupt, output, settings};

/// Figures to report for each tried load.
const FIGURES: [Figure; 11] = [
    Figure::AcceptedLoad,
    Figure::AcceptedLoadCi95,
    Figure::LatencyMean,
    Figure::Verdict,
    Figure::Saturated,
    Figure::MeasuredCycles,
    Figure::DecidingCycles,
    Figure::Converged,
    Figure::AcceptedLoadOfSenders,
    Figure::QueueGrowth,
    Figure::QueueGrowthCi95,
];

/// A tried load and its result.
struct Tried {
    /// Offered load in the unit of the network, as all loads in this file.
    load: f64,
    result: RunResult,
}

impl Tried {
    /// The load and its figures, by their names.
    fn row(&self) -> Map<String, Value> {
        let figures = FIGURES.map(|figure| (figure.name().to_owned(), self.result.value(figure)));
        std::iter::once(("load".to_owned(), json!(self.load))).chain(figures).collect()
    }
}

/// Message at the first Ctrl-C.
const STOPPING: &str = "stopping: the load that is being tried is given up, those tried before are printed; again to stop at \
                        once, without results";

/// Range and resolution of the search.
#[derive(Clone, Copy)]
struct Bounds {
    /// The highest load.
    most: f64,
    /// Target width of the bracket.
    tolerance: f64,
    /// Factor by which the run of a load is lengthened at most, to decide it.
    lengthen: u64,
}

impl Bounds {
    /// Number of loads that a search tries.
    fn loads(self) -> usize {
        2 + (self.most / self.tolerance).log2().ceil().max(0.0) as usize
    }
}

/// Finds the saturation loads of networks.
pub(crate) fn saturation(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let (mut lists, many) = lists(matches, "saturation")?;
    if !matches.get_flag("quiet") {
        warn_of_unused(&many);
    }
    if lists.contains_key("cycles") {
        let what = "saturation is that of a steady state, and runs of so many --cycles begin with an empty network";
        return Err(Complaint::new(Exit::Usage, what, "use --warmup, --samples and --sample-size for shorter runs"));
    }
    let of_runs = of_single_runs(&mut lists)?;
    keep_highest(&mut lists)?;
    let grid = Grid::new(lists)?;
    let plan = Plan::new(&grid, 0, many.skip_invalid, &Flags).map_err(|error| {
        let parted = |key: &Key| grid.axes.iter().any(|axis| axis.key.name == key.name);
        // A switch has no words to split.
        let words = |key: &Key| matches.try_get_many::<String>(key.name).ok().flatten();
        let given = |key: &Key| words(key).into_iter().flatten();
        let several = |key: &Key| if parted(key) { None } else { given(key).find_map(|word| as_several(key, word)) };
        settings::with_several(error, several, |flags| phrase!["give it once for each value: ", flags])
    })?;
    let experiments: Vec<Experiment> = plan.points.iter().map(Point::resolve).collect::<Result<_, _>>()?;
    let load = |experiment: &Experiment| experiment.settings().value("load").and_then(|load| load.parse().ok());
    let most = experiments.first().and_then(load).unwrap_or(1.0);
    if most <= 0.0 || !experiments.iter().all(Experiment::uses_load) {
        let what = "this experiment has no load that could be raised";
        return Err(Complaint::new(
            Exit::Usage,
            what,
            "leave out --trace, --kernel, --flows, --shot and the load= of one source, and use a --load above 0",
        ));
    }
    let folder = matches.get_one::<PathBuf>("output");
    if let Some(folder) = folder.filter(|folder| Saturations::are_in(folder) || folder.is_file()) {
        let what = match folder.is_file() {
            true => format!("-o {}: a file of this name exists", folder.display()),
            false => format!("-o {}: the results of a search are already there", folder.display()),
        };
        return Err(Complaint::new(Exit::Usage, what, "name another folder: new, or one of a sweep without them"));
    }
    if !matches.get_flag("quiet") {
        plan.left_out().iter().for_each(|line| output::tell(line));
        let unused = plan.without_effect.iter().filter_map(|(key, origin)| settings::without_effect_of(key, origin));
        unused.chain(of_runs).for_each(|warning| output::tell(&format!("warning: {warning}")));
    }
    let tolerance = many.tolerance.unwrap_or(0.005);
    let lengthen = many.lengthen.unwrap_or(LENGTHEN);
    let bounds = Bounds { most, tolerance, lengthen };
    let stop = interrupt::listen(STOPPING)?;
    if let ([experiment], None) = (&*experiments, folder) {
        return search_one(matches, experiment, bounds, stop);
    }
    let found = search_all(matches, &plan, &experiments, bounds, stop)?;
    if let Some(folder) = folder {
        found.store(folder).map_err(|error| {
            let what = format!("-o {}: cannot keep the results: {error}", folder.display());
            Complaint::new(Exit::Failed, what, "name a folder where you may write")
        })?;
    }
    print_all(matches, &found)?;
    let seeds = || found.searches.iter().flat_map(|search| &search.seeds);
    Ok(match () {
        () if seeds().any(|seed| seed.failure.is_some()) => Exit::PointsFailed,
        () if !found.complete => Exit::Interrupted,
        () => Exit::Done,
    })
}

/// Takes out of the lists what a search has no use for, and returns a warning for each setting that a file or the
/// environment gives.
///
/// # Errors
/// Such a flag.
fn of_single_runs(lists: &mut Lists) -> Result<Vec<String>, Complaint> {
    let mut warnings = Vec::new();
    for key in keys().iter().filter(|key| key.keeps) {
        let Some(given) = lists.remove(key.name) else { continue };
        for setting in given {
            if matches!(setting.origin, Origin::Flag) {
                let what = phrase![[key.name], " is of single runs, and a search keeps their verdicts alone"];
                return Err(Complaint::new(
                    Exit::Usage,
                    what,
                    "leave it out, or sweep loads around the answer with it",
                ));
            }
            warnings.extend(settings::without_effect_of(key, &setting.origin));
        }
    }
    Ok(warnings)
}

/// Replaces the given loads by the highest one, or by 1 if there is none.
fn keep_highest(lists: &mut Lists) -> Result<(), SettingsError> {
    let highest = match lists.remove("load") {
        None => Setting { value: "1".to_owned(), origin: Origin::Default, listed: false, topology: None },
        Some(given) => {
            let first = given.first().cloned();
            let mut grid = Grid::new(Lists::from_iter([("load", given)]))?;
            let load = |setting: &Setting| setting.value.parse::<f64>().unwrap_or(f64::MAX);
            let of_list =
                grid.axes.pop().and_then(|axis| axis.values.into_iter().max_by(|a, b| load(a).total_cmp(&load(b))));
            match of_list.or(first) {
                Some(highest) => highest,
                None => return Ok(()),
            }
        }
    };
    lists.insert("load", vec![highest]);
    Ok(())
}

/// Default of the factor by which runs are lengthened at most.
const LENGTHEN: u64 = 32;

/// Outcome of the search of one experiment.
struct Searched {
    /// The proven bound of the load, if one is known.
    bound: Option<LoadBound>,
    /// The interval that contains the saturation load.
    bracket: Bracket,
    /// The loads that were tried, in ascending order.
    probes: Vec<Tried>,
    /// The load at which a run failed, and why; `None` if none failed.
    failure: Option<(f64, String)>,
}

/// Searches between 0 and the highest load, and calls `tried` after each load. `alone` tells that no other search runs
/// in this process.
fn search(
    experiment: &Experiment,
    bounds: Bounds,
    (stop, alone): (&AtomicBool, bool),
    tried: impl Fn(),
) -> Result<Searched, Complaint> {
    let bound = LoadBound::of(experiment);
    let mut bracket = Bracket::new(bounds.most, bounds.tolerance, bound.map(|bound| bound.load));
    let mut probes: Vec<Tried> = Vec::new();
    let mut failure = None;
    while let Some(load) = bracket.next() {
        let Some(result) = decide(experiment, load, bounds.lengthen, (stop, alone))? else { break };
        if let Some(found) = result.failure {
            failure = Some((load, found.what));
            break;
        }
        let found = match () {
            () if result.is_saturated() => Found::Saturated,
            () if result.is_undecided() => Found::Undecided,
            () => Found::Carried,
        };
        bracket.observe(Probe { load, found });
        probes.push(Tried { load, result });
        tried();
    }
    probes.sort_by(|a, b| a.load.total_cmp(&b.load));
    Ok(Searched { bound, bracket, probes, failure })
}

/// Runs a load, and again with longer warm-up and batches until the verdict is decided or the run is `lengthen` times
/// as long. The lengths are powers of two times the given ones, so that a test of few runs is made at each of them.
/// `None` if the run was stopped.
fn decide(
    experiment: &Experiment,
    load: f64,
    lengthen: u64,
    (stop, alone): (&AtomicBool, bool),
) -> Result<Option<RunResult>, Complaint> {
    let mut factor = 1;
    loop {
        let mut settings = experiment.settings().clone();
        settings.set("load", load.to_string(), settings.origin("load"))?;
        if let RunPlan::Batch(BatchPlan { warmup, sample_size, .. }) = experiment.plan {
            for (key, cycles) in [("warmup", warmup), ("sample-size", sample_size)] {
                settings.set(key, cycles.saturating_mul(factor).to_string(), settings.origin(key))?;
            }
        }
        let longer = Experiment::resolve(settings)?;
        let Some(result) = perform_one(&longer, OneOfMany::new(stop, alone))? else { return Ok(None) };
        let least = factor.saturating_mul(2);
        if !result.is_undecided() || result.failure.is_some() || least > lengthen {
            return Ok(Some(result));
        }
        let times = |(needed, measured): (u64, u64)| needed.div_ceil(measured.max(1)).next_power_of_two();
        let needed = result.deciding_cycles.zip(result.measured_cycles).map_or(2, times);
        factor = factor.saturating_mul(needed.clamp(2, 8)).min(1 << lengthen.ilog2());
    }
}

/// Finds and prints the saturation load of one network with one seed, with every tried load.
fn search_one(
    matches: &ArgMatches,
    experiment: &Experiment,
    bounds: Bounds,
    stop: &AtomicBool,
) -> Result<Exit, Complaint> {
    let meter = Points::new(matches.get_flag("quiet"), bounds.loads());
    let Searched { bound, bracket, probes, failure } = search(experiment, bounds, (stop, true), || meter.one_more())?;
    drop(meter);
    if let Some((load, why)) = failure {
        let what = format!("at load {load}: {why}");
        return Err(Complaint::new(Exit::Watchdog, what, "run that load alone to see more: fsin run --load"));
    }
    print_one(matches, (&bracket, bound), &probes, bounds, experiment)?;
    // A search that was stopped has a load left to try.
    Ok(if bracket.next().is_some() { Exit::Interrupted } else { Exit::Done })
}

/// Executes the searches of all points of a plan on several threads. The results are in the order of the plan.
fn search_all(
    matches: &ArgMatches,
    plan: &Plan,
    experiments: &[Experiment],
    bounds: Bounds,
    stop: &AtomicBool,
) -> Result<Saturations, Complaint> {
    let threads = experiments.first().map_or(1, |experiment| experiment.network.threads()).max(1);
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = matches.get_one::<usize>("jobs").copied().unwrap_or_else(|| (processors() / threads).max(1));
    let meter = Points::new(matches.get_flag("quiet"), bounds.loads() * experiments.len());
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Result<Searched, Complaint>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(experiments.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(experiment) = experiments.get(index) else { break };
                    let searched = search(experiment, bounds, (stop, jobs == 1), || meter.one_more());
                    found.lock().unwrap_or_else(PoisonError::into_inner).push((index, searched));
                }
            });
        }
    });
    drop(meter);
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(index, _)| *index);
    let mut groups: Vec<(Map<String, Value>, Vec<SeedSearch>)> = Vec::new();
    for (index, searched) in found {
        let Searched { bound, bracket, probes, failure } = searched?;
        let point = &plan.points[index];
        let pairs = plan.axes.iter().zip(&point.values).filter(|(axis, _)| axis.key != "seed");
        let settings: Map<String, Value> = pairs.map(|(axis, value)| (axis.key.clone(), json!(value))).collect();
        let seed = SeedSearch {
            seed: experiments[index].settings().value("seed").unwrap_or("").to_owned(),
            complete: failure.is_none() && bracket.next().is_none(),
            load: bracket.load(),
            low: bracket.low,
            high: bracket.high,
            undecided: bracket.undecided,
            bound: bound.map(|bound| bound.load),
            bound_by: bound.map(|bound| bound.by.to_owned()),
            peak: peak(&probes, Figure::AcceptedLoadOfSenders),
            failure: failure.map(|(load, why)| format!("at load {load}: {why}")),
            experiment: point.experiment.clone(),
            probes: probes.iter().map(Tried::row).collect(),
        };
        match groups.iter_mut().find(|(known, _)| *known == settings) {
            Some((_, seeds)) => seeds.push(seed),
            None => groups.push((settings, vec![seed])),
        }
    }
    let searches = groups.into_iter().map(|(settings, seeds)| Search::of(settings, seeds)).collect();
    Ok(Saturations::new(bounds.tolerance, bounds.most, searches))
}

/// The largest value of a figure over the tried loads.
fn peak(probes: &[Tried], figure: Figure) -> Option<f64> {
    probes.iter().filter_map(|probe| probe.result.number(figure)).max_by(f64::total_cmp)
}

/// Prints the searches of several networks or seeds.
fn print_all(matches: &ArgMatches, found: &Saturations) -> Result<(), Complaint> {
    let text = match matches.get_one::<String>("format").map_or("table", String::as_str) {
        "csv" => {
            let mut text = Vec::new();
            output::ignore_broken_pipe(write_rows(&found.rows(), &mut text))?;
            String::from_utf8_lossy(&text).into_owned()
        }
        "json" => {
            let mut text = serde_json::to_string_pretty(found).unwrap_or_default();
            text.push('\n');
            text
        }
        _ => table(found),
    };
    output::print_text(&text)?;
    for (search, seed) in found.searches.iter().flat_map(|search| search.seeds.iter().map(move |seed| (search, seed))) {
        if let Some(why) = &seed.failure {
            let label = [search.label(), format!("seed {}", seed.seed)];
            let label = label.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ");
            output::tell(&format!("failed: {label}: {why}"));
        }
    }
    Ok(())
}

/// What bounds the load, in words.
fn bound_in_words(by: &str) -> &str {
    match by {
        "ejection" => "what the busiest node can receive",
        "cut" => "the links across a cut",
        _ => "all links together",
    }
}

/// The searches as a table of text, with a line for each network.
fn table(found: &Saturations) -> String {
    let labels: Vec<String> = found.searches.iter().map(Search::label).collect();
    let wide = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let has_seeds = found.searches.iter().any(|search| search.seeds.len() > 1);
    let space = if wide > 0 { "  " } else { "" };
    let pad = |word: &str| format!("{word:wide$}{space}");
    let mut text =
        if found.complete { String::new() } else { "INCOMPLETE: these are the loads tried so far\n".to_owned() };
    let error = |word: &str| if has_seeds { format!("  {word:>7}") } else { String::new() };
    text.push_str(&format!(
        "{}saturation{}  {:>8} {:>8}  peak accepted{}\n",
        pad(""),
        error("±95 %"),
        "carried",
        "not",
        error("±95 %")
    ));
    for (search, label) in found.searches.iter().zip(&labels) {
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
        let outcome = search.outcome(found.highest_load);
        text.push_str(&format!(
            "{}{outcome:>10}{}  {:>8} {:>8}  {:>13}{}\n",
            pad(label),
            error(&number(search.load_ci95)),
            number(search.low),
            number(search.high),
            number(search.peak),
            error(&number(search.peak_ci95))
        ));
    }
    let seeds = found.searches.iter().map(|search| search.seeds.len()).max().unwrap_or(1);
    let confidence = if has_seeds { format!("; 95 % confidence over {seeds} seeds") } else { String::new() };
    text + &format!("{}, each to an interval of {}{confidence}\n", found.load_unit(), found.tolerance)
}

/// The saturation load of one network with one seed, as JSON. The names in the output are those of `rename`.
#[derive(Serialize)]
struct Answer {
    /// Version of the names and meanings.
    schema: u64,
    /// True if the search was not interrupted.
    complete: bool,
    #[serde(rename = "saturation_load_phits_per_node_cycle")]
    /// The saturation load; `None` if it was not found.
    load: Option<f64>,
    #[serde(rename = "saturation_low")]
    /// The highest load that was carried.
    low: f64,
    #[serde(rename = "saturation_high")]
    /// The lowest load that was not carried, or the bound.
    high: Option<f64>,
    #[serde(rename = "undecided_loads")]
    /// The lowest and the highest load that could not be decided.
    undecided: Option<(f64, f64)>,
    #[serde(rename = "load_bound_phits_per_node_cycle")]
    bound: Option<f64>,
    #[serde(rename = "load_bound_by")]
    bound_by: Option<&'static str>,
    #[serde(rename = "peak_accepted_load_phits_per_node_cycle")]
    peak: Option<f64>,
    #[serde(rename = "peak_accepted_load_of_senders_phits_per_node_cycle")]
    peak_of_senders: Option<f64>,
    /// The figures of each tried load.
    probes: Vec<Map<String, Value>>,
}

/// Prints the search of one network with one seed.
fn print_one(
    matches: &ArgMatches,
    (bracket, bound): (&Bracket, Option<LoadBound>),
    probes: &[Tried],
    bounds: Bounds,
    experiment: &Experiment,
) -> Result<(), Complaint> {
    let most = bounds.most;
    let (throttled, unit) = (experiment.throttled, experiment.model.load_unit);
    let sign = match throttled {
        true => format!("more than {:.0} % is held back at sources", 100.0 * SHORTFALL),
        false => "its backlog grows".to_owned(),
    };
    let mut text = Vec::new();
    match matches.get_one::<String>("format").map_or("table", String::as_str) {
        "csv" => {
            // Every row contains the outcome of the search.
            let mut rows: Vec<_> = probes.iter().map(Tried::row).collect();
            for row in &mut rows {
                row.insert("complete".to_owned(), json!(bracket.next().is_none()));
                row.insert("saturation_low".to_owned(), json!(bracket.low));
                row.insert("saturation_high".to_owned(), json!(bracket.high));
                row.insert("saturation_load_phits_per_node_cycle".to_owned(), json!(bracket.load()));
            }
            output::ignore_broken_pipe(write_rows(&rows, &mut text))?;
        }
        "json" => {
            let all = Answer {
                schema: 2,
                complete: bracket.next().is_none(),
                load: bracket.load(),
                low: bracket.low,
                high: bracket.high,
                undecided: bracket.undecided,
                bound: bound.map(|bound| bound.load),
                bound_by: bound.map(|bound| bound.by),
                peak: peak(probes, Figure::AcceptedLoad),
                peak_of_senders: peak(probes, Figure::AcceptedLoadOfSenders),
                probes: probes.iter().map(Tried::row).collect(),
            };
            output::ignore_broken_pipe(write_pretty(&all, &mut text))?;
        }
        _ => {
            let reason = match bound.filter(|bound| bracket.high == Some(bound.load)) {
                Some(bound) => format!("bound by {}", bound_in_words(bound.by)),
                None => sign,
            };
            let mut table = match (bracket.load(), bracket.high) {
                (Some(load), Some(high)) => format!(
                    "saturation load   {load:.4} {unit} ({:.4} is carried, {high:.4} is not: {reason})\n",
                    bracket.low
                ),
                (None, _) if probes.is_empty() => "no load has been tried to its end\n".to_owned(),
                (None, Some(high)) => {
                    format!("saturation load   between {:.4} and {high:.4} {unit}\n", bracket.low)
                }
                _ if bracket.low < most => format!("saturation load   above {:.4} {unit}\n", bracket.low),
                _ => format!("not saturated up to {most} {unit}\n"),
            };
            if let Some((least, largest)) = bracket.undecided {
                table.push_str(&format!(
                    "undecided         {least:.4} to {largest:.4} {unit}, after runs {} times as long as given: --lengthen\n",
                    1_u64 << bounds.lengthen.ilog2()
                ));
            }
            if bracket.next().is_some() {
                table.insert_str(0, "INCOMPLETE: interrupted, these are the loads tried so far\n");
            }
            if let Some(peak) = peak(probes, Figure::AcceptedLoadOfSenders) {
                table.push_str(&format!("peak accepted     {peak:.4} {unit}, of the loads tried\n"));
            }
            if !probes.is_empty() {
                table.push_str(&format!("\n    load  accepted   latency\n{unit:^18}{:>10}\n", "cycles"));
            }
            for Tried { load, result } in probes {
                let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
                let state = match () {
                    () if result.is_saturated() => "  saturated",
                    () if result.is_undecided() => "  undecided",
                    () if result.converged == Some(false) => "  not converged",
                    () => "",
                };
                let latency = result.latency_mean_cycles.map_or("-".to_owned(), |value| format!("{value:.1}"));
                let (load, accepted) =
                    (number(Some(*load)), number(result.accepted_load_of_senders_phits_per_node_cycle));
                table.push_str(&format!("{load:>8}  {accepted:>8}  {latency:>8}{state}\n"));
            }
            text = table.into_bytes();
        }
    }
    output::print_text(&String::from_utf8_lossy(&text))
}
