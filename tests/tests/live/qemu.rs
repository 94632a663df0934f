//! Virtual machines on a simulated network: in lockstep with it (`fsin machines`), and in real time behind `fsin
//! relay`. The short tests boot two machines once or twice; the others take minutes:
//!
//! ```sh
//! apt install qemu-system-x86 busybox-static cpio gcc libc6-dev mpich libmpich-dev
//! cargo test -p tests --test live --release qemu:: -- --ignored --nocapture
//! ```
//!
//! `FSIN_MACHINES` names a folder filled by `fsin machines prepare`; without it the tests fill their own. `FSIN_FIGURES`
//! names a folder for pictures of what is measured.

#![allow(clippy::print_stdout, reason = "its figures are what it is run for")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::command::fsin;
use tests::line_plot;
use tests::machines::{Up, image, machines, results, up};
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

#[test]
#[ignore = "boots two virtual machines"]
fn two_machines_ping_each_other_through_a_torus() {
    let Some(images) = image() else { return };
    let folder = tempfile::tempdir().expect("the system has room for a folder");
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
    let (mut asking, console) = machine(images, place, "asking", &relays[0].1, words);
    let words = "52:54:00:00:00:02 address=10.0.0.2";
    let (mut answering, other) = machine(images, place, "answering", &relays[1].1, words);
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

/// What a machine's command has written.
fn written(results: &Value, machine: usize) -> &str {
    results["machines"][machine]["output"].as_str().unwrap_or_else(|| panic!("{}", results["machines"]))
}

/// The last number of a line before this unit.
fn number(text: &str, before: &str) -> f64 {
    let at = text.rfind(before).unwrap_or_else(|| panic!("no `{before}` in {text}"));
    let word = text[..at].split_whitespace().last().unwrap_or_default();
    word.parse().unwrap_or_else(|error| panic!("`{word}` in {text}: {error}"))
}

/// Every frame, and its moment.
fn frames(results: &Value) -> (String, u64) {
    assert_eq!(results["complete"], true, "{results}");
    assert_eq!(results["messages_late"], 0);
    assert_eq!(results["messages"], results["messages_delivered"]);
    let messages = results["messages"].as_u64().expect("it is a count");
    (results["guest_digest"].as_str().expect("it is text").to_owned(), messages)
}

#[test]
fn machines_in_lockstep_send_the_same_frames_whatever_the_step() {
    let Some(image) = image() else { return };
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let run = |step: &str| {
        let flags = format!("-n 2 --network constant-delay:delay=100us --step {step} --folder {step}");
        results(folder.path(), image, &flags, "ping -c 5 -i 0.1 machine1; seq 3000 | md5sum; date +%s.%N")
    };
    let (whole, part) = (run("100us"), run("30us"));
    assert_eq!(frames(&whole), frames(&part), "every frame, its moment and its content");
    assert_eq!(written(&whole, 0), written(&part, 0), "what the machine says of its clock too");
    assert!(written(&whole, 0).contains("5 packets received"), "{}", written(&whole, 0));
    for results in [&whole, &part] {
        let steps = results["steps"].as_u64().expect("it is a count");
        let per_second = results["steps_per_second"].as_f64().expect("it is a figure");
        assert!(steps > 10 && per_second > 0.0, "{steps} steps, {per_second} a second");
        // Boot passes without steps.
        assert!(results["boot_seconds"].as_f64().is_some_and(|boot| boot > 0.0), "{results}");
        assert_eq!(results["guests"][1]["marks"][0]["label"], "ready");
    }
    // Two delays, and what two machines take to answer: less than 100 us.
    let line = written(&whole, 0).lines().find(|line| line.contains("seq=4")).expect("the last ping");
    let time = number(&line.replace("time=", ""), " ms");
    assert!((0.2..0.3).contains(&time), "{line}");
}

#[test]
fn machines_that_are_up_take_commands_until_they_are_switched_off() {
    let Some(image) = image() else { return };
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let folder = folder.path();
    let up = Up::start(up(folder, image, "-n 2 --network constant-delay:delay=100us -o results.json"));
    let run = |words: &[&str]| {
        let output = machines(folder, words).output().expect("fsin has just been built");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(
        run(&["run", "hostname; arch", "--on", "all"]),
        (Some(0), "machine0\nx86_64\nmachine1\nx86_64\n".into())
    );
    assert_eq!(run(&["run", "echo 'two  words' >&2; exit 7", "--on", "1"]), (Some(7), "two  words\n".into()));
    // Machines run commands on each other.
    assert_eq!(run(&["run", "rx machine1 hostname"]), (Some(0), "machine1\n".into()));
    // A command that is interrupted ends, and the machine takes the next one.
    let mut endless = machines(folder, &["run", "echo begun; while :; do :; done"]);
    let mut endless = endless.stdout(Stdio::piped()).spawn().expect("fsin has just been built");
    let mut begun = [0; 6];
    endless.stdout.as_mut().expect("it is piped").read_exact(&mut begun).expect("the command writes");
    assert_eq!(&begun, b"begun\n");
    tests::command::interrupt(&endless, Duration::ZERO);
    assert_eq!(endless.wait().expect("it is a child").code(), Some(130));
    assert_eq!(run(&["run", "hostname"]), (Some(0), "machine0\n".into()));
    assert_eq!(run(&["down"]).0, Some(0));
    assert_eq!(up.end().0, Some(0));
    let results = fs::read_to_string(folder.join("results.json")).expect("it has been written");
    let results: Value = serde_json::from_str(&results).expect("results are JSON");
    assert_eq!(results["complete"], true);
    assert_eq!(results["guests"][0]["left"], true);
    let console = fs::read_to_string(folder.join("machines/console.1")).expect("a console is text");
    assert!(console.contains("machine 1 is up"), "{console}");
    assert!(!folder.join("machines/sockets").exists(), "sockets go with the machines");
}

/// Slope and coefficient of determination of the straight line through points.
fn line_through(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|point| of(point.0 - x, point.1 - y)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    (xy / xx, xy * xy / (xx * yy))
}

/// Repetitions of `cpi`, each with a broadcast and a reduction along binomial trees.
const REPETITIONS: usize = 20;

/// Checks that times grow by the messages of a chain, prints how well, and draws them.
fn check_slopes(curves: &[(usize, Vec<(f64, f64)>)]) {
    for (count, points) in curves {
        let (slope, fit) = line_through(points);
        // A binomial tree over two machines is one message deep, over four two; each repetition goes down and up.
        let messages = (2 * count.ilog2() as usize * REPETITIONS) as f64;
        println!("{count} machines: {slope:.3} us for each us of delay, of {messages}; R^2 = {fit:.7}");
        assert!((slope / messages - 1.0).abs() < 0.01, "{slope} us for each us of delay");
        assert!(fit > 0.999, "R^2 = {fit}");
    }
    if let Some(folder) = std::env::var_os("FSIN_FIGURES") {
        let titles = ["delay of the network (us)", "time of 20 repetitions (us)"];
        let curves: Vec<_> =
            curves.iter().map(|(count, points)| (format!("{count} machines"), points.clone())).collect();
        line_plot::draw(&Path::new(&folder).join("machines-cpi.svg"), titles, &curves).expect("the folder is there");
    }
}

#[test]
#[ignore = "boots thirty virtual machines"]
fn cpi_takes_as_much_longer_as_its_messages_do() {
    let Some(image) = image() else { return };
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let delays = [50, 100, 200, 400, 800];
    let time = |count: usize, delay: u32| {
        let flags = format!("-n {count} --network constant-delay:delay={delay}us --folder {count}.{delay}");
        let results = results(folder.path(), image, &flags, &format!("mpiexec -n {count} cpi 1000 {REPETITIONS}"));
        let _ = frames(&results);
        let time = number(written(&results, 0), " s\n") * 1e6;
        let (steps, speed) = (&results["steps"], &results["steps_per_second"]);
        println!("{count} machines, {delay} us: cpi {time:.3} us; {steps} steps, {speed:.0} steps/s");
        time
    };
    check_slopes(&[2, 4].map(|count| (count, delays.map(|delay| (f64::from(delay), time(count, delay))).to_vec())));
}

/// A process that computes for as long as it lives.
fn busy() -> Running {
    Running(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("there is a shell"))
}

/// Runs machines with each of these steps, three times each, and once more beside a busy host; all must send the same
/// frames at the same moments.
fn check_steps(network: &str, command: &str, steps: [&str; 3]) {
    let Some(image) = image() else { return };
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    let run = |number: usize, step: &str| {
        let results = results(folder.path(), image, &format!("{network} {step} --folder {number}"), command);
        println!("{network} {step}: {:?}, {} steps", frames(&results), results["steps"]);
        (frames(&results), written(&results, 0).to_owned())
    };
    let first = run(0, steps[0]);
    for (number, step) in steps.into_iter().cycle().take(9).enumerate().skip(1) {
        assert_eq!(run(number, step), first, "{step}");
    }
    let _busy = [busy(), busy()];
    assert_eq!(run(9, steps[1]), first, "beside two endless loops");
}

#[test]
#[ignore = "boots twenty virtual machines"]
fn a_constant_delay_gives_the_same_frames_whatever_the_step() {
    let command = "ping -c 20 -i 0.1 machine1 && mpiexec -n 2 cpi";
    let steps = ["--step 100us", "--step 50us", "--step 10us"];
    check_steps("-n 2 --network constant-delay:delay=100us", command, steps);
}

#[test]
#[ignore = "boots forty virtual machines"]
fn a_contended_torus_gives_the_same_frames_whatever_the_step() {
    // Neighbours, all of which send at once.
    let torus = "-n 4 --topology torus:4x4 --node 0,1,2,3 --send-overhead 110us --bandwidth 1Gb/s";
    let command = "ping -c 20 -i 0.1 machine1 && mpiexec -n 4 cpi && mpiexec -n 4 pingpong 5 16384";
    check_steps(torus, command, ["", "--step 55us", "--step 11us"]);
}

#[test]
#[ignore = "boots eight virtual machines"]
fn benchmarks_verify_themselves_on_machines() {
    let Some(image) = image() else { return };
    let folder = tempfile::tempdir().expect("the system has room for a folder");
    for (name, network) in [
        ("torus", "--topology torus:4x4 --send-overhead 10us --receive-overhead 10us --bandwidth 1Gb/s"),
        ("ethernet", "--network ethernet --send-overhead 10us --receive-overhead 10us"),
    ] {
        let flags = format!("-n 4 {network} --folder {name}");
        let command = "mark begin; mpiexec -n 4 cg; mark cg; mpiexec -n 4 is; mark is; mpiexec -n 4 pingpong 10 65536";
        let results = results(folder.path(), image, &flags, command);
        println!("{name}: {:?}, {} steps\n{}", frames(&results), results["steps"], written(&results, 0));
        for mark in results["guests"][0]["marks"].as_array().expect("marks are a list") {
            println!("{} at {} ps", mark["label"], mark["time_ps"]);
        }
        assert_eq!(written(&results, 0).to_lowercase().matches("verif").count(), 2, "{}", written(&results, 0));
    }
}
