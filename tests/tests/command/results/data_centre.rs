//! Ports with classes: pauses with the pausing node, marks, queues over time; and the classes of messages.

use fsin::report::illegible;

use super::*;

/// Four hosts send to a fifth, in class 3, over a switch that pauses them.
const INCAST: &str = "src,dst,bytes,start,class\n0,4,1MB,0,3\n1,4,1MB,0,3\n2,4,1MB,0,3\n3,4,1MB,0,3\n";

/// A network with PFC.
const PFC: &str = "--network ethernet --forwarding static --topology star:5 --link-rate 100Gb/s --propagation 1us --frames roce --mtu 1000 \
                   --transport roce --pause pfc --buffer 1MB --ecn step:100kB";

/// The result of a run.
#[track_caller]
fn result(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("run {line} --format json -q"))).unwrap()
}

/// A figure of a row.
#[track_caller]
fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row}"))
}

#[test]
fn pictures_and_page_show_who_was_paused_by_whom() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("incast.csv"), INCAST).unwrap();
    done(folder.path(), &format!("sweep {PFC} --cc none --cc dcqcn --flows incast.csv --message-stats -q -o r"));
    done(folder.path(), "plot r --ports -q --format svg,png");
    let file = |name: &str| fs::read_to_string(folder.path().join("r/plots").join(name)).unwrap();
    // All four senders, by the switch; the receiver is never paused.
    let paused = file("paused-cc-none.csv");
    assert_eq!(paused.lines().count(), 1 + 4, "{paused}");
    for host in 0..4 {
        assert!(paused.contains(&format!("host {host}; class 3; by switch 5,")), "{paused}");
    }
    let found = result(folder.path(), &format!("{PFC} --cc none --flows incast.csv"));
    let ports = found["ports"].as_array().unwrap();
    let of = |port: &Value| {
        port["classes"].as_array().into_iter().flatten().map(|class| number(class, "paused_seconds")).sum::<f64>()
    };
    let longest = ports.iter().map(of).fold(0.0, f64::max);
    let drawn: f64 = paused.lines().nth(1).unwrap().rsplit(',').next().unwrap().parse().unwrap();
    assert!((drawn - longest * 1e6).abs() < 1e-6 && longest > 0.0, "{drawn} {longest}");
    assert!(file("marked-cc-dcqcn.csv").contains("switch 5; class 3; to host 4,"), "{}", file("marked-cc-dcqcn.csv"));
    for name in ["paused-cc-none", "marked-cc-none", "queue-cc-dcqcn"] {
        assert_eq!(illegible(&file(&format!("{name}.svg"))).unwrap(), [], "{name}");
        assert!(folder.path().join(format!("r/plots/{name}.png")).exists(), "{name}");
    }
    done(folder.path(), "report r -q");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(page.contains("<h2>Ports</h2>") && page.contains("by switch 5") && page.contains("paused by it (us)"));
    // Without classes there are no such figures.
    done(folder.path(), "run --network ethernet --topology star:4 --load 0.1 --cycles 100000000 -q -o plain");
    let told = code_and_words(&run(folder.path(), "plot plain --ports"), 2);
    assert!(told.contains("no port of any run was paused"), "{told}");
    done(folder.path(), "report plain -q");
    assert!(!fs::read_to_string(folder.path().join("plain/report.html")).unwrap().contains("<h2>Ports</h2>"));
}

/// Slow-down over size is on the page where messages are measured.
#[test]
fn the_page_has_slow_down_over_size() {
    let folder = tempfile::tempdir().unwrap();
    done(
        folder.path(),
        "sweep --topology torus:4x4 --size uniform(16,320) --message-stats --load 0.1,0.3 --cycles 3000 -q -o r",
    );
    done(folder.path(), "report r -q");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(page.contains("<h2>Messages by size</h2>") && page.contains("slow-down"));
}

#[test]
fn queues_are_drawn_over_time() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("incast.csv"), INCAST).unwrap();
    let line = format!("run {PFC} --cc dcqcn --flows incast.csv --port-stats histogram --format json");
    let found: Value = serde_json::from_str(&code(&run(folder.path(), &format!("{line} --queues q.csv")), 0)).unwrap();
    done(folder.path(), &format!("{line} -q --queues q.svg"));
    let table = fs::read_to_string(folder.path().join("q.csv")).unwrap();
    // The port of the switch to the receiver is the fullest, and never fuller than the result says.
    let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    assert_eq!(&head[..2], ["time_ps", "node_5_port_4"], "{table}");
    let lengths: Vec<f64> =
        table.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    let ports = found["ports"].as_array().unwrap();
    let receiver = ports.iter().find(|port| port["of"] == "switch" && port["to_node"] == 4).unwrap();
    let most = lengths.iter().copied().fold(0.0, f64::max);
    assert!(lengths.len() > 50 && most <= number(receiver, "queue_max_packets"), "{most} {receiver}");
    assert!(most > 0.8 * number(receiver, "queue_max_packets"), "{most} {receiver}");
    // Samples at equal distances have the mean of the result.
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let of_result = number(receiver, "queue_mean_packets");
    assert!((mean - of_result).abs() < 0.1 * of_result, "{mean} {of_result}");
    let svg = fs::read_to_string(folder.path().join("q.svg")).unwrap();
    assert!(svg.contains("node 5, port 4") && svg.contains("Time (us)"));
    assert_eq!(illegible(&svg).unwrap(), []);
    // The observer changes nothing.
    let without: Value = serde_json::from_str(&code(&run(folder.path(), &line), 0)).unwrap();
    assert_eq!(found["digest"], without["digest"]);
    for (wrong, why) in [
        ("--queues q.txt", ".svg or .csv"),
        ("--link-loads --queues q.csv --activity a.csv", "one observer"),
        ("--network zero --queues q.csv", "has none"),
    ] {
        let told = code_and_words(&run(folder.path(), &format!("run --kernel bintree:tasks=4 {wrong}")), 2);
        assert!(told.contains(why), "{wrong}: {told}");
    }
}

/// The classes of a result that had frames.
fn classes(found: &Value) -> Vec<u64> {
    found["classes"].as_array().unwrap().iter().map(|of| of["class"].as_u64().unwrap()).collect()
}

/// The class of a source is a setting, that of a job stands in its entry, that of a flow in its list.
#[test]
fn messages_have_the_class_of_their_source_or_job() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = "[[job]]\nkernel = \"all-to-all:tasks=2,bytes=200000\"\nclass = 1\n\n[[job]]\nkernel = \"all-to-all:tasks=2,bytes=200000\"\nclass = 5\n";
    fs::write(folder.path().join("jobs.toml"), jobs).unwrap();
    let found = result(folder.path(), &format!("{PFC} --cc none --job-mix jobs.toml"));
    assert_eq!(classes(&found), [1, 5], "{found}");
    let found =
        result(folder.path(), &format!("{PFC} --cc none --kernel all-to-all:tasks=5,bytes=200000 --traffic-class 3"));
    assert_eq!(classes(&found), [3], "{found}");
    let usual = result(folder.path(), &format!("{PFC} --cc none --kernel all-to-all:tasks=5,bytes=200000"));
    assert_eq!(classes(&usual), [0]);
    // One class alone is served as any other.
    assert_eq!(usual["digest"], found["digest"]);
    for (wrong, why) in [
        ("--kernel bintree:tasks=4 --traffic-class 8".to_owned(), "out of range"),
        ("--flows incast.csv --traffic-class 3".to_owned(), "in its list"),
        ("--job-mix jobs.toml --traffic-class 3".to_owned(), "class = 3"),
    ] {
        fs::write(folder.path().join("incast.csv"), INCAST).unwrap();
        let told = code_and_words(&run(folder.path(), &format!("run {PFC} --cc none {wrong}")), 2);
        assert!(told.contains(why), "{wrong}: {told}");
    }
    let line = "run --network ethernet --topology star:4 --kernel bintree:tasks=4 --traffic-class 3";
    assert!(code_and_words(&run(folder.path(), line), 2).contains("one queue"));
    fs::write(folder.path().join("wrong.toml"), "[[job]]\nkernel = \"bintree:tasks=4\"\nclass = 9\n").unwrap();
    let told = code_and_words(&run(folder.path(), &format!("run {PFC} --cc none --job-mix wrong.toml")), 2);
    assert!(told.contains("0 to 7"), "{told}");
}

/// Headrooms are set aside for the classes of a list, also if it names hosts instead of numbering them.
#[test]
fn classes_of_a_list_do_not_depend_on_the_names_of_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let links = (0..5).map(|host| format!("H{host} -- S;\n")).collect::<String>();
    fs::write(folder.path().join("net.dot"), format!("graph {{\n{links}}}\n")).unwrap();
    fs::write(folder.path().join("numbers.csv"), INCAST).unwrap();
    let named: String = INCAST
        .lines()
        .map(|line| match line.split(',').collect::<Vec<_>>()[..] {
            [from, to, bytes, start, class] if from != "src" => format!("H{from},H{to},{bytes},{start},{class}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    fs::write(folder.path().join("names.csv"), named).unwrap();
    let line = PFC.replace("star:5", "graph:net.dot");
    let all: Vec<Value> = ["numbers.csv", "names.csv"]
        .iter()
        .map(|list| result(folder.path(), &format!("{line} --cc none --flows {list}")))
        .collect();
    assert!(all[0]["pause_frames"].as_u64().unwrap() > 0);
    for figure in ["pause_frames", "digest", "classes", "buffers"] {
        assert_eq!(all[0][figure], all[1][figure], "{figure}");
    }
}
