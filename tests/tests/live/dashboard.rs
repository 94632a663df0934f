//! The dashboard on a terminal: every screen, all controls, every way to end.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tests::command::{binary, run};
use tests::pty::Terminal;

/// A run that continues until it is stopped.
const ENDLESS: &[&str] =
    &["run", "--topology", "torus:8x8", "--load", "0.3", "--cycles", "100000000000", "--format", "json", "--tui"];

fn start(folder: &Path, words: &[&str]) -> Option<Terminal> {
    Terminal::start(binary(), words, &folder.join("out"), (80, 24))
}

fn result(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("out")).expect("results were written");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The cycle on the status line.
fn cycle(screen: &str) -> u64 {
    let (_, rest) = screen.rsplit_once("  cycle ").unwrap_or_else(|| panic!("no cycle:\n{screen}"));
    let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == ' ').collect();
    digits.split_whitespace().collect::<String>().parse().unwrap_or_else(|_| panic!("no number:\n{screen}"))
}

#[test]
fn every_screen_pause_step_resize_and_quit() {
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<&str> = ENDLESS.iter().map(|&word| if word == "100000000000" { "9000000" } else { word }).collect();
    let Some(mut terminal) = start(folder.path(), &words) else { return };
    terminal.wait_for("RUNNING");
    for (key, text) in [
        ("2", "X across, Y down"),
        ("3", "queue behind"),
        ("4", "packets by latency"),
        ("5", "Jain's index"),
        ("6", "nothing has been said"),
        ("1", "busiest links"),
        ("?", "speed limit: half, double, none"),
    ] {
        terminal.press(key);
        terminal.wait_for(text);
    }
    terminal.press("?p");
    let paused = cycle(&terminal.wait_for("PAUSED"));
    terminal.press("s");
    terminal.wait_until("one cycle more", |screen| screen.contains("PAUSED") && cycle(screen) == paused + 1);
    terminal.press("S");
    terminal.wait_until("1000 cycles more", |screen| screen.contains("PAUSED") && cycle(screen) == paused + 1001);
    let target = paused + 5_000;
    terminal.press(&format!("g{target}\r"));
    terminal.wait_until("the cycle that was asked for", |screen| screen.contains("PAUSED") && cycle(screen) == target);

    terminal.resize((40, 12));
    terminal.wait_until("a small screen", |screen| screen.lines().count() <= 12 && screen.contains("PAUSED"));
    terminal.resize((120, 40));
    terminal.wait_for("load, phits/node/cycle (asked: 0.300)");
    terminal.press("p");
    terminal.wait_for("RUNNING");
    terminal.press("-");
    terminal.wait_for("(limit ");
    terminal.press("0qn");
    terminal.press("q");
    terminal.wait_for("end the run now");
    terminal.press("y");
    assert_eq!(terminal.wait().code(), Some(130));
    terminal.check_restored();
    let result = result(folder.path());
    assert_eq!(result["complete"], false);
    assert!(result["cycles"].as_u64().unwrap() >= target - 1);
}

#[test]
fn results_are_the_same_looked_at_paused_or_alone() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run --topology torus:8x8 --load 0.5 --cycles 150000 --format json";
    let alone: Value = serde_json::from_slice(&run(folder.path(), line).stdout).unwrap();
    let words: Vec<&str> = line.split(' ').chain(["--tui"]).collect();
    let Some(mut terminal) = start(folder.path(), &words) else { return };
    terminal.press("p");
    terminal.wait_until("a pause or the end", |screen| screen.contains("PAUSED") || screen.contains("ENDED"));
    terminal.press("ssSp");
    terminal.wait_for("ENDED");
    terminal.press("q");
    assert_eq!(terminal.wait().code(), Some(0));
    terminal.check_restored();
    let watched = result(folder.path());
    for name in
        ["digest", "cycles", "packet_hops", "latency_mean_cycles", "latency_p999_cycles", "samples", "fairness_jain"]
    {
        assert_eq!(alone[name], watched[name], "{name}");
    }
}

#[test]
fn a_signal_ends_the_run_and_gives_the_terminal_back() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut terminal) = start(folder.path(), ENDLESS) else { return };
    terminal.wait_for("RUNNING");
    terminal.press("p");
    terminal.wait_for("PAUSED");
    let killed = Command::new("kill").args(["-TERM", &terminal.process().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(terminal.wait().code(), Some(143));
    terminal.check_restored();
    assert_eq!(result(folder.path())["complete"], false);
}

#[test]
fn a_window_that_is_closed_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut terminal) = start(folder.path(), ENDLESS) else { return };
    terminal.wait_for("RUNNING");
    terminal.hang_up();
    assert_eq!(terminal.wait().code(), Some(129));
    assert_eq!(result(folder.path())["complete"], false);
}

#[test]
fn a_tui_without_a_terminal_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "run --tui");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--monitor ADDRESS"));
}

/// Starts guests for these nodes, which follow the script in the folder.
fn guests(folder: &Path, nodes: &str) -> std::process::Child {
    let address = format!("unix:{}", folder.join("socket").display());
    let mut command = tests::command::fsin(folder);
    command.args(["guest", "--connect", &address, "--node", nodes, "script"]);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().expect("guests start")
}

#[test]
fn live_guests_come_play_and_leave() {
    let folder = tempfile::tempdir().unwrap();
    let script = "repeat 2000\n  send next 1024\n  receive\n  advance 1us\nend\n";
    std::fs::write(folder.path().join("script"), script).unwrap();
    let line = format!("serve --listen unix:{} --topology torus:4", folder.path().join("socket").display());
    let mut alone = tests::command::fsin(folder.path());
    let alone = alone.args(line.split(' ')).stderr(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let alone = alone.spawn().unwrap();
    guests(folder.path(), "0..3").wait().unwrap();
    let alone: Value = serde_json::from_slice(&alone.wait_with_output().unwrap().stdout).unwrap();

    let words: Vec<&str> = line.split(' ').chain(["--tui"]).collect();
    let Some(mut terminal) = start(folder.path(), &words) else { return };
    terminal.wait_for("0 of 4 nodes have one");
    let mut first = guests(folder.path(), "0..2");
    terminal.wait_for("3 of 4 nodes have one");
    terminal.press("5");
    terminal.wait_for("when all have come");
    terminal.press("p");
    terminal.wait_for("it will begin paused");
    let mut last = guests(folder.path(), "3");
    let paused = cycle(&terminal.wait_for("PAUSED"));
    terminal.wait_for("4 guests, 4 connected");
    terminal.press("S");
    terminal.wait_until("later", |screen| screen.contains("PAUSED") && cycle(screen) > paused);
    terminal.press("6");
    terminal.wait_for("for guests of 4 nodes");
    terminal.press("5p");
    terminal.wait_for("ENDED");
    terminal.wait_for("4 guests, 0 connected");
    terminal.press("q");
    assert_eq!(terminal.wait().code(), Some(0));
    terminal.check_restored();
    assert!(first.wait().unwrap().success() && last.wait().unwrap().success());
    let watched = result(folder.path());
    for name in ["digest", "cycles", "messages"] {
        assert!(!alone[name].is_null(), "{name}");
        assert_eq!(alone[name], watched[name], "{name}");
    }
}

/// The variable for the process that panics on a terminal.
const PANIC: &str = "TEST_PANIC=1";

#[test]
fn a_panic_gives_the_terminal_back() {
    // The example of the library acquires the terminal, draws once, and panics.
    let folder = tempfile::tempdir().unwrap();
    let test = std::env::current_exe().unwrap();
    let Some(mut terminal) = Terminal::start(
        Path::new("env"),
        &[PANIC, &test.to_string_lossy(), "--exact", "dashboard::helper_that_panics", "--nocapture"],
        &folder.path().join("out"),
        (80, 24),
    ) else {
        return;
    };
    assert_ne!(terminal.wait().code(), Some(0));
    terminal.check_restored();
    terminal.wait_for("the simulation has a fault");
}

/// Not a test: run by the test above on a terminal, and nothing without the variable.
#[test]
fn helper_that_panics() {
    let (name, _) = PANIC.split_once('=').expect("a variable and its value");
    if std::env::var_os(name).is_none() {
        return;
    }
    use std::sync::Arc;
    let about = Arc::new(tui::view::About::bare("a run with a fault".to_owned(), 4));
    let theme = tui::theme::Theme { depth: tui::theme::Depth::Sixteen };
    let app = tui::app::App::new(about, tui::app::Mode::Live, theme);
    let mut screen = tui::terminal::Screen::take().expect("a terminal");
    screen.draw(&app).expect("a terminal");
    // Another thread, like the simulation under the dashboard.
    let fault = std::thread::spawn(|| panic!("the simulation has a fault")).join();
    assert!(!tui::terminal::is_taken(), "the terminal is back although the screen still lives");
    fault.expect("it panics");
}
