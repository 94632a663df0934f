//! BookSim's configurations and networks as their authors wrote them, judged against facts about each.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Command;

use tests::command::fsin;
use tests::shared::{aloud, shared_file};

use super::folder;

type Row = HashMap<String, String>;

/// Unpacks an archive of the corpus; false without it.
fn unpack(format: &str, into: &Path) -> bool {
    let Some(archive) = shared_file(&format!("corpus/{format}.tar.xz")) else { return false };
    let done = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(into).status().expect("tar starts");
    assert!(done.success());
    true
}

/// The rows of a format.
fn rows(format: &str) -> Option<Vec<Row>> {
    let mut reader = csv::Reader::from_path(shared_file("corpus/expected.csv")?).expect("the table can be read");
    let rows = reader.deserialize().map(|row| row.expect("a row of columns"));
    Some(rows.filter(|row: &Row| row["format"] == format).collect())
}

/// True if a message has one of the words of a pattern such as `\\bstart_vc\\b|\\bend_vc\\b`.
fn finds(pattern: &str, said: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    pattern.split('|').any(|part| {
        let word = part.trim_matches('"').replace("\\b", "");
        let is_whole = part.contains("\\b");
        said.match_indices(&word).any(|(at, _)| {
            let before = said[..at].chars().next_back().is_some_and(is_word);
            let after = said[at + word.len()..].chars().next().is_some_and(is_word);
            !is_whole || !before && !after
        })
    })
}

/// The routing here of one of BookSim, as the issue of equals is told in the book.
fn routing(theirs: &str, topology: &str) -> &'static str {
    match (theirs, topology.split(':').next().unwrap_or("")) {
        ("nca", _) => "minimal",
        ("anca", _) => "anca",
        ("dest_tag", _) => "destination-tag",
        ("min", "dragonflynew") => "booksim-min",
        ("min", _) => "shortest",
        (name, _) if name.contains("adaptive_xy") => "adaptive-xy-yx",
        (name, _) if name.starts_with("xy") => "xy-yx",
        _ => "dor",
    }
}

/// What of an experiment is not as the facts say.
fn differences(row: &Row, experiment: &str) -> Vec<String> {
    let keys: BTreeMap<&str, &str> = experiment.lines().filter_map(|line| line.split_once(" = ")).collect();
    let word = |key: &str| keys.get(key).map_or("", |value| value.trim_matches('"'));
    let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
    let mut found = Vec::new();
    let mut compare = |what: &str, ours: &str, theirs: &str| {
        if ours != theirs {
            found.push(format!("{what} {ours}, not {theirs}"));
        }
    };
    // A tile of endpoints has as many as it says.
    let parts: Vec<&str> = word("topology").split(':').collect();
    let topology = match &*parts {
        [name, sizes, tile, ..] => {
            let count: u32 = tile.split('x').map(|extent| extent.parse::<u32>().expect("a number")).product();
            format!("{name}:{sizes}:{count}")
        }
        _ => parts.join(":"),
    };
    match &*row["topology"] {
        // The facts do not say of how many switches.
        "dragonflynew" => compare("topology", parts[0], "dragonfly"),
        theirs => compare("topology", &topology, theirs),
    }
    compare("routing", word("routing"), routing(&row["routing"], &row["topology"]));
    compare("vcs", word("vcs"), &row["vcs"]);
    compare("packet", word("packet"), &row["packet"]);
    let traffic = match &*row["traffic"] {
        "bitcomp" => "complement".to_owned(),
        "bitrev" => "reversal(self=true)".to_owned(),
        "neighbor" => "neighbor-all".to_owned(),
        "uniform" | "transpose" | "shuffle" => format!("{}(self=true)", row["traffic"]),
        other => other.to_owned(),
    };
    compare("traffic", word("traffic"), &traffic);
    if (number(word("load")) - number(&row["load"])).abs() > 1e-6 {
        compare("load", word("load"), &row["load"]);
    }
    found
}

/// Each configuration means what its facts say, or is refused for the reason that is true.
#[test]
fn l5_configurations_of_the_field() {
    let Some(rows) = rows("booksim-config") else { return };
    let folder = folder();
    if !unpack("booksim-config", folder.path()) {
        return;
    }
    let (mut right, mut refused, mut wrong) = (0, 0, Vec::new());
    for row in &rows {
        let file = &row["file"];
        let output = fsin(folder.path()).args(["import", "booksim", file]).output().expect("fsin has just been built");
        let said = String::from_utf8_lossy(&output.stderr).replace(&**file, "");
        let readable = &*row["readable"];
        match output.status.code() {
            Some(0) if readable != "no" => {
                let found = differences(row, &String::from_utf8_lossy(&output.stdout));
                if found.is_empty() {
                    right += 1;
                } else {
                    wrong.push(format!("{file}: {}", found.join(", ")));
                }
            }
            Some(2) if readable != "yes" && finds(&row["refusal"], &said) => refused += 1,
            status => wrong.push(format!("{file} ({readable}): {status:?}: {said}")),
        }
    }
    aloud(&format!("configurations of BookSim: {right} right, {refused} refused, {} wrong\n", wrong.len()));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(right + refused, rows.len());
}

/// Each network has the endpoints, switches and cables that its facts say.
#[test]
fn l5_networks_of_the_field() {
    let Some(rows) = rows("booksim-anynet") else { return };
    let folder = folder();
    if !unpack("booksim-anynet", folder.path()) {
        return;
    }
    for row in &rows {
        let spec = format!("graph:{}", row["file"]);
        let output = fsin(folder.path()).args(["topology", &spec]).output().expect("fsin has just been built");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = |name: &str| said.lines().find(|line| line.starts_with(name)).unwrap_or("").to_owned();
        let nodes = format!("{} endpoints, {} switches", row["endpoints"], row["switches"]);
        assert!(output.status.success() && line("nodes").contains(&nodes), "{spec}: {said}");
        assert!(line("links").contains(&format!(" {},", row["links_oneway"])), "{spec}: {said}");
    }
    aloud(&format!("networks of BookSim: {} right\n", rows.len()));
}
