//! From loads to colours: one ramp whose lightness preserves the order in print and for colour-blind readers.

use super::super::plot::short;
use super::{LETTERS, Paint, WIDTH, words};

/// Number of steps of the ramp, from zero load to the maximum.
pub(crate) const STEPS: usize = 21;

/// Colours from zero load to the maximum on a light page: ColorBrewer's OrRd (Brewer, Hatchard and Harrower, 2003).
const LIGHT: [u32; 9] = [0xF3EAD8, 0xFEE8C8, 0xFDD49E, 0xFDBB84, 0xFC8D59, 0xEF6548, 0xD7301F, 0xB30000, 0x6B0000];

/// Colours from zero load to the maximum on a dark page, where the maximum is lightest.
const DARK: [u32; 9] = [0x332A2A, 0x66241D, 0x922A1E, 0xB8321F, 0xDB4A35, 0xF27F52, 0xFBAB79, 0xFDD49E, 0xFFF7EC];

/// The colours of all steps, as `#rrggbb`.
pub(crate) fn ramp(dark: bool) -> Vec<String> {
    let stops = if dark { DARK } else { LIGHT };
    let colour = |step: usize| {
        let place = step as f64 / (STEPS - 1) as f64 * (stops.len() - 1) as f64;
        let (below, share) = ((place as usize).min(stops.len() - 2), place.fract());
        let share = if place as usize > below { 1.0 } else { share };
        let part = |shift: u32| {
            let of = |stop: u32| f64::from(stop >> shift & 0xFF);
            (of(stops[below]) * (1.0 - share) + of(stops[below + 1]) * share).round() as u8
        };
        format!("#{:02X}{:02X}{:02X}", part(16), part(8), part(0))
    };
    (0..STEPS).map(colour).collect()
}

/// The scale of the ramp: from 0 to a round load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Scale {
    /// \[phits/cycle\] Upper end of the scale.
    pub(crate) top: f64,
}

impl Scale {
    /// A scale that covers the largest of these loads, but never exceeds the capacity of a link.
    pub(crate) fn up_to(most: f64) -> Self {
        let ends = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0];
        Self { top: ends.into_iter().find(|&end| most <= end).unwrap_or(1.0) }
    }

    /// The step of a load.
    pub(crate) fn step(self, load: f64) -> usize {
        ((load / self.top * (STEPS - 1) as f64).round() as usize).min(STEPS - 1)
    }

    /// The ramp with its numbers and unit, as SVG from `y` downwards, and its height. If `pairs`, it shows the
    /// direction of each line of a pair.
    pub(super) fn legend(self, y: f64, pairs: bool, paint: Paint) -> (String, f64) {
        let (left, right) = if pairs { (330.0, WIDTH - 60.0) } else { (180.0, WIDTH - 180.0) };
        let width = (right - left) / STEPS as f64;
        let mut svg = String::from("<g>\n");
        for step in 0..STEPS {
            svg.push_str(&format!(
                "<rect {} x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{LETTERS}\"/>\n",
                paint.of(step),
                left + step as f64 * width,
                width + 0.5
            ));
        }
        svg.push_str("</g>\n");
        for share in [0.0, 0.5, 1.0] {
            let at = (left + (right - left) * share, y + 1.65 * LETTERS);
            svg.push_str(&words(&short(self.top * share), at, "middle", false));
        }
        let title = ((left + right) / 2.0, y + 2.85 * LETTERS);
        svg.push_str(&words("Link load (phits/cycle)", title, "middle", false));
        if pairs {
            // Two nodes, and the direction of each of their links.
            let (x, middle) = (70.0, y + 1.1 * LETTERS);
            for node in [x, x + 140.0] {
                svg.push_str(&format!(
                    "<rect x=\"{node:.0}\" y=\"{:.1}\" width=\"40\" height=\"40\" fill=\"#E0E0E0\"/>\n",
                    middle - 20.0
                ));
            }
            for (aside, arrow, text) in [(-17.0, "←", -1.0), (2.0, "→", 1.0)] {
                svg.push_str(&format!(
                    "<rect x=\"{:.0}\" y=\"{:.1}\" width=\"100\" height=\"15\" fill=\"#999999\"/>\n",
                    x + 40.0,
                    middle + aside
                ));
                svg.push_str(&words(arrow, (x + 90.0, middle + text * 1.05 * LETTERS), "middle", false));
            }
        }
        (svg, 3.5 * LETTERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_one_way_from_light_to_dark() {
        let lightness = |colour: &String| {
            let part = |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap());
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        for (dark, sign) in [(false, -1.0), (true, 1.0)] {
            let ramp: Vec<f64> = ramp(dark).iter().map(lightness).collect();
            assert_eq!(ramp.len(), STEPS);
            assert!(ramp.windows(2).all(|pair| sign * (pair[1] - pair[0]) > 0.0), "{ramp:?}");
        }
        assert_eq!(ramp(false)[STEPS - 1], "#6B0000");
    }

    #[test]
    fn scales_end_at_round_loads() {
        assert_eq!((Scale::up_to(0.33).top, Scale::up_to(0.97).top, Scale::up_to(1.01).top), (0.4, 1.0, 1.0));
        let scale = Scale::up_to(0.4);
        assert_eq!((scale.step(0.0), scale.step(0.2), scale.step(0.4), scale.step(2.0)), (0, 10, 20, 20));
    }
}
