//! Numbers for the outstanding operations of one task.

use crate::trace::program::Request;

/// Allocates request numbers of one task and reuses those given back, so that numbers stay below the largest number of
/// operations outstanding at once.
#[derive(Clone, Default, Debug)]
pub struct RequestPool {
    /// Numbers that were given back.
    free: Vec<Request>,
    /// All numbers below this one have been handed out at least once.
    used: u32,
}

impl RequestPool {
    /// A pool with all numbers free.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A number that is not in use.
    ///
    /// # Panics
    /// If 2^32 operations are outstanding at once.
    pub fn take(&mut self) -> Request {
        self.free.pop().unwrap_or_else(|| {
            let request = Request(self.used);
            self.used = self.used.checked_add(1).expect("fewer than 2^32 operations are outstanding");
            request
        })
    }

    /// Makes a number free again, once its wait has been written.
    pub fn give_back(&mut self, request: Request) {
        self.free.push(request);
    }

    /// Largest number of requests in use at once.
    #[must_use]
    pub const fn peak(&self) -> u32 {
        self.used
    }
}
