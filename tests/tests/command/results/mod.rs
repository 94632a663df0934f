//! Uses of results: pictures, the page, comparisons, saturation, and reproducibility.

#![allow(clippy::print_stdout, reason = "what was found is for who runs the tests")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod collectives;
mod comparison;
mod data_centre;
mod details;
mod looks;
mod node;
mod parcel;
mod pictures;
mod saturation;

use std::collections::BTreeMap;
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
    done(folder.path(), "run --topology torus:4x4 --load 0.1 --cycles 8000 -q -o one");
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
fn a_trace_that_changed_is_found() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.trc"), "s 0 1 64 0\nr 1 0 64 0\n").unwrap();
    done(folder.path(), "run --topology torus:4 --trace a.trc -q -o stored");
    assert!(done(folder.path(), "rerun stored").contains("1 of 1"));
    // The file of the author may change: that of the results counts.
    fs::write(folder.path().join("a.trc"), "s 0 1 128 0\nr 1 0 128 0\n").unwrap();
    assert!(done(folder.path(), "rerun stored").contains("1 of 1"));
    let kept = fs::read_dir(folder.path().join("stored/inputs")).unwrap().next().unwrap().unwrap().path();
    fs::copy(folder.path().join("a.trc"), kept.join("a.trc")).unwrap();
    assert!(code(&run(folder.path(), "rerun stored"), 1).contains("input files"));
}

/// The page is dark where the reader's system is dark, light where it is light, and names what was run.
#[test]
fn l9_a_page_is_dark_where_the_reader_is() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), "run --kernel all-reduce-ring:tasks=4,bytes=4096 --topology torus:4 --link-loads -q -o k");
    done(folder.path(), "report k -q");
    let page = fs::read_to_string(folder.path().join("k/report.html")).unwrap();
    assert!(
        page.contains("<h2>Collectives</h2>") && page.contains("bus bandwidth"),
        "a page of a program with collectives"
    );
    // A query that a browser does not know never holds.
    assert!(
        !page.contains("(not "),
        "`not` stands before a type of medium, or before a condition in brackets of its own"
    );
    let look = "<script>document.body.dataset.seen = [document.body, ...document.querySelectorAll('svg text')].map((part) =>\
                getComputedStyle(part)[part == document.body ? 'backgroundColor' : 'fill']).slice(0, 2).join('|')\
                + '|' + (document.documentElement.scrollWidth <= innerWidth);</script></body>";
    fs::write(folder.path().join("look.html"), page.replace("</body>", look)).unwrap();
    for (scheme, seen) in
        [(0, "rgb(22, 24, 28)|rgb(230, 230, 230)|true"), (1, "rgb(255, 255, 255)|rgb(26, 26, 26)|true")]
    {
        for width in [1400, 500] {
            let flags =
                [format!("--blink-settings=preferredColorScheme={scheme}"), format!("--window-size={width},900")];
            let flags = ["--dump-dom", &flags[0], &flags[1]];
            let Some((dom, _)) = browser(&folder.path().join("look.html"), &flags) else {
                tests::shared::skipped("no chromium");
                return;
            };
            assert!(
                dom.contains(&format!("data-seen=\"{seen}\"")),
                "scheme {scheme}, {width} pixels: {}",
                dom.split("data-seen=").nth(1).map_or("", |rest| &rest[..80])
            );
        }
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
    let press = "<script>{ const points = document.querySelector('.points table');\
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
