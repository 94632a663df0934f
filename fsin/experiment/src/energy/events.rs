//! Energies of events from a table: picojoules for each bit on a link of a class and each flit through a router, and
//! static powers.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use trgen::catalog::{Component, ErrorKind, Parameter, SpecError, suggestion};

use super::counts::{BORDER, ChannelKind, Counts};
use super::estimate::{Area, Component as Part, Estimate, Range};
use super::{EnergyModel, Row};

/// Tables that come with the program, by name.
const SHIPPED: [(&str, &str); 5] = [
    ("chip-32nm", include_str!("tables/chip-32nm.toml")),
    ("package", include_str!("tables/package.toml")),
    ("fabric-400g", include_str!("tables/fabric-400g.toml")),
    ("fabric-800g", include_str!("tables/fabric-800g.toml")),
    ("fabric-copackaged", include_str!("tables/fabric-copackaged.toml")),
];

/// The class of links between switches that are alike, whose entry serves links between levels of switches without one of
/// their own.
pub(crate) const NETWORK: &str = "network";

/// Beginnings of the names of such links.
const SWITCHES: [&str; 4] = ["level-", "within-level-", "within-nodes", "between-nodes"];

/// The class whose entry serves all classes without one of their own.
const OTHERS: &str = "default";

/// The row of this model.
pub(super) static EVENTS: Row = Row {
    component: Component {
        name: "events",
        about: "energies of events from a table: per bit on links of a class and through routers, and static power; for every model that counts bytes on links",
        parameters: &[Parameter {
            name: "TABLE",
            about: "a TOML file (its name has a point or slash), or a table that comes with the program: chip-32nm, package, fabric-400g, fabric-800g, fabric-copackaged",
            range: "file or name",
            default: "",
        }],
        source: "each table names its sources",
    },
    parse,
    file: file_in,
    needs_routers: false,
};

/// The file that the words name; names without a point or slash are those of shipped tables.
fn file_in(words: &str) -> Option<&str> {
    let words = words.trim();
    words.contains(['.', '/']).then_some(words)
}

fn parse(words: Option<&str>, folder: &Path) -> Result<Box<dyn EnergyModel>, SpecError> {
    let words = words.map_or("", str::trim);
    let text = match file_in(words) {
        Some(name) => super::file::text_of(&folder.join(name))?,
        None => match SHIPPED.iter().find(|(name, _)| *name == words) {
            Some((_, text)) => (*text).to_owned(),
            None => {
                let names = SHIPPED.map(|(name, _)| name);
                let what = format!("no table of energies `{}` comes with the program", words.escape_debug());
                let near = suggestion(words, &names);
                let remedy = match near.near.is_empty() {
                    true => {
                        format!("use one of {}, or a file whose name has a point: events:mine.toml", names.join(", "))
                    }
                    false => near.to_string(),
                };
                return Err(SpecError::new(ErrorKind::UnknownName, what, remedy));
            }
        },
    };
    let table: Table = toml::from_str(&text).map_err(|error| {
        let place =
            error.span().map_or(0, |span| text.get(..span.start).map_or(0, |before| before.lines().count().max(1)));
        let what = format!("{words}, line {place}: {}", error.message().escape_debug());
        SpecError::new(ErrorKind::Malformed, what, "see the table of energies in the book, `Energy`")
    })?;
    table.check().map_err(|error| error.within(format!("{words}: ")))?;
    Ok(Box::new(table))
}

/// A number of a table: alone, or with its range.
#[derive(Clone, Copy, PartialEq, Deserialize, Debug)]
#[serde(untagged)]
enum Figure {
    /// Without a range.
    One(f64),
    /// Least, usual and greatest.
    Three([f64; 3]),
}

impl Figure {
    const fn range(self) -> Range {
        match self {
            Self::One(value) => Range::exact(value),
            Self::Three([low, value, high]) => Range { low, value, high },
        }
    }
}

/// Costs of the routers of a class.
#[derive(Clone, PartialEq, Default, Deserialize, Debug)]
#[serde(deny_unknown_fields, default)]
struct RouterCosts {
    /// \[pJ/flit\] In buffers, the switch and allocation.
    buffer_read_pj: Option<Figure>,
    buffer_write_pj: Option<Figure>,
    switch_pj: Option<Figure>,
    allocation_pj: Option<Figure>,
    /// \[pJ/bit\] For each bit that passes.
    pj_per_bit: Option<Figure>,
    /// \[mW\] For each router, and for each output port.
    static_mw: Option<Figure>,
    static_mw_per_port: Option<Figure>,
    /// \[mW/(Gb/s)\] By the rates of all output ports.
    static_mw_per_gbps: Option<Figure>,
    /// \[mm2\] Of each router.
    area_mm2: Option<Figure>,
}

/// Costs of the links of a class, in one direction.
#[derive(Clone, PartialEq, Default, Deserialize, Debug)]
#[serde(deny_unknown_fields, default)]
struct LinkCosts {
    /// \[pJ/bit\] For each bit that passes.
    pj_per_bit: Option<Figure>,
    /// \[pJ/bit/mm\] The same for each mm.
    pj_per_bit_mm: Option<Figure>,
    /// \[mm\] Length; that of a link that takes a cycle is multiplied by its cycles if `mm_per_cycle` is given instead.
    mm: Option<Figure>,
    mm_per_cycle: Option<Figure>,
    /// \[mW\] Of each direction: of the transmitter of one end and the receiver of the other, or a module of one end.
    static_mw: Option<Figure>,
    /// \[mW/(Gb/s)\] The same by the rate of the link.
    static_mw_per_gbps: Option<Figure>,
}

/// Costs of the hosts of a class.
#[derive(Clone, PartialEq, Default, Deserialize, Debug)]
#[serde(deny_unknown_fields, default)]
struct HostCosts {
    /// \[pJ/bit\] For each bit that they send or receive.
    pj_per_bit: Option<Figure>,
    /// \[mW\] Of each host.
    static_mw: Option<Figure>,
}

/// A table.
#[derive(Clone, PartialEq, Default, Deserialize, Debug)]
#[serde(deny_unknown_fields, default)]
struct Table {
    /// The subject of the table, and the sources of its numbers.
    about: String,
    source: String,
    /// \[bits\] The flit of costs per flit; that of the run if absent.
    flit_bits: Option<f64>,
    router: BTreeMap<String, RouterCosts>,
    link: BTreeMap<String, LinkCosts>,
    host: BTreeMap<String, HostCosts>,
}

impl RouterCosts {
    /// Every number.
    const fn figures(&self) -> [(&'static str, Option<Figure>); 9] {
        [
            ("buffer_read_pj", self.buffer_read_pj),
            ("buffer_write_pj", self.buffer_write_pj),
            ("switch_pj", self.switch_pj),
            ("allocation_pj", self.allocation_pj),
            ("pj_per_bit", self.pj_per_bit),
            ("static_mw", self.static_mw),
            ("static_mw_per_port", self.static_mw_per_port),
            ("static_mw_per_gbps", self.static_mw_per_gbps),
            ("area_mm2", self.area_mm2),
        ]
    }

    /// \[pJ\] For a flit.
    fn of_flit(&self) -> Option<Range> {
        let parts = [self.buffer_read_pj, self.buffer_write_pj, self.switch_pj, self.allocation_pj];
        parts.into_iter().flatten().map(Figure::range).reduce(Range::plus)
    }
}

impl LinkCosts {
    /// Every number.
    const fn figures(&self) -> [(&'static str, Option<Figure>); 6] {
        [
            ("pj_per_bit", self.pj_per_bit),
            ("pj_per_bit_mm", self.pj_per_bit_mm),
            ("mm", self.mm),
            ("mm_per_cycle", self.mm_per_cycle),
            ("static_mw", self.static_mw),
            ("static_mw_per_gbps", self.static_mw_per_gbps),
        ]
    }

    /// \[pJ/bit\] Of a link with so many cycles of delay.
    fn of_bit(&self, latency: u32) -> Range {
        let fixed = or_nothing(self.pj_per_bit);
        let Some(per_mm) = self.pj_per_bit_mm.map(Figure::range) else { return fixed };
        let length = match (self.mm, self.mm_per_cycle) {
            (Some(mm), _) => mm.range(),
            (None, Some(mm)) => mm.range().times(latency.max(1).into()),
            (None, None) => Range::default(),
        };
        fixed.plus(Range {
            low: per_mm.low * length.low,
            value: per_mm.value * length.value,
            high: per_mm.high * length.high,
        })
    }
}

/// The number, 0 if it is absent.
fn or_nothing(figure: Option<Figure>) -> Range {
    figure.map_or_else(Range::default, Figure::range)
}

impl Table {
    /// Refuses malformed ranges, lengths that no cost uses, and costs by length without a length.
    fn check(&self) -> Result<(), SpecError> {
        let routers = self.router.iter().flat_map(|(class, of)| of.figures().map(|figure| ("router", class, figure)));
        let links = self.link.iter().flat_map(|(class, of)| of.figures().map(|figure| ("link", class, figure)));
        let hosts = self.host.iter().flat_map(|(class, of)| {
            [("pj_per_bit", of.pj_per_bit), ("static_mw", of.static_mw)].map(|figure| ("host", class, figure))
        });
        for (part, class, (name, figure)) in routers.chain(links).chain(hosts) {
            let Some(Range { low, value, high }) = figure.map(Figure::range) else { continue };
            if !(low >= 0.0 && low <= value && value <= high && high.is_finite()) {
                let what =
                    format!("[{part}.{class}] {name} is no number from 0 on, nor a least, usual and greatest one");
                return Err(SpecError::new(ErrorKind::OutOfRange, what, "write 5.5 or [5, 5.5, 7]"));
            }
        }
        for (class, of) in &self.link {
            let has_length = of.mm.is_some() || of.mm_per_cycle.is_some();
            if of.pj_per_bit_mm.is_some() != has_length || (of.mm.is_some() && of.mm_per_cycle.is_some()) {
                let what = format!("[link.{class}] has no length for its pj_per_bit_mm, or no use for its length");
                return Err(SpecError::new(
                    ErrorKind::Malformed,
                    what,
                    "give pj_per_bit_mm with one of mm and mm_per_cycle",
                ));
            }
        }
        if self.flit_bits.is_some_and(|bits| !(bits > 0.0 && bits.is_finite())) {
            return Err(SpecError::new(ErrorKind::OutOfRange, "flit_bits is no number above 0", "write 128"));
        }
        match self.router.is_empty() && self.link.is_empty() && self.host.is_empty() {
            true => Err(SpecError::new(
                ErrorKind::Malformed,
                "the table has no costs",
                "add [link.default] with pj_per_bit, for example",
            )),
            false => Ok(()),
        }
    }
}

/// The entry of a class; that of all others if it has none. No entry at all leaves the part out.
fn entry<'a, T>(part: &str, of: &'a BTreeMap<String, T>, class: &str) -> Result<Option<&'a T>, SpecError> {
    let of_levels = || of.get(NETWORK).filter(|_| SWITCHES.iter().any(|kind| class.starts_with(kind)));
    match of.get(class).or_else(of_levels).or_else(|| of.get(OTHERS)) {
        None if !of.is_empty() => {
            let what = format!("the table of energies has no [{part}.{class}], and no [{part}.{OTHERS}]");
            Err(SpecError::new(ErrorKind::Unsupported, what, format!("add [{part}.{class}]")).of("energy"))
        }
        found => Ok(found),
    }
}

/// Parts by class, in the order in which classes come first.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    /// Adds to a part.
    fn add(&mut self, part: &'static str, class: &str, count: u64, joules: Range) {
        match self.0.iter_mut().find(|one| one.part == part && one.class == class) {
            Some(one) => (one.count, one.joules) = (one.count + count, one.joules.plus(joules)),
            None => self.0.push(Part { part, class: class.to_owned(), count, joules }),
        }
    }
}

/// \[J/pJ\], \[W/mW\]
const PICO: f64 = 1e-12;
const MILLI: f64 = 1e-3;

impl EnergyModel for Table {
    fn check(&self, classes: &[String]) -> Result<(), SpecError> {
        entry("router", &self.router, "router")?;
        entry("host", &self.host, "host")?;
        classes.iter().try_for_each(|class| entry("link", &self.link, class).map(|_| ()))
    }

    fn estimate(&self, counts: &Counts) -> Result<Estimate, SpecError> {
        let mut parts = Parts::default();
        let mut areas = 0.0;
        let mut rates = 0.0;
        let mut needs_time = false;
        let seconds = counts.seconds.unwrap_or(0.0);
        for channel in counts.channels.iter().filter(|channel| channel.class != BORDER) {
            // Ports of hosts are no output ports of routers.
            if channel.kind != ChannelKind::Injection {
                rates += channel.rate;
            }
            let Some(of) = entry("link", &self.link, &channel.class)? else { continue };
            needs_time |= of.static_mw.is_some() || of.static_mw_per_gbps.is_some();
            let bits = channel.carried() * counts.flit_bits;
            let power = or_nothing(of.static_mw).plus(or_nothing(of.static_mw_per_gbps).times(channel.rate / 1e9));
            let joules = of.of_bit(channel.latency).times(bits * PICO).plus(power.times(MILLI * seconds));
            parts.add("links", &channel.class, 1, joules);
        }
        let ports: f64 = counts.routers.iter().map(|of| of.outputs as f64 * of.routers as f64).sum();
        for router in &counts.routers {
            let Some(of) = entry("router", &self.router, &router.class)? else { continue };
            let has_static =
                of.static_mw.is_some() || of.static_mw_per_port.is_some() || of.static_mw_per_gbps.is_some();
            needs_time |= has_static;
            let bits = router.flits * counts.flit_bits;
            let mut joules = or_nothing(of.pj_per_bit).times(bits * PICO);
            if let Some(of_flit) = of.of_flit() {
                let flit_bits = self.flit_bits.or(counts.has_flits.then_some(counts.flit_bits)).ok_or_else(|| {
                    let what = "the table has energies of flits, and this network has none";
                    SpecError::new(ErrorKind::Unsupported, what, "say flit_bits in the table, or use pj_per_bit")
                        .of("energy")
                })?;
                joules = joules.plus(of_flit.times(bits / flit_bits * PICO));
            }
            let count = router.routers as f64;
            let own_ports = count * router.outputs as f64;
            let rate = if ports > 0.0 { rates * own_ports / ports } else { 0.0 };
            let power = or_nothing(of.static_mw)
                .times(count)
                .plus(or_nothing(of.static_mw_per_port).times(own_ports))
                .plus(or_nothing(of.static_mw_per_gbps).times(rate / 1e9));
            parts.add("routers", &router.class, router.routers, joules.plus(power.times(MILLI * seconds)));
            areas += or_nothing(of.area_mm2).value * count;
        }
        for hosts in &counts.hosts {
            let Some(of) = entry("host", &self.host, &hosts.class)? else { continue };
            needs_time |= of.static_mw.is_some();
            let power = or_nothing(of.static_mw).times(hosts.nodes as f64 * MILLI * seconds);
            parts.add(
                "hosts",
                &hosts.class,
                hosts.nodes,
                or_nothing(of.pj_per_bit).times(hosts.bits * PICO).plus(power),
            );
        }
        if needs_time && counts.seconds.is_none() {
            return Err(super::no_time());
        }
        Ok(Estimate {
            seconds,
            components: parts.0,
            areas: (areas > 0.0).then_some(Area { part: "router", mm2: areas }).into_iter().collect(),
            delivered_bits: counts.delivered_bits,
            flit_bits: counts.has_flits.then_some(counts.flit_bits),
            warnings: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::{Channel, Hosts, RouterCounts};

    fn counts() -> Counts {
        let link = |class: &str, flits: f64| Channel {
            kind: ChannelKind::Network,
            class: class.to_owned(),
            latency: 2,
            rate: 1e9,
            flits: vec![flits],
        };
        Counts {
            case: String::new(),
            subnet: 0,
            cycles: 1000.0,
            seconds: Some(1e-6),
            width: None,
            flit_bits: 8.0,
            has_flits: true,
            buffers: None,
            delivered_bits: Some(800.0),
            channels: vec![link("local", 100.0), link("global", 10.0)],
            routers: vec![RouterCounts {
                class: "router".to_owned(),
                routers: 2,
                inputs: 3,
                outputs: 3,
                flits: 110.0,
                ports: None,
            }],
            hosts: vec![Hosts { class: "host".to_owned(), nodes: 4, bits: 1600.0 }],
        }
    }

    fn of(text: &str) -> Result<Estimate, SpecError> {
        let table: Table = toml::from_str(text).expect("a table");
        table.check()?;
        table.estimate(&counts())
    }

    /// Each sum by hand.
    #[test]
    fn events_and_static_power_add_up() {
        let text = "[link.local]\npj_per_bit = [1, 2, 4]\n[link.default]\npj_per_bit_mm = 0.5\nmm_per_cycle = 3\n\
                    static_mw = 1\n[router.default]\nswitch_pj = 8\nstatic_mw_per_port = 2\n[host.default]\npj_per_bit = 1\n";
        let found = of(text).unwrap();
        let joules: Vec<f64> = found.components.iter().map(|part| part.joules.value * 1e12).collect();
        // local: 800 bits; global: 80 bits of 6 mm and 1 mW; routers: 110 flits and 6 ports; hosts: 1600 bits.
        let expected = [1600.0, 80.0 * 3.0 + 1000.0, 880.0 + 12.0 * 1000.0, 1600.0];
        for (found, expected) in joules.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6 * expected, "{joules:?}");
        }
        assert_eq!(joules.len(), 4);
        let sum = found.joules();
        assert!(((sum.high - sum.low) * 1e12 - 2400.0).abs() < 1e-6);
    }

    #[test]
    fn tables_say_what_they_lack() {
        for (text, said) in [
            ("[link.local]\npj_per_bit = 1\n", "no [link.global]"),
            ("[link.default]\npj_per_bit_mm = 1\n", "length"),
            ("[link.default]\npj_per_bit = [2, 1, 3]\n", "no number"),
            ("about = 'x'\n", "no costs"),
        ] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn shipped_tables_can_be_read_and_name_their_sources() {
        for (name, text) in SHIPPED {
            let table: Table = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            table.check().unwrap();
            assert!(
                !table.about.is_empty() && table.source.contains("http") || table.source.contains("ISPASS"),
                "{name}"
            );
        }
    }
}
