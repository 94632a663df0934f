//! The traffic classes of a file of jobs, which networks need before the jobs are read.

use std::path::Path;

/// Number of traffic classes.
pub(crate) const CLASSES: u8 = 8;

/// The traffic classes of the jobs of a file, a bit for each; class 0 alone of a file that cannot be read, which is refused
/// where the jobs are.
pub(crate) fn of(file: &Path) -> u8 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let table: toml::Table = toml::from_str(&text).unwrap_or_default();
    let jobs = table.get("job").and_then(toml::Value::as_array).into_iter().flatten();
    let class = |job: &toml::Value| job.get("class").and_then(toml::Value::as_integer).unwrap_or(0);
    let known = jobs.map(class).filter(|class| (0..i64::from(CLASSES)).contains(class));
    match known.fold(0, |mask, class| mask | 1u8 << class) {
        0 => 1,
        mask => mask,
    }
}
