//! Congestion controls: the table of rows, and what a row is.
//!
//! A congestion control is a state machine of one connection, without network and engine. Its transport tells it of
//! acknowledgements, losses and what has been sent; it answers with a window and a rate. Time goes on for it when it is
//! told or asked something: timers that were due before are made up for then.
//!
//! Source of the family: RFC 5033, section 3, for what such an algorithm is told.

use std::fmt;
use std::sync::Arc;

use trgen::catalog::{Component, Described, ErrorKind, SpecError, Table};
use trgen::phrase;
use trgen::synthetic::expr::{Call, Expr, find};

use crate::params::Transport;
use crate::rules::cc::{dcqcn, dctcp, hpcc, newreno, none, uec};

/// What a switch adds to a frame that leaves it, for congestion controls that read it (in-band telemetry).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// \[ns\] Time at which the frame began to be sent, rounded down.
    pub at: u64,
    /// \[bytes\] On the wire, what the port had sent before the frame.
    pub sent: u64,
    /// \[bytes\] What waited at the port then, without the frame.
    pub queue: u64,
    /// \[b/s\] Rate of the link.
    pub rate: u64,
}

/// An acknowledgement, as a congestion control is told of it.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledged<'a> {
    /// \[ps\] Time at which it has come to the sender.
    pub now: u64,
    /// \[bytes\] Data that it acknowledges and no earlier one did.
    pub bytes: u64,
    /// \[bytes\] Data of the connection that are acknowledged now.
    pub offset: u64,
    /// \[bytes\] Data of the connection that have been sent, of what was sent first up to what is sent next.
    pub next: u64,
    /// \[bytes\] Data that were sent and not acknowledged before it came.
    pub flight: u64,
    /// True if it returns a mark: a switch has seen a long queue.
    pub is_marked: bool,
    /// What switches have added to the frame that it acknowledges, in the order of the path. Empty unless the row says
    /// that it reads [stamps](Signal::Stamps).
    pub stamps: &'a [Stamp],
    /// \[ps\] Time since that frame was sent; `None` where it is not known.
    pub round_trip: Option<u64>,
    /// True if it acknowledges the end of the connection.
    pub is_last: bool,
}

/// A congestion control of one connection. All times are in ps, and do not decrease from call to call.
pub trait CongestionControl: fmt::Debug + Send {
    /// \[bytes\] Most data that may be sent and not acknowledged.
    fn window(&mut self, _now: u64) -> u64 {
        u64::MAX
    }

    /// \[b/s\] Rate at which frames are sent; the rate of the link, if it is higher. Of the transport `roce`.
    fn rate(&mut self, _now: u64) -> u64 {
        u64::MAX
    }

    /// Is told of a frame of `wire_bytes` bytes that begins to be sent.
    fn sent(&mut self, _now: u64, _wire_bytes: u32) {}

    /// Is told of an acknowledgement that shows no loss.
    fn acknowledged(&mut self, of: &Acknowledged<'_>);

    /// Is told of an acknowledgement that tells nothing new: of a frame behind a gap, during a repair.
    fn duplicate(&mut self) {}

    /// Is told of a frame that is lost, by acknowledgements of later ones: with `flight` bytes sent and not
    /// acknowledged. A repair begins, which lasts until all that was sent is acknowledged.
    fn lost(&mut self, _now: u64, _flight: u64) {}

    /// Is told of an acknowledgement of `bytes` bytes during a repair, which shows another loss.
    fn repaired(&mut self, _bytes: u64) {}

    /// Is told that a repair has ended.
    fn recovered(&mut self) {}

    /// Is told of a time-out, with `flight` bytes sent and not acknowledged: all of them are sent again.
    fn timed_out(&mut self, _now: u64, _flight: u64) {}

    /// Is told that nothing has been sent for the time of a time-out.
    fn idle(&mut self) {}

    /// \[ps\] When its rate may change by itself; `None` if not before it is told something.
    fn changes_at(&self) -> Option<u64> {
        None
    }

    /// True if a new rate moves the time of the next frame, which was computed with the old one.
    fn moves_next(&self) -> bool {
        false
    }
}

/// What a congestion control is built for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Environment {
    /// \[b/s\] Rate of the link of the host that sends.
    pub line_rate: u64,
    /// \[bytes\] Most data in a frame.
    pub segment: u64,
    /// \[frames\] Window at the beginning of the transport `window`.
    pub initial_window: u64,
    /// Number of duplicate acknowledgements that show a loss, of the transport `window`.
    pub dup_acks: u64,
    /// \[ps\] The largest round trip of a frame over empty links, over all pairs of hosts: twice the delays, and a full
    /// frame at each link of the path there, in whole ns; 0 if no congestion control uses it.
    pub round_trip: u64,
    /// \[bytes\] The largest product of round trip and slowest rate of a path, over all pairs of hosts; 0 if no
    /// congestion control uses it.
    pub product: u64,
}

/// A signal that a congestion control needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Marks of switches, for which marking must be set.
    Marks,
    /// Stamps of switches, of [`STAMP_BYTES`] in each data frame and acknowledgement.
    Stamps,
}

/// \[bytes\] Room for stamps in each data frame and acknowledgement.
pub const STAMP_BYTES: u32 = 42;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name, definition, parameters, source.
    pub component: Component,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Names of the transports that carry it.
    pub transports: &'static [&'static str],
    /// Signals that it needs.
    pub needs: &'static [Signal],
    /// Reads its parameters.
    ///
    /// # Errors
    /// A parameter that cannot be used.
    pub build: fn(&Call<'_>) -> Result<Built, SpecError>,
}

impl Described for Row {
    fn component(&self) -> &Component {
        &self.component
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }
}

/// All congestion controls.
pub static CONTROLS: Table<Row> = Table::new(
    "congestion control",
    &[&none::ROW, &newreno::ROW, &dctcp::ROW, &dcqcn::ROW, &hpcc::ROW, &uec::NSCC, &uec::RCCC, &uec::BOTH],
);

/// Congestion control of the transport `uec`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OfUec {
    /// True if the sender has a window.
    pub(crate) has_window: bool,
    /// True if the receiver gives credits.
    pub(crate) has_credits: bool,
    /// Binary logarithm of the share of the window below which a quick adaptation is made.
    pub(crate) qa_gate: u32,
}

/// A congestion control with its parameters, from which connections take theirs.
#[derive(Clone)]
pub struct Built {
    pub(crate) make: Arc<dyn Fn(&Environment) -> Machine + Send + Sync>,
    /// \[ps\] The least time between two marks that a receiver returns, where the parameters set it.
    pub(crate) cnp_interval: Option<u64>,
    /// True if it has a limit of its own of what is sent and not acknowledged, or needs what [`Environment`] says of
    /// the network.
    pub(crate) needs_network: bool,
    /// Its settings for the transport `uec`; `None` for other transports.
    pub(crate) of_uec: Option<OfUec>,
}

impl fmt::Debug for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Built").finish_non_exhaustive()
    }
}

impl Built {
    /// Of a row from outside: `make` begins the state of a connection.
    pub fn new(make: impl Fn(&Environment) -> Box<dyn CongestionControl> + Send + Sync + 'static) -> Self {
        Self { needs_network: true, ..Self::of(move |of| Machine::Other(make(of))) }
    }

    /// Of a row of this crate.
    pub(crate) fn of(make: impl Fn(&Environment) -> Machine + Send + Sync + 'static) -> Self {
        Self { make: Arc::new(make), cnp_interval: None, needs_network: false, of_uec: None }
    }
}

/// The congestion control of a run: a row with its parameters.
#[derive(Clone, Debug)]
pub struct Control {
    row: &'static Row,
    text: String,
    built: Built,
}

/// Rows have names of their own.
impl PartialEq for Control {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Control {
    /// The congestion control that a word names, with its parameters: `dcqcn:preset=sigcomm2015`.
    ///
    /// # Errors
    /// A name that no row has, or a parameter that cannot be used.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let expr = Expr::parse(text)?;
        let row = find("congestion control", CONTROLS.rows(), text, &expr)?;
        let built = (row.build)(&Call::bind(text, &expr, &row.component)?)?;
        Ok(Self { row, text: text.to_owned(), built })
    }

    /// The name of its row.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.row.component.name
    }

    /// The word that named it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if it needs a signal.
    #[must_use]
    pub fn needs(&self, signal: Signal) -> bool {
        self.row.needs.contains(&signal)
    }

    pub(crate) const fn built(&self) -> &Built {
        &self.built
    }

    /// The state of a connection at its beginning.
    pub(crate) fn begin(&self, environment: &Environment) -> Machine {
        (self.built.make)(environment)
    }

    /// Checks that a transport carries it, and that its signals come. `has_marks` says whether switches mark frames.
    pub(crate) fn check(&self, transport: Transport, has_marks: bool) -> Result<(), SpecError> {
        let (name, of) = (self.name(), transport.name());
        if !self.row.transports.contains(&of) {
            let what = phrase![["cc" => name], ": ", ["transport" => of], " does not carry it"];
            let others = CONTROLS.rows().iter().filter(|row| row.transports.contains(&of));
            let others: Vec<&str> = others.map(|row| row.component.name).collect();
            let others = if others.is_empty() { "no congestion control".to_owned() } else { others.join(", ") };
            let own = self.row.transports.join(" or ");
            let remedy = phrase!["set ", ["transport" => own], (", or with {of} use {others}")];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("cc").given(name));
        }
        if self.needs(Signal::Marks) && !has_marks {
            let what = phrase![["cc" => name], " reads marks, and no switch marks frames"];
            let able = CONTROLS.rows().iter();
            let able = able.filter(|row| row.transports.contains(&of) && !row.needs.contains(&Signal::Marks));
            let able: Vec<&str> = able.map(|row| row.component.name).collect();
            let remedy = phrase!["set ", ["ecn" => "step:100kB"], (", or use {}", able.join(", "))];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("cc").given(name));
        }
        Ok(())
    }
}

/// The state of a connection: those of this crate are called directly.
#[derive(Debug)]
pub(crate) enum Machine {
    None,
    NewReno(newreno::NewReno),
    Dctcp(dctcp::Dctcp),
    Dcqcn(dcqcn::Dcqcn),
    Hpcc(Box<hpcc::Hpcc>),
    Other(Box<dyn CongestionControl>),
}

/// Calls a method of the machine.
macro_rules! each {
    ($self:ident, $none:expr, $machine:ident => $call:expr) => {
        match $self {
            Self::None => $none,
            Self::NewReno($machine) => $call,
            Self::Dctcp($machine) => $call,
            Self::Dcqcn($machine) => $call,
            Self::Hpcc($machine) => $call,
            Self::Other($machine) => $call,
        }
    };
}

impl CongestionControl for Machine {
    #[inline]
    fn window(&mut self, now: u64) -> u64 {
        each!(self, u64::MAX, machine => machine.window(now))
    }

    #[inline]
    fn rate(&mut self, now: u64) -> u64 {
        each!(self, u64::MAX, machine => machine.rate(now))
    }

    #[inline]
    fn sent(&mut self, now: u64, wire_bytes: u32) {
        each!(self, (), machine => machine.sent(now, wire_bytes));
    }

    #[inline]
    fn acknowledged(&mut self, of: &Acknowledged<'_>) {
        each!(self, (), machine => machine.acknowledged(of));
    }

    #[inline]
    fn duplicate(&mut self) {
        each!(self, (), machine => machine.duplicate());
    }

    fn lost(&mut self, now: u64, flight: u64) {
        each!(self, (), machine => machine.lost(now, flight));
    }

    fn repaired(&mut self, bytes: u64) {
        each!(self, (), machine => machine.repaired(bytes));
    }

    fn recovered(&mut self) {
        each!(self, (), machine => machine.recovered());
    }

    fn timed_out(&mut self, now: u64, flight: u64) {
        each!(self, (), machine => machine.timed_out(now, flight));
    }

    fn idle(&mut self) {
        each!(self, (), machine => machine.idle());
    }

    #[inline]
    fn changes_at(&self) -> Option<u64> {
        each!(self, None, machine => machine.changes_at())
    }

    #[inline]
    fn moves_next(&self) -> bool {
        each!(self, false, machine => machine.moves_next())
    }
}
