//! Timers of hosts, and the end of connections.

use std::cmp::Reverse;

use super::balancer::Fate;
use super::{Ends, Flow, NDP_PULL, Said, Spray, Stuck, Words};

impl Spray {
    /// Schedules a check after a long silence for a connection that is not complete and has nothing outstanding, so
    /// that no time-out would wake it.
    pub(super) fn watch(&mut self, handle: u32, now: u64) {
        let flow = &mut self.flows[handle];
        if let Ends::Uec { sender, .. } = &flow.ends
            && flow.armed == u64::MAX
            && !flow.is_waiting
            && sender.is_silent()
        {
            self.arm_at(handle, now.saturating_add(self.silence));
        }
    }

    /// Wakes a host: handles its time-outs, and lets its pacer send.
    pub(crate) fn wake(&mut self, number: u32, now: u64) {
        let host = &mut self.hosts[number as usize];
        if host.wakes_at <= now {
            host.wakes_at = u64::MAX;
        }
        while let Some(&Reverse((at, handle))) = self.hosts[number as usize].timers.peek() {
            if at > now {
                break;
            }
            self.hosts[number as usize].timers.pop();
            let flow = &mut self.flows[handle];
            if at == flow.armed {
                flow.armed = u64::MAX;
                self.look(handle, now);
            }
            self.done.push(handle);
        }
        let host = &mut self.hosts[number as usize];
        if host.pacer.next_at.is_some_and(|at| at <= now) {
            self.serve(number, now);
        }
        let host = &mut self.hosts[number as usize];
        if host.pulls.next_at.is_some_and(|at| at <= now)
            && let Some((handle, pull)) = host.pulls.expire(now, host.gap)
        {
            let words = Words { said: Said::Pull { given: pull }, entropy: NDP_PULL };
            self.say(handle, number, words, now);
            self.done.push(handle);
        }
        let host = &self.hosts[number as usize];
        let timer = host.timers.peek().map(|Reverse((at, _))| *at);
        let next = timer.into_iter().chain(host.pacer.next_at).chain(host.pulls.next_at).min();
        if let Some(at) = next {
            self.wake_at(number, at);
        }
    }

    /// Checks whether the time-out of a connection has expired.
    pub(super) fn look(&mut self, handle: u32, now: u64) {
        let flow = &mut self.flows[handle];
        let (source, kind) = (flow.source, self.hosts[flow.source as usize].kind);
        let of = &self.kinds[kind];
        if let Ends::Own(own) = &mut flow.ends {
            if !flow.is_over && own.deadline() <= now {
                self.timeouts += 1;
                flow.balancer.learn(0, Fate::TimedOut, now, self.trims);
                own.expired(now);
                self.ask(handle, now);
            }
            return self.arm(handle);
        }
        let Ends::Uec { sender, .. } = &mut flow.ends else { return };
        if sender.is_over {
            return;
        }
        let deadline = sender.deadline(of);
        if deadline == u64::MAX {
            let end = flow.heard.saturating_add(self.silence);
            return if end > now { self.arm_at(handle, end) } else { self.end_silence(handle, now) };
        }
        if deadline > now {
            return self.arm(handle);
        }
        self.timeouts += 1;
        flow.balancer.learn(0, Fate::TimedOut, now, self.trims);
        let Some(expired) = sender.timed_out(of) else { return };
        if sender.may_repeat(of) {
            self.ask(handle, now);
        }
        let flow = &mut self.flows[handle];
        let Ends::Uec { sender, .. } = &mut flow.ends else { return };
        let of = &self.kinds[kind];
        if sender.must_request(expired, of)
            && let Some(number) = sender.request(now, of)
        {
            let words = Words { said: Said::Request { number }, entropy: 0 };
            self.say(handle, source, words, now);
        }
        self.arm(handle);
        self.watch(handle, now);
    }

    /// Sends a request again after a long silence: a request, a pull or an acknowledgement was lost.
    pub(super) fn end_silence(&mut self, handle: u32, now: u64) {
        let flow = &mut self.flows[handle];
        let source = flow.source;
        let of = &self.kinds[self.hosts[source as usize].kind];
        let Ends::Uec { sender, .. } = &mut flow.ends else { return };
        if flow.is_waiting {
            return self.arm_at(handle, now.saturating_add(self.silence));
        }
        let number = sender.lost_request(now).or_else(|| sender.request(now, of));
        if let Some(number) = number {
            self.timeouts += 1;
            let words = Words { said: Said::Request { number }, entropy: 0 };
            self.say(handle, source, words, now);
        }
        self.arm_at(handle, now.saturating_add(self.silence));
    }

    /// A frame or timer of a connection is finished. Returns the message if the connection is released with it.
    pub(crate) fn ended(&mut self, handle: u32) -> Option<u32> {
        let flow = &mut self.flows[handle];
        flow.underway -= 1;
        if !flow.is_over || flow.underway > 0 || flow.credit.listed > 0 {
            return None;
        }
        let message = flow.message;
        flow.is_live = false;
        self.flows.release(handle);
        Some(message)
    }

    /// A frame of a connection was lost at a port.
    pub(crate) fn lost_at(&mut self, handle: u32, port: u32) {
        self.flows[handle].lost_at = port;
    }

    /// Takes the connections that still wait when no event is left: NDP has no time-out, and a transport from outside
    /// may have none, so a lost frame blocks them for good.
    pub(crate) fn take_stuck(&mut self) -> Vec<Stuck> {
        let mut stuck = Vec::new();
        for handle in 0..self.begun {
            let flow = &mut self.flows[handle];
            if !flow.is_live || flow.is_over {
                continue;
            }
            let missing = match &flow.ends {
                Ends::Ndp { sender, receiver, .. } => {
                    let missing = (0..sender.frames).filter(|&number| !receiver.has(number));
                    missing.map(|number| (number, sender.is_unsent(number))).collect()
                }
                Ends::Own(own) => own.missing(),
                // Its time-outs never end.
                Ends::Uec { .. } => continue,
            };
            let Flow { message, source, destination, lost_at, .. } = *flow;
            stuck.push(Stuck { message, source, destination, lost_at, missing });
            (flow.is_over, flow.is_live) = (true, false);
            self.flows.release(handle);
        }
        stuck
    }

    /// \[ps\] How long nothing must have moved before connections are [given up](Self::take_stuck).
    pub(crate) const fn patience(&self) -> u64 {
        self.silence
    }
}
