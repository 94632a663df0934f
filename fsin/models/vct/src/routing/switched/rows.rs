//! The routings of networks of switches of the table of all models that have a name, names or a choice of channels of
//! their own in this model. The others are [taken](super::super::taken) as they are.

use fsin_core::route::{self, Carries, rows};
use trgen::catalog::Component;

use crate::routing::{Avoidance, Choice, Requests, Row, Serves, Vcs};

const TREES: Serves = Serves::Only(&["fattree", "thintree", "slimtree"]);
const DRAGONFLIES: Serves = Serves::Only(&["dragonfly"]);
const HYPERX: Serves = Serves::Only(&["hyperx"]);
const CUBES: Serves = Serves::Only(&["icube"]);
const MESHES: Serves = Serves::Only(&["cmesh"]);

const ADAPTIVE: &[&str] = &["adaptive", "minimal-adaptive", "min_adapt"];
/// Other names of `hyperx:adaptive`.
const HYPERX_ADAPTIVE: &[&str] = &["adaptive", "minimal-adaptive", "min_adapt", "hyperx:minimal-adaptive"];
const ORDER: &[&str] = &["dor", "e-cube", "dimension-order", "dim_order", "xy"];
const UGAL: &[&str] = &["ugal", "ugal-l"];

/// A row of this model for a row of all models.
const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    serves: Serves,
    choice: Choice,
    carries: Carries,
) -> Row {
    let policy = carries.policy;
    Row {
        component: Component { name, ..carries.row.component },
        aliases,
        serves,
        vcs: Vcs::AtLeast(1),
        dimensions: None,
        avoidance: if policy.has_bubble() { Avoidance::Bubble } else { Avoidance::Order },
        dead_links: false,
        draws_with: Some(1),
        requests: Requests::Switched { choice, carries },
    }
}

/// As [`row`], where one of the open channels is chosen.
pub(in crate::routing) const fn open(
    name: &'static str,
    aliases: &'static [&'static str],
    serves: Serves,
    of: &'static route::Row,
) -> Row {
    row(name, aliases, serves, Choice::Open, Carries::new(of))
}

pub(in crate::routing) static TREE_ADAPTIVE: Row =
    row("tree:adaptive", &["adaptive"], TREES, Choice::MostSpace, Carries::new(&rows::TREE_ADAPTIVE));
pub(in crate::routing) static TREE_STATIC: Row =
    row("tree:static", &["static", "d-mod-k"], TREES, Choice::Drawn, Carries::new(&rows::TREE_STATIC));

pub(in crate::routing) static DRAGONFLY_UGAL: Row = Row {
    vcs: Vcs::AtLeast(3),
    ..open("dragonfly:ugal", &["ugal", "ugal-l", "adaptive"], DRAGONFLIES, &rows::DRAGONFLY_UGAL_APART)
};
pub(in crate::routing) static DRAGONFLY_MINIMAL: Row =
    Row { vcs: Vcs::AtLeast(2), ..open("dragonfly:minimal", &["minimal"], DRAGONFLIES, &rows::DRAGONFLY_MINIMAL) };
pub(in crate::routing) static DRAGONFLY_VALIANT: Row =
    Row { vcs: Vcs::AtLeast(3), ..open("dragonfly:valiant", &["valiant"], DRAGONFLIES, &rows::DRAGONFLY_VALIANT) };

pub(in crate::routing) static HYPERX_DAL: Row =
    Row { vcs: Vcs::AtLeast(2), ..open("hyperx:dal", &["dal"], HYPERX, &rows::HYPERX_DAL) };
pub(in crate::routing) static HYPERX_DOR: Row = open("hyperx:dor", ORDER, HYPERX, &rows::HYPERX_DOR);
pub(in crate::routing) static HYPERX_MINIMAL: Row = open("hyperx:minimal", &["minimal"], HYPERX, &rows::HYPERX_MINIMAL);
pub(in crate::routing) static HYPERX_MINIMAL_ADAPTIVE: Row =
    open("hyperx:adaptive", HYPERX_ADAPTIVE, HYPERX, &rows::HYPERX_ADAPTIVE);
pub(in crate::routing) static HYPERX_VALIANT: Row = open("hyperx:valiant", &["valiant"], HYPERX, &rows::HYPERX_VALIANT);
pub(in crate::routing) static HYPERX_UGAL: Row = open("hyperx:ugal", UGAL, HYPERX, &rows::HYPERX_UGAL);

pub(in crate::routing) static CMESH_ADAPTIVE: Row = open("cmesh:adaptive", ADAPTIVE, MESHES, &rows::CUBE_ADAPTIVE);
pub(in crate::routing) static CMESH_DOR: Row = open("cmesh:dor", ORDER, MESHES, &rows::CUBE_DOR);
pub(in crate::routing) static CUBE_ADAPTIVE: Row = Row {
    vcs: Vcs::AtLeast(2),
    ..row("cube:adaptive", ADAPTIVE, CUBES, Choice::MostSpace, Carries::with_bubble(&rows::CUBE_ADAPTIVE))
};
pub(in crate::routing) static CUBE_OBLIVIOUS: Row =
    row("cube:oblivious", ORDER, CUBES, Choice::Drawn, Carries::with_bubble(&rows::CUBE_DOR));

pub(in crate::routing) static FLY: Row =
    open("fly:destination-tag", &["destination-tag", "dest_tag", "dest-tag"], Serves::Only(&["fly"]), &rows::BUTTERFLY);

pub(in crate::routing) static UPDOWN: Row = Row {
    dead_links: true,
    ..open("graph:updown", &["up-down", "up*/down*", "updown"], Serves::Switches, &rows::UPDOWN)
};
pub(in crate::routing) static SHORTEST: Row = Row {
    dead_links: true,
    ..open("graph:shortest", &["shortest-path", "shortest", "adaptive"], Serves::Switches, &rows::SHORTEST)
};
pub(in crate::routing) static ROUTES: Row = open("graph:routes", &["routes"], Serves::Switches, &rows::ROUTES);
