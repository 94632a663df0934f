//! The cycle of blocked heads in a deadlock.

/// A queue: its node, and its number there.
pub type Place = (usize, usize);

/// Follows the wait-for relation of blocked heads from `first` until a queue repeats. Returns the queues of that cycle;
/// none, if some head on the way waits for nothing.
pub fn cyclic_wait(first: Option<Place>, waits_for: impl Fn(Place) -> Option<Place>) -> Vec<Place> {
    let mut path: Vec<Place> = Vec::new();
    let mut next = first;
    while let Some(place) = next {
        if let Some(start) = path.iter().position(|&seen| seen == place) {
            return path.split_off(start);
        }
        path.push(place);
        next = waits_for(place);
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cycle_is_found_without_the_queues_that_lead_there() {
        let next = [Some(1), Some(2), Some(3), Some(1), None];
        let waits_for = |(node, _): Place| next[node].map(|node| (node, 0));
        assert_eq!(cyclic_wait(Some((0, 0)), waits_for), [(1, 0), (2, 0), (3, 0)]);
        assert_eq!(cyclic_wait(Some((4, 0)), waits_for), []);
        assert_eq!(cyclic_wait(None, waits_for), []);
    }
}
