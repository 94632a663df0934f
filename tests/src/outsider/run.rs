//! Runs of a drawn experiment, in every way that must not matter.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::draw::{Drawn, GRAPH};
use crate::command::fsin;

/// Longest time of one run. What is stopped then is not judged.
const PATIENCE: Duration = Duration::from_secs(8);

/// \[packets\] About how many a run may generate: longer runs, and higher loads, are cut.
const MOST_PACKETS: f64 = 1500.0;

/// What a command gave.
#[derive(Clone, PartialEq, Debug)]
pub struct Given {
    /// Exit status; `None` if it was stopped, or ended by a signal.
    pub code: Option<i32>,
    /// True if it was stopped, because it took too long.
    pub is_stopped: bool,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub said: String,
}

impl Given {
    /// The figures, if it printed some.
    #[must_use]
    pub fn figures(&self) -> Option<Map<String, Value>> {
        serde_json::from_str(&self.out).ok()
    }

    /// What it gave, in a line.
    #[must_use]
    pub fn in_short(&self) -> String {
        let said: String = self.said.lines().take(3).collect::<Vec<_>>().join(" ");
        format!("exit {:?}: {said}", self.code)
    }
}

/// The runs of an experiment.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The command line of the first.
    pub line: String,
    /// The first run: the fast engine on one thread, without observers.
    pub base: Given,
    /// The same once more.
    pub again: Given,
    /// The reference engine.
    pub reference: Given,
    /// Several threads.
    pub threads: Given,
    /// The file that `fsin config` writes of the flags.
    pub file: Given,
    /// All that is kept of nodes, flows, messages and links.
    pub observed: Given,
    /// As CSV.
    pub csv: Given,
    /// `fsin rerun` of the folder of a run.
    pub rerun: Given,
    /// `uniform_load_bound` of the topology, for uniform traffic alone.
    pub bound: Option<f64>,
    /// True if the network can carry any load.
    pub has_no_limit: bool,
    /// The offered load; `None` of programs.
    pub load: Option<f64>,
    /// True for a fixed run from the first cycle on.
    pub is_fixed: bool,
}

/// Runs a command in a folder.
fn give(folder: &Path, words: &[String]) -> Given {
    let mut command: Command = fsin(folder);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("fsin has just been built");
    let mut stdout = child.stdout.take().expect("it is piped");
    let mut stderr = child.stderr.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = stdout.read_to_string(&mut text);
        text
    });
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = stderr.read_to_string(&mut text);
        text
    });
    let begun = Instant::now();
    let mut is_stopped = false;
    let code = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.code(),
            Ok(None) if begun.elapsed() > PATIENCE => {
                is_stopped = true;
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            _ => std::thread::sleep(Duration::from_micros(500)),
        }
    };
    Given { code, is_stopped, out: reader.join().unwrap_or_default(), said: errors.join().unwrap_or_default() }
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Runs a drawn experiment in a folder of its own; the inner error is the reason why it is no valid experiment.
///
/// # Errors
/// How a command ends that must neither fail nor be stopped.
pub fn runs(drawn: &Drawn, folder: &Path) -> Result<Result<Runs, String>, String> {
    fs::write(folder.join("net.txt"), GRAPH).map_err(|error| error.to_string())?;
    let far = drawn.nodes / 2;
    fs::write(folder.join("one.csv"), format!("src,dst,bytes,start\n0,{far},64,0\n"))
        .map_err(|error| error.to_string())?;
    // The latency of the network, by one message across it.
    let mut probe = words("run --flows one.csv --format json -q");
    probe.extend(drawn.network.iter().cloned());
    let probed = give(folder, &probe);
    let refused = |given: &Given| match given.code {
        Some(2) => Ok(Err(given.said.clone())),
        None if given.is_stopped => Ok(Err(format!("{}: it takes too long", probe.join(" ")))),
        _ => Err(format!("{}: {}", probe.join(" "), given.in_short())),
    };
    let Some(latency) = probed.figures().and_then(|figures| figures.get("completion_cycles")?.as_f64()) else {
        return refused(&probed);
    };
    let mut line = words("run -q");
    line.extend(drawn.network.iter().cloned());
    line.extend(drawn.traffic.iter().cloned());
    line.extend(words(&format!("--seed {}", drawn.seed)));
    let cycles = (latency * drawn.latencies).clamp(1.0, 1e13);
    if drawn.is_program {
        line.extend(words(&format!("--max-cycles {}", (latency * 2000.0) as u64)));
    } else {
        let most = MOST_PACKETS / packets(drawn, &probed, cycles);
        let load = drawn.load.min(most).max(1e-6);
        line.extend(words(&format!("--load {load:.6}")));
        let cycles = cycles as u64;
        match drawn.batches {
            None => line.extend(words(&format!("--cycles {cycles}"))),
            Some(batches) => {
                let each = (cycles / batches as u64).max(1);
                line.extend(words(&format!(
                    "--warmup {} --samples {batches} --sample-size {each} --max-conv-time {}",
                    each * (drawn.seed as u64 % 3),
                    each * (drawn.seed as u64 % 2)
                )));
            }
        }
    }
    if let Some((what, share)) = drawn.failure {
        line.extend(words(&format!("--fail {what}@{}", (cycles * share) as u64)));
    }
    let with = |more: &str| {
        let mut line = line.clone();
        line.extend(words(more));
        line
    };
    let base = give(folder, &with("--format json"));
    if base.code == Some(2) || base.is_stopped {
        return Ok(Err(format!("{}: {}", line.join(" "), base.said)));
    }
    let mut config = with("-o e.toml");
    config[0] = "config".to_owned();
    config.retain(|word| word != "-q");
    let written = give(folder, &config);
    let file = match written.code {
        Some(0) => give(folder, &words("run e.toml -q --format json")),
        _ => written,
    };
    let is_kept = give(folder, &with("-o kept"));
    let rerun = if is_kept.code == Some(0) { give(folder, &words("rerun kept -q")) } else { is_kept };
    let model = drawn.network.get(1).map_or("", String::as_str);
    let has = |flag: &str| drawn.network.iter().chain(&drawn.traffic).any(|word| word == flag);
    let observers: &[&str] =
        &["--link-loads", "--node-stats", "--flow-stats", "--message-stats", "--latency-histogram"];
    // What a model does not keep is refused, and left out.
    let mut flags = String::new();
    for flag in observers {
        if give(folder, &{
            let mut line = with(&format!("{flags} {flag}"));
            line[0] = "config".to_owned();
            line.retain(|word| word != "-q");
            line
        })
        .code
            == Some(0)
        {
            flags += &format!(" {flag}");
        }
    }
    let is_uniform = !drawn.is_program
        && !has("--traffic")
        && !has("--temporal")
        && drawn.failure.is_none()
        && !has("--faults")
        && !has("--node-rate");
    let bound = is_uniform.then(|| bound(folder, drawn)).flatten();
    Ok(Ok(Runs {
        base,
        again: give(folder, &with("--format json")),
        reference: give(folder, &with("--engine reference --format json")),
        threads: give(folder, &with(&format!("--threads {} --format json", drawn.threads))),
        observed: give(folder, &with(&format!("{flags} --format json"))),
        csv: give(folder, &with("--format csv")),
        file,
        rerun,
        bound,
        has_no_limit: model == "zero" || model == "constant-delay" && !has("--rate"),
        load: line.iter().position(|word| word == "--load").and_then(|at| line.get(at + 1)?.parse().ok()),
        is_fixed: line.iter().any(|word| word == "--cycles"),
        line: line.join(" "),
    }))
}

/// \[packets\] About how many a run of this length generates at load 1.
fn packets(drawn: &Drawn, probed: &Given, cycles: f64) -> f64 {
    let figures = probed.figures().unwrap_or_default();
    let number = |name: &str| figures.get(name).and_then(Value::as_f64);
    let seconds =
        cycles * number("completion_seconds").unwrap_or(0.0) / number("completion_cycles").unwrap_or(1.0).max(1.0);
    let value =
        |flag: &str| drawn.network.iter().position(|word| word == flag).and_then(|at| drawn.network.get(at + 1));
    let rate = |word: &String| {
        Some(
            word.trim_end_matches("b/s").trim_end_matches(['M', 'G']).parse::<f64>().ok()?
                * if word.contains('G') { 1e9 } else { 1e6 },
        )
    };
    let of_nodes = match drawn.network.get(1).map_or("", String::as_str) {
        "ethernet" => seconds * value("--link-rate").and_then(rate).unwrap_or(1e9) / (8.0 * 1000.0),
        "flow" => seconds * value("--link-rate").and_then(rate).unwrap_or(1e10) / (8.0 * 64.0),
        "myrinet" => seconds * value("--link-rate").and_then(rate).unwrap_or(6.4e8) / (8.0 * 64.0),
        _ => cycles / value("--packet").and_then(|packet| packet.parse::<f64>().ok()).unwrap_or(16.0),
    };
    of_nodes * drawn.nodes as f64
}

/// The bound on uniform load that `fsin topology` prints.
fn bound(folder: &Path, drawn: &Drawn) -> Option<f64> {
    let at = drawn.network.iter().position(|word| word == "--topology")?;
    // Directions, and models, change it.
    let mut line = words("topology --format json --network");
    line.push(drawn.network.get(1)?.clone());
    line.push(drawn.network.get(at + 1)?.clone());
    if let Some(ways) = drawn.network.iter().position(|word| word == "--ways") {
        line.extend(["--ways".to_owned(), drawn.network.get(ways + 1)?.clone()]);
    }
    let figures = give(folder, &line).figures()?;
    let (_, bound) = figures.iter().find(|(name, _)| name.starts_with("uniform_load_bound"))?;
    bound.as_f64()
}
