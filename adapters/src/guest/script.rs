//! Guests that follow a script: one line per action.
//!
//! ```text
//! # A token goes round: node 0 begins, every node passes it on, ten times.
//! repeat 10
//!     node 0: send next 64
//!     receive
//!     others 0: send next 64
//! end
//! ```
//!
//! | line | what |
//! | --- | --- |
//! | `send WHOM BYTES` | sends a message; WHOM is a node, `next` or `prev` (of all nodes, in a ring) |
//! | `receive [COUNT]` | waits for a message, or for COUNT messages |
//! | `advance TIME` | lets time pass: `100us`, `2.5ns` |
//! | `mark LABEL` | labels the moment in the results |
//! | `repeat COUNT` ... `end` | repeats the lines between; may be nested |
//! | `node N: ...`, `others N: ...` | only on node N, only on the others |
//!
//! `#` begins a comment.

use std::ops::RangeBounds;

use trgen::units;

use super::{Guest, GuestError};
use crate::clock::{Time, parse_span};

/// Maximum nesting of loops.
const DEPTH: usize = 16;
/// \[bytes\] Longest script.
const LONGEST: usize = 1 << 20;

/// The destination of a message: a node, or a neighbour in the ring of all nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Whom {
    Node(u32),
    Next,
    Previous,
}

/// What a line does.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Action {
    /// Destination, and size in bytes.
    Send(Whom, u64),
    /// Number of messages.
    Receive(u64),
    /// Time to advance the clock by \[ps\].
    Advance(Time),
    /// The label.
    Mark(String),
    /// Number of repetitions, and the lines to repeat.
    Repeat(u64, Vec<Line>),
}

/// The nodes that execute a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    All,
    Only(u32),
    AllBut(u32),
}

/// A line of a script that does something.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Line {
    /// The nodes that execute it.
    who: Who,
    action: Action,
}

impl Line {
    /// True if `node` does anything in this line. Lines without effect are skipped, because a long loop that does
    /// nothing would keep the host busy and not advance the run.
    fn is_for(&self, node: u32) -> bool {
        let is_mine = match self.who {
            Who::All => true,
            Who::Only(only) => only == node,
            Who::AllBut(other) => other != node,
        };
        is_mine
            && match &self.action {
                Action::Repeat(_, inner) => inner.iter().any(|line| line.is_for(node)),
                Action::Receive(count) => *count > 0,
                _ => true,
            }
    }
}

/// A parsed script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    lines: Vec<Line>,
    /// The lines for one node only: number of the line, from 1, and node.
    single: Vec<(usize, u32)>,
}

/// A line that cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ScriptError {
    /// Number of the line, from 1.
    pub line: usize,
    /// The fault and the remedy.
    pub what: String,
}

/// Statistics of a guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Played {
    /// \[ps\] Its clock at the end.
    pub time: Time,
    /// Messages sent.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// Number of turns.
    pub turns: u64,
}

impl Script {
    /// Parses a script.
    ///
    /// # Errors
    /// The first line that cannot be parsed.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        if text.len() > LONGEST {
            return Err(ScriptError { line: 1, what: format!("a script has at most {LONGEST} bytes") });
        }
        // The open loops, the outermost first: number of the line, its nodes, repetitions, and the lines before the
        // loop.
        let mut open: Vec<(usize, Who, u64, Vec<Line>)> = Vec::new();
        let (mut lines, mut single) = (Vec::new(), Vec::new());
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let refused = |what: &str| Err(ScriptError { line: number, what: what.to_owned() });
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (who, words) = split_who(line).map_err(|what| ScriptError { line: number, what })?;
            if let Who::Only(node) = who {
                single.push((number, node));
            }
            let words: Vec<&str> = words.split_whitespace().collect();
            let action = match words.as_slice() {
                ["repeat", count] => {
                    let Ok(count) = count.parse() else { return refused("write `repeat COUNT`, a whole number") };
                    if open.len() >= DEPTH {
                        return refused("loops are nested too deeply");
                    }
                    open.push((number, who, count, std::mem::take(&mut lines)));
                    continue;
                }
                ["end"] => {
                    let Some((_, who, count, outer)) = open.pop() else { return refused("`end` without `repeat`") };
                    let inner = std::mem::replace(&mut lines, outer);
                    lines.push(Line { who, action: Action::Repeat(count, inner) });
                    continue;
                }
                ["send", whom, bytes] => {
                    let whom = match (*whom, whom.parse()) {
                        ("next", _) => Whom::Next,
                        ("prev", _) => Whom::Previous,
                        (_, Ok(node)) => Whom::Node(node),
                        _ => return refused("`send` takes a node, `next` or `prev`, and a number of bytes"),
                    };
                    match units::bytes(bytes) {
                        Some(bytes) => Action::Send(whom, bytes),
                        None => return refused("write `send WHOM BYTES`, a size such as 1500, 64kB or 1MiB"),
                    }
                }
                ["receive"] => Action::Receive(1),
                ["receive", count] => match count.parse() {
                    Ok(count) => Action::Receive(count),
                    Err(_) => return refused("write `receive COUNT`, a whole number"),
                },
                ["advance", span] => match parse_span(span) {
                    Some(span) => Action::Advance(span),
                    None => return refused("write `advance TIME`, such as 100us or 2.5ns"),
                },
                ["mark", label @ ..] if !label.is_empty() => Action::Mark(label.join(" ")),
                _ => {
                    let what = format!("`{line}` is not known; there are send, receive, advance, mark, repeat and end");
                    return Err(ScriptError { line: number, what });
                }
            };
            lines.push(Line { who, action });
        }
        match open.pop() {
            Some((line, ..)) => Err(ScriptError { line, what: "`repeat` without `end`".to_owned() }),
            None => Ok(Self { lines, single }),
        }
    }

    /// The lines for one node only whose node is not in `nodes`: number of the line, from 1, and node.
    pub fn idle_lines(&self, nodes: impl RangeBounds<u32>) -> impl Iterator<Item = (usize, u32)> {
        self.single.iter().copied().filter(move |(_, node)| !nodes.contains(node))
    }

    /// Plays the script as `node`, to its end.
    ///
    /// # Errors
    /// The run has ended before the script.
    pub fn play(&self, node: u32, mut guest: Guest) -> Result<Played, GuestError> {
        let mut player = Player { node, nodes: guest.welcome().node_count, sent: 0, received: 0 };
        player.play(&self.lines, &mut guest)?;
        let played = Played { time: guest.now(), sent: player.sent, received: player.received, turns: guest.turns() };
        guest.finish("the script is done")?;
        Ok(played)
    }
}

/// Splits a line into the nodes that execute it and the action.
fn split_who(line: &str) -> Result<(Who, &str), String> {
    let Some((head, rest)) = line.split_once(':') else { return Ok((Who::All, line)) };
    let node = |words: &str| words.trim().parse().map_err(|_| format!("`{head}:` names no node"));
    match head.split_once(' ') {
        Some(("node", number)) => Ok((Who::Only(node(number)?), rest)),
        Some(("others", number)) => Ok((Who::AllBut(node(number)?), rest)),
        _ => Ok((Who::All, line)),
    }
}

/// A guest that plays a script, with its counts of messages.
struct Player {
    /// The node of the guest.
    node: u32,
    /// Number of nodes of the network.
    nodes: u32,
    /// Number of messages sent.
    sent: u64,
    /// Number of messages received.
    received: u64,
}

impl Player {
    /// Executes those of the lines that are for this node.
    fn play(&mut self, lines: &[Line], guest: &mut Guest) -> Result<(), GuestError> {
        let node = self.node;
        for Line { action, .. } in lines.iter().filter(|line| line.is_for(node)) {
            match action {
                Action::Send(whom, bytes) => {
                    let nodes = self.nodes.max(1);
                    let to = match *whom {
                        Whom::Node(node) => node,
                        Whom::Next => (self.node + 1) % nodes,
                        Whom::Previous => (self.node + nodes - 1) % nodes,
                    };
                    if to == self.node || to >= nodes {
                        let what = format!("node {} sends to node {to}: use another one, below {nodes}", self.node);
                        return Err(GuestError::Program(what));
                    }
                    guest.send(to, *bytes, &[])?;
                    self.sent += 1;
                }
                Action::Receive(count) => {
                    for _ in 0..*count {
                        guest.receive_message()?;
                        self.received += 1;
                    }
                }
                Action::Advance(span) => guest.advance(*span)?,
                Action::Mark(label) => guest.mark(label)?,
                Action::Repeat(count, inner) => {
                    for _ in 0..*count {
                        self.play(inner, guest)?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read() {
        let script = Script::parse("repeat 2 # twice\n node 0: send next 64B\n receive\nend\nmark the end").unwrap();
        let inner = vec![
            Line { who: Who::Only(0), action: Action::Send(Whom::Next, 64) },
            Line { who: Who::All, action: Action::Receive(1) },
        ];
        assert_eq!(script.lines[0], Line { who: Who::All, action: Action::Repeat(2, inner) });
        assert_eq!(script.idle_lines(1..=3).collect::<Vec<_>>(), [(2, 0)]);
        assert_eq!(script.idle_lines(0..=3).count(), 0);
        assert_eq!(script.lines[1].action, Action::Mark("the end".to_owned()));
    }

    #[test]
    fn loops_over_nothing_are_not_gone_through() {
        let script = Script::parse(
            "repeat 1000000000000\nrepeat 9\nnode 5: send next 64\nend\nreceive 0\nend\nrepeat 9\nend\nothers 3: repeat 2\nadvance 1ns\nend",
        );
        let lines = script.unwrap().lines;
        let does = |node| lines.iter().map(|line| line.is_for(node)).collect::<Vec<_>>();
        assert_eq!(does(5), [true, false, true]);
        assert_eq!(does(3), [false; 3]);
        assert_eq!(does(4), [false, false, true]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line) in [
            ("end", 1),
            ("repeat 2\nreceive", 1),
            ("receive\nsend 1", 2),
            ("send x 4", 1),
            ("send next 4mb", 1),
            ("advance 5", 1),
            ("node x: receive", 1),
            ("dance", 1),
        ] {
            assert_eq!(Script::parse(text).unwrap_err().line, line, "{text}");
        }
    }
}
