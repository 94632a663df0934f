//! Files of the field as their authors wrote them, where they are there: each is read with the facts that another reader
//! finds, or refused with the reason that is true. The table of the book is made here.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use tests::command::fsin;
use tests::corpus::{self, Expected, Said, Table, Verdict};
use tests::shared::{aloud, shared_folder, workspace};

/// The page with the table.
const PAGE: &str = "docs/book/src/howto/foreign-files.md";

/// Statements of pages on the files of a format: the page, the format, and the noun behind the numbers of the table.
const PROMISES: &[(&str, &str, &str)] = &[
    ("beside.md", "booksim-config", "configurations"),
    ("beside.md", "htsim-topo", "topologies"),
    ("beside.md", "htsim-cm", "connection matrices"),
    ("beside.md", "ns3-topology", "topologies"),
    ("beside.md", "ns3-flows", "lists of flows"),
    ("beside.md", "simgrid", "platforms"),
    ("beside.md", "ti-trace", "time-independent traces"),
    ("beside.md", "chakra-et", "folders"),
    ("coming/ns-3.md", "ns3-topology", "topologies"),
    ("coming/ns-3.md", "ns3-flows", "lists of flows"),
    ("coming/simgrid.md", "simgrid", "platforms"),
    ("coming/booksim.md", "booksim-config", "configurations"),
];

/// The command that reads a file.
fn command(row: &Expected, file: &Path) -> Option<Command> {
    let mut command = fsin(Path::new("."));
    let shown = file.to_string_lossy();
    match row.how.as_str() {
        "topology" => command.args(["topology", &format!("graph:{shown}"), "--format", "json"]),
        "flows" => {
            let nodes = row.option("nodes").unwrap_or("512");
            command.args(["run", "--network", &format!("constant-delay:delay=1us,nodes={nodes}"), "--flows", &shown]);
            if let Some(unit) = row.option("cm-unit") {
                command.args(["--cm-unit", unit]);
            }
            command.args(["--max-cycles", "1", "--format", "json", "--quiet"])
        }
        "trace" | "trace chakra" => {
            command = Command::new(tests::command::trace_prep());
            command.args(["info", &shown, "--format", "json"])
        }
        "cdf" => {
            command.args([
                "run",
                "--network",
                "constant-delay:delay=1us,nodes=4",
                "--size",
                &format!("cdf(\"{shown}\")"),
            ]);
            command.args(["--cycles", "1000", "--load", "0.1", "--quiet"])
        }
        // What they mean is compared by `cli::booksim_corpus`.
        "import booksim" => command.args(["import", "booksim", &shown]),
        _ => return None,
    };
    Some(command)
}

/// The verdict on a file.
fn judge(row: &Expected, said: &Said, file: &Path) -> (Verdict, String) {
    let judged = row.judge(said);
    if said.code != Some(0) || judged.0 != Verdict::Right {
        return judged;
    }
    let differences = match row.how.as_str() {
        "flows" => {
            let notes = said.found["notes"].as_array().into_iter().flatten();
            row.flow_differences(&notes.filter_map(|note| note.as_str()).collect::<Vec<_>>().join(" | "))
        }
        "topology" => over_the_route(row, file).into_iter().collect(),
        "trace" | "trace chakra" => to_the_end(row, said, file).into_iter().collect(),
        _ => Vec::new(),
    };
    if differences.is_empty() { judged } else { (Verdict::Wrong, differences.join("; ")) }
}

/// Difference of the time of a message over the route of a pair from that by its latency and narrowest link.
fn over_the_route(row: &Expected, file: &Path) -> Option<String> {
    // The facts of a file that is not judged are not complete.
    let (bytes, seconds) = row.message_of_pair().filter(|_| row.readable == "yes")?;
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = row.pair.split_once(' ')?;
    std::fs::write(folder.path().join("flows.csv"), format!("src,dst,bytes,start\n{from},{to},{bytes},0\n")).unwrap();
    let mut command = fsin(folder.path());
    command.args(["run", "--topology", &format!("graph:{}", file.display()), "--network", "flow"]);
    command.args(["--flows", "flows.csv", "--format", "json", "--quiet"]);
    let said = corpus::said(command, file).unwrap();
    let found = said.found["completion_seconds"].as_f64();
    let is_right = found.is_some_and(|found| (found / seconds - 1.0).abs() < 1e-6);
    (!is_right)
        .then(|| format!("a message of {bytes} bytes takes {found:?} s where {seconds} is right; {}", said.message))
}

/// The reason why a trace does not run to its end, or the differences of its messages from the facts.
fn to_the_end(row: &Expected, info: &Said, file: &Path) -> Option<String> {
    let tasks = row.tasks().or_else(|| info.found["tasks"].as_u64().map(|tasks| tasks as usize))?;
    let mut command = fsin(Path::new("."));
    command.arg("run").arg("--trace").arg(file);
    command.args(["--network", &format!("constant-delay:delay=1us,nodes={tasks}"), "--format", "json", "--quiet"]);
    let said = corpus::said(command, file).unwrap();
    if said.found["complete"] != true {
        return Some(format!("it does not run to its end: {}", said.message));
    }
    let arrived = said.found["messages_received"].as_u64();
    match row.messages() {
        Some(messages) if arrived != Some(messages) => {
            Some(format!("{arrived:?} messages arrive where {messages} is right"))
        }
        _ => None,
    }
}

#[test]
fn files_of_the_field_are_read_rightly_or_refused_with_the_reason() {
    let Some(folder) = shared_folder("corpus") else { return };
    let unpacked = tempfile::tempdir().unwrap();
    corpus::unpack(&folder, unpacked.path()).unwrap();
    let mut table = Table::new();
    let mut wrong = Vec::new();
    for row in corpus::expected(&folder).unwrap() {
        let file = row.path(unpacked.path());
        let command = command(&row, &file).unwrap_or_else(|| panic!("{}: how is `{}`", row.file, row.how));
        let said = corpus::said(command, &file).unwrap();
        let (verdict, what) = judge(&row, &said, &file);
        if matches!(verdict, Verdict::Wrong) {
            wrong.push(format!("{}: {what}", row.file));
        }
        // A refusal names format or place, and a remedy.
        if said.code == Some(2) {
            assert!(said.message.contains("help: "), "{}: {}", row.file, said.message);
        }
        if matches!(verdict, Verdict::Unread) {
            aloud(&format!("{}: {what}\n", row.file));
        }
        table.entry(row.format.clone()).or_default().entry(verdict).or_default().push((row.file.clone(), what));
    }
    let text = corpus::markdown(&table);
    aloud(&text);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (page, format, noun) in PROMISES {
        let verdicts = &table[*format];
        let right = verdicts.get(&Verdict::Right).map_or(0, Vec::len);
        let promise = format!("{right} of {} {noun}", verdicts.values().map(Vec::len).sum::<usize>());
        let text = std::fs::read_to_string(workspace().join("docs/book/src").join(page)).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&promise), "{page}: `{promise}` of {format} is not what it promises");
    }
    let page = workspace().join(PAGE);
    let written = std::fs::read_to_string(&page).unwrap_or_default();
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        let (before, rest) = written.split_once("| format |").unwrap_or((&written, ""));
        let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
        std::fs::write(&page, format!("{before}{text}\n{after}")).unwrap();
    } else {
        // A row that the page has is the one that was made; rows that it lacks are written by UPDATE_EXAMPLES=1.
        for row in text.lines().skip(2) {
            let begin: String = row.split('|').take(2).collect::<Vec<_>>().join("|") + "|";
            let on_page = written.lines().find(|line| line.starts_with(&begin) && line.matches('|').count() == 7);
            match on_page {
                Some(line) => assert_eq!(line, row, "{PAGE}: UPDATE_EXAMPLES=1 writes it"),
                None => aloud(&format!("{PAGE} lacks {row}\n")),
            }
        }
    }
}

/// A file of a format by the end of its path, in a folder that lasts as long as what is returned; `None` where the files
/// are not there.
fn of_corpus(format: &str, end: &str) -> Option<(PathBuf, tempfile::TempDir)> {
    let folder = shared_folder("corpus")?;
    let unpacked = tempfile::tempdir().unwrap();
    corpus::unpack_one(&folder.join(format!("{format}.tar.xz")), unpacked.path()).unwrap();
    let rows = corpus::expected(&folder).unwrap();
    let row = rows.iter().find(|row| row.format == format && row.file.ends_with(&format!("/{end}")));
    Some((row.unwrap_or_else(|| panic!("no {end} of {format}")).path(unpacked.path()), unpacked))
}

/// A link of SimGrid that limits each flow alone does so whatever else crosses it, in both engines.
#[test]
fn a_link_that_limits_each_flow_alone() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let host = |name: &str| format!("<host id=\"{name}\" speed=\"1Gf\"/>");
    let route = |from: &str, to: &str| format!("<route src=\"{from}\" dst=\"{to}\"><link_ctn id=\"l\"/></route>");
    write(
        "fat.xml",
        &format!(
            "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">{}{}{}\
             <link id=\"l\" bandwidth=\"1GBps\" latency=\"3us\" sharing_policy=\"FATPIPE\"/>{}{}{}</zone></platform>",
            host("a"),
            host("b"),
            host("c"),
            route("a", "b"),
            route("a", "c"),
            route("b", "c")
        ),
    );
    // 10 us at 1 GB/s, each by itself.
    write("flows.csv", "src,dst,bytes,start\na,b,10000,0\na,c,10000,0\nb,c,10000,0\n");
    for engine in ["fast", "reference"] {
        let line =
            ["run", "--topology", "graph:fat.xml", "--network", "flow", "--flows", "flows.csv", "--engine", engine];
        let output = fsin(folder.path()).args(line).args(["--format", "json", "--quiet"]).output().unwrap();
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let seconds = found["completion_seconds"].as_f64().unwrap();
        assert!((seconds - 13e-6).abs() < 1e-9, "{engine}: {seconds}");
    }
}

/// Each node of a map offers its part of the demands, and the nodes that send the load in the mean.
#[test]
fn demands_have_their_proportions() {
    let folder = tempfile::tempdir().unwrap();
    let map = "?SNDlib native format; type: network; version: 1.0\nNODES (\n  Bonn ( 7.1 50.7 )\n  Ulm ( 10.0 48.4 )\n  Kiel ( 10.1 54.3 )\n)\n\
               LINKS (\n  L1 ( Bonn Ulm ) 1000.00 0.00 0.00 0.00 ( )\n  L2 ( Ulm Kiel ) 1000.00 0.00 0.00 0.00 ( )\n)\nDEMANDS (\n  \
               D1 ( Bonn Ulm ) 1 300.00 UNLIMITED\n  D2 ( Kiel Ulm ) 1 100.00 UNLIMITED\n)\n";
    std::fs::write(folder.path().join("map"), map).unwrap();
    let mut command = fsin(folder.path());
    command.args(["run", "--topology", "graph:map", "--traffic", "demands", "--load", "0.2", "--cycles", "200000"]);
    command.args(["--node-stats", "--format", "json", "--quiet"]);
    let said = corpus::said(command, Path::new("map")).unwrap();
    let rows = said.found["per_node"].as_array().unwrap_or_else(|| panic!("{}", said.message));
    // Phits of four bytes: 0.3, nothing, and 0.1 of them in a cycle.
    for (row, (name, load)) in rows.iter().zip([("Bonn", 0.3), ("Ulm", 0.0), ("Kiel", 0.1)]) {
        let offered = row["offered_bytes_per_cycle"].as_f64().unwrap() / 4.0;
        assert!(row["name"] == name && (offered - load).abs() < 0.01, "{name}: {row}");
    }
}

/// A map of SNDlib with its demands: saturation and pictures by one command.
#[test]
fn a_map_with_its_demands_to_saturation_and_picture() {
    let Some((map, folder)) = of_corpus("sndlib-native", "nobel-germany.txt") else { return };
    let mut command = fsin(folder.path());
    command.args(["saturation", "--topology", &format!("graph:{}", map.display()), "--traffic", "demands"]);
    let output = command.args(["--tolerance", "0.05", "-o", "found"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(folder.path().join("found/saturation.json")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let load = found["searches"][0]["saturation_load_phits_per_node_cycle"].as_f64().unwrap();
    // No more than the links admit, whatever the routing.
    let bound = found["searches"][0]["seeds"][0]["load_bound_phits_per_node_cycle"].as_f64().unwrap();
    assert!(0.1 < load && load <= bound, "{load} {bound}");
    for picture in ["accepted-search", "latency-search"] {
        let svg = std::fs::read_to_string(folder.path().join(format!("found/plots/{picture}.svg"))).unwrap();
        assert!(svg.contains("Load of each sending node"), "{picture}");
    }
}

/// All-reduces on a list of ns-3 and on a fabric of InfiniBand, by one command each.
#[test]
fn an_all_reduce_on_networks_of_others() {
    for (format, name, hosts) in
        [("ns3-topology", "128_nodes_16_switch_topology.txt", 128), ("infiniband", "net.2sw2path4hca", 4)]
    {
        let Some((file, _folder)) = of_corpus(format, name) else { continue };
        let mut command = fsin(Path::new("."));
        command.args(["run", "--topology", &format!("graph:{}", file.display()), "--network", "flow"]);
        command.args(["--kernel", "all-reduce-ring:bytes=1MB", "--format", "json", "--quiet"]);
        let said = corpus::said(command, &file).unwrap();
        let tasks = said.found["tasks"].as_u64().unwrap_or_else(|| panic!("{}: {}", file.display(), said.message));
        assert_eq!(tasks, hosts);
        // In each of 2 (N - 1) steps each host sends a message.
        assert_eq!(said.found["messages_received"].as_u64(), Some(2 * (tasks - 1) * tasks), "{}", file.display());
        assert!(said.found["completion_seconds"].as_f64() > Some(1e-6), "{}", file.display());
    }
}

/// What `fsin topology` finds in a case, or its message.
fn case(name: &str) -> Option<Result<serde_json::Value, String>> {
    let file = tests::shared::shared_file(&format!("cases/second/{name}"))?;
    let output = fsin(Path::new("."))
        .args(["topology", &format!("graph:{}", file.display()), "--format", "json"])
        .output()
        .unwrap();
    Some(match output.status.code() {
        Some(0) => Ok(serde_json::from_slice(&output.stdout).unwrap()),
        Some(2) => Err(String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")),
        other => panic!("{name}: exit {other:?}"),
    })
}

/// The numbers of endpoints and of switches of the file.
fn sizes(name: &str) -> Option<(u64, u64)> {
    let found = case(name)?.unwrap_or_else(|error| panic!("{name}: {error}"));
    Some((found["nodes"].as_u64().unwrap(), found["described"]["understood"]["switches"].as_u64().unwrap()))
}

#[test]
fn a_label_is_no_type() {
    if let Some(sizes) = sizes("names-h.gml") {
        assert_eq!(sizes, (5, 5));
    }
}

#[test]
fn files_of_other_simulators_are_read() {
    for (name, expected) in [
        ("switch-latency.topo", (16, 6)),
        ("htsim-leaf_spine_tiny.topo", (32, 6)),
        ("onelink.xml", (2, 1)),
        ("cluster_backbone.xml", (100, 1)),
        ("comment.dot", (3, 3)),
    ] {
        if let Some(sizes) = sizes(name) {
            assert_eq!(sizes, expected, "{name}");
        }
    }
    let Some(list) = tests::shared::shared_file("cases/second/htsim-incast.cm") else { return };
    let line = [
        "run",
        "--network",
        "constant-delay:delay=1us,nodes=432",
        "--cm-unit",
        "us",
        "--max-cycles",
        "1",
        "--format",
        "json",
        "--quiet",
    ];
    let output = fsin(Path::new(".")).args(line).arg("--flows").arg(list).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn l6_l9_what_is_no_network_is_named() {
    for (name, what) in [
        ("weighted.txt", "a list of edges with a weight as third number"),
        ("dup-rate.txt", "rate of an edge stands twice"),
        ("htsim-radix.txt", "line 11"),
    ] {
        if let Some(found) = case(name) {
            let error = found.expect_err(name);
            assert!(error.contains(what) && error.contains("help: "), "{name}: {error}");
        }
    }
    if let Some(found) = case("slurm-one.conf") {
        let format = found.map_or_else(|error| error, |found| found["described"]["format"].to_string());
        assert!(format.contains("Slurm"), "{format}");
    }
}
