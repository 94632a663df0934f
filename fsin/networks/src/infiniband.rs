//! InfiniBand fabrics as ibnetdiscover prints them and ibsim reads them: `Switch 8 "Switch1"` begins a node, and
//! `[3] "Switch2"[5]`, perhaps `[3](guid) "S-0002"[5](guid) # "name" lid 3 4xNDR`, is a port with its cable.
//!
//! A cable stands at one of its ends or at both. Channel adapters are hosts; those that are part of a switch, for its
//! collectives, are left out. The rate of a cable is its width times that of a lane.
//!
//! Format: rdma-core, ibnetdiscover(8); ibsim, net-examples.

use std::collections::{BTreeMap, HashMap, HashSet};

use trgen::catalog::{ErrorKind, SpecError};

use super::{Builder, implied, malformed, word};
use fsin_core::topology::graph::{Graph, Reading, refusal, short};
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

/// The statements of a fabric.
pub(crate) fn parse<'a>(text: &'a str, of: &Reading<'_>) -> Result<Graph<'a>, SpecError> {
    let places = &of.places;
    // In order of appearance: name, whether it is a host, its place; `None` for one that is left out.
    let mut nodes: Vec<(String, bool, usize)> = Vec::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut dropped: HashSet<String> = HashSet::new();
    // By both ends in order: name and port; where it stands, and its rate.
    type Cable = [(String, u32); 2];
    type Stated = (usize, usize, Option<(u64, String)>);
    let mut cables: BTreeMap<Cable, Stated> = BTreeMap::new();
    let mut named: Vec<(String, usize)> = Vec::new();
    let mut here: Option<String> = None;
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
            here = Some(name.to_owned());
            if is_host
                && (remark.contains("Aggregation Node")
                    || remark.contains("SharpAN")
                    || remark.contains("Mellanox Technologies Aggregation"))
            {
                dropped.insert(name.to_owned());
            } else if numbers.insert(name.to_owned(), nodes.len()).is_some() {
                return Err(refusal(
                    places,
                    at,
                    ErrorKind::Conflict,
                    format!("`{}` stands twice", short(name)),
                    "describe each node once",
                ));
            } else {
                nodes.push((name.to_owned(), is_host, at));
            }
            continue;
        }
        if !code.starts_with('[') {
            let what = format!("`{}` is neither a node nor a port", short(code));
            return Err(malformed(places, at, what, FORM));
        }
        let Some(own) = &here else { return Err(malformed(places, at, "a port before the first node", FORM)) };
        let port = port(code).ok_or_else(|| malformed(places, at, format!("`{}` is no cable", short(code)), FORM))?;
        named.push((port.other.to_owned(), at));
        let mut ends = [(own.clone(), port.here), (port.other.to_owned(), port.there)];
        ends.sort();
        if ends[0] == ends[1] {
            of.note(format!("{}: a port that is linked to itself is left out", places.of(at)));
            continue;
        }
        let rate = port.rate();
        let order = cables.len();
        match cables.get(&ends).cloned() {
            None => drop(cables.insert(ends, (order, at, rate))),
            Some((order, first, None)) => drop(cables.insert(ends, (order, first, rate))),
            Some((_, first, Some(before))) => {
                if let Some(now) = rate.filter(|now| *now != before) {
                    let what = format!(
                        "the cable of {} is {} here, and {} in {}",
                        short(own),
                        now.1,
                        before.1,
                        places.of(first)
                    );
                    return Err(refusal(places, at, ErrorKind::Conflict, what, "give both ends the same rate"));
                }
            }
        }
    }
    for (name, at) in named {
        // The other end may be named by cables alone, in what is cut out of a fabric.
        if !numbers.contains_key(&name) && !dropped.contains(&name) {
            let what = format!("`{}` is no node of the file", short(&name));
            return Err(refusal(
                places,
                at,
                ErrorKind::UnknownName,
                what,
                "describe each node: `Switch 36 \"S-0002\"` or `Ca 1 \"H-0001\"`",
            ));
        }
    }
    // A port has one cable.
    let mut used: HashMap<&(String, u32), usize> = HashMap::new();
    for (ends, &(_, at, _)) in &cables {
        for end in ends {
            if let Some(before) = used.insert(end, at) {
                let what = format!("port {} of `{}` has another cable in {}", end.1, short(&end.0), places.of(before));
                return Err(refusal(places, at.max(before), ErrorKind::Conflict, what, "give each port one cable"));
            }
        }
    }
    if !dropped.is_empty() {
        let what = counted(dropped.len(), "aggregation node of switches is", "aggregation nodes of switches are");
        of.note(format!("{what} left out: they take part in collectives, and are no hosts"));
    }
    let mut builder = Builder::default();
    for (name, is_host, at) in nodes {
        builder.declare(word(name, at), is_host);
    }
    let mut in_order: Vec<_> =
        cables.iter().filter(|(ends, _)| !ends.iter().any(|(name, _)| dropped.contains(name))).collect();
    in_order.sort_by_key(|(_, (order, ..))| *order);
    for (ends, (_, at, rate)) in in_order {
        let attributes = rate.iter().map(|(rate, _)| implied("rate", format!("{rate}b/s"), *at)).collect();
        if rate.is_some() {
            of.unit("rates: width times lane, 4xNDR is 400 Gb/s (InfiniBand)".to_owned());
        }
        builder.edge([word(ends[0].0.clone(), *at), word(ends[1].0.clone(), *at)], false, attributes);
    }
    Ok(builder.graph())
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
    /// \[b/s\] The rate that the remark states, and how.
    fn rate(&self) -> Option<(u64, String)> {
        self.remark.split(|letter: char| letter.is_whitespace() || letter == ',').rev().find_map(|word| {
            let (width, lane) = word.split_once('x')?;
            let lane = LANES.iter().find(|(name, _)| *name == lane)?.1;
            Some((
                width.parse::<u64>().ok().filter(|width| (1..=12).contains(width))? * lane * 10_000_000,
                word.to_owned(),
            ))
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
