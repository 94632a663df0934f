//! The registry: every component that a program knows, its own ones included.
//!
//! Decision: docs/decisions/0185-registry.md.

use fsin_core::family::ModelFamily;
use fsin_core::route::{self, ROUTINGS};
use fsin_core::topology::graph::{FORMATS as NETWORK_FORMATS, Format};
use fsin_core::topology::{self, TOPOLOGIES};
use fsin_experiment::check_keys;
use fsin_models::MODELS;
use fsin_models::ethernet::{CONTROLS, SPREADS, TRANSPORTS, cc, spread, transport};
use trgen::catalog::SpecError;
use trgen::collective::{self, COLLECTIVES};
use trgen::synthetic::size::{self, SIZES};
use trgen::synthetic::spatial::{self, PATTERNS};
use trgen::synthetic::temporal::{self, PROCESSES};
use trgen::trace::formats::{self, FORMATS};
use trgen::trace::kernels::{self, KERNELS};
use trgen::trace::placement::{self, PLACEMENTS};

/// Every component that a program knows, by family: the standard ones, and those that it adds.
///
/// ```no_run
/// # use fsin::Registry;
/// # static MINE: &fsin_core::family::ModelFamily = fsin::models::MODELS.standard()[0];
/// let mut registry = Registry::standard();
/// registry.models.push(&MINE);
/// fsin::main_with(registry);
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    /// Network models; the first is the default.
    pub models: Vec<&'static ModelFamily>,
    /// Topologies.
    pub topologies: Vec<&'static topology::Row>,
    /// Routings of the table that models share. An added one is carried by `wormhole` in the topologies that it serves,
    /// and refused where it is not proven free of deadlock.
    pub routings: Vec<&'static route::Row>,
    /// Transports of Ethernet. An added one sprays frames over paths.
    pub transports: Vec<&'static transport::Row>,
    /// Congestion controls of Ethernet.
    pub congestion_controls: Vec<&'static cc::Row>,
    /// Spreads of Ethernet: which of several equal links of a switch a frame takes.
    pub spreads: Vec<&'static spread::Row>,
    /// Traffic patterns: the destination of a message.
    pub patterns: Vec<&'static spatial::Entry>,
    /// Laws of message sizes.
    pub sizes: Vec<&'static size::Entry>,
    /// Temporal processes: when a node generates a message.
    pub processes: Vec<&'static temporal::Entry>,
    /// Application kernels.
    pub kernels: Vec<&'static kernels::Row>,
    /// Algorithms of collectives. An added one serves kernels, traces and programs of MPI, Chakra traces and graphs.
    pub collectives: Vec<&'static collective::Row>,
    /// Formats of traces.
    pub formats: Vec<&'static formats::Reader>,
    /// Formats of networks, for `graph:FILE`. The first one that knows a text reads it, so that an added one comes
    /// before those whose texts it takes over: `network_formats.insert(0, &MINE)`.
    pub network_formats: Vec<&'static Format>,
    /// Placements of tasks on nodes.
    pub placements: Vec<&'static placement::Row>,
}

impl Registry {
    /// The components that are part of fsin.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            models: MODELS.standard().to_vec(),
            topologies: TOPOLOGIES.standard().to_vec(),
            routings: ROUTINGS.standard().to_vec(),
            transports: TRANSPORTS.standard().to_vec(),
            congestion_controls: CONTROLS.standard().to_vec(),
            spreads: SPREADS.standard().to_vec(),
            patterns: PATTERNS.standard().to_vec(),
            sizes: SIZES.standard().to_vec(),
            processes: PROCESSES.standard().to_vec(),
            kernels: KERNELS.standard().to_vec(),
            collectives: COLLECTIVES.standard().to_vec(),
            formats: FORMATS.standard().to_vec(),
            network_formats: fsin_networks::rows(),
            placements: PLACEMENTS.standard().to_vec(),
        }
    }

    /// Makes these the components of this process. Call once, before anything is looked up by name.
    ///
    /// # Errors
    /// A name that means two components, or a setting that two models declare; a registry that is installed already.
    /// Nothing is installed then.
    pub fn install(self) -> Result<(), SpecError> {
        let checks = [
            MODELS.check(&self.models),
            TOPOLOGIES.check(&self.topologies),
            ROUTINGS.check(&self.routings),
            TRANSPORTS.check(&self.transports),
            CONTROLS.check(&self.congestion_controls),
            SPREADS.check(&self.spreads),
            PATTERNS.check(&self.patterns),
            SIZES.check(&self.sizes),
            PROCESSES.check(&self.processes),
            KERNELS.check(&self.kernels),
            COLLECTIVES.check(&self.collectives),
            FORMATS.check(&self.formats),
            NETWORK_FORMATS.check(&self.network_formats),
            PLACEMENTS.check(&self.placements),
            check_keys(&self.models),
        ];
        checks.into_iter().collect::<Result<(), _>>()?;
        MODELS.install(self.models)?;
        TOPOLOGIES.install(self.topologies)?;
        ROUTINGS.install(self.routings)?;
        TRANSPORTS.install(self.transports)?;
        CONTROLS.install(self.congestion_controls)?;
        SPREADS.install(self.spreads)?;
        PATTERNS.install(self.patterns)?;
        SIZES.install(self.sizes)?;
        PROCESSES.install(self.processes)?;
        KERNELS.install(self.kernels)?;
        COLLECTIVES.install(self.collectives)?;
        FORMATS.install(self.formats)?;
        NETWORK_FORMATS.install(self.network_formats)?;
        PLACEMENTS.install(self.placements)
    }
}

#[cfg(test)]
mod tests {
    use fsin_core::family::{Key, Kind};
    use trgen::catalog::Component;

    use super::*;

    /// Why a registry with this model is refused.
    fn refused(added: ModelFamily) -> String {
        let mut registry = Registry::standard();
        registry.models.push(Box::leak(Box::new(added)));
        registry.install().map_or_else(|error| error.to_string(), |()| panic!("installed"))
    }

    #[test]
    fn a_registry_in_which_a_name_means_two_things_is_refused() {
        let bus = *fsin_models::MODELS.find("bus").unwrap();
        let named = |name| ModelFamily { component: Component { name, ..bus.component }, ..bus };
        let bare = |name| ModelFamily { keys: &[], short: &[], shared: &[], ..named(name) };
        assert_eq!(refused(bare("bus")), "two rows of the registry are the network model `bus`: bus and bus");
        assert!(refused(bare("switch")).contains("the network model `switch`: constant-delay and switch"));
        assert_eq!(refused(named("mine")), "setting `bus-arbitration` is declared twice: by bus and by mine");
        const LOAD: Key = Key::of_network("load", "X", Kind::Number, None, "", "");
        let load = ModelFamily { keys: &[LOAD], ..bare("mine") };
        assert_eq!(refused(load), "setting `load` is declared twice: by every experiment and by mine");
        let shared = ModelFamily { shared: &["tpology"], ..bare("mine") };
        assert_eq!(refused(shared), "network model mine names the setting `tpology`, which nothing declares");
        // What was refused has left nothing behind.
        assert!(fsin_models::MODELS.find("mine").is_none());
        let mut twice = Registry::standard();
        twice.patterns.push(twice.patterns[0]);
        assert!(twice.install().is_err());
    }
}
