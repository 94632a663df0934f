//! The router of BookSim.

use super::Config;

impl Config {
    /// The router.
    pub(super) fn router(&mut self) {
        let vcs = self.whole("num_vcs", 1);
        self.set("vcs", vcs, "num_vcs");
        self.buffers(vcs);
        if self.differs("subnets") && (self.differs("classes") || self.switch("use_read_write")) {
            let remedy = "write subnets = 1, or classes = 1 and use_read_write = 0";
            self.refuse("subnets", "with several classes, or with requests and replies", remedy);
        }
        for (name, key) in
            [("subnets", "subnets"), ("input_speedup", "input-speedup"), ("output_speedup", "output-speedup")]
        {
            if self.differs(name) {
                let number = self.whole(name, 1);
                self.set(key, number, name);
                if name == "input_speedup" && number > vcs {
                    self.note(name, "without effect beyond num_vcs: each channel has an input of the switch already");
                }
            }
        }
        for (name, key, least) in [
            ("routing_delay", "route-delay", 0),
            ("vc_alloc_delay", "vc-alloc-delay", 1),
            ("sw_alloc_delay", "switch-alloc-delay", 1),
            ("credit_delay", "credit-delay", 0),
        ] {
            let number = self.whole(name, least);
            self.set(key, number, name);
        }
        let traverse = self.whole("st_prepare_delay", 0) + self.whole("st_final_delay", 0);
        if traverse == 0 {
            self.refuse("st_final_delay", "a stage of no step", "use a sum of 1 or more with st_prepare_delay");
        }
        self.set("traverse-delay", traverse.max(1), "st_final_delay");
        for (name, is_long) in [("routing_delay", self.whole("routing_delay", 0) > 1), ("st_final_delay", traverse > 1)]
        {
            if is_long && !self.meaning.settings.iter().any(|(key, ..)| *key == "traverse-mode") {
                self.set("traverse-mode", "batch", name);
            }
        }
        for (name, key) in [
            ("speculative", "speculative"),
            ("wait_for_tail_credit", "wait-for-tail-credit"),
            ("vc_busy_when_full", "vc-busy-when-full"),
        ] {
            let on = self.switch(name);
            self.set(key, on, name);
        }
        let hold = if self.switch("hold_switch_for_packet") { "packet" } else { "flit" };
        self.set("switch-hold", hold, "hold_switch_for_packet");
        let speedup = self.number("internal_speedup");
        self.set("speedup", speedup, "internal_speedup");
        if self.differs("output_buffer_size") {
            let room = self.whole("output_buffer_size", 1);
            self.set("output-queue", room, "output_buffer_size");
        }
        self.priorities();
        self.power();
        for (name, key) in [("vc_allocator", "vc-allocator"), ("sw_allocator", "switch-allocator")] {
            match allocator(self.value(name).0) {
                Some(allocator) => self.set(key, allocator, name),
                None => {
                    let remedy = "islip, islip(N) and separable_input_first have an equal here";
                    self.refuse(name, "an allocator without an equal here", remedy);
                }
            }
        }
    }
}

impl Config {
    /// The buffer of an input, which is divided among its channels or shared.
    fn buffers(&mut self, vcs: u64) {
        const SHARED: [&str; 3] = ["private_bufs", "private_buf_size", "max_held_slots"];
        let policy = self.value("buffer_policy").0.to_owned();
        if !["private", "shared", "limited", "dynamic", "shifting"].contains(&&*policy) {
            let remedy = "private, shared, limited, dynamic and shifting have an equal here";
            return self.refuse("buffer_policy", "a policy without an equal here", remedy);
        }
        let is_shared = policy != "private";
        if self.differs("buf_size") {
            let size = self.whole("buf_size", 1);
            if size < vcs {
                self.refuse("buf_size", &format!("less than a flit for each of {vcs} channels"), "use a larger buffer");
            }
            if is_shared {
                self.set("shared-buffer", size, "buf_size");
            } else {
                self.set("buffer", size / vcs, "buf_size");
            }
            if self.differs("vc_buf_size") {
                self.note("vc_buf_size", "without effect: buf_size says how large the buffer of a port is");
            }
        } else {
            let buffer = self.whole("vc_buf_size", 1);
            self.set("buffer", buffer, "vc_buf_size");
        }
        if !is_shared {
            for name in SHARED {
                if self.differs(name) {
                    self.note(name, "without effect: buffers are shared only with another buffer_policy");
                }
            }
            return;
        }
        self.set("buffer-policy", &policy, "buffer_policy");
        for (name, key, least) in [("private_bufs", "private-buffers", 1), ("private_buf_size", "private-buffer", 0)] {
            if self.differs(name) {
                let number = self.whole(name, least);
                self.set(key, number, name);
            }
        }
        let groups = if self.differs("private_bufs") { self.whole("private_bufs", 1) } else { vcs };
        if groups < vcs || self.value("private_buf_size").0 == "0" {
            self.doubt(
                "buffer_policy",
                "channels have no place of their own, so that freedom from deadlock is not proven",
            );
        }
        if policy == "limited" && self.differs("max_held_slots") {
            let number = self.whole("max_held_slots", 1);
            self.set("held-slots", number, "max_held_slots");
        } else if self.differs("max_held_slots") {
            self.note("max_held_slots", "without effect: it needs buffer_policy = limited");
        }
    }

    /// Lets a routing run that may not be free of deadlock with what a name says, if it needs classes of channels.
    pub(super) fn doubt(&mut self, name: &'static str, why: &str) {
        if self.has_classes_of_hops() {
            if !self.meaning.settings.iter().any(|(key, ..)| *key == "unsafe-routing") {
                self.set("unsafe-routing", true, name);
            }
            self.note(name, why);
        }
    }

    /// True if the routing that has been read needs classes of channels to be free of deadlock.
    fn has_classes_of_hops(&self) -> bool {
        let is_one = |(key, value): (&str, &str)| match key {
            "vc-classes" => true,
            "routing" => {
                !["dor", "booksim-min-adapt", "minimal", "anca", "destination-tag", "two-choices"].contains(&value)
            }
            _ => false,
        };
        self.meaning.settings.iter().any(|(key, value, _)| is_one((key, value)))
    }
}

/// Priorities, each with its name here.
const PRIORITIES: [(&str, &str); 8] = [
    ("none", "none"),
    ("class", "class"),
    ("age", "age"),
    ("network_age", "network-age"),
    ("local_age", "local-age"),
    ("queue_length", "queue-length"),
    ("hop_count", "hop-count"),
    ("sequence", "sequence"),
];

impl Config {
    /// Which requests are preferred.
    fn priorities(&mut self) {
        let word = self.value("priority").0.to_owned();
        let Some(&(_, ours)) = PRIORITIES.iter().find(|(theirs, _)| *theirs == word) else {
            let names = PRIORITIES.map(|(theirs, _)| theirs).join(", ");
            return self.refuse("priority", "no priority with an equal here", format!("use one of {names}"));
        };
        if ours == "none" {
            if self.differs("vc_priority_donation") {
                self.note("vc_priority_donation", "without effect: packets have no priorities");
            }
            return;
        }
        if self.switch("vc_priority_donation") {
            self.refuse("vc_priority_donation", "without an equal here", "write 0");
        }
        self.set("priority", ours, "priority");
    }

    /// Energy.
    fn power(&mut self) {
        if !self.switch("sim_power") {
            for name in ["tech_file", "channel_width"] {
                if self.differs(name) {
                    self.note(name, "without effect: energy needs sim_power = 1");
                }
            }
            return;
        }
        let (width, file) = (self.whole("channel_width", 1), self.value("tech_file").0.to_owned());
        if file.contains(',') {
            return self.refuse("tech_file", "a name with a comma", "rename the file");
        }
        let file = if file.is_empty() { String::new() } else { format!("{file},") };
        self.set("energy", format!("booksim:{file}width={width}"), "sim_power");
    }
}

/// The name here of an allocator.
fn allocator(word: &str) -> Option<String> {
    match word {
        "islip" => Some("islip:1".to_owned()),
        "separable_input_first" | "separable_input_first(round_robin)" => Some("separable".to_owned()),
        other => {
            let count: u32 = other.strip_prefix("islip(")?.strip_suffix(')')?.parse().ok()?;
            (1..=16).contains(&count).then(|| format!("islip:{count}"))
        }
    }
}
