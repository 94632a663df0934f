//! Numbers for the outstanding operations of one task.

use crate::trace::program::Request;

/// Hands out request numbers of one task and reuses those given back, so that numbers stay below the largest count of
/// operations outstanding at once.
#[derive(Clone, Default, Debug)]
pub struct RequestPool {
    free: Vec<Request>,
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
    /// When 2^32 operations are outstanding, for which no machine has the memory.
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

    /// Numbers that were in use at once, at most.
    #[must_use]
    pub const fn peak(&self) -> u32 {
        self.used
    }
}
