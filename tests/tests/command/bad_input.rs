//! Responses to a wrong command line, experiment or trace: an exit status, the place, the remedy, and nothing else.
//!
//! Each case checks that
//!
//! - the exit status is 2 (unusable) or 3 (deadlock), and stdout is empty or, for 3, valid incomplete results;
//! - the message names the place (flag, key, variable, file and line) and a remedy, and nothing panicked;
//! - no file was created, changed or removed.
//!
//! The words themselves are under test in one case of each kind, [`Case::in_full`]: input and output are a snapshot in
//! `bad_input/`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::fsin;

/// A wrong input and the place that its message must name.
struct Case {
    words: Vec<String>,
    place: &'static str,
    files: Vec<(&'static str, Vec<u8>)>,
    variables: Vec<(&'static str, &'static str)>,
    in_full: bool,
}

/// `fsin` with the arguments in `line`, which are separated by blanks; the message must contain `place`.
fn case(line: &str, place: &'static str) -> Case {
    let words = line.split_whitespace().map(str::to_owned).collect();
    Case { words, place, files: Vec::new(), variables: Vec::new(), in_full: false }
}

/// `fsin run` of an experiment file with this text.
fn experiment(text: &str, place: &'static str) -> Case {
    case("run e.toml", place).file("e.toml", text)
}

/// `fsin run` of a `.trc` file with this text.
fn trc(text: &str, place: &'static str) -> Case {
    case("run --trace a.trc --format json", place).file("a.trc", text)
}

/// `fsin run` of a SimGrid TI trace of two ranks.
fn ti(rank0: &str, rank1: &str, place: &'static str) -> Case {
    case("run --trace index --topology torus:4 --format json", place)
        .file("index", "r0\nr1\n")
        .file("r0", rank0)
        .file("r1", rank1)
}

impl Case {
    /// Adds a file to the working directory of the command; a name that ends in `/` is an empty folder.
    fn file(mut self, name: &'static str, content: impl AsRef<[u8]>) -> Self {
        self.files.push((name, content.as_ref().to_owned()));
        self
    }

    /// Adds one more argument, which may contain blanks or be empty.
    fn word(mut self, word: &str) -> Self {
        self.words.push(word.to_owned());
        self
    }

    /// Adds an environment variable.
    fn variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    /// The whole message is under test.
    fn in_full(mut self) -> Self {
        self.in_full = true;
        self
    }

    fn check(self, name: &str) {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in &self.files {
            let path = folder.path().join(name);
            fs::create_dir_all(if name.ends_with('/') { &path } else { path.parent().unwrap() }).unwrap();
            if !name.ends_with('/') {
                fs::write(path, content).unwrap();
            }
        }
        let before = listing(folder.path());
        let output = fsin(folder.path()).args(&self.words).envs(self.variables.iter().copied()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();

        let status = output.status.code();
        let results = match status {
            Some(2) => {
                assert_eq!(stdout, "", "nothing was simulated");
                "none"
            }
            Some(3) => {
                let figures: Value = serde_json::from_str(&stdout).unwrap();
                assert_eq!(figures["complete"], false);
                assert!(figures["failure"]["waits"].as_array().is_some_and(|waits| !waits.is_empty()));
                "printed, complete: false"
            }
            _ => panic!("status {status:?}: {stderr}"),
        };
        assert!(stderr.lines().any(|line| line.starts_with("error: ")), "{stderr}");
        assert!(stderr.contains(self.place), "does not name {}: {stderr}", self.place);
        let remedies = ["  help: ", "  tip: ", "[possible values: ", "For more information, try '--help'"];
        assert!(remedies.iter().any(|remedy| stderr.contains(remedy)), "no remedy: {stderr}");
        for forbidden in ["panicked", "RUST_BACKTRACE", "\u{1b}", folder.path().to_str().unwrap()] {
            assert!(!stderr.contains(forbidden), "{forbidden:?} in {stderr}");
        }
        assert!(stderr.lines().all(|line| line.chars().count() < 800), "a line nobody reads: {stderr}");
        assert_eq!(listing(folder.path()), before, "files were created, changed or removed");

        if !self.in_full {
            return;
        }
        let seen = format!("{}exit status: {}\nresults: {results}\n{stderr}", self.shown(), status.unwrap_or(-1));
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("bad_input");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, seen));
    }

    /// The input for readers of the snapshot.
    fn shown(&self) -> String {
        let mut text = String::new();
        for (name, content) in &self.files {
            match std::str::from_utf8(content) {
                Ok(content) if !name.ends_with('/') => {
                    let _ = writeln!(text, "{name}:");
                    content.lines().for_each(|line| writeln!(text, "    {line}").unwrap());
                }
                _ => {
                    let _ = writeln!(text, "{name}: {} bytes", content.len());
                }
            }
        }
        for (name, value) in &self.variables {
            let _ = write!(text, "{name}={value} ");
        }
        let quoted =
            |word: &String| if word.is_empty() || word.contains(' ') { format!("'{word}'") } else { word.clone() };
        let _ = writeln!(text, "fsin {}", self.words.iter().map(quoted).collect::<Vec<_>>().join(" "));
        text
    }
}

/// Every file and folder below `folder`, with its content.
fn listing(folder: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(listing(&path));
        }
        all.insert(path.display().to_string(), fs::read(&path).ok());
    }
    all
}

macro_rules! cases {
    ($($name:ident: $case:expr;)*) => {
        $(
            #[test]
            fn $name() {
                $case.check(stringify!($name));
            }
        )*
    };
}

// The command itself.
cases! {
    command_unknown: case("fly", "'fly'");
    command_near: case("rnu", "'rnu'").in_full();
    flag_unknown: case("run --lod 0.3", "'--lod'").in_full();
    flag_without_value: case("run --load", "'--load <X>'");
    flag_twice: case("run --load 0.1 --load 0.2", "'--load <X>'").in_full();
    argument_too_many: case("run e.toml f.toml", "'f.toml'").file("e.toml", "").file("f.toml", "");
    format_unknown: case("run --format xml", "--format");
    color_unknown: case("run --color sometimes", "--color");
    list_unknown: case("list animals", "`animals`").in_full();
    explain_unknown: case("explain tours", "`tours`").in_full();
    output_in_use: case("run --cycles 10 -o full", "-o full").file("full/result.json", "precious\n").in_full();
    output_is_a_file: case("run --cycles 10 -o file", "-o file").file("file", "precious\n");
    output_unwritable: case("run --cycles 10 -o file/results", "-o file/results").file("file", "precious\n");
    output_empty: case("run --cycles 10 -o", "--output <DIR>").word("");
}

// Experiment files and the environment.
cases! {
    file_missing: case("run nope.toml", "nope.toml").in_full();
    file_is_a_topology: case("run torus:8x8", "--topology torus:8x8");
    topology_is_a_file: case("run --topology net.txt", "--topology graph:net.txt");
    file_is_a_folder: case("run folder", "folder").file("folder/", "");
    file_not_text: case("run e.toml", "e.toml").file("e.toml", b"load = \xff\n");
    file_is_a_trace: case("run t.trc", "t.trc").file("t.trc", "s 0 1 0 8\n");
    file_not_toml: experiment("vcs = 3\nload = = 3\n", "e.toml:2:8").in_full();
    file_open_string: experiment("topology = \"torus:4x4\n", "e.toml:1:22");
    file_key_twice: experiment("load = 0.3\nload = 0.4\n", "e.toml:2:1");
    file_key_unknown: experiment("vcs = 2\nlaod = 0.5\n", "e.toml:2:1").in_full();
    file_section: experiment("[network]\nvcs = 2\n", "e.toml:1:2");
    file_wrong_type: experiment("load = \"high\"\n", "e.toml:1:8").in_full();
    file_fraction: experiment("vcs = 2.5\n", "e.toml:1:7");
    file_negative: experiment("vcs = -1\n", "e.toml:1:7");
    file_list: experiment("load = [0.1, 0.2]\n", "e.toml:1:8");
    file_date: experiment("load = 2024-01-01\n", "e.toml:1:8");
    file_nan: experiment("load = nan\n", "e.toml:1:8");
    file_huge_number: experiment("packet = 99999999999999999999999999999999999999999\n", "e.toml:1:10");
    file_seed_beyond: experiment("seed = 18446744073709551615\n", "e.toml:1:8");
    file_switch: experiment("strict = \"yes\"\n", "e.toml:1:10");
    file_switch_without_default: experiment("link-loads = \"yes\"\n", "e.toml:1:14");
    file_size_zero: experiment("topology = \"torus:16x0\"\n", "e.toml:1:12");
    file_too_few_vcs: experiment("# routing is the default\nvcs = 1\n", "e.toml:2:7");
    file_queue_below_bubble: experiment("queue = 1\n", "e.toml:1:9");
    file_kernel: experiment("kernel = \"bintre\"\n", "e.toml:1:10");
    file_trace_missing: experiment("trace = \"nope.trc\"\n", "e.toml:1:9");
    variable_not_a_number: case("run", "FSIN_LOAD").variable("FSIN_LOAD", "abc");
    variable_out_of_range: case("run", "FSIN_INJECTION_QUEUE").variable("FSIN_INJECTION_QUEUE", "0").in_full();
    variable_switch: case("run", "FSIN_STRICT").variable("FSIN_STRICT", "maybe");
}

// The network.
cases! {
    topology_unknown: case("run --topology tours:8x8", "--topology");
    topology_size_zero: case("run --topology torus:16x0", "--topology");
    topology_no_sizes: case("run --topology torus:", "--topology");
    topology_words: case("run --topology torus:4xfour", "--topology");
    topology_negative: case("run --topology torus:4x-4", "--topology");
    topology_33_dimensions: case("run --topology torus:2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2", "--topology").in_full();
    topology_too_many_nodes: case("run --topology torus:32767x32767x32767", "--topology");
    ways_of_a_mesh: case("run --topology mesh:8x8 --ways 1", "--ways");
    ways_3: case("run --ways 3", "--ways");
    vcs_0: case("run --vcs 0", "--vcs");
    vcs_too_few: case("run --vcs 1 --routing bubble:smart", "--vcs").in_full();
    vcs_1000: case("run --vcs 1000", "--vcs");
    routing_unknown: case("run --routing bubble:smrt", "--routing").in_full();
    order_unknown: case("run --order up", "--order");
    arbitration_unknown: case("run --arbitration coin", "--arbitration");
    packet_0: case("run --packet 0", "--packet");
    packet_huge: case("run --packet 100000000", "--packet");
    packet_beyond_any_integer: case("run --packet 99999999999999999999", "--packet");
    queue_0: case("run --queue 0", "--queue");
    queue_negative: case("run --queue -4", "--queue");
    bubble_beyond_queue: case("run --bubble 5 --queue 4", "--bubble");
    injectors_too_many: case("run --injectors 65", "--injectors");
    priority_not_a_probability: case("run --in-transit-priority 1.5", "--in-transit-priority");
    too_many_queues: case("run --topology torus:2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2 --vcs 32", "--topology");
}

// Synthetic traffic.
cases! {
    load_list: case("run --load 0.1,0.2", "fsin sweep --load 0.1,0.2 -o DIR").in_full();
    load_range: case("run --load 0.1..0.5/5", "fsin sweep --load 0.1..0.5/5 -o DIR");
    routing_list: case("run --routing bubble:smart,dally:trc", "fsin sweep --routing bubble:smart,dally:trc -o DIR");
    topology_list: case("run --topology torus:4x4,mesh:4x4", "fsin sweep --topology torus:4x4 --topology mesh:4x4 -o DIR");
    topology_list_of_a_sweep: case("sweep --topology torus:4x4,mesh:4x4 --load 0.1,0.2 -o r", "--topology torus:4x4 --topology mesh:4x4");
    explain_nothing_near: case("explain qwertyuiop", "fsin list");
    load_not_a_number: case("run --load 0,5", "--load");
    load_nan: case("run --load nan", "--load");
    load_infinite: case("run --load inf", "--load");
    load_negative: case("run --load -1", "--load");
    load_one_and_a_half_messages: case("run --load 24 --packet 16", "--load").in_full();
    load_huge: case("run --load 1e300", "--load");
    traffic_near_name: case("run --traffic unifrom", "`uniform`");
    traffic_empty: case("run --traffic", "--traffic").word("");
    traffic_open_bracket: case("run --traffic hotspot(0.1", "--traffic").in_full();
    traffic_not_a_power_of_two: case("run --traffic transpose --topology torus:60", "--traffic").in_full();
    traffic_node_out_of_range: case("run --traffic hotspot(0.1,99)", "--traffic");
    traffic_share_out_of_range: case("run --traffic hotspot(2,0)", "--traffic");
    temporal_unknown: case("run --temporal poison", "--temporal");
    size_malformed: case("run --size constant(", "--size");
}

// Run control.
cases! {
    cycles_0: case("run --cycles 0", "--cycles");
    cycles_beyond_any_integer: case("run --cycles 99999999999999999999999", "--cycles");
    cycles_with_warmup: case("run --cycles 100 --warmup 5", "--warmup");
    samples_0: case("run --samples 0", "--samples");
    samples_too_long: case("run --samples 100000 --sample-size 100000000000000000", "--samples");
    threads_2: case("run --engine reference --threads 2", "--threads").in_full();
    threads_2_of_wormhole: case("run --network wormhole --engine reference --threads 2", "--threads");
    network_without_settings_behind_its_colon: case("run --network myrinet:", "no setting follows the colon");
    link_rate_of_a_model_with_bandwidth: case("run --link-rate 10Gb/s", "use --bandwidth");
    message_classes_of_unequal_size: case("run --network wormhole --vcs 3 --message-classes 2", "--message-classes");
    message_classes_with_too_few_vcs: case("run --network wormhole --vcs 2 --message-classes 2", "use --vcs 4");
    engine_unknown: case("run --engine warp", "--engine");
    seed_a_word: case("run --seed abc", "--seed");
    seed_negative: case("run --seed -1", "--seed");
    seed_beyond_a_file: case("run --seed 9223372036854775808", "--seed");
    watchdog_0: case("run --watchdog 0", "--watchdog");
    max_cycles_without_tasks: case("run --max-cycles 100", "--max-cycles");
    network_deadlock: case(
        "run --bubble 0 --routing bubble:oblivious --vcs 1 --topology torus:8x8 --load 1 --cycles 100000 --format json",
        "waits for room in node",
    ).in_full();
}

// Kernels and options of tasks.
cases! {
    kernel_unknown: case("run --kernel all2all", "--kernel");
    kernel_parameter_unknown: case("run --kernel all-to-all:task=4", "`task`");
    kernel_parameter_a_word: case("run --kernel all-to-all:tasks=many", "`many`");
    kernel_no_tasks: case("run --kernel all-to-all:tasks=0", "--kernel");
    kernel_more_tasks_than_nodes: case("run --kernel all-to-all:tasks=100", "100 tasks").in_full();
    kernel_more_tasks_than_shared_nodes: case("run --kernel all-to-all:tasks=256 --tasks-per-node 2", "256 tasks");
    mix_more_tasks_than_nodes: case("run --topology torus:4x4 --job-mix mix.toml", "needs 100 nodes")
        .file("mix.toml", "[[job]]\nkernel = \"all-to-all:tasks=100\"\n");
    mix_of_kernels_reads_no_traces: case("run --topology torus:4x4 --job-mix mix.toml --flop-rate 1Gflop/s", "--flop-rate")
        .file("mix.toml", "[[job]]\nkernel = \"all-to-all:tasks=4\"\n");
    mix_of_one_format: case("run --topology torus:4x4 --job-mix mix.toml --flop-rate 1Gflop/s", "--flop-rate")
        .file("mix.toml", "[[job]]\ntrace = \"a.trc\"\n").file("a.trc", "s 0 1 64 0\nr 1 0 64 0\n");
    mix_without_collectives: case("run --topology torus:4x4 --job-mix mix.toml --collectives allreduce=ring", "--collectives")
        .file("mix.toml", "[[job]]\ntrace = \"a.trc\"\n").file("a.trc", "s 0 1 64 0\nr 1 0 64 0\n");
    mix_that_arrives_too_late: case("run --topology torus:4x4 --job-mix mix.toml", "mix.toml:3")
        .file("mix.toml", "[[job]]\nkernel = \"all-to-all:tasks=4\"\narrival = 9000000000000000000\n");
    ideal_without_collectives: case("run --trace a.trc --network ideal --collectives allreduce=ring", "--collectives")
        .file("a.trc", "s 0 1 64 0\nr 1 0 64 0\n");
    legacy_switch: case("legacy topo=torus_4_4 strict=maybe", "`strict`");
    goal_label_unknown: case("run --trace g.goal", "g.goal:4")
        .file("g.goal", "num_ranks 1\nrank 0 {\nl3: calc 5\nl3 requires l99\n}\n");
    goal_label_twice: case("run --trace g.goal", "g.goal:4")
        .file("g.goal", "num_ranks 1\nrank 0 {\nl3: calc 5\nl3: calc 6\n}\n");
    goal_circle: case("run --trace g.goal", "g.goal")
        .file("g.goal", "num_ranks 1\nrank 0 {\nl1: calc 5\nl2: calc 6\nl1 requires l2\nl2 requires l1\n}\n").in_full();
    kernel_not_a_power_of_two: case("run --kernel butterfly:tasks=12", "--kernel");
    kernel_absurd_iterations: case("run --kernel all-to-all:tasks=4,iterations=99999999999", "iterations");
    kernel_absurd_bytes: case("run --kernel all-to-all:tasks=4,bytes=1e99", "bytes");
    kernel_with_flop_rate: case("run --kernel bintree --flop-rate 1Gflop/s", "--flop-rate");
    kernel_with_compute: case("run --kernel bintree --compute 0", "--compute");
    kernel_with_cycles: case("run --kernel bintree --cycles 100", "--cycles");
    trace_with_load: case("run --trace a.trc --load 0.3", "--load");
    trace_with_kernel: case("run --trace a.trc --kernel bintree", "--kernel");
    bandwidth_without_unit: case("run --kernel bintree --bandwidth 10", "--bandwidth");
    bandwidth_zero: case("run --kernel bintree --bandwidth 0Gb/s", "--bandwidth");
    bandwidth_without_tasks: case("run --bandwidth 10Gb/s", "--bandwidth");
    flop_rate_a_word: case("run --trace a.trc --flop-rate fast", "--flop-rate").file("a.trc", "c 0 1\n");
    flop_rate_of_a_trc: case("run --trace a.trc --flop-rate 1Gflop/s", "--flop-rate says how simgrid-ti is read").file("a.trc", "c 0 1\n");
    dragonfly_parameter_twice: case("topology dragonfly:p=2,p=3,a=4,h=2", "`p` stands twice");
    random_graph_parameter_twice: case("topology rrg:s=16,d=4,d=3,p=2", "`d` stands twice");
    skew_twice: case("topology twisted:4x4:yx=1,yx=2", "`yx` stands twice");
    graph_parameter_twice: case("topology graph:net.txt,endpoints=1,endpoints=2", "`endpoints` stands twice").file("net.txt", "a b\n");
    switch_delay_twice: case("serve --network switch:delay=1us,delay=2us,nodes=2", "`delay` stands twice");
    hosts_parameter_twice: case("run --trace a.goal --hosts o=1,o=2", "`o` stands twice").file("a.goal", "num_ranks 1\nrank 0 {\n}\n");
    hosts_of_programs: case("run --trace a.trc --hosts engines=2", "--hosts").file("a.trc", "c 0 1\n").in_full();
    eager_of_a_graph: case("run --trace a.goal --eager 100", "--eager").file("a.goal", "num_ranks 1\nrank 0 {\nl1: calc 5\n}\n");
    trace_unit_of_a_graph: case("run --trace a.goal --network ideal --trace-unit us", "--trace-unit says how fsin-trc is read").file("a.goal", "num_ranks 1\nrank 0 {\nl1: calc 5\n}\n");
    compute_negative: case("run --trace a.trc --compute -1", "--compute").file("a.trc", "c 0 1\n");
    placement_shift_too_far: case("run --kernel bintree --placement shift:99", "--placement");
    placement_file_missing: case("run --kernel bintree --placement file:nope.txt", "--placement");
    placement_file_of_words: case("run --kernel bintree --placement file:w.txt", "line 2").file("w.txt", "0 1\n2 x\n");
    placement_unknown: case("run --kernel bintree --placement nonsense", "--placement");
    recv_order_unknown: case("run --trace a.trc --recv-order backwards", "--recv-order").file("a.trc", "c 0 1\n");
}

// Trace files in general.
cases! {
    trace_missing: case("run --trace nope.trc", "--trace nope.trc");
    trace_empty: trc("", "a.trc");
    trace_of_comments: trc("# nothing\n\n", "a.trc");
    trace_truncated_archive: case("run --trace cut.tar.xz", "cut.tar.xz#two/a.trc")
        .file("cut.tar.xz", include_bytes!("bad_input/cut.tar.xz")).in_full();
    trace_error_in_archive: case("run --trace letter.tar.xz", "letter.tar.xz#pair.txt:2")
        .file("letter.tar.xz", include_bytes!("bad_input/letter.tar.xz"));
    trace_no_such_member: case("run --trace letter.tar.xz#par.txt", "letter.tar.xz")
        .file("letter.tar.xz", include_bytes!("bad_input/letter.tar.xz"));
    trace_gzip_cut_short: case("run --trace a.trc.gz", "damaged or truncated gzip")
        .file("a.trc.gz", &include_bytes!("bad_input/trace.trc.gz")[..20]);
    trace_garbage: case("run --trace a.trc", "a.trc").file("a.trc", b"\x00\x01\xfe\xff\x80garbage\x07\x1b[31m\n").in_full();
    trace_prose: trc("Once upon a time\n", "a.trc");
    trace_empty_folder: case("run --trace folder", "folder").file("folder/", "");
    file_is_a_binary_trace: case("run a.trg", "--trace a.trg").file("a.trg", b"\x00\x01\xfe\xff");
    trace_folder_of_archives: case("run --trace folder", "letter.tar.xz")
        .file("folder/letter.tar.xz", include_bytes!("bad_input/letter.tar.xz"))
        .file("folder/a.trc.zst", b"\x28\xB5\x2F\xFD\0\0\0\0");
    trace_folder_of_packed: case("run --trace folder", "unzstd folder/a.trc.zst")
        .file("folder/a.trc.zst", b"\x28\xB5\x2F\xFD\0\0\0\0")
        .file("folder/README", "nothing\n").in_full();
}

// FSIN .trc.
cases! {
    trc_letter_in_number: trc("c 0 100\ns 0 1 5 1x\n", "a.trc:2");
    trc_field_missing: trc("s 0 1 5 64\nr 0 1 5\n", "a.trc:2");
    trc_field_too_many: trc("s 0 1 5 64 99\n", "a.trc:1");
    trc_task_negative: trc("s -1 1 5 64\n", "a.trc:1");
    trc_task_huge: trc("s 0 999999999 5 64\n", "a.trc:1");
    trc_size_huge: trc("s 0 1 5 99999999999999999999999999\n", "a.trc:1");
    trc_duration_negative: trc("c 0 -5\n", "a.trc:1");
    trc_record_unknown: trc("c 0 5\nx 0 1 5 64\n", "a.trc:2");
    trc_more_tasks_than_nodes: trc("s 0 99 0 64\nr 0 99 0 64\n", "100 tasks").in_full();
    trc_unmatched_receive: trc("s 0 1 0 64\nr 0 1 0 64\nr 0 1 7 64\n", "task 1").in_full();
    trc_cycle_of_receives: case("run --trace a.trc --recv-order src-dst --format json", "task 0")
        .file("a.trc", "r 1 0 0 64\ns 0 1 0 64\nr 0 1 0 64\ns 1 0 0 64\n");
    trc_sends_that_wait_for_each_other: case(
        "run --trace a.trc --topology torus:2 --recv-order src-dst --eager 0 --format json",
        "task 1 to receive its message with tag 0",
    )
        .file("a.trc", "s 0 1 0 64\nr 1 0 0 64\ns 1 0 0 64\nr 0 1 0 64\n").in_full();
}

// SimGrid TI.
cases! {
    ti_action_unknown: ti("0 init\n0 comput 5\n0 finalize\n", "1 init\n1 finalize\n", "r0:2");
    ti_number: ti("0 init\n0 compute many\n0 finalize\n", "1 init\n1 finalize\n", "r0:2");
    ti_argument_missing: ti("0 init\n0 send 1\n0 finalize\n", "1 init\n1 finalize\n", "r0:2");
    ti_wrong_rank: ti("0 init\n0 finalize\n", "0 init\n0 finalize\n", "r1:1");
    ti_rank_beyond: ti("0 init\n0 send 7 0 5\n0 finalize\n", "1 init\n1 finalize\n", "r0:2");
    ti_datatype: ti("0 init\n0 send 1 0 5 99\n0 finalize\n", "1 init\n1 finalize\n", "r0:2");
    ti_rank_file_missing: case("run --trace index", "index:2").file("index", "r0\nr1\n").file("r0", "0 init\n0 finalize\n");
    ti_collectives_differ: ti("0 init\n0 barrier\n0 finalize\n", "1 init\n1 bcast 5\n1 finalize\n", "r1:2").in_full();
    ti_collective_missing: ti("0 init\n0 barrier\n0 finalize\n", "1 init\n1 finalize\n", "rank 1");
    ti_receives_from_itself: ti("0 init\n0 recv 0 0 5\n0 send 0 0 5\n0 finalize\n", "1 init\n1 finalize\n", "task 0");
    ti_unmatched_receive: ti("0 init\n0 recv 1 0 5\n0 finalize\n", "1 init\n1 finalize\n", "task 0");
}

// Sums, phases, shots, background traffic.
cases! {
    sum_unknown_term: case("run --traffic uniform+unifrom", "`unifrom`");
    sum_unfinished: case("run --traffic uniform+", "found the end");
    phase_without_length: case("run --traffic", "--traffic").word("uniform then tornado");
    phase_of_nothing: case("run --traffic uniform@0", "--traffic");
    source_unknown_key: case("run --traffic source(uniform,laod=0.1)", "`laod`");
    load_that_nobody_uses: case("run --load 0.2 --traffic source(uniform,load=0.1)+source(tornado,load=0.1)", "--load");
    load_that_cannot_be_raised: case("saturation --traffic source(uniform,load=0.9)", "no load that could be raised");
    loads_that_nobody_uses: case("sweep e.toml --dry-run", "same experiment")
        .file("e.toml", "traffic = \"source(uniform,load=0.1)\"\nload = [0.1, 0.2]\n");
    mix_of_a_typing_error: case("run --traffic mix(0.9:uniform,0.1:hotpsot(0.5,0))", "`hotpsot`");
    compose_of_draws: case("run --traffic compose(shuffle,uniform)", "`uniform`");
    map_that_does_not_divide: case("run --traffic map(block:7,uniform)", "`7`");
    pattern_file_missing: case("run --traffic matrix(nope.txt)", "nope.txt");
    pattern_file_not_numbers: case("run --topology torus:2x2 --traffic histogram(h.txt)", "h.txt, line 2").file("h.txt", "1 2\none two\n");
    pattern_file_beside_the_experiment: experiment("traffic = \"matrix(nope.txt)\"\n", "e.toml:1:11");
    process_parameters_missing: case("run --temporal markov(2)", "p10");
    process_beyond_its_rate: case("run --temporal markov(9,0.1) --load 2", "--temporal");
    reactions_without_end: case("run --temporal reactive(0.5,1,4)", "without end");
    size_law_negative: case("run --size polynomial(1,-1;1,8)", "--size");
    shot_with_load: case("run --shot 4 --load 0.2", "--load");
    shot_with_temporal: case("run --shot 4 --temporal poisson", "--temporal");
    shot_with_cycles: case("run --shot 4 --cycles 100", "--cycles");
    shot_with_warmup: case("run --shot 4 --warmup 100", "--warmup");
    shot_of_nothing: case("run --shot 0", "--shot");
    shots_of_a_sum: case("run --shot 4 --traffic uniform+tornado", "--shot");
    samples_none: case("run --shot 4 --samples 0", "--samples");
    limit_of_steady_traffic: case("run --max-cycles 100", "--max-cycles");
    background_without_application: case("run --temporal background(0.1)", "`background`");
    background_without_idle_nodes: case("run --kernel bintree --temporal background(0.1)", "--temporal");
    kernel_with_a_pattern: case("run --kernel bintree --traffic tornado", "--traffic");
    kernel_with_a_process: case("run --kernel bintree --temporal poisson", "--temporal");
    kernel_with_shots: case("run --kernel bintree --shot 3", "--shot");
    traffic_format_unknown: case("traffic --format xml", "--format");
    explain_a_pattern_with_errors: case("explain unifrom(3)", "`unifrom(3)`");
}
