//! A timing wheel: events of the next few cycles, one bucket for each.

/// Buckets for cycles `now` to `now + horizon`. Events of one cycle have no order among them.
#[derive(Clone, Debug)]
pub(super) struct Wheel<E> {
    buckets: Vec<Vec<E>>,
    mask: u64,
    len: usize,
}

impl<E> Wheel<E> {
    /// A wheel for events at most `horizon` cycles ahead.
    pub(super) fn new(horizon: u64) -> Self {
        let size = (horizon + 1).next_power_of_two();
        Self { buckets: (0..size).map(|_| Vec::new()).collect(), mask: size - 1, len: 0 }
    }

    /// Puts an event into the bucket of cycle `at`.
    pub(super) fn push(&mut self, at: u64, event: E) {
        self.buckets[(at & self.mask) as usize].push(event);
        self.len += 1;
    }

    /// Takes the bucket of cycle `at`. Hand it back with [`recycle`](Self::recycle), for its memory.
    pub(super) fn take(&mut self, at: u64) -> Vec<E> {
        let bucket = std::mem::take(&mut self.buckets[(at & self.mask) as usize]);
        self.len -= bucket.len();
        bucket
    }

    /// Gives an emptied bucket of cycle `at` back.
    pub(super) fn recycle(&mut self, at: u64, mut bucket: Vec<E>) {
        bucket.clear();
        let place = &mut self.buckets[(at & self.mask) as usize];
        if place.capacity() < bucket.capacity() && place.is_empty() {
            *place = bucket;
        }
    }

    /// The first cycle from `now` on that has events; `None` if there are none at all.
    pub(super) fn next(&self, now: u64) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        (now..=now + self.mask).find(|at| !self.buckets[(at & self.mask) as usize].is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_in_their_cycle() {
        let mut wheel = Wheel::new(5);
        for at in [103, 100, 105, 103] {
            wheel.push(at, at);
        }
        let mut out: Vec<u64> = Vec::new();
        let mut now = 100;
        while let Some(at) = wheel.next(now) {
            let bucket = wheel.take(at);
            out.extend(&bucket);
            wheel.recycle(at, bucket);
            now = at + 1;
        }
        assert_eq!(out, [100, 103, 103, 105]);
    }
}
