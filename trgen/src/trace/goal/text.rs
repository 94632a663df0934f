//! GOAL text, read and written.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 100
//! l2: send 8b to 1 tag 7
//! l2 requires l1
//! }
//! rank 1 {
//! l1: recv 8b from 0 tag 7
//! }
//! ```
//!
//! Comments are `//` to the end of the line and `/* ... */`. A dependency follows the definitions of both labels.
//!
//! Tags in the text have 64 bits, those of a graph 32, and a graph only compares tags. Larger tags are mapped to
//! numbers that the text does not use, equal tags to equal numbers. -1, also when written as an unsigned number of 32
//! or 64 bits, means any tag.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use super::{ANY, After, Graph, Kind, Operation, Rank, RankBuilder};

/// Words of LogGOPSim2's dialect, which are none of the plain grammar.
const PORTALS: &[&str] = &[
    "put",
    "get",
    "append",
    "tput",
    "tget",
    "tappend",
    "test",
    "nbtest",
    "calcgem5",
    "ctinc",
    "triggered",
    "search",
    "free",
];

/// An error in a line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct TextError {
    /// The fault, and the expected text.
    pub what: String,
    /// The remedy.
    pub remedy: &'static str,
}

/// The remedy for violations of the grammar.
const GRAMMAR: &str = "the grammar is `num_ranks N`, then blocks `rank R { }`";

/// An error in the grammar.
fn fault<T>(what: impl Into<String>) -> Result<T, TextError> {
    Err(TextError { what: what.into(), remedy: GRAMMAR })
}

/// The error for a label that does not identify exactly one operation.
fn label_error<T>(what: String, remedy: &'static str) -> Result<T, TextError> {
    Err(TextError { what, remedy })
}

/// What the grammar allows next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expect {
    /// `num_ranks`.
    Count,
    /// The beginning of a rank.
    Rank,
    /// A statement, or the end of the rank.
    Statement,
    /// The end of the text.
    Nothing,
}

/// Reads a graph line by line.
#[derive(Debug)]
pub struct Reader {
    expect: Expect,
    /// Number of ranks announced; nothing is allocated for it.
    announced: u64,
    ranks: Vec<Rank>,
    /// Operations of the completed ranks.
    operations: u64,
    /// The rank under construction.
    current: RankBuilder,
    /// Operations of that rank, by label.
    labels: HashMap<Box<str>, u32>,
    /// True within `/* ... */`.
    in_comment: bool,
    /// The number in the graph of each high tag (see [`HIGH`]).
    high: HashMap<u64, u32>,
    /// The numbers in `high`.
    taken: HashSet<u32>,
    /// Where the search for an unused number begins, downwards: all numbers above this one are in `taken` (except
    /// [`ANY`]).
    next_high: u32,
}

/// The first high tag. A high tag keeps its value in the graph if that fits and is unused, and is mapped to an unused
/// number otherwise; few texts have such tags. Lower tags keep their values.
const HIGH: u32 = 0xF000_0000;

impl Default for Reader {
    fn default() -> Self {
        Self {
            expect: Expect::Count,
            announced: 0,
            ranks: Vec::new(),
            operations: 0,
            current: RankBuilder::default(),
            labels: HashMap::new(),
            in_comment: false,
            high: HashMap::new(),
            taken: HashSet::new(),
            next_high: ANY - 1,
        }
    }
}

/// Most tokens of a statement: `LABEL: send N b to RANK tag T cpu C nic I`.
const LONGEST: usize = 13;

impl Reader {
    /// Reads one line, without its line end.
    ///
    /// # Errors
    /// A violation of the grammar, an unknown or duplicate label, a size or rank out of range, a cyclic dependency.
    pub fn line(&mut self, line: &str) -> Result<(), TextError> {
        let mut in_comment = self.in_comment;
        let mut words = Words { rest: line, in_comment: &mut in_comment };
        let mut tokens = [Token::Mark(' '); LONGEST + 1];
        loop {
            // Up to a brace. What is longer than any statement is a fault in any case.
            let mut count = 0;
            for token in words.by_ref() {
                tokens[count] = token?;
                count += 1;
                if matches!(tokens[count - 1], Token::Mark('{' | '}')) || count == tokens.len() {
                    break;
                }
            }
            if count == 0 {
                break;
            }
            self.tokens(&tokens[..count])?;
        }
        self.in_comment = in_comment;
        Ok(())
    }

    /// Processes tokens of a line up to its end or a brace.
    fn tokens(&mut self, tokens: &[Token<'_>]) -> Result<(), TextError> {
        let mut at = 0;
        // Several headers may share a line.
        while at < tokens.len() {
            let rest = &tokens[at..];
            at += match (self.expect, rest) {
                (Expect::Nothing, _) => rest.len(),
                (Expect::Count, [Token::Word("num_ranks"), Token::Number(count), ..]) => {
                    self.announced = whole("number of ranks", count, 1, 1 << 32)?;
                    self.expect = Expect::Rank;
                    2
                }
                (Expect::Count, _) => return fault("expected `num_ranks N`"),
                (Expect::Rank, [Token::Word("rank"), Token::Number(rank), Token::Mark('{'), ..]) => {
                    let expected = self.ranks.len() as u64;
                    let rank = whole("rank", rank, 0, u64::from(u32::MAX))?;
                    if rank != expected {
                        return fault(format!("rank {rank}, expected rank {expected}: ranks come in ascending order"));
                    }
                    self.expect = Expect::Statement;
                    3
                }
                (Expect::Rank, _) => return fault(format!("expected `rank {} {{`", self.ranks.len())),
                (Expect::Statement, [Token::Mark('}'), ..]) => {
                    self.close_rank()?;
                    1
                }
                (Expect::Statement, _) => {
                    let end = rest.iter().position(|token| *token == Token::Mark('}')).unwrap_or(rest.len());
                    self.statement(&rest[..end])?;
                    end
                }
            };
        }
        Ok(())
    }

    /// Operations read so far.
    #[must_use]
    pub const fn operations(&self) -> u64 {
        self.operations + self.current.len() as u64
    }

    /// Ends the text and returns the graph.
    ///
    /// # Errors
    /// A text that ends early; a message with a rank that does not exist.
    pub fn finish(self) -> Result<Graph, TextError> {
        if self.in_comment {
            return fault("the text ends within a comment that `/*` began");
        }
        if self.expect != Expect::Nothing {
            let (read, announced) = (self.ranks.len(), self.announced);
            return fault(format!("the text ends after {read} of {announced} ranks: it may be cut short"));
        }
        Graph::new(self.ranks).map_err(|error| TextError { what: error.to_string(), remedy: GRAMMAR })
    }

    /// Completes the current rank.
    fn close_rank(&mut self) -> Result<(), TextError> {
        self.labels.clear();
        self.operations += self.current.len() as u64;
        let rank = self.current.build().map_err(|error| TextError {
            what: format!("rank {}: {error}", self.ranks.len()),
            remedy: "leave out a dependency: operations that wait for each other never start",
        })?;
        self.ranks.push(rank);
        let over = self.ranks.len() as u64 == self.announced;
        self.expect = if over { Expect::Nothing } else { Expect::Rank };
        Ok(())
    }

    /// Processes a statement of the current rank.
    fn statement(&mut self, tokens: &[Token<'_>]) -> Result<(), TextError> {
        match *tokens {
            [Token::Word(label), Token::Mark(':'), ref operation @ ..] => {
                let number = self.current.len() as u32;
                if self.labels.insert(label.into(), number).is_some() {
                    return label_error(
                        format!("label `{label}` is defined twice in rank {}", self.ranks.len()),
                        "give each operation of a rank a label of its own",
                    );
                }
                self.operation(operation)
            }
            [Token::Word(dependent), Token::Word(word @ ("requires" | "irequires")), Token::Word(other)] => {
                let number = |label: &str| match self.labels.get(label) {
                    Some(&number) => Ok(number),
                    None => label_error(
                        format!("label `{label}` has not been defined in rank {} up to here", self.ranks.len()),
                        "correct the label, or define it: `LABEL: calc 5` in the same rank, above this line (labels of \
                         other ranks do not count)",
                    ),
                };
                let after = if word == "requires" { After::Finish } else { After::Start };
                let (dependent, other) = (number(dependent)?, number(other)?);
                self.current
                    .depend(dependent, other, after)
                    .map_err(|error| TextError { what: error.to_string(), remedy: GRAMMAR })
            }
            _ => self.operation(tokens),
        }
    }

    /// Adds an operation to the current rank.
    fn operation(&mut self, tokens: &[Token<'_>]) -> Result<(), TextError> {
        let (kind, size, peer, rest) = match *tokens {
            [
                Token::Word("send"),
                Token::Number(size),
                Token::Word("b"),
                Token::Word("to"),
                Token::Number(to),
                ref rest @ ..,
            ] => (Kind::Send, size, self.peer(to)?, rest),
            [
                Token::Word("recv"),
                Token::Number(size),
                Token::Word("b"),
                Token::Word("from"),
                Token::Number(from),
                ref rest @ ..,
            ] => (Kind::Recv, size, if from == "-1" { ANY } else { self.peer(from)? }, rest),
            [Token::Word("calc"), Token::Number(size), ref rest @ ..] => (Kind::Calc, size, 0, rest),
            [Token::Word(word), ..] if PORTALS.contains(&word) => {
                return fault(format!(
                    "`{word}` is a word of LogGOPSim2 for Portals 4, a dialect with one-sided operations that is not read; give \
                     the graph in the plain grammar, as schedgen writes it"
                ));
            }
            _ => {
                return fault(
                    "expected `send N b to RANK`, `recv N b from RANK`, `calc N`, `LABEL requires LABEL` or `LABEL \
                     irequires LABEL`",
                );
            }
        };
        let limit = if kind == Kind::Calc { super::MAX_CALC } else { super::MAX_BYTES };
        let size = whole("size", size, 0, limit)?;
        let (mut tag, mut cpu, mut nic) = (0, 0, 0);
        let mut rest = rest;
        if let [Token::Word("tag"), Token::Number(number), more @ ..] = rest
            && kind != Kind::Calc
        {
            tag = if *number == "-1" { ANY } else { self.tag(whole("tag", number, 0, u64::MAX)?)? };
            rest = more;
        }
        if let [Token::Word("cpu"), Token::Number(number), more @ ..] = rest {
            cpu = whole("cpu", number, 0, 255)? as u8;
            rest = more;
        }
        if let [Token::Word("nic"), Token::Number(number), more @ ..] = rest
            && kind != Kind::Calc
        {
            nic = whole("nic", number, 0, 255)? as u8;
            rest = more;
        }
        if !rest.is_empty() {
            return fault("what follows the operation is not `tag N`, `cpu N`, `nic N`, in this order");
        }
        self.current
            .add(Operation { kind, size, peer, tag, cpu, nic })
            .map(|_| ())
            .map_err(|error| TextError { what: error.to_string(), remedy: GRAMMAR })
    }

    /// The number of a tag in the graph.
    fn tag(&mut self, tag: u64) -> Result<u32, TextError> {
        match u32::try_from(tag) {
            Ok(small) if small < HIGH || small == ANY => return Ok(small),
            Err(_) if tag == u64::MAX => return Ok(ANY),
            _ => {}
        }
        if let Some(&number) = self.high.get(&tag) {
            return Ok(number);
        }
        // The value of the tag itself, if unused; else the next unused number.
        let own = u32::try_from(tag).ok().filter(|own| !self.taken.contains(own));
        let number = own.unwrap_or_else(|| {
            while self.taken.contains(&self.next_high) {
                self.next_high -= 1;
            }
            self.next_high
        });
        if number < HIGH {
            return fault(format!("more different tags from {HIGH} on than there are numbers for them"));
        }
        self.high.insert(tag, number);
        self.taken.insert(number);
        Ok(number)
    }

    /// Parses the rank at the other end of a message.
    fn peer(&self, word: &str) -> Result<u32, TextError> {
        whole("rank", word, 0, self.announced - 1).map(|rank| rank as u32)
    }
}

/// Parses a whole number from `least` to `most`.
fn whole(what: &str, word: &str, least: u64, most: u64) -> Result<u64, TextError> {
    match word.parse::<u64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => fault(format!("{what} is `{}`, expected {least} to {most}", shown(word))),
    }
}

/// Escapes and shortens text of the input for an error message.
fn shown(word: &str) -> String {
    word.chars().take(40).flat_map(char::escape_default).collect()
}

/// A word, a number, or one of `:`, `{`, `}`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    Word(&'a str),
    Number(&'a str),
    Mark(char),
}

/// The tokens of a line, without comments.
struct Words<'a, 'c> {
    /// The part of the line that has not been read.
    rest: &'a str,
    /// True within a comment, which may continue from the previous line.
    in_comment: &'c mut bool,
}

impl<'a> Iterator for Words<'a, '_> {
    type Item = Result<Token<'a>, TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (at, first) = loop {
            if *self.in_comment {
                let (_, after) = self.rest.split_once("*/")?;
                *self.in_comment = false;
                self.rest = after;
            }
            let bytes = self.rest.as_bytes();
            let at = span(bytes, BLANK);
            if at == bytes.len() {
                return None;
            }
            match (bytes[at], bytes.get(at + 1)) {
                (b'/', Some(b'*')) => {
                    *self.in_comment = true;
                    self.rest = &self.rest[at + 2..];
                }
                (b'/', Some(b'/')) => {
                    self.rest = "";
                    return None;
                }
                (first, _) => break (at, first),
            }
        };
        let bytes = self.rest.as_bytes();
        let after = &bytes[at + 1..];
        let (length, token): (usize, fn(&'a str) -> Token<'a>) = match first {
            b':' | b'{' | b'}' => {
                self.rest = &self.rest[at + 1..];
                return Some(Ok(Token::Mark(char::from(first))));
            }
            b'0'..=b'9' => (span(after, DIGIT), Token::Number),
            b'-' if after.first().is_some_and(u8::is_ascii_digit) => (span(after, DIGIT), Token::Number),
            b'a'..=b'z' | b'A'..=b'Z' => (span(after, WORD), Token::Word),
            _ => return Some(fault(format!("`{}` does not begin any word", shown(&self.rest[at..])))),
        };
        let end = at + 1 + length;
        // Only ASCII has been counted: these are character boundaries.
        let word = &self.rest[at..end];
        self.rest = &self.rest[end..];
        Some(Ok(token(word)))
    }
}

/// Classes of bytes: blanks, digits, and what continues a word. Each is a bit of [`CLASSES`].
const BLANK: u8 = 1;
const DIGIT: u8 = 2;
const WORD: u8 = 4;

/// The classes of each byte.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let letter = byte as u8;
        classes[byte] = if letter.is_ascii_whitespace() { BLANK } else { 0 }
            | if letter.is_ascii_digit() { DIGIT } else { 0 }
            | if letter.is_ascii_alphanumeric() || letter == b'_' { WORD } else { 0 };
        byte += 1;
    }
    classes
};

/// Number of bytes at the beginning, all of which are of this class.
#[inline]
fn span(bytes: &[u8], class: u8) -> usize {
    bytes.iter().position(|&byte| CLASSES[usize::from(byte)] & class == 0).unwrap_or(bytes.len())
}

/// Writes a graph. Reading the text yields the same graph, and its binary form the same bytes.
///
/// # Errors
/// When writing to `out` fails.
pub fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "num_ranks {}", graph.ranks.len())?;
    for (number, rank) in graph.ranks.iter().enumerate() {
        writeln!(out, "\nrank {number} {{")?;
        write_rank(rank, out)?;
        writeln!(out, "}}")?;
    }
    Ok(())
}

/// Writes the operations of a rank, each dependency as soon as both operations are written.
fn write_rank(rank: &Rank, out: &mut dyn Write) -> io::Result<()> {
    let statements = super::order::statements(rank);
    let mut next = statements.iter().peekable();
    for (number, node) in rank.nodes.iter().enumerate() {
        write!(out, "l{}: ", number + 1)?;
        match (node.kind, node.peer) {
            (Kind::Send, to) => write!(out, "send {}b to {to}", node.size)?,
            (Kind::Recv, ANY) => write!(out, "recv {}b from -1", node.size)?,
            (Kind::Recv, from) => write!(out, "recv {}b from {from}", node.size)?,
            (Kind::Calc, _) => write!(out, "calc {}", node.size)?,
        }
        if node.kind != Kind::Calc {
            if node.tag == ANY { write!(out, " tag -1")? } else { write!(out, " tag {}", node.tag)? }
        }
        if node.cpu != 0 {
            write!(out, " cpu {}", node.cpu)?;
        }
        if node.nic != 0 && node.kind != Kind::Calc {
            write!(out, " nic {}", node.nic)?;
        }
        writeln!(out)?;
        while let Some(statement) = next.next_if(|statement| statement.after_node <= number as u32) {
            let word = if statement.after == After::Finish { "requires" } else { "irequires" };
            writeln!(out, "l{} {word} l{}", statement.dependent + 1, statement.other + 1)?;
        }
    }
    Ok(())
}
