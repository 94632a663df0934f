//! The power model of BookSim 2: wires with repeaters, buffers of SRAM, a matrix crossbar, flip-flops at outputs.
//!
//! Capacitances are those of the smallest transistors, scaled; u = Vdd^2 / t is the power of a farad that is charged in
//! each cycle of t seconds. Names of the formulas are those of docs/decisions/0480-energy.md.

use std::collections::HashMap;
use std::path::Path;

use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};

use super::counts::Counts;
use super::estimate::{Area, Component as Part, Estimate, Range};
use super::tech::Tech;
use super::{EnergyModel, Row};

/// The table of the process that is taken if no file is named.
const DEFAULT: &str = include_str!("tables/32nm.txt");

/// \[bits\] Width of links if neither a word nor the counts say it.
const WIDTH: u32 = 128;

/// The row of this model.
pub(super) static BOOKSIM: Row = Row {
    component: Component {
        name: "booksim",
        about: "routers and wires on a chip, by the constants of a process: powers, leakage and areas; over counts of wormhole",
        parameters: &[
            Parameter {
                name: "FILE",
                about: "constants of the process, as BookSim's tech_file",
                range: "file",
                default: "a 32 nm process",
            },
            Parameter {
                name: "width",
                about: "width of links in bits",
                range: "1..=1048576",
                default: "that of the counts, or 128",
            },
        ],
        source: "Jiang et al., BookSim 2, ISPASS 2013; constants of a 32 nm process at 70 C",
    },
    parse,
    file: file_in,
    needs_routers: true,
};

/// The file among the words.
fn file_in(words: &str) -> Option<&str> {
    words.split(',').map(str::trim).find(|word| !word.is_empty() && !word.starts_with("width="))
}

fn parse(words: Option<&str>, folder: &Path) -> Result<Box<dyn EnergyModel>, SpecError> {
    let mut width = None;
    let mut file = None;
    for word in words.unwrap_or_default().split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match word.strip_prefix("width=") {
            Some(bits) => {
                width = Some(bits.parse().ok().filter(|bits| (1..=1 << 20).contains(bits)).ok_or_else(|| {
                    let what = format!("width={} is no number of bits", bits.escape_debug());
                    SpecError::new(ErrorKind::OutOfRange, what, "write a whole number from 1 to 1048576")
                })?);
            }
            None if file.is_none() => file = Some(word),
            None => {
                let what = format!("`{}` is a second file", word.escape_debug());
                return Err(SpecError::new(
                    ErrorKind::Malformed,
                    what,
                    "name one file, as in booksim:32nm.txt,width=64",
                ));
            }
        }
    }
    let tech = match file {
        None => Tech::parse(DEFAULT)?,
        Some(name) => {
            let text = super::file::text_of(&folder.join(name))?;
            Tech::parse(&text).map_err(|error| error.within(format!("{name}: ")))?
        }
    };
    Ok(Box::new(Booksim { tech, width }))
}

/// The model.
#[derive(Debug)]
struct Booksim {
    tech: Tech,
    width: Option<u32>,
}

/// Repeaters of a link: their size, and the numbers of segments and of registers.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Repeaters {
    size: f64,
    segments: f64,
    registers: f64,
}

/// Constants that follow from those of the process.
struct Derived<'a> {
    tech: &'a Tech,
    /// \[F/mm\] Of a wire.
    wire: f64,
    /// \[F\] Of the smallest inverter for power: input and output; for delay: input and output.
    input: f64,
    output: f64,
    input_delay: f64,
    output_delay: f64,
    /// Ratio of the latter two.
    ratio: f64,
    /// \[s\] The clock.
    clock: f64,
    /// \[W/F\]
    unit: f64,
    /// \[mm\] Distance between two wires of the crossbar.
    pitch: f64,
    /// \[A\] Leakage of an inverter.
    leak: f64,
}

impl<'a> Derived<'a> {
    fn new(tech: &'a Tech) -> Self {
        let clock = 20.0 * tech.r * (3.0 * tech.cd + 12.0 * tech.cg + 12.0 * tech.cgdl);
        let (input_delay, output_delay) = (3.0 * (tech.cg + tech.cgdl), 3.0 * tech.cd);
        Self {
            tech,
            wire: 2.0 * tech.cw_cpl + 2.0 * tech.cw_gnd,
            input: 3.0 * tech.cg_pwr,
            output: 3.0 * tech.cd_pwr,
            input_delay,
            output_delay,
            ratio: output_delay / input_delay,
            clock,
            unit: tech.vdd * tech.vdd / clock,
            pitch: 2.0 * tech.metal_pitch,
            leak: (tech.ioff_n + 2.0 * tech.ioff_p) / 2.0,
        }
    }

    /// \[W\] Flip-flops of `count` registers of `bits` bits, of which a share `activity` changes.
    fn flip_flops(&self, count: f64, bits: f64, activity: f64) -> f64 {
        let both = 1.6 * (self.input + self.output);
        let (data, clock) = (both + 16.0 / 15.0 * self.output, both + 16.0 / 15.0 * self.tech.cg_pwr);
        self.unit * count * bits * activity * (0.5 * data + clock)
    }

    /// \[W\] The clock of `count` registers of `bits` bits.
    fn clock(&self, count: f64, bits: f64) -> f64 {
        let height = self.tech.h_dfqd1;
        let load = self.pitch * self.wire * height / 2.0 + self.input_delay;
        self.unit * count * bits * (1.0 + 5.0 / 16.0 * (1.0 + self.ratio)) * load
    }

    /// \[W\] A wire of `length` mm that changes in each cycle.
    fn wire(&self, length: f64, of: Repeaters) -> f64 {
        let Repeaters { size, segments, registers } = of;
        let section = length / (segments * registers);
        self.unit * registers * segments * (size * (self.input + self.output) + self.wire * section) / 2.0
    }

    /// The repeaters with which a wire of `length` mm is fast enough, with least power; the first of equals. `None` if
    /// no wire of this length is.
    fn repeaters(&self, length: f64) -> Option<Repeaters> {
        let tech = self.tech;
        let mut best: Option<(f64, Repeaters)> = None;
        let mut size = 1.0;
        while size < 10.0 {
            for segments in (1..40).map(f64::from) {
                for registers in (1..40).map(f64::from) {
                    let section = length / (segments * registers);
                    let delay = tech.r * (self.output_delay + self.input_delay)
                        + (tech.r * self.wire / size + size * tech.rw * self.input_delay) * section
                        + tech.rw * self.wire * section * section / 2.0;
                    if segments * delay >= 0.8 * self.clock {
                        continue;
                    }
                    let of = Repeaters { size, segments, registers };
                    let power = 0.2 * self.wire(length, of) * 64.0 + self.flip_flops(registers, 64.0, 0.2);
                    let cost = registers.powi(4) * power;
                    if best.is_none_or(|(least, _)| cost < least) {
                        best = Some((cost, of));
                    }
                }
            }
            size += 0.1;
        }
        best.map(|(_, of)| of)
    }
}

/// Powers in the order of the results \[W\], and areas \[mm2\].
#[derive(Default)]
struct Sums {
    wire: f64,
    clock: f64,
    retiming: f64,
    leakage: f64,
    read: f64,
    write: f64,
    input_leakage: f64,
    switch: f64,
    control: f64,
    switch_leakage: f64,
    dff: f64,
    output_clock: f64,
    output_control: f64,
    channel_area: f64,
    switch_area: f64,
    input_area: f64,
    output_area: f64,
}

impl Sums {
    /// Adds the links.
    fn links(&mut self, of: &Derived<'_>, counts: &Counts, width: f64) -> Vec<String> {
        let tech = of.tech;
        let mut known: HashMap<u32, Option<Repeaters>> = HashMap::new();
        let mut too_long = Vec::new();
        for channel in &counts.channels {
            let length = f64::from(channel.latency) * tech.wire_length;
            let found = *known.entry(channel.latency).or_insert_with(|| of.repeaters(length));
            let repeaters = found.unwrap_or_else(|| {
                too_long.push(channel.latency);
                Repeaters { size: -1.0, segments: -1.0, registers: -1.0 }
            });
            let Repeaters { size, segments, registers } = repeaters;
            let activity = channel.carried() / counts.cycles;
            self.wire += activity * width * of.wire(length, repeaters);
            self.clock += of.clock(registers, width);
            self.retiming += of.flip_flops(registers, width, activity);
            self.leakage += size * of.leak * tech.vdd * registers * segments * width;
            let register = registers * tech.w_dfqd1 * tech.h_dfqd1;
            let inverters = registers * segments * (tech.w_invd2 + 3.0 * size) * tech.h_invd2;
            self.channel_area += width * tech.metal_pitch * tech.metal_pitch * (register + inverters);
        }
        too_long.sort_unstable();
        too_long.dedup();
        let warn = |latency: u32| {
            format!(
                "no repeaters make a wire of {latency} cycles ({} mm) fast enough in this process: its powers mean nothing",
                f64::from(latency) * tech.wire_length
            )
        };
        too_long.into_iter().map(warn).collect()
    }

    /// Adds a router with the counts of its ports; `depth` \[flits\] is the buffer of an input.
    fn router(&mut self, of: &Derived<'_>, router: &super::RouterCounts, cycles: f64, (width, depth): (f64, f64)) {
        let Some(ports) = &router.ports else { return };
        let tech = of.tech;
        let (inputs, outputs) = (router.inputs as f64, router.outputs as f64);
        let scale = 1.0 + 5.0 / 16.0 * (1.0 + of.output / of.input);
        let word = 1.25 * (1.0 + of.output / of.input);
        let pitch = tech.metal_pitch;
        let word_line = of.unit
            * (word * width * (12.0 * of.wire * pitch + 5.0 * of.input)
                + 2.0 * scale * of.wire * of.input * (8.0 * pitch + depth)
                + scale * width * (8.0 * tech.lambda * tech.cg_pwr + 6.0 * pitch * of.wire));
        let bit_line = of.unit * depth * (4.0 * tech.lambda * tech.cd_pwr + 8.0 * pitch * of.wire);
        for (&reads, &writes) in ports.reads.iter().zip(&ports.writes) {
            self.read += reads as f64 / cycles * (word_line + width * bit_line);
            // The last term lacks the clock, as in BookSim.
            let cells = width * (of.input + of.output) * tech.vdd * tech.vdd;
            self.write += writes as f64 / cycles * (word_line + width * bit_line + cells);
            self.input_leakage += depth * tech.ioff_sram * tech.vdd * width;
            self.input_area += width * depth * tech.h_sram * tech.w_sram * pitch * pitch;
        }
        let (row, column) = (width * outputs * of.pitch * of.wire, width * inputs * of.pitch * of.wire);
        for (at, &flits) in ports.traversals.iter().enumerate() {
            let (input, output) = ((at / router.outputs) as f64, (at % router.outputs) as f64);
            let mut one =
                5.0 / 16.0 * (1.0 + of.ratio) * (9.0 / 16.0 * row) + 17.0 / 16.0 * row + outputs * column / 16.0;
            if output < outputs / 2.0 {
                one -= row / 2.0 + outputs * column / 32.0;
            }
            let mut other = column + of.ratio * row / 4.0 + inputs * of.ratio * column / 4.0;
            if input < inputs / 2.0 {
                other -= column / 2.0 + inputs * of.ratio * column / 8.0;
            }
            let rate = flits as f64 / cycles;
            self.switch += rate * width * of.unit * (one + other) / 2.0;
            self.control +=
                rate * of.unit * (1.0 + 5.0 / 16.0 * (1.0 + of.ratio)) * (5.0 / 16.0 * width * row + row + column);
        }
        let wires = inputs * outputs * column + inputs * row + outputs * column;
        self.switch_leakage += of.leak * width * wires / (16.0 * of.input);
        self.switch_area += inputs * outputs * (width * of.pitch).powi(2);
        for output in 0..router.outputs {
            let flits: u64 = ports.traversals.iter().skip(output).step_by(router.outputs).sum();
            let rate = flits as f64 / cycles;
            self.output_clock += of.clock(1.0, width);
            self.dff += rate * of.flip_flops(1.0, width, 1.0);
            self.output_control +=
                rate * of.unit * 21.0 / 16.0 * (1.0 + of.output / of.input) * width * (of.pitch * of.wire + of.input);
            self.output_area += width * tech.w_dfqd1 * tech.h_dfqd1 * pitch * pitch;
        }
    }
}

impl EnergyModel for Booksim {
    fn estimate(&self, counts: &Counts) -> Result<Estimate, SpecError> {
        let has_ports = counts.routers.iter().all(|router| router.ports.is_some());
        let Some((vcs, buffer)) = counts.buffers.filter(|_| has_ports && !counts.routers.is_empty()) else {
            return Err(super::no_routers(BOOKSIM.component.name));
        };
        let of = Derived::new(&self.tech);
        let width = f64::from(self.width.or(counts.width).unwrap_or(WIDTH));
        let cycles = counts.cycles.max(1.0);
        let mut sums = Sums::default();
        let warnings = sums.links(&of, counts, width);
        for router in &counts.routers {
            sums.router(&of, router, cycles, (width, (vcs * buffer) as f64));
        }
        let seconds = cycles * of.clock;
        let part = |(part, watts): (&'static str, f64)| Part {
            part,
            class: String::new(),
            count: 0,
            joules: Range::exact(watts * seconds),
        };
        let powers = [
            ("channel_wire", sums.wire),
            ("channel_clock", sums.clock),
            ("channel_retiming", sums.retiming),
            ("channel_leakage", sums.leakage),
            ("input_read", sums.read),
            ("input_write", sums.write),
            ("input_leakage", sums.input_leakage),
            ("switch", sums.switch),
            ("switch_control", sums.control),
            ("switch_leakage", sums.switch_leakage),
            ("output_dff", sums.dff),
            ("output_clock", sums.output_clock),
            ("output_control", sums.output_control),
        ];
        let areas = [
            ("channel", sums.channel_area),
            ("switch", sums.switch_area),
            ("input", sums.input_area),
            ("output", sums.output_area),
        ];
        // The bits of a flit are those of the links here.
        let delivered = counts.delivered_bits.map(|bits| bits / counts.flit_bits * width);
        Ok(Estimate {
            seconds,
            components: powers.map(part).into(),
            areas: areas.map(|(part, mm2)| Area { part, mm2 }).into(),
            delivered_bits: delivered,
            flit_bits: Some(width),
            warnings,
        })
    }
}
