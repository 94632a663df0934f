//! Descriptions: components, figures and keys.

use fsin::catalogue::{described, kinds};
use fsin::experiment::{MANY_KEYS, named};
use fsin::models::MODELS;
use fsin::result::Figure;
use pyo3::prelude::*;
use serde_json::{Value, json};
use trgen::phrase::Phrase;

use crate::fault::Fault;
use crate::install;
use crate::notation::{Keywords, argument};

/// Every component that a network model has, or that there is, as an array of JSON.
#[pyfunction]
pub(crate) fn catalogue(network: Option<&str>) -> PyResult<String> {
    install();
    let model = match network {
        None => None,
        Some(word) => Some(
            named(word)
                .ok_or_else(|| Fault::from(&MODELS.unknown(word.split(':').next().unwrap_or(word))).of("network"))?,
        ),
    };
    let is_of = |kind: &str, member: &fsin::catalogue::Member| match (model, kind) {
        (Some(model), "networks") => member.component.name == model.component.name,
        (Some(model), _) => member.is_of(model),
        (None, _) => true,
    };
    let all: Vec<Value> = kinds()
        .iter()
        .flat_map(|kind| kind.members.iter().map(move |member| (kind, member)))
        .filter(|(kind, member)| is_of(&kind.name, member))
        .map(|(kind, member)| described(kind, member, &Keywords))
        .collect();
    Ok(Value::Array(all).to_string())
}

/// Name, unit and meaning of every figure.
#[pyfunction]
pub(crate) fn figures() -> Vec<(&'static str, &'static str, &'static str)> {
    Figure::ALL.iter().map(|figure| (figure.name(), figure.unit(), figure.meaning())).collect()
}

/// Every argument of a run, and of many runs, as an array of JSON: name, meaning, unit, default.
#[pyfunction]
pub(crate) fn keys() -> String {
    install();
    let key = |key: &fsin::experiment::Key| {
        json!({
            "name": argument(key.name),
            "about": Phrase::of_template(key.about).written(&Keywords),
            "unit": key.unit,
            "default": key.default,
        })
    };
    Value::Array(fsin::experiment::keys().iter().chain(MANY_KEYS).map(key).collect()).to_string()
}
