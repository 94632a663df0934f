//! For any bytes, reading ends with a program or with an error and its place; it never panics.

use std::io::Write as _;

use liblzma::write::XzEncoder;
use proptest::prelude::*;
use trgen::trace::formats::{ReadOptions, Trace, read_bytes};
use trgen::trace::program::Event;

/// Reads as every format: a result is sound, and an error has a place and a reason.
fn probe(bytes: &[u8]) {
    for from in [None, Some("fsin-trc"), Some("simgrid-ti")] {
        let options = ReadOptions { from: from.map(str::to_owned), max_events: 100_000, ..ReadOptions::default() };
        match read_bytes("probe", bytes, &options) {
            Ok(trace) => sound(&trace),
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with("probe"), "{text}");
                assert!(!text.contains('\n'), "one line: {text}");
                let _ = error.remedy();
            }
        }
    }
}

/// Peers exist, and every wait is for a request in use.
fn sound(trace: &Trace) {
    let tasks = trace.program.tasks.len();
    let _ = trace.program.totals();
    for events in &trace.program.tasks {
        let mut in_use = std::collections::HashSet::new();
        for event in events {
            match event {
                Event::Send(send) => assert!(send.to.index() < tasks),
                Event::Isend(send, request) => assert!(send.to.index() < tasks && in_use.insert(*request)),
                Event::Recv(receive) => assert!(receive.from.is_none_or(|from| from.index() < tasks)),
                Event::Irecv(receive, request) => {
                    assert!(receive.from.is_none_or(|from| from.index() < tasks) && in_use.insert(*request));
                }
                Event::Wait(request) => assert!(in_use.remove(request)),
                Event::WaitAll(list) => assert!(list.iter().all(|request| in_use.remove(request))),
                Event::WaitAny(list) => assert!(list.iter().any(|request| in_use.contains(request))),
                Event::Compute(time) => assert!(time.0 > 0),
                Event::After(_) => panic!("no log has it"),
            }
        }
    }
}

const TRC: &str = "c 0 100\ns 0 1 7 64\nr 0 1 7 64\ns 1 2 7 32\nr 1 2 7 32\ns 2 0 7 16\nr 2 0 7 16\nc 2 1.5\n";

const TI: &str = "\
0 init\n1 init 1\n0 compute 1e6\n0 send 1 4 100 0\n1 recv 0 4 100 0\n0 irecv 1 5 20 1\n1 isend 0 5 20 1\n0 wait 1 0 5\n\
1 waitall 1\n0 alltoallv 9 1 2 9 3 4 1 1\n1 alltoallv 9 3 4 9 1 2 1 1\n0 barrier\n1 barrier\n0 bcast 3 1 0\n\
1 bcast 3 1 0\n0 gatherv 1 1 2 0 1 1\n1 gatherv 2 1 2 0 1 1\n0 sendRecv 1 1 1 1 0 0\n1 sendRecv 1 0 1 0 0 0\n\
0 scan 1 5 0\n1 scan 1 5 0\n0 reducescatter 1 2 5 1\n1 reducescatter 1 2 5 1\n0 finalize\n1 finalize\n";

fn archive() -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let of_rank = |rank: char| {
        TI.lines().filter(|line| line.starts_with(rank)).map(|line| format!("{line}\n")).collect::<String>()
    };
    for (name, text) in [("t/0", of_rank('0')), ("t/1", of_rank('1')), ("t/index", "0\n1\n".to_owned())] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        builder.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[derive(Clone, Debug)]
enum Change {
    Set(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Copy(usize, usize, usize),
    Truncate(usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let at = |position: usize, length: usize| if length == 0 { 0 } else { position % length };
        match self {
            Self::Set(position, value) if !bytes.is_empty() => {
                let position = at(*position, bytes.len());
                bytes[position] = *value;
            }
            Self::Insert(position, piece) => {
                let position = at(*position, bytes.len());
                bytes.splice(position..position, piece.iter().copied());
            }
            Self::Remove(position, length) => {
                let position = at(*position, bytes.len());
                bytes.drain(position..(position + length).min(bytes.len()));
            }
            Self::Copy(from, length, to) => {
                let (from, to) = (at(*from, bytes.len()), at(*to, bytes.len()));
                let piece = bytes[from..(from + length).min(bytes.len())].to_vec();
                bytes.splice(to..to, piece);
            }
            Self::Truncate(length) => bytes.truncate(at(*length, bytes.len())),
            Self::Set(..) => {}
        }
    }
}

/// Pieces that may trip up parsers.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 1..6),
        prop::sample::select(vec![
            "1000000000000000000",
            "18446744073709551616",
            "-1",
            "1e308",
            "inf",
            "nan",
            "0x1",
            " ",
            "\n",
            "\r\n",
            "\0",
            "-555",
            "-444",
            "é",
            "#",
            "0 waitall\n",
            "1 test 0 1 4\n",
            "0 exscan 1 1\n",
            "1 allgatherv 1 1 1\n",
            "2 init\n",
            "p0 init\n",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, value)| Change::Set(at, value)),
        (any::<usize>(), prop::sample::select(b"0123456789 -.e\ncsrp".to_vec())).prop_map(|(at, v)| Change::Set(at, v)),
        (any::<usize>(), piece()).prop_map(|(at, piece)| Change::Insert(at, piece)),
        (any::<usize>(), 1..20_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        (any::<usize>(), 1..40_usize, any::<usize>()).prop_map(|(from, length, to)| Change::Copy(from, length, to)),
        any::<usize>().prop_map(Change::Truncate),
    ]
}

fn mutated(base: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(change(), 0..6).prop_map(move |changes| {
        let mut bytes = base.clone();
        changes.iter().for_each(|change| change.apply(&mut bytes));
        bytes
    })
}

#[test]
fn the_unchanged_bases_are_valid() {
    for base in [TRC.as_bytes().to_vec(), TI.as_bytes().to_vec(), archive(), xz(&archive())] {
        let trace = read_bytes("base", &base, &ReadOptions::default()).unwrap();
        sound(&trace);
        assert!(trace.program.tasks.len() >= 2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        probe(&bytes);
    }

    #[test]
    fn arbitrary_lines(text in "([csr0-3] ([a-z]{0,9} )?[-0-9e. ]{0,20}\n){0,12}") {
        probe(text.as_bytes());
    }

    #[test]
    fn mutated_trc(bytes in mutated(TRC.as_bytes().to_vec())) {
        probe(&bytes);
    }

    #[test]
    fn mutated_ti(bytes in mutated(TI.as_bytes().to_vec())) {
        probe(&bytes);
    }

    #[test]
    fn mutated_archive(bytes in mutated(archive())) {
        probe(&bytes);
    }

    #[test]
    fn mutated_compressed_archive(bytes in mutated(xz(&archive()))) {
        probe(&bytes);
    }

    #[test]
    fn a_compressed_mutated_archive(bytes in mutated(archive())) {
        probe(&xz(&bytes));
    }
}
