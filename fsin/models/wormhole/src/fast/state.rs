//! The state of each VC, port and router in the fast engine, in flat arrays.
//!
//! The network is divided into parts, each of which is simulated by one thread. Flits and credits between parts are
//! [mail](super::mail).

use std::ops::Range;

use super::sets::{Set, bits};
use crate::params::{Allocator as Kind, Params};
use crate::rules::allocator::Allocator;
use crate::rules::interface::Flit;
use crate::rules::priority::Priority;
use crate::rules::wiring::{End, Wire, Wiring};

/// A bit that marks an endpoint in [`OutPort::target`] and [`InPort::back`].
pub(super) const ENDPOINT: u32 = 1 << 31;

/// Bits that mark a VC of another part in [`OutPort::target`] and [`InPort::back`], and in the former a VC behind a
/// link that is dead at times, of which arrivals are recorded; its number is that in the whole network. They include
/// the bit [`ENDPOINT`], so that one test of that bit finds VCs of the same part.
pub(super) const ABROAD: u32 = ENDPOINT | 1 << 30;

/// No VC, as a local number.
pub(super) const NO_VC: u16 = u16::MAX;

/// No flit.
pub(super) const NO_FLIT: u32 = u32::MAX;

/// A flit in 32 bits: the handle of its packet, and whether it is the head and the tail.
#[inline(always)]
pub(super) const fn pack(flit: Flit) -> u32 {
    flit.packet << 2 | (flit.is_head as u32) << 1 | flit.is_tail as u32
}

/// The inverse of [`pack`].
#[inline(always)]
pub(super) const fn unpack(word: u32) -> Flit {
    Flit { packet: word >> 2, is_head: word & 2 != 0, is_tail: word & 1 != 0 }
}

/// The state of the packet at the front of an input VC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// There is no packet.
    Idle,
    /// The packet's head needs an output VC.
    NeedsVc,
    /// The packet has an output VC. The flit at the front, if there is one, may request the switch.
    Active,
    /// The packet has an output VC, but the flit at the front may not request the switch before a timer wakes it.
    Waiting,
}

/// An input VC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// Place of the first flit in the ring buffer, modulo the size of the ring.
    pub(super) first: u16,
    /// \[flits\] Number of flits in the buffer.
    pub(super) len: u16,
    /// The output VC that the packet has, as a local number.
    pub(super) output: u16,
    /// The output VC with which the next search of VC allocation begins, as a local number.
    pub(super) accept: u16,
    /// State of the packet at the front.
    pub(super) state: State,
    /// If the routing is deterministic: the output port that the head needs.
    pub(super) port: u8,
    /// If the routing is deterministic: the VCs of that port that the head may take, as a mask.
    pub(super) vcs: u32,
    /// \[step\] The first step in which the front could have been granted what it needs. Waiting times count from it.
    pub(super) since: u64,
}

/// An output VC. The size of the structure is a power of two, so that indexing is a shift.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
pub(super) struct Output {
    /// \[flits\] Free places in the next buffer.
    pub(super) credits: u16,
    /// The input VC whose packet has this output VC, as a local number; [`NO_VC`] if it is free.
    pub(super) owner: u16,
    /// The input VC with which the next search of VC allocation begins, as a local number.
    pub(super) grant: u16,
}

/// An input port.
#[derive(Clone, Copy, Debug)]
pub(super) struct InPort {
    /// VCs whose front may be granted the switch, as a mask.
    pub(super) requests: u32,
    /// VCs whose head may request an output VC, as a mask.
    pub(super) needs: u32,
    /// The VC with which the next choice of a candidate begins.
    pub(super) next_vc: u8,
    /// A flit that has arrived in this cycle at an empty buffer and requests the switch at once; [`NO_FLIT`] if there
    /// is none.
    pub(super) fresh: u32,
    /// The VC whose connection through the crossbar is kept; [`NOT_HELD`] if there is none.
    pub(super) held: u8,
    /// The output port with which the next acceptance of iSLIP begins.
    pub(super) accept: u8,
    /// Where credits go: the number of the first output VC; [`ENDPOINT`] and V times the number of an endpoint; or
    /// [`ABROAD`] and the number of the first output VC.
    pub(super) back: u32,
    /// \[cycles\] Time until credits count there; one less for another part, since mail takes a cycle.
    pub(super) delay: u32,
    /// \[cycle\] Cycle in which the last credit was sent.
    pub(super) sent: u64,
}

/// An output port.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutPort {
    /// VCs that no packet has, as a mask.
    pub(super) free: u32,
    /// The input port with which the next search for a grant begins.
    pub(super) grant: u8,
    /// Where flits go: the number of the first input VC; [`ENDPOINT`]; or [`ABROAD`] and the number of the first input
    /// VC.
    pub(super) target: u32,
    /// \[cycles\] Time until flits arrive there; one less for another part, since mail takes a cycle.
    pub(super) delay: u32,
    /// \[cycle\] Cycle in which the last flit leaves.
    pub(super) left: u64,
}

/// The wire of the unused ports that make the number of ports a power of two.
const NOTHING: Wire = Wire { end: End::Nothing, delay: 0 };

/// In [`InPort::held`]: no connection is kept.
pub(super) const NOT_HELD: u8 = u8::MAX;

/// A router. Its ports and VCs are contiguous in memory, and indices modulo `P` and `V` need no bounds check. The local
/// number of a VC is port x V + VC.
#[derive(Clone, Debug)]
pub(super) struct Router<const P: usize, const V: usize> {
    /// Input ports with [requests](InPort::requests), as a mask.
    pub(super) requests: u64,
    /// Input ports with [needs](InPort::needs), as a mask.
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

    /// Withdraws the request for the switch of an input VC.
    #[inline(always)]
    pub(super) const fn withdraw_request(&mut self, local: usize) {
        let (port, vc) = (local / V % P, local % V);
        self.in_ports[port].requests &= !(1 << vc);
        if self.in_ports[port].requests == 0 {
            self.requests &= !(1 << port);
        }
    }

    /// Withdraws the request for an output VC of an input VC.
    #[inline(always)]
    pub(super) const fn withdraw_need(&mut self, local: usize) {
        let (port, vc) = (local / V % P, local % V);
        self.in_ports[port].needs &= !(1 << vc);
        if self.in_ports[port].needs == 0 {
            self.needs &= !(1 << port);
        }
    }
}

/// The routers of a part. The number of a VC is (router x P + port) x V + VC, that of a port router x P + port, where P
/// and V are powers of two, at least the numbers of ports and VCs. So numbers are split by shifts, and their order is
/// that of the model.
#[derive(Debug)]
pub(super) struct Routers<const P: usize, const V: usize> {
    /// Number of ports of each router.
    pub(super) ports: usize,
    /// Number of VCs of each port.
    pub(super) vcs: usize,
    /// Binary logarithm of the size of a ring buffer in flits.
    pub(super) ring_shift: u32,
    /// The last place of a ring buffer, which is also a mask for places.
    pub(super) place_mask: u16,
    /// The routers.
    pub(super) all: Vec<Router<P, V>>,
    /// By VC and place in its ring buffer: a [packed](pack) flit.
    pub(super) flits: Vec<u32>,
    /// \[step\] By VC and place: the step from which the flit may request the switch. Empty if flits may do so when
    /// they arrive.
    pub(super) ready: Vec<u64>,
    /// \[cycle\] By VC and place: when the flit arrived. Empty unless the priority depends on it.
    pub(super) arrived: Vec<u64>,
    /// \[links\] By VC: links that the packet at the front had crossed when its head came to the front. Empty unless
    /// the priority depends on it.
    pub(super) hops: Vec<u32>,
    /// By router: the VC allocator. Empty if the engine computes VC allocation [by masks](uses_masks).
    pub(super) vc_allocators: Vec<Allocator>,
    /// By router: the switch allocator. Empty if the engine computes switch allocation [by masks](uses_masks).
    pub(super) switch_allocators: Vec<Allocator>,
    /// Routers that have something to do in the next step.
    pub(super) active: Set,
}

/// True if the engine computes this allocation with operations on masks, and not with an [`Allocator`].
pub(super) const fn uses_masks(kind: Kind) -> bool {
    matches!(kind, Kind::Islip { iterations: 1 } | Kind::Separable)
}

impl<const P: usize, const V: usize> Routers<P, V> {
    /// The routers `own` of the network, and the endpoints of the part, in ascending order.
    pub(super) fn new(params: &Params, wiring: &Wiring, own: &Range<usize>, endpoints: &[u32]) -> Self {
        const { assert!(P.is_power_of_two() && V.is_power_of_two(), "numbers are split by shifts") };
        let (routers, ports, vcs) = (own.len(), wiring.ports, params.vcs);
        let ring_shift = params.deepest().next_power_of_two().ilog2();
        let vcs_in_all = routers * P * V;
        let places = vcs_in_all << ring_shift;
        let input = Input { first: 0, len: 0, output: 0, accept: 0, state: State::Idle, port: 0, vcs: 0, since: 0 };
        // The first VC of a port, and the cycles of delay that mail takes already.
        let first = |router: u32, port: u8, is_watched: bool| {
            let vc = |router: usize| ((router * P + usize::from(port)) * V) as u32;
            match own.contains(&(router as usize)) {
                true if is_watched => (ABROAD | vc(router as usize), 0),
                true => (vc(router as usize - own.start), 0),
                false => (ABROAD | vc(router as usize), 1),
            }
        };
        let number = |endpoint: u32| endpoints.binary_search(&endpoint).map_or(0, |number| number as u32);
        let in_port = |router, port| {
            let wire = if port < ports { wiring.back(router, port) } else { NOTHING };
            let ((back, saved), extra) = match wire.end {
                End::Router { router, port } => (first(router, port, false), params.credit_delay),
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
                End::Router { router, port } => first(router, port, wiring.outages.have(router as usize, port.into())),
                End::Endpoint(_) | End::Nothing => (ENDPOINT, 0),
            };
            OutPort { free: crate::rules::routes::mask(vcs), grant: 0, target, delay: wire.delay + 1 - saved, left: 0 }
        };
        let allocators = |kind, size| match uses_masks(kind) {
            true => Vec::new(),
            false => vec![Allocator::new(kind, size, size); routers],
        };
        let output = Output { credits: params.deepest() as u16, owner: NO_VC, grant: 0 };
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
            place_mask: ((1u32 << ring_shift) - 1) as u16,
            all: own.clone().map(router).collect(),
            flits: vec![0; places],
            ready: vec![0; if params.switch_alloc_delay > 1 { places } else { 0 }],
            arrived: vec![0; if params.priority == Priority::LocalAge { places } else { 0 }],
            hops: vec![0; if params.priority == Priority::HopCount { vcs_in_all } else { 0 }],
            vc_allocators: allocators(params.vc_allocator, ports * vcs),
            switch_allocators: match params.is_widened() {
                true => {
                    let (ins, outs) = (ports * params.input_speedup, ports * params.output_speedup);
                    vec![Allocator::new(params.switch_allocator, ins, outs); routers]
                }
                false => allocators(params.switch_allocator, ports),
            },
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

    /// The port of a VC, and its number among the VCs of the port.
    #[inline(always)]
    pub(super) const fn split(&self, vc: usize) -> (usize, usize) {
        (vc / V, vc % V)
    }

    /// Number of VC numbers of a router, unused ones included.
    #[inline(always)]
    pub(super) const fn vcs_of_router(&self) -> usize {
        P * V
    }

    /// Converts the local number of a VC to its number in the definition of the model, port x VCs + VC.
    pub(super) const fn to_model_number(&self, local: usize) -> usize {
        local / V * self.vcs + local % V
    }

    /// The inverse of [`to_model_number`](Self::to_model_number).
    pub(super) const fn to_local_number(&self, plain: usize) -> usize {
        plain / self.vcs * V + plain % self.vcs
    }

    /// The index in `flits` of place `at`, modulo the size of the ring, of the ring buffer of an input VC.
    #[inline(always)]
    pub(super) const fn place(&self, input: usize, at: u16) -> usize {
        input << self.ring_shift | (at & self.place_mask) as usize
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
        // A single loop: the compiler would unroll nested loops over ports and VCs.
        (0..self.all.len() * P * V).map(|at| (self.input(at), &self.all[at / (P * V)].in_ports[at / V % P]))
    }

    /// The flit at the front of an input VC, which must not be empty.
    #[inline(always)]
    pub(super) fn front(&self, input: usize) -> Flit {
        unpack(self.flits[self.place(input, self.input(input).first)])
    }

    /// Lets the front of an input VC request the switch from the next step on.
    #[inline(always)]
    pub(super) fn request(&mut self, input: usize) {
        let (router, port, vc) = (input / (P * V), input / V % P, input % V);
        let this = &mut self.all[router];
        this.in_ports[port].requests |= 1 << vc;
        this.requests |= 1 << port;
        self.active.insert(router);
    }

    /// Lets the head of an input VC request an output VC from the next step on.
    #[inline(always)]
    pub(super) fn need(&mut self, input: usize) {
        let (router, port, vc) = (input / (P * V), input / V % P, input % V);
        let this = &mut self.all[router];
        this.in_ports[port].needs |= 1 << vc;
        this.needs |= 1 << port;
        self.active.insert(router);
    }
}
