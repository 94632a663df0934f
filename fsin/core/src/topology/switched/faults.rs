//! Dead links.
//!
//! Decision: docs/decisions/0073-dead-links.md.

use std::collections::HashSet;
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::{Purpose, mix2, pick};

use super::{NOWHERE, Switched};
use crate::topology::{Ends, Topology};

/// Maximum number of pairs of nodes that an error names.
const NAMED: usize = 4;

impl Switched {
    /// This network with `count` dead links between switches. The links are drawn from `seed` with equal probability,
    /// and are dead in both directions.
    ///
    /// # Errors
    /// More faults than links, or so many that some endpoints can no longer reach each other.
    pub fn with_faults(&self, count: usize, seed: u64) -> Result<Self, SpecError> {
        let fabric = &*self.fabric;
        let switches = (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        // Each link from its lower end, parallel links one by one.
        let mut alive: Vec<Ends> = Vec::new();
        for node in switches {
            for port in fabric.ports_of(node) {
                let there = fabric.neighbour(node, port).filter(|there| node < *there);
                if let (Some(there), Some(back)) = (there, fabric.back(node, port)) {
                    alive.push([(node, port), (there, back)]);
                }
            }
        }
        if count > alive.len() {
            let what = phrase![["faults" => count], (": {} has {} links between switches", self.spec(), alive.len())];
            return Err(SpecError::new(ErrorKind::Conflict, what, "use fewer"));
        }
        let key = mix2(seed, Purpose::Setup as u64);
        let mut dead = Vec::new();
        for fault in 0..count {
            let drawn = pick(mix2(key, fault as u64), alive.len() as u32);
            dead.push(alive.swap_remove(drawn as usize));
        }
        self.without(&dead)
    }

    /// This network without these links.
    ///
    /// # Errors
    /// Endpoints that can no longer reach each other.
    pub(super) fn without(&self, dead: &[Ends]) -> Result<Self, SpecError> {
        let damaged = self.less(dead);
        damaged.check_reachable()?;
        Ok(damaged)
    }

    /// This network without these links, even if endpoints can then no longer reach each other.
    pub(in crate::topology) fn less(&self, dead: &[Ends]) -> Self {
        let mut fabric = (*self.fabric).clone();
        for &(node, port) in dead.iter().flatten() {
            let at = fabric.output(node, port);
            fabric.neighbours[at] = NOWHERE;
        }
        fabric.dead.extend(dead);
        fabric.update_nics();
        Self { fabric: Arc::new(fabric), ..self.clone() }
    }

    /// Rejects a network in which some endpoints cannot reach others, and names pairs of them.
    fn check_reachable(&self) -> Result<(), SpecError> {
        let fabric = &self.fabric;
        let mut seen: HashSet<NodeId> = HashSet::new();
        let mut reached = vec![fabric.home(NodeId(0)).0];
        while let Some(node) = reached.pop() {
            if seen.insert(node) {
                reached.extend(fabric.ports_of(node).filter_map(|port| fabric.neighbour(node, port)));
            }
        }
        let endpoints = || (0..fabric.endpoints()).map(NodeId::at);
        let cut_off: Vec<NodeId> = endpoints().filter(|&endpoint| !seen.contains(&fabric.home(endpoint).0)).collect();
        if cut_off.is_empty() {
            return Ok(());
        }
        let mut pairs: Vec<String> = cut_off.iter().take(NAMED).map(|other| format!("0 and {other}")).collect();
        if cut_off.len() > NAMED {
            pairs.push(format!("{} more with 0", cut_off.len() - NAMED));
        }
        let what = phrase![
            ["faults" => fabric.faults()],
            (": endpoints cannot reach each other in {}: {}", self.spec(), pairs.join(", "))
        ];
        Err(SpecError::new(ErrorKind::Conflict, what, phrase!["use fewer faults, or another ", ["seed"]]))
    }
}
