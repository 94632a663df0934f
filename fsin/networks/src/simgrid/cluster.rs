//! Clusters of SimGrid's platforms: hosts at one router, tori, fat trees and dragonflies.
//!
//! Which router links to which is SimGrid's: on tori each host links to the next one of each dimension, the first
//! dimension fastest; fat trees are parallel ports generalized fat trees (Zahavi, Fat-tree routing and node ordering
//! providing contention free traffic for MPI global collectives, JPDC 72(11), 2012); dragonflies are those of the Cray
//! Cascade, where router n of each group links to group n, and links that are said to be several are one of their
//! joint bandwidth.
//!
//! Decision: docs/decisions/0530-ranges-are-counted-before-they-are-made.md.

use trgen::catalog::{ErrorKind, SpecError};

use super::{Cable, Element, Platform, Policy};
use fsin_core::topology::graph::short;
use fsin_core::words::counted;

/// Maximum number of links of a platform, and of the links and switches of a cluster: more than any valid network has.
pub(super) const MOST: usize = 1 << 20;

/// Maximum number of hosts of a platform. Ranges name many in a few letters, and each takes memory.
pub(super) const MOST_HOSTS: usize = 1 << 17;
/// Maximum number of parallel links from a switch of a fat tree to one of its parents.
const MOST_PARALLEL: usize = 255;

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

/// The numbers of `0-99,120,130-139`, of which there is a text alone until they are taken one by one.
pub(super) struct Radical<'t> {
    text: &'t str,
    /// How many there are.
    pub(super) count: usize,
}

/// The first and last number of a range.
fn range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range: (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (range.0 <= range.1).then_some(range)
}

impl<'t> Radical<'t> {
    /// Reads a text; `None` if it is no list of numbers and ranges. The count stops at [`MOST`].
    fn new(text: &'t str) -> Option<Self> {
        let count = text.split(',').try_fold(0_u64, |sum, part| {
            let (first, last) = range(part)?;
            Some(sum.saturating_add(last - first).saturating_add(1))
        })?;
        Some(Self { text, count: usize::try_from(count).unwrap_or(MOST).min(MOST) })
    }

    /// Each number.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> + use<'t> {
        self.text.split(',').filter_map(range).flat_map(|(first, last)| first..=last)
    }
}

impl<'d> Element<'d> {
    /// The numbers of its hosts, beside `known` hosts of the platform.
    pub(super) fn radical(&self, known: usize) -> Result<Radical<'d>, SpecError> {
        let text = self.need("radical")?;
        let radical = Radical::new(text).ok_or_else(|| {
            let what = format!("radical `{}` is no list of numbers", short(text));
            self.refusal(ErrorKind::Malformed, what, "write numbers and ranges of them, from the lower one up: 0-63,80")
        })?;
        if known + radical.count > MOST_HOSTS {
            let what = format!("more than {MOST_HOSTS} hosts of a platform with radical `{}`", short(text));
            return Err(self.refusal(ErrorKind::TooLarge, what, "write a platform of fewer hosts"));
        }
        Ok(radical)
    }
}

/// The product of sizes, if it is at most [`MOST`].
fn product(sizes: impl IntoIterator<Item = usize>) -> Option<usize> {
    sizes.into_iter().try_fold(1_usize, |product, size| product.checked_mul(size).filter(|&product| product <= MOST))
}

/// Lists of numbers, `2;4,4;1,2;1,2`; each 1 or more.
fn lists(text: &str) -> Option<Vec<Vec<usize>>> {
    let number = |word: &str| word.trim().parse().ok().filter(|&number: &usize| (1..=MOST).contains(&number));
    text.split(';').map(|list| list.split(',').map(number).collect()).collect()
}

/// The shape of a cluster, which has been compared with its hosts and with what can be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// Hosts at a router.
    Flat,
    /// Sizes of dimensions.
    Torus(Vec<usize>),
    /// By level: links down, up, and parallel ones.
    FatTree { down: Vec<usize>, up: Vec<usize>, parallel: Vec<usize> },
    /// `[groups, chassis, routers]`, links between two of each, and hosts of a router.
    Dragonfly { sizes: [usize; 3], links: [usize; 3], hosts: usize },
}

impl Form {
    /// The shape that an element of so many hosts states, before any of them is made.
    pub(super) fn of(element: &Element<'_>, hosts: usize) -> Result<Self, SpecError> {
        let (kind, words) = (element.get("topology").unwrap_or("FLAT"), element.get("topo_parameters").unwrap_or(""));
        let form = match kind {
            "FLAT" => return Ok(Self::Flat),
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
        let read = lists(words).and_then(|lists| match (kind, &lists[..]) {
            ("TORUS", [sizes]) => Some(Self::Torus(sizes.clone())),
            ("FAT_TREE", [levels, down, up, parallel]) => {
                let has_all = levels.len() == 1 && [down, up, parallel].iter().all(|list| list.len() == levels[0]);
                let form = Self::FatTree { down: down.clone(), up: up.clone(), parallel: parallel.clone() };
                has_all.then_some(form)
            }
            ("DRAGONFLY", [groups, chassis, routers, hosts]) => match (&groups[..], &chassis[..], &routers[..]) {
                (&[g, blue], &[c, black], &[r, green]) if hosts.len() == 1 => {
                    Some(Self::Dragonfly { sizes: [g, c, r], links: [blue, black, green], hosts: hosts[0] })
                }
                _ => None,
            },
            _ => None,
        });
        let wrong = || {
            let what = format!("topo_parameters `{}` of {}", short(words), counted(hosts, "host", "hosts"));
            element.refusal(ErrorKind::Malformed, what, form)
        };
        let read = read.filter(|form| form.hosts() == Some(hosts)).ok_or_else(wrong)?;
        if !read.can_be_built(hosts) {
            let what = format!(
                "topo_parameters `{}`: more than {MOST} switches and links, or more than {MOST_PARALLEL} parallel links",
                short(words)
            );
            return Err(element.refusal(ErrorKind::TooLarge, what, "write a smaller cluster"));
        }
        Ok(read)
    }

    /// The hosts that it is made for.
    fn hosts(&self) -> Option<usize> {
        match self {
            Self::Flat => None,
            Self::Torus(sizes) => product(sizes.iter().copied()).filter(|_| sizes.len() <= 16),
            Self::FatTree { down, .. } => product(down.iter().copied()),
            // Router n of a group links to group n.
            Self::Dragonfly { sizes: [groups, chassis, routers], hosts, .. } => {
                let of_group = product([*chassis, *routers])?;
                product([*groups, of_group, *hosts]).filter(|_| *groups <= of_group)
            }
        }
    }

    /// True if its switches and links are not too many, nor the parallel ones.
    fn can_be_built(&self, hosts: usize) -> bool {
        let built = || match self {
            Self::Flat => Some(hosts),
            Self::Torus(sizes) => product([hosts, sizes.len()]),
            Self::FatTree { down, up, parallel } => {
                let (mut below, mut all) = (hosts, 0_usize);
                for ((&children, &parents), &count) in down.iter().zip(up).zip(parallel) {
                    let links_up = product([parents, count]).filter(|_| count <= MOST_PARALLEL)?;
                    all = all.checked_add(product([below, links_up])?)?;
                    below = product([below / children, parents])?;
                    all = all.checked_add(below)?;
                }
                Some(all)
            }
            Self::Dragonfly { sizes: [groups, chassis, routers], .. } => {
                let within = product([*groups, *chassis, *routers, chassis.checked_add(*routers)?])?;
                within.checked_add(product([*groups, *groups])?)
            }
        };
        built().is_some_and(|built| built <= MOST)
    }
}

impl Cluster {
    /// Adds the links of a shape that is not flat. `None` if a link has a rate beyond all numbers.
    pub(super) fn wire(&self, form: &Form, platform: &mut Platform<'_>) -> Option<()> {
        match form {
            Form::Flat => Some(()),
            Form::Torus(sizes) => self.torus(sizes, platform),
            Form::FatTree { down, up, parallel } => self.fat_tree(down, up, parallel, platform),
            Form::Dragonfly { sizes, links, hosts } => self.dragonfly(*sizes, *links, *hosts, platform),
        }
    }

    /// A link between two points, of so many times the cluster's bandwidth.
    fn cable(&self, ends: [usize; 2], times: usize) -> Option<Cable> {
        let rate = self.rate.checked_mul(times as u64)?;
        Some(Cable { ends, rate: [rate; 2], delay: [self.delay; 2], policy: self.policy, count: 1, at: self.at })
    }

    /// A torus.
    fn torus(&self, sizes: &[usize], platform: &mut Platform<'_>) -> Option<()> {
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
        let mut below = self.hosts.clone();
        // Of a switch below: its number is (its digits above the level) x tops + (those below).
        let mut tops = 1_usize;
        for (level, ((&children, &parents), &count)) in down.iter().zip(up).zip(parallel).enumerate() {
            let above = product([below.len() / children, parents])?;
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
