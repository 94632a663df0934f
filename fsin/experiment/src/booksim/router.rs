//! The router of BookSim.

use super::Config;

impl Config {
    /// The router.
    pub(super) fn router(&mut self) {
        let vcs = self.whole("num_vcs", 1);
        self.set("vcs", vcs, "num_vcs");
        // The buffer of a port is divided among its channels.
        if self.differs("buf_size") {
            let buffer = self.whole("buf_size", 1) / vcs;
            if buffer == 0 {
                self.refuse("buf_size", &format!("less than a flit for each of {vcs} channels"), "use a larger buffer");
            }
            self.set("buffer", buffer, "buf_size");
            if self.differs("vc_buf_size") {
                self.note("vc_buf_size", "without effect: buf_size says how large the buffer of a port is");
            }
        } else {
            let buffer = self.whole("vc_buf_size", 1);
            self.set("buffer", buffer, "vc_buf_size");
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
        if self.whole("routing_delay", 0) > 1 {
            let remedy = "write 0 or 1: longer ones are batches in BookSim, and a pipeline here";
            self.refuse("routing_delay", "without an equal here", remedy);
        }
        let traverse = self.whole("st_prepare_delay", 0) + self.whole("st_final_delay", 0);
        if traverse != 1 {
            let name = if self.differs("st_final_delay") { "st_final_delay" } else { "st_prepare_delay" };
            let remedy =
                "use a sum of 1 with the other st_ delay: longer ones are batches in BookSim, and a pipeline here";
            self.refuse(name, "without an equal here", remedy);
        }
        self.set("traverse-delay", traverse, "st_final_delay");
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
