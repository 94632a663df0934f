//! Colours that the colour-blind can tell apart, for terminals of any number of colours, and none.
//!
//! Colour never carries information alone: levels have a digit, series a name and a marker, states a letter.
//!
//! Sources: the scale of levels is viridis (van der Walt, Smith, 2015); series are from Okabe and Ito, *Color Universal
//! Design*, 2008.

use ratatui::style::{Color, Modifier, Style};

use crate::view::TaskState;

/// Number of colours of a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// None, as `NO_COLOR` requests.
    Mono,
    /// The 16 colours of every terminal.
    Sixteen,
    /// 256 colours.
    Indexed,
    /// 24-bit colours.
    True,
}

impl Depth {
    /// The colours of a terminal with these environment variables.
    #[must_use]
    pub fn of(term: Option<&str>, colorterm: Option<&str>, plain: bool) -> Self {
        match (term.unwrap_or(""), colorterm.unwrap_or("")) {
            _ if plain => Self::Mono,
            ("dumb", _) => Self::Mono,
            (_, "truecolor" | "24bit") => Self::True,
            (term, _) if term.contains("256color") => Self::Indexed,
            _ => Self::Sixteen,
        }
    }
}

/// Number of levels of a scale.
pub const LEVELS: usize = 11;

/// A colour for each depth: red, green and blue; the number among 256 colours; one of 16 colours. The last field tells
/// whether the text on it is dark.
type Shade = ((u8, u8, u8), u8, Color, bool);

/// The colours of the levels, from empty to full. The luminance increases with the level, also in 16 colours.
const SCALE: [Shade; LEVELS] = [
    ((0x1c, 0x1c, 0x24), 234, Color::Black, false),
    ((0x44, 0x01, 0x54), 53, Color::Blue, false),
    ((0x48, 0x28, 0x78), 54, Color::Blue, false),
    ((0x3e, 0x49, 0x89), 60, Color::Blue, false),
    ((0x31, 0x68, 0x8e), 24, Color::Magenta, false),
    ((0x26, 0x82, 0x8e), 30, Color::Magenta, false),
    ((0x1f, 0x9e, 0x89), 36, Color::Cyan, true),
    ((0x35, 0xb7, 0x79), 71, Color::Cyan, true),
    ((0x6e, 0xce, 0x58), 113, Color::LightCyan, true),
    ((0xb5, 0xde, 0x2b), 148, Color::LightYellow, true),
    ((0xfd, 0xe7, 0x25), 220, Color::White, true),
];

/// Colours of curves, for each depth: those of Okabe and Ito that are visible on dark and on bright backgrounds.
const CURVES: [((u8, u8, u8), u8, Color); 7] = [
    ((0x56, 0xb4, 0xe9), 74, Color::LightBlue),
    ((0xe6, 0x9f, 0x00), 214, Color::Yellow),
    ((0x00, 0xc0, 0x90), 36, Color::LightCyan),
    ((0xcc, 0x79, 0xa7), 175, Color::LightMagenta),
    ((0xd5, 0x5e, 0x00), 166, Color::LightRed),
    ((0x00, 0x72, 0xb2), 25, Color::Blue),
    ((0xf0, 0xe4, 0x42), 227, Color::LightYellow),
];

/// A series or state with its own colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Generated load; p50.
    First,
    /// Injected load; p90.
    Second,
    /// Accepted load; p99.
    Third,
    /// An alarm.
    Alarm,
}

/// Styles of the dashboard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Theme {
    /// Available colours.
    pub depth: Depth,
}

impl Theme {
    /// The colour for the depth of the terminal; `None` without colours.
    fn pick(self, true_color: (u8, u8, u8), indexed: u8, sixteen: Color) -> Option<Color> {
        match self.depth {
            Depth::Mono => None,
            Depth::Sixteen => Some(sixteen),
            Depth::Indexed => Some(Color::Indexed(indexed)),
            Depth::True => Some(Color::Rgb(true_color.0, true_color.1, true_color.2)),
        }
    }

    /// The level, 0 to 10, of a share: 0 for none, 1 for less than a tenth, 10 for nine tenths and more.
    #[must_use]
    pub fn level(share: f64) -> usize {
        // A NaN counts as none.
        if share > 0.0 { 1 + ((share * 10.0) as usize).min(9) } else { 0 }
    }

    /// The mark of a level: `·` for none, a digit for whole tenths.
    #[must_use]
    pub const fn mark(level: usize) -> char {
        match level {
            0 => '·',
            1..10 => (b'0' + level as u8 - 1) as char,
            _ => '9',
        }
    }

    /// Style of a cell of this level.
    #[must_use]
    pub fn cell(self, level: usize) -> Style {
        let (rgb, indexed, sixteen, dark) = SCALE[level.min(LEVELS - 1)];
        let Some(background) = self.pick(rgb, indexed, sixteen) else {
            return match level {
                0 => Style::new().add_modifier(Modifier::DIM),
                1..7 => Style::new(),
                _ => Style::new().add_modifier(Modifier::REVERSED),
            };
        };
        let foreground = match (level, dark) {
            (0, _) => self.pick((0x80, 0x80, 0x88), 244, Color::DarkGray),
            (_, true) => self.pick((0, 0, 0), 16, Color::Black),
            (_, false) => self.pick((0xff, 0xff, 0xff), 231, Color::White),
        };
        Style::new().bg(background).fg(foreground.unwrap_or(Color::Reset))
    }

    /// Style of a line of this level, on the background.
    #[must_use]
    pub fn line(self, level: usize) -> Style {
        let (rgb, indexed, sixteen, _) = SCALE[level.clamp(1, LEVELS - 1)];
        match (level, self.pick(rgb, indexed, sixteen)) {
            (0, _) => self.faint(),
            // Dark violet would be invisible on black.
            (1..4, Some(_)) => self.coloured(self.pick((0x6a, 0x5a, 0xa8), 61, Color::Blue)),
            (_, None) if level >= 5 => Style::new().add_modifier(Modifier::BOLD),
            (_, colour) => self.coloured(colour),
        }
    }

    /// A style with this colour of text.
    fn coloured(self, colour: Option<Color>) -> Style {
        colour.map_or(Style::new(), |colour| Style::new().fg(colour))
    }

    /// Style of a series or an alarm.
    #[must_use]
    pub fn role(self, role: Role) -> Style {
        match role {
            Role::First => self.coloured(self.pick((0x56, 0xb4, 0xe9), 74, Color::LightBlue)),
            Role::Second => self.coloured(self.pick((0xe6, 0x9f, 0x00), 214, Color::Yellow)),
            Role::Third => self.coloured(self.pick((0x00, 0xc0, 0x90), 36, Color::LightCyan)),
            Role::Alarm => {
                let colour = self.pick((0xff, 0x87, 0x5f), 209, Color::LightRed);
                self.coloured(colour).add_modifier(Modifier::BOLD)
            }
        }
    }

    /// Style of a curve among many: seven colours in rotation. Its letter distinguishes it from others of the same
    /// colour.
    #[must_use]
    pub fn curve(self, number: usize) -> Style {
        let (rgb, indexed, sixteen) = CURVES[number % CURVES.len()];
        self.coloured(self.pick(rgb, indexed, sixteen))
    }

    /// The letter and style of a task's state.
    #[must_use]
    pub fn task(self, state: TaskState) -> (char, Style) {
        let background = |rgb, indexed, sixteen, text: (u8, u8, u8)| match self.pick(rgb, indexed, sixteen) {
            Some(colour) => {
                let text = if text == (0, 0, 0) { Color::Black } else { Color::White };
                Style::new().bg(colour).fg(text)
            }
            None => Style::new(),
        };
        match state {
            TaskState::Computing => ('C', background((0x00, 0x9e, 0x73), 36, Color::Cyan, (0, 0, 0))),
            TaskState::Sending => ('S', background((0xe6, 0x9f, 0x00), 214, Color::Yellow, (0, 0, 0))),
            TaskState::Receiving => ('R', background((0x00, 0x72, 0xb2), 25, Color::Blue, (255, 255, 255))),
            TaskState::Waiting => ('W', background((0x7a, 0x3f, 0x7f), 96, Color::Magenta, (255, 255, 255))),
            TaskState::Finished => ('.', self.faint()),
        }
    }

    /// Style of less important text.
    #[must_use]
    pub fn faint(self) -> Style {
        match self.pick((0x8a, 0x8a, 0x92), 245, Color::DarkGray) {
            Some(colour) => Style::new().fg(colour),
            None => Style::new().add_modifier(Modifier::DIM),
        }
    }

    /// Style of headings.
    #[must_use]
    pub fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Style of the selected item.
    #[must_use]
    pub fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_tenths_and_their_marks_say_so() {
        let marks: String =
            [0.0, 0.001, 0.15, 0.5, 0.89, 0.95, 1.0].map(|share| Theme::mark(Theme::level(share))).iter().collect();
        assert_eq!(marks, "·015899");
    }

    #[test]
    fn brightness_rises_with_the_level() {
        let luminance =
            |((r, g, b), ..): &Shade| 0.2126 * f64::from(*r) + 0.7152 * f64::from(*g) + 0.0722 * f64::from(*b);
        let rising = SCALE.windows(2).skip(1).all(|pair| luminance(&pair[0]) < luminance(&pair[1]));
        assert!(rising);
    }

    #[test]
    fn no_colour_is_no_colour() {
        let theme = Theme { depth: Depth::of(Some("xterm-256color"), Some("truecolor"), true) };
        for level in 0..LEVELS {
            assert_eq!((theme.cell(level).fg, theme.cell(level).bg, theme.line(level).fg), (None, None, None));
        }
        assert_eq!(Depth::of(Some("xterm"), None, false), Depth::Sixteen);
        assert_eq!(Depth::of(Some("screen-256color"), None, false), Depth::Indexed);
    }
}
