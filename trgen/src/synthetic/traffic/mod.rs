//! The full syntax of synthetic traffic: one pattern, sums, phases, shots, reactions.
//!
//! # Grammar
//! ```text
//! traffic = phase { 'then' phase }
//! phase   = sum [ '@' cycles ]
//! sum     = term { '+' term }
//! term    = [ share ':' ] pattern | 'source' '(' ... ')' | '(' sum ')'
//! ```
//! - `uniform + transpose`: both at the same time, each node sending for both. The offered load is shared equally, or
//!   by shares: `3:uniform + 1:transpose`. A term with its own load, `source(hotspot(1,0), load=0.01)`, has that load
//!   in addition to the offered one; `source` can also set its temporal process and size law.
//! - `uniform@10000 then tornado@10000`: the given number of cycles of each, then from the beginning again; a last
//!   phase without `@` never ends.
//!
//! Pattern, process and size law of a term default to those of the [`Config`]. Every term draws from its own streams;
//! those of the first term are the same as if it were alone.
//!
//! Decision: docs/decisions/0018-shared-load.md.

mod parse;

use std::path::Path;

use super::batches::{BatchLaws, Batches};
use super::bundle::{Part, Sum};
use super::groups::Groups;
use super::pending::PendingSends;
use super::phases::Phases;
use super::reactive::Reactive;
use super::reply::{Replies, RoundTrips, WriteLaws};
use super::shots::Shots;
use super::source::{Config, Synthetic};
use super::temporal::{self, Temporal, Writes};
use super::{size, spatial};
use crate::catalog::{Component, ErrorKind, SpecError};
use crate::message::{Delivery, Message};
use crate::phrase;
use crate::rng::{Purpose, mix2};
use crate::source::{Next, Outbox, Reads, SourceError, TrGen, Wait};
use crate::synthetic::expr::{self, Expr};
use crate::units::{Cycle, NodeId};

pub use super::shots::Shot;
pub use parse::Sources;
use parse::{Phase, RATES, Term};

/// The descriptions of the words that combine sources.
pub fn components() -> impl Iterator<Item = &'static Component> {
    parse::COMPONENTS.iter()
}

/// The field of a [`Config`] that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// Packet or phit size.
    Lengths,
    /// [`Config::pattern`].
    Pattern,
    /// [`Config::process`], or the load with it.
    Process,
    /// [`Config::size`].
    Size,
}

/// A field of a [`Config`] that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{refusal}")]
pub struct Misfit {
    /// Which field.
    pub word: Word,
    /// Why.
    pub refusal: SpecError,
}

impl Word {
    /// Converts an error in the parsing of this field.
    fn misfit(self) -> impl Fn(SpecError) -> Misfit {
        move |refusal| Misfit { word: self, refusal }
    }
}

/// The outermost source.
#[derive(Debug)]
enum Root {
    /// One source, a sum or a sequence of phases.
    Part(Box<dyn Part>),
    Shots(Box<Shots>),
    Batches(Box<Batches>),
    Replies(Box<Replies>),
}

/// Synthetic traffic of any form.
#[derive(Debug)]
pub struct Traffic {
    root: Root,
    /// See [`Self::uses_load`].
    uses_load: bool,
    /// See [`Self::offered`].
    offered: Option<f64>,
    /// See [`Self::remarks`].
    remarks: Vec<String>,
}

impl Traffic {
    /// Builds the traffic that `config` describes.
    ///
    /// # Errors
    /// When a field of the configuration is malformed, unknown or incompatible with the others.
    ///
    /// # Example
    /// ```
    /// use trgen::synthetic::{Config, Traffic};
    /// use trgen::{Geometry, TrGen};
    ///
    /// let grid = Geometry::new(&[8, 8]).expect("sizes of 1 or more");
    /// let pattern = "3:uniform + 1:transpose@1000 then tornado@500".parse().expect("two phases");
    /// assert_eq!(Traffic::new(&Config { pattern, ..Config::new(grid) })?.silent_nodes(), 0);
    /// # Ok::<(), trgen::synthetic::traffic::Misfit>(())
    /// ```
    pub fn new(config: &Config) -> Result<Self, Misfit> {
        for (name, value) in [("packet length", config.packet_phits), ("phit size", config.phit_bytes)] {
            if value == 0 {
                let refusal =
                    SpecError::new(ErrorKind::Malformed, format!("{name} 0"), format!("a {name} of 1 or more"));
                return Err(Misfit { word: Word::Lengths, refusal });
            }
        }
        let phases = config.pattern.phases();
        if let [Phase { terms, length: None }] = phases
            && let [term] = &terms[..]
        {
            return single(config, term);
        }
        let mut parts: Vec<(Box<dyn Part>, Option<u64>)> = Vec::new();
        let (mut index, mut uses_load, mut offered, mut remarks) = (0, false, 0.0, Vec::new());
        for Phase { terms, length } in phases {
            let shares: f64 = terms.iter().filter(|term| term.shares_load()).map(|term| term.share).sum();
            let mut sum: Vec<Box<dyn Part>> = Vec::new();
            for term in terms {
                uses_load |= term.shares_load();
                let load = own_load(config, term).unwrap_or(config.load * (term.share / shares));
                let seed = if index == 0 { config.seed } else { part_seed(config.seed, index) };
                let (source, sent) = source(config, term, load, seed, &mut remarks)?;
                offered += sent;
                sum.push(Box::new(source));
                index += 1;
            }
            let part = match sum.len() {
                1 => sum.pop(),
                _ => None,
            };
            parts.push((part.unwrap_or_else(|| Box::new(Sum::new(sum))), *length));
        }
        let root = match (parts.len(), parts.first()) {
            (1, Some((_, None))) => parts.pop().map(|(part, _)| part),
            _ => None,
        };
        let root = root.unwrap_or_else(|| {
            let (parts, lengths) = parts.into_iter().unzip();
            Box::new(Phases::new(parts, lengths))
        });
        let offered = matches!(phases, [Phase { length: None, .. }]).then_some(offered);
        remarks.dedup();
        Ok(Self { root: Root::Part(root), uses_load, offered, remarks })
    }

    /// What users may misunderstand of patterns and size laws.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The shots that have ended so far; `None` for traffic without shots.
    #[must_use]
    pub fn shots(&self) -> Option<&[Shot]> {
        match &self.root {
            Root::Shots(shots) => Some(shots.ended()),
            Root::Batches(batches) => Some(batches.ended()),
            Root::Part(_) | Root::Replies(_) => None,
        }
    }

    /// The times from requests to the arrivals of their replies so far; `None` for traffic without replies.
    #[must_use]
    pub fn round_trips(&self) -> Option<&RoundTrips> {
        match &self.root {
            Root::Replies(replies) => Some(replies.round_trips()),
            Root::Part(_) | Root::Shots(_) | Root::Batches(_) => None,
        }
    }

    /// False if the load of the configuration is unused: shots, and terms that all have their own load.
    #[must_use]
    pub const fn uses_load(&self) -> bool {
        self.uses_load
    }

    /// \[phit/cycle\] Offered load of all nodes together, in full packets; `None` where it varies with time or depends
    /// on the network: phases and shots.
    #[must_use]
    pub const fn offered(&self) -> Option<f64> {
        self.offered
    }

    /// True if this node never sends.
    #[must_use]
    pub fn is_silent(&self, node: NodeId) -> bool {
        match &self.root {
            Root::Part(part) => part.is_silent(node),
            Root::Shots(shots) => shots.is_silent(node),
            Root::Batches(batches) => batches.is_silent(node),
            Root::Replies(replies) => replies.is_silent(node),
        }
    }

    /// The outermost source.
    fn source(&self) -> &dyn TrGen {
        match &self.root {
            Root::Part(part) => &**part,
            Root::Shots(shots) => &**shots,
            Root::Batches(batches) => &**batches,
            Root::Replies(replies) => &**replies,
        }
    }

    fn source_mut(&mut self) -> &mut dyn TrGen {
        match &mut self.root {
            Root::Part(part) => &mut **part,
            Root::Shots(shots) => &mut **shots,
            Root::Batches(batches) => &mut **batches,
            Root::Replies(replies) => &mut **replies,
        }
    }
}

/// The seed of one term of the traffic, from the run seed and the number of the term.
fn part_seed(seed: u64, part: u64) -> u64 {
    mix2(mix2(seed, Purpose::Part as u64), part)
}

/// \[phit/node/cycle\] The load that a term states for itself.
fn own_load(config: &Config, term: &Term) -> Option<f64> {
    term.load.map(|load| load * config.capacity)
}

/// The traffic class of the messages of a term.
fn class_of(term: &Term) -> u8 {
    term.class.map_or(0, |(class, _)| class)
}

/// Builds the pattern of a term.
fn pattern(config: &Config, term: &Term, seed: u64) -> Result<Box<dyn spatial::Pattern>, Misfit> {
    if let Some(nested) = nested_rates(&term.pattern) {
        let problem = "`rates` within another pattern: the loads that it states would be lost";
        let remedy = "use it as a term of its own, rates(FILE) + uniform";
        return Err(Word::Pattern.misfit()(expr::refuse(config.pattern.text(), nested.position, problem, remedy)));
    }
    if term.pattern.name == RATES && term.load.is_some() {
        let problem = "`rates` with a load: its file states the loads";
        return Err(Word::Pattern.misfit()(expr::refuse(
            config.pattern.text(),
            term.pattern.position,
            problem,
            "leave out load=",
        )));
    }
    if term.pattern.name == RATES && term.share != 1.0 {
        let problem = "`rates` with a share of the load: its file states the loads";
        return Err(Word::Pattern.misfit()(expr::refuse(
            config.pattern.text(),
            term.pattern.position,
            problem,
            "leave out the share",
        )));
    }
    spatial::build(config.pattern.text(), &term.pattern, config.context(seed)).map_err(Word::Pattern.misfit())
}

/// The pattern `rates` among the arguments of a pattern.
fn nested_rates(pattern: &Expr) -> Option<&Expr> {
    let arguments = || pattern.arguments.iter().map(|argument| &argument.value);
    arguments()
        .find(|inner| inner.name == RATES && !inner.arguments.is_empty())
        .or_else(|| arguments().find_map(nested_rates))
}

/// Adds what users may misunderstand of a pattern and a size law.
fn remark(config: &Config, pattern: &dyn spatial::Pattern, law: &dyn size::Law, remarks: &mut Vec<String>) {
    remarks.extend(pattern.remark().map(str::to_owned));
    let (mean, carried) = (law.mean(), law.carried());
    if config.is_padded && carried > mean {
        let [mean, carried] = [mean, carried].map(|phits| (phits * 1e3).round() / 1e3);
        remarks.push(format!(
            "this network sends whole packets of {} phits: messages of {mean} phits, on average, occupy {carried}, and load \
             counts these; sizes below a packet have no effect",
            config.packet_phits
        ));
    }
}

/// \[phit/node/cycle\] By node: the load that a pattern states; `None` if all nodes have the load of the run.
fn rates(config: &Config, pattern: &dyn spatial::Pattern) -> Option<Vec<f64>> {
    Some(pattern.rates()?.iter().map(|rate| rate * config.capacity).collect())
}

/// Processes of nodes with different loads.
#[derive(Debug)]
struct PerNode {
    /// By node: its process.
    of: Vec<u32>,
    /// One for each load.
    processes: Vec<Box<dyn temporal::Process>>,
}

impl temporal::Process for PerNode {
    fn next(&mut self, node: NodeId, from: Cycle, rng: &mut crate::rng::Stream) -> Cycle {
        self.processes[self.of[node.index()] as usize].next(node, from, rng)
    }
}

/// A process in which each node has its own load; `build` builds that of one load.
fn per_node(
    rates: &[f64],
    build: impl Fn(f64) -> Result<Box<dyn temporal::Process>, Misfit>,
) -> Result<Box<dyn temporal::Process>, Misfit> {
    let mut loads = rates.to_vec();
    loads.sort_unstable_by(f64::total_cmp);
    loads.dedup();
    let of = rates.iter().map(|rate| loads.partition_point(|load| load < rate) as u32).collect();
    let processes = loads.into_iter().map(build).collect::<Result<_, _>>()?;
    Ok(Box::new(PerNode { of, processes }))
}

/// Builds the size law of a term.
fn law(config: &Config, term: &Term) -> Result<Box<dyn size::Law>, Misfit> {
    match &term.size {
        Some(size) => {
            size::build(config.pattern.text(), size, config.law_context(&config.folder)).map_err(Word::Pattern.misfit())
        }
        None => size::read(&config.size, config.law_context(Path::new(""))).map_err(Word::Size.misfit()),
    }
}

/// Builds the source of one of several terms, with the load of all its nodes together \[phit/cycle\]. Its process must
/// be one that every node runs independently.
fn source(
    config: &Config,
    term: &Term,
    load: f64,
    seed: u64,
    remarks: &mut Vec<String>,
) -> Result<(Synthetic, f64), Misfit> {
    let law = law(config, term)?;
    let pattern = pattern(config, term, seed)?;
    remark(config, &*pattern, &*law, remarks);
    let nodes = config.geometry.nodes();
    let process = |load| {
        let (capacity, mean_phits) = (config.capacity, config.mean_phits(&*law));
        let context = temporal::ProcessContext { nodes, load, capacity, mean_phits, seed };
        match &term.temporal {
            Some(process) => {
                temporal::parse_independent(config.pattern.text(), process, context).map_err(Word::Pattern.misfit())
            }
            None => {
                let process = &config.process;
                temporal::parse_independent(process.text(), process.expr(), context).map_err(Word::Process.misfit())
            }
        }
    };
    let (process, offered, rate) = match rates(config, &*pattern) {
        // Nodes have loads of their own, whose mean over the nodes that send is what each of them is taken to offer.
        Some(rates) => {
            let sum: f64 = rates.iter().sum();
            (per_node(&rates, process)?, sum, sum / (nodes - pattern.silent()).max(1) as f64)
        }
        None => match pattern.relative_loads() {
            Some(shares) => {
                let own: Vec<f64> = shares.iter().map(|share| share * load).collect();
                (per_node(&own, process)?, load * (nodes - pattern.silent()) as f64, load)
            }
            None => (process(load)?, load * (nodes - pattern.silent()) as f64, load),
        },
    };
    let source = Synthetic::from_parts(pattern, process, law, config.phit_bytes, config.mode, seed);
    Ok((source.offering(rate).of_class(class_of(term)), offered))
}

/// Builds the size law of replies, in a process that stands in `text`. It names no file: those of patterns and sizes
/// alone belong to the inputs of an experiment.
fn reply_law(config: &Config, text: &str, size: &Expr) -> Result<Box<dyn size::Law>, SpecError> {
    let mut files = Vec::new();
    super::file::collect(size, &mut files);
    if let Some((position, name)) = files.first() {
        let problem = format!("the sizes of replies cannot stand in a file, `{name}`");
        return Err(expr::refuse(text, *position, &problem, "use a law without a file, such as constant(80)"));
    }
    size::build(text, size, config.law_context(Path::new("")))
}

/// The text that a process stands in.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    text: &'a str,
    /// The field of the configuration that it is.
    word: Word,
}

impl<'a> Place<'a> {
    /// That of the process of a term.
    fn of(config: &'a Config, term: &Term) -> Self {
        match &term.temporal {
            Some(_) => Self { text: config.pattern.text(), word: Word::Pattern },
            None => Self { text: config.process.text(), word: Word::Process },
        }
    }
}

/// Builds the size laws of writes, where the replies to the other requests have the law `usual`.
fn write_laws(config: &Config, term: &Term, writes: &Writes, usual: &Expr) -> Result<WriteLaws, Misfit> {
    let Place { text, word } = Place::of(config, term);
    let built = |law: &Expr| reply_law(config, text, law).map_err(word.misfit());
    Ok(WriteLaws {
        fraction: writes.fraction,
        request: built(writes.size.as_ref().unwrap_or(usual))?,
        reply: match &writes.reply {
            Some(law) => built(law)?,
            None => self::law(config, term)?,
        },
    })
}

/// Builds traffic of a single term. Its process may be of any form.
fn single(config: &Config, term: &Term) -> Result<Traffic, Misfit> {
    if term.pattern.name == RATES {
        let mut remarks = Vec::new();
        let (source, offered) = source(config, term, 0.0, config.seed, &mut remarks)?;
        return Ok(Traffic { root: Root::Part(Box::new(source)), uses_load: false, offered: Some(offered), remarks });
    }
    let law = law(config, term)?;
    let seed = config.seed;
    let built = pattern(config, term, seed)?;
    let mut remarks = Vec::new();
    remark(config, &*built, &*law, &mut remarks);
    let load = own_load(config, term).unwrap_or(config.load);
    let context = temporal::ProcessContext {
        nodes: config.geometry.nodes(),
        load,
        capacity: config.capacity,
        mean_phits: config.mean_phits(&*law),
        seed,
    };
    let temporal = match &term.temporal {
        Some(process) => temporal::build(config.pattern.text(), process, context).map_err(Word::Pattern.misfit())?,
        None => temporal::read(&config.process, context).map_err(Word::Process.misfit())?,
    };
    let (phit_bytes, mode) = (config.phit_bytes, config.mode);
    if let (Some((_, position)), false) = (term.class, matches!(temporal, Temporal::Process(_))) {
        let problem =
            "`class` with a process that is no process of independent nodes: it gives its messages their classes";
        return Err(Word::Pattern.misfit()(expr::refuse(config.pattern.text(), position, problem, "leave out class=")));
    }
    let part = |pattern, law, process| {
        Synthetic::from_parts(pattern, process, law, phit_bytes, mode, seed).of_class(class_of(term))
    };
    let root = match temporal {
        // Nodes have loads of their own.
        Temporal::Process(_) if built.relative_loads().is_some() => {
            Root::Part(Box::new(source(config, term, load, seed, &mut Vec::new())?.0))
        }
        Temporal::Process(process) => Root::Part(Box::new(part(built, law, process).offering(load))),
        Temporal::Shot { messages, outstanding: None, reply: None, .. } => {
            let law = self::law(config, term)?;
            let pending = PendingSends::new(pattern(config, term, seed)?, law, phit_bytes, mode, seed);
            return Ok(Traffic {
                root: Root::Shots(Box::new(Shots::new(pending, messages, config.shots))),
                uses_load: false,
                offered: None,
                remarks,
            });
        }
        Temporal::Shot { messages, outstanding, reply, writes } => {
            let place = Place::of(config, term);
            let reply_to = |size: &Expr| reply_law(config, place.text, size).map_err(place.word.misfit());
            let writes = match (&writes, &reply) {
                (Some(writes), Some(reply)) => Some(write_laws(config, term, writes, reply)?),
                _ => None,
            };
            let reply = reply.as_ref().map(reply_to).transpose()?;
            let laws = BatchLaws { request: law, reply, writes };
            let bounds = (messages, outstanding.unwrap_or(u64::MAX));
            return Ok(Traffic {
                root: Root::Batches(Box::new(Batches::new(built, laws, phit_bytes, mode, bounds, config.shots, seed))),
                uses_load: false,
                offered: None,
                remarks,
            });
        }
        Temporal::Reactive { process, reaction } => {
            // Reactions draw from their own streams.
            let other = part_seed(seed, Purpose::Reaction as u64);
            let pending =
                PendingSends::new(pattern(config, term, seed)?, self::law(config, term)?, phit_bytes, mode, other);
            Root::Part(Box::new(Reactive::new(part(built, law, process), pending, reaction, seed)))
        }
        Temporal::Group { group, members, rate } => {
            Root::Part(Box::new(Groups::new(built, law, phit_bytes, (group, members), rate, seed)))
        }
        Temporal::Reply { size, process, service, room, writes } => {
            let Place { text, word } = Place::of(config, term);
            if let Some((_, position)) = room.filter(|_| !config.nodes_refuse) {
                let problem = "`room`: nodes of this network take whatever arrives";
                let remedy = phrase!["leave it out, or use ", ["network" => "wormhole"]];
                return Err(word.misfit()(expr::refuse(text, position, problem, remedy)));
            }
            let room = room.map(|(room, _)| room);
            let replies = match &size {
                Some(size) => reply_law(config, text, size).map_err(word.misfit())?,
                None => self::law(config, term)?,
            };
            let request = context.mean_phits;
            let mut both = request + config.mean_phits(&*replies);
            let writes = match (&writes, &size) {
                (Some(writes), Some(size)) => Some(write_laws(config, term, writes, size)?),
                (Some(writes), None) => {
                    let own = |given: &Option<Expr>| match given {
                        Some(law) => reply_law(config, text, law).map_err(word.misfit()),
                        None => self::law(config, term),
                    };
                    let (request, reply) = (own(&writes.size)?, own(&writes.reply)?);
                    Some(WriteLaws { fraction: writes.fraction, request, reply })
                }
                (None, _) => None,
            };
            if let Some(laws) = &writes {
                let of_a_write = config.mean_phits(&*laws.request) + config.mean_phits(&*laws.reply);
                both += laws.fraction * (of_a_write - both);
            }
            let load = load * request / both;
            let context = temporal::ProcessContext { load, ..context };
            let process = match &process {
                Some(process) => temporal::parse_independent(text, process, context),
                None => temporal::parse("bernoulli", context),
            };
            let requests = part(built, law, process.map_err(word.misfit())?).offering(load);
            // Replies draw from their own streams.
            let other = part_seed(seed, Purpose::Reaction as u64);
            Root::Replies(Box::new(Replies::new(requests, (replies, writes), phit_bytes, mode, (service, room), other)))
        }
        Temporal::Background { .. } => {
            return Err(Misfit {
                word: Word::Process,
                refusal: expr::refuse(
                    config.process.text(),
                    0,
                    "`background` is traffic beside an application, and there is none",
                    phrase!["add ", ["kernel"], " or ", ["trace"], ", or use bernoulli"],
                ),
            });
        }
    };
    let offered = match &root {
        Root::Part(part) => Some(load * (part.nodes() - part.silent_nodes()) as f64),
        Root::Replies(replies) => Some(load * (replies.nodes() - replies.silent_nodes()) as f64),
        Root::Shots(_) | Root::Batches(_) => None,
    };
    Ok(Traffic { root, uses_load: term.load.is_none(), offered, remarks })
}

/// The traffic of the nodes without a task: `config` for a network of only these, with a process `background(l)`.
///
/// # Errors
/// As [`Traffic::new`], and when the process is a different one.
pub fn background(config: &Config) -> Result<Traffic, Misfit> {
    let load = config.load;
    let law = size::read(&config.size, config.law_context(Path::new(""))).map_err(Word::Size.misfit())?;
    let context = temporal::ProcessContext {
        nodes: config.geometry.nodes(),
        load,
        capacity: config.capacity,
        mean_phits: config.mean_phits(&*law),
        seed: config.seed,
    };
    let process = match temporal::read(&config.process, context).map_err(Word::Process.misfit())? {
        Temporal::Background { process } => process,
        _ => {
            let refusal = expr::refuse(
                config.process.text(),
                0,
                "an application has its own times, and only `background(l)` goes beside it",
                "write background(0.1), or leave it out",
            );
            return Err(Misfit { word: Word::Process, refusal });
        }
    };
    let whole = config.pattern.pattern().map_err(Word::Pattern.misfit())?;
    let pattern = spatial::read(&config.pattern, config.context(config.seed)).map_err(Word::Pattern.misfit())?;
    if let Some(nested) = Some(whole).filter(|whole| whole.name == RATES).or_else(|| nested_rates(whole)) {
        let problem = "`rates` beside an application: `background(l)` states the load";
        return Err(Word::Pattern.misfit()(expr::refuse(
            config.pattern.text(),
            nested.position,
            problem,
            "use matrix(FILE)",
        )));
    }
    let mut remarks = Vec::new();
    remark(config, &*pattern, &*law, &mut remarks);
    let source = Synthetic::from_parts(pattern, process, law, config.phit_bytes, config.mode, config.seed);
    Ok(Traffic { root: Root::Part(Box::new(source)), uses_load: false, offered: None, remarks })
}

impl TrGen for Traffic {
    fn nodes(&self) -> usize {
        self.source().nodes()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.source_mut().generate(now, out)
    }

    fn reads(&self) -> Reads {
        self.source().reads()
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        self.source_mut().sent(now, message);
    }

    fn take_back(&mut self, now: Cycle, message: &Message) -> bool {
        self.source_mut().take_back(now, message)
    }

    fn refusable(&self) -> Option<u8> {
        self.source().refusable()
    }

    fn take_refusals(&mut self, each: &mut dyn FnMut(NodeId, bool)) {
        self.source_mut().take_refusals(each);
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        self.source_mut().delivered(now, delivery);
    }

    fn dropped(&mut self, now: Cycle, message: &Message) {
        self.source_mut().dropped(now, message);
    }

    fn next(&self) -> Next {
        self.source().next()
    }

    fn silent_nodes(&self) -> usize {
        self.source().silent_nodes()
    }

    fn held_back_phits(&self, now: Cycle) -> Option<f64> {
        self.source().held_back_phits(now)
    }

    fn waits(&self) -> Vec<Wait> {
        self.source().waits()
    }
}
