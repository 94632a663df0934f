//! A platform as the statements of a graph.

use std::collections::VecDeque;

use trgen::catalog::{ErrorKind, SpecError};

use super::junctions::join;
use super::{Cable, Fault, Platform, Point, Policy, Route, fat};
use crate::{implied, word};
use fsin_core::topology::graph::{Attributes, Description, MAX_SWITCHES, refusal, short};

/// Cables by the place that they leave, both ways.
struct Leaving {
    /// By place: cables, and the direction in which they leave.
    of: Vec<Vec<(usize, usize)>>,
    /// By place: cables by which something arrives.
    arriving: Vec<usize>,
}

/// A platform whose links join places, and of each cable the directions that are used.
pub(super) struct Wired<'p> {
    platform: Platform<'p>,
    leaving: Leaving,
    uses: Vec<[bool; 2]>,
}

impl<'p> Platform<'p> {
    /// The platform as a graph.
    pub(super) fn graph(mut self, is_duplex: bool) -> Result<Wired<'p>, SpecError> {
        let joined = join(self.points.len(), self.links.len(), &self.routes).map_err(|fault| self.unjoined(fault))?;
        // By cable: which directions are used.
        let mut uses = vec![[true; 2]; self.cables.len()];
        let count = joined.ends.iter().flatten().map(|&end| end + 1).fold(self.points.len(), usize::max);
        for (link, (ends, used)) in self.links.iter().zip(joined.ends.iter().zip(&joined.uses)) {
            if used.contains(&true) {
                let (rate, delay) = ([link.rate; 2], [link.delay; 2]);
                self.cables.push(Cable { ends: *ends, rate, delay, policy: link.policy, count: 1, at: link.at });
                uses.push(*used);
            }
        }
        let number_of = |at: usize| self.links.iter().position(|link| link.at == at);
        let name_of = |at: usize| number_of(at).map(|link| self.link_names.name(link as u32));
        for (cable, used) in self.cables.iter().zip(&uses) {
            let name = || name_of(cable.at).unwrap_or("of the cluster");
            match cable.policy {
                Policy::Fat => return Err(fat(self.places, cable.at, name())),
                Policy::Shared if *used == [true; 2] && !is_duplex => {
                    let what = format!(
                        "the directions of link `{}` share its bandwidth (SHARED), which no link here does",
                        short(name())
                    );
                    let remedy = "write sharing_policy=\"SPLITDUPLEX\" and directions, or take all such links as full duplex: \
                                  graph:FILE,shared=duplex";
                    return Err(refusal(self.places, cable.at, ErrorKind::Unsupported, what, remedy));
                }
                Policy::Shared | Policy::Duplex => {}
            }
        }
        let mut leaving = Leaving { of: vec![Vec::new(); count], arriving: vec![0; count] };
        for (number, (cable, used)) in self.cables.iter().zip(&uses).enumerate() {
            for direction in (0..2).filter(|&direction| used[direction]) {
                leaving.of[cable.ends[direction]].push((number, direction));
                leaving.arriving[cable.ends[1 - direction]] += cable.count;
            }
        }
        self.check_routes(&leaving)?;
        Ok(Wired { platform: self, leaving, uses })
    }

    /// The error of routes that make no graph.
    fn unjoined(&self, fault: Fault) -> SpecError {
        let link_name = |link: usize| short(self.link_names.name(link as u32));
        let (route, what) = match fault {
            Fault::Loop { link, route } => {
                (route, format!("link `{}` would lead from a place to itself, as a bus does", link_name(link)))
            }
            Fault::Apart { link, route, points } => {
                let [one, other] = points.map(|point| short(self.name(point)));
                (
                    route,
                    format!(
                        "by other routes link `{}` leads to `{one}`, and by this one to `{other}`",
                        link_name(link)
                    ),
                )
            }
            Fault::Undecided { link, route } => {
                (route, format!("no end of link `{}` is known to be where this route reaches it", link_name(link)))
            }
        };
        let remedy = "a link joins two places: give each two places a link of their own, with sharing_policy=\"SPLITDUPLEX\" and \
                      direction=\"UP\" or \"DOWN\" where its ends are not clear";
        refusal(self.places, self.routes[route].at, ErrorKind::Unsupported, what, remedy)
    }

    /// The place next to a host that is a host and nothing else, over its only cable.
    fn only_neighbour(&self, place: usize, leaving: &Leaving) -> Option<usize> {
        let is_host = |place: usize| self.points.get(place).is_some_and(|point| point.is_host);
        let [(cable, direction)] = leaving.of[place][..] else { return None };
        let next = self.cables[cable].ends[1 - direction];
        let is_only = self.cables[cable].count == 1 && leaving.arriving[place] == 1;
        (is_host(place) && is_only && !is_host(next)).then_some(next)
    }

    /// Checks that routes that are given as such are shortest.
    fn check_routes(&self, leaving: &Leaving) -> Result<(), SpecError> {
        let home = |place: usize| self.only_neighbour(place, leaving).map_or((place, 0), |next| (next, 1));
        let switches = (0..leaving.of.len()).filter(|&place| home(place).1 == 0).count();
        // More are refused for their number.
        if switches > MAX_SWITCHES {
            return Ok(());
        }
        let mut fixed: Vec<&Route> = self.routes.iter().filter(|route| route.is_fixed).collect();
        fixed.sort_by_key(|route| home(route.ends[0]).0);
        let mut distances: (usize, Vec<usize>) = (usize::MAX, Vec::new());
        for route in fixed {
            let [(from, before), (to, after)] = route.ends.map(home);
            if distances.0 != from {
                distances = (from, self.distances(from, leaving));
            }
            let shortest = distances.1[to] + before + after;
            if shortest < route.steps.len() {
                let [from, to] = route.ends.map(|end| short(self.name(end)));
                let what = format!(
                    "the route from `{from}` to `{to}` crosses {} links, and {shortest} lead there too: routes are shortest here",
                    route.steps.len()
                );
                let remedy = "leave that route out of the platform, and give it by the setting routes";
                return Err(refusal(self.places, route.at, ErrorKind::Unsupported, what, remedy));
            }
        }
        Ok(())
    }

    /// \[links\] By place: its distance.
    fn distances(&self, from: usize, leaving: &Leaving) -> Vec<usize> {
        let mut distances = vec![usize::MAX / 2; leaving.of.len()];
        distances[from] = 0;
        let mut reached = VecDeque::from([from]);
        while let Some(here) = reached.pop_front() {
            for &(cable, direction) in &leaving.of[here] {
                let next = self.cables[cable].ends[1 - direction];
                if distances[next] > distances[here] + 1 {
                    distances[next] = distances[here] + 1;
                    reached.push_back(next);
                }
            }
        }
        distances
    }

    /// A name that no point has.
    fn free_name(&mut self, name: String) -> String {
        let number = self.invent(name, 0);
        self.name(number).to_owned()
    }
}

impl Wired<'_> {
    /// States nodes and edges.
    pub(super) fn state(self, to: &mut Description<'_>) -> Result<(), SpecError> {
        let Self { mut platform, leaving, uses } = self;
        let points = platform.points.len();
        // By place: the node at which its cables end.
        let mut nodes: Vec<u32> = Vec::with_capacity(leaving.of.len());
        for place in 0..points {
            let Point { is_host, at } = platform.points[place];
            let (name, at) = (platform.name(place).to_owned(), at as usize);
            let mut host = 0;
            if is_host {
                host = to.node(&word(&name, at), &[implied("kind", "host", at)])?;
            }
            if is_host && platform.only_neighbour(place, &leaving).is_some() {
                nodes.push(host);
                continue;
            }
            let router = if is_host { platform.free_name(format!("{name}.router")) } else { name };
            let router = to.declare(&word(router, at), false)?;
            // What a host with several links sends and receives crosses all of them at once.
            let rate = leaving.of[place].iter().fold(0_u64, |sum, &(cable, direction)| {
                let cable = &platform.cables[cable];
                sum.saturating_add(cable.rate[direction].saturating_mul(cable.count as u64))
            });
            if is_host {
                to.link([host, router], at, false, &attributes(rate.max(1), 0, 1, at))?;
            }
            nodes.push(router);
        }
        for place in points..leaving.of.len() {
            let name = platform.free_name(format!("junction{}", place - points));
            let at = leaving.of[place].first().map_or(0, |&(cable, _)| platform.cables[cable].at);
            let is_used = !leaving.of[place].is_empty() || leaving.arriving[place] > 0;
            nodes.push(if is_used { to.declare(&word(name, at), false)? } else { 0 });
        }
        for (cable, used) in platform.cables.iter().zip(&uses) {
            let ends = cable.ends.map(|end| nodes[end]);
            let is_one = *used == [true; 2] && cable.rate[0] == cable.rate[1] && cable.delay[0] == cable.delay[1];
            for direction in (0..2).filter(|&direction| used[direction] && !(is_one && direction == 1)) {
                let ends = [ends[direction], ends[1 - direction]];
                let of = attributes(cable.rate[direction], cable.delay[direction], cable.count, cable.at);
                to.link(ends, cable.at, !is_one, &of)?;
            }
        }
        Ok(())
    }
}

/// The attributes of a link.
fn attributes<'a>(rate: u64, delay: u64, count: usize, at: usize) -> Attributes<'a> {
    let mut attributes = vec![implied("rate", format!("{rate}b/s"), at), implied("delay", format!("{delay}ps"), at)];
    if count > 1 {
        attributes.push(implied("count", count.to_string(), at));
    }
    attributes
}
