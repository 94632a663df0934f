//! The names of BookSim 2 with their defaults, and what this project does with each.

use Takes::{Idle, Means, Only};

/// What is done with a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Takes {
    /// It is translated.
    Means,
    /// Its default is what this project does; other values are refused with this remedy.
    Only(&'static str),
    /// It changes nothing in the runs that are read, for this reason.
    Idle(&'static str),
}

/// A name, its default, and what is done with it. The default of [`Takes::Means`] completes a configuration.
pub(super) type Name = (&'static str, &'static str, Takes);

const PRINTS: &str = "it concerns what BookSim prints";
const CONVERGES: &str = "periods are counted here, and nothing waits for convergence";
const GROUPS: &str = "write -1: groups of channels are of equal size";
const FEEDBACK: &str = "no buffer_policy that is read has it";
const SEEDS: &str = "the seed of the run decides";

/// All names.
pub(super) const NAMES: &[Name] = &[
    // Network.
    ("topology", "torus", Means),
    ("k", "8", Means),
    ("n", "2", Means),
    ("c", "1", Means),
    ("x", "8", Means),
    ("y", "8", Means),
    ("xr", "1", Means),
    ("yr", "1", Means),
    ("network_file", "", Means),
    ("routing_function", "none", Means),
    ("use_noc_latency", "1", Means),
    ("link_failures", "0", Only("write 0, and see the setting faults")),
    ("fail_seed", "0", Idle("no link fails")),
    // Router.
    ("router", "iq", Only("write iq: the input-queued router")),
    ("num_vcs", "16", Means),
    ("vc_buf_size", "8", Means),
    ("buf_size", "-1", Means),
    ("buffer_policy", "private", Means),
    ("private_bufs", "-1", Means),
    ("private_buf_size", "1", Means),
    ("private_buf_start_vc", "-1", Only(GROUPS)),
    ("private_buf_end_vc", "-1", Only(GROUPS)),
    ("max_held_slots", "-1", Means),
    ("feedback_aging_scale", "1", Idle(FEEDBACK)),
    ("feedback_offset", "0", Idle(FEEDBACK)),
    ("wait_for_tail_credit", "0", Means),
    ("vc_busy_when_full", "0", Means),
    ("vc_prioritize_empty", "0", Only("write 0")),
    ("vc_priority_donation", "0", Means),
    ("vc_shuffle_requests", "0", Only("write 0")),
    ("speculative", "0", Means),
    ("spec_check_elig", "1", Only("write 1")),
    ("spec_check_cred", "1", Only("write 1")),
    ("spec_mask_by_reqs", "0", Only("write 0")),
    ("spec_sw_allocator", "prio", Only("write prio")),
    ("hold_switch_for_packet", "0", Means),
    ("input_speedup", "1", Means),
    ("output_speedup", "1", Means),
    ("internal_speedup", "1", Means),
    ("output_buffer_size", "-1", Means),
    ("routing_delay", "1", Means),
    ("vc_alloc_delay", "1", Means),
    ("sw_alloc_delay", "1", Means),
    ("st_prepare_delay", "0", Means),
    ("st_final_delay", "1", Means),
    ("credit_delay", "1", Means),
    ("vc_allocator", "islip", Means),
    ("sw_allocator", "islip", Means),
    ("alloc_iters", "1", Idle("as in BookSim, whose allocators take the number in their names: islip(2)")),
    ("arb_type", "round_robin", Idle("as in BookSim, whose allocators take arbiters in their names")),
    ("noq", "0", Only("write 0")),
    ("vct", "0", Only("write 0")),
    // Traffic.
    ("classes", "1", Means),
    ("traffic", "uniform", Means),
    ("perm_seed", "0", Idle(SEEDS)),
    ("class_priority", "0", Means),
    ("packet_size", "1", Means),
    ("packet_size_rate", "1", Means),
    ("injection_rate", "0.1", Means),
    ("injection_rate_uses_flits", "0", Means),
    ("injection_process", "bernoulli", Means),
    ("burst_alpha", "0.5", Means),
    ("burst_beta", "0.5", Means),
    ("burst_r1", "-1", Means),
    ("priority", "none", Means),
    ("batch_size", "1000", Means),
    ("batch_count", "1", Means),
    ("max_outstanding_requests", "0", Means),
    ("use_read_write", "0", Means),
    ("write_fraction", "0.5", Means),
    ("read_request_size", "1", Means),
    ("read_reply_size", "1", Means),
    ("write_request_size", "1", Means),
    ("write_reply_size", "1", Means),
    ("read_request_begin_vc", "0", Means),
    ("read_request_end_vc", "5", Means),
    ("write_request_begin_vc", "2", Means),
    ("write_request_end_vc", "7", Means),
    ("read_reply_begin_vc", "8", Means),
    ("read_reply_end_vc", "13", Means),
    ("write_reply_begin_vc", "10", Means),
    ("write_reply_end_vc", "15", Means),
    ("subnets", "1", Means),
    ("read_request_subnet", "0", Idle("there is one network")),
    ("read_reply_subnet", "0", Idle("there is one network")),
    ("write_request_subnet", "0", Idle("there is one network")),
    ("write_reply_subnet", "0", Idle("there is one network")),
    // Simulation.
    ("sim_type", "latency", Means),
    ("sample_period", "1000", Means),
    ("warmup_periods", "3", Means),
    ("max_samples", "10", Means),
    ("sim_count", "1", Idle("one run is made: a sweep with several values of seed repeats it")),
    ("seed", "0", Means),
    ("include_queuing", "1", Only("write 1: latency includes the time in the queue of the source")),
    ("latency_thres", "500", Idle("whether a load is carried is told from the growth of queues here")),
    ("warmup_thres", "0.05", Idle(CONVERGES)),
    ("acc_warmup_thres", "0.05", Idle(CONVERGES)),
    ("stopping_thres", "0.05", Idle(CONVERGES)),
    ("acc_stopping_thres", "0.05", Idle(CONVERGES)),
    ("measure_stats", "1", Idle(PRINTS)),
    ("pair_stats", "0", Idle(PRINTS)),
    ("print_activity", "0", Idle(PRINTS)),
    ("print_csv_results", "0", Idle(PRINTS)),
    ("deadlock_warn_timeout", "256", Idle(PRINTS)),
    ("viewer_trace", "0", Idle(PRINTS)),
    ("watch_file", "", Idle(PRINTS)),
    ("watch_flits", "", Idle(PRINTS)),
    ("watch_packets", "", Idle(PRINTS)),
    ("watch_transients", "", Idle(PRINTS)),
    ("watch_out", "", Idle(PRINTS)),
    ("stats_out", "", Idle(PRINTS)),
    ("injected_flits_out", "", Idle(PRINTS)),
    ("received_flits_out", "", Idle(PRINTS)),
    ("stored_flits_out", "", Idle(PRINTS)),
    ("sent_flits_out", "", Idle(PRINTS)),
    ("ejected_flits_out", "", Idle(PRINTS)),
    ("active_packets_out", "", Idle(PRINTS)),
    ("sent_packets_out", "", Idle(PRINTS)),
    ("outstanding_credits_out", "", Idle(PRINTS)),
    ("used_credits_out", "", Idle(PRINTS)),
    ("free_credits_out", "", Idle(PRINTS)),
    ("max_credits_out", "", Idle(PRINTS)),
    ("sim_power", "0", Means),
    ("power_output_file", "pwr_tmp", Idle("energy is part of the result")),
    ("tech_file", "", Means),
    ("channel_width", "128", Means),
    ("channel_sweep", "0", Idle("one width is evaluated: fsin energy evaluates others")),
];

/// The row of a name.
pub(super) fn row(name: &str) -> Option<&'static Name> {
    NAMES.iter().find(|(known, ..)| *known == name)
}

/// True if two values are the same word, or the same number.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    one == other || number(one).is_some_and(|value| number(other) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_twice() {
        let mut names: Vec<&str> = NAMES.iter().map(|(name, ..)| *name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(is_same("1.0", "1") && is_same("none", "none") && !is_same("1", "2") && !is_same("a", "1"));
    }
}
