//! The wormhole model: input-queued virtual-channel routers, flit by flit, with credits and pipelines.
//!
//! A packet is a head flit, body flits and a tail flit; a packet of one flit is head and tail at once. A router has a
//! buffer for each VC of each input port. A head is routed, is allocated an output VC, and keeps it until its tail has
//! passed; each flit is allocated the switch for itself, if the output VC has a credit for a place in the next router's
//! buffer.
//!
//! [`mod@reference`] defines the model; [`fast`] gives the same results at a cost that follows the flits that move.
//! Results depend on [`Params`], the topology and the messages only.

pub mod components;
pub mod family;
pub mod fast;
mod params;
pub mod reference;
mod rules;

pub use params::{
    Allocator, Hold, MAX_BUFFER, MAX_DELAY, MAX_PORT_BUFFER, MAX_SPEEDUP, MAX_SUBNETS, MAX_VCS, Params, Routing,
    Speedup, VcClasses,
};
pub use rules::batch::{TRAVERSE_MODES, TraverseMode};
pub use rules::buffers::{BUFFER_POLICIES, BufferPolicy};
pub use rules::channels::{SOURCE_ORDERS, SourceOrder, VcRanges};
pub use rules::details::{Details, Stages, Stalls};
pub use rules::priority::{PRIORITIES, Priority};
pub use rules::routes::carried;

use std::sync::Arc;

use fsin_core::failures::Reconfiguration;
use fsin_core::interface::Interface;
use fsin_core::network::Network;
use fsin_core::topology::Topology;
use fsin_core::topology::switched::Switched;
use rules::routes::Routes;
use rules::wiring::Wiring;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;

/// Maximum number of ports of a router, including the port of its own endpoint: a set of ports must fit 64 bits.
pub const MAX_PORTS: usize = 64;

/// A wormhole network, whichever engine simulates it.
pub trait Detailed: Network {
    /// Measurements of this model in addition to those of every model, since the start of the run.
    fn details(&mut self) -> Details;
}

/// Checks parameters for a topology: their ranges, whether the routing fits, and, unless [`Params::unsafe_routing`] is
/// set, freedom from deadlock by the channel dependency graph.
///
/// # Errors
/// The first setting that cannot be used, or channels that may wait for each other in a cycle.
pub fn check(topology: &dyn Topology, params: &Params) -> Result<(), SpecError> {
    prepare(topology, params).map(|_| ())
}

/// Refuses an interface or ports of ejection that mean nothing where endpoints have one link.
fn check_interface(topology: &dyn Topology, params: &Params) -> Result<(), SpecError> {
    if params.source_order == SourceOrder::RepliesFirst && params.interface != Interface::Serial {
        let what = phrase![
            ["source-order" => params.source_order.name()],
            " with ",
            ["interface" => params.interface],
            ", where several messages of a node are in progress"
        ];
        let remedy = phrase!["use ", ["interface" => "serial"], " or ", ["source-order" => "in-turn"]];
        return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("source-order"));
    }
    if topology.switched().is_none() {
        return Ok(());
    }
    let useless = |key: &'static str, remedy: &'static str| {
        let what =
            phrase![[key], " has no meaning with ", ["topology" => topology.spec()], ", whose endpoints have one link"];
        Err(SpecError::new(ErrorKind::Meaningless, what, phrase!["use ", [key => remedy]]).of(key))
    };
    match (params.interface, params.ejection_ports) {
        (Interface::PerPort, _) => useless("interface", "serial"),
        (_, 2..) => useless("consumption", "single"),
        _ => Ok(()),
    }
}

/// Refuses several copies of a network with what knows of one.
fn check_subnets(topology: &dyn Topology, params: &Params) -> Result<(), SpecError> {
    if params.subnets == 1 {
        return Ok(());
    }
    let refuse = |what: Phrase, remedy: Phrase| {
        let about = phrase![["subnets" => params.subnets], " with ", what];
        Err(SpecError::new(ErrorKind::Conflict, about, remedy).of("subnets"))
    };
    if params.queues() > 1 {
        let what = phrase![["message-classes" => params.message_classes], ", which send in turn"];
        return refuse(what, phrase!["use ", ["source-order" => "replies-first"], ", or one class"]);
    }
    if params.interface != Interface::Serial || params.ejection_ports != 1 {
        return refuse(
            "several links of a node".into(),
            phrase!["use ", ["interface" => "serial"], " and ", ["consumption" => "single"]],
        );
    }
    if !params.timetable.is_empty() {
        return refuse("links that fail".into(), phrase!["leave ", ["fail"], " out"]);
    }
    if topology.switched().is_some_and(Switched::is_paced) {
        return refuse("links of unlike rate".into(), "use a network whose links are alike".into());
    }
    Ok(())
}

/// What a network that has been checked is made of.
struct Prepared {
    wiring: Wiring,
    /// The routes at the start.
    routes: Arc<Routes>,
    /// Those after failures and repairs.
    reconfiguration: Reconfiguration<Arc<Routes>>,
}

/// The wiring and routing functions of a network, checked.
fn prepare(topology: &dyn Topology, params: &Params) -> Result<Prepared, SpecError> {
    params.check()?;
    rules::wiring::LINKS.check(topology)?;
    check_interface(topology, params)?;
    check_subnets(topology, params)?;
    let wiring = Wiring::new(topology, params);
    if wiring.ports > MAX_PORTS {
        let what = format!("a router of {} has {} ports", topology.spec(), wiring.ports);
        let remedy = format!("use a network whose routers have at most {MAX_PORTS}");
        return Err(SpecError::new(ErrorKind::TooLarge, what, remedy).of("topology"));
    }
    let routes_of = |topology: &dyn Topology| -> Result<Arc<Routes>, SpecError> {
        let routes = Routes::new(params, topology, &wiring)?;
        if !params.unsafe_routing {
            routes.prove(params, topology)?;
        }
        Ok(Arc::new(routes))
    };
    let routes = routes_of(params.timetable.at_first().map_or(topology, |first| &**first))?;
    let later = params.timetable.later().map(|(at, topology)| Ok((at, routes_of(&**topology)?)));
    let later = later.collect::<Result<Vec<_>, SpecError>>()?;
    Ok(Prepared { wiring, routes, reconfiguration: Reconfiguration::new(later) })
}
