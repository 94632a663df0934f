//! A kernel as it was written, and what it is on a network.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::exchange::Exchange;
use super::uneven::ALL_TO_ALL_MATRIX;
use super::{
    Collective, KERNELS, KernelContext, MOST_ITERATIONS, MOST_MESSAGES, Row, Steps, bytes_of, checked, in_groups,
    matmul, plan, random,
};
use crate::catalog::{Described, SpecError};
use crate::synthetic::Spec;
use crate::synthetic::expr::{self, Call};
use crate::trace::kind::CollectiveKind;
use crate::trace::program::{Program, Rounds};
use crate::trace::timeline::{CollectiveRecord, Part};

/// A kernel as it was written: `all-to-all:tasks=64,bytes=4096`. What its parameters mean depends on the network.
#[derive(Clone, Debug)]
pub struct KernelSpec {
    spec: Spec,
    row: &'static Row,
}

impl FromStr for KernelSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let spec: Spec = text.parse()?;
        let row = expr::find(KERNELS.family(), KERNELS.rows(), text, spec.expr())?;
        Ok(Self { spec, row })
    }
}

impl fmt::Display for KernelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

/// Rows have names of their own.
impl PartialEq for KernelSpec {
    fn eq(&self, other: &Self) -> bool {
        self.spec == other.spec
    }
}

impl Eq for KernelSpec {}

impl KernelSpec {
    /// Its name with its arguments.
    fn call(&self) -> Result<Call<'_>, SpecError> {
        Call::bind(self.spec.text(), self.spec.expr(), self.row.component())
    }

    /// The paths of the files that it names.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.named().into_iter().map(|(_, name)| name.into()).collect()
    }

    /// Puts other paths in the place of the files that it names.
    pub fn replace_files(&mut self, path: impl Fn(&Path) -> PathBuf) {
        self.spec.replace(self.named(), path);
    }

    /// The files that it names: the byte position of each name, quoted or not, and the name.
    fn named(&self) -> Vec<(usize, String)> {
        let mut found = self.spec.named();
        if self.row.component().name == ALL_TO_ALL_MATRIX.component.name
            && let Ok(call) = self.call()
            && let Some(file) = call.given("file")
            && let Some(name) = file.word()
        {
            found.push((file.position, name.to_owned()));
        }
        found
    }

    /// The collectives that it is, as far as they are known before the run: one, or one for each group of tasks; none
    /// of other kernels. Their ranks have begun at 0 and not ended.
    ///
    /// # Errors
    /// As [`parse`](super::parse).
    pub fn collectives(&self, context: &KernelContext) -> Result<Vec<CollectiveRecord>, SpecError> {
        let call = self.call()?;
        let read_bytes = || bytes_of(&call);
        let read_calls = || Ok::<_, SpecError>(call.integer("iterations", 0..=MOST_ITERATIONS)? as u64);
        let record = |kind, algorithm, group, ranks: Vec<u32>, calls, bytes| {
            let size = ranks.len() as u32;
            let parts = ranks.into_iter().map(|rank| Part { rank, begin: 0, end: None }).collect();
            CollectiveRecord { kind, algorithm, group, number: 0, size, calls, bytes, parts }
        };
        let (entry, shape) = match self.row {
            Row::Program(_) => return Ok(Vec::new()),
            Row::Exchanges(entry) => {
                // The mean size of blocks depends on no draw.
                let exchanges = (entry.build)(&call, context)?;
                let Some((calls, bytes)) = exchanges.measured() else { return Ok(Vec::new()) };
                let all = (0..exchanges.tasks()).collect();
                return Ok(vec![record(CollectiveKind::AllToAll, "unequal blocks", None, all, calls, bytes)]);
            }
            Row::Steps(entry) => in_groups(entry, &call, context)?,
            Row::Choice(entry) => entry.build.steps(&call, context)?,
        };
        let Some(Collective { kind, algorithm, of_blocks }) = entry.build.collective else { return Ok(Vec::new()) };
        let (tasks, bytes, calls) = (shape.tasks, read_bytes()?, read_calls()?);
        let bytes = if of_blocks { bytes.saturating_mul(tasks.into()) } else { bytes };
        match plan(entry, &call, tasks, context)? {
            None => Ok(vec![record(kind, algorithm, None, (0..tasks).collect(), calls, bytes)]),
            Some(plan) => {
                let groups = plan.groups(tasks);
                Ok(groups.map(|(name, ranks)| record(kind, plan.word, name, ranks, calls, bytes)).collect())
            }
        }
    }

    /// True if it is a collective that takes the algorithm that a choice names, and names none itself.
    ///
    /// # Errors
    /// A parameter that is unknown or given twice.
    pub fn takes(&self, choice: &crate::trace::collectives::Choice) -> Result<bool, SpecError> {
        let call = self.call()?;
        let collective = match self.row {
            Row::Steps(entry) => entry.build.collective,
            Row::Choice(entry) => entry.build.named.build.collective,
            Row::Program(_) | Row::Exchanges(_) => None,
        };
        let is_open = call.declares("algorithm") && call.given("algorithm").is_none();
        Ok(is_open && collective.is_some_and(|collective| choice.row(collective.kind.name()).is_some()))
    }

    /// Its program.
    ///
    /// # Errors
    /// As [`parse_in`](super::parse_in).
    pub fn program(&self, context: &KernelContext) -> Result<Program, SpecError> {
        self.rounds_of(context, true).map(Rounds::unrolled)
    }

    /// Its program, in rounds if its iterations are alike: their number then takes no memory, and
    /// [`MOST_MESSAGES`] limits the messages of one.
    ///
    /// # Errors
    /// As [`parse_in`](super::parse_in).
    pub fn rounds(&self, context: &KernelContext) -> Result<Rounds, SpecError> {
        self.rounds_of(context, false)
    }

    /// The program of a kernel in rounds; `is_unrolled` if all of them are held in memory.
    fn rounds_of(&self, context: &KernelContext, is_unrolled: bool) -> Result<Rounds, SpecError> {
        let call = self.call()?;
        let (entry, mut shape) = match self.row {
            Row::Program(entry) => return checked(&call, (entry.build)(&call, context)?).map(Rounds::once),
            Row::Exchanges(entry) => {
                return checked(&call, (entry.build)(&call, context)?.program()).map(Rounds::once);
            }
            Row::Steps(entry) => in_groups(entry, &call, context)?,
            Row::Choice(entry) => entry.build.steps(&call, context)?,
        };
        let kernel = &entry.build;
        shape.seed = context.seed;
        let name = call.name();
        if let Some(needs) = (kernel.refuses)(shape.tasks) {
            // One task is always permitted, so that the search ends.
            let nearest = (1..=shape.tasks).rev().find(|&tasks| (kernel.refuses)(tasks).is_none()).unwrap_or(1);
            let problem = format!("`{name}` needs {needs} of tasks, not {}", shape.tasks);
            return Err(call.refuse_all(&problem, format!("for instance tasks={nearest}")));
        }
        let bytes = bytes_of(&call)?;
        shape.bytes = bytes;
        if entry.component.parameters.iter().any(|parameter| parameter.name == "messages") {
            shape.messages_per_task = call.integer("messages", 1..=1 << 20)? as u32;
        }
        if entry.component.parameters.iter().any(|parameter| parameter.name == "spread") {
            shape.spread = (call.number("spread", 0.0..=1.0)? * 1e6).round() as u64;
        }
        if entry.component.parameters.iter().any(|parameter| parameter.name == "madd") {
            shape.matrix = call.integer("n", 1..=matmul::LARGEST_MATRIX)? as u32;
            shape.madd = (call.number("madd", 0.0..=matmul::LONGEST)? * 1e3).round() as u64;
        }
        if entry.component.parameters.iter().any(|parameter| parameter.name == "interleave") {
            shape.exchange = Some(Exchange::read(&call, &shape, context)?);
        }
        shape.plan = plan(entry, &call, shape.tasks, context)?.map(|plan| plan.paced(context));
        let iterations = call.integer("iterations", 0..=MOST_ITERATIONS)? as u64;
        // Draws make every iteration different.
        let is_drawn = shape.messages_per_task > 0;

        // A kernel that computes has an event even with a single task and no message.
        let per_iteration = (kernel.messages)(&shape).max(u64::from(shape.madd > 0));
        // All-to-all among 2^20 tasks is 2^40 messages; times 10^9 iterations it fits 128 bits.
        let held = if is_unrolled || is_drawn { iterations } else { iterations.min(1) };
        let total = u128::from(per_iteration) * u128::from(held);
        if total > u128::from(MOST_MESSAGES) {
            return Err(call.refuse_all(
                &format!("`{self}` is {total} messages, {per_iteration} in each of {iterations} iterations"),
                format!("fewer tasks or iterations: at most {MOST_MESSAGES} messages"),
            ));
        }
        let mut program = Program::new(shape.tasks as usize);
        if total == 0 {
            return Ok(Rounds::once(program));
        }
        if is_drawn {
            shape.draws = Some(random::Draws::new(&shape, iterations));
        }
        let labels = (kernel.labels)(&shape);
        let written = if is_drawn { iterations } else { 1 };
        for (task, events) in program.tasks.iter_mut().enumerate() {
            let mut steps = Steps { events, bytes, first_label: 0, iteration: 0 };
            for iteration in 0..written {
                (steps.first_label, steps.iteration) = (iteration * labels, iteration);
                (kernel.task)(&shape, task as u32, &mut steps);
            }
            events.shrink_to_fit();
        }
        Ok(Rounds { first: program, count: if is_drawn { 1 } else { iterations }, labels: labels as i64 })
    }
}
