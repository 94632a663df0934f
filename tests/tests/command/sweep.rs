//! Sweeps: the results are byte-identical, however the points are run, in whatever order and with any interruptions.

#![allow(clippy::print_stdout, reason = "what was found is for who runs the tests")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::command::{fsin, run};

/// Points of some ten milliseconds each.
const SWEEP: &str = "sweep --topology torus:8x8 --routing bubble:smart,bubble:oblivious --load 0.1..1.0/10 --seeds 2 \
                     --warmup 500 --samples 5 --sample-size 500 --max-conv-time 2000";

#[track_caller]
fn code(output: &Output, expected: i32) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(expected), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[track_caller]
fn done(folder: &Path, line: &str) -> Output {
    let output = run(folder, line);
    code(&output, 0);
    output
}

/// The collected results, byte for byte.
fn results(folder: &Path) -> [Vec<u8>; 2] {
    ["results.csv", "results.jsonl"].map(|name| fs::read(folder.join(name)).unwrap())
}

fn rows(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("results.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Folders of points visible to readers: each must be complete at any moment.
#[track_caller]
fn complete_points(folder: &Path) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(folder.join("points")).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let figures: Value = serde_json::from_slice(&fs::read(entry.path().join("result.json")).unwrap()).unwrap();
        let manifest: Value = serde_json::from_slice(&fs::read(entry.path().join("manifest.json")).unwrap()).unwrap();
        assert_eq!(figures["manifest"], manifest);
        assert!(entry.path().join("experiment.toml").exists());
        count += 1;
    }
    count
}

/// Kills sweeps at moments spread over their whole length, resumes them, and compares.
fn killed_and_resumed(kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("{SWEEP} --jobs 4 -o whole"));
    let expected = results(&folder.path().join("whole"));
    let mut unfinished = 0;
    for kill in 0..kills {
        let name = format!("killed-{kill}");
        let root = folder.path().join(&name);
        let mut words: Vec<String> = SWEEP.split_whitespace().map(str::to_owned).collect();
        words.extend(["--jobs", "4", "-o", &name].map(str::to_owned));
        let mut child = fsin(folder.path()).args(&words).stderr(Stdio::null()).spawn().unwrap();
        // Irregular moments without random numbers: multiples of the golden ratio, modulo 1. Counted in points, as the
        // speed of a shared test machine varies.
        let share = (f64::from(kill) * 0.618_033_988_75).fract();
        let begun = Instant::now();
        while complete_points(&root) < (39.0 * share) as usize && begun.elapsed() < Duration::from_secs(300) {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros((97.0 * share * 1000.0) as u64 % 10_000));
        child.kill().unwrap();
        child.wait().unwrap();
        if complete_points(&root) < 40 {
            unfinished += 1;
        }
        if root.join("plan.json").exists() {
            done(folder.path(), &format!("sweep --resume --jobs 4 -o {name}"));
        } else {
            done(folder.path(), &format!("{SWEEP} --jobs 4 --resume -o {name}"));
        }
        assert_eq!(complete_points(&root), 40);
        assert!(results(&root) == expected, "kill {kill} changed the results");
        let left = fs::read_dir(root.join("points")).unwrap().flatten();
        assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().starts_with('.')).count(), 0);
    }
    println!("{kills} sweeps killed, {unfinished} of them before they had ended");
    assert!(unfinished > kills / 2, "{unfinished} of {kills} kills met a running sweep");
}

#[test]
fn a_killed_sweep_is_finished_by_resume() {
    killed_and_resumed(5);
}

#[test]
#[ignore = "minutes: fifty sweeps are killed"]
fn a_sweep_killed_at_fifty_moments_is_finished_by_resume() {
    killed_and_resumed(50);
}

#[test]
fn a_sweep_killed_before_its_plan_was_written_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sweep --topology torus:4x4 --cycles 500 --load 0.1,0.2";
    done(folder.path(), &format!("{line} -o whole"));
    // The files present at each stage before the plan has its name.
    let stages: [&[&str]; 4] =
        [&[".lock"], &["points/"], &["points/", ".lock"], &["points/", ".lock", ".plan.json.4711.partial"]];
    for (stage, names) in stages.iter().enumerate() {
        for again in ["", "--resume"] {
            let name = format!("killed-{stage}{again}");
            let root = folder.path().join(&name);
            fs::create_dir(&root).unwrap();
            for name in *names {
                match name.strip_suffix('/') {
                    Some(name) => fs::create_dir(root.join(name)).unwrap(),
                    None => fs::write(root.join(name), "").unwrap(),
                }
            }
            let alone = run(folder.path(), &format!("sweep --resume -o {name}"));
            code(&alone, 2);
            let said = String::from_utf8_lossy(&alone.stderr).into_owned();
            assert!(said.contains("stopped before it was planned") && said.contains("command line again"), "{said}");
            done(folder.path(), &format!("{line} {again} -o {name}"));
            assert!(results(&root) == results(&folder.path().join("whole")), "{name}");
            let left = fs::read_dir(&root).unwrap().flatten().map(|entry| entry.file_name());
            assert!(left.into_iter().all(|left| !left.to_string_lossy().ends_with(".partial")), "{name}");
        }
    }
    // A folder of foreign files is none of these.
    fs::create_dir_all(folder.path().join("other/points/mine")).unwrap();
    fs::write(folder.path().join("other/.lock"), "").unwrap();
    code(&run(folder.path(), &format!("{line} -o other")), 2);
}

#[test]
fn damaged_points_are_found_and_run_again() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), "sweep --topology torus:4x4 --cycles 500 --load 0.1,0.2,0.3 -o r");
    let root = folder.path().join("r");
    let (expected, plan) = (results(&root), fs::read_to_string(root.join("plan.json")).unwrap());
    let said = |line: &str, status: i32| {
        let output = run(folder.path(), line);
        code(&output, status);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let starts = || fs::read_to_string(root.join("journal.jsonl")).unwrap().matches(r#""event":"start""#).count();
    let id = rows(&root)[1]["point"].as_str().unwrap().to_owned();
    let point = root.join("points").join(&id);
    let whole = fs::read_to_string(point.join("result.json")).unwrap();
    let digit = whole.find("\"latency_mean_cycles\": ").unwrap() + "\"latency_mean_cycles\": ".len();
    let mut flipped = whole.clone();
    flipped.replace_range(digit..=digit, if &whole[digit..=digit] == "9" { "8" } else { "9" });
    assert!(serde_json::from_str::<Value>(&flipped).is_ok(), "it is a result like any other");
    let damages: [(&str, Option<&str>); 5] = [
        ("result.json", Some(&flipped)),
        ("result.json", Some(&whole[..whole.len() / 2])),
        ("result.json", None),
        ("experiment.toml", Some("load = 0.9\n")),
        ("SHA256SUMS", None),
    ];
    for (file, content) in damages {
        match content {
            Some(content) => fs::write(point.join(file), content).unwrap(),
            None => fs::remove_file(point.join(file)).unwrap(),
        }
        for line in ["report r", "compare r r", "plot r", "collect r"] {
            let said = said(line, 2);
            assert!(said.contains(&id) && said.contains(file) && said.contains("sweep --resume"), "{line}: {said}");
        }
        let before = starts();
        let resumed = said("sweep --resume -o r", 0);
        assert!(resumed.contains("load 0.2: the stored result is damaged") && resumed.contains(file), "{resumed}");
        assert_eq!(starts(), before + 1, "the damaged point alone is run again");
        assert!(root.join("damaged").join(&id).exists(), "nothing is thrown away");
        assert!(results(&root) == expected, "{file}");
        assert!(!said("sweep --resume -o r", 0).contains("damaged"));
    }
    // The plan has a checksum too.
    fs::write(root.join("plan.json"), plan.replacen("\"0.2\"", "\"0.7\"", 2)).unwrap();
    for line in ["report r", "sweep --resume -o r"] {
        assert!(said(line, 2).contains("plan.json"), "{line}");
    }
    // A sweep from a version without checksums is accepted, and continues.
    let mut earlier: Value = serde_json::from_str(&plan).unwrap();
    earlier["layout"] = 1.into();
    earlier.as_object_mut().unwrap().remove("sha256");
    fs::write(root.join("plan.json"), earlier.to_string()).unwrap();
    fs::remove_file(point.join("SHA256SUMS")).unwrap();
    said("report r -q", 0);
    said("sweep --topology torus:4x4 --cycles 500 --load 0.1,0.2,0.3 --resume -o r", 0);
    assert!(results(&root) == expected);
    // The folder of one run.
    done(folder.path(), "run --topology torus:4x4 --cycles 500 -q -o one");
    let result = folder.path().join("one/result.json");
    let text = fs::read_to_string(&result).unwrap();
    fs::write(&result, text.replacen("\"cycles\": 500", "\"cycles\": 501", 1)).unwrap();
    assert!(said("report one", 2).contains("result.json does not have its checksum"));
}

#[test]
fn back_ends_and_numbers_of_jobs_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("{SWEEP} --jobs 1 -o one"));
    done(folder.path(), &format!("{SWEEP} --jobs 3 -o three"));
    let commands = done(folder.path(), &format!("{SWEEP} --backend commands -o listed"));
    let commands = String::from_utf8(commands.stdout).unwrap();
    assert_eq!(commands.lines().count(), 40);
    // The last points come first.
    for line in commands.lines().rev() {
        let status = std::process::Command::new("sh").arg("-c").arg(line).status().unwrap();
        assert!(status.success(), "{line}");
    }
    code(&run(folder.path(), "collect listed"), 0);
    let [one, three, listed] = ["one", "three", "listed"].map(|name| results(&folder.path().join(name)));
    assert!(one == three && one == listed);
    assert_eq!(rows(&folder.path().join("one")).len(), 40);
}

#[test]
fn a_point_is_what_a_run_of_its_experiment_gives() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("{SWEEP} -o r"));
    let row = &rows(&folder.path().join("r"))[7];
    let id = row["point"].as_str().unwrap();
    let output = done(folder.path(), &format!("run r/points/{id}/experiment.toml --format json"));
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    for name in ["digest", "latency_mean_cycles", "cycles", "accepted_load_ci95"] {
        assert_eq!(figures[name], row[name], "{name}");
    }
}

#[test]
fn a_failed_point_does_not_stop_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.trc"), "s 0 1 64 0\nr 1 0 64 0\n").unwrap();
    fs::write(folder.path().join("bad.trc"), "this is no trace\n").unwrap();
    let line = "sweep --topology torus:4 --trace good.trc --trace bad.trc -o traces";
    let output = run(folder.path(), line);
    code(&output, 4);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("bad.trc") && stderr.contains("1 of 2 points have results, 1 failed"), "{stderr}");
    assert_eq!(rows(&folder.path().join("traces")).len(), 1);
    // It is tried again; with other contents it would be another point.
    let kept =
        fs::read_dir(folder.path().join("traces/inputs")).unwrap().map(|entry| entry.unwrap().path().join("bad.trc"));
    let kept = kept.into_iter().find(|path| path.is_file()).unwrap();
    fs::copy(folder.path().join("good.trc"), kept).unwrap();
    let output = run(folder.path(), "sweep --resume -o traces");
    code(&output, 4);
    assert!(String::from_utf8_lossy(&output.stderr).contains("planned with"));
    let output = run(folder.path(), "sweep --topology torus:4 --trace good.trc --trace absent.trc -o refused");
    code(&output, 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("absent.trc: there is no such file"));

    // Without a bubble a full ring deadlocks.
    let line = "sweep --topology torus:8 --ways 1 --vcs 1 --routing bubble:oblivious --bubble 0,2 --queue 2 --load 1 \
                --traffic tornado --warmup 0 --cycles 20000 --watchdog 500 -o deadlock";
    let line = line.replace("--warmup 0 ", "");
    let output = run(folder.path(), &line);
    code(&output, 4);
    let states: Vec<bool> =
        rows(&folder.path().join("deadlock")).iter().map(|row| row["failure"].is_object()).collect();
    assert_eq!(states, [true, false]);
    let before = fs::read_to_string(folder.path().join("deadlock/journal.jsonl")).unwrap();
    code(&run(folder.path(), "sweep --resume -o deadlock"), 4);
    let after = fs::read_to_string(folder.path().join("deadlock/journal.jsonl")).unwrap();
    let starts = |text: &str| text.matches(r#""event":"start""#).count();
    assert_eq!(starts(&before), starts(&after), "a deadlock would come again");
}

/// Runs the command in `folder` with a limit of `kibibytes` on the address space of each process; `None` if that cannot
/// be limited.
fn limited(folder: &Path, kibibytes: u32, line: &str) -> Option<Output> {
    let script = format!("ulimit -v {kibibytes} || exit 99; exec \"$0\" {line}");
    let mut command = std::process::Command::new("sh");
    let output = command.args(["-c", &script]).arg(tests::command::binary()).current_dir(folder).output().unwrap();
    (cfg!(target_os = "linux") && output.status.code() != Some(99)).then_some(output)
}

#[test]
fn a_point_that_runs_out_of_memory_is_lost_and_named_and_the_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    // Far beyond saturation, messages queue at their nodes without bound.
    let line = "--topology torus:16x16 --vcs 2 --routing bubble:oblivious --cycles 100000000";
    let both = format!("sweep {line} --load 0,1 --jobs 2 -o both");
    let Some(output) = limited(folder.path(), 1 << 20, &both) else { return };
    code(&output, 4);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("1 of 2 points have results, 1 failed"), "{stderr}");
    let why = fs::read_dir(folder.path().join("both/failed")).unwrap().next().unwrap().unwrap().path();
    let why = fs::read_to_string(why).unwrap();
    assert!(why.contains("memory"), "{why}");
    assert_eq!(rows(&folder.path().join("both"))[0]["packets_received"], 0);
    // A single run names it too.
    let alone = limited(folder.path(), 1 << 20, &format!("run {line} --load 1")).unwrap();
    let stderr = String::from_utf8_lossy(&alone.stderr).into_owned();
    // The system rejects one step of growth beyond such a limit before it can be foreseen.
    match alone.status.code() {
        Some(exit) => assert!(exit == 1 && stderr.contains("out of memory: this process holds"), "{stderr}"),
        None => assert!(stderr.contains("memory allocation of"), "{stderr}"),
    }
    // A network that cannot fit is rejected before it is built.
    let large = limited(folder.path(), 1 << 20, "run --topology torus:2048x2048").unwrap();
    let stderr = String::from_utf8_lossy(&large.stderr).into_owned();
    code(&large, 2);
    assert!(stderr.contains("a process may have (ulimit -v) 1.0"), "{stderr}");
}

#[test]
fn many_samples_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        "run --topology torus:4x4 --load 0.5 --samples 20000 --sample-size 10 --min-batch-packets 0 --format json";
    let figures: Value = serde_json::from_slice(&done(folder.path(), line).stdout).unwrap();
    assert_eq!(figures["samples"].as_array().unwrap().len(), 20_000);
    if let Some(bytes) = figures["peak_memory_bytes"].as_u64() {
        assert!(bytes < 100 << 20, "{bytes}");
    }
}

#[test]
fn the_stop_rule_depends_on_results_alone() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &format!("{SWEEP} --jobs 1 --stop-after 1 -o one"));
    done(folder.path(), &format!("{SWEEP} --jobs 4 --stop-after 1 -o four"));
    done(folder.path(), &format!("{SWEEP} --jobs 2 -o all"));
    assert!(results(&folder.path().join("one")) == results(&folder.path().join("four")));
    let saturated = |name: &str| {
        let mut count = BTreeMap::new();
        for row in rows(&folder.path().join(name)).iter().filter(|row| row["saturated"] == true) {
            let loads: &mut Vec<String> = count.entry(row["experiment"]["routing"].to_string()).or_default();
            let load = row["experiment"]["load"].to_string();
            if !loads.contains(&load) {
                loads.push(load);
            }
        }
        count
    };
    // Loads that only one seed saturates do not end a curve.
    assert!(saturated("one").values().all(|loads| (1..=2).contains(&loads.len())), "{:?}", saturated("one"));
    assert!(saturated("all").values().all(|loads| loads.len() > 2));
    assert!(folder.path().join("one/points").read_dir().unwrap().count() < 40);
}

#[test]
fn combinations_that_are_no_experiments_are_refused_or_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sweep --topology torus:4x4 --load 0.1 --vcs 1,3 --routing bubble:smart,bubble:oblivious --cycles 500";
    let refused = run(folder.path(), &format!("{line} -o r"));
    code(&refused, 2);
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(stderr.contains("vcs 1") && stderr.contains("--skip-invalid"), "{stderr}");
    assert!(!folder.path().join("r").exists());
    done(folder.path(), &format!("{line} --skip-invalid -o r"));
    assert_eq!(rows(&folder.path().join("r")).len(), 3);

    // Impossible traffic is detected before anything runs.
    let line = "sweep --topology torus:4x4 --cycles 500";
    for (flags, about) in [
        ("--load 0.1,0.2 --traffic uniform,nope", "`nope`"),
        ("--load 0.1,0.2 --size foo", "`foo`"),
        ("--load 0.1,0.2 --temporal foo", "`foo`"),
        ("--topology torus:4x3 --load 0.1,0.2 --traffic transpose", "power of two"),
        ("--vcs 2,3 --kernel bintree:tasks=99", "99"),
        ("--vcs 2,3 --kernel bintree:tasks=8 --temporal background(0.1) --traffic nope", "`nope`"),
        ("--vcs 2,3 --kernel all-to-all:tasks=16,bytes=64 --placement nope", "`nope`"),
    ] {
        let line =
            if flags.contains("--topology") { line.replace("--topology torus:4x4 ", "") } else { line.to_owned() };
        let line = if flags.contains("--kernel") { line.replace(" --cycles 500", "") } else { line };
        let refused = run(folder.path(), &format!("{line} {flags} -o unmade"));
        code(&refused, 2);
        let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(stderr.contains(about) && stderr.contains("--skip-invalid"), "{flags}: {stderr}");
        assert!(!folder.path().join("unmade").exists());
    }
    done(folder.path(), &format!("{line} --load 0.1 --vcs 2,3 --traffic uniform,nope --skip-invalid -o made"));
    assert_eq!(rows(&folder.path().join("made")).len(), 2);
}

#[test]
fn a_number_is_the_same_point_however_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sweep --topology torus:4x4 --cycles 500 --in-transit-priority 0.50";
    done(folder.path(), &format!("{line} --load 0.1,0.2 --vcs 03 -o plain"));
    done(folder.path(), &format!("{line} --load 0.10,.2 --vcs 3 -o long"));
    done(folder.path(), &format!("{line} --load 1e-1,2.0e-1 --vcs 3 -o powers"));
    for name in ["long", "powers"] {
        assert!(results(&folder.path().join(name)) == results(&folder.path().join("plain")), "{name}");
    }
    let refused = run(folder.path(), &format!("{line} --load 0.1,0.10 -o twice"));
    code(&refused, 2);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("twice"));
}

#[test]
fn files_of_networks_and_placements_are_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let there = |name: &str| folder.path().join(name);
    fs::write(there("net.txt"), "a b\nb c\nc d\nd a\n").unwrap();
    let backwards: String = (0..16).rev().map(|node| format!("{node}\n")).collect();
    fs::write(there("places.txt"), backwards).unwrap();
    let graph = "--topology graph:net.txt,endpoints=2 --routing graph:updown --load 0.1,0.2 --cycles 500";
    done(folder.path(), &format!("sweep {graph} -o graph"));
    assert_eq!(rows(&there("graph")).len(), 2);
    let manifest = fs::read_dir(there("graph/points")).unwrap().next().unwrap().unwrap().path().join("manifest.json");
    let manifest: Value = serde_json::from_slice(&fs::read(manifest).unwrap()).unwrap();
    assert_eq!(manifest["inputs"].as_array().unwrap().len(), 1, "{manifest}");
    // From another folder.
    fs::create_dir(there("elsewhere")).unwrap();
    done(&there("elsewhere"), "rerun ../graph");
    // Another network makes another experiment.
    let point = fs::read_dir(there("graph/points")).unwrap().next().unwrap().unwrap().path();
    fs::remove_dir_all(point).unwrap();
    let kept = fs::read_dir(there("graph/inputs")).unwrap().next().unwrap().unwrap().path().join("net.txt");
    fs::write(kept, "a b\nb c\nc d\nd a\na c\n").unwrap();
    let output = run(folder.path(), "sweep --resume -o graph");
    code(&output, 4);
    assert!(String::from_utf8_lossy(&output.stderr).contains("planned with"));

    // A path in an experiment file is relative to that file.
    fs::write(there("elsewhere/e.toml"), "topology = 'graph:../net.txt'\nrouting = 'graph:updown'\ncycles = 100\n")
        .unwrap();
    done(folder.path(), "run elsewhere/e.toml");

    let placed = "--topology torus:4x4 --kernel all-to-all:tasks=16,bytes=64 --placement file:places.txt";
    done(folder.path(), &format!("sweep {placed} --vcs 2,3 -o placed"));
    done(&there("elsewhere"), "rerun ../placed");
    done(folder.path(), &format!("run {placed} -o one"));
    done(folder.path(), "rerun one");
}

#[test]
fn results_of_parts_of_runs_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sweep --topology torus:4x4 --kernel all-to-all:tasks=16,bytes=4096 --vcs 2,3 --max-cycles 3000 -o part";
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let swept = said(&done(folder.path(), line));
    assert!(swept.contains("2 of 2 points have results, 2 of runs that did not come to their end"), "{swept}");
    for line in ["plot part", "compare part part"] {
        let said = said(&done(folder.path(), line));
        assert!(said.contains("2 results are of runs that did not come to their end"), "{line}: {said}");
    }
}

#[test]
fn flags_without_effect_on_who_runs_the_points_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (words, flag) in [
        ("--pack 2", "--pack"),
        ("--detach", "--detach"),
        ("--slurm-option=--partition=short", "--slurm-option"),
        ("--backend commands --jobs 2", "--jobs"),
    ] {
        let output = run(folder.path(), &format!("sweep --topology torus:4x4 --cycles 500 --load 0.1 -o r {words}"));
        code(&output, 2);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            stderr.contains(&format!("{flag} has no effect")) && stderr.contains("use --backend slurm"),
            "{stderr}"
        );
        assert!(!folder.path().join("r").exists());
    }
}

#[test]
fn a_folder_is_not_overwritten_and_another_sweep_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sweep --topology torus:4x4 --cycles 500 --load 0.1,0.2 -o r";
    done(folder.path(), line);
    for (line, word) in [
        (line.to_owned(), "use --resume"),
        (line.replace("0.2", "0.3") + " --resume", "other points"),
        ("sweep --resume -o absent".to_owned(), "no folder absent"),
        (format!("{line} --load nan"), "load"),
        ("sweep --load 0.1..0.2 -o q".to_owned(), "0.05..1.0/20"),
        ("sweep --seed 1,2 --seeds 2 -o q".to_owned(), "--seeds 2"),
        ("sweep --load 0.1,0.1 -o q".to_owned(), "twice"),
        ("point r 123".to_owned(), "no point `123`"),
    ] {
        let output = run(folder.path(), &line);
        code(&output, 2);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains(word), "{line}: {stderr}");
    }
    done(folder.path(), "sweep --resume -o r");
}

#[test]
fn a_file_of_lists_is_a_sweep_and_no_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("e.toml"),
        "topology = 'torus:4x4'\ncycles = 300\nload = '0.1..0.3/3'\nseed = [1, 2]\n",
    )
    .unwrap();
    let plan = done(folder.path(), "sweep e.toml --dry-run --traffic uniform,transpose");
    assert_eq!(String::from_utf8_lossy(&plan.stdout).lines().count(), 12);
    assert!(!folder.path().join("r").exists());
    let refused = run(folder.path(), "run e.toml");
    code(&refused, 2);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("fsin sweep"));
}

#[test]
fn an_interrupted_sweep_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let words = "sweep --topology torus:32x32 --load 0.1..0.9/9 --samples 1000 --jobs 2 -o r";
    let mut command = fsin(folder.path());
    let child = command.args(words.split_whitespace()).stderr(Stdio::piped()).spawn().unwrap();
    let journal = folder.path().join("r/journal.jsonl");
    let begun = Instant::now();
    while !fs::read_to_string(&journal).is_ok_and(|text| text.contains("start")) && begun.elapsed().as_secs() < 300 {
        std::thread::sleep(Duration::from_millis(20));
    }
    tests::command::interrupt(&child, Duration::ZERO);
    let output = child.wait_with_output().unwrap();
    code(&output, 130);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let first =
        "stopping: points that are done are kept, those that run are given up, and fsin sweep --resume -o r goes on";
    assert!(said.contains(first) && said.contains("continue with: fsin sweep --resume -o r"), "{said}");
    assert!(!said.contains("end of this cycle"), "{said}");
    assert_eq!(complete_points(&folder.path().join("r")), 0, "a partial run is no result");
}
