//! `fsin legacy`: the original's words give the same results as the printed line. Also `fsin topology --format svg`,
//! and the reports on `--faults`.

mod networks;
mod words;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tests::command::fsin;
use tests::shared::shared_file;

use words::becomes;

fn run(arguments: &[&str]) -> Output {
    fsin(Path::new(".")).args(arguments).output().expect("the command starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The printed line, run by a shell, as JSON.
fn again(printed: &str) -> Value {
    let line = printed.lines().find(|line| line.starts_with("fsin run ")).expect("a line for a shell");
    let words = shell_words(line);
    let words: Vec<&str> = words[1..].iter().map(String::as_str).chain(["--format", "json", "--quiet"]).collect();
    json(&run(&words))
}

/// Splits a line like a shell; quotes are '...'.
fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            letter => words.last_mut().expect("a word has begun").push(letter),
        }
    }
    words
}

/// Every word of the original's measured runs, and some more.
#[test]
fn the_words_of_the_original_give_the_digest_of_the_line() {
    let base = ["topo=torus_4_4", "load=0.5", "cycles=600", "packet_phits=8", "seed=13"];
    for words in [
        "mode=dor1 pattern=transpose",
        "mode=dor3 pattern=inverse",
        "mode=smart3 pattern=hotspot_0.2_0",
        "mode=random3 pattern=tornado",
        "mode=shortest3 amode=age",
        "mode=trc2 amode=fifo",
        "mode=basic2 amode=longest",
        "mode=improved2 amode=random",
        "mode=doubleob2 bsize=3",
        "mode=doubleadap2 cmode=single",
        "mode=adaptive3 intransit_pr=1",
        "mode=bimodal3 lbr=3 timeout_upper=50 timeout_lower=30",
        "imode=dor ninj=4",
        "imode=dsh ninj=4",
        "imode=lpath ninj=4",
        "imode=shp ninj=4",
        "par_inj=0",
        "routing=dir",
        "tql=8 faults=1",
        "global_cc=20 update_period=1",
        "topo=ttorus_8_4 sk_yx=4",
        "topo=torus_4_4_4 mode=hexaob6",
        "topo=mesh_4_4 pattern=complement",
        "topo=fattree_4_2 mode=adaptive1 pattern=hotregion",
        "topo=thintree_4_2_2 mode=static2",
        "topo=midimew_17 pattern=distribute",
        "topo=icube_2_1_4_4 mode=smart3",
        "trigger_rate=0.5 triggered=1 load=0.2",
        "longmessages=4 lng_msg_ratio=0.2",
        "topo=dragonfly_2_4_2 mode=ugal3",
        "link_loads=true",
        "link_loads=false",
    ] {
        let mut arguments = vec!["legacy"];
        arguments.extend(base);
        arguments.extend(words.split(' '));
        arguments.extend(["--format", "json"]);
        let output = run(&arguments);
        let (legacy, printed) = (json(&output), stderr(&output));
        let line = again(&printed);
        assert_eq!(legacy["digest"], line["digest"], "{words}: {printed}");
        assert_eq!(legacy["experiment"], line["experiment"], "{words}");
        assert!(legacy["packets_received"].as_u64().is_some_and(|count| count > 100), "{words}");
    }
}

/// A file of words, and the default file; later words override it.
#[test]
fn files_of_words_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = folder.path().join("fsin.conf");
    fs::write(&conf, "# sample\ntopo=torus_5_3\nload 0.2\ncycles=300\nmode=smart2\n").expect("a file");
    let path = conf.display().to_string();
    let named = run(&["legacy", &path, "load=0.4", "--format", "json"]);
    let found = fsin(folder.path()).args(["legacy", "load=0.4", "--format", "json"]).output();
    let found = found.expect("the command starts");
    assert_eq!(json(&named)["digest"], json(&found)["digest"]);
    assert_eq!(json(&named)["digest"], again(&stderr(&named))["digest"]);
    assert!(stderr(&found).contains("fsin.conf is read first") && !stderr(&named).contains("is read first"));
    assert_eq!(json(&named)["experiment"]["topology"], "torus:5x3");
    // Two files, of which the later one takes precedence; comments may be in Latin-1.
    let more = folder.path().join("more.conf");
    fs::write(&more, b"\xef\xbb\xbf; caf\xe9\r\n\tload =  0.3 ; less\r\n").expect("a file");
    let both = json(&run(&["legacy", &path, &more.display().to_string(), "--format", "json"]));
    assert_eq!((&both["experiment"]["topology"], &both["experiment"]["load"]), (&"torus:5x3".into(), &0.3.into()));
    for (words, expected) in [
        (vec!["legacy", "tqk=4"], "did you mean `tql`"),
        (vec!["legacy", "/no/such/file"], "cannot be read"),
        (vec!["legacy", "topo=torus_8_0"], "1 to 32767"),
        (vec!["legacy", "topo=tours_8_8"], "did you mean `torus`"),
    ] {
        let output = run(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr(&output).contains(expected), "{words:?}: {}", stderr(&output));
    }
}

/// Errors of `fsin run` name the original word and its line.
#[test]
fn values_that_are_refused_are_those_of_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = folder.path().join("sample.conf");
    for (text, place, of_words, why) in [
        ("topo=torus_4_4\n\nninj=99\n", "line 3: ", "`ninj=99`", "--injectors 99 is out of range"),
        ("load=x\ntopo=torus_4_4\n", "line 1: ", "`load=x`", "--load takes a number"),
        ("topo=torus_8_0\n", "line 1: ", "`topo=torus_8_0`", "size 0"),
        ("topo=torus_4_4\nmode=smart1\n", "line 2: ", "`mode=smart1`", "2 virtual channels"),
    ] {
        fs::write(&conf, text).expect("a file");
        let in_file = run(&["legacy", &conf.display().to_string()]);
        let in_line = run(&[&["legacy"], &text.split_whitespace().collect::<Vec<_>>()[..]].concat());
        for (output, place) in [(in_file, format!("sample.conf: {place}")), (in_line, "error: ".to_owned())] {
            assert_eq!(output.status.code(), Some(2), "{text}");
            let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains(&format!("{place}{of_words}: ")) && said.contains(why), "{text}: {said}");
        }
    }
}

/// The same for runs that end by themselves.
#[test]
fn shots_and_traces_give_the_digest_of_the_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("t.trc");
    fs::write(&trace, TRACE).expect("a file");
    let trace = format!("tracefile={} trace_cpu_units=us placement=column_2_1 bg_load=0.2", trace.display());
    for words in ["shotmode=1 shotsize=5 numshots=3 tpattern=transpose", "topo=torus_3_3 shotmode=1 shotsize=0", &trace]
    {
        let output = run(&["legacy", "--format", "json"].into_iter().chain(words.split(' ')).collect::<Vec<_>>());
        let (legacy, line) = (json(&output), again(&stderr(&output)));
        assert_eq!(legacy["digest"], line["digest"], "{words}");
        assert!(legacy["packets_received"].as_u64().is_some_and(|count| count > 10), "{words}");
    }
}

/// Two tasks, each of which sends to the other.
const TRACE: &str = "c 0 1000\ns 0 1 7 256\nr 0 1 7 256\ns 1 0 8 256\nr 1 0 8 256\n";

/// A file in the original's form, with every word, is equivalent to its words in a line.
#[test]
fn a_file_is_its_words_in_a_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "topo=torus_6_6 rmode=shortest nchan=3 plength=4 iql=6 rseed=7 tpattern=hotspot warm_up_period=100 max_conv_time=0 \
                 nsamples=3 sample_size=500 shotmode=0 shotsize=0 trigger_rate=0 triggered=0 bub=2 drop=0 load=0.4 pinterval=10";
    let mut text = "; The original's file\n\n# network\n".to_owned();
    for (position, word) in words.split_whitespace().enumerate() {
        let (name, value) = word.split_once('=').expect("a word");
        text.push_str(&match position % 4 {
            0 => format!("{name}={value}\n"),
            1 => format!("  {name} = {value}   ; as measured\n"),
            2 => format!("{name}\t{value} # as measured\r\n"),
            _ => format!("{name}= {value}\n;\n"),
        });
    }
    fs::write(folder.path().join("fsin.conf"), text).expect("a file");
    let in_file = fsin(folder.path()).args(["legacy", "--format", "json"]).output().expect("the command starts");
    let mut arguments: Vec<&str> = vec!["legacy", "--format", "json"];
    arguments.extend(words.split_whitespace());
    let in_line = run(&arguments);
    assert_eq!(json(&in_file)["digest"], json(&in_line)["digest"]);
    assert_eq!(json(&in_file)["experiment"], json(&in_line)["experiment"]);
    assert_eq!(json(&in_file)["digest"], again(&stderr(&in_file))["digest"]);
}

/// Invalid words: the message and the remedy. Each in a line of a file and on the command line.
#[test]
fn wrong_words_are_refused_with_their_place_and_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = folder.path().join("wrong.conf");
    let wrong = [
        ("tqk=4", "`tqk` is not known", "did you mean `tql`"),
        ("frobnicate=4", "`frobnicate` is not known", "fsin legacy --help"),
        ("conv=4", "`conv` is the beginning of several words", "conv_period, conv_thres"),
        ("phit-bytes=4", "`phit-bytes` is not known", "did you mean"),
        ("load=", "`load` has no value", "write one"),
        ("load=x", "`load=x`", "--load 0.3"),
        ("load=-1", "`load=-1`", "use 0 to"),
        ("tpattern=unifrom", "`tpattern=unifrom`", "did you mean `uniform`"),
        ("tpattern=trace", "`tpattern=trace` needs the trace", "add tracefile=FILE"),
        ("topo=tours_8_8", "`topo` does not know `tours`", "did you mean `torus`"),
        ("topo=torus_8_0", "`topo=torus_8_0`", "1 to 32767"),
        ("topo=icube_4_4_2", "`topo=icube_4_4_2` needs endpoints", "icube_2_1_4_4"),
        ("topo=circulant_20_3_4", "needs two numbers", "circulant_64_8"),
        ("topo=circpk_4", "needs two numbers", "circpk_4_1"),
        ("topo=spinnaker_8_8_2", "a third that is 1", "spinnaker_8_8_1"),
        ("topo=dragonfly_2_4", "needs 3 numbers", "dragonfly_2_4_2"),
        ("topo=tricube_2_4", "the original's tricube has no counterpart", "graph:FILE"),
        ("extract=1", "`extract=1` has no counterpart here: 1 discards the packet", "write extract=0"),
        ("rmode=smrat3", "`rmode` does not know `smrat3`", "`smart`"),
        ("vc=3", "`vc=3`", "write nchan=3"),
        ("vc=dally", "`vc=dally` says only", "rmode=, one of trc"),
        ("vc=bubbel", "`vc` does not know `bubbel`", "did you mean `bubble`"),
        ("amode=oldest", "`amode` does not know `oldest`", "fifo"),
        ("par_inj=2", "`par_inj` does not know `2`", "`0`, `1`"),
        ("nways=3", "`nways=3`", "use 1 or 2"),
        ("ipr=50", "`ipr=50`", "use 0 to 1"),
        ("conv_thres=5", "`conv_thres=5` is no share", "0.05"),
        ("global_cc=0", "`global_cc=0`", "leave it out"),
        ("global_cc=150", "`global_cc=150`", "up to 100"),
        ("update_period=2", "without `global_cc`", "leave it out"),
        ("shotmode=2", "`shotmode` is 0 or 1", "shotmode=1"),
        ("shotmode=1", "`shotmode=1` needs the packets", "add shotsize=10"),
        ("trigger_rate=0.5", "`trigger_rate` needs `triggered`", "add triggered=1"),
        ("lng_msg_ratio=0.5", "`lng_msg_ratio` needs the length", "add longmessages"),
        ("tracefile=/no/such.trc", "`tracefile=/no/such.trc`", "check the path"),
        ("link_loads=maybe", "`link_loads` is true or false", "link_loads=true"),
    ];
    for (word, what, remedy) in wrong {
        fs::write(&conf, format!("# wrong\niql=4\n{word}\n")).expect("a file");
        let in_file = run(&["legacy", &conf.display().to_string()]);
        let in_line = run(&["legacy", word]);
        for (output, place) in [(in_file, "wrong.conf: line 3: "), (in_line, "error: ")] {
            let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(output.status.code(), Some(2), "{word}: {said}");
            assert!(said.contains(place) && said.contains(what) && said.contains(remedy), "{word}: {said}");
            assert!(output.stdout.is_empty(), "{word}");
        }
    }
    for (words, what, remedy) in [
        ("shotmode=1 shotsize=5 tracefile=t.trc", "exclude each other", "leave out shotmode or tracefile"),
        ("topo=ttorus_8_4 sk_yx=four", "`sk_yx` takes nodes, not `four`", "sk_yx=4"),
        ("longmessages=1 lng_msg_ratio=0.5", "`longmessages=1`", "longmessages=4"),
        ("topo=fattree_4_3 mode=dor1", "does not know `dor1`", "adaptive, static"),
        ("vc=dally rmode=smart", "does not know `smart`", "trc, basic"),
        ("trigger_rate=0.5 triggered=2", "without end", "below 1"),
        ("trigger_rate=2 triggered=1", "`trigger_rate=2` is not a share", "0 to 1"),
        ("longmessages=4", "needs the share", "lng_msg_ratio"),
        ("tracefile=t.trc placement=row_64_2", "2 instances", "--job-mix"),
        ("tracefile=t.trc placement=shift_64_1", "by how many nodes", "placement=shift_3"),
        ("tracefile=t.trc trace_cpu_units=1000", "`trace_cpu_units=1000` is a number", "ns, us, ms or cycles"),
        ("nways=1 topo=circpk_4_3", "one-way links", "smaller k"),
        ("mode=hexaob6", "`mode=hexaob6`", "use --routing bubble:smart"),
        ("topo=torus_x_4 global_cc=3", "`topo=torus_x_4`", "torus:8x8"),
    ] {
        let mut arguments = vec!["legacy"];
        arguments.extend(words.split(' '));
        let output = run(&arguments);
        let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(what) && said.contains(remedy), "{words}: {said}");
    }
}

/// Every word of a file that cannot be taken is named at once, each with its line.
#[test]
fn l5_all_refusals_of_a_file_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = folder.path().join("wrong.conf");
    fs::write(&conf, "tqk=4\nbsize=1_3\namode=oldest\nload=\nvc=bubbel\nextract=1\ntpattern=trace\n").expect("a file");
    let output = run(&["legacy", &conf.display().to_string()]);
    let said = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(2), "{said}");
    for (line, what) in [
        (1, "`tqk` is not known"),
        (2, "`bsize=1_3` is no whole number"),
        (3, "`amode` does not know `oldest`"),
        (4, "`load` has no value"),
        (5, "`vc` does not know `bubbel`"),
        (6, "`extract=1` has no counterpart"),
        (7, "`tpattern=trace` needs the trace"),
    ] {
        assert!(said.contains(&format!("line {line}: ")) && said.contains(what), "{what}: {said}");
    }
}

/// The original's words for trees, as others wrote them.
#[test]
fn l4_words_of_trees() {
    let Some(path) = shared_file("cases/second/tree-words.sh") else { return };
    let script = fs::read_to_string(path).expect("text");
    for line in script.lines().filter_map(|line| line.strip_prefix("fsin ")) {
        let output = run(&line.split_whitespace().collect::<Vec<_>>());
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("--routing tree:static"), "{line}: {}", stderr(&output));
    }
}

/// Every configuration in which the original was measured is accepted, and can be run.
#[test]
fn the_measured_configurations_are_read() {
    let mut seen = HashSet::new();
    for file in ["reference/fsin-original.csv", "reference/fsin-original-2.csv", "reference/fsin-original-3.csv"] {
        let Some(path) = shared_file(file) else { return };
        let text = fs::read_to_string(path).expect("text");
        for row in text.lines().skip(1) {
            let fields: Vec<&str> = row.split(',').collect();
            let [_, topology, mode, pattern, _, phits, _, options, ..] = fields[..] else { panic!("{row}") };
            let mut words = format!("topo={topology} mode={mode} tpattern={pattern} plength={phits} {options}");
            if !seen.insert(words.clone()) {
                continue;
            }
            words.push_str(" load=0.1 cycles=200");
            let (line, _) = becomes(&words);
            assert!(line.contains("--source throttled") && line.contains("--load 0."), "{words}: {line}");
        }
    }
    assert!(seen.len() > 60, "{}", seen.len());
}

/// The original's two configuration files, word for word: each of their words has its meaning, or is named.
#[test]
fn the_files_of_the_original_are_read_whole() {
    let Some(path) = shared_file("reference/fsin-conf-words.txt") else { return };
    let text = fs::read_to_string(path).expect("text");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("bt.A.trc"), TRACE).expect("a file");
    let files: Vec<&str> = text.split("# ").filter(|part| !part.is_empty()).collect();
    let [trace, uniform] = files[..] else { panic!("two files: {text}") };
    let expected = [
        "--topology torus:8x8 --ways 2 --vcs 2 --routing bubble:smart --order dim --faults 0 --packet 1 --phit-bytes 10000000 --queue 4 \
         --injection-queue 4 --injectors 4 --injection dor --arbitration rr --inject parallel --consumption multiple --bubble 2 --lbr 0 \
         --in-transit-priority 0 --source throttled --trace bt.A.trc --trace-unit ns --bandwidth 10000Mb/s --placement consecutive --seed 13",
        "--topology torus:8x8 --ways 2 --vcs 2 --routing bubble:smart --order dim --faults 0 --packet 16 --queue 4 \
         --injection-queue 4 --injectors 4 --injection dor --arbitration rr --inject parallel --consumption multiple --bubble 2 --lbr 0 \
         --in-transit-priority 0 --source throttled --traffic uniform --load 0.5 --warmup 10000 --conv-period 1000 --conv-threshold 0.05 \
         --max-conv-time 15000 --samples 20 --sample-size 2000 --min-batch-packets 0 --seed 13",
    ];
    for (file, expected) in [trace, uniform].into_iter().zip(expected) {
        let (name, words) = file.split_once('\n').expect("a name and words");
        let conf = folder.path().join("fsin.conf");
        fs::write(&conf, words).expect("a file");
        let output = fsin(folder.path()).args(["legacy", "fsin.conf"]).output().expect("the command starts");
        let said = stderr(&output);
        assert!(output.status.success(), "{name}: {said}");
        let line = said.lines().find_map(|line| line.strip_prefix("fsin run ")).expect("a line");
        let sorted = |line: &str| {
            let mut flags: Vec<String> = line.split("--").map(|flag| flag.trim().to_owned()).collect();
            flags.sort();
            flags
        };
        assert_eq!(sorted(line), sorted(expected), "{name}: {line}");
        // Every other word is off, as here, or named with a reason.
        let off = "extract=0 drop_packets=0 update_period=0 timeout_upper_limit=-1 timeout_lower_limit=-1 sk_yx=0 sk_zx=0 shotmode=0 \
                   bg_load=0.0 longmessages=1 lng_msg_ratio=0.0 trigger_rate=0 triggered=0 tpattern=trace";
        let set = "topo faults nways nchan tql iql vc bsize par_inj routing imode rmode amode cmode intransit_pr bub_to_adap rseed";
        let of_kind = match name {
            "src/fsin.conf" => "plength tracefile trace_cpu_units link_bandwidth placement",
            _ => "tpattern load warm_up_period conv_period conv_thres max_conv_time nsamples sample_size min_batch_pkt",
        };
        let (flat, is_in) =
            (said.replace('\n', " "), |list: &str, word: &str| list.split_whitespace().any(|known| known == word));
        for word in words.split_whitespace().filter(|word| !is_in(off, word)) {
            let (key, _) = word.split_once('=').expect("a value");
            let is_set = is_in(set, key) || is_in(of_kind, key);
            assert!(is_set || flat.contains(word), "{name}: {word} is neither set nor named: {said}");
        }
    }
}
