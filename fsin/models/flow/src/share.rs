//! How flows share links: the rule, and its application to all flows.
//!
//! Filling: of all links with flows that have no rate yet, the one of least level is picked, by level and number, and
//! its flows get the rate of that level; what they use is taken off their other links; and so on. The level of a link
//! is what is left of it, over the sum of what its flows use per level.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::params::{Fairness, MILLION, Params};
use crate::paths::{UNPLACED, Use, WHOLE};
use crate::wiring::{Wiring, capacity};

/// \[fs\] A second.
const SECOND: u128 = 1_000_000_000_000_000;

/// Weights are so many units over the round trip in fs: at least 40 bits of a weight count.
const WEIGHT: u128 = 1 << 92;

/// Rates of levels are lowered by so small a part that sums never exceed a capacity.
const CAUTION: f64 = 1.0 - 1.0 / (1_u64 << 50) as f64;

/// A number by which links are compared: an integer rate, or the bits of a positive floating-point number, which order
/// as the numbers do.
pub(crate) type Level = u64;

/// A pick: level and number of the link that gave a flow its rate. Links are picked in this order.
pub(crate) type Key = (Level, u32);

/// The key of a flow without a rate.
pub(crate) const OPEN: Key = (Level::MAX, NO_LINK);

/// In place of a link.
pub(crate) const NO_LINK: u32 = u32::MAX;

/// A flow under way.
#[derive(Clone, Default, Debug)]
pub(crate) struct Flow {
    /// What it uses, each link once.
    pub(crate) uses: Vec<Use>,
    /// \[links\] Length of its path, those of the nodes themselves in a direct network included.
    pub(crate) hops: u64,
    /// Its weight: 1, or [`WEIGHT`] over its round trip.
    pub(crate) weight: u128,
    /// \[2^-50 bytes/ns\] Greatest rate.
    pub(crate) bound: u64,
    /// \[2^-50 bytes/ns x ps\] What was left at [`since`](Self::since).
    pub(crate) left: u128,
    /// \[ps\] When its rate last changed.
    pub(crate) since: u64,
    /// \[ps\] When it ends at this rate.
    pub(crate) end: u64,
    /// Number of its message at its source.
    pub(crate) number: u64,
    /// \[ps\] Latency of its path, with its factor.
    pub(crate) latency: u64,
    /// Its source.
    pub(crate) source: u32,
    /// Distinguishes its ends from those that are no longer true.
    pub(crate) changes: u32,
    /// Its rate in the repair that gave it one last.
    pub(crate) fresh: u64,
    /// The repair in which its rate was open last.
    pub(crate) released: u64,
}

impl Flow {
    /// True if it is on its links.
    pub(crate) fn has_links(&self) -> bool {
        self.uses.first().is_some_and(|of| of.place != UNPLACED)
    }
}

/// \[links\] Number of links of a path that stand beside the share of its flow.
const BESIDE: usize = 8;

/// The share of a flow, with its links: all that a fill reads and writes of most flows, on one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Share {
    /// The link at which the flow got its rate, which is the level of that link; [`NO_LINK`] without a rate. Set by
    /// repairs.
    pub(crate) bottleneck: u32,
    /// \[2^-50 bytes/ns\] Its rate; where the bottleneck is set, its rate before it had one.
    pub(crate) rate: u64,
    /// The fill in which it got its rate last. It is looked at from each of the flow's links.
    pub(crate) filled: u64,
    /// The links of its path, if they are so few.
    links: [u32; BESIDE],
}

const _: () = assert!(size_of::<Share>() == 64);

impl Share {
    /// No share, of no path.
    pub(crate) const NONE: Self = Self { bottleneck: NO_LINK, rate: 0, filled: 0, links: [NO_LINK; BESIDE] };

    /// Forgets where the flow got its rate: its path is another one.
    pub(crate) fn open(&mut self, uses: &[Use]) {
        self.bottleneck = NO_LINK;
        self.links = [NO_LINK; BESIDE];
        if uses.len() <= BESIDE {
            for (link, of) in self.links.iter_mut().zip(uses) {
                *link = of.link;
            }
        }
    }

    /// Passes each link of the path of `flow` to `each`.
    #[inline(always)]
    pub(crate) fn each_link(&self, flow: &Flow, each: impl FnMut(usize)) {
        if self.links[0] == NO_LINK {
            return flow.uses.iter().map(|of| of.link as usize).for_each(each);
        }
        self.links.iter().take_while(|&&link| link != NO_LINK).map(|&link| link as usize).for_each(each);
    }
}

/// A flow on one of its links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnLink {
    /// Its slot.
    pub(crate) slot: u32,
    /// Number of the use; with the bit [`BOTTLENECK`] if there is another link, and the flow has its rate from this one.
    index: u32,
    /// The other link of its path if that has two, else [`NO_LINK`]: a fill of such flows reads nothing else of them.
    pub(crate) other: u32,
}

const _: () = assert!(size_of::<OnLink>() == 12);

/// A bit of [`OnLink::index`]: paths are shorter.
const BOTTLENECK: u32 = 1 << 31;

impl OnLink {
    /// Number of the use.
    const fn index(self) -> usize {
        (self.index & !BOTTLENECK) as usize
    }

    /// True if there is another link, and the flow has its rate from this one.
    pub(crate) const fn is_bottleneck(self) -> bool {
        self.index & BOTTLENECK > 0
    }

    /// Keeps whether the flow has its rate from this link of two.
    fn set_bottleneck(&mut self, is_bottleneck: bool) {
        self.index = self.index & !BOTTLENECK | if is_bottleneck { BOTTLENECK } else { 0 };
    }
}

/// Adds a flow to those of a link. Most links of a large network have few: a list grows by half, not to twice its length,
/// and begins with two, which take no more memory than one: allocators have no smaller block.
fn add(flows: &mut Vec<OnLink>, one: OnLink) {
    if flows.len() == flows.capacity() {
        flows.reserve_exact((flows.len() / 2).max(2));
    }
    flows.push(one);
}

/// The law by which links are divided.
#[derive(Clone, Debug)]
pub(crate) struct Law {
    fairness: Fairness,
    weight_bytes: u64,
    tcp_gamma: u64,
    cross: u64,
}

impl Law {
    pub(crate) const fn new(params: &Params) -> Self {
        let cross = params.cross_millionths * WHOLE / MILLION;
        Self { fairness: params.fairness, weight_bytes: params.weight_bytes, tcp_gamma: params.tcp_gamma, cross }
    }

    /// True if flows use the other direction of their links.
    pub(crate) const fn has_cross_traffic(&self) -> bool {
        self.cross > 0
    }

    /// Adds the uses of a flow in the other direction, and sorts its uses by link, each once. The other direction is
    /// that of the same links, or the route back where routes are stated link by link.
    pub(crate) fn complete(&self, uses: &mut Vec<Use>, wiring: &Wiring, stated_back: Option<Vec<u32>>) {
        if self.has_cross_traffic() {
            let part = |share: u64| (u128::from(share) * u128::from(self.cross) / u128::from(WHOLE)) as u64;
            let others: Vec<Use> = match stated_back {
                Some(links) => links.into_iter().map(|link| Use::of(link, part(WHOLE))).collect(),
                None => {
                    let peer = |of: &Use| wiring.ports.links()[of.link as usize].peer;
                    uses.iter().map(|of| Use::of(peer(of), part(of.share))).collect()
                }
            };
            uses.extend(others);
        }
        uses.sort_unstable_by_key(|of| of.link);
        uses.dedup_by(|one, first| {
            let is_same = one.link == first.link;
            if is_same {
                first.share += one.share;
            }
            is_same
        });
    }

    /// Weight and greatest rate of a flow with this path, without cross traffic, and this latency \[ps\].
    pub(crate) fn weight(&self, path: &[Use], wiring: &Wiring, latency: u64) -> (u128, u64) {
        let least = path.iter().map(|of| wiring.capacities[of.link as usize]).min().unwrap_or(u64::MAX);
        if self.fairness != Fairness::RoundTrip {
            return (1, u64::MAX);
        }
        if latency == 0 {
            return (WEIGHT / SECOND, least);
        }
        let transmission = |of: &Use| {
            let bits = 8 * u128::from(self.weight_bytes) * SECOND;
            bits / u128::from(wiring.rates.at(of.link as usize)) * u128::from(of.share) / u128::from(WHOLE)
        };
        let trip = u128::from(latency) * 1000 + path.iter().map(transmission).sum::<u128>();
        // Half the window over the latency of the path.
        let window = match self.tcp_gamma {
            0 => u64::MAX,
            gamma => {
                let rate = u128::from(gamma) * 1000 * u128::from(capacity(8_000_000_000)) / (2 * u128::from(latency));
                u64::try_from(rate).unwrap_or(u64::MAX)
            }
        };
        (WEIGHT / trip, least.min(window))
    }

    /// The level of a link with this much left, for flows that use this sum per level; the sum is positive.
    fn level(&self, rest: u64, sum: u128) -> Level {
        match self.fairness {
            Fairness::RoundTrip => ((u128::from(rest) * u128::from(WHOLE)) as f64 * CAUTION / sum as f64).to_bits(),
            Fairness::MaxMin | Fairness::Split => {
                let level = u128::from(rest) * u128::from(WHOLE) / sum;
                u64::try_from(level).unwrap_or(u64::MAX)
            }
        }
    }

    /// \[2^-50 bytes/ns\] The rate of a flow at a level.
    fn rate(&self, level: Level, flow: &Flow) -> u64 {
        match self.fairness {
            Fairness::RoundTrip => (f64::from_bits(level) * flow.weight as f64) as u64,
            Fairness::MaxMin | Fairness::Split => level,
        }
    }

    /// The level at which a flow reaches its greatest rate; `None` if it has none.
    fn bound(&self, flow: &Flow) -> Option<Level> {
        (flow.bound < u64::MAX).then(|| match self.fairness {
            Fairness::RoundTrip => (flow.bound as f64 / flow.weight as f64).to_bits(),
            Fairness::MaxMin | Fairness::Split => flow.bound,
        })
    }
}

/// \[2^-50 bytes/ns\] What a flow of this rate takes of a link.
pub(crate) const fn taken(rate: u64, share: u64) -> u64 {
    (rate as u128 * share as u128).div_ceil(WHOLE as u128) as u64
}

/// The links, and the flows on each of them.
#[derive(Debug)]
pub(crate) struct Shares {
    law: Law,
    pub(crate) capacities: Arc<[u64]>,
    /// By link: its flows.
    pub(crate) flows: Vec<Vec<OnLink>>,
    /// Sum of the lengths of these lists.
    pub(crate) uses: usize,
    /// By link, while rates are computed: what is left.
    rest: Vec<u64>,
    /// By link, while rates are computed: what flows without a rate use per level.
    sums: Vec<u128>,
    /// Links whose level may be the least, with a level that is not above theirs.
    pub(crate) queue: BinaryHeap<Reverse<(Level, u32)>>,
    /// Number of fills.
    pub(crate) fills: u64,
    /// By slot: the share of the flow.
    pub(crate) of_flows: Vec<Share>,
    /// Links with flows, while rates are computed.
    touched: Vec<u32>,
    /// By link: the level at which it was picked, [`Level::MAX`] if it was not.
    pub(crate) picked: Vec<Level>,
    /// What flows have changed since the last computation.
    pub(crate) changes: Changes,
}

/// What has changed since rates were computed.
#[derive(Clone, Default, Debug)]
pub(crate) struct Changes {
    /// Flows that have entered.
    pub(crate) entered: Vec<u32>,
    /// Links of flows that have ended.
    pub(crate) links: Vec<u32>,
}

impl Shares {
    pub(crate) fn new(law: Law, capacities: Arc<[u64]>) -> Self {
        let links = capacities.len();
        Self {
            law,
            flows: vec![Vec::new(); links],
            uses: 0,
            rest: Vec::new(),
            sums: Vec::new(),
            queue: BinaryHeap::new(),
            fills: 0,
            of_flows: Vec::new(),
            touched: Vec::new(),
            picked: vec![Level::MAX; links],
            changes: Changes::default(),
            capacities,
        }
    }

    pub(crate) const fn law(&self) -> &Law {
        &self.law
    }

    /// Adds a flow to its links.
    pub(crate) fn enter(&mut self, slot: u32, flow: &mut Flow) {
        self.changes.entered.push(slot);
        self.uses += flow.uses.len();
        let others = if let [first, second] = &flow.uses[..] { [second.link, first.link] } else { [NO_LINK; 2] };
        for (index, of) in (0_u32..).zip(&mut flow.uses) {
            let flows = &mut self.flows[of.link as usize];
            of.place = flows.len() as u32;
            add(flows, OnLink { slot, index, other: others[(index & 1) as usize] });
        }
    }

    /// A flow has its rate from `link`.
    pub(crate) fn hold(&mut self, slot: u32, link: u32, flow: &Flow) {
        self.of_flows[slot as usize].bottleneck = link;
        if let [_, _] = &flow.uses[..] {
            for of in &flow.uses {
                self.flows[of.link as usize][of.place as usize].set_bottleneck(of.link == link);
            }
        }
    }

    /// Where a flow got its rate.
    pub(crate) fn key(&self, slot: u32) -> Key {
        match self.of_flows[slot as usize].bottleneck {
            NO_LINK => OPEN,
            link => (self.picked[link as usize], link),
        }
    }

    /// \[2^-50 bytes/ns\] The rate of a flow; without one, the rate before.
    pub(crate) fn rate(&self, slot: u32) -> u64 {
        match self.key(slot) {
            OPEN => self.of_flows[slot as usize].rate,
            (level, _) => level,
        }
    }

    /// Takes a flow off its links.
    pub(crate) fn leave(&mut self, slot: u32, all: &mut [Flow]) {
        self.uses -= all[slot as usize].uses.len();
        for index in 0..all[slot as usize].uses.len() {
            let Use { link, place, .. } = all[slot as usize].uses[index];
            self.changes.links.push(link);
            let flows = &mut self.flows[link as usize];
            flows.swap_remove(place as usize);
            if let Some(moved) = flows.get(place as usize) {
                all[moved.slot as usize].uses[moved.index()].place = place;
            }
        }
    }

    /// Gives all active flows their rates, anew. Calls `changed` for each whose rate is another one than before, with
    /// both.
    pub(crate) fn fill(&mut self, all: &mut [Flow], active: &[u32], mut changed: impl FnMut(u32, &mut Flow, [u64; 2])) {
        self.fills += 1;
        // Allocated here, since networks whose shares are repaired never call this.
        self.rest.resize(self.capacities.len(), 0);
        self.sums.resize(self.capacities.len(), 0);
        self.touched.clear();
        self.changes.entered.clear();
        for link in self.changes.links.drain(..) {
            self.picked[link as usize] = Level::MAX;
        }
        let mut bounds: Vec<(Level, u32)> = Vec::new();
        for &slot in active {
            let flow = &all[slot as usize];
            for of in &flow.uses {
                if self.sums[of.link as usize] == 0 {
                    self.rest[of.link as usize] = self.capacities[of.link as usize];
                    self.picked[of.link as usize] = Level::MAX;
                    self.touched.push(of.link);
                }
                self.sums[of.link as usize] += u128::from(of.share) * flow.weight;
            }
            bounds.extend(self.law.bound(flow).map(|level| (level, slot)));
        }
        if self.law.fairness == Fairness::Split {
            self.split(all, active, changed);
            return;
        }
        bounds.sort_unstable();
        let mut bounds = bounds.into_iter().peekable();
        self.queue.clear();
        for &link in &self.touched {
            let level = self.law.level(self.rest[link as usize], self.sums[link as usize]);
            self.queue.push(Reverse((level, link)));
        }
        let mut floor = 0;
        while let Some(Reverse((level, link))) = self.queue.pop() {
            let at = link as usize;
            if self.sums[at] == 0 {
                continue;
            }
            // Levels never fall; that of a link rises when flows of it get a rate elsewhere.
            let now = self.law.level(self.rest[at], self.sums[at]).max(floor);
            if now > level {
                self.queue.push(Reverse((now, link)));
                continue;
            }
            if let Some((_, slot)) = bounds.next_if(|&(bound, _)| bound < level) {
                let bound = all[slot as usize].bound;
                self.fix(slot, bound, all, &mut changed);
                self.queue.push(Reverse((level, link)));
                continue;
            }
            floor = level;
            self.picked[at] = level;
            for index in 0..self.flows[at].len() {
                let slot = self.flows[at][index].slot;
                let rate = self.law.rate(level, &all[slot as usize]).min(all[slot as usize].bound);
                self.fix(slot, rate, all, &mut changed);
            }
            // What rounding leaves of the sum is nothing.
            self.sums[at] = 0;
        }
    }

    /// Gives a flow its rate, unless it has one in this fill.
    fn fix(&mut self, slot: u32, rate: u64, all: &mut [Flow], changed: &mut impl FnMut(u32, &mut Flow, [u64; 2])) {
        let share = &mut self.of_flows[slot as usize];
        if std::mem::replace(&mut share.filled, self.fills) == self.fills {
            return;
        }
        let flow = &mut all[slot as usize];
        let before = std::mem::replace(&mut share.rate, rate);
        for of in &flow.uses {
            let at = of.link as usize;
            self.rest[at] = self.rest[at].saturating_sub(taken(rate, of.share));
            self.sums[at] -= u128::from(of.share) * flow.weight;
        }
        if before != rate {
            changed(slot, flow, [before, rate]);
        }
    }

    /// Divides every link evenly among its flows.
    fn split(&mut self, all: &mut [Flow], active: &[u32], mut changed: impl FnMut(u32, &mut Flow, [u64; 2])) {
        for &slot in active {
            let flow = &mut all[slot as usize];
            let of_link = |of: &Use| self.law.level(self.capacities[of.link as usize], self.sums[of.link as usize]);
            let rate = flow.uses.iter().map(of_link).min().unwrap_or(u64::MAX).min(flow.bound);
            let before = std::mem::replace(&mut self.of_flows[slot as usize].rate, rate);
            if before != rate {
                changed(slot, flow, [before, rate]);
            }
        }
        for &link in &self.touched {
            self.sums[link as usize] = 0;
        }
    }
}
