//! Numbers from files that a pattern or a size law names; names of files in texts of components.
//!
//! Numbers are separated by blanks, commas or semicolons; `#` begins a comment. A relative path is relative to the
//! folder of the experiment file that contains the word, else to the working directory. A table of pairs begins with
//! the names of its columns, as that of `trace-prep matrix` does.

use std::path::Path;

use super::expr::{Call, Expr};
use super::size;
use super::spatial::PatternContext;
use crate::catalog::SpecError;

/// The files named in an expression: the byte position of each name, quoted or not, and the name.
pub(crate) fn collect(expr: &Expr, found: &mut Vec<(usize, String)>) {
    let reads = |word: &str| match expr.name.as_str() {
        "matrix" | "rates" | "population" | "histogram" | "file" => true,
        "cdf" => !size::is_built_in(word),
        _ => false,
    };
    for argument in &expr.arguments {
        match argument.value.word() {
            Some(word) if reads(word) => found.push((argument.value.position, word.to_owned())),
            _ => collect(&argument.value, found),
        }
    }
}

/// Puts the name of a file in the place of the one at a position of a text, which may be quoted.
pub(super) fn replace(text: &mut String, position: usize, name: &str, new: &Path) {
    let quotes = if text[position..].starts_with('"') { 2 } else { 0 };
    text.replace_range(position..position + name.len() + quotes, &format!("\"{}\"", new.display()));
}

/// \[bytes\] Size limit of a file: a matrix of 4096 nodes with 15 characters per number.
const LONGEST: u64 = 256 << 20;

/// What separates words.
const SEPARATORS: [char; 5] = [' ', '\t', ',', ';', '\r'];

/// The words of a line without its comment.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split('#').next().unwrap_or("").split(SEPARATORS).filter(|word| !word.is_empty())
}

/// The path of the file that the parameter `file` names, as errors show it, and its text.
fn text(call: &Call, folder: &Path) -> Result<(String, String), SpecError> {
    let name = call.word("file")?;
    let path = folder.join(&name);
    let refuse = |what: String, remedy: &str| match call.given("file") {
        Some(given) => call.refuse(given, &what, remedy),
        None => call.refuse_all(&what, remedy),
    };
    Ok((path.display().to_string(), text_of(&path, refuse)?))
}

/// The text of a file; `refuse` makes an error of a problem and its remedy.
pub(crate) fn text_of(path: &Path, refuse: impl Fn(String, &str) -> SpecError) -> Result<String, SpecError> {
    let shown = path.display();
    let length = std::fs::metadata(path).map_or(0, |found| found.len());
    if length > LONGEST {
        let what = format!("{shown} has {length} bytes");
        return Err(refuse(what, "check that it is the file you mean: at most 256 MiB"));
    }
    std::fs::read_to_string(path).map_err(|error| {
        refuse(format!("cannot read {shown}: {error}"), "give the path of a text file that you may read")
    })
}

/// The lines of numbers in the file that the parameter `file` names, each with its line number from 1.
pub(crate) fn numbers(call: &Call, folder: &Path) -> Result<Lines, SpecError> {
    let (shown, text) = text(call, folder)?;
    lines(call, shown, text.lines().zip(1..))
}

/// As [`numbers`], of a file whose first line may name the columns.
pub(super) fn numbers_of_columns(call: &Call, folder: &Path) -> Result<Lines, SpecError> {
    let (shown, text) = text(call, folder)?;
    let names = head(&text).filter(|(line, _)| words(line).all(|word| word.parse::<f64>().is_err()));
    let from = names.map_or(0, |(_, at)| at);
    lines(call, shown, text.lines().zip(1..).filter(|&(_, number)| number > from))
}

/// The first line of a text that has words, and its number from 1.
fn head(text: &str) -> Option<(&str, u64)> {
    text.lines().zip(1..).find(|(line, _)| words(line).next().is_some())
}

/// Numbers of lines.
fn lines<'a>(call: &Call, shown: String, text: impl Iterator<Item = (&'a str, u64)>) -> Result<Lines, SpecError> {
    lines_by(call, shown, text, |_, word| word.parse::<f64>().map_err(|_| format!("`{word}` is not a number")))
}

/// Numbers of lines; `number` gives that of a word in a column, or the reason why it has none.
fn lines_by<'a>(
    call: &Call,
    shown: String,
    text: impl Iterator<Item = (&'a str, u64)>,
    number_of: impl Fn(usize, &str) -> Result<f64, String>,
) -> Result<Lines, SpecError> {
    let mut found = Lines { shown, lines: Vec::new() };
    for (line, number) in text {
        let mut row = Vec::new();
        for (column, word) in words(line).enumerate() {
            let value = number_of(column, word);
            let value = value
                .and_then(|value| if value.is_finite() { Ok(value) } else { Err(format!("`{word}` is not a number")) });
            row.push(value.map_err(|why| found.refuse(call, Some(number), &why, "correct the file"))?);
        }
        if !row.is_empty() {
            found.lines.push((number, row));
        }
    }
    Ok(found)
}

/// Values of pairs of nodes: by source, the destinations with a value above 0, each with its value.
#[derive(Debug)]
pub(super) struct Pairs {
    pub(super) file: Lines,
    pub(super) of: Vec<Vec<(u32, f64)>>,
    /// The column that was read; `None` for a square matrix.
    pub(super) column: Option<String>,
}

/// The values of pairs in the file that the parameter `file` names: a square matrix, or a table with a line for each
/// pair, whose columns are `source`, `destination` and the first of `columns` that it has. `noun` names values in
/// errors. What a node has for itself is left out, or refused if `own` says why.
pub(super) fn pairs(
    call: &Call,
    context: PatternContext,
    columns: &[&str],
    noun: &str,
    own: Option<&str>,
) -> Result<Pairs, SpecError> {
    let nodes = context.nodes() as usize;
    let (shown, text) = text(call, context.folder)?;
    let head = head(&text);
    let mut of: Vec<Vec<(u32, f64)>> = vec![Vec::new(); nodes];
    let mut add = |file: &Lines, line: u64, from: usize, to: usize, value: f64| -> Result<(), SpecError> {
        let refuse = |what: String, remedy: &str| Err(file.refuse(call, Some(line), &what, remedy));
        if value < 0.0 {
            return refuse(format!("{noun} {value} is negative"), &format!("{noun}s of 0 or more"));
        }
        if from == to {
            return match own {
                Some(why) if value > 0.0 => refuse(format!("node {from} has {noun} {value} for itself"), why),
                _ => Ok(()),
            };
        }
        if value > 0.0 {
            of[from].push((to as u32, value));
        }
        Ok(())
    };
    let Some((first, at)) = head.filter(|(line, _)| words(line).any(|word| word.parse::<f64>().is_err())) else {
        let file = lines(call, shown, text.lines().zip(1..))?;
        if file.lines.len() != nodes {
            let what = format!("{} lines of numbers for {nodes} nodes", file.lines.len());
            let remedy = format!(
                "one line of {noun}s for each node, or a table that begins with source,destination,{}",
                columns[0]
            );
            return Err(file.refuse(call, None, &what, &remedy));
        }
        for (from, (line, values)) in file.lines.iter().enumerate() {
            if values.len() != nodes {
                let what = format!("{} {noun}s for {nodes} nodes", values.len());
                return Err(file.refuse(call, Some(*line), &what, &format!("one {noun} for each node")));
            }
            for (to, &value) in values.iter().enumerate() {
                add(&file, *line, from, to, value)?;
            }
        }
        return Ok(Pairs { file, of, column: None });
    };
    let names: Vec<String> = words(first).map(|word| word.trim_matches('"').to_lowercase()).collect();
    let find = |name: &str| names.iter().position(|known| known == name);
    let column = columns.iter().find_map(|name| Some((find(name)?, *name)));
    let (Some(from), Some(to), Some((value, column))) = (find("source"), find("destination"), column) else {
        let file = Lines { shown, lines: Vec::new() };
        let what = format!("`{}` names no columns source, destination and {}", first.trim(), columns.join(" or "));
        let remedy =
            format!("begin a table with source,destination,{}, or write a square matrix of numbers", columns[0]);
        return Err(file.refuse(call, Some(at), &what, &remedy));
    };
    let is_end = |column: usize| column == from || column == to;
    let number_of = |column: usize, word: &str| match word.parse::<f64>() {
        Ok(value) => Ok(value),
        Err(_) if is_end(column) => context.geometry.find(word.trim_matches('"')).map(|node| f64::from(node.0)),
        Err(_) => Err(format!("`{word}` is not a number")),
    };
    let file = lines_by(call, shown, text.lines().zip(1..).filter(|&(_, number)| number > at), number_of)?;
    let mut known = std::collections::HashMap::new();
    for (line, values) in &file.lines {
        let refuse = |what: String, remedy: &str| Err(file.refuse(call, Some(*line), &what, remedy));
        if values.len() != names.len() {
            return refuse(format!("{} numbers in {} columns", values.len(), names.len()), "one number in each column");
        }
        let mut ends = [0usize; 2];
        for (end, (column, name)) in ends.iter_mut().zip([(from, "source"), (to, "destination")]) {
            let number = values[column];
            if number < 0.0 || number.fract() != 0.0 || number >= nodes as f64 {
                return refuse(
                    format!("{name} {number} is no node"),
                    &format!("nodes are numbered 0 to {}", nodes - 1),
                );
            }
            *end = number as usize;
        }
        if let Some(before) = known.insert(ends, *line) {
            return refuse(
                format!("the pair {},{} stands in line {before} already", ends[0], ends[1]),
                "one line for each pair",
            );
        }
        add(&file, *line, ends[0], ends[1], values[value])?;
    }
    of.iter_mut().for_each(|row| row.sort_unstable_by_key(|&(to, _)| to));
    Ok(Pairs { file, of, column: Some(column.to_owned()) })
}

/// Contents of a file.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Path of the file, for errors.
    shown: String,
    /// Line number, and the numbers of the line: at least one.
    pub(crate) lines: Vec<(u64, Vec<f64>)>,
}

impl Lines {
    /// The path, as errors show it.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// An error about one line of the file, or about all of it.
    pub(crate) fn refuse(&self, call: &Call, line: Option<u64>, what: &str, remedy: &str) -> SpecError {
        let place = line.map_or_else(|| self.shown.clone(), |line| format!("{}, line {line}", self.shown));
        let argument: Option<&Expr> = call.given("file");
        match argument {
            Some(given) => call.refuse(given, &format!("{place}: {what}"), remedy),
            None => call.refuse_all(&format!("{place}: {what}"), remedy),
        }
    }
}
