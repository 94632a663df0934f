//! Promises of the README and the examples: their commands are valid and yield the output shown below them.
//!
//! A page shows a command as a line `$ cargo run --release -p fsin -- ARGUMENTS` (or `$ fsin ARGUMENTS`), followed by
//! its output. The command is run again with `--format json`, and the figures in the output shown are compared with
//! those of the JSON result. The digest is among them: it covers every delivery of the run.
//!
//! After a change of results, `UPDATE_EXAMPLES=1 cargo test -p tests --release --test readme` writes the new output
//! into the pages, and with `-- --ignored sweeps` the results and pictures of the sweeps beside them. A reader must
//! check the surrounding text, and update tables by hand: tests report the outdated numbers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::command::run;
use tests::pages::{Block, blocks as commands, shell};
use tests::shared::workspace;

/// Figures of the table, and their places in the JSON result.
const FIGURES: [(&str, &str); 3] =
    [("digest", "/digest"), ("simulated", "/cycles"), ("completion", "/completion_cycles")];

/// Prefixes of the commands shown.
const PREFIXES: [&str; 2] = ["cargo run --release -p fsin -- ", "fsin "];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of every fenced block of a page.
fn blocks(page: &str) -> Vec<String> {
    page.split("```")
        .skip(1)
        .step_by(2)
        .map(|block| block.split_once('\n').map_or("", |(_, text)| text).to_owned())
        .collect()
}

/// The text of the fenced block that follows a marker of the page.
fn marked(page: &str, marker: &str) -> String {
    let (_, rest) = page.split_once(marker).unwrap_or_else(|| panic!("the page has no `{marker}`"));
    blocks(rest).into_iter().next().unwrap_or_else(|| panic!("no block follows `{marker}`"))
}

/// The arguments of a command shown, if it is one of `fsin`.
fn arguments(command: &str) -> Option<&str> {
    PREFIXES.iter().find_map(|prefix| command.strip_prefix(prefix))
}

/// Commands of a block with the output shown below each.
fn sessions(block: &str) -> Vec<(String, String)> {
    let mut sessions: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), sessions.last_mut()) {
            (Some(command), _) => sessions.push((command.to_owned(), String::new())),
            (None, Some((_, output))) => {
                output.push_str(line);
                output.push('\n');
            }
            (None, None) => {}
        }
    }
    sessions
}

/// The first line of the output that begins with this label: the word after it.
fn shown<'a>(output: &'a str, label: &str) -> Option<&'a str> {
    output.lines().find_map(|line| line.strip_prefix(label)?.strip_prefix(' ')?.split_whitespace().next())
}

/// The result of a run from the root of the workspace.
fn result(line: &str) -> Value {
    let output = shell(workspace(), &format!("fsin {line} --quiet --format json"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "fsin {line}: {}\n{errors}", output.status);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("fsin {line}: {error}"))
}

/// The label of a line of a table, and the rest.
fn columns(line: &str) -> (&str, &str) {
    line.char_indices().nth(30).map_or((line, ""), |(at, _)| (line[..at].trim_end(), &line[at..]))
}

/// The output shown, with each line replaced by the one of the same label and unit in the output `found`.
fn renewed(shown: &str, found: &str) -> String {
    let unit = |line: &str| columns(line).1.split_whitespace().nth(1).map(str::to_owned);
    let same = |line: &str, other: &&str| columns(other).0 == columns(line).0 && unit(other) == unit(line);
    let is_heading = |line: &str| line.contains(" | ");
    shown
        .lines()
        .map(|line| {
            let new = found.lines().find(|other| same(line, other) || is_heading(line) && is_heading(other));
            format!("{}\n", new.unwrap_or(line).trim_end())
        })
        .collect()
}

/// Writes the current output into a page.
fn update_page(path: &Path) {
    let mut page = read(path);
    for (command, output) in blocks(&page.clone()).iter().flat_map(|block| sessions(block)) {
        let Some(line) = arguments(&command).filter(|line| line.starts_with("run ")) else { continue };
        let found = shell(workspace(), &format!("fsin {line} --quiet"));
        let new = renewed(&output, &String::from_utf8_lossy(&found.stdout));
        page = page.replace(&format!("$ {command}\n{output}"), &format!("$ {command}\n{new}"));
    }
    std::fs::write(path, page).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Runs every `fsin run` on a page and compares. Returns their number.
fn check_page(path: &Path) -> usize {
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        update_page(path);
    }
    let mut count = 0;
    for (command, output) in blocks(&read(path)).iter().flat_map(|block| sessions(block)) {
        let Some(line) = arguments(&command).filter(|line| line.starts_with("run ")) else { continue };
        let found = result(line);
        for (label, pointer) in FIGURES {
            let Some(shown) = shown(&output, label) else { continue };
            let found = match found.pointer(pointer) {
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
                None => "absent".to_owned(),
            };
            assert_eq!(found, shown, "{}: {label} of `{command}`", path.display());
        }
        let has_digest = shown(&output, "digest").is_some();
        assert!(has_digest, "{}: the output of `{command}` shows no digest", path.display());
        count += 1;
    }
    count
}

/// The folders of the examples that have a page.
fn examples() -> Vec<PathBuf> {
    let folder = workspace().join("examples");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder can be read").path())
        .filter(|path| path.join("README.md").is_file())
        .collect();
    found.sort();
    found
}

#[test]
fn the_output_in_the_readme_is_that_of_its_commands() {
    assert_eq!(check_page(&workspace().join("README.md")), 2, "a trace and a synthetic load");
}

#[test]
fn the_first_command_of_the_readme_runs_a_trace_and_a_synthetic_load() {
    let command = marked(&read(&workspace().join("README.md")), "<!-- command: run -->");
    let lines: Vec<&str> = command.trim().split(" && ").map(|one| arguments(one).expect("a run of fsin")).collect();
    let [trace, synthetic] = lines[..] else { panic!("two runs, not {lines:?}") };
    let (trace, synthetic) = (result(trace), result(synthetic));
    assert_eq!(trace["complete"], true);
    assert!(trace["completion_cycles"].is_u64() && trace["experiment"]["trace"].is_string(), "the first is a trace");
    assert_eq!(synthetic["complete"], true);
    assert_eq!(synthetic["converged"], true);
    assert!(synthetic["experiment"]["load"].is_number(), "the second is a synthetic load");
}

#[test]
fn the_second_command_of_the_readme_tests_the_whole_workspace() {
    let command = marked(&read(&workspace().join("README.md")), "<!-- command: test -->");
    assert!(command.starts_with("cargo test --workspace"), "{command}");
}

#[test]
fn every_example_gives_what_its_page_shows() {
    // Those of an MPI program are scripts, which tests/tests/live/mpi.rs runs.
    for folder in examples().into_iter().filter(|folder| !folder.join("sweep.sh").is_file()) {
        assert!(check_page(&folder.join("README.md")) > 0, "{}: the page shows no run", folder.display());
        let one = ["experiment.toml", "sweep.toml"].iter().filter(|name| folder.join(name).is_file()).count();
        assert_eq!(one, 1, "{}: an example is an experiment or a sweep", folder.display());
    }
}

/// The rows of a CSV file, by the names of its columns.
fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    reader.deserialize().map(|row| row.expect("every row has all columns")).collect()
}

/// A sweep among the examples.
struct Sweep {
    folder: PathBuf,
    /// The commands of its page, which begin with `fsin sweep examples/NAME/sweep.toml`.
    commands: String,
    /// Its expected results.
    expected: Vec<BTreeMap<String, String>>,
}

fn sweeps() -> Vec<Sweep> {
    let folders = examples().into_iter().filter(|folder| folder.join("sweep.toml").is_file());
    folders
        .map(|folder| {
            let page = read(&folder.join("README.md"));
            let wanted = |block: &Block| !block.console && block.text.starts_with("fsin sweep examples/");
            let block = commands(&page).into_iter().find(wanted);
            let commands = block.unwrap_or_else(|| panic!("{}: the page runs no sweep", folder.display())).text;
            Sweep { expected: table(&folder.join("expected.csv")), folder, commands }
        })
        .collect()
}

/// Points are named by all their settings, defaults included, and the contents of their traces.
#[test]
fn the_sweeps_of_the_examples_plan_the_points_whose_results_are_kept() {
    for Sweep { folder, commands, expected } in sweeps() {
        let line = commands.split(" && ").next().unwrap_or_default().trim();
        let line = line.strip_prefix("fsin ").unwrap_or_default().replace(" -o r", " --dry-run");
        let plan = run(workspace(), &line);
        assert!(plan.status.success(), "{}", String::from_utf8_lossy(&plan.stderr));
        let plan = String::from_utf8_lossy(&plan.stdout).into_owned();
        let planned: Vec<&str> = plan.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let kept: Vec<&str> = expected.iter().map(|row| row["point"].as_str()).collect();
        assert_eq!(planned, kept, "{}", folder.display());
    }
}

/// The cells of the rows of tables in a text.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter_map(|line| Some(line.strip_prefix("| ")?.trim_end_matches([' ', '|']).split(" | ").collect()))
}

/// Decimals of a number shown, if it is one.
fn places(cell: &str) -> Option<usize> {
    cell.parse::<f64>().ok()?;
    Some(cell.split_once('.').map_or(0, |(_, fraction)| fraction.len()))
}

/// A row begins with a value of an axis; its numbers are means over seeds of the stored results of points with that
/// value.
#[test]
fn the_tables_of_the_sweeps_show_what_is_kept() {
    // Figures, and what a cell counts for one of theirs: us and kW.
    let figures = [
        ("accepted_load_phits_per_node_cycle", 1.0),
        ("latency_mean_cycles", 1.0),
        ("completion_cycles", 1.0),
        ("completion_seconds", 1e6),
        ("energy_joules", 1.0),
        ("energy_joules_low", 1.0),
        ("energy_joules_high", 1.0),
        ("energy_watts", 1e-3),
    ];
    for Sweep { folder, expected, .. } in sweeps() {
        let mut groups: BTreeMap<Vec<&str>, Vec<&BTreeMap<String, String>>> = BTreeMap::new();
        for row in &expected {
            let axes = row.iter().filter(|(name, _)| name.starts_with("experiment.") && *name != "experiment.seed");
            groups.entry(axes.map(|(_, value)| value.as_str()).collect()).or_default().push(row);
        }
        let page = read(&folder.join("README.md"));
        let (_, tables) = page.split_once("gives `r/results.csv`").expect("the page shows results");
        let mut compared = 0;
        for row in rows(tables) {
            let key = row[0].trim_matches('`');
            let is_key = |value: &&str| *value == key || value.parse::<f64>().is_ok_and(|v| key.parse() == Ok(v));
            let of_row: Vec<_> = groups.iter().filter(|(axes, _)| axes.iter().any(&is_key)).collect();
            let cells = row[1..].iter().flat_map(|cell| cell.split(" to ")).filter(|_| !of_row.is_empty());
            for cell in cells {
                let Some(places) = places(cell) else { continue };
                let mean = |rows: &[&BTreeMap<String, String>], (figure, factor): (&str, f64)| {
                    let sum: f64 = rows.iter().filter_map(|row| row.get(figure)?.parse::<f64>().ok()).sum();
                    format!("{:.places$}", factor * sum / rows.len() as f64)
                };
                let is_kept = of_row.iter().any(|(_, rows)| figures.iter().any(|&figure| mean(rows, figure) == cell));
                assert!(is_kept, "{}: {cell} of {}", folder.display(), row[0]);
                compared += 1;
            }
        }
        assert!(compared >= 8, "{}: {compared} numbers of tables", folder.display());
    }
}

#[test]
fn the_comparison_with_the_original_shows_the_figures_of_today() {
    let page = read(&workspace().join("examples/uniform-8x8/README.md"));
    let (_, table) = page.split_once("## Against the original simulator").expect("the page compares");
    let mut compared = 0;
    for row in rows(table).filter(|row| places(row[0]).is_some()) {
        let found = result(&format!("run examples/uniform-8x8/experiment.toml --load {}", row[0]));
        for (cell, figure) in [(row[2], "accepted_load_phits_per_node_cycle"), (row[4], "latency_mean_cycles")] {
            let places = places(cell).expect("figures are numbers");
            assert_eq!(format!("{:.places$}", found[figure].as_f64().unwrap_or(f64::NAN)), cell, "load {}", row[0]);
        }
        compared += 1;
    }
    assert_eq!(compared, 5);
}

/// The pictures stored with an example.
fn kept_pictures(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder can be read");
    let paths = entries.map(|entry| entry.expect("a folder can be read").path());
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "svg")).collect()
}

/// Compares pictures that commands drew with those that are kept, or keeps the new ones.
fn compare_pictures(drawn: &Path, kept: &Path, names: &[(&str, &str)]) {
    for (from, to) in names {
        let (from, to) = (drawn.join(from), kept.join(to));
        if std::env::var_os("UPDATE_EXAMPLES").is_some() {
            std::fs::copy(&from, &to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        }
        assert_eq!(read(&from), read(&to), "{} is not what its commands draw", to.display());
    }
}

/// The pictures of README and tutorial are of the experiment that `fsin init` prints.
#[test]
fn the_pictures_of_readme_and_tutorial_are_those_of_their_commands() {
    let is_sweep = |block: &&Block| block.text.contains("fsin sweep e.toml -o r");
    let (readme, tutorial) =
        (read(&workspace().join("README.md")), read(&workspace().join("docs/book/src/tutorial.md")));
    for line in ["fsin init > e.toml", "fsin sweep e.toml -o r", "fsin plot r"] {
        assert!(readme.contains(line) && tutorial.contains(line), "{line}");
    }
    let block = commands(&readme).into_iter().find(|block| is_sweep(&block)).expect("the README runs a sweep");
    let scratch = tempfile::tempdir().expect("a temporary folder can be created");
    let output = shell(scratch.path(), &block.text);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names = ["latency.svg", "accepted.svg", "latency-p99.svg"].map(|name| (name, name));
    for (name, _) in names {
        assert!(tutorial.contains(&format!("(images/{name})")), "the tutorial shows {name}");
    }
    assert!(readme.contains("(docs/book/src/images/latency.svg)"), "the README shows a picture");
    compare_pictures(&scratch.path().join("r/plots"), &workspace().join("docs/book/src/images"), &names);
}

#[test]
fn the_heat_maps_of_the_book_are_those_of_its_commands() {
    let page = read(&workspace().join("docs/book/src/howto/links.md"));
    let block = blocks(&page).into_iter().find(|block| block.contains("-o w")).expect("the page runs a sweep");
    let scratch = tempfile::tempdir().expect("a temporary folder can be created");
    for (command, _) in sessions(&block) {
        let output = shell(scratch.path(), &command);
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let names = [
        ("links-bubble-oblivious-load-0-2.svg", "links-oblivious.svg"),
        ("links-bubble-smart-load-0-2.svg", "links-smart.svg"),
    ];
    compare_pictures(&scratch.path().join("w/plots"), &workspace().join("docs/book/src/images"), &names);
}

#[test]
#[ignore = "a minute: a sweep of trees"]
fn the_picture_of_the_trees_is_that_of_its_commands() {
    let scratch = tempfile::tempdir().expect("a temporary folder can be created");
    let trees = workspace().join("docs/figures/trees.toml");
    let output = shell(scratch.path(), &format!("fsin sweep {} -o r && fsin plot r", trees.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    compare_pictures(
        &scratch.path().join("r/plots"),
        &workspace().join("docs/figures"),
        &[("accepted.svg", "trees.svg")],
    );
}

/// Every SVG file in a folder and the folders in it.
fn pictures_in(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("a folder can be read").path()) {
        match path.extension() {
            _ if path.is_dir() => pictures_in(&path, found),
            Some(end) if end == "svg" => found.push(path),
            _ => {}
        }
    }
}

/// No text of a picture leaves it, overlaps another one, or has a line through it.
#[test]
fn every_text_of_the_pictures_that_are_kept_can_be_read() {
    let mut found = Vec::new();
    for folder in ["docs", "examples"] {
        pictures_in(&workspace().join(folder), &mut found);
    }
    assert!(found.len() > 20, "{found:?}");
    for picture in found {
        // Those of the dashboard are screens of a terminal, whose cells touch.
        if picture.file_name().is_some_and(|name| name.to_string_lossy().starts_with("hotspot-")) {
            continue;
        }
        let illegible = fsin::report::illegible(&read(&picture)).expect("it is a picture");
        assert!(illegible.is_empty(), "{}: {:?}", picture.display(), &illegible[..illegible.len().min(5)]);
    }
}

/// The book cannot use files outside its folder.
#[test]
fn the_book_shows_the_pictures_of_examples() {
    for (kept, shown) in [
        ("npb-torus-fattree/completion.svg", "completion.svg"),
        ("ownership/latency.svg", "ownership.svg"),
        ("incast/completion.svg", "incast.svg"),
        ("dragonfly-adversarial/links-dragonfly-minimal-groupshift-8-1-load-0-1.svg", "links-dragonfly.svg"),
    ] {
        let kept = workspace().join("examples").join(kept);
        let shown = workspace().join("docs/book/src/images").join(shown);
        assert_eq!(read(&kept), read(&shown), "copy {} to {}", kept.display(), shown.display());
    }
}

/// Writes the current results and pictures beside the page, with the existing columns.
fn update_sweep(folder: &Path, made: &Path) {
    let expected = folder.join("expected.csv");
    let columns = read(&expected).lines().next().unwrap_or_default().to_owned();
    let cells = |row: &BTreeMap<String, String>| {
        let cell = |name: &str| row.get(name).cloned().unwrap_or_default();
        columns.split(',').map(cell).collect::<Vec<_>>()
    };
    let mut writer = csv::Writer::from_path(&expected).expect("the workspace can be written");
    writer.write_record(columns.split(',')).expect("the workspace can be written");
    for row in &table(&made.join("results.csv")) {
        writer.write_record(cells(row)).expect("the workspace can be written");
    }
    for picture in kept_pictures(folder) {
        let name = picture.file_name().expect("a file has a name");
        std::fs::copy(made.join("plots").join(name), &picture).expect("the sweep has this picture");
    }
}

/// `ONLY_EXAMPLE=NAME` runs one of them.
#[test]
#[ignore = "minutes: every sweep of the examples is run"]
fn the_sweeps_of_the_examples_give_the_results_and_pictures_that_are_kept() {
    let only = std::env::var("ONLY_EXAMPLE").ok();
    for Sweep { folder, commands, expected } in sweeps() {
        if only.as_ref().is_some_and(|name| !folder.ends_with(name)) {
            continue;
        }
        let scratch = tempfile::tempdir().expect("a temporary folder can be created");
        let output = shell(scratch.path(), &commands);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let made = scratch.path().join("r");
        assert!(made.join("report.html").is_file(), "{}", folder.display());
        if std::env::var_os("UPDATE_EXAMPLES").is_some() {
            update_sweep(&folder, &made);
            continue;
        }
        for (found, kept) in table(&made.join("results.csv")).iter().zip(&expected) {
            for (column, value) in kept {
                assert_eq!(found.get(column), Some(value), "{}: {column} of {}", folder.display(), kept["point"]);
            }
        }
        let pictures = kept_pictures(&folder);
        assert!(!pictures.is_empty(), "{}: no picture is kept", folder.display());
        for picture in pictures {
            let name = picture.file_name().expect("a file has a name");
            assert_eq!(read(&made.join("plots").join(name)), read(&picture), "{}", picture.display());
        }
    }
}

/// The output of `fsin config` for an example is the same experiment.
#[test]
fn every_example_is_the_same_when_resolved() {
    let scratch = tempfile::tempdir().expect("a temporary folder can be created");
    for experiment in examples().into_iter().map(|folder| folder.join("experiment.toml")).filter(|file| file.is_file())
    {
        let config = run(workspace(), &format!("config {}", experiment.display()));
        assert!(config.status.success(), "{}", String::from_utf8_lossy(&config.stderr));
        let resolved = scratch.path().join("experiment.toml");
        std::fs::write(&resolved, &config.stdout).expect("a temporary file can be written");
        let again = run(workspace(), &format!("config {}", resolved.display()));
        assert_eq!(String::from_utf8_lossy(&again.stdout), String::from_utf8_lossy(&config.stdout));
    }
}
