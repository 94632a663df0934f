//! Options of a run of live guests: warm-up, real time, measured region, logs and captures.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use adapters::guest::program::Script;
use adapters::guest::{Config, Data, Event, Guest, GuestError};
use adapters::live::{Live, LiveReport, LostGuest, Overheads, Region, WarmUp, Watch, WireLog};
use adapters::protocol::{Inject, Mode};
use fsin::couple::Coupled;
use fsin::engine::reference::Reference;
use fsin::models::ConstantDelay;
use fsin::network::Network;
use fsin::pcapng::{LinkType, Node, Writer};
use fsin::router::RouterParams;
use fsin::run::{Outcome, to_end};
use fsin::topology;
use pcap_file::pcapng::{Block, PcapNgReader};
use tests::live::{Part, Table, attempt, play, start};
use tests::programs::{Replayed, compute, irecv, send, wait};
use tests::setup::checked;
use trgen::Cycle;
use trgen::trace::program::{Event as Step, Program, Request};

fn torus() -> Reference {
    let topology = topology::parse("torus:4x4", 2).expect("what the test is made of is right");
    let router = checked(&RouterParams::default(), &*topology);
    Reference::new(topology, router)
}

fn part(name: &str, node: u32, part: impl FnOnce(Guest) -> Result<(), GuestError> + Send + 'static) -> (Config, Part) {
    (Config::new(name, node), Box::new(part))
}

/// A table for a network of constant delay, in nanoseconds.
fn over_switch(nodes: usize, delay: u64) -> Table {
    let mut table = Table::with(nodes, Overheads { send: 0, receive: 0, response: delay });
    table.terms.clock = adapters::clock::Clock::new(1000, 1).expect("a nanosecond is not empty");
    table.terms.horizon = table.overheads.horizon(table.terms.clock);
    table.terms.step = table.terms.horizon;
    table
}

/// An in-memory file.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("nobody panics").clone()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panics").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs guests to their end, and records the events.
fn watched(
    table: &Table,
    network: &mut dyn Network,
    parts: Vec<(Config, Part)>,
    watch: Watch,
) -> (Outcome, LiveReport) {
    let wanted = parts.iter().map(|(config, _)| config.nodes.len()).sum();
    let mut threads = Vec::new();
    let connections = table.gather(wanted, |address| threads = start(address, parts));
    let mut live = Live::new(connections, table.rules(), Box::new(|_| ())).watched(watch);
    let stop = AtomicBool::new(false);
    let outcome = to_end(&mut Coupled::new(&mut live, network, &stop), Cycle::NEVER, &mut |_| {});
    live.flush().unwrap_or_else(|error| panic!("{error}"));
    for thread in threads {
        thread.join().expect("guests do not panic").unwrap_or_else(|error| panic!("{error}"));
    }
    (outcome, live.report())
}

#[test]
fn a_program_that_waits_for_any_of_several_is_played_as_in_one_process() {
    // Workers of different speed; the master answers the first that finishes.
    let mut tasks = vec![(1..16).map(|worker| irecv(Some(worker), Some(1), worker)).collect::<Vec<Step>>()];
    let all: Box<[Request]> = (1..16).map(Request).collect();
    for _ in 1..16 {
        tasks[0].push(Step::WaitAny(all.clone()));
        tasks[0].push(compute(37));
    }
    // All have been accounted for: the wait ends at once.
    tasks[0].push(Step::WaitAny(all));
    tasks[0].extend((1..16).map(|worker| send(worker, 2, 64)));
    tasks.extend((1..16).map(|worker: u64| {
        vec![compute(worker * 7919 % 300), send(0, 1, 64 * worker), irecv(Some(0), Some(2), 1), wait(&[1]), compute(5)]
    }));
    let program = Program { tasks };
    let replayed = Replayed::of(program.clone(), "torus:4x4", RouterParams::default(), 1.0);
    let script = Arc::new(Script::new(program));
    let parts = (0..16)
        .map(|task| {
            let script = Arc::clone(&script);
            part("task", task, move |guest| script.play(task, guest).map(drop))
        })
        .collect();
    let (outcome, _) = play(&Table::new(16), &mut torus(), parts);
    assert_eq!(outcome.digest, replayed.outcome.digest);
    assert_eq!(outcome.completion, replayed.outcome.completion);
}

#[test]
fn one_connection_may_be_several_nodes() {
    let both: Part = Box::new(|mut guest: Guest| {
        for (endpoint, destination) in [(0, 5), (1, 0), (0, 9)] {
            let payload = vec![endpoint as u8; 4].into();
            guest.inject(
                endpoint,
                Inject {
                    destination,
                    notify: false,
                    size: 64,
                    cookie: 7,
                    unmodelled: false,
                    identified: None,
                    payload,
                },
            )?;
        }
        let first = guest.receive_message()?;
        // Node 9 (endpoint 1) has sent to node 0 (endpoint 0), and node 0 to node 9.
        let second = guest.receive_message()?;
        let mut seen = [(first.endpoint, first.source), (second.endpoint, second.source)];
        seen.sort_unstable();
        assert_eq!(seen, [(0, 9), (1, 0)]);
        guest.finish("done")
    });
    let other = part("single", 5, |mut guest| {
        assert_eq!(guest.receive_message()?.source, 0);
        guest.finish("done")
    });
    let parts = vec![(Config { nodes: vec![0, 9], ..Config::new("both", 0) }, both), other];
    let (_, report) = play(&Table::new(16), &mut torus(), parts);
    assert_eq!(report.guests[0].nodes, [0, 9]);
    assert_eq!((report.deliveries, report.undelivered), (3, 0));
}

/// The message of each of three nodes, which goes to the next node.
fn third(node: u32) -> Inject {
    let payload = vec![node as u8; 8].into();
    Inject {
        destination: (node + 1) % 3,
        notify: false,
        size: 64,
        cookie: u64::from(node),
        unmodelled: false,
        identified: None,
        payload,
    }
}

#[test]
fn a_central_takes_the_turns_of_data_connections() {
    let alone = (0..3)
        .map(|node| {
            part("alone", node, move |mut guest| {
                guest.advance(1_000_000)?;
                guest.inject(0, third(node))?;
                guest.receive_message()?;
                guest.finish("done")
            })
        })
        .collect();
    let (expected, single) = play(&Table::new(16), &mut torus(), alone);

    let table = Table::new(16);
    let mut threads = Vec::new();
    let connections = table.gather(3, |address| {
        // Members come first: time waits for their central.
        for node in 0..3 {
            let address = address.clone();
            threads.push(thread::spawn(move || {
                let mut data = Data::connect(&address, &Config::new("data", node), 7)?;
                data.inject(0, 1_000_000, third(node))?;
                let mut heard = Vec::new();
                while let Some(Event::Message(arrival)) = data.receive()? {
                    heard.push((arrival.source, arrival.cookie));
                }
                assert_eq!(heard, [((node + 2) % 3, u64::from((node + 2) % 3))]);
                Ok(())
            }));
        }
        let address = address.clone();
        threads.push(thread::spawn(move || {
            let config = Config { nodes: Vec::new(), ..Config::new("central", 0) }.central(7);
            let mut central = Guest::connect(&address, &config)?;
            // Messages of its members at 1 us, and nothing else.
            central.advance(1_000_000)?;
            central.count_injects(3);
            while central.notices()? < 3 {
                central.wait()?;
            }
            central.finish("done")
        }));
    });
    let mut live = Live::new(connections, table.rules(), Box::new(|_| ()));
    let stop = AtomicBool::new(false);
    let mut network = torus();
    let outcome = to_end(&mut Coupled::new(&mut live, &mut network, &stop), Cycle::NEVER, &mut |_| {});
    for thread in threads {
        let ended: Result<(), GuestError> = thread.join().expect("guests do not panic");
        ended.unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!((outcome.failure, outcome.digest), (None, expected.digest));
    let report = live.report();
    assert_eq!((report.digest, report.deliveries), (single.digest, 3), "as if each were a guest of its own");
    assert_eq!((report.guests.len(), &report.guests[0].nodes[..]), (1, &[0, 1, 2][..]), "a group is one guest");
}

#[test]
fn a_group_that_loses_a_connection_or_miscounts_is_lost_with_its_name() {
    for (leaves, counts, expected) in [
        (false, 2, "data connections have brought 1"),
        (true, 2, "connection `data`: it has closed"),
        // All counted messages have arrived.
        (true, 1, "connection `data`: it has closed"),
        (false, 0, "it has injected 1 messages and counts 0"),
    ] {
        let mut table = Table::new(16);
        table.terms.stall = Duration::from_millis(500);
        let mut threads = Vec::new();
        let (begin, begun) = mpsc::channel();
        let connections = table.gather(1, |address| {
            let member = address.clone();
            threads.push(thread::spawn(move || {
                let mut data = Data::connect(&member, &Config::new("data", 0), 1)?;
                data.inject(0, 0, third(0))?;
                begun.recv().expect("time begins");
                if leaves { Err(GuestError::Program("it leaves".to_owned())) } else { data.receive().map(drop) }
            }));
            let address = address.clone();
            threads.push(thread::spawn(move || {
                let config = Config { nodes: Vec::new(), ..Config::new("central", 0) }.central(1);
                let mut central = Guest::connect(&address, &config)?;
                central.until()?;
                begin.send(()).expect("its member waits for it");
                thread::sleep(Duration::from_millis(100));
                central.count_injects(counts);
                central.wait()
            }));
        });
        let mut live = Live::new(connections, table.rules(), Box::new(|_| ()));
        let stop = AtomicBool::new(false);
        let mut network = torus();
        let outcome = to_end(&mut Coupled::new(&mut live, &mut network, &stop), Cycle::NEVER, &mut |_| {});
        let failure = outcome.failure.map(|failure| failure.to_string()).unwrap_or_default();
        assert!(failure.contains("guest `central` (node 0)") && failure.contains(expected), "{failure}");
        for thread in threads {
            assert!(thread.join().expect("guests do not panic").is_err(), "all of the group are told");
        }
    }
}

#[test]
fn real_time_holds_guests_to_the_clock_on_the_wall_and_says_how_far_behind_it_was() {
    // 50 steps of 1 ms, 2.5 times slower than real time: 125 ms.
    let mut table = over_switch(2, 100_000);
    (table.terms.mode, table.terms.pace, table.terms.step) = (Mode::Realtime, 2500, 1_000_000_000);
    let begin = Instant::now();
    let parts = (0..2)
        .map(|node| {
            let (mut config, part) = part("clock", node, move |mut guest| {
                assert_eq!(guest.welcome().pace, 2500);
                if node == 0 {
                    guest.send(1, 64, &[])?;
                }
                guest.advance(50_000_000_000)?;
                let late = guest.poll()?.map(|event| match event {
                    Event::Message(arrival) => arrival.late,
                    Event::Sent { .. } => 0,
                });
                assert_eq!(late, (node == 1).then_some(900_000_000), "arrived at 100 us, handed over at 1 ms");
                guest.finish("done")
            });
            config = config.stepped(0);
            (config, part)
        })
        .collect();
    let (_, report) = play(&table, &mut ConstantDelay::new(2, 100_000).announcing(), parts);
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(120), "{took:?}");
    let behind = report.behind.expect("a run in real time has it").max;
    assert!(behind < u64::try_from(took.as_nanos() * 1000).unwrap(), "{behind} ps behind after {took:?}");
    assert_eq!(report.guests[1].late_max, 900_000_000);
    let latency = report.latency.expect("a message was handed over");
    assert_eq!((latency.count, latency.max), (1, 1_000_000_000), "from sending to seeing, lateness included");
}

#[test]
fn a_warm_up_is_one_grant_and_what_comes_meanwhile_is_not_late() {
    for (warm_up, marked) in [(WarmUp::Until(5_000_000), false), (WarmUp::Mark, true)] {
        let table = Table { warm_up, ..over_switch(2, 1000) };
        let turns = |report: &LiveReport| report.guests.iter().map(|guest| guest.turns).collect::<Vec<_>>();
        let parts = |stepped: bool| {
            (0..2)
                .map(|node| {
                    let (config, part) = part("booting", node, move |mut guest| {
                        // Boots for 4 us, and says so; then both wait until 5 us.
                        guest.advance(4_000_000)?;
                        guest.send(1 - node, 64, &[])?;
                        guest.advance(1_000_000)?;
                        if marked {
                            guest.mark("up")?;
                        }
                        let arrival = guest.receive_message()?;
                        assert_eq!((arrival.time, arrival.late), (5_000_000, 0), "{warm_up:?}");
                        guest.send(1 - node, 64, &[])?;
                        guest.receive_message()?;
                        assert_eq!(guest.now(), 6_000_000);
                        guest.finish("done")
                    });
                    (if stepped { config.stepped(100_000) } else { config }, part)
                })
                .collect::<Vec<_>>()
        };
        let (warm, report) = play(&table, &mut ConstantDelay::new(2, 1000).announcing(), parts(true));
        let cold_table = Table { warm_up: WarmUp::None, ..table };
        let (cold, whole) = play(&cold_table, &mut ConstantDelay::new(2, 1000).announcing(), parts(true));
        assert_eq!((warm.digest, report.digest), (cold.digest, whole.digest), "nothing was sent that could be late");
        assert!(turns(&report)[0] + 40 < turns(&whole)[0], "{:?} {:?}", turns(&report), turns(&whole));
        assert_eq!(report.guests.iter().map(|guest| guest.late).sum::<u64>(), 0);
    }
}

#[test]
fn marks_open_and_close_what_is_measured() {
    let table = Table { region: Some(Region { from: "begin".to_owned(), to: "end".to_owned() }), ..Table::new(16) };
    let parts = || {
        (0..2)
            .map(|node| {
                part("worker", node, move |mut guest| {
                    for phase in 0..3 {
                        if phase == 1 {
                            guest.mark("begin")?;
                        }
                        for _ in 0..[5, 8, 3][phase] {
                            guest.send(1 - node, 64, &[])?;
                            guest.receive_message()?;
                        }
                        if phase == 1 {
                            guest.mark("end")?;
                        }
                    }
                    guest.finish("done")
                })
            })
            .collect::<Vec<_>>()
    };
    let (outcome, report) = play(&table, &mut torus(), parts());
    assert_eq!(report.deliveries, 32);
    assert_eq!(report.latency.map(|latency| latency.count), Some(16));
    assert_eq!((outcome.measured.counts.received, outcome.totals.received), (16, 32), "packets");
    // Both guests send at the same time: each round takes the latency of one message.
    let round = outcome.measured_cycles() / 8;
    assert_eq!(report.latency.map(|latency| latency.max / 3200), Some(round));
    let everything = Table { region: None, ..table };
    let (whole, all) = play(&everything, &mut torus(), parts());
    assert_eq!((whole.digest, all.digest), (outcome.digest, report.digest), "measuring changes nothing");
    assert_eq!(whole.completion, outcome.completion);
    assert_eq!(all.latency.map(|latency| latency.count), Some(32));
}

#[test]
fn running_digests_find_where_two_runs_part() {
    let table = Table { digest_every: 1_000_000, ..Table::new(16) };
    let parts = |odd: usize| {
        (0..2)
            .map(|node| {
                part("pair", node, move |mut guest| {
                    for round in 0..100 {
                        guest.send(1 - node, if round == odd { 65 } else { 64 }, &[])?;
                        guest.receive_message()?;
                    }
                    guest.finish("done")
                })
            })
            .collect::<Vec<_>>()
    };
    let digests = |odd: usize| play(&table, &mut torus(), parts(odd)).1;
    let (one, same, other) = (digests(1000), digests(1000), digests(50));
    assert!(one.waymarks.len() >= 5, "{:?}", one.waymarks);
    assert_eq!(one.waymarks, same.waymarks);
    let parting = one.waymarks.iter().zip(&other.waymarks).find(|(a, b)| a != b).expect("they differ").0.time;
    // A round takes a hundredth of the run; the 51st differs.
    let round = one.guests[0].time / 100;
    assert_eq!(parting, (50 * round / 1_000_000 + 1) * 1_000_000);
}

#[test]
fn frames_and_what_they_carry_are_written_down() {
    let (log, packets) = (Shared::default(), Shared::default());
    let watch = || Watch {
        wire_log: Some(WireLog::new(Box::new(log.clone()))),
        capture: Some(Box::new(
            Writer::<Node>::new(Box::new(packets.clone()), LinkType::Ethernet)
                .unwrap_or_else(|error| panic!("{error}")),
        )),
    };
    let parts = vec![
        part("asks", 0, |mut guest| {
            guest.advance(1_000_000)?;
            guest.send(1, 100, b"frame with some bytes")?;
            guest.mark("asked")?;
            guest.receive_message()?;
            guest.finish("done")
        }),
        part("answers", 1, |mut guest| {
            guest.receive_message()?;
            guest.send(0, 10, &[])?;
            guest.finish("done")
        }),
    ];
    let (_, report) = watched(&over_switch(2, 2000), &mut ConstantDelay::new(2, 2000).announcing(), parts, watch());
    assert_eq!((report.deliveries, report.bare), (2, 1), "one carries nothing");
    let text = String::from_utf8(log.bytes()).expect("a log is text");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert!(lines.iter().all(|line| line.len() == 6), "{text}");
    for line in [
        "<\tasks\t0\t0\tHello\tclass=causal step=2000000 nodes=0",
        "<\tasks\t0\t1000000\tInject\tto=1 size=100 cookie=0 carried=21 notify=0",
        "<\tasks\t0\t1000000\tMark\tlabel=asked",
        ">\tanswers\t0\t3000000\tDeliver\tfrom=0 number=0 size=100 cookie=0 carried=21 injected=1000000 late=0",
        "<\tasks\t0\t1000000\tTimestamp\tnext=forever injects=1",
        ">\tasks\t0\t5000000\tGoAhead\tuntil=forever notices=1",
        ">\tasks\t0\t5000000\tBye\tinjects=1 notices=1 reason=",
    ] {
        assert!(text.lines().any(|found| found == line), "no `{line}` in\n{text}");
    }
    assert!(!text.contains("some bytes"), "only how many bytes are carried");

    let packets = packets.bytes();
    let mut reader = PcapNgReader::new(&packets[..]).expect("a capture is a pcapng file");
    let mut found = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("its blocks are whole") {
            found.push((packet.interface_id, packet.timestamp.as_nanos(), packet.original_len, packet.data.to_vec()));
        }
    }
    let data = b"frame with some bytes".to_vec();
    assert_eq!(found, [(0, 1000, 100, data.clone()), (1, 3000, 100, data)], "sent and received, in nanoseconds");
}

#[test]
fn messages_that_nobody_takes_are_neither_delivered_nor_in_latencies() {
    let parts = || {
        let early = part("early", 1, |mut guest| {
            guest.receive_message()?;
            guest.finish("it has seen enough")
        });
        let sender = part("sender", 0, |mut guest| {
            guest.send(1, 64, &[])?;
            guest.advance(50_000_000)?;
            // The other guest has left, and node 2 has no guest.
            guest.send(1, 64, &[])?;
            guest.send(2, 64, &[])?;
            guest.advance(50_000_000)?;
            guest.finish("done")
        });
        vec![sender, early]
    };
    let (outcome, report) = play(&over_switch(3, 1000), &mut ConstantDelay::new(3, 1000).announcing(), parts());
    assert!(outcome.complete);
    assert_eq!((report.injects, report.deliveries, report.undelivered), (3, 1, 2));
    assert_eq!(report.latency.map(|latency| (latency.count, latency.max)), Some((1, 1_000_000)));
}

#[test]
fn a_message_that_could_never_be_simulated_is_refused() {
    for (size, expected) in [(1u64 << 40, None), ((1 << 40) + 1, Some("longest one, 2^40 bytes"))] {
        let parts = vec![
            part("large", 0, move |mut guest| {
                guest.send(1, size, &[])?;
                guest.finish("done")
            }),
            part("idle", 1, |guest| guest.finish("done")),
        ];
        let (outcome, _, guests) = attempt(&over_switch(2, 1000), &mut ConstantDelay::new(2, 1000).announcing(), parts);
        let failure = outcome.failure.map(|failure| failure.to_string());
        match expected {
            None => assert_eq!(failure, None),
            Some(expected) => {
                assert!(failure.is_some_and(|failure| failure.contains(expected)));
                assert!(guests[0].as_ref().is_err_and(|told| told.to_string().contains(expected)), "{guests:?}");
            }
        }
    }
}

#[test]
fn a_frozen_run_stands_still_until_it_is_interrupted() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let table = Table { lost: LostGuest::Freeze, ..Table::new(16) };
    let rules = adapters::live::Rules { stop: &STOP, ..table.rules() };
    let victim = part("victim", 2, |mut guest| {
        guest.send(0, 64, &[])?;
        guest.advance(10)?;
        drop(guest);
        Ok(())
    });
    let idle = part("idle", 3, |mut guest| guest.receive_message().map(drop));
    let mut threads = Vec::new();
    let connections = table.gather(2, |address| threads = start(address, vec![victim, idle]));
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = {
        let told = Arc::clone(&told);
        move |line: String| told.lock().expect("nobody panics").push(line)
    };
    let mut live = Live::new(connections, rules, Box::new(tell));
    let mut network = torus();
    let begin = Instant::now();
    let interrupting = thread::spawn(|| {
        thread::sleep(Duration::from_millis(700));
        STOP.store(true, Ordering::Relaxed);
    });
    let outcome = to_end(&mut Coupled::new(&mut live, &mut network, &STOP), Cycle::NEVER, &mut |_| {});
    assert!(begin.elapsed() >= Duration::from_millis(600), "it waited");
    assert!(outcome.failure.is_some() && !outcome.complete);
    let told = told.lock().expect("nobody panics").join("\n");
    assert!(told.contains("guest `victim` (node 2)") && told.contains("stands still"), "{told}");
    assert!(live.report().guests[0].lost.is_some());
    interrupting.join().expect("it sleeps");
    for thread in threads {
        let _ = thread.join().expect("guests do not panic");
    }
}
