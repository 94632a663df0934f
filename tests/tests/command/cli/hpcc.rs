//! Configurations of HPCC, SimAI and ns3-rdma, with the files that they name, by one command.

use std::fs;
use std::path::Path;
use std::process::Output;

use tests::command::fsin;
use tests::corpus;
use tests::shared::{aloud, shared_folder};

use super::{figures, folder, text};

/// A configuration as simulators of HPCC have it, in `mix/` below the folder from which they are started.
const CONFIG: &str = "ENABLE_QCN 1\nUSE_DYNAMIC_PFC_THRESHOLD 1\n\nPACKET_PAYLOAD_SIZE 1000\n\nTOPOLOGY_FILE mix/topology.txt\n\
                      FLOW_FILE mix/flow.txt\nTRACE_FILE mix/trace.txt\nTRACE_OUTPUT_FILE mix/mix.tr\nFCT_OUTPUT_FILE mix/fct.txt\n\
                      PFC_OUTPUT_FILE mix/pfc.txt\n\nSIMULATOR_STOP_TIME 4.00\n\nCC_MODE 1\nALPHA_RESUME_INTERVAL 1\n\
                      RATE_DECREASE_INTERVAL 4\nCLAMP_TARGET_RATE 0\nRP_TIMER 300\nEWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\n\
                      RATE_AI 80Mb/s\nRATE_HAI 800Mb/s\nMIN_RATE 100Mb/s\nDCTCP_RATE_AI 1000Mb/s\n\nERROR_RATE_PER_LINK 0.0000\n\
                      L2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nL2_BACK_TO_ZERO 0\n\nHAS_WIN 1\nGLOBAL_T 1\nVAR_WIN 1\nFAST_REACT 1\n\
                      U_TARGET 0.95\nMI_THRESH 0\nINT_MULTI 1\nMULTI_RATE 0\nSAMPLE_FEEDBACK 0\n\nRATE_BOUND 1\n\nACK_HIGH_PRIO 0\n\n\
                      LINK_DOWN 0 0 0\n\nENABLE_TRACE 1\n\nKMAX_MAP 2 100000000000 1600 400000000000 6400\n\
                      KMIN_MAP 2 100000000000 400 400000000000 1600\nPMAX_MAP 2 100000000000 0.2 400000000000 0.2\n\nBUFFER_SIZE 32\n\
                      QLEN_MON_FILE mix/qlen.txt\nQLEN_MON_START 2000000000\nQLEN_MON_END 2010000000\n";

/// Writes `mix/config.txt` and the files that it names: hosts 0 to 2 at switch 3, with links of 400 Gb/s and 1 us.
fn write(folder: &Path, config: &str, flows: &str) {
    let mix = folder.join("mix");
    fs::create_dir_all(&mix).unwrap();
    fs::write(mix.join("config.txt"), config).unwrap();
    let links =
        "4 1 3\n3\n0 3 400Gbps 0.001ms 0\n1 3 400Gbps 0.001ms 0\n2 3 400Gbps 0.001ms 0\n\nFirst line: total node #\n";
    fs::write(mix.join("topology.txt"), links).unwrap();
    fs::write(mix.join("flow.txt"), flows).unwrap();
}

fn call(folder: &Path, words: &[&str]) -> Output {
    fsin(folder).args(words).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A flow of 10 MB alone: 10 000 frames of 1 048 bytes at 20.96 ns, one of them on the second link, an acknowledgement of 60
/// bytes on both, and four delays of 1 us.
#[test]
fn one_command_makes_an_experiment_that_runs() {
    const ALONE: u64 = 10_000 * 20_960 + 20_960 + 2 * 1_200 + 4 * 1_000_000;
    for mode in ["CC_MODE 1", "CC_MODE 3", "ENABLE_QCN 0"] {
        let folder = folder();
        let more = if mode == "CC_MODE 3" { 42 } else { 0 };
        write(folder.path(), &format!("{CONFIG}{mode}\n"), "1\n0 1 3 100 10000000 2\n");
        let printed = text(&call(folder.path(), &["import", "hpcc", "mix/config.txt"]));
        fs::write(folder.path().join("e.toml"), printed).unwrap();
        let runs = [["run", "e.toml"], ["run", "mix/config.txt"]]
            .map(|words| figures(&call(folder.path(), &[&words[..], &["--format", "json", "-q"]].concat())));
        assert_eq!(runs[0]["digest"], runs[1]["digest"], "{mode}");
        let time = runs[0]["message_completion_max_cycles"].as_u64().unwrap();
        if more == 0 {
            assert_eq!(time, ALONE, "{mode}");
        } else {
            // Stamps make frames and acknowledgements longer, and HPCC aims at 95 % of the link.
            assert!(time > 10_000 * 21_800, "{mode}: {time}");
        }
        assert_eq!(runs[0]["experiment"]["completion"], "acked", "{mode}");
        // From another folder, by another path.
        let above = folder.path().join("mix");
        let from_there = figures(&call(&above, &["run", "config.txt", "--format", "json", "-q"]));
        assert_eq!(from_there["digest"], runs[0]["digest"], "{mode}");
    }
}

/// What is ignored is told with its reason, and only that; flags override the file.
#[test]
fn what_is_ignored_is_told() {
    let folder = folder();
    write(folder.path(), CONFIG, "2\n0 1 3 100 10000000 2\n2 1 3 100 10000000 2\n");
    let output = call(folder.path(), &["import", "hpcc", "mix/config.txt", "--seed", "7", "--buffer", "16MiB"]);
    let notes = said(&output);
    for name in ["TRACE_FILE", "QLEN_MON_START", "FCT_OUTPUT_FILE", "DCTCP_RATE_AI", "U_TARGET", "L2_CHUNK_SIZE"] {
        assert!(notes.contains(name), "{name}: {notes}");
    }
    for name in ["RP_TIMER", "KMAX_MAP", "PACKET_PAYLOAD_SIZE", "not given"] {
        assert!(!notes.contains(name), "{name}: {notes}");
    }
    let printed = text(&output);
    assert!(printed.contains("seed = 7") && printed.contains("buffer = 16777216"), "{printed}");
    assert!(printed.contains("increase-interval=300us") && printed.contains("ai=80Mb/s"), "{printed}");
}

#[test]
fn all_refusals_of_a_file_are_one_error() {
    let folder = folder();
    let wrong = format!(
        "{CONFIG}CC_MODE 7\nRATE_BOUND 0\nTOPOLOGY_FILE mix/none.txt\nLB_MODE 9\nKMAX_MAP 1 25\nBUFFER_SIZE big\n"
    );
    write(folder.path(), &wrong, "1\n0 1 3 100 10000000 2\n");
    let output = call(folder.path(), &["import", "hpcc", "mix/config.txt"]);
    assert_eq!(output.status.code(), Some(2));
    let said = said(&output);
    for what in ["TIMELY", "RATE_BOUND 0", "mix/none.txt", "LB_MODE", "KMAX_MAP", "BUFFER_SIZE big", "config.txt"] {
        assert!(said.contains(what), "{what}: {said}");
    }
    // Columns of ns3-rdma, and what is no configuration.
    write(folder.path(), CONFIG, "1\n2 1 3 10000000 2.0 9.5\n");
    let output = call(folder.path(), &["run", "mix/config.txt", "-q"]);
    let packets = self::said(&output);
    assert!(output.status.code() == Some(2) && packets.contains("ns3-rdma"), "{packets}");
    for (file, content, with) in [
        ("a.toml", "load = 0.1\n", "`NAME VALUE`"),
        ("a.cfg", "topology = mesh;\nrouting_function = dor;\n", "fsin import booksim"),
    ] {
        fs::write(folder.path().join(file), content).unwrap();
        let output = call(folder.path(), &["import", "hpcc", file]);
        assert!(
            output.status.code() == Some(2) && self::said(&output).contains(with),
            "{file}: {}",
            self::said(&output)
        );
    }
    write(folder.path(), CONFIG, "1\n0 1 3 100 1 2\n");
    let output = call(folder.path(), &["import", "booksim", "mix/config.txt"]);
    assert!(
        output.status.code() == Some(2) && self::said(&output).contains("fsin import hpcc"),
        "{}",
        self::said(&output)
    );
}

/// SimAI names neither links nor flows in its configuration: flags do.
#[test]
fn what_a_configuration_does_not_name_is_given_by_flags() {
    let folder = folder();
    write(folder.path(), "", "1\n0 1 3 100 10000000 0\n");
    let config: String = CONFIG
        .lines()
        .filter(|line| !line.starts_with("TOPOLOGY") && !line.starts_with("FLOW"))
        .fold(String::new(), |text, line| text + line + "\n");
    fs::write(folder.path().join("SimAI.conf"), format!("{config}BW_MON_FILE bw.txt\nMON_START 0\n")).unwrap();
    let without = call(folder.path(), &["import", "hpcc", "SimAI.conf"]);
    assert!(without.status.code() == Some(2) && said(&without).contains("--topology"), "{}", said(&without));
    let with =
        ["run", "SimAI.conf", "--topology", "graph:mix/topology.txt", "--kernel", "all-to-all:tasks=3,bytes=100000"];
    let found = figures(&call(folder.path(), &[&with[..], &["--format", "json", "-q"]].concat()));
    assert_eq!((&found["messages"], &found["complete"]), (&6.into(), &true.into()));
}

/// Topologies and lists of flows of the field, named by a configuration: each is taken, or refused with a true reason.
#[test]
fn files_of_the_field_in_a_configuration() {
    let Some(shared) = shared_folder("corpus") else { return };
    let unpacked = folder();
    corpus::unpack(&shared, unpacked.path()).unwrap();
    let rows = corpus::expected(&shared).unwrap();
    let of = |format: &str| rows.iter().filter(|row| row.format == format).collect::<Vec<_>>();
    let repository = |file: &str| file.split('/').nth(1).unwrap_or("").to_owned();
    let (mut taken, mut refused) = (0, 0);
    for links in of("ns3-topology") {
        let same = of("ns3-flows").into_iter().find(|flows| repository(&flows.file) == repository(&links.file));
        let flows = same.map(|flows| format!("FLOW_FILE {}\n", flows.path(unpacked.path()).display()));
        let config = format!(
            "ENABLE_QCN 0\nCC_MODE 3\nBUFFER_SIZE 512\nTOPOLOGY_FILE {}\n{}",
            links.path(unpacked.path()).display(),
            flows.as_deref().unwrap_or("")
        );
        let place = folder();
        fs::write(place.path().join("config.txt"), &config).unwrap();
        // Class 3 alone, and only the first picosecond.
        let mut words = vec!["run", "config.txt", "-q", "--format", "json", "--max-cycles", "1"];
        if flows.is_none() {
            words.extend(["--kernel", "bintree:tasks=2"]);
        }
        let output = call(place.path(), &words);
        let said = said(&output);
        match output.status.code() {
            // Stopped by its limit.
            Some(0 | 3) => taken += 1,
            Some(2) => {
                let is_true = ["node", "link", "class", "of numbers", "unit", "switch", "host"]
                    .iter()
                    .any(|word| said.contains(word));
                assert!(is_true && said.contains("help: "), "{}: {said}", links.file);
                aloud(&format!("{}: {}\n", links.file, said.lines().next().unwrap_or("")));
                refused += 1;
            }
            status => panic!("{}: {status:?}: {said}", links.file),
        }
    }
    aloud(&format!("configurations over files of the field: {taken} taken, {refused} refused\n"));
    assert!(taken >= 12, "{taken}");
}
