//! Links with their rates and delays, and rooms of queues. The link between a node of a direct network and its host has
//! the usual rate and delay.

use std::ops::Deref;
use std::sync::Arc;

use fsin_core::capture::{Interface, Place};
use fsin_core::topology::switched::{Attribute, Delay, LinkAttributes, Nics, Rails, Switched, Uses};
use fsin_core::topology::{Port, Topology};
use fsin_core::wiring;
use trgen::catalog::{ErrorKind, SpecError};

use super::frame::{HEADER, bit_time};
use crate::params::{Forwarding, MAX_TIME, Params, RATES};

/// The attributes of links that this model uses.
pub(crate) const LINKS: Uses =
    Uses { model: "ethernet", attributes: &[Attribute::Rate, Attribute::Time, Attribute::Queue], any_ports: true };

/// The attributes of links that this model uses with `forwarding=static`.
pub(crate) const ROUTED: Uses =
    Uses { attributes: &[Attribute::Rate, Attribute::Time, Attribute::Queue, Attribute::Routes], ..LINKS };

/// A port, and the link that leaves through it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub(crate) struct Link {
    /// The port at the other end.
    pub(crate) peer: u32,
    /// The device whose port this is.
    pub(crate) owner: u32,
    /// The device at the other end.
    pub(crate) device: u32,
    /// Number of the port at its device, as users know it.
    pub(crate) number: u32,
    /// True if the other end is a switch.
    pub(crate) is_to_switch: bool,
    /// True if the link is one of the topology's.
    pub(crate) is_visible: bool,
    /// \[b/s\] Data rate.
    pub(crate) rate: u64,
    /// \[ps\] Propagation delay.
    pub(crate) delay: u64,
    /// \[ps\] Duration of the gap between two frames.
    pub(crate) gap: u64,
    /// \[ps\] Duration of the longest data frame. Most frames are of the longest or of the shortest size.
    longest: u64,
    /// \[ps\] Duration of the shortest data frame.
    shortest: u64,
    /// \[bytes\] Sizes of these two.
    sizes: [u16; 2],
}

// The fast engine touches a link for each hop of a frame.
const _: () = assert!(size_of::<Link>() == 64, "a link fills a cache line");

impl Link {
    /// \[ps\] Duration of preamble and header.
    pub(crate) const fn header(&self) -> u64 {
        bit_time(8 * HEADER, self.rate)
    }

    /// \[ps\] Duration of a frame of `bytes` bytes.
    #[inline(always)]
    pub(crate) const fn time(&self, bytes: u16) -> u64 {
        if bytes == self.sizes[0] {
            self.longest
        } else if bytes == self.sizes[1] {
            self.shortest
        } else {
            bit_time(8 * bytes as u32, self.rate)
        }
    }
}

/// Hosts and switches, and the links between their ports.
#[derive(Clone, Debug)]
pub(crate) struct Wiring {
    /// The ports of each device.
    ports: wiring::Wiring,
    /// By port: the link that leaves through it.
    pub(crate) links: Vec<Link>,
    /// The rule for changes of rails of a machine of two levels.
    pub(crate) rails: Option<Arc<Rails>>,
    /// The switches that are network interfaces of hosts.
    pub(crate) nics: Nics,
    /// \[frames\] By port: room of its queue. Kept apart from the links, each of which fills a cache line.
    pub(crate) rooms: Vec<u32>,
}

impl Deref for Wiring {
    type Target = wiring::Wiring;

    #[inline(always)]
    fn deref(&self) -> &wiring::Wiring {
        &self.ports
    }
}

impl Wiring {
    pub(crate) fn new(topology: &dyn Topology, params: &Params) -> Result<Self, SpecError> {
        let uses = if params.forwarding == Forwarding::Static { &ROUTED } else { &LINKS };
        uses.check(topology)?;
        let ports = wiring::Wiring::new(topology)?;
        let (mut links, mut rooms) = (Vec::new(), Vec::new());
        for end in ports.links() {
            let (link, room) = linked(topology, params, &ports, end)?;
            if link.is_to_switch {
                params.check_headroom(link.rate, link.delay)?;
            }
            links.push(link);
            rooms.push(room);
        }
        let rails = topology.switched().and_then(Switched::rails).cloned();
        Ok(Self { ports, links, rails, nics: Nics::of(topology), rooms })
    }

    /// A port as users know it.
    pub(crate) fn interface(&self, port: usize) -> Interface {
        let wiring::Link { owner, number, .. } = self.ports.links()[port];
        Interface { place: self.place(owner as usize), port: number as usize }
    }

    /// A device as users know it.
    pub(crate) fn place(&self, device: usize) -> Place {
        let node = self.node(device);
        if device < self.hosts { Place::Host(node) } else { Place::Switch(node) }
    }
}

/// A link, and the room of the queue at its beginning.
fn linked(
    topology: &dyn Topology,
    params: &Params,
    ports: &wiring::Wiring,
    end: &wiring::Link,
) -> Result<(Link, u32), SpecError> {
    let wiring::Link { peer, owner, device, number, is_to_switch, is_visible } = *end;
    let (mut rate, mut delay, mut room) = (params.link_rate, params.propagation, params.port_queue);
    if is_visible {
        let (node, port) = (ports.node(owner as usize), Port(number));
        let given = topology.switched().map_or_else(LinkAttributes::default, |network| network.link(node, port));
        rate = given.rate.unwrap_or(rate);
        match given.delay {
            Some(Delay::Time(span)) => delay = span,
            // Other numbers of cycles have been refused.
            Some(Delay::Cycles(_)) => delay = 0,
            None => {}
        }
        if !RATES.contains(&rate) || delay > MAX_TIME {
            let what = format!("a link of node {node} of {} has {rate} b/s and {delay} ps", topology.spec());
            let remedy = format!("use {} to {} b/s, and at most {MAX_TIME} ps", RATES.start(), RATES.end());
            return Err(SpecError::new(ErrorKind::OutOfRange, what, remedy).of("topology"));
        }
        if let Some(given) = given.queue {
            params.check_room(given)?;
            room = given;
        }
    }
    let link = Link {
        peer,
        owner,
        device,
        number,
        is_to_switch,
        is_visible,
        rate,
        delay,
        gap: bit_time(params.frames.gap, rate),
        longest: bit_time(8 * params.frames.of(params.frames.mtu), rate),
        shortest: bit_time(8 * params.frames.of(0), rate),
        sizes: [params.frames.mtu, 0].map(|payload| params.frames.of(payload) as u16),
    };
    Ok((link, room))
}
