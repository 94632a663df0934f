//! Machines that cannot start, die or stand still: each fault is named, and nothing hangs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tests::command::qemu_plugin;
use tests::machines::{Up, image, machines, up, words};

/// A folder with files of the names that an image has.
fn empty_image(folder: &Path) {
    fs::create_dir(folder.join("image")).unwrap();
    for name in ["vmlinuz", "initramfs"] {
        fs::write(folder.join("image").join(name), "").unwrap();
    }
}

/// A program that stands in for QEMU.
fn instead_of_qemu(folder: &Path, script: &str) -> std::path::PathBuf {
    let path = folder.join("qemu");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn said(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), words(&String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn what_is_missing_is_named_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    empty_image(folder);
    let up = |flags: &str| {
        let mut command = machines(folder, &["up", "--image", "image"]);
        command.args(flags.split_whitespace()).env("FSIN_QEMU", "/nowhere/qemu");
        command
    };
    let check = |(status, said): (Option<i32>, String), texts: &[&str]| {
        assert_eq!(status, Some(2), "{said}");
        texts.iter().for_each(|text| assert!(said.contains(text), "no `{text}` in: {said}"));
    };
    check(said(&mut up("")), &["cannot start /nowhere/qemu for machine 0", "apt install qemu-system-x86"]);
    check(said(up("").env("FSIN_QEMU_PLUGIN", "/nowhere/plugin")), &["FSIN_QEMU_PLUGIN=/nowhere/plugin"]);
    check(said(machines(folder, &["up", "--image"]).arg(".")), &["--image .: vmlinuz", "fsin machines prepare"]);
    check(said(&mut up("-n 2 --node 3,70 --topology torus:8x8")), &["machine at node 70", "the network has 64"]);
    check(said(&mut up("-n 3 --node 0,1")), &["--node 0,1 names 2 nodes for 3 machines"]);
    check(said(&mut up("--command true --on 2")), &["--on takes different numbers below 2, not `2`"]);
    check(said(&mut up("--network constant-delay:delay=1us --step 2us")), &["1 ps to 1000000 ps, the horizon"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    check(
        said(&mut up(&format!("--listen {address}"))),
        &[&format!("cannot listen on {address}"), "nobody listens on"],
    );
    check(said(&mut machines(folder, &["run", "true"])), &["no machines are up there", "fsin machines up"]);
    check(said(&mut machines(folder, &["down", "--folder", "image"])), &["--folder image: no machines are up there"]);
    check(said(&mut up("--folder image")), &["the folder is not empty, and not one of machines"]);
    let lock = File::create(folder.join("machines/lock")).unwrap();
    lock.lock().unwrap();
    check(said(&mut up("")), &["other machines are up in this folder", "fsin machines down"]);
}

#[test]
fn a_qemu_that_cannot_be_used_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    empty_image(folder);
    let run = |script: &str| {
        let qemu = instead_of_qemu(folder, script);
        said(machines(folder, &["up", "--image", "image"]).env("FSIN_QEMU", qemu))
    };
    let (status, said) = run("#!/bin/sh\necho 'qemu: -icount: invalid' >&2\nexit 3\n");
    assert_eq!(status, Some(1), "{said}");
    for text in ["the QEMU of machine", "ended with exit status 3 before the machine began: qemu: -icount: invalid"] {
        assert!(said.contains(text), "no `{text}` in: {said}");
    }

    // A program without the functions of QEMU loads the plugin, as QEMU does.
    let loader = "#!/usr/bin/env python3
import ctypes, sys
plugin = sys.argv[sys.argv.index('-plugin') + 1]
path, *words = plugin.split(',')
words = (ctypes.c_char_p * len(words))(*[word.encode() for word in words])
sys.exit(ctypes.CDLL(path).qemu_plugin_install(ctypes.c_uint64(1), None, len(words), words))
";
    let (status, said) = run(loader);
    assert_eq!(status, Some(1), "{said}");
    for text in ["fsin plugin: this QEMU lacks", "net_hub_add_port", "timer_mod_ns", "use QEMU 7.2"] {
        assert!(said.contains(text), "no `{text}` in: {said}");
    }
}

#[test]
fn the_plugin_names_what_its_arguments_lack() {
    let load = |words: &str| {
        let script = "import ctypes, sys
words = sys.argv[2].encode().split()
words = (ctypes.c_char_p * len(words))(*words)
sys.exit(ctypes.CDLL(sys.argv[1]).qemu_plugin_install(ctypes.c_uint64(1), None, len(words), words))";
        said(Command::new("python3").args(["-c", script]).arg(qemu_plugin()).arg(words))
    };
    for (words, text) in [
        ("node=0 peers=0+1", "address=ADDRESS is missing"),
        ("address=unix:net peers=0+1", "node=N is missing"),
        ("address=unix:net node=0", "peers=N+N+... is missing"),
        ("address=unix:net node=0 peers=0+x", "peers=x: a node is a number from 0 to 16777215"),
        ("address=unix:net node=0 peers=0+1 step=5", "step=5: not a time with its unit"),
        ("address=unix:net node=0 peers=0+1 nod=1", "no argument `nod`"),
    ] {
        let (status, said) = load(words);
        assert_eq!(status, Some(1), "{words}: {said}");
        assert!(said.contains(text), "{words}: no `{text}` in: {said}");
    }
}

/// Machines that boot in steps, so that each must say every moment that it goes on.
const IN_STEPS: &str = "-n 2 --network constant-delay:delay=100us --warm-up 0ns";

#[test]
fn a_machine_that_is_killed_is_named() {
    let Some(image) = image() else { return };
    let folder = tempfile::tempdir().unwrap();
    let up = Up::start(up(folder.path(), image, IN_STEPS));
    let killed = up.processes()[1];
    assert!(Command::new("kill").args(["-9", &killed.to_string()]).status().unwrap().success());
    let (status, said) = up.end();
    assert_eq!(status, Some(1), "{said}");
    for text in ["machine 1 (node 1) was ended by signal 9 (killed), and the others were ended", "machines/console.1"] {
        assert!(said.contains(text), "no `{text}` in: {said}");
    }
}

#[test]
fn a_machine_that_stands_still_is_named_within_the_limit() {
    let Some(image) = image() else { return };
    let folder = tempfile::tempdir().unwrap();
    let up = Up::start(up(folder.path(), image, &format!("{IN_STEPS} --stall 10")));
    let stopped = up.processes()[1];
    assert!(Command::new("kill").args(["-STOP", &stopped.to_string()]).status().unwrap().success());
    let (status, said) = up.end();
    assert_eq!(status, Some(1), "{said}");
    for text in ["machine 1 (node 1) was lost, and the others were ended", "10 s"] {
        assert!(said.contains(text), "no `{text}` in: {said}");
    }
    assert!(!Path::new(&format!("/proc/{stopped}")).exists(), "no machine is left behind");
}
