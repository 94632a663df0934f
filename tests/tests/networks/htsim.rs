//! Runs of htsim's own programs (Ultra Ethernet and NDP), which draw: means of ours over 20 seeds agree with theirs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tests::command::fsin;
use tests::shared::{aloud, shared_file};

type Row = BTreeMap<String, String>;

/// The serial all-to-all in the archive of connection matrices.
const SERIAL: &str = "htsim-cm/ultraethernet+uet-htsim/htsim/sim/datacenter/connection_matrices/alltoall_serial_16n.cm";
/// Seeds of ours.
const SEEDS: usize = 20;
/// Largest difference of two means, in its standard errors.
const LIMIT: f64 = 3.0;
/// The comparisons beyond the limit with these seeds. Standard errors come from 4 or 6 runs of theirs, so that 2 to 4 of
/// 192 comparisons lie beyond it by chance (Student's distribution with 3 to 5 degrees of freedom). Of `perm16`, 100 seeds
/// of ours have a largest completion of 232.0 us, 2.8 standard errors from theirs, and the counts of trimmed frames (13.5,
/// and 21.0 of their 6 runs) differ by 2.1.
const KNOWN: &[&str] = &["incast32 ndp cycle 1 1 max", "incast32 nscc mixed 64 0 mean", "perm16 ndp cycle 64 1 max"];

fn rows(name: &str) -> Option<Vec<Row>> {
    let path = shared_file(&format!("reference/nextgen-htsim-{name}.csv"))?;
    Some(csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect())
}

/// Three tiers of switches of `ports` ports as htsim describes them: all links of 100 Gb/s and 1 us.
fn tree(ports: usize) -> String {
    let (half, nodes, pod) = (ports / 2, ports.pow(3) / 4, ports.pow(2) / 4);
    let mut text = format!("Nodes {nodes}\nTiers 3\nPodsize {pod}\n");
    for (tier, up, down) in [(0, half, half), (1, half, half), (2, 0, ports)] {
        write!(text, "\nTier {tier}\nDownlink_speed_Gbps 100\nRadix_Down {down}\nDownlink_Latency_ns 1000\n").unwrap();
        if up > 0 {
            writeln!(text, "Radix_Up {up}").unwrap();
        }
    }
    text
}

/// Four leaves of eight hosts, each with a link to eight spines; those of the first spine may have a quarter of the rate.
fn leaves(is_slow: bool) -> String {
    let mut text = "graph {\n".to_owned();
    for leaf in 0..4 {
        for at in 0..8 {
            let rate = if is_slow && at == 0 { " [rate=\"25Gb/s\"]" } else { "" };
            writeln!(text, "H{} -- L{leaf}; L{leaf} -- S{at}{rate};", 8 * leaf + at).unwrap();
        }
    }
    text + "}\n"
}

/// \[us\] By seed: mean and largest completion of the flows of a case.
fn ours(folder: &Path, case: &Row, flows: &[&Row], seeds: usize) -> [Vec<f64>; 2] {
    let name = &case["case"];
    let (file, network) = match name.as_str() {
        "perm32-leafspine" => ("leaves.dot", leaves(false)),
        "perm32-leafspine-1slow" => ("slow.dot", leaves(true)),
        _ if flows[0]["nodes"] == "16" => ("16.topo", tree(4)),
        _ => ("128.topo", tree(8)),
    };
    fs::write(folder.join(file), network).unwrap();
    let line = |flow: &&Row| format!("{},{},{},0\n", flow["src"], flow["dst"], flow["bytes"]);
    fs::write(
        folder.join("flows.csv"),
        "src,dst,bytes,start\n".to_owned() + &flows.iter().map(line).collect::<String>(),
    )
    .unwrap();
    let paths = &case["paths"];
    let mut words = format!(
        "sweep --network ethernet --forwarding static --topology graph:{file} --link-rate 100Gb/s --propagation 1us \
         --flows flows.csv --completion acked --message-stats -q --jobs 1 -o results"
    );
    match case["transport"].as_str() {
        "ndp" => write!(
            words,
            " --transport ndp:initial-window=23 --frames ndp --port-queue 72000B --trim coin --entropy cycle:paths={paths}"
        ),
        control => {
            let trim = if case["trim"] == "1" { "coin" } else { "off" };
            write!(words, " --transport uec --cc {control} --trim {trim} --entropy {}:paths={paths}", case["balance"])
        }
    }
    .unwrap();
    for seed in 1..=seeds {
        write!(words, " --seed {seed}").unwrap();
    }
    let output = fsin(folder).args(words.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    let found: Vec<Row> =
        csv::Reader::from_path(folder.join("results/results.csv")).unwrap().deserialize().map(Result::unwrap).collect();
    fs::remove_dir_all(folder.join("results")).unwrap();
    assert_eq!(found.len(), seeds);
    assert!(found.iter().all(|row| row["messages_unfinished"] == "0"), "{words}");
    ["mean", "max"].map(|figure| {
        found
            .iter()
            .map(|row| row[&format!("message_completion_{figure}_cycles")].parse::<f64>().unwrap() / 1e6)
            .collect()
    })
}

/// Mean, and square of its standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, if values.len() > 1 { squares / (count - 1.0) / count } else { 0.0 })
}

/// Our mean, theirs, and their difference in its standard errors. Where nothing varies, both must be equal to a tenth of
/// a ns.
fn compare(ours: &[f64], theirs: &[f64]) -> [f64; 3] {
    let ((our, our_square), (their, their_square)) = (mean(ours), mean(theirs));
    let difference = our - their;
    let errors = if difference.abs() < 1e-4 { 0.0 } else { difference / (our_square + their_square).sqrt() };
    [our, their, errors]
}

/// Compares the cases that are wanted, prints a table, and says what is beyond its limit.
fn check(is_wanted: impl Fn(&Row) -> bool) {
    let (Some(runs), Some(flows)) = (rows("runs"), rows("flows")) else { return };
    let mut groups: BTreeMap<Vec<&str>, Vec<&Row>> = BTreeMap::new();
    for run in runs.iter().filter(|run| is_wanted(run)) {
        let key = ["case", "transport", "balance", "paths", "trim"].map(|column| run[column].as_str());
        groups.entry(key.into()).or_default().push(run);
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut table, mut beyond, mut known) = (String::new(), Vec::new(), Vec::new());
    for (key, theirs) in &groups {
        let case = theirs[0];
        // The slow links are those of the first spine; the flows are the same.
        let name = case["case"].trim_end_matches("-1slow");
        let of_case: Vec<&Row> = flows.iter().filter(|flow| flow["case"] == name).collect();
        let seeds = if case["case"] == "one" { 1 } else { SEEDS };
        let found = ours(folder.path(), case, &of_case, seeds);
        for (figure, ours) in ["mean", "max"].iter().zip(&found) {
            let theirs: Vec<f64> = theirs.iter().map(|run| run[&format!("fct_{figure}_us")].parse().unwrap()).collect();
            let [our, their, errors] = compare(ours, &theirs);
            let (name, runs) = (format!("{} {figure}", key.join(" ")), theirs.len());
            writeln!(table, "{name}: {our:.3} us, theirs {their:.3} us of {runs}: {errors:.2} standard errors")
                .unwrap();
            if errors.abs() > LIMIT {
                beyond.push(name.clone());
            }
            known.extend(KNOWN.contains(&name.as_str()).then_some(name));
        }
    }
    writeln!(table, "{} comparisons, {} beyond {LIMIT} standard errors", 2 * groups.len(), beyond.len()).unwrap();
    aloud(&table);
    assert!(!groups.is_empty());
    assert_eq!(beyond, known, "beyond {LIMIT} standard errors, and known to be");
}

#[test]
fn small_cases_of_htsim_have_its_means() {
    check(|run| ["one", "incast2", "incast8", "perm16"].contains(&run["case"].as_str()));
}

#[test]
#[ignore = "two minutes: 1 750 runs"]
fn all_cases_of_htsim_have_its_means() {
    check(|_| true);
}

/// The number that follows a word of a line of a connection matrix.
fn behind(line: &str, word: &str) -> Option<u64> {
    line.split_whitespace().skip_while(|&one| one != word).nth(1)?.parse().ok()
}

/// Each host sends to the others, one after the other: every flow but the first of a host waits until its source knows that
/// the one before has arrived.
#[test]
fn the_serial_all_to_all_of_htsim_completes_and_no_flow_starts_before_its_trigger() {
    let Some(archive) = shared_file("corpus/htsim-cm.tar.xz") else { return };
    let folder = tempfile::tempdir().unwrap();
    tests::corpus::unpack_one(&archive, folder.path()).unwrap();
    let file = folder.path().join(SERIAL);
    let list = fs::read_to_string(&file).unwrap();
    let flows: Vec<&str> = list.lines().filter(|line| line.contains("->")).collect();
    fs::write(folder.path().join("16.topo"), tree(4)).unwrap();
    for (log, transport) in [("nscc.csv", "uec"), ("rccc.csv", "uec --cc rccc"), ("ndp.csv", "ndp")] {
        let words = format!(
            "run --network ethernet --forwarding static --topology graph:16.topo --link-rate 100Gb/s --propagation 1us \
             --transport {transport} --cm-unit us --completion acked --message-stats --message-log {log} -q --format json"
        );
        let output = fsin(folder.path()).args(words.split_whitespace()).arg("--flows").arg(&file).output().unwrap();
        assert!(output.status.success(), "{transport}: {}", String::from_utf8_lossy(&output.stderr));
        let log = csv::Reader::from_path(folder.path().join(log)).unwrap();
        let number = |row: &Row, column: &str| row[column].parse::<u64>().unwrap();
        let times: BTreeMap<String, (u64, u64)> = log
            .into_deserialize::<Row>()
            .map(|row| {
                let row = row.unwrap();
                let start = number(&row, "generated_cycle");
                let name = format!("{}->{}", row["source"], row["destination"]);
                (name, (start, start + number(&row, "completion_cycles")))
            })
            .collect();
        assert_eq!((times.len(), flows.len()), (240, 240), "{transport}: all flows complete");
        let of = |line: &str| times[line.split_whitespace().next().unwrap()];
        let mut waiting = 0;
        for flow in &flows {
            let Some(trigger) = behind(flow, "trigger") else {
                assert_eq!(of(flow).0, 0, "{transport}: {flow}");
                continue;
            };
            let before = flows.iter().find(|one| behind(one, "send_done_trigger") == Some(trigger)).unwrap();
            waiting += 1;
            let (start, end) = (of(flow).0, of(before).1);
            assert!((end..=end + 1).contains(&start), "{transport}: {flow} starts at {start}, {before} ends at {end}");
        }
        assert_eq!(waiting, 224);
    }
}
