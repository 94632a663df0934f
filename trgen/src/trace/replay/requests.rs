//! Requests of a task: which are outstanding, which have completed, and which the task waits for.
//!
//! Programs number their requests from 0 and reuse the numbers, so the requests of a task are kept in a vector by
//! number. Large numbers, which files may contain, are kept in a hash table.

use super::task::Outstanding;
use crate::hashing::Table;
use crate::trace::program::Request;

/// State of a request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Status {
    /// It does not exist, or its end has been waited for.
    #[default]
    Unknown,
    /// It has not completed.
    Outstanding {
        what: Outstanding,
        /// True if the task waits for it.
        is_awaited: bool,
    },
    /// It has completed, and has not been waited for yet.
    Completed,
}

/// Requests with numbers below this are kept in the vector.
const MOST: u32 = 1 << 16;

/// The requests of a task.
#[derive(Clone, Default, Debug)]
pub(super) struct Requests {
    /// By number.
    few: Vec<Status>,
    /// All others.
    others: Table<Request, Status>,
}

impl Requests {
    fn get(&self, request: Request) -> Status {
        match request.0 < MOST {
            true => self.few.get(request.0 as usize).copied().unwrap_or_default(),
            false => self.others.get(&request).copied().unwrap_or_default(),
        }
    }

    /// Sets the status of a request, and returns the former one.
    fn set(&mut self, request: Request, status: Status) -> Status {
        if request.0 >= MOST {
            return match status {
                Status::Unknown => self.others.remove(&request),
                _ => self.others.insert(request, status),
            }
            .unwrap_or_default();
        }
        let at = request.0 as usize;
        if at >= self.few.len() {
            self.few.resize(at + 1, Status::Unknown);
        }
        std::mem::replace(&mut self.few[at], status)
    }

    /// Records that a request has been started; `over` is true if it has completed already.
    pub(super) fn start(&mut self, request: Request, what: Outstanding, over: bool) {
        let status = if over { Status::Completed } else { Status::Outstanding { what, is_awaited: false } };
        self.set(request, status);
    }

    /// Records that a request has completed. True if the task waits for it: then its end counts as waited for.
    pub(super) fn complete(&mut self, request: Request) -> bool {
        let is_awaited = matches!(self.set(request, Status::Unknown), Status::Outstanding { is_awaited: true, .. });
        if !is_awaited {
            self.set(request, Status::Completed);
        }
        is_awaited
    }

    /// Waits for a request, from now on if it is outstanding. True if it is, and the task did not wait for it before.
    pub(super) fn wait(&mut self, request: Request) -> bool {
        match self.get(request) {
            Status::Outstanding { what, is_awaited } => {
                if !is_awaited {
                    self.set(request, Status::Outstanding { what, is_awaited: true });
                }
                !is_awaited
            }
            Status::Completed => {
                self.set(request, Status::Unknown);
                false
            }
            Status::Unknown => false,
        }
    }

    /// Ends the wait for a request, which stays outstanding.
    pub(super) fn leave(&mut self, request: Request) {
        if let Status::Outstanding { what, is_awaited: true } = self.get(request) {
            self.set(request, Status::Outstanding { what, is_awaited: false });
        }
    }

    /// True if a request has completed and its end has not been waited for.
    pub(super) fn is_completed(&self, request: Request) -> bool {
        self.get(request) == Status::Completed
    }

    /// True if a request has been started and not been waited for.
    pub(super) fn is_known(&self, request: Request) -> bool {
        self.get(request) != Status::Unknown
    }

    /// The operation of a request that is outstanding.
    pub(super) fn outstanding(&self, request: Request) -> Option<Outstanding> {
        match self.get(request) {
            Status::Outstanding { what, .. } => Some(what),
            Status::Unknown | Status::Completed => None,
        }
    }

    /// True if the task waits for a request, which is outstanding.
    pub(super) fn is_awaited(&self, request: Request) -> bool {
        matches!(self.get(request), Status::Outstanding { is_awaited: true, .. })
    }

    /// All requests that have not been waited for, in the order of their numbers: the operation of those that are
    /// outstanding, `None` for those that have completed.
    pub(super) fn all(&self) -> Vec<(Request, Option<Outstanding>)> {
        let few = self.few.iter().zip(0..).map(|(status, number)| (Request(number), status));
        let all = few.chain(self.others.iter().map(|(request, status)| (*request, status)));
        let known = all.filter_map(|(request, status)| match *status {
            Status::Unknown => None,
            Status::Outstanding { what, .. } => Some((request, Some(what))),
            Status::Completed => Some((request, None)),
        });
        let mut known: Vec<_> = known.collect();
        known.sort_unstable_by_key(|(request, _)| *request);
        known
    }

    /// Changes the operations of all requests that are outstanding.
    pub(super) fn change(&mut self, mut each: impl FnMut(&mut Outstanding)) {
        for status in self.few.iter_mut().chain(self.others.values_mut()) {
            if let Status::Outstanding { what, .. } = status {
                each(what);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::program::{Receive, TagFilter};

    fn receive(bytes: u64) -> Outstanding {
        Outstanding::Receive(Receive { from: None, tag: TagFilter::AnyIn(0), bytes })
    }

    #[test]
    fn a_request_is_outstanding_then_completed_then_forgotten() {
        for number in [0, 5, MOST - 1, MOST, u32::MAX] {
            let (mut all, one) = (Requests::default(), Request(number));
            assert!(!all.wait(one) && !all.is_completed(one) && all.all().is_empty());
            all.start(one, receive(7), false);
            assert_eq!((all.outstanding(one), all.is_awaited(one)), (Some(receive(7)), false));
            assert!(all.wait(one) && !all.wait(one) && all.is_awaited(one));
            all.leave(one);
            assert!(!all.complete(one), "no wait for it is in progress");
            assert_eq!(all.all(), [(one, None)]);
            assert!(all.is_completed(one) && !all.wait(one) && !all.is_completed(one));
            all.start(one, receive(8), false);
            assert!(all.wait(one) && all.complete(one) && all.all().is_empty());
            all.start(one, receive(9), true);
            assert!(all.is_completed(one) && all.outstanding(one).is_none());
        }
    }

    #[test]
    fn all_are_in_the_order_of_their_numbers() {
        let mut all = Requests::default();
        for number in [MOST + 9, 3, u32::MAX, 0, MOST - 1] {
            all.start(Request(number), receive(number.into()), number == 3);
        }
        all.change(|what| *what = receive(1));
        let found: Vec<_> = all.all();
        let expected = [(0, Some(receive(1))), (3, None), (MOST - 1, Some(receive(1))), (MOST + 9, Some(receive(1)))];
        assert_eq!(found[..4], expected.map(|(number, what)| (Request(number), what)));
        assert_eq!(found.len(), 5);
    }
}
