//! Sums, phases, shots, reactions and background traffic; the conformance battery over all of them.

use trgen::clock::Clock;
use trgen::conformance::{self, End};
use trgen::synthetic::temporal::{self, ProcessContext};
use trgen::synthetic::{Background, Config, Mode, Synthetic, Traffic, size, spatial, traffic};
use trgen::trace::kernels;
use trgen::trace::replay::{Pace, Replay};
use trgen::{Cycle, Delivery, Geometry, Message, Next, NodeId, Outbox, TrGen};

use super::common::{ideal, line};

fn of(pattern: &str, config: Config) -> Config {
    Config { pattern: pattern.parse().unwrap(), ..config }
}

/// All messages up to `until`, with their cycles.
fn log(config: &Config, until: u64) -> Vec<(u64, Message)> {
    let mut log = Vec::new();
    ideal(&mut Traffic::new(config).unwrap(), Cycle(until), |cycle, message| log.push((cycle.0, *message)));
    log
}

#[test]
fn one_term_is_the_source_itself() {
    let config = line(16);
    let process = ProcessContext { nodes: 16, load: config.load, capacity: 1.0, mean_phits: 16.0, seed: 1 };
    let mut source = Synthetic::from_parts(
        spatial::parse("uniform", &config.geometry, 1).unwrap(),
        temporal::parse("bernoulli", process).unwrap(),
        size::parse("constant", size::LawContext::new(16, 4)).unwrap(),
        4,
        Mode::Open,
        1,
    );
    let mut plain = Vec::new();
    ideal(&mut source, Cycle(5000), |cycle, message| plain.push((cycle.0, *message)));
    for pattern in ["uniform", "source(uniform)", "(uniform)", "5:uniform"] {
        assert_eq!(log(&of(pattern, line(16)), 5000), plain, "{pattern}");
    }
}

#[test]
fn sums_share_the_load() {
    let share = |pattern: &str, load| {
        let config = Config { load, size: "uniform(4, 12)".parse().unwrap(), packet_phits: 1, ..of(pattern, line(64)) };
        let log = log(&config, 100_000);
        let phits = |wanted: &dyn Fn(&Message) -> bool| -> f64 {
            log.iter().filter(|(_, m)| wanted(m)).map(|(_, m)| m.bytes as f64 / 4.0).sum::<f64>() / 64.0 / 100_000.0
        };
        let by = |hops: u32| phits(&|m: &Message| m.destination.0 == (m.source.0 + hops) % 64);
        (by(1), by(2), phits(&|_| true))
    };
    let near = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 0.01, "{found} instead of {wanted}");
    let (a, b, all) = share("shift(1) + shift(2)", 0.6);
    near(a, 0.3);
    near(b, 0.3);
    near(all, 0.6);
    let (a, b, _) = share("1:shift(1) + 3:shift(2)", 0.6);
    near(a, 0.15);
    near(b, 0.45);
    let (a, b, _) = share("source(shift(1), share=4) + shift(2)", 0.5);
    near(a, 0.4);
    near(b, 0.1);
    // A term's own load is added to the offered one.
    let (a, b, all) = share("shift(1) + source(shift(2), load=0.2, temporal=cburst(4), size=constant(2))", 0.6);
    near(a, 0.6);
    near(b, 0.2);
    near(all, 0.8);
    // `mix` is one source that draws between its patterns; a sum is two sources, each with its own times.
    let (a, b, all) = share("mix(1:shift(1), 3:shift(2))", 0.6);
    near(a, 0.15);
    near(b, 0.45);
    near(all, 0.6);
}

#[test]
fn terms_have_processes_and_sizes_of_their_own() {
    let config = of(
        "source(shift(1), temporal=periodic(0), size=constant(8), load=0.8) + source(shift(2), size=constant(2), load=0)",
        Config { packet_phits: 2, ..line(4) },
    );
    let all = log(&config, 100);
    assert!(all.iter().all(|(cycle, message)| cycle % 10 == 1 && message.bytes == 32));
    assert_eq!(all.len(), 40);
    assert!(!Traffic::new(&config).unwrap().uses_load());
    assert!(Traffic::new(&of("uniform + source(uniform, load=0)", line(4))).unwrap().uses_load());
    // The first term draws as if alone; the second differently.
    let alone = log(&Config { load: 0.15, ..line(16) }, 5000);
    let sum = log(&of("uniform + uniform", line(16)), 5000);
    let times = |part: u64| {
        sum.iter().filter(|(_, m)| m.id % 2 == part).map(|(c, m)| (*c, m.source, m.destination)).collect::<Vec<_>>()
    };
    assert_eq!(times(0), alone.iter().map(|(c, m)| (*c, m.source, m.destination)).collect::<Vec<_>>());
    assert_ne!(times(0), times(1));
}

#[test]
fn phases_follow_each_other() {
    let config = Config { load: 4.0, ..of("shift(1)@100 then shift(2)@50", line(8)) };
    let all = log(&config, 600);
    assert!(all.len() > 1000);
    for (cycle, message) in &all {
        let hops = (message.destination.0 + 8 - message.source.0) % 8;
        assert_eq!(hops, if (cycle - 1) % 150 < 100 { 1 } else { 2 }, "cycle {cycle}");
    }
    // Each source has its own clock: over its phases the first source generates what it would generate alone.
    let alone = log(&Config { load: 4.0, ..of("shift(1)", line(8)) }, 400);
    let pieces: Vec<(u64, NodeId)> = all
        .iter()
        .filter(|(cycle, _)| (cycle - 1) % 150 < 100)
        .map(|(cycle, message)| (cycle - (cycle - 1) / 150 * 50, message.source))
        .collect();
    assert_eq!(pieces, alone.iter().map(|(cycle, message)| (*cycle, message.source)).collect::<Vec<_>>());
    // Without a length the last phase never ends.
    let config = Config { load: 4.0, ..of("shift(1)@100 then shift(2) + shift(3)", line(8)) };
    for (cycle, message) in log(&config, 1000) {
        let hops = (message.destination.0 + 8 - message.source.0) % 8;
        assert!(if cycle <= 100 { hops == 1 } else { hops == 2 || hops == 3 }, "cycle {cycle}: {hops}");
    }
    // The load applies to every phase.
    let config = Config { load: 0.6, ..of("(uniform + transpose)@5000 then tornado@3000", line(64)) };
    let phits: u64 = log(&config, 800_000).iter().map(|(_, message)| message.bytes / 4).sum();
    // 8 of 64 nodes are silent in transpose.
    let expected = 0.6 * (5.0 * (0.5 + 0.5 * 56.0 / 64.0) + 3.0) / 8.0;
    let offered = phits as f64 / 64.0 / 800_000.0;
    assert!((offered / expected - 1.0).abs() < 0.005, "{offered} instead of {expected}");
}

/// Every kind of source passes on what a pattern sends to the sender itself.
#[test]
fn nodes_send_to_themselves_where_the_pattern_says_so() {
    for (process, pattern) in [
        ("bernoulli", "uniform(self=true)"),
        ("bernoulli", "uniform(self=true) + shift(1)"),
        ("bernoulli", "shift(1)@100 then uniform(self=true)"),
        ("reactive(0.4, 1)", "uniform(self=true)"),
        ("request-reply(size=constant(80), service=7)", "uniform(self=true)"),
        ("shot(7)", "uniform(self=true)"),
    ] {
        let config =
            Config { process: process.parse().unwrap(), shots: 4, carries_to_itself: true, ..of(pattern, line(4)) };
        let log = log(&config, 5000);
        let own = log.iter().filter(|(_, message)| message.source == message.destination).count();
        assert!(0 < own && own < log.len(), "{process}, {pattern}: {own} of {}", log.len());
    }
}

#[test]
fn silent_nodes_are_those_silent_in_every_part() {
    let silent = |pattern: &str| {
        Traffic::new(&of(pattern, Config::new(Geometry::new(&[8, 8]).unwrap()))).unwrap().silent_nodes()
    };
    assert_eq!(silent("transpose"), 8);
    assert_eq!(silent("transpose + transpose"), 8);
    assert_eq!(silent("transpose + uniform"), 0);
    assert_eq!(silent("transpose@10 then reversal"), 2 + 2);
    assert_eq!(silent("semi"), 32);
}

#[test]
fn words_that_cannot_be_read_are_shown_with_a_caret() {
    for (text, what, caret) in [
        ("uniform +", "expected a name or a number, found the end", 9),
        ("uniform + unifrom", "unknown traffic pattern `unifrom`", 10),
        ("uniform then tornado", "a phase without a length goes on for ever", 8),
        ("uniform@0", "`0` is not a number of cycles", 8),
        ("uniform@1.5 then tornado", "`1.5` is not a number of cycles", 8),
        ("uniform@10 tornado", "expected the end, found `t`", 11),
        ("uniform@10 then", "expected a name or a number", 15),
        ("(uniform + tornado", "expected `+` or `)`, found the end", 18),
        ("0:uniform + tornado", "a share of 0", 0),
        ("0.5 + uniform", "a share without its pattern", 0),
        ("source(load=0.1)", "`source` needs a pattern", 0),
        ("source(uniform, load=0.1, share=2)", "has no share", 32),
        ("source(uniform, laod=0.1)", "has no parameter `laod`", 16),
        ("source(uniform, temporal=cburst) + uniform", "needs its parameter B", 25),
        ("source(uniform, size=uniform(4))", "needs its parameter max", 21),
        ("uniform + source(tornado, temporal=shot(4))", "`shot` is not a process that every node runs", 35),
    ] {
        let refusal = match text.parse() {
            Ok(pattern) => {
                let misfit = Traffic::new(&Config { pattern, ..line(8) }).unwrap_err();
                assert_eq!(misfit.word, traffic::Word::Pattern);
                misfit.refusal
            }
            Err(refusal) => refusal,
        };
        assert!(!refusal.remedy().is_empty());
        let refusal = refusal.to_string();
        assert!(refusal.contains(what), "{text}: {refusal}");
        assert!(refusal.ends_with(&format!("\n  {text}\n  {:caret$}^", "")), "{text}: {refusal}");
    }
    let misfit =
        Traffic::new(&Config { process: "shot(3)".parse().unwrap(), ..of("uniform + tornado", line(8)) }).unwrap_err();
    assert_eq!(misfit.word, traffic::Word::Process);
    let deep = format!("{}uniform", "(".repeat(100_000));
    assert!(deep.parse::<traffic::Sources>().unwrap_err().to_string().contains("nested too deeply"));
}

fn shots(messages: u64, shots: u64, config: Config) -> Config {
    Config { process: format!("shot({messages})").parse().unwrap(), shots, ..config }
}

#[test]
fn shots_wait_for_the_last_arrival() {
    for mode in [Mode::Throttled, Mode::Open] {
        let config = Config { mode, ..shots(5, 3, of("shift(1)", line(4))) };
        let mut source = Traffic::new(&config).unwrap();
        assert!(!source.uses_load());
        let mut out = Outbox::new(4);
        // Everything is accepted at once and arrives 20 cycles later.
        let (mut now, mut flying) = (Cycle::FIRST, Vec::new());
        let mut generated = Vec::new();
        while source.next() != Next::Done || !flying.is_empty() {
            if source.next() == Next::At(now) {
                source.generate(now, &mut out).unwrap();
            }
            let mut taken = Vec::new();
            out.offer(|message| {
                taken.push(message);
                true
            });
            for message in taken {
                generated.push(now.0);
                source.sent(now, &message);
                flying.push((now + 20, message));
            }
            while let Some(&(delivered, message)) = flying.first().filter(|(cycle, _)| *cycle == now) {
                flying.remove(0);
                source.delivered(now, &Delivery { message, offered: now, delivered });
            }
            now = now.next();
        }
        // Each node generates in 5 cycles in a row; the last arrives 20 later, and the next shot begins after it.
        let starts = [1u64, 26, 51];
        assert!(
            generated
                .iter()
                .copied()
                .eq(starts.iter().flat_map(|&start| (start..start + 5).flat_map(|cycle| [cycle; 4])))
        );
        let ended: Vec<_> =
            source.shots().unwrap().iter().map(|shot| (shot.start.0, shot.cycles, shot.messages)).collect();
        assert_eq!(ended, starts.map(|start| (start, 25, 20)));
    }
    // Silent nodes send nothing; if all are silent, there is nothing to wait for.
    let half = Traffic::new(&shots(2, 1, of("semi", line(8)))).unwrap();
    assert_eq!(half.silent_nodes(), 4);
    assert_eq!(Traffic::new(&shots(2, 1, of("shift(8)", line(8)))).unwrap().next(), Next::Done);
}

#[test]
fn reactions_go_where_the_pattern_says_and_die_out() {
    // A source without messages of its own causes none.
    let quiet = Config { process: "reactive(0.9, 1)".parse().unwrap(), load: 0.0, ..line(4) };
    assert_eq!(Traffic::new(&quiet).unwrap().next(), Next::Done);
    // A reception from node i at i + 1 causes a message to i + 2.
    let config = Config {
        process: "reactive(1, 0, 1, base=periodic(0))".parse().unwrap(),
        load: 0.32,
        ..of("shift(1)", line(8))
    };
    let all = log(&config, 200_000);
    let base = all.iter().filter(|(_, message)| message.id % 2 == 0).count() as f64;
    // Half a message per message on average: as many reactions as other messages.
    assert!((all.len() as f64 / base - 2.0).abs() < 0.02, "{} of {base}", all.len());
    assert!(all.iter().all(|(cycle, message)| message.id % 2 == 1 || cycle % 100 == 1));
    // Receptions of a cycle are answered from the next cycle on.
    let first = all.iter().find(|(_, message)| message.id % 2 == 1).unwrap();
    assert!(first.0 > 1);
    // Another seed, other reactions.
    assert_ne!(all, log(&Config { seed: 2, ..config }, 200_000));
}

fn background(main: &str, nodes: usize, tasks: usize, pattern: &str, load: f64) -> Background<Replay> {
    let program = kernels::parse(main, tasks, None).unwrap();
    // Tasks on the even nodes.
    let placement: Vec<NodeId> = (0..tasks).map(|task| NodeId::at(2 * task)).collect();
    let idle: Vec<NodeId> = (0..nodes).map(NodeId::at).filter(|node| !placement.contains(node)).collect();
    let pace = Pace { cycle: Clock::whole(3200), compute_scale: 1.0 };
    let replay = Replay::new(program, &placement, nodes, pace).unwrap();
    let config =
        Config { process: format!("background({load})").parse().unwrap(), ..of(pattern, line(idle.len() as u32)) };
    Background::new(replay, traffic::background(&config).unwrap(), idle).unwrap()
}

#[test]
fn background_traffic_stays_beside_and_ends_with_the_application() {
    let mut source = background("all-to-all:bytes=64", 12, 4, "uniform", 8.0);
    assert_eq!(source.silent_nodes(), 0);
    let (mut beside, mut main) = (0, 0);
    let mut out = Outbox::new(12);
    let mut now = Cycle::FIRST;
    let mut flying: Vec<(Cycle, Message)> = Vec::new();
    let mut last = Cycle(0);
    while source.next() != Next::Done || !flying.is_empty() {
        if matches!(source.next(), Next::At(cycle) if cycle <= now) {
            source.generate(now, &mut out).unwrap();
        }
        let mut taken = Vec::new();
        out.offer(|message| {
            taken.push(message);
            true
        });
        for message in taken {
            let application = |node: NodeId| node.0.is_multiple_of(2) && node.0 < 8;
            assert_eq!(application(message.source), application(message.destination), "{message:?}");
            if application(message.source) {
                main += 1
            } else {
                beside += 1
            };
            last = now;
            source.sent(now, &message);
            flying.push((now + 30, message));
        }
        let (due, rest) = flying.into_iter().partition(|(cycle, _)| *cycle == now);
        flying = rest;
        for (delivered, message) in due {
            source.delivered(now, &Delivery { message, offered: now, delivered });
        }
        now = now.next();
    }
    assert_eq!(main, 12);
    // 8 phits/node/cycle in messages of 16: one message in two cycles, from 8 nodes.
    let rate = f64::from(beside) / 8.0 / last.0 as f64;
    assert!((rate - 0.5).abs() < 0.15, "{rate}");
    assert!(source.main().report().tasks.iter().all(|task| task.finished.is_some()));

    let config = Config { process: "poisson".parse().unwrap(), ..line(4) };
    assert!(traffic::background(&config).unwrap_err().to_string().contains("only `background(l)`"));
    assert_eq!(background("bintree", 4, 2, "shift(2)", 0.3).silent_nodes(), 3, "task 0 only receives");
}

#[test]
fn a_node_draws_the_same_whatever_nodes_are_added() {
    let of_node_3 = |nodes: u32, process: &str, pattern: &str| -> Vec<(u64, u64)> {
        let config = Config {
            process: process.parse().unwrap(),
            size: "uniform(1, 31)".parse().unwrap(),
            ..of(pattern, line(nodes))
        };
        log(&config, 20_000).iter().filter(|(_, m)| m.source == NodeId(3)).map(|(c, m)| (*c, m.bytes)).collect()
    };
    for process in ["bernoulli", "poisson", "periodic", "cburst(4)", "markov(2, 0.05)"] {
        for pattern in ["uniform", "shift(1)", "uniform + 2:shift(1)", "uniform@700 then shift(1)@300"] {
            let small = of_node_3(8, process, pattern);
            assert!(small.len() > 200, "{process}, {pattern}");
            assert_eq!(small, of_node_3(64, process, pattern), "{process}, {pattern}");
            assert_eq!(small, of_node_3(500, process, pattern), "{process}, {pattern}");
        }
    }
}

#[test]
fn everything_keeps_to_the_contract() {
    let grid = Geometry::new(&[8, 4]).unwrap();
    let patterns = [
        "uniform",
        "semi",
        "local-gauss(2)",
        "zipf(1.2)",
        "zipf(2, distance)",
        "mix(0.9:uniform, 0.1:hotspot(0.5, 3))",
        "compose(shuffle, transpose)",
        "map(block:8, distribute)",
        "uniform + 2:tornado",
        "uniform@300 then source(tornado, size=constant(8))@200",
        "distribute@50 then (uniform + source(semi, load=0.1))",
    ];
    let processes = [
        "bernoulli",
        "poisson",
        "periodic",
        "cburst(5)",
        "markov(2, 0.05)",
        "reactive(0.4, 1, 2)",
        "request-reply(size=constant(80), service=7)",
        "incast(9)",
        "multicast(4)",
        "shot(7)",
    ];
    for pattern in patterns {
        for process in processes {
            let several = pattern.contains('+') || pattern.contains('@');
            if several
                && ["reactive", "request", "incast", "multicast", "shot"].iter().any(|word| process.starts_with(word))
            {
                continue;
            }
            for mode in [Mode::Throttled, Mode::Open] {
                let config = Config {
                    process: process.parse().unwrap(),
                    mode,
                    load: 1.0,
                    shots: 4,
                    size: "bimodal(4, 40, 0.3)".parse().unwrap(),
                    ..of(pattern, Config::new(grid.clone()))
                };
                let name = format!("{pattern}, {process}, {mode:?}");
                let make = &mut || Box::new(Traffic::new(&config).unwrap()) as Box<dyn TrGen>;
                let report = conformance::check(&name, make, Cycle(2500)).unwrap_or_else(|v| panic!("{v}"));
                for run in report.runs {
                    let shot = process.starts_with("shot");
                    assert_eq!(run.end, if shot { End::Done } else { End::Horizon }, "{name}: {run:?}");
                    assert!(run.messages > 300, "{name}: {run:?}");
                }
            }
        }
    }
    for kernel in ["all-to-all:iterations=3", "bintree:bytes=100000", "sweep2d:iterations=30"] {
        let make = &mut || Box::new(background(kernel, 20, 8, "uniform", 0.4)) as Box<dyn TrGen>;
        let report = conformance::check(kernel, make, Cycle(100_000)).unwrap_or_else(|v| panic!("{v}"));
        assert!(report.runs.iter().all(|run| run.end == End::Done && run.delivered == run.messages));
    }
}
