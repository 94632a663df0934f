//! A source of traffic that is written in Python, and asked for its messages in batches.
//!
//! Python is called once for a window of cycles and not for each message. So it cannot react to what the network does
//! within a window: messages are generated whatever happens to the others, as those of a list of flows.

use std::fmt;
use std::sync::Arc;

use fsin::experiment::{Driven, Driver, Experiment, RunPlan, Trouble, Workload};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use trgen::{Cycle, Delivery, Geometry, Message, Next, NodeId, Outbox, SourceError, TrGen};

use crate::calls::call_python;
use crate::fault::Fault;
use crate::settings::Arguments;

/// Arguments of steady runs, with which the run ends before the generator does.
const STEADY: &[&str] = &[
    "cycles",
    "warmup",
    "conv_period",
    "conv_threshold",
    "max_conv_time",
    "samples",
    "sample_size",
    "min_batch_packets",
];

/// Arguments that say what is sent, as the generator does.
const OTHERS: &[&str] =
    &["traffic", "temporal", "size", "load", "injection_rate", "shot", "trace", "kernel", "job_mix", "flows"];

/// An object with a method `generate(begin, until)`.
#[derive(Clone)]
pub(crate) struct Generator {
    object: Arc<Py<PyAny>>,
    /// Its class, for titles.
    name: String,
    /// \[cycles\] Length of a window.
    window: u64,
    /// True if the run ends with the generator.
    ends: bool,
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").field("name", &self.name).field("window", &self.window).finish_non_exhaustive()
    }
}

impl Generator {
    /// A generator as the workload of a run with these arguments, which are completed.
    ///
    /// # Errors
    /// Arguments that say what is sent; an object that is no generator.
    pub(crate) fn new(object: Bound<'_, PyAny>, arguments: &mut Arguments) -> PyResult<Self> {
        if let Some((name, _)) = arguments.iter().find(|(name, _)| OTHERS.contains(&name.as_str())) {
            let what = format!("{name} has no meaning with generator, which says what is sent and when");
            return Err(Fault::new(what, "leave it out").of(name).into());
        }
        let ends = !arguments.iter().any(|(name, _)| STEADY.contains(&name.as_str()));
        if ends {
            // A finite workload, whose file is never opened.
            arguments.push(("flows".to_owned(), vec![String::new()]));
        }
        let name = object.get_type().name()?.to_string();
        let refuse = |what: String, remedy: &str| Fault::new(what, remedy).of("generator");
        if object.is_instance_of::<PyType>()
            || !object.getattr_opt("generate")?.is_some_and(|method| method.is_callable())
        {
            let what = match object.cast::<PyType>() {
                Ok(class) => format!("generator takes an object, not the class {}", class.name()?),
                Err(_) => format!("generator: an object of type {name} has no method generate"),
            };
            return Err(refuse(what, "give an object with a method generate(begin, until)").into());
        }
        let window = match object.getattr_opt("window")? {
            None => 1024,
            Some(window) => window.extract().ok().filter(|&window| window > 0).ok_or_else(|| {
                let what = format!("generator: its window is {window}, and not a number of cycles");
                refuse(what, "let window be a whole number of 1 or more, or leave it out")
            })?,
        };
        Ok(Self { object: Arc::new(object.unbind()), name, window, ends })
    }

    /// The experiment with this generator as its workload.
    ///
    /// # Errors
    /// An experiment without a network of links.
    pub(crate) fn drive(self, mut experiment: Experiment) -> Result<Experiment, Fault> {
        if experiment.runs.by_hosts() {
            let what = format!("network={:?} takes a trace, and no generator", experiment.model.component.name);
            return Err(Fault::new(what, "use another network model").of("network"));
        }
        debug_assert!(!self.ends || matches!(experiment.plan, RunPlan::ToEnd(_)));
        experiment.workload = Arc::new(self);
        Ok(experiment)
    }
}

impl Workload for Generator {
    fn title(&self, _: &dyn Fn(&str) -> String) -> String {
        format!("generator {}", self.name)
    }

    fn understands(&self, key: &str) -> bool {
        ["bandwidth", "phit-bytes"].contains(&key)
    }

    fn has_tasks(&self) -> bool {
        false
    }

    fn build(&self, _: &Experiment, geometry: &Geometry) -> Result<Driver, Trouble> {
        Ok(Driver::without_remarks(Box::new(Source {
            generator: self.clone(),
            nodes: geometry.nodes(),
            waiting: Vec::new(),
            asked: 0,
            ended: false,
            count: 0,
        })))
    }
}

/// A column of 64-bit integers.
fn numbers(bytes: &[u8]) -> Vec<i64> {
    bytes.as_chunks::<8>().0.iter().map(|&word| i64::from_ne_bytes(word)).collect()
}

/// The source of one run.
#[derive(Debug)]
struct Source {
    generator: Generator,
    nodes: usize,
    /// Messages to come with their cycles, the last one first.
    waiting: Vec<(Cycle, Message)>,
    /// \[cycles\] The end of the windows so far.
    asked: u64,
    /// True if there are no further windows.
    ended: bool,
    /// Number of messages so far.
    count: u64,
}

impl Source {
    /// Asks for the messages of the next window.
    fn ask(&mut self) -> Result<(), SourceError> {
        let (begin, until) = (self.asked, self.asked.saturating_add(self.generator.window));
        let object = Arc::clone(&self.generator.object);
        let batch = move |py: Python<'_>| -> PyResult<Option<[Vec<i64>; 4]>> {
            let batch = py.import("fsin._generator")?.getattr("batch")?;
            let columns: Option<[Bound<'_, PyBytes>; 4]> = batch.call1((object.bind(py), begin, until))?.extract()?;
            Ok(columns.map(|columns| columns.map(|column| numbers(column.as_bytes()))))
        };
        let columns = call_python(move |py| {
            batch(py).map_err(|error| (format!("the generator failed in cycles {begin} to {until}: {error}"), error))
        });
        let columns = columns.map_err(SourceError::of_run)?;
        self.asked = until;
        let Some(columns) = columns else {
            self.ended = true;
            return Ok(());
        };
        let [cycles, sources, destinations, bytes] = columns;
        for (at, &cycle) in cycles.iter().enumerate() {
            let (source, destination, bytes) = (sources[at], destinations[at], bytes[at]);
            let is_node = |node: i64| (0..self.nodes as i64).contains(&node);
            let fault = match () {
                () if !(begin as i64..until as i64).contains(&cycle) => format!("cycle {cycle} is not among them"),
                () if !is_node(source) || !is_node(destination) => {
                    format!("from {source} to {destination}, and there are nodes 0 to {}", self.nodes - 1)
                }
                () if source == destination => format!("node {source} sends to itself, which takes no network"),
                () if bytes < 1 => format!("{bytes} bytes are no message"),
                () => {
                    let [source, destination] = [source, destination].map(|node| NodeId::at(node as usize));
                    let message = Message { id: self.count, source, destination, bytes: bytes as u64, class: 0 };
                    self.waiting.push((Cycle::FIRST + cycle as u64, message));
                    self.count += 1;
                    continue;
                }
            };
            let what = format!("the generator gave for cycles {begin} to {until} a message that cannot be: {fault}");
            return Err(SourceError::of_input(what));
        }
        // Messages of a cycle stay in their order.
        self.waiting.reverse();
        self.waiting.sort_by_key(|&(cycle, _)| std::cmp::Reverse(cycle));
        Ok(())
    }
}

impl Driven for Source {
    fn source(&mut self) -> &mut dyn TrGen {
        self
    }
}

impl TrGen for Source {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        loop {
            while let Some((_, message)) = self.waiting.pop_if(|(cycle, _)| *cycle <= now) {
                out.push(message);
            }
            if self.ended || !self.waiting.is_empty() || Cycle::FIRST + self.asked > now {
                return Ok(());
            }
            self.ask()?;
        }
    }

    fn sent(&mut self, _: Cycle, _: &Message) {}

    fn delivered(&mut self, _: Cycle, _: &Delivery) {}

    fn dropped(&mut self, _: Cycle, _: &Message) {}

    fn next(&self) -> Next {
        match self.waiting.last() {
            Some(&(cycle, _)) => Next::At(cycle),
            None if self.ended => Next::Done,
            None => Next::At(Cycle::FIRST + self.asked),
        }
    }
}
