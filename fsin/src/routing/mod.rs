//! Routing: which virtual channels a packet may ask for, by name.
//!
//! A routing is a pair `MANAGEMENT:MODE`: how deadlock is avoided, and how an output is asked for. The rules themselves
//! stand in [`crate::router::request`].

use trgen::catalog::{Component, Refusal};

mod dor;

pub use dor::Order;

/// How a head asks for an output virtual channel, and what keeps the network from deadlock.
///
/// With `bubble`, virtual channel 0 is the **escape** channel, in dimension order; the others are adaptive (except in
/// oblivious mode, where every channel is in dimension order). With `double`, every channel has an order of dimensions of
/// its own, and a bubble. With `dally`, channels cut every ring open, and there is no bubble.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Routing {
    /// Dimension order; the channel is drawn at injection and at every turn, and kept while going straight.
    BubbleOblivious,
    /// Any profitable adaptive channel that passes, drawn; else escape.
    BubbleRandom,
    /// The profitable adaptive channel with most space at the neighbour; else escape.
    BubbleShortest,
    /// Straight ahead in the same adaptive channel; else the profitable dimensions in turn; else escape.
    BubbleSmart,
    /// Channel c takes dimensions c, c+1, ... (cyclically); drawn at injection and kept.
    DoubleOblivious,
    /// The same; a packet whose own channel does not pass may change to another one.
    DoubleAdaptive,
    /// Three dimensions, 6 channels: 0 to 2 in the orders XYZ, YZX, ZXY, 3 to 5 in the reverse of these.
    HexaOblivious,
    /// The same; a packet whose own channel does not pass may change to another one.
    HexaAdaptive,
    /// Dateline at coordinate 0: channel 1 up to it, channel 0 from it on.
    DallyTrc,
    /// Channel 0 while the rest of the route in the dimension wraps, then channel 1.
    DallyBasic,
    /// Channel 0 while the rest of the route in the dimension wraps, then either.
    DallyImproved,
    /// Any profitable channel from 2 on that passes, drawn; else as `DallyImproved`.
    DallyAdaptive,
}

const PUENTE: &str = "Puente, Izu, Beivide et al., The adaptive bubble router, JPDC 61(9), 2001";
const DOUBLE: &str =
    "FSIN (INSEE); bubble: Carrion, Beivide et al., A flow control mechanism to avoid message deadlock, HiPC 1997";
const DALLY: &str = "Dally and Seitz, Deadlock-free message routing in multiprocessor interconnection networks, 1987";
const DUATO: &str = "Duato, A new theory of deadlock-free adaptive routing in wormhole networks, TPDS 4(12), 1993";

/// Every routing that `--routing` knows.
pub const ROUTINGS: &[Component] = &[
    Component {
        name: "bubble:oblivious",
        about: "dimension order; virtual channel drawn at injection and at every turn; bubble on every channel; V >= 1",
        parameters: &[],
        source: PUENTE,
    },
    Component {
        name: "bubble:random",
        about: "minimal adaptive on channels 1..V-1, drawn among those that pass; escape channel 0 with bubble; V >= 2",
        parameters: &[],
        source: PUENTE,
    },
    Component {
        name: "bubble:shortest",
        about: "minimal adaptive on the channel whose next queue has most space; escape channel 0 with bubble; V >= 2",
        parameters: &[],
        source: PUENTE,
    },
    Component {
        name: "bubble:smart",
        about: "minimal adaptive, straight ahead first, then dimensions from a drawn one; escape channel 0 with bubble; V >= 2",
        parameters: &[],
        source: PUENTE,
    },
    Component {
        name: "double:oblivious",
        about: "channel c takes dimensions c, c+1, ... in turn; drawn at injection, kept; bubble on every channel; V a \
                multiple of the dimensions",
        parameters: &[],
        source: DOUBLE,
    },
    Component {
        name: "double:adaptive",
        about: "as double:oblivious; a packet whose channel does not pass changes to another, drawn among those that pass",
        parameters: &[],
        source: DOUBLE,
    },
    Component {
        name: "double:hexa-oblivious",
        about: "three dimensions: a channel for each of the six orders of dimensions, drawn at injection, kept; bubble; V = 6",
        parameters: &[],
        source: DOUBLE,
    },
    Component {
        name: "double:hexa-adaptive",
        about: "as double:hexa-oblivious; a packet whose channel does not pass changes to another that does; V = 6",
        parameters: &[],
        source: DOUBLE,
    },
    Component {
        name: "dally:trc",
        about: "dimension order; dateline at coordinate 0: channel 1 before it, channel 0 from it on; V = 2",
        parameters: &[],
        source: DALLY,
    },
    Component {
        name: "dally:basic",
        about: "dimension order; channel 0 while the rest of the route wraps in this dimension, else channel 1; V = 2",
        parameters: &[],
        source: DALLY,
    },
    Component {
        name: "dally:improved",
        about: "dimension order; channel 0 while the rest of the route wraps in this dimension, else either; V = 2",
        parameters: &[],
        source: DALLY,
    },
    Component {
        name: "dally:adaptive",
        about: "minimal adaptive on channels 2..V-1, drawn among those that pass; else dally:improved; V >= 3",
        parameters: &[],
        source: DUATO,
    },
];

impl Routing {
    /// The routing of this name.
    ///
    /// # Errors
    /// An unknown name.
    pub fn parse(name: &str) -> Result<Self, Refusal> {
        Ok(match name {
            "bubble:oblivious" => Self::BubbleOblivious,
            "bubble:random" => Self::BubbleRandom,
            "bubble:shortest" => Self::BubbleShortest,
            "bubble:smart" => Self::BubbleSmart,
            "double:oblivious" => Self::DoubleOblivious,
            "double:adaptive" => Self::DoubleAdaptive,
            "double:hexa-oblivious" => Self::HexaOblivious,
            "double:hexa-adaptive" => Self::HexaAdaptive,
            "dally:trc" => Self::DallyTrc,
            "dally:basic" => Self::DallyBasic,
            "dally:improved" => Self::DallyImproved,
            "dally:adaptive" => Self::DallyAdaptive,
            _ => {
                let known: Vec<&str> = ROUTINGS.iter().map(|component| component.name).collect();
                return Err(Refusal::unknown("routing", name, &known));
            }
        })
    }

    /// The name that parses to this routing.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BubbleOblivious => "bubble:oblivious",
            Self::BubbleRandom => "bubble:random",
            Self::BubbleShortest => "bubble:shortest",
            Self::BubbleSmart => "bubble:smart",
            Self::DoubleOblivious => "double:oblivious",
            Self::DoubleAdaptive => "double:adaptive",
            Self::HexaOblivious => "double:hexa-oblivious",
            Self::HexaAdaptive => "double:hexa-adaptive",
            Self::DallyTrc => "dally:trc",
            Self::DallyBasic => "dally:basic",
            Self::DallyImproved => "dally:improved",
            Self::DallyAdaptive => "dally:adaptive",
        }
    }

    /// Fewest virtual channels that it works with in so many dimensions.
    #[must_use]
    pub const fn min_vcs(self, dimensions: usize) -> usize {
        match self {
            Self::BubbleOblivious => 1,
            Self::DoubleOblivious | Self::DoubleAdaptive => dimensions,
            Self::HexaOblivious | Self::HexaAdaptive => 6,
            Self::DallyAdaptive => 3,
            _ => 2,
        }
    }

    /// True if it works with so many virtual channels in so many dimensions.
    #[must_use]
    pub const fn takes_vcs(self, dimensions: usize, vcs: usize) -> bool {
        let least = self.min_vcs(dimensions);
        match self {
            Self::DoubleOblivious | Self::DoubleAdaptive => vcs >= least && vcs.is_multiple_of(least),
            Self::HexaOblivious | Self::HexaAdaptive | Self::DallyTrc | Self::DallyBasic | Self::DallyImproved => {
                vcs == least
            }
            _ => vcs >= least,
        }
    }

    /// True if packets that enter a ring leave a bubble there.
    #[must_use]
    pub const fn uses_bubble(self) -> bool {
        !matches!(self, Self::DallyTrc | Self::DallyBasic | Self::DallyImproved | Self::DallyAdaptive)
    }

    /// True if every channel has an order of dimensions of its own.
    #[must_use]
    pub const fn orders_by_channel(self) -> bool {
        matches!(self, Self::DoubleOblivious | Self::DoubleAdaptive | Self::HexaOblivious | Self::HexaAdaptive)
    }

    /// True if it needs three dimensions.
    #[must_use]
    pub const fn needs_three_dimensions(self) -> bool {
        matches!(self, Self::HexaOblivious | Self::HexaAdaptive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_routing_parses_and_answers_to_its_name() {
        for component in ROUTINGS {
            assert_eq!(Routing::parse(component.name).unwrap().name(), component.name);
        }
        let refusal = Routing::parse("bubble:smrat").unwrap_err();
        assert_eq!(refusal.remedy(), "did you mean `bubble:smart`?");
    }
}
