//! A component as it was written.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::expr::{Argument, Expr};
use super::file;
use crate::catalog::SpecError;

/// A component as it was written: its text, which errors show, and the tree of that text.
///
/// Decision: docs/decisions/0670-settings-are-parsed-once.md.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    text: String,
    expr: Expr,
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Ok(Self { text: text.to_owned(), expr: Expr::parse(text)? })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Spec {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tree of the text.
    #[must_use]
    pub const fn expr(&self) -> &Expr {
        &self.expr
    }

    /// The paths of the files that it names.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.named().into_iter().map(|(_, name)| name.into()).collect()
    }

    /// Puts other paths in the place of the files that it names.
    pub fn replace_files(&mut self, path: impl Fn(&Path) -> PathBuf) {
        self.replace(self.named(), path);
    }

    /// The files that it names: the byte position of each name, quoted or not, and the name.
    pub(crate) fn named(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        file::collect(&self.expr, &mut found);
        found
    }

    /// Puts other paths in the place of these files, which are in the order of their positions.
    pub(crate) fn replace(&mut self, found: Vec<(usize, String)>, path: impl Fn(&Path) -> PathBuf) {
        for (position, name) in found.into_iter().rev() {
            let (new, before) = (path(Path::new(&name)), self.text.len());
            file::replace(&mut self.text, position, &name, &new);
            let grown = self.text.len() as isize - before as isize;
            moved(&mut self.expr, position, grown);
            rename(&mut self.expr, position, &new.display().to_string());
        }
    }
}

/// Moves the positions behind one of them by this number of bytes.
fn moved(expr: &mut Expr, behind: usize, by: isize) {
    let shift = |at: &mut usize| *at = if *at > behind { at.wrapping_add_signed(by) } else { *at };
    shift(&mut expr.position);
    for Argument { key, value, .. } in &mut expr.arguments {
        key.iter_mut().for_each(|(_, at)| shift(at));
        moved(value, behind, by);
    }
}

/// Changes the word at a position.
fn rename(expr: &mut Expr, position: usize, name: &str) {
    if expr.position == position {
        name.clone_into(&mut expr.name);
    }
    expr.arguments.iter_mut().for_each(|argument| rename(&mut argument.value, position, name));
}
