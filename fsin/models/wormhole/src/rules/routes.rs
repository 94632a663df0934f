//! Routing functions as this model carries them: the VCs of a hop, and the choice among hops by credits.

use std::collections::HashSet;

use fsin_core::failures::parts;
use fsin_core::interface::Interface;
use fsin_core::route::{
    self, Build, Carries, ChannelPolicy, Choice, Function, Hop, Masks, Phase, ROUTINGS, RoutingFunction as _, Visit,
    proof,
};
use fsin_core::topology::Topology;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::{mix2, pick};

use super::wiring::Wiring;
use crate::params::{Params, Routing};

pub(crate) use fsin_core::route::{ByKey, Draw, Tier, has_rings, mask};

/// The routings that the model carries: all but those that weigh several hops, which need the length of queues at every
/// router.
#[must_use]
pub fn carried() -> Vec<Carries> {
    ROUTINGS.rows().iter().copied().filter(|row| row.choice != Choice::Weighed).map(Carries::new).collect()
}

/// An output port that a head may leave through, and the VCs that it may take there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    /// The output port.
    pub(crate) port: u8,
    /// The VCs of the port, as a mask with at least one bit set.
    pub(crate) vcs: u32,
    /// When the head may request the candidate.
    pub(crate) tier: Tier,
}

/// What a routing function knows about a packet whose head it routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    /// Number of the source endpoint.
    pub(crate) source: u32,
    /// Number of the destination endpoint.
    pub(crate) destination: u32,
    /// State of the route.
    pub(crate) phase: Phase,
    /// Message class of the packet.
    pub(crate) class: u8,
    /// Input port at which the head stands.
    pub(crate) input: u8,
    /// Its virtual channel there.
    pub(crate) vc: u8,
}

/// The state of the output ports and VCs of a router, as an adaptive head sees it.
pub(crate) trait Outputs {
    /// The VCs in the mask `vcs` that the head may request now at a port, as a mask.
    fn available(&self, port: usize, vcs: u32, tier: Tier) -> u32;
    /// \[flits\] Sum of the credits of the VCs in the mask `vcs` of a port.
    fn credits(&self, port: usize, vcs: u32) -> u32;
    /// \[flits\] Sum over the VCs in the mask `vcs` of a port: places of the next buffers that are not credits of this
    /// router. They hold flits, or flits or credits for them are on the link.
    fn occupancy(&self, port: usize, vcs: u32) -> u32;
}

/// The routing of a topology if the user names none: the first one in the list that serves it.
#[must_use]
pub(crate) fn default_for(topology: &dyn Topology) -> Routing {
    let spec = topology.spec();
    let carried = carried();
    let first = route::serving(&carried, &spec).next().map(|first| first.row.component.name);
    first.and_then(|name| name.parse().ok()).unwrap_or(Routing::DOR)
}

/// The routing function of a network, with its channels.
#[derive(Debug)]
pub(crate) struct Routes {
    /// The routing, as the model carries it.
    carries: Carries,
    function: Function,
    /// The VCs of each class of hops, of message class 0 and of the others.
    masks: (Masks, Vec<Masks>),
    /// By endpoint: the part of the network in which it is; empty if links are always alive or always dead.
    parts: Vec<u32>,
    /// By endpoint: the router at which its packets enter the network.
    entries: Vec<u32>,
    /// By endpoint: the router from which packets reach it.
    homes: Vec<u32>,
    /// By endpoint: the first port of that router that leads to it.
    ejections: Vec<u8>,
    /// Number of such ports, taken by the input ports in turn.
    ejection_ports: u8,
    /// Number of taps of an endpoint.
    own: usize,
    /// Number of routers of a subnet, if there are several; else that of all numbers.
    of_subnet: usize,
    /// True if messages have a tap for each link.
    is_per_port: bool,
    /// Number of links of a router of a direct network.
    links: usize,
    /// True if packets on channel 0 stay there.
    keeps_channel_0: bool,
    /// Seed of the run.
    seed: u64,
    /// By message class: its first VC.
    firsts: Vec<u8>,
    /// The least number of VCs of a message class.
    vcs: usize,
    /// Number of VCs of a port.
    all_vcs: usize,
}

impl Routes {
    pub(crate) fn new(params: &Params, topology: &dyn Topology, wiring: &Wiring) -> Result<Self, SpecError> {
        let may_be_parted = !params.timetable.is_empty();
        let carries = route::named(&carried(), params.routing, topology, may_be_parted)?;
        // Routings know as many channels as every message class has.
        let vcs = params.vcs_of_class();
        let routes = params.routes.as_ref();
        let build = Build {
            rings: params.vc_classes,
            routes,
            may_be_parted,
            ..Build::new(carries.row, topology, vcs, carries.policy)
        };
        let function = build.function()?;
        check_vcs(&carries, &function, params)?;
        let ranges: Vec<(usize, usize)> = (0..params.message_classes).map(|class| params.vcs_of(class as u8)).collect();
        let of_range =
            |(first, count): (usize, usize)| Masks::of_function(carries.policy, &function, count).from_channel(first);
        Ok(Self {
            carries,
            masks: (of_range(ranges[0]), ranges[1..].iter().copied().map(of_range).collect()),
            firsts: ranges.iter().map(|&(first, _)| first as u8).collect(),
            function,
            parts: if may_be_parted { parts(topology, &HashSet::new()) } else { Vec::new() },
            entries: (0..wiring.endpoints).map(|endpoint| wiring.entry(endpoint * wiring.own).0 as u32).collect(),
            homes: (0..wiring.endpoints).map(|endpoint| wiring.exit(endpoint).0 as u32).collect(),
            ejections: (0..wiring.endpoints).map(|endpoint| wiring.exit(endpoint).1).collect(),
            ejection_ports: if topology.switched().is_some() {
                1
            } else {
                params.ejections(topology.shape().ports()) as u8
            },
            own: wiring.own,
            of_subnet: if params.subnets > 1 { wiring.of_subnet } else { usize::MAX },
            is_per_port: params.interface == Interface::PerPort,
            links: topology.shape().ports(),
            keeps_channel_0: params.keeps_channel_0(),
            seed: params.seed,
            vcs,
            all_vcs: params.vcs,
        })
    }

    /// True if a route leads from one endpoint to another.
    #[inline]
    pub(crate) fn reach(&self, source: u32, destination: u32) -> bool {
        self.parts.is_empty() || self.parts.get(source as usize) == self.parts.get(destination as usize)
    }

    /// True if the port that a head requests depends on credits. The choice is then made anew in every step.
    pub(crate) fn is_adaptive(&self) -> bool {
        matches!(self.carries.row.choice, Choice::Any | Choice::Weighed | Choice::ByFlits)
    }

    /// True if the phase of a head is [decided](Self::decide) at its first router.
    pub(crate) fn decides(&self) -> bool {
        self.carries.row.choice.is_at_first_router()
    }

    /// True if what a head chooses at a router is chosen in the first step in which it may request a VC there, and
    /// kept: its [port](Self::settle) or its [phase](Self::decide).
    pub(crate) fn is_lasting(&self) -> bool {
        self.carries.row.choice.is_by_flits()
    }

    /// True if the phase of a packet may change on its way.
    pub(crate) fn has_phases(&self) -> bool {
        self.decides() || self.function.has_phases()
    }

    /// The tap of a message: that of the link with which its route begins, drawn once for each pair of nodes where the
    /// routing has a choice; the first one where there is one for all.
    pub(crate) fn tap(&self, source: u32, destination: u32, class: u8) -> usize {
        let first = source as usize * self.own;
        if !self.is_per_port {
            return first;
        }
        let head = Head { source, destination, phase: 0, class, input: 0, vc: 0 };
        let mut candidates = Vec::new();
        let key = mix2(mix2(self.seed, source.into()), u64::MAX - u64::from(destination));
        self.candidates(self.entry(source), &head, &mut ByKey(key), &mut candidates);
        let links: Vec<usize> =
            candidates.iter().map(|candidate| candidate.port.into()).filter(|&port| port < self.links).collect();
        first + if links.is_empty() { 0 } else { links[pick(key, links.len() as u32) as usize] }
    }

    /// The router at which packets of an endpoint enter the network.
    #[inline(always)]
    fn entry(&self, endpoint: u32) -> usize {
        self.entries[endpoint as usize] as usize
    }

    /// The number of a router in its subnet, by which all functions here know it.
    #[inline(always)]
    pub(crate) const fn in_subnet(&self, router: usize) -> usize {
        if router < self.of_subnet { router } else { router % self.of_subnet }
    }

    /// A head at router `here`.
    #[inline(always)]
    fn visit(&self, here: usize, head: &Head) -> Visit {
        let &Head { source, destination, phase, .. } = head;
        let home = self.homes[destination as usize] as usize;
        Visit { source, destination, first: self.entry(source), here, home, phase }
    }

    /// A candidate of a head on channel 0 of its class, which keeps it unless its source chose it.
    #[cold]
    fn kept(&self, candidate: Candidate, head: &Head) -> Candidate {
        let first = self.firsts[usize::from(head.class)];
        let came_on_first = head.vc == first && usize::from(head.input) < self.links;
        let vcs = if came_on_first { 1 << first } else { candidate.vcs };
        Candidate { vcs, ..candidate }
    }

    /// The VCs of a message class. Most networks have one.
    #[inline(always)]
    fn masks_of(&self, class: u8) -> &Masks {
        if class == 0 { &self.masks.0 } else { &self.masks.1[usize::from(class) - 1] }
    }

    /// A hop with the VCs of the message class of the head.
    #[inline(always)]
    fn candidate(&self, hop: Hop, class: u8) -> Candidate {
        Candidate { port: hop.port as u8, vcs: self.masks_of(class).of(hop), tier: hop.tier }
    }

    /// Fills `into` with every port and VC that a head may request at a router, in any order: one candidate or more.
    #[inline]
    pub(crate) fn candidates(&self, router: usize, head: &Head, draw: &mut impl Draw, into: &mut Vec<Candidate>) {
        into.clear();
        match self.ejection(router, head) {
            Some(arrived) => into.push(arrived),
            None => self.function.hops(&self.visit(router, head), draw, |hop| {
                let candidate = self.candidate(hop, head.class);
                into.push(if self.keeps_channel_0 { self.kept(candidate, head) } else { candidate });
            }),
        }
    }

    /// The only candidate of a head, if the routing is not [adaptive](Self::is_adaptive). `scratch` is scratch memory.
    #[inline(always)]
    pub(crate) fn only(
        &self,
        router: usize,
        head: &Head,
        draw: &mut impl Draw,
        scratch: &mut Vec<Candidate>,
    ) -> Candidate {
        if let Some(arrived) = self.ejection(router, head) {
            return arrived;
        }
        // The most frequent routing, without the list of candidates.
        if let Some(hop) = self.function.only(&self.visit(router, head), draw) {
            return self.candidate(hop, head.class);
        }
        self.candidates(router, head, draw, scratch);
        scratch[0]
    }

    /// The candidate that leads to the destination, if the destination is an endpoint of this router.
    #[inline(always)]
    fn ejection(&self, router: usize, head: &Head) -> Option<Candidate> {
        let destination = head.destination as usize;
        (self.homes[destination] as usize == router && self.arrives(router, head)).then(|| Candidate {
            port: self.ejections[destination]
                + if self.ejection_ports > 1 { head.input % self.ejection_ports } else { 0 },
            vcs: self.masks_of(head.class).all(),
            tier: Tier::Free,
        })
    }

    /// True if a head at the router of its destination leaves the network there.
    #[inline(always)]
    fn arrives(&self, router: usize, head: &Head) -> bool {
        self.function.arrives(&self.visit(router, head))
    }

    /// The phase in which a packet leaves its first router: of two the one with the smaller product of flits before it
    /// at the output and hops to go.
    pub(crate) fn decide(&self, router: usize, head: &Head, draw: &mut impl Draw, outputs: &impl Outputs) -> Phase {
        let at = self.visit(router, head);
        let decisions = self.function.decisions(&at, draw);
        let Some(second) = decisions.second else { return decisions.first };
        let is_lasting = self.is_lasting();
        let mut cost = |phase| {
            let at = Visit { phase, ..at };
            let mut first = None;
            self.function.hops(&at, draw, |hop| first = first.or(Some(hop)));
            let ahead = first.map_or(0, |hop| {
                let Candidate { port, vcs, .. } = self.candidate(hop, head.class);
                outputs.occupancy(port.into(), if is_lasting { mask(self.all_vcs) } else { vcs })
            });
            ahead * self.function.length(&at, draw)
        };
        let margin = self.function.margin();
        if cost(decisions.first) <= cost(second) + margin { decisions.first } else { second }
    }

    /// The candidate that a head keeps at a router: the first of those with the fewest flits ahead on all VCs.
    pub(crate) fn settle(&self, candidates: &[Candidate], outputs: &impl Outputs) -> Option<Candidate> {
        let ahead = |candidate: &&Candidate| outputs.occupancy(candidate.port.into(), mask(self.all_vcs));
        candidates.iter().min_by_key(ahead).copied()
    }

    /// The phase of a packet after its hop from `router` to `next`.
    #[inline(always)]
    pub(crate) fn hop(&self, router: usize, next: usize, head: &Head, draw: &mut impl Draw) -> Phase {
        self.function.hop(&self.visit(router, head), next, draw)
    }

    /// Refuses a routing whose channels can wait for each other in a cycle.
    pub(crate) fn prove(&self, params: &Params, topology: &dyn Topology) -> Result<(), SpecError> {
        self.check_ranges(params)?;
        let Carries { row, policy } = self.carries;
        let build = Build { rings: params.vc_classes, ..Build::new(row, topology, self.vcs, policy) };
        let remedy = phrase![
            "use more ",
            ["vcs"],
            ", other ",
            ["vc-classes"],
            " or another ",
            ["routing"],
            "; ",
            ["unsafe-routing"],
            " runs it all the same"
        ];
        proof::prove(&build, &self.function, params.routing.name(), remedy)
    }

    /// True if the routing is free of deadlock whatever channels packets take.
    fn is_free(&self) -> bool {
        match self.carries.policy {
            ChannelPolicy::Free => true,
            ChannelPolicy::ByClass | ChannelPolicy::OneEach | ChannelPolicy::ByHop | ChannelPolicy::Dateline => {
                self.function.classes() == 1
            }
            ChannelPolicy::Bubble | ChannelPolicy::Given | ChannelPolicy::Escape(_) => false,
        }
    }

    /// Refuses ranges of channels in which one channel is of several classes of hops, by the message class of a packet,
    /// and shared buffers in which packets of one class of hops can take all places of another one. Each message class
    /// by itself is free of deadlock; so are all together if classes of hops stay apart.
    fn check_ranges(&self, params: &Params) -> Result<(), SpecError> {
        if self.is_free() {
            return Ok(());
        }
        let remedy = phrase!["; ", ["unsafe-routing"], " runs it all the same"];
        if params.shares_buffers()
            && (params.private_buffer == 0 || params.private_buffers.is_some_and(|groups| groups < params.vcs))
        {
            let what = phrase![
                ["buffer-policy" => params.buffer_policy.name()],
                " with channels that have no place of their own, and ",
                ["routing" => params.routing.name()],
                " needs classes of channels that do not wait for each other"
            ];
            let advice = phrase!["use ", ["private-buffers" => params.vcs], " and ", ["private-buffer" => 1], " or more", remedy];
            return Err(SpecError::new(ErrorKind::Conflict, what, advice).of("buffer-policy"));
        }
        let adapts = self.carries.policy.adapts(self.function.classes(), self.vcs);
        let mut classes: Vec<Option<u32>> = vec![None; params.vcs];
        for masks in std::iter::once(&self.masks.0).chain(&self.masks.1) {
            for (vc, seen) in classes.iter_mut().enumerate() {
                let of_vc = masks.classes_of(vc, adapts);
                if of_vc != 0 && seen.replace(of_vc).is_some_and(|before| before != of_vc) {
                    let what = phrase![
                        ["vc-range" => params.vc_ranges],
                        (": channel {vc} is of different classes of hops in different ranges, and "),
                        ["routing" => params.routing.name()],
                        " needs these apart"
                    ];
                    let advice = phrase!["use equal ranges, or ranges that do not overlap", remedy];
                    return Err(SpecError::new(ErrorKind::Conflict, what, advice).of("vc-range"));
                }
            }
        }
        Ok(())
    }
}

/// What a head requests in this step, as a port and a mask of VCs: among the candidates with an available VC, the one
/// with most credits; if there is none, the escape candidate. `key` breaks ties. The mask is empty if no VC is
/// available.
pub(crate) fn select(candidates: &[Candidate], key: u64, outputs: &impl Outputs) -> (u8, u32) {
    let count = candidates.len();
    let first = if count > 1 { pick(key, count as u32) as usize } else { 0 };
    let mut best = None;
    for candidate in (0..count).map(|at| candidates[(first + at) % count]) {
        if candidate.tier == Tier::Escape {
            continue;
        }
        let open = outputs.available(candidate.port.into(), candidate.vcs, candidate.tier);
        let credits = outputs.credits(candidate.port.into(), open);
        if open != 0 && best.is_none_or(|(most, _, _)| credits > most) {
            best = Some((credits, candidate.port, open));
        }
    }
    if let Some((_, port, open)) = best {
        return (port, open);
    }
    let escape = candidates.iter().find(|candidate| candidate.tier == Tier::Escape);
    // Without any candidate, as where a routing has no hop to offer, a head requests nothing, and the watchdog names it.
    escape
        .or_else(|| candidates.first())
        .map_or((0, 0), |last| (last.port, outputs.available(last.port.into(), last.vcs, last.tier)))
}

/// Refuses fewer VCs than a routing needs, unless the user permits unsafe routing.
fn check_vcs(carries: &Carries, function: &Function, params: &Params) -> Result<(), SpecError> {
    let least = carries.least(function);
    if params.vcs_of_class() >= least || params.unsafe_routing {
        return Ok(());
    }
    let classes = params.message_classes;
    let given = params.vcs;
    let each = if classes > 1 { format!(" for each of {classes} message classes") } else { String::new() };
    let why = if carries.row.why.is_empty() { "one for each class" } else { carries.row.why };
    let name = params.routing.name();
    let what = phrase![["routing" => name], " needs {least} VCs{each}, {why}, ", ["vcs"], (" is {given}")];
    let remedy = phrase!["use ", ["vcs" => least * classes], " or more"];
    Err(SpecError::new(ErrorKind::OutOfRange, what, remedy).of("vcs").given(given))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::VcClasses;

    fn verdict(spec: &str, ways: usize, params: &Params) -> Result<(), SpecError> {
        let topology = fsin_core::topology::parse(spec, ways)?;
        let wiring = Wiring::new(&*topology, &Params::default());
        Routes::new(params, &*topology, &wiring)?.prove(params, &*topology)
    }

    #[test]
    fn what_each_routing_states_holds() {
        for (spec, routing, vcs) in [
            ("mesh:4x3", Routing::DOR, 1),
            ("torus:5x4", Routing::DOR, 2),
            ("torus:4x4", Routing::DOR, 3),
            ("torus:3x3x3", Routing::DOR, 2),
            ("hypercube:4", Routing::DOR, 1),
            ("mesh:4x4", Routing::ADAPTIVE, 2),
            ("torus:4x5", Routing::ADAPTIVE, 3),
            ("hypercube:3", Routing::ADAPTIVE, 2),
            ("fattree:2,3", Routing::ADAPTIVE, 1),
            ("thintree:4,2,2", Routing::MINIMAL, 1),
            ("slimtree:4,2,2", Routing::MINIMAL, 1),
            ("dragonfly:p=1,a=3,h=1", Routing::MINIMAL, 2),
            ("dragonfly:p=1,a=3,h=2,g=4", Routing::VALIANT, 3),
            ("dragonfly:p=1,a=4,h=1", Routing::UGAL, 3),
            ("hyperx:3x4:1", Routing::DOR, 1),
            ("hyperx:3x4:1", Routing::MINIMAL, 2),
            ("icube:3x3:1", Routing::DOR, 2),
            ("cmesh:3x3:1", Routing::ADAPTIVE, 2),
            ("hyperx:3x3:1", Routing::SHORTEST, 2),
            ("torus:4x3", Routing::UPDOWN, 1),
            ("fattree:2,2", Routing::STATIC, 1),
            ("hyperx:3x3:2", Routing::ADAPTIVE, 2),
            ("hyperx:3x3:1", Routing::VALIANT, 2),
            ("hyperx:3x2:1", Routing::UGAL, 4),
            ("rrg:s=10,d=3,p=1", Routing::UPDOWN, 1),
            ("fly:3,3", Routing::DESTINATION_TAG, 1),
            ("hyperx:3x3:1", Routing::UPDOWN, 1),
        ] {
            let params = Params { routing, vcs, ..Params::default() };
            assert_eq!(verdict(spec, 2, &params), Ok(()), "{spec} {}", routing.name());
        }
        for (spec, turns) in [
            ("mesh:5x4", &["west-first", "north-last", "negative-first", "odd-even"][..]),
            ("mesh:4x7", &["west-first", "north-last", "negative-first", "odd-even"]),
            ("mesh:3x4x3", &["negative-first"]),
            ("mesh:9", &["negative-first"]),
        ] {
            for turn in turns {
                let params = Params { routing: turn.parse().unwrap(), vcs: 1, ..Params::default() };
                assert_eq!(verdict(spec, 2, &params), Ok(()), "{spec} {turn}");
            }
        }
        for vc_classes in [VcClasses::Dateline, VcClasses::Balanced, VcClasses::PerDimension] {
            for size in 3..=9 {
                let spec = format!("torus:{size}");
                assert_eq!(verdict(&spec, 2, &Params { vc_classes, ..Params::default() }), Ok(()), "{spec}");
            }
        }
    }

    #[test]
    fn missing_classes_close_a_cycle() {
        let unsafe_routing = Params { unsafe_routing: true, ..Params::default() };
        for (spec, ways, params) in [
            ("torus:4", 2, Params { vcs: 1, ..unsafe_routing.clone() }),
            ("torus:4", 1, Params { vc_classes: VcClasses::PerDimension, ..unsafe_routing.clone() }),
            ("dragonfly:p=1,a=3,h=1", 2, Params { vcs: 1, routing: Routing::MINIMAL, ..unsafe_routing.clone() }),
            ("hyperx:3x3:1", 2, Params { vcs: 1, routing: Routing::VALIANT, ..unsafe_routing }),
        ] {
            let error = verdict(spec, ways, &params).unwrap_err();
            assert!(error.to_string().contains("channels may wait for each other in a cycle, "), "{spec}: {error}");
        }
        let one_way = Params { vc_classes: VcClasses::Dateline, ..Params::default() };
        assert_eq!(verdict("torus:4", 1, &one_way), Ok(()));
    }

    /// The argument of `grid`: ring by ring gives the verdict of the whole.
    #[test]
    fn rings_speak_for_their_grid() {
        for (spec, ways) in [("torus:4x3", 2), ("torus:3x5", 2), ("mesh:3x4", 2), ("torus:3x3", 1)] {
            for vcs in 1..=3 {
                for vc_classes in [VcClasses::Dateline, VcClasses::Balanced, VcClasses::PerDimension] {
                    for routing in [Routing::DOR, Routing::ADAPTIVE] {
                        let params = Params { vcs, vc_classes, routing, unsafe_routing: true, ..Params::default() };
                        let topology = fsin_core::topology::parse(spec, ways).unwrap();
                        let wiring = Wiring::new(&*topology, &Params::default());
                        let routes = Routes::new(&params, &*topology, &wiring).unwrap();
                        let rings = routes.function.specimens().unwrap();
                        let by_rings = rings.into_iter().all(|(ring, ways)| verdict(&ring, ways, &params).is_ok());
                        assert_eq!(by_rings, verdict(spec, ways, &params).is_ok(), "{spec} {params:?}");
                    }
                }
            }
        }
    }
}
