//! Heat maps as separate pictures.

use serde_json::Value as Json;

use super::paint::{Scale, ramp};
use super::{LETTERS, Map, Net, WIDTH, loads, most_informative, most_informative_rows, words};
use crate::Picture;
use crate::lines::in_lines;
use crate::plot::{free_name, slug};
use crate::svg::escape;
use fsin_experiment::sweep::{Collected, Curves, Plan};

/// Maximum number of maps of a sweep.
const MOST_MAPS: usize = 64;

/// Where the colours of bars come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Paint {
    /// Bars have the class of their step; the style sheet of a page sets the colours.
    Class,
    /// Bars have explicit colours.
    Colour,
}

impl Paint {
    /// The attribute of a bar of this step.
    pub(super) fn of(self, step: usize) -> String {
        match self {
            Self::Class => format!("class=\"h{step}\""),
            Self::Colour => format!("fill=\"{}\"", ramp(false)[step]),
        }
    }
}

/// A map as SVG, with its legend. `title` is written above it, in as many lines as it needs.
pub(crate) fn svg(map: &Map, loads: &[f64], scale: Scale, title: &str, paint: Paint) -> String {
    let title = in_lines(title, 0.96 * WIDTH, LETTERS);
    let top = if title.is_empty() { 0.0 } else { (0.3 + 1.3 * title.len() as f64) * LETTERS };
    let (legend, below) = scale.legend(top + map.height + 0.5 * LETTERS, map.pairs, paint);
    let height = top + map.height + below + 0.5 * LETTERS;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
         height=\"{height:.0}\">\n"
    );
    if paint == Paint::Colour {
        svg.push_str(&format!("<rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"#FFFFFF\"/>\n"));
    }
    for (number, line) in title.iter().enumerate() {
        let y = (0.8 + 1.3 * number as f64) * LETTERS;
        svg.push_str(&words(&escape(line), (WIDTH / 2.0, y), "middle", false));
    }
    svg.push_str(&format!("<g transform=\"translate(0 {top:.1})\">\n{}<g class=\"loads\">\n", map.behind));
    let colours: Vec<String> = (0..super::STEPS).map(|step| paint.of(step)).collect();
    for (bar, &load) in map.bars.iter().zip(loads) {
        svg.push_str(&format!(
            "<rect {} x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\n",
            colours[scale.step(load)],
            bar.x,
            bar.y,
            bar.width,
            bar.height
        ));
    }
    svg + "</g>\n</g>\n" + &legend + "</svg>\n"
}

/// Heat maps, for results with link loads: of the highest load that each curve carried, or of every spot of curves that
/// are not over loads. All have the same scale. Also returns the number of maps omitted because there are too many, or
/// because their networks are too large.
#[must_use]
pub fn link_pictures(plan: &Plan, curves: &Curves, collected: &Collected) -> (Vec<Picture>, usize) {
    let rows = most_informative_rows(curves, collected);
    let all = rows.len();
    let drawn: Vec<(usize, Net, Map, Vec<f64>)> = rows
        .into_iter()
        .filter_map(|row| {
            let experiment = plan.points[collected.rows[row].index].resolve().ok()?;
            let net = Net::of(&**experiment.topology()?);
            let loads = loads(&net, &collected.rows[row].result)?;
            let map = Map::of(&net)?;
            Some((row, net, map, loads))
        })
        .take(MOST_MAPS)
        .collect();
    let scale = Scale::up_to(drawn.iter().flat_map(|drawn| &drawn.3).copied().fold(0.0, f64::max));
    let many = drawn.len() > 1;
    let picture = |(row, net, map, loads): (usize, Net, Map, Vec<f64>)| {
        let title =
            most_informative(curves).into_iter().find(|(_, spot)| spot.rows.contains(&row)).map(|(curve, spot)| {
                let at = if !curves.is_along {
                    String::new()
                } else if curves.numeric {
                    format!("{} {}", curves.axis, spot.word)
                } else {
                    spot.word.clone()
                };
                [curve.label.clone(), at].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ")
            });
        let title = title.unwrap_or_default();
        Picture {
            kind: "links",
            name: if many { format!("links-{}", slug(&title)) } else { "links".to_owned() },
            caption: if title.is_empty() { "Load of links".to_owned() } else { format!("Load of links, {title}") },
            hidden: String::new(),
            svg: svg(&map, &loads, scale, &title, Paint::Colour),
            pgf: None,
            data: data(&net, &loads),
            hints: Vec::new(),
        }
    };
    let mut pictures: Vec<Picture> = Vec::new();
    for one in drawn {
        let mut one = picture(one);
        one.name = free_name(one.name, &pictures);
        pictures.push(one);
    }
    let others = all - pictures.len();
    (pictures, others)
}

/// The loads of a map, as CSV.
fn data(net: &Net, loads: &[f64]) -> String {
    let mut text = "from,to,port,kind,load_phits_per_cycle\n".to_owned();
    for (link, &load) in net.links.iter().zip(loads) {
        let kind = &net.classes[link.class];
        text.push_str(&format!("{},{},{},{kind},{}\n", link.from, link.to, link.port, Json::from(load)));
    }
    text
}
