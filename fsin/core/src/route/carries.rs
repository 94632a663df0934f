//! Routings as a network model carries them.

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::table::{Build, Function, Row};
use super::{ChannelPolicy, Name, RoutingFunction as _};
use crate::family::{Carried, topologies_with};
use crate::topology::Topology;
use crate::words::joined;

/// A routing as a network model carries it.
#[derive(Clone, Copy, Debug)]
pub struct Carries {
    /// The routing.
    pub row: &'static Row,
    /// What its channels are used for in this model.
    pub policy: ChannelPolicy,
}

impl Carries {
    /// A routing with its own channel policy.
    #[must_use]
    pub const fn new(row: &'static Row) -> Self {
        Self { row, policy: row.policy }
    }

    /// A routing whose flow control leaves bubbles.
    #[must_use]
    pub const fn with_bubble(row: &'static Row) -> Self {
        Self { row, policy: row.policy.with_bubble() }
    }

    /// \[channels\] The least number of channels in a network with this function.
    #[must_use]
    pub fn least(&self, function: &Function) -> usize {
        self.policy.least(function.classes())
    }

    /// What is listed of the routing. `is_default` is true of the topologies in which it is the default.
    #[must_use]
    pub fn listed(&self, is_default: impl Fn(&str) -> bool) -> Carried {
        let (mut fewest, mut most) = (usize::MAX, 0);
        let is_given = self.row.policy == ChannelPolicy::Given;
        let topologies = topologies_with(|row, example| {
            let (Some(topology), true) = (example, !is_given && self.row.serves.includes(row.component.name)) else {
                return self.row.serves.includes(row.component.name);
            };
            // Of channels that are enough for the adaptive ones.
            let build = Build::new(self.row, topology, 32, self.policy);
            let Ok(least) = build.function().map(|function| self.least(&function)) else { return false };
            // One channel of several is kept: any number will do.
            let least = if least == 32 { 1 } else { least };
            (fewest, most) = (fewest.min(least), most.max(least));
            true
        });
        let count = match fewest == most {
            _ if is_given => "as many as they name".to_owned(),
            true => format!("{fewest} or more"),
            false => format!("{fewest} or more, {most} in some networks"),
        };
        let why = if self.row.why.is_empty() { String::new() } else { format!(": {}", self.row.why) };
        Carried {
            component: &self.row.component,
            aliases: self.row.aliases.to_vec(),
            default_of: topologies.iter().copied().filter(|name| is_default(name)).collect(),
            topologies,
            channels: format!("{}; {count}{why}", self.policy),
        }
    }
}

/// Those of a model's routings that serve a topology, by its specification or its name alone; the first one is the
/// default.
pub fn serving<'a>(routings: &'a [Carries], spec: &'a str) -> impl Iterator<Item = &'a Carries> {
    routings.iter().filter(move |carries| carries.row.serves.includes(spec))
}

/// The routing of this name among those of a model, in a network in which links may fail during the run if
/// `links_fail`.
///
/// # Errors
/// A routing that does not serve the network, or that cannot avoid its dead links.
pub fn named(
    routings: &[Carries],
    name: Name,
    topology: &dyn Topology,
    links_fail: bool,
) -> Result<Carries, SpecError> {
    let (spec, name) = (topology.spec(), name.name());
    let refused = |what, remedy| Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("routing"));
    let Some(&carries) = serving(routings, &spec).find(|carries| carries.row.component.name == name) else {
        let names: Vec<&str> = serving(routings, &spec).map(|carries| carries.row.component.name).collect();
        let remedy = match &*names {
            [] => phrase!["this model has no routing for it: use another ", ["topology"]],
            names => phrase![("use {}", joined(names, "or"))],
        };
        return refused(phrase![["routing" => name], (" is not for {spec} in this model")], remedy);
    };
    if (links_fail || topology.faults() > 0) && carries.row.serves.requires_intact_topology() {
        let remedy =
            phrase!["use ", ["routing" => "updown"], " or ", ["routing" => "shortest"], ", which go round them"];
        return refused(phrase![["routing" => name], " cannot avoid dead links"], remedy);
    }
    Ok(carries)
}

/// What is listed of a model's routings.
#[must_use]
pub fn listed(routings: &[Carries]) -> Vec<Carried> {
    let default = |carries: &Carries, name: &str| {
        serving(routings, name).next().is_some_and(|first| std::ptr::eq(first.row, carries.row))
    };
    routings.iter().map(|carries| carries.listed(|name| default(carries, name))).collect()
}
