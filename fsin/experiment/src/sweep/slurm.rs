//! Execution of points by Slurm, as a job array.
//!
//! Each task of the array runs the points of one list. The folders of the points alone tell their results; Slurm's own
//! reports are not used. Source: `sbatch(1)`, `squeue(1)`, `scancel(1)` of Slurm 20 and later.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Output};

use trgen::quote::{is_of_one_line, shell};

use super::plan::Point;
use super::store::{Store, StoreError};

/// Maximum number of tasks of an array: Slurm's default for `MaxArraySize` is 1001.
const MAX_TASKS: usize = 1000;

/// How points are submitted to Slurm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slurm {
    /// Maximum number of tasks that run at the same time; 0 for as many as Slurm allows.
    pub at_once: usize,
    /// Number of points that a task runs one after another; more if there would be more than 1000 tasks.
    pub pack: usize,
    /// Number of threads of each point.
    pub threads: usize,
    /// Further options of sbatch, such as `--partition=short`.
    pub options: Vec<String>,
}

/// A job array that was submitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlurmJob {
    /// Number of the job in Slurm.
    pub id: String,
    /// Number of tasks.
    pub tasks: usize,
}

impl Slurm {
    /// Submits an array that runs `points` of the sweep in `store` with the command that the words `program` start.
    ///
    /// # Errors
    /// Files that cannot be written, an `sbatch` that is absent or fails.
    pub fn submit(&self, store: &Store, program: &[OsString], points: &[&Point]) -> Result<SlurmJob, StoreError> {
        self.check(store.root(), program)?;
        let pack = self.pack.max(points.len().div_ceil(MAX_TASKS)).max(1);
        let root = store.written("slurm", std::path::absolute(store.root()))?;
        let folder = root.join("slurm");
        // Tasks of an earlier array may still read their lists.
        let run = (1..).find(|run| !folder.join(format!("run-{run}")).exists()).unwrap_or(1);
        let folder = folder.join(format!("run-{run}"));
        store.written("slurm", fs::create_dir_all(&folder))?;
        let tasks = points.len().div_ceil(pack);
        for (task, points) in points.chunks(pack).enumerate() {
            let list: String = points.iter().map(|point| format!("{}\n", point.id)).collect();
            store.written("slurm", fs::write(folder.join(format!("task-{task}")), list))?;
        }
        let script = folder.join("job.sh");
        store.written("slurm", fs::write(&script, self.script(program, &root, &folder, tasks)))?;
        let output = Command::new("sbatch").arg("--parsable").arg(&script).output();
        let text = output_of("sbatch", output)?;
        // `--parsable` prints the number, and after a semicolon the name of the cluster.
        let id = text.trim().split(';').next().unwrap_or("").to_owned();
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(failed(format!("sbatch answered `{}` and not the number of a job", text.trim())));
        }
        Ok(SlurmJob { id, tasks })
    }

    /// Refuses names that cannot stand in the lines of a batch script, or that Slurm would read as patterns.
    fn check(&self, root: &Path, program: &[OsString]) -> Result<(), StoreError> {
        let refused = |what: String, remedy: &'static str| Err(StoreError { what, remedy, usage: true });
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        for path in std::iter::once(&*root).chain(program.iter().map(Path::new)) {
            // A backslash in the name of an output file has Slurm replace nothing in it.
            if path.to_str().is_none_or(|text| !is_of_one_line(text) || text.contains('\\')) {
                let what =
                    format!("Slurm cannot use the path {path:?}: a line end, control character or backslash is in it");
                return refused(what, "rename it, or use {backend} local");
            }
        }
        if let Some(option) = self.options.iter().find(|option| !is_of_one_line(option)) {
            return refused(
                format!("the option {option:?} of Slurm has more than one line"),
                "give each option by itself",
            );
        }
        Ok(())
    }

    /// The batch script of the array.
    fn script(&self, program: &[OsString], root: &Path, folder: &Path, tasks: usize) -> String {
        let throttle = if self.at_once > 0 { format!("%{}", self.at_once) } else { String::new() };
        let mut script = format!(
            "#!/bin/sh\n#SBATCH --job-name=fsin-sweep\n#SBATCH --array=0-{}{throttle}\n#SBATCH --cpus-per-task={}\n\
             #SBATCH --output={}\n",
            tasks - 1,
            self.threads,
            directive_word(&folder.to_string_lossy(), "/%a.out"),
        );
        for option in &self.options {
            script.push_str(&format!("#SBATCH {option}\n"));
        }
        let program: Vec<String> = program.iter().map(|word| shell(&word.to_string_lossy())).collect();
        script.push_str(&format!(
            "exec {} point {} --list {}/task-\"$SLURM_ARRAY_TASK_ID\"\n",
            program.join(" "),
            shell(&root.to_string_lossy()),
            shell(&folder.to_string_lossy())
        ));
        script
    }
}

impl SlurmJob {
    /// True if any task is pending or running.
    ///
    /// # Errors
    /// When `squeue` fails.
    pub fn is_alive(&self) -> Result<bool, StoreError> {
        let output = Command::new("squeue").args(["--noheader", "--jobs", &self.id]).output();
        match output {
            // Slurm soon forgets a job that has ended.
            Ok(output) if String::from_utf8_lossy(&output.stderr).contains("Invalid job id") => Ok(false),
            output => output_of("squeue", output).map(|text| !text.trim().is_empty()),
        }
    }

    /// Cancels all tasks.
    ///
    /// # Errors
    /// When `scancel` fails.
    pub fn cancel(&self) -> Result<(), StoreError> {
        output_of("scancel", Command::new("scancel").arg(&self.id).output()).map(|_| ())
    }
}

/// The standard output of a command of Slurm.
fn output_of(program: &str, output: io::Result<Output>) -> Result<String, StoreError> {
    match output {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(failed(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()))),
        Err(error) => Err(failed(format!("cannot run {program}: {error}"))),
    }
}

/// The error of a command of Slurm that failed.
fn failed(what: String) -> StoreError {
    StoreError {
        what,
        remedy: "check that Slurm is installed here and running (sinfo), or use {backend} local",
        usage: false,
    }
}

/// The name of an output file as one word of an `#SBATCH` line, which supports quotation marks: a path without line
/// ends, in which a `%` is doubled, followed by a pattern.
fn directive_word(path: &str, pattern: &str) -> String {
    let text = format!("{}{pattern}", path.replace('%', "%%"));
    match text.contains(|letter: char| letter.is_whitespace() || "\"'\\#$`;&|<>()*?[]!~".contains(letter)) {
        true => format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &str) -> [OsString; 1] {
        [path.into()]
    }

    #[test]
    fn a_script_names_every_task_once() {
        let slurm = Slurm { at_once: 4, pack: 2, threads: 3, options: vec!["--partition=short".to_owned()] };
        let script = slurm.script(&program("/bin/fsin"), Path::new("/r"), Path::new("/r/slurm/run-1"), 7);
        assert_eq!(
            script,
            "#!/bin/sh\n#SBATCH --job-name=fsin-sweep\n#SBATCH --array=0-6%4\n#SBATCH --cpus-per-task=3\n\
             #SBATCH --output=/r/slurm/run-1/%a.out\n#SBATCH --partition=short\n\
             exec /bin/fsin point /r --list /r/slurm/run-1/task-\"$SLURM_ARRAY_TASK_ID\"\n"
        );
        assert_eq!(directive_word("/a b/\"c\"", "/%a.out"), "\"/a b/\\\"c\\\"/%a.out\"");
        assert_eq!(directive_word("/100%a", "/%a.out"), "/100%%a/%a.out");
    }

    #[test]
    fn no_name_of_a_folder_becomes_a_command() {
        let slurm = Slurm { at_once: 0, pack: 1, threads: 1, options: Vec::new() };
        for name in ["a\ntouch x", "a\r", "back\\", "\u{1b}[31m"] {
            let root = Path::new("/r").join(name);
            assert!(slurm.check(&root, &program("/bin/fsin")).is_err(), "{name:?}");
            assert!(slurm.check(Path::new("/r"), &[root.clone().into_os_string()]).is_err(), "{name:?}");
        }
        let options = Slurm { options: vec!["--x\ntouch x".to_owned()], ..slurm.clone() };
        assert!(options.check(Path::new("/r"), &program("/bin/fsin")).is_err());
        for name in ["two words", "it's", "a\"b", "$(touch x)", "`touch x`", "100%a", "-o", "#b", "\u{e9}\u{4e2d}"] {
            let root = Path::new("/r").join(name);
            assert!(slurm.check(&root, &program("/bin/fsin")).is_ok(), "{name:?}");
            let script = slurm.script(&program("/bin/fsin"), &root, &root.join("slurm/run-1"), 1);
            let lines: Vec<&str> = script.lines().collect();
            assert_eq!(lines.len(), 6, "{script}");
            // All but the command are comments for the shell.
            assert!(lines[..5].iter().all(|line| line.starts_with('#')), "{script}");
            let shown = lines[5].replacen("exec /bin/fsin", "printf %s,%s,%s,%s", 1);
            let ran = Command::new("sh").args(["-c", &shown]).env("SLURM_ARRAY_TASK_ID", "0").output();
            let ran = ran.expect("there is a shell");
            let expected = format!("point,{0},--list,{0}/slurm/run-1/task-0", root.display());
            assert_eq!(String::from_utf8_lossy(&ran.stdout), expected, "{script}");
        }
    }
}
