//! Classes, shared buffers and PFC by exact figures: headrooms of drawn links, circles of pauses, watchdogs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{advance, drain, engines, graph, message};
use fsin_core::network::{Channel, Injected, NetworkFailure, Notices};
use fsin_ethernet::switch::{Buffer, MarkAt, MarkRule, Marking, Pfc, Switch, Thresholds};
use fsin_ethernet::{Ethernet, Forwarding, Frames, Params, Transport, fast};
use trgen::rng::mix2;
use trgen::{Cycle, Message};

const PFC: Pfc = Pfc { classes: u8::MAX, headroom: None, xon_offset: 3_072, quanta: None, response: 0, watchdog: None };

/// Switches with a buffer and PFC, static routes, and nothing sent again.
fn with_pfc(buffer: Buffer, pfc: Pfc) -> Params {
    let switch = Switch { buffer: Some(buffer), pfc: Some(pfc), ..Switch::default() };
    Params {
        switch,
        forwarding: Forwarding::Static,
        transport: Transport::None,
        frames: Frames::ROCE,
        ..Params::default()
    }
}

/// \[frames\] What is dropped behind a link of `rate` b/s and `delay` ps, whose switch cannot send on: `reverse` sends
/// frames over the link the other way.
fn dropped(rate: u64, delay: u64, mtu: u32, headroom: Option<u64>, reverse: bool) -> u64 {
    let text = format!(
        "digraph {{ edge [rate=\"{rate}b/s\", propagation=\"{delay}ps\"]; H0 -> S; S -> H0; S -> T; T -> S;
         H1 -> T [rate=\"1kb/s\"]; T -> H1 [rate=\"1kb/s\"]; H2 -> T; T -> H2 }}"
    );
    let frames = Frames { mtu, ..Frames::ROCE };
    let buffer = Buffer { bytes: 1 << 30, alpha: 1e-5, reserve: 2_000 };
    let params = Params { frames, segment: mtu - 40, ..with_pfc(buffer, Pfc { headroom, ..PFC }) };
    let mut network = fast::build(&*graph(&text), params, 1).unwrap();
    let most = 40_000_000;
    assert_eq!(network.inject(message(0, 0, 1, most)), Injected::Accepted);
    // The other direction is full when the pause frame must pass.
    if reverse {
        assert_eq!(network.inject(message(1, 2, 0, most)), Injected::Accepted);
    }
    let bits = 8 * u128::from(most) * 1_000_000_000_000 / u128::from(rate);
    let mut notices = Notices::default();
    advance(&mut *network, Cycle(bits as u64), &mut notices).unwrap();
    // Where not even a frame fits into the headroom, nothing comes that would pause.
    assert!(network.details().totals.pauses > 0 || headroom.is_some(), "{rate} {delay} {mtu}");
    network.details().losses().0
}

/// \[frames\] The page's number without a frame of the other direction.
fn least(rate: u64, delay: u64, mtu: u32) -> u64 {
    let (frame, pause, gap) = (f64::from(mtu + 70), 72.0, 12.0);
    ((frame + pause + 2.0 * delay as f64 * rate as f64 / 8e12) / (frame + gap)).floor() as u64 + 1
}

#[test]
fn headrooms_of_sixty_drawn_links_are_enough_and_not_two_frames_too_large() {
    for case in 0..60 {
        let draw = |of: u64, from: f64, to: f64| {
            let share = (mix2(mix2(7, case), of) >> 11) as f64 / (1u64 << 53) as f64;
            (from.ln() + share * (to / from).ln()).exp()
        };
        let rate = draw(1, 10e9, 400e9) as u64;
        let (delay, mtu) = (draw(2, 5e3, 5e6) as u64, draw(3, 1_000.0, 9_000.0) as u32);
        let what = format!("{rate} b/s, {delay} ps, {mtu} bytes");
        assert_eq!([false, true].map(|reverse| dropped(rate, delay, mtu, None, reverse)), [0, 0], "{what}");
        let (count, frame) = (least(rate, delay, mtu), u64::from(mtu + 70));
        assert_eq!(dropped(rate, delay, mtu, Some(count * frame), false), 0, "{what}");
        let short = (count * frame).saturating_sub(2 * frame).max(1);
        assert!(dropped(rate, delay, mtu, Some(short), false) > 0, "{what}: {count} frames");
    }
}

/// Everything goes round the ring in one direction.
const RING: &str =
    "digraph { H0 -> A; A -> H0 [comment=H0]; H1 -> B; B -> H1 [comment=H1]; H2 -> C; C -> H2 [comment=H2];
    edge [comment=\"*\"]; A -> B; B -> C; C -> A; edge [comment=\"\"]; B -> A; C -> B; A -> C }";

/// Sends round the ring in class 5, and in class 2.
fn round(network: &mut dyn Ethernet) {
    for source in 0..3 {
        for class in [5, 2] {
            let id = u64::from(2 * source + u32::from(class == 2));
            let bytes = if class == 5 { 300_000 } else { 900 };
            network.inject(Message { class, ..message(id, source, (source + 2) % 3, bytes) });
        }
    }
}

#[test]
fn a_circle_of_pauses_is_named_by_port_and_class_and_a_watchdog_frees_it() {
    let ring = graph(RING);
    let buffer = Buffer { bytes: 400_000, alpha: 0.125, reserve: 4_096 };
    let params = |pfc| {
        let mut params = with_pfc(buffer, pfc);
        params.switch.used = 0b10_0100;
        params
    };
    for quanta in [None, Some(2_000)] {
        let failures = engines(&*ring, &params(Pfc { quanta, ..PFC })).map(|mut network| {
            round(&mut *network);
            drain(&mut *network).unwrap_err()
        });
        assert_eq!(failures[0], failures[1]);
        let NetworkFailure::Deadlock(deadlock) = &failures[0] else { panic!("{}", failures[0]) };
        let mut nodes: Vec<u32> = deadlock
            .cycle
            .iter()
            .map(|channel| match channel {
                Channel::Class { node, class: 5, .. } => node.0,
                _ => panic!("{channel}"),
            })
            .collect();
        nodes.sort_unstable();
        assert_eq!(nodes, [3, 4, 5], "{deadlock}");
        assert!(deadlock.cycle[0].to_string().ends_with("class 5"), "{}", deadlock.cycle[0]);
    }
    let freed = engines(&*ring, &params(Pfc { watchdog: Some(50_000_000), ..PFC })).map(|mut network| {
        round(&mut *network);
        drain(&mut *network).unwrap();
        let details = network.details();
        let queues = network.settled().figures.unwrap().queues().unwrap();
        let of = queues.classes.iter().find(|of| of.class == 5).unwrap();
        assert!(of.watchdogs > 0 && of.dropped > 0 && of.paused > 0 && of.pause_frames > 0, "{of:?}");
        assert_eq!(of.dropped, details.losses().0);
        details
    });
    assert_eq!(freed[0], freed[1]);
}

/// Full frames of a class without PFC that never find room would be sent again for ever.
#[test]
fn a_buffer_in_which_no_full_frame_finds_room_is_refused() {
    let topology = graph("graph { H0 -- S; H1 -- S; H2 -- S }");
    let frame = u64::from(Frames::ROCE.of(Frames::ROCE.mtu));
    let pfc = |classes| Some(Pfc { classes, headroom: Some(20_000), ..PFC });
    // Headrooms and reserves of three ports and one class.
    let aside = 3 * (20_000 + 4_096);
    for (pfc, used, alpha, least) in [
        (None, 0b1, 0.5, 2 * frame),
        (None, 0b1, 8.0, frame),
        (pfc(0b10), 0b11, 0.25, aside + 4 * frame),
        (pfc(0b10), 0b1, 1.0, frame),
    ] {
        let params = |bytes| {
            let buffer = Some(Buffer { bytes, alpha, reserve: 4_096 });
            let switch = Switch { used, buffer, pfc, ..Switch::default() };
            Params {
                switch,
                forwarding: Forwarding::Static,
                transport: Transport::Roce,
                acks_in_control: Some(true),
                frames: Frames::ROCE,
                segment: Frames::ROCE.mtu,
                segment_header: 0,
                ..Params::default()
            }
        };
        let refused = fsin_ethernet::check(&*topology, &params(least - 1)).unwrap_err();
        assert_eq!(refused.setting(), Some("buffer"), "{refused}");
        assert!(refused.remedy().to_string().contains(&least.to_string()), "{}", refused.remedy());
        for mut network in engines(&*topology, &params(least)) {
            network.inject(message(0, 0, 1, 30_000));
            assert_eq!(drain(&mut *network).unwrap().len(), 1);
        }
    }
    // All classes have PFC: what is not shared is in the headroom.
    let switch = Switch {
        buffer: Some(Buffer { bytes: aside, alpha: 0.1, reserve: 4_096 }),
        pfc: pfc(u8::MAX),
        ..Switch::default()
    };
    let params = Params { switch, frames: Frames::ROCE, forwarding: Forwarding::Static, ..Params::default() };
    assert!(fsin_ethernet::check(&*topology, &params).is_ok());
}

#[test]
fn marks_when_the_last_bit_has_left_are_those_of_the_reference_engine() {
    let topology = graph("digraph { H0 -> S; S -> H0; H1 -> S; S -> H1; H2 -> S; S -> H2; H3 -> S; S -> H3 }");
    let thresholds = Thresholds { min: 3_000, max: 9_000, probability: 0.5 };
    let marking = Some(Marking { rules: vec![MarkRule { class: None, rate: None, thresholds }] });
    let marked = [MarkAt::Departure, MarkAt::Sent, MarkAt::Arrival].map(|mark_at| {
        let switch = Switch { marking: marking.clone(), mark_at, ..Switch::default() };
        let params = Params { switch, forwarding: Forwarding::Static, transport: Transport::None, ..Params::default() };
        let found = engines(&*topology, &params).map(|mut network| {
            (0..3).for_each(|source| {
                network.inject(message(source.into(), source, 3, 30_000));
            });
            drain(&mut *network).unwrap();
            network.details()
        });
        assert_eq!(found[0], found[1], "{mark_at:?}");
        found[0].by_class.iter().flat_map(|of| of.ports.iter().flatten()).map(|of| of.marked).sum::<u64>()
    });
    assert!(marked.iter().all(|&marked| 10 < marked && marked < 63) && marked[1] >= marked[0], "{marked:?}");
}
