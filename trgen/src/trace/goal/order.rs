//! An order of dependency statements from which the dependents of every operation come out in their order.

use super::{After, Rank};

/// `dependent requires other`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Statement {
    /// The operation after which it can stand: both are defined, and what must come before it has been said.
    pub(super) after_node: u32,
    pub(super) dependent: u32,
    pub(super) other: u32,
    pub(super) after: After,
}

/// All dependencies of a rank: each as early as it can stand, those of one place by dependent and then by what it waits
/// for; never one before another that its operation's list of dependents has first.
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
        // Where lists are not ascending, the order within a list decides: the sort must be stable in it.
        all.sort_by_key(|statement| statement.after_node);
    }
    all
}
