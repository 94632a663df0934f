//! The syntax of components: `name`, `name(argument, ...)`, `name:key=value,...`.
//!
//! # Grammar
//! ```text
//! expression = word [ '(' [ arguments ] ')' ]
//!            | word ':' arguments       at the outermost level
//!            | word ':' argument        within parentheses, where a comma ends it
//! arguments  = argument { ',' argument } [ ';' argument { ',' argument } ]
//! argument   = [ word '=' ] expression
//! word       = any characters but blanks and ( ) , : ; = @, and + only at its beginning or in the exponent of a number
//!            | '"' any characters but '"' '"'
//! ```
//! A number is a word that parses as one ([`Expr::number`]). Blanks separate and have no other meaning. So
//! `mix(0.9:uniform, 0.1:hotspot(0.02, 0))` has two arguments `0.9` and `0.1`, each with one argument of its own. A
//! semicolon ends a list of any length: `polynomial(1, 0.5; 4, 64)`. The operators between expressions, `+`, `@` and
//! `then`, belong to [`traffic`](super::traffic).
//!
//! Every node of the tree knows its byte position, and every [`SpecError`] shows it with a caret under the text.

use std::fmt;
use std::ops::RangeInclusive;

use crate::catalog::{Allowed, Component, Described, ErrorKind, Parameter, SpecError, suggestion};
use crate::phrase;
use crate::phrase::Phrase;

/// A word with its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expr {
    /// The word: a component's name, or a number as it was written.
    pub name: String,
    /// The arguments of the word, in the order written.
    pub arguments: Vec<Argument>,
    /// \[byte\] Position of the word in the text.
    pub position: usize,
}

/// One argument of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// The word before `=` with its byte position, if any.
    pub key: Option<(String, usize)>,
    /// The argument itself.
    pub value: Expr,
    /// True for the first argument after a semicolon.
    pub after_semicolon: bool,
}

/// Maximum nesting depth; deeper texts are rejected before they exhaust the stack.
const DEEPEST: usize = 32;

impl Expr {
    /// Parses one expression, which must be the whole text.
    ///
    /// # Errors
    /// When the text does not follow the [grammar](self) or nests more than 32 deep.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let mut parser = Parser::new(text);
        let expression = parser.expression(0)?;
        parser.end()?;
        Ok(expression)
    }

    /// The value, if the expression is a number without arguments; `None` for anything else, infinities included.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        if !self.arguments.is_empty() || !self.name.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
            return None;
        }
        self.name.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The value, if the expression is a whole number without arguments: `64`, `-3`, and `1e6` up to 2^53.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        if self.arguments.is_empty()
            && let Ok(number) = self.name.parse()
        {
            return Some(number);
        }
        self.number()
            .filter(|number| number.fract() == 0.0 && number.abs() <= 2f64.powi(53))
            .map(|number| number as i64)
    }

    /// \[bytes\] The value, if the expression is a size without arguments: a whole number, or one with its
    /// [unit](crate::units::bytes).
    #[must_use]
    pub fn bytes(&self) -> Option<i64> {
        let with_unit = || self.word().and_then(crate::units::bytes).and_then(|bytes| i64::try_from(bytes).ok());
        self.integer().or_else(with_unit)
    }

    /// The word, if it has no arguments.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        self.arguments.is_empty().then_some(self.name.as_str())
    }
}

/// Writes the expression in its normal form, with parentheses; parsing that gives the same tree.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_word(&self.name, f)?;
        for (position, argument) in self.arguments.iter().enumerate() {
            f.write_str(match position {
                0 => "(",
                _ if argument.after_semicolon => ";",
                _ => ",",
            })?;
            if let Some((key, _)) = &argument.key {
                write_word(key, f)?;
                f.write_str("=")?;
            }
            argument.value.fmt(f)?;
        }
        if self.arguments.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

/// An error that shows `text` with a caret under the byte at `position`.
#[must_use]
pub fn refuse(text: &str, position: usize, problem: &str, remedy: impl Into<Phrase>) -> SpecError {
    // Tabs and line ends would displace the caret.
    let line: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let column = text.char_indices().take_while(|&(at, _)| at < position).count();
    SpecError::new(ErrorKind::Malformed, format!("{problem}\n  {line}\n  {:column$}^", ""), remedy)
}

/// Describes a parameter: its name, its meaning and its range.
fn described(parameter: &Parameter) -> Phrase {
    let Parameter { name, about, range, .. } = parameter;
    phrase!["{name}: ", Phrase::of_template(about), " ({range})"]
}

/// Writes a word, in quotes if it could not be parsed without them.
fn write_word(word: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if word_length(word) == word.len() && !word.is_empty() && !word.starts_with('"') {
        f.write_str(word)
    } else {
        write!(f, "\"{word}\"")
    }
}

/// Parses expressions one after another.
pub(super) struct Parser<'a> {
    text: &'a str,
    /// \[byte\] Position of the next character.
    position: usize,
}

/// \[bytes\] Length of the word at the beginning of `text`.
fn word_length(text: &str) -> usize {
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let mut before = None;
    let end = text.char_indices().find(|&(at, c)| {
        let plus_ends = c == '+' && at > 0 && !(numeric && matches!(before, Some('e' | 'E')));
        before = Some(c);
        c.is_whitespace() || "(),:;=@".contains(c) || plus_ends
    });
    end.map_or(text.len(), |(at, _)| at)
}

impl<'a> Parser<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, position: 0 }
    }

    /// \[byte\] Position of the next character in the text.
    pub(super) const fn position(&self) -> usize {
        self.position
    }

    /// The next nonblank character; the position moves to it.
    pub(super) fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.position..];
        self.position += rest.len() - rest.trim_start().len();
        self.text[self.position..].chars().next()
    }

    /// Consumes the next nonblank character if it is `wanted`; returns whether it was.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.position += wanted.len_utf8();
        }
        found
    }

    /// Consumes the next word if it is `wanted`; returns whether it was.
    pub(super) fn take_word(&mut self, wanted: &str) -> bool {
        self.peek();
        let rest = &self.text[self.position..];
        let found = &rest[..word_length(rest)] == wanted;
        if found {
            self.position += wanted.len();
        }
        found
    }

    /// Checks that nothing is left.
    pub(super) fn end(&mut self) -> Result<(), SpecError> {
        match self.peek() {
            None => Ok(()),
            found => Err(self.expected(found, "the end")),
        }
    }

    /// The error at the current position: `what` was expected, and `found` (`None` for the end) is there.
    pub(super) fn expected(&self, found: impl Into<Option<char>>, what: &str) -> SpecError {
        let found = found.into().map_or_else(|| "the end".to_owned(), |c| format!("`{c}`"));
        refuse(
            self.text,
            self.position,
            &format!("expected {what}, found {found}"),
            "write `name` or `name(argument, ...)`",
        )
    }

    /// Parses a word, quoted or not.
    fn word(&mut self) -> Result<String, SpecError> {
        let found = self.peek();
        let rest = &self.text[self.position..];
        if let Some(quoted) = rest.strip_prefix('"') {
            let Some(length) = quoted.find('"') else {
                return Err(refuse(self.text, self.position, "the quotation never ends", "close it with `\"`"));
            };
            self.position += length + 2;
            return Ok(quoted[..length].to_owned());
        }
        let name = &rest[..word_length(rest)];
        if name.is_empty() {
            return Err(self.expected(found, "a name or a number"));
        }
        self.position += name.len();
        Ok(name.to_owned())
    }

    /// Parses a word with its arguments; `depth` is the number of enclosing expressions.
    pub(super) fn expression(&mut self, depth: usize) -> Result<Expr, SpecError> {
        self.peek();
        let position = self.position;
        if depth > DEEPEST {
            return Err(refuse(self.text, position, "nested too deeply", format!("nest at most {DEEPEST} deep")));
        }
        let name = self.word()?;
        let mut arguments = Vec::new();
        if self.take('(') {
            if !self.take(')') {
                self.list(depth, &mut arguments)?;
                if !self.take(')') {
                    let found = self.peek();
                    return Err(self.expected(found, "`,` or `)`"));
                }
            }
        } else if self.take(':') {
            if depth == 0 {
                self.list(depth, &mut arguments)?;
            } else {
                arguments.push(self.argument(depth)?);
            }
        }
        Ok(Expr { name, arguments, position })
    }

    /// Parses arguments up to the first character that separates none.
    fn list(&mut self, depth: usize, arguments: &mut Vec<Argument>) -> Result<(), SpecError> {
        arguments.push(self.argument(depth)?);
        loop {
            let after_semicolon = self.take(';');
            if !after_semicolon && !self.take(',') {
                return Ok(());
            }
            arguments.push(Argument { after_semicolon, ..self.argument(depth)? });
        }
    }

    /// Parses one argument, with its key if it has one.
    fn argument(&mut self, depth: usize) -> Result<Argument, SpecError> {
        let first = self.expression(depth + 1)?;
        if first.arguments.is_empty() && self.take('=') {
            let value = self.expression(depth + 1)?;
            return Ok(Argument { key: Some((first.name, first.position)), value, after_semicolon: false });
        }
        Ok(Argument { key: None, value: first, after_semicolon: false })
    }
}

/// A member of a family: its description, and its constructor (`F`, a function pointer).
#[derive(Clone, Copy, Debug)]
pub struct Entry<F: 'static> {
    /// Name, definition, parameters, source.
    pub component: Component,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Builds the member from its arguments.
    pub build: F,
}

impl<F: Sync> Described for Entry<F> {
    fn component(&self) -> &Component {
        &self.component
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }
}

/// The member of a family that is named by `expr`, parsed from `text`.
///
/// # Errors
/// When there is none; a caret marks the name, and the remedy lists the nearest ones.
pub fn find<R: Described>(
    family: &'static str,
    rows: &[&'static R],
    text: &str,
    expr: &Expr,
) -> Result<&'static R, SpecError> {
    let names = |row: &'static R| std::iter::once(row.component().name).chain(row.aliases().iter().copied());
    let found = rows.iter().copied().find(|row| names(row).any(|name| name == expr.name));
    found.ok_or_else(|| {
        let known: Vec<&str> = rows.iter().copied().flat_map(names).collect();
        let error = SpecError::unknown(family, &expr.name, &known);
        let shown = refuse(text, expr.position, &error.to_string(), "");
        error.saying(shown.what())
    })
}

/// An expression whose arguments have been bound to the parameters of its component.
///
/// Arguments without a key are bound in order, those with a key by name. A parameter whose name ends with `...` takes
/// every argument without a key up to a semicolon, which leads to the next parameter.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The text that was parsed, for error messages.
    text: &'a str,
    /// The component's name with its arguments.
    expr: &'a Expr,
    component: &'static Component,
    /// Per parameter: its argument, if one is given.
    bound: Vec<Option<&'a Expr>>,
    /// The arguments bound to the list parameter.
    rest: Vec<&'a Expr>,
}

impl<'a> Call<'a> {
    /// Binds the arguments of `expr`, which was parsed from `text`, to the parameters of `component`.
    ///
    /// # Errors
    /// When there are too many arguments, a key is unknown (the remedy names the nearest), or one is given twice.
    pub fn bind(text: &'a str, expr: &'a Expr, component: &'static Component) -> Result<Self, SpecError> {
        let parameters = component.parameters;
        let mut call = Self { text, expr, component, bound: vec![None; parameters.len()], rest: Vec::new() };
        let mut next = 0;
        let list = parameters.iter().position(|parameter| parameter.name.ends_with("..."));
        for Argument { key, value, after_semicolon } in &expr.arguments {
            if *after_semicolon {
                next = list.map_or(parameters.len(), |list| list + 1);
                if next >= parameters.len() {
                    return Err(call.refuse(value, &format!("`{}` takes no `;`", component.name), call.usage()));
                }
            }
            let index = if let Some((key, position)) = key {
                let known: Vec<&str> = parameters.iter().map(|p| p.name.trim_end_matches("...")).collect();
                known.iter().position(|name| name == key).ok_or_else(|| {
                    let near = suggestion(key, &known);
                    let remedy = if known.is_empty() { Phrase::from("write the name alone") } else { (&near).into() };
                    refuse(text, *position, &format!("`{}` has no parameter `{key}`", component.name), remedy)
                        .of_kind(ErrorKind::UnknownName)
                        .given(key)
                        .allowed(Allowed::Names(near))
                })?
            } else {
                next
            };
            if Some(index) == list {
                next = index;
                call.rest.push(value);
                continue;
            }
            // A list continues after a named argument.
            if key.is_none() || list.is_none_or(|list| next != list) {
                next = index + 1;
            }
            if index >= parameters.len() {
                let most = parameters.len();
                let problem = format!("`{}` takes at most {most} argument(s)", component.name);
                return Err(call.refuse(value, &problem, call.usage()));
            }
            if call.bound[index].replace(value).is_some() {
                let problem = format!("`{}` is given twice", parameters[index].name);
                return Err(call.refuse(value, &problem, "give it once"));
            }
        }
        Ok(call)
    }

    /// Syntax of the component, with its parameters' ranges.
    fn usage(&self) -> Phrase {
        let name = self.component.name;
        let mut usage = Phrase::default();
        for parameter in self.component.parameters {
            let before = if usage.is_empty() { format!("`{name}` takes ") } else { "; ".to_owned() };
            usage.push(phrase![before, described(parameter)]);
        }
        if usage.is_empty() { phrase!["write `{name}` alone"] } else { usage }
    }

    /// An error with a caret under one argument.
    #[must_use]
    pub fn refuse(&self, argument: &Expr, problem: &str, remedy: impl Into<Phrase>) -> SpecError {
        refuse(self.text, argument.position, problem, remedy)
    }

    /// An error with a caret under the component's name.
    #[must_use]
    pub fn refuse_all(&self, problem: &str, remedy: impl Into<Phrase>) -> SpecError {
        refuse(self.text, self.expr.position, problem, remedy)
    }

    /// True if the component has this parameter.
    #[must_use]
    pub fn declares(&self, parameter: &str) -> bool {
        self.component.parameters.iter().any(|declared| declared.name == parameter)
    }

    /// The argument given for a parameter, if any.
    ///
    /// # Panics
    /// When the component has no such parameter, which is a bug in its own file.
    #[must_use]
    pub fn given(&self, parameter: &str) -> Option<&'a Expr> {
        self.bound[self.index(parameter)]
    }

    /// The arguments bound to the list parameter, `name...`.
    #[must_use]
    pub fn rest(&self) -> &[&'a Expr] {
        &self.rest
    }

    /// The component's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.component.name
    }

    /// The component itself.
    #[must_use]
    pub const fn component(&self) -> &'static Component {
        self.component
    }

    /// The text that was parsed.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The value of a number, or the parameter's default.
    ///
    /// # Errors
    /// When it is missing without a default, not a number, or outside `range`.
    pub fn number(&self, parameter: &str, range: RangeInclusive<f64>) -> Result<f64, SpecError> {
        self.value(parameter, Expr::number, |value| range.contains(value), "a number")
    }

    /// The value of a whole number, or the parameter's default.
    ///
    /// # Errors
    /// When it is missing without a default, not a whole number, or outside `range`.
    pub fn integer(&self, parameter: &str, range: RangeInclusive<i64>) -> Result<i64, SpecError> {
        self.value(parameter, Expr::integer, |value| range.contains(value), "a whole number")
    }

    /// \[bytes\] The value of a size, which may have a [unit](crate::units::bytes), or the parameter's default.
    ///
    /// # Errors
    /// When it is missing without a default, not a size, or outside `range`.
    pub fn bytes(&self, parameter: &str, range: RangeInclusive<i64>) -> Result<i64, SpecError> {
        self.value(parameter, Expr::bytes, |value| range.contains(value), "a size such as 4096, 64kB or 1MiB")
    }

    /// The word given for a parameter, or its default.
    ///
    /// # Errors
    /// When it is missing without a default, or is not a word.
    pub fn word(&self, parameter: &str) -> Result<String, SpecError> {
        self.value(parameter, |expr| expr.word().filter(|word| !word.is_empty()).map(str::to_owned), |_| true, "a word")
    }

    /// The value of a parameter with a few permitted words.
    ///
    /// # Errors
    /// When it is none of them; the remedy names the nearest.
    pub fn choice<T: Copy>(&self, parameter: &str, choices: &[(&str, T)]) -> Result<T, SpecError> {
        let word = self.word(parameter)?;
        choices.iter().find(|(known, _)| *known == word).map(|&(_, choice)| choice).ok_or_else(|| {
            let known: Vec<&str> = choices.iter().map(|&(known, _)| known).collect();
            let position = self.given(parameter).map_or(self.expr.position, |given| given.position);
            let near = suggestion(&word, &known);
            refuse(self.text, position, &format!("{parameter} does not know `{word}`"), &near)
                .of_kind(ErrorKind::UnknownName)
                .given(&word)
                .allowed(Allowed::Names(near))
        })
    }

    /// Position of a parameter in the component's list.
    fn index(&self, parameter: &str) -> usize {
        let found = self.component.parameters.iter().position(|p| p.name == parameter);
        found.unwrap_or_else(|| panic!("`{}` declares no parameter `{parameter}`", self.component.name))
    }

    /// The argument of a parameter, or its default, converted by `read`. `fits` checks the range, and `kind` names the
    /// expected kind of value in errors.
    fn value<T>(
        &self,
        parameter: &str,
        read: impl Fn(&Expr) -> Option<T>,
        fits: impl Fn(&T) -> bool,
        kind: &str,
    ) -> Result<T, SpecError> {
        let index = self.index(parameter);
        let declared = &self.component.parameters[index];
        let Some(argument) = self.bound[index] else {
            let default =
                Expr { name: declared.default.to_owned(), arguments: Vec::new(), position: self.expr.position };
            return read(&default).ok_or_else(|| {
                self.refuse_all(&format!("`{}` needs its parameter {parameter}", self.component.name), self.usage())
            });
        };
        let remedy = || described(declared);
        let value =
            read(argument).ok_or_else(|| self.refuse(argument, &format!("`{argument}` is not {kind}"), remedy()))?;
        if fits(&value) {
            Ok(value)
        } else {
            let problem = format!("{parameter} = {argument} is out of range");
            Err(self.refuse(argument, &problem, remedy()).of_kind(ErrorKind::OutOfRange).given(argument))
        }
    }
}
