//! Configuration files of BookSim 2 as experiments.
//!
//! A file holds statements `name = value;` and comments `//`. It is an experiment over the network `wormhole` with
//! BookSim's defaults; a name of other meaning, or with a value that this project has no equal for, is refused with its
//! place. What a file leaves out has the default of BookSim's documentation.
//!
//! Decision: docs/decisions/0193-configurations-of-booksim.md.
//!
//! Source: Jiang and others, *A detailed and flexible cycle-accurate network-on-chip simulator*, ISPASS 2013; BookSim
//! 2.0 User's Guide.

use std::collections::BTreeMap;
use std::ops::Range;

use trgen::catalog::{ErrorKind, SpecError, suggestion};

/// A statement of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Statement {
    value: String,
    /// \[bytes\] Its place in the text.
    span: Range<usize>,
}

/// An error of a configuration, with its place in the text.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Refusal {
    pub(super) error: SpecError,
    /// \[bytes\]
    pub(super) span: Range<usize>,
}

/// A setting that a configuration means, with the place of its statement; of a default, the whole text.
pub(super) type Meant = (&'static str, String, Range<usize>);

/// Names with their defaults. A name with the word `any` concerns only what BookSim prints.
const NAMES: &[(&str, &str)] = &[
    ("topology", "torus"),
    ("k", "8"),
    ("n", "2"),
    ("c", "1"),
    ("network_file", ""),
    ("routing_function", "none"),
    ("use_noc_latency", "1"),
    ("num_vcs", "16"),
    ("vc_buf_size", "8"),
    ("buf_size", "-1"),
    ("packet_size", "1"),
    ("injection_rate", "0.1"),
    ("injection_rate_uses_flits", "0"),
    ("injection_process", "bernoulli"),
    ("traffic", "uniform"),
    ("routing_delay", "1"),
    ("vc_alloc_delay", "1"),
    ("sw_alloc_delay", "1"),
    ("st_prepare_delay", "0"),
    ("st_final_delay", "1"),
    ("credit_delay", "1"),
    ("speculative", "0"),
    ("spec_check_elig", "1"),
    ("spec_check_cred", "1"),
    ("spec_sw_allocator", "prio"),
    ("internal_speedup", "1"),
    ("input_speedup", "1"),
    ("output_speedup", "1"),
    ("output_buffer_size", "-1"),
    ("hold_switch_for_packet", "0"),
    ("wait_for_tail_credit", "0"),
    ("vc_busy_when_full", "0"),
    ("vc_allocator", "islip"),
    ("sw_allocator", "islip"),
    ("alloc_iters", "1"),
    ("arb_type", "round_robin"),
    ("router", "iq"),
    ("priority", "none"),
    ("subnets", "1"),
    ("classes", "1"),
    ("use_read_write", "0"),
    ("noq", "0"),
    ("buffer_policy", "private"),
    ("link_failures", "0"),
    ("sim_type", "latency"),
    ("sample_period", "1000"),
    ("warmup_periods", "3"),
    ("max_samples", "10"),
    ("sim_count", "1"),
    ("seed", "0"),
    ("latency_thres", "any"),
    ("warmup_thres", "any"),
    ("stopping_thres", "any"),
    ("acc_warmup_thres", "any"),
    ("acc_stopping_thres", "any"),
    ("print_csv_results", "any"),
    ("print_activity", "any"),
    ("viewer_trace", "any"),
    ("watch_file", "any"),
    ("watch_out", "any"),
    ("stats_out", "any"),
    ("measure_stats", "any"),
    ("pair_stats", "any"),
    ("deadlock_warn_timeout", "any"),
    ("include_queuing", "any"),
    ("sim_power", "any"),
    ("batch_size", "any"),
    ("batch_count", "any"),
];

/// Names whose values must be the default, with what to do instead.
const FIXED: &[(&str, &str)] = &[
    ("buf_size", "give vc_buf_size"),
    ("spec_check_elig", "write 1"),
    ("spec_check_cred", "write 1"),
    ("input_speedup", "write 1, and internal_speedup instead"),
    ("output_speedup", "write 1, and internal_speedup instead"),
    ("router", "write iq: the input-queued router"),
    ("priority", "write none: packets have no priorities here"),
    ("subnets", "write 1"),
    ("classes", "write 1, and see `fsin explain request-reply` for requests and replies"),
    ("use_read_write", "write 0, and see `fsin explain request-reply` for requests and replies"),
    ("noq", "write 0"),
    ("buffer_policy", "write private: every virtual channel has a buffer of its own"),
    ("link_failures", "write 0, and see the setting faults"),
    ("arb_type", "write round_robin"),
    ("injection_process", "write bernoulli, and see `fsin list temporal` for other processes"),
    ("sim_count", "write 1, and repeat with other seeds by a sweep with seeds"),
];

/// True for a text of statements that end with a semicolon, as no TOML has.
pub(super) fn is_config(text: &str) -> bool {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or("").trim());
    code.filter(|line| !line.is_empty()).take(1).any(|line| {
        let name = line.split('=').next().unwrap_or("").trim();
        line.contains('=')
            && line.ends_with(';')
            && !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

/// The statements of a text.
fn statements(text: &str) -> Result<BTreeMap<&'static str, Statement>, Refusal> {
    let refuse = |kind, what: String, remedy: String, span: Range<usize>| {
        Err(Refusal { error: SpecError::new(kind, what, remedy), span })
    };
    let mut found = BTreeMap::new();
    let mut begin = 0;
    // Comments become blanks, so that places stay.
    let code: String = text
        .split_inclusive('\n')
        .map(|line| match line.find("//") {
            Some(at) => format!(
                "{}{}",
                &line[..at],
                line[at..]
                    .chars()
                    .map(|c| if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) })
                    .collect::<String>()
            ),
            None => line.to_owned(),
        })
        .collect();
    for piece in code.split_inclusive(';') {
        let lead = piece.len() - piece.trim_start().len();
        let span = begin + lead..begin + piece.len();
        begin += piece.len();
        if piece.trim().is_empty() {
            continue;
        }
        let Some(statement) = piece.trim().strip_suffix(';') else {
            let what = format!("`{}` does not end with a semicolon", piece.trim().escape_debug());
            return refuse(ErrorKind::Malformed, what, "write `name = value;`".to_owned(), span);
        };
        let Some((name, value)) = statement.split_once('=') else {
            let what = format!("`{}` is no statement", statement.escape_debug());
            return refuse(ErrorKind::Malformed, what, "write `name = value;`".to_owned(), span);
        };
        let (name, value) = (name.trim(), value.trim().trim_matches('"'));
        let Some((known, _)) = NAMES.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            let what = format!("`{}` of BookSim has no meaning here", name.escape_debug());
            return refuse(ErrorKind::UnknownName, what, suggestion(name, &names).to_string(), span);
        };
        // The last statement of a name counts.
        found.insert(*known, Statement { value: value.to_owned(), span });
    }
    Ok(found)
}

/// A configuration while its meaning is worked out.
struct Config {
    statements: BTreeMap<&'static str, Statement>,
    meant: Vec<Meant>,
    length: usize,
}

impl Config {
    /// The value of a name, and the place of its statement.
    fn value(&self, name: &'static str) -> (&str, Range<usize>) {
        match self.statements.get(name) {
            Some(statement) => (&statement.value, statement.span.clone()),
            None => (NAMES.iter().find(|(known, _)| *known == name).map_or("", |(_, usual)| usual), 0..self.length),
        }
    }

    fn refusal(&self, name: &'static str, what: &str, remedy: impl Into<String>) -> Refusal {
        let (value, span) = self.value(name);
        let what = format!("{name} = {}: {what}", value.escape_debug());
        Refusal { error: SpecError::new(ErrorKind::Unsupported, what, remedy.into()), span }
    }

    /// A whole number of at least `least`.
    fn whole(&self, name: &'static str, least: u64) -> Result<u64, Refusal> {
        let number = self.value(name).0.parse().ok().filter(|&number: &u64| number >= least && number <= 1 << 32);
        number.ok_or_else(|| self.refusal(name, &format!("no whole number from {least} on"), "write such a number"))
    }

    fn switch(&self, name: &'static str) -> Result<bool, Refusal> {
        match self.value(name).0 {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(self.refusal(name, "neither 0 nor 1", "write 0 or 1")),
        }
    }

    /// Sets a key of an experiment because of a name.
    fn set(&mut self, key: &'static str, value: impl ToString, because: &'static str) {
        let span = self.value(because).1;
        self.meant.push((key, value.to_string(), span));
    }

    /// Topology and routing.
    fn network(&mut self) -> Result<(), Refusal> {
        let topology = self.value("topology").0.to_owned();
        let routing = self.value("routing_function").0.to_owned();
        let (k, n, c) = (self.whole("k", 1)?, self.whole("n", 1)?, self.whole("c", 1)?);
        if n > 16 {
            return Err(self.refusal("n", "more than 16 dimensions", "use 1 to 16"));
        }
        let sizes = vec![k.to_string(); n as usize].join("x");
        let is_grid = topology == "torus" || topology == "mesh";
        if is_grid && c != 1 {
            return Err(self.refusal("c", "several nodes at a router of a mesh or torus", "use topology = cmesh"));
        }
        let spec = match topology.as_str() {
            "torus" | "mesh" => format!("{topology}:{sizes}"),
            "cmesh" => format!("cmesh:{sizes}:{c}"),
            "fattree" => format!("fattree:{k},{n}"),
            "fly" => format!("fly:{k},{n}"),
            "flatfly" => format!("hyperx:{sizes}:{c}"),
            "anynet" => match self.value("network_file").0 {
                "" => return Err(self.refusal("topology", "no network_file", "add network_file = FILE;")),
                file => format!("graph:{file}"),
            },
            _ => {
                let remedy = "torus, mesh, cmesh, fattree, fly, flatfly and anynet have an equal here; `fsin list topologies` names others";
                return Err(self.refusal("topology", "a network without an equal here", remedy));
            }
        };
        self.set("topology", spec, "topology");
        let words = match (topology.as_str(), routing.as_str()) {
            ("mesh" | "cmesh" | "flatfly", "dor" | "dim_order" | "xyyx_dor") => ("dor", None),
            ("torus", "dim_order" | "dor") => ("dor", Some("per-dimension")),
            ("torus", "dim_order_bal") => ("dor", Some("balanced")),
            ("mesh" | "cmesh" | "torus" | "flatfly", "min_adapt") => ("adaptive", None),
            ("fattree", "anca") => ("adaptive", None),
            ("fly", "dest_tag") => ("destination-tag", None),
            ("anynet", "min") => ("shortest", None),
            _ => {
                let remedy = match topology.as_str() {
                    "torus" => "dim_order, dim_order_bal and min_adapt have an equal here",
                    "fattree" => "anca has an equal here; `fsin list routings` names others",
                    "fly" => "dest_tag has an equal here",
                    "anynet" => "min has an equal here",
                    _ => "dor and min_adapt have an equal here; `fsin list routings` names others",
                };
                return Err(self.refusal(
                    "routing_function",
                    "no routing with an equal here for this topology",
                    remedy,
                ));
            }
        };
        self.set("routing", words.0, "routing_function");
        if let Some(classes) = words.1 {
            self.set("vc-classes", classes, "routing_function");
        }
        // Links of a folded torus are twice as long.
        let delay = if topology == "torus" && self.switch("use_noc_latency")? { 2 } else { 1 };
        self.set("link-delay", delay, "use_noc_latency");
        Ok(())
    }

    /// The router.
    fn router(&mut self) -> Result<(), Refusal> {
        for (name, remedy) in FIXED {
            let usual = NAMES.iter().find(|(known, _)| known == name).map_or("", |(_, usual)| usual);
            if self.value(name).0 != usual {
                return Err(self.refusal(name, "without an equal here", *remedy));
            }
        }
        for (name, key, least) in [
            ("num_vcs", "vcs", 1),
            ("vc_buf_size", "buffer", 1),
            ("packet_size", "packet", 1),
            ("routing_delay", "route-delay", 0),
            ("vc_alloc_delay", "vc-alloc-delay", 1),
            ("sw_alloc_delay", "switch-alloc-delay", 1),
            ("credit_delay", "credit-delay", 0),
        ] {
            let number = self.whole(name, least)?;
            self.set(key, number, name);
        }
        let traverse = self.whole("st_prepare_delay", 0)? + self.whole("st_final_delay", 0)?;
        self.set("traverse-delay", traverse, "st_final_delay");
        for (name, key) in [
            ("speculative", "speculative"),
            ("wait_for_tail_credit", "wait-for-tail-credit"),
            ("vc_busy_when_full", "vc-busy-when-full"),
        ] {
            let on = self.switch(name)?;
            self.set(key, on, name);
        }
        let hold = if self.switch("hold_switch_for_packet")? { "packet" } else { "flit" };
        self.set("switch-hold", hold, "hold_switch_for_packet");
        let speedup = self.value("internal_speedup").0.trim_end_matches('0').trim_end_matches('.').to_owned();
        self.set("speedup", if speedup.is_empty() { "0" } else { &speedup }, "internal_speedup");
        if self.value("output_buffer_size").0 != "-1" {
            let room = self.whole("output_buffer_size", 1)?;
            self.set("output-queue", room, "output_buffer_size");
        }
        for (name, key) in [("vc_allocator", "vc-allocator"), ("sw_allocator", "switch-allocator")] {
            let word = self.value(name).0.to_owned();
            let inner =
                |word: &str, of: &str| Some(word.strip_prefix(of)?.strip_prefix('(')?.strip_suffix(')')?.to_owned());
            let allocator = match word.as_str() {
                "islip" => "islip:1".to_owned(),
                "wavefront" => "wavefront".to_owned(),
                "separable_input_first" | "separable_input_first(round_robin)" => "separable".to_owned(),
                other => {
                    match inner(other, "islip").filter(|count| count.parse::<u32>().is_ok_and(|count| count > 0)) {
                        Some(count) => format!("islip:{count}"),
                        None => {
                            let remedy = "islip, islip(N), wavefront and separable_input_first have an equal here";
                            return Err(self.refusal(name, "an allocator without an equal here", remedy));
                        }
                    }
                }
            };
            self.set(key, allocator, name);
        }
        Ok(())
    }

    /// Traffic and measurement.
    fn traffic(&mut self) -> Result<(), Refusal> {
        let word = self.value("traffic").0.to_owned();
        let hot = |word: &str| -> Option<String> {
            let inside = word.strip_prefix("hotspot(")?.strip_suffix(')')?;
            let (nodes, weights) = match inside.strip_prefix('{') {
                Some(rest) => rest.split_once('}')?,
                None => (inside, ""),
            };
            let nodes: Option<Vec<u32>> = nodes.split(',').map(|node| node.trim().parse().ok()).collect();
            let weights: Vec<&str> = weights
                .trim_matches([',', '{', '}', ' '])
                .split(',')
                .filter(|weight| !weight.trim().is_empty())
                .collect();
            let is_even = weights.windows(2).all(|pair| pair[0].trim() == pair[1].trim());
            let nodes = nodes.filter(|nodes| !nodes.is_empty() && is_even)?;
            let nodes: Vec<String> = nodes.iter().map(u32::to_string).collect();
            Some(format!("hotspot(1,{},self=true)", nodes.join(",")))
        };
        let pattern = match word.as_str() {
            "uniform" => "uniform(self=true)".to_owned(),
            "transpose" => "transpose(self=true)".to_owned(),
            "bitcomp" => "complement".to_owned(),
            "bitrev" => "reversal".to_owned(),
            "shuffle" | "tornado" | "randperm" => word,
            "neighbor" => "neighbor-all".to_owned(),
            other => hot(other).ok_or_else(|| {
                let remedy = "uniform, transpose, bitcomp, bitrev, shuffle, tornado, neighbor, randperm and hotspot with equal weights \
                              have an equal here; `fsin list traffic` names others";
                self.refusal("traffic", "a pattern without an equal here", remedy)
            })?,
        };
        self.set("traffic", pattern, "traffic");
        let rate = self.value("injection_rate").0.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate >= 0.0);
        let rate = rate.ok_or_else(|| self.refusal("injection_rate", "no rate", "write a number such as 0.1"))?;
        let flits = if self.switch("injection_rate_uses_flits")? { 1 } else { self.whole("packet_size", 1)? };
        // A product such as 0.1 times 3 has digits that nobody wrote.
        let load = format!("{:.9}", rate * flits as f64);
        self.set("load", load.trim_end_matches('0').trim_end_matches('.'), "injection_rate");
        if !matches!(self.value("sim_type").0, "latency" | "throughput") {
            let remedy = "latency and throughput have an equal here; for batches see the setting shot";
            return Err(self.refusal("sim_type", "a kind of run without an equal here", remedy));
        }
        let (period, warmup) = (self.whole("sample_period", 1)?, self.whole("warmup_periods", 0)?);
        let most = self.whole("max_samples", 1)?;
        self.set("warmup", period * warmup, "warmup_periods");
        self.set("max-conv-time", 0, "sample_period");
        self.set("sample-size", period, "sample_period");
        self.set("samples", most.saturating_sub(warmup).max(1), "max_samples");
        let seed = self.whole("seed", 0)?;
        self.set("seed", seed, "seed");
        Ok(())
    }
}

/// The settings that a configuration means.
///
/// # Errors
/// A statement of another form, an unknown name, or a value without an equal here, with its place.
pub(super) fn settings(text: &str) -> Result<Vec<Meant>, Refusal> {
    let mut config = Config { statements: statements(text)?, meant: Vec::new(), length: text.len() };
    config.meant.push(("network", "wormhole".to_owned(), 0..text.len()));
    config.network()?;
    config.router()?;
    config.traffic()?;
    Ok(config.meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str) -> BTreeMap<&'static str, String> {
        settings(text)
            .unwrap_or_else(|refusal| panic!("{text}: {}", refusal.error))
            .into_iter()
            .map(|(key, value, _)| (key, value))
            .collect()
    }

    #[test]
    fn statements_comments_and_defaults() {
        let text = "// a torus\ntopology = torus; k = 4;\nn=2; routing_function = dim_order; // shorter way\n\
                    traffic = hotspot({0,5},{1,1});\npacket_size = 4; injection_rate = 0.05;\n";
        assert!(is_config(text) && !is_config("topology = \"torus:4x4\"\n") && !is_config("# a\nload = 0.3\n"));
        let found = meant(text);
        for (key, value) in [
            ("network", "wormhole"),
            ("topology", "torus:4x4"),
            ("routing", "dor"),
            ("vc-classes", "per-dimension"),
            ("link-delay", "2"),
            ("vcs", "16"),
            ("buffer", "8"),
            ("packet", "4"),
            ("load", "0.2"),
            ("traffic", "hotspot(1,0,5,self=true)"),
            ("speculative", "false"),
            ("credit-delay", "1"),
            ("speedup", "1"),
            ("warmup", "3000"),
            ("samples", "7"),
        ] {
            assert_eq!(found.get(key).map(String::as_str), Some(value), "{key}");
        }
        assert_eq!(
            meant("topology = mesh; routing_function = dor; internal_speedup = 2.0; injection_rate_uses_flits = 1;")["speedup"],
            "2"
        );
    }

    #[test]
    fn what_has_no_equal_is_named() {
        for (text, expected) in [
            ("topology = gemini; routing_function = dor;", "topology = gemini"),
            ("topology = fly; routing_function = dor;", "routing_function = dor"),
            ("topology = mesh; routing_function = chaos;", "routing_function = chaos"),
            ("topology = mesh; routing_function = dor; rooter = iq;", "`rooter`"),
            ("topology = mesh; routing_function = dor; router = event;", "router = event"),
            ("topology = mesh; routing_function = dor; k = x;", "k = x"),
            ("topology = mesh; routing_function = dor", "semicolon"),
            ("topology = mesh; routing_function = dor; traffic = hotspot({0,1},{1,3});", "traffic = hotspot"),
            ("topology = mesh; routing_function = dor; vc_allocator = pim;", "vc_allocator = pim"),
        ] {
            let refusal = settings(text).unwrap_err();
            assert!(refusal.error.to_string().contains(expected), "{}", refusal.error);
            assert!(text.get(refusal.span.clone()).is_some_and(|place| !place.is_empty()), "{text}");
        }
    }
}
