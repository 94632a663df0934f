//! Sockets that listen.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use crate::address::Address;
use crate::stream::Stream;

/// A socket that listens; that of a path is removed at the end.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix { listener: UnixListener, path: PathBuf, owner: u32 },
}

/// Who has connected.
#[derive(Debug)]
pub(super) enum Peer {
    Tcp(TcpStream, String),
    Unix(UnixStream),
}

impl Peer {
    /// As people read it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Tcp(_, name) => name,
            Self::Unix(_) => "the Unix socket",
        }
    }

    pub(super) fn into_stream(self) -> io::Result<Stream> {
        Ok(match self {
            Self::Tcp(stream, _) => Stream::Tcp(stream.into_std()?),
            Self::Unix(stream) => Stream::Unix(stream.into_std()?),
        })
    }
}

impl Listener {
    pub(super) async fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => TcpListener::bind(address).await.map(Self::Tcp),
            Address::Unix(path) => {
                let listener = bind_private(path, |inside| UnixListener::bind(inside))?;
                let owner = fs::metadata(path)?.uid();
                Ok(Self::Unix { listener, path: path.clone(), owner })
            }
        }
    }

    pub(super) fn address(&self) -> io::Result<Address> {
        Ok(match self {
            Self::Tcp(listener) => Address::Tcp(listener.local_addr()?),
            Self::Unix { path, .. } => Address::Unix(path.clone()),
        })
    }

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

/// Binds a socket that nobody else can connect to at any moment: in a private folder beside its place, from where it is
/// moved once its mode is 0600. A socket that an earlier run has left behind is replaced.
pub(crate) fn bind_private<L>(path: &Path, bind: impl FnOnce(&Path) -> io::Result<L>) -> io::Result<L> {
    if let Ok(found) = fs::symlink_metadata(path) {
        let in_use = !found.file_type().is_socket() || std::os::unix::net::UnixStream::connect(path).is_ok();
        if in_use {
            return Err(io::Error::new(ErrorKind::AddrInUse, "something of this name exists, and is in use"));
        }
    }
    let name = path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "the path has no file name"))?;
    let private = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&private)?;
    let inside = private.join("s");
    let bound = bind(&inside).and_then(|listener| {
        fs::set_permissions(&inside, fs::Permissions::from_mode(0o600))?;
        fs::rename(&inside, path)?;
        Ok(listener)
    });
    if bound.is_err() {
        let _ = fs::remove_file(&inside);
    }
    let _ = fs::remove_dir(&private);
    bound
}
