//! Hosts whose connections spray frames over paths.

use fsin_core::messages::{Payload, Underway};
use fsin_core::network::Notices;
use trgen::rng::mix2;

use super::{Hosts, Load, Unit};
use crate::rules::frame::{CONTROL, Frame, Trimmed};
use crate::rules::spray::{Item, Piece, Said, Stuck};

impl Hosts {
    /// Collects the results of connections that spray: hosts that may send, wake-ups, and connections that have ended.
    #[inline]
    pub(super) fn take_of_spray(&mut self) {
        let Some(spray) = &mut self.spray else { return };
        if !spray.touched.is_empty() {
            self.ready.append(&mut spray.touched);
        }
        if !spray.wakes.is_empty() {
            self.wakes.append(&mut spray.wakes);
        }
        while let Some(flow) = spray.done.pop() {
            if let Some(message) = spray.ended(flow) {
                self.messages.let_go(message);
            }
        }
    }

    /// [`next`](Self::next) of connections that spray.
    pub(super) fn next_of_spray(&mut self, number: u32, now: u64) -> Option<(Frame, u64)> {
        let spray = self.spray.as_mut()?;
        let next = spray.next(number, now);
        let Some((item, bytes)) = next else {
            self.take_of_spray();
            return None;
        };
        let key = mix2(u64::from(number), self.hosts[number as usize].serial);
        self.hosts[number as usize].serial += 1;
        self.totals.frames_sent += 1;
        self.totals.bytes_sent += u64::from(bytes);
        let (load, destination, class, entropy) = match item {
            Item::Piece { flow, piece, entropy } => {
                let of = spray.get(flow);
                if piece.is_again {
                    self.totals.sent_again += 1;
                } else {
                    let Underway { message: whole, offered, .. } = *self.messages.get(of.message);
                    let recorder = &mut self.messages.recorder;
                    recorder.injected(1);
                    recorder.departed(now - offered.0);
                    recorder.short().injected +=
                        Payload(self.params.payload()).short_of(whole.bytes, piece.index.into());
                    if piece.is_last {
                        self.hosts[number as usize].ending = Some(of.message);
                    }
                }
                let more = piece.target << 2 | u64::from(piece.is_again) << 1 | u64::from(piece.asks);
                let load = Load::Piece { flow, index: piece.index, number: piece.number, more };
                (load, of.destination, of.class, entropy)
            }
            Item::Words { flow, words } => {
                let (of, said) = (spray.get(flow), spray.words(words));
                match said.said {
                    Said::Acknowledged(_)
                    | Said::Answer { trimmed: None, .. }
                    | Said::Own { trimmed: Trimmed::No, .. } => self.totals.acknowledgements += 1,
                    Said::Trimmed { .. } | Said::Answer { .. } | Said::Own { .. } => {
                        self.totals.negative_acknowledgements += 1;
                    }
                    Said::Pull { .. } => self.totals.pulls += 1,
                    Said::Request { .. } => self.totals.requests += 1,
                }
                let to = if of.source == number { of.destination } else { of.source };
                (Load::Words { flow, words }, to, CONTROL, said.entropy)
            }
        };
        self.take_of_spray();
        let changes = self.changes;
        let unit = self.units.store(Unit { load, key, copies: 1, is_received: false, losses: 0, changes });
        let is_data = matches!(load, Load::Piece { .. });
        let frame = Frame {
            unit,
            bytes: bytes as u16,
            entropy,
            class,
            takes_marks: is_data,
            ..Frame::between(number, destination)
        };
        Some((frame, key))
    }

    /// Handles a data frame, whole or trimmed, of a connection that sprays. `numbers` are its index among the data
    /// frames and its sequence number.
    pub(super) fn piece(
        &mut self,
        flow: u32,
        numbers: [u32; 2],
        more: u64,
        frame: &Frame,
        now: u64,
        notices: &mut Notices,
    ) {
        let Some(spray) = &mut self.spray else { return };
        let [index, number] = numbers;
        let piece = Piece {
            number,
            index,
            bytes: 0,
            asks: more & 1 == 1,
            is_again: more >> 1 & 1 == 1,
            target: more >> 2,
            is_last: false,
        };
        let message = spray.get(flow).message;
        let outcome = spray.data(flow, &piece, frame.entropy, (frame.is_marked, frame.trimmed), now);
        self.take_of_spray();
        if outcome.is_new {
            if self.receive(message, index.into(), frame, now) {
                self.deliver(message, now, notices);
            }
        } else if frame.trimmed == Trimmed::No {
            self.totals.duplicates += 1;
        }
    }

    /// A frame is lost at a port for good.
    pub(crate) fn lost_at(&mut self, unit: u32, port: usize) {
        if let (Load::Piece { flow, .. } | Load::Words { flow, .. }, Some(spray)) =
            (self.units[unit].load, &mut self.spray)
        {
            spray.lost_at(flow, port as u32);
        }
    }

    /// \[ps\] When connections that wait for what will never come are given up, if nothing happens before. It depends
    /// on frames alone, and not on the events by which an engine finds out that nothing is left; `None` if there are no
    /// such connections.
    pub(crate) fn gives_up_at(&self) -> Option<u64> {
        self.spray.as_ref().map(|spray| self.last_ended.saturating_add(spray.patience()))
    }

    /// Gives up connections that still wait when no event is left, and counts their messages as lost. Returns whether
    /// there were any.
    #[cold]
    pub(crate) fn abandon(&mut self, notices: &mut Notices) -> bool {
        let Some(spray) = &mut self.spray else { return false };
        let stuck = spray.take_stuck();
        for Stuck { message, missing, .. } in &stuck {
            let bytes = self.messages.get(*message).message.bytes;
            for &(number, is_unsent) in missing {
                let short = self.payload().short_of(bytes, number.into());
                if is_unsent {
                    self.messages.recorder.injected(1);
                    self.messages.recorder.short().injected += short;
                }
                self.totals.messages_lost += u64::from(self.messages.lose(*message, short, notices));
            }
            if missing.iter().any(|(_, is_unsent)| *is_unsent) {
                self.messages.sent(*message, notices);
            }
            if missing.is_empty() && self.params.is_acked {
                self.messages.never_acknowledged();
            }
            self.messages.let_go(*message);
        }
        let is_any = !stuck.is_empty();
        self.stuck.extend(stuck);
        is_any
    }
}
