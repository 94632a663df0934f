//! fsin with a format of networks of its own: `fsin-format run --topology graph:racks.txt`.

use std::process::ExitCode;

use fsin::Registry;
use fsin::topology::graph::{Description, Format, Names, Word, refusal, words};
use trgen::catalog::{Component, ErrorKind, SpecError};

/// `racks`, then a line for each: its switch, its number of hosts, and the switches above it.
fn read(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let places = &to.reading().places;
    for line in words(text, places).skip(1) {
        let line = line?;
        let [rack, hosts, above @ ..] = &line[..] else {
            return Err(refusal(places, line[0].at, ErrorKind::Malformed, "a rack without hosts", "write `r1 16 s1 s2`"));
        };
        let count = hosts.text.parse::<u16>().map_err(|_| {
            refusal(places, hosts.at, ErrorKind::Malformed, "no number of hosts", "write 0 to 65535")
        })?;
        to.declare(rack, false)?;
        for number in 0..count {
            let host = Word::new(format!("{}.{number}", rack.text), rack.at);
            to.declare(&host, true)?;
            to.edge([&host, rack], false, &[])?;
        }
        for switch in above {
            to.declare(switch, false)?;
            to.edge([rack, switch], false, &[])?;
        }
    }
    Ok(())
}

const ABOUT: &str = "racks, with the number of hosts of each and the switches above it";
static RACKS: Format = Format {
    names: Names::Stated,
    ..Format::new(
        Component { name: "racks", about: ABOUT, parameters: &[], source: "an example" },
        "a list of racks",
        |text| text.lines().next() == Some("racks"),
        read,
    )
};

fn main() -> ExitCode {
    let mut registry = Registry::standard();
    registry.network_formats.push(&RACKS);
    fsin::main_with(registry)
}
