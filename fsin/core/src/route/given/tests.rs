//! Tables as text, and back.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::*;
use crate::route::balance;
use crate::topology::parse;

/// Small networks of all kinds.
const NETWORKS: [&str; 6] =
    ["mesh:3", "twisted:4x8:xy=4", "fattree:2,2", "hyperx:3x2:2", "rrg:s=9,d=4,p=1,seed=2", "circulant:12:1,5"];

/// With more channels than are needed, hops have copies of theirs, and the paths are the same.
#[test]
fn balanced_routes_have_copies_of_their_channels() {
    for (spec, needed) in [("twisted:4x8:xy=4", 2), ("rrg:s=9,d=4,p=1,seed=2", 2), ("mesh:3", 1)] {
        let topology = parse(spec, 2).unwrap();
        let routers = Routers::new(&*topology).unwrap();
        let (few, many) = (balance(&routers, None, 1).unwrap(), balance(&routers, Some(7), 1).unwrap());
        assert_eq!((few.vcs, many.vcs), (needed, 7), "{spec}");
        let ends = routers.endpoints();
        for pair in (0..ends).flat_map(|from| (0..ends).map(move |to| (from, to))) {
            for (one, other) in few.table.path(&routers, pair).zip(many.table.path(&routers, pair)) {
                assert_eq!((one.0, one.1), (other.0, other.1), "{spec}, {pair:?}");
                let Some(mask) = one.2 else { continue };
                let copies = (0..7).filter(|vc| vc % needed == mask.trailing_zeros() as usize);
                assert_eq!(other.2, Some(copies.fold(0, |all, vc| all | 1 << vc)), "{spec}, {pair:?}");
            }
        }
    }
}

#[test]
fn what_is_written_is_read() {
    for spec in NETWORKS {
        let topology = parse(spec, 2).unwrap();
        let routers = Routers::new(&*topology).unwrap();
        let table = balance(&routers, None, 1).unwrap().table;
        for form in [Form::Hops, Form::Paths] {
            let mut text = Vec::new();
            write(&table, &routers, form, &mut text).unwrap();
            let again = read(std::str::from_utf8(&text).unwrap(), &routers).unwrap();
            assert_eq!(again.loads(&routers, 32), table.loads(&routers, 32), "{spec}");
            let mut other = Vec::new();
            write(&again, &routers, form, &mut other).unwrap();
            assert_eq!(text, other, "{spec}");
        }
    }
}

/// A ring of two has two links between the same nodes: the port tells them apart.
#[test]
fn parallel_links_have_ports() {
    let topology = parse("torus:2", 2).unwrap();
    let routers = Routers::new(&*topology).unwrap();
    let text = "current,destination,next,vc,source,port\n0,1,1,,0,1\n1,0,0,,1,0\n";
    let table = read(text, &routers).unwrap();
    let ports = |pair| table.path(&routers, pair).map(|(_, port, _)| port).collect::<Vec<_>>();
    assert_eq!((ports((0, 1)), ports((1, 0))), (vec![1], vec![0]));
    let mut again = Vec::new();
    write(&table, &routers, Form::Hops, &mut again).unwrap();
    assert_eq!(String::from_utf8(again).unwrap(), text);
    assert!(write(&table, &routers, Form::Paths, &mut Vec::new()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_reader_panic(
        header in "(current|destination|next|vc|source|path|vcs|port)(,(current|destination|next|vc|source|path|vcs|port)){0,5}",
        rows in "([0-9]{1,2}[,>| x]){0,40}\n([0-9]{0,2}[,>|\n]){0,80}",
        network in 0..NETWORKS.len(),
    ) {
        let topology = parse(NETWORKS[network], 2).unwrap();
        let routers = Routers::new(&*topology).unwrap();
        let _ = read(&rows, &routers);
        let _ = read(&format!("{header}\n{rows}"), &routers);
    }
}
