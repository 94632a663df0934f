//! Traffic patterns that Python defines: a matrix of weights, or a function of the node.
//!
//! A pattern is known by its number, as in `python(3)`, while an object of [`Pattern`] lives. A function is called once
//! for each node of a network, and not for each message: draws stay those of fsin, and a run needs no interpreter.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};
use trgen::synthetic::expr::Call;
use trgen::synthetic::spatial::{self, Entry, PatternContext, weighted};

use crate::calls::call_python;

/// What defines a pattern.
enum Definition {
    /// Weights, by source and then by destination, of a square matrix with so many lines.
    Matrix(usize, Vec<f64>),
    /// A function from a node to a node, to weights by node, or to `None`; what it has said, by the number of nodes.
    Function(Py<PyAny>, Mutex<HashMap<u32, Rows>>),
}

/// The weights of the destinations of each node.
type Rows = Vec<Vec<(u32, f64)>>;

/// The patterns that live.
static LIVE: Mutex<Option<HashMap<u64, Arc<Definition>>>> = Mutex::new(None);

/// Number of patterns so far.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Does something with the patterns that live.
fn with_live<T>(act: impl FnOnce(&mut HashMap<u64, Arc<Definition>>) -> T) -> T {
    act(LIVE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// A pattern; it can be named in settings as long as this object lives.
#[pyclass(frozen, module = "fsin._fsin")]
pub(crate) struct Pattern {
    number: u64,
}

#[pymethods]
impl Pattern {
    /// The pattern of a square matrix of weights, as doubles line by line.
    #[staticmethod]
    fn of_matrix(size: usize, doubles: &[u8]) -> PyResult<Self> {
        let (doubles, rest) = doubles.as_chunks::<8>();
        let weights: Vec<f64> = doubles.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect();
        if !rest.is_empty() || size.checked_mul(size) != Some(weights.len()) {
            return Err(crate::fault::Fault::new(
                format!("a matrix of {} weights is not square", weights.len()),
                "give as many lines as columns",
            )
            .of("traffic")
            .into());
        }
        Ok(Self::new(Definition::Matrix(size, weights)))
    }

    /// The pattern of a function.
    #[staticmethod]
    fn of_function(function: Py<PyAny>) -> Self {
        Self::new(Definition::Function(function, Mutex::default()))
    }

    /// The value of the setting `traffic`.
    fn __str__(&self) -> String {
        format!("python({})", self.number)
    }
}

impl Pattern {
    fn new(definition: Definition) -> Self {
        let number = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        with_live(|live| live.insert(number, Arc::new(definition)));
        Self { number }
    }
}

impl Drop for Pattern {
    fn drop(&mut self) {
        // Outside of the lock: dropping a function may run code of Python.
        let gone = with_live(|live| live.remove(&self.number));
        drop(gone);
    }
}

/// The row of all these patterns.
pub(crate) static PYTHON: Entry = Entry {
    component: Component {
        name: "python",
        about: "a pattern that a program in Python defines by a matrix of weights, or by a function of the node",
        parameters: &[Parameter { name: "number", about: "its number in this process", range: "1..", default: "" }],
        source: "fsin",
    },
    aliases: &[],
    build,
};

fn build(call: &Call, context: PatternContext) -> Result<Box<dyn spatial::Pattern>, SpecError> {
    let number = call.integer("number", 1..=i64::MAX)? as u64;
    let definition = with_live(|live| live.get(&number).cloned()).ok_or_else(|| {
        call.refuse_all("there is no such pattern in this process", "give traffic= a function or a matrix")
    })?;
    let nodes = context.nodes();
    // No place in a text: the user has written none.
    let refuse = |what: String, remedy: &str| SpecError::new(ErrorKind::Malformed, what, remedy);
    let rows: Rows = match &*definition {
        Definition::Matrix(size, weights) if *size == nodes as usize => {
            let row = |row: &[f64]| (0..nodes).zip(row.iter().copied()).filter(|(_, weight)| *weight != 0.0).collect();
            weights.chunks(*size).map(row).collect()
        }
        Definition::Matrix(size, _) => {
            let what = format!("the matrix has {size} lines, and the network {nodes} nodes");
            return Err(refuse(what, "give a line and a column for each node"));
        }
        Definition::Function(..) => rows_of(&definition, nodes)
            .map_err(|what| refuse(what, "return a node, weights by node such as {3: 0.5, 4: 0.5}, or None"))?,
    };
    weighted(rows).map_err(|what| refuse(what, "name nodes of the network, with weights that are numbers of 0 or more"))
}

/// Where each of so many nodes sends, as the function says that defines the pattern.
fn rows_of(definition: &Arc<Definition>, nodes: u32) -> Result<Rows, String> {
    let Definition::Function(_, known) = &**definition else { return Ok(Rows::new()) };
    if let Some(rows) = known.lock().unwrap_or_else(PoisonError::into_inner).get(&nodes) {
        return Ok(rows.clone());
    }
    let shared = Arc::clone(definition);
    let rows = call_python(move |py| {
        let Definition::Function(function, _) = &*shared else { return Ok(Rows::new()) };
        let row = |node| row_of(function.bind(py), node).map_err(|error| (format!("node {node}: {error}"), error));
        (0..nodes).map(row).collect()
    })?;
    // The first answers hold, so that all points of a sweep have the same pattern.
    Ok(known.lock().unwrap_or_else(PoisonError::into_inner).entry(nodes).or_insert(rows).clone())
}

/// Where a node sends, as its function says.
fn row_of(function: &Bound<'_, PyAny>, node: u32) -> PyResult<Vec<(u32, f64)>> {
    let answer = function.call1((node,))?;
    if answer.is_none() {
        return Ok(Vec::new());
    }
    if let Ok(weights) = answer.cast::<PyDict>() {
        return weights.iter().map(|(to, weight)| Ok((to.extract()?, weight.extract()?))).collect();
    }
    Ok(vec![(answer.extract()?, 1.0)])
}
