//! `--packet-log` and `--message-log`: a line for each packet and message that arrives.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use fsin::experiment::{Experiment, MessageTime};
use fsin::stats::{Arrival, Receipt};

use crate::cli::{Complaint, Exit, output};

/// Columns of a log of packets.
const PACKET: &[&str] = &["source", "destination", "number", "start_cycle", "arrival_cycle", "latency_cycles", "hops"];

/// Columns of a log of messages.
const MESSAGE: &[&str] = &[
    "source",
    "destination",
    "bytes",
    "class",
    "generated_cycle",
    "delivered_cycle",
    "completion_cycles",
    "alone_cycles",
    "slowdown",
];

/// Adds the flags of this module to a command.
pub(crate) fn flags(command: Command) -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help)
    };
    command
        .next_help_heading("Output")
        .arg(flag("packet-log", "A line for each packet that arrives, warm-up included: FILE.csv or FILE.jsonl"))
        .arg(flag("message-log", "A line for each message that --message-stats keeps: FILE.csv or FILE.jsonl"))
}

/// A new file of lines with the same columns, as CSV or as JSON objects.
pub(crate) struct Log {
    /// The flag and the name of the file, for errors.
    named: String,
    columns: &'static [&'static str],
    is_csv: bool,
    file: BufWriter<std::fs::File>,
    /// The first error of writing.
    failure: Option<std::io::Error>,
}

impl Log {
    /// The file that a flag names; `None` without the flag.
    ///
    /// # Errors
    /// An unknown ending, a file that cannot be created, a network without packets.
    fn of(
        matches: &ArgMatches,
        flag: &str,
        columns: &'static [&'static str],
        experiment: &Experiment,
    ) -> Result<Option<Self>, Complaint> {
        let Some(path) = matches.get_one::<PathBuf>(flag) else { return Ok(None) };
        let named = format!("--{flag} {}", path.display());
        if experiment.runs.by_hosts() {
            let network = experiment.model.component.name;
            let what = format!("--{flag} has no meaning with --network {network}, which has no packets and no cycles");
            return Err(Complaint::new(Exit::Usage, what, "leave it out, or use --network constant-delay"));
        }
        let is_csv = match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => true,
            Some("jsonl") => false,
            _ if path == Path::new("/dev/stdout") => true,
            _ => {
                let what = format!("{named}: the ending of the name says how it is written, and is .csv or .jsonl");
                return Err(Complaint::new(Exit::Usage, what, "name it so"));
            }
        };
        let file = BufWriter::new(output::create_file(&named, path)?);
        let mut log = Self { named, columns, is_csv, file, failure: None };
        if is_csv {
            log.write(&format!("{}\n", columns.join(",")));
        }
        Ok(Some(log))
    }

    /// The log of packets; `None` without the flag.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(crate) fn of_packets(matches: &ArgMatches, experiment: &Experiment) -> Result<Option<Self>, Complaint> {
        Self::of(matches, "packet-log", PACKET, experiment)
    }

    /// The log of messages; `None` without the flag.
    ///
    /// # Errors
    /// As [`of`](Self::of), and times of messages that are not kept.
    pub(crate) fn of_messages(matches: &ArgMatches, experiment: &Experiment) -> Result<Option<Self>, Complaint> {
        if matches.contains_id("message-log") && !experiment.runs.by_hosts() && !experiment.keep.messages {
            let what = "--message-log writes what --message-stats keeps, which is not given";
            return Err(Complaint::new(Exit::Usage, what, "give both"));
        }
        Self::of(matches, "message-log", MESSAGE, experiment)
    }

    fn write(&mut self, text: &str) {
        if self.failure.is_none() {
            self.failure = self.file.write_all(text.as_bytes()).err();
        }
    }

    /// Adds a line; an absent value is an empty cell, or null.
    fn line(&mut self, values: &[Option<String>]) {
        let mut line = String::new();
        for (at, (name, value)) in self.columns.iter().zip(values).enumerate() {
            let separator = if at > 0 { "," } else { "" };
            // Writing to a string cannot fail.
            let _ = match (self.is_csv, value) {
                (true, value) => write!(line, "{separator}{}", value.as_deref().unwrap_or("")),
                (false, value) => write!(line, "{separator}\"{name}\":{}", value.as_deref().unwrap_or("null")),
            };
        }
        self.write(&if self.is_csv { format!("{line}\n") } else { format!("{{{line}}}\n") });
    }

    /// Adds packets.
    pub(crate) fn packets(&mut self, arrivals: &[Arrival]) {
        for Arrival { at, packet } in arrivals {
            let Receipt { source, destination, sequence, latency, hops } = packet;
            let start = at.0.saturating_sub(*latency);
            let values = [source.0.into(), destination.0.into(), *sequence, start, at.0, *latency, *hops];
            self.line(&values.map(|value: u64| Some(value.to_string())));
        }
    }

    /// Adds messages.
    pub(crate) fn messages(&mut self, messages: &[MessageTime]) {
        for message in messages {
            let of = &message.of;
            let whole = |value: u64| Some(value.to_string());
            self.line(&[
                whole(of.message.source.0.into()),
                whole(of.message.destination.0.into()),
                whole(of.message.bytes),
                whole(of.message.class.into()),
                whole(of.generated.0),
                whole(of.delivered.0),
                whole(message.cycles()),
                message.alone_cycles.and_then(whole),
                message.slowdown().map(|slowdown| slowdown.to_string()),
            ]);
        }
    }

    /// Closes the file.
    ///
    /// # Errors
    /// The file could not be written.
    pub(crate) fn end(mut self) -> Result<(), Complaint> {
        let failure = self.failure.take().or_else(|| self.file.flush().err());
        failure.map_or(Ok(()), |why| {
            Err(Complaint::new(Exit::Failed, format!("{}: {why}", self.named), "write it elsewhere"))
        })
    }
}
