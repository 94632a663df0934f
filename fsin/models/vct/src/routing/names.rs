//! What follows from the rows: names, aliases, the routings of each topology, and properties.

use trgen::catalog::{ErrorKind, SpecError};

use fsin_core::route;

use super::row::{Adaptive, Avoidance, Requests, Serves, Vcs};
use super::{ROUTINGS, Routing};
use fsin_core::family::{Carried, topologies_with};
use fsin_core::topology::{Kind, row};

/// Topologies of two dimensions, whatever their sizes.
const PLANAR: [&str; 2] = ["midimew", "spidergon"];

/// The routings with this alias.
fn with_alias(alias: &str) -> Vec<Routing> {
    Routing::ALL.iter().copied().filter(|routing| routing.row().aliases.contains(&alias)).collect()
}

impl Routing {
    /// The routing of this name.
    ///
    /// # Errors
    /// An unknown name.
    pub fn parse(name: &str) -> Result<Self, SpecError> {
        Self::ALL.iter().copied().find(|routing| routing.name() == name).ok_or_else(|| {
            let names = ROUTINGS.iter().map(|component| component.name);
            let known: Vec<&str> = names.chain(Self::ALL.iter().flat_map(|routing| routing.aliases())).collect();
            SpecError::unknown("routing", name, &known)
        })
    }

    /// The name that parses to this routing.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().component.name
    }

    /// Aliases of this routing.
    pub fn aliases(self) -> impl Iterator<Item = &'static str> {
        self.row().aliases.iter().copied()
    }

    /// True if it serves a topology, by its specification or its name alone.
    #[must_use]
    pub fn serves(self, spec: &str) -> bool {
        row(spec).is_some_and(|topology| match self.row().serves {
            Serves::Grids => topology.kind == Kind::Grid,
            Serves::Direct => matches!(topology.kind, Kind::Grid | Kind::Direct),
            Serves::Switched => topology.kind == Kind::Switched,
            Serves::Only(names) => names.contains(&topology.component.name),
        })
    }

    /// True if its routes are those of a table.
    #[must_use]
    pub const fn is_of_table(self) -> bool {
        matches!(self, Self::DirectRoutes | Self::GraphRoutes)
    }

    /// Routings for a topology, by its specification or its name alone; the first one is the default, and those of
    /// tables, which nothing defaults to, come last. Empty for an unknown topology.
    #[must_use]
    pub fn serving(spec: &str) -> Vec<Self> {
        let mut serving: Vec<Self> = Self::ALL.iter().copied().filter(|routing| routing.serves(spec)).collect();
        serving.sort_by_key(|routing| routing.is_of_table());
        serving
    }

    /// The routing that a name means in a topology, by its specification: an alias may mean one routing in a torus and
    /// another one in a HyperX.
    ///
    /// # Errors
    /// An unknown name; one that means no routing for this topology.
    pub fn named(name: &str, spec: &str) -> Result<Self, SpecError> {
        let meant = with_alias(name);
        if meant.is_empty() {
            return Self::parse(name);
        }
        meant.iter().copied().find(|routing| routing.serves(spec)).ok_or_else(|| {
            let what = format!("`{name}` is {}, which is not for {spec}", listed(&meant));
            SpecError::new(ErrorKind::Conflict, what, format!("use {}", listed(&Self::serving(spec))))
        })
    }

    /// The routings as the model carries them.
    pub(crate) fn carried() -> Vec<Carried> {
        let carried = |routing: &'static Self| {
            let row = routing.row();
            let is_default = |spec: &str| Self::serving(spec).first() == Some(routing);
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
                channels: format!("{policy}; {vcs}"),
            }
        };
        Self::ALL.iter().map(carried).collect()
    }

    /// The networks that it is for, in words.
    #[must_use]
    pub fn networks(self) -> String {
        match self.row().serves {
            Serves::Grids => "torus, mesh and hypercube".to_owned(),
            Serves::Direct => "direct networks".to_owned(),
            Serves::Switched => "networks of switches".to_owned(),
            Serves::Only(names) => in_words(names, "and"),
        }
    }

    /// \[channels\] Minimum number of virtual channels in this number of dimensions.
    #[must_use]
    pub const fn min_vcs(self, dimensions: usize) -> usize {
        match self.row().vcs {
            Vcs::AtLeast(count) | Vcs::Exactly(count) => count,
            Vcs::MultipleOfDimensions => dimensions,
        }
    }

    /// True if it works with this number of virtual channels in this number of dimensions.
    #[must_use]
    pub const fn takes_vcs(self, dimensions: usize, vcs: usize) -> bool {
        match self.row().vcs {
            Vcs::AtLeast(least) => vcs >= least,
            Vcs::Exactly(count) => vcs == count,
            Vcs::MultipleOfDimensions => vcs >= dimensions && vcs.is_multiple_of(dimensions),
        }
    }

    /// True if packets that enter a ring leave a bubble there.
    #[must_use]
    pub const fn uses_bubble(self) -> bool {
        matches!(self.row().avoidance, Avoidance::Bubble)
    }

    /// True for dateline routings: they need rings that wrap at a coordinate.
    #[must_use]
    pub const fn uses_datelines(self) -> bool {
        matches!(self.row().avoidance, Avoidance::Datelines)
    }

    /// True if it is for networks of switches, not for direct networks.
    #[must_use]
    pub const fn is_for_switches(self) -> bool {
        matches!(self.row().requests, Requests::Switched { .. })
    }

    /// Adaptive channels of direct networks.
    #[must_use]
    pub const fn adaptive(self) -> Adaptive {
        match self.row().requests {
            Requests::Direct { adaptive, .. } => adaptive,
            Requests::Switched { .. } => Adaptive::Never,
        }
    }

    /// True if all packets in direct networks may leave the deterministic route, with this number of virtual channels.
    #[must_use]
    pub const fn leaves_order(self, vcs: usize) -> bool {
        match self.adaptive() {
            Adaptive::From(first) => vcs > first as usize,
            Adaptive::Never | Adaptive::ShortMessagesFrom(_) => false,
        }
    }

    /// True if every channel has its own order of dimensions.
    #[must_use]
    pub const fn orders_by_channel(self) -> bool {
        matches!(self.row().requests, Requests::Direct { orders_by_channel: true, .. })
    }

    /// The routing as all models know it, if packets follow its routes in a direct network, one for each pair of nodes.
    #[must_use]
    pub const fn follows(self) -> Option<&'static route::Row> {
        match self.row().requests {
            Requests::Direct { follows, .. } => follows,
            Requests::Switched { .. } => None,
        }
    }

    /// True if its routes in a direct network go round dead links, wherever that is possible.
    #[must_use]
    pub const fn goes_round(self) -> bool {
        self.follows().is_some() && self.row().dead_links
    }

    /// True if the number of alternative paths can be set.
    #[must_use]
    pub const fn takes_alternatives(self) -> bool {
        matches!(self, Self::GraphShortest)
    }

    /// True if it works in this number of dimensions.
    #[must_use]
    pub const fn takes_dimensions(self, dimensions: usize) -> bool {
        match self.row().dimensions {
            Some(needed) => needed == dimensions,
            None => true,
        }
    }
}

/// Names of routings: `a, b or c`.
#[must_use]
pub fn listed(routings: &[Routing]) -> String {
    in_words(&routings.iter().map(|routing| routing.name()).collect::<Vec<_>>(), "or")
}

/// Joins names: `a, b LAST c`, where `last` is the conjunction.
fn in_words(names: &[&str], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsin_core::topology::TOPOLOGIES;

    #[test]
    fn every_listed_routing_parses_and_answers_to_its_name() {
        for component in ROUTINGS {
            assert_eq!(Routing::parse(component.name).unwrap().name(), component.name);
        }
        let refusal = Routing::parse("bubble:smrat").unwrap_err();
        assert_eq!(refusal.remedy().to_string(), "did you mean `bubble:smart`?");
    }

    #[test]
    fn every_topology_has_routings_and_every_routing_topologies() {
        assert!(TOPOLOGIES.components().all(|component| !Routing::serving(component.name).is_empty()));
        for routing in Routing::ALL {
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
        assert_eq!(Routing::DallyTrc.networks(), in_words(&grids, "and"));
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
            "use tree:adaptive, tree:static, graph:updown, graph:shortest or graph:routes"
        );
        assert!(Routing::BubbleOblivious.aliases().any(|alias| alias == "dor"));
        let aliases = || Routing::ALL.iter().flat_map(|routing| routing.aliases());
        assert!(aliases().all(|alias| Routing::parse(alias).is_err()), "a name is another one's alias");
    }
}
