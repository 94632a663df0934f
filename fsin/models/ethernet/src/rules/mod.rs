//! What both engines share: sizes, wiring, forwarding, hosts and their windows.

pub(crate) mod alive;
pub(crate) mod forwarding;
pub(crate) mod frame;
pub(crate) mod hosts;
pub(crate) mod lengths;
pub(crate) mod port;
pub(crate) mod ties;
pub(crate) mod tree;
mod uncut;
pub(crate) mod wait;
pub(crate) mod window;
pub(crate) mod wiring;
