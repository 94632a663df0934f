//! Live guests: the results of one process, whatever the transport, the order of connection and the step.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use adapters::address::Address;
use adapters::clock::Time;
use adapters::guest::program::Script;
use adapters::guest::{Config, Guest, GuestError};
use adapters::live::{Live, LiveReport, Overheads};
use adapters::protocol::{Class, Mode};
use fsin::couple::Coupled;
use fsin::engine::reference::Reference;
use fsin::models::ConstantDelay;
use fsin::router::RouterParams;
use fsin::run::{Outcome, to_end};
use fsin::topology;
use tests::live::{Part, Table, play, start};
use tests::programs::{Replayed, compute, irecv, isend, recv, send, wait};
use tests::setup::checked;
use trgen::Picoseconds;
use trgen::trace::kernels;
use trgen::trace::program::{Event, Program};
use trgen::{Cycle, Geometry, TrGen, conformance};

fn network(spec: &str) -> Reference {
    let topology = topology::parse(spec, 2).expect("what the test is made of is right");
    let router = checked(&RouterParams::default(), &*topology);
    Reference::new(topology, router)
}

fn spec(geometry: &Geometry) -> String {
    let sizes: Vec<String> = geometry.sizes().iter().map(ToString::to_string).collect();
    format!("torus:{}", sizes.join("x"))
}

/// Each task of a kernel as a guest; guests connect in the order of their numbers times `stride`, modulo their count.
fn tasks(kernel: &str, geometry: &Geometry, stride: usize) -> Vec<(Config, Part)> {
    let program = kernels::parse(kernel, geometry.nodes(), Some(geometry)).expect("what the test is made of is right");
    guests(program, stride)
}

/// Each task of a program as a guest, in the same order.
fn guests(program: Program, stride: usize) -> Vec<(Config, Part)> {
    let count = program.tasks.len();
    let script = Arc::new(Script::new(program));
    (0..count)
        .map(|index| {
            let task = ((index * stride) % count) as u32;
            let script = Arc::clone(&script);
            let part: Part = Box::new(move |guest| script.play(task, guest).map(drop));
            (Config::new(format!("task {task}"), task), part)
        })
        .collect()
}

/// A kernel played by guests, compared with the same kernel in one process.
struct Played {
    kernel: &'static str,
    geometry: Geometry,
    replayed: Replayed,
}

impl Played {
    fn new(kernel: &'static str, sizes: &[u32]) -> Self {
        let geometry = Geometry::new(sizes).expect("what the test is made of is right");
        let program =
            kernels::parse(kernel, geometry.nodes(), Some(&geometry)).expect("what the test is made of is right");
        let replayed = Replayed::of(program, &spec(&geometry), RouterParams::default(), 1.0);
        Self { kernel, geometry, replayed }
    }

    /// Guests that connect in the order given by `stride` have the results of one process.
    fn agrees(&self, stride: usize, tcp: bool) {
        let (kernel, geometry) = (self.kernel, &self.geometry);
        let table = Table { tcp, ..Table::new(geometry.nodes()) };
        let (outcome, report) = play(&table, &mut network(&spec(geometry)), tasks(kernel, geometry, stride));
        let what = format!("{kernel}, stride {stride}, {}", if tcp { "TCP" } else { "Unix socket" });
        assert_eq!(outcome.digest, self.replayed.outcome.digest, "{what}");
        assert_eq!(outcome.completion, self.replayed.outcome.completion, "{what}");
        assert_eq!(report.deliveries, self.replayed.deliveries.len() as u64, "{what}");
        assert_eq!(report.undelivered, 0, "{what}");
    }

    /// This many times, each in another order of connection, over TCP and Unix sockets alternately.
    fn agrees_in_repeats(&self, repeats: usize) {
        for repeat in 0..repeats {
            self.agrees((6 * repeat + 1) % 64, repeat % 2 == 0);
        }
    }
}

/// Kernels of 64 tasks: up a tree, from corner to corner, with partners at all distances, all to all.
const OF_64: [&str; 4] =
    ["bintree:tasks=64", "sweep2d:tasks=64", "butterfly:tasks=64", "all-to-all:tasks=64,bytes=256"];

#[test]
fn kernels_of_64_guests_give_the_digest_of_one_process() {
    for kernel in OF_64 {
        Played::new(kernel, &[8, 8]).agrees(1, true);
    }
}

/// Computing before and after sends, receives, waits and other computing, also for less than a cycle.
#[test]
fn programs_that_compute_give_the_digest_of_one_process() {
    let task = |task: u32| {
        let (next, last) = ((task + 1) % 16, (task + 15) % 16);
        let part = Event::Compute(Picoseconds(3199));
        (0..6)
            .flat_map(|round| {
                let (label, length) = (i64::from(round), u64::from((task * 7 + round) % 5));
                [
                    vec![compute(length), send(next, label, 300), compute(1 + length), part.clone()],
                    vec![
                        recv(Some(last), Some(label)),
                        compute(length),
                        compute(1),
                        irecv(Some(next), Some(label), round),
                    ],
                    vec![isend(last, label, 64, 100 + round), compute(3), wait(&[round, 100 + round]), compute(2)],
                    vec![send(next, label + 100, 64), recv(Some(last), Some(label + 100))],
                ]
                .concat()
            })
            .collect()
    };
    let program = Program { tasks: (0..16).map(task).collect() };
    let replayed = Replayed::of(program.clone(), "torus:4x4", RouterParams::default(), 1.0);
    let (outcome, _) = play(&Table::new(16), &mut network("torus:4x4"), guests(program, 1));
    assert_eq!((outcome.digest, outcome.completion), (replayed.outcome.digest, replayed.outcome.completion));
}

#[test]
fn neither_the_order_of_connection_nor_the_transport_shows() {
    Played::new("all-to-all:tasks=64,bytes=256", &[8, 8]).agrees_in_repeats(4);
    Played::new("all-to-all:tasks=16,bytes=1024", &[4, 4]).agrees_in_repeats(10);
}

/// Threads that compute until they are stopped: guests and endpoint run whenever the system schedules them.
struct Load(Arc<AtomicBool>, Vec<std::thread::JoinHandle<()>>);

impl Load {
    /// One per processor.
    fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let busy = |over: Arc<AtomicBool>| {
            move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        };
        Self(Arc::clone(&over), (0..threads).map(|_| std::thread::spawn(busy(Arc::clone(&over)))).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        for thread in self.1.drain(..) {
            // A failed thread needs no further handling.
            let _ = thread.join();
        }
    }
}

#[test]
#[ignore = "minutes: 20 repeats of kernels of 64 guests, on an idle machine and on a busy one"]
fn nor_in_20_repeats_of_64_guests_under_load() {
    for kernel in OF_64 {
        let played = Played::new(kernel, &[8, 8]);
        let since = Instant::now();
        played.agrees_in_repeats(20);
        let alone = since.elapsed();
        let load = Load::start();
        let since = Instant::now();
        played.agrees_in_repeats(20);
        drop(load);
        tests::shared::aloud(&format!(
            "{kernel}: digest {:016x} in 20 repeats, {:.1} s, and in 20 under load, {:.1} s\n",
            played.replayed.outcome.digest,
            alone.as_secs_f64(),
            since.elapsed().as_secs_f64()
        ));
    }
}

#[test]
fn guests_pass_the_battery_of_sources() {
    let geometry = Geometry::new(&[4, 4]).unwrap();
    let mut make = || {
        let parts = tasks("all-to-all:tasks=16,bytes=64", &geometry, 5);
        let table = Table::new(16);
        // Their results are irrelevant: the battery abandons some of them halfway.
        let connections = table.gather(16, |address| drop(start(address, parts)));
        Box::new(Live::new(connections, table.rules(), Box::new(|_| ()))) as Box<dyn TrGen>
    };
    let report = conformance::check("16 guests", &mut make, Cycle(20_000)).unwrap_or_else(|error| panic!("{error}"));
    for run in report.runs {
        assert_eq!((run.messages, run.delivered), (240, 240), "{}", run.network);
    }
}

/// Stepped guests with random destinations (by their own arithmetic): each sends, computes for a time that depends on
/// the arrival of messages, and answers.
fn busy(node: u32, nodes: u32, mut guest: Guest) -> Result<(), GuestError> {
    let mut state = u64::from(node) * 2_654_435_761 + 12_345;
    for round in 0..30 {
        for _ in 0..3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Half of the messages go to one node: the network is congested.
            let to = if state >> 63 == 0 { round % nodes } else { (state >> 33) as u32 % nodes };
            if to != node {
                guest.send(to, 256, &node.to_le_bytes())?;
            }
            guest.advance(state >> 44)?;
        }
        while let Some(adapters::guest::Event::Message(arrival)) = guest.poll()? {
            state ^= arrival.time.wrapping_mul(u64::from(arrival.source) + 1);
        }
        guest.advance(1_000 + state % 50_000)?;
    }
    guest.finish("done")
}

fn busy_run(mode: Mode, overheads: Overheads, step: Time, class: Class) -> (Outcome, LiveReport) {
    let mut table = Table::with(16, overheads);
    table.terms.mode = mode;
    let parts = (0..16)
        .map(|node| {
            let part: Part = Box::new(move |guest| busy(node, 16, guest));
            (Config { class, step, ..Config::new(format!("busy {node}"), node) }, part)
        })
        .collect();
    play(&table, &mut network("torus:4x4"), parts)
}

const SOFTWARE: Overheads = Overheads { send: 20_000, receive: 30_000, response: 1 };
/// \[ps\] The horizon with these overheads.
const HORIZON: Time = 53_200;

#[test]
fn exact_results_do_not_depend_on_the_step() {
    let (whole, report) = busy_run(Mode::Exact, SOFTWARE, HORIZON, Class::Stepped);
    assert!(report.deliveries > 500 && whole.measured.latency.quantile(0.99) > Some(40), "contended");
    for step in [HORIZON / 2, HORIZON / 10, 7_777] {
        let (outcome, other) = busy_run(Mode::Exact, SOFTWARE, step, Class::Stepped);
        assert_eq!((outcome.digest, other.digest), (whole.digest, report.digest), "step {step}");
        assert!(other.guests.iter().zip(&report.guests).all(|(a, b)| a.turns > b.turns), "more turns");
        assert_eq!(other.guests.iter().map(|guest| guest.late).sum::<u64>(), 0);
    }
    let (outcome, other) = busy_run(Mode::Exact, SOFTWARE, 0, Class::Causal);
    assert_eq!((outcome.digest, other.digest), (whole.digest, report.digest), "without steps");
}

#[test]
fn lateness_falls_to_nothing_as_the_step_falls_to_the_horizon() {
    let (_, exact) = busy_run(Mode::Exact, SOFTWARE, HORIZON, Class::Stepped);
    let mut before = u64::MAX;
    for step in [16 * HORIZON, 8 * HORIZON, 4 * HORIZON, HORIZON] {
        let (_, report) = busy_run(Mode::Quantised, SOFTWARE, step, Class::Stepped);
        let late = report.guests.iter().map(|guest| guest.late_max).max().unwrap();
        assert!(late <= step, "a message is late by at most a step");
        assert!(late < before, "step {step}: {late} ps late, and {before} ps with a longer one");
        before = late;
        if step == HORIZON {
            assert_eq!((late, report.digest), (0, exact.digest));
        }
    }
}

#[test]
fn a_step_above_the_horizon_is_refused_with_the_number() {
    let table = Table::with(2, SOFTWARE);
    let mut long = None;
    table.gather(1, |address| {
        let address = address.clone();
        long = Some(std::thread::spawn(move || {
            let refused = Guest::connect(&address, &Config::new("long", 0).stepped(HORIZON + 1)).map(drop);
            let taken = Guest::connect(&address, &Config::new("short", 0).stepped(HORIZON)).unwrap();
            (refused.unwrap_err().to_string(), taken)
        }));
    });
    let (error, _) = long.unwrap().join().unwrap();
    assert!(error.contains("53201 ps") && error.contains("53200 ps"), "{error}");
}

/// Scripted guests over a network of constant delay in nanoseconds; returns the final clock of each.
fn over_switch(script: &str, nodes: u32, delay: u64, overheads: (Time, Time), class: Class) -> Vec<Time> {
    let script = adapters::guest::script::Script::parse(script).expect("what the test is made of is right");
    let overheads = Overheads { send: overheads.0, receive: overheads.1, response: delay };
    let mut table = Table::with(nodes as usize, overheads);
    table.terms.clock = adapters::clock::Clock::new(1000, 1).expect("what the test is made of is right");
    table.terms.horizon = overheads.horizon(table.terms.clock);
    table.terms.step = table.terms.horizon;
    let parts: Vec<(Config, Part)> = (0..nodes)
        .map(|node| {
            let script = script.clone();
            let part: Part = Box::new(move |guest| script.play(node, guest).map(drop));
            (Config { class, ..Config::new(format!("guest {node}"), node) }, part)
        })
        .collect();
    let (_, report) = play(&table, &mut ConstantDelay::new(nodes as usize, delay).announcing(), parts);
    report.guests.iter().map(|guest| guest.time).collect()
}

#[test]
fn half_a_round_trip_is_the_delay_and_the_overheads_to_the_nanosecond() {
    let ping = "repeat 10\n node 0: send 1 32\n node 0: receive\n node 1: receive\n node 1: send 0 32\nend";
    for (delay, send, receive) in [(100_000, 0, 0), (100_000, 3_000_000, 2_000_000), (1, 0, 0), (137, 11_000, 0)] {
        for class in [Class::Causal, Class::Stepped] {
            let times = over_switch(ping, 2, delay, (send, receive), class);
            assert_eq!(times[0], 20 * (delay * 1000 + send + receive), "delay {delay} ns, {class:?}");
        }
    }
}

#[test]
fn a_token_ring_takes_as_long_as_its_delays() {
    let ring = "repeat 3\n node 0: send next 64\n receive\n others 0: send next 64\nend";
    for nodes in [2, 4, 8] {
        for delay in [10_000, 50_000, 100_000] {
            let times = over_switch(ring, nodes, delay, (0, 0), Class::Causal);
            assert_eq!(times[0], 3 * u64::from(nodes) * delay * 1000, "{nodes} guests, delay {delay} ns");
        }
    }
}

#[test]
fn guests_that_wait_for_each_other_are_a_deadlock_with_names() {
    let table = Table::new(2);
    let parts: Vec<(Config, Part)> = (0..2)
        .map(|node| {
            let part: Part = Box::new(|mut guest: Guest| guest.receive_message().map(drop));
            (Config::new(format!("patient {node}"), node), part)
        })
        .collect();
    let mut threads = Vec::new();
    let connections = table.gather(2, |address: &Address| threads = start(address, parts));
    let mut live = Live::new(connections, table.rules(), Box::new(|_| ()));
    let mut network = network("torus:4x4");
    let stop = AtomicBool::new(false);
    let outcome = to_end(&mut Coupled::new(&mut live, &mut network, &stop), Cycle::NEVER, &mut |_| {});
    let Some(fsin::couple::Failure::TrafficDeadlock { waits, .. }) = outcome.failure else {
        panic!("{:?}", outcome.failure)
    };
    assert_eq!(waits[1].text, "guest `patient 1` (node 1), waiting for a message since 0 ps");
    live.close("nobody sends");
    for thread in threads {
        assert!(thread.join().unwrap().unwrap_err().to_string().contains("nobody sends"));
    }
}
