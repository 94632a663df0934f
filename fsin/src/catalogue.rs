//! The catalogue: every component that can be named, by kind.
//!
//! A kind is a family of components: patterns, topologies, presets. Those that only some network models have follow from
//! the tables of the models: their routings, and the settings whose values are components.

mod described;

use std::sync::OnceLock;

use fsin_core::family::{Carried, ModelFamily};
use fsin_core::topology::TOPOLOGIES;
use fsin_core::topology::graph::FORMATS as NETWORK_FORMATS;
use fsin_experiment::energy::ENERGY_MODELS;
use fsin_models::MODELS;
use trgen::catalog::{Component, Described};
use trgen::collective::COLLECTIVES;
use trgen::synthetic::size::SIZES;
use trgen::synthetic::spatial::PATTERNS;
use trgen::synthetic::temporal::PROCESSES;
use trgen::synthetic::traffic;
use trgen::trace::formats::FORMATS;
use trgen::trace::kernels::KERNELS;
use trgen::trace::placement::PLACEMENTS;
use trgen::trace::{collectives, jobs};

pub use described::{described, routings_for};

/// A kind of components.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Its name: `topologies`, `presets`.
    pub name: String,
    /// The settings whose values name its members, or begin with their names.
    pub keys: Vec<&'static str>,
    /// Its components, in the order of their table.
    pub members: Vec<Member>,
}

/// A component of a kind.
#[derive(Clone, Debug)]
pub struct Member {
    /// Name, definition, parameters, source.
    pub component: &'static Component,
    /// Other names.
    pub aliases: Vec<&'static str>,
    /// The network models that have it; empty if it does not depend on the model.
    pub carriers: Vec<Carrier>,
}

/// A network model that has a component.
#[derive(Clone, Debug)]
pub struct Carrier {
    /// The model.
    pub model: &'static ModelFamily,
    /// A routing, as the model carries it.
    pub routing: Option<&'static Carried>,
}

impl Member {
    /// A component that does not depend on the network model.
    fn new(component: &'static Component, aliases: &[&'static str]) -> Self {
        Self { component, aliases: aliases.to_vec(), carriers: Vec::new() }
    }

    /// True if this is its name or one of its other names.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.component.name == name || self.aliases.contains(&name)
    }

    /// True if a network model has it, or if it does not depend on the model.
    #[must_use]
    pub fn is_of(&self, model: &ModelFamily) -> bool {
        self.carriers.is_empty() || self.carrier(model).is_some()
    }

    /// The model among those that have it.
    fn carrier(&self, model: &ModelFamily) -> Option<&Carrier> {
        self.carriers.iter().find(|carrier| carrier.model.component.name == model.component.name)
    }
}

/// All kinds, with all their members.
#[must_use]
pub fn kinds() -> &'static [Kind] {
    static ALL: OnceLock<Vec<Kind>> = OnceLock::new();
    ALL.get_or_init(all)
}

/// All kinds, made from the tables.
fn all() -> Vec<Kind> {
    fn kind(name: &str, keys: &[&'static str], members: Vec<Member>) -> Kind {
        Kind { name: name.to_owned(), keys: keys.to_vec(), members }
    }
    fn rows<R: Described>(rows: &[&'static R]) -> Vec<Member> {
        rows.iter().map(|row| Member::new(row.component(), row.aliases())).collect()
    }
    fn plain(components: impl IntoIterator<Item = &'static Component>) -> Vec<Member> {
        components.into_iter().map(|component| Member::new(component, &[])).collect()
    }
    let mut kinds = vec![
        kind("networks", &["network"], rows(MODELS.rows())),
        kind("topologies", &["topology", "spec"], rows(TOPOLOGIES.rows())),
        kind("routings", &["routing"], routings()),
    ];
    kinds.extend(of_settings());
    let read = NETWORK_FORMATS.rows().iter().filter(|format| format.is_read());
    kinds.extend([
        kind("traffic", &["traffic"], rows(PATTERNS.rows())),
        kind("sums", &["traffic"], plain(traffic::components())),
        kind("temporal", &["temporal"], rows(PROCESSES.rows())),
        kind("sizes", &["size"], rows(SIZES.rows())),
        kind("kernels", &["kernel"], rows(KERNELS.rows())),
        kind("collectives", &[], [plain(collectives::RULES), rows(COLLECTIVES.rows())].concat()),
        kind("placements", &["placement"], rows(PLACEMENTS.rows())),
        kind("schedulers", &["scheduler"], plain(jobs::SCHEDULERS)),
        kind("allocations", &["allocation"], plain(jobs::ALLOCATIONS)),
        kind("energy-models", &["energy"], rows(ENERGY_MODELS.rows())),
        kind("formats", &[], rows(FORMATS.rows())),
        // Those that are known and not read are no components.
        kind("network-formats", &[], plain(read.map(|format| &format.component))),
    ]);
    kinds
}

/// Every network model that has routings, with those that it carries.
pub fn routings_of_models() -> &'static [(&'static ModelFamily, Vec<Carried>)] {
    static ALL: OnceLock<Vec<(&ModelFamily, Vec<Carried>)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let all = MODELS.rows().iter().map(|&model| (model, (model.routings)()));
        all.filter(|(_, carried)| !carried.is_empty()).collect()
    })
}

/// The routings that a network model carries; empty if it has none.
#[must_use]
pub fn routings_of(model: &ModelFamily) -> &'static [Carried] {
    let found = routings_of_models().iter().find(|(other, _)| other.component.name == model.component.name);
    found.map_or(&[], |(_, carried)| carried)
}

/// The routings of all models. A name with one definition is one member, whichever models carry it.
fn routings() -> Vec<Member> {
    let mut members: Vec<Member> = Vec::new();
    for (model, all) in routings_of_models() {
        for carried in all {
            let (component, aliases) = (carried.component, carried.aliases.clone());
            let carrier = Carrier { model, routing: Some(carried) };
            let is_same = |member: &&mut Member| {
                member.component.name == component.name && member.component.about == component.about
            };
            match members.iter_mut().find(is_same) {
                Some(member) => {
                    let new: Vec<_> = aliases.into_iter().filter(|alias| !member.aliases.contains(alias)).collect();
                    member.aliases.extend(new);
                    member.carriers.push(carrier);
                }
                None => members.push(Member { component, aliases, carriers: vec![carrier] }),
            }
        }
    }
    members
}

/// The kinds of the settings of network models whose values are components. Settings with the same values have one kind.
fn of_settings() -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for key in MODELS.rows().iter().flat_map(|model| model.keys) {
        let named = key.named();
        let Some(&(first, _)) = named.first() else { continue };
        if let Some(known) = kinds.iter_mut().find(|kind| std::ptr::eq(kind.members[0].component, first)) {
            known.keys.push(key.name);
            known.name = plural(&common_end(&known.keys));
            continue;
        }
        let models = MODELS.rows().iter().filter(|model| model.understands(key.name));
        let carriers: Vec<Carrier> = models.map(|&model| Carrier { model, routing: None }).collect();
        let member =
            |(component, aliases): (_, &[_])| Member { carriers: carriers.clone(), ..Member::new(component, aliases) };
        let name = key.table.map_or_else(|| plural(key.name), |table| table.kind.to_owned());
        kinds.push(Kind { name, keys: vec![key.name], members: named.into_iter().map(member).collect() });
    }
    kinds
}

/// The last words that all names have in common: `allocator` of `vc-allocator` and `switch-allocator`.
fn common_end(names: &[&str]) -> String {
    let words = |name: &str| name.split('-').rev().map(str::to_owned).collect::<Vec<_>>();
    let first = words(names[0]);
    let is_common = |at: usize| names.iter().all(|name| words(name).get(at) == Some(&first[at]));
    let common = (0..first.len()).take_while(|&at| is_common(at)).count().max(1);
    first[..common].iter().rev().cloned().collect::<Vec<_>>().join("-")
}

/// The plural of the name of a setting.
fn plural(name: &str) -> String {
    match name.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if name.ends_with("ss") => format!("{name}es"),
        None if name.ends_with('s') => name.to_owned(),
        None => format!("{name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component that a setting names and no list has would be known to the parser alone.
    #[test]
    fn every_component_of_every_model_stands_in_a_list() {
        let kinds = kinds();
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
        for name in [
            "presets",
            "allocators",
            "vc-classes",
            "ack-classes",
            "switchings",
            "transports",
            "port-stats",
            "arbitrations",
        ] {
            assert!(names.contains(&name), "{names:?}");
        }
        for model in MODELS.rows() {
            let has = |key: &str, name: &str| {
                let of_key = kinds.iter().filter(|kind| kind.keys.contains(&key));
                of_key.flat_map(|kind| &kind.members).any(|one| one.component.name == name && one.is_of(model))
            };
            assert!(has("network", model.component.name));
            for key in model.keys {
                assert!(key.named().iter().all(|(component, _)| has(key.name, component.name)), "{}", key.name);
            }
            assert!(routings_of(model).iter().all(|carried| has("routing", carried.component.name)));
            assert_eq!(routings_of(model).is_empty(), !model.understands("routing"), "{}", model.component.name);
        }
    }

    #[test]
    fn within_a_kind_and_a_model_a_name_means_one_component_for_each_topology() {
        for kind in kinds() {
            for (at, one) in kind.members.iter().enumerate() {
                for other in &kind.members[..at] {
                    let shares = |carrier: &Carrier| {
                        let both = other.carrier(carrier.model).and_then(|other| other.routing);
                        both.zip(carrier.routing).is_some_and(|(one, other)| {
                            one.topologies.iter().any(|topology| other.topologies.contains(topology))
                        })
                    };
                    let (name, same) = (one.component.name, one.component.name == other.component.name);
                    let apart = !one.carriers.is_empty() && !one.carriers.iter().any(shares);
                    assert!(!same || apart, "{name} means two {}", kind.name);
                }
            }
        }
    }
}
