//! Declarations of settings.

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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
        Self { name, metavar, kind, default, unit, about, heading: Heading::Network }
    }
}
