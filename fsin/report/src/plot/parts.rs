//! Distribution of curves over pictures.

use fsin_experiment::sweep::{Curve, Curves};
use fsin_experiment::{Heading, key};

/// Maximum number of curves of one picture: more cannot be distinguished.
pub(super) const MOST_CURVES: usize = 8;

/// Settings and their values.
type Fixed = Vec<(String, String)>;

/// The curves of one picture, or of several pictures if there are too many curves.
pub(super) struct Part<'a> {
    /// The curves of all parts.
    all: &'a Curves,
    /// The settings that distinguish this part from the others.
    pub(super) fixed: Fixed,
    /// The curves of this part.
    pub(super) curves: Vec<&'a Curve>,
}

impl Part<'_> {
    /// The text that distinguishes a curve from others of this part.
    pub(super) fn label(&self, curve: &Curve) -> String {
        self.all.named(&curve.settings.iter().filter(|setting| !self.is_shared(setting)).cloned().collect::<Vec<_>>())
    }

    /// The text that distinguishes a curve from all others.
    pub(super) fn named(&self, curve: &Curve) -> String {
        self.all.named(&curve.settings)
    }

    /// A value of the axis, for readers.
    pub(super) fn word(&self, value: &str) -> String {
        if self.all.numeric { value.to_owned() } else { self.all.word(&self.all.axis, value) }
    }

    /// True if all curves of this part have this setting.
    fn is_shared(&self, setting: &(String, String)) -> bool {
        self.curves.iter().all(|curve| curve.settings.contains(setting))
    }

    /// The varying settings that have the same value in all curves of this part, as text.
    pub(super) fn heading(&self) -> String {
        let settings = self.curves.iter().take(1).flat_map(|curve| &curve.settings);
        self.all.named(&settings.filter(|setting| self.is_shared(setting)).cloned().collect::<Vec<_>>())
    }

    /// The distinguishing settings, for a file name: their first hundred letters.
    pub(super) fn slug(&self) -> String {
        slug(&self.all.legend(&self.fixed))
    }
}

/// Words as a part of a file name: their first hundred letters.
pub(crate) fn slug(words: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let slug: String = words.to_lowercase().chars().map(plain).take(100).collect();
    slug.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// The curves, divided by the values of the selected settings. Without a selection they stay together or, if there are
/// too many, are divided into as few parts as possible; among equally few, settings other than those of routers divide
/// them.
pub(super) fn parts(curves: &Curves) -> Vec<Part<'_>> {
    if !curves.each.is_empty() {
        return divided_by(curves, &curves.each);
    }
    let whole = divided_by(curves, &[]);
    if curves.curves.len() <= MOST_CURVES {
        return whole;
    }
    let keys: Vec<&String> =
        curves.curves.iter().take(1).flat_map(|curve| &curve.settings).map(|(key, _)| key).collect();
    // The name of results, which has no key, does not separate parts: results are compared within a picture.
    let keys: Vec<&String> = keys.into_iter().filter(|key| !key.is_empty()).collect();
    let choices = (1..1usize << keys.len().min(16)).map(|choice| {
        let is_chosen = |at: &usize| choice >> at & 1 != 0;
        (0..keys.len()).filter(is_chosen).map(|at| keys[at].clone()).collect::<Vec<_>>()
    });
    let fits = |parts: &Vec<Part<'_>>| {
        let largest = parts.iter().map(|part| part.curves.len()).max().unwrap_or(0);
        (2..=MOST_CURVES).contains(&largest)
    };
    let of_routers = |name: &String| name != "topology" && key(name).is_some_and(|key| key.heading == Heading::Network);
    let parts = choices.map(|keys| (keys.iter().filter(|key| of_routers(key)).count(), divided_by(curves, &keys)));
    let best = parts.filter(|(_, parts)| fits(parts)).min_by_key(|(of_routers, parts)| (parts.len(), *of_routers));
    best.map_or(whole, |(_, parts)| parts)
}

/// The curves, divided by the values of some settings, in the order of the curves.
fn divided_by<'a>(curves: &'a Curves, keys: &[String]) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'a>> = Vec::new();
    for curve in &curves.curves {
        let fixed: Fixed = curve.settings.iter().filter(|(key, _)| keys.contains(key)).cloned().collect();
        match parts.iter_mut().find(|part| part.fixed == fixed) {
            Some(part) => part.curves.push(curve),
            None => parts.push(Part { all: curves, fixed, curves: vec![curve] }),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves(axes: &[(&str, usize)], each: &[&str]) -> Curves {
        let mut all: Vec<Fixed> = vec![Vec::new()];
        for &(key, values) in axes {
            let with = |settings: &Fixed| {
                let settings = settings.clone();
                (0..values).map(move |value| [settings.clone(), vec![(key.to_owned(), format!("v{value}"))]].concat())
            };
            all = all.iter().flat_map(with).collect();
        }
        let curve = |settings: Fixed| Curve { label: String::new(), settings, spots: Vec::new(), is_baseline: false };
        Curves {
            axis: "load".to_owned(),
            numeric: true,
            is_along: true,
            curves: all.into_iter().map(curve).collect(),
            each: each.iter().map(|&key| key.to_owned()).collect(),
            only: String::new(),
            names: Vec::new(),
            axes: Vec::new(),
        }
    }

    fn sizes(curves: &Curves) -> Vec<(String, usize)> {
        parts(curves).iter().map(|part| (part.slug(), part.curves.len())).collect()
    }

    #[test]
    fn as_few_pictures_as_can_be_read() {
        let few = curves(&[("routing", 2), ("traffic", 4)], &[]);
        assert_eq!(sizes(&few), [(String::new(), 8)]);
        let many = curves(&[("routing", 4), ("traffic", 3)], &[]);
        assert_eq!(sizes(&many), ["v0", "v1", "v2"].map(|value| (value.to_owned(), 4)));
        assert_eq!(parts(&many)[0].label(&many.curves[0]), "v0");
        assert_eq!(parts(&many)[1].fixed, [("traffic".to_owned(), "v1".to_owned())]);
        let single = curves(&[("vcs", 1), ("traffic", 3)], &[]);
        assert_eq!(
            (parts(&single)[0].heading(), parts(&single)[0].label(&single.curves[1])),
            ("vcs v0".into(), "v1".into())
        );
        let like = curves(&[("routing", 3), ("traffic", 3)], &[]);
        assert_eq!(parts(&like)[0].fixed, [("traffic".to_owned(), "v0".to_owned())], "routings are compared");
        let more = curves(&[("topology", 3), ("routing", 3), ("traffic", 3)], &[]);
        assert_eq!(sizes(&more).len(), 9);
        // A single setting with many values cannot be divided.
        assert_eq!(sizes(&curves(&[("routing", 12)], &[])), [(String::new(), 12)]);
    }

    #[test]
    fn pictures_that_are_asked_for() {
        let asked = curves(&[("routing", 4), ("traffic", 3)], &["routing"]);
        assert_eq!(sizes(&asked).len(), 4);
        assert_eq!(sizes(&curves(&[("vcs", 2), ("traffic", 3)], &["vcs"]))[1], ("vcs-v1".to_owned(), 3));
    }
}
