//! Dragonflies: groups of fully connected switches, and links between all groups.

use std::ops::Range;

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};

use super::named::Named;
use super::{Link, Plan, Switched, check_nodes};
use crate::topology::{Kind, Row, check_once, table::both_ways};

/// Row of `dragonfly`.
pub(in crate::topology) const DRAGONFLY: Row = Row {
    component: Component {
        name: "dragonfly",
        about: "g groups of a switches (dragonfly:p=2,a=4,h=2), all of a group linked with each other, each with p endpoints and h links to other \
                groups; at most a h + 1 groups, p a g endpoints; between two groups a h / (g - 1) links, rounded down: what \
                is left over stays free; diameter at most 5 with the links to endpoints",
        parameters: &[
            Parameter { name: "p", about: "endpoints of each switch", range: "1 to 254", default: "" },
            Parameter { name: "a", about: "switches of each group", range: "1 to 254", default: "" },
            Parameter { name: "h", about: "links of each switch to other groups", range: "1 to 254", default: "" },
            Parameter { name: "g", about: "groups", range: "2 to a h + 1", default: "a h + 1" },
            Parameter {
                name: "arrangement",
                about: "where the links of a group lead: to groups 0, 1, 2, ... (absolute), to those 1, 2, 3, ... further \
                        (relative), or 1 further, 1 back, 2 further, ... (circulant)",
                range: "absolute, relative, circulant",
                default: "absolute",
            },
            Parameter {
                name: "local",
                about: "length of links within groups [cycles]",
                range: "1 to 65535",
                default: "1",
            },
            Parameter {
                name: "global",
                about: "length of links between groups [cycles]",
                range: "1 to 65535",
                default: "1",
            },
        ],
        source: "Kim, Dally, Scott, Abts, Technology-driven, highly-scalable dragonfly topology, ISCA 2008; arrangements: \
                 Camarero, Vallejo, Beivide, Topological characterization of Hamming and dragonfly networks, TACO 11(4), \
                 2014",
    },
    kind: Kind::Switched,
    example: "dragonfly:p=2,a=4,h=2",
    build: |words, ways| both_ways(parse(words)?, ways),
};

/// Arrangement of a group's global links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrangement {
    /// Link k leads to group k, or to k + 1 from the group's own number on.
    Absolute,
    /// Link k leads k + 1 groups further.
    Relative,
    /// Links lead 1 group further, 1 back, 2 further, 2 back, ...
    Circulant,
}

/// Every arrangement with its name.
const ARRANGEMENTS: [(&str, Arrangement); 3] =
    [("absolute", Arrangement::Absolute), ("relative", Arrangement::Relative), ("circulant", Arrangement::Circulant)];

impl Arrangement {
    /// Number of the global link of group `from` that leads to group `to`; `copy` selects one of several.
    #[must_use]
    #[inline]
    pub const fn link(self, from: u32, to: u32, groups: u32) -> u32 {
        let further = if to > from { to - from } else { to + groups - from };
        match self {
            Self::Absolute => to - (to > from) as u32,
            Self::Relative => further - 1,
            Self::Circulant if 2 * further <= groups => 2 * (further - 1),
            Self::Circulant => 2 * (groups - further) - 1,
        }
    }
}

/// A dragonfly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dragonfly {
    /// \[endpoints\] Number at each switch.
    pub endpoints: u32,
    /// \[switches\] Number in each group.
    pub switches: u32,
    /// \[links\] Number of global links of each switch.
    pub globals: u32,
    /// \[groups\] Number of groups.
    pub groups: u32,
    /// \[links\] Number of links between any two groups.
    pub copies: u32,
    /// Arrangement of the global links.
    pub arrangement: Arrangement,
}

impl Dragonfly {
    /// The group of a switch, and its number there.
    #[must_use]
    #[inline]
    pub const fn place(&self, switch: NodeId) -> (u32, u32) {
        let number = switch.0 - self.endpoints * self.switches * self.groups;
        (number / self.switches, number % self.switches)
    }

    /// The switch of group `from` whose link leads to group `to`, by its number in the group, and the index of its
    /// global link; `copy` selects one of the links between the two groups.
    #[must_use]
    #[inline]
    pub const fn gateway(&self, from: u32, to: u32, copy: u32) -> (u32, u32) {
        self.gate(self.link(from, to, copy))
    }

    /// Which of the global links of group `from` leads to group `to`.
    #[must_use]
    #[inline]
    pub const fn link(&self, from: u32, to: u32, copy: u32) -> u32 {
        self.arrangement.link(from, to, self.groups) + copy * (self.groups - 1)
    }

    /// The numbers `copy` of the links from group `from` to group `to` that belong to switch `own` of `from`.
    #[must_use]
    #[inline]
    pub fn copies_of(&self, own: u32, from: u32, to: u32) -> Range<u32> {
        // Link numbers of a switch are consecutive; those to a group are `groups - 1` apart.
        let (first, apart) = (self.link(from, to, 0), self.groups - 1);
        let before = |link: u32| link.saturating_sub(first).div_ceil(apart).min(self.copies);
        before(own * self.globals)..before((own + 1) * self.globals)
    }

    /// The switch that has a global link of its group, by its number there, and the index of that link at the switch.
    #[must_use]
    #[inline]
    pub const fn gate(&self, link: u32) -> (u32, u32) {
        (link / self.globals, link % self.globals)
    }

    /// The index, among the links of switch `own` of a group, of the link to switch `other` of the same group.
    #[must_use]
    #[inline]
    pub const fn local_place(&self, own: u32, other: u32) -> usize {
        (self.endpoints + other - (other > own) as u32) as usize
    }

    /// The index of a switch's global link number `link`.
    #[must_use]
    #[inline]
    pub const fn global_place(&self, link: u32) -> usize {
        (self.endpoints + self.switches - 1 + link) as usize
    }
}

/// A valid specification, for errors.
const EXAMPLE: &str = "dragonfly:p=2,a=4,h=2";

impl Plan for Dragonfly {
    fn group(&self, switch: NodeId) -> Option<u32> {
        Some(self.place(switch).0)
    }

    fn dimension(&self, _one: NodeId, _other: NodeId) -> Option<usize> {
        None
    }

    fn hops(&self, _from: NodeId, _to: NodeId) -> Option<u32> {
        None
    }

    fn top_subtrees(&self) -> Option<usize> {
        None
    }
}

/// Parses `arrangement=absolute`.
fn arrangement(word: &str) -> Result<Arrangement, SpecError> {
    let value = word.trim_start_matches("arrangement=");
    let known = ARRANGEMENTS.iter().find(|&&(known, _)| known == value);
    known
        .map(|&(_, arrangement)| arrangement)
        .ok_or_else(|| SpecError::unknown("arrangement of a dragonfly", value, &ARRANGEMENTS.map(|(name, _)| name)))
}

/// The number in `name=number`, from 1 on, among words; the other words stay. 1 without such a word.
fn length(spec: &str, words: &mut Vec<&str>, name: &'static str) -> Result<u32, SpecError> {
    let value = |word: &&str| word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    let Some(at) = words.iter().position(value) else { return Ok(1) };
    let word = words.remove(at);
    let number = word[name.len() + 1..].parse().ok().filter(|number| (1..=MOST_CYCLES).contains(number));
    number.ok_or_else(|| {
        let what = format!("{} in `{spec}` is out of range", word.escape_debug());
        SpecError::new(ErrorKind::OutOfRange, what, format!("use 1 to {MOST_CYCLES} cycles"))
    })
}

/// \[cycles\] The longest link.
const MOST_CYCLES: u32 = u16::MAX as u32;

/// Parses `p=4,a=8,h=4,g=33,arrangement=absolute,local=10,global=100`.
fn parse(words: &str) -> Result<Switched, SpecError> {
    let spec = format!("dragonfly:{words}");
    let named = Named { spec: &spec, names: ["p", "a", "h", "g"], example: EXAMPLE };
    check_once(&spec, words)?;
    let (of_arrangement, mut numbers): (Vec<&str>, Vec<&str>) =
        words.split(',').partition(|word| word.starts_with("arrangement="));
    let (local, global) = (length(&spec, &mut numbers, "local")?, length(&spec, &mut numbers, "global")?);
    let arrangement = of_arrangement.first().map_or(Ok(Arrangement::Absolute), |word| arrangement(word))?;
    let [Some(endpoints), Some(switches), Some(globals), groups] = named.parse(&numbers.join(","))? else {
        return Err(named.lacks("p, a, h"));
    };
    for (name, value) in named.names.into_iter().zip([endpoints, switches, globals]) {
        named.within(name, value, 1..=254)?;
    }
    let most = switches * globals + 1;
    let groups = groups.unwrap_or(most);
    if !(2..=most).contains(&groups) {
        let what = format!("g = {groups} in `{spec}` is out of range");
        return Err(SpecError::new(ErrorKind::OutOfRange, what, format!("use 2 to a h + 1 = {most}")));
    }
    let all = u64::from(groups) * u64::from(switches) * u64::from(1 + endpoints);
    let nodes = check_nodes(&spec, Some(all))?;
    let copies = switches * globals / (groups - 1);
    let plan = Dragonfly { endpoints, switches, globals, groups, copies, arrangement };
    let first = endpoints * switches * groups;
    let switch = |group: u32, number: u32| first + group * switches + number;
    let mut links: Vec<Link> =
        (0..first).map(|one| Link::new([(one, 0), (first + one / endpoints, one % endpoints)])).collect();
    for group in 0..groups {
        for one in 0..switches {
            for other in one + 1..switches {
                let end = |own, other| (switch(group, own), plan.local_place(own, other) as u32);
                links.push(Link::new([end(one, other), end(other, one)]));
            }
        }
        for other in group + 1..groups {
            for copy in 0..copies {
                let end = |from, to| {
                    let (number, link) = plan.gateway(from, to, copy);
                    (switch(from, number), plan.global_place(link) as u32)
                };
                links.push(Link::new([end(group, other), end(other, group)]));
            }
        }
    }
    let network = Switched::new(spec, first as usize, nodes, &links, None, plan)?;
    if (local, global) == (1, 1) {
        return Ok(network);
    }
    let group = |node: NodeId| (node.0 - first) / switches;
    Ok(network.with_lengths(|from, to| match from.0 < first || to.0 < first {
        true => 1,
        false if group(from) == group(to) => local,
        false => global,
    }))
}
