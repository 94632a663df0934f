//! Several applications on one machine: jobs arrive, queue, get nodes, run, and release them.
//!
//! A job is a program. It starts in the cycle in which a [`Scheduler`] selects it and an [`Allocation`] finds its
//! nodes, and runs as in [`replay`](super::replay). Its nodes are free again in the cycle after its last task is done
//! and its last message has arrived. Jobs share nothing but links.
//!
//! # How the model departs from reality, and who could notice
//! - A node belongs to one job at a time, and starting a job takes no time.
//! - Jobs are never ended because they exceed their estimates, and never migrate.
//! - Loading a program and writing its results cause no traffic.
//!
//! Decision: docs/decisions/0068-job-mixes.md.

mod allocation;
mod arrivals;
mod scheduler;

use std::collections::VecDeque;
use std::sync::Arc;

pub use allocation::{ALLOCATIONS, Allocation};
pub use arrivals::{Gaps, arrivals};
pub use scheduler::{SCHEDULERS, Scheduler};

use allocation::Pool;
use scheduler::{Occupied, Situation, Waiting};

use super::matrix::Matrix;
use super::placement::{Distance, Known, Placement, PlacementContext};
use super::program::Program;
use super::replay::{Pace, Protocol, Replay, ReplayReport};
use crate::catalog::{ErrorKind, SpecError};
use crate::geometry::Geometry;
use crate::message::{Delivery, Message};
use crate::phrase;
use crate::source::{Activity, JobActivity, JobsActivity, Next, Outbox, SourceError, TrGen, Wait};
use crate::units::{Cycle, NodeId};

/// The family of jobs, in [`Subject::Component`](crate::catalog::Subject::Component).
pub const JOB: &str = "job";

/// An application that is to run once.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name in results.
    pub name: String,
    /// Its program.
    pub program: Arc<Program>,
    /// \[cycle\] Arrival in the queue.
    pub arrival: Cycle,
    /// \[cycles\] Estimated run time, for schedulers that use it.
    pub estimate: u64,
    /// Traffic class of its messages, below 8.
    pub class: u8,
}

/// How jobs are run.
#[derive(Clone, PartialEq, Debug)]
pub struct Terms {
    /// Policy that selects the next job.
    pub scheduler: Scheduler,
    /// Policy that selects its nodes.
    pub allocation: Allocation,
    /// Placement of a job's tasks among its nodes.
    pub placement: Placement,
    /// Tasks that share a node; at least 1.
    pub tasks_per_node: usize,
    /// Lengths of cycles and computations.
    pub pace: Pace,
    /// Protocol of sends.
    pub protocol: Protocol,
    /// Run seed.
    pub seed: u64,
}

/// Outcome of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobRecord {
    /// Its name.
    pub name: String,
    /// Number of tasks.
    pub tasks: usize,
    /// \[cycle\] Arrival in the queue.
    pub arrival: Cycle,
    /// \[cycle\] Start of its tasks; `None` while it waits.
    pub start: Option<Cycle>,
    /// \[cycle\] End of its last task; `None` before.
    pub finish: Option<Cycle>,
    /// The node of each task, once it has started.
    pub placement: Vec<NodeId>,
    /// Statistics of its tasks; times are cycles of the run.
    pub report: ReplayReport,
}

/// A job that has nodes.
#[derive(Clone, Debug)]
struct Running {
    /// Number of the job.
    job: usize,
    replay: Replay,
    /// \[cycle\] Start of its tasks.
    start: Cycle,
    nodes: Vec<NodeId>,
    /// Number of messages in flight.
    in_flight: u64,
    /// \[cycle\] The first cycle in which its nodes are free; `None` while it runs.
    free_from: Option<Cycle>,
}

impl Running {
    /// Converts a cycle of the run to local time, in which the job began in the first cycle.
    fn local(&self, now: Cycle) -> Cycle {
        Cycle::FIRST + now.since(self.start)
    }

    /// Converts local time to a cycle of the run.
    fn global(&self, local: Cycle) -> Cycle {
        self.start + local.since(Cycle::FIRST)
    }

    /// Records the end of the job if it has ended in cycle `now`.
    fn check_end(&mut self, now: Cycle) {
        if self.free_from.is_none() && self.in_flight == 0 && self.replay.next() == Next::Done {
            self.free_from = Some(now.next());
        }
    }

    /// Copies the statistics of the job into its record.
    fn update(&self, record: &mut JobRecord) {
        let mut report = self.replay.report();
        for task in &mut report.tasks {
            task.finished = task.finished.map(|local| self.global(local));
        }
        let last = report.tasks.iter().map(|task| task.finished).max().flatten();
        record.finish = last.filter(|_| report.unfinished == 0);
        record.report = report;
    }
}

/// A list of jobs as a source of traffic.
#[derive(Debug)]
pub struct JobMix {
    jobs: Vec<Job>,
    terms: Terms,
    /// Number of nodes of the network.
    nodes: usize,
    /// Free and occupied nodes.
    pool: Pool,
    /// Jobs that have not arrived, the next one first.
    coming: VecDeque<usize>,
    /// Jobs that wait for nodes, in order of arrival.
    queue: Vec<Waiting>,
    /// Jobs that have nodes.
    running: Vec<Running>,
    /// Record of each job; those of running jobs are not up to date.
    records: Vec<JobRecord>,
    /// Messages that one job generates in one call.
    scratch: Outbox,
    /// Distances in the network, if the placement needs them.
    distance: Option<Arc<dyn Distance>>,
}

/// Distances between the nodes of a job, by index in its list of nodes.
#[derive(Debug)]
struct Among<'a> {
    /// The nodes of the job.
    nodes: &'a [NodeId],
    /// Distances in the network.
    whole: &'a dyn Distance,
}

impl Distance for Among<'_> {
    fn hops(&self, from: NodeId, to: NodeId) -> u32 {
        self.whole.hops(self.nodes[from.index()], self.nodes[to.index()])
    }
}

/// The nodes of a job as a line, whatever their positions in the network.
fn line(size: usize) -> Result<Geometry, SpecError> {
    let line = u32::try_from(size).ok().and_then(|size| Geometry::new(&[size]));
    line.ok_or_else(|| {
        SpecError::new(ErrorKind::TooLarge, format!("a job of {size} nodes"), "use at least 1 and fewer than 2^32")
    })
}

/// Number of low bits of a message id that hold the id within the job; the number of the job is above them.
const ID_BITS: u32 = 32;

impl JobMix {
    /// Jobs on the nodes of a grid. Jobs that arrive in the same cycle queue in the order of the list.
    ///
    /// # Errors
    /// A job without tasks, or with more tasks than the nodes of the network can hold; a placement that is unknown or
    /// does not fit.
    pub fn new(jobs: Vec<Job>, terms: Terms, geometry: &Geometry) -> Result<Self, SpecError> {
        let nodes = geometry.nodes();
        let size = |job: &Job| job.program.tasks.len().div_ceil(terms.tasks_per_node);
        for job in &jobs {
            let (name, size) = (&job.name, size(job));
            if size == 0 {
                let what = format!("job `{name}` has no task");
                return Err(SpecError::new(ErrorKind::Meaningless, what, "leave it out").of_component(JOB, name));
            }
            if size > nodes {
                let what = format!("job `{name}` needs {size} nodes, and the network has {nodes}");
                let each = job.program.tasks.len().div_ceil(nodes.max(1));
                let remedy = phrase![
                    "use a topology of {size} nodes or more, fewer tasks, or ",
                    ["tasks-per-node" => each]
                ];
                return Err(SpecError::new(ErrorKind::TooLarge, what, remedy).of_component(JOB, name));
            }
            terms.placement.check(&PlacementContext { geometry: &line(size)?, tasks: size, seed: terms.seed })?;
        }
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|&job| jobs[job].arrival);
        let record = |job: &Job| JobRecord {
            name: job.name.clone(),
            tasks: job.program.tasks.len(),
            arrival: job.arrival,
            start: None,
            finish: None,
            placement: Vec::new(),
            report: ReplayReport { unfinished: job.program.tasks.len(), ..ReplayReport::default() },
        };
        let records = jobs.iter().map(record).collect();
        let pool = Pool::new(geometry.clone());
        let (coming, queue, running) = (order.into(), Vec::new(), Vec::new());
        let scratch = Outbox::new(nodes);
        Ok(Self { jobs, terms, nodes, pool, coming, queue, running, records, scratch, distance: None })
    }

    /// Sets the distances that placements by communication matrix need. Call before the start.
    #[must_use]
    pub fn with_distance(self, distance: Arc<dyn Distance>) -> Self {
        Self { distance: Some(distance), ..self }
    }

    /// The jobs, as given.
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The record of each job so far.
    #[must_use]
    pub fn records(&self) -> Vec<JobRecord> {
        let mut records = self.records.clone();
        for running in &self.running {
            running.update(&mut records[running.job]);
        }
        records
    }

    /// Releases the nodes of finished jobs, queues arrived jobs, and starts jobs as the scheduler permits.
    fn manage(&mut self, now: Cycle) -> Result<(), SourceError> {
        let over: Vec<usize> =
            (0..self.running.len()).filter(|&at| self.running[at].free_from.is_some_and(|from| from <= now)).collect();
        let mut changed = !over.is_empty();
        for at in over.into_iter().rev() {
            let ended = self.running.remove(at);
            ended.update(&mut self.records[ended.job]);
            self.pool.give_back(&ended.nodes);
        }
        while let Some(job) = self.coming.pop_front_if(|&mut job| self.jobs[job].arrival <= now) {
            let Job { program, estimate, .. } = &self.jobs[job];
            let size = program.tasks.len().div_ceil(self.terms.tasks_per_node);
            self.queue.push(Waiting { job, size, estimate: *estimate });
            changed = true;
        }
        // The scheduler is called only when the state has changed.
        while changed && let Some((at, nodes)) = self.choose(now) {
            let Waiting { job, size, .. } = self.queue.remove(at);
            self.start(job, size, nodes, now)?;
        }
        Ok(())
    }

    /// The position in the queue of the job that starts now, and its nodes; `None` if all have to wait.
    fn choose(&self, now: Cycle) -> Option<(usize, Vec<NodeId>)> {
        if self.queue.is_empty() {
            return None;
        }
        let until = |running: &Running| running.start + self.jobs[running.job].estimate;
        let occupied = self.running.iter().map(|running| Occupied { nodes: &running.nodes, until: until(running) });
        let running: Vec<Occupied<'_>> = occupied.collect();
        let Terms { allocation, seed, scheduler, .. } = self.terms;
        Situation { now, pool: &self.pool, allocation, seed, running: &running }.choose(scheduler, &self.queue)
    }

    /// Places a job on `nodes` and starts it.
    fn start(&mut self, job: usize, size: usize, nodes: Vec<NodeId>, now: Cycle) -> Result<(), SourceError> {
        let Job { program, name, .. } = &self.jobs[job];
        let Terms { placement, tasks_per_node, pace, protocol, seed, .. } = &self.terms;
        let refused = |refusal: SpecError| SourceError::of_input(format!("job `{name}`: {refusal}"));
        let matrix = self.distance.as_ref().map(|_| Matrix::of_program(program).grouped(*tasks_per_node));
        let among = self.distance.as_ref().map(|whole| Among { nodes: &nodes, whole: &**whole });
        let known = matrix.as_ref().zip(among.as_ref()).map(|(matrix, among)| Known { matrix, distance: among });
        let on =
            |line: Geometry| placement.place(&PlacementContext { geometry: &line, tasks: size, seed: *seed }, known);
        let placed = line(size).and_then(on).map_err(refused)?;
        let node = |task: usize| nodes[placed.nodes[task / tasks_per_node].index()];
        let placement: Vec<NodeId> = (0..program.tasks.len()).map(node).collect();
        let replay = Replay::new(Program::clone(program), &placement, self.nodes, *pace)
            .map_err(|error| SourceError { what: format!("job `{name}`: {error}"), ..error })?;
        self.pool.take(&nodes);
        let record = &mut self.records[job];
        record.start = Some(now);
        record.placement = placement;
        let replay = replay.with_protocol(*protocol);
        self.running.push(Running { job, replay, start: now, nodes, in_flight: 0, free_from: None });
        Ok(())
    }

    /// The running job of a message, and the message with its id within the job.
    fn owner(&mut self, message: &Message) -> Option<(&mut Running, Message)> {
        let job = (message.id >> ID_BITS) as usize;
        let running = self.running.iter_mut().find(|running| running.job == job)?;
        Some((running, Message { id: message.id & ((1 << ID_BITS) - 1), ..*message }))
    }
}

impl TrGen for JobMix {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.manage(now)?;
        for running in &mut self.running {
            let local = running.local(now);
            if !matches!(running.replay.next(), Next::At(due) if due <= local) {
                continue;
            }
            let name = &self.jobs[running.job].name;
            running
                .replay
                .generate(local, &mut self.scratch)
                .map_err(|error| SourceError { what: format!("job `{name}`: {error}"), ..error })?;
            let job = (running.job as u64) << ID_BITS;
            let class = self.jobs[running.job].class;
            let in_flight = &mut running.in_flight;
            self.scratch.offer(|message| {
                *in_flight += 1;
                out.push(Message { id: job | message.id, class, ..message });
                true
            });
            running.check_end(now);
        }
        Ok(())
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        let Some((running, message)) = self.owner(message) else { return };
        let local = running.local(now);
        running.replay.sent(local, &message);
        running.check_end(now);
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let Some((running, message)) = self.owner(&delivery.message) else { return };
        let local = running.local(now);
        running.in_flight -= 1;
        running.replay.delivered(local, &Delivery { message, ..*delivery });
        running.check_end(now);
    }

    fn dropped(&mut self, now: Cycle, message: &Message) {
        let Some((running, message)) = self.owner(message) else { return };
        let local = running.local(now);
        running.in_flight -= 1;
        running.replay.dropped(local, &message);
    }

    fn next(&self) -> Next {
        let due = |running: &Running| match (running.free_from, running.replay.next()) {
            // Nodes are released only when a job waits for them.
            (Some(from), _) => (!self.queue.is_empty()).then_some(from),
            (None, Next::At(local)) => Some(running.global(local)),
            (None, Next::Waiting | Next::Done) => None,
        };
        let arrival = self.coming.front().map(|&job| self.jobs[job].arrival);
        match self.running.iter().filter_map(due).chain(arrival).min() {
            Some(cycle) => Next::At(cycle),
            None if self.running.iter().any(|running| running.free_from.is_none()) => Next::Waiting,
            None => Next::Done,
        }
    }

    fn waits(&self) -> Vec<Wait> {
        let named = |running: &Running| {
            let name = self.jobs[running.job].name.clone();
            let waits = running.replay.waits().into_iter();
            waits.map(move |Wait { cause, text }| Wait { cause, text: format!("job `{name}`: {text}") })
        };
        self.running.iter().flat_map(named).collect()
    }

    fn activity(&self) -> Activity {
        let (coming, waiting) = (self.coming.len(), self.queue.len());
        let running = self.running.iter().filter(|running| running.free_from.is_none()).count();
        // Ended jobs stay until their nodes are reused.
        let last = self.running.iter().filter_map(|running| running.free_from).max().filter(|_| running == 0);
        let listed = self.running.iter().filter(|running| running.free_from == last).map(|running| JobActivity {
            number: running.job,
            name: self.jobs[running.job].name.clone(),
            tasks: running.replay.tasks_now(),
        });
        let listed = listed.collect();
        Activity::Jobs(JobsActivity {
            coming,
            waiting,
            running,
            ended: self.jobs.len() - coming - waiting - running,
            listed,
        })
    }
}
