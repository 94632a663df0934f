//! The lengths of the fullest queues of ports over time: an observer of a run, its picture and its table.
//!
//! A mean hides when a queue was long, and a maximum hides for how long. The ports with the longest queues are shown.
//!
//! # How the model departs from reality, and who could notice
//! Queues are sampled, at most 512 times in a run: a peak between two samples is not seen. The greatest length of each
//! queue is a figure of the result.

use fsin_core::topology::Outputs;
use fsin_core::view::Occupancy;
use fsin_core::watch::{Glimpse, Watch};

use crate::svg::{Anchor, BLACK, COLOURS, Ink, Svg};

/// Maximum number of samples; beyond it, every second sample is dropped and the interval doubled.
const MOST: usize = 512;

/// \[cycles\] Length of the first intervals.
const FIRST: u64 = 16;

/// Number of ports that are shown.
const SHOWN: usize = 6;

/// The observer.
#[derive(Clone, Debug)]
pub struct Queues {
    /// The ports of all nodes in one row.
    outputs: Outputs,
    /// \[cycles\] Time between two samples.
    length: u64,
    /// \[cycles\] The time of each sample, and \[packets\] the length of each queue, by node and port.
    samples: Vec<(u64, Vec<u32>)>,
    occupancy: Occupancy,
}

/// A port with the length of its queue at each sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortQueue {
    /// Number of its node.
    pub node: usize,
    /// Number of the port there.
    pub port: usize,
    /// \[packets\] By sample: length of the queue.
    pub lengths: Vec<u32>,
}

impl Queues {
    /// An observer of a network with these ports.
    #[must_use]
    pub fn new(outputs: Outputs) -> Self {
        Self { outputs, length: FIRST, samples: Vec::new(), occupancy: Occupancy::default() }
    }

    /// Keeps a sample.
    fn keep(&mut self, now: u64, lengths: Vec<u32>) {
        self.samples.push((now, lengths));
        if self.samples.len() > MOST {
            self.length *= 2;
            let mut number = 0;
            self.samples.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }

    /// \[cycles\] The times of the samples, and the ports with the longest queues in any of them, at most six, the
    /// longest first. Ports at which nothing waited are left out.
    #[must_use]
    pub fn fullest(&self) -> (Vec<u64>, Vec<PortQueue>) {
        let count = self.samples.iter().map(|(_, lengths)| lengths.len()).max().unwrap_or(0);
        let at = |lengths: &[u32], index: usize| lengths.get(index).copied().unwrap_or(0);
        let sum = |index: usize| self.samples.iter().map(|(_, lengths)| u64::from(at(lengths, index))).sum::<u64>();
        let most = |index: usize| self.samples.iter().map(|(_, lengths)| at(lengths, index)).max().unwrap_or(0);
        let mut ranked: Vec<(u32, u64, usize)> =
            (0..count).map(|index| (most(index), sum(index), index)).filter(|&(most, ..)| most > 0).collect();
        ranked.sort_by_key(|&(most, sum, index)| (std::cmp::Reverse((most, sum)), index));
        let queue = |&(_, _, index): &(u32, u64, usize)| {
            let (node, port) = self.outputs.end(index);
            let lengths = self.samples.iter().map(|(_, lengths)| at(lengths, index)).collect();
            PortQueue { node: node.index(), port: port.index(), lengths }
        };
        let times = self.samples.iter().map(|&(time, _)| time).collect();
        (times, ranked.iter().take(SHOWN).map(queue).collect())
    }
}

impl Watch for Queues {
    fn look(&mut self, glimpse: Glimpse<'_>) -> u64 {
        let now = glimpse.progress.clock.0;
        let last = self.samples.last().map(|&(time, _)| time);
        if last.is_none_or(|last| now >= last + self.length)
            && let Some(view) = glimpse.network.view
        {
            view.occupancy(&mut self.occupancy);
            let lengths = self.occupancy.transit.clone();
            self.keep(now, lengths);
        }
        let last = self.samples.last().map_or(now, |&(time, _)| time);
        (last + self.length).saturating_sub(now).max(1)
    }
}

/// The lengths as lines of CSV: a line for each sample, a column for each port. `time` names the column of times.
#[must_use]
pub fn queues_csv(queues: &Queues, time: &str) -> String {
    let (times, fullest) = queues.fullest();
    let mut text = time.to_owned();
    fullest.iter().for_each(|queue| text.push_str(&format!(",node_{}_port_{}", queue.node, queue.port)));
    text.push('\n');
    for (sample, time) in times.iter().enumerate() {
        text.push_str(&time.to_string());
        fullest.iter().for_each(|queue| text.push_str(&format!(",{}", queue.lengths[sample])));
        text.push('\n');
    }
    text
}

/// \[units\] Edges of the panel.
const LEFT: i32 = 76;
const TOP: i32 = 96;
const WIDTH: i32 = 620;
const HEIGHT: i32 = 260;

/// \[points\] Size of letters.
const LETTERS: f64 = 14.0;

/// The lengths over time, a line for each port. `unit` is the name of a time of `per_unit` cycles, and `packets` the
/// name of the items that wait.
#[must_use]
pub fn queues_svg(title: &str, queues: &Queues, (unit, per_unit): (&str, f64), packets: &str) -> String {
    let (times, fullest) = queues.fullest();
    let mut svg = Svg::new(LEFT + WIDTH + 40, TOP + HEIGHT + 64);
    svg.text(title, (LEFT, 16), LETTERS, Anchor::Left);
    let (first, last) = (times.first().copied().unwrap_or(0), times.last().copied().unwrap_or(1));
    let most = fullest.iter().flat_map(|queue| &queue.lengths).max().copied().unwrap_or(0).max(1);
    let top = round_up(most);
    let x = |time: u64| {
        LEFT + ((time - first) as f64 / last.saturating_sub(first).max(1) as f64 * f64::from(WIDTH)).round() as i32
    };
    let bottom = TOP + HEIGHT;
    let y = |length: f64| bottom - (length / f64::from(top) * f64::from(HEIGHT)).round() as i32;
    for quarter in 0..=4u32 {
        let length = f64::from(top) * f64::from(quarter) / 4.0;
        svg.line(&[(LEFT, y(length)), (LEFT + WIDTH, y(length))], crate::plot::GRID, 1);
        svg.text(&crate::plot::short(length), (LEFT - 6, y(length)), LETTERS, Anchor::Right);
        let time = first + (last - first.min(last)) / 4 * u64::from(quarter);
        let shown = crate::plot::short((time as f64 / per_unit * 1_000.0).round() / 1_000.0);
        svg.text(&shown, (x(time), bottom + 6), LETTERS, Anchor::Top);
    }
    for (number, queue) in fullest.iter().enumerate().rev() {
        let mut places = Vec::new();
        for (&time, &length) in times.iter().zip(&queue.lengths) {
            let at = (x(time), y(f64::from(length)));
            // Drawn as steps: a length lasts until the next sample.
            if let Some(&(_, before)) = places.last().filter(|&&(_, before)| before != at.1) {
                places.push((at.0, before));
            }
            places.push(at);
        }
        svg.line(&places, COLOURS[number % COLOURS.len()], 2);
    }
    svg.rectangle((LEFT, TOP), (LEFT + WIDTH, bottom), Ink::Edge(BLACK, 1));
    svg.text(&format!("Time ({unit})"), (LEFT + WIDTH / 2, bottom + 30), LETTERS, Anchor::Top);
    svg.text(&format!("Waiting ({packets})"), (14, TOP + HEIGHT / 2), LETTERS, Anchor::Upright);
    for (number, queue) in fullest.iter().enumerate() {
        let (column, line) = (number as i32 % 3, number as i32 / 3);
        let (left, middle) = (LEFT + column * 210, 46 + line * 24);
        svg.line(&[(left, middle), (left + 24, middle)], COLOURS[number % COLOURS.len()], 3);
        svg.text(&format!("node {}, port {}", queue.node, queue.port), (left + 32, middle), LETTERS, Anchor::Left);
    }
    svg.finish()
}

/// The least of 4, 8, 12, 20, 40, 60, 80, 120, 200, ... that is not below a number: quarters of it are round.
fn round_up(number: u32) -> u32 {
    let mut tens = 1u32;
    loop {
        for step in [4, 8, 12, 20] {
            let bound = tens.saturating_mul(step);
            if bound >= number {
                return bound;
            }
        }
        tens = tens.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observer() -> Queues {
        let mut queues = Queues::new(Outputs::alike(16, 2));
        for number in 0..40u32 {
            queues.keep(u64::from(number) * 16, vec![0, number, 0, 40 - number, 7, 0]);
        }
        queues
    }

    #[test]
    fn the_fullest_ports_come_first() {
        let (times, fullest) = observer().fullest();
        assert_eq!((times.len(), times[39]), (40, 624));
        let ports: Vec<(usize, usize)> = fullest.iter().map(|queue| (queue.node, queue.port)).collect();
        assert_eq!(ports, [(1, 1), (0, 1), (2, 0)], "nothing waited at the others");
        let csv = queues_csv(&observer(), "cycle");
        assert_eq!(csv.lines().next(), Some("cycle,node_1_port_1,node_0_port_1,node_2_port_0"));
        assert_eq!(csv.lines().nth(3), Some("32,38,2,7"));
    }

    #[test]
    fn a_long_run_has_fewer_samples_in_longer_intervals() {
        let mut queues = Queues::new(Outputs::alike(16, 1));
        (0..=MOST as u64).for_each(|number| queues.keep(number * FIRST, vec![number as u32]));
        assert_eq!((queues.length, queues.samples.len()), (2 * FIRST, MOST / 2 + 1));
        assert!(queues.samples.windows(2).all(|pair| pair[1].0 - pair[0].0 == 2 * FIRST));
    }

    #[test]
    fn the_picture_has_a_line_for_each_port() {
        let svg = queues_svg("four to one", &observer(), ("us", 1e3), "frames");
        assert_eq!(svg.matches("<polyline").count(), 5 + 3 + 3, "{svg}");
        assert!(
            svg.contains("node 1, port 1") && svg.contains(">40</text>") && svg.contains("Waiting (frames)"),
            "{svg}"
        );
        assert_eq!(crate::illegible(&svg).unwrap(), []);
        assert!(queues_svg("none", &Queues::new(Outputs::alike(16, 1)), ("cycles", 1.0), "packets").contains("</svg>"));
        assert_eq!([1, 5, 13, 41, 1_000_000_000].map(round_up), [4, 8, 20, 80, 1_200_000_000]);
    }
}
