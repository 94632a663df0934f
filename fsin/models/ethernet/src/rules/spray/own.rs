//! A connection of a transport from outside: its state machine, and what of its frames is counted here.

use super::Said;
use super::ndp::Receiver;
use super::sender::{Constants, Piece};
use crate::rules::frame::Trimmed;
use crate::transport::{Answered, Arrived, Connection, Connections, Opened};

/// A connection.
#[derive(Debug)]
pub(super) struct Own {
    machine: Box<dyn Connection>,
    frames: u32,
    /// \[bytes\] On the wire: a full frame, and the last one.
    sizes: [u32; 2],
    /// By frame: true if it was sent.
    sent: Box<[bool]>,
    /// Number of frames that were never sent.
    pub(super) unsent: u32,
    arrived: Receiver,
    /// \[ps\] When its sender was last told something.
    told: u64,
    is_over: bool,
}

impl Own {
    /// Of a message of `bytes` bytes.
    pub(super) fn new(connections: &Connections, bytes: u64, of: &Constants) -> Self {
        let payload = of.frame - of.header;
        let frames = bytes.div_ceil(payload).max(1);
        let last = bytes - (frames - 1) * payload + of.header;
        let opened = Opened {
            frames: frames as u32,
            frame_bytes: of.frame as u32,
            rate: of.rate,
            round_trip: of.round_trip,
            time_out: of.rto,
        };
        Self {
            machine: connections.open(&opened),
            frames: opened.frames,
            sizes: [of.frame as u32, last as u32],
            sent: vec![false; frames as usize].into(),
            unsent: opened.frames,
            arrived: Receiver::default(),
            told: 0,
            is_over: false,
        }
    }

    /// The connection begins.
    pub(super) const fn begun(&mut self, now: u64) {
        self.told = now;
    }

    /// The next frame, if one may be sent.
    fn next(&self) -> Option<u32> {
        self.machine.next().filter(|&number| number < self.frames && !self.is_over)
    }

    pub(super) fn may_send(&self) -> bool {
        self.next().is_some()
    }

    /// Takes the next frame at time `now`.
    pub(super) fn send(&mut self, now: u64) -> Option<Piece> {
        let number = self.next()?;
        let is_again = std::mem::replace(&mut self.sent[number as usize], true);
        self.unsent -= u32::from(!is_again);
        self.told = now;
        self.machine.sent(now, number);
        let bytes = self.sizes[usize::from(number + 1 == self.frames)];
        let is_last = !is_again && self.unsent == 0;
        Some(Piece { number, index: number, bytes, asks: false, is_again, target: 0, is_last })
    }

    /// Handles a frame that has arrived, or what is left of it. Returns whether it is new, and what is said.
    pub(super) fn arrived(&mut self, number: u32, is_marked: bool, trimmed: Trimmed, now: u64) -> (bool, Option<Said>) {
        let is_trimmed = trimmed != Trimmed::No;
        let is_new = !is_trimmed && self.arrived.receive(number);
        let answer = self.machine.arrived(&Arrived { now, number, is_marked, is_trimmed });
        (is_new, answer.map(|answer| Said::Own { answer, is_marked, trimmed }))
    }

    /// Handles an answer. Returns true if it is the first by which the sender knows that all has arrived, and all has.
    pub(super) fn answered(&mut self, of: &Answered) -> bool {
        if self.is_over {
            return false;
        }
        self.told = of.now;
        self.is_over = self.machine.answered(of) && self.arrived.expected == self.frames;
        self.is_over
    }

    /// \[ps\] When its time-out expires, which is after all that it was told; the greatest number if none does.
    pub(super) fn deadline(&self) -> u64 {
        let of_machine = if self.is_over { None } else { self.machine.deadline() };
        of_machine.map_or(u64::MAX, |at| at.max(self.told + 1))
    }

    pub(super) fn expired(&mut self, now: u64) {
        self.told = now;
        self.machine.expired(now);
    }

    /// Frames that have not arrived, and whether they were never sent.
    pub(super) fn missing(&self) -> Vec<(u32, bool)> {
        let missing = (0..self.frames).filter(|&number| !self.arrived.has(number));
        missing.map(|number| (number, !self.sent[number as usize])).collect()
    }
}
