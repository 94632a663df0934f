//! The Myrinet model: source routes, wormhole switches, STOP and GO, character by character.
//!
//! A packet is a character of its route for each switch, four of its type, its payload, a CRC, and a GAP behind it. A
//! switch strips the first character, which selects the output, and passes the rest on as it comes: a worm that is
//! blocked stands in the slack buffers along its way. An input whose buffer holds more than the high-water mark sends
//! STOP back, and GO when fewer than the low-water mark are left.
//!
//! [`mod@reference`] defines the model, a character at a time; [`fast`] moves runs of characters between changes, and
//! gives the same results. Results depend on [`Params`], the topology and the messages only.
//!
//! # Time
//! A cycle of the network's clock is a picosecond; inside, instants are counted in sixteenths. The clock that stands at
//! cycle c is instant c - 1: a message that is injected at the first cycle is offered at instant 0. Simulated time ends
//! after 6 days.
//!
//! # What happens at an instant
//! 1. Characters arrive with their leading edges, STOP and GO after their ends; BEATs become due. Then packets that are
//!    too old are removed.
//! 2. Connections through switches end whose GAP has left; outputs without one are given to inputs, round robin.
//! 3. Channels that are free begin a character: STOP or GO before BEAT before a packet's.
//! 4. Inputs compare what they hold with their marks; a channel that is still free sends STOP or GO at once.
//!
//! # Conventions
//! - A connection lasts from the grant to the end of the GAP. The character of the route that was stripped occupies its
//!   first slot, in which the output sends nothing of the packet. So a packet occupies the links and the crossbars that
//!   it passes for its length in characters, once each.
//! - A switch passes a character on with its leading edge, and a packet has arrived with the leading edge of its CRC:
//!   the convention of the source's formula for latency. [`Params::store_character`] adds a character time per switch.
//! - Where links have unlike rates, a switch passes a character on later by as much as a faster output would outrun it,
//!   and both engines are the reference engine.
//!
//! # What is a packet
//! In the record that all models keep a packet is one of a message: injected when its first character begins, received
//! when its CRC arrives, dropped when it is removed or lost on a dead link. Latencies begin when the message is
//! offered.
//!
//! # How the model departs from reality, and who could notice
//! - Hosts take characters as they come, never send STOP, and have no overhead; a send queue has no bound.
//! - A packet that is too old vanishes from all buffers and links at one instant; real interfaces and switches time out
//!   one by one, and send a forward reset.
//! - Lost packets are not sent again, which the software of real interfaces does.
//! - Dead links are dead from the start and stay so. Every sender sees it after two BEATs, and changes its routes then.
//! - Routes are those of the topology: there is no mapper, and the packets of its map are not simulated.
//!
//! Source: George, `VanLoon`, character-level models of second-generation Myrinet; ANSI/VITA 26-1998 (characters, slack
//! buffers, STOP and GO, BEAT); Boden et al., Myrinet: a gigabit-per-second local area network, IEEE Micro 15(1), 1995.

mod details;
mod engine;
mod family;
pub mod fast;
mod params;
pub mod reference;
mod rules;

use std::sync::Arc;

pub use details::{Details, PortDetails, Totals};
pub use family::FAMILY;
pub use fsin_core::route::Name as Routing;
pub use params::{MAX_DELAY, MAX_PAYLOAD, MAX_SLACK, MAX_TIME, Params, RATES};

use fsin_core::failures::Reconfiguration;
use fsin_core::network::Network;
use fsin_core::stats::Distribution;
use fsin_core::topology::Topology;
use rules::hosts::Hosts;
use rules::routes::Routes;
use rules::wires::Wires;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

/// An event that tests can observe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Event {
    /// \[ticks of 1/16 ps\] Time of the event.
    pub at: u64,
    /// What happens.
    pub kind: EventKind,
}

/// What happens in an event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EventKind {
    /// An input has begun to send STOP or GO through the channel of this port.
    Mark {
        /// Number of the port among all ports.
        port: u32,
        /// True for STOP, false for GO.
        is_stop: bool,
    },
    /// A switch has granted an output.
    Granted {
        /// Number of the output's port among all ports.
        output: u32,
        /// Number of the input's port among all ports.
        input: u32,
    },
    /// A packet has arrived.
    Arrived {
        /// The sending host.
        source: u32,
        /// The receiving host.
        destination: u32,
        /// Number of the packet among the packets of its source.
        sequence: u64,
    },
    /// A packet has been lost.
    Lost {
        /// The sending host.
        source: u32,
        /// The receiving host.
        destination: u32,
        /// Number of the packet among the packets of its source.
        sequence: u64,
    },
}

/// A Myrinet, whichever engine simulates it.
pub trait Myrinet: Network {
    /// What this model measures beyond what every model does, since the start of the run.
    fn details(&self) -> Details;

    /// \[ps\] Latencies of messages, from the offer of a message to the arrival of its last CRC.
    fn message_latency(&self) -> &Distribution;

    /// The events since the last call, in the order of their times. Events at the same time are in any order. The first
    /// call returns none and begins to collect them.
    fn events(&mut self) -> Vec<Event>;
}

/// Checks the parameters with a topology.
///
/// # Errors
/// The first setting that cannot be used.
pub fn check(topology: &Arc<dyn Topology>, params: &Params) -> Result<(), SpecError> {
    prepare(topology, params, true).map(|_| ())
}

/// The links and hosts of a network that has been checked. Refuses slack buffers that could overflow if `is_checked`.
fn prepare(topology: &Arc<dyn Topology>, params: &Params, is_checked: bool) -> Result<(Wires, Hosts), SpecError> {
    params.check()?;
    let wires = Wires::new(&**topology, params, is_checked)?;
    if params.faults > 0 && !params.timetable.is_empty() {
        let what =
            phrase![["faults" => params.faults], ": hosts see dead links late, and those of ", ["fail"], " at once"];
        let remedy = phrase!["leave it out, and let links fail from the start by ", ["fail"]];
        return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("faults"));
    }
    let checked = |topology: &dyn Topology| {
        let mut table = Routes::new(topology, params)?;
        table.check(&wires, params)?;
        Ok::<_, SpecError>(table)
    };
    let first = params.timetable.at_first().unwrap_or(topology);
    let mut routes = vec![checked(&**first)?];
    if let Some(network) = first.switched().filter(|_| params.faults > 0) {
        routes.push(checked(&network.with_faults(params.faults, params.seed)?)?);
    }
    let later = params.timetable.later().map(|(at, left)| Ok((at, checked(&**left)?)));
    let later = later.collect::<Result<Vec<_>, SpecError>>()?;
    let hosts = Hosts::new(params, &wires, routes, Reconfiguration::new(later));
    Ok((wires, hosts))
}
