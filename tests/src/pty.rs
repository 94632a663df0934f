//! A command on its own terminal: keys in, screen contents out.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Longest wait for text to appear: test machines are busy.
const PATIENCE: Duration = Duration::from_secs(300);

/// A terminal with a command on it.
pub struct Terminal {
    controller: Option<File>,
    /// True once the output of the command is not read any longer.
    over: Arc<AtomicBool>,
    reader: Option<thread::JoinHandle<()>>,
    /// Kept open, to check in what state the command leaves it.
    terminal: OwnedFd,
    parser: Arc<Mutex<vt100::Parser>>,
    child: Child,
}

impl Terminal {
    /// Starts `program` on a terminal of this size; its stdout goes to `stdout`. `None`, with a message on stderr, if
    /// there is no suitable `setsid` to give it the terminal.
    ///
    /// # Panics
    /// When there are no pseudo-terminals.
    pub fn start(program: &Path, words: &[&str], stdout: &Path, (columns, rows): (u16, u16)) -> Option<Self> {
        // Commands do not inherit the controller, so that the window closes when this process closes it.
        let controller =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pseudo-terminal");
        grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a pseudo-terminal can be used");
        let name = ptsname(&controller, Vec::new()).expect("a pseudo-terminal has a name");
        let terminal = open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
            .expect("a terminal can be opened");
        let side = || Stdio::from(terminal.try_clone().expect("descriptors"));
        let out = File::create(stdout).expect("results can be written");
        // The terminal is the controlling terminal of the command, as in a window: a change of size sends a signal.
        let child = Command::new("setsid")
            .args(["--ctty", "--wait"])
            .arg(program)
            .args(words)
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            // A panic message must fit on a screen of a few lines.
            .env("RUST_BACKTRACE", "0")
            .stdin(side())
            .stderr(side())
            .stdout(out)
            .spawn();
        let Ok(child) = child else {
            crate::shared::skipped("there is no setsid (util-linux)");
            return None;
        };
        let parser = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let controller = File::from(controller);
        let (mut reader, fed) = (controller.try_clone().expect("descriptors"), Arc::clone(&parser));
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read) = reader.read(&mut bytes) {
                if read == 0 || is_over.load(Ordering::Relaxed) {
                    return;
                }
                fed.lock().unwrap_or_else(PoisonError::into_inner).process(&bytes[..read]);
            }
        });
        let terminal = Self { controller: Some(controller), over, reader: Some(reader), terminal, parser, child };
        terminal.resize((columns, rows));
        Some(terminal)
    }

    /// Presses keys.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn press(&mut self, keys: &str) {
        self.controller().write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    fn controller(&self) -> &File {
        self.controller.as_ref().expect("the terminal has not been hung up")
    }

    /// Closes the window while the command draws on it.
    ///
    /// # Panics
    /// When the command does not draw.
    pub fn hang_up(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let reader = self.reader.take().expect("it is hung up once");
        let since = Instant::now();
        while !reader.is_finished() {
            assert!(since.elapsed() < PATIENCE, "nothing is drawn:\n{}", self.screen());
            thread::sleep(Duration::from_millis(20));
        }
        self.controller = None;
    }

    /// Changes the size.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn resize(&self, (columns, rows): (u16, u16)) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        self.parser.lock().unwrap_or_else(PoisonError::into_inner).screen_mut().set_size(rows, columns);
        tcsetwinsize(self.controller(), size).expect("the terminal has a size");
    }

    /// The contents of the screen.
    #[must_use]
    pub fn screen(&self) -> String {
        self.parser.lock().unwrap_or_else(PoisonError::into_inner).screen().contents()
    }

    /// Waits until the screen contains `text`.
    ///
    /// # Panics
    /// When it does not appear.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    /// Waits until the screen satisfies `is_so`.
    ///
    /// # Panics
    /// When it never does.
    pub fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let since = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(since.elapsed() < PATIENCE, "no `{what}` on the screen:\n{screen}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The process id of the command (or of `setsid`, if that waits for the command in another process).
    #[must_use]
    pub fn process(&self) -> u32 {
        let id = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        children.split_whitespace().next().and_then(|child| child.parse().ok()).unwrap_or(id)
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// When it does not end.
    pub fn wait(&mut self) -> ExitStatus {
        let since = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("the command can be waited for") {
                return status;
            }
            assert!(since.elapsed() < PATIENCE, "it does not end:\n{}", self.screen());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Checks that the terminal is restored: line editing and echo are on, the cursor is visible, and the primary
    /// screen is back.
    ///
    /// # Panics
    /// When it is not.
    pub fn check_restored(&self) {
        // The last bytes may still be in transit.
        self.wait_for_restored_screen();
        let modes = tcgetattr(&self.terminal).expect("the terminal has modes").local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG), "{modes:?}");
    }

    fn wait_for_restored_screen(&self) {
        let since = Instant::now();
        loop {
            let parser = self.parser.lock().unwrap_or_else(PoisonError::into_inner);
            let (alternate, hidden) = (parser.screen().alternate_screen(), parser.screen().hide_cursor());
            drop(parser);
            if !alternate && !hidden {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "alternate screen {alternate}, cursor hidden {hidden}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
