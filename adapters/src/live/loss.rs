//! Lost guests: how a loss is detected, and what follows from it.
//!
//! A guest is lost if its connection closes, if it does not answer in time, or if it breaks the protocol.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use trgen::{Next, SourceError};

use super::rules::LostGuest;
use super::state::State;
use super::{CHECK_INTERVAL, Live};
use crate::codec::CodecError;
use crate::protocol::{Code, Frame, Malformed};
use crate::stream::{self, Broken};

/// Interval at which a frozen run checks whether to end.
const FROZEN: Duration = Duration::from_millis(200);

/// Why a guest is lost.
#[derive(Debug)]
pub(super) struct Loss {
    /// The code that is sent to the guest.
    pub(super) code: Code,
    /// What happened, and what the user can do about it.
    pub(super) what: String,
    /// The index of the connection that failed, and its last input, which is not in the wire log yet.
    pub(super) last_input: Option<(usize, Input)>,
}

/// Input from a guest.
#[derive(Debug)]
pub(super) enum Input {
    /// A frame.
    Frame(Box<Frame>),
    /// Bytes that are not a frame, with the reason.
    Malformed(String),
}

impl Loss {
    pub(super) fn new(code: Code, what: impl Into<String>) -> Self {
        Self { code, what: what.into(), last_input: None }
    }

    /// Adds the last input of the guest.
    pub(super) fn with_last_input(self, link: usize, input: Input) -> Self {
        Self { last_input: Some((link, input)), ..self }
    }

    /// Corrects the index of the connection on which the last input was received.
    pub(super) fn on_connection(self, link: usize) -> Self {
        Self { last_input: self.last_input.map(|(_, input)| (link, input)), ..self }
    }
}

impl From<Broken> for Loss {
    fn from(broken: Broken) -> Self {
        let (code, remedy) = match &broken {
            Broken::Codec(error) => {
                let what = match error {
                    CodecError::Malformed(Malformed::Carries { .. }) => format!("{error}; correct the guest"),
                    _ => format!("{broken}; correct the guest, or use one of the same protocol version"),
                };
                return Self::new(Code::Malformed, what).with_last_input(0, Input::Malformed(error.to_string()));
            }
            Broken::Closed | Broken::Io(_) => (Code::Run, "see what the guest itself says of its end"),
            Broken::Stalled(_) => (Code::Stalled, "see what it is doing, or give it more time with --stall"),
            Broken::SlowReader(_) => (Code::Stalled, "let it read, or give it more time with --stall"),
            Broken::Trickle(_) => (Code::Stalled, "let it read, or give it more time with --guest-limit"),
            Broken::Held(_) => {
                (Code::Stalled, "let it end its turn at a later time, or give it more time with --guest-limit")
            }
            Broken::Interrupted => (Code::Run, "start it again"),
        };
        Self::new(code, format!("{broken}; {remedy}"))
    }
}

impl Live {
    /// Detects guests that have closed a connection while they must be silent, or while they have a turn that nobody
    /// awaits, such as one until a far time at which they are busy; and handles their loss. `awaited` is the guest whose
    /// turn the caller awaits, and whose input it reads. Does nothing if the last check was less than [`CHECK_INTERVAL`] ago.
    ///
    /// # Errors
    /// If a loss ends the run.
    pub(super) fn lose_closed_connections(&mut self, awaited: Option<usize>) -> Result<(), SourceError> {
        if self.last_check.elapsed() < CHECK_INTERVAL {
            return Ok(());
        }
        self.last_check = Instant::now();
        let silent = self.guests.iter().enumerate().filter(|(_, guest)| guest.is_stopped());
        let (owners, links): (Vec<usize>, Vec<&stream::Link>) =
            silent.flat_map(|(index, guest)| guest.all_links().map(move |link| (index, link))).unzip();
        let mut dead: Vec<usize> = owners
            .into_iter()
            .zip(stream::closed(links.into_iter()))
            .filter_map(|(index, closed)| closed.then_some(index))
            .collect();
        // The connections of a guest are adjacent: its index occurs once for each of them that is closed.
        dead.dedup();
        let gone = self.closed_during_turns(awaited);
        for &index in &gone {
            self.finish_input(index)?;
        }
        for &index in &dead {
            // Its last input may explain the loss.
            let loss = self.guests[index].check().err().unwrap_or_else(|| Broken::Closed.into());
            self.lose(index, &loss)?;
        }
        if !dead.is_empty() || !gone.is_empty() {
            self.plan();
        }
        Ok(())
    }

    /// The guests that have the turn, and have closed their connections. Not `awaited`, nor those of a run without a central order,
    /// which awaits all.
    fn closed_during_turns(&self, awaited: Option<usize>) -> Vec<usize> {
        let runs = |index: usize| {
            let is_running = matches!(self.guests[index].state, State::Running { .. });
            Some(index) != awaited && self.sync.is_none() && is_running
        };
        let (owners, links): (Vec<usize>, Vec<&stream::Link>) = (0..self.guests.len())
            .filter(|&index| runs(index))
            .map(|index| (index, self.guests[index].own_link()))
            .unzip();
        let closed = stream::closed(links.into_iter());
        owners.into_iter().zip(closed).filter_map(|(index, closed)| closed.then_some(index)).collect()
    }

    /// Processes the last input of a guest that has the turn and has closed its connection: it has said goodbye, or is lost.
    ///
    /// # Errors
    /// If the loss ends the run.
    fn finish_input(&mut self, index: usize) -> Result<(), SourceError> {
        while matches!(self.guests[index].state, State::Running { .. }) {
            let next = self.guests[index].link().next_if_there().map_err(Loss::from);
            match next.and_then(|frame| frame.map(|frame| self.process_frame(index, frame)).transpose()) {
                Ok(None) => return Ok(()),
                Ok(Some(_)) => {}
                Err(loss) => return self.lose(index, &loss),
            }
        }
        Ok(())
    }

    /// Detects guests that have died while all guests wait for messages and none is in flight, and handles their loss.
    /// Does nothing in any other situation.
    ///
    /// # Errors
    /// If a loss ends the run.
    pub(super) fn lose_dead_while_waiting(&mut self) -> Result<(), SourceError> {
        while self.due == Next::Waiting && self.hub.is_empty() {
            let dead = (0..self.guests.len()).find_map(|index| {
                let guest = &mut self.guests[index];
                let loss = if guest.is_connected() { guest.check().err() } else { None };
                loss.map(|loss| (index, loss))
            });
            let Some((index, loss)) = dead else { return Ok(()) };
            self.lose(index, &loss)?;
            self.plan();
        }
        Ok(())
    }

    /// Handles the loss of a guest: ends its connections, and follows the policy [`LostGuest`].
    ///
    /// # Errors
    /// If the loss ends the run.
    pub(super) fn lose(&mut self, index: usize, loss: &Loss) -> Result<(), SourceError> {
        if !self.guests[index].is_connected() {
            // It was found to be gone while another guest was awaited.
            return Ok(());
        }
        let what = format!("{}: {}", self.guests[index].describe(), loss.what);
        let interrupted = self.rules.stop.load(Ordering::Relaxed);
        let text = if interrupted { "the run was interrupted" } else { &loss.what };
        if let Some((link, input)) = &loss.last_input {
            self.log_last_input(index, *link, input);
        }
        self.end_connections(index, loss.code, text);
        self.guests[index].state = State::Lost { why: loss.what.clone() };
        self.hub.drop_inbox(index);
        if let Some(pace) = &mut self.pace {
            // By the wall clock it has not sent yet what it has sent in advance.
            self.hub.drop_later(index, pace.now());
        }
        match self.rules.lost {
            _ if interrupted => {}
            LostGuest::Abort => {}
            LostGuest::DropNode => {
                (self.tell)(format!("lost {what}; the run goes on without it"));
                return Ok(());
            }
            LostGuest::Freeze => {
                (self.tell)(format!("lost {what}; the run stands still until it is interrupted"));
                while !self.rules.stop.load(Ordering::Relaxed) {
                    thread::sleep(FROZEN);
                }
            }
        }
        self.close(&format!("the run has ended because of {what}"));
        Err(SourceError::of_run(what))
    }

    /// Writes the last input from a lost guest to the wire log.
    fn log_last_input(&mut self, index: usize, link: usize, input: &Input) {
        match input {
            Input::Frame(frame) => self.log('<', index, link, frame.endpoint, frame.time, &frame.body),
            Input::Malformed(why) => {
                if let Some(log) = &mut self.wire_log
                    && self.unwritten.is_none()
                {
                    let guest = &self.guests[index];
                    self.unwritten = log.malformed(guest.name_of(link), guest.time, why).err();
                }
            }
        }
    }
}
