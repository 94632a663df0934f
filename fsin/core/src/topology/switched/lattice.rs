//! Switches in a grid of coordinates, with the same number of endpoints at each: the common part of indirect cubes and
//! HyperX.

use std::ops::RangeInclusive;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::{Geometry, NodeId};

use super::{Link, Switched, check_nodes};
use crate::topology::number;

/// The coordinates of switches. Dimension 0 varies fastest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lattice {
    /// \[switches\] By dimension: its size.
    pub sizes: Vec<u32>,
    /// \[endpoints\] Number at each switch.
    pub endpoints: u32,
    /// \[endpoints\] By dimension: extent of the tile of each switch in the grid of all endpoints, which are numbered
    /// row by row; empty if endpoints are numbered switch by switch.
    tile: Vec<u32>,
    /// True if links between switches are as long as the endpoints between them are many.
    is_spaced: bool,
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
    /// Parses `4x4:2`: sizes, and endpoints of each switch; or `4x4:2x2`, with a tile of a grid of endpoints at each;
    /// or `4x4:2x2:spaced`.
    pub(super) fn parse(spec: &str, words: &str, limits: &Limits) -> Result<Self, SpecError> {
        let (sizes, endpoints) = words.split_once(':').unwrap_or((words, ""));
        let (tile, is_spaced) = endpoints.strip_suffix(":spaced").map_or((endpoints, false), |tile| (tile, true));
        let word = |word| number(spec, word, limits.example);
        let sizes: Vec<u32> = sizes.split('x').map(word).collect::<Result<_, _>>()?;
        let mut tile: Vec<u32> = tile.split('x').map(word).collect::<Result<_, _>>()?;
        let endpoints = tile.iter().fold(1u32, |product, &extent| product.saturating_mul(extent));
        let is_tiled = tile.len() > 1 || (is_spaced && sizes.len() == 1);
        if is_tiled && tile.len() != sizes.len() || is_spaced && !is_tiled {
            let what = format!("`{spec}` has {} dimensions of switches, and a tile of {}", sizes.len(), tile.len());
            let remedy = "write a tile with an extent for each, such as 4x4:2x2, or the number of endpoints alone";
            return Err(SpecError::new(ErrorKind::Malformed, what, remedy));
        }
        if !is_tiled {
            tile.clear();
        }
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
        Ok(Self { first: switches.unwrap_or(0) as u32 * endpoints, nodes, sizes, endpoints, tile, is_spaced })
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

    /// The dimension in which two switches differ, the first one of several.
    pub(super) fn dimension(&self, one: NodeId, other: NodeId) -> Option<usize> {
        self.coordinates(one).zip(self.coordinates(other)).position(|(one, other)| one != other)
    }

    /// The links of endpoints to their switches. They have the first indices of each switch.
    pub(super) fn endpoint_links(&self) -> Vec<Link> {
        let link = |one| {
            let (switch, place) = self.home(one);
            Link::new([(one, 0), (self.first + switch, place)])
        };
        (0..self.first).map(link).collect()
    }

    /// The switch of an endpoint, counted from the first one, and the index of the endpoint there.
    fn home(&self, endpoint: u32) -> (u32, u32) {
        if self.tile.is_empty() {
            return (endpoint / self.endpoints, endpoint % self.endpoints);
        }
        let (mut rest, mut switch, mut place) = (endpoint, 0, 0);
        let (mut switch_stride, mut place_stride) = (1, 1);
        for (&size, &extent) in self.sizes.iter().zip(&self.tile) {
            let coordinate = rest % (size * extent);
            rest /= size * extent;
            switch += coordinate / extent * switch_stride;
            place += coordinate % extent * place_stride;
            (switch_stride, place_stride) = (switch_stride * size, place_stride * extent);
        }
        (switch, place)
    }

    /// A network on this lattice, with the grid of its endpoints and the lengths of its links.
    pub(super) fn lay_out(&self, mut network: Switched) -> Switched {
        let grid: Vec<u32> = self.sizes.iter().zip(&self.tile).map(|(size, extent)| size * extent).collect();
        if let Some(geometry) = Geometry::new(&grid) {
            network.geometry = geometry;
        }
        if !self.is_spaced {
            return network;
        }
        network.with_lengths(|from, to| {
            if from.0 < self.first || to.0 < self.first {
                return 1;
            }
            let ends = self.coordinates(from).zip(self.coordinates(to));
            ends.zip(&self.tile).map(|((one, other), extent)| one.abs_diff(other) * extent).sum()
        })
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
