//! Files of a process, in BookSim's format: statements `name = value;`, comments after `//` or `#`.

use std::collections::BTreeMap;

use trgen::catalog::{ErrorKind, SpecError, suggestion};

/// The constants of a process. Names are those of the file.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Tech {
    /// \[tracks\] Height and width of cells: an inverter, a flip-flop, a bit of SRAM.
    pub(super) h_invd2: f64,
    pub(super) w_invd2: f64,
    pub(super) h_dfqd1: f64,
    pub(super) w_dfqd1: f64,
    pub(super) h_sram: f64,
    pub(super) w_sram: f64,
    /// \[V\] Supply voltage.
    pub(super) vdd: f64,
    /// \[ohm\] Resistance of the smallest inverter.
    pub(super) r: f64,
    /// \[A\] Leakage of a bit of SRAM, and of the two kinds of transistors.
    pub(super) ioff_sram: f64,
    pub(super) ioff_p: f64,
    pub(super) ioff_n: f64,
    /// \[F\] Capacitances of a transistor.
    pub(super) cg_pwr: f64,
    pub(super) cd_pwr: f64,
    pub(super) cgdl: f64,
    pub(super) cg: f64,
    pub(super) cd: f64,
    pub(super) lambda: f64,
    /// \[mm\] Distance between wires.
    pub(super) metal_pitch: f64,
    /// \[ohm/mm\] Resistance of a wire.
    pub(super) rw: f64,
    /// \[F/mm\] Capacitances of a wire.
    pub(super) cw_gnd: f64,
    pub(super) cw_cpl: f64,
    /// \[mm\] Length of a link for each cycle of its delay.
    pub(super) wire_length: f64,
}

/// Every name. Those of the NAND gate are read, and nothing depends on them.
const NAMES: [&str; 24] = [
    "H_INVD2",
    "W_INVD2",
    "H_DFQD1",
    "W_DFQD1",
    "H_ND2D1",
    "W_ND2D1",
    "H_SRAM",
    "W_SRAM",
    "Vdd",
    "R",
    "IoffSRAM",
    "IoffP",
    "IoffN",
    "Cg_pwr",
    "Cd_pwr",
    "Cgdl",
    "Cg",
    "Cd",
    "LAMBDA",
    "MetalPitch",
    "Rw",
    "Cw_gnd",
    "Cw_cpl",
    "wire_length",
];

/// Names without which a file is complete.
const UNUSED: [&str; 2] = ["H_ND2D1", "W_ND2D1"];

impl Tech {
    /// The constants in a text.
    ///
    /// # Errors
    /// Text that is not a statement; unknown or missing names; values that are not positive numbers.
    pub(super) fn parse(text: &str) -> Result<Self, SpecError> {
        let malformed = |line: usize, what: &str, remedy: &str| {
            SpecError::new(ErrorKind::Malformed, format!("line {line}: {what}"), remedy.to_owned())
        };
        let mut values = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let code = line.split("//").next().unwrap_or("").split('#').next().unwrap_or("").trim();
            for statement in code.split_terminator(';').map(str::trim).filter(|statement| !statement.is_empty()) {
                let Some((name, value)) = statement.split_once('=') else {
                    return Err(malformed(
                        number,
                        &format!("`{}` is no statement", statement.escape_debug()),
                        "write `name = value;`",
                    ));
                };
                let (name, value) = (name.trim(), value.trim());
                let Some(name) = NAMES.iter().find(|known| **known == name) else {
                    let what = format!("line {number}: `{}` is no constant of a process", name.escape_debug());
                    return Err(SpecError::new(ErrorKind::UnknownName, what, &suggestion(name, &NAMES)));
                };
                let Some(value) = value.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0) else {
                    let what = format!("{name} = `{}` is no number above 0", value.escape_debug());
                    return Err(malformed(number, &what, "write a number such as 6.5e-10"));
                };
                values.insert(*name, value);
            }
        }
        let missing: Vec<&str> =
            NAMES.into_iter().filter(|name| !values.contains_key(name) && !UNUSED.contains(name)).collect();
        if !missing.is_empty() {
            let what = format!("the file has no {}", fsin_core::words::joined(&missing, "and"));
            return Err(SpecError::new(ErrorKind::Malformed, what, "add a statement `name = value;` for each"));
        }
        let value = |name: &str| values.get(name).copied().unwrap_or_default();
        Ok(Self {
            h_invd2: value("H_INVD2"),
            w_invd2: value("W_INVD2"),
            h_dfqd1: value("H_DFQD1"),
            w_dfqd1: value("W_DFQD1"),
            h_sram: value("H_SRAM"),
            w_sram: value("W_SRAM"),
            vdd: value("Vdd"),
            r: value("R"),
            ioff_sram: value("IoffSRAM"),
            ioff_p: value("IoffP"),
            ioff_n: value("IoffN"),
            cg_pwr: value("Cg_pwr"),
            cd_pwr: value("Cd_pwr"),
            cgdl: value("Cgdl"),
            cg: value("Cg"),
            cd: value("Cd"),
            lambda: value("LAMBDA"),
            metal_pitch: value("MetalPitch"),
            rw: value("Rw"),
            cw_gnd: value("Cw_gnd"),
            cw_cpl: value("Cw_cpl"),
            wire_length: value("wire_length"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_complete_or_says_what_it_lacks() {
        let whole = include_str!("tables/32nm.txt");
        assert!(Tech::parse(whole).is_ok());
        let said = |text: &str| Tech::parse(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(said(&whole.replace("Rw =", "// Rw =")).contains("no Rw"));
        assert!(said(&whole.replace("Rw =", "Rx =")).contains("`Rx` is no constant"));
        assert!(said(&whole.replace("Vdd = 0.9", "Vdd = -0.9")).contains("above 0"));
        assert!(said("Vdd").contains("line 1"));
    }
}
