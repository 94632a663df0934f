//! The words of settings, with their definitions.

use trgen::catalog::Component;

/// The source of what is no standard.
const FSIN: &str = "fsin's own";

/// A word with its definition and source.
const fn word(name: &'static str, about: &'static str, source: &'static str) -> Component {
    Component { name, about, parameters: &[], source }
}

/// The words of `switching`.
pub const SWITCHINGS: &[Component] = &[
    word("store-and-forward", "a frame is forwarded after its last bit", "IEEE 802.1D"),
    word(
        "cut-through",
        "a frame is forwarded after its header if the next link is not faster than the one on which it arrives, else \
         after its last bit",
        "Kermani, Kleinrock, Computer Networks 3(4), 1979",
    ),
];

/// The words of `forwarding`.
pub const FORWARDINGS: &[Component] = &[
    word(
        "learning",
        "a switch learns ports from the sources of earlier frames; frames to unknown destinations are flooded",
        "IEEE 802.1D, 7.7 and 7.8",
    ),
    word(
        "static",
        "a switch has a table: the routes of the description of the network, or shortest paths; one path for each \
         destination, unless {spread} spreads flows",
        FSIN,
    ),
];

/// The words of `in-flight`.
pub const LIMITS: &[Component] = &[
    word("none", "no limit of what a connection has sent and that is not acknowledged", FSIN),
    word("bdp", "the largest product of round trip and rate of any pair of hosts, for every connection", FSIN),
    word("bdp-scaled", "that product, times the share that the connection's rate has of its link's", FSIN),
];

/// The words of `ack-class`.
pub const ACK_CLASSES: &[Component] = &[
    word("data", "acknowledgements travel in the traffic class of their flow (IEEE 802.1Q)", FSIN),
    word("control", "acknowledgements travel in the class of control frames: first, never paused", FSIN),
];

/// The words of `port-stats`.
pub const PORT_STATISTICS: &[Component] = &[
    word("none", "no statistics of each port", FSIN),
    word("figures", "frames, losses, queue length and utilisation of each port", FSIN),
    word("histogram", "as figures, and for how long the queue of each port had each length", FSIN),
];

/// The words of `frames`.
pub const FRAMES: &[Component] = &[
    word(
        "thesis",
        "Ethernet with LLC: 1497 bytes of data, 29 around them, frames of 72 bytes at least, gaps of 96 bits",
        "IEEE 802.3, 802.2",
    ),
    word(
        "roce",
        "RoCE v2: 70 bytes around the data (preamble 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4), \
         acknowledgements of 74",
        "InfiniBand Architecture Specification, annex A17",
    ),
    word(
        "tcp",
        "TCP over IPv4: 66 bytes around the data (preamble 8, Ethernet 14, IPv4 20, TCP 20, FCS 4), acknowledgements of 72",
        "RFC 791, RFC 9293",
    ),
    word(
        "hpcc",
        "as the simulator of HPCC counts: 1000 bytes of data, 48 around them, acknowledgements of 60, PAUSE frames of 43, no \
         gaps",
        "Li and others, HPCC, SIGCOMM 2019: alibaba-edu/High-Precision-Congestion-Control",
    ),
    word(
        "uec",
        "as the simulator of Ultra Ethernet counts: 4086 bytes of data, 64 around them, 64 of all other frames, no gaps",
        "ultraethernet/uet-htsim",
    ),
    word("ndp", "the same with 9000 bytes of data", "Broadcom/csg-htsim"),
];

/// The words of `trim`.
pub const TRIMS: &[Component] = &[
    word(
        "coin",
        "the frame that arrives, or the last one of the queue, by a coin: its data are cut off, and the rest goes before data",
        "Handley and others, NDP, SIGCOMM 2017",
    ),
    word(
        "arriving",
        "the data of the frame that arrives are cut off, and the rest goes before data",
        "Ultra Ethernet Specification 1.0",
    ),
    word("off", "the frame that arrives is dropped; what is no data goes before data", FSIN),
];

/// The words of `mark`.
pub const MARKS: &[Component] = &[
    word(
        "departure",
        "as the frame begins to be sent, by what waits behind it",
        "Li and others, HPCC, SIGCOMM 2019: alibaba-edu/High-Precision-Congestion-Control",
    ),
    word("sent", "as its last bit leaves, by what waits then; on one thread; the default with {trim}", FSIN),
    word("arrival", "as it arrives, by what waits before it", "Floyd, Jacobson, ToN 1(4), 1993"),
];

/// The words of `completion`.
pub const COMPLETIONS: &[Component] = &[
    word("last-byte", "the arrival of its last byte at the receiver", FSIN),
    word(
        "acked",
        "the arrival of the acknowledgement of its last byte at the sender",
        "Li and others, HPCC, SIGCOMM 2019: alibaba-edu/High-Precision-Congestion-Control",
    ),
];

/// The words of `ties`.
pub const TIES: &[Component] = &[
    word("port", "by the numbers of the ports", FSIN),
    word("hash", "by a hash of seed, switch, instant and port: each port is first as often as the others", FSIN),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{FORWARDING, IN_FLIGHT, PORT_STATS, SWITCHING};

    #[test]
    fn every_word_describes_itself() {
        let names = |components: &[Component]| components.iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(names(SWITCHINGS), SWITCHING.map(|(name, _)| name));
        assert_eq!(names(FORWARDINGS), FORWARDING.map(|(name, _)| name));
        assert_eq!(names(LIMITS), IN_FLIGHT.map(|(name, _)| name));
        assert_eq!(names(PORT_STATISTICS), PORT_STATS.map(|(name, _)| name));
    }
}
