//! Allocation of free nodes to jobs.
//!
//! # How the model departs from reality, and who could notice
//! Boxes do not extend across the wrap-around edges of a torus. A network that is not a grid has one dimension: its
//! boxes are ranges of consecutive endpoints, which in a tree are neighbours.

use rand::seq::SliceRandom;

use crate::choices;
use crate::geometry::Geometry;
use crate::rng::{Purpose, stream};
use crate::units::NodeId;

/// Source of the policies.
const SOURCE: &str = "Pascual, Navaridas, Miguel-Alonso, Effects of topology-aware allocation policies, JSSPP 2009";

choices! {
    /// Policy that chooses among the free nodes.
    pub enum Allocation: "allocation" in ALLOCATIONS {
        Contiguous = "contiguous",
            "the first free box of the grid, of least volume and then of shortest sides; a job waits until there is one",
            SOURCE;
        QuasiContiguous = "quasi-contiguous",
            "the free nodes of the smallest box that has enough of them; a job waits for their number alone", SOURCE;
        Random = "random", "free nodes drawn with the seed of the run", SOURCE;
    }
}

/// The nodes of a network, some of them free.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    geometry: Geometry,
    /// By node: true if it is free.
    free: Vec<bool>,
    /// Number of free nodes.
    count: usize,
}

impl Pool {
    pub(super) fn new(geometry: Geometry) -> Self {
        let count = geometry.nodes();
        Self { geometry, free: vec![true; count], count }
    }

    /// Marks nodes as occupied.
    pub(super) fn take(&mut self, nodes: &[NodeId]) {
        self.set(nodes, false);
    }

    /// Marks nodes as free.
    pub(super) fn give_back(&mut self, nodes: &[NodeId]) {
        self.set(nodes, true);
    }

    /// Marks nodes as free or occupied.
    fn set(&mut self, nodes: &[NodeId], free: bool) {
        for node in nodes {
            self.free[node.index()] = free;
        }
        self.count = self.free.iter().filter(|&&free| free).count();
    }

    /// `wanted` free nodes for job number `job`, in ascending order; `None` if it has to wait. `wanted` is at least 1.
    pub(super) fn find(&self, how: Allocation, wanted: usize, seed: u64, job: usize) -> Option<Vec<NodeId>> {
        if wanted > self.count {
            return None;
        }
        match how {
            Allocation::Random => {
                let mut free: Vec<NodeId> = (0..self.free.len()).filter(|&n| self.free[n]).map(NodeId::at).collect();
                free.shuffle(&mut stream(seed, job as u64, Purpose::Allocation));
                free.truncate(wanted);
                free.sort_unstable();
                Some(free)
            }
            Allocation::Contiguous => {
                let all_free = |sides: &[u32]| sides.iter().map(|&side| side as usize).product();
                self.first_box(&self.shapes(wanted, true), all_free, wanted)
            }
            Allocation::QuasiContiguous => self.first_box(&self.shapes(wanted, false), |_| wanted, wanted),
        }
    }

    /// Sides of boxes with room for `wanted` nodes, smallest volume first; with `least` only boxes of which no side can
    /// be shorter.
    fn shapes(&self, wanted: usize, least: bool) -> Vec<Vec<u32>> {
        let mut shapes: Vec<Vec<u32>> = vec![Vec::new()];
        for &size in self.geometry.sizes() {
            let longer = |shape: &Vec<u32>| {
                let shape = shape.clone();
                (1..=size).map(move |side| [shape.as_slice(), &[side]].concat())
            };
            shapes = shapes.iter().flat_map(longer).collect();
        }
        let volume = |shape: &[u32]| shape.iter().map(|&side| side as usize).product::<usize>();
        shapes.retain(|shape| {
            let volume = volume(shape);
            let shorter = |&side: &u32| volume / side as usize * (side as usize - 1) >= wanted;
            volume >= wanted && !(least && shape.iter().any(shorter))
        });
        shapes.sort_by_key(|shape| (volume(shape), shape.iter().sum::<u32>(), shape.clone()));
        shapes
    }

    /// The first `wanted` free nodes of the first box of these shapes that has at least `enough(shape)` free nodes.
    fn first_box(&self, shapes: &[Vec<u32>], enough: impl Fn(&[u32]) -> usize, wanted: usize) -> Option<Vec<NodeId>> {
        let sums = Sums::new(&self.geometry, &self.free);
        let sizes = self.geometry.sizes();
        for shape in shapes {
            let enough = enough(shape);
            let room: Vec<u32> = sizes.iter().zip(shape).map(|(size, side)| size - side + 1).collect();
            let corners = Geometry::new(&room)?;
            let found = (0..corners.nodes()).map(|corner| corners.coordinates(NodeId::at(corner)));
            if let Some(corner) = found.into_iter().find(|corner| sums.in_box(corner, shape) >= enough) {
                let inside = Geometry::new(shape)?;
                let nodes = (0..inside.nodes()).map(|node| {
                    let offset = inside.coordinates(NodeId::at(node));
                    let place: Vec<u32> = corner.iter().zip(offset).map(|(corner, offset)| corner + offset).collect();
                    self.geometry.node(&place)
                });
                let mut nodes: Vec<NodeId> = nodes.filter(|node| self.free[node.index()]).take(wanted).collect();
                nodes.sort_unstable();
                return Some(nodes);
            }
        }
        None
    }
}

/// Prefix sums of free nodes, which yield the free nodes of a box from its corners.
struct Sums {
    /// The places of sums: one more in each dimension than the network has.
    grid: Geometry,
    /// By place: the number of free nodes in the box between the origin and the place.
    sums: Vec<u32>,
}

impl Sums {
    fn new(geometry: &Geometry, free: &[bool]) -> Self {
        let longer: Vec<u32> = geometry.sizes().iter().map(|size| size + 1).collect();
        // The fallback is never used: only a network of 2^31 nodes or more, which does not fit in memory, has no such
        // grid.
        let grid = Geometry::new(&longer).unwrap_or_else(|| geometry.clone());
        let mut sums = vec![0; grid.nodes()];
        for (node, _) in free.iter().enumerate().filter(|&(_, &free)| free) {
            let place: Vec<u32> = geometry.coordinates(NodeId::at(node)).iter().map(|place| place + 1).collect();
            sums[grid.node(&place).index()] = 1;
        }
        let mut stride = 1;
        for &size in grid.sizes() {
            for place in stride..sums.len() {
                if place / stride % size as usize != 0 {
                    sums[place] += sums[place - stride];
                }
            }
            stride *= size as usize;
        }
        Self { grid, sums }
    }

    /// Number of free nodes in the box with these sides at this corner.
    fn in_box(&self, corner: &[u32], sides: &[u32]) -> usize {
        let dimensions = corner.len();
        let mut total = 0_i64;
        for choice in 0..1_u32 << dimensions {
            let (mut index, mut stride, mut sign) = (0, 1, 1);
            for (dimension, &size) in self.grid.sizes().iter().enumerate() {
                let far = choice >> dimension & 1 == 1;
                let place = corner[dimension] + if far { sides[dimension] } else { 0 };
                sign = if far { sign } else { -sign };
                index += place as usize * stride;
                stride *= size as usize;
            }
            total += sign * i64::from(self.sums[index]);
        }
        usize::try_from(total).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(sizes: &[u32], busy: &[u32]) -> Pool {
        let mut pool = Pool::new(Geometry::new(sizes).unwrap());
        pool.take(&busy.iter().copied().map(NodeId).collect::<Vec<_>>());
        pool
    }

    fn found(pool: &Pool, how: Allocation, wanted: usize) -> Option<Vec<u32>> {
        pool.find(how, wanted, 1, 0).map(|nodes| nodes.into_iter().map(|node| node.0).collect())
    }

    #[test]
    fn a_contiguous_job_gets_the_squarest_box_that_is_free() {
        use Allocation::Contiguous;
        let empty = pool(&[4, 4], &[]);
        assert_eq!(found(&empty, Contiguous, 4).unwrap(), [0, 1, 4, 5]);
        // Three nodes: a row is a box of three, a square has four.
        assert_eq!(found(&empty, Contiguous, 3).unwrap().len(), 3);
        assert_eq!(found(&empty, Contiguous, 16).unwrap(), (0..16).collect::<Vec<_>>());
        // Node 5 is occupied: the first free square is at the right.
        assert_eq!(found(&pool(&[4, 4], &[5]), Contiguous, 4).unwrap(), [2, 3, 6, 7]);
        // A chessboard has eight free nodes, no two of them adjacent.
        let chess = pool(&[4, 4], &[0, 2, 5, 7, 8, 10, 13, 15]);
        assert_eq!(found(&chess, Contiguous, 2), None);
    }

    #[test]
    fn a_quasi_contiguous_job_gets_the_smallest_box_with_enough() {
        use Allocation::QuasiContiguous;
        let chess = pool(&[4, 4], &[0, 2, 5, 7, 8, 10, 13, 15]);
        // No two are adjacent: both ends of a line of three.
        assert_eq!(found(&chess, QuasiContiguous, 2).unwrap().len(), 2);
        assert_eq!(found(&chess, QuasiContiguous, 8).unwrap(), [1, 3, 4, 6, 9, 11, 12, 14]);
        assert_eq!(found(&chess, QuasiContiguous, 9), None);
        let empty = pool(&[4, 4], &[]);
        assert_eq!(found(&empty, QuasiContiguous, 4), found(&empty, Allocation::Contiguous, 4));
    }

    #[test]
    fn drawn_nodes_are_free_and_depend_on_seed_and_job() {
        let busy: Vec<u32> = (0..32).collect();
        let pool = pool(&[8, 8], &busy);
        let draw = |seed, job| pool.find(Allocation::Random, 16, seed, job).unwrap();
        assert!(draw(1, 0).iter().all(|node| node.0 >= 32) && draw(1, 0).is_sorted());
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(2, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
    }

    #[test]
    fn a_box_is_counted_as_its_nodes_are() {
        let geometry = Geometry::new(&[3, 4, 2]).unwrap();
        let free: Vec<bool> = (0..24).map(|node| node % 5 != 0 && node % 7 != 3).collect();
        let sums = Sums::new(&geometry, &free);
        let corner = [1, 1, 0];
        for sides in [[1, 1, 1], [2, 2, 1], [2, 3, 2], [1, 3, 2]] {
            let inside = |node: &usize| {
                let place = geometry.coordinates(NodeId::at(*node));
                (0..3).all(|d| (corner[d]..corner[d] + sides[d]).contains(&place[d]))
            };
            let expected = (0..24).filter(inside).filter(|&node| free[node]).count();
            assert_eq!(sums.in_box(&corner, &sides), expected, "{sides:?}");
        }
    }
}
