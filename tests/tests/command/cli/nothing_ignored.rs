//! What is given is used, refused or noted; and nothing that determines a result stands behind a name.

use std::fs;

use serde_json::Value;
use tests::command::{fsin, run};

use super::{done, folder, text};

/// What a command that must fail says.
fn refused(line: &str) -> String {
    let folder = folder();
    let output = run(folder.path(), line);
    assert_eq!(output.status.code(), Some(2), "{line}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_key_without_its_condition_is_refused_by_name_and_noted_in_a_file() {
    let ethernet = "--network ethernet --topology fattree:2,2";
    for (line, key, texts) in [
        (ethernet, "window 5000", ["--window", "without --transport window"]),
        (ethernet, "segment 500", ["--segment", "without --transport window"]),
        (ethernet, "rto-min 1ms", ["--rto-min", "without --transport window"]),
        (ethernet, "xoff 100", ["--xoff", "without --pause true"]),
        (ethernet, "ecmp true", ["--ecmp", "without --forwarding static"]),
        ("--network ethernet --forwarding static", "ageing 1s", ["--ageing", "without --forwarding learning"]),
        ("--network bus", "ways 1", ["--ways", "with --network bus"]),
        ("--network zero", "ways 1", ["--ways", "with --network zero"]),
        ("--network constant-delay", "ways 1", ["--ways", "with --network constant-delay"]),
        ("--topology torus:4x4", "phit-bytes 8", ["--phit-bytes", "with synthetic traffic"]),
        ("--topology torus:4x4 --shot 3", "phit-bytes 8", ["--phit-bytes", "with synthetic traffic"]),
        ("--topology torus:4x4 --max-conv-time 0", "conv-period 9", ["--conv-period", "with --max-conv-time 0"]),
        ("--topology torus:4x4 --kernel bintree", "strict true", ["--strict", "without --max-cycles"]),
        ("--topology torus:4x4 --routing dally:adaptive", "bubble 1", ["--bubble", "which needs none"]),
        ("--network wormhole --topology mesh:4x4", "vc-classes dateline", ["--vc-classes", "has no rings"]),
        ("--topology torus:8", "order dir", ["--order", "one dimension"]),
    ] {
        let (name, value) = key.split_once(' ').unwrap();
        let flag = if name == "strict" { "--strict".to_owned() } else { format!("--{key}") };
        for command in ["run", "sweep --dry-run", "config"] {
            let said = refused(&format!("{command} {line} {flag}"));
            let said = said.split(|c: char| c.is_whitespace() || c == '|').filter(|word| !word.is_empty());
            let said = said.collect::<Vec<_>>().join(" ");
            assert!(texts.iter().all(|text| said.contains(text)), "{command} {line} {flag}: {said}");
        }
        let folder = folder();
        let value = match value.parse::<u64>() {
            Ok(_) => value.to_owned(),
            Err(_) if name == "strict" => value.to_owned(),
            Err(_) => format!("\"{value}\""),
        };
        fs::write(folder.path().join("e.toml"), format!("{name} = {value}\n")).unwrap();
        let line = format!("sweep e.toml --dry-run {line}");
        let output = run(folder.path(), &line);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{line}: {stderr}");
        assert!(stderr.contains(&format!("sets `{name}`, which has no effect here")), "{line}: {stderr}");
    }
}

#[test]
fn a_preset_is_spelt_out() {
    let folder = folder();
    let config = text(&run(folder.path(), "config --network wormhole --preset booksim --buffer 16"));
    let parsed: toml::Table = config.parse().unwrap();
    for (key, value) in [("route-delay", "0"), ("speculative", "\"true\""), ("vc-allocator", "\"islip:1\"")] {
        assert_eq!(parsed[key].to_string(), value, "{config}");
        let line = config.lines().find(|line| line.starts_with(key)).unwrap();
        assert!(line.ends_with("# of the preset booksim"), "{line}");
    }
    let own = config.lines().find(|line| line.starts_with("buffer")).unwrap();
    assert_eq!(own, "buffer = 16");
    // The same run, with and without the name.
    let line = "run --network wormhole --topology mesh:4x4 --load 0.3 --cycles 2000 --format json";
    let with: Value = serde_json::from_str(&text(&run(folder.path(), &format!("{line} --preset booksim")))).unwrap();
    for key in ["vcs", "buffer", "traverse-delay", "speedup", "switch-hold", "wait-for-tail-credit"] {
        assert!(!with["experiment"][key].is_null(), "{key}");
    }
    let spelt = "--route-delay 0 --speculative true --vc-allocator islip:1 --switch-allocator islip:1";
    let without: Value = serde_json::from_str(&text(&run(folder.path(), &format!("{line} {spelt}")))).unwrap();
    assert_eq!(with["digest"], without["digest"]);
    let said = text(&run(folder.path(), "explain booksim"));
    for part in ["route-delay = 0", "not BookSim's default", "--speculative false", "--link-delay 2"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn words_of_every_model_explain_themselves() {
    let folder = folder();
    for name in
        ["booksim", "islip", "wavefront", "oldest-first", "dateline", "balanced", "oracle", "cut-through", "updown"]
    {
        let said = text(&run(folder.path(), &format!("explain {name}")));
        assert!(said.contains("source: "), "{name}: {said}");
    }
    let listed = text(&run(folder.path(), "list --format json"));
    let all: Value = serde_json::from_str(&listed).unwrap();
    let has = |family: &str, name: &str| {
        all.as_array().unwrap().iter().any(|one| one["family"] == family && one["name"] == name && one["about"] != "")
    };
    assert!(has("allocators", "islip") && has("routings", "updown") && has("traffic", "zipf"));
    let explained: Value = serde_json::from_str(&text(&run(folder.path(), "explain ethernet --format json"))).unwrap();
    let settings = explained[0]["settings"].as_array().unwrap();
    let recovery = settings.iter().find(|one| one["name"] == "transport").unwrap();
    assert!(recovery["values"].as_array().unwrap().contains(&Value::from("oracle")), "{recovery}");
    let preset: Value = serde_json::from_str(&text(&run(folder.path(), "explain booksim --format json"))).unwrap();
    assert_eq!(preset[0]["sets"]["route-delay"], "0");
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&run(folder.path(), &format!("generate completions {shell}")));
        for word in ["dragonfly", "bubble:smart", "tornado", "wavefront", "all-reduce-ring"] {
            assert!(script.replace('\\', "").contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn a_file_holds_a_whole_sweep_and_a_whole_search() {
    let folder = folder();
    let file = "topology = 'torus:4x4'\nload = [0.1, 0.2]\nrouting = ['bubble:smart', 'tree:adaptive']\nseeds = 2\n\
                skip-invalid = true\nstop-after = 1\ntolerance = 0.2\n";
    fs::write(folder.path().join("e.toml"), file).unwrap();
    let output = run(folder.path(), "sweep e.toml --dry-run");
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(text(&output).lines().count(), 4, "{stderr}");
    assert!(stderr.contains("`tolerance`, which has no effect here") && stderr.contains("left out"), "{stderr}");
    let flags = run(folder.path(), "sweep e.toml --dry-run --seeds 3");
    assert_eq!(text(&flags).lines().count(), 6, "flags override the file");
    let with = fsin(folder.path()).args(["sweep", "e.toml", "--dry-run"]).env("FSIN_SEEDS", "1").output().unwrap();
    assert_eq!(text(&with).lines().count(), 2, "variables override the file");
    let search = "saturation e.toml --samples 2 --sample-size 300 --warmup 300 --format json";
    let output = fsin(folder.path()).args(search.split(' ')).env("FSIN_SEEDS", "1").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && stderr.contains("`stop-after`, which has no effect here"), "{stderr}");
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok());
    fs::write(folder.path().join("one.toml"), "topology = 'torus:4x4'\nstop-after = 1\n").unwrap();
    let output = run(folder.path(), "run one.toml --cycles 100");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && stderr.contains("`stop-after`, which has no effect here"), "{stderr}");
    for (line, text) in [
        ("seeds = 0", "seeds"),
        ("stop-after = 'two'", "stop-after"),
        ("skip-invalid = 'yes'", "skip-invalid"),
        ("tolerance = 3", "tolerance"),
        ("seeds = [1, 2]", "seeds"),
    ] {
        fs::write(folder.path().join("bad.toml"), format!("{line}\n")).unwrap();
        let output = run(folder.path(), "saturation bad.toml");
        let output = if line.starts_with("stop") { run(folder.path(), "sweep bad.toml --dry-run") } else { output };
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(text), "{line}: {stderr}");
    }
}

#[test]
fn a_routing_meets_its_topologies_alone_by_flags_too() {
    let folder = folder();
    let line = "sweep --dry-run --topology torus:4x4 --topology fattree:4,2 --routing torus=bubble:smart,dally:trc --vcs 2 \
                --routing fattree=tree:adaptive";
    let points = text(&run(folder.path(), line));
    assert_eq!(points.lines().count(), 3, "{points}");
    assert!(points.contains("topology fattree:4,2, routing tree:adaptive"), "{points}");
}

#[test]
fn names_of_other_simulators_are_understood() {
    let folder = folder();
    let digest = |line: &str| {
        let output = text(&run(folder.path(), &format!("run --cycles 500 --format json {line}")));
        serde_json::from_str::<Value>(&output).unwrap()["digest"].clone()
    };
    for (theirs, ours) in [
        ("--traffic bitcomp", "--traffic complement"),
        ("--traffic bitrev", "--traffic reversal"),
        ("--traffic bit_reverse", "--traffic reversal"),
        ("--injection-rate 0.1", "--load 0.1"),
        ("--network wormhole --routing min_adapt --vcs 3", "--network wormhole --routing adaptive --vcs 3"),
        ("--network wormhole --routing dim_order", "--network wormhole --routing dor"),
        ("--routing min_adapt", "--routing bubble:adaptive"),
        ("--routing xy", "--routing bubble:oblivious"),
        (
            "--network wormhole --topology fattree:4,2 --routing graph:updown",
            "--network wormhole --topology fattree:4,2 --routing updown",
        ),
        ("--topology fattree:4,2 --routing updown", "--topology fattree:4,2 --routing graph:updown"),
    ] {
        assert_eq!(digest(theirs), digest(ours), "{theirs}");
    }
    let of_kernel = |name: &str| {
        let output = text(&run(folder.path(), &format!("run --format json --kernel {name}:bytes=64")));
        serde_json::from_str::<Value>(&output).unwrap()["digest"].clone()
    };
    assert_eq!(of_kernel("AllReduce"), of_kernel("all-reduce"));
    fs::write(folder.path().join("e.toml"), "injection-rate = 0.1\n").unwrap();
    assert_eq!(digest("e.toml"), digest("--load 0.1"));
}

#[test]
fn transpose_is_defined_on_every_square_grid() {
    let folder = folder();
    for side in [3, 5, 6] {
        let line = format!("traffic --topology torus:{side}x{side} --traffic transpose --load 1 --cycles 300");
        let lines = text(&run(folder.path(), &line));
        let mut count = 0;
        for line in lines.lines().skip(1) {
            let words: Vec<u32> = line.split(',').take(3).map(|word| word.parse().unwrap()).collect();
            let (from, to) = (words[1], words[2]);
            assert_eq!((from % side, from / side), (to / side, to % side), "{line}");
            count += 1;
        }
        assert!(count > 20, "{side}: {count}");
    }
}

#[test]
fn a_missing_folder_says_which_have_results_and_a_range_chooses_loads() {
    let folder = folder();
    done(&run(folder.path(), "sweep --topology torus:4x4 --load 0.1..0.4/4 --cycles 300 -q -o r"));
    for command in ["plot nodir", "report nodir", "compare nodir r"] {
        let output = run(folder.path(), command);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(stderr.contains("there is no folder nodir; results are in") && stderr.contains('r'), "{stderr}");
    }
    done(&run(folder.path(), "plot r --only load=0.15..0.3 -q -o p"));
    let data = fs::read_to_string(folder.path().join("p/latency.csv")).unwrap();
    assert!(data.contains("0.2") && data.contains("0.3") && !data.contains("0.1,") && !data.contains("0.4,"), "{data}");
    let none = run(folder.path(), "plot r --only load=0.5..0.9 -q -o q");
    assert_eq!(none.status.code(), Some(2));
}
