//! Small answers: what is refused names what does it, what is asked by name is explained, and numbers have six digits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tests::command::{fsin, interrupt, run};

/// What a command says on stderr, in one line.
fn told(output: &std::process::Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ")
}

#[test]
fn a_routing_that_a_model_lacks_is_refused_with_the_models_that_have_it() {
    for (network, routing, topology, others) in [
        ("vct", "west-first", "mesh:5x4", "wormhole"),
        ("vct", "odd-even", "mesh:3x3", "wormhole"),
        ("vct", "romm", "mesh:4x7", "wormhole"),
        ("wormhole", "dal", "hyperx:3x4:2", "vct carries it"),
        ("myrinet", "adaptive", "fattree:2,3", "wormhole"),
        ("myrinet", "oblivious", "fattree:2,3", "wormhole"),
    ] {
        let output = run(
            Path::new("."),
            &format!("run --network {network} --routing {routing} --topology {topology} --cycles 10"),
        );
        let text = told(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(&format!("is no routing of {network} in {topology}; ")), "{text}");
        assert!(text.contains(others), "{text}");
    }
    // Names of nothing have the nearest ones.
    let text = told(&run(Path::new("."), "run --network vct --routing bubble:smrat --topology mesh:5x4 --cycles 10"));
    assert!(text.contains("did you mean `bubble:smart`"), "{text}");
}

/// `adaptive` and `X:adaptive` are one routing in every network of `vct`.
#[test]
fn names_with_their_network_in_front_mean_the_same() {
    let digest = |topology: &str, routing: &str| -> Value {
        let line =
            format!("run --topology {topology} --routing {routing} --vcs 4 --cycles 3000 --load 0.4 --format json -q");
        let output = run(Path::new("."), &line);
        assert!(output.status.success(), "{line}: {}", told(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["digest"].clone()
    };
    for (topology, name) in
        [("hyperx:3x4:2", "hyperx"), ("fattree:3,2", "tree"), ("icube:3x5:2", "cube"), ("cmesh:3x4:2", "cmesh")]
    {
        assert_eq!(digest(topology, "adaptive"), digest(topology, &format!("{name}:adaptive")), "{topology}");
    }
    assert_eq!(digest("hyperx:3x4:2", "dal"), digest("hyperx:3x4:2", "hyperx:dal"));
    assert_ne!(digest("hyperx:3x4:2", "dal"), digest("hyperx:3x4:2", "adaptive"));
}

/// A random shortest path for each packet: two spines carry half of the packets each, whatever the queues, in both models and
/// with both engines alike.
#[test]
fn oblivious_draws_among_the_shortest_paths_of_each_packet() {
    let folder = tempfile::tempdir().unwrap();
    // Each node has an endpoint; a and b are 0 and 2, with c and d between them.
    fs::write(folder.path().join("g.txt"), "a c\nc b\na d\nd b\n").unwrap();
    fs::write(folder.path().join("flows.csv"), "src,dst,bytes,start\n0,2,640000,0\n").unwrap();
    for network in ["vct", "wormhole"] {
        let mut digests = Vec::new();
        for engine in ["fast", "reference"] {
            let line = format!(
                "run --network {network} --topology graph:g.txt --routing oblivious --vcs 4 --flows flows.csv --link-loads --engine {engine} \
                 --format json -q"
            );
            let output = run(folder.path(), &line);
            assert!(output.status.success(), "{line}: {}", told(&output));
            let found: Value = serde_json::from_slice(&output.stdout).unwrap();
            let packets: Vec<u64> = found["link_packets"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|ports| ports.as_array().unwrap())
                .filter_map(Value::as_u64)
                .filter(|&packets| packets > 0)
                .collect();
            let all = *packets.iter().max().unwrap();
            let through: Vec<u64> = packets.iter().copied().filter(|&packets| packets < all).collect();
            assert_eq!((through.len(), through.iter().sum::<u64>()), (4, 2 * all), "{network}: {packets:?}");
            // Of so many draws the standard deviation is half their root.
            let deviation = (all as f64).sqrt() / 2.0;
            for &count in &through {
                assert!((count as f64 - all as f64 / 2.0).abs() < 4.0 * deviation, "{network}: {packets:?}");
            }
            digests.push(found["digest"].clone());
        }
        assert_eq!(digests[0], digests[1], "{network}");
    }
    let text =
        told(&run(folder.path(), "run --network flow --topology graph:g.txt --routing oblivious --flows flows.csv"));
    assert!(text.contains("--paths spray"), "{text}");
    let text = told(&run(
        folder.path(),
        "run --network ethernet --topology graph:g.txt --routing oblivious --flows flows.csv",
    ));
    assert!(text.contains("--spread round-robin"), "{text}");
}

#[test]
fn unknown_flags_name_what_is_meant_or_nothing() {
    for (flag, meant) in [("--json", "--format json"), ("--csv", "--format csv"), ("--jsonl", "--format jsonl")] {
        let text = told(&run(Path::new("."), &format!("run {flag}")));
        assert!(text.contains(meant) && !text.contains("--xon"), "{flag}: {text}");
    }
    for (words, meant) in [("run --svg", "fsin top"), ("pack r --json", "fsin")] {
        let text = told(&run(Path::new("."), words));
        assert!(!text.contains("is what this means"), "{words}: {text}");
        assert!(text.contains(meant), "{words}: {text}");
    }
    let text = told(&run(Path::new("."), "run --topolgy torus:4x4"));
    assert!(text.contains("--topology"), "{text}");
    let text = told(&run(Path::new("."), "run --qqqqqq"));
    assert!(!text.contains("similar"), "{text}");
}

#[test]
fn settings_and_figures_are_explained() {
    for (name, words) in [
        ("trim", &["trim  (setting)", "network models: ethernet", "--trim"][..]),
        ("max-cycles", &["max-cycles  (setting)", "FSIN_MAX_CYCLES"]),
        ("max_cycles", &["max-cycles  (setting)"]),
        ("seeds", &["seeds  (setting)"]),
        ("latency_mean_cycles", &["latency_mean_cycles  (figure of results)", "(cycles)"]),
    ] {
        let output = run(Path::new("."), &format!("explain {name}"));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && words.iter().all(|word| text.contains(word)),
            "{name}: {text}{}",
            told(&output)
        );
    }
    let output = run(Path::new("."), "explain trim --format json");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["kind"], &found["network_models"][0]), (&"setting".into(), &"ethernet".into()));
    assert_eq!(run(Path::new("."), "explain nothing-of-this-name").status.code(), Some(2));
}

#[test]
fn energies_have_six_digits() {
    for (cycles, load) in [(10, 0.01), (2000, 0.3)] {
        let line = format!("run --topology torus:4x4 --load {load} --cycles {cycles} --energy events:fabric-400g -q");
        let output = run(Path::new("."), &line);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let energy =
            text.lines().find(|line| line.starts_with("energy, estimated")).unwrap_or_else(|| panic!("{text}"));
        let number = energy.split_whitespace().nth(2).unwrap();
        let digits = number.split('e').next().unwrap().trim_start_matches(['0', '.']).matches(char::is_numeric).count();
        assert!((1..=6).contains(&digits), "{energy}");
        let exact: Value =
            serde_json::from_slice(&run(Path::new("."), &format!("{line} --format json")).stdout).unwrap();
        let (number, exact) = (number.parse::<f64>().unwrap(), exact["energy_joules"].as_f64().unwrap());
        assert!(exact > 0.0 && (number / exact - 1.0).abs() < 5.1e-6, "{energy}: {exact}");
    }
}

/// A parcel is unpacked below TMPDIR while it is run again, and gone when a second Ctrl-C ends that. The messages of the
/// list all begin at once, so that the network runs ten thousand cycles at a stretch, and the first one is obeyed late: the
/// second one comes while the parcel is still there.
#[cfg(unix)]
#[test]
fn a_second_interrupt_leaves_no_parcel() {
    const NODES: usize = 4096;
    let folder = tempfile::tempdir().unwrap();
    let flows = (0..NODES).map(|from| format!("{from},{},6000,0\n", (from + NODES / 2 + 32 + from % 7) % NODES));
    let list = format!("source,destination,bytes,start\n{}", flows.collect::<String>());
    fs::write(folder.path().join("flows.csv"), list).unwrap();
    let output = run(folder.path(), "run --topology torus:64x64 --flows flows.csv -q -o r");
    assert!(output.status.success(), "{}", told(&output));
    assert!(run(folder.path(), "pack r -q").status.success());
    let scratch = folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    // The run may end between the two.
    let is_caught = (0..5).any(|_| {
        let mut command: Command = fsin(folder.path());
        command.args(["rerun", "r.tar.xz"]).env("TMPDIR", &scratch).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        interrupt(&child, Duration::ZERO);
        // Says that it stops, and goes on until the network returns.
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = said.find(|line| line.as_ref().is_ok_and(|line| line.contains("again to stop at once")));
        let was_there = fs::read_dir(&scratch).unwrap().count();
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        let status = child.wait().unwrap();
        assert_eq!((fs::read_dir(&scratch).unwrap().count(), status.code()), (0, Some(130)));
        first.is_some() && was_there == 1
    });
    assert!(is_caught, "the parcel was there when it was interrupted");
}
