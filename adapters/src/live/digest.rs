//! The digest of events: a sum of their hashes, which does not depend on their order.
//!
//! The hash of a payload is a chain of multiplications, each of which waits for the one before it: about 3 cycles of the
//! processor for a byte. Long payloads wait until there are four, whose chains run side by side in the time of one.

use bytes::Bytes;
use trgen::rng::mix2;

/// Number of chains that run side by side.
const LANES: usize = 4;
/// \[bytes\] Shortest payload that waits for others.
const LONG: usize = 1024;

/// A digest in progress.
#[derive(Default, Debug)]
pub(super) struct Digest {
    /// The sum of the hashes that are known.
    sum: u64,
    /// Events that wait for others: the hash of their fields, and their payloads.
    waiting: Vec<(u64, Bytes)>,
}

/// The whole words of a payload, and the bytes after them as a word filled up with zeros; `None` if there are none.
fn words(payload: &[u8]) -> (impl Iterator<Item = u64>, Option<u64>) {
    let (whole, rest) = payload.as_chunks::<8>();
    let last = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    (whole.iter().map(|&word| u64::from_le_bytes(word)), (!rest.is_empty()).then_some(last))
}

/// The hash of an event, of which `hash` is that of its fields and of the payload before `rest`.
fn finished(hash: u64, rest: &[u8], length: usize) -> u64 {
    let (words, last) = words(rest);
    mix2(words.chain(last).fold(hash, mix2), length as u64)
}

impl Digest {
    /// Adds an event with these fields.
    pub(super) fn add(&mut self, fields: &[u64], payload: &Bytes) {
        let hash = fields.iter().fold(0, |hash, &field| mix2(hash, field));
        if payload.len() < LONG {
            self.sum = self.sum.wrapping_add(finished(hash, payload, payload.len()));
            return;
        }
        self.waiting.push((hash, payload.clone()));
        if let Some((four, [])) = self.waiting.split_first_chunk::<LANES>() {
            self.sum = self.sum.wrapping_add(together(four));
            self.waiting.clear();
        }
    }

    /// The digest of all events so far.
    pub(super) fn value(&self) -> u64 {
        let hashes = self.waiting.iter().map(|(hash, payload)| finished(*hash, payload, payload.len()));
        hashes.fold(self.sum, u64::wrapping_add)
    }

    /// The same; nothing waits any more.
    pub(super) fn settle(&mut self) -> u64 {
        self.sum = self.value();
        self.waiting.clear();
        self.sum
    }
}

/// The sum of the hashes of four events.
fn together(four: &[(u64, Bytes); LANES]) -> u64 {
    // As far as all have whole words, their chains run side by side.
    let common = four.iter().map(|(_, payload)| payload.len()).min().unwrap_or(0) / 8 * 8;
    let [a, b, c, d] = four.each_ref().map(|(_, payload)| words(&payload[..common]).0);
    let mut hashes = four.each_ref().map(|(hash, _)| *hash);
    for ((a, b), (c, d)) in a.zip(b).zip(c.zip(d)) {
        hashes = [mix2(hashes[0], a), mix2(hashes[1], b), mix2(hashes[2], c), mix2(hashes[3], d)];
    }
    let rest = hashes.into_iter().zip(four);
    rest.map(|(hash, (_, payload))| finished(hash, &payload[common..], payload.len())).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use trgen::rng::mix2;

    use super::{Digest, LONG};

    #[test]
    fn the_digest_is_the_sum_of_the_hashes_in_any_order_of_lengths() {
        // The definition: a chain over the fields, the words of the payload, and its length.
        let hash = |fields: &[u64], payload: &[u8]| {
            let mut hash = fields.iter().fold(0, |hash, &field| mix2(hash, field));
            for chunk in payload.chunks(8) {
                let mut bytes = [0; 8];
                bytes[..chunk.len()].copy_from_slice(chunk);
                hash = mix2(hash, u64::from_le_bytes(bytes));
            }
            mix2(hash, payload.len() as u64)
        };
        let lengths = [0, 3, LONG - 1, LONG, LONG + 5, 8 * LONG, LONG + 7, 2, 3 * LONG + 1, LONG, LONG + 16, 5 * LONG];
        let (mut digest, mut expected) = (Digest::default(), 0_u64);
        for (number, length) in lengths.into_iter().enumerate() {
            let payload: Vec<u8> = (0..length).map(|at| (at * 7 + number) as u8).collect();
            let fields = [number as u64, 17];
            expected = expected.wrapping_add(hash(&fields, &payload));
            digest.add(&fields, &Bytes::from(payload));
            assert_eq!(digest.value(), expected, "{number}");
            if number == 5 {
                assert_eq!(digest.settle(), expected);
            }
        }
        assert_eq!((digest.settle(), digest.value()), (expected, expected));
    }
}
