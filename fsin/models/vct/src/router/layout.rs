//! The dimensions of a router, known at run time or at compile time.
//!
//! Decision: docs/decisions/0015-router-layouts.md.

use std::fmt::Debug;
use std::ops::{BitAnd, BitOr, Not};

use super::request::OutputVc;
use fsin_core::divisor::Divisor;
use fsin_core::topology::{Port, Shape};

/// The number of dimensions, directions and virtual channels of a router.
///
/// Values known to the compiler cost no instruction; rules are written once, for any layout.
pub trait Layout: Copy + Debug + Send + Sync + 'static {
    /// A set of the inputs of a router, for the [dense](crate::engine) treatment of its heads.
    type Inputs: Inputs;

    /// True if the heads of such routers can be treated densely.
    const IS_DENSE: bool = false;

    /// False if it is never that of a network of switches.
    const MAY_BE_SWITCHED: bool = true;

    /// False if it is never that of a direct network.
    const MAY_BE_DIRECT: bool = true;

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
        OutputVc { port: Port::at(port), vc: (output - port * self.vcs()) as u8 }
    }

    /// The channels of one port, as a mask of all output channels, which must fit in a word.
    #[inline(always)]
    fn channels(self, port: usize) -> u64 {
        u64::from(self.all_vcs()) << (port * self.vcs())
    }
}

/// True if a layout, an expression, of a type is that of a network of switches. Where the type tells, the other branch is
/// not compiled: the rules of every routing, for each layout, cost minutes.
macro_rules! is_switched {
    ($layout:expr, $type:ty) => {
        !<$type>::MAY_BE_DIRECT || <$type>::MAY_BE_SWITCHED && $layout.is_switched()
    };
}

pub(crate) use is_switched;

/// A layout of any size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnySize {
    /// Dimensions and directions.
    pub shape: Shape,
    /// \[channels\] Virtual channels of each link.
    pub vcs: usize,
}

impl Layout for AnySize {
    type Inputs = u32;

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
    type Inputs = u32;

    const MAY_BE_SWITCHED: bool = false;

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
    type Inputs = u32;

    const MAY_BE_DIRECT: bool = false;

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

macro_rules! two_way {
    ($(($dimensions:literal, $vcs:literal, $inputs:ty)),*) => {$(
        impl Layout for TwoWay<$dimensions, $vcs> {
            type Inputs = $inputs;

            const IS_DENSE: bool = $vcs > 1;

            const MAY_BE_SWITCHED: bool = false;

            #[inline(always)]
            fn shape(self) -> Shape {
                Shape::direct($dimensions, 2)
            }

            #[inline(always)]
            fn vcs(self) -> usize {
                $vcs
            }
        }
    )*};
}

two_way!((2, 1, u16), (2, 2, u16), (2, 3, u16), (3, 3, u32));

/// A set of the inputs of a router in as few bits as possible, so that vectors hold those of many routers.
pub trait Inputs:
    Copy + Debug + Send + Sync + 'static + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// The empty set.
    const EMPTY: Self;

    /// The set given by the low bits of a word.
    fn of(word: u64) -> Self;

    /// The set as a word.
    fn word(self) -> u64;

    /// All numbers if the set has this one, else none.
    fn all_if(self, number: usize) -> Self;

    /// `others` if the set is not empty, else the empty set.
    fn if_any(self, others: Self) -> Self;
}

macro_rules! inputs {
    ($($word:ty),*) => {$(
        impl Inputs for $word {
            const EMPTY: Self = 0;

            #[inline(always)]
            fn of(word: u64) -> Self {
                word as Self
            }

            #[inline(always)]
            fn word(self) -> u64 {
                self.into()
            }

            #[inline(always)]
            fn all_if(self, number: usize) -> Self {
                if self & 1 << number == 0 { 0 } else { Self::MAX }
            }

            #[inline(always)]
            fn if_any(self, others: Self) -> Self {
                if self == 0 { 0 } else { others }
            }
        }
    )*};
}

inputs!(u16, u32);

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
