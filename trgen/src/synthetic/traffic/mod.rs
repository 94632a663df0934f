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

use std::path::{Path, PathBuf};

use super::bundle::{Part, Sum};
use super::pending::PendingSends;
use super::phases::Phases;
use super::reactive::Reactive;
use super::shots::Shots;
use super::source::{Config, Synthetic};
use super::temporal::{self, Temporal};
use super::{size, spatial};
use crate::catalog::{Component, ErrorKind, SpecError};
use crate::message::{Delivery, Message};
use crate::phrase;
use crate::rng::{Purpose, mix2};
use crate::source::{Next, Outbox, SourceError, TrGen, Wait};
use crate::synthetic::expr::{self, Expr};
use crate::units::{Cycle, NodeId};

pub use super::shots::Shot;
use parse::{Phase, Term};

/// The descriptions of the words that combine sources.
pub fn components() -> impl Iterator<Item = &'static Component> {
    parse::COMPONENTS.iter()
}

/// The paths of the files named in the patterns of `text`; none if `text` cannot be parsed.
#[must_use]
pub fn files(text: &str) -> Vec<PathBuf> {
    parse::files(text).into_iter().map(|(_, name)| name.into()).collect()
}

/// False if every source in `text` has its own load, so that the common load is unused; true if `text` cannot be
/// parsed.
#[must_use]
pub fn uses_load(text: &str) -> bool {
    let is_without = |phase: &Phase| phase.terms.iter().any(|term| term.load.is_none());
    parse::phases(text).map_or(true, |phases| phases.iter().any(is_without))
}

/// `text` with its paths replaced.
#[must_use]
pub fn with_files(text: &str, path: impl Fn(&Path) -> PathBuf) -> String {
    let mut whole = text.to_owned();
    for (position, name) in parse::files(text).into_iter().rev() {
        let quotes = if whole[position..].starts_with('"') { 2 } else { 0 };
        let new = format!("\"{}\"", path(Path::new(&name)).display());
        whole.replace_range(position..position + name.len() + quotes, &new);
    }
    whole
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
}

/// Synthetic traffic of any form.
#[derive(Debug)]
pub struct Traffic {
    root: Root,
    /// See [`Self::uses_load`].
    uses_load: bool,
    /// See [`Self::offered`].
    offered: Option<f64>,
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
    /// let pattern = "3:uniform + 1:transpose@1000 then tornado@500".into();
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
        let phases = parse::phases(&config.pattern).map_err(Word::Pattern.misfit())?;
        if let [Phase { terms, length: None }] = &phases[..]
            && let [term] = &terms[..]
        {
            return single(config, term);
        }
        let mut parts: Vec<(Box<dyn Part>, Option<u64>)> = Vec::new();
        let (mut index, mut uses_load, mut offered) = (0, false, 0.0);
        for Phase { terms, length } in &phases {
            let shares: f64 = terms.iter().filter(|term| term.load.is_none()).map(|term| term.share).sum();
            let mut sum: Vec<Box<dyn Part>> = Vec::new();
            for term in terms {
                uses_load |= term.load.is_none();
                let load = term.load.unwrap_or(config.load * (term.share / shares));
                let seed = if index == 0 { config.seed } else { part_seed(config.seed, index) };
                let source = source(config, term, load, seed)?;
                offered += load * (source.nodes() - source.silent_nodes()) as f64;
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
        let offered = matches!(&phases[..], [Phase { length: None, .. }]).then_some(offered);
        Ok(Self { root: Root::Part(root), uses_load, offered })
    }

    /// The shots that have ended so far; `None` for traffic without shots.
    #[must_use]
    pub fn shots(&self) -> Option<&[Shot]> {
        match &self.root {
            Root::Shots(shots) => Some(shots.ended()),
            Root::Part(_) => None,
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
        }
    }

    /// The outermost source.
    fn source(&self) -> &dyn TrGen {
        match &self.root {
            Root::Part(part) => &**part,
            Root::Shots(shots) => &**shots,
        }
    }

    fn source_mut(&mut self) -> &mut dyn TrGen {
        match &mut self.root {
            Root::Part(part) => &mut **part,
            Root::Shots(shots) => &mut **shots,
        }
    }
}

/// The seed of one term of the traffic, from the run seed and the number of the term.
fn part_seed(seed: u64, part: u64) -> u64 {
    mix2(mix2(seed, Purpose::Part as u64), part)
}

/// Builds the pattern of a term.
fn pattern(config: &Config, term: &Term, seed: u64) -> Result<Box<dyn spatial::Pattern>, Misfit> {
    spatial::build(&config.pattern, &term.pattern, config.context(seed)).map_err(Word::Pattern.misfit())
}

/// Builds the size law of a term.
fn law(config: &Config, term: &Term) -> Result<Box<dyn size::Law>, Misfit> {
    match &term.size {
        Some(size) => size::build(&config.pattern, size, config.packet_phits).map_err(Word::Pattern.misfit()),
        None => size::parse(&config.size, config.packet_phits).map_err(Word::Size.misfit()),
    }
}

/// Builds the source of one of several terms. Its process must be one that every node runs independently.
fn source(config: &Config, term: &Term, load: f64, seed: u64) -> Result<Synthetic, Misfit> {
    let law = law(config, term)?;
    let pattern = pattern(config, term, seed)?;
    let context =
        temporal::ProcessContext { nodes: config.geometry.nodes(), load, mean_phits: config.mean_phits(&*law), seed };
    let process = match &term.temporal {
        Some(process) => {
            temporal::parse_independent(&config.pattern, process, context).map_err(Word::Pattern.misfit())?
        }
        None => {
            let process = Expr::parse(&config.process).map_err(Word::Process.misfit())?;
            temporal::parse_independent(&config.process, &process, context).map_err(Word::Process.misfit())?
        }
    };
    Ok(Synthetic::from_parts(pattern, process, law, config.phit_bytes, config.mode, seed).offering(load))
}

/// Builds traffic of a single term. Its process may be of any form.
fn single(config: &Config, term: &Term) -> Result<Traffic, Misfit> {
    let law = law(config, term)?;
    let seed = config.seed;
    let built = pattern(config, term, seed)?;
    let load = term.load.unwrap_or(config.load);
    let context =
        temporal::ProcessContext { nodes: config.geometry.nodes(), load, mean_phits: config.mean_phits(&*law), seed };
    let temporal = match &term.temporal {
        Some(process) => temporal::build(&config.pattern, process, context).map_err(Word::Pattern.misfit())?,
        None => temporal::read(&config.process, context).map_err(Word::Process.misfit())?,
    };
    let (phit_bytes, mode) = (config.phit_bytes, config.mode);
    let part = |process| Synthetic::from_parts(built, process, law, phit_bytes, mode, seed);
    let root = match temporal {
        Temporal::Process(process) => Root::Part(Box::new(part(process).offering(load))),
        Temporal::Shot { messages } => {
            let law = self::law(config, term)?;
            let pending = PendingSends::new(pattern(config, term, seed)?, law, phit_bytes, mode, seed);
            return Ok(Traffic {
                root: Root::Shots(Box::new(Shots::new(pending, messages, config.shots))),
                uses_load: false,
                offered: None,
            });
        }
        Temporal::Reactive { process, reaction } => {
            // Reactions draw from their own streams.
            let other = part_seed(seed, Purpose::Reaction as u64);
            let pending =
                PendingSends::new(pattern(config, term, seed)?, self::law(config, term)?, phit_bytes, mode, other);
            Root::Part(Box::new(Reactive::new(part(process), pending, reaction, seed)))
        }
        Temporal::Background { .. } => {
            return Err(Misfit {
                word: Word::Process,
                refusal: expr::refuse(
                    &config.process,
                    0,
                    "`background` is traffic beside an application, and there is none",
                    phrase!["add ", ["kernel"], " or ", ["trace"], ", or use bernoulli"],
                ),
            });
        }
    };
    let offered = match &root {
        Root::Part(part) => Some(load * (part.nodes() - part.silent_nodes()) as f64),
        Root::Shots(_) => None,
    };
    Ok(Traffic { root, uses_load: term.load.is_none(), offered })
}

/// The traffic of the nodes without a task: `config` for a network of only these, with a process `background(l)`.
///
/// # Errors
/// As [`Traffic::new`], and when the process is a different one.
pub fn background(config: &Config) -> Result<Traffic, Misfit> {
    let load = config.load;
    let law = size::parse(&config.size, config.packet_phits).map_err(Word::Size.misfit())?;
    let context = temporal::ProcessContext {
        nodes: config.geometry.nodes(),
        load,
        mean_phits: config.mean_phits(&*law),
        seed: config.seed,
    };
    let process = match temporal::read(&config.process, context).map_err(Word::Process.misfit())? {
        Temporal::Background { process } => process,
        _ => {
            let refusal = expr::refuse(
                &config.process,
                0,
                "an application has its own times, and only `background(l)` goes beside it",
                "write background(0.1), or leave it out",
            );
            return Err(Misfit { word: Word::Process, refusal });
        }
    };
    let whole = Expr::parse(&config.pattern).map_err(Word::Pattern.misfit())?;
    let pattern =
        spatial::build(&config.pattern, &whole, config.context(config.seed)).map_err(Word::Pattern.misfit())?;
    let source = Synthetic::from_parts(pattern, process, law, config.phit_bytes, config.mode, config.seed);
    Ok(Traffic { root: Root::Part(Box::new(source)), uses_load: false, offered: None })
}

impl TrGen for Traffic {
    fn nodes(&self) -> usize {
        self.source().nodes()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.source_mut().generate(now, out)
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        self.source_mut().sent(now, message);
    }

    fn take_back(&mut self, now: Cycle, message: &Message) -> bool {
        self.source_mut().take_back(now, message)
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
