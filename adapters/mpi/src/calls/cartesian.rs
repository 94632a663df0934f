//! Process topologies. In the calls below `room` is the number of elements that an array of the program can take.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::arguments;
use crate::calls::communicators::{make, split};
use crate::calls::intercommunicators::{lane, receive_numbers, send_numbers};
use crate::communicator::Topology;
use crate::dimensions::complete;
use crate::error::{Outcome, error};
use crate::world::World;

/// `MPI_GRAPH`, `MPI_CART` and `MPI_DIST_GRAPH` of `mpi.h`.
const GRAPH: c_int = 1;
const CART: c_int = 2;
const DIST_GRAPH: c_int = 3;

/// The sizes of the dimensions of a Cartesian communicator, and for each dimension whether it is periodic.
fn cartesian(world: &World, comm: c_int) -> Outcome<(Vec<i64>, Vec<bool>)> {
    match world.comms.get(comm)?.topology.as_deref() {
        Some(Topology::Cartesian { sizes, periods }) => Ok((sizes.clone(), periods.clone())),
        _ => error(ERR_TOPOLOGY, "the communicator has no Cartesian topology"),
    }
}

/// Coordinates of a rank: the last coordinate varies fastest, as MPI demands.
fn coordinates(sizes: &[i64], rank: i64) -> Vec<i64> {
    let mut rest = rank;
    let mut all: Vec<i64> = sizes
        .iter()
        .rev()
        .map(|&size| {
            let at = rest % size;
            rest /= size;
            at
        })
        .collect();
    all.reverse();
    all
}

/// The rank at these coordinates; `None` beyond a border that is not periodic.
fn rank_at(sizes: &[i64], periods: &[bool], at: &[i64]) -> Option<c_int> {
    let mut rank = 0;
    for ((&size, &periodic), &at) in sizes.iter().zip(periods).zip(at) {
        let at = if periodic { at.rem_euclid(size) } else { at };
        if !(0..size).contains(&at) {
            return None;
        }
        rank = rank * size + at;
    }
    Some(rank as c_int)
}

/// The number of dimensions of a grid; an error if it is negative.
fn dimensions(count: c_int) -> Outcome<usize> {
    match usize::try_from(count) {
        Ok(count) => Ok(count),
        Err(_) => error(ERR_DIMS, format!("{count} dimensions")),
    }
}

/// Makes a Cartesian communicator of the first ranks of `comm`, as many as the grid has positions.
fn create(world: &mut World, comm: c_int, sizes: Vec<i64>, periods: Vec<bool>) -> Outcome<c_int> {
    let group = Rc::clone(&world.comms.intra(comm, "a grid")?.group);
    let count = sizes.iter().try_fold(1_i64, |product, &size| product.checked_mul(size));
    let Some(count) = count.filter(|&count| sizes.iter().all(|&size| size >= 1) && count <= group.len() as i64) else {
        return error(ERR_DIMS, format!("a grid of {sizes:?} ranks does not fit a communicator of {}", group.len()));
    };
    let new = make(world, comm, group[..count as usize].to_vec())?;
    if new != COMM_NULL {
        world.comms.get_mut(new)?.topology = Some(Rc::new(Topology::Cartesian { sizes, periods }));
    }
    Ok(new)
}

/// A neighbour and the tag of the message from or to it.
type Neighbour = (c_int, c_int);

/// The neighbours from which this rank receives in neighbourhood collectives, and those to which it sends. In a grid
/// each dimension has two tags, one for each direction, because both neighbours may be the same rank.
pub(crate) fn neighbourhood(world: &World, comm: c_int) -> Outcome<(Vec<Neighbour>, Vec<Neighbour>)> {
    let found = world.comms.get(comm)?;
    let own = found.rank as c_int;
    match found.topology.as_deref() {
        Some(Topology::Cartesian { sizes, periods }) => {
            let at = coordinates(sizes, own.into());
            let (mut sources, mut destinations) = (Vec::new(), Vec::new());
            for axis in 0..sizes.len() {
                // A message to the lower neighbour has the tag 2 * axis, a message to the upper one the next tag. The
                // lower neighbour sends upwards.
                for (side, by) in [(0, -1), (1, 1)] {
                    let mut at = at.clone();
                    at[axis] += by;
                    let rank = rank_at(sizes, periods, &at).unwrap_or(PROC_NULL);
                    let tag = 2 * axis as c_int;
                    sources.push((rank, tag + 1 - side));
                    destinations.push((rank, tag + side));
                }
            }
            Ok((sources, destinations))
        }
        Some(Topology::Graph { .. }) => {
            let all: Vec<Neighbour> = neighbours(world, comm, own)?.into_iter().map(|rank| (rank, 0)).collect();
            Ok((all.clone(), all))
        }
        Some(Topology::Neighbours { sources, destinations, .. }) => {
            let untagged = |all: &[c_int]| all.iter().map(|&rank| (rank, 0)).collect();
            Ok((untagged(sources), untagged(destinations)))
        }
        None => error(ERR_TOPOLOGY, "the communicator has no topology"),
    }
}

/// Index and edges of a graph communicator, in the form of `MPI_Graph_create`.
fn graph(world: &World, comm: c_int) -> Outcome<(Vec<c_int>, Vec<c_int>)> {
    match world.comms.get(comm)?.topology.as_deref() {
        Some(Topology::Graph { index, edges }) => Ok((index.clone(), edges.clone())),
        _ => error(ERR_TOPOLOGY, "the communicator has no graph topology"),
    }
}

/// The neighbours of a rank in a graph communicator.
fn neighbours(world: &World, comm: c_int, rank: c_int) -> Outcome<Vec<c_int>> {
    let (index, edges) = graph(world, comm)?;
    let Some(&end) = usize::try_from(rank).ok().and_then(|rank| index.get(rank)) else {
        return error(ERR_RANK, format!("rank {rank} is not in the graph"));
    };
    let begin = if rank == 0 { 0 } else { index[rank as usize - 1] };
    Ok(edges[begin as usize..end as usize].to_vec())
}

mpi! {
    |world|
    fn MPI_Dims_create(nodes: I, count: I, sizes: Ip) {
        let count = dimensions(count)?;
        let mut all = arguments::view(sizes, count, "sizes")?.to_vec();
        if all.is_empty() {
            return Ok(());
        }
        complete(nodes, &mut all)?;
        arguments::store(sizes, all, "sizes")
    }
    fn MPI_Cart_create(comm: I, count: I, sizes: *const c_int, periods: *const c_int, _reorder: I, new: Ip) {
        let count = dimensions(count)?;
        let periods = arguments::view(periods, count, "periods")?.iter().map(|&periodic| periodic != 0).collect();
        put(new, create(world, comm, arguments::array(sizes, count, "sizes")?, periods)?);
        Ok(())
    }
    fn MPI_Cartdim_get(comm: I, count: Ip) {
        put(count, cartesian(world, comm)?.0.len() as c_int);
        Ok(())
    }
    fn MPI_Cart_get(comm: I, room: I, sizes: Ip, periods: Ip, at: Ip) {
        let (found, periodic) = cartesian(world, comm)?;
        let own = coordinates(&found, world.comms.get(comm)?.rank as i64);
        let room = arguments::length(room.into())?;
        arguments::store(sizes, found.iter().map(|&size| size as c_int).take(room), "sizes")?;
        arguments::store(periods, periodic.iter().map(|&periodic| c_int::from(periodic)).take(room), "periods")?;
        arguments::store(at, own.iter().map(|&at| at as c_int).take(room), "at")
    }
    fn MPI_Cart_rank(comm: I, at: *const c_int, rank: Ip) {
        let (sizes, periods) = cartesian(world, comm)?;
        match rank_at(&sizes, &periods, &arguments::array(at, sizes.len(), "at")?) {
            Some(found) => put(rank, found),
            None => return error(ERR_ARG, "the coordinates lie beyond a border that is not periodic"),
        }
        Ok(())
    }
    fn MPI_Cart_coords(comm: I, rank: I, room: I, at: Ip) {
        let (sizes, _) = cartesian(world, comm)?;
        world.comms.get(comm)?.world_of(rank)?;
        let room = arguments::length(room.into())?;
        arguments::store(at, coordinates(&sizes, rank.into()).into_iter().map(|at| at as c_int).take(room), "at")
    }
    fn MPI_Cart_shift(comm: I, direction: I, distance: I, source: Ip, destination: Ip) {
        let (sizes, periods) = cartesian(world, comm)?;
        let Some(axis) = usize::try_from(direction).ok().filter(|&axis| axis < sizes.len()) else {
            return error(ERR_DIMS, format!("there is no dimension {direction}"));
        };
        let own = coordinates(&sizes, world.comms.get(comm)?.rank as i64);
        let at = |by: i64| {
            let mut at = own.clone();
            at[axis] += by;
            rank_at(&sizes, &periods, &at).unwrap_or(PROC_NULL)
        };
        put(source, at(-i64::from(distance)));
        put(destination, at(distance.into()));
        Ok(())
    }
    fn MPI_Cart_sub(comm: I, remain: *const c_int, new: Ip) {
        let (sizes, periods) = cartesian(world, comm)?;
        let kept: Vec<bool> = arguments::view(remain, sizes.len(), "remain")?.iter().map(|&remain| remain != 0).collect();
        let own = coordinates(&sizes, world.comms.get(comm)?.rank as i64);
        let choose = |wanted: bool| (0..sizes.len()).filter(|&axis| kept[axis] == wanted).collect::<Vec<usize>>();
        // Row-major number of this rank within the grid of these axes.
        let number = |axes: &[usize]| axes.iter().fold(0, |sum, &axis| sum * sizes[axis] + own[axis]) as c_int;
        let (inner, outer) = (choose(true), choose(false));
        let made = split(world, comm, number(&outer), number(&inner))?;
        let (sizes, periods) = (inner.iter().map(|&axis| sizes[axis]), inner.iter().map(|&axis| periods[axis]));
        world.comms.get_mut(made)?.topology = Some(Rc::new(Topology::Cartesian { sizes: sizes.collect(), periods: periods.collect() }));
        put(new, made);
        Ok(())
    }
    fn MPI_Cart_map(comm: I, count: I, sizes: *const c_int, _periods: *const c_int, rank: Ip) {
        let sizes = arguments::array(sizes, dimensions(count)?, "sizes")?;
        let nodes = sizes.iter().fold(1_i64, |product, &size| product.saturating_mul(size));
        let own = world.comms.get(comm)?.rank as i64;
        put(rank, if own < nodes { own as c_int } else { UNDEFINED });
        Ok(())
    }
    fn MPI_Topo_test(comm: I, kind: Ip) {
        put(kind, match world.comms.get(comm)?.topology.as_deref() {
            Some(Topology::Cartesian { .. }) => CART,
            Some(Topology::Graph { .. }) => GRAPH,
            Some(Topology::Neighbours { .. }) => DIST_GRAPH,
            None => UNDEFINED,
        });
        Ok(())
    }
    fn MPI_Graph_create(comm: I, nodes: I, indices: *const c_int, edges: *const c_int, _reorder: I, new: Ip) {
        let group = Rc::clone(&world.comms.intra(comm, "a graph")?.group);
        let count = arguments::length(nodes.into())?;
        if count > group.len() {
            return error(ERR_DIMS, format!("a graph of {count} ranks does not fit a communicator of {}", group.len()));
        }
        let index = arguments::view(indices, count, "index")?.to_vec();
        if index.first().is_some_and(|&first| first < 0) || !index.is_sorted() {
            return error(ERR_ARG, "the index of a graph does not ascend from 0");
        }
        let edges = arguments::view(edges, index.last().map_or(0, |&last| last as usize), "edges")?.to_vec();
        if let Some(edge) = edges.iter().find(|&&edge| edge < 0 || edge >= nodes) {
            return error(ERR_ARG, format!("an edge leads to {edge}, which is not one of {nodes} ranks"));
        }
        let made = make(world, comm, group[..count].to_vec())?;
        if made != COMM_NULL {
            world.comms.get_mut(made)?.topology = Some(Rc::new(Topology::Graph { index, edges }));
        }
        put(new, made);
        Ok(())
    }
    fn MPI_Graphdims_get(comm: I, nodes: Ip, edges: Ip) {
        let (index, all) = graph(world, comm)?;
        put(nodes, index.len() as c_int);
        put(edges, all.len() as c_int);
        Ok(())
    }
    fn MPI_Graph_get(comm: I, nodes: I, room: I, indices: Ip, edges: Ip) {
        let (found, all) = graph(world, comm)?;
        arguments::store(indices, found.into_iter().take(arguments::length(nodes.into())?), "index")?;
        arguments::store(edges, all.into_iter().take(arguments::length(room.into())?), "edges")
    }
    fn MPI_Graph_neighbors_count(comm: I, rank: I, count: Ip) {
        put(count, neighbours(world, comm, rank)?.len() as c_int);
        Ok(())
    }
    fn MPI_Graph_neighbors(comm: I, rank: I, room: I, into: Ip) {
        let all = neighbours(world, comm, rank)?;
        arguments::store(into, all.into_iter().take(arguments::length(room.into())?), "neighbours")
    }
    fn MPI_Graph_map(comm: I, nodes: I, _index: *const c_int, _edges: *const c_int, rank: Ip) {
        let own = world.comms.get(comm)?.rank as c_int;
        put(rank, if own < nodes { own } else { UNDEFINED });
        Ok(())
    }
    fn MPI_Dist_graph_create_adjacent(
        comm: I, sources: I, edges: *const c_int, from_weights: *const c_int,
        destinations: I, places: *const c_int, to_weights: *const c_int, _info: I, _reorder: I, new: Ip,
    ) {
        let group = world.comms.get(comm)?.group.to_vec();
        let (incoming, outgoing) = (arguments::length(sources.into())?, arguments::length(destinations.into())?);
        let known = |ranks: &[c_int]| match ranks.iter().find(|&&rank| rank < 0 || rank as usize >= group.len()) {
            Some(rank) => error(ERR_RANK, format!("rank {rank} is not one of {} ranks", group.len())),
            None => Ok(ranks.to_vec()),
        };
        let unweighted = crate::calls::fortran::MPI_UNWEIGHTED.cast_const();
        let weights = (from_weights != unweighted && to_weights != unweighted)
            .then(|| {
                let own = |weights, count| Ok(arguments::view(weights, count, "weights")?.to_vec());
                Outcome::Ok((own(from_weights, incoming)?, own(to_weights, outgoing)?))
            })
            .transpose()?;
        let sources = known(arguments::view(edges, incoming, "sources")?)?;
        let destinations = known(arguments::view(places, outgoing, "destinations")?)?;
        let made = make(world, comm, group)?;
        world.comms.get_mut(made)?.topology = Some(Rc::new(Topology::Neighbours { sources, destinations, weights }));
        put(new, made);
        Ok(())
    }
    fn MPI_Dist_graph_create(
        comm: I, nodes: I, sources: *const c_int, degrees: *const c_int, destinations: *const c_int,
        weights: *const c_int, _info: I, _reorder: I, new: Ip,
    ) {
        let group = world.comms.get(comm)?.group.to_vec();
        let unweighted = crate::calls::fortran::MPI_UNWEIGHTED.cast_const();
        let count = arguments::length(nodes.into())?;
        let sources = arguments::view(sources, count, "sources")?;
        let degrees = arguments::view(degrees, count, "degrees")?;
        if let Some(degree) = degrees.iter().find(|&&degree| degree < 0) {
            return error(ERR_ARG, format!("a rank has {degree} edges"));
        }
        let total: usize = degrees.iter().map(|&degree| degree as usize).sum();
        let destinations = arguments::view(destinations, total, "destinations")?;
        for rank in sources.iter().chain(destinations) {
            world.comms.intra(comm, "a graph")?.world_of(*rank)?;
        }
        let weighted = weights != unweighted;
        let weights = if weighted { arguments::view(weights, total, "weights")?.to_vec() } else { vec![0; total] };
        let starts = sources.iter().zip(degrees).flat_map(|(&source, &degree)| vec![source; degree.max(0) as usize]);
        let edges = starts.zip(destinations).zip(&weights);
        let numbers: Vec<c_int> = edges.flat_map(|((from, &to), &weight)| [from, to, weight]).collect();
        // Every rank receives the edges that each rank has declared, and keeps those that begin or end at itself.
        let (ranks, own) = (group.len() as c_int, world.comms.get(comm)?.rank as c_int);
        for to in 0..ranks {
            send_numbers(world, &numbers, lane(0), to, comm)?;
        }
        let (mut incoming, mut outgoing) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for from in 0..ranks {
            for edge in receive_numbers(world, lane(0), from, comm)?.chunks_exact(3) {
                for rank in &edge[..2] {
                    world.comms.get(comm)?.world_of(*rank)?;
                }
                if edge[1] == own {
                    incoming.0.push(edge[0]);
                    incoming.1.push(edge[2]);
                }
                if edge[0] == own {
                    outgoing.0.push(edge[1]);
                    outgoing.1.push(edge[2]);
                }
            }
        }
        let weights = weighted.then_some((incoming.1, outgoing.1));
        let made = make(world, comm, group)?;
        world.comms.get_mut(made)?.topology =
            Some(Rc::new(Topology::Neighbours { sources: incoming.0, destinations: outgoing.0, weights }));
        put(new, made);
        Ok(())
    }
    fn MPI_Dist_graph_neighbors_count(comm: I, incoming: Ip, outgoing: Ip, weighted: Ip) {
        match world.comms.get(comm)?.topology.as_deref() {
            Some(Topology::Neighbours { sources, destinations, weights }) => {
                put(incoming, sources.len() as c_int);
                put(outgoing, destinations.len() as c_int);
                put(weighted, c_int::from(weights.is_some()));
                Ok(())
            }
            _ => error(ERR_TOPOLOGY, "the communicator has no distributed graph"),
        }
    }
    fn MPI_Dist_graph_neighbors(
        comm: I, incoming: I, edges: Ip, from_weights: Ip, outgoing: I, places: Ip, to_weights: Ip,
    ) {
        let copy = |all: &[c_int], room: c_int, to: Ip| {
            arguments::store(to, all.iter().copied().take(arguments::length(room.into())?), "neighbours")
        };
        match world.comms.get(comm)?.topology.as_deref() {
            Some(Topology::Neighbours { sources, destinations, weights }) => {
                copy(sources, incoming, edges)?;
                copy(destinations, outgoing, places)?;
                if let Some((incoming_weights, outgoing_weights)) = weights {
                    copy(incoming_weights, incoming, from_weights)?;
                    copy(outgoing_weights, outgoing, to_weights)?;
                }
                Ok(())
            }
            _ => error(ERR_TOPOLOGY, "the communicator has no distributed graph"),
        }
    }
}
