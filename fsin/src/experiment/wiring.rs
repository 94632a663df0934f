//! The network of an experiment: topology, dead links, routers, each checked against the others.

use std::sync::Arc;

use trgen::catalog::ErrorKind;
use trgen::phrase;

use super::router::{one_way, router};
use super::settings::{Origin, Settings, SettingsError};
use crate::router::{CheckedParams, RouterParams};
use crate::topology::{self, Faults, Topology};

/// Network settings.
pub(super) struct Wiring {
    /// With its dead links.
    pub(super) topology: Arc<dyn Topology>,
    /// For this topology.
    pub(super) router: CheckedParams,
    /// False where the topology has ways of its own.
    pub(super) has_ways: bool,
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
        let topology =
            topology::with_faults(topology, &faults).map_err(|refusal| settings.placed("faults", refusal))?;
        let has_ways = topology.ways() == ways;
        if settings.is_set("ways") && !has_ways {
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
        let router = checked(settings, &router, &*topology)?;
        Ok(Self { topology: topology.into(), router, has_ways })
    }
}

/// A router checked for its topology.
fn checked(
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
