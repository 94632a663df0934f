//! CSV: a header and one line of the scalar figures; what cannot be computed is empty. The settings of the experiment
//! follow as columns of their own, so that lines of several runs can be told apart.

use std::io::{self, Write};

use serde_json::{Map, Value};

pub(super) fn write(figures: &Map<String, Value>, out: &mut dyn Write) -> io::Result<()> {
    let mut header = Vec::new();
    let mut row = Vec::new();
    let mut add = |name: String, value: &Value| {
        let cell = match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(_) | Value::Object(_) => return,
        };
        header.push(name);
        row.push(cell);
    };
    for (name, value) in figures {
        match (name.as_str(), value) {
            ("experiment", Value::Object(settings)) => {
                for (key, value) in settings {
                    add(format!("experiment.{key}"), value);
                }
            }
            _ => add(name.clone(), value),
        }
    }
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(&header)?;
    writer.write_record(&row)?;
    writer.flush()
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
}
