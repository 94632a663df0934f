//! Pictures as LaTeX source with pgfplots, which reads the values from the CSV file beside it.

use std::fmt::Write as _;

use super::canvas::{DIAGONAL, colour, pattern};
use super::panels::ABREAST;
use super::{Drawn, Frame, Mark, Series};
use crate::svg::Colour;

/// Placeholder for the name of the data file until the name of the picture is known.
const DATA: &str = "@DATA@";

/// \[pt\] Size of a unit in print: 1000 units are the width of a column.
const POINTS: f64 = 0.242;

/// \[mm\] Distance from a panel to the one beside it.
const ACROSS: i32 = 95;
/// \[mm\] Distance from a panel to the one below.
const DOWN: i32 = 82;

/// Markers in the order of those of [`canvas`].
const MARKERS: [&str; 4] = ["*", "square*", "triangle*", "diamond*"];

/// The source of a picture, with a placeholder for the name of its data file. Several frames become panels.
pub(super) fn source(frames: &[Frame<'_>], figure: &Drawn<'_>) -> String {
    let is_group = frames.len() > 1;
    let mut text = format!(
        "% Reads {DATA} beside it. Preamble: \\usepackage{{pgfplots}}; \\pgfplotsset{{compat=1.16}}\n\
         % Use: \\input{{FILE}} in a figure, from the folder of FILE.\n\\begin{{tikzpicture}}\n"
    );
    let mut numbers: Vec<usize> = frames.iter().flat_map(|frame| frame.series).map(|series| series.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let (red, green, blue) = rgb(number);
        let _ = writeln!(text, "\\definecolor{{fsin{number}}}{{RGB}}{{{red},{green},{blue}}}");
    }
    let shared = axes(frames);
    // Curves are numbered as in the data: through all panels.
    let mut first = 1;
    for (panel, frame) in frames.iter().enumerate() {
        let place = match is_group {
            true => {
                format!("  at={{({}mm,{}mm)}},\n", ACROSS * (panel % ABREAST) as i32, -DOWN * (panel / ABREAST) as i32)
            }
            false => String::new(),
        };
        let titles = titles(frame, figure, panel == 0);
        let _ = write!(text, "\\begin{{axis}}[\n{shared}{place}{titles}]\n");
        let series: Vec<&Series> = match frame.has_legend {
            true => frame.series.iter().collect(),
            // The first panel has the legend of all panels.
            false if panel == 0 => legend_of(frames),
            false => Vec::new(),
        };
        let has_words = series.iter().any(|series| !series.label.is_empty());
        for series in series.iter().filter(|_| has_words) {
            let _ = writeln!(text, "\\addlegendimage{{{}}}", style(series.number, frame.numeric || frame.extent.log));
            let _ = writeln!(text, "\\addlegendentry{{{}}}", tex(&series.label));
        }
        if frame.diagonal {
            if panel == 0 || frame.has_legend {
                let _ = writeln!(text, "\\addlegendimage{{gray, dashed}}\n\\addlegendentry{{{DIAGONAL}}}");
            }
            let (x, y) = (frame.extent.x(0, 1).ends(), frame.extent.y(0, 1).ends());
            let (from, to) = (x.0.max(y.0), x.1.min(y.1));
            let _ = writeln!(text, "\\addplot[gray, dashed, forget plot] coordinates {{({from},{from}) ({to},{to})}};");
        }
        for (place, (number, series)) in (first..).zip(frame.series).enumerate() {
            // Bars stand side by side, markers on a logarithmic axis must be moved.
            let aside = match frame.extent.log && !frame.numeric {
                true => (place as f64 - (frame.series.len() as f64 - 1.0) / 2.0) * breadth(frames),
                false => 0.0,
            };
            curve(&mut text, number, series, figure, aside);
        }
        first += frame.series.len();
        text.push_str("\\end{axis}\n");
    }
    text + "\\end{tikzpicture}\n"
}

/// \[mm\] Width of a bar: of the bars of all words side by side, with space between the words.
fn breadth(frames: &[Frame<'_>]) -> f64 {
    let marks = || frames.iter().flat_map(|frame| frame.series).flat_map(Series::drawn).map(|mark| mark.x);
    let (low, high) = (marks().fold(f64::MAX, f64::min), marks().fold(f64::MIN, f64::max));
    let most = frames.iter().map(|frame| frame.series.len()).max().unwrap_or(1);
    65.0 / (high - low + 1.0).max(1.0) / (most as f64 + 1.0)
}

/// The source with the name of the picture in place of the placeholder.
pub(super) fn with_data(source: &str, name: &str) -> String {
    source.replace(DATA, &format!("{name}.csv"))
}

/// Common options of all axes of a figure.
fn axes(frames: &[Frame<'_>]) -> String {
    let frame = &frames[0];
    let y = frame.extent.y(0, 1);
    let mut text = format!(
        "  width=85mm, height=62mm, grid=major, axis lines=left, axis line style={{-}}, tick label style={{/pgf/number format/fixed}},\n  \
         xlabel={{{}}}, ylabel={{{}}}, label style={{font=\\small}}, title style={{align=center, font=\\small}},\n  \
         ymin={}, ymax={}, scaled ticks=false,\n",
        tex(&frame.x_title),
        tex(&frame.y_title),
        y.ends().0,
        y.ends().1
    );
    if y.is_log() {
        text.push_str("  ymode=log, log ticks with fixed point,\n");
    }
    if frame.numeric {
        let x = frame.extent.x(0, 1).ends();
        let _ = writeln!(text, "  xmin={}, xmax={},", x.0, x.1);
    } else {
        let mut words: Vec<(f64, &str)> = Vec::new();
        for mark in frames.iter().flat_map(|frame| frame.series).flat_map(Series::drawn) {
            if words.iter().all(|(x, _)| *x != mark.x) {
                words.push((mark.x, &mark.word));
            }
        }
        words.sort_by(|a, b| a.0.total_cmp(&b.0));
        let list = |of: &dyn Fn(&(f64, &str)) -> String| words.iter().map(of).collect::<Vec<_>>().join(",");
        let (low, high) = (words.first().map_or(0.0, |word| word.0), words.last().map_or(0.0, |word| word.0));
        let _ = writeln!(
            text,
            "  {}, xmin={}, xmax={}, xtick={{{}}}, xticklabels={{{}}},\n  \
             x tick label style={{font=\\footnotesize, rotate=30, anchor=north east}},",
            if y.is_log() { "only marks".to_owned() } else { format!("ybar=0pt, bar width={:.2}mm", breadth(frames)) },
            low - 0.5,
            high + 0.5,
            list(&|(x, _)| x.to_string()),
            list(&|(_, word)| format!("{{{}}}", tex(word)))
        );
    }
    text
}

/// The title of an axis, and the position of its legend.
fn titles(frame: &Frame<'_>, figure: &Drawn<'_>, is_first: bool) -> String {
    let mut lines = vec![frame.heading.as_str()];
    if is_first {
        lines.insert(0, &figure.style.title);
    }
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).map(tex).collect();
    let above = 1.04 + 0.1 * lines.len() as f64;
    let title = if lines.is_empty() { String::new() } else { format!("  title={{{}}},\n", lines.join("\\\\")) };
    format!(
        "{title}  legend style={{at={{(0,{above:.2})}}, anchor=south west, draw=none, font=\\footnotesize, legend columns=2, \
         cells={{anchor=west}}}},\n"
    )
}

/// The curves that a legend of all frames lists: one of each style.
fn legend_of<'a>(frames: &[Frame<'a>]) -> Vec<&'a Series> {
    let mut all: Vec<&Series> = frames.iter().flat_map(|frame| frame.series).collect();
    all.sort_by_key(|series| series.number);
    all.dedup_by_key(|series| series.number);
    all
}

/// Style of a curve.
fn style(number: usize, is_line: bool) -> String {
    if !is_line {
        return format!("fsin{number}, fill=fsin{number}");
    }
    let units = pattern(number);
    let word =
        |(at, units): (usize, &f64)| format!("{} {:.1}pt", if at % 2 == 0 { "on" } else { "off" }, units * POINTS);
    let words: Vec<String> = units.iter().enumerate().map(word).collect();
    let dashes = if words.is_empty() { String::new() } else { format!(", dash pattern={}", words.join(" ")) };
    let marker = MARKERS[number % MARKERS.len()];
    format!("fsin{number}, thick{dashes}, mark={marker}, mark size=1.6pt, mark options={{solid}}")
}

/// Writes a curve: the unsaturated points, joined, and the saturated points as hollow marks if they are shown.
/// Markers are `aside` \[mm\] from their places.
fn curve(text: &mut String, number: usize, series: &Series, figure: &Drawn<'_>, aside: f64) {
    let log = figure.extent.log;
    let numeric = figure.curves.numeric;
    let aside = if aside == 0.0 { String::new() } else { format!(", xshift={aside:.2}mm") };
    let column = figure.of.0.name();
    let x = if numeric { figure.curves.axis.as_str() } else { "position" };
    let scaled = |of: &str| match figure.factor {
        1.0 => format!("={of}"),
        factor => format!(" expr=\\thisrow{{{of}}}*{factor}"),
    };
    for saturated in [false, true] {
        let marks: Vec<&Mark> = series.drawn().filter(|mark| mark.saturated == saturated).collect();
        if marks.is_empty() {
            continue;
        }
        // Markers along words have no lines.
        let style = match (saturated, numeric || log) {
            (false, is_marked) => style(series.number, is_marked),
            (true, true) => style(series.number, true).replace("{solid}", "{solid, fill=white}") + ", only marks",
            (true, false) => format!("fsin{}, fill=white", series.number),
        };
        let at = number as f64 + if saturated { 0.5 } else { 0.0 };
        let has_ranges = marks.iter().any(|mark| mark.range.is_some());
        let has_bars = has_ranges || marks.iter().all(|mark| mark.raw.ci95.is_some());
        // A logarithmic axis cannot show an end that is not positive.
        let below = |mark: &&Mark| log && mark.ends().is_some_and(|(low, _)| low <= 0.0);
        let direction = if marks.iter().any(below) { "plus" } else { "both" };
        let most = figure.extent.y(0, 1).ends().1 * (1.0 + 1e-6);
        let (bars, error) = match has_bars {
            true if has_ranges => (
                format!(", error bars/.cd, y dir={direction}, y explicit, error bar style={{solid, thin}}"),
                format!(
                    ", y error plus expr=(\\thisrow{{high}}-\\thisrow{{{column}}})*{0}*(\\thisrow{{{column}}}*{0}<{most}), \
                     y error minus expr=(\\thisrow{{{column}}}-\\thisrow{{low}})*{0}*(\\thisrow{{{column}}}*{0}<{most})",
                    figure.factor
                ),
            ),
            true => (
                format!(", error bars/.cd, y dir={direction}, y explicit, error bar style={{solid, thin}}"),
                // No bar for a point beyond the axis.
                format!(", y error expr=\\thisrow{{ci95}}*{0}*(\\thisrow{{{column}}}*{0}<{most})", figure.factor),
            ),
            false => (String::new(), String::new()),
        };
        let _ = writeln!(
            text,
            "\\addplot[{style}{aside}, forget plot,\n    \
             restrict expr to domain={{\\thisrow{{curve}}+0.5*\\thisrow{{saturated}}}}{{{low}:{high}}}{bars}]\n  \
             table[x={x}, y{}{error}, col sep=comma] {{{DATA}}};",
            scaled(&column),
            low = at - 0.2,
            high = at + 0.2
        );
    }
}

/// The colour of a curve: red, green and blue.
fn rgb(number: usize) -> (u8, u8, u8) {
    let Colour(red, green, blue) = colour(number);
    (red, green, blue)
}

/// Text escaped for TeX.
fn tex(words: &str) -> String {
    let mut text = String::new();
    for letter in words.chars() {
        match letter {
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => text.extend(['\\', letter]),
            '\\' => text.push_str("\\textbackslash{}"),
            '~' => text.push_str("\\textasciitilde{}"),
            '^' => text.push_str("\\textasciicircum{}"),
            'µ' => text.push_str("$\\mu$"),
            '…' => text.push_str("\\ldots{}"),
            letter => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_nothing_to_tex() {
        assert_eq!(tex("50% of a_b {µs}"), "50\\% of a\\_b \\{$\\mu$s\\}");
        assert_eq!(tex("a\\b~c^d#e"), "a\\textbackslash{}b\\textasciitilde{}c\\textasciicircum{}d\\#e");
    }

    #[test]
    fn the_data_are_those_of_the_picture() {
        assert_eq!(with_data("{@DATA@} {@DATA@}", "latency-uniform"), "{latency-uniform.csv} {latency-uniform.csv}");
    }
}
