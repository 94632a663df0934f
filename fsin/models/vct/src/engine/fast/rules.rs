//! State shared by all partitions of a network: settings and values derived from them.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use crate::router::hop_delays::HopDelays;
use crate::router::layout::Layout;
use crate::router::request::{OutputVc, RouteRules};
use crate::router::{Arbitration, CheckedParams, Consumption, Inject, Interface, RouterParams, SourceQueue};
use fsin_core::failures::Outage;
use fsin_core::topology::{Port, Switched, Topology};
use trgen::NodeId;

/// Settings of the router, prepared for use in every cycle.
#[derive(Clone, Debug)]
pub(super) struct Rules<L> {
    /// The checked settings.
    params: RouterParams,
    pub(super) topology: Arc<dyn Topology>,
    pub(super) layout: L,
    /// The rules by which heads request outputs.
    pub(super) requests: RouteRules<L>,
    /// \[cycles\] Time by which the tail follows the header: the packet length less one.
    pub(super) tail: u64,
    /// Number of ejection ports of a node; 0 if each queue has its own.
    pub(super) ejection_ports: u32,
    /// True if a node decides about more than its heads: the grants of ejection ports, or its timer.
    pub(super) more_than_heads: bool,
    /// True if senders must know the free space behind their channels phit by phit.
    pub(super) compares_space: bool,
    /// True if heads must also wake when there is no longer room behind a channel.
    pub(super) wakes_when_filled: bool,
    /// True if arbitration is round robin among all requests.
    pub(super) plain_arbitration: bool,
    /// True if arbiters must know the cycle of each head's first request.
    pub(super) keeps_since: bool,
    /// True if the phits in a queue must be known in every cycle, for the node's injectors or arbiters.
    pub(super) keeps_moves: bool,
    /// True if a packet that waits for its source buffer may choose another injector in each cycle.
    pub(super) tries_injectors: bool,
    /// \[messages\] Room for messages at the interface of a node.
    pub(super) interface_room: u32,
    /// Links that are dead at times, by the node and port that they leave.
    pub(super) outages: Arc<BTreeMap<(NodeId, Port), Outage>>,
    /// Hop delays beyond one cycle.
    pub(super) hop_delays: Arc<HopDelays>,
    /// True if some link passes less than a phit in each cycle. Room in queues is counted in whole packets then.
    pub(super) is_paced: bool,
    /// \[packets\] Packets in a full queue that may have room for one more while one departs; no number of packets
    /// where room is counted in whole packets.
    pub(super) full_queue: u32,
}

impl<L> Deref for Rules<L> {
    type Target = RouterParams;

    fn deref(&self) -> &RouterParams {
        &self.params
    }
}

impl<L: Layout> Rules<L> {
    pub(super) fn new(checked: CheckedParams, layout: L, topology: Arc<dyn Topology>) -> Self {
        let requests = RouteRules::new(&checked, layout, &*topology);
        let is_paced = topology.switched().is_some_and(Switched::is_paced);
        let params = checked.into_params();
        Self {
            compares_space: requests.compare_space(),
            wakes_when_filled: requests.waits_for_filling(),
            plain_arbitration: params.arbitration == Arbitration::RoundRobin && params.in_transit_priority == 0.0,
            keeps_since: params.arbitration == Arbitration::Fifo,
            keeps_moves: params.arbitration == Arbitration::Longest
                || (params.injectors > 1 && params.injection.compares()),
            tries_injectors: params.interface != Interface::PerPort
                && (params.injection.looks_at_way() || (params.injectors > 1 && params.inject == Inject::Serial)),
            interface_room: match params.source_queue {
                SourceQueue::Throttled => params.interface.room(layout.shape().ports()),
                SourceQueue::Open => u32::MAX,
            },
            layout,
            requests,
            tail: u64::from(params.packet_phits) - 1,
            ejection_ports: match params.consumption {
                Consumption::Multiple => 0,
                Consumption::Ports(ports) => ports,
            },
            more_than_heads: params.consumption != Consumption::Multiple || params.timeouts.is_some(),
            outages: Arc::new(params.timetable.outages()),
            hop_delays: Arc::new(HopDelays::new(&params, &*topology)),
            is_paced,
            full_queue: if is_paced { u32::MAX } else { params.queue_packets },
            topology,
            params,
        }
    }

    /// Output channels (and transit queues) of each node.
    #[inline(always)]
    pub(super) fn outputs(&self) -> usize {
        self.layout.outputs()
    }

    /// The port of an output channel, or of the transit queue of that number.
    #[inline(always)]
    pub(super) fn port_of(&self, output: usize) -> usize {
        self.layout.port_of(output)
    }

    /// The port and virtual channel of an output channel.
    #[inline(always)]
    pub(super) fn channel(&self, output: usize) -> OutputVc {
        self.layout.channel(output)
    }

    /// Index of a node's port in a table by node and port.
    #[inline(always)]
    pub(super) fn place(&self, node: u32, port: usize) -> usize {
        node as usize * self.layout.shape().ports() + port
    }

    /// True if an output channel wakes heads that sleep for deterministic channels, and not those that sleep for
    /// adaptive ones.
    pub(super) fn is_deterministic(&self, output: usize) -> bool {
        self.channel(output).vc < self.requests.first_adaptive()
    }
}
