//! Hosts of a configuration: transport, congestion control, flows.

use super::{Config, Found};

/// \[s\] The latest end of a run that `max-cycles` permits: some 2^60 ps.
const LATEST: f64 = 1e6;

impl Config {
    /// Transport and congestion control; the value of CC_MODE.
    pub(super) fn hosts(&mut self) -> String {
        let mode = self.word("CC_MODE");
        self.set("transport", "roce", "CC_MODE");
        match &*mode {
            "1" => self.dcqcn(),
            "3" => self.hpcc(),
            _ => {
                let of = match &*mode {
                    "7" => "TIMELY: ",
                    "8" => "DCTCP by rates: ",
                    "10" => "HPCC-PINT: ",
                    _ => "",
                };
                let remedy = "1 (DCQCN) and 3 (HPCC) have an equal here; `fsin list congestion-controls` names others";
                self.refuse("CC_MODE", &format!("{of}no congestion control with an equal here"), remedy);
            }
        }
        let every = self.whole("L2_ACK_INTERVAL", 1);
        if self.is_rdma() {
            if every.is_some_and(|every| every > 1) {
                self.note("L2_ACK_INTERVAL", "each frame is acknowledged, since acknowledgements return the marks");
            }
        } else if let Some(every) = every {
            self.set("ack-every", every, "L2_ACK_INTERVAL");
        }
        let is_first = self.switch("ACK_HIGH_PRIO") == Some(true);
        if is_first {
            self.note(
                "ACK_HIGH_PRIO",
                "acknowledgements go first in switches too; the simulator has it in hosts alone",
            );
        }
        self.set("ack-class", if is_first { "control" } else { "data" }, "ACK_HIGH_PRIO");
        mode
    }

    fn dcqcn(&mut self) {
        let is_rdma = self.is_rdma();
        if self.switch("ENABLE_QCN") == Some(false) {
            self.note("ENABLE_QCN", "nothing is marked, so that no rate ever falls");
            self.set("cc", "none", "ENABLE_QCN");
        } else {
            let mut words = vec![format!("preset={}", if is_rdma { "sigcomm2015" } else { "hpcc" })];
            // Names missing in a configuration of ns3-rdma have the values of the preset.
            let read = |config: &Self, name: &str| !is_rdma || config.has(name);
            let gain = if self.has("DCTCP_GAIN") { "DCTCP_GAIN" } else { "EWMA_GAIN" };
            if read(self, gain)
                && let Some(gain) = self.number(gain)
            {
                words.push(format!("g={gain}"));
            }
            let times = [
                ("ALPHA_RESUME_INTERVAL", "alpha-interval"),
                ("RATE_DECREASE_INTERVAL", "decrease-interval"),
                ("RP_TIMER", "increase-interval"),
            ];
            for (name, parameter) in times {
                if read(self, name)
                    && let Some(time) = self.number(name)
                {
                    words.push(format!("{parameter}={time}us"));
                }
            }
            for (name, parameter) in [("FAST_RECOVERY_TIMES", "fast-recovery"), ("BYTE_COUNTER", "byte-counter")] {
                if (read(self, name) && name != "BYTE_COUNTER" || self.has(name))
                    && let Some(number) = self.whole(name, 0)
                {
                    words.push(format!("{parameter}={number}"));
                }
            }
            for (name, parameter) in [("RATE_AI", "ai"), ("RATE_HAI", "hai"), ("MIN_RATE", "min-rate")] {
                if read(self, name)
                    && let Some(rate) = self.rate(name)
                {
                    words.push(format!("{parameter}={rate}"));
                }
            }
            if read(self, "CLAMP_TARGET_RATE")
                && let Some(clamp) = self.switch("CLAMP_TARGET_RATE")
            {
                words.push(format!("clamp={clamp}"));
            }
            self.set("cc", format!("dcqcn:{}", words.join(",")), "CC_MODE");
            if self.has("CNP_INTERVAL")
                && let Some(time) = self.number("CNP_INTERVAL")
            {
                self.set("cnp-interval", format!("{time}us"), "CNP_INTERVAL");
            }
        }
        // ns3-rdma has no window.
        if is_rdma || self.switch("HAS_WIN") != Some(true) {
            self.without_window();
            return;
        }
        if self.switch("GLOBAL_T") == Some(false) {
            let remedy = "write GLOBAL_T 1: the largest round trip of all pairs; or HAS_WIN 0";
            self.refuse("GLOBAL_T", "windows by the round trip of each pair", remedy);
        }
        let limit = if self.switch("VAR_WIN") == Some(true) { "bdp-scaled" } else { "bdp" };
        self.set("in-flight", limit, "HAS_WIN");
    }

    /// Names of windows have no effect without one.
    fn without_window(&mut self) {
        let idle: Vec<&str> = ["VAR_WIN", "GLOBAL_T"].into_iter().filter(|name| self.has(name)).collect();
        if !idle.is_empty() {
            let note = format!("without effect: {}: HAS_WIN is 0", idle.join(", "));
            self.meaning.notes.push(note);
        }
    }

    fn hpcc(&mut self) {
        // Windows by the rate and one round trip of all are part of the algorithm here.
        for (name, needed) in
            [("HAS_WIN", "1"), ("VAR_WIN", "1"), ("GLOBAL_T", "1"), ("MULTI_RATE", "0"), ("SAMPLE_FEEDBACK", "0")]
        {
            if self.value(name).0 != needed {
                self.refuse(
                    name,
                    &format!("HPCC without an equal here, which has {needed}"),
                    format!("write {needed}"),
                );
            }
        }
        let mut words = Vec::new();
        if let Some(target) = self.number("U_TARGET") {
            words.push(format!("eta={target}"));
        }
        if let Some(stages) = self.whole("MI_THRESH", 0) {
            words.push(format!("max-stage={stages}"));
        }
        if let Some(fast) = self.switch("FAST_REACT") {
            words.push(format!("fast-react={fast}"));
        }
        for (name, parameter) in [("RATE_AI", "ai"), ("MIN_RATE", "min-rate")] {
            if let Some(rate) = self.rate(name) {
                words.push(format!("{parameter}={rate}"));
            }
        }
        if let Some(units) = self.whole("INT_MULTI", 1) {
            words.push(format!("int-multi={units}"));
        }
        self.set("cc", format!("hpcc:{}", words.join(",")), "CC_MODE");
    }

    /// The list of flows, and how long a run is at most.
    pub(super) fn flows(&mut self, find: &dyn Fn(&str) -> Option<Found>) {
        let tcp = self.word("TCP_FLOW_FILE");
        if let Some(Found { text, .. }) = find(&tcp).filter(|_| !tcp.is_empty())
            && text.split_whitespace().next() != Some("0")
        {
            let remedy = "leave it out, or name a list of 0 flows: a run has one transport";
            self.refuse("TCP_FLOW_FILE", "flows of TCP beside those of RDMA", remedy);
        }
        let file = self.word("FLOW_FILE");
        if file.is_empty() {
            let note = "FLOW_FILE is not given: say what is sent (flows, trace or kernel), else traffic is uniform";
            self.meaning.notes.push(note.to_owned());
        } else if let Some(Found { path, .. }) = find(&file) {
            self.set("flows", path, "FLOW_FILE");
        } else {
            let remedy = "its path is relative to the folder of the configuration, or to one of the two above it";
            self.refuse("FLOW_FILE", "no such file", remedy);
        }
        if self.has("SIMULATOR_STOP_TIME") {
            match self.number("SIMULATOR_STOP_TIME") {
                Some(stop) if stop > 0.0 && stop <= LATEST && !file.is_empty() => {
                    self.set("max-cycles", (stop * 1e12).round() as u64, "SIMULATOR_STOP_TIME");
                }
                Some(_) => self.note("SIMULATOR_STOP_TIME", "the run lasts until everything has arrived"),
                None => {}
            }
        }
        // The figures that HPCC prints for each flow.
        self.set("message-stats", "true", "FCT_OUTPUT_FILE");
        self.set("completion", "acked", "FCT_OUTPUT_FILE");
        self.set("ideal", "hpcc", "FCT_OUTPUT_FILE");
    }
}
