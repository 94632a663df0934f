//! The dimensions of a router, known at run time or at compile time.
//!
//! Decision: docs/decisions/0015-router-layouts.md.

use std::fmt::Debug;

use super::request::OutputVc;
use fsin_core::divisor::Divisor;
use fsin_core::topology::{Port, Shape};

/// The number of dimensions, directions and virtual channels of a router.
///
/// Values known to the compiler cost no instruction; rules are written once, for any layout.
pub trait Layout: Copy + Debug + Send + Sync + 'static {
    /// Dimensions and directions.
    fn shape(self) -> Shape;

    /// \[channels\] Virtual channels of each link.
    fn vcs(self) -> usize;

    /// True in networks of switches.
    #[inline(always)]
    fn is_switched(self) -> bool {
        self.shape().is_switched()
    }

    /// All channels of a link, as a mask.
    #[inline(always)]
    fn all_vcs(self) -> u32 {
        ((1u64 << self.vcs()) - 1) as u32
    }

    /// Output channels (and transit queues) of each node.
    #[inline(always)]
    fn outputs(self) -> usize {
        self.shape().ports() * self.vcs()
    }

    /// The port of an output channel, or of the transit queue of that number.
    #[inline(always)]
    fn port_of(self, output: usize) -> usize {
        output / self.vcs()
    }

    /// The output channel with this number.
    #[inline(always)]
    fn channel(self, output: usize) -> OutputVc {
        let port = self.port_of(output);
        OutputVc { port: Port(port as u8), vc: (output - port * self.vcs()) as u8 }
    }

    /// The channels of one port, as a mask of all output channels, which must fit in a word.
    #[inline(always)]
    fn channels(self, port: usize) -> u64 {
        u64::from(self.all_vcs()) << (port * self.vcs())
    }
}

/// A layout of any size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnySize {
    /// Dimensions and directions.
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

/// A direct network of any size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Direct {
    /// Number of dimensions.
    dimensions: usize,
    /// Number of directions of each dimension: 1 or 2.
    ways: usize,
    /// \[channels\] Virtual channels of each link.
    vcs: Divisor,
}

impl Direct {
    /// The layout of a direct network.
    #[must_use]
    pub const fn new(shape: Shape, vcs: usize) -> Self {
        Self { dimensions: shape.dimensions, ways: shape.ways, vcs: Divisor::new(vcs as u16) }
    }
}

impl Layout for Direct {
    #[inline(always)]
    fn shape(self) -> Shape {
        Shape::direct(self.dimensions, self.ways)
    }

    #[inline(always)]
    fn vcs(self) -> usize {
        self.vcs.number()
    }

    #[inline(always)]
    fn is_switched(self) -> bool {
        false
    }

    #[inline(always)]
    fn port_of(self, output: usize) -> usize {
        self.vcs.divide(output as u32) as usize
    }
}

/// A network of switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Switches {
    /// Number of ports of each switch.
    ports: usize,
    /// Number of output channels of each switch.
    outputs: usize,
    /// \[channels\] Virtual channels of each link.
    vcs: Divisor,
    /// All channels of a link, as a mask.
    all_vcs: u32,
}

impl Switches {
    /// The layout of a network of switches.
    #[must_use]
    pub const fn new(shape: Shape, vcs: usize) -> Self {
        let ports = shape.ports();
        Self { ports, outputs: ports * vcs, vcs: Divisor::new(vcs as u16), all_vcs: ((1u64 << vcs) - 1) as u32 }
    }
}

impl Layout for Switches {
    #[inline(always)]
    fn shape(self) -> Shape {
        Shape::switched(self.ports)
    }

    #[inline(always)]
    fn all_vcs(self) -> u32 {
        self.all_vcs
    }

    #[inline(always)]
    fn outputs(self) -> usize {
        self.outputs
    }

    #[inline(always)]
    fn vcs(self) -> usize {
        self.vcs.number()
    }

    #[inline(always)]
    fn is_switched(self) -> bool {
        true
    }

    #[inline(always)]
    fn port_of(self, output: usize) -> usize {
        self.vcs.divide(output as u32) as usize
    }
}

/// `D` dimensions of bidirectional links with `V` channels each.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_that_multiply_divide() {
        for vcs in 1..=63usize {
            let (direct, switches) = (Direct::new(Shape::direct(3, 2), vcs), Switches::new(Shape::switched(8), vcs));
            for output in 0..(255 * vcs).min(1024) {
                let expected = OutputVc::at(output, vcs);
                assert_eq!((direct.channel(output), switches.channel(output)), (expected, expected));
                assert_eq!(direct.port_of(output), expected.port.index());
            }
        }
    }
}
