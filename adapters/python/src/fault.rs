//! Errors on their way to Python, where each is an exception `fsin.Error`.

use std::fmt::Display;

use fsin::experiment::{Origin, SettingsError, Trouble};
use pyo3::prelude::*;
use trgen::catalog::{SpecError, Subject};

use crate::notation::{Keywords, argument};

/// What is wrong, what it is about, and the remedy.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    what: String,
    /// A setting, by the name of its argument, or a component.
    subject: Option<String>,
    remedy: Option<String>,
}

impl Fault {
    /// A fault that is about no single setting.
    pub(crate) fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), subject: None, remedy: Some(remedy.into()) }
    }

    /// The same fault, about this argument.
    pub(crate) fn of(self, argument: &str) -> Self {
        Self { subject: Some(argument.to_owned()), ..self }
    }

    /// The same fault, about this argument unless it says what it is about.
    pub(crate) fn or_of(self, argument: &str) -> Self {
        Self { subject: self.subject.or_else(|| Some(argument.to_owned())), ..self }
    }

    /// The same fault, with its place in front.
    pub(crate) fn within(self, place: impl Display) -> Self {
        Self { what: format!("{place}: {}", self.what), ..self }
    }

    /// What is wrong.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }
}

impl From<&SpecError> for Fault {
    fn from(error: &SpecError) -> Self {
        let subject = match error.subject() {
            Subject::Setting(setting) => Some(argument(setting.0)),
            Subject::Component { name, .. } => Some(name.clone()),
            _ => None,
        };
        let [what, remedy] = [error.what(), error.remedy()].map(|text| text.written(&Keywords));
        Self { what, subject, remedy: (!remedy.is_empty()).then_some(remedy) }
    }
}

impl From<SettingsError> for Fault {
    fn from(error: SettingsError) -> Self {
        let fault = Self::from(&error.error);
        match &error.origin {
            Origin::File { path, text, span } => {
                let line = 1 + text.bytes().take(span.start).filter(|&byte| byte == b'\n').count();
                fault.within(format_args!("{}:{line}", path.display()))
            }
            Origin::Default | Origin::Environment | Origin::Flag => fault,
        }
    }
}

impl From<Trouble> for Fault {
    fn from(trouble: Trouble) -> Self {
        let [what, remedy] = [trouble.what(), trouble.remedy()].map(|text| text.written(&Keywords));
        match trouble {
            Trouble::Settings(error) => error.into(),
            _ => Self::new(what, remedy).of("trace"),
        }
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        let raised = Python::attach(|py| {
            let class = py.import("fsin._error")?.getattr("Error")?;
            Ok::<_, Self>(Self::from_value(class.call1((fault.what, fault.subject, fault.remedy))?))
        });
        raised.unwrap_or_else(|error| error)
    }
}
