//! The routings of each topology, and the names of routings in other simulators and textbooks.

use trgen::catalog::{ErrorKind, SpecError};

use super::Routing::{
    self, BubbleAdaptive, BubbleBimodal, BubbleOblivious, BubbleRandom, BubbleShortest, BubbleSmart, CubeAdaptive,
    CubeOblivious, DallyAdaptive, DallyBasic, DallyImproved, DallyTrc, DoubleAdaptive, DoubleOblivious,
    DragonflyMinimal, DragonflyUgal, DragonflyValiant, GraphShortest, GraphUpDown, HexaAdaptive, HexaOblivious,
    HyperxAdaptive, HyperxDor, TreeAdaptive, TreeStatic,
};

/// Routings of direct networks whose rings, if any, wrap at a coordinate.
const GRID: &[Routing] = &[
    BubbleSmart,
    BubbleAdaptive,
    BubbleShortest,
    BubbleRandom,
    BubbleOblivious,
    BubbleBimodal,
    DoubleAdaptive,
    DoubleOblivious,
    HexaAdaptive,
    HexaOblivious,
    DallyAdaptive,
    DallyTrc,
    DallyBasic,
    DallyImproved,
];
/// Routings of other direct networks: the same without dateline routings.
const DIRECT: &[Routing] = GRID.split_at(10).0;
const TREE: &[Routing] = &[TreeAdaptive, TreeStatic, GraphUpDown, GraphShortest];
const ANY_GRAPH: &[Routing] = &[GraphUpDown, GraphShortest];

/// Families of topologies with their routings. The first one is the default: the usual routing of the family, if every
/// network of the family supports it.
const FAMILIES: &[(&str, &[Routing])] = &[
    ("torus", GRID),
    ("mesh", GRID),
    ("hypercube", GRID),
    ("twisted", DIRECT),
    ("circulant", DIRECT),
    ("midimew", DIRECT),
    ("circpk", DIRECT),
    ("spidergon", DIRECT),
    ("spinnaker", DIRECT),
    ("fattree", TREE),
    ("thintree", TREE),
    ("slimtree", TREE),
    ("dragonfly", &[DragonflyUgal, DragonflyMinimal, DragonflyValiant, GraphUpDown, GraphShortest]),
    ("hyperx", &[HyperxAdaptive, HyperxDor, GraphUpDown, GraphShortest]),
    ("icube", &[CubeAdaptive, CubeOblivious, GraphUpDown, GraphShortest]),
    ("rrg", ANY_GRAPH),
    ("graph", ANY_GRAPH),
];

/// Aliases, each with the routings that it may mean: the one that suits the topology.
const ALIASES: &[(&str, &[Routing])] = &[
    ("dor", DIMENSION_ORDER),
    ("e-cube", DIMENSION_ORDER),
    ("dimension-order", DIMENSION_ORDER),
    ("dim_order", DIMENSION_ORDER),
    ("minimal-adaptive", &[BubbleAdaptive, CubeAdaptive]),
    ("min_adapt", &[BubbleAdaptive, CubeAdaptive]),
    ("duato", &[DallyAdaptive]),
    ("dateline", &[DallyTrc]),
    ("d-mod-k", &[TreeStatic]),
    ("minimal", &[DragonflyMinimal]),
    ("valiant", &[DragonflyValiant]),
    ("ugal", &[DragonflyUgal]),
    ("ugal-l", &[DragonflyUgal]),
    ("dal", &[HyperxAdaptive]),
    ("shortest-path", &[GraphShortest]),
    ("up-down", &[GraphUpDown]),
    ("up*/down*", &[GraphUpDown]),
];
const DIMENSION_ORDER: &[Routing] = &[BubbleOblivious, HyperxDor, CubeOblivious];

/// The first word of a topology's specification: `torus` of `torus:8x8`.
fn family(spec: &str) -> &str {
    spec.split(':').next().unwrap_or(spec)
}

impl Routing {
    /// Routings for a topology, by its specification or the name of its family; the first one is the default. Empty for
    /// an unknown family.
    #[must_use]
    pub fn serving(spec: &str) -> &'static [Self] {
        FAMILIES.iter().find(|(name, _)| *name == family(spec)).map_or(&[], |&(_, routings)| routings)
    }

    /// The routing that a name means in a topology, by its specification: an alias may mean one routing in a torus and
    /// another one in a HyperX.
    ///
    /// # Errors
    /// An unknown name; one that means no routing for this topology.
    pub fn named(name: &str, spec: &str) -> Result<Self, SpecError> {
        let Some((_, meant)) = ALIASES.iter().find(|(alias, _)| *alias == name) else { return Self::parse(name) };
        let serving = Self::serving(spec);
        meant.iter().copied().find(|routing| serving.contains(routing)).ok_or_else(|| {
            let what = format!("`{name}` is {}, which is not for {spec}", listed(meant));
            SpecError::new(ErrorKind::Conflict, what, format!("use {}", listed(serving)))
        })
    }

    /// Aliases of this routing.
    pub fn aliases(self) -> impl Iterator<Item = &'static str> {
        ALIASES.iter().filter(move |(_, meant)| meant.contains(&self)).map(|&(alias, _)| alias)
    }

    /// All aliases.
    pub(super) fn all_aliases() -> impl Iterator<Item = &'static str> {
        ALIASES.iter().map(|&(alias, _)| alias)
    }

    /// The networks that it is for, in words.
    #[must_use]
    pub fn networks(self) -> String {
        let serves = |&&(_, routings): &&(&str, &[Self])| routings.contains(&self);
        let names: Vec<&str> = FAMILIES.iter().filter(serves).map(|&(name, _)| name).collect();
        match self {
            GraphShortest | GraphUpDown => "networks of switches".to_owned(),
            _ if names.len() == FAMILIES.iter().filter(|(_, routings)| routings.contains(&BubbleSmart)).count() => {
                "direct networks".to_owned()
            }
            _ => in_words(&names, "and"),
        }
    }
}

/// Names of routings: `a, b or c`.
#[must_use]
pub fn listed(routings: &[Routing]) -> String {
    in_words(&routings.iter().map(|routing| routing.name()).collect::<Vec<_>>(), "or")
}

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
    use crate::topology::TOPOLOGIES;

    #[test]
    fn every_family_of_topologies_has_routings() {
        assert!(TOPOLOGIES.iter().all(|component| !Routing::serving(component.name).is_empty()));
        assert!(FAMILIES.iter().all(|(name, _)| TOPOLOGIES.iter().any(|component| component.name == *name)));
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
        assert_eq!(refusal.remedy().to_string(), "use tree:adaptive, tree:static, graph:updown or graph:shortest");
        assert!(Routing::BubbleOblivious.aliases().any(|alias| alias == "dor"));
        assert!(Routing::all_aliases().all(|alias| Routing::parse(alias).is_err()), "a name is another one's alias");
    }
}
