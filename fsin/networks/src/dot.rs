//! The grammar of DOT: text to a tree of statements.
//!
//! Comments and ports are skipped: neither concerns the network. Words lose their quotation marks, and the backslash
//! before one; they are otherwise kept as written.
//!
//! Source: Graphviz, The DOT language.

use std::borrow::Cow;

use trgen::catalog::{ErrorKind, SpecError};

use fsin_core::topology::graph::{Attributes, Edge, End, Graph, Item, Statement, Word};
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

/// The state of the parser: the text, and the next token in it.
struct Parser<'a> {
    text: &'a str,
    /// \[bytes\] Offset of the next token.
    at: usize,
    /// \[bytes\] Offset of the end of the next token.
    after: usize,
    /// The next token.
    token: Token<'a>,
    /// \[bytes\] Offsets of the open braces.
    open: Vec<usize>,
    /// True in a directed graph.
    is_directed: bool,
}

/// True for a text that begins as DOT does.
pub(crate) fn begins(text: &str) -> bool {
    let head = head(text);
    let first = head.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or("").to_ascii_lowercase();
    // GML begins with `graph [`, and an object of JSON may begin with a member of this name.
    matches!(first.as_str(), "graph" | "digraph" | "strict")
        && head.split_once(['{', '[']).is_some_and(|(before, _)| head[before.len()..].starts_with('{'))
}

/// The one graph of the text.
///
/// # Errors
/// Text that is not one graph, with its place.
pub(crate) fn parse(text: &str) -> Result<Graph<'_>, SpecError> {
    graph(text).map_err(|fault| refusal(&fault))
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

/// The one graph of the text.
fn graph(text: &str) -> Result<Graph<'_>, Fault> {
    let mut parser = Parser { text, at: 0, after: 0, token: Token::End, open: Vec::new(), is_directed: false };
    parser.advance()?;
    let is_strict = parser.take(Token::Strict)?;
    parser.is_directed = parser.take(Token::Digraph)?;
    if !parser.is_directed && !parser.take(Token::Graph)? {
        return Err(parser.expected("`graph`"));
    }
    if let Token::Word(_) = parser.token {
        parser.advance()?;
    }
    let statements = parser.block(true)?;
    if parser.token == Token::End {
        return Ok(Graph { is_strict, statements, ..Graph::default() });
    }
    parser.take(Token::Strict)?;
    Err(if matches!(parser.token, Token::Graph | Token::Digraph) { Fault::Several } else { Fault::Behind })
}

impl<'a> Parser<'a> {
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
        if let (Token::End, Some(&last)) = (self.token, self.open.last()) {
            let (line, column) = self.place(last);
            return Fault::Unclosed { braces: self.open.len(), line, column };
        }
        let found = match &self.text[self.at..self.after] {
            "" => "the end".to_owned(),
            // The part of a long word that an error shows.
            found => format!("`{}`", found.chars().take(40).collect::<String>()),
        };
        self.fault(self.at, format!("expected {what}, found {found}"))
    }

    /// Advances to the next token.
    fn advance(&mut self) -> Result<(), Fault> {
        self.at = self.after + blank(self.text, self.after);
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else {
            (self.token, self.after) = (Token::End, self.at);
            return Ok(());
        };
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
        (self.token, self.after) = (token, self.at + length);
        Ok(())
    }

    /// The fault that `what`, which begins with the next token, does not end.
    fn unended(&self, what: &str) -> Fault {
        self.fault(self.at, format!("{what} does not end"))
    }

    /// Advances past the next token if it is `token`. Returns whether it was.
    fn take(&mut self, token: Token<'_>) -> Result<bool, Fault> {
        let is_next = self.token == token;
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    /// Takes the next token, which must be a word; `what` describes the word in a fault.
    fn word(&mut self, what: &str) -> Result<Word<'a>, Fault> {
        let Token::Word(word) = self.token else { return Err(self.expected(what)) };
        let is_quoted = self.text[self.at..].starts_with('"');
        let text = match is_quoted && word.contains("\\\"") {
            true => Cow::Owned(word.replace("\\\"", "\"")),
            false => Cow::Borrowed(word),
        };
        let at = self.at;
        self.advance()?;
        Ok(Word { text, at })
    }

    /// Parses statements between braces. `is_whole` is true for those of the whole graph.
    fn block(&mut self, is_whole: bool) -> Result<Vec<Statement<'a>>, Fault> {
        let begin = self.at;
        if !self.take(Token::Mark('{'))? {
            return Err(self.expected("`{`"));
        }
        self.open.push(begin);
        if !is_whole && self.open.len() > MAX_DEPTH + 1 {
            return Err(Fault::Deep);
        }
        let mut statements = Vec::new();
        while self.token != Token::Mark('}') {
            statements.push(self.statement()?);
            self.take(Token::Mark(';'))?;
        }
        self.open.pop();
        self.advance()?;
        Ok(statements)
    }

    /// Parses a statement.
    fn statement(&mut self) -> Result<Statement<'a>, Fault> {
        let item = match self.token {
            Token::Node => Item::Node,
            Token::Edge => Item::Edge,
            Token::Graph => Item::Graph,
            _ => return self.node_or_edge(),
        };
        self.advance()?;
        match self.token {
            Token::Mark('[') => Ok(Statement::Defaults(item, self.attributes()?)),
            _ => Err(self.expected("`[`")),
        }
    }

    /// Parses a statement that begins with a node or subgraph.
    fn node_or_edge(&mut self) -> Result<Statement<'a>, Fault> {
        let first = self.end("a node, an edge or `}`")?;
        let first = match first {
            End::Node(name) if self.take(Token::Mark('='))? => {
                return Ok(Statement::Defaults(Item::Graph, vec![(name, self.word("a value")?)]));
            }
            first => first,
        };
        let mut ends = vec![first];
        while let Token::Link { is_directed } = self.token {
            if is_directed != self.is_directed {
                return Err(self.expected(if self.is_directed { "`->` (in a digraph)" } else { "`--` (in a graph)" }));
            }
            self.advance()?;
            ends.push(self.end("a node or `{`")?);
        }
        if ends.len() > 1 {
            let attributes = self.attributes()?;
            return Ok(Statement::Edge(Edge { ends, is_directed: self.is_directed, attributes }));
        }
        match ends.swap_remove(0) {
            End::Node(name) => Ok(Statement::Node(name, self.attributes()?)),
            End::Subgraph(statements) => Ok(Statement::Subgraph(statements)),
        }
    }

    /// Parses one end of an edge; `what` describes it in a fault.
    fn end(&mut self, what: &str) -> Result<End<'a>, Fault> {
        if self.take(Token::Subgraph)? {
            if let Token::Word(_) = self.token {
                self.advance()?;
            }
            return self.block(false).map(End::Subgraph);
        }
        if self.token == Token::Mark('{') {
            return self.block(false).map(End::Subgraph);
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

    /// Parses lists of attributes: none, one or several.
    fn attributes(&mut self) -> Result<Attributes<'a>, Fault> {
        let mut attributes = Vec::new();
        while self.take(Token::Mark('['))? {
            while !self.take(Token::Mark(']'))? {
                let name = self.word("an attribute or `]`")?;
                if !self.take(Token::Mark('='))? {
                    return Err(self.expected("`=`"));
                }
                attributes.push((name, self.word("a value")?));
                let _ = self.take(Token::Mark(','))? || self.take(Token::Mark(';'))?;
            }
        }
        Ok(attributes)
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

    #[test]
    fn words_are_names_numerals_and_strings() {
        let graph = parse("Graph x { -1.5 -- .5; \"a \\\" b\" -- <b <i>c</i>>; é_1 [u=\"\", v=2.]; }").unwrap();
        let mut names = Vec::new();
        for statement in &graph.statements {
            match statement {
                Statement::Edge(edge) => edge.ends.iter().for_each(|end| {
                    let End::Node(name) = end else { panic!("a node") };
                    names.push(name.text.to_string());
                }),
                Statement::Node(name, attributes) => {
                    names.push(name.text.to_string());
                    names.extend(
                        attributes.iter().map(|(key, value)| format!("{}={} at {}", key.text, value.text, key.at)),
                    );
                }
                _ => panic!("{statement:?}"),
            }
        }
        assert_eq!(names, ["-1.5", ".5", "a \" b", "<b <i>c</i>>", "é_1", "u= at 54", "v=2. at 60"]);
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
            assert_eq!(graph(text).unwrap_err(), fault, "{text}");
        }
    }
}
