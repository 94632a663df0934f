//! CSV: a header and one line of the scalar figures; what cannot be computed is empty. Of a failure stands its kind. The
//! settings of the experiment follow as columns of their own, so that lines of several runs can be told apart.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Map, Value};

/// Figures that are tables where they can be computed: they have no column where they cannot, either.
const TABLES: &[&str] = &["samples", "collective_calls", "per_task", "link_packets"];

pub(super) fn write(figures: &Map<String, Value>, out: &mut dyn Write) -> io::Result<()> {
    write_rows(std::slice::from_ref(figures), out)
}

/// Writes a header and one line for the figures of each run. A column that one run lacks is empty there.
///
/// # Errors
/// When `out` fails.
pub fn write_rows(runs: &[Map<String, Value>], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<Vec<(String, String)>> = runs.iter().map(cells).collect();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut header = Vec::new();
    for (name, _) in rows.iter().flatten() {
        places.entry(name).or_insert_with(|| {
            header.push(name.as_str());
            header.len() - 1
        });
    }
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&header)?;
    for row in &rows {
        let mut record = vec![""; header.len()];
        for (name, cell) in row {
            record[places[name.as_str()]] = cell;
        }
        writer.write_record(&record)?;
    }
    writer.flush()
}

/// The scalar figures of a run, by the names of their columns.
fn cells(figures: &Map<String, Value>) -> Vec<(String, String)> {
    let mut cells = Vec::new();
    let mut add = |name: String, value: &Value| {
        let cell = match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(_) | Value::Object(_) => return,
        };
        cells.push((name, cell));
    };
    for (name, value) in figures {
        match (name.as_str(), value) {
            ("experiment", Value::Object(settings)) => {
                for (key, value) in settings {
                    add(format!("experiment.{key}"), value);
                }
            }
            ("failure", Value::Object(failure)) => add(name.clone(), &failure["kind"]),
            (table, _) if TABLES.contains(&table) => {}
            _ => add(name.clone(), value),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_become_columns_and_null_is_empty() {
        let figures = json!({"a": 1, "b": null, "c": [1, 2], "d": "x,y", "experiment": {"vcs": 3}});
        let mut out = Vec::new();
        write(figures.as_object().unwrap(), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a,b,d,experiment.vcs\n1,,\"x,y\",3\n");
    }

    #[test]
    fn columns_do_not_depend_on_how_the_run_ended() {
        let header = |figures: Value| {
            let mut out = Vec::new();
            write(figures.as_object().unwrap(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let table = json!([{ "messages_sent": 1 }]);
        assert_eq!(header(json!({"failure": null, "per_task": null, "z": 1})), "failure,z\n,1\n");
        let failed = json!({"failure": {"kind": "source", "what": "w"}, "per_task": table, "z": 1});
        assert_eq!(header(failed), "failure,z\nsource,1\n");
    }
}
