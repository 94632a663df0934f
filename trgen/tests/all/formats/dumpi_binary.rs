//! Binary DUMPI: finding the files of the ranks of a trace.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use trgen::trace::formats::dumpi_binaries;

/// A folder of these files: those that end in `.bin` belong to ranks, and `.meta` files announce one rank.
fn folder(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text: &[u8] = if file.ends_with(".bin") { b"\xFF\xAA\xDDDUMPI" } else { b"hostname=a\nnumprocs=1\n" };
        fs::write(path, text).unwrap();
    }
    folder
}

/// The files of the ranks.
fn ranks(path: &Path) -> Result<Vec<PathBuf>, String> {
    let found = dumpi_binaries(path).map_err(|error| error.to_string())?.ok_or("none in binary form")?;
    Ok((0..found.ranks()).filter_map(|rank| found.on_disk(rank)).collect())
}

#[test]
fn a_folder_of_one_rank_is_that_rank_whatever_lies_beside_the_folder() {
    let folder = folder(&["t-0000.bin", "t-0001.bin", "sub/t-0000.bin", "alone/with/u-0000.bin"]);
    let path = |name: &str| folder.path().join(name);
    assert_eq!(ranks(&path("sub")).unwrap(), [path("sub/t-0000.bin")]);
    assert_eq!(ranks(&path("sub/")).unwrap(), [path("sub/t-0000.bin")]);
    assert_eq!(ranks(&path("alone/with")).unwrap(), [path("alone/with/u-0000.bin")]);
    assert_eq!(ranks(&path("alone")).unwrap(), [path("alone/with/u-0000.bin")]);
    // A file stands for those beside it.
    assert_eq!(ranks(&path("sub/t-0000.bin")).unwrap(), [path("sub/t-0000.bin")]);
    assert_eq!(ranks(&path("t-0001.bin")).unwrap(), [path("t-0000.bin"), path("t-0001.bin")]);
}

#[test]
fn a_folder_of_a_meta_file_alone_holds_no_trace() {
    let folder = folder(&["t-0000.bin", "sub/t.meta", "whole/t.meta", "whole/t-0000.bin"]);
    let path = |name: &str| folder.path().join(name);
    for input in ["sub", "sub/t.meta"] {
        let error = ranks(&path(input)).unwrap_err();
        assert!(error.ends_with("there are no files t-0000.bin and so on"), "{error}");
    }
    for input in ["whole", "whole/t.meta"] {
        assert_eq!(ranks(&path(input)).unwrap(), [path("whole/t-0000.bin")]);
    }
}
