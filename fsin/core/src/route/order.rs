//! Dimension order: the one output that a deterministic or escape packet takes next. The routings themselves belong to
//! the network models.

use crate::topology::{MAX_DIMENSIONS, Port, Shape};

/// The order in which a deterministic route takes its hops.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// X, then Y, then Z.
    Dimension,
    /// X+ Y+ Z+, then X- Y- Z-.
    Direction,
    /// The dimensions in another order.
    Axes(Axes),
}

/// The dimensions of a network in some order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Axes {
    /// The dimensions in their order, as many as there are.
    dimensions: [u8; MAX_DIMENSIONS],
    count: u8,
}

impl Axes {
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.dimensions[..usize::from(self.count)].iter().map(|&dimension| usize::from(dimension))
    }
}

impl Order {
    /// The longest dimension first, equally long ones in the order X Y Z.
    #[must_use]
    pub fn longest_first(sizes: &[u32]) -> Self {
        let mut dimensions = [0; MAX_DIMENSIONS];
        for (at, dimension) in dimensions.iter_mut().zip(0..) {
            *at = dimension;
        }
        dimensions[..sizes.len()].sort_by_key(|&dimension| std::cmp::Reverse(sizes[usize::from(dimension)]));
        match dimensions.is_sorted() {
            true => Self::Dimension,
            false => Self::Axes(Axes { dimensions, count: sizes.len() as u8 }),
        }
    }

    /// The dimensions in their order.
    #[must_use]
    pub fn dimensions(self, count: usize) -> Vec<usize> {
        match self {
            Self::Axes(axes) => axes.iter().collect(),
            Self::Dimension | Self::Direction => (0..count).collect(),
        }
    }

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
            Self::Axes(axes) => axes.iter().find(|&dimension| offsets[dimension] != 0),
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

    #[test]
    fn the_longest_dimension_first() {
        let shape = parse("torus:4x8x8", 2).unwrap().shape();
        let order = Order::longest_first(&[4, 8, 8]);
        assert_eq!(order.dimensions(3), [1, 2, 0]);
        assert_eq!(order.next(shape, &[-2, 3, 1]), Some(shape.port(1, true)));
        assert_eq!(order.next(shape, &[-2, 0, -1]), Some(shape.port(2, false)));
        assert_eq!(order.next(shape, &[-2, 0, 0]), Some(shape.port(0, false)));
        assert_eq!(order.next(shape, &[0; 3]), None);
        assert_eq!(Order::longest_first(&[8, 8, 4]), Order::Dimension);
        assert_eq!(Order::Dimension.dimensions(3), [0, 1, 2]);
    }
}
