//! Kernels on a grid of tasks: task i has x = i mod X, y = (i / X) mod Y, z = i / (X Y).

use super::{BYTES, Entry, GRID, ITERATIONS, Kernel, Shape, Steps, TASKS, any_number, one_label};
use crate::catalog::{Component, Parameter};

const PARAMETERS: &[Parameter] = &[TASKS, BYTES, ITERATIONS, GRID];
/// Parameter `bytes` of many small messages.
const SMALL: Parameter = Parameter { default: "64", ..BYTES };
/// Parameter `iterations` of repeated wavefronts.
const TWENTY: Parameter = Parameter { default: "20", ..ITERATIONS };
const SOURCE: &str = "FSIN application kernels";
const SWEEP: &str = "FSIN application kernels; Koch, Baker, Alcouffe, wavefronts of discrete ordinates (1992)";

/// A kernel without aliases.
const fn entry(
    name: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
    source: &'static str,
    kernel: Kernel,
) -> Entry {
    Entry { component: Component { name, about, parameters, source }, aliases: &[], build: kernel }
}

pub(super) static MESH2D: Entry = entry(
    "mesh2d",
    "every task sends to its neighbours X+ X- Y+ Y-, then receives from them in that order",
    PARAMETERS,
    SOURCE,
    exchange(&[2], |shape| open_links(shape) * 2, |shape, task, steps| neighbours(shape, task, false, steps)),
);

pub(super) static MESH3D: Entry = entry(
    "mesh3d",
    "every task sends to its neighbours X+ X- Y+ Y- Z+ Z-, then receives from them in that order",
    PARAMETERS,
    SOURCE,
    exchange(&[3], |shape| open_links(shape) * 2, |shape, task, steps| neighbours(shape, task, false, steps)),
);

pub(super) static TORUS2D: Entry = entry(
    "torus2d",
    "the same as mesh2d with neighbours round the edges; two messages to a neighbour on both sides, none to itself",
    PARAMETERS,
    SOURCE,
    exchange(&[2], closed_links_both_ways, |shape, task, steps| neighbours(shape, task, true, steps)),
);

pub(super) static TORUS3D: Entry = entry(
    "torus3d",
    "the same as mesh3d with neighbours round the edges; two messages to a neighbour on both sides, none to itself",
    PARAMETERS,
    SOURCE,
    exchange(&[3], closed_links_both_ways, |shape, task, steps| neighbours(shape, task, true, steps)),
);

pub(super) static SWEEP2D: Entry = entry(
    "sweep2d",
    "a wavefront: every task receives from its lower neighbours X Y, then sends to the upper ones X+ Y+",
    PARAMETERS,
    SWEEP,
    wavefront(&[2]),
);

pub(super) static SWEEP3D: Entry = entry(
    "sweep3d",
    "a wavefront: every task receives from its lower neighbours X Y Z, then sends to the upper ones X+ Y+ Z+",
    PARAMETERS,
    SWEEP,
    wavefront(&[3]),
);

pub(super) static WATERFALL: Entry = entry(
    "waterfall",
    "wavefronts one after another: sweep2d repeated, or sweep3d if grid has 3 sizes",
    &[TASKS, SMALL, TWENTY, GRID],
    SWEEP,
    wavefront(&[2, 3]),
);

/// Properties of a kernel in which every task exchanges messages with all its neighbours.
const fn exchange(
    dimensions: &'static [usize],
    messages: fn(&Shape) -> u64,
    task: fn(&Shape, u32, &mut Steps),
) -> Kernel {
    let labels = |shape: &Shape| 2 * shape.grid.len() as u64;
    Kernel { dimensions, refuses: any_number, messages, labels, task, collective: None }
}

/// Properties of a kernel in which messages travel from the lower to the upper neighbours.
const fn wavefront(dimensions: &'static [usize]) -> Kernel {
    Kernel { dimensions, refuses: any_number, messages: open_links, labels: one_label, task: sweep, collective: None }
}

/// Number of links of the grid without links across its edges, each counted once.
fn open_links(shape: &Shape) -> u64 {
    let tasks = u64::from(shape.tasks);
    shape.grid.iter().map(|&size| tasks / u64::from(size) * u64::from(size - 1)).sum()
}

/// Number of links of the grid with links across its edges, each counted in both directions: two per task and
/// dimension, but none where a task is its own neighbour.
fn closed_links_both_ways(shape: &Shape) -> u64 {
    2 * u64::from(shape.tasks) * shape.grid.iter().filter(|&&size| size > 1).count() as u64
}

/// A neighbour of a task: one step of -1 or +1 along a dimension of the grid.
struct Direction {
    /// Label of a message sent in this direction: 2d for +, 2d+1 for -.
    label: u64,
    /// Label of a message received from there: it was sent in the opposite direction.
    incoming: u64,
    /// The task at that side.
    neighbour: u32,
}

/// The neighbours X+ X- Y+ Y- ... of a task; with `wrap` across the edges, otherwise without those beyond them.
fn directions(grid: &[u32], task: u32, wrap: bool) -> impl Iterator<Item = Direction> {
    let mut stride = 1;
    grid.iter().enumerate().flat_map(move |(dimension, &size)| {
        let own = stride;
        stride *= size;
        let at = task / own % size;
        [true, false].into_iter().filter_map(move |up| {
            let beyond = if up { at + 1 == size } else { at == 0 };
            let to = match (beyond, up) {
                (true, _) if !wrap => return None,
                (true, true) => 0,
                (true, false) => size - 1,
                (false, true) => at + 1,
                (false, false) => at - 1,
            };
            let plus = 2 * dimension as u64;
            let (label, incoming) = if up { (plus, plus + 1) } else { (plus + 1, plus) };
            // A single task in this dimension is its own neighbour across the edge.
            (to != at).then(|| Direction { label, incoming, neighbour: task - at * own + to * own })
        })
    })
}

/// Writes the steps of `exchange`: sends to all neighbours, then receives from them.
fn neighbours(shape: &Shape, task: u32, wrap: bool, steps: &mut Steps) {
    directions(&shape.grid, task, wrap).for_each(|direction| steps.send(direction.neighbour, direction.label));
    directions(&shape.grid, task, wrap).for_each(|direction| steps.receive(direction.neighbour, direction.incoming));
}

/// Writes the steps of `wavefront`: receives from the lower neighbours, then sends to the upper ones.
fn sweep(shape: &Shape, task: u32, steps: &mut Steps) {
    let lower = |direction: &Direction| direction.neighbour < task;
    directions(&shape.grid, task, false).filter(lower).for_each(|direction| steps.receive(direction.neighbour, 0));
    directions(&shape.grid, task, false)
        .filter(|direction| !lower(direction))
        .for_each(|direction| steps.send(direction.neighbour, 0));
}
