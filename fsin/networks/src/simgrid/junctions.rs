//! Where the links of routes meet.
//!
//! A platform says which links a route crosses, and not what they join. Each link has two ends; a route unites the
//! place where it begins with an end of its first link, the other end of that with one of the second, and so on. A link
//! whose direction is not said is crossed from the end that is already united with the place before it; one that
//! nothing is known of may be called either way round.

/// A link that a route crosses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Number of the link.
    pub(super) link: usize,
    /// True from its first end to its second; `None` if that is not said.
    pub(super) forward: Option<bool>,
}

/// A route between two points.
#[derive(Debug)]
pub(super) struct Route {
    /// \[bytes\] Offset of its element.
    pub(super) at: usize,
    /// By end: the number of its point.
    pub(super) ends: [usize; 2],
    pub(super) steps: Vec<Step>,
    /// True if the way back is the same.
    pub(super) is_symmetrical: bool,
    /// True if messages go this way and no other, false if it is an edge of a graph with shortest paths.
    pub(super) is_fixed: bool,
}

/// What the links join.
#[derive(Debug)]
pub(super) struct Joined {
    /// By link: the place of each end. Points have the first places, in their order.
    pub(super) ends: Vec<[usize; 2]>,
    /// By link: whether routes cross it from its first end, and from its second.
    pub(super) uses: Vec<[bool; 2]>,
}

/// Why links cannot join places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Routes give both ends of a link the same place.
    Loop { link: usize, route: usize },
    /// Routes take an end of a link to two points.
    Apart { link: usize, route: usize, points: [usize; 2] },
    /// It is not said which way a route crosses a link.
    Undecided { link: usize, route: usize },
}

/// Maximum number of visits of a route whose links are not all decided.
const ROUNDS: usize = 64;

/// Sets of places: those of points, then two ends of each link.
struct Sets {
    points: usize,
    parents: Vec<u32>,
    /// By root: the point in the set.
    named: Vec<Option<u32>>,
    /// By link: whether an end has been united with anything.
    is_known: Vec<bool>,
}

impl Sets {
    fn new(points: usize, links: usize) -> Self {
        let count = points + 2 * links;
        let named = (0..count).map(|place| (place < points).then_some(place as u32)).collect();
        Self { points, parents: (0..count as u32).collect(), named, is_known: vec![false; links] }
    }

    fn root(&mut self, place: usize) -> usize {
        let mut here = place;
        while self.parents[here] as usize != here {
            self.parents[here] = self.parents[self.parents[here] as usize];
            here = self.parents[here] as usize;
        }
        here
    }

    /// The ends of a link in the order in which they are passed.
    const fn ends(&self, link: usize, forward: bool) -> [usize; 2] {
        let first = self.points + 2 * link;
        if forward { [first, first + 1] } else { [first + 1, first] }
    }

    /// The direction in which a link is crossed whose end `side` in that direction is at a place.
    fn direction(&mut self, link: usize, side: usize, place: usize) -> Result<Option<bool>, ()> {
        let place = self.root(place);
        let is_there = [true, false].map(|forward| {
            let end = self.ends(link, forward)[side];
            self.root(end) == place
        });
        match is_there {
            [true, true] => Err(()),
            [true, false] => Ok(Some(true)),
            [false, true] => Ok(Some(false)),
            [false, false] => Ok((!self.is_known[link]).then_some(true)),
        }
    }

    /// Unites two places.
    fn unite(&mut self, one: usize, other: usize) -> Result<bool, [usize; 2]> {
        let [one, other] = [one, other].map(|place| self.root(place));
        if one == other {
            return Ok(false);
        }
        if let (Some(first), Some(second)) = (self.named[one], self.named[other]) {
            return Err([first as usize, second as usize]);
        }
        // The place of a point is a root of its set.
        let (root, child) = if self.named[one].is_some() { (one, other) } else { (other, one) };
        self.parents[child] = root as u32;
        Ok(true)
    }

    /// Goes on with a route from both sides as far as the directions of its links are known. True if anything is new.
    fn advance(&mut self, number: usize, route: &Route, ways: &mut [Option<bool>]) -> Result<bool, Fault> {
        let mut is_new = false;
        let mut places = route.ends;
        let (mut left, mut right) = (0, ways.len());
        for side in 0..2 {
            while left < right {
                let at = if side == 0 { left } else { right - 1 };
                let link = route.steps[at].link;
                let way = match ways[at] {
                    Some(way) => Some(way),
                    None => {
                        let way = self.direction(link, side, places[side]);
                        way.map_err(|()| Fault::Loop { link, route: number })?
                    }
                };
                let Some(way) = way else { break };
                is_new |= ways[at].replace(way).is_none();
                self.is_known[link] = true;
                let ends = self.ends(link, way);
                let united = self.unite(ends[side], places[side]);
                is_new |= united.map_err(|points| Fault::Apart { link, route: number, points })?;
                places[side] = ends[1 - side];
                if side == 0 { left += 1 } else { right -= 1 }
            }
        }
        if left == right {
            let link = route.steps[left.saturating_sub(1)].link;
            let united = self.unite(places[0], places[1]);
            is_new |= united.map_err(|points| Fault::Apart { link, route: number, points })?;
        }
        Ok(is_new)
    }
}

/// What the links join, by the routes, each of which crosses a link.
pub(super) fn join(points: usize, links: usize, routes: &[Route]) -> Result<Joined, Fault> {
    let mut sets = Sets::new(points, links);
    let mut ways: Vec<Vec<Option<bool>>> =
        routes.iter().map(|route| route.steps.iter().map(|step| step.forward).collect()).collect();
    let mut open: Vec<usize> = (0..routes.len()).collect();
    for _ in 0..ROUNDS {
        let mut is_new = false;
        for &route in &open {
            is_new |= sets.advance(route, &routes[route], &mut ways[route])?;
        }
        open.retain(|&route| ways[route].contains(&None));
        if open.is_empty() || !is_new {
            break;
        }
    }
    if let Some(&route) = open.first() {
        let at = ways[route].iter().position(Option::is_none).unwrap_or(0);
        return Err(Fault::Undecided { link: routes[route].steps[at].link, route });
    }
    let mut joined = Joined { ends: Vec::with_capacity(links), uses: vec![[false; 2]; links] };
    // Places that are no points are numbered after them.
    let mut numbers: std::collections::HashMap<usize, usize> = std::collections::HashMap::new();
    for link in 0..links {
        joined.ends.push(sets.ends(link, true).map(|end| {
            let root = sets.root(end);
            let next = points + numbers.len();
            if root < points { root } else { *numbers.entry(root).or_insert(next) }
        }));
    }
    for (number, (route, ways)) in routes.iter().zip(&ways).enumerate() {
        for (step, way) in route.steps.iter().zip(ways) {
            let [one, other] = joined.ends[step.link];
            if one == other {
                return Err(Fault::Loop { link: step.link, route: number });
            }
            let forward = *way == Some(true);
            joined.uses[step.link][usize::from(!forward)] = true;
            joined.uses[step.link][usize::from(forward)] |= route.is_symmetrical;
        }
    }
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Routes between points by numbers of links, symmetrical.
    fn joined(points: usize, links: usize, routes: &[(usize, usize, &[usize])]) -> Result<Joined, Fault> {
        let routes: Vec<Route> = routes
            .iter()
            .map(|&(from, to, steps)| Route {
                at: 0,
                ends: [from, to],
                steps: steps.iter().map(|&link| Step { link, forward: None }).collect(),
                is_symmetrical: true,
                is_fixed: true,
            })
            .collect();
        join(points, links, &routes)
    }

    #[test]
    fn links_meet_where_routes_pass_from_one_to_the_next() {
        // A star of three hosts.
        let star = joined(3, 3, &[(0, 1, &[0, 1]), (0, 2, &[0, 2]), (1, 2, &[1, 2])]).unwrap();
        assert_eq!(star.ends, [[0, 3], [3, 1], [3, 2]]);
        assert_eq!(star.uses, [[true; 2]; 3]);
        // Two hosts at each end of a link in the middle: link 2 is crossed backwards by the second route.
        let routes: &[(usize, usize, &[usize])] =
            &[(0, 1, &[0, 2, 1]), (3, 2, &[4, 2, 3]), (1, 3, &[1, 4]), (0, 2, &[0, 3])];
        let barbell = joined(4, 5, routes).unwrap();
        assert_eq!(barbell.ends, [[0, 4], [5, 1], [4, 5], [4, 2], [3, 5]]);
    }

    #[test]
    fn what_is_no_graph_is_found() {
        // A bus: all routes cross link 3 between their own links.
        let bus = joined(3, 4, &[(0, 1, &[0, 3, 1]), (0, 2, &[0, 3, 2]), (1, 2, &[1, 3, 2])]).unwrap_err();
        assert!(matches!(bus, Fault::Loop { link: 3, .. } | Fault::Undecided { link: 3 | 2, .. }), "{bus:?}");
        let apart = joined(3, 1, &[(0, 1, &[0]), (0, 2, &[0])]).unwrap_err();
        assert_eq!(apart, Fault::Apart { link: 0, route: 1, points: [1, 2] });
        let unclear = joined(4, 5, &[(0, 1, &[0, 2, 1]), (2, 3, &[3, 2, 4])]).unwrap_err();
        assert_eq!(unclear, Fault::Undecided { link: 2, route: 1 });
    }
}
