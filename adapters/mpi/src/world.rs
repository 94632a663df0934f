//! The state of this rank, and how calls enter and leave the library.

use std::cell::{Cell, UnsafeCell};
use std::collections::{BTreeMap, HashMap};
use std::env;
use std::ffi::c_int;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use adapters::address::Address;
use adapters::guest::{Config, Guest, GuestError};
use trgen::trace::collectives::Choice;

use crate::abi::*;
use crate::ahead;
use crate::clock;
use crate::communicator::{Comm, Errhandler, Keyval};
use crate::datatype::Type;
use crate::engine::{Mail, Request};
use crate::objects;
use crate::operation::Op;
use crate::report::{Log, Statistics};

/// \[ps\] Virtual time that an unsuccessful test or probe takes, so that a program that polls reaches the time of the
/// event.
pub(crate) const POLL: u64 = 100_000;

/// The objects of one kind that the program has created, by handle.
#[derive(Debug)]
pub(crate) struct Table<T> {
    /// The upper bits of all handles of the table; the lower bits are the index.
    kind: c_int,
    /// The objects by index; `None` for an index that is not in use.
    all: Vec<Option<T>>,
    /// Indices that can be used again.
    free: Vec<usize>,
}

impl<T> Table<T> {
    /// An empty table of handles of this kind. The first `reserved` indices are never used.
    pub(crate) fn new(kind: u32, reserved: usize) -> Self {
        Self { kind: kind as c_int, all: (0..reserved).map(|_| None).collect(), free: Vec::new() }
    }

    /// Adds an object and returns its handle.
    pub(crate) fn add(&mut self, object: T) -> c_int {
        let index = self.free.pop().unwrap_or_else(|| {
            self.all.push(None);
            self.all.len() - 1
        });
        self.all[index] = Some(object);
        self.kind | index as c_int
    }

    /// The index of a handle; `None` if it is of another kind or predefined.
    fn index(&self, handle: c_int) -> Option<usize> {
        (handle & 0x7c00_0000 == self.kind & 0x7c00_0000 && handle < 0).then_some((handle & 0x03ff_ffff) as usize)
    }

    pub(crate) fn get(&self, handle: c_int) -> Option<&T> {
        self.all.get(self.index(handle)?)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, handle: c_int) -> Option<&mut T> {
        let index = self.index(handle)?;
        self.all.get_mut(index)?.as_mut()
    }

    pub(crate) fn remove(&mut self, handle: c_int) -> Option<T> {
        let index = self.index(handle)?;
        let object = self.all.get_mut(index)?.take()?;
        self.free.push(index);
        Some(object)
    }

    /// Handles in use.
    pub(crate) fn handles(&self) -> Vec<c_int> {
        let used = self.all.iter().enumerate().filter(|(_, object)| object.is_some());
        used.map(|(index, _)| self.kind | index as c_int).collect()
    }
}

/// How long computing takes in virtual time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Compute {
    /// Nothing.
    None,
    /// \[ps\] This much before each call that communicates.
    Fixed(u64),
    /// The processor time that the thread has used, multiplied by this factor.
    Measured(f64),
}

/// The state of this rank.
pub(crate) struct World {
    /// The connection to the network, between `MPI_Init` and `MPI_Finalize`.
    pub(crate) guest: Option<Guest>,
    /// This rank and the number of ranks in `MPI_COMM_WORLD`.
    pub(crate) rank: usize,
    pub(crate) size: usize,
    /// How long computing takes.
    pub(crate) compute: Compute,
    /// \[bytes\] Longest message whose send ends at once.
    pub(crate) buffered: u64,
    /// True if this rank's clock is the wall clock.
    pub(crate) realtime: bool,
    /// True if a wait for named sources may process their messages before earlier ones of other sources.
    pub(crate) deterministic: bool,
    /// The algorithms of the collectives.
    pub(crate) choice: Choice,
    /// True once `MPI_Init` has been called; below, the same of `MPI_Finalize`.
    pub(crate) initialized: bool,
    pub(crate) finalized: bool,
    pub(crate) mail: Mail,
    // The objects of the program, by handle.
    pub(crate) requests: Table<Request>,
    pub(crate) comms: Table<Comm>,
    pub(crate) comm_world: Comm,
    pub(crate) comm_self: Comm,
    pub(crate) groups: Table<Vec<usize>>,
    pub(crate) types: Table<Type>,
    /// The predefined datatypes that have been used.
    pub(crate) builtin: HashMap<c_int, Type>,
    pub(crate) ops: Table<Op>,
    pub(crate) errhandlers: Table<Errhandler>,
    pub(crate) keyvals: Table<Keyval>,
    /// Error classes and codes of the program: the class, and the description.
    pub(crate) errors: Vec<(c_int, String)>,
    pub(crate) infos: Table<BTreeMap<String, String>>,
    pub(crate) statistics: Statistics,
    /// The recording, if there is one.
    pub(crate) log: Option<Log>,
    /// The folder of the files that the launcher reads at the end.
    pub(crate) folder: Option<PathBuf>,
    /// Name of the call that the program is making or made last.
    pub(crate) calling: &'static str,
    /// True if the computing before the current call has been added to the clock.
    charged: bool,
    /// \[ps\] The clock once the rank has left the network.
    ended: u64,
    /// \[ps\] Processor time when the last call ended.
    pub(crate) left: u64,
    /// \[ps\] Processor time used by the program and not charged yet.
    pub(crate) used: u64,
    /// Address and size \[bytes\] of the buffer of `MPI_Buffer_attach`, which is not used.
    pub(crate) buffer: (usize, i64),
    /// Values of predefined attributes, to which the program has pointers.
    pub(crate) predefined: BTreeMap<c_int, Box<c_int>>,
}

/// The type of [`WORLD`], which can be shared between threads.
struct Global(UnsafeCell<Option<Box<World>>>);
// SAFETY: MPI_THREAD_FUNNELED: only the thread that initialized MPI makes calls; `ahead` excludes them while its own
// thread uses the state.
unsafe impl Sync for Global {}
/// The state of this rank, once the first call has been made.
static WORLD: Global = Global(UnsafeCell::new(None));

thread_local! {
    /// Number of nested calls into the library: a callback of the program can call the library again.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// True while this thread executes the library.
pub(crate) fn is_inside() -> bool {
    DEPTH.with(|depth| depth.get() > 0)
}

/// Runs `work` as part of the library, to which clocks show the time of the host.
pub(crate) fn inside<T>(work: impl FnOnce() -> T) -> T {
    DEPTH.with(|depth| depth.set(depth.get() + 1));
    let result = work();
    DEPTH.with(|depth| depth.set(depth.get() - 1));
    result
}

/// True once the first call has been made.
pub(crate) fn exists() -> bool {
    // SAFETY: as for `Global`.
    unsafe { (*WORLD.0.get()).is_some() }
}

/// The state of this rank. The reference must not be kept while code of the program runs.
pub(crate) fn w() -> &'static mut World {
    // SAFETY: as for `Global`; references do not outlive the statement, or at least no callback.
    unsafe { (*WORLD.0.get()).get_or_insert_with(|| Box::new(World::new())) }
}

/// An error of MPI: its class, its description, and the communicator whose error handler is called.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) class: c_int,
    pub(crate) text: String,
    pub(crate) comm: c_int,
}

/// The result of a call.
pub(crate) type Outcome<T = ()> = Result<T, Error>;

/// An error without a communicator.
pub(crate) fn error<T>(class: c_int, text: impl Into<String>) -> Outcome<T> {
    Err(Error { class, text: text.into(), comm: COMM_WORLD })
}

impl World {
    /// The initial state, by the environment variables that the launcher sets.
    fn new() -> Self {
        // A value that cannot be read is no default: the program ends.
        let size = variable("FSIN_MPI_SIZE", parsed::<usize>).unwrap_or(1).max(1);
        let rank = variable("FSIN_MPI_RANK", parsed).unwrap_or(0);
        let compute = variable("FSIN_MPI_COMPUTE", compute).unwrap_or(Compute::None);
        let one_of = |name, word: &'static str| variable(name, |value| (value == word).then_some(())).is_some();
        Self {
            guest: None,
            rank,
            size,
            compute,
            buffered: variable("FSIN_MPI_BUFFERED", parsed).unwrap_or(u64::MAX),
            realtime: one_of("FSIN_MPI_MODE", "realtime"),
            deterministic: one_of("FSIN_MPI_SYNC", "deterministic"),
            choice: variable("FSIN_MPI_COLLECTIVES", parsed).unwrap_or_default(),
            initialized: false,
            finalized: false,
            mail: Mail::new(size),
            requests: Table::new(0xac00_0000, 1),
            comms: Table::new(0x8400_0000, 1),
            comm_world: Comm::new(1, (0..size).collect(), rank, "MPI_COMM_WORLD"),
            comm_self: Comm::new(2, vec![rank], 0, "MPI_COMM_SELF"),
            groups: Table::new(0x8800_0000, 1),
            types: Table::new(0x8c00_0000, 16),
            builtin: HashMap::new(),
            ops: Table::new(0x9800_0000, 1),
            errhandlers: Table::new(0x9400_0000, 1),
            keyvals: Table::new(0xa400_0000, 1),
            errors: Vec::new(),
            infos: Table::new(0x9c00_0000, 1),
            statistics: Statistics::default(),
            log: None,
            folder: env::var_os("FSIN_MPI_FOLDER").map(PathBuf::from),
            calling: "",
            charged: false,
            ended: 0,
            left: 0,
            used: 0,
            buffer: (0, 0),
            predefined: BTreeMap::new(),
        }
    }

    /// Connects to the endpoint and waits until virtual time begins.
    pub(crate) fn connect(&mut self) {
        if let Some(library) = objects::open_mpi() {
            end(&format!("this program is linked with Open MPI ({library}): compile it with MPICH (mpicc.mpich)"), 1);
        }
        let Ok(address) = env::var("FSIN_MPI_ADDRESS") else {
            end("this program runs on a simulated network: start it with `fsin mpirun`", 1);
        };
        let address: Address = match address.parse() {
            Ok(address) => address,
            Err(_) => end(&format!("FSIN_MPI_ADDRESS={address} is not an address"), 1),
        };
        let config = Config {
            patience: Duration::from_secs(variable("FSIN_MPI_PATIENCE", parsed).unwrap_or(86_400)),
            ..Config::new(format!("rank {}", self.rank), self.rank as u32)
        };
        let config = if self.realtime { config.realtime() } else { config };
        match Guest::connect(&address, &config) {
            Ok(mut guest) => {
                // Waits until all ranks have connected.
                if let Err(failure) = guest.until() {
                    lost(&failure);
                }
                self.guest = Some(guest);
            }
            Err(failure) => end(&format!("cannot join the simulated network: {failure}"), 1),
        }
        if variable("FSIN_MPI_RECORD", |value| (value == "1").then_some(())).is_some()
            && let Some(folder) = &self.folder
        {
            match Log::create(&folder.join(format!("events.{}", self.rank))) {
                Ok(log) => self.log = Some(log),
                Err(failure) => end(&format!("cannot record: {failure}"), 1),
            }
        }
        self.left = clock::processor();
        if !self.realtime {
            ahead::begin(self.compute);
        }
    }

    /// \[ps\] The clock of this rank. After finalization it stands, except for readings.
    pub(crate) fn now(&self) -> u64 {
        self.guest.as_ref().map_or(self.ended, |guest| guest.now())
    }

    /// Ends the connection of the guest. From now on the clock stands.
    pub(crate) fn take_guest(&mut self) -> Option<Guest> {
        self.ended = self.now();
        self.guest.take()
    }

    /// Advances the clock by the short time \[ps\] of a test, a probe or the reading of a clock. In real time the clock
    /// advances by itself.
    pub(crate) fn pay(&mut self, time: u64) {
        if !self.realtime {
            self.spend(time);
        }
    }

    /// Advances the clock by time \[ps\] that the program spends on something other than waiting.
    pub(crate) fn spend(&mut self, time: u64) {
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
        self.statistics.computing += time;
        if let Some(log) = &mut self.log {
            log.compute(time);
        }
        if let Err(failure) = advanced {
            lost(&failure);
        }
    }

    /// Advances the clock by the computing before the current call. Every call that communicates begins with it.
    pub(crate) fn charge(&mut self) {
        if std::mem::replace(&mut self.charged, true) {
            return;
        }
        match self.compute {
            Compute::None => {}
            Compute::Fixed(time) => self.spend(time),
            Compute::Measured(_) => self.charge_used(),
        }
    }

    /// Advances the clock by the measured computing that has not been charged yet.
    pub(crate) fn charge_used(&mut self) {
        if let Compute::Measured(factor) = self.compute {
            let time = (std::mem::take(&mut self.used) as f64 * factor) as u64;
            self.spend(time);
        }
    }

    /// Called when a call of the program begins.
    fn begin_call(&mut self, name: &'static str) {
        self.calling = name;
        self.charged = false;
        if matches!(self.compute, Compute::Measured(_)) {
            self.used += clock::processor().saturating_sub(self.left);
        }
        *self.statistics.calls.entry(name).or_default() += 1;
    }

    /// Called when a call of the program ends.
    fn end_call(&mut self) {
        if matches!(self.compute, Compute::Measured(_)) {
            self.left = clock::processor();
        }
    }
}

/// The value of an environment variable, as `parse` reads it; `None` if the variable is not set. A value that cannot be
/// read ends the program: a default in its place would be another experiment.
fn variable<T>(name: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    use std::io::Write as _;
    let value = env::var_os(name)?;
    let read = value.to_str().and_then(parse);
    if read.is_none() {
        // There is no world yet that could keep a report of it.
        let value = value.to_string_lossy();
        let _ = writeln!(std::io::stderr(), "fsin-mpi: {name}={value} cannot be used: unset it, fsin mpirun sets it");
        std::process::exit(1);
    }
    read
}

/// A word as a value that parses itself.
fn parsed<T: FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

/// `fixed:TIME` in picoseconds, `measured:FACTOR` or `none`.
fn compute(word: &str) -> Option<Compute> {
    match word.split_once(':') {
        None => (word == "none").then_some(Compute::None),
        Some(("fixed", time)) => time.parse().ok().map(Compute::Fixed),
        Some(("measured", factor)) => factor.parse().ok().map(Compute::Measured),
        Some(_) => None,
    }
}

/// Advances the clock by what the program has computed, before the program reads a clock.
pub(crate) fn measure() {
    let world = w();
    if matches!(world.compute, Compute::Measured(_)) {
        let now = clock::processor();
        world.used += now.saturating_sub(world.left);
        world.left = now;
        world.charge_used();
    }
}

/// Executes a call of the program, and handles its error.
pub(crate) fn call(name: &'static str, body: impl FnOnce() -> Outcome) -> c_int {
    let outermost = !is_inside();
    let _turn = outermost.then(ahead::hold);
    inside(|| {
        if outermost {
            w().begin_call(name);
        }
        let outcome = match check_phase(name) {
            Ok(()) => body(),
            refused => refused,
        };
        let code = match outcome {
            Ok(()) => SUCCESS,
            Err(failure) => handle(name, &failure),
        };
        if outermost {
            w().end_call();
        }
        code
    })
}

/// Ends the program if a call is made before initialization or after finalization, unless the standard permits that.
fn check_phase(name: &'static str) -> Outcome {
    const ANYWHERE: [&str; 14] = [
        "MPI_Init",
        "MPI_Init_thread",
        "MPI_Initialized",
        "MPI_Finalized",
        "MPI_Get_version",
        "MPI_Get_library_version",
        "MPI_Get_processor_name",
        "MPI_Abort",
        "MPI_Error_string",
        "MPI_Error_class",
        "MPI_Info_create",
        "MPI_Info_set",
        "MPI_Info_free",
        "MPI_Status_set_cancelled",
    ];
    if w().initialized && !w().finalized || ANYWHERE.contains(&name) {
        return Ok(());
    }
    let when = if w().finalized { "after MPI_Finalize" } else { "before MPI_Init" };
    end(&format!("{name} is called {when}"), 1)
}

/// Calls the error handler: ends the program, returns the code, or calls a function of the program.
fn handle(name: &str, failure: &Error) -> c_int {
    let comm = if crate::communicator::get(failure.comm).is_ok() { failure.comm } else { COMM_WORLD };
    let handler = crate::communicator::get(comm).map_or(ERRORS_ARE_FATAL, |comm| comm.errhandler);
    match handler {
        ERRORS_RETURN => failure.class,
        ERRORS_ARE_FATAL | ERRORS_ABORT => end(&format!("{name}: {}", failure.text), failure.class.max(1)),
        other => {
            if let Some(function) = w().errhandlers.get(other).map(|handler| handler.function) {
                let (mut comm, mut class) = (comm, failure.class);
                // SAFETY: the program has given this function as an error handler.
                unsafe { function(&raw mut comm, &raw mut class) };
            }
            failure.class
        }
    }
}

/// Ends the program because the library lacks a call.
pub(crate) fn unsupported(name: &'static str) -> ! {
    inside(|| end(&format!("{name} is not supported on a simulated network (docs/book, `fsin mpirun`)"), 1))
}

/// Ends the program with a message.
pub(crate) fn end(text: &str, code: c_int) -> ! {
    use std::io::Write as _;
    let line = format!("rank {}: {text}", w().rank);
    let _ = writeln!(std::io::stderr(), "fsin-mpi: {line}");
    w().statistics.failure = Some(line);
    exit(text, code)
}

/// Ends the program because the connection to the network is lost.
pub(crate) fn lost(failure: &GuestError) -> ! {
    let text = failure.to_string();
    if !matches!(failure, GuestError::Refused { .. }) {
        end(&text, 1);
    }
    // The launcher reports why the simulation ended. The report says what this rank waits for, which may explain it.
    w().statistics.ended_by_run = true;
    drop(w().take_guest());
    exit(&text, 1)
}

/// Writes the report, leaves the network and ends the process.
fn exit(text: &str, code: c_int) -> ! {
    let mut text = text.to_owned();
    if let Err(failure) = crate::report::write()
        && !text.contains(&failure.to_string())
    {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "fsin-mpi: rank {}: {failure}", w().rank);
        text = format!("{text}; {failure}");
    }
    if let Some(guest) = w().take_guest() {
        guest.give_up(&text);
    }
    w().finalized = true;
    std::process::exit(code)
}
