//! Every available real trace, on a network of each kind: it completes, or is rejected with a reason.
//!
//! `cargo test -p tests --release --test command shared_traces:: -- --ignored --nocapture` prints a table.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::command::fsin;
use tests::shared::{aloud, shared_dir, skipped};
use trgen::trace::formats::{Application, Fault, ReadOptions, open};

/// Number of nodes, and the network of that size.
type Sizes = [(usize, &'static str); 4];

/// Kinds of networks, each with its routing.
const NETWORKS: [(&str, &str, Sizes); 2] = [
    ("torus", "bubble:smart", [(4, "torus:2x2"), (16, "torus:4x4"), (64, "torus:8x8"), (1024, "torus:32x32")]),
    (
        "fat tree",
        "tree:adaptive",
        [(4, "fattree:2,2"), (16, "fattree:4,2"), (64, "fattree:4,3"), (1024, "fattree:4,5")],
    ),
];

/// Archives that hold no trace of a supported format, with the reason reported.
const REFUSED: &[(&str, &str)] = &[
    ("chakra_et_feeder_test", "no trace in it"),
    ("simai_llm_workload_9216gpu", "no trace in it"),
    ("sstdumpi_dumpi_4_ranks_with_ascii", "DUMPI"),
    ("sstmacro_dumpi_7_and_4_ranks", "DUMPI"),
    ("src/schedgen/simple", "was not created by a split or dup"),
    ("tests/network/binomialtreebcast_128_1024.bin", "operation type 0"),
];

/// Files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The traces of a file: itself, or the members of an archive.
fn traces(file: &Path) -> Vec<String> {
    let whole = file.display().to_string();
    match open(file, &ReadOptions::default()).map_err(|error| *error.fault) {
        Err(Fault::SeveralTraces { choices, .. }) => choices.iter().map(|choice| format!("{whole}#{choice}")).collect(),
        _ => vec![whole],
    }
}

/// The archives of OTF2 in a tar file as text, if their tool is available.
fn printed(file: &Path, into: &Path) -> Vec<PathBuf> {
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let folder = into.join(&name);
    std::fs::create_dir(&folder).unwrap();
    assert!(Command::new("tar").arg("xf").arg(file).arg("-C").arg(&folder).status().unwrap().success());
    let anchors = files(&folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "otf2"));
    let mut texts = Vec::new();
    for (number, anchor) in anchors.enumerate() {
        let Ok(output) = Command::new("otf2-print").arg("-A").arg(anchor).output() else {
            skipped(&format!("{name}: no otf2-print on this machine (Debian: otf2-tools)"));
            break;
        };
        let text = into.join(format!("{name}-{number}.txt"));
        std::fs::write(&text, output.stdout).unwrap();
        texts.push(text);
    }
    texts
}

fn tasks(application: &Application) -> usize {
    match application {
        Application::Programs(trace) => trace.program.tasks.len(),
        Application::Graphs(trace) => trace.graph.ranks().len(),
        Application::Chakra(trace) => trace.trace.ranks.len(),
    }
}

/// Completion \[cycles\] of a trace on a network, by the command.
fn replay(trace: &str, network: &str, routing: &str) -> u64 {
    let output = fsin(Path::new("/"))
        .args(["run", "--trace", trace, "--topology", network, "--routing", routing, "--format", "json", "--quiet"])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{trace} on {network}: {error}");
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["packets_in_flight"], 0, "{trace} on {network}");
    assert_eq!(result["packets_generated"], result["packets_received"], "{trace} on {network}");
    result["completion_cycles"].as_u64().unwrap()
}

#[test]
#[ignore = "all real traces: minutes"]
fn every_real_trace_ends_or_is_refused_with_a_reason() {
    let Some(shared) = shared_dir().filter(|shared| shared.join("traces").is_dir()) else {
        skipped("no folder `shared` with traces beside the workspace");
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let mut inputs: Vec<PathBuf> = files(&shared.join("goal"));
    inputs.extend(files(&shared.join("traces")));
    inputs.retain(|path| path.extension().is_some_and(|end| end == "goal" || end == "xz"));
    let mut table = String::new();
    let (mut ended, mut refused) = (0, 0);
    for input in inputs {
        let otf2 = input.to_string_lossy().contains("otf2");
        let files = if otf2 { printed(&input, scratch.path()) } else { vec![input] };
        for trace in files.iter().flat_map(|file| traces(file)) {
            let name = trace.rsplit('/').next().unwrap();
            match open(Path::new(&trace), &ReadOptions::default()) {
                Err(error) => {
                    refused += 1;
                    let expected = REFUSED.iter().any(|(file, reason)| {
                        trace.contains(file)
                            && (error.to_string() + &error.remedy().unwrap_or_default().to_string()).contains(reason)
                    });
                    let _ = writeln!(table, "| {name} | refused: {} |", error.fault);
                    assert!(expected, "{trace}: {error}");
                }
                Ok(application) => {
                    ended += 1;
                    let tasks = tasks(&application);
                    let cycles = NETWORKS.iter().map(|(kind, routing, sizes)| {
                        let fit = sizes.iter().find(|(nodes, _)| *nodes >= tasks);
                        let (_, network) = fit.unwrap_or_else(|| panic!("no {kind} of {tasks} nodes for {trace}"));
                        format!("{network} {}", replay(&trace, network, routing))
                    });
                    let cycles: Vec<String> = cycles.collect();
                    let _ = writeln!(table, "| {name} | {tasks} | {} |", cycles.join(" | "));
                }
            }
        }
    }
    aloud(&format!("{table}{ended} ended, {refused} refused\n"));
    assert!(ended > 40, "{ended} traces");
}

/// The end of every rank of a training step over ideal links, from the command, to the ns.
#[test]
fn a_chakra_trace_ends_when_its_table_says() {
    let (Some(table), Some(trace)) = (
        tests::shared::shared_file("reference/fabrics-chakra-astra.csv"),
        tests::shared::shared_file("traces/chakra/stage_llama_8ranks.tar.xz"),
    ) else {
        return;
    };
    for line in std::fs::read_to_string(table).unwrap().lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        // GiB/s in Gb/s.
        let rate = fields[4].parse::<f64>().unwrap() * (1_u64 << 30) as f64 * 8.0 / 1e9;
        let network = format!("constant-delay:delay={}ns,rate={rate}Gb/s,links=pair,nodes=8", fields[5]);
        let (peak, memory) = (format!("{}Tflop/s", fields[7]), format!("{}GB/s", fields[8]));
        let mut command = fsin(Path::new("/"));
        command.args([
            "run",
            "--trace",
            trace.to_str().unwrap(),
            "--network",
            &network,
            "--hosts",
            "least=1ns,group-delay=10ns",
        ]);
        command.args(["--memory-bandwidth", &memory, "--format", "json", "--quiet"]);
        if fields[6] == "1" {
            command.args(["--peak", &peak]);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let ends: Vec<String> = result["per_task"]
            .as_array()
            .unwrap()
            .iter()
            // The first cycle is number 1 and begins at 0.
            .map(|task| (task["finished_cycle"].as_u64().unwrap() - 1).to_string())
            .collect();
        assert_eq!(ends.join(";"), fields[9], "{line}");
    }
}

/// Dependencies of control in a recording of Python are those of calls, and are refused with what helps.
#[test]
fn a_recording_of_python_runs_by_its_data() {
    let Some(archive) = tests::shared::shared_file("traces/chakra/pytorch_rank0.tar.gz") else { return };
    let folder = tempfile::tempdir().unwrap();
    let unpacked = std::process::Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(folder.path()).status();
    assert!(unpacked.unwrap().success());
    let run = |hosts: &[&str]| {
        let line = ["run", "--trace", "tests/data/chakra.0.et", "--network", "zero:nodes=2", "--format", "json"];
        fsin(folder.path()).args(line).args(hosts).output().unwrap()
    };
    let refused = run(&[]);
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(
        refused.status.code() == Some(2) && error.contains("(ctrl_deps)") && error.contains("deps=data"),
        "{error}"
    );
    let output = run(&["--hosts", "deps=data"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
