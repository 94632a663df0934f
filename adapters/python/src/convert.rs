//! Pictures in other formats than SVG.

use fsin::report::Graphic;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::fault::Fault;

/// A picture in SVG as the bytes of a file in this format, `pdf` or `png`.
#[pyfunction]
pub(crate) fn converted<'py>(py: Python<'py>, svg: &str, format: &str) -> PyResult<Bound<'py, PyBytes>> {
    let graphic = match format {
        "pdf" => Graphic::Pdf,
        "png" => Graphic::Png,
        other => {
            return Err(Fault::new(format!("`{other}` is no format of pictures"), "use pdf or png").of("path").into());
        }
    };
    let made = py.detach(|| graphic.of(svg));
    let bytes = made.map_err(|error| PyErr::from(Fault::new(error.to_string(), "save it as .svg").of("path")))?;
    Ok(PyBytes::new(py, &bytes))
}
