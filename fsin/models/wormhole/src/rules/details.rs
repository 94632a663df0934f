//! What this model measures beyond what every model does.

use fsin_core::network::Measure;

/// Steps in which a flit at the front of its buffer could not go on, by cause.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stalls {
    /// \[steps\] A head was not given an output VC.
    pub no_vc: u64,
    /// \[steps\] The output VC had no credit, or the output queue no room.
    pub no_credit: u64,
    /// \[steps\] The flit requested the switch and another flit was granted.
    pub lost_switch: u64,
    /// Number of grants of the switch to heads that did not win a VC with a credit in the same step, so that the grants
    /// were not used.
    pub misspeculated: u64,
}

impl Stalls {
    /// Adds `other` to these counts.
    pub(crate) const fn add(&mut self, other: &Self) {
        self.no_vc += other.no_vc;
        self.no_credit += other.no_credit;
        self.lost_switch += other.lost_switch;
        self.misspeculated += other.misspeculated;
    }
}

/// Where the cycles of received packets went. The sum is their latency.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stages {
    /// \[cycles\] From the creation of the packet to the departure of its head from the source.
    pub source: u64,
    /// \[cycles\] Time of heads in buffers until the grant of an output VC, behind other packets and in route
    /// computation.
    pub vc_allocation: u64,
    /// \[cycles\] From the grant of an output VC to the grant of the switch.
    pub switch_allocation: u64,
    /// \[cycles\] From the grant of the switch to the link: time in the crossbar and in the output queue.
    pub traversal: u64,
    /// \[cycles\] Time on links, those of endpoints included.
    pub link: u64,
    /// \[cycles\] From the arrival of the head at the sink to the arrival of the tail.
    pub serialization: u64,
}

impl Stages {
    /// \[cycles\] Sum of all stages.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.source + self.vc_allocation + self.switch_allocation + self.traversal + self.link + self.serialization
    }

    /// Adds `other` to these times.
    pub(crate) const fn add(&mut self, other: &Self) {
        self.source += other.source;
        self.vc_allocation += other.vc_allocation;
        self.switch_allocation += other.switch_allocation;
        self.traversal += other.traversal;
        self.link += other.link;
        self.serialization += other.serialization;
    }
}

/// The measures that [`Details::measures`] gives.
static MEASURES: [Measure; 11] = [
    Measure::new("flit_hops", "flits x routers", "grants of a switch that were used, while measuring as all of these"),
    Measure::new("stalls_no_vc", "steps/flit hop", "in which a head was not given a virtual channel"),
    Measure::new("stalls_no_credit", "steps/flit hop", "in which a flit had no credit, or the output queue no room"),
    Measure::new("stalls_lost_switch", "steps/flit hop", "in which a flit asked for the switch and another one got it"),
    Measure::new("misspeculated", "grants/flit hop", "of a switch, to heads that did not win a virtual channel"),
    Measure::new("at_source", "cycles/packet", "from creation to the head's leaving the source"),
    Measure::new("in_vc_allocation", "cycles/packet", "of heads in buffers, to the grant of a virtual channel"),
    Measure::new("in_switch_allocation", "cycles/packet", "from there to the grant of the switch"),
    Measure::new("in_traversal", "cycles/packet", "from there to the link"),
    Measure::new("on_links", "cycles/packet", "on links, those of endpoints included"),
    Measure::new("in_serialization", "cycles/packet", "from the head's arrival at the sink to the tail's"),
];

/// Counts since the start of the run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Details {
    /// Stalls of flits in routers.
    pub stalls: Stalls,
    /// Where the cycles of received packets went.
    pub stages: Stages,
    /// Number of flits that sources have sent.
    pub flits_sent: u64,
    /// Number of flits that sinks have received.
    pub flits_received: u64,
    /// \[flits x routers\] Grants of the switch that were used.
    pub flit_hops: u64,
    /// \[flits x cycles\] By VC: flits in the buffers of all routers, summed over time.
    pub occupancy: Vec<u64>,
}

impl Details {
    /// The counts as figures of a result, given that `packets` packets were received.
    pub(crate) fn measures(&self, packets: u64) -> Vec<(&'static Measure, f64)> {
        let of_a_hop = |steps: u64| if self.flit_hops > 0 { steps as f64 / self.flit_hops as f64 } else { 0.0 };
        let of_a_packet = |cycles: u64| if packets > 0 { cycles as f64 / packets as f64 } else { 0.0 };
        let Self { stalls, stages, .. } = self;
        let values = [
            self.flit_hops as f64,
            of_a_hop(stalls.no_vc),
            of_a_hop(stalls.no_credit),
            of_a_hop(stalls.lost_switch),
            of_a_hop(stalls.misspeculated),
            of_a_packet(stages.source),
            of_a_packet(stages.vc_allocation),
            of_a_packet(stages.switch_allocation),
            of_a_packet(stages.traversal),
            of_a_packet(stages.link),
            of_a_packet(stages.serialization),
        ];
        MEASURES.iter().zip(values).collect()
    }

    /// The counts since `earlier`, a former state of these counts.
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
