//! Bars for settings that are words.

use super::canvas::{Canvas, Key, WORDS, breadth, colour, left};
use super::{Frame, Hint};
use crate::svg::{Anchor, Ink};

/// \[units\] Mean width of a letter.
const LETTER: i32 = 18;

/// \[letters\] Minimum length of a common ending that is written only once.
const LONG: usize = 8;

/// \[letters\] Groups of bars with less room than this have their words upright.
const NARROW: i32 = 6;

/// \[letters\] Maximum length of an upright word; the rest is cut.
const UPRIGHT: usize = 20;

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
    let left = left(&frame.extent.y(1, 0));
    let group = breadth(left) / words.len().max(1) as i32;
    let letters = group / LETTER;
    let words_of_their_own = || words.iter().map(|(_, word)| &word[..word.len() - ending.len()]);
    let are_upright = letters < NARROW && words_of_their_own().any(|word| word.chars().count() > letters as usize);
    let shown: Vec<Vec<String>> = match are_upright {
        true => words_of_their_own().map(|word| vec![cut(word, UPRIGHT)]).collect(),
        false => words_of_their_own().map(|word| wrapped(word, letters.max(1) as usize)).collect(),
    };
    let lines = match are_upright {
        true => shown.iter().flatten().map(|word| LETTER * word.chars().count() as i32 / WORDS + 1).max(),
        false => shown.iter().map(|lines| lines.len() as i32).max(),
    };
    let frame = &Frame { x_title, ..frame.clone() };
    let mut canvas = Canvas::new(frame, Key::Bar, lines.unwrap_or(1) as usize, left);
    let y = frame.extent.y(canvas.bottom, canvas.top);
    canvas.frame(frame, None, &y);
    let group = (canvas.right - canvas.left) / words.len().max(1) as i32;
    let of = |word: &str| -> Vec<_> {
        let mark = |series: &'_ super::Series| series.spots.iter().position(|spot| spot.word == word);
        frame.series.iter().filter_map(|series| Some((series.number, series, mark(series)?))).collect()
    };
    let most = words.iter().map(|(_, word)| of(word).len()).max().unwrap_or(1) as i32;
    let width = (group * 4 / 5 / most.max(1)).max(2);
    for (place, (_, word)) in words.iter().enumerate() {
        let middle = canvas.left + group * place as i32 + group / 2;
        for (line, text) in shown[place].iter().enumerate() {
            let y = canvas.bottom + 10 + WORDS * line as i32;
            canvas.words(text, (middle, y), if are_upright { Anchor::UprightEnd } else { Anchor::Top });
        }
        let bars = of(word);
        let count = bars.len() as i32;
        for (at, (number, series, mark)) in bars.into_iter().enumerate() {
            let mark = &series.spots[mark];
            let left = middle + width * at as i32 - width * count / 2;
            let top = y.place(mark.value.mean);
            let ink = if mark.saturated { Ink::Edge(colour(number), 4) } else { Ink::Filled(colour(number)) };
            canvas.rectangle((left + 2, top), (left + width - 2, canvas.bottom), ink);
            let middle = left + width / 2;
            if !y.holds(mark.value.mean) {
                canvas.arrow(7, (middle, top), if mark.value.mean < y.ends().0 { -1 } else { 1 });
            } else if let Some(ci95) = mark.value.ci95 {
                canvas.interval(7, middle, (mark.value.mean, ci95), &y);
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

/// A word in lines of this many letters, split behind `:`, `,` and `-`.
fn wrapped(word: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in word.split_inclusive([':', ',', '-']) {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + part.chars().count() > letters {
            lines.push(part.to_owned());
        } else {
            lines[last].push_str(part);
        }
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines[LINES - 1].push('…');
    }
    lines.iter().map(|line| cut(line, letters)).collect()
}

/// The beginning of a word that has at most this many letters, with an ellipsis if it is not all.
fn cut(word: &str, letters: usize) -> String {
    match word.chars().count() > letters {
        true => word.chars().take(letters - 1).chain(['…']).collect(),
        false => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_parted_where_they_have_parts() {
        assert_eq!(wrapped("torus:4x4", 12), ["torus:4x4"]);
        assert_eq!(wrapped("thintree:4,2,2", 12), ["thintree:4,", "2,2"]);
        assert_eq!(wrapped("all-reduce-doubling", 12), ["all-reduce-", "doubling"]);
        assert_eq!(wrapped("abcdefghijklmnop", 6), ["abcde…"]);
        assert_eq!(wrapped("a-b-c-d-e", 2), ["a-", "b-", "c…"]);
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
