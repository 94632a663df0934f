//! Tests of configurations.

use super::*;
use crate::meaning::together;

fn meaning(text: &str) -> Result<Meaning, Vec<Refusal>> {
    super::meaning(text, &|file| file != "missing")
}

fn meant(text: &str) -> BTreeMap<&'static str, String> {
    let meaning = meaning(text).unwrap_or_else(|refusals| panic!("{text}: {}", together(refusals).error));
    meaning.settings.into_iter().map(|(key, value, _)| (key, value)).collect()
}

#[test]
fn statements_comments_and_defaults() {
    let text = "// a torus\ntopology = torus; k = 4;\nn=2; routing_function = dim_order; // shorter way\n\
                traffic = hotspot({{0,5},{1,1}});\npacket_size = 4; injection_rate = 0.05;\n";
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
    assert_eq!(meant("topology = mesh; routing_function = dor; internal_speedup = 2.0;")["speedup"], "2");
}

#[test]
fn every_row_is_what_the_word_does() {
    const MESH: &str = "topology = mesh; routing_function = dor;";
    const FAT: &str = "topology = fattree; k = 4; n = 3; routing_function = nca;";
    const TILES: &str =
        "topology = cmesh; k = 4; c = 4; x = 4; y = 4; xr = 2; yr = 2; routing_function = dor_no_express;";
    for (text, key, expected) in [
        (format!("{MESH} traffic = bitrev;"), "traffic", "reversal(self=true)"),
        (format!("{MESH} traffic = shuffle;"), "traffic", "shuffle(self=true)"),
        (format!("{MESH} traffic = randperm;"), "traffic", "randperm(self=true)"),
        (format!("{MESH} traffic = hotspot({{0,27,63}});"), "traffic", "hotspot(1,0,self=true)"),
        (format!("{MESH} traffic = hotspot(7);"), "traffic", "hotspot(1,7,self=true)"),
        (
            format!("{MESH} traffic = hotspot({{{{5,3}},{{8,1}}}});"),
            "traffic",
            "mix(8:hotspot(1,5,self=true), 1:hotspot(1,3,self=true))",
        ),
        (
            format!("{MESH} traffic = hotspot({{{{1,2,3}},{{8,1}}}});"),
            "traffic",
            "mix(8:hotspot(1,1,self=true), 1:hotspot(1,2,self=true), 1:hotspot(1,3,self=true))",
        ),
        (format!("{MESH} traffic = {{uniform}}; packet_size = {{3}};"), "packet", "3"),
        (format!("{MESH} buf_size = 24; num_vcs = 5;"), "buffer", "4"),
        (format!("{MESH} priority = network_age;"), "priority", "network-age"),
        (format!("{MESH} st_final_delay = 2;"), "traverse-mode", "batch"),
        (format!("{MESH} routing_delay = 3;"), "traverse-mode", "batch"),
        (format!("{MESH} sim_power = 1; tech_file = my.txt; channel_width = 64;"), "energy", "booksim:my.txt,width=64"),
        (format!("{MESH} sim_power = 1;"), "energy", "booksim:width=128"),
        ("topology = mesh; routing_function = min_adapt;".to_owned(), "routing", "booksim-min-adapt"),
        ("topology = mesh; routing_function = romm;".to_owned(), "routing", "romm"),
        (format!("{FAT} traffic = tornado;"), "traffic", "map(grid:4x4x4, tornado)"),
        (FAT.to_owned(), "routing", "minimal"),
        (TILES.to_owned(), "topology", "cmesh:4x4:2x2:spaced"),
        (format!("{TILES} use_noc_latency = 0;"), "topology", "cmesh:4x4:2x2"),
        (format!("{TILES} use_noc_latency = 0; routing_function = dor;"), "topology", "cmesh:4x4:2x2:express"),
        (format!("{TILES} routing_function = xy_yx;"), "topology", "cmesh:4x4:2x2:spaced:express"),
        (format!("{TILES} routing_function = xy_yx;"), "routing", "xy-yx"),
        (TILES.to_owned(), "routing", "dor"),
        (format!("{TILES} sim_power = 1;"), "topology", "cmesh:4x4:2x2:spaced:express"),
        (format!("{TILES} sim_power = 1;"), "routing", "dor-no-express"),
        (
            "topology = flatfly; k = 5; c = 9; x = 5; y = 5; xr = 3; yr = 3; routing_function = ran_min;".to_owned(),
            "topology",
            "hyperx:5x5:3x3:spaced",
        ),
        (
            format!(
                "{MESH} classes = 2; packet_size = {{1,{{2,4}}}}; packet_size_rate = {{1,{{3,1}}}}; injection_rate = 0.1;"
            ),
            "traffic",
            "source(uniform(self=true),load=0.1,size=constant(1),class=0) + \
             source(uniform(self=true),load=0.25,size=discrete(2:3,4:1),class=1)",
        ),
        (format!("{MESH} classes = 2; traffic = {{uniform,hotspot(1,2)}};"), "vc-range", "together"),
        (format!("{MESH} classes = 2; priority = class; class_priority = {{0,1}};"), "class-priority", "0:1"),
        (format!("{MESH} packet_size = {{{{1,5}}}}; packet_size_rate = {{{{3,1}}}};"), "size", "discrete(1:3,5:1)"),
        (
            format!("{MESH} use_read_write = 1; read_reply_size = 5; write_request_size = 5; write_fraction = 0.25;"),
            "temporal",
            "request-reply(size=constant(5),write=0.25,write-size=constant(5),write-reply=constant(1))",
        ),
        (
            format!("{MESH} use_read_write = 1; read_reply_begin_vc = -1; write_request_end_vc = -1;"),
            "vc-range",
            "read-request=0-5:read-reply=8-13:write-request=2-7:write-reply=10-15",
        ),
        (
            format!("{MESH} sim_type = batch; batch_size = 50; max_outstanding_requests = 3; batch_count = 4;"),
            "temporal",
            "shot(50,outstanding=3)",
        ),
        (format!("{MESH} sim_type = batch; batch_count = 4;"), "samples", "4"),
        (format!("{MESH} subnets = 2;"), "subnets", "2"),
        (format!("{MESH} input_speedup = 2; output_speedup = 3;"), "output-speedup", "3"),
        (format!("{MESH} buffer_policy = limited; buf_size = 40; max_held_slots = 6;"), "held-slots", "6"),
        (format!("{MESH} buffer_policy = shared; buf_size = 40;"), "shared-buffer", "40"),
        ("topology = fattree; k = 4; n = 3; routing_function = anca;".to_owned(), "routing", "anca"),
        (
            "topology = dragonflynew; k = 2; n = 1; num_vcs = 3; routing_function = ugal;".to_owned(),
            "topology",
            "dragonfly:p=2,a=4,h=2,local=10,global=100",
        ),
        (
            format!("{MESH} injection_process = on_off; burst_alpha = 0.2; burst_beta = 0.05;"),
            "temporal",
            "markov(0.25,0.05)",
        ),
    ] {
        assert_eq!(meant(&text)[key], expected, "{text}");
    }
}

/// A default in silence, a name without meaning with a note.
#[test]
fn names_without_meaning_are_noted() {
    const MESH: &str = "topology = mesh; routing_function = dor;";
    let notes = |rest: &str| meaning(&format!("{MESH}{rest}")).unwrap().notes;
    for silent in [
        "sim_count = 1;",
        "private_bufs = -1;",
        "internal_speedup = 1.0;",
        "xr = 1;",
        "subnets = 1; classes = 1; noq = 0;",
        "latency_thres = 500.0;",
        "read_reply_end_vc = 13;",
    ] {
        assert_eq!(notes(silent), Vec::<String>::new(), "{silent}");
    }
    for noted in [
        "xr = 2;",
        "burst_alpha = 0.1;",
        "batch_size = 2000;",
        "read_reply_end_vc = 12;",
        "watch_out = -;",
        "alloc_iters = 4;",
        "sim_count = 3;",
        "max_held_slots = 6;",
        "vc_priority_donation = 1;",
        "packet_size = {1,5};",
        "packet_size_rate = 2;",
        "class_priority = 1;",
        "max_outstanding_requests = 4;",
        "buffer_policy = shared; max_held_slots = 6;",
    ] {
        let found = notes(noted);
        let name = noted.trim_end_matches(';').rsplit("; ").next().unwrap_or(noted);
        assert!(found.len() == 1 && found[0].starts_with(name), "{noted}: {found:?}");
    }
}

#[test]
fn what_has_no_equal_is_named() {
    for (text, expected) in [
        ("topology = gemini; routing_function = dor;", "topology = gemini"),
        ("topology = fly; routing_function = dor;", "routing_function = dor"),
        ("topology = mesh; routing_function = chaos;", "routing_function = chaos"),
        ("topology = mesh; routing_function = dor; priority = other;", "priority = other"),
        ("topology = mesh; routing_function = dor; priority = age; vc_priority_donation = 1;", "vc_priority_donation"),
        ("topology = mesh; routing_function = dor; rooter = iq;", "`rooter`"),
        ("topology = mesh; routing_function = dor; router = event;", "router = event"),
        ("topology = mesh; routing_function = dor; k = x;", "k = x"),
        ("topology = mesh; routing_function = dor", "semicolon"),
        ("topology = mesh; routing_function = dor; traffic = hotspot({0,1},{1,3});", "traffic = hotspot"),
        ("topology = mesh; routing_function = dor; vc_allocator = pim;", "vc_allocator = pim"),
        ("topology = mesh; routing_function = dor; vc_allocator = wavefront;", "vc_allocator = wavefront"),
        ("topology = fattree; routing_function = ugal;", "routing_function = ugal"),
        ("topology = anynet; routing_function = min; network_file = missing;", "network_file = missing"),
        ("topology = mesh; routing_function = dor; packet_size = {0,5};", "packet_size = {0,5}"),
        ("topology = mesh; routing_function = dor; classes = 2; use_read_write = 1;", "use_read_write = 1"),
        ("topology = mesh; routing_function = dor; classes = 2; sim_type = batch;", "sim_type = batch"),
        ("topology = mesh; routing_function = dor; use_read_write = 1; num_vcs = 8;", "channel beyond"),
        ("topology = mesh; routing_function = dor; buffer_policy = feedback;", "buffer_policy = feedback"),
        ("topology = mesh; routing_function = dor; subnets = 2; classes = 2;", "subnets = 2"),
        ("topology = dragonflynew; n = 2; routing_function = min;", "n = 2"),
        ("topology = mesh; routing_function = dor; st_final_delay = 0;", "st_final_delay = 0"),
        ("topology = cmesh; c = 4; xr = 2; yr = 1; routing_function = dor_no_express;", "yr = 1"),
    ] {
        let refusal = together(meaning(text).unwrap_err());
        assert!(refusal.error.to_string().contains(expected), "{}", refusal.error);
        assert!(text.get(refusal.span.clone()).is_some_and(|place| !place.is_empty()), "{text}");
    }
}

/// Everything that a file holds is refused at once.
#[test]
fn l5_all_refusals_of_a_configuration_at_once() {
    let text = "topology = gemini; limit = 3; noq = 1; physical_subnetworks = 1; traffic = chaos; nothing;";
    let said = together(meaning(text).unwrap_err()).error;
    for what in ["topology = gemini", "`limit`", "noq = 1", "`physical_subnetworks`", "traffic = chaos", "`nothing;`"] {
        assert!(said.to_string().contains(what), "{what}: {said}");
    }
    assert!(said.to_string().starts_with("6 words") && said.remedy().to_string().contains("write 0"));
}
