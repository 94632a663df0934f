//! Number of tasks and their layout.

use super::exchange::Exchange;
use super::named::Plan;
use super::random::Draws;
use super::{KernelContext, MOST_TASKS};
use crate::Geometry;
use crate::catalog::SpecError;
use crate::collective::squarest;
use crate::synthetic::expr::{Call, Expr};

/// The tasks of a kernel.
#[derive(Debug)]
pub(super) struct Shape {
    /// Number of tasks, 1 to [`MOST_TASKS`].
    pub(super) tasks: u32,
    /// Sizes of the grid of tasks, whose product is `tasks`; empty for kernels without a grid, and where tasks form no
    /// groups.
    pub(super) grid: Vec<u32>,
    /// \[bytes\] The parameter `bytes`.
    pub(super) bytes: u64,
    /// Number of messages of each task in an iteration, for kernels with random draws.
    pub(super) messages_per_task: u32,
    /// Number of rows and columns of a matrix, for kernels that compute.
    pub(super) matrix: u32,
    /// \[10^-6\] Of the mean size of a piece: how much a piece differs from it at most, for kernels with unequal pieces.
    pub(super) spread: u64,
    /// \[ps\] Time of a multiply-add, for kernels that compute.
    pub(super) madd: u64,
    /// Run seed, for kernels with random draws.
    pub(super) seed: u64,
    /// The random draws of such kernels.
    pub(super) draws: Option<Draws>,
    /// How the messages of an all-to-all are sent.
    pub(super) exchange: Option<Exchange>,
    /// A collective among groups of tasks.
    pub(super) plan: Option<Plan>,
}

impl Shape {
    /// Reads `tasks` and, if the kernel is defined on grids of these `dimensions`, `grid`. A kernel with the parameter
    /// `group` has a grid if its tasks form groups: the tasks of a group by the number of groups.
    pub(super) fn read(
        call: &Call,
        dimensions: &[usize],
        default_tasks: usize,
        default_geometry: Option<&Geometry>,
    ) -> Result<Self, SpecError> {
        let asked = asked(call)?;
        let Some(&usual) = dimensions.first() else {
            let tasks = tasks(call, asked, default_tasks)?;
            let group = if call.declares("group") { group(call, tasks, default_geometry)? } else { None };
            return Ok(Self::new(tasks, group.map_or_else(Vec::new, |group| vec![group, tasks / group])));
        };
        if let Some(argument) = call.given("grid") {
            let grid = sizes(call, argument, dimensions)?;
            // Each size is at most 2^20 and there are at most three.
            let product: u64 = grid.iter().map(|&size| u64::from(size)).product();
            if product > u64::from(MOST_TASKS) {
                let problem = format!("a grid of {argument} is {product} tasks");
                return Err(call.refuse(argument, &problem, format!("at most {MOST_TASKS} tasks")));
            }
            if let Some(asked) = asked.filter(|&asked| u64::from(asked) != product) {
                let problem = format!("a grid of {argument} is {product} tasks, not {asked}");
                return Err(call.refuse(argument, &problem, "give either grid or tasks"));
            }
            return Ok(Self::new(product as u32, grid));
        }
        let tasks = tasks(call, asked, default_tasks)?;
        // A three-dimensional network does not turn a kernel that is 2-D by default into a 3-D one.
        let same = |geometry: &&Geometry| geometry.sizes().len() == usual && geometry.nodes() == tasks as usize;
        let grid = default_geometry.filter(same).map_or_else(|| squarest(tasks, usual), |g| g.sizes().to_vec());
        Ok(Self::new(tasks, grid))
    }

    /// Reads `tasks`. They form the groups of the network, if it has groups and these divide their number.
    pub(super) fn of_levels(call: &Call, context: &KernelContext) -> Result<Self, SpecError> {
        let tasks = tasks(call, asked(call)?, context.tasks)?;
        let group = group_of_network(tasks, context.geometry);
        Ok(Self::new(tasks, group.map_or_else(Vec::new, |group| vec![group, tasks / group])))
    }

    /// The grid of `tasks` tasks: as given, or the network's if it has so many nodes, or else two dimensions, as square
    /// as possible.
    pub(super) fn grid_of(call: &Call, tasks: u32, geometry: Option<&Geometry>) -> Result<Vec<u32>, SpecError> {
        let Some(argument) = call.given("grid") else {
            let same = geometry.filter(|geometry| geometry.nodes() == tasks as usize);
            return Ok(same.map_or_else(|| squarest(tasks, 2), |geometry| geometry.sizes().to_vec()));
        };
        let grid = sizes(call, argument, &[1, 2, 3])?;
        let product: u64 = grid.iter().map(|&size| u64::from(size)).product();
        if product == u64::from(tasks) {
            return Ok(grid);
        }
        let problem = format!("a grid of {product} tasks for groups of {tasks}");
        Err(call.refuse(argument, &problem, "give a grid of the tasks of one group"))
    }

    /// A shape whose other parameters are 0.
    pub(super) const fn new(tasks: u32, grid: Vec<u32>) -> Self {
        Self {
            tasks,
            grid,
            bytes: 0,
            messages_per_task: 0,
            matrix: 0,
            spread: 0,
            madd: 0,
            seed: 0,
            draws: None,
            exchange: None,
            plan: None,
        }
    }
}

/// The parameter `tasks`, if it is given.
fn asked(call: &Call) -> Result<Option<u32>, SpecError> {
    let is_given = call.given("tasks").is_some();
    is_given.then(|| Ok(call.integer("tasks", 1..=i64::from(MOST_TASKS))? as u32)).transpose()
}

/// The number of tasks: `asked`, or else the default.
fn tasks(call: &Call, asked: Option<u32>, default: usize) -> Result<u32, SpecError> {
    let tasks = asked.or_else(|| u32::try_from(default).ok()).filter(|tasks| (1..=MOST_TASKS).contains(tasks));
    tasks.ok_or_else(|| {
        let problem = format!("`{}` cannot have one task on each of {default} nodes", call.name());
        call.refuse_all(&problem, format!("give tasks=, 1 to {MOST_TASKS}"))
    })
}

/// The number of tasks of a group: `group`, or else that of the network if it divides the tasks.
fn group(call: &Call, tasks: u32, geometry: Option<&Geometry>) -> Result<Option<u32>, SpecError> {
    let Some(argument) = call.given("group") else {
        return Ok(group_of_network(tasks, geometry));
    };
    let group = call.integer("group", 1..=i64::from(MOST_TASKS))? as u32;
    if tasks.is_multiple_of(group) {
        return Ok(Some(group));
    }
    let problem = format!("{tasks} tasks do not form groups of {group}");
    Err(call.refuse(argument, &problem, "give a divisor of the number of tasks"))
}

/// The number of tasks of a group of the network, if it has groups and these divide the number of tasks.
fn group_of_network(tasks: u32, geometry: Option<&Geometry>) -> Option<u32> {
    let own = geometry.map_or(1, Geometry::group);
    (own > 1 && tasks.is_multiple_of(own)).then_some(own)
}

/// Parses the sizes of a grid.
fn sizes(call: &Call, argument: &Expr, dimensions: &[usize]) -> Result<Vec<u32>, SpecError> {
    let size = |word: &str| word.parse().ok().filter(|size| (1..=MOST_TASKS).contains(size));
    let grid: Option<Vec<u32>> = argument.word().and_then(|word| word.split('x').map(size).collect());
    grid.filter(|grid| dimensions.contains(&grid.len())).ok_or_else(|| {
        let count = dimensions.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
        let problem = format!("`{argument}` is not a grid of {count} dimensions");
        call.refuse(argument, &problem, format!("{count} sizes of 1 to {MOST_TASKS} with x between them, such as 8x8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_as_square_as_possible() {
        assert_eq!(squarest(64, 2), [8, 8]);
        assert_eq!(squarest(12, 2), [4, 3]);
        assert_eq!(squarest(7, 2), [7, 1]);
        assert_eq!(squarest(64, 3), [4, 4, 4]);
        assert_eq!(squarest(60, 3), [5, 4, 3]);
        assert_eq!(squarest(1, 3), [1, 1, 1]);
        assert_eq!(squarest(1 << 20, 3), [128, 128, 64]);
    }
}
