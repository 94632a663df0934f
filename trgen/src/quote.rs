//! Text from users and files (names, labels, messages) inside other text.
//!
//! A name may hold anything: line ends, quotation marks, control characters that a terminal obeys. Each kind of text that
//! names are written into has one function here; pages, pictures and tables of numbers have those of their libraries.

use std::borrow::Cow;
use std::fmt::Write as _;

/// True for characters that would change what a terminal shows elsewhere: control characters but for the end of a line
/// and the tabulator, and those that turn the direction of the text.
fn is_hidden(letter: char) -> bool {
    (letter.is_control() && !matches!(letter, '\n' | '\t'))
        || matches!(letter, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// True if all is ASCII that a terminal shows, or the end of a line or a tabulator: most text is, and this is found out
/// many bytes at once.
#[must_use]
pub fn is_plain(bytes: &[u8]) -> bool {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    bytes.chunks(64).all(|chunk| chunk.iter().fold(true, |all, &byte| all & is_plain(byte)))
}

/// A text for people: characters that a terminal would obey are written as `\x1b` or `\u{202e}`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_plain(text.as_bytes()) || !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        let _ = match letter {
            _ if !is_hidden(letter) => visible.write_char(letter),
            '\0'..='\x7f' => write!(visible, "\\x{:02x}", letter as u32),
            _ => write!(visible, "\\u{{{:x}}}", letter as u32),
        };
    }
    Cow::Owned(visible)
}

/// A word of a POSIX shell, in single quotes unless it is plain. A line end remains one: see [`is_of_one_line`].
#[must_use]
pub fn shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=:,./^+%@".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// True if a text can stand in a list with one entry a line, or in the directive of a script: it has no line end, and
/// no other control character.
#[must_use]
pub fn is_of_one_line(text: &str) -> bool {
    !text.contains(|letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}'))
}

/// A name between quotation marks in DOT, without these. Quotation marks that are escaped already, as in a name that
/// was read from DOT, remain so.
#[must_use]
pub fn dot(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len());
    // True after an odd number of backslashes, of which the last one escapes the next character.
    let mut escapes = false;
    for letter in name.chars() {
        match letter {
            '"' if !escapes => quoted.push_str("\\\""),
            '\n' => quoted.push_str(if escapes { "\\\\n" } else { "\\n" }),
            _ if is_hidden(letter) => quoted.push('\u{fffd}'),
            _ => quoted.push(letter),
        }
        escapes = letter == '\\' && !escapes;
    }
    if escapes {
        quoted.push('\\');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that somebody may give to a file, a folder, a switch or a guest.
    const HOSTILE: [&str; 16] = [
        "plain",
        "",
        "two words",
        "it's",
        "a\"b",
        "$(touch x)",
        "`touch x`",
        "100%a",
        "-o",
        "--",
        "a\nb",
        "back\\",
        "back\\\\",
        "\u{1b}]0;title\u{7}\u{1b}[31m",
        "r\u{202e}txt.exe",
        "\u{e9}\u{4e2d}\u{1f600}",
    ];

    #[test]
    fn nothing_hidden_remains_in_what_people_see() {
        for name in HOSTILE {
            let seen = visible(name);
            assert!(!seen.contains(is_hidden), "{name:?}: {seen:?}");
            assert_eq!(visible(&seen), seen, "once is enough");
            if !name.contains(is_hidden) {
                assert_eq!(seen, name);
            }
        }
        assert_eq!(visible("a\u{1b}[31mb\r\n\u{9b}c\u{202e}"), "a\\x1b[31mb\\x0d\n\\u{9b}c\\u{202e}");
    }

    #[test]
    fn a_shell_reads_back_every_word() {
        for name in HOSTILE {
            let script = format!("printf %s {}", shell(name));
            let ran = std::process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
            assert_eq!(String::from_utf8_lossy(&ran.stdout), name, "{script}");
        }
    }

    #[test]
    fn a_line_end_is_told() {
        assert!(["plain", "two words", "\u{e9}"].iter().all(|name| is_of_one_line(name)));
        assert!(!["a\nb", "a\rb", "\u{1b}", "a\u{2028}b", "\u{85}"].iter().any(|name| is_of_one_line(name)));
    }

    #[test]
    fn a_name_in_dot_ends_where_it_ends() {
        for name in HOSTILE.into_iter().chain(["\\\"", "\\\\\"", "a\\\"b\\\\"]) {
            let quoted = dot(name);
            // The string ends at the first quotation mark after an even number of backslashes.
            let mut escapes = false;
            for letter in quoted.chars() {
                assert!(letter != '"' || escapes, "{name:?} ends early: {quoted}");
                assert!(!letter.is_control(), "{quoted:?}");
                escapes = letter == '\\' && !escapes;
            }
            assert!(!escapes, "{name:?} hides the end: {quoted}");
        }
        assert_eq!(dot(r#"a\"b"#), r#"a\"b"#, "escaped already");
        assert_eq!(dot("a\"b"), r#"a\"b"#);
    }
}
