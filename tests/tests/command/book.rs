//! The book: its reference pages are the output of the command, and its links are valid. Its commands are run in
//! `pages.rs`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fsin::result::{Figure, parts};
use serde_json::Value;
use tests::command::{binary, fsin, run};
use tests::pages::{blocks, pages, shell};
use tests::shared::{skipped, workspace};

fn book() -> PathBuf {
    workspace().join("docs/book/src")
}

#[test]
fn the_reference_is_what_the_command_says() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "generate reference made");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |folder: &Path| -> BTreeMap<String, String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
        named.map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect()
    };
    let kept = read(&book().join("reference"));
    for (name, made) in read(&folder.path().join("made")) {
        let same = kept.get(&name) == Some(&made);
        assert!(same, "{name} is not current: fsin generate reference docs/book/src/reference");
    }
}

#[test]
fn the_names_of_the_python_package_are_those_of_the_tables() {
    const FILE: &str = "adapters/python/python/fsin/_named.py";
    let output = run(workspace(), "generate python");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let same = fs::read(workspace().join(FILE)).is_ok_and(|kept| kept == output.stdout);
    assert!(same, "{FILE} is not current: fsin generate python > {FILE}");
}

#[test]
fn links_and_pictures_of_the_book_exist() {
    let all = pages(&book());
    let summary = fs::read_to_string(book().join("SUMMARY.md")).unwrap();
    for page in &all {
        let text = fs::read_to_string(page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            assert!(page.parent().unwrap().join(file).exists(), "{}: {link} is absent", page.display());
        }
        let name = page.strip_prefix(book()).unwrap().display().to_string();
        assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name} is not in the summary");
    }
}

/// The pictures are drawn again, by the commands beside them. `UPDATE_EXAMPLES=1` keeps the new ones.
#[test]
fn the_gallery_is_what_its_commands_draw() {
    let page = fs::read_to_string(book().join("gallery.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for block in blocks(&page) {
        let output = shell(folder.path(), &block.text);
        assert!(output.status.success(), "{}: {}", block.text, String::from_utf8_lossy(&output.stderr));
    }
    let pictures: Vec<&str> = page.split("](gallery/").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(pictures.len() > 7, "{pictures:?}");
    for picture in pictures {
        let (made, kept) = (folder.path().join(picture), book().join("gallery").join(picture));
        if std::env::var_os("UPDATE_EXAMPLES").is_some() {
            fs::copy(&made, &kept).unwrap();
        }
        assert!(fs::read(&made).unwrap() == fs::read(&kept).unwrap(), "{picture} is not what its command draws");
    }
}

/// Every link and anchor of the site leads to a page of it, before `mdbook` and, where that is installed, after it.
#[test]
fn no_link_of_the_site_leaves_it_or_leads_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let has_mdbook = Command::new("mdbook").arg("--version").output().is_ok();
    let mut site = Command::new("python3");
    site.arg(workspace().join("docs/book/site"));
    if !has_mdbook {
        site.arg("--sources");
    }
    let Ok(output) = site.arg(folder.path().join("site")).output() else { return skipped("the site: no python3") };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Compares numbers in tables of the book with runs.
fn tables(words: &[&str]) {
    let script = workspace().join("docs/book/tables");
    let Ok(output) = Command::new("python3").arg(script).args(words).env("FSIN", binary()).output() else {
        return skipped("tables of the book: no python3");
    };
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{said}");
}

#[test]
fn tables_of_the_book_show_what_runs_give() {
    tables(&[]);
}

#[test]
#[ignore = "a quarter of an hour"]
fn all_tables_of_the_book_show_what_runs_give() {
    tables(&["--long"]);
}

/// Names of figures: those of an object, and of all objects nested in it.
fn names(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                into.insert(name.clone());
                // Settings, origins and operations have their own names.
                if !["experiment", "manifest", "collective_calls"].contains(&&**name) {
                    names(value, into);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, into)),
        _ => {}
    }
}

#[test]
fn every_figure_of_a_result_is_described() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("mix.toml", "[[job]]\nname = \"tree\"\nkernel = \"bintree:tasks=16,bytes=256\"\n");
    write("g.goal", "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n");
    write("lost.trc", "r 0 1 7 8\n");
    write("mark", "mark here\n");
    let mut found = BTreeSet::new();
    let mut add = |line: &str, output: &Output| {
        let result = serde_json::from_slice::<Value>(&output.stdout);
        let result = result.unwrap_or_else(|_| panic!("{line}: {}", String::from_utf8_lossy(&output.stderr)));
        names(&result, &mut found);
    };
    for words in [
        "--topology torus:4x4 --link-loads --warmup 0 --samples 2 --sample-size 100",
        "--topology torus:4x4 --shot 1 --samples 2",
        "--topology torus:4x4 --kernel all-to-all:tasks=16,bytes=64",
        "--topology torus:4x4 --job-mix mix.toml",
        "--topology torus:4x4 --trace g.goal",
        "--trace g.goal --network ideal",
        "--topology torus:4x4 --trace lost.trc --recv-order dst-src",
    ] {
        let line = format!("run {words} --format json -q");
        add(&line, &run(folder.path(), &line));
    }
    let line =
        "serve --network switch:delay=1us,nodes=2 --guests 1 --digest-every 1us --listen unix:socket --format json";
    let mut serve = fsin(folder.path());
    let serve = serve.args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(run(folder.path(), "guest mark --connect unix:socket --wait 20").status.success());
    add(line, &serve.wait_with_output().unwrap());
    let documented: BTreeSet<&str> = Figure::ALL.iter().map(|figure| figure.name()).collect();
    let parts = parts();
    let fields: BTreeSet<&str> = parts.iter().flat_map(|part| &part.fields).map(|field| field.0.as_str()).collect();
    let unknown: Vec<_> =
        found.iter().filter(|name| !documented.contains(&***name) && !fields.contains(&***name)).collect();
    assert!(unknown.is_empty(), "not in the table of figures: {unknown:?}");
    // Some are written in some runs only.
    found.extend(documented.iter().map(|&name| name.to_owned()));
    for name in
        ["latency_std_cycles", "link_packets", "slowdown", "finish_ns", "label", "message_latency_max_ps", "waits"]
    {
        assert!(found.contains(name), "{name}: the runs do not show all there is");
    }
    let page = fs::read_to_string(book().join("figures.md")).unwrap();
    let missing: Vec<_> = found.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "not in figures.md: {missing:?}");
}

#[test]
fn man_page_and_completions_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let text = |line: &str| {
        let output = run(folder.path(), line);
        assert!(output.status.success(), "{line}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let man = text("generate man");
    let bash = text("generate completions bash");
    for command in ["run", "sweep", "saturation", "plot", "report", "compare", "rerun", "collect", "init", "serve"] {
        assert!(man.contains(&format!(".SH COMMAND {}", command.to_uppercase())), "{command}");
        assert!(
            bash.contains(&format!("fsin__{command}")) || bash.contains(&format!("fsin__subcmd__{command}")),
            "{command}"
        );
    }
    for key in fsin::experiment::keys() {
        assert!(bash.contains(&format!("--{}", key.name)), "{}", key.name);
        assert!(man.contains(&key.name.replace('-', "\\-")), "{}", key.name);
    }
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        assert!(text(&format!("generate completions {shell}")).contains("saturation"), "{shell}");
    }
}
