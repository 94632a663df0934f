//! The order of the house: which crate may build on which, which folders may know what, and how wide comments are.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use tests::modules::{Graph, told as module};
use tests::shared::workspace;
use toml::{Table, Value};

/// A crate, its folder, and the crates of this workspace that it may build on.
struct Room {
    name: &'static str,
    folder: &'static str,
    builds_on: &'static [&'static str],
}

const fn room(name: &'static str, folder: &'static str, builds_on: &'static [&'static str]) -> Room {
    Room { name, folder, builds_on }
}

/// The arrows of ARCHITECTURE.md. What is allowed and not used is an error too.
const ROOMS: &[Room] = &[
    room("trgen", "trgen", &[]),
    room("fsin-core", "fsin/core", &["trgen"]),
    room("fsin-networks", "fsin/networks", &["fsin-core", "trgen"]),
    room("fsin-ethernet", "fsin/models/ethernet", &["fsin-core", "trgen"]),
    room("fsin-flow", "fsin/models/flow", &["fsin-core", "trgen"]),
    room("fsin-myrinet", "fsin/models/myrinet", &["fsin-core", "trgen"]),
    room("fsin-vct", "fsin/models/vct", &["fsin-core", "trgen"]),
    room("fsin-wormhole", "fsin/models/wormhole", &["fsin-core", "trgen"]),
    room(
        "fsin-models",
        "fsin/models",
        &["fsin-core", "fsin-ethernet", "fsin-flow", "fsin-myrinet", "fsin-vct", "fsin-wormhole", "trgen"],
    ),
    room("fsin-allocator", "fsin/allocator", &[]),
    room("fsin-stamp", "fsin/stamp", &[]),
    room("fsin-tui", "tui", &[]),
    room("fsin-adapters", "adapters", &["trgen"]),
    room("fsin-mpi", "adapters/mpi", &["fsin-adapters", "trgen"]),
    room("fsin-qemu-plugin", "adapters/qemu/plugin", &["fsin-adapters"]),
    room("fsin-archives", "trace-prep/archives", &["trgen"]),
    room("trace-prep", "trace-prep", &["fsin-archives", "trgen"]),
    room(
        "fsin-experiment",
        "fsin/experiment",
        &["fsin-adapters", "fsin-archives", "fsin-core", "fsin-models", "fsin-networks", "trgen"],
    ),
    room("fsin-c", "adapters/c", &["fsin-experiment"]),
    room("fsin-report", "fsin/report", &["fsin-core", "fsin-experiment", "trgen"]),
    room(
        "fsin",
        "fsin",
        &[
            "fsin-adapters",
            "fsin-allocator",
            "fsin-archives",
            "fsin-core",
            "fsin-experiment",
            "fsin-models",
            "fsin-networks",
            "fsin-report",
            "fsin-stamp",
            "fsin-vct",
            "fsin-tui",
            "trgen",
        ],
    ),
];

/// The crate of formats of networks.
const FORMATS: &str = "fsin-networks";

/// Crates of tests, which may build on everything.
const TESTS: &[&str] = &["tests", "tests/hostile"];

/// Of what concerns a terminal, a picture or the system: the folders that may know it, and everything below them.
const KNOWN_BY: &[(&str, &[&str])] = &[
    ("clap", &["fsin/src/cli", "trace-prep/src/cli"]),
    ("miette", &["fsin/src/cli", "trace-prep/src/cli"]),
    ("ratatui", &["tui/src"]),
    ("crossterm", &["tui/src"]),
    (
        "std::fs",
        &[
            "fsin/src/cli",
            "fsin/src/dashboard",
            "fsin/experiment/src",
            "trace-prep/src",
            "trace-prep/archives/src",
            // Ranks of one machine share memory, which is a file without a name.
            "adapters/mpi/src/shared.rs",
            // Lists of failures are read where they are parsed.
            "fsin/core/src/failures/parse.rs",
            // Traces, placements and matrices of traffic are read where they are parsed.
            "trgen/src/synthetic/file.rs",
            "trgen/src/trace/kernels/exchange_tests.rs",
            "trgen/src/trace/formats",
            "trgen/src/trace/placement",
            // Sockets, and the secrets of guests, are files.
            "adapters/src",
            // The commit that cargo recorded in a package.
            "fsin/stamp/src/lib.rs",
            // What the launcher reads at the end of a rank.
            "adapters/mpi/src/report.rs",
            // Files of MPI programs, settings of ranks on other hosts, and whether threads sleep.
            "adapters/mpi/src/calls/files.rs",
            "adapters/mpi/src/file",
            "adapters/mpi/src/settings.rs",
            "adapters/mpi/src/threads/still.rs",
            // The header of C is written of the sources.
            "adapters/c/src/tests/header.rs",
            // The topology `graph:FILE`.
            "fsin/core/src/topology/switched/graph/mod.rs",
        ],
    ),
];

/// \[columns\] Of a line that is a comment, at most.
const WIDEST: usize = 120;

/// Folders in which it holds.
const NARROW: &[&str] = &["fsin/allocator", "fsin/core", "fsin/models", "fsin/networks", "fsin/stamp"];

/// Crates, and modules with everything below them, in which no modules name each other in a circle. An empty module is
/// the whole crate.
const WITHOUT_CYCLES: &[(&str, &str)] = &[
    ("adapters", "live"),
    ("adapters/c", ""),
    ("adapters/mpi", ""),
    ("adapters/qemu/plugin", ""),
    ("fsin", ""),
    ("fsin/models", ""),
    // Only below its rules. A known flaw: `Params` holds the rows of congestion controls, transports and switches,
    // whose checks take `Params`, so that cc, params, switch, transport and rules depend on each other.
    ("fsin/models/ethernet", "fast"),
    ("fsin/models/flow", ""),
    ("fsin/models/myrinet", ""),
    ("fsin/stamp", ""),
    ("trace-prep", ""),
    ("trace-prep/archives", ""),
    ("tui", ""),
];

fn manifest(folder: &str) -> Table {
    let path = workspace().join(folder).join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The members of the workspace among the dependencies in a table of a manifest.
fn ours(manifest: &Table, table: &str) -> BTreeSet<String> {
    let names = manifest.get(table).and_then(Value::as_table).into_iter().flat_map(Table::keys);
    names.map(|name| package(name)).filter(|name| ROOMS.iter().any(|room| room.name == *name)).collect()
}

/// The package of a dependency, which the workspace may give another name.
fn package(name: &str) -> String {
    let shared = &manifest("")["workspace"]["dependencies"];
    shared.get(name).and_then(|shared| shared.get("package")?.as_str()).unwrap_or(name).to_owned()
}

/// The sources below a folder, without those of crates that lie within it.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.expect("a folder of sources can be listed").path()) {
            if path.is_dir() && !path.join("Cargo.toml").exists() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The path within the workspace, with `/`.
fn told(path: &Path) -> String {
    let within = path.strip_prefix(workspace()).unwrap_or(path);
    within.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The code of a source: lines without those that are comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"))
}

/// Whether a line of code names a crate or module in a path: `use NAME;`, `NAME::x`, but not `OTHER_NAME::x`.
fn names(line: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let begins = !before.ends_with(|letter| is_part(letter) || [':', '"', '`'].contains(&letter));
        begins && (after.starts_with("::") || (line.contains("use ") && !after.starts_with(is_part)))
    })
}

#[test]
fn every_crate_of_the_workspace_is_in_the_drawing() {
    let members = manifest("")["workspace"]["members"].as_array().expect("a list of folders").clone();
    let members: BTreeSet<&str> = members.iter().filter_map(Value::as_str).collect();
    let drawn = ROOMS.iter().map(|room| room.folder).chain(TESTS.iter().copied()).chain(["adapters/python"]);
    assert_eq!(members, drawn.collect());
    for room in ROOMS {
        assert_eq!(manifest(room.folder)["package"]["name"].as_str(), Some(room.name));
    }
}

#[test]
fn crates_build_on_what_the_drawing_allows() {
    for room in ROOMS {
        let manifest = manifest(room.folder);
        let allowed: BTreeSet<String> = room.builds_on.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(ours(&manifest, "dependencies"), allowed, "{}", room.name);
        // Tests of models write their networks in DOT.
        let allowed = &allowed | &BTreeSet::from([FORMATS.to_owned()]);
        for table in ["dev-dependencies", "build-dependencies"] {
            assert!(ours(&manifest, table).is_subset(&allowed), "{table} of {}", room.name);
        }
    }
}

/// An archive of a package holds its folder and nothing else.
#[test]
fn packages_include_files_of_their_own_folders() {
    for room in ROOMS {
        let folder = workspace().join(room.folder);
        for path in ["src", "benches"].iter().flat_map(|name| sources(&folder.join(name))) {
            let depth = path.strip_prefix(&folder).expect("a source below it").components().count() - 1;
            let text = read(&path);
            for word in ["include_str!(\"", "include_bytes!(\"", "#[path = \""] {
                for file in text.split(word).skip(1).filter_map(|rest| rest.split('"').next()) {
                    let up = Path::new(file).components().filter(|&part| part == Component::ParentDir).count();
                    assert!(up <= depth, "{} includes {file}", told(&path));
                }
            }
        }
    }
}

#[test]
fn one_version_everywhere() {
    let manifest_of_all = manifest("");
    let workspace_table = &manifest_of_all["workspace"];
    let version = workspace_table["package"]["version"].as_str().expect("a text");
    for room in ROOMS {
        let dependency = workspace_table["dependencies"]
            .as_table()
            .expect("a table")
            .values()
            .find(|dependency| dependency.get("path").and_then(Value::as_str) == Some(room.folder));
        if let Some(dependency) = dependency {
            assert_eq!(dependency["version"].as_str(), Some(version), "{}", room.name);
        }
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(workspace().join(room.folder).join(file).is_file(), "{} lacks {file}", room.name);
        }
    }
    assert_eq!(manifest("adapters/python")["package"]["version"].as_str(), Some(version));
    for (file, line) in
        [("CITATION.cff", format!("version: {version}")), ("CHANGELOG.md", format!("## [{version}] - "))]
    {
        let text = read(&workspace().join(file));
        assert!(text.lines().any(|found| found.starts_with(&line)), "{file} lacks `{line}`");
    }
}

#[test]
fn arrows_lead_one_way() {
    // Rooms are listed from the ground up: nothing builds on what comes later.
    for (at, room) in ROOMS.iter().enumerate() {
        let below = &ROOMS[..at];
        for name in room.builds_on {
            assert!(below.iter().any(|room| room.name == *name), "{} builds on {name}", room.name);
        }
    }
}

#[test]
fn experiments_do_not_know_results_and_results_do_not_know_sweeps() {
    let folder = workspace().join("fsin/experiment/src");
    for path in sources(&folder) {
        let above: &[&str] = match path.strip_prefix(&folder).expect("a source below it").iter().next() {
            Some(part) if part == "sweep" || part == "lib.rs" => &[],
            Some(part) if part == "result" || part == "front" => &["crate::sweep"],
            _ => &["crate::result", "crate::sweep"],
        };
        let text = read(&path);
        for name in above {
            assert!(!code(&text).any(|line| names(line, name)), "{} names {name}", told(&path));
        }
    }
}

#[test]
fn no_modules_name_each_other_in_a_circle() {
    for &(folder, within) in WITHOUT_CYCLES {
        let graph = Graph::of_folder(&workspace().join(folder).join("src")).expect("sources can be read");
        let within: Vec<String> = within.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let (cycles, arrows) = (graph.cycles(&within), graph.arrows());
        let drawn = |group: &Vec<Vec<String>>| {
            let arrow = |from: &Vec<String>| {
                let to: Vec<String> =
                    arrows[from].iter().filter(|to| group.contains(to)).map(|to| module(to)).collect();
                format!("  {} names {}", module(from), to.join(", "))
            };
            group.iter().map(arrow).collect::<Vec<_>>().join("\n")
        };
        let drawn: Vec<String> = cycles.iter().map(drawn).collect();
        assert!(drawn.is_empty(), "modules of {folder} form cycles:\n{}", drawn.join("\n\n"));
    }
}

#[test]
fn only_the_rim_knows_terminals_pictures_and_files() {
    for &(name, folders) in KNOWN_BY {
        let mut users = BTreeSet::new();
        for room in ROOMS {
            for path in sources(&workspace().join(room.folder).join("src")) {
                if code(&read(&path)).any(|line| names(line, name)) {
                    users.insert(told(&path));
                }
            }
        }
        let below = |path: &str, folder: &str| path == folder || path.starts_with(&format!("{folder}/"));
        for path in &users {
            assert!(folders.iter().any(|folder| below(path, folder)), "{path} knows {name}");
        }
        for folder in folders {
            assert!(users.iter().any(|path| below(path, folder)), "{folder} does not need {name}");
        }
    }
}

/// Every package that is built for these words of `cargo tree`, with its features.
fn features(words: &[&str]) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = ["tree", "--offline", "--no-dedupe", "--prefix", "none", "--format", "{p} [{f}]"];
    let output = Command::new(cargo).current_dir(workspace()).args(tree).args(words).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)
        .expect("cargo prints text")
        .lines()
        .map(|line| line.trim_end_matches(" (*)").to_owned())
        .collect()
}

/// Who evaluates experiments in a program of their own gets no parser of arguments, no terminal and no runtime.
#[test]
fn a_library_does_not_depend_on_a_program() {
    // Packages of others: how many crates the house has is its own affair.
    for (library, at_most) in [("fsin-experiment", 60), ("fsin", 64)] {
        let packages = features(&["--package", library, "--no-default-features", "--edges", "normal"]);
        let packages: BTreeSet<&str> = packages.iter().filter_map(|line| line.split(' ').next()).collect();
        for program in [
            "clap",
            "crossterm",
            "ctrlc",
            "indicatif",
            "miette",
            "ratatui",
            "signal-hook",
            "tokio",
            "trace-prep",
            "fsin-tui",
        ] {
            assert!(!packages.contains(program), "{library} depends on {program}");
        }
        let others = packages.iter().filter(|name| ROOMS.iter().all(|room| room.name != **name)).count();
        assert!(packages.contains("trgen") && others <= at_most, "{library}: {others}: {packages:?}");
    }
}

/// Who writes a network model needs no parser of anybody's files.
#[test]
fn the_core_depends_on_few_packages() {
    let packages = features(&["--package", "fsin-core", "--edges", "normal"]);
    let packages: BTreeSet<&str> = packages.iter().filter_map(|line| line.split(' ').next()).collect();
    for reader in ["csv", "flate2", "roxmltree", "serde", "serde_json"] {
        assert!(!packages.contains(reader), "fsin-core depends on {reader}");
    }
    assert!(packages.len() <= 25, "{}: {packages:?}", packages.len());
}

/// Other features of a package mean to compile it, and everything that builds on it, once more: minutes.
#[test]
fn the_command_and_the_workspace_have_the_same_features() {
    let workspace = features(&["--workspace"]);
    let build = "normal,build";
    for (package, edges) in [("fsin", build), ("fsin-python", build), ("tests", "normal,build,dev")] {
        let others = features(&["--package", package, "--edges", edges]);
        let others: Vec<&String> = others.difference(&workspace).collect();
        assert!(others.is_empty(), "`-p {package}` and `--workspace` differ: {others:#?}");
    }
}

#[test]
fn the_drawing_names_sources_that_are_there() {
    let others = ["fuzz", "adapters/python", "examples/crates/source"];
    let folders = ROOMS.iter().map(|room| room.folder).chain(TESTS.iter().copied()).chain(others);
    let all: Vec<PathBuf> = folders.flat_map(|folder| sources(&workspace().join(folder))).collect();
    let drawing = read(&workspace().join("ARCHITECTURE.md"));
    let named = drawing.split('`').filter(|word| word.ends_with(".rs") && !word.contains([' ', '\n', '*']));
    let missing: Vec<&str> = named.filter(|name| !all.iter().any(|path| path.ends_with(name))).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names {missing:?}");
}

/// The lines of a section of ARCHITECTURE.md that are rows of its tables, by cells.
fn rows_of(section: &str) -> Vec<Vec<String>> {
    let drawing = read(&workspace().join("ARCHITECTURE.md"));
    let (_, text) = drawing.split_once(&format!("\n## {section}\n")).expect("the section is there");
    let text = text.split("\n## ").next().unwrap_or_default();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|'));
    rows.map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The words of a cell that are code.
fn words(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_drawing_has_the_crates_and_their_arrows() {
    let drawn: BTreeSet<(String, String, BTreeSet<String>)> = rows_of("Crates")
        .into_iter()
        .filter(|row| row[0].starts_with('`'))
        .map(|row| (row[0].replace('`', ""), row[1].replace('`', ""), words(&row[3])))
        .collect();
    let found: BTreeSet<(String, String, BTreeSet<String>)> = ROOMS
        .iter()
        .map(|room| {
            (room.name.to_owned(), room.folder.to_owned(), room.builds_on.iter().map(|&name| name.to_owned()).collect())
        })
        .collect();
    assert_eq!(drawn.difference(&found).collect::<Vec<_>>(), found.difference(&drawn).collect::<Vec<_>>());
}

/// True for a line of code that makes threads, sockets, or state of the process: a static with room for change.
fn keeps(what: &str, line: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    match what {
        "what" => has(&["thread::spawn(", "thread::scope(", "thread::Builder::new("]),
        "sockets" => {
            let kinds =
                ["TcpListener::", "TcpStream::", "UnixListener::", "UnixStream::", "UnixDatagram::", "UdpSocket::"];
            has(&kinds) && !line.trim_start().starts_with("use ")
        }
        _ => {
            let cells = ["Mutex<", "RwLock<", "Atomic", "OnceLock<", ": Once ", "LazyLock<", "RefCell<", "Cell<"];
            // `&'static` is a lifetime.
            let is_static = line.starts_with("static ") || line.contains(" static ");
            has(&["thread_local!", "static mut "]) || is_static && has(&cells)
        }
    }
}

#[test]
fn the_drawing_names_threads_sockets_and_global_state() {
    let mut what = String::new();
    let mut drawn: BTreeSet<(String, String)> = BTreeSet::new();
    for row in rows_of("Threads, sockets, global state") {
        if row[1] == "files" {
            what = row[0].clone();
        }
        drawn.extend(words(&row[1]).into_iter().map(|file| (what.clone(), file)));
    }
    let folders = ROOMS.iter().map(|room| room.folder).chain(["adapters/python"]);
    let all = folders.flat_map(|folder| sources(&workspace().join(folder).join("src")));
    let mut found = BTreeSet::new();
    for path in all.filter(|path| !path.ends_with("tests.rs") && path.iter().all(|part| part != "tests")) {
        let text = read(&path);
        // Tests of a file stand at its end.
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for line in code(text) {
            let kinds = ["what", "sockets", "global state"].into_iter().filter(|what| keeps(what, line));
            found.extend(kinds.map(|what| (what.to_owned(), told(&path))));
        }
    }
    let only =
        |a: &BTreeSet<(String, String)>, b: &BTreeSet<(String, String)>| a.difference(b).cloned().collect::<Vec<_>>();
    assert!(
        drawn == found,
        "only in ARCHITECTURE.md: {:#?}, only in the sources: {:#?}",
        only(&drawn, &found),
        only(&found, &drawn)
    );
}

#[test]
fn comments_are_not_wide() {
    let mut wide = Vec::new();
    for folder in NARROW {
        for path in sources(&workspace().join(folder)) {
            for (number, line) in read(&path).lines().enumerate() {
                if line.trim_start().starts_with("//") && line.chars().count() > WIDEST {
                    wide.push(format!("{}:{}", told(&path), number + 1));
                }
            }
        }
    }
    assert!(wide.is_empty(), "comments beyond {WIDEST} columns: {}", wide.join(", "));
}

#[test]
fn a_name_is_found_in_paths_and_nowhere_else() {
    for line in ["use clap;", "use clap::Arg;", "let x = clap::value_parser!(u32);", "pub use {clap as words};"] {
        assert!(names(line, "clap"), "{line}");
    }
    for line in ["use overclap::x;", "claps::x()", "\"clap::x\"", "let clap = 1;", "crate::clap::x()"] {
        assert!(!names(line, "clap"), "{line}");
    }
    assert!(names("use std::fs;", "std::fs") && names("std::fs::read(path)", "std::fs"));
    assert!(!names("use std::fsync;", "std::fs"));
}
