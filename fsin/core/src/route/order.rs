//! Dimension order: the one output that a deterministic or escape packet takes next. The routings themselves belong to
//! the network models.

use crate::topology::{Port, Shape};

/// The order in which a deterministic route takes its hops.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// X, then Y, then Z.
    Dimension,
    /// X+ Y+ Z+, then X- Y- Z-.
    Direction,
}

impl Order {
    /// The next output; `None` once the packet has arrived.
    #[must_use]
    #[inline]
    pub fn next(self, shape: Shape, offsets: &[i16]) -> Option<Port> {
        debug_assert_eq!(offsets.len(), shape.dimensions);
        let dimension = match self {
            Self::Dimension => offsets.iter().position(|&offset| offset != 0),
            Self::Direction => {
                offsets.iter().position(|&offset| offset > 0).or_else(|| offsets.iter().position(|&offset| offset < 0))
            }
        }?;
        Some(shape.port(dimension, offsets[dimension] > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::parse;

    #[test]
    fn dimensions_or_directions_first() {
        let shape = parse("torus:8x8x8", 2).unwrap().shape();
        let offsets = [-2, 3, 1];
        assert_eq!(Order::Dimension.next(shape, &offsets), Some(shape.port(0, false)));
        assert_eq!(Order::Direction.next(shape, &offsets), Some(shape.port(1, true)));
        assert_eq!(Order::Dimension.next(shape, &[0; 3]), None);
    }
}
