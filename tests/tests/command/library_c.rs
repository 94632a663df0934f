//! The C library as its users have it: installed, found by pkg-config, linked by compilers of C and C++.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use tests::command::{c_library, run};
use tests::shared::{skipped, workspace};

/// True if a tool is there; says aloud that it is not.
fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        skipped(&format!("no {tool}"));
    }
    found
}

#[track_caller]
fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The library, installed in a folder of its own, and what pkg-config says of it.
fn installed() -> (TempDir, Vec<String>) {
    let prefix = tempfile::tempdir().unwrap();
    let mut install = Command::new("sh");
    install.arg(workspace().join("adapters/c/install")).arg(prefix.path()).arg(c_library());
    text(&install.output().unwrap());
    let mut flags = Command::new("pkg-config");
    flags.env("PKG_CONFIG_PATH", prefix.path().join("lib/pkgconfig")).args(["--cflags", "--libs", "fsin"]);
    let flags = text(&flags.output().unwrap()).split_whitespace().map(str::to_owned).collect();
    (prefix, flags)
}

/// Compiles these sources with every warning as an error, against the installed library.
#[track_caller]
fn compiled(compiler: &[&str], sources: &[PathBuf], (prefix, flags): &(TempDir, Vec<String>)) -> Command {
    let program = prefix.path().join("program");
    let mut compile = Command::new(compiler[0]);
    compile.args(&compiler[1..]).args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).args(sources);
    text(&compile.args(flags).output().unwrap());
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", prefix.path().join("lib"));
    command
}

fn figures(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&text(&run(folder, &format!("{line} --format json")))).unwrap()
}

#[test]
fn a_program_in_c_has_the_figure_of_the_command() {
    if !has("cc") || !has("pkg-config") {
        return;
    }
    let source = workspace().join("examples/c/exchange.c");
    assert!(fs::read_to_string(&source).unwrap().lines().count() <= 60);
    let library = installed();
    let printed = text(&compiled(&["cc", "-std=c99", "-pedantic"], &[source], &library).output().unwrap());
    let mut flows = "src,dst,bytes,start\n".to_owned();
    for node in 0..64 {
        let _ = writeln!(flows, "{node},{},4096,0", (node + 36) % 64);
    }
    fs::write(library.0.path().join("flows.csv"), flows).unwrap();
    let of_command = figures(library.0.path(), "run --topology torus:8x8 --bandwidth 10Gb/s --flows flows.csv");
    let seconds = of_command["completion_seconds"].as_f64().unwrap();
    // The clock of the command is that of the next cycle.
    let cycle = seconds / of_command["completion_cycles"].as_f64().unwrap();
    assert_eq!(printed, format!("64 messages in {:.0} ps\n", (seconds - cycle) * 1e12));
}

/// Ping-pong and all-reduce over the interface of ASTRA-sim, with the times of formulas.
#[test]
fn collectives_of_astra_sim_take_the_times_of_formulas() {
    if !has("c++") || !has("pkg-config") {
        return;
    }
    let folder = workspace().join("adapters/astra-sim");
    let sources = ["FsinNetwork.cc", "examples/collectives.cc"].map(|name| folder.join(name));
    let lines: usize = ["FsinNetwork.hh", "FsinNetwork.cc", "stand-in/AstraNetworkAPI.hh"]
        .iter()
        .map(|name| fs::read_to_string(folder.join(name)).unwrap().lines().count())
        .sum();
    assert!(lines < 400, "{lines}");
    let library = installed();
    let include = format!("-I{}", folder.display());
    let stand_in = format!("-I{}", folder.join("stand-in").display());
    let program = compiled(&["c++", "-std=c++17", &include, &stand_in], &sources, &library);
    let times = |settings: &str, bytes: u64| {
        let mut command = Command::new(program.get_program());
        for (name, value) in program.get_envs() {
            command.env(name, value.unwrap());
        }
        text(&command.args([settings, &bytes.to_string()]).output().unwrap())
    };
    // A wire of 1 us and 50 bytes in a nanosecond, which is its cycle. Of 8 ranks each sends an eighth in 14 steps.
    const RANKS: u64 = 8;
    let wire = |bytes: u64| 1_000_000 + bytes * 20;
    for bytes in [8_000, 8_000_000] {
        let (there_and_back, all) = (2 * wire(bytes), 2 * (RANKS - 1) * wire(bytes / RANKS));
        let settings = format!("network = \"constant-delay:delay=1us,rate=50GB/s\"\nnodes = {RANKS}");
        assert_eq!(times(&settings, bytes), format!("ping-pong {there_and_back} ps\nall-reduce {all} ps\n"));
    }
    // A ring of routers, whose cycle is 3.2 ns: a packet takes the time of a message alone, and the next one follows it
    // in as many cycles as it has phits.
    let of_router = |packets: u64| {
        let list = format!("src,dst,bytes,start\n0,1,{},0\n", packets * 64);
        fs::write(library.0.path().join("one.csv"), list).unwrap();
        let alone = figures(library.0.path(), "run --topology torus:8 --flows one.csv");
        (alone["completion_cycles"].as_u64().unwrap() - 1) * 3200
    };
    let all = 2 * (RANKS - 1) * of_router(4);
    let printed = times("topology = \"torus:8\"", RANKS * 4 * 64);
    assert_eq!(printed, format!("ping-pong {} ps\nall-reduce {all} ps\n", 2 * of_router(4 * RANKS)));
    assert_eq!(of_router(5) - of_router(4), 16 * 3200);
    // Errors are told.
    let mut refused = Command::new(program.get_program());
    refused.env("LD_LIBRARY_PATH", library.0.path().join("lib"));
    let refused = refused.args(["topology = \"tours:8\"", "8"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("line 1 of the settings: topology: unknown topology `tours`")
    );
}

/// The adapter against headers that are laid out as ASTRA-sim's, with the interface in a folder of theirs, and its program.
#[test]
fn l9_the_adapter_of_astra_sim_takes_the_headers_of_astra_sim() {
    if !["c++", "make", "pkg-config"].iter().all(|tool| has(tool)) {
        return;
    }
    let adapter = workspace().join("adapters/astra-sim");
    let library = installed();
    let root = library.0.path();
    let shell = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", line]).current_dir(root);
        shell.env("PKG_CONFIG_PATH", root.join("lib/pkgconfig")).env("LD_LIBRARY_PATH", root.join("lib"));
        shell.env("CXXFLAGS", "-Wall -Wextra -Werror").env("ADAPTER", &adapter).output().unwrap()
    };
    text(&shell("cp -r $ADAPTER/test astra-sim && make -s -C astra-sim && touch workload system.json"));
    fs::write(root.join("network.toml"), "network = \"constant-delay:delay=1us,rate=50GB/s\"\nnodes = 8\n").unwrap();
    text(&shell("sh $ADAPTER/build astra-sim AstraSim_fsin"));
    let flags =
        "--workload-configuration workload --system-configuration=system.json --network-configuration=network.toml";
    // Of 8 ranks each sends an eighth of 1 MiB in 14 steps, each of whole nanoseconds at 50 bytes in one.
    let step = (1_000 + (1 << 20) / 8 / 50) * 1_000;
    assert_eq!(text(&shell(&format!("./AstraSim_fsin {flags}"))), format!("finished at {} ps\n", 14 * step));
    for (line, why) in [
        ("./AstraSim_fsin --system-configuration=system.json", "is missing"),
        ("./AstraSim_fsin --colour=red", "unknown argument"),
        ("sh $ADAPTER/build network.toml", "is no clone of ASTRA-sim"),
    ] {
        let refused = shell(line);
        assert_eq!(refused.status.code(), Some(2), "{line}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(why), "{line}");
    }
    // A folder that has the header itself, before or after that of the adapter.
    text(&shell("mkdir flat && cp astra-sim/astra-sim/common/*.hh flat && sed -i 's|astra-sim/common/||' flat/*.hh"));
    for folders in ["-I flat -I $ADAPTER", "-I $ADAPTER -I flat"] {
        text(&shell(&format!(
            "c++ -std=c++17 {folders} $ADAPTER/FsinNetwork.cc $ADAPTER/examples/collectives.cc \
             $(pkg-config --cflags --libs fsin) -o flat/collectives"
        )));
    }
}
