//! The output state that heads can see.

use trgen::NodeId;

use super::Reference;
use crate::router::request::{OutputState, OutputVc};
use fsin_core::topology::Port;

/// The local view of a head at a node: the queues at the end of the previous cycle.
pub(super) struct LocalView<'a> {
    pub(super) engine: &'a Reference,
    /// The node where the head stands.
    pub(super) node: NodeId,
}

impl OutputState for LocalView<'_> {
    fn fitting(&self, port: Port) -> u32 {
        let params = &self.engine.params;
        let fits = |output: OutputVc| self.space_ahead(output).is_some_and(|space| space >= params.packet_phits);
        (0..params.vcs as u8).filter(|&vc| fits(OutputVc { port, vc })).fold(0, |fitting, vc| fitting | 1 << vc)
    }

    fn open(&self, port: Port) -> u32 {
        let (vcs, owner) = (self.engine.params.vcs, &self.engine.nodes[self.node.index()].owner);
        let is_owned = |vc: u8| owner[OutputVc { port, vc }.index(vcs)].is_some();
        self.fitting(port) & !(0..vcs as u8).filter(|&vc| is_owned(vc)).fold(0, |owned, vc| owned | 1 << vc)
    }

    fn packets_ahead(&self, output: OutputVc) -> u32 {
        let neighbour = self.engine.topology.neighbour(self.node, output.port);
        neighbour.map_or(0, |there| self.engine.nodes[there.index()].held[output.index(self.engine.params.vcs)])
    }

    fn space_ahead(&self, output: OutputVc) -> Option<u32> {
        let neighbour = self.engine.topology.neighbour(self.node, output.port)?;
        Some(self.engine.space(neighbour, output.index(self.engine.params.vcs)))
    }

    fn has_room(&self, output: OutputVc, packets: u32) -> bool {
        let params = &self.engine.params;
        self.engine.space(self.node, output.index(params.vcs)) >= packets * params.packet_phits
    }

    fn restricts(&self) -> bool {
        let timer = self.engine.nodes[self.node.index()].timer;
        timer.is_none_or(|timer| timer.is_congested(self.engine.clock.0))
    }
}
