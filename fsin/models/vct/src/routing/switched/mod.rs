//! Routing functions of networks of switches, of the table of all models ([`fsin_core::route`]).
//!
//! In a direct network a packet carries the hops to go in each dimension. Here it carries its destination and two words
//! of state, and route computation takes place at each switch. The routing function says over which links a packet may
//! leave and with which class of channels, and the channel policy of the row (`rows.rs`) turns classes into channels. A
//! **candidate** is a port, the virtual channels that the packet may take there, and the hops to go from there. Among
//! the candidates of the first tier with an open channel the packet takes the one with fewest packets ahead; ties are
//! broken at random. Candidates of later tiers are for packets that find no other: the escape channel.
//!
//! Some routings **weigh** minimal candidates against longer ones, by packets ahead times hops to go. They choose
//! before they test whether the candidate is open, so that a momentarily busy minimal port does not cause a misroute.
//! A packet whose route is decided at its first switch carries 0 until then, and after that the phase of its route
//! and 1.
//!
//! The routings of trees and cubes follow the original: their heads ignore ownership ([`Choice`]).
//!
//! The dependencies of all channels are searched for a cycle when the network is built.
//!
//! Decision: docs/decisions/0037-switch-routing.md, docs/decisions/0281-switch-routings-of-the-table.md.

use std::sync::Arc;

use fsin_core::route::proof::prove;
use fsin_core::route::{
    self, Build, ByKey, Carries, ChannelPolicy, Draw, Function, Hop, LANE, Masks, Phase, RoutingFunction as _, Tier,
};
use fsin_core::topology::switched::{Fabric, Switched};
use fsin_core::topology::{Port, Topology as _};
use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::{Choice, Requests, Routing};
use crate::router::RouterParams;
use crate::router::request::Input;

pub(super) mod rows;

/// A routing candidate: a port that a packet may leave through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The port.
    pub port: Port,
    /// The virtual channels, as a mask.
    pub vcs: u32,
    /// Candidates of a tier are considered if none of an earlier tier passes.
    pub tier: u8,
    /// \[hops\] To the last switch, by this candidate.
    pub hops: u8,
    /// True if a packet that enters this ring must leave a bubble there.
    pub bubble: bool,
}

/// A packet at a switch, as the routing function sees it.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// The switch or endpoint where the packet is.
    pub node: NodeId,
    /// The queue in which the packet stands.
    pub input: Input,
    /// The packet's source.
    pub source: NodeId,
    /// The packet's destination.
    pub destination: NodeId,
    /// Random stream of (run seed, packet).
    pub key: u64,
    /// The state words of the packet.
    pub state: &'a [i16],
}

/// The error of a routing in a network that it does not serve.
pub(crate) fn unsuited(routing: Routing, spec: &str) -> SpecError {
    let what =
        phrase![["routing" => routing.name()], (" is for {}, not for ", routing.networks()), ["topology" => spec]];
    SpecError::new(ErrorKind::Conflict, what, "")
}

/// When a packet keeps the channel on which it came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keeps {
    Never,
    /// While it goes straight on.
    Straight,
    /// On its whole route.
    Always,
}

/// The choices of a packet: those of its key. The channel that it keeps is the one on which it came, if any.
struct Choices {
    key: ByKey,
    kept: Option<u8>,
}

impl Draw for Choices {
    #[inline(always)]
    fn draw(&mut self, label: u32, bound: u32) -> u32 {
        match self.kept {
            Some(vc) if label == LANE => vc.into(),
            _ => self.key.draw(label, bound),
        }
    }
}

/// In the first state word: the route has not been decided.
const UNDECIDED: i16 = 0;

/// The routing function of a network of switches, with its channels, for one routing.
#[derive(Debug)]
pub struct RoutingFunction {
    fabric: Arc<Fabric>,
    /// All channels, as a mask.
    all: u32,
    /// How one of the candidate channels is chosen.
    choice: Choice,
    /// When packets keep their channel.
    keeps: Keeps,
    /// The routing as all models know it, and what its channels are used for.
    carries: Carries,
    /// True if packets that enter a ring leave a bubble there.
    has_bubble: bool,
    /// True if packets weigh their candidates at every switch.
    weighs: bool,
    /// True if the route is decided at the first switch.
    decides: bool,
    /// True if a packet has one hop only, once its route is decided.
    is_single: bool,
    /// True if the phase of a packet may change later too.
    has_phases: bool,
    function: Function,
    /// The channels of each class.
    masks: Masks,
}

impl RoutingFunction {
    /// The routing function of a network for the routing and the number of channels that are set. Callers that report
    /// an error add the list of routings ([`RouterParams::check`]).
    ///
    /// # Errors
    /// A routing that does not suit this network, or too few channels for it.
    pub fn new(params: &RouterParams, network: &Switched) -> Result<Self, SpecError> {
        let (row, name) = (params.routing.row(), params.routing.name());
        let Requests::Switched { choice, carries } = row.requests else {
            return Err(unsuited(params.routing, &network.spec()));
        };
        if network.fabric().faults() > 0 && !row.dead_links {
            let what = phrase![["routing" => name], " cannot avoid dead links"];
            return Err(SpecError::new(ErrorKind::Conflict, what, ""));
        }
        let Carries { row: shared, policy } = carries;
        let function = Self::build(params, network, carries).function()?;
        let least = carries.least(&function);
        if params.vcs < least {
            let why = if shared.why.is_empty() { "one for each class" } else { shared.why };
            let what = phrase![["routing" => name], " needs {least} virtual channels, {why}, ", ["vcs"], (" is {}", params.vcs)];
            return Err(SpecError::new(ErrorKind::Malformed, what, phrase!["use ", ["vcs" => least], " or more"]));
        }
        Ok(Self {
            carries,
            fabric: Arc::clone(network.fabric()),
            all: route::mask(params.vcs),
            choice,
            keeps: match (choice, policy) {
                (Choice::Drawn, ChannelPolicy::Bubble) => Keeps::Straight,
                (Choice::Drawn, _) => Keeps::Always,
                (Choice::Open | Choice::MostSpace, _) => Keeps::Never,
            },
            has_bubble: policy.has_bubble(),
            weighs: shared.choice == route::Choice::Weighed,
            decides: shared.choice == route::Choice::AtFirstRouter,
            is_single: matches!(shared.choice, route::Choice::One | route::Choice::AtFirstRouter),
            has_phases: function.has_phases(),
            masks: Masks::of_function(policy, &function, params.vcs),
            function,
        })
    }

    /// What the routing function of a network is built from.
    fn build<'a>(params: &'a RouterParams, network: &'a Switched, carries: Carries) -> Build<'a> {
        Build {
            routes: params.routes.as_ref(),
            alternatives: params.alternatives as usize,
            may_be_parted: !params.timetable.is_empty(),
            ..Build::new(carries.row, network, params.vcs, carries.policy)
        }
    }

    /// Refuses channels that may wait for each other in a cycle. The function is that of these arguments.
    pub(crate) fn prove(&self, params: &RouterParams, network: &Switched) -> Result<(), SpecError> {
        let remedy = phrase!["use more ", ["vcs"], " or another ", ["routing"]];
        prove(&Self::build(params, network, self.carries), &self.function, params.routing.name(), remedy)
    }

    /// How one of the candidate channels is chosen.
    #[inline(always)]
    #[must_use]
    pub const fn choice(&self) -> Choice {
        self.choice
    }

    /// True if the state of packets never changes.
    #[must_use]
    pub const fn keeps_state(&self) -> bool {
        !(self.decides || self.has_phases)
    }

    /// True if the route of this packet is still to be decided.
    #[inline(always)]
    const fn is_undecided(&self, state: &[i16]) -> bool {
        self.decides && state[0] == UNDECIDED
    }

    /// The phase of a packet.
    #[inline(always)]
    const fn phase(&self, state: &[i16]) -> Phase {
        (state[0] - self.decides as i16) as Phase
    }

    /// A packet at a switch, as the routing functions of all models see it.
    #[inline(always)]
    fn visit(&self, visit: &Visit<'_>, home: NodeId, phase: Phase) -> route::Visit {
        let number = |switch: NodeId| switch.index() - self.fabric.endpoints();
        let (source, destination) = (visit.source.0, visit.destination.0);
        let first = number(self.fabric.entry(visit.source));
        route::Visit { source, destination, first, here: number(visit.node), home: number(home), phase }
    }

    /// The random choices of a packet.
    #[inline(always)]
    fn choices_of(visit: &Visit<'_>) -> Choices {
        let kept = if let Input::Transit(from) = visit.input { Some(from.vc) } else { None };
        Choices { key: ByKey(visit.key), kept }
    }

    /// A hop of a packet with its channels, and the hops to go by it.
    #[inline(always)]
    fn candidate(&self, input: Input, hop: Hop, hops: u8) -> Candidate {
        let port = Port(hop.port);
        let vcs = match input {
            Input::Transit(from) if self.keeps == Keeps::Straight && from.port == port => 1 << from.vc,
            // Known at compile time in most routing functions.
            _ if (hop.tier, hop.class) == (Tier::Free, Hop::ANY) => self.all,
            Input::Transit(_) | Input::Injection => self.masks.of(hop),
        };
        let bubble = self.has_bubble && hop.tier != Tier::Adaptive;
        Candidate { port, vcs, tier: u8::from(hop.tier == Tier::Escape), hops, bubble }
    }

    /// The single candidate of a packet at an endpoint or at its last switch. It needs no bubble. Otherwise the last
    /// switch.
    #[inline(always)]
    fn at_an_end(&self, visit: &Visit<'_>) -> Result<Candidate, NodeId> {
        let plain = |port, vcs| Ok(Candidate { port, vcs, tier: 0, hops: 1, bubble: false });
        if visit.node.index() < self.fabric.endpoints() {
            return plain(self.fabric.port(visit.node, 0), self.all);
        }
        let (home, port) = self.fabric.home(visit.destination);
        if home != visit.node {
            return Err(home);
        }
        match visit.input {
            Input::Transit(from) if self.keeps == Keeps::Always => plain(port, 1 << from.vc),
            Input::Transit(_) | Input::Injection => plain(port, self.all),
        }
    }

    /// The single candidate of a packet, if that is evident without weighing.
    #[inline(always)]
    #[must_use]
    pub fn single_candidate(&self, visit: &Visit<'_>) -> Option<Candidate> {
        let home = match self.at_an_end(visit) {
            Ok(candidate) => return Some(candidate),
            Err(_) if !self.is_single || self.is_undecided(visit.state) => return None,
            Err(home) => home,
        };
        let at = self.visit(visit, home, self.phase(visit.state));
        let hop = self.function.only(&at, &mut Self::choices_of(visit))?;
        Some(self.candidate(visit.input, hop, hop.left))
    }

    /// Passes every candidate of a packet to `add_candidate`, the candidates of a tier one after the other.
    #[inline]
    pub fn candidates(&self, visit: &Visit<'_>, mut add_candidate: impl FnMut(Candidate)) {
        match self.at_an_end(visit) {
            Ok(candidate) => add_candidate(candidate),
            Err(home) => self.all_choices(visit, home, &mut add_candidate),
        }
    }

    /// [`choices`](Self::choices), compiled once for all who ask.
    #[inline(never)]
    fn all_choices(&self, visit: &Visit<'_>, home: NodeId, add_candidate: &mut dyn FnMut(Candidate)) {
        self.choices(visit, home, add_candidate);
    }

    /// The ports of all candidates of a packet as a mask, where these need not be listed one by one: it may take any
    /// channel of them, and they have the same tier.
    #[inline(always)]
    #[must_use]
    pub fn free_ports(&self, visit: &Visit<'_>) -> Option<u64> {
        match self.at_an_end(visit) {
            Ok(candidate) => (candidate.vcs == self.all).then_some(1 << candidate.port.index()),
            Err(_) if self.keeps != Keeps::Never || self.has_bubble || self.is_undecided(visit.state) => None,
            Err(home) => self.function.free_ports(&self.visit(visit, home, self.phase(visit.state))),
        }
    }

    /// As [`candidates`](Self::candidates), for a packet that is known to have no
    /// [single candidate](Self::single_candidate).
    #[inline]
    pub fn several_candidates(&self, visit: &Visit<'_>, add_candidate: impl FnMut(Candidate)) {
        self.choices(visit, self.fabric.home(visit.destination).0, add_candidate);
    }

    /// The same, of a packet whose last switch is `home`.
    #[inline]
    fn choices(&self, visit: &Visit<'_>, home: NodeId, mut add_candidate: impl FnMut(Candidate)) {
        if self.is_undecided(visit.state) {
            return self.first_choices(visit, home, &mut add_candidate);
        }
        let at = self.visit(visit, home, self.phase(visit.state));
        let input = visit.input;
        let mut draw = Self::choices_of(visit);
        self.function.hops(&at, &mut draw, |hop| add_candidate(self.candidate(input, hop, hop.left)));
    }

    /// The same, of a packet whose route is still to be decided.
    #[inline(never)]
    fn first_choices(&self, visit: &Visit<'_>, home: NodeId, add_candidate: &mut dyn FnMut(Candidate)) {
        let at = self.visit(visit, home, 0);
        let mut draw = Self::choices_of(visit);
        let mut last = None;
        for phase in self.function.decisions(&at, &mut draw).all() {
            let at = route::Visit { phase, ..at };
            let hops = self.function.length(&at, &mut draw).min(255) as u8;
            // The port tells how a packet has decided, so that routes that begin alike are one.
            self.function.hops(&at, &mut draw, |hop| {
                if last.replace(hop.port) != Some(hop.port) {
                    add_candidate(self.candidate(visit.input, hop, hops));
                }
            });
        }
    }

    /// True if this packet weighs its candidates of the first tier.
    #[inline]
    #[must_use]
    pub fn weighs(&self, visit: &Visit<'_>) -> bool {
        self.weighs || self.is_undecided(visit.state)
    }

    /// Updates the state of a packet that has left through a port.
    #[inline(always)]
    pub fn hop(&self, node: NodeId, destination: NodeId, key: u64, port: Port, state: &mut [i16]) {
        if node.index() >= self.fabric.endpoints() && (self.has_phases || self.is_undecided(state)) {
            self.change_phase(node, destination, key, port, state);
        }
    }

    /// The same, of a packet that leaves a switch, where its phase may change.
    #[inline(never)]
    fn change_phase(&self, node: NodeId, destination: NodeId, key: u64, port: Port, state: &mut [i16]) {
        let Some(next) = next_switch(&self.fabric, node, port) else { return };
        let (first, home) = (self.fabric.endpoints(), self.fabric.home(destination).0);
        // Only decisions look at the source, and they are made at its own switch.
        let visit = route::Visit {
            source: destination.0,
            destination: destination.0,
            first: node.index() - first,
            here: node.index() - first,
            home: home.index() - first,
            phase: 0,
        };
        let phase = if self.is_undecided(state) { self.decided(&visit, key, port) } else { self.phase(state) };
        let at = route::Visit { phase, ..visit };
        let after = self.function.hop(&at, next.index() - first, &mut ByKey(key));
        state[0] = after as i16 + i16::from(self.decides);
    }

    /// The phase of a packet that leaves its first switch through a port.
    fn decided(&self, visit: &route::Visit, key: u64, port: Port) -> Phase {
        let takes = |&phase: &Phase| {
            let mut takes = false;
            let at = route::Visit { phase, ..*visit };
            self.function.hops(&at, &mut ByKey(key), |hop| takes |= hop.port == port.0);
            takes
        };
        let decisions = self.function.decisions(visit, &mut ByKey(key));
        decisions.all().find(takes).unwrap_or(decisions.first)
    }
}

/// The switch at the other end of a port; `None` for an endpoint.
#[inline(always)]
fn next_switch(fabric: &Fabric, node: NodeId, port: Port) -> Option<NodeId> {
    fabric.neighbour(node, port).filter(|next| next.index() >= fabric.endpoints())
}
