//! Removal of a packet that is too old.

use fsin_core::network::Notices;

use super::{Fast, NONE};
use crate::rules::hosts::Loss;

impl Fast {
    /// Removes a packet from all channels, buffers and hosts.
    pub(super) fn remove(&mut self, handle: u32, at: u64, notices: &mut Notices) {
        let packet = *self.base.hosts.packet(handle);
        let mut port = self.base.wires.host_port(packet.source);
        if self.end_connection(port, handle, at).is_some() {
            self.base.hosts.sent(handle, notices);
        }
        for place in 0..packet.route.switches {
            let input = self.base.wires.links()[port].peer as usize;
            let next = self.base.hosts.output(&packet, place) as usize;
            let read = self.end_connection(next, handle, at);
            self.clear_buffer(input, handle, read, at);
            port = next;
        }
        self.base.hosts.lose(handle, Loss::TooOld, at, notices);
    }

    /// Ends the connection of a packet through the channel of a port, if it has one. Returns the index of the next
    /// character that would have been sent.
    fn end_connection(&mut self, port: usize, handle: u32, at: u64) -> Option<u32> {
        if self.outputs[port].packet != handle {
            return None;
        }
        let run = self.outputs[port].run;
        if run.is_on {
            self.stop(port, run.first + run.before(at, self.base.character), at);
        }
        let output = &mut self.outputs[port];
        let input = std::mem::replace(&mut output.input, NONE);
        output.packet = NONE;
        let next = output.next;
        self.tries.push(port as u32);
        if input != NONE {
            self.touch(input as usize, at);
            self.inputs[input as usize].output = NONE;
            self.grants.push(port as u32);
        }
        Some(next)
    }

    /// Removes a packet from a slack buffer. The characters before index `read` have left the buffer; none has left if
    /// `read` is `None`.
    fn clear_buffer(&mut self, number: usize, handle: u32, read: Option<u32>, at: u64) {
        let Some(place) = self.inputs[number].queue.iter().position(|waiting| waiting.packet == handle) else { return };
        self.touch(number, at);
        let character = self.base.character;
        let input = &mut self.inputs[number];
        let is_last = place + 1 == input.queue.len();
        let Some(waiting) = input.queue.remove(place) else { return };
        if is_last && input.run.is_on {
            let count = input.run.until(at, character);
            input.base += i64::from(count);
            input.area -= input.run.sum(count, character);
            input.closed = input.run.first + count;
            input.run.is_on = false;
        }
        let come = if is_last { input.closed } else { waiting.length };
        let left = come - read.unwrap_or(waiting.first);
        input.base -= i64::from(left);
        input.area += i128::from(left) * i128::from(at);
        // The packet before has come completely.
        if let Some(before) = input.queue.back().filter(|_| is_last) {
            input.closed = before.length;
        }
        if place == 0 {
            self.ask_for_output(number, at);
        }
    }
}
