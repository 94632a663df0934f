//! Guests that hold their turn, busily, and never let time pass: each is named after `--guest-limit`.

use super::*;

/// Sends what `next` gives for the number of a frame, until the endpoint ends the connection. Before an end of a turn
/// it waits for the GoAhead.
fn hold(address: &Address, next: impl Fn(u64) -> Body) {
    let (mut stream, mut codec, _) = introduce(address, Hello { minor: MINOR, ..hello("holder", 2) });
    let (mut incoming, mut buffer) = (BytesMut::new(), [0; 4096]);
    for number in 0.. {
        let body = next(number);
        if matches!(body, Body::Timestamp { .. }) {
            loop {
                match codec.decode(&mut incoming) {
                    Ok(Some(frame)) if matches!(frame.body, Body::GoAhead { .. }) => break,
                    Ok(Some(_)) => {}
                    Ok(None) => match stream.read(&mut buffer) {
                        Ok(read @ 1..) => incoming.extend_from_slice(&buffer[..read]),
                        _ => return,
                    },
                    Err(_) => return,
                }
            }
        }
        let mut bytes = BytesMut::new();
        codec.put(0, 0, &body, &mut bytes);
        if stream.write_all(&bytes).is_err() {
            return;
        }
    }
}

/// What a holder sends as the frame of this number.
type Next = fn(u64) -> Body;

/// The holders, by the name of what they send.
fn holders() -> Vec<(&'static str, Next)> {
    vec![
        ("empty parts", |_| Body::Part(Bytes::new())),
        ("names of sources", |_| Body::Awaits { sources: vec![0, 1] }),
        ("busy for a picosecond more", |number| Body::Busy { until: number }),
        ("busy for a cycle more", |number| Body::Busy { until: number * 1000 }),
        ("the end of a turn at its beginning", |_| Body::Timestamp { next: 0, injects: 0 }),
        ("busy for no longer, and then an empty part", |number| match number % 2 {
            0 => Body::Busy { until: 0 },
            _ => Body::Part(Bytes::new()),
        }),
    ]
}

fn check(protocol: Option<Protocol>) {
    for (what, next) in holders() {
        let mut table = Table { lost: LostGuest::DropNode, hold: Duration::from_millis(300), ..table(3) };
        // Silence is another matter.
        table.terms.stall = Duration::from_secs(3600);
        let (outcome, report, _) = beside_by(&table, protocol, move |address| hold(&address, next));
        assert_eq!(outcome.failure, None, "{what}");
        let why = lost(&report);
        assert!(why.contains("has held its turn for 0.3 s without progress"), "{what}: {why}");
        assert!(why.contains("--guest-limit"), "{what}: {why}");
    }
}

#[test]
fn a_guest_that_holds_its_turn_is_named() {
    check(None);
}

#[test]
fn a_guest_that_holds_its_turn_is_named_without_a_central_order() {
    check(Some(Protocol::NullMessage));
}
