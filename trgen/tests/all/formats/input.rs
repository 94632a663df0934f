//! Files, folders and archives: selection, and reports of damage.

use std::io::Write as _;
use std::path::Path;

use liblzma::write::XzEncoder;
use trgen::trace::formats::{Fault, ReadError, ReadOptions, Trace, read, read_bytes};

const TRC: &str = "s 0 1 0 8\nr 0 1 0 8\n";

fn open(bytes: &[u8]) -> Result<Trace, ReadError> {
    read_bytes("x", bytes, &ReadOptions::default())
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = XzEncoder::new(Vec::new(), 6);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, text) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A trace of two ranks that is not tiny: 10000 lines per rank.
fn long_trace() -> Vec<(&'static str, String)> {
    let lines = |rank: u32, line: &str| format!("{rank} {line}\n").repeat(10_000);
    vec![
        ("t/rank-0.txt", lines(0, "send 1 0 8")),
        ("t/rank-1.txt", lines(1, "recv 0 0 8")),
        ("t/index.txt", "rank-0.txt\nrank-1.txt\n".to_owned()),
    ]
}

fn long_tar() -> Vec<u8> {
    let files = long_trace();
    tar(&files.iter().map(|(name, text)| (*name, text.as_str())).collect::<Vec<_>>())
}

#[test]
fn one_file_plain_compressed_archived_or_both() {
    let expected = open(TRC.as_bytes()).unwrap();
    let archive = tar(&[("a/b.trc", TRC)]);
    let twice = [xz(&TRC.as_bytes()[..10]), xz(&TRC.as_bytes()[10..])].concat();
    for bytes in [xz(TRC.as_bytes()), archive.clone(), xz(&archive), twice] {
        assert_eq!(open(&bytes).unwrap(), expected);
    }
}

#[test]
fn a_trace_of_many_files_in_an_archive() {
    let trace = open(&xz(&long_tar())).unwrap();
    assert_eq!(trace.program.totals().point_to_point_messages, 10_000);
    assert_eq!(trace.lines, 20_002);
}

#[test]
fn names_in_an_index_may_be_relative_to_several_folders() {
    let (zero, one) = ("0 send 1 0 8\n", "1 recv 0 0 8\n");
    for index in ["r0\nr1\n", "./r0\n./r1\n", "t/r0\nt/r1\n", "/home/someone/r0\n/home/someone/r1\n", "../t/r0\nt/r1\n"]
    {
        let archive = tar(&[("t/r0", zero), ("t/r1", one), ("t/index", index)]);
        assert_eq!(open(&archive).unwrap().program.tasks.len(), 2, "{index}");
    }
}

#[test]
fn every_truncation_of_an_archive_is_an_error() {
    let archive = long_tar();
    for length in [300, 512, 513, 5_000, 100_000, archive.len() - 2_000] {
        let Err(error) = open(&archive[..length]) else { panic!("{length} bytes are read") };
        assert!(!error.to_string().is_empty());
        if length > 512 {
            assert!(matches!(*error.fault, Fault::Damaged { container: "tar", .. }), "{length}: {error}");
            assert!(error.remedy().unwrap().to_string().contains("fetch it again"));
        }
    }
    let packed = xz(&archive);
    for length in [7, 13, packed.len() / 2, packed.len() - 1] {
        let Err(error) = open(&packed[..length]) else { panic!("{length} bytes are read") };
        assert!(matches!(*error.fault, Fault::Damaged { container: "xz", .. }), "{length}: {error}");
    }
}

#[test]
fn a_damaged_archive_is_an_error() {
    let mut packed = xz(&long_tar());
    let middle = packed.len() / 2;
    packed[middle] ^= 0x10;
    let error = open(&packed).unwrap_err();
    assert!(matches!(*error.fault, Fault::Damaged { container: "xz", .. }), "{error}");
    let mut archive = long_tar();
    // In the size; and a line end in the checksum, which the message quotes.
    for (position, byte) in [(130, b'9'), (150, b'\n')] {
        let before = std::mem::replace(&mut archive[position], byte);
        let error = open(&archive).unwrap_err();
        assert!(matches!(*error.fault, Fault::Damaged { container: "tar", .. }), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
        archive[position] = before;
    }
}

#[test]
fn an_archive_that_claims_more_than_it_has_costs_nothing() {
    let mut header = tar::Header::new_ustar();
    header.set_path("a.trc").unwrap();
    header.set_size(1 << 62);
    header.set_cksum();
    let error = open(header.as_bytes()).unwrap_err();
    assert!(matches!(*error.fault, Fault::TooLarge { .. }), "{error}");
    header.set_size(1 << 30);
    header.set_cksum();
    let error = open(&[header.as_bytes(), TRC.as_bytes()].concat()).unwrap_err();
    assert!(matches!(*error.fault, Fault::Damaged { container: "tar", .. }), "{error}");
    // An endless extended header.
    let mut header = tar::Header::new_ustar();
    header.set_path("x").unwrap();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(40 << 20);
    header.set_cksum();
    let bytes = xz(&[header.as_bytes().to_vec(), vec![b'a'; 41 << 20]].concat());
    let error = open(&bytes).unwrap_err();
    assert!(matches!(*error.fault, Fault::TooLarge { .. }), "{error}");
}

#[test]
fn other_packings_are_named() {
    for (magic, name) in [(&b"\x28\xB5\x2F\xFD"[..], "zstd"), (b"BZh91AY", "bzip2"), (b"PK\x03\x04", "zip")] {
        let error = open(magic).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        assert!(error.remedy().unwrap().to_string().contains("unpack it first"));
    }
}

#[test]
fn gzip_is_read_and_its_damage_named() {
    let packed = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let plain = open(TRC.as_bytes()).unwrap();
    assert_eq!(open(&packed(TRC.as_bytes())).unwrap().program, plain.program);
    assert_eq!(open(&packed(&tar(&[("a.trc", TRC)]))).unwrap().program, plain.program);
    let whole = packed(TRC.as_bytes());
    for length in 2..whole.len() {
        let error = open(&whole[..length]).unwrap_err();
        assert!(matches!(*error.fault, Fault::Damaged { container: "gzip", .. }), "{length}: {error}");
    }
    let mut other = whole.clone();
    let last = other.len() - 5;
    other[last] ^= 1;
    assert!(matches!(*open(&other).unwrap_err().fault, Fault::Damaged { container: "gzip", .. }));
}

#[test]
fn members_of_an_archive_are_named_in_errors() {
    let files = [("r0", "0 send 1 0 8\n"), ("r1", "1 init\n1 recv 0 0 y\n"), ("index.txt", "r0\nr1\n")];
    let error = open(&tar(&files)).unwrap_err();
    assert_eq!(error.to_string(), "x#r1:2: count is `y`, expected a whole number from 0 to 1099511627776");
    let error = open(&tar(&[("r0", "0 init\n"), ("index.txt", "r0\nr1\n")])).unwrap_err();
    assert_eq!(error.to_string(), "x#index.txt:2: names `r1` as the file of rank 1, and there is no such file");
}

#[test]
fn two_members_of_one_name_and_no_member_at_all() {
    let error = open(&tar(&[("a.trc", TRC), ("./a.trc", TRC)])).unwrap_err();
    assert!(error.to_string().contains("#a.trc: damaged or truncated tar (two members have this name)"), "{error}");
    let error = open(&tar(&[("README", "words\n")])).unwrap_err();
    assert!(matches!(*error.fault, Fault::NoTrace { files: 1, .. }), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let error = read(empty.path(), &ReadOptions::default()).unwrap_err();
    assert!(matches!(*error.fault, Fault::NoTrace { files: 0, .. }), "{error}");
}

#[test]
fn several_traces_are_listed_and_one_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some#name.tar.xz");
    std::fs::write(&path, xz(&tar(&[("one.trc", TRC), ("two/x.trc", "c 0 1\n")]))).unwrap();
    let options = ReadOptions::default();
    let error = read(&path, &options).unwrap_err();
    let Fault::SeveralTraces { choices, archive: true } = &*error.fault else { panic!("{error}") };
    assert_eq!(choices, &["one.trc", "two/x.trc"]);
    for (name, tasks) in [("one.trc", 2), ("two/x.trc", 1), ("two", 1), ("./two/", 1)] {
        let chosen = format!("{}#{name}", path.display());
        assert_eq!(read(Path::new(&chosen), &options).unwrap().program.tasks.len(), tasks, "{name}");
    }
    let error = read(Path::new(&format!("{}#tow", path.display())), &options).unwrap_err();
    assert!(matches!(*error.fault, Fault::NoSuchMember { .. }), "{error}");

    let plain = folder.path().join("a.trc");
    std::fs::write(&plain, TRC).unwrap();
    let error = read(Path::new(&format!("{}#a", plain.display())), &options).unwrap_err();
    assert!(error.remedy().unwrap().to_string().contains("leave out"), "{error}");
}

#[test]
fn text_that_is_none_is_refused() {
    let error = open(b"c 0 1\nc \xFF 1\n").unwrap_err();
    assert_eq!(error.to_string(), "x:2: not text: the line holds bytes that are not UTF-8");
    let error = open(b"\x7FXYZ\x02\x01\0\0").unwrap_err();
    assert!(matches!(*error.fault, Fault::UnknownFormat { .. }), "{error}");
    assert!(!error.to_string().contains('\x7F'), "control characters are escaped");
    let mut endless = vec![b' '; (64 << 20) + 10];
    endless[..3].copy_from_slice(b"c 0");
    let error = open(&endless).unwrap_err();
    assert!(matches!(*error.fault, Fault::TooLarge { what: "the line", .. }), "{error}");
}

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// What is said of a file, and the remedy.
fn said(path: &Path) -> String {
    let error = read(path, &ReadOptions::default()).unwrap_err();
    format!("{error} / {}", error.remedy().unwrap_or_default())
}

#[test]
fn files_of_known_formats_that_are_not_read_are_named() {
    let files: [(&str, &[u8], &str, &str); 12] = [
        (
            "x.prv",
            b"#Paraver (01/01/2020 at 00:00):1000_ns:1(2):1:2(1:1,1:1)\n1:1:1:1:1:0:10:1\n",
            "Paraver",
            "prv2dim",
        ),
        ("npu.0.et", b"et: 0.0.4\n", "Chakra", "NAME.RANK.et"),
        ("et.json", b"{\"schema\": \"1.1.1-chakra.0.0.4\", \"nodes\": []}", "Chakra", "NAME.RANK.et"),
        ("kineto.json", b"{\n\"traceEvents\": [{\"ph\": \"X\"}]}", "Chrome", "record"),
        ("metadata", b"/* CTF 1.8 */\ntrace { };", "Common Trace Format", "record"),
        ("stream_0", b"\xC1\x1F\xFC\xC1\x00\x00\x00\x00", "Common Trace Format", "record"),
        ("run.otf", b"00000001:1,2\n", "OTF 1", "OTF2"),
        ("tautrace.0.0.0.trc", b"\x01\x00\x00\x00\x60\xea\x00\x00", "TAU", "tau2otf2"),
        ("a.hpctrace", b"HPCRUN-trace______01.01l", "HPCToolkit", "record"),
        ("a.tra", b"\x55\x54\x4A\x48\x00\x00\x80\x3f", "netrace", "matrix(FILE)"),
        ("a.cap", b"\xD4\xC3\xB2\xA1\x02\x00\x04\x00", "pcap", "setting pcap"),
        ("ember.load", b"[JOB_ID] 10\n[NID_LIST] 0-3\n[MOTIF] Init\n", "SST Ember", "trace-prep generate"),
    ];
    for (name, bytes, what, remedy) in files {
        let folder = folder(&[(name, bytes)]);
        for path in [folder.path().join(name), folder.path().to_owned()] {
            let said = said(&path);
            assert!(said.contains(&format!("`{name}` is ")) && said.contains(what) && said.contains(remedy), "{said}");
        }
    }
}

#[test]
fn the_folder_of_score_p_leads_to_its_events() {
    let folder = folder(&[
        ("profile.cubex", &tar(&[("anchor.xml", "<?xml version='1.0'?>")])),
        ("traces.def", b"x"),
        ("traces.otf2", b"x"),
    ]);
    let found = said(folder.path());
    assert!(found.contains("holds an OTF2 archive, `traces.otf2`"), "{found}");
    assert!(found.contains(&format!("trace-prep import {}", folder.path().join("traces.otf2").display())), "{found}");
    let profile = said(&folder.path().join("profile.cubex"));
    assert!(profile.contains("a profile of Score-P") && profile.contains("SCOREP_ENABLE_TRACING"), "{profile}");
}

#[test]
fn the_file_of_one_rank_of_several_is_no_trace() {
    let pmpi = "MPI_Init:-:0:0:1\nMPI_Barrier:2:0,0,2:3\nMPI_Finalize:4:-\n";
    let dumpi = "MPI_Init entering at walltime 1.0, cputime 1.0 seconds in thread 0.\n\
                 MPI_Init returning at walltime 1.1, cputime 1.1 seconds in thread 0.\n";
    let sets: [(&str, &str, [&str; 2]); 3] = [
        ("split-0000.txt", "split-0001.txt", [dumpi, dumpi]),
        ("log-0.txt", "log-1.txt", [pmpi, pmpi]),
        ("ti_0.txt", "ti_1.txt", ["0 init\n0 send 1 0 8\n", "1 init\n1 recv 0 0 8\n"]),
    ];
    for (first, second, texts) in sets {
        let folder = folder(&[(first, texts[0].as_bytes()), (second, texts[1].as_bytes())]);
        for (rank, name) in [first, second].into_iter().enumerate() {
            let said = said(&folder.path().join(name));
            assert!(said.contains(&format!("holds rank {rank} of 2 alone")), "{said}");
            assert!(said.contains(&format!("give the folder: {}", folder.path().display())), "{said}");
        }
    }
    // Two traces of all ranks each.
    let whole = b"0 send 1 0 8\n1 recv 0 0 8\n";
    let folder = folder(&[("run0.ti", whole), ("run1.ti", whole)]);
    assert_eq!(read(&folder.path().join("run0.ti"), &ReadOptions::default()).unwrap().program.tasks.len(), 2);
}
