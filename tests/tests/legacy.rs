//! `fsin legacy`: the original's words give what the printed line gives. `fsin topology --format svg`, and what `--faults`
//! says.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tests::command::fsin;

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

/// The line that was printed, run by a shell, as JSON.
fn again(printed: &str) -> Value {
    let line = printed.lines().find(|line| line.starts_with("fsin run ")).expect("a line for a shell");
    let words = shell_words(line);
    let words: Vec<&str> = words[1..].iter().map(String::as_str).chain(["--format", "json", "--quiet"]).collect();
    json(&run(&words))
}

/// Splits a line as a shell does; quotes are '...'.
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
        "topo=icube_4_4_2 mode=smart3",
        "topo=dragonfly_2_4_2 mode=ugal3",
        "topo=circulant_50_7 pattern=hotspot",
        "topo=circpk_3_2 mode=shortest2",
        "topo=spinnaker_4_4_1 mode=dor1",
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
        let otherwise = ["tornado", "imode=dor ", "imode=dsh", "global_cc", "adaptive3", "circpk"]
            .iter()
            .any(|word| words.contains(word));
        assert_eq!(printed.contains("the original"), otherwise, "{words}: {printed}");
    }
}

/// A file of words, and the one that is always read; words after it override it.
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

/// What `fsin run` refuses is said of the word that was written, and of its line.
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

/// Numbers in a text, whatever stands between them.
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

/// One circle for each node, one line for each link both ways.
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
        // One path is the head of arrows.
        assert_eq!((count("<circle "), count("<path ") - 1), (nodes, links), "{spec}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{spec}");
        nothing_is_cut(spec, &text);
    }
    let many = run(&["topology", "torus:64x64", "--format", "svg"]);
    assert_eq!(many.status.code(), Some(2));
    assert!(stderr(&many).contains("at most 2048 nodes"), "{}", stderr(&many));
}

/// Lost pairs are named before the run, and their messages counted; programs are refused.
#[test]
fn pairs_without_a_route_are_named() {
    let torn = ["run", "--topology", "torus:4x4", "--faults", "2", "--cycles", "2000", "--format", "json"];
    let output = run(&torn);
    let (result, said) = (json(&output), stderr(&output));
    assert!(said.contains("no route is left for") && said.contains("of 240 pairs of nodes ("), "{said}");
    assert_eq!(said.matches("no route is left for").count(), 1, "{said}");
    let count = |name: &str| result[name].as_u64().unwrap_or_else(|| panic!("{name} is a count"));
    assert!(count("packets_dropped") > 0);
    // What is left carries what it is asked to, however little that is.
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
