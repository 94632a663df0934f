//! Random numbers that depend only on the node that draws and on the purpose.
//!
//! Every stream belongs to a (run seed, node, purpose); every stateless draw is a hash of its key. Results therefore do
//! not depend on the order in which nodes are visited, on their number, or on threads.
//!
//! Decision: docs/decisions/0002-draws.md.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// The generator behind every stream: 256 bits of state. It is named (never "the default one"), so that results survive
/// a change of a library's default.
pub type Stream = Xoshiro256PlusPlus;

/// Purpose of a stream or draw. Distinct purposes of one node are independent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Purpose {
    /// Gaps between messages.
    Temporal = 1,
    /// Destinations.
    Spatial = 2,
    /// Message sizes.
    Size = 3,
    /// Placement of tasks on nodes.
    Placement = 4,
    /// Direction of a packet when both directions are equally far.
    Direction = 5,
    /// Choice of a virtual channel.
    VirtualChannel = 6,
    /// Choice among the admissible outputs.
    Output = 7,
    /// Whole-network choices made before a run (seeded permutations, faults).
    Setup = 8,
    /// Messages caused by receptions.
    Reaction = 9,
    /// The components of a sum of traffics.
    Part = 10,
    /// Nodes of a job.
    Allocation = 12,
    /// Times between arrivals of jobs.
    Arrival = 13,
}

/// One round of a 64-bit finaliser (Stafford's variant 13 of MurmurHash3's, as in SplitMix64): every input bit changes
/// half the output bits.
#[must_use]
#[inline]
pub const fn mix(value: u64) -> u64 {
    let z = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 2^64 divided by the golden ratio, as in SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// An order-sensitive hash of two words.
#[must_use]
#[inline]
pub const fn mix2(a: u64, b: u64) -> u64 {
    mix(mix(a.wrapping_add(GOLDEN)) ^ b.wrapping_mul(GOLDEN))
}

/// The generator of (run seed, node, purpose).
#[must_use]
pub fn stream(seed: u64, node: u64, purpose: Purpose) -> Stream {
    Stream::seed_from_u64(mix2(mix2(seed, purpose as u64), node))
}

/// A stateless draw below `bound` from a key that already names (run seed, packet, place, purpose): the high word of
/// key x bound, whose bias is below bound / 2^64.
#[must_use]
pub const fn pick(key: u64, bound: u32) -> u32 {
    ((key as u128 * bound as u128) >> 64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_differ_by_seed_node_and_purpose() {
        let first = |seed, node, purpose| stream(seed, node, purpose).next_u64();
        let base = first(1, 0, Purpose::Temporal);
        assert_eq!(base, first(1, 0, Purpose::Temporal));
        assert_ne!(base, first(2, 0, Purpose::Temporal));
        assert_ne!(base, first(1, 1, Purpose::Temporal));
        assert_ne!(base, first(1, 0, Purpose::Spatial));
    }

    #[test]
    fn pick_is_even() {
        let mut counts = [0u32; 3];
        for key in 0..30_000u64 {
            counts[pick(mix(key), 3) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_700..10_300).contains(&count)), "{counts:?}");
    }
}
