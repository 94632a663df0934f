//! The module `fsin._fsin` of the Python package `fsin`: runs, sweeps, searches, descriptions, and the two commands.
//!
//! Texts and numbers cross the boundary; the types that users see are written in Python (`python/fsin`). Simulations run
//! on threads of their own while the calling thread waits without the lock of the interpreter, and looks for signals.
//!
//! Decision: docs/decisions/0242-python.md.

mod calls;
mod catalogue;
mod convert;
mod fault;
mod generator;
mod notation;
mod pattern;
mod run;
mod saturation;
mod settings;
mod sweep;
mod topology;

use std::ffi::OsString;
use std::sync::Once;

use fsin::Registry;
use pyo3::prelude::*;

/// Installs the components of this process, once: those of fsin, and the pattern that Python defines.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let mut registry = Registry::standard();
        registry.patterns.push(&pattern::PYTHON);
        // It is the only registry of this process, and its one further name is new; a test imports the module.
        let _ = registry.install();
    });
}

/// Executes the command `fsin` with these words, its name and arguments, and returns its exit status; the words
/// `program` start the command again. Once in a process.
#[pyfunction]
fn fsin_main(py: Python<'_>, program: Vec<OsString>, words: Vec<OsString>) -> u8 {
    py.detach(|| fsin::main_called(Registry::standard(), program, words))
}

/// Executes the command `trace-prep` with these words, its name and arguments, and returns its exit status.
#[pyfunction]
fn trace_prep_main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| trace_prep::main_called(words))
}

/// What `import fsin._fsin` finds.
#[pymodule]
fn _fsin(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("__optimised__", !cfg!(debug_assertions))?;
    module.add_class::<pattern::Pattern>()?;
    module.add_class::<sweep::Swept>()?;
    module.add_function(wrap_pyfunction!(fsin_main, module)?)?;
    module.add_function(wrap_pyfunction!(trace_prep_main, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(saturation::saturation, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::figures, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::keys, module)?)?;
    module.add_function(wrap_pyfunction!(convert::converted, module)?)?;
    module.add_function(wrap_pyfunction!(topology::topology, module)?)?;
    module.add_function(wrap_pyfunction!(topology::node_link, module)?)
}
