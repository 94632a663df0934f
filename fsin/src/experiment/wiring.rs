//! The network of an experiment: topology, dead links, routers, each checked against the others.

use trgen::catalog::ErrorKind;
use trgen::phrase;

use super::router::{one_way, router};
use super::settings::{Origin, Settings, SettingsError};
use crate::router::{CheckedParams, RouterParams};
use crate::topology::{self, Faults, Topology};

/// Network settings.
pub(super) struct Wiring {
    pub(super) topology: Box<dyn Topology>,
    /// As set; the topology may fix its own number of directions.
    pub(super) ways: usize,
    pub(super) faults: Faults,
    pub(super) router: RouterParams,
}

impl Wiring {
    /// The network of these settings.
    pub(super) fn of(settings: &Settings) -> Result<Self, SettingsError> {
        let ways = settings.integer("ways")?;
        if !(1..=2).contains(&ways) {
            return Err(settings.error(
                "ways",
                ErrorKind::OutOfRange,
                phrase![["ways" => ways], " is out of range"],
                "use 1 or 2",
            ));
        }
        let spec = topology_spec(settings);
        let topology = topology::parse(&spec, ways)
            .map_err(|refusal| settings.refused(refusal.setting().unwrap_or("topology"), refusal))?;
        let router = router(settings, &*topology)?;
        let faults = if settings.is_set("faults") { settings.integer("faults")? } else { 0 };
        let faults = Faults { count: faults, one_way: one_way(settings, faults)?, seed: router.seed };
        let topology = match faults.count {
            0 => topology,
            _ => topology::parse_with_faults(&spec, ways, &faults)
                .map_err(|refusal| settings.placed("faults", refusal))?,
        };
        let wiring = Self { topology, ways, faults, router };
        wiring.check(settings)?;
        Ok(wiring)
    }

    /// Rejects parts that are incompatible.
    fn check(&self, settings: &Settings) -> Result<(), SettingsError> {
        let Self { topology, ways, router, .. } = self;
        if settings.is_set("ways") && topology.ways() != *ways {
            let what = phrase![
                ["ways" => ways],
                (": every dimension of {} has links of {} way", topology.spec(), topology.ways())
            ];
            return Err(settings.error("ways", ErrorKind::Conflict, what, "leave it out"));
        }
        if !router.routing.uses_bubble() && settings.is_set("bubble") && settings.origin("bubble") == Origin::Flag {
            let what = phrase![
                ["bubble"],
                " has no meaning with ",
                ["routing" => router.routing.name()],
                ", which needs none"
            ];
            return Err(settings.error("bubble", ErrorKind::Meaningless, what, "leave it out"));
        }
        checked(settings, router, &**topology).map(|_| ())
    }
}

/// A router checked for its topology.
pub(super) fn checked(
    settings: &Settings,
    router: &RouterParams,
    topology: &dyn Topology,
) -> Result<CheckedParams, SettingsError> {
    router.check(topology).map_err(|refusal| {
        // The location is that of the first setting it names that is not a default.
        let key = refusal.settings().find(|key| settings.is_set(key)).unwrap_or("topology");
        let names_some = refusal.what().settings().next().is_some();
        if names_some { settings.placed(key, refusal) } else { settings.refused(key, refusal) }
    })
}

/// The topology; a file relative to the working directory.
fn topology_spec(settings: &Settings) -> String {
    let spec = settings.word("topology");
    let file = topology::file(spec).map(|path| settings.folder_of("topology").join(path));
    file.map_or_else(|| spec.to_owned(), |path| topology::with_file(spec, &path))
}
