//! Files of other tools that are given to `fsin run`: the error names the command or setting for each.

use std::fs;

use tests::command::run;

/// The expected part of the remedy, for each file.
const FILES: &[(&str, &str, &str)] = &[
    ("fsin.conf", "topo=torus_16_16\nload=0.3\ntpattern=uniform\n", "fsin legacy fsin.conf"),
    ("mine", "# of the lab\nrseed=13\nvc=bubble # and so on\nnsamples=3\n", "fsin legacy mine"),
    ("merlin.py", "import sst\nfrom sst.merlin.base import *\n", "Coming from SST and Merlin"),
    ("network.yml", "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n", "torus:8"),
    ("step.cm", "Nodes 4\nConnections 1\n0->1 id 1 start 0 size 1000\n", "--flows step.cm"),
    ("flows.csv", "src,dst,bytes,start\n0,1,100,0ns\n", "--flows flows.csv"),
    (
        "two.goal",
        "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 7\n}\nrank 1 {\nl1: recv 8b from 0 tag 7\n}\n",
        "--trace two.goal",
    ),
    ("net.dot", "graph { a -- b; b -- c }\n", "--topology graph:net.dot"),
    ("edges.txt", "A B\nB C\n", "--topology graph:edges.txt"),
    ("omnetpp.ini", "[General]\nnetwork = Net\n", "OMNeT++"),
    ("config.yaml", "topology: MESH\nmesh_dim_x: 8\nmesh_dim_y: 8\nbuffer_depth: 4\n", "--topology mesh:8x8"),
    ("sizes.txt", "0 0\n10000 15\n20000 100\n", "--size 'cdf("),
];

#[test]
fn a_file_of_another_tool_is_told_what_takes_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, taken_by) in FILES {
        fs::write(folder.path().join(name), text).unwrap();
        for command in ["run", "sweep -o r"] {
            let output = run(folder.path(), &format!("{command} {name} -q"));
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{name}: {told}");
            let remedy = told.split("help:").nth(1).unwrap_or_else(|| panic!("{name}: no remedy in {told}"));
            let remedy = remedy.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(remedy.contains(taken_by), "{name}: {remedy}");
        }
    }
    // The command of the remedy accepts the file.
    for line in [
        "legacy fsin.conf topo=torus_4_4 nsamples=1 warm_up_period=100",
        "run --flows step.cm --topology star:4 --network flow",
        "run --trace two.goal --topology torus:2",
        "run --topology graph:net.dot --cycles 200",
    ] {
        let output = run(folder.path(), &format!("{line} -q"));
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A setting that takes another kind of file says what takes this one.
#[test]
fn a_file_that_is_given_to_the_wrong_setting_is_told_the_right_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("e.txt"), "topology = \"torus:4x4\"\n").unwrap();
    fs::write(folder.path().join("mesh.cfg"), "topology = mesh;\nk = 8;\nn = 2;\nrouting_function = dor;\n").unwrap();
    let others = [("e.txt", "", "fsin run e.txt"), ("mesh.cfg", "", "fsin import booksim mesh.cfg")];
    for (name, text, taken_by) in FILES.iter().chain(&others) {
        if !text.is_empty() {
            fs::write(folder.path().join(name), text).unwrap();
        }
        for (setting, line) in [
            ("--trace", format!("--trace {name} --network constant-delay:delay=1us")),
            ("--flows", format!("--flows {name} --topology star:4 --network flow")),
            ("--topology", format!("--topology graph:{name} --cycles 100")),
        ] {
            let output = run(folder.path(), &format!("run {line} -q"));
            // The right one; and tables of messages are tables of links as well.
            if taken_by.starts_with(setting) || (*name, setting) == ("flows.csv", "--topology") {
                continue;
            }
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{line}: {told}");
            let remedy = told.split("help:").nth(1).unwrap_or_else(|| panic!("{line}: no remedy in {told}"));
            let remedy = remedy.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ");
            assert!(remedy.contains(taken_by), "{line}: {remedy}");
        }
    }
}

/// Every page for users of another simulator has an example, which `pages.rs` runs.
#[test]
fn every_page_for_who_moves_has_an_example_that_is_run() {
    let folder = tests::shared::workspace().join("docs/book/src/coming");
    let pages: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(pages.len() >= 12, "{}", pages.len());
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let is_example =
            |block: &tests::pages::Block| matches!(block.fate, tests::pages::Fate::Run) && block.text.contains("fsin ");
        assert!(tests::pages::blocks(&text).iter().any(is_example), "{page:?} has no example that is run");
    }
}

/// The error in an experiment with a mistake names the mistake, and not another kind of file.
#[test]
fn an_experiment_with_an_error_stays_an_experiment() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("e.toml", "topology = torus:4x4\n"),
        ("e", "load = 0.3\nseed = \n"),
        ("prose", "This folder holds runs.\nSee the README of the group for more.\n"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
        let output = run(folder.path(), &format!("run {name} -q"));
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("is not TOML") && !told.contains("legacy") && !told.contains("graph:"), "{name}: {told}");
    }
}
