//! Routings by name: the virtual channels that a packet may request.
//!
//! A routing is a pair `MANAGEMENT:MODE`: how deadlock is avoided, and how an output is requested. The rules themselves
//! belong to the network model.

use trgen::catalog::{Component, SpecError};

mod dor;
mod suited;

pub use dor::Order;
pub use suited::listed;

/// How a head requests an output virtual channel, and how deadlock is avoided.
///
/// With `bubble`, virtual channel 0 is the **escape** channel, in dimension order; the others are adaptive (except in
/// oblivious mode, where every channel is in dimension order). With `double`, every channel has its own order of
/// dimensions, and a bubble. With `dally`, dateline channels break every ring, and there is no bubble. All others are
/// for networks of switches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Routing {
    /// Dimension order; the channel is drawn at injection and at every turn, and kept while going straight.
    BubbleOblivious,
    /// Any profitable adaptive channel that passes, drawn at random; else escape.
    BubbleRandom,
    /// The profitable adaptive channel with most space at the neighbour, owned or not; else escape.
    BubbleShortest,
    /// The profitable adaptive channel with most space at the neighbour among those that no packet owns; else escape.
    BubbleAdaptive,
    /// One dimension after the other, a cycle each, beginning with its own; then escape.
    BubbleSmart,
    /// Messages of one packet as `BubbleRandom`; packets of longer messages on the escape channel only.
    BubbleBimodal,
    /// Channel c takes dimensions c, c+1, ... (cyclically); drawn at injection, in every cycle, and kept.
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
    /// Any profitable channel from 2 on that passes, drawn at random; else as `DallyImproved`.
    DallyAdaptive,
    /// Trees: up by the link with most free space ahead, open or not; then down.
    TreeAdaptive,
    /// Trees: up by the link that the destination's number selects, then down.
    TreeStatic,
    /// Dragonflies: minimal routes between groups.
    DragonflyMinimal,
    /// Dragonflies: through a random intermediate group.
    DragonflyValiant,
    /// Dragonflies: one of the two, by packets ahead times hops to go at the first switch.
    DragonflyUgal,
    /// HyperX: dimension order.
    HyperxDor,
    /// HyperX: minimal hops against hops to other switches of the row, by packets ahead times hops to go; else
    /// dimension order.
    HyperxAdaptive,
    /// Indirect cubes: dimension order with bubble, the channel kept while going straight.
    CubeOblivious,
    /// Indirect cubes: any profitable adaptive channel; else escape in dimension order with bubble.
    CubeAdaptive,
    /// Networks of switches: shortest paths, a class of channels for each hop.
    GraphShortest,
    /// Networks of switches: up to switches nearer to the root, then down.
    GraphUpDown,
}

const PUENTE: &str = "Puente, Izu, Beivide et al., The adaptive bubble router, JPDC 61(9), 2001";
const DOUBLE: &str =
    "FSIN (INSEE); bubble: Carrion, Beivide et al., A flow control mechanism to avoid message deadlock, HiPC 1997";
const DALLY: &str = "Dally and Seitz, Deadlock-free message routing in multiprocessor interconnection networks, 1987";
const DUATO: &str = "Duato, A new theory of deadlock-free adaptive routing in wormhole networks, TPDS 4(12), 1993";

/// The routings of `--routing`.
pub const ROUTINGS: &[Component] = &[
    Component {
        name: "bubble:oblivious",
        about: "dimension order; virtual channel drawn at injection and at every turn, anew in every cycle; bubble on every \
                channel; V >= 1",
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
        about: "minimal adaptive on the channel whose next queue has most space, of equals the first; escape channel 0 with \
                bubble; V >= 2",
        parameters: &[],
        source: PUENTE,
    },
    Component {
        name: "bubble:adaptive",
        about: "as bubble:shortest, but among the channels that no packet owns, and equals drawn: a better router than the \
                published ones; V >= 2",
        parameters: &[],
        source: "fsin; compare bubble:shortest and bubble:smart, which are the original's",
    },
    Component {
        name: "bubble:smart",
        about: "minimal adaptive, a dimension a cycle: first straight ahead in its own channel, then the others in turn, then \
                escape channel 0 with bubble; V >= 2",
        parameters: &[],
        source: PUENTE,
    },
    Component {
        name: "bubble:bimodal",
        about: "messages of one packet as bubble:random; packets of longer messages on the escape channel only, which keeps \
                them in order; V >= 2",
        parameters: &[],
        source: "FSIN (INSEE), request modes",
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
        about: "as double:oblivious; a packet whose channel does not pass changes to the next one, cyclically, that passes",
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
        about: "as double:hexa-oblivious; a packet whose channel does not pass changes to the next one, cyclically, that passes; \
                V = 6",
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
    Component {
        name: "tree:adaptive",
        about: "fattree, thintree, slimtree: up by the link with most free space ahead, open or not, of equals one drawn; \
                then down, in a slim tree by such a link too; V >= 1",
        parameters: &[],
        source: "Petrini and Vanneschi, k-ary n-trees, IPPS 1997",
    },
    Component {
        name: "tree:static",
        about: "fattree, thintree, slimtree: up by links that digits of the destination name; then down, where there are \
                several links by the one that the same digits name; V >= 1",
        parameters: &[],
        source: "Gomez, Gilabert, Gomez, Lopez, Duato, Deterministic versus adaptive routing in fat-trees, IPDPS 2007",
    },
    Component {
        name: "dragonfly:minimal",
        about: "dragonfly: local, between groups, local; channel class of links between groups crossed; V >= 2",
        parameters: &[],
        source: ISCA,
    },
    Component {
        name: "dragonfly:valiant",
        about: "dragonfly: through another group, drawn for each packet; V >= 3",
        parameters: &[],
        source: ISCA,
    },
    Component {
        name: "dragonfly:ugal",
        about: "dragonfly: minimal, or through another group, by which first link has fewer packets ahead times hops to go \
                (UGAL-L); V >= 3",
        parameters: &[],
        source: ISCA,
    },
    Component {
        name: "hyperx:dor",
        about: "hyperx: dimension order, any channel; V >= 1",
        parameters: &[],
        source: SC,
    },
    Component {
        name: "hyperx:adaptive",
        about: "hyperx: minimal, or once in each dimension round by another switch of the row, by packets ahead times \
                hops to go, on channels 1..V-1; escape channel 0 in dimension order (after DAL); V >= 2",
        parameters: &[],
        source: SC,
    },
    Component {
        name: "cube:oblivious",
        about: "icube: dimension order; channel kept while going straight; bubble on every channel; V >= 1",
        parameters: &[],
        source: PUENTE,
    },
    Component {
        name: "cube:adaptive",
        about: "icube: minimal adaptive on the channel of 1..V-1 with fewest packets ahead; escape channel 0 with bubble; V >= 2",
        parameters: &[],
        source: PUENTE,
    },
    Component {
        name: "graph:shortest",
        about: "any network of switches: shortest paths, adaptive among {alternatives} links; the n-th hop between switches \
                is on channel class n; V >= longest path between switches",
        parameters: &[],
        source: "Gunther, Prevention of deadlocks in packet-switched data transport systems, TCOM 29(4), 1981",
    },
    Component {
        name: "graph:updown",
        about: "any network of switches: up*/down*, shortest of such paths, from the switch with most links; V >= 1",
        parameters: &[],
        source: "Schroeder et al., Autonet: a high-speed, self-configuring local area network, JSAC 9(8), 1991",
    },
];

const ISCA: &str =
    "Kim, Dally, Scott, Abts, Technology-driven, highly-scalable dragonfly topology, ISCA 2008, section 4";
const SC: &str =
    "Ahn et al., HyperX: topology, routing, and packaging of efficient large-scale networks, SC 2009, section 4";

impl Routing {
    /// The routing of this name.
    ///
    /// # Errors
    /// An unknown name.
    pub fn parse(name: &str) -> Result<Self, SpecError> {
        Ok(match name {
            "bubble:oblivious" => Self::BubbleOblivious,
            "bubble:random" => Self::BubbleRandom,
            "bubble:shortest" => Self::BubbleShortest,
            "bubble:adaptive" => Self::BubbleAdaptive,
            "bubble:smart" => Self::BubbleSmart,
            "bubble:bimodal" => Self::BubbleBimodal,
            "double:oblivious" => Self::DoubleOblivious,
            "double:adaptive" => Self::DoubleAdaptive,
            "double:hexa-oblivious" => Self::HexaOblivious,
            "double:hexa-adaptive" => Self::HexaAdaptive,
            "dally:trc" => Self::DallyTrc,
            "dally:basic" => Self::DallyBasic,
            "dally:improved" => Self::DallyImproved,
            "dally:adaptive" => Self::DallyAdaptive,
            "tree:adaptive" => Self::TreeAdaptive,
            "tree:static" => Self::TreeStatic,
            "dragonfly:minimal" => Self::DragonflyMinimal,
            "dragonfly:valiant" => Self::DragonflyValiant,
            "dragonfly:ugal" => Self::DragonflyUgal,
            "hyperx:dor" => Self::HyperxDor,
            "hyperx:adaptive" => Self::HyperxAdaptive,
            "cube:oblivious" => Self::CubeOblivious,
            "cube:adaptive" => Self::CubeAdaptive,
            "graph:shortest" => Self::GraphShortest,
            "graph:updown" => Self::GraphUpDown,
            _ => {
                let names = ROUTINGS.iter().map(|component| component.name);
                let known: Vec<&str> = names.chain(Self::all_aliases()).collect();
                return Err(SpecError::unknown("routing", name, &known));
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
            Self::BubbleAdaptive => "bubble:adaptive",
            Self::BubbleSmart => "bubble:smart",
            Self::BubbleBimodal => "bubble:bimodal",
            Self::DoubleOblivious => "double:oblivious",
            Self::DoubleAdaptive => "double:adaptive",
            Self::HexaOblivious => "double:hexa-oblivious",
            Self::HexaAdaptive => "double:hexa-adaptive",
            Self::DallyTrc => "dally:trc",
            Self::DallyBasic => "dally:basic",
            Self::DallyImproved => "dally:improved",
            Self::DallyAdaptive => "dally:adaptive",
            Self::TreeAdaptive => "tree:adaptive",
            Self::TreeStatic => "tree:static",
            Self::DragonflyMinimal => "dragonfly:minimal",
            Self::DragonflyValiant => "dragonfly:valiant",
            Self::DragonflyUgal => "dragonfly:ugal",
            Self::HyperxDor => "hyperx:dor",
            Self::HyperxAdaptive => "hyperx:adaptive",
            Self::CubeOblivious => "cube:oblivious",
            Self::CubeAdaptive => "cube:adaptive",
            Self::GraphShortest => "graph:shortest",
            Self::GraphUpDown => "graph:updown",
        }
    }

    /// Minimum number of virtual channels in this number of dimensions.
    #[must_use]
    pub const fn min_vcs(self, dimensions: usize) -> usize {
        match self {
            Self::BubbleOblivious | Self::CubeOblivious | Self::TreeAdaptive | Self::TreeStatic | Self::HyperxDor => 1,
            // The minimum for one hop between switches; the network may need more.
            Self::GraphShortest | Self::GraphUpDown => 1,
            Self::DragonflyValiant | Self::DragonflyUgal => 3,
            Self::DoubleOblivious | Self::DoubleAdaptive => dimensions,
            Self::HexaOblivious | Self::HexaAdaptive => 6,
            Self::DallyAdaptive => 3,
            _ => 2,
        }
    }

    /// True if it works with this number of virtual channels in this number of dimensions.
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

    /// True if channel 0 is the escape channel of deterministic routes, and all others are adaptive.
    #[must_use]
    #[inline]
    pub const fn has_escape_channel(self) -> bool {
        matches!(
            self,
            Self::BubbleRandom | Self::BubbleShortest | Self::BubbleAdaptive | Self::BubbleSmart | Self::BubbleBimodal
        )
    }

    /// True if packets that enter a ring leave a bubble there.
    #[must_use]
    #[inline]
    pub const fn uses_bubble(self) -> bool {
        let is_cube = matches!(self, Self::CubeOblivious | Self::CubeAdaptive);
        is_cube || !(self.is_for_switches() || self.uses_datelines())
    }

    /// True for dateline routings: they need rings that wrap at a coordinate.
    #[must_use]
    #[inline]
    pub const fn uses_datelines(self) -> bool {
        matches!(self, Self::DallyTrc | Self::DallyBasic | Self::DallyImproved | Self::DallyAdaptive)
    }

    /// True if it is for networks of switches, not for direct networks.
    #[must_use]
    #[inline]
    pub const fn is_for_switches(self) -> bool {
        matches!(
            self,
            Self::TreeAdaptive
                | Self::TreeStatic
                | Self::DragonflyMinimal
                | Self::DragonflyValiant
                | Self::DragonflyUgal
                | Self::HyperxDor
                | Self::HyperxAdaptive
                | Self::CubeOblivious
                | Self::CubeAdaptive
                | Self::GraphShortest
                | Self::GraphUpDown
        )
    }

    /// True if packets in direct networks may leave the deterministic route, with this number of virtual channels.
    #[must_use]
    #[inline]
    pub const fn leaves_order(self, vcs: usize) -> bool {
        match self {
            Self::BubbleRandom | Self::BubbleShortest | Self::BubbleAdaptive | Self::BubbleSmart => vcs > 1,
            Self::DallyAdaptive => vcs > 2,
            // Packets of long messages may not.
            _ => false,
        }
    }

    /// True if every channel has its own order of dimensions.
    #[must_use]
    #[inline]
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
        assert_eq!(refusal.remedy().to_string(), "did you mean `bubble:smart`?");
    }
}
