//! Lists of links with commas between their values, and a line with the names of the columns above them.
//!
//! Two columns name the ends of a link (`source` and `target`, also `from` and `to`, `src` and `dst`, `u` and `v`), and
//! each further column is an attribute of links; an empty value gives none. Columns `source_kind` and `target_kind` say
//! `host` or `switch` of the ends. A column `directed` says for each row
//! whether it is one direction of a link; so does `Type` of Gephi, whose `Id` and `Label` are left out. Semicolons or
//! tabs may stand for the commas.

use std::collections::HashSet;

use csv::{Position, ReaderBuilder, StringRecord};
use trgen::catalog::{ErrorKind, SpecError};

use super::{MOST_ATTRIBUTES, malformed, speeds, word};
use fsin_core::topology::graph::{Description, Labels, Places, Word, refusal, short};

const FORM: &str = "begin with the names of the columns, as in `source,target,rate,delay`, and write a line for each link, as in \
                    `s1,s2,10Gb/s,4us`";

/// Names of the columns of both ends.
const ENDS: [[&str; 5]; 2] = [["source", "from", "src", "node1", "u"], ["target", "to", "dst", "node2", "v"]];

/// True for a text whose first line consists of words between commas, or of names of columns between semicolons or
/// tabs.
pub(crate) fn begins(text: &str) -> bool {
    separator(text).is_some()
}

/// What separates the values of a text that begins as a list of this kind.
fn separator(text: &str) -> Option<u8> {
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
    let names = |by: u8| first.split(char::from(by)).map(str::trim);
    // Tabs, and even semicolons, may stand in lines of other formats: `u` and `v` are not enough.
    let is_header = |by: &u8| {
        let is_known = |ends: &[&str]| names(*by).any(|name| ends[..4].contains(&name.to_ascii_lowercase().as_str()));
        ENDS.iter().all(|ends| is_known(ends))
    };
    let has_words = names(b',').all(|name| !name.contains(char::is_whitespace));
    if first.contains(',') && (has_words || is_header(&b',')) {
        return Some(b',');
    }
    [b';', b'\t'].into_iter().find(is_header)
}

/// States a list.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    let by = separator(text).unwrap_or(b',');
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        if line.bytes().filter(|&byte| byte == by).count() > MOST_ATTRIBUTES {
            let what = format!("more than {MOST_ATTRIBUTES} values");
            return Err(refusal(places, begin, ErrorKind::TooLarge, what, "leave out what says nothing of links"));
        }
        begin += line.len();
    }
    let mut reader = ReaderBuilder::new();
    reader.has_headers(false).comment(Some(b'#')).trim(csv::Trim::All).delimiter(by);
    // Lines of spaces are rows of one value, and left out.
    reader.flexible(true);
    let mut reader = reader.from_reader(text.as_bytes());
    let mut columns: Option<Header<'_>> = None;
    // By node: the kind that was last stated, by its number, from 1; 0 for none.
    let (mut known, mut kinds) = (Labels::default(), Vec::<u32>::new());
    let mut record = StringRecord::new();
    loop {
        let uneven = |at| {
            malformed(places, at, "a row with another number of values than the line above the list has names", FORM)
        };
        let more = reader.read_record(&mut record).map_err(|error| uneven(error.position().map_or(0, offset)))?;
        if !more {
            break;
        }
        if record.len() == 1 && record.get(0).is_some_and(str::is_empty) {
            continue;
        }
        let fields = fields(&record);
        let Some((names, ends, directed)) = &columns else {
            columns = Some(header(fields, places)?);
            continue;
        };
        if fields.len() != names.len() {
            return Err(uneven(record.position().map_or(0, offset)));
        }
        let value = |column: usize| fields[column].clone();
        for &end in ends {
            let given = &fields[end];
            if given.text.is_empty() {
                return Err(malformed(places, given.at, format!("no {}", short(&names[end].text)), FORM));
            }
            if ends.iter().any(|&end| names[end].text == given.text) {
                let what =
                    format!("`{}` is a node here, and the name of a column in the first line", short(&given.text));
                return Err(malformed(places, given.at, what, FORM));
            }
        }
        let is_directed = match directed.map(value) {
            None => false,
            Some(given) => match &*given.text.to_ascii_lowercase() {
                "" | "false" | "0" | "no" | "undirected" => false,
                "true" | "1" | "yes" | "directed" => true,
                _ => {
                    let what = format!("{} as a direction is neither true nor false", short(&given.text));
                    return Err(malformed(places, given.at, what, "write true or false"));
                }
            },
        };
        for (end, name) in ["source_kind", "target_kind"].iter().enumerate() {
            let column = names.iter().position(|column| column.text.replace('-', "_").eq_ignore_ascii_case(name));
            let Some(column) = column.filter(|&column| !fields[column].text.is_empty()) else { continue };
            let node = value(ends[end]);
            let kind = known.number(&fields[column].text) + 1;
            let number = to.number_of(&node.text).map_or(to.node_count(), |number| number as usize);
            if kinds.get(number) != Some(&kind) {
                kinds.resize(kinds.len().max(number + 1), 0);
                kinds[number] = kind;
                to.node(&node, &[(word("kind", fields[column].at), value(column))])?;
            }
        }
        let is_remark = |column: usize| {
            ["id", "label", "source_kind", "target_kind", "source-kind", "target-kind"]
                .iter()
                .any(|name| names[column].text.eq_ignore_ascii_case(name))
        };
        let is_attribute = |column: &usize| !ends.contains(column) && Some(*column) != *directed && !is_remark(*column);
        let attributes = (0..names.len()).filter(is_attribute).filter(|&column| !fields[column].text.is_empty());
        let attributes = attributes.map(|column| (word(names[column].text.clone(), fields[column].at), value(column)));
        let attributes = speeds::plain(attributes.collect(), of);
        to.edge([&fields[ends[0]], &fields[ends[1]]], is_directed, &attributes)?;
    }
    Ok(())
}

/// Names of columns; the columns of both ends, and that of directions.
type Header<'a> = (Vec<Word<'a>>, [usize; 2], Option<usize>);

/// Reads the names of columns.
fn header<'a>(names: Vec<Word<'a>>, places: &Places<'_>) -> Result<Header<'a>, SpecError> {
    let plain: Vec<String> = names.iter().map(|name| name.text.to_ascii_lowercase()).collect();
    let mut known = HashSet::new();
    if let Some(again) = (0..plain.len()).find(|&column| !known.insert(&plain[column])) {
        let what = format!("two columns are called `{}`", short(&names[again].text));
        return Err(refusal(places, names[again].at, ErrorKind::Conflict, what, "give each column a name of its own"));
    }
    if let Some(nameless) = names.iter().find(|name| name.text.is_empty()) {
        let remedy = "give it one, or leave the column out: pandas writes none with `to_csv(..., index=False)`";
        return Err(malformed(places, nameless.at, "a column has no name", remedy));
    }
    let of = |known: &[&str]| plain.iter().position(|name| known.contains(&name.as_str()));
    match (of(&ENDS[0]), of(&ENDS[1])) {
        (Some(source), Some(target)) => Ok((names, [source, target], of(&["directed"]).or_else(|| of(&["type"])))),
        _ => Err(malformed(places, names.first().map_or(0, |name| name.at), "no columns source and target", FORM)),
    }
}

/// \[bytes\] Where a row begins.
fn offset(position: &Position) -> usize {
    position.byte() as usize
}

/// The values of a row with their places, which are exact where no value before them is quoted.
fn fields<'a>(record: &StringRecord) -> Vec<Word<'a>> {
    let mut at = record.position().map_or(0, offset);
    let place = |field: &str| {
        let here = at;
        at += field.len() + 1;
        word(field.to_owned(), here)
    };
    record.iter().map(place).collect()
}
