//! What links and injection queues do over time, as a picture and as a table.

use fsin_core::activity::Shares;

use crate::svg::{Anchor, BLACK, Colour, Ink, Svg};

/// Columns of the table.
const COLUMNS: &str = "begin_cycle,end_cycle,link_load_mean_phits_per_cycle,links_idle,links_below_half,links_below_nine_tenths,\
                       links_above,injection_fill_mean,nodes_empty,nodes_below_half,nodes_above";

/// The shares as lines of CSV, a line for each interval.
#[must_use]
pub fn activity_csv(shares: &[Shares]) -> String {
    let line = |shares: &Shares| {
        let Shares { begin, end, load, links, fill, nodes } = shares;
        let numbers = [*load].into_iter().chain(*links).chain([*fill]).chain(*nodes);
        format!("{begin},{end},{}\n", numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(","))
    };
    std::iter::once(format!("{COLUMNS}\n")).chain(shares.iter().map(line)).collect()
}

/// \[units\] Left edge, width and height of a panel, and the distance of the upper edges of both.
const LEFT: i32 = 56;
const WIDTH: i32 = 480;
const HEIGHT: i32 = 130;
const STEP: i32 = 200;

/// \[points\] Size of letters.
const LETTERS: f64 = 11.0;

/// From idle to busy: white to blue.
const BANDS: [Colour; 4] =
    [Colour(0xF2, 0xF2, 0xF2), Colour(0xA9, 0xCF, 0xE8), Colour(0x4F, 0x9B, 0xCB), Colour(0x00, 0x4C, 0x80)];

/// The shares of links and of nodes over time, in bands one above the other.
#[must_use]
pub fn activity_svg(title: &str, shares: &[Shares]) -> String {
    let mut svg = Svg::new(LEFT + WIDTH + 24, 2 * STEP + 44);
    svg.text(title, (LEFT, 14), LETTERS, Anchor::Left);
    let links = shares.iter().map(|shares| (shares, shares.links.to_vec()));
    panel(&mut svg, 52, "links", &["idle", "below 1/2", "below 9/10", "above"], &links.collect::<Vec<_>>());
    let nodes = shares.iter().map(|shares| (shares, shares.nodes.to_vec()));
    panel(&mut svg, 52 + STEP, "injection queues", &["empty", "below 1/2", "above"], &nodes.collect::<Vec<_>>());
    svg.finish()
}

/// A panel whose upper edge is at `top`: time to the right, shares upwards; the band of the busiest is lowest.
fn panel(svg: &mut Svg, top: i32, what: &str, names: &[&str], shares: &[(&Shares, Vec<f64>)]) {
    let bottom = top + HEIGHT;
    let (first, last) = (shares.first().map_or(0, |(at, _)| at.begin), shares.last().map_or(1, |(at, _)| at.end));
    let x =
        |cycle: u64| LEFT + ((cycle - first) as f64 / (last - first).max(1) as f64 * f64::from(WIDTH)).round() as i32;
    let y = |share: f64| bottom - (share * f64::from(HEIGHT)).round() as i32;
    // The first colours and the last: three bands do without the third.
    let colour = |band: usize| if band + 1 == names.len() { BANDS[3] } else { BANDS[band] };
    for (at, shares) in shares {
        let mut above = 0.0;
        for (band, share) in shares.iter().enumerate().rev() {
            let (low, high) = (y(above), y(above + share));
            above += share;
            if high < low {
                svg.rectangle((x(at.begin), high), (x(at.end), low), Ink::Filled(colour(band)));
            }
        }
    }
    svg.rectangle((LEFT, top), (LEFT + WIDTH, bottom), Ink::Edge(BLACK, 1));
    for (share, text) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
        svg.text(text, (LEFT - 6, y(share)), LETTERS, Anchor::Right);
    }
    for quarter in 0..=4 {
        let cycle = first + (last - first) * quarter / 4;
        svg.text(&cycle.to_string(), (x(cycle), bottom + 4), LETTERS, Anchor::Top);
    }
    svg.text("cycles", (LEFT + WIDTH / 2, bottom + 18), LETTERS, Anchor::Top);
    svg.text(&format!("share of {what}"), (12, top + HEIGHT / 2), LETTERS, Anchor::Upright);
    let mut left = LEFT;
    for (band, name) in names.iter().enumerate() {
        svg.rectangle((left, top - 20), (left + 12, top - 8), Ink::Filled(colour(band)));
        svg.rectangle((left, top - 20), (left + 12, top - 8), Ink::Edge(BLACK, 1));
        svg.text(name, (left + 17, top - 14), LETTERS, Anchor::Left);
        left += 100;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARES: Shares =
        Shares { begin: 256, end: 512, load: 0.5, links: [0.25, 0.0, 0.25, 0.5], fill: 0.75, nodes: [0.5, 0.0, 0.5] };

    #[test]
    fn a_line_for_each_interval() {
        let lines: Vec<String> = activity_csv(&[SHARES, SHARES]).lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0].split(',').count(), lines[1].split(',').count());
        assert_eq!(lines[1], "256,512,0.5,0.25,0,0.25,0.5,0.75,0.5,0,0.5");
    }

    #[test]
    fn bands_fill_the_panel() {
        let svg = activity_svg("all-to-all", &[SHARES]);
        // The busiest half of the links is the lower half of the panel.
        let filled = format!("<rect x=\"56\" y=\"117\" width=\"480\" height=\"65\" fill=\"{}\"", BANDS[3]);
        assert!(svg.contains(&filled) && svg.contains("all-to-all") && svg.contains(">512<"), "{svg}");
        assert!(activity_svg("none", &[]).contains("</svg>"));
    }
}
