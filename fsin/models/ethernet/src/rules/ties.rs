//! The order of frames that arrive at the same instant.
//!
//! Decision: docs/decisions/0211-frames-and-ties.md.

use std::sync::Arc;

use trgen::rng::mix2;

/// Width \[bits\] of numbers of ports, and of ranks.
const BITS: u32 = 31;

/// Ranks frames that arrive at the same instant.
#[derive(Clone, Debug)]
pub(crate) struct Ties {
    /// By device: the random stream of its hash. Empty if the numbers of the ports rank the frames.
    keys: Arc<[u64]>,
}

impl Ties {
    /// Of a network of so many devices.
    pub(crate) fn new(seed: u64, is_hash: bool, devices: usize) -> Self {
        const PURPOSE: u64 = 0x7469_6573;
        let devices = if is_hash { devices as u64 } else { 0 };
        Self { keys: (0..devices).map(|device| mix2(mix2(seed, PURPOSE), device)).collect() }
    }

    /// True if a hash ranks the frames.
    pub(crate) fn is_hash(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The rank of a frame, or of its end, that arrives `at` ps at a device over the link that leaves through a port: the
    /// least is first. 0 of all if ports rank. With the hash, frames at one device have different ranks, below 2^31.
    #[inline(always)]
    pub(crate) fn rank(&self, device: u32, port: u32, at: u64) -> u32 {
        self.keys.get(device as usize).map_or(0, |&key| permuted(port, mix2(key, at)))
    }
}

/// The image of a number below 2^31 under a permutation that `key` selects.
fn permuted(number: u32, key: u64) -> u32 {
    const MASK: u32 = (1 << BITS) - 1;
    let [low, high] = [key as u32, (key >> 32) as u32];
    // Each step is a permutation: sums, products with odd numbers, and shifted parts.
    let mut x = number.wrapping_add(low) & MASK;
    x = x.wrapping_mul(0x85eb_ca6b) & MASK;
    x ^= x >> 15;
    x = x.wrapping_add(high) & MASK;
    x = x.wrapping_mul(0xc2b2_ae35) & MASK;
    x ^ x >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_a_few_ports_is_first_as_often_as_the_others() {
        let mut first = [[0u32; 4]; 4];
        for at in 0..40_000u64 {
            let mut order = [0u32, 2, 4, 6];
            order.sort_by_key(|&port| permuted(port, mix2(mix2(1, 9), at)));
            order.iter().enumerate().for_each(|(place, &port)| first[place][port as usize / 2] += 1);
        }
        assert!(first.iter().flatten().all(|count| (9_600..10_400).contains(count)), "{first:?}");
    }

    #[test]
    fn ranks_differ() {
        for key in 0..20 {
            let mut ranks: Vec<u32> = (0..5_000).map(|port| permuted(port, mix2(3, key))).collect();
            ranks.sort_unstable();
            ranks.dedup();
            assert_eq!(ranks.len(), 5_000);
            assert!(ranks.iter().all(|rank| rank >> BITS == 0));
        }
    }
}
