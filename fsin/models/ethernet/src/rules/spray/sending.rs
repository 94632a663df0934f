//! What hosts send next: control frames, data of their connections in turn, and what is due again.

use std::cmp::Reverse;

use super::super::frame::bit_time;
use super::{Ends, Item, Piece, Port, Said, Spray, Words};

impl Spray {
    pub(super) fn is_idle(&self, host: u32, now: u64) -> bool {
        let host = &self.hosts[host as usize];
        host.out.is_empty() && host.busy_until <= now
    }

    /// UEC: lets a connection send, or join the list of its port, if it may.
    pub(super) fn ask(&mut self, handle: u32, now: u64) {
        let flow = &self.flows[handle];
        let (source, is_waiting) = (flow.source, flow.is_waiting);
        let of = &self.kinds[self.hosts[source as usize].kind];
        if is_waiting || !flow.ends.may_send(of) {
            return;
        }
        if self.is_idle(source, now) {
            let sharing = self.waiting_flows(source);
            let item = self.take(handle, sharing, now);
            self.hosts[source as usize].out.extend(item);
            self.touched.push(source);
            self.join(handle);
        } else {
            self.join(handle);
            self.touched.push(source);
        }
    }

    pub(super) fn waiting_flows(&self, host: u32) -> usize {
        match &self.hosts[host as usize].port {
            Port::Uec(turns) => turns.flows.len(),
            Port::Ndp(_) => 0,
        }
    }

    /// UEC: a connection that may send joins the end of the list of its port.
    pub(super) fn join(&mut self, handle: u32) {
        let flow = &mut self.flows[handle];
        let host = &mut self.hosts[flow.source as usize];
        let Port::Uec(turns) = &mut host.port else { return };
        if !flow.is_waiting && flow.ends.may_send(&self.kinds[host.kind]) {
            flow.is_waiting = true;
            flow.underway += 1;
            turns.flows.push_back(handle);
        }
    }

    /// UEC: takes the next frame of a connection, which may send.
    pub(super) fn take(&mut self, handle: u32, sharing: usize, now: u64) -> Option<Item> {
        let flow = &mut self.flows[handle];
        let of = &self.kinds[self.hosts[flow.source as usize].kind];
        let (piece, entropy) = match &mut flow.ends {
            Ends::Uec { sender, .. } => {
                let entropy = flow.balancer.next(sender.window_frames(of));
                (sender.send(now, sharing, of), entropy)
            }
            Ends::Own(own) => (own.send(now)?, flow.balancer.next(u64::MAX)),
            Ends::Ndp { .. } => return None,
        };
        flow.underway += 1;
        flow.heard = now;
        self.arm(handle);
        Some(Item::Piece { flow: handle, piece, entropy })
    }

    /// Schedules the check of the time-out of a connection.
    pub(super) fn arm(&mut self, handle: u32) {
        let flow = &mut self.flows[handle];
        let host = &mut self.hosts[flow.source as usize];
        let deadline = flow.ends.deadline(&self.kinds[host.kind]);
        if deadline < flow.armed {
            flow.armed = deadline;
            flow.underway += 1;
            host.timers.push(Reverse((deadline, handle)));
            let source = flow.source;
            self.wake_at(source, deadline);
        }
    }

    /// As [`arm`](Self::arm), at a given time.
    pub(super) fn arm_at(&mut self, handle: u32, at: u64) {
        let flow = &mut self.flows[handle];
        if at < flow.armed {
            flow.armed = at;
            flow.underway += 1;
            let source = flow.source;
            self.hosts[source as usize].timers.push(Reverse((at, handle)));
            self.wake_at(source, at);
        }
    }

    pub(super) fn wake_at(&mut self, host: u32, at: u64) {
        let of = &mut self.hosts[host as usize];
        if at < of.wakes_at {
            of.wakes_at = at;
            self.wakes.push((host, at));
        }
    }

    /// Puts a control frame of a connection into the port of a host.
    pub(super) fn say(&mut self, handle: u32, host: u32, words: Words, now: u64) {
        let is_idle = self.is_idle(host, now);
        let flow = &mut self.flows[handle];
        flow.underway += 1;
        let key = flow.key(handle);
        let is_high = !matches!(words.said, Said::Answer { trimmed: Some(_), .. });
        let item = Item::Words { flow: handle, words: self.words.store(words) };
        let of = &mut self.hosts[host as usize];
        match &mut of.port {
            Port::Uec(_) if is_idle => of.out.push_back(item),
            Port::Uec(turns) => turns.controls.push_back(item),
            Port::Ndp(levels) => levels.push(is_high, key, item),
        }
        self.touched.push(host);
    }

    /// The next frame of a host, whose port is free at time `now`, with its size \[bytes\].
    pub(crate) fn next(&mut self, number: u32, now: u64) -> Option<(Item, u32)> {
        let item = self.next_item(number, now)?;
        let (bytes, time) = match &item {
            Item::Words { .. } => (self.said_bytes, self.times[number as usize][1]),
            Item::Piece { piece, .. } if piece.bytes == self.frame => (self.frame, self.times[number as usize][0]),
            Item::Piece { piece, .. } => {
                let bytes = piece.bytes.max(self.least);
                (bytes, bit_time(8 * bytes, self.links[number as usize].0))
            }
        };
        let gap = self.links[number as usize].1;
        self.hosts[number as usize].busy_until = now.saturating_add(time + gap);
        Some((item, bytes))
    }

    pub(super) fn next_item(&mut self, number: u32, now: u64) -> Option<Item> {
        let host = &mut self.hosts[number as usize];
        if let Some(item) = host.out.pop_front() {
            return Some(item);
        }
        let turns = match &mut host.port {
            Port::Ndp(levels) => return levels.pop(),
            Port::Uec(turns) => turns,
        };
        if turns.is_empty() {
            return None;
        }
        if !turns.is_of_flows() {
            return turns.controls.pop_front();
        }
        loop {
            let host = &mut self.hosts[number as usize];
            let Port::Uec(turns) = &mut host.port else { return None };
            let Some(handle) = turns.flows.pop_front() else { return turns.controls.pop_front() };
            let sharing = turns.flows.len() + 1;
            let flow = &mut self.flows[handle];
            flow.is_waiting = false;
            self.done.push(handle);
            if flow.ends.may_send(&self.kinds[host.kind]) {
                let item = self.take(handle, sharing, now);
                self.join(handle);
                return item;
            }
            self.watch(handle, now);
        }
    }

    /// NDP: the frames of a connection that are due go to the port.
    pub(super) fn send_due(&mut self, handle: u32) {
        let flow = &mut self.flows[handle];
        let (key, source) = (flow.key(handle), flow.source);
        let Ends::Ndp { sender, .. } = &mut flow.ends else { return };
        let host = &mut self.hosts[source as usize];
        let Port::Ndp(levels) = &mut host.port else { return };
        while let Some((number, is_again)) = sender.send() {
            let is_last = !is_again && number + 1 == sender.frames;
            let bytes = self.frame;
            let piece = Piece { number, index: number, bytes, asks: false, is_again, target: 0, is_last };
            flow.underway += 1;
            let entropy = flow.balancer.next(u64::MAX);
            levels.push(false, key, Item::Piece { flow: handle, piece, entropy });
        }
        self.touched.push(source);
    }
}
