//! The settings of a rank, which the launcher passes in environment variables.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use adapters::address::Address;
use trgen::trace::collectives::Choice;

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
    /// The endpoint of the network; `None` for a program that `fsin mpirun` has not started.
    pub(crate) address: Option<Address>,
    /// Longest silence of the endpoint, in host time.
    pub(crate) patience: Duration,
    /// The folder of the files that the launcher reads at the end.
    pub(crate) folder: Option<PathBuf>,
    /// True if the calls are recorded.
    pub(crate) records: bool,
}

/// A variable whose value cannot be used. A default in its place would be another experiment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unusable {
    name: &'static str,
    value: String,
    allowed: &'static str,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, allowed } = self;
        write!(f, "{name}={value} cannot be used: it is {allowed}; unset it, fsin mpirun sets it")
    }
}

impl Settings {
    /// The settings by the environment of this process.
    ///
    /// # Errors
    /// A variable has a value that cannot be used.
    pub(crate) fn from_environment() -> Result<Self, Unusable> {
        Self::read(|name| env::var_os(name))
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
            address: of.value("FSIN_MPI_ADDRESS", "the address of an endpoint", parsed)?,
            patience: of
                .value("FSIN_MPI_PATIENCE", "a number of seconds", parsed)?
                .map_or(Duration::from_secs(86_400), Duration::from_secs),
            folder: (of.0)("FSIN_MPI_FOLDER").map(PathBuf::from),
            records: of.word("FSIN_MPI_RECORD", "1")?,
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
            None => Err(Unusable { name, value: value.to_string_lossy().into_owned(), allowed }),
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
            ("FSIN_MPI_MODE", "real-time"),
            ("FSIN_MPI_SYNC", ""),
            ("FSIN_MPI_RECORD", "yes"),
        ] {
            let refused = read(&[(name, value)]).expect_err(name);
            assert!(refused.contains(&format!("{name}={value} cannot be used")), "{refused}");
            assert!(refused.contains("unset it"), "{refused}");
        }
    }
}
