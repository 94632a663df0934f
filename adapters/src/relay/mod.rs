//! A guest that carries Ethernet frames of virtual machines: each network interface of a machine is a node.
//!
//! Machines connect with QEMU's `stream` framing (`-netdev stream`, or `-netdev socket,connect=`). The relay is one
//! stepped guest with an endpoint per interface, in a run in real-time mode: its clock is the wall clock, slowed down
//! by the run's factor. A frame becomes a message of its size, without preamble and check sequence, with the frame as
//! its payload. It goes to the node at which its receiver's address was last seen; frames to unknown addresses and to
//! groups are sent to every peer. All nodes of a relay share the learned addresses.
//!
//! # How it departs from reality, and who could notice
//! - The machines' clocks run freely: with a factor of 10 they observe times ten times longer than virtual time. Their
//!   steps are not controlled, and nothing is deterministic.
//! - Frames that arrive within a step are handed over at its end: round trips are up to two steps too long. Use short
//!   steps.
//! - A sender floods by sending a message to each peer, one after another, as the network has no multicast.

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
use nic::{Input, Nic, Socket};

/// Largest number of frames of all machines that wait for the relay.
const WAITING: usize = 4096;
/// Largest number of frames of one machine that have not left its node. Further ones are lost, as in a network
/// interface.
const OUTSTANDING: u64 = 1024;
/// Longest wait of the relay before it checks whether to go on.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Why a relay cannot work.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The run is not in real-time mode.
    #[error("the endpoint does not run in real-time mode, and machines have clocks of their own")]
    NotRealtime,
    /// Any machine could connect.
    #[error("{address} can be reached from other machines, and nothing is asked of who connects there")]
    Open {
        /// The address.
        address: Address,
    },
    /// A socket for a machine fails.
    #[error("cannot wait for a machine at {address}: {error}")]
    Socket {
        /// The address.
        address: Address,
        /// The cause.
        error: io::Error,
    },
    /// The system denies a resource.
    #[error("the system fails: {0}")]
    System(#[from] io::Error),
    /// An error of the relay as a guest.
    #[error(transparent)]
    Guest(#[from] GuestError),
}

impl RelayError {
    /// The remedy for the user.
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

/// Counts of the frames of one machine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traffic {
    /// Frames received from the machine.
    pub from_machine: u64,
    /// Frames sent to the machine.
    pub to_machine: u64,
    /// Its frames that were flooded.
    pub flooded: u64,
    /// Its frames to an address at its own node, which are dropped.
    pub filtered: u64,
    /// Its frames that were lost: shorter than a header, or beyond the capacity of its interface.
    pub lost_sending: u64,
    /// Frames to it that were lost: it does not read, or has gone.
    pub lost_receiving: u64,
}

/// Statistics of a relay.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RelayReport {
    /// The nodes and their counts, in the order of the configuration.
    pub traffic: Vec<(u32, Traffic)>,
    /// \[ps\] Virtual time at the end.
    pub time: Time,
    /// Number of turns.
    pub turns: u64,
}

/// A relay that waits for its machines.
#[derive(Debug)]
pub struct Relay {
    /// One socket for each machine.
    sockets: Vec<Socket>,
}

impl Relay {
    /// Begins to listen for machines, one at each address.
    ///
    /// # Errors
    /// An address on which the system cannot listen, or that other hosts could reach.
    pub fn bind(addresses: &[Address]) -> Result<Self, RelayError> {
        Ok(Self { sockets: addresses.iter().map(Socket::bind).collect::<Result<_, _>>()? })
    }

    /// The addresses to which machines connect, with the ports that the system chose.
    ///
    /// # Errors
    /// The system does not report them.
    pub fn addresses(&self) -> io::Result<Vec<Address>> {
        self.sockets.iter().map(Socket::address).collect()
    }

    /// Waits for all machines, connects to the endpoint with a node for each (`config.nodes`, in the order of the
    /// addresses), and relays until all machines have gone or `stop` becomes true. Flooded frames go to `peers`, or to
    /// all nodes if there are none; `tell` reports machines that go.
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
        let (sender, inbox) = sync_channel(WAITING);
        let Some(nics) = self.accept_machines(&sender, stop)? else { return Ok(RelayReport::default()) };
        drop(sender);
        let guest = Guest::connect(endpoint, &config.clone().stepped(config.step))?;
        let pace = guest.welcome().pace;
        if pace == 0 {
            guest.finish("the run is not in real-time mode")?;
            return Err(RelayError::NotRealtime);
        }
        let peers = if peers.is_empty() { (0..guest.welcome().node_count).collect() } else { peers.to_vec() };
        let ports = nics.into_iter().zip(&config.nodes).map(|(nic, &node)| Port::new(nic, node)).collect();
        let mut bridge = Bridge { guest, ports, peers, table: Table::default() };
        // The first turn begins when all guests of the run are present.
        bridge.guest.until()?;
        let epoch = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            let until = bridge.guest.until()?;
            bridge.hand_over()?;
            let due = until.min(bridge.guest.next_event().unwrap_or(FOREVER));
            let wait = (epoch + on_the_wall(due, pace)).saturating_duration_since(Instant::now());
            match inbox.recv_timeout(wait.min(LONGEST_WAIT)) {
                Ok(Input::Frame(port, at, frame)) => {
                    let at = virtual_time(at.saturating_duration_since(epoch), pace);
                    // The frame is sent within the grant, even if the wall clock is beyond the grant's end.
                    let at = at.min(until.saturating_sub(1)).max(bridge.guest.now());
                    bridge.guest.advance(at - bridge.guest.now())?;
                    bridge.relay(port, frame)?;
                }
                Ok(Input::Gone(port, how)) => {
                    let port = &mut bridge.ports[port];
                    port.nic = None;
                    tell(format!("the machine of node {} has gone: {how}", port.node));
                    if bridge.ports.iter().all(|port| port.nic.is_none()) {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) if wait > LONGEST_WAIT => {}
                Err(RecvTimeoutError::Timeout) => bridge.guest.advance(due.saturating_sub(bridge.guest.now()))?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        bridge.finish()
    }

    /// Waits for a machine at each socket; `None` if interrupted. The inputs of the machines go to `inputs`.
    fn accept_machines(&self, inputs: &SyncSender<Input>, stop: &AtomicBool) -> Result<Option<Vec<Nic>>, RelayError> {
        let mut nics = Vec::new();
        for (number, socket) in self.sockets.iter().enumerate() {
            match socket.accept(&mut || !stop.load(Ordering::Relaxed))? {
                Some(cable) => nics.push(Nic::start(number, cable, inputs.clone())?),
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
    /// Number of frames that have not left the node.
    outstanding: u64,
    /// Counts of frames.
    traffic: Traffic,
}

impl Port {
    fn new(nic: Nic, node: u32) -> Self {
        Self { nic: Some(nic), node, outstanding: 0, traffic: Traffic::default() }
    }
}

/// A relay in progress: a guest between machines and the network.
struct Bridge {
    guest: Guest,
    ports: Vec<Port>,
    /// The nodes to which frames are flooded.
    peers: Vec<u32>,
    /// The learned addresses.
    table: Table,
}

impl Bridge {
    /// Gives machines the frames that have arrived up to the current time.
    fn hand_over(&mut self) -> Result<(), RelayError> {
        while let Some(event) = self.guest.poll()? {
            match event {
                Event::Message(arrival) => {
                    let Some(port) = self.ports.get_mut(usize::from(arrival.endpoint)) else { continue };
                    if let Some((_, from)) = ethernet::addresses(&arrival.payload) {
                        self.table.learn(from, arrival.source);
                    }
                    if port.nic.as_ref().is_some_and(|nic| nic.queue(arrival.payload)) {
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

    /// Sends a frame of machine `number` to its destination.
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
            let inject = Inject {
                destination,
                notify: true,
                size,
                cookie,
                unmodelled: false,
                identified: None,
                payload: frame.clone(),
            };
            self.guest.inject(number as u16, inject)?;
        }
        Ok(())
    }

    /// Says goodbye and returns the statistics.
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
