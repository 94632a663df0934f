//! Frames as bytes: the test vectors, round trips, and hostile streams.

use crate::clock::FOREVER;
use crate::codec::{Codec, CodecError};
use crate::protocol::{Body, Class, Code, Deliver, HEADER, Hello, Inject, Malformed, Mode, Role, Welcome};
use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use tokio_util::codec::Decoder;

/// The contents of the vectors in `docs/tgp1-vectors.txt`: endpoint, time and body of each frame, in order.
fn vectors() -> Vec<(&'static str, u16, u64, Body)> {
    let hello = Hello {
        major: 1,
        minor: 0,
        capabilities: 0,
        class: Class::Causal,
        role: Role::Central,
        group: 3,
        step: 100_000_000,
        slack: 0,
        max_payload: 1 << 20,
        manifest: [0xab; 32],
        name: "ping".to_owned(),
        nodes: vec![0, 7],
    };
    let welcome = Welcome {
        minor: 0,
        mode: Mode::Exact,
        capabilities: 0,
        session: 1,
        node_count: 64,
        step: 3200,
        horizon: 3200,
        cycle: (3200, 1),
        max_payload: 1 << 20,
        window: 1 << 16,
        stall_ms: 60_000,
        seed: 1,
        pace: 0,
    };
    let payload = Bytes::from_static(b"hello");
    let inject = Inject {
        destination: 7,
        notify: true,
        size: 64,
        cookie: 42,
        unmodelled: false,
        identified: None,
        payload: payload.clone(),
    };
    let envelope = Inject { size: 0, notify: false, unmodelled: true, ..inject.clone() };
    let identified = Inject { identified: Some(2), ..envelope.clone() };
    let deliver = Deliver { source: 0, source_sequence: 3, cookie: 42, injected: 3200, late: 0, size: 64, payload };
    vec![
        ("hello", 0, 0, Body::Hello(Box::new(hello))),
        ("challenge", 0, 0, Body::Challenge([1; 32])),
        ("proof", 0, 0, Body::Proof([2; 32])),
        ("welcome", 0, 0, Body::Welcome(Box::new(welcome))),
        ("go-ahead", 0, 0, Body::GoAhead { until: FOREVER, notices: 0 }),
        ("inject", 1, 3200, Body::Inject(inject)),
        ("mark", 0, 3200, Body::Mark { label: "begin".to_owned() }),
        ("timestamp", 0, 3200, Body::Timestamp { next: FOREVER, injects: 1 }),
        ("done", 1, 6400, Body::Done { cookie: 42 }),
        ("deliver", 0, 64_000, Body::Deliver(deliver)),
        ("bye", 0, 64_000, Body::Bye { reason: "done".to_owned(), injects: 1, notices: 2 }),
        ("error", 0, 64_000, Body::Error { code: Code::Order, text: "out of turn".to_owned() }),
        ("part", 1, 64_000, Body::Part(Bytes::from_static(b"more"))),
        ("inject-unmodelled", 1, 64_000, Body::Inject(envelope)),
        ("busy", 0, 64_000, Body::Busy { until: 128_000 }),
        ("awaits", 0, 64_000, Body::Awaits { sources: vec![1, 3] }),
        ("inject-identified", 1, 64_000, Body::Inject(identified)),
    ]
}

#[test]
fn the_vectors_are_what_the_codec_writes_and_reads() {
    let mut text = String::from("# Test vectors of TGP/1: name, frame in hexadecimal. Frames are numbered from 0.\n");
    let mut writer = Codec::default();
    let mut all = BytesMut::new();
    for (name, endpoint, time, body) in vectors() {
        let start = all.len();
        writer.put(endpoint, time, &body, &mut all);
        let hex: String = all[start..].iter().map(|byte| format!("{byte:02x}")).collect();
        text.push_str(&format!("{name} {hex}\n"));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/codec/tgp1-vectors.txt");
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    let mut reader = Codec::default();
    for (sequence, (_, endpoint, time, body)) in vectors().into_iter().enumerate() {
        let frame = reader.decode(&mut all).unwrap().unwrap();
        assert_eq!((frame.endpoint, frame.time, frame.sequence, frame.body), (endpoint, time, sequence as u64, body));
    }
    assert!(all.is_empty());
}

#[test]
fn an_oversize_frame_is_refused_by_its_header() {
    let mut bytes = BytesMut::from(&[0xff; HEADER][..]);
    let capacity = bytes.capacity();
    let error = Codec::default().decode(&mut bytes).unwrap_err();
    assert!(matches!(error, CodecError::Malformed(Malformed::Oversize { found: u32::MAX, .. })));
    assert_eq!(bytes.capacity(), capacity, "nothing was allocated for it");
}

#[test]
fn unknown_types_are_skipped_only_if_they_say_so() {
    let frame = |flags: u8| {
        let mut bytes = BytesMut::zeroed(HEADER);
        (bytes[4], bytes[5]) = (200, flags);
        bytes
    };
    assert!(matches!(Codec::default().decode(&mut frame(1)), Ok(None)));
    let error = Codec::default().decode(&mut frame(0)).unwrap_err();
    assert!(matches!(error, CodecError::Malformed(Malformed::UnknownType { kind: 200 })));
}

/// Reads a valid stream with some bytes changed and noise at its end, in pieces of `cut` bytes. The codec may return
/// frames or an error, and must not panic.
fn read_hostile(changes: &[(prop::sample::Index, u8)], cut: usize, noise: &[u8]) {
    let mut stream = BytesMut::new();
    let mut writer = Codec::default();
    for (_, endpoint, time, body) in vectors() {
        writer.put(endpoint, time, &body, &mut stream);
    }
    for (index, byte) in changes {
        let at = index.index(stream.len());
        stream[at] = *byte;
    }
    stream.extend_from_slice(noise);
    let (mut reader, mut arrived) = (Codec::default(), BytesMut::new());
    for piece in stream.chunks(cut) {
        arrived.extend_from_slice(piece);
        loop {
            match reader.decode(&mut arrived) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
    let _ = reader.decode_eof(&mut arrived);
}

/// Arguments of [`read_hostile`].
fn hostile() -> impl Strategy<Value = (Vec<(prop::sample::Index, u8)>, usize, Vec<u8>)> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    (changes, 1usize..64, prop::collection::vec(any::<u8>(), 0..64))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_stream_makes_the_codec_panic((changes, cut, noise) in hostile()) {
        read_hostile(&changes, cut, &noise);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000_000))]

    #[test]
    #[ignore = "a million streams take a while"]
    fn no_stream_of_a_million_makes_the_codec_panic((changes, cut, noise) in hostile()) {
        read_hostile(&changes, cut, &noise);
    }
}
