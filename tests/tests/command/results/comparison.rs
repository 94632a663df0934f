//! Comparison of results, and with lower bounds.

use super::*;

#[test]
fn cycles_of_different_lengths_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    done(folder.path(), "sweep --topology torus:4x4 --kernel all-to-all:tasks=16,bytes=999 --phit-bytes 4,16 -q -o r");
    done(folder.path(), "plot r -q");
    assert!(read("r/plots/completion.csv").starts_with("curve,label,phit-bytes,completion_seconds,"));
    assert!(read("r/plots/completion.svg").contains("Completion time (µs)"), "in a unit that suits the values");
    assert!(read("r/plots/latency.svg").contains("Mean latency (µs)"), "in a common unit");
    assert!(read("r/plots/latency.csv").starts_with("curve,label,phit-bytes,latency_mean_seconds,"));
    done(folder.path(), "report r -q");
    assert!(read("r/report.html").contains("The length of a cycle differs between points"));
    // A cycle of Ethernet is a picosecond, one of the router the time of a phit.
    done(
        folder.path(),
        "sweep --topology torus:4x4 --kernel all-to-all:tasks=16,bytes=999 --network vct --network ethernet -q -o m",
    );
    done(folder.path(), "plot m -q");
    assert!(read("m/plots/completion.csv").starts_with("curve,label,network,position,completion_seconds,"));
    done(folder.path(), "report m -q");
    assert!(read("m/report.html").contains("The length of a cycle differs between points"));
    // Different texts are each shown with their points.
    fs::write(folder.path().join("a.trc"), "s 0 1 64 0\nr 1 0 64 0\n").unwrap();
    let sweep = "sweep --topology torus:4x4 --kernel all-to-all:tasks=16 --placement optimise:random,optimise --seeds 2 -q -o s";
    done(folder.path(), sweep);
    done(folder.path(), "report s -q");
    let page = read("s/report.html");
    let told = page.split("<h2>Notes</h2>").nth(1).unwrap().split("</section>").next().unwrap();
    let points = |index: usize| {
        let text = fs::read_to_string(folder.path().join("s/results.jsonl")).unwrap();
        let row: Value = serde_json::from_str(text.lines().nth(index).unwrap()).unwrap();
        row["notes"][0].as_str().unwrap().to_owned()
    };
    done(folder.path(), "collect s");
    for index in 0..4 {
        assert!(told.contains(&points(index)), "{}: {told}", points(index));
    }
    let seeds = "sweep --topology torus:4x4 --kernel all-to-all:tasks=16 --seeds 2 -q -o t";
    done(folder.path(), seeds);
    assert!(code_and_words(&run(folder.path(), "plot t"), 2).contains("runs that differ in their seeds alone"));
}

/// A cycle of the router is a phit's time, one of flows a picosecond: times are compared in seconds.
#[test]
fn models_are_compared_in_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = |network: &str, rest: &str| {
        done(folder.path(), &format!("sweep --topology torus:4x4 --network {network} {rest} -q"));
    };
    let kernel = "--kernel all-to-all:tasks=16,bytes=999 --kernel all-to-all:tasks=16,bytes=4096";
    for network in ["vct", "wormhole", "flow", "ethernet"] {
        sweep(network, &format!("{kernel} -o {network}"));
    }
    // By figure, the pairs of values of both points.
    let compared = |others: &str| {
        let text = done(folder.path(), &format!("compare vct {others} --format json --plots {others}-plots -q"));
        let found: Value = serde_json::from_str(&text).unwrap();
        let mut figures: BTreeMap<String, Vec<[f64; 2]>> = BTreeMap::new();
        for row in found["differences"].as_array().unwrap() {
            let values = ["baseline", "candidate"].map(|side| row[side].as_f64().unwrap());
            figures.entry(row["figure"].as_str().unwrap().to_owned()).or_default().push(values);
        }
        (found["cycles_differ"].as_bool().unwrap(), figures)
    };
    // [s] A figure in cycles of each of the points of a sweep, by the length of a cycle.
    let seconds = |name: &str, figure: &str, cycle: f64| -> Vec<f64> {
        let text = fs::read_to_string(folder.path().join(name).join("results.jsonl")).unwrap();
        let value = |line: &str| serde_json::from_str::<Value>(line).unwrap()[figure].as_f64().unwrap() * cycle;
        text.lines().map(value).collect()
    };
    for other in ["flow", "ethernet"] {
        let (differ, figures) = compared(other);
        assert!(differ);
        let names: Vec<&str> = figures.keys().map(String::as_str).collect();
        assert_eq!(names, ["completion_seconds", "latency_mean_seconds", "latency_p99_seconds"], "no cycles, no loads");
        // 4 bytes at 10 Gb/s are 3.2 ns.
        let phit = seconds("vct", "latency_mean_cycles", 3.2e-9);
        let picosecond = seconds(other, "latency_mean_cycles", 1e-12);
        for (at, [before, after]) in figures["latency_mean_seconds"].iter().enumerate() {
            assert!((before / phit[at] - 1.0).abs() < 1e-9 && (after / picosecond[at] - 1.0).abs() < 1e-9);
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(format!("{other}-plots/{name}.svg"))).unwrap();
        let completion = read("completion");
        assert!(
            completion.contains("s)<")
                && !completion.contains("cycles")
                && completion.contains(">vct<")
                && completion.contains(other)
        );
        assert!(read("latency").contains("s)<") && !read("latency").contains("cycles"));
    }
    let table = done(folder.path(), "compare vct flow");
    assert!(table.contains("cycles differ in length: latencies are compared in seconds"), "{table}");
    done(folder.path(), "report flow --baseline vct -q");
    let page = fs::read_to_string(folder.path().join("flow/report.html")).unwrap();
    assert!(page.contains("Cycles differ in length: ") && page.contains("latency_mean_seconds"));
    // Both count phits of the same length.
    let (differ, figures) = compared("wormhole");
    assert!(!differ && figures.contains_key("latency_mean_cycles") && figures.contains_key("completion_cycles"));
    // The phits of steady traffic have no time.
    sweep("vct", "--load 0.1,0.2 --cycles 2000 -o steady");
    sweep("flow", "--load 0.1,0.2 --cycles 2000000 -o fluid");
    let told = code_and_words(&run(folder.path(), "compare steady fluid"), 2);
    assert!(told.contains("their cycles differ in length") && told.contains("--kernel"), "{told}");
}

#[test]
fn designs_are_compared_with_confidence() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sweep --topology torus:8x8 --traffic transpose --load 0.1,0.4 --seeds 3 --cycles 4000 -q";
    done(folder.path(), &format!("{sweep} --routing bubble:oblivious -o before"));
    done(folder.path(), &format!("{sweep} --routing bubble:smart -o after"));
    let found: Value = serde_json::from_str(&done(folder.path(), "compare before after --format json")).unwrap();
    assert_eq!(found["unmatched_points"], 0);
    let row = |load: &str, figure: &str| {
        let rows = found["differences"].as_array().unwrap();
        rows.iter().find(|row| row["load"] == load && row["figure"] == figure).unwrap().clone()
    };
    // Dimension order saturates below 0.3 under transpose, the adaptive router does not at 0.4.
    let accepted = row("0.4", "accepted_load_phits_per_node_cycle");
    assert_eq!(accepted["verdict"], "higher");
    assert!(accepted["difference"].as_f64().unwrap() > accepted["difference_ci95"].as_f64().unwrap());
    let same: Value = serde_json::from_str(&done(folder.path(), "compare after after --format json")).unwrap();
    assert!(same["differences"].as_array().unwrap().iter().all(|row| row["verdict"] == "same"));
    done(folder.path(), "report after --baseline before -q");
    let page = fs::read_to_string(folder.path().join("after/report.html")).unwrap();
    assert!(page.contains("Against before") && page.contains("higher"));
}

#[test]
fn comparisons_say_what_is_compared_and_how_sure_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sweep --topology torus:4x4 --load 0.2,0.3 --cycles 4000 -q";
    done(folder.path(), &format!("{sweep} --seeds 2 --vcs 3 -o before"));
    done(folder.path(), &format!("{sweep} --seeds 2 --vcs 3 --packet 17 -o after"));
    let json = |line: &str| -> Value { serde_json::from_str(&done(folder.path(), line)).unwrap() };
    let found = json("compare before after --format json");
    let setting = serde_json::json!({ "key": "packet", "baseline": ["16"], "candidate": ["17"] });
    assert_eq!(found["settings"], serde_json::json!([setting]), "what alone differs");
    let verdicts = |found: &Value, figure: &str| -> Vec<String> {
        let rows = found["differences"].as_array().unwrap().iter();
        rows.filter(|row| row["figure"] == figure).map(|row| row["verdict"].as_str().unwrap().to_owned()).collect()
    };
    // Two seeds have twenty batches, and two percentiles.
    assert_eq!(found["differences"][1]["baseline_samples"], "20 batches");
    assert_eq!(verdicts(&found, "latency_p99_cycles"), ["unclear", "unclear"]);
    assert_eq!(verdicts(&found, "latency_mean_cycles"), ["higher", "higher"], "every packet is longer by a phit");
    // Within a margin as wide as this, everything is equal.
    let wide = json("compare before after --format json --margin 30%");
    assert_eq!(verdicts(&wide, "latency_mean_cycles"), ["same", "same"]);
    let table = done(folder.path(), "compare before after");
    for line in ["A: before (4 results)", "B: after (4 results)", "  packet  16 -> 17", "6 figures compared: "] {
        assert!(table.lines().any(|found| found.starts_with(line)), "{line}: {table}");
    }
    assert!(code_and_words(&run(folder.path(), "compare before after --margin much"), 2).contains("--margin"));
    assert!(code_and_words(&run(folder.path(), "report after --margin 2"), 2).contains("--baseline"));
    // The page has the curves of both: dashed lines for the baseline.
    done(folder.path(), "report after -q -o alone.html");
    done(folder.path(), "report after --baseline before -q -o both.html");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let hints = |page: &str| page.matches("class=\"hint\"").count();
    assert_eq!(hints(&read("both.html")), 2 * hints(&read("alone.html")));
    let page = read("both.html");
    assert!(page.contains("and pale bars, are those of before") && page.contains("<td>packet</td>"));
    // Bars too, whose words the two sides need not share.
    let words = "sweep --topology torus:4x4 --load 0.2 --cycles 2000 -q";
    done(folder.path(), &format!("{words} --traffic uniform,transpose -o a"));
    done(folder.path(), &format!("{words} --traffic transpose,tornado -o b"));
    done(folder.path(), "report b --baseline a -q -o bars.html");
    let page = read("bars.html");
    assert!(page.contains(">uniform</text>"), "words of the baseline alone");
}

/// No program is faster than its bounds, and the page names the binding one.
#[test]
fn lower_bounds_stand_beside_the_time_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["injection", "interface", "ejection", "bisection", "links", "critical_path"];
    for network in [
        "torus:4x4",
        "torus:4x4 --injectors 4 --consumption single",
        "torus:4x4 --inject serial --injectors 2",
        "mesh:16",
        "mesh:4x2x2",
        "thintree:4,2,2",
        "torus:4x4 --ways 1 --routing bubble:oblivious",
        "torus:4x4 --network wormhole",
        "fattree:4,2 --network ethernet",
    ] {
        for kernel in ["all-to-all:tasks=16,bytes=1024", "bintree:tasks=16", "butterfly:tasks=16", "ring:tasks=16"] {
            let line = format!("run --topology {network} --kernel {kernel} -q --format json");
            let output = run(folder.path(), &line);
            // Not every kernel has these parameters.
            if output.status.code() == Some(2) {
                continue;
            }
            let found: Value = serde_json::from_str(&code(&output, 0)).unwrap();
            let completion = found["completion_cycles"].as_u64().unwrap();
            let bounds: Vec<u64> = names
                .iter()
                // Where several links lead out of an interface, it can be their order that binds.
                .filter(|name| **name != "interface" || network.starts_with("torus:4x4 --inj"))
                .map(|name| {
                    found["completion_bounds_cycles"][name].as_u64().unwrap_or_else(|| panic!("{line}: {name}"))
                })
                .collect();
            assert!(bounds.iter().all(|&bound| bound <= completion), "{line}: {bounds:?} {completion}");
            let greatest = found["completion_bound_cycles"].as_u64();
            assert!(greatest >= bounds.iter().copied().max() && greatest <= Some(completion), "{line}: {bounds:?}");
        }
    }
    // Half of 16 tasks send 16 packets of 16 phits to each of the others, over the one link in the middle.
    let line = "--kernel all-to-all:tasks=16,bytes=1024 -q";
    let found: Value =
        serde_json::from_str(&done(folder.path(), &format!("run --topology mesh:16 {line} --format json"))).unwrap();
    assert_eq!(found["completion_bounds_cycles"]["bisection"], 8 * 8 * 16 * 16);
    let notes = found["notes"].as_array().unwrap();
    let explains =
        |note: &Value| note.as_str().is_some_and(|note| note.starts_with("completion is bound by bisection: "));
    assert!(notes.iter().any(explains), "{notes:?}");
    assert_eq!(found["completion_bound_by"], "bisection");
    let table = done(folder.path(), &format!("run --topology mesh:16 {line}"));
    assert!(table.contains("16384 / bisection (cycles)"), "{table}");
    done(folder.path(), &format!("sweep --topology mesh:16 --topology torus:4x4 {line} -o r"));
    done(folder.path(), "report r -q");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(page.contains("<h2>Time and its lower bounds") && page.contains("<td>bisection</td>"));
    // Without tasks there are no bounds.
    done(folder.path(), "run --topology torus:4x4 --cycles 200 -q -o s");
    done(folder.path(), "report s -q");
    assert!(!fs::read_to_string(folder.path().join("s/report.html")).unwrap().contains("lower bounds"));
}

/// Writes another result in the place of one, and its checksum.
fn rewrite(result: &Path, text: &str) {
    fs::write(result, text).unwrap();
    let sums = result.with_file_name("SHA256SUMS");
    let sum: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    let renewed: String = fs::read_to_string(&sums)
        .unwrap()
        .lines()
        .map(|line| if line.ends_with("  result.json") { format!("{sum}  result.json\n") } else { format!("{line}\n") })
        .collect();
    fs::write(&sums, renewed).unwrap();
}

/// Fewer bytes x hops are not always less time.
#[test]
fn an_optimised_placement_that_is_slower_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sweep --topology torus:4x4 --kernel bintree:tasks=16 --placement optimise,random -o r";
    let told = code_and_words(&run(folder.path(), sweep), 0);
    assert!(!told.contains("slower than random"), "{told}");
    for point in fs::read_dir(folder.path().join("r/points")).unwrap() {
        let file = point.unwrap().path().join("result.json");
        let mut found: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        if found["experiment"]["placement"] == "optimise" {
            found["completion_seconds"] = 1.0.into();
            rewrite(&file, &found.to_string());
        }
    }
    let told = code_and_words(&run(folder.path(), "collect r"), 0);
    assert!(told.contains("note: optimise is slower than random here: 1.0000e0 s against"), "{told}");
    done(folder.path(), "report r -q");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(page.contains("optimise is slower than random here"));
}
