//! Settings of hosts, of the ideal network, and of the tasks' use of their nodes.

use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::trace::goal::hosts::HostParams;

use super::settings::{Settings, SettingsError};

/// \[ns\] or \[ns/byte\] Maximum parameter: sums over a run still fit 64 bits.
const MOST: u64 = 1 << 40;

/// An exact decimal number: `digits` divided by `ticks`, which is a power of ten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decimal {
    digits: u64,
    ticks: u64,
}

/// Maximum number of decimals of a [`Decimal`]: 2^64 ticks are hours then.
const DECIMALS: usize = 6;

impl Decimal {
    const fn whole(digits: u64) -> Self {
        Self { digits, ticks: 1 }
    }

    fn parse(text: &str) -> Option<Self> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(rest) {
            return None;
        }
        let rest = rest.trim_end_matches('0');
        if rest.len() > DECIMALS {
            return None;
        }
        let ticks = 10_u64.pow(rest.len() as u32);
        let whole = whole.parse::<u64>().ok().filter(|whole| *whole <= MOST / ticks)?;
        let rest = if rest.is_empty() { 0 } else { rest.parse::<u64>().ok()? };
        Some(Self { digits: whole * ticks + rest, ticks })
    }

    /// The number in units of a multiple of its ticks.
    const fn counted_in(self, ticks: u64) -> u64 {
        self.digits * (ticks / self.ticks)
    }
}

/// A number of ticks in words, as a decimal.
pub(crate) fn in_units(value: u64, ticks: u64) -> String {
    if value.is_multiple_of(ticks) {
        return (value / ticks).to_string();
    }
    let places = ticks.ilog10() as usize;
    let rest = format!("{:0places$}", value % ticks);
    format!("{}.{}", value / ticks, rest.trim_end_matches('0'))
}

/// Destination of a parsed number.
enum Slot<'a> {
    Whole(&'a mut u64),
    Decimal(&'a mut Decimal),
}

/// Parses `key=number,...` with these keys; where a key is absent its number stays.
fn numbers(
    settings: &Settings,
    name: &'static str,
    text: &str,
    values: &mut [(&str, Slot<'_>)],
    example: &str,
) -> Result<(), SettingsError> {
    let mut given = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let key = part.split_once('=').map_or(part, |(key, _)| key.trim());
        if given.contains(&key) {
            return Err(settings.error(
                name,
                ErrorKind::Conflict,
                phrase![[name], ": `{key}` stands twice in `{text}`"],
                "give it once",
            ));
        }
        given.push(key);
        let found = part.split_once('=').and_then(|(key, value)| {
            let (_, slot) = values.iter_mut().find(|(known, _)| *known == key.trim())?;
            match slot {
                Slot::Whole(slot) => **slot = value.trim().parse::<u64>().ok().filter(|number| *number <= MOST)?,
                Slot::Decimal(slot) => **slot = Decimal::parse(value.trim())?,
            }
            Some(())
        });
        if found.is_none() {
            let keys: Vec<&str> = values.iter().map(|(key, _)| *key).collect();
            let what = phrase![
                [name],
                (
                    ": `{part}` is not one of {} with a whole number up to 2^40 (O and G: with up to {DECIMALS} \
                     decimals)",
                    keys.join(", ")
                )
            ];
            return Err(settings.error(name, ErrorKind::Malformed, what, phrase!["write ", [name => example]]));
        }
    }
    Ok(())
}

/// The hosts of a graph; G is that of the network, 0 over routers.
pub(super) fn hosts(settings: &Settings, gap_per_byte: Option<Decimal>) -> Result<HostParams, SettingsError> {
    let mut params = HostParams::default();
    let gap_per_byte = gap_per_byte.unwrap_or(Decimal::whole(0));
    let mut overhead_per_byte = Decimal::whole(params.overhead_per_byte);
    if settings.is_set("hosts") {
        let HostParams { overhead, gap, rendezvous, .. } = &mut params;
        let values = &mut [
            ("o", Slot::Whole(overhead)),
            ("g", Slot::Whole(gap)),
            ("O", Slot::Decimal(&mut overhead_per_byte)),
            ("S", Slot::Whole(rendezvous)),
        ];
        numbers(settings, "hosts", settings.word("hosts"), values, "o=1500,g=1000,O=0,S=65535")?;
    }
    // Powers of ten: the greater is a multiple of the other.
    let ticks = gap_per_byte.ticks.max(overhead_per_byte.ticks);
    let (gap_per_byte, overhead_per_byte) = (gap_per_byte.counted_in(ticks), overhead_per_byte.counted_in(ticks));
    Ok(HostParams { gap_per_byte, overhead_per_byte, ticks, ..params })
}

/// L and G of the ideal network; `None` for the router.
pub(super) fn network(settings: &Settings) -> Result<Option<(u64, Decimal)>, SettingsError> {
    const EXAMPLE: &str = "ideal:L=2500,G=6";
    if !settings.is_set("network") {
        return Ok(None);
    }
    let word = settings.word("network");
    let (name, parameters) = word.split_once(':').unwrap_or((word, ""));
    let (mut latency, mut gap_per_byte) = (2500, Decimal::whole(6));
    match name {
        "router" if parameters.is_empty() => Ok(None),
        "ideal" => {
            let values = &mut [("L", Slot::Whole(&mut latency)), ("G", Slot::Decimal(&mut gap_per_byte))];
            numbers(settings, "network", parameters, values, EXAMPLE)?;
            Ok(Some((latency, gap_per_byte)))
        }
        _ => {
            let what = phrase![["network"], " does not know `{word}`"];
            Err(settings.error(
                "network",
                ErrorKind::UnknownName,
                what,
                phrase!["write ", ["network" => "router"], ", or ", ["network" => EXAMPLE]],
            ))
        }
    }
}

/// \[bytes\] Maximum size of a message that is sent eagerly; `None` if all are.
pub(super) fn eager(settings: &Settings) -> Result<Option<u64>, SettingsError> {
    if settings.is_set("eager") { settings.integer("eager").map(Some) } else { Ok(None) }
}

/// Tasks that share a node.
pub(super) fn tasks_per_node(settings: &Settings) -> Result<usize, SettingsError> {
    if !settings.is_set("tasks-per-node") {
        return Ok(1);
    }
    match settings.integer::<usize>("tasks-per-node")? {
        0 => Err(settings.error(
            "tasks-per-node",
            ErrorKind::OutOfRange,
            phrase![["tasks-per-node" => 0], ": nowhere to run"],
            "use 1 or more",
        )),
        tasks => Ok(tasks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let parsed = |text| Decimal::parse(text).map(|found| (found.digits, found.ticks));
        assert_eq!(parsed("6"), Some((6, 1)));
        assert_eq!(parsed("6.000"), Some((6, 1)));
        assert_eq!(parsed("0.04"), Some((4, 100)));
        assert_eq!(parsed("12.345678"), Some((12_345_678, 1_000_000)));
        for wrong in ["", ".", ".5", "5.", "-1", "+1", "1e3", "0.1234567", "nan", "1.2.3", "1099511627777"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
        assert_eq!(in_units(4, 100), "0.04");
        assert_eq!(in_units(1_200, 1000), "1.2");
        assert_eq!(in_units(3000, 1000), "3");
        assert_eq!(Decimal { digits: 4, ticks: 100 }.counted_in(1000), 40);
    }
}
