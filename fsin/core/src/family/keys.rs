//! Declarations of settings.
//!
//! Decision: docs/decisions/0143-conditions-of-settings.md.

use trgen::catalog::Component;

/// The heading of a key in `--help`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Heading {
    /// Topology and network model.
    Network,
    /// Workload.
    Traffic,
    /// Length of the run, and engine.
    RunControl,
}

impl Heading {
    /// The heading as users read it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Network => "Network",
            Self::Traffic => "Traffic",
            Self::RunControl => "Run control",
        }
    }
}

/// The type of a key's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A non-negative integer.
    Integer,
    /// A number.
    Number,
    /// A word or expression.
    Word,
    /// A path of a file or folder; relative to the experiment file if it is set there.
    Path,
    /// True or false; a flag without a value.
    Switch,
}

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name in files; the flag is `--name`, the variable `FSIN_NAME`.
    pub name: &'static str,
    /// Placeholder of the value in help texts.
    pub metavar: &'static str,
    /// Type of the value.
    pub kind: Kind,
    /// Default value; `None` if the key is then absent.
    pub default: Option<&'static str>,
    /// Unit of the value, or empty.
    pub unit: &'static str,
    /// Description in one line; other settings are in braces
    /// ([`Phrase::of_template`](trgen::phrase::Phrase::of_template)).
    pub about: &'static str,
    /// The heading of the key in help texts.
    pub heading: Heading,
    /// Conditions on other settings; the key has an effect where all hold.
    pub needs: &'static [Need],
    /// The components that the value can name, where each describes itself; empty for others.
    pub components: &'static [Component],
    /// The table of components that the value can name, or begin with, where a program can add rows.
    pub table: Option<NamedTable>,
    /// True if it selects what the result of a single run keeps, and changes nothing else. Commands without such
    /// results do not have it.
    pub keeps: bool,
}

/// A table of components that the value of a key names.
#[derive(Clone, Copy, Debug)]
pub struct NamedTable {
    /// The name of the kind of components, as `fsin list` takes it: `congestion-controls`.
    pub kind: &'static str,
    /// Every row: its description, and its other names.
    pub rows: fn() -> Vec<(&'static Component, &'static [&'static str])>,
}

/// Names are unique.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Key {}

/// A condition on another setting, without which a setting has no effect.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The other setting.
    pub key: &'static str,
    /// What it must be.
    pub is: Is,
}

/// What a setting must be, for another one to have an effect.
#[derive(Clone, Copy, Debug)]
pub enum Is {
    /// It must be set.
    Set,
    /// It must have this value.
    Value(&'static str),
    /// It must have another value.
    NotValue(&'static str),
    /// It must name one of the components that this returns, perhaps with parameters behind a colon. A program may have
    /// added some.
    Names(fn() -> Vec<&'static str>),
}

impl Need {
    /// The other setting must be set.
    #[must_use]
    pub const fn set(key: &'static str) -> Self {
        Self { key, is: Is::Set }
    }

    /// The other setting must have this value.
    #[must_use]
    pub const fn value(key: &'static str, value: &'static str) -> Self {
        Self { key, is: Is::Value(value) }
    }

    /// The other setting must have another value.
    #[must_use]
    pub const fn not(key: &'static str, value: &'static str) -> Self {
        Self { key, is: Is::NotValue(value) }
    }

    /// The other setting must name one of the components that `names` returns, perhaps with parameters behind a colon.
    #[must_use]
    pub const fn names(key: &'static str, names: fn() -> Vec<&'static str>) -> Self {
        Self { key, is: Is::Names(names) }
    }

    /// True if the condition holds for this value of the other setting; `None`: it is absent.
    #[must_use]
    pub fn holds(&self, value: Option<&str>) -> bool {
        match self.is {
            Is::Set => value.is_some(),
            Is::Value(needed) => value == Some(needed),
            Is::NotValue(other) => value != Some(other),
            Is::Names(names) => {
                value.is_some_and(|value| names().contains(&value.split([':', '(']).next().unwrap_or(value)))
            }
        }
    }
}

impl Key {
    /// A setting of a network model.
    #[must_use]
    pub const fn of_network(
        name: &'static str,
        metavar: &'static str,
        kind: Kind,
        default: Option<&'static str>,
        unit: &'static str,
        about: &'static str,
    ) -> Self {
        Self {
            name,
            metavar,
            kind,
            default,
            unit,
            about,
            heading: Heading::Network,
            needs: &[],
            components: &[],
            table: None,
            keeps: false,
        }
    }

    /// The same key, which has an effect where these conditions hold.
    #[must_use]
    pub const fn needing(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }

    /// The same key, which selects what the result of a single run keeps.
    #[must_use]
    pub const fn keeping(self) -> Self {
        Self { keeps: true, ..self }
    }

    /// The same key, whose value names a row of a table, perhaps with parameters behind a colon.
    #[must_use]
    pub const fn naming_rows(
        self,
        kind: &'static str,
        rows: fn() -> Vec<(&'static Component, &'static [&'static str])>,
    ) -> Self {
        Self { table: Some(NamedTable { kind, rows }), ..self }
    }

    /// Every component that the value can name, with its other names.
    #[must_use]
    pub fn named(&self) -> Vec<(&'static Component, &'static [&'static str])> {
        let own = self.components.iter().map(|component| (component, &[][..]));
        own.chain(self.table.into_iter().flat_map(|table| (table.rows)())).collect()
    }

    /// The same key, whose value can name these components.
    #[must_use]
    pub const fn naming(self, components: &'static [Component]) -> Self {
        Self { components, ..self }
    }
}
