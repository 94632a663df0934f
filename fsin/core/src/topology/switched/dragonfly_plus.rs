//! Dragonfly+ (Megafly): groups of leaves and spines, fully connected between the two, and links of spines to other
//! groups.

use trgen::NodeId;
use trgen::catalog::{Component, Parameter, SpecError};

use super::dragonfly::Arrangement;
use super::named::Named;
use super::{Link, Plan, Switched, check_nodes};
use crate::topology::{Kind, Row, table::both_ways};

/// A valid specification.
const EXAMPLE: &str = "dragonfly+:p=2,l=4,s=4,h=2";

/// Row of `dragonfly+`.
pub(in crate::topology) const DRAGONFLY_PLUS: Row = Row {
    component: Component {
        name: "dragonfly+",
        about: "g groups of l leaves and s spines (dragonfly+:p=2,l=4,s=4,h=2), every leaf of a group linked with every spine; each \
                leaf has p endpoints, each spine h links to other groups; at most s h + 1 groups, p l g endpoints; between two \
                groups s h / (g - 1) links, rounded down: what is left over stays free; diameter 5 with the links to endpoints \
                where one link joins two groups",
        parameters: &[
            Parameter { name: "p", about: "endpoints of each leaf", range: "1 to 254", default: "" },
            Parameter { name: "l", about: "leaves of each group", range: "1 to 254", default: "" },
            Parameter { name: "s", about: "spines of each group", range: "1 to 254", default: "" },
            Parameter { name: "h", about: "links of each spine to other groups", range: "1 to 254", default: "" },
            Parameter { name: "g", about: "groups", range: "2 to s h + 1", default: "s h + 1" },
        ],
        source: "Shpiner, Haramaty, Eliad, Zdornov, Gafni, Zahavi, Dragonfly+: low cost topology for scaling datacenters, \
                 HiPINEB 2017; Flajslik, Borch, Parker, Megafly, ISC 2018",
    },
    kind: Kind::Switched,
    example: EXAMPLE,
    build: |words, ways| both_ways(parse(words)?, ways),
};

/// A Dragonfly+. The switches of a group are numbered leaves first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DragonflyPlus {
    /// \[endpoints\] Number at each leaf.
    pub endpoints: u32,
    /// \[leaves\] Number in each group.
    pub leaves: u32,
    /// \[spines\] Number in each group.
    pub spines: u32,
    /// \[links\] Number of links of each spine to other groups.
    pub globals: u32,
    /// \[groups\] Number of groups.
    pub groups: u32,
    /// \[links\] Number of links between any two groups.
    pub copies: u32,
}

impl DragonflyPlus {
    /// Number of the first switch.
    const fn first(&self) -> u32 {
        self.endpoints * self.leaves * self.groups
    }

    /// The group of a switch, and its number there.
    #[must_use]
    pub const fn place(&self, switch: NodeId) -> (u32, u32) {
        let number = switch.0 - self.first();
        let of_group = self.leaves + self.spines;
        (number / of_group, number % of_group)
    }

    /// The spine of group `from` whose link leads to group `to`, and the index of that link among the links of the
    /// spine to other groups; `copy` selects one of the links between the two groups.
    #[must_use]
    pub const fn gateway(&self, from: u32, to: u32, copy: u32) -> (u32, u32) {
        let link = Arrangement::Absolute.link(from, to, self.groups) + copy * (self.groups - 1);
        (link / self.globals, link % self.globals)
    }
}

impl Plan for DragonflyPlus {
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

/// Parses `p=2,l=4,s=4,h=2,g=9`.
fn parse(words: &str) -> Result<Switched, SpecError> {
    let spec = format!("dragonfly+:{words}");
    let named = Named { spec: &spec, names: ["p", "l", "s", "h", "g"], example: EXAMPLE };
    let [Some(endpoints), Some(leaves), Some(spines), Some(globals), groups] = named.parse(words)? else {
        return Err(named.lacks("p, l, s, h"));
    };
    for (name, value) in named.names.into_iter().zip([endpoints, leaves, spines, globals]) {
        named.within(name, value, 1..=254)?;
    }
    let most = spines * globals + 1;
    let groups = named.within("g", groups.unwrap_or(most), 2..=most)?;
    let of_group = u64::from(leaves) * u64::from(endpoints + 1) + u64::from(spines);
    let nodes = check_nodes(&spec, of_group.checked_mul(groups.into()))?;
    let copies = spines * globals / (groups - 1);
    let plan = DragonflyPlus { endpoints, leaves, spines, globals, groups, copies };
    let first = plan.first();
    let switch = |group: u32, number: u32| first + group * (leaves + spines) + number;
    let home = |endpoint: u32| switch(endpoint / (endpoints * leaves), endpoint / endpoints % leaves);
    let mut links: Vec<Link> = (0..first).map(|one| Link::new([(one, 0), (home(one), one % endpoints)])).collect();
    for group in 0..groups {
        for leaf in 0..leaves {
            let up = |spine| [(switch(group, leaf), endpoints + spine), (switch(group, leaves + spine), leaf)];
            links.extend((0..spines).map(|spine| Link::new(up(spine))));
        }
        for (other, copy) in (group + 1..groups).flat_map(|other| (0..copies).map(move |copy| (other, copy))) {
            let end = |from, to| {
                let (spine, link) = plan.gateway(from, to, copy);
                (switch(from, leaves + spine), leaves + link)
            };
            links.push(Link::new([end(group, other), end(other, group)]));
        }
    }
    Switched::new(spec, first as usize, nodes, &links, None, plan)
}
