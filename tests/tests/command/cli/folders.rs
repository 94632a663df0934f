//! Outputs and inputs of a run: result folders, manifests, input files.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tests::command::{fsin, run};

use super::{done, figures, folder, json, number, positive_integer, text};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_folder_keeps_what_is_needed_to_run_it_again() {
    let folder = folder();
    let trace = "c 0 100\ns 0 1 5 256\nr 0 1 5 256\n";
    fs::write(folder.path().join("pair.trc"), trace).unwrap();
    let output = run(folder.path(), "run --trace pair.trc --topology torus:4 --format json -o results/one");
    done(&output);
    let printed = figures(&output);
    let kept = folder.path().join("results/one");
    let names: BTreeSet<String> =
        fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["SHA256SUMS", "experiment.toml", "manifest.json", "result.json"].map(String::from).into());
    let read = |name: &str| fs::read(kept.join(name)).unwrap();
    let result: Map<String, Value> = serde_json::from_slice(&read("result.json")).unwrap();
    assert_eq!(result, printed);
    let manifest: Map<String, Value> = serde_json::from_slice(&read("manifest.json")).unwrap();
    assert_eq!(Value::Object(manifest.clone()), printed["manifest"]);

    for name in ["version", "commit", "target", "host"] {
        assert!(manifest[name].as_str().is_some_and(|word| !word.is_empty()), "{name}");
    }
    assert_eq!(manifest["experiment_sha256"], sha256(&read("experiment.toml")));
    assert_eq!(manifest["seeds"], serde_json::json!([1]));
    assert_eq!(manifest["command"].as_array().unwrap()[1..4], ["run", "--trace", "pair.trc"].map(Value::from));
    assert!(manifest["start"].as_str().unwrap() <= manifest["end"].as_str().unwrap());
    assert!(number(&manifest["cpu_seconds"]));
    assert!(manifest["peak_memory_bytes"].is_null() || positive_integer(&manifest["peak_memory_bytes"]));
    let inputs = manifest["inputs"].as_array().unwrap();
    assert_eq!(inputs.len(), 1);
    assert!(inputs[0]["path"].as_str().unwrap().ends_with("pair.trc"));
    assert_eq!(inputs[0]["bytes"], trace.len());
    assert_eq!(inputs[0]["sha256"], sha256(trace.as_bytes()));

    let elsewhere = tempfile::tempdir().unwrap();
    let again = json(elsewhere.path(), &format!("run {}", kept.join("experiment.toml").display()));
    assert_eq!(again["digest"], result["digest"]);
    assert_eq!(again["manifest"]["experiment_sha256"], manifest["experiment_sha256"]);

    let beside: Vec<_> = fs::read_dir(folder.path().join("results")).unwrap().collect();
    assert_eq!(beside.len(), 1, "nothing temporary is left");
}

#[test]
fn an_empty_folder_may_be_filled() {
    let folder = folder();
    fs::create_dir(folder.path().join("empty")).unwrap();
    done(&run(folder.path(), "run --cycles 10 -o empty/"));
    assert!(folder.path().join("empty/result.json").is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_stdout_does_not_cost_the_folder() {
    let folder = folder();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = fsin(folder.path()).args(["run", "--cycles", "10", "-o", "kept"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stdout"));
    assert!(folder.path().join("kept/result.json").is_file());
}

/// A trace is read more than once: a pipe would be empty the second time, a device may be endless.
#[cfg(target_os = "linux")]
#[test]
fn traces_are_files() {
    let folder = folder();
    for path in ["/dev/zero", "/dev/null"] {
        let output = run(folder.path(), &format!("run --trace {path}"));
        assert_eq!(output.status.code(), Some(2), "{path}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains(path) && stderr.contains("write it to a file first"), "{stderr}");
    }
}

#[test]
fn files_of_patterns_are_beside_the_experiment_and_in_the_manifest() {
    let folder = folder();
    let rows = ["0 1 1 1", "1 0 0 0", "1 0 0 0", "1 0 0 0"];
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("sub/m.txt"), rows.join("\n")).unwrap();
    fs::write(folder.path().join("sub/e.toml"), "topology = 'torus:2x2'\ntraffic = 'mix(1:matrix(m.txt))'\n").unwrap();
    let from_file = json(folder.path(), "run sub/e.toml --cycles 2000");
    let input = &from_file["manifest"]["inputs"][0];
    assert_eq!(input["sha256"], format!("{:x}", Sha256::digest(rows.join("\n"))));
    let by_flag = json(folder.path(), "run --topology torus:2x2 --traffic mix(1:matrix(sub/m.txt)) --cycles 2000");
    assert_eq!(by_flag["digest"], from_file["digest"]);
    // The resolved experiment runs from anywhere.
    let resolved = text(&run(folder.path(), "config sub/e.toml --cycles 2000"));
    let elsewhere = self::folder();
    fs::write(elsewhere.path().join("r.toml"), resolved).unwrap();
    assert_eq!(json(elsewhere.path(), "run r.toml")["digest"], from_file["digest"]);
}

#[test]
fn a_trace_in_folders_of_folders_is_in_the_manifest() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("t/ranks")).unwrap();
    fs::write(folder.path().join("t/index"), "ranks/r0\nranks/r1\n").unwrap();
    fs::write(folder.path().join("t/ranks/r0"), "0 init\n0 send 1 0 64\n0 finalize\n").unwrap();
    fs::write(folder.path().join("t/ranks/r1"), "1 init\n1 recv 0 0 64\n1 finalize\n").unwrap();
    let figures = json(folder.path(), "run --topology torus:4 --trace t");
    assert_eq!(figures["manifest"]["inputs"].as_array().unwrap().len(), 3);
}
