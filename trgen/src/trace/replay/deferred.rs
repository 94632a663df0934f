//! Sends that wait for requests while their task goes on ([`Event::After`](crate::trace::program::Event::After)).

use super::Replay;
use super::requests::Requests;
use crate::hashing::Table;
use crate::source::Outbox;
use crate::trace::program::{Request, Send};
use crate::units::Cycle;

/// A non-blocking send that has not begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Deferred {
    pub(super) send: Send,
    pub(super) request: Request,
    /// The event that sends it, from 1.
    pub(super) event: usize,
}

/// Sends that wait for the same requests.
#[derive(Clone, Debug)]
struct Group {
    /// Number of requests that have not completed.
    open: usize,
    sends: Vec<Deferred>,
}

/// The deferred sends of a task.
#[derive(Clone, Default, Debug)]
pub(super) struct Deferrals {
    /// The requests that sends wait for from now on.
    after: Box<[Request]>,
    /// The group of the last send that waits for these, if there is one.
    last: Option<u32>,
    groups: Vec<Group>,
    /// Numbers of groups that are not in use.
    vacant: Vec<u32>,
    /// By request: the groups that wait for it.
    waiting: Table<Request, Vec<u32>>,
}

impl Deferrals {
    /// Sends that follow wait for these requests.
    pub(super) fn after(&mut self, requests: Box<[Request]>) {
        (self.after, self.last) = (requests, None);
    }

    /// Keeps a send until the requests have completed; false if all of them have.
    pub(super) fn defer(&mut self, send: Deferred, requests: &Requests) -> bool {
        if self.after.is_empty() {
            return false;
        }
        if let Some(group) = self.last.and_then(|last| self.groups.get_mut(last as usize)) {
            group.sends.push(send);
            return true;
        }
        let open: Vec<Request> =
            self.after.iter().copied().filter(|&request| requests.outstanding(request).is_some()).collect();
        if open.is_empty() {
            self.after = Box::default();
            return false;
        }
        let group = Group { open: open.len(), sends: vec![send] };
        let number = self.vacant.pop().unwrap_or(self.groups.len() as u32);
        match self.groups.get_mut(number as usize) {
            Some(vacant) => *vacant = group,
            None => self.groups.push(group),
        }
        self.last = Some(number);
        open.into_iter().for_each(|request| self.waiting.entry(request).or_default().push(number));
        true
    }

    /// A request has completed: calls `release` with every send that has waited for it last.
    pub(super) fn complete(&mut self, request: Request, mut release: impl FnMut(Deferred)) {
        if self.waiting.is_empty() {
            return;
        }
        for number in self.waiting.remove(&request).unwrap_or_default() {
            let group = &mut self.groups[number as usize];
            group.open -= 1;
            if group.open > 0 {
                continue;
            }
            group.sends.drain(..).for_each(&mut release);
            self.vacant.push(number);
            if self.last == Some(number) {
                self.after(Box::default());
            }
        }
    }
}

impl Replay {
    /// Begins the deferred sends that are due.
    pub(super) fn send_released(&mut self, now: Cycle, out: &mut Outbox) {
        while let Some((_, id, deferred)) = self.released.pop_front_if(|(due, ..)| *due <= now) {
            let Deferred { send, request, event } = deferred;
            if !self.send(id, &send, (Some(request), event), now, out) {
                self.complete_request(id, request, now);
            }
        }
    }
}
