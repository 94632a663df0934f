//! Parser of the syntax of traffic: phases, each a sum of terms.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::catalog::{Component, Parameter, SpecError};
use crate::synthetic::expr::{Call, Expr, Parser, refuse};
use crate::synthetic::file;

/// The descriptions of the words that combine sources.
pub(super) static COMPONENTS: [Component; 3] = [
    Component {
        name: "sum",
        about: "A + B: both at the same time. The offered load is shared evenly, or as written: 3:uniform + 1:transpose",
        parameters: &[],
        source: "the algebra of CAMINOS; Camarero, Postigo, Fuentes, CAMINOS: a modular interconnection network \
                 simulator (2025)",
    },
    Component {
        name: "phases",
        about: "A@C then B@D: C cycles of A, D cycles of B, and from the beginning again; a last phase without @ goes on \
                for ever",
        parameters: &[],
        source: "the algebra of CAMINOS; Camarero, Postigo, Fuentes, CAMINOS: a modular interconnection network \
                 simulator (2025)",
    },
    SOURCE,
];

/// The description of the word `source`.
const SOURCE: Component = Component {
    name: "source",
    about: "a term of a sum with a load, temporal process or size law of its own: uniform + source(hotspot(1,0), \
            load=0.01, size=constant(1))",
    parameters: &[
        Parameter { name: "pattern", about: "where it sends", range: "any pattern", default: "" },
        Parameter {
            name: "load",
            about: "its own load, beside {load} and in its unit",
            range: "0..",
            default: "its share of {load}",
        },
        Parameter { name: "temporal", about: "its own process", range: "any process", default: "{temporal}" },
        Parameter { name: "size", about: "its own size law", range: "any law", default: "{size}" },
        Parameter { name: "share", about: "its share of {load}", range: "more than 0", default: "1" },
        Parameter { name: "class", about: "traffic class of its messages", range: "0..=255", default: "0" },
    ],
    source: "the algebra of CAMINOS; Camarero, Postigo, Fuentes, CAMINOS: a modular interconnection network simulator \
             (2025)",
};

/// The pattern that states loads of its own.
pub(super) const RATES: &str = "rates";

/// One source of a sum.
#[derive(Clone, Debug)]
pub(super) struct Term {
    /// Spatial pattern.
    pub(super) pattern: Expr,
    /// Share of the common load of the terms of a phase; positive.
    pub(super) share: f64,
    /// The load of this term alone, of which the configuration's capacity is 1; `None` if it has a share of the common
    /// load.
    pub(super) load: Option<f64>,
    /// Temporal process; `None` for that of the configuration.
    pub(super) temporal: Option<Expr>,
    /// Size law; `None` for that of the configuration.
    pub(super) size: Option<Expr>,
    /// Traffic class of its messages, with its place in the text; `None` for the class that its process gives them.
    pub(super) class: Option<(u8, usize)>,
}

impl Term {
    /// True if it has a share of the common load.
    pub(super) fn shares_load(&self) -> bool {
        self.load.is_none() && self.pattern.name != RATES
    }
}

/// The sources of one phase.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    /// The sources; at least one.
    pub(super) terms: Vec<Term>,
    /// \[cycles\] Length, 1 or more; `None` if it never ends. Only the last phase may be endless.
    pub(super) length: Option<u64>,
}

/// Sources as they were written: a pattern, or several by the [grammar](super).
///
/// Decision: docs/decisions/0670-settings-are-parsed-once.md.
#[derive(Clone, Debug)]
pub struct Sources {
    text: String,
    phases: Vec<Phase>,
    /// The text as one pattern, or why it is none.
    pattern: Result<Expr, SpecError>,
}

impl FromStr for Sources {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Ok(Self { text: text.to_owned(), phases: phases(text)?, pattern: Expr::parse(text) })
    }
}

impl fmt::Display for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The text determines the rest.
impl PartialEq for Sources {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Sources {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The phases; at least one.
    pub(super) fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// The only pattern.
    ///
    /// # Errors
    /// Sums and phases.
    pub fn pattern(&self) -> Result<&Expr, SpecError> {
        self.pattern.as_ref().map_err(Clone::clone)
    }

    /// True if a pattern, or one within it, has this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        fn is_in(expr: &Expr, name: &str) -> bool {
            expr.name == name || expr.arguments.iter().any(|argument| is_in(&argument.value, name))
        }
        self.phases.iter().flat_map(|phase| &phase.terms).any(|term| is_in(&term.pattern, name))
    }

    /// False if every source has its own load, so that the common load is unused.
    #[must_use]
    pub fn uses_load(&self) -> bool {
        self.phases.iter().flat_map(|phase| &phase.terms).any(Term::shares_load)
    }

    /// The paths of the files named in patterns and size laws.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.named().into_iter().map(|(_, name)| name.into()).collect()
    }

    /// The text with other paths in the place of these files.
    #[must_use]
    pub fn with_files(&self, path: impl Fn(&Path) -> PathBuf) -> String {
        let mut text = self.text.clone();
        for (position, name) in self.named().into_iter().rev() {
            file::replace(&mut text, position, &name, &path(Path::new(&name)));
        }
        text
    }

    /// The files named in patterns and size laws: the byte position of each name, quoted or not, and the name.
    fn named(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for term in self.phases.iter().flat_map(|phase| &phase.terms) {
            file::collect(&term.pattern, &mut found);
            term.size.iter().for_each(|size| file::collect(size, &mut found));
        }
        found
    }
}

/// Parses all of `text` as one or more phases.
fn phases(text: &str) -> Result<Vec<Phase>, SpecError> {
    let mut parser = Parser::new(text);
    let mut phases = Vec::new();
    loop {
        let mut terms = Vec::new();
        sum(text, &mut parser, 0, &mut terms)?;
        let length = if parser.take('@') { Some(length(text, &mut parser)?) } else { None };
        phases.push(Phase { terms, length });
        parser.peek();
        let then = parser.position();
        if !parser.take_word("then") {
            parser.end()?;
            return Ok(phases);
        }
        if length.is_none() {
            let problem = "a phase without a length goes on for ever, and nothing can follow";
            return Err(refuse(text, then, problem, "write uniform@10000 then ..."));
        }
    }
}

/// Parses the length of a phase \[cycles\].
fn length(text: &str, parser: &mut Parser<'_>) -> Result<u64, SpecError> {
    const MOST: i64 = 1 << 53;
    let number = parser.expression(1)?;
    let cycles = number.integer().filter(|cycles| (1..=MOST).contains(cycles));
    cycles.map(|cycles| cycles as u64).ok_or_else(|| {
        let problem = format!("`{number}` is not a number of cycles");
        refuse(text, number.position, &problem, "a whole number from 1 to 2^53, such as @10000")
    })
}

/// Maximum nesting of parenthesised sums.
const DEEPEST: usize = 32;

/// Parses a sum and appends its terms to `terms`. `depth` is the number of enclosing parentheses.
fn sum(text: &str, parser: &mut Parser<'_>, depth: usize, terms: &mut Vec<Term>) -> Result<(), SpecError> {
    if depth > DEEPEST {
        return Err(refuse(text, parser.position(), "nested too deeply", format!("nest at most {DEEPEST} deep")));
    }
    loop {
        if parser.take('(') {
            sum(text, parser, depth + 1, terms)?;
            if !parser.take(')') {
                let found = parser.peek();
                return Err(parser.expected(found, "`+` or `)`"));
            }
        } else {
            let expression = parser.expression(0)?;
            terms.push(term(text, expression)?);
        }
        if !parser.take('+') {
            return Ok(());
        }
    }
}

/// Converts an expression to a term.
fn term(text: &str, mut expression: Expr) -> Result<Term, SpecError> {
    if expression.name == SOURCE.name {
        return source(text, &expression);
    }
    let share =
        expression.name.parse().ok().filter(|_| expression.name.starts_with(|c: char| c.is_ascii_digit() || c == '.'));
    let Some(share) = share else {
        return Ok(Term { pattern: expression, share: 1.0, load: None, temporal: None, size: None, class: None });
    };
    check_share(text, &expression, share)?;
    match expression.arguments.pop() {
        Some(pattern) if expression.arguments.is_empty() && pattern.key.is_none() => {
            let term = term(text, pattern.value)?;
            // Shares multiply: 2:source(uniform, share=3).
            Ok(Term { share: share * term.share, ..term })
        }
        _ => Err(refuse(text, expression.position, "a share without its pattern", "write 0.9:uniform + 0.1:transpose")),
    }
}

/// Rejects a share that is not positive and finite; `at` is the expression that contains it.
fn check_share(text: &str, at: &Expr, share: f64) -> Result<(), SpecError> {
    if share > 0.0 && share.is_finite() {
        return Ok(());
    }
    Err(refuse(text, at.position, &format!("a share of {share}"), "a share of more than 0"))
}

/// Converts an expression `source(...)` to a term.
fn source(text: &str, expression: &Expr) -> Result<Term, SpecError> {
    const LARGEST: f64 = (1u32 << 24) as f64;
    let call = Call::bind(text, expression, &SOURCE)?;
    let Some(pattern) = call.given("pattern") else {
        return Err(call.refuse_all("`source` needs a pattern", "write source(uniform, load=0.1)"));
    };
    let load = match call.given("load") {
        Some(_) => Some(call.number("load", 0.0..=LARGEST)?),
        None => None,
    };
    let share = call.number("share", f64::MIN_POSITIVE..=f64::MAX)?;
    if let (Some(given), Some(_)) = (call.given("share"), load) {
        return Err(call.refuse(given, "a source with a load of its own has no share", "give either load or share"));
    }
    let class = match call.given("class") {
        Some(given) => Some((call.integer("class", 0..=255)? as u8, given.position)),
        None => None,
    };
    let owned = |parameter| call.given(parameter).cloned();
    Ok(Term { pattern: pattern.clone(), share, load, temporal: owned("temporal"), size: owned("size"), class })
}
