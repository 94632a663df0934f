//! Files of counts: JSON lines, a header for each network, then its links and routers.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use trgen::catalog::{ErrorKind, SpecError};

use super::counts::{Channel, ChannelKind, Counts, Ports, RouterCounts};

/// \[bytes\] The longest file of constants or energies.
const LONGEST: u64 = 1 << 20;

/// The text of a file of constants or energies.
///
/// # Errors
/// A file that cannot be read, is too long or is no text.
pub(super) fn text_of(path: &Path) -> Result<String, SpecError> {
    let refuse = |what: String, remedy: &'static str| {
        Err(SpecError::new(ErrorKind::Unreadable, format!("{}: {what}", path.display()), remedy).of("energy"))
    };
    let remedy = "name a file of constants or energies; relative to the folder of the experiment";
    match std::fs::metadata(path) {
        Err(error) => return refuse(format!("cannot be read: {error}"), remedy),
        Ok(about) if !about.is_file() => return refuse("is no file".to_owned(), remedy),
        Ok(about) if about.len() > LONGEST => return refuse("is longer than any table of energies".to_owned(), remedy),
        Ok(_) => {}
    }
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) => refuse(format!("cannot be read: {error}"), remedy),
    }
}

/// The header of a network.
#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(default)]
    case: String,
    #[serde(default)]
    subnet: u64,
    cycles: u64,
    #[serde(default = "one")]
    classes: usize,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    width: Option<u32>,
    vcs: u64,
    buffer: u64,
    /// The file of the process, which the user names.
    #[serde(skip_serializing, default)]
    #[allow(dead_code, reason = "part of the format")]
    tech: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    flit_bits: Option<u32>,
}

const fn one() -> usize {
    1
}

/// A link.
#[derive(Serialize, Deserialize)]
struct Link {
    channel: String,
    latency: u32,
    flits: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    class: Option<String>,
}

/// A router.
#[derive(Serialize, Deserialize)]
struct Router {
    inputs: usize,
    outputs: usize,
    reads: Vec<u64>,
    writes: Vec<u64>,
    traversals: Vec<Vec<u64>>,
}

/// A line.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Link(Link),
    Router(Router),
    Header(Header),
}

/// \[bits\] A flit if no file says it.
const FLIT_BITS: u32 = 128;

/// \[ports\] More than any router has.
const MOST_PORTS: usize = 1 << 12;

/// The counts of each network in a text.
///
/// # Errors
/// Lines that are none of this format, with their number.
pub fn read(text: &str) -> Result<Vec<Counts>, SpecError> {
    let mut all: Vec<(Counts, usize)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let refuse = |what: &str| {
            let remedy = "write such files with `fsin run` and its flag event-counts";
            SpecError::new(ErrorKind::Malformed, format!("line {number}: {what}"), remedy)
        };
        let line: Line = serde_json::from_str(line)
            .map_err(|_| refuse("neither a header, nor a channel, nor a router with all its fields"))?;
        let line = match line {
            Line::Header(header) => {
                if header.cycles == 0 || header.classes == 0 || header.vcs == 0 || header.buffer == 0 {
                    return Err(refuse("cycles, classes, vcs and buffer are 1 or more"));
                }
                let bits = header.flit_bits.or(header.width).unwrap_or(FLIT_BITS);
                if bits == 0 {
                    return Err(refuse("a flit has 1 bit or more"));
                }
                let counts = Counts {
                    case: header.case,
                    subnet: header.subnet,
                    cycles: header.cycles as f64,
                    seconds: None,
                    width: header.width,
                    flit_bits: bits.into(),
                    has_flits: true,
                    buffers: Some((header.vcs, header.buffer)),
                    delivered_bits: Some(0.0),
                    channels: Vec::new(),
                    routers: Vec::new(),
                    hosts: Vec::new(),
                };
                all.push((counts, header.classes));
                continue;
            }
            other => other,
        };
        let Some((counts, classes)) = all.last_mut() else { return Err(refuse("there is no header before it")) };
        match line {
            Line::Header(_) => {}
            Line::Link(link) => {
                let kind = ChannelKind::ALL.iter().find(|(name, _)| *name == link.channel);
                let Some(&(name, kind)) = kind else {
                    return Err(refuse("a channel is injection, ejection or network"));
                };
                if link.flits.len() != *classes {
                    return Err(refuse("a channel has flits of each class"));
                }
                let flits: Vec<f64> = link.flits.iter().map(|&flits| flits as f64).collect();
                if kind == ChannelKind::Ejection {
                    let bits = flits.iter().sum::<f64>() * counts.flit_bits;
                    counts.delivered_bits = counts.delivered_bits.map(|before| before + bits);
                }
                let usual = if kind == ChannelKind::Network { name } else { "host" };
                let class = link.class.unwrap_or_else(|| usual.to_owned());
                counts.channels.push(Channel { kind, class, latency: link.latency, rate: 0.0, flits });
            }
            Line::Router(router) => {
                let Router { inputs, outputs, reads, writes, traversals } = router;
                let is_whole = (1..=MOST_PORTS).contains(&inputs)
                    && (1..=MOST_PORTS).contains(&outputs)
                    && reads.len() == inputs
                    && writes.len() == inputs
                    && traversals.len() == inputs
                    && traversals.iter().all(|row| row.len() == outputs);
                if !is_whole {
                    return Err(refuse("reads and writes are by input, traversals by input and output"));
                }
                let traversals = traversals.concat();
                counts.routers.push(RouterCounts {
                    class: "router".to_owned(),
                    routers: 1,
                    inputs,
                    outputs,
                    flits: traversals.iter().map(|&flits| flits as f64).sum(),
                    ports: Some(Ports { reads, writes, traversals }),
                });
            }
        }
    }
    match all.is_empty() {
        true => Err(SpecError::new(
            ErrorKind::Malformed,
            "the file holds no counts",
            "write such files with `fsin run` and its flag event-counts",
        )),
        false => Ok(all.into_iter().map(|(counts, _)| counts).collect()),
    }
}

/// Writes the counts of a network, if it has those of ports.
///
/// # Errors
/// Those of the writer.
pub fn write(counts: &Counts, out: &mut dyn Write) -> io::Result<()> {
    let (vcs, buffer) = counts.buffers.unwrap_or((1, 1));
    let mut line = |value: serde_json::Result<String>| writeln!(out, "{}", value.map_err(io::Error::other)?);
    line(serde_json::to_string(&Header {
        case: counts.case.clone(),
        subnet: counts.subnet,
        cycles: counts.cycles as u64,
        classes: 1,
        width: counts.width,
        vcs,
        buffer,
        tech: None,
        flit_bits: Some(counts.flit_bits as u32),
    }))?;
    for channel in &counts.channels {
        let (name, _) = ChannelKind::ALL[channel.kind as usize];
        line(serde_json::to_string(&Link {
            channel: name.to_owned(),
            latency: channel.latency,
            flits: channel.flits.iter().map(|&flits| flits as u64).collect(),
            class: Some(channel.class.clone()),
        }))?;
    }
    for router in &counts.routers {
        let Some(ports) = &router.ports else { continue };
        line(serde_json::to_string(&Router {
            inputs: router.inputs,
            outputs: router.outputs,
            reads: ports.reads.clone(),
            writes: ports.writes.clone(),
            traversals: ports.traversals.chunks(router.outputs).map(<[u64]>::to_vec).collect(),
        }))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let text = "{\"case\":\"a\",\"subnet\":0,\"cycles\":10,\"classes\":1,\"vcs\":2,\"buffer\":3,\"flit_bits\":64}\n\
                    {\"channel\":\"ejection\",\"latency\":1,\"flits\":[5],\"class\":\"host\"}\n\
                    {\"inputs\":1,\"outputs\":2,\"reads\":[5],\"writes\":[5],\"traversals\":[[2,3]]}\n";
        let counts = read(text).unwrap();
        assert_eq!((counts.len(), counts[0].delivered_bits), (1, Some(320.0)));
        let mut written = Vec::new();
        write(&counts[0], &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text);
    }

    #[test]
    fn lines_that_are_none_are_named() {
        for text in [
            "",
            "{}",
            "x",
            "{\"channel\":\"network\",\"latency\":1,\"flits\":[1]}",
            "{\"cycles\":0,\"vcs\":1,\"buffer\":1}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
