//! Guests that follow the protocol only up to a point, large numbers of connections, and killed processes.

mod connections;
mod holders;
mod processes;

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use adapters::address::Address;
use adapters::clock::Clock;
use adapters::codec::Codec;
use adapters::guest::{Config, Guest};
use adapters::live::{LostGuest, Overheads, Protocol, Synchronisation};
use adapters::protocol::{Body, Class, Hello, Inject, MAJOR, MAX_PAYLOAD, MINOR, Role};
use bytes::{Bytes, BytesMut};
use fsin::couple::Failure;
use fsin::models::ConstantDelay;
use proptest::prelude::*;
use tests::command::fsin;
use tests::live::{Part, Table};
use tokio_util::codec::Decoder;

/// \[ns\] Delay of the network in these tests.
const DELAY: u64 = 1000;

fn table(nodes: usize) -> Table {
    let mut table = Table::with(nodes, Overheads { send: 0, receive: 0, response: DELAY });
    table.terms.clock = Clock::new(1000, 1).expect("a nanosecond is not empty");
    table.terms.horizon = table.overheads.horizon(table.terms.clock);
    table.terms.step = table.terms.horizon;
    table
}

fn hello(name: &str, node: u32) -> Hello {
    Hello {
        major: MAJOR,
        minor: 0,
        capabilities: 0,
        class: Class::Causal,
        role: Role::Node,
        group: 0,
        step: 0,
        slack: 0,
        max_payload: MAX_PAYLOAD,
        manifest: [0; 32],
        name: name.to_owned(),
        nodes: vec![node],
    }
}

/// A handmade guest: sends a Hello, and waits for the first answer.
fn introduce(address: &Address, hello: Hello) -> (TcpStream, Codec, Body) {
    let Address::Tcp(tcp) = address else { panic!("TCP") };
    let mut stream = TcpStream::connect(tcp).expect("somebody listens");
    let (mut codec, mut bytes) = (Codec::default(), BytesMut::new());
    codec.put(0, 0, &Body::Hello(Box::new(hello)), &mut bytes);
    stream.write_all(&bytes).expect("somebody reads");
    let mut arrived = BytesMut::new();
    loop {
        if let Some(frame) = codec.decode(&mut arrived).expect("the endpoint speaks TGP/1") {
            return (stream, codec, frame.body);
        }
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("the endpoint answers");
        arrived.extend_from_slice(&byte);
    }
}

/// Two guests that exchange twenty messages.
fn partner(node: u32) -> (Config, Part) {
    let part: Part = Box::new(move |mut guest: Guest| {
        for _ in 0..20 {
            guest.send(1 - node, 64, &[])?;
            guest.receive_message()?;
        }
        guest.finish("done")
    });
    (Config::new(format!("partner {node}"), node), part)
}

/// Runs the partners beside a peer at node 2 that is not a guest of the library.
fn beside(
    table: &Table,
    other: impl FnOnce(Address) + Send + 'static,
) -> (fsin::run::Outcome, adapters::live::LiveReport, Duration) {
    beside_by(table, None, other)
}

/// The same with a protocol of synchronisation.
fn beside_by(
    table: &Table,
    protocol: Option<Protocol>,
    other: impl FnOnce(Address) + Send + 'static,
) -> (fsin::run::Outcome, adapters::live::LiveReport, Duration) {
    let mut threads = Vec::new();
    let mut stranger = None;
    let connections = table.gather(3, |address| {
        threads = tests::live::start(address, vec![partner(0), partner(1)]);
        let address = address.clone();
        stranger = Some(thread::spawn(move || other(address)));
    });
    let begin = Instant::now();
    let mut live = adapters::live::Live::new(connections, table.rules(), Box::new(|_| ()));
    if let Some(protocol) = protocol {
        live = live.synchronised(Synchronisation { protocol, delay: DELAY });
    }
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut network = ConstantDelay::new(3, DELAY).announcing();
    let outcome = fsin::run::to_end(
        &mut fsin::couple::Coupled::new(&mut live, &mut network, &stop),
        trgen::Cycle::NEVER,
        &mut |_| {},
    );
    let took = begin.elapsed();
    live.close("the run has ended");
    let report = live.report();
    drop(live);
    for thread in threads {
        let ended = thread.join().expect("guests do not panic");
        assert!(table.lost != LostGuest::DropNode || ended.is_ok(), "{ended:?}");
    }
    stranger.expect("it was started").join().expect("it does not panic");
    (outcome, report, took)
}

/// The reported loss of the guest at node 2; checks that the partners were not affected.
fn lost(report: &adapters::live::LiveReport) -> &str {
    assert_eq!(report.guests[0].injects + report.guests[1].injects, 40);
    assert_eq!((report.guests[0].lost.as_ref(), report.guests[1].lost.as_ref()), (None, None));
    report.guests[2].lost.as_deref().unwrap_or_else(|| panic!("it was not lost"))
}

#[test]
fn a_half_open_connection_ends_within_the_limit_and_harms_nobody() {
    let mut table = Table { lost: LostGuest::DropNode, ..table(3) };
    table.terms.stall = Duration::from_millis(800);
    let (outcome, report, took) = beside(&table, |address| {
        // A cut wire: data sent into it disappear without notice.
        let (stream, ..) = introduce(&address, hello("cut off", 2));
        thread::sleep(Duration::from_secs(3));
        drop(stream);
    });
    assert_eq!(outcome.failure, None);
    assert!(lost(&report).contains("silent for 0.8 s"), "{report:?}");
    assert!(took < Duration::from_millis(2500), "{took:?}");
}

#[test]
fn a_guest_that_does_not_read_ends_within_the_limit() {
    let mut table = table(2);
    table.terms.stall = Duration::from_millis(800);
    let mut stranger = None;
    let (sent, all_sent) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    let flood: Part = Box::new(move |mut guest: Guest| {
        // 40 MB that arrive at once: more than any socket buffers.
        for _ in 0..40 {
            guest.send(1, 1_000_000, &vec![7; 1_000_000])?;
        }
        sent.send(Instant::now()).expect("the test waits for it");
        guest.finish("done")
    });
    let mut threads = Vec::new();
    let connections = table.gather(2, |address| {
        threads = tests::live::start(address, vec![(Config::new("flood", 0), flood)]);
        let address = address.clone();
        stranger = Some(thread::spawn(move || {
            let (mut stream, mut codec, _) = introduce(&address, hello("deaf", 1));
            // It waits for a message, and then stops reading.
            let mut bytes = BytesMut::new();
            codec.put(0, 0, &Body::Timestamp { next: u64::MAX, injects: 0 }, &mut bytes);
            stream.write_all(&bytes).expect("somebody reads");
            // Longer than the run can take, however busy the machine is.
            let _ = ended.recv_timeout(Duration::from_secs(120));
        }));
    });
    let mut live = adapters::live::Live::new(connections, table.rules(), Box::new(|_| ()));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut network = ConstantDelay::new(2, DELAY).announcing();
    let outcome = fsin::run::to_end(
        &mut fsin::couple::Coupled::new(&mut live, &mut network, &stop),
        trgen::Cycle::NEVER,
        &mut |_| {},
    );
    let Some(Failure::Source(error)) = outcome.failure else { panic!("{:?}", outcome.failure) };
    assert!(error.what.contains("guest `deaf` (node 1)") && error.what.contains("has not read"), "{error}");
    let took = all_sent.try_recv().expect("all was sent").elapsed();
    assert!(took < Duration::from_millis(2800), "{took:?}");
    end.send(()).expect("the guest is still there");
    for thread in threads {
        let _ = thread.join().expect("guests do not panic");
    }
    stranger.expect("it was started").join().expect("it does not panic");
}

#[test]
fn another_version_and_unknown_demands_are_refused_with_their_numbers() {
    let table = table(2);
    let mut visitor = None;
    drop(table.gather(1, |address| {
        let address = address.clone();
        visitor = Some(thread::spawn(move || {
            let next = introduce(&address, Hello { major: MAJOR + 1, ..hello("next", 0) }).2;
            let Body::Error { text, .. } = next else { panic!("{next:?}") };
            assert!(text.contains("TGP/2") && text.contains("TGP/1"), "{text}");
            let demanding = introduce(&address, Hello { capabilities: 1 << 40, ..hello("demanding", 0) }).2;
            let Body::Error { text, .. } = demanding else { panic!("{demanding:?}") };
            assert!(text.contains("0x10000000000 "), "{text}");
            let narrow = introduce(&address, Hello { max_payload: 100, ..hello("narrow", 0) }).2;
            let Body::Error { text, .. } = narrow else { panic!("{narrow:?}") };
            assert!(text.contains("512 or more"), "{text}");
            let optional = introduce(&address, Hello { capabilities: 5, minor: 9, ..hello("newer", 0) });
            assert!(
                matches!(&optional.2, Body::Welcome(welcome) if welcome.minor == MINOR),
                "it may be newer: {optional:?}"
            );
            optional
        }));
    }));
    drop(visitor.expect("it was started").join().expect("it does not panic"));
}

#[test]
fn times_that_are_none_false_counts_and_messages_that_nobody_could_read_end_a_guest() {
    let inject = |destination: u32, carried: usize| {
        Body::Inject(Inject {
            destination,
            notify: false,
            size: 4096,
            cookie: 0,
            unmodelled: false,
            identified: None,
            payload: Bytes::from(vec![7; carried]),
        })
    };
    let bye = |injects, notices| Body::Bye { injects, notices, reason: String::new() };
    for (frames, expected) in [
        (vec![(inject(0, 0), u64::MAX)], "it sends at 18446744073709551615 ps"),
        (vec![(Body::Busy { until: u64::MAX }, 0)], "it is busy until 18446744073709551615 ps"),
        (vec![(Body::Busy { until: 1000 }, 0), (bye(0, 0), 5)], "a Bye at 5 ps lies outside its turn, 1000 to"),
        (vec![(inject(0, 0), (1 << 63) + 1)], "is the latest"),
        (vec![(bye(1, 0), 5)], "it has injected 0 messages and counts 1"),
        (vec![(bye(0, 7), 5)], "it has been told of 0 Delivers and Dones and counts 7"),
        (vec![(inject(3, 469), 0)], "the guest of node 3 takes messages that carry 468 at most"),
    ] {
        let table = Table { lost: LostGuest::DropNode, ..table(4) };
        let mut threads = Vec::new();
        let connections = table.gather(2, |address| {
            let (other, address) = (address.clone(), address.clone());
            // It waits for a message, and accepts only short ones.
            threads.push(thread::spawn(move || {
                let narrow = Hello { max_payload: 512, ..hello("narrow", 3) };
                let (mut stream, mut codec, _) = introduce(&other, narrow);
                let mut bytes = BytesMut::new();
                codec.put(0, 0, &Body::Timestamp { next: u64::MAX, injects: 0 }, &mut bytes);
                stream.write_all(&bytes).expect("somebody reads");
                let _ = stream.read_to_end(&mut Vec::new());
            }));
            threads.push(thread::spawn(move || {
                let (mut stream, mut codec, _) = introduce(&address, hello("false", 2));
                let mut bytes = BytesMut::new();
                frames.iter().for_each(|(body, time)| codec.put(0, *time, body, &mut bytes));
                stream.write_all(&bytes).expect("somebody reads");
                let _ = stream.read_to_end(&mut Vec::new());
            }));
        });
        let mut live = adapters::live::Live::new(connections, table.rules(), Box::new(|_| ()));
        let stop = std::sync::atomic::AtomicBool::new(false);
        let mut network = ConstantDelay::new(4, DELAY).announcing();
        let mut coupled = fsin::couple::Coupled::new(&mut live, &mut network, &stop);
        fsin::run::to_end(&mut coupled, trgen::Cycle::NEVER, &mut |_| {});
        live.close("the run has ended");
        let lost = live.report().guests[0].lost.clone().unwrap_or_default();
        assert!(lost.contains(expected), "{expected}: {lost}");
        drop(live);
        threads.into_iter().for_each(|thread| thread.join().expect("guests do not panic"));
    }
}

/// Frames with their times, some with a changed byte.
type Nonsense = Vec<(Body, u64, Option<(prop::sample::Index, u8)>)>;

/// Nonsense from an admitted guest.
fn nonsense() -> impl Strategy<Value = Nonsense> {
    let time = prop_oneof![Just(0u64), 0u64..5_000_000, any::<u64>()];
    let body = prop_oneof![
        4 => (0u32..5, any::<bool>(), prop_oneof![0u64..300, any::<u64>()], any::<u64>(), prop::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(destination, notify, size, cookie, payload)| {
                let size = size.max(payload.len() as u64);
                Body::Inject(Inject { destination, notify, size, cookie, unmodelled: false, identified: None, payload: Bytes::from(payload) })
            }),
        3 => (prop_oneof![Just(u64::MAX), any::<u64>(), 0u64..5_000_000], 0u64..4)
            .prop_map(|(next, injects)| Body::Timestamp { next, injects }),
        1 => ".{0,20}".prop_map(|label| Body::Mark { label }),
        1 => (0u64..3, 0u64..3).prop_map(|(injects, notices)| Body::Bye { reason: String::new(), injects, notices }),
        1 => Just(Body::GoAhead { until: 5, notices: 0 }),
        1 => Just(Body::Challenge([0; 32])),
    ];
    let damage = prop::option::weighted(0.2, (any::<prop::sample::Index>(), any::<u8>()));
    prop::collection::vec((body, time, damage), 0..12)
}

/// A guest that sends `frames` and leaves; the run goes on without it, and the others are not affected.
fn survives(frames: Nonsense) {
    let mut table = Table { lost: LostGuest::DropNode, ..table(3) };
    table.terms.stall = Duration::from_secs(5);
    let (outcome, report, _) = beside(&table, move |address| {
        let (mut stream, mut codec, _) = introduce(&address, hello("noise", 2));
        let mut bytes = BytesMut::new();
        for (body, time, damage) in frames {
            let start = bytes.len();
            codec.put(0, time, &body, &mut bytes);
            if let Some((index, byte)) = damage {
                let at = start + index.index(bytes.len() - start);
                bytes[at] = byte;
            }
        }
        let _ = stream.write_all(&bytes);
        // It stays until time begins: before that it would release its node.
        let _ = stream.read(&mut [0]);
        let _ = stream.shutdown(Shutdown::Write);
        // Read the endpoint's answer to its end, so that it is not cut short.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert_eq!(outcome.failure, None);
    assert_eq!(report.deliveries + report.undelivered, report.injects, "all that was sent arrived, and nothing else");
    assert_eq!(report.guests[0].injects + report.guests[1].injects, 40);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_guest_harms_a_run_or_the_others(frames in nonsense()) {
        survives(frames);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    #[ignore = "five thousand runs take minutes"]
    fn no_guest_of_five_thousand_harms_a_run_or_the_others(frames in nonsense()) {
        survives(frames);
    }
}
