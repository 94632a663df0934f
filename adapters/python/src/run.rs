//! One run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use fsin::couple::Failure;
use fsin::experiment::{Experiment, Options, Performed, remedy_of};
use fsin::report::write_timeline;
use fsin::result::RunResult;
use pyo3::prelude::*;

use crate::calls::{Ended, interruptible};
use crate::fault::Fault;
use crate::generator::Generator;
use crate::install;
use crate::notation::Keywords;
use crate::settings::{Arguments, experiment};

/// Runs an experiment to its end, or until `stop` becomes true.
///
/// # Errors
/// An experiment that cannot begin. A run that fails has a result, which says so.
pub(crate) fn perform(experiment: &Experiment, stop: &AtomicBool, timeline: bool) -> Result<Performed, Fault> {
    Ok(experiment.run_with(Options::default().stop(stop).timeline(timeline).notation(&Keywords))?)
}

/// As [`perform`], for one of many runs; `None` if it was stopped before its end.
///
/// # Errors
/// As [`perform`].
pub(crate) fn perform_one(experiment: &Experiment, stop: &AtomicBool) -> Result<Option<RunResult>, Fault> {
    let result = perform(experiment, stop, false)?.result;
    Ok((result.complete || !stop.load(Ordering::Relaxed)).then_some(result))
}

/// A result as the text of an object of JSON.
pub(crate) fn json(result: &impl serde::Serialize) -> String {
    // No type of a result has non-string keys or a failing implementation.
    serde_json::to_string(result).unwrap_or_default()
}

/// Result as JSON, the experiment as a file, the timeline as JSON, if asked for, and why the run failed, if it did.
type Run = (String, String, Option<String>, Option<(String, Option<&'static str>, String)>);

/// Runs one experiment.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    file: Option<PathBuf>,
    mut arguments: Arguments,
    generator: Option<Bound<'_, PyAny>>,
    timeline: bool,
) -> PyResult<Run> {
    install();
    let generator = generator.map(|object| Generator::new(object, &mut arguments)).transpose()?;
    let is_own = generator.is_some();
    let Ended { value, raised } = interruptible(py, None, move |call| {
        let experiment = match generator {
            Some(generator) => generator.drive(experiment(file, arguments)?)?,
            None => experiment(file, arguments)?,
        };
        if timeline && !experiment.runs.by_hosts() && !experiment.workload.has_timeline() {
            let what = "timeline=True has no meaning without ranks that run a program";
            return Err(Fault::new(what, "leave it out, or give a trace or a kernel").of("timeline"));
        }
        let Performed { result, failure, timeline: kept, .. } = perform(&experiment, call.stop(), timeline)?;
        let drawn = timeline.then(|| {
            let effective = experiment.effective();
            let word =
                |key: &str| effective.iter().find(|(known, _)| known.name == key).map(|(_, value)| value.clone());
            let mut text = Vec::new();
            // Memory takes everything.
            let _ = write_timeline(&experiment.workload.title(&|key| word(key).unwrap_or_default()), &kept, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let failed = failure.map(|failure| match &failure {
            Failure::Source(_) if is_own => {
                (failure.to_string(), Some("generator"), "correct what generate returns for these cycles".to_owned())
            }
            _ => (failure.to_string(), None, remedy_of(&failure).written(&Keywords)),
        });
        Ok((json(&result), experiment.to_toml(), drawn, failed))
    })?;
    // An exception of a generator ends the run as a fault of its source; what was raised says more.
    match raised.filter(|_| is_own) {
        Some(error) => Err(error),
        None => Ok(value),
    }
}
