//! The settings of switches, as their keys give them.
//!
//! Decision: docs/decisions/0451-classes-of-sources.md.

use fsin_core::family::Values;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::units;

use super::{Buffer, MARK_AT, MarkAt, Pfc, Switch};
use crate::params::Transport;

/// The word of `pause` for flow control by class.
pub(crate) const PFC: &str = "pfc";

/// What switches do.
///
/// # Errors
/// The first value that cannot be used.
pub(crate) fn read(values: &dyn Values, transport: Transport) -> Result<Switch, SpecError> {
    let set = |key: &'static str| values.is_set(key);
    let is_pfc = values.word("pause") == PFC;
    let class: u8 = values.integer_or("traffic-class", 0)?;
    if let Some(own) = ["flows", "job-mix"].into_iter().find(|own| class > 0 && set(own)) {
        let what =
            phrase![["traffic-class" => class], " is of sources without classes of their own, and not of ", [own]];
        let remedy = if own == "flows" {
            "give the class of each flow in its list"
        } else {
            "write class = 3 in the entry of a job"
        };
        return Err(SpecError::new(ErrorKind::Meaningless, what, remedy).of("traffic-class"));
    }
    Ok(Switch {
        class,
        used: values.classes(class),
        schedule: if set("classes") { Some(values.parsed("classes")?) } else { None },
        marking: if set("ecn") { Some(values.parsed("ecn")?) } else { None },
        mark_at: match set("mark") {
            true => values.choice("mark", &MARK_AT)?,
            false if set("trim") || transport.sprays() && !set("buffer") => MarkAt::Sent,
            false => MarkAt::default(),
        },
        marks_at_hosts: if set("ecn-hosts") && set("ecn") { Some(values.switch("ecn-hosts")?) } else { None },
        trim: None,
        headers_per_frame: values.integer("headers-per-frame")?,
        buffer: if set("buffer") { Some(buffer(values)?) } else { None },
        pfc: if is_pfc { Some(pfc(values)?) } else { None },
    })
}

/// The buffer that the ports of a switch share.
fn buffer(values: &dyn Values) -> Result<Buffer, SpecError> {
    let bytes = size(values, "buffer", "32MB")?;
    Ok(Buffer { bytes, alpha: share(values, "buffer-alpha")?, reserve: size(values, "reserve", "4kB")? })
}

fn pfc(values: &dyn Values) -> Result<Pfc, SpecError> {
    let is_auto = values.word("headroom") == "auto";
    let quanta = match values.word("pause-quanta") {
        "inf" => None,
        word => {
            let refuse = || refused(values, "pause-quanta", word, "takes inf or a whole number", "65535");
            Some(word.parse().map_err(|_| refuse())?)
        }
    };
    let classes = match values.value("pfc-classes").filter(|_| values.is_set("pfc-classes")) {
        None => u8::MAX,
        Some(word) => {
            let class = |word: &str| crate::rules::schedule::class_of(word);
            let classes: Option<u8> =
                word.split(';').try_fold(0, |mask, word| class(word).map(|class| mask | 1u8 << class));
            classes.ok_or_else(|| refused(values, "pfc-classes", word, "takes classes 0 to 7, joined by `;`", "3;4"))?
        }
    };
    Ok(Pfc {
        classes,
        headroom: if is_auto { None } else { Some(size(values, "headroom", "auto")?) },
        xon_offset: size(values, "xon-offset", "3072")?,
        quanta,
        response: values.span("pfc-response")?,
        watchdog: if values.is_set("pfc-watchdog") { Some(values.span("pfc-watchdog")?) } else { None },
    })
}

/// The error of a value.
fn refused(values: &dyn Values, key: &'static str, word: &str, what: &str, example: &str) -> SpecError {
    let what = phrase![[key], (" {what}, not `{word}`")];
    SpecError::new(ErrorKind::Malformed, what, values.write(key, example)).of(key).given(word)
}

/// \[bytes\] The value of a key as a size, perhaps with a unit.
fn size(values: &dyn Values, key: &'static str, example: &str) -> Result<u64, SpecError> {
    let word = values.word(key);
    units::bytes(word).ok_or_else(|| refused(values, key, word, "takes a size in bytes", example))
}

/// The value of a key as a number or a fraction.
fn share(values: &dyn Values, key: &'static str) -> Result<f64, SpecError> {
    let word = values.word(key);
    let number = match word.split_once('/') {
        None => word.parse().ok(),
        Some((above, below)) => {
            above.parse().ok().zip(below.parse().ok()).map(|(above, below): (f64, f64)| above / below)
        }
    };
    let finite = number.filter(|number: &f64| number.is_finite());
    finite.ok_or_else(|| refused(values, key, word, "takes a number or a fraction", "1/8"))
}
