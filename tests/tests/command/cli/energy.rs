//! `fsin energy`, and energy in results.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use tests::command::fsin;
use tests::shared::{aloud, shared_file};

use super::{figures, folder};

type Row = HashMap<String, String>;

/// The figures of a table, each with its digits.
fn rows(text: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.expect("a row of columns")).collect()
}

/// Counts of the reference, unpacked into a folder.
fn counts(into: &Path) -> Option<()> {
    let packed = shared_file("reference/noc-power-activity.jsonl.xz")?;
    let file = std::fs::File::create(into.join("counts.jsonl")).expect("a file");
    let done = Command::new("xz").arg("-dc").arg(packed).stdout(Stdio::from(file)).status().expect("xz starts");
    done.success().then_some(())
}

/// Every figure of the networks whose power BookSim has printed, to its six digits.
#[test]
fn powers_and_areas_are_those_of_booksim() {
    let folder = folder();
    let Some(table) = shared_file("reference/noc-power.csv") else { return };
    let Some(()) = counts(folder.path()) else { return };
    let expected = rows(&std::fs::read_to_string(table).expect("text"));
    let mut techs: Vec<&str> = expected.iter().map(|row| &*row["tech"]).collect();
    techs.sort_unstable();
    techs.dedup();
    let (mut right, mut wrong) = (0, Vec::new());
    for tech in techs {
        let file = shared_file(&format!("reference/noc-tech-{tech}")).expect("beside the table");
        let output = fsin(folder.path())
            .args(["energy", "counts.jsonl", "--format", "csv", "--energy"])
            .arg(format!("booksim:{}", file.display()))
            .output()
            .expect("fsin has just been built");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let found = rows(&String::from_utf8_lossy(&output.stdout));
        for theirs in expected.iter().filter(|row| row["tech"] == tech) {
            let same = |row: &&Row| row["case"] == theirs["case"] && row["subnet"] == theirs["subnet"];
            let ours = found.iter().find(same).expect("a row of the network");
            for (name, value) in theirs.iter().filter(|(name, _)| name.ends_with("_W") || name.ends_with("_mm2")) {
                if ours.get(name) == Some(value) {
                    right += 1;
                } else {
                    wrong.push(format!("{} {name}: {:?}, BookSim {value}", theirs["case"], ours.get(name)));
                }
            }
        }
    }
    aloud(&format!("energy of BookSim: {right} figures right, {} wrong\n", wrong.len()));
    assert!(wrong.is_empty() && right == 19 * expected.len(), "{}", wrong.join("\n"));
}

/// \[flits\] Of the case `dragon` of the reference, in its counts: read from buffers, and written into them.
const READS: f64 = 10_403.0;
const WRITES: f64 = 12_784.0;

/// Figures that do not depend on traffic, by runs here of the same configurations, to six digits; those that do, for
/// each flit, within 2 %.
#[test]
fn runs_have_the_energy_of_booksim() {
    let Some(table) = shared_file("reference/noc-power.csv") else { return };
    let expected = rows(&std::fs::read_to_string(table).expect("text"));
    let (mut still, mut moving, mut refused, mut known, mut wrong) = (0, 0, 0, 0, Vec::new());
    for row in &expected {
        // A tree of BookSim's own has no equal here.
        let case = &*row["case"];
        if case == "tree4" {
            refused += 1;
            continue;
        }
        let folder = folder();
        let tech = shared_file(&format!("reference/noc-tech-{}", row["tech"])).expect("beside the table");
        std::fs::copy(tech, folder.path().join("tech.txt")).expect("a file");
        let mut text: String = row["config"].split('|').map(|statement| format!("{statement};\n")).collect();
        text.push_str("sim_power = 1;\ntech_file = tech.txt;\n");
        std::fs::write(folder.path().join("case.cfg"), text).expect("a file");
        // BookSim gave up after 1 000 cycles, of which it counted all.
        let gave_up = case == "dragon";
        let length: &[&str] = match gave_up {
            true => &["--warmup", "0", "--samples", "1", "--sample-size", "1000"],
            false => &["--samples", "8", "--sample-size", "4000"],
        };
        let output = fsin(folder.path())
            .args(["run", "case.cfg", "--format", "json", "-q"])
            .args(length)
            .output()
            .expect("fsin has just been built");
        assert_eq!(output.status.code(), Some(0), "{case}: {}", String::from_utf8_lossy(&output.stderr));
        let figures = figures(&output);
        let energy = &figures["energy"];
        let theirs = |name: &str| row[name].parse::<f64>().expect("a number");
        let ours = |name: &str| energy[name].as_f64().unwrap_or(f64::NAN);
        for name in [
            "channel_clock_W",
            "channel_leakage_W",
            "input_leakage_W",
            "switch_leakage_W",
            "output_clock_W",
            "channel_area_mm2",
            "switch_area_mm2",
            "input_area_mm2",
            "output_area_mm2",
            "total_area_mm2",
        ] {
            if (ours(name) / theirs(name) - 1.0).abs() < 1e-5 {
                still += 1;
            } else {
                wrong.push(format!("{case} {name}: {}, BookSim {}", ours(name), row[name]));
            }
        }
        // BookSim counts its whole run, with the drain: powers are compared for each flit that is injected in a cycle.
        let nodes = figures["nodes"].as_f64().unwrap_or(f64::NAN);
        let load = figures["accepted_load_phits_per_node_cycle"].as_f64().unwrap_or(f64::NAN) * nodes;
        let their_load = theirs("flits_injected") / theirs("cycles");
        for name in [
            "channel_wire_W",
            "channel_retiming_W",
            "input_read_W",
            "input_write_W",
            "switch_W",
            "switch_control_W",
            "output_dff_W",
            "output_control_W",
        ] {
            let mut ratio = (ours(name) / load) / (theirs(name) / their_load);
            if gave_up {
                // Both count the same time. Flits that stand in buffers at its end have been written and not read: 10 403
                // of 12 784 were. Here both are counted when a flit leaves, and so are the links from nodes.
                ratio = ours(name) / theirs(name);
                match name {
                    "input_write_W" => ratio *= WRITES / READS,
                    "channel_retiming_W" => {
                        known += 1;
                        continue;
                    }
                    _ => {}
                }
            }
            if (ratio - 1.0).abs() < 0.02 {
                moving += 1;
            } else {
                wrong.push(format!("{case} {name}: {ratio:.4} of BookSim's for each flit"));
            }
        }
    }
    aloud(&format!(
        "energy of runs: {still} still and {moving} moving figures right, {known} known, {} wrong; {refused} networks refused\n",
        wrong.len()
    ));
    assert!(wrong.is_empty() && still > 0, "{}", wrong.join("\n"));
}

/// Without a run: the counts of a run give what the run gave.
#[test]
fn counts_give_the_energy_of_their_run() {
    let folder = folder();
    let run = |extra: &[&str]| {
        let output = fsin(folder.path())
            .args(["run", "--network", "wormhole", "--topology", "torus:5x3", "--load", "0.2", "--cycles", "3000"])
            .args(["--format", "json", "-q"])
            .args(extra)
            .output()
            .expect("fsin has just been built");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        figures(&output)
    };
    let figures = run(&["--energy", "booksim", "--event-counts", "counts.jsonl"]);
    let output = fsin(folder.path())
        .args(["energy", "counts.jsonl", "--energy", "booksim", "--format", "json"])
        .output()
        .expect("fsin has just been built");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let near = |one: &serde_json::Value, other: &serde_json::Value| {
        let (one, other) = (one.as_f64().unwrap_or(f64::NAN), other.as_f64().unwrap_or(f64::NAN));
        assert!((one / other - 1.0).abs() < 1e-9, "{one} {other}");
    };
    near(&found[0]["total_W"], &figures["energy"]["total_W"]);
    near(&found[0]["joules"], &figures["energy_joules"]);
    // Nothing that is simulated depends on it, and both engines count alike.
    let without = run(&[]);
    assert_eq!(without["digest"], figures["digest"]);
    assert!(without.get("energy").is_none());
    let reference = run(&["--energy", "booksim", "--engine", "reference"]);
    assert_eq!(reference["energy"], figures["energy"]);
}

/// Every model that counts bytes on links has joules, and as many as the table says.
#[test]
fn networks_of_every_model_have_joules() {
    let folder = folder();
    let table =
        "[link.default]\npj_per_bit = [5, 10, 20]\n[link.host]\npj_per_bit = 1\n[host.default]\npj_per_bit = 2\n";
    std::fs::write(folder.path().join("mine.toml"), table).expect("a file");
    // 4 nodes of two switches send 1 MB each to all others: every byte passes two links of hosts; two thirds also pass
    // a link between switches twice.
    for network in ["vct", "wormhole", "flow", "ethernet"] {
        let output = fsin(folder.path())
            .args([
                "run",
                "--network",
                network,
                "--topology",
                "fattree:2,2",
                "--kernel",
                "all-to-all:tasks=4,bytes=1048576",
            ])
            .args(["--energy", "events:mine.toml", "--format", "json", "-q"])
            .output()
            .expect("fsin has just been built");
        assert_eq!(output.status.code(), Some(0), "{network}: {}", String::from_utf8_lossy(&output.stderr));
        let figures = figures(&output);
        let bits = 4.0 * 3.0 * 1_048_576.0 * 8.0;
        let expected = bits * (2.0 * 1.0 + 2.0 / 3.0 * 2.0 * 10.0 + 2.0 * 2.0) * 1e-12;
        let joules = figures["energy_joules"].as_f64().unwrap_or(f64::NAN);
        // Ethernet's frames have headers, and gaps after them; others send what does not fill a packet.
        let bound = if network == "ethernet" { 0.12 } else { 0.02 };
        assert!((joules / expected - 1.0).abs() < bound, "{network}: {joules}, expected {expected}");
        assert!(figures["energy_joules_low"].as_f64() < figures["energy_joules"].as_f64());
        assert_eq!(figures["energy"]["is_estimate"], true);
    }
}

/// Static power is that of the links and ports that exist: the border of a mesh has no links, and ports of hosts are none
/// of switches.
#[test]
fn static_power_is_that_of_links_and_ports_that_exist() {
    let folder = folder();
    let table = "[link.default]\nstatic_mw = 1\n[router.default]\nstatic_mw_per_gbps = 1\n";
    std::fs::write(folder.path().join("static.toml"), table).expect("a file");
    let run = |network: &str, extra: &[&str]| {
        let rate = if ["vct", "wormhole"].contains(&network) { "--bandwidth" } else { "--link-rate" };
        let output = fsin(folder.path())
            .args(["run", "--network", network, rate, "10Gb/s", "--kernel", "all-to-all:bytes=4096"])
            .args(["--energy", "events:static.toml", "--format", "json", "-q"])
            .args(extra)
            .output()
            .expect("fsin has just been built");
        assert_eq!(output.status.code(), Some(0), "{network}: {}", String::from_utf8_lossy(&output.stderr));
        figures(&output)["energy"]["parts"].as_array().cloned().unwrap_or_default()
    };
    for network in ["vct", "wormhole", "flow", "ethernet"] {
        // Three rows of three links, and four columns of two, both ways.
        let parts = run(network, &["--topology", "mesh:4x3"]);
        let between = parts.iter().filter(|part| part["class"].as_str().is_some_and(|of| of.starts_with("dimension-")));
        assert_eq!(between.filter_map(|part| part["count"].as_u64()).sum::<u64>(), 34, "{network}: {parts:?}");
        // One switch with five ports of 10 Gb/s.
        let parts = run(network, &["--topology", "star:5"]);
        let routers = parts.iter().find(|part| part["part"] == "routers").and_then(|part| part["watts"].as_f64());
        assert!(routers.is_some_and(|watts| (watts / 0.05 - 1.0).abs() < 1e-9), "{network}: {parts:?}");
    }
}

/// A sweep of traffic has curves of power and of energy per bit, one of programs those of energy as well.
#[test]
fn energy_is_drawn_over_load_and_over_sizes() {
    let folder = folder();
    let mut words = vec!["--network", "wormhole", "--topology", "mesh:4x4", "--energy", "events:chip-32nm"];
    for (name, axis, wanted) in [
        ("load", &["--load", "0.1,0.2", "--cycles", "2000"][..], &["power", "energy-per-bit"][..]),
        (
            "bytes",
            &["--kernel", "all-to-all:bytes=512", "--kernel", "all-to-all:bytes=4096"],
            &["energy", "power", "energy-per-bit"],
        ),
    ] {
        words.truncate(6);
        words.extend(axis);
        let done = |command: &str, words: &[&str]| {
            let output = fsin(folder.path()).arg(command).args(words).output().expect("fsin has just been built");
            assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        };
        words.extend(["-q", "-o", name]);
        done("sweep", &words);
        done("plot", &[name, "-q"]);
        for kind in ["energy", "power", "energy-per-bit"] {
            let picture = folder.path().join(name).join("plots").join(kind);
            let is_there = picture.with_extension("svg").is_file() && picture.with_extension("csv").is_file();
            assert_eq!(is_there, wanted.contains(&kind), "{name}: {kind}");
        }
        let results = rows(&std::fs::read_to_string(folder.path().join(name).join("results.csv")).expect("results"));
        let drawn = std::fs::read_to_string(folder.path().join(name).join("plots/power.csv")).expect("data");
        assert!(results.len() == 2 && results.iter().all(|row| drawn.contains(&row["energy_watts"])), "{drawn}");
    }
}

/// The power file of Noxim, over a run and over its counts: leakages by the time and the number of parts, energies of
/// flits by the hops of packets of one flit. The time is that of the flags.
#[test]
fn the_power_file_of_noxim_is_read() {
    let folder = folder();
    let text = "Energy:\n  Buffer:\n    - [4, 32, 2e-3, 8e-13, 1e-13, 5e-13]\n  LinkBitLine:\n    - [1.5, 5e-7, 5e-14]\n  \
                Router:\n    crossbar:\n      - [5, 32, 7e-4, 2e-13] # of a mesh\n";
    std::fs::write(folder.path().join("power.yaml"), text).expect("a file");
    let words = ["--network", "wormhole", "--topology", "mesh:8x8", "--packet", "1", "--vcs", "2", "--load", "0.1"];
    let run = |extra: &[&str]| {
        let output = fsin(folder.path())
            .args(["run", "--cycles", "3000", "--energy", "noxim:power.yaml,mm=1.5", "--format", "json", "-q"])
            .args(words)
            .args(extra)
            .output()
            .expect("fsin has just been built");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), output.stdout)
    };
    let timed = ["--buffer", "4", "--phit-bytes", "4", "--bandwidth", "32Gb/s", "--event-counts", "counts.jsonl"];
    let (code, said, stdout) = run(&timed);
    assert_eq!(code, Some(0), "{said}");
    let figures: serde_json::Value = serde_json::from_slice(&stdout).expect("JSON");
    assert_eq!(
        (&figures["experiment"]["phit-bytes"], &figures["experiment"]["bandwidth"]),
        (&4.into(), &"32Gb/s".into())
    );
    let parts = figures["energy"]["parts"].as_array().expect("parts");
    let joules = |name: &str| parts.iter().find(|part| part["part"] == name).and_then(|part| part["joules"].as_f64());
    let number = |name: &str| figures[name].as_f64().expect("a number");
    // 3 000 cycles of 1 ns; 64 routers of 5 ports, 224 links.
    let seconds = 3e-6;
    for (name, expected) in [
        ("input_leakage", 64.0 * 5.0 * 2.0 * 2e-3 * seconds),
        ("switch_leakage", 64.0 * 7e-4 * seconds),
        ("channel_leakage", 224.0 * 32.0 * 5e-7 * seconds),
    ] {
        let found = joules(name).expect("a part");
        assert!((found / expected - 1.0).abs() < 1e-9, "{name}: {found}, by hand {expected}");
    }
    // A hop is counted when a flit is granted the switch, as the energy is; a packet crosses one router more.
    let (hops, packets) = (number("packet_hops"), number("packets_received"));
    for (name, expected) in [
        ("channel_wire", hops * 32.0 * 5e-14),
        ("switch", (hops + packets) * 2e-13),
        ("input_read", (hops + packets) * 6e-13),
        ("input_write", (hops + packets) * 8e-13),
    ] {
        let found = joules(name).expect("a part");
        assert!((found / expected - 1.0).abs() < 2e-3, "{name}: {found}, by hand {expected}");
    }
    let output = fsin(folder.path())
        .args(["energy", "counts.jsonl", "--energy", "noxim:power.yaml,mm=1.5", "--cycle", "1ns", "--format", "json"])
        .output()
        .expect("fsin has just been built");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let (one, other) = (found[0]["joules"].as_f64(), figures["energy_joules"].as_f64());
    assert!(one.zip(other).is_some_and(|(one, other)| (one / other - 1.0).abs() < 1e-9), "{one:?} {other:?}");
    // Buffers of another size are refused before the run. The comma is no list of values.
    let (code, said, _) = run(&["--buffer", "5", "--phit-bytes", "4"]);
    assert!(code == Some(2) && said.contains("5 flits x 32 bits") && said.contains("4 x 32 bits"), "{said}");
    assert!(!said.contains("sweep"), "{said}");
}

/// What cannot be estimated is refused before the run, with its place and remedy.
#[test]
fn what_has_no_energy_is_refused() {
    let folder = folder();
    for (name, text) in
        [("few.toml", "[link.global]\npj_per_bit = 1\n"), ("odd.toml", "[link.default]\npj_per_bat = 1\n")]
    {
        std::fs::File::create(folder.path().join(name))
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .expect("a file");
    }
    for (arguments, said) in [
        (&["run", "--energy", "booksim"][..], "wormhole"),
        (&["run", "--energy", "boksim"], "booksim"),
        (&["run", "--energy", "events:few.toml"], "[link.dimension-0]"),
        (&["run", "--energy", "events:odd.toml"], "pj_per_bat"),
        (&["run", "--energy", "events:no.toml"], "no.toml"),
        (&["run", "--energy", "events:fabric-40g"], "fabric-400g"),
        (&["run", "--network", "constant-delay:delay=1us", "--energy", "events:fabric-400g"], "topology"),
        (&["run", "--event-counts", "x.jsonl"], "wormhole"),
        (&["energy", "few.toml", "--energy", "booksim"], "line 1"),
    ] {
        let output = fsin(folder.path()).args(arguments).output().expect("fsin has just been built");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
}
