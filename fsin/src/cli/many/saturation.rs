//! `fsin saturation`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::ArgMatches;
use fsin::experiment::{Carried, Experiment, Key, Lists, Origin, keys};
use fsin::result::{Figure, write_pretty, write_rows};
use fsin::run::SHORTFALL;
use fsin::sweep::{
    Grid, Plan, Point, Saturations, Search, SearchBounds, Searched, Tried, as_several, keep_highest, search,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use trgen::phrase;

use crate::cli::many::plot::write_searches;
use crate::cli::many::sweep::{lists, tell_left, warn_of_unused};
use crate::cli::run::perform::{OneOfMany, perform_one};
use crate::cli::run::progress::Points;
use crate::cli::{Complaint, Exit, Flags, interrupt, output, settings};

/// Message at the first Ctrl-C.
const STOPPING: &str = "stopping: the load that is being tried is given up, those tried before are printed; again to stop at \
                        once, without results";

/// Finds the saturation loads of networks.
pub(crate) fn saturation(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let (mut lists, many, unused) = lists(matches, "saturation")?;
    if !matches.get_flag("quiet") {
        warn_of_unused(&unused);
    }
    let of_runs = of_single_runs(&mut lists)?;
    keep_highest(&mut lists)?;
    let grid = Grid::new(lists)?;
    let mut plan = Plan::new(&grid, 0, many.skip_invalid, &Flags).map_err(|error| {
        let parted = |key: &Key| grid.axes.iter().any(|axis| axis.key.name == key.name);
        // A switch has no words to split.
        let words = |key: &Key| matches.try_get_many::<String>(key.name).ok().flatten();
        let given = |key: &Key| words(key).into_iter().flatten();
        let several = |key: &Key| if parted(key) { None } else { given(key).find_map(|word| as_several(key, word)) };
        settings::with_several(error, several, |flags| phrase!["give it once for each value: ", flags])
    })?;
    let experiments: Vec<Experiment> = plan.points.iter().map(Point::resolve).collect::<Result<_, _>>()?;
    let bounds = SearchBounds::of(&experiments, many.tolerance, many.lengthen)
        .map_err(|error| Complaint::new(Exit::Usage, error.what(), error.remedy()))?;
    let folder = matches.get_one::<PathBuf>("output");
    if let Some(folder) = folder.filter(|folder| Saturations::are_in(folder) || folder.is_file()) {
        let what = match folder.is_file() {
            true => format!("-o {}: a file of this name exists", folder.display()),
            false => format!("-o {}: the results of a search are already there", folder.display()),
        };
        return Err(Complaint::new(Exit::Usage, what, "name another folder: new, or one of a sweep without them"));
    }
    let inputs = if folder.is_some() { plan.carry() } else { Carried::default() };
    if !matches.get_flag("quiet") {
        tell_left(&inputs);
        plan.left_out().iter().for_each(|line| output::tell(line));
        let unused = plan.without_effect.iter().filter_map(|(key, origin)| settings::without_effect_of(key, origin));
        let known = known_warnings(&experiments);
        unused.chain(of_runs).chain(known).for_each(|warning| output::tell(&format!("warning: {warning}")));
    }
    let stop = interrupt::listen(STOPPING)?;
    if let ([experiment], None) = (&*experiments, folder) {
        return search_one(matches, experiment, bounds, stop);
    }
    let found = search_all(matches, &plan, &experiments, bounds, stop)?;
    if let Some(folder) = folder {
        inputs.copy(folder).and_then(|()| found.store(folder)).map_err(|error| {
            let what = format!("-o {}: cannot keep the results: {error}", folder.display());
            Complaint::new(Exit::Failed, what, "name a folder where you may write")
        })?;
        write_searches(folder, &found, matches.get_flag("quiet"))?;
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

/// What is to be warned of experiments before they run, each warning once.
fn known_warnings(experiments: &[Experiment]) -> Vec<String> {
    let mut known = Vec::new();
    for experiment in experiments {
        for text in experiment.warnings() {
            let text = text.written(&Flags);
            if !known.contains(&text) {
                known.push(text);
            }
        }
    }
    known
}

/// Finds and prints the saturation load of one network with one seed, with every tried load.
fn search_one(
    matches: &ArgMatches,
    experiment: &Experiment,
    bounds: SearchBounds,
    stop: &AtomicBool,
) -> Result<Exit, Complaint> {
    let meter = Points::new(matches.get_flag("quiet"), bounds.loads());
    let run = |longer: &Experiment| perform_one(longer, OneOfMany::new(stop, true));
    let searched = search(experiment, bounds, run, || meter.one_more())?;
    drop(meter);
    if let Some((load, why)) = &searched.failure {
        let what = format!("at load {load}: {why}");
        return Err(Complaint::new(Exit::Watchdog, what, "run that load alone to see more: fsin run --load"));
    }
    print_one(matches, &searched, bounds, experiment)?;
    // A search that was stopped has a load left to try.
    Ok(if searched.bracket.next().is_some() { Exit::Interrupted } else { Exit::Done })
}

/// Executes the searches of all points of a plan on several threads. The results are in the order of the plan.
fn search_all(
    matches: &ArgMatches,
    plan: &Plan,
    experiments: &[Experiment],
    bounds: SearchBounds,
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
                    let run = |longer: &Experiment| perform_one(longer, OneOfMany::new(stop, jobs == 1));
                    let searched = search(experiment, bounds, run, || meter.one_more());
                    found.lock().unwrap_or_else(PoisonError::into_inner).push((index, searched));
                }
            });
        }
    });
    drop(meter);
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(index, _)| *index);
    let found = found.into_iter().map(|(_, searched)| searched).collect::<Result<Vec<_>, _>>()?;
    Ok(Saturations::of(plan, experiments, bounds, found))
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
        "injection" => "what the busiest node can send over its links",
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
    /// False if the network carries any load, and none was tried.
    has_limit: bool,
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
    searched: &Searched,
    bounds: SearchBounds,
    experiment: &Experiment,
) -> Result<(), Complaint> {
    let Searched { bound, bracket, probes, .. } = searched;
    let (most, bound) = (bounds.most, *bound);
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
                has_limit: searched.has_limit,
                bound: bound.map(|bound| bound.load),
                bound_by: bound.map(|bound| bound.by),
                peak: searched.peak(Figure::AcceptedLoad),
                peak_of_senders: searched.peak(Figure::AcceptedLoadOfSenders),
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
                _ if !searched.has_limit => "no saturation at any load: this network has no limit\n".to_owned(),
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
            if let Some(peak) = searched.peak(Figure::AcceptedLoadOfSenders) {
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
