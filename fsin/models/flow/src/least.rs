//! The least of many numbers that change.

/// A binary tree over numbers, in which every node is the lesser of its two children. A change costs the logarithm of
/// their count at most, and leaves nothing behind, unlike a heap from which only the least can be taken.
#[derive(Debug)]
pub(crate) struct LeastTree {
    /// The root at 1, the children of node `i` at `2 i` and `2 i + 1`, then the numbers, filled up with [`u64::MAX`].
    nodes: Vec<u64>,
}

impl LeastTree {
    /// So many numbers, each [`u64::MAX`].
    pub(crate) fn new(count: usize) -> Self {
        Self { nodes: vec![u64::MAX; 2 * count.next_power_of_two()] }
    }

    /// Changes a number.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, value: u64) {
        let mut at = self.nodes.len() / 2 + index;
        self.nodes[at] = value;
        while at > 1 {
            let least = self.nodes[at].min(self.nodes[at ^ 1]);
            at /= 2;
            if std::mem::replace(&mut self.nodes[at], least) == least {
                break;
            }
        }
    }

    /// The least number.
    pub(crate) fn least(&self) -> u64 {
        self.nodes[1]
    }

    /// The index of the least number, the first one of several.
    pub(crate) fn first(&self) -> usize {
        let (mut at, leaves) = (1, self.nodes.len() / 2);
        while at < leaves {
            at *= 2;
            at += usize::from(self.nodes[at] != self.nodes[at / 2]);
        }
        at - leaves
    }
}

#[cfg(test)]
mod tests {
    use super::LeastTree;

    /// Compares with a search of all numbers, after each of many changes.
    #[test]
    fn the_least_is_the_first_of_the_least_numbers() {
        for count in [1, 2, 5, 8] {
            let (mut tree, mut numbers) = (LeastTree::new(count), vec![u64::MAX; count]);
            for step in 0..500_u64 {
                let value = if step % 7 == 0 { u64::MAX } else { step * step % 11 };
                let index = (step * 5 + step / 3) as usize % count;
                tree.set(index, value);
                numbers[index] = value;
                let least = (0..count).min_by_key(|&at| numbers[at]);
                assert_eq!((Some(tree.first()), tree.least()), (least, numbers[tree.first()]));
            }
        }
    }
}
