//! The documented form of results: `fsin schema`, and results held against it.

use std::fs;

use fsin::result::{Figure, RunResult};
use serde_json::Value;
use tests::command::run;

use super::{QUICK, done, folder, text};

/// Where a value is not what a schema says of it. Of a schema it knows what ours is made of.
fn faults(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let definition = root.pointer(name.strip_prefix('#').unwrap()).unwrap_or_else(|| panic!("{name} is absent"));
        return faults(root, definition, value, place);
    }
    let mut found = Vec::new();
    let types: Vec<&str> = match &schema["type"] {
        Value::String(word) => vec![word],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |word: &str| match word {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{place}: a type that no figure has: {other}"),
    };
    if !types.is_empty() && !types.iter().any(|word| is(word)) {
        found.push(format!("{place}: {value} is not {types:?}"));
    }
    for any in ["anyOf", "oneOf"] {
        if let Some(all) = schema[any].as_array()
            && !all.iter().any(|one| faults(root, one, value, place).is_empty())
        {
            found.push(format!("{place}: {value} is none of {any}"));
        }
    }
    if schema.get("const").is_some_and(|only| only != value) {
        found.push(format!("{place}: {value} is not {}", schema["const"]));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        found.push(format!("{place}: {value} is not among {values:?}"));
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        found.extend(faults(root, &schema["items"], item, &format!("{place}[{at}]")));
    }
    if let Some(map) = value.as_object() {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        found.extend(required.filter(|&name| !map.contains_key(name)).map(|name| format!("{place}.{name} is absent")));
        let rest = schema.get("additionalProperties").unwrap_or(&Value::Null);
        for (name, value) in map {
            match (&schema["properties"][name], rest) {
                // Objects without named properties have names of their own.
                (Value::Null, Value::Null) if schema["properties"].is_object() => {
                    found.push(format!("{place}.{name} is not documented"));
                }
                (Value::Null, rest) => found.extend(faults(root, rest, value, &format!("{place}.{name}"))),
                (own, _) => found.extend(faults(root, own, value, &format!("{place}.{name}"))),
            }
        }
    }
    found
}

#[test]
fn results_are_what_the_schema_says() {
    let folder = folder();
    let schema: Value = serde_json::from_str(&text(&run(folder.path(), "schema"))).unwrap();
    done(&run(folder.path(), "schema -o kept.json"));
    let kept = fs::read(folder.path().join("kept.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&kept).unwrap(), schema);
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("mix.toml", "[[job]]\nname = \"tree\"\nkernel = \"bintree:tasks=16,bytes=256\"\n");
    write("g.goal", "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n");
    for line in [
        QUICK,
        &format!("{QUICK} --link-loads --load 1 --traffic transpose"),
        "run --topology torus:4x4 --shot 1 --samples 2",
        "run --topology torus:4x4 --kernel all-to-all:tasks=16,bytes=64",
        "run --topology torus:4x4 --job-mix mix.toml",
        "run --trace g.goal --network ideal",
    ] {
        let printed = text(&run(folder.path(), &format!("{line} --format json -q")));
        let result: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(faults(&schema, &schema, &result, ""), [""; 0], "{line}");
        // What is read is what was written.
        let read: RunResult = serde_json::from_str(&printed).unwrap();
        assert_eq!(format!("{}\n", serde_json::to_string_pretty(&read).unwrap()), printed, "{line}");
    }
}

#[test]
fn a_result_that_is_not_as_documented_is_told_from_one_that_is() {
    let folder = folder();
    let schema: Value = serde_json::from_str(&text(&run(folder.path(), "schema"))).unwrap();
    let result: Value = serde_json::from_str(&text(&run(folder.path(), &format!("{QUICK} --format json -q")))).unwrap();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut result = result.clone();
        change(&mut result);
        faults(&schema, &schema, &result, "")
    };
    assert_eq!(changed(&|_| {}), [""; 0]);
    assert_eq!(changed(&|result| result["cycles"] = "many".into()).len(), 1);
    assert_eq!(changed(&|result| result["samples"][0]["cycles"] = Value::Null).len(), 1);
    assert_eq!(changed(&|result| result["another"] = 1.into()), [".another is not documented"]);
    let without = changed(&|result| drop(result.as_object_mut().unwrap().remove(Figure::Complete.name())));
    assert_eq!(without, [".complete is absent"]);
}
