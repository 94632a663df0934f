//! `--monitor`: access to a run for viewers in other processes.
//!
//! Every viewer has a separate thread, which requests snapshots and writes them. The simulation never waits for a
//! viewer: a slow one misses snapshots, and is disconnected when its connection has been full for [`PATIENCE`]. Data
//! sent by viewers is discarded. Beyond [`MOST`] viewers the oldest gives way to a new one, so that connections that
//! never read cannot keep a viewer out.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use adapters::address::Address;
use adapters::backlog::bind_tcp;
use adapters::owner_socket::bind_private;
use tui::feed::Feed;
use tui::stream::{write_about, write_snapshot};
use tui::view::{About, RunState};

/// Maximum number of concurrent viewers.
const MOST: usize = 64;
/// Maximum number of their threads, with those that are about to end.
const THREADS: usize = 1024;
/// Minimum interval between two snapshots for a viewer.
const PERIOD: Duration = Duration::from_millis(100);
/// Longest time for which a connection may be full.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest time for which the end of a run waits for its viewers.
const FAREWELL: Duration = Duration::from_secs(1);
/// \[bytes\] Size of one read of a viewer's data, which are discarded.
const CHUNK: usize = 1 << 16;

/// A socket that listens for viewers.
enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

/// The connection of a viewer.
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Listener {
    /// Begins to listen; also returns the address with the port that the system chose.
    fn bind(address: &Address) -> io::Result<(Self, Address)> {
        match address {
            Address::Tcp(address) => {
                let listener = bind_tcp(address)?;
                listener.set_nonblocking(true)?;
                let address = Address::Tcp(listener.local_addr()?);
                Ok((Self::Tcp(listener), address))
            }
            Address::Unix(path) => {
                let listener = bind_private(path)?;
                listener.set_nonblocking(true)?;
                Ok((Self::Unix(listener, path.clone()), address.clone()))
            }
        }
    }

    /// Accepts a viewer; does not block.
    fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp(listener) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
            Self::Unix(listener, _) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = fs::remove_file(path);
        }
    }
}

impl Stream {
    /// Sets the options of a new connection.
    fn prepare(&self) -> io::Result<()> {
        // Reading only tests whether the viewer is still connected.
        let read_timeout = Some(Duration::from_millis(1));
        match self {
            Self::Tcp(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(read_timeout)?;
                stream.set_write_timeout(Some(PATIENCE))
            }
            Self::Unix(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(read_timeout)?;
                stream.set_write_timeout(Some(PATIENCE))
            }
        }
    }

    /// The same connection for another thread, which may end it.
    fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Tcp(stream) => stream.try_clone().map(Self::Tcp),
            Self::Unix(stream) => stream.try_clone().map(Self::Unix),
        }
    }

    /// Ends the connection, also for a thread that waits in a write.
    fn end(&self) {
        // An error means that it has ended already.
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    /// False once the viewer has gone. Its data is discarded.
    fn is_there(&mut self, scratch: &mut [u8]) -> bool {
        let read = match self {
            Self::Tcp(stream) => stream.read(scratch),
            Self::Unix(stream) => stream.read(scratch),
        };
        match read {
            Ok(bytes) => bytes > 0,
            Err(error) => {
                matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
            }
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A server for viewers of a run.
pub(crate) struct Monitor {
    /// Ends the server when it becomes true.
    over: Arc<AtomicBool>,
    /// Number of connected viewers.
    viewers: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
    /// Address for viewers.
    pub(crate) address: Address,
}

impl Monitor {
    /// Listens at `address`.
    pub(crate) fn new(address: &Address, about: Arc<About>, feed: Arc<Feed>) -> io::Result<Self> {
        let (listener, address) = Listener::bind(address)?;
        let (over, viewers) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let thread = {
            let (over, viewers) = (Arc::clone(&over), Arc::clone(&viewers));
            let listen = move || listen(&listener, &about, &feed, &over, &viewers);
            thread::Builder::new().name("monitor".to_owned()).spawn(listen)?
        };
        Ok(Self { over, viewers, thread: Some(thread), address })
    }

    /// Ends the server; the feed must have been closed. Viewers that read get the last snapshot.
    pub(crate) fn close(mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The thread ends by itself; if it has panicked, viewers have lost their connection, but the run is
            // unaffected.
            let _ = thread.join();
        }
        let since = Instant::now();
        while self.viewers.load(Ordering::Relaxed) > 0 && since.elapsed() < FAREWELL {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Accepts viewers until the run is `over`.
fn listen(listener: &Listener, about: &Arc<About>, feed: &Arc<Feed>, over: &AtomicBool, viewers: &Arc<AtomicUsize>) {
    // The viewers in the order in which they came. The flag of each becomes true when its thread ends.
    let mut all: VecDeque<(Stream, Arc<AtomicBool>)> = VecDeque::new();
    while !over.load(Ordering::Relaxed) {
        let Ok(stream) = listener.accept() else {
            thread::sleep(Duration::from_millis(20));
            all.retain(|(_, has_ended)| !has_ended.load(Ordering::Relaxed));
            continue;
        };
        let (Ok(()), Ok(other)) = (stream.prepare(), stream.try_clone()) else { continue };
        all.retain(|(_, has_ended)| !has_ended.load(Ordering::Relaxed));
        if all.len() >= MOST
            && let Some((oldest, _)) = all.pop_front()
        {
            oldest.end();
        }
        // A thread whose connection has been ended needs a moment.
        while viewers.load(Ordering::Relaxed) >= THREADS && !over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        let has_ended = Arc::new(AtomicBool::new(false));
        all.push_back((other, Arc::clone(&has_ended)));
        let (about, feed, counted) = (Arc::clone(about), Arc::clone(feed), Counted::new(viewers, has_ended));
        let serve = move || {
            // A viewer that has gone or does not read is not an error.
            let _ = serve(stream, &about, &feed);
            drop(counted);
        };
        if thread::Builder::new().name("viewer".to_owned()).spawn(serve).is_err() {
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// A connected viewer, counted until it is dropped, when the flag becomes true.
struct Counted(Arc<AtomicUsize>, Arc<AtomicBool>);

impl Counted {
    fn new(viewers: &Arc<AtomicUsize>, has_ended: Arc<AtomicBool>) -> Self {
        viewers.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(viewers), has_ended)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
        self.1.store(true, Ordering::Relaxed);
    }
}

/// Writes snapshots to a viewer, until it leaves or the run is over.
fn serve(mut stream: Stream, about: &About, feed: &Feed) -> io::Result<()> {
    let mut scratch = vec![0; CHUNK];
    write_about(&mut stream, about)?;
    let mut seen = 0;
    loop {
        let asked = Instant::now();
        if !feed.is_closed() {
            feed.ask();
        }
        if let Some((number, snapshot)) = feed.newer(seen, PERIOD * 5) {
            seen = number;
            write_snapshot(&mut stream, &snapshot)?;
            if snapshot.state == RunState::Ended && feed.is_closed() {
                return Ok(());
            }
        } else if feed.is_closed() {
            return Ok(());
        }
        if !stream.is_there(&mut scratch) {
            return Ok(());
        }
        if !feed.is_closed() {
            thread::sleep(PERIOD.saturating_sub(asked.elapsed()));
        }
    }
}
