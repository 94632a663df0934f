//! When flows end, kept by links.
//!
//! All flows that have their rate from the same link have the same rate. What each of them gets there over time is one
//! sum for all, the **service** of the link; a flow ends when the service reaches its target, which is the service when
//! the flow came to that link plus what was left of the flow then. A change of the link's level changes the rates of
//! all its flows and touches none of them. Sums are exact, so that ends are those that each flow would have by itself,
//! to the bit.
//!
//! Decision: docs/decisions/0205-flow-model.md.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::least::LeastTree;
use crate::params::{MILLION, Params};
use crate::share::{Flow, Key, Level, NO_LINK};

/// \[ps\] No flow ends so late.
pub(crate) const NEVER: u64 = u64::MAX;

/// Flows of the past that a link may keep in any case: most links of a large network have one flow or two from time to
/// time.
const SPARE: usize = 4;

/// A flow of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Waiting {
    /// Its target, upper half first: aligned as a `u128` this would take a third more.
    target: [u64; 2],
    slot: u32,
    /// Number of its change of links.
    change: u32,
}

const _: () = assert!(size_of::<Waiting>() == 24);

impl Waiting {
    const fn new(target: u128, slot: u32, change: u32) -> Self {
        Self { target: [(target >> 64) as u64, target as u64], slot, change }
    }

    const fn target(&self) -> u128 {
        (self.target[0] as u128) << 64 | self.target[1] as u128
    }

    /// True if the flow has not left the link since.
    fn is_there(&self, targets: &[Target]) -> bool {
        targets[self.slot as usize].change == self.change
    }
}

/// The grid of ends, and the part of a rate that counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// \[ps\] Distance of two possible ends.
    tick: u64,
    /// \[10^-6\] Of the rate.
    factor: u128,
}

impl Pace {
    pub(crate) fn new(params: &Params) -> Self {
        Self { tick: params.tick, factor: params.bandwidth_millionths.into() }
    }

    /// \[2^-50 bytes/ns\] What a rate gives to a flow.
    pub(crate) fn effective(self, rate: u64) -> u64 {
        (u128::from(rate) * self.factor / u128::from(MILLION)) as u64
    }

    /// \[ps\] The end of a flow of which this much was left at `since`, at an effective rate from then on; at `now` it
    /// is still under way.
    pub(crate) fn end(self, left: u128, speed: u64, since: u64, now: u64) -> u64 {
        if speed == 0 {
            return NEVER;
        }
        let speed = u128::from(speed);
        let span = (left + speed / 2) / speed;
        let end = u64::try_from(u128::from(since) + span).unwrap_or(NEVER);
        // The nearest multiple that is not in the past.
        ((end.saturating_add(self.tick / 2) / self.tick) * self.tick).max(now.div_ceil(self.tick) * self.tick)
    }
}

/// What a link gives to its flows.
#[derive(Default, Debug)]
struct Service {
    /// Level at which the link was picked last.
    level: Level,
    /// \[2^-50 bytes/ns\] Effective rate of its flows.
    speed: u64,
    /// \[ps\] When the rate last changed.
    since: u64,
    /// \[2^-50 bytes/ns x ps\] What each flow had got by then.
    served: u128,
    /// Its flows, and some that have left it.
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// Length of that list at which those that have left are taken off.
    room: usize,
    /// True if its head has to be found anew.
    is_stale: bool,
}

impl Service {
    /// \[2^-50 bytes/ns x ps\] The service at `now`.
    fn at(&self, now: u64) -> u128 {
        self.served + u128::from(self.speed) * u128::from(now - self.since)
    }

    /// \[ps\] The end of a flow with this target, which has not ended before `now`. It may have come to the link long
    /// after the rate last changed.
    fn end(&self, target: u128, pace: Pace, now: u64) -> u64 {
        pace.end(target.saturating_sub(self.served), self.speed, self.since, now)
    }
}

/// What a flow gets from the link of its rate.
#[derive(Clone, Copy, Default, Debug)]
struct Target {
    /// \[2^-50 bytes/ns x ps\] The service at which it ends.
    target: u128,
    /// Number of its changes of links, and of the flows in this slot before.
    change: u32,
}

/// No service.
const NONE: u32 = u32::MAX;

/// The services of all links, and the ends that follow.
#[derive(Debug)]
pub(crate) struct Services {
    pace: Pace,
    /// By link: the index of its service; [`NONE`] until it is the bottleneck of a flow, which most links of a large
    /// network never are.
    numbers: Vec<u32>,
    services: Vec<Service>,
    /// By slot.
    targets: Vec<Target>,
    /// \[ps\] By link: its first end, or an earlier time.
    heads: LeastTree,
    /// Links whose head has to be found anew.
    stale: Vec<u32>,
}

impl Services {
    pub(crate) fn new(params: &Params, links: usize) -> Self {
        Self {
            pace: Pace::new(params),
            numbers: vec![NONE; links],
            services: Vec::new(),
            targets: Vec::new(),
            heads: LeastTree::new(links),
            stale: Vec::new(),
        }
    }

    /// The service of a link.
    #[inline]
    fn of(&mut self, link: usize) -> &mut Service {
        let number = &mut self.numbers[link];
        if *number == NONE {
            *number = self.services.len() as u32;
            self.services.push(Service::default());
        }
        &mut self.services[*number as usize]
    }

    /// A link has been picked at a level at `now`.
    #[inline]
    pub(crate) fn pick(&mut self, (level, link): Key, now: u64) {
        let pace = self.pace;
        let service = self.of(link as usize);
        if service.level == level {
            return;
        }
        service.served = service.at(now);
        (service.since, service.level, service.speed) = (now, level, pace.effective(level));
        self.mark(link);
    }

    /// The head of a link has to be found anew.
    fn mark(&mut self, link: u32) {
        if !std::mem::replace(&mut self.of(link as usize).is_stale, true) {
            self.stale.push(link);
        }
    }

    /// A flow has its rate from `link` from `now` on; before from `before`, or from [`NO_LINK`] since it entered.
    pub(crate) fn turn(&mut self, slot: u32, flow: &Flow, (before, link): (u32, u32), now: u64) {
        let left = flow.left;
        if self.targets.len() <= slot as usize {
            self.targets.resize(slot as usize + 1, Target::default());
        }
        let Target { target, change } = self.targets[slot as usize];
        let left = match before {
            NO_LINK => left,
            link => target.saturating_sub(self.of(link as usize).at(now)),
        };
        let (target, change) = (self.of(link as usize).at(now) + left, change.wrapping_add(1));
        self.targets[slot as usize] = Target { target, change };
        let service = &mut self.services[self.numbers[link as usize] as usize];
        if service.waiting.len() >= service.room {
            let targets = &self.targets;
            service.waiting.retain(|Reverse(waiting)| waiting.is_there(targets));
            service.room = 2 * service.waiting.len() + SPARE;
            // Never more than that room, which is less again when the link has fewer flows.
            service.waiting.shrink_to(service.room);
            service.waiting.reserve_exact(service.room - service.waiting.len());
        }
        service.waiting.push(Reverse(Waiting::new(target, slot, change)));
        self.mark(link);
    }

    /// Takes a flow off its link, and returns \[2^-50 bytes/ns x ps\] what is left of it.
    pub(crate) fn take_off(&mut self, slot: u32, link: u32, now: u64) -> u128 {
        let got = self.of(link as usize).at(now);
        let left = self.targets[slot as usize].target.saturating_sub(got);
        self.leave(slot);
        left
    }

    /// A flow has ended.
    pub(crate) fn leave(&mut self, slot: u32) {
        let change = &mut self.targets[slot as usize].change;
        *change = change.wrapping_add(1);
    }

    /// Finds the heads of links anew that have changed at `now`.
    pub(crate) fn settle(&mut self, now: u64) {
        while let Some(link) = self.stale.pop() {
            self.of(link as usize).is_stale = false;
            self.find_head(link, now);
        }
    }

    /// Finds the first end of a link from `now` on.
    fn find_head(&mut self, link: u32, now: u64) {
        self.of(link as usize);
        let (targets, service) = (&self.targets, &mut self.services[self.numbers[link as usize] as usize]);
        let mut end = NEVER;
        while let Some(Reverse(waiting)) = service.waiting.peek() {
            if waiting.is_there(targets) {
                end = service.end(waiting.target(), self.pace, now);
                break;
            }
            service.waiting.pop();
        }
        self.heads.set(link as usize, end);
    }

    /// \[ps\] The first end from `now` on; `None` if there is none.
    pub(crate) fn next_end(&mut self, now: u64) -> Option<u64> {
        loop {
            let end = self.heads.least();
            if end == NEVER {
                return None;
            }
            // The flow of the first end may have left the link.
            let link = self.heads.first();
            let is_there = |Reverse(waiting): &Reverse<Waiting>| waiting.is_there(&self.targets);
            if self.services[self.numbers[link] as usize].waiting.peek().is_some_and(is_there) {
                return Some(end);
            }
            self.find_head(link as u32, now);
        }
    }

    /// Takes the flows that end at `now`, which is not before the first end, in the order of sources and messages:
    /// source, number and slot, which `of` tells by slot.
    pub(crate) fn take_ended(&mut self, now: u64, of: impl Fn(u32) -> (u32, u64, u32)) -> Vec<(u32, u64, u32)> {
        let mut ended = Vec::new();
        while self.next_end(now).is_some_and(|end| end <= now) {
            let (link, pace) = (self.heads.first(), self.pace);
            loop {
                let service = &mut self.services[self.numbers[link] as usize];
                let Some(&Reverse(waiting)) = service.waiting.peek() else { break };
                let is_there = waiting.is_there(&self.targets);
                if is_there && service.end(waiting.target(), pace, now) > now {
                    break;
                }
                service.waiting.pop();
                if is_there {
                    ended.push(of(waiting.slot));
                    self.leave(waiting.slot);
                }
            }
            self.find_head(link as u32, now);
        }
        ended.sort_unstable();
        ended
    }
}
