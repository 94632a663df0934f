//! Uses of results: pictures, the page, comparisons, saturation, and reproducibility.

#![allow(clippy::print_stdout, reason = "what was found is for who runs the tests")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tests::command::{browser, run};

#[track_caller]
fn code(output: &Output, expected: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(expected), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The output of a command that ends with this code.
#[track_caller]
fn code_and_words(output: &Output, expected: i32) -> String {
    code(output, expected);
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn done(folder: &Path, line: &str) -> String {
    code(&run(folder, line), 0)
}

/// The experiment of `fsin init`, shortened.
fn first_sweep(folder: &Path) {
    fs::write(folder.join("e.toml"), done(folder, "init")).unwrap();
    let line =
        "sweep e.toml --load 0.1,0.4,0.7,1 --warmup 500 --samples 4 --sample-size 500 --max-conv-time 2000 -q -o r";
    done(folder, line);
}

/// Every opened tag is closed: the XML well-formedness that matters for these pictures.
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

/// The section of a page with this heading; empty if there is none.
fn section<'a>(page: &'a str, name: &str) -> &'a str {
    page.split("<h2>").find(|section| section.starts_with(name)).unwrap_or_default()
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
    // Nothing is fetched from elsewhere.
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!elsewhere.contains(word), "the page refers to something: {word}");
    }
    let place = |word: &str| page.find(word).unwrap_or_else(|| panic!("the page lacks {word}"));
    assert!(
        page.contains("<h1>bubble:smart and bubble:oblivious on torus:8x8 under uniform and transpose traffic</h1>")
    );
    assert!(place("<h2>Settings") < place("<h2>Curves"), "the settings come first");
    assert!(place("<h2>Curves") < place("<h2>Saturation") && place("<h2>Points") < place("<h2>Manifest"));
    let settings = section(&page, "Settings");
    for words in [
        ">routing</dt><dd>bubble:smart, bubble:oblivious<",
        ">load</dt><dd>0.1, 0.4, 0.7, 1 ",
        ">sample-size</dt><dd>500 ",
    ] {
        assert!(settings.contains(words), "{words}: {settings}");
    }
    let (set, usual) = settings.split_once("<details>").unwrap();
    assert!(set.contains(">warmup<") && !set.contains(">queue<") && usual.contains(">queue<"), "defaults stand apart");
    // Requested behaviour is no warning: a sweep through saturation, a pattern with silent nodes.
    let warned = section(&page, "Warnings");
    assert!(!warned.contains("saturated:") && !warned.contains("never send"), "{warned}");
    let noted = section(&page, "Notes");
    assert!(noted.contains("saturated:") && noted.contains("never send"), "{noted}");
    assert_eq!(page.matches("class=\"hint\"").count(), 3 * 16, "every marker says its values");
    let points = section(&page, "Points");
    assert_eq!(points.matches("<tr class").count(), 16 + 48, "a row for every point, with its seeds behind it");
    assert_eq!(points.matches("<tr class=\"part").count(), 48);
    // Numbers end where their uncertainty does: its two digits are the last ones.
    let table = points.split("</table>").next().unwrap().replace("<small>", "").replace("</small>", "");
    let intervals: Vec<&str> = table.split('>').filter(|cell| cell.contains(" ± ")).collect();
    for cell in &intervals {
        let (value, ci95) = cell.split_once('<').unwrap().0.split_once(" ± ").unwrap();
        let decimals = |number: &str| number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let digits = ci95.replace(['.', '\u{2009}'], "").trim_start_matches('0').trim_end_matches('0').len();
        assert!(decimals(value) == decimals(ci95) && digits <= 2, "{cell}");
    }
    assert!(intervals.len() >= 2 * 64, "{}", intervals.len());
}

#[test]
fn saturated_points_are_hollow_and_not_joined() {
    let folder = tempfile::tempdir().unwrap();
    for (name, loads, joined) in [("below", "0.05,0.1", 1), ("beyond", "0.6,1", 0)] {
        let line = "--topology torus:8x8 --traffic transpose --cycles 6000 --routing bubble:oblivious --vcs 1 -q";
        done(folder.path(), &format!("sweep {line} --load {loads} -o {name}"));
        done(folder.path(), &format!("plot {name} --saturated -q"));
        let data = fs::read_to_string(folder.path().join(name).join("plots/latency.csv")).unwrap();
        let state = if joined == 0 { ",1" } else { ",0" };
        assert!(data.lines().skip(1).all(|line| line.ends_with(state)), "{data}");
        let svg = fs::read_to_string(folder.path().join(name).join("plots/latency.svg")).unwrap();
        // A single curve has no legend: lines of its colour and width connect the points.
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
    // The available figures are drawn.
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
    assert!(section(&page, "Notes").contains(note) && !section(&page, "Warnings").contains(note));
    // Without notes their heading is absent.
    let folder = tempfile::tempdir().unwrap();
    first_sweep(folder.path());
    done(folder.path(), "report r -q");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(section(&page, "Notes").contains("saturated:"));
    done(folder.path(), "run --topology torus:4x4 --load 0.1 --cycles 2000 -q -o one");
    done(folder.path(), "report one -q");
    let page = fs::read_to_string(folder.path().join("one/report.html")).unwrap();
    assert!(!page.contains("<h2>Warnings"), "there are none");
    // Without other loads, a saturated run causes a warning.
    done(folder.path(), "run --topology torus:4x4 --load 1 --cycles 2000 -q -o full");
    done(folder.path(), "report full -q");
    let page = fs::read_to_string(folder.path().join("full/report.html")).unwrap();
    assert!(section(&page, "Warnings").contains("saturated:"));
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
    // Anything but the written contents is not a result.
    for not_a_result in ["{}", "[]", r#"{"experiment": 3}"#] {
        fs::write(point.join("result.json"), not_a_result).unwrap();
        for command in ["collect r", "plot r -q", "report r -q", "compare r r"] {
            assert!(
                code_and_words(&run(folder.path(), command), 2).contains("result.json"),
                "{command} {not_a_result}"
            );
        }
    }
    // A truncated file is not one either.
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
    // A folder of one run with other contents.
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
    assert!(read("r/plots/completion.csv").starts_with("curve,label,phit-bytes,completion_seconds,"));
    assert!(read("r/plots/completion.svg").contains("Completion time (µs)"), "in a unit that suits the values");
    assert!(read("r/plots/latency.svg").contains("Mean latency (cycles of different lengths)"));
    done(folder.path(), "report r -q");
    assert!(read("r/report.html").contains("The length of a cycle differs between points"));
    // Different texts are each shown with their points.
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

#[test]
fn comparisons_say_what_is_compared_and_how_sure_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sweep --topology torus:4x4 --load 0.2,0.3 --cycles 4000 -q";
    done(folder.path(), &format!("{sweep} --seeds 2 --vcs 3 -o before"));
    done(folder.path(), &format!("{sweep} --seeds 2 --vcs 3 --packet 17 -o after"));
    let json = |line: &str| -> Value { serde_json::from_str(&done(folder.path(), line)).unwrap() };
    let found = json("compare before after --format json");
    let setting = serde_json::json!({ "key": "packet", "baseline": ["16"], "candidate": ["17"] });
    assert_eq!(found["settings"], serde_json::json!([setting]), "what alone differs");
    let verdicts = |found: &Value, figure: &str| -> Vec<String> {
        let rows = found["differences"].as_array().unwrap().iter();
        rows.filter(|row| row["figure"] == figure).map(|row| row["verdict"].as_str().unwrap().to_owned()).collect()
    };
    // Two seeds have twenty batches, and two percentiles.
    assert_eq!(found["differences"][1]["baseline_samples"], "20 batches");
    assert_eq!(verdicts(&found, "latency_p99_cycles"), ["unclear", "unclear"]);
    assert_eq!(verdicts(&found, "latency_mean_cycles"), ["higher", "higher"], "every packet is longer by a phit");
    // Within a margin as wide as this, everything is equal.
    let wide = json("compare before after --format json --margin 30%");
    assert_eq!(verdicts(&wide, "latency_mean_cycles"), ["same", "same"]);
    let table = done(folder.path(), "compare before after");
    for line in ["A: before (4 results)", "B: after (4 results)", "  packet  16 -> 17", "6 figures compared: "] {
        assert!(table.lines().any(|found| found.starts_with(line)), "{line}: {table}");
    }
    assert!(code_and_words(&run(folder.path(), "compare before after --margin much"), 2).contains("--margin"));
    assert!(code_and_words(&run(folder.path(), "report after --margin 2"), 2).contains("--baseline"));
    // The page has the curves of both: dashed lines for the baseline.
    done(folder.path(), "report after -q -o alone.html");
    done(folder.path(), "report after --baseline before -q -o both.html");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let hints = |page: &str| page.matches("class=\"hint\"").count();
    assert_eq!(hints(&read("both.html")), 2 * hints(&read("alone.html")));
    let page = read("both.html");
    assert!(page.contains("and pale bars, are those of before") && page.contains("<td>packet</td>"));
    // Bars too, whose words the two sides need not share.
    let words = "sweep --topology torus:4x4 --load 0.2 --cycles 2000 -q";
    done(folder.path(), &format!("{words} --traffic uniform,transpose -o a"));
    done(folder.path(), &format!("{words} --traffic transpose,tornado -o b"));
    done(folder.path(), "report b --baseline a -q -o bars.html");
    let page = read("bars.html");
    assert!(page.contains(">uniform</text>"), "words of the baseline alone");
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

/// Several networks and seeds: a mean with its confidence for each network, stored where the page finds it.
#[test]
fn saturation_of_several_networks_and_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let short = "--topology torus:4x4 --tolerance 0.25 --warmup 500 --samples 2 --sample-size 500 --max-conv-time 0 -q";
    let line = format!("saturation {short} --routing bubble:oblivious,bubble:smart --traffic uniform,complement");
    let found: Value =
        serde_json::from_str(&done(folder.path(), &format!("{line} --seeds 3 -o s --format json"))).unwrap();
    let searches = found["searches"].as_array().unwrap();
    assert_eq!((searches.len(), found["complete"].as_bool()), (4, Some(true)));
    assert_eq!(searches[1]["settings"], serde_json::json!({ "routing": "bubble:oblivious", "traffic": "complement" }));
    for search in searches {
        let seeds = search["seeds"].as_array().unwrap();
        let numbers: Vec<&str> = seeds.iter().map(|seed| seed["seed"].as_str().unwrap()).collect();
        assert_eq!(numbers, ["1", "2", "3"]);
        // The mean over the networks with a result.
        let loads: Option<Vec<f64>> =
            seeds.iter().map(|seed| seed["saturation_load_phits_per_node_cycle"].as_f64()).collect();
        let mean = loads.map(|loads| loads.iter().sum::<f64>() / 3.0);
        match (search["saturation_load_phits_per_node_cycle"].as_f64(), mean) {
            (Some(found), Some(mean)) => assert!((found - mean).abs() < 1e-12),
            (found, mean) => assert_eq!(found, mean),
        }
        assert_eq!(search["saturation_load_ci95"].is_null(), mean.is_none());
    }
    // One of several seeds yields the result that it yields alone, on any number of threads.
    let alone = "--routing bubble:oblivious --traffic complement --seed 2 --format json";
    let alone: Value = serde_json::from_str(&done(folder.path(), &format!("saturation {short} {alone}"))).unwrap();
    assert_eq!(searches[1]["seeds"][1]["probes"], alone["probes"]);
    done(folder.path(), &format!("{line} --seeds 3 -o t --jobs 1"));
    let text = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    assert_eq!(text("s/saturation.json"), text("t/saturation.json"));
    assert!(text("s/saturation.csv").starts_with("routing,traffic,saturation_load_phits_per_node_cycle,"));
    // The table has a line per network.
    let table = done(folder.path(), &line);
    assert!(table.contains("routing bubble:oblivious, traffic uniform ") && table.lines().count() == 6, "{table}");
    // The page shows searches, alone and beside a sweep; without searches there is no section.
    const SECTION: &str = "<h2>Saturation by bisection";
    done(folder.path(), "report s -q");
    assert!(text("s/report.html").contains(SECTION) && text("s/report.html").contains("traffic complement"));
    done(folder.path(), "sweep --topology torus:4x4 --cycles 200 --load 0.1,0.2 -q -o r");
    done(folder.path(), "report r -q");
    assert!(!text("r/report.html").contains(SECTION));
    done(folder.path(), &format!("saturation {short} --load 0.2,0.5,0.1 -o r"));
    done(folder.path(), "report r -q");
    assert!(text("r/report.html").contains(SECTION) && text("r/report.html").contains("<h2>Points"));
    let kept: Value = serde_json::from_str(&text("r/saturation.json")).unwrap();
    assert_eq!(kept["highest_load"], 0.5, "of several loads the highest");
    for (line, words) in [
        ("--load 0.5 -o r", "results of a search are already there"),
        ("--load 0.5 -o s/saturation.csv", "a file of this name exists"),
        ("--routing dally:trc,bubble:smart --vcs 3", "needs exactly 2 virtual channels"),
        ("--load 0", "no load that could be raised"),
    ] {
        let told = code_and_words(&run(folder.path(), &format!("saturation {short} {line}")), 2);
        assert!(told.contains(words), "{line}: {told}");
    }
    fs::write(folder.path().join("s/saturation.json"), "[]").unwrap();
    assert!(code_and_words(&run(folder.path(), "report s -q"), 2).contains("saturation.json"));
}

/// No program is faster than its bounds, and the page names the binding one.
#[test]
fn lower_bounds_stand_beside_the_time_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["injection", "ejection", "bisection", "links", "critical_path"];
    for network in
        ["torus:4x4", "mesh:16", "mesh:4x2x2", "thintree:4,2,2", "torus:4x4 --ways 1 --routing bubble:oblivious"]
    {
        for kernel in ["all-to-all:tasks=16,bytes=1024", "bintree:tasks=16", "butterfly:tasks=16", "ring:tasks=16"] {
            let line = format!("run --topology {network} --kernel {kernel} -q --format json");
            let output = run(folder.path(), &line);
            // Not every kernel has these parameters.
            if output.status.code() == Some(2) {
                continue;
            }
            let found: Value = serde_json::from_str(&code(&output, 0)).unwrap();
            let completion = found["completion_cycles"].as_u64().unwrap();
            let bounds: Vec<u64> = names
                .iter()
                .map(|name| {
                    found["completion_bounds_cycles"][name].as_u64().unwrap_or_else(|| panic!("{line}: {name}"))
                })
                .collect();
            assert!(bounds.iter().all(|&bound| bound <= completion), "{line}: {bounds:?} {completion}");
            assert_eq!(found["completion_bound_cycles"].as_u64(), bounds.iter().copied().max(), "{line}");
        }
    }
    // Half of 16 tasks send 16 packets of 16 phits to each of the others, over the one link in the middle.
    let line = "--kernel all-to-all:tasks=16,bytes=1024 -q";
    let found: Value =
        serde_json::from_str(&done(folder.path(), &format!("run --topology mesh:16 {line} --format json"))).unwrap();
    assert_eq!(found["completion_bounds_cycles"]["bisection"], 8 * 8 * 16 * 16);
    assert_eq!(found["completion_bound_by"], "bisection");
    let table = done(folder.path(), &format!("run --topology mesh:16 {line}"));
    assert!(table.contains("16384 / bisection (cycles)"), "{table}");
    done(folder.path(), &format!("sweep --topology mesh:16 --topology torus:4x4 {line} -o r"));
    done(folder.path(), "report r -q");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(page.contains("<h2>Time and its lower bounds") && page.contains("<td>bisection</td>"));
    // Without tasks there are no bounds.
    done(folder.path(), "run --topology torus:4x4 --cycles 200 -q -o s");
    done(folder.path(), "report s -q");
    assert!(!fs::read_to_string(folder.path().join("s/report.html")).unwrap().contains("lower bounds"));
}

/// Writes another result in the place of one, and its checksum.
fn rewrite(result: &Path, text: &str) {
    fs::write(result, text).unwrap();
    let sums = result.with_file_name("SHA256SUMS");
    let sum: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    let renewed: String = fs::read_to_string(&sums)
        .unwrap()
        .lines()
        .map(|line| if line.ends_with("  result.json") { format!("{sum}  result.json\n") } else { format!("{line}\n") })
        .collect();
    fs::write(&sums, renewed).unwrap();
}

/// Fewer bytes x hops are not always less time.
#[test]
fn an_optimised_placement_that_is_slower_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sweep --topology torus:4x4 --kernel bintree:tasks=16 --placement optimise,random -o r";
    let told = code_and_words(&run(folder.path(), sweep), 0);
    assert!(!told.contains("slower than random"), "{told}");
    for point in fs::read_dir(folder.path().join("r/points")).unwrap() {
        let file = point.unwrap().path().join("result.json");
        let mut found: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        if found["experiment"]["placement"] == "optimise" {
            found["completion_seconds"] = 1.0.into();
            rewrite(&file, &found.to_string());
        }
    }
    let told = code_and_words(&run(folder.path(), "collect r"), 0);
    assert!(told.contains("note: optimise is slower than random here: 1.0000e0 s against"), "{told}");
    done(folder.path(), "report r -q");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(page.contains("optimise is slower than random here"));
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
        tests::shared::skipped("no chromium");
        return;
    };
    let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:?}");
    // The script has run to its end: it labels every marker.
    assert_eq!(dom.matches("aria-label=\"bubble").count() + dom.matches("aria-label=\"Offered").count(), 48);
    // The runs of a point are hidden until it is pressed, and stay with it when points are sorted.
    assert_eq!((dom.matches("<tr class=\"part").count(), dom.matches("hidden=\"\"><td></td>").count()), (48, 48));
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    let press = "<script>{ const points = document.querySelector('#points table');\
                 const load = [...points.tHead.rows[0].cells].find((cell) => cell.textContent === 'load');\
                 load.querySelector('button').click(); load.querySelector('button').click();\
                 points.querySelector('.fold').click();\
                 document.title = [...points.rows].slice(1, 6).map((row) => row.hidden + row.cells[2].textContent\
                 + row.cells[3].textContent).join(); }</script></body>";
    fs::write(folder.path().join("r/pressed.html"), page.replace("</body>", press)).unwrap();
    let (dom, log) = browser(&folder.path().join("r/pressed.html"), &["--dump-dom"]).unwrap();
    assert!(!log.contains("CONSOLE"), "{log}");
    let title = dom.split("<title>").nth(1).unwrap().split('<').next().unwrap();
    assert_eq!(
        title, "false13,falseseed 1,falseseed 2,falseseed 3,false13",
        "the highest load, unfolded, and the next"
    );
}

/// From nine curves on, pictures are split by a setting, and every picture names the common settings of its curves.
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
    assert!(picture.contains(">transpose</text>") && picture.contains(">bubble:smart</text>"), "{picture}");
    assert_eq!(
        (data.lines().count(), data.matches(",bubble:random; transpose,bubble:random,transpose,").count()),
        (7, 2),
        "{data}"
    );
    done("report r -q");
    assert_eq!(text("r/report.html").matches("Accepted load against load of each sending node: ").count(), 6);

    done("plot r -q --each routing -o each");
    assert_eq!(names("each"), ["-bubble-oblivious", "-bubble-random", "-bubble-smart"]);
    done("plot r -q --along traffic --only load=0.2 --only routing=bubble:smart --only routing=bubble:random -o along");
    assert_eq!(names("along"), [""]);
    let told = run(folder.path(), "plot r --only load=0.10 -o one");
    assert!(String::from_utf8_lossy(&told.stderr).contains(": uniform, load 0.1, open sources\n"), "{told:?}");
    let bars = text("along/accepted.csv");
    assert!(
        bars.starts_with(
            "curve,label,routing,load,traffic,position,accepted_load_of_senders_phits_per_node_cycle,ci95,saturated\n"
        ) && bars.lines().count() == 7
            && !bars.contains("oblivious"),
        "{bars}"
    );
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

/// The division into pictures depends on what varies, not on how or where they are drawn.
#[test]
fn a_scale_and_a_folder_part_no_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sweep --topology torus:4x4 --cycles 300 --routing bubble:smart,bubble:random";
    done(folder.path(), &format!("{sweep} --traffic uniform,transpose,complement,neighbor --load 0.1,0.2 -q -o r"));
    let files = |to: &str| {
        let entries = fs::read_dir(folder.path().join(to)).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let ways =
        ["-o a", "--scale linear -o lin", "--scale log -o log", "--scale linear --title X --ymax 90 --xmax 1 -o b"];
    for way in ways {
        done(folder.path(), &format!("plot r {way} -q"));
        let to = way.rsplit(' ').next().unwrap();
        let expected =
            ["accepted", "latency-p99", "latency"].map(|name| [format!("{name}.csv"), format!("{name}.svg")]);
        assert_eq!(files(to), expected.concat(), "{way}: eight curves are one picture of each figure");
    }
    // Split pictures are split on every scale.
    done(
        folder.path(),
        &format!("{sweep},bubble:oblivious --traffic uniform,transpose,complement,neighbor --load 0.1,0.2 -q -o s"),
    );
    done(folder.path(), "plot s -q -o c");
    done(folder.path(), "plot s --scale linear -o d -q");
    assert_eq!(files("c"), files("d"));
    assert_eq!(files("c").len(), 2 * 3 * 3, "a picture for each routing");
}

/// The classic figure: an even axis up to a multiple of the latency at the lowest load, the same in all pictures,
/// without saturated points.
#[test]
fn latency_over_load_is_drawn_as_in_papers() {
    let folder = tempfile::tempdir().unwrap();
    let text = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    let line = "--topology torus:8x8 --cycles 3000 --vcs 1 --routing bubble:oblivious --traffic uniform,transpose";
    done(folder.path(), &format!("sweep {line} --load 0.05,0.2,0.9 -q -o r"));
    let rows = |file: &str| -> Vec<Vec<String>> {
        text(file).lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let full =
        |svg: &str| svg.split('<').filter(|tag| tag.starts_with("circle") && tag.contains("fill=\"#0072B2\"")).count();
    let told = code_and_words(&run(folder.path(), "plot r --each traffic -o each"), 0);
    let rows_of = rows("each/latency-transpose.csv");
    assert!(rows_of.iter().all(|row| row.len() == 7 && row[0].parse::<u32>().is_ok()), "{rows_of:?}");
    assert_eq!(rows_of[2][6], "1", "the last load is saturated: {rows_of:?}");
    assert!(told.contains("without 1 saturated point"), "{told}");
    // One scale, and fewer markers than points; with --saturated they may be beyond the axis, with a note.
    let ticks = |file: &str| -> Vec<String> {
        let svg = text(file);
        let texts = svg.split("<text").skip(1).filter_map(|text| text.split(['>', '<']).nth(1));
        texts.filter(|text| text.parse::<f64>().is_ok()).map(str::to_owned).collect()
    };
    assert_eq!(ticks("each/latency-uniform.svg"), ticks("each/latency-transpose.svg"));
    assert_eq!(full(&text("each/latency-transpose.svg")), 2);
    let told = code_and_words(&run(folder.path(), "plot r --saturated -o all"), 0);
    assert!(
        told.contains("up to 5 times the latency at the lowest load") && told.contains("beyond the axes"),
        "{told}"
    );
    // Explicit ends.
    done(folder.path(), "plot r --ymax 130 --xmax 0.3 --range accepted=0..0.25 -q -o ends");
    let last = |file: &str| ticks(file).iter().map(|tick| tick.parse::<f64>().unwrap()).fold(0.0, f64::max);
    assert!((last("ends/latency.svg") - 120.0).abs() < 1e-9 && (last("ends/accepted.svg") - 0.3).abs() < 1e-9);
    // Panels, names, a title.
    let line = "plot r --panels --title Tori --name uniform=Even -q -o panels --format svg,png,pdf,pgf";
    done(folder.path(), &format!("{line} --each traffic"));
    let svg = text("panels/latency.svg");
    assert!(is_balanced(&svg) && svg.matches(">Tori</text>").count() == 1, "{svg}");
    assert!(svg.contains(">Even</text>") && svg.contains(">transpose</text>") && !svg.contains(">uniform</text>"));
    assert!(text("panels/latency.csv").contains("\n1,Even,uniform,0.05,"), "settings are those of the sweep");
    let bytes = |file: &str| fs::read(folder.path().join(file)).unwrap();
    assert!(bytes("panels/latency.png").starts_with(b"\x89PNG") && bytes("panels/latency.pdf").starts_with(b"%PDF-"));
    let pgf = text("panels/latency.pgf");
    assert_eq!((pgf.matches("\\begin{axis}").count(), pgf.matches("{latency.csv}").count()), (2, 2), "{pgf}");
    for (line, words) in [
        ("--name ring=Ring", "no value of what varies is `ring`"),
        ("--name uniform", "write VALUE=NAME"),
        ("--range latency=9..2", "the smaller one first"),
        ("--range speed=0..2", "`speed` is no axis"),
        ("--scale log --range latency=0..2", "begins above 0"),
        ("--ymax 0", "a number above 0"),
        ("--format gif", "possible values: svg, pdf, png, pgf"),
    ] {
        let told = code_and_words(&run(folder.path(), &format!("plot r {line}")), 2);
        assert!(told.contains(words), "{line}: {told}");
    }
}

/// Traces of the same name in two folders have separate pictures and curves, and names of any length can be plotted.
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
    assert!(data("a-x-trc").contains(",a/x.trc,") && data("b-x-trc").contains(",b/x.trc,"), "{}", data("a-x-trc"));
    assert!(data(&long[..100]).contains(&long));
}
