//! Networks in which nothing but buffers, credits and masks decides: most of them.
//!
//! Decision: docs/decisions/0600-direct-networks.md.

use super::state::uses_masks;
use crate::params::{Hold, Params};
use crate::rules::priority::Priority;
use crate::rules::wiring::Wiring;

/// True if flits are arbitrated one by one, allocators use masks, and a flit with a credit finds a place. A lone request
/// then needs no matching.
pub(super) fn is_plain(params: &Params) -> bool {
    !params.is_widened()
        && !params.shares_buffers()
        && uses_masks(params.vc_allocator)
        && uses_masks(params.switch_allocator)
        && !params.keeps_channel_0()
        && params.hold == Hold::Flit
        && params.output_queue.is_none()
}

/// True if a router makes one step a cycle, and every link passes a flit in each cycle: none waits for its link.
pub(super) fn is_in_step(params: &Params, wiring: &Wiring) -> bool {
    params.speedup.is_one() && wiring.paced.is_none()
}

/// True if no flit waits for its link, and flits request the switch in the step of their arrival.
pub(super) fn is_lean(params: &Params, wiring: &Wiring) -> bool {
    is_in_step(params, wiring) && params.switch_alloc_delay == 1 && params.traverse_batch().is_none()
}

/// True if heads have a batch of route computation, or the number of hops of packets counts.
pub(super) fn has_rare(params: &Params) -> bool {
    params.route_batch().is_some() || params.priority == Priority::HopCount
}

/// True for networks that are plain and lean, with nothing that is rare: the compiler makes code of their own.
pub(super) fn is_direct(params: &Params, wiring: &Wiring) -> bool {
    is_plain(params)
        && is_lean(params, wiring)
        && !has_rare(params)
        && params.priority == Priority::None
        && params.subnets == 1
}
