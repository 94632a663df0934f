//! Patterns in which every node draws one of several destinations that follow from its place in a square of nodes.

use super::matrix::by_weights;
use super::{Built, Entry, PatternContext, TO_ITSELF};
use crate::catalog::Component;
use crate::synthetic::expr::Call;

pub(super) static BADPERM_YARC: Entry = Entry {
    component: Component {
        name: "badperm-yarc",
        about: "in a square of k x k nodes, row by row: node i sends to any node of column floor(i / k), so that a row of a \
                flattened butterfly has one destination in its dimension",
        parameters: &[TO_ITSELF],
        source: "BookSim 2, Jiang et al., ISPASS 2013; Scott, Abts, Kim, Dally, The BlackWidow high-radix Clos network, ISCA \
                 2006",
    },
    aliases: &[],
    build: |call, context| {
        let nodes = context.nodes();
        let side = nodes.isqrt();
        if side * side != nodes || side < 2 {
            let problem = format!("`badperm-yarc` needs a square of nodes, and there are {nodes}");
            return Err(call.refuse_all(&problem, "a number of nodes such as 16, 64 or 256"));
        }
        build(call, context, |node| (0..side).map(|row| (row * side + node / side, 1.0)).collect())
    },
};

pub(super) static TAPER64: Entry = Entry {
    component: Component {
        name: "taper64",
        about: "of 64 nodes: equally often to any node, or to one of those at most one row of 8 and one place away, \
                (i + 8 a + b) mod 64 with a, b from -1 to 1",
        parameters: &[TO_ITSELF],
        source: "BookSim 2, Jiang et al., ISPASS 2013",
    },
    aliases: &[],
    build: |call, context| {
        let nodes = context.nodes();
        if nodes != 64 {
            let problem = format!("`taper64` is for 64 nodes, and there are {nodes}");
            return Err(call.refuse_all(&problem, "a network of 64 nodes"));
        }
        let near =
            |node: u32| (0..9u32).map(move |place| ((node + 64 + 8 * (place / 3) + place % 3 - 9) % 64, 1.0 / 9.0));
        build(call, context, |node| (0..64).map(|to| (to, 1.0 / 64.0)).chain(near(node)).collect())
    },
};

/// Builds a pattern from the destinations of each node, with their weights.
fn build(call: &Call, context: PatternContext, row: impl Fn(u32) -> Vec<(u32, f64)>) -> Built {
    let to_itself = context.sends_to_itself(call)?;
    let rows = (0..context.nodes()).map(row).collect();
    by_weights(rows, to_itself).map_err(|what| call.refuse_all(&what, "another pattern"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeSet;

    use super::super::*;
    use crate::Geometry;
    use crate::rng::{Purpose, stream};

    fn reached(text: &str, nodes: u32, source: u32) -> BTreeSet<u32> {
        let geometry = Geometry::new(&[nodes]).unwrap();
        let context = PatternContext {
            geometry: &geometry,
            seed: 1,
            folder: Path::new(""),
            carries_to_itself: true,
            demands: None,
        };
        let expr = expr::Expr::parse(text).unwrap();
        let mut pattern = build(text, &expr, context).unwrap();
        let mut rng = stream(1, 0, Purpose::Spatial);
        (0..4000).map(|_| pattern.destination(NodeId(source), &mut rng).unwrap().0).collect()
    }

    #[test]
    fn destinations_follow_the_place() {
        let column = |at: u32| (0..4).map(|row| 4 * row + at).collect::<BTreeSet<u32>>();
        assert_eq!(reached("badperm-yarc(self=true)", 16, 9), column(2));
        assert_eq!(reached("badperm-yarc", 16, 10), &column(2) - &BTreeSet::from([10]));
        assert_eq!(reached("taper64(self=true)", 64, 0).len(), 64);
    }
}
