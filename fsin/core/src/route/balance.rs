//! Balanced routes: for each pair of endpoints one shortest path, so that the busiest link of an all-to-all exchange
//! carries little, with virtual channels that keep the network free of deadlock.
//!
//! Every channel has a rank, and a path takes channels of rising ranks only: no cycle of dependencies can close. Among
//! the paths of a pair that are shortest and rise, the one of least cost is taken, where the cost of a link grows
//! exponentially with the number of paths over it. Then each path is taken out and chosen anew, several times, with
//! costs that grow faster each time; the best state of all is kept.
//!
//! Channels beyond those that the paths need are copies of them: a hop may take each copy of its channel. Copies keep
//! the order of the ranks, and a header is not held up by the one channel of its hop.
//!
//! The result is no optimum, and nothing is proven of its distance from one. Pairs weigh the same, whatever the
//! traffic.

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::mix2;

use super::given::{MAX_CHANNELS, Paths, RouteTable};
use super::proof::Network as _;
use super::{FAR, Routers};
use crate::topology::Port;
use crate::topology::switched::Nics;

/// Maximum number of routers, and of endpoints.
const MOST: usize = 4096;

/// Steepness of the cost of a link in each round: each path over it makes it dearer by this part, divided by the mean
/// number of paths over a link.
const ROUNDS: [f64; 6] = [4.0, 8.0, 16.0, 32.0, 64.0, 96.0];

/// The same for networks with more pairs than [`MOST_TRIED`], where a round takes seconds.
const FEW_ROUNDS: [f64; 3] = [8.0, 32.0, 96.0];

/// A busiest link with this times the mean load is good enough.
const NEAR: f64 = 1.05;

/// Number of virtual channels that are tried beyond the least number that is enough.
const MORE: u32 = 1;

/// \[pairs\] Networks with more pairs have fewer rounds, and the least number of channels alone.
const MOST_TRIED: usize = 1 << 17;

/// Costs are below this.
const GREATEST: f64 = 1e250;

/// Balanced routes, and how many virtual channels they use.
#[derive(Debug)]
pub struct Balanced {
    /// The routes.
    pub table: RouteTable,
    /// Number of virtual channels.
    pub vcs: usize,
}

/// A hop of a path.
#[derive(Clone, Copy, Default, Debug)]
struct Step {
    port: u32,
    vc: u8,
}

/// How channels are ranked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scheme {
    /// Dimension by dimension, the longest first; in a dimension virtual channel by virtual channel, and there along
    /// the ring from its dateline on (Dally and Seitz, TC 36(5), 1987).
    Dateline,
    /// Virtual channel by virtual channel; on each, dimension by dimension as above. Paths may turn in any order, and
    /// climb to the next channel where they turn back.
    ClimbByDimension,
    /// Virtual channel by virtual channel; on each, first up to the root of a tree and then down (up*/down*).
    ClimbByTree,
}

/// The ranks of channels.
struct Ranks {
    vcs: u32,
    /// By output: the rank of its first channel.
    first: Vec<u64>,
    /// What the next channel of the same output adds.
    step: u64,
}

impl Ranks {
    fn new(scheme: Scheme, routers: &Routers<'_>, vcs: u32) -> Self {
        match scheme {
            Scheme::Dateline | Scheme::ClimbByDimension => Self::by_dimension(scheme, routers, vcs),
            Scheme::ClimbByTree => Self::by_tree(routers, vcs),
        }
    }

    /// Dimension, direction, then the position along the ring.
    fn by_dimension(scheme: Scheme, routers: &Routers<'_>, vcs: u32) -> Self {
        let topology = routers.topology;
        let (shape, geometry) = (topology.shape(), topology.geometry());
        let sizes = geometry.sizes();
        let mut order: Vec<usize> = (0..shape.dimensions).collect();
        order.sort_by_key(|&dimension| std::cmp::Reverse(sizes.get(dimension).copied().unwrap_or(0)));
        let ring = routers.routers() as u64;
        // Room for the positions of one direction of a dimension.
        let dimension_step = match scheme {
            Scheme::Dateline => 2 * ring * u64::from(vcs),
            Scheme::ClimbByDimension | Scheme::ClimbByTree => 2 * ring,
        };
        let step = match scheme {
            Scheme::Dateline => 2 * ring,
            Scheme::ClimbByDimension | Scheme::ClimbByTree => dimension_step * shape.dimensions as u64,
        };
        let mut first = vec![0; routers.routers() * routers.ports()];
        for router in 0..routers.routers() {
            let coordinates = geometry.coordinates(trgen::NodeId::at(router));
            for port in 0..routers.ports() {
                let (dimension, is_positive) = shape.direction(Port::at(port));
                let place = order.iter().position(|&one| one == dimension).unwrap_or(0) as u64;
                // In a network that is no grid, the number of the node stands for the coordinate.
                let at = match sizes.len() == shape.dimensions {
                    true => u64::from(coordinates[dimension]),
                    false => router as u64,
                };
                let position = if is_positive { at } else { 2 * ring - 1 - at };
                first[router * routers.ports() + port] = place * dimension_step + position;
            }
        }
        Self { vcs, first, step }
    }

    /// Links towards the root first, those far from it before near ones; then links away from it, near ones first. The
    /// root is a router with most links; of two routers at the same distance, the one of the lower number is nearer.
    fn by_tree(routers: &Routers<'_>, vcs: u32) -> Self {
        let count = routers.routers();
        let links = |router: usize| routers.links(router).count();
        let root = (0..count).max_by_key(|&router| (links(router), std::cmp::Reverse(router))).unwrap_or(0);
        let mut depth = vec![usize::MAX; count];
        let mut reached = vec![root];
        depth[root] = 0;
        for at in 0.. {
            let Some(&here) = reached.get(at) else { break };
            for (_, there) in routers.links(here) {
                if depth[there] == usize::MAX {
                    depth[there] = depth[here] + 1;
                    reached.push(there);
                }
            }
        }
        // By router: its place in the order of search, the root first.
        let mut place = vec![count; count];
        reached.iter().enumerate().for_each(|(at, &router)| place[router] = at);
        let mut first = vec![0; count * routers.ports()];
        for router in 0..count {
            for (port, there) in routers.links(router) {
                let (from, to) = (place[router] as u64, place[there] as u64);
                let total = count as u64 + 1;
                // Up: the farther the router, the earlier; down: the nearer, the earlier.
                first[router * routers.ports() + port] = if to < from { total - from } else { total + from };
            }
        }
        Self { vcs, first, step: 2 * (count as u64 + 1) + 1 }
    }

    /// The lowest channel of an output whose rank is above another one, with its rank.
    #[inline]
    fn above(&self, output: usize, rank: Option<u64>) -> Option<(u8, u64)> {
        let first = self.first[output];
        let vc = match rank {
            Some(rank) if rank >= first => (rank - first) / self.step + 1,
            _ => 0,
        };
        (vc < u64::from(self.vcs)).then(|| (vc as u8, first + vc * self.step))
    }
}

/// A partial path: it has come to a router through a channel.
#[derive(Clone, Copy, Debug)]
struct Partial {
    router: u32,
    /// The rank of the last channel; `None` at the source.
    rank: Option<u64>,
    cost: f64,
    /// Index of the partial path before the last hop.
    before: u32,
    step: Step,
}

/// The network, and what paths are chosen by.
struct Search<'a> {
    routers: &'a Routers<'a>,
    nics: Nics,
    ranks: Ranks,
    /// \[hops\] By destination router and router: the distance.
    distances: &'a [u16],
    /// By output: the cost of a path over the link.
    costs: Vec<f64>,
    /// Partial paths of the present pair, level by level.
    partial: Vec<Partial>,
}

impl Search<'_> {
    /// The cheapest path between two routers into `path`, the last hop first; false if no shortest path rises. `key`
    /// breaks ties.
    fn find(&mut self, (from, to): (usize, usize), key: u64, path: &mut Vec<Step>) -> bool {
        let (routers, ports) = (self.routers, self.routers.ports());
        let row = &self.distances[to * routers.routers()..][..routers.routers()];
        self.partial.clear();
        let source = Partial { router: from as u32, rank: None, cost: 0.0, before: 0, step: Step::default() };
        self.partial.push(source);
        let mut level = 0..1;
        for distance in (0..row[from]).rev() {
            let begin = self.partial.len();
            for before in level.clone() {
                let Partial { router, rank, cost, .. } = self.partial[before];
                for (port, next) in routers.links(router as usize) {
                    if row[next] != distance || !self.nics.admit(next, to) {
                        continue;
                    }
                    let output = router as usize * ports + port;
                    let Some((vc, rank)) = self.ranks.above(output, rank) else { continue };
                    // A difference too small to matter but between equals.
                    let tie = (mix2(key, output as u64) >> 44) as f64 * 1e-9;
                    let cost = cost + self.costs[output] * (1.0 + tie);
                    let (router, rank, before) = (next as u32, Some(rank), before as u32);
                    let step = Step { port: port as u32, vc };
                    self.keep(begin, Partial { router, rank, cost, before, step });
                }
            }
            level = begin..self.partial.len();
        }
        let best = level.min_by(|&one, &other| self.partial[one].cost.total_cmp(&self.partial[other].cost));
        let Some(mut at) = best else { return false };
        path.clear();
        while at != 0 {
            path.push(self.partial[at].step);
            at = self.partial[at].before as usize;
        }
        true
    }

    /// Adds a partial path to its level, which starts at `begin`, unless another one to the same router is as cheap and
    /// ranks as low; drops those of which the same is true of the new one.
    fn keep(&mut self, begin: usize, new: Partial) {
        let is_worse = |one: &Partial, other: &Partial| {
            one.router == other.router && one.cost >= other.cost && one.rank >= other.rank
        };
        if self.partial[begin..].iter().any(|other| is_worse(&new, other)) {
            return;
        }
        let mut at = begin;
        while at < self.partial.len() {
            if is_worse(&self.partial[at], &new) {
                self.partial.swap_remove(at);
            } else {
                at += 1;
            }
        }
        self.partial.push(new);
    }
}

/// \[hops\] By destination router and router: the distance; [`FAR`] if no path leads there.
fn distances(routers: &Routers<'_>) -> Vec<u16> {
    let count = routers.routers();
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); count];
    for router in 0..count {
        routers.links(router).for_each(|(_, there)| before[there].push(router as u32));
    }
    let nics = Nics::of(routers.topology);
    let mut all = vec![FAR; count * count];
    for to in 0..count {
        let row = &mut all[to * count..][..count];
        row[to] = 0;
        let mut reached = vec![to];
        for at in 0.. {
            let Some(&here) = reached.get(at) else { break };
            if !nics.admit(here, to) {
                continue;
            }
            for &there in &before[here] {
                if row[there as usize] == FAR {
                    row[there as usize] = row[here] + 1;
                    reached.push(there as usize);
                }
            }
        }
    }
    all
}

/// The pairs of endpoints at different routers, and where their hops stand.
struct Pairs {
    /// By pair: source, destination, and the index of the first hop.
    all: Vec<(u32, u32, usize)>,
    /// Number of hops of all pairs.
    hops: usize,
}

impl Pairs {
    /// Mean number of paths over a link.
    fn mean(&self, routers: &Routers<'_>) -> f64 {
        let links: usize = (0..routers.routers()).map(|router| routers.links(router).count()).sum();
        self.hops as f64 / links.max(1) as f64
    }

    /// # Errors
    /// A pair without a path.
    fn new(routers: &Routers<'_>, distances: &[u16]) -> Result<Self, SpecError> {
        let (mut all, mut hops) = (Vec::new(), 0);
        let endpoints = routers.endpoints();
        for (source, destination) in (0..endpoints).flat_map(|source| (0..endpoints).map(move |to| (source, to))) {
            let (from, to) = (routers.entry(source), routers.home(destination));
            match distances[to * routers.routers() + from] {
                0 => {}
                FAR => {
                    let (from, to) = (routers.endpoint_name(source), routers.endpoint_name(destination));
                    let what = format!("no path of {} leads from {from} to {to}", routers.topology.spec());
                    return Err(SpecError::new(ErrorKind::Conflict, what, "use a connected network").of("topology"));
                }
                distance => {
                    all.push((source as u32, destination as u32, hops));
                    hops += usize::from(distance);
                }
            }
        }
        Ok(Self { all, hops })
    }
}

/// Paths of all pairs, and what they put on the links.
#[derive(Clone)]
struct State {
    /// By pair in turn: its hops.
    steps: Vec<Step>,
    /// By output: the number of paths over it.
    loads: Vec<u32>,
}

/// Balances the paths with a number of virtual channels; `None` if some pair has no shortest path that rises.
fn balanced(
    routers: &Routers<'_>,
    distances: &[u16],
    pairs: &Pairs,
    (scheme, vcs): (Scheme, u32),
    seed: u64,
) -> Option<State> {
    let outputs = routers.routers() * routers.ports();
    let ranks = Ranks::new(scheme, routers, vcs);
    let mut search = Search {
        routers,
        nics: Nics::of(routers.topology),
        ranks,
        distances,
        costs: vec![1.0; outputs],
        partial: Vec::new(),
    };
    let mean = pairs.mean(routers).max(1.0);
    let mut order: Vec<usize> = (0..pairs.all.len()).collect();
    order.sort_by_key(|&pair| mix2(seed, pair as u64));
    let mut now = State { steps: vec![Step::default(); pairs.hops], loads: vec![0; outputs] };
    let mut best: Option<(u32, State)> = None;
    let mut path = Vec::new();
    let rounds = if pairs.all.len() > MOST_TRIED { &FEW_ROUNDS[..] } else { &ROUNDS };
    for (round, &steepness) in rounds.iter().enumerate() {
        // Powers by repeated multiplication: the same on every host.
        let base = 1.0 + steepness / mean;
        let powers = std::iter::successors(Some(1.0), |power| Some(power * base));
        let powers: Vec<f64> = powers.take(pairs.all.len() + 1).take_while(|&power| power < GREATEST).collect();
        let cost = |load: u32| powers[(load as usize).min(powers.len() - 1)];
        search.costs = now.loads.iter().map(|&load| cost(load)).collect();
        for &pair in &order {
            let (source, destination, first) = pairs.all[pair];
            let (from, to) = (routers.entry(source as usize), routers.home(destination as usize));
            let count = usize::from(distances[to * routers.routers() + from]);
            if round > 0 {
                let mut here = from;
                for at in first..first + count {
                    let output = here * routers.ports() + now.steps[at].port as usize;
                    now.loads[output] -= 1;
                    search.costs[output] = cost(now.loads[output]);
                    here = routers.next(here, now.steps[at].port as usize)?;
                }
            }
            if !search.find((from, to), mix2(seed ^ round as u64, pair as u64), &mut path) {
                return None;
            }
            let mut here = from;
            for (at, &step) in (first..).zip(path.iter().rev()) {
                now.steps[at] = step;
                let output = here * routers.ports() + step.port as usize;
                now.loads[output] += 1;
                search.costs[output] = cost(now.loads[output]);
                here = routers.next(here, step.port as usize)?;
            }
        }
        let busiest = now.loads.iter().copied().max().unwrap_or(0);
        if best.as_ref().is_none_or(|&(least, _)| busiest < least) {
            best = Some((busiest, now.clone()));
        }
        // No set of shortest paths can do better.
        if f64::from(busiest) <= mean.ceil() {
            break;
        }
    }
    best.map(|(_, state)| state)
}

/// Balanced shortest routes of a network. `vcs` is the number of virtual channels that they use, several for a hop
/// where fewer would be enough; `None` for the least that is found to be enough. The same `seed` gives the same routes.
///
/// # Errors
/// A network that is too large or not connected; more virtual channels than there can be.
pub fn balance(routers: &Routers<'_>, vcs: Option<u32>, seed: u64) -> Result<Balanced, SpecError> {
    if routers.routers().max(routers.endpoints()) > MOST {
        let what = format!("{} routers and {} endpoints", routers.routers(), routers.endpoints());
        let remedy = format!("routes are balanced for at most {MOST} of each");
        return Err(SpecError::new(ErrorKind::TooLarge, what, remedy).of("topology"));
    }
    if let Some(network) = routers.topology.switched() {
        network.check_rails(&"the balance of routes".into())?;
    }
    let distances = distances(routers);
    let pairs = Pairs::new(routers, &distances)?;
    let is_switched = routers.topology.switched().is_some();
    let schemes: &[Scheme] = match is_switched {
        true => &[Scheme::ClimbByTree],
        false => &[Scheme::Dateline, Scheme::ClimbByDimension],
    };
    let counts = 1..=vcs.unwrap_or(MAX_CHANNELS);
    let near = (pairs.mean(routers) * NEAR) as u32;
    // The least number of channels that is enough; and the least busiest link so far, with its paths.
    let mut best: Option<(u32, u32, State)> = None;
    for count in counts {
        // More channels permit more paths: tried where that costs little and may gain much.
        let is_enough = |&(first, busiest, _): &(u32, u32, State)| {
            busiest <= near || pairs.all.len() > MOST_TRIED || count > first + MORE
        };
        if best.as_ref().is_some_and(is_enough) {
            break;
        }
        for &scheme in schemes {
            let Some(state) = balanced(routers, &distances, &pairs, (scheme, count), seed) else { continue };
            let busiest = state.loads.iter().copied().max().unwrap_or(0);
            let first = best.as_ref().map_or(count, |&(first, _, _)| first);
            if best.as_ref().is_none_or(|&(_, least, _)| busiest < least) {
                best = Some((first, busiest, state));
            }
        }
    }
    if let Some((_, _, state)) = best {
        let needed = state.steps.iter().map(|step| u32::from(step.vc) + 1).max().unwrap_or(1);
        let vcs = vcs.unwrap_or(needed);
        return Ok(Balanced { table: table(routers, &pairs, &state, (needed, vcs))?, vcs: vcs as usize });
    }
    let what = phrase![(
        "shortest paths of {} need more than {} virtual channels",
        routers.topology.spec(),
        vcs.unwrap_or(MAX_CHANNELS)
    )];
    Err(SpecError::new(ErrorKind::OutOfRange, what, phrase!["set more ", ["vcs"], ", or leave it out"]).of("vcs"))
}

/// The channels of a hop for which `step.vc` of `needed` channels is meant, as a mask of `vcs` channels.
fn copies(step: Step, (needed, vcs): (u32, u32)) -> u32 {
    (u32::from(step.vc)..vcs).step_by(needed as usize).fold(0, |mask, vc| mask | 1 << vc)
}

/// The paths as a table, which need some channels and have others. Where they need one, hops may take any.
fn table(routers: &Routers<'_>, pairs: &Pairs, state: &State, channels: (u32, u32)) -> Result<RouteTable, SpecError> {
    let mut paths = Paths::default();
    let mut next = pairs.all.iter().enumerate().peekable();
    let endpoints = routers.endpoints();
    for (source, destination) in (0..endpoints).flat_map(|source| (0..endpoints).map(move |to| (source, to))) {
        let is_this =
            |&(_, &(from, to, _)): &(usize, &(u32, u32, usize))| (from as usize, to as usize) == (source, destination);
        if let Some((at, &(_, _, first))) = next.next_if(is_this) {
            let end = pairs.all.get(at + 1).map_or(pairs.hops, |&(_, _, first)| first);
            for step in &state.steps[first..end] {
                paths.hop(step.port, (channels.0 > 1).then(|| copies(*step, channels)))?;
            }
        }
        paths.end();
    }
    Ok(paths.finish(routers))
}
