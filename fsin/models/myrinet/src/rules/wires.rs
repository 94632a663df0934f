//! The links of a network with their delays, and which of them are dead.

use std::ops::Deref;

use fsin_core::topology::switched::{Attribute, Delay, LinkAttributes, Uses};
use fsin_core::topology::{Port, Topology};
use fsin_core::wiring::{Link, Wiring};
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use crate::params::{MAX_DELAY, Params, TICKS};

/// The attributes of links that this model uses. All rates must be that of the setting: a worm has one rate.
pub(crate) const LINKS: Uses = Uses { model: "myrinet", attributes: &[Attribute::Rate, Attribute::Time] };

/// The number of no port, no packet and no switch.
pub(crate) const NONE: u32 = u32::MAX;

/// The links of a network, with their delays.
#[derive(Clone, Debug)]
pub(crate) struct Wires {
    /// Hosts, switches and their ports.
    wiring: Wiring,
    /// \[ticks\] By port: propagation along the link that leaves through it, at least 1.
    pub(crate) delays: Vec<u64>,
    /// By port: true if the link is dead.
    pub(crate) dead: Vec<bool>,
}

impl Deref for Wires {
    type Target = Wiring;

    #[inline(always)]
    fn deref(&self) -> &Wiring {
        &self.wiring
    }
}

impl Wires {
    /// The links of a topology. Checks the sizes of slack buffers if `is_checked`.
    pub(crate) fn new(topology: &dyn Topology, params: &Params, is_checked: bool) -> Result<Self, SpecError> {
        LINKS.check(topology)?;
        LINKS.check_one_rate(topology, params.link_rate)?;
        let wiring = Wiring::new(topology)?;
        let mut delays = Vec::with_capacity(wiring.links().len());
        for link in wiring.links() {
            let delay = delay(topology, params, &wiring, link)?;
            if link.is_to_switch && is_checked {
                params.check_slack(delay)?;
            }
            delays.push(delay);
        }
        let dead = dead(topology, params, &wiring)?;
        Ok(Self { wiring, delays, dead })
    }

    /// The number of a device among the switches.
    pub(crate) fn switch(&self, device: u32) -> usize {
        device as usize - self.hosts
    }
}

/// \[ticks\] Propagation delay of a link, at least 1.
fn delay(topology: &dyn Topology, params: &Params, wiring: &Wiring, link: &Link) -> Result<u64, SpecError> {
    let usual = params.propagation();
    if !link.is_visible {
        return Ok(usual);
    }
    let (node, port) = (wiring.node(link.owner as usize), Port(link.number as u8));
    let given = topology.switched().map_or_else(LinkAttributes::default, |network| network.link(node, port));
    let own = match given.delay {
        Some(Delay::Time(span)) => span.saturating_mul(TICKS),
        // Other numbers of cycles have been refused.
        Some(Delay::Cycles(_)) => 0,
        None => usual,
    };
    let delay = own.max(1);
    if delay > MAX_DELAY * TICKS {
        let what = format!("a link of node {node} of {} has a delay of {} ps", topology.spec(), delay / TICKS);
        return Err(SpecError::new(ErrorKind::OutOfRange, what, format!("use at most {MAX_DELAY} ps")).of("topology"));
    }
    Ok(delay)
}

/// By port: whether the link is dead.
fn dead(topology: &dyn Topology, params: &Params, wiring: &Wiring) -> Result<Vec<bool>, SpecError> {
    if params.faults == 0 {
        return Ok(vec![false; wiring.links().len()]);
    }
    let Some(network) = topology.switched() else {
        let what = phrase![["faults" => params.faults], (": links of {} do not die in this model", topology.spec())];
        return Err(SpecError::new(ErrorKind::Unsupported, what, "use a network of switches").of("faults"));
    };
    let damaged = network.with_faults(params.faults, params.seed).map_err(|refusal| refusal.of("faults"))?;
    let is_dead = |link: &Link| {
        let (node, port) = (wiring.node(link.owner as usize), Port(link.number as u8));
        topology.neighbour(node, port).is_some() && damaged.neighbour(node, port).is_none()
    };
    Ok(wiring.links().iter().map(is_dead).collect())
}
