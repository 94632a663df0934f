//! Long headings in several lines.

/// Settings, separated by `, `, in lines of at most `most` letters. A longer setting is split behind a mark, or between
/// letters if it has none. No letter is lost.
pub(super) fn in_lines(settings: &str, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut lines: Vec<String> = Vec::new();
    let settings: Vec<&str> = settings.split(", ").filter(|setting| !setting.is_empty()).collect();
    for (at, setting) in settings.iter().enumerate() {
        let setting = if at + 1 < settings.len() { format!("{setting},") } else { (*setting).to_owned() };
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(&setting) <= most => {
                line.push(' ');
                line.push_str(&setting);
            }
            _ => lines.extend(parted(&setting, most)),
        }
    }
    lines
}

/// A setting in lines of at most `most` letters, split at marks.
fn parted(setting: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in setting.split_inclusive([' ', ',', ':', '-', '=', '(', '/', '_', ';']) {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && length(&lines[last]) + length(piece.trim_end()) > most {
            lines.push(String::new());
        }
        for letter in piece.chars() {
            let last = lines.len() - 1;
            // A trailing blank is invisible.
            if length(&lines[last]) >= most && letter != ' ' {
                lines.push(String::new());
            }
            let last = lines.len() - 1;
            lines[last].push(letter);
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// Number of letters of a text.
fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_headings_have_several_lines() {
        assert_eq!(in_lines("uniform", 52), ["uniform"]);
        let long = "bubble:smart, injection-queue 16, groupshift(4,1), bimodal(16,64,0.5)";
        assert_eq!(in_lines(long, 52), ["bubble:smart, injection-queue 16, groupshift(4,1),", "bimodal(16,64,0.5)"]);
        assert!(in_lines("", 52).is_empty());
    }

    #[test]
    fn a_long_setting_is_parted_and_nothing_is_lost() {
        assert_eq!(in_lines("dragonfly:p=2,a=8,h=2,g=16", 14), ["dragonfly:p=2,", "a=8,h=2,g=16"]);
        assert_eq!(in_lines("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(in_lines("an axis of words", 9), ["an axis", "of words"]);
        let long = "dragonfly:p=2,a=8,h=2,g=16, dragonfly:ugal, file:/a/rather/long/way_to/a-file.txt, load 0.4";
        for most in 1..100 {
            let lines = in_lines(long, most);
            assert!(lines.iter().all(|line| length(line) <= most.max(1)), "{most}: {lines:?}");
            let letters = |text: &str| text.replace(' ', "");
            assert_eq!(letters(&lines.concat()), letters(long), "{most}");
        }
    }
}
