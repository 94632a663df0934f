//! Partitioning of a network into ranges of consecutive nodes.

/// The assignment of nodes to partitions.
#[derive(Clone, Copy, Debug)]
pub struct Division {
    /// Number of partitions.
    pub parts: usize,
    /// \[nodes\] Size of the first partition.
    first: usize,
    /// \[nodes\] Size of every other partition.
    span: usize,
}

impl Division {
    /// Divides `nodes` nodes (at least 1) into `threads` partitions, but at most one per node. The first partition is
    /// smaller if its thread has something `else_to_do` meanwhile: source, messages and record. That work takes about
    /// an eighth of the time of one thread. A sixteenth was measured to be best, since nodes of larger partitions take
    /// more time.
    #[must_use]
    pub fn new(nodes: usize, threads: usize, else_to_do: bool) -> Self {
        let parts = threads.clamp(1, nodes);
        if parts == 1 {
            return Self { parts, first: nodes, span: nodes };
        }
        let span = if else_to_do { (nodes * 16).div_ceil(parts * 15) } else { nodes.div_ceil(parts) };
        let span = span.min((nodes - 1) / (parts - 1));
        Self { parts, first: nodes - (parts - 1) * span, span }
    }

    /// The partition of a node.
    #[must_use]
    #[inline]
    pub fn part_of(self, node: usize) -> usize {
        node.checked_sub(self.first).map_or(0, |beyond| 1 + beyond / self.span)
    }

    /// The first node of a partition.
    #[must_use]
    #[inline]
    pub fn first_of(self, part: usize) -> usize {
        part.checked_sub(1).map_or(0, |before| self.first + before * self.span)
    }

    /// \[nodes\] Size of a partition.
    #[must_use]
    #[inline]
    pub const fn size_of(self, part: usize) -> usize {
        if part == 0 { self.first } else { self.span }
    }

    /// The partition of a node, and its index there.
    #[must_use]
    #[inline]
    pub fn place_of(self, node: usize) -> (usize, usize) {
        let part = self.part_of(node);
        (part, node - self.first_of(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_belongs_to_one_part_and_no_part_is_empty() {
        for nodes in 1..80 {
            for threads in 1..12 {
                for else_to_do in [false, true] {
                    let division = Division::new(nodes, threads, else_to_do);
                    assert_eq!(division.parts, threads.min(nodes));
                    let mut next = 0;
                    for part in 0..division.parts {
                        assert_eq!(division.first_of(part), next);
                        assert!(division.size_of(part) > 0);
                        for own in 0..division.size_of(part) {
                            assert_eq!(division.place_of(next), (part, own), "{division:?}");
                            next += 1;
                        }
                    }
                    assert_eq!(next, nodes);
                }
            }
        }
        let division = Division::new(4096, 2, true);
        assert_eq!((division.first, division.span), (1911, 2185), "7/15 and 8/15");
    }
}
