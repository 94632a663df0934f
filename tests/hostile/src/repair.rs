//! Containers that are wrong inside: a changed block with recomputed checksums.
//!
//! The checksum has a second implementation here, bit by bit, so that it also checks the container's own.

use crate::mutate::{self, Draw};

/// \[bytes\] Magic number and version.
const BEGIN: usize = 12;
/// \[bytes\] Header of a block.
const BLOCK: usize = 25;
/// \[bytes\] Size of the trailer.
const TRAILER: usize = 24;

/// CRC-32 (IEEE 802.3, reflected).
fn crc(parts: &[&[u8]]) -> u32 {
    let mut rest = u32::MAX;
    for &byte in parts.iter().copied().flatten() {
        rest ^= u32::from(byte);
        for _ in 0..8 {
            rest = if rest & 1 == 1 { rest >> 1 ^ 0xEDB8_8320 } else { rest >> 1 };
        }
    }
    !rest
}

fn word(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..at + 4).map_or(0, |word| word.iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte)))
}

/// The blocks of a valid container: the 21 bytes of fields, and the stored bytes.
fn blocks(container: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    let mut at = BEGIN;
    while at + BLOCK + TRAILER <= container.len() {
        let end = at + BLOCK + word(container, at + 17);
        found.push((container[at..at + 21].to_vec(), container[at + BLOCK..end].to_vec()));
        at = end;
    }
    found
}

/// Changes the contents of the blocks of a valid container, and writes matching lengths and checksums.
///
/// Offsets in the index stay as before: a block that grows moves the others, which the reader must detect.
#[must_use]
pub fn container(sound: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut blocks = blocks(sound);
    let chosen = draw.below(blocks.len());
    let (fields, stored) = &mut blocks[chosen];
    match draw.below(4) {
        0 => {
            let at = draw.below(fields.len());
            fields[at] = draw.next() as u8;
        }
        1 => mutate::bytes(stored, draw),
        _ => {
            let mut raw = zstd::stream::decode_all(&stored[..]).unwrap_or_default();
            mutate::bytes(&mut raw, draw);
            *stored = zstd::bulk::compress(&raw, 1).unwrap_or_default();
            let (raw, length) = (raw.len() as u32, stored.len() as u32);
            fields[13..17].copy_from_slice(&raw.to_le_bytes());
            fields[17..21].copy_from_slice(&length.to_le_bytes());
        }
    }
    let mut out = sound[..BEGIN].to_vec();
    let mut index = 0;
    for (fields, stored) in &blocks {
        index = out.len() as u64;
        out.extend(fields);
        out.extend(crc(&[fields, stored]).to_le_bytes());
        out.extend(stored);
    }
    let mut trailer = index.to_le_bytes().to_vec();
    trailer.extend((out.len() as u32 - index as u32).to_le_bytes());
    out.extend(&trailer);
    out.extend(crc(&[&trailer]).to_le_bytes());
    out.extend(&sound[..8]);
    out
}
