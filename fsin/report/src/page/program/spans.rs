//! The timeline of ranks: a line for each, coloured by what the rank does most in each moment.

use maud::{Markup, PreEscaped, html};
use trgen::trace::timeline::{Doing, Span};

use super::super::super::links::{LETTERS, WIDTH, words};
use super::super::super::plot::short;

/// Number of moments into which the time is divided.
const MOMENTS: usize = 860;
/// Maximum number of ranks that are drawn.
const MOST_RANKS: usize = 128;
/// What is told apart, with the colours of the page: where two take equally long, the first is drawn. A wait within a
/// collective belongs to the collective.
const KINDS: [(&str, &str); 3] = [("collective", "var(--s4)"), ("computing", "var(--s0)"), ("waiting", "var(--s1)")];

/// The kind of a span.
const fn kind(doing: Doing) -> usize {
    match doing {
        Doing::Collective => 0,
        Doing::Computing => 1,
        Doing::Sending | Doing::Receiving | Doing::Waiting => 2,
    }
}

/// The section on the timeline; empty without spans.
pub(super) fn section(spans: &[Span], ranks: usize) -> Markup {
    let end = spans.iter().map(|span| span.end).max().unwrap_or(0);
    if end == 0 {
        return Markup::default();
    }
    let shown = ranks.min(MOST_RANKS);
    html! {
        section id="timeline" {
            h2 { "Timeline" }
            figure aria-label="What each rank does over time" { (PreEscaped(svg(spans, shown, end))) }
            p.note {
                "A moment has the colour of what the rank does longest in it. "
                @if shown < ranks { "The first " (shown) " of " (ranks) " ranks. " }
                "A file of the timeline has every span, for Perfetto."
            }
        }
    }
}

/// \[ps\] By rank and moment: the time of each kind.
fn moments(spans: &[Span], ranks: usize, end: u64) -> Vec<Vec<[u64; 3]>> {
    let mut all = vec![vec![[0; 3]; MOMENTS]; ranks];
    let begin_of = |moment: usize| (u128::from(end) * moment as u128 / MOMENTS as u128) as u64;
    for span in spans {
        let Some(line) = all.get_mut(span.rank as usize) else { continue };
        let first = (u128::from(span.begin) * MOMENTS as u128 / u128::from(end)) as usize;
        for (moment, times) in line.iter_mut().enumerate().skip(first.saturating_sub(1)) {
            let (from, to) = (begin_of(moment).max(span.begin), begin_of(moment + 1).min(span.end));
            if begin_of(moment) >= span.end {
                break;
            }
            times[kind(span.doing)] += to.saturating_sub(from);
        }
    }
    all
}

/// What is drawn in a moment: the kind that takes longest, the first of several.
fn drawn(times: [u64; 3]) -> Option<usize> {
    let most = times.into_iter().max().filter(|&most| most > 0)?;
    times.iter().position(|&time| time == most)
}

/// The picture.
fn svg(spans: &[Span], ranks: usize, end: u64) -> String {
    let left = WIDTH - MOMENTS as f64;
    let height = (600.0 / ranks.max(1) as f64).clamp(5.0, 30.0);
    let letters = 0.55 * LETTERS;
    let small = |text: String| text.replace(&format!("font-size=\"{LETTERS}\""), &format!("font-size=\"{letters}\""));
    let mut svg = String::new();
    for (rank, line) in moments(spans, ranks, end).into_iter().enumerate() {
        let y = rank as f64 * height;
        let mut moment = 0;
        while moment < MOMENTS {
            let what = drawn(line[moment]);
            let length = line[moment..].iter().take_while(|&&times| drawn(times) == what).count();
            if let Some(what) = what {
                let (name, colour) = KINDS[what];
                svg.push_str(&format!(
                    "<rect x=\"{:.0}\" y=\"{y:.1}\" width=\"{length}\" height=\"{:.1}\" fill=\"{colour}\"><title>rank {rank}: \
                     {name}</title></rect>\n",
                    left + moment as f64,
                    height * 0.86
                ));
            }
            moment += length;
        }
        if rank % (letters * 1.2 / height).ceil().max(1.0) as usize == 0 {
            svg.push_str(&small(words(&rank.to_string(), (left - 8.0, y + height * 0.43), "end", false)));
        }
    }
    svg.push_str(&small(words("rank", (left - 8.0, ranks as f64 * height + 0.8 * letters), "end", false)));
    let (unit, size) = [("ns", 1e3), ("us", 1e6), ("ms", 1e9), ("s", 1e12)]
        .into_iter()
        .rfind(|&(_, size)| end as f64 >= 2.0 * size)
        .unwrap_or(("ns", 1e3));
    let bottom = ranks as f64 * height;
    for tick in 0..=4 {
        let share = f64::from(tick) / 4.0;
        let x = left + share * MOMENTS as f64;
        let anchor = if tick == 4 { "end" } else { "middle" };
        let time = format!("{} {unit}", short(share * end as f64 / size));
        svg.push_str(&format!(
            "<line x1=\"{x:.0}\" x2=\"{x:.0}\" y1=\"0\" y2=\"{:.0}\" stroke=\"var(--grid)\"/>\n",
            bottom + 4.0
        ));
        if tick > 0 {
            svg.push_str(&small(words(&time, (x, bottom + 0.8 * letters), anchor, false)));
        }
    }
    let legend = bottom + 2.2 * letters;
    for (number, (name, colour)) in KINDS.into_iter().enumerate() {
        let x = left + 260.0 * number as f64;
        svg.push_str(&format!(
            "<rect x=\"{x:.0}\" y=\"{legend:.0}\" width=\"{letters}\" height=\"{letters}\" fill=\"{colour}\"/>\n"
        ));
        svg.push_str(&small(words(name, (x + 1.5 * letters, legend + letters / 2.0), "start", false)));
    }
    let svg = svg.replace("#000000", "currentColor");
    let height = legend + 1.5 * letters;
    format!("<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" xmlns=\"http://www.w3.org/2000/svg\">\n{svg}</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_what_the_rank_does_longest_in_it() {
        let end = 1000 * MOMENTS as u64;
        let span = |doing, begin, end| Span { rank: 0, doing, name: String::new(), begin, end };
        let spans = [
            span(Doing::Computing, 0, 1700),
            span(Doing::Waiting, 1700, 4000),
            span(Doing::Collective, 3000, 4000),
            span(Doing::Computing, end - 1, end),
        ];
        let found = moments(&spans, 1, end);
        let kinds: Vec<Option<usize>> = found[0].iter().map(|&times| drawn(times)).collect();
        // Computing for 700 of the second thousand; the wait in the fourth is that of a collective.
        assert_eq!(kinds[..5], [Some(1), Some(1), Some(2), Some(0), None]);
        assert_eq!(kinds[MOMENTS - 1], Some(1));
        let total: u64 = found[0].iter().flatten().sum();
        assert_eq!(total, 1700 + 2300 + 1000 + 1);
        assert!(section(&[], 4).into_string().is_empty());
    }
}
