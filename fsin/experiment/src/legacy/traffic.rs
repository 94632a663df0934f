//! Patterns, sizes and times of the original's messages, and the words that apply to each kind of run.

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::{Known, Meaning, Translation, Word, last, located, number};
use crate::conflicts::{BATCH, ENDING, SYNTHETIC, TASKS, TRACE};
use fsin_core::topology::{self, Topology};

/// The original's defaults, as far as known.
const USUAL: &[(&str, &str)] = &[
    ("vcs", "2"),
    ("injection-queue", "4"),
    // The original has no other policy.
    ("source", "throttled"),
    ("load", "0.05"),
    ("warmup", "5000"),
    ("samples", "10"),
    ("sample-size", "1000"),
];

/// The pattern of `hotspot` without arguments.
const HOTSPOT: &str = "hotspot(0.02,0)";

/// Kinds of runs, to which different words apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Run {
    /// A trace, a kernel or a mix of jobs.
    Application,
    Shots,
    /// A given number of cycles.
    Fixed,
    /// Warm-up and samples.
    Batch,
}

impl Run {
    /// # Errors
    /// Two kinds at once; a `shotmode` that is neither on nor off.
    pub(super) fn of(words: &[Known]) -> Result<Self, SpecError> {
        let shots = match last(words, "shotmode") {
            Some(known) if !matches!(&*known.word.value, "0" | "1") => {
                let what = format!("`shotmode` is 0 or 1, not `{}`", known.word.value);
                return Err(located(
                    known,
                    &SpecError::new(ErrorKind::Malformed, what, "write shotmode=1 for shots, or leave it out"),
                ));
            }
            known => known.filter(|known| known.word.value == "1"),
        };
        // The name of a trace is replayed only with `tpattern=trace`, or without a pattern: a file of the original names
        // one whatever it simulates. Beside background traffic the pattern is that of the background.
        let pattern = last(words, "tpattern").filter(|known| known.word.value != "trace");
        let beside = last(words, "bg_load").is_some_and(|known| number(known).is_ok_and(|load| load > 0.0));
        let is_named = |name: &&str| *name != "tracefile" || pattern.is_none() || beside;
        let trace =
            ["tracefile", "trace", "kernel", "job-mix"].into_iter().filter(is_named).find_map(|name| last(words, name));
        if let (Some(shots), Some(trace)) = (shots, trace) {
            let trace = &trace.word.name;
            let what = format!("`shotmode=1` and `{trace}` exclude each other");
            return Err(located(
                shots,
                &SpecError::new(ErrorKind::Conflict, what, format!("leave out shotmode or {trace}")),
            ));
        }
        let bursts = || last(words, "temporal").is_some_and(|known| known.word.value.starts_with("shot"));
        Ok(match (trace, shots) {
            (Some(_), _) => Self::Application,
            (None, Some(_)) => Self::Shots,
            _ if last(words, "shot_size").is_some() || last(words, "shot").is_some() || bursts() => Self::Shots,
            _ if last(words, "cycles").is_some() => Self::Fixed,
            _ => Self::Batch,
        })
    }

    /// What this kind of run is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Application => "the run of an application",
            Self::Shots => "shots",
            Self::Fixed => "a run of fixed length",
            Self::Batch => "a run with a steady load",
        }
    }

    /// True if a key applies; `beside` says that there is traffic beside an application.
    pub(super) fn knows(self, key: &str, beside: bool) -> bool {
        match self {
            Self::Application => {
                !BATCH.contains(&key) && (!SYNTHETIC.contains(&key) || beside && key != "load") && key != "shot"
            }
            Self::Shots => key != "load" && (key == "samples" || !BATCH.contains(&key)) && !is_of_tasks(key),
            Self::Fixed => !BATCH.contains(&key) && !is_of_tasks(key) && !ENDING.contains(&key),
            Self::Batch => !is_of_tasks(key) && !ENDING.contains(&key),
        }
    }
}

/// True if a key applies to applications only.
fn is_of_tasks(key: &str) -> bool {
    key == "trace" || TASKS.contains(&key) || TRACE.contains(&key)
}

impl Translation {
    /// Sets the original's defaults.
    pub(super) fn usual(&mut self, words: &[Known]) {
        // Sources may have individual loads.
        let loads = last(words, "tpattern").is_some_and(|known| known.word.value.contains("load="));
        for &(key, value) in USUAL.iter().filter(|(key, _)| *key != "load" || !loads) {
            self.set(key, value.to_owned());
        }
    }

    /// Translates a pattern and its arguments, such as `hotspot_0.1_0`.
    pub(super) fn pattern(&mut self, known: &Known, words: &[Known], run: Run) -> Result<(), SpecError> {
        let value = known.word.value.as_str();
        if value == "trace" {
            // With a trace it duplicates `tracefile`.
            let what = "`tpattern=trace` needs the trace".to_owned();
            let refusal = || located(known, &SpecError::new(ErrorKind::Malformed, what, "add tracefile=FILE"));
            return if run == Run::Application { Ok(()) } else { Err(refusal()) };
        }
        let (name, arguments) = value.split_once('_').map_or((value, None), |(name, rest)| (name, Some(rest)));
        let ours = match name {
            "inverse" => "reversal",
            "tornado" => "tornado-fsin",
            name => name,
        };
        let spec = match arguments {
            None if ours == "hotspot" => HOTSPOT.to_owned(),
            None if of_distances(words).is_some() => {
                let file = last(words, "tracefile").map_or("", |known| &known.word.value);
                format!("{ours}({file})")
            }
            None => ours.to_owned(),
            Some(rest) => format!("{ours}({})", rest.replace('_', ",")),
        };
        self.set("traffic", spec);
        if name == "tornado" {
            self.note(
                "traffic",
                "tornado: the original's does not wrap inside the row; it is tornado-fsin here, and tornado is another \
                 pattern",
            );
        }
        Ok(())
    }

    /// Translates words that act together, and finds those without effect. This is the last step, after every single
    /// word has set its key.
    pub(super) fn traffic(&mut self, words: &[Known], run: Run) -> Result<(), SpecError> {
        let mut idle = std::mem::take(&mut self.useless);
        let beside = self.background(words, run, &mut idle)?;
        self.lengths(words, run, &mut idle)?;
        self.triggers(words, run, &mut idle)?;
        self.shots(words, run, &mut idle)?;
        if run == Run::Application && self.value("trace").is_some() {
            self.note(
                "trace",
                "a trace: the original's clock skips over packets that wait in source buffers; here it does not",
            );
        }
        // Defaults without effect are dropped silently, words with a note. Our own words are left for `fsin run` to
        // judge.
        // Without a wait for the steady state, nothing says how it is told.
        let waits = self.value("max-conv-time").is_none_or(|cycles| cycles != "0");
        let is_idle = |key: &&str| !run.knows(key, beside) || !waits && ["conv-period", "conv-threshold"].contains(key);
        let useless: Vec<&str> = self.settings.iter().map(|(key, _)| *key).filter(is_idle).collect();
        for key in useless {
            match self.source(key) {
                Some((word, true)) => idle.push(word.clone()),
                Some((_, false)) => continue,
                None => {}
            }
            self.remove(key);
        }
        if !idle.is_empty() {
            let idle: Vec<String> = idle.iter().map(|word| format!("{}={}", word.name, word.value)).collect();
            self.notes.push((None, format!("left out, without a part in {}: {}", run.name(), idle.join(", ")).into()));
        }
        Ok(())
    }

    /// Sets traffic from nodes without a task. Returns whether there is any.
    fn background(&mut self, words: &[Known], run: Run, idle: &mut Vec<Word>) -> Result<bool, SpecError> {
        let ours =
            |translation: &Self| translation.value("temporal").is_some_and(|value| value.starts_with("background"));
        let Some(known) = last(words, "bg_load") else { return Ok(ours(self)) };
        let load = number(known)?;
        if load == 0.0 {
            return Ok(ours(self));
        }
        if run != Run::Application {
            idle.push(known.word.clone());
            return Ok(false);
        }
        self.present = Some(known.word.clone());
        self.set("temporal", format!("background({load})"));
        Ok(true)
    }

    /// Translates `longmessages` and `lng_msg_ratio`.
    fn lengths(&mut self, words: &[Known], run: Run, idle: &mut Vec<Word>) -> Result<(), SpecError> {
        let (long, ratio) = (last(words, "longmessages"), last(words, "lng_msg_ratio"));
        let (known, packets) = match (long, ratio) {
            (None, None) => return Ok(()),
            (None, Some(known)) if number(known)? == 0.0 => return Ok(()),
            (None, Some(known)) => {
                let what = "`lng_msg_ratio` needs the length of long messages";
                return Err(located(
                    known,
                    &SpecError::new(ErrorKind::Malformed, what, "add longmessages=N, in packets, or longmessages=0"),
                ));
            }
            (Some(known), _) => (known, whole(known)?),
        };
        match (packets, ratio) {
            (0, None) => Ok(()),
            (0, Some(ratio)) => {
                idle.push(ratio.word.clone());
                Ok(())
            }
            // No message is long, whatever that means.
            (1, None) => Ok(()),
            (1, Some(ratio)) if number(ratio)? == 0.0 => Ok(()),
            (1, Some(_)) => {
                let what = "`longmessages=1` with a share of long messages: whether it is a length, of one packet, or only turns them \
                            on is not known";
                let remedy = "write longmessages=0 for none, or the packets of a long message, such as longmessages=4";
                Err(located(known, &SpecError::new(ErrorKind::Malformed, what, remedy)))
            }
            (_, None) => {
                let what = "`longmessages` needs the share of messages that are long";
                Err(located(
                    known,
                    &SpecError::new(ErrorKind::Malformed, what, "add lng_msg_ratio=0.2, or write longmessages=0"),
                ))
            }
            _ if run == Run::Application => {
                idle.extend([long, ratio].into_iter().flatten().map(|known| known.word.clone()));
                Ok(())
            }
            (packets, Some(ratio)) => {
                let share = probability(ratio)?;
                // If the packet length cannot be parsed, the error is not in these words.
                let phits: u64 = self.value("packet").map_or(Ok(16), str::parse).unwrap_or(1);
                self.present = Some(known.word.clone());
                self.set("size", format!("bimodal({phits},{},{share})", phits.saturating_mul(packets)));
                self.note(
                    "size",
                    &phrase![
                        "longmessages={packets}: read as packets of {phits} phits; the original's unit is not \
                         documented. It asked for more than its load then; here ",
                        ["load"],
                        " is what is offered"
                    ],
                );
                Ok(())
            }
        }
    }

    /// Translates `trigger_rate` and `triggered`.
    fn triggers(&mut self, words: &[Known], run: Run, idle: &mut Vec<Word>) -> Result<(), SpecError> {
        let (rate, triggered) = match (last(words, "trigger_rate"), last(words, "triggered")) {
            (None, None) => return Ok(()),
            (Some(rate), Some(triggered)) => (rate, triggered),
            (Some(known), None) | (None, Some(known)) if number(known)? == 0.0 => return Ok(()),
            (Some(known), None) => return Err(located(known, &alone("trigger_rate", "triggered=1"))),
            (None, Some(known)) => return Err(located(known, &alone("triggered", "trigger_rate=0.5"))),
        };
        let chance = probability(rate)?;
        let (least, most) = range(triggered)?;
        if chance == 0.0 || most == 0 {
            return Ok(());
        }
        if matches!(run, Run::Application | Run::Shots) {
            idle.extend([rate.word.clone(), triggered.word.clone()]);
            return Ok(());
        }
        let others = 1.0 - chance * (least + most) as f64 / 2.0;
        if others <= 0.0 {
            let what = format!(
                "`{}={}` with triggered={}: every packet triggers another, without end",
                rate.word.name, rate.word.value, triggered.word.value
            );
            return Err(located(
                rate,
                &SpecError::new(ErrorKind::OutOfRange, what, "use values whose product is below 1"),
            ));
        }
        self.present = Some(rate.word.clone());
        let packets = if least == most { most.to_string() } else { format!("{least},{most}") };
        self.set("temporal", format!("reactive({chance},{packets})"));
        let count =
            if least == most && most > 1 { "; `triggered` is read as exactly so many, not as a maximum" } else { "" };
        let load: Option<f64> = self.value("load").and_then(|load| load.parse().ok());
        if let Some(load) = load {
            // Rounded to nine places, to remove the binary noise of divisions such as 0.1 / 0.9.
            let whole = (load / others * 1e9).round() / 1e9;
            self.present = self.source("load").map(|(word, _)| word.clone());
            self.set("load", whole.to_string());
            self.note(
                "temporal",
                &phrase![
                    "load={load}: what is triggered comes on top in the original; ",
                    ["load" => whole],
                    " is both together{count}"
                ],
            );
        }
        Ok(())
    }

    /// Translates `shotmode`, `shotsize` and `numshots`.
    fn shots(&mut self, words: &[Known], run: Run, idle: &mut Vec<Word>) -> Result<(), SpecError> {
        let (size, count) = (last(words, "shotsize"), last(words, "numshots"));
        if run != Run::Shots {
            idle.extend([size, count].into_iter().flatten().map(|known| known.word.clone()));
            return Ok(());
        }
        if let Some(known) = size {
            let mut messages = known.word.value.clone();
            if messages == "0" {
                // Every node sends one message to each other node.
                messages = (self.network_of()?.endpoints().saturating_sub(1)).to_string();
            }
            self.present = Some(known.word.clone());
            self.set("shot", messages);
        } else if self.value("shot").is_none()
            && let Some(mode) = last(words, "shotmode")
        {
            let what = "`shotmode=1` needs the packets that a node sends in a shot";
            return Err(located(
                mode,
                &SpecError::new(ErrorKind::Malformed, what, "add shotsize=10; 0 is one for each other node"),
            ));
        }
        let samples = last(words, "nsamples");
        if let Some(known) = count {
            idle.extend(samples.map(|known| known.word.clone()));
            self.present = Some(known.word.clone());
            self.set("samples", known.word.value.clone());
        } else if let Some(known) = samples {
            self.note("samples", format!("{}={}: the number of shots here", known.word.name, known.word.value));
        }
        Ok(())
    }

    /// The simulated network.
    ///
    /// # Errors
    /// An invalid network, attributed to the word that names it.
    pub(super) fn network_of(&self) -> Result<Box<dyn Topology>, SpecError> {
        let ways = if self.value("ways") == Some("1") { 1 } else { 2 };
        let spec = self.value("topology").unwrap_or("torus:4x4");
        fsin_networks::install();
        topology::parse(spec, ways).map_err(|refusal| match self.source("topology") {
            Some((word, _)) => refusal.within(format!("{}`{}={}`: ", word.place(), word.name, word.value)),
            None => refusal,
        })
    }

    /// Translates a placement, tasks and instances, such as `row_64_1`; or one of our placements with its arguments.
    pub(super) fn placement(&mut self, known: &Known, run: Run) -> Result<(), SpecError> {
        let value = known.word.value.as_str();
        let parts: Vec<&str> = value.split('_').collect();
        let ([kind, tasks, instances], false) = (&*parts, value.contains([':', '(', '/'])) else {
            self.set("placement", super::composite("placement", value));
            return Ok(());
        };
        let count = |text: &str| text.parse::<u64>().ok().filter(|&count| count > 0);
        let (Some(tasks), Some(instances)) = (count(tasks), count(instances)) else {
            let what = format!("`placement={value}` needs a kind, the tasks and the instances");
            return Err(located(
                known,
                &SpecError::new(ErrorKind::Malformed, what, "write it as in placement=row_64_1, or placement=row"),
            ));
        };
        if *kind == "shift" {
            let what = format!("`placement={value}` does not say by how many nodes tasks are shifted");
            return Err(located(
                known,
                &SpecError::new(
                    ErrorKind::Malformed,
                    what,
                    "write it as in placement=shift_3, tasks and instances left out",
                ),
            ));
        }
        if instances != 1 && run == Run::Application {
            let what =
                format!("`placement={value}`: {instances} instances of the trace cannot be placed by one word here");
            return Err(located(
                known,
                &SpecError::new(
                    ErrorKind::Unsupported,
                    what,
                    phrase!["use 1, or `fsin run ", ["job-mix" => "FILE"], "`, which runs several applications"],
                ),
            ));
        }
        self.set("placement", (*kind).to_owned());
        self.note(
            "placement",
            format!("placement={value}: the trace itself says how many tasks it has; {tasks} is not used"),
        );
        Ok(())
    }
}

/// The pattern whose distances the word `tracefile` names: the original has no other word for that file.
pub(super) fn of_distances(words: &[Known]) -> Option<&Known> {
    let pattern = last(words, "tpattern").filter(|known| matches!(&*known.word.value, "population" | "histogram"));
    pattern.filter(|_| last(words, "tracefile").is_some())
}

/// The error of a word that has no meaning without another one.
fn alone(word: &str, other: &str) -> SpecError {
    let name = other.split('=').next().unwrap_or("");
    SpecError::new(
        ErrorKind::Malformed,
        format!("`{word}` needs `{name}`"),
        format!("add {other}, or leave {word} out"),
    )
}

/// The number after a word, which must be whole.
fn whole(known: &Known) -> Result<u64, SpecError> {
    known.word.value.parse().map_err(|_| {
        let what = format!("`{}` takes a whole number, not `{}`", known.word.name, known.word.value);
        located(known, &SpecError::new(ErrorKind::Malformed, what, format!("write {}=0 for none", known.word.name)))
    })
}

/// The least and the greatest number after a word: one whole number, or two such as 1_2.
fn range(known: &Known) -> Result<(u64, u64), SpecError> {
    let Some((least, most)) = known.word.value.split_once('_') else {
        let number = whole(known)?;
        return Ok((number, number));
    };
    let both = least.parse().ok().zip(most.parse().ok()).filter(|(least, most)| least <= most);
    both.ok_or_else(|| {
        let Word { name, value, .. } = &known.word;
        let what = format!("`{name}={value}` is no range of whole numbers");
        located(
            known,
            &SpecError::new(ErrorKind::Malformed, what, format!("write {name}=1_2, the smaller number first")),
        )
    })
}

/// The number after a word, which must be a probability.
fn probability(known: &Known) -> Result<f64, SpecError> {
    let value = number(known)?;
    if (0.0..=1.0).contains(&value) {
        return Ok(value);
    }
    let what = format!("`{}={}` is not a share", known.word.name, known.word.value);
    Err(located(known, &SpecError::new(ErrorKind::OutOfRange, what, "use 0 to 1")))
}

/// True if the word is one of the original's.
pub(super) const fn is_original(known: &Known) -> bool {
    matches!(known.meaning, Meaning::Original(_))
}
