//! Types of figures.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A number that is written without a fraction if it is an integer.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, Debug)]
#[serde(untagged)]
pub enum Number {
    /// An integer.
    Whole(u64),
    /// Any other number, or one that 64 bits do not hold exactly.
    Real(f64),
}

impl Number {
    /// A sum that may exceed 64 bits; it is then rounded.
    #[must_use]
    pub fn of_sum(sum: u128) -> Self {
        u64::try_from(sum).map_or(Self::Real(sum as f64), Self::Whole)
    }

    /// A ratio, an integer where possible; `parts` is positive.
    #[must_use]
    pub const fn of_ratio(whole: u64, parts: u64) -> Self {
        if whole.is_multiple_of(parts) { Self::Whole(whole / parts) } else { Self::Real(whole as f64 / parts as f64) }
    }

    /// The nearest floating-point number.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Real(number) => number,
        }
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl JsonSchema for Number {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

/// The type of a figure's value, where it is not null.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A non-negative integer.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// Words.
    Text,
    /// An array.
    List,
    /// An object.
    Object,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Text => "string",
            Self::List => "array",
            Self::Object => "object",
        })
    }
}

/// A type of figures.
pub(super) trait Datum {
    /// Its JSON type.
    const SHAPE: Shape;

    /// Its value as a number, if it is one.
    fn number(&self) -> Option<f64> {
        None
    }
}

impl Datum for u64 {
    const SHAPE: Shape = Shape::Integer;

    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Datum for f64 {
    const SHAPE: Shape = Shape::Number;

    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Datum for Number {
    const SHAPE: Shape = Shape::Number;

    fn number(&self) -> Option<f64> {
        Some(self.as_f64())
    }
}

impl<T: Datum> Datum for Option<T> {
    const SHAPE: Shape = T::SHAPE;

    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }
}

impl Datum for bool {
    const SHAPE: Shape = Shape::Boolean;
}

impl Datum for String {
    const SHAPE: Shape = Shape::Text;
}

impl<T> Datum for Vec<T> {
    const SHAPE: Shape = Shape::List;
}

impl<T> Datum for BTreeMap<String, T> {
    const SHAPE: Shape = Shape::Object;
}

impl Datum for Map<String, Value> {
    const SHAPE: Shape = Shape::Object;
}

impl Datum for super::manifest::Manifest {
    const SHAPE: Shape = Shape::Object;
}

impl Datum for super::rows::FailureReport {
    const SHAPE: Shape = Shape::Object;
}

impl Datum for super::of_energy::EnergyRow {
    const SHAPE: Shape = Shape::Object;
}

impl Datum for super::rows::CompletionBounds {
    const SHAPE: Shape = Shape::Object;
}
