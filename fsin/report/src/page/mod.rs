//! Results of a sweep as one self-contained HTML page: no network access, no other file, and readable without scripts.
//!
//! The experiments and their settings come first, then warnings if there are any. Then follow curves, energy by parts,
//! tables, messages by size, heat maps of links, ports, jobs, every point, notes of the runs, and the origin of the
//! results.

mod collectives;
mod head;
mod html;
mod jobs;
mod links;
mod merged;
mod origin;
mod ports;
mod program;
mod side;
mod tables;
mod verdict;
mod warnings;

pub use program::{Passage, ProgramRun, program_page};
use tables::{bounds, comparison, points, saturation, searches};

use super::plot::{GRID, Picture, Scale, Style, by_part, pictures};
use super::svg::{COLOURS, Colour};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use trgen::phrase::Notation;

use fsin_experiment::sweep::{Collected, Curves, Plan, Saturations};

/// The style sheet of the page.
const STYLE: &str = include_str!("style.css");
/// The script of the page.
const SCRIPT: &str = include_str!("script.js");

/// Results of the baseline.
#[derive(Clone, Copy, Debug)]
pub struct Baseline<'a> {
    /// Its name for readers.
    pub name: &'a str,
    /// Its plan.
    pub plan: &'a Plan,
    /// Its results.
    pub collected: &'a Collected,
    /// \[share of the baseline\] Differences up to this size are irrelevant; 0 to 1.
    pub margin: f64,
}

/// Results shown on the page.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Name of the results for readers, such as the name of their folder.
    pub name: &'a str,
    /// Title of the page; `None` for the simulated experiments.
    pub title: Option<&'a str>,
    /// Plan of the results.
    pub plan: &'a Plan,
    /// The results.
    pub collected: &'a Collected,
    /// Results of saturation searches in the same folder.
    pub saturations: Option<&'a Saturations>,
}

/// The HTML page of results, compared with a baseline if there is one.
#[must_use]
pub fn page(subject: Subject<'_>, baseline: Option<Baseline<'_>>, scale: Scale, notation: &dyn Notation) -> String {
    let title = subject.title.map_or_else(|| described(subject), str::to_owned);
    let body = html! {
        header { h1 { (title) } (summary(subject)) }
        main { (sections(subject, baseline, scale, notation)) }
    };
    whole(&title, body)
}

/// The HTML page of the results of several folders, one part each, below a list of the parts.
#[must_use]
pub fn joint_page(title: &str, subjects: &[Subject<'_>], scale: Scale, notation: &dyn Notation) -> String {
    let parts: Vec<_> =
        subjects.iter().enumerate().map(|(at, subject)| (format!("part-{}", at + 1), subject)).collect();
    let body = html! {
        header {
            h1 { (title) }
            nav {
                ul { @for (id, subject) in &parts { li { a href={ "#" (id) } { (heading(subject)) } } } }
            }
        }
        main {
            @for (id, subject) in &parts {
                article.part id=(id) {
                    header {
                        h1 { (heading(subject)) }
                        p { (described(**subject)) }
                        (summary(**subject))
                    }
                    (sections(**subject, None, scale, notation))
                }
            }
        }
    };
    whole(title, body)
}

/// What stands above a part of a page.
fn heading<'a>(subject: &Subject<'a>) -> &'a str {
    subject.title.unwrap_or(subject.name)
}

/// What was simulated, in a line.
fn described(subject: Subject<'_>) -> String {
    match subject.plan.points.is_empty() {
        // The folder has searches only.
        true => subject.name.to_owned(),
        false => head::title(subject.collected, subject.name),
    }
}

/// The line below the title.
fn summary(subject: Subject<'_>) -> Markup {
    html! {
        @if !subject.plan.points.is_empty() { p { (head::summary(subject.name, subject.plan, subject.collected)) } }
    }
}

/// The sections on the results of a folder.
fn sections(subject: Subject<'_>, baseline: Option<Baseline<'_>>, scale: Scale, notation: &dyn Notation) -> Markup {
    let Subject { name, plan, collected, saturations, .. } = subject;
    let searches = saturations.map(searches).unwrap_or_default();
    if plan.points.is_empty() {
        return searches;
    }
    let curves = Curves::of(plan, collected);
    // Every point is in view, and shows its values.
    let style = Style { scale, is_whole: true, saturated: true, ..Style::default() };
    let others = baseline.map(|baseline| (baseline, Curves::of(baseline.plan, baseline.collected)));
    let both = others.as_ref().and_then(|(baseline, others)| {
        curves.with_baseline((name, collected), others, (baseline.name, baseline.collected))
    });
    let (drawn, rows) = both.as_ref().map_or((&curves, collected), |(curves, collected)| (curves, collected));
    let pictures = pictures(drawn, rows, &style);
    html! {
        (side::section(plan, collected))
        (verdict::section(plan, collected))
        (collectives::section(plan, collected))
        (verdict::ranks(plan, collected))
        (head::section(plan, collected, notation))
        (warnings::section(plan, collected))
        @if !pictures.is_empty() {
            section {
                h2 { "Curves" }
                div.plots { @for picture in &pictures { (figure(picture)) } }
                @if let (Some(_), Some(baseline)) = (&both, baseline) {
                    p.note {
                        "Pale curves with small markers, and pale bars, are those of " (baseline.name)
                        ", with which this is compared."
                    }
                }
                (hollow(rows))
                @if let Some(remark) = rows.unequal_ports() { p.note { (capital(&remark)) "." } }
            }
        }
        (energy(&curves, collected, scale))
        (saturation(&curves, collected))
        (searches)
        (ports::sizes(&curves, collected, scale))
        (links::section(plan, &curves, collected))
        (ports::section(plan, collected))
        @if let Some((baseline, others)) = &others { (comparison(baseline, others, (&curves, collected))) }
        (bounds(plan, collected))
        (jobs::section(plan, collected))
        (points(plan, collected))
        (warnings::notes(plan, collected))
        (origin::section(plan, collected))
    }
}

/// Energy by parts of the network, if runs have it.
fn energy(curves: &Curves, collected: &Collected, scale: Scale) -> Markup {
    let pictures = by_part(curves, collected, &Style { scale, ..Style::default() });
    html! {
        @if !pictures.is_empty() {
            section {
                h2 { "Energy by part of the network" }
                div.plots { @for picture in &pictures { (figure(picture)) } }
                p.note { "Estimates, as good as their table of energies. Bars show the ranges that the table gives." }
            }
        }
    }
}

/// The complete page with this title and body.
fn whole(title: &str, body: Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped([STYLE, &series_colours(), &links::load_colours()].concat())) }
            }
            body {
                (body)
                div id="tip" hidden {}
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// A remark as the beginning of a sentence.
fn capital(remark: &str) -> String {
    let mut letters = remark.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A sentence on the meaning of hollow markers; empty if there are none.
fn hollow(collected: &Collected) -> Markup {
    html! {
        @if collected.rows.iter().any(|row| row.result.is_saturated()) {
            p.note {
                "Hollow markers are saturated points: the network accepted less than it was asked for. Queues of open \
                 sources grow, and latency is that of a run of this length. No line leads to them."
            }
        }
        @if collected.rows.iter().any(|row| row.result.is_undecided()) {
            p.note {
                "Markers with a dot are undecided points: their runs were too short to tell whether the network carries \
                 the load."
            }
        }
    }
}

/// A picture within the page: its colours become those of the page, and its markers show their values.
fn figure(picture: &Picture) -> Markup {
    let start = picture.svg.find("<svg").unwrap_or(0);
    let mut svg = picture.svg[start..].to_owned();
    for (number, colour) in COLOURS.iter().enumerate() {
        svg = svg.replace(&colour.to_string(), &format!("var(--s{number})"));
    }
    for (from, to) in [
        (GRID.to_string(), "var(--grid)"),
        ("#FFFFFF".to_owned(), "var(--paper)"),
        ("#000000".to_owned(), "currentColor"),
    ] {
        svg = svg.replace(&from, to);
    }
    // The page sets the size; the box keeps the aspect ratio.
    if let Some(end) = svg.find('>') {
        let head = svg[..end].to_owned();
        let shape = head.find("viewBox").map_or("", |at| &head[at..]);
        let shape = shape.split_inclusive('"').take(2).collect::<String>();
        svg.replace_range(..end, &format!("<svg {shape} role=\"img\" xmlns=\"http://www.w3.org/2000/svg\""));
    }
    let svg = svg.trim_end().trim_end_matches("</svg>");
    html! {
        figure aria-label=(picture.caption) {
            (PreEscaped(svg))
            @for hint in &picture.hints {
                circle.hint tabindex="0" cx=(hint.x) cy=(hint.y) r="22" { title { (hint.text) } }
            }
            (PreEscaped("</svg>"))
            figcaption { (picture.caption) }
        }
    }
}

/// The colours of curves as variables of the style sheet: lighter variants on a dark page.
fn series_colours() -> String {
    let declared = |light: f64| -> String {
        let lighter = |part: u8| (f64::from(part) + (255.0 - f64::from(part)) * light).round() as u8;
        let line = |(number, colour): (usize, &Colour)| {
            format!("--s{number}:#{:02X}{:02X}{:02X};", lighter(colour.0), lighter(colour.1), lighter(colour.2))
        };
        COLOURS.iter().enumerate().map(line).collect()
    };
    format!(
        ":root{{{}}}\n@media screen and (prefers-color-scheme: dark) {{:root{{{}}}}}\n",
        declared(0.0),
        declared(0.35)
    )
}
