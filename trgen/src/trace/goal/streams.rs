//! The rules of LogGOPS hosts for graphs with streams.
//!
//! Two dialects of GOAL have one syntax. In the **classic** one ([`hosts`](super::hosts)) a calculation releases its
//! dependents when it begins, and only its own CPU holds them back. Where the CPUs of a rank stand for **streams** that
//! run beside each other, a dependent must wait until what it requires has ended:
//!
//! - An operation is ready at the latest end of the operations that it requires.
//! - A calculation begins when its CPU is free.
//! - A send of s bytes begins at t, when its CPU and the sending side of its interface are free. The CPU is busy until
//!   e = t + o + (s-1) O, the interface until t + g + (s-1) G; the message arrives at e + L + (s-1) G. An eager send ends
//!   at e.
//! - A message that finds a posted receive waits until the CPU of the *receive* and the receiving side of the interface
//!   are free, at t. The interface is then busy for g and the CPU until u = t + g + o + (s-1) O, when the receive ends. A
//!   message without a receive is kept, at no cost.
//! - A receive that finds a message at t begins at v, g after both t and the time at which the *sending* side of its
//!   interface is free, and ends at v + o + (s-1) O, until which its CPU is busy; the receiving side is busy until v.
//! - A send of more than S bytes ends with its receive, and its CPU and interface are busy until then.
//!
//! Products with G and O are rounded down to whole time units.
//!
//! Source: the rules of ATLAHS (Shen and others, *ATLAHS: An Application-centric Network Simulator Toolchain for AI, HPC,
//! and Distributed Storage*, 2025), by figures of its host model.

use super::agenda::{Entry, Item};
use super::hosts::{Hosts, Wire};
use super::waiting::{Needs, Nic};
use super::{Kind, Node, pending};
use crate::trace::timeline::Doing;

impl Hosts {
    /// \[ticks\] Time of the bytes after the first of a message, with `per_byte` ticks each, in whole time units.
    fn of_bytes(&self, bytes: u64, per_byte: u64) -> u64 {
        let whole = (bytes.max(1) - 1).saturating_mul(per_byte);
        whole - whole % self.params.ticks
    }

    /// Inserts an event.
    fn schedule(&mut self, time: u64, item: Item) {
        let number = self.new_number();
        self.agenda.push(Entry { time, number, item });
    }

    /// Starts a calculation or send, whose resources are free.
    pub(super) fn start_in_stream<W: Wire + ?Sized>(
        &mut self,
        now: u64,
        host: u32,
        node: u32,
        operation: &Node,
        wire: &mut W,
    ) {
        self.mark_started(host, node);
        self.release_started(host, operation);
        if operation.kind == Kind::Send {
            let cpu = now
                .saturating_add(self.params.overhead)
                .saturating_add(self.of_bytes(operation.size, self.params.overhead_per_byte));
            let sending = self.of_bytes(operation.size, self.params.gap_per_byte);
            self.resources.take_cpu(host, operation.cpu, cpu);
            let until = now.saturating_add(self.params.gap).saturating_add(sending);
            self.resources.take_sending(host, operation.nic, until);
            self.note(host, Doing::Sending, now, cpu, || format!("send to {}", operation.peer));
            self.note_sent(host, node, operation, now);
            if let Some(arrival) = wire.carry(cpu, host, node, operation) {
                self.arrive(arrival.saturating_add(sending), host, node);
            }
            if operation.size <= self.params.rendezvous {
                self.schedule(cpu, Item::Finish { host, node });
            }
        } else {
            let end = now.saturating_add(operation.size);
            self.resources.take_cpu(host, operation.cpu, end);
            self.note_calculation(host, node, now, end);
            self.schedule(end, Item::Finish { host, node });
        }
        self.schedule_ready();
    }

    /// Releases the operations that wait for the end of this one.
    pub(super) fn finish_operation(&mut self, host: u32, node: u32) {
        let operation = self.node(host, node);
        self.release_finished(host, node, &operation);
        self.schedule_ready();
    }

    /// Starts a receive: it takes a message that has arrived, or is posted.
    pub(super) fn receive_in_stream(&mut self, now: u64, host: u32, node: u32, operation: &Node) {
        self.mark_started(host, node);
        self.release_started(host, operation);
        match self.hosts[host as usize].unexpected.take(operation.peer, operation.tag) {
            Some(message) => {
                let send = self.node(message.peer, message.operation);
                let begin = now.max(self.resources.sending_free(host, operation.nic)).saturating_add(self.params.gap);
                self.resources.take_receiving(host, operation.nic, begin);
                self.end_receive(begin, (message.peer, message.operation), &send, (host, node), operation);
            }
            None => {
                let receive = pending::Entry { peer: operation.peer, tag: operation.tag, operation: node };
                self.hosts[host as usize].posted.push(receive);
                self.unserved += 1;
            }
        }
        self.schedule_ready();
    }

    /// The message of a send arrives: it takes a posted receive, or is kept.
    pub(super) fn match_message(&mut self, now: u64, number: u64, host: u32, node: u32) {
        let send = self.node(host, node);
        let Some(posted) = self.hosts[send.peer as usize].posted.take(host, send.tag) else {
            let message = pending::Entry { peer: host, tag: send.tag, operation: node };
            self.hosts[send.peer as usize].unexpected.push(message);
            return;
        };
        self.unserved -= 1;
        let receive = self.node(send.peer, posted.operation);
        let needs = Needs { cpu: receive.cpu, nic: Nic::Receiving(receive.nic) };
        let free = self.resources.free(send.peer, needs);
        if free > now {
            let item = Item::Matched { host, node, receive: posted.operation };
            self.enqueue(send.peer, needs, number, item, free);
        } else {
            self.take_matched(now, host, node, posted.operation);
        }
    }

    /// A posted receive takes its message; the resources of the receive are free.
    pub(super) fn take_matched(&mut self, now: u64, host: u32, node: u32, receive: u32) {
        let send = self.node(host, node);
        let operation = self.node(send.peer, receive);
        let begin = now.saturating_add(self.params.gap);
        self.resources.take_receiving(send.peer, operation.nic, begin);
        self.end_receive(begin, (host, node), &send, (send.peer, receive), &operation);
    }

    /// Schedules the end of a receive whose interface has taken the message at `begin` \[ticks\], and that of its send if
    /// that waits for it. Senders and receivers are given by host and operation.
    fn end_receive(&mut self, begin: u64, from: (u32, u32), send: &Node, to: (u32, u32), receive: &Node) {
        if receive.size < send.size {
            self.record_misfit(from.0, from.1, to.0, to.1);
        }
        let end = begin
            .saturating_add(self.params.overhead)
            .saturating_add(self.of_bytes(send.size, self.params.overhead_per_byte));
        self.resources.take_cpu(to.0, receive.cpu, end);
        self.note(to.0, Doing::Receiving, begin, end, || format!("receive from {}", from.0));
        self.schedule(end, Item::Finish { host: to.0, node: to.1 });
        if send.size > self.params.rendezvous {
            self.resources.hold_sender(from.0, send.cpu, send.nic, end);
            self.schedule(end, Item::Finish { host: from.0, node: from.1 });
        }
    }
}
