//! HyperX and flattened butterflies: switches in a grid, fully connected along each dimension.

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};

use super::{Link, Plan, Switched, check_nodes};
use crate::topology::number;

/// A HyperX with one link between any two switches of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hyperx {
    /// \[switches\] In each dimension.
    pub sizes: Vec<u32>,
    /// \[endpoints\] At each switch.
    pub endpoints: u32,
    /// The number of the first switch.
    first: u32,
}

/// Maximum number of dimensions: each is a bit of a packet's state.
const MAX_HYPERX_DIMENSIONS: usize = 15;

impl Hyperx {
    /// The coordinates of a switch.
    #[inline]
    pub fn coordinates(&self, switch: NodeId) -> impl Iterator<Item = u32> + '_ {
        self.sizes.iter().scan(switch.0 - self.first, |rest, &size| {
            let coordinate = *rest % size;
            *rest /= size;
            Some(coordinate)
        })
    }

    /// The index, among the links of a switch with coordinate `own` in a dimension, of the link to coordinate `other`.
    #[must_use]
    #[inline]
    pub fn place(&self, dimension: usize, own: u32, other: u32) -> usize {
        let before: u32 = self.sizes[..dimension].iter().map(|size| size - 1).sum();
        (self.endpoints + before + other - u32::from(other > own)) as usize
    }
}

/// Parses `4x4:4`: sizes, and endpoints of each switch.
pub(in crate::topology) fn parse(words: &str) -> Result<Switched, SpecError> {
    const EXAMPLE: &str = "hyperx:4x4:4";
    let spec = format!("hyperx:{words}");
    let (sizes, endpoints) = words.split_once(':').unwrap_or((words, ""));
    let sizes: Vec<u32> = sizes.split('x').map(|word| number(&spec, word, EXAMPLE)).collect::<Result<_, _>>()?;
    let endpoints = number(&spec, endpoints, EXAMPLE)?;
    let bad = |what: String, remedy: &str| Err(SpecError::new(ErrorKind::Malformed, what, remedy));
    if sizes.len() > MAX_HYPERX_DIMENSIONS {
        return bad(format!("`{spec}` has {} dimensions", sizes.len()), "use at most 15");
    }
    if let Some(size) = sizes.iter().find(|size| !(1..=254).contains(*size)) {
        return bad(format!("size {size} in `{spec}` is out of range"), "every size is 1 to 254");
    }
    if !(1..=254).contains(&endpoints) {
        return bad(format!("{endpoints} endpoints of each switch in `{spec}` are out of range"), "use 1 to 254");
    }
    let switches = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size.into()));
    let nodes = check_nodes(&spec, switches.and_then(|count| count.checked_mul(u64::from(endpoints) + 1)))?;
    let switches = switches.unwrap_or(0) as u32;
    let plan = Hyperx { first: switches * endpoints, sizes, endpoints };
    let mut links: Vec<Link> =
        (0..plan.first).map(|one| Link::new([(one, 0), (plan.first + one / endpoints, one % endpoints)])).collect();
    for switch in plan.first..plan.first + switches {
        let mut stride = 1;
        for (dimension, own) in plan.coordinates(NodeId(switch)).enumerate() {
            let size = plan.sizes[dimension];
            for other in own + 1..size {
                let end = |node, own, other| (node, plan.place(dimension, own, other) as u32);
                let there = switch + (other - own) * stride;
                links.push(Link::new([end(switch, own, other), end(there, other, own)]));
            }
            stride *= size;
        }
    }
    Switched::new(spec, plan.first as usize, nodes, &links, Plan::Hyperx(plan))
}
