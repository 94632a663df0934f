//! Link loads of a network, as heat maps.
//!
//! Tori and meshes of up to three dimensions are drawn as they are, plane by plane; other networks as an adjacency
//! matrix. A load is the utilization of a link, \[phits/cycle\]: 1 is its capacity. It is computed from the packets
//! whose header crossed during the measurement, so a link that was always busy may show a packet more or less.

mod matrix;
mod net;
mod paint;
mod picture;
mod planes;

pub(super) use net::Net;
pub(super) use paint::{STEPS, Scale, ramp};
pub use picture::link_pictures;
pub(super) use picture::{Paint, svg};

use crate::letters::width;
use fsin_experiment::result::{Figure, RunResult};
use fsin_experiment::sweep::{Collected, Curve, Curves, Row, Spot};

/// Maximum number of links to draw one by one; larger networks have tables only.
const MOST_LINKS: usize = 8192;

/// A link in the picture: a rectangle. Lengths are in units.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Bar {
    /// \[units\] Left edge.
    x: f64,
    /// \[units\] Upper edge.
    y: f64,
    width: f64,
    height: f64,
}

/// Positions of a network's links in a picture.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Map {
    /// \[units\] Total height, without the legend.
    height: f64,
    /// The background as SVG: routers, lines, words.
    behind: String,
    /// The rectangles of all links, in the order of [`Net::links`].
    bars: Vec<Bar>,
    /// How to read the picture.
    pub(super) reading: &'static str,
    /// True if the two links of a pair are drawn side by side, which the legend then explains.
    pairs: bool,
}

/// \[units\] Width of every picture.
pub(super) const WIDTH: f64 = 1000.0;
/// \[units\] Height of letters: 34 units are 8 points at half the width of a page (85 mm).
pub(super) const LETTERS: f64 = 34.0;

impl Map {
    /// The picture of a network; `None` if it is too large.
    pub(super) fn of(net: &Net) -> Option<Self> {
        if net.links.len() > MOST_LINKS {
            return None;
        }
        planes::map(net).or_else(|| matrix::map(net))
    }
}

/// \[units\] The middle of a text at `x` that must not leave the picture to the left or right.
pub(super) fn within(x: f64, text: &str) -> f64 {
    let half = width(text, LETTERS) / 2.0 + 3.0;
    x.min(WIDTH - half).max(half)
}

/// Text on a picture, as SVG.
pub(super) fn words(text: &str, (x, y): (f64, f64), anchor: &str, turned: bool) -> String {
    let turn = if turned { format!(" transform=\"rotate(-90 {x:.0} {y:.0})\"") } else { String::new() };
    format!(
        "<text x=\"{x:.0}\" y=\"{y:.0}\" dy=\"0.35em\" text-anchor=\"{anchor}\" font-family=\"sans-serif\" \
         font-size=\"{LETTERS}\" fill=\"#000000\"{turn}>{text}</text>\n"
    )
}

/// The most informative spots, each with its curve. Of a curve over loads it is the highest load that the network
/// carried, near its limit; of other curves, all spots.
fn most_informative(curves: &Curves) -> Vec<(&Curve, &Spot)> {
    let chosen_spots = |curve: &'_ Curve| -> Vec<usize> {
        match curve.spots.iter().take_while(|spot| !spot.saturated).count() {
            carried if curves.axis == "load" => vec![carried.saturating_sub(1)],
            _ => (0..curve.spots.len()).collect(),
        }
    };
    let spots = |curve| chosen_spots(curve).into_iter().filter_map(move |at| Some((curve, curve.spots.get(at)?)));
    curves.curves.iter().flat_map(spots).collect()
}

/// \[phits/cycle\] The load of each link, in the order of [`Net::links`]; `None` if the result lacks link loads.
pub(super) fn loads(net: &Net, result: &RunResult) -> Option<Vec<f64>> {
    let packets = result.link_packets.as_ref()?;
    // The load of a packet is computed from the most loaded link, since models differ in the size of a packet.
    let most = packets.iter().flatten().flatten().max().copied().unwrap_or(0);
    let of_most = result.number(Figure::LinkLoadMax)?;
    let of_one = if most > 0 { of_most / most as f64 } else { 0.0 };
    let load = |link: &net::Link| Some((*packets.get(link.from)?.get(link.port)?)? as f64 * of_one);
    net.links.iter().map(load).collect()
}

/// Indices in [`Collected::rows`] of the most informative rows, in the order of the curves.
fn most_informative_rows(curves: &Curves, collected: &Collected) -> Vec<usize> {
    let has = |&row: &usize| collected.rows[row].result.link_packets.is_some();
    most_informative(curves).into_iter().filter_map(|(_, spot)| spot.rows.first().copied()).filter(has).collect()
}

/// Indices of all rows in the order of interest: the most informative rows of each curve, then all others.
pub(super) fn order(curves: &Curves, collected: &Collected) -> Vec<usize> {
    let mut order = most_informative_rows(curves, collected);
    let has = |row: &Row| row.result.link_packets.is_some();
    let others: Vec<usize> =
        (0..collected.rows.len()).filter(|row| !order.contains(row) && has(&collected.rows[*row])).collect();
    order.extend(others);
    order
}
