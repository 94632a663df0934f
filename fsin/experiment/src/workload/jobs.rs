//! Job mixes: the file of `--job-mix`, and the jobs that it describes.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;
use trgen::catalog::{Allowed, ErrorKind, SpecError, Subject, suggestion};
use trgen::clock::FOREVER;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::trace::formats::{self, Application, ReadError, ReadOptions};
use trgen::trace::jobs::{Allocation, Gaps, JOB, Job, JobMix, JobRecord, Scheduler, Terms, arrivals};
use trgen::trace::kernels::{KernelContext, KernelSpec};
use trgen::trace::program::Program;
use trgen::trace::replay::{Misfits, Pace, ReplayReport, SHOWN};
use trgen::units::parse_span;
use trgen::{Cycle, Geometry, Picoseconds, TrGen};

use super::programs::{check_expanded, distances, read_options, reject_inapplicable};
use super::{Driven, Driver, Workload, WorkloadFamily};
use crate::conflicts::{GRAPHS, JOBS, TASKS, TRACE};
use crate::job_classes::CLASSES;
use crate::resolve::Experiment;
use crate::settings::{Origin, Settings, SettingsError};
use crate::trouble::Trouble;

pub(super) static ROW: WorkloadFamily = WorkloadFamily {
    key: Some("job-mix"),
    keys: &[TASKS, TRACE, JOBS],
    parse: |request| {
        let settings = request.settings;
        Ok(Arc::new(Jobs {
            file: read_jobs(settings, request.pace)?,
            options: read_options(request)?,
            scheduler: settings.parsed("scheduler")?,
            allocation: settings.parsed("allocation")?,
        }))
    },
};

/// Applications that arrive one after another.
#[derive(Debug)]
struct Jobs {
    file: JobFile,
    /// Read options of their traces.
    options: ReadOptions,
    /// Policy for the next job to start.
    scheduler: Scheduler,
    /// Policy for the nodes of a job.
    allocation: Allocation,
}

impl Workload for Jobs {
    fn title(&self, _: &dyn Fn(&str) -> String) -> String {
        format!("jobs {}", self.file.path.display())
    }

    fn understands(&self, key: &str) -> bool {
        let is_of_traces = TRACE.contains(&key);
        ROW.understands(key, false) && (!is_of_traces || self.file.has_traces() && !GRAPHS.contains(&key))
    }

    fn files(&self) -> Vec<PathBuf> {
        self.file.paths()
    }

    fn build(&self, experiment: &Experiment, geometry: &Geometry) -> Result<Driver, Trouble> {
        let (mix, About { warnings, notes, collectives, .. }) = job_mix(experiment, self, geometry)?;
        Ok(Driver { driven: Box::new(mix), warnings, notes, collectives, known: Vec::new() })
    }
}

impl Driven for JobMix {
    fn source(&mut self) -> &mut dyn TrGen {
        self
    }

    fn report(&self) -> Option<(ReplayReport, bool)> {
        Some((together(self.records()), true))
    }

    fn jobs(&self) -> Option<&JobMix> {
        Some(self)
    }
}

/// Maximum number of jobs of a mix.
const MOST: u64 = 100_000;

/// \[ps\] Maximum arrival and estimate: 53 days, so that sums fit 64 bits.
const LATEST: u64 = 1 << 62;

/// The work of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// The program of a trace.
    Trace(PathBuf),
    /// A kernel and its parameters.
    Kernel(KernelSpec),
}

/// An entry of the file: one job, or several instances of it.
#[derive(Clone, PartialEq, Debug)]
pub struct JobEntry {
    /// Name in results; instances are numbered.
    pub name: String,
    /// Its work.
    pub work: Work,
    /// Number of instances.
    pub count: u32,
    /// \[ps\] Arrival of the first instance.
    arrival: Picoseconds,
    /// \[ps\] Time between the arrivals of two instances, exact or mean as `gaps` says.
    every: Picoseconds,
    /// How the times between arrivals are distributed.
    gaps: Gaps,
    /// \[ps\] Run time that the user estimates, for schedulers.
    estimate: Option<Picoseconds>,
    /// Traffic class of its messages, below 8.
    class: u8,
    /// \[bytes\] Location of the entry in the file.
    span: Range<usize>,
    /// \[bytes\] Location of its trace or kernel in the file.
    work_span: Range<usize>,
}

/// A file of jobs.
#[derive(Clone, PartialEq, Debug)]
pub struct JobFile {
    /// Its path.
    pub path: PathBuf,
    /// Its entries, in order.
    pub entries: Vec<JobEntry>,
    /// Text of the file.
    text: Arc<str>,
}

impl JobFile {
    /// The file, and every trace and file of a kernel that it names.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        let named = self.entries.iter().flat_map(|entry| match &entry.work {
            Work::Trace(path) => vec![path.clone()],
            Work::Kernel(spec) => spec.files(),
        });
        std::iter::once(self.path.clone()).chain(named).collect()
    }

    /// True if any job replays a trace.
    #[must_use]
    pub fn has_traces(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.work, Work::Trace(_)))
    }

    /// An error at a location in the file.
    fn error(
        &self,
        span: Range<usize>,
        kind: ErrorKind,
        what: impl Into<Phrase>,
        remedy: impl Into<Phrase>,
    ) -> SettingsError {
        self.placed(span, SpecError::new(kind, what, remedy))
    }

    /// This error, at a location in the file.
    fn placed(&self, span: Range<usize>, error: SpecError) -> SettingsError {
        let origin = Origin::File { path: self.path.clone(), text: self.text.clone(), span };
        SettingsError { error: error.of("job-mix"), origin }
    }
}

/// A table with the location of each key and value.
type Table = BTreeMap<Spanned<String>, Spanned<toml::Value>>;

/// A file as written, once `[[job]]` is known to be an array of tables.
#[derive(Deserialize)]
struct RawFile {
    job: Vec<Spanned<Table>>,
}

/// An entry as written, each value of the right type.
#[derive(Default)]
struct RawEntry {
    name: Option<String>,
    trace: Option<Spanned<PathBuf>>,
    kernel: Option<Spanned<String>>,
    count: Option<Spanned<u32>>,
    arrival: Option<Spanned<RawSpan>>,
    every: Option<Spanned<RawSpan>>,
    arrivals: Option<Spanned<String>>,
    estimate: Option<Spanned<RawSpan>>,
    class: Option<u8>,
}

/// The keys of an entry.
const ENTRY: &[&str] = &["name", "trace", "kernel", "count", "arrival", "every", "arrivals", "estimate", "class"];

/// A time as written: a number of cycles, or a text with a unit.
enum RawSpan {
    Cycles(u64),
    Text(String),
}

/// How to write an entry, for errors.
const EXAMPLE: &str =
    "write [[job]] and below it kernel = \"all-to-all:tasks=16\" or trace = \"lu.trg\", arrival = \"10us\"";

/// Reads the file of `--job-mix`. Paths in it are relative to its folder, and its cycles are those of `pace`.
pub(super) fn read_jobs(settings: &Settings, pace: Pace) -> Result<JobFile, SettingsError> {
    let path = PathBuf::from(settings.word("job-mix"));
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let what = phrase![["job-mix" => path.display()], ": the file cannot be read: {error}"];
        settings.error("job-mix", ErrorKind::Unreadable, what, "give the path of a TOML file of jobs")
    })?;
    let text: Arc<str> = text.into();
    let mut file = JobFile { path, entries: Vec::new(), text: text.clone() };
    let raw = raw_entries(&file)?;
    for (number, entry) in (1..).zip(raw) {
        let span = entry.span();
        let entry = checked(&file, number, entry.into_inner(), span, pace)?;
        file.entries.push(entry);
    }
    let jobs: u64 = file.entries.iter().map(|entry| u64::from(entry.count)).sum();
    if jobs == 0 || jobs > MOST {
        return Err(file.error(
            0..0,
            ErrorKind::OutOfRange,
            format!("{jobs} jobs are out of range"),
            format!("write 1 to {MOST} jobs"),
        ));
    }
    Ok(file)
}

/// The entries of a file, in order, each with its location.
fn raw_entries(file: &JobFile) -> Result<Vec<Spanned<RawEntry>>, SettingsError> {
    let unreadable = |error: toml::de::Error| {
        let what = format!("the jobs cannot be read: {}", error.message());
        file.error(error.span().unwrap_or(0..0), ErrorKind::Malformed, what, EXAMPLE)
    };
    let table: Table = toml::from_str(&file.text).map_err(unreadable)?;
    let others = table.keys().filter(|name| name.get_ref() != "job");
    if let Some(other) = others.min_by_key(|name| name.span().start) {
        let what = format!("`{}` is not known here: a file of jobs has [[job]] and nothing else", other.get_ref());
        return Err(file.error(other.span(), ErrorKind::UnknownName, what, EXAMPLE));
    }
    let Some(jobs) = table.into_values().next() else {
        return Err(file.error(0..file.text.len(), ErrorKind::Malformed, "the file has no [[job]]", EXAMPLE));
    };
    let wrong = |found: &toml::Value, expected| wrong_type(file, jobs.span(), found, expected);
    match jobs.get_ref() {
        toml::Value::Array(items) => {
            if let Some(item) = items.iter().find(|item| !item.is_table()) {
                return Err(wrong(item, "the keys of a job"));
            }
        }
        other => return Err(wrong(other, "[[job]], in two brackets,")),
    }
    let RawFile { job } = toml::from_str(&file.text).map_err(unreadable)?;
    let entry = |table: Spanned<Table>| Ok(Spanned::new(table.span(), raw_entry(file, table.into_inner())?));
    job.into_iter().map(entry).collect()
}

/// The keys of one entry.
fn raw_entry(file: &JobFile, table: Table) -> Result<RawEntry, SettingsError> {
    let mut raw = RawEntry::default();
    let mut fields: Vec<_> = table.into_iter().collect();
    fields.sort_by_key(|(name, _)| name.span().start);
    for (name, value) in fields {
        let (key, span, value) = (name.get_ref().as_str(), value.span(), value.into_inner());
        let wrong = |expected| wrong_type(file, span.clone(), &value, expected);
        let text = || value.as_str().map(str::to_owned);
        let word = || Ok(Some(Spanned::new(span.clone(), text().ok_or_else(|| wrong("a word in quotes"))?)));
        let time = || match &value {
            toml::Value::String(text) => Some(RawSpan::Text(text.clone())),
            toml::Value::Integer(cycles) => u64::try_from(*cycles).ok().map(RawSpan::Cycles),
            _ => None,
        };
        let time = || {
            let no_time = || {
                let what = "the jobs cannot be read: a time is written with its unit, such as \"10us\", or as a number of \
                            cycles";
                file.error(span.clone(), ErrorKind::Malformed, what, EXAMPLE)
            };
            Ok(Some(Spanned::new(span.clone(), time().ok_or_else(no_time)?)))
        };
        match key {
            "name" => raw.name = word()?.map(Spanned::into_inner),
            "trace" => {
                let path = text().ok_or_else(|| wrong("a path in quotes"))?;
                raw.trace = Some(Spanned::new(span.clone(), path.into()));
            }
            "kernel" => raw.kernel = word()?,
            "count" => {
                let count = value.as_integer().and_then(|count| u32::try_from(count).ok());
                raw.count = Some(Spanned::new(span.clone(), count.ok_or_else(|| wrong("a count"))?));
            }
            "arrival" => raw.arrival = time()?,
            "every" => raw.every = time()?,
            "arrivals" => raw.arrivals = word()?,
            "estimate" => raw.estimate = time()?,
            "class" => {
                let class = value.as_integer().and_then(|class| u8::try_from(class).ok());
                let class = class.filter(|&class| class < CLASSES);
                let out_of_range = || {
                    let what = "`class` is a traffic class from 0 to 7";
                    file.error(span.clone(), ErrorKind::OutOfRange, what, "write class = 3")
                };
                raw.class = Some(class.ok_or_else(out_of_range)?);
            }
            other => {
                let near = suggestion(other, ENTRY);
                let what = format!("`{other}` is no key of a job");
                let error = SpecError::new(ErrorKind::UnknownName, what, &near).given(other);
                return Err(file.placed(name.span(), error.allowed(Allowed::Names(near))));
            }
        }
    }
    Ok(raw)
}

/// The error of a value of an unexpected type.
fn wrong_type(file: &JobFile, span: Range<usize>, found: &toml::Value, expected: &str) -> SettingsError {
    let found = match found {
        toml::Value::String(text) => format!("string {text:?}"),
        toml::Value::Integer(number) => format!("integer `{number}`"),
        toml::Value::Float(number) => format!("floating point `{number}`"),
        toml::Value::Boolean(on) => format!("boolean `{on}`"),
        toml::Value::Array(_) => "sequence".to_owned(),
        toml::Value::Table(_) => "map".to_owned(),
        toml::Value::Datetime(date) => format!("date `{date}`"),
    };
    let what = format!("{found} stands where {expected} is expected");
    file.error(span, ErrorKind::Malformed, what, EXAMPLE)
}

/// The checked entry number `number`.
fn checked(
    file: &JobFile,
    number: usize,
    raw: RawEntry,
    span: Range<usize>,
    pace: Pace,
) -> Result<JobEntry, SettingsError> {
    let folder = file.path.parent().unwrap_or(Path::new(""));
    let name = raw.name.unwrap_or_else(|| format!("job-{number}"));
    let (work, work_span) = match (raw.trace, raw.kernel) {
        (Some(path), None) => {
            let span = path.span();
            (Work::Trace(folder.join(path.into_inner())), span)
        }
        (None, Some(kernel)) => {
            let refused = |refusal: SpecError| file.placed(kernel.span(), refusal.within(format!("job `{name}`: ")));
            let mut spec: KernelSpec = kernel.get_ref().parse().map_err(refused)?;
            spec.replace_files(|name| folder.join(name));
            (Work::Kernel(spec), kernel.span())
        }
        (Some(_), Some(_)) => {
            return Err(file.error(span, ErrorKind::Conflict, "a job has a `trace` or a `kernel`, not both", EXAMPLE));
        }
        (None, None) => {
            return Err(file.error(span, ErrorKind::Malformed, "a job has neither `trace` nor `kernel`", EXAMPLE));
        }
    };
    let time = |raw: Option<Spanned<RawSpan>>, name: &str| match raw {
        None => Ok(None),
        Some(raw) => {
            let span = raw.span();
            let found = match raw.into_inner() {
                RawSpan::Cycles(cycles) => Some(pace.cycle.span(cycles)).filter(|&span| span != FOREVER),
                RawSpan::Text(text) => parse_span(&text),
            };
            let refused = || {
                let what = format!("`{name}` takes a time with its unit or a number of cycles, at most 53 days");
                file.error(
                    span,
                    ErrorKind::Malformed,
                    what,
                    format!("write {name} = \"10us\" (ps, ns, us, ms, s) or {name} = 1000"),
                )
            };
            found.filter(|&time| time <= LATEST).map(|time| Some(Picoseconds(time))).ok_or_else(refused)
        }
    };
    let (count, count_span) = raw.count.map_or((1, span.clone()), |count| (*count.get_ref(), count.span()));
    if count == 0 || u64::from(count) > MOST {
        return Err(file.error(
            count_span,
            ErrorKind::OutOfRange,
            format!("`count` {count} is out of range"),
            format!("use 1 to {MOST}"),
        ));
    }
    let gaps = match &raw.arrivals {
        None => Gaps::Regular,
        Some(word) => match word.get_ref().as_str() {
            "regular" => Gaps::Regular,
            "poisson" => Gaps::Poisson,
            other => {
                let what = format!("`arrivals` is regular or poisson, not `{other}`");
                return Err(file.error(word.span(), ErrorKind::UnknownName, what, "write arrivals = \"poisson\""));
            }
        },
    };
    if count == 1 && (raw.every.is_some() || raw.arrivals.is_some()) {
        let what = "`every` and `arrivals` have no meaning for one job";
        return Err(file.error(span, ErrorKind::Meaningless, what, "add count = 10, or leave them out"));
    }
    let (arrival, every) = (time(raw.arrival, "arrival")?, time(raw.every, "every")?);
    let (arrival, every) = (arrival.unwrap_or(Picoseconds(0)), every.unwrap_or(Picoseconds(0)));
    let estimate = time(raw.estimate, "estimate")?;
    let class = raw.class.unwrap_or(0);
    Ok(JobEntry { name, work, count, arrival, every, gaps, estimate, class, span, work_span })
}

/// Findings of the readers of a mix's traces.
#[derive(Default, Debug)]
pub(super) struct About {
    /// Formats of the traces.
    formats: BTreeSet<&'static str>,
    /// True if a trace has collectives that its reader expanded.
    expands: bool,
    /// Warnings for readers of the results.
    pub(super) warnings: Vec<Phrase>,
    /// Notes for readers of the results.
    pub(super) notes: Vec<Phrase>,
    /// Number of calls of each collective operation.
    pub(super) collectives: BTreeMap<&'static str, u64>,
}

/// The mix of an experiment, on a network of this shape.
fn job_mix(experiment: &Experiment, of: &Jobs, geometry: &Geometry) -> Result<(JobMix, About), Trouble> {
    let settings = experiment.settings();
    let Jobs { file, options, scheduler, allocation } = of;
    let mut about = About::default();
    let mut jobs = Vec::new();
    let mut names = HashSet::new();
    for (number, entry) in (0..).zip(&file.entries) {
        let program = Arc::new(program(experiment, file, entry, options, geometry, &mut about)?);
        let estimate = match (entry.estimate, *scheduler) {
            (Some(estimate), _) => cycles(estimate, experiment.pace),
            (None, Scheduler::Easy) => {
                let what =
                    phrase![("job `{}` has no `estimate`, which ", entry.name), ["scheduler" => "easy"], " needs"];
                let remedy = phrase!["add estimate = \"1ms\", or use ", ["scheduler" => "fcfs"], " or first-fit"];
                return Err(file.error(entry.span.clone(), ErrorKind::Malformed, what, remedy).into());
            }
            (None, _) => 0,
        };
        let times = arrivals(entry.arrival, entry.every, entry.count, entry.gaps, experiment.seed, number);
        for (instance, time) in (1..).zip(times) {
            let name = if entry.count == 1 { entry.name.clone() } else { format!("{}-{instance}", entry.name) };
            if !names.insert(name.clone()) {
                let what = format!("two jobs have the name `{name}`");
                return Err(file
                    .error(entry.span.clone(), ErrorKind::Conflict, what, "give each a name of its own")
                    .into());
            }
            let arrival = Cycle::FIRST + cycles(time, experiment.pace);
            jobs.push(Job { name, program: program.clone(), arrival, estimate, class: entry.class });
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
        seed: experiment.seed,
    };
    let looks = terms.placement.looks_at_traffic();
    let mut mix = JobMix::new(jobs, terms, geometry).map_err(|refusal| {
        let is_of_job = matches!(refusal.subject(), Subject::Component { family: JOB, .. });
        settings.refused(if is_of_job { "job-mix" } else { "placement" }, refusal)
    })?;
    if looks {
        mix = mix.with_distance(Arc::new(distances(experiment)?));
    }
    Ok((mix, about))
}

/// Rejects flags for reading traces that apply to none of these formats.
fn check_formats(experiment: &Experiment, formats: &BTreeSet<&str>, expands: bool) -> Result<(), SettingsError> {
    let settings = experiment.settings();
    if formats.is_empty() {
        return match TRACE.iter().find(|key| settings.origin(key) == Origin::Flag) {
            Some(key) => {
                let what = phrase![[key], " is of traces, and all jobs are kernels"];
                Err(settings.error(key, ErrorKind::Meaningless, what, "leave it out"))
            }
            None => Ok(()),
        };
    }
    if !expands {
        check_expanded(experiment, "no job has any to expand")?;
    }
    reject_inapplicable(experiment, &Vec::from_iter(formats.iter().copied()), &[])
}

/// \[cycles\] A time in whole cycles, rounded up.
fn cycles(time: Picoseconds, pace: Pace) -> u64 {
    pace.cycle.cycles_for(time.0)
}

/// The program of an entry. Adds the findings of its reader to `about`.
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
            let context = KernelContext {
                seed: experiment.seed,
                packet_bytes: Some(experiment.units.packet_bytes()),
                sends_end_at_departure: !experiment.network.sends_end_at_arrival(),
                ..KernelContext::new(geometry.nodes(), None)
            };
            let program = spec.program(&context);
            return program.map_err(|refusal| {
                let refusal = refusal.within(format!("job `{}`: ", entry.name));
                file.placed(entry.work_span.clone(), refusal).into()
            });
        }
        Work::Trace(path) => path,
    };
    let unreadable = |error: ReadError| {
        let remedy = error.remedy().unwrap_or_else(|| "correct the trace, or record it again".into());
        file.error(entry.work_span.clone(), ErrorKind::Unreadable, format!("job `{}`: {error}", entry.name), remedy)
    };
    match formats::open(path, options).map_err(unreadable)? {
        Application::Programs(trace) => {
            let named = |line: String| Phrase::from(format!("job `{}`: {line}", entry.name));
            about.warnings.extend(trace.warnings.into_iter().map(named));
            about.notes.extend(trace.notes.into_iter().map(named));
            about.formats.insert(trace.format);
            about.expands |= !trace.algorithms.is_empty();
            for (name, calls) in trace.collectives {
                *about.collectives.entry(name).or_default() += calls * u64::from(entry.count);
            }
            Ok(trace.program)
        }
        Application::Graphs(_) | Application::Chakra(_) => {
            let what = format!("job `{}`: {} is a graph, and jobs are programs", entry.name, path.display());
            Err(file
                .error(
                    entry.span.clone(),
                    ErrorKind::Unsupported,
                    what,
                    phrase!["run it alone with ", ["trace"], ", or take another recording of it"],
                )
                .into())
        }
    }
}

/// The reports of the tasks of all jobs, one job after another.
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
