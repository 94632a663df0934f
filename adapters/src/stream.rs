//! A blocking connection that carries frames, used by both sides of a run after the handshake.

use std::io::{self, ErrorKind, IoSlice};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Once;
use std::thread;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use rustix::buffer::Buffer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

use crate::address::Address;
use crate::clock::Time;
use crate::codec::{Codec, CodecError};
use crate::owner_socket;
use crate::protocol::{Body, Frame};

mod incoming;
mod outgoing;

use incoming::Incoming;
use outgoing::Outgoing;

/// How long a read or write blocks before checking whether to go on.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long a side spins for an answer before it sleeps.
const SPIN: Duration = Duration::from_micros(50);
/// A side that spins in vain does not spin during up to 2^MAX_DOUBLINGS waits.
const MAX_DOUBLINGS: u32 = 8;
/// \[bytes\] Size of one read on a connection with little traffic; a full read raises it to [`FULL`].
const CHUNK: usize = 4 << 10;
/// \[bytes\] Threshold for writing before the end of the turn, and size of one read where traffic is heavy.
const FULL: usize = 64 << 10;

/// A transport.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Connects to an address, within 5 s.
    pub(crate) fn connect(address: &Address) -> io::Result<Self> {
        Ok(match address {
            Address::Tcp(address) => Self::Tcp(TcpStream::connect_timeout(address, Duration::from_secs(5))?),
            Address::Unix(path) => Self::Unix(owner_socket::connect(path)?),
        })
    }

    /// Sets the options of a new connection: calls block for at most [`PATIENCE`].
    fn prepare(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))
            }
            Self::Unix(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))
            }
        }
    }

    /// Ends reading. A peer that goes on writing to a Unix socket gets an error and does not wait.
    fn stop_reading(&self) {
        // An error means that the connection has ended already.
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Read),
            Self::Unix(stream) => stream.shutdown(Shutdown::Read),
        };
    }

    /// The file descriptor, for `poll`.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }

    /// Reads available bytes, and returns their number. If there are none, it blocks for at most [`PATIENCE`], or not at all if the flags say
    /// so; the error is then [`ErrorKind::WouldBlock`].
    fn receive(&self, into: impl Buffer<u8>, flags: RecvFlags) -> io::Result<usize> {
        let (_, count) = recv(self.descriptor(), into, flags)?;
        Ok(count)
    }

    // A guest may be a library in a program of another language, which a signal (`SIGPIPE`) would end without a word of why
    // the other side has gone.
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        Ok(send(self.descriptor(), from, SendFlags::NOSIGNAL)?)
    }

    fn write_vectored(&mut self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut nothing_else = SendAncillaryBuffer::default();
        Ok(sendmsg(self.descriptor(), from, &mut nothing_else, SendFlags::NOSIGNAL)?)
    }
}

/// The waiting strategy of a side: it spins for a moment before it sleeps, since waking up takes longer than most
/// answers.
///
/// If answers take longer than that moment, the side spins more and more rarely and otherwise sleeps at once, so that a
/// run with many guests, or with slow ones, spends no processor time on spinning.
#[derive(Debug, Default)]
struct Watchfulness {
    /// Number of consecutive waits in which spinning was in vain.
    vain: u32,
    /// Number of waits without spinning before it spins again.
    without_spin: u32,
}

impl Watchfulness {
    /// Reads available bytes; blocks for at most [`PATIENCE`].
    fn read(&mut self, stream: &Stream, into: &mut Incoming) -> io::Result<usize> {
        if self.without_spin > 0 {
            self.without_spin -= 1;
            return into.read(stream, RecvFlags::empty());
        }
        let begin = Instant::now();
        loop {
            match into.read(stream, RecvFlags::DONTWAIT) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => {
                    self.vain = 0;
                    return read;
                }
            }
            if begin.elapsed() >= SPIN {
                break;
            }
            // The peer may need this core in order to answer.
            thread::yield_now();
        }
        self.vain = (self.vain + 1).min(MAX_DOUBLINGS);
        self.without_spin = (1 << self.vain) - 1;
        into.read(stream, RecvFlags::empty())
    }
}

/// Why a connection has ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("it has closed the connection")]
    Closed,
    #[error("its connection failed: {0}")]
    Io(io::Error),
    #[error("it does not speak TGP/1: {0}")]
    Codec(CodecError),
    #[error("it has been silent for {} s", .0.as_secs_f64())]
    Stalled(Duration),
    #[error("it has not read what was sent to it for {} s", .0.as_secs_f64())]
    SlowReader(Duration),
    #[error("it has taken more than {} s to read what was sent to it at once", .0.as_secs_f64())]
    Trickle(Duration),
    #[error("it has held its turn for {} s without progress: no message, no later time", .0.as_secs_f64())]
    Held(Duration),
    #[error("the run was interrupted")]
    Interrupted,
}

/// Called from time to time while a connection is silent, with the duration of the silence; false interrupts.
pub(crate) type OnIdle<'a> = &'a mut dyn FnMut(Duration) -> bool;

/// Poll events of a connection that the other side has closed. Only Linux reports the end of a stream as an event;
/// elsewhere a TCP connection counts as closed only when it is reset.
#[cfg(target_os = "linux")]
const CLOSED: PollFlags = PollFlags::RDHUP.union(PollFlags::HUP).union(PollFlags::ERR);
#[cfg(not(target_os = "linux"))]
const CLOSED: PollFlags = PollFlags::HUP.union(PollFlags::ERR);

/// Tells for each of these connections whether the other side has closed it. Does not block and reads nothing.
pub(crate) fn closed<'a>(links: impl Iterator<Item = &'a Link>) -> Vec<bool> {
    let mut all: Vec<PollFd<'_>> =
        links.map(|link| PollFd::from_borrowed_fd(link.stream.descriptor(), CLOSED)).collect();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    // If polling fails, the next call tries again.
    let is_known = poll(&mut all, Some(&now)).is_ok();
    all.iter().map(|one| is_known && one.revents().intersects(CLOSED)).collect()
}

/// Waits until one of these connections has input or is closed, at most for `limit`. Returns true if one has or is.
pub(crate) fn await_any<'a>(links: impl Iterator<Item = &'a Link>, limit: Duration) -> bool {
    let flags = CLOSED.union(PollFlags::IN);
    let mut all: Vec<PollFd<'_>> =
        links.map(|link| PollFd::from_borrowed_fd(link.stream.descriptor(), flags)).collect();
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    // If polling fails, the caller tries again.
    poll(&mut all, Some(&limit)).is_ok_and(|ready| ready > 0)
}

/// Lets the C library keep memory that long messages have left, for the next ones. It returns what is free at the end of its heap to the
/// system, above a limit that grows with the longest allocation that was freed; without this 128 KiB.
fn keep_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(4 << 20))));
}

/// A transport with its codec and buffers.
#[derive(Debug)]
pub(crate) struct Link {
    stream: Stream,
    codec: Codec,
    incoming: Incoming,
    outgoing: Outgoing,
    watchfulness: Watchfulness,
}

impl Link {
    /// Takes over a transport in the state left by a handshake.
    pub(crate) fn new(stream: Stream, codec: Codec, incoming: BytesMut) -> io::Result<Self> {
        stream.prepare()?;
        keep_memory();
        Ok(Self {
            stream,
            codec,
            incoming: Incoming::new(incoming),
            outgoing: Outgoing::default(),
            watchfulness: Watchfulness::default(),
        })
    }

    /// A second descriptor of the connection.
    pub(crate) fn duplicate(&self) -> io::Result<OwnedFd> {
        self.stream.descriptor().try_clone_to_owned()
    }

    /// Ends reading: the peer cannot send any more.
    pub(crate) fn stop_reading(&self) {
        self.stream.stop_reading();
    }

    /// Sets the longest payload that is accepted \[bytes\].
    pub(crate) fn set_max_payload(&mut self, max_payload: u32) {
        self.codec.set_max_payload(max_payload);
    }

    /// Puts a frame into the send buffer.
    pub(crate) fn put(&mut self, endpoint: u16, time: Time, body: &Body) {
        self.outgoing.put(&mut self.codec, endpoint, time, body);
    }

    /// True if the send buffer is full enough to be sent.
    pub(crate) fn is_full(&self) -> bool {
        self.outgoing.len() >= FULL
    }

    /// Sends the buffer. Fails if the other side accepts nothing for `limit`, or not all of it within `whole`.
    pub(crate) fn flush(&mut self, limit: Duration, whole: Duration, on_idle: OnIdle<'_>) -> Result<(), Broken> {
        let (mut since, mut begin) = (None, None::<Instant>);
        while self.outgoing.len() > 0 {
            // The clock is not read if a single write sends everything.
            if begin.is_some_and(|begin| begin.elapsed() >= whole) {
                return Err(Broken::Trickle(whole));
            }
            match self.outgoing.write(&mut self.stream) {
                Ok(0) => return Err(Broken::Closed),
                Ok(_) => {
                    since = None;
                    if self.outgoing.len() > 0 {
                        begin.get_or_insert_with(Instant::now);
                    }
                }
                Err(error) => {
                    let silence = silence(error, &mut since)?;
                    if !on_idle(silence) {
                        return Err(Broken::Interrupted);
                    }
                    if silence >= limit {
                        return Err(Broken::SlowReader(limit));
                    }
                }
            }
        }
        Ok(())
    }

    /// Waits for the next frame. Fails if none is complete within `limit`, even if some bytes come.
    pub(crate) fn next(&mut self, limit: Duration, on_idle: OnIdle<'_>) -> Result<Frame, Broken> {
        match self.incoming.decode(&mut self.codec).map_err(Broken::Codec)? {
            Some(frame) => Ok(frame),
            None => self.wait(limit, on_idle),
        }
    }

    /// The next frame, if it has arrived.
    pub(crate) fn next_if_there(&mut self) -> Result<Option<Frame>, Broken> {
        if let Some(frame) = self.incoming.decode(&mut self.codec).map_err(Broken::Codec)? {
            return Ok(Some(frame));
        }
        match self.incoming.read(&self.stream, RecvFlags::DONTWAIT) {
            Ok(0) => Err(Broken::Closed),
            Ok(_) => self.incoming.decode(&mut self.codec).map_err(Broken::Codec),
            Err(error) => silence(error, &mut None).map(|_| None),
        }
    }

    /// Waits for the next frame, of which at most a part has arrived.
    fn wait(&mut self, limit: Duration, on_idle: OnIdle<'_>) -> Result<Frame, Broken> {
        let mut since = None;
        loop {
            if let Some(frame) = self.incoming.decode(&mut self.codec).map_err(Broken::Codec)? {
                return Ok(frame);
            }
            // The clock is not read while complete frames are present, because reading it takes time.
            match self.watchfulness.read(&self.stream, &mut self.incoming) {
                Ok(0) => {
                    return Err(match self.incoming.decode_last(&mut self.codec) {
                        Err(error) => Broken::Codec(error),
                        Ok(_) => Broken::Closed,
                    });
                }
                Ok(_) => {
                    if since.get_or_insert_with(Instant::now).elapsed() >= limit {
                        return Err(Broken::Stalled(limit));
                    }
                }
                Err(error) => {
                    let silence = silence(error, &mut since)?;
                    if !on_idle(silence) {
                        return Err(Broken::Interrupted);
                    }
                    if silence >= limit {
                        return Err(Broken::Stalled(limit));
                    }
                }
            }
        }
    }
}

/// Duration of the silence, if the error only means that nothing arrived. `since` is its beginning, once there is one.
fn silence(error: io::Error, since: &mut Option<Instant>) -> Result<Duration, Broken> {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
            // The first call comes at the end of a read or write that took [`PATIENCE`].
            let before = Instant::now().checked_sub(PATIENCE).unwrap_or_else(Instant::now);
            Ok(since.get_or_insert(before).elapsed())
        }
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => Err(Broken::Closed),
        _ => Err(Broken::Io(error)),
    }
}
