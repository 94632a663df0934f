//! Routings of the table of all models that no row of this model names: they are taken as that table states them.
//!
//! In a network of switches a head takes one of the open channels of the hops. In a direct network it follows the route
//! of its pair of nodes, so that only routings with one hop are taken there: the rules of this model see hops to go,
//! and no routing function.

use std::sync::OnceLock;

use fsin_core::route::{self, Choice, ROUTINGS};
use fsin_core::topology::TOPOLOGIES;

use super::direct::given;
use super::switched::rows::open;
use super::{Routing, Row};

/// A routing that is taken, by its number among them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Taken(u16);

impl Taken {
    /// All of them, in the order of the table.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..rows().len()).map(|number| Self(number as u16))
    }

    /// The properties that follow from the row of all models.
    pub(super) fn row(self) -> &'static Row {
        &rows()[usize::from(self.0)]
    }
}

/// The rows of this model. The table of all models is complete before a routing is looked up.
fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let unnamed = ROUTINGS.rows().iter().copied().filter(|row| !is_named(row));
        unnamed.flat_map(|row| [in_switches(row), in_direct(row)]).flatten().collect()
    })
}

/// The names of the networks that a routing serves.
fn served(row: &route::Row) -> impl Iterator<Item = &'static str> {
    TOPOLOGIES.names().into_iter().filter(|name| row.serves.includes(name))
}

/// True if a row of this model has the name of a routing, in one of its networks.
fn is_named(row: &route::Row) -> bool {
    let name = row.component.name;
    let own = || Routing::OWN.iter().filter(|own| own.is_called(name));
    served(row).any(|topology| own().any(|own| own.serves(topology)))
}

/// The row of a routing in networks of switches.
fn in_switches(of: &'static route::Row) -> Option<Row> {
    let row =
        Row { dead_links: !of.serves.requires_intact_topology(), ..open(of.component.name, of.aliases, of.serves, of) };
    // Queues hold packets here, not flits.
    served_by(row).filter(|_| !of.choice.is_by_flits())
}

/// The row of a routing in direct networks.
fn in_direct(row: &'static route::Row) -> Option<Row> {
    let has_one_route = row.choice == Choice::One && !row.policy.is_escape() && !row.policy.has_bubble();
    let row = Row {
        component: row.component,
        aliases: row.aliases,
        serves: row.serves,
        dead_links: !row.serves.requires_intact_topology(),
        requests: given::following(row),
        ..given::ROW
    };
    served_by(row).filter(|_| has_one_route)
}

/// A row, if there is a network that it serves.
fn served_by(row: Row) -> Option<Row> {
    TOPOLOGIES.names().iter().any(|name| row.includes(name)).then_some(row)
}

#[cfg(test)]
mod tests {
    use fsin_core::route::Serves;

    use super::*;

    /// What has no name in this model is there under that of all models, and nothing twice.
    #[test]
    fn every_routing_of_the_table_is_named_or_taken() {
        for row in ROUTINGS.standard() {
            let name = row.component.name;
            for topology in served(row) {
                // `adaptive` is another name of shortest paths where no routing of the network comes before them.
                let is_second = |routing: &Routing| name == "adaptive" && routing.name() == "graph:shortest";
                let carrying = Routing::all()
                    .filter(|routing| routing.serves(topology) && routing.is_called(name))
                    .filter(|routing| !is_second(routing));
                let is_direct = Serves::Direct.includes(topology);
                let is_known = !is_direct || is_named(row) || row.choice == Choice::One;
                let most = usize::from(is_known && !row.choice.is_by_flits());
                assert_eq!(carrying.count(), most, "{name} in {topology}");
            }
        }
        let minimal = Routing::named("minimal", "fattree:2,3").unwrap();
        assert_eq!((minimal.name(), minimal.networks().as_str()), ("minimal", "fattree, thintree and slimtree"));
        assert_eq!(Routing::named("minimal", "hyperx:4x4:2").unwrap().name(), "hyperx:minimal");
        for (topology, own) in
            [("fattree:2,3", "tree:adaptive"), ("hyperx:4x4:2", "hyperx:adaptive"), ("rrg:s=8,k=3", "graph:shortest")]
        {
            assert_eq!(Routing::named("adaptive", topology).unwrap().name(), own);
        }
        assert!(Routing::named("odd-even", "mesh:4x4").is_err());
    }
}
