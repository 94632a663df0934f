//! CSV: a header and one line of the scalar figures; an undefined figure is an empty cell. A failure is represented by
//! its kind. The settings of the experiment follow as columns of their own, to distinguish lines of several runs.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Map, Value};

use super::serial::Written;
use super::table::{Figure, RunResult};

/// Columns and cells of one line.
type Cells = Vec<(String, String)>;

/// Writes a header and one line for each result. The cells given with a result come first in its line. A column that a
/// line lacks is empty there.
///
/// # Errors
/// When `out` fails.
pub fn write_results<'a>(
    results: impl IntoIterator<Item = (Cells, &'a RunResult)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lines = results.into_iter().map(|(mut line, result)| {
        line.extend(of_result(result));
        line
    });
    write_lines(&lines.collect::<Vec<_>>(), out)
}

/// Writes a header and one line for each row of scalars. A column that one row lacks is empty there.
///
/// # Errors
/// When `out` fails.
pub fn write_rows(rows: &[Map<String, Value>], out: &mut dyn Write) -> io::Result<()> {
    let line = |row: &Map<String, Value>| -> Cells {
        row.iter().filter_map(|(name, value)| Some((name.clone(), scalar(value)?))).collect()
    };
    write_lines(&rows.iter().map(line).collect::<Vec<_>>(), out)
}

/// The figures of nodes, flows and messages by their size and the histogram as CSV, as far as they are kept, with the names of
/// their files.
///
/// # Errors
/// None in practice: writing to memory.
pub fn tables(result: &RunResult) -> io::Result<Vec<(&'static str, Vec<u8>)>> {
    const TABLES: [(Figure, &str); 6] = [
        (Figure::Collectives, "collectives.csv"),
        (Figure::PerNode, "nodes.csv"),
        (Figure::Flows, "flows.csv"),
        (Figure::MessageClasses, "messages.csv"),
        (Figure::MessageDeciles, "deciles.csv"),
        (Figure::LatencyHistogram, "latencies.csv"),
    ];
    let mut tables = Vec::new();
    for (figure, name) in TABLES {
        if let Value::Array(rows) = result.value(figure) {
            let rows: Vec<Map<String, Value>> = rows
                .into_iter()
                .filter_map(|row| if let Value::Object(row) = row { Some(row) } else { None })
                .collect();
            let mut text = Vec::new();
            write_rows(&rows, &mut text)?;
            tables.push((name, text));
        }
    }
    Ok(tables)
}

/// Writes a header with every column of any line, and the lines.
fn write_lines(lines: &[Cells], out: &mut dyn Write) -> io::Result<()> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut header = Vec::new();
    for (name, _) in lines.iter().flatten() {
        places.entry(name).or_insert_with(|| {
            header.push(name.as_str());
            header.len() - 1
        });
    }
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&header)?;
    for line in lines {
        let mut record = vec![""; header.len()];
        for (name, cell) in line {
            record[places[name.as_str()]] = cell;
        }
        writer.write_record(&record)?;
    }
    writer.flush()
}

/// The scalar figures of a run, by the names of their columns.
fn of_result(result: &RunResult) -> Cells {
    let mut cells = Vec::new();
    for entry in &result.written {
        let value = match entry {
            Written::Figure(Figure::Experiment, _) => {
                let setting = |(key, value)| Some((format!("experiment.{key}"), scalar(value)?));
                cells.extend(result.experiment.iter().filter_map(setting));
                continue;
            }
            Written::Figure(figure, _) if figure.is_table() => continue,
            Written::Figure(Figure::Failure, _) => {
                result.failure.as_ref().map_or(Value::Null, |failure| failure.kind.name().into())
            }
            entry => entry.value(result),
        };
        cells.extend(scalar(&value).map(|cell| (entry.name().to_owned(), cell)));
    }
    cells
}

/// A scalar as a cell; `None` for other values.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(result: Value) -> String {
        let result: RunResult = serde_json::from_value(result).unwrap();
        let mut out = Vec::new();
        write_results([(vec![("point".to_owned(), "a".to_owned())], &result)], &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn scalars_become_columns_and_null_is_empty() {
        let result = json!({"cycles": 1, "saturated": null, "c": [1, 2], "d": "x,y", "experiment": {"vcs": 3}});
        assert_eq!(text(result), "point,cycles,saturated,d,experiment.vcs\na,1,,\"x,y\",3\n");
    }

    #[test]
    fn columns_do_not_depend_on_how_the_run_ended() {
        assert_eq!(text(json!({"failure": null, "per_task": null, "z": 1})), "point,failure,z\na,,1\n");
        let failed = json!({"failure": {"kind": "source", "what": "w"}, "per_task": [{"messages_sent": 1}], "z": 1});
        assert_eq!(text(failed), "point,failure,z\na,source,1\n");
    }

    #[test]
    fn a_column_that_a_row_lacks_is_empty_there() {
        let rows = [json!({"a": 1}), json!({"b": 2.5, "c": [1]})].map(|row| row.as_object().cloned().unwrap());
        let mut out = Vec::new();
        write_rows(&rows, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a,b\n1,\n,2.5\n");
    }
}
