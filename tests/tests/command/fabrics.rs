//! The example of AI fabrics: its page and its figures.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tests::command::run;
use tests::pages::{blocks, shell};
use tests::shared::workspace;

/// The sweeps of the example, in the order of its page.
const SWEEPS: [&str; 3] = ["all-to-all", "all-reduce", "step"];

type Row = BTreeMap<String, String>;

fn table(path: &Path) -> Vec<Row> {
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

/// Compares results with the columns that are kept, or keeps these columns of them.
fn compare(found: &Path, kept: &Path) {
    let rows = table(found);
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        let head = fs::read_to_string(kept).unwrap().lines().next().unwrap().to_owned();
        let mut writer = csv::Writer::from_path(kept).unwrap();
        writer.write_record(head.split(',')).unwrap();
        rows.iter().for_each(|row| writer.write_record(head.split(',').map(|column| &row[column])).unwrap());
        return;
    }
    let kept = table(kept);
    assert_eq!(rows.len(), kept.len(), "{}", found.display());
    for (found, kept) in rows.iter().zip(&kept) {
        kept.iter().for_each(|(column, value)| assert_eq!(&found[column], value, "{column}: {kept:?}"));
    }
}

/// \[us\] Completion times of the example, and their lower bounds.
fn times(example: &Path) -> Vec<f64> {
    let rows = SWEEPS.iter().flat_map(|sweep| table(&example.join(format!("{sweep}.csv"))));
    let of_row = |row: Row| {
        let [time, cycles, bound] = ["completion_seconds", "completion_cycles", "completion_bound_cycles"]
            .map(|figure| row[figure].parse::<f64>().unwrap());
        [1e6 * time, 1e6 * time / cycles * bound]
    };
    rows.flat_map(of_row).collect()
}

#[test]
fn the_example_has_its_figures_and_one_page_of_all_parts() {
    let example = workspace().join("examples/ai-fabrics");
    let page = fs::read_to_string(example.join("README.md")).unwrap();
    let block = blocks(&page).into_iter().find(|block| !block.console).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = shell(folder.path(), &block.text);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for sweep in SWEEPS {
        compare(&folder.path().join(sweep).join("results.csv"), &example.join(format!("{sweep}.csv")));
    }
    let html = fs::read_to_string(folder.path().join("fabrics.html")).unwrap();
    for (at, sweep) in SWEEPS.iter().enumerate() {
        let id = format!("part-{}", at + 1);
        assert!(html.contains(&format!("<a href=\"#{id}\">{sweep}</a>")), "{sweep}");
        let (_, part) = html.split_once(&format!("id=\"{id}\"")).unwrap();
        let part = part.split("</article>").next().unwrap();
        assert!(part.contains(&format!("<h1>{sweep}</h1>")), "{sweep}");
        assert!(part.contains("<h2>Points</h2>") && part.contains("Completion time ("), "{sweep}");
        assert!(!part.contains("Completion time (cycles"), "{sweep}: the lengths of cycles differ");
    }
}

/// Numbers in the tables of the page are times and bounds that are kept, in us.
#[test]
fn the_tables_of_the_example_show_what_is_kept() {
    let example = workspace().join("examples/ai-fabrics");
    let times = times(&example);
    let page = fs::read_to_string(example.join("README.md")).unwrap();
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")).flat_map(|line| line.split(" | "));
    let cells: Vec<&str> = cells.map(|cell| cell.trim_end_matches([' ', '|'])).collect();
    let numbers: Vec<&str> = cells.into_iter().filter(|cell| cell.parse::<f64>().is_ok()).collect();
    assert!(numbers.len() >= 40, "{numbers:?}");
    for number in numbers {
        let digits = number.split_once('.').map_or(0, |(_, digits)| digits.len());
        assert!(times.iter().any(|time| format!("{time:.digits$}") == number), "{number}");
    }
}

/// Without sharing of links: within a node 7 pieces of an eighth, between nodes 3 of a thirty-second, there and back.
#[test]
fn the_hierarchical_all_reduce_of_the_example_takes_the_time_of_its_formula() {
    let row = table(&workspace().join("examples/ai-fabrics/all-reduce.csv"));
    let is_it = |row: &&Row| {
        row["experiment.topology"].starts_with("cluster") && row["experiment.kernel"].contains("hierarchical")
    };
    let found = row.iter().find(is_it).unwrap()["completion_seconds"].parse::<f64>().unwrap();
    let bytes = 262_144.0;
    let formula = 2.0 * (7.0 * bytes / 8.0 / 450e9 + 3.0 * bytes / 32.0 / 50e9);
    assert!((found / formula - 1.0).abs() < 0.01, "{found}, not {formula}");
}

#[test]
fn a_page_of_several_folders_needs_a_file_and_has_no_baseline() {
    let folder = tempfile::tempdir().unwrap();
    for (name, load) in [("a", "0.1"), ("b", "0.2")] {
        let output = run(folder.path(), &format!("run --topology torus:4 --load {load} --cycles 100 -q -o {name}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for (line, words) in [
        ("report a b", "-o page.html"),
        ("report a b -o page.html --baseline a", "--baseline is for the page of one folder"),
        ("report a c -o page.html", "c"),
    ] {
        let output = run(folder.path(), line);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {errors}");
        assert!(errors.contains(words), "{line}: {errors}");
    }
    assert!(run(folder.path(), "report a b -o page.html -q").status.success());
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("<title>a, b</title>") && page.matches("<article").count() == 2);
}
