//! Assignment of new packets to a node's injectors.

use trgen::choices;

use crate::routing::Order;
use fsin_core::topology::{Port, Shape};

const FSIN: &str = "FSIN (INSEE), injection modes";

choices! {
    /// The policy that chooses an injector. Except with `Shortest`, injector i belongs to port i, in the order of
    /// ports; its packets may still leave through any port.
    pub enum Injection: "injection" in INJECTIONS {
        Shortest = "shortest", "the least occupied injector", FSIN;
        Dor = "dor", "the injector of the packet's first hop in the order of {order}; one injector for each port", FSIN;
        DorShortest = "dor-shortest", "as dor; if its source buffer is full, the least occupied", FSIN;
        ShortestProfitable = "shortest-profitable",
            "the least occupied injector of those of ports that bring the packet nearer, of equals that of the lowest dimension; \
             one injector for each port", FSIN;
        LongestPath = "longest-path",
            "the injector of the dimension with most hops to go, of equals the lowest; one injector for each port", FSIN;
    }
}

impl Injection {
    /// True if the policy depends on the occupancy of injectors.
    #[must_use]
    pub const fn compares(self) -> bool {
        match self {
            Self::Shortest | Self::DorShortest | Self::ShortestProfitable => true,
            Self::Dor | Self::LongestPath => false,
        }
    }

    /// True if the policy depends on the packet's route. Where both directions of a dimension are equally long, one is
    /// drawn in each cycle in which the packet waits for its source buffer, whichever direction it takes later.
    #[must_use]
    pub const fn looks_at_way(self) -> bool {
        match self {
            Self::Shortest => false,
            Self::Dor | Self::DorShortest | Self::ShortestProfitable | Self::LongestPath => true,
        }
    }

    /// The injector of a packet with these hops to go in each dimension; a packet with none to go takes the first
    /// injector.
    ///
    /// `occupied(injector)` is the number of phits in source buffer and injection queue together. `has_room(injector)`
    /// says whether the source buffer accepts a packet. If the chosen injector does not, the packet waits, and the
    /// injector is chosen again in the next cycle.
    pub fn injector(
        self,
        (order, shape): (Order, Shape),
        offsets: &[i16],
        injectors: usize,
        has_room: impl Fn(usize) -> bool,
        occupied: impl Fn(usize) -> u32,
    ) -> usize {
        let least_occupied = || (0..injectors).min_by_key(|&injector| occupied(injector));
        let first_hop = || order.next(shape, offsets).map(Port::index);
        let port = |dimension: usize| shape.port(dimension, offsets[dimension] > 0).index();
        let mut to_go = (0..offsets.len()).filter(|&dimension| offsets[dimension] != 0);
        let chosen = match self {
            Self::Shortest => least_occupied(),
            Self::Dor => first_hop(),
            Self::DorShortest => first_hop().filter(|&first| has_room(first)).or_else(least_occupied),
            Self::ShortestProfitable => to_go.map(port).min_by_key(|&injector| occupied(injector)),
            Self::LongestPath => {
                let first = to_go.next();
                let longer = |longest: usize, dimension: usize| {
                    let is_longer = offsets[dimension].unsigned_abs() > offsets[longest].unsigned_abs();
                    if is_longer { dimension } else { longest }
                };
                first.map(|first| port(to_go.fold(first, longer)))
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
        let shape = Shape::direct(2, 2);
        // Ports X+ X- Y+ Y-; X- and Y+ are profitable.
        let choose = |mode: Injection, order, occupied: [u32; 4]| {
            let has_room = |injector: usize| occupied[injector] < 8;
            mode.injector((order, shape), &[-1, 3], 4, has_room, |injector| occupied[injector])
        };
        for (mode, order, occupied, expected) in [
            (Injection::Shortest, Order::Dimension, [2, 3, 1, 1], 2),
            (Injection::Dor, Order::Dimension, [0, 8, 0, 0], 1),
            (Injection::Dor, Order::Direction, [0, 8, 0, 0], 2),
            (Injection::DorShortest, Order::Dimension, [0, 7, 0, 0], 1),
            (Injection::DorShortest, Order::Dimension, [2, 8, 2, 1], 3),
            (Injection::ShortestProfitable, Order::Dimension, [0, 5, 4, 0], 2),
            (Injection::ShortestProfitable, Order::Dimension, [0, 4, 4, 0], 1),
            (Injection::ShortestProfitable, Order::Dimension, [0, 3, 4, 0], 1),
            (Injection::LongestPath, Order::Dimension, [0, 0, 8, 0], 2),
        ] {
            assert_eq!(choose(mode, order, occupied), expected, "{mode:?} {order:?} {occupied:?}");
        }
        let equal = |mode: Injection| mode.injector((Order::Dimension, shape), &[2, -2], 4, |_| true, |_| 0);
        assert_eq!(equal(Injection::LongestPath), 0, "of equally long dimensions the lowest");
        assert_eq!(
            equal(Injection::ShortestProfitable),
            0,
            "of equally occupied injectors that of the lowest dimension"
        );
        let alone = Injection::LongestPath.injector((Order::Dimension, shape), &[0, 0], 4, |_| true, |_| 0);
        assert_eq!(alone, 0, "a packet that stays where it is");
    }
}
