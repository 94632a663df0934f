//! Clusters of SimGrid's platforms: hosts at one router, tori, fat trees and dragonflies.
//!
//! Which router links to which is SimGrid's: on tori each host links to the next one of each dimension, the first
//! dimension fastest; fat trees are parallel ports generalized fat trees (Zahavi, Fat-tree routing and node ordering
//! providing contention free traffic for MPI global collectives, JPDC 72(11), 2012); dragonflies are those of the Cray
//! Cascade, where router n of each group links to group n, and links that are said to be several are one of their
//! joint bandwidth.

use trgen::catalog::{ErrorKind, SpecError};

use super::{Cable, Element, Platform, Policy};

/// Maximum number of hosts and links of a platform, and of either of a cluster: more than any valid network has.
pub(super) const MOST: usize = 1 << 20;

/// What a cluster's element says.
pub(super) struct Cluster {
    pub(super) id: String,
    /// Its hosts, by their numbers among the points.
    pub(super) hosts: Vec<usize>,
    /// \[b/s\], \[ps\], of each link.
    pub(super) rate: u64,
    pub(super) delay: u64,
    pub(super) policy: Policy,
    /// \[bytes\] Offset of the element.
    pub(super) at: usize,
}

/// The numbers of `0-99,120,130-139`; `None` for another text, and for more than [`MOST`].
pub(super) fn radical(text: &str) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?);
        if first > last || last - first >= (MOST - numbers.len()) as u64 {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// The product of sizes, if it is at most [`MOST`].
fn product(sizes: impl IntoIterator<Item = usize>) -> Option<usize> {
    sizes.into_iter().try_fold(1_usize, |product, size| product.checked_mul(size).filter(|&product| product <= MOST))
}

/// Lists of numbers, `2;4,4;1,2;1,2`; each 1 or more.
pub(super) fn lists(text: &str) -> Option<Vec<Vec<usize>>> {
    let number = |word: &str| word.trim().parse().ok().filter(|&number: &usize| (1..=MOST).contains(&number));
    text.split(';').map(|list| list.split(',').map(number).collect()).collect()
}

impl Cluster {
    /// Adds the links of a topology that is not flat.
    pub(super) fn wire(&self, element: &Element<'_, '_>, platform: &mut Platform<'_>) -> Result<(), SpecError> {
        let (kind, words) = (element.get("topology").unwrap_or("FLAT"), element.get("topo_parameters").unwrap_or(""));
        let form = match kind {
            "TORUS" => "write the sizes of its dimensions: topo_parameters=\"3,2,2\"",
            "FAT_TREE" => {
                "write levels, links down, links up and parallel links of each level: topo_parameters=\"2;4,4;1,2;1,2\""
            }
            "DRAGONFLY" => {
                "write groups, chassis and routers, each with links between them, and hosts of a router: \
                 topo_parameters=\"3,4;4,3;5,1;2\""
            }
            other => {
                let near = trgen::catalog::suggestion(other, &["FLAT", "TORUS", "FAT_TREE", "DRAGONFLY"]).to_string();
                return Err(element.refusal(ErrorKind::UnknownName, format!("topology `{other}`"), &near));
            }
        };
        let parameters = lists(words);
        let wired = match (kind, parameters.as_deref()) {
            ("TORUS", Some([sizes])) => self.torus(sizes, platform),
            ("FAT_TREE", Some([levels, down, up, parallel])) => {
                let has_all = levels.len() == 1 && [down, up, parallel].iter().all(|list| list.len() == levels[0]);
                if has_all { self.fat_tree(down, up, parallel, platform) } else { None }
            }
            ("DRAGONFLY", Some([groups, chassis, routers, hosts])) => match (&groups[..], &chassis[..], &routers[..]) {
                ([g, blue], [c, black], [r, green]) if hosts.len() == 1 => {
                    self.dragonfly([*g, *c, *r], [*blue, *black, *green], hosts[0], platform)
                }
                _ => None,
            },
            _ => None,
        };
        let wrong = format!("topo_parameters `{words}` of {} hosts", self.hosts.len());
        wired.ok_or_else(|| element.refusal(ErrorKind::Malformed, wrong, form))
    }

    /// A link between two points, of so many times the cluster's bandwidth.
    fn cable(&self, ends: [usize; 2], times: usize) -> Option<Cable> {
        let rate = self.rate.checked_mul(times as u64)?;
        Some(Cable { ends, rate: [rate; 2], delay: [self.delay; 2], policy: self.policy, count: 1, at: self.at })
    }

    /// A torus; `None` if the sizes are not those of its hosts.
    fn torus(&self, sizes: &[usize], platform: &mut Platform<'_>) -> Option<()> {
        product(sizes.iter().copied()).filter(|&nodes| nodes == self.hosts.len() && sizes.len() <= 16)?;
        let mut stride = 1;
        for &size in sizes {
            for (node, &host) in self.hosts.iter().enumerate().filter(|_| size > 1) {
                let own = node / stride % size;
                let next = if own + 1 == size { node - own * stride } else { node + stride };
                platform.cables.push(self.cable([host, self.hosts[next]], 1)?);
            }
            stride *= size;
        }
        Some(())
    }

    /// A fat tree: a switch of level l has digits of its subtree above l, and digits of its place among the tops of
    /// that subtree from l down. Those of level l and l - 1 that differ in digit l alone are linked.
    fn fat_tree(&self, down: &[usize], up: &[usize], parallel: &[usize], platform: &mut Platform<'_>) -> Option<()> {
        product(down.iter().copied()).filter(|&hosts| hosts == self.hosts.len())?;
        let mut below = self.hosts.clone();
        // Of a switch below: its number is (its digits above the level) x tops + (those below).
        let (mut tops, mut links) = (1_usize, 0_usize);
        for (level, ((&children, &parents), &count)) in down.iter().zip(up).zip(parallel).enumerate() {
            let above = product([below.len() / children, parents])?;
            links = links.checked_add(product([below.len(), parents])?).filter(|&links| links <= MOST)?;
            let switches: Vec<usize> = (0..above)
                .map(|number| platform.invent(format!("{}.{}.{number}", self.id, level + 1), self.at))
                .collect();
            for (number, &child) in below.iter().enumerate() {
                let (subtree, top) = (number / tops / children, number % tops);
                for parent in 0..parents {
                    let switch = switches[(subtree * parents + parent) * tops + top];
                    platform.cables.push(Cable { count, ..self.cable([child, switch], 1)? });
                }
            }
            (below, tops) = (switches, tops.checked_mul(parents)?);
        }
        Some(())
    }

    /// A dragonfly of `[groups, chassis, routers]`, with so many links between groups, chassis and routers.
    fn dragonfly(
        &self,
        [groups, chassis, blades]: [usize; 3],
        [blue, black, green]: [usize; 3],
        hosts: usize,
        platform: &mut Platform<'_>,
    ) -> Option<()> {
        let of_group = product([chassis, blades])?;
        product([groups, of_group, hosts]).filter(|&hosts| hosts == self.hosts.len())?;
        let links = product([groups, of_group, chassis + blades])?;
        // Router n of a group links to group n.
        (groups <= of_group.max(1) && links <= MOST && groups * groups <= MOST).then_some(())?;
        let routers: Vec<usize> = (0..groups * of_group)
            .map(|number| {
                let (group, blade) = (number / of_group, number % of_group);
                let name = format!("{}.{group}.{}.{}", self.id, blade / blades, blade % blades);
                platform.invent(name, self.at)
            })
            .collect();
        for (number, &host) in self.hosts.iter().enumerate() {
            platform.cables.push(self.cable([host, routers[number / hosts]], 1)?);
        }
        for first in (0..groups).map(|group| group * of_group) {
            for (one, other) in (0..of_group).flat_map(|one| (one + 1..of_group).map(move |other| (one, other))) {
                let times = match (one / blades == other / blades, one % blades == other % blades) {
                    (true, _) => green,
                    (_, true) => black,
                    _ => continue,
                };
                platform.cables.push(self.cable([routers[first + one], routers[first + other]], times)?);
            }
        }
        for (one, other) in (0..groups).flat_map(|one| (one + 1..groups).map(move |other| (one, other))) {
            let ends = [one * of_group + other, other * of_group + one].map(|router| routers[router]);
            platform.cables.push(self.cable(ends, blue)?);
        }
        Some(())
    }
}
