//! Questions to the user, answered in the last line.

/// A question to the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// The cycle to which to run.
    RunTo,
    /// The router to focus.
    Focus,
    /// Whether to end the run.
    Quit,
    /// Whether to end the sweep.
    QuitSweep,
}

/// A question with its answer so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prompt {
    /// The question.
    pub question: Question,
    /// Digits, so far.
    pub answer: String,
}

impl Prompt {
    /// A question without an answer.
    #[must_use]
    pub const fn new(question: Question) -> Self {
        Self { question, answer: String::new() }
    }

    /// The question in words.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        match self.question {
            Question::RunTo => "run to cycle (Enter; Esc: no): ",
            Question::Focus => "look at router (Enter; empty: none): ",
            Question::Quit => "end the run now, with partial results? y / n ",
            Question::QuitSweep => "end the sweep now? points that have run are kept, --resume runs the rest; y / n ",
        }
    }

    /// The answer as a number.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        self.answer.parse().ok()
    }
}
