//! Records of a run: frames as lines of text, payloads as packets.

use std::fmt::Write as _;
use std::io::{self, Write};

use trgen::NodeId;

use crate::clock::{FOREVER, Time};
use crate::protocol::{Body, Class, Deliver, Inject};

use super::capture::Capture;

/// The recorders of a run, if any.
#[derive(Default)]
pub struct Watch {
    /// The log of frames.
    pub wire_log: Option<WireLog>,
    /// The recorder of payloads.
    pub capture: Option<Box<dyn Capture>>,
}

impl Watch {
    /// Flushes the buffers.
    ///
    /// # Errors
    /// The text of the error, with its remedy.
    pub(super) fn flush(&mut self) -> Result<(), String> {
        if let Some(log) = &mut self.wire_log {
            log.out.flush().map_err(|error| wire_error(&error))?;
        }
        self.capture.as_mut().map_or(Ok(()), |capture| capture.flush())
    }
}

/// The text of an error of writing the wire log.
fn wire_error(error: &io::Error) -> String {
    format!("cannot write the wire log: {error}; make room for it, or leave it out")
}

/// The frames of a run, one line each: direction (`>` to the guest, `<` from it), guest, endpoint, time in picoseconds,
/// type and fields, separated by tabs. It begins with the Hello of each admitted guest. Welcome, Challenge, Proof and
/// refused connections are not logged; payloads are logged by length only. Bytes that are not a frame, which end a
/// guest, are a line of type `malformed` with the reason.
pub struct WireLog {
    out: Box<dyn Write + Send>,
    /// The line that is being written; kept for its memory.
    line: String,
}

impl WireLog {
    /// A log into `out`, which should be buffered.
    #[must_use]
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out, line: String::new() }
    }

    /// Logs the Hello of a connection.
    pub(super) fn hello(&mut self, name: &str, class: Class, step: Time, nodes: &[NodeId]) -> Result<(), String> {
        let class = match class {
            Class::Stepped => "stepped",
            Class::Causal => "causal",
            Class::Realtime => "realtime",
        };
        self.line.clear();
        let _ = write!(self.line, "<\t{}\t0\t0\tHello\tclass={class} step={step} nodes=", name);
        for (index, node) in nodes.iter().enumerate() {
            let _ = write!(self.line, "{}{node}", if index == 0 { "" } else { "," });
        }
        self.end()
    }

    /// Logs a frame; `guest` is the name of the connection.
    pub(super) fn frame(
        &mut self,
        direction: char,
        guest: &str,
        endpoint: u16,
        time: Time,
        body: &Body,
    ) -> Result<(), String> {
        self.line.clear();
        let line = &mut self.line;
        let _ = write!(line, "{direction}\t{guest}\t{endpoint}\t{time}\t{}\t", body.name());
        let _ = match body {
            Body::Inject(Inject { destination, notify, size, cookie, payload, .. }) => {
                let notify = u8::from(*notify);
                write!(line, "to={destination} size={size} cookie={cookie} carried={} notify={notify}", payload.len())
            }
            Body::Deliver(Deliver { source, source_sequence, cookie, injected, late, size, payload }) => write!(
                line,
                "from={source} number={source_sequence} size={size} cookie={cookie} carried={} injected={injected} \
                 late={late}",
                payload.len()
            ),
            Body::Done { cookie } => write!(line, "cookie={cookie}"),
            Body::Timestamp { next: FOREVER, injects } => write!(line, "next=forever injects={injects}"),
            Body::Timestamp { next, injects } => write!(line, "next={next} injects={injects}"),
            Body::GoAhead { until: FOREVER, notices } => write!(line, "until=forever notices={notices}"),
            Body::GoAhead { until, notices } => write!(line, "until={until} notices={notices}"),
            Body::Mark { label } => write!(line, "label={label}"),
            Body::Bye { reason, injects, notices } => {
                write!(line, "injects={injects} notices={notices} reason={reason}")
            }
            Body::Error { code, text } => write!(line, "code={} text={text}", *code as u16),
            Body::Busy { until } => write!(line, "until={until}"),
            Body::Awaits { sources } => write!(line, "sources={sources:?}"),
            Body::Part(bytes) => write!(line, "carried={}", bytes.len()),
            Body::Hello(_) | Body::Welcome(_) | Body::Challenge(_) | Body::Proof(_) => Ok(()),
        };
        self.end()
    }

    /// Logs invalid input from a guest whose clock is known to be at `time`.
    pub(super) fn malformed(&mut self, guest: &str, time: Time, why: &str) -> Result<(), String> {
        self.line.clear();
        let _ = write!(self.line, "<\t{guest}\t0\t{time}\tmalformed\twhy={why}");
        self.end()
    }

    /// Ends the line and writes it.
    fn end(&mut self) -> Result<(), String> {
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes()).map_err(|error| wire_error(&error))
    }
}
