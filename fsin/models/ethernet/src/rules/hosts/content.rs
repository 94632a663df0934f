//! What frames carry, for observers.

use trgen::NodeId;

use super::{Hosts, Load};
use crate::capture::Content;
use crate::rules::frame::{CONTROL, Control, Frame, NONE, Trimmed};

impl Hosts {
    /// The content of a frame, for an observer.
    pub(crate) fn content(&self, frame: &Frame) -> Content {
        if frame.control != Control::No {
            return Content::Pause {
                is_off: frame.control == Control::Off,
                class: Some(frame.class).filter(|&class| class != CONTROL),
            };
        }
        match self.units[frame.unit].load {
            Load::Data { message, index, number } => {
                let whole = self.messages.get(message).message;
                let payload = self.payload();
                let (offset, bytes) = (index * u64::from(payload.0), payload.bytes_of(whole.bytes, index));
                let segment = self.params.transport.acknowledges().then_some(number);
                Content::Data { message: whole, offset, bytes, segment }
            }
            Load::Piece { flow, index, number, .. } => {
                let of = self.spray.as_ref().map_or(NONE, |spray| spray.get(flow).message);
                let whole = self.messages.get(of).message;
                let payload = self.payload();
                let (offset, bytes) =
                    (u64::from(index) * u64::from(payload.0), payload.bytes_of(whole.bytes, index.into()));
                let bytes = if frame.trimmed == Trimmed::No { bytes } else { 0 };
                Content::Data { message: whole, offset, bytes, segment: Some(number.into()) }
            }
            Load::Words { words, .. } => {
                let number = self.spray.as_ref().map_or(0, |spray| spray.words(words).number());
                Content::Acknowledgement { from: NodeId(frame.source), to: NodeId(frame.destination), number }
            }
            Load::Reply { flow, expected, .. } => {
                let [from, to] = self.flows.as_ref().map_or([NONE; 2], |flows| {
                    let flow = flows.get(flow);
                    [flow.destination, flow.source]
                });
                Content::Acknowledgement { from: NodeId(from), to: NodeId(to), number: expected }
            }
            Load::Acknowledgement { connection, number, .. } => {
                let sender_side = &self.connections[connection as usize];
                Content::Acknowledgement {
                    from: NodeId(sender_side.destination),
                    to: NodeId(sender_side.source),
                    number,
                }
            }
        }
    }
}
