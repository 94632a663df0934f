//! A hash of long payloads, for messages whose [digest](crate::protocol::Inject::identified) does not cover the payload.
//!
//! Eight chains run side by side, so that it takes about a cycle of the processor for eight bytes. It is the same on every
//! host.

use trgen::rng::mix2;

/// Number of chains.
const LANES: usize = 8;
/// An odd number whose bits are spread, by which chains are multiplied.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The chains after a word has been added to each.
#[inline]
fn add(lanes: [u64; LANES], words: &[u8; 8 * LANES]) -> [u64; LANES] {
    let words = words.as_chunks::<8>().0;
    std::array::from_fn(|lane| (lanes[lane] ^ u64::from_le_bytes(words[lane])).wrapping_mul(SPREAD).rotate_left(29))
}

/// The hash of a payload.
#[must_use]
pub fn hash(payload: &[u8]) -> u64 {
    let lanes = std::array::from_fn(|lane| SPREAD.wrapping_mul(lane as u64 + 1));
    let (whole, rest) = payload.as_chunks::<{ 8 * LANES }>();
    let lanes = whole.iter().fold(lanes, add);
    let mut last = [0; 8 * LANES];
    last[..rest.len()].copy_from_slice(rest);
    add(lanes, &last).into_iter().fold(payload.len() as u64, mix2)
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn every_byte_and_the_length_change_the_hash() {
        for length in [0, 1, 63, 64, 65, 200, 4097] {
            let mut payload: Vec<u8> = (0..length).map(|at| (at * 31 % 251) as u8).collect();
            let whole = hash(&payload);
            for at in 0..length {
                payload[at] ^= 1 << (at % 8);
                assert_ne!(hash(&payload), whole, "{length} {at}");
                payload[at] ^= 1 << (at % 8);
            }
            assert_eq!(hash(&payload), whole);
            payload.push(0);
            assert_ne!(hash(&payload), whole, "{length}");
        }
        // The same on every host.
        assert_eq!(hash(b"fsin"), 1_796_641_068_771_043_311);
    }
}
