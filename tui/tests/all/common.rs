//! A synthetic run with data for every screen.

use std::sync::Arc;

use tui::app::{App, Mode, Screen};
use tui::theme::{Depth, Theme};
use tui::view::{
    About, Guest, Job, Jobs, Latency, Layout, Packets, RunState, Snapshot, Sources, Summary, Task, TaskState,
};

/// A two-way torus.
pub(crate) fn torus(sizes: &[u32]) -> About {
    let routers: usize = sizes.iter().map(|&size| size as usize).product();
    let mut about = About {
        title: "torus:16x16 | hotspot(0.2,102) load 0.6 bernoulli | bubble:smart vcs 3 packet 16 | seed 1".to_owned(),
        routers,
        layout: Layout::Grid { sizes: sizes.to_vec() },
        ports: ["X+", "X-", "Y+", "Y-", "Z+", "Z-"][..2 * sizes.len()].iter().map(|&name| name.to_owned()).collect(),
        transit_phits: 192,
        injection_phits: 64,
        packet_phits: 16,
        load_unit: "phits/node/cycle".to_owned(),
        offered: Some(0.6),
        cycle_seconds: Some(3.2e-9),
        ..About::bare(String::new(), routers)
    };
    for router in 0..routers {
        let at = about.coordinates(router).expect("it is a grid");
        for (dimension, &size) in sizes.iter().enumerate() {
            let stride: usize = sizes[..dimension].iter().map(|&size| size as usize).product();
            for by in [1, size - 1] {
                let there = (at[dimension] + by) % size;
                about.links.push(Some((router + there as usize * stride - at[dimension] as usize * stride) as u32));
            }
        }
    }
    about
}

/// Distance of a node of a ring from a hot node.
fn distance(from: u32, to: u32, size: u32) -> u32 {
    let ahead = (to + size - from) % size;
    ahead.min(size - ahead)
}

/// The run at a cycle: queues fill towards the router in the middle of row 6.
pub(crate) fn at(about: &About, cycle: u64) -> Snapshot {
    let Layout::Grid { sizes } = &about.layout else { return Snapshot::default() };
    let routers = about.routers;
    let ports = about.ports.len();
    let hot: Vec<u32> = sizes.iter().map(|&size| size * 2 / 5).collect();
    let mut transit = Vec::new();
    let mut crossed = Vec::new();
    for router in 0..routers {
        let here = about.coordinates(router).expect("it is a grid");
        let away: u32 = here.iter().zip(&hot).zip(sizes).map(|((&from, &to), &size)| distance(from, to, size)).sum();
        for port in 0..ports {
            let on_way = here.iter().enumerate().all(|(dimension, &at)| dimension == port / 2 || at == hot[dimension]);
            let full = 192u64.saturating_sub(u64::from(away) * 20) * cycle.min(4000) / 4000;
            transit.push(if on_way { full as u32 } else { (router as u32 * 7 + port as u32 * 3) % 24 });
            crossed.push(cycle * (40 - u64::from(away.min(30))) / 1000);
        }
    }
    let bins: Vec<(u64, u64)> = (0..40u64).map(|at| (20 + at * at * 2, 1 + 400 * at * (40 - at) / 400)).collect();
    let count = bins.iter().map(|bin| bin.1).sum();
    let summary = Summary {
        count,
        mean: Some(412.25 + cycle as f64 / 100.0),
        p50: Some(300 + cycle / 50),
        p90: Some(900 + cycle / 40),
        p99: Some(1600 + cycle / 20),
        p999: Some(2400 + cycle / 20),
        max: Some(3062),
        bins,
    };
    Snapshot {
        cycle,
        end: Some(29_001),
        phase: "measuring".to_owned(),
        state: RunState::Running,
        elapsed_seconds: cycle as f64 / 100_000.0,
        cycles_per_second: Some(98_765.0),
        speed_limit: None,
        packets: Packets {
            generated: cycle * 10,
            injected: cycle * 9,
            received: cycle * 8,
            dropped: 0,
            hops: cycle * 64,
            in_flight: 2 * cycle,
        },
        latency: Latency { recent: summary.clone(), all: summary },
        transit,
        injection: (0..routers).map(|router| (router as u32 * 5) % 65).collect(),
        waiting: (0..routers).map(|router| router as u64 % 9).collect(),
        crossed,
        sources: Sources::Nodes((0..about.nodes).map(|node| 90 + (node as u64 * 37) % 60).collect()),
        log: vec![
            "note: what is seen here is drawn from a fixture".to_owned(),
            "warning: saturated: the network accepts less than 0.97 of the load that is asked for".to_owned(),
        ],
    }
}

/// Sixteen tasks at a cycle.
pub(crate) fn tasks(cycle: u64) -> Sources {
    let states =
        [TaskState::Computing, TaskState::Sending, TaskState::Receiving, TaskState::Waiting, TaskState::Computing];
    let task = |number: u64| Task {
        node: number as u32,
        state: if number < 3 && cycle > 8_000 {
            TaskState::Finished
        } else {
            states[((cycle / 700 + number) % 5) as usize]
        },
        done: (cycle / 10).min(1_000),
        events: 1_000,
        sent_bytes: cycle * number,
    };
    Sources::Tasks((0..16).map(task).collect())
}

/// Four jobs of four tasks: one has ended at cycle 4000, one waits until 12 000, and all are over at 20 000.
pub(crate) fn jobs(cycle: u64) -> Sources {
    let job = |number: u32, name: &str, state: TaskState| Job {
        number,
        name: name.to_owned(),
        tasks: (0..4)
            .map(|task| Task {
                node: number * 4 + task,
                state,
                done: if state == TaskState::Finished { 1_000 } else { 500 },
                events: 1_000,
                sent_bytes: cycle,
            })
            .collect(),
    };
    let (first, second) = (job(0, "halo-1", TaskState::Sending), job(1, "halo-2", TaskState::Computing));
    let third = job(2, "a-long-name-of-an-all-to-all", TaskState::Waiting);
    let of = |waiting, ended, listed: Vec<Job>| Jobs {
        coming: 0,
        waiting,
        running: if ended == 4 { 0 } else { listed.len() as u64 },
        ended,
        listed,
    };
    Sources::Jobs(match cycle {
        0..4_000 => of(1, 0, vec![first, second, third]),
        4_000..12_000 => of(1, 1, vec![second, third]),
        12_000..20_000 => of(0, 2, vec![third, job(3, "tree", TaskState::Receiving)]),
        _ => of(0, 4, vec![job(3, "tree", TaskState::Finished)]),
    })
}

/// Four guests, one of them lost.
pub(crate) fn guests(cycle: u64) -> Sources {
    let guest = |number: u64| Guest {
        name: format!("rank-{number}"),
        nodes: vec![number as u32],
        state: if number == 3 { "lost" } else { "running" }.to_owned(),
        connected: number != 3,
        clock_ps: (cycle - number * 100) * 3_200,
        injected: cycle / 10,
        notices: cycle / 12,
        late: number,
    };
    Sources::Guests((0..4).map(guest).collect())
}

/// The dashboard after ten snapshots, the last at cycle 10 000.
pub(crate) fn app(about: About, screen: Screen, sources: &dyn Fn(u64) -> Option<Sources>) -> App {
    let about = Arc::new(about);
    about.check().expect("the fixture fits");
    let mut app = App::new(Arc::clone(&about), Mode::Live, Theme { depth: Depth::True });
    app.screen = screen;
    for step in 0..=10 {
        let mut snapshot = at(&about, step * 1_000);
        if let Some(sources) = sources(snapshot.cycle) {
            snapshot.sources = sources;
        }
        snapshot.check(&about).expect("the fixture fits");
        app.push(Arc::new(snapshot));
    }
    app
}
