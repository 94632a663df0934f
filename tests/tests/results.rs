//! What is made of results: pictures, the page, comparisons, saturation, and whether they are still the same.

#![allow(clippy::print_stdout, reason = "what was found is for who runs the tests")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tests::command::{browser, run};

#[track_caller]
fn code(output: &Output, expected: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(expected), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What is said where a command ends with this code.
#[track_caller]
fn code_and_words(output: &Output, expected: i32) -> String {
    code(output, expected);
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn done(folder: &Path, line: &str) -> String {
    code(&run(folder, line), 0)
}

/// The experiment of `fsin init`, made shorter.
fn first_sweep(folder: &Path) {
    fs::write(folder.join("e.toml"), done(folder, "init")).unwrap();
    let line =
        "sweep e.toml --load 0.1,0.4,0.7,1 --warmup 500 --samples 4 --sample-size 500 --max-conv-time 2000 -q -o r";
    done(folder, line);
}

/// Every tag that is opened is closed: what an XML reader asks for, as far as these pictures go.
fn is_balanced(svg: &str) -> bool {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (name, rest) = tag.split_at(tag.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(0));
        match () {
            () if tag.starts_with(['?', '!']) => {}
            () if tag.starts_with('/') => {
                let closed = tag[1..].split('>').next().unwrap();
                if open.pop() != Some(closed) {
                    return false;
                }
            }
            () if rest.split('>').next().unwrap().ends_with('/') => {}
            () => open.push(name),
        }
    }
    open.is_empty()
}

#[test]
fn the_first_experiment_ends_with_a_page() {
    let folder = tempfile::tempdir().unwrap();
    first_sweep(folder.path());
    done(folder.path(), "plot r -q");
    done(folder.path(), "report r -q");
    for name in ["latency", "latency-p99", "accepted"] {
        let svg = fs::read_to_string(folder.path().join(format!("r/plots/{name}.svg"))).unwrap();
        assert!(is_balanced(&svg), "{name}");
        assert!(svg.contains("Load of each sending node (phits/node/cycle)"), "{name}");
        let data = fs::read_to_string(folder.path().join(format!("r/plots/{name}.csv"))).unwrap();
        assert_eq!(data.lines().count(), 1 + 4 * 4, "{name}: 4 curves of 4 loads");
    }
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    // Nothing is fetched from anywhere.
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!elsewhere.contains(word), "the page refers to something: {word}");
    }
    let place = |word: &str| page.find(word).unwrap_or_else(|| panic!("the page lacks {word}"));
    assert!(place("<h2>Warnings") < place("<h2>Curves"), "warnings come first");
    assert!(place("<h2>Curves") < place("<h2>Saturation") && place("<h2>Points") < place("<h2>Manifest"));
    assert_eq!(page.matches("class=\"hint\"").count(), 3 * 16, "every marker says its values");
    assert_eq!(page.matches("<tr class").count(), 48 + 4, "a row for every point and every curve");
}

#[test]
fn saturated_points_are_hollow_and_not_joined() {
    let folder = tempfile::tempdir().unwrap();
    for (name, loads, joined) in [("below", "0.05,0.1", 1), ("beyond", "0.6,1", 0)] {
        let line = "--topology torus:8x8 --traffic transpose --cycles 6000 --routing bubble:oblivious --vcs 1 -q";
        done(folder.path(), &format!("sweep {line} --load {loads} -o {name}"));
        done(folder.path(), &format!("plot {name} -q"));
        let data = fs::read_to_string(folder.path().join(name).join("plots/latency.csv")).unwrap();
        let state = if joined == 0 { "true" } else { "false" };
        assert!(data.lines().skip(1).all(|line| line.ends_with(state)), "{data}");
        let svg = fs::read_to_string(folder.path().join(name).join("plots/latency.svg")).unwrap();
        // One curve has no legend: lines of its colour and width lead from point to point.
        let is_line = |tag: &&str| tag.starts_with("polyline") && tag.contains("#0072B2") && tag.contains("\"4\"");
        assert_eq!(svg.split('<').filter(is_line).count(), joined, "{name}");
        let full = svg.split('<').filter(|tag| tag.starts_with("circle") && tag.contains("fill=\"#0072B2\"")).count();
        assert_eq!(full, 2 * joined, "{name}: full markers");
    }
}

#[test]
fn a_run_without_a_load_is_not_drawn_along_loads() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = "run --kernel bintree:tasks=16 --topology torus:4x4 -q";
    done(folder.path(), &format!("{kernel} -o bare"));
    let refused = run(folder.path(), "plot bare");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    code(&refused, 2);
    assert!(said.contains("bare: one run of traffic without a load") && said.contains("fsin report bare"), "{said}");
    assert!(!folder.path().join("bare/plots").exists());
    // What there is of it is drawn.
    done(folder.path(), &format!("{kernel} --link-loads -o links"));
    let drawn = run(folder.path(), "plot links");
    assert_eq!(String::from_utf8_lossy(&drawn.stderr), "links/plots/links.svg: Load of links\n");
    code(&drawn, 0);
    let names: Vec<_> =
        fs::read_dir(folder.path().join("links/plots")).unwrap().map(|name| name.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    done(folder.path(), "report links -q");
    let page = fs::read_to_string(folder.path().join("links/report.html")).unwrap();
    assert!(
        !page.contains("Load of each sending node (phits") && !page.contains("<h2>Curves") && !page.contains("null"),
        "a load that is not there"
    );
    let table = done(folder.path(), "compare bare links");
    assert!(!table.contains("null"), "{table}");
    // With a load it is one point of a curve.
    done(folder.path(), "run --topology torus:4x4 --cycles 500 -q -o loaded");
    done(folder.path(), "plot loaded -q");
    assert!(folder.path().join("loaded/plots/latency.svg").exists());
}

#[test]
fn what_a_run_notes_is_no_warning() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run --kernel bintree:tasks=8 --topology torus:4x4 --temporal background(0.1) -q -o r --format json";
    let result: Value = serde_json::from_str(&done(folder.path(), line)).unwrap();
    let note = result["notes"][0].as_str().expect("it notes what its figures include");
    done(folder.path(), "report r -q");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    let section = |name: &str| page.split("<h2>").find(|section| section.starts_with(name)).unwrap_or_default();
    assert!(section("Notes").contains(note) && !section("Warnings").contains(note), "{}", section("Warnings"));
    // Without notes there is no heading for them.
    let folder = tempfile::tempdir().unwrap();
    first_sweep(folder.path());
    done(folder.path(), "report r -q");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(page.contains("<h2>Warnings") && !page.contains("<h2>Notes"));
}

#[test]
fn numbers_and_nouns_agree() {
    let folder = tempfile::tempdir().unwrap();
    let says = |line: &str, expected: &[&str]| {
        let said = done(folder.path(), line);
        for words in expected {
            // At the beginning or after a blank: `1 link` is not found in `11 links`.
            let found = said
                .split_inclusive(words)
                .filter(|part| part.ends_with(words))
                .any(|part| !part[..part.len() - words.len()].ends_with(|before: char| before.is_ascii_digit()));
            assert!(found, "{line}: `{words}` is not in {said}");
        }
    };
    says("topology fattree:2,1", &[" 2 endpoints, 1 switch\n", " 1 link, one way"]);
    says("topology hyperx:1x1:1", &[" 1 endpoint, 1 switch\n", " 1 link from each switch\n"]);
    says("topology mesh:2x1", &[" 1 link from each node\n", " 1 hop\n", " 1 link, one way"]);
    says("topology torus:4x4", &[" 4 links from each node\n", " 4 hops\n"]);
    done(folder.path(), "run --topology torus:4x4 --cycles 500 -q -o r");
    says("rerun r -q", &["1 of 1 result is the same to the last digit\n"]);
}

#[test]
fn a_flipped_digit_is_found() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), "sweep --topology torus:4x4 --load 0.1,0.3 --cycles 1000 -q -o r");
    assert!(done(folder.path(), "rerun r -q").contains("2 of 2 results are the same"));
    let point = fs::read_dir(folder.path().join("r/points")).unwrap().flatten().next().unwrap().path();
    let kept = fs::read_to_string(point.join("result.json")).unwrap();
    let figures: Value = serde_json::from_str(&kept).unwrap();
    let received = figures["packets_received"].as_u64().unwrap();
    let flipped = kept.replacen(
        &format!("\"packets_received\": {received},\n  \"packets_dropped"),
        &format!("\"packets_received\": {},\n  \"packets_dropped", received ^ 1),
        1,
    );
    assert_ne!(kept, flipped);
    fs::write(point.join("result.json"), flipped).unwrap();
    let said = code(&run(folder.path(), "rerun r -q"), 1);
    assert!(said.contains("packets_received") && said.contains("1 of 2 results are the same"), "{said}");
    fs::write(point.join("result.json"), &kept).unwrap();
    let id = point.file_name().unwrap().to_string_lossy().into_owned();
    assert!(done(folder.path(), &format!("rerun r/points/{id} -q")).contains("1 of 1"));
    let toml = fs::read_to_string(point.join("experiment.toml")).unwrap();
    fs::write(point.join("experiment.toml"), toml.replace("seed = 1", "seed = 2")).unwrap();
    assert!(code(&run(folder.path(), "rerun r -q"), 1).contains("experiment.toml"));
    // What is not what was written is no result.
    for not_a_result in ["{}", "[]", r#"{"experiment": 3}"#] {
        fs::write(point.join("result.json"), not_a_result).unwrap();
        for command in ["collect r", "plot r -q", "report r -q", "compare r r"] {
            assert!(
                code_and_words(&run(folder.path(), command), 2).contains("result.json"),
                "{command} {not_a_result}"
            );
        }
    }
    // Cut short, it is none either.
    fs::write(point.join("result.json"), &kept[..kept.len() / 2]).unwrap();
    assert!(String::from_utf8_lossy(&run(folder.path(), "collect r").stderr).contains("result.json"));
    fs::write(point.join("result.json"), &kept).unwrap();
    let plan = folder.path().join("r/plan.json");
    let mut without: Value = serde_json::from_str(&fs::read_to_string(&plan).unwrap()).unwrap();
    without["points"][1]["values"] = Value::Array(Vec::new());
    fs::write(&plan, without.to_string()).unwrap();
    for command in ["collect r", "plot r -q", "report r -q", "sweep -o r --resume -q"] {
        assert!(code_and_words(&run(folder.path(), command), 2).contains("has 0 values"), "{command}");
    }
    // A folder of one run that holds something else.
    fs::create_dir(folder.path().join("d")).unwrap();
    fs::write(folder.path().join("d/result.json"), "{}").unwrap();
    fs::write(folder.path().join("d/experiment.toml"), "").unwrap();
    assert!(code_and_words(&run(folder.path(), "plot d -q"), 2).contains("no `experiment`"));
}

#[test]
fn cycles_of_different_lengths_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    done(folder.path(), "sweep --topology torus:4x4 --kernel all-to-all:tasks=16,bytes=999 --phit-bytes 4,16 -q -o r");
    done(folder.path(), "plot r -q");
    assert!(read("r/plots/completion.csv").starts_with("curve,phit-bytes,completion_seconds,"));
    assert!(read("r/plots/completion.svg").contains("Completion time (s)"));
    assert!(read("r/plots/latency.svg").contains("Mean latency (cycles of different lengths)"));
    done(folder.path(), "report r -q");
    assert!(read("r/report.html").contains("Cycles are not equally long in all points"));
    // Texts that differ are shown each with its points.
    fs::write(folder.path().join("a.trc"), "s 0 1 64 0\nr 1 0 64 0\n").unwrap();
    let sweep = "sweep --topology torus:4x4 --kernel all-to-all:tasks=16 --placement optimise:random,optimise --seeds 2 -q -o s";
    done(folder.path(), sweep);
    done(folder.path(), "report s -q");
    let page = read("s/report.html");
    let told = page.split("<h2>Notes</h2>").nth(1).unwrap().split("</section>").next().unwrap();
    let points = |index: usize| {
        let text = fs::read_to_string(folder.path().join("s/results.jsonl")).unwrap();
        let row: Value = serde_json::from_str(text.lines().nth(index).unwrap()).unwrap();
        row["notes"][0].as_str().unwrap().to_owned()
    };
    done(folder.path(), "collect s");
    for index in 0..4 {
        assert!(told.contains(&points(index)), "{}: {told}", points(index));
    }
    let seeds = "sweep --topology torus:4x4 --kernel all-to-all:tasks=16 --seeds 2 -q -o t";
    done(folder.path(), seeds);
    assert!(code_and_words(&run(folder.path(), "plot t"), 2).contains("runs that differ in their seeds alone"));
}

#[test]
fn a_trace_that_changed_is_found() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.trc"), "s 0 1 64 0\nr 1 0 64 0\n").unwrap();
    done(folder.path(), "run --topology torus:4 --trace a.trc -q -o stored");
    assert!(done(folder.path(), "rerun stored").contains("1 of 1"));
    fs::write(folder.path().join("a.trc"), "s 0 1 128 0\nr 1 0 128 0\n").unwrap();
    assert!(code(&run(folder.path(), "rerun stored"), 1).contains("input files"));
}

#[test]
fn designs_are_compared_with_confidence() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sweep --topology torus:8x8 --traffic transpose --load 0.1,0.4 --seeds 3 --cycles 4000 -q";
    done(folder.path(), &format!("{sweep} --routing bubble:oblivious -o before"));
    done(folder.path(), &format!("{sweep} --routing bubble:smart -o after"));
    let found: Value = serde_json::from_str(&done(folder.path(), "compare before after --format json")).unwrap();
    assert_eq!(found["unmatched_points"], 0);
    let row = |load: &str, figure: &str| {
        let rows = found["differences"].as_array().unwrap();
        rows.iter().find(|row| row["load"] == load && row["figure"] == figure).unwrap().clone()
    };
    // Dimension order saturates below 0.3 under transpose, the adaptive router does not at 0.4.
    let accepted = row("0.4", "accepted_load_phits_per_node_cycle");
    assert_eq!(accepted["verdict"], "higher");
    assert!(accepted["difference"].as_f64().unwrap() > accepted["difference_ci95"].as_f64().unwrap());
    let same: Value = serde_json::from_str(&done(folder.path(), "compare after after --format json")).unwrap();
    assert!(same["differences"].as_array().unwrap().iter().all(|row| row["verdict"] == "same"));
    done(folder.path(), "report after --baseline before -q");
    let page = fs::read_to_string(folder.path().join("after/report.html")).unwrap();
    assert!(page.contains("Against before") && page.contains("higher"));
}

/// Bisection against the first saturated load of a sweep in small steps.
#[track_caller]
fn bisection_agrees_with_a_sweep(network: &str, loads: &str) {
    let folder = tempfile::tempdir().unwrap();
    let found: Value =
        serde_json::from_str(&done(folder.path(), &format!("saturation {network} -q --format json"))).unwrap();
    let found = found["saturation_load_phits_per_node_cycle"].as_f64();
    done(folder.path(), &format!("sweep {network} --load {loads} -q -o r"));
    let text = fs::read_to_string(folder.path().join("r/results.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = rows.iter().find(|row| row["saturated"] == true).map(|row| row["experiment"]["load"].as_f64().unwrap());
    println!("{network}: by bisection {found:?}, by sweep {first:?}");
    match (found, first) {
        // The sweep knows the load to its step of 0.005: the middle of the step is compared.
        (Some(found), Some(first)) => assert!((found - (first - 0.0025)).abs() <= 0.01, "{network}: {found} {first}"),
        (found, first) => assert_eq!(found, first, "{network}"),
    }
}

#[test]
fn a_table_of_saturation_says_what_it_came_to() {
    let folder = tempfile::tempdir().unwrap();
    let line = "saturation --topology torus:8x8 --routing bubble:oblivious --vcs 1 --tolerance 0.2 --warmup 500 --samples 2 --sample-size 500 --max-conv-time 0 -q";
    let found: Value = serde_json::from_str(&done(folder.path(), &format!("{line} --format json"))).unwrap();
    let load = found["saturation_load_phits_per_node_cycle"].as_f64().unwrap();
    let table = done(folder.path(), &format!("{line} --format csv"));
    let mut lines = table.lines();
    assert!(lines.next().unwrap().ends_with(",complete,saturation_load_phits_per_node_cycle"), "{table}");
    assert!(lines.clone().count() > 1 && lines.all(|line| line.ends_with(&format!(",true,{load}"))), "{table}");
}

#[test]
fn saturation_agrees_with_a_fine_sweep() {
    bisection_agrees_with_a_sweep(
        "--topology torus:8x8 --routing bubble:oblivious --traffic transpose",
        "0.2..0.35/31",
    );
}

#[test]
#[ignore = "minutes: sweeps of six networks in small steps"]
fn saturation_agrees_with_fine_sweeps_on_six_networks() {
    for (network, loads) in [
        ("--topology torus:8x8", "0.6..0.8/41"),
        ("--topology torus:8x8 --routing bubble:oblivious --vcs 1", "0.3..0.7/81"),
        ("--topology torus:8x8 --traffic transpose", "0.4..0.75/71"),
        ("--topology mesh:8x8", "0.2..0.6/81"),
        ("--topology twisted:16x8:8", "0.4..0.8/81"),
        ("--topology torus:4x4x4 --routing dally:trc --vcs 2", "0.4..0.95/111"),
    ] {
        bisection_agrees_with_a_sweep(network, loads);
    }
}

#[test]
fn a_browser_shows_the_page_without_an_error() {
    let folder = tempfile::tempdir().unwrap();
    first_sweep(folder.path());
    done(folder.path(), "report r -q");
    let Some((dom, log)) = browser(&folder.path().join("r/report.html"), &["--dump-dom"]) else {
        tests::shared::aloud("SKIPPED: no chromium\n");
        return;
    };
    let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:?}");
    // The script has run to its end: it names every marker.
    assert_eq!(dom.matches("aria-label=\"bubble").count() + dom.matches("aria-label=\"Offered").count(), 48);
}

/// Nine curves and more are parted by a setting, and every picture says what its curves share.
#[test]
fn pictures_are_parted_by_settings_and_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let done = |line: &str| code(&run(folder.path(), line), 0);
    let sweep = "sweep --topology torus:4x4 --cycles 300 --routing bubble:smart,bubble:random,bubble:oblivious";
    done(&format!("{sweep} --traffic uniform,transpose,complement --load 0.1,0.2 -q -o r"));
    let names = |to: &str| {
        let entries = fs::read_dir(folder.path().join(to)).unwrap().map(|entry| entry.unwrap().file_name());
        let names =
            entries.filter_map(|name| name.to_str()?.strip_suffix(".svg")?.strip_prefix("accepted").map(str::to_owned));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let text = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    done("plot r -q");
    assert_eq!(names("r/plots"), ["-complement", "-transpose", "-uniform"], "routings are compared");
    let (picture, data) = (text("r/plots/accepted-transpose.svg"), text("r/plots/accepted-transpose.csv"));
    assert!(picture.contains("\ntranspose\n") && picture.contains("\nbubble:smart\n"), "{picture}");
    assert_eq!((data.lines().count(), data.matches("\"bubble:random, transpose\"").count()), (7, 2), "{data}");
    done("report r -q");
    assert_eq!(text("r/report.html").matches("Accepted load against load of each sending node: ").count(), 6);

    done("plot r -q --each routing -o each");
    assert_eq!(names("each"), ["-bubble-oblivious", "-bubble-random", "-bubble-smart"]);
    done("plot r -q --along traffic --only load=0.2 --only routing=bubble:smart --only routing=bubble:random -o along");
    assert_eq!(names("along"), [""]);
    let told = run(folder.path(), "plot r --only load=0.10 -o one");
    assert!(String::from_utf8_lossy(&told.stderr).contains(": uniform, load 0.1\n"), "{told:?}");
    let bars = text("along/accepted.csv");
    assert!(bars.starts_with("curve,traffic,") && bars.lines().count() == 7 && !bars.contains("oblivious"), "{bars}");
    for (line, words) in [
        ("--along vcs", "--along vcs: it does not vary"),
        ("--each seed", "curves are means over seeds"),
        ("--each load", "curves are drawn along it"),
        ("--only load=0.3", "its values of load are 0.1, 0.2"),
        ("--along routingg", "`routingg` is not a setting"),
        ("--only load", "write KEY=VALUE"),
        ("-o along/accepted.csv", "name a folder"),
    ] {
        let refused = run(folder.path(), &format!("plot r {line}"));
        code(&refused, 2);
        assert!(String::from_utf8_lossy(&refused.stderr).contains(words), "{line}");
    }
}

/// Traces of one name in two folders have pictures and curves of their own, and a name of any length can be plotted.
#[test]
fn pictures_of_traces_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(200);
    let mut line = "sweep --topology torus:4x4 --vcs 2,3 -q -o r".to_owned();
    for (bytes, name) in (1000..).zip(["a/x", "b/x", &long]) {
        let path = folder.path().join(format!("{name}.trc"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("s 0 1 5 {bytes}\nr 0 1 5 {bytes}\n")).unwrap();
        line.push_str(&format!(" --trace {name}.trc"));
    }
    code(&run(folder.path(), &line), 0);
    code(&run(folder.path(), "plot r -q --each trace"), 0);
    let data = |name: &str| fs::read_to_string(folder.path().join(format!("r/plots/completion-{name}.csv"))).unwrap();
    assert!(data("a-x-trc").contains("\"a/x.trc\"") && data("b-x-trc").contains("\"b/x.trc\""), "{}", data("a-x-trc"));
    assert!(data(&long[..100]).contains(&long));
}
