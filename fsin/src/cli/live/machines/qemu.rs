//! The processes of the machines: QEMU with the plugin that makes a machine a guest of the network.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use adapters::machine::address_of;

use super::folder::{self, Folder};
use crate::cli::live::beside::Library;
use crate::cli::live::processes::Processes;
use crate::cli::{Complaint, Exit};

/// The plugin that cargo builds.
pub(super) const PLUGIN: Library = Library {
    file: "libfsin_qemu_plugin.so",
    variable: "FSIN_QEMU_PLUGIN",
    package: "fsin-qemu-plugin",
    role: "QEMU loads to join the network",
};

/// The environment variable that names another QEMU program.
const VARIABLE: &str = "FSIN_QEMU";
/// Number of lines of output that are shown of a QEMU that has ended too early.
const SHOWN: usize = 4;

/// The machines to be started.
pub(super) struct Plan {
    /// The node of each machine.
    pub(super) nodes: Vec<u32>,
    /// Machines that run the command and end; without any, machines wait for commands.
    pub(super) runners: Vec<usize>,
    /// Folder with the kernel and the initial file system.
    pub(super) image: PathBuf,
    /// File of the plugin.
    pub(super) plugin: PathBuf,
    /// \[MiB\] Memory of each machine.
    pub(super) memory: u64,
    /// Seed of the random numbers of machines: addresses of memory, numbers of connections.
    pub(super) seed: u64,
    /// The address at which the network listens.
    pub(super) address: String,
}

/// The kernel and the initial file system of an image.
pub(super) fn files(image: &Path) -> Result<[PathBuf; 2], Complaint> {
    let file = |name: &str| {
        let path = image.join(name);
        path.canonicalize().map_err(|error| {
            let what = format!("--image {}: {name}: {error}", image.display());
            Complaint::new(Exit::Usage, what, "make it with `fsin machines prepare`")
        })
    };
    Ok([file("vmlinuz")?, file("initramfs")?])
}

/// A value in a list of options of QEMU, where a comma is doubled.
fn escaped(text: &str) -> String {
    text.replace(',', ",,")
}

/// Numbers joined by plus signs.
fn joined(numbers: impl IntoIterator<Item = impl ToString>) -> String {
    numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join("+")
}

impl Plan {
    /// The arguments of QEMU for a machine; it runs in the folder of the machines.
    fn arguments(&self, machine: usize, [kernel, files]: &[PathBuf; 2]) -> Vec<OsString> {
        let node = self.nodes[machine];
        let peers = joined(&self.nodes);
        let mac: Vec<String> = address_of(node).iter().map(|byte| format!("{byte:02x}")).collect();
        let runs = !self.runners.is_empty();
        let chardev = |id: &str, name: &str| match runs {
            // A machine that runs a command writes into files, which accept everything at once. Nothing from outside
            // reaches it, so that every run is the same.
            true => format!("file,id={id},path={name}"),
            false => format!("socket,id={id},path=sockets/{name},server=on,wait=off,logfile={name}"),
        };
        // The kernel uses the clock of the processor, which counts instructions, and nothing that depends on the host.
        let append = format!(
            "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable no_timer_check random.trust_cpu=on \
             fsin.machine={machine} fsin.nodes={peers}{}{}",
            if runs { " fsin.runners=" } else { "" },
            joined(&self.runners)
        );
        let plugin = format!(
            "{},address={},node={node},peers={peers},parent={},name=machine {machine}",
            escaped(&self.plugin.to_string_lossy()),
            escaped(&self.address),
            std::process::id(),
        );
        let mut words: Vec<OsString> = [
            "-accel tcg -M pc -cpu qemu64,+rdrand -smp 1 -nodefaults -no-user-config -display none -monitor none -no-reboot",
            // Each instruction takes two nanoseconds; an idle processor skips to its next timer.
            "-icount shift=1,sleep=off,align=off -rtc base=2026-01-01T00:00:00,clock=vm",
            "-netdev hubport,hubid=0,id=n",
        ]
        .iter()
        .flat_map(|line| line.split(' ').map(OsString::from))
        .collect();
        let mut option = |name: &str, value: OsString| words.extend([name.into(), value]);
        option("-m", self.memory.to_string().into());
        // Every machine has a seed of its own, which depends on the seed of the run.
        let seed = self.seed.wrapping_sub(1).wrapping_mul(1000).wrapping_add(42 + machine as u64);
        option("-seed", seed.to_string().into());
        // The interface sends by a timer of the machine's clock. By default a thread of the host sends, at any moment.
        let interface = "virtio-net-pci,netdev=n,tx=timer,x-txtimer=1000,ioeventfd=off,romfile=";
        option("-device", format!("{interface},mac={}", mac.join(":")).into());
        option("-chardev", chardev("c0", &folder::console(machine)).into());
        option("-serial", "chardev:c0".into());
        option("-chardev", chardev("c1", &folder::output(machine)).into());
        option("-serial", "chardev:c1".into());
        option("-kernel", kernel.into());
        option("-initrd", escaped(&files.to_string_lossy()).into());
        option("-append", append.into());
        option("-plugin", plugin.into());
        if self.runners.contains(&machine) {
            option("-fw_cfg", format!("name=opt/fsin/command,file={}", folder::COMMAND).into());
        }
        words
    }

    /// Starts the machines.
    pub(super) fn start(&self, folder: &Folder) -> Result<Processes, Complaint> {
        let files = files(&self.image)?;
        let program = env::var_os(VARIABLE).unwrap_or_else(|| "qemu-system-x86_64".into());
        let mut processes = Processes::default();
        for machine in 0..self.nodes.len() {
            let refused = |error: io::Error| {
                let what = format!("cannot start {} for machine {machine}: {error}", program.to_string_lossy());
                let remedy = match error.kind() {
                    ErrorKind::NotFound => format!("apt install qemu-system-x86, or name it in {VARIABLE}"),
                    _ => "allow more processes and open files (ulimit), or use fewer machines".to_owned(),
                };
                Complaint::new(Exit::Usage, what, remedy)
            };
            let errors = File::create(folder.path().join(folder::errors(machine))).map_err(refused)?;
            let child = Command::new(&program)
                .args(self.arguments(machine, &files))
                .current_dir(folder.path())
                .stdin(Stdio::null())
                .stdout(errors.try_clone().map_err(refused)?)
                .stderr(errors)
                // Ctrl-C ends the run, and the run ends the machines.
                .process_group(0)
                .spawn()
                .map_err(refused)?;
            processes.push(child);
        }
        Ok(processes)
    }
}

/// The last lines that the QEMU of a machine has written.
pub(super) fn last_lines(folder: &Path, machine: usize) -> String {
    let text = fs::read(folder.join(folder::errors(machine))).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    // QEMU warns of the plugin's network client, because it did not create that itself.
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.contains("not connected to host network"))
        .collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n  ")
}
