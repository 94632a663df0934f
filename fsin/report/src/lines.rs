//! Long texts in several lines.

use super::letters::width;

/// Settings, separated by `, `, in lines that are at most `room` wide in letters of this size. A longer setting is split
/// behind a mark, or between letters if it has none. No letter is lost.
pub(super) fn in_lines(settings: &str, room: f64, size: f64) -> Vec<String> {
    let fits = |line: &str| width(line, size) <= room;
    let mut lines: Vec<String> = Vec::new();
    let settings: Vec<&str> = settings.split(", ").filter(|setting| !setting.is_empty()).collect();
    for (at, setting) in settings.iter().enumerate() {
        let setting = if at + 1 < settings.len() { format!("{setting},") } else { (*setting).to_owned() };
        match lines.last_mut() {
            Some(line) if fits(&format!("{line} {setting}")) => {
                line.push(' ');
                line.push_str(&setting);
            }
            _ => lines.extend(parted(&setting, &fits)),
        }
    }
    lines
}

/// A title in as few lines as fit into `room`, of about equal width.
pub(super) fn balanced(title: &str, room: f64, size: f64) -> Vec<String> {
    let fewest = parted(title, &|line: &str| width(line, size) <= room);
    if fewest.len() < 2 {
        return fewest;
    }
    // The narrowest room that needs no more lines, to a letter.
    let (mut least, mut most) = (0.0, room);
    while most - least > size / 2.0 {
        let middle = f64::midpoint(least, most);
        let lines = parted(title, &|line: &str| width(line, size) <= middle);
        // A word must not be split to even out lines.
        let is_whole = lines.join(" ") == fewest.join(" ");
        if lines.len() == fewest.len() && is_whole { most = middle } else { least = middle }
    }
    parted(title, &|line: &str| width(line, size) <= most)
}

/// A setting in lines that fit, split at marks.
fn parted(setting: &str, fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in setting.split_inclusive([' ', ',', ':', '-', '=', '(', '/', '_', ';']) {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && !fits(&format!("{}{}", lines[last], piece.trim_end())) {
            lines.push(String::new());
        }
        for letter in piece.chars() {
            let last = lines.len() - 1;
            // A trailing blank is invisible. A line has at least one letter, however narrow the room.
            if letter != ' ' && !lines[last].is_empty() && !fits(&format!("{}{letter}", lines[last])) {
                lines.push(String::new());
            }
            let last = lines.len() - 1;
            lines[last].push(letter);
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// \[units\] Size of the letters, of which a digit is then 10 units wide.
    const SIZE: f64 = 10.0 * 2048.0 / 1303.0;

    #[test]
    fn long_headings_have_several_lines() {
        assert_eq!(in_lines("uniform", 500.0, SIZE), ["uniform"]);
        let long = "bubble:smart, injection-queue 16, groupshift(4,1), bimodal(16,64,0.5)";
        assert_eq!(
            in_lines(long, 480.0, SIZE),
            ["bubble:smart, injection-queue 16, groupshift(4,1),", "bimodal(16,64,0.5)"]
        );
        assert!(in_lines("", 500.0, SIZE).is_empty());
    }

    #[test]
    fn a_long_setting_is_parted_and_nothing_is_lost() {
        assert_eq!(in_lines("dragonfly:p=2,a=8,h=2,g=16", 140.0, SIZE), ["dragonfly:p=2,", "a=8,h=2,g=16"]);
        assert_eq!(in_lines("1234567890", 45.0, SIZE), ["1234", "5678", "90"]);
        let long = "dragonfly:p=2,a=8,h=2,g=16, dragonfly:ugal, file:/a/rather/long/way_to/a-file.txt, load 0.4";
        for room in (0..1000).step_by(7).map(f64::from) {
            let lines = in_lines(long, room, SIZE);
            let fits = |line: &String| width(line, SIZE) <= room || line.chars().count() == 1;
            assert!(lines.iter().all(fits), "{room}: {lines:?}");
            let letters = |text: &str| text.replace(' ', "");
            assert_eq!(letters(&lines.concat()), letters(long), "{room}");
        }
    }

    #[test]
    fn titles_have_lines_of_about_equal_width() {
        let title = "Accepted load of each sending node (phits/node/cycle)";
        let lines = balanced(title, 460.0, 27.4);
        assert_eq!(lines, ["Accepted load of each sending", "node (phits/node/cycle)"]);
        assert_eq!(balanced("Completion time (ms)", 460.0, 27.4), ["Completion time (ms)"]);
    }
}
