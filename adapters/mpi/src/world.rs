//! The state of this rank: its clock, its connection to the network, and the objects of the program.
//!
//! There is one [`World`], which `entry` gives to each call. Everything in the library gets it as an argument. Functions
//! of the program run inside `World::lend`, where no borrow of the state is alive: such a function may call the library
//! again.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use adapters::guest::{Config, Guest, GuestError, Lifeline};

use crate::caching::Keyval;
use crate::caller::{Caller, Others};
use crate::communicator::{Comms, Errhandler, Groups};
use crate::datatype::Types;
use crate::describe;
use crate::engine::mail::Mail;
use crate::engine::requests::Requests;
use crate::error::Outcome;
use crate::file::Files;
use crate::host;
use crate::objects;
use crate::operation::{self, Op, Terms};
use crate::report::{self, Log, Statistics, Summary};
use crate::settings::Settings;
use crate::shared::Shared;
use crate::spans::{self, Doing, Spans};
use crate::table::Table;
use crate::window::{Landing, Windows};

/// \[ps\] Virtual time of an unsuccessful test or probe, of `MPI_Win_sync`, and of an end of accesses that has nothing to wait for,
/// so that a program that polls reaches the time of the event.
pub(crate) const POLL: u64 = 100_000;

/// Begins the operation of a persistent request and returns the request of that operation.
pub(crate) type Begin = Rc<dyn Fn(&mut World) -> Outcome<c_int>>;

/// The state of this rank.
pub(crate) struct World {
    pub(crate) settings: Settings,
    /// The connection to the network, between `MPI_Init` and `MPI_Finalize`.
    pub(crate) guest: Option<Guest>,
    /// True once `MPI_Init` has been called; below, the same of `MPI_Finalize`.
    pub(crate) initialized: bool,
    pub(crate) finalized: bool,
    pub(crate) mail: Mail,
    /// Shared memory for data of long messages, if the launcher has made it and this process can open it.
    pub(crate) shared: Option<Shared>,
    // The objects of the program, by handle.
    pub(crate) requests: Requests,
    /// What the persistent requests begin, and the communicators that they hold.
    pub(crate) begins: BTreeMap<c_int, (Begin, c_int)>,
    /// By request of a partitioned send: what sends the message when all parts are ready.
    pub(crate) whole: BTreeMap<c_int, Begin>,
    pub(crate) comms: Comms,
    pub(crate) groups: Groups,
    pub(crate) types: Types,
    pub(crate) windows: Windows,
    pub(crate) files: Files,
    /// The sessions, with their error handlers, and whether MPI was initialized by one.
    pub(crate) sessions: Table<c_int>,
    pub(crate) is_by_session: bool,
    /// Number of communicators made of groups, by a hash of these.
    pub(crate) made_of_groups: BTreeMap<u64, u64>,
    /// Answers of targets that are expected, by their numbers.
    pub(crate) answers: BTreeMap<u64, Landing>,
    pub(crate) ops: Table<Op>,
    pub(crate) errhandlers: Table<Errhandler>,
    pub(crate) keyvals: Table<Keyval>,
    /// Error classes and codes of the program: the class, and the description.
    pub(crate) errors: Vec<(c_int, String)>,
    pub(crate) infos: Table<BTreeMap<String, String>>,
    pub(crate) statistics: Statistics,
    /// The recording, if there is one.
    pub(crate) log: Option<Log>,
    /// The timeline, if there is one.
    pub(crate) spans: Option<Spans>,
    /// What belongs to the thread that has the turn.
    pub(crate) caller: Caller,
    pub(crate) others: Others,
    /// \[ps\] The clock once the rank has left the network.
    ended: u64,
    /// Address and size \[bytes\] of the buffer of `MPI_Buffer_attach`, which is not used.
    pub(crate) buffer: (usize, i64),
    /// Number of readings of clocks since the last call.
    pub(crate) readings: u64,
    /// Values of predefined attributes, to which the program has pointers.
    pub(crate) predefined: BTreeMap<c_int, Box<c_int>>,
}

static HAS_LEFT: AtomicBool = AtomicBool::new(false);

/// True once the rank leaves the network.
pub(crate) fn has_left() -> bool {
    HAS_LEFT.load(Ordering::SeqCst)
}

impl World {
    /// The state at the beginning.
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            guest: None,
            initialized: false,
            finalized: false,
            mail: Mail::new(settings.size),
            shared: None,
            requests: Requests::new(),
            begins: BTreeMap::new(),
            whole: BTreeMap::new(),
            comms: Comms::new(settings.rank, settings.size),
            groups: Groups::new(),
            types: Types::new(),
            windows: Windows::new(),
            files: Files::new(),
            sessions: Table::new(0xb800_0000, 1),
            is_by_session: false,
            made_of_groups: BTreeMap::new(),
            answers: BTreeMap::new(),
            ops: Table::new(0x9800_0000, 1),
            errhandlers: Table::new(0x9400_0000, 1),
            keyvals: Table::new(0xa400_0000, 1),
            errors: Vec::new(),
            infos: Table::new(0x9c00_0000, 1),
            statistics: Statistics::default(),
            log: None,
            spans: None,
            caller: Caller::default(),
            others: Others::new(),
            ended: 0,
            buffer: (0, 0),
            readings: 0,
            predefined: BTreeMap::new(),
            settings,
        }
    }

    /// `right` becomes `left` combined with it, by an operation that may be a function of the program.
    pub(crate) fn combine(&mut self, terms: &Terms, left: &[u8], right: &mut [u8]) {
        if operation::predefined(terms, left, right) {
            return;
        }
        if let Some(op) = terms.function {
            let (handle, is_new) = self.types.handle_of(&terms.ty, terms.handle);
            // SAFETY: the program has given this function with `MPI_Op_create`; nothing is borrowed inside `lend`.
            self.lend(|| unsafe { op.call(terms, handle, left, right) });
            if is_new {
                let _ = self.types.remove(handle);
            }
        }
    }

    /// The error handler of a communicator, window, file or session; `None` if the handle is none of these.
    pub(crate) fn errhandler(&self, handle: c_int) -> Option<c_int> {
        let window = || self.windows.get(handle).map(|window| window.errhandler);
        let file = || self.files.errhandler(handle);
        self.comms
            .get(handle)
            .map(|comm| comm.errhandler)
            .or_else(|_| window())
            .ok()
            .or_else(file)
            .or_else(|| self.sessions.get(handle).copied())
    }

    /// Connects to the endpoint and waits until virtual time begins. Returns the means to notice the end of the network, if that
    /// has launched this process.
    pub(crate) fn connect(&mut self) -> Option<Lifeline> {
        if let Some(library) = objects::open_mpi() {
            self.end(
                &format!("this program is linked with Open MPI ({library}): compile it with MPICH (mpicc.mpich)"),
                1,
            );
        }
        let Some(address) = &self.settings.address else {
            self.end("this program runs on a simulated network: start it with `fsin mpirun`", 1);
        };
        let rank = self.settings.rank;
        let config = Config { patience: self.settings.patience, ..Config::new(format!("rank {rank}"), rank as u32) };
        let config = Config { token: self.settings.token.take(), ..config };
        let is_launched = config.token.is_some();
        let config = if self.settings.realtime { config.realtime() } else { config };
        let guest = Guest::connect(address, &config);
        let mut guest =
            guest.unwrap_or_else(|failure| self.end(&format!("cannot join the simulated network: {failure}"), 1));
        // Waits until all ranks have connected.
        if let Err(failure) = guest.until() {
            self.lost(&failure);
        }
        self.shared = self.settings.shared.as_ref().and_then(|location| Shared::open(location, rank));
        let lifeline = guest.lifeline().ok().filter(|_| is_launched);
        self.guest = Some(guest);
        if let (true, Some(folder)) = (self.settings.records, &self.settings.folder) {
            match Log::create(&folder.join(format!("events.{rank}"))) {
                Ok(log) => self.log = Some(log),
                Err(failure) => self.end(&format!("cannot record: {failure}"), 1),
            }
        }
        if let (true, Some(folder)) = (self.settings.has_timeline, &self.settings.folder) {
            match Spans::create(&folder.join(format!("spans.{rank}"))) {
                Ok(spans) => self.spans = Some(spans),
                Err(failure) => self.end(&format!("cannot keep its timeline: {failure}"), 1),
            }
        }
        self.begin_computing();
        lifeline
    }

    /// \[ps\] The clock of this rank. After finalization it stands, except for readings.
    pub(crate) fn now(&self) -> u64 {
        self.guest.as_ref().map_or(self.ended, |guest| guest.now())
    }

    /// Ends the connection of the guest. From now on the clock stands.
    pub(crate) fn take_guest(&mut self) -> Option<Guest> {
        self.ended = self.now();
        HAS_LEFT.store(true, Ordering::SeqCst);
        self.guest.take()
    }

    /// Advances the clock by the short time \[ps\] of a test, a probe or the reading of a clock. In real time the clock
    /// advances by itself.
    pub(crate) fn pay(&mut self, time: u64) {
        if !self.settings.realtime {
            self.spend(time);
        }
    }

    /// Advances the clock by time \[ps\] that the only thread of the program spends on something other than waiting.
    pub(crate) fn advance(&mut self, time: u64) {
        let Some(guest) = &mut self.guest else {
            self.ended += time;
            return;
        };
        if time == 0 {
            return;
        }
        let begin = guest.last();
        let advanced = guest.advance(time);
        // In real time it may have taken longer.
        let time = guest.last() - begin;
        self.computed(begin, time);
        if let Some(log) = &mut self.log {
            log.compute(time);
        }
        if let Err(failure) = advanced {
            self.lost(&failure);
        }
    }

    /// Accounts for computing of `time` from `begin` on \[ps\].
    pub(crate) fn computed(&mut self, begin: u64, time: u64) {
        self.statistics.computing += time;
        self.span(Doing::Computing, begin, begin.saturating_add(time));
    }

    /// Adds a span of time \[ps\] to the timeline, if there is one.
    pub(crate) fn span(&mut self, doing: Doing, begin: u64, end: u64) {
        if let Some(spans) = &mut self.spans {
            spans.add(doing, begin, end);
        }
    }

    /// The number of the last operation in the log, if there is one.
    pub(crate) fn last_logged(&self) -> Option<u32> {
        self.log.as_ref().map(|log| log.last)
    }

    /// Records the end of the wait for an operation, by its number in the log.
    pub(crate) fn log_wait(&mut self, number: Option<u32>) {
        if let (Some(number), Some(log)) = (number, &mut self.log) {
            log.wait(number);
        }
    }

    /// Ends the program with a message.
    pub(crate) fn end(&mut self, text: &str, code: c_int) -> ! {
        let line = format!("rank {}: {text}", self.settings.rank);
        host::say(&line);
        self.statistics.failure = Some(line);
        self.exit(text, code)
    }

    /// Ends the program because the connection to the network is lost.
    pub(crate) fn lost(&mut self, failure: &GuestError) -> ! {
        let text = failure.to_string();
        if !matches!(failure, GuestError::Refused { .. }) {
            self.end(&text, 1);
        }
        // The launcher reports why the simulation ended. The report says what this rank waits for, which may explain it.
        self.statistics.ended_by_run = true;
        drop(self.take_guest());
        self.exit(&text, 1)
    }

    /// Writes the files that the launcher reads.
    ///
    /// # Errors
    /// The report or the recording cannot be written.
    pub(crate) fn report(&mut self) -> io::Result<()> {
        let Some(folder) = &self.settings.folder else { return Ok(()) };
        let rank = self.settings.rank;
        let recorded = report::end_recording(folder, self.log.as_mut()).and(spans::end(folder, self.spans.as_mut()));
        if let Err(error) = &recorded {
            self.statistics.failure.get_or_insert_with(|| format!("rank {rank}: {error}"));
        }
        let awaits = || {
            let of = |caller: &Caller| describe::awaited(caller.calling, &caller.awaited, &self.comms, &self.requests);
            let all: Vec<String> = self.callers().filter_map(of).collect();
            (!all.is_empty()).then(|| all.join("; another thread, "))
        };
        let summary = Summary {
            rank,
            time: self.now(),
            finalized: self.finalized,
            unreceived: self.mail.unreceived(),
            awaits: self.statistics.ended_by_run.then(awaits).flatten(),
        };
        report::write(folder, &summary, &self.statistics)?;
        recorded
    }

    /// Writes the report, leaves the network and ends the process.
    fn exit(&mut self, text: &str, code: c_int) -> ! {
        let mut text = text.to_owned();
        if let Err(failure) = self.report()
            && !text.contains(&failure.to_string())
        {
            host::say(&format!("rank {}: {failure}", self.settings.rank));
            text = format!("{text}; {failure}");
        }
        if let Some(guest) = self.take_guest() {
            guest.give_up(&text);
        }
        self.finalized = true;
        // Functions of the program that run at the exit may call `MPI_Finalized`. The turn stays here: calls of other threads have
        // ended.
        self.call_out(|| std::process::exit(code))
    }
}

#[cfg(test)]
mod tests;
