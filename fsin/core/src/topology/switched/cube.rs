//! Indirect cubes: switches in a torus, and several endpoints at each.
//!
//! Ports of a switch have the numbers of a torus, dimension by dimension, + before -, followed by one for each
//! endpoint. So a packet that goes straight stays in the queues of one port, as the bubble requires.

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};

use super::{Link, Plan, Switched, check_nodes};
use crate::topology::{Port, number};

/// An indirect cube.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cube {
    /// \[switches\] In each dimension.
    pub sizes: Vec<u32>,
    /// \[endpoints\] At each switch.
    pub endpoints: u32,
    /// The number of the first switch.
    first: u32,
}

impl Cube {
    /// The coordinates of a switch.
    #[inline]
    pub fn coordinates(&self, switch: NodeId) -> impl Iterator<Item = u32> + '_ {
        self.sizes.iter().scan(switch.0 - self.first, |rest, &size| {
            let coordinate = *rest % size;
            *rest /= size;
            Some(coordinate)
        })
    }

    /// The port of a switch that leads along a dimension.
    #[must_use]
    #[inline]
    pub const fn port(&self, dimension: usize, positive: bool) -> Port {
        Port((2 * dimension + !positive as usize) as u8)
    }

    /// Ports of the torus; those to endpoints follow them.
    fn ring_ports(&self) -> u32 {
        2 * self.sizes.len() as u32
    }

    /// The outgoing port at each end of a link; at an endpoint, the number of its switch's port.
    pub(super) fn colours(&self, links: &[Link]) -> Vec<u8> {
        let port = |place: u32| if place < self.endpoints { self.ring_ports() + place } else { place - self.endpoints };
        let both = links.iter().flat_map(|link| {
            let [(one, here), (_, there)] = link.ends;
            if one < self.first { [port(there); 2] } else { [port(here), port(there)] }
        });
        both.map(|port| port as u8).collect()
    }
}

/// Maximum number of dimensions.
const MAX_CUBE_DIMENSIONS: usize = 16;

/// Parses `4x4:2`: sizes, and endpoints of each switch.
pub(in crate::topology) fn parse(words: &str) -> Result<Switched, SpecError> {
    const EXAMPLE: &str = "icube:4x4:2";
    let spec = format!("icube:{words}");
    let (sizes, endpoints) = words.split_once(':').unwrap_or((words, ""));
    let sizes: Vec<u32> = sizes.split('x').map(|word| number(&spec, word, EXAMPLE)).collect::<Result<_, _>>()?;
    let endpoints = number(&spec, endpoints, EXAMPLE)?;
    let bad = |what: String, remedy: &str| Err(SpecError::new(ErrorKind::Malformed, what, remedy));
    if sizes.len() > MAX_CUBE_DIMENSIONS {
        return bad(format!("`{spec}` has {} dimensions", sizes.len()), "use at most 16");
    }
    if let Some(size) = sizes.iter().find(|size| !(1..=32_767).contains(*size)) {
        return bad(format!("size {size} in `{spec}` is out of range"), "every size is 1 to 32767");
    }
    if !(1..=200).contains(&endpoints) {
        return bad(format!("{endpoints} endpoints of each switch in `{spec}` are out of range"), "use 1 to 200");
    }
    let switches = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size.into()));
    let nodes = check_nodes(&spec, switches.and_then(|count| count.checked_mul(u64::from(endpoints) + 1)))?;
    let switches = switches.unwrap_or(0) as u32;
    let plan = Cube { first: switches * endpoints, sizes, endpoints };
    let mut links: Vec<Link> =
        (0..plan.first).map(|one| Link::new([(one, 0), (plan.first + one / endpoints, one % endpoints)])).collect();
    for switch in plan.first..plan.first + switches {
        let mut stride = 1;
        for (dimension, own) in plan.coordinates(NodeId(switch)).enumerate() {
            let size = plan.sizes[dimension];
            let next = if own + 1 == size { switch - own * stride } else { switch + stride };
            let place = endpoints + 2 * dimension as u32;
            // A ring of one switch has no link.
            if next != switch {
                links.push(Link::new([(switch, place), (next, place + 1)]));
            }
            stride *= size;
        }
    }
    Switched::new(spec, plan.first as usize, nodes, &links, Plan::Cube(plan))
}
