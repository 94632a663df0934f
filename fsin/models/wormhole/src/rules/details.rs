//! What this model measures beyond what every model does.

/// Steps in which a flit at the front of its buffer could not go on, by cause.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stalls {
    /// \[steps\] A head was not given an output VC.
    pub no_vc: u64,
    /// \[steps\] The output VC had no credit, or the output queue no room.
    pub no_credit: u64,
    /// \[steps\] The flit requested the switch and another one was granted.
    pub lost_switch: u64,
    /// \[grants\] Of the switch, to heads that did not win a VC with a credit in the same step: nothing used them.
    pub misspeculated: u64,
}

/// Where the cycles of received packets went. The sum is their latency.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stages {
    /// \[cycles\] From the packet's creation to its head's leaving the source.
    pub source: u64,
    /// \[cycles\] Of heads in buffers, to the grant of an output VC: behind other packets, route computation included.
    pub vc_allocation: u64,
    /// \[cycles\] From there to the grant of the switch.
    pub switch_allocation: u64,
    /// \[cycles\] From there to the link: the crossbar and the output queue.
    pub traversal: u64,
    /// \[cycles\] On links, those of endpoints included.
    pub link: u64,
    /// \[cycles\] From the head's arrival at the sink to the tail's.
    pub serialization: u64,
}

impl Stages {
    /// \[cycles\] All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.source + self.vc_allocation + self.switch_allocation + self.traversal + self.link + self.serialization
    }

    pub(crate) const fn add(&mut self, other: &Self) {
        self.source += other.source;
        self.vc_allocation += other.vc_allocation;
        self.switch_allocation += other.switch_allocation;
        self.traversal += other.traversal;
        self.link += other.link;
        self.serialization += other.serialization;
    }
}

/// Counts since the start of the run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Details {
    /// Of flits in routers.
    pub stalls: Stalls,
    /// Of packets that were received.
    pub stages: Stages,
    /// \[flits\] That sources have sent.
    pub flits_sent: u64,
    /// \[flits\] That sinks have received.
    pub flits_received: u64,
    /// \[flits x routers\] Grants of the switch that were used.
    pub flit_hops: u64,
    /// By VC: \[flits x cycles\] in the buffers of all routers.
    pub occupancy: Vec<u64>,
}

impl Details {
    /// What was counted since `earlier`, a former state of these counts.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let (stalls, before) = (&self.stalls, &earlier.stalls);
        let (stages, former) = (&self.stages, &earlier.stages);
        Self {
            stalls: Stalls {
                no_vc: stalls.no_vc - before.no_vc,
                no_credit: stalls.no_credit - before.no_credit,
                lost_switch: stalls.lost_switch - before.lost_switch,
                misspeculated: stalls.misspeculated - before.misspeculated,
            },
            stages: Stages {
                source: stages.source - former.source,
                vc_allocation: stages.vc_allocation - former.vc_allocation,
                switch_allocation: stages.switch_allocation - former.switch_allocation,
                traversal: stages.traversal - former.traversal,
                link: stages.link - former.link,
                serialization: stages.serialization - former.serialization,
            },
            flits_sent: self.flits_sent - earlier.flits_sent,
            flits_received: self.flits_received - earlier.flits_received,
            flit_hops: self.flit_hops - earlier.flit_hops,
            occupancy: self.occupancy.iter().zip(&earlier.occupancy).map(|(now, before)| now - before).collect(),
        }
    }
}
