//! What the fast engine keeps of each VC, port and router, in flat arrays.

use std::ops::Range;

use super::wheel::{Set, bits};
use crate::params::{Allocator as Kind, Params};
use crate::rules::allocator::Allocator;
use crate::rules::interface::Flit;
use crate::rules::wiring::{End, Wire, Wiring};

/// Marks an endpoint among targets.
pub(super) const ENDPOINT: u32 = 1 << 31;

/// Marks a VC of another part among targets, by its number in the whole network. Being an endpoint is a bit of it.
pub(super) const ABROAD: u32 = ENDPOINT | 1 << 30;

/// No input VC.
pub(super) const NOBODY: u16 = u16::MAX;

/// No flit.
pub(super) const NO_FLIT: u32 = u32::MAX;

/// A flit in 32 bits: packet, head, tail.
#[inline(always)]
pub(super) const fn pack(flit: Flit) -> u32 {
    flit.packet << 2 | (flit.is_head as u32) << 1 | flit.is_tail as u32
}

#[inline(always)]
pub(super) const fn unpack(word: u32) -> Flit {
    Flit { packet: word >> 2, is_head: word & 2 != 0, is_tail: word & 1 != 0 }
}

/// What the packet at the front of an input VC has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// There is no packet.
    Idle,
    /// A head that needs an output VC.
    NeedsVc,
    /// An output VC; the flit at the front may request the switch, if there is one.
    Active,
    /// The same, but the flit at the front may not request the switch before a timer wakes it.
    Later,
}

/// An input VC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// Where its ring begins, counted on without end, and how many flits are there.
    pub(super) first: u16,
    pub(super) len: u16,
    /// The output VC that it has, as port x VCs + VC.
    pub(super) output: u16,
    /// The output VC that the search of VC allocation begins with.
    pub(super) accept: u16,
    pub(super) state: State,
    /// The output port that its head needs, and the VCs there, where the routing is deterministic.
    pub(super) port: u8,
    pub(super) vcs: u32,
    /// \[step\] From which the front could have gone on.
    pub(super) since: u64,
}

/// An output VC. Its size is a power of two, so that it is found by shifts.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
pub(super) struct Output {
    pub(super) credits: u16,
    /// The input VC that has it, as port x VCs + VC.
    pub(super) owner: u16,
    /// The input VC that the search of VC allocation begins with.
    pub(super) grant: u16,
}

/// An input port.
#[derive(Clone, Copy, Debug)]
pub(super) struct InPort {
    /// VCs whose front can be granted the switch.
    pub(super) requests: u32,
    /// VCs whose head can be given an output VC.
    pub(super) needs: u32,
    /// The VC that the choice of a candidate begins with.
    pub(super) next_vc: u8,
    /// A flit that came in this cycle to an empty buffer and requests the switch at once; [`NO_FLIT`] if there is none.
    pub(super) fresh: u32,
    /// The VC whose connection is kept.
    pub(super) held: u8,
    /// The output port that iSLIP's acceptance begins with.
    pub(super) accept: u8,
    /// The first output VC that credits go to; [`ENDPOINT`] and its number x V; or [`ABROAD`] and an output VC.
    pub(super) back: u32,
    /// \[cycles\] Until they count there; one less if that is abroad, since mail takes a cycle.
    pub(super) delay: u32,
    /// \[cycle\] In which the last credit was sent.
    pub(super) sent: u64,
}

/// An output port.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutPort {
    /// VCs that nobody owns.
    pub(super) free: u32,
    /// The input port that the grant begins with.
    pub(super) grant: u8,
    /// The first input VC, [`ENDPOINT`], or [`ABROAD`] and the first input VC, that flits go to.
    pub(super) target: u32,
    /// \[cycles\] Until they are there; one less if that is abroad, since mail takes a cycle.
    pub(super) delay: u32,
    /// \[cycle\] In which the last flit leaves.
    pub(super) left: u64,
}

/// The port that makes the number of ports a power of two.
const NOTHING: Wire = Wire { end: End::Nothing, delay: 0 };

/// No connection is kept.
pub(super) const NOT_HELD: u8 = u8::MAX;

/// A router: its parts are in one place, and indices below `P` and `V` need no check. The local number of a VC is
/// port x V + VC.
#[derive(Clone, Debug)]
pub(super) struct Router<const P: usize, const V: usize> {
    /// Input ports with requests, and with needs.
    pub(super) requests: u64,
    pub(super) needs: u64,
    pub(super) in_ports: [InPort; P],
    pub(super) out_ports: [OutPort; P],
    pub(super) inputs: [[Input; V]; P],
    pub(super) outputs: [[Output; V]; P],
}

impl<const P: usize, const V: usize> Router<P, V> {
    /// An input VC by its local number.
    #[inline(always)]
    pub(super) const fn input(&self, local: usize) -> &Input {
        &self.inputs.as_flattened()[local % (P * V)]
    }

    #[inline(always)]
    pub(super) const fn input_mut(&mut self, local: usize) -> &mut Input {
        &mut self.inputs.as_flattened_mut()[local % (P * V)]
    }

    /// An output VC by its local number.
    #[inline(always)]
    pub(super) const fn output(&self, local: usize) -> &Output {
        &self.outputs.as_flattened()[local % (P * V)]
    }

    #[inline(always)]
    pub(super) const fn output_mut(&mut self, local: usize) -> &mut Output {
        &mut self.outputs.as_flattened_mut()[local % (P * V)]
    }

    /// True if any of these VCs of an output port has a credit.
    #[inline(always)]
    pub(super) fn has_credit(&self, port: usize, vcs: u32) -> bool {
        bits(vcs.into()).any(|vc| self.outputs[port % P][vc % V].credits > 0)
    }

    /// The front of an input VC has nothing that could be granted.
    #[inline(always)]
    pub(super) const fn request_no_more(&mut self, local: usize) {
        let (port, vc) = (local / V % P, local % V);
        self.in_ports[port].requests &= !(1 << vc);
        if self.in_ports[port].requests == 0 {
            self.requests &= !(1 << port);
        }
    }

    /// The head of an input VC has what it needed.
    #[inline(always)]
    pub(super) const fn need_no_more(&mut self, local: usize) {
        let (port, vc) = (local / V % P, local % V);
        self.in_ports[port].needs &= !(1 << vc);
        if self.in_ports[port].needs == 0 {
            self.needs &= !(1 << port);
        }
    }
}

/// The routers of a part. A VC has the number (router x P + port) x V + VC, a port router x P + port, where P and V are
/// powers of two that are enough for ports and VCs. So numbers are taken apart by shifts, and their order is that of
/// the model.
#[derive(Debug)]
pub(super) struct Routers<const P: usize, const V: usize> {
    pub(super) ports: usize,
    pub(super) vcs: usize,
    /// \[flits\] Of a ring, as a binary logarithm.
    pub(super) ring_shift: u32,
    /// \[flits\] The last place of a ring.
    pub(super) in_ring: u16,
    pub(super) all: Vec<Router<P, V>>,
    /// By VC and place in its ring.
    pub(super) flits: Vec<u32>,
    /// \[step\] From which each of them may request the switch; empty where that is the step of its arrival.
    pub(super) ready: Vec<u64>,
    /// By router, where an allocator is not one of those that the engine has by masks.
    pub(super) vc_allocators: Vec<Allocator>,
    pub(super) switch_allocators: Vec<Allocator>,
    /// Routers that have something to do in the next step.
    pub(super) active: Set,
}

/// True if the engine allocates by masks.
pub(super) const fn is_by_masks(kind: Kind) -> bool {
    matches!(kind, Kind::Islip { iterations: 1 } | Kind::Separable)
}

impl<const P: usize, const V: usize> Routers<P, V> {
    /// Routers `own` of the network, and these endpoints.
    pub(super) fn new(params: &Params, wiring: &Wiring, own: &Range<usize>, endpoints: &[u32]) -> Self {
        const { assert!(P.is_power_of_two() && V.is_power_of_two(), "numbers are taken apart by shifts") };
        let (routers, ports, vcs) = (own.len(), wiring.ports, params.vcs);
        let ring_shift = params.buffer.next_power_of_two().ilog2();
        let vcs_in_all = routers * P * V;
        let places = vcs_in_all << ring_shift;
        let input = Input { first: 0, len: 0, output: 0, accept: 0, state: State::Idle, port: 0, vcs: 0, since: 0 };
        // The first VC of a port; and what mail saves of the way there.
        let first = |router: u32, port: u8| {
            let vc = |router: usize| ((router * P + usize::from(port)) * V) as u32;
            match own.contains(&(router as usize)) {
                true => (vc(router as usize - own.start), 0),
                false => (ABROAD | vc(router as usize), 1),
            }
        };
        let number = |endpoint: u32| endpoints.binary_search(&endpoint).map_or(0, |number| number as u32);
        let in_port = |router, port| {
            let wire = if port < ports { wiring.back(router, port) } else { NOTHING };
            let ((back, saved), extra) = match wire.end {
                End::Router { router, port } => (first(router, port), params.credit_delay),
                End::Endpoint(endpoint) => ((ENDPOINT | (number(endpoint) * V as u32), 0), 0),
                End::Nothing => ((ENDPOINT, 0), 0),
            };
            let delay = wire.delay + 1 + extra - saved;
            InPort {
                requests: 0,
                needs: 0,
                next_vc: 0,
                fresh: NO_FLIT,
                held: NOT_HELD,
                accept: 0,
                back,
                delay,
                sent: 0,
            }
        };
        let out_port = |router, port| {
            let wire = if port < ports { wiring.out(router, port) } else { NOTHING };
            let (target, saved) = match wire.end {
                End::Router { router, port } => first(router, port),
                End::Endpoint(_) | End::Nothing => (ENDPOINT, 0),
            };
            OutPort { free: crate::rules::routes::mask(vcs), grant: 0, target, delay: wire.delay + 1 - saved, left: 0 }
        };
        let allocators = |kind, size| match is_by_masks(kind) {
            true => Vec::new(),
            false => vec![Allocator::new(kind, size, size); routers],
        };
        let output = Output { credits: params.buffer as u16, owner: NOBODY, grant: 0 };
        let router = |router| Router {
            requests: 0,
            needs: 0,
            in_ports: std::array::from_fn(|port| in_port(router, port)),
            out_ports: std::array::from_fn(|port| out_port(router, port)),
            inputs: [[input; V]; P],
            outputs: [[output; V]; P],
        };
        Self {
            ports,
            vcs,
            ring_shift,
            in_ring: ((1u32 << ring_shift) - 1) as u16,
            all: own.clone().map(router).collect(),
            flits: vec![0; places],
            ready: vec![0; if params.switch_alloc_delay > 1 { places } else { 0 }],
            vc_allocators: allocators(params.vc_allocator, ports * vcs),
            switch_allocators: allocators(params.switch_allocator, ports),
            active: Set::new(routers),
        }
    }

    /// The number of the first VC of a port.
    #[inline(always)]
    pub(super) const fn first_vc(&self, port: usize) -> usize {
        port * V
    }

    /// The number of the first VC of a router.
    #[inline(always)]
    pub(super) const fn base(&self, router: usize) -> usize {
        router * (P * V)
    }

    /// The router of a VC.
    #[inline(always)]
    pub(super) const fn router_of(&self, vc: usize) -> usize {
        vc / (P * V)
    }

    /// The port of a VC, and which one of it that is.
    #[inline(always)]
    pub(super) const fn split(&self, vc: usize) -> (usize, usize) {
        (vc / V, vc % V)
    }

    /// Numbers of VCs of a router.
    #[inline(always)]
    pub(super) const fn of_router(&self) -> usize {
        P * V
    }

    /// The place of a VC of a router in the order of the model's definition: port x VCs + VC.
    pub(super) const fn plain(&self, local: usize) -> usize {
        local / V * self.vcs + local % V
    }

    /// The same the other way round.
    pub(super) const fn padded(&self, plain: usize) -> usize {
        plain / self.vcs * V + plain % self.vcs
    }

    /// Where the flit `at` places from the beginning of the ring of an input VC is.
    #[inline(always)]
    pub(super) const fn place(&self, input: usize, at: u16) -> usize {
        input << self.ring_shift | (at & self.in_ring) as usize
    }

    /// An input VC by its number.
    #[inline(always)]
    pub(super) fn input(&self, vc: usize) -> &Input {
        self.all[vc / (P * V)].input(vc)
    }

    #[inline(always)]
    pub(super) fn input_mut(&mut self, vc: usize) -> &mut Input {
        self.all[vc / (P * V)].input_mut(vc)
    }

    /// Every input VC with its port, by their numbers.
    pub(super) fn inputs(&self) -> impl Iterator<Item = (&Input, &InPort)> {
        // One loop: the compiler would unroll loops over ports and VCs.
        (0..self.all.len() * P * V).map(|at| (self.input(at), &self.all[at / (P * V)].in_ports[at / V % P]))
    }

    /// The flit at the front of an input VC, which must not be empty.
    #[inline(always)]
    pub(super) fn front(&self, input: usize) -> Flit {
        unpack(self.flits[self.place(input, self.input(input).first)])
    }

    /// The front of an input VC may be granted the switch from the next step on.
    #[inline(always)]
    pub(super) fn request(&mut self, input: usize) {
        let (router, port, vc) = (input / (P * V), input / V % P, input % V);
        let this = &mut self.all[router];
        this.in_ports[port].requests |= 1 << vc;
        this.requests |= 1 << port;
        self.active.insert(router);
    }

    /// The head of an input VC may be given an output VC from the next step on.
    #[inline(always)]
    pub(super) fn need(&mut self, input: usize) {
        let (router, port, vc) = (input / (P * V), input / V % P, input % V);
        let this = &mut self.all[router];
        this.in_ports[port].needs |= 1 << vc;
        this.needs |= 1 << port;
        self.active.insert(router);
    }
}
