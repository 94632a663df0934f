//! Frames as bytes: what a capture of a real Ethernet holds of them.
//!
//! Addresses are locally administered, `02:00` and the number of the host. A frame of a host has the length field of
//! IEEE 802.3 and an LLC header for unnumbered information between null service access points (IEEE 802.2); a PAUSE
//! frame is a MAC control frame (IEEE 802.3, annex 31B). Payloads are not modelled, and a frame ends behind its
//! headers. As network interfaces do, captures leave out preamble and check sequence, and frames that arrive damaged.

use fsin_core::capture::{self, Packet, Place};
use trgen::NodeId;

use crate::capture::{Capture, Captured, Content, Direction};
use crate::rules::frame::Frames;

/// \[bytes\] Part of a frame that captures leave out: preamble and start delimiter 8, check sequence 4.
const UNSEEN: u32 = 12;
/// \[bytes\] Size of a frame without LLC header and payload: [`UNSEEN`], and the header 14.
const AROUND: u32 = UNSEEN + 14;
/// The LLC header: null service access points, unnumbered information.
const LLC: [u8; 3] = [0, 0, 0x03];
/// Destination address of PAUSE frames.
const PAUSE_TO: [u8; 6] = [0x01, 0x80, 0xC2, 0, 0, 0x01];

/// Passes the headers of frames, as bytes, to an observer.
pub(crate) struct FrameBytes {
    pub(crate) observer: Box<dyn capture::Capture>,
    /// Sizes of frames.
    pub(crate) frames: Frames,
}

/// The address of a host, or of the port of a switch that pauses its neighbour.
const fn address(node: NodeId) -> [u8; 6] {
    let [a, b, c, d] = node.0.to_be_bytes();
    [0x02, 0, a, b, c, d]
}

/// The headers of a frame.
fn headers(captured: &Captured, frames: &Frames) -> Vec<u8> {
    let (Place::Host(node) | Place::Switch(node)) = captured.interface.place;
    let whole = captured.wire_bytes.saturating_sub(AROUND);
    let (to, from, length) = match captured.content {
        // A short frame is padded. The length field gives its length without the padding.
        Content::Data { message, bytes, segment: None, .. } => {
            (message.destination, message.source, bytes + frames.overhead - AROUND)
        }
        Content::Data { message, .. } => (message.destination, message.source, whole),
        Content::Acknowledgement { from, to, .. } => (to, from, whole),
        Content::Pause { is_off, class: Some(class) } => {
            // IEEE 802.1Qbb: a vector of classes, and the time of each.
            let mut times = [0; 16];
            let last = 2 * usize::from(class);
            times[last..last + 2].copy_from_slice(&if is_off { [0xFF, 0xFF] } else { [0, 0] });
            let head = [0x88, 0x08, 0x01, 0x01, 0, 1 << class];
            return [&PAUSE_TO[..], &address(node), &head, &times].concat();
        }
        Content::Pause { is_off, class: None } => {
            let quanta = if is_off { [0xFF, 0xFF] } else { [0, 0] };
            return [&PAUSE_TO[..], &address(node), &[0x88, 0x08, 0, 0x01], &quanta].concat();
        }
    };
    let length = u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes();
    [&address(to)[..], &address(from), &length, &LLC].concat()
}

impl Capture for FrameBytes {
    fn frame(&mut self, captured: &Captured) {
        let is_sent = captured.direction == Direction::Sent;
        if captured.is_damaged && !is_sent {
            return;
        }
        self.observer.packet(&Packet {
            at: captured.at,
            interface: captured.interface,
            is_sent,
            bytes: &headers(captured, &self.frames),
            length: captured.wire_bytes - UNSEEN,
        });
    }
}
