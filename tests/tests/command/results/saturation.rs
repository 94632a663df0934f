//! `fsin saturation`: the load at which a network saturates.

use super::*;

/// Bisection against the first saturated load of a sweep in small steps.
#[track_caller]
fn bisection_agrees_with_a_sweep(network: &str, loads: &str) {
    let folder = tempfile::tempdir().unwrap();
    let found: Value =
        serde_json::from_str(&done(folder.path(), &format!("saturation {network} -q --format json"))).unwrap();
    let found = found["saturation_load_phits_per_node_cycle"].as_f64();
    done(folder.path(), &format!("sweep {network} --load {loads} -q -o r"));
    let text = fs::read_to_string(folder.path().join("r/results.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = rows.iter().find(|row| row["saturated"] == true).map(|row| row["experiment"]["load"].as_f64().unwrap());
    println!("{network}: by bisection {found:?}, by sweep {first:?}");
    match (found, first) {
        // The sweep knows the load to its step of 0.005: the middle of the step is compared.
        (Some(found), Some(first)) => assert!((found - (first - 0.0025)).abs() <= 0.01, "{network}: {found} {first}"),
        (found, first) => assert_eq!(found, first, "{network}"),
    }
}

#[test]
fn a_table_of_saturation_says_what_it_came_to() {
    let folder = tempfile::tempdir().unwrap();
    let line = "saturation --topology torus:8x8 --routing bubble:oblivious --vcs 1 --tolerance 0.2 --warmup 500 --samples 2 --sample-size 500 --max-conv-time 0 -q";
    let found: Value = serde_json::from_str(&done(folder.path(), &format!("{line} --format json"))).unwrap();
    let load = found["saturation_load_phits_per_node_cycle"].as_f64().unwrap();
    let table = done(folder.path(), &format!("{line} --format csv"));
    let mut lines = table.lines();
    let heading = ",complete,saturation_low,saturation_high,saturation_load_phits_per_node_cycle";
    assert!(lines.next().unwrap().ends_with(heading), "{table}");
    let ends = format!(",true,{},{},{load}", found["saturation_low"], found["saturation_high"]);
    assert!(lines.clone().count() > 1 && lines.all(|line| line.ends_with(&ends)), "{table}");
}

/// Several networks and seeds: a mean with its confidence for each network, stored where the page finds it.
#[test]
fn saturation_of_several_networks_and_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let short = "--topology torus:4x4 --tolerance 0.25 --warmup 500 --samples 2 --sample-size 500 --max-conv-time 0 -q";
    let line = format!("saturation {short} --routing bubble:oblivious,bubble:smart --traffic uniform,complement");
    let found: Value =
        serde_json::from_str(&done(folder.path(), &format!("{line} --seeds 3 -o s --format json"))).unwrap();
    let searches = found["searches"].as_array().unwrap();
    assert_eq!((searches.len(), found["complete"].as_bool()), (4, Some(true)));
    assert_eq!(searches[1]["settings"], serde_json::json!({ "routing": "bubble:oblivious", "traffic": "complement" }));
    for search in searches {
        let seeds = search["seeds"].as_array().unwrap();
        let numbers: Vec<&str> = seeds.iter().map(|seed| seed["seed"].as_str().unwrap()).collect();
        assert_eq!(numbers, ["1", "2", "3"]);
        // The mean over the networks with a result.
        let loads: Option<Vec<f64>> =
            seeds.iter().map(|seed| seed["saturation_load_phits_per_node_cycle"].as_f64()).collect();
        let mean = loads.map(|loads| loads.iter().sum::<f64>() / 3.0);
        match (search["saturation_load_phits_per_node_cycle"].as_f64(), mean) {
            (Some(found), Some(mean)) => assert!((found - mean).abs() < 1e-12),
            (found, mean) => assert_eq!(found, mean),
        }
        assert_eq!(search["saturation_load_ci95"].is_null(), mean.is_none());
    }
    // One of several seeds yields the result that it yields alone, on any number of threads.
    let alone = "--routing bubble:oblivious --traffic complement --seed 2 --format json";
    let alone: Value = serde_json::from_str(&done(folder.path(), &format!("saturation {short} {alone}"))).unwrap();
    assert_eq!(searches[1]["seeds"][1]["probes"], alone["probes"]);
    done(folder.path(), &format!("{line} --seeds 3 -o t --jobs 1"));
    let text = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    assert_eq!(text("s/saturation.json"), text("t/saturation.json"));
    assert!(text("s/saturation.csv").starts_with("routing,traffic,saturation_load_phits_per_node_cycle,"));
    // The table has a line per network.
    let table = done(folder.path(), &line);
    assert!(table.contains("routing bubble:oblivious, traffic uniform ") && table.lines().count() == 6, "{table}");
    // The page shows searches, alone and beside a sweep; without searches there is no section.
    const SECTION: &str = "<h2>Saturation by bisection";
    done(folder.path(), "report s -q");
    assert!(text("s/report.html").contains(SECTION) && text("s/report.html").contains("traffic complement"));
    done(folder.path(), "sweep --topology torus:4x4 --cycles 200 --load 0.1,0.2 -q -o r");
    done(folder.path(), "report r -q");
    assert!(!text("r/report.html").contains(SECTION));
    done(folder.path(), &format!("saturation {short} --load 0.2,0.5,0.1 -o r"));
    done(folder.path(), "report r -q");
    assert!(text("r/report.html").contains(SECTION) && text("r/report.html").contains("<h2>Points"));
    let kept: Value = serde_json::from_str(&text("r/saturation.json")).unwrap();
    assert_eq!(kept["highest_load"], 0.5, "of several loads the highest");
    for (line, words) in [
        ("--load 0.5 -o r", "results of a search are already there"),
        ("--load 0.5 -o s/saturation.csv", "a file of this name exists"),
        ("--routing dally:trc,bubble:smart --vcs 3", "needs exactly 2 virtual channels"),
        ("--load 0", "no load that could be raised"),
    ] {
        let told = code_and_words(&run(folder.path(), &format!("saturation {short} {line}")), 2);
        assert!(told.contains(words), "{line}: {told}");
    }
    fs::write(folder.path().join("s/saturation.json"), "[]").unwrap();
    assert!(code_and_words(&run(folder.path(), "report s -q"), 2).contains("saturation.json"));
}

#[test]
fn saturation_agrees_with_a_fine_sweep() {
    bisection_agrees_with_a_sweep(
        "--topology torus:8x8 --routing bubble:oblivious --traffic transpose",
        "0.2..0.35/31",
    );
}

#[test]
#[ignore = "minutes: sweeps of six networks in small steps"]
fn saturation_agrees_with_fine_sweeps_on_six_networks() {
    for (network, loads) in [
        ("--topology torus:8x8", "0.6..0.8/41"),
        ("--topology torus:8x8 --routing bubble:oblivious --vcs 1", "0.3..0.7/81"),
        ("--topology torus:8x8 --traffic transpose", "0.4..0.75/71"),
        ("--topology mesh:8x8", "0.2..0.6/81"),
        ("--topology twisted:16x8:8", "0.4..0.8/81"),
        ("--topology torus:4x4x4 --routing dally:trc --vcs 2", "0.4..0.95/111"),
    ] {
        bisection_agrees_with_a_sweep(network, loads);
    }
}
