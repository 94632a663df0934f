//! Components and topologies, listed and explained.

use fsin::router::RouterParams;
use fsin::routing::Routing;
use fsin::topology::TOPOLOGIES;
use tests::command::{fsin, run};

use super::{done, figures, folder, text};

#[test]
fn every_component_is_listed_and_explains_itself() {
    let folder = folder();
    // The families are those known to the command.
    let refused = String::from_utf8_lossy(&run(folder.path(), "list nothing").stderr).into_owned();
    let known = refused.split_once("[possible values: ").unwrap().1.split_once(']').unwrap().0;
    let families: Vec<&str> = known.split(", ").collect();
    assert!(families.len() >= 12, "{families:?}");
    let counts = text(&run(folder.path(), "list"));
    assert_eq!(counts.lines().count(), families.len(), "{counts}");
    for (family, count) in families.into_iter().zip(counts.lines()) {
        let listed = text(&run(folder.path(), &format!("list {family}")));
        assert!(listed.lines().count() > 0, "{family}");
        let counted: Vec<&str> = count.split_whitespace().collect();
        assert_eq!(counted, [family, &listed.lines().count().to_string()]);
        for line in listed.lines() {
            let (name, about) = line.split_once(' ').unwrap();
            assert!(about.trim().len() > 10, "{family}: {line}");
            let explained = text(&run(folder.path(), &format!("explain {name}")));
            assert!(explained.starts_with(&format!("{name}  (")), "{explained}");
            assert!(explained.contains(&format!("({family})")), "{explained}");
            assert!(explained.contains("source: ") && explained.contains(about.trim()), "{explained}");
        }
    }
}

#[test]
fn what_is_listed_can_be_run() {
    let folder = folder();
    for pattern in text(&run(folder.path(), "list traffic")).lines() {
        let name = pattern.split_whitespace().next().unwrap();
        // Without arguments a pattern either runs with its defaults or names the missing ones.
        let output = run(folder.path(), &format!("run --cycles 200 --topology torus:4x4 --traffic {name}"));
        let stderr = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => {}
            Some(2) => assert!(stderr.contains("--traffic") && stderr.contains("  help: "), "{name}: {stderr}"),
            status => panic!("{name}: {status:?} {stderr}"),
        }
    }
    for routing in text(&run(folder.path(), "list routings")).lines() {
        let name = routing.split_whitespace().next().unwrap();
        let routing = Routing::parse(name).unwrap();
        // The first example that it serves, with the least number of channels.
        let examples = TOPOLOGIES.rows().iter().map(|row| row.example).chain(["torus:4x4x4"]);
        let fits = |topology: &str, vcs| {
            let built = fsin::topology::parse(topology, 2).unwrap();
            RouterParams { routing, vcs, ..RouterParams::default() }.check(&*built).is_ok()
        };
        let least = |topology| (1..=12).find(|&vcs| fits(topology, vcs)).map(|vcs| (topology, vcs));
        let found = examples.filter(|example| !example.starts_with("graph:")).find_map(least);
        let (topology, vcs) = found.unwrap_or_else(|| panic!("{name} runs on no example"));
        done(&run(folder.path(), &format!("run --cycles 200 --topology {topology} --routing {name} --vcs {vcs}")));
    }
    std::fs::write(folder.path().join("net.txt"), "a b\nb c\nc a\n").unwrap();
    for topology in text(&run(folder.path(), "list topologies")).lines() {
        let name = topology.split_whitespace().next().unwrap();
        // Each rejects missing sizes with a valid example.
        let refused = String::from_utf8(run(folder.path(), &format!("run --topology {name}")).stderr).unwrap();
        let example =
            refused.split('`').find(|word| word.starts_with(&format!("{name}:")) && word.len() > name.len() + 1);
        let example = example.unwrap_or_else(|| panic!("{name}: {refused}"));
        // With the default routing.
        done(&run(folder.path(), &format!("run --cycles 200 --topology {example}")));
        done(&run(folder.path(), &format!("topology {example}")));
    }
    for mode in text(&run(folder.path(), "list arbitrations")).lines() {
        let name = mode.split_whitespace().next().unwrap();
        done(&run(folder.path(), &format!("run --cycles 200 --topology torus:4x4 --arbitration {name}")));
    }
    for mode in text(&run(folder.path(), "list injections")).lines() {
        let name = mode.split_whitespace().next().unwrap();
        done(&run(folder.path(), &format!("run --cycles 200 --topology torus:4x4 --injectors 4 --injection {name}")));
    }
    for kernel in text(&run(folder.path(), "list kernels")).lines() {
        let name = kernel.split_whitespace().next().unwrap();
        let output = run(folder.path(), &format!("run --topology torus:4x4x4 --kernel {name} --format json"));
        done(&output);
        assert_eq!(figures(&output)["complete"], true, "{name}");
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
