//! Every block of commands in README, documents, book and examples is run as it stands, or states why it is not.
//!
//! The blocks of a page run one after another in one folder, in a shell. The output of a `console` block of the book is
//! compared with the page, where a line `...` stands for any lines; the output in the README and the examples is
//! compared figure by figure in `readme.rs`.

#![allow(clippy::print_stdout, reason = "the table of what is run is for who runs the tests")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tests::chakra::{collective, compute, file};
use tests::command::{binary, c_library, mpi_library};
use tests::pages::{Block, Fate, blocks, hidden_commands, pages, sessions, shell};
use tests::parallel::parallel;
use tests::pty::Terminal;
use tests::shared::{skipped, workspace};

/// All pages of the repository, those of its folders too, except the reference, which the command itself writes, and the
/// changelog, whose commands are those of its versions.
fn all() -> Vec<PathBuf> {
    let root = workspace();
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        match entry.is_dir() {
            true if name != "target" && !name.starts_with('.') => found.extend(pages(&entry)),
            false if name.ends_with(".md") && name != "CHANGELOG.md" => found.push(entry),
            _ => {}
        }
    }
    let others = ["docs/book/src/reference", "fuzz/target"].map(|folder| root.join(folder));
    found.retain(|path| !others.iter().any(|folder| path.starts_with(folder)));
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// True if `printed` matches `shown`, where lines `...` stand for any lines.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match (shown, printed) {
        ([], printed) => printed.is_empty(),
        ([any, shown @ ..], _) if any == "..." => (0..=printed.len()).any(|at| matches(shown, &printed[at..])),
        ([one, shown @ ..], [first, printed @ ..]) => one.trim_end() == first.trim_end() && matches(shown, printed),
        _ => false,
    }
}

/// Runs a block, and compares its output if `compare`.
#[track_caller]
fn follow(folder: &Path, place: &str, block: &Block, compare: bool) {
    let done = |commands: &str| {
        let output = shell(folder, commands);
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        assert!(output.status.success(), "{place}: `{commands}`: {}\n{text}", output.status);
        text
    };
    let before = block.before.as_deref().unwrap_or_default();
    if !block.console {
        done(&format!("{before}\n{}", block.text));
        return;
    }
    done(before);
    for (command, shown) in sessions(&block.text) {
        let text = done(&command);
        let printed: Vec<&str> = text.lines().collect();
        assert!(!compare || matches(&shown, &printed), "{place}: `{command}` prints:\n{text}");
    }
}

/// True if all these tools are there; says aloud which is not. The libraries that they need are built.
fn has_all(needs: &[String]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |tool: &&String| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file());
    if let Some(missing) = needs.iter().find(|tool| !is_there(tool)) {
        skipped(&format!("no {missing}"));
        return false;
    }
    let needs = |tool: &str| needs.iter().any(|need| need == tool);
    if needs("pkg-config") {
        let _ = c_library();
    }
    if needs("mpicc.mpich") {
        let _ = mpi_library();
    }
    true
}

/// Follows a page; long blocks only if `long`. Returns how many blocks are run, long and not run, and says which are not.
fn follow_page(path: &Path, long: bool) -> ([usize; 3], String) {
    let name = path.strip_prefix(workspace()).unwrap().display().to_string();
    let found = blocks(&read(path));
    let of = |wanted: fn(&Fate) -> bool| found.iter().filter(|block| wanted(&block.fate)).count();
    let counts =
        [of(|fate| *fate == Fate::Run), of(|fate| *fate == Fate::Long), of(|fate| matches!(fate, Fate::Not(_)))];
    let mut said = format!("{name:<44} {:>4} {:>5} {:>8}\n", counts[0], counts[1], counts[2]);
    let folder = tempfile::tempdir().unwrap();
    if found.iter().any(|block| block.text.contains("--trace steps/")) {
        training_step(&folder.path().join("steps"));
    }
    for block in &found {
        let place = format!("{name}:{}", block.line);
        match &block.fate {
            Fate::Not(why) => said += &format!("    not run, line {}: {why}\n", block.line),
            Fate::Long if !long => {}
            _ if !has_all(&block.needs) => {}
            // Long blocks need the output of earlier blocks of the page.
            Fate::Run | Fate::Long => {
                follow(folder.path(), &place, block, path.starts_with(workspace().join("docs/book")));
            }
        }
    }
    (counts, said)
}

/// Follows all pages, on all cores; long blocks only if `long`.
fn follow_all(long: bool) {
    let mut sums = [0; 3];
    println!("{:<44} {:>4} {:>5} {:>8}", "page", "run", "long", "not run");
    for (counts, said) in parallel(&all(), |path| follow_page(path, long)) {
        if counts != [0; 3] {
            print!("{said}");
        }
        (0..3).for_each(|at| sums[at] += counts[at]);
    }
    let [run, later, not] = sums;
    println!("{:<44} {run:>4} {later:>5} {not:>8}", "all");
    assert!(run > 100 && not < 30, "most commands are run: {run} of {}", run + later + not);
}

#[test]
fn commands_of_all_pages_run() {
    follow_all(false);
}

#[test]
#[ignore = "minutes: sweeps of the pages too"]
fn long_commands_of_all_pages_run() {
    follow_all(true);
}

/// The trace that pages call `steps/`: four ranks compute, and add up 1 MB among them.
fn training_step(folder: &Path) {
    /// Kind of the all-reduce in Chakra.
    const ALL_REDUCE: i64 = 0;
    fs::create_dir(folder).unwrap();
    for rank in 0..4 {
        let nodes = [compute(1, 3, &[]), collective(2, ALL_REDUCE, 1_000_000, "", &[1])];
        fs::write(folder.join(format!("step.{rank}.et")), file(&nodes, None, true)).unwrap();
    }
}

/// A command in a block that is not one of commands is run by no test.
#[test]
fn no_command_hides_in_a_block_of_text() {
    let of = |path: &PathBuf| {
        let lines = hidden_commands(&read(path));
        lines.into_iter().map(|line| format!("{}:{line}", path.display())).collect::<Vec<_>>()
    };
    let hidden: Vec<String> = all().iter().flat_map(of).collect();
    assert!(hidden.is_empty(), "write ```sh, and what must have been done before it: {hidden:#?}");
}

/// An untested command on the first page for users would be an unchecked promise.
#[test]
fn readme_book_and_examples_run_all_but_a_few() {
    let of = |path: &PathBuf| {
        let found = blocks(&read(path)).into_iter().filter(|block| matches!(block.fate, Fate::Not(_)));
        found.map(|block| format!("{}:{}", path.display(), block.line)).collect::<Vec<_>>()
    };
    let [readme, book, examples] = ["README.md", "docs/book", "examples"].map(|name| workspace().join(name));
    let first = |path: &&PathBuf| **path == readme || path.starts_with(&book) || path.starts_with(&examples);
    let not: Vec<String> = all().iter().filter(first).flat_map(of).collect();
    assert!(
        not.len() <= 11,
        "the test suite itself, two blocks for a cluster, five for MPICH, three for machines: {not:#?}"
    );
}

/// The examples of `fsin COMMAND --help`, without their comments.
fn examples_of(command: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let output = shell(folder.path(), &format!("fsin {command} --help"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty());
    let examples: Vec<String> = lines.map(|line| line.trim().split("   ").next().unwrap().to_owned()).collect();
    assert!(examples.iter().all(|line| line.starts_with("fsin ")), "an example on one line each: {examples:#?}");
    assert!(!examples.is_empty(), "{command}");
    examples
}

/// Runs an example that shows a dashboard, and leaves it when everything has run.
fn on_a_terminal(folder: &Path, before: &str, example: &str) {
    assert!(shell(folder, before).status.success(), "{before}");
    let words = example.strip_prefix("fsin ").unwrap();
    let line = format!("cd '{}' && exec '{}' {words}", folder.display(), binary().display());
    let started = Terminal::start(Path::new("sh"), &["-c", &line], &folder.join("out"), (120, 40));
    let Some(mut terminal) = started else { return };
    terminal.wait_for("ENDED");
    terminal.press("q");
    assert_eq!(terminal.wait().code(), Some(0), "{example}");
    println!("{example}");
}

fn examples_of_the_help_run(commands: &[&str]) {
    for command in commands {
        for example in examples_of(command) {
            let folder = tempfile::tempdir().unwrap();
            // The files that the examples assume.
            let before = match () {
                () if example.contains("--trace lu.S") => "cp examples/npb-mg/mg.S.16.ti.tar.xz lu.S.16.ti.tar.xz",
                () if example.contains("--resume") => "fsin sweep --load 0.1,0.2 --cycles 500 -q -o r",
                () if example.contains("commands") || example.contains("--tui") => {
                    "printf 'load = [0.1, 0.2]\ncycles = 500\n' > e.toml"
                }
                () => "true",
            };
            if example.contains("--tui") {
                on_a_terminal(folder.path(), before, &example);
                continue;
            }
            // Replace `parallel`, which may be missing, by a shell.
            let line = format!("{before}\n{}", example.replace("| parallel", "| sh"));
            let output = shell(folder.path(), &line);
            assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
            println!("{example}");
        }
    }
}

#[test]
fn examples_of_run_and_saturation_run() {
    examples_of_the_help_run(&["run", "saturation"]);
}

#[test]
#[ignore = "minutes: sweeps"]
fn examples_of_sweep_run() {
    examples_of_the_help_run(&["sweep"]);
}

/// Files below a folder whose names end in `.KIND`.
fn files(folder: &Path, kind: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = paths.flat_map(|path| if path.is_dir() { files(&path, kind) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|found| found == kind)).collect()
}

#[test]
fn links_between_pages_lead_somewhere() {
    let root = workspace();
    let others = ["ARCHITECTURE.md", "CHANGELOG.md", "benchsuite/README.md"].map(|name| root.join(name));
    let mut followed = 0;
    for page in all().into_iter().chain(others) {
        for link in read(&page).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            if !file.is_empty() && !file.contains("://") {
                assert!(page.parent().unwrap().join(file).exists(), "{}: {link} is absent", page.display());
                followed += 1;
            }
        }
    }
    assert!(followed > 100, "{followed} links");
}

/// A decision without a module that cites it governs nothing; a citation without a record explains nothing.
#[test]
fn code_cites_every_decision_and_no_other() {
    let (root, folder) = (workspace(), "docs/decisions/");
    let mut cited = BTreeSet::new();
    for source in ["adapters", "fsin", "trace-prep", "trgen", "tui"] {
        for file in files(&root.join(source), "rs") {
            let text = read(&file);
            let names = text.split(folder).skip(1).filter_map(|rest| rest.split_once(".md"));
            cited.extend(names.map(|(name, _)| format!("{name}.md")));
        }
    }
    let kept = files(&root.join(folder), "md").into_iter().map(|path| path.file_name().unwrap().to_owned());
    let kept: BTreeSet<String> =
        kept.map(|name| name.into_string().unwrap()).filter(|name| name != "README.md").collect();
    assert_eq!(cited, kept);
    let index = read(&root.join(folder).join("README.md"));
    let listed: Vec<&str> =
        index.lines().filter_map(|line| line.strip_prefix("| [")?.split_once(") |")).map(|row| row.0).collect();
    let expected: Vec<String> = kept.iter().map(|name| format!("{}]({name}", &name[..4])).collect();
    assert_eq!(listed, expected, "the index has a row for each record, by number");
    let numbers: BTreeSet<&str> = kept.iter().map(|name| &name[..4]).collect();
    assert_eq!(numbers.len(), kept.len(), "two records have one number");
}
