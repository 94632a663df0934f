//! The sockets of virtual machines: one per node, with a reader and a writer thread.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};

use super::RelayError;
use super::ethernet::{Oversize, take_frame};
use crate::address::Address;
use crate::owner_socket::bind_private;

/// Largest number of frames queued for one machine. Further ones are lost, as in a switch.
const QUEUE: usize = 1024;
/// Polling interval while waiting for a machine.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Input from a machine's socket. The first field is the number of the interface.
#[derive(Debug)]
pub(super) enum Input {
    /// A frame, and its time of arrival.
    Frame(usize, Instant, Bytes),
    /// The end of the connection, with its reason.
    Gone(usize, String),
}

/// A socket that waits for a machine; a Unix socket is removed from the file system at the end.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Socket {
    /// Begins to listen at an address of this host.
    pub(super) fn bind(address: &Address) -> Result<Self, RelayError> {
        // Machines are not authenticated: other hosts must not reach the socket.
        if !address.is_local() {
            return Err(RelayError::Open { address: address.clone() });
        }
        let failed = |error| RelayError::Socket { address: address.clone(), error };
        let socket = match address {
            Address::Tcp(to) => Self::Tcp(TcpListener::bind(to).map_err(failed)?),
            Address::Unix(path) => {
                let listener = bind_private(path).map_err(failed)?;
                Self::Unix(listener, path.clone())
            }
        };
        match &socket {
            Self::Tcp(listener) => listener.set_nonblocking(true).map_err(failed)?,
            Self::Unix(listener, _) => listener.set_nonblocking(true).map_err(failed)?,
        }
        Ok(socket)
    }

    /// The address at which the socket listens.
    pub(super) fn address(&self) -> io::Result<Address> {
        Ok(match self {
            Self::Tcp(listener) => Address::Tcp(listener.local_addr()?),
            Self::Unix(_, path) => Address::Unix(path.clone()),
        })
    }

    /// Waits for a machine; `None` if `go_on` returns false.
    pub(super) fn accept(&self, go_on: &mut dyn FnMut() -> bool) -> io::Result<Option<Cable>> {
        loop {
            let accepted = match self {
                Self::Tcp(listener) => listener.accept().map(|(stream, _)| Cable::Tcp(stream)),
                Self::Unix(listener, _) => listener.accept().map(|(stream, _)| Cable::Unix(stream)),
            };
            match accepted {
                Ok(cable) => return cable.prepare().map(|()| Some(cable)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !go_on() {
                        return Ok(None);
                    }
                    thread::sleep(CHECK_INTERVAL);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A connection to a machine.
#[derive(Debug)]
pub(super) enum Cable {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Cable {
    /// Sets the options of a new connection.
    fn prepare(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)
            }
            Self::Unix(stream) => stream.set_nonblocking(false),
        }
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
        })
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(into),
            Self::Unix(stream) => stream.read(into),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.write_all(bytes),
            Self::Unix(stream) => stream.write_all(bytes),
        }
    }

    fn shutdown(&self) {
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

/// A machine's network interface, from the relay's side; dropping it cuts the cable.
#[derive(Debug)]
pub(super) struct Nic {
    cable: Cable,
    /// The queue of the writer thread.
    frames: SyncSender<Bytes>,
}

impl Nic {
    /// Starts a reader and a writer thread. Input goes to `inputs`, with the number of the interface.
    pub(super) fn start(number: usize, cable: Cable, inputs: SyncSender<Input>) -> io::Result<Self> {
        let (frames, waiting) = sync_channel::<Bytes>(QUEUE);
        let mut writing = cable.try_clone()?;
        thread::spawn(move || {
            for frame in waiting {
                let mut bytes = BytesMut::with_capacity(4 + frame.len());
                bytes.extend_from_slice(&(frame.len() as u32).to_be_bytes());
                bytes.extend_from_slice(&frame);
                // The reader detects that the cable is cut.
                if writing.write_all(&bytes).is_err() {
                    return;
                }
            }
        });
        let reading = cable.try_clone()?;
        thread::spawn(move || {
            let how = read(number, reading, &inputs);
            let _ = inputs.send(Input::Gone(number, how));
        });
        Ok(Self { cable, frames })
    }

    /// Queues a frame for the machine; false if it is lost because the machine does not read.
    pub(super) fn queue(&self, frame: Bytes) -> bool {
        !matches!(self.frames.try_send(frame), Err(TrySendError::Full(_) | TrySendError::Disconnected(_)))
    }
}

impl Drop for Nic {
    fn drop(&mut self) {
        self.cable.shutdown();
    }
}

/// Reads frames until the end, and returns its reason. A busy relay does not read, which slows the machine down.
fn read(number: usize, mut cable: Cable, inputs: &SyncSender<Input>) -> String {
    let (mut stream, mut chunk) = (BytesMut::new(), vec![0; 64 << 10]);
    loop {
        loop {
            match take_frame(&mut stream) {
                Ok(Some(frame)) => {
                    if inputs.send(Input::Frame(number, Instant::now(), frame)).is_err() {
                        return String::new();
                    }
                }
                Ok(None) => break,
                Err(Oversize(length)) => {
                    return format!("it announces a frame of {length} bytes, which QEMU's stream framing does not do");
                }
            }
        }
        match cable.read(&mut chunk) {
            Ok(0) => return "it has closed the connection".to_owned(),
            Ok(count) => stream.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.to_string(),
        }
    }
}
