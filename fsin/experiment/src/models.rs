//! The network model of an experiment: a row of the table of models, with its settings.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use trgen::catalog::{ErrorKind, SpecError, suggestion};
use trgen::phrase;
use trgen::phrase::Phrase;

use super::foreign;
use super::keys::{Key, key, keys};
use super::settings::{Origin, Settings, SettingsError, canonical};
use fsin_core::family::{Carried, ModelFamily, NetworkSpec, Values};
use fsin_core::topology;
use fsin_core::words::joined;
use fsin_models::MODELS;

/// The model that a value of `network` names, if there is such a model: `vct`, `constant-delay:delay=1us`.
#[must_use]
pub fn named(word: &str) -> Option<&'static ModelFamily> {
    let name = word.split_once(':').map_or(word, |(name, _)| name);
    MODELS.find(name)
}

/// The unit of load of the model that a value of `network` names; of the default model if the value names none.
#[must_use]
pub fn load_unit(word: &str) -> &'static str {
    named(word).unwrap_or(MODELS.rows()[0]).load_unit
}

/// The unit of load of several experiments: theirs, if they agree.
pub(super) fn shared_load_unit(mut units: impl Iterator<Item = &'static str>) -> &'static str {
    let first = units.next().unwrap_or(MODELS.rows()[0].load_unit);
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
    let owner = MODELS.rows().iter().skip(1).find(|model| model.keys.iter().any(|own| own.name == key.name));
    match owner {
        Some(model) => format!("{} ({})", key.heading.title(), model.component.name),
        None => key.heading.title().to_owned(),
    }
}

/// True if some model understands this setting, so that it applies only to those that do.
#[must_use]
pub(super) fn is_of_models(key: &str) -> bool {
    // Each key of each experiment is looked up, again and again.
    static NAMES: OnceLock<HashSet<&str>> = OnceLock::new();
    NAMES.get_or_init(|| MODELS.rows().iter().flat_map(|model| model.names()).collect()).contains(key)
}

/// The network model of these settings.
pub(super) fn model(settings: &Settings) -> Result<&'static ModelFamily, SettingsError> {
    let word = settings.value("network").unwrap_or(MODELS.rows()[0].component.name);
    named(word).ok_or_else(|| {
        let known = MODELS.names();
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
    let parameters = split(parameters);
    if parameters.is_empty() {
        let what = phrase!["no setting follows the colon in ", ["network" => &word]];
        let remedy = phrase!["use ", ["network" => model.component.name], ", or write NAME=VALUE behind the colon"];
        return Err(settings.error("network", ErrorKind::Malformed, what, remedy));
    }
    for parameter in parameters {
        let refused = |kind, what: String| {
            let names: Vec<&str> = model.short.iter().map(|&(name, _)| name).chain(model.names()).collect();
            let remedy =
                format!("write {}:{}=VALUE; it understands {}", model.component.name, names[0], names.join(", "));
            settings.error("network", kind, phrase![["network" => &word], ": {what}"], remedy)
        };
        let (name, value) = parameter.split_once('=').unwrap_or((&parameter, ""));
        let (name, value) = (name.trim(), value.trim());
        let short = model.short.iter().find(|(short, _)| *short == name).map_or(name, |&(_, key)| key);
        let Some(key) = key(short).filter(|key| model.understands(key.name)) else {
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
        let value = canonical(key, value.to_owned());
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

/// Networks of earlier experiments, for those that differ in settings which play no part in the network: planning a
/// sweep over loads makes one network, however many points it has.
#[derive(Default, Debug)]
pub struct Networks {
    /// The latest ones, in the order in which they were made.
    made: VecDeque<Made>,
}

/// A network, and all that was read of the settings to make it.
#[derive(Debug)]
struct Made {
    model: &'static str,
    read: Vec<Read>,
    network: Arc<dyn NetworkSpec>,
}

/// What the settings say of a key.
#[derive(PartialEq, Eq, Debug)]
struct Read {
    name: String,
    value: Option<String>,
    /// True if the key is set, and set for this run in particular.
    is_set: [bool; 2],
    folder: PathBuf,
}

impl Read {
    fn new(values: &dyn Values, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            value: values.value(name).map(str::to_owned),
            is_set: [values.is_set(name), values.is_insisted(name)],
            folder: values.folder_of(name),
        }
    }

    /// True if other settings say the same.
    fn is_same(&self, values: &dyn Values) -> bool {
        let Self { name, value, is_set, folder } = self;
        values.value(name) == value.as_deref()
            && [values.is_set(name), values.is_insisted(name)] == *is_set
            && values.folder_of(name) == *folder
    }
}

impl Networks {
    /// Maximum number of networks that are kept: the seeds of a point, or a few values of an axis.
    const MOST: usize = 64;

    /// The network that a model makes of settings, made once for all settings that agree in what is read of them.
    ///
    /// # Errors
    /// The first setting that cannot be used.
    pub(super) fn parse(
        &mut self,
        settings: &Settings,
        model: &'static ModelFamily,
    ) -> Result<Arc<dyn NetworkSpec>, SettingsError> {
        let values = settings.values();
        let is_same =
            |made: &&Made| made.model == model.component.name && made.read.iter().all(|read| read.is_same(values));
        if let Some(made) = self.made.iter().rev().find(is_same) {
            return Ok(Arc::clone(&made.network));
        }
        let recorded = Recorded { values, names: RefCell::default() };
        let network = (model.parse)(&recorded).map_err(|refusal| {
            let key = refusal.setting().unwrap_or("network");
            let refusal = match key {
                "routing" => carried_elsewhere(model, values, refusal),
                "topology" => of_another_kind(values, refusal),
                _ => refusal,
            };
            settings.placed(key, refusal)
        })?;
        let read = recorded.names.into_inner().iter().map(|name| Read::new(values, name)).collect();
        if self.made.len() == Self::MOST {
            self.made.pop_front();
        }
        self.made.push_back(Made { model: model.component.name, read, network: Arc::clone(&network) });
        Ok(network)
    }
}

/// The refusal of a file that is no network: it names what takes the file, if that is known.
fn of_another_kind(values: &dyn Values, refusal: SpecError) -> SpecError {
    let file = values.value("topology").and_then(topology::file).map(|path| values.folder_of("topology").join(path));
    match file.and_then(|file| foreign::taken_by(&file, foreign::Kind::Network)) {
        Some(remedy) => SpecError::new(refusal.kind(), refusal.what().clone(), remedy).of("topology"),
        None => refusal,
    }
}

/// The refusal of a routing that a model does not have in the topology: it names the models that have it there, if some do.
fn carried_elsewhere(model: &ModelFamily, values: &dyn Values, refusal: SpecError) -> SpecError {
    // A model that knows what does it instead says so itself.
    if refusal.kind() == ErrorKind::Unsupported {
        return refusal;
    }
    let (Some(word), Some(topology)) = (values.value("routing"), values.value("topology")) else { return refusal };
    let network = topology.split(':').next().unwrap_or(topology);
    let has = |model: &ModelFamily| {
        let is_meant = |carried: &Carried| carried.component.name == word || carried.aliases.contains(&word);
        (model.routings)().iter().any(|carried| is_meant(carried) && carried.topologies.contains(&network))
    };
    let others: Vec<&str> = MODELS.rows().iter().filter(|other| has(other)).map(|other| other.component.name).collect();
    let name = model.component.name;
    let Some(first) = others.first().filter(|_| !others.contains(&name)) else { return refusal };
    let verb = if others.len() == 1 { "carries" } else { "carry" };
    let what = phrase![
        ["routing" => word],
        (" is no routing of {name} in {topology}; {} {verb} it", joined(&others, "and"))
    ];
    let own: Vec<&str> = (model.routings)()
        .iter()
        .filter(|carried| carried.topologies.contains(&network))
        .map(|carried| carried.component.name)
        .collect();
    let remedy = phrase!["use ", ["network" => first], (", or with {name}: {}", joined(&own, "or"))];
    SpecError::new(refusal.kind(), what, remedy).of("routing")
}

/// Values that keep which of them are read.
struct Recorded<'a> {
    values: &'a dyn Values,
    names: RefCell<BTreeSet<String>>,
}

impl Recorded<'_> {
    fn record(&self, name: &str) {
        if !self.names.borrow().contains(name) {
            self.names.borrow_mut().insert(name.to_owned());
        }
    }
}

impl Values for Recorded<'_> {
    fn key(&self, name: &str) -> Option<&'static Key> {
        self.values.key(name)
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.record(name);
        self.values.value(name)
    }

    fn is_set(&self, name: &str) -> bool {
        self.record(name);
        self.values.is_set(name)
    }

    fn is_insisted(&self, name: &str) -> bool {
        self.record(name);
        self.values.is_insisted(name)
    }

    fn folder_of(&self, name: &str) -> PathBuf {
        self.record(name);
        self.values.folder_of(name)
    }

    fn text(&self, path: &Path, most: u64) -> io::Result<String> {
        self.values.text(path, most)
    }

    fn unit(&self, name: &str) -> &'static str {
        self.values.unit(name)
    }

    fn classes_of_jobs(&self) -> u8 {
        self.record("job-mix");
        self.values.classes_of_jobs()
    }

    fn write(&self, name: &'static str, value: &str) -> Phrase {
        self.values.write(name, value)
    }
}

/// The network of settings, whatever its traffic, with its model.
///
/// # Errors
/// The first setting that cannot be used.
pub fn network_of(mut settings: Settings) -> Result<(&'static ModelFamily, Arc<dyn NetworkSpec>), SettingsError> {
    let model = model(&settings)?;
    expand(&mut settings, model)?;
    let network = Networks::default().parse(&settings, model)?;
    Ok((model, network))
}

/// The names of the rate of links.
const RATES: [&str; 2] = ["link-rate", "bandwidth"];

/// Rejects flags that other models understand, and not this one.
pub(super) fn undeclared(settings: &Settings, model: &ModelFamily) -> Result<(), SettingsError> {
    let useless = |name: &str| settings.origin(name) == Origin::Flag && is_of_models(name) && !model.understands(name);
    let Some(key) = keys().iter().find(|key| useless(key.name)) else { return Ok(()) };
    let what = phrase![[key.name], " has no meaning with ", ["network" => model.component.name]];
    let other = MODELS.rows().iter().find(|model| model.understands(key.name)).map_or("", |model| model.component.name);
    // The rate of links has two names: models that count cycles take what a cycle carries.
    let alike = RATES.iter().find(|&&name| RATES.contains(&key.name) && model.understands(name));
    let remedy = match alike {
        // The paths of a model without routings.
        None if key.name == "routing" && model.understands("spread") => {
            let spread = match settings.word("routing") {
                "oblivious" => "round-robin",
                "adaptive" => "adaptive",
                _ => "ecmp",
            };
            phrase!["leave it out: frames take shortest paths, chosen by ", ["spread" => spread], ", or use ", ["network" => other]]
        }
        Some(&name) => phrase!["leave it out, or use ", [name], ", or ", ["network" => other]],
        None => phrase!["leave it out, or use ", ["network" => other]],
    };
    Err(settings.error(key.name, ErrorKind::Meaningless, what, remedy))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Planning cost: experiments that differ in loads alone share one network.
    #[test]
    fn networks_are_made_once_for_what_is_read_of_settings() {
        let mut networks = Networks::default();
        let mut made = |pairs: &[(&str, &str)]| {
            let mut settings = Settings::default();
            for &(name, value) in pairs {
                settings.set(name, value, Origin::Flag).unwrap();
            }
            let model = model(&settings).unwrap();
            expand(&mut settings, model).unwrap();
            networks.parse(&settings, model).unwrap()
        };
        for network in ["vct", "wormhole", "ethernet", "myrinet"] {
            let base = [("network", network), ("topology", "torus:4x4")];
            let one = made(&[&base[..], &[("load", "0.1")]].concat());
            let other = made(&[&base[..], &[("load", "0.2")]].concat());
            assert!(Arc::ptr_eq(&one, &other), "{network}");
            let third = made(&[("network", network), ("topology", "torus:4x5"), ("load", "0.1")]);
            assert!(!Arc::ptr_eq(&one, &third), "{network}");
        }
        let base = [("network", "ethernet"), ("topology", "torus:4x4")];
        let usual = made(&base);
        for more in [("port-queue", "7"), ("seed", "2")] {
            assert!(!Arc::ptr_eq(&usual, &made(&[&base[..], &[more]].concat())), "{more:?}");
        }
    }
}
