//! Job mixes: the file that `--job-mix` names, and the jobs that it stands for.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adapters::clock::parse_span;
use serde::Deserialize;
use toml::Spanned;
use trgen::catalog::suggestion;
use trgen::trace::formats::{self, Application, ReadError, ReadOptions};
use trgen::trace::jobs::{Gaps, Job, JobMix, JobRecord, Terms, arrivals};
use trgen::trace::kernels;
use trgen::trace::placement;
use trgen::trace::program::Program;
use trgen::trace::replay::{Misfits, Pace, ReplayReport, SHOWN};
use trgen::{Cycle, Geometry, Picoseconds};

use super::conflicts::TRACE;
use super::driver::{distances, expanded, looked_at};
use super::execute::Trouble;
use super::resolve::Experiment;
use super::settings::{Origin, Settings, SettingsError};
use super::traffic::Traffic;

/// Most jobs of a mix.
const MOST: u64 = 100_000;

/// \[ps\] Latest arrival and longest estimate: 53 days, so that sums fit 64 bits.
const LATEST: u64 = 1 << 62;

/// What a job does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// The program of a trace.
    Trace(PathBuf),
    /// A kernel and its parameters.
    Kernel(String),
}

/// An entry of the file: one job, or several instances of it.
#[derive(Clone, PartialEq, Debug)]
pub struct JobEntry {
    /// What results call it; instances are numbered.
    pub name: String,
    /// What it does.
    pub work: Work,
    /// Instances.
    pub count: u32,
    arrival: Picoseconds,
    every: Picoseconds,
    gaps: Gaps,
    estimate: Option<Picoseconds>,
    span: Range<usize>,
    /// Where its trace or kernel stands.
    work_span: Range<usize>,
}

/// A file of jobs.
#[derive(Clone, PartialEq, Debug)]
pub struct JobFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its entries, in order.
    pub entries: Vec<JobEntry>,
    text: Arc<str>,
}

impl JobFile {
    /// The file and every trace that it names.
    #[must_use]
    pub fn paths(&self) -> Vec<&Path> {
        let traces = self.entries.iter().filter_map(|entry| match &entry.work {
            Work::Trace(path) => Some(path.as_path()),
            Work::Kernel(_) => None,
        });
        std::iter::once(self.path.as_path()).chain(traces).collect()
    }

    /// True if any job is that of a trace.
    #[must_use]
    pub fn has_traces(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.work, Work::Trace(_)))
    }

    fn error(&self, span: Range<usize>, what: impl Into<String>, remedy: impl Into<String>) -> SettingsError {
        let origin = Origin::File { path: self.path.clone(), text: self.text.clone(), span };
        SettingsError { what: what.into(), remedy: remedy.into(), origin }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    job: Vec<Spanned<RawEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    name: Option<String>,
    trace: Option<Spanned<PathBuf>>,
    kernel: Option<Spanned<String>>,
    count: Option<Spanned<u32>>,
    arrival: Option<Spanned<RawSpan>>,
    every: Option<Spanned<RawSpan>>,
    arrivals: Option<Spanned<String>>,
    estimate: Option<Spanned<RawSpan>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a time is written with its unit, such as \"10us\", or as a number of cycles")]
enum RawSpan {
    Cycles(u64),
    Text(String),
}

const EXAMPLE: &str =
    "write [[job]] and below it kernel = \"all-to-all:tasks=16\" or trace = \"lu.trg\", arrival = \"10us\"";

/// Reads the file that `--job-mix` names. Paths in it start from its folder, and its cycles are those of `pace`.
pub(super) fn read_jobs(settings: &Settings, pace: Pace) -> Result<JobFile, SettingsError> {
    let path = PathBuf::from(settings.word("job-mix"));
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let what = format!("--job-mix {}: the file cannot be read: {error}", path.display());
        settings.error("job-mix", what, "give the path of a TOML file of jobs")
    })?;
    let text: Arc<str> = text.into();
    let mut file = JobFile { path, entries: Vec::new(), text: text.clone() };
    let raw: RawFile = toml::from_str(&text).map_err(|error| {
        let (what, remedy) = complaint(error.message());
        file.error(error.span().unwrap_or(0..0), what, remedy)
    })?;
    for (number, entry) in (1..).zip(raw.job) {
        let span = entry.span();
        let entry = checked(&file, number, entry.into_inner(), span, pace)?;
        file.entries.push(entry);
    }
    let jobs: u64 = file.entries.iter().map(|entry| u64::from(entry.count)).sum();
    if jobs == 0 || jobs > MOST {
        return Err(file.error(0..0, format!("{jobs} jobs are out of range"), format!("write 1 to {MOST} jobs")));
    }
    Ok(file)
}

/// What to say where the reader of TOML says this.
fn complaint(message: &str) -> (String, String) {
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    match unknown {
        Some((word, rest)) if rest.ends_with("expected `job`") => {
            (format!("`{word}` is not known here: a file of jobs has [[job]] and nothing else"), EXAMPLE.to_owned())
        }
        Some((word, rest)) => {
            let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
            (format!("`{word}` is no key of a job"), suggestion(word, &known))
        }
        None if message.starts_with("missing field `job`") => {
            ("the file has no [[job]]".to_owned(), EXAMPLE.to_owned())
        }
        None => {
            let wrong = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
            let what = match wrong.and_then(|rest| rest.split_once(", expected ")) {
                Some((found, expected)) => format!("{found} stands where {} is expected", expectation(expected)),
                None => format!("the jobs cannot be read: {message}"),
            };
            (what, EXAMPLE.to_owned())
        }
    }
}

/// A type of the reader in words for who writes jobs.
fn expectation(expected: &str) -> &str {
    match expected {
        "u32" => "a count",
        "a string" => "a word in quotes",
        "path string" => "a path in quotes",
        "a sequence" => "[[job]], in two brackets,",
        "struct RawEntry" => "the keys of a job",
        other => other,
    }
}

fn checked(
    file: &JobFile,
    number: usize,
    raw: RawEntry,
    span: Range<usize>,
    pace: Pace,
) -> Result<JobEntry, SettingsError> {
    let (work, work_span) = match (raw.trace, raw.kernel) {
        (Some(path), None) => {
            let span = path.span();
            (Work::Trace(file.path.parent().unwrap_or(Path::new("")).join(path.into_inner())), span)
        }
        (None, Some(kernel)) => {
            let span = kernel.span();
            (Work::Kernel(kernel.into_inner()), span)
        }
        (Some(_), Some(_)) => return Err(file.error(span, "a job has a `trace` or a `kernel`, not both", EXAMPLE)),
        (None, None) => return Err(file.error(span, "a job has neither `trace` nor `kernel`", EXAMPLE)),
    };
    let time = |raw: Option<Spanned<RawSpan>>, name: &str| match raw {
        None => Ok(None),
        Some(raw) => {
            let span = raw.span();
            let found = match raw.into_inner() {
                RawSpan::Cycles(cycles) => cycles.checked_mul(pace.cycle.0),
                RawSpan::Text(text) => parse_span(&text),
            };
            let refused = || {
                let what = format!("`{name}` takes a time with its unit or a number of cycles, at most 53 days");
                file.error(span, what, format!("write {name} = \"10us\" (ps, ns, us, ms, s) or {name} = 1000"))
            };
            found.filter(|&time| time <= LATEST).map(|time| Some(Picoseconds(time))).ok_or_else(refused)
        }
    };
    let (count, count_span) = raw.count.map_or((1, span.clone()), |count| (*count.get_ref(), count.span()));
    if count == 0 || u64::from(count) > MOST {
        return Err(file.error(count_span, format!("`count` {count} is out of range"), format!("use 1 to {MOST}")));
    }
    let gaps = match &raw.arrivals {
        None => Gaps::Regular,
        Some(word) => match word.get_ref().as_str() {
            "regular" => Gaps::Regular,
            "poisson" => Gaps::Poisson,
            other => {
                let what = format!("`arrivals` is regular or poisson, not `{other}`");
                return Err(file.error(word.span(), what, "write arrivals = \"poisson\""));
            }
        },
    };
    if count == 1 && (raw.every.is_some() || raw.arrivals.is_some()) {
        let what = "`every` and `arrivals` have no meaning for one job";
        return Err(file.error(span, what, "add count = 10, or leave them out"));
    }
    let name = raw.name.unwrap_or_else(|| format!("job-{number}"));
    let (arrival, every) = (time(raw.arrival, "arrival")?, time(raw.every, "every")?);
    let (arrival, every) = (arrival.unwrap_or(Picoseconds(0)), every.unwrap_or(Picoseconds(0)));
    let estimate = time(raw.estimate, "estimate")?;
    Ok(JobEntry { name, work, count, arrival, every, gaps, estimate, span, work_span })
}

/// What reading the traces of a mix told.
#[derive(Default, Debug)]
pub(super) struct About {
    /// Of the traces.
    formats: BTreeSet<&'static str>,
    /// One of them has collectives that were expanded.
    expands: bool,
    pub(super) warnings: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) collectives: BTreeMap<&'static str, u64>,
}

/// The mix of an experiment, on a network of this shape.
pub(super) fn job_mix(experiment: &Experiment, geometry: &Geometry) -> Result<(JobMix, About), Trouble> {
    let settings = experiment.settings();
    let Traffic::Jobs { file, options, scheduler, allocation } = &experiment.traffic else {
        return Err(settings.error("job-mix", "there are no jobs", "give --job-mix FILE").into());
    };
    let mut about = About::default();
    let mut jobs = Vec::new();
    let mut names = HashSet::new();
    for (number, entry) in (0..).zip(&file.entries) {
        let program = Arc::new(program(experiment, file, entry, options, geometry, &mut about)?);
        let estimate = match (entry.estimate, *scheduler) {
            (Some(estimate), _) => cycles(estimate, experiment.pace),
            (None, trgen::trace::jobs::Scheduler::Easy) => {
                let what = format!("job `{}` has no `estimate`, which --scheduler easy needs", entry.name);
                let remedy = "add estimate = \"1ms\", or use --scheduler fcfs or first-fit";
                return Err(file.error(entry.span.clone(), what, remedy).into());
            }
            (None, _) => 0,
        };
        let times = arrivals(entry.arrival, entry.every, entry.count, entry.gaps, experiment.router.seed, number);
        for (instance, time) in (1..).zip(times) {
            let name = if entry.count == 1 { entry.name.clone() } else { format!("{}-{instance}", entry.name) };
            if !names.insert(name.clone()) {
                let what = format!("two jobs have the name `{name}`");
                return Err(file.error(entry.span.clone(), what, "give each a name of its own").into());
            }
            let arrival = Cycle::FIRST + cycles(time, experiment.pace);
            jobs.push(Job { name, program: program.clone(), arrival, estimate });
        }
    }
    check_formats(experiment, &about.formats, about.expands)?;
    let terms = Terms {
        scheduler: *scheduler,
        allocation: *allocation,
        placement: experiment.placement.clone(),
        tasks_per_node: experiment.tasks_per_node,
        pace: experiment.pace,
        protocol: experiment.protocol,
        seed: experiment.router.seed,
    };
    let looks = placement::looks_at_traffic(&terms.placement);
    let mut mix = JobMix::new(jobs, terms, geometry).map_err(|refusal| {
        let key = if refusal.to_string().starts_with("job") { "job-mix" } else { "placement" };
        settings.refused(key, &refusal)
    })?;
    if looks {
        mix = mix.with_distance(Arc::new(distances(experiment)?));
    }
    Ok((mix, about))
}

/// Refuses flags that say how traces are read, and that none of these looks at.
fn check_formats(experiment: &Experiment, formats: &BTreeSet<&str>, expands: bool) -> Result<(), SettingsError> {
    let settings = experiment.settings();
    if formats.is_empty() {
        return match TRACE.iter().find(|key| settings.origin(key) == Origin::Flag) {
            Some(key) => {
                let what = format!("--{key} is of traces, and all jobs are kernels");
                Err(settings.error(key, what, "leave it out"))
            }
            None => Ok(()),
        };
    }
    if !expands {
        expanded(experiment, "no job has any to expand")?;
    }
    looked_at(experiment, &Vec::from_iter(formats.iter().copied()), &[])
}

/// Whole cycles of a time, rounded up.
fn cycles(time: Picoseconds, pace: Pace) -> u64 {
    time.0.div_ceil(pace.cycle.0)
}

fn program(
    experiment: &Experiment,
    file: &JobFile,
    entry: &JobEntry,
    options: &ReadOptions,
    geometry: &Geometry,
    about: &mut About,
) -> Result<Program, Trouble> {
    let path = match &entry.work {
        Work::Kernel(spec) => {
            let program = kernels::parse_seeded(spec, geometry.nodes(), None, experiment.router.seed);
            return program.map_err(|refusal| {
                let what = format!("job `{}`: {refusal}", entry.name);
                file.error(entry.work_span.clone(), what, refusal.remedy()).into()
            });
        }
        Work::Trace(path) => path,
    };
    let unreadable = |error: ReadError| {
        let remedy = error.remedy().unwrap_or_else(|| "correct the trace, or record it again".to_owned());
        file.error(entry.work_span.clone(), format!("job `{}`: {error}", entry.name), remedy)
    };
    match formats::open(path, options).map_err(unreadable)? {
        Application::Programs(trace) => {
            let named = |line: String| format!("job `{}`: {line}", entry.name);
            about.warnings.extend(trace.warnings.into_iter().map(named));
            about.notes.extend(trace.notes.into_iter().map(named));
            about.formats.insert(trace.format);
            about.expands |= !trace.algorithms.is_empty();
            for (name, calls) in trace.collectives {
                *about.collectives.entry(name).or_default() += calls * u64::from(entry.count);
            }
            Ok(trace.program)
        }
        Application::Graphs(_) => {
            let what = format!("job `{}`: {} is a graph, and jobs are programs", entry.name, path.display());
            Err(file
                .error(entry.span.clone(), what, "run it alone with --trace, or take another recording of it")
                .into())
        }
    }
}

/// The tasks of all jobs, one job after another.
pub(super) fn together(records: Vec<JobRecord>) -> ReplayReport {
    let mut all = ReplayReport::default();
    for JobRecord { name, report, .. } in records {
        let of_job = |line: String| format!("job `{name}`, {line}");
        let ReplayReport { misfits: Misfits { count, shown }, .. } = report;
        all.misfits.append(Misfits { count, shown: shown.into_iter().map(of_job).collect() });
        all.unmatched.extend(report.unmatched.into_iter().map(of_job));
        all.unmatched.truncate(SHOWN);
        all.tasks.extend(report.tasks);
        all.unreceived += report.unreceived;
        all.unserved += report.unserved;
        all.unfinished += report.unfinished;
    }
    all
}
