//! The head of the page: the simulated experiments and their settings.

use maud::{Markup, html};
use trgen::phrase::{Notation, Phrase};

use super::super::sources;
use fsin_core::words::counted;
use fsin_experiment::sweep::{Collected, Plan, inputs};
use fsin_experiment::{Key, canonical, keys};

/// Settings that are shown even if they have their default values.
const ALWAYS: &[&str] = &["topology", "routing", "vcs", "packet", "traffic", "load", "seed"];

/// A setting of the results with all its values.
struct Setting {
    /// The key of the setting.
    key: &'static Key,
    /// The values, in the order of occurrence.
    values: Vec<String>,
    /// Unit of the values; empty if there is none.
    unit: &'static str,
}

impl Setting {
    /// True if the setting has one value and this is the default.
    fn is_default(&self) -> bool {
        matches!((&self.values[..], self.key.default), ([one], Some(default))
            if canonical(self.key, default.to_owned()) == canonical(self.key, one.clone()))
    }

    /// The values in words, with their unit.
    fn words(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        format!("{}{unit}", self.values.join(", "))
    }
}

/// The settings of the results, in the order of the keys.
fn settings(collected: &Collected) -> Vec<Setting> {
    let inputs = inputs(&collected.rows);
    let setting = |key: &'static Key| {
        let (_, values) = inputs.iter().find(|(name, _)| name == key.name)?;
        let unit = if key.name == "load" { collected.load_unit() } else { key.unit };
        Some(Setting { key, values: values.clone(), unit })
    };
    keys().iter().filter_map(setting).collect()
}

/// The simulated experiments in one line: `bubble:smart and dally:trc on torus:8x8 under uniform traffic`. If the
/// results do not say what was simulated, this is `name`.
pub(super) fn title(collected: &Collected, name: &str) -> String {
    let settings = settings(collected);
    let values = |key: &str, many: &str| -> Option<String> {
        let setting = settings.iter().find(|setting| setting.key.name == key)?;
        Some(match &setting.values[..] {
            [] => return None,
            [one] => one.clone(),
            [one, other] => format!("{one} and {other}"),
            more => format!("{} {many}", more.len()),
        })
    };
    let network = [values("routing", "routings"), values("topology", "topologies").map(|value| format!("on {value}"))];
    let traffic = values("trace", "traces")
        .map(|value| format!("running {value}"))
        .or_else(|| values("kernel", "kernels").map(|value| format!("running {value}")))
        .or_else(|| values("flows", "lists of flows").map(|value| format!("under the flows of {value}")))
        .or_else(|| values("job-mix", "mixes of jobs").map(|value| format!("running {value}")))
        .or_else(|| values("traffic", "kinds of").map(|value| format!("under {value} traffic")));
    let parts: Vec<String> = network.into_iter().chain([traffic]).flatten().collect();
    match parts.join(" ") {
        nothing if nothing.is_empty() => name.to_owned(),
        title => title.strip_prefix("on ").map(str::to_owned).unwrap_or(title),
    }
}

/// The line below the title: folder, number of runs and points, sources, build.
pub(super) fn summary(name: &str, plan: &Plan, collected: &Collected) -> String {
    let runs = counted(collected.rows.len(), "run", "runs");
    let out_of = match plan.points.len() {
        all if all == collected.rows.len() => String::new(),
        all => format!(" of {all}"),
    };
    let seeds = plan.axis("seed").map(|at| plan.axes[at].values.len()).filter(|&seeds| seeds > 1);
    let points =
        |seeds: usize| format!(": {} with {seeds} seeds each", counted(plan.points.len() / seeds, "point", "points"));
    let mut parts = vec![name.to_owned(), format!("{runs}{out_of}{}", seeds.map_or(String::new(), points))];
    parts.extend(Some(sources(collected)).filter(|sources| !sources.is_empty()));
    let builds = inputs(&collected.rows).into_iter().find(|(key, _)| key == "fsin");
    parts.extend(builds.map(|(_, builds)| format!("fsin {}", builds.join(", "))));
    parts.join(" · ")
}

/// The settings: the varying ones, and the fixed ones; most defaults are collapsed.
pub(super) fn section(plan: &Plan, collected: &Collected, notation: &dyn Notation) -> Markup {
    let all = settings(collected);
    let varies = |setting: &Setting| plan.axis(setting.key.name).is_some() || setting.values.len() > 1;
    let line = |setting: &Setting| {
        let about = Phrase::of_template(setting.key.about).written(notation);
        html! { dt title=(about) { (setting.key.name) } dd { (setting.words()) } }
    };
    let (varied, fixed): (Vec<&Setting>, Vec<&Setting>) = all.iter().partition(|setting| varies(setting));
    let is_collapsed = |setting: &&Setting| setting.is_default() && !ALWAYS.contains(&setting.key.name);
    let (defaults, set): (Vec<&Setting>, Vec<&Setting>) = fixed.into_iter().partition(is_collapsed);
    html! {
        @if !all.is_empty() {
            section.settings {
                h2 { "Settings" }
                div.lists {
                    @for (heading, settings) in [("Varied", &varied), ("Fixed", &set)] {
                        @if !settings.is_empty() {
                            div {
                                h3 { (heading) }
                                dl { @for setting in settings { (line(setting)) } }
                            }
                        }
                    }
                }
                @if !defaults.is_empty() {
                    details {
                        summary { (counted(defaults.len(), "setting", "settings")) " as by default" }
                        dl { @for setting in &defaults { (line(setting)) } }
                    }
                }
            }
        }
    }
}

/// True if the results are of traffic with a load, and the load varies.
pub(super) fn goes_along_loads(plan: &Plan) -> bool {
    plan.axis("load").is_some_and(|at| plan.axes[at].values.len() > 1)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use fsin_experiment::sweep::Row;

    fn results(experiments: &[Value]) -> Collected {
        let row = |experiment: &Value| {
            let result = json!({ "experiment": experiment });
            Row { index: 0, result: serde_json::from_value(result).expect("it is a result") }
        };
        Collected { rows: experiments.iter().map(row).collect(), ..Collected::default() }
    }

    #[test]
    fn titles_say_what_was_simulated() {
        let of =
            |routing: &str, traffic: &str| json!({"topology": "torus:8x8", "routing": routing, "traffic": traffic});
        let one = results(&[of("bubble:smart", "uniform")]);
        assert_eq!(title(&one, "r"), "bubble:smart on torus:8x8 under uniform traffic");
        let two = results(&[of("bubble:smart", "uniform"), of("dally:trc", "uniform")]);
        assert_eq!(title(&two, "r"), "bubble:smart and dally:trc on torus:8x8 under uniform traffic");
        let many = results(&[of("a", "uniform"), of("b", "tornado"), of("c", "transpose")]);
        assert_eq!(title(&many, "r"), "3 routings on torus:8x8 under 3 kinds of traffic");
        let traced = results(&[json!({"topology": "torus:4", "trace": "there/a.trc"})]);
        assert_eq!(title(&traced, "r"), "torus:4 running a.trc");
        assert_eq!(title(&results(&[json!({})]), "r"), "r");
    }
}
