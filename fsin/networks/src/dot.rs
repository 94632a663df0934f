//! DOT: statement by statement, none of which is kept.
//!
//! Comments and ports are skipped: neither concerns the network. Words lose their quotation marks, and the backslash
//! before one; they are otherwise kept as written.
//!
//! The text is read twice: its grammar is checked before any of it gets a meaning. The ends of an edge are read twice
//! again, since its attributes stand behind them.
//!
//! Source: Graphviz, The DOT language.

use std::borrow::Cow;

use trgen::catalog::{ErrorKind, SpecError};

use fsin_core::topology::graph::{Description, Item, OfEdge, OfNode, Word};
use fsin_core::words;

use super::head;

/// Maximum nesting of subgraphs: the parser is recursive.
const MAX_DEPTH: usize = 8;

/// Why a text is not one graph.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Fault {
    /// A violation of the grammar, at a line and column from 1.
    Syntax { line: usize, column: usize, why: String },
    /// The text ends with this number of open braces, the last of which is at a line and column from 1.
    Unclosed { braces: usize, line: usize, column: usize },
    /// Subgraphs are nested deeper than [`MAX_DEPTH`].
    Deep,
    /// Another graph follows the first one.
    Several,
    /// Other text follows the graph.
    Behind,
}

/// A token of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    /// A name, a numeral, a quoted string or an HTML string.
    Word(&'a str),
    Strict,
    Graph,
    Digraph,
    Node,
    Edge,
    Subgraph,
    /// `--` or `->`.
    Link {
        is_directed: bool,
    },
    /// A punctuation mark.
    Mark(char),
    End,
}

/// The words of the language, which are not case-sensitive.
const KEYWORDS: [(&str, Token<'_>); 6] = [
    ("strict", Token::Strict),
    ("graph", Token::Graph),
    ("digraph", Token::Digraph),
    ("node", Token::Node),
    ("edge", Token::Edge),
    ("subgraph", Token::Subgraph),
];

/// A place in the text, and the token there.
#[derive(Clone, Copy)]
struct Mark<'a> {
    /// \[bytes\] Offset of the next token.
    at: usize,
    /// \[bytes\] Offset of the end of the next token.
    after: usize,
    /// The next token.
    token: Token<'a>,
}

/// The state of the parser: the text, and the next token in it.
struct Parser<'a, 'd, 'r> {
    text: &'a str,
    here: Mark<'a>,
    /// \[bytes\] Offsets of the open braces.
    open: Vec<usize>,
    /// True in a directed graph.
    is_directed: bool,
    /// The description; `None` while the grammar alone is looked at.
    to: Option<&'d mut Description<'r>>,
}

/// Why reading ends early.
enum Stop {
    Fault(Fault),
    Refused(SpecError),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<SpecError> for Stop {
    fn from(error: SpecError) -> Self {
        Self::Refused(error)
    }
}

/// What begins a statement that is no list of defaults.
enum End<'a> {
    Node(Word<'a>),
    Subgraph,
}

/// True for a text that begins as DOT does.
pub(crate) fn begins(text: &str) -> bool {
    let head = head(text);
    let first = head.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or("").to_ascii_lowercase();
    // GML begins with `graph [`, and an object of JSON may begin with a member of this name.
    matches!(first.as_str(), "graph" | "digraph" | "strict")
        && head.split_once(['{', '[']).is_some_and(|(before, _)| head[before.len()..].starts_with('{'))
}

/// States the one graph of the text.
///
/// # Errors
/// Text that is not one graph, with its place.
pub(crate) fn parse(text: &str, to: &mut Description<'_>) -> Result<(), SpecError> {
    for to in [None, Some(to)] {
        graph(text, to).map_err(|stop| match stop {
            Stop::Fault(fault) => refusal(&fault),
            Stop::Refused(error) => error,
        })?;
    }
    Ok(())
}

/// The error of a text that is not one graph.
fn refusal(fault: &Fault) -> SpecError {
    let written = "write it as in `graph { a -- b }`";
    match fault {
        Fault::Syntax { line, column, why } => {
            let what = format!("it is not DOT: line {line}, column {column}: {why}");
            SpecError::new(ErrorKind::Malformed, what, written)
        }
        Fault::Unclosed { braces, line, column } => {
            let open = words::counted(*braces, "brace is", "braces are");
            let what = format!(
                "it is not DOT: at its end {open} not closed, the last one that of line {line}, column {column}"
            );
            SpecError::new(ErrorKind::Malformed, what, "write a `}` for each `{`, as in `graph { a -- b }`")
        }
        Fault::Deep => {
            let what = format!("subgraphs stand in each other more than {MAX_DEPTH} deep");
            SpecError::new(ErrorKind::TooLarge, what, "leave out braces that say nothing")
        }
        Fault::Several => {
            let what = "there is more than one graph";
            SpecError::new(ErrorKind::Malformed, what, "leave one graph in the file, `graph { a -- b }`")
        }
        Fault::Behind => {
            let what = "there is something behind the graph that is not DOT";
            SpecError::new(ErrorKind::Malformed, what, "leave one graph in the file, `graph { a -- b }`")
        }
    }
}

/// Reads the one graph of the text.
fn graph(text: &str, to: Option<&mut Description<'_>>) -> Result<(), Stop> {
    let here = Mark { at: 0, after: 0, token: Token::End };
    let mut parser = Parser { text, here, open: Vec::new(), is_directed: false, to };
    parser.advance()?;
    let is_strict = parser.take(Token::Strict)?;
    if let Some(to) = parser.to.as_mut().filter(|_| is_strict) {
        to.set_strict();
    }
    parser.is_directed = parser.take(Token::Digraph)?;
    if !parser.is_directed && !parser.take(Token::Graph)? {
        return Err(parser.expected("`graph`").into());
    }
    if let Token::Word(_) = parser.here.token {
        parser.advance()?;
    }
    parser.block(true)?;
    if parser.here.token == Token::End {
        return Ok(());
    }
    parser.take(Token::Strict)?;
    let is_graph = matches!(parser.here.token, Token::Graph | Token::Digraph);
    Err(if is_graph { Fault::Several } else { Fault::Behind }.into())
}

impl<'a> Parser<'a, '_, '_> {
    /// A violation of the grammar at the offset `at`.
    fn fault(&self, at: usize, why: String) -> Fault {
        let (line, column) = self.place(at);
        Fault::Syntax { line, column, why }
    }

    /// The line and column, from 1, of an offset.
    fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..at];
        let line = before.rfind('\n').map_or(before, |newline| &before[newline + 1..]);
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// The fault that `what` was expected in place of the next token.
    fn expected(&self, what: &str) -> Fault {
        if let (Token::End, Some(&last)) = (self.here.token, self.open.last()) {
            let (line, column) = self.place(last);
            return Fault::Unclosed { braces: self.open.len(), line, column };
        }
        let found = match &self.text[self.here.at..self.here.after] {
            "" => "the end".to_owned(),
            // The part of a long word that an error shows.
            found => format!("`{}`", found.chars().take(40).collect::<String>()),
        };
        self.fault(self.here.at, format!("expected {what}, found {found}"))
    }

    /// Advances to the next token.
    fn advance(&mut self) -> Result<(), Fault> {
        let at = self.here.after + blank(self.text, self.here.after);
        self.here = Mark { at, after: at, token: Token::End };
        let rest = &self.text[at..];
        let Some(first) = rest.chars().next() else { return Ok(()) };
        let (token, length) = match first {
            '-' if rest.starts_with("--") => (Token::Link { is_directed: false }, 2),
            '-' if rest.starts_with("->") => (Token::Link { is_directed: true }, 2),
            '"' => {
                let length = quoted(rest).ok_or_else(|| self.unended("a string"))?;
                (Token::Word(&rest[1..length - 1]), length)
            }
            '<' => {
                let length = html(rest).ok_or_else(|| self.unended("an HTML string"))?;
                (Token::Word(&rest[..length]), length)
            }
            '-' | '.' | '0'..='9' => {
                let length = numeral(rest);
                (if length == 0 { Token::Mark(first) } else { Token::Word(&rest[..length]) }, length.max(1))
            }
            _ if is_letter(first) => {
                let length = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
                let word = &rest[..length];
                let keyword = KEYWORDS.iter().find(|(keyword, _)| word.eq_ignore_ascii_case(keyword));
                (keyword.map_or(Token::Word(word), |&(_, token)| token), length)
            }
            _ => (Token::Mark(first), first.len_utf8()),
        };
        self.here = Mark { at, after: at + length, token };
        Ok(())
    }

    /// The fault that `what`, which begins with the next token, does not end.
    fn unended(&self, what: &str) -> Fault {
        self.fault(self.here.at, format!("{what} does not end"))
    }

    /// Advances past the next token if it is `token`. Returns whether it was.
    fn take(&mut self, token: Token<'_>) -> Result<bool, Fault> {
        let is_next = self.here.token == token;
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    /// Takes the next token, which must be a word; `what` describes the word in a fault.
    fn word(&mut self, what: &str) -> Result<Word<'a>, Fault> {
        let Token::Word(word) = self.here.token else { return Err(self.expected(what)) };
        let is_quoted = self.text[self.here.at..].starts_with('"');
        let text = match is_quoted && word.contains("\\\"") {
            true => Cow::Owned(word.replace("\\\"", "\"")),
            false => Cow::Borrowed(word),
        };
        let at = self.here.at;
        self.advance()?;
        Ok(Word { text, at })
    }

    /// Reads statements between braces. `is_whole` is true for those of the whole graph.
    fn block(&mut self, is_whole: bool) -> Result<(), Stop> {
        let begin = self.here.at;
        if !self.take(Token::Mark('{'))? {
            return Err(self.expected("`{`").into());
        }
        self.open.push(begin);
        if !is_whole && self.open.len() > MAX_DEPTH + 1 {
            return Err(Fault::Deep.into());
        }
        while self.here.token != Token::Mark('}') {
            self.statement()?;
            self.take(Token::Mark(';'))?;
        }
        self.open.pop();
        self.advance()?;
        Ok(())
    }

    /// Reads a statement.
    fn statement(&mut self) -> Result<(), Stop> {
        let item = match self.here.token {
            Token::Node => Item::Node,
            Token::Edge => Item::Edge,
            Token::Graph => Item::Graph,
            _ => return self.node_or_edge(),
        };
        self.advance()?;
        if self.here.token != Token::Mark('[') {
            return Err(self.expected("`[`").into());
        }
        match item {
            Item::Node => {
                let own = self.of_node()?;
                if let Some(to) = &mut self.to {
                    to.usual_node(own);
                }
            }
            Item::Edge => {
                let own = self.of_edge()?;
                if let Some(to) = &mut self.to {
                    to.usual_edge(&own);
                }
            }
            Item::Graph => self.attributes(|to, key, value| to.defaults(Item::Graph, &[(key, value)]))?,
        }
        Ok(())
    }

    /// Reads a statement that begins with a node or subgraph.
    fn node_or_edge(&mut self) -> Result<(), Stop> {
        let begin = self.here;
        // The grammar first: what stands behind the ends says what they are.
        let to = self.to.take();
        let first = self.end("a node, an edge or `}`")?;
        let is_value = self.here.token == Token::Mark('=');
        let mut count = 1;
        while let Token::Link { is_directed } = self.here.token {
            if is_directed != self.is_directed {
                let expected = if self.is_directed { "`->` (in a digraph)" } else { "`--` (in a graph)" };
                return Err(self.expected(expected).into());
            }
            self.advance()?;
            self.end("a node or `{`")?;
            count += 1;
        }
        self.to = to;
        match first {
            End::Node(name) if count == 1 && is_value => {
                self.advance()?;
                let value = self.word("a value")?;
                match &mut self.to {
                    Some(to) => Ok(to.defaults(Item::Graph, &[(name, value)])?),
                    None => Ok(()),
                }
            }
            End::Node(name) if count == 1 => {
                let own = self.of_node()?;
                if let Some(to) = &mut self.to {
                    to.node_of(&name, own)?;
                }
                Ok(())
            }
            End::Subgraph if count == 1 => {
                if self.to.is_some() {
                    self.here = begin;
                    self.members()?;
                }
                Ok(())
            }
            End::Node(_) | End::Subgraph => {
                let own = self.of_edge()?;
                let behind = self.here;
                if self.to.is_some() {
                    self.here = begin;
                    self.join(&own)?;
                    self.here = behind;
                }
                Ok(())
            }
        }
    }

    /// Reads an edge again, which joins each of its ends with the next one.
    fn join(&mut self, own: &OfEdge) -> Result<(), Stop> {
        let Some(to) = &mut self.to else { return Ok(()) };
        let kept = to.keep(own);
        let (mut from, _) = self.members()?;
        while let Token::Link { is_directed } = self.here.token {
            self.advance()?;
            let (there, at) = self.members()?;
            if let Some(to) = &mut self.to {
                to.join(&from, &there, at, is_directed, kept)?;
            }
            from = there;
        }
        Ok(())
    }

    /// Reads one end of an edge, or a subgraph alone: its nodes, each once, and the offset of the first.
    fn members(&mut self) -> Result<(Vec<u32>, usize), Stop> {
        let at = self.first_word();
        if let Some(to) = &mut self.to {
            to.open();
        }
        if let (End::Node(name), Some(to)) = (self.end("a node or `{`")?, &mut self.to) {
            to.mention(&name)?;
        }
        let members = self.to.as_mut().map(|to| to.close());
        Ok((members.unwrap_or_default(), at))
    }

    /// \[bytes\] Offset of the first word of an end: within a subgraph, that of its first statement.
    fn first_word(&self) -> usize {
        let mut rest = Parser { text: self.text, here: self.here, open: Vec::new(), is_directed: false, to: None };
        let is_name = |token| matches!(token, Token::Word(_));
        if is_name(rest.here.token) {
            return rest.here.at;
        }
        // `subgraph x {`, and attributes of a kind before the first word of their list.
        while rest.here.token != Token::Mark('{') && rest.here.token != Token::End && rest.advance().is_ok() {}
        while !is_name(rest.here.token) {
            if matches!(rest.here.token, Token::End | Token::Mark('}')) || rest.advance().is_err() {
                return 0;
            }
        }
        rest.here.at
    }

    /// Parses one end of an edge; `what` describes it in a fault. The statements of a subgraph get their meaning.
    fn end(&mut self, what: &str) -> Result<End<'a>, Stop> {
        if self.take(Token::Subgraph)? {
            if let Token::Word(_) = self.here.token {
                self.advance()?;
            }
            self.block(false)?;
            return Ok(End::Subgraph);
        }
        if self.here.token == Token::Mark('{') {
            self.block(false)?;
            return Ok(End::Subgraph);
        }
        let name = self.word(what)?;
        // A port is a name, a point of the compass, or both.
        for _ in 0..2 {
            if self.take(Token::Mark(':'))? {
                self.word("a port")?;
            }
        }
        Ok(End::Node(name))
    }

    /// Reads lists of attributes: none, one or several.
    fn attributes(
        &mut self,
        mut take: impl FnMut(&mut Description<'_>, Word<'a>, Word<'a>) -> Result<(), SpecError>,
    ) -> Result<(), Stop> {
        while self.take(Token::Mark('['))? {
            while !self.take(Token::Mark(']'))? {
                let name = self.word("an attribute or `]`")?;
                if !self.take(Token::Mark('='))? {
                    return Err(self.expected("`=`").into());
                }
                let value = self.word("a value")?;
                if let Some(to) = &mut self.to {
                    take(to, name, value)?;
                }
                let _ = self.take(Token::Mark(','))? || self.take(Token::Mark(';'))?;
            }
        }
        Ok(())
    }

    fn of_node(&mut self) -> Result<OfNode, Stop> {
        let mut own = OfNode::default();
        self.attributes(|to, key, value| own.take(to.reading(), &key, &value))?;
        Ok(own)
    }

    fn of_edge(&mut self) -> Result<OfEdge, Stop> {
        let mut own = OfEdge::default();
        self.attributes(|to, key, value| own.take(to.reading(), &key, &value))?;
        Ok(own)
    }
}

/// \[bytes\] Length of blanks and comments from an offset on; lines that begin with # are those of a preprocessor. A
/// comment without an end is not a blank.
fn blank(text: &str, from: usize) -> usize {
    let mut rest = &text[from..];
    loop {
        rest = rest.trim_start();
        let at = text.len() - rest.len();
        let begins_line = || at == 0 || text.as_bytes()[at - 1] == b'\n';
        let is_line = rest.starts_with("//") || (rest.starts_with('#') && begins_line());
        let length = match rest {
            _ if is_line => Some(rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => rest[2..].find("*/").map(|at| at + 4),
            _ => None,
        };
        match length {
            Some(length) => rest = &rest[length..],
            None => return at - from,
        }
    }
}

/// True for a letter of a name, or a digit in it.
fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// \[bytes\] Length of the leading quoted string, with its quotation marks; `None` if it does not end.
fn quoted(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = text[1..].find(|letter| {
        let is_end = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    })?;
    Some(end + 2)
}

/// \[bytes\] Length of the leading HTML string, in which `<` and `>` balance; `None` if it does not end.
fn html(text: &str) -> Option<usize> {
    let mut open = 0;
    let end = text.find(|letter| {
        match letter {
            '<' => open += 1,
            '>' => open -= 1,
            _ => {}
        }
        open == 0
    })?;
    Some(end + 1)
}

/// \[bytes\] Length of the leading numeral, 0 if there is none: digits with a point anywhere, perhaps negative.
fn numeral(text: &str) -> usize {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let digits = |text: &str| text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let whole = digits(unsigned);
    let part = unsigned[whole..].strip_prefix('.').map_or(0, |rest| 1 + digits(rest));
    if whole == 0 && part < 2 { 0 } else { text.len() - unsigned.len() + whole + part }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fault of a text.
    fn fault_of(text: &str) -> Fault {
        match graph(text, None) {
            Err(Stop::Fault(fault)) => fault,
            _ => panic!("{text} is read"),
        }
    }

    #[test]
    fn words_are_names_numerals_and_strings() {
        let text = "-1.5 .5; \"a \\\" b\" <b <i>c</i>> é_1 \"\" 2.";
        let here = Mark { at: 0, after: 0, token: Token::End };
        let mut parser = Parser { text, here, open: Vec::new(), is_directed: false, to: None };
        let mut words = Vec::new();
        assert!(parser.advance().is_ok());
        while parser.here.token != Token::End {
            match parser.word("a word") {
                Ok(word) => words.push((word.text.to_string(), word.at)),
                Err(_) => assert!(parser.advance().is_ok()),
            }
        }
        let words: Vec<(&str, usize)> = words.iter().map(|(word, at)| (word.as_str(), *at)).collect();
        assert_eq!(
            words,
            [("-1.5", 0), (".5", 5), ("a \" b", 9), ("<b <i>c</i>>", 18), ("é_1", 31), ("", 36), ("2.", 39)]
        );
    }

    #[test]
    fn faults_say_where_and_what_would_do() {
        let syntax = |line, column, why: &str| Fault::Syntax { line, column, why: why.to_owned() };
        for (text, fault) in [
            ("", syntax(1, 1, "expected `graph`, found the end")),
            ("graph {\n a -- \n}", syntax(3, 1, "expected a node or `{`, found `}`")),
            ("graph { é b; -- c }", syntax(1, 14, "expected a node, an edge or `}`, found `--`")),
            ("graph { a [b] }", syntax(1, 13, "expected `=`, found `]`")),
            ("graph { a -- \"b }", syntax(1, 14, "a string does not end")),
            ("graph { a - b }", syntax(1, 11, "expected a node, an edge or `}`, found `-`")),
            ("graph { a -> b }", syntax(1, 11, "expected `--` (in a graph), found `->`")),
            ("digraph { a -- b }", syntax(1, 13, "expected `->` (in a digraph), found `--`")),
            ("graph { /* }", syntax(1, 9, "expected a node, an edge or `}`, found `/`")),
            ("graph { { a ", Fault::Unclosed { braces: 2, line: 1, column: 9 }),
            ("graph { a } strict graph { b }", Fault::Several),
            ("graph { a } strict", Fault::Behind),
            ("graph { a } \"", syntax(1, 13, "a string does not end")),
        ] {
            assert_eq!(fault_of(text), fault, "{text}");
        }
    }
}
