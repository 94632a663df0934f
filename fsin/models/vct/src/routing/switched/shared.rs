//! Routings of the table of all models ([`fsin_core::route`]), for networks of switches.
//!
//! The routing function says over which links a packet may go and with which class of channels. Classes share the
//! channels by the policy of the routing's row, and the dependencies of all channels are searched for a cycle when the
//! network is built. A packet whose route is decided at its first switch carries 0 until then, and after that the phase
//! of its route and 1.

use std::sync::Arc;

use fsin_core::route::proof::{self, OutputChannel, Routed};
use fsin_core::route::{
    self, Build, ByKey, Carries, Function, Hop, Masks, Phase, RouteTable, RoutingFunction as _, Tier, rows,
};
use fsin_core::topology::switched::{Fabric, Switched};
use fsin_core::topology::{self, Port, Topology, node_name};
use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;

use super::{Candidate, Departure, SwitchRouting, Visit, next_switch, unsuited};
use crate::router::RouterParams;
use crate::routing::{Avoidance, Choice, Requests, Routing, Row, Serves, Vcs};

/// A row of this model for a row of all models.
const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    networks: &'static [&'static str],
    of: &route::Row,
) -> Row {
    Row {
        component: Component { name, ..of.component },
        aliases,
        serves: Serves::Only(networks),
        vcs: Vcs::AtLeast(1),
        dimensions: None,
        avoidance: Avoidance::Order,
        dead_links: false,
        requests: Requests::Switched { choice: Choice::Open, alternatives: false },
    }
}

pub(in crate::routing) static HYPERX_MINIMAL: Row =
    row("hyperx:minimal", &["minimal"], &["hyperx"], &rows::HYPERX_MINIMAL);
pub(in crate::routing) static HYPERX_MINIMAL_ADAPTIVE: Row =
    row("hyperx:minimal-adaptive", &["adaptive", "minimal-adaptive", "min_adapt"], &["hyperx"], &rows::HYPERX_ADAPTIVE);
pub(in crate::routing) static HYPERX_VALIANT: Row =
    row("hyperx:valiant", &["valiant"], &["hyperx"], &rows::HYPERX_VALIANT);
pub(in crate::routing) static HYPERX_UGAL: Row =
    row("hyperx:ugal", &["ugal", "ugal-l"], &["hyperx"], &rows::HYPERX_UGAL);
pub(in crate::routing) static CMESH_ADAPTIVE: Row =
    row("cmesh:adaptive", &["adaptive", "minimal-adaptive", "min_adapt"], &["cmesh"], &rows::CUBE_ADAPTIVE);
pub(in crate::routing) static CMESH_DOR: Row =
    row("cmesh:dor", &["dor", "e-cube", "dimension-order", "dim_order", "xy"], &["cmesh"], &rows::CUBE_DOR);

pub(in crate::routing) static FLY: Row =
    row("fly:destination-tag", &["destination-tag", "dest_tag", "dest-tag"], &["fly"], &rows::BUTTERFLY);

pub(in crate::routing) static ROUTES: Row =
    Row { serves: Serves::Switched, ..row("graph:routes", &["routes"], &[], &rows::ROUTES) };

/// The row of all models for each of these routings.
const ROWS: [(Routing, &route::Row); 8] = [
    (Routing::HyperxMinimal, &rows::HYPERX_MINIMAL),
    (Routing::HyperxMinimalAdaptive, &rows::HYPERX_ADAPTIVE),
    (Routing::HyperxValiant, &rows::HYPERX_VALIANT),
    (Routing::HyperxUgal, &rows::HYPERX_UGAL),
    (Routing::CmeshAdaptive, &rows::CUBE_ADAPTIVE),
    (Routing::CmeshDor, &rows::CUBE_DOR),
    (Routing::FlyDestinationTag, &rows::BUTTERFLY),
    (Routing::GraphRoutes, &rows::ROUTES),
];

/// The routing as all models know it.
fn carried(routing: Routing) -> Option<Carries> {
    ROWS.iter().find(|(known, _)| *known == routing).map(|(_, row)| Carries::new(row))
}

/// A routing function with its channels.
#[derive(Debug)]
pub(in crate::routing) struct Shared {
    carries: Carries,
    function: Function,
    /// The channels of each class.
    masks: Masks,
    /// Number of the first switch: endpoints come before switches.
    first_switch: usize,
}

/// The error of channels that may wait for each other in a cycle; `first` is the number of the first router.
pub(crate) fn cyclic(name: &str, topology: &dyn Topology, first: usize, cycle: &[OutputChannel]) -> SpecError {
    let mut nodes: Vec<usize> = cycle.iter().map(|channel| channel.router + first).collect();
    if let Some(least) = (0..nodes.len()).min_by_key(|&at| nodes[at]) {
        nodes.rotate_left(least);
        nodes.push(nodes[0]);
    }
    let nodes: Vec<String> = nodes.into_iter().map(|node| node_name(topology, NodeId::at(node))).collect();
    let what = phrase![
        ["routing" => name],
        (" is not free of deadlock in {}: {} channels may wait for each other in a cycle, {}", topology.spec(), cycle.len(), nodes.join(">"))
    ];
    SpecError::new(ErrorKind::Conflict, what, phrase!["use more ", ["vcs"], " or another ", ["routing"]]).of("routing")
}

/// In the first state word: the route has not been decided.
const UNDECIDED: i16 = 0;

impl Shared {
    /// The function of a network, with its channels, whether or not it is free of deadlock.
    fn built(
        carries: Carries,
        vcs: usize,
        network: &Switched,
        routes: Option<&Arc<RouteTable>>,
    ) -> Result<Self, SpecError> {
        let function = Build { routes, ..Build::new(carries.row, network, vcs, carries.policy) }.function()?;
        let masks = Masks::of_function(carries.policy, &function, vcs);
        Ok(Self { carries, function, masks, first_switch: network.fabric().endpoints() })
    }

    /// Refuses channels that may wait for each other in a cycle.
    fn prove(&self, name: &str, vcs: usize, network: &Switched) -> Result<(), SpecError> {
        let switches = Switches(network.fabric());
        if let Some(specimens) = proof::specimens(&switches, &self.function) {
            for (spec, ways) in specimens {
                let specimen = topology::parse(&spec, ways)?;
                if let Some(network) = specimen.switched() {
                    Self::built(self.carries, vcs, network, None)?.search(name, vcs, network)?;
                }
            }
            return Ok(());
        }
        self.search(name, vcs, network)
    }

    /// The same, by following every route.
    fn search(&self, name: &str, vcs: usize, network: &Switched) -> Result<(), SpecError> {
        let switches = Switches(network.fabric());
        let Carries { row, policy } = self.carries;
        let routed = Routed {
            network: &switches,
            function: &self.function,
            choice: row.choice,
            policy,
            masks: &self.masks,
            vcs,
        };
        let Some(cycle) = routed.cycle() else { return Ok(()) };
        Err(cyclic(name, network, self.first_switch, &cycle))
    }

    /// True if the route is decided at the first switch.
    fn decides(&self) -> bool {
        self.carries.row.choice == route::Choice::AtFirstRouter
    }

    /// True if the route of this packet is still to be decided.
    fn is_undecided(&self, state: &[i16]) -> bool {
        self.decides() && state[0] == UNDECIDED
    }

    /// The phase of a packet.
    fn phase(&self, state: &[i16]) -> Phase {
        (state[0] - i16::from(self.decides())) as Phase
    }

    /// A hop with its channels, and the hops to go by it.
    fn candidate(&self, hop: Hop, hops: u8) -> Candidate {
        let tier = u8::from(hop.tier == Tier::Escape);
        Candidate { port: Port(hop.port), vcs: self.masks.of(hop), tier, hops, bubble: false }
    }

    /// A packet as the routing function sees it, without a phase.
    fn visit(&self, (node, home): (NodeId, NodeId), source: u32, destination: u32, first: NodeId) -> route::Visit {
        let number = |switch: NodeId| switch.index() - self.first_switch;
        route::Visit { source, destination, first: number(first), here: number(node), home: number(home), phase: 0 }
    }
}

impl SwitchRouting for Shared {
    fn new(params: &RouterParams, network: &Switched) -> Result<Self, SpecError> {
        let carries = carried(params.routing).ok_or_else(|| unsuited(params.routing, &network.spec()))?;
        let new = Self::built(carries, params.vcs, network, params.routes.as_ref())?;
        let (name, least) = (params.routing.name(), carries.least(&new.function));
        if params.vcs < least {
            let why = if carries.row.why.is_empty() { "one for each class" } else { carries.row.why };
            let what = phrase![["routing" => name], " needs {least} virtual channels, {why}, ", ["vcs"], (" is {}", params.vcs)];
            return Err(SpecError::new(ErrorKind::Malformed, what, phrase!["use ", ["vcs" => least], " or more"]));
        }
        new.prove(name, params.vcs, network)?;
        Ok(new)
    }

    fn last_channels(&self, _visit: &Visit<'_>, all: u32) -> u32 {
        all
    }

    fn single_candidate(&self, _fabric: &Fabric, _visit: &Visit<'_>, _home: NodeId) -> Option<Candidate> {
        None
    }

    fn candidates(
        &self,
        fabric: &Fabric,
        visit: &Visit<'_>,
        home: NodeId,
        _all: u32,
        mut add_candidate: impl FnMut(Candidate),
    ) {
        let first = fabric.entry(visit.source);
        let at = self.visit((visit.node, home), visit.source.0, visit.destination.0, first);
        let mut draw = ByKey(visit.key);
        if !self.is_undecided(visit.state) {
            let at = route::Visit { phase: self.phase(visit.state), ..at };
            return self.function.hops(&at, &mut draw, |hop| add_candidate(self.candidate(hop, hop.left)));
        }
        let mut last = None;
        for phase in self.function.decisions(&at, &mut draw).all() {
            let at = route::Visit { phase, ..at };
            let hops = self.function.length(&at, &mut draw).min(255) as u8;
            // The port tells how a packet has decided, so that routes that begin alike are one.
            self.function.hops(&at, &mut draw, |hop| {
                if last.replace(hop.port) != Some(hop.port) {
                    add_candidate(self.candidate(hop, hops));
                }
            });
        }
    }

    fn may_weigh(&self) -> bool {
        self.decides()
    }

    fn weighs(&self, visit: &Visit<'_>) -> bool {
        self.is_undecided(visit.state)
    }

    fn hop(&self, fabric: &Fabric, at: &Departure, port: Port, state: &mut [i16]) {
        let Some(next) = next_switch(fabric, at.node, port) else { return };
        let (home, _) = fabric.home(at.destination);
        // Only decisions look at the source, and they are made at its own switch.
        let visit = self.visit((at.node, home), at.destination.0, at.destination.0, at.node);
        let mut draw = ByKey(at.key);
        let phase = if self.is_undecided(state) {
            let takes = |&phase: &Phase| {
                let mut takes = false;
                let at_phase = route::Visit { phase, ..visit };
                self.function.hops(&at_phase, &mut ByKey(at.key), |hop| takes |= hop.port == port.0);
                takes
            };
            let decisions = self.function.decisions(&visit, &mut draw);
            decisions.all().find(takes).unwrap_or(decisions.first)
        } else {
            self.phase(state)
        };
        let next = next.index() - self.first_switch;
        let after = self.function.hop(&route::Visit { phase, ..visit }, next, &mut draw);
        state[0] = after as i16 + i16::from(self.decides());
    }
}

/// The switches of a network, for the proof.
struct Switches<'a>(&'a Fabric);

impl proof::Network for Switches<'_> {
    fn routers(&self) -> usize {
        self.0.nodes() - self.0.endpoints()
    }

    fn ports(&self) -> usize {
        self.0.ports()
    }

    fn endpoints(&self) -> usize {
        self.0.endpoints()
    }

    fn entry(&self, endpoint: usize) -> usize {
        self.0.entry(NodeId::at(endpoint)).index() - self.0.endpoints()
    }

    fn home(&self, endpoint: usize) -> usize {
        self.0.home(NodeId::at(endpoint)).0.index() - self.0.endpoints()
    }

    fn next(&self, router: usize, port: usize) -> Option<usize> {
        let next = next_switch(self.0, NodeId::at(router + self.0.endpoints()), Port(port as u8))?;
        Some(next.index() - self.0.endpoints())
    }
}
