//! Links and switches of a configuration: topology, marking, buffers, pauses.

use std::collections::{BTreeMap, BTreeSet};

use fsin_core::topology::switched::parse_rate;

use super::{Config, Found};

impl Config {
    /// The network.
    pub(super) fn network(&mut self, find: &dyn Fn(&str) -> Option<Found>) {
        let rates = self.topology(find);
        let is_single = self.is_rdma() && !self.switch("FLOW_LEVEL_ECMP").unwrap_or(true);
        self.set("forwarding", "static", "TOPOLOGY_FILE");
        self.set("spread", if is_single { "one" } else { "ecmp" }, "FLOW_LEVEL_ECMP");
        self.set("frames", "hpcc", "PACKET_PAYLOAD_SIZE");
        if let Some(payload) = self.whole("PACKET_PAYLOAD_SIZE", 1) {
            self.set("mtu", payload, "PACKET_PAYLOAD_SIZE");
        }
        if let Some(megabytes) = self.whole("BUFFER_SIZE", 1) {
            self.set("buffer", format!("{megabytes}MiB"), "BUFFER_SIZE");
        }
        self.set("pause", "pfc", "USE_DYNAMIC_PFC_THRESHOLD");
        self.meaning.notes.push(
            "headroom is what a link can bring after it is paused: 3 x rate x delay, which the simulator sets aside, loses \
             frames on slow links"
                .to_owned(),
        );
        match self.number("ERROR_RATE_PER_LINK") {
            Some(rate) if rate > 0.0 && rate < 1.0 => self.set("per", rate, "ERROR_RATE_PER_LINK"),
            Some(rate) if rate >= 1.0 => self.refuse("ERROR_RATE_PER_LINK", "no share below 1", "write 0 or a share"),
            _ => {}
        }
        if self.switch("ENABLE_QCN") == Some(true) {
            self.marking(&rates);
        }
    }

    /// The topology; \[b/s\] the rates of its links.
    fn topology(&mut self, find: &dyn Fn(&str) -> Option<Found>) -> BTreeSet<u64> {
        let file = self.word("TOPOLOGY_FILE");
        if file.is_empty() {
            let name = "TOPOLOGY_FILE";
            self.set("topology", format!("graph:{name}"), name);
            self.meaning.notes.push(format!("{name} is not given: name the list of links as the topology graph:FILE"));
            return BTreeSet::new();
        }
        let Some(Found { path, text }) = find(&file) else {
            let remedy = "its path is relative to the folder of the configuration, or to one of the two above it";
            self.refuse("TOPOLOGY_FILE", "no such file", remedy);
            return BTreeSet::new();
        };
        self.set("topology", format!("graph:{path}"), "TOPOLOGY_FILE");
        let rate = |line: &str| parse_rate(line.split_whitespace().nth(2)?);
        text.lines().filter_map(rate).collect()
    }

    /// Marking, for links of these rates \[b/s\].
    fn marking(&mut self, rates: &BTreeSet<u64>) {
        let single = ["KMIN", "KMAX", "PMAX"];
        if self.is_rdma() && !self.has("KMAX_MAP") {
            let [min, max, share] = single.map(|name| self.number(name));
            if let (Some(min), Some(max), Some(share)) = (min, max, share) {
                self.set("ecn", format!("red:{}:{}:{share}", kilobytes(min), kilobytes(max)), "KMAX");
            }
            return;
        }
        let [min, max, share] = ["KMIN_MAP", "KMAX_MAP", "PMAX_MAP"].map(|name| self.map(name));
        let (Some(min), Some(max), Some(share)) = (min, max, share) else { return };
        let known = |rate: &u64| [&min, &max, &share].iter().all(|map| map.contains_key(rate));
        if let Some(rate) = max.keys().chain(min.keys()).chain(share.keys()).find(|rate| !known(rate)) {
            let remedy = "KMIN_MAP, KMAX_MAP and PMAX_MAP name the same rates";
            return self.refuse("KMAX_MAP", &format!("{} is not in all three maps", bits(*rate)), remedy);
        }
        if let Some(rate) = rates.iter().find(|rate| !known(rate)) {
            let what = format!("no thresholds of links of {}, which the topology has", bits(*rate));
            return self.refuse("KMAX_MAP", &what, "add that rate to KMIN_MAP, KMAX_MAP and PMAX_MAP");
        }
        // Rates that no link has would be settings without effect.
        let used = max.keys().filter(|rate| rates.is_empty() || rates.contains(rate));
        let rules: Vec<String> = used
            .map(|rate| {
                let [min, max] = [&min, &max].map(|map| kilobytes(map[rate]));
                format!("red:{min}:{max}:{}@{}", share[rate], bits(*rate))
            })
            .collect();
        self.set("ecn", rules.join(";"), "KMAX_MAP");
    }

    /// A map from rates \[b/s\] to numbers: their count, then each with its number; `None` after a refusal.
    fn map(&mut self, name: &'static str) -> Option<BTreeMap<u64, f64>> {
        const REMEDY: &str = "write the number of rates, then each rate in b/s with its number: 1 100000000000 400";
        if !self.has(name) {
            self.refuse(name, "not given, and ENABLE_QCN is 1", REMEDY);
            return None;
        }
        let value = self.word(name);
        let mut words = value.split_whitespace();
        let count = words.next().and_then(|word| word.parse::<usize>().ok());
        let words: Vec<&str> = words.collect();
        let number = |word: &str| word.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        let pair = |pair: &[&str]| Some((pair[0].parse::<u64>().ok().filter(|&rate| rate > 0)?, number(pair[1])?));
        let pairs = words.chunks_exact(2).map(pair).collect::<Option<BTreeMap<u64, f64>>>();
        let is_counted = count.is_some_and(|count| count > 0 && count.checked_mul(2) == Some(words.len()));
        let pairs = pairs.filter(|pairs| is_counted && Some(pairs.len()) == count);
        if pairs.is_none() {
            self.refuse(name, "no map of rates", REMEDY);
        }
        pairs
    }
}

/// A rate \[b/s\] with its unit.
fn bits(rate: u64) -> String {
    let units = [(1_000_000_000_000, "Tb/s"), (1_000_000_000, "Gb/s"), (1_000_000, "Mb/s"), (1_000, "kb/s")];
    let whole = units.iter().find(|(unit, _)| rate.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{rate}b/s"), |(unit, name)| format!("{}{name}", rate / unit))
}

/// A size \[kB\] in whole bytes.
fn kilobytes(number: f64) -> String {
    let bytes = (number * 1_000.0).round() as u64;
    if bytes.is_multiple_of(1_000) { format!("{}kB", bytes / 1_000) } else { bytes.to_string() }
}
