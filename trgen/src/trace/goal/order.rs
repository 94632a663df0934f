//! An order of dependency statements that reproduces the order of every operation's dependents.

use super::{After, Rank};

/// A dependency statement: `dependent requires other`, or `irequires`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Statement {
    /// The operation after which the statement can stand: both operations are defined, and the statements that must
    /// precede it are made.
    pub(super) after_node: u32,
    pub(super) dependent: u32,
    pub(super) other: u32,
    pub(super) after: After,
}

/// All dependencies of a rank, each at the earliest possible place; at the same place by dependent, then by dependency.
/// The order in each operation's list of dependents is kept.
pub(super) fn statements(rank: &Rank) -> Vec<Statement> {
    let mut all = Vec::with_capacity(rank.edges.len());
    let mut in_order = true;
    for (other, node) in (0..).zip(&rank.nodes) {
        for (after, dependents) in [(After::Finish, rank.on_finish(node)), (After::Start, rank.on_start(node))] {
            in_order &= dependents.is_sorted();
            let mut earliest = other;
            for &dependent in dependents {
                earliest = earliest.max(dependent);
                all.push(Statement { after_node: earliest, dependent, other, after });
            }
        }
    }
    if in_order {
        all.sort_by_key(|statement| (statement.after_node, statement.dependent, statement.other));
    } else {
        // Where lists are not ascending, the order within a list decides: the sort must be stable.
        all.sort_by_key(|statement| statement.after_node);
    }
    all
}
