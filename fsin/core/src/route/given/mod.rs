//! Routes from a table: of a file, of another routing, or balanced over the links.
//!
//! A table has one path for each pair of endpoints, or at each router the next hops to each destination. Each hop has
//! the virtual channels that a packet may take there. Tables are checked where they are made: every pair has a route
//! over links that exist, and every route ends at its destination. Whether their channels form a cycle is for the
//! [proof](super::proof), which follows every route.
//!
//! Where a table has several next hops, a packet takes one of them by a hash of the packet and the router.
//!
//! Decision: docs/decisions/0214-routes-from-files.md.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;

use super::proof::Network as _;
use super::table::{Build, Choice, Function, Row, Serves};
use super::{ChannelPolicy, Draw, Hop, Phase, Routers, RoutingFunction, Visit, mask};

mod read;
mod write;

pub use read::read;
pub use write::{Form, write};

/// Routes of a file.
pub static ROW: Row = Row {
    component: Component {
        name: "routes",
        about: "any network: the paths and channels of the file of {routes}",
        parameters: &[],
        source: "the file",
    },
    aliases: &[],
    serves: Serves::Every,
    policy: ChannelPolicy::Given,
    why: "as the file names them",
    choice: Choice::One,
    build: |build| {
        let Some(table) = build.routes else {
            let what = phrase![["routing" => "routes"], " has no routes"];
            return Err(SpecError::new(ErrorKind::Conflict, what, phrase!["name their file by ", ["routes"]]));
        };
        table.check(build)?;
        Ok(Function::Given(Given(Arc::clone(table))))
    },
};

/// Maximum number of hops of a table.
const MAX_HOPS: usize = 1 << 28;

/// Maximum number of virtual channels, as masks have so many bits.
pub const MAX_CHANNELS: u32 = 32;

/// A hop of a route: the port of the router that it leaves through, and the number of its set of channels, from 1;
/// [`Hop::ANY`] for all channels. In one word, for tables have very many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Step(u32);

impl Step {
    /// No switch has 2^24 ports.
    const fn new(port: u32, class: u8) -> Self {
        Self(port << 8 | class as u32)
    }

    const fn port(self) -> u32 {
        self.0 >> 8
    }

    const fn class(self) -> u8 {
        self.0 as u8
    }
}

/// What the entries of a table stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// By source and destination: the hops of their path, in order.
    Paths,
    /// By router and destination: the hops to choose from.
    Destinations,
}

/// The routes of a network.
#[derive(Clone, PartialEq, Eq)]
pub struct RouteTable {
    kind: Kind,
    endpoints: usize,
    routers: usize,
    /// By entry: the index in `steps` of its first hop; then the length of `steps`.
    starts: Vec<u32>,
    steps: Vec<Step>,
    /// By class, from 1: its virtual channels, as a mask.
    channels: Vec<u32>,
}

impl fmt::Debug for RouteTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RouteTable({:?}, {} endpoints, {} hops)", self.kind, self.endpoints, self.steps.len())
    }
}

/// A table that grows entry by entry.
struct Builder {
    kind: Kind,
    starts: Vec<u32>,
    steps: Vec<Step>,
    channels: Vec<u32>,
    /// By mask of channels: the class.
    classes: HashMap<u32, u8>,
}

impl Builder {
    fn new(kind: Kind) -> Self {
        Self { kind, starts: vec![0], steps: Vec::new(), channels: Vec::new(), classes: HashMap::new() }
    }

    /// The class of a set of channels; `None` for all channels.
    ///
    /// # Errors
    /// More than 255 different sets.
    fn class(&mut self, channels: Option<u32>) -> Result<u8, SpecError> {
        let Some(mask) = channels else { return Ok(Hop::ANY) };
        if let Some(&class) = self.classes.get(&mask) {
            return Ok(class);
        }
        let Ok(class) = u8::try_from(self.channels.len() + 1) else {
            let what = "the routes use more than 255 different sets of channels";
            return Err(SpecError::new(ErrorKind::TooLarge, what, "use fewer sets"));
        };
        self.channels.push(mask);
        self.classes.insert(mask, class);
        Ok(class)
    }

    /// Adds a hop to the present entry.
    fn push(&mut self, step: Step) -> Result<(), SpecError> {
        if self.steps.len() == MAX_HOPS {
            let remedy = "use rows without a source: one for each router and destination";
            return Err(SpecError::new(ErrorKind::TooLarge, format!("more than {MAX_HOPS} hops"), remedy));
        }
        self.steps.push(step);
        Ok(())
    }

    /// Ends the present entry.
    fn end(&mut self) {
        self.starts.push(self.steps.len() as u32);
    }

    fn finish(self, routers: &Routers<'_>) -> RouteTable {
        let Self { kind, starts, steps, channels, .. } = self;
        RouteTable { kind, endpoints: routers.endpoints(), routers: routers.routers(), starts, steps, channels }
    }
}

/// One path for each pair of endpoints, pair by pair: first those of endpoint 0, by destination.
pub struct Paths(Builder);

impl Default for Paths {
    fn default() -> Self {
        Self(Builder::new(Kind::Paths))
    }
}

impl Paths {
    /// Adds a hop to the path of the present pair: its port, and its channels as a mask, all of them if `None`.
    ///
    /// # Errors
    /// More hops, or more different sets of channels, than a table can hold.
    pub fn hop(&mut self, port: u32, channels: Option<u32>) -> Result<(), SpecError> {
        let class = self.0.class(channels)?;
        self.0.push(Step::new(port, class))
    }

    /// Ends the path of the present pair.
    pub fn end(&mut self) {
        self.0.end();
    }

    /// The table, once all pairs of a network have been added.
    #[must_use]
    pub fn finish(self, routers: &Routers<'_>) -> RouteTable {
        self.0.finish(routers)
    }
}

/// What a message for each pair of endpoints, each by its route, would put on the links between routers.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkLoads {
    /// Number of pairs of different endpoints.
    pub pairs: u64,
    /// \[hops\] Over links between routers, of all pairs.
    pub hops: u64,
    /// Number of links between routers, one way.
    pub links: usize,
    /// \[messages\] By output (router x ports + port): what the link carries.
    pub by_output: Vec<u64>,
    /// Number of virtual channels in use, of all links.
    pub channels: usize,
}

impl LinkLoads {
    /// The output that carries most, and how much; `None` without links.
    #[must_use]
    pub fn busiest(&self) -> Option<(usize, u64)> {
        let most = self.by_output.iter().copied().max().filter(|&most| most > 0)?;
        self.by_output.iter().position(|&load| load == most).map(|output| (output, most))
    }

    /// \[messages\] What a link carries in the mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.hops as f64 / self.links.max(1) as f64
    }
}

impl RouteTable {
    /// The entry of a pair of endpoints, or of a router and a destination.
    #[inline(always)]
    fn entry(&self, from: usize, destination: usize) -> &[Step] {
        let entry = from * self.endpoints + destination;
        &self.steps[self.starts[entry] as usize..self.starts[entry + 1] as usize]
    }

    /// The channels of a class, as a mask; `None` for all.
    fn channels_of(&self, class: u8) -> Option<u32> {
        usize::from(class).checked_sub(1).map(|class| self.channels[class])
    }

    /// \[channels\] The least number of virtual channels of a network with these routes.
    #[must_use]
    pub fn least_channels(&self) -> usize {
        self.channels.iter().map(|mask| (u32::BITS - mask.leading_zeros()) as usize).max().unwrap_or(1)
    }

    /// Refuses routes of another network, and channels that there are not.
    fn check(&self, build: &Build<'_>) -> Result<(), SpecError> {
        let routers = Routers::new(build.topology)?;
        if (self.endpoints, self.routers) != (routers.endpoints(), routers.routers()) {
            let what = format!("the routes are of another network than {}", build.topology.spec());
            return Err(SpecError::new(ErrorKind::Conflict, what, "use those of this one").of("routes"));
        }
        let least = self.least_channels();
        if least > build.vcs {
            let what = phrase![["routes"], (": virtual channel {} is used, and there are {}", least - 1, build.vcs)];
            return Err(
                SpecError::new(ErrorKind::OutOfRange, what, phrase!["use ", ["vcs" => least], " or more"]).of("vcs")
            );
        }
        Ok(())
    }

    /// Hop number `count` of the path of a pair of endpoints: its port and channels. `None` beyond its end, and where
    /// the table is by router and destination.
    #[must_use]
    #[inline]
    pub fn hop_of_pair(&self, (source, destination): (usize, usize), count: usize) -> Option<(u32, Option<u32>)> {
        let path = (self.kind == Kind::Paths).then(|| self.entry(source, destination))?;
        path.get(count).map(|step| (step.port(), self.channels_of(step.class())))
    }

    /// The same routes with a path for each pair; of several next hops the first one.
    ///
    /// # Errors
    /// More hops than a table can hold.
    pub fn to_paths(&self, routers: &Routers<'_>) -> Result<Self, SpecError> {
        if self.kind == Kind::Paths {
            return Ok(self.clone());
        }
        let mut paths = Paths::default();
        for pair in (0..self.endpoints).flat_map(|source| (0..self.endpoints).map(move |to| (source, to))) {
            for (_, port, channels) in self.path(routers, pair) {
                paths.hop(port, channels)?;
            }
            paths.end();
        }
        Ok(paths.finish(routers))
    }

    /// The ports to choose from at a router for a destination, where the table is by router and destination; `None`
    /// where it has paths.
    #[must_use]
    pub fn next_ports(&self, router: usize, destination: usize) -> Option<impl Iterator<Item = u32> + '_> {
        let own = (self.kind == Kind::Destinations).then(|| self.entry(router, destination));
        own.map(|steps| steps.iter().map(|step| step.port()))
    }

    /// True if a packet between some endpoints has several hops to choose from.
    #[must_use]
    pub fn has_choices(&self) -> bool {
        self.kind == Kind::Destinations && self.starts.array_windows().any(|[start, end]| end - start > 1)
    }

    /// The path of a pair of endpoints: by hop the router, the port and the channels. Of several hops the first one.
    pub fn path<'a>(
        &'a self,
        routers: &'a Routers<'_>,
        (source, destination): (usize, usize),
    ) -> impl Iterator<Item = (usize, u32, Option<u32>)> + 'a {
        let (mut here, home, mut count) = (routers.entry(source), routers.home(destination), 0);
        std::iter::from_fn(move || {
            if here == home {
                return None;
            }
            let step = match self.kind {
                Kind::Paths => self.entry(source, destination).get(count)?,
                Kind::Destinations => self.entry(here, destination).first()?,
            };
            count += 1;
            let from = here;
            here = routers.next(here, step.port() as usize)?;
            Some((from, step.port(), self.channels_of(step.class())))
        })
    }

    /// What a message for each pair of endpoints puts on the links, each of which has `vcs` virtual channels.
    #[must_use]
    pub fn loads(&self, routers: &Routers<'_>, vcs: usize) -> LinkLoads {
        let ports = routers.ports();
        let mut by_output = vec![0; routers.routers() * ports];
        let mut used = vec![0_u32; by_output.len()];
        let mut hops = 0;
        let pairs = (0..self.endpoints).flat_map(|source| (0..self.endpoints).map(move |to| (source, to)));
        for pair in pairs.filter(|(source, destination)| source != destination) {
            for (router, port, channels) in self.path(routers, pair) {
                let output = router * ports + port as usize;
                by_output[output] += 1;
                used[output] |= channels.unwrap_or(mask(vcs));
                hops += 1;
            }
        }
        LinkLoads {
            pairs: self.endpoints as u64 * (self.endpoints as u64 - 1),
            hops,
            links: (0..routers.routers()).map(|router| routers.links(router).count()).sum(),
            by_output,
            channels: used.iter().map(|mask| mask.count_ones() as usize).sum(),
        }
    }
}

/// The routing function of a table.
#[derive(Debug)]
pub struct Given(Arc<RouteTable>);

impl RoutingFunction for Given {
    fn classes(&self) -> usize {
        self.0.channels.len().max(1)
    }

    fn hops(&self, at: &Visit, draw: &mut impl Draw, mut add: impl FnMut(Hop)) {
        if let Some(hop) = self.only(at, draw) {
            add(hop);
        }
    }

    #[inline]
    fn only(&self, at: &Visit, draw: &mut impl Draw) -> Option<Hop> {
        let destination = at.destination as usize;
        let step = match self.0.kind {
            Kind::Paths => self.0.entry(at.source as usize, destination).get(usize::from(at.phase)),
            Kind::Destinations => match self.0.entry(at.here, destination) {
                [] => None,
                [one] => Some(one),
                several => several.get(draw.draw(at.here as u32, several.len() as u32) as usize),
            },
        };
        step.map(|step| Hop::of_class(step.port(), step.class()))
    }

    fn hop(&self, at: &Visit, _: usize, _: &mut impl Draw) -> Phase {
        match self.0.kind {
            Kind::Paths => at.phase + 1,
            Kind::Destinations => at.phase,
        }
    }

    fn channels(&self) -> Option<&[u32]> {
        Some(&self.0.channels)
    }
}

#[cfg(test)]
mod tests;
