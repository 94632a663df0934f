//! Switches in a grid of coordinates, with the same number of endpoints at each: the common part of indirect cubes and
//! HyperX.

use std::ops::RangeInclusive;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};

use super::{Link, check_nodes};
use crate::topology::number;

/// The coordinates of switches. Dimension 0 varies fastest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lattice {
    /// \[switches\] By dimension: its size.
    pub sizes: Vec<u32>,
    /// \[endpoints\] Number at each switch.
    pub endpoints: u32,
    /// Number of the first switch.
    pub(super) first: u32,
    /// Number of endpoints and switches.
    pub(super) nodes: usize,
}

/// Limits of a lattice, and a valid example.
pub(super) struct Limits {
    /// A valid specification.
    pub(super) example: &'static str,
    /// Maximum number of dimensions.
    pub(super) dimensions: usize,
    /// \[switches\] Range of the size of a dimension.
    pub(super) sizes: RangeInclusive<u32>,
    /// \[endpoints\] Range of the number at each switch.
    pub(super) endpoints: RangeInclusive<u32>,
}

impl Lattice {
    /// Parses `4x4:2`: sizes, and endpoints of each switch.
    pub(super) fn parse(spec: &str, words: &str, limits: &Limits) -> Result<Self, SpecError> {
        let (sizes, endpoints) = words.split_once(':').unwrap_or((words, ""));
        let word = |word| number(spec, word, limits.example);
        let sizes: Vec<u32> = sizes.split('x').map(word).collect::<Result<_, _>>()?;
        let endpoints = word(endpoints)?;
        let bad = |what: String, remedy: String| Err(SpecError::new(ErrorKind::Malformed, what, remedy));
        let shown = |range: &RangeInclusive<u32>| format!("{} to {}", range.start(), range.end());
        if sizes.len() > limits.dimensions {
            let what = format!("`{spec}` has {} dimensions", sizes.len());
            return bad(what, format!("use at most {}", limits.dimensions));
        }
        if let Some(size) = sizes.iter().find(|size| !limits.sizes.contains(*size)) {
            let what = format!("size {size} in `{spec}` is out of range");
            return bad(what, format!("every size is {}", shown(&limits.sizes)));
        }
        if !limits.endpoints.contains(&endpoints) {
            let what = format!("{endpoints} endpoints of each switch in `{spec}` are out of range");
            return bad(what, format!("use {}", shown(&limits.endpoints)));
        }
        let switches = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size.into()));
        let nodes = check_nodes(spec, switches.and_then(|count| count.checked_mul(u64::from(endpoints) + 1)))?;
        Ok(Self { first: switches.unwrap_or(0) as u32 * endpoints, nodes, sizes, endpoints })
    }

    /// The switches.
    pub fn switches(&self) -> impl Iterator<Item = NodeId> + use<> {
        (self.first..self.nodes as u32).map(NodeId)
    }

    /// The coordinates of a switch.
    #[inline]
    pub fn coordinates(&self, switch: NodeId) -> impl Iterator<Item = u32> + '_ {
        self.sizes.iter().scan(switch.0 - self.first, |rest, &size| {
            let coordinate = *rest % size;
            *rest /= size;
            Some(coordinate)
        })
    }

    /// The links of endpoints to their switches. They have the first indices of each switch.
    pub(super) fn endpoint_links(&self) -> Vec<Link> {
        let link = |one| Link::new([(one, 0), (self.first + one / self.endpoints, one % self.endpoints)]);
        (0..self.first).map(link).collect()
    }

    /// For every switch and dimension: the switch, the dimension, its coordinate there, and the distance between the
    /// numbers of neighbours.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u32, usize, u32, u32)> + '_ {
        (self.first..self.nodes as u32).flat_map(move |switch| {
            let mut stride = 1;
            self.coordinates(NodeId(switch)).enumerate().map(move |(dimension, own)| {
                let here = stride;
                stride *= self.sizes[dimension];
                (switch, dimension, own, here)
            })
        })
    }
}

/// The coordinates of every switch, as a table.
#[derive(Clone, Debug)]
pub struct Coordinates {
    /// Number of the first switch.
    first: u32,
    /// Number of dimensions.
    dimensions: usize,
    /// By switch and dimension: the coordinate.
    all: Vec<u16>,
}

impl Coordinates {
    /// The table of a lattice.
    #[must_use]
    pub fn new(lattice: &Lattice) -> Self {
        let switches = (lattice.first..lattice.nodes as u32).map(NodeId);
        Self {
            first: lattice.first,
            dimensions: lattice.sizes.len(),
            all: switches.flat_map(|switch| lattice.coordinates(switch).map(|at| at as u16)).collect(),
        }
    }

    /// The coordinates of a switch.
    #[must_use]
    #[inline]
    pub fn of(&self, switch: NodeId) -> &[u16] {
        &self.all[(switch.0 - self.first) as usize * self.dimensions..][..self.dimensions]
    }
}
