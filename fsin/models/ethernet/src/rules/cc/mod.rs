//! The congestion controls of this crate: state machines of a connection, a file each, and how their parameters are
//! read.

use fsin_core::topology::switched::parse_rate;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::synthetic::expr::{Call, Expr};

use crate::params::{MAX_TIME, RATES};

pub(crate) mod dcqcn;
pub(crate) mod dctcp;
pub(crate) mod hpcc;
pub(crate) mod newreno;
pub(crate) mod none;
pub(crate) mod uec;

/// The value of a parameter, read by `read`; `None` if it is not given.
pub(crate) fn given<T>(
    call: &Call<'_>,
    parameter: &str,
    kind: &str,
    read: impl Fn(&Expr) -> Option<T>,
) -> Result<Option<T>, SpecError> {
    let Some(argument) = call.given(parameter) else { return Ok(None) };
    let declared = call.component().parameters.iter().find(|one| one.name == parameter);
    let range = declared.map_or("", |one| one.range);
    read(argument).map(Some).ok_or_else(|| {
        let error = call.refuse(argument, &format!("{parameter} = {argument} is not {kind}"), format!("use {range}"));
        error.of_kind(ErrorKind::OutOfRange).given(argument)
    })
}

/// \[ps\] A time: 0 or more.
fn span(call: &Call<'_>, parameter: &str) -> Result<Option<u64>, SpecError> {
    let read = |expr: &Expr| match expr.word()? {
        "0" => Some(0),
        word => trgen::units::parse_span(word).filter(|&span| span <= MAX_TIME),
    };
    given(call, parameter, "a time such as 55us", read)
}

/// \[b/s\] A data rate.
fn rate(call: &Call<'_>, parameter: &str) -> Result<Option<u64>, SpecError> {
    given(call, parameter, "a data rate such as 40Mb/s", |expr| {
        parse_rate(expr.word()?).filter(|&rate| rate <= *RATES.end())
    })
}

/// A share above 0 and up to 1: a number, or a fraction such as 1/256.
fn share(call: &Call<'_>, parameter: &str) -> Result<Option<f64>, SpecError> {
    given(call, parameter, "a share such as 1/16", |expr| {
        let value = match expr.word()?.split_once('/') {
            Some((above, below)) => above.parse::<f64>().ok()? / below.parse::<f64>().ok()?,
            None => expr.number()?,
        };
        (value > 0.0 && value <= 1.0).then_some(value)
    })
}

/// A whole number from `least` on.
pub(crate) fn count(call: &Call<'_>, parameter: &str, least: u64) -> Result<Option<u64>, SpecError> {
    let read = |expr: &Expr| u64::try_from(expr.integer()?).ok().filter(|number| (least..1 << 32).contains(number));
    given(call, parameter, "a whole number in its range", read)
}

/// True or false.
pub(crate) fn switch(call: &Call<'_>, parameter: &str) -> Result<Option<bool>, SpecError> {
    given(call, parameter, "true or false", |expr| match expr.word()? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    })
}
