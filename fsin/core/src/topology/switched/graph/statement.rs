//! Words of a text, with their places.

use std::borrow::Cow;

use super::super::links::Place;

/// A word of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word<'a> {
    /// Without its quotation marks.
    pub text: Cow<'a, str>,
    /// \[bytes\] Offset in the text.
    pub at: usize,
}

impl<'a> Word<'a> {
    /// A word that stands at an offset, as it is or as it is meant.
    pub fn new(text: impl Into<Cow<'a, str>>, at: usize) -> Self {
        Self { text: text.into(), at }
    }
}

/// Names and values in their order.
pub type Attributes<'a> = Vec<(Word<'a>, Word<'a>)>;

/// Kinds of items that have attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// A node.
    Node,
    /// An edge.
    Edge,
    /// The graph itself.
    Graph,
}

impl Item {
    /// The item in an error.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Node => "a node",
            Self::Edge => "an edge",
            Self::Graph => "a graph",
        }
    }
}

/// Lines and columns of offsets, for places in errors.
///
/// What lies before it is known of every block of the text, and the rest is counted: an offset of each line would take
/// more memory than a text of short lines.
#[derive(Clone, Debug)]
pub struct Places<'a> {
    text: &'a str,
    /// By block: the line and column, from 0, of its first byte.
    blocks: Vec<(u32, u32)>,
}

/// \[bytes\] Length of a block.
const BLOCK: usize = 512;

impl<'a> Places<'a> {
    /// The lines of a text.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let mut blocks = Vec::with_capacity(text.len() / BLOCK + 1);
        let mut here = (0, 0);
        for block in text.as_bytes().chunks(BLOCK) {
            blocks.push(here);
            here = counted(here, block);
        }
        if blocks.is_empty() {
            blocks.push(here);
        }
        Self { text, blocks }
    }

    /// The text.
    #[must_use]
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// The line and column of an offset; those of the end for an offset behind it.
    #[must_use]
    pub fn of(&self, at: usize) -> Place {
        let at = at.min(self.text.len());
        let block = (at / BLOCK).min(self.blocks.len() - 1);
        let rest = self.text.as_bytes().get(block * BLOCK..at).unwrap_or(&[]);
        let (line, column) = counted(self.blocks[block], rest);
        Place { line: line + 1, column: column + 1 }
    }
}

/// The line and column behind some bytes. A character counts with its first byte.
fn counted(from: (u32, u32), bytes: &[u8]) -> (u32, u32) {
    bytes.iter().fold(from, |(line, column), byte| match byte {
        b'\n' => (line + 1, 0),
        _ => (line, column + u32::from(byte & 0xC0 != 0x80)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_1() {
        let text = "é b\n\nxyz";
        let places = Places::new(text);
        let of = |at| (places.of(at).line, places.of(at).column);
        assert_eq!([of(0), of(2), of(4), of(5), of(8), of(9)], [(1, 1), (1, 2), (1, 4), (2, 1), (3, 3), (3, 4)]);
        assert_eq!((of(99), Places::new("").of(7).line), (of(9), 1));
        let long = "ä bc\n".repeat(700);
        let places = Places::new(&long);
        for at in (0..long.len()).filter(|&at| long.is_char_boundary(at)) {
            let before = &long[..at];
            let line = before.matches('\n').count();
            let column = before[before.rfind('\n').map_or(0, |at| at + 1)..].chars().count();
            assert_eq!((places.of(at).line, places.of(at).column), (line as u32 + 1, column as u32 + 1));
        }
    }
}
