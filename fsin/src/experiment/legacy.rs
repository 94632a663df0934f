//! Words of the original simulator (FSIN, INSEE), translated into keys of an experiment.
//!
//! Only words whose meaning is known are translated; all others are refused by name. Where the original has a defect that
//! ours does not copy, a note says so.

use trgen::catalog::{Refusal, suggestion};

use super::keys::{KEYS, Kind, key};
use crate::topology::{self, Survey, Topology};

/// A word of the original, with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// Before the `=`.
    pub name: String,
    /// After it.
    pub value: String,
    /// The line of a file that it stands in, if it does.
    pub line: Option<(String, usize)>,
}

impl Word {
    /// A word of a command line.
    #[must_use]
    pub fn new(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: value.to_owned(), line: None }
    }

    /// Where it stands in a file, if it does, as the beginning of what is wrong with it.
    fn place(&self) -> String {
        self.line.as_ref().map_or(String::new(), |(file, line)| format!("{file}: line {line}: "))
    }
}

/// What the words of the original mean here.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Translation {
    /// Keys and values, in the order of the key table.
    pub settings: Vec<(&'static str, String)>,
    /// What is not as it was.
    pub notes: Vec<String>,
    /// Keys, and the words that set them.
    origins: Vec<(&'static str, Word)>,
    /// The word that is being translated.
    present: Option<Word>,
}

/// Words that name one key each, whose values need no translation.
const PLAIN: &[(&str, &str)] = &[
    ("load", "load"),
    ("seed", "seed"),
    ("ninj", "injectors"),
    ("tql", "queue"),
    ("transit_queue", "queue"),
    ("bsize", "bubble"),
    ("lbr", "lbr"),
    ("intransit_pr", "in-transit-priority"),
    ("faults", "faults"),
    ("packet_phits", "packet"),
    ("shot_size", "shot"),
    ("timeout_upper", "timeout-upper"),
    ("timeout_lower", "timeout-lower"),
];

/// Words with a translation of their own.
const SPECIAL: &[&str] = &[
    "topo",
    "topology",
    "mode",
    "pattern",
    "traffic",
    "imode",
    "amode",
    "cmode",
    "par_inj",
    "routing",
    "global_cc",
    "update_period",
    "sk_xy",
    "sk_xz",
    "sk_yx",
    "sk_yz",
    "sk_zx",
    "sk_zy",
];

/// Topologies of the original.
const NETWORKS: &[&str] = &[
    "torus",
    "mesh",
    "ttorus",
    "twisted",
    "spinnaker",
    "midimew",
    "spidergon",
    "hypercube",
    "circulant",
    "circpk",
    "fattree",
    "thintree",
    "slimtree",
    "icube",
    "dragonfly",
];

/// Request modes with the number of channels behind them, as in `smart3`.
const MODES: &[(&str, &str)] = &[
    ("dor", "bubble:oblivious"),
    ("oblivious", "bubble:oblivious"),
    ("random", "bubble:random"),
    ("shortest", "bubble:shortest"),
    ("smart", "bubble:smart"),
    ("bimodal", "bubble:bimodal"),
    ("doubleob", "double:oblivious"),
    ("doubleadap", "double:adaptive"),
    ("hexaob", "double:hexa-oblivious"),
    ("hexaadap", "double:hexa-adaptive"),
    ("trc", "dally:trc"),
    ("basic", "dally:basic"),
    ("improved", "dally:improved"),
    ("adaptive", "dally:adaptive"),
];

/// Networks that have routings of their own: how the names of their topologies begin or end, what `mode` is called there,
/// and what it is if it is not given (the first).
const FAMILIES: &[(&str, Choices)] = &[
    ("tree", &[("adaptive", "tree:adaptive"), ("static", "tree:static")]),
    (
        "icube",
        &[
            ("adaptive", "cube:adaptive"),
            ("random", "cube:adaptive"),
            ("shortest", "cube:adaptive"),
            ("smart", "cube:adaptive"),
            ("dor", "cube:oblivious"),
            ("oblivious", "cube:oblivious"),
        ],
    ),
    ("dragonfly", &[("minimal", "dragonfly:minimal"), ("valiant", "dragonfly:valiant"), ("ugal", "dragonfly:ugal")]),
];

/// Words that choose, and the keys that they set.
const CHOSEN: &[(&str, &str, Choices)] = &[
    ("imode", "injection", INJECTIONS),
    ("amode", "arbitration", ARBITRATIONS),
    ("cmode", "consumption", CONSUMPTIONS),
    ("routing", "order", ORDERS),
    ("par_inj", "inject", PARALLEL),
];

/// Numbers of a dragonfly, in the order of the original's words.
const DRAGONFLY: [&str; 3] = ["p", "a", "h"];

/// Keys whose values have arguments, and how those are written here: `cburst_8` is `cburst(8)`, `shift_3` is `shift:3`.
const COMPOSITE: &[(&str, bool)] = &[("temporal", true), ("size", true), ("placement", false), ("link-delay", false)];

/// Values of words that choose.
type Choices = &'static [(&'static str, &'static str)];
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

/// The words that are known, with what they take, for a reader.
#[must_use]
pub fn glossary() -> String {
    let names = |choices: Choices| choices.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(", ");
    let families = FAMILIES.iter().map(|&(family, modes)| format!("{family}: {}", names(modes))).collect::<Vec<_>>();
    let mut lines = vec![
        ("topo, topology", format!("{}; sizes behind it, parted by _", NETWORKS.join(", "))),
        ("sk_xy, sk_yx, ...", "skews of ttorus".to_owned()),
        ("mode", format!("{}; channels behind it, as in smart3 ({})", names(MODES), families.join("; "))),
        (
            "pattern, traffic",
            "as --traffic, arguments parted by _; inverse is reversal, tornado is tornado-fsin".to_owned(),
        ),
        ("imode", names(INJECTIONS)),
        ("amode", names(ARBITRATIONS)),
        ("cmode", names(CONSUMPTIONS)),
        ("par_inj", "1, or 0 for serial injection".to_owned()),
        ("routing", names(ORDERS)),
        ("global_cc, update_period", "percent of the capacity; diameters".to_owned()),
    ];
    lines.extend(PLAIN.iter().map(|&(name, ours)| (name, format!("--{ours}"))));
    let mut text =
        lines.iter().fold("Words:\n".to_owned(), |text, (name, takes)| text + &format!("  {name}: {takes}\n"));
    text.push_str("Beside them every key of `fsin run`, with _ for -: sample_size, temporal, ...");
    text
}

fn choose(word: &str, value: &str, choices: Choices) -> Result<String, Refusal> {
    choices.iter().find(|(name, _)| *name == value).map(|(_, ours)| (*ours).to_owned()).ok_or_else(|| {
        let known: Vec<&str> = choices.iter().map(|&(name, _)| name).collect();
        Refusal::value(format!("`{word}` does not know `{value}`"), suggestion(value, &known))
    })
}

/// The last word of one of these names.
fn last<'a>(words: &'a [Word], names: &[&str]) -> Option<&'a Word> {
    words.iter().rev().find(|word| names.contains(&word.name.as_str()))
}

/// What is wrong with a word, and where it stands.
fn at(word: &Word, refusal: Refusal) -> Refusal {
    Refusal::value(format!("{}{refusal}", word.place()), refusal.remedy())
}

/// Translates words and their values; a later one overrides an earlier one that says the same.
///
/// # Errors
/// A word or a value that is not known, by its name, with the nearest ones that are, and by its line.
pub fn translate(words: &[Word]) -> Result<Translation, Refusal> {
    let mut new = Translation::default();
    let last = |names: &[&str]| last(words, names);
    let modes = if let Some(word) = last(&["topo", "topology"]) {
        new.present = Some(word.clone());
        let spec = network(&word.value, words).map_err(|refusal| at(word, refusal))?;
        let name = spec.split(':').next().unwrap_or("").to_owned();
        if word.value.starts_with("circpk") {
            new.notes
                .push(format!("{}={}: the original's routes are not minimal; here they are", word.name, word.value));
        }
        new.set("topology", spec);
        FAMILIES.iter().find(|(family, _)| name.ends_with(family)).map_or(MODES, |(_, modes)| modes)
    } else if let Some(word) = words.iter().find(|word| word.name.starts_with("sk_")) {
        let refusal = Refusal::value(format!("`{}` needs a twisted torus", word.name), "add topo=ttorus_8_4");
        return Err(at(word, refusal));
    } else {
        MODES
    };
    if last(&["mode"]).is_none() && modes != MODES {
        new.set("routing", modes[0].1.to_owned());
    }
    for word in words {
        new.present = Some(word.clone());
        if let Some((_, ours)) = PLAIN.iter().find(|(name, _)| *name == word.name) {
            new.set(ours, word.value.clone());
        } else if word.name == "mode" {
            new.mode(&word.value, modes).map_err(|refusal| at(word, refusal))?;
        } else if matches!(&*word.name, "pattern" | "traffic") {
            new.pattern(&word.value);
        } else if let Some(&(name, ours, choices)) = CHOSEN.iter().find(|(name, ..)| *name == word.name) {
            new.set(ours, choose(name, &word.value, choices).map_err(|refusal| at(word, refusal))?);
            new.notes.retain(|note| name != "imode" || !note.starts_with("imode="));
            if name == "imode" && matches!(&*word.value, "dor" | "dsh") {
                new.notes.push(format!(
                    "imode={}: the original took the last dimension with hops to go; here it is the first",
                    word.value
                ));
            }
        } else if !SPECIAL.contains(&word.name.as_str()) {
            // Words that both have, such as `samples` and `sample_size`.
            let key = key(&word.name.replace('_', "-")).filter(|_| !word.name.contains('-'));
            let key = key.ok_or_else(|| at(word, unknown(&word.name)))?;
            if key.kind == Kind::Switch && !matches!(&*word.value, "true" | "false") {
                let what = format!("`{}` is true or false, not `{}`", word.name, word.value);
                return Err(at(word, Refusal::value(what, format!("write {}=true, or leave it out", word.name))));
            }
            new.set(key.name, composite(key.name, &word.value));
        }
    }
    new.control(last(&["global_cc"]), last(&["update_period"]))?;
    new.settings.sort_by_key(|(name, _)| KEYS.iter().position(|key| key.name == *name));
    Ok(new)
}

/// `cburst_8`, where the value of the key has arguments.
fn composite(key: &str, value: &str) -> String {
    let Some(&(_, bracketed)) = COMPOSITE.iter().find(|(name, _)| *name == key) else { return value.to_owned() };
    match value.split_once('_') {
        // As it is written here, or a path.
        _ if value.contains([':', '(', '/']) => value.to_owned(),
        Some((name, arguments)) if bracketed => format!("{name}({})", arguments.replace('_', ",")),
        _ => value.replace('_', ":"),
    }
}

fn unknown(word: &str) -> Refusal {
    let known: Vec<&str> = PLAIN.iter().map(|&(name, _)| name).chain(SPECIAL.iter().copied()).collect();
    Refusal::value(format!("the original's word `{word}` is not known"), suggestion(word, &known))
}

impl Translation {
    fn set(&mut self, name: &'static str, value: String) {
        self.settings.retain(|(known, _)| *known != name);
        self.settings.push((name, value));
        self.origins.retain(|(known, _)| *known != name);
        self.origins.extend(self.present.clone().map(|word| (name, word)));
    }

    /// Which word a message is about that names one of the keys as a flag: where it stands, and as it was written.
    #[must_use]
    pub fn origin(&self, message: &str) -> Option<String> {
        let mut flags = message.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
        let word = flags.find_map(|flag| {
            let key = flag.strip_prefix("--")?;
            self.origins.iter().find_map(|(name, word)| (*name == key).then_some(word))
        })?;
        Some(format!("{}`{}={}`", word.place(), word.name, word.value))
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// `smart3`: a request mode, of those that the network knows, and its number of channels.
    fn mode(&mut self, value: &str, modes: Choices) -> Result<(), Refusal> {
        let name = value.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let channels = &value[name.len()..];
        let routing = modes.iter().find(|(known, _)| *known == name).map(|(_, routing)| *routing).ok_or_else(|| {
            let known: Vec<&str> = modes.iter().map(|&(known, _)| known).collect();
            let remedy = format!("{}, with the number of channels behind it, as in smart3", suggestion(name, &known));
            Refusal::value(format!("`mode` does not know `{value}` for this network"), remedy)
        })?;
        // What was said of a mode that this one overrides.
        self.notes.retain(|note| !note.starts_with("mode="));
        if routing == "cube:adaptive" && name != "adaptive" {
            self.notes.push(format!("mode={value}: indirect cubes have one adaptive routing here, cube:adaptive"));
        }
        if routing == "dally:adaptive" {
            self.notes.push("mode=adaptive: the original's never adapted; here it does".to_owned());
        }
        self.set("routing", routing.to_owned());
        if !channels.is_empty() {
            self.set("vcs", channels.to_owned());
        }
        Ok(())
    }

    /// `hotspot_0.1_0`: a pattern and its arguments.
    fn pattern(&mut self, value: &str) {
        let (name, mut arguments) = value.split_once('_').map_or((value, None), |(name, rest)| (name, Some(rest)));
        self.notes.retain(|note| !note.starts_with("tornado:"));
        let name = match name {
            "inverse" => "reversal",
            // The original's takes no arguments.
            "hotspot" if arguments.is_none() => {
                arguments = Some("0.02_0");
                name
            }
            "tornado" => {
                self.notes.push(
                    "tornado: the original's does not wrap inside the row; it is tornado-fsin here, and tornado is another \
                     pattern"
                        .to_owned(),
                );
                "tornado-fsin"
            }
            name => name,
        };
        let arguments = arguments.map_or(String::new(), |rest| format!("({})", rest.replace('_', ",")));
        self.set("traffic", format!("{name}{arguments}"));
    }

    fn control(&mut self, percent: Option<&Word>, periods: Option<&Word>) -> Result<(), Refusal> {
        let Some(percent) = percent else {
            let meaningless = || Refusal::value("`update_period` has no meaning without `global_cc`", "leave it out");
            return periods.map_or(Ok(()), |word| Err(at(word, meaningless())));
        };
        self.present = Some(percent.clone());
        self.set("global-cc", percent.value.clone());
        self.notes.push(format!(
            "global_cc={}: the original counted capacity twice, and so let twice as many packets in",
            percent.value
        ));
        let Some(periods) = periods.filter(|periods| periods.value != "0") else { return Ok(()) };
        let count: u64 = periods.value.parse().map_err(|_| {
            let what = format!("`update_period` takes a number, not `{}`", periods.value);
            at(periods, Refusal::value(what, "write update_period=1"))
        })?;
        let spec = self.value("topology").unwrap_or("torus:8x8");
        let topology: Box<dyn Topology> = topology::parse(spec, 2)?;
        let diameter = u64::from(Survey::of(&*topology).diameter);
        self.present = Some(periods.clone());
        self.set("global-cc-period", count.saturating_mul(diameter).to_string());
        self.notes.push(format!("update_period={count}: counted in diameters, {diameter} hops; it is cycles here"));
        Ok(())
    }
}

/// `torus_16_16`: a topology and its sizes.
fn network(value: &str, words: &[Word]) -> Result<String, Refusal> {
    let (name, rest) = value.split_once('_').unwrap_or((value, ""));
    let parts: Vec<&str> = rest.split('_').collect();
    let mut skews: Vec<String> = Vec::new();
    for word in words {
        if let Some(which) = word.name.strip_prefix("sk_") {
            skews.retain(|skew| !skew.starts_with(which));
            skews.push(format!("{which}={}", word.value));
        }
    }
    if !skews.is_empty() && !matches!(name, "ttorus" | "twisted") {
        return Err(Refusal::value(format!("`sk_` words have no meaning with topo={value}"), "use topo=ttorus_8_4"));
    }
    let sizes = parts.join("x");
    Ok(match name {
        "ttorus" | "twisted" => {
            format!("twisted:{sizes}:{}", if skews.is_empty() { "yx=0".to_owned() } else { skews.join(",") })
        }
        "torus" | "mesh" => format!("{name}:{sizes}"),
        // Its third size is 1, if it is given.
        "spinnaker" if parts.len() == 3 && parts[2] == "1" => format!("spinnaker:{}x{}", parts[0], parts[1]),
        "spinnaker" => format!("spinnaker:{sizes}"),
        "fattree" | "thintree" | "slimtree" => format!("{name}:{}", parts.join(",")),
        "midimew" | "spidergon" | "hypercube" => format!("{name}:{rest}"),
        "circpk" => circpk(value, &parts)?,
        // The ring, and the jumps that are named.
        "circulant" => {
            let jumps = parts[1..].iter().filter(|&&jump| jump != "1");
            let jumps: Vec<&str> = std::iter::once("1").chain(jumps.copied()).collect();
            format!("circulant:{}:{}", parts[0], jumps.join(","))
        }
        "icube" => {
            let (sizes, endpoints) = parts.split_at(parts.len() - 1);
            format!("icube:{}:{}", sizes.join("x"), endpoints.join(""))
        }
        "dragonfly" => {
            if parts.len() != DRAGONFLY.len() {
                let what = format!("`topo={value}` needs {} numbers: {}", DRAGONFLY.len(), DRAGONFLY.join(", "));
                return Err(Refusal::value(what, "write it as in topo=dragonfly_2_4_2"));
            }
            let given = DRAGONFLY.iter().zip(&parts).map(|(name, part)| format!("{name}={part}"));
            format!("dragonfly:{}", given.collect::<Vec<_>>().join(","))
        }
        _ => {
            return Err(Refusal::value(format!("`topo` does not know `{name}`"), suggestion(name, NETWORKS)));
        }
    })
}

/// `circpk_a_k`: 2 a^2 nodes, and jumps of 1 and 2 k a - 1, either way round the ring.
fn circpk(value: &str, parts: &[&str]) -> Result<String, Refusal> {
    let refuse = |what: &str| {
        Refusal::value(format!("`topo={value}` {what}"), "write circpk_a_k: 2 a^2 nodes, jumps of 1 and 2 k a - 1")
    };
    let numbers: Vec<u64> = parts.iter().filter_map(|part| part.parse().ok()).collect();
    let [a, k] = *numbers else { return Err(refuse("needs two numbers")) };
    let (nodes, jump) = a
        .checked_mul(a)
        .and_then(|square| square.checked_mul(2))
        .zip(a.checked_mul(k).and_then(|product| product.checked_mul(2)))
        .filter(|&(nodes, twice)| twice > 0 && twice < nodes)
        .map(|(nodes, twice)| (nodes, twice - 1))
        .ok_or_else(|| refuse("has no second jump"))?;
    Ok(format!("circulant:{nodes}:1,{}", jump.min(nodes - jump)))
}

/// Reads a configuration file: `key=value` or `key value`, one on a line; `#` and `;` begin a comment.
///
/// # Errors
/// A line without a value, by its number.
pub fn read(file: &str, text: &str) -> Result<Vec<Word>, Refusal> {
    let lines =
        text.lines().enumerate().map(|(number, line)| (number + 1, line.split(['#', ';']).next().unwrap_or("").trim()));
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| {
            let (word, value) =
                line.split_once('=').or_else(|| line.split_once(char::is_whitespace)).ok_or_else(|| {
                    let what = format!("{file}: line {number}: `{line}` has no value");
                    Refusal::value(what, "write it as in `load=0.3`")
                })?;
            Ok(Word { line: Some((file.to_owned(), number)), ..Word::new(word.trim(), value.trim()) })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> Result<Translation, Refusal> {
        let words = line.split_whitespace().map(|word| word.split_once('=').unwrap());
        translate(&words.map(|(word, value)| Word::new(word, value)).collect::<Vec<_>>())
    }

    #[test]
    fn words_become_keys() {
        for (words, expected) in [
            ("topo=torus_16_16 load=0.3", "topology=torus:16x16 load=0.3"),
            (
                "topology=ttorus_8_4 sk_yx=4 mode=doubleadap2 pattern=inverse",
                "topology=twisted:8x4:yx=4 vcs=2 routing=double:adaptive traffic=reversal",
            ),
            (
                "mode=hexaob6 imode=dsh ninj=6 amode=age cmode=single tql=8 bsize=3 par_inj=0 routing=dir intransit_pr=1",
                "vcs=6 routing=double:hexa-oblivious order=dir queue=8 injectors=6 injection=dor-shortest inject=serial \
                 consumption=single arbitration=age bubble=3 in-transit-priority=1",
            ),
            ("topo=thintree_4_2_3 mode=adaptive1", "topology=thintree:4,2,3 vcs=1 routing=tree:adaptive"),
            ("pattern=hotspot_0.1_0 sample_size=1000", "traffic=hotspot(0.1,0) sample-size=1000"),
            ("topo=icube_4_4_2 mode=dor1", "topology=icube:4x4:2 vcs=1 routing=cube:oblivious"),
            ("topo=icube_4_4_2 mode=smart3", "topology=icube:4x4:2 vcs=3 routing=cube:adaptive"),
            ("topo=icube_4_4_2", "topology=icube:4x4:2 routing=cube:adaptive"),
            ("topo=slimtree_4_2_3 mode=static1", "topology=slimtree:4,2,3 vcs=1 routing=tree:static"),
            ("topo=dragonfly_2_4_2", "topology=dragonfly:p=2,a=4,h=2 routing=dragonfly:minimal"),
            ("topo=dragonfly_2_4_2 mode=ugal3", "topology=dragonfly:p=2,a=4,h=2 vcs=3 routing=dragonfly:ugal"),
            ("mode=oblivious2 transit_queue=6", "vcs=2 routing=bubble:oblivious queue=6"),
            ("topo=circulant_64_8", "topology=circulant:64:1,8"),
            ("topo=circulant_20_3_4", "topology=circulant:20:1,3,4"),
            ("topo=circulant_20_1_4", "topology=circulant:20:1,4"),
            ("topo=circpk_5_2", "topology=circulant:50:1,19"),
            ("topo=circpk_5_4", "topology=circulant:50:1,11"),
            ("topo=spinnaker_8_8_1", "topology=spinnaker:8x8"),
            ("topo=spinnaker_6_9", "topology=spinnaker:6x9"),
            ("pattern=hotspot", "traffic=hotspot(0.02,0)"),
            ("topo=torus_8_8 global_cc=50 update_period=2", "topology=torus:8x8 global-cc=50 global-cc-period=16"),
            ("load=0.1 load=0.2", "load=0.2"),
            ("amode=fifo arbitration=age", "arbitration=age"),
            ("arbitration=age amode=fifo", "arbitration=fifo"),
            ("placement=file:my_places.txt", "placement=file:my_places.txt"),
            ("mode=smart3 vcs=2", "vcs=2 routing=bubble:smart"),
            ("vcs=2 mode=smart3", "vcs=3 routing=bubble:smart"),
            ("topo=torus_8_8 topology=mesh_4_4", "topology=mesh:4x4"),
            ("topo=ttorus_8_4_4", "topology=twisted:8x4x4:yx=0"),
            ("topo=ttorus_8_4 sk_yx=2 sk_yx=4", "topology=twisted:8x4:yx=4"),
            (
                "temporal=cburst_8 size=bimodal_4_64_0.2 link_delay=1_2 placement=shift_3",
                "link-delay=1:2 temporal=cburst(8) size=bimodal(4,64,0.2) placement=shift:3",
            ),
        ] {
            let settings = translated(words).unwrap().settings;
            let found: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(found.join(" "), expected, "{words}");
        }
    }

    #[test]
    fn what_ours_treats_otherwise_is_said() {
        for (words, expected) in [
            ("imode=dor ninj=4", "last dimension"),
            ("imode=dsh ninj=4", "last dimension"),
            ("topo=icube_4_4_2 mode=smart3", "one adaptive routing"),
            ("pattern=tornado", "tornado-fsin"),
            ("mode=adaptive3", "never adapted"),
            ("global_cc=30", "twice"),
            ("topo=circpk_5_2", "not minimal"),
        ] {
            let notes = translated(words).unwrap().notes;
            assert!(notes.len() == 1 && notes[0].contains(expected), "{notes:?}");
        }
        assert!(translated("topo=torus_8_8 imode=shp").unwrap().notes.is_empty());
    }

    #[test]
    fn unknown_words_are_refused_by_name() {
        for (words, what, remedy) in [
            ("tqk=4", "`tqk` is not known", "`tql`"),
            ("phit-bytes=4", "`phit-bytes` is not known", ""),
            ("topo=tours_8_8", "does not know `tours`", "`torus`"),
            ("mode=smrat3", "does not know `smrat3`", "`smart`"),
            ("topo=fattree_4_3 mode=dor1", "does not know `dor1`", "adaptive, static"),
            ("amode=oldest", "`amode` does not know `oldest`", ""),
            ("topo=torus_8_8 sk_yx=2", "`sk_` words", "ttorus"),
            ("sk_yx=2", "needs a twisted torus", "ttorus"),
            ("update_period=2", "without `global_cc`", ""),
            ("topo=dragonfly_2_4_2_5", "needs 3 numbers", "dragonfly_2_4_2"),
            ("topo=dragonfly_2_4", "needs 3 numbers", "dragonfly_2_4_2"),
            ("topo=circpk_5", "needs two numbers", "circpk_a_k"),
            ("topo=circpk_5_5", "has no second jump", "circpk_a_k"),
            ("topo=circpk_5_0", "has no second jump", "circpk_a_k"),
            ("topo=hyperx_4_4_2", "does not know `hyperx`", "torus, mesh"),
        ] {
            let refusal = translated(words).unwrap_err();
            assert!(refusal.to_string().contains(what) && refusal.remedy().contains(remedy), "{words}: {refusal}");
        }
    }

    #[test]
    fn files_hold_a_word_a_line() {
        let words = read("f", "# comment\ntopo=torus_8_8 ; and another\n\n load 0.3\nmode=smrat3").unwrap();
        let found: Vec<(&str, &str)> = words.iter().map(|word| (&*word.name, &*word.value)).collect();
        assert_eq!(found, [("topo", "torus_8_8"), ("load", "0.3"), ("mode", "smrat3")]);
        assert!(translate(&words).unwrap_err().to_string().starts_with("f: line 5: `mode` does not know"));
        assert!(read("f", "a=1\nload\n").unwrap_err().to_string().contains("f: line 2"));
    }
}
