//! Traffic of BookSim, and how long a run is.

use super::Config;

impl Config {
    /// Traffic and measurement.
    pub(super) fn traffic(&mut self) {
        if let Some(pattern) = self.pattern() {
            self.set("traffic", pattern, "traffic");
        }
        let size = self.whole("packet_size", 1);
        self.set("packet", size, "packet_size");
        let rate = self.number("injection_rate");
        let flits = if self.switch("injection_rate_uses_flits") { 1 } else { size };
        let load = rate * flits as f64;
        self.set("load", rounded(load), "injection_rate");
        self.process(load / size as f64);
        if !matches!(self.value("sim_type").0, "latency" | "throughput") {
            let remedy = "latency and throughput have an equal here; for batches see the setting shot";
            self.refuse("sim_type", "a kind of run without an equal here", remedy);
        }
        let (period, warmup) = (self.whole("sample_period", 1), self.whole("warmup_periods", 0));
        let most = self.whole("max_samples", 1);
        self.set("warmup", period * warmup, "warmup_periods");
        self.set("max-conv-time", 0, "sample_period");
        self.set("sample-size", period, "sample_period");
        self.set("samples", most.saturating_sub(warmup).max(1), "max_samples");
        // A word such as `time` draws one.
        let seed = match self.value("seed").0 {
            "time" => 1,
            _ => self.whole("seed", 0),
        };
        if self.value("seed").0 == "time" {
            self.note("seed", "the clock decides in BookSim; here it is 1");
        }
        self.set("seed", seed, "seed");
    }

    /// The process of injection, of `rate` packets in a cycle.
    fn process(&mut self, rate: f64) {
        let word = self.value("injection_process").0.to_owned();
        let bursts = ["burst_alpha", "burst_beta", "burst_r1"];
        match &*word {
            "bernoulli" => {
                for name in bursts {
                    if self.differs(name) {
                        self.note(name, "without effect: bursts need injection_process = on_off");
                    }
                }
            }
            "on_off" => {
                let given = bursts.map(|name| self.value(name).0.parse().unwrap_or(f64::NAN));
                match bursts_of(given, rate) {
                    Some((on, off)) => self.set(
                        "temporal",
                        format!("markov({},{})", rounded(off / on), rounded(off)),
                        "injection_process",
                    ),
                    None => {
                        let remedy = "give burst_alpha and burst_beta from 0 to 1, or burst_r1 and one of them, the other one -1";
                        self.refuse("injection_process", "probabilities that give no such load", remedy);
                    }
                }
            }
            _ => {
                let remedy = "bernoulli and on_off have an equal here; `fsin list temporal` names others";
                self.refuse("injection_process", "without an equal here", remedy);
            }
        }
    }

    /// The pattern of destinations.
    fn pattern(&mut self) -> Option<String> {
        let word = self.value("traffic").0.to_owned();
        let topology = self.value("topology").0.to_owned();
        let pattern = match &*word {
            "uniform" | "transpose" | "shuffle" | "randperm" | "asymmetric" | "diagonal" => {
                Some(format!("{word}(self=true)"))
            }
            "bitcomp" => Some("complement".to_owned()),
            "bitrev" => Some("reversal(self=true)".to_owned()),
            "tornado" | "neighbor" => return self.of_digits(&word, &topology),
            other => hot(other),
        };
        if pattern.is_none() {
            let remedy = "uniform, transpose, bitcomp, bitrev, shuffle, tornado, neighbor, randperm, asymmetric, diagonal and hotspot({{NODES},{WEIGHTS}}) \
                          have an equal here; `fsin list traffic` names others";
            self.refuse("traffic", "a pattern without an equal here", remedy);
        }
        if word == "randperm" {
            self.note("traffic", "BookSim draws its permutation by perm_seed; here it is drawn by the seed of the run");
        }
        pattern
    }

    /// A pattern of the digits of a node's number, which are coordinates in grids.
    fn of_digits(&mut self, word: &str, topology: &str) -> Option<String> {
        let (k, n, c) = (self.whole("k", 1), self.whole("n", 1), self.whole("c", 1));
        let ours = if word == "neighbor" { "neighbor-all" } else { word };
        let size = if matches!(topology, "cmesh" | "flatfly") { k * c.isqrt() } else { k };
        if size < if word == "neighbor" { 2 } else { 3 } {
            self.refuse(
                "traffic",
                &format!("rows of {size} nodes send to themselves"),
                "use longer rows, or another pattern",
            );
            return None;
        }
        match topology {
            "torus" | "mesh" | "cmesh" | "flatfly" => Some(ours.to_owned()),
            "fattree" | "fly" if n <= 16 => {
                let sizes = vec![k.to_string(); n as usize].join("x");
                Some(format!("map(grid:{sizes}, {ours})"))
            }
            _ => {
                self.refuse("traffic", "a pattern of coordinates, which this topology has not", "use another pattern");
                None
            }
        }
    }
}

/// A number without the digits that a product such as 0.1 times 3 adds.
fn rounded(value: f64) -> String {
    let text = format!("{value:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The probabilities with which a node goes on and off, from `burst_alpha`, `burst_beta` and `burst_r1`, where a node
/// has a mean `rate`. A negative number is not given.
fn bursts_of([on, off, while_on]: [f64; 3], rate: f64) -> Option<(f64, f64)> {
    let (on, off) = match while_on {
        _ if while_on < 0.0 => (on, off),
        _ if on < 0.0 => (off * rate / (while_on - rate), off),
        _ if off < 0.0 => (on, on * (while_on - rate) / rate),
        _ => return None,
    };
    let fits = |chance: f64| chance > 0.0 && chance <= 1.0;
    (fits(on) && fits(off)).then_some((on, off))
}

/// The words of a list; braces around it are left out once, and braces within keep their words together.
fn words(list: &str) -> Vec<&str> {
    let inside = list.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(list);
    let (mut words, mut begin, mut depth) = (Vec::new(), 0, 0u32);
    for (at, letter) in inside.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                words.push(inside[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    words.push(inside[begin..].trim());
    words
}

/// `hotspot(NODES,WEIGHTS)` as a pattern. The first word is the node, or the nodes in braces; the second one is the
/// weight, or the weights. So `hotspot({0,7,15})` is node 0 alone, and 15 means nothing.
fn hot(word: &str) -> Option<String> {
    let inside = word.strip_prefix("hotspot(")?.strip_suffix(')')?.trim();
    // Two lists without braces around both are no list.
    if inside.starts_with('{') && words(&format!("{{{inside}}}")).len() > 1 {
        return None;
    }
    let parts = words(inside);
    let numbers =
        |list: &str| words(list).into_iter().map(|number| number.parse::<u32>().ok()).collect::<Option<Vec<_>>>();
    let nodes = numbers(parts.first()?)?;
    let mut weights = parts.get(1).map_or(Some(Vec::new()), |list| numbers(list))?;
    // The last weight is that of all further nodes.
    weights.resize(nodes.len(), weights.last().copied().unwrap_or(1));
    let heavy: Vec<(u32, u32)> = nodes.into_iter().zip(weights).filter(|&(_, weight)| weight > 0).collect();
    let alone = |node: u32| format!("hotspot(1,{node},self=true)");
    match &*heavy {
        [] => None,
        &[(node, _)] => Some(alone(node)),
        several if several.iter().all(|&(_, weight)| weight == several[0].1) => {
            let nodes: Vec<String> = several.iter().map(|(node, _)| node.to_string()).collect();
            Some(format!("hotspot(1,{},self=true)", nodes.join(",")))
        }
        several => {
            let parts: Vec<String> =
                several.iter().map(|&(node, weight)| format!("{weight}:{}", alone(node))).collect();
            Some(format!("mix({})", parts.join(", ")))
        }
    }
}
