//! What the virtual cut-through model says of its settings, and what runs by them give, each beside what it was; the
//! reference engine gives the same.
//!
//! What changes fails here: if it is meant, CHANGELOG says so, under **results change** where it is a number, and the
//! list is accepted with `INSTA_UPDATE=always cargo test -p fsin-vct --test all`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../../core/tests/settings/mod.rs"]
mod settings;

use std::fmt::Write as _;

use fsin_vct::family::VCT;

/// Settings, a run on each line.
const LINES: &str = "\
topology=torus:4x4
topology=torus:4x4; packet=1; queue=8
topology=torus:3x5; vcs=2; bubble=1; threads=2
topology=torus:7; vcs=1; routing=dor
topology=torus:2x3x5; order=dir; injectors=6; injection=dor
topology=torus:4x4; order=long; arbitration=fifo
topology=torus:4x4; arbitration=longest; consumption=single
topology=torus:4x4; arbitration=random; consumption=2; threads=3
topology=torus:4x4; arbitration=age; inject=serial
topology=torus:4x4; arbitration=highest-vc; injectors=4; injection=longest-path
topology=torus:4x4; routing=bubble:random; injection-queue=1
topology=torus:4x4; routing=bubble:shortest; lbr=3; in-transit-priority=.7
topology=torus:4x4; routing=bubble:adaptive; queue=2
topology=torus:4x4; routing=bubble:oblivious; interface=interleaved:3
topology=torus:4x4; routing=dally:trc; vcs=2; interface=per-port; injectors=4
topology=torus:3x4x2; routing=double:hexa-adaptive; vcs=6
topology=torus:4x4; global-cc=2; global-cc-period=7
topology=torus:4x4; lbr=3; in-transit-priority=.5; timeout-upper=60; timeout-lower=20
topology=torus:4x4; link-delay=3:9; router-delay=2; queue=3
topology=torus:4x4; link-delay=200; queue=2
topology=torus:4x4; faults=3; routing=direct:updown
topology=torus:5x5; faults=2; fault-ways=1; routing=bubble:shortest
topology=torus:4x4; fail=link:0-1@1us,repair:link:0-1@4us; routing=direct:updown
topology=torus:4x4; fail=link:0-1@1us,link:1-2@2us,link:5-6@2us,repair:link:1-2@4us; routing=direct:updown
topology=mesh:3x5; vcs=2
topology=mesh:4x4; bubble=0; routing=dally:adaptive
topology=mesh:4x4; routing=dor; vcs=1
topology=hypercube:4; phit-bytes=8; packet=5
topology=twisted:6x3:3
topology=tpu:2x2x4; packet=32
topology=tpu:4x4; order=dim; threads=2
topology=circulant:15:1,4
topology=midimew:15
topology=spidergon:14
topology=fattree:4,3; threads=2
topology=fattree:3,2; vcs=1; routing=tree:static
topology=fattree:5,2; routing=tree:adaptive; queue=1; consumption=single
topology=thintree:4,2,2; vcs=2; link-delay=5
topology=slimtree:4,2,2; arbitration=age
topology=star:30; threads=2
topology=dragonfly:p=2,a=4,h=2; link-delay=1:1:8
topology=dragonfly:p=1,a=3,h=2; routing=dragonfly:valiant; vcs=4
topology=dragonfly:p=1,a=3,h=2; routing=dragonfly:ugal; vcs=5; threads=2
topology=icube:2x5:3
topology=hyperx:3x3:2; routing=adaptive
topology=cmesh:4x4:4:express
topology=slimfly:q=5,p=1
topology=rrg:s=10,d=4,p=1; routing=graph:shortest; alternatives=1
topology=rrg:s=10,d=4,p=1; routing=graph:updown; faults=2
topology=star:7; vcs=8
topology=fattree:4,2; fail=node:20@1us,repair:node:20@4us; routing=graph:updown
topology=torus:4x4; vcs=0
topology=torus:4x4; vcs=40
topology=torus:4x4; queue=0
topology=torus:4x4; packet=0
topology=torus:4x4; packet=70000
topology=torus:4x4; injectors=0
topology=torus:4x4; bubble=9
topology=torus:4x4; lbr=9
topology=torus:4x4; global-cc=101
topology=torus:4x4; in-transit-priority=2
topology=torus:4x4; timeout-lower=20
topology=torus:4x4; timeout-upper=20; timeout-lower=30
topology=torus:4x4; link-delay=1:2:3
topology=torus:4x4; link-delay=999999999
topology=torus:4x4; consumption=0
topology=torus:4x4; faults=33
topology=torus:4x4; fault-ways=3; faults=1
topology=torus:4x4; alternatives=2
topology=torus:4x4; routing=tree:static
topology=torus:4x4; routing=west-first
topology=fattree:4,2; faults=1
topology=fattree:4,2; order=dir
topology=torus:4x4; threads=0
topology=torus:4x4; arbitration=luck
topology=torus:4x4; injection=luck
topology=torus:4x4; interface=at-once
";

#[test]
fn settings_say_and_do_what_they_did() {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("settings", settings::said(&VCT, LINES));
    });
}

/// Topologies for which every routing is tried.
const TOPOLOGIES: [&str; 8] = [
    "torus:4x4",
    "mesh:3x4",
    "torus:2x3x4",
    "fattree:3,2",
    "dragonfly:p=1,a=3,h=2",
    "icube:2x2:2",
    "hyperx:2x3:2",
    "rrg:s=8,d=3,p=1",
];

#[test]
fn every_routing_does_what_it_did() {
    let mut lines = String::new();
    for carried in (VCT.routings)() {
        let (routing, families) = (carried.component.name, carried.topologies);
        let serves = |topology: &&str| topology.split(':').next().is_some_and(|family| families.contains(&family));
        for topology in TOPOLOGIES.into_iter().filter(serves) {
            for vcs in [3, 6] {
                writeln!(lines, "topology={topology}; routing={routing}; vcs={vcs}").unwrap();
            }
        }
    }
    let said = settings::said(&VCT, &lines);
    let of_runs = |line: &&str| ["topology", "  run", "  refused"].iter().any(|word| line.starts_with(word));
    let list: String = said.lines().filter(of_runs).map(|line| format!("{line}\n")).collect();
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("routings", list);
    });
}
