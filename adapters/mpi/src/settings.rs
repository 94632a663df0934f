//! The settings of a rank, which the launcher passes in environment variables.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use adapters::address::Address;
use adapters::token::Token;
use trgen::collective::{COLLECTIVES, given};
use trgen::trace::collectives::Choice;

use crate::report::{self, Statistics, Summary};
use crate::shared::Location;

/// How long computing takes in virtual time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Compute {
    /// Nothing.
    None,
    /// \[ps\] This much before each call that communicates.
    Fixed(u64),
    /// The processor time that the thread has used, multiplied by this factor.
    Measured(f64),
}

/// The settings of this rank.
#[derive(Debug)]
pub(crate) struct Settings {
    /// This rank and the number of ranks in `MPI_COMM_WORLD`.
    pub(crate) rank: usize,
    pub(crate) size: usize,
    /// The part of the command line that started it, from 0: `MPI_APPNUM`.
    pub(crate) part: usize,
    /// How long computing takes.
    pub(crate) compute: Compute,
    /// \[bytes\] Longest message whose send ends at once.
    pub(crate) buffered: u64,
    /// \[bytes\] Longest message that is sent without waiting for its receive.
    pub(crate) rendezvous: u64,
    /// \[ps\] Virtual time that a reading of a clock takes.
    pub(crate) clock_read: u64,
    /// True if this rank's clock is the wall clock.
    pub(crate) realtime: bool,
    /// True if a wait for named sources may process their messages before earlier ones of other sources.
    pub(crate) deterministic: bool,
    /// The algorithms of the collectives.
    pub(crate) choice: Choice,
    /// The secret of a run whose ranks a launcher has started.
    pub(crate) token: Option<Token>,
    /// The endpoint of the network; `None` for a program that `fsin mpirun` has not started.
    pub(crate) address: Option<Address>,
    /// Longest silence of the endpoint, in host time.
    pub(crate) patience: Duration,
    /// How long threads in the library wait for one that runs on, if the launcher says so.
    pub(crate) thread_limit: Option<Duration>,
    /// The folder of the files that the launcher reads at the end.
    pub(crate) folder: Option<PathBuf>,
    /// The memory that the ranks of this machine share.
    pub(crate) shared: Option<Location>,
    /// True if the calls are recorded.
    pub(crate) records: bool,
    /// True if a timeline is kept.
    pub(crate) has_timeline: bool,
}

/// A variable whose value cannot be used. A default in its place would be another experiment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unusable {
    name: &'static str,
    value: String,
    allowed: String,
    remedy: &'static str,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what(), self.remedy)
    }
}

impl Unusable {
    /// What is wrong.
    fn what(&self) -> String {
        let Self { name, value, allowed, .. } = self;
        format!("{name}={value} cannot be used: it is {allowed}")
    }

    /// Reports it for the rank that the environment tells: a launcher may lose what its ranks write.
    pub(crate) fn report(&self) {
        let Some(folder) = env::var_os("FSIN_MPI_FOLDER") else { return };
        let mut names = ["FSIN_MPI_RANK"].into_iter().chain(LAUNCHERS.map(|(name, _)| name));
        let rank = names.find_map(|name| env::var(name).ok()?.parse().ok()).unwrap_or(0);
        let summary = Summary { rank, time: 0, finalized: false, unreceived: 0, awaits: None };
        // It has been written as well: if it cannot be reported, nothing better can be done.
        let _ = report::write(Path::new(&folder), &summary, &Statistics::not_begun(self.what(), self.remedy));
    }
}

/// Variables in which launchers tell a process its rank and the number of ranks: those of PMI, Open MPI and Slurm.
const LAUNCHERS: [(&str, &str); 3] = [
    ("PMI_RANK", "PMI_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
];
/// The file in the folder of the run with the settings of ranks that a launcher starts.
const FILE: &str = "settings";

/// The settings of a file, and the rank that the environment tells. A line `NAME@RANK=VALUE` is for that rank alone.
fn of_launcher(file: &str, env: impl Fn(&str) -> Option<OsString>) -> Result<HashMap<String, OsString>, Unusable> {
    let lines = file.lines().filter_map(|line| line.split_once('='));
    let mut all: HashMap<String, OsString> = lines.map(|(name, value)| (name.to_owned(), value.into())).collect();
    let rank = rank_of_launcher(&all, env)?;
    let own = format!("@{}", rank.to_string_lossy());
    let of_rank = all.iter().filter_map(|(name, value)| Some((name.strip_suffix(&own)?.to_owned(), value.clone())));
    let of_rank: Vec<_> = of_rank.collect();
    all.extend(of_rank);
    all.insert("FSIN_MPI_RANK".to_owned(), rank);
    Ok(all)
}

/// The rank that the environment tells, in a run with the settings `all`.
fn rank_of_launcher(
    all: &HashMap<String, OsString>,
    env: impl Fn(&str) -> Option<OsString>,
) -> Result<OsString, Unusable> {
    if let Some(rank) = env("FSIN_MPI_RANK") {
        return Ok(rank);
    }
    let remedy = "start as many ranks with the launcher as with -n";
    let size = all.get("FSIN_MPI_SIZE").cloned().unwrap_or_default();
    for (name, count) in LAUNCHERS {
        let Some(rank) = env(name) else { continue };
        if let Some(found) = env(count).filter(|found| *found != size) {
            let (value, allowed) = (found.to_string_lossy().into_owned(), format!("not {}", size.to_string_lossy()));
            return Err(Unusable { name: count, value, allowed, remedy });
        }
        return Ok(rank);
    }
    let names = LAUNCHERS.map(|(name, _)| name).join(", ");
    let allowed = format!("not set, nor is any of {names}");
    let remedy = "use a launcher of MPI programs, or write {rank} where it needs the rank";
    Err(Unusable { name: "FSIN_MPI_RANK", value: String::new(), allowed, remedy })
}

impl Settings {
    /// The settings by the environment of this process.
    ///
    /// # Errors
    /// A variable has a value that cannot be used.
    pub(crate) fn from_environment() -> Result<Self, Unusable> {
        let folder = env::var_os("FSIN_MPI_FOLDER").map(PathBuf::from);
        // Algorithms of collectives that this library does not have, by their steps.
        if let Some(text) = folder.as_ref().and_then(|folder| fs::read_to_string(folder.join(given::FILE)).ok()) {
            let unusable = || Unusable {
                name: "FSIN_MPI_FOLDER",
                value: given::FILE.to_owned(),
                allowed: "not what the command has written".to_owned(),
                remedy: "start the ranks by `mpirun` of the same version",
            };
            let rows = COLLECTIVES.standard().iter().copied().chain(given::read(&text).ok_or_else(unusable)?);
            COLLECTIVES.install(rows.collect()).map_err(|_| unusable())?;
        }
        match folder.as_ref().map(|folder| fs::read_to_string(folder.join(FILE))) {
            Some(Ok(file)) => {
                let settings = of_launcher(&file, |name| env::var_os(name))?;
                Self::read(|name| {
                    settings.get(name).cloned().or_else(|| (name == "FSIN_MPI_FOLDER").then(|| env::var_os(name))?)
                })
            }
            _ => Self::read(|name| env::var_os(name)),
        }
    }

    /// The settings by the values of variables.
    ///
    /// # Errors
    /// A variable has a value that cannot be used.
    pub(crate) fn read(value_of: impl Fn(&str) -> Option<OsString>) -> Result<Self, Unusable> {
        let of = Variables(value_of);
        let count = |word: &str| word.parse().ok().filter(|&count: &usize| (1..=1 << 24).contains(&count));
        let size = of.value("FSIN_MPI_SIZE", "a number of ranks", count)?.unwrap_or(1);
        let below = |word: &str| word.parse().ok().filter(|&rank| rank < size);
        Ok(Self {
            rank: of.value("FSIN_MPI_RANK", "a rank below FSIN_MPI_SIZE", below)?.unwrap_or(0),
            size,
            part: of.value("FSIN_MPI_PART", "a number from 0 on", parsed)?.unwrap_or(0),
            compute: of
                .value("FSIN_MPI_COMPUTE", "none, fixed:PICOSECONDS or measured:FACTOR", compute)?
                .unwrap_or(Compute::None),
            buffered: of.value("FSIN_MPI_BUFFERED", "a number of bytes", parsed)?.unwrap_or(u64::MAX),
            rendezvous: of.value("FSIN_MPI_RENDEZVOUS", "a number of bytes", parsed)?.unwrap_or(u64::MAX),
            clock_read: of.value("FSIN_MPI_CLOCK_READ", "a number of picoseconds above 0", positive)?.unwrap_or(1000),
            realtime: of.word("FSIN_MPI_MODE", "realtime")?,
            deterministic: of.word("FSIN_MPI_SYNC", "deterministic")?,
            choice: of
                .value("FSIN_MPI_COLLECTIVES", "mpich, basic or OPERATION=ALGORITHM, with commas between them", parsed)?
                .unwrap_or_default(),
            token: of
                .value("FSIN_MPI_TOKEN", "a token of 16 bytes or more", |word| Token::new(word.as_bytes()).ok())?,
            address: of.value("FSIN_MPI_ADDRESS", "the address of an endpoint", parsed)?,
            patience: of
                .value("FSIN_MPI_PATIENCE", "a number of seconds", parsed)?
                .map_or(Duration::from_secs(86_400), Duration::from_secs),
            thread_limit: of
                .value("FSIN_MPI_THREAD_LIMIT", "a number of milliseconds", parsed)?
                .map(Duration::from_millis),
            folder: (of.0)("FSIN_MPI_FOLDER").map(PathBuf::from),
            shared: of.value("FSIN_MPI_SHARED", "BYTES:PATH of shared memory", parsed)?,
            records: of.word("FSIN_MPI_RECORD", "1")?,
            has_timeline: of.word("FSIN_MPI_TIMELINE", "1")?,
        })
    }
}

/// Environment variables, as a function of their name.
struct Variables<F>(F);

impl<F: Fn(&str) -> Option<OsString>> Variables<F> {
    /// The value of a variable, as `parse` reads it; `None` if the variable is not set.
    fn value<T>(
        &self,
        name: &'static str,
        allowed: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Unusable> {
        let Some(value) = (self.0)(name) else { return Ok(None) };
        match value.to_str().and_then(parse) {
            Some(read) => Ok(Some(read)),
            None => {
                let (value, allowed) = (value.to_string_lossy().into_owned(), allowed.to_owned());
                Err(Unusable { name, value, allowed, remedy: "unset it, fsin mpirun sets it" })
            }
        }
    }

    /// True if a variable is set, whose only value is `word`.
    fn word(&self, name: &'static str, word: &'static str) -> Result<bool, Unusable> {
        Ok(self.value(name, word, |value| (value == word).then_some(()))?.is_some())
    }
}

/// A word as a value that parses itself.
fn parsed<T: FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

/// A number above 0.
fn positive(word: &str) -> Option<u64> {
    parsed(word).filter(|&number| number > 0)
}

/// `fixed:TIME` in picoseconds, `measured:FACTOR` or `none`.
fn compute(word: &str) -> Option<Compute> {
    match word.split_once(':') {
        None => (word == "none").then_some(Compute::None),
        Some(("fixed", time)) => parsed(time).map(Compute::Fixed),
        Some(("measured", factor)) => {
            parsed(factor).filter(|factor: &f64| factor.is_finite() && *factor >= 0.0).map(Compute::Measured)
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{Compute, Settings};

    fn read(all: &[(&str, &str)]) -> Result<Settings, String> {
        let value = |name: &str| all.iter().find(|(other, _)| *other == name).map(|(_, value)| OsString::from(value));
        Settings::read(value).map_err(|unusable| unusable.to_string())
    }

    #[test]
    fn without_variables_a_program_is_one_rank_that_computes_in_no_time() {
        let settings = read(&[]).unwrap();
        assert_eq!((settings.rank, settings.size, settings.compute), (0, 1, Compute::None));
        assert_eq!((settings.buffered, settings.realtime, settings.deterministic), (u64::MAX, false, false));
        assert!(settings.address.is_none() && settings.folder.is_none() && !settings.records);
    }

    #[test]
    fn a_launcher_tells_the_rank() {
        let file = "FSIN_MPI_TOKEN=0123456789abcdef\nFSIN_MPI_SIZE=4\nFSIN_MPI_ADDRESS=127.0.0.1:1\n";
        let read = |all: &[(&str, &str)]| {
            let value =
                |name: &str| all.iter().find(|(other, _)| *other == name).map(|(_, value)| OsString::from(value));
            super::of_launcher(file, value)
        };
        for all in [
            vec![("PMI_RANK", "3"), ("PMI_SIZE", "4"), ("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")],
            vec![("SLURM_PROCID", "3"), ("SLURM_STEP_NUM_TASKS", "4")],
            vec![("OMPI_COMM_WORLD_RANK", "3")],
            vec![("FSIN_MPI_RANK", "3"), ("SLURM_PROCID", "0")],
        ] {
            let found = read(&all).unwrap();
            let settings = Settings::read(|name| found.get(name).cloned()).unwrap();
            assert_eq!((settings.rank, settings.size, settings.token.is_some()), (3, 4, true), "{all:?}");
        }
        let refused = read(&[("PMI_RANK", "1"), ("PMI_SIZE", "2")]).unwrap_err().to_string();
        assert!(refused.contains("PMI_SIZE=2") && refused.contains("as many ranks"), "{refused}");
        let refused = read(&[]).unwrap_err().to_string();
        assert!(refused.contains("{rank}"), "{refused}");
    }

    #[test]
    fn values_are_read() {
        let all = [
            ("FSIN_MPI_SIZE", "4"),
            ("FSIN_MPI_RANK", "3"),
            ("FSIN_MPI_COMPUTE", "measured:1.5"),
            ("FSIN_MPI_BUFFERED", "65536"),
            ("FSIN_MPI_SYNC", "deterministic"),
        ];
        let settings = read(&all).unwrap();
        assert_eq!((settings.rank, settings.size, settings.compute), (3, 4, Compute::Measured(1.5)));
        assert_eq!((settings.buffered, settings.deterministic), (65536, true));
    }

    #[test]
    fn a_value_that_cannot_be_used_is_refused_with_name_value_and_remedy() {
        for (name, value) in [
            ("FSIN_MPI_SIZE", "0"),
            ("FSIN_MPI_SIZE", "99999999999"),
            ("FSIN_MPI_RANK", "1"),
            ("FSIN_MPI_RANK", "-1"),
            ("FSIN_MPI_COMPUTE", "fixed:1us"),
            ("FSIN_MPI_COMPUTE", "measured:NaN"),
            ("FSIN_MPI_COMPUTE", "measured:-1"),
            ("FSIN_MPI_COMPUTE", "fast"),
            ("FSIN_MPI_BUFFERED", "64k"),
            ("FSIN_MPI_RENDEZVOUS", "-1"),
            ("FSIN_MPI_CLOCK_READ", "0"),
            ("FSIN_MPI_COLLECTIVES", "allreduce=magic"),
            ("FSIN_MPI_ADDRESS", "nowhere"),
            ("FSIN_MPI_PATIENCE", "long"),
            ("FSIN_MPI_THREAD_LIMIT", "short"),
            ("FSIN_MPI_SHARED", "17"),
            ("FSIN_MPI_PART", "-1"),
            ("FSIN_MPI_MODE", "real-time"),
            ("FSIN_MPI_SYNC", ""),
            ("FSIN_MPI_RECORD", "yes"),
            ("FSIN_MPI_TIMELINE", "no"),
        ] {
            let refused = read(&[(name, value)]).expect_err(name);
            assert!(refused.contains(&format!("{name}={value} cannot be used")), "{refused}");
            assert!(refused.contains("unset it"), "{refused}");
        }
    }
}
