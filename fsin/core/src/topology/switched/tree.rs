//! Trees with several parents per node: fat, thin and slim ones.
//!
//! A node of level l (endpoints are level 0) has a label of n digits; digit i counts to m_i where i > l and to w_i
//! where i <= l. It is linked with the nodes of level l + 1 whose labels differ in digit l + 1 only: w_(l+1) parents of
//! m_(l+1) children each. (Öhring, Ibel, Das, Kumar, On generalized fat trees, IPPS 1995.)
//!
//! A slim tree has k' switches over each subtree at every level from 2 on, not k' times as many as at the level below:
//! a switch of level 3 or higher has a link to each of the k' switches over each of its k / k' subtrees.
//!
//! Decision: docs/decisions/0350-slim-trees.md.

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};

use super::{Link, MOST_PORTS, Plan, Switched, check_nodes};
use crate::topology::{Kind, Row, number, table::both_ways};

/// Parameter k.
const ARITY: Parameter = Parameter { name: "k", about: "links down of each switch", range: "1 to 2048", default: "" };
/// Parameter k'.
const THIN_ARITY: Parameter = Parameter { name: "k'", about: "links up", range: "1 to 2048", default: "" };
/// Parameter n.
const LEVELS: Parameter = Parameter { name: "n", about: "levels of switches", range: "1 to 2048", default: "" };

/// Row of `fattree`.
pub(in crate::topology) const FATTREE: Row = Row {
    component: Component {
        name: "fattree",
        about: "k-ary n-tree (fattree:4,3): k^n endpoints, n levels of k^(n-1) switches with k links down and, below the top, k up; \
                diameter 2 n, bisection k^n / 2",
        parameters: &[ARITY, LEVELS],
        source: "Petrini and Vanneschi, k-ary n-trees: high performance networks for massively parallel architectures, \
                 IPPS 1997",
    },
    kind: Kind::Switched,
    example: "fattree:4,3",
    build: |words, ways| both_ways(fat(words)?, ways),
};

/// Row of `thintree`.
pub(in crate::topology) const THINTREE: Row = Row {
    component: Component {
        name: "thintree",
        about: "k:k'-ary n-thin-tree (thintree:4,2,3): k^n endpoints, switches with k links down and k' up: k'^l k^(n-l) links between \
                levels l and l + 1; diameter 2 n",
        parameters: &[ARITY, THIN_ARITY, LEVELS],
        source: "Navaridas, Miguel-Alonso, Ridruejo, Denzel, Reducing complexity in tree-like computer interconnection \
                 networks, Parallel Computing 36, 2010",
    },
    kind: Kind::Switched,
    example: "thintree:4,2,3",
    build: |words, ways| both_ways(thin(words)?, ways),
};

/// Row of `slimtree`.
pub(in crate::topology) const SLIMTREE: Row = Row {
    component: Component {
        name: "slimtree",
        about: "k:k'-ary n-slim-tree (slimtree:4,2,3), k a multiple of k': (k / k')^n k'^2 endpoints, k' (k / k')^(n-1) switches with \
                k links down and k' up, and k' / k times as many at each next level; up link p of switch r leads to \
                switch k' floor(r / k) + p; diameter 2 n (4 with k = k')",
        parameters: &[ARITY, THIN_ARITY, LEVELS],
        source: "Navaridas, Miguel-Alonso, Ridruejo, Denzel, Reducing complexity in tree-like computer interconnection \
                 networks, Parallel Computing 36, 2010",
    },
    kind: Kind::Switched,
    example: "slimtree:4,2,3",
    build: |words, ways| both_ways(slim(words)?, ways),
};

/// A tree: the numbers of children and parents of the nodes of each level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// By level from 1: number of subtrees under each switch.
    children: Vec<u32>,
    /// By level from 0: number of parents of each node.
    parents: Vec<u32>,
    /// \[links\] By level from 1: links from a switch into each of its subtrees, each to another node at its top.
    strands: Vec<u32>,
    /// By level from 0: number of nodes over the same subtree.
    widths: Vec<u32>,
    /// By level: the number of its first node; then the number of all nodes.
    firsts: Vec<u32>,
}

/// Position of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stand {
    /// Level of the switch: 1 for switches with endpoints.
    pub level: usize,
    /// Number of the subtree below the switch: it has the endpoints whose number divided by `span` is `subtree`.
    pub subtree: u32,
    /// \[endpoints\] Number of endpoints below the switch.
    pub span: u32,
    /// \[endpoints\] Number of endpoints below each of its children.
    pub child_span: u32,
    /// Number of subtrees below the switch.
    pub children: u32,
    /// \[links\] Links into each subtree. Links to the first subtree come first, links up come last.
    pub strands: u32,
    /// Number of links up.
    pub parents: u32,
}

impl Tree {
    /// Number of levels of switches.
    #[must_use]
    #[inline]
    pub const fn levels(&self) -> usize {
        self.children.len()
    }

    /// The position of a switch.
    #[must_use]
    #[inline]
    pub fn stand(&self, switch: NodeId) -> Stand {
        let level = self.firsts.partition_point(|&first| first <= switch.0) - 1;
        let child_span: u32 = self.children[..level - 1].iter().product();
        Stand {
            level,
            subtree: (switch.0 - self.firsts[level]) / self.widths[level],
            span: child_span * self.children[level - 1],
            child_span,
            children: self.children[level - 1],
            strands: self.strands[level - 1],
            parents: self.parents.get(level).copied().unwrap_or(0),
        }
    }

    /// True if every switch below the top has as many links up as down.
    #[must_use]
    #[inline]
    pub fn is_fat(&self) -> bool {
        self.children.iter().zip(&self.parents[1..]).all(|(down, up)| down == up)
            && self.children.last() == self.children.first()
    }

    /// Index of the link up that an endpoint's number selects: what is left of it above the digits below the switch,
    /// modulo the number of links up. Where as many links lead up as down, that is the digit that distinguishes the
    /// children of the switch; in other trees higher digits count too.
    #[must_use]
    #[inline]
    pub const fn parent_to(&self, stand: &Stand, endpoint: NodeId) -> u32 {
        endpoint.0 / stand.child_span % stand.parents
    }

    /// Index of the strand down from a switch on the static route to an endpoint: it leads to the switch over the
    /// subtree that the endpoint's number selects from below.
    #[must_use]
    #[inline]
    pub fn strand_to(&self, stand: &Stand, endpoint: NodeId) -> u32 {
        if stand.strands == 1 {
            return 0;
        }
        // The choice was made two levels below, of which there are at least three.
        let span: u32 = self.children[..stand.level - 3].iter().product();
        endpoint.0 / span % stand.strands
    }

    /// The port numbers of the directed links, such that the ports by which packets enter a switch are in the cyclic
    /// order of its children, and then of its parents: round-robin arbitration follows it. `None` where strands are
    /// parallel, where one level determines the order, and where the numbers would not suffice.
    ///
    /// The i-th child is the i-th child of all of its parents, so its links cannot all have number i. By the j-th link
    /// up it is i + j, modulo the maximum number of links to one level, and downwards it is higher by that maximum.
    pub(super) fn colours(&self, links: &[Link]) -> Option<Vec<u32>> {
        let most = self.children.iter().chain(&self.parents).copied().max()?;
        if self.strands.iter().any(|&strands| strands > 1) || self.levels() < 2 || 2 * most as usize > MOST_PORTS {
            return None;
        }
        let both = links.iter().flat_map(|link| {
            let [(child, place_above), (_, place_below)] = link.ends;
            let level = self.firsts.partition_point(|&first| first <= child) - 1;
            let way = place_above - if level == 0 { 0 } else { self.children[level - 1] };
            let number = (place_below + way) % most;
            [number, most + number]
        });
        Some(both.collect())
    }

    /// Number of nodes of a level; `None` on overflow.
    fn nodes(&self, level: usize) -> Option<u64> {
        let mut subtrees = self.children[level..].iter();
        subtrees.try_fold(u64::from(self.widths[level]), |product, &count| product.checked_mul(count.into()))
    }

    /// Builds a tree from the numbers of children, parents and strands by level.
    fn build(spec: String, children: Vec<u32>, parents: Vec<u32>, strands: Vec<u32>) -> Result<Switched, SpecError> {
        let mut tree = Self { children, parents, strands, widths: vec![1], firsts: vec![0] };
        let mut total = Some(0u64);
        for level in 0..=tree.levels() {
            if level > 0 {
                let width = u64::from(tree.widths[level - 1] / tree.strands[level - 1]);
                let width = width * u64::from(tree.parents[level - 1]);
                check_nodes(&spec, Some(width))?;
                tree.widths.push(width as u32);
            }
            let nodes = tree.nodes(level);
            total = total.and_then(|total| nodes.and_then(|nodes| total.checked_add(nodes)));
            check_nodes(&spec, total)?;
            tree.firsts.push(total.unwrap_or(0) as u32);
        }
        let nodes = tree.firsts[tree.levels() + 1] as usize;
        let mut links = Vec::new();
        for level in 0..tree.levels() {
            let (size, ways_up) = (tree.children[level], tree.parents[level]);
            let (width, above, strands) = (tree.widths[level], tree.widths[level + 1], tree.strands[level]);
            let first_place = if level == 0 { 0 } else { tree.children[level - 1] * tree.strands[level - 1] };
            for child in 0..tree.firsts[level + 1] - tree.firsts[level] {
                let (subtree, index) = (child / width, child % width);
                for way in 0..ways_up {
                    let parent = subtree / size * above + way * (width / strands) + index / strands;
                    let place = subtree % size * strands + index % strands;
                    let ends =
                        [(tree.firsts[level] + child, first_place + way), (tree.firsts[level + 1] + parent, place)];
                    links.push(Link::new(ends));
                }
            }
        }
        let colours = tree.colours(&links);
        let (endpoints, leaf) = (tree.firsts[1] as usize, tree.children[0]);
        let mut new = Switched::new(spec, endpoints, nodes, &links, colours, tree)?;
        new.geometry = new.geometry.clone().with_leaf(leaf).unwrap_or(new.geometry);
        Ok(new)
    }
}

impl Plan for Tree {
    fn group(&self, _switch: NodeId) -> Option<u32> {
        None
    }

    fn dimension(&self, _one: NodeId, _other: NodeId) -> Option<usize> {
        None
    }

    fn hops(&self, from: NodeId, to: NodeId) -> Option<u32> {
        let (mut one, mut other) = (from.0, to.0);
        let mut level = 0;
        // Up to the first level with a common switch, and down.
        while one != other {
            one /= self.children[level];
            other /= self.children[level];
            level += 1;
        }
        Some(2 * level as u32)
    }

    fn top_subtrees(&self) -> Option<usize> {
        self.children.last().map(|&count| count as usize)
    }
}

/// Whole numbers from 1 on, separated by commas. `names` are the names of the parameters.
fn words<const N: usize>(spec: &str, words: &str, names: [&str; N], example: &str) -> Result<[u32; N], SpecError> {
    let given: Vec<u32> = words.split(',').map(|word| number(spec, word, example)).collect::<Result<_, _>>()?;
    let given: [u32; N] = given.try_into().map_err(|given: Vec<u32>| {
        let what = format!("`{spec}` has {} numbers, and needs {N}: {}", given.len(), names.join(", "));
        SpecError::new(ErrorKind::Malformed, what, format!("write it as in `{example}`"))
    })?;
    match given.iter().position(|number| !(1..=MAX_ARITY).contains(number)) {
        Some(at) => {
            let what = format!("{} = {} in `{spec}` is out of range", names[at], given[at]);
            Err(SpecError::new(ErrorKind::TooLarge, what, format!("use 1 to {MAX_ARITY}")))
        }
        None => Ok(given),
    }
}

/// Maximum number of levels, of links up and of links down: of two levels, more would be too many endpoints.
const MAX_ARITY: u32 = 2048;

/// Parses `4,3`: k and n.
fn fat(numbers: &str) -> Result<Switched, SpecError> {
    let spec = format!("fattree:{numbers}");
    let [k, n] = words(&spec, numbers, ["k", "n"], "fattree:4,3")?;
    let levels = n as usize;
    let parents = std::iter::once(1).chain(std::iter::repeat(k)).take(levels).collect();
    Tree::build(spec, vec![k; levels], parents, vec![1; levels])
}

/// Parses `4,2,3`: k, k' and n.
fn thin(numbers: &str) -> Result<Switched, SpecError> {
    let spec = format!("thintree:{numbers}");
    let [k, up, n] = words(&spec, numbers, ["k", "k'", "n"], "thintree:4,2,3")?;
    let levels = n as usize;
    let parents = std::iter::once(1).chain(std::iter::repeat(up)).take(levels).collect();
    Tree::build(spec, vec![k; levels], parents, vec![1; levels])
}

/// Parses `4,2,3`: k, k' and n.
fn slim(numbers: &str) -> Result<Switched, SpecError> {
    let spec = format!("slimtree:{numbers}");
    let [k, up, n] = words(&spec, numbers, ["k", "k'", "n"], "slimtree:4,2,3")?;
    if k % up != 0 {
        let what = format!("k = {k} in `{spec}` is no multiple of k' = {up}");
        return Err(SpecError::new(ErrorKind::Unsupported, what, "use a multiple; thintree takes any k and k'"));
    }
    if n == 1 && up > 1 {
        let what = format!("`{spec}` has {up} switches without a link between them");
        return Err(SpecError::new(ErrorKind::Unsupported, what, "use 2 levels or more"));
    }
    let levels = n as usize;
    let parents = std::iter::once(1).chain(std::iter::repeat(up)).take(levels).collect();
    // Switches of the first level have endpoints of their own; k' switches are over each subtree of a higher one.
    let by_level = |low, high| std::iter::repeat_n(low, 2).chain(std::iter::repeat(high)).take(levels).collect();
    Tree::build(spec, by_level(k, k / up), parents, by_level(1, up))
}
