//! Topology files of htsim: `Nodes N`, `Tiers T`, `Podsize P`, then the keys of each tier.
//!
//! Keys of a tier, after `Tier i`: `Downlink_speed_Gbps`, `Radix_Up`, `Radix_Down`, `Downlink_Latency_ns`, `Bundle`
//! (parallel links to each switch below), `Oversubscribed`, which follows from the others, and `Switch_Latency_ns`,
//! which the links that leave a switch have on top of their own. They describe a fat tree of two or three tiers:
//! switches of tier 0 have `Radix_Down` hosts, and the switches of a pod of `Podsize` hosts are linked with those of
//! tier 1 of the same pod; with three tiers, the i-th switches of tier 1 of all pods share the i-th group of switches
//! of tier 2. With two tiers there is one pod.

use std::collections::BTreeMap;

use trgen::catalog::{ErrorKind, SpecError};

use super::lines::number;
use super::{implied, malformed, word};
use fsin_core::topology::graph::{Attributes, Description, MAX_SWITCHES, Places, Word, refusal, short, words};

const FORM: &str = "write `Nodes 16`, `Tiers 3`, `Podsize 4`, and for each tier `Tier 0`, `Downlink_speed_Gbps 100`, `Radix_Up 2`, \
                    `Radix_Down 2`, `Downlink_Latency_ns 1000`";

/// Keys of the file, and keys of a tier.
const KEYS: [&str; 3] = ["nodes", "tiers", "podsize"];
const OF_TIERS: [&str; 9] = [
    "downlink_speed_gbps",
    "radix_up",
    "radix_down",
    "downlink_latency_ns",
    "switch_latency_ns",
    "bundle",
    "oversubscribed",
    "queue_up",
    "queue_down",
];

/// True for a text whose first lines are `Nodes N` and `Tiers T`, in either order, or with `Podsize P` between them.
pub(crate) fn begins(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("")).filter(|line| !line.trim().is_empty());
    let of = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, value) = (words.next()?, words.next()?);
        let known = KEYS.iter().position(|key| name.eq_ignore_ascii_case(key));
        known.filter(|_| value.parse::<u64>().is_ok() && words.next().is_none())
    };
    let found: Vec<Option<usize>> = lines.take(3).map(of).collect();
    // Nodes and tiers.
    found.first().is_some_and(Option::is_some) && found.contains(&Some(0)) && found.contains(&Some(1))
}

/// By key: its value and place.
type Values<'a> = BTreeMap<String, Word<'a>>;

/// A tier of switches.
struct Tier {
    /// \[links\] Of each switch: up, and down.
    up: usize,
    down: usize,
    /// \[links\] Between a switch and one below.
    bundle: usize,
    /// The rate of the links down, and their delay \[ns\].
    speed: String,
    latency: f64,
    /// \[ns\] What a switch adds to the delay of each link that leaves it.
    crossing: f64,
    /// \[bytes\] Offset of the number of links up, and of the tier.
    radix_at: usize,
    at: usize,
}

/// Maximum number of tiers that are looked at.
const MOST_TIERS: usize = 1 << 10;

/// Maximum number of switches of a tier, and of links between two.
const MOST: usize = 1 << 20;

/// States a file.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    let (mut of_file, mut of_tiers): (Values<'_>, Vec<(usize, Values<'_>)>) = (Values::new(), Vec::new());
    for line in words(text, places) {
        let line = line?;
        let [key, value] = &line[..] else { return Err(malformed(places, line[0].at, "a key and its value", FORM)) };
        let name = key.text.to_ascii_lowercase();
        if name == "tier" {
            let tier: usize = number(places, value, "the number of a tier", FORM)?;
            if tier != of_tiers.len() {
                let what = format!("tier {tier} follows {} tiers", of_tiers.len());
                return Err(malformed(places, value.at, what, "number tiers 0, 1, 2, from the hosts up"));
            }
            if tier >= MOST_TIERS {
                let what = format!("more than {MOST_TIERS} tiers");
                return Err(refusal(places, value.at, ErrorKind::TooLarge, what, "describe 2 or 3 tiers"));
            }
            of_tiers.push((key.at, Values::new()));
            continue;
        }
        let (known, values) = match of_tiers.last_mut() {
            Some((_, values)) => (&OF_TIERS[..], values),
            None => (&KEYS[..], &mut of_file),
        };
        if !known.contains(&name.as_str()) {
            let what = format!("`{}` is not known here", short(&key.text));
            let remedy = trgen::catalog::suggestion(&name, known);
            return Err(refusal(places, key.at, ErrorKind::UnknownName, what, remedy));
        }
        if of.options.ignores(&key.text) {
            of.decorated(&key.text);
            continue;
        }
        if name.starts_with("queue") && value.text.parse() != Ok(0.0) {
            let what = format!("{} {} of a tier: buffers of switches in bytes", short(&key.text), short(&value.text));
            let remedy = "say it as a setting of the run, and read the file with ignore=queue*";
            return Err(refusal(places, key.at, ErrorKind::Unsupported, what, remedy));
        }
        if values.insert(name, value.clone()).is_some() {
            return Err(refusal(
                places,
                key.at,
                ErrorKind::Conflict,
                format!("`{}` stands twice", key.text),
                "give it once",
            ));
        }
    }
    let count = |key: &str| -> Result<(usize, usize), SpecError> {
        let word = of_file.get(key).ok_or_else(|| malformed(places, 0, format!("{key} is missing"), FORM))?;
        Ok((number(places, word, "a number", FORM)?, word.at))
    };
    let ((hosts, at), (count_of_tiers, tiers_at)) = (count("nodes")?, count("tiers")?);
    if !(2..=3).contains(&count_of_tiers) || of_tiers.len() != count_of_tiers {
        let what = format!("{count_of_tiers} tiers, of which {} are described", of_tiers.len());
        return Err(malformed(places, tiers_at, what, "describe 2 or 3 tiers"));
    }
    let tiers: Vec<Tier> = of_tiers.iter().map(|(at, values)| tier(places, *at, values)).collect::<Result<_, _>>()?;
    let pod = if count_of_tiers == 3 { count("podsize")?.0 } else { hosts };
    let sizes = |holds: bool, at: usize, what: String| {
        if holds { Ok(()) } else { Err(refusal(places, at, ErrorKind::Conflict, what, "make the numbers agree")) }
    };
    let (leaf, middle) = (&tiers[0], &tiers[1]);
    sizes(
        leaf.down > 0 && pod > 0 && hosts.is_multiple_of(pod) && pod.is_multiple_of(leaf.down) && hosts <= 1 << 20,
        at,
        format!("{hosts} nodes are not pods of {pod} with switches of {} each", leaf.down),
    )?;
    let (pods, leaves) = (hosts / pod, pod / leaf.down);
    let middles = leaf.up / middle.bundle;
    sizes(
        leaf.up.is_multiple_of(middle.bundle) && middles > 0 && middle.down == leaves * middle.bundle,
        middle.at,
        format!(
            "switches of tier 1 have {} links down, and {leaves} switches of tier 0 with {} links up in bundles of {} below",
            middle.down, leaf.up, middle.bundle
        ),
    )?;
    if let Some(top) = tiers.get(2) {
        sizes(
            middle.up.is_multiple_of(top.bundle)
                && middle.up >= top.bundle
                && pods.checked_mul(top.bundle) == Some(top.down),
            top.at,
            format!(
                "switches of tier 2 have {} links down, and {pods} pods, each with a bundle of {}, are below",
                top.down, top.bundle
            ),
        )?;
    }
    // What is linked above is as large as the file says, and no memory is taken before that is known to be possible.
    let top = tiers.get(2).map_or(0, |top| middles.saturating_mul(middle.up / top.bundle));
    let links = [
        pods.saturating_mul(leaves).saturating_mul(middles),
        pods.saturating_mul(middles).saturating_mul(if top > 0 { middle.up } else { 0 }),
    ];
    let switches = [pods.saturating_mul(leaves), pods.saturating_mul(middles), top];
    let all = switches.iter().fold(0, |sum: usize, &count| sum.saturating_add(count));
    if links.iter().any(|&count| count > MOST) || all > MAX_SWITCHES {
        let at = if links[1].max(top) > MOST { middle.radix_at } else { leaf.radix_at };
        let what = format!("{all} switches of at most {MAX_SWITCHES}, or more than {MOST} links");
        return Err(refusal(places, at, ErrorKind::TooLarge, what, "use smaller numbers of links"));
    }
    of.unit("rates in Gb/s, delays in ns (htsim)".to_owned());
    for host in 0..hosts {
        to.declare(&word(format!("host{host}"), at), true)?;
    }
    let names = |tier: usize, count: usize| (0..count).map(move |number| format!("tier{tier}.{number}"));
    for name in names(0, pods * leaves).chain(names(1, pods * middles)) {
        to.declare(&word(name, at), false)?;
    }
    for host in 0..hosts {
        link(to, &tiers, format!("host{host}"), (0, host / leaf.down))?;
    }
    for leaf in 0..pods * leaves {
        let first = leaf / leaves * middles;
        for middle in first..first + middles {
            link(to, &tiers, format!("tier0.{leaf}"), (1, middle))?;
        }
    }
    if let Some(top) = tiers.get(2) {
        let group = middle.up / top.bundle;
        for name in names(2, middles * group) {
            to.declare(&word(name, at), false)?;
        }
        for middle in 0..pods * middles {
            let first = middle % middles * group;
            for top in first..first + group {
                link(to, &tiers, format!("tier1.{middle}"), (2, top))?;
            }
        }
    }
    Ok(())
}

/// States a link from what stands below to a switch of a tier.
fn link(
    to: &mut Description<'_>,
    tiers: &[Tier],
    below: String,
    (tier, above): (usize, usize),
) -> Result<(), SpecError> {
    let of = &tiers[tier];
    let (above, below) = (word(format!("tier{tier}.{above}"), of.at), word(below, of.at));
    let attributes = |crossing: f64| {
        let mut attributes: Attributes<'_> = vec![
            implied("rate", of.speed.clone(), of.at),
            implied("delay", format!("{}ns", of.latency + crossing), of.at),
        ];
        if of.bundle > 1 {
            attributes.push(implied("count", of.bundle.to_string(), of.at));
        }
        attributes
    };
    // A host adds nothing to what leaves it.
    let (up, down) = (tier.checked_sub(1).map_or(0.0, |below| tiers[below].crossing), of.crossing);
    if up == down {
        return to.edge([&below, &above], false, &attributes(up));
    }
    to.edge([&below, &above], true, &attributes(up))?;
    to.edge([&above, &below], true, &attributes(down))
}

/// The keys of a tier.
fn tier(places: &Places<'_>, at: usize, values: &Values<'_>) -> Result<Tier, SpecError> {
    let missing = |key: &str| malformed(places, at, format!("{key} of the tier is missing"), FORM);
    let count = |key: &str, usual: Option<usize>| match values.get(key) {
        Some(word) => number(places, word, "a number", FORM),
        None => usual.ok_or_else(|| missing(key)),
    };
    let quantity = |key: &str, usual: Option<f64>| -> Result<f64, SpecError> {
        let Some(word) = values.get(key) else { return usual.ok_or_else(|| missing(key)) };
        match number::<f64>(places, word, "a number", FORM)? {
            quantity if (0.0..1e12).contains(&quantity) => Ok(quantity),
            _ => Err(malformed(places, word.at, format!("{key} {} of the tier", short(&word.text)), "use 0 or more")),
        }
    };
    let bundle = count("bundle", Some(1))?;
    if bundle == 0 {
        return Err(malformed(places, at, "bundle 0 of the tier", "use 1 or more"));
    }
    Ok(Tier {
        up: count("radix_up", Some(0))?,
        down: count("radix_down", None)?,
        bundle,
        speed: format!("{}Gb/s", quantity("downlink_speed_gbps", None)?),
        latency: quantity("downlink_latency_ns", None)?,
        crossing: quantity("switch_latency_ns", Some(0.0))?,
        radix_at: values.get("radix_up").map_or(at, |word| word.at),
        at,
    })
}
