//! Hash tables of small numbers: nodes, tasks, tags, requests.
//!
//! The hash is that of [`mix2`] with a key that each process draws, so that no input can be made whose numbers collide.
//! The order of such a table means nothing: nothing depends on it.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

use crate::rng::mix2;

/// A table whose keys are a few numbers.
pub type Table<K, V> = std::collections::HashMap<K, V, Keyed>;

/// A set of a few numbers each.
pub type Set<K> = std::collections::HashSet<K, Keyed>;

/// Makes hashers with the key of this process.
#[derive(Clone, Copy, Debug)]
pub struct Keyed(u64);

impl Default for Keyed {
    fn default() -> Self {
        static KEY: OnceLock<u64> = OnceLock::new();
        Self(*KEY.get_or_init(|| RandomState::new().hash_one(0)))
    }
}

impl BuildHasher for Keyed {
    type Hasher = Mixing;

    #[inline]
    fn build_hasher(&self) -> Mixing {
        Mixing(self.0)
    }
}

/// A hash in progress.
#[derive(Clone, Copy, Debug)]
pub struct Mixing(u64);

impl Hasher for Mixing {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = mix2(self.0, number);
    }

    #[inline]
    fn write_i64(&mut self, number: i64) {
        self.write_u64(number as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }
}
