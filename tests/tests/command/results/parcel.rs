//! Parcels: results as one file, which run again elsewhere, and which name no machine and no folder of their maker.

use std::fs;
use std::path::Path;
use std::process::Command;

use tests::command::{binary, fsin, run};
use tests::shared::skipped;

use super::code;

/// All bytes of a parcel, unpacked.
fn content(parcel: &Path) -> Vec<u8> {
    let output = Command::new("xz").args(["--decompress", "--stdout"]).arg(parcel).output().expect("there is xz");
    assert!(output.status.success(), "{parcel:?}: a tar archive by xz");
    output.stdout
}

/// True if these bytes are in those.
fn has(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

#[test]
fn l9_a_parcel_runs_elsewhere_as_another_user_and_names_no_folder_of_its_maker() {
    let mine = tempfile::tempdir().unwrap();
    let home = mine.path().join("a-name-of-my-own");
    fs::create_dir_all(home.join("inputs-of-mine")).unwrap();
    fs::write(home.join("inputs-of-mine/net.txt"), "A B\nB C\nC A\n").unwrap();
    let network = format!("graph:{}", home.join("inputs-of-mine/net.txt").display());
    let made = run(&home, &format!("run --topology {network} --cycles 700 --load 0.1 -q -o r"));
    code(&made, 0);
    code(&run(&home, "report r -q"), 0);
    code(&run(&home, "pack r -q"), 0);
    code(&run(&home, "pack r -q -o again.tar.xz"), 0);
    let parcel = fs::read(home.join("r.tar.xz")).unwrap();
    assert_eq!(parcel, fs::read(home.join("again.tar.xz")).unwrap(), "the same results give the same bytes");
    let inside = content(&home.join("r.tar.xz"));
    for word in ["a-name-of-my-own", "inputs-of-mine", &mine.path().display().to_string()] {
        assert!(!has(&inside, word), "the parcel names {word}");
    }
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    assert!(host.is_empty() || host == "localhost" || !has(&inside, host), "the parcel names the host {host}");
    assert!(has(&inside, "cff-version: 1.2.0") && has(&inside, "r/inputs/") && has(&inside, "A B\nB C\nC A\n"));

    // In another folder, without the original one and with another home.
    let theirs = tempfile::tempdir().unwrap();
    fs::write(theirs.path().join("parcel"), &parcel).unwrap();
    drop(mine);
    let mut rerun = fsin(theirs.path());
    rerun.args(["rerun", "parcel"]).env("HOME", "/nonexistent").env("TMPDIR", theirs.path());
    let output = rerun.output().unwrap();
    assert_eq!(code(&output, 0), "1 of 1 result is the same to the last digit\n");
    let left: Vec<_> = fs::read_dir(theirs.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["parcel"], "nothing is left behind");

    // As another user, without a network, if this user may change to it.
    let set = Command::new("chmod").args(["-R", "a+rwX"]).arg(theirs.path()).status();
    let nobody = ["--net", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let can = Command::new("unshare").args(nobody).arg(binary()).arg("--version").output();
    match can.is_ok_and(|output| output.status.success()) && set.is_ok_and(|status| status.success()) {
        false => skipped("a parcel as another user without network: no unshare, setpriv, or rights"),
        true => {
            let mut other = Command::new("unshare");
            other.args(nobody).arg(binary()).args(["rerun", "parcel", "-q"]).current_dir(theirs.path());
            let output = other.env("TMPDIR", theirs.path()).output().unwrap();
            assert_eq!(code(&output, 0), "1 of 1 result is the same to the last digit\n");
        }
    }
}

#[test]
fn a_sweep_is_a_parcel_too_and_what_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    code(&run(folder.path(), "sweep --topology torus:3x5 --load 0.1,0.2 --cycles 400 -q -o s"), 0);
    code(&run(folder.path(), "pack s -q -o s.parcel"), 0);
    let output = run(folder.path(), "rerun s.parcel -q");
    assert_eq!(code(&output, 0), "2 of 2 results are the same to the last digit\n");
    // A file that exists is kept; a folder without results, and a file that is no parcel, are named.
    code(&run(folder.path(), "pack s -q -o s.parcel"), 2);
    fs::create_dir(at("empty")).unwrap();
    code(&run(folder.path(), "pack empty"), 2);
    fs::write(at("text"), "no parcel").unwrap();
    let refused = run(folder.path(), "rerun text");
    code(&refused, 2);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("text"));
    // Half of one.
    let whole = fs::read(at("s.parcel")).unwrap();
    fs::write(at("half"), &whole[..whole.len() / 2]).unwrap();
    code(&run(folder.path(), "rerun half"), 2);
    // A file with the name of a folder of this machine is refused.
    fs::write(at("s/notes.txt"), format!("see {}/", folder.path().canonicalize().unwrap().display())).unwrap();
    let refused = run(folder.path(), "pack s -o other");
    code(&refused, 2);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("notes.txt"), "the file is named");
    assert!(!at("other").exists());
}

/// Archives that would write beside the folder are no parcels.
#[test]
fn a_parcel_writes_below_its_folder_alone() {
    let folder = tempfile::tempdir().unwrap();
    let shell = "mkdir -p a/b && echo 1 > a/evil && ln -s /etc a/link && cd a/b && tar -cJPf ../../up.parcel ../evil && cd .. && tar \
                 -cJf ../link.parcel link && tar -cJf ../two.parcel evil b";
    let made = Command::new("sh").args(["-c", shell]).current_dir(folder.path()).status();
    if !made.is_ok_and(|status| status.success()) {
        return skipped("parcels that would write elsewhere: no tar with xz");
    }
    for parcel in ["up.parcel", "link.parcel", "two.parcel"] {
        let mut rerun = fsin(folder.path());
        let output = rerun.args(["rerun", parcel]).env("TMPDIR", folder.path()).output().unwrap();
        code(&output, 2);
        assert!(!folder.path().join("evil").exists(), "{parcel}");
    }
    let left = fs::read_dir(folder.path())
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().contains("fsin-"));
    assert_eq!(left.count(), 0);
}
