//! Networks and request modes of the original.

use trgen::catalog::{ErrorKind, SpecError, suggestion};
use trgen::phrase;

use super::words::Choices;
use super::{Known, Translation, Word, last, located, tree_word};

/// The original's default topology.
pub(super) const USUAL: &str = "torus_4_4";

/// Topologies of the original.
pub(super) const NETWORKS: &[&str] = &[
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

/// Request modes without a word for deadlock avoidance.
pub(super) const MODES: Choices = &[
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

/// By value of `vc`: the request modes that belong to it.
const MANAGEMENTS: &[(&str, Choices)] = &[
    (
        "bubble",
        &[
            ("dor", "bubble:oblivious"),
            ("oblivious", "bubble:oblivious"),
            ("random", "bubble:random"),
            ("shortest", "bubble:shortest"),
            ("smart", "bubble:smart"),
            ("bimodal", "bubble:bimodal"),
        ],
    ),
    (
        "double",
        &[
            ("oblivious", "double:oblivious"),
            ("adaptive", "double:adaptive"),
            ("doubleob", "double:oblivious"),
            ("doubleadap", "double:adaptive"),
            ("hexa_oblivious", "double:hexa-oblivious"),
            ("hexa_adaptive", "double:hexa-adaptive"),
            ("hexaob", "double:hexa-oblivious"),
            ("hexaadap", "double:hexa-adaptive"),
        ],
    ),
    (
        "dally",
        &[
            ("trc", "dally:trc"),
            ("basic", "dally:basic"),
            ("improved", "dally:improved"),
            ("adaptive", "dally:adaptive"),
        ],
    ),
];

/// Networks with their own routings: the suffix of the names of their topologies, the value of `vc`, and the values of
/// `rmode`, the default first.
pub(super) const FAMILIES: &[(&str, &str, Choices)] = &[
    ("tree", "tree", &[("adaptive", "tree:adaptive"), ("static", "tree:static")]),
    (
        "icube",
        "icube",
        &[
            ("adaptive", "cube:adaptive"),
            ("random", "cube:adaptive"),
            ("shortest", "cube:adaptive"),
            ("smart", "cube:adaptive"),
            ("dor", "cube:oblivious"),
            ("oblivious", "cube:oblivious"),
            ("static", "cube:oblivious"),
        ],
    ),
    (
        "dragonfly",
        "dragonfly",
        &[("minimal", "dragonfly:minimal"), ("valiant", "dragonfly:valiant"), ("ugal", "dragonfly:ugal")],
    ),
];

/// Parameters of a dragonfly, in the order of the original's words.
const DRAGONFLY: [&str; 3] = ["p", "a", "h"];

impl Translation {
    /// Sets the topology with its skews, from the words that describe it.
    pub(super) fn network(&mut self, words: &[Known]) -> Result<(), SpecError> {
        let topo = last(words, "topo");
        let value = topo.map_or(USUAL, |known| &known.word.value);
        // A skew of zero is valid in any network.
        let skews: Vec<&Known> = words.iter().filter(|known| known.name().starts_with("sk_")).collect();
        let real: Vec<&&Known> = skews.iter().filter(|known| known.word.value != "0").collect();
        let name = value.split('_').next().unwrap_or("");
        let is_twisted = matches!(name, "ttorus" | "twisted");
        if !is_twisted && !real.is_empty() {
            let words: Vec<String> =
                real.iter().map(|known| format!("{}={}", known.word.name, known.word.value)).collect();
            let note = format!(
                "{}: without effect with topo={value}: only twisted tori (ttorus) have skews",
                words.join(", ")
            );
            self.notes.push((None, note.into()));
        }
        if let Some(skew) = real.iter().find(|skew| skew.word.value.parse::<u32>().is_err()) {
            let Word { name, value, .. } = &skew.word;
            let refusal = SpecError::new(
                ErrorKind::Malformed,
                format!("`{name}` takes nodes, not `{value}`"),
                format!("write {name}=4"),
            );
            return Err(located(skew, &refusal));
        }
        self.present = topo.map(|known| known.word.clone());
        let one_way = last(words, "nways").or_else(|| last(words, "ways")).is_some_and(|known| known.word.value == "1");
        let spec = network(value, one_way)
            .map_err(|refusal| topo.map_or(refusal.clone(), |known| located(known, &refusal)))?;
        let skews: Vec<String> =
            real.iter().map(|known| format!("{}={}", &known.name()["sk_".len()..], known.word.value)).collect();
        let skews = match (is_twisted, skews.is_empty()) {
            (true, true) => ":yx=0".to_owned(),
            (true, false) => format!(":{}", skews.join(",")),
            (false, _) => String::new(),
        };
        self.set("topology", format!("{spec}{skews}"));
        match name {
            "circpk" => self.note("topology", "topo=circpk: the original's routes are not shortest; here they are"),
            "icube" => {
                self.note("topology", "topo=icube: the original crashes there as compiled for 64 bits; here it runs")
            }
            _ => {}
        }
        Ok(())
    }

    /// The routing given by `vc` and `rmode`.
    pub(super) fn routing(&mut self, words: &[Known]) -> Result<(), SpecError> {
        let spec = self.value("topology").unwrap_or("").split(':').next().unwrap_or("").to_owned();
        let family = FAMILIES.iter().find(|(family, ..)| spec.ends_with(family));
        let mut modes = family.map_or(MODES, |&(_, _, modes)| modes);
        let (vc, rmode) = (last(words, "vc"), last(words, "rmode"));
        if let Some(known) = vc {
            let value = known.word.value.as_str();
            if !value.is_empty() && value.bytes().all(|letter| letter.is_ascii_digit()) {
                let what = format!("`vc={value}`: `vc` says how deadlock is avoided, not how many channels there are");
                return Err(located(
                    known,
                    &SpecError::new(ErrorKind::Malformed, what, format!("write nchan={value}")),
                ));
            }
            let names: Vec<&str> = match family {
                Some(&(_, management, _)) => vec![management],
                None => MANAGEMENTS.iter().map(|&(name, _)| name).collect(),
            };
            if let Some(&(family, management, _)) = family
                && value != management
            {
                let what = format!(
                    "vc={value}: without effect, as in the original: {family} networks have their own routings"
                );
                self.notes.push((None, what.into()));
            } else if !names.contains(&value) {
                let what = format!("`vc` does not know `{value}` for this network");
                return Err(located(
                    known,
                    &SpecError::new(
                        ErrorKind::Malformed,
                        what,
                        format!("{}, or leave it out", suggestion(value, &names)),
                    ),
                ));
            }
            let managed = MANAGEMENTS.iter().find(|(name, _)| *name == value && family.is_none());
            modes = managed.map_or(modes, |&(_, modes)| modes);
            if rmode.is_none() && family.is_none() && matches!(value, "double" | "dally") {
                let what = format!("`vc={value}` says only how deadlock is avoided");
                let modes: Vec<&str> = modes.iter().map(|&(name, _)| name).collect();
                return Err(located(
                    known,
                    &SpecError::new(ErrorKind::Malformed, what, format!("add rmode=, one of {}", modes.join(", "))),
                ));
            }
        }
        // Trees and indirect cubes have `routing=adaptive` or `static`, and then no request mode.
        let word = last(words, "routing").filter(|known| family.is_some() && tree_word(&known.word.value));
        if let Some(&Known { word: Word { ref name, ref value, .. }, .. }) = word {
            self.present = word.map(|known| known.word.clone());
            self.mode(name, value, modes)
                .map_err(|refusal| word.map_or(refusal.clone(), |known| located(known, &refusal)))?;
            if let Some(other) = rmode.filter(|known| self.contradicts(&known.word.value, modes)) {
                let what = format!("{}={}: without effect: {name}={value}", other.word.name, other.word.value);
                self.notes.push((None, what.into()));
            }
            return Ok(());
        }
        match rmode {
            Some(known) => {
                self.present = Some(known.word.clone());
                self.mode(&known.word.name, &known.word.value, modes).map_err(|refusal| located(known, &refusal))
            }
            None if family.is_some() => {
                self.present = None;
                self.set("routing", modes[0].1.to_owned());
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// True if a request mode is not the routing that is set.
    fn contradicts(&self, mode: &str, modes: Choices) -> bool {
        let name = mode.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let meant = modes.iter().find(|(known, _)| *known == name).map(|(_, routing)| *routing);
        meant.is_none() || meant != self.value("routing")
    }

    /// True if the network has routings of its own in place of request modes.
    pub(super) fn has_own_routings(&self) -> bool {
        let spec = self.value("topology").unwrap_or("").split(':').next().unwrap_or("");
        FAMILIES.iter().any(|(family, ..)| spec.ends_with(family))
    }

    /// Sets the routing from a value such as `smart3`: a request mode and a number of channels.
    fn mode(&mut self, word: &str, value: &str, modes: Choices) -> Result<(), SpecError> {
        let name = value.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let channels = &value[name.len()..];
        let plain = name.replace('-', "_");
        let routing =
            modes.iter().find(|(known, _)| *known == plain).map(|(_, routing)| *routing).ok_or_else(|| {
                let known: Vec<&str> = modes.iter().map(|&(known, _)| known).collect();
                let remedy =
                    format!("{}, with the number of channels behind it, as in smart3", suggestion(name, &known));
                SpecError::new(
                    ErrorKind::Malformed,
                    format!("`{word}` does not know `{value}` for this network"),
                    remedy,
                )
            })?;
        self.set("routing", routing.to_owned());
        match routing {
            "cube:adaptive" if name != "adaptive" => self.note(
                "routing",
                format!("{word}={value}: indirect cubes have one adaptive routing here, cube:adaptive"),
            ),
            "dally:adaptive" => self.note(
                "routing",
                format!("{word}={value}: dally:adaptive, which adapts: the original's never does (vc=double makes it double:adaptive)"),
            ),
            "double:hexa-oblivious" | "double:hexa-adaptive" => self.note(
                "routing",
                format!("{word}={value}: the original asks for the bubble on channel 0 only; here every channel has it"),
            ),
            _ => {}
        }
        if !channels.is_empty() {
            self.set("vcs", channels.to_owned());
        }
        Ok(())
    }
}

/// Translates a topology and its sizes, such as `torus_16_16`.
fn network(value: &str, one_way: bool) -> Result<String, SpecError> {
    let (name, rest) = value.split_once('_').unwrap_or((value, ""));
    let parts: Vec<&str> = rest.split('_').collect();
    let sizes = parts.join("x");
    let wrong = |needs: &str, example: &str| {
        SpecError::new(
            ErrorKind::Malformed,
            format!("`topo={value}` needs {needs}"),
            format!("write it as in topo={example}"),
        )
    };
    Ok(match name {
        "ttorus" | "twisted" => format!("twisted:{sizes}"),
        "torus" | "mesh" => format!("{name}:{sizes}"),
        "spinnaker" => match *parts {
            [x, y] | [x, y, "1"] => format!("spinnaker:{x}x{y}"),
            _ => return Err(wrong("two sizes, and a third that is 1", "spinnaker_8_8_1")),
        },
        "fattree" | "thintree" | "slimtree" => format!("{name}:{}", parts.join(",")),
        "midimew" | "spidergon" | "hypercube" => format!("{name}:{rest}"),
        "circulant" => match *parts {
            [nodes, jump] => format!("circulant:{nodes}:1,{jump}"),
            _ => {
                let needs = "two numbers: nodes, and the jump beside 1";
                let remedy = phrase![
                    "write it as in topo=circulant_64_8; `fsin run ",
                    ["topology" => "circulant:64:3,8"],
                    "` has other jumps"
                ];
                return Err(SpecError::new(ErrorKind::Malformed, format!("`topo={value}` needs {needs}"), remedy));
            }
        },
        "circpk" => {
            let needs = "two numbers, a and k: 2 a^2 nodes, jumps 1 and 2 k a - 1";
            let numbers: Option<Vec<u64>> =
                parts.iter().map(|part| part.parse::<u16>().ok().filter(|&part| part > 0).map(u64::from)).collect();
            let Some([a, k]) = numbers.as_deref() else { return Err(wrong(needs, "circpk_4_1")) };
            let nodes = 2 * a * a;
            let jump = (2 * k * a - 1) % nodes;
            // The same links, described from their other ends.
            let (jump, back) = if jump > nodes / 2 { (nodes - jump, true) } else { (jump, false) };
            if back && one_way {
                let what = format!("`topo={value}` with one-way links has a jump of more than half the ring");
                return Err(SpecError::new(ErrorKind::Malformed, what, "leave nways=1 out, or use a smaller k"));
            }
            format!("circulant:{nodes}:1,{jump}")
        }
        "icube" => match *parts {
            [endpoints, "1", _, ..] if parts.len() > 2 => format!("icube:{}:{endpoints}", parts[2..].join("x")),
            _ => {
                let needs = "endpoints of a switch, links between neighbours, which are 1 here, and the sizes";
                return Err(wrong(needs, "icube_2_1_4_4"));
            }
        },
        "dragonfly" => {
            if parts.len() != DRAGONFLY.len() {
                let needs = format!("{} numbers: {}", DRAGONFLY.len(), DRAGONFLY.join(", "));
                return Err(wrong(&needs, "dragonfly_2_4_2"));
            }
            let given = DRAGONFLY.iter().zip(&parts).map(|(name, part)| format!("{name}={part}"));
            format!("dragonfly:{}", given.collect::<Vec<_>>().join(","))
        }
        "tricube" => {
            let what = format!("`topo={value}`: the original's tricube has no counterpart here");
            let remedy = phrase!["write its links in a file, for `fsin run ", ["topology" => "graph:FILE"], "`"];
            return Err(SpecError::new(ErrorKind::Unsupported, what, remedy));
        }
        _ => {
            return Err(SpecError::new(
                ErrorKind::Malformed,
                format!("`topo` does not know `{name}`"),
                &suggestion(name, NETWORKS),
            ));
        }
    })
}
