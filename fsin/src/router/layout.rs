//! The size of a router: known when the program runs, or already when it is compiled.

use std::fmt::Debug;

use crate::topology::Shape;

/// How many dimensions, ways and virtual channels a router has.
///
/// What is known to the compiler costs no instruction; rules are written once, for any layout.
pub trait Layout: Copy + Debug + Send + Sync + 'static {
    /// Dimensions and ways.
    fn shape(self) -> Shape;

    /// \[channels\] Virtual channels of each link.
    fn vcs(self) -> usize;

    /// The channels of one port, as a mask of all output channels.
    #[inline(always)]
    fn channels(self, port: usize) -> u64 {
        ((1 << self.vcs()) - 1) << (port * self.vcs())
    }
}

/// Any size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnySize {
    /// Dimensions and ways.
    pub shape: Shape,
    /// \[channels\] Virtual channels of each link.
    pub vcs: usize,
}

impl Layout for AnySize {
    #[inline(always)]
    fn shape(self) -> Shape {
        self.shape
    }

    #[inline(always)]
    fn vcs(self) -> usize {
        self.vcs
    }
}

/// `D` dimensions of two-way links with `V` channels each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TwoWay<const D: usize, const V: usize>;

impl<const D: usize, const V: usize> Layout for TwoWay<D, V> {
    #[inline(always)]
    fn shape(self) -> Shape {
        Shape::direct(D, 2)
    }

    #[inline(always)]
    fn vcs(self) -> usize {
        V
    }
}
