//! The vocabulary of the original: its words, the keys that they set here, and their lookup.

use trgen::catalog::{Allowed, ErrorKind, SpecError, suggestion};
use trgen::phrase;
use trgen::phrase::Phrase;

use super::network::{FAMILIES, MODES, NETWORKS};
use crate::keys::{Key, key, keys};

/// Values of enumerated words, and their equivalents here.
pub(super) type Choices = &'static [(&'static str, &'static str)];

/// How a word is translated.
#[derive(Clone, Copy, Debug)]
pub(super) enum Takes {
    /// It sets this key to the same value.
    Same(&'static str),
    /// It sets this key to the equivalent of its value.
    Choice(&'static str, Choices),
    /// It is translated together with others.
    Together,
    /// It only changes what the original printed.
    Printing,
    /// It coupled the original with full-system simulators.
    Coupling,
    /// It has no equivalent here: what it does in the original. Its value 0, which is off, needs none.
    Missing(&'static str),
    /// As [`Missing`](Self::Missing), and it changes results, so that a run without it would be another one.
    Refused(&'static str),
}

/// A word of the original.
#[derive(Debug)]
pub(super) struct Entry {
    /// The canonical name of the word.
    pub(super) name: &'static str,
    /// Aliases of the word.
    pub(super) also: &'static [&'static str],
    /// How the word is translated.
    pub(super) takes: Takes,
    /// A note for readers, with settings in braces; empty if its key explains it.
    about: &'static str,
}

/// An entry with these properties.
const fn entry(name: &'static str, also: &'static [&'static str], takes: Takes, about: &'static str) -> Entry {
    Entry { name, also, takes, about }
}

use Takes::{Choice, Coupling, Missing, Printing, Refused, Same, Together};

/// Values of a word of the original, with their equivalents here. The next tables are of the same form.
const INJECTIONS: Choices = &[
    ("shortest", "shortest"),
    ("dor", "dor"),
    ("dsh", "dor-shortest"),
    ("shp", "shortest-profitable"),
    ("lpath", "longest-path"),
];
const ARBITRATIONS: Choices = &[
    ("rr", "rr"),
    ("fifo", "fifo"),
    ("longest", "longest"),
    ("random", "random"),
    ("age", "age"),
    ("highest_vc", "highest-vc"),
];
const CONSUMPTIONS: Choices = &[("single", "single"), ("multiple", "multiple")];
const ORDERS: Choices = &[("dim", "dim"), ("dir", "dir")];
const PARALLEL: Choices = &[("0", "serial"), ("1", "parallel")];
const UNITS: Choices = &[("ns", "ns"), ("us", "us"), ("ms", "ms"), ("cycles", "cycles")];

/// Every known word of the original.
#[rustfmt::skip]
pub(super) const WORDS: &[Entry] = &[
    entry("topo", &["topology"], Together, ""),
    entry("sk_xy", &[], Together, ""),
    entry("sk_xz", &[], Together, ""),
    entry("sk_yx", &[], Together, ""),
    entry("sk_yz", &[], Together, ""),
    entry("sk_zx", &[], Together, ""),
    entry("sk_zy", &[], Together, ""),
    entry("nways", &[], Same("ways"), ""),
    entry("nchan", &[], Same("vcs"), ""),
    entry("rmode", &["mode"], Together, ""),
    entry("vc", &[], Together, "how deadlock is avoided, where `rmode` alone leaves it open: bubble, double, dally; tree, icube"),
    entry("routing", &[], Choice("order", ORDERS), "dim, dir; trees and icube: adaptive, static"),
    entry("plength", &["packet_phits"], Same("packet"), "or phits_bytes: {packet} and {phit-bytes}"),
    entry("tql", &["transit_queue"], Same("queue"), ""),
    entry("iql", &[], Same("injection-queue"), ""),
    entry("ninj", &[], Same("injectors"), ""),
    entry("imode", &[], Choice("injection", INJECTIONS), "shortest, dor, dsh, shp, lpath; all but shortest raise {injectors} to the number of directions, as in the original"),
    entry("par_inj", &[], Choice("inject", PARALLEL), "1, or 0 for serial injection"),
    entry("cmode", &[], Choice("consumption", CONSUMPTIONS), ""),
    entry("amode", &[], Choice("arbitration", ARBITRATIONS), ""),
    entry("bsize", &["bub"], Same("bubble"), ""),
    entry("bub_to_adap", &["lbr"], Same("lbr"), ""),
    entry("intransit_pr", &["ipr"], Same("in-transit-priority"), ""),
    entry("drop_packets", &[], Missing("a source that finds its buffer full keeps the packet and waits"), ""),
    entry("extract", &[], Refused("1 discards the packet at the head of an injection queue whose request fails"), ""),
    entry("faults", &[], Same("faults"), ""),
    entry("global_cc", &[], Together, "percent of the capacity as the original counted it: ways twice"),
    entry("update_period", &[], Together, "in diameters"),
    entry("timeout_upper", &["timeout_upper_limit"], Same("timeout-upper"), "-1 is off"),
    entry("timeout_lower", &["timeout_lower_limit"], Same("timeout-lower"), "-1 is off"),
    entry("tpattern", &["pattern", "traffic"], Together, "as {traffic}, arguments parted by _; inverse is reversal, tornado is tornado-fsin, hotspot alone is hotspot(0.02,0)"),
    entry("load", &[], Same("load"), ""),
    entry("longmessages", &[], Together, "packets of a long message, or 0: {size} bimodal; 1 only with lng_msg_ratio=0"),
    entry("lng_msg_ratio", &[], Together, "share of the messages that are long"),
    entry("trigger_rate", &[], Together, "probability that a reception triggers packets: {temporal} reactive"),
    entry("triggered", &[], Together, "how many packets it triggers, or a range such as 1_2"),
    entry("shotmode", &[], Together, "1: shots instead of a steady load"),
    entry("shotsize", &[], Together, "with shotmode=1: {shot}; 0 is one packet for each other node"),
    entry("numshots", &[], Together, "with shotmode=1: {samples}"),
    entry("shot_size", &[], Same("shot"), ""),
    entry("rseed", &["seed"], Same("seed"), ""),
    entry("warm_up_period", &[], Same("warmup"), ""),
    entry("conv_period", &[], Same("conv-period"), ""),
    entry("conv_thres", &[], Same("conv-threshold"), ""),
    entry("max_conv_time", &[], Same("max-conv-time"), ""),
    entry("nsamples", &[], Same("samples"), ""),
    entry("sample_size", &[], Same("sample-size"), ""),
    entry("min_batch_pkt", &[], Same("min-batch-packets"), ""),
    entry("tracefile", &[], Same("trace"), "with {traffic} population or histogram the file of distances"),
    entry("trace_cpu_units", &[], Choice("trace-unit", UNITS), "unit of computing times in a trace: ns, us, ms, cycles"),
    entry("link_bandwidth", &[], Same("bandwidth"), "in Mb/s, or with its unit: 10Gb/s"),
    entry("placement", &[], Together, "as {placement}, arguments parted by _; or kind_tasks_instances"),
    entry("bg_load", &[], Together, "with a trace: {temporal} background, from nodes without a task"),
    entry("fsin_cycle_relation", &[], Coupling, ""),
    entry("simics_cycle_relation", &[], Coupling, ""),
    entry("serv_addr", &[], Coupling, ""),
    entry("num_periodos_espera", &[], Coupling, ""),
    entry("monitored", &[], Printing, ""),
    entry("output", &[], Printing, ""),
    entry("plevel", &[], Printing, ""),
    entry("pheaders", &[], Printing, ""),
    entry("bheaders", &[], Printing, ""),
    entry("pinterval", &[], Printing, ""),
];

/// True for the words of a kind.
type IsOfKind = fn(Takes) -> bool;

/// Words without effect whatever their value, and why.
pub(super) const IDLE: [(IsOfKind, &str); 2] = [
    (|takes| matches!(takes, Printing), "they only change what the original printed, and where"),
    (
        |takes| matches!(takes, Coupling),
        "they coupled the original with a full-system simulator; here `fsin serve` and `fsin machines` do that",
    ),
];

/// A word of the user, identified.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// One of the original's.
    Original(&'static Entry),
    /// A key of ours, with `_` for `-`.
    Ours(&'static Key),
}

impl Meaning {
    /// The canonical name of the word.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Original(entry) => entry.name,
            Self::Ours(key) => key.name,
        }
    }
}

/// Finds a word: by one of its names, as a key of ours, or by an unambiguous prefix.
///
/// # Errors
/// An unknown word, with the nearest known ones; an ambiguous prefix.
pub(super) fn meaning(written: &str) -> Result<Meaning, SpecError> {
    let names = |entry: &'static Entry| std::iter::once(entry.name).chain(entry.also.iter().copied());
    if let Some(entry) = WORDS.iter().find(|entry| names(entry).any(|name| name == written)) {
        return Ok(Meaning::Original(entry));
    }
    // Words that exist only here, such as `cycles` and `link_loads`.
    if let Some(key) = key(&written.replace('_', "-")).filter(|_| !written.contains('-')) {
        return Ok(Meaning::Ours(key));
    }
    let begin: Vec<&'static Entry> = WORDS
        .iter()
        .filter(|entry| !written.is_empty() && names(entry).any(|name| name.starts_with(written)))
        .collect();
    match &*begin {
        [entry] => Ok(Meaning::Original(entry)),
        [] => {
            let ours: Vec<String> = keys().iter().map(|key| key.name.replace('-', "_")).collect();
            let known: Vec<&str> = WORDS.iter().flat_map(names).chain(ours.iter().map(String::as_str)).collect();
            let near = suggestion(written, &known);
            let remedy = match &*near.near {
                [] => phrase!["see the words in `fsin legacy ", ["help"], "`"],
                _ => (&near).into(),
            };
            let what = format!("the original's word `{written}` is not known");
            Err(SpecError::new(ErrorKind::UnknownName, what, remedy).given(written).allowed(Allowed::Names(near)))
        }
        several => {
            let several: Vec<&str> = several.iter().map(|entry| entry.name).collect();
            let what = format!("`{written}` is the beginning of several words");
            Err(SpecError::new(
                ErrorKind::Malformed,
                what,
                format!("write one of them in full: {}", several.join(", ")),
            ))
        }
    }
}

/// The equivalent here of a value of an enumerated word.
///
/// # Errors
/// An unknown value.
pub(super) fn choose(word: &str, value: &str, choices: Choices) -> Result<String, SpecError> {
    choices.iter().find(|(name, _)| *name == value).map(|(_, ours)| (*ours).to_owned()).ok_or_else(|| {
        let known: Vec<&str> = choices.iter().map(|&(name, _)| name).collect();
        SpecError::new(ErrorKind::UnknownName, format!("`{word}` does not know `{value}`"), &suggestion(value, &known))
    })
}

/// The known words and their values, for readers.
#[must_use]
pub fn glossary() -> Phrase {
    let names = |choices: Choices| choices.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(", ");
    let families: Vec<String> =
        FAMILIES.iter().map(|&(family, _, modes)| format!("{family}: {}", names(modes))).collect();
    let mut text = Phrase::from("Words, which may be cut short as long as no other begins so:\n");
    for entry in WORDS.iter().filter(|entry| !matches!(entry.name, "sk_xz" | "sk_yx" | "sk_yz" | "sk_zx" | "sk_zy")) {
        let takes = match (entry.name, entry.takes) {
            ("topo", _) => phrase![("{}; sizes behind it, parted by _", NETWORKS.join(", "))],
            ("sk_xy", _) => "and sk_yx, sk_xz, ...: skews of ttorus".into(),
            ("rmode", _) => {
                phrase![("{}; channels behind it, as in smart3 ({})", names(MODES), families.join("; "))]
            }
            (_, Choice(_, choices)) if entry.about.is_empty() => names(choices).into(),
            (_, Same(key)) if entry.about.is_empty() => phrase![[key]],
            (_, Same(key)) => phrase![[key], ", ", Phrase::of_template(entry.about)],
            (_, Choice(..) | Together) => Phrase::of_template(entry.about),
            (_, Printing | Coupling) => continue,
            (_, Missing(what)) => phrase!["no counterpart unless 0: ", Phrase::of_template(what)],
            (_, Refused(what)) => phrase!["refused unless 0: ", Phrase::of_template(what)],
        };
        let all: Vec<&str> = std::iter::once(entry.name).chain(entry.also.iter().copied()).collect();
        text.push(phrase![("  {}: ", all.join(", ")), takes, "\n"]);
    }
    for (takes, why) in IDLE {
        let idle: Vec<&str> = WORDS.iter().filter(|entry| takes(entry.takes)).map(|entry| entry.name).collect();
        text.push(phrase![("  {}: no effect: ", idle.join(", ")), Phrase::of_template(why), "\n"]);
    }
    text.push(
        "What is not given is the original's default where that is known: topo=torus_4_4 nchan=2 iql=4 load=0.05\n\
         warm_up_period=5000 nsamples=10 sample_size=1000, and always a throttled source; else that of `fsin run`.\n\
         Beside these words every key of `fsin run`, with _ for -: cycles, temporal, link_loads, ...",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_is_set_exists_and_no_name_stands_twice() {
        let mut names = Vec::new();
        for entry in WORDS {
            if let Same(name) | Choice(name, _) = entry.takes {
                assert!(key(name).is_some(), "{}", entry.name);
            }
            names.extend(std::iter::once(entry.name).chain(entry.also.iter().copied()));
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_word_may_be_cut_short() {
        for (written, expected) in [
            ("topol", "topo"),
            ("warm", "warm_up_period"),
            ("drop", "drop_packets"),
            ("bub", "bsize"),
            ("bub_", "bub_to_adap"),
            ("conv_p", "conv_period"),
            ("patt", "tpattern"),
            ("vc", "vc"),
            // Words of the original are no abbreviations of our keys.
            ("shot", "shot"),
            ("cycles", "cycles"),
        ] {
            assert_eq!(meaning(written).unwrap().name(), expected, "{written}");
        }
        for (written, what) in [("conv", "several"), ("shots_", "not known"), ("", "not known"), ("cyc", "not known")] {
            assert!(meaning(written).unwrap_err().to_string().contains(what), "{written}");
        }
    }
}
