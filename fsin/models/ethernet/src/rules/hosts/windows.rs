//! Hosts with windows: the connections between them.

use fsin_core::network::Notices;
use trgen::Cycle;

use super::{Hosts, Load, Waiting};
use crate::params::Params;
use crate::rules::frame::Frame;
use crate::rules::window::{Connection, Counters, Sent};

impl Hosts {
    /// The connection between two hosts, which is opened at its first use.
    pub(super) fn connection(&mut self, source: u32, destination: u32) -> u32 {
        *self.known.entry((source, destination)).or_insert_with(|| {
            let rate = self.line_rates[source as usize];
            self.connections.push(Connection::new(&self.params, source, destination, rate));
            self.connections.len() as u32 - 1
        })
    }

    /// Calls `act` with a connection at time `now`, and hands the frames that it sends to the port of its host.
    pub(super) fn on_connection(
        &mut self,
        number: u32,
        now: u64,
        act: impl FnOnce(&mut Connection, &Params, &mut Counters, &mut Vec<Sent>, &mut Vec<(u32, bool)>),
    ) {
        let connection = &mut self.connections[number as usize];
        let (mut out, mut done) = std::mem::take(&mut self.scratch);
        act(connection, &self.params, &mut self.counters, &mut out, &mut done);
        let source = connection.source;
        for Sent { message, index, number, is_again } in out.drain(..) {
            let load = Load::Data { message, index, number };
            self.messages.hold(message, 1);
            self.hosts[source as usize].frames.push_back(Waiting { load, is_again, losses: 0 });
        }
        self.ready.push(source);
        self.timers.push(number);
        for (message, is_last) in done.drain(..) {
            if is_last && self.params.is_acked {
                self.messages.acknowledge(message, Cycle(now));
            }
            self.messages.let_go(message);
        }
        self.scratch = (out, done);
    }

    /// The hosts of a connection, and \[ps\] the time at which its timer expires.
    pub(crate) fn timer(&self, connection: u32) -> (u32, u32, Option<u64>) {
        let Connection { source, destination, deadline, .. } = self.connections[connection as usize];
        (source, destination, deadline)
    }

    /// Handles the expiry of a connection's timer.
    pub(crate) fn time_out(&mut self, connection: u32, now: u64) {
        self.on_connection(connection, now, |connection, params, counters, out, _| {
            connection.time_out(params, now, counters, out);
        });
    }

    /// Handles a segment that has come to the receiver of its connection.
    pub(super) fn segment(
        &mut self,
        slot: u32,
        index: u64,
        number: u64,
        frame: &Frame,
        now: u64,
        notices: &mut Notices,
    ) {
        let id = self.messages.get(slot).more.connection;
        let mut complete = Vec::new();
        let connection = &mut self.connections[id as usize];
        let before = connection.expected();
        let is_new = connection.receive(number, &mut complete);
        let is_end = !complete.is_empty();
        let answers = connection.answers(&self.params, frame.is_marked, is_new, is_end, before);
        let receiver = connection.destination;
        if is_new {
            self.receive(slot, index, frame, now);
        } else {
            self.totals.duplicates += 1;
        }
        for message in complete {
            self.deliver(message, now, notices);
        }
        for (number, is_marked) in answers.into_iter().flatten() {
            let load = Load::Acknowledgement { connection: id, number, is_marked };
            self.hosts[receiver as usize].frames.push_back(Waiting { load, is_again: false, losses: 0 });
        }
        self.ready.push(receiver);
    }
}
