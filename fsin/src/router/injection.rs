//! Which of a node's injectors a new packet goes to.

use std::cmp::Reverse;

use trgen::catalog::Component;

use crate::routing::Order;
use crate::topology::{Port, Shape};

/// How an injector is chosen. But for `Shortest`, injector i belongs to port i, in the order of ports; what is behind it
/// may still leave through any port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Injection {
    /// The least occupied.
    Shortest,
    /// That of the first hop in the order of `--order`.
    Dor,
    /// The same; if its source buffer is full, the least occupied.
    DorShortest,
    /// The least occupied of those of profitable ports, both of a dimension whose ways are equally long; the last of equals.
    ShortestProfitable,
    /// That of the dimension with most hops to go, the last of equals.
    LongestPath,
}

/// Every choice that `--injection` knows.
pub const INJECTIONS: &[Component] = &[
    component("shortest", "the least occupied injector"),
    component("dor", "the injector of the packet's first hop in the order of --order; one injector for each port"),
    component("dor-shortest", "as dor; if its source buffer is full, the least occupied"),
    component(
        "shortest-profitable",
        "the least occupied injector of those of ports that bring the packet nearer, both of a dimension whose ways are equally \
         long, the last of equals; one injector for each port",
    ),
    component(
        "longest-path",
        "the injector of the dimension with most hops to go, the last of equals; one injector for each port",
    ),
];

const fn component(name: &'static str, about: &'static str) -> Component {
    Component { name, about, parameters: &[], source: "FSIN (INSEE), injection modes" }
}

impl Injection {
    /// Every one with its name, in the order of [`INJECTIONS`].
    pub const ALL: [(&str, Self); 5] = [
        ("shortest", Self::Shortest),
        ("dor", Self::Dor),
        ("dor-shortest", Self::DorShortest),
        ("shortest-profitable", Self::ShortestProfitable),
        ("longest-path", Self::LongestPath),
    ];

    /// True if it is asked how much injectors hold.
    #[must_use]
    pub const fn compares(self) -> bool {
        !matches!(self, Self::Dor | Self::LongestPath)
    }

    /// The injector of a packet with so many hops to go in each dimension; one that has none to go takes the first.
    ///
    /// `profitable` are the ports, as a mask, that bring it nearer, `occupied(injector)` says how full an injector is,
    /// `has_room(injector)` whether its source buffer takes a packet. If the chosen one does not, the packet waits.
    pub fn injector<K: Ord>(
        self,
        (order, shape): (Order, Shape),
        offsets: &[i16],
        profitable: impl Fn() -> u64,
        injectors: usize,
        has_room: impl Fn(usize) -> bool,
        occupied: impl Fn(usize) -> K,
    ) -> usize {
        let least_occupied = || (0..injectors).min_by_key(|&injector| (occupied(injector), injector));
        let first_hop = || order.next(shape, offsets).map(Port::index);
        let chosen = match self {
            Self::Shortest => least_occupied(),
            Self::Dor => first_hop(),
            Self::DorShortest => first_hop().filter(|&first| has_room(first)).or_else(least_occupied),
            Self::ShortestProfitable => {
                let ports = profitable();
                let among = (0..u64::BITS as usize).filter(|&port| ports >> port & 1 != 0);
                among.min_by_key(|&injector| (occupied(injector), Reverse(injector)))
            }
            Self::LongestPath => {
                let to_go = offsets.iter().enumerate().filter(|&(_, &offset)| offset != 0);
                let longest = to_go.max_by_key(|&(dimension, &offset)| (offset.unsigned_abs(), dimension));
                longest.map(|(dimension, &offset)| shape.port(dimension, offset > 0).index())
            }
        };
        chosen.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_chooses_what_it_names() {
        assert!(Injection::ALL.iter().map(|&(name, _)| name).eq(INJECTIONS.iter().map(|one| one.name)));
        let shape = Shape::direct(2, 2);
        // Ports X+ X- Y+ Y-; X- and Y+ are profitable.
        let choose = |mode: Injection, order, occupied: [u32; 4]| {
            let has_room = |injector: usize| occupied[injector] < 8;
            mode.injector((order, shape), &[-1, 3], || 0b0110, 4, has_room, |injector| occupied[injector])
        };
        for (mode, order, occupied, expected) in [
            (Injection::Shortest, Order::Dimension, [2, 3, 1, 1], 2),
            (Injection::Dor, Order::Dimension, [0, 8, 0, 0], 1),
            (Injection::Dor, Order::Direction, [0, 8, 0, 0], 2),
            (Injection::DorShortest, Order::Dimension, [0, 7, 0, 0], 1),
            (Injection::DorShortest, Order::Dimension, [2, 8, 2, 1], 3),
            (Injection::ShortestProfitable, Order::Dimension, [0, 5, 4, 0], 2),
            (Injection::ShortestProfitable, Order::Dimension, [0, 4, 4, 0], 2),
            (Injection::ShortestProfitable, Order::Dimension, [0, 3, 4, 0], 1),
            (Injection::LongestPath, Order::Dimension, [0, 0, 8, 0], 2),
        ] {
            assert_eq!(choose(mode, order, occupied), expected, "{mode:?} {order:?} {occupied:?}");
        }
        let equal = |mode: Injection| mode.injector((Order::Dimension, shape), &[2, -2], || 0b1001, 4, |_| true, |_| 0);
        assert_eq!(equal(Injection::LongestPath), 3, "of equally long dimensions the last");
        assert_eq!(equal(Injection::ShortestProfitable), 3, "of equally occupied injectors the last");
        let alone = Injection::LongestPath.injector((Order::Dimension, shape), &[0, 0], || 0, 4, |_| true, |_| 0);
        assert_eq!(alone, 0, "a packet that stays where it is");
    }
}
