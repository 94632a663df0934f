//! A row from outside in every family: one registry of this process, and runs that name its components.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::AtomicBool;

use fsin::Registry;
use fsin::catalogue::kinds;
use fsin::experiment::{Experiment, Finished, Origin, Settings, execute};
use fsin::topology::graph::{Format, network, words};
use fsin::topology::{self, Kind, Topology as _};
use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind};
use trgen::rng::Stream;
use trgen::synthetic::{expr, size, spatial};
use trgen::trace::formats::{self, Application, Candidate, Fault, Layout, Trace};
use trgen::trace::kernels;
use trgen::trace::placement::{self, Rule};
use trgen::trace::program::{Event, Program, Receive, Send, Tag, TagFilter};
use trgen::units::TaskId;

const fn named(name: &'static str) -> Component {
    Component { name, about: "a component from outside", parameters: &[], source: "a test" }
}

static PAIRS: Format = Format::new(
    named("pairs"),
    "a list of pairs",
    |text| text.starts_with("pairs"),
    |text, to| {
        for line in words(text, &to.reading().places).skip(1) {
            if let [one, other] = &line?[..] {
                to.edge([one, other], false, &[])?;
            }
        }
        Ok(())
    },
);

static RING: topology::Row = topology::Row {
    component: named("ring"),
    kind: Kind::Direct,
    example: "ring:5",
    build: |words, ways| topology::parse(&format!("torus:{words}"), ways),
};

/// The next node.
#[derive(Debug)]
struct Next(u32);

impl spatial::Pattern for Next {
    fn nodes(&self) -> usize {
        self.0 as usize
    }

    fn destination(&mut self, source: NodeId, _: &mut Stream) -> Option<NodeId> {
        Some(NodeId((source.0 + 1) % self.0))
    }

    fn is_silent(&self, _: NodeId) -> bool {
        false
    }
}

static NEXT: spatial::Entry = expr::Entry {
    component: named("next"),
    aliases: &["onward"],
    build: |_, context| Ok(Box::new(Next(context.nodes()))),
};

/// Messages of three packets.
#[derive(Debug)]
struct Triple(u64);

impl size::Law for Triple {
    fn phits(&mut self, _: &mut Stream) -> u64 {
        3 * self.0
    }

    fn mean(&self) -> f64 {
        3.0 * self.0 as f64
    }

    fn carried(&self) -> f64 {
        self.mean()
    }
}

static TRIPLE: size::Entry = expr::Entry {
    component: named("triple"),
    aliases: &[],
    build: |_, context| Ok(Box::new(Triple(context.packet_phits.into()))),
};

/// Task 0 sends to task 1.
fn ping() -> Program {
    let mut program = Program::new(2);
    let tag = Tag::user(0);
    program.tasks[0].push(Event::Send(Send { to: TaskId(1), tag, bytes: 64 }));
    program.tasks[1].push(Event::Recv(Receive { from: Some(TaskId(0)), tag: TagFilter::Exactly(tag), bytes: 64 }));
    program
}

static PING: kernels::Row =
    kernels::Row::Program(&expr::Entry { component: named("ping"), aliases: &[], build: |_, _| Ok(ping()) });

static BACKWARDS: placement::Row = placement::Row {
    component: named("backwards"),
    parse: |_| Ok(Rule::order(|context| Ok((0..context.geometry.nodes()).rev().map(NodeId::at).collect()))),
};

static TWICE: placement::Row =
    placement::Row { component: named("twice"), parse: |_| Ok(Rule::order(|_| Ok(vec![NodeId(0); 9]))) };

static PINGS: formats::Reader = formats::Reader {
    component: named("pings"),
    find: |source| {
        let files = source.entries().iter().filter(|entry| entry.head.first().is_some_and(|line| line == "ping"));
        files.map(|file| Candidate { label: file.name.clone(), layout: Layout::Whole(file.name.clone()) }).collect()
    },
    read: |source, candidate, _| {
        let mut lines = 0;
        source.visit(std::slice::from_ref(&candidate.label), &mut |_, place, text| {
            let mut words = String::new();
            text.read_to_string(&mut words).unwrap();
            lines = words.lines().count() as u64;
            let fault = Fault::Structure { what: "two pings".to_owned(), remedy: "write one" };
            if lines == 1 { Ok(()) } else { Err(place.error(fault)) }
        })?;
        let (program, notes) = (ping(), Vec::new());
        let warnings = Vec::new();
        let (collectives, algorithms, called) = Default::default();
        let format = "pings";
        Ok(Application::Programs(Trace { program, format, lines, collectives, algorithms, called, notes, warnings }))
    },
};

fn finished(words: &[(&str, &str)]) -> Result<Finished, String> {
    let mut settings = Settings::default();
    for &(key, value) in words {
        settings.set(key, value, Origin::Flag).unwrap();
    }
    let experiment = Experiment::resolve(settings).map_err(|error| error.to_string())?;
    execute(&experiment, &AtomicBool::new(false), &mut |_| ()).map_err(|trouble| trouble.to_string())
}

/// One test, since a registry is installed once in a process.
#[test]
fn every_family_takes_a_row_from_outside() {
    let mut registry = Registry::standard();
    registry.topologies.push(&RING);
    registry.patterns.push(&NEXT);
    registry.sizes.push(&TRIPLE);
    registry.kernels.push(&PING);
    registry.placements.extend([&BACKWARDS, &TWICE]);
    registry.formats.push(&PINGS);
    registry.network_formats.insert(0, &PAIRS);
    registry.install().unwrap();
    assert_eq!(Registry::standard().install().unwrap_err().kind(), ErrorKind::Conflict);

    for name in ["ring", "next", "triple", "ping", "backwards", "pings", "pairs"] {
        assert!(kinds().iter().flat_map(|kind| &kind.members).any(|member| member.component.name == name), "{name}");
    }
    let pairs = network("pairs\na b\nb c\n", "graph:x".to_owned(), None).unwrap();
    assert_eq!((pairs.endpoints(), pairs.nodes()), (3, 6));
    // On a ring, every message to the next node takes one hop.
    let run =
        finished(&[("topology", "ring:8"), ("traffic", "onward"), ("size", "triple"), ("cycles", "2000")]).unwrap();
    assert!(run.outcome.totals.received > 100 && run.outcome.failure.is_none());
    let [near, far] = [[("placement", "consecutive")], [("placement", "backwards")]].map(|more| {
        let base = [("topology", "mesh:8"), ("kernel", "ping")];
        finished(&[&base[..], &more].concat()).unwrap()
    });
    assert_eq!([near, far].map(|run| run.outcome.totals.received), [1, 1]);
    let refused = finished(&[("kernel", "ping"), ("placement", "twice")]).err().unwrap();
    assert!(refused.contains("does not give 2 tasks a node each"), "{refused}");

    let read = |text: &str| formats::read_bytes("pings", text.as_bytes(), &formats::ReadOptions::default());
    assert_eq!(read("ping\n").unwrap().program.tasks.len(), 2);
    assert!(read("ping\nping\n").unwrap_err().to_string().contains("two pings"));
}
