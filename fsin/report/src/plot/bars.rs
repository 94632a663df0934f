//! Bars for settings that are words. On a logarithmic axis, where the length of a bar would mean nothing, markers.

use super::canvas::{Canvas, Fill, GAP, Key, LETTERS, WORDS, breadth, colour, wide};
use super::{Frame, Hint};
use crate::letters::cut;
use crate::svg::{Anchor, Ink};

/// \[letters\] Minimum length of a common ending that is written only once.
const LONG: usize = 8;

/// \[units\] Groups of bars with less room than this have their words upright, if these are wider.
const NARROW: i32 = 108;

/// \[units\] Maximum length of an upright word; the rest is cut.
const UPRIGHT: f64 = 360.0;

/// \[units\] Space between the words of two groups.
const BETWEEN: i32 = 12;

/// Maximum number of lines of a word below its bars; the rest of the word is cut.
const LINES: usize = 3;

/// Draws bars, one group for each word. Returns the picture, the hints of its bars, and its height.
pub(super) fn draw(frame: &Frame) -> (String, Vec<Hint>, i32) {
    let mut hints = Vec::new();
    let spots = || frame.series.iter().flat_map(|series| series.drawn());
    let mut words: Vec<(f64, &str)> = Vec::new();
    for spot in spots() {
        if !words.iter().any(|&(_, word)| word == spot.word) {
            words.push((spot.x, &spot.word));
        }
    }
    words.sort_by(|a, b| a.0.total_cmp(&b.0));
    // A common ending of all words is written once.
    let ending = ending(&words.iter().map(|&(_, word)| word).collect::<Vec<_>>());
    let x_title = if ending.is_empty() { frame.x_title.clone() } else { format!("{} (…{ending})", frame.x_title) };
    let group = breadth(frame) / words.len().max(1) as i32;
    let room = group - BETWEEN;
    let own = || words.iter().map(|(_, word)| &word[..word.len() - ending.len()]);
    let are_upright = group < NARROW && own().any(|word| wide(word) > room);
    let shown: Vec<Vec<String>> = match are_upright {
        true => own().map(|word| vec![cut(word, UPRIGHT, LETTERS)]).collect(),
        false => own().map(|word| wrapped(word, f64::from(room))).collect(),
    };
    let high = match are_upright {
        true => shown.iter().flatten().map(|word| wide(word)).max(),
        false => shown.iter().map(|lines| WORDS * lines.len() as i32).max(),
    };
    let frame = &Frame { x_title, ..frame.clone() };
    let key = if frame.extent.log { Key::Marker } else { Key::Bar };
    let mut canvas = Canvas::new(frame, key, high.unwrap_or(0));
    let y = frame.extent.y(canvas.bottom, canvas.top);
    canvas.frame(None, &y);
    let group = (canvas.right - canvas.left) / words.len().max(1) as i32;
    let of = |word: &str| -> Vec<_> {
        let mark = |series: &'_ super::Series| series.spots.iter().position(|spot| spot.word == word);
        frame.series.iter().filter_map(|series| Some((series.number, series, mark(series)?))).collect()
    };
    let most = words.iter().map(|(_, word)| of(word).len()).max().unwrap_or(1) as i32;
    let width = (group * 4 / 5 / most.max(1)).max(2);
    let mut free = 0;
    for (place, (_, word)) in words.iter().enumerate() {
        let middle = canvas.left + group * place as i32 + group / 2;
        for (line, text) in shown[place].iter().enumerate() {
            let y = canvas.bottom + GAP + WORDS * line as i32;
            // Of very many groups some go without their words.
            if !are_upright || middle - WORDS / 2 >= free {
                canvas.words(text, (middle, y), if are_upright { Anchor::UprightEnd } else { Anchor::Top });
                free = middle + WORDS / 2;
            }
        }
        let bars = of(word);
        let count = bars.len() as i32;
        for (at, (number, series, mark)) in bars.into_iter().enumerate() {
            let mark = &series.spots[mark];
            let left = middle + width * at as i32 - width * count / 2;
            let top = y.place(mark.value.mean);
            let middle = left + width / 2;
            let is_within = y.holds(mark.value.mean);
            if !y.is_log() {
                let ink = match mark.fill() {
                    Fill::Full => Ink::Filled(colour(number)),
                    Fill::Hollow | Fill::Dotted => Ink::Edge(colour(number), 4),
                };
                canvas.rectangle((left + 2, top), (left + width - 2, canvas.bottom), ink);
            }
            let of = if y.is_log() { number } else { 7 };
            if !is_within {
                canvas.arrow(of, (middle, top), if mark.value.mean < y.ends().0 { -1 } else { 1 });
            } else if let Some(ends) = mark.ends() {
                canvas.interval(of, middle, ends, &y);
            }
            if y.is_log() && is_within {
                canvas.marker(number, (middle, top), mark.fill());
            }
            let text = mark.hint(&series.label, &frame.x_title, &frame.y_title);
            hints.push(Hint { x: middle, y: top, text });
        }
    }
    let height = canvas.height;
    (canvas.finish(), hints, height)
}

/// The common ending of all words, from a `:` or `,` on, if it is long; empty for a single word.
fn ending(words: &[&str]) -> String {
    let Some((first, others)) = words.split_first().filter(|(_, others)| !others.is_empty()) else {
        return String::new();
    };
    let ends = first.char_indices().filter(|&(at, letter)| at > 0 && matches!(letter, ':' | ','));
    let all = |end: &&str| others.iter().all(|word| word.ends_with(end) && word.len() > end.len());
    ends.map(|(at, _)| &first[at..]).find(all).filter(|end| end.len() >= LONG).unwrap_or("").to_owned()
}

/// A word in lines of this width, split behind `:`, `,` and `-`.
fn wrapped(word: &str, room: f64) -> Vec<String> {
    let fits = |text: &str| f64::from(wide(text)) <= room;
    let mut lines = vec![String::new()];
    for part in word.split_inclusive([':', ',', '-']) {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && !fits(&format!("{}{part}", lines[last])) {
            lines.push(part.to_owned());
        } else {
            lines[last].push_str(part);
        }
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines[LINES - 1].push('…');
    }
    lines.iter().map(|line| cut(line, room, LETTERS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_parted_where_they_have_parts() {
        assert_eq!(wrapped("torus:4x4", 190.0), ["torus:4x4"]);
        assert_eq!(wrapped("thintree:4,2,2", 170.0), ["thintree:4,", "2,2"]);
        assert_eq!(wrapped("all-reduce-doubling", 190.0), ["all-reduce-", "doubling"]);
        assert_eq!(wrapped("abcdefghijklmnop", 100.0), ["abcd…"]);
        assert_eq!(wrapped("a-b-c-d-e", 30.0), ["a-", "b-", "…"]);
    }

    #[test]
    fn what_all_words_end_with_is_found() {
        assert_eq!(ending(&["ring:tasks=64,bytes=4", "doubling:tasks=64,bytes=4"]), ":tasks=64,bytes=4");
        assert_eq!(ending(&["ring:tasks=16,bytes=4", "ring:tasks=64,bytes=4"]), ",bytes=4");
        assert_eq!(ending(&["torus:4x4", "mesh:4x4"]), "", "as short as that");
        assert_eq!(ending(&["torus:4x4", "torus:8x8"]), "");
        assert_eq!(ending(&["ring:a"]), "");
    }
}
