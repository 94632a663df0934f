//! Texts that differ in their numbers alone, as one text with ranges.

/// A part of a text.
#[derive(Clone, PartialEq, Debug)]
enum Part<'a> {
    Words(&'a str),
    Number(&'a str),
}

/// Several texts as one, with the indices of the texts.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Merged {
    /// The text; a number that differs is written as a range: `5 to 80`.
    pub(super) text: String,
    /// Indices of the texts.
    pub(super) of: Vec<usize>,
}

/// Merges texts that are the same but for their numbers.
pub(super) fn merged(texts: &[&str]) -> Vec<Merged> {
    let parts: Vec<Vec<Part<'_>>> = texts.iter().map(|text| parts(text)).collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, own) in parts.iter().enumerate() {
        let known = groups.iter_mut().find(|group| is_alike(&parts[group[0]], own));
        match known {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups.into_iter().map(|of| Merged { text: joined(&parts, &of), of }).collect()
}

/// True if two texts are the same but for their numbers.
fn is_alike(a: &[Part<'_>], b: &[Part<'_>]) -> bool {
    let is_same = |(a, b): (&Part<'_>, &Part<'_>)| match (a, b) {
        (Part::Words(a), Part::Words(b)) => a == b,
        (Part::Number(_), Part::Number(_)) => true,
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(is_same)
}

/// The text of a group, with ranges.
fn joined(parts: &[Vec<Part<'_>>], group: &[usize]) -> String {
    let mut text = String::new();
    for (place, part) in parts[group[0]].iter().enumerate() {
        match part {
            Part::Words(words) => text.push_str(words),
            Part::Number(_) => {
                let mut numbers: Vec<&str> = group
                    .iter()
                    .filter_map(|&at| match parts[at][place] {
                        Part::Number(number) => Some(number),
                        Part::Words(_) => None,
                    })
                    .collect();
                numbers.sort_by(|a, b| value(a).total_cmp(&value(b)));
                let (first, last) = (numbers.first().copied().unwrap_or(""), numbers.last().copied().unwrap_or(""));
                text.push_str(first);
                if first != last {
                    text.push_str(" to ");
                    text.push_str(last);
                }
            }
        }
    }
    text
}

/// The value of a number as it stands in a text.
fn value(number: &str) -> f64 {
    number.parse().unwrap_or(0.0)
}

/// Words and numbers of a text. A number may have a sign, decimals and an exponent; digits within a word are part of it.
fn parts(text: &str) -> Vec<Part<'_>> {
    let bytes = text.as_bytes();
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
        let begins = !before.is_ascii_alphanumeric() && !matches!(before, b'_' | b'.' | b'-' | b'+');
        let signed = usize::from(matches!(bytes[at], b'+' | b'-'));
        if !begins || !bytes.get(at + signed).is_some_and(u8::is_ascii_digit) {
            at += 1;
            continue;
        }
        let mut end = at + signed;
        while bytes.get(end).is_some_and(u8::is_ascii_digit)
            || (bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit))
        {
            end += 1;
        }
        if bytes.get(end).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'_') {
            at = end;
            continue;
        }
        if start < at {
            parts.push(Part::Words(&text[start..at]));
        }
        parts.push(Part::Number(&text[at..end]));
        (start, at) = (end, end);
    }
    if start < text.len() {
        parts.push(Part::Words(&text[start..]));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_other_numbers_are_one_with_ranges() {
        let texts = [
            "latency changed by +9 ± 2 % of its mean, more than 5 %",
            "latency changed by +80 ± 2 % of its mean, more than 5 %",
            "another one",
            "latency changed by -7.5 ± 12 % of its mean, more than 5 %",
        ];
        let found = merged(&texts);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].text, "latency changed by -7.5 to +80 ± 2 to 12 % of its mean, more than 5 %");
        assert_eq!(found[0].of, [0, 1, 3]);
        assert_eq!((found[1].text.as_str(), &*found[1].of), ("another one", &[2][..]));
    }

    #[test]
    fn numbers_in_names_are_words() {
        assert_eq!(merged(&["torus:8x8 and p99", "torus:9x8 and p99"]).len(), 2);
        assert_eq!(merged(&["0.25 phits, 3.", "0.5 phits, 17."])[0].text, "0.25 to 0.5 phits, 3 to 17.");
    }
}
