//! Guests that die, lie, stall or must not be admitted: each failure is reported with name and state, and the other
//! guests are not affected.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

use adapters::address::Address;
use adapters::codec::Codec;
use adapters::endpoint::{Endpoint, EndpointError};
use adapters::guest::{Config, Guest, GuestError};
use adapters::live::LostGuest;
use adapters::protocol::{Body, Mode, Welcome};
use adapters::token::Token;
use bytes::BytesMut;
use fsin::couple::Failure;
use fsin::engine::reference::Reference;
use fsin::router::RouterParams;
use fsin::topology;
use tests::live::{Part, Table, attempt};
use tests::setup::checked;

fn network() -> Reference {
    let topology = topology::parse("torus:4x4", 2).expect("what the test is made of is right");
    let router = checked(&RouterParams::default(), &*topology);
    Reference::new(topology, router)
}

/// Guests 0 and 1 exchange ten messages.
fn partner(node: u32) -> (Config, Part) {
    let part: Part = Box::new(move |mut guest: Guest| {
        for _ in 0..10 {
            guest.send(1 - node, 64, &[])?;
            guest.receive_message()?;
        }
        guest.finish("done")
    });
    (Config::new(format!("partner {node}"), node), part)
}

/// A guest at node 2 that sends one message and disappears silently, as after `kill -9`.
fn victim() -> (Config, Part) {
    let part: Part = Box::new(|mut guest: Guest| {
        guest.send(0, 64, &[])?;
        guest.advance(10)?;
        drop(guest);
        Ok(())
    });
    (Config::new("victim", 2), part)
}

#[test]
fn a_dead_guest_ends_the_run_with_its_name() {
    let idle: Part = Box::new(|mut guest: Guest| guest.receive_message().map(drop));
    let parts = vec![victim(), (Config::new("idle", 3), idle)];
    let (outcome, report, guests) = attempt(&Table::new(16), &mut network(), parts);
    let Some(Failure::Source(error)) = outcome.failure else { panic!("{:?}", outcome.failure) };
    assert!(error.what.contains("guest `victim` (node 2), running"), "{error}");
    assert!(report.guests[0].lost.is_some() && !outcome.complete);
    let told = guests[1].as_ref().unwrap_err().to_string();
    assert!(told.contains("victim"), "the others are told why: {told}");
}

#[test]
fn without_the_dead_guest_the_others_lose_and_gain_nothing() {
    let table = Table { lost: LostGuest::DropNode, ..Table::new(16) };
    let (outcome, report, guests) = attempt(&table, &mut network(), vec![victim(), partner(0), partner(1)]);
    assert_eq!(outcome.failure, None);
    assert!(guests.iter().all(Result::is_ok), "{guests:?}");
    let sent: Vec<u64> = report.guests.iter().map(|guest| guest.injects).collect();
    assert_eq!(sent[..2], [10, 10]);
    assert_eq!(report.deliveries + report.undelivered, report.injects, "all that was sent arrived, and nothing else");
    assert!(report.guests[2].lost.is_some());
}

#[test]
fn a_silent_guest_is_named_within_the_limit() {
    let mut table = Table::new(16);
    table.terms.stall = Duration::from_millis(600);
    let sleeper: Part = Box::new(|mut guest: Guest| {
        guest.advance(10)?;
        thread::sleep(Duration::from_secs(3));
        guest.send(0, 1, &[])?;
        guest.finish("late")
    });
    let (outcome, ..) = attempt(&table, &mut network(), vec![(Config::new("sleeper", 5), sleeper)]);
    let Some(Failure::Source(error)) = outcome.failure else { panic!("{:?}", outcome.failure) };
    assert!(
        error.what.contains("guest `sleeper` (node 5), running since 0 ps: it has been silent for 0.6 s"),
        "{error}"
    );
}

/// A guest that says that it is busy up to the end of the clock, and is gone: the others do not wait for that time.
#[test]
fn l8_a_guest_that_is_busy_and_gone_is_noticed_at_once() {
    for is_realtime in [false, true] {
        let mut table = Table::new(16);
        let mut config = Config::new("busy", 2);
        if is_realtime {
            (table.terms.mode, table.terms.pace, table.terms.step) = (Mode::Realtime, 1000, 1_000_000_000);
            config = config.stepped(0);
        }
        let part: Part = Box::new(|mut guest: Guest| {
            guest.advance(10)?;
            guest.busy(i64::MAX as u64)?;
            drop(guest);
            Ok(())
        });
        let begin = Instant::now();
        let (outcome, ..) = attempt(&table, &mut network(), vec![(config, part)]);
        let Some(Failure::Source(error)) = outcome.failure else { panic!("{:?}", outcome.failure) };
        assert!(error.what.contains("guest `busy` (node 2)"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    }
}

#[test]
fn wrong_messages_end_the_guest_with_the_reason() {
    let cases: [(&str, u32, &str); 2] = [("far", 99, "nodes 0 to 15"), ("selfish", 4, "sends to itself")];
    for (name, to, expected) in cases {
        let part: Part = Box::new(move |mut guest: Guest| {
            guest.send(to, 8, &[])?;
            guest.receive_message().map(drop)
        });
        let (outcome, _, guests) = attempt(&Table::new(16), &mut network(), vec![(Config::new(name, 4), part)]);
        let Some(Failure::Source(error)) = outcome.failure else { panic!("{:?}", outcome.failure) };
        assert!(error.what.contains(name) && error.what.contains(expected), "{error}");
        assert!(guests[0].as_ref().unwrap_err().to_string().contains(expected), "{guests:?}");
    }
}

#[test]
fn whoever_must_not_come_in_is_told_why_and_the_right_ones_come_in() {
    let secret = b"a long enough secret";
    let mut table = Table::new(16);
    table.terms.handshake = Duration::from_secs(2);
    table.terms.token = Some(Token::new(secret).unwrap());
    let mut visitors = None;
    table.gather(2, |address| {
        let address = address.clone();
        visitors = Some(thread::spawn(move || {
            let connect = |name: &str, node: u32, token: Option<&[u8]>| {
                let token = token.map(|token| Token::new(token).unwrap());
                Guest::connect(&address, &Config { token, ..Config::new(name, node) })
            };
            let Address::Tcp(tcp) = &address else { panic!("TCP") };
            // Garbage, another protocol, an oversize frame, silence, and nothing at all.
            for bytes in [&[0xff; 64][..], b"GET / HTTP/1.1\r\n\r\n 0123456789", &[0, 0, 0, 0x7f, 1, 0, 0, 0]] {
                let mut stream = TcpStream::connect(tcp).unwrap();
                stream.write_all(bytes).unwrap();
                let mut answer = Vec::new();
                let _ = stream.read_to_end(&mut answer);
                assert!(answer.len() > 24 && answer[4] == 12, "an Error frame, and the end");
            }
            drop(TcpStream::connect(tcp).unwrap());
            assert!(matches!(connect("none", 0, None), Err(GuestError::TokenWanted)));
            let wrong = connect("wrong", 0, Some(b"another long secret")).unwrap_err().to_string();
            assert!(wrong.contains("its token is not the one of this run"), "{wrong}");
            let outside = connect("outside", 16, Some(secret)).unwrap_err().to_string();
            assert!(outside.contains("nodes 0 to 15"), "{outside}");
            let first = connect("first", 0, Some(secret)).unwrap();
            let second = connect("second", 0, Some(secret)).unwrap_err().to_string();
            assert!(second.contains("node 0 is taken by guest `first`"), "{second}");
            assert!(![wrong, outside, second].concat().contains("a long enough secret"));
            (first, connect("second", 1, Some(secret)).unwrap())
        }));
    });
    visitors.unwrap().join().unwrap();
}

/// Listens like a foreign endpoint, answers a Hello with these frames, and reads all input.
fn imposter(answers: Vec<Body>) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp(listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut codec, mut bytes) = (Codec::default(), BytesMut::new());
        for body in answers {
            codec.put(0, 0, &body, &mut bytes);
        }
        let _ = stream.write_all(&bytes);
        let _ = stream.read_to_end(&mut Vec::new());
    });
    address
}

#[test]
fn a_guest_with_a_token_plays_with_nobody_who_does_not_know_it() {
    let welcome = || {
        Body::Welcome(Box::new(Welcome {
            minor: 0,
            mode: Mode::Exact,
            capabilities: 0,
            session: 1,
            node_count: 2,
            step: 1,
            horizon: 1,
            cycle: (1, 1),
            max_payload: 512,
            window: 1,
            stall_ms: 1000,
            seed: 1,
            pace: 0,
        }))
    };
    let token = Some(Token::new(b"a long enough secret").unwrap());
    let config = Config { token, patience: Duration::from_secs(20), ..Config::new("guest", 0) };
    for answers in [
        vec![welcome()],
        vec![Body::Challenge([1; 32]), welcome()],
        vec![Body::Challenge([1; 32]), Body::Proof([2; 32]), welcome()],
    ] {
        let refused = Guest::connect(&imposter(answers.clone()), &config).map(drop);
        assert!(matches!(refused, Err(GuestError::Unproved)), "{answers:?}: {refused:?}");
    }
}

#[test]
fn a_guest_that_leaves_before_time_begins_gives_its_node_back() {
    for tcp in [true, false] {
        let table = Table { tcp, ..Table::new(16) };
        let mut visitors = None;
        let connections = table.gather(2, |address| {
            let address = address.clone();
            visitors = Some(thread::spawn(move || {
                let patience = Duration::from_secs(60);
                drop(Guest::connect(&address, &Config { patience, ..Config::new("first", 0) }).unwrap());
                let second = Guest::connect(&address, &Config { patience, ..Config::new("second", 0) }).unwrap();
                (second, Guest::connect(&address, &Config { patience, ..Config::new("third", 1) }).unwrap())
            }));
        });
        let names: Vec<&str> = connections.iter().map(|connection| connection.hello.name.as_str()).collect();
        assert_eq!(names, ["second", "third"]);
        drop(visitors.unwrap().join().unwrap());
    }
}

/// A guest at node 2 that waits for a message, and disappears after a moment.
fn impatient(moment: Duration) -> (Config, Part) {
    let part: Part = Box::new(|mut guest: Guest| guest.receive_message().map(drop));
    (Config { patience: moment, ..Config::new("impatient", 2) }, part)
}

#[test]
fn a_guest_that_dies_while_the_network_simulates_is_found_dead_then() {
    // Some minutes of simulation.
    const BYTES: u64 = 1 << 30;
    let sender: Part = Box::new(|mut guest: Guest| {
        guest.send(2, BYTES, &[])?;
        guest.receive_message().map(drop)
    });
    let parts = vec![(Config::new("sender", 0), sender), impatient(Duration::from_secs(1))];
    let (outcome, report, _) = attempt(&Table::new(16), &mut network(), parts);
    let Some(Failure::Source(error)) = outcome.failure else { panic!("{:?}", outcome.failure) };
    assert!(error.what.contains("guest `impatient` (node 2), waiting for a message"), "{error}");
    assert!(outcome.cycles < BYTES / 4 && report.deliveries == 0, "the message is still on its way");
}

#[test]
fn a_guest_that_dies_while_another_has_the_turn_is_found_dead_then() {
    let busy: Part = Box::new(|mut guest: Guest| {
        guest.advance(10)?;
        thread::sleep(Duration::from_secs(4));
        guest.finish("done")
    });
    let parts = vec![(Config::new("busy", 0), busy), impatient(Duration::from_secs(1))];
    let (outcome, report, _) = attempt(&Table::new(16), &mut network(), parts);
    let Some(Failure::Source(error)) = outcome.failure else { panic!("{:?}", outcome.failure) };
    assert!(error.what.contains("guest `impatient` (node 2), waiting for a message"), "{error}");
    assert!(!report.guests[0].left, "the other one still has the turn: {report:?}");
}

#[test]
fn what_others_could_reach_needs_a_token_and_a_socket_is_private() {
    let open = Endpoint::bind(&"0.0.0.0:0".parse().unwrap(), None);
    assert!(matches!(open, Err(EndpointError::Open { .. })));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fsin.sock");
    let address = Address::Unix(path.clone());
    let endpoint = Endpoint::bind(&address, None).unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(matches!(Endpoint::bind(&address, None), Err(EndpointError::Listen { .. })), "in use");
    drop(endpoint);
    assert!(!path.exists());
}

#[test]
fn centrals_without_nodes_do_not_keep_others_out() {
    let table = Table::new(16);
    let mut visitors = None;
    let connections = table.gather(2, |address| {
        let address = address.clone();
        visitors = Some(thread::spawn(move || {
            let central = |group: u32| {
                let config = Config { nodes: Vec::new(), ..Config::new("central", 0) }.central(group);
                Guest::connect(&address, &config)
            };
            let welcome = [central(1).unwrap(), central(2).unwrap()];
            let told = central(3).unwrap_err().to_string();
            assert!(told.contains("the run takes 2 nodes, and has as many centrals"), "{told}");
            (welcome, [0, 1].map(|node| Guest::connect(&address, &Config::new("guest", node)).unwrap()))
        }));
    });
    assert_eq!(connections.len(), 4);
    drop(visitors.unwrap().join().unwrap());
}

#[test]
fn a_path_that_is_no_socket_or_too_long_for_one_is_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    let said = |path: std::path::PathBuf| {
        let error = Endpoint::bind(&Address::Unix(path), None).unwrap_err();
        format!("{error}; {}", error.remedy())
    };
    let file = folder.path().join("notes");
    std::fs::write(&file, "mine").unwrap();
    let refused = said(file.clone());
    assert!(refused.contains("exists, and is no socket") && refused.contains("use a path"), "{refused}");
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    let long = folder.path().join("s".repeat(120));
    let refused = said(long.clone());
    assert!(refused.contains("and that of a socket at most"), "{refused}");
    // A guest does not wait for an hour for the impossible.
    let config = Config { patience: Duration::from_secs(3600), ..Config::new("guest", 0) };
    let told = Guest::connect(&Address::Unix(long), &config).map(drop).unwrap_err().to_string();
    assert!(told.contains("and that of a socket at most"), "{told}");
}

#[test]
fn a_guest_that_dies_while_it_waits_is_found_dead_when_nothing_else_is_left() {
    let waiting = || -> (Config, Part) {
        let part: Part = Box::new(|mut guest: Guest| {
            guest.send(0, 64, &[])?;
            // Its thread waits for ever for a message; its impatience cuts the connection.
            guest.receive_message().map(drop)
        });
        (Config { patience: Duration::from_secs(2), ..Config::new("waiting", 2) }, part)
    };
    let slow = || -> (Config, Part) {
        let part: Part = Box::new(|mut guest: Guest| {
            guest.receive_message()?;
            thread::sleep(Duration::from_millis(4500));
            guest.finish("done")
        });
        (Config::new("slow", 0), part)
    };
    let table = Table { lost: LostGuest::DropNode, ..Table::new(16) };
    let (outcome, report, _) = attempt(&table, &mut network(), vec![slow(), waiting()]);
    assert_eq!(outcome.failure, None);
    assert!(report.guests[1].lost.as_ref().is_some_and(|why| why.contains("closed the connection")), "{report:?}");
    assert!(report.guests[0].left);
    let (outcome, ..) = attempt(&Table::new(16), &mut network(), vec![slow(), waiting()]);
    let Some(Failure::Source(error)) = outcome.failure else { panic!("{:?}", outcome.failure) };
    assert!(error.what.contains("guest `waiting` (node 2), waiting for a message"), "{error}");
}
