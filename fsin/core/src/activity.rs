//! What links and injection queues do over time: an observer of a run that keeps the load of every link and the fill of
//! every injection queue, interval by interval.
//!
//! A load that is high on average may hide links that are idle at times, and at other times keep packets waiting.
//!
//! # How the model departs from reality, and who could notice
//! A packet counts whole in the interval in which its header crosses a link, so a link may show a packet more or less
//! than it carried. Injection queues are sampled at the ends of intervals.

use crate::run::ENDED;
use crate::view::Occupancy;
use crate::watch::{Glimpse, Watch};

/// Maximum number of intervals: twice as long ones take their place from there on.
const MOST: usize = 256;

/// \[packets\] Length of the first intervals, as the time in which a link carries so many.
const FIRST: u64 = 16;

/// An interval of time.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Interval {
    /// \[cycles\] Its beginning and its end.
    begin: u64,
    end: u64,
    /// By link: packets whose header crossed it.
    packets: Vec<u32>,
    /// \[phits\] By node: sum of the fill of its injection queues over all samples.
    filled: Vec<u64>,
    samples: u64,
}

impl Interval {
    /// Adds the interval that follows.
    fn join(&mut self, next: &Self) {
        (self.end, self.samples) = (next.end, self.samples + next.samples);
        self.packets.iter_mut().zip(&next.packets).for_each(|(sum, more)| *sum += more);
        self.filled.iter_mut().zip(&next.filled).for_each(|(sum, more)| *sum += more);
    }
}

/// Shares of links and of nodes in an interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shares {
    /// \[cycles\] Its beginning.
    pub begin: u64,
    /// \[cycles\] Its end.
    pub end: u64,
    /// \[phits/cycle\] Mean load of all links.
    pub load: f64,
    /// Shares of the links that carry nothing, less than half, less than nine tenths of what they can, and the rest.
    pub links: [f64; 4],
    /// Mean fill of the injection queues, 0 to 1.
    pub fill: f64,
    /// Shares of the nodes whose injection queues are empty, less than half full, and the rest.
    pub nodes: [f64; 3],
}

/// The observer.
#[derive(Clone, Debug)]
pub struct Activity {
    /// Index of every link in [`Occupancy::crossed`].
    links: Vec<usize>,
    /// Number of nodes that inject; switches come after them and do not.
    endpoints: usize,
    /// \[phits\] Length of a packet.
    packet: u64,
    /// \[phits\] Room of the injection queues of a node.
    room: u64,
    /// \[cycles\] Length of the next interval.
    length: u64,
    /// Packets so far, as in [`Occupancy::crossed`].
    crossed: Vec<u64>,
    /// \[cycles\] End of the last interval.
    last: Option<u64>,
    intervals: Vec<Interval>,
    occupancy: Occupancy,
}

impl Activity {
    /// An observer of a network with `links` at these indices of node x ports + port, this number of nodes that inject,
    /// packets of this many phits, and room for `room` phits in the injection queues of a node.
    #[must_use]
    pub fn new(links: Vec<usize>, endpoints: usize, packet: u32, room: u32) -> Self {
        let packet = u64::from(packet.max(1));
        Self {
            links,
            endpoints,
            packet,
            room: room.max(1).into(),
            length: FIRST * packet,
            crossed: Vec::new(),
            last: None,
            intervals: Vec::new(),
            occupancy: Occupancy::default(),
        }
    }

    /// What links and nodes did in each interval. A last one shorter than half of the others is left out.
    #[must_use]
    pub fn shares(&self) -> Vec<Shares> {
        let is_whole = |interval: &&Interval| 2 * (interval.end - interval.begin) >= self.length;
        self.intervals.iter().filter(is_whole).map(|interval| self.of(interval)).collect()
    }

    fn of(&self, interval: &Interval) -> Shares {
        let cycles = (interval.end - interval.begin) as f64;
        let (mut links, mut nodes, mut phits, mut filled) = ([0usize; 4], [0usize; 3], 0, 0);
        for &packets in &interval.packets {
            let load = (u64::from(packets) * self.packet) as f64 / cycles;
            let band = [packets > 0, load >= 0.5, load >= 0.9].into_iter().filter(|&above| above).count();
            links[band] += 1;
            phits += u64::from(packets) * self.packet;
        }
        let room = self.room * interval.samples;
        for &fill in &interval.filled {
            nodes[usize::from(fill > 0) + usize::from(2 * fill >= room)] += 1;
            filled += fill;
        }
        let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
        Shares {
            begin: interval.begin,
            end: interval.end,
            load: phits as f64 / cycles / self.links.len().max(1) as f64,
            links: links.map(|count| share(count, interval.packets.len())),
            fill: filled as f64 / (room * interval.filled.len().max(1) as u64) as f64,
            nodes: nodes.map(|count| share(count, interval.filled.len())),
        }
    }

    /// Ends an interval, which began at `begin`.
    fn end_interval(&mut self, begin: u64, end: u64) {
        let Occupancy { injection, crossed, .. } = &self.occupancy;
        let at = |counts: &[u64], link: usize| counts.get(link).copied().unwrap_or(0);
        let packets =
            self.links.iter().map(|&link| at(crossed, link).saturating_sub(at(&self.crossed, link)) as u32).collect();
        let filled = injection.iter().take(self.endpoints).map(|&fill| fill.into()).collect();
        self.intervals.push(Interval { begin, end, packets, filled, samples: 1 });
        if self.intervals.len() >= MOST {
            self.length *= 2;
            self.intervals = std::mem::take(&mut self.intervals)
                .chunks(2)
                .map(|pair| {
                    let mut first = pair[0].clone();
                    pair[1..].iter().for_each(|next| first.join(next));
                    first
                })
                .collect();
        }
    }
}

impl Watch for Activity {
    fn look(&mut self, glimpse: Glimpse<'_>) -> u64 {
        let now = glimpse.progress.clock.0;
        let begin = *self.last.get_or_insert(now);
        let is_over = now >= begin + self.length || glimpse.progress.phase == ENDED && now > begin;
        if let Some(view) = glimpse.network.view.filter(|_| is_over || self.crossed.is_empty()) {
            view.occupancy(&mut self.occupancy);
            if is_over {
                self.end_interval(begin, now);
                self.last = Some(now);
            }
            self.crossed.clone_from(&self.occupancy.crossed);
        }
        (self.last.unwrap_or(now) + self.length).saturating_sub(now).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An observer after so many intervals of a network of two links, two nodes and a switch; `state(number)` is the
    /// packets of both links in the interval, and the fill of both nodes at its end.
    fn after(intervals: u64, state: impl Fn(u64) -> ([u64; 2], [u32; 2])) -> Activity {
        let mut activity = Activity::new(vec![0, 2], 2, 10, 40);
        let (mut now, mut crossed) = (0, [0, 7, 0]);
        activity.crossed = crossed.to_vec();
        for number in 0..intervals {
            let (packets, fill) = state(number);
            (crossed[0], crossed[2]) = (crossed[0] + packets[0], crossed[2] + packets[1]);
            activity.occupancy =
                Occupancy { injection: [&fill[..], &[0]].concat(), crossed: crossed.to_vec(), ..Occupancy::default() };
            let end = now + activity.length;
            activity.end_interval(now, end);
            activity.crossed = crossed.to_vec();
            now = end;
        }
        activity
    }

    #[test]
    fn links_and_nodes_are_counted_by_what_they_do() {
        let shares = after(2, |number| ([16, number * 9], [number as u32 * 30, 0])).shares();
        assert_eq!((shares[0].begin, shares[0].end, shares[1].end), (0, 160, 320));
        assert_eq!((shares[0].load, shares[0].links), (0.5, [0.5, 0.0, 0.0, 0.5]));
        assert_eq!((shares[0].fill, shares[0].nodes), (0.0, [1.0, 0.0, 0.0]));
        assert_eq!((shares[1].load, shares[1].links), (250.0 / 320.0, [0.0, 0.0, 0.5, 0.5]));
        assert_eq!((shares[1].fill, shares[1].nodes), (0.375, [0.5, 0.0, 0.5]));
    }

    #[test]
    fn many_intervals_become_fewer_longer_ones() {
        let activity = after(MOST as u64 + 1, |number| ([if number % 2 == 0 { 16 } else { 0 }, 0], [40, 0]));
        let shares = activity.shares();
        assert_eq!(shares.len(), MOST / 2 + 1);
        assert_eq!((shares[0].end, shares[0].links), (320, [0.5, 0.0, 0.5, 0.0]));
        assert_eq!((shares[0].fill, shares[0].nodes), (0.5, [0.5, 0.0, 0.5]));
        assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].begin));
    }
}
