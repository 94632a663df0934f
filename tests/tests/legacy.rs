//! `fsin legacy`: the original's words give the same results as the printed line. Also `fsin topology --format svg`,
//! and the reports on `--faults`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tests::command::fsin;
use tests::shared::shared_file;

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

/// The line for these words, without `fsin run`, and the messages before it. Only short runs are simulated.
fn becomes(words: &str) -> (String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t.trc"), TRACE).expect("a file");
    let output = fsin(folder.path()).arg("legacy").args(words.split_whitespace()).output().expect("the command starts");
    let said = stderr(&output);
    assert!(output.status.success(), "{words}: {said}");
    let line = said.lines().find_map(|line| line.strip_prefix("fsin run ")).expect("a line").to_owned();
    (line, said.replace('\n', " "))
}

/// The parts of every line unless words change them: the original's defaults, and its only kind of source.
const DEFAULTS: &str = "--topology torus:4x4 --vcs 2 --injection-queue 4 --source throttled --load 0.05 --warmup 5000 --samples 10 \
                        --sample-size 1000";

/// The flags of a line with their values.
fn flags(line: &str) -> Vec<String> {
    let words = shell_words(line);
    words
        .split(|word| word.starts_with("--"))
        .skip(1)
        .zip(words.iter().filter(|word| word.starts_with("--")))
        .map(|(values, flag)| format!("{flag} {}", values.join(" ")))
        .collect()
}

/// Words, the resulting parts of the line in addition to the defaults or replacing them (`!` before a missing default),
/// and the messages.
const WORDS: &[(&str, &str, &str)] = &[
    ("nways=2", "--ways 2", ""),
    ("nways=1 topo=torus_5_5", "--ways 1 --topology torus:5x5", ""),
    ("nchan=3", "--vcs 3", ""),
    ("rmode=smart", "--routing bubble:smart", ""),
    ("rmode=smart3", "--routing bubble:smart --vcs 3", ""),
    ("mode=oblivious", "--routing bubble:oblivious", ""),
    ("mode=dor1", "--routing bubble:oblivious --vcs 1", ""),
    ("rmode=random", "--routing bubble:random", ""),
    ("rmode=shortest", "--routing bubble:shortest", ""),
    ("rmode=bimodal", "--routing bubble:bimodal", ""),
    ("rmode=doubleob", "--routing double:oblivious", ""),
    ("rmode=doubleadap", "--routing double:adaptive", ""),
    ("rmode=trc", "--routing dally:trc", ""),
    ("rmode=basic", "--routing dally:basic", ""),
    ("rmode=improved", "--routing dally:improved", ""),
    ("rmode=adaptive nchan=3", "--routing dally:adaptive --vcs 3", "the original's never does"),
    (
        "rmode=hexaob6 topo=torus_4_4_4",
        "--routing double:hexa-oblivious --vcs 6 --topology torus:4x4x4",
        "bubble on channel 0 only",
    ),
    (
        "rmode=hexaadap6 topo=torus_4_4_4",
        "--routing double:hexa-adaptive --vcs 6 --topology torus:4x4x4",
        "bubble on channel 0 only",
    ),
    ("vc=bubble", "", "not given: rmode, plength"),
    ("vc=bubble rmode=oblivious", "--routing bubble:oblivious", ""),
    ("vc=double rmode=adaptive", "--routing double:adaptive", ""),
    (
        "vc=double rmode=hexa-oblivious nchan=6 topo=torus_4_4_4",
        "--routing double:hexa-oblivious --vcs 6 --topology torus:4x4x4",
        "",
    ),
    ("vc=dally rmode=basic", "--routing dally:basic", ""),
    ("vc=tree rmode=static topo=fattree_4_2", "--routing tree:static --topology fattree:4,2", ""),
    ("vc=icube rmode=static topo=icube_2_1_4_4", "--routing cube:oblivious --topology icube:4x4:2", "crashes"),
    ("routing=dir", "--order dir", ""),
    ("plength=8", "--packet 8", "not given: rmode; what"),
    ("packet_phits=8", "--packet 8", ""),
    ("tql=6", "--queue 6", ""),
    ("transit_queue=6", "--queue 6", ""),
    ("iql=8", "--injection-queue 8", ""),
    ("ninj=2", "--injectors 2", ""),
    ("imode=shortest", "--injection shortest", ""),
    ("imode=dor ninj=4", "--injection dor --injectors 4", "last dimension"),
    ("imode=dsh ninj=4", "--injection dor-shortest --injectors 4", "last dimension"),
    ("imode=shp ninj=4", "--injection shortest-profitable --injectors 4", ""),
    ("imode=lpath ninj=4", "--injection longest-path --injectors 4", ""),
    ("par_inj=0", "--inject serial", ""),
    ("par_inj=1", "--inject parallel", ""),
    ("cmode=single", "--consumption single", ""),
    ("cmode=multiple", "--consumption multiple", ""),
    ("amode=fifo", "--arbitration fifo", ""),
    ("amode=longest", "--arbitration longest", ""),
    ("amode=age", "--arbitration age", ""),
    ("amode=random", "--arbitration random", ""),
    ("amode=highest_vc", "--arbitration highest-vc", ""),
    ("bsize=3", "--bubble 3", ""),
    ("bub=3", "--bubble 3", "bub=3: read as bsize"),
    ("bub_to_adap=1", "", "bub_to_adap=1: no counterpart here"),
    ("lbr=3", "--lbr 3", ""),
    ("intransit_pr=0.5", "--in-transit-priority 0.5", ""),
    ("ipr=0.5", "--in-transit-priority 0.5", "read as intransit_pr"),
    ("drop=1", "", "drop=1: no counterpart here"),
    ("drop_packets=1", "", "drop_packets=1: no counterpart here"),
    ("extract=1", "", "extract=1: no counterpart here"),
    ("faults=1", "--faults 1", ""),
    ("global_cc=30", "--global-cc 60", "counts capacity 2 times"),
    ("global_cc=30 nways=1", "--global-cc 30 --ways 1", ""),
    ("global_cc=60", "", "global_cc=60: the original's limit, 120 %"),
    ("global_cc=20 update_period=2", "--global-cc 40 --global-cc-period 8", "4 hops"),
    ("timeout_upper=50 timeout_lower=30 lbr=3", "--timeout-upper 50 --timeout-lower 30 --lbr 3", "congested for ever"),
    ("tpattern=transpose", "--traffic transpose", ""),
    ("pattern=inverse", "--traffic reversal", ""),
    ("tpattern=tornado", "--traffic tornado-fsin", "does not wrap"),
    ("tpattern=hotspot", "--traffic hotspot(0.02,0)", ""),
    ("tpattern=hotspot_0.1_0", "--traffic hotspot(0.1,0)", ""),
    ("tpattern=complement", "--traffic complement", ""),
    ("tpattern=rsdist", "--traffic rsdist", ""),
    ("load=0.3", "--load 0.3", ""),
    ("longmessages=4 lng_msg_ratio=0.2 plength=8", "--size bimodal(8,32,0.2) --packet 8", "not documented"),
    ("longmessages=0 lng_msg_ratio=0.2", "", "left out, without a part in a run with a steady load: lng_msg_ratio=0.2"),
    ("trigger_rate=0.5 triggered=1 load=0.1", "--temporal reactive(0.5,1) --load 0.2", "comes on top"),
    ("trigger_rate=0.2 triggered=2 load=0.1", "--temporal reactive(0.2,2) --load 0.166666667", "exactly so many"),
    ("trigger_rate=0 triggered=1", "", ""),
    ("shotmode=1 shotsize=5 numshots=3", "!--load !--warmup !--sample-size --shot 5 --samples 3", ""),
    (
        "shotmode=1 shotsize=0 nsamples=4 load=0.3",
        "!--load !--warmup !--sample-size --shot 15 --samples 4",
        "without a part in shots: load=0.3",
    ),
    ("shotmode=0 shotsize=5 numshots=3", "", "steady load: shotsize=5, numshots=3"),
    ("rseed=7", "--seed 7", ""),
    ("warm_up_period=100", "--warmup 100", ""),
    ("conv_period=500", "--conv-period 500", ""),
    ("conv_thres=0.1", "--conv-threshold 0.1", ""),
    ("max_conv_time=0", "--max-conv-time 0", ""),
    ("nsamples=3", "--samples 3", ""),
    ("sample_size=300", "--sample-size 300", ""),
    ("min_batch_pkt=10", "--min-batch-packets 10", ""),
    (
        "tracefile=t.trc trace_cpu_units=us link_bandwidth=1Gb/s placement=row_2_1 load=0.3",
        "!--load !--warmup !--samples !--sample-size --trace t.trc --trace-unit us --bandwidth 1Gb/s --placement row",
        "the run of an application: load=0.3",
    ),
    (
        "tracefile=t.trc tpattern=trace placement=shift_3",
        "!--load !--warmup !--samples !--sample-size --trace t.trc --placement shift:3",
        "",
    ),
    (
        "tracefile=t.trc tpattern=uniform",
        "!--load !--warmup !--samples !--sample-size --trace t.trc",
        "tpattern=uniform",
    ),
    (
        "tracefile=t.trc bg_load=0.1 tpattern=uniform",
        "!--load !--warmup !--samples !--sample-size --trace t.trc --temporal background(0.1) --traffic uniform",
        "",
    ),
    (
        "bg_load=0.1 placement=row_64_1 trace_cpu_units=9 link_bandwidth=9",
        "",
        "trace_cpu_units=9, link_bandwidth=9, bg_load=0.1",
    ),
    (
        "plevel=1 pheaders=1 bheaders=0 pinterval=100",
        "",
        "only change what is printed: plevel=1, pheaders=1, bheaders=0, pinterval=100",
    ),
    ("topology=mesh_3_4", "--topology mesh:3x4", ""),
    ("topo=ttorus_8_4 sk_yx=4", "--topology twisted:8x4:yx=4", ""),
    ("topo=ttorus_4_8 sk_xy=4", "--topology twisted:4x8:xy=4", ""),
    ("topo=ttorus_4_4_8 sk_xz=4", "--topology twisted:4x4x8:xz=4", ""),
    ("topo=ttorus_4_4_8 sk_yz=4 sk_zx=0 sk_zy=0", "--topology twisted:4x4x8:yz=4", ""),
    ("topo=torus_4_4 sk_yx=0", "", ""),
    ("topo=circulant_64_8", "--topology circulant:64:1,8", ""),
    ("topo=circpk_4_1", "--topology circulant:32:1,7", "not shortest"),
    ("topo=circpk_4_3", "--topology circulant:32:1,9", "not shortest"),
    (
        "topo=icube_2_1_4_4 rmode=smart3",
        "--topology icube:4x4:2 --routing cube:adaptive --vcs 3",
        "one adaptive routing",
    ),
    ("topo=spinnaker_8_8_1", "--topology spinnaker:8x8", ""),
    ("topo=midimew_17", "--topology midimew:17", ""),
    ("topo=fattree_4_2", "--topology fattree:4,2 --routing tree:adaptive", ""),
    ("topo=thintree_4_2_2", "--topology thintree:4,2,2 --routing tree:adaptive", ""),
    ("topo=slimtree_4_2_2 rmode=static1", "--topology slimtree:4,2,2 --routing tree:static --vcs 1", ""),
    ("topo=dragonfly_1_2_1", "--topology dragonfly:p=1,a=2,h=1 --routing dragonfly:minimal", ""),
    // Abbreviated.
    ("plen=8 tpat=transpose warm=100", "--packet 8 --traffic transpose --warmup 100", ""),
    (
        "conv_t=0.1 max_c=0 nsam=3 sample=300 min=10",
        "--conv-threshold 0.1 --max-conv-time 0 --samples 3 --sample-size 300 --min-batch-packets 10",
        "",
    ),
    ("topol=mesh_4_4 nc=3 rs=7 int=1", "--topology mesh:4x4 --vcs 3 --seed 7 --in-transit-priority 1", ""),
    (
        "tracef=t.trc trace_c=us link=1Gb/s",
        "!--load !--warmup !--samples !--sample-size --trace t.trc --trace-unit us --bandwidth 1Gb/s",
        "",
    ),
    // Ours, and a speed of ours.
    ("cycles=300", "!--warmup !--samples !--sample-size --cycles 300", ""),
    ("cycles=300 source=open", "!--warmup !--samples !--sample-size --cycles 300 --source open", ""),
];

#[test]
fn every_word_becomes_what_it_means() {
    for &(words, expected, said) in WORDS {
        let (line, notes) = becomes(words);
        let mut wanted: Vec<String> = flags(&format!("fsin run {DEFAULTS}"));
        // Quoted as in the line.
        for flag in expected
            .replace('!', "--! !")
            .split(" --")
            .map(|flag| flag.trim_start_matches("--").trim())
            .filter(|flag| !flag.is_empty())
        {
            let (absent, flag) = flag.strip_prefix("! !--").map_or((false, flag), |flag| (true, flag));
            let name = format!("--{} ", flag.split(' ').next().unwrap_or(""));
            wanted.retain(|known| !known.starts_with(&name));
            if !absent {
                wanted.push(format!("--{flag}"));
            }
        }
        let mut found = flags(&format!("fsin run {line}"));
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{words}");
        assert!(notes.contains(said), "{words}: {notes}");
    }
}

/// The words that the original is known to have; each occurs in the table above.
#[test]
fn no_word_is_left_out() {
    let known = "rmode nchan vc plength iql rseed tpattern nways warm_up_period conv_period conv_thres max_conv_time nsamples numshots \
                 sample_size min_batch_pkt shotmode shotsize trigger_rate triggered tracefile trace_cpu_units link_bandwidth \
                 longmessages lng_msg_ratio bub bub_to_adap ipr drop extract bg_load placement plevel pheaders bheaders pinterval \
                 topo mode load ninj imode cmode amode tql bsize sk_yx sk_xz par_inj routing intransit_pr lbr global_cc \
                 update_period timeout_upper timeout_lower";
    for name in known.split_whitespace() {
        let is_used = |words: &str| words.split_whitespace().any(|word| word.split('=').next() == Some(name));
        assert!(WORDS.iter().any(|(words, ..)| is_used(words)), "{name}");
    }
    // All at once, except those of other kinds of runs: ignored words are reported, and nothing is rejected.
    let all = "topo=torus_8_8 rmode=smart nchan=3 vc=bubble plength=8 iql=6 rseed=7 tpattern=uniform nways=2 warm_up_period=100 \
               conv_period=100 conv_thres=0.1 max_conv_time=300 nsamples=3 numshots=2 sample_size=100 min_batch_pkt=5 shotmode=0 \
               shotsize=5 trigger_rate=0.5 triggered=1 trace_cpu_units=1 link_bandwidth=1000 longmessages=0 lng_msg_ratio=0 bub=2 \
               bub_to_adap=1 ipr=0.5 drop=0 extract=0 bg_load=0 placement=row_64_1 plevel=1 pheaders=1 bheaders=1 pinterval=10 \
               sk_yx=0 load=0.1";
    let (line, said) = becomes(all);
    assert_eq!(
        line,
        "--topology torus:8x8 --ways 2 --vcs 3 --routing bubble:smart --packet 8 --injection-queue 6 --bubble 2 \
         --in-transit-priority 0.5 --source throttled --traffic uniform --temporal 'reactive(0.5,1)' --load 0.2 --warmup 100 \
         --conv-period 100 --conv-threshold 0.1 --max-conv-time 300 --samples 3 --sample-size 100 --min-batch-packets 5 --seed 7"
    );
    for name in ["numshots", "shotsize", "trace_cpu_units", "link_bandwidth", "lng_msg_ratio", "placement"] {
        assert!(said.contains(&format!("{name}=")), "{name}: {said}");
    }
}

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
        ("sk_yx=2", "`sk_yx=2` has no meaning with topo=torus_4_4", "ttorus"),
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
        ("longmessages=1", "`longmessages=1`", "longmessages=4"),
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
        ("topo=fattree_4_3 vc=bubble", "`vc` does not know `bubble`", "tree, or leave it out"),
        ("topo=fattree_4_3 mode=dor1", "does not know `dor1`", "adaptive, static"),
        ("vc=dally rmode=smart", "does not know `smart`", "trc, basic"),
        ("trigger_rate=0.5 triggered=2", "without end", "below 1"),
        ("trigger_rate=2 triggered=1", "`trigger_rate=2` is not a share", "0 to 1"),
        ("longmessages=4", "needs the share", "lng_msg_ratio"),
        ("tracefile=t.trc placement=row_64_2", "2 instances", "--job-mix"),
        ("tracefile=t.trc placement=shift_64_1", "by how many nodes", "placement=shift_3"),
        ("tracefile=t.trc link_bandwidth=1000", "`link_bandwidth=1000` has no unit", "10Gb/s"),
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

/// Every configuration in which the original was measured is accepted, and can be run.
#[test]
fn the_measured_configurations_are_read() {
    let mut seen = HashSet::new();
    for file in ["reference/fsin-original.csv", "reference/fsin-original-2.csv"] {
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

/// Numbers in a text, whatever their separators.
fn numbers(text: &str) -> Vec<f64> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).filter_map(|word| word.parse().ok()).collect()
}

/// The middle of every link lies within the picture.
fn nothing_is_cut(spec: &str, text: &str) {
    let box_of = |text: &str| numbers(text.split_once("viewBox=\"")?.1.split('"').next()?).try_into().ok();
    let [left, top, width, height]: [f64; 4] = box_of(text).unwrap_or_else(|| panic!("{spec}: no viewBox"));
    for path in text.split("<path d=\"").skip(2) {
        let [x0, y0, x1, y1, x2, y2] = numbers(path.split('"').next().unwrap_or_default())[..] else {
            panic!("{spec}: {path}")
        };
        let (x, y) = (0.25 * x0 + 0.5 * x1 + 0.25 * x2 - left, 0.25 * y0 + 0.5 * y1 + 0.25 * y2 - top);
        assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{spec}: {path}");
    }
}

/// One circle per node, one line per pair of links.
#[test]
fn a_network_is_drawn() {
    for (spec, ways, nodes, links) in [
        ("torus:4x4", "2", 16, 32),
        ("torus:5", "1", 5, 5),
        ("mesh:3x3x2", "2", 18, 12 + 12 + 9),
        ("torus:64x4", "2", 256, 512),
        ("torus:4x64", "2", 256, 512),
        ("torus:8x8x8", "2", 512, 1536),
        ("spidergon:8", "2", 8, 12),
        ("fattree:2,3", "2", 8 + 12, 8 + 16),
        ("dragonfly:p=2,a=4,h=2", "2", 72 + 36, 72 + 54 + 36),
    ] {
        let output = run(&["topology", spec, "--ways", ways, "--format", "svg"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).expect("text");
        let count = |what: &str| text.matches(what).count();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        // One path is the arrowhead.
        assert_eq!((count("<circle "), count("<path ") - 1), (nodes, links), "{spec}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{spec}");
        nothing_is_cut(spec, &text);
    }
    let many = run(&["topology", "torus:64x64", "--format", "svg"]);
    assert_eq!(many.status.code(), Some(2));
    assert!(stderr(&many).contains("at most 2048 nodes"), "{}", stderr(&many));
}

/// Lost pairs are named before the run, and their messages counted; programs are rejected.
#[test]
fn pairs_without_a_route_are_named() {
    let torn = ["run", "--topology", "torus:4x4", "--faults", "2", "--cycles", "2000", "--format", "json"];
    let output = run(&torn);
    let (result, said) = (json(&output), stderr(&output));
    assert!(said.contains("no route is left for") && said.contains("of 240 pairs of nodes ("), "{said}");
    assert_eq!(said.matches("no route is left for").count(), 1, "{said}");
    let count = |name: &str| result[name].as_u64().unwrap_or_else(|| panic!("{name} is a count"));
    assert!(count("packets_dropped") > 0);
    // The remaining network carries its offered load, however small that is.
    let little = ["run", "--topology", "torus:4x4", "--faults", "24", "--load", "0.1", "--format", "json"];
    let little = json(&run(&little));
    assert!(little["packets_dropped"].as_u64() > little["packets_received"].as_u64().map(|received| 4 * received));
    assert_eq!(little["saturated"], false);
    assert_eq!(
        count("packets_generated"),
        count("packets_received") + count("packets_dropped") + count("packets_in_flight")
    );
    for traffic in [["--kernel", "all-to-all"], ["--shot", "5"]] {
        let mut arguments = vec!["run", "--topology", "torus:4x4", "--faults", "2"];
        arguments.extend(traffic);
        let refused = run(&arguments);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains("would wait for ever"), "{}", stderr(&refused));
    }
    for (arguments, expected) in [
        (vec!["--fault-ways", "1"], "without --faults"),
        (vec!["--faults", "1", "--fault-ways", "3"], "does not know `3`"),
        (vec!["--faults", "33", "--topology", "torus:4x4"], "32 links, counted both ways"),
        (vec!["--faults", "1", "--routing", "double:oblivious", "--vcs", "2"], "cannot avoid dead links"),
        (vec!["--faults", "1", "--topology", "fattree:4,2", "--fault-ways", "1"], "die both ways"),
        (vec!["--link-delay", "1:2:3"], "2 kinds of links"),
        (vec!["--link-delay", "four"], "not `four`"),
        (vec!["--link-delay", "1:2", "--topology", "fattree:4,2", "--routing", "tree:adaptive"], "links of one kind"),
        (vec!["--global-cc", "120"], "not a percentage"),
        (vec!["--global-cc-period", "5"], "without --global-cc"),
        (vec!["--timeout-lower", "5"], "without --timeout-upper"),
        (vec!["--timeout-upper", "5"], "without --lbr"),
        (vec!["--timeout-upper", "5", "--timeout-lower", "6", "--lbr", "3"], "above --timeout-upper"),
    ] {
        let output = run(&[vec!["run"], arguments.clone()].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).replace("\n", " ").contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}
