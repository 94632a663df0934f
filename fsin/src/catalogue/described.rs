//! Components as data, for programs that list and explain them.

use fsin_core::family::{Carried, Discipline, ModelFamily};
use fsin_experiment::named;
use fsin_models::wormhole::components::preset_values;
use serde_json::{Map, Value, json};
use trgen::phrase::{Notation, Phrase};

use super::{Kind, Member, routings_of_models};

/// By model: the names of its routings for a topology, the default first. Models without a routing for it are left out.
#[must_use]
pub fn routings_for(topology: &str) -> Vec<(&'static str, Vec<&'static str>)> {
    let of_model = |(model, all): &(&'static ModelFamily, Vec<Carried>)| {
        let mut carried: Vec<&Carried> = all.iter().filter(|one| one.topologies.contains(&topology)).collect();
        carried.sort_by_key(|routing| !routing.default_of.contains(&topology));
        (model.component.name, carried.iter().map(|routing| routing.component.name).collect::<Vec<_>>())
    };
    routings_of_models().iter().map(of_model).filter(|(_, routings)| !routings.is_empty()).collect()
}

/// A component as JSON: its definition, parameters and settings, as `fsin list --format json` prints it. Texts name settings
/// in the `notation`.
#[must_use]
pub fn described(kind: &Kind, member: &Member, notation: &dyn Notation) -> Value {
    let of_table = |text: &'static str| Phrase::of_template(text).written(notation);
    let component = member.component;
    let parameters: Vec<Value> = component
        .parameters
        .iter()
        .map(|parameter| {
            json!({
                "name": parameter.name,
                "about": of_table(parameter.about),
                "range": parameter.range,
                "default": (!parameter.default.is_empty()).then(|| of_table(parameter.default)),
            })
        })
        .collect();
    let mut object = Map::new();
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    add("family", json!(kind.name));
    add("name", json!(component.name));
    add("about", json!(of_table(component.about)));
    add("also_called", json!(member.aliases));
    add("parameters", json!(parameters));
    if !member.carriers.is_empty() {
        add("networks", json!(member.carriers.iter().map(|one| one.model.component.name).collect::<Vec<_>>()));
    }
    let carried = member.carriers.iter().filter_map(|one| Some((one.model, one.routing?)));
    let carried: Vec<Value> = carried
        .map(|(model, routing)| {
            json!({
                "network": model.component.name,
                "topologies": routing.topologies,
                "default_of": routing.default_of,
                "channels": routing.channels,
            })
        })
        .collect();
    if !carried.is_empty() {
        add("carried", json!(carried));
    }
    if let Some(model) = named(component.name).filter(|_| kind.name == "networks") {
        let settings = model.keys.iter().map(|key| {
            json!({
                "name": key.name,
                "about": of_table(key.about),
                "unit": key.unit,
                "default": model.default_of(key.name).or(key.default),
                "values": key.named().iter().map(|(one, _)| one.name).collect::<Vec<_>>(),
            })
        });
        add("settings", json!(settings.collect::<Vec<_>>()));
        let Discipline { order, sharing, busy } = model.discipline;
        add("in_order", json!(of_table(order)));
        add("shares", json!(of_table(sharing)));
        add("busy", json!(of_table(busy)));
        add("unit_of_load", json!(model.load_unit));
        add("understands_also", json!(model.shared));
    }
    if kind.name == "topologies" {
        let routings = routings_for(component.name).into_iter();
        add("routings", Value::Object(routings.map(|(model, names)| (model.to_owned(), json!(names))).collect()));
    }
    if kind.keys.contains(&"preset") {
        let sets = preset_values(component.name).into_iter();
        add("sets", Value::Object(sets.map(|(key, value)| (key.to_owned(), json!(value))).collect()));
    }
    add("source", json!(component.source));
    Value::Object(object)
}
