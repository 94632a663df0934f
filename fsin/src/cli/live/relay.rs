//! `fsin relay`: virtual machines as guests.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use adapters::address::Address;
use adapters::guest::Config;
use adapters::relay::{Relay, RelayError, Traffic};
use clap::{Arg, ArgMatches, Command};

use crate::cli::live::guest::{address, nodes_of, span, token, token_file};
use crate::cli::{Complaint, Exit, interrupt, output};

/// Longest time for which the relay waits for the endpoint, and for its turn.
const PATIENCE: Duration = Duration::from_secs(3600);

/// The command `fsin relay`.
pub(crate) fn command() -> Command {
    let word = |name: &'static str, value: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).default_value(default).hide_default_value(true).help(help)
    };
    Command::new("relay")
        .about("Connects virtual machines to `fsin serve --mode realtime`: each network interface is a node")
        .after_help(
            "Each machine has a socket of its own; QEMU connects to it with
  -netdev stream,id=n,server=off,addr.type=inet,addr.host=127.0.0.1,addr.port=7200 -device e1000,netdev=n
or, with --machines unix:/tmp/nic, at node 3,
  -netdev stream,id=n,server=off,addr.type=unix,addr.path=/tmp/nic.3 -device e1000,netdev=n
The run begins when all machines are connected, and ends when all have gone. Frames are what messages carry:
`fsin serve --pcap FILE --pcap-link ethernet` writes them down.",
        )
        .arg(word(
            "connect",
            "ADDRESS",
            "127.0.0.1:7100",
            "Where `fsin serve` listens: HOST:PORT or unix:PATH [127.0.0.1:7100]",
        ))
        .arg(word(
            "node",
            "N|N..M",
            "0",
            "Node of the machine, or a range: one machine for each, the last one included [0]",
        ))
        .arg(word(
            "machines",
            "ADDRESS",
            "127.0.0.1:7200",
            "Where the first machine connects, the others at the next ports; or unix:PATH, for each PATH.NODE \
             [127.0.0.1:7200]",
        ))
        .arg(
            Arg::new("peers")
                .long("peers")
                .value_name("N|N..M")
                .help("Nodes that frames to everybody are sent to [all nodes of the network]"),
        )
        .arg(
            Arg::new("step").long("step").value_name("TIME").help("Longest step, such as 100us [that of `fsin serve`]"),
        )
        .arg(token_file())
}

/// `fsin relay`: carries frames until all machines have gone, and prints their numbers.
pub(crate) fn relay(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let failed = |error: RelayError| {
        let exit = match error {
            RelayError::Open { .. } | RelayError::Socket { .. } | RelayError::NotRealtime => Exit::Usage,
            RelayError::System(_) | RelayError::Guest(_) => Exit::Failed,
        };
        Complaint::new(exit, error.to_string(), error.remedy())
    };
    let nodes: Vec<u32> = nodes_of(matches, "node")?.collect();
    let peers: Vec<u32> = match matches.contains_id("peers") {
        true => nodes_of(matches, "peers")?.collect(),
        false => Vec::new(),
    };
    let sockets = sockets(&address(matches, "machines")?, &nodes)?;
    let endpoint = address(matches, "connect")?;
    let config = Config {
        nodes,
        step: span(matches, "step")?.unwrap_or(0),
        token: token(matches)?,
        patience: PATIENCE,
        ..Config::new("relay", 0)
    };
    let document = output::Document::open(matches)?;
    let quiet = matches.get_flag("quiet");
    let tell = |line: &str| {
        if !quiet {
            output::tell(line);
        }
    };
    let stop = interrupt::listen(interrupt::OF_NOTHING)?;
    let relay = Relay::bind(&sockets).map_err(failed)?;
    let listening = relay.addresses().map_err(|error| failed(error.into()))?;
    for (node, address) in config.nodes.iter().zip(listening) {
        tell(&format!("node {node} waits for a machine at {address}"));
    }
    let report = relay.run(&endpoint, &config, &peers, stop, &mut |line| tell(&line)).map_err(failed)?;
    let mut table =
        String::from("node,frames_from_machine,frames_to_machine,flooded,filtered,lost_sending,lost_receiving\n");
    for (node, traffic) in &report.traffic {
        let Traffic { from_machine, to_machine, flooded, filtered, lost_sending, lost_receiving } = traffic;
        let _ =
            writeln!(table, "{node},{from_machine},{to_machine},{flooded},{filtered},{lost_sending},{lost_receiving}");
    }
    document.print(&table)?;
    Ok(if stop.load(std::sync::atomic::Ordering::Relaxed) { Exit::Interrupted } else { Exit::Done })
}

/// An address for each machine: the next ports, or the path with the number of the node.
fn sockets(first: &Address, nodes: &[u32]) -> Result<Vec<Address>, Complaint> {
    let at = |(index, node): (usize, &u32)| match first {
        Address::Unix(path) => {
            let mut path = path.clone().into_os_string();
            path.push(format!(".{node}"));
            Some(Address::Unix(PathBuf::from(path)))
        }
        // Port 0 means that the system chooses a free port for each machine.
        Address::Tcp(address) if address.port() == 0 => Some(first.clone()),
        Address::Tcp(address) => {
            let port = usize::from(address.port()) + index;
            u16::try_from(port).ok().map(|port| Address::Tcp(SocketAddr::new(address.ip(), port)))
        }
    };
    nodes.iter().enumerate().map(at).collect::<Option<_>>().ok_or_else(|| {
        let what = format!("--machines {first}: there are not as many ports above it as machines");
        Complaint::new(Exit::Usage, what, "begin at a lower port, or use unix:PATH")
    })
}
