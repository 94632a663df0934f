//! Groups of ranks: from a file, or from the trace itself.

use serde_json::Value;

use super::Group;

/// Most ranks of a trace.
pub const MAX_RANKS: u32 = 1 << 20;

/// Groups as JSON: `{"0": [0, 1, 2], "1": [...]}`, or the list that a node `## process_group:init ##` holds:
/// `[{"pg_name": "0", "ranks": [0, 1]}, ...]`.
///
/// # Errors
/// Other JSON, with what was found.
pub fn parse(text: &str) -> Result<Vec<Group>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    match value {
        Value::Object(groups) => groups.into_iter().map(|(name, ranks)| group(&name, &ranks)).collect(),
        Value::Array(groups) => {
            let entries = groups.iter().map(|entry| {
                let name = match entry.get("pg_name") {
                    Some(Value::String(name)) => name.clone(),
                    Some(Value::Number(number)) => number.to_string(),
                    _ => return Err("a group without `pg_name`".to_owned()),
                };
                let ranks = entry.get("ranks").ok_or_else(|| format!("group {name} has no `ranks`"))?;
                group(&name, ranks)
            });
            // An empty list of ranks stands for all ranks.
            Ok(entries
                .collect::<Result<Vec<_>, String>>()?
                .into_iter()
                .filter(|group| !group.ranks.is_empty())
                .collect())
        }
        _ => Err("neither an object of lists of ranks nor a list of groups".to_owned()),
    }
}

/// A group of these ranks.
fn group(name: &str, ranks: &Value) -> Result<Group, String> {
    let Value::Array(ranks) = ranks else { return Err(format!("group {name} is no list of ranks")) };
    let rank =
        |value: &Value| value.as_u64().and_then(|rank| u32::try_from(rank).ok()).filter(|&rank| rank < MAX_RANKS);
    let read: Option<Box<[u32]>> = ranks.iter().map(rank).collect();
    let ranks = read.ok_or_else(|| format!("group {name} lists something that is no rank"))?;
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("group {name} lists rank {} twice", pair[0])),
        None => Ok(Group { name: name.into(), ranks }),
    }
}
