//! Commands for machines that are up, through the second serial port of each machine.
//!
//! A command is sent as a line of hexadecimal digits. The machine returns the output of the command unchanged, followed
//! by a record separator (byte 30), the exit status, and a newline. The machine sends a record separator and `ready`
//! once it accepts commands. The line `stop` ends a command that runs.

use std::fmt::Display;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::ArgMatches;

use super::{flags, folder};
use crate::cli::output::Document;
use crate::cli::{Complaint, Exit, interrupt};

/// The record separator, which precedes the exit status of a command.
pub(super) const SEPARATOR: u8 = 30;
/// The bytes that a machine writes when it accepts commands.
const READY: &[u8] = b"\x1eready\n";
/// Interval between two checks of a machine.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The line that ends the command that a machine runs.
const STOP: &[u8] = b"stop\n";
/// Largest number of checks for the end of a command after [`STOP`].
const MAX_CHECKS_AFTER_STOP: u32 = 40;

/// Splits the bytes of a command into its output and its exit status, which is `None` until it has ended.
pub(super) fn parts(written: &[u8]) -> (&[u8], Option<u8>) {
    let Some(at) = written.iter().rposition(|&byte| byte == SEPARATOR) else { return (written, None) };
    let status = str::from_utf8(&written[at + 1..]).ok().and_then(|text| text.strip_suffix('\n')?.parse().ok());
    if status.is_some() { (&written[..at], status) } else { (written, None) }
}

/// Connects to the second serial port of a machine.
fn connect(sockets: &Path, machine: usize) -> Result<UnixStream, Complaint> {
    UnixStream::connect(sockets.join(folder::output(machine))).map_err(|error| {
        let what = format!("machine {machine} cannot be reached: {error}");
        Complaint::new(Exit::Failed, what, "see whether it has ended: its console is in the folder of the machines")
    })
}

/// Waits until a machine takes commands.
fn await_ready(folder: &Path, machine: usize, stop: &AtomicBool) -> Result<(), Complaint> {
    let log = folder.join(folder::output(machine));
    let is_ready = || fs::read(&log).is_ok_and(|text| text.windows(READY.len()).any(|window| window == READY));
    while !is_ready() {
        if stop.load(Ordering::Relaxed) {
            let what = format!("interrupted while machine {machine} boots");
            return Err(Complaint::new(Exit::Interrupted, what, "try again"));
        }
        // This fails if the machines have ended.
        folder::sockets(folder)?;
        thread::sleep(CHECK_INTERVAL);
    }
    Ok(())
}

/// Has a machine run a command, and copies its output to `to`. Returns its exit status; `None` if the machine ends
/// first, or the command goes on after [`STOP`], which is sent when `stop` becomes true.
fn perform(machine: &mut UnixStream, command: &str, to: &mut dyn Write, stop: &AtomicBool) -> io::Result<Option<u8>> {
    let mut line: String = command.bytes().map(|byte| format!("{byte:02x}")).collect();
    line.push('\n');
    machine.set_read_timeout(Some(CHECK_INTERVAL))?;
    machine.write_all(line.as_bytes())?;
    let (mut received, mut buffer) = (Vec::new(), [0; 4096]);
    let mut checks_since_stop = 0;
    loop {
        let read = match machine.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(read) => read,
            Err(error)
                if [ErrorKind::WouldBlock, ErrorKind::TimedOut, ErrorKind::Interrupted].contains(&error.kind()) =>
            {
                match (stop.load(Ordering::Relaxed), checks_since_stop) {
                    (false, _) => continue,
                    (true, 0) => machine.write_all(STOP)?,
                    (true, MAX_CHECKS_AFTER_STOP) => return Ok(None),
                    (true, _) => {}
                }
                checks_since_stop += 1;
                continue;
            }
            Err(error) => return Err(error),
        };
        received.extend_from_slice(&buffer[..read]);
        let (output, status) = parts(&received);
        if status.is_some() {
            to.write_all(output)?;
            to.flush()?;
            return Ok(status);
        }
        // The last bytes may be the beginning of the exit status: they are kept until more bytes come.
        let kept = received.iter().rposition(|&byte| byte == SEPARATOR).filter(|at| received.len() - at < 8);
        let copied = kept.unwrap_or(received.len());
        to.write_all(&received[..copied])?;
        to.flush()?;
        received.drain(..copied);
    }
}

/// `fsin machines run`: runs a command on each of the chosen machines, one after another.
pub(super) fn run(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let path = flags::folder_of(matches);
    let sockets = folder::sockets(path)?;
    let machines = flags::runners(matches, folder::count(&sockets))?;
    let command = matches.get_one::<String>("command").map_or("", String::as_str);
    let stop = interrupt::listen(interrupt::OF_NOTHING)?;
    let document = Document::open(matches)?;
    let (mut worst, mut ended) = (0, None);
    let failed = |machine: usize, error: &dyn Display| {
        let what = format!("machine {machine}: {error}");
        Complaint::new(Exit::Failed, what, "see its console in the folder of the machines")
    };
    document.write_raw(&mut |out| {
        for &machine in &machines {
            let ran = await_ready(path, machine, stop).and_then(|()| {
                let ran = connect(&sockets, machine).map(|mut machine| perform(&mut machine, command, out, stop));
                match ran?.map_err(|error| failed(machine, &error))? {
                    Some(status) => Ok(status),
                    None => Err(failed(machine, &"it has ended before its command")),
                }
            });
            match ran {
                Ok(status) => worst = worst.max(status),
                Err(complaint) => {
                    ended = Some(complaint);
                    break;
                }
            }
        }
        Ok(())
    })?;
    if stop.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    if let Some(complaint) = ended {
        return Err(complaint);
    }
    if worst == 0 {
        return Ok(Exit::Done);
    }
    // The exit status of a command need not be one of [`Exit`].
    std::process::exit(worst.into())
}

/// `fsin machines down`: switches all machines of a folder off.
pub(super) fn down(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let path = flags::folder_of(matches);
    let sockets = folder::sockets(path)?;
    let stop = interrupt::listen(interrupt::OF_NOTHING)?;
    for machine in 0..folder::count(&sockets) {
        await_ready(path, machine, stop)?;
        if let Ok(mut stream) = connect(&sockets, machine) {
            // The machine ends before it can return an exit status.
            let _ = perform(&mut stream, "off", &mut io::sink(), stop);
        }
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_ends_what_a_command_writes() {
        assert_eq!(parts(b"hello\n\x1e0\n"), (&b"hello\n"[..], Some(0)));
        assert_eq!(parts(b"\x1e127\n"), (&b""[..], Some(127)));
        assert_eq!(parts(b"hello\n\x1e12"), (&b"hello\n\x1e12"[..], None), "the status may go on");
        assert_eq!(parts(b"a\x1eb\n\x1e3\n"), (&b"a\x1eb\n"[..], Some(3)), "commands may write anything");
        assert_eq!(parts(b""), (&b""[..], None));
    }

    #[test]
    fn a_command_is_told_to_stop() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let machine = thread::spawn(move || {
            let mut line = [0; 8];
            there.read_exact(&mut line).unwrap();
            there.write_all(b"gone\n\x1e143\n").unwrap();
            line
        });
        let mut output = Vec::new();
        let status = perform(&mut here, "w", &mut output, &AtomicBool::new(true)).unwrap();
        assert_eq!((output.as_slice(), status), (&b"gone\n"[..], Some(143)));
        assert_eq!(machine.join().unwrap(), *b"77\nstop\n");
    }

    #[test]
    fn a_command_goes_in_hexadecimal_digits_and_its_output_comes_back() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let machine = thread::spawn(move || {
            let mut line = [0; 7];
            there.read_exact(&mut line).unwrap();
            for piece in [&b"one\n\x1e"[..], b"two\n", b"\x1e", b"4", b"2\n"] {
                there.write_all(piece).unwrap();
                thread::sleep(Duration::from_millis(5));
            }
            line
        });
        let mut output = Vec::new();
        let status = perform(&mut here, "ls ", &mut output, &AtomicBool::new(false)).unwrap();
        assert_eq!((output.as_slice(), status), (&b"one\n\x1etwo\n"[..], Some(42)));
        assert_eq!(machine.join().unwrap(), *b"6c7320\n");
    }
}
