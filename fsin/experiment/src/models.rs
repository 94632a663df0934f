//! The network model of an experiment: a row of the table of models, with its settings.

use std::sync::Arc;

use trgen::catalog::{ErrorKind, SpecError, suggestion};
use trgen::phrase;

use super::keys::{Key, keys};
use super::settings::{Origin, Settings, SettingsError, canonical};
use fsin_core::family::{ModelFamily, NetworkSpec};
use fsin_models::MODELS;

/// The model that a value of `network` names, if there is such a model: `vct`, `constant-delay:delay=1us`.
#[must_use]
pub fn named(word: &str) -> Option<&'static ModelFamily> {
    let name = word.split_once(':').map_or(word, |(name, _)| name);
    MODELS.iter().copied().find(|model| model.is_called(name))
}

/// The unit of load of the model that a value of `network` names; of the default model if the value names none.
#[must_use]
pub fn load_unit(word: &str) -> &'static str {
    named(word).unwrap_or(MODELS[0]).load_unit
}

/// The unit of load of several experiments: theirs, if they agree.
pub(super) fn shared_load_unit(mut units: impl Iterator<Item = &'static str>) -> &'static str {
    let first = units.next().unwrap_or(MODELS[0].load_unit);
    if units.all(|unit| unit == first) { first } else { "the unit of each network" }
}

/// The unit of load of experiment files.
pub(super) fn load_unit_of_files<'a>(files: impl Iterator<Item = &'a str>) -> &'static str {
    let network = |file: &str| Some(file.parse::<toml::Table>().ok()?.get("network")?.as_str()?.to_owned());
    shared_load_unit(files.map(|file| load_unit(&network(file).unwrap_or_default())))
}

/// The heading of a key as users read it: settings of models other than the default have one of their own.
#[must_use]
pub fn heading(key: &Key) -> String {
    let owner = MODELS.iter().skip(1).find(|model| model.keys.contains(key));
    match owner {
        Some(model) => format!("{} ({})", key.heading.title(), model.component.name),
        None => key.heading.title().to_owned(),
    }
}

/// True if some model understands this setting, so that it applies only to those that do.
#[must_use]
pub(super) fn is_of_models(key: &str) -> bool {
    MODELS.iter().any(|model| model.understands(key))
}

/// The network model of these settings.
pub(super) fn model(settings: &Settings) -> Result<&'static ModelFamily, SettingsError> {
    let word = settings.value("network").unwrap_or(MODELS[0].component.name);
    named(word).ok_or_else(|| {
        let known: Vec<&str> = MODELS.iter().map(|model| model.component.name).collect();
        let name = word.split(':').next().unwrap_or(word);
        let near = suggestion(name, &known);
        let what = phrase![["network"], " does not know `{name}`"];
        settings.placed("network", SpecError::new(ErrorKind::UnknownName, what, &near).given(name))
    })
}

/// Sets the parameters that follow the model's name, as if each had been set by itself.
pub(super) fn expand(settings: &mut Settings, model: &ModelFamily) -> Result<(), SettingsError> {
    let word = settings.word("network").to_owned();
    let Some((_, parameters)) = word.split_once(':') else { return Ok(()) };
    let origin = settings.origin("network");
    let mut given: Vec<&'static str> = Vec::new();
    for parameter in split(parameters) {
        let refused = |kind, what: String| {
            let names: Vec<&str> = model.short.iter().map(|&(name, _)| name).chain(model.names()).collect();
            let remedy =
                format!("write {}:{}=VALUE; it understands {}", model.component.name, names[0], names.join(", "));
            settings.error("network", kind, phrase![["network" => &word], ": {what}"], remedy)
        };
        let (name, value) = parameter.split_once('=').unwrap_or((&parameter, ""));
        let (name, value) = (name.trim(), value.trim());
        let short = model.short.iter().find(|(short, _)| *short == name).map_or(name, |&(_, key)| key);
        let Some(key) = keys().iter().find(|key| key.name == short && model.understands(short)) else {
            return Err(refused(ErrorKind::UnknownName, format!("`{name}` is no setting of {}", model.component.name)));
        };
        if value.is_empty() {
            return Err(refused(ErrorKind::Malformed, format!("`{name}` has no value")));
        }
        if given.contains(&key.name) {
            let what = phrase![["network" => &word], (": `{name}` stands twice")];
            return Err(settings.error("network", ErrorKind::Conflict, what, "give it once"));
        }
        given.push(key.name);
        let value = canonical(key.kind, value.to_owned());
        let before = settings.value(key.name).filter(|_| settings.is_set(key.name));
        match before.filter(|before| **before != value) {
            Some(before) if settings.origin(key.name) == origin => {
                let what = phrase![[key.name => before], ", and {value} in ", ["network" => &word]];
                return Err(settings.error(key.name, ErrorKind::Conflict, what, "give it once"));
            }
            // A flag overrides the environment, which overrides a file, whichever form they have.
            Some(_) if rank(&settings.origin(key.name)) > rank(&origin) => {}
            _ => settings.set(key.name, value, origin.clone())?,
        }
    }
    Ok(())
}

/// Precedence of an origin: a higher one overrides a lower one.
const fn rank(origin: &Origin) -> usize {
    match origin {
        Origin::Default => 0,
        Origin::File { .. } => 1,
        Origin::Environment => 2,
        Origin::Flag => 3,
    }
}

/// `name=value` parts; a comma within a value is part of it.
fn split(parameters: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in parameters.split(',').filter(|part| !part.is_empty()) {
        match parts.last_mut() {
            Some(last) if !part.contains('=') => {
                last.push(',');
                last.push_str(part);
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

/// The network that a model makes of settings.
pub(super) fn parse(settings: &Settings, model: &ModelFamily) -> Result<Arc<dyn NetworkSpec>, SettingsError> {
    (model.parse)(settings.values()).map_err(|refusal| {
        let key = refusal.setting().unwrap_or("network");
        settings.placed(key, refusal)
    })
}

/// The network of settings, whatever its traffic, with its model.
///
/// # Errors
/// The first setting that cannot be used.
pub fn network_of(mut settings: Settings) -> Result<(&'static ModelFamily, Arc<dyn NetworkSpec>), SettingsError> {
    let model = model(&settings)?;
    expand(&mut settings, model)?;
    Ok((model, parse(&settings, model)?))
}

/// Rejects flags that other models understand, and not this one.
pub(super) fn undeclared(settings: &Settings, model: &ModelFamily) -> Result<(), SettingsError> {
    let useless = |name: &str| settings.origin(name) == Origin::Flag && is_of_models(name) && !model.understands(name);
    let Some(key) = keys().iter().find(|key| useless(key.name)) else { return Ok(()) };
    let what = phrase![[key.name], " has no meaning with ", ["network" => model.component.name]];
    let other = MODELS.iter().find(|model| model.understands(key.name)).map_or("", |model| model.component.name);
    let remedy = phrase!["leave it out, or use ", ["network" => other]];
    Err(settings.error(key.name, ErrorKind::Meaningless, what, remedy))
}
