//! What follows from the rows: names, aliases, the routings of each topology, and properties.

use trgen::catalog::{ErrorKind, SpecError};

use fsin_core::route::{self, Carries, ChannelPolicy};

use super::row::{Adaptive, Avoidance, Requests, Vcs};
use super::{Routing, Serves, Taken};
use fsin_core::family::{Carried, topologies_with};
use fsin_core::words::joined;

/// Topologies of two dimensions, whatever their sizes.
const PLANAR: [&str; 2] = ["midimew", "spidergon"];

impl Routing {
    /// Every routing: those with a row here, and those that are taken.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::OWN.iter().copied().chain(Taken::all().map(Self::Taken))
    }

    /// The first routing of this name.
    ///
    /// # Errors
    /// An unknown name.
    pub fn parse(name: &str) -> Result<Self, SpecError> {
        Self::all().find(|routing| routing.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::all().map(Self::name).chain(Self::all().flat_map(Self::aliases)).collect();
            SpecError::unknown("routing", name, &known)
        })
    }

    /// The name that parses to this routing.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().component.name
    }

    /// Aliases of this routing.
    pub fn aliases(self) -> impl Iterator<Item = &'static str> {
        self.row().aliases.iter().copied()
    }

    /// True if a word is its name or another name of it.
    #[must_use]
    pub fn is_called(self, word: &str) -> bool {
        self.name() == word || self.row().aliases.contains(&word)
    }

    /// True if it serves a topology, by its specification or its name alone.
    #[must_use]
    pub fn serves(self, spec: &str) -> bool {
        self.row().includes(spec)
    }

    /// The routing as all models know it, where this model has no rules of its own for it.
    fn shared(self) -> Option<&'static route::Row> {
        match self.row().requests {
            Requests::Direct { follows, .. } => follows,
            Requests::Switched { carries, .. } => Some(carries.row),
        }
    }

    /// True if its routes are those of a table.
    #[must_use]
    pub fn is_of_table(self) -> bool {
        self.shared().is_some_and(|row| row.policy == ChannelPolicy::Given)
    }

    /// Routings for a topology, by its specification or its name alone; the first one is the default, and those of
    /// tables, which nothing defaults to, come last. Empty for an unknown topology.
    #[must_use]
    pub fn serving(spec: &str) -> Vec<Self> {
        let mut serving: Vec<Self> = Self::all().filter(|routing| routing.serves(spec)).collect();
        serving.sort_by_key(|routing| routing.is_of_table());
        serving
    }

    /// The routing that a name means in a topology, by its specification: an alias may mean one routing in a torus and
    /// another one in a HyperX.
    ///
    /// # Errors
    /// An unknown name; one that means no routing for this topology.
    pub fn named(name: &str, spec: &str) -> Result<Self, SpecError> {
        let meant: Vec<Self> = Self::all().filter(|routing| routing.is_called(name)).collect();
        if meant.iter().all(|routing| routing.name() == name) {
            return meant.iter().copied().find(|routing| routing.serves(spec)).map_or_else(|| Self::parse(name), Ok);
        }
        meant.iter().copied().find(|routing| routing.serves(spec)).ok_or_else(|| {
            let what = format!("`{name}` is {}, which is not for {spec}", listed(&meant));
            SpecError::new(ErrorKind::Conflict, what, format!("use {}", listed(&Self::serving(spec))))
        })
    }

    /// The routings as the model carries them.
    pub(crate) fn carried() -> Vec<Carried> {
        let carried = |routing: Self| {
            let row = routing.row();
            let is_default = |spec: &str| Self::serving(spec).first() == Some(&routing);
            let policy = match row.avoidance {
                Avoidance::Bubble => "bubble",
                Avoidance::Datelines => "dateline",
                Avoidance::Order => "order of channels",
            };
            let vcs = match row.vcs {
                Vcs::AtLeast(least) => format!("{least} or more"),
                Vcs::Exactly(count) => count.to_string(),
                Vcs::MultipleOfDimensions => "a multiple of the number of dimensions".to_owned(),
            };
            Carried {
                component: &row.component,
                aliases: row.aliases.to_vec(),
                topologies: topologies_with(|topology, _| {
                    let name = topology.component.name;
                    let has_dimensions = row.dimensions.is_none_or(|needed| needed == 2 || !PLANAR.contains(&name));
                    routing.serves(name) && has_dimensions
                }),
                default_of: topologies_with(|topology, _| is_default(topology.component.name)),
                channels: match (routing, routing.shared()) {
                    (Self::Taken(_), Some(shared)) => Carries::new(shared).listed(is_default).channels,
                    _ => format!("{policy}; {vcs}"),
                },
            }
        };
        Self::all().map(carried).collect()
    }

    /// The networks that it is for, in words.
    #[must_use]
    pub fn networks(self) -> String {
        match self.row().serves {
            Serves::Every if self.is_for_switches() => Serves::Switches.to_string(),
            Serves::Every => Serves::Direct.to_string(),
            serves => serves.to_string(),
        }
    }

    /// \[channels\] Minimum number of virtual channels in this number of dimensions.
    #[must_use]
    pub fn min_vcs(self, dimensions: usize) -> usize {
        match self.row().vcs {
            Vcs::AtLeast(count) | Vcs::Exactly(count) => count,
            Vcs::MultipleOfDimensions => dimensions,
        }
    }

    /// True if it works with this number of virtual channels in this number of dimensions.
    #[must_use]
    pub fn takes_vcs(self, dimensions: usize, vcs: usize) -> bool {
        match self.row().vcs {
            Vcs::AtLeast(least) => vcs >= least,
            Vcs::Exactly(count) => vcs == count,
            Vcs::MultipleOfDimensions => vcs >= dimensions && vcs.is_multiple_of(dimensions),
        }
    }

    /// True if packets that enter a ring leave a bubble there.
    #[must_use]
    pub fn uses_bubble(self) -> bool {
        matches!(self.row().avoidance, Avoidance::Bubble)
    }

    /// True for dateline routings: they need rings that wrap at a coordinate.
    #[must_use]
    pub fn uses_datelines(self) -> bool {
        matches!(self.row().avoidance, Avoidance::Datelines)
    }

    /// True if it is for networks of switches, not for direct networks.
    #[must_use]
    pub fn is_for_switches(self) -> bool {
        matches!(self.row().requests, Requests::Switched { .. })
    }

    /// Adaptive channels of direct networks.
    #[must_use]
    pub fn adaptive(self) -> Adaptive {
        match self.row().requests {
            Requests::Direct { adaptive, .. } => adaptive,
            Requests::Switched { .. } => Adaptive::Never,
        }
    }

    /// True if all packets in direct networks may leave the deterministic route, with this number of virtual channels.
    #[must_use]
    pub fn leaves_order(self, vcs: usize) -> bool {
        match self.adaptive() {
            Adaptive::From(first) => vcs > first as usize,
            Adaptive::Never | Adaptive::ShortMessagesFrom(_) => false,
        }
    }

    /// True if every channel has its own order of dimensions.
    #[must_use]
    pub fn orders_by_channel(self) -> bool {
        matches!(self.row().requests, Requests::Direct { orders_by_channel: true, .. })
    }

    /// The routing as all models know it, if packets follow its routes in a direct network, one for each pair of nodes.
    #[must_use]
    pub fn follows(self) -> Option<&'static route::Row> {
        match self.row().requests {
            Requests::Direct { follows, .. } => follows,
            Requests::Switched { .. } => None,
        }
    }

    /// True if its routes in a direct network go round dead links, wherever that is possible.
    #[must_use]
    pub fn goes_round(self) -> bool {
        self.follows().is_some() && self.row().dead_links
    }

    /// True if the number of alternative paths can be set.
    #[must_use]
    pub fn takes_alternatives(self) -> bool {
        matches!(self, Self::GraphShortest)
    }

    /// True if it works in this number of dimensions.
    #[must_use]
    pub fn takes_dimensions(self, dimensions: usize) -> bool {
        match self.row().dimensions {
            Some(needed) => needed == dimensions,
            None => true,
        }
    }
}

/// Names of routings: `a, b or c`.
#[must_use]
pub fn listed(routings: &[Routing]) -> String {
    joined(&routings.iter().map(|routing| routing.name()).collect::<Vec<_>>(), "or")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsin_core::topology::{TOPOLOGIES, row};

    #[test]
    fn every_listed_routing_parses_and_answers_to_its_name() {
        for routing in Routing::all() {
            assert_eq!(Routing::parse(routing.name()).unwrap().name(), routing.name());
        }
        let refusal = Routing::parse("bubble:smrat").unwrap_err();
        assert_eq!(refusal.remedy().to_string(), "did you mean `bubble:smart`?");
    }

    #[test]
    fn every_topology_has_routings_and_every_routing_topologies() {
        assert!(TOPOLOGIES.components().all(|component| !Routing::serving(component.name).is_empty()));
        for routing in Routing::all() {
            assert!(TOPOLOGIES.components().any(|component| routing.serves(component.name)), "{routing:?}");
            if let Serves::Only(names) = routing.row().serves {
                assert!(names.iter().all(|name| row(name).is_some()), "{names:?}");
            }
        }
        let grids: Vec<&str> = TOPOLOGIES
            .components()
            .map(|component| component.name)
            .filter(|name| Routing::DallyTrc.serves(name))
            .collect();
        assert_eq!(Routing::DallyTrc.networks(), joined(&grids, "and"));
        assert_eq!(Routing::serving("ring:5"), []);
    }

    #[test]
    fn another_name_means_what_serves_the_topology() {
        let named = |name, spec| Routing::named(name, spec).map(Routing::name);
        assert_eq!(named("dor", "torus:4x4"), Ok("bubble:oblivious"));
        assert_eq!(named("e-cube", "hyperx:4x4:2"), Ok("hyperx:dor"));
        assert_eq!(named("dor", "icube:4x4:2"), Ok("cube:oblivious"));
        assert_eq!(named("minimal-adaptive", "mesh:4x4"), Ok("bubble:adaptive"));
        let refusal = Routing::named("dor", "fattree:4,3").unwrap_err();
        assert_eq!(
            refusal.remedy().to_string(),
            "use tree:adaptive, tree:static, graph:updown, graph:shortest, minimal, two-choices, oblivious or graph:routes"
        );
        assert!(Routing::BubbleOblivious.aliases().any(|alias| alias == "dor"));
        let own = || Routing::OWN.iter();
        let is_name = |alias| own().any(|routing| routing.name() == alias);
        assert!(!own().flat_map(|routing| routing.aliases()).any(is_name), "a name is another one's alias");
    }
}
