//! Viewers of runs: they come and go, send garbage, or never read; the run is not affected.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tests::command::{binary, fsin, run};
use tests::pty::Terminal;
use tui::stream::Reader;
use tui::view::{RunState, Sources};

const LINE: &str = "run --topology torus:8x8 --load 0.4 --cycles 400000 --format json";

fn start(folder: &Path, line: &str) -> (Child, String) {
    let mut child = fsin(folder)
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("fsin has just been built");
    let mut said = String::new();
    BufReader::new(child.stderr.as_mut().expect("stderr is a pipe")).read_line(&mut said).expect("it says where");
    let address = said.split_whitespace().nth(2).unwrap_or_else(|| panic!("no address in `{said}`")).to_owned();
    (child, address)
}

fn result(mut child: Child) -> Value {
    let mut text = String::new();
    child.stdout.take().expect("stdout is a pipe").read_to_string(&mut text).expect("the text is UTF-8");
    assert!(child.wait().expect("it ends").success());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn hostile_viewers_change_nothing_and_others_see_everything() {
    let folder = tempfile::tempdir().unwrap();
    let alone: Value = serde_json::from_slice(&run(folder.path(), LINE).stdout).unwrap();
    let (child, address) = start(folder.path(), &format!("{LINE} --monitor 127.0.0.1:0"));
    // One never reads, one sends garbage and leaves, one leaves at once.
    let silent = TcpStream::connect(&address).unwrap();
    let mut loud = TcpStream::connect(&address).unwrap();
    for _ in 0..100 {
        if loud.write_all(&[0xff; 1 << 12]).is_err() {
            break;
        }
    }
    drop(loud);
    drop(TcpStream::connect(&address).unwrap());
    let mut reader = Reader::new(BufReader::new(TcpStream::connect(&address).unwrap())).unwrap();
    assert_eq!((reader.about().nodes, reader.about().ports.len()), (64, 4));
    let mut cycle = 0;
    let mut last = None;
    while let Some(snapshot) = reader.next_snapshot().unwrap() {
        assert!(snapshot.cycle >= cycle, "time goes on");
        cycle = snapshot.cycle;
        last = Some(snapshot);
    }
    let last = last.expect("a viewer that reads gets the end at least");
    assert_eq!((last.state, last.cycle), (RunState::Ended, 400_001));
    assert!(matches!(&last.sources, Sources::Nodes(received) if received.iter().sum::<u64>() > 0));
    let watched = result(child);
    drop(silent);
    for name in ["digest", "cycles", "packets_received", "latency_mean_cycles"] {
        assert_eq!(alone[name], watched[name], "{name}");
    }
    assert_eq!(watched["packets_received"], last.packets.received, "the last snapshot shows the end");
}

#[test]
fn a_unix_socket_is_private_and_goes_with_the_run() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("view.sock");
    let (child, address) = start(folder.path(), &format!("{LINE} --monitor unix:{}", path.display()));
    assert_eq!(address, format!("unix:{}", path.display()));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut reader = Reader::new(BufReader::new(UnixStream::connect(&path).unwrap())).unwrap();
    assert!(reader.next_snapshot().unwrap().is_some());
    drop(reader);
    result(child);
    assert!(!path.exists());
}

#[test]
fn a_recording_is_kept_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &format!("{LINE} --record-view a.view --record-every 50000 --quiet"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut reader = Reader::new(BufReader::new(std::fs::File::open(folder.path().join("a.view")).unwrap())).unwrap();
    let mut cycles = Vec::new();
    while let Some(snapshot) = reader.next_snapshot().unwrap() {
        cycles.push(snapshot.cycle);
    }
    assert_eq!(cycles, [50_000, 100_000, 150_000, 200_000, 250_000, 300_000, 350_000, 400_000, 400_001]);
    let output = run(folder.path(), "top a.view --svg a.svg --screen network --size 80x24 --at 100000 --focus 9");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let picture = std::fs::read_to_string(folder.path().join("a.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("(1,1):"), "{picture}");
    // A truncated recording is drawn, and reported as truncated.
    let whole = std::fs::read(folder.path().join("a.view")).unwrap();
    assert!(!String::from_utf8_lossy(&run(folder.path(), "top a.view --svg whole.svg").stderr).contains("warning"));
    std::fs::write(folder.path().join("cut.view"), &whole[..whole.len() / 2]).unwrap();
    let cut = run(folder.path(), "top cut.view --svg cut.svg");
    let said = String::from_utf8_lossy(&cut.stderr).into_owned();
    assert!(cut.status.success() && said.contains("cut.view: the recording ends at cycle 200000"), "{said}");
    for (line, expected) in [
        ("top b.view --svg b.svg", "there is no file b.view"),
        ("top a.svg", "no stream of snapshots"),
        ("top a.view --svg b.svg --size 9x9", "--size 120x40"),
        ("top a.view --svg b.svg --focus 64", "64 routers"),
        ("top a.view --svg b.svg --at 3", "no snapshot up to cycle 3"),
        ("top 192.0.2.1:80", "other machines"),
        ("run --monitor 192.0.2.1:80", "other machines"),
        ("run --record-view no/such/folder", "can be written"),
        ("run --record-view a.view", "the file exists"),
        ("top a.view --svg a.svg", "the file exists"),
        ("serve --listen 127.0.0.1:0 --wire-log a.view", "the file exists"),
        ("serve --listen 127.0.0.1:0 --pcap a.view", "the file exists"),
    ] {
        let output = run(folder.path(), line);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), text.contains(expected)), (Some(2), true), "{line}: {text}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("a.svg")).unwrap(), picture, "nothing is overwritten");
    // A run that never began leaves no obstacle behind.
    let refused = run(folder.path(), "run --record-view c.view --traffic nope");
    assert_eq!((refused.status.code(), folder.path().join("c.view").exists()), (Some(2), false));
}

#[test]
fn a_viewer_that_is_cut_off_gives_its_terminal_back() {
    let folder = tempfile::tempdir().unwrap();
    let endless = LINE.replace("400000", "100000000000");
    let (mut child, address) = start(folder.path(), &format!("{endless} --monitor 127.0.0.1:0"));
    let Some(mut terminal) = Terminal::start(binary(), &["top", &address], &folder.path().join("out"), (80, 24)) else {
        child.kill().unwrap();
        return;
    };
    terminal.wait_for("RUNNING (viewer)");
    terminal.press("p");
    terminal.wait_for("the run goes on");
    // The run has no time to say goodbye.
    let killed = Command::new("kill").args(["-KILL", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    child.wait().unwrap();
    assert_eq!(terminal.wait().code(), Some(1));
    terminal.check_restored();
    terminal.wait_for("the connection was lost at cycle");
}

#[test]
fn neither_a_file_nor_an_address_is_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "top absent.view");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("there is no file `absent.view`") && said.contains("--monitor"), "{said}");
}

#[test]
fn connections_that_never_read_keep_no_viewer_out() {
    let folder = tempfile::tempdir().unwrap();
    let (child, address) = start(folder.path(), &format!("{LINE} --monitor 127.0.0.1:0"));
    // The run may end before all are there.
    let silent: Vec<TcpStream> = (0..200).map_while(|_| TcpStream::connect(&address).ok()).collect();
    let mut reader = Reader::new(BufReader::new(TcpStream::connect(&address).unwrap())).unwrap();
    assert_eq!(reader.about().nodes, 64);
    let mut last = None;
    while let Some(snapshot) = reader.next_snapshot().unwrap() {
        last = Some(snapshot.state);
    }
    assert_eq!(last, Some(RunState::Ended));
    result(child);
    drop(silent);
}
