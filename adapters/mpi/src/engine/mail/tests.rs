//! Matching: order, wildcards, overtaking, and the envelope.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bytes::Bytes;
use proptest::prelude::*;

use crate::shared::Place;

use super::{ANSWERS, Content, ENVELOPE, LONG, LONG_ENVELOPE, Letter, Mail, Message, Owner, PLAIN, SYNCHRONOUS, open};

const WORLD: u64 = 1;

/// A message of `source`, the `sequence`th to this rank, that arrives at `time`.
fn message(source: usize, tag: i64, sequence: u64, time: u64) -> Message {
    let data = Content::Here(Bytes::copy_from_slice(&[source as u8, sequence as u8]));
    let order = (time, source, sequence);
    Message { kind: PLAIN, source, tag, context: WORLD, note: 0, data, time, sequence, order }
}

fn post(mail: &mut Mail, request: i32, source: Option<usize>, tag: Option<i64>) -> Option<Message> {
    mail.post(Owner::Request(request), (source, tag), WORLD, 0)
}

/// Gives a message that has its turn to the receives, and returns the request that gets it.
fn offer(mail: &mut Mail, message: Message) -> Option<i32> {
    mail.offer(message).map(|(posted, _)| posted.owner.request())
}

#[test]
fn the_first_posted_receive_gets_the_message() {
    let mut mail = Mail::new(4);
    for (request, source, tag) in [(1, Some(2), Some(7)), (2, None, Some(7)), (3, Some(2), None), (4, None, None)] {
        assert!(post(&mut mail, request, source, tag).is_none());
    }
    assert_eq!(offer(&mut mail, message(3, 9, 0, 10)), Some(4));
    assert_eq!(offer(&mut mail, message(2, 8, 0, 11)), Some(3));
    assert_eq!(offer(&mut mail, message(2, 7, 1, 12)), Some(1));
    assert_eq!(offer(&mut mail, message(2, 7, 2, 13)), Some(2));
    assert_eq!(offer(&mut mail, message(2, 7, 3, 14)), None);
    assert_eq!(mail.unreceived(), 1);
}

#[test]
fn a_receive_gets_the_first_message_in_the_order_of_arrivals() {
    let mut mail = Mail::new(4);
    // Processed in another order than that of arrivals, as by waits for named sources.
    for one in [message(3, 1, 0, 30), message(1, 1, 0, 10), message(2, 1, 0, 10), message(1, 2, 1, 20)] {
        assert_eq!(offer(&mut mail, one), None);
    }
    let mut received = |source, tag| post(&mut mail, 1, source, tag).map(|message| (message.source, message.tag));
    assert_eq!(received(None, Some(2)), Some((1, 2)));
    assert_eq!(received(None, None), Some((1, 1)));
    assert_eq!(received(None, None), Some((2, 1)));
    assert_eq!(received(Some(3), None), Some((3, 1)));
    assert_eq!(received(None, None), None);
}

#[test]
fn communicators_and_answers_are_apart() {
    let mut mail = Mail::new(2);
    assert!(mail.post(Owner::Request(1), (None, None), WORLD + 1, 0).is_none());
    assert!(mail.post(Owner::Request(2), (None, None), WORLD ^ ANSWERS, 0).is_none());
    assert_eq!(offer(&mut mail, message(1, 0, 0, 0)), None);
    assert_eq!(mail.find(None, None, WORLD).map(|(position, found)| (position, found.source)), Some((0, 1)));
    assert!(mail.find(None, None, WORLD + 1).is_none() && mail.find(Some(0), None, WORLD).is_none());
    assert_eq!(mail.take_out(0).map(|message| message.source), Some(1));
    assert!(mail.find(None, None, WORLD).is_none() && mail.take_out(0).is_none());
}

#[test]
fn a_receive_that_is_taken_back_gets_nothing() {
    let mut mail = Mail::new(2);
    assert!(post(&mut mail, 1, None, None).is_none() && post(&mut mail, 2, None, None).is_none());
    assert!(mail.unpost(Owner::Request(1)) && !mail.unpost(Owner::Request(1)));
    assert_eq!(offer(&mut mail, message(0, 0, 0, 0)), Some(2));
    assert!(!mail.unpost(Owner::Request(2)));
}

#[test]
fn one_that_overtakes_waits_and_comes_after_the_other() {
    let mut mail = Mail::new(3);
    assert!(mail.admit(message(1, 0, 2, 5)).is_none());
    assert!(mail.admit(message(1, 0, 1, 6)).is_none());
    // Messages of other ranks do not wait.
    assert!(mail.admit(message(2, 0, 0, 7)).is_some());
    let first = mail.admit(message(1, 0, 0, 8)).unwrap();
    let second = mail.overtaken(1, first.order.0).unwrap();
    let third = mail.overtaken(1, second.order.0).unwrap();
    assert_eq!([first, second, third].map(|message| message.order), [(8, 1, 0), (8, 1, 1), (8, 1, 2)]);
    assert!(mail.overtaken(1, 8).is_none());
    assert!(mail.admit(message(9, 0, 0, 9)).is_none(), "there is no rank 9");
}

#[test]
fn messages_to_a_rank_are_numbered() {
    let mut mail = Mail::new(2);
    assert_eq!([mail.number(1), mail.number(1), mail.number(0), mail.number(1)], [0, 1, 0, 2]);
}

/// What happens to a rank: a message arrives, or a receive is posted.
#[derive(Clone, Debug)]
enum Happening {
    Arrives(usize, i64),
    Posts(Option<usize>, Option<i64>),
}

fn happening() -> impl Strategy<Value = Happening> {
    let filter = (prop::option::of(0..3_usize), prop::option::of(0..3_i64));
    prop_oneof![
        (0..3_usize, 0..3_i64).prop_map(|(source, tag)| Happening::Arrives(source, tag)),
        filter.prop_map(|(source, tag)| Happening::Posts(source, tag)),
    ]
}

/// The rule of the standard, written down: pairs of messages and receives by their numbers, when messages arrive in
/// this order.
fn by_the_standard(all: &[Happening]) -> Vec<(usize, usize)> {
    let accepts = |receive: &Happening, message: &Happening| match (receive, message) {
        (Happening::Posts(source, tag), Happening::Arrives(from, with)) => {
            source.is_none_or(|source| source == *from) && tag.is_none_or(|tag| tag == *with)
        }
        _ => false,
    };
    let mut free: Vec<usize> = Vec::new();
    let mut pairs = Vec::new();
    for now in 0..all.len() {
        let other =
            free.iter().position(|&before| accepts(&all[now], &all[before]) || accepts(&all[before], &all[now]));
        match other.map(|index| free.remove(index)) {
            Some(before) if matches!(all[now], Happening::Posts(..)) => pairs.push((before, now)),
            Some(before) => pairs.push((now, before)),
            None => free.push(now),
        }
    }
    pairs.sort_unstable();
    pairs
}

proptest! {
    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code")]
    fn matching_is_that_of_the_standard(all in prop::collection::vec(happening(), 0..40)) {
        let (mut mail, mut pairs, mut sent) = (Mail::new(3), Vec::new(), [0; 3]);
        // The time of a message is the number of the happening.
        for (now, one) in all.iter().enumerate() {
            match *one {
                Happening::Arrives(source, tag) => {
                    let admitted = mail.admit(message(source, tag, sent[source], now as u64)).unwrap();
                    sent[source] += 1;
                    pairs.extend(offer(&mut mail, admitted).map(|receive| (now, receive as usize)));
                }
                Happening::Posts(source, tag) => {
                    let found = post(&mut mail, now as i32, source, tag);
                    pairs.extend(found.map(|message| (message.time as usize, now)));
                }
            }
        }
        pairs.sort_unstable();
        prop_assert_eq!(pairs, by_the_standard(&all));
    }

    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code")]
    fn messages_of_a_sender_are_processed_in_its_order(
        order in Just((0..12_u64).collect::<Vec<u64>>()).prop_shuffle(),
    ) {
        let (mut mail, mut processed) = (Mail::new(2), Vec::new());
        for (time, &sequence) in order.iter().enumerate() {
            let mut next = mail.admit(message(1, 0, sequence, time as u64));
            while let Some(message) = next {
                processed.push(message.order);
                next = mail.overtaken(1, message.order.0);
            }
        }
        prop_assert!(processed.is_sorted());
        let sequences: Vec<u64> = processed.iter().map(|order| order.2).collect();
        prop_assert_eq!(sequences, (0..12).collect::<Vec<u64>>());
    }

    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code")]
    fn an_envelope_keeps_what_it_carries(
        (context, tag, sequence, note) in any::<(u64, i64, u64, u64)>(), data in any::<Vec<u8>>(), cut in 0..ENVELOPE,
        length in prop_oneof![Just(0), LONG - 1..=LONG + 1], offset in any::<u64>(),
    ) {
        let data = [data, vec![7; length]].concat();
        let mut letter = Letter::with_room(data.len());
        letter.end().extend_from_slice(&data);
        let sealed = letter.seal(SYNCHRONOUS, (context, tag), sequence, note, None);
        let read = open(5, &sealed, 3, 4).unwrap();
        prop_assert_eq!((read.kind, read.source, read.context, read.tag), (SYNCHRONOUS, 5, context, tag));
        prop_assert_eq!((read.note, read.time, read.order), (note, 3, (4, 5, sequence)));
        let Content::Here(found) = read.data else { panic!("the data are not stored") };
        prop_assert_eq!(&found[..], &data[..]);
        // Wherever long data are, the same bytes tell the message from others.
        let mut letter = Letter::with_room(data.len());
        letter.end().extend_from_slice(&data);
        let place = Place { offset, length: data.len() as u64 };
        let stored = letter.seal(SYNCHRONOUS, (context, tag), sequence, note, Some(place));
        if data.len() >= LONG {
            prop_assert_eq!(&stored[..LONG_ENVELOPE], &sealed[..LONG_ENVELOPE]);
            prop_assert!(stored.len() < 80 && open(5, &stored.slice(..stored.len() - 1), 3, 4).is_none());
            let Content::Stored(found) = open(5, &stored, 3, 4).unwrap().data else { panic!("the data are stored") };
            prop_assert_eq!(found, place);
        } else {
            prop_assert_eq!(stored, sealed.clone());
        }
        prop_assert!(open(5, &sealed.slice(..cut), 3, 4).is_none());
    }
}
