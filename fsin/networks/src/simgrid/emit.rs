//! A platform as the statements of a graph.

use std::collections::VecDeque;

use trgen::catalog::{ErrorKind, SpecError};

use super::junctions::join;
use super::{Cable, Fault, Platform, Policy, Route, fat};
use crate::{Builder, implied, word};
use fsin_core::topology::graph::{Attributes, Graph, MAX_SWITCHES, refusal, short};

/// Cables by the place that they leave, both ways.
struct Leaving {
    /// By place: cables, and the direction in which they leave.
    of: Vec<Vec<(usize, usize)>>,
    /// By place: cables by which something arrives.
    arriving: Vec<usize>,
}

impl Platform<'_> {
    /// The statements of the platform.
    pub(super) fn graph<'a>(mut self, is_duplex: bool) -> Result<Graph<'a>, SpecError> {
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
        let name_of = |at: usize| self.links_by_name.iter().find(|(_, link)| self.links[**link].at == at);
        for (cable, used) in self.cables.iter().zip(&uses) {
            let name = || name_of(cable.at).map_or("of the cluster", |(name, _)| name);
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
        Ok(self.statements(&leaving, &uses))
    }

    /// The error of routes that make no graph.
    fn unjoined(&self, fault: Fault) -> SpecError {
        let link_name = |link: usize| {
            let named = self.links_by_name.iter().find(|(_, number)| **number == link);
            named.map_or(String::new(), |(name, _)| short(name))
        };
        let (route, what) = match fault {
            Fault::Loop { link, route } => {
                (route, format!("link `{}` would lead from a place to itself, as a bus does", link_name(link)))
            }
            Fault::Apart { link, route, points } => {
                let [one, other] = points.map(|point| short(&self.points[point].name));
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
                let [from, to] = route.ends.map(|end| short(&self.points[end].name));
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

    /// Nodes and edges.
    fn statements<'a>(mut self, leaving: &Leaving, uses: &[[bool; 2]]) -> Graph<'a> {
        let mut builder = Builder::default();
        let points = self.points.len();
        // By place: the name of the node at which its cables end.
        let mut names: Vec<String> = Vec::with_capacity(leaving.of.len());
        for place in 0..points {
            let (name, at, is_host) = {
                let point = &self.points[place];
                (point.name.clone(), point.at, point.is_host)
            };
            if is_host {
                builder.node(word(name.clone(), at), vec![implied("kind", "host", at)]);
            }
            if is_host && self.only_neighbour(place, leaving).is_some() {
                names.push(name);
                continue;
            }
            let router = if is_host { self.free_name(format!("{name}.router")) } else { name.clone() };
            let switch = vec![implied("kind", "switch", at), implied("endpoints", "0", at)];
            builder.node(word(router.clone(), at), switch);
            // What a host with several links sends and receives crosses all of them at once.
            let rate = leaving.of[place].iter().fold(0_u64, |sum, &(cable, direction)| {
                let cable = &self.cables[cable];
                sum.saturating_add(cable.rate[direction].saturating_mul(cable.count as u64))
            });
            if is_host {
                let attributes = attributes(rate.max(1), 0, 1, at);
                builder.edge([word(name, at), word(router.clone(), at)], false, attributes);
            }
            names.push(router);
        }
        for place in points..leaving.of.len() {
            let name = self.free_name(format!("junction{}", place - points));
            let at = leaving.of[place].first().map_or(0, |&(cable, _)| self.cables[cable].at);
            if !leaving.of[place].is_empty() || leaving.arriving[place] > 0 {
                let switch = vec![implied("kind", "switch", at), implied("endpoints", "0", at)];
                builder.node(word(name.clone(), at), switch);
            }
            names.push(name);
        }
        for (cable, used) in self.cables.iter().zip(uses) {
            let ends = cable.ends.map(|end| names[end].as_str());
            let is_one = *used == [true; 2] && cable.rate[0] == cable.rate[1] && cable.delay[0] == cable.delay[1];
            for direction in (0..2).filter(|&direction| used[direction] && !(is_one && direction == 1)) {
                let ends = [ends[direction], ends[1 - direction]].map(|name| word(name.to_owned(), cable.at));
                let of = attributes(cable.rate[direction], cable.delay[direction], cable.count, cable.at);
                builder.edge(ends, !is_one, of);
            }
        }
        builder.graph()
    }

    /// A name that no point has.
    fn free_name(&mut self, name: String) -> String {
        let number = self.invent(name, 0);
        self.points[number].name.clone()
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
