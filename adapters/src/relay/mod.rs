//! A guest that carries Ethernet frames of virtual machines: each network interface of a machine is a node.
//!
//! Machines connect with QEMU's `stream` framing (`-netdev stream`, or `-netdev socket,connect=`). The relay is one stepped
//! guest with an endpoint for each of them, in a run in real-time mode: its clock is that of the wall, slowed down by the
//! run's factor. A frame is a message of its size, without preamble and check sequence, that carries itself. It goes to the
//! node at which its receiver's address was last seen; to an address that is not known, and to groups, it is sent to every
//! peer. All nodes of a relay share what they have learnt.
//!
//! # How it departs from reality, and who could notice
//! - The machines' clocks run freely: with a factor of 10 they see everything ten times slower than virtual time says. There
//!   is no control of their steps, and nothing is deterministic.
//! - What arrives within a step is handed over at its end: round trips are up to two steps too long. Take short steps.
//! - A sender floods by sending a message to each peer, one after another, as there is no multicast in the network.

mod ethernet;
mod nic;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::address::Address;
use crate::clock::{FOREVER, Time};
use crate::guest::{Config, Event, Guest, GuestError};
use crate::live::pace::{on_the_wall, virtual_time};
use crate::protocol::Inject;

use ethernet::Table;
use nic::{Nic, Said, Socket};

/// Frames of all machines that wait for the relay.
const WAITING: usize = 4096;
/// Frames of one machine that have not left its node; what comes on top is lost, as in a network interface.
const OUTSTANDING: u64 = 1024;
/// How long the relay waits at most before it looks whether to go on.
const LOOK: Duration = Duration::from_millis(100);

/// Why a relay cannot work.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The run is not in real-time mode.
    #[error("the endpoint does not run in real-time mode, and machines have clocks of their own")]
    NotRealtime,
    /// Everybody could connect.
    #[error("{address} can be reached from other machines, and nothing is asked of who connects there")]
    Open {
        /// Where it was to listen.
        address: Address,
    },
    /// A socket for a machine fails.
    #[error("cannot wait for a machine at {address}: {error}")]
    Socket {
        /// Where.
        address: Address,
        /// Why.
        error: io::Error,
    },
    /// The system refuses what is needed.
    #[error("the system fails: {0}")]
    System(#[from] io::Error),
    /// As a guest.
    #[error(transparent)]
    Guest(#[from] GuestError),
}

impl RelayError {
    /// What the user can do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::NotRealtime => "start it with --mode realtime, and --factor if it must be slower than real time",
            Self::Open { .. } => "use 127.0.0.1 or unix:PATH; machines run where the relay does",
            Self::Socket { .. } => "use an address of this machine that nobody listens on",
            Self::System(_) => "raise the limit of open files (ulimit -n), or use fewer machines",
            Self::Guest(error) => error.remedy(),
        }
    }
}

/// What became of the frames of one machine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traffic {
    /// Frames that the machine sent.
    pub from_machine: u64,
    /// Frames that it was given.
    pub to_machine: u64,
    /// Frames of it that were sent to every peer.
    pub flooded: u64,
    /// Frames of it to an address at its own node: they go nowhere.
    pub filtered: u64,
    /// Frames of it that were lost: shorter than a header, or more than its interface holds.
    pub lost_sending: u64,
    /// Frames to it that were lost: it does not read, or has gone.
    pub lost_receiving: u64,
}

/// What a relay did.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RelayReport {
    /// Of each node, in the order of the configuration.
    pub traffic: Vec<(u32, Traffic)>,
    /// \[ps\] Virtual time at the end.
    pub time: Time,
    /// Turns.
    pub turns: u64,
}

/// A relay that waits for its machines.
#[derive(Debug)]
pub struct Relay {
    sockets: Vec<Socket>,
}

impl Relay {
    /// Begins to listen for machines, one at each address.
    ///
    /// # Errors
    /// An address that cannot be listened on, or that other hosts could reach.
    pub fn bind(addresses: &[Address]) -> Result<Self, RelayError> {
        Ok(Self { sockets: addresses.iter().map(Socket::bind).collect::<Result<_, _>>()? })
    }

    /// Where machines connect, with the ports that the system chose.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn addresses(&self) -> io::Result<Vec<Address>> {
        self.sockets.iter().map(Socket::address).collect()
    }

    /// Waits for all machines, connects to the endpoint with a node for each (`config.nodes`, in the order of the
    /// addresses), and relays until all machines have gone or `stop` becomes true. Frames to everybody go to `peers`, or to
    /// all nodes if there are none; `tell` hears of machines that go.
    ///
    /// # Errors
    /// The endpoint refuses the relay or is lost.
    pub fn run(
        self,
        endpoint: &Address,
        config: &Config,
        peers: &[u32],
        stop: &AtomicBool,
        tell: &mut dyn FnMut(String),
    ) -> Result<RelayReport, RelayError> {
        let (speak, inbox) = sync_channel(WAITING);
        let Some(nics) = self.plug(&speak, stop)? else { return Ok(RelayReport::default()) };
        drop(speak);
        let guest = Guest::connect(endpoint, &config.clone().stepped(config.step))?;
        let pace = guest.welcome().pace;
        if pace == 0 {
            guest.finish("the run is not in real-time mode")?;
            return Err(RelayError::NotRealtime);
        }
        let peers = if peers.is_empty() { (0..guest.welcome().node_count).collect() } else { peers.to_vec() };
        let ports = nics.into_iter().zip(&config.nodes).map(|(nic, &node)| Port::new(nic, node)).collect();
        let mut bridge = Bridge { guest, ports, peers, table: Table::default() };
        // The first turn comes when all guests of the run are there.
        bridge.guest.until()?;
        let epoch = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            let until = bridge.guest.until()?;
            bridge.hand_over()?;
            let due = until.min(bridge.guest.next_event().unwrap_or(FOREVER));
            let wait = (epoch + on_the_wall(due, pace)).saturating_duration_since(Instant::now());
            match inbox.recv_timeout(wait.min(LOOK)) {
                Ok(Said::Frame(port, at, frame)) => {
                    let at = virtual_time(at.saturating_duration_since(epoch), pace);
                    // Within the grant, even if the wall is past it.
                    let at = at.min(until.saturating_sub(1)).max(bridge.guest.now());
                    bridge.guest.advance(at - bridge.guest.now())?;
                    bridge.relay(port, frame)?;
                }
                Ok(Said::Gone(port, how)) => {
                    let port = &mut bridge.ports[port];
                    port.nic = None;
                    tell(format!("the machine of node {} has gone: {how}", port.node));
                    if bridge.ports.iter().all(|port| port.nic.is_none()) {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) if wait > LOOK => {}
                Err(RecvTimeoutError::Timeout) => bridge.guest.advance(due.saturating_sub(bridge.guest.now()))?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        bridge.finish()
    }

    /// Waits for a machine at each socket; `None` if interrupted.
    fn plug(&self, said: &SyncSender<Said>, stop: &AtomicBool) -> Result<Option<Vec<Nic>>, RelayError> {
        let mut nics = Vec::new();
        for (number, socket) in self.sockets.iter().enumerate() {
            match socket.accept(&mut || !stop.load(Ordering::Relaxed))? {
                Some(cable) => nics.push(Nic::start(number, cable, said.clone())?),
                None => return Ok(None),
            }
        }
        Ok(Some(nics))
    }
}

/// A node and its machine.
struct Port {
    /// `None` once the machine has gone.
    nic: Option<Nic>,
    node: u32,
    outstanding: u64,
    traffic: Traffic,
}

impl Port {
    fn new(nic: Nic, node: u32) -> Self {
        Self { nic: Some(nic), node, outstanding: 0, traffic: Traffic::default() }
    }
}

struct Bridge {
    guest: Guest,
    ports: Vec<Port>,
    peers: Vec<u32>,
    table: Table,
}

impl Bridge {
    /// Gives machines what has arrived by now.
    fn hand_over(&mut self) -> Result<(), RelayError> {
        while let Some(event) = self.guest.poll()? {
            match event {
                Event::Message(arrival) => {
                    let Some(port) = self.ports.get_mut(usize::from(arrival.endpoint)) else { continue };
                    if let Some((_, from)) = ethernet::addresses(&arrival.payload) {
                        self.table.learn(from, arrival.source);
                    }
                    if port.nic.as_ref().is_some_and(|nic| nic.give(arrival.payload)) {
                        port.traffic.to_machine += 1;
                    } else {
                        port.traffic.lost_receiving += 1;
                    }
                }
                Event::Sent { cookie, .. } => {
                    if let Some(port) = self.ports.get_mut(cookie as usize) {
                        port.outstanding = port.outstanding.saturating_sub(1);
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends a frame of a machine where it belongs.
    fn relay(&mut self, number: usize, frame: Bytes) -> Result<(), RelayError> {
        let port = &mut self.ports[number];
        port.traffic.from_machine += 1;
        let Some((to, from)) = ethernet::addresses(&frame) else {
            port.traffic.lost_sending += 1;
            return Ok(());
        };
        self.table.learn(from, port.node);
        let node = port.node;
        let one;
        let receivers: &[u32] = match self.table.find(to).filter(|_| !to.is_group()) {
            Some(at) if at == node => {
                port.traffic.filtered += 1;
                return Ok(());
            }
            Some(at) => {
                one = [at];
                &one
            }
            None => {
                port.traffic.flooded += 1;
                &self.peers
            }
        };
        for &destination in receivers.iter().filter(|&&peer| peer != node) {
            if port.outstanding >= OUTSTANDING {
                port.traffic.lost_sending += 1;
                continue;
            }
            port.outstanding += 1;
            let (size, cookie) = (frame.len() as u64, number as u64);
            let inject = Inject { destination, notify: true, size, cookie, payload: frame.clone() };
            self.guest.inject(number as u16, inject)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<RelayReport, RelayError> {
        let report = RelayReport {
            traffic: self.ports.iter().map(|port| (port.node, port.traffic)).collect(),
            time: self.guest.now(),
            turns: self.guest.turns(),
        };
        self.guest.finish("the machines have gone")?;
        Ok(report)
    }
}
