//! Names of queues, for the report of a deadlock.

use trgen::NodeId;

use crate::router::request::OutputVc;
use fsin_core::network::Channel;
use fsin_core::topology::Shape;
use fsin_core::wait::Place;

/// A queue as users know it: by its node, and its number there (transit queues in the order of [`OutputVc::index`],
/// then injection queues).
pub(super) fn channel((node, queue): Place, shape: Shape, vcs: usize) -> Channel {
    let node = NodeId::at(node);
    let outputs = shape.ports() * vcs;
    if queue >= outputs {
        return Channel::Injection { node, injector: queue - outputs };
    }
    let OutputVc { port, vc } = OutputVc::at(queue, vcs);
    if shape.is_switched() {
        return Channel::Switch { node, port: port.index(), vc: vc.into() };
    }
    let (dimension, positive) = shape.direction(port);
    Channel::Transit { node, dimension, positive, vc: vc.into() }
}
