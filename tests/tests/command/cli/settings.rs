//! Settings: defaults, files, environment, flags, and messages about them.

use std::fs;

use fsin::experiment::{Kind, keys};
use tests::command::{fsin, run};

use super::{QUICK, done, folder, json, text};

#[test]
fn defaults_then_file_then_environment_then_flags() {
    let folder = folder();
    fs::write(folder.path().join("e.toml"), "vcs = 4\nqueue = 5\nlbr = 1\nphit-bytes = 8\n").unwrap();
    let output = fsin(folder.path())
        .args(["config", "e.toml", "--queue", "7", "--kernel", "bintree"])
        .env("FSIN_VCS", "6")
        .env("FSIN_QUEUE", "9")
        .env("FSIN_PHIT_BYTES", "2")
        .output()
        .unwrap();
    let config: toml::Table = text(&output).parse().unwrap();
    for (key, value, who) in [
        ("queue", 7, "flag over environment and file"),
        ("vcs", 6, "environment over file"),
        ("phit-bytes", 2, "environment over file, dashes as underscores"),
        ("lbr", 1, "file over default"),
        ("packet", 16, "default"),
    ] {
        assert_eq!(config[key].as_integer(), Some(value), "{who}");
    }
}

#[test]
fn a_misspelt_variable_is_refused_with_the_nearest_and_a_foreign_one_is_noted() {
    let folder = folder();
    let with = |variable: &str, line: &str| {
        let output = fsin(folder.path()).args(line.split_whitespace()).env(variable, "1").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (misspelt, right) in [
        ("FSIN_LAOD", "FSIN_LOAD"),
        ("FSIN_load", "FSIN_LOAD"),
        ("fsin_vcs", "FSIN_VCS"),
        ("FSIN_PHITBYTES", "FSIN_PHIT_BYTES"),
        ("FSIN_MPI_LIBARY", "FSIN_MPI_LIBRARY"),
        ("FSIN_SHARD", "FSIN_SHARED"),
    ] {
        for line in ["run --cycles 10", "config", "sweep --dry-run", "list", "traffic --cycles 1"] {
            let (status, stderr) = with(misspelt, line);
            assert_eq!(status, Some(2), "{misspelt} {line}: {stderr}");
            assert!(stderr.contains(misspelt) && stderr.contains(right), "{misspelt} {line}: {stderr}");
        }
    }
    let (status, stderr) = with("FSIN_WALLPAPER", "run --cycles 10");
    assert!(status == Some(0) && stderr.contains("FSIN_WALLPAPER"), "{stderr}");
    let (status, stderr) = with("FSIN_WALLPAPER", "run --cycles 10 -q");
    assert!(status == Some(0) && stderr.is_empty(), "{stderr}");
}

#[test]
fn every_variable_that_the_project_reads_is_known() {
    let folder = folder();
    let mut names = std::collections::BTreeSet::new();
    let mut pending = vec![tests::shared::workspace().to_owned()];
    while let Some(path) = pending.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && name != ".git" {
                pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            continue;
        }
        let is_code = [".rs", ".py", ".sh", ".c"].iter().any(|end| name.ends_with(end)) || path.ends_with(".ci/run");
        let Some(text) = is_code.then(|| fs::read_to_string(&path).ok()).flatten() else { continue };
        // A variable is read by its name in quotes, or by a script behind a dollar.
        for part in text.split(['"', '$', '{', '}', ' ', '=', ':']).filter(|part| part.starts_with("FSIN_")) {
            let is_name = |letter: char| letter.is_ascii_uppercase() || letter == '_' || letter.is_ascii_digit();
            if part.len() > "FSIN_".len() && part.chars().all(is_name) {
                names.insert(part.to_owned());
            }
        }
    }
    // Examples of wrong variables, in the test above.
    let wrong = ["FSIN_LAOD", "FSIN_PHITBYTES", "FSIN_MPI_LIBARY", "FSIN_SHARD", "FSIN_WALLPAPER"];
    // Constants of the library for C.
    let header = fs::read_to_string(tests::shared::workspace().join("adapters/c/fsin.h")).unwrap();
    names.retain(|name| !wrong.contains(&name.as_str()) && !name.ends_with('_') && !header.contains(name));
    assert!(names.len() > 20, "{names:?}");
    for name in &names {
        let output = fsin(folder.path()).arg("list").env(name, "1").output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{name}: {output:?}");
    }
}

#[test]
fn a_switch_can_be_set_by_file_and_environment() {
    let folder = folder();
    let line = ["run", "--kernel", "bintree", "--topology", "torus:4x4", "--max-cycles", "50", "-q"];
    let strict = |variable: &str| fsin(folder.path()).args(line).env("FSIN_STRICT", variable).output().unwrap();
    assert_eq!(strict("true").status.code(), Some(3));
    assert_eq!(strict("false").status.code(), Some(0));
    fs::write(folder.path().join("e.toml"), "strict = true\n").unwrap();
    assert_eq!(fsin(folder.path()).args(line).arg("e.toml").output().unwrap().status.code(), Some(3));
}

#[test]
fn the_effective_experiment_runs_again_to_the_same_digest() {
    let folder = folder();
    fs::write(folder.path().join("pair.trc"), "c 0 100\ns 0 1 5 256\nr 0 1 5 256\n").unwrap();
    for arguments in [
        "--topology torus:4x4 --warmup 500 --samples 3 --sample-size 500 --load 0.45 --routing bubble:shortest",
        "--topology mesh:3x5 --cycles 700 --traffic hotspot(0.2,3) --seed 99 --source open",
        "--topology torus:3x3x3 --kernel all-to-all:tasks=27,bytes=300 --placement random --seed 5",
        "--network ethernet --topology star:4 --buffer 32MB --ecn step:10kB --cycles 200000000",
        "--network ethernet --topology star:4 --buffer 32MB --pause pfc --classes rr --cycles 200000000",
        "--topology torus:4 --trace pair.trc --placement shift:2 --bandwidth 1Gb/s --recv-order src-dst",
    ] {
        let first = json(folder.path(), &format!("run {arguments}"));
        let config = text(&run(folder.path(), &format!("config {arguments}")));
        // In another folder: paths must not depend on the working directory.
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("e.toml"), &config).unwrap();
        let second = json(elsewhere.path(), "run e.toml");
        assert_eq!(first["digest"], second["digest"], "{arguments}");
        assert_eq!(first["cycles"], second["cycles"], "{arguments}");
        let again = text(&run(elsewhere.path(), "config e.toml"));
        assert_eq!(again, config, "the effective experiment is its own effective experiment");
    }
}

#[test]
fn what_has_no_effect_in_a_file_or_the_environment_is_said() {
    let folder = folder();
    fs::write(folder.path().join("e.toml"), "kernel = 'bintree'\ntopology = 'torus:4x4'\nwarmup = 10\n").unwrap();
    let output = fsin(folder.path()).args(["run", "e.toml"]).env("FSIN_LOAD", "0.2").output().unwrap();
    done(&output);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("e.toml sets `warmup`, which has no effect"), "{stderr}");
    assert!(stderr.contains("FSIN_LOAD has no effect"), "{stderr}");
    assert!(!stderr.contains("topology"), "{stderr}");
}

#[test]
fn verbose_says_who_set_what_and_when_measuring_began() {
    let folder = folder();
    let output = fsin(folder.path()).args(QUICK.split_whitespace()).args(["-v"]).env("FSIN_VCS", "2").output().unwrap();
    done(&output);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    for line in ["topology = torus:4x4, set by --topology", "vcs = 2, set by FSIN_VCS", "measuring: "] {
        assert!(stderr.contains(line), "{line}: {stderr}");
    }
}

/// The flags that scripts use, and their defaults.
const FLAGS: &[(&str, &str)] = &[
    ("topology", "torus:8x8"),
    ("ways", "2"),
    ("vcs", "3"),
    ("routing", ""),
    ("order", "dim"),
    ("packet", "16"),
    ("phit-bytes", "4"),
    ("queue", "4"),
    ("injection-queue", "8"),
    ("injectors", "1"),
    ("injection", "shortest"),
    ("inject", "parallel"),
    ("interface", "serial"),
    ("consumption", "multiple"),
    ("arbitration", "rr"),
    ("bubble", "2"),
    ("lbr", "0"),
    ("in-transit-priority", "0"),
    ("source", "open"),
    ("traffic", "uniform"),
    ("temporal", "bernoulli"),
    ("size", "constant"),
    ("load", "0.3"),
    ("warmup", "5000"),
    ("samples", "10"),
    ("sample-size", "2000"),
    ("cycles", ""),
    ("trace", ""),
    ("kernel", ""),
    ("placement", "consecutive"),
    ("bandwidth", "10Gb/s"),
    ("compute", "1"),
    ("flop-rate", "5Gflop/s"),
    ("engine", "fast"),
    ("threads", "1"),
    ("seed", "1"),
];

#[test]
fn help_shows_every_flag_with_its_default() {
    let folder = folder();
    for (verb, flag) in [("run", "--help"), ("config", "--help")] {
        let help = text(&run(folder.path(), &format!("{verb} {flag}")));
        // Help is wrapped: compare without regard to lines. Texts name other flags, and are indented farther than flags.
        let lines: Vec<&str> = help.lines().collect();
        let begins = |line: &str| line.starts_with("      --") || line.starts_with("  -");
        let entry = |name: &str| {
            let is_own = |line: &str| begins(line) && line.split_whitespace().any(|word| word == format!("--{name}"));
            let start = lines.iter().position(|line| is_own(line))?;
            let length = lines[start + 1..].iter().position(|line| begins(line));
            let own = lines[start..length.map_or(lines.len(), |length| start + 1 + length)].join(" ");
            Some(own.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        for &(name, default) in FLAGS {
            let shown = entry(name).unwrap_or_else(|| panic!("{verb} {flag} lacks --{name}"));
            if !default.is_empty() {
                assert!(shown.contains(&format!("[{default}]")), "{shown}");
            }
        }
        for heading in ["Network:", "Traffic:", "Run control:", "Output:", "Diagnostics:"] {
            assert!(help.lines().any(|line| line == heading), "{verb} {flag} lacks {heading}");
        }
        for key in keys() {
            let shown = entry(key.name).unwrap_or_else(|| panic!("{verb} {flag} lacks --{}", key.name));
            assert!(key.kind == Kind::Switch || shown.contains(key.metavar), "{shown}");
            assert!(key.unit.is_empty() || shown.contains(&format!("({})", key.unit)), "{shown}");
            assert!(key.unit.is_empty() || !key.about.contains(key.unit), "the unit is said twice: {shown}");
        }
    }
    let help = text(&run(folder.path(), "run --help"));
    assert!(help.contains("FSIN_PHIT_BYTES") && help.contains("Exit status"));
    assert!(text(&run(folder.path(), "--version")).starts_with("fsin "));
}

#[test]
fn the_table_of_keys_has_the_defaults_that_scripts_rely_on() {
    for &(name, default) in FLAGS {
        let key = fsin::experiment::key(name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(key.default.unwrap_or(""), default, "{name}");
    }
}

#[test]
fn config_refuses_what_run_refuses() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("broken.trc"), "s 0 1 5\n").unwrap();
    std::fs::write(folder.path().join("t.trc"), "s 0 1 5 8\nr 0 1 5 8\n").unwrap();
    std::fs::write(folder.path().join("t.goal"), "num_ranks 1\nrank 0 {\ncalc 5\n}\n").unwrap();
    std::fs::write(folder.path().join("mix.toml"), "[[job]]\nname = 'a'\ntrace = 'none.trc'\n").unwrap();
    for line in [
        "--trace none.trc",
        "--trace broken.trc",
        "--trace broken.trc --network ideal",
        "--trace none.goal --network ideal",
        "--trace t.trc --topology torus:2x2 --placement shift:9",
        "--trace t.trc --hosts engines=2",
        "--trace t.goal --collectives basic --topology torus:2x2",
        "--trace t.goal --network ideal --collectives basic",
        "--kernel all-to-all:tasks=64 --topology torus:4x4",
        "--kernel nothing",
        "--topology torus:4x2 --traffic nothing",
        "--topology torus:1000x1000x1000",
        "--job-mix mix.toml --topology torus:4x4",
        "--load 0.1,0.2",
    ] {
        let [ran, told] = ["run", "config"].map(|verb| run(folder.path(), &format!("{verb} {line}")));
        let said = |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "run {line}: {}", said(&ran));
        assert_eq!(told.status.code(), Some(2), "config {line}: {}", said(&told));
        assert!(told.stdout.is_empty(), "config {line}");
        assert_eq!(said(&told), said(&ran), "{line}");
    }
}

/// A size in bytes means the same with its unit, wherever it stands, and is kept as the number that it is.
#[test]
fn sizes_have_units_everywhere() {
    let folder = folder();
    let path = folder.path();
    // Flags, variables and files, of every model and of traffic.
    let sizes = keys().iter().filter(|key| key.unit == "bytes" && key.kind == Kind::Integer);
    let names: Vec<&str> = sizes.map(|key| key.name).collect();
    assert!(names.contains(&"mtu") && names.contains(&"phit-bytes") && names.len() > 10, "{names:?}");
    let base = "config --network ethernet --topology star:4";
    fs::write(path.join("e.toml"), "mtu = \"1KiB\"\n").unwrap();
    let variable = fsin(path).args(base.split(' ')).env("FSIN_MTU", "1KiB").output().unwrap();
    for config in
        [variable, run(path, &format!("{base} --mtu 1KiB")), run(path, &format!("config e.toml {}", &base[7..]))]
    {
        let config: toml::Table = text(&config).parse().unwrap();
        assert_eq!(config["mtu"].as_integer(), Some(1024));
    }
    // Kernels, patterns of graphs, and hosts.
    let digest = |line: &str| json(path, line)["digest"].clone();
    let text_of_graph =
        "num_ranks 2\nrank 0 {\nl1: send 2048b to 1 tag 1\n}\nrank 1 {\nl1: recv 2048b from 0 tag 1\n}\n";
    fs::write(path.join("two.goal"), text_of_graph).unwrap();
    for (with, without) in [
        ("--kernel all-to-all:tasks=4,bytes=4KiB", "--kernel all-to-all:tasks=4,bytes=4096"),
        ("--kernel all-reduce-ring:tasks=4,bytes=64kB", "--kernel all-reduce-ring:tasks=4,bytes=64000"),
        (
            "--kernel all-to-all:tasks=4,bytes=4KiB,piece=1kB,interleave=2",
            "--kernel all-to-all:tasks=4,bytes=4096,piece=1000,interleave=2",
        ),
        ("--trace two.goal --hosts S=1KiB", "--trace two.goal --hosts S=1024"),
    ] {
        let base = "run --topology torus:2x2";
        assert_eq!(digest(&format!("{base} {with}")), digest(&format!("{base} {without}")), "{with}");
    }
    // Values of a sweep are numbers; equal ones are one.
    done(&run(path, "sweep --network flow --topology star:4 --kernel all-to-all --packet-bytes 1KiB,4KiB -o swept -q"));
    let csv = fs::read_to_string(path.join("swept/results.csv")).unwrap();
    assert!(csv.contains(",1024,") && csv.contains(",4096,") && !csv.contains("KiB"), "{csv}");
    // What is no size is refused with one that is.
    for (line, what) in [
        ("run --network ethernet --topology star:4 --mtu 1kb", "a size such as 1500, 64kB or 1MiB"),
        ("run --topology torus:4x4 --kernel all-to-all:bytes=1mb", "a size such as 4096, 64kB or 1MiB"),
        ("mpirun -n 2 --rendezvous 64kb -- true", "write --rendezvous 64KiB"),
        ("mpirun -n 2 --buffered 64kb -- true", "64kB or 1MiB"),
    ] {
        let output = run(path, line);
        let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.status.code() == Some(2) && said.contains(what), "{line}: {said}");
    }
}
