//! What the links of each class carry over time: an observer of a run that counts, class by class.
//!
//! # How the model departs from reality, and who could notice
//! A packet counts whole in the interval in which its header crosses a link.

use std::sync::Arc;

use crate::run::ENDED;
use crate::topology::Topology;
use crate::view::Occupancy;
use crate::watch::{Glimpse, Watch};

/// Maximum number of intervals: twice as long ones take their place from there on.
const MOST: usize = 256;

/// \[cycles\] Length of the first intervals.
const FIRST: u64 = 64;

/// The observer.
#[derive(Clone, Debug)]
pub struct ClassCounts {
    /// Names of the classes.
    classes: Vec<String>,
    /// By place of a port among the outputs of the topology: the class of its link.
    class_of: Vec<Option<u16>>,
    /// \[cycles\] Length of the next interval.
    length: u64,
    /// Ends of intervals \[cycles\], each with the packets by class until then.
    samples: Vec<(u64, Vec<u64>)>,
    occupancy: Occupancy,
}

impl ClassCounts {
    /// An observer of a network of this topology.
    #[must_use]
    pub fn new(topology: &Arc<dyn Topology>) -> Self {
        let mut classes = topology.link_classes();
        if classes.is_empty() {
            classes.push("all links".to_owned());
        }
        let last = classes.len() - 1;
        let class = |(node, port)| {
            topology.neighbour(node, port)?;
            u16::try_from(topology.link_class(node, port).min(last)).ok()
        };
        let class_of = topology.outputs().all().map(class).collect();
        Self { classes, class_of, length: FIRST, samples: Vec::new(), occupancy: Occupancy::default() }
    }

    /// The classes by name, each with its intervals: end \[cycles\], and packets until then. The first interval begins
    /// and ends when the observation begins. Empty if the network shows nothing.
    #[must_use]
    pub fn counts(&self) -> Vec<(&str, Vec<(u64, u64)>)> {
        let of = |class: usize| self.samples.iter().map(|(end, packets)| (*end, packets[class])).collect();
        let shown = if self.samples.is_empty() { &[][..] } else { &self.classes[..] };
        shown.iter().enumerate().map(|(class, name)| (&**name, of(class))).collect()
    }

    /// Adds a sample at a time \[cycles\].
    fn sample(&mut self, now: u64) {
        let mut packets = vec![0; self.classes.len()];
        for (&crossed, class) in self.occupancy.crossed.iter().zip(&self.class_of) {
            if let &Some(class) = class {
                packets[usize::from(class)] += crossed;
            }
        }
        self.samples.push((now, packets));
        if self.samples.len() > MOST {
            self.length *= 2;
            // The first remains, and each second one after it.
            let mut number = 0;
            self.samples.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }
}

impl Watch for ClassCounts {
    fn look(&mut self, glimpse: Glimpse<'_>) -> u64 {
        let Some(view) = glimpse.network.view else { return u64::MAX };
        let now = glimpse.progress.clock.0;
        let last = self.samples.last().map(|sample| sample.0);
        let is_over = match last {
            None => true,
            Some(last) => now >= last + self.length || glimpse.progress.phase == ENDED && now > last,
        };
        if is_over {
            view.occupancy(&mut self.occupancy);
            self.sample(now);
        }
        let last = self.samples.last().map_or(now, |sample| sample.0);
        (last + self.length).saturating_sub(now).max(1)
    }
}

/// Two observers of one run.
pub struct Both<'a>(pub &'a mut dyn Watch, pub &'a mut dyn Watch);

impl Watch for Both<'_> {
    fn look(&mut self, glimpse: Glimpse<'_>) -> u64 {
        self.0.look(glimpse).min(self.1.look(glimpse))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_intervals_become_fewer_longer_ones_and_nothing_is_lost() {
        let mut counts = ClassCounts {
            classes: vec!["up".to_owned(), "out".to_owned()],
            class_of: vec![Some(0), None, Some(1), Some(0)],
            length: FIRST,
            samples: Vec::new(),
            occupancy: Occupancy::default(),
        };
        let mut now = 1;
        for number in 0..=MOST as u64 {
            counts.occupancy.crossed = vec![number, 99, 2 * number, number];
            counts.sample(now);
            now += counts.length;
        }
        let (end, all) = (now - counts.length, counts.counts());
        assert_eq!(counts.length, 2 * FIRST);
        assert_eq!(all[0].1.len(), MOST / 2 + 1);
        assert_eq!(all[0].1[..2], [(1, 0), (1 + 2 * FIRST, 4)]);
        assert_eq!(all[1].0, "out");
        assert_eq!(all[1].1.last().map(|last| last.1), Some(2 * MOST as u64));
        assert!(all[1].1.last().is_some_and(|last| last.0 <= end));
    }
}
