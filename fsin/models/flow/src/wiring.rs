//! Directed links with capacities and delays.

use std::sync::Arc;

use fsin_core::topology::switched::{Attribute, Delay, LinkAttributes, StatedRoutes, Uses};
use fsin_core::topology::{Port, Topology};
use fsin_core::wiring;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use crate::few::Few;
use crate::params::{MAX_TIME, Params, RATES};

/// The attributes of links that this model uses.
pub(crate) const LINKS: Uses = Uses { model: "flow", attributes: &[Attribute::Rate, Attribute::Time], any_ports: true };

/// In [`Wiring::outputs`]: no link.
const NONE: u32 = u32::MAX;

/// \[2^-50 bytes/ns\] A rate of so many b/s, rounded down.
pub(crate) const fn capacity(bits_per_second: u64) -> u64 {
    ((bits_per_second as u128 * (1 << 50)) / 8_000_000_000) as u64
}

/// \[2^-50 bytes/ns\] Capacity of a link that limits each flow alone: 4096 times the greatest rate, if it is below the
/// largest number.
const FAT: u64 = u64::MAX / 4;

/// The routes that the file of the topology states link by link, if they are to be taken.
pub(crate) fn stated_routes<'a>(
    topology: &'a dyn Topology,
    params: &Params,
) -> Result<Option<&'a dyn StatedRoutes>, SpecError> {
    let Some(network) = topology.switched() else { return Ok(None) };
    if network.no_graph().is_some() {
        let refused = |key: &'static str, what: &'static str| {
            let what = phrase![[key], (" with {}: {what}", topology.spec())];
            Err(SpecError::new(ErrorKind::Unsupported, what, "leave it out").of(key))
        };
        if !params.failures.is_empty() {
            return refused("fail", "its routes are stated link by link, and none leads round a dead link");
        }
        if !params.takes_stated || params.routes.is_some() {
            return refused("routing", "its routes are stated link by link, and are those of no graph");
        }
    }
    Ok(network.stated_routes().filter(|_| params.takes_stated && params.failures.is_empty() && params.routes.is_none()))
}

/// The links of a network. A link is the port through which it leaves.
#[derive(Debug)]
pub(crate) struct Wiring {
    /// Devices and ports.
    pub(crate) ports: wiring::Wiring,
    /// \[2^-50 bytes/ns\] By link: its capacity.
    pub(crate) capacities: Arc<[u64]>,
    /// \[b/s\] By link: its rate.
    pub(crate) rates: Few,
    /// \[ps\] By link: its delay.
    pub(crate) delays: Few,
    /// By router and port of the topology: the link.
    outputs: Vec<u32>,
    /// \[2^-50 bytes/ns\] By link: the largest rate of each flow on it. Only links of stated routes limit flows one by
    /// one; the list is empty without such links.
    pub(crate) alone: Vec<u64>,
    /// The number of the first link of stated routes, behind those of the graph.
    pub(crate) stated: u32,
}

impl Wiring {
    pub(crate) fn new(topology: &dyn Topology, params: &Params) -> Result<Self, SpecError> {
        LINKS.check(topology)?;
        let ports = wiring::Wiring::new(topology)?;
        let (mut rates, mut delays) = (Few::default(), Few::default());
        let mut outputs = vec![NONE; ports.router_outputs()];
        for (link, end) in ports.links().iter().enumerate() {
            let (mut rate, mut delay) = (params.node_rate, 0);
            if end.is_visible {
                let (node, port) = (ports.node(end.owner as usize), Port(end.number));
                let given =
                    topology.switched().map_or_else(LinkAttributes::default, |network| network.link(node, port));
                rate = given.rate.unwrap_or(params.link_rate);
                delay = match given.delay {
                    Some(Delay::Time(span)) => span,
                    // Other numbers of cycles have been refused.
                    Some(Delay::Cycles(_)) => 0,
                    None => match &*params.link_delays {
                        [] => params.propagation,
                        [all] => *all,
                        several => several.get(topology.link_class(node, port)).copied().unwrap_or(0),
                    },
                };
                if !RATES.contains(&rate) || delay > MAX_TIME {
                    let what = format!("a link of node {node} of {} has {rate} b/s and {delay} ps", topology.spec());
                    let remedy = format!("use {} to {} b/s, and at most {MAX_TIME} ps", RATES.start(), RATES.end());
                    return Err(SpecError::new(ErrorKind::OutOfRange, what, remedy).of("topology"));
                }
                if let Some(router) = (end.owner as usize).checked_sub(ports.hosts) {
                    outputs[ports.output_of(router, end.number as usize)] = link as u32;
                }
            }
            rates.push(rate);
            delays.push(delay);
        }
        let mut capacities: Vec<u64> = rates.iter().map(capacity).collect();
        let mut alone = Vec::new();
        let stated = capacities.len() as u32;
        for link in stated_routes(topology, params)?.iter().flat_map(|routes| routes.constraints()) {
            let rate = link.rate.clamp(*RATES.start(), *RATES.end());
            if rate != link.rate || link.delay > MAX_TIME {
                let what =
                    format!("link {} of {} has {} b/s and {} ps", link.name, topology.spec(), link.rate, link.delay);
                let remedy = format!("use {} to {} b/s, and at most {MAX_TIME} ps", RATES.start(), RATES.end());
                return Err(SpecError::new(ErrorKind::OutOfRange, what, remedy).of("topology"));
            }
            rates.push(rate);
            delays.push(link.delay);
            alone.resize(capacities.len(), u64::MAX);
            // A link that limits each flow alone holds any number of them.
            capacities.push(if link.is_fat { FAT } else { capacity(rate) });
            alone.push(if link.is_fat { capacity(rate) } else { u64::MAX });
        }
        Ok(Self { ports, capacities: capacities.into(), rates, delays, outputs, alone, stated })
    }

    /// The link that leaves a router through a port of the topology.
    pub(crate) fn output(&self, router: usize, port: u32) -> Option<u32> {
        let link = self.outputs[self.ports.output_of(router, port as usize)];
        (link != NONE).then_some(link)
    }

    /// The router of a host.
    pub(crate) fn home(&self, host: u32) -> usize {
        self.ports.home(host as usize).0
    }

    /// The router at the end of a link between routers.
    pub(crate) fn router_after(&self, link: u32) -> usize {
        self.ports.links()[link as usize].device as usize - self.ports.hosts
    }
}
