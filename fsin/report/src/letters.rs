//! Widths of texts, so that pictures are laid out without a font at hand.
//!
//! Pictures name no font but `sans-serif`. The widths are those of DejaVu Sans, which PNG and PDF are written in and
//! which is among the widest of the usual fonts: what fits here fits in Arial or Helvetica. Kerning, which only brings
//! letters closer, is left out.

/// \[1/2048 of the letter size\] Widths of the letters from space to tilde.
const ASCII: [u16; 95] = [
    651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690, 1303, 1303, 1303, 1303, 1303,
    1303, 1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716, 1087, 2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587,
    1540, 604, 604, 1343, 1141, 1767, 1532, 1612, 1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403,
    799, 690, 799, 1716, 1024, 1024, 1255, 1300, 1126, 1300, 1260, 721, 1300, 1298, 569, 569, 1186, 569, 1995, 1298,
    1253, 1300, 1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075, 1303, 690, 1303, 1716,
];

/// \[1/2048 of the letter size\] Width of any other letter: no letter of the font is wider.
const OTHER: u16 = 3554;

/// \[1/2048 of the letter size\] Width of a thin space, which separates thousands.
const THIN: u16 = 410;

/// \[units\] Width of a text in letters of this size (the height of a line of `font-size` 1).
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let of = |letter: char| match letter {
        '\u{2009}' => THIN,
        'µ' => 1303,
        '…' => 2048,
        ' '..='~' => ASCII[letter as usize - ' ' as usize],
        _ => OTHER,
    };
    text.chars().map(|letter| f64::from(of(letter))).sum::<f64>() * size / 2048.0
}

/// A text cut to this width, with an ellipsis if it is not all.
pub(crate) fn cut(text: &str, room: f64, size: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut letters: Vec<char> = text.chars().collect();
    loop {
        let shown = letters.iter().collect::<String>() + "…";
        if letters.is_empty() || width(&shown, size) <= room {
            return shown;
        }
        letters.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_where_the_room_ends() {
        assert_eq!(cut("torus", 100.0, 20.0), "torus");
        let short = cut("dragonfly:p=2,a=8", 100.0, 20.0);
        assert!(short.ends_with('…') && width(&short, 20.0) <= 100.0, "{short}");
        assert_eq!(cut("torus", 0.0, 20.0), "…");
    }

    /// The widths are those of the font, letter by letter.
    #[cfg(feature = "plots")]
    #[test]
    fn letters_are_as_wide_as_in_the_font() {
        for letter in (' '..='~').chain("µ…\u{2009}".chars()).filter(|letter| !"<>&\"' ".contains(*letter)) {
            let text = format!("|{letter}|");
            let svg = format!(
                "<svg width=\"9999\" height=\"99\" viewBox=\"0 0 9999 99\" xmlns=\"http://www.w3.org/2000/svg\"><text x=\"9\" \
                 y=\"50\" font-family=\"sans-serif\" font-size=\"64\" font-kerning=\"none\" \
                 style=\"font-kerning:none\">{text}</text></svg>"
            );
            let found = crate::legible::widths(&svg).unwrap();
            let expected = width(&text, 64.0);
            assert!((found[0] - expected).abs() < 0.6, "{letter:?}: {found:?}, not {expected}");
        }
    }
}
