//! Every setting, every word of the original and every name of BookSim with values of all kinds: what each means, or
//! why it is refused, beside what it was. The texts are below `target/tmp`, to look at.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fsin_experiment::legacy::{Word, translate};
use fsin_experiment::{Builder, Experiment, keys};
use trgen::phrase::Plain;

use super::same;

/// Values of all kinds, for every name.
const VALUES: [&str; 16] =
    ["", "0", "1", "2", "7", "0.5", "-1", "100000", "5us", "10Gb/s", "64kB", "2:3", "x", "a,b", "true", "uniform"];

/// More of them, for settings.
const LONGER: [&str; 12] = [
    "torus:3x3",
    "fattree:2,2",
    "all-to-all:bytes=10",
    "at-once",
    "shift:2",
    "hotspot(0.02,0)",
    "constant(64)",
    "cdf(websearch)",
    "onoff(0.1,0.2)",
    "link:0-1@0",
    "3,4",
    "all-reduce=double-tree",
];

/// Experiments to which each setting is added: of each model one, with traffic or a program.
const EXPERIMENTS: [&str; 6] = [
    "topology = \"torus:4x4\"\nload = 0.1\ncycles = 200",
    "network = \"wormhole\"\ntopology = \"mesh:3x3\"\nkernel = \"all-reduce:bytes=3000\"",
    "network = \"ethernet\"\ntopology = \"fattree:2,2\"\nload = 0.1\ncycles = 9000000",
    "network = \"flow\"\ntopology = \"dragonfly:p=1,a=3,h=2\"\nkernel = \"all-to-all:bytes=3000\"",
    "network = \"myrinet\"\ntopology = \"star:4\"\nload = 0.1",
    "network = \"constant-delay\"\nnodes = 4\nkernel = \"bintree:bytes=3000\"",
];

/// The words of the original.
const WORDS: &str = "\
    topo sk_xy sk_xz sk_yx sk_yz sk_zx sk_zy nways nchan rmode vc routing plength tql iql ninj imode par_inj \
    cmode amode bsize bub_to_adap intransit_pr drop_packets extract faults global_cc update_period \
    timeout_upper timeout_lower tpattern load longmessages lng_msg_ratio trigger_rate triggered shotmode \
    shotsize numshots shot_size rseed warm_up_period conv_period conv_thres max_conv_time nsamples \
    sample_size min_batch_pkt tracefile trace_cpu_units link_bandwidth placement bg_load fsin_cycle_relation \
    simics_cycle_relation serv_addr num_periodos_espera monitored output plevel pheaders bheaders pinterval";

/// Lines of the original to which each word is added: a source, shots, an application, a tree.
const LINES: [&str; 4] = [
    "topo=torus_8_8 rmode=smart vc=bubble tpattern=uniform load=0.3",
    "topo=mesh_4_4 rmode=dor vc=bubble tpattern=uniform load=0.3 shotmode=1 shotsize=5",
    "topo=torus_4_4 tracefile=a.trc placement=shift_2",
    "topo=fattree_4_3 tpattern=uniform load=0.1 trigger_rate=0.5 triggered=2",
];

/// The names of a configuration of BookSim.
const NAMES: &str = "\
    topology k n c x y xr yr network_file routing_function use_noc_latency link_failures fail_seed router \
    num_vcs vc_buf_size buf_size buffer_policy private_bufs private_buf_size private_buf_start_vc \
    private_buf_end_vc max_held_slots feedback_aging_scale feedback_offset wait_for_tail_credit \
    vc_busy_when_full vc_prioritize_empty vc_priority_donation vc_shuffle_requests speculative \
    spec_check_elig spec_check_cred spec_mask_by_reqs spec_sw_allocator hold_switch_for_packet input_speedup \
    output_speedup internal_speedup output_buffer_size routing_delay vc_alloc_delay sw_alloc_delay \
    st_prepare_delay st_final_delay credit_delay vc_allocator sw_allocator alloc_iters arb_type noq vct \
    classes traffic perm_seed class_priority packet_size packet_size_rate injection_rate \
    injection_rate_uses_flits injection_process burst_alpha burst_beta burst_r1 priority batch_size \
    batch_count max_outstanding_requests use_read_write write_fraction read_request_size read_reply_size \
    write_request_size write_reply_size read_request_begin_vc read_request_end_vc write_request_begin_vc \
    write_request_end_vc read_reply_begin_vc read_reply_end_vc write_reply_begin_vc write_reply_end_vc \
    subnets read_request_subnet read_reply_subnet write_request_subnet write_reply_subnet sim_type \
    sample_period warmup_periods max_samples sim_count seed include_queuing latency_thres warmup_thres \
    acc_warmup_thres stopping_thres acc_stopping_thres measure_stats pair_stats print_activity \
    print_csv_results deadlock_warn_timeout viewer_trace watch_file watch_flits watch_packets \
    watch_transients watch_out stats_out injected_flits_out received_flits_out stored_flits_out \
    sent_flits_out ejected_flits_out active_packets_out sent_packets_out outstanding_credits_out \
    used_credits_out free_credits_out max_credits_out sim_power power_output_file tech_file channel_width \
    channel_sweep";

/// Configurations of BookSim to which each name is added.
const CONFIGURATIONS: [&str; 3] = [
    "topology = mesh; k = 4; n = 2; routing_function = dor; num_vcs = 4; traffic = uniform; injection_rate = 0.1;",
    "topology = flatfly; k = 2; n = 2; c = 2; x = 2; y = 2; xr = 1; yr = 2; routing_function = ran_min; injection_rate = 0.1;",
    "topology = torus; k = 4; n = 1; routing_function = dim_order; sim_type = batch; batch_size = 5; use_read_write = 1;",
];

/// What a builder makes: the whole experiment as a file, or why there is none and what helps.
fn built(builder: Builder) -> String {
    match builder.build() {
        Ok(experiment) => experiment.to_toml(),
        Err(refused) => {
            let (what, remedy) = (refused.error.what().written(&Plain), refused.error.remedy().written(&Plain));
            format!("refused: {refused}\n{what}\n{remedy}\n")
        }
    }
}

/// A line for each name: a checksum of all that was found with it. The texts go into a folder.
fn summed(folder: &str, found: impl Iterator<Item = (&'static str, Vec<(String, String)>)>) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).unwrap();
    let mut list = String::new();
    for (name, found) in found {
        let here = std::env::current_dir().unwrap();
        let text: String = found.iter().map(|(what, found)| format!("== {what}\n{found}\n")).collect();
        // Paths are those of the folder in which tests run.
        let text = text.replace(&*here.to_string_lossy(), "HERE");
        fs::write(folder.join(format!("{name}.txt")), &text).unwrap();
        let refused = found.iter().filter(|(_, found)| found.starts_with("refused")).count();
        writeln!(list, "{name}: {:08x}, {refused} of {} refused", crc32fast::hash(text.as_bytes()), found.len())
            .unwrap();
    }
    list
}

#[test]
fn settings_of_all_kinds_mean_what_they_meant() {
    let found = keys().iter().map(|key| {
        let rows = key.table.map_or_else(Vec::new, |table| (table.rows)());
        let named = key.components.iter().chain(rows.into_iter().map(|(row, _)| row)).map(|named| named.name);
        let values = VALUES.into_iter().chain(LONGER).chain(key.default).chain(named);
        let cases = values.flat_map(|value| EXPERIMENTS.map(|text| (value, text)));
        let found = cases.map(|(value, text)| {
            let builder = Experiment::builder().text(text).set(key.name, value);
            (format!("{text}\n{} = {value}", key.name), built(builder))
        });
        (key.name, found.collect())
    });
    same("settings", &summed("settings", found));
}

#[test]
fn every_word_of_the_original_means_what_it_meant() {
    let values =
        ["single", "random", "dsh", "age", "adaptive", "static", "dir", "double", "2_3", "0.2_2", "hotspot_10"];
    let found = WORDS.split_whitespace().map(|word| {
        let cases = VALUES.into_iter().chain(values).flat_map(|value| LINES.map(|line| (value, line)));
        let found = cases.map(|(value, line)| {
            let words = line.split(' ').map(|word| word.split_once('=').unwrap()).filter(|(name, _)| *name != word);
            let words: Vec<Word> = words.chain([(word, value)]).map(|(name, value)| Word::new(name, value)).collect();
            let means = match translate(&words) {
                Err(error) => format!("refused: {error}; {}", error.remedy().written(&Plain)),
                Ok(found) => {
                    let settings = found.settings.iter().map(|(key, value)| format!("{key}={value}\n"));
                    settings.chain(found.notes().map(|note| format!("{}\n", note.written(&Plain)))).collect()
                }
            };
            (format!("{line} {word}={value}"), means)
        });
        (word, found.collect())
    });
    same("original", &summed("original", found));
}

#[test]
fn every_name_of_booksim_means_what_it_meant() {
    let values = ["{1,2}", "select(islip)", "separable_input_first", "min_adapt", "shared", "batch", "on_off", "0.02"];
    let found = NAMES.split_whitespace().map(|name| {
        let cases = VALUES.into_iter().chain(values).flat_map(|value| CONFIGURATIONS.map(|text| (value, text)));
        let found = cases.map(|(value, text)| {
            let text = format!("{text}\n{name} = {value};\n");
            let means = built(Experiment::builder().text(&text));
            (text, means)
        });
        (name, found.collect())
    });
    same("booksim", &summed("booksim", found));
}
