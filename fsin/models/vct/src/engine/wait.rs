//! The cycle of blocked heads in a deadlock: the same for every engine.

use trgen::NodeId;

use crate::router::request::OutputVc;
use fsin_core::network::Channel;
use fsin_core::topology::Shape;

/// A queue: its node, and its number there (transit queues in the order of [`OutputVc::index`], then injection queues).
pub(super) type Place = (usize, usize);

/// Follows the wait-for relation of blocked heads from `first` until a queue repeats. Returns the queues of that cycle.
pub(super) fn cyclic_wait(first: Option<Place>, waits_for: impl Fn(Place) -> Option<Place>) -> Vec<Place> {
    let mut path: Vec<Place> = Vec::new();
    let mut next = first;
    while let Some(place) = next {
        if let Some(start) = path.iter().position(|&seen| seen == place) {
            return path.split_off(start);
        }
        path.push(place);
        next = waits_for(place);
    }
    Vec::new()
}

/// A queue as users know it.
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
