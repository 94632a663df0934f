//! Live traffic: running programs as its source.
//!
//! A **guest** is a program whose messages travel through a simulated network and whose clock is kept in step with the
//! network's. It speaks TGP/1, which `docs/protocol.md` specifies.
//!
//! - [`protocol`]: the frames of TGP/1; [`codec`]: frames in a stream of bytes;
//! - [`endpoint`]: listens, checks connections, and gathers the guests of a run;
//! - [`live`]: the source of traffic ([`trgen::TrGen`]) that keeps guests and network in step;
//! - [`guest`]: the other side: a blocking library for guests, and guests built on it;
//! - [`machine`]: the network interface of a virtual machine as a stepped guest, exact to the nanosecond;
//! - [`image`]: what the image of virtual machines is made of;
//! - [`relay`]: a guest that carries Ethernet frames of virtual machines;
//! - [`content`]: a hash of long payloads;
//! - [`clock`]: cycles and picoseconds; [`address`]: addresses of endpoints; [`token`]: authentication;
//! - [`owner_socket`]: sockets to which only their owner can connect; [`backlog`]: queues of connections.

pub mod address;
pub mod backlog;
pub mod codec;
pub mod content;
pub mod endpoint;
pub mod guest;
pub mod image;
pub mod live;
pub mod machine;
pub mod owner_socket;
pub mod protocol;
pub mod relay;
mod stream;
pub mod token;

pub use trgen::clock;
