//! Known defects of the original that ours does not copy, and the cases that they may affect.
//!
//! Other defects affect no measured row, or are handled in the [translation](crate::fsin_original) of a row: its
//! tornado, which does not wrap within the row, is `tornado-fsin` here; its global congestion control counts capacity
//! twice.

use fsin::router::Injection;
use fsin::routing::Routing;

use crate::fsin_original::Case;

/// A defect of the original.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Defect {
    /// Injectors `dor` and `dsh` use the last dimension with remaining hops.
    LastDimension,
    /// Hexa modes require a bubble on channel 0 only.
    HexaBubble,
    /// Dally's adaptive mode never adapts.
    NeverAdapts,
    /// Among equally good links of a tree, the first is drawn with twice the weight of the others.
    FirstOfEqualLinks,
    /// The complement of a node may lie beyond the last node.
    ComplementBeyond,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::LastDimension, Self::HexaBubble, Self::NeverAdapts, Self::FirstOfEqualLinks, Self::ComplementBeyond];

    /// Description for a reader.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::LastDimension => "the original's `dor` and `dsh` injection take the last dimension",
            Self::HexaBubble => "the original's hexa modes ask for a bubble on channel 0 only",
            Self::NeverAdapts => "the original's Dally adaptive mode never adapts",
            Self::FirstOfEqualLinks => "the original gives the first of equal links of a tree twice the weight",
            Self::ComplementBeyond => "the original's complement goes beyond the last node",
        }
    }

    /// True if the defect may affect the figures of this case.
    #[must_use]
    pub fn may_touch(self, case: &Case) -> bool {
        let params = &case.setup.params;
        match self {
            Self::LastDimension => matches!(params.injection, Injection::Dor | Injection::DorShortest),
            Self::HexaBubble => matches!(params.routing, Routing::HexaOblivious | Routing::HexaAdaptive),
            Self::NeverAdapts => params.routing == Routing::DallyAdaptive,
            Self::FirstOfEqualLinks => params.routing == Routing::TreeAdaptive,
            Self::ComplementBeyond => {
                case.setup.pattern == "complement" && !case.setup.shape().nodes().is_power_of_two()
            }
        }
    }
}
