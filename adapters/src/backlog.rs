//! Listening sockets with a long queue of connections.
//!
//! The queue of the standard library has 128 places. When it is full the system drops further attempts, and a client
//! tries again after a second, then after three, seven and so on: a burst of connections would delay a later one.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;

use rustix::net::listen;

/// Places of the queue, which the system may limit further (`net.core.somaxconn`).
const PLACES: i32 = 4096;

/// Listens on a TCP address.
///
/// # Errors
/// The system refuses the address.
pub fn bind_tcp(address: &SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).and_then(lengthen)
}

/// Lengthens the queue of a socket that listens.
pub(crate) fn lengthen<S: AsFd>(socket: S) -> io::Result<S> {
    listen(&socket, PLACES)?;
    Ok(socket)
}
