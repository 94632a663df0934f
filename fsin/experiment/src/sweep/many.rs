//! The settings of commands that run many experiments: the values of [`MANY_KEYS`](crate::MANY_KEYS).

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use crate::{Key, Lists, Origin, Setting, SettingsError};

/// The settings of a command on many experiments.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Many {
    /// Number of replicas of every point, and who set it.
    seeds: Option<(u64, Origin)>,
    /// \[loads\] Number of saturated loads in a row after which a curve ends; 0: it goes to its last load.
    pub stop_after: u64,
    /// True if combinations that are no valid experiments are left out.
    pub skip_invalid: bool,
    /// Width of the interval of a search.
    pub tolerance: Option<f64>,
    /// How much longer a run of a search may become.
    pub lengthen: Option<u64>,
}

impl Many {
    /// Sets one of them, after a check.
    ///
    /// # Errors
    /// A value that is out of range.
    pub fn set(&mut self, key: &'static Key, value: &str, origin: Origin) -> Result<(), SettingsError> {
        let refused = |allowed: &str| {
            let what = phrase![[key.name => value], " is out of range"];
            let error = SpecError::new(ErrorKind::OutOfRange, what, format!("use {allowed}")).of(key.name);
            SettingsError { error, origin: origin.clone() }
        };
        let count = |most: u64| {
            let count = value.parse::<u64>().ok().filter(|count| (1..=most).contains(count));
            count.ok_or_else(|| refused(&format!("1 to {most}")))
        };
        match key.name {
            "seeds" => self.seeds = Some((count(10_000)?, origin.clone())),
            "stop-after" => self.stop_after = count(1_000_000)?,
            "lengthen" => self.lengthen = Some(count(1_000_000)?),
            "skip-invalid" => match value {
                "true" => self.skip_invalid = true,
                "false" => self.skip_invalid = false,
                _ => return Err(refused("true or false")),
            },
            _ => {
                let width = value.parse::<f64>().ok().filter(|width| (1e-6..=0.5).contains(width));
                self.tolerance = Some(width.ok_or_else(|| refused("0.000001 to 0.5"))?);
            }
        }
        Ok(())
    }

    /// Gives lists the seeds of the replicas, from the given one on, if there are replicas.
    ///
    /// # Errors
    /// Replicas and several seeds.
    pub fn replicate(&self, lists: &mut Lists) -> Result<(), SettingsError> {
        let Some((replicas, origin)) = &self.seeds else { return Ok(()) };
        let replicas = *replicas;
        let given = lists.remove("seed").unwrap_or_default();
        let first = match &*given {
            [] => 1,
            [only] if only.value.parse::<u64>().is_ok_and(|seed| seed < i64::MAX as u64 - replicas) => {
                only.value.parse().unwrap_or(1)
            }
            [first, ..] => {
                let what = phrase![["seeds" => replicas], (" takes one first seed, not `{}`", first.value)];
                let remedy = phrase!["leave out ", ["seeds"], ", or give one seed"];
                let error = SpecError::new(ErrorKind::Conflict, what, remedy);
                return Err(SettingsError { error, origin: first.origin.clone() });
            }
        };
        let seed =
            |seed: u64| Setting { value: seed.to_string(), origin: origin.clone(), listed: true, topology: None };
        lists.insert("seed", (first..first + replicas).map(seed).collect());
        Ok(())
    }
}
