//! `fsin sweep --compact`: small points in one file, read by every command like folders of points.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use tests::command::run;

const SWEEP: &str = "sweep --topology torus:4x4 --routing bubble:smart,bubble:oblivious --load 0.1..0.5/3 --seeds 2 --cycles 800 --quiet";

#[track_caller]
fn code(output: &Output, expected: i32) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(expected), "{stderr}");
}

#[track_caller]
fn done(folder: &Path, line: &str) -> Output {
    let output = run(folder, line);
    code(&output, 0);
    output
}

/// The collected results, byte for byte.
fn results(folder: &Path) -> [Vec<u8>; 2] {
    ["results.csv", "results.jsonl"].map(|name| fs::read(folder.join(name)).unwrap())
}

fn folders_of_points(folder: &Path) -> usize {
    fs::read_dir(folder.join("points")).unwrap().count()
}

#[test]
fn a_compact_sweep_has_the_results_of_any_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(folder, &format!("{SWEEP} -o wide"));
    done(folder, &format!("{SWEEP} --compact --jobs 3 -o small"));
    let [wide, small] = ["wide", "small"].map(|name| folder.join(name));
    assert_eq!(results(&wide), results(&small));
    assert_eq!((folders_of_points(&wide), folders_of_points(&small)), (12, 0));

    for line in ["plot small", "report small", "collect small", "compare wide small", "rerun small --quiet"] {
        done(folder, line);
    }
    fs::write(small.join("results.csv"), "").unwrap();
    done(folder, "collect small");
    assert_eq!(results(&wide), results(&small));
}

/// A file that is cut anywhere loses the points that are not whole, and they run again.
#[test]
fn what_a_kill_leaves_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(folder, &format!("{SWEEP} --compact -o small"));
    let small = folder.join("small");
    let (expected, records) = (results(&small), small.join("points.records"));
    let whole = fs::read(&records).unwrap();
    for part in [0, 1, whole.len() / 3, whole.len() / 2, whole.len() - 20, whole.len() - 1] {
        fs::write(&records, &whole[..part]).unwrap();
        fs::remove_file(small.join("results.csv")).unwrap();
        done(folder, "sweep --resume --quiet -o small");
        assert_eq!(results(&small), expected, "cut at {part}");
    }
    // A byte that has changed: the point is not what was written, and runs again.
    let mut changed = whole;
    let at = changed.len() / 2;
    changed[at] = changed[at].wrapping_add(1);
    fs::write(&records, &changed).unwrap();
    let listed = done(folder, "sweep --resume --dry-run -o small");
    let said = [listed.stdout, listed.stderr].concat();
    assert!(String::from_utf8_lossy(&said).contains("1 to run"), "{}", String::from_utf8_lossy(&said));
    done(folder, "sweep --resume --quiet -o small");
    assert_eq!(results(&small), expected);
}

#[test]
fn points_with_tables_keep_their_folders() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = "sweep --topology torus:4x4 --load 0.1,0.2 --cycles 500 --node-stats --compact --quiet -o tables";
    done(folder, line);
    assert_eq!(folders_of_points(&folder.join("tables")), 2);
    let output = run(folder, "sweep --load 0.1,0.2 --backend commands --compact -o elsewhere");
    code(&output, 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("--compact"));
}
