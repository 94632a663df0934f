//! Links that are dead at times, and the packets that they damage.
//!
//! Decision: docs/decisions/0221-reconfiguration.md.

use std::collections::BTreeMap;
use std::sync::Arc;

use fsin_core::failures::{Outage, Timetable};
use trgen::NodeId;

use super::interface::Flit;
use super::wiring::{End, Wiring};

/// When the links are dead that die or are repaired during the run, by where their flits arrive.
#[derive(Clone, Default, Debug)]
pub(crate) struct Outages {
    /// By router and input port.
    inputs: BTreeMap<(usize, usize), Outage>,
    /// By endpoint.
    sinks: BTreeMap<u32, Outage>,
}

impl Outages {
    pub(crate) fn new(timetable: &Timetable, wiring: &Wiring) -> Self {
        let mut outages = Self::default();
        for ((node, port), outage) in timetable.outages() {
            if let Some(router) = wiring.router(node) {
                match wiring.out(router, port.index()).end {
                    End::Router { router, port } => {
                        outages.inputs.insert((router as usize, port.into()), outage);
                    }
                    End::Endpoint(endpoint) => {
                        outages.sinks.insert(endpoint, outage);
                    }
                    End::Nothing => {}
                }
            } else {
                outages.inputs.insert(wiring.entry(node.index()), outage);
            }
        }
        outages
    }

    /// True if no link is ever dead that is alive at another time.
    pub(crate) fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.sinks.is_empty()
    }

    /// True if the link that ends at an input port of a router is dead at times.
    pub(crate) fn have(&self, router: usize, port: usize) -> bool {
        self.inputs.contains_key(&(router, port))
    }

    /// True if the link to an endpoint damages a packet that it receives from cycle `first` to cycle `last`.
    pub(crate) fn damage(&self, endpoint: u32, first: u64, last: u64) -> bool {
        self.sinks.get(&endpoint).is_some_and(|outage| outage.meets(first, last))
    }
}

/// The packets that are coming off links that are dead at times.
#[derive(Clone, Debug)]
pub(crate) struct Arriving {
    outages: Arc<Outages>,
    /// \[cycle\] By router, input port and VC: when the head of the packet arrived that is coming there.
    heads: BTreeMap<(usize, usize, usize), u64>,
}

impl Arriving {
    pub(crate) const fn new(outages: Arc<Outages>) -> Self {
        Self { outages, heads: BTreeMap::new() }
    }

    /// Records that a flit arrives in cycle `now` at a VC of an input port of a router. Returns true if it is the tail
    /// of a damaged packet: its link was dead at some time from the arrival of the head to that of the tail.
    pub(crate) fn is_damaged(&mut self, (router, port, vc): (usize, usize, usize), flit: Flit, now: u64) -> bool {
        let Some(outage) = self.outages.inputs.get(&(router, port)) else { return false };
        let head = self.heads.entry((router, port, vc)).or_insert(now);
        if flit.is_head {
            *head = now;
        }
        flit.is_tail && outage.meets(*head, now)
    }
}

/// A packet as the record knows it: its source, and its number among the packets of the source.
pub(crate) type Identity = (NodeId, u64);
