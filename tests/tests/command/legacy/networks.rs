//! `fsin topology --format svg`, and the reports on `--faults`.

use super::*;

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
        (
            vec!["--link-delay", "1:2:3", "--topology", "fattree:4,2", "--routing", "tree:adaptive"],
            "2 kinds of links: to endpoints, between switches",
        ),
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
