//! Components and topologies, listed and explained.

use std::process::Output;

use serde_json::Value;
use tests::command::{fsin, run};

use super::{figures, folder, text};

#[test]
fn every_component_is_listed_and_explains_itself() {
    let folder = folder();
    let overview = text(&run(folder.path(), "list"));
    assert!(overview.lines().count() > 20, "{overview}");
    for line in overview.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (kind, models) = (words[0], &words[2..]);
        let all = json_list(&run(folder.path(), &format!("list {kind} --format json")));
        let listed = text(&run(folder.path(), &format!("list {kind}")));
        assert_eq!([listed.lines().count(), all.len()].map(|count| count.to_string()), [words[1], words[1]], "{kind}");
        for (one, line) in all.iter().zip(listed.lines()) {
            let [name, about] = ["name", "about"].map(|key| one[key].as_str().unwrap());
            assert!(about.len() > 10 && line.starts_with(name) && line.ends_with(about), "{kind}: {line}");
            let explained = text(&run(folder.path(), &format!("explain {kind}/{name}")));
            let heading = format!("{name}  ({kind})\n  {about}\n");
            assert!(explained.contains(&heading) && explained.contains("  source: "), "{explained}");
        }
        for model in models.iter().map(|model| model.trim_end_matches(',')) {
            let own = json_list(&run(folder.path(), &format!("list {kind} --network {model} --format json")));
            let has = |one: &&Value| one["networks"].as_array().unwrap().contains(&Value::from(model));
            let names =
                |list: &mut dyn Iterator<Item = &Value>| list.map(|one| one["name"].clone()).collect::<Vec<_>>();
            assert_eq!(names(&mut own.iter()), names(&mut all.iter().filter(has)), "{kind} of {model}");
            assert!(!own.is_empty());
        }
    }
}

/// The components that a command prints as JSON.
fn json_list(output: &Output) -> Vec<Value> {
    serde_json::from_str(&text(output)).unwrap()
}

#[test]
fn lists_and_explanations_are_those_of_the_model_that_is_named() {
    let folder = folder();
    let said = |line: &str| text(&run(folder.path(), line));
    // What is of another model is neither listed, nor explained, nor offered as a setting.
    assert!(said("list routings --network wormhole").lines().all(|line| !line.starts_with("bubble:")));
    assert!(said("list --network wormhole").lines().all(|line| !line.starts_with("transports")));
    let explained = said("explain updown --network wormhole");
    assert!(explained.contains("  in wormhole: ") && !explained.contains("  in myrinet: "), "{explained}");
    for (model, own, other) in [("wormhole", "ugal,", "dally:trc,"), ("vct", "dally:trc,", "--vc-allocator")] {
        let help = said(&format!("run --network {model} --help"));
        let routings = help.split_once("--routing <").unwrap().1.split_once("\n\n").unwrap().0;
        assert!(routings.contains(own) && !routings.contains(other) && !help.contains("--transport"), "{help}");
    }
    // A name of several kinds is explained in each.
    let random = said("explain random");
    for kind in ["arbitrations", "placements"] {
        assert!(random.contains(&format!("random  ({kind})")), "{random}");
    }
    let refused = |line: &str| {
        let output = run(folder.path(), line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        String::from_utf8(output.stderr).unwrap()
    };
    for (line, remedy) in [
        ("list wormhole-routings", "`fsin list routings --network wormhole`"),
        ("list ethernet-transports", "`fsin list transports --network ethernet`"),
        ("list routings --network bus", "vct, wormhole, myrinet"),
        ("list routings --network wormhol", "did you mean `wormhole`?"),
        ("list routing --network bus", "no routing"),
    ] {
        let said = refused(line);
        assert!(said.contains(remedy), "{line}: {said}");
    }
}

#[test]
fn a_topology_is_described_in_every_format() {
    let folder = folder();
    let described = figures(&run(folder.path(), "topology twisted:8x4:4 --format json"));
    assert_eq!(described["nodes"], 32);
    assert_eq!(described["links"], 128);
    assert_eq!(described["diameter_hops"], 4);
    // 84 hops to 31 others.
    assert_eq!(described["distance_mean_hops"], 84.0 / 31.0);
    assert_eq!(figures(&run(folder.path(), "topology torus:6 --ways 1 --format json"))["diameter_hops"], 5);
    // A ring of 6 with links across: 6 edges, and 3 across.
    let graph = text(&run(folder.path(), "topology spidergon:6 --format dot"));
    assert_eq!(graph.matches(" -- ").count(), 9);
}

#[test]
fn patterns_explain_where_node_0_sends() {
    let folder = folder();
    let explain = |name: &str| {
        let output = fsin(folder.path()).args(["explain", name]).output().unwrap();
        text(&output)
    };
    // Node 0 has coordinates (0,0); tornado on 4x4 is one step in both dimensions.
    let tornado = explain("tornado");
    assert!(tornado.contains("`tornado` on a 4x4 grid, seed 1"), "{tornado}");
    assert!(tornado.contains("  y=1       . 100.0     .     .\n"), "{tornado}");
    assert!(explain("transpose").contains("node 0 is silent"));
    assert!(explain("hotspot").contains("`hotspot(0.1, 0)` on a 4x4 grid"));
    assert!(explain("map(block:2, uniform)").contains("  y=0       . 100.0     .     .\n"));
    assert!(explain("local").contains("`local` on a 4x4 grid"));
    assert!(explain("matrix").contains("no table of destinations: `matrix` needs its parameter file"));
    assert!(!explain("bernoulli").contains("grid, seed"));
}

#[test]
fn other_names_of_components_are_explained() {
    let folder = folder();
    let text = text(&run(folder.path(), "explain nbodies"));
    assert!(text.contains("n-bodies  (kernels)") && text.contains("also called: nbodies"), "{text}");
}
