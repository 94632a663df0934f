//! The links of a network with their rates and delays, and which of them are dead.

use std::collections::BTreeMap;
use std::ops::Deref;

use fsin_core::failures::Outage;
use fsin_core::topology::switched::{Attribute, Delay, LinkAttributes, Uses};
use fsin_core::topology::{Port, Topology, rate_text};
use fsin_core::wiring::{Link, Wiring};
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use crate::params::{MAX_DELAY, Params, RATES, TICKS, character_ticks};

/// The attributes of links that this model uses.
pub(crate) const LINKS: Uses =
    Uses { model: "myrinet", attributes: &[Attribute::Rate, Attribute::Time], any_ports: false };

/// The number of no port, no packet and no switch.
pub(crate) const NONE: u32 = u32::MAX;

/// The links of a network, with their delays.
#[derive(Clone, Debug)]
pub(crate) struct Wires {
    /// Hosts, switches and their ports.
    wiring: Wiring,
    /// \[ticks\] By port: time of a character on the link that leaves through it.
    pub(crate) characters: Vec<u64>,
    /// \[ticks\] By port: propagation along the link that leaves through it, at least 1.
    pub(crate) delays: Vec<u64>,
    /// By port: true if the link is dead.
    pub(crate) dead: Vec<bool>,
    /// By port: when the link is dead, of links that die or are repaired during the run.
    pub(crate) outages: BTreeMap<u32, Outage>,
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
        let wiring = Wiring::new(topology)?;
        let (mut characters, mut delays) = (Vec::new(), Vec::new());
        for link in wiring.links() {
            characters.push(character(topology, params, &wiring, link)?);
            delays.push(delay(topology, params, &wiring, link)?);
        }
        let dead = dead(topology, params, &wiring)?;
        let by_port = |((node, port), outage)| Some((wiring.port_of(node, port)? as u32, outage));
        let outages = params.timetable.outages().into_iter().filter_map(by_port).collect();
        let new = Self { wiring, characters, delays, dead, outages };
        for (port, link) in new.wiring.links().iter().enumerate() {
            if link.is_to_switch && is_checked {
                params.check_slack(new.least_slack(params, port))?;
            }
        }
        Ok(new)
    }

    /// True if all links have one rate.
    pub(crate) fn are_alike(&self) -> bool {
        self.characters.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// \[characters\] The smallest slack buffer that never overflows behind the link that leaves through a port.
    ///
    /// The input sends STOP when it holds one character more than the high-water mark. STOP waits for the character
    /// that occupies the opposite channel, takes one character time there, and travels for its delay. Characters that
    /// the sender began before STOP came travel for the delay of the link. The characters that begin in that time
    /// follow the one that caused STOP.
    fn least_slack(&self, params: &Params, port: usize) -> u64 {
        let back = self.wiring.links()[port].peer as usize;
        let time = 2 * self.characters[back] + self.delays[back] + self.delays[port];
        u64::from(params.high_mark) + time.div_ceil(self.characters[port])
    }

    /// \[ticks\] Time from the arrival of a character's leading edge at an input of a switch until it may leave through
    /// an output: until its end if it is stored, else until the output does not outrun it.
    pub(crate) fn lead(&self, params: &Params, input: usize, output: usize) -> u64 {
        let comes = self.characters[self.wiring.links()[input].peer as usize];
        if params.store_character { comes } else { comes.saturating_sub(self.characters[output]) }
    }

    /// The number of a device among the switches.
    pub(crate) fn switch(&self, device: u32) -> usize {
        device as usize - self.hosts
    }
}

/// What the topology says of a link.
fn given(topology: &dyn Topology, wiring: &Wiring, link: &Link) -> LinkAttributes {
    let (node, port) = (wiring.node(link.owner as usize), Port(link.number));
    let network = topology.switched().filter(|_| link.is_visible);
    network.map_or_else(LinkAttributes::default, |network| network.link(node, port))
}

/// \[ticks\] Time of a character on a link.
fn character(topology: &dyn Topology, params: &Params, wiring: &Wiring, link: &Link) -> Result<u64, SpecError> {
    let rate = given(topology, wiring, link).rate.unwrap_or(params.link_rate);
    if !RATES.contains(&rate) {
        let node = wiring.node(link.owner as usize);
        let what = format!("a link of node {node} of {} has {}", topology.spec(), rate_text(rate));
        let remedy = format!("use {} to {}", rate_text(*RATES.start()), rate_text(*RATES.end()));
        return Err(SpecError::new(ErrorKind::OutOfRange, what, remedy).of("topology"));
    }
    Ok(character_ticks(rate))
}

/// \[ticks\] Propagation delay of a link, at least 1.
fn delay(topology: &dyn Topology, params: &Params, wiring: &Wiring, link: &Link) -> Result<u64, SpecError> {
    let usual = params.propagation();
    let own = match given(topology, wiring, link).delay {
        Some(Delay::Time(span)) => span.saturating_mul(TICKS),
        // Other numbers of cycles have been refused.
        Some(Delay::Cycles(_)) => 0,
        None => usual,
    };
    let delay = own.max(1);
    if delay > MAX_DELAY * TICKS {
        let node = wiring.node(link.owner as usize);
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
        let (node, port) = (wiring.node(link.owner as usize), Port(link.number));
        topology.neighbour(node, port).is_some() && damaged.neighbour(node, port).is_none()
    };
    Ok(wiring.links().iter().map(is_dead).collect())
}
