//! Pictures of the figures of a sweep.

use super::*;

#[test]
fn saturated_points_are_hollow_and_not_joined() {
    let folder = tempfile::tempdir().unwrap();
    for (name, loads, joined) in [("below", "0.05,0.1", 1), ("beyond", "0.6,1", 0)] {
        let line = "--topology torus:8x8 --traffic transpose --cycles 6000 --routing bubble:oblivious --vcs 1 -q";
        done(folder.path(), &format!("sweep {line} --load {loads} -o {name}"));
        done(folder.path(), &format!("plot {name} --saturated -q"));
        let data = fs::read_to_string(folder.path().join(name).join("plots/latency.csv")).unwrap();
        let state = if joined == 0 { ",1" } else { ",0" };
        assert!(data.lines().skip(1).all(|line| line.ends_with(state)), "{data}");
        let svg = fs::read_to_string(folder.path().join(name).join("plots/latency.svg")).unwrap();
        // A single curve has no legend: lines of its colour and width connect the points.
        let is_line = |tag: &&str| tag.starts_with("polyline") && tag.contains("#0072B2") && tag.contains("\"4\"");
        assert_eq!(svg.split('<').filter(is_line).count(), joined, "{name}");
        let full = svg.split('<').filter(|tag| tag.starts_with("circle") && tag.contains("fill=\"#0072B2\"")).count();
        assert_eq!(full, 2 * joined, "{name}: full markers");
    }
}

#[test]
fn a_run_without_a_load_is_not_drawn_along_loads() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = "run --kernel bintree:tasks=16 --topology torus:4x4 -q";
    done(folder.path(), &format!("{kernel} -o bare"));
    let refused = run(folder.path(), "plot bare");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    code(&refused, 2);
    assert!(said.contains("bare: one run of traffic without a load") && said.contains("fsin report bare"), "{said}");
    assert!(!folder.path().join("bare/plots").exists());
    // The available figures are drawn.
    done(folder.path(), &format!("{kernel} --link-loads -o links"));
    let drawn = run(folder.path(), "plot links");
    assert_eq!(String::from_utf8_lossy(&drawn.stderr), "links/plots/links.svg: Load of links\n");
    code(&drawn, 0);
    let names: Vec<_> =
        fs::read_dir(folder.path().join("links/plots")).unwrap().map(|name| name.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    done(folder.path(), "report links -q");
    let page = fs::read_to_string(folder.path().join("links/report.html")).unwrap();
    assert!(
        !page.contains("Load of each sending node (phits") && !page.contains("<h2>Curves") && !page.contains("null"),
        "a load that is not there"
    );
    let table = done(folder.path(), "compare bare links");
    assert!(!table.contains("null"), "{table}");
    // With a load it is one point of a curve.
    done(folder.path(), "run --topology torus:4x4 --cycles 500 -q -o loaded");
    done(folder.path(), "plot loaded -q");
    assert!(folder.path().join("loaded/plots/latency.svg").exists());
    // Pictures go into a folder, which is hardly meant by the name of a file.
    let refused = run(folder.path(), "plot loaded -q -o latency.svg");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    code(&refused, 2);
    assert!(
        said.contains("-o latency.svg: it is the name of a file") && said.contains("-o DIR --format svg"),
        "{said}"
    );
    assert!(!folder.path().join("latency.svg").exists());
}

/// From nine curves on, pictures are split by a setting, and every picture names the common settings of its curves.
#[test]
fn pictures_are_parted_by_settings_and_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let done = |line: &str| code(&run(folder.path(), line), 0);
    let sweep = "sweep --topology torus:4x4 --cycles 300 --routing bubble:smart,bubble:random,bubble:oblivious";
    done(&format!("{sweep} --traffic uniform,transpose,complement --load 0.1,0.2 -q -o r"));
    let names = |to: &str| {
        let entries = fs::read_dir(folder.path().join(to)).unwrap().map(|entry| entry.unwrap().file_name());
        let names =
            entries.filter_map(|name| name.to_str()?.strip_suffix(".svg")?.strip_prefix("accepted").map(str::to_owned));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let text = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    done("plot r -q");
    assert_eq!(names("r/plots"), ["-complement", "-transpose", "-uniform"], "routings are compared");
    let (picture, data) = (text("r/plots/accepted-transpose.svg"), text("r/plots/accepted-transpose.csv"));
    assert!(picture.contains(">transpose</text>") && picture.contains(">bubble:smart</text>"), "{picture}");
    assert_eq!(
        (data.lines().count(), data.matches(",bubble:random; transpose,bubble:random,transpose,").count()),
        (7, 2),
        "{data}"
    );
    done("report r -q");
    assert_eq!(text("r/report.html").matches("Accepted load against load of each sending node: ").count(), 6);

    done("plot r -q --each routing -o each");
    assert_eq!(names("each"), ["-bubble-oblivious", "-bubble-random", "-bubble-smart"]);
    done("plot r -q --along traffic --only load=0.2 --only routing=bubble:smart --only routing=bubble:random -o along");
    assert_eq!(names("along"), [""]);
    let told = run(folder.path(), "plot r --only load=0.10 -o one");
    assert!(String::from_utf8_lossy(&told.stderr).contains(": uniform, load 0.1, open sources\n"), "{told:?}");
    let bars = text("along/accepted.csv");
    assert!(
        bars.starts_with(
            "curve,label,routing,load,traffic,position,accepted_load_of_senders_phits_per_node_cycle,ci95,saturated\n"
        ) && bars.lines().count() == 7
            && !bars.contains("oblivious"),
        "{bars}"
    );
    for (line, words) in [
        ("--along vcs", "--along vcs: it does not vary"),
        ("--each seed", "curves are means over seeds"),
        ("--each load", "curves are drawn along it"),
        ("--only load=0.3", "its values of load are 0.1, 0.2"),
        ("--along routingg", "`routingg` is not a setting"),
        ("--only load", "write KEY=VALUE"),
        ("-o along/accepted.csv", "name a folder"),
    ] {
        let refused = run(folder.path(), &format!("plot r {line}"));
        code(&refused, 2);
        assert!(String::from_utf8_lossy(&refused.stderr).contains(words), "{line}");
    }
}

/// The division into pictures depends on what varies, not on how or where they are drawn.
#[test]
fn a_scale_and_a_folder_part_no_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sweep --topology torus:4x4 --cycles 300 --routing bubble:smart,bubble:random";
    done(folder.path(), &format!("{sweep} --traffic uniform,transpose,complement,neighbor --load 0.1,0.2 -q -o r"));
    let files = |to: &str| {
        let entries = fs::read_dir(folder.path().join(to)).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let ways =
        ["-o a", "--scale linear -o lin", "--scale log -o log", "--scale linear --title X --ymax 90 --xmax 1 -o b"];
    for way in ways {
        done(folder.path(), &format!("plot r {way} -q"));
        let to = way.rsplit(' ').next().unwrap();
        let expected =
            ["accepted", "latency-p99", "latency"].map(|name| [format!("{name}.csv"), format!("{name}.svg")]);
        assert_eq!(files(to), expected.concat(), "{way}: eight curves are one picture of each figure");
    }
    // Split pictures are split on every scale.
    done(
        folder.path(),
        &format!("{sweep},bubble:oblivious --traffic uniform,transpose,complement,neighbor --load 0.1,0.2 -q -o s"),
    );
    done(folder.path(), "plot s -q -o c");
    done(folder.path(), "plot s --scale linear -o d -q");
    assert_eq!(files("c"), files("d"));
    assert_eq!(files("c").len(), 2 * 3 * 3, "a picture for each routing");
}

/// The classic figure: an even axis up to a multiple of the latency at the lowest load, the same in all pictures,
/// without saturated points.
#[test]
fn latency_over_load_is_drawn_as_in_papers() {
    let folder = tempfile::tempdir().unwrap();
    let text = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    let line = "--topology torus:8x8 --cycles 3000 --vcs 1 --routing bubble:oblivious --traffic uniform,transpose";
    done(folder.path(), &format!("sweep {line} --load 0.05,0.2,0.9 -q -o r"));
    let rows = |file: &str| -> Vec<Vec<String>> {
        text(file).lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let full =
        |svg: &str| svg.split('<').filter(|tag| tag.starts_with("circle") && tag.contains("fill=\"#0072B2\"")).count();
    let told = code_and_words(&run(folder.path(), "plot r --each traffic -o each"), 0);
    let rows_of = rows("each/latency-transpose.csv");
    assert!(rows_of.iter().all(|row| row.len() == 7 && row[0].parse::<u32>().is_ok()), "{rows_of:?}");
    assert_eq!(rows_of[2][6], "1", "the last load is saturated: {rows_of:?}");
    assert!(told.contains("without 1 saturated point"), "{told}");
    // One scale, and fewer markers than points; with --saturated they may be beyond the axis, with a note.
    let ticks = |file: &str| -> Vec<String> {
        let svg = text(file);
        let texts = svg.split("<text").skip(1).filter_map(|text| text.split(['>', '<']).nth(1));
        texts.filter(|text| text.parse::<f64>().is_ok()).map(str::to_owned).collect()
    };
    assert_eq!(ticks("each/latency-uniform.svg"), ticks("each/latency-transpose.svg"));
    assert_eq!(full(&text("each/latency-transpose.svg")), 2);
    let told = code_and_words(&run(folder.path(), "plot r --saturated -o all"), 0);
    assert!(
        told.contains("up to 5 times the latency at the lowest load") && told.contains("beyond the axes"),
        "{told}"
    );
    // Explicit ends.
    done(folder.path(), "plot r --ymax 130 --xmax 0.3 --range accepted=0..0.25 -q -o ends");
    let last = |file: &str| ticks(file).iter().map(|tick| tick.parse::<f64>().unwrap()).fold(0.0, f64::max);
    assert!((last("ends/latency.svg") - 120.0).abs() < 1e-9 && (last("ends/accepted.svg") - 0.3).abs() < 1e-9);
    // Panels, names, a title.
    let line = "plot r --panels --title Tori --name uniform=Even -q -o panels --format svg,png,pdf,pgf";
    done(folder.path(), &format!("{line} --each traffic"));
    let svg = text("panels/latency.svg");
    assert!(is_balanced(&svg) && svg.matches(">Tori</text>").count() == 1, "{svg}");
    assert!(svg.contains(">Even</text>") && svg.contains(">transpose</text>") && !svg.contains(">uniform</text>"));
    assert!(text("panels/latency.csv").contains("\n1,Even,uniform,0.05,"), "settings are those of the sweep");
    let bytes = |file: &str| fs::read(folder.path().join(file)).unwrap();
    assert!(bytes("panels/latency.png").starts_with(b"\x89PNG") && bytes("panels/latency.pdf").starts_with(b"%PDF-"));
    let pgf = text("panels/latency.pgf");
    assert_eq!((pgf.matches("\\begin{axis}").count(), pgf.matches("{latency.csv}").count()), (2, 2), "{pgf}");
    for (line, words) in [
        ("--name ring=Ring", "no value of what varies is `ring`"),
        ("--name uniform", "write VALUE=NAME"),
        ("--range latency=9..2", "the smaller one first"),
        ("--range speed=0..2", "`speed` is no axis"),
        ("--scale log --range latency=0..2", "begins above 0"),
        ("--ymax 0", "a number above 0"),
        ("--format gif", "possible values: svg, pdf, png, pgf"),
    ] {
        let told = code_and_words(&run(folder.path(), &format!("plot r {line}")), 2);
        assert!(told.contains(words), "{line}: {told}");
    }
}

/// Traces of the same name in two folders have separate pictures and curves, and names of any length can be plotted.
#[test]
fn pictures_of_traces_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(200);
    let mut line = "sweep --topology torus:4x4 --vcs 2,3 -q -o r".to_owned();
    for (bytes, name) in (1000..).zip(["a/x", "b/x", &long]) {
        let path = folder.path().join(format!("{name}.trc"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("s 0 1 5 {bytes}\nr 0 1 5 {bytes}\n")).unwrap();
        line.push_str(&format!(" --trace {name}.trc"));
    }
    code(&run(folder.path(), &line), 0);
    code(&run(folder.path(), "plot r -q --each trace"), 0);
    let data = |name: &str| fs::read_to_string(folder.path().join(format!("r/plots/completion-{name}.csv"))).unwrap();
    assert!(data("a-x-trc").contains(",a/x.trc,") && data("b-x-trc").contains(",b/x.trc,"), "{}", data("a-x-trc"));
    assert!(data(&long[..100]).contains(&long));
}
