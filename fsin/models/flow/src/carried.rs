//! What links have carried.

use crate::paths::{Use, WHOLE};

/// Packets that links have carried. A flow that is split leaves parts of a packet on a link.
#[derive(Default, Debug)]
pub(crate) struct Carried {
    /// \[packets\] By link; empty until links are observed.
    packets: Vec<u64>,
    /// \[packets / [`WHOLE`]\] By link: what is less than a packet; empty while no flow has been split.
    parts: Vec<u32>,
}

impl Carried {
    /// Begins to observe so many links.
    pub(crate) fn observe(&mut self, links: usize) {
        self.packets.resize(links, 0);
    }

    /// A flow of so many packets has used a link.
    #[inline]
    pub(crate) fn add(&mut self, of: &Use, packets: u64) {
        let at = of.link as usize;
        let Some(carried) = self.packets.get_mut(at) else { return };
        if of.share == WHOLE {
            *carried += packets;
            return;
        }
        self.parts.resize(self.packets.len(), 0);
        let sum = u128::from(packets) * u128::from(of.share) + u128::from(self.parts[at]);
        self.packets[at] += (sum / u128::from(WHOLE)) as u64;
        self.parts[at] = (sum % u128::from(WHOLE)) as u32;
    }

    /// \[packets\] By link: whole packets; empty if links are not observed.
    pub(crate) fn packets(&self) -> &[u64] {
        &self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with one sum of parts.
    #[test]
    fn parts_become_packets() {
        let mut carried = Carried::default();
        carried.add(&Use::of(1, WHOLE), 5);
        assert!(carried.packets().is_empty());
        carried.observe(3);
        let mut sums = [0_u128; 3];
        for step in 0..1000_u64 {
            let share = [WHOLE, WHOLE / 3, WHOLE + 1, 7, 5 * WHOLE - 1][step as usize % 5];
            let (link, packets) = ((step * step % 3) as u32, step * 1_000_003);
            carried.add(&Use::of(link, share), packets);
            sums[link as usize] += u128::from(packets) * u128::from(share);
        }
        assert_eq!(carried.packets(), sums.map(|sum| (sum / u128::from(WHOLE)) as u64));
    }
}
