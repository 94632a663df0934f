//! Listening sockets.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use crate::address::Address;
use crate::backlog::bind_tcp;
use crate::owner_socket::bind_private;
use crate::stream::Stream;

/// A listening socket. A Unix socket is removed from the file system when it is dropped.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    /// `owner` is the number of the user to whom the socket belongs.
    Unix {
        listener: UnixListener,
        path: PathBuf,
        owner: u32,
    },
}

/// An accepted peer.
#[derive(Debug)]
pub(super) enum Peer {
    /// The connection and the address of the peer.
    Tcp(TcpStream, String),
    Unix(UnixStream),
}

impl Peer {
    /// Its address, for messages.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Tcp(_, name) => name,
            Self::Unix(_) => "the Unix socket",
        }
    }

    /// Converts the connection into one whose calls block.
    pub(super) fn into_stream(self) -> io::Result<Stream> {
        Ok(match self {
            Self::Tcp(stream, _) => Stream::Tcp(stream.into_std()?),
            Self::Unix(stream) => Stream::Unix(stream.into_std()?),
        })
    }
}

impl Listener {
    /// Binds a socket, within a runtime.
    pub(super) fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => {
                let listener = bind_tcp(address)?;
                listener.set_nonblocking(true)?;
                TcpListener::from_std(listener).map(Self::Tcp)
            }
            Address::Unix(path) => {
                let listener = bind_private(path)?;
                listener.set_nonblocking(true)?;
                let listener = UnixListener::from_std(listener)?;
                let owner = fs::metadata(path)?.uid();
                Ok(Self::Unix { listener, path: path.clone(), owner })
            }
        }
    }

    /// The address at which it listens; the port of a TCP socket is known even if it was chosen by the system.
    pub(super) fn address(&self) -> io::Result<Address> {
        Ok(match self {
            Self::Tcp(listener) => Address::Tcp(listener.local_addr()?),
            Self::Unix { path, .. } => Address::Unix(path.clone()),
        })
    }

    /// Accepts the next peer. A Unix socket accepts only peers of its owner and of root.
    pub(super) async fn accept(&self) -> io::Result<Peer> {
        match self {
            Self::Tcp(listener) => {
                let (stream, from) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Peer::Tcp(stream, from.to_string()))
            }
            Self::Unix { listener, owner, .. } => loop {
                let (stream, _) = listener.accept().await?;
                // Root may connect to everything anyway.
                if stream.peer_cred().is_ok_and(|peer| peer.uid() == *owner || peer.uid() == 0) {
                    return Ok(Peer::Unix(stream));
                }
            },
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix { path, .. } = self {
            let _ = fs::remove_file(path);
        }
    }
}
