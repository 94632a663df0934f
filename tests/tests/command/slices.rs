//! Slices of pods: their names, and the figures of the tori that they mean.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tests::command::run;
use tests::shared::shared_file;

/// The result of a run with these words.
fn result(words: &str) -> Value {
    let output = run(Path::new("."), &format!("run {words} --quiet --format json"));
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A slice with routers as in the sketches whose figures are below, and six injectors.
fn slice(name: &str, injection: &str) -> String {
    format!("--topology tpu:{name} --vcs 6 --queue 4 --injectors 6 --injection {injection}")
}

fn topology(spec: &str) -> Value {
    let output = run(Path::new("."), &format!("topology {spec} --format json"));
    assert!(output.status.success(), "{spec}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn slices_have_the_figures_of_the_table() {
    let Some(table) = shared_file("reference/fabrics-slices.csv") else { return };
    let mut rows = 0;
    for row in csv::Reader::from_path(table).unwrap().deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let slice = topology(&format!("tpu:{}", row["slice"]));
        assert_eq!(slice["topology"], row["spec"]);
        for (column, figure) in [
            ("nodes", "nodes"),
            ("links_one_way", "links"),
            ("diameter_hops", "diameter_hops"),
            ("hops_all_pairs", "hops_all_pairs"),
            ("pairs", "pairs"),
        ] {
            assert_eq!(slice[figure].to_string(), row[column], "{row:?}");
        }
        for (column, figure, digits) in [
            ("distance_mean_hops", "distance_mean_hops", 6),
            ("link_load_mean", "all_to_all_link_load_mean", 4),
            ("uniform_load_bound", "uniform_load_bound_phits_per_node_cycle", 6),
        ] {
            let found = slice[figure].as_f64().unwrap();
            assert_eq!(format!("{found:.digits$}"), row[column], "{column}: {row:?}");
        }
        rows += 1;
    }
    assert!(rows > 10, "{rows}");
}

#[test]
fn slices_that_do_not_twist_are_refused() {
    for spec in ["tpu:4x4x12_twisted", "tpu:8x4_twisted", "tpu:6x12_twisted", "tpu:4x4x4_twisted", "tpu:4_twisted"] {
        let output = run(Path::new("."), &format!("topology {spec}"));
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{spec}: {words}");
        assert!(words.contains("does not twist") && words.contains("n x n x 2n"), "{spec}: {words}");
    }
}

/// Accepted loads of an independent sketch.
#[test]
fn slices_accept_the_loads_of_the_sketch() {
    for (name, injection, accepted) in [
        ("4x4x8", "dor", 0.979),
        ("4x4x8", "shortest", 0.920),
        ("4x4x8_twisted", "dor", 1.535),
        ("4x4x8_twisted", "longest-path", 1.669),
        ("4x4x8_twisted", "shortest", 1.688),
    ] {
        let result = result(&format!("{} --load 3", slice(name, injection)));
        let found = result["accepted_load_phits_per_node_cycle"].as_f64().unwrap();
        assert!((found / accepted - 1.0).abs() < 0.02, "{name}, {injection}: {found}, not {accepted}");
    }
}

/// The share of its bound at which an all-to-all runs.
fn share(slice: &str, kernel: &str) -> f64 {
    let result = result(&format!("{slice} --kernel all-to-all:{kernel}"));
    let figure = |name: &str| result[name].as_f64().unwrap_or_else(|| panic!("{name} in {result:#}"));
    figure("completion_bound_cycles") / figure("completion_cycles")
}

#[test]
fn packets_in_turn_bring_an_all_to_all_to_its_bound() {
    let of = |name: &str, injection: &str, kernel: &str| share(&slice(name, injection), kernel);
    let in_turn = "bytes=1024,piece=packet,interleave=all";
    // Orders by number send over the same distance at a time, which is best along the longest axis.
    for (name, injection, orders) in [
        ("4x4x8", "dor", &["latin", "shuffled"][..]),
        ("8x4x4", "dor", &["ring"]),
        ("4x4x8_twisted", "shortest", &["ring", "pairwise", "latin", "shuffled"]),
    ] {
        for order in orders {
            let found = of(name, injection, &format!("order={order},{in_turn}"));
            assert!(found > 0.94, "{name}, {order}: {found}");
        }
    }
    let whole = of("4x4x8_twisted", "shortest", "bytes=1024");
    let few = of("4x4x8_twisted", "shortest", "bytes=1024,piece=packet,interleave=8");
    assert!(whole < 0.65 && whole < few && few < 0.9, "{whole}, {few}");
}

/// With one channel a hop, heads wait for it; copies of the channels bring single paths to the bound.
#[test]
fn copies_of_channels_bring_balanced_routes_to_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let routes = |vcs: &str, file: &str| {
        let line = format!("routes --topology tpu:4x4x8_twisted --balance {vcs} -o {file} --format json");
        let output = run(folder.path(), &line);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let (few, copies) = (routes("", "few.csv"), routes("--vcs 12", "copies.csv"));
    assert_eq!((&few["vcs"], &copies["vcs"]), (&2.into(), &12.into()));
    assert_eq!(few["link_load_max"], copies["link_load_max"], "the paths are the same");
    let of = |file: &str, vcs: u32| {
        let routes = folder.path().join(file);
        let words = format!("--topology tpu:4x4x8_twisted --routes {} --vcs {vcs} --queue 4", routes.display());
        share(&format!("{words} --injectors 6 --injection dor"), "bytes=512,order=latin,piece=packet,interleave=all")
    };
    let (one, several) = (of("few.csv", 2), of("copies.csv", 12));
    assert!(one < 0.55 && several > 0.95, "{one}, {several}");
}

#[test]
fn a_slice_says_its_routes_and_interface() {
    let of = |words: &str| {
        let result = result(&format!("{words} --load 0.2 --cycles 200"));
        let setting = |name: &str| result["experiment"][name].to_string().trim_matches('"').to_owned();
        ["order", "interface", "injectors", "injection"].map(setting)
    };
    let own = |settings: [&str; 4]| settings.map(str::to_owned);
    assert_eq!(of("--topology tpu:4x4x8"), own(["long", "per-port", "6", "dor"]));
    assert_eq!(of("--topology torus:4x4x8"), own(["dim", "serial", "1", "shortest"]));
    assert_eq!(of("--topology tpu:4x4x8 --order dim --interface serial"), own(["dim", "serial", "1", "shortest"]));
    assert_eq!(of("--topology tpu:4x4x8 --injectors 6"), own(["long", "serial", "6", "shortest"]));
    // The same order where the long axis is the first, or is asked for.
    let digest = |words: &str| result(&format!("{words} --load 0.2 --cycles 200"))["digest"].clone();
    let plain = "--interface serial --topology";
    assert_eq!(digest(&format!("{plain} tpu:4x4x8")), digest(&format!("{plain} torus:4x4x8 --order long")));
    assert_ne!(digest(&format!("{plain} tpu:4x4x8")), digest(&format!("{plain} torus:4x4x8")));
    assert_eq!(digest(&format!("{plain} tpu:8x4")), digest(&format!("{plain} torus:8x4")));
}

/// The busiest link of every table's row: with one path for each pair, and with pairs that divide over several.
#[test]
fn routes_have_the_busiest_links_of_the_table() {
    let Some(table) = shared_file("reference/fabrics-slices.csv") else { return };
    let mut rows = 0;
    for row in csv::Reader::from_path(table).unwrap().deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        if row["nodes"].parse::<u32>().unwrap() > 200 {
            continue;
        }
        let output = run(Path::new("."), &format!("routes --topology tpu:{} --balance --format json", row["slice"]));
        let routes: Value = serde_json::from_slice(&output.stdout).unwrap();
        let single: f64 = row["link_load_max_single_path"].parse().unwrap();
        let found = routes["link_load_max"].as_f64().unwrap();
        assert!((single..=single * 1.05).contains(&found), "{found}, {row:?}");
        let split = routes["link_load_max_split"].as_f64().unwrap();
        assert_eq!(format!("{split:.4}"), row["link_load_max_split"], "{row:?}");
        rows += 1;
    }
    assert!(rows > 5, "{rows}");
}

#[test]
fn activity_shows_links_that_idle_at_times() {
    let folder = tempfile::tempdir().unwrap();
    let of = |kernel: &str, file: &str| {
        let slice = slice("4x4x8_twisted", "shortest");
        run(folder.path(), &format!("run {slice} --kernel all-to-all:{kernel} --link-loads --activity {file} -q"))
    };
    // The mean share of links that are idle or carry less than half of what they can.
    let slack = |kernel: &str, file: &str| {
        let output = of(kernel, file);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut lines = csv::Reader::from_path(folder.path().join(file)).unwrap();
        let rows: Vec<BTreeMap<String, f64>> = lines.deserialize().map(Result::unwrap).collect();
        let sums = rows.iter().map(|row| row["links_idle"] + row["links_below_half"]);
        for row in &rows {
            let of = |prefix: &str| -> f64 {
                row.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, share)| share).sum()
            };
            assert!((of("links_") - 1.0).abs() < 1e-9 && (of("nodes_") - 1.0).abs() < 1e-9, "{row:?}");
        }
        assert!(rows.windows(2).all(|pair| pair[0]["end_cycle"] == pair[1]["begin_cycle"]), "{rows:?}");
        sums.sum::<f64>() / rows.len() as f64
    };
    let (whole, in_turn) =
        (slack("bytes=1024", "whole.csv"), slack("bytes=1024,piece=packet,interleave=all", "turns.csv"));
    assert!(whole > 2.0 * in_turn, "{whole}, {in_turn}");
    assert!(of("bytes=64", "activity.svg").status.success());
    assert!(std::fs::read_to_string(folder.path().join("activity.svg")).unwrap().contains("share of links"));
    for (words, fault) in [
        ("--topology torus:4x4 --activity a.csv", "needs the loads of links"),
        ("--topology torus:4x4 --link-loads --activity a.png", "is .svg or .csv"),
        ("--topology torus:4x4 --link-loads --activity a.csv --monitor unix:x", "one observer"),
        ("--network wormhole --topology torus:4x4 --link-loads --activity a.csv", "packets of one length"),
        ("--network constant-delay --nodes 4 --activity a.csv", "packets of one length"),
    ] {
        let output = run(folder.path(), &format!("run --load 0.1 --cycles 100 {words}"));
        let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.status.code() == Some(2) && said.contains(fault), "{words}: {said}");
    }
}
