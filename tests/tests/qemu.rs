//! Two virtual machines ping each other through a simulated torus. The test takes a minute, and needs QEMU and Debian's
//! apt:
//!
//! ```sh
//! apt install qemu-system-x86 busybox-static cpio
//! cargo test -p tests --test qemu -- --ignored --nocapture
//! ```
//!
//! `FSIN_MACHINES` names a folder filled by `adapters/qemu/prepare`; without it the test fills its own.

#![allow(clippy::print_stdout, reason = "its figures are what it is run for")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::command::fsin;
use tests::shared::workspace;

/// Time limit of a machine, emulated in software on a busy host.
const PATIENCE: Duration = Duration::from_secs(420);

/// Kills the process at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Waits for the end; on a timeout shows the contents of `console`.
    fn join(&mut self, console: &Path) {
        let begin = Instant::now();
        while self.0.try_wait().expect("it is a child").is_none() {
            let said = || fs::read_to_string(console).unwrap_or_default();
            assert!(begin.elapsed() < PATIENCE, "not done after {PATIENCE:?}: {}", said());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Starts `fsin` and reads the first line from its stderr; the rest is discarded.
fn started(folder: &Path, words: &str) -> (Running, String) {
    let mut command = fsin(folder);
    command.args(words.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("fsin has just been built");
    let mut reader = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut first = String::new();
    reader.read_line(&mut first).expect("it says something");
    std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
    (Running(child), first)
}

fn stdout(running: &mut Running) -> String {
    let mut text = String::new();
    running.0.stdout.take().expect("it is piped").read_to_string(&mut text).expect("it is text");
    text
}

fn machine(images: &Path, folder: &Path, name: &str, port: &str, words: &str) -> (Running, PathBuf) {
    let console = folder.join(name);
    let child = Command::new(workspace().join("adapters/qemu/machine"))
        .arg(images)
        .arg(port)
        .args(words.split_whitespace())
        .stdout(File::create(&console).expect("the folder is ours"))
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the script is there");
    (Running(child), console)
}

fn found(program: &str) -> bool {
    Command::new(program).arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

#[test]
#[ignore = "boots two virtual machines"]
fn two_machines_ping_each_other_through_a_torus() {
    if let Some(missing) = ["qemu-system-x86_64", "busybox", "cpio"].into_iter().find(|program| !found(program)) {
        tests::shared::skipped(&format!("no {missing}; apt install qemu-system-x86 busybox-static cpio"));
        return;
    }
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let images = match std::env::var_os("FSIN_MACHINES") {
        Some(images) => PathBuf::from(images),
        None => {
            let prepare = Command::new(workspace().join("adapters/qemu/prepare")).arg(folder.path()).status();
            assert!(prepare.expect("the script is there").success());
            folder.path().to_owned()
        }
    };
    let place = folder.path();
    let serve = "serve --listen 127.0.0.1:0 --topology torus:4x4 --guests 2 --mode realtime --factor 1 --step 500us \
                 --pcap frames.pcapng --pcap-link ethernet --stall 120";
    let (mut serve, line) = started(place, serve);
    let address = line.split_whitespace().nth(2).unwrap_or_else(|| panic!("{line}")).to_owned();
    // Opposite corners: four hops.
    let relays: Vec<(Running, String)> = [0, 10]
        .into_iter()
        .map(|node| {
            let words = format!("relay --connect {address} --node {node} --machines 127.0.0.1:0");
            let (relay, line) = started(place, &words);
            let port = line.trim().rsplit(':').next().unwrap_or_else(|| panic!("{line}")).to_owned();
            (relay, port)
        })
        .collect();
    let words = "52:54:00:00:00:01 address=10.0.0.1 peer=10.0.0.2 count=20";
    let (mut asking, console) = machine(&images, place, "asking", &relays[0].1, words);
    let words = "52:54:00:00:00:02 address=10.0.0.2";
    let (mut answering, other) = machine(&images, place, "answering", &relays[1].1, words);
    asking.join(&console);
    answering.join(&other);

    let asked = fs::read_to_string(&console).expect("a console is text");
    let answered = fs::read_to_string(&other).expect("a console is text");
    let line = |text: &str, word: &str| {
        let line = text.lines().find(|line| line.contains(word)).unwrap_or_else(|| panic!("no `{word}` in {text}"));
        line.trim().to_owned()
    };
    println!("{}", line(&asked, "packet loss"));
    println!("{}", line(&asked, "round-trip"));
    for (mut relay, _) in relays {
        println!("{}", stdout(&mut relay));
    }
    let results: Value = serde_json::from_str(&stdout(&mut serve)).expect("results are JSON");
    for key in
        ["messages", "messages_delivered", "messages_undelivered", "messages_late", "late_mean_ps", "behind_max_ps"]
    {
        println!("{key} {}", results[key]);
    }
    println!("completion_seconds {}", results["completion_seconds"]);
    assert!(line(&asked, "packet loss").contains("20 packets received"), "{asked}");
    let sum = |line: &str| line.split_whitespace().nth(1).map(ToOwned::to_owned);
    assert_eq!(
        sum(&line(&asked, "sent ")),
        sum(&line(&answered, "received ")),
        "100 kB of TCP arrive as they were sent"
    );
    assert_eq!(results["complete"], true);
    assert_eq!(results["messages"], results["messages_delivered"]);
    let packets = fs::metadata(place.join("frames.pcapng")).expect("it has been written").len();
    assert!(packets > 2 * 100_000, "every frame is there twice: {packets} bytes");
}
