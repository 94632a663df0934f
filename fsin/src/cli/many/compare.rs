//! `fsin compare`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use fsin::report::{Picture, Style, percent, pictures, rounded};
use fsin::result::{write_pretty, write_rows};
use fsin::sweep::{
    CYCLES_DIFFER, ChangedSetting, Curves, Difference, Verdict, changed_settings, compare as differences,
    cycles_differ, open,
};
use fsin::words::counted;
use serde_json::{Map, Value, json};

use crate::cli::many::plot::cannot_write;
use crate::cli::{Complaint, Exit, output};

/// Version of the names and meanings of figures of comparisons.
const SCHEMA: u64 = 2;

/// Compares two sweeps.
pub(crate) fn compare(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let document = output::Document::open(matches)?;
    let quiet = matches.get_flag("quiet");
    let folder = |name: &str| matches.get_one::<PathBuf>(name).cloned().unwrap_or_default();
    let (a, b) = (open(&folder("baseline"))?, open(&folder("candidate"))?);
    for (name, (_, collected)) in [("baseline", &a), ("candidate", &b)] {
        if !quiet {
            output::warn_of_parts(&folder(name), collected);
            output::warn_of_runs(&format!("{}: ", folder(name).display()), collected);
        }
    }
    let margin = margin(matches);
    let (before, after) = (Curves::of(&a.0, &a.1), Curves::of(&b.0, &b.1));
    let (rows, alone) = differences((&before, &a.1), (&after, &b.1), margin);
    let of_different_cycles = cycles_differ(a.1.rows.iter().chain(&b.1.rows).map(|row| &row.result));
    if rows.is_empty() {
        let both = format!("{} and {}", folder("baseline").display(), folder("candidate").display());
        let (what, remedy) = match of_different_cycles {
            true => (
                format!("{both} have no figure in common that is comparable: their cycles differ in length"),
                "compare runs of programs, --kernel or --trace, whose times are in seconds",
            ),
            false => (format!("{both} have no point in common"), "compare sweeps over the same axes"),
        };
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
    if alone > 0 && !quiet {
        output::tell(&format!("warning: {} in one of the two only, not compared", counted(alone, "point", "points")));
    }
    if let Some(target) = matches.get_one::<PathBuf>("plots") {
        let names = ["baseline", "candidate"].map(|name| folder(name).display().to_string());
        let both = after.with_baseline((&names[1], &b.1), &before, (&names[0], &a.1));
        let Some((curves, collected)) = both else {
            let what = format!("{} and {} have no curves over the same axis", names[0], names[1]);
            return Err(Complaint::new(Exit::Usage, what, "compare sweeps over the same axes, or leave out --plots"));
        };
        write_pictures(target, &pictures(&curves, &collected, &Style::default()), quiet)?;
    }
    let changed = changed_settings(&a.1, &b.1);
    let figures: Vec<Map<String, Value>> = rows.iter().map(|row| figures(&after.axis, row)).collect();
    match matches.get_one::<String>("format").map_or("table", String::as_str) {
        "csv" => {
            let mut text = Vec::new();
            output::ignore_broken_pipe(write_rows(&figures, &mut text))?;
            document.print(&String::from_utf8_lossy(&text))?;
        }
        "json" => {
            let setting =
                |one: &ChangedSetting| json!({ "key": one.key, "baseline": one.baseline, "candidate": one.candidate });
            let mut all = Map::new();
            all.insert("schema".to_owned(), json!(SCHEMA));
            all.insert("margin".to_owned(), json!(margin));
            all.insert("settings".to_owned(), changed.iter().map(setting).collect());
            all.insert("cycles_differ".to_owned(), json!(of_different_cycles));
            all.insert("unmatched_points".to_owned(), json!(alone));
            all.insert("differences".to_owned(), json!(figures));
            let mut text = Vec::new();
            output::ignore_broken_pipe(write_pretty(&all, &mut text))?;
            document.print(&String::from_utf8_lossy(&text))?;
        }
        _ => {
            let sides = [("A", folder("baseline"), a.1.rows.len()), ("B", folder("candidate"), b.1.rows.len())];
            let mut text = String::new();
            for (side, folder, results) in sides {
                let results = counted(results, "result", "results");
                text.push_str(&format!("{side}: {} ({results})\n", folder.display()));
            }
            text.push_str(&settings_lines(&changed));
            if of_different_cycles {
                text.push_str(&format!("{CYCLES_DIFFER}\n\n"));
            }
            text.push_str(&table(&after.axis, &rows));
            text.push_str(&summary(&rows, margin));
            document.print(&text)?;
        }
    }
    Ok(Exit::Done)
}

/// Writes pictures into a folder.
fn write_pictures(target: &Path, pictures: &[Picture], quiet: bool) -> Result<(), Complaint> {
    fs::create_dir_all(target).map_err(|error| cannot_write(target, &error))?;
    for picture in pictures {
        let file = target.join(format!("{}.svg", picture.name));
        output::replace_file(&file, &picture.svg).map_err(|error| cannot_write(target, &error))?;
        if !quiet {
            output::tell(&format!("{}: {}; the baseline is pale", file.display(), picture.caption));
        }
    }
    Ok(())
}

/// \[share\] The margin of `--margin`, which is in percent.
pub(crate) fn margin(matches: &ArgMatches) -> f64 {
    matches.get_one::<f64>("margin").map_or(fsin::sweep::MARGIN, |percent| percent / 100.0)
}

/// A difference by the names of its figures, for CSV and JSON.
fn figures(axis: &str, row: &Difference) -> Map<String, Value> {
    let mut figures = Map::new();
    let mut put = |name: &str, value: Value| figures.insert(name.to_owned(), value);
    put("curve", json!(row.curve));
    put(axis, json!(row.word));
    put("figure", json!(row.reading.name()));
    put("baseline", json!(row.baseline));
    put("candidate", json!(row.candidate));
    put("difference", json!(row.difference()));
    put("difference_ci95", json!(row.ci95));
    put("margin", json!(row.margin));
    put("baseline_samples", json!(row.baseline_samples.words()));
    put("candidate_samples", json!(row.candidate_samples.words()));
    put("saturated", json!(row.saturated));
    put("undecided", json!(row.undecided));
    put("verdict", json!(row.verdict().word()));
    figures
}

/// The settings that differ between the two sides, a line for each.
fn settings_lines(changed: &[ChangedSetting]) -> String {
    if changed.is_empty() {
        return "both have the same settings\n\n".to_owned();
    }
    let wide = changed.iter().map(|one| one.key.chars().count()).max().unwrap_or(0);
    let line = |one: &ChangedSetting| {
        let [before, after] = one.words();
        format!("  {:wide$}  {before} -> {after}\n", one.key)
    };
    format!("{}\n", changed.iter().map(line).collect::<String>())
}

/// The differences as a table of text, with columns of equal width.
fn table(axis: &str, rows: &[Difference]) -> String {
    let head = ["curve", axis, "figure", "A", "B", "difference", "± 95 %", "change", "spread from", "verdict"];
    /// Indices of the columns with text, which is aligned left; numbers are aligned right.
    const LEFT: [usize; 5] = [0, 1, 2, 8, 9];
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    // The names of curves are only shown if there are several.
    let shown: Vec<usize> =
        (0..head.len()).filter(|&at| at > 0 || rows.iter().any(|row| !row.curve.is_empty())).collect();
    let wide = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(wide).collect();
    let line = |line: &[String; 10]| {
        let cell = |&at: &usize| match LEFT.contains(&at) {
            true => format!("{:<1$}", line[at], widths[at]),
            false => format!("{:>1$}", line[at], widths[at]),
        };
        format!("{}\n", shown.iter().map(cell).collect::<Vec<_>>().join("  ").trim_end())
    };
    lines.iter().map(line).collect()
}

/// The cells of a row of the table.
fn cells(row: &Difference) -> [String; 10] {
    // Thin spaces are for pages: terminal columns need characters of full width.
    let plain = |text: String| text.replace('\u{2009}', "");
    let number = |value: f64| plain(rounded(value, row.ci95).0);
    let difference = row.difference();
    let shown = number(difference);
    let sign = if difference > 0.0 && shown.contains(|digit| matches!(digit, '1'..='9')) { "+" } else { "" };
    let change = match row.baseline {
        0.0 => "-".to_owned(),
        baseline => percent(difference / baseline.abs()),
    };
    [
        row.curve.clone(),
        row.word.clone(),
        row.reading.name().into_owned(),
        number(row.baseline),
        number(row.candidate),
        format!("{sign}{shown}"),
        rounded(difference, row.ci95).1.map_or("-".to_owned(), plain),
        change,
        row.samples(),
        match row.load_verdict() {
            "" => row.verdict().word().to_owned(),
            of_load => format!("{} ({of_load})", row.verdict().word()),
        },
    ]
}

/// The number of each verdict, and the meaning of the verdicts.
fn summary(rows: &[Difference], margin: f64) -> String {
    let count = |verdict| rows.iter().filter(|row| row.verdict() == verdict).count();
    let verdicts = [Verdict::Higher, Verdict::Lower, Verdict::Same, Verdict::Unclear];
    let counts: Vec<String> = verdicts.map(|verdict| format!("{} {}", count(verdict), verdict.word())).to_vec();
    let mut text = format!(
        "\n{} compared: {}\nsame: the 95 % confidence interval of the difference lies within {} % of A (--margin)\n",
        counted(rows.len(), "figure", "figures"),
        counts.join(", "),
        100.0 * margin,
    );
    if count(Verdict::Unclear) > 0 {
        text.push_str(
            "unclear: neither that, nor a difference that chance does not explain: give more seeds, --seeds 5\n",
        );
    }
    text
}
