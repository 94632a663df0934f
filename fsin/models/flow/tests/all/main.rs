//! What the flow model says of its settings, and what runs by them give, each beside what it was.
//!
//! What changes fails here: if it is meant, CHANGELOG says so, under **results change** where it is a number, and the
//! list is accepted with `INSTA_UPDATE=always cargo test -p fsin-flow`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../../core/tests/settings/mod.rs"]
mod settings;

/// Settings, a run on each line.
const LINES: &str = "\
topology=torus:4x4
topology=torus:3x5; fairness=rtt; propagation=100ns; weight-s=20537; tcp-gamma=65536
topology=mesh:3x4; fairness=split; paths=spray
topology=torus:2x3x5; paths=adaptive; routing=adaptive; hop-delay=50ns
topology=tpu:2x2x4; link-delay=30ns; tick=10ns
topology=tpu:4x4; injectors=2; header-bytes=64; packet-bytes=1024
topology=torus:4x4; node-rate=5Gb/s; cross-traffic=.05
topology=fattree:4,3; paths=hash
topology=fattree:3,2; paths=spray; link-delay=10ns:20ns
topology=thintree:4,2,2; paths=adaptive; interface=at-once
topology=slimtree:6,3,2; node-rate=4Gb/s; injectors=3
topology=dragonfly:p=2,a=4,h=2; link-delay=10ns:20ns:500ns; paths=adaptive
topology=dragonfly:p=1,a=3,h=2; link-delay=10ns:20ns
topology=hyperx:2x5:3; routing=adaptive; interface=serial
topology=cmesh:4x4:4:express; interface=serial:2
topology=slimfly:q=5,p=1; flow-preset=simgrid-lv08
topology=star:7; flow-preset=simgrid-cm02; propagation=10us
topology=star:7; flow-preset=inrflow; fairness=maxmin
topology=star:7; flow-preset=gromacs
topology=cluster:nodes=4,gpus=4,up-rate=400Gb/s,up-delay=100ns,out-rate=100Gb/s,out-delay=1us; interface=per-destination
topology=rail:k=2,of=(star:4),rate=100Gb/s; latency-factor=13.01; bandwidth-factor=.97; propagation=2us
topology=fattree:4,2; fail=node:20@20us,repair:node:20@90us
topology=torus:4x4; fail=link:0-1@0
topology=torus:4x4; fail=link:0-1@10us,repair:link:0-1@30us,link:5-6@20us; routing=shortest
topology=star:5; fail=node:2@5us
topology=torus:4x4; weight-s=-1
topology=torus:4x4; packet-bytes=0
topology=torus:4x4; header-bytes=5000000000
topology=torus:4x4; tick=0ns
topology=torus:4x4; link-rate=0b/s
topology=torus:4x4; link-rate=1Pb/s
topology=torus:4x4; propagation=3
topology=torus:4x4; propagation=9999999s
topology=torus:4x4; link-delay=1ns:2ns
topology=torus:4x4; hop-delay=20000000s
topology=torus:4x4; bandwidth-factor=0
topology=torus:4x4; bandwidth-factor=1.5
topology=torus:4x4; cross-traffic=2
topology=torus:4x4; latency-factor=x
topology=torus:4x4; injectors=9
topology=torus:4x4; injectors=0
topology=torus:4x4; routing=tree:static
topology=torus:4x4; interface=interleaved:2
topology=torus:4x4; paths=some
topology=torus:4x4; fairness=none
";

#[test]
fn settings_say_and_do_what_they_did() {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("settings", settings::said(&fsin_flow::FLOW, LINES));
    });
}
