//! Placements that are orders of rows and columns of a grid.

use super::{INSEE, Row, Rule};
use crate::catalog::{Component, ErrorKind, SpecError};
use crate::geometry::Geometry;
use crate::units::NodeId;

pub(super) const ROW: Row = Row {
    component: Component {
        name: "row",
        about: "along dimension 0 first, then along dimension 1, ...; in grids, where it is what consecutive is",
        parameters: &[],
        source: INSEE,
    },
    parse: |_| Ok(Rule::order(|context| sorted_nodes("row", context.geometry, |at, _| at.reverse()))),
};

pub(super) const COLUMN: Row = Row {
    component: Component {
        name: "column",
        about: "along the last dimension first, along dimension 0 last: (0,0), (0,1), (0,2), ...",
        parameters: &[],
        source: INSEE,
    },
    parse: |_| Ok(Rule::order(|context| sorted_nodes("column", context.geometry, |_, _| ()))),
};

pub(super) const DIAGONAL: Row = Row {
    component: Component {
        name: "diagonal",
        about: "node i takes the task that is i-th along the anti-diagonals of the grid of tasks: (0,0), (1,0), (0,1), (2,0), (1,1), \
         (0,2), ...; plane by plane",
        parameters: &[],
        source: INSEE,
    },
    parse: |_| {
        Ok(Rule::order(|context| {
            // Sort by plane, anti-diagonal, and position on the anti-diagonal.
            let tasks = sorted_nodes("diagonal", context.geometry, |at, _| {
                at[0] += at[1];
                at.swap(0, 1);
                at.reverse();
            })?;
            // The list has the tasks of nodes 0, 1, ...; invert it.
            let mut nodes = vec![NodeId(0); tasks.len()];
            for (node, task) in tasks.into_iter().enumerate() {
                nodes[task.index()] = NodeId::at(node);
            }
            Ok(nodes)
        }))
    },
};

pub(super) const QUADRANT: Row = Row {
    component: Component {
        name: "quadrant",
        about: "one half of every dimension first: the quadrant of node 0, then the one beside it along dimension 0, ...",
        parameters: &[],
        source: INSEE,
    },
    parse: |_| {
        Ok(Rule::order(|context| {
            sorted_nodes("quadrant", context.geometry, |at, sizes| {
                let halves = at.iter().zip(sizes).map(|(&at, &size)| u32::from(at >= size.div_ceil(2)));
                let halves: Vec<u32> = halves.collect();
                at.extend(halves);
                at.reverse();
            })
        }))
    },
};

/// All nodes of a grid, sorted by their coordinates after `key` has rearranged the coordinates. `name` is the
/// placement, for errors.
fn sorted_nodes(
    name: &str,
    geometry: &Geometry,
    key: impl Fn(&mut Vec<u32>, &[u32]),
) -> Result<Vec<NodeId>, SpecError> {
    let sizes = geometry.sizes();
    if sizes.len() < 2 {
        return Err(SpecError::new(
            ErrorKind::Malformed,
            format!("placement `{name}` is an order of rows and columns, and these nodes have none"),
            "use a grid of two dimensions or more without jobs, or greedy, optimise, consecutive, shuffle, shift:S, random, \
             file:F",
        ));
    }
    let mut all: Vec<NodeId> = (0..geometry.nodes()).map(NodeId::at).collect();
    all.sort_by_cached_key(|&node| {
        let mut at = geometry.coordinates(node);
        key(&mut at, sizes);
        at
    });
    Ok(all)
}
