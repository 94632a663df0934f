//! Capture of payloads as packets with virtual times, in the pcapng format of Wireshark and tcpdump.
//!
//! Each node is an interface. A message with a payload is recorded twice: outbound at its sender, at injection, and
//! inbound at its receiver, at arrival. Times are nanoseconds of virtual time, rounded down, counted from 1970. Packets
//! are in the order in which the network learned of them, which is not exactly that of their times.

use std::borrow::Cow;
use std::io::Write;
use std::time::Duration;

use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};

use crate::clock::Time;

/// Resolution in nanoseconds, as a negative exponent of ten.
const NANOSECONDS: u8 = 9;

/// Type of the payloads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// Ethernet frames.
    Ethernet,
    /// A type known to the user only (link type 147).
    User,
}

/// The side of the network on which a packet is seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Inbound = 1,
    Outbound = 2,
}

/// A capture file under construction.
pub struct Capture {
    out: PcapNgWriter<Box<dyn Write + Send>>,
    link: DataLink,
    /// Per node: its interface, once the node has been seen.
    interfaces: Vec<Option<u32>>,
    count: u32,
    failed: Option<String>,
}

impl Capture {
    /// Begins a file; `out` should be buffered.
    ///
    /// # Errors
    /// Writing to `out` fails.
    pub fn new(out: Box<dyn Write + Send>, link: Link) -> Result<Self, String> {
        let out = PcapNgWriter::new(out).map_err(|error| says(&error))?;
        let link = match link {
            Link::Ethernet => DataLink::ETHERNET,
            Link::User => DataLink::USER0,
        };
        Ok(Self { out, link, interfaces: Vec::new(), count: 0, failed: None })
    }

    /// Writes a packet. The first error is kept, and ends the run ([`failure`](Self::failure)).
    pub(super) fn packet(&mut self, node: u32, time: Time, direction: Direction, size: u64, data: &[u8]) {
        if self.failed.is_none()
            && let Err(error) = self.write(node, time, direction, size, data)
        {
            self.failed = Some(says(&error));
        }
    }

    /// The first error, if any.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    pub(super) fn flush(&mut self) -> Result<(), String> {
        match &self.failed {
            Some(what) => Err(what.clone()),
            None => self.out.get_mut().flush().map_err(|error| says(&error)),
        }
    }

    fn write(
        &mut self,
        node: u32,
        time: Time,
        direction: Direction,
        size: u64,
        data: &[u8],
    ) -> Result<(), pcap_file::PcapError> {
        let index = node as usize;
        if self.interfaces.len() <= index {
            self.interfaces.resize(index + 1, None);
        }
        let interface_id = match self.interfaces[index] {
            Some(id) => id,
            None => {
                let options = vec![
                    InterfaceDescriptionOption::IfName(Cow::Owned(format!("node {node}"))),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ];
                let block = InterfaceDescriptionBlock { linktype: self.link, snaplen: 0, options };
                self.out.write_pcapng_block(block)?;
                let id = self.count;
                self.count += 1;
                self.interfaces[index] = Some(id);
                id
            }
        };
        let block = EnhancedPacketBlock {
            interface_id,
            timestamp: Duration::from_nanos(time / 1000),
            original_len: u32::try_from(size).unwrap_or(u32::MAX),
            data: Cow::Borrowed(data),
            options: vec![EnhancedPacketOption::Flags(direction as u32)],
        };
        self.out.write_pcapng_block(block)?;
        Ok(())
    }
}

fn says(error: &dyn std::fmt::Display) -> String {
    format!("cannot write the captured packets: {error}; make room for them, or leave them out")
}
