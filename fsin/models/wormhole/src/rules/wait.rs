//! Which buffers wait for each other, once nothing moves.

/// A buffer: its router, and the input VC there as port x VCs + VC.
pub(crate) type Place = (usize, usize);

/// Follows from `first` what the front of each buffer waits for, until a buffer comes up twice; the buffers of that
/// cycle.
pub(crate) fn cyclic_wait(first: Option<Place>, waits_for: impl Fn(Place) -> Option<Place>) -> Vec<Place> {
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
