//! Link counts: their agreement with other figures of a run, and heat maps.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::{browser, run};

#[track_caller]
fn done(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert!(output.status.success(), "fsin {line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn result(line: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    serde_json::from_str(&done(folder.path(), &format!("run {line} -q --format json"))).unwrap()
}

/// Packets of all links, in order; missing links are skipped.
fn carried(result: &Value) -> Vec<u64> {
    let routers = result["link_packets"].as_array().unwrap();
    routers.iter().flat_map(|ports| ports.as_array().unwrap()).filter_map(Value::as_u64).collect()
}

#[test]
fn links_carry_every_hop_of_the_measured_time() {
    for network in [
        "--topology torus:4x4x4",
        "--topology mesh:5x3 --routing bubble:oblivious",
        "--topology fattree:2,3 --routing tree:adaptive",
        "--topology dragonfly:p=2,a=4,h=2 --routing dragonfly:minimal",
    ] {
        // Everything is measured: each hop of the run is a crossing of a link.
        let found = result(&format!("{network} --cycles 3000 --load 0.2 --link-loads"));
        assert_eq!(carried(&found).iter().sum::<u64>(), found["packet_hops"].as_u64().unwrap(), "{network}");
        let most = *carried(&found).iter().max().unwrap() as f64 * 16.0 / 3000.0;
        assert_eq!(found["link_load_max_phits_per_cycle"].as_f64(), Some(most), "{network}");
        // After a warm-up, only measured traffic counts: accepted load times hops, spread over the links.
        let found = result(&format!("{network} --load 0.2 --samples 5 --link-loads"));
        let figure = |name: &str| found[name].as_f64().unwrap();
        let hops = figure("accepted_load_phits_per_node_cycle") * figure("nodes") * figure("hops_mean");
        let mean = figure("link_load_mean_phits_per_cycle") * carried(&found).len() as f64;
        assert!((mean / hops - 1.0).abs() < 0.02, "{network}: {mean} {hops}");
    }
}

#[test]
fn only_links_that_exist_carry() {
    // A mesh of 5x3 has 4 x 3 + 5 x 2 links in each direction; a ring of neighbours uses one direction.
    let found = result("--topology mesh:5x3 --cycles 100 --link-loads");
    assert_eq!(carried(&found).len(), 2 * (4 * 3 + 5 * 2));
    let found = result("--topology torus:6x4 --traffic neighbor --cycles 2000 --link-loads");
    for ports in found["link_packets"].as_array().unwrap() {
        assert!(ports[0].as_u64().unwrap() > 0, "X+");
        assert_eq!(ports.as_array().unwrap()[1..], [0, 0, 0], "X- Y+ Y-");
    }
}

#[test]
fn keeping_them_changes_nothing_and_depends_on_nothing() {
    let line = "--topology torus:8x8 --load 0.4 --cycles 3000 --seed 5";
    let plain = result(line);
    assert!(plain.get("link_packets").is_none());
    let fast = result(&format!("{line} --link-loads"));
    assert_eq!(plain["digest"], fast["digest"]);
    for other in ["--engine reference", "--threads 3"] {
        assert_eq!(result(&format!("{line} --link-loads {other}"))["link_packets"], fast["link_packets"], "{other}");
    }
}

#[test]
fn an_ideal_network_has_no_links() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.trc"), "s 0 1 64 0\nr 1 0 64 0\n").unwrap();
    let refused = run(folder.path(), "run --trace a.trc --network ideal:L=1000,G=1 --link-loads");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--link-loads"));
}

/// Attributes of all rectangles of a picture whose tag contains this word.
fn rectangles(svg: &str, word: &str) -> usize {
    svg.split('<').filter(|tag| tag.starts_with("rect") && tag.contains(word)).count()
}

#[test]
fn every_kind_of_network_is_drawn() {
    for (network, links) in [
        ("torus:5x4", 80),
        ("torus:3x3x3", 162),
        ("torus:16", 32),
        ("hypercube:4", 64),
        ("spinnaker:4x4", 96),
        ("fattree:2,3 --routing tree:adaptive", 2 * (8 + 8 + 8)),
        ("dragonfly:p=1,a=2,h=1 --routing dragonfly:minimal --vcs 3", 2 * (6 + 3 + 3)),
        ("icube:4x4:2 --routing cube:oblivious", 2 * 32 + 64),
        ("rrg:s=10,d=3,p=1 --routing graph:updown", 2 * 10 + 30),
    ] {
        let folder = tempfile::tempdir().unwrap();
        done(folder.path(), &format!("run --topology {network} --cycles 500 --link-loads -q -o r"));
        done(folder.path(), "plot r -q");
        let svg = fs::read_to_string(folder.path().join("r/plots/links.svg")).unwrap();
        let loads = svg.split("class=\"loads\"").nth(1).unwrap().split("</g>").next().unwrap();
        assert_eq!(rectangles(loads, "fill"), links, "{network}");
        assert!(svg.contains("Link load (phits/cycle)"), "{network}");
        for number in ["NaN", "inf", "width=\"-", "height=\"-"] {
            assert!(!svg.contains(number), "{network}: {number}");
        }
        let data = fs::read_to_string(folder.path().join("r/plots/links.csv")).unwrap();
        assert_eq!(data.lines().count(), 1 + links, "{network}");
        done(folder.path(), "report r -q");
        let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
        assert!(page.contains("<h2>Links</h2>") && page.contains("loads-of-points"), "{network}");
    }
}

#[test]
fn a_long_title_of_a_map_has_several_lines() {
    let folder = tempfile::tempdir().unwrap();
    let line = "--topology dragonfly:p=2,a=4,h=2,g=4 --routing dragonfly:minimal,dragonfly:ugal --vcs 4 \
                --traffic groupshift(8,1),hotspot(0.125,17) --source open,throttled --arbitration longest,random \
                --load 0.1,0.2 --cycles 300 --link-loads -q";
    done(folder.path(), &format!("sweep {line} -o r"));
    done(folder.path(), "plot r -q");
    let data = done(folder.path(), "plot r");
    assert!(data.is_empty());
    for (name, lines) in [
        (
            "dragonfly-minimal-longest-throttled-hotspot-0-125-17-load-0-2",
            ["dragonfly:minimal, longest, throttled,", "hotspot(0.125,17), load 0.2"],
        ),
        (
            "dragonfly-minimal-random-open-groupshift-8-1-load-0-2",
            ["dragonfly:minimal, random, open, groupshift(8,1),", "load 0.2"],
        ),
    ] {
        let svg = fs::read_to_string(folder.path().join(format!("r/plots/links-{name}.svg"))).unwrap();
        let texts = svg.split("<text").skip(1).map(|text| text.split(['>', '<']).nth(1).unwrap());
        let title: Vec<&str> = texts.take_while(|text| text.parse::<u32>().is_err()).collect();
        assert_eq!(title, lines);
        assert_eq!(fsin::report::illegible(&svg).unwrap(), [], "{name}");
    }
}

#[test]
fn large_networks_have_a_table_only() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), "run --topology torus:16x16x16 --load 0.05 --cycles 200 --link-loads -q -o r");
    done(folder.path(), "report r -q");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(page.contains("too large to be drawn") && page.contains("<td>Z- links</td><td class=\"n\">4096</td>"));
}

#[test]
fn the_page_shows_the_point_that_is_picked() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sweep --topology torus:4x4 --routing bubble:smart,bubble:oblivious --load 0.1,0.3 --cycles 2000 --link-loads -q -o r";
    done(folder.path(), line);
    done(folder.path(), "report r -q");
    let file = folder.path().join("r/report.html");
    let page = fs::read_to_string(&file).unwrap();
    // A reader who selects the lowest load of the other routing.
    let pick = "<script>const l = document.querySelectorAll('.links select'); l[0].value = 'bubble:oblivious'; \
                l[1].value = '0.1'; l[1].dispatchEvent(new Event('change', {bubbles: true}));</script></body>";
    fs::write(&file, page.replace("</body>", pick)).unwrap();
    let Some((dom, log)) = browser(&file, &["--dump-dom"]) else {
        tests::shared::skipped("no chromium");
        return;
    };
    assert!(!log.contains("CONSOLE"), "{log}");
    let text = fs::read_to_string(folder.path().join("r/results.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |routing: &str, load: f64| {
        let wanted = |row: &&Value| row["experiment"]["routing"] == routing && row["experiment"]["load"] == load;
        let row = rows.iter().find(wanted).unwrap();
        let of_x = row["link_packets"].as_array().unwrap().iter().map(|ports| ports[0].as_u64().unwrap());
        (of_x.max().unwrap() as f64 * 16.0 / 2000.0 * 1000.0).round() / 1000.0
    };
    let row = |page: &str| {
        let cells = page.split("<td>X+ links</td>").nth(1).unwrap().split("</tr>").next().unwrap().to_owned();
        cells.split("<td class=\"n\">").nth(3).unwrap().split('<').next().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(row(&page), of("bubble:smart", 0.3), "without a script: the highest load that the first curve carried");
    assert_eq!(row(&dom), of("bubble:oblivious", 0.1));
}

#[test]
fn whoever_runs_the_points_keeps_the_same_loads() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sweep --topology mesh:4x4 --load 0.1,0.2,0.3 --cycles 1000 --link-loads -q";
    done(folder.path(), &format!("{sweep} -o here"));
    let commands = done(folder.path(), &format!("{sweep} --backend commands -o there"));
    assert!(tests::pages::shell(folder.path(), &commands).status.success());
    done(folder.path(), "collect there");
    let read = |name: &str| fs::read(folder.path().join(name).join("results.jsonl")).unwrap();
    assert_eq!(read("here"), read("there"));
    assert!(String::from_utf8_lossy(&read("here")).contains("link_packets"));
    assert!(done(folder.path(), "rerun there").contains("3 of 3"));
}
