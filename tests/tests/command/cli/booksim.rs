//! Rows of BookSim 2's tables, each by one command.

use std::collections::{BTreeSet, HashMap};

use tests::command::fsin;
use tests::shared::shared_file;

use super::{figures, folder};

type Row = HashMap<String, String>;

/// The rows of a table; `None` without it.
fn rows(name: &str) -> Option<Vec<Row>> {
    let mut reader = csv::Reader::from_path(shared_file(name)?).expect("the table can be read");
    Some(reader.deserialize().map(|row| row.expect("a row of columns")).collect())
}

/// The words of `fsin run` for the network and the traffic of a row, except its load.
fn words(row: &Row) -> Vec<String> {
    let option =
        |name: &str| row["extra_params"].split('|').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let or = |name: &str, usual: &'static str| option(name).unwrap_or(usual).to_owned();
    let number = |name: &str, usual| option(name).map_or(usual, |text| text.parse::<u32>().expect("a number"));
    let dimensions: usize = row["n"].parse().expect("a number");
    let traffic = match row["traffic"].split('(').next().expect("a name") {
        "uniform" => "uniform(self=true)".to_owned(),
        "transpose" => "transpose(self=true)".to_owned(),
        "bitcomp" => "complement".to_owned(),
        "tornado" => "tornado".to_owned(),
        "neighbor" => "neighbor-all".to_owned(),
        // A weight of 8 for node 27 and of 1 for each of the others: 7 of 71 to node 27, the rest to any node.
        "hotspot" => "hotspot(0.09859154929577464, 27, self=true)".to_owned(),
        other => panic!("traffic {other}"),
    };
    let (routing, classes) = match &*row["routing"] {
        "min_adapt" => ("adaptive", None),
        "dim_order_bal" => ("dor", Some("balanced")),
        _ => ("dor", Some("per-dimension")),
    };
    let link = if row["topology"] == "mesh" || option("use_noc_latency") == Some("0") { "1" } else { "2" };
    let mut words = vec!["--network".to_owned(), "wormhole".to_owned()];
    for (flag, value) in [
        ("topology", format!("{}:{}", row["topology"], vec![&*row["k"]; dimensions].join("x"))),
        ("traffic", traffic),
        ("packet", row["packet_size"].clone()),
        ("vcs", row["vcs"].clone()),
        ("buffer", row["buf"].clone()),
        ("routing", routing.to_owned()),
        ("route-delay", or("routing_delay", "1")),
        ("vc-alloc-delay", or("vc_alloc_delay", "1")),
        ("switch-alloc-delay", or("sw_alloc_delay", "1")),
        ("traverse-delay", (number("st_prepare_delay", 0) + number("st_final_delay", 1)).to_string()),
        ("speculative", (number("speculative", 0) == 1).to_string()),
        ("speedup", or("internal_speedup", "1")),
        ("credit-delay", or("credit_delay", "0")),
        ("link-delay", link.to_owned()),
        ("vc-allocator", "islip:1".to_owned()),
        ("switch-allocator", "islip:1".to_owned()),
    ] {
        words.extend([format!("--{flag}"), value]);
    }
    // Only rings have classes, and adaptive routing has channels of its own on them.
    if let Some(classes) = classes.filter(|_| row["topology"] == "torus") {
        words.extend(["--vc-classes".to_owned(), classes.to_owned()]);
    }
    words
}

/// Every row is an experiment: its words are accepted.
#[test]
fn every_row_of_booksim_is_one_command() {
    let Some(rows) = rows("reference/booksim2.csv") else { return };
    let folder = folder();
    let all: BTreeSet<Vec<String>> = rows.iter().map(words).collect();
    for words in &all {
        let output = fsin(folder.path()).arg("config").args(words).output().expect("fsin has just been built");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(all.len() > 60, "{}", all.len());
}

/// Points of each kind of traffic, below 80 % of saturation: the mean latency of BookSim's seeds within 2 %, or three
/// of their standard errors.
#[test]
fn rows_of_booksim_by_their_commands() {
    const POINTS: [(&str, &str); 6] = [
        ("m8-dor-uni-p1", "low"),
        ("m8-dor-trp-p8", "low"),
        ("t8-dor-hot-p1", "mid"),
        ("t8-dor-tor-p8", "low"),
        ("t16-bal-bcp-p1", "low"),
        ("t8-dor-uni-p1-is2", "at0.2"),
    ];
    let Some(rows) = rows("reference/booksim2.csv") else { return };
    let Some(points) = self::rows("reference/booksim2-multiseed.csv") else { return };
    let folder = folder();
    for (name, kind) in POINTS {
        let point = points.iter().find(|point| point["name"] == name && point["kind"] == kind).expect("a point");
        let row = rows.iter().find(|row| row["name"] == name).expect("a row");
        let output = fsin(folder.path())
            .args(["run", "--format", "json", "--load", &point["inj_rate"], "--warmup", "3000", "--max-conv-time", "0"])
            .args(["--samples", "6", "--sample-size", "4000"])
            .args(words(row))
            .output()
            .expect("fsin has just been built");
        let ours = figures(&output)["latency_mean_cycles"].as_f64().expect("packets arrive");
        let number = |column: &str| point[column].parse::<f64>().expect("a number");
        let (theirs, error) = (number("latency_mean"), number("latency_se"));
        let bound = (0.02 * theirs).max(3.0 * error);
        assert!((ours - theirs).abs() <= bound, "{name} at {}: {ours}, BookSim {theirs} +- {error}", point["inj_rate"]);
    }
}

/// The configuration file of a row, with the names of BookSim.
fn configuration(row: &Row) -> String {
    let mut text = format!(
        "// {}\ntopology = {};\nk = {};\nn = {};\nrouting_function = {};\ntraffic = {};\npacket_size = {};\nnum_vcs = {};\n\
         vc_buf_size = {};\ninjection_rate = {};\n",
        row["name"],
        row["topology"],
        row["k"],
        row["n"],
        row["routing"],
        row["traffic"],
        row["packet_size"],
        row["vcs"],
        row["buf"],
        row["inj_rate"],
    );
    const TAKEN: &[&str] = &[
        "injection_rate_uses_flits",
        "use_noc_latency",
        "routing_delay",
        "vc_alloc_delay",
        "sw_alloc_delay",
        "st_prepare_delay",
        "st_final_delay",
        "credit_delay",
        "speculative",
        "vc_allocator",
        "sw_allocator",
        "alloc_iters",
        "internal_speedup",
        "sample_period",
        "warmup_periods",
        "max_samples",
        "seed",
    ];
    for word in row["extra_params"].split('|').filter_map(|word| word.split_once('=')) {
        if TAKEN.contains(&word.0) {
            text += &format!("{} = {}; // as in the table\n", word.0, word.1);
        }
    }
    text
}

/// The keys and values of an experiment file.
fn keys_of(output: &std::process::Output, what: &str) -> HashMap<String, String> {
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pairs = text.lines().filter_map(|line| line.split_once(" = "));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// The configuration file of each row is the same experiment as its command, and runs as it is.
#[test]
fn configurations_of_booksim_are_experiments() {
    let Some(rows) = rows("reference/booksim2.csv") else { return };
    let folder = folder();
    let mut seen = BTreeSet::new();
    let mut refused = 0;
    for row in rows.iter().filter(|row| !row["traffic"].starts_with("hotspot")) {
        let words = words(row);
        if !seen.insert(words.clone()) {
            continue;
        }
        let text = configuration(row);
        std::fs::write(folder.path().join("row.cfg"), &text).expect("a file");
        let run = |words: &[&str]| fsin(folder.path()).args(words).output().expect("fsin has just been built");
        let output = run(&["import", "booksim", "row.cfg"]);
        // Batches of the switch, and a routing that does not adapt, are words that the commands below do not have.
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let without_equal =
            ["st_final_delay = 2", "st_prepare_delay = 1", "routing_delay = 2", "routing_function = min_adapt"];
        if without_equal.iter().any(|statement| text.contains(statement)) {
            // Minimal adaptive routing of tori is refused, and its twin of meshes read.
            if text.contains("topology = torus") && text.contains("routing_function = min_adapt") {
                assert_eq!(output.status.code(), Some(2), "{text}: {said}");
                refused += 1;
                continue;
            }
            let is_meant = ["traverse-mode = \"batch\"", "routing = \"booksim-min-adapt\""];
            let is_named = is_meant.iter().any(|meant| said.contains(meant));
            assert!(output.status.code() == Some(0) && is_named, "{text}: {said}");
            refused += 1;
            continue;
        }
        let imported = keys_of(&output, &text);
        let told: Vec<&str> = ["config"].into_iter().chain(words.iter().map(String::as_str)).collect();
        let expected = keys_of(&run(&told), &text);
        for flag in words.iter().step_by(2) {
            let key = &flag[2..];
            // The table leaves out what has no effect on its rows, and a file then has BookSim's default.
            if key == "credit-delay" && !row["extra_params"].contains("credit_delay=") {
                continue;
            }
            assert_eq!(imported.get(key), expected.get(key), "{key} of\n{text}");
        }
        let load: f64 = imported["load"].parse().expect("a number");
        assert!((load - row["inj_rate"].parse::<f64>().expect("a number")).abs() < 1e-9, "{text}");
    }
    assert!(seen.len() - refused > 40, "{} of {}", refused, seen.len());
    let small = "topology = mesh; k = 4; n = 2; routing_function = dor; num_vcs = 2; injection_rate = 0.1;\n";
    std::fs::write(folder.path().join("small.cfg"), small).expect("a file");
    let ran = fsin(folder.path()).args(["run", "small.cfg", "--cycles", "2000", "--format", "json", "-q"]).output();
    let ran = figures(&ran.expect("fsin has just been built"));
    assert_eq!((&ran["experiment"]["network"], &ran["experiment"]["buffer"]), (&"wormhole".into(), &8.into()));
    std::fs::write(folder.path().join("fly.cfg"), "topology = gemini; k = 4;\n").expect("a file");
    let refused =
        fsin(folder.path()).args(["import", "booksim", "fly.cfg"]).output().expect("fsin has just been built");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(2) && said.contains("topology = gemini") && said.contains("fly.cfg"),
        "{said}"
    );
}

/// A network of six routers with a node each: two triangles, and a link of latency 3 between them.
const ANYNET: &str = "router 0 node 0 router 1 router 2\nrouter 1 node 1 router 2\nrouter 2 node 2 router 3 3\n\
                      router 3 node 3 router 4 router 5\nrouter 4 node 4 router 5\nrouter 5 node 5\n";

/// Configurations of each kind of network, with its number of nodes, and the mean of routers on a route between any two
/// nodes, each itself included, of which links have two ends; and of the cycles beyond one that links take.
const CONFIGURATIONS: [(&str, u32, f64, f64); 13] = [
    ("topology = mesh; k = 4; n = 2; routing_function = dor;", 16, 1.0 + 2.0 * 1.25, 0.0),
    ("topology = mesh; k = 3; n = 3; routing_function = dim_order;", 27, 1.0 + 3.0 * 8.0 / 9.0, 0.0),
    ("topology = torus; k = 4; n = 2; routing_function = dim_order; use_noc_latency = 0;", 16, 1.0 + 2.0, 0.0),
    ("topology = torus; k = 4; n = 2; routing_function = dim_order_bal; use_noc_latency = 1;", 16, 1.0 + 2.0, 2.0),
    ("topology = fly; k = 2; n = 3; routing_function = dest_tag;", 8, 3.0, 0.0),
    ("topology = fly; k = 4; n = 2; routing_function = dest_tag;", 16, 2.0, 0.0),
    (
        "topology = cmesh; k = 2; n = 2; c = 4; x = 2; y = 2; xr = 2; yr = 2; routing_function = dor_no_express; \
         use_noc_latency = 0;",
        16,
        1.0 + 1.0,
        0.0,
    ),
    // Links between routers are two cycles long.
    (
        "topology = cmesh; k = 2; n = 2; c = 4; x = 2; y = 2; xr = 2; yr = 2; routing_function = xy_yx_no_express;",
        16,
        1.0 + 1.0,
        1.0,
    ),
    // In half of the rows and columns an express link stands in for two links.
    (
        "topology = cmesh; k = 4; n = 2; c = 4; x = 4; y = 4; xr = 2; yr = 2; routing_function = dor; use_noc_latency = 0;",
        64,
        1.0 + 2.0 * (20.0 + 14.0) / 32.0,
        0.0,
    ),
    // Of 16 nodes, 4 are below the same switch, and a route to the others passes three.
    ("topology = fattree; k = 4; n = 2; routing_function = nca;", 16, (4.0 + 12.0 * 3.0) / 16.0, 0.0),
    (
        "topology = flatfly; k = 3; n = 2; c = 4; x = 3; y = 3; xr = 2; yr = 2; routing_function = ran_min; use_noc_latency = 0;",
        36,
        1.0 + 2.0 * 2.0 / 3.0,
        0.0,
    ),
    // A link is 2 cycles long to the next router of a row, and 4 to the one after it: 8/9 in each dimension, less a cycle.
    (
        "topology = flatfly; k = 3; n = 2; c = 4; x = 3; y = 3; xr = 2; yr = 2; routing_function = xyyx;",
        36,
        1.0 + 2.0 * 2.0 / 3.0,
        2.0 * 2.0 * 8.0 / 9.0 - 2.0 * 2.0 / 3.0,
    ),
    // To itself 1, to the two others of the triangle 2; across: between the middles 2, with one other 3, two others 4.
    (
        "topology = anynet; network_file = net.txt; routing_function = min;",
        6,
        (6.0 + 12.0 * 2.0 + 2.0 * 2.0 + 8.0 * 3.0 + 8.0 * 4.0) / 36.0,
        1.0,
    ),
];

/// Configurations of ten networks at little load: routers on routes, and latency, by formula. A head takes four cycles
/// in a router, two on a link between routers, and four between nodes and their routers, the last with its own cycle.
#[test]
fn configurations_of_every_network_by_formula() {
    let folder = folder();
    std::fs::write(folder.path().join("net.txt"), ANYNET).expect("a file");
    let mut wrongly = Vec::new();
    for (network, nodes, routers, beyond) in CONFIGURATIONS {
        let text = format!(
            "// A network.\n{network}\ntraffic = uniform; packet_size = 3; num_vcs = 8; vc_buf_size = 8; injection_rate = 0.002;\n\
             sample_period = 20000; max_samples = 8; credit_delay = 0; seed = 7;\n"
        );
        std::fs::write(folder.path().join("row.cfg"), &text).expect("a file");
        let output = fsin(folder.path()).args(["run", "row.cfg", "--format", "json", "-q"]).output();
        let output = output.expect("fsin has just been built");
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
        let ran = figures(&output);
        assert_eq!(ran["nodes"].as_u64(), Some(nodes.into()), "{text}");
        let latency = ran["latency_mean_cycles"].as_f64().expect("packets arrive");
        let expected = 4.0 * routers + (routers - 1.0) + beyond + 3.0 + 2.0;
        if (latency - expected).abs() > 0.03 * expected {
            wrongly.push(format!("{network}: {latency}, by formula {expected}"));
        }
    }
    assert!(wrongly.is_empty(), "{}", wrongly.join("\n"));
}
