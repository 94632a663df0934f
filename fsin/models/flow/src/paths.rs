//! The paths of flows: what a flow uses of each link.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use fsin_core::failures::parts;
use fsin_core::route::{
    Build, ByKey, Carries, ChannelPolicy, Choice, Decisions, Draw, Function, Hop, LANE, Name, ROUTINGS,
    RoutingFunction, Row, Serves, Visit, named,
};
use fsin_core::topology::Topology;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::mix2;

use crate::params::{Params, Paths};
use crate::wiring::{Wiring, stated_routes};

/// What a flow uses of a link whose full rate it takes.
pub(crate) const WHOLE: u64 = 1 << 32;

/// \[links\] Longest path.
const MAX_HOPS: usize = 1 << 16;

/// \[links\] Most links of a flow that is split.
const MAX_SPRAYED: usize = 1 << 16;

/// \[channels\] Routings may use as many channels as they like: flows have none.
const CHANNELS: usize = 32;

/// What a flow uses of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Use {
    pub(crate) link: u32,
    /// Place of the flow among those of the link; [`UNPLACED`] while it is not on its links.
    pub(crate) place: u32,
    /// Of the rate of the flow, in units of 1 / [`WHOLE`].
    pub(crate) share: u64,
}

// Beside the links themselves, most of the memory of a flow.
const _: () = assert!(size_of::<Use>() == 16);

/// No place.
pub(crate) const UNPLACED: u32 = u32::MAX;

impl Use {
    /// A use of a link by a flow that is not on it yet.
    pub(crate) const fn of(link: u32, share: u64) -> Self {
        Self { link, place: UNPLACED, share }
    }
}

/// The routings that this model carries, the first one of a topology being its default: those that need no queues to
/// weigh their hops, and no packets to draw a path of their own. Routes with a channel for each hop are all that are
/// shortest, and channels cost nothing here.
pub(crate) fn carried() -> Vec<Carries> {
    let fits = |row: &&Row| row.choice != Choice::Weighed && !row.choice.is_by_flits() && row.serves.lead_back();
    let is_drawn = |row: &&Row| row.component.name == Name::OBLIVIOUS.name();
    let mut rows: Vec<&Row> = ROUTINGS.rows().iter().copied().filter(|row| fits(row) && !is_drawn(row)).collect();
    rows.sort_by_key(|row| (row.serves == Serves::Every, row.policy != ChannelPolicy::ByHop));
    rows.into_iter().map(|row| Carries { row, policy: ChannelPolicy::Free }).collect()
}

/// Draws of a path: where both ways round a ring are equally long, the same one always, and the first channel where a
/// routing adds a drawn one to digits, since a flow has none.
struct Ways {
    by_key: ByKey,
    /// True if the choices of the routing are those of ways round rings alone.
    is_grid: bool,
}

impl Draw for Ways {
    fn draw(&mut self, label: u32, bound: u32) -> u32 {
        if self.is_grid || label == LANE { 0 } else { self.by_key.draw(label, bound) }
    }
}

/// The routes of a network.
#[derive(Debug)]
pub(crate) struct Routes {
    function: Function,
    paths: Paths,
    is_grid: bool,
    seed: u64,
    /// By host: the part of the network in which it is; empty where links never fail.
    parts: Vec<u32>,
    /// The network, where its file states the routes link by link.
    stated: Option<Arc<dyn Topology>>,
}

impl Routes {
    pub(crate) fn new(whole: &Arc<dyn Topology>, params: &Params) -> Result<Self, SpecError> {
        let topology: &dyn Topology = &**whole;
        let stated = stated_routes(topology, params)?.map(|_| Arc::clone(whole));
        if params.routing == Name::OBLIVIOUS {
            let why = ": each packet draws its path, and flows are not divided into packets";
            let what = phrase![["routing" => "oblivious"], "{why}"];
            let remedy =
                phrase!["use ", ["paths" => "spray"], ", which splits each flow evenly over the shortest paths"];
            return Err(SpecError::new(ErrorKind::Unsupported, what, remedy).of("routing"));
        }
        let carries = named(&carried(), params.routing, topology, !params.failures.is_empty())?;
        let build = Build::new(carries.row, topology, CHANNELS, carries.row.policy);
        let may_be_parted = !params.failures.is_empty();
        let function = Build { routes: params.routes.as_ref(), may_be_parted, ..build }.function()?;
        let is_grid = carries.row.policy.has_datelines();
        let parts = if params.failures.is_empty() { Vec::new() } else { parts(topology, &HashSet::new()) };
        Ok(Self { function, paths: params.paths, is_grid, seed: params.seed, parts, stated })
    }

    /// The network, where its file states the routes link by link.
    pub(crate) fn stated(&self) -> Option<&dyn Topology> {
        self.stated.as_deref()
    }

    /// What a message from host to host uses of links, other than cross traffic. `flows` is the number of flows of each
    /// link; `number` is that of the message at its source. The uses are written to `uses`, whose content is lost. `None`
    /// without a way, or if there are too many links.
    pub(crate) fn uses(
        &self,
        wiring: &Wiring,
        flows: impl Fn(u32) -> usize,
        (source, destination): (u32, u32),
        number: u64,
        uses: &mut Vec<Use>,
    ) -> Option<()> {
        uses.clear();
        if self.parts.get(source as usize) != self.parts.get(destination as usize) {
            return None;
        }
        if let Some(network) = &self.stated {
            let links = network.switched()?.stated_routes()?.route(source, destination)?;
            uses.extend(links.into_iter().map(|link| Use::of(wiring.stated + link, WHOLE)));
            return Some(());
        }
        let key = mix2(mix2(self.seed, source.into()), mix2(destination.into(), number));
        let mut draw = Ways { by_key: ByKey(key), is_grid: self.is_grid };
        let first = wiring.home(source);
        let home = wiring.home(destination);
        uses.push(Use::of(wiring.ports.host_port(source) as u32, WHOLE));
        let cost = |link: u32| (flows(link) as u128 + 1, u128::from(wiring.capacities[link as usize]));
        let start = Visit { source, destination, first, here: first, home, phase: 0 };
        let phase = self.decide(&start, &mut draw, wiring, &cost);
        let at = Visit { phase, ..start };
        match self.paths {
            Paths::Spray => self.spray(at, &mut draw, wiring, uses)?,
            Paths::Hash | Paths::Adaptive => self.walk(at, key, &mut draw, wiring, &cost, uses)?,
        }
        let last = wiring.ports.home(destination as usize).1;
        uses.push(Use::of(last as u32, WHOLE));
        Some(())
    }

    /// The links of the route back from `destination`, if routes are stated link by link; otherwise `None`.
    pub(crate) fn stated_back(&self, wiring: &Wiring, (source, destination): (u32, u32)) -> Option<Vec<u32>> {
        let links = self.stated.as_ref()?.switched()?.stated_routes()?.route(destination, source).unwrap_or_default();
        Some(links.into_iter().map(|link| wiring.stated + link).collect())
    }

    /// Refuses a network in which a flow would be split over too many links, as far as the flows of one node show.
    pub(crate) fn check(&self, wiring: &Wiring, topology: &dyn Topology) -> Result<(), SpecError> {
        /// \[flows\] That are looked at.
        const SAMPLE: usize = 16;
        let hosts = wiring.ports.hosts;
        if self.stated.is_some() || self.paths != Paths::Spray || hosts < 2 || !self.parts.is_empty() {
            return Ok(());
        }
        let distances = (1..=SAMPLE).map(|part| (part * hosts / (SAMPLE + 1)).max(1) as u32);
        let mut uses = Vec::new();
        for destination in distances.chain([hosts as u32 / 2]).filter(|&to| to > 0) {
            if self.uses(wiring, |_| 0, (0, destination), 0, &mut uses).is_none() {
                let what = phrase![
                    ["paths" => "spray"],
                    (": a flow of node 0 to {destination} of {} uses more than {MAX_SPRAYED} links, or none", topology.spec())
                ];
                return Err(SpecError::new(ErrorKind::TooLarge, what, phrase!["use ", ["paths" => "hash"]]).of("paths"));
            }
        }
        Ok(())
    }

    /// The phase in which a flow leaves its first router.
    fn decide(
        &self,
        at: &Visit,
        draw: &mut Ways,
        wiring: &Wiring,
        cost: &impl Fn(u32) -> (u128, u128),
    ) -> fsin_core::route::Phase {
        if at.here == at.home {
            return at.phase;
        }
        let Decisions { first, second } = self.function.decisions(at, draw);
        let Some(second) = second else { return first };
        let mut weigh = |phase| {
            let at = Visit { phase, ..*at };
            let link = self.candidates(&at, draw, wiring).next();
            let (flows, capacity) = link.map_or((1, 1), cost);
            (flows * u128::from(self.function.length(&at, draw)), capacity)
        };
        let (one, other) = (weigh(first), weigh(second));
        if other.0 * one.1 < one.0 * other.1 { second } else { first }
    }

    /// The links that a flow may take at a router, each once, by port.
    fn candidates<'a>(
        &self,
        at: &Visit,
        draw: &mut Ways,
        wiring: &'a Wiring,
    ) -> impl Iterator<Item = u32> + Clone + use<'a> {
        let mut ports = [0_u64; 4];
        // Ports beyond those that have a bit.
        let mut far = Vec::new();
        self.function.hops(at, draw, |Hop { port, .. }| match ports.get_mut(port as usize / 64) {
            Some(word) => *word |= 1 << (port % 64),
            None => far.push(port),
        });
        far.sort_unstable();
        far.dedup();
        let here = at.here;
        set_bits(ports).chain(far).filter_map(move |port| wiring.output(here, port))
    }

    /// Follows one path; `None` if it leads nowhere.
    fn walk(
        &self,
        mut at: Visit,
        key: u64,
        draw: &mut Ways,
        wiring: &Wiring,
        cost: &impl Fn(u32) -> (u128, u128),
        uses: &mut Vec<Use>,
    ) -> Option<()> {
        while at.here != at.home || !self.function.arrives(&at) {
            let mut links = self.candidates(&at, draw, wiring);
            let chosen = match self.paths {
                Paths::Adaptive => links.min_by(|&one, &other| {
                    let ((flows, capacity), (others, rate)) = (cost(one), cost(other));
                    (flows * rate).cmp(&(others * capacity))
                }),
                Paths::Hash | Paths::Spray => match links.clone().count() {
                    0 | 1 => links.next(),
                    count => links.nth(trgen::rng::pick(mix2(key, at.here as u64), count as u32) as usize),
                },
            };
            let link = chosen.filter(|_| uses.len() < MAX_HOPS)?;
            uses.push(Use::of(link, WHOLE));
            let next = wiring.router_after(link);
            let phase = self.function.hop(&at, next, draw);
            at = Visit { here: next, phase, ..at };
        }
        Some(())
    }

    /// Follows all paths, and splits the flow evenly at each router; `None` if they lead nowhere or over too many
    /// links.
    fn spray(&self, at: Visit, draw: &mut Ways, wiring: &Wiring, uses: &mut Vec<Use>) -> Option<()> {
        // By distance from the source: what arrives at each router, in each phase.
        let mut here: BTreeMap<(usize, u16), u64> = BTreeMap::from([((at.here, at.phase), WHOLE)]);
        let mut sum: BTreeMap<u32, u64> = BTreeMap::new();
        for _ in 0..MAX_HOPS {
            let mut next: BTreeMap<(usize, u16), u64> = BTreeMap::new();
            for ((router, phase), share) in here {
                let visit = Visit { here: router, phase, ..at };
                if router == at.home && self.function.arrives(&visit) {
                    continue;
                }
                let links = self.candidates(&visit, draw, wiring);
                let count = links.clone().count() as u64;
                if count == 0 {
                    return None;
                }
                for (index, link) in (0_u64..).zip(links) {
                    // Parts that differ by a unit, whose sum is the share.
                    let part = share / count + u64::from(index < share % count);
                    *sum.entry(link).or_default() += part;
                    if sum.len() > MAX_SPRAYED {
                        return None;
                    }
                    let there = wiring.router_after(link);
                    let phase = self.function.hop(&visit, there, draw);
                    *next.entry((there, phase)).or_default() += part;
                }
            }
            if next.is_empty() {
                uses.extend(sum.into_iter().map(|(link, share)| Use::of(link, share)));
                return Some(());
            }
            here = next;
        }
        None
    }
}

/// The numbers of the bits that are set, in ascending order.
fn set_bits(words: [u64; 4]) -> impl Iterator<Item = u32> + Clone {
    (0..4_u32).zip(words).flat_map(|(number, mut word)| {
        std::iter::from_fn(move || {
            let bit = word.trailing_zeros();
            // None is left where there are 64 zeros.
            word &= word.checked_sub(1)?;
            Some(64 * number + bit)
        })
    })
}
