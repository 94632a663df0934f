//! Throughput of saturated networks of switches: figures of the original and of theory.
#![allow(clippy::print_stdout, reason = "the figures that are compared are of interest")]

use fsin::routing::Routing;
use fsin::run::BatchPlan;
use tests::setup::{Setup, accepted_load};

fn plan() -> BatchPlan {
    BatchPlan { warmup: 5_000, samples: 5, ..BatchPlan::default() }
}

/// Accepted load of the original's trees at load 1.0, measured: (topology, channels, pattern, accepted).
const TREES: [(&str, usize, &str, f64); 19] = [
    ("fattree:4,3", 1, "uniform", 0.568),
    ("fattree:4,3", 1, "hotregion", 0.250),
    ("fattree:4,3", 1, "complement", 0.937),
    ("fattree:4,3", 1, "transpose", 0.595),
    ("thintree:4,2,3", 1, "uniform", 0.218),
    ("thintree:4,2,3", 1, "hotregion", 0.163),
    ("thintree:4,2,3", 1, "complement", 0.246),
    ("thintree:4,2,3", 1, "transpose", 0.224),
    ("slimtree:4,2,3", 1, "uniform", 0.338),
    ("slimtree:4,2,3", 1, "hotregion", 0.213),
    ("slimtree:4,2,3", 1, "complement", 0.235),
    ("slimtree:4,2,3", 1, "transpose", 0.401),
    ("slimtree:4,2,2", 2, "uniform", 0.526),
    ("slimtree:6,3,2", 1, "uniform", 0.371),
    ("slimtree:9,3,2", 2, "uniform", 0.285),
    ("fattree:4,3", 2, "uniform", 0.761),
    ("fattree:4,3", 2, "hotregion", 0.304),
    ("fattree:4,3", 2, "complement", 0.861),
    ("fattree:4,3", 2, "transpose", 0.727),
];

/// Within 4 %.
#[test]
fn trees_saturate_as_the_original_s() {
    for (topology, vcs, pattern, original) in TREES {
        let setup = Setup::new(topology, Routing::TreeAdaptive, vcs).pattern(pattern).load(1.0);
        let accepted = accepted_load(&setup.batch(&plan()), setup.params.packet_phits);
        println!(
            "{topology} {vcs} {pattern}: {accepted:.4}, original {original}, {:+.1} %",
            100.0 * (accepted / original - 1.0)
        );
        assert!(
            (accepted / original - 1.0).abs() < 0.04,
            "{topology} {vcs} {pattern}: {accepted}, original {original}"
        );
    }
}

/// Static routes also use all links at the top: k'^(n-1) into each subtree of k^(n-1) endpoints, without losses.
#[test]
fn static_routes_use_all_links_at_the_top_of_slim_trees() {
    for (topology, bound) in
        [("slimtree:4,2,3", 4.0 / 16.0), ("slimtree:8,4,2", 4.0 / 8.0), ("slimtree:8,2,3", 4.0 / 64.0)]
    {
        let setup = Setup::new(topology, Routing::TreeStatic, 1).pattern("complement").load(1.0);
        let accepted = accepted_load(&setup.batch(&plan()), setup.params.packet_phits);
        assert!((accepted / bound - 1.0).abs() < 0.01, "{topology}: {accepted}, bound {bound}");
    }
}

/// All nodes of a group send to the next group. Minimal routes share one link among a p nodes; routes through another
/// group use all links twice, and reach at most one half.
#[test]
fn adversarial_traffic_on_dragonflies() {
    for (topology, nodes, vcs) in [
        ("dragonfly:p=2,a=4,h=2,arrangement=absolute", 8.0, 6),
        ("dragonfly:p=2,a=4,h=2,arrangement=relative", 8.0, 6),
        ("dragonfly:p=2,a=4,h=2,arrangement=circulant", 8.0, 6),
        ("dragonfly:p=4,a=8,h=4", 32.0, 3),
    ] {
        let saturation = |routing, vcs| {
            let setup = Setup::new(topology, routing, vcs).pattern(&format!("groupshift({nodes},1)")).load(1.0);
            accepted_load(
                &setup.batch(&BatchPlan { samples: 2, max_conv_time: 0, ..plan() }),
                setup.params.packet_phits,
            )
        };
        let minimal = saturation(Routing::DragonflyMinimal, 2);
        println!("{topology} minimal: {minimal:.3}");
        assert!((nodes * minimal - 1.0).abs() < 0.04, "{topology}: {minimal}, one link for {nodes} nodes");
        for routing in [Routing::DragonflyValiant, Routing::DragonflyUgal] {
            let accepted = saturation(routing, vcs);
            println!("{topology} {routing:?}: {accepted:.3}");
            assert!((0.38..0.56).contains(&accepted), "{topology} {routing:?}: {accepted}");
        }
    }
}
