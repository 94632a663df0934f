//! Packets that links damage which are dead at times.
//!
//! Decision: docs/decisions/0221-reconfiguration.md.

use std::collections::BTreeMap;

use super::hosts::cycle_at;
use super::wires::Wires;

/// The packets that are coming off links that are dead at times.
#[derive(Clone, Default, Debug)]
pub(crate) struct Arriving {
    /// By port that the link leaves: the number of the packet, and \[ticks\] when its first character arrived.
    heads: BTreeMap<u32, (u64, u64)>,
}

impl Arriving {
    /// Records that characters of packet number `serial` arrive from instant `at` on over the link that leaves a port.
    pub(crate) fn come(&mut self, port: u32, serial: u64, at: u64) {
        let head = self.heads.entry(port).or_insert((serial, at));
        if head.0 != serial {
            *head = (serial, at);
        }
    }

    /// True if the packet is damaged whose CRC arrives at instant `at`: the link was dead at some time from the arrival
    /// of its first character to that of its CRC.
    pub(crate) fn is_damaged(&self, wires: &Wires, port: u32, at: u64) -> bool {
        let (Some(outage), Some(&(_, first))) = (wires.outages.get(&port), self.heads.get(&port)) else { return false };
        outage.meets(cycle_at(first), cycle_at(at))
    }
}
