//! Mutations of a file that may trip up readers, drawn from a seed.

/// A stream of numbers determined by its seed (SplitMix64; Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The stream of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; 0 if that is 0.
    pub const fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.next() % limit as u64) as usize }
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A range of at most `most` bytes in a file of `length`.
    fn range(&mut self, length: usize, most: usize) -> std::ops::Range<usize> {
        let begin = self.below(length);
        begin..(begin + 1 + self.below(most)).min(length)
    }
}

/// Boundary values for counts, lengths and offsets.
const NUMBERS: &[u64] = &[
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0xFFFF,
    1 << 24,
    (1 << 24) + 1,
    (1 << 30) - 1,
    i32::MAX as u64,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    1 << 40,
    (1 << 40) + 1,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Valid and invalid words for numbers.
const WORDS: &[&str] = &[
    "9223372036854775808",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999",
    "4294967295",
    "4294967296",
    "16777216",
    "16777215",
    "1099511627777",
    "-1",
    "-2",
    "-9223372036854775808",
    "0",
    "00000000000000000000000000000001",
    "1e308",
    "1e-400",
    "nan",
    "inf",
    "0x10",
    "",
    "\u{e9}",
];

/// Mutates `bytes` in one to four ways.
pub fn bytes(bytes: &mut Vec<u8>, draw: &mut Draw) {
    for _ in 0..=draw.below(4) {
        once(bytes, draw);
    }
}

fn once(bytes: &mut Vec<u8>, draw: &mut Draw) {
    if bytes.is_empty() {
        bytes.push(draw.next() as u8);
        return;
    }
    let length = bytes.len();
    match draw.below(14) {
        0 => bytes[draw.below(length)] ^= 1 << draw.below(8),
        1 => bytes[draw.below(length)] = draw.next() as u8,
        2 => bytes.truncate(draw.below(length)),
        3 => drop(bytes.drain(draw.range(length, 64))),
        4 => drop(bytes.drain(draw.range(length, length))),
        5 => {
            let piece = bytes[draw.range(length, 256)].to_vec();
            let at = draw.below(length);
            bytes.splice(at..at, piece);
        }
        6 => {
            let (first, second) = (draw.range(length, 64), draw.range(length, 64));
            let (first, second) = if first.start < second.start { (first, second) } else { (second, first) };
            if first.end <= second.start {
                let (a, b) = (bytes[first.clone()].to_vec(), bytes[second.clone()].to_vec());
                bytes.splice(second, a);
                bytes.splice(first, b);
            }
        }
        7 => {
            let at = draw.below(length);
            let piece: Vec<u8> = (0..draw.below(16)).map(|_| draw.next() as u8).collect();
            bytes.splice(at..at, piece);
        }
        8 => {
            let (number, width, at) = (draw.of(NUMBERS), draw.of(&[1, 2, 4, 8]), draw.below(length));
            let end = (at + width).min(length);
            bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
        }
        9..=11 => number(bytes, draw),
        12 => lines(bytes, draw),
        _ => words(bytes, draw),
    }
}

/// Replaces a number by another.
fn number(bytes: &mut Vec<u8>, draw: &mut Draw) {
    let from = draw.below(bytes.len());
    let Some(begin) = bytes[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else { return };
    let end = bytes[begin..].iter().position(|byte| !byte.is_ascii_digit()).map_or(bytes.len(), |at| begin + at);
    let word = match draw.below(3) {
        0 => draw.below(70).to_string(),
        _ => draw.of(WORDS).to_owned(),
    };
    bytes.splice(begin..end, word.into_bytes());
}

/// Swaps, repeats or removes a line.
fn lines(bytes: &mut Vec<u8>, draw: &mut Draw) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let (first, second) = (draw.below(lines.len()), draw.below(lines.len()));
    match draw.below(3) {
        0 => lines.swap(first, second),
        1 => {
            let line = lines[first].clone();
            lines.insert(second, line);
        }
        _ => drop(lines.remove(first)),
    }
    *bytes = lines.concat();
}

/// Exchanges the beginnings of two words of a file.
fn words(bytes: &mut [u8], draw: &mut Draw) {
    let starts: Vec<usize> = (1..bytes.len()).filter(|&at| bytes[at - 1] == b' ' && bytes[at] != b' ').collect();
    if starts.len() > 1 {
        let (first, second) = (starts[draw.below(starts.len())], starts[draw.below(starts.len())]);
        bytes.swap(first, second);
    }
}
