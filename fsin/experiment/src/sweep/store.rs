//! The folder of a sweep.
//!
//! ```text
//! plan.json              the points to run
//! journal.jsonl          a log, one line per event, for readers only: no decision depends on it
//! points/ID/             of each point that has run: result.json, manifest.json, experiment.toml, SHA256SUMS
//! inputs/HASH/           files that the points read
//! points.records         instead of these folders, results of small points, a line for each (`--compact`)
//! damaged/ID/            former content of `points/ID` that failed its checksums, before the point was run again
//! failed/ID.txt          why a point has no result
//! results.csv, .jsonl    all points together, written by collecting
//! ```
//!
//! A folder `points/ID` is complete or absent: it is written under a name that begins with a dot, and renamed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::plan::{LAYOUT, Plan, Point};
use super::records::{NAME, Records};
use super::sums::{damage, write_files};
use crate::carried::{self, Carried};
use crate::result::{self, Figure, RunResult};

/// The remedy for a damaged plan.
const REBUILD: &str = "the file is damaged or of another version: give the command line with which the sweep was begun once \
                       more, with {resume}; it is planned again, and results that are there are kept";

/// A folder that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct StoreError {
    /// The file and its problem.
    pub what: String,
    /// The remedy, with settings in braces ([`Phrase::of_template`](trgen::phrase::Phrase::of_template)).
    pub remedy: &'static str,
    /// True if the folder is not of the expected kind; false if reading or writing failed.
    pub usage: bool,
}

/// The folder of a sweep.
#[derive(Clone, Debug)]
pub struct Store {
    /// Path of the folder.
    root: PathBuf,
    /// The file of small points.
    records: Arc<Records>,
    /// The time of lines of the journal, as text; no result depends on it.
    clock: fn() -> Option<String>,
}

/// The state of a point in the folder.
#[derive(Clone, PartialEq, Debug)]
pub enum Stored {
    /// The point has not run.
    Absent,
    /// The point has this result.
    Whole(Box<RunResult>),
    /// The point's files failed verification, with the reason.
    Damaged(String),
}

/// Replaces a file atomically: the old file stays if the new one cannot be written.
///
/// # Errors
/// When the new one cannot be written beside it.
pub fn replace_file(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.{}.partial", std::process::id()));
    let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

impl Store {
    /// The folder of this path, which need not exist.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), records: Arc::new(Records::at(root)), clock: || None }
    }

    /// The same, with this clock for its journal.
    #[must_use]
    pub fn timed(self, clock: fn() -> Option<String>) -> Self {
        Self { clock, ..self }
    }

    /// Path of the folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// True if a sweep has been planned here.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.root.join("plan.json").exists()
    }

    /// True if points have been run here and their plan is missing, or is not what was written. A plan of a later version
    /// is not damaged.
    #[must_use]
    pub fn has_lost_its_plan(&self) -> bool {
        match fs::read(self.root.join("plan.json")) {
            Ok(text) => {
                let layout = serde_json::from_slice::<Value>(&text).ok();
                let layout = layout.as_ref().and_then(|plan| plan.get("layout")?.as_u64());
                layout.is_none_or(|layout| layout <= LAYOUT) && self.plan().is_err()
            }
            Err(error) => {
                error.kind() == io::ErrorKind::NotFound && self.root.join("points").is_dir() && !self.is_unplanned()
            }
        }
    }

    /// Moves a plan that is damaged to `damaged/plan.json`, so that `plan`, made anew from the command line of the sweep,
    /// can take its place. Needs the exclusive lock.
    ///
    /// # Errors
    /// A point has run that `plan` does not contain: it is the plan of another sweep. Files that cannot be moved.
    pub fn set_plan_aside(&self, plan: &Plan) -> Result<(), StoreError> {
        let entries = fs::read_dir(self.root.join("points")).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let compact = self.records.ids().unwrap_or_default();
        let mut names = names.filter(|name| !name.starts_with('.')).chain(compact);
        if let Some(name) = names.find(|name| plan.points.iter().all(|point| point.id != *name)) {
            return Err(StoreError {
                what: format!(
                    "{}: its plan.json is damaged, and the point {name} has run there, which is none of this command line",
                    self.root.display()
                ),
                remedy: "give the command line with which the sweep was begun, with {resume}; or sweep into a new folder",
                usage: true,
            });
        }
        if self.exists() {
            let moved = fs::create_dir_all(self.root.join("damaged"))
                .and_then(|()| fs::rename(self.root.join("plan.json"), self.root.join("damaged/plan.json")));
            self.written("damaged", moved)?;
        }
        self.note("plan damaged", None, json!({}));
        Ok(())
    }

    /// The plan.
    ///
    /// # Errors
    /// No plan, or one of another version.
    pub fn plan(&self) -> Result<Plan, StoreError> {
        let path = self.root.join("plan.json");
        let what = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
        let text = fs::read(&path).map_err(|error| StoreError {
            what: if error.kind() == ErrorKind::NotFound { self.no_results() } else { what(&error) },
            remedy: "give a folder that `fsin sweep -o` has filled; `fsin rerun` also takes those of `fsin run -o`",
            usage: true,
        })?;
        let plan: Plan = serde_json::from_slice(&text).map_err(|error| StoreError {
            what: what(&error),
            remedy: REBUILD,
            usage: true,
        })?;
        if !plan.is_known() {
            let what = what(&format!("layout {} is not known to this version", plan.layout));
            return Err(StoreError { what, remedy: "use the version that wrote it", usage: true });
        }
        let remedy = REBUILD;
        if let Some(point) = plan.points.iter().find(|point| point.values.len() != plan.axes.len()) {
            let (values, axes) = (point.values.len(), plan.axes.len());
            let what = what(&format!("point {} has {values} values, and there are {axes} axes", point.id));
            return Err(StoreError { what, remedy, usage: true });
        }
        if !plan.is_as_written() {
            let what = what(&"its content does not have the checksum at its end");
            return Err(StoreError { what, remedy, usage: true });
        }
        Ok(plan.placed(&self.root))
    }

    /// What is wrong with a folder without results, and which folders beside it have some.
    fn no_results(&self) -> String {
        const MOST: usize = 3;
        let root = self.root.display();
        let what = match fs::metadata(&self.root) {
            Ok(found) if found.is_dir() => format!("{root} has no results: neither plan.json nor result.json is in it"),
            Ok(_) => format!("{root} is a file, and results are in a folder"),
            Err(_) => format!("there is no folder {root}"),
        };
        let beside = self.root.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let has_results = |path: &PathBuf| path.join("plan.json").is_file() || path.join("result.json").is_file();
        let folders = [beside, &*self.root].into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        let mut found: Vec<PathBuf> = folders.flatten().map(|entry| entry.path()).filter(has_results).collect();
        found.sort();
        let names: Vec<String> = found.iter().take(MOST).map(|path| path.display().to_string()).collect();
        match names.is_empty() {
            true => what,
            false => format!("{what}; results are in {}", names.join(", ")),
        }
    }

    /// Locks the folder for exclusive use, as [`Store::lock`] does, and writes the plan, and the input files that it names, if
    /// there is none. After an interruption at any moment, the folder either [`Store::is_unplanned`] or has a complete plan.
    ///
    /// # Errors
    /// Another process holds the lock, another plan has been written meanwhile, an input has changed, or the folder is not
    /// writable.
    pub fn begin(&self, plan: &Plan, inputs: &Carried) -> Result<File, StoreError> {
        self.written("points", fs::create_dir_all(self.root.join("points")))?;
        let lock = self.lock(true)?;
        if !self.exists() {
            self.written("inputs", inputs.copy(&self.root))?;
            let text = serde_json::to_string_pretty(plan).map_err(io::Error::from);
            self.written("plan.json", text.and_then(|text| self.replace("plan.json", &(text + "\n"))))?;
        } else if !self.plan()?.same_points(plan) {
            return Err(StoreError {
                what: format!("{}: another sweep has been planned there in the meantime", self.root.display()),
                remedy: "name a new folder",
                usage: true,
            });
        }
        Ok(lock)
    }

    /// Keeps small points in one file from now on.
    ///
    /// # Errors
    /// The folder is not writable.
    pub fn make_compact(&self) -> Result<(), StoreError> {
        self.written(NAME, self.records.create())
    }

    /// Locks the folder, for exclusive use (`alone`) or shared by processes that run a point each. The lock is released
    /// when the returned file is dropped, or when the process ends in any way.
    ///
    /// # Errors
    /// Another process holds the lock.
    pub fn lock(&self, alone: bool) -> Result<File, StoreError> {
        let path = self.root.join(".lock");
        let file = self.written(".lock", OpenOptions::new().create(true).append(true).open(&path))?;
        match if alone { file.try_lock() } else { file.try_lock_shared() } {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(StoreError {
                what: format!("{}: another process is running this sweep", self.root.display()),
                remedy: "wait until it ends, or stop it; then use {resume}",
                usage: true,
            }),
            // Some cluster file systems have no locks; folders of points are complete or absent there too.
            Err(TryLockError::Error(_)) => Ok(file),
        }
    }

    /// True if a sweep was stopped here before its plan was written: the folder holds only files that precede a plan.
    #[must_use]
    pub fn is_unplanned(&self) -> bool {
        let is_before_plan = |entry: io::Result<fs::DirEntry>| {
            entry.is_ok_and(|entry| match &*entry.file_name().to_string_lossy() {
                ".lock" => true,
                "inputs" => entry.path().is_dir(),
                "points" => fs::read_dir(entry.path()).is_ok_and(|mut points| points.next().is_none()),
                name => name.starts_with(".plan.json.") && name.ends_with(".partial"),
            })
        };
        fs::read_dir(&self.root).is_ok_and(|mut entries| entries.all(is_before_plan))
    }

    /// Removes partial files of interrupted runs. Needs the exclusive lock.
    pub fn clean(&self) {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        // Files that cannot be removed do no harm.
        for entry in entries(&self.root.join("points")) {
            if entry.file_name().to_string_lossy().starts_with('.') {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        for entry in entries(&self.root) {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') && name.ends_with(".partial") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Folder of a point.
    #[must_use]
    pub fn folder(&self, point: &Point) -> PathBuf {
        self.root.join("points").join(&point.id)
    }

    /// The state of a point. `checksums` is true if its folder must have checksums, see [`Plan::has_checksums`].
    ///
    /// # Errors
    /// When an existing file cannot be read.
    pub fn stored(&self, point: &Point, checksums: bool) -> Result<Stored, StoreError> {
        let folder = self.folder(point);
        if !folder.exists() {
            return Ok(match self.compact(point)? {
                None => Stored::Absent,
                Some(Ok(result)) => Stored::Whole(Box::new(result)),
                Some(Err(why)) => Stored::Damaged(why),
            });
        }
        let unread = |error: io::Error| StoreError {
            what: format!("cannot read {}: {error}", folder.display()),
            remedy: "make its files readable",
            usage: true,
        };
        let damaged = damage(&folder, checksums).map_err(unread)?;
        Ok(match &damaged[..] {
            [] => match self.read(point) {
                Ok(result) => Stored::Whole(Box::new(result)),
                Err(why) => Stored::Damaged(why),
            },
            damaged => Stored::Damaged(damaged.join(", ")),
        })
    }

    /// The result of a point in the file of small points, or why it cannot be used; `None` if it is not there.
    pub(super) fn compact(&self, point: &Point) -> Result<Option<Result<RunResult, String>>, StoreError> {
        let read = self.records.get(&point.id).map_err(|error| StoreError {
            what: format!("cannot read {NAME} in {}: {error}", self.root.display()),
            remedy: "make it readable",
            usage: true,
        })?;
        Ok(read.map(|text| parsed(text.as_bytes()).map_err(|why| format!("{NAME}: {why}"))))
    }

    /// The result in the file of a point without verification, or why there is none.
    pub(super) fn read(&self, point: &Point) -> Result<RunResult, String> {
        let read = fs::read(self.folder(point).join("result.json")).map_err(|error| error.to_string());
        read.and_then(|text| parsed(&text)).map_err(|why| format!("result.json: {why}"))
    }

    /// The result of a point; `None` if it has not run.
    ///
    /// # Errors
    /// A result that fails verification.
    pub fn result(&self, point: &Point, checksums: bool) -> Result<Option<RunResult>, StoreError> {
        match self.stored(point, checksums)? {
            Stored::Absent => Ok(None),
            Stored::Whole(result) => Ok(Some(*result)),
            Stored::Damaged(why) => Err(self.damaged(point, &why)),
        }
    }

    /// The error of a point that fails verification.
    pub(super) fn damaged(&self, point: &Point, why: &str) -> StoreError {
        StoreError {
            what: format!("{} is damaged: {why}", self.folder(point).display()),
            remedy: "run the point again: fsin sweep {resume} -o DIR; it keeps what is there in DIR/damaged",
            usage: true,
        }
    }

    /// Moves every damaged point to `damaged/ID`, so that it is run again; returns them with the reasons. Needs the
    /// exclusive lock.
    ///
    /// # Errors
    /// When files cannot be read, or folders not be moved.
    pub fn set_damaged_aside(&self, plan: &Plan) -> Result<Vec<(usize, String)>, StoreError> {
        let mut aside = Vec::new();
        for (index, point) in plan.points.iter().enumerate() {
            let Stored::Damaged(why) = self.stored(point, plan.has_checksums())? else { continue };
            let target = self.root.join("damaged").join(&point.id);
            let moved = fs::create_dir_all(self.root.join("damaged")).and_then(|()| {
                if target.exists() {
                    fs::remove_dir_all(&target)?;
                }
                // A line of another version remains; that of the new run counts.
                if self.folder(point).exists() { fs::rename(self.folder(point), &target) } else { Ok(()) }
            });
            self.written("damaged", moved)?;
            self.note("damaged", Some(point), json!({ "why": why }));
            aside.push((index, why));
        }
        Ok(aside)
    }

    /// Stores the result of a point, which becomes visible atomically.
    ///
    /// # Errors
    /// When the folder is not writable.
    pub fn keep(&self, point: &Point, result: &RunResult) -> Result<(), StoreError> {
        let experiment = point.file();
        let mut result = result.clone();
        let root = std::path::absolute(&self.root).unwrap_or_else(|_| self.root.clone());
        carried::rename(&mut result, |path| {
            let path = std::path::absolute(path).ok()?;
            Some(path.strip_prefix(&root).ok()?.to_owned())
        });
        let result = &result;
        if self.records.exist()
            && let Some(line) = self.written(&point.id, small(result))?
        {
            let _ = fs::remove_file(self.failure_path(&point.id));
            return self.written(NAME, self.records.add(&point.id, &line));
        }
        let folder = self.folder(point);
        let name = format!(".{}.{}.partial", point.id, std::process::id());
        let partial = self.root.join("points").join(name);
        let kept = keep_in(&partial, result, &experiment).and_then(|()| match fs::rename(&partial, &folder) {
            // Another process has stored the same result.
            Err(_) if folder.join("result.json").exists() => fs::remove_dir_all(&partial),
            renamed => renamed,
        });
        let _ = fs::remove_file(self.failure_path(&point.id));
        self.written(&point.id, kept)
    }

    /// Records why a point has no result.
    ///
    /// # Errors
    /// The folder is not writable.
    pub fn fail(&self, point: &Point, why: &str) -> Result<(), StoreError> {
        let failed = fs::create_dir_all(self.root.join("failed"))
            .and_then(|()| self.replace(&format!("failed/{}.txt", point.id), &format!("{why}\n")));
        self.written("failed", failed)
    }

    /// Why a point has no result, if a run of it failed.
    #[must_use]
    pub fn failure(&self, point: &Point) -> Option<String> {
        fs::read_to_string(self.failure_path(&point.id)).ok().map(|text| text.trim_end().to_owned())
    }

    /// The file that says why a point has no result.
    fn failure_path(&self, id: &str) -> PathBuf {
        self.root.join("failed").join(format!("{id}.txt"))
    }

    /// Adds a line to the journal. A failure to write it affects no result.
    pub fn note(&self, event: &str, point: Option<&Point>, more: Value) {
        let mut line = Map::new();
        line.insert("time".to_owned(), json!((self.clock)()));
        line.insert("event".to_owned(), json!(event));
        if let Some(point) = point {
            line.insert("point".to_owned(), json!(point.id));
        }
        if let Value::Object(more) = more {
            line.extend(more);
        }
        let text = format!("{}\n", Value::Object(line));
        if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(self.root.join("journal.jsonl")) {
            let _ = file.write_all(text.as_bytes());
        }
    }

    /// Replaces a file atomically: readers see the old text or the new one.
    pub(super) fn replace(&self, name: &str, text: &str) -> io::Result<()> {
        replace_file(&self.root.join(name), text)
    }

    /// Adds the file and the remedy to an error of writing.
    pub(super) fn written<T>(&self, name: &str, result: io::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| StoreError {
            what: format!("cannot write {} in {}: {error}", name, self.root.display()),
            remedy: "name a folder in a place where you may write, with room; then use {resume}",
            usage: false,
        })
    }
}

/// The result in a file, or why there is none.
pub(super) fn parsed(text: &[u8]) -> Result<RunResult, String> {
    let result: RunResult = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if result.has(Figure::Experiment) { Ok(result) } else { Err("there is no `experiment` in it".to_owned()) }
}

/// The result in a line, if it is small: without tables, which have files of their own.
fn small(found: &RunResult) -> io::Result<Option<String>> {
    /// \[bytes\] Most that a line has.
    const MOST: usize = 1 << 16;
    let mut line = Vec::new();
    result::write_line(found, &mut line)?;
    let is_small = line.len() <= MOST && result::tables(found)?.is_empty();
    Ok(if is_small { String::from_utf8(line).ok() } else { None })
}

/// Writes the files of a point into a new folder. They are not flushed to disk: a point that a loss of power leaves
/// without its content fails its checksums, and is run again.
fn keep_in(folder: &Path, result: &RunResult, experiment: &str) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    write_files(folder, result, experiment, false)
}
