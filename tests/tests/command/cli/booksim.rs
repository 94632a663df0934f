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

/// Points of each kind of traffic, below 80 % of saturation: the mean latency of BookSim's seeds within 2 %, or three of
/// their standard errors.
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
