//! Routes from files, and `fsin routes`, which makes and checks them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;
use tests::command::run;
use tests::shared::shared_file;

/// The standard output of a command that succeeds, as JSON.
fn json(folder: &Path, line: &str) -> Value {
    let output = run(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The exit status of a command, and what it says on stderr, in one line.
fn fails(folder: &Path, line: &str) -> (Option<i32>, String) {
    let output = run(folder, line);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The digest of a short run.
fn digest(folder: &Path, words: &str) -> String {
    let result = json(folder, &format!("run {words} --cycles 3000 --format json"));
    assert!(result["packets_received"].as_u64() > Some(0), "{words}: nothing arrives");
    result["digest"].as_str().unwrap().to_owned()
}

/// The text of a compressed file.
fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// True if each hop of a round is followed by the next one on some path of a file, so that its channels wait for each
/// other.
fn closes(text: &str, round: &str) -> bool {
    let mut of_pairs: BTreeMap<(&str, &str), BTreeSet<(&str, &str)>> = BTreeMap::new();
    for row in text.lines().skip(1) {
        let words: Vec<&str> = row.split(',').collect();
        of_pairs.entry((words[4], words[1])).or_default().insert((words[0], words[2]));
    }
    let nodes: Vec<&str> = round.split('>').collect();
    let is_held = |at: usize| {
        let (here, next) = (at % (nodes.len() - 1), (at + 1) % (nodes.len() - 1));
        let hops = [(nodes[here], nodes[here + 1]), (nodes[next], nodes[next + 1])];
        of_pairs.values().any(|path| hops.iter().all(|hop| path.contains(hop)))
    };
    nodes.len() == 9 && (0..nodes.len() - 1).all(is_held)
}

/// The routes of the reference, whose figures are known: hops, busiest link, channels and dependencies.
#[test]
fn reference_routes_are_read_checked_and_run() {
    let folder = tempfile::tempdir().unwrap();
    for (slice, figures, cycle) in [
        ("4x8_twisted", [2_688, 21, 164, 296], "0>4>8>12>16>20>24>28>0"),
        ("4x4x8_twisted", [56_320, 74, 976, 2_768], "0>16>32>48>64>80>96>112>0"),
    ] {
        let Some(file) = shared_file(&format!("reference/fabrics-routes-{slice}.csv.gz")) else { return };
        let found =
            json(folder.path(), &format!("routes --topology tpu:{slice} --routes {} --format json", file.display()));
        let names = ["hops_all_pairs", "link_load_max", "channels_in_use", "channel_dependencies"];
        assert_eq!(names.map(|name| found[name].as_u64().unwrap()), figures, "{slice}");
        let network = format!("--network wormhole --topology tpu:{slice} --load 0.3");
        digest(folder.path(), &format!("{network} --routes {}", file.display()));
        // On one channel the rings close.
        let text = unpacked(&file);
        let flat: Vec<String> = text
            .lines()
            .map(|line| {
                let words: Vec<&str> = line.split(',').collect();
                if words[3] == "vc" {
                    line.to_owned()
                } else {
                    format!("{},{},{},0,{}", words[0], words[1], words[2], words[4])
                }
            })
            .collect();
        fs::write(folder.path().join("flat.csv"), flat.join("\n")).unwrap();
        for line in [
            format!("run {network} --routes flat.csv --cycles 100"),
            format!("routes --topology tpu:{slice} --routes flat.csv"),
        ] {
            let (code, words) = fails(folder.path(), &line);
            assert_eq!(code, Some(2), "{words}");
            assert!(words.contains("8 channels may wait for each other in a cycle"), "{words}");
            let found = words.split_once("in a cycle, ").unwrap().1.split([':', ' ']).next().unwrap().to_owned();
            for round in [&*found, cycle] {
                assert!(closes(&text, round), "{round} is no cycle of the file");
            }
        }
        let runs = format!("run {network} --routes flat.csv --cycles 100 --unsafe-routing true --format json");
        json(folder.path(), &runs);
    }
}

/// Written and read back, the routes of a deterministic routing are that routing.
#[test]
fn written_routes_are_the_routing() {
    let folder = tempfile::tempdir().unwrap();
    for (at, (topology, routing, vcs)) in [
        ("mesh:5x4", "dor", 2),
        ("torus:5x3", "dor", 2),
        ("torus:5x3", "dor", 4),
        ("hypercube:4", "dor", 3),
        ("hyperx:3x4:2", "dor", 2),
        ("dragonfly:p=2,a=4,h=1", "minimal", 4),
        ("fattree:4,2", "static", 1),
        ("cmesh:3x3:2", "dor", 2),
    ]
    .into_iter()
    .enumerate()
    {
        for (form, file) in [("hops", format!("{at}.csv")), ("paths", format!("{at}.csv.gz"))] {
            let made = run(
                folder.path(),
                &format!("routes --topology {topology} --routing {routing} --vcs {vcs} --form {form} -o {file}"),
            );
            assert!(made.status.success(), "{topology}: {}", String::from_utf8_lossy(&made.stderr));
            for engine in ["fast", "reference"] {
                let network =
                    format!("--network wormhole --topology {topology} --vcs {vcs} --load 0.4 --engine {engine}");
                let (ours, read) = (format!("{network} --routing {routing}"), format!("{network} --routes {file}"));
                assert_eq!(digest(folder.path(), &ours), digest(folder.path(), &read), "{topology} {routing} {form}");
            }
        }
    }
}

/// The same routes in three forms are the same in every model that takes them.
#[test]
fn forms_of_a_file_and_models_agree() {
    let folder = tempfile::tempdir().unwrap();
    let made = json(folder.path(), "routes --topology mesh:3x4 --routing dor -o hops.csv --format json");
    json(folder.path(), "routes --topology mesh:3x4 --routing dor --form paths -o paths.csv --format json");
    // Without its sources, dimension order is a table of destinations.
    let text = fs::read_to_string(folder.path().join("hops.csv")).unwrap();
    let rows: BTreeSet<String> = text
        .lines()
        .skip(1)
        .map(|line| {
            let words: Vec<&str> = line.split(',').collect();
            words[..4].join(",")
        })
        .collect();
    let table =
        format!("# a table\ncurrent,destination,next,vc\n{}\n", rows.into_iter().collect::<Vec<_>>().join("\n"));
    fs::write(folder.path().join("table.csv"), table).unwrap();
    for file in ["paths.csv", "table.csv"] {
        let other = json(folder.path(), &format!("routes --topology mesh:3x4 --routes {file} --format json"));
        assert_eq!(
            (&other["hops_all_pairs"], &other["link_load_max"]),
            (&made["hops_all_pairs"], &made["link_load_max"])
        );
    }
    for (network, load) in [("wormhole", "0.2"), ("vct", "0.3"), ("flow", "0.5"), ("ethernet:forwarding=static", "0.5")]
    {
        let line = |file: &str| {
            let cycles = match network {
                "wormhole" | "vct" => "3000",
                "flow" => "300000000",
                _ => "30000000000",
            };
            let result = json(
                folder.path(),
                &format!(
                    "run --network {network} --topology mesh:3x4 --load {load} --cycles {cycles} --format json --routes {file}"
                ),
            );
            assert!(result["digest"].is_string(), "{result}");
            result["digest"].clone()
        };
        let first = line("hops.csv");
        assert_eq!([line("paths.csv"), line("table.csv")], [first.clone(), first], "{network}");
    }
    let flow = "--network flow --topology mesh:3x4 --load 0.5 --cycles 300000000 --format json";
    let by = |words: &str| json(folder.path(), &format!("run {flow} {words}"))["digest"].clone();
    assert_eq!(by("--routing dor"), by("--routes hops.csv"));
    let (code, words) =
        fails(folder.path(), "run --network myrinet --topology mesh:3x4 --routes hops.csv --cycles 100");
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("--routes has no meaning with --network myrinet"), "{words}");
    let (code, words) =
        fails(folder.path(), "run --network ethernet --topology mesh:3x4 --routes hops.csv --cycles 100");
    assert!(code == Some(2) && words.contains("--forwarding static"), "{words}");
}

/// Virtual cut-through follows tables as its own routings of switches, and in direct networks, with both engines.
#[test]
fn virtual_cut_through_follows_tables() {
    let folder = tempfile::tempdir().unwrap();
    for (at, (topology, routing, own, vcs)) in [
        ("hyperx:3x4:2", "dor", Some("hyperx:dor"), 3),
        ("cmesh:3x3:2", "dor", Some("cmesh:dor"), 2),
        ("torus:5x3", "dor", None, 2),
    ]
    .into_iter()
    .enumerate()
    {
        let made = format!("routes --topology {topology} --routing {routing} --vcs {vcs} -o {at}.csv --format json");
        json(folder.path(), &made);
        let network = format!("--network vct --topology {topology} --vcs {vcs} --load 0.4");
        let read = digest(folder.path(), &format!("{network} --routes {at}.csv"));
        assert_eq!(
            read,
            digest(folder.path(), &format!("{network} --routes {at}.csv --engine reference")),
            "{topology}"
        );
        if let Some(own) = own {
            assert_eq!(read, digest(folder.path(), &format!("{network} --routing {own}")), "{topology}");
        }
    }
    json(folder.path(), "routes --topology tpu:4x8_twisted --balance -o twisted.csv --format json");
    let twisted = "--network vct --topology tpu:4x8_twisted --routes twisted.csv --vcs 2 --load 0.6";
    let engines = ["fast", "reference"].map(|engine| digest(folder.path(), &format!("{twisted} --engine {engine}")));
    assert_eq!(engines[0], engines[1]);
    // A ring in one direction, on one channel.
    let mut ring = "source,destination,path\n".to_owned();
    for (from, to) in (0..5).flat_map(|from| (0..5).map(move |to| (from, to))).filter(|(from, to)| from != to) {
        let nodes: Vec<String> = (0..=(to + 5 - from) % 5).map(|hop| ((from + hop) % 5).to_string()).collect();
        ring += &format!("{from},{to},{}\n", nodes.join(">"));
    }
    fs::write(folder.path().join("ring.csv"), ring).unwrap();
    let (code, words) = fails(folder.path(), "run --network vct --topology torus:5 --routes ring.csv --cycles 9");
    assert!(code == Some(2) && words.contains("5 channels may wait for each other in a cycle, 0>1>2>3>4>0"), "{words}");
}

/// Several next hops of a table are all followed by the proof, and all taken.
#[test]
fn several_next_hops_are_all_proven_and_taken() {
    let folder = tempfile::tempdir().unwrap();
    // A ring of four: opposite nodes are reached both ways round.
    let mut table = "current,destination,next,vc\n".to_owned();
    for (here, there) in
        (0..4).flat_map(|here| (0..4).map(move |there| (here, there))).filter(|(here, there)| here != there)
    {
        let mut next = Vec::new();
        if (there + 4 - here) % 4 <= 2 {
            next.push((here + 1) % 4)
        }
        if (here + 4 - there) % 4 <= 2 {
            next.push((here + 3) % 4)
        }
        next.iter().for_each(|next| table += &format!("{here},{there},{next},\n"));
    }
    fs::write(folder.path().join("ring.csv"), &table).unwrap();
    let network = "--network wormhole --topology torus:4 --vcs 1 --load 0.05 --cycles 2000";
    let (code, words) = fails(folder.path(), &format!("run {network} --routes ring.csv"));
    assert!(code == Some(2) && words.contains("0>1>2>3>0"), "{words}");
    // Messages from 0 to 2 take both links of 0.
    let flows: String = (1..40).map(|at| format!("0,2,64,{at}us\n")).collect();
    fs::write(folder.path().join("flows.csv"), format!("src,dst,bytes,start\n{flows}")).unwrap();
    let words =
        "--network wormhole --topology torus:4 --vcs 1 --routes ring.csv --unsafe-routing true --flows flows.csv";
    let result = json(folder.path(), &format!("run {words} --link-loads --format json"));
    let links: Vec<u64> =
        result["link_packets"][0].as_array().unwrap().iter().map(|link| link.as_u64().unwrap()).collect();
    assert!(links.iter().sum::<u64>() == 39 && links.iter().all(|&link| link > 5), "{links:?}");
}

/// Files that are wrong: each is refused with its line, and a remedy.
#[test]
fn wrong_files_are_refused_with_line_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    // The routes of a line of three nodes.
    let rows = "0,1,1,0,0\n0,2,1,0,0\n1,2,2,0,0\n1,0,0,0,1\n1,2,2,0,1\n2,0,1,0,2\n1,0,0,0,2\n2,1,1,0,2\n";
    let head = "current,destination,next,vc,source\n";
    let paths = "source,destination,path,vcs\n0,1,0>1,0\n0,2,0>1>2,0>0\n1,0,1>0,\n1,2,1>2,\n2,0,2>1>0,\n2,1,2>1,\n";
    let hops = |from: &str, to: &str| format!("{head}{}", rows.replacen(from, to, 1));
    let cases: Vec<(&str, String, &str, &str)> = vec![
        ("nothing", String::new(), "holds no routes", "names the columns"),
        ("only comments", "# nothing\n\n".to_owned(), "holds no routes", "names the columns"),
        ("no header", rows.to_owned(), "line 1: `0` is no column", "destination"),
        (
            "unknown column",
            head.replace("vc", "lane"),
            "line 1: `lane` is no column of routes",
            "the first line names the columns",
        ),
        ("column twice", head.replace("vc", "next"), "line 1: column `next` stands twice", "leave one of them out"),
        (
            "no destination",
            "current,next\n".to_owned(),
            "line 1: there is no column `destination`",
            "current,destination,next",
        ),
        (
            "no next",
            "current,destination,source\n".to_owned(),
            "line 1: there is no column `next`",
            "current,destination,next",
        ),
        (
            "paths without source",
            "destination,path\n".to_owned(),
            "line 1: there is no column `source`",
            "source,destination,path",
        ),
        (
            "two forms",
            "current,destination,next,path\n".to_owned(),
            "line 1: column `current` does not go with column `path`",
            "write",
        ),
        ("too few values", hops("1,2,2,0,0", "1,2,2"), "line 4: 3 values", "give each column a value"),
        ("no number", hops("1,2,2,0,0", "1,2,two,0,0"), "line 4: next `two` is no node", "use a number from 0 to 2"),
        ("node too large", hops("1,2,2,0,0", "1,7,2,0,0"), "line 4: destination 7", "use 0 to 2"),
        ("no link", hops("0,2,1,0,0", "0,2,2,0,0"), "line 3: no link leads from 0 to 2", "lead to 1"),
        ("to itself", hops("0,2,1,0,0", "0,0,1,0,0"), "line 3: a route from 0 to itself", "leave it out"),
        ("no channel", hops("0,2,1,0,0", "0,2,1,x,0"), "line 3: `x` is no virtual channel", "0 to 31"),
        ("channel too large", hops("0,2,1,0,0", "0,2,1,32,0"), "line 3: `32` is no virtual channel", "0 to 31"),
        (
            "beyond the end",
            hops("2,1,1,0,2\n", "2,1,1,0,2\n1,1,0,0,2\n"),
            "line 10: a hop that leaves 1",
            "leave it out",
        ),
        ("a pair missing", hops("2,1,1,0,2\n", ""), "there is no route from 2 to 1", "give every pair"),
        ("cut short", hops("1,2,2,0,0\n", ""), "the route from 0 to 2 ends at 1", "give every pair"),
        (
            "round and round",
            hops("1,2,2,0,0", "1,2,0,0,0"),
            "the route from 0 to 2 comes to 0 again",
            "nearer to the destination",
        ),
        ("a second hop", hops("0,2,1,0,0\n", "0,2,1,0,0\n0,2,1,1,0\n"), "line 4: a second hop from 0", "leave one"),
        (
            "a hop aside",
            hops("0,1,1,0,0\n", "0,1,1,0,0\n2,1,1,0,0\n"),
            "line 3: no packet of this route comes to 2",
            "leave the row out",
        ),
        (
            "no port",
            "current,destination,next,source,port\n0,1,1,0,x\n".to_owned(),
            "line 2: `x` is no port",
            "use a number",
        ),
        (
            "another port",
            "current,destination,next,source,port\n0,1,1,0,1\n".to_owned(),
            "line 2: port 1 of 0 does not lead to 1",
            "ports that lead there: 0",
        ),
        (
            "a path from elsewhere",
            paths.replace("0,2,0>1>2", "0,2,1>2"),
            "line 3: the path does not lead from 0 to 2",
            "begin it with 0",
        ),
        (
            "a path to elsewhere",
            paths.replace("0>1>2,0>0", "0>1,0"),
            "line 3: the path does not lead from 0 to 2",
            "end it with 2",
        ),
        ("a path twice", format!("{paths}2,1,2>1,\n"), "line 8: a second path of this pair: line 7", "leave one"),
        (
            "channels of a path",
            paths.replace("0>0\n", "0\n"),
            "line 3: 1 channels, and the path has 2 hops",
            "give each hop its channel",
        ),
        (
            "a path that returns",
            paths.replace("0>1>2,0>0", "0>1>0>1>2,"),
            "line 3: the route from 0 to 2 comes to 0 again",
            "nearer",
        ),
        ("a path over nothing", paths.replace("0>1>2,0>0", "0>2,"), "line 3: no link leads from 0 to 2", "lead to 1"),
        (
            "the same hop twice",
            "current,destination,next\n0,1,1\n0,1,1\n".to_owned(),
            "line 3: the same hop as in line 2",
            "leave it out",
        ),
        (
            "a table with a circle",
            "current,destination,next\n0,1,1\n2,1,1\n1,2,2\n0,2,1\n1,0,2\n2,0,1\n".to_owned(),
            "comes to",
            "nearer to the destination",
        ),
    ];
    assert!(cases.len() >= 20);
    fs::write(folder.path().join("good.csv"), format!("{head}{rows}")).unwrap();
    fs::write(folder.path().join("paths.csv"), paths).unwrap();
    let line = |file: &str| format!("run --network wormhole --topology mesh:3 --routes {file} --cycles 50");
    for good in ["good.csv", "paths.csv"] {
        assert_eq!(fails(folder.path(), &line(good)).0, Some(0), "{good}");
    }
    for (name, text, place, remedy) in cases {
        fs::write(folder.path().join("bad.csv"), text).unwrap();
        let (code, words) = fails(folder.path(), &line("bad.csv"));
        assert_eq!(code, Some(2), "{name}: {words}");
        assert!(words.contains("bad.csv") && words.contains(place) && words.contains(remedy), "{name}: {words}");
    }
    fs::write(folder.path().join("bad.csv"), b"current,\xFF\n").unwrap();
    fs::write(folder.path().join("bad.csv.gz"), b"\x1F\x8B\x08\0nonsense").unwrap();
    for (file, words, remedy) in [
        ("none.csv", "cannot be read", "give a file"),
        ("bad.csv", "cannot be read", "give a file"),
        ("bad.csv.gz", "cannot be read", "compressed with gzip"),
        ("good.csv --routing dor", "--routing dor others", "leave out one of them"),
    ] {
        let (code, found) = fails(folder.path(), &line(file));
        assert!(code == Some(2) && found.contains(words) && found.contains(remedy), "{file}: {found}");
    }
    let five = format!("{head}{}", rows.replace(",0,0\n", ",4,0\n"));
    fs::write(folder.path().join("five.csv"), five).unwrap();
    let (code, words) = fails(folder.path(), &line("five.csv"));
    assert!(code == Some(2) && words.contains("virtual channel 4 is used") && words.contains("--vcs 5"), "{words}");
    let (code, words) = fails(folder.path(), "run --network wormhole --topology mesh:3 --routing routes --cycles 50");
    assert!(code == Some(2) && words.contains("name their file by --routes"), "{words}");
}

/// Balanced routes come within 5 % of the best that integer programmes found.
#[test]
fn balanced_routes_are_near_the_best() {
    let folder = tempfile::tempdir().unwrap();
    let mut shares = BTreeMap::new();
    for (topology, best, hops) in [
        ("tpu:4x4x8_twisted", 74, 56_320),
        ("twisted:8x16:xy=8", 170, 0),
        ("tpu:4x8_twisted", 21, 2_688),
        ("tpu:4x8x8_twisted", 184, 282_624),
    ] {
        let file = format!("{}.csv.gz", topology.replace([':', '='], "_"));
        let made = json(folder.path(), &format!("routes --topology {topology} --balance -o {file} --format json"));
        let busiest = made["link_load_max"].as_f64().unwrap();
        assert!(busiest <= f64::from(best) * 1.05, "{topology}: {busiest}, and {best} is possible");
        assert!(hops == 0 || made["hops_all_pairs"] == hops, "{topology}: {made}");
        shares.insert(topology, busiest / f64::from(best));
        let vcs = made["vcs"].as_u64().unwrap();
        digest(
            folder.path(),
            &format!("--network wormhole --topology {topology} --vcs {vcs} --routes {file} --load 0.2"),
        );
    }
    assert_eq!(shares.len(), 4);
    // Networks of switches, and any graph.
    for topology in ["fattree:4,2", "rrg:s=16,d=4,p=2", "dragonfly:p=2,a=4,h=2", "circulant:30:1,7"] {
        let made = json(folder.path(), &format!("routes --topology {topology} --balance --format json"));
        assert!(made["link_load_max"].as_f64().unwrap() < 3.0 * made["link_load_mean"].as_f64().unwrap(), "{made}");
    }
}

/// On a graph the shortest paths are those among which models choose at each hop: `adaptive` means them, and figures say
/// the routing's own name. Where a route is one, nothing is adaptive.
#[test]
fn adaptive_on_a_graph_means_its_shortest_paths() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("g.txt"), "a b\nb c\nc d\nd a\na c\n").unwrap();
    let digest = |network: &str, topology: &str, routing: &str| {
        let line = format!(
            "run --network {network} --topology {topology} --routing {routing} --load 0.2 --cycles 3000 --format json"
        );
        let output = run(folder.path(), &line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        (found["digest"].clone(), found["experiment"]["routing"].clone())
    };
    let dragonfly = "dragonfly:a=4,h=2,p=2";
    for (network, topology, own) in [
        ("vct", "graph:g.txt", "graph:shortest"),
        ("wormhole:vcs=4", "graph:g.txt", "shortest"),
        ("flow", "graph:g.txt", "shortest"),
        ("vct", dragonfly, "dragonfly:ugal"),
        ("wormhole:vcs=4", dragonfly, "ugal"),
        ("flow", dragonfly, "ugal"),
    ] {
        let (found, settled) = digest(network, topology, "adaptive");
        assert_eq!(found, digest(network, topology, own).0, "{network} {topology}");
        assert_eq!(settled, own, "{network} {topology}");
    }
    let output = run(folder.path(), "run --network myrinet --topology graph:g.txt --routing adaptive --load 0.1");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is no routing of myrinet in graph:g.txt"));
}
