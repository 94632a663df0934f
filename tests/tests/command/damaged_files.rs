//! Files that are damaged, names that are hostile: the exit status is 2, nothing of a name becomes a command, and what can
//! be made again is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tests::command::{fsin, run};
use trgen::trace::container::{Content, Header, Writer};
use trgen::trace::formats::{ReadOptions, read};

const SWEEP: &str = "sweep --topology torus:4x4 --cycles 500 --load 0.1,0.2";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn code(output: &Output, expected: i32, what: &str) {
    assert_eq!(output.status.code(), Some(expected), "{what}: {}", text(&output.stderr));
}

/// Damages of a file: cut, with a changed byte, with other bytes, empty.
fn damages(whole: &[u8]) -> Vec<Vec<u8>> {
    let mut damages = vec![Vec::new(), b"\x00\xff\x1b[31m{".to_vec()];
    for part in [3, 2] {
        damages.push(whole[..whole.len() * (part - 1) / part].to_vec());
        let mut changed = whole.to_vec();
        changed[whole.len() * (part - 1) / part] ^= 0x55;
        damages.push(changed);
    }
    damages
}

/// A container of a program of two tasks that exchange many messages.
fn container(folder: &Path) -> Vec<u8> {
    let lines: String =
        (0..400).map(|tag| format!("0 send 1 {tag} {} 6\n1 recv 0 {tag} {} 6\n", 8 + tag, 8 + tag)).collect();
    fs::write(folder.join("t.ti"), format!("0 init\n1 init\n{lines}")).unwrap();
    let program = read(&folder.join("t.ti"), &ReadOptions::default()).unwrap().program;
    let tasks = program.tasks.len() as u32;
    let origin = String::new();
    let header = Header { content: Content::Programs, tasks, origin, collectives: Vec::new(), notes: Vec::new() };
    let mut writer = Writer::new(fs::File::create(folder.join("t.trg")).unwrap(), &header).unwrap();
    writer.program(&program).unwrap();
    writer.finish().unwrap();
    fs::read(folder.join("t.trg")).unwrap()
}

#[test]
fn a_damaged_input_is_an_unusable_input() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let cases: [(&str, &[u8], &str); 9] = [
        ("e.toml", b"topology = \"torus:4x4\"\nload = 0.1\ncycles = 500\n[", "run e.toml"),
        ("e.toml", b"topology = \"torus:4x4\"\nload = [0.1, \n", "sweep e.toml -o r"),
        ("a.trc", b"c 0 100\ns 0 1 100 0\nx", "run --trace a.trc"),
        ("a.goal", b"num_ranks 2\nrank 0 {\nl1: send 10b to 7\n", "run --trace a.goal"),
        ("p.txt", b"0\n99\nx\n", "run --kernel all-to-all:tasks=4 --topology torus:4x4 --placement file:p.txt"),
        ("m.txt", b"0 1\n1 x\n", "run --topology torus:4x4 --traffic matrix(m.txt) --load 0.1"),
        ("g.dot", b"graph { a -- b [delay=x]; ", "run --topology graph:g.dot --load 0.1"),
        ("j.toml", b"[[job]]\nkernel = 3\n", "run --topology torus:4x4 --job-mix j.toml"),
        ("e.toml", &[0xff, 0xfe, 0], "config e.toml"),
    ];
    for (name, bytes, line) in cases {
        fs::write(place.join(name), bytes).unwrap();
        let output = run(place, line);
        code(&output, 2, line);
        assert!(!text(&output.stderr).contains('\u{1b}'), "{line}");
        fs::remove_file(place.join(name)).unwrap();
    }
    for (number, bytes) in damages(&container(place)).into_iter().enumerate() {
        fs::write(place.join("a.trg"), bytes).unwrap();
        let output = run(place, "run --trace a.trg --topology torus:4x4 --format json");
        code(&output, 2, &format!("damage {number} of a container"));
    }
}

#[test]
fn a_damaged_plan_is_made_anew_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    code(&run(place, &format!("{SWEEP} -o r")), 0, "the sweep");
    let root = place.join("r");
    let (plan, results) = (fs::read(root.join("plan.json")).unwrap(), fs::read(root.join("results.csv")).unwrap());
    let starts = || fs::read_to_string(root.join("journal.jsonl")).unwrap().matches(r#""event":"start""#).count();
    assert_eq!(starts(), 2);
    let mut changed = text(&plan).replacen("\"0.2\"", "\"0.7\"", 2).into_bytes();
    for bytes in damages(&plan).into_iter().chain([std::mem::take(&mut changed)]).map(Some).chain([None]) {
        match &bytes {
            Some(bytes) => fs::write(root.join("plan.json"), bytes).unwrap(),
            None => fs::remove_file(root.join("plan.json")).unwrap(),
        }
        for line in ["report r", "plot r", "compare r r", "rerun r", "collect r", "sweep --resume -o r"] {
            let output = run(place, line);
            code(&output, 2, line);
            let said = text(&output.stderr);
            assert!(bytes.is_none() || said.contains("once more, with --resume"), "{line}: {said}");
            assert!(!said.contains('\u{1b}'), "{line}: {said}");
        }
        // The command line of another sweep does not fit what is there.
        code(&run(place, "sweep --topology torus:4x4 --cycles 501 --load 0.1 --resume -o r"), 2, "another sweep");
        let output = run(place, &format!("{SWEEP} --resume -o r"));
        code(&output, 0, "the plan is made anew");
        assert!(text(&output.stderr).contains("the sweep is planned again"), "{}", text(&output.stderr));
        assert_eq!(fs::read(root.join("plan.json")).unwrap(), plan);
        assert_eq!(fs::read(root.join("results.csv")).unwrap(), results);
        assert_eq!(starts(), 2, "no point is run again");
        if bytes.is_some() {
            assert_eq!(fs::read(root.join("damaged/plan.json")).ok(), bytes, "nothing is thrown away");
        }
    }
}

/// Names of folders that a shell, a scheduler or a terminal could obey.
const HOSTILE: [&str; 9] =
    ["two words", "it's", "a\"b", "$(touch x)", "`touch x`", "100%a", "#b", "\u{e9}\u{4e2d}", "a;touch x"];

#[test]
fn no_name_of_a_folder_becomes_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let sweep = |name: &str| {
        let mut command = fsin(place);
        command.args(SWEEP.split(' ')).args(["--backend", "commands", "-o", name]);
        command.output().unwrap()
    };
    for name in HOSTILE {
        let output = sweep(name);
        code(&output, 0, name);
        let commands = text(&output.stdout);
        assert_eq!(commands.lines().count(), 2, "{commands}");
        let ran = Command::new("sh").args(["-c", &commands]).current_dir(place).output().unwrap();
        assert!(ran.status.success(), "{commands}: {}", text(&ran.stderr));
        assert!(!place.join("x").exists(), "{commands}");
        assert_eq!(fs::read_dir(place.join(name).join("points")).unwrap().count(), 2, "{name}");
    }
    for name in ["a\ntouch x", "\u{1b}[31m"] {
        let output = sweep(name);
        code(&output, 2, name);
        assert!(output.stdout.is_empty() && !text(&output.stderr).contains('\u{1b}'), "{output:?}");
    }
}

#[test]
fn slurm_obeys_no_name() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    // A Slurm that takes every job and runs none.
    for (program, lines) in [("sbatch", "echo 1"), ("squeue", ""), ("scancel", "")] {
        fs::write(place.join(program), format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(place.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", place.display(), std::env::var("PATH").unwrap());
    let sweep = |name: &str, more: &[&str]| {
        let mut command = fsin(place);
        command.args(SWEEP.split(' ')).args(["--backend", "slurm", "--detach", "-o", name]).args(more);
        command.env("PATH", &path).output().unwrap()
    };
    for name in HOSTILE {
        code(&sweep(name, &[]), 0, name);
        let script = fs::read_to_string(place.join(name).join("slurm/run-1/job.sh")).unwrap();
        let commands: Vec<&str> = script.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(matches!(commands[..], [command] if command.starts_with("exec ")), "{script}");
        let outputs: Vec<&str> = script.lines().filter(|line| line.contains("--output=")).collect();
        assert!(!outputs[0].replace("%%", "").replace("/%a.out", "").contains('%'), "{script}");
    }
    for name in ["a\ntouch x\n", "back\\slash", "a\rb"] {
        code(&sweep(name, &[]), 2, name);
        let scripts = place.join(name).join("slurm/run-1/job.sh");
        assert!(!scripts.exists(), "{name:?}");
    }
    code(&sweep("plain", &["--slurm-option=--comment=a\ntouch x"]), 2, "an option");
}

#[test]
fn a_terminal_obeys_no_name() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let evil = "\u{1b}]0;title\u{7}\u{1b}[31m\u{9b}1m\u{202e}";
    fs::write(place.join(format!("{evil}.toml")), format!("topology = \"{}\"\nload = 0.1\n", "torus:4x4")).unwrap();
    fs::write(place.join("bad.toml"), format!("topology = 'torus:4x4'\nload = 0.1 # {evil}\nname = \n")).unwrap();
    fs::write(place.join("bad.trc"), format!("c 0 100\n{evil} 0 1\n")).unwrap();
    let name = format!("{evil}.dot");
    fs::write(place.join(&name), format!("graph {{ \"a{evil}\" -- \"b\\\\\" -- c }}\n")).unwrap();
    let graph = format!("graph:{name}");
    let experiment = format!("{evil}.toml");
    let lines: [&[&str]; 9] = [
        &["run", &experiment, "--cycles", "500"],
        &["run", &format!("{evil}.absent")],
        &["run", "--topology", evil],
        &[evil],
        &["run", &format!("--{evil}")],
        &["config", "bad.toml"],
        &["run", "--trace", "bad.trc"],
        &["topology", &graph],
        &["topology", &graph, "--format", "dot"],
    ];
    for line in lines {
        let output = fsin(place).args(line).args(["--color", "never"]).output().unwrap();
        for shown in [text(&output.stdout), text(&output.stderr)] {
            let hidden =
                |letter: char| (letter.is_control() && letter != '\n' && letter != '\t') || letter == '\u{202e}';
            assert!(!shown.contains(hidden), "{line:?}: {shown:?}");
        }
    }
}
