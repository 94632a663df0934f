//! The synthetic source: gaps, loads, independence, modes, and the conformance battery.

use statrs::distribution::{ChiSquared, ContinuousCDF};
use trgen::clock::Clock;
use trgen::conformance::{self, End};
use trgen::rng::{Purpose, stream};
use trgen::synthetic::{Config, Mode, Traffic, flows, size, temporal};
use trgen::{Cycle, Geometry, Message, Next, NodeId, Outbox, TrGen};

fn config(nodes: u32) -> Config {
    Config::new(Geometry::new(&[nodes]).unwrap())
}

fn context(load: f64) -> temporal::ProcessContext {
    temporal::ProcessContext { nodes: 4, load, capacity: 1.0, mean_phits: 16.0, seed: 1 }
}

/// Drives a source over a network that accepts everything at once; returns all messages up to `until`, with their
/// cycles.
fn ideal(source: &mut dyn TrGen, until: Cycle) -> Vec<(Cycle, Message)> {
    let mut out = Outbox::new(source.nodes());
    let mut all = Vec::new();
    while let Next::At(now) = source.next()
        && now <= until
    {
        source.generate(now, &mut out).unwrap();
        let first = all.len();
        out.offer(|message| {
            all.push((now, message));
            true
        });
        for (_, message) in &all[first..] {
            source.sent(now, message);
        }
    }
    all
}

#[test]
fn gaps_are_geometric() {
    let probability = 0.05;
    let mut process = temporal::parse("bernoulli", context(16.0 * probability)).unwrap();
    let mut rng = stream(3, 0, Purpose::Temporal);
    const DRAWS: usize = 1_000_000;
    const CLASSES: usize = 150;
    let (mut sum, mut counts) = (0.0, [0u32; CLASSES]);
    for _ in 0..DRAWS {
        let gap = process.next(NodeId(0), Cycle(40), &mut rng).since(Cycle(40));
        assert!(gap >= 1);
        sum += gap as f64;
        counts[(gap as usize - 1).min(CLASSES - 1)] += 1;
    }
    // Standard deviation of the mean: sqrt(1-p) / p / sqrt(draws).
    let deviation = (1.0 - probability).sqrt() / probability / (DRAWS as f64).sqrt();
    assert!((sum / DRAWS as f64 - 1.0 / probability).abs() < 4.0 * deviation, "mean {}", sum / DRAWS as f64);
    // All gaps from 150 on are one class.
    let statistic: f64 = counts
        .iter()
        .enumerate()
        .map(|(misses, &count)| {
            let reached = (1.0 - probability).powi(misses as i32);
            let share = if misses == CLASSES - 1 { reached } else { reached * probability };
            let expected = share * DRAWS as f64;
            (f64::from(count) - expected).powi(2) / expected
        })
        .sum();
    let limit = ChiSquared::new((CLASSES - 1) as f64).unwrap().inverse_cdf(0.999);
    assert!(statistic < limit, "chi-square {statistic:.1}, limit {limit:.1}");
}

#[test]
fn extreme_loads() {
    let mut rng = stream(3, 0, Purpose::Temporal);
    let mut full = temporal::parse("bernoulli", context(16.0)).unwrap();
    let mut none = temporal::parse("bernoulli", context(0.0)).unwrap();
    let mut rare = temporal::parse("bernoulli", context(1e-300)).unwrap();
    let mut tiny = temporal::parse("bernoulli", context(1e-9)).unwrap();
    for _ in 0..1000 {
        assert_eq!(full.next(NodeId(0), Cycle(9), &mut rng), Cycle(10));
        assert_eq!(none.next(NodeId(0), Cycle(9), &mut rng), Cycle::NEVER);
        assert_eq!(rare.next(NodeId(0), Cycle(9), &mut rng), Cycle::NEVER);
        assert!(tiny.next(NodeId(0), Cycle(9), &mut rng) > Cycle(10));
    }
    for load in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(temporal::parse("bernoulli", context(load)).is_err());
    }
    let refusal = temporal::parse("bernoulli", context(20.0)).unwrap_err();
    let text = refusal.to_string();
    assert!(text.contains("load 20") && text.contains("L = 16") && text.contains("1.250"), "{text}");
    assert!(refusal.remedy().to_string().contains("at most 16"), "{}", refusal.remedy());
}

#[test]
fn the_first_possible_message_is_that_of_cycle_1() {
    let mut source = Traffic::new(&Config { load: 16.0, ..config(8) }).unwrap();
    assert_eq!(source.next(), Next::At(Cycle::FIRST));
    let all = ideal(&mut source, Cycle(100));
    assert_eq!(all.len(), 800, "at full load one message per node and cycle");
    for (position, (cycle, message)) in all.iter().enumerate() {
        assert_eq!(
            (cycle.0, message.source.0),
            (1 + position as u64 / 8, position as u32 % 8),
            "in order of the nodes"
        );
        assert_eq!((message.id, message.bytes), (cycle.0 - 1, 64));
    }
}

#[test]
fn offered_load_is_the_one_asked_for() {
    // Means over enough messages that 0.5 % exceeds 3.5 standard deviations.
    for (load, nodes, cycles) in [(0.1, 1024, 100_000u64), (0.3, 256, 150_000), (1.0, 64, 200_000), (8.0, 16, 200_000)]
    {
        for mode in [Mode::Throttled, Mode::Open] {
            let mut source = Traffic::new(&Config { load, mode, ..config(nodes) }).unwrap();
            let all = ideal(&mut source, Cycle(cycles));
            let phits: u64 = all.iter().map(|(_, message)| message.bytes / 4).sum();
            let offered = phits as f64 / f64::from(nodes) / cycles as f64;
            assert!((offered / load - 1.0).abs() < 0.005, "{offered} instead of {load}, {mode:?}");
        }
    }
}

#[test]
fn load_is_over_the_mean_size_in_full_packets() {
    let mut source =
        Traffic::new(&Config { load: 2.0, size: "constant(40)".parse().unwrap(), phit_bytes: 8, ..config(64) });
    let all = ideal(source.as_mut().unwrap(), Cycle(200_000));
    assert!(all.iter().all(|(_, message)| message.bytes == 320));
    // Three packets of 16 phits.
    let offered = all.len() as f64 * 48.0 / 64.0 / 200_000.0;
    assert!((offered / 2.0 - 1.0).abs() < 0.005, "{offered}");
}

#[test]
fn a_node_draws_the_same_whatever_the_others_do() {
    let of_node_3 = |config: &Config| -> Vec<(Cycle, Message)> {
        let all = ideal(&mut Traffic::new(config).unwrap(), Cycle(20_000));
        all.into_iter().filter(|(_, message)| message.source == NodeId(3)).collect()
    };
    let cycles = |log: &[(Cycle, Message)]| log.iter().map(|(cycle, _)| *cycle).collect::<Vec<_>>();
    let small = of_node_3(&config(8));
    assert!(small.len() > 200);
    assert_eq!(cycles(&small), cycles(&of_node_3(&config(64))), "whatever the number of nodes");
    assert_eq!(cycles(&small), cycles(&of_node_3(&Config { pattern: "shift(1)".parse().unwrap(), ..config(8) })));
    // Most of the other nodes are silent: node 3 is not affected.
    let hot = Config { pattern: "hotspot(1,0)".parse().unwrap(), ..config(8) };
    assert_eq!(cycles(&small), cycles(&of_node_3(&hot)));
    assert_ne!(cycles(&small), cycles(&of_node_3(&Config { seed: 2, ..config(8) })));
    // The same destinations at another load: spatial draws are counted by message.
    let destinations = |log: &[(Cycle, Message)]| log.iter().take(100).map(|(_, m)| m.destination).collect::<Vec<_>>();
    assert_eq!(destinations(&small), destinations(&of_node_3(&Config { load: 3.0, ..config(8) })));
}

#[test]
fn a_throttled_node_draws_on_when_its_message_has_gone() {
    let mut source = Traffic::new(&Config { load: 16.0, mode: Mode::Throttled, ..config(2) }).unwrap();
    let mut out = Outbox::new(2);
    source.generate(Cycle(1), &mut out).unwrap();
    assert_eq!(out.len(), 2);
    assert_eq!(source.next(), Next::Waiting);
    assert_eq!(source.waits().len(), 2);
    source.generate(Cycle(5), &mut out).unwrap();
    assert_eq!(out.len(), 2, "nothing is drawn while it waits");
    let mut messages = Vec::new();
    out.offer(|message| {
        messages.push(message);
        true
    });
    source.sent(Cycle(9), &messages[1]);
    assert_eq!(source.next(), Next::At(Cycle(10)));
    assert_eq!(source.waits().len(), 1);
    assert_eq!(source.waits()[0].text, "node 0 waits for the network to take its message 0");
    source.sent(Cycle(9), &messages[1]);
    source.generate(Cycle(10), &mut out).unwrap();
    assert_eq!(out.len(), 1, "a second notice of the same message does nothing");
}

#[test]
fn an_open_node_draws_on_regardless() {
    let mut source = Traffic::new(&Config { load: 16.0, mode: Mode::Open, ..config(2) }).unwrap();
    let mut out = Outbox::new(2);
    for cycle in 1..=10 {
        assert_eq!(source.next(), Next::At(Cycle(cycle)));
        source.generate(Cycle(cycle), &mut out).unwrap();
        assert_eq!(out.len() as u64, 2 * cycle);
    }
    // A late call generates the messages that were due in the meantime.
    source.generate(Cycle(20), &mut out).unwrap();
    assert_eq!((out.len(), source.next()), (40, Next::At(Cycle(21))));
}

#[test]
fn silent_nodes_are_counted_and_nothing_to_send_is_done() {
    let grid = Geometry::new(&[8, 8]).unwrap();
    let transpose = Config { pattern: "transpose".parse().unwrap(), ..Config::new(grid.clone()) };
    let mut source = Traffic::new(&transpose).unwrap();
    assert_eq!((source.nodes(), source.silent_nodes()), (64, 8));
    let all = ideal(&mut source, Cycle(50_000));
    assert!(all.iter().all(|(_, message)| message.source.0 % 8 != message.source.0 / 8));

    let done = |config: &Config| Traffic::new(config).unwrap().next();
    assert_eq!(done(&Config { load: 0.0, ..Config::new(grid.clone()) }), Next::Done);
    assert_eq!(done(&Config { pattern: "shift(64)".parse().unwrap(), ..Config::new(grid) }), Next::Done);
}

#[test]
fn unusable_configurations_are_refused() {
    let refused = |config: Config| Traffic::new(&config).unwrap_err().to_string();
    assert!(refused(Config { packet_phits: 0, ..config(8) }).contains("packet length 0"));
    assert!(refused(Config { phit_bytes: 0, ..config(8) }).contains("phit size 0"));
    assert!(refused(Config { process: "bernouli".parse().unwrap(), ..config(8) }).contains("unknown temporal process"));
    assert!(
        refused(Config { size: "constant(0)".parse().unwrap(), ..config(8) }).contains("phits = 0 is out of range")
    );
    assert!(refused(Config { size: "fixed".parse().unwrap(), ..config(8) }).contains("unknown size law"));
    assert!(refused(Config { load: 17.0, ..config(8) }).contains("load 17"));
    assert_eq!(size::parse("constant", size::LawContext::new(5, 4)).unwrap().mean(), 5.0);
}

#[test]
fn keeps_to_the_contract() {
    let grid = Geometry::new(&[8, 4]).unwrap();
    for pattern in ["uniform", "transpose", "tornado", "hotspot(0.2,3,4)", "rsdist", "distribute", "randperm"] {
        for mode in [Mode::Throttled, Mode::Open] {
            for load in [0.01, 1.0, 16.0] {
                let config = Config { pattern: pattern.parse().unwrap(), mode, load, ..Config::new(grid.clone()) };
                let name = format!("{pattern}, {mode:?}, load {load}");
                let make = &mut || Box::new(Traffic::new(&config).unwrap()) as Box<dyn TrGen>;
                let horizon = if load > 10.0 { Cycle(400) } else { Cycle(8_000) };
                let report = conformance::check(&name, make, horizon).unwrap_or_else(|v| panic!("{v}"));
                for run in report.runs {
                    assert_eq!(run.end, End::Horizon);
                    assert!(run.messages > 20, "{name}: {run:?}");
                }
            }
        }
    }
}

#[test]
fn lists_of_flows_keep_to_the_contract() {
    let list: String =
        (0..60).map(|at| format!("{},{},{},{}ns\n", at % 4, (at + 1) % 4, 100 * at + 1, at * at)).collect();
    let list = flows::parse(&format!("src,dst,bytes,start\n{list}")).unwrap();
    let make = &mut || Box::new(flows::Flows::new(&list, 4, Clock::whole(3_200)).unwrap()) as Box<dyn TrGen>;
    let report = conformance::check("flows", make, Cycle(100_000)).unwrap_or_else(|v| panic!("{v}"));
    assert!(report.runs.iter().all(|run| run.end == End::Done && run.messages == 60), "{report:?}");
}

#[test]
fn a_source_without_load_is_done_at_once() {
    let config = Config { load: 0.0, ..config(4) };
    let make = &mut || Box::new(Traffic::new(&config).unwrap()) as Box<dyn TrGen>;
    let report = conformance::check("no load", make, Cycle(1000)).unwrap();
    assert!(report.runs.iter().all(|run| run.end == End::Done && run.messages == 0));
}
