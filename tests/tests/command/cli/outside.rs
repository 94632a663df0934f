//! Crates outside the workspace, built as a stranger builds them, have the whole command with their own components.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tests::command::{binary, fsin, run};
use tests::shared::workspace;

use super::{done, folder, text};

/// The profiles of the workspace, so that crates of others are not compiled again; ours, which are, without optimisation.
fn profiles() -> String {
    let root: toml::Table = fs::read_to_string(workspace().join("Cargo.toml")).unwrap().parse().unwrap();
    let mut profiles = root["profile"].as_table().unwrap().clone();
    let members = root["workspace"]["members"].as_array().unwrap().iter().map(|member| member.as_str().unwrap());
    let names = members.map(|member| {
        let path = workspace().join(member).join("Cargo.toml");
        let manifest: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
        manifest["package"]["name"].as_str().unwrap().to_owned()
    });
    for name in names {
        for profile in ["dev", "release"] {
            let table = profiles[profile].as_table_mut().unwrap();
            let packages = table.entry("package").or_insert_with(|| toml::Table::new().into()).as_table_mut().unwrap();
            packages.insert(name.clone(), "opt-level = 0\ncodegen-units = 16\n".parse::<toml::Table>().unwrap().into());
        }
    }
    toml::Table::from_iter([("profile".to_owned(), profiles.into())]).to_string()
}

/// Builds the crate of this name from a copy outside the workspace. Returns its program.
fn built(name: &str) -> PathBuf {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let profile = binary().parent().unwrap().to_owned();
    let target = profile.parent().unwrap().to_owned();
    let own = workspace().join("examples/crates").join(name);
    let copy = target.join("outside").join(name);
    fs::create_dir_all(copy.join("src")).unwrap();
    let manifest = fs::read_to_string(own.join("Cargo.toml")).unwrap();
    let manifest = manifest.replace("../../..", &workspace().display().to_string());
    let main = fs::read_to_string(own.join("src/main.rs")).unwrap();
    assert!(main.lines().count() < 60, "{name} has {} lines", main.lines().count());
    // The versions of the workspace: nothing is downloaded.
    let lock = fs::read_to_string(workspace().join("Cargo.lock")).unwrap();
    let files = [("Cargo.toml", manifest), ("src/main.rs", main), ("Cargo.lock", lock), ("profiles.toml", profiles())];
    for (file, contents) in files {
        let path = copy.join(file);
        // What is unchanged stays as it is, so that it is not built again.
        if fs::read_to_string(&path).is_ok_and(|old| old == contents) {
            continue;
        }
        fs::write(path, contents).unwrap();
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut build = Command::new(cargo);
    build.args(["build", "--offline", "--quiet", "--manifest-path"]).arg(copy.join("Cargo.toml"));
    build.arg("--config").arg(copy.join("profiles.toml")).arg("--target-dir").arg(&target);
    let named = profile.file_name().and_then(|name| name.to_str()).unwrap();
    build.args(["--profile", if named == "debug" { "dev" } else { named }]);
    // The settings of cargo for this package are not those of another one.
    for (variable, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_")) {
        build.env_remove(variable);
    }
    let output = build.current_dir(workspace()).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    profile.join(format!("fsin-{name}"))
}

/// Runs a program in a folder with the words of a line, as a test runs `fsin`.
fn run_of(program: &Path, folder: &Path, line: &str) -> std::process::Output {
    let mut command = Command::new(program);
    for (name, value) in fsin(folder).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.args(line.split_whitespace()).current_dir(folder).output().unwrap()
}

#[test]
fn crates_outside_the_workspace_have_the_whole_command() {
    let control =
        "--network ethernet --transport roce --cc aimd:step=20 --ecn step:30kB --topology star:4 --frames roce";
    let transport = "--network ethernet --forwarding static --transport fixed:window=64 --topology star:4";
    // Crate, kind, name, the settings with which it runs, and for how many cycles.
    let crates = [
        ("source", "temporal", "tide", "--temporal tide(500)", 5000),
        ("network", "networks", "crossbar", "--network crossbar --topology torus:4x4", 5000),
        ("routing", "routings", "yx", "--network wormhole --topology mesh:4x4 --routing yx", 5000),
        ("control", "congestion-controls", "aimd", control, 50_000_000_000_u64),
        ("transport", "transports", "fixed", transport, 50_000_000_000),
    ];
    for (name, kind, component, words, cycles) in crates {
        let program = built(name);
        let folder = folder();
        let said = |line: &str| text(&run_of(&program, folder.path(), line));
        let figures = |line: &str| serde_json::from_str::<Value>(&said(line)).unwrap();
        let one = figures(&format!("run {words} --load 0.2 --cycles {cycles} --format json"));
        let accepted = one["accepted_load_phits_per_node_cycle"].as_f64().unwrap();
        assert!((accepted - 0.2).abs() < 0.03, "{name}: {one}");
        // An experiment file, and worker processes, know it too.
        fs::write(folder.path().join("e.toml"), said(&format!("config {words}"))).unwrap();
        let again = figures(&format!("run e.toml --load 0.2 --cycles {cycles} --format json"));
        assert_eq!(again["digest"], one["digest"]);
        let short = cycles / 10;
        said(&format!("sweep {words} --load 0.1,0.2 --cycles {short} --jobs 2 -o swept -q"));
        assert!(folder.path().join("swept/results.csv").exists());
        let commands = said(&format!("sweep {words} --load 0.1,0.2 --cycles {short} --backend commands -o listed -q"));
        assert!(commands.lines().count() == 2 && commands.contains(&format!("fsin-{name} point")), "{commands}");
        said("plot swept");
        said("rerun swept");
        assert!(said(&format!("list {kind}")).lines().any(|line| line.starts_with(component)));
        assert!(said(&format!("explain {component}")).starts_with(&format!("{component}  ({kind})\n")));
        let completions = said("generate completions bash");
        assert!(completions.contains(component) && completions.contains(&format!(" fsin-{name}\n")), "{completions}");
        // A routing is carried by every model that can carry it.
        let others = [("vct", "5000"), ("flow", "100000000"), ("myrinet", "100000000")];
        for (network, cycles) in others.into_iter().filter(|_| name == "routing") {
            let line = format!("run --network {network} --topology mesh:4x4 --routing {component} --cycles {cycles}");
            let hops = figures(&format!("{line} --load 0.2 --format json"))["hops_mean"].as_f64().unwrap();
            assert!(hops > 2.0, "{network}: {hops} hops");
        }
        // It is not the command of everybody.
        let refused = run(folder.path(), &format!("run {words} --cycles 100"));
        assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
        done(&run(folder.path(), "run --cycles 100"));
    }
}

/// An algorithm of collectives of one's own runs under every door but a live program, which `live/mpi_kinds.rs` runs.
#[test]
fn an_algorithm_of_collectives_outside_the_workspace_runs_everywhere() {
    let program = built("collective");
    let folder = folder();
    let said = |line: &str| text(&run_of(&program, folder.path(), line));
    let figures = |line: &str| serde_json::from_str::<Value>(&said(&format!("{line} --format json"))).unwrap();
    assert!(said("list collectives").lines().any(|line| line.starts_with("star")));
    assert!(said("explain star").contains("all-reduce: rank 0 sums all vectors"));
    let network = "--topology star:6 --network flow";
    let by_key = figures(&format!("run --kernel all-reduce:algorithm=star,bytes=60000 {network}"));
    let by_flag = figures(&format!("run --kernel allreduce:bytes=60000 --collectives all-reduce=star {network}"));
    assert_eq!(by_key["digest"], by_flag["digest"]);
    assert_eq!(by_key["collectives"][0]["algorithm"], "star");
    let chunks = figures(&format!("run --kernel all-reduce:algorithm=star,bytes=60000,chunks=4 {network}"));
    assert!(chunks["cycles"].as_u64().unwrap() < by_key["cycles"].as_u64().unwrap());
    let calls: String =
        (0..6).map(|rank| format!("{rank} init\n{rank} allreduce 60000 0 6\n{rank} finalize\n")).collect();
    fs::write(folder.path().join("calls.ti"), calls).unwrap();
    let traced = figures(&format!("run --trace calls.ti --collectives all-reduce=star {network}"));
    assert_eq!(traced["packets_received"], by_key["packets_received"]);
    let refused = run(folder.path(), &format!("run --trace calls.ti --collectives all-reduce=star {network}"));
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_program_with_the_library_alone_has_the_figures_of_the_command() {
    let program = built("library");
    let folder = folder();
    let printed = text(&run_of(&program, folder.path(), ""));
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 3, "{printed}");
    for (line, load) in lines.into_iter().zip(["0.1", "0.2", "0.3"]) {
        let words = format!("run --topology torus:8x8 --traffic transpose --load {load} --format json");
        let figures: Value = serde_json::from_str(&text(&run(folder.path(), &words))).unwrap();
        assert_eq!(line, format!("{load} {:.3}", figures["latency_mean_cycles"].as_f64().unwrap()));
    }
}

/// A format of networks from outside, beside the same network as a list of links.
#[test]
fn a_format_of_a_program_is_listed_explained_and_read() {
    let (program, folder) = (built("format"), folder());
    let said = |line: &str| text(&run_of(&program, folder.path(), line));
    assert!(said("list network-formats").lines().any(|line| line.starts_with("racks ")));
    assert!(said("explain racks").starts_with("racks  (network-formats)\n"));
    let racks = [("r1", 4, "s1 s2"), ("r2", 3, "s1 s2"), ("r3", 2, "s2")];
    let (mut own, mut list) = ("racks\n".to_owned(), String::new());
    for (rack, hosts, above) in racks {
        own += &format!("{rack} {hosts} {above}\n");
        list += &format!("{rack} kind switch endpoints 0\n");
        (0..hosts).for_each(|host| list += &format!("{rack}.{host} kind host\n{rack}.{host} {rack}\n"));
        let switch = |switch: &str| format!("{switch} kind switch endpoints 0\n{rack} {switch}\n");
        list.extend(above.split(' ').map(switch));
    }
    fs::write(folder.path().join("racks.txt"), own).unwrap();
    fs::write(folder.path().join("links.txt"), list).unwrap();
    fs::write(folder.path().join("wrong.txt"), "racks\nr1 many\n").unwrap();
    let found: Value = serde_json::from_str(&said("topology graph:racks.txt --format json")).unwrap();
    assert_eq!((&found["nodes"], &found["described"]["format"]), (&9.into(), &"a list of racks".into()), "{found}");
    let digest = |said: String| serde_json::from_str::<Value>(&said).unwrap()["digest"].clone();
    let line = |file: &str| format!("run --topology graph:{file} --load 0.3 --cycles 3000 --format json");
    let theirs = digest(text(&run(folder.path(), &line("links.txt"))));
    assert_eq!(digest(said(&line("racks.txt"))), theirs);
    assert_eq!(digest(said(&line("links.txt"))), theirs);
    let refused = run_of(&program, folder.path(), &line("wrong.txt"));
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && error.contains("a list of racks: line 2, column 4"), "{error}");
    // It is not the command of everybody.
    assert_eq!(run(folder.path(), &line("racks.txt")).status.code(), Some(2));
}

/// Runs the program with the transport `fixed` on a list of flows, on both engines, which must agree.
fn fixed(program: &Path, folder: &Path, flows: &str, words: &str) -> Value {
    fs::write(folder.join("flows.csv"), format!("src,dst,bytes,start\n{flows}")).unwrap();
    let line = format!(
        "run --network ethernet --forwarding static --flows flows.csv --completion acked --message-stats --format json {words}"
    );
    let of = |engine: &str| {
        let said = text(&run_of(program, folder, &format!("{line} --engine {engine}")));
        serde_json::from_str::<Value>(&said).unwrap()
    };
    let (fast, reference) = (of("fast"), of("reference"));
    assert_eq!(fast["digest"], reference["digest"], "{words}");
    assert_eq!(fast["messages_unfinished"], 0, "{words}");
    fast
}

/// A flow alone over a switch: frame k of a window w leaves when the one before has left, and frame k - w is answered.
#[test]
fn a_transport_of_a_program_has_the_times_of_its_formula() {
    let (program, folder) = (built("transport"), folder());
    // \[ps\] A byte, and the delay of a link.
    for (rate, byte, delay) in [("100Gb/s", 80, 1_000_000), ("25Gb/s", 320, 300_000), ("400Gb/s", 20, 1_000_000_000)] {
        let (frame, answer) = (4_150 * byte, 64 * byte);
        let round_trip = 2 * (frame + answer) + 4 * delay;
        for (frames, window) in [(1, 16), (7, 1), (30, 7), (97, 13), (512, 10_000)] {
            let flow = format!("0,1,{},0\n", frames * 4_086);
            let words = format!(
                "--topology star:3 --link-rate {rate} --propagation {delay}ps --transport fixed:window={window}"
            );
            let found = fixed(&program, folder.path(), &flow, &words);
            let last = frames - 1;
            let sent = if window * frame >= round_trip {
                last * frame
            } else {
                last / window * round_trip + last % window * frame
            };
            assert_eq!(found["message_completion_max_cycles"].as_u64(), Some(sent + round_trip), "{words}: {frames}");
        }
    }
}

/// Frames that are trimmed or dropped are sent again, and nothing else is.
#[test]
fn a_transport_of_a_program_repeats_what_switches_cut_or_drop() {
    let (program, folder) = (built("transport"), folder());
    let flows: String = (1..8).map(|source| format!("{source},0,500000,0\n")).collect();
    let count = |found: &Value, figure: &str| {
        let figures = found["model_figures"].as_array().unwrap();
        figures.iter().find(|one| one["name"] == figure).unwrap()["value"].as_f64().unwrap() as u64
    };
    for (trim, balancer) in [("coin", "mixed"), ("arriving", "oblivious:paths=16"), ("off", "reps")] {
        let words = format!(
            "--topology star:8 --link-rate 100Gb/s --propagation 1us --port-queue 50kB --trim {trim} --entropy {balancer} \
             --transport fixed:window=24"
        );
        let found = fixed(&program, folder.path(), &flows, &words);
        let [trimmed, dropped, again, negative, late] =
            ["frames_trimmed", "frames_dropped", "retransmissions", "negative_acknowledgements", "timeouts"]
                .map(|figure| count(&found, figure));
        let lost = if trim == "off" { dropped } else { trimmed };
        assert!(lost > 0 && (dropped == 0 || trim == "off") && (late > 0) == (trim == "off"), "{words}: {found}");
        assert_eq!((again, negative), (lost, trimmed), "{words}");
        // The link of the receiver carries every frame: 7 x 123, of which the last of each has 5 652 bytes less.
        let least = 7 * (500_000 + 123 * 64) * 80;
        assert!(found["message_completion_max_cycles"].as_u64() > Some(least), "{words}");
    }
}
