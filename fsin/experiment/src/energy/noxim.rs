//! Energies of a file of Noxim, `power.yaml`: buffers, crossbars and wires of a network on a chip, by their sizes.
//!
//! # How the model departs from Noxim, and who could notice
//! The file also has energies of route computation, of the selection among routes, of network interfaces and of radio
//! hubs. They belong to stages and devices that are not counted here, and are left out: one to three per cent of a flit
//! of 64 bits in the file that Noxim ships. A flit that waits at the front of its buffer costs `front` once.
//!
//! Decision: docs/decisions/0651-energies-of-noxim.md.

use std::path::Path;

use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};

use super::counts::{BORDER, ChannelKind, Counts};
use super::estimate::{Component as Part, Estimate, Range};
use super::{EnergyModel, Row, Sizes};

/// \[mm\] Length of a link between routers if no word says it.
const LENGTH: f64 = 1.0;

/// The row of this model.
pub(super) static NOXIM: Row = Row {
    component: Component {
        name: "noxim",
        about: "routers and wires on a chip, by the power.yaml of Noxim: buffers, crossbars and links between routers; over counts of wormhole",
        parameters: &[
            Parameter {
                name: "FILE",
                about: "energies and leakages by size: Buffer, LinkBitLine, crossbar; others are left out",
                range: "file",
                default: "",
            },
            Parameter {
                name: "mm",
                about: "length of the links between routers, one of those in the file",
                range: "number > 0",
                default: "1",
            },
        ],
        source: "Catania et al., Cycle-accurate network on chip simulation with Noxim, TOMACS 27(1), 2016",
    },
    parse,
    file: file_in,
    needs_routers: true,
};

/// The file among the words.
fn file_in(words: &str) -> Option<&str> {
    words.split(',').map(str::trim).find(|word| !word.is_empty() && !word.starts_with("mm="))
}

fn parse(words: Option<&str>, folder: &Path) -> Result<Box<dyn EnergyModel>, SpecError> {
    let (mut file, mut length) = (None, LENGTH);
    for word in words.unwrap_or_default().split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match word.strip_prefix("mm=") {
            Some(mm) => {
                length = mm.parse().ok().filter(|mm: &f64| *mm > 0.0 && mm.is_finite()).ok_or_else(|| {
                    let what = format!("mm={} is no length", mm.escape_debug());
                    SpecError::new(ErrorKind::OutOfRange, what, "write a number above 0: mm=1.5")
                })?;
            }
            None if file.is_none() => file = Some(word),
            None => {
                let what = format!("`{}` is a second file", word.escape_debug());
                return Err(SpecError::new(ErrorKind::Malformed, what, "name one file, as in noxim:power.yaml,mm=1.5"));
            }
        }
    }
    let Some(name) = file else {
        let what = "noxim has no table of its own";
        return Err(SpecError::new(ErrorKind::Malformed, what, "name the file of Noxim: noxim:power.yaml"));
    };
    let text = super::file::text_of(&folder.join(name))?;
    let table = Table::parse(&text).map_err(|error| error.within(format!("{name}: ")))?;
    let link = find(
        "LinkBitLine",
        &table.links,
        |row| row.mm == length,
        &|row| format!("{} mm", row.mm),
        || format!("{length} mm"),
    );
    let link = *link.map_err(|error| error.within(format!("{name}: ")))?;
    Ok(Box::new(Noxim { table, link }))
}

/// A buffer.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Buffer {
    /// \[flits\]
    depth: u64,
    /// \[bits\] Of a flit.
    bits: u64,
    /// \[W\]
    leakage: f64,
    /// \[J\] For each flit: written, at the front, taken.
    push: f64,
    front: f64,
    pop: f64,
}

/// A wire of one bit.
#[derive(Clone, Copy, PartialEq, Debug)]
struct BitLine {
    /// \[mm\]
    mm: f64,
    /// \[W\]
    leakage: f64,
    /// \[J\] For each bit.
    joules: f64,
}

/// A crossbar.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Crossbar {
    ports: u64,
    /// \[bits\] Of a flit.
    bits: u64,
    /// \[W\]
    leakage: f64,
    /// \[J\] For each flit.
    joules: f64,
}

/// What is read of a file.
#[derive(Clone, PartialEq, Default, Debug)]
struct Table {
    buffers: Vec<Buffer>,
    links: Vec<BitLine>,
    crossbars: Vec<Crossbar>,
}

/// The model.
#[derive(Debug)]
struct Noxim {
    table: Table,
    link: BitLine,
}

/// The row of a size, or an error that names the sizes that there are.
fn find<'a, T>(
    list: &str,
    rows: &'a [T],
    is_it: impl Fn(&T) -> bool,
    shown: &dyn Fn(&T) -> String,
    wanted: impl Fn() -> String,
) -> Result<&'a T, SpecError> {
    rows.iter().find(|row| is_it(row)).ok_or_else(|| {
        let sizes: Vec<String> = rows.iter().map(shown).collect();
        let what = format!("{list} has no row of {}", wanted());
        let remedy = format!("add such a row, or use a size that it has: {}", sizes.join(", "));
        SpecError::new(ErrorKind::Unsupported, what, remedy)
    })
}

/// An error of a line.
fn malformed(line: usize, what: &str, remedy: &'static str) -> SpecError {
    SpecError::new(ErrorKind::Malformed, format!("line {line}: {what}"), remedy)
}

/// The numbers of a row `- [a, b, c]`.
fn numbers<const N: usize>(line: usize, text: &str, columns: &str) -> Result<[f64; N], SpecError> {
    const REMEDY: &str = "write a row as Noxim does: - [4, 32, 2.27e-3, 7.62e-13, 0, 5.34e-13]";
    let inner = text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let cells = inner.ok_or_else(|| malformed(line, "no row of numbers in brackets", REMEDY))?.split(',');
    let values: Option<Vec<f64>> = cells.map(|cell| cell.trim().parse().ok()).collect();
    let values = values.filter(|values| values.iter().all(|value| *value >= 0.0 && value.is_finite()));
    let row = values.and_then(|values| <[f64; N]>::try_from(values).ok());
    row.ok_or_else(|| malformed(line, &format!("no {N} numbers from 0 on: {columns}"), REMEDY))
}

/// A whole number of a row.
fn whole(line: usize, value: f64, name: &str) -> Result<u64, SpecError> {
    // Numbers of flits, bits and ports: all of them are exact in 64 bits of floating point.
    match value.fract() == 0.0 && (1.0..=1e9).contains(&value) {
        true => Ok(value as u64),
        false => Err(malformed(line, &format!("{name} {value} is no whole number from 1 on"), "correct the row")),
    }
}

impl Table {
    /// The rows in a text: keys by their indentation, and lists of rows of numbers.
    fn parse(text: &str) -> Result<Self, SpecError> {
        let mut table = Self::default();
        // The open keys with their indentations.
        let mut path: Vec<(usize, &str)> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim_end();
            let words = line.trim_start();
            if words.is_empty() {
                continue;
            }
            let indentation = line.len() - words.len();
            if line[..indentation].contains('\t') {
                return Err(malformed(number, "a tab in the indentation", "indent by spaces, as YAML demands"));
            }
            let row = words.strip_prefix('-').filter(|rest| rest.starts_with([' ', '[']));
            // Rows may be as far from the edge as the key of their list.
            path.retain(|(at, _)| *at < indentation || row.is_some() && *at == indentation);
            let Some(row) = row else {
                let key = words.split_once(':').map(|(key, _)| key.trim());
                let Some(key) = key else {
                    return Err(malformed(number, "neither a key nor a row", "name a power.yaml of Noxim"));
                };
                path.push((indentation, key));
                continue;
            };
            let keys: Vec<&str> = path.iter().map(|(_, key)| *key).collect();
            match keys[..] {
                ["Energy", "Buffer"] => {
                    let [depth, bits, leakage, push, front, pop] =
                        numbers(number, row, "depth, bits, leakage, push, front, pop")?;
                    let (depth, bits) = (whole(number, depth, "depth")?, whole(number, bits, "size")?);
                    table.buffers.push(Buffer { depth, bits, leakage, push, front, pop });
                }
                ["Energy", "LinkBitLine"] => {
                    let [mm, leakage, joules] = numbers(number, row, "length, leakage, energy")?;
                    table.links.push(BitLine { mm, leakage, joules });
                }
                ["Energy", "Router", "crossbar"] => {
                    let [ports, bits, leakage, joules] = numbers(number, row, "ports, bits, leakage, energy")?;
                    let (ports, bits) = (whole(number, ports, "ports")?, whole(number, bits, "size")?);
                    table.crossbars.push(Crossbar { ports, bits, leakage, joules });
                }
                _ => {}
            }
        }
        for (list, is_empty) in [
            ("Buffer", table.buffers.is_empty()),
            ("LinkBitLine", table.links.is_empty()),
            ("crossbar", table.crossbars.is_empty()),
        ] {
            if is_empty {
                let what = format!("no rows of {list}");
                return Err(SpecError::new(ErrorKind::Malformed, what, "name a power.yaml of Noxim"));
            }
        }
        Ok(table)
    }

    fn buffer(&self, depth: u64, bits: u64) -> Result<&Buffer, SpecError> {
        let shown = |row: &Buffer| format!("{} x {} bits", row.depth, row.bits);
        let is_it = |row: &Buffer| (row.depth, row.bits) == (depth, bits);
        find("Buffer", &self.buffers, is_it, &shown, || format!("{depth} flits x {bits} bits"))
    }

    fn crossbar(&self, ports: u64, bits: u64) -> Result<&Crossbar, SpecError> {
        let shown = |row: &Crossbar| format!("{} ports x {} bits", row.ports, row.bits);
        let is_it = |row: &Crossbar| (row.ports, row.bits) == (ports, bits);
        find("crossbar", &self.crossbars, is_it, &shown, || format!("{ports} ports x {bits} bits"))
    }
}

impl EnergyModel for Noxim {
    fn check_sizes(&self, sizes: Sizes) -> Result<(), SpecError> {
        self.table.buffer(sizes.buffer, sizes.flit_bits).map(|_| ()).map_err(|error| error.of("energy"))
    }

    fn estimate(&self, counts: &Counts) -> Result<Estimate, SpecError> {
        let has_ports = counts.routers.iter().all(|router| router.ports.is_some());
        let Some((vcs, depth)) = counts.buffers.filter(|_| has_ports && !counts.routers.is_empty()) else {
            return Err(super::no_routers(NOXIM.component.name));
        };
        let seconds = counts.seconds.ok_or_else(super::no_time)?;
        let flit_bits = counts.flit_bits as u64;
        let buffer = *self.table.buffer(depth, flit_bits).map_err(|error| error.of("energy"))?;
        let (mut wire, mut wire_leakage) = (0.0, 0.0);
        let is_link = |kind: ChannelKind, class: &str| kind == ChannelKind::Network && class != BORDER;
        for channel in counts.channels.iter().filter(|channel| is_link(channel.kind, &channel.class)) {
            wire += channel.carried() * counts.flit_bits * self.link.joules;
            wire_leakage += counts.flit_bits * self.link.leakage * seconds;
        }
        let (mut read, mut write, mut buffer_leakage) = (0.0, 0.0, 0.0);
        let (mut switch, mut switch_leakage) = (0.0, 0.0);
        for router in &counts.routers {
            let Some(ports) = &router.ports else { continue };
            let of = self.table.crossbar(router.inputs.max(router.outputs) as u64, flit_bits);
            let of = of.map_err(|error| error.of("energy"))?;
            let sum = |counts: &[u64]| counts.iter().map(|&count| count as f64).sum::<f64>();
            read += sum(&ports.reads) * (buffer.front + buffer.pop);
            write += sum(&ports.writes) * buffer.push;
            buffer_leakage += (router.inputs as u64 * vcs) as f64 * buffer.leakage * seconds;
            switch += sum(&ports.traversals) * of.joules;
            switch_leakage += of.leakage * seconds;
        }
        let part = |(part, joules): (&'static str, f64)| Part {
            part,
            class: String::new(),
            count: 0,
            joules: Range::exact(joules),
        };
        let parts = [
            ("channel_wire", wire),
            ("channel_leakage", wire_leakage),
            ("input_read", read),
            ("input_write", write),
            ("input_leakage", buffer_leakage),
            ("switch", switch),
            ("switch_leakage", switch_leakage),
        ];
        Ok(Estimate {
            seconds,
            components: parts.map(part).into(),
            areas: Vec::new(),
            delivered_bits: counts.delivered_bits,
            flit_bits: Some(counts.flit_bits),
            warnings: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as Noxim writes them, with lists that are not read, comments, and a tab in a comment.
    const TEXT: &str = "Energy:\n    Buffer: # of a flit\n    #   - [Depth Size Leakage Push Front Pop]\n        - [4, 32, 2e-3, 8e-13, 1e-13, 5e-13] # measured\n        - [8,32,3e-3,1e-12,0,8e-13]\n\n    LinkBitLine:\n        - [0.5, 4e-7, 2.5e-14]\n        - [1.0, 5e-7, 5e-14]\n\n    Router:\n        crossbar:\n            - [3, 32, 7e-4, 2e-13]\n        network_interface:\n\t# not yet characterized\n            - [16, 0.0, 0.0]\n        routing:\n            XY: [1.2e-4, 6e-14]\n    Hub:\n        rx_dynamic: 7.0e-13\n";

    fn counts() -> Counts {
        let text = "{\"cycles\":1000,\"vcs\":2,\"buffer\":4,\"flit_bits\":32}\n\
                    {\"channel\":\"injection\",\"latency\":1,\"flits\":[30]}\n\
                    {\"channel\":\"network\",\"latency\":1,\"flits\":[20]}\n\
                    {\"channel\":\"network\",\"latency\":1,\"flits\":[0],\"class\":\"border\"}\n\
                    {\"channel\":\"ejection\",\"latency\":1,\"flits\":[40]}\n\
                    {\"inputs\":2,\"outputs\":3,\"reads\":[30,30],\"writes\":[30,30],\"traversals\":[[20,0,10],[0,0,30]]}\n";
        let mut counts = crate::energy::read(text).unwrap().remove(0);
        counts.seconds = Some(1e-6);
        counts
    }

    /// Each sum by hand.
    #[test]
    fn events_and_leakage_add_up() {
        let table = Table::parse(TEXT).unwrap();
        let model = Noxim { link: table.links[1], table };
        let found = model.estimate(&counts()).unwrap();
        for (name, expected) in [
            ("channel_wire", 20.0 * 32.0 * 5e-14),
            ("channel_leakage", 32.0 * 5e-7 * 1e-6),
            ("input_read", 60.0 * 6e-13),
            ("input_write", 60.0 * 8e-13),
            ("input_leakage", 2.0 * 2.0 * 2e-3 * 1e-6),
            ("switch", 60.0 * 2e-13),
            ("switch_leakage", 7e-4 * 1e-6),
        ] {
            let joules = found.components.iter().find(|part| part.part == name).unwrap().joules.value;
            assert!((joules / expected - 1.0).abs() < 1e-12, "{name}: {joules}, expected {expected}");
        }
        assert_eq!(found.components.len(), 7);
    }

    #[test]
    fn sizes_that_are_missing_are_named() {
        let table = Table::parse(TEXT).unwrap();
        assert_eq!((table.buffers.len(), table.links.len(), table.crossbars.len()), (2, 2, 1));
        let model = Noxim { link: table.links[0], table };
        let error = model.check_sizes(Sizes { buffer: 4, flit_bits: 64 }).unwrap_err();
        let (what, remedy) = (error.to_string(), error.remedy().to_string());
        assert!(what.contains("4 flits x 64 bits") && remedy.contains("8 x 32 bits"), "{what}; {remedy}");
        let mut other = counts();
        other.routers[0].inputs = 5;
        let error = model.estimate(&other).unwrap_err().to_string();
        assert!(error.contains("5 ports x 32 bits"), "{error}");
        let timeless = Counts { seconds: None, ..counts() };
        assert!(model.estimate(&timeless).unwrap_err().to_string().contains("time"));
    }

    #[test]
    fn lines_that_are_none_are_named() {
        for (text, said) in [
            ("", "no rows of Buffer"),
            ("Energy:\n  Buffer:\n  - [4, 32, 1, 1, 1]\n", "line 3: no 6 numbers"),
            ("Energy:\n  Buffer:\n  - [4, 32, 1, 1, 1, -1]\n", "line 3: no 6 numbers"),
            ("Energy:\n  Buffer:\n  - [4.5, 32, 1, 1, 1, 1]\n", "line 3: depth 4.5"),
            ("Energy:\n  Buffer:\n\t- [4, 32, 1, 1, 1, 1]\n", "line 3: a tab"),
            ("Energy:\n  Buffer:\n  - 4\n", "line 3: no row"),
            ("Energy\n", "line 1: neither"),
        ] {
            let error = Table::parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
        // A list may be as far from the edge as its key.
        let text = TEXT.replace("        - [", "    - [");
        assert_eq!(Table::parse(&text).unwrap().buffers.len(), 2);
    }
}
