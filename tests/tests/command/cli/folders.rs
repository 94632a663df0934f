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
    assert_eq!(
        names,
        ["SHA256SUMS", "experiment.toml", "inputs", "manifest.json", "result.json"].map(String::from).into()
    );
    let read = |name: &str| fs::read(kept.join(name)).unwrap();
    let result: Map<String, Value> = serde_json::from_slice(&read("result.json")).unwrap();
    assert_eq!(result, printed);
    let manifest: Map<String, Value> = serde_json::from_slice(&read("manifest.json")).unwrap();
    assert_eq!(Value::Object(manifest.clone()), printed["manifest"]);

    for name in ["version", "commit", "target"] {
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

    let copy = kept.join(inputs[0]["path"].as_str().unwrap());
    assert_eq!(fs::read_to_string(&copy).unwrap(), trace, "the input is kept under its hash");
    assert!(copy.starts_with(kept.join("inputs").join(&sha256(trace.as_bytes())[..16])));
    // Nothing tells where and by whom it was made.
    let temporary = folder.path().display().to_string();
    for name in ["result.json", "manifest.json", "experiment.toml"] {
        assert!(!String::from_utf8(read(name)).unwrap().contains(&temporary), "{name}");
    }
    assert!(!manifest.contains_key("host"));

    let elsewhere = tempfile::tempdir().unwrap();
    let again = json(elsewhere.path(), &format!("run {}", kept.join("experiment.toml").display()));
    assert_eq!(again["digest"], result["digest"]);
    assert_eq!(again["manifest"]["experiment_sha256"], manifest["experiment_sha256"]);

    let beside: Vec<_> = fs::read_dir(folder.path().join("results")).unwrap().collect();
    assert_eq!(beside.len(), 1, "nothing temporary is left");
}

/// What every kind of input needs to be run again where the folder has been moved to, and the original is gone.
#[test]
fn folders_can_be_sent_with_every_kind_of_input() {
    let place = tempfile::tempdir().unwrap();
    let author = place.path().join("author");
    fs::create_dir_all(author.join("sub/ranks")).unwrap();
    let write = |name: &str, text: &str| fs::write(author.join(name), text).unwrap();
    write("net.txt", "A B\nB C\nC A\n");
    write("m.txt", "0 1 1 1\n1 0 0 0\n1 0 0 0\n1 0 0 0\n");
    write("pair.trc", "c 0 100\ns 0 1 5 256\nr 0 1 5 256\n");
    write("places.txt", "3\n2\n1\n0\n");
    write("flows.csv", "src,dst,bytes,start\n0,1,1000,0\n");
    write("fail.txt", "link:0-1@100\n");
    write("sub/index", "ranks/r0\nranks/r1\n");
    write("sub/ranks/r0", "0 init\n0 send 1 0 64\n0 finalize\n");
    write("sub/ranks/r1", "1 init\n1 recv 0 0 64\n1 finalize\n");
    write(
        "sub/jobs.toml",
        "[[job]]\nname = 'a'\ntrace = '../pair.trc'\n[[job]]\nname = 'b'\nkernel = 'all-to-all:tasks=2,bytes=64'\n",
    );
    let routes = run(&author, "routes --topology torus:4 --routing dor -o routes.csv");
    done(&routes);
    let cases = [
        "--topology graph:net.txt --load 0.1 --cycles 500",
        "--topology torus:2x2 --traffic mix(1:matrix(m.txt)) --cycles 500",
        "--topology torus:4 --trace pair.trc",
        "--topology torus:4 --trace sub/index",
        "--topology torus:4 --trace sub",
        "--topology torus:4 --trace pair.trc --placement file:places.txt",
        "--topology torus:4 --flows flows.csv",
        "--topology torus:4x4 --fail fail.txt --routing bubble:smart --cycles 500",
        "--topology torus:8 --job-mix sub/jobs.toml",
        "--network wormhole --topology torus:4 --routes routes.csv --vcs 2 --cycles 500",
    ];
    let mut digests = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let absolute = case.replace("--trace pair.trc", &format!("--trace {}", author.join("pair.trc").display()));
        done(&run(&author, &format!("run {absolute} -q -o run{number}")));
        let result: Value =
            serde_json::from_slice(&fs::read(author.join(format!("run{number}/result.json"))).unwrap()).unwrap();
        digests.push(result["digest"].clone());
        done(&run(&author, &format!("sweep {absolute} --seed 1,2 -q -o sweep{number}")));
    }
    let reader = place.path().join("reader");
    fs::create_dir(&reader).unwrap();
    for entry in fs::read_dir(&author).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with("run") || name.starts_with("sweep") {
            fs::rename(entry.path(), reader.join(name)).unwrap();
        }
    }
    fs::remove_dir_all(&author).unwrap();
    let named = author.display().to_string();
    for (number, case) in cases.iter().enumerate() {
        for kind in ["run", "sweep"] {
            let again = run(&reader, &format!("rerun {kind}{number}"));
            assert!(again.status.success(), "{case}: {}{}", text_of(&again.stdout), text_of(&again.stderr));
        }
        assert_eq!(json(&reader, &format!("run run{number}/experiment.toml"))["digest"], digests[number], "{case}");
        let points = fs::read_dir(reader.join(format!("sweep{number}/points"))).unwrap();
        for point in points.map(|point| point.unwrap().path()) {
            done(&run(&reader, &format!("run {}", point.join("experiment.toml").display())));
        }
        assert_eq!(mentions(&reader.join(format!("run{number}")), &named), [""; 0], "{case}");
        assert_eq!(mentions(&reader.join(format!("sweep{number}")), &named), [""; 0], "{case}");
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The files below a folder in which a text stands.
fn mentions(folder: &std::path::Path, text: &str) -> Vec<String> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = paths.flat_map(|path| match path.is_dir() {
        true => mentions(&path, text),
        false if text_of(&fs::read(&path).unwrap()).contains(text) => vec![path.display().to_string()],
        false => Vec::new(),
    });
    found.collect()
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
