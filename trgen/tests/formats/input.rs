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
    for (magic, name) in [(&b"\x1F\x8B\x08\0"[..], "gzip"), (b"BZh91AY", "bzip2"), (b"PK\x03\x04", "zip")] {
        let error = open(magic).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        assert!(error.remedy().unwrap().to_string().contains("unpack it first"));
    }
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
    let error = open(b"\x7FELF\x02\x01\0\0").unwrap_err();
    assert!(matches!(*error.fault, Fault::UnknownFormat { .. }), "{error}");
    assert!(!error.to_string().contains('\x7F'), "control characters are escaped");
    let mut endless = vec![b' '; (64 << 20) + 10];
    endless[..3].copy_from_slice(b"c 0");
    let error = open(&endless).unwrap_err();
    assert!(matches!(*error.fault, Fault::TooLarge { what: "the line", .. }), "{error}");
}
