//! The Myrinet model as a member of the family of models: its settings, and what they mean.

use std::sync::Arc;

use fsin_core::failures::Failures;
use fsin_core::family::{Carried, Discipline, Key, Kind, ModelFamily, NetworkSpec, Room, Units, Unloaded, Values};
use fsin_core::network::Network;
use fsin_core::parallel;
use fsin_core::route::{Name, listed};
use fsin_core::topology::switched::parse_rate;
use fsin_core::topology::{DeadLink, Spans, Topology};
use trgen::Geometry;
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;

use crate::params::{AROUND, TICKS};
use crate::reference;
use crate::rules::routes::carried;
use crate::rules::wires::{LINKS, Wires};
use crate::{Params, check, fast};

#[rustfmt::skip]
const KEYS: &[Key] = &[
    Key::of_network("cable-length", "M", Kind::Number, Some("10"), "m", "length of every cable of which the topology does not give the propagation delay"),
    Key::of_network("cable-velocity", "V", Kind::Number, Some("180000000"), "m/s", "velocity of propagation in cables"),
    Key::of_network("slack", "CHARACTERS", Kind::Integer, Some("96"), "characters", "room of the slack buffer at each input of a switch; too little for marks and cable is refused, with the least that is safe"),
    Key::of_network("high-mark", "CHARACTERS", Kind::Integer, Some("56"), "characters", "high-water mark: an input that holds more sends STOP"),
    Key::of_network("low-mark", "CHARACTERS", Kind::Integer, Some("40"), "characters", "low-water mark: a stopped input that holds fewer sends GO"),
    Key::of_network("payload", "BYTES", Kind::Integer, Some("4096"), "bytes", "of a message in a packet, at most"),
    Key::of_network("store-character", "true|false", Kind::Word, Some("false"), "", "a switch passes a character on after its end, not with its leading edge: a character time more for each switch"),
    Key::of_network("beat", "TIME", Kind::Word, Some("1s"), "", "between two BEATs on each channel; a dead link is seen after two"),
    Key::of_network("packet-timeout", "TIME", Kind::Word, Some("1s"), "", "from a packet's first character: one that has not arrived by then is removed everywhere, and lost"),
];

/// The row of this model in the table of models.
pub static FAMILY: ModelFamily = ModelFamily {
    component: Component {
        name: "myrinet",
        about: "source routes, wormhole switches, STOP and GO of Myrinet, character by character: a cycle is 1 ps, a phit a byte, \
                and load 1 what the {link-rate} carries in full packets",
        parameters: &[],
        source: "ANSI/VITA 26-1998; Boden et al., Myrinet, IEEE Micro 15(1), 1995; George, VanLoon",
    },
    discipline: Discipline {
        order: "packets of a pair have one route and arrive in order",
        sharing: "links, packet by packet: worms wait for each other's ends at an output, in turn",
        busy: "a host sends one packet at a time, of its messages in their order; a send ends when the GAP behind its last packet has left the host",
    },
    aliases: &[],
    load_unit: "fraction of capacity",
    routings,
    keys: KEYS,
    shared: &[
        "topology",
        "ways",
        "fail",
        "link-rate",
        "routing",
        "unsafe-routing",
        "faults",
        "engine",
        "threads",
        "link-loads",
    ],
    // A cycle is a picosecond: the usual lengths of a run would be those of a few characters.
    defaults: &[
        ("link-rate", "1.28Gb/s"),
        ("warmup", "1000000000"),
        ("conv-period", "500000000"),
        ("max-conv-time", "10000000000"),
        ("sample-size", "1000000000"),
    ],
    short: &[
        ("rate", "link-rate"),
        ("length", "cable-length"),
        ("velocity", "cable-velocity"),
        ("high", "high-mark"),
        ("low", "low-mark"),
        ("timeout", "packet-timeout"),
    ],
    parse: |values| Ok(Arc::new(Spec::from_values(values)?)),
};

/// Checked settings.
#[derive(Debug)]
struct Spec {
    /// The network in which a run begins: with the links that are dead at times.
    topology: Arc<dyn Topology>,
    /// The network without the links that `fail` says are dead at the start.
    at_first: Arc<dyn Topology>,
    params: Params,
    /// True if the reference engine simulates the network, false for the fast engine.
    is_reference: bool,
}

/// The routings as they are listed. There are no virtual channels, and one route for each pair of hosts: none is
/// adaptive, by whatever name.
fn routings() -> Vec<Carried> {
    let own = |one: Carried| Carried {
        channels: String::new(),
        aliases: one.aliases.into_iter().filter(|&name| name != Name::ADAPTIVE.name()).collect(),
        ..one
    };
    listed(&carried()).into_iter().map(own).collect()
}

impl Spec {
    fn from_values(values: &dyn Values) -> Result<Self, SpecError> {
        let (topology, timetable) = values.timetable(values.topology(&LINKS)?.into(), true, false)?;
        let params = Params {
            link_rate: rate(values, "link-rate")?,
            cable_length: values.number("cable-length")?,
            cable_velocity: values.number("cable-velocity")?,
            slack: values.integer("slack")?,
            high_mark: values.integer("high-mark")?,
            low_mark: values.integer("low-mark")?,
            payload: values.integer("payload")?,
            store_character: values.switch("store-character")?,
            beat: values.span("beat")?,
            timeout: values.span("packet-timeout")?,
            routing: if values.is_set("routing") { values.parsed("routing")? } else { Name::UPDOWN },
            unsafe_routing: values.is_set("unsafe-routing") && values.switch("unsafe-routing")?,
            faults: values.integer_or("faults", 0)?,
            timetable,
            seed: values.integer("seed")?,
        };
        check(&topology, &params)?;
        let is_reference = values.choice("engine", &[("fast", false), ("reference", true)])?;
        let threads = parallel::threads(values, is_reference)?;
        if threads > 1 {
            let what = phrase![
                ["threads" => threads],
                ": Myrinet is not divided among threads, since a packet that is too old vanishes from all switches and \
                 links at one instant"
            ];
            let remedy = phrase!["use ", ["threads" => 1], ", and run the points of a sweep side by side"];
            return Err(SpecError::new(ErrorKind::Unsupported, what, remedy).of("threads"));
        }
        let at_first = Arc::clone(params.timetable.at_first().unwrap_or(&topology));
        Ok(Self { topology, at_first, params, is_reference })
    }
}

/// \[b/s\] The data rate that a key gives.
fn rate(values: &dyn Values, key: &'static str) -> Result<u64, SpecError> {
    let word = values.word(key);
    parse_rate(word).ok_or_else(|| {
        let what = phrase![[key], " takes a data rate, not `{word}`"];
        let remedy = phrase![values.write(key, "1.28Gb/s"), " (b/s, kb/s, Mb/s, Gb/s, Tb/s)"];
        SpecError::new(ErrorKind::Malformed, what, remedy).of(key).given(word)
    })
}

impl NetworkSpec for Spec {
    fn build(&self) -> Result<Box<dyn Network>, SpecError> {
        let params = self.params.clone();
        match self.is_reference {
            true => Ok(reference::build(&self.topology, params)?),
            false => Ok(fast::build(&self.topology, params)?),
        }
    }

    fn geometry(&self) -> &Geometry {
        self.topology.geometry()
    }

    fn topology(&self) -> Option<&Arc<dyn Topology>> {
        Some(&self.at_first)
    }

    fn failures(&self) -> Option<&Failures> {
        Some(self.params.timetable.failures())
    }

    fn dead_links(&self) -> Vec<DeadLink> {
        let damaged = self.at_first.switched().map(|network| network.with_faults(self.params.faults, self.params.seed));
        damaged.and_then(Result::ok).map_or_else(|| self.at_first.dead_links(), |damaged| damaged.dead_links())
    }

    /// A phit is a byte of a message, a packet a full one; load 1 fills a host's link with packets over one switch.
    fn units(&self) -> Units {
        let payload = self.params.payload;
        let character = self.params.character() as f64 / TICKS as f64;
        let capacity = f64::from(payload) / f64::from(payload + AROUND + 2) / character;
        Units { phit_bytes: 1, packet_phits: payload, is_padded: false, capacity }
    }

    /// A worm takes a character time at each switch, and another where characters are stored.
    fn unloaded(&self, phits: f64) -> Unloaded {
        let Ok(wires) = Wires::new(&*self.at_first, &self.params, false) else { return Unloaded::shared(0) };
        let characters = if self.params.store_character { 2 } else { 1 };
        let hop = |port: usize| {
            let ticks = wires.delays[port] + characters * wires.characters[port];
            (!wires.dead[port]).then_some(ticks)
        };
        let around = self.params.packets_of(phits.ceil() as u64) * u64::from(AROUND + 2);
        let slowest = wires.characters.iter().copied().max().unwrap_or(0);
        let worm = (phits.ceil() as u64 + around).saturating_mul(slowest);
        Unloaded::shared(Spans::of_wiring(&wires, hop).farthest().saturating_add(worm) / TICKS)
    }

    fn cycle(&self) -> Option<(u64, u64)> {
        Some((1, 1))
    }

    fn room(&self) -> Option<Room> {
        Some(Room { transit_phits: self.params.slack, injection_phits: self.params.slack })
    }

    fn settled(&self) -> Vec<(&'static str, String)> {
        vec![("routing", self.params.routing.name().to_owned())]
    }

    fn warnings(&self) -> Vec<Phrase> {
        let mut warnings = self.params.timetable.failures().warnings(&*self.topology);
        if self.params.unsafe_routing && self.params.routing != Name::UPDOWN {
            warnings.push(phrase![
                ["routing" => self.params.routing.name()],
                " is not proven free of deadlock: look at packet_timeouts"
            ]);
        }
        warnings
    }
}
