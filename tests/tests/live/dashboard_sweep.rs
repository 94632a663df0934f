//! The dashboard of a sweep on a terminal: watching, pausing and ending it leaves the results byte-identical.

use std::fs;
use std::path::Path;

use tests::command::{binary, run};
use tests::pty::Terminal;

/// Ten points, each long enough to press some keys.
const SWEEP: &str = "sweep --topology torus:8x8 --load 0.1..0.9/5 --seeds 2 --jobs 2 --cycles 900000";

fn start(folder: &Path, line: &str) -> Option<Terminal> {
    let words: Vec<&str> = line.split(' ').collect();
    Terminal::start(binary(), &words, &folder.join("out"), (80, 24))
}

/// The number after the last `name` on the screen.
fn number(screen: &str, name: &str) -> Option<u64> {
    let (_, rest) = screen.rsplit_once(name)?;
    let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == ' ').collect();
    digits.split_whitespace().collect::<String>().parse().ok()
}

fn point(screen: &str) -> Option<u64> {
    number(screen, "  point ")
}

/// Pauses a point. A point that is ending ignores commands: the key is pressed again for the next one.
fn pause(terminal: &mut Terminal) -> String {
    for _ in 0..20 {
        terminal.press("p");
        for _ in 0..30 {
            let screen = terminal.screen();
            if screen.contains("PAUSED") {
                return screen;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
    panic!("no point can be paused:\n{}", terminal.screen());
}

fn results(folder: &Path) -> [Vec<u8>; 2] {
    ["results.csv", "results.jsonl"].map(|name| fs::read(folder.join(name)).expect("results were written"))
}

/// Numbers of points and of unfinished files.
fn points(folder: &Path) -> (usize, usize) {
    let names = fs::read_dir(folder.join("points")).expect("there is a folder of points").flatten();
    let hidden = names.map(|entry| entry.file_name().to_string_lossy().starts_with('.')).collect::<Vec<_>>();
    (hidden.iter().filter(|&&hidden| !hidden).count(), hidden.iter().filter(|&&hidden| hidden).count())
}

#[test]
fn every_screen_another_point_pause_quit_and_resume() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = run(folder.path(), &format!("{SWEEP} -o plain"));
    assert_eq!(plain.status.code(), Some(0));
    let looked = folder.path().join("looked");
    let Some(mut terminal) = start(folder.path(), &format!("{SWEEP} --tui -o {}", looked.display())) else { return };
    terminal.wait_until("two points that run", |screen| screen.contains("2 running") && point(screen).is_some());
    let first = point(&pause(&mut terminal));
    terminal.press("w");
    let other = |screen: &str| point(screen).is_some() && point(screen) != first && screen.contains("RUNNING");
    terminal.wait_until("another point", other);
    let paused = pause(&mut terminal);
    for (key, text) in [
        ("2", "X across, Y down"),
        ("3", "queue behind"),
        ("4", "packets by latency"),
        ("5", "Jain's index"),
        ("1", "busiest links"),
        // The other points continue.
        ("6", ", seed 2: "),
        ("7", "of 10 points done"),
        ("?", "look at the next point that runs"),
    ] {
        terminal.press(key);
        terminal.wait_for(text);
    }
    let before = number(&paused, "  cycle ").expect("a cycle");
    terminal.press("?s");
    let stepped = |screen: &str| screen.contains("PAUSED") && number(screen, "  cycle ") == Some(before + 1);
    terminal.wait_until("one cycle more", stepped);
    terminal.resize((40, 12));
    terminal.wait_until("a small screen", |screen| screen.lines().count() <= 12 && screen.contains("PAUSED"));
    terminal.resize((120, 40));
    terminal.wait_for("mean latency (cycles)");
    terminal.press("qn");
    terminal.press("q");
    terminal.wait_for("end the sweep now?");
    terminal.press("y");
    assert_eq!(terminal.wait().code(), Some(130));
    terminal.check_restored();
    terminal.wait_for("interrupted; continue with");
    let (complete, partial) = points(&looked);
    assert!((1..10).contains(&complete) && partial == 0, "{complete} points, {partial} half-written ones");

    let line = format!("sweep --resume --jobs 2 --tui -o {}", looked.display());
    let Some(mut terminal) = start(folder.path(), &line) else { return };
    terminal.wait_for("earlier");
    terminal.wait_for("10 of 10 points done");
    terminal.wait_for("ENDED");
    // Available results do not wait for the user to leave.
    let expected = results(&folder.path().join("plain"));
    assert!(results(&looked) == expected, "looking, pausing and resuming changed the results");
    terminal.press("q");
    assert_eq!(terminal.wait().code(), Some(0));
    terminal.check_restored();
    assert!(results(&looked) == expected);
}

#[test]
fn an_interrupt_leaves_nothing_half_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let endless = folder.path().join("endless");
    let line = format!("sweep --load 0.1,0.2 --jobs 1 --cycles 100000000000 --tui -o {}", endless.display());
    let Some(mut terminal) = start(folder.path(), &line) else { return };
    terminal.wait_for("RUNNING");
    terminal.press("w");
    terminal.wait_for("no other point is running");
    terminal.press("\u{1b}[F\r");
    terminal.wait_for("this point is not running");
    terminal.press("\u{3}");
    assert_eq!(terminal.wait().code(), Some(130));
    terminal.check_restored();
    assert_eq!(points(&endless), (0, 0));
}

#[test]
fn a_dashboard_that_cannot_be_shown_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (words, remedy) in [
        ("--tui", "a sweep needs no terminal"),
        ("--tui --backend commands", "use --backend local"),
        ("--tui --backend slurm", "use --backend local"),
        ("--tui --dry-run", "cannot be used with"),
    ] {
        let output = run(folder.path(), &format!("sweep --load 0.1,0.2 -o refused {words}"));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words}: {stderr}");
        assert!(stderr.contains("--tui") && stderr.contains(remedy), "{words}: {stderr}");
        assert!(!folder.path().join("refused").exists(), "{words}");
    }
}
