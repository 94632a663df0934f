//! A transport from outside, for tests: a window of frames that are acknowledged one by one.

use fsin_ethernet::transport::{Answered, Arrived, Connection, Connections, Opened};

/// What the sender knows of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Due,
    /// \[ps\] Sent at that time.
    Out(u64),
    Done,
}

/// A window that marks halve and answers widen.
#[derive(Debug)]
struct Windowed {
    of: Opened,
    window: usize,
    has_time_out: bool,
    states: Vec<State>,
}

impl Windowed {
    fn out(&self) -> impl Iterator<Item = u64> {
        self.states.iter().filter_map(|state| if let State::Out(at) = state { Some(*at) } else { None })
    }
}

impl Connection for Windowed {
    fn next(&self) -> Option<u32> {
        let due = self.states.iter().position(|&state| state == State::Due);
        // A number that no frame has, where nothing may be sent.
        Some(due.filter(|_| self.out().count() < self.window).map_or(self.of.frames + 7, |number| number as u32))
    }

    fn sent(&mut self, now: u64, number: u32) {
        self.states[number as usize] = State::Out(now);
    }

    fn arrived(&mut self, of: &Arrived) -> Option<u64> {
        Some(u64::from(of.number) << 1 | u64::from(of.is_trimmed))
    }

    fn answered(&mut self, of: &Answered) -> bool {
        let state = &mut self.states[(of.answer >> 1) as usize];
        *state = match (*state, of.answer & 1 == 1) {
            (State::Done, _) | (_, false) => State::Done,
            (_, true) => State::Due,
        };
        self.window = if of.is_marked { (self.window / 2).max(1) } else { self.window + 1 };
        // Too early by half: it counts for nothing before all have arrived.
        2 * self.states.iter().filter(|&&state| state == State::Done).count() >= self.states.len()
    }

    fn deadline(&self) -> Option<u64> {
        self.out().min().filter(|_| self.has_time_out).map(|at| at + self.of.time_out)
    }

    fn expired(&mut self, now: u64) {
        for state in &mut self.states {
            if let State::Out(at) = *state
                && at + self.of.time_out <= now
            {
                *state = State::Due;
            }
        }
    }
}

/// Connections that begin with a window of so many frames.
pub(crate) fn connections(window: usize, has_time_out: bool) -> Connections {
    Connections::new(move |of| {
        let states = vec![State::Due; of.frames as usize];
        Box::new(Windowed { of: *of, window, has_time_out, states })
    })
}
