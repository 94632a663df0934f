//! Tables of components, which a program can extend once, at its start.

use std::sync::OnceLock;

use super::{Component, ErrorKind, SpecError};

/// A row of a table: a component with what builds it.
pub trait Described: Sync + 'static {
    /// Name, definition, parameters, source.
    fn component(&self) -> &Component;

    /// Other names.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// True if rows may have an alias in common, and standard rows a name, so that what surrounds it decides which is
    /// meant.
    const SHARES_ALIASES: bool = false;
}

/// The table of a family of components: the standard rows, or those that were installed in their place.
///
/// Every lookup reads [`rows`](Self::rows). Rows are installed at most once, before the first lookup, so that a program
/// sees the same components throughout.
#[derive(Debug)]
pub struct Table<R: 'static> {
    /// What a row is, as errors name it: `topology`.
    family: &'static str,
    standard: &'static [&'static R],
    installed: OnceLock<Vec<&'static R>>,
}

impl<R: Described> Table<R> {
    /// A table of these rows. `family` is what a row is, as errors name it.
    #[must_use]
    pub const fn new(family: &'static str, standard: &'static [&'static R]) -> Self {
        Self { family, standard, installed: OnceLock::new() }
    }

    /// What a row is, as errors name it.
    #[must_use]
    pub const fn family(&self) -> &'static str {
        self.family
    }

    /// The rows that are part of this library.
    #[must_use]
    pub const fn standard(&self) -> &'static [&'static R] {
        self.standard
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[&'static R] {
        self.installed.get().map_or(self.standard, Vec::as_slice)
    }

    /// The row of this name or alias.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'static R> {
        self.rows().iter().copied().find(|row| row.component().name == name || row.aliases().contains(&name))
    }

    /// The descriptions of all rows.
    pub fn components(&self) -> impl Iterator<Item = &'static Component> {
        self.rows().iter().map(|row| row.component())
    }

    /// The names of all rows.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.components().map(|component| component.name).collect()
    }

    /// The error of a name that no row has.
    #[must_use]
    pub fn unknown(&self, name: &str) -> SpecError {
        SpecError::unknown(self.family, name, &self.names())
    }

    /// Checks that every name means one row.
    ///
    /// # Errors
    /// No row at all, an empty name, a name or alias that stands twice.
    pub fn check(&self, rows: &[&'static R]) -> Result<(), SpecError> {
        let family = self.family;
        if rows.is_empty() {
            let what = format!("the registry has no {family}");
            return Err(SpecError::new(ErrorKind::Malformed, what, "start from the standard registry, and add to it"));
        }
        for (at, row) in rows.iter().enumerate() {
            let name = row.component().name;
            if name.is_empty() {
                let what = format!("a {family} of the registry has no name");
                return Err(SpecError::new(ErrorKind::Malformed, what, "give it a name"));
            }
            let is_standard = |row: &R| self.standard.iter().any(|standard| std::ptr::eq(*standard, row));
            for other in &rows[..at] {
                if R::SHARES_ALIASES && is_standard(row) && is_standard(other) {
                    continue;
                }
                let (known, theirs, own) = (other.component().name, other.aliases(), row.aliases());
                let shared = own.iter().find(|alias| theirs.contains(alias)).filter(|_| !R::SHARES_ALIASES);
                let again = (known == name || theirs.contains(&name)).then_some(&name);
                let again = again.or_else(|| own.contains(&known).then_some(&known)).or(shared);
                if let Some(again) = again {
                    let what = format!("two rows of the registry are the {family} `{again}`: {known} and {name}");
                    return Err(SpecError::new(ErrorKind::Conflict, what, "give the added one another name"));
                }
            }
        }
        Ok(())
    }

    /// Rows in place of the standard ones unless some have been installed, for a crate that has most rows of a table of
    /// another one. Call before the first lookup; again, it does nothing.
    pub fn provide(&self, rows: impl FnOnce() -> Vec<&'static R>) {
        self.installed.get_or_init(rows);
    }

    /// Replaces the standard rows, once and for all lookups that follow.
    ///
    /// # Errors
    /// As [`check`](Self::check); rows have been installed before.
    pub fn install(&self, rows: Vec<&'static R>) -> Result<(), SpecError> {
        self.check(&rows)?;
        self.installed.set(rows).map_err(|_| {
            let what = format!("a table of {} rows is installed already", self.family);
            SpecError::new(ErrorKind::Conflict, what, "install one registry, at the start of the program")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Named(Component, &'static [&'static str]);

    /// Of a family whose rows share names.
    struct Shared(Component);

    impl Described for Shared {
        fn component(&self) -> &Component {
            &self.0
        }

        const SHARES_ALIASES: bool = true;
    }

    impl Described for Named {
        fn component(&self) -> &Component {
            &self.0
        }

        fn aliases(&self) -> &'static [&'static str] {
            self.1
        }
    }

    const fn named(name: &'static str, aliases: &'static [&'static str]) -> Named {
        Named(Component { name, about: "", parameters: &[], source: "" }, aliases)
    }

    static ONE: Named = named("one", &["first", "1"]);
    static TWO: Named = named("two", &[]);

    #[test]
    fn standard_rows_may_share_names_that_no_added_row_has() {
        static ROWS: [Shared; 3] = {
            const fn shared(name: &'static str) -> Shared {
                Shared(Component { name, about: "", parameters: &[], source: "" })
            }
            [shared("one"), shared("one"), shared("one")]
        };
        static TABLE: Table<Shared> = Table::new("number", &[&ROWS[0], &ROWS[1]]);
        assert!(TABLE.check(TABLE.standard()).is_ok());
        assert!(TABLE.check(&[&ROWS[0], &ROWS[1], &ROWS[2]]).is_err());
    }

    #[test]
    fn rows_are_installed_once_and_every_name_means_one_of_them() {
        static TABLE: Table<Named> = Table::new("number", &[&ONE]);
        static AGAIN: [(&str, Named); 3] =
            [("one", named("one", &[])), ("first", named("first", &[])), ("1", named("uno", &["1"]))];
        for (name, row) in &AGAIN {
            for rows in [[&ONE, row], [row, &ONE]] {
                let refusal = TABLE.check(&rows).unwrap_err();
                assert_eq!(refusal.kind(), ErrorKind::Conflict);
                assert!(refusal.to_string().contains(&format!("the number `{name}`")), "{refusal}");
            }
        }
        assert!(TABLE.check(&[]).is_err() && TABLE.install(Vec::new()).is_err());
        assert_eq!(TABLE.names(), ["one"]);
        TABLE.install(vec![&ONE, &TWO]).unwrap();
        assert_eq!((TABLE.names(), TABLE.standard().len()), (vec!["one", "two"], 1));
        assert_eq!(TABLE.find("1").map(|row| row.0.name), Some("one"));
        assert_eq!(TABLE.install(vec![&ONE]).unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(TABLE.unknown("tow").remedy().to_string(), "did you mean `two`?");
        TABLE.provide(|| vec![&ONE]);
        assert_eq!(TABLE.names(), ["one", "two"]);
    }

    #[test]
    fn rows_of_another_crate_are_provided_where_none_are_installed() {
        static TABLE: Table<Named> = Table::new("number", &[&ONE]);
        TABLE.provide(|| vec![&TWO, &ONE]);
        assert_eq!(TABLE.names(), ["two", "one"]);
        assert_eq!(TABLE.install(vec![&ONE]).unwrap_err().kind(), ErrorKind::Conflict);
    }
}
