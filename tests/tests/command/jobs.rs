//! Job mixes by the command: results per job, the same for every engine; and error messages.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use tests::command::run;

const MIX: &str = r#"
[[job]]
name = "exchange"
kernel = "all-to-all:tasks=8,bytes=600"
count = 3
every = "2us"
estimate = "20us"

[[job]]
name = "tree"
kernel = "bintree:tasks=16,bytes=256"
arrival = 100
estimate = "5us"

[[job]]
trace = "ping.trc"
arrival = "1us"
estimate = "1us"
"#;

const PING: &str = "c 0 500\ns 0 1 7 1000\nr 0 1 7 1000\ns 1 0 8 1000\nr 1 0 8 1000\n";

fn folder(mix: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mix.toml"), mix).unwrap();
    fs::write(folder.path().join("ping.trc"), PING).unwrap();
    folder
}

#[track_caller]
fn json(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("run {line} --quiet --format json"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The error message for an invalid mix.
#[track_caller]
fn refused(mix: &str, line: &str) -> String {
    let folder = folder(mix);
    let output = run(folder.path(), &format!("run --topology torus:4x4 --job-mix mix.toml {line}"));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(output.stdout.is_empty());
    // Messages are wrapped into lines.
    error.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn number(job: &Value, name: &str) -> u64 {
    job[name].as_u64().unwrap_or_else(|| panic!("{name} of {job}"))
}

#[test]
fn a_mix_gives_results_for_each_job() {
    let folder = folder(MIX);
    for scheduler in ["fcfs", "first-fit", "easy"] {
        for allocation in ["contiguous", "quasi-contiguous", "random"] {
            let line =
                format!("--topology torus:4x4 --job-mix mix.toml --scheduler {scheduler} --allocation {allocation}");
            let result = json(folder.path(), &line);
            let jobs = result["jobs"].as_array().unwrap();
            let names: Vec<&str> = jobs.iter().map(|job| job["name"].as_str().unwrap()).collect();
            assert_eq!(names, ["exchange-1", "exchange-2", "exchange-3", "tree", "job-3"], "{line}");
            assert_eq!(result["jobs_finished"], 5);
            let mut last = 0;
            for job in jobs {
                let [arrival, start, finish] =
                    ["arrival_cycle", "start_cycle", "finish_cycle"].map(|name| number(job, name));
                assert_eq!(number(job, "wait_cycles"), start - arrival, "{line}: {job}");
                assert_eq!(number(job, "run_cycles"), finish - start, "{line}: {job}");
                let slowdown = number(job, "run_cycles") as f64 / number(job, "alone_cycles") as f64;
                assert_eq!(job["slowdown"].as_f64(), Some(slowdown), "{line}: {job}");
                assert_eq!(number(job, "nodes"), number(job, "tasks"), "{line}: {job}");
                last = last.max(finish);
                // No node belongs to two jobs at the same time.
                for other in jobs.iter().filter(|other| *other != job) {
                    let apart = finish < number(other, "start_cycle") || number(other, "finish_cycle") < start;
                    let nodes = |job: &Value| job["task_nodes"].as_array().unwrap().clone();
                    let shared = nodes(job).iter().any(|node| nodes(other).contains(node));
                    assert!(apart || !shared, "{line}: {job} and {other}");
                }
            }
            assert!(result["completion_cycles"].as_u64().unwrap() > last);
            assert_eq!(result["packets_in_flight"], 0);
            let messages: u64 = jobs.iter().map(|job| number(job, "messages")).sum();
            assert_eq!(messages, 3 * 56 + 15 + 2);
            assert_eq!(result["messages"], messages);
            let again = json(folder.path(), &format!("{line} --engine reference"));
            assert_eq!((&again["jobs"], &again["digest"]), (&result["jobs"], &result["digest"]), "{line}");
            let threads = json(folder.path(), &format!("{line} --threads 2"));
            assert_eq!((&threads["jobs"], &threads["digest"]), (&result["jobs"], &result["digest"]), "{line}");
        }
    }
}

/// A run that ends before its jobs do: nodes with a job count as used, and a waiting job has none yet.
#[test]
fn jobs_that_have_not_ended_count() {
    let folder = folder("[[job]]\nname = \"long\"\nkernel = \"all-to-all:tasks=16,bytes=60000\"\ncount = 2\n");
    let result = json(folder.path(), "--topology torus:4x4 --job-mix mix.toml --max-cycles 4000");
    let [running, waiting] = [&result["jobs"][0], &result["jobs"][1]];
    assert_eq!((number(running, "start_cycle"), &running["finish_cycle"]), (1, &Value::Null), "{running}");
    assert_eq!(result["node_utilization"], 1.0, "all nodes had a job from the first cycle to the last");
    assert_eq!((number(waiting, "tasks"), &waiting["nodes"], &waiting["task_nodes"]), (16, &Value::Null, &Value::Null));
    assert_eq!(result["job_wait_mean_cycles"], 0.0, "of the job that has begun");
}

#[test]
fn a_job_alone_is_the_application_alone() {
    let folder = folder("[[job]]\nkernel = \"all-to-all:tasks=16,bytes=600\"\n");
    let mix = json(folder.path(), "--topology torus:4x4 --job-mix mix.toml");
    let alone = json(folder.path(), "--topology torus:4x4 --kernel all-to-all:tasks=16,bytes=600");
    for name in ["digest", "completion_cycles", "messages", "packets_received", "per_task"] {
        assert_eq!(mix[name], alone[name], "{name}");
    }
    assert_eq!(mix["jobs"][0]["slowdown"], 1.0);
    assert_eq!(mix["jobs"][0]["wait_cycles"], 0);
    assert_eq!(alone["jobs"], Value::Null);
}

#[test]
fn jobs_that_share_links_slow_each_other_down() {
    // Two exchanges on randomly drawn nodes interfere with each other.
    let mix = "[[job]]\nkernel = \"all-to-all:tasks=8,bytes=4096\"\ncount = 2\n";
    let folder = folder(mix);
    let slowdown = |allocation: &str| {
        let line = format!("--topology mesh:4x4 --job-mix mix.toml --allocation {allocation}");
        json(folder.path(), &line)["job_slowdown_mean"].as_f64().unwrap()
    };
    assert!(slowdown("random") > 1.02, "{}", slowdown("random"));
    assert!(slowdown("contiguous") < slowdown("random"));
}

#[test]
fn the_table_has_a_line_for_each_job_and_a_result_runs_again() {
    let folder = folder(MIX);
    let output = run(folder.path(), "run --topology torus:4x4 --job-mix mix.toml --quiet -o stored");
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("jobs mix.toml fcfs contiguous"), "{table}");
    let rows = table.lines().skip_while(|line| !line.starts_with("job ")).count();
    assert_eq!(rows, 1 + 1 + 5, "names, units, jobs: {table}");
    let units: Vec<&str> =
        table.lines().skip_while(|line| !line.starts_with("job ")).nth(1).unwrap().split_whitespace().collect();
    assert_eq!(units, ["cycle", "cycle", "cycle", "cycles", "cycles", "x", "alone"]);
    let again = run(folder.path(), "rerun stored");
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    // The traces of a mix are inputs, like the file of jobs.
    let manifest = fs::read_to_string(folder.path().join("stored/manifest.json")).unwrap();
    assert!(manifest.contains("ping.trc") && manifest.contains("mix.toml"), "{manifest}");
}

#[test]
fn the_page_has_the_jobs_and_the_figures_of_the_mix() {
    let folder = folder(MIX);
    let line = "run --topology torus:4x4 --job-mix mix.toml --quiet -o stored --format json";
    let result: Value = serde_json::from_slice(&run(folder.path(), line).stdout).unwrap();
    let output = run(folder.path(), "report stored -q");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(folder.path().join("stored/report.html")).unwrap();
    let section = page.split("<h2>").find(|section| section.starts_with("Jobs")).expect("a section of jobs");
    let rows: Vec<Vec<&str>> = section
        .split("<tr")
        .filter(|row| row.contains("<td"))
        .map(|row| row.split("<td").skip(1).map(|cell| cell.split(['>', '<']).nth(1).unwrap()).collect())
        .collect();
    let jobs = result["jobs"].as_array().unwrap();
    assert_eq!((rows.len(), rows[0][0], rows[0][1]), (1 + 5, "5", "5"), "{section}");
    let used = 100.0 * result["node_utilization"].as_f64().unwrap();
    assert_eq!(rows[0].last(), Some(&format!("{used:.1} %").as_str()));
    for (row, job) in rows[1..].iter().zip(jobs) {
        assert_eq!(row[0], job["name"].as_str().unwrap());
        let names = ["tasks", "nodes", "arrival_cycle", "start_cycle", "finish_cycle", "wait_cycles", "run_cycles"];
        let found: Vec<u64> = row[1..8].iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(found, names.map(|name| number(job, name)), "{row:?}");
        assert!((row[9].parse::<f64>().unwrap() - job["slowdown"].as_f64().unwrap()).abs() < 0.01, "{row:?}");
    }
}

#[test]
fn what_cannot_be_run_is_refused_with_place_and_remedy() {
    let job = |rest: &str| format!("[[job]]\nname = \"a\"\nkernel = \"all-to-all:tasks=8\"\n{rest}");
    let cases = [
        (
            "[[job]]\nname = \"big\"\nkernel = \"all-to-all:tasks=17\"\n",
            "",
            "job `big` needs 17 nodes, and the network has 16",
        ),
        ("[[job]]\nname = \"a\"\n", "", "a job has neither `trace` nor `kernel`"),
        ("[[job]]\nkernal = \"a\"\n", "", "`kernal` is no key of a job"),
        ("[[jobs]]\nkernel = \"a\"\n", "", "a file of jobs has [[job]] and nothing else"),
        ("[[job]]\nname = 4\n", "", "integer `4` stands where a word in quotes is expected"),
        ("[[job]]\nname = \"a\"\ncount = -2\n", "", "stands where a count is expected"),
        ("", "", "the file has no [[job]]"),
        ("[job]\nname = \"a\"\n", "", "stands where [[job]], in two brackets, is expected"),
        ("job = [1]\n", "", "stands where the keys of a job is expected"),
        (&job("estimate = 1.5"), "", "error: the jobs cannot be read: a time is written with its unit"),
        (&job("count = 0"), "", "`count` 0 is out of range"),
        (&job("every = \"1us\""), "", "`every` and `arrivals` have no meaning for one job"),
        (&job("arrival = \"10 apples\""), "", "`arrival` takes a time with its unit"),
        (&job("arival = 3"), "", "`arival` is no key of a job ,-[mix.toml:4:1]"),
        (&job("count = 2\narrivals = \"now\""), "", "`arrivals` is regular or poisson, not `now`"),
        (&job(""), "--scheduler easy", "job `a` has no `estimate`, which --scheduler easy needs"),
        (&job(""), "--scheduler esy", "did you mean `easy`?"),
        (&job(""), "--allocation contigous", "did you mean `contiguous`"),
        (&job(""), "--kernel bintree", "--kernel and --job-mix exclude each other"),
        (&job(""), "--network ideal:L=1,G=1", "has no meaning with --network loggops"),
        (&job(""), "--temporal background(0.1)", "leave it out"),
        (&job("trace = \"x\""), "", "a job has a `trace` or a `kernel`, not both"),
        ("[[job]]\nkernel = \"all-two-all\"\n", "", "did you mean `all-to-all`"),
        ("[[job]]\ntrace = \"absent.trc\"\n", "", "absent.trc"),
    ];
    for (mix, line, expected) in cases {
        let error = refused(mix, line);
        assert!(error.contains(expected), "{mix}{line}: {error}");
    }
    // The file of the mix, its line, and the trace.
    let mix = "[[job]]\nname = \"a\"\nkernel = \"bintree:tasks=8\"\n\n[[job]]\nname = \"b\"\ntrace = \"NAME\"\n";
    for (name, expected) in [("absent.trg", "job `b`: absent.trg: no such file"), ("bad.trc", "job `b`: bad.trc:1: ")] {
        let folder = folder(&mix.replace("NAME", name));
        fs::write(folder.path().join("bad.trc"), "s 0 1 5 1x\nr 0 1 5 1\n").unwrap();
        let output = run(folder.path(), "run --topology torus:4x4 --job-mix mix.toml");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        for part in [expected, "mix.toml:7:", "help: "] {
            assert!(error.contains(part), "no `{part}` in {error}");
        }
    }
    let folder = folder(MIX);
    for line in ["run --scheduler easy", "run --kernel bintree --allocation random", "run --job-mix absent.toml"] {
        let output = run(folder.path(), line);
        assert_eq!(output.status.code(), Some(2), "{line}");
    }
}
