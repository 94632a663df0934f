//! The boundary to C, called as C calls it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod header;
mod hostile;

use std::ffi::{CStr, CString};

use super::*;

fn open(settings: &str) -> u64 {
    let settings = CString::new(settings).unwrap();
    // SAFETY: a text that ends with a zero byte.
    unsafe { fsin_open(settings.as_ptr()) }
}

fn error() -> String {
    // SAFETY: the text of this thread, until the next call that fails.
    unsafe { CStr::from_ptr(fsin_error()) }.to_str().unwrap().to_owned()
}

fn poll(network: u64) -> Option<fsin_event> {
    let mut event = fsin_event { time_ps: 0, since_ps: 0, bytes: 0, tag: 0, cookie: 0, src: 0, dst: 0, kind: 0 };
    // SAFETY: the place of an event.
    let polled = unsafe { fsin_poll(network, &raw mut event) };
    assert!(polled >= 0, "{}", error());
    (polled == 1).then_some(event)
}

/// Lets time pass until nothing can happen any more. Returns the events.
fn drain(network: u64) -> Vec<fsin_event> {
    let mut events = Vec::new();
    loop {
        match fsin_advance(network, FSIN_FOREVER) {
            0 => return events,
            1 => events.extend(std::iter::from_fn(|| poll(network))),
            _ => panic!("{}", error()),
        }
    }
}

#[test]
fn a_message_takes_hops_and_its_length() {
    // A cycle is 32 bits at 10 Gb/s: 3.2 ns. Six hops, and the other 15 phits of a packet.
    let network = open("topology = \"mesh:4x4\"");
    assert_eq!(fsin_nodes(network), 16, "{}", error());
    assert_eq!(fsin_send(network, 0, 15, 64, 7, 8), 0);
    assert_eq!(fsin_schedule(network, 1000, 9), 0);
    let [timer, arrival] = drain(network)[..] else { panic!("two events") };
    let none = fsin_event { time_ps: 1000, since_ps: 0, bytes: 0, tag: 0, cookie: 9, src: 0, dst: 0, kind: FSIN_TIMER };
    assert_eq!(timer, none);
    let time_ps = arrival.time_ps;
    assert_eq!(arrival, fsin_event { time_ps, bytes: 64, tag: 7, cookie: 8, dst: 15, kind: FSIN_DELIVERED, ..none });
    assert_eq!(time_ps % 3200, 0);
    assert_eq!(fsin_time(network), time_ps);
    // Another one, sent on arrival, takes as long: the network is empty again.
    assert_eq!(fsin_send(network, 15, 0, 64, 0, 0), 0);
    let [back] = drain(network)[..] else { panic!("an event") };
    assert_eq!((back.since_ps, back.time_ps), (time_ps, 2 * time_ps));
    assert_eq!(fsin_close(network), 0);
}

#[test]
fn times_are_those_of_the_wire_whatever_lies_between_cycles() {
    // 1 us, and 3 bytes in a nanosecond.
    let network = open("network = \"constant-delay:delay=1us,rate=3GB/s\"\nnodes = 4");
    assert_ne!(network, 0, "{}", error());
    assert_eq!(fsin_advance(network, 12_345), 0);
    assert_eq!(fsin_send(network, 1, 2, 3_000_000, 0, 0), 0);
    let [event] = drain(network)[..] else { panic!("an event") };
    let latency = event.time_ps - event.since_ps;
    assert!((1_001_000_000..1_001_000_000 + 2000).contains(&latency), "{latency}");
    fsin_close(network);
}

#[test]
fn bad_calls_say_why() {
    let fails = |failed: c_int, why: &str| {
        assert_eq!(failed, -1);
        assert!(error().contains(why), "{why}: {}", error());
    };
    let refused = |settings: &str, why: &str| {
        assert_eq!(open(settings), 0);
        assert!(error().contains(why), "{why}: {}", error());
    };
    refused("topology = torus:4x4", "write one `key = value` a line, words in quotes");
    refused("\ntopology = \"tours:4x4\"", "line 2 of the settings: topology: unknown topology `tours`");
    refused("laod = 1", "did you mean `load`");
    refused("load = 0.3", "load has no meaning where a program sends the messages: leave it out");
    refused("topology", "settings");
    refused("network = \"loggops\"", "trace");
    refused("bandwidth = \"fast\"", "bandwidth");
    // SAFETY: null is an error.
    assert_eq!(unsafe { fsin_open(std::ptr::null()) }, 0);
    assert!(error().contains("null pointer"));
    assert_eq!((fsin_nodes(0), fsin_time(77_777)), (0, FSIN_FOREVER));
    assert!(error().contains("no network 77777"));
    let network = open("topology = \"torus:4x4\"");
    fails(fsin_send(network, 0, 16, 1, 0, 0), "no node 16: the network has nodes 0 to 15");
    fails(fsin_send(network, 0, 1, u64::MAX, 0, 0), "too long");
    fails(fsin_schedule(network, u64::MAX, 0), "use an earlier one");
    fails(fsin_advance(network, u64::MAX - 1), "use an earlier one");
    // SAFETY: null is an error.
    fails(unsafe { fsin_poll(network, std::ptr::null_mut()) }, "null pointer");
    assert_eq!(fsin_advance(network, 1000), 0);
    fails(fsin_advance(network, 999), "999 ps have passed: it is 1000 ps");
    assert_eq!(fsin_close(network), 0);
    fails(fsin_close(network), "has been closed");
    fails(fsin_send(network, 0, 1, 1, 0, 0), "has been closed");
    let network = open("network = \"constant-delay:delay=1us\"\nnodes = 4");
    fails(fsin_send(network, 3, 3, 1, 0, 0), "node 3 sends to itself");
    fsin_close(network);
    // Another thread has an error of its own.
    assert_eq!(std::thread::spawn(error).join().unwrap(), "");
}

/// The same calls give the same events, whatever other networks and threads do.
#[test]
fn threads_have_networks_of_their_own() {
    let run = || {
        let network = open("topology = \"torus:4x4\"");
        for node in 0..16 {
            assert_eq!(fsin_send(network, node, (node + 5) % 16, 10_000, 0, u64::from(node)), 0);
        }
        let events = drain(network);
        fsin_close(network);
        events
    };
    let threads: Vec<_> = (0..2).map(|_| std::thread::spawn(run)).collect();
    let events = run();
    assert_eq!(events.len(), 16);
    for thread in threads {
        assert_eq!(thread.join().unwrap(), events);
    }
}
