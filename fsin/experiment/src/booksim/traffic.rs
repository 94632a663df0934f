//! Traffic of BookSim, and how long a run is.

use super::Config;

/// The most classes of traffic.
const MOST_CLASSES: u64 = 32;

/// Names with a value for each class.
const BY_CLASS: [&str; 9] = [
    "traffic",
    "packet_size",
    "packet_size_rate",
    "class_priority",
    "injection_rate",
    "injection_process",
    "burst_alpha",
    "burst_beta",
    "burst_r1",
];

/// Names of requests and replies.
const OF_REPLIES: [&str; 13] = [
    "write_fraction",
    "read_request_size",
    "read_reply_size",
    "write_request_size",
    "write_reply_size",
    "read_request_begin_vc",
    "read_request_end_vc",
    "write_request_begin_vc",
    "write_request_end_vc",
    "read_reply_begin_vc",
    "read_reply_end_vc",
    "write_reply_begin_vc",
    "write_reply_end_vc",
];

/// The values of a list in braces, by class; the only one of any other value.
fn by_class(value: &str) -> Vec<&str> {
    if value.starts_with('{') && value.ends_with('}') { words(value) } else { vec![value] }
}

/// The longest of these sizes, each with its weight.
fn longest(sizes: &[(u64, u64)]) -> u64 {
    sizes.iter().map(|&(size, _)| size).max().unwrap_or(1)
}

/// The law of sizes with weights.
fn law(sizes: &[(u64, u64)]) -> String {
    match sizes {
        [(size, _)] => format!("constant({size})"),
        _ => {
            let words: Vec<String> = sizes.iter().map(|(size, weight)| format!("{size}:{weight}")).collect();
            format!("discrete({})", words.join(","))
        }
    }
}

impl Config {
    /// Traffic and measurement.
    pub(super) fn traffic(&mut self) {
        let classes = self.whole("classes", 1);
        if classes > MOST_CLASSES {
            self.refuse("classes", &format!("more than {MOST_CLASSES} classes"), "use fewer");
            return;
        }
        let is_batch = match self.value("sim_type").0 {
            "latency" | "throughput" => false,
            "batch" => true,
            _ => {
                let remedy = "latency, throughput and batch have an equal here";
                self.refuse("sim_type", "a kind of run without an equal here", remedy);
                false
            }
        };
        self.check_lists(classes);
        let has_replies = self.switch("use_read_write");
        for name in OF_REPLIES {
            if !has_replies && self.differs(name) {
                self.note(name, "without effect: requests and replies need use_read_write");
            }
        }
        if classes > 1 && (has_replies || is_batch) {
            let name = if has_replies { "use_read_write" } else { "sim_type" };
            self.refuse(name, "with several classes", "write classes = 1");
        } else if has_replies {
            self.requests_and_replies(is_batch);
        } else if classes > 1 {
            self.classes(classes as usize);
        } else {
            self.one_class(is_batch);
        }
        if is_batch {
            self.batch();
        } else {
            self.periods();
        }
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

    /// How long a run is measured.
    fn periods(&mut self) {
        for name in ["batch_size", "batch_count", "max_outstanding_requests"] {
            if self.differs(name) {
                self.note(name, "without effect: batches need sim_type = batch");
            }
        }
        let (period, warmup) = (self.whole("sample_period", 1), self.whole("warmup_periods", 0));
        let most = self.whole("max_samples", 1);
        self.set("warmup", period * warmup, "warmup_periods");
        self.set("max-conv-time", 0, "sample_period");
        self.set("sample-size", period, "sample_period");
        self.set("samples", most.saturating_sub(warmup).max(1), "max_samples");
    }

    /// The number of batches.
    fn batch(&mut self) {
        for name in [
            "injection_rate",
            "injection_process",
            "injection_rate_uses_flits",
            "burst_alpha",
            "burst_beta",
            "burst_r1",
            "sample_period",
            "warmup_periods",
            "max_samples",
        ] {
            if self.differs(name) {
                self.note(name, "without effect: batches are sent at full speed and measured to their end");
            }
        }
        let count = self.whole("batch_count", 1);
        self.set("samples", count, "batch_count");
        // Packets wait in the queue of their source, and latency counts that.
        self.set("source", "open", "sim_type");
    }

    /// The arguments of `shot`: the messages of a node, and how many may be on their way.
    fn batch_words(&mut self) -> String {
        let size = self.whole("batch_size", 1);
        match self.whole("max_outstanding_requests", 0) {
            0 => size.to_string(),
            most => format!("{size},outstanding={most}"),
        }
    }

    /// Refuses lists with braces that do not close, and notes values of classes that there are not.
    fn check_lists(&mut self, classes: u64) {
        for name in BY_CLASS {
            let count = by_class(self.value(name).0).len() as u64;
            // A hot spot has a list of its own.
            if self.value(name).0.starts_with('{') && count > classes {
                self.note(name, &format!("{count} values, and {classes} class(es): the others are without effect"));
            }
        }
    }

    /// The value of a name for a class: the last one of a list also for all further classes.
    fn of_class(&self, name: &'static str, class: usize) -> String {
        let values = by_class(self.value(name).0);
        values.get(class).or_else(|| values.last()).map_or(String::new(), |&value| value.to_owned())
    }

    /// A number from 0 on for a class.
    fn number_of(&mut self, name: &'static str, class: usize) -> f64 {
        let number =
            self.of_class(name, class).parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        number.unwrap_or_else(|| {
            self.refuse(name, "no number from 0 on", "write a number such as 0.1");
            0.0
        })
    }

    /// The sizes of the packets of a class, each with its weight.
    fn sizes_of(&mut self, class: usize) -> Vec<(u64, u64)> {
        let numbers = |text: String| -> Option<Vec<u64>> {
            words(&text).into_iter().map(|word| word.parse().ok().filter(|&number: &u64| number <= 1 << 24)).collect()
        };
        let sizes = numbers(self.of_class("packet_size", class)).filter(|sizes| !sizes.contains(&0));
        let Some(sizes) = sizes else {
            self.refuse("packet_size", "no whole number from 1 on", "write such a number");
            return vec![(1, 1)];
        };
        let mut weights = numbers(self.of_class("packet_size_rate", class)).unwrap_or_default();
        weights.resize(sizes.len(), weights.last().copied().unwrap_or(1));
        if weights.iter().all(|&weight| weight == 0) {
            self.refuse("packet_size_rate", "no whole numbers, or all of them 0", "write a weight for each size");
            return vec![(1, 1)];
        }
        sizes.into_iter().zip(weights).collect()
    }

    /// Flits of a packet of the class in the mean, and the load of the class \[flits/node/cycle\].
    fn load_of(&mut self, class: usize, sizes: &[(u64, u64)]) -> (f64, f64) {
        let weights: u64 = sizes.iter().map(|&(_, weight)| weight).sum();
        let sum: u64 = sizes.iter().map(|&(size, weight)| size * weight).sum();
        let mean = sum as f64 / weights as f64;
        let rate = self.number_of("injection_rate", class);
        (mean, if self.switch("injection_rate_uses_flits") { rate } else { rate * mean })
    }

    /// Traffic of one class.
    fn one_class(&mut self, is_batch: bool) {
        if let Some(pattern) = self.pattern(0) {
            self.set("traffic", pattern, "traffic");
        }
        let sizes = self.sizes_of(0);
        if sizes.len() == 1 && self.differs("packet_size_rate") {
            self.note("packet_size_rate", "without effect: all packets are of one size");
        }
        if self.differs("class_priority") {
            self.note("class_priority", "without effect: there is one class of traffic");
        }
        self.set("packet", longest(&sizes), "packet_size");
        if sizes.len() > 1 {
            self.set("size", law(&sizes), "packet_size");
        }
        if is_batch {
            let words = self.batch_words();
            self.set("temporal", format!("shot({words})"), "sim_type");
            return;
        }
        let (mean, load) = self.load_of(0, &sizes);
        self.set("load", rounded(load), "injection_rate");
        if let Some(process) = self.process(0, load / mean) {
            self.set("temporal", process, "injection_process");
        }
    }

    /// Traffic of several classes, which share all channels.
    fn classes(&mut self, classes: usize) {
        let (mut terms, mut packet) = (Vec::new(), 1);
        for class in 0..classes {
            let Some(pattern) = self.pattern(class) else { continue };
            let sizes = self.sizes_of(class);
            packet = packet.max(longest(&sizes));
            let (mean, load) = self.load_of(class, &sizes);
            let process = match self.process(class, load / mean) {
                Some(process) => format!(",temporal={process}"),
                None => String::new(),
            };
            let (load, size) = (rounded(load), law(&sizes));
            terms.push(format!("source({pattern},load={load},size={size}{process},class={class})"));
        }
        self.set("traffic", terms.join(" + "), "traffic");
        self.set("packet", packet, "packet_size");
        self.set("message-classes", classes, "classes");
        self.set("vc-range", "together", "classes");
        if self.value("priority").0 == "class" {
            let numbers: Vec<String> = (0..classes).map(|class| self.of_class("class_priority", class)).collect();
            if numbers.iter().any(|number| number.parse::<i32>().is_err()) {
                self.refuse("class_priority", "no whole number", "write a whole number for each class");
            }
            self.set("class-priority", numbers.join(":"), "class_priority");
        } else if self.differs("class_priority") {
            self.note("class_priority", "without effect: it needs priority = class");
        }
    }

    /// Requests and replies of four kinds.
    fn requests_and_replies(&mut self, is_batch: bool) {
        for name in ["packet_size", "packet_size_rate"] {
            if self.differs(name) {
                self.note(name, "without effect: requests and replies have sizes of their own");
            }
        }
        if let Some(pattern) = self.pattern(0) {
            self.set("traffic", pattern, "traffic");
        }
        let [read, write, read_reply, write_reply] =
            ["read_request_size", "write_request_size", "read_reply_size", "write_reply_size"]
                .map(|name| self.whole(name, 1));
        let share = self.number_of("write_fraction", 0).min(1.0);
        self.set("packet", read.max(write).max(read_reply).max(write_reply), "read_request_size");
        self.set("size", format!("constant({read})"), "read_request_size");
        let kinds =
            format!("write={},write-size=constant({write}),write-reply=constant({write_reply})", rounded(share));
        if is_batch {
            let words = self.batch_words();
            self.set("temporal", format!("shot({words},reply=constant({read_reply}),{kinds})"), "use_read_write");
        } else {
            // BookSim's rate is that of packets of half the sum of the four sizes, rounded down.
            let rate = self.number_of("injection_rate", 0);
            let half = (read + write + read_reply + write_reply) / 2;
            let requests = if self.switch("injection_rate_uses_flits") { rate / half as f64 } else { rate };
            let both = (1.0 - share) * (read + read_reply) as f64 + share * (write + write_reply) as f64;
            self.set("load", rounded(requests * both), "injection_rate");
            let base = self.process(0, requests).map_or(String::new(), |process| format!(",base={process}"));
            let temporal = format!("request-reply(size=constant({read_reply}),{kinds}{base})");
            self.set("temporal", temporal, "use_read_write");
        }
        self.set("message-classes", 4, "use_read_write");
        self.set("source-order", "replies-first", "use_read_write");
        self.ranges();
    }

    /// The channels of requests and replies.
    fn ranges(&mut self) {
        let vcs = self.whole("num_vcs", 1) as i64;
        let mut ranges = Vec::new();
        for (kind, begin, end, is_reply) in [
            ("read-request", "read_request_begin_vc", "read_request_end_vc", false),
            ("read-reply", "read_reply_begin_vc", "read_reply_end_vc", true),
            ("write-request", "write_request_begin_vc", "write_request_end_vc", false),
            ("write-reply", "write_reply_begin_vc", "write_reply_end_vc", true),
        ] {
            let half = vcs / 2;
            let usual = if is_reply { [half, vcs - 1] } else { [0, half - 1] };
            let mut range = [0; 2];
            for (at, name) in [begin, end].into_iter().enumerate() {
                let Ok(channel) = self.value(name).0.parse::<i64>() else {
                    return self.refuse(name, "no whole number", "write the number of a channel, or -1");
                };
                range[at] = if channel < 0 { usual[at] } else { channel };
                if range[at] >= vcs || range[at] < 0 {
                    let what = format!("a channel beyond those that there are, {vcs}");
                    return self.refuse(
                        name,
                        &what,
                        "write a smaller number, -1 for half of the channels, or a larger num_vcs",
                    );
                }
            }
            if range[0] > range[1] {
                return self.refuse(end, "a range that ends before it begins", "write a larger number");
            }
            ranges.push((kind, range));
        }
        let meet = |one: &[i64; 2], other: &[i64; 2]| one != other && one[0] <= other[1] && other[0] <= one[1];
        let overlap = ranges.iter().any(|(_, one)| ranges.iter().any(|(_, other)| meet(one, other)));
        if overlap {
            self.doubt("use_read_write", "ranges of channels overlap, so that freedom from deadlock is not proven");
        }
        let words: Vec<String> = ranges.iter().map(|(kind, [first, last])| format!("{kind}={first}-{last}")).collect();
        self.set("vc-range", words.join(":"), "use_read_write");
    }

    /// The process of injection of a class, of `rate` packets in a cycle; `None` for Bernoulli trials.
    fn process(&mut self, class: usize, rate: f64) -> Option<String> {
        let word = self.of_class("injection_process", class);
        let bursts = ["burst_alpha", "burst_beta", "burst_r1"];
        match &*word {
            "bernoulli" => {
                for name in bursts {
                    if class == 0 && self.differs(name) {
                        self.note(name, "without effect: bursts need injection_process = on_off");
                    }
                }
                None
            }
            "on_off" => {
                let given = bursts.map(|name| self.of_class(name, class).parse().unwrap_or(f64::NAN));
                let found = bursts_of(given, rate);
                if found.is_none() {
                    let remedy =
                        "give burst_alpha and burst_beta from 0 to 1, or burst_r1 and one of them, the other one -1";
                    self.refuse("injection_process", "probabilities that give no such load", remedy);
                }
                found.map(|(on, off)| format!("markov({},{})", rounded(off / on), rounded(off)))
            }
            _ => {
                let remedy = "bernoulli and on_off have an equal here; `fsin list temporal` names others";
                self.refuse("injection_process", "without an equal here", remedy);
                None
            }
        }
    }

    /// The pattern of destinations.
    fn pattern(&mut self, class: usize) -> Option<String> {
        let word = self.of_class("traffic", class);
        let topology = self.value("topology").0.to_owned();
        let pattern = match &*word {
            "uniform" | "transpose" | "shuffle" | "randperm" | "asymmetric" | "diagonal" => {
                Some(format!("{word}(self=true)"))
            }
            "bad_dragon" if topology == "dragonflynew" => {
                let k = self.whole("k", 1);
                Some(format!("groupshift({})", 2 * k * k))
            }
            "badperm_yarc" if topology == "flatfly" => Some("badperm-yarc(self=true)".to_owned()),
            "taper64" => Some("taper64(self=true)".to_owned()),
            "bitcomp" => Some("complement".to_owned()),
            "bitrev" => Some("reversal(self=true)".to_owned()),
            "tornado" | "neighbor" => return self.of_digits(&word, &topology),
            other => hot(other),
        };
        if pattern.is_none() {
            let remedy = "uniform, transpose, bitcomp, bitrev, shuffle, tornado, neighbor, randperm, asymmetric, diagonal, taper64, badperm_yarc of flatfly, \
                          bad_dragon of dragonflynew and hotspot({{NODES},{WEIGHTS}}) \
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

/// The words of a list; braces around it are left out once, and braces and parentheses within keep their words together.
fn words(list: &str) -> Vec<&str> {
    let inside = list.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(list);
    let (mut words, mut begin, mut depth) = (Vec::new(), 0, 0u32);
    for (at, letter) in inside.char_indices() {
        match letter {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
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
