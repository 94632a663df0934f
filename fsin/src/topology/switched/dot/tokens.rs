//! The words and signs of a text in DOT.

use std::fmt;

/// What a text consists of, without blanks and comments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// A word, a number, or what stands in quotation marks.
    Word(&'a str),
    /// `--` or `->`.
    Edge(&'a str),
    /// One of `{ } [ ] = ; , :`.
    Sign(char),
    /// What no token begins with.
    Other(char),
    /// A quotation or a comment that does not end.
    Unended(&'static str),
    /// The end of the text.
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Letters of a word that are shown.
        const SHOWN: usize = 40;
        match self {
            Self::Word(word) if word.chars().count() > SHOWN => {
                write!(f, "`{}...`", word.chars().take(SHOWN).collect::<String>())
            }
            Self::Word(word) | Self::Edge(word) => write!(f, "`{word}`"),
            Self::Sign(letter) | Self::Other(letter) => write!(f, "`{letter}`"),
            Self::Unended(what) => write!(f, "{what} that does not end"),
            Self::End => f.write_str("the end"),
        }
    }
}

/// Where something stands in a text, both counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) line: usize,
    /// \[characters\]
    pub(super) column: usize,
}

/// Reads a text token by token, with one token of foresight.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    /// \[byte\] Where the next token begins.
    at: usize,
    /// The next token.
    next: Token<'a>,
    /// \[byte\] Where the one behind it may begin.
    behind: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut tokens = Self { text, at: 0, next: Token::End, behind: 0 };
        tokens.advance();
        tokens
    }

    /// The next token, which stays.
    pub(super) const fn peek(&self) -> Token<'a> {
        self.next
    }

    /// The next token, which is passed.
    pub(super) fn take(&mut self) -> Token<'a> {
        let taken = self.next;
        self.advance();
        taken
    }

    /// Passes a sign if it is next.
    pub(super) fn take_sign(&mut self, wanted: char) -> bool {
        let found = self.next == Token::Sign(wanted);
        if found {
            self.advance();
        }
        found
    }

    /// Passes a word that means something to DOT, in whatever letters, if it is next. In quotation marks it means nothing.
    pub(super) fn take_keyword(&mut self, wanted: &str) -> bool {
        let found = self.is_keyword(wanted);
        if found {
            self.advance();
        }
        found
    }

    /// True if this keyword is next.
    pub(super) fn is_keyword(&self, wanted: &str) -> bool {
        let is_quoted = self.text[self.at..].starts_with('"');
        matches!(self.next, Token::Word(word) if !is_quoted && word.eq_ignore_ascii_case(wanted))
    }

    /// Where the next token stands.
    pub(super) fn place(&self) -> Place {
        let before = &self.text[..self.at];
        let line_begins = before.rfind('\n').map_or(0, |end| end + 1);
        Place { line: before.matches('\n').count() + 1, column: before[line_begins..].chars().count() + 1 }
    }

    fn advance(&mut self) {
        self.at = self.behind;
        loop {
            let rest = &self.text[self.at..];
            let blanks = rest.len() - rest.trim_start().len();
            let comment = match &rest[blanks..] {
                line if line.starts_with("//") => line.find('\n').unwrap_or(line.len()),
                block if block.starts_with("/*") => match block[2..].find("*/") {
                    Some(end) => end + 4,
                    None => 0,
                },
                _ => 0,
            };
            self.at += blanks + comment;
            if comment == 0 {
                break;
            }
        }
        let (token, length) = token(&self.text[self.at..]);
        self.next = token;
        self.behind = self.at + length;
    }
}

/// The token that a text begins with, and its length \[bytes\].
fn token(text: &str) -> (Token<'_>, usize) {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let Some(first) = text.chars().next() else { return (Token::End, 0) };
    match first {
        '{' | '}' | '[' | ']' | '=' | ';' | ',' | ':' => (Token::Sign(first), 1),
        '"' => {
            let quoted = &text[1..];
            let end = quoted.match_indices('"').find(|&(at, _)| !quoted[..at].ends_with('\\'));
            match end {
                Some((end, _)) => (Token::Word(&quoted[..end]), end + 2),
                None => (Token::Unended("a quotation"), text.len()),
            }
        }
        '/' if text.starts_with("/*") => (Token::Unended("a comment"), text.len()),
        '-' if text.starts_with("--") || text.starts_with("->") => (Token::Edge(&text[..2]), 2),
        '-' | '.' | '0'..='9' => {
            let sign = usize::from(first == '-');
            let end = text[sign..].find(|letter: char| !(is_of_word(letter) || letter == '.'));
            match end.map_or(text.len(), |end| end + sign) {
                length if length > sign => (Token::Word(&text[..length]), length),
                _ => (Token::Other(first), 1),
            }
        }
        _ if is_of_word(first) => {
            let length = text.find(|letter: char| !is_of_word(letter)).unwrap_or(text.len());
            (Token::Word(&text[..length]), length)
        }
        _ => (Token::Other(first), first.len_utf8()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_their_places() {
        let mut tokens = Tokens::new("a--\"b \\\" c\" // x\n /* {\n */ [n=-1.5];é §");
        let mut all = Vec::new();
        while tokens.peek() != Token::End {
            let Place { line, column } = tokens.place();
            all.push((tokens.take().to_string(), line, column));
        }
        let expected = [
            ("`a`", 1, 1),
            ("`--`", 1, 2),
            ("`b \\\" c`", 1, 4),
            ("`[`", 3, 5),
            ("`n`", 3, 6),
            ("`=`", 3, 7),
            ("`-1.5`", 3, 8),
            ("`]`", 3, 12),
            ("`;`", 3, 13),
            ("`é`", 3, 14),
            ("`§`", 3, 16),
        ];
        assert_eq!(all, expected.map(|(token, line, column)| (token.to_owned(), line, column)));
        for (text, expected) in
            [("\"a", "a quotation that does not end"), ("/* a", "a comment that does not end"), ("", "the end")]
        {
            assert_eq!(Tokens::new(text).take().to_string(), expected);
        }
    }

    #[test]
    fn keywords_are_not_quoted() {
        assert!(Tokens::new("Graph {").is_keyword("graph") && !Tokens::new("\"graph\"").is_keyword("graph"));
    }
}
