//! InfiniBand fabrics as ibnetdiscover prints them and ibsim reads them: `Switch 8 "Switch1"` begins a node, and
//! `[3] "Switch2"[5]`, perhaps `[3](guid) "S-0002"[5](guid) # "name" lid 3 4xNDR`, is a port with its cable.
//!
//! A cable stands at one of its ends or at both. Channel adapters are hosts; those that are part of a switch, for its
//! collectives, are left out. The rate of a cable is its width times that of a lane.
//!
//! Format: rdma-core, ibnetdiscover(8); ibsim, net-examples.

use trgen::catalog::{ErrorKind, SpecError};

use super::{implied, malformed, word};
use fsin_core::topology::graph::{Description, Labels, MAX_LINKS, Places, refusal, short};
use fsin_core::words::counted;

const FORM: &str = "write what ibnetdiscover gives: `Switch 36 \"S-0002\"`, then `[1] \"H-0001\"[1]` for each cable, and an empty line";

/// \[10 Mb/s\] Data rate of a lane.
const LANES: &[(&str, u64)] = &[
    ("SDR", 200),
    ("DDR", 400),
    ("QDR", 800),
    ("FDR10", 1000),
    ("FDR", 1364),
    ("EDR", 2500),
    ("HDR", 5000),
    ("NDR", 10_000),
    ("XDR", 20_000),
];

/// Lines that describe a node and no link.
const REMARKS: &[&str] = &[
    "vendid=",
    "devid=",
    "sysimgguid=",
    "switchguid=",
    "caguid=",
    "rtguid=",
    "hcaguid=",
    "DR path",
    "module",
    "smaguid=",
];

/// The kind of node that a line begins, its number of ports, and its name.
fn header(line: &str) -> Option<(&str, &str, &str)> {
    let (kind, rest) = line.trim_start().split_once(char::is_whitespace)?;
    ["switch", "ca", "hca", "rt", "router"].iter().find(|known| kind.eq_ignore_ascii_case(known))?;
    let rest = rest.trim_start();
    let (ports, name) = rest.split_once('"')?;
    ports.trim().parse::<u32>().ok()?;
    Some((kind, ports.trim(), name.split('"').next().unwrap_or("")))
}

/// True for a text that begins with what ibnetdiscover says of a node, or with a node.
pub(crate) fn begins(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut first = lines.next();
    while first
        .is_some_and(|line| !line.starts_with("vendid=") && REMARKS.iter().any(|remark| line.starts_with(remark)))
    {
        first = lines.next();
    }
    first.is_some_and(|line| line.starts_with("vendid=") || header(line).is_some())
}

/// What a file says of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    /// Cables name it.
    Named,
    /// It is described.
    Described,
    /// It is described, and left out.
    Dropped,
}

/// A cable as one of its ends states it.
#[derive(Clone, Copy)]
struct Stated {
    /// By end, in the order of names and ports: the node and the port.
    ends: [(u32, u32); 2],
    /// Where it stands, and at which end that is.
    at: u32,
    own: u8,
    /// Width and data rate of a lane, in [`LANES`], if they are stated.
    rate: Option<(u8, u8)>,
}

/// The rate of a cable in words.
fn words_of((width, lane): (u8, u8)) -> String {
    format!("{width}x{}", LANES[usize::from(lane)].0)
}

/// \[b/s\] The rate of a cable.
fn bits_of((width, lane): (u8, u8)) -> u64 {
    u64::from(width) * LANES[usize::from(lane)].1 * 10_000_000
}

/// States a fabric.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    let mut names = Labels::default();
    // By name.
    let mut said: Vec<Said> = Vec::new();
    // In order of appearance: name, whether it is a host, its place.
    let mut nodes: Vec<(u32, bool, u32)> = Vec::new();
    let mut dropped = 0;
    let mut cables: Vec<Stated> = Vec::new();
    let mut here: Option<u32> = None;
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let at = begin;
        begin += line.len();
        let code = line.trim();
        if code.is_empty() || code.starts_with('#') {
            continue;
        }
        if REMARKS.iter().any(|remark| code.starts_with(remark)) {
            of.decorated(code.split(['=', ' ']).next().unwrap_or(code));
            continue;
        }
        let mut number = |name: &str, said: &mut Vec<Said>| {
            let number = names.number(name);
            if number as usize == said.len() {
                said.push(Said::Named);
            }
            number
        };
        if let Some((kind, ports, name)) = header(code) {
            if name.is_empty() || ports.len() > 3 {
                return Err(malformed(
                    places,
                    at,
                    format!("{kind} of {} ports named `{}`", short(ports), short(name)),
                    FORM,
                ));
            }
            let is_host = !kind.eq_ignore_ascii_case("switch")
                && !kind.eq_ignore_ascii_case("rt")
                && !kind.eq_ignore_ascii_case("router");
            let remark = code.split_once('#').map_or("", |(_, remark)| remark);
            let own = number(name, &mut said);
            here = Some(own);
            if is_host
                && (remark.contains("Aggregation Node")
                    || remark.contains("SharpAN")
                    || remark.contains("Mellanox Technologies Aggregation"))
            {
                dropped += usize::from(said[own as usize] != Said::Dropped);
                said[own as usize] = Said::Dropped;
            } else if said[own as usize] == Said::Described {
                return Err(refusal(
                    places,
                    at,
                    ErrorKind::Conflict,
                    format!("`{}` stands twice", short(name)),
                    "describe each node once",
                ));
            } else {
                said[own as usize] = Said::Described;
                nodes.push((own, is_host, at as u32));
            }
            continue;
        }
        if !code.starts_with('[') {
            let what = format!("`{}` is neither a node nor a port", short(code));
            return Err(malformed(places, at, what, FORM));
        }
        let Some(own) = here else { return Err(malformed(places, at, "a port before the first node", FORM)) };
        let port = port(code).ok_or_else(|| malformed(places, at, format!("`{}` is no cable", short(code)), FORM))?;
        let other = number(port.other, &mut said);
        let mut ends = [(own, port.here), (other, port.there)];
        let is_turned = (port.other, port.there) < (names.name(own), port.here);
        if is_turned {
            ends.reverse();
        }
        cables.push(Stated { ends, at: at as u32, own: u8::from(is_turned), rate: port.rate() });
        // Both ends of a cable may state it.
        if cables.len() > 2 * MAX_LINKS {
            let what = format!("more than {MAX_LINKS} cables");
            return Err(refusal(places, at, ErrorKind::TooLarge, what, "use a smaller network"));
        }
    }
    // The other end may be named by cables alone, in what is cut out of a fabric.
    for cable in &cables {
        if let Some((name, _)) = cable.ends.iter().find(|(name, _)| said[*name as usize] == Said::Named) {
            let what = format!("`{}` is no node of the file", short(names.name(*name)));
            let remedy = "describe each node: `Switch 36 \"S-0002\"` or `Ca 1 \"H-0001\"`";
            return Err(refusal(places, cable.at as usize, ErrorKind::UnknownName, what, remedy));
        }
    }
    cables.retain(|cable| {
        let is_loop = cable.ends[0] == cable.ends[1];
        if is_loop {
            of.note(format!("{}: a port that is linked to itself is left out", places.of(cable.at as usize)));
        }
        !is_loop
    });
    let cables = one_of_each(cables, &names, places)?;
    check_ports(&cables, &names, places)?;
    if dropped > 0 {
        let what = counted(dropped, "aggregation node of switches is", "aggregation nodes of switches are");
        of.note(format!("{what} left out: they take part in collectives, and are no hosts"));
    }
    for &(name, is_host, at) in &nodes {
        to.declare(&word(names.name(name), at as usize), is_host)?;
    }
    drop(nodes);
    let is_left_out = |cable: &Stated| cable.ends.iter().any(|(name, _)| said[*name as usize] == Said::Dropped);
    for cable in cables.iter().filter(|cable| !is_left_out(cable)) {
        let at = cable.at as usize;
        let ends = cable.ends.map(|(name, _)| word(names.name(name), at));
        let rate = cable.rate.map(|rate| implied("rate", format!("{}b/s", bits_of(rate)), at));
        if rate.is_some() {
            of.unit("rates: width times lane, 4xNDR is 400 Gb/s (InfiniBand)".to_owned());
        }
        to.edge([&ends[0], &ends[1]], false, rate.as_slice())?;
    }
    Ok(())
}

/// Each cable once, in order of appearance, with the rate that any of its ends states.
fn one_of_each(mut cables: Vec<Stated>, names: &Labels, places: &Places<'_>) -> Result<Vec<Stated>, SpecError> {
    cables.sort_unstable_by_key(|cable| (cable.ends, cable.at));
    let mut conflict: Option<(u32, u32)> = None;
    let mut refused: Option<(Stated, Stated)> = None;
    cables.dedup_by(|later, first| {
        if later.ends != first.ends {
            return false;
        }
        match (first.rate, later.rate) {
            (Some(before), Some(now)) if bits_of(before) != bits_of(now) => {
                if conflict.is_none_or(|known| (later.at, first.at) < known) {
                    (conflict, refused) = (Some((later.at, first.at)), Some((*first, *later)));
                }
            }
            (None, now) => first.rate = now,
            (Some(_), _) => {}
        }
        true
    });
    if let Some((first, later)) = refused {
        let own = short(names.name(later.ends[usize::from(later.own)].0));
        let [before, now] = [first, later].map(|cable| cable.rate.map_or_else(String::new, words_of));
        let what = format!("the cable of {own} is {now} here, and {before} in {}", places.of(first.at as usize));
        let remedy = "give both ends the same rate";
        return Err(refusal(places, later.at as usize, ErrorKind::Conflict, what, remedy));
    }
    cables.sort_unstable_by_key(|cable| cable.at);
    Ok(cables)
}

/// Checks that a port has one cable.
fn check_ports(cables: &[Stated], names: &Labels, places: &Places<'_>) -> Result<(), SpecError> {
    let mut ports: Vec<(u32, u32, u32)> = Vec::with_capacity(2 * cables.len());
    ports.extend(cables.iter().flat_map(|cable| cable.ends.map(|(name, port)| (name, port, cable.at))));
    ports.sort_unstable();
    let again = ports.windows(2).filter(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1));
    let Some(pair) = again.min_by_key(|pair| pair[1].2) else { return Ok(()) };
    let (name, port, at) = pair[1];
    let before = places.of(pair[0].2 as usize);
    let what = format!("port {port} of `{}` has another cable in {before}", short(names.name(name)));
    Err(refusal(places, at as usize, ErrorKind::Conflict, what, "give each port one cable"))
}

/// A port and its cable.
struct Port<'a> {
    here: u32,
    other: &'a str,
    there: u32,
    /// What stands behind the cable.
    remark: &'a str,
}

impl Port<'_> {
    /// The rate that the remark states: width, and the lane in [`LANES`].
    fn rate(&self) -> Option<(u8, u8)> {
        self.remark.split(|letter: char| letter.is_whitespace() || letter == ',').rev().find_map(|word| {
            let (width, lane) = word.split_once('x')?;
            let lane = LANES.iter().position(|(name, _)| *name == lane)?;
            Some((width.parse::<u8>().ok().filter(|width| (1..=12).contains(width))?, lane as u8))
        })
    }
}

/// The port of a line `[1](guid) "H-0001"[1](guid) # remark`.
fn port(line: &str) -> Option<Port<'_>> {
    let bracket = |text: &'_ str| -> Option<(u32, usize)> {
        let inner = text.strip_prefix('[')?;
        let end = inner.find(']')?;
        Some((inner[..end].trim().parse().ok()?, end + 2))
    };
    // What some tools write between a port and its cable: guid, link width of external ports.
    let skip = |text: &'_ str| -> usize {
        let mut rest = text.trim_start();
        while let Some((_, after)) =
            rest.strip_prefix('(').or_else(|| rest.strip_prefix("[ext")).and_then(|inner| inner.split_once([')', ']']))
        {
            rest = after.trim_start();
        }
        text.len() - rest.len()
    };
    let (here, used) = bracket(line)?;
    let rest = &line[used..];
    let rest = &rest[skip(rest)..];
    let (other, rest) = rest.strip_prefix('"')?.split_once('"')?;
    let rest = rest.trim_start();
    let (there, used) = bracket(rest)?;
    (!other.is_empty()).then_some(Port { here, other, there, remark: &rest[used..] })
}
