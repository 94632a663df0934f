//! Priorities of packets in allocation, by which allocators and input ports choose among requests.
//!
//! The priority of a request is that of the flit at the front of its input VC. Separable allocators prefer the larger
//! priority in both of their stages, and among equals follow their pointers; an input port chooses one VC for an output
//! in the same way. iSLIP ignores priorities between ports, as in BookSim. A speculative request comes after all
//! others, also where there are no priorities.
//!
//! Decision: docs/decisions/0481-priorities-and-batches.md.

use trgen::choices;

use super::interface::Packet;
use crate::params::Params;

/// Source of most priorities; BookSim has them under the same names.
const BOOKSIM: &str = "BookSim 2, Jiang et al., ISPASS 2013";
/// Age as priority.
const AGE: &str = "Abts, Weisser, Age-based packet arbitration in large-radix k-ary n-cubes, SC 2007";

choices! {
    /// The property of a packet or flit that decides which requests are preferred.
    pub enum Priority: "priority" in PRIORITIES {
        None = "none", "no request is preferred", BOOKSIM;
        Class = "class", "by class of the message, each with the number of {class-priority}", BOOKSIM;
        Age = "age", "packets that were created first", AGE;
        NetworkAge = "network-age", "packets whose head left its source first", AGE;
        LocalAge = "local-age", "flits that came to this buffer first", BOOKSIM;
        QueueLength = "queue-length", "virtual channels with more flits in their buffer", BOOKSIM;
        HopCount = "hop-count", "packets that have passed more routers", BOOKSIM;
        Sequence = "sequence", "packets that are earlier in the order of their source", BOOKSIM;
    }
}

/// Subtracted from the priority of a speculative request, so that it is below all others.
const SPECULATION: i64 = 1 << 62;

/// State of the flit at the front of an input VC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Front {
    /// \[cycle\] When it came to the buffer.
    pub(crate) arrived: u64,
    /// \[flits\] In the buffer.
    pub(crate) waiting: usize,
    /// \[links\] Links that the packet had crossed when its head came to the front.
    pub(crate) hops: u32,
}

/// The priority of a flit of a packet at the front of an input VC; larger ones are preferred.
pub(crate) fn of(params: &Params, packet: &Packet, front: Front) -> i64 {
    match params.priority {
        Priority::None => 0,
        Priority::Class => params.class_priority(packet.source_class),
        Priority::Age => -(packet.start as i64),
        Priority::NetworkAge => -((packet.start + u64::from(packet.source_cycles)) as i64),
        Priority::LocalAge => -(front.arrived as i64),
        Priority::QueueLength => front.waiting as i64,
        Priority::HopCount => front.hops.into(),
        Priority::Sequence => -(packet.sequence() as i64),
    }
}

/// The priority of a request with which a head speculates.
pub(crate) const fn speculative(priority: i64) -> i64 {
    priority - SPECULATION
}
