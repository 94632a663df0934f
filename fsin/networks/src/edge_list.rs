//! Lists of edges as networkx writes them: `u v {'capacity': 10, 'delay': '4us'}` a line, the dictionary in Python's
//! notation. `#` begins a comment.

use std::borrow::Cow;

use trgen::catalog::SpecError;

use super::{MOST_ATTRIBUTES, malformed, speeds, word};
use fsin_core::topology::graph::{Attributes, Description, Places, short};

const FORM: &str = "write a line for each link, as networkx does: `s1 s2 {'rate': '10Gb/s', 'delay': '4us'}`";

/// True if the first line has two words and a dictionary.
pub(crate) fn begins(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let ends = first.filter(|line| line.ends_with('}')).and_then(|line| line.split_once('{'));
    ends.is_some_and(|(ends, _)| ends.split_whitespace().count() == 2)
}

/// States a list.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    let of = to.reading();
    let places = &of.places;
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let code = line.trim_end();
        if !code.trim_start().is_empty() && !code.trim_start().starts_with('#') {
            let open = code.find('{').unwrap_or(code.len());
            let mut ends = code[..open].split_whitespace().map(|end| word(end, begin + offset_in(line, end)));
            let (Some(one), Some(other), None) = (ends.next(), ends.next(), ends.next()) else {
                return Err(malformed(places, begin, "two nodes and a dictionary are a link", FORM));
            };
            let attributes = Dictionary { text: code, at: open, begin, places }.parse()?;
            to.edge([&one, &other], false, &speeds::plain(attributes, of))?;
        }
        begin += line.len();
    }
    Ok(())
}

/// \[bytes\] Where a part of a line stands in it.
fn offset_in(line: &str, part: &str) -> usize {
    part.as_ptr() as usize - line.as_ptr() as usize
}

/// A dictionary of Python with texts as keys, and texts, numbers, True and False as values.
struct Dictionary<'a, 'p> {
    /// The line.
    text: &'a str,
    /// \[bytes\] What has been read of it.
    at: usize,
    /// \[bytes\] Offset of the line.
    begin: usize,
    places: &'p Places<'p>,
}

impl<'a> Dictionary<'a, '_> {
    fn parse(mut self) -> Result<Attributes<'a>, SpecError> {
        let mut attributes = Vec::new();
        self.expect('{')?;
        while self.peek() != Some('}') {
            let (key, at) = self.value()?;
            self.expect(':')?;
            let (value, value_at) = self.value()?;
            if attributes.len() >= MOST_ATTRIBUTES {
                return Err(self.refused("too many values"));
            }
            attributes.push((word(key, at), word(value, value_at)));
            if self.peek() != Some('}') {
                self.expect(',')?;
            }
        }
        self.expect('}')?;
        match self.peek() {
            None => Ok(attributes),
            Some(_) => Err(self.refused("text after the dictionary")),
        }
    }

    fn refused(&self, what: &str) -> SpecError {
        malformed(self.places, self.begin + self.at, what, FORM)
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn expect(&mut self, mark: char) -> Result<(), SpecError> {
        if self.peek() != Some(mark) {
            return Err(self.refused(&format!("`{mark}` is missing")));
        }
        self.at += mark.len_utf8();
        Ok(())
    }

    /// A text between quotation marks, or a word; and its offset.
    fn value(&mut self) -> Result<(Cow<'a, str>, usize), SpecError> {
        let quote = self.peek();
        let at = self.begin + self.at;
        let rest = &self.text[self.at..];
        if let Some(quote @ ('\'' | '"')) = quote {
            let mut text = String::new();
            let mut letters = rest.char_indices().skip(1);
            while let Some((offset, letter)) = letters.next() {
                match letter {
                    '\\' => text.extend(letters.next().map(|(_, letter)| letter)),
                    letter if letter == quote => {
                        self.at += offset + 1;
                        return Ok((Cow::Owned(text), at));
                    }
                    letter => text.push(letter),
                }
            }
            return Err(self.refused("a text without its end"));
        }
        let end = rest.find([',', ':', '}', '{', '[', '(']).unwrap_or(rest.len());
        let value = rest[..end].trim_end();
        if value.is_empty() {
            return Err(self.refused("a value is missing, or is neither a text nor a number"));
        }
        self.at += end;
        Ok((
            Cow::Borrowed(match value {
                "True" => "true",
                "False" => "false",
                other if other.contains(char::is_whitespace) => {
                    let what = format!("`{}` is neither a text nor a number", short(other));
                    return Err(malformed(self.places, at, what, FORM));
                }
                other => other,
            }),
            at,
        ))
    }
}
