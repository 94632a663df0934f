//! What both engines share: sizes, wiring, forwarding, hosts, their transports and congestion controls.

pub(crate) mod alive;
pub(crate) mod buffer;
pub(crate) mod cc;
pub(crate) mod flows;
pub(crate) mod forwarding;
pub(crate) mod frame;
pub(crate) mod hosts;
pub(crate) mod kept;
pub(crate) mod lengths;
pub(crate) mod managed;
pub(crate) mod marking;
pub(crate) mod port;
pub(crate) mod queues;
pub(crate) mod reach;
pub(crate) mod roce;
pub(crate) mod schedule;
pub(crate) mod spray;
pub(crate) mod tally;
pub(crate) mod ties;
pub(crate) mod tree;
pub(crate) mod trim;
mod uncut;
pub(crate) mod wait;
pub(crate) mod window;
pub(crate) mod wiring;
