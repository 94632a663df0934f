//! `--pcap`: a capture of the packets of a run; each port of the chosen hosts and switches is an interface.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use fsin::capture::{Capture, Interface, Packet, Place};
use fsin::experiment::Experiment;
use fsin::network::Network;
use fsin::pcapng::{LinkType, Record, Writer};
use trgen::NodeId;

use crate::cli::{Complaint, Exit, output};

/// Adds the flags of this module to a command.
pub(crate) fn flags(command: Command) -> Command {
    command
        .next_help_heading("Output")
        .arg(
            Arg::new("pcap")
                .long("pcap")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Keep the frames of hosts and switches, for Wireshark (--network ethernet)"),
        )
        .arg(
            Arg::new("pcap-at")
                .long("pcap-at")
                .value_name("PLACES")
                .value_delimiter(',')
                .action(ArgAction::Append)
                .requires("pcap")
                .value_parser(place)
                .help("Where: host:3,switch:16 [all hosts]"),
        )
}

/// Parses a place, such as `host:3` or `switch:16`.
fn place(word: &str) -> Result<Place, String> {
    let number = |word: &str| word.parse().map(NodeId).map_err(|_| format!("`{word}` is not the number of a node"));
    match word.split_once(':') {
        Some(("host", node)) => number(node).map(Place::Host),
        Some(("switch", node)) => number(node).map(Place::Switch),
        _ => Err("write host:3 or switch:16".to_owned()),
    }
}

/// The writer of the file; `None` before the run. It is shared by the network, which writes packets, and the command,
/// which closes it.
type Shared = Arc<Mutex<Option<Writer<Interface>>>>;

/// Writes the packets that the network shows.
struct Observer(Shared);

impl Capture for Observer {
    fn packet(&mut self, packet: &Packet<'_>) {
        if let Ok(mut file) = self.0.lock()
            && let Some(file) = file.as_mut()
        {
            let Packet { at, interface, is_sent, bytes, length } = *packet;
            file.write(interface, &Record { at, is_sent, bytes, length });
        }
    }
}

/// A capture under way.
pub(crate) struct Recording {
    /// The flag and the name of the file, for errors.
    named: String,
    file: Shared,
}

impl Recording {
    /// Closes the file.
    ///
    /// # Errors
    /// The file could not be written.
    pub(crate) fn end(self) -> Result<(), Complaint> {
        let Some(mut file) = self.file.lock().ok().and_then(|mut file| file.take()) else { return Ok(()) };
        file.flush().map_err(|why| Complaint::new(Exit::Failed, format!("{}: {why}", self.named), "capture elsewhere"))
    }
}

/// A network, and the capture of its packets.
pub(crate) type Captured = (Box<dyn Network>, Recording);

/// The network of an experiment whose packets are captured, and the capture; `None` without the flag.
///
/// # Errors
/// A model whose packets have no form on the wire, an unknown place, a file that cannot be created.
pub(crate) fn begin(matches: &ArgMatches, experiment: &Experiment) -> Result<Option<Captured>, Complaint> {
    let Some(path) = matches.get_one::<PathBuf>("pcap") else { return Ok(None) };
    let named = format!("--pcap {}", path.display());
    let places: Vec<Place> = match matches.get_many::<Place>("pcap-at") {
        Some(places) => places.copied().collect(),
        None => (0..experiment.geometry().nodes()).map(|host| Place::Host(NodeId::at(host))).collect(),
    };
    let file = Shared::default();
    let network = experiment
        .network
        .captured(&places, Box::new(Observer(Arc::clone(&file))))
        .map_err(|refusal| Complaint::new(Exit::Usage, refusal.what().clone(), refusal.remedy().clone()))?;
    // The file is created last, so that a run that cannot begin leaves no file.
    let out: Box<dyn Write + Send> = Box::new(BufWriter::new(output::create_file(&named, path)?));
    let writer = Writer::new(out, LinkType::Ethernet)
        .map_err(|why| Complaint::new(Exit::Usage, format!("{named}: {why}"), "name a file that can be written"))?;
    if let Ok(mut file) = file.lock() {
        *file = Some(writer);
    }
    Ok(Some((network, Recording { named, file })))
}
