//! Numbers of links, of which most networks have a few different ones.

/// \[numbers\] Most different ones that are kept once.
const FEW: usize = 256;

/// A number for each link: a byte for each that says which of a few numbers it is, or the numbers themselves if they
/// are many.
#[derive(Clone, Default, Debug)]
pub(crate) struct Few {
    /// The different numbers, in the order in which they came; not used with [`each`](Self::each).
    kinds: Vec<u64>,
    /// By link: the index of its number.
    of: Vec<u8>,
    /// By link: its number, if they are many; otherwise empty.
    each: Vec<u64>,
}

impl Few {
    /// Adds the number of the next link.
    pub(crate) fn push(&mut self, number: u64) {
        if !self.each.is_empty() {
            self.each.push(number);
            return;
        }
        // Links of a kind follow each other.
        let last = self.of.last().map(|&last| usize::from(last)).filter(|&last| self.kinds[last] == number);
        let kind = last.or_else(|| self.kinds.iter().position(|&kind| kind == number)).unwrap_or(self.kinds.len());
        if kind == self.kinds.len() {
            if kind == FEW {
                self.each = self.iter().chain([number]).collect();
                (self.kinds, self.of) = (Vec::new(), Vec::new());
                return;
            }
            self.kinds.push(number);
        }
        self.of.push(kind as u8);
    }

    /// The number of a link.
    #[inline]
    pub(crate) fn at(&self, link: usize) -> u64 {
        match self.each.get(link) {
            Some(&number) => number,
            None => self.kinds[usize::from(self.of[link])],
        }
    }

    /// The numbers of all links.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.of.len().max(self.each.len())).map(|link| self.at(link))
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn a_number_is_read_as_it_was_written() {
        for kinds in [1, 3, 256, 257, 1000] {
            let numbers: Vec<u64> = (0..3000).map(|link| link / 2 % kinds * (u64::MAX / kinds)).collect();
            let mut few = Few::default();
            numbers.iter().for_each(|&number| few.push(number));
            assert!(few.iter().eq(numbers.iter().copied()), "{kinds} kinds");
            assert_eq!(few.each.is_empty(), kinds <= 256);
        }
        assert_eq!(Few::default().iter().count(), 0);
    }
}
