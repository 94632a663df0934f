//! Captures in the pcapng format of Wireshark and tcpdump.
//!
//! Times are nanoseconds of simulated time, rounded down, counted from 1970.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;
use std::io::Write;
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, PcapError};

/// Resolution of times, as the negative exponent of a power of ten: nanoseconds.
const NANOSECONDS: u8 = 9;
/// Values of the flags of a packet for its direction.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// Link-layer type of the packets of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkType {
    /// Ethernet frames.
    Ethernet,
    /// A type that is private to the user (link type 147).
    User,
}

/// A packet at an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    /// \[ps\] Time since the beginning of the run.
    pub at: u64,
    /// True if the packet leaves the interface.
    pub is_sent: bool,
    /// The first bytes of the packet.
    pub bytes: &'a [u8],
    /// \[bytes\] Size of the whole packet.
    pub length: u32,
}

/// A capture file under construction, whose interfaces are named by values of `I`. The writer
/// keeps the first error, and writes nothing after it.
pub struct Writer<I> {
    out: PcapNgWriter<Box<dyn Write + Send>>,
    link_type: DataLink,
    /// The number of each interface in the file.
    interfaces: HashMap<I, u32>,
    /// The first error.
    failed: Option<String>,
}

impl<I: Display + Eq + Hash> Writer<I> {
    /// Begins a file; `out` should be buffered.
    ///
    /// # Errors
    /// Writing to `out` fails.
    pub fn new(out: Box<dyn Write + Send>, link_type: LinkType) -> Result<Self, String> {
        let out = PcapNgWriter::new(out).map_err(|error| describe_error(&error))?;
        let link_type = match link_type {
            LinkType::Ethernet => DataLink::ETHERNET,
            LinkType::User => DataLink::USER0,
        };
        Ok(Self { out, link_type, interfaces: HashMap::new(), failed: None })
    }

    /// Writes a packet.
    pub fn write(&mut self, interface: I, packet: &Record<'_>) {
        if self.failed.is_none()
            && let Err(error) = self.try_write(interface, packet)
        {
            self.failed = Some(describe_error(&error));
        }
    }

    /// The first error, if any.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Writes what is buffered to the file.
    ///
    /// # Errors
    /// The first error of the file.
    pub fn flush(&mut self) -> Result<(), String> {
        match &self.failed {
            Some(what) => Err(what.clone()),
            None => self.out.get_mut().flush().map_err(|error| describe_error(&error)),
        }
    }

    /// Writes a packet, after the description of its interface if that is new.
    fn try_write(&mut self, interface: I, packet: &Record<'_>) -> Result<(), PcapError> {
        let next = self.interfaces.len() as u32;
        let interface_id = match self.interfaces.get(&interface) {
            Some(&id) => id,
            None => {
                let options = vec![
                    InterfaceDescriptionOption::IfName(Cow::Owned(interface.to_string())),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ];
                let block = InterfaceDescriptionBlock { linktype: self.link_type, snaplen: 0, options };
                self.out.write_pcapng_block(block)?;
                self.interfaces.insert(interface, next);
                next
            }
        };
        let block = EnhancedPacketBlock {
            interface_id,
            timestamp: Duration::from_nanos(packet.at / 1000),
            original_len: packet.length,
            data: Cow::Borrowed(packet.bytes),
            options: vec![EnhancedPacketOption::Flags(if packet.is_sent { OUTBOUND } else { INBOUND })],
        };
        self.out.write_pcapng_block(block).map(|_| ())
    }
}

/// The text of an error of writing, with its remedy.
fn describe_error(error: &dyn Display) -> String {
    format!("cannot write the captured packets: {error}; make room for them, or leave them out")
}

/// The interface of a node between live guests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Node(pub u32);

impl Display for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "node {}", self.0)
    }
}

#[cfg(feature = "live")]
impl adapters::live::Capture for Writer<Node> {
    fn packet(&mut self, payload: adapters::live::Payload<'_>) {
        let length = u32::try_from(payload.size).unwrap_or(u32::MAX);
        let record = Record { at: payload.time, is_sent: payload.is_outbound, bytes: payload.data, length };
        self.write(Node(payload.node), &record);
    }

    fn failure(&self) -> Option<&str> {
        self.failure()
    }

    fn flush(&mut self) -> Result<(), String> {
        self.flush()
    }
}
