//! Benchmark of the engines, as one table: `cargo bench -p fsin --bench engine`.
//!
//! Each row is a run of the command. Its figures are the median over several runs, by processor time. The last column
//! is instructions of the whole process per packet hop, where `valgrind` is installed; start-up is excluded by
//! subtracting a second, shorter run. `BENCH_RUNS` (default 3) is the number of runs, `BENCH_ONLY` selects rows by a
//! part of their names.

#![allow(clippy::expect_used, reason = "a bench may panic")]
#![allow(clippy::print_stdout, reason = "the table is what the bench is for")]

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// A network under load.
struct Row {
    name: &'static str,
    arguments: &'static str,
    cycles: u64,
    /// True to count instructions, which takes fifty times as long.
    counted: bool,
}

const ROWS: &[Row] = &[
    row("16x16, load 0.1", "--topology torus:16x16 --load 0.1", 155_000, true),
    row("16x16, load 0.3", "--topology torus:16x16 --load 0.3", 155_000, true),
    row("16x16, load 0.5", "--topology torus:16x16 --load 0.5", 155_000, false),
    row("16x16, load 1.0", "--topology torus:16x16 --load 1.0", 155_000, true),
    row("16x16, 1 phit, load 0.2", "--topology torus:16x16 --load 0.2 --packet 1", 155_000, true),
    row("64x64, load 0.08", "--topology torus:64x64 --load 0.08", 20_000, false),
    row("64x64, load 0.08, 2 threads", "--topology torus:64x64 --load 0.08 --threads 2", 20_000, false),
    row("16x16x16, load 0.3", "--topology torus:16x16x16 --load 0.3", 6_000, false),
    row(
        "dragonfly of 1056, minimal, 2 channels, load 0.3",
        "--topology dragonfly:p=4,a=8,h=4 --routing dragonfly:minimal --vcs 2 --load 0.3",
        15_000,
        true,
    ),
    row("64x64, load 0.0001", "--topology torus:64x64 --load 0.0001", 10_000_000, false),
    row("128x128x64, load 0.05", "--topology torus:128x128x64 --load 0.05", 1_000, false),
    row("16x16, load 0.3, reference", "--topology torus:16x16 --load 0.3 --engine reference", 3_000, false),
];

const fn row(name: &'static str, arguments: &'static str, cycles: u64, counted: bool) -> Row {
    Row { name, arguments, cycles, counted }
}

impl Row {
    fn arguments(&self, cycles: u64) -> impl Iterator<Item = String> {
        let text = format!("run {} --cycles {cycles} --seed 1 --format json --quiet", self.arguments);
        text.split(' ').map(str::to_owned).collect::<Vec<_>>().into_iter()
    }

    /// The results of a run started by `command`.
    fn run(&self, mut command: Command, cycles: u64) -> Value {
        let output = command.args(self.arguments(cycles)).output().expect("the command can be started");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{}: {error}: {}", self.name, String::from_utf8_lossy(&output.stderr));
        })
    }

    /// Instructions per packet hop; `None` without `valgrind`.
    fn instructions_per_hop(&self) -> Option<f64> {
        let counted = |cycles: u64| {
            let out = std::env::temp_dir().join(format!("fsin-bench-{}", std::process::id()));
            let mut command = Command::new("valgrind");
            command.args(["--tool=callgrind", "--quiet"]).arg(format!("--callgrind-out-file={}", out.display()));
            command.arg(FSIN);
            let results = self.run(command, cycles);
            let profile = std::fs::read_to_string(&out).ok();
            // The file belongs to this benchmark and is no longer needed.
            let _ = std::fs::remove_file(&out);
            let total = profile?.lines().find_map(|line| line.strip_prefix("summary: ")?.trim().parse::<f64>().ok())?;
            Some((total, results["packet_hops"].as_f64()?))
        };
        Command::new("valgrind").arg("--version").output().ok().filter(|output| output.status.success())?;
        let (short, long) = (counted(1_000)?, counted(9_000)?);
        Some((long.0 - short.0) / (long.1 - short.1))
    }
}

const FSIN: &str = env!("CARGO_BIN_EXE_fsin");

fn main() {
    let runs: usize = std::env::var("BENCH_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(3);
    let only = std::env::var("BENCH_ONLY").unwrap_or_default();
    println!("{} ({runs} runs each)\n", PathBuf::from(FSIN).display());
    println!("| network | cycles/s | million hops/s | ns/hop | memory, MB | instructions/hop |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for row in ROWS.iter().filter(|row| row.name.contains(&only)) {
        let mut results: Vec<Value> = (0..runs.max(1)).map(|_| row.run(Command::new(FSIN), row.cycles)).collect();
        let seconds = |result: &Value| {
            row.cycles as f64 / result["cycles_per_second"].as_f64().expect("a run that long takes measurable time")
        };
        results.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        let median = &results[results.len() / 2];
        let time = seconds(median);
        let hops = median["packet_hops"].as_f64().expect("hops are counted");
        let memory = median["peak_memory_bytes"].as_f64().map_or("-".to_owned(), |bytes| format!("{:.1}", bytes / 1e6));
        let instructions = row.counted.then(|| row.instructions_per_hop()).flatten();
        println!(
            "| {} | {:.0} | {:.2} | {:.0} | {memory} | {} |",
            row.name,
            row.cycles as f64 / time,
            hops / time / 1e6,
            time / hops * 1e9,
            instructions.map_or("-".to_owned(), |count| format!("{count:.0}")),
        );
    }
}
