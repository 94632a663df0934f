//! The endpoint: listens, performs handshakes, and gathers the guests of a run.
//!
//! Handshakes run concurrently, each with a time limit. Their number is bounded (`pending`). A refused connection is
//! told the reason. When all nodes are taken the endpoint stops listening, and hands the connections to the run
//! ([`crate::live`]).

mod handshake;
mod listen;
mod pending;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{self, Runtime};
use tokio::task::JoinSet;

use crate::address::Address;
use crate::clock::{Clock, Time};
use crate::protocol::{Hello, Mode, Role};
use crate::stream::{Link, closed};
use crate::token::Token;

use listen::Listener;
use pending::Pending;

/// Number of refused connections that are reported one by one; further ones are only counted.
const REPORTED: u64 = 16;
/// Longest interval between calls of `go_on`, and between checks for closed connections.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// Pause after which a connection is accepted again, if there is no room for it.
const FULL_INTERVAL: Duration = Duration::from_millis(20);

/// The terms of a run, which every guest is told and checked against.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Nodes of the network.
    pub nodes: usize,
    /// How deliveries relate to steps: exact, quantised or in real time.
    pub mode: Mode,
    /// \[ps\] Default step of stepped guests; at most the horizon in exact mode.
    pub step: Time,
    /// \[ps\] Interference horizon.
    pub horizon: Time,
    /// Length of a cycle.
    pub clock: Clock,
    /// \[bytes\] Longest payload of a frame.
    pub max_payload: u32,
    /// \[messages\] Window of a node: most messages that have not left it.
    pub window: u32,
    /// How long a guest may be silent when its turn is awaited.
    pub stall: Duration,
    /// How long a handshake may take.
    pub handshake: Duration,
    /// The token that guests must prove to know.
    pub token: Option<Token>,
    /// Seed of the run.
    pub seed: u64,
    /// \[thousandths\] Wall-clock time divided by virtual time in real-time mode; 0 in the other modes.
    pub pace: u32,
}

/// An admitted guest that waits for the run to begin.
#[derive(Debug)]
pub struct Connection {
    pub(crate) link: Link,
    /// Its Hello.
    pub hello: Hello,
    /// \[ps\] Its longest grant.
    pub step: Time,
    /// For a central: the data connections of its group, in the order of their nodes.
    pub(crate) members: Vec<Connection>,
    /// The reservation of its nodes, released when the connection is dropped.
    pub(crate) _place: Reservation,
}

impl Connection {
    /// The first of its nodes and those of its group.
    fn first_node(&self) -> Option<u32> {
        let members = self.members.iter().flat_map(|member| &member.hello.nodes);
        self.hello.nodes.iter().chain(members).min().copied()
    }
}

/// Assigns the data connections of each group to its central, and sorts guests by their nodes.
fn assemble(connections: Vec<Connection>) -> Vec<Connection> {
    let (data, mut guests): (Vec<_>, Vec<_>) =
        connections.into_iter().partition(|connection| connection.hello.role == Role::Data);
    for member in data {
        let central = guests
            .iter_mut()
            .find(|guest| guest.hello.role == Role::Central && guest.hello.group == member.hello.group);
        // `gather` has waited until each group has its central.
        if let Some(central) = central {
            central.members.push(member);
        }
    }
    for guest in &mut guests {
        guest.members.sort_by_key(Connection::first_node);
    }
    guests.sort_by_key(|guest| (guest.first_node(), guest.hello.group));
    guests
}

/// True if a group has data connections and no central.
fn lacks_centrals(connections: &[Connection]) -> bool {
    let groups = |role| {
        let of_role = connections.iter().filter(move |connection| connection.hello.role == role);
        of_role.map(|connection| connection.hello.group).collect::<BTreeSet<u32>>()
    };
    !groups(Role::Data).is_subset(&groups(Role::Central))
}

/// Why an endpoint cannot work.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Any machine could connect.
    #[error("{address} can be reached from other machines, and guests need no token")]
    Open {
        /// The address.
        address: Address,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: Address,
        /// The cause.
        error: io::Error,
    },
    /// The user asked to stop.
    #[error("interrupted while {missing} of {wanted} nodes had no guest")]
    Interrupted {
        /// Nodes without a guest.
        missing: usize,
        /// Nodes that need a guest.
        wanted: usize,
    },
    /// The system denies a resource.
    #[error("the system fails: {0}")]
    System(#[from] io::Error),
}

impl EndpointError {
    /// The remedy for the user.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Open { .. } => "listen on 127.0.0.1 or unix:PATH, or give a token: --token-file, or FSIN_TOKEN",
            Self::Listen { address: Address::Unix(_), .. } => {
                "use a path where nothing is, or a socket of an earlier run"
            }
            Self::Listen { address: Address::Tcp(_), .. } => "use an address of this machine that nobody listens on",
            Self::Interrupted { .. } => "start the guests that are missing, or ask for fewer with --guests",
            Self::System(_) => "raise the limit of open files (ulimit -n), or use fewer guests",
        }
    }
}

/// A listening endpoint.
#[derive(Debug)]
pub struct Endpoint {
    /// Executes the asynchronous functions of the endpoint.
    runtime: Runtime,
    listener: Listener,
    /// The token that guests must prove to know.
    token: Option<Token>,
}

impl Endpoint {
    /// Begins to listen. A Unix socket has mode 0600, and admits only programs of the same user.
    ///
    /// # Errors
    /// An address on which the system cannot listen, or one that other machines can reach if there is no token.
    pub fn bind(address: &Address, token: Option<Token>) -> Result<Self, EndpointError> {
        if !address.is_local() && token.is_none() {
            return Err(EndpointError::Open { address: address.clone() });
        }
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime
            .block_on(async { Listener::bind(address) })
            .map_err(|error| EndpointError::Listen { address: address.clone(), error })?;
        Ok(Self { runtime, listener, token })
    }

    /// The address on which it listens, with the port that the system chose if 0 was given.
    ///
    /// # Errors
    /// The system does not report it.
    pub fn address(&self) -> io::Result<Address> {
        self.listener.address()
    }

    /// Waits until guests have taken `wanted` nodes, and stops listening. `go_on` is called from time to time, with the
    /// number of missing nodes. `tell` reports refused connections, and guests that leave before all are present: their
    /// nodes are free again.
    ///
    /// The guests are returned in the order of their nodes, whatever the order in which they connected.
    ///
    /// # Errors
    /// `go_on` returned false, or the system fails.
    pub fn gather(
        self,
        terms: &Terms,
        wanted: usize,
        go_on: &mut dyn FnMut(usize) -> bool,
        tell: &mut dyn FnMut(String),
    ) -> Result<Vec<Connection>, EndpointError> {
        let terms = Arc::new(Terms { token: self.token.clone(), ..terms.clone() });
        let listener = self.listener;
        let connections = self.runtime.block_on(gather(&listener, &terms, wanted, go_on, tell))?;
        drop(listener);
        Ok(connections)
    }
}

/// The nodes taken so far, shared by all handshakes.
pub(crate) type Taken = Arc<Mutex<TakenNodes>>;

/// Nodes and groups taken, with the names of their guests.
#[derive(Debug, Default)]
pub(crate) struct TakenNodes {
    /// The name of the guest at each taken node.
    nodes: BTreeMap<u32, String>,
    /// The name of the central of each group.
    centrals: BTreeMap<u32, String>,
}

/// Accepts connections and performs their handshakes until the wanted nodes have guests: see [`Endpoint::gather`].
async fn gather(
    listener: &Listener,
    terms: &Arc<Terms>,
    wanted: usize,
    go_on: &mut dyn FnMut(usize) -> bool,
    tell: &mut dyn FnMut(String),
) -> Result<Vec<Connection>, EndpointError> {
    let taken: Taken = Arc::default();
    let (mut handshakes, mut pending) = (JoinSet::new(), Pending::default());
    // True while the system, or the bound of the handshakes, leaves no room for a connection.
    let mut is_full = false;
    let mut connections: Vec<Connection> = Vec::new();
    let mut refused = 0u64;
    let mut refuse = |why: String, tell: &mut dyn FnMut(String)| {
        refused += 1;
        if refused <= REPORTED {
            tell(why);
        } else if refused.is_power_of_two() {
            tell(format!("{refused} connections have been refused"));
        }
    };
    // True once the user has been told that the system accepts no more connections.
    let mut is_full_reported = false;
    let mut last_check = Instant::now();
    loop {
        let nodes = |all: &[Connection]| all.iter().map(|one| one.hello.nodes.len()).sum::<usize>();
        let is_complete = |all: &[Connection]| nodes(all) >= wanted && !lacks_centrals(all);
        if is_complete(&connections) || last_check.elapsed() >= CHECK_INTERVAL {
            last_check = Instant::now();
            drop_closed(&mut connections, tell);
            if is_complete(&connections) {
                break;
            }
        }
        tokio::select! {
            accepted = listener.accept(), if !is_full => match accepted {
                Ok(peer) => {
                    // The new guest may replace one that has left, whose nodes must be free by then.
                    drop_closed(&mut connections, tell);
                    let (terms, taken) = (Arc::clone(terms), Arc::clone(&taken));
                    let (from, is_named) = (peer.name().to_owned(), Arc::new(AtomicBool::new(false)));
                    let named = Arc::clone(&is_named);
                    let task = handshakes
                        .spawn(async move { handshake::handshake(peer, &terms, &taken, wanted, &named).await });
                    pending.push(task, from, is_named);
                    is_full = pending.is_full();
                }
                // Without handshakes in progress nothing will ever be closed: the guests cannot all connect.
                Err(error) if handshakes.is_empty() && is_out_of_files(&error) => {
                    return Err(EndpointError::System(error));
                }
                // The usual cause is too many open files. Handshakes that end close theirs.
                Err(error) => {
                    is_full = true;
                    if !std::mem::replace(&mut is_full_reported, true) {
                        tell(format!(
                            "cannot let anybody else connect, and goes on trying: {error}; the oldest connections without a \
                             guest give way; raise the limit of open files (ulimit -n), or end those of no use"
                        ));
                    }
                }
            },
            Some(ended) = handshakes.join_next_with_id() => {
                is_full = false;
                let task = match &ended {
                    Ok((task, _)) => *task,
                    Err(error) => error.id(),
                };
                pending.remove(task);
                match ended {
                    Ok((_, Ok(connection))) => connections.push(connection),
                    Ok((_, Err(why))) => refuse(why, tell),
                    // It has given way.
                    Err(_) => {}
                }
            }
            () = tokio::time::sleep(if is_full { FULL_INTERVAL } else { CHECK_INTERVAL }) => {
                is_full = pending.is_full();
            }
        }
        if is_full && let Some(why) = pending.make_room() {
            // Its end, above, makes room.
            refuse(why, tell);
        }
        let missing = wanted.saturating_sub(nodes(&connections));
        if !go_on(missing) {
            return Err(EndpointError::Interrupted { missing, wanted });
        }
    }
    handshakes.shutdown().await;
    Ok(assemble(connections))
}

/// True if the process or the system has as many open files as it may.
fn is_out_of_files(error: &io::Error) -> bool {
    let error = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(error, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE))
}

/// Drops closed connections, which releases their nodes.
fn drop_closed(connections: &mut Vec<Connection>, tell: &mut dyn FnMut(String)) {
    let mut gone = closed(connections.iter().map(|connection| &connection.link)).into_iter();
    connections.retain(|Connection { hello, .. }| {
        let is_gone = gone.next() == Some(true);
        if is_gone {
            let free = match hello.nodes.as_slice() {
                [] => format!("group {} has no central", hello.group),
                [node] => format!("node {node} is free"),
                nodes => format!("{} nodes, from {} on, are free", nodes.len(), nodes[0]),
            };
            tell(format!("guest `{}` has left before time began: {free} again", hello.name));
        }
        !is_gone
    });
}

/// The nodes of a guest, and the group of a central: reserved during the lifetime of this value, from the handshake
/// until the run begins.
#[derive(Debug)]
pub(crate) struct Reservation {
    taken: Taken,
    nodes: Vec<u32>,
    /// The group of which the guest is the central.
    central: Option<u32>,
}

impl Reservation {
    /// Reserves all nodes of a guest, or none. `wanted` is the number of nodes that need a guest. The error names the
    /// node and its owner, or states that no more are needed.
    pub(crate) fn new(taken: &Taken, hello: &Hello, wanted: usize) -> Result<Self, String> {
        let Hello { nodes, name, .. } = hello;
        let mut places = taken.lock().unwrap_or_else(PoisonError::into_inner);
        let central = (hello.role == Role::Central).then_some(hello.group);
        if let Some(owner) = central.and_then(|group| places.centrals.get(&group)) {
            return Err(format!("group {} has its central, `{owner}`; use another group", hello.group));
        }
        // A central need not have a node: without their own limit, centrals could take all connections.
        if central.is_some() && places.centrals.len() >= wanted {
            return Err(format!("the run takes {wanted} nodes, and has as many centrals; put nodes into fewer groups"));
        }
        let map = &mut places.nodes;
        if let Some((node, owner)) = nodes.iter().find_map(|node| map.get_key_value(node)) {
            return Err(format!("node {node} is taken by guest `{owner}`; use another node"));
        }
        if map.len() + nodes.len() > wanted {
            let free = wanted - map.len();
            return Err(format!(
                "the run takes {wanted} nodes, of which {free} are free, and it wants {}; raise --guests of the run",
                nodes.len()
            ));
        }
        map.extend(nodes.iter().map(|&node| (node, name.clone())));
        places.centrals.extend(central.map(|group| (group, name.clone())));
        Ok(Self { taken: Arc::clone(taken), nodes: nodes.clone(), central })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut places = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        for node in &self.nodes {
            places.nodes.remove(node);
        }
        if let Some(group) = self.central {
            places.centrals.remove(&group);
        }
    }
}
